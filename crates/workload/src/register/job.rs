//! A load on registers that can be run: settings with every default filled in and every contradiction refused.

use load::{JobError, Pacing, Phases, Problems, Span};
use serde::{Deserialize, Serialize};

use super::Settings;
use crate::clients::Schedule;

/// Most clients.
const CLIENTS_MAX: u32 = 10_000;
/// Most registers.
const KEYS_MAX: u32 = 1_000_000;
/// Most operations of a history, all of which are kept until they are checked: some 150 MB.
const OPERATIONS_MAX: f64 = 2_000_000.0;
const KEYS: u32 = 100;
const CLIENTS: u32 = 10;
const RATE_PER_S: f64 = 1_000.0;
const READS_PER_CENT: f64 = 50.0;
const TIMEOUT: Span = Span::seconds(5);
const OUTAGE: Span = Span::microseconds(500_000);
const WARM_UP: Span = Span::seconds(5);
const DURATION: Span = Span::seconds(60);

/// One load on registers, complete and without contradiction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Registers.
    pub keys: u32,
    /// Clients.
    pub clients: u32,
    /// Operations that are due at a rate: their number has a bound.
    pub pacing: Pacing,
    /// Share of the operations that read, 0–1.
    pub read_share: f64,
    /// When an operation is given up.
    pub timeout: Span,
    /// Time without an answer that counts as an outage.
    pub outage: Span,
    /// Warm-up and window.
    pub phases: Phases,
    /// Seed of the load's own choices.
    pub seed: u64,
    /// Whether acknowledged writes are meant to be lost.
    #[serde(default)]
    pub expects_losses: bool,
}

impl Job {
    /// Fills in the defaults and checks everything.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn of(settings: &Settings) -> Result<Self, Vec<JobError>> {
        let mut problems = Problems::default();
        check(&mut problems, settings);
        problems.none()?;
        let job = Self::defaulted(settings);
        let mut problems = Problems::default();
        if job.operations() > OPERATIONS_MAX {
            problems.add(
                "rate",
                format!(
                    "cannot be {} for {}: prony keeps all operations in memory until it checks them, at most {OPERATIONS_MAX}. Use a lower rate, or a shorter time",
                    load::short(job.rate_per_s()),
                    Span { ns: job.phases.end_ns() }
                ),
            );
        }
        problems.none()?;
        Ok(job)
    }

    fn defaulted(settings: &Settings) -> Self {
        let rate_per_s = settings.rate.unwrap_or(RATE_PER_S);
        Self {
            keys: settings.keys.unwrap_or(KEYS),
            clients: settings.clients.unwrap_or(CLIENTS),
            pacing: match settings.poisson {
                Some(true) => Pacing::Poisson { rate_per_s },
                Some(false) | None => Pacing::Fixed { rate_per_s },
            },
            read_share: settings.reads.unwrap_or(READS_PER_CENT) / 100.0,
            timeout: settings.timeout.unwrap_or(TIMEOUT),
            outage: settings.outage.unwrap_or(OUTAGE),
            phases: Phases {
                warm_up: settings.warm_up.unwrap_or(WARM_UP),
                measure: settings.duration.unwrap_or(DURATION),
            },
            seed: settings.seed.unwrap_or(42),
            expects_losses: settings.expect_losses.unwrap_or(false),
        }
    }

    /// Operations that are due a second.
    pub(super) fn rate_per_s(&self) -> f64 {
        match self.pacing {
            Pacing::Fixed { rate_per_s } | Pacing::Poisson { rate_per_s } => rate_per_s,
            Pacing::Closed { .. } => 0.0,
        }
    }

    /// Operations that are due in all.
    pub(super) fn operations(&self) -> f64 {
        self.rate_per_s() * self.phases.end_ns() as f64 / 1e9
    }

    /// When clients load, and how many.
    pub(super) fn schedule(&self) -> Schedule {
        Schedule {
            clients: self.clients,
            // In an open loop all begin at once.
            ramp_rate_per_s: 1e8,
            pacing: self.pacing,
            cpu_target: None,
            phases: self.phases,
            latency_limit: None,
            seed: self.seed,
        }
    }
}

fn check(problems: &mut Problems, settings: &Settings) {
    problems.within("keys", settings.keys, 1, KEYS_MAX);
    problems.within("clients", settings.clients, 1, CLIENTS_MAX);
    problems.within("rate", settings.rate, 0.001, 1e6);
    problems.within("reads", settings.reads, 0.0, 100.0);
    for (parameter, given) in
        [("duration", settings.duration), ("timeout", settings.timeout), ("outage", settings.outage)]
    {
        problems.some_time(parameter, given);
    }
    for (parameter, given) in [
        ("duration", settings.duration),
        ("warm_up", settings.warm_up),
        ("timeout", settings.timeout),
        ("outage", settings.outage),
    ] {
        problems.no_age(parameter, given);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(text: &str) -> Result<Job, String> {
        let settings: Settings = toml::from_str(text).unwrap();
        Job::of(&settings)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn nothing_has_to_be_given() {
        let job = job("").unwrap();
        assert_eq!((job.keys, job.clients, job.read_share), (100, 10, 0.5));
        assert_eq!(job.pacing, Pacing::Fixed { rate_per_s: 1_000.0 });
        assert_eq!((job.timeout, job.outage), (Span::seconds(5), Span::microseconds(500_000)));
        assert_eq!(job.operations(), 65_000.0);
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let told = job("keys = 0\nclients = 0\nrate = 0.0\nreads = 101.0\ntimeout = \"0s\"\noutage = \"0s\"");
        let told = told.unwrap_err();
        assert_eq!(told.lines().count(), 6, "{told}");
        for part in ["keys cannot be 0", "clients cannot be 0", "rate cannot be 0", "101", "1s"] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }

    #[test]
    fn a_history_that_would_not_end_is_refused() {
        let told = job("rate = 10000.0\nduration = \"10m\"").unwrap_err();
        assert!(told.contains("10000 for 10m5s") && told.contains("at most 2000000"), "{told}");
    }
}
