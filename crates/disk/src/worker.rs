//! The measured loop: one thread that sends I/Os when they are due and times them.
//!
//! Nothing in here allocates, locks, logs or formats while I/Os are timed. Time is read twice a round: once before a
//! batch is sent and once when answers were collected.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use load::{Arrivals, Clock, Completed, Meter, Pacing};

use crate::engine::{Completion, Engine, Kind, Operation, Wait};
use crate::job::Job;
use crate::pattern::{Blocks, Random};

/// Most I/Os that are sent with one system call.
const BATCH: usize = 16;
/// Most I/Os that are sent at once to a device that has nothing to do.
const BATCH_MIN: usize = 4;

/// A file as one thread uses it.
#[derive(Clone, Debug)]
pub(crate) struct FileWalk {
    /// First byte of the region.
    pub(crate) begin: u64,
    /// The thread's walk over the region's blocks.
    pub(crate) blocks: Blocks,
}

/// Where and when a thread's I/Os go.
pub(crate) struct Course {
    pub(crate) random: Random,
    pub(crate) files: Vec<FileWalk>,
    /// Due times; none in a closed loop.
    pub(crate) arrivals: Option<Arrivals>,
}

/// How long a thread waits at most before it looks whether it is to stop.
const LOOK_UP_NS: u64 = 100_000_000;

/// How a thread's load ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Operations that fell due in the measured window.
    pub(crate) due: u64,
    /// Operations that were sent.
    pub(crate) sent: u64,
    /// Operations that were due in the window and were not sent.
    pub(crate) unsent: u64,
    /// Operations that fell due while every slot was in flight, and were sent late for that reason.
    pub(crate) waited: u64,
}

impl Done {
    /// Adds what another thread did.
    pub(crate) fn add(&mut self, other: Self) {
        self.due += other.due;
        self.sent += other.sent;
        self.unsent += other.unsent;
        self.waited += other.waited;
    }
}

/// What ended a thread's load early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkerError {
    #[error("the I/O engine failed: {0}")]
    Engine(#[source] io::Error),
    #[error("{kind} of {bytes} bytes at offset {offset}: {error}")]
    Failed { kind: Kind, file: u32, offset: u64, bytes: u32, error: io::Error },
    #[error("{kind} at offset {offset} moved {moved} of {bytes} bytes")]
    Short { kind: Kind, file: u32, offset: u64, bytes: u32, moved: u32 },
}

impl WorkerError {
    /// The thread's file that the error is about.
    pub(crate) fn file(&self) -> Option<u32> {
        match self {
            Self::Engine(_) => None,
            Self::Failed { file, .. } | Self::Short { file, .. } => Some(*file),
        }
    }
}

/// An I/O in flight.
#[derive(Clone, Copy, Debug)]
struct Slot {
    kind: Kind,
    file: u32,
    offset: u64,
    bytes: u32,
    due_ns: Option<u64>,
    sent_ns: u64,
}

const EMPTY: Slot = Slot { kind: Kind::Read, file: 0, offset: 0, bytes: 0, due_ns: None, sent_ns: 0 };

/// One load thread.
pub(crate) struct Worker<'a, E: Engine> {
    engine: E,
    clock: E::Clock,
    meter: Meter<'a, E::Clock>,
    stop: &'a AtomicBool,
    random: Random,
    files: Vec<FileWalk>,
    next_file: usize,
    arrivals: Option<Arrivals>,
    slots: Vec<Slot>,
    /// Free slots with the time from which they may send; in the order of these times.
    free: VecDeque<(u64, u32)>,
    think_ns: u64,
    measured_from_ns: u64,
    end_ns: u64,
    block_bytes: u32,
    /// Reads if a random number of 32 bits is below this.
    read_below: u64,
    flush_every: u64,
    job_reads: bool,
    /// Writes to each file since its last flush was sent.
    unflushed: Vec<u64>,
    flushes_due: VecDeque<(u64, u32)>,
    /// Whether an operation was due in the last round and no slot was free.
    blocked: bool,
    /// What fell due before this moment waited for a slot.
    blocked_until_ns: u64,
    /// Slots pushed in this round, which share a time stamp.
    pushed: Vec<u32>,
    done: Done,
}

