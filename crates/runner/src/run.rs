//! The run of a study from its plan to its last trial.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use database::RunId;
use jiff::Timestamp;
use load::Span;
use record::{Environment, Event, FORMAT_VERSION, Labels, Manifest, SearchRules, State, TrialRecord};
use stats::search::Search;
use study::{LOOKS, Plan, StepLengths, Stop, Study, Trial};

use crate::command::{self, When};
use crate::environment::{self, Lying};
use crate::error::{Listener, Look, RunError, Settled};
use crate::preparing::Preparing;
use crate::resume::Resume;
use crate::search_steps::{self, Beyond};
use crate::server;
use crate::skip::Rules;
use crate::targets::{Ready, Targets};
use crate::trial::{Given, Trials, planned};

/// How often a pause looks whether it is to end.
const PAUSE_LOOKS_EVERY: Duration = Duration::from_millis(100);

/// What the runner is told besides the study.
#[derive(Clone, Debug)]
pub struct Context {
    /// Version of the tool.
    pub tool_version: String,
    /// What the user calls it.
    pub labels: Labels,
    /// This program: limits of servers are proved by another process of it.
    pub program: PathBuf,
    /// Command line.
    pub command: Vec<String>,
    /// The laboratory that was made for the study, if it runs in one.
    pub lab: Option<record::Laboratory>,
    /// Directory that relative paths are below, if it can be told.
    pub working_directory: Option<String>,
    /// What this run's databases are marked with; a study that is taken up again keeps the one that it was begun with.
    pub run: RunId,
}

/// Runs all trials of a plan, in order, until the end or until `stop`; of a study that is taken up again those that are left.
/// Gives the final state of the study. One that ends once all is settled is judged by `look` between its blocks.
///
/// # Errors
/// When the target cannot be made ready, a command of the study fails, or `listen` does. A trial that fails is no error: the
/// next one runs.
pub fn run(
    study: &Study,
    plan: &Plan,
    resume: Option<&Resume>,
    context: &Context,
    stop: &AtomicBool,
    look: &mut Look<'_>,
    listen: &mut Listener<'_>,
) -> Result<Manifest, RunError> {
    let begun_as = resume.and_then(Resume::run);
    let run = begun_as.as_ref().unwrap_or(&context.run);
    let has_trials = resume.is_none_or(Resume::has_trials);
    let targets = if has_trials {
        Targets::open(plan, run, &context.program, stop, listen)?
    } else {
        Targets::left(plan, run, stop)?
    };
    let environment = environment_of(plan, &targets, context, stop);
    // The steps of searches go on from the last number; other trials have theirs from the plan.
    let number = resume.filter(|_| study.search.is_some()).map_or(0, Resume::last_number);
    let begun_by = resume.and_then(|resume| resume.manifest.search);
    // Of searches that were begun when every confirmation had to be held and no cycle was heeded all steps are judged alike.
    let is_as_before = begun_by.is_some_and(|begun| begun.confirmations_of == 0);
    let mut run = Run {
        trials: Trials { stop, listen, targets, is_as_before, run, given: Given::by(study) },
        number,
        begun_by,
    };
    let search = run.first_search(study, plan)?;
    let mut manifest = match resume {
        Some(resume) => resume.manifest(plan, &Timestamp::now().to_string(), &environment),
        None => manifest(study, plan, context, search),
    };
    // It is made anew when a study is taken up again.
    manifest.lab = context.lab.clone().or(manifest.lab);
    // One that was begun before runs had an identity has this one's from here on.
    manifest.run.get_or_insert_with(|| context.run.to_string());
    let begun = run.trials.tell(&Event::StudyStarted { manifest: manifest.clone(), environment });
    let result = begun
        .and_then(|()| if has_trials { run.prepare_files(plan) } else { Ok(()) })
        .and_then(|()| run.all(study, plan, resume, look));
    let left = run.trials.targets.leave(stop);
    (manifest.state, manifest.reason) = match (&result, &left) {
        (Err(_), _) if stop.load(Ordering::Relaxed) => (State::Aborted, Some("interrupted".to_owned())),
        (Err(error), _) => (State::Failed, Some(error.to_string())),
        (Ok(State::Aborted), Err(left)) => (State::Aborted, Some(format!("interrupted; {left}"))),
        (Ok(_), Err(left)) => (State::Failed, Some(left.clone())),
        (Ok(state), Ok(())) => (*state, None),
    };
    manifest.finished = Some(Timestamp::now().to_string());
    if !matches!(result, Err(RunError::Listener(_))) {
        run.trials.tell(&Event::StudyFinished(manifest.clone()))?;
    }
    match result {
        // The study stands as far as it came, and says why it ended.
        Err(RunError::Command(_) | RunError::Look(_)) => Ok(manifest),
        other => other.map(|_| manifest),
    }
}

