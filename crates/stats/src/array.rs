//! What an array of disks should give: random IOPS from the number and kind of the disks and their RAID level.
//!
//! Rules of thumb, to tell a figure of the right order from one that is not. They hold where enough I/Os are
//! outstanding to keep every disk busy, for small blocks over the whole disk, without the help of a cache; no data
//! sheet is promised. Sequential rates, latency and a controller's own limit are not estimated.

use std::fmt;
use std::str::FromStr;

/// A number of equal disks in one RAID level, such as `100 x sas10k raid10`.
///
/// Parsed from `<disks> x <kind> [raid0|raid1|raid10|1+0|raid5|raid6]` in upper or lower case, with `×` or `*` as
/// well as `x` and with or without blanks around it; without a level the disks are striped. Displayed in the one form
/// that a report uses, which can be parsed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    disks: u32,
    kind: Kind,
    raid: Raid,
}

impl Array {
    /// Number of its disks.
    #[must_use]
    pub fn disks(&self) -> u32 {
        self.disks
    }

    /// Random reads a second: every disk of the array answers reads.
    #[must_use]
    pub fn random_read_iops(&self) -> f64 {
        f64::from(self.disks) * self.kind.figures().random_read_iops
    }

    /// Random writes a second: those of all disks, shared by the I/Os that one write costs.
    #[must_use]
    pub fn random_write_iops(&self) -> f64 {
        f64::from(self.disks) * self.kind.figures().random_write_iops / self.raid.ios_a_write(self.disks)
    }
}

/// A text that is no array of disks: what was given, what is wrong with it, and what may be given.
#[derive(Debug, thiserror::Error)]
#[error(
    "invalid disk array {given:?}: {wrong}. Use <disks> x <kind> [raid0|raid1|raid10|raid5|raid6], for example \
     \"100 x sas10k raid10\". Kinds: {}",
    kinds()
)]
pub struct ArrayError {
    given: String,
    wrong: Wrong,
}

#[derive(Debug, thiserror::Error)]
enum Wrong {
    #[error("unknown format")]
    Form,
    #[error("the number of disks must be 1 to {max}, not {0}", max = u32::MAX)]
    Disks(String),
    #[error("unknown kind of disk {0:?}")]
    Kind(String),
    #[error("unknown RAID level {0:?}")]
    Level(String),
    #[error("{raid} needs {needed} disks, not {disks}")]
    TooFewOrOdd { raid: &'static str, needed: &'static str, disks: u32 },
}

/// Kinds of disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sata5400,
    Sata7200,
    Sas7200,
    Sas10k,
    Sas15k,
    SsdSata,
    Nvme,
}

/// What is known of a kind of disk.
struct Figures {
    name: &'static str,
    other_name: Option<&'static str>,
    random_read_iops: f64,
    random_write_iops: f64,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Sata5400,
        Self::Sata7200,
        Self::Sas7200,
        Self::Sas10k,
        Self::Sas15k,
        Self::SsdSata,
        Self::Nvme,
    ];

    /// Turning disks: the usual sizing figures, near 1 / (half a turn + a mean seek); 10,000 a minute at 140 is the
    /// assumption by which 100 disks give 14,000 reads. Flash: what Intel rated its data-centre drives of 2012 (SATA,
    /// DC S3700) and 2014 (NVMe, DC P3700 of 2 TB) at in 4 KiB, writes sustained; newer drives reach two to three
    /// times the NVMe figures.
    const fn figures(self) -> Figures {
        match self {
            Self::Sata5400 => Figures::turning("sata5400", None, 50.0),
            Self::Sata7200 => Figures::turning("sata7200", None, 75.0),
            Self::Sas7200 => Figures::turning("sas7200", Some("nl-sas"), 75.0),
            Self::Sas10k => Figures::turning("sas10k", None, 140.0),
            Self::Sas15k => Figures::turning("sas15k", None, 180.0),
            Self::SsdSata => Figures::flash("ssd-sata", 75_000.0, 36_000.0),
            Self::Nvme => Figures::flash("nvme", 450_000.0, 175_000.0),
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| {
            let figures = kind.figures();
            figures.name == name || figures.other_name == Some(name)
        })
    }
}

impl Figures {
    const fn turning(name: &'static str, other_name: Option<&'static str>, iops: f64) -> Self {
        Self { name, other_name, random_read_iops: iops, random_write_iops: iops }
    }

