//! The verifying load of one thread: reads whose every page is checked as it arrives, writes in the order of a stream that can be
//! made again, and audits that read everything.
//!
//! As in the measured loop of a plain disk test, nothing allocates, locks, logs or formats while all is well. What is found is
//! looked at once more on the spot, which takes as long as it takes.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use std::time::{SystemTime, UNIX_EPOCH};

use load::{Clock, Meter, MonotonicClock};
use record::Damage;
use record::verify::{FileMap, MAP_PARTS_MAX, Verified};

use super::evidence::{Evidence, Spot};
use super::journal::Journal;
use super::pass::{Pass, Told};
use super::send::{AHEAD, Drawn};
use super::state::PageState;
use super::stream::{PartShape, Shape, Step, WriteStream};
use super::volume::Volume;
use crate::engine::{Completion, Engine, Wait};
use crate::pattern::{Blocks, Random};

/// How long a thread waits at most before it looks whether something takes too long, and whether it is to stop.
pub(super) const LOOK_UP_NS: u64 = 100_000_000;
/// Errors without an answer between them after which a thread gives up: what it works on is gone.
pub(super) const ERRORS_MAX: u32 = 1_000;

/// Pages of one file that one thread has for itself.
pub(crate) struct Part {
    /// Index into the thread's open files.
    pub(crate) file: u32,
    /// Number of the file in the target.
    pub(crate) number: u32,
    pub(crate) path: String,
    /// Offset of the region's first page in the file.
    pub(crate) begin: u64,
    /// First page of the part within the region.
    pub(crate) first: u64,
    pub(crate) shape: PartShape,
    /// Where the reads of a given pattern go.
    pub(crate) blocks: Option<Blocks>,
}

/// What a thread is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub(crate) run: u128,
    pub(crate) thread: u32,
    pub(crate) page_bytes: u32,
    pub(crate) shape: Shape,
    /// Share of I/Os that read, 0–1.
    pub(crate) read_share: f64,
    pub(crate) outstanding: u32,
    pub(crate) seed: u64,
    pub(crate) stall_ns: u64,
    pub(crate) audit_every_ns: u64,
    /// When the measured window ends.
    pub(crate) end_ns: u64,
}

/// A part while it is loaded.
pub(super) struct Loaded {
    pub(super) part: Part,
    pub(super) states: Vec<PageState>,
    /// Where the reads that go page after page are.
    pub(super) ahead: u64,
    /// Whether its end is cut off. The stream may be a step ahead.
    pub(super) is_cut: bool,
    /// Of equal parts of it: pages in which damage was found.
    pub(super) damaged: Vec<u64>,
}

impl Loaded {
    /// Pages that are there.
    pub(super) fn live(&self) -> u64 {
        let shape = self.part.shape;
        shape.zones().elastic_from.filter(|_| self.is_cut).unwrap_or(shape.pages)
    }

    /// The equal part of it to which a page belongs.
    pub(super) fn bucket(&self, page: u64) -> usize {
        (page as usize * self.damaged.len() / self.states.len()).min(self.damaged.len() - 1)
    }
}

/// Why an I/O was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Read,
    Audit,
    /// The page is read and then written.
    Update,
    Write,
    LayOut,
    Flush,
}

/// An I/O in flight, or a slot that is free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) purpose: Purpose,
    pub(super) part: usize,
    pub(super) first: u64,
    pub(super) pages: u64,
    pub(super) sequence: u64,
    /// When it was sent; no time has passed before.
    pub(super) sent_ns: u64,
    pub(super) is_busy: bool,
    pub(super) lateness: Lateness,
}

/// What was told of an I/O that takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lateness {
    pub(super) is_slow: bool,
    pub(super) is_stalled: bool,
    /// Its number among those that took long, if there was room for one more.
    pub(super) number: Option<usize>,
    /// The number of the finding, if there was room for one.
    pub(super) finding: Option<usize>,
}

const ON_TIME: Lateness = Lateness { is_slow: false, is_stalled: false, number: None, finding: None };

pub(super) const FREE: Slot = Slot {
    purpose: Purpose::Read,
    part: 0,
    first: 0,
    pages: 0,
    sequence: 0,
    sent_ns: u64::MAX,
    is_busy: false,
    lateness: ON_TIME,
};

/// A flush of all files of the thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flushing {
    /// Writes up to this are durable once all are answered.
    pub(super) sequence: u64,
    pub(super) next_part: usize,
    pub(super) answers_left: usize,
    pub(super) has_failed: bool,
}

