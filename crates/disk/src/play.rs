//! Makes a trial's threads, starts them at one moment, and puts their intervals together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use load::{Go, Merge, MonotonicClock, PauseWatch, Progress, ThreadInterval};
use record::{Calibration, DiskOutcome, Loop, Offered, Preparation, Setup, Unit, verify::Verified};

use crate::choice::Resolved;
use crate::describe::describe;
use crate::engine::kinds;
use crate::error::TrialError;
use crate::job::Job;
use crate::settings::EngineChoice;
use crate::target::Target;
use crate::thread::{Message, Ready, Thread};
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
        let controller = Controller { job: &resolved.job, controls, messages, stop, give_up: &give_up };
        let ready = controller.await_ready(target, &mut on_progress)?;
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
            "cannot start the thread that watches the clock: {error}; let this user have more threads (`ulimit -u`)"
        ))
    })?;
    Ok(Some(watch))
}

/// How long the controller waits for a message before it looks whether it is to stop.
const LOOK_UP: Duration = Duration::from_millis(100);

/// How far it is that everything is written once that will be verified.
fn laying_out(target: &Target, job: &Job, done: u64) -> Preparation {
    let total = target.regions(job).ok().map(|regions| regions.iter().map(|region| region.bytes).sum());
    Preparation { what: "writing pages to be verified".to_owned(), done, total, unit: Unit::Bytes }
}

/// What is said of a thread that ended without a word.
const THREAD_GONE: &str = "a load thread ended unexpectedly; this is a mistake of prony's";

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
            TrialError::Engine(format!("cannot start load thread {}: {error}; use fewer threads, or let this user have more (`ulimit -u`)", number + 1))
        })?;
    Ok(Control { start, recycle })
}

struct Controller<'a> {
    job: &'a Job,
    controls: Vec<Control>,
    messages: Receiver<(usize, Message)>,
    stop: &'a AtomicBool,
    give_up: &'a AtomicBool,
}

impl Controller<'_> {
    /// Awaits every thread's engine, and that all is laid out which is to be verified. On an error all threads end, because their
    /// channels close.
    fn await_ready(
        &self,
        target: &Target,
        on_progress: &mut impl FnMut(Progress) -> Go,
    ) -> Result<Ready, TrialError> {
        let mut all = Vec::with_capacity(self.controls.len());
        let mut laid_out_bytes = 0;
        while all.len() < self.controls.len() {
            self.heed_stop();
            match self.messages.recv_timeout(LOOK_UP) {
                Ok((_, Message::Ready(ready))) => {
                    all.push(ready.inspect_err(|_| self.give_up.store(true, Ordering::Relaxed))?);
                }
                Ok((_, Message::LaidOut(bytes))) => {
                    laid_out_bytes += bytes;
                    on_progress(Progress::Preparing(laying_out(target, self.job, laid_out_bytes)));
                }
                Ok((_, Message::Ended(Err(error)))) => return Err(error),
                Err(RecvTimeoutError::Timeout) => {}
                _ => return Err(TrialError::Engine(THREAD_GONE.to_owned())),
            }
        }
        Ok(Ready::least(all))
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
                Message::Ready(_) | Message::LaidOut(_) => {}
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
