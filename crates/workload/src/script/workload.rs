//! What a study knows of a load of scripts before it runs.

use load::{JobError, Pacing, Phases, Span, TargetNeeds, Workload};

use super::{DATABASE, Job, Settings};

impl Workload for Settings {
    const WORKLOAD: record::Workload = record::Workload::Script;
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
            who: "a script",
            most: Some(1),
            name: DATABASE,
            loaded: false,
            as_it_is: true,
            // It knows a historian's statements alone.
            fake: false,
            such_as: "postgres://localhost/mydb",
        }
    }

    fn content(job: &Job) -> String {
        match (&job.init, job.builtin.is_empty()) {
            (Some(file), true) => format!("what {} makes", file.display()),
            (Some(file), false) => format!("pgbench's tables and what {} makes", file.display()),
            (None, false) => "pgbench's tables".to_owned(),
            (None, true) => "nothing".to_owned(),
        }
    }

    fn sessions(job: &Job) -> u32 {
        job.clients
    }

    /// `select.sql, 8 clients`, `a.sql and 2 more, 500 transactions/s due`.
    fn describe(job: &Job, _: usize) -> String {
        let files = job.files.iter().filter(|file| file.weight > 0).map(name);
        let builtin = job.builtin.iter().filter(|script| script.weight > 0);
        let drawn: Vec<String> =
            files.chain(builtin.map(|script| script.builtin.name().to_owned())).collect();
        let scripts = match drawn.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        };
        format!("{scripts}, {}", pace(job))
    }

    fn line(job: &Job) -> String {
        let files = job.files.iter().map(ToString::to_string);
        let scripts: Vec<String> = files.chain(job.builtin.iter().map(ToString::to_string)).collect();
        format!("{}  {}", scripts.join(" "), pace(job))
    }

    fn quick_look(_: &Self, _: &[&Self]) -> Self {
        Self { warm_up: Some(Span::seconds(2)), duration: Some(Span::seconds(8)), ..Self::default() }
    }
}

/// The name of a file without its directories.
pub(super) fn name(file: &super::ScriptFile) -> String {
    let name = file.path.file_name().unwrap_or(file.path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn pace(job: &Job) -> String {
    let clients = if job.clients == 1 { "1 client".to_owned() } else { format!("{} clients", job.clients) };
    match job.pacing {
        Pacing::Closed { think_time } if think_time == Span::ZERO => clients,
        Pacing::Closed { think_time } => format!("{clients}, {think_time} to think"),
        Pacing::Fixed { rate_per_s } | Pacing::Poisson { rate_per_s } => {
            format!("{clients}, {rate_per_s} transactions/s due")
        }
    }
}
