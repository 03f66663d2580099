//! What a study knows of a trial of a table before it runs.

use load::{Around, JobError, Phases, Span, TargetNeeds, Workload};

use super::{DATABASE, Job, Settings};

/// Rows of a quick look.
const QUICK_ROWS: u64 = 100_000;

/// Rows per second of all operations on all rows together, the load included.
const ROWS_PER_S: f64 = 15_000.0;
/// What it takes to kill a server or a process, and to look at what it left.
const KILLED_S: f64 = 1.5;

impl Workload for Settings {
    const WORKLOAD: record::Workload = record::Workload::Tables;
    const TIMES: [&'static str; 2] = ["warm_up", "duration"];
    type Job = Job;

    fn job(&self) -> Result<Job, Vec<JobError>> {
        Job::of(self)
    }

    fn settle(&mut self, job: &Job) {
        self.warm_up = Some(job.phases.warm_up);
        self.duration = Some(job.phases.measure);
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
        &mut self.warm_up
    }

    fn phases_of(job: &mut Job) -> &mut Phases {
        &mut job.phases
    }

    fn needs(_: &Job) -> TargetNeeds {
        TargetNeeds::Databases {
            who: "a trial of a table",
            most: Some(1),
            name: DATABASE,
            loaded: false,
            as_it_is: false,
            // It keeps no rows.
            columns: true,
            fake: false,
            such_as: "postgres://localhost",
        }
    }

    /// Each trial makes its table and drops it.
    fn content(_: &Job) -> String {
        "a table at a time".to_owned()
    }

    /// Only updates by key take as long as they are asked to.
    /// Each operation on all rows takes about as long as another, and what is killed is started again.
    fn around(job: &Job, _: &str) -> Around {
        let killed_s = if job.crash == Some(false) { 0.0 } else { KILLED_S };
        Around { load_s: 0.0, trial_s: 1.0 + job.rows as f64 / ROWS_PER_S + killed_s }
    }

    fn besides(job: &Job) -> Option<String> {
        let killed = if job.crash == Some(false) { "" } else { ", and for the durability test" };
        Some(format!("per trial to load {} rows and for the operations on all of them{killed}", job.rows))
    }

    fn lacks(job: &Job, dialect: &str) -> Option<String> {
        let dialect = database::Dialect::ALL.into_iter().find(|known| known.name() == dialect)?;
        super::lacks(job.kind, dialect, job.rows)
    }

    /// One besides the clients.
    fn sessions(job: &Job) -> u32 {
        job.clients + 1
    }

    /// `row table, 1000000 rows, prepared, 8 clients`.
    fn describe(job: &Job, _: usize) -> String {
        let clients =
            if job.clients == 1 { "1 client".to_owned() } else { format!("{} clients", job.clients) };
        format!("{} table, {} rows, {}, {clients}", job.kind, job.rows, job.access)
    }

    /// The kind is told already, and so is how it is reached.
    fn tells_levels(is_named: bool) -> bool {
        is_named
    }

    fn line(job: &Job) -> String {
        Self::describe(job, 1)
    }

    fn quick_look(shared: &Self, _: &[&Self]) -> Self {
        Self {
            rows: Some(shared.rows.unwrap_or(QUICK_ROWS).min(QUICK_ROWS)),
            warm_up: Some(Span::microseconds(500_000)),
            duration: Some(Span::seconds(2)),
            ..Self::default()
        }
    }
}
