//! One trial: runs the workload, tells what it measures, and says how it ended.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use database::RunId;
use jiff::Timestamp;
use load::{Go, Progress};
use record::{
    Event, Outcome, Placed, Reading, Sample, StartedServer, State, Threshold, TrialRecord, Volume, Window,
};
use study::{Study, Target, Trial, Work};

use crate::activity::{Looked, Looks};
use crate::error::{Listener, RunError};
use crate::faults;
use crate::in_process::InProcess;
use crate::own::Own;
use crate::placed::placed;
use crate::preparing::Pace;
use crate::resources::{Devices, Machine};
use crate::sampling::{Sampler, Sampling};
use crate::server;
use crate::started::{Groups, Lifting};
use crate::targets::{Ready, Targets};
use crate::workloads;

/// What trials are run with, one after the other.
pub(crate) struct Trials<'a, 'b> {
    pub(crate) stop: &'a AtomicBool,
    pub(crate) listen: &'a mut Listener<'b>,
    /// What they are run against.
    pub(crate) targets: Targets,
    /// Whether they are judged by the rules of before.
    pub(crate) is_as_before: bool,
    /// What databases are marked with.
    pub(crate) run: &'a RunId,
    pub(crate) given: Given,
}

/// What a study says of all of its trials.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    /// The seed of what is drawn of faults.
    pub(crate) seed: u64,
    /// The least limit of a latency that must hold, in microseconds.
    limit_us: Option<f64>,
}

impl Given {
    pub(crate) fn by(study: &Study) -> Self {
        let limits_us = study.thresholds.iter().filter_map(Threshold::latency_limit_us);
        Self { seed: study.seed, limit_us: limits_us.reduce(f64::min) }
    }
}

/// Runs something that a stop ends, for which limits are lifted then.
fn while_lifted<T>(lifting: Option<Lifting>, stop: &AtomicBool, run: impl FnOnce() -> T) -> T {
    match lifting {
        Some(lifting) => lifting.while_running(stop, run),
        None => run(),
    }
}

/// A trial that ran.
pub(crate) struct Ran {
    pub(crate) record: TrialRecord,
    pub(crate) measured: Window,
    /// All of its intervals, if it is a step of a search: whether a step held its rate is judged by them. Of a trial of a whole day they would
    /// be hundreds of megabytes.
    pub(crate) samples: Vec<Sample>,
}

