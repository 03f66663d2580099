//! The buffer between the source of events and the writers: bounded, sorted if asked, and the measure of what is pending.
//!
//! Memory is taken once, for as many events as may be pending. Events go in and out by whole batches under one lock, so
//! that the lock costs next to nothing for each. A buffer knows no database: what was taken is pending until somebody
//! says that it was committed.

use std::collections::{BinaryHeap, VecDeque};
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use load::{Phases, lock};
use tokio::sync::Notify;

use super::pending::{Gauge, Pending, Spread};
use crate::clock::Clock;

/// Sorted events are looked at so often: timers of tokio are no finer.
const RIPENING_NS: u64 = 1_000_000;

/// A change of a tag's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Event {
    /// Microseconds since 1970, never going back within a trial.
    pub(crate) time_us: i64,
    /// When it was due, in nanoseconds since the load began.
    pub(crate) due_ns: u64,
    pub(crate) value: f64,
    /// Number of its tag.
    pub(crate) tag: u32,
    pub(crate) quality: u8,
}

/// What [`super::job::BUFFERED_MAX`] is reckoned with.
const _: () = assert!(size_of::<Event>() == 32);

/// What a buffer holds, and when it gives it away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most events that are pending: queued, or taken and not committed.
    pub(crate) max_events: usize,
    /// Rows of a full flush.
    pub(crate) flush_rows: usize,
    /// Age at which fewer are given.
    pub(crate) flush_interval_ns: u64,
    /// Age before which none is given.
    pub(crate) sorting_ns: u64,
}

#[derive(Debug)]
pub(crate) struct Buffer {
    limits: Limits,
    state: Mutex<State>,
    /// Something can be taken.
    filled: Notify,
    /// There is room again.
    emptied: Notify,
    /// Everything due before this was offered.
    passed_ns: AtomicU64,
}

/// Whether a batch could be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    /// It was.
    Taken,
    /// Not yet; at this moment, if something is queued.
    Wait { until_ns: Option<u64> },
    /// Nothing is left, and nothing more comes.
    Drained,
}

#[derive(Debug)]
struct State {
    /// Events that wait to be sorted; only used if they do.
    unsorted: BinaryHeap<ByTime>,
    /// Events that can be taken, in order.
    queue: VecDeque<Event>,
    pending: Pending,
    /// Writers that wait.
    waiting: usize,
    /// Whether the source waits for room.
    source_waits: bool,
    /// When the source ended.
    ended: bool,
    /// When it had ended and nothing was pending.
    drained_ns: Option<u64>,
}

/// Earliest first, then by tag.
#[derive(Clone, Copy, Debug)]
struct ByTime(Event);

impl Buffer {
    pub(crate) fn new(limits: Limits, phases: Phases) -> Self {
        let unsorted = if limits.sorting_ns > 0 { limits.max_events } else { 0 };
        let state = State {
            unsorted: BinaryHeap::with_capacity(unsorted),
            queue: VecDeque::with_capacity(limits.max_events),
            pending: Pending::new(phases),
            waiting: 0,
            source_waits: false,
            ended: false,
            drained_ns: None,
        };
        Self {
            limits,
            state: Mutex::new(state),
            filled: Notify::new(),
            emptied: Notify::new(),
            passed_ns: AtomicU64::new(0),
        }
    }

    /// Offers events in the order in which they were due. Gives how many were accepted: the first ones. The rest is
    /// refused.
    pub(crate) fn offer(&self, events: &[Event], now_ns: u64) -> usize {
        let mut state = lock(&self.state);
        let level = state.pending.level();
        let accepted = events.len().min(self.limits.max_events - level as usize);
        state.pending.set(level + accepted as u64, now_ns);
        state.count_offered(events, accepted);
        let was_empty = state.unsorted.is_empty() && state.queue.is_empty();
        if self.limits.sorting_ns > 0 {
            state.unsorted.extend(events[..accepted].iter().copied().map(ByTime));
        } else {
            state.queue.extend(&events[..accepted]);
        }
        // A full flush is taken at once; the first event of a partial one sets somebody's timer.
        let useful = was_empty || state.queue.len() >= self.limits.flush_rows;
        let wake = useful && accepted > 0 && state.waiting > 0;
        drop(state);
        if wake {
            self.filled.notify_one();
        }
        accepted
    }

