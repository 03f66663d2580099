//! What the two who load share with their controller: what is counted, what came of the reports, and the end.

use std::sync::{Arc, Mutex};

use database::Lease;
use load::{Counted, Kind, Phases, Recorder, Span, lock};
use record::{ReportingOutcome, reporting};

use super::{arriving, asking};
use crate::TrialError;
use crate::reporting::ask::Question;
use crate::reporting::{Job, MessageData};
use crate::signal::Signal;
use crate::threads::{Gate, Threads, Worker};

/// Kinds of operation.
pub(super) const FIRST_REPORT: usize = 0;
pub(super) const REPORT: usize = 1;
pub(super) const EVENT: usize = 2;

/// Longer than any trial: reports take as long as they take.
const WITHOUT_END: Span = Span::seconds(10 * 365 * 86_400);

/// Everything that is shared.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) job: Job,
    pub(super) lease: Lease,
    pub(super) data: Arc<MessageData>,
    pub(super) question: Question,
    pub(super) recorder: Recorder,
    outcome: Mutex<ReportingOutcome>,
    /// No report and no event begins any more.
    pub(super) load_over: Signal,
    /// The last report's intervals are told: what a thread used can be read until it ends.
    pub(super) told: Signal,
    /// Whatever goes on is left.
    pub(super) over: Signal,
}

impl Running {
    pub(super) fn new(job: Job, lease: Lease, data: Arc<MessageData>, question: Question) -> Self {
        let arrives = job.arrivals.is_open();
        let kind = |name: &str, open| Kind { name: name.to_owned(), open };
        let mut kinds = vec![kind(reporting::FIRST_REPORT, false), kind(reporting::REPORT, false)];
        kinds.extend(arrives.then(|| kind(reporting::EVENT, true)));
        let phases = Phases { warm_up: WITHOUT_END, measure: WITHOUT_END };
        Self {
            job,
            lease,
            data,
            question,
            recorder: Recorder::new(Counted { kinds, counters: Vec::new() }, phases),
            outcome: Mutex::new(ReportingOutcome::default()),
            load_over: Signal::new(),
            told: Signal::new(),
            over: Signal::new(),
        }
    }

    /// Tells something of the outcome.
    pub(super) fn tell(&self, tell: impl FnOnce(&mut ReportingOutcome)) {
        tell(&mut lock(&self.outcome));
    }

    /// What came of it so far.
    pub(super) fn outcome(&self) -> ReportingOutcome {
        lock(&self.outcome).clone()
    }

    fn end(&self) {
        self.load_over.set();
        self.over.set();
    }
}

/// Who loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Asking,
    Arriving,
}

impl Worker for Role {
    fn thread(&self) -> String {
        match self {
            Self::Asking => "reports".to_owned(),
            Self::Arriving => "events".to_owned(),
        }
    }

    fn called(&self) -> String {
        match self {
            Self::Asking => "the thread that reports".to_owned(),
            Self::Arriving => "the thread of arriving events".to_owned(),
        }
    }
}

/// Starts who reports, and whom events come from if any do.
///
/// # Errors
/// When a thread cannot be had.
pub(super) fn start(running: &Arc<Running>) -> Result<Threads<Role>, TrialError> {
    let ending = Arc::clone(running);
    let mut threads = Threads::new(false, move || ending.end());
    let arriving = running.job.arrivals.is_open().then_some(Role::Arriving);
    for role in [Role::Asking].into_iter().chain(arriving) {
        let running = Arc::clone(running);
        threads.start(role, move |gate| async move {
            tokio::select! {
                biased;
                result = act(role, &running, gate) => result,
                () = running.over.wait() => Ok(()),
            }
        })?;
    }
    Ok(threads)
}

async fn act(role: Role, running: &Running, gate: Gate<Role>) -> Result<(), TrialError> {
    // A long silence is what is measured here.
    let session = running.lease.session().await?.without_limit();
    let Some(clock) = gate.pass().await else { return Ok(()) };
    match role {
        Role::Asking => asking::run(running, clock, session).await,
        Role::Arriving => arriving::run(running, clock, session).await,
    }
    Ok(())
}