/// The machine, and what its targets lie on and are set to.
fn environment_of(plan: &Plan, targets: &Targets, context: &Context, stop: &AtomicBool) -> Environment {
    let servers: BTreeMap<String, Result<PathBuf, String>> = targets.servers().collect();
    let processes =
        servers.iter().map(|(name, file)| (name.clone(), server::reading(file.as_ref()))).collect();
    let lying = lying(plan, targets);
    let read = environment::read(&lying, processes, &context.tool_version, Timestamp::now());
    Environment { inspected: targets.inspect(&lying, stop), ..read }
}

fn manifest(study: &Study, plan: &Plan, context: &Context, search: Option<SearchRules>) -> Manifest {
    Manifest {
        format: FORMAT_VERSION,
        tool_version: context.tool_version.clone(),
        title: study.title.clone(),
        slug: study.slug.clone(),
        labels: context.labels.clone(),
        profile: study.profile.clone(),
        command: context.command.clone(),
        working_directory: context.working_directory.clone(),
        run: Some(context.run.to_string()),
        seed: study.seed,
        started: Timestamp::now().to_string(),
        finished: None,
        state: State::Running,
        reason: None,
        latency_tolerance_ms: study.latency_tolerance.map(|tolerance| tolerance.as_seconds() * 1e3),
        expect: study.expect.clone(),
        search,
        quick: study.quick,
        lab: context.lab.clone(),
        disk_bytes: study.disk_size.map(|size| size.0),
        prices: study.prices.clone(),
        percentiles: study.percentiles.clone(),
        design: plan.design.clone(),
        resumed: Vec::new(),
        // How many steps a search takes is known at its end.
        plan: if search.is_some() { Vec::new() } else { planned_trials(plan) },
    }
}

fn planned_trials(plan: &Plan) -> Vec<record::PlannedTrial> {
    plan.trials.iter().map(|trial| trial.planned.clone()).collect()
}

/// Where the targets of a plan lie.
fn lying(plan: &Plan, targets: &Targets) -> Lying {
    let paths = plan.disk_tests().into_iter().flat_map(|(paths, _)| paths);
    let mut lying: Lying = paths.map(|path| (path.display().to_string(), Ok(path.clone()))).collect();
    for (name, lies) in targets.lying() {
        lying.insert(format!("data{name}"), lies.data.clone());
        lying.extend(lies.log.clone().map(|log| (format!("log{name}"), log)));
    }
    if lying.is_empty() {
        lying.insert(".".to_owned(), Ok(PathBuf::from(".")));
    }
    lying
}

/// A study while it runs.
struct Run<'a, 'b> {
    trials: Trials<'a, 'b>,
    /// Number of the last trial.
    number: u32,
    /// The rules of searches that the study was begun with, if it is taken up again.
    begun_by: Option<SearchRules>,
}

impl Run<'_, '_> {
    fn prepare_files(&mut self, plan: &Plan) -> Result<(), RunError> {
        let Trials { targets, stop, listen, .. } = &mut self.trials;
        targets.prepare_files(plan, stop, listen)
    }