impl Trials<'_, '_> {
    pub(crate) fn tell(&mut self, event: &Event) -> Result<(), RunError> {
        (self.listen)(event).map_err(RunError::Listener)
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Files that tell the processes of the servers that a trial uses, by the names of databases: another server of the study tells
    /// nothing of it.
    fn servers_of(&self, trial: &Trial) -> BTreeMap<String, PathBuf> {
        let used = self.targets.names_of(trial);
        let servers = self.targets.servers().filter(|(name, _)| used.contains(name));
        servers.filter_map(|(name, file)| Some((name, file.ok()?))).collect()
    }

    /// The servers that a trial loads, and what reads them beside the load.
    fn servers_beside(&self, trial: &Trial, record: &TrialRecord) -> Servers {
        Servers {
            processes: self.servers_of(trial),
            looked_at: self.targets.looked_at(trial),
            in_process: self.targets.in_process(trial),
            groups: Cell::new(self.targets.sampler(&record.servers)),
        }
    }

    /// Makes the servers and databases of a trial ready; if a server that was started cannot be what it asks for, the trial has failed.
    pub(crate) fn ready(&mut self, trial: &Trial, number: u32) -> Result<Result<Ready, State>, RunError> {
        let lifting = self.targets.lifting();
        let ready = || self.targets.ready(trial, self.run, self.stop, self.listen);
        let reason = match while_lifted(lifting, self.stop, ready) {
            Ok(ready) => return Ok(Ok(ready)),
            Err(RunError::Server { .. } | RunError::Unproved { .. } | RunError::Cluster { .. })
                if self.stopped() =>
            {
                return Ok(Err(State::Aborted));
            }
            Err(error @ (RunError::Server { .. } | RunError::Unproved { .. } | RunError::Cluster { .. })) => {
                error.to_string()
            }
            Err(error) => return Err(error),
        };
        let record = TrialRecord { state: State::Failed, reason: Some(reason), ..planned(trial, number) };
        self.tell(&Event::TrialFinished(record))?;
        Ok(Err(State::Failed))
    }

    pub(crate) fn run(
        &mut self,
        mut record: TrialRecord,
        trial: &Trial,
        work: &Work,
    ) -> Result<Ran, RunError> {
        record.state = State::Running;
        record.started = Some(Timestamp::now().to_string());
        record.parameters = work.any().parameters();
        record.planned_s = Some(planned_s(work));
        self.tell(&Event::TrialStarted(record.clone()))?;
        let servers = self.servers_beside(trial, &record);
        let mut course = Course::new(record, &trial.target, &servers);
        course.is_as_before = self.is_as_before;
        let mut told = Ok(());
        let (listen, targets) = (&mut *self.listen, &mut self.targets);
        let faults = targets.faults(trial, self.given.seed);
        let mut on_progress = |progress| {
            if matches!(progress, Progress::SetUp(_)) {
                faults.begin();
            }
            let marks = faults.take_marks().into_iter().map(Progress::Mark);
            for event in marks.chain([progress]).flat_map(|progress| course.events(progress)) {
                if told.is_ok() {
                    told = listen(&event);
                }
            }
            if told.is_ok() { Go::On } else { Go::Stop }
        };
        let lifting = targets.lifting();
        let run = || workloads::run(trial, work, targets, self.stop, &mut on_progress);
        let result = while_lifted(lifting, self.stop, || faults.while_running(self.stop, run));
        // Those of the end too: they say whether an outage was planned.
        for mark in faults.take_marks() {
            on_progress(Progress::Mark(mark));
        }
        told.map_err(RunError::Listener)?;
        let last = course.end_sampling();
        let Course { mut record, measured, samples, .. } = course;
        for event in last {
            self.tell(&event)?;
        }
        record.faults = faults.done();
        self.conclude(&mut record, result, (&measured, faults.trouble()));
        self.tell(&Event::TrialFinished(record.clone()))?;
        Ok(Ran { record, measured, samples })
    }

    /// Says how a trial ended, by what its workload, its faults and its servers came to.
    fn conclude(
        &mut self,
        record: &mut TrialRecord,
        result: Result<Outcome, String>,
        (measured, trouble): (&Window, Option<String>),
    ) {
        let out_of_memory = self.targets.add_use(&mut record.servers);
        conclude(record, result, measured, (self.stopped(), self.given.limit_us));
        if let Some(why) =
            faults::failed(&record.faults).or(trouble).filter(|_| record.state == State::Complete)
        {
            (record.state, record.reason) = (State::Failed, Some(why));
        }
        if let Some(reason) = out_of_memory {
            // Also of one that failed for it: that the server was killed is the reason.
            let state = if record.state == State::Complete { State::Invalid } else { record.state };
            (record.state, record.reason) = (state, Some(reason));
        }
    }
}

/// The servers that a trial loads.
struct Servers {
    /// See [`Trials::servers_of`].
    processes: BTreeMap<String, PathBuf>,
    looked_at: Vec<Looked>,
    /// See [`Targets::in_process`].
    in_process: Option<String>,
    /// Reads what those use that were started; taken when that begins.
    groups: Cell<Option<Groups>>,
}

/// A trial while it runs.
struct Course<'a> {
    record: TrialRecord,
    target: &'a Target,
    servers: &'a Servers,
    /// Whether it is judged by the rules of before.
    is_as_before: bool,
    measured: Window,
    samples: Vec<Sample>,
    pace: Pace,
    sampling: Option<Sampling>,
}

impl<'a> Course<'a> {
    fn new(record: TrialRecord, target: &'a Target, servers: &'a Servers) -> Self {
        let measured = Window::new(record.main.clone());
        Self {
            record,
            target,
            servers,
            is_as_before: false,
            measured,
            samples: Vec::new(),
            pace: Pace::default(),
            sampling: None,
        }
    }

    /// What is to be told of what the workload tells.
    fn events(&mut self, progress: Progress) -> Vec<Event> {
        let number = self.record.number;
        match progress {
            Progress::Preparing(at) => {
                // What comes after the load is no part of the trial's seconds.
                let mut events = self.end_sampling();
                events.extend(self.pace.is_due(&at).then_some(Event::Preparing(at)));
                events
            }
            Progress::Mark(mark) => {
                let is_news = mark.clone().add_to(&mut self.record.marks);
                is_news.then_some(Event::Mark { number, mark }).into_iter().collect()
            }
            Progress::SetUp(mut setup) => {
                if self.is_as_before {
                    setup.be_judged_as_before();
                }
                self.record.notes.extend(workloads::remark(&setup));
                self.record.setup = Some(setup.clone());
                self.record.placed = placed(self.target, &setup);
                self.sampling = (!setup.is_simulated()).then(|| sampled(&self.record, self.servers));
                vec![Event::TrialSetUp { number, setup, placed: self.record.placed.clone() }]
            }
            Progress::Parts(parts) => vec![Event::Parts { number, parts }],
            Progress::Interval(interval) => {
                self.measured.add(&interval);
                if self.record.search.is_some() {
                    self.samples.push(interval.sample());
                }
                let read = self.sampling.iter().flat_map(Sampling::take);
                let read = read.map(|resources| Event::Resources { number, resources });
                std::iter::once(Event::Interval { number, interval }).chain(read).collect()
            }
        }
    }

    /// Ends the reading of the machine. Gives what was read and not told yet; what is missing is a note.
    fn end_sampling(&mut self) -> Vec<Event> {
        let number = self.record.number;
        let (readings, missing) = self.sampling.take().map(Sampling::end).unwrap_or_default();
        self.record.notes.extend(missing);
        readings.into_iter().map(|resources| Event::Resources { number, resources }).collect()
    }
}