impl<'a, E: Engine> Worker<'a, E> {
    pub(crate) fn new(
        job: &Job,
        engine: E,
        clock: E::Clock,
        meter: Meter<'a, E::Clock>,
        stop: &'a AtomicBool,
        course: Course,
    ) -> Self {
        let Course { random, files, arrivals } = course;
        let think_ns = match job.pacing {
            Pacing::Closed { think_time } => think_time.ns,
            Pacing::Fixed { .. } | Pacing::Poisson { .. } => 0,
        };
        Self {
            engine,
            clock,
            meter,
            stop,
            random,
            unflushed: vec![0; files.len()],
            flushes_due: VecDeque::with_capacity(files.len()),
            files,
            next_file: 0,
            arrivals,
            slots: vec![EMPTY; job.outstanding as usize],
            free: (0..job.outstanding).map(|slot| (0, slot)).collect(),
            think_ns,
            measured_from_ns: job.phases.warm_up.ns,
            end_ns: job.phases.end_ns(),
            block_bytes: job.block_bytes as u32,
            read_below: (job.read_share * (1u64 << 32) as f64) as u64,
            flush_every: job.flush_every.unwrap_or(u64::MAX),
            job_reads: job.reads(),
            blocked: false,
            blocked_until_ns: 0,
            pushed: Vec::with_capacity(BATCH),
            done: Done::default(),
        }
    }

    /// Loads until the end of the window, until told to stop, or until an error.
    pub(crate) fn run(mut self) -> Result<Done, WorkerError> {
        let mut completions = Vec::with_capacity(self.slots.len());
        let all_due = self.arrivals.clone();
        let mut now_ns = self.clock.now_ns();
        let mut result = Ok(());
        while result.is_ok() && now_ns < self.end_ns && !self.stop.load(Ordering::Relaxed) {
            let wait = self.send(now_ns);
            result = self.exchange(wait, &mut completions);
            now_ns = self.clock.now_ns();
            result = result.and(self.reap(now_ns, &mut completions));
        }
        let until_ns = self.end_ns.min(now_ns);
        // A failed engine may never answer; one that failed an I/O does.
        if !matches!(result, Err(WorkerError::Engine(_))) {
            result = result.and(self.drain(&mut completions));
        }
        self.done.unsent = self.arrivals.take().map_or(0, |arrivals| arrivals.untaken_before(until_ns));
        self.done.due = all_due.map_or(0, |due| {
            due.clone().untaken_before(until_ns).saturating_sub(due.untaken_before(self.measured_from_ns))
        });
        self.meter.finish(self.clock.now_ns());
        result.map(|()| self.done)
    }

    /// Awaits what is in flight. An error does not keep the rest from being awaited.
    fn drain(&mut self, completions: &mut Vec<Completion>) -> Result<(), WorkerError> {
        let mut result = Ok(());
        while self.free.len() < self.slots.len() {
            self.exchange(Wait::One, completions)?;
            let now_ns = self.clock.now_ns();
            result = result.and(self.reap(now_ns, completions));
        }
        result
    }

    #[inline]
    fn exchange(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), WorkerError> {
        self.engine.exchange(wait, completions).map_err(WorkerError::Engine)
    }

