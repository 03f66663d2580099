//! The run of a study from its plan to its last trial.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use disk::{Go, Outcome, Progress, Target, TargetError, TrialError};
use jiff::Timestamp;
use load::Span;
use record::{Event, FORMAT_VERSION, Manifest, Setup, State, TrialRecord, Window};
use study::{Plan, Study, Trial};

use crate::environment;
use crate::resources::Meter;
use crate::rules::{Rules, invalid_because};

/// How often a long preparation reports.
const PREPARING_EVERY: Duration = Duration::from_millis(100);

/// What the runner is told besides the study.
#[derive(Clone, Debug)]
pub struct Context {
    /// Version of the tool.
    pub tool_version: String,
    /// Command line.
    pub command: Vec<String>,
}

/// Why a run ended before its plan did. What was measured was told in events.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The target could not be made ready.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Whoever listens to the events could not take one.
    #[error("{0}")]
    Listener(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Takes events. An error ends the run.
pub type Listener<'a> = dyn FnMut(&Event) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + 'a;

/// Runs all trials of a plan, in order, until the end or until `stop`. Gives the final state of the study.
///
/// # Errors
/// When the target cannot be made ready, or `listen` fails. A trial that fails is no error: the next one runs.
pub fn run(
    study: &Study,
    plan: &Plan,
    context: &Context,
    stop: &AtomicBool,
    listen: &mut Listener<'_>,
) -> Result<Manifest, RunError> {
    let mut manifest = manifest(study, plan, context);
    let first_path = study.target.paths.first().map_or(Path::new("."), |path| path.as_path());
    let environment = environment::read(first_path, &context.tool_version, Timestamp::now());
    let device = environment.device.known().map(|device| device.name.clone());
    let mut run = Run { stop, listen, device };
    run.tell(&Event::StudyStarted { manifest: manifest.clone(), environment })?;
    let result = run.prepare(study, plan).and_then(|target| run.trials(plan, &target));
    let (state, reason) = match &result {
        Ok(state) => (*state, None),
        Err(_) if stop.load(Ordering::Relaxed) => (State::Aborted, Some("interrupted".to_owned())),
        Err(error) => (State::Failed, Some(error.to_string())),
    };
    manifest.state = state;
    manifest.reason = reason;
    manifest.finished = Some(Timestamp::now().to_string());
    if !matches!(result, Err(RunError::Listener(_))) {
        run.tell(&Event::StudyFinished(manifest.clone()))?;
    }
    result.map(|_| manifest)
}

fn manifest(study: &Study, plan: &Plan, context: &Context) -> Manifest {
    Manifest {
        format: FORMAT_VERSION,
        tool_version: context.tool_version.clone(),
        title: study.title.clone(),
        slug: study.slug.clone(),
        profile: study.profile.clone(),
        command: context.command.clone(),
        seed: study.seed,
        started: Timestamp::now().to_string(),
        finished: None,
        state: State::Running,
        reason: None,
        latency_tolerance_ms: study.latency_tolerance.map(|tolerance| tolerance.as_seconds() * 1e3),
        expect: study.expect.clone(),
        plan: plan.trials.iter().map(|trial| trial.planned.clone()).collect(),
    }
}

struct Run<'a, 'b> {
    stop: &'a AtomicBool,
    listen: &'a mut Listener<'b>,
    /// Kernel name of the target's device.
    device: Option<String>,
}

impl Run<'_, '_> {
    fn tell(&mut self, event: &Event) -> Result<(), RunError> {
        (self.listen)(event).map_err(RunError::Listener)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn prepare(&mut self, study: &Study, plan: &Plan) -> Result<Target, RunError> {
        let mut told = Ok(());
        let mut last = None;
        let target =
            Target::prepare(&study.target.paths, &plan.jobs(), self.stop, |done_bytes, total_bytes| {
                let is_due = last.is_none_or(|last: Instant| last.elapsed() >= PREPARING_EVERY);
                if told.is_ok() && (is_due || done_bytes == total_bytes) {
                    last = Some(Instant::now());
                    told = (self.listen)(&Event::Preparing { done_bytes, total_bytes });
                }
            })?;
        told.map_err(RunError::Listener)?;
        Ok(target)
    }

    fn trials(&mut self, plan: &Plan, target: &Target) -> Result<State, RunError> {
        let mut rules = Rules::new(plan.stop.clone());
        let mut failed = false;
        for trial in &plan.trials {
            if let Some(reason) = rules.skip_because(trial) {
                let record = TrialRecord { state: State::Skipped, reason: Some(reason), ..planned(trial) };
                self.tell(&Event::TrialFinished(record))?;
                continue;
            }
            self.pause(trial)?;
            if self.stopped() {
                return Ok(State::Aborted);
            }
            let (record, measured) = self.trial(trial, target)?;
            failed |= record.state == State::Failed;
            if record.state == State::Complete {
                rules.measured(trial, &measured);
            }
        }
        Ok(match (self.stopped(), failed) {
            (true, _) => State::Aborted,
            (false, true) => State::Failed,
            (false, false) => State::Complete,
        })
    }

    /// Waits for caches and queues to settle, in steps so that a stop is heard.
    fn pause(&mut self, trial: &Trial) -> Result<(), RunError> {
        if trial.pause == Span::ZERO || self.stopped() {
            return Ok(());
        }
        self.tell(&Event::Pausing { number: trial.planned.number, pause_s: trial.pause.as_seconds() })?;
        let end = Instant::now() + Duration::from_nanos(trial.pause.ns);
        while !self.stopped() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(PREPARING_EVERY));
        }
        Ok(())
    }

    fn trial(&mut self, trial: &Trial, target: &Target) -> Result<(TrialRecord, Window), RunError> {
        let number = trial.planned.number;
        let started = Timestamp::now().to_string();
        let mut record = TrialRecord { state: State::Running, started: Some(started), ..planned(trial) };
        self.tell(&Event::TrialStarted(record.clone()))?;
        let mut measured = Window::default();
        let mut meter = Meter::new(self.device.as_deref());
        let mut begin = Instant::now();
        let mut told = Ok(());
        let (stop, listen) = (self.stop, &mut *self.listen);
        let result = disk::run(&trial.job, target, stop, |progress| {
            let events = match progress {
                Progress::SetUp(setup) => {
                    record.notes.extend(remark(&setup));
                    record.setup = Some(setup.clone());
                    begin = Instant::now();
                    meter.read(0.0);
                    vec![Event::TrialSetUp { number, setup }]
                }
                Progress::Interval(interval) => {
                    measured.add(&interval);
                    let simulated = is_simulated(record.setup.as_ref());
                    let resources = meter.read(begin.elapsed().as_secs_f64()).filter(|_| !simulated);
                    let resources = resources.map(|resources| Event::Resources { number, resources });
                    std::iter::once(Event::Interval { number, interval }).chain(resources).collect()
                }
            };
            for event in events {
                if told.is_ok() {
                    told = listen(&event);
                }
            }
            if told.is_ok() { Go::On } else { Go::Stop }
        });
        told.map_err(RunError::Listener)?;
        conclude(&mut record, result, &measured, self.stopped());
        self.tell(&Event::TrialFinished(record.clone()))?;
        Ok((record, measured))
    }
}

