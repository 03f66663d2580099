//! How many events are pending, over time: fewest, most and mean of each interval, exact to each change.
//!
//! Events that were offered or refused are counted in the interval in which they were due, which a late source reaches
//! only after its end. Hence an interval is given out once the source says that it has passed it.

use std::collections::VecDeque;

use load::{Cut, Phases};

/// A source that is later than this is not waited for: what it still offers counts in the intervals that are left.
const GRACE_NS: u64 = 2_000_000_000;

/// The pending events of a buffer, over time.
#[derive(Debug)]
pub(crate) struct Pending {
    level: u64,
    current: Gauge,
    held: VecDeque<Gauge>,
    watch: Option<Spread>,
}

/// One interval.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    cut: Cut,
    pub(crate) pending: Spread,
    /// Events due in it.
    pub(crate) offered: u64,
    /// Those of them that were refused.
    pub(crate) refused: u64,
}

/// A level over some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) min: u64,
    pub(crate) max: u64,
    /// Level times time, in events × nanoseconds. A hundred million events over a year stay below 2^128.
    area: u128,
    length_ns: u64,
    changed_ns: u64,
}

impl Pending {
    pub(crate) fn new(phases: Phases) -> Self {
        let current = Gauge { cut: Cut::new(phases), pending: Spread::new(0, 0), offered: 0, refused: 0 };
        Self { level: 0, current, held: VecDeque::with_capacity(16), watch: None }
    }

    /// Events that are pending now.
    pub(crate) fn level(&self) -> u64 {
        self.level
    }

    /// The level changes at `now_ns`.
    pub(crate) fn set(&mut self, level: u64, now_ns: u64) {
        self.advance(now_ns);
        self.current.pending.change(self.level, level, now_ns);
        if let Some(watch) = &mut self.watch {
            watch.change(self.level, level, now_ns);
        }
        self.level = level;
    }

    /// Counts events that were due at `due_ns`.
    pub(crate) fn offered(&mut self, due_ns: u64, offered: u64, refused: u64) {
        let gauge = self.due_in(due_ns);
        gauge.offered += offered;
        gauge.refused += refused;
    }

    /// End of the interval in which something due at `due_ns` counts.
    pub(crate) fn counts_until_ns(&mut self, due_ns: u64) -> u64 {
        self.due_in(due_ns).end_ns()
    }

    /// The load ends at `now_ns` and not when it was to.
    pub(crate) fn end_load(&mut self, now_ns: u64) {
        self.advance(now_ns);
        self.current.cut.end_load(now_ns);
        self.advance(now_ns);
    }

    /// The next interval that ended by `now_ns`, if the source has passed its end.
    pub(crate) fn take_closed(&mut self, now_ns: u64, passed_ns: u64) -> Option<Gauge> {
        self.advance(now_ns);
        let end_ns = self.held.front()?.end_ns();
        if end_ns <= passed_ns || end_ns + GRACE_NS <= now_ns { self.held.pop_front() } else { None }
    }

    /// What is left: all closed intervals, and the open one up to `now_ns`.
    pub(crate) fn finish(&mut self, now_ns: u64) -> Vec<Gauge> {
        self.set(self.level, now_ns);
        self.held.drain(..).chain([self.current.clone()]).collect()
    }

    /// Begins to watch the level for a time of its own, beside the intervals.
    pub(crate) fn watch(&mut self, now_ns: u64) {
        self.watch = Some(Spread::new(self.level, now_ns));
    }

    /// What was watched since [`Pending::watch`].
    pub(crate) fn watched(&mut self, now_ns: u64) -> Option<Spread> {
        let mut watch = self.watch.take()?;
        watch.change(self.level, self.level, now_ns);
        Some(watch)
    }

    fn advance(&mut self, now_ns: u64) {
        while now_ns >= self.current.end_ns() {
            let end_ns = self.current.end_ns();
            self.current.pending.change(self.level, self.level, end_ns);
            let cut = self.current.cut.next();
            let next = Gauge { cut, pending: Spread::new(self.level, end_ns), offered: 0, refused: 0 };
            self.held.push_back(std::mem::replace(&mut self.current, next));
        }
    }

