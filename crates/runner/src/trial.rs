//! One trial: runs the workload, tells what it measures, and says how it ended.

use std::time::Instant;

use jiff::Timestamp;
use load::{Go, Progress};
use record::{
    BufferUse, DiskOutcome, DiskSetup, Event, FORMAT_VERSION, HistorianOutcome, Loop, Offered, OrdersOutcome,
    Outcome, Sample, Setup, State, TrialRecord, Window,
};
use study::{Trial, Work};

use crate::error::RunError;
use crate::placed::placed;
use crate::preparing::Pace;
use crate::resources::Meter;
use crate::rules::invalid_because;
use crate::run::Run;
use crate::{historian, orders, workloads};

/// A trial that ran.
pub(crate) struct Ran {
    pub(crate) record: TrialRecord,
    pub(crate) measured: Window,
    /// All of its intervals.
    pub(crate) samples: Vec<Sample>,
}

/// How a workload ended.
pub(crate) enum Ended {
    Disk(disk::Outcome),
    Historian(Box<HistorianOutcome>),
    Orders(Box<OrdersOutcome>),
}

impl Run<'_, '_> {
    pub(crate) fn trial(
        &mut self,
        mut record: TrialRecord,
        trial: &Trial,
        work: &Work,
    ) -> Result<Ran, RunError> {
        let number = record.number;
        record.state = State::Running;
        record.started = Some(Timestamp::now().to_string());
        record.parameters = work.any().parameters();
        record.planned_s = Some(planned_s(work));
        self.tell(&Event::TrialStarted(record.clone()))?;
        let mut measured = Window::new(record.main.clone());
        let mut samples = Vec::new();
        let mut meter = Meter::new(self.device(trial));
        let mut begin = Instant::now();
        let mut told = Ok(());
        let mut pace = Pace::default();
        let (listen, targets) = (&mut *self.listen, &mut self.targets);
        let mut on_progress = |progress| {
            let events = match progress {
                Progress::Preparing(at) => {
                    pace.is_due(&at).then_some(Event::Preparing(at)).into_iter().collect()
                }
                Progress::SetUp(setup) => {
                    record.notes.extend(remark(&setup));
                    record.setup = Some(setup.clone());
                    record.placed = placed(&trial.target, &setup);
                    begin = Instant::now();
                    meter.read(0.0);
                    vec![Event::TrialSetUp { number, setup, placed: record.placed.clone() }]
                }
                Progress::Interval(interval) => {
                    measured.add(&interval);
                    samples.push(interval.sample());
                    let simulated = record.setup.as_ref().is_some_and(Setup::is_simulated);
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
        };
        let result = workloads::run(trial, work, targets, self.stop, &mut on_progress);
        told.map_err(RunError::Listener)?;
        conclude(&mut record, result, &measured, self.stopped());
        self.tell(&Event::TrialFinished(record.clone()))?;
        Ok(Ran { record, measured, samples })
    }
}

/// A trial as planned.
pub(crate) fn planned(trial: &Trial, number: u32) -> TrialRecord {
    TrialRecord {
        format: FORMAT_VERSION,
        workload: trial.work.any().workload(),
        main: trial.work.any().workload().main(),
        number,
        name: trial.planned.name.clone(),
        block: trial.planned.block,
        levels: trial.planned.levels.clone(),
        configuration: trial.planned.configuration.clone(),
        aa: trial.planned.aa,
        state: State::Planned,
        reason: None,
        notes: Vec::new(),
        started: None,
        parameters: trial.work.any().parameters(),
        planned_s: Some(planned_s(&trial.work)),
        target: target_of(trial),
        placed: Vec::new(),
        setup: None,
        outcome: None,
        search: None,
    }
}

fn planned_s(work: &Work) -> f64 {
    work.any().phases().end_ns() as f64 / 1e9
}

/// The target of a trial as the study file spells it; addresses have no passwords there.
pub(crate) fn target_of(trial: &Trial) -> serde_json::Value {
    serde_json::to_value(&trial.target).unwrap_or_default()
}

/// What the setup lacks of what was asked for.
fn remark(setup: &Setup) -> Option<String> {
    let setup = setup.disk()?;
    let BufferUse::Refused(reason) = &setup.buffers else { return None };
    Some(format!("Buffers could not be registered with the ring: {reason}; an I/O costs more CPU so"))
}

/// How a workload ended, in the terms of a record.
struct Judged {
    outcome: Outcome,
    notes: Vec<String>,
    /// What was found wrong with what the trial left.
    failed: Option<String>,
    /// Why its figures do not mean what they should.
    invalid: Option<String>,
}

impl Judged {
    fn of(ended: Ended, setup: Option<&Setup>, measured: &Window) -> Self {
        match ended {
            Ended::Disk(outcome) => Self {
                invalid: invalid_because(measured, outcome),
                failed: None,
                notes: Vec::new(),
                outcome: Outcome::Disk(DiskOutcome {
                    unsent: outcome.unsent,
                    offered: setup.and_then(Setup::disk).and_then(|setup| offered(setup, outcome)),
                }),
            },
            Ended::Historian(mut outcome) => Self {
                invalid: setup
                    .and_then(Setup::historian)
                    .and_then(|setup| historian::invalid_because(setup, &outcome, measured)),
                failed: outcome.mismatch(),
                notes: std::mem::take(&mut outcome.notes),
                outcome: Outcome::Historian(outcome),
            },
            Ended::Orders(mut outcome) => Self {
                invalid: orders::invalid_because(
                    &outcome,
                    measured,
                    setup.is_some_and(|setup| matches!(setup.pacing(), Loop::Open { .. })),
                ),
                failed: orders::failed_because(&outcome),
                notes: std::mem::take(&mut outcome.notes),
                outcome: Outcome::Orders(outcome),
            },
        }
    }
}

/// What an open loop on a disk offered; none of a closed one.
fn offered(setup: &DiskSetup, outcome: disk::Outcome) -> Option<Offered> {
    let Loop::Open { .. } = setup.pacing else { return None };
    Some(Offered {
        due: outcome.due,
        slots: setup.outstanding_total(),
        waited: Some(outcome.capped),
        sent: Some(outcome.sent),
    })
}

/// The final state of a trial that ran.
fn conclude(record: &mut TrialRecord, result: Result<Ended, String>, measured: &Window, stopped: bool) {
    // Of one that was about to begin, and not of one that found something wrong.
    let not_begun = stopped && result.is_err() && measured.seconds() == 0.0;
    let (error, invalid) = match result {
        Ok(ended) => {
            let judged = Judged::of(ended, record.setup.as_ref(), measured);
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
