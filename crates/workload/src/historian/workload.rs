//! What a study knows of a historian before it runs.

use load::{Around, JobError, Phases, Searched, Span, TargetNeeds, Workload};

use super::{DATABASE, Job, Rate, Settings, Source, SourceChoice};

/// Time between two purges in a quick look, so that some fit into it.
const QUICK_PURGE_INTERVAL: Span = Span::seconds(5);

/// Records per second of a database that drains a buffer.
const DRAINED_PER_S: f64 = 10_000.0;

/// Shortest step of a search that can be judged: growth of the backlog is measured over three intervals of one second.
const SHORTEST_STEP: Span = Span::seconds(3);

impl Workload for Settings {
    const WORKLOAD: record::Workload = record::Workload::Historian;
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

    /// A closed loop leaves a full buffer to drain.
    fn around(job: &Job, _: &str) -> Around {
        let is_closed = matches!(job.source, Source::Random(pacing) if pacing.rate_per_s().is_none());
        let left = if is_closed { job.max_buffered_events as f64 } else { 0.0 };
        Around { load_s: 0.0, trial_s: 0.5 + left / DRAINED_PER_S }
    }

    fn needs(_: &Job) -> TargetNeeds {
        TargetNeeds::Databases {
            who: "a historian",
            most: Some(1),
            name: DATABASE,
            loaded: false,
            as_it_is: false,
            columns: false,
            fake: true,
            such_as: "sqlite:historian.db",
        }
    }

    /// `random 5100/s`, `counters of 5000 tags`.
    fn sessions(job: &Job) -> u32 {
        // One for each screen that may be open at once, one for the latest values, and one that purges.
        let reading = job.readers.map_or(0, |readers| readers.screens.saturating_add(1));
        job.writers.saturating_add(reading).saturating_add(u32::from(job.maintenance.is_some()))
    }

    fn endures_faults() -> bool {
        true
    }

    fn describe(job: &Job, _: usize) -> String {
        match (&job.source, job.rate_per_s()) {
            (Source::Counters, _) => format!("counters of {} tags", job.tags),
            (Source::Random(_), Some(rate)) => format!("random {rate}/s"),
            (Source::Random(_), None) => "at full speed".to_owned(),
            (other, _) => other.name(),
        }
    }

    fn tells_levels(is_named: bool) -> bool {
        is_named
    }

    fn line(job: &Job) -> String {
        let rate = match (job.rate_per_s(), job.rate_per_s_max()) {
            (Some(rate), _) => format!("{}/s", (rate * 1e3).round() / 1e3),
            (None, Some(most)) => format!("≤ {}/s", (most * 1e3).round() / 1e3),
            (None, None) => "max".to_owned(),
        };
        let writers = if job.writers == 1 { "writer" } else { "writers" };
        format!("{rate:>8}  {:>5} records per batch  {} {writers}", job.flush_rows, job.writers)
    }

    fn quick_look(_: &Self, asked: &[&Self]) -> Self {
        let purges = asked.iter().any(|settings| settings.maintenance_interval.is_some());
        Self {
            warm_up: Some(Span::seconds(4)),
            duration: Some(Span::seconds(10)),
            maintenance_interval: purges.then_some(QUICK_PURGE_INTERVAL),
            ..Self::default()
        }
    }

    /// What only a purge can heed, where none is run.
    fn without_effect(asked: &[(&Self, &Job)], is_search: bool) -> Vec<JobError> {
        let ignored = asked.iter().flat_map(|(settings, job)| {
            // The steps that confirm are longer than two intervals.
            let runs = job.maintenance.is_some() || (is_search && settings.maintenance_interval.is_some());
            let given = [
                ("maintenance_interval", settings.maintenance_interval.is_some()),
                ("retention", settings.retention.is_some()),
                ("purge_rows", settings.purge_rows.is_some()),
                ("purge", settings.purge.is_some()),
                ("shrink", settings.shrink == Some(true)),
            ];
            given.into_iter().filter(move |&(_, is_given)| is_given && !runs)
        });
        let problem = "has no effect, because the trial is shorter than the time between purges: measure longer, or use a shorter \
        maintenance_interval";
        ignored.map(|(parameter, _)| JobError { parameter, problem: problem.to_owned() }).collect()
    }

    fn searched(&self) -> Option<Searched> {
        let mut contradictions = Vec::new();
        if self.rate.is_some() {
            let search = record::Parameter::new("search");
            let problem = format!("is the result of a search: omit it, or omit {search}");
            contradictions.push(JobError { parameter: "rate", problem });
        }
        if let Some(source) = self.source.as_ref().filter(|source| **source != SourceChoice::Random) {
            let problem =
                format!("{source} has its own pace, but a search must set the rate: use the source `random`");
            contradictions.push(JobError { parameter: "source", problem });
        }
        if let Some(duration) = self.duration.filter(|duration| *duration < SHORTEST_STEP) {
            let problem = format!("cannot be {duration} in a search: a step needs at least {SHORTEST_STEP}");
            contradictions.push(JobError { parameter: "duration", problem });
        }
        let cycle = self.maintenance_interval.unwrap_or(Span::ZERO);
        Some(Searched { contradictions, cycle })
    }

    fn at_rate(&self, rate_per_s: f64, phases: Option<Phases>) -> Self {
        let mut settings = Self { rate: Some(Rate::PerSecond(rate_per_s)), ..self.clone() };
        if let Some(phases) = phases {
            (settings.warm_up, settings.duration) = (Some(phases.warm_up), Some(phases.measure));
        }
        settings
    }
}