    /// Pushes what is due, a batch at most, and says how long to wait for answers.
    #[inline]
    fn send(&mut self, now_ns: u64) -> Wait {
        self.pushed.clear();
        if self.blocked {
            self.blocked = false;
            self.blocked_until_ns = now_ns;
        }
        // A device that has little to do gets its first I/Os soon, and the rest while it works on these.
        let in_flight = self.slots.len() - self.free.len();
        let batch = in_flight.clamp(BATCH_MIN, BATCH);
        let wait = loop {
            let Some(&(ready_ns, slot)) = self.free.front() else {
                self.blocked = self.arrivals.is_some();
                break Wait::One;
            };
            let flush_due = !self.flushes_due.is_empty();
            let due_ns = self.arrivals.as_ref().map_or(0, Arrivals::next_ns);
            let next_ns = if flush_due { ready_ns } else { ready_ns.max(due_ns) };
            if next_ns > now_ns {
                break if self.pushed.is_empty() {
                    Wait::Until(next_ns.min(self.end_ns).min(now_ns + LOOK_UP_NS))
                } else {
                    Wait::No
                };
            }
            if self.pushed.len() == batch {
                break Wait::No;
            }
            self.free.pop_front();
            self.push(slot, flush_due);
        };
        let sent_ns = self.clock.now_ns();
        for &slot in &self.pushed {
            self.slots[slot as usize].sent_ns = sent_ns;
        }
        wait
    }

    #[inline]
    fn push(&mut self, slot: u32, flush_due: bool) {
        if flush_due && let Some((due_ns, file)) = self.flushes_due.pop_front() {
            let due_ns = self.arrivals.is_some().then_some(due_ns);
            return self.push_operation(
                slot,
                Slot { kind: Kind::Flush, file, offset: 0, bytes: 0, due_ns, sent_ns: 0 },
                0,
            );
        }
        let due_ns = self.arrivals.as_mut().map(Arrivals::take);
        self.done.waited += u64::from(due_ns.is_some_and(|due_ns| due_ns < self.blocked_until_ns));
        let is_read = (self.random.next() >> 32) < self.read_below;
        let file = self.next_file;
        self.next_file = if file + 1 == self.files.len() { 0 } else { file + 1 };
        let walk = &mut self.files[file];
        let block = walk.blocks.next(&mut self.random);
        let offset = walk.begin + block * u64::from(self.block_bytes);
        let (kind, memory_at) = if is_read {
            (Kind::Read, self.engine.buffers().read_at(slot))
        } else {
            (Kind::Write, self.engine.buffers().payload_at(slot))
        };
        let file = file as u32;
        self.push_operation(
            slot,
            Slot { kind, file, offset, bytes: self.block_bytes, due_ns, sent_ns: 0 },
            memory_at,
        );
    }

    #[inline]
    fn push_operation(&mut self, slot: u32, state: Slot, memory_at: usize) {
        let Slot { kind, file, offset, bytes, .. } = state;
        self.slots[slot as usize] = state;
        self.done.sent += 1;
        self.pushed.push(slot);
        self.engine.push(Operation { slot, kind, file, offset, bytes, memory_at });
    }

    /// Counts answers and frees their slots.
    #[inline]
    fn reap(&mut self, now_ns: u64, completions: &mut Vec<Completion>) -> Result<(), WorkerError> {
        self.meter.advance(now_ns);
        let mut result = Ok(());
        for completion in completions.drain(..) {
            let slot = self.slots[completion.slot as usize];
            self.free.push_back((now_ns + self.think_ns, completion.slot));
            if completion.result != slot.bytes as i32 {
                self.meter.fail(slot.kind.index(self.job_reads));
                result = result.and(Err(refused(slot, completion.result)));
                continue;
            }
            self.meter.complete(
                now_ns,
                Completed {
                    kind: slot.kind.index(self.job_reads),
                    due_ns: slot.due_ns,
                    sent_ns: slot.sent_ns,
                    bytes: u64::from(slot.bytes),
                },
            );
            if slot.kind == Kind::Write {
                let unflushed = &mut self.unflushed[slot.file as usize];
                *unflushed += 1;
                if *unflushed >= self.flush_every {
                    *unflushed = 0;
                    self.flushes_due.push_back((now_ns, slot.file));
                }
            }
        }
        result
    }
}

#[cold]
fn refused(slot: Slot, result: i32) -> WorkerError {
    let Slot { kind, file, offset, bytes, .. } = slot;
    match u32::try_from(result) {
        Ok(moved) => WorkerError::Short { kind, file, offset, bytes, moved },
        Err(_) => {
            let error = io::Error::from_raw_os_error(-result);
            WorkerError::Failed { kind, file, offset, bytes, error }
        }
    }
}
