//! The servers of a trial as far as they were seen on this machine: what their processes used.

use record::{Resources, Setup};

use crate::machine::servers_of;

/// Engines of databases that run in threads of this program.
pub(crate) const IN_PROCESS: [&str; 3] = ["sqlite", "duckdb", "fake"];

/// What is known of the servers of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Servers {
    /// It has no database.
    Absent,
    /// Its databases run in threads of this program.
    InProcess,
    /// All of its servers are here.
    Seen {
        /// Cores that their processes and the children of these used, all together, in the measured window.
        cores: f64,
    },
    /// One of them is elsewhere, or its processes could not be seen.
    Unseen,
}

impl Servers {
    /// A server is read once, by the name of one of its databases, so that as many are to be seen as there are places.
    pub(crate) fn of(setup: &Setup, during: &[&Resources]) -> Self {
        let databases = setup.databases();
        if databases.is_empty() {
            return Self::Absent;
        }
        if databases.iter().all(|database| IN_PROCESS.contains(&database.engine)) {
            return Self::InProcess;
        }
        let mut places: Vec<Option<String>> = databases.iter().map(|database| database.place()).collect();
        places.sort_unstable();
        places.dedup();
        // Readings of before hold the servers of all trials of a study.
        let is_used = |name: &str| {
            let mut rest = databases.iter().filter_map(|database| name.strip_prefix(database.name));
            rest.any(|rest| rest.is_empty() || [" at ", " ("].iter().any(|next| rest.starts_with(next)))
        };
        let seen = servers_of(during);
        let cores: Vec<f64> =
            seen.iter().filter(|part| is_used(&part.name)).map(|part| part.mean.cpu_cores).collect();
        match cores.len() == places.len() && places.iter().all(Option::is_some) {
            true => Self::Seen { cores: cores.iter().sum() },
            false => Self::Unseen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Made, Sold};
    use record::{MeasuredTrial, ServerLoad};

    fn servers(trial: &MeasuredTrial, seen: &[(&str, f64)]) -> Servers {
        let load = |(name, cpu_cores): &(&str, f64)| {
            ((*name).to_owned(), ServerLoad { cpu_cores: *cpu_cores, ..ServerLoad::default() })
        };
        let read = Resources { servers: seen.iter().map(load).collect(), ..Resources::default() };
        Servers::of(trial.trial.setup.as_ref().unwrap(), &[&Resources { length_s: 1.0, ..read }])
    }

    #[test]
    fn a_server_counts_only_where_all_of_the_trials_were_seen() {
        let disk = Made::read("R").trial(1);
        assert_eq!(servers(&disk, &[("store_1", 1.0)]), Servers::Absent);
        let sqlite =
            Sold::at("O", &[50.0]).with(|setup| setup.targets[0].engine = "sqlite".to_owned()).trial(1);
        assert_eq!(servers(&sqlite, &[]), Servers::InProcess);
        let one = Sold::at("O", &[50.0]).trial(1);
        assert_eq!(servers(&one, &[("store_1", 1.5)]), Servers::Seen { cores: 1.5 });
        assert_eq!(servers(&one, &[("store_1 at db-1", 1.5)]), Servers::Seen { cores: 1.5 });
        assert_eq!(servers(&one, &[("store_1 (postgres) at db-1", 1.5)]), Servers::Seen { cores: 1.5 });
        assert_eq!(servers(&one, &[("store_12", 1.5)]), Servers::Unseen, "of another trial");
        assert_eq!(servers(&one, &[]), Servers::Unseen);
    }

    #[test]
    fn two_stores_of_one_server_are_one_and_of_two_servers_both_are_needed() {
        let two = Sold::at("O", &[50.0, 50.0]);
        assert_eq!(servers(&two.trial(1), &[("store_1", 1.5)]), Servers::Seen { cores: 1.5 });
        let apart = |setup: &mut record::OrdersSetup| {
            setup.targets[1].target = "postgres://orders@db-2:5432".to_owned();
        };
        let apart = Sold::at("O", &[50.0, 50.0]).with(apart).trial(1);
        assert_eq!(servers(&apart, &[("store_1", 1.5)]), Servers::Unseen);
        assert_eq!(servers(&apart, &[("store_1", 1.5), ("store_2", 0.5)]), Servers::Seen { cores: 2.0 });
    }
}
