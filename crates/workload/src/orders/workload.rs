//! What a study knows of a load of orders before it runs.

use database::Dialect;
use load::{Around, JobError, Pacing, Phases, Span, TargetNeeds, Workload};

use super::{CpuTarget, DATABASE, Job, Settings};

/// Megabytes of a store that are looked through per second after a trial.
const RESTORED_MB_PER_S: f64 = 50.0;

/// Megabytes of a store that are loaded per second, indexes included. Measured on two processors with a quick disk.
fn loaded_mb_per_s(dialect: Option<Dialect>) -> f64 {
    match dialect {
        Some(Dialect::Postgres) => 25.0,
        Some(Dialect::Sqlite) => 10.0,
        Some(Dialect::Mysql | Dialect::SqlServer | Dialect::ClickHouse | Dialect::DuckDb) | None => 5.0,
    }
}

impl Workload for Settings {
    const WORKLOAD: record::Workload = record::Workload::Orders;
    const TIMES: [&'static str; 2] = ["warmup_time", "run_time"];
    type Job = Job;

    fn job(&self) -> Result<Job, Vec<JobError>> {
        Job::of(self)
    }

    fn settle(&mut self, job: &Job) {
        self.warmup_time = Some(job.phases.warm_up);
        self.run_time = Some(job.phases.measure);
    }

    fn seed(&mut self) -> &mut Option<u64> {
        &mut self.seed
    }

    fn seed_of(job: &mut Job) -> &mut u64 {
        &mut job.seed
    }

    fn phases(job: &Job) -> Phases {
        job.phases
    }

    fn warm_up(&mut self) -> &mut Option<Span> {
        &mut self.warmup_time
    }

    fn phases_of(job: &mut Job) -> &mut Phases {
        &mut job.phases
    }

    fn around(job: &Job, dialect: &str) -> Around {
        let megabytes = f64::from(job.size.unwrap_or(super::StoreSize::DEFAULT).megabytes());
        let dialect = Dialect::ALL.into_iter().find(|known| known.name() == dialect);
        Around { load_s: megabytes / loaded_mb_per_s(dialect), trial_s: 0.5 + megabytes / RESTORED_MB_PER_S }
    }

    fn needs(_: &Job) -> TargetNeeds {
        TargetNeeds::Databases {
            who: "a load of orders",
            most: None,
            name: DATABASE,
            loaded: true,
            as_it_is: false,
            // It knows a historian's statements alone.
            columns: false,
            fake: false,
            such_as: "sqlite:orders.db",
        }
    }

    fn content(job: &Job) -> String {
        let size = job.size.map(|size| format!(" of {size}")).unwrap_or_default();
        let seed = job.store_seed.map(|seed| format!(", seed {seed}")).unwrap_or_default();
        format!("an order store{size}{seed}")
    }

    /// One session per client of a target.
    fn sessions(job: &Job) -> u32 {
        job.n_threads
    }

    fn endures_faults() -> bool {
        true
    }

    fn describe(job: &Job, databases: usize) -> String {
        let stores = if databases > 1 { format!("{databases} x ") } else { String::new() };
        let clients =
            if job.n_threads == 1 { "1 client".to_owned() } else { format!("{} clients", job.n_threads) };
        match (job.cpu_target, job.pacing) {
            (Some(share), _) => format!("{stores}clients for {} of the CPU", CpuTarget(share)),
            (None, Pacing::Closed { think_time }) if think_time == Span::ZERO => format!("{stores}{clients}"),
            (None, Pacing::Closed { think_time }) => format!("{stores}{clients}, {think_time} think time"),
            (None, Pacing::Fixed { rate_per_s } | Pacing::Poisson { rate_per_s }) => {
                format!("{} orders/min offered", per_min(rate_per_s))
            }
        }
    }

    fn line(job: &Job) -> String {
        let clients = if job.n_threads == 1 { "client" } else { "clients" };
        let pace = match job.pacing {
            Pacing::Closed { think_time } if think_time == Span::ZERO => "no think time".to_owned(),
            Pacing::Closed { think_time } => format!("{think_time} think time"),
            Pacing::Fixed { rate_per_s } | Pacing::Poisson { rate_per_s } => {
                format!("{} orders/min", per_min(rate_per_s))
            }
        };
        format!("{:>5} {clients} per target  {pace}", job.n_threads)
    }

    fn quick_look(_: &Self, _: &[&Self]) -> Self {
        Self { warmup_time: Some(Span::seconds(2)), run_time: Some(Span::seconds(8)), ..Self::default() }
    }
}

/// Orders per minute. A rate per minute is stored per second, so the division leaves a rounding error.
fn per_min(rate_per_s: f64) -> f64 {
    let per_min = rate_per_s * record::orders::MINUTE_S;
    (per_min * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_per_minute_is_the_one_that_was_given() {
        for given in [500.0, 7.0, 0.1, 30_000.0, 123_456.7] {
            assert_eq!(per_min(given / record::orders::MINUTE_S).to_string(), given.to_string());
        }
    }
}
