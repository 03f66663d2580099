//! A load of scripts that can be run: settings with every default filled in and every contradiction refused.

use std::path::PathBuf;
use std::sync::Arc;

use load::{JobError, Pacing, Phases, Problems, Span};
use record::Parameter;
use serde::{Deserialize, Serialize};

use super::builtin::BuiltinScript;
use super::program::Program;
use super::replay::{Log, LogFormat};
use super::settings::{Definition, OnError, ParameterFile, Protocol, ScriptFile, Settings};
use crate::clients::Schedule;

/// Most clients.
pub(super) const CLIENTS_MAX: u32 = 100_000;
/// Largest scale: numbers of accounts are of 32 bits.
const SCALE_MAX: u32 = 21_000;
/// Most tries of one transaction.
const TRIES_MAX: u32 = 1_000_000;
/// Shapes that are timed by themselves where nothing else is said, and most of them: each is a histogram a second.
const SHAPES: u32 = 20;
const SHAPES_MAX: u32 = 1_000;
/// Fastest and slowest replay.
const SPEEDS: [f64; 2] = [0.001, 10_000.0];
/// Warm-up where nothing else is said.
const WARM_UP: Span = Span::seconds(5);
/// Length of the window where nothing else is said.
const DURATION: Span = Span::seconds(60);
/// Clients that begin each second where nothing else is said: all of them, within a millisecond.
const RAMP_RATE: f64 = 1e8;

/// One load of scripts, complete and without contradiction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The files.
    pub files: Vec<ScriptFile>,
    /// pgbench's scripts.
    pub builtin: Vec<BuiltinScript>,
    /// Size of their tables where they are made.
    pub scale: Option<u32>,
    /// Whether they are made in a database that is used as it is otherwise.
    pub initialise: bool,
    /// A log in their place.
    pub replay: Option<Replay>,
    /// What they hold; none until they are read.
    pub program: Option<Program>,
    /// Clients.
    pub clients: u32,
    /// Clients that begin each second.
    pub ramp_rate: f64,
    /// Closed with a mean time to think, or transactions due at a rate a second.
    pub pacing: Pacing,
    /// Time beyond which a transaction is late.
    pub latency_limit: Option<Span>,
    /// How statements are sent.
    pub protocol: Protocol,
    /// How often a transaction is tried.
    pub tries: u32,
    /// Variables that all scripts have.
    pub defined: Vec<Definition>,
    /// File with values of variables.
    pub parameters: Option<ParameterFile>,
    /// File with what makes tables and rows.
    pub init: Option<PathBuf>,
    /// Warm-up and window.
    pub phases: Phases,
    /// Seed of the load's own choices.
    pub seed: u64,
}

/// A log that is replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// The file.
    pub file: PathBuf,
    /// Its format, if it is not to be found by the content.
    pub format: Option<LogFormat>,
    /// Factor of its pace.
    pub speed: f64,
    /// The database whose statements are replayed alone.
    pub only_database: Option<String>,
    /// What an error does.
    pub on_error: OnError,
    /// Shapes of statements that are timed by themselves.
    pub shapes: u32,
    /// How statements are sent that have values beside them; as they were where nothing is said.
    pub protocol: Option<database::Protocol>,
    /// Length of the window where one was asked for; else the log's.
    pub duration: Option<Span>,
    /// What it holds; none until it is read.
    #[serde(with = "shared")]
    pub log: Option<Arc<Log>>,
}

/// A value that several hold, written out as if it were held by one.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Option<Arc<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_deref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<T>>, D::Error> {
        Option::<T>::deserialize(deserializer).map(|value| value.map(Arc::new))
    }
}

impl Replay {
    fn of(settings: &Settings) -> Option<Self> {
        Some(Self {
            file: settings.replay.clone()?,
            format: settings.format,
            speed: settings.speed.unwrap_or(1.0),
            only_database: settings.only_database.clone(),
            on_error: settings.on_error.unwrap_or_default(),
            shapes: settings.shapes.unwrap_or(SHAPES),
            protocol: settings.protocol.and_then(|protocol| match protocol {
                Protocol::Statements(protocol) => Some(protocol),
                // Refused before.
                Protocol::Procedure => None,
            }),
            duration: settings.duration,
            log: None,
        })
    }
}