/// What ends a verifying thread early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VerifyError {
    #[error("the I/O engine failed: {0}")]
    Engine(#[source] io::Error),
    #[error("the journal cannot be written: {0}. All writes sent so far are recorded in it")]
    Journal(#[source] io::Error),
    #[error(
        "{path}: cannot restore its length of {bytes} bytes: {error}. Free some space on the file system"
    )]
    Resize { path: String, bytes: u64, error: io::Error },
    #[error("{path}: cannot be written before the load: {error}")]
    LayOut { path: String, error: String },
    #[error("{path}: {ERRORS_MAX} I/Os in a row failed. Last error: {error}")]
    Gone { path: String, error: String },
}

/// One verifying thread.
pub(crate) struct Verifier<'a, E: Engine, V, J> {
    pub(super) engine: E,
    pub(super) clock: E::Clock,
    pub(super) meter: Option<Meter<'a, E::Clock>>,
    pub(super) stop: &'a AtomicBool,
    pub(super) tell: &'a dyn Fn(Told),
    pub(super) volume: V,
    pub(super) journal: J,
    pub(super) task: Task,
    /// What the clock's zero is in nanoseconds since 1970.
    pub(super) wall_ns: u64,
    pub(super) parts: Vec<Loaded>,
    pub(super) stream: WriteStream,
    pub(super) step: Option<Step>,
    pub(super) random: Random,
    pub(super) next_part: usize,
    /// Reads to come, each in its turn, and how many were drawn.
    pub(super) drawn: [Drawn; AHEAD],
    pub(super) draws: usize,
    pub(super) slots: Vec<Slot>,
    pub(super) free: Vec<u32>,
    pub(super) pushed: Vec<u32>,
    pub(super) writes_in_flight: u64,
    pub(super) sequence: u64,
    pub(super) reserved: u64,
    pub(super) flushing: Option<Flushing>,
    /// Whether a write or flush failed, after which nothing more is promised to be durable.
    pub(super) is_frozen: bool,
    pub(super) errors_together: u32,
    pub(super) evidence: Evidence,
    pub(super) found: Verified,
    /// Whether what is in flight is part of an audit or a layout, and sent by nothing else.
    pub(super) pass: Option<Pass>,
    /// Bytes that were walked over and not told yet.
    pub(super) untold_bytes: u64,
    pub(super) seen: Vec<u8>,
    pub(super) again: Vec<u8>,
    next_look_ns: u64,
}

impl<'a, E: Engine, V: Volume, J: Journal> Verifier<'a, E, V, J> {
    /// A thread with these parts, at least one, of at least a page each.
    pub(crate) fn new(
        engine: E,
        clock: E::Clock,
        (volume, journal): (V, J),
        task: Task,
        parts: Vec<Part>,
        stop: &'a AtomicBool,
        tell: &'a dyn Fn(Told),
    ) -> Self {
        let shapes: Vec<PartShape> = parts.iter().map(|part| part.shape).collect();
        let loaded = |part: Part| Loaded {
            states: vec![PageState::default(); part.shape.pages as usize],
            ahead: 0,
            is_cut: false,
            damaged: vec![0; MAP_PARTS_MAX.min(part.shape.pages as usize)],
            part,
        };
        let bytes = task.page_bytes as usize;
        Self {
            engine,
            clock,
            meter: None,
            wall_ns: wall_ns(),
            stop,
            tell,
            volume,
            journal,
            stream: WriteStream::new(task.shape, &shapes, task.seed, u64::from(task.thread)),
            step: None,
            random: Random::new(task.seed, 2 * u64::from(task.thread)),
            next_part: 0,
            drawn: [Drawn::default(); AHEAD],
            draws: 0,
            slots: vec![FREE; task.outstanding as usize],
            free: (0..task.outstanding).rev().collect(),
            pushed: Vec::with_capacity(task.outstanding as usize),
            writes_in_flight: 0,
            sequence: 0,
            reserved: 0,
            flushing: None,
            is_frozen: false,
            errors_together: 0,
            evidence: Evidence::default(),
            found: Verified::default(),
            pass: None,
            untold_bytes: 0,
            seen: vec![0; bytes],
            again: vec![0; bytes],
            next_look_ns: 0,
            parts: parts.into_iter().map(loaded).collect(),
            task,
        }
    }

    /// Takes the clock of all threads, which begins now, and gives the engine's.
    pub(crate) fn begin(&mut self, start: MonotonicClock) -> E::Clock {
        self.clock = self.engine.start(start);
        self.wall_ns = wall_ns().saturating_sub(self.clock.now_ns());
        self.next_look_ns = 0;
        self.clock.clone()
    }

