//! A load on order stores that can be run: settings with every default filled in and every contradiction refused.

use load::{JobError, Pacing, Phases, Problems, Span};
use serde::{Deserialize, Serialize};

use super::parameter;
use super::settings::{Procedures, Settings};
use super::size::StoreSize;
use crate::clients::Schedule;

/// Most clients of a target.
const CLIENTS_MAX: u32 = 100_000;
/// Most products of a cart.
pub(crate) const CART_MAX: u32 = 10;
/// Length of the window where nothing else is said.
const RUN_TIME: Span = Span::seconds(300);
/// Warm-up where nothing else is said, if the ramp is not longer.
const WARMUP_TIME: Span = Span::seconds(60);
/// Clients that begin each second where nothing else is said.
const RAMP_RATE: f64 = 10.0;

/// One load on order stores, complete and without contradiction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Clients of each target.
    pub n_threads: u32,
    /// Clients of a target that begin each second.
    pub ramp_rate: f64,
    /// Closed with a mean time to think, or orders due at a rate a second, all targets together.
    pub pacing: Pacing,
    /// Longest pause after a deadlock; none: it begins short and doubles.
    pub deadlock_pause: Option<Span>,
    /// Share (0–1) of the CPU at which the server is held.
    pub cpu_target: Option<f64>,
    /// Warm-up and window.
    pub phases: Phases,
    /// What customers do.
    pub habits: Habits,
    /// Whether operations are procedures; none: where the engine has them.
    pub procedures: Option<bool>,
    /// Size that the stores must have.
    pub size: Option<StoreSize>,
    /// Seed that the rows of the stores must have.
    pub store_seed: Option<u64>,
    /// Seed of the load's own choices.
    pub seed: u64,
}

/// What customers do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Habits {
    /// Share of orders of customers who are new, 0–100.
    pub pct_newcustomers: f64,
    /// Mean number of browses.
    pub n_searches: u32,
    /// Mean number of products that a browse asks for.
    pub search_batch_size: u32,
    /// Mean number of products of a cart.
    pub n_line_items: u32,
}

impl Job {
    /// Fills in the defaults and checks everything.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn of(settings: &Settings) -> Result<Self, Vec<JobError>> {
        let mut problems = Problems::default();
        check_ranges(&mut problems, settings);
        check_pacing(&mut problems, settings);
        problems.none()?;
        let job = Self::defaulted(settings);
        let ramp = job.ramp();
        // Without a warm-up the ramp is measured, as whoever asks for none knows.
        if job.phases.warm_up < ramp && job.phases.warm_up != Span::ZERO {
            let mut problems = Problems::default();
            problems.add(
                "warmup_time",
                format!(
                    "cannot be {} with {} and {}: the last client starts after {ramp}; use at least this time, or 0s to measure the ramp too",
                    job.phases.warm_up,
                    parameter("n_threads").of(job.n_threads),
                    parameter("ramp_rate").of(job.ramp_rate)
                ),
            );
            problems.none()?;
        }
        Ok(job)
    }

    /// When the last client begins.
    #[must_use]
    pub fn ramp(&self) -> Span {
        self.schedule().ramp()
    }

    /// When clients load, and how many.
    pub(crate) fn schedule(&self) -> Schedule {
        Schedule {
            clients: self.n_threads,
            ramp_rate_per_s: self.ramp_rate,
            pacing: self.pacing,
            cpu_target: self.cpu_target,
            phases: self.phases,
            latency_limit: None,
            seed: self.seed,
        }
    }

    fn defaulted(settings: &Settings) -> Self {
        let think_time = settings.think_time.unwrap_or(Span::ZERO);
        let mut job = Self {
            n_threads: settings.n_threads.unwrap_or(1),
            ramp_rate: settings.ramp_rate.unwrap_or(RAMP_RATE),
            pacing: match (
                settings.rate.map(|a_minute| a_minute / record::orders::MINUTE_S),
                settings.poisson,
            ) {
                (None, _) => Pacing::Closed { think_time },
                (Some(rate_per_s), Some(true)) => Pacing::Poisson { rate_per_s },
                (Some(rate_per_s), _) => Pacing::Fixed { rate_per_s },
            },
            deadlock_pause: settings.deadlock_pause,
            cpu_target: settings.cpu_target.map(|target| target.0),
            phases: Phases { warm_up: WARMUP_TIME, measure: settings.run_time.unwrap_or(RUN_TIME) },
            habits: Habits {
                pct_newcustomers: settings.pct_newcustomers.unwrap_or(20.0),
                n_searches: settings.n_searches.unwrap_or(3),
                search_batch_size: settings.search_batch_size.unwrap_or(5),
                n_line_items: settings.n_line_items.unwrap_or(5),
            },
            procedures: settings.procedures.map(|procedures| procedures == Procedures::On),
            size: settings.size,
            store_seed: settings.store_seed,
            seed: settings.seed.unwrap_or(42),
        };
        job.phases.warm_up = settings.warmup_time.unwrap_or(WARMUP_TIME.max(job.ramp()));
        job
    }
}

