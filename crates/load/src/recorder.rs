//! What several roles of a trial measure together: one interval of operations, filled under a lock, closed each second.
//!
//! For loads of which one operation is thousands of times dearer than a lock. A load thread of millions of operations a
//! second has a [`crate::Meter`] of its own instead.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

use record::{Interval, Latency, OperationInterval, Phase};

use crate::lock;
use crate::silence::Silences;
use crate::{Completed, Phases};

/// Most intervals that wait to be taken, some hundred KB each. If nobody takes them, the last one grows instead.
const CLOSED_MAX: usize = 64;

/// Counts operations of several roles.
#[derive(Debug)]
pub struct Recorder {
    counted: Counted,
    shared: Mutex<Shared>,
}

/// What a recorder counts. Names are anybody's choice; those that are given twice are told as one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Operations, which take time.
    pub kinds: Vec<Kind>,
    /// What only happens, and is told as a gauge of this name. It is cut into intervals exactly as the operations are.
    pub counters: Vec<String>,
}

/// A kind of operation, and which histograms it has besides the one of its service time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Name, as in the samples.
    pub name: String,
    /// Whether operations have a due time, so that response time and lag are told.
    pub open: bool,
}

/// Cuts the time of a trial into its intervals, one after the other. Whoever counts beside a [`Recorder`] cuts alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    phases: Phases,
    start_ns: u64,
    end_ns: u64,
}

/// Access to the interval that is being filled.
#[derive(Debug)]
pub struct Recording<'a>(MutexGuard<'a, Shared>);

#[derive(Debug)]
struct Shared {
    cut: Cut,
    open: Counts,
    closed: VecDeque<(Cut, Counts)>,
    silences: Silences,
    /// Counts of nothing, so that whoever closes an interval makes no list of kinds; histograms have their memory as latencies come.
    spare: Option<Counts>,
}

/// What was counted in an interval, in the order of [`Counted`].
#[derive(Debug)]
struct Counts {
    operations: Vec<Apart<OperationInterval>>,
    counters: Vec<Apart<u64>>,
}

/// Something in lines of the processors' caches that hold nothing else: two of them that write to one line wait for each other.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

impl Cut {
    /// The first interval.
    #[must_use]
    pub fn new(phases: Phases) -> Self {
        Self { phases, start_ns: 0, end_ns: phases.interval_end_ns(0) }
    }

    /// The interval after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self { start_ns: self.end_ns, end_ns: self.phases.interval_end_ns(self.end_ns), ..self }
    }

    /// Begin, in nanoseconds since the load began.
    #[must_use]
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// End.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Phase that it belongs to.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phases.at(self.start_ns)
    }

    /// The warm-up ends at `now_ns`, within this interval, and not when it was to: what follows is measured.
    pub fn begin_window(&mut self, now_ns: u64) {
        if self.phase() != Phase::WarmUp {
            return;
        }
        self.phases.warm_up.ns = now_ns;
        // One that has only begun becomes the first of the window: none is without length.
        let begun = now_ns > self.start_ns;
        self.end_ns = if begun { now_ns } else { self.phases.interval_end_ns(self.start_ns) };
    }

    /// The load ends at `now_ns`, within this interval, and not when it was to: what follows is drain.
    pub fn end_load(&mut self, now_ns: u64) {
        if now_ns >= self.phases.end_ns() {
            return;
        }
        let phase = self.phase();
        self.phases.warm_up.ns = self.phases.warm_up.ns.min(now_ns);
        self.phases.measure.ns = now_ns - self.phases.warm_up.ns;
        if phase != Phase::Drain {
            // One that has only begun becomes the first of the drain: none is without length.
            let begun = now_ns > self.start_ns;
            self.end_ns =
                if begun { self.end_ns.min(now_ns) } else { self.phases.interval_end_ns(self.start_ns) };
        }
    }
}

impl Recorder {
    /// For what is counted in these phases.
    #[must_use]
    pub fn new(counted: Counted, phases: Phases) -> Self {
        let shared = Shared {
            cut: Cut::new(phases),
            open: counted.nothing(),
            closed: VecDeque::with_capacity(CLOSED_MAX),
            silences: Silences::default(),
            spare: Some(counted.nothing()),
        };
        Self { counted, shared: Mutex::new(shared) }
    }