    const fn flash(name: &'static str, random_read_iops: f64, random_write_iops: f64) -> Self {
        Self { name, other_name: None, random_read_iops, random_write_iops }
    }
}

/// The kinds for a message: `sata5400, sata7200, sas7200 (or nl-sas), …`.
fn kinds() -> String {
    let names = Kind::ALL.map(|kind| {
        let figures = kind.figures();
        let other = figures.other_name.map(|other| format!(" (or {other})")).unwrap_or_default();
        format!("{}{other}", figures.name)
    });
    names.join(", ")
}

/// RAID levels; a single disk is striped over itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Raid {
    Striped,
    Mirrored,
    StripedMirrors,
    Parity,
    DoubleParity,
}

impl Raid {
    fn named(name: &str) -> Option<Self> {
        match name {
            "raid0" => Some(Self::Striped),
            "raid1" => Some(Self::Mirrored),
            "raid10" | "raid1+0" | "1+0" => Some(Self::StripedMirrors),
            "raid5" => Some(Self::Parity),
            "raid6" => Some(Self::DoubleParity),
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Striped => "raid0",
            Self::Mirrored => "raid1",
            Self::StripedMirrors => "raid10",
            Self::Parity => "raid5",
            Self::DoubleParity => "raid6",
        }
    }

    /// Disk I/Os that one small write costs (Patterson, Gibson and Katz, "A case for redundant arrays of inexpensive
    /// disks", SIGMOD 1988): one copy on each disk of a mirror, so two in a pair; with parity, old data and old parity
    /// are read and the new ones written, and with double parity there are two of the latter.
    fn ios_a_write(self, disks: u32) -> f64 {
        match self {
            Self::Striped => 1.0,
            Self::Mirrored => f64::from(disks),
            Self::StripedMirrors => 2.0,
            Self::Parity => 4.0,
            Self::DoubleParity => 6.0,
        }
    }

    /// What the level needs, if that number of disks does not satisfy it.
    const fn lacks(self, disks: u32) -> Option<&'static str> {
        match self {
            Self::Mirrored if disks < 2 => Some("at least 2"),
            Self::StripedMirrors if disks < 4 || disks % 2 == 1 => Some("an even number of at least 4"),
            Self::Parity if disks < 3 => Some("at least 3"),
            Self::DoubleParity if disks < 4 => Some("at least 4"),
            _ => None,
        }
    }
}

impl FromStr for Array {
    type Err = ArrayError;

    fn from_str(given: &str) -> Result<Self, ArrayError> {
        parse(&given.to_lowercase()).map_err(|wrong| ArrayError { given: given.to_owned(), wrong })
    }
}

fn parse(text: &str) -> Result<Array, Wrong> {
    let (disks, rest) = text.split_once(['x', '×', '*']).ok_or(Wrong::Form)?;
    let disks = number_of_disks(disks.trim())?;
    let mut words = rest.split_whitespace();
    let kind = words.next().ok_or(Wrong::Form)?;
    let kind = Kind::named(kind).ok_or_else(|| Wrong::Kind(kind.to_owned()))?;
    let raid = words.next().map_or(Ok(Raid::Striped), level)?;
    if words.next().is_some() {
        return Err(Wrong::Form);
    }
    match raid.lacks(disks) {
        Some(needed) => Err(Wrong::TooFewOrOdd { raid: raid.name(), needed, disks }),
        None => Ok(Array { disks, kind, raid }),
    }
}

fn number_of_disks(text: &str) -> Result<u32, Wrong> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Wrong::Form);
    }
    text.parse().ok().filter(|&disks| disks > 0).ok_or_else(|| Wrong::Disks(text.to_owned()))
}