fn planned(trial: &Trial) -> TrialRecord {
    TrialRecord {
        format: FORMAT_VERSION,
        number: trial.planned.number,
        name: trial.planned.name.clone(),
        block: trial.planned.block,
        levels: trial.planned.levels.clone(),
        state: State::Planned,
        reason: None,
        notes: Vec::new(),
        started: None,
        parameters: serde_json::to_value(&trial.settings).unwrap_or_default(),
        setup: None,
        unsent: 0,
    }
}

/// What the setup lacks of what was asked for.
fn remark(setup: &Setup) -> Option<String> {
    let Setup::Disk(setup) = setup;
    let reason = setup.buffers.strip_prefix("not registered: ")?;
    let wanted = setup.engine == "uring" && !reason.starts_with("not asked for");
    wanted
        .then(|| format!("Buffers could not be registered with the ring: {reason}; an I/O costs more CPU so"))
}

fn is_simulated(setup: Option<&Setup>) -> bool {
    matches!(setup, Some(Setup::Disk(setup)) if setup.engine == "simulated")
}

/// The final state of a trial that ran.
fn conclude(record: &mut TrialRecord, result: Result<Outcome, TrialError>, measured: &Window, stopped: bool) {
    record.unsent = result.as_ref().map_or(0, |outcome| outcome.unsent);
    let (state, reason) = match result {
        Err(error) => (State::Failed, Some(error.to_string())),
        Ok(_) if stopped => (State::Aborted, Some("interrupted by the user".to_owned())),
        Ok(outcome) => match invalid_because(measured, outcome) {
            Some(reason) => (State::Invalid, Some(reason)),
            None => (State::Complete, None),
        },
    };
    record.state = state;
    record.reason = reason;
}