impl Job {
    /// Fills in the defaults and checks everything that can be known without reading a file.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn of(settings: &Settings) -> Result<Self, Vec<JobError>> {
        let mut problems = Problems::default();
        check(&mut problems, settings);
        problems.none()?;
        let job = Self::defaulted(settings);
        let ramp = job.schedule().ramp();
        // All at once takes nanoseconds.
        if settings.ramp_rate.is_some() && job.phases.warm_up < ramp {
            let mut problems = Problems::default();
            problems.add(
                "warm_up",
                format!(
                    "cannot be {}: the last client starts after {ramp}; use at least this time",
                    job.phases.warm_up
                ),
            );
            problems.none()?;
        }
        Ok(job)
    }

    /// When clients load, and how many.
    pub(crate) fn schedule(&self) -> Schedule {
        Schedule {
            clients: self.clients,
            ramp_rate_per_s: self.ramp_rate,
            pacing: self.pacing,
            cpu_target: None,
            phases: self.phases,
            latency_limit: self.latency_limit,
            seed: self.seed,
        }
    }

    fn defaulted(settings: &Settings) -> Self {
        let think_time = settings.think_time.unwrap_or(Span::ZERO);
        let mut job = Self {
            files: settings.files.clone(),
            builtin: settings.builtin.clone(),
            scale: settings.scale,
            initialise: settings.initialise.unwrap_or(false),
            replay: Replay::of(settings),
            program: None,
            clients: settings.clients.unwrap_or(1),
            ramp_rate: settings.ramp_rate.unwrap_or(RAMP_RATE),
            pacing: match (settings.rate, settings.poisson) {
                // The log's, which is not read yet.
                (None, _) if settings.replay.is_some() => Pacing::Fixed { rate_per_s: 1.0 },
                (None, _) => Pacing::Closed { think_time },
                (Some(rate_per_s), Some(true)) => Pacing::Poisson { rate_per_s },
                (Some(rate_per_s), _) => Pacing::Fixed { rate_per_s },
            },
            latency_limit: settings.latency_limit,
            protocol: settings.protocol.unwrap_or_default(),
            tries: settings.max_tries.unwrap_or(1),
            defined: settings.define.clone(),
            parameters: settings.parameters.clone(),
            init: settings.init.clone(),
            phases: Phases { warm_up: WARM_UP, measure: settings.duration.unwrap_or(DURATION) },
            seed: settings.seed.unwrap_or(42),
        };
        let warm_up = if job.replay.is_some() { Span::ZERO } else { WARM_UP.max(job.schedule().ramp()) };
        job.phases.warm_up = settings.warm_up.unwrap_or(warm_up);
        job
    }
}

fn check(problems: &mut Problems, settings: &Settings) {
    let weights = settings.files.iter().map(|file| file.weight);
    if settings.replay.is_some() {
        check_replay(problems, settings);
    } else if weights.chain(settings.builtin.iter().map(|script| script.weight)).all(|weight| weight == 0) {
        let problem = match settings.files.is_empty() && settings.builtin.is_empty() {
            true => "are missing: give a file with SQL, a built-in script, or a log to replay",
            false => "all have weight 0: give one of them a weight",
        };
        problems.add("files", problem);
    }
    without_replay(problems, settings);
    problems.within("scale", settings.scale, 1, SCALE_MAX);
    if settings.builtin.is_empty() {
        without_builtin(problems, settings);
    }
    problems.within("clients", settings.clients, 1, CLIENTS_MAX);
    problems.within("ramp_rate", settings.ramp_rate, 0.001, 1e8);
    problems.within("rate", settings.rate, 0.001, 1e9);
    check_tries(problems, settings.max_tries);
    problems.some_time("duration", settings.duration);
    problems.some_time("latency_limit", settings.latency_limit);
    for (parameter, given) in [
        ("duration", settings.duration),
        ("warm_up", settings.warm_up),
        ("think_time", settings.think_time),
        ("latency_limit", settings.latency_limit),
    ] {
        problems.no_age(parameter, given);
    }
    if settings.poisson.is_some() && settings.rate.is_none() {
        problems.add("poisson", "has no effect without a rate");
    }
    for (parameter, is_given) in
        [("think_time", settings.think_time.is_some()), ("ramp_rate", settings.ramp_rate.is_some())]
    {
        if is_given && settings.rate.is_some() {
            problems.add(
                parameter,
                "has no effect with a rate, because transactions are then due at fixed times",
            );
        }
    }
    for (number, definition) in settings.define.iter().enumerate() {
        if settings.define[..number].iter().any(|other| other.name == definition.name) {
            problems
                .add("define", format!("defines `{}` twice: omit one of the definitions", definition.name));
        }
    }
}

fn check_tries(problems: &mut Problems, tries: Option<u32>) {
    if tries == Some(0) {
        let words = "cannot be 0 (pgbench's word for unlimited): use a large number";
        problems.add("max_tries", format!("{words}, {TRIES_MAX} at most"));
    } else {
        problems.within("max_tries", tries, 1, TRIES_MAX);
    }
}

/// What is for the tables of built-in scripts alone.
fn without_builtin(problems: &mut Problems, settings: &Settings) {
    let theirs = "applies only to the tables of built-in scripts, but no built-in script is given";
    if settings.initialise.is_some() {
        problems.add("initialise", format!("{theirs}: omit it"));
    }
    match settings.scale {
        // A file of pgbench has `:scale` from its `-s`.
        Some(scale) if !settings.files.is_empty() => {
            let define = Parameter::new("workload.script.define").of(format!("scale={scale}"));
            problems.add(
                "scale",
                format!("{theirs}: to set `:scale` for the statements of a file, give {define}"),
            );
        }
        Some(_) => problems.add("scale", format!("{theirs}: omit it")),
        None => {}
    }
}

