//! What a trial's measured window comes to, gathered interval by interval in constant memory: the one definition of a trial's
//! main figures, for the runner's rules, the progress line and a report long after.

use std::collections::BTreeMap;

use crate::sample::sum;
use crate::{Interval, Main, OperationInterval, Pauses, Phase, Sample};

/// The measured window of a trial. Counts are those of the window; latencies also those of operations that were in
/// flight at its end, because leaving out the slowest would make every figure better than it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    main: Main,
    operations: BTreeMap<String, OperationInterval>,
    seconds: f64,
    busiest_share_s: f64,
    pauses: Option<Pauses>,
}

impl Window {
    /// The empty window of a trial that is about these operations.
    #[must_use]
    pub fn new(main: Main) -> Self {
        Self { main, operations: BTreeMap::new(), seconds: 0.0, busiest_share_s: 0.0, pauses: None }
    }

    /// The window of a trial that was stored, of an open loop or a closed one, with the latencies that go with its samples: by
    /// kind and yet without counts.
    #[must_use]
    pub fn stored(
        main: Main,
        is_open: bool,
        samples: &[Sample],
        latencies: BTreeMap<String, OperationInterval>,
    ) -> Self {
        let mut window = Self::new(main).of(latencies);
        samples.iter().for_each(|sample| window.add_sample(sample, is_open));
        window
    }

    /// The same with other operations by kind.
    #[must_use]
    pub fn of(self, operations: BTreeMap<String, OperationInterval>) -> Self {
        Self { operations, ..self }
    }

    /// Adds an interval. The warm-up counts for nothing.
    pub fn add(&mut self, interval: &Interval) {
        let is_open = interval.operations.values().any(|operation| operation.response.is_some());
        if interval.phase != Phase::WarmUp {
            for (kind, operation) in &interval.operations {
                self.operations.entry(kind.clone()).or_default().merge_latencies(operation);
            }
        }
        self.add_sample(&interval.sample(), is_open);
    }

    /// Adds all of an interval but its latencies.
    fn add_sample(&mut self, sample: &Sample, is_open: bool) {
        self.add_pauses(sample.phase, is_open, sample.generator_pauses);
        if sample.phase != Phase::Measure {
            return;
        }
        self.seconds += sample.length_s;
        self.busiest_share_s += sample.generator_busiest_share * sample.length_s;
        for (kind, counted) in &sample.operations {
            let operation = self.operations.entry(kind.clone()).or_default();
            operation.count += counted.count;
            operation.errors += counted.errors;
            operation.bytes += counted.bytes;
            operation.rows += counted.rows;
            operation.due_before = sum(operation.due_before, counted.due_before);
        }
    }

    /// A pause within the drain makes the latencies of what was in flight wrong. One of the warm-up leaves an open loop with
    /// arrears that are sent in the window; a closed loop has forgotten it.
    fn add_pauses(&mut self, phase: Phase, is_open: bool, pauses: Option<Pauses>) {
        if let Some(pauses) = pauses.filter(|_| is_open || phase != Phase::WarmUp) {
            self.pauses = Some(self.pauses.unwrap_or_default().and(pauses));
        }
    }

    /// Pauses of the load generator that make figures of the window wrong; none if they were not measured.
    #[must_use]
    pub fn pauses(&self) -> Option<Pauses> {
        self.pauses
    }

    /// Length of the window so far.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// What the trial is about.
    #[must_use]
    pub fn main(&self) -> &Main {
        &self.main
    }

    /// Operations of one kind.
    #[must_use]
    pub fn kind(&self, kind: &str) -> Option<&OperationInterval> {
        self.operations.get(kind)
    }

    /// Operations by kind.
    #[must_use]
    pub fn kinds(&self) -> &BTreeMap<String, OperationInterval> {
        &self.operations
    }

    /// What the trial is about: its main operations together.
    #[must_use]
    pub fn operations(&self) -> OperationInterval {
        let mut all = OperationInterval::default();
        self.main.among(&self.operations).for_each(|(_, operation)| all.merge(operation));
        all
    }

