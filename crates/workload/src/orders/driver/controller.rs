//! The controller of a trial: hands over its intervals each second, adjusts the number of clients, and ends the load.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use load::{Go, PauseWatch, Progress};
use record::{Interval, Phase, Window, Workload, orders};

use super::cpu::{Governor, MachineCpu};
use super::running::{Running, lock};
use super::threads::Threads;
use crate::clock::Clock;
use crate::generator_cpu::GeneratorCpu;

/// Time between two looks at what the user wants.
const LOOK_NS: u64 = 100_000_000;
/// Orders that were begun are awaited for so long after the end of the load.
const DRAIN_NS: u64 = 60_000_000_000;
/// And for so long if the user ended it.
const STOPPED_DRAIN_NS: u64 = 10_000_000_000;

/// Conducts one trial.
pub(super) struct Controller<'a> {
    running: &'a Arc<Running>,
    clock: Clock,
    /// None in simulated time.
    watch: Option<PauseWatch>,
    stop: &'a AtomicBool,
    on_progress: &'a mut dyn FnMut(Progress) -> Go,
    generator: GeneratorCpu,
    /// None where a server is elsewhere.
    machine: Option<MachineCpu>,
    governor: Option<Governor>,
    /// Intervals of each store that not all stores have yet.
    closed: Vec<VecDeque<Interval>>,
    measured: Vec<Measured>,
    load_end_ns: u64,
    give_up_ns: u64,
    stopped: bool,
}

/// What a load came to.
#[derive(Debug)]
pub(super) struct Conducted {
    /// Of each store.
    pub(super) measured: Vec<Measured>,
    /// When the load ended.
    pub(super) load_end_ns: u64,
}

/// What was measured of one store.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) window: Window,
    /// Counters in the window.
    counters: BTreeMap<String, f64>,
}

impl Measured {
    fn nothing() -> Self {
        Self { window: Window::new(Workload::Orders.main()), counters: BTreeMap::new() }
    }

    /// Adds an interval that has no gauges but its counters.
    fn add(&mut self, interval: &Interval) {
        self.window.add(interval);
        if interval.phase == Phase::Measure {
            add_counters(&mut self.counters, &interval.gauges);
        }
    }

    /// What a counter came to in the window.
    pub(super) fn counted(&self, name: &str) -> u64 {
        self.counters.get(name).map_or(0, |&count| count as u64)
    }
}

impl<'a> Controller<'a> {
    pub(super) fn new(
        running: &'a Arc<Running>,
        (clock, watch): (Clock, Option<PauseWatch>),
        stop: &'a AtomicBool,
        on_progress: &'a mut dyn FnMut(Progress) -> Go,
    ) -> Self {
        let load_end_ns = running.job.phases.end_ns();
        let stores = running.stores.len();
        let is_here = running.stores.iter().all(|store| store.own.url().is_local());
        let mut generator = GeneratorCpu::default();
        // What connecting took is no part of the load.
        generator.take(&lock(&running.threads), 0);
        Self {
            running,
            clock,
            watch,
            stop,
            on_progress,
            generator,
            machine: is_here.then(MachineCpu::begin).flatten(),
            governor: running.job.cpu_target.map(|share| Governor::new(share, running.job.n_threads)),
            closed: vec![VecDeque::new(); stores],
            measured: vec![Measured::nothing(); stores],
            load_end_ns,
            give_up_ns: load_end_ns + DRAIN_NS,
            stopped: false,
        }
    }

    /// Conducts until all clients have ended.
    pub(super) async fn conduct(mut self, threads: &mut Threads) -> Conducted {
        let mut next_ns = 0;
        while !threads.all_ended() {
            tokio::select! {
                () = threads.ended() => {}
                () = self.clock.until(next_ns) => {}
            }
            let now_ns = self.clock.now_ns();
            next_ns = (now_ns / LOOK_NS + 1) * LOOK_NS;
            if self.stop.load(Ordering::Relaxed) {
                self.stop(now_ns);
            }
            if now_ns >= self.load_end_ns {
                self.running.load_over.set();
            }
            if now_ns >= self.give_up_ns {
                self.running.over.set();
            }
            self.hand_over(now_ns);
        }
        self.finish();
        Conducted { measured: self.measured, load_end_ns: self.load_end_ns }
    }