    /// Loads until the end of the window or until it is told to stop, and then looks at everything once more. What was found is
    /// given however it ends.
    ///
    /// # Errors
    /// When the engine or the journal fails. That what is verified is gone is a finding, and the end.
    pub(crate) fn run(mut self, meter: Meter<'a, E::Clock>) -> (Verified, Result<(), VerifyError>) {
        self.meter = Some(meter);
        let ended = self.load();
        // An engine that failed may never answer.
        let ended = match ended {
            Err(error @ VerifyError::Engine(_)) => Err(error),
            other => self.finish(other),
        };
        let now_ns = self.clock.now_ns();
        // Of a load that did not come to its end.
        if let Some(meter) = self.meter.take() {
            meter.finish(now_ns);
        }
        let ended = match ended {
            Err(
                error @ (VerifyError::Gone { .. } | VerifyError::Resize { .. } | VerifyError::LayOut { .. }),
            ) => {
                let spot = Spot { at_ns: now_ns, ..self.nowhere() };
                self.evidence.io(Damage::Failed, spot, error.to_string());
                Ok(())
            }
            other => other,
        };
        (self.verified(), ended)
    }

    fn load(&mut self) -> Result<(), VerifyError> {
        let mut completions = Vec::with_capacity(self.slots.len());
        let mut now_ns = self.clock.now_ns();
        let mut audit_ns = self.task.audit_every_ns;
        while now_ns < self.task.end_ns && !self.stop.load(Ordering::Relaxed) {
            if now_ns >= audit_ns {
                self.audit_within_load()?;
                audit_ns = self.clock.now_ns() + self.task.audit_every_ns;
            }
            let wait = self.send(now_ns)?;
            now_ns = self.exchange(wait, &mut completions)?;
        }
        Ok(())
    }

    pub(super) fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Sends what was pushed, waits, and deals with what was answered; the time then.
    #[inline]
    pub(super) fn exchange(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<u64, VerifyError> {
        self.stamp();
        self.engine.exchange(wait, completions).map_err(VerifyError::Engine)?;
        let now_ns = self.clock.now_ns();
        if let Some(meter) = &mut self.meter {
            meter.advance(now_ns);
        }
        let mut answered = Ok(());
        // What was answered with it is free as well, whatever went wrong with one.
        self.ask_for_states(completions);
        self.ask_for_pages(completions.first());
        for number in 0..completions.len() {
            self.ask_for_pages(completions.get(number + 1));
            let completion = completions[number];
            answered = answered.and(self.answered(completion, now_ns));
        }
        completions.clear();
        answered?;
        if now_ns >= self.next_look_ns {
            self.next_look_ns = now_ns + LOOK_UP_NS;
            self.look_at_times(now_ns);
        }
        Ok(now_ns)
    }

    /// What was pushed is sent now.
    #[inline]
    fn stamp(&mut self) {
        if self.pushed.is_empty() {
            return;
        }
        let sent_ns = self.clock.now_ns();
        for &slot in &self.pushed {
            self.slots[slot as usize].sent_ns = sent_ns;
        }
        self.pushed.clear();
    }

    /// What is of no page.
    pub(super) fn nowhere(&self) -> Spot {
        Spot { path: self.parts[0].part.path.clone(), offset: 0, page: 0, bytes: 0, at_ns: 0 }
    }

    fn verified(self) -> Verified {
        let (damage, findings) = self.evidence.settle();
        let maps: Vec<FileMap> = self.parts.iter().map(file_map).collect();
        let states = || self.parts.iter().flat_map(|loaded| &loaded.states);
        Verified {
            page_bytes: u64::from(self.task.page_bytes),
            pages: states().count() as u64,
            checked: states().filter(|state| state.checks() > 0).count() as u64,
            checks_least: states().map(|state| state.checks()).min().unwrap_or(0),
            stall_s: self.task.stall_ns as f64 / 1e9,
            damage,
            findings,
            map: maps,
            ..self.found
        }
    }
}

fn wall_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

fn file_map(loaded: &Loaded) -> FileMap {
    let buckets = loaded.damaged.len();
    let (mut sums, mut counts) = (vec![0.0; buckets], vec![0.0; buckets]);
    for (page, state) in loaded.states.iter().enumerate() {
        let bucket = loaded.bucket(page as u64);
        sums[bucket] += state.checks() as f64;
        counts[bucket] += 1.0;
    }
    FileMap {
        path: loaded.part.path.clone(),
        first: loaded.part.first,
        pages: loaded.states.len() as u64,
        checked: loaded.states.iter().filter(|state| state.checks() > 0).count() as u64,
        damaged: loaded.damaged.clone(),
        checks: sums.iter().zip(&counts).map(|(sum, count): (&f64, &f64)| sum / count.max(1.0)).collect(),
    }
}
