//! The run of a study from its plan to its last trial.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use disk::{Target, TargetError};
use jiff::Timestamp;
use load::Span;
use record::{Event, FORMAT_VERSION, Manifest, SearchRules, State, TrialRecord};
use study::{Plan, Study, Trial};

use crate::environment;
use crate::historian::Home;
use crate::orders::Stores;
use crate::rules::Rules;
use crate::trial::planned;

/// How often a long preparation reports, and how often a pause looks whether it is to end.
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
    /// The database could not be made ready.
    #[error(transparent)]
    Database(#[from] database::Error),
    /// A store could not be loaded.
    #[error(transparent)]
    Load(#[from] workload::orders::LoadError),
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
    let home = if plan.needs_database() { Home::make(&study.target)? } else { None };
    let stores = match Stores::open(&study.target, plan, stop) {
        Ok(stores) => stores,
        Err(error) => {
            // The error that led here is what is told.
            let _ = home.map(Home::leave);
            return Err(error);
        }
    };
    let place = place(study, home.as_ref(), stores.as_ref());
    let environment =
        environment::read(place.as_deref(), is_local(study), &context.tool_version, Timestamp::now());
    let device = environment.device.known().map(|device| device.name.clone());
    let mut run = Run { stop, listen, device, files: None, home, stores, number: 0 };
    let mut manifest = manifest(study, plan, context);
    let begun = run.tell(&Event::StudyStarted { manifest: manifest.clone(), environment });
    let result = begun.and_then(|()| run.prepare(study, plan)).and_then(|()| run.trials(study, plan));
    let left = run.leave();
    (manifest.state, manifest.reason) = match (&result, &left) {
        (Err(_), _) if stop.load(Ordering::Relaxed) => (State::Aborted, Some("interrupted".to_owned())),
        (Err(error), _) => (State::Failed, Some(error.to_string())),
        (Ok(_), Err(left)) => (State::Failed, Some(left.clone())),
        (Ok(state), Ok(())) => (*state, None),
    };
    manifest.finished = Some(Timestamp::now().to_string());
    if !matches!(result, Err(RunError::Listener(_))) {
        run.tell(&Event::StudyFinished(manifest.clone()))?;
    }
    result.map(|_| manifest)
}

fn manifest(study: &Study, plan: &Plan, context: &Context) -> Manifest {
    let search = plan.trials.iter().find_map(|trial| trial.search_rules(study));
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
        search,
        quick: study.quick,
        disk_bytes: study.disk_size.map(|size| size.0),
        prices: study.prices.clone(),
        design: None,
        resumed: Vec::new(),
        // How many steps a search takes is known at its end.
        plan: if search.is_some() { Vec::new() } else { planned_trials(plan) },
    }
}

fn planned_trials(plan: &Plan) -> Vec<record::PlannedTrial> {
    plan.trials.iter().map(|trial| trial.planned.clone()).collect()
}

/// The path whose file system a study's figures are about, where it is on this machine.
fn place(study: &Study, home: Option<&Home>, stores: Option<&Stores>) -> Option<PathBuf> {
    match (study.target.paths.first(), home, stores) {
        (Some(path), ..) => Some(path.clone()),
        (None, Some(home), _) => home.place(),
        (None, None, Some(stores)) => stores.place(),
        (None, None, None) => Some(Path::new(".").to_owned()),
    }
}

/// Whether the servers of a study are on this machine.
fn is_local(study: &Study) -> bool {
    let stores = study.target.store.iter().map(|store| &store.url);
    study.target.url.iter().chain(stores).all(database::Url::is_local)
}

/// A study while it runs.
pub(crate) struct Run<'a, 'b> {
    pub(crate) stop: &'a AtomicBool,
    pub(crate) listen: &'a mut Listener<'b>,
    /// Kernel name of the target's device.
    pub(crate) device: Option<String>,
    /// Files and devices of the disk tests.
    pub(crate) files: Option<Target>,
    /// Database of the others.
    pub(crate) home: Option<Home>,
    /// Stores of the orders.
    pub(crate) stores: Option<Stores>,
    /// Number of the last trial.
    number: u32,
}