/// Begins to read the machine, this program, the devices that a target lies on, the processes of servers on this machine, and what servers
/// tell.
fn sampled(record: &TrialRecord, servers: &Servers) -> Sampling {
    let mut samplers: Vec<Box<dyn Sampler>> = vec![Box::new(Machine::new()), Box::new(Own::new())];
    let devices = devices(&record.placed, &record.servers);
    if !devices.is_empty() {
        samplers.push(Box::new(Devices::new(devices)));
    }
    if !servers.processes.is_empty() {
        samplers.push(Box::new(server::Servers::new(servers.processes.clone())));
    }
    let looks =
        servers.looked_at.iter().map(|server| Box::new(Looks::new(server.clone())) as Box<dyn Sampler>);
    samplers.extend(looks);
    let of_threads =
        servers.in_process.clone().map(|name| Box::new(InProcess::new(name)) as Box<dyn Sampler>);
    samplers.extend(of_threads);
    samplers.extend(servers.groups.take().map(|groups| Box::new(groups) as Box<dyn Sampler>));
    Sampling::begin(samplers)
}

/// The kernel's names of the devices that a target lies on.
fn devices(placed: &[Placed], started: &[StartedServer]) -> Vec<String> {
    let volumes = placed.iter().flat_map(|placed| match placed {
        Placed::Path { on, .. } => vec![on],
        Placed::Database { data, log, .. } => vec![data, log],
    });
    // Tablespaces of a started server are told of nowhere else.
    let started = started.iter().flat_map(|server| server.places.values());
    let volumes = volumes.filter_map(Reading::known).chain(started);
    let mut devices: Vec<String> = volumes.flat_map(Volume::devices).collect();
    devices.sort();
    devices.dedup();
    devices
}

/// A trial as planned.
pub(crate) fn planned(trial: &Trial, number: u32) -> TrialRecord {
    TrialRecord {
        name: trial.planned.name.clone(),
        block: trial.planned.block,
        levels: trial.planned.levels.clone(),
        configuration: trial.planned.configuration.clone(),
        aa: trial.planned.aa,
        parameters: trial.work.any().parameters(),
        planned_s: Some(planned_s(&trial.work)),
        target: target_of(trial),
        ..TrialRecord::planned(trial.work.any().workload(), number)
    }
}

fn planned_s(work: &Work) -> f64 {
    work.any().phases().end_ns() as f64 / 1e9
}

/// The target of a trial as the study file spells it; addresses have no passwords there.
pub(crate) fn target_of(trial: &Trial) -> serde_json::Value {
    serde_json::to_value(&trial.target).unwrap_or_default()
}

/// The final state of a trial that ran.
fn conclude(
    record: &mut TrialRecord,
    result: Result<Outcome, String>,
    measured: &Window,
    (stopped, limit_us): (bool, Option<f64>),
) {
    // Of one that was about to begin, and not of one that found something wrong.
    let not_begun = stopped && result.is_err() && measured.seconds() == 0.0;
    if let Some(reason) = result.as_ref().ok().and_then(workloads::left_out) {
        (record.state, record.reason) = (State::Skipped, Some(reason.to_owned()));
        return;
    }
    let (error, invalid) = match result {
        Ok(outcome) => {
            let judged = workloads::judged(outcome, record.setup.as_ref(), &record.marks, measured, limit_us);
            record.notes.extend(judged.notes);
            record.outcome = Some(judged.outcome);
            (judged.failed, judged.invalid)
        }
        Err(error) => (Some(error), None),
    };
    (record.state, record.reason) = match (error, stopped, invalid) {
        (Some(_), ..) if not_begun => (State::Aborted, Some("interrupted by the user".to_owned())),
        (Some(error), _, _) => (State::Failed, Some(error)),
        (None, true, _) => (State::Aborted, Some("interrupted by the user".to_owned())),
        (None, false, Some(reason)) => (State::Invalid, Some(reason)),
        (None, false, None) => (State::Complete, None),
    };
}

#[cfg(test)]
mod tests {
    use record::{Phase, SearchStep, Workload};

    use super::*;
    use crate::judged::windows;

    const DAY_S: usize = 86_400;

    /// The memory of a run grew by some kilobytes with each second: all of them were kept, and only the steps of a search are judged by
    /// them.
    #[test]
    fn a_trial_of_a_day_keeps_none_of_its_seconds() {
        let servers = Servers {
            processes: BTreeMap::new(),
            looked_at: Vec::new(),
            in_process: None,
            groups: Cell::new(None),
        };
        let target = Target::default();
        let step = SearchStep::Probe { rate_per_s: 500.0 };
        for (search, kept) in [(None, 0), (Some(step), DAY_S)] {
            let record = TrialRecord { search, ..TrialRecord::planned(Workload::Disk, 1) };
            let mut course = Course::new(record, &target, &servers);
            for _ in 0..DAY_S {
                let second = windows::interval(Phase::Measure, None);
                assert_eq!(course.events(Progress::Interval(second)).len(), 1);
            }
            assert_eq!(course.samples.len(), kept);
            assert_eq!(course.measured.seconds(), DAY_S as f64);
        }
    }
}
