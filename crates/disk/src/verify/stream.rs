//! What a thread writes, in which order: a pure function of its seed, its part of the files and the profile.
//!
//! It depends on no answer and on no clock, so that after a crash the same steps can be made again, and it is known what each
//! write with a number up to N wrote.

use serde::{Deserialize, Serialize};

use crate::pattern::Random;
use crate::settings::VerifyProfile;

/// Most bytes of one I/O of several pages.
const RUN_BYTES_MAX: u64 = 128 << 10;
/// Most pages of one I/O.
const RUN_PAGES_MAX: u64 = 16;
/// One of so many pages of a part is of the log, and as many can be cut off.
const ZONE: u64 = 8;
/// Parts with fewer pages have no zones.
const ZONED_PAGES_MIN: u64 = 64;
/// Hot pages are one of so many.
const HOT: u64 = 20;

/// Pages of a file that belong to one thread, as its writes see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartShape {
    pub(crate) pages: u64,
    /// Whether it ends where the file ends, which can be cut off and grow.
    pub(crate) elastic: bool,
}

/// Zones of a part: data up to the log, the log, and what can be cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zones {
    pub(crate) log: (u64, u64),
    pub(crate) elastic_from: Option<u64>,
}

impl PartShape {
    pub(crate) fn zones(self) -> Zones {
        if self.pages < ZONED_PAGES_MIN {
            return Zones { log: (0, self.pages), elastic_from: None };
        }
        let elastic_from = self.pages - if self.elastic { self.pages / ZONE } else { 0 };
        let log = (elastic_from - self.pages / ZONE, elastic_from);
        Zones { log, elastic_from: self.elastic.then_some(elastic_from) }
    }
}

/// How a load writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// Share of reads that go through the file page after page, in runs.
    pub(crate) ahead_share: f64,
    /// Share of random reads and writes that go to hot pages.
    pub(crate) hot_share: f64,
    /// Share of writes that are of the log, in order.
    pub(crate) log_share: f64,
    /// Whether each write of the log is made durable before the next write.
    pub(crate) log_flush: bool,
    /// Random writes between two checkpoints; none without.
    pub(crate) checkpoint_every: Option<u64>,
    /// Runs of a checkpoint.
    pub(crate) checkpoint_runs: u64,
    /// Writes between a growth and the next cut; none without.
    pub(crate) resize_every: Option<u64>,
    /// Writes between two flushes; none without.
    pub(crate) flush_every: Option<u64>,
    /// Most pages of one I/O.
    pub(crate) run_pages: u64,
}

impl Shape {
    pub(crate) fn of(
        profile: VerifyProfile,
        page_bytes: u64,
        flush_every: Option<u64>,
        writes_through: bool,
    ) -> Self {
        let all = Self {
            ahead_share: 0.1,
            hot_share: 0.3,
            log_share: 0.2,
            log_flush: !writes_through,
            checkpoint_every: Some(2_000),
            checkpoint_runs: 100,
            resize_every: Some(20_000),
            flush_every,
            run_pages: (RUN_BYTES_MAX / page_bytes).clamp(1, RUN_PAGES_MAX),
        };
        match profile {
            VerifyProfile::Sqliosim => all,
            VerifyProfile::Quick => {
                Self { checkpoint_every: Some(500), checkpoint_runs: 50, resize_every: Some(4_000), ..all }
            }
            VerifyProfile::Log => {
                Self { log_share: 0.95, hot_share: 0.0, checkpoint_every: None, resize_every: None, ..all }
            }
            VerifyProfile::Checkpoint => Self {
                log_share: 0.05,
                checkpoint_every: Some(200),
                checkpoint_runs: 400,
                resize_every: None,
                ..all
            },
        }
    }
}

/// Why a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It is read, checked and changed.
    Update,
    /// It is one of many that a checkpoint writes.
    Checkpoint,
    /// The log goes on.
    Log,
}

/// One step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Some pages of a part are written with one I/O.
    Write { part: usize, first: u64, pages: u64, reason: Reason },
    /// All writes before this are made durable.
    Flush,
    /// A part's end is cut off.
    Cut { part: usize },
    /// It grows again.
    Grow { part: usize },
}