    /// Ends the load before its time.
    pub(super) fn stop(&mut self, now_ns: u64) {
        if std::mem::replace(&mut self.stopped, true) {
            return;
        }
        self.give_up_ns = self.give_up_ns.min(now_ns + STOPPED_DRAIN_NS);
        self.end_load(now_ns);
    }

    fn end_load(&mut self, now_ns: u64) {
        if now_ns < self.load_end_ns {
            self.load_end_ns = now_ns;
            self.running.stores.iter().for_each(|store| store.recorder.end_load(now_ns));
        }
        self.running.load_over.set();
    }

    /// Tells every interval that is whole by now.
    fn hand_over(&mut self, now_ns: u64) {
        for (closed, store) in self.closed.iter_mut().zip(&self.running.stores) {
            closed.extend(store.recorder.take_closed(now_ns));
        }
        self.tell_whole(now_ns);
    }

    /// The last intervals, the open one included.
    fn finish(&mut self) {
        let now_ns = self.clock.now_ns();
        self.end_load(now_ns);
        for (closed, store) in self.closed.iter_mut().zip(&self.running.stores) {
            closed.extend(store.recorder.finish(now_ns));
        }
        self.tell_whole(now_ns);
    }

    fn tell_whole(&mut self, now_ns: u64) {
        while self.closed.iter().all(|closed| !closed.is_empty()) {
            let intervals: Vec<Interval> = self.closed.iter_mut().filter_map(VecDeque::pop_front).collect();
            for (measured, interval) in self.measured.iter_mut().zip(&intervals) {
                measured.add(interval);
            }
            if let Some(interval) = merged(intervals) {
                self.tell(interval, now_ns);
            }
        }
    }

    fn tell(&mut self, mut interval: Interval, now_ns: u64) {
        interval.generator_pauses = self.watch.as_ref().map(|watch| watch.of(&interval));
        let used = self.generator.take(&lock(&self.running.threads), now_ns);
        interval.generator_cpu_us = used.cpu_us;
        interval.generator_busiest_share = used.busiest_share;
        let gauges = &mut interval.gauges;
        if let Some(longest_ns) = lock(&self.running.last_100).longest_ns() {
            gauges.insert(orders::LAST_100_MAX.to_owned(), longest_ns as f64 / 1e6);
        }
        let active =
            if interval.phase == Phase::Drain { 0 } else { self.active((interval.end_s * 1e9) as u64) };
        gauges.insert(orders::ACTIVE_CLIENTS.to_owned(), active as f64);
        if let Some(others) = self.machine.as_mut().and_then(|cpu| cpu.others(used.cpu_us)) {
            gauges.insert(orders::SERVER_CPU.to_owned(), others.share);
            gauges.insert(orders::SERVER_CPU_S.to_owned(), others.seconds);
            self.govern(interval.phase, others.share);
        }
        if (self.on_progress)(Progress::Interval(interval)) == Go::Stop {
            self.stop(now_ns);
        }
    }

    fn govern(&mut self, phase: Phase, share: f64) {
        if let Some(governor) = self.governor.as_mut().filter(|_| phase != Phase::Drain) {
            self.running.active.send_replace(governor.adjusted(share));
        }
    }

    /// Clients of all stores that order at a moment of the load.
    fn active(&self, now_ns: u64) -> usize {
        let begun = |client: &u32| self.running.job.begins_ns(*client) <= now_ns;
        let active = *self.running.active.borrow();
        (0..active).filter(begun).count() * self.running.stores.len()
    }
}

/// One interval of all stores together, and how many orders each had.
fn merged(intervals: Vec<Interval>) -> Option<Interval> {
    let orders = |interval: &Interval| interval.operations.get(orders::ORDER).map_or(0, |order| order.count);
    let by_target: Vec<u64> = intervals.iter().map(orders).collect();
    let mut all = intervals.into_iter();
    let mut merged = all.next()?;
    for interval in all {
        for (kind, operation) in &interval.operations {
            merged.operations.entry(kind.clone()).or_default().merge(operation);
        }
        add_counters(&mut merged.gauges, &interval.gauges);
    }
    let gauges = by_target.iter().enumerate();
    merged.gauges.extend(gauges.map(|(target, &orders)| (orders::target_orders(target + 1), orders as f64)));
    Some(merged)
}

fn add_counters(into: &mut BTreeMap<String, f64>, counters: &BTreeMap<String, f64>) {
    for (name, count) in counters {
        *into.entry(name.clone()).or_default() += count;
    }
}
