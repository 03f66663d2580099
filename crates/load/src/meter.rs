//! What one load thread measures: an interval with its histograms, handed over once a second.
//!
//! The measured loop only counts into memory that it owns; a histogram takes 8 KB more when the first latency of a doubling comes,
//! and keeps them. Handing over, making a fresh interval and reading the CPU clock happen at the end of an interval, outside of any
//! operation.

use std::sync::mpsc::Receiver;

use record::{Latency, OperationInterval, Phase};

use crate::{Clock, Phases};

/// Most intervals that one thread makes; used ones come back. Many threads make fewer each, so that memory is bounded.
#[must_use]
pub fn intervals_max(threads: u32) -> usize {
    (256 / threads.max(1) as usize).clamp(2, 8)
}

/// One interval of one load thread.
#[derive(Clone, Debug)]
pub struct ThreadInterval {
    /// Position in the trial: all threads' intervals of the same index span the same time.
    pub index: u32,
    /// Begin, in nanoseconds since the load began.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Phase.
    pub phase: Phase,
    /// By operation kind, in the order that the meter was given.
    pub operations: Vec<OperationInterval>,
    /// CPU time that the thread used.
    pub cpu_ns: u64,
}

impl ThreadInterval {
    /// An empty interval; histograms of response time and lag are made only for an open loop.
    #[must_use]
    pub fn new(kinds: usize, open: bool) -> Self {
        let operation = OperationInterval {
            response: open.then(Latency::new),
            lag: open.then(Latency::new),
            due_before: open.then_some(0),
            ..OperationInterval::default()
        };
        Self {
            index: 0,
            start_ns: 0,
            end_ns: 0,
            phase: Phase::WarmUp,
            operations: vec![operation; kinds],
            cpu_ns: 0,
        }
    }

    /// Forgets what was measured and keeps the memory.
    pub fn clear(&mut self) {
        for operation in &mut self.operations {
            operation.count = 0;
            operation.errors = 0;
            operation.bytes = 0;
            operation.rows = 0;
            operation.due_before = operation.due_before.map(|_| 0);
            operation.service.clear();
            operation.response.iter_mut().for_each(Latency::clear);
            operation.lag.iter_mut().for_each(Latency::clear);
        }
    }
}

/// One answered operation.
#[derive(Clone, Copy, Debug)]
pub struct Completed {
    /// Kind, as an index into the meter's kinds.
    pub kind: usize,
    /// When it was due; none in a closed loop.
    pub due_ns: Option<u64>,
    /// When it was sent.
    pub sent_ns: u64,
    /// Bytes moved.
    pub bytes: u64,
}

/// The meter of one load thread.
pub struct Meter<'a, C> {
    clock: C,
    phases: Phases,
    current: ThreadInterval,
    cpu_before_ns: u64,
    made: usize,
    made_max: usize,
    full: Box<dyn FnMut(ThreadInterval) + 'a>,
    spare: Receiver<ThreadInterval>,
}

impl<'a, C: Clock> Meter<'a, C> {
    /// A meter that hands over whole intervals to `full`, once a second, and takes used ones from `spare` again. It
    /// makes `made_max` at most, see [`intervals_max`].
    pub fn new(
        clock: C,
        phases: Phases,
        empty: ThreadInterval,
        full: impl FnMut(ThreadInterval) + 'a,
        spare: Receiver<ThreadInterval>,
        made_max: usize,
    ) -> Self {
        let cpu_before_ns = clock.thread_cpu_ns();
        let current = ThreadInterval { end_ns: phases.interval_end_ns(0), phase: phases.at(0), ..empty };
        Self { clock, phases, current, cpu_before_ns, made: 1, made_max, full: Box::new(full), spare }
    }

    /// Hands over every interval that ended by `now_ns`. To be called before completions of that moment are counted.
    #[inline]
    pub fn advance(&mut self, now_ns: u64) {
        while now_ns >= self.current.end_ns {
            self.hand_over();
        }
    }

    /// Counts an operation answered at `now_ns`.
    #[inline]
    pub fn complete(&mut self, now_ns: u64, completed: Completed) {
        let operation = &mut self.current.operations[completed.kind];
        operation.count += 1;
        operation.bytes += completed.bytes;
        operation.service.record_ns(now_ns - completed.sent_ns);
        if let Some(due_ns) = completed.due_ns {
            if let Some(response) = &mut operation.response {
                response.record_ns(now_ns - due_ns);
            }
            if let Some(lag) = &mut operation.lag {
                lag.record_ns(completed.sent_ns - due_ns);
            }
            if due_ns < self.phases.warm_up.ns
                && self.current.phase != Phase::WarmUp
                && let Some(due_before) = &mut operation.due_before
            {
                *due_before += 1;
            }
        }
    }

    /// Counts an operation that failed.
    pub fn fail(&mut self, kind: usize) {
        self.current.operations[kind].errors += 1;
    }

