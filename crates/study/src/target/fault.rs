//! What is broken on purpose while a trial runs, and when: `kill at 20s`, `freeze of standby for 2s at 20s..40s`.

use std::fmt;
use std::str::FromStr;

use load::Span;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A fault of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What is done.
    pub what: FaultKind,
    /// What it is done to; where nothing is said, whoever takes writes then.
    pub node: Option<FaultNode>,
    /// For how long it is broken.
    pub lasts: Option<Span>,
    /// By how much, of what has a measure.
    pub by: Option<Shift>,
    /// When, since the load began: at the first of the two or, drawn for each trial, between them.
    pub at: [Span; 2],
}

/// How far something is put off: `20ms`, `-1h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// How far.
    pub by: Span,
    /// Whether it is put back.
    pub is_back: bool,
}

/// What can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The server's processes are ended by SIGKILL.
    Kill,
    /// A node's server and what keeps it are ended by SIGKILL.
    KillNode,
    /// The server's processes stand still.
    Freeze,
    /// The process that receives the log of the primary stands still.
    FreezeReceiver,
    /// The server's disks answer one read and one write a second.
    Throttle,
    /// The server is stopped in order and started again.
    Restart,
    /// Another node takes the writes.
    Switchover,
    /// The node that takes writes is ended by SIGKILL with what keeps it, and one that stands by takes over with what it has.
    Promote,
    /// The volume of the data is filled.
    Fill,
    /// What its volume was not asked to keep is gone, as after a power cut.
    PowerCut,
    /// A node has no connection with the others and the witness; clients still reach it.
    Cut,
    /// Nor with clients.
    Isolate,
    /// Each packet between a node and the others takes longer.
    Delay,
    /// A node's clock jumps.
    Clock,
    /// A command of the study.
    Command(String),
}

/// Which node of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultNode {
    /// Whoever takes writes.
    Primary,
    /// The first of the others.
    Standby,
    /// All that hold data, at once.
    All,
}

impl FaultKind {
    /// Every one but commands.
    pub const BUILT_IN: [Self; 14] = [
        Self::Kill,
        Self::KillNode,
        Self::Freeze,
        Self::FreezeReceiver,
        Self::Throttle,
        Self::Restart,
        Self::Switchover,
        Self::Promote,
        Self::Fill,
        Self::PowerCut,
        Self::Cut,
        Self::Isolate,
        Self::Delay,
        Self::Clock,
    ];

    /// As it is written.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Kill => "kill",
            Self::KillNode => "kill-node",
            Self::Freeze => "freeze",
            Self::FreezeReceiver => "freeze-receiver",
            Self::Throttle => "throttle",
            Self::Restart => "restart",
            Self::Switchover => "switchover",
            Self::Promote => "promote",
            Self::Fill => "fill",
            Self::PowerCut => "power-cut",
            Self::Cut => "cut",
            Self::Isolate => "isolate",
            Self::Delay => "delay",
            Self::Clock => "clock",
            Self::Command(name) => name,
        }
    }

    /// Whether it has to be told how long it lasts.
    #[must_use]
    pub fn needs_length(&self) -> bool {
        let stays_broken = matches!(self, Self::Freeze | Self::FreezeReceiver | Self::Throttle | Self::Fill);
        stays_broken || self.is_of_network() || *self == Self::Clock
    }

    /// Whether it can last.
    #[must_use]
    pub fn takes_length(&self) -> bool {
        self.needs_length() || matches!(self, Self::Kill | Self::KillNode | Self::Promote | Self::PowerCut)
    }

    /// Whether it has to be told by how much.
    #[must_use]
    pub fn needs_measure(&self) -> bool {
        matches!(self, Self::Delay | Self::Clock)
    }

    /// Whether it breaks what joins nodes, which then have a network of their own.
    #[must_use]
    pub fn is_of_network(&self) -> bool {
        matches!(self, Self::Cut | Self::Isolate | Self::Delay)
    }

    /// Whether a single server is ended by it, and started again to mend it.
    #[must_use]
    pub fn ends_servers(&self) -> bool {
        matches!(self, Self::Kill | Self::Restart | Self::PowerCut)
    }

    /// Whether a pair is started for it.
    #[must_use]
    pub(super) fn is_made_with_pair(&self) -> bool {
        self.is_of_network() || matches!(self, Self::Clock | Self::Throttle)
    }

    /// Whether it is done to what the data of a node lie on, which of several must then have a volume each.
    #[must_use]
    pub fn is_of_volume(&self) -> bool {
        matches!(self, Self::Throttle | Self::Fill | Self::PowerCut)
    }

    /// Whether there must be another node.
    #[must_use]
    pub fn needs_pair(&self) -> bool {
        matches!(self, Self::KillNode | Self::FreezeReceiver | Self::Switchover | Self::Promote)
            || self.is_of_network()
    }
}