impl Run<'_, '_> {
    pub(crate) fn tell(&mut self, event: &Event) -> Result<(), RunError> {
        (self.listen)(event).map_err(RunError::Listener)
    }

    /// Leaves databases and stores as they were found.
    fn leave(&mut self) -> Result<(), String> {
        let home = self.home.take().map_or(Ok(()), Home::leave).map_err(|error| error.to_string());
        let stores = self.stores.take().map_or(Ok(()), Stores::leave).map_err(|error| error.to_string());
        home.and(stores)
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The number of the trial that comes next.
    pub(crate) fn next_number(&mut self) -> u32 {
        self.number += 1;
        self.number
    }

    fn prepare(&mut self, study: &Study, plan: &Plan) -> Result<(), RunError> {
        let jobs = plan.disk_jobs();
        if jobs.is_empty() {
            return Ok(());
        }
        let mut told = Ok(());
        let mut last = None;
        let target = Target::prepare(&study.target.paths, &jobs, self.stop, |done_bytes, total_bytes| {
            let is_due = last.is_none_or(|last: Instant| last.elapsed() >= PREPARING_EVERY);
            if told.is_ok() && (is_due || done_bytes == total_bytes) {
                last = Some(Instant::now());
                told = (self.listen)(&Event::Preparing { done_bytes, total_bytes });
            }
        })?;
        told.map_err(RunError::Listener)?;
        self.files = Some(target);
        Ok(())
    }

    fn trials(&mut self, study: &Study, plan: &Plan) -> Result<State, RunError> {
        let mut rules = Rules::new(plan.stop.clone());
        let mut failed = false;
        for trial in &plan.trials {
            if let Some(reason) = rules.skip_because(trial) {
                let number = self.next_number();
                let record =
                    TrialRecord { state: State::Skipped, reason: Some(reason), ..planned(trial, number) };
                self.tell(&Event::TrialFinished(record))?;
                continue;
            }
            self.pause(trial.pause)?;
            if self.stopped() {
                return Ok(State::Aborted);
            }
            if let (Some(search), Some(rules)) = (&study.search, trial.search_rules(study)) {
                failed |= self.search(search, rules, trial)? == State::Failed;
                continue;
            }
            let number = self.next_number();
            let ran = self.trial(planned(trial, number), &trial.work)?;
            failed |= ran.record.state == State::Failed;
            if ran.record.state == State::Complete {
                rules.measured(trial, &ran.measured);
            }
        }
        Ok(match (self.stopped(), failed) {
            (true, _) => State::Aborted,
            (false, true) => State::Failed,
            (false, false) => State::Complete,
        })
    }

    /// Waits for caches and queues to settle, in steps so that a stop is heard.
    pub(crate) fn pause(&mut self, pause: Span) -> Result<(), RunError> {
        if pause == Span::ZERO || self.stopped() {
            return Ok(());
        }
        self.tell(&Event::Pausing { number: self.number + 1, pause_s: pause.as_seconds() })?;
        let end = Instant::now() + Duration::from_nanos(pause.ns);
        while !self.stopped() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(PREPARING_EVERY));
        }
        Ok(())
    }

    /// Searches the highest rate that a historian holds, a step a trial.
    fn search(
        &mut self,
        search: &study::Search,
        rules: SearchRules,
        trial: &Trial,
    ) -> Result<State, RunError> {
        let mut steps = crate::search::Search::new(rules);
        let mut state = State::Complete;
        let mut first = true;
        while let Some((step, work)) = crate::steps::next(&steps, search, &trial.work) {
            self.pause(if first { Span::ZERO } else { search.cool_down })?;
            first = false;
            if self.stopped() {
                break;
            }
            let number = self.next_number();
            let record = TrialRecord { search: Some(step), ..planned(trial, number) };
            let ran = self.trial(record, &work)?;
            if matches!(ran.record.state, State::Failed | State::Aborted) {
                state = ran.record.state;
                break;
            }
            steps.take(crate::steps::held(&ran));
        }
        Ok(state)
    }
}