    /// Access for the operations that were answered by `now_ns`, after every interval that ended by then is closed. A
    /// moment that lies in a closed interval, because somebody else came first, counts in the one that is open.
    pub fn at(&self, now_ns: u64) -> Recording<'_> {
        let mut shared = lock(&self.shared);
        shared.advance(&self.counted, now_ns);
        Recording(shared)
    }

    /// The warm-up ends at `now_ns` and not when it was to: what follows is measured.
    pub fn begin_window(&self, now_ns: u64) {
        let mut shared = lock(&self.shared);
        shared.advance(&self.counted, now_ns);
        shared.cut.begin_window(now_ns);
        shared.advance(&self.counted, now_ns);
    }

    /// The load ends at `now_ns` and not when it was to: what follows is drain.
    pub fn end_load(&self, now_ns: u64) {
        let mut shared = lock(&self.shared);
        shared.advance(&self.counted, now_ns);
        shared.cut.end_load(now_ns);
        shared.advance(&self.counted, now_ns);
    }

    /// Every interval that ended by `now_ns` and was not taken yet, in order. CPU times and gauges are the caller's to
    /// add.
    #[must_use]
    pub fn take_closed(&self, now_ns: u64) -> Vec<Interval> {
        let (closed, spent) = {
            let mut shared = lock(&self.shared);
            shared.advance(&self.counted, now_ns);
            let closed: Vec<(Cut, Counts)> = shared.closed.drain(..).collect();
            (closed, shared.spare.is_none())
        };
        if spent {
            let spare = self.counted.nothing();
            lock(&self.shared).spare = Some(spare);
        }
        closed.into_iter().map(|(cut, counts)| self.counted.interval(cut, counts)).collect()
    }

    /// When nobody was answered that was to be told of.
    #[must_use]
    pub fn silences(&self) -> Silences {
        lock(&self.shared).silences.clone()
    }

    /// Closes the open interval at `now_ns`, if it is longer than nothing, and gives what was not taken yet.
    #[must_use]
    pub fn finish(&self, now_ns: u64) -> Vec<Interval> {
        {
            let mut shared = lock(&self.shared);
            shared.advance(&self.counted, now_ns);
            if now_ns > shared.cut.start_ns || !shared.open.is_nothing() {
                shared.cut.end_ns = now_ns.max(shared.cut.start_ns + 1);
                shared.close(&self.counted);
            }
        }
        self.take_closed(now_ns)
    }
}

impl Recording<'_> {
    /// The begin of the window, once it has begun: what was due before it is counted.
    fn window_begin_ns(&self) -> Option<u64> {
        let cut = self.0.cut;
        (cut.phase() != Phase::WarmUp).then_some(cut.phases.warm_up.ns)
    }

    /// Counts an operation answered at `now_ns`.
    #[inline]
    pub fn complete(&mut self, now_ns: u64, completed: Completed) {
        let begin_ns = self.window_begin_ns();
        let operation = &mut self.0.open.operations[completed.kind].0;
        operation.count += 1;
        operation.bytes += completed.bytes;
        operation.service.record_ns(now_ns.saturating_sub(completed.sent_ns));
        if let Some(due_ns) = completed.due_ns {
            if let Some(response) = &mut operation.response {
                response.record_ns(now_ns.saturating_sub(due_ns));
            }
            if let Some(lag) = &mut operation.lag {
                lag.record_ns(completed.sent_ns.saturating_sub(due_ns));
            }
            if let (Some(due_before), Some(begin_ns)) = (&mut operation.due_before, begin_ns) {
                *due_before += u64::from(due_ns < begin_ns);
            }
        }
    }

    /// Somebody was answered whose silence would be an outage.
    #[inline]
    pub fn answered(&mut self, now_ns: u64) {
        self.0.silences.answered(now_ns);
    }

    /// Counts rows that operations of a kind read.
    #[inline]
    pub fn read_rows(&mut self, kind: usize, rows: u64) {
        self.0.open.operations[kind].0.rows += rows;
    }

    /// Counts operations that were sent together at `sent_ns` and answered together at `now_ns`, each with a due time of
    /// its own. Their lag is counted where they were sent, see [`Recording::lags`].
    #[inline]
    pub fn complete_together(
        &mut self,
        kind: usize,
        now_ns: u64,
        sent_ns: u64,
        bytes_each: u64,
        due_ns: impl ExactSizeIterator<Item = u64>,
    ) {
        let begin_ns = self.window_begin_ns().unwrap_or(0);
        let operation = &mut self.0.open.operations[kind].0;
        let count = due_ns.len() as u64;
        operation.count += count;
        operation.bytes += count * bytes_each;
        operation.service.record_same_ns(now_ns.saturating_sub(sent_ns), count);
        if let Some(response) = &mut operation.response {
            let mut due_before = 0;
            due_ns.for_each(|due_ns| {
                response.record_ns(now_ns.saturating_sub(due_ns));
                due_before += u64::from(due_ns < begin_ns);
            });
            operation.due_before = operation.due_before.map(|before| before + due_before);
        }
    }

    /// Counts how late operations were sent.
    #[inline]
    pub fn lags(&mut self, kind: usize, lags_ns: impl Iterator<Item = u64>) {
        if let Some(lag) = &mut self.0.open.operations[kind].0.lag {
            lags_ns.for_each(|lag_ns| lag.record_ns(lag_ns));
        }
    }

    /// Adds one to a counter.
    pub fn count(&mut self, counter: usize) {
        self.add(counter, 1);
    }

    /// Adds so much to a counter.
    pub fn add(&mut self, counter: usize, amount: u64) {
        self.0.open.counters[counter].0 += amount;
    }

    /// Phase in which operations are counted now.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.0.cut.phase()
    }

    /// Counts operations that failed.
    pub fn fail(&mut self, kind: usize, count: u64) {
        self.0.open.operations[kind].0.errors += count;
    }
}

