//! What a study knows of a load on registers before it runs.

use load::{Around, JobError, Pacing, Phases, Span, TargetNeeds, Workload};

use super::{DATABASE, Job, Settings};

impl Workload for Settings {
    const WORKLOAD: record::Workload = record::Workload::Register;
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

    /// All registers are read once more, and their history is checked.
    fn around(_: &Job, _: &str) -> Around {
        Around { load_s: 0.0, trial_s: 0.5 }
    }

    fn needs(_: &Job) -> TargetNeeds {
        TargetNeeds::Databases {
            who: "a load on registers",
            most: Some(1),
            name: DATABASE,
            loaded: false,
            as_it_is: false,
            // It knows a historian's statements alone.
            columns: false,
            fake: false,
            such_as: "postgres://localhost/postgres",
        }
    }

    fn content(_: &Job) -> String {
        "registers".to_owned()
    }

    fn sessions(job: &Job) -> u32 {
        job.clients
    }

    /// `100 registers, 10 clients, 1000 operations/s due`.
    fn endures_faults() -> bool {
        true
    }

    fn describe(job: &Job, _: usize) -> String {
        let counted = |number: u32, one: &str| match number {
            1 => format!("1 {one}"),
            _ => format!("{number} {one}s"),
        };
        let arrivals = match job.pacing {
            Pacing::Poisson { .. } => " at random",
            Pacing::Fixed { .. } | Pacing::Closed { .. } => "",
        };
        format!(
            "{}, {}, {} operations/s{arrivals}",
            counted(job.keys, "register"),
            counted(job.clients, "client"),
            job.rate_per_s()
        )
    }

    fn line(job: &Job) -> String {
        Self::describe(job, 1)
    }

    fn quick_look(_: &Self, _: &[&Self]) -> Self {
        Self { warm_up: Some(Span::seconds(2)), duration: Some(Span::seconds(8)), ..Self::default() }
    }
}