fn level(name: &str) -> Result<Raid, Wrong> {
    Raid::named(name).ok_or_else(|| Wrong::Level(name.to_owned()))
}

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.disks, self.kind.figures().name)?;
        match (self.disks, self.raid) {
            (1, Raid::Striped) => Ok(()),
            (_, raid) => write!(f, " {}", raid.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, canonical: &str, reads: f64, writes: f64) {
        let array: Array = text.parse().unwrap();
        assert_eq!(array.to_string(), canonical, "{text}");
        assert_eq!((array.random_read_iops(), array.random_write_iops()), (reads, writes), "{text}");
    }

    #[test]
    fn hundred_10k_disks_in_raid10_give_the_published_14000_reads() {
        // "SQL Server 2012: Storage Systems (part 7)", 2013: 100 SAS disks of 10,000 a minute in RAID 1+0.
        check("100 x sas10k raid10", "100 x sas10k raid10", 14_000.0, 7_000.0);
        check("100×SAS10K 1+0", "100 x sas10k raid10", 14_000.0, 7_000.0);
    }

    #[test]
    fn writes_pay_the_penalty_of_their_level() {
        check("4xsata7200 raid5", "4 x sata7200 raid5", 300.0, 75.0);
        check("8 * nl-sas RAID6", "8 x sas7200 raid6", 600.0, 100.0);
        check("2 x sas15k raid1", "2 x sas15k raid1", 360.0, 180.0);
        check("3 x sas15k raid1", "3 x sas15k raid1", 540.0, 180.0);
        check(" 8 x sas10k ", "8 x sas10k raid0", 1120.0, 1120.0);
        check("1 x sata5400 raid0", "1 x sata5400", 50.0, 50.0);
        check("4 x ssd-sata raid1+0", "4 x ssd-sata raid10", 300_000.0, 72_000.0);
        check("1 X NVMe", "1 x nvme", 450_000.0, 175_000.0);
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_may_be_given() {
        let cases = [
            ("", r#""": unknown format"#),
            ("sas10k", r#""sas10k": unknown format"#),
            ("-4 x sas10k", r#""-4 x sas10k": unknown format"#),
            ("4 x", r#""4 x": unknown format"#),
            ("4 x sas10k raid5 spare", r#""4 x sas10k raid5 spare": unknown format"#),
            ("0 x sas10k", r#""0 x sas10k": the number of disks must be 1 to 4294967295, not 0"#),
            (
                "99999999999 x nvme",
                r#""99999999999 x nvme": the number of disks must be 1 to 4294967295, not 99999999999"#,
            ),
            ("4 x SAS12k", r#""4 x SAS12k": unknown kind of disk "sas12k""#),
            ("4 x sas10k raid7", r#""4 x sas10k raid7": unknown RAID level "raid7""#),
            ("1 x nvme raid1", r#""1 x nvme raid1": raid1 needs at least 2 disks, not 1"#),
            ("5 x nvme 1+0", r#""5 x nvme 1+0": raid10 needs an even number of at least 4 disks, not 5"#),
            (
                "2 x nvme raid10",
                r#""2 x nvme raid10": raid10 needs an even number of at least 4 disks, not 2"#,
            ),
            ("2 x nvme raid5", r#""2 x nvme raid5": raid5 needs at least 3 disks, not 2"#),
            ("3 x nvme raid6", r#""3 x nvme raid6": raid6 needs at least 4 disks, not 3"#),
        ];
        let remedy = ". Use <disks> x <kind> [raid0|raid1|raid10|raid5|raid6], for example \"100 x sas10k raid10\". \
                      Kinds: sata5400, sata7200, sas7200 (or nl-sas), sas10k, sas15k, ssd-sata, nvme";
        for (text, wrong) in cases {
            assert_eq!(
                text.parse::<Array>().unwrap_err().to_string(),
                format!("invalid disk array {wrong}{remedy}")
            );
        }
    }

    proptest! {
        #[test]
        fn displayed_form_is_parsed_again(
            disks in 1u32..=u32::MAX,
            kind in prop::sample::select(Kind::ALL.to_vec()),
            raid in prop::sample::select(
                vec![Raid::Striped, Raid::Mirrored, Raid::StripedMirrors, Raid::Parity, Raid::DoubleParity]
            ),
        ) {
            prop_assume!(raid.lacks(disks).is_none());
            let array = Array { disks, kind, raid };
            prop_assert_eq!(array.to_string().parse::<Array>().unwrap(), array);
            prop_assert!(array.random_read_iops() > 0.0 && array.random_write_iops() > 0.0);
            prop_assert!(array.random_write_iops() <= array.random_read_iops());
        }

        #[test]
        fn arbitrary_text_is_parsed_or_refused(text in "\\PC{0,40}") {
            let _ = text.parse::<Array>();
        }

        #[test]
        fn text_near_the_form_is_parsed_or_refused(
            text in "[0-9]{0,12} ?[x×*X]? ?(sas10k|nvme|İx|nl-sas)? ?(raid|RAID)?[0-9+]{0,3}",
        ) {
            if let Ok(array) = text.parse::<Array>() {
                prop_assert_eq!(array.to_string().parse::<Array>().unwrap(), array);
            }
        }
    }
}