    fn due_in(&mut self, due_ns: u64) -> &mut Gauge {
        if due_ns >= self.current.cut.start_ns() || self.held.is_empty() {
            return &mut self.current;
        }
        let after = self.held.partition_point(|gauge| gauge.cut.start_ns() <= due_ns);
        &mut self.held[after.saturating_sub(1)]
    }
}

impl Gauge {
    /// End, in nanoseconds since the load began.
    pub(crate) fn end_ns(&self) -> u64 {
        self.cut.end_ns()
    }

    /// Adds the interval that follows.
    pub(crate) fn join(&mut self, next: &Self) {
        self.pending.join(&next.pending);
        self.offered += next.offered;
        self.refused += next.refused;
    }
}

impl Spread {
    fn new(level: u64, now_ns: u64) -> Self {
        Self { min: level, max: level, area: 0, length_ns: 0, changed_ns: now_ns }
    }

    /// Mean over the time; the level itself over no time.
    pub(crate) fn mean(&self) -> f64 {
        if self.length_ns == 0 { self.min as f64 } else { self.area as f64 / self.length_ns as f64 }
    }

    fn change(&mut self, from: u64, to: u64, now_ns: u64) {
        // Whoever waited for the lock comes with a moment that is past.
        let length_ns = now_ns.saturating_sub(self.changed_ns);
        self.area += u128::from(from) * u128::from(length_ns);
        self.length_ns += length_ns;
        self.changed_ns = self.changed_ns.max(now_ns);
        self.min = self.min.min(to);
        self.max = self.max.max(to);
    }

    fn join(&mut self, next: &Self) {
        self.min = self.min.min(next.min);
        self.max = self.max.max(next.max);
        self.area += next.area;
        self.length_ns += next.length_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::Span;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn pending() -> Pending {
        Pending::new(Phases { warm_up: Span::ZERO, measure: Span::seconds(10) })
    }

    #[test]
    fn the_mean_is_weighted_by_time() {
        let mut pending = pending();
        pending.set(100, 0);
        pending.set(20, 250 * MS);
        pending.set(60, 500 * MS);
        let gauge = pending.take_closed(1_000 * MS, u64::MAX).unwrap();
        assert_eq!((gauge.pending.min, gauge.pending.max, gauge.pending.mean()), (0, 100, 60.0));
        let next = pending.take_closed(2_500 * MS, u64::MAX).unwrap();
        assert_eq!((next.pending.min, next.pending.max, next.pending.mean()), (60, 60, 60.0));
    }

    #[test]
    fn what_was_due_in_a_closed_interval_counts_there_until_it_is_given_out() {
        let mut pending = pending();
        pending.set(1, 1_200 * MS);
        assert!(pending.take_closed(1_200 * MS, 900 * MS).is_none(), "the source has not passed it");
        pending.offered(950 * MS, 7, 2);
        pending.offered(1_100 * MS, 5, 0);
        let first = pending.take_closed(1_300 * MS, 1_100 * MS).unwrap();
        assert_eq!((first.offered, first.refused), (7, 2));
        pending.offered(990 * MS, 1, 0);
        let second = pending.take_closed(2_000 * MS, u64::MAX).unwrap();
        assert_eq!((second.offered, second.refused), (6, 0), "what comes later still counts once");
    }

    #[test]
    fn a_source_that_hangs_is_not_waited_for_for_ever() {
        let mut pending = pending();
        assert!(pending.take_closed(2_999 * MS, 0).is_none());
        assert!(pending.take_closed(3_000 * MS, 0).is_some());
    }

    proptest! {
        #[test]
        fn a_watch_over_everything_agrees_with_the_intervals(
            changes in prop::collection::vec((0u64..700, 0u64..1_000), 1..50),
        ) {
            let mut pending = pending();
            pending.watch(0);
            let mut now_ns = 0;
            for (gap_ms, level) in changes {
                now_ns += gap_ms * MS;
                pending.set(level, now_ns);
            }
            now_ns += MS;
            let watched = pending.watched(now_ns).unwrap();
            let joined = pending.finish(now_ns).into_iter().reduce(|mut all, next| {
                all.join(&next);
                all
            }).unwrap();
            prop_assert_eq!((watched.min, watched.max), (joined.pending.min, joined.pending.max));
            prop_assert_eq!(watched.area, joined.pending.area);
            prop_assert_eq!(joined.pending.length_ns, now_ns);
        }
    }
}