impl Fault {
    /// Whether it is of the node that takes writes, where there are several: what receives a log is on another one.
    #[must_use]
    pub fn is_of_primary(&self) -> bool {
        let usual =
            if self.what == FaultKind::FreezeReceiver { FaultNode::Standby } else { FaultNode::Primary };
        self.node.unwrap_or(usual) == FaultNode::Primary
    }

    /// The latest moment at which it may still be broken, in nanoseconds since the load began.
    #[must_use]
    pub fn ends_ns(&self) -> u64 {
        self.at[1].ns.saturating_add(self.lasts.map_or(0, |lasts| lasts.ns))
    }
}

/// A text that says no fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// Its parts are not those of a fault.
    #[error(
        "invalid fault `{0}`. Write, for example, \"kill at 20s\", \"freeze of standby for 2s at 20s\" or \
         \"kill at 20s..40s\""
    )]
    Form(String),
    /// A node that nobody knows.
    #[error(
        "unknown node `{1}` in `{0}`. Write primary, standby, or all (power-cut only), or omit it for the \
         node that accepts writes"
    )]
    Node(String, String),
    /// A time that is none.
    #[error(
        "invalid time `{1}` in `{0}`. Write, for example, 20s, or 20s..40s for a random time in that \
         range"
    )]
    Time(String, String),
    /// A measure that is none.
    #[error(
        "invalid amount `{1}` in `{0}`. Write, for example, by 20ms for a delay, by 1h or -1h for a \
         clock"
    )]
    Measure(String, String),
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let form = || FaultError::Form(text.to_owned());
        let time =
            |time: &str| time.parse::<Span>().map_err(|_| FaultError::Time(text.to_owned(), time.to_owned()));
        let mut words = text.split_whitespace();
        let what = words.next().ok_or_else(form)?;
        let what = FaultKind::BUILT_IN.into_iter().find(|kind| kind.name() == what);
        let what = what.unwrap_or_else(|| {
            FaultKind::Command(text.split_whitespace().next().unwrap_or_default().to_owned())
        });
        let (mut node, mut lasts, mut by, mut at) = (None, None, None, None);
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(form)?;
            match word {
                "of" if node.is_none() => {
                    let known = [FaultNode::Primary, FaultNode::Standby, FaultNode::All];
                    let found = known.into_iter().find(|node| node.name() == value);
                    node = Some(found.ok_or_else(|| FaultError::Node(text.to_owned(), value.to_owned()))?);
                }
                "for" if lasts.is_none() => lasts = Some(time(value)?),
                "by" if by.is_none() => {
                    let measure = || FaultError::Measure(text.to_owned(), value.to_owned());
                    by = Some(value.parse().map_err(|()| measure())?);
                }
                "at" if at.is_none() => {
                    let (first, last) = value.split_once("..").unwrap_or((value, value));
                    let (first, last) = (time(first)?, time(last)?);
                    if last < first {
                        return Err(FaultError::Time(text.to_owned(), value.to_owned()));
                    }
                    at = Some([first, last]);
                }
                _ => return Err(form()),
            }
        }
        Ok(Self { what, node, lasts, by, at: at.ok_or_else(form)? })
    }
}

impl FromStr for Shift {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (is_back, by) = text.strip_prefix('-').map_or((false, text), |by| (true, by));
        let by = by.parse::<Span>().ok().filter(|by| by.ns > 0).ok_or(())?;
        Ok(Self { by, is_back })
    }
}

impl fmt::Display for Shift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_back {
            f.write_str("-")?;
        }
        self.by.fmt(f)
    }
}

