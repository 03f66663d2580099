//! What a study knows of a load of scripts before it runs.

use std::path::Path;

use load::{Around, JobError, Pacing, Phases, Span, TargetNeeds, Workload};

use super::driver::CONNECTS_AHEAD_NS;
use super::{DATABASE, Job, Settings};

/// Seconds for 100,000 accounts of pgbench's tables, keys included.
const INITIALISED_S: f64 = 1.0;

impl Workload for Settings {
    const WORKLOAD: record::Workload = record::Workload::Script;
    const TIMES: [&'static str; 2] = ["warm_up", "duration"];
    type Job = Job;

    fn job(&self) -> Result<Job, Vec<JobError>> {
        Job::of(self)
    }

    fn settle(&mut self, job: &Job) {
        self.warm_up = Some(job.phases.warm_up);
        // The window of a replay is as long as its log.
        if job.replay.is_none() {
            self.duration = Some(job.phases.measure);
        }
    }

    /// What a replay sends stands in its log.
    fn draws(&self) -> bool {
        self.replay.is_none()
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

    fn around(job: &Job, _: &str) -> Around {
        let scale = if job.initialise { f64::from(job.scale.unwrap_or(1)) } else { 0.0 };
        Around { load_s: scale * INITIALISED_S, trial_s: 0.5 }
    }

    fn needs(_: &Job) -> TargetNeeds {
        TargetNeeds::Databases {
            who: "a script",
            most: Some(1),
            name: DATABASE,
            loaded: false,
            as_it_is: true,
            // It knows a historian's statements alone.
            columns: false,
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
        let at_once = job.replay.as_ref().and_then(|replay| {
            let log = replay.log.as_ref()?;
            Some(log.sessions_at_once(replay.speed, CONNECTS_AHEAD_NS))
        });
        at_once.unwrap_or(job.clients)
    }

    /// `select.sql, 8 clients`, `a.sql and 2 more, 500 transactions/s due`.
    fn endures_faults() -> bool {
        true
    }

    fn describe(job: &Job, _: usize) -> String {
        if let Some(replay) = &job.replay {
            return format!("{}, {}", file_name(&replay.file), at_speed(replay.speed));
        }
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
        if let Some(replay) = &job.replay {
            let log = replay.log.as_ref().map(|log| {
                let sessions = if log.sessions.len() == 1 { "session" } else { "sessions" };
                format!(", {} statements of {} {sessions}", log.statements, log.sessions.len())
            });
            return format!(
                "{}  {}{}",
                replay.file.display(),
                at_speed(replay.speed),
                log.unwrap_or_default()
            );
        }
        let files = job.files.iter().map(ToString::to_string);
        let scripts: Vec<String> = files.chain(job.builtin.iter().map(ToString::to_string)).collect();
        format!("{}  {}", scripts.join(" "), pace(job))
    }

    fn quick_look(shared: &Self, asked: &[&Self]) -> Self {
        // The times of a replay are those of its log, which may be shorter.
        if std::iter::once(&shared).chain(asked).any(|settings| settings.replay.is_some()) {
            return Self::default();
        }
        Self { warm_up: Some(Span::seconds(2)), duration: Some(Span::seconds(8)), ..Self::default() }
    }
}

/// The name of a file without its directories.
pub(super) fn name(file: &super::ScriptFile) -> String {
    file_name(&file.path)
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The pace of a replay.
fn at_speed(speed: f64) -> String {
    if speed == 1.0 { "at its own pace".to_owned() } else { format!("at {speed} times its pace") }
}

fn pace(job: &Job) -> String {
    let clients = if job.clients == 1 { "1 client".to_owned() } else { format!("{} clients", job.clients) };
    match job.pacing {
        Pacing::Closed { think_time } if think_time == Span::ZERO => clients,
        Pacing::Closed { think_time } => format!("{clients}, {think_time} think time"),
        Pacing::Fixed { rate_per_s } | Pacing::Poisson { rate_per_s } => {
            format!("{clients}, {rate_per_s} transactions/s offered")
        }
    }
}