    /// Waits until events are accepted, and gives how many.
    pub(crate) async fn room(&self) -> usize {
        let mut emptied = pin!(self.emptied.notified());
        loop {
            if let Some(room) = self.room_or_wait() {
                return room;
            }
            emptied.as_mut().await;
            emptied.set(self.emptied.notified());
        }
    }

    /// Waits until a batch can be taken, and takes it. False once nothing is left and nothing more comes.
    pub(crate) async fn take(&self, clock: Clock, batch: &mut Vec<Event>) -> bool {
        match self.try_take(clock.now_ns(), batch) {
            Take::Taken => return true,
            Take::Drained => return false,
            Take::Wait { .. } => {}
        }
        let _waiting = Waiting::new(self);
        loop {
            let mut filled = pin!(self.filled.notified());
            // Registered before the look, so that nothing that happens in between is missed.
            filled.as_mut().enable();
            match self.try_take(clock.now_ns(), batch) {
                Take::Taken => return true,
                Take::Drained => return false,
                Take::Wait { until_ns: None } => filled.await,
                Take::Wait { until_ns: Some(until_ns) } => {
                    tokio::select! {
                        () = filled => {}
                        () = clock.until_about(until_ns) => {}
                    }
                }
            }
        }
    }

    /// Takes up to a full flush into an empty batch, if that many can be taken, or the oldest has waited long enough, or
    /// nothing more comes.
    pub(crate) fn try_take(&self, now_ns: u64, batch: &mut Vec<Event>) -> Take {
        let mut state = lock(&self.state);
        state.ripen(&self.limits, now_ns);
        let due = state.queue.front().map(|oldest| self.limits.flush_at_ns(oldest));
        let full = state.queue.len() >= self.limits.flush_rows;
        if !full && !state.ended && due.is_none_or(|due_ns| due_ns > now_ns) {
            let ripe_ns = state.unsorted.peek().map(|first| self.limits.ripe_at_ns(&first.0, now_ns));
            return Take::Wait { until_ns: due.into_iter().chain(ripe_ns).min() };
        }
        let rows = state.queue.len().min(self.limits.flush_rows);
        if rows == 0 {
            return Take::Drained;
        }
        let (front, back) = state.queue.as_slices();
        batch.extend_from_slice(&front[..rows.min(front.len())]);
        batch.extend_from_slice(&back[..rows - rows.min(front.len())]);
        state.queue.drain(..rows);
        // What is left needs somebody to wait for it while this batch is being written.
        let wake = state.waiting > 0 && !(state.queue.is_empty() && state.unsorted.is_empty());
        drop(state);
        if wake {
            self.filled.notify_one();
        }
        Take::Taken
    }

    /// Rows that were taken are committed: they are pending no more.
    pub(crate) fn committed(&self, rows: usize, now_ns: u64) {
        let mut state = lock(&self.state);
        let level = state.pending.level() - rows as u64;
        state.pending.set(level, now_ns);
        state.note_drained(now_ns);
        let room = self.limits.max_events - level as usize;
        let wake = state.source_waits && room >= self.limits.room_worth_telling();
        if wake {
            state.source_waits = false;
        }
        drop(state);
        if wake {
            self.emptied.notify_one();
        }
    }

    /// No more events come: what is queued can be taken, whatever its age.
    pub(crate) fn end(&self, now_ns: u64) {
        let mut state = lock(&self.state);
        state.ended = true;
        state.note_drained(now_ns);
        drop(state);
        self.passed(u64::MAX);
        self.filled.notify_waiters();
    }