impl FaultNode {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Standby => "standby",
            Self::All => "all",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what.name())?;
        if let Some(node) = self.node {
            write!(f, " of {}", node.name())?;
        }
        if let Some(by) = self.by {
            write!(f, " by {by}")?;
        }
        if let Some(lasts) = self.lasts {
            write!(f, " for {lasts}")?;
        }
        match self.at {
            [first, last] if first == last => write!(f, " at {first}"),
            [first, last] => write!(f, " at {first}..{last}"),
        }
    }
}

/// The faults of a target: as a text, with commas between them, or as an array.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults(pub Vec<Fault>);

impl FromStr for Faults {
    type Err = FaultError;

    /// An empty text has none.
    fn from_str(text: &str) -> Result<Self, FaultError> {
        let each = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        each.map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join(", "))
    }
}

impl Serialize for Faults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Faults {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a fault such as \"kill at 20s\", or an array of them")]
        enum OneOrMany {
            One(String),
            Many(Vec<String>),
        }
        let text = match OneOrMany::deserialize(deserializer)? {
            OneOrMany::One(text) => text,
            OneOrMany::Many(texts) => texts.join(","),
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fault(text: &str) -> Fault {
        text.parse().unwrap()
    }

    #[test]
    fn a_fault_says_what_is_broken_of_what_for_how_long_and_when() {
        let kill = fault("kill at 20s");
        assert_eq!(
            kill,
            Fault { what: FaultKind::Kill, node: None, lasts: None, by: None, at: [Span::seconds(20); 2] }
        );
        let freeze = fault("freeze of standby for 2s at 20s..40s");
        assert_eq!((freeze.what.clone(), freeze.node), (FaultKind::Freeze, Some(FaultNode::Standby)));
        assert_eq!((freeze.lasts, freeze.ends_ns()), (Some(Span::seconds(2)), 42_000_000_000));
        let clock = fault("clock of standby by -1h for 2s at 20s");
        assert_eq!(clock.by, Some(Shift { by: Span::seconds(3_600), is_back: true }));
        assert_eq!(fault("power-cut of all at 5s").node, Some(FaultNode::All));
        assert_eq!(fault("pull-cable  at 5s").what, FaultKind::Command("pull-cable".to_owned()));
    }

    #[test]
    fn what_is_no_fault_is_told_with_its_place() {
        for (text, told) in [
            ("kill", "kill at 20s"),
            ("kill at", "invalid fault"),
            ("kill at soon", "invalid time `soon` in `kill at soon`"),
            ("kill at 20s..10s", "`20s..10s`"),
            ("kill of third at 1s", "unknown node `third` in `kill of third at 1s`"),
            ("kill at 1s at 2s", "invalid fault"),
            ("kill when 1s", "invalid fault"),
            ("delay by much for 1s at 1s", "invalid amount `much` in `delay by much for 1s at 1s`"),
            ("delay by 0s for 1s at 1s", "invalid amount"),
        ] {
            let error = text.parse::<Fault>().unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn several_are_one_text_or_an_array_and_nothing_is_none() {
        let read =
            |toml: &str| toml::from_str::<toml::Table>(toml).unwrap()["faults"].clone().try_into::<Faults>();
        let one = read("faults = \"kill at 5s, freeze for 1s at 9s\"").unwrap();
        assert_eq!(one, read("faults = [\"kill at 5s\", \"freeze for 1s at 9s\"]").unwrap());
        assert_eq!(one.0.len(), 2);
        assert_eq!(read("faults = \"\"").unwrap(), Faults::default());
        assert!(read("faults = 3").unwrap_err().to_string().contains("kill at 20s"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            kind in 0..FaultKind::BUILT_IN.len(),
            node in proptest::option::of(0_usize..3),
            lasts in proptest::option::of(1_u64..10_000),
            by in proptest::option::of((1_u64..10_000, proptest::bool::ANY)),
            at in 0_u64..100_000,
            within in 0_u64..100_000,
        ) {
            let ms = |ms: u64| Span { ns: ms * 1_000_000 };
            let fault = Fault {
                what: FaultKind::BUILT_IN[kind].clone(),
                node: node.map(|node| [FaultNode::Primary, FaultNode::Standby, FaultNode::All][node]),
                lasts: lasts.map(ms),
                by: by.map(|(by, is_back)| Shift { by: ms(by), is_back }),
                at: [ms(at), ms(at + within)],
            };
            prop_assert_eq!(fault.to_string().parse::<Fault>().unwrap(), fault);
        }
    }
}