    /// Operations a second; none of an empty window.
    #[must_use]
    pub fn rate_per_s(&self) -> Option<f64> {
        let count = || self.main.among(&self.operations).map(|(_, operation)| operation.count).sum::<u64>();
        (self.seconds > 0.0).then(|| count() as f64 / self.seconds)
    }

    /// Share (0–1) of a core that the busiest load thread used on average.
    #[must_use]
    pub fn busiest_share(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.busiest_share_s / self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;

    fn interval(phase: Phase, kind: &str, count: u64, latency_us: u64) -> Interval {
        let mut operation = OperationInterval { count, bytes: count * 512, ..OperationInterval::default() };
        (0..count).for_each(|_| operation.service.record_ns(latency_us * 1_000));
        Interval {
            end_s: 1.0,
            length_s: 1.0,
            phase,
            operations: BTreeMap::from([(kind.to_owned(), operation)]),
            gauges: BTreeMap::new(),
            generator_cpu_us: 0,
            generator_busiest_share: 0.5,
            generator_pauses: None,
        }
    }

    #[test]
    fn pauses_of_the_warm_up_are_those_of_open_loops_alone() {
        let paused = |phase, longest_ms, open: bool| {
            let mut interval = interval(phase, "read", 1, 10);
            interval.generator_pauses = Some(Pauses { longest_ms, sum_ms: longest_ms });
            let read = interval.operations.get_mut("read").unwrap();
            read.response = open.then(crate::Latency::new);
            interval
        };
        for (open, pauses) in [(false, (30.0, 50.0)), (true, (700.0, 750.0))] {
            let mut window = Window::new(Workload::Disk.main());
            window.add(&paused(Phase::WarmUp, 700.0, open));
            window.add(&paused(Phase::Measure, 20.0, open));
            window.add(&paused(Phase::Drain, 30.0, open));
            assert_eq!(window.pauses().map(|found| (found.longest_ms, found.sum_ms)), Some(pauses), "{open}");
        }
        let mut unknown = Window::new(Workload::Disk.main());
        unknown.add(&interval(Phase::Measure, "read", 1, 10));
        assert_eq!(unknown.pauses(), None, "not measured is not zero");
    }

    #[test]
    fn rates_are_of_the_window_and_latencies_also_of_what_drained() {
        let mut window = Window::new(Workload::Disk.main());
        for (phase, kind, count, latency_us) in [
            (Phase::WarmUp, "read", 1_000, 9_000),
            (Phase::Measure, "read", 100, 10),
            (Phase::Measure, "flush", 50, 10),
            (Phase::Drain, "read", 7, 500),
        ] {
            window.add(&interval(phase, kind, count, latency_us));
        }
        assert_eq!(window.rate_per_s(), Some(50.0), "a hundred reads in two seconds");
        assert_eq!(window.operations().service.count(), 107);
        assert!((window.operations().service.max_us().unwrap() / 500.0 - 1.0).abs() < 1e-3);
        assert_eq!(window.busiest_share(), Some(0.5));
        assert_eq!(Window::new(Workload::Disk.main()).rate_per_s(), None);
    }

    #[test]
    fn names_of_operations_are_free() {
        let mut window = Window::new(Main::Kind("visit".to_owned()));
        for (kind, count) in [("order", 3), ("login", 5), ("record", 7), ("visit", 2), ("flush", 11)] {
            window.add(&interval(Phase::Measure, kind, count, 10));
        }
        assert_eq!((window.operations().count, window.operations().service.count()), (2, 2));
        window.main = Main::AllBut(vec!["visit".to_owned()]);
        assert_eq!(window.operations().count, 26, "flush is a name like any other");
        window.main = Main::Kind("read".to_owned());
        assert_eq!((window.operations().count, window.rate_per_s()), (0, Some(0.0)), "none was answered");
    }
}
