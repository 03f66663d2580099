//! The time in which everything that happens regularly on a server has happened: what is pending must come down within it.

use serde::{Deserialize, Serialize};

use crate::Server;

/// Taken where nothing regular is known: MySQL, MariaDB and SQLite write their checkpoints by the amount that was written.
const ASSUMED_S: f64 = 60.0;

/// The longest time between two of what happens regularly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cycle {
    /// In seconds.
    pub length_s: f64,
    /// What happens.
    pub of: CycleOf,
}

/// What happens regularly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CycleOf {
    /// The server's checkpoints.
    Checkpoint,
    /// Purges.
    Purge,
    /// Nothing that is known; a minute is assumed.
    Assumed,
}

impl Cycle {
    /// The longer of the times between two checkpoints and between two purges, in seconds, of which any may be unknown.
    #[must_use]
    pub fn of(checkpoint_s: Option<f64>, purge_s: Option<f64>) -> Self {
        let checkpoint = checkpoint_s.map(|length_s| Self { length_s, of: CycleOf::Checkpoint });
        let purge = purge_s.map(|length_s| Self { length_s, of: CycleOf::Purge });
        let known = [checkpoint, purge].into_iter().flatten().filter(|cycle| cycle.length_s > 0.0);
        let longest = known.max_by(|a, b| a.length_s.total_cmp(&b.length_s));
        longest.unwrap_or(Self { length_s: ASSUMED_S, of: CycleOf::Assumed })
    }
}

impl Server {
    /// Most seconds from one checkpoint to the next, where the server goes by time: PostgreSQL's `checkpoint_timeout`, as
    /// `current_setting` spells it (`5min`).
    #[must_use]
    pub fn checkpoint_s(&self) -> Option<f64> {
        let value = &self.settings.iter().find(|setting| setting.name == "checkpoint_timeout")?.value;
        let digits = value.trim_end_matches(|character: char| !character.is_ascii_digit());
        let unit_s = match &value[digits.len()..] {
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        Some(digits.parse::<f64>().ok()? * unit_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerSetting;

    #[test]
    fn the_interval_of_checkpoints_is_read_as_postgresql_spells_it() {
        let read = |value: &str| {
            let setting = ServerSetting { name: "checkpoint_timeout".to_owned(), value: value.to_owned() };
            let server = Server {
                version: String::new(),
                durability: String::new(),
                is_durable: true,
                settings: vec![setting],
                data_directory: None,
                log_directory: None,
                link: None,
                services: Vec::new(),
                unsafe_tables: Vec::new(),
            };
            server.checkpoint_s()
        };
        assert_eq!(read("5min"), Some(300.0));
        assert_eq!(read("90s"), Some(90.0));
        assert_eq!((read("1h"), read("1d")), (Some(3_600.0), Some(86_400.0)));
        assert_eq!((read("soon"), read("5 apples")), (None, None));
    }

    #[test]
    fn the_longest_of_what_happens_regularly_is_the_cycle() {
        let of = |checkpoint, purge| {
            let cycle = Cycle::of(checkpoint, purge);
            (cycle.length_s, cycle.of)
        };
        assert_eq!(of(Some(300.0), None), (300.0, CycleOf::Checkpoint));
        assert_eq!(of(Some(300.0), Some(3_600.0)), (3_600.0, CycleOf::Purge));
        assert_eq!(of(None, None), (60.0, CycleOf::Assumed));
    }
}