/// Steps for ever.
#[derive(Clone, Debug)]
pub(crate) struct WriteStream {
    shape: Shape,
    random: Random,
    parts: Vec<Part>,
    since_flush: u64,
    since_checkpoint: u64,
    since_resize: u64,
    checkpoint: Option<Checkpoint>,
    /// Whether a flush is due before anything else.
    flush_now: bool,
}

#[derive(Clone, Debug)]
struct Part {
    shape: PartShape,
    zones: Zones,
    log_next: u64,
    is_cut: bool,
}

/// A checkpoint: runs in the order of their places.
#[derive(Clone, Copy, Debug)]
struct Checkpoint {
    part: usize,
    at: u64,
    runs_left: u64,
}

impl WriteStream {
    /// The steps of a thread with these parts, of which it has at least one.
    pub(crate) fn new(shape: Shape, parts: &[PartShape], seed: u64, thread: u64) -> Self {
        let part = |shape: &PartShape| {
            let zones = shape.zones();
            Part { shape: *shape, zones, log_next: zones.log.0, is_cut: false }
        };
        Self {
            shape,
            random: Random::new(seed, WRITE_STREAMS + thread),
            parts: parts.iter().map(part).collect(),
            since_flush: 0,
            since_checkpoint: 0,
            since_resize: 0,
            checkpoint: None,
            flush_now: false,
        }
    }

    /// Pages of a part that exist now.
    pub(crate) fn pages(&self, part: usize) -> u64 {
        let part = &self.parts[part];
        part.zones.elastic_from.filter(|_| part.is_cut).unwrap_or(part.shape.pages)
    }

    /// The next step.
    pub(crate) fn next(&mut self) -> Step {
        let is_due = |since: u64, every: Option<u64>| every.is_some_and(|every| since >= every);
        if self.flush_now || is_due(self.since_flush, self.shape.flush_every) {
            (self.flush_now, self.since_flush) = (false, 0);
            return Step::Flush;
        }
        if let Some(resize) = self.resize() {
            return resize;
        }
        self.since_flush += 1;
        self.since_resize += 1;
        if let Some(checkpoint) = self.checkpoint {
            return self.checkpoint_run(checkpoint);
        }
        let part = self.random.below(self.parts.len() as u64) as usize;
        if self.random.unit() < self.shape.log_share {
            return self.log_run(part);
        }
        self.since_checkpoint += 1;
        if is_due(self.since_checkpoint, self.shape.checkpoint_every) {
            self.since_checkpoint = 0;
            let at = self.random.below(self.pages(part));
            self.checkpoint = Some(Checkpoint { part, at, runs_left: self.shape.checkpoint_runs });
        }
        let live = self.pages(part);
        let first = hot_or_any(&mut self.random, live, self.shape.hot_share);
        Step::Write { part, first, pages: 1, reason: Reason::Update }
    }

    fn resize(&mut self) -> Option<Step> {
        let every = self.shape.resize_every?;
        let cut = self.parts.iter().position(|part| part.is_cut);
        if let (Some(part), true) = (cut, self.since_resize >= every / 4) {
            self.since_resize = 0;
            self.parts[part].is_cut = false;
            return Some(Step::Grow { part });
        }
        let elastic = self.parts.iter().position(|part| part.zones.elastic_from.is_some());
        // A checkpoint goes on in pages that were there when it began.
        let may_cut = cut.is_none() && self.checkpoint.is_none() && self.since_resize >= every;
        let part = elastic.filter(|_| may_cut)?;
        self.since_resize = 0;
        self.parts[part].is_cut = true;
        Some(Step::Cut { part })
    }

    fn checkpoint_run(&mut self, checkpoint: Checkpoint) -> Step {
        let Checkpoint { part, at, runs_left } = checkpoint;
        let live = self.pages(part);
        let first = if at < live { at } else { 0 };
        let pages = self.run(live - first);
        let gap = self.random.below(live / self.shape.checkpoint_runs.max(1) + 1);
        self.checkpoint =
            (runs_left > 1).then_some(Checkpoint { part, at: first + pages + gap, runs_left: runs_left - 1 });
        self.flush_now = self.checkpoint.is_none();
        Step::Write { part, first, pages, reason: Reason::Checkpoint }
    }