    /// The rules of the searches of a plan, by the server of the first one. If that cannot be asked, targets are left.
    fn first_search(&mut self, study: &Study, plan: &Plan) -> Result<Option<SearchRules>, RunError> {
        let is_begun = self.begun_by.is_none() && study.search.is_some();
        let Some(first) = plan.trials.first().filter(|_| is_begun) else { return Ok(None) };
        let Trials { targets, stop, .. } = &mut self.trials;
        match targets.checkpoint_s(first, stop) {
            Ok(checkpoint_s) => Ok(first.search_rules(study, checkpoint_s)),
            Err(error) => {
                // The error that led here is what is told.
                let _ = targets.leave(stop);
                Err(error)
            }
        }
    }

    fn all(
        &mut self,
        study: &Study,
        plan: &Plan,
        resume: Option<&Resume>,
        look: &mut Look<'_>,
    ) -> Result<State, RunError> {
        let mut rules = Rules::new(plan.stop.clone());
        let mut failed = false;
        let mut first = true;
        let mut looked = None;
        for (entry, trial) in plan.trials.iter().enumerate() {
            if let Some(resume) = resume.filter(|resume| !resume.entries.contains(&entry)) {
                let kept = if study.search.is_none() { resume.kept(trial) } else { None };
                if let Some(kept) = kept.filter(|kept| kept.trial.state == State::Complete) {
                    rules.measured(trial, &kept.window());
                }
                if study.search.is_none() {
                    self.number = trial.planned.number;
                }
                continue;
            }
            let begins_block = looked.replace(trial.planned.block) != Some(trial.planned.block);
            if begins_block && self.is_settled(trial.planned.block - 1, plan, look)? {
                break;
            }
            if let Some(reason) = rules.skip_because(trial) {
                self.number = trial.planned.number;
                let record = TrialRecord {
                    state: State::Skipped,
                    reason: Some(reason),
                    ..planned(trial, self.number)
                };
                self.trials.tell(&Event::TrialFinished(record))?;
                continue;
            }
            self.pause(if first { Span::ZERO } else { trial.pause })?;
            first = false;
            if self.trials.stopped() {
                return Ok(State::Aborted);
            }
            failed |= self.entry(study, trial, &mut rules)? == State::Failed;
        }
        Ok(match (self.trials.stopped(), failed) {
            (true, _) => State::Aborted,
            (false, true) => State::Failed,
            (false, false) => State::Complete,
        })
    }

    /// Looks at a study after so many blocks, if there are enough of them.
    fn is_settled(&mut self, blocks: u32, plan: &Plan, look: &mut Look<'_>) -> Result<bool, RunError> {
        if plan.stop != Stop::WhenSettled || blocks < *LOOKS.start() || self.trials.stopped() {
            return Ok(false);
        }
        let found = look().map_err(RunError::Look)?;
        let blocks_max = plan.trials.iter().map(|trial| trial.planned.block).max().unwrap_or(blocks);
        let Settled { settled, comparisons } = found;
        self.trials.tell(&Event::Looked { blocks, blocks_max, settled, comparisons })?;
        Ok(found.is_all())
    }

    /// One entry of the plan with its commands: a trial, or a search.
    fn entry(&mut self, study: &Study, trial: &Trial, rules: &mut Rules) -> Result<State, RunError> {
        let number = if study.search.is_some() { self.number + 1 } else { trial.planned.number };
        let ready = match self.trials.ready(trial, number)? {
            Ok(ready) => ready,
            Err(state) => {
                self.number = number;
                return Ok(state);
            }
        };
        if let Some(before) = &study.before {
            self.command(before, When::Before, trial)?;
        }
        let state = match self.search_rules(study, trial)? {
            Some(rules) => self.search(&rules, trial, ready)?,
            None => {
                self.number = trial.planned.number;
                let Ready { servers, clusters, done } = ready;
                let record = TrialRecord { servers, clusters, notes: done, ..planned(trial, self.number) };
                let ran = self.trials.run(record, trial, &trial.work)?;
                if ran.record.state == State::Complete {
                    rules.measured(trial, &ran.measured);
                }
                ran.record.state
            }
        };
        if let Some(after) = &study.after {
            self.command(after, When::After, trial)?;
        }
        Ok(state)
    }