impl Shared {
    #[inline]
    fn advance(&mut self, counted: &Counted, now_ns: u64) {
        while now_ns >= self.cut.end_ns {
            let next = self.cut.next();
            if self.closed.len() >= CLOSED_MAX && next.phase() == self.cut.phase() {
                self.cut.end_ns = next.end_ns;
            } else {
                self.close(counted);
            }
        }
    }

    #[cold]
    fn close(&mut self, counted: &Counted) {
        let spare = self.spare.take().unwrap_or_else(|| counted.nothing());
        let counts = std::mem::replace(&mut self.open, spare);
        self.closed.push_back((self.cut, counts));
        self.cut = self.cut.next();
    }
}

impl Counts {
    fn is_nothing(&self) -> bool {
        self.operations.iter().all(|Apart(operation)| operation.count + operation.errors == 0)
            && self.counters.iter().all(|Apart(count)| *count == 0)
    }
}

impl Counted {
    fn nothing(&self) -> Counts {
        let operation = |kind: &Kind| {
            Apart(OperationInterval {
                response: kind.open.then(Latency::new),
                lag: kind.open.then(Latency::new),
                due_before: kind.open.then_some(0),
                ..OperationInterval::default()
            })
        };
        Counts {
            operations: self.kinds.iter().map(operation).collect(),
            counters: self.counters.iter().map(|_| Apart(0)).collect(),
        }
    }