/// What a replay has no use for, since its log says it.
fn check_replay(problems: &mut Problems, settings: &Settings) {
    let theirs = "has no effect in a replay, because statements and times come from the log: omit it";
    for (parameter, is_given) in [
        ("files", !settings.files.is_empty()),
        ("builtin", !settings.builtin.is_empty()),
        ("clients", settings.clients.is_some()),
        ("ramp_rate", settings.ramp_rate.is_some()),
        ("think_time", settings.think_time.is_some()),
        ("rate", settings.rate.is_some()),
        ("latency_limit", settings.latency_limit.is_some()),
        ("max_tries", settings.max_tries.is_some()),
        ("define", !settings.define.is_empty()),
        ("parameters", settings.parameters.is_some()),
    ] {
        if is_given {
            problems.add(parameter, theirs);
        }
    }
    if settings.protocol == Some(Protocol::Procedure) {
        problems.add(
            "protocol",
            "cannot be `procedure` in a replay, because the statements come from the log: omit this option",
        );
    }
    problems.within("speed", settings.speed, SPEEDS[0], SPEEDS[1]);
    problems.within("shapes", settings.shapes, 1, SHAPES_MAX);
}

/// What only a replay heeds.
fn without_replay(problems: &mut Problems, settings: &Settings) {
    let replay = Parameter::new("workload.script.replay");
    for (parameter, is_given) in [
        ("format", settings.format.is_some()),
        ("speed", settings.speed.is_some()),
        ("only_database", settings.only_database.is_some()),
        ("on_error", settings.on_error.is_some()),
        ("shapes", settings.shapes.is_some()),
    ] {
        if is_given && settings.replay.is_none() {
            problems
                .add(parameter, format!("applies only to the replay of a log: give {replay}, or omit it"));
        }
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
    fn a_file_is_enough() {
        let job = job("files = [\"a.sql\"]").unwrap();
        assert_eq!((job.clients, job.tries, job.protocol), (1, 1, Protocol::default()));
        assert_eq!(job.pacing, Pacing::Closed { think_time: Span::ZERO });
        assert_eq!(job.phases, Phases { warm_up: Span::seconds(5), measure: Span::seconds(60) });
    }

    #[test]
    fn the_warm_up_is_as_long_as_the_ramp() {
        let many = job("files = [\"a\"]\nclients = 101\nramp_rate = 10.0").unwrap();
        assert_eq!(many.phases.warm_up, Span::seconds(10));
        let refused = job("files = [\"a\"]\nclients = 101\nramp_rate = 10.0\nwarm_up = \"1s\"").unwrap_err();
        assert!(refused.contains("10s"), "{refused}");
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let told =
            job("clients = 0\nmax_tries = 0\nduration = \"0s\"\npoisson = true\ndefine = [\"a=1\", \"a=2\"]")
                .unwrap_err();
        assert_eq!(told.lines().count(), 6, "{told}");
        for part in ["files are missing", "clients cannot be 0", "max_tries", "1s", "poisson", "`a` twice"] {
            assert!(told.contains(part), "{part} in {told}");
        }
        assert!(
            told.contains("(pgbench's word for unlimited): use a large number, 1000000 at most"),
            "{told}"
        );
        assert!(job("files = [\"a@0\"]").unwrap_err().contains("all have weight 0"));
        assert!(job("files = [\"a\"]\nrate = 5.0\nthink_time = \"1s\"").unwrap_err().contains("think_time"));
    }

    /// `pgbench -f a.sql -s 10` gives `:scale` its value, and the option was refused here without a word of how.
    #[test]
    fn a_scale_without_tables_names_its_remedy() {
        let told = job("files = [\"a.sql\"]\nscale = 10").unwrap_err();
        assert!(
            told.contains("`:scale` for the statements of a file, give ")
                && told.contains("scale=10")
                && told.lines().count() == 1,
            "{told}"
        );
        let told = job("replay = \"a.csv\"\nscale = 10\ninitialise = true").unwrap_err();
        assert!(
            !told.contains("scale=10") && told.matches("no built-in script is given: omit it").count() == 2,
            "{told}"
        );
    }

    #[test]
    fn a_replay_takes_from_its_log_what_else_would_be_said() {
        let replay = job("replay = \"a.csv\"\nspeed = 2.0").unwrap();
        assert_eq!(replay.replay.as_ref().map(|replay| (replay.speed, replay.shapes)), Some((2.0, 20)));
        assert!(replay.pacing.is_open() && replay.phases.warm_up == Span::ZERO);
        let told = job("replay = \"a.csv\"\nfiles = [\"a.sql\"]\nclients = 2\nrate = 3.0\nlatency_limit = \"1s\"\nspeed = 0.0").unwrap_err();
        for part in ["files has", "clients has", "rate has", "latency_limit has", "speed cannot be 0"] {
            assert!(told.contains(part), "{part} in {told}");
        }
        let told = job("files = [\"a.sql\"]\nspeed = 2.0\nshapes = 3").unwrap_err();
        assert_eq!(told.lines().count(), 2, "{told}");
        assert!(told.contains("workload.script.replay"), "{told}");
    }
}
