//! What a study knows of reports before they run.

use load::{Around, JobError, Pacing, Phases, Span, TargetNeeds, Workload};

use super::{Access, DATABASE, Job, ReportResult, Settings};

/// Messages of a quick look, and the reports after the first.
const QUICK_EVENTS: u64 = 200_000;
const QUICK_RUNS: u32 = 2;

/// Messages that are loaded per second, indexes included.
const LOADED_PER_S: f64 = 25_000.0;

impl Workload for Settings {
    const WORKLOAD: record::Workload = record::Workload::Reporting;
    const TIMES: [&'static str; 2] = ["warm_up", "expected"];
    type Job = Job;

    fn job(&self) -> Result<Job, Vec<JobError>> {
        Job::of(self)
    }

    fn settle(&mut self, job: &Job) {
        self.events = Some(job.standing.events);
        self.runs = Some(job.runs);
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
            who: "a report",
            most: Some(1),
            name: DATABASE,
            loaded: false,
            as_it_is: false,
            // It knows a historian's statements alone.
            columns: false,
            fake: false,
            such_as: "sqlite:reports.db",
        }
    }

    fn content(job: &Job) -> String {
        job.standing.to_string()
    }

    fn sessions(_: &Job) -> u32 {
        // One that reports, one over which events arrive.
        2
    }

    /// What arrives is taken away.
    fn leaves_as_found() -> bool {
        true
    }

    fn around(job: &Job, _: &str) -> Around {
        Around { load_s: job.standing.events as f64 / LOADED_PER_S, trial_s: 1.0 }
    }

    fn besides(job: &Job) -> Option<String> {
        Some(format!("to load {} messages where they are not there yet", job.standing.events))
    }

    fn writes(job: &Job) -> bool {
        job.arrivals.is_open()
    }

    /// `95828 messages as rows`, `95828 messages added up by a procedure`; whether events arrive is a level as often as not.
    fn describe(job: &Job, _: usize) -> String {
        let messages = (job.standing.events as f64 * job.share).round();
        let result = match job.result {
            ReportResult::Rows => "as rows",
            ReportResult::Aggregate => "added up",
        };
        let access = match job.access {
            Access::Statement => "",
            Access::Procedure => " by a procedure",
        };
        format!("{messages} messages {result}{access}")
    }

    fn line(job: &Job) -> String {
        let (result, access) = (job.result.name(), job.access.name());
        format!(
            "{} messages  {result} by {access}  1 + {} reports{}",
            job.standing.events,
            job.runs,
            arrivals(job)
        )
    }

    fn quick_look(_: &Self, _: &[&Self]) -> Self {
        Self { events: Some(QUICK_EVENTS), runs: Some(QUICK_RUNS), ..Self::default() }
    }

    /// How arrivals are spaced where there are none in any trial.
    fn without_effect(asked: &[(&Self, &Job)], _: bool) -> Vec<JobError> {
        let is_ignored = asked.iter().any(|(settings, _)| settings.poisson == Some(true))
            && asked.iter().all(|(_, job)| !job.arrivals.is_open());
        let problem = "has no effect where no events arrive: give arrivals, or omit it".to_owned();
        is_ignored.then_some(JobError { parameter: "poisson", problem }).into_iter().collect()
    }
}

fn arrivals(job: &Job) -> String {
    match job.arrivals {
        Pacing::Closed { .. } => String::new(),
        Pacing::Fixed { rate_per_s } | Pacing::Poisson { rate_per_s } => format!(", {rate_per_s} events/s"),
    }
}