    /// Hands over what is left. The last interval ends now, or where the load was to end if that is later by less
    /// than an interval.
    pub fn finish(mut self, now_ns: u64) {
        self.advance(now_ns);
        let is_empty =
            self.current.operations.iter().all(|operation| operation.count + operation.errors == 0);
        if now_ns > self.current.start_ns || !is_empty {
            self.current.end_ns = now_ns.max(self.current.start_ns + 1);
            self.hand_over();
        }
    }

    /// A used interval, or a new one. A controller that is many seconds behind is waited for: memory stays bounded.
    fn next_empty(&mut self) -> ThreadInterval {
        if self.made >= self.made_max
            && let Ok(used) = self.spare.recv()
        {
            return used;
        }
        self.spare.try_recv().unwrap_or_else(|_| {
            self.made += 1;
            let operations = &self.current.operations;
            let open = operations.first().is_some_and(|operation| operation.lag.is_some());
            ThreadInterval::new(operations.len(), open)
        })
    }

    /// Not part of the measured loop: runs once a second.
    #[cold]
    fn hand_over(&mut self) {
        let cpu_ns = self.clock.thread_cpu_ns();
        self.current.cpu_ns = cpu_ns - self.cpu_before_ns;
        self.cpu_before_ns = cpu_ns;
        let (index, start_ns) = (self.current.index + 1, self.current.end_ns);
        let mut next = self.next_empty();
        next.index = index;
        next.start_ns = start_ns;
        next.end_ns = self.phases.interval_end_ns(start_ns);
        next.phase = self.phases.at(start_ns);
        let full = std::mem::replace(&mut self.current, next);
        (self.full)(full);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;
    use std::sync::mpsc;

    struct Stopped;

    impl Clock for Stopped {
        fn now_ns(&self) -> u64 {
            0
        }
        fn thread_cpu_ns(&self) -> u64 {
            0
        }
    }

    const MS: u64 = 1_000_000;

    /// Feeds (due, sent, done) in milliseconds and gives (phase, start ms, end ms, count) of each interval.
    fn intervals(open: bool, operations: &[(u64, u64, u64)], end_ms: u64) -> Vec<ThreadInterval> {
        let phases = Phases { warm_up: Span { ns: 500 * MS }, measure: Span { ns: 1_500 * MS } };
        let mut received = Vec::new();
        let (_spare, spare) = mpsc::channel();
        let mut meter =
            Meter::new(Stopped, phases, ThreadInterval::new(1, open), |i| received.push(i), spare, 8);
        for &(due, sent, done) in operations {
            meter.advance(done * MS);
            let due_ns = open.then_some(due * MS);
            meter.complete(done * MS, Completed { kind: 0, due_ns, sent_ns: sent * MS, bytes: 1 });
        }
        meter.finish(end_ms * MS);
        received
    }

    #[test]
    fn an_operation_counts_in_the_interval_in_which_it_is_answered() {
        let found: Vec<_> = intervals(false, &[(0, 0, 499), (0, 400, 500), (0, 1_600, 2_100)], 2_100)
            .iter()
            .map(|i| (i.phase, i.start_ns / MS, i.end_ns / MS, i.operations[0].count))
            .collect();
        assert_eq!(
            found,
            [
                (Phase::WarmUp, 0, 500, 1),
                (Phase::Measure, 500, 1_500, 1),
                (Phase::Measure, 1_500, 2_000, 0),
                (Phase::Drain, 2_000, 2_100, 1),
            ]
        );
    }

    #[test]
    fn response_counts_from_the_due_time_and_service_from_the_sending() {
        let found = intervals(true, &[(100, 130, 180)], 400);
        let operation = &found[0].operations[0];
        let us = |latency: &Latency| latency.max_us().unwrap();
        for (measured, ms) in [
            (us(&operation.service), 50.0),
            (us(operation.response.as_ref().unwrap()), 80.0),
            (us(operation.lag.as_ref().unwrap()), 30.0),
        ] {
            assert!((measured / (ms * 1e3) - 1.0).abs() < 1e-3, "{measured} µs, wanted {ms} ms");
        }
    }

    /// The window begins at 500 ms: what was due before counts apart from then on, in the warm-up it does not.
    #[test]
    fn what_was_due_before_the_window_is_counted() {
        let operations =
            [(100, 130, 180), (400, 490, 520), (499, 600, 700), (500, 500, 710), (490, 490, 2_050)];
        let found = intervals(true, &operations, 2_100);
        let counted: Vec<_> = found.iter().map(|i| (i.phase, i.operations[0].due_before)).collect();
        let expected = [(Phase::WarmUp, 0), (Phase::Measure, 2), (Phase::Measure, 0), (Phase::Drain, 1)];
        assert_eq!(counted, expected.map(|(phase, count)| (phase, Some(count))));
        assert_eq!(intervals(false, &[(0, 0, 600)], 700)[1].operations[0].due_before, None);
    }

    #[test]
    fn a_used_interval_comes_back_empty() {
        let mut used = intervals(true, &[(1, 2, 3)], 400).remove(0);
        used.clear();
        assert_eq!(used.operations, ThreadInterval::new(1, true).operations);
    }
}