    /// Everything that is due before this was offered.
    pub(crate) fn passed(&self, due_ns: u64) {
        self.passed_ns.store(due_ns, Ordering::Release);
    }

    /// When nothing was pending any more after the source had ended.
    pub(crate) fn drained_ns(&self) -> Option<u64> {
        lock(&self.state).drained_ns
    }

    /// See [`Pending::take_closed`].
    pub(crate) fn take_closed(&self, now_ns: u64) -> Option<Gauge> {
        let passed_ns = self.passed_ns.load(Ordering::Acquire);
        lock(&self.state).pending.take_closed(now_ns, passed_ns)
    }

    /// See [`Pending::finish`].
    pub(crate) fn finish(&self, now_ns: u64) -> Vec<Gauge> {
        lock(&self.state).pending.finish(now_ns)
    }

    /// See [`Pending::end_load`].
    pub(crate) fn end_load(&self, now_ns: u64) {
        lock(&self.state).pending.end_load(now_ns);
    }

    /// See [`Pending::watch`].
    pub(crate) fn watch(&self, now_ns: u64) {
        lock(&self.state).pending.watch(now_ns);
    }

    /// See [`Pending::watched`].
    pub(crate) fn watched(&self, now_ns: u64) -> Option<Spread> {
        lock(&self.state).pending.watched(now_ns)
    }

    fn room_or_wait(&self) -> Option<usize> {
        let mut state = lock(&self.state);
        let room = self.limits.max_events - state.pending.level() as usize;
        state.source_waits = room == 0;
        (room > 0).then_some(room)
    }
}

/// A writer that waits, as long as this lives.
struct Waiting<'a>(&'a Buffer);

impl<'a> Waiting<'a> {
    fn new(buffer: &'a Buffer) -> Self {
        lock(&buffer.state).waiting += 1;
        Self(buffer)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).waiting -= 1;
    }
}

impl Limits {
    fn flush_at_ns(&self, oldest: &Event) -> u64 {
        oldest.due_ns + self.sorting_ns + self.flush_interval_ns
    }

    fn ripe_at_ns(&self, event: &Event, now_ns: u64) -> u64 {
        (event.due_ns + self.sorting_ns).max(now_ns + RIPENING_NS)
    }

    /// A source that is woken for each flush makes many small batches, each after others had its caches; one that is woken too
    /// late lets writers wait.
    fn room_worth_telling(&self) -> usize {
        (self.max_events / 2).min(self.flush_rows.max(8_192)).max(1)
    }
}

impl State {
    /// Moves what has waited long enough to the queue.
    fn ripen(&mut self, limits: &Limits, now_ns: u64) {
        while let Some(first) = self.unsorted.peek() {
            if !self.ended && first.0.due_ns + limits.sorting_ns > now_ns {
                break;
            }
            self.queue.extend(self.unsorted.pop().map(|first| first.0));
        }
    }

    /// Counts events by the interval in which they were due. A batch mostly lies in one.
    fn count_offered(&mut self, events: &[Event], accepted: usize) {
        let mut start = 0;
        while let Some(first) = events.get(start) {
            let until_ns = self.pending.counts_until_ns(first.due_ns);
            let is_in_one = events.last().is_some_and(|last| last.due_ns < until_ns);
            let length = if is_in_one {
                events.len() - start
            } else {
                events[start..].partition_point(|event| event.due_ns < until_ns).max(1)
            };
            let end = start + length;
            self.pending.offered(first.due_ns, length as u64, (end - end.min(accepted.max(start))) as u64);
            start = end;
        }
    }

    fn note_drained(&mut self, now_ns: u64) {
        if self.ended && self.pending.level() == 0 && self.drained_ns.is_none() {
            self.drained_ns = Some(now_ns);
        }
    }
}

impl PartialEq for ByTime {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByTime {}

impl PartialOrd for ByTime {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByTime {
    /// Reversed, because a heap gives the greatest first.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.0.time_us, other.0.tag).cmp(&(self.0.time_us, self.0.tag))
    }
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