    fn interval(&self, cut: Cut, counts: Counts) -> Interval {
        let mut operations: BTreeMap<String, OperationInterval> = BTreeMap::new();
        for (kind, Apart(operation)) in self.kinds.iter().zip(counts.operations) {
            match operations.get_mut(&kind.name) {
                Some(same) => same.merge(&operation),
                None => drop(operations.insert(kind.name.clone(), operation)),
            }
        }
        let mut gauges = BTreeMap::new();
        for (name, Apart(count)) in self.counters.iter().zip(counts.counters) {
            *gauges.entry(name.clone()).or_default() += count as f64;
        }
        Interval {
            end_s: cut.end_ns as f64 / 1e9,
            length_s: (cut.end_ns - cut.start_ns) as f64 / 1e9,
            phase: cut.phase(),
            operations,
            gauges,
            generator_cpu_us: 0,
            generator_busiest_share: 0.0,
            generator_pauses: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn counted() -> Counted {
        let kind = |name: &str, open| Kind { name: name.to_owned(), open };
        Counted {
            kinds: vec![kind("record", true), kind("commit", false)],
            counters: vec!["retries".to_owned()],
        }
    }

    fn phases(warm_up_ms: u64, measure_ms: u64) -> Phases {
        Phases { warm_up: Span { ns: warm_up_ms * MS }, measure: Span { ns: measure_ms * MS } }
    }

    fn shape(intervals: &[Interval]) -> Vec<(Phase, f64, f64, u64)> {
        intervals.iter().map(|i| (i.phase, i.end_s, i.length_s, i.operations["record"].count)).collect()
    }

    #[test]
    fn operations_count_in_the_interval_in_which_they_are_answered() {
        let recorder = Recorder::new(counted(), phases(500, 1_500));
        for answered_ms in [499, 500, 2_100] {
            let now_ns = answered_ms * MS;
            recorder.at(now_ns).complete_together(
                0,
                now_ns,
                now_ns - MS,
                8,
                [now_ns - 2 * MS; 3].into_iter(),
            );
        }
        let intervals = recorder.finish(2_200 * MS);
        assert_eq!(
            shape(&intervals),
            [
                (Phase::WarmUp, 0.5, 0.5, 3),
                (Phase::Measure, 1.5, 1.0, 3),
                (Phase::Measure, 2.0, 0.5, 0),
                (Phase::Drain, 2.2, 0.2, 3)
            ]
        );
        let record = &intervals[0].operations["record"];
        let ms = |latency: &Latency| (latency.max_us().unwrap() / 1e3).round() as u64;
        assert_eq!((ms(&record.service), ms(record.response.as_ref().unwrap()), record.bytes), (1, 2, 24));
        assert_eq!(intervals[0].operations["commit"].response, None);
    }

    #[test]
    fn what_was_due_before_the_window_is_counted_also_where_its_begin_moved() {
        let recorder = Recorder::new(counted(), phases(5_000, 1_500));
        recorder.begin_window(500 * MS);
        let due_ms = |due_ms: &[u64]| due_ms.iter().map(|due| due * MS).collect::<Vec<u64>>().into_iter();
        recorder.at(600 * MS).complete_together(0, 600 * MS, 550 * MS, 8, due_ms(&[480, 499, 500]));
        let one = Completed { kind: 0, due_ns: Some(10 * MS), sent_ns: 700 * MS, bytes: 8 };
        recorder.at(700 * MS).complete(700 * MS, one);
        let intervals = recorder.finish(800 * MS);
        let told = |kind: &str| intervals.iter().map(|i| i.operations[kind].due_before).collect::<Vec<_>>();
        assert_eq!(told("record"), [Some(0), Some(3)]);
        assert_eq!(told("commit"), [None, None], "nothing falls due in a closed loop");
    }

    #[test]
    fn a_load_that_is_ended_early_drains_from_then_on() {
        let recorder = Recorder::new(counted(), phases(1_000, 5_000));
        recorder.end_load(1_700 * MS);
        let intervals = recorder.finish(2_000 * MS);
        assert_eq!(
            shape(&intervals),
            [(Phase::WarmUp, 1.0, 1.0, 0), (Phase::Measure, 1.7, 0.7, 0), (Phase::Drain, 2.0, 0.3, 0)]
        );
    }

    #[test]
    fn a_window_begins_when_it_is_told_to_and_not_again() {
        for (begin_ms, warm_up) in [(1_700, vec![1.0, 1.7]), (2_000, vec![1.0, 2.0]), (0, vec![])] {
            let recorder = Recorder::new(counted(), phases(1_000_000, 1_000_000));
            recorder.begin_window(begin_ms * MS);
            recorder.begin_window(begin_ms * MS + 500 * MS);
            recorder.end_load(begin_ms * MS + 1_200 * MS);
            let intervals = recorder.finish(begin_ms * MS + 1_300 * MS);
            let ends = |phase| {
                let of_phase = intervals.iter().filter(|interval| interval.phase == phase);
                of_phase.map(|interval| interval.end_s).collect::<Vec<f64>>()
            };
            let begin_s = begin_ms as f64 / 1e3;
            assert_eq!(ends(Phase::WarmUp), warm_up, "{begin_ms}");
            assert_eq!(ends(Phase::Measure), [begin_s + 1.0, begin_s + 1.2], "{begin_ms}");
            assert_eq!(ends(Phase::Drain), [begin_s + 1.3], "{begin_ms}");
            assert!(intervals.iter().all(|interval| interval.length_s > 0.0), "{begin_ms}");
        }
    }

    /// An end at the very moment at which an interval ends left one of no length behind.
    #[test]
    fn a_load_that_is_ended_where_an_interval_ends_leaves_none_without_length() {
        let recorder = Recorder::new(counted(), phases(813, 2_001));
        recorder.end_load(2_813 * MS);
        let intervals = recorder.finish(3_000 * MS);
        let phases: Vec<Phase> = intervals.iter().map(|interval| interval.phase).collect();
        assert_eq!(phases, [Phase::WarmUp, Phase::Measure, Phase::Measure, Phase::Drain]);
        assert!(intervals.iter().all(|interval| interval.length_s > 0.0), "{:?}", shape(&intervals));
    }

    #[test]
    fn a_load_that_is_ended_in_its_warm_up_measured_nothing() {
        let recorder = Recorder::new(counted(), phases(1_000, 5_000));
        recorder.end_load(0);
        let intervals = recorder.finish(500 * MS);
        assert!(intervals.iter().all(|interval| interval.phase == Phase::Drain), "{:?}", shape(&intervals));
    }

    #[test]
    fn intervals_that_nobody_takes_have_a_bound() {
        let recorder = Recorder::new(counted(), phases(0, 10_000_000));
        for second in 1..500 {
            recorder.at(second * 1_000 * MS).fail(0, 1);
        }
        let intervals = recorder.finish(500_000 * MS);
        assert!(intervals.len() <= CLOSED_MAX + 1, "{}", intervals.len());
        assert_eq!(intervals.iter().map(|i| i.operations["record"].errors).sum::<u64>(), 499);
        assert_eq!(intervals.iter().map(|i| i.length_s).sum::<f64>(), 500.0);
    }

    proptest! {
        #[test]
        fn intervals_tile_the_time_and_lose_nothing(
            warm_up_ms in 0u64..3_000,
            measure_ms in 1u64..3_000,
            mut answered_ms in prop::collection::vec(0u64..8_000, 0..60),
            taken_after in 0usize..60,
            ended_ms in prop::option::of(0u64..8_000),
        ) {
            answered_ms.sort_unstable();
            let recorder = Recorder::new(counted(), phases(warm_up_ms, measure_ms));
            let mut intervals = Vec::new();
            let mut ended_ms = ended_ms;
            for (number, &ms) in answered_ms.iter().enumerate() {
                if let Some(end_ms) = ended_ms.take_if(|end_ms| *end_ms <= ms) {
                    recorder.end_load(end_ms * MS);
                }
                let completed = Completed { kind: 1, due_ns: None, sent_ns: 0, bytes: 1 };
                recorder.at(ms * MS).complete(ms * MS, completed);
                if number == taken_after {
                    intervals.extend(recorder.take_closed(ms * MS));
                }
            }
            intervals.extend(recorder.finish(8_000 * MS));
            let mut end_s = 0.0;
            for interval in &intervals {
                prop_assert!((interval.end_s - interval.length_s - end_s).abs() < 1e-9);
                prop_assert!(interval.length_s > 0.0 && interval.length_s <= 1.0);
                end_s = interval.end_s;
            }
            prop_assert_eq!(end_s, 8.0);
            let counted: u64 = intervals.iter().map(|interval| interval.operations["commit"].count).sum();
            prop_assert_eq!(counted, answered_ms.len() as u64);
        }

        /// A user names operations: also like ours, twice, or not at all.
        #[test]
        fn names_are_free_and_nothing_that_was_counted_is_lost(
            names in prop::collection::vec("order|record|read|login|\\PC{0,6}", 1..6),
            counters in prop::collection::vec("order|record|retries|\\PC{0,6}", 0..5),
            events in prop::collection::vec((0u64..4_000, 0usize..64), 0..40),
        ) {
            let kinds = names.iter().map(|name| Kind { name: name.clone(), open: false }).collect();
            let recorder =
                Recorder::new(Counted { kinds, counters: counters.clone() }, phases(700, 2_000));
            let (mut operations, mut counted) = (BTreeMap::new(), BTreeMap::new());
            let mut events = events;
            events.sort_unstable();
            for (ms, number) in events {
                let mut recording = recorder.at(ms * MS);
                let kind = number % names.len();
                let completed = Completed { kind, due_ns: None, sent_ns: 0, bytes: 3 };
                recording.complete(ms * MS, completed);
                *operations.entry(names[kind].clone()).or_insert(0u64) += 1;
                if !counters.is_empty() {
                    let counter = number % counters.len();
                    recording.count(counter);
                    *counted.entry(counters[counter].clone()).or_insert(0.0) += 1.0;
                }
            }
            let (mut operations_told, mut counted_told) = (BTreeMap::new(), BTreeMap::new());
            for interval in recorder.finish(4_000 * MS) {
                for (name, operation) in interval.operations {
                    prop_assert!(names.contains(&name));
                    prop_assert_eq!(operation.service.count(), operation.count);
                    prop_assert_eq!(operation.bytes, 3 * operation.count);
                    *operations_told.entry(name).or_insert(0) += operation.count;
                }
                for (name, count) in interval.gauges {
                    prop_assert!(counters.contains(&name));
                    *counted_told.entry(name).or_insert(0.0) += count;
                }
            }
            operations_told.retain(|_, count| *count > 0);
            counted_told.retain(|_, count| *count > 0.0);
            prop_assert_eq!(operations_told, operations);
            prop_assert_eq!(counted_told, counted);
        }
    }
}