    /// The rules of a trial's search, if it is one. A study that was begun under other rules goes on by them.
    fn search_rules(&self, study: &Study, trial: &Trial) -> Result<Option<SearchRules>, RunError> {
        let checkpoint_s = match study.search {
            Some(_) => self.trials.targets.checkpoint_s(trial, self.trials.stop)?,
            None => None,
        };
        let Some(now) = trial.search_rules(study, checkpoint_s) else { return Ok(None) };
        let start_per_s = trial.search_start_per_s(study, &now);
        let rules = match self.begun_by {
            Some(begun) if begun.cycle.is_none() => begun,
            Some(begun) => {
                SearchRules { cycle: now.cycle, step_s: now.step_s, confirm_s: now.confirm_s, ..begun }
            }
            None => now,
        };
        Ok(Some(SearchRules { start_per_s, ..rules }))
    }

    /// Runs a command of the study, and tells how long it has taken.
    fn command(&mut self, command: &str, when: When, trial: &Trial) -> Result<(), RunError> {
        let mut preparing = Preparing::new(self.trials.listen);
        command::run(command, when, &trial.planned, self.trials.stop, &mut |at| preparing.tell(at))?;
        preparing.end()
    }

    /// Waits for caches and queues to settle, in steps so that a stop is heard.
    fn pause(&mut self, pause: Span) -> Result<(), RunError> {
        if pause == Span::ZERO || self.trials.stopped() {
            return Ok(());
        }
        self.trials.tell(&Event::Pausing { number: self.number + 1, pause_s: pause.as_seconds() })?;
        let end = Instant::now() + Duration::from_nanos(pause.ns);
        while !self.trials.stopped() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(PAUSE_LOOKS_EVERY));
        }
        Ok(())
    }

    /// Searches the highest rate that a historian holds, a step a trial.
    fn search(
        &mut self,
        rules: &SearchRules,
        trial: &Trial,
        Ready { mut servers, clusters, mut done }: Ready,
    ) -> Result<State, RunError> {
        let span = |seconds: f64| Span { ns: (seconds * 1e9) as u64 };
        let lengths = match rules.cycle {
            Some(cycle) => StepLengths::of_cycle(&trial.work, cycle),
            None => StepLengths::given(&trial.work, span(rules.confirm_s)),
        };
        let lengths = lengths.with_long(rules.confirm_for_s.map(span));
        let mut search = Search::new(rules.decisions());
        let mut state = State::Complete;
        let mut beyond = Beyond::default();
        let mut rest = Span::ZERO;
        while let Some((step, work)) = search_steps::next(&search, &lengths, &trial.work) {
            let (expected_s, at_most_s) = beyond.times_s(rules, &search);
            self.trials.tell(&Event::Searching { number: self.number + 1, expected_s, at_most_s })?;
            let begin = Instant::now();
            self.pause(rest)?;
            if self.trials.stopped() {
                break;
            }
            self.number += 1;
            let record = TrialRecord {
                search: Some(step),
                servers: servers.clone(),
                clusters: clusters.clone(),
                notes: std::mem::take(&mut done),
                ..planned(trial, self.number)
            };
            // The other steps begin where the one before ended.
            servers.iter_mut().for_each(|server| server.steps.clear());
            let ran = self.trials.run(record, trial, &work)?;
            if matches!(ran.record.state, State::Failed | State::Aborted) {
                state = ran.record.state;
                break;
            }
            let planned_ns = rest.ns.saturating_add(work.any().phases().end_ns());
            beyond.add(planned_ns as f64 / 1e9, begin.elapsed());
            rest = span(rules.cool_down_s);
            search.take(search_steps::held(&ran), search_steps::written_per_s(&ran));
        }
        Ok(state)
    }
}
