//! One trial: runs the workload, tells what it measures, and says how it ended.

use std::time::Instant;

use disk::Outcome;
use jiff::Timestamp;
use load::{Go, Progress};
use record::{
    DiskSetup, Event, FORMAT_VERSION, HistorianOutcome, Loop, Offered, OrdersOutcome, Sample, Setup, State,
    TrialRecord, Window,
};
use study::{Trial, Work};

use crate::resources::Meter;
use crate::rules::invalid_because;
use crate::run::{Run, RunError};
use crate::{historian, orders};

/// A trial that ran.
pub(crate) struct Ran {
    pub(crate) record: TrialRecord,
    pub(crate) measured: Window,
    /// All of its intervals.
    pub(crate) samples: Vec<Sample>,
}

/// How a workload ended.
pub(crate) enum Ended {
    Disk(Outcome),
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
        self.tell(&Event::TrialStarted(record.clone()))?;
        let mut measured = Window::default();
        let mut samples = Vec::new();
        let mut meter = Meter::new(self.device(trial));
        let mut begin = Instant::now();
        let mut told = Ok(());
        let (listen, places) = (&mut *self.listen, &mut self.places);
        let mut on_progress = |progress| {
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
                    samples.push(interval.sample());
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
        };
        let result = places.run(trial, work, self.stop, &mut on_progress);
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
        setup: None,
        unsent: 0,
        offered: None,
        historian: None,
        orders: None,
        workload: Some(trial.work.any().name().to_owned()),
        search: None,
    }
}

/// What the setup lacks of what was asked for.
fn remark(setup: &Setup) -> Option<String> {
    let setup = setup.disk()?;
    let reason = setup.buffers.strip_prefix("not registered: ")?;
    let wanted = setup.engine == "uring" && !reason.starts_with("not asked for");
    wanted
        .then(|| format!("Buffers could not be registered with the ring: {reason}; an I/O costs more CPU so"))
}

/// Whether the trial runs in a time of its own, in which the machine's counters mean nothing.
fn is_simulated(setup: Option<&Setup>) -> bool {
    match setup {
        Some(Setup::Disk(setup)) => setup.engine == "simulated",
        Some(Setup::Historian(setup)) => setup.engine == "fake",
        Some(Setup::Orders(_)) | None => false,
    }
}

/// What an open loop on a disk offered; none of a closed one.
fn offered(setup: &DiskSetup, outcome: Outcome) -> Option<Offered> {
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
    let invalid = match &result {
        Ok(Ended::Disk(outcome)) => {
            record.unsent = outcome.unsent;
            record.offered =
                record.setup.as_ref().and_then(Setup::disk).and_then(|setup| offered(setup, *outcome));
            invalid_because(measured, *outcome)
        }
        Ok(Ended::Historian(outcome)) => {
            let setup = record.setup.as_ref().and_then(Setup::historian);
            setup.and_then(|setup| historian::invalid_because(setup, outcome, measured))
        }
        Ok(Ended::Orders(outcome)) => {
            record.unsent = outcome.unsent;
            record.offered = outcome.offered;
            let is_open =
                record.setup.as_ref().is_some_and(|setup| matches!(setup.pacing(), Loop::Open { .. }));
            orders::invalid_because(outcome, measured, is_open)
        }
        Err(_) => None,
    };
    // Of one that was about to begin, and not of one that found something wrong.
    let not_begun = stopped && result.is_err() && measured.seconds() == 0.0;
    let error = match result {
        Ok(Ended::Historian(mut outcome)) => {
            record.notes.append(&mut outcome.notes);
            let mismatch = outcome.mismatch();
            record.historian = Some(*outcome);
            mismatch
        }
        Ok(Ended::Orders(mut outcome)) => {
            record.notes.append(&mut outcome.notes);
            let mismatch = orders::failed_because(&outcome);
            record.orders = Some(*outcome);
            mismatch
        }
        Ok(Ended::Disk(_)) => None,
        Err(error) => Some(error),
    };
    (record.state, record.reason) = match (error, stopped, invalid) {
        (Some(_), ..) if not_begun => (State::Aborted, Some("interrupted by the user".to_owned())),
        (Some(error), _, _) => (State::Failed, Some(error)),
        (None, true, _) => (State::Aborted, Some("interrupted by the user".to_owned())),
        (None, false, Some(reason)) => (State::Invalid, Some(reason)),
        (None, false, None) => (State::Complete, None),
    };
}
