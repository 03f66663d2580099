//! Makes a trial's threads, starts them at one moment, and puts their intervals together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use load::{Go, Merge, MonotonicClock, PauseWatch, Progress, ThreadInterval};
use record::{
    Calibration, DiskOutcome, Loop, Mark, MarkKind, Offered, Preparation, Setup, Unit, verify::Verified,
};

use crate::choice::Resolved;
use crate::describe::describe;
use crate::engine::kinds;
use crate::error::TrialError;
use crate::job::Job;
use crate::settings::EngineChoice;
use crate::target::Target;
use crate::thread::{Message, Ready, Thread};
use crate::verify::Told;
use crate::worker::Done;

/// Loads a target with threads that were assigned to it.
///
/// # Errors
/// When a thread could not begin, or an I/O failed. What was measured before was told by `on_progress`.
pub(crate) fn play(
    resolved: &Resolved,
    target: &Target,
    threads: &[Thread<'_>],
    calibration: Option<Calibration>,
    stop: &AtomicBool,
    mut on_progress: impl FnMut(Progress) -> Go,
) -> Result<DiskOutcome, TrialError> {
    let give_up = AtomicBool::new(false);
    let (to_controller, messages) = mpsc::channel();
    std::thread::scope(|scope| {
        let controls = threads
            .iter()
            .map(|thread| start_thread(scope, thread, &to_controller, &give_up))
            .collect::<Result<Vec<_>, _>>()?;
        drop(to_controller);
        let controller =
            Controller { job: &resolved.job, target, controls, messages, stop, give_up: &give_up };
        let ready = controller.await_ready(&mut on_progress)?;
        let setup = describe(resolved, target, threads, &ready, calibration);
        let open_slots = matches!(setup.pacing, Loop::Open { .. }).then(|| setup.outstanding_total());
        let go = on_progress(Progress::SetUp(Setup::Disk(Box::new(setup))));
        give_up.store(go == Go::Stop, Ordering::Relaxed);
        let begin = controller.start();
        let watch = watch(controller.job, begin).inspect_err(|_| give_up.store(true, Ordering::Relaxed))?;
        let (done, verified) = controller.collect(watch.as_ref(), &mut on_progress)?;
        Ok(outcome(open_slots, done, verified))
    })
}

/// How a trial ended that ran to its end, or until it was told to stop; slots are those of an open loop.
fn outcome(open_slots: Option<u64>, done: Done, verified: Option<Box<Verified>>) -> DiskOutcome {
    let Done { due, sent, unsent, waited } = done;
    let offered = open_slots.map(|slots| Offered { due, slots, waited: Some(waited), sent: Some(sent) });
    DiskOutcome { unsent, offered, verified }
}

/// The watch over pauses of this process; none in virtual time, which stands still with it.
fn watch(job: &Job, begin: Instant) -> Result<Option<PauseWatch>, TrialError> {
    if job.engine == EngineChoice::Simulated {
        return Ok(None);
    }
    let watch = PauseWatch::start(begin).map_err(|error| {
        TrialError::Engine(format!(
            "cannot start the thread that watches the clock: {error}. Raise this user's limit of threads \
             (`ulimit -u`)"
        ))
    })?;
    Ok(Some(watch))
}

/// How long the controller waits for a message before it looks whether it is to stop.
const LOOK_UP: Duration = Duration::from_millis(100);

/// What is done after the load of a test that verifies.
const LAST_AUDIT: &str = "reading all pages again";

/// Audits of all threads, as far as anybody has to hear of them.
#[derive(Default)]
struct Audits {
    /// Threads that audit within the load, and when the first of them began.
    threads: usize,
    begin_s: f64,
    last_bytes: u64,
}

impl Audits {
    /// What is to be told of what a thread told: a mark while any of them audits within the load, and how far the last audit is.
    fn heard(&mut self, told: Told, walking: impl FnOnce(u64) -> Preparation) -> Option<Progress> {
        let mark = |begin_s, end_s| Progress::Mark(Mark::planned(MarkKind::Audit, begin_s, end_s, ""));
        match told {
            Told::AuditBegun(at_ns) => {
                self.threads += 1;
                (self.threads == 1).then(|| {
                    self.begin_s = at_ns as f64 / 1e9;
                    mark(self.begin_s, None)
                })
            }
            Told::AuditEnded(at_ns) => {
                self.threads -= 1;
                (self.threads == 0).then(|| mark(self.begin_s, Some(at_ns as f64 / 1e9)))
            }
            Told::Audited(bytes) => {
                self.last_bytes += bytes;
                Some(Progress::Preparing(walking(self.last_bytes)))
            }
            Told::LaidOut(_) | Told::LoadEnded => None,
        }
    }
}

/// What is said of a thread that ended without a word.
const THREAD_GONE: &str = "a load thread ended unexpectedly. This is a bug in prony";

/// Tells the controller if a thread panics, which would wait for it for ever.
struct LastWords<'a>(&'a dyn Fn(Message));

impl Drop for LastWords<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            (self.0)(Message::Ended(Err(TrialError::Engine(THREAD_GONE.to_owned()))));
        }
    }
}

