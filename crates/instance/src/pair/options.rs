//! What a caller may choose about a pair.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::error::PairError;
use super::network::NetworkNeed;
use crate::Options;

/// How the nodes of a pair stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairKind {
    /// Two nodes, of which one takes over by itself when the other fails; what is acknowledged is on both. PostgreSQL by
    /// pg_auto_failover, with its monitor; MariaDB by Galera, with an arbitrator.
    Sync,
    /// Two nodes, of which the second follows and takes over when it is told to.
    Async,
    /// Three nodes: a commit is acknowledged once one of two standbys has it. The first standby takes over when it is told to.
    Quorum,
}

impl PairKind {
    /// As a study spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Async => "async",
            Self::Quorum => "quorum",
        }
    }

    /// How many nodes have data.
    #[must_use]
    pub fn nodes(self) -> usize {
        match self {
            Self::Sync | Self::Async => 2,
            Self::Quorum => 3,
        }
    }
}

/// How fast a failure is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failover {
    /// As the tool has it.
    #[default]
    Default,
    /// Within seconds: right where nodes are near to each other and nothing stalls them.
    Tuned,
}

/// How a pair is started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairOptions {
    node: Options,
    failover: Failover,
    timeouts: BTreeMap<String, String>,
    network: NetworkNeed,
    volumes: Vec<PathBuf>,
}

impl PairOptions {
    /// Each node is started so: its settings, the directory in which all is made, its limits, the name by which it is known.
    #[must_use]
    pub fn of(node: Options) -> Self {
        Self { node, ..Self::default() }
    }

    /// Takes the timeouts of failover from a set.
    #[must_use]
    pub fn failover(mut self, failover: Failover) -> Self {
        self.failover = failover;
        self
    }

    /// Sets one timeout, in the words and units of the tool; it wins over those of the set. [`super::timeouts`] has them all.
    #[must_use]
    pub fn timeout(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.timeouts.insert(key.into(), value.into());
        self
    }

    /// Gives the nodes a network of their own that can do so much.
    #[must_use]
    pub fn in_network(mut self, need: NetworkNeed) -> Self {
        self.network = need;
        self
    }

    /// Has what each node is to keep lie in one of these, in the order of the nodes, and only sockets, logs and the witness in the
    /// directory of the pair. Each is on a volume of its own.
    #[must_use]
    pub fn on_volumes(mut self, directories: Vec<PathBuf>) -> Self {
        self.volumes = directories;
        self
    }

    pub(crate) fn volumes(&self) -> &[PathBuf] {
        &self.volumes
    }

    pub(crate) fn network(&self) -> NetworkNeed {
        self.network
    }

    pub(crate) fn node(&self) -> &Options {
        &self.node
    }

    /// What is set apart from the tool's defaults.
    pub(crate) fn timeouts(
        &self,
        known: &'static [Timeout],
    ) -> Result<BTreeMap<&'static str, String>, PairError> {
        let mut set = BTreeMap::new();
        if self.failover == Failover::Tuned {
            let tuned = known.iter().filter_map(|one| Some((one.key, one.tuned?.to_owned())));
            set.extend(tuned);
        }
        for (key, value) in &self.timeouts {
            let found = known.iter().find(|one| one.key == key);
            let timeout = found.ok_or_else(|| {
                let names: Vec<&str> = known.iter().map(|one| one.key).collect();
                let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                PairError::NoTimeout { key: key.clone(), known }
            })?;
            if !timeout.unit.takes(value) {
                let form = timeout.unit.form();
                return Err(PairError::TimeoutValue { key: key.clone(), value: value.clone(), form });
            }
            set.insert(timeout.key, value.clone());
        }
        Ok(set)
    }
}

/// A timeout of failover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// As the tool spells it.
    pub key: &'static str,
    /// In what it is counted.
    pub unit: TimeoutUnit,
    /// Its value in the tuned set; none if that leaves it as it is.
    pub tuned: Option<&'static str>,
    /// Who has it.
    pub(crate) of: TimeoutOf,
}

/// In what a timeout is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutUnit {
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// A number of times.
    Times,
    /// A period as of ISO 8601, such as `PT1.5S`.
    Period,
}

/// Where a timeout is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutOf {
    /// In the monitor.
    Monitor,
    /// In each keeper.
    Keeper,
    /// In each member of Galera.
    Provider,
}

impl TimeoutUnit {
    fn takes(self, value: &str) -> bool {
        match self {
            Self::Milliseconds | Self::Seconds | Self::Times => value.parse::<u32>().is_ok(),
            Self::Period => {
                let seconds = value.strip_prefix("PT").and_then(|rest| rest.strip_suffix('S'));
                seconds.is_some_and(|text| text.parse::<f64>().is_ok_and(|number| number > 0.0))
            }
        }
    }

    fn form(self) -> &'static str {
        match self {
            Self::Milliseconds => "a whole number of milliseconds",
            Self::Seconds => "a whole number of seconds",
            Self::Times => "a whole number",
            Self::Period => "a period such as PT1.5S",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::autoctl;
    use super::*;

    #[test]
    fn single_timeouts_win_over_the_set_and_unknown_ones_are_named() {
        let set = |options: &PairOptions| options.timeouts(&autoctl::TIMEOUTS);
        let tuned = PairOptions::default().failover(Failover::Tuned);
        assert_eq!(set(&tuned).unwrap()["health_check_period"], "500");
        assert!(set(&PairOptions::default()).unwrap().is_empty());
        let single = tuned.timeout("health_check_period", "700");
        assert_eq!(set(&single).unwrap()["health_check_period"], "700");
        let told = |key: &str, value: &str| {
            set(&PairOptions::default().timeout(key, value)).unwrap_err().to_string()
        };
        assert!(
            told("heartbeat", "1").starts_with("unknown timeout `heartbeat`"),
            "{}",
            told("heartbeat", "1")
        );
        assert!(told("health_check_period", "1s").contains("a whole number of milliseconds"));
    }

    #[test]
    fn a_period_is_positive_and_in_seconds() {
        for (text, takes) in
            [("PT1S", true), ("PT0.5S", true), ("PT0S", false), ("1S", false), ("PTxS", false)]
        {
            assert_eq!(TimeoutUnit::Period.takes(text), takes, "{text}");
        }
    }
}