    fn log_run(&mut self, part: usize) -> Step {
        let (begin, end) = self.parts[part].zones.log;
        let first = self.parts[part].log_next;
        let pages = self.run(end - first);
        self.parts[part].log_next = if first + pages == end { begin } else { first + pages };
        self.flush_now = self.shape.log_flush;
        Step::Write { part, first, pages, reason: Reason::Log }
    }

    /// Pages of one I/O, of so many that there are from its first on.
    fn run(&mut self, left: u64) -> u64 {
        1 + self.random.below(self.shape.run_pages.min(left))
    }
}

/// Streams of random numbers of writes; those of reads, patterns and arrivals are others.
const WRITE_STREAMS: u64 = 1 << 42;

/// A page of so many; the hot ones, more often.
pub(crate) fn hot_or_any(random: &mut Random, pages: u64, hot_share: f64) -> u64 {
    let is_hot = hot_share > 0.0 && random.unit() < hot_share;
    random.below(if is_hot { (pages / HOT).max(1) } else { pages })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn profiles() -> impl Strategy<Value = VerifyProfile> {
        prop::sample::select(vec![
            VerifyProfile::Sqliosim,
            VerifyProfile::Log,
            VerifyProfile::Checkpoint,
            VerifyProfile::Quick,
        ])
    }

    proptest! {
        #[test]
        fn steps_stay_within_what_is_there_and_are_the_same_each_time(
            profile in profiles(),
            pages in prop::collection::vec(1u64..500, 1..4),
            seed in any::<u64>(),
        ) {
            let shape = Shape { resize_every: Some(50), ..Shape::of(profile, 8192, None, false) };
            let parts: Vec<PartShape> = pages.iter().map(|&pages| PartShape { pages, elastic: true }).collect();
            let mut stream = WriteStream::new(shape, &parts, seed, 3);
            let mut again = WriteStream::new(shape, &parts, seed, 3);
            for _ in 0..2_000 {
                let live: Vec<u64> = (0..parts.len()).map(|part| stream.pages(part)).collect();
                let step = stream.next();
                prop_assert_eq!(step, again.next());
                if let Step::Write { part, first, pages, .. } = step {
                    prop_assert!(pages >= 1 && pages <= shape.run_pages && first + pages <= live[part], "{step:?} of {live:?}");
                }
            }
        }
    }

    fn counts(profile: VerifyProfile, flush_every: Option<u64>) -> [u64; 6] {
        let shape = Shape::of(profile, 8192, flush_every, false);
        let mut stream = WriteStream::new(shape, &[PartShape { pages: 10_000, elastic: true }], 1, 0);
        let mut counts = [0; 6];
        for _ in 0..100_000 {
            counts[match stream.next() {
                Step::Write { reason: Reason::Update, .. } => 0,
                Step::Write { reason: Reason::Checkpoint, .. } => 1,
                Step::Write { reason: Reason::Log, .. } => 2,
                Step::Flush => 3,
                Step::Cut { .. } => 4,
                Step::Grow { .. } => 5,
            }] += 1;
        }
        counts
    }

    #[test]
    fn profiles_write_what_they_are_called_after() {
        let [updates, checkpoint, log, flushes, cut, grown] = counts(VerifyProfile::Sqliosim, None);
        assert!(
            updates > log && log > checkpoint && checkpoint > 1_000 && flushes >= log,
            "{updates} {log} {checkpoint}"
        );
        assert!(cut >= 2 && cut - grown <= 1, "{cut} {grown}");
        let [updates, _, log, ..] = counts(VerifyProfile::Log, None);
        assert!(log > 10 * updates, "{log} {updates}");
        let [updates, checkpoint, ..] = counts(VerifyProfile::Checkpoint, None);
        assert!(checkpoint > updates, "{checkpoint} {updates}");
        let [.., flushes, _, _] = counts(VerifyProfile::Checkpoint, Some(5));
        assert!(flushes > 15_000, "{flushes}");
    }
}