/// The controller's ends of a thread's channels. A thread whose channel closes before it was started ends.
struct Control {
    start: Sender<MonotonicClock>,
    recycle: Sender<ThreadInterval>,
}

fn start_thread<'scope, 'env>(
    scope: &'scope std::thread::Scope<'scope, 'env>,
    thread: &'env Thread<'env>,
    to_controller: &Sender<(usize, Message)>,
    give_up: &'env AtomicBool,
) -> Result<Control, TrialError> {
    let (start, started) = mpsc::channel();
    let (recycle, spare) = mpsc::channel();
    let to_controller = to_controller.clone();
    let number = thread.number;
    std::thread::Builder::new()
        .name(format!("load-{number}"))
        .spawn_scoped(scope, move || {
            // The controller outlives its threads; when it gave up, nobody needs the message.
            let tell = |message| {
                let _ = to_controller.send((number, message));
            };
            let _last_words = LastWords(&tell);
            thread.run(&started, spare, give_up, &tell);
        })
        .map_err(|error| {
            TrialError::Engine(format!(
                "cannot start load thread {}: {error}. Use fewer threads, or raise \
                 this user's limit (`ulimit -u`)",
                number + 1
            ))
        })?;
    Ok(Control { start, recycle })
}

struct Controller<'a> {
    job: &'a Job,
    target: &'a Target,
    controls: Vec<Control>,
    messages: Receiver<(usize, Message)>,
    stop: &'a AtomicBool,
    give_up: &'a AtomicBool,
}

impl Controller<'_> {
    /// Awaits every thread's engine, and that all is laid out which is to be verified. On an error all threads end, because their
    /// channels close.
    fn await_ready(&self, on_progress: &mut impl FnMut(Progress) -> Go) -> Result<Ready, TrialError> {
        let mut all = Vec::with_capacity(self.controls.len());
        let mut laid_out_bytes = 0;
        while all.len() < self.controls.len() {
            self.heed_stop();
            match self.messages.recv_timeout(LOOK_UP) {
                Ok((_, Message::Ready(ready))) => {
                    all.push(ready.inspect_err(|_| self.give_up.store(true, Ordering::Relaxed))?);
                }
                Ok((_, Message::Told(Told::LaidOut(bytes)))) => {
                    laid_out_bytes += bytes;
                    let what = "writing pages to verify";
                    on_progress(Progress::Preparing(self.walking(what, laid_out_bytes)));
                }
                Ok((_, Message::Ended(Err(error)))) => return Err(error),
                Err(RecvTimeoutError::Timeout) => {}
                _ => return Err(TrialError::Engine(THREAD_GONE.to_owned())),
            }
        }
        Ok(Ready::least(all))
    }

    /// How far a walk over all pages is.
    fn walking(&self, what: &str, done: u64) -> Preparation {
        let regions = self.target.regions(self.job).ok();
        let total = regions.map(|regions| regions.iter().map(|region| region.bytes).sum());
        Preparation { what: what.to_owned(), done, total, unit: Unit::Bytes }
    }

    fn heed_stop(&self) {
        if self.stop.load(Ordering::Relaxed) {
            self.give_up.store(true, Ordering::Relaxed);
        }
    }

    fn start(&self) -> Instant {
        let (start, clock) = (Instant::now(), MonotonicClock::starting_now());
        for control in &self.controls {
            let _ = control.start.send(clock);
        }
        start
    }

    fn collect(
        self,
        watch: Option<&PauseWatch>,
        on_progress: &mut impl FnMut(Progress) -> Go,
    ) -> Result<(Done, Option<Box<Verified>>), TrialError> {
        let mut merge = Merge::new(kinds(self.job).iter().copied(), self.controls.len());
        let mut all = Done::default();
        let mut verified: Option<Box<Verified>> = None;
        let mut audits = Audits::default();
        let mut result = Ok(());
        let mut running = self.controls.len();
        while running > 0 {
            self.heed_stop();
            let (number, message) = match self.messages.recv_timeout(LOOK_UP) {
                Ok(received) => received,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    return result.and(Err(TrialError::Engine(THREAD_GONE.to_owned())));
                }
            };
            match message {
                Message::Ready(_) => {}
                Message::Told(told) => {
                    if told == Told::LoadEnded {
                        merge.finished(number);
                    }
                    if let Some(progress) = audits.heard(told, |bytes| self.walking(LAST_AUDIT, bytes)) {
                        on_progress(progress);
                    }
                }
                Message::Verified(found) => verified.get_or_insert_default().add(*found),
                Message::Interval(mut interval) => {
                    merge.add(number, &interval);
                    interval.clear();
                    let _ = self.controls[number].recycle.send(interval);
                }
                Message::Ended(ended) => {
                    running -= 1;
                    merge.finished(number);
                    let ended = ended.inspect_err(|_| self.give_up.store(true, Ordering::Relaxed));
                    result = result.and(ended.map(|done| all.add(done)));
                }
            }
            while let Some(mut interval) = merge.next_whole() {
                interval.generator_pauses = watch.map(|watch| watch.of(&interval));
                if on_progress(Progress::Interval(interval)) == Go::Stop {
                    self.give_up.store(true, Ordering::Relaxed);
                }
            }
        }
        result.map(|()| (all, verified))
    }
}