fn check_ranges(problems: &mut Problems, settings: &Settings) {
    problems.within("n_threads", settings.n_threads, 1, CLIENTS_MAX);
    problems.within("ramp_rate", settings.ramp_rate, 0.001, 1e6);
    problems.within("rate", settings.rate, 0.1, 1e9);
    problems.within("pct_newcustomers", settings.pct_newcustomers, 0.0, 100.0);
    problems.within("n_searches", settings.n_searches, 1, 1_000);
    problems.within("search_batch_size", settings.search_batch_size, 1, 10_000);
    problems.within("n_line_items", settings.n_line_items, 1, CART_MAX);
    if settings.run_time == Some(Span::ZERO) {
        problems.add(
            "run_time",
            "cannot be 0s. In DVD Store, 0s means a run without end, but such a run has no result; give a duration such as 5m",
        );
    }
    for (parameter, given) in [
        ("run_time", settings.run_time),
        ("warmup_time", settings.warmup_time),
        ("think_time", settings.think_time),
    ] {
        problems.no_age(parameter, given);
    }
}

fn check_pacing(problems: &mut Problems, settings: &Settings) {
    if settings.poisson.is_some() && settings.rate.is_none() {
        problems.add("poisson", "has no effect without a rate");
    }
    let adjusted = "the load is then adjusted by changing the number of active clients";
    let due = "orders are then due at fixed times";
    for (parameter, is_given) in
        [("think_time", settings.think_time.is_some()), ("ramp_rate", settings.ramp_rate.is_some())]
    {
        if is_given && settings.rate.is_some() {
            problems.add(parameter, format!("has no effect with a rate: {due}"));
        }
    }
    if let (Some(target), true) = (settings.cpu_target, settings.rate.is_some()) {
        problems
            .add("rate", format!("cannot be given with {}: {adjusted}", parameter("cpu_target").of(target)));
    }
    if let (Some(target), Some(_)) = (settings.cpu_target, settings.ramp_rate) {
        problems.add(
            "ramp_rate",
            format!("has no effect with {}: {adjusted}", parameter("cpu_target").of(target)),
        );
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
    fn the_defaults_are_those_of_dvd_store() {
        let job = job("").unwrap();
        assert_eq!((job.n_threads, job.ramp_rate), (1, 10.0));
        assert_eq!(job.pacing, Pacing::Closed { think_time: Span::ZERO });
        assert_eq!(job.phases.warm_up, Span::seconds(60));
        assert_eq!(
            job.habits,
            Habits { pct_newcustomers: 20.0, n_searches: 3, search_batch_size: 5, n_line_items: 5 }
        );
    }

    #[test]
    fn the_warm_up_is_as_long_as_the_ramp() {
        let many = job("n_threads = 1001").unwrap();
        assert_eq!(many.phases.warm_up, Span::seconds(100));
        assert_eq!(many.schedule().begins_ns(15), 1_500_000_000);
        let refused = job("n_threads = 1001\nwarmup_time = \"30s\"").unwrap_err();
        assert!(refused.contains("1m40s") && refused.contains("30s"), "{refused}");
        let none = job("n_threads = 1001\nwarmup_time = \"0s\"").unwrap();
        assert_eq!(none.phases.warm_up, Span::ZERO, "other loads take no warm-up, too");
        assert!(
            job("n_threads = 1001\nwarmup_time = \"1s\"\nrate = 600.0").is_ok(),
            "no ramp in an open loop"
        );
    }

    #[test]
    fn all_mistakes_are_told_at_once_with_value_and_remedy() {
        let text =
            "n_threads = 0\npct_newcustomers = 120.0\nn_line_items = 11\nrun_time = \"0s\"\npoisson = true";
        let told = job(text).unwrap_err();
        assert_eq!(told.lines().count(), 5, "{told}");
        for part in ["n_threads cannot be 0", "120: give 0 to 100", "11: give 1 to 10", "5m", "poisson"] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }

    #[test]
    fn what_has_no_effect_is_refused() {
        let open = job("rate = 600.0\nthink_time = \"1s\"\nramp_rate = 5.0").unwrap_err();
        assert!(open.contains("think_time") && open.contains("ramp_rate"), "{open}");
        let adjusted = job("cpu_target = \"60%\"\nrate = 600.0").unwrap_err();
        assert!(adjusted.contains("60%"), "{adjusted}");
        assert_eq!(job("rate = 600.0").unwrap().pacing, Pacing::Fixed { rate_per_s: 10.0 });
    }
}
