//! The controller of a trial: hands over its intervals each second, adjusts the number of clients, and ends the load.

use load::{Go, PauseWatch, Progress, Recorder, lock};
use record::clients::{ACTIVE_CLIENTS, MOVED_CLIENTS, SERVER_CPU, SERVER_CPU_S};
use record::{Interval, Main, Phase, Window};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;

use super::cpu::Governor;
use super::last_100::Last100;
use super::shared::{Clients, Lane, Names};
use super::threads::LoadThread;
use super::{Drive, ServerCpu};
use crate::TrialError;
use crate::clock::Clock;
use crate::ending::Ending;
use crate::generator_cpu::GeneratorCpu;
use crate::silences::silence_marks;
use crate::threads::{LoadThreads, Threads};

/// Turns that were begun are awaited for so long after the end of the load.
const DRAIN_NS: u64 = 60_000_000_000;

/// Conducts one trial.
pub(super) struct Controller<'a> {
    clients: &'a Clients,
    makers: LoadThreads,
    clock: Clock,
    /// None in simulated time.
    watch: Option<PauseWatch>,
    ending: Ending<'a>,
    on_progress: &'a mut dyn FnMut(Progress) -> Go,
    generator: GeneratorCpu,
    server_cpu: Option<ServerCpu>,
    governor: Option<Governor>,
    /// Intervals of each recorder of each part that not all have yet.
    closed: Vec<VecDeque<Interval>>,
    measured: Vec<Measured>,
    result: Result<(), TrialError>,
}

/// What a load came to.
#[derive(Debug)]
pub(crate) struct Conducted {
    /// Of each part.
    pub(crate) measured: Vec<Measured>,
    /// When the load ended.
    pub(crate) load_end_ns: u64,
}

/// What was measured of one part.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) window: Window,
    /// Counters in the window.
    counters: BTreeMap<String, f64>,
}

impl Measured {
    fn nothing(turns: &Main) -> Self {
        Self { window: Window::new(turns.clone()), counters: BTreeMap::new() }
    }

    /// Adds an interval that has no gauges but its counters.
    fn add(&mut self, interval: &Interval) {
        self.window.add(interval);
        if interval.phase == Phase::Measure {
            add_counters(&mut self.counters, &interval.gauges);
        }
    }

    /// What a counter came to in the window.
    pub(crate) fn counted(&self, name: &str) -> u64 {
        self.counters.get(name).map_or(0, |&count| count as u64)
    }
}

impl<'a> Controller<'a> {
    pub(super) fn new(
        drive: Drive<'a>,
        makers: LoadThreads,
        (clock, watch): (Clock, Option<PauseWatch>),
    ) -> Self {
        let Drive { clients, server_cpu, stop, on_progress, .. } = drive;
        let schedule = &clients.schedule;
        let mut generator = GeneratorCpu::default();
        // What connecting took is no part of the load.
        generator.take(&makers.lock(), 0);
        Self {
            clients,
            makers,
            clock,
            watch,
            ending: Ending::new(clock, stop, schedule.phases.end_ns(), DRAIN_NS),
            on_progress,
            generator,
            server_cpu,
            governor: schedule.cpu_target.map(|share| Governor::new(share, schedule.clients)),
            closed: vec![VecDeque::new(); clients.parts.len() * clients.lanes()],
            measured: vec![Measured::nothing(&clients.names.turns); clients.parts.len()],
            result: Ok(()),
        }
    }

    /// Conducts until all clients have ended.
    pub(super) async fn conduct(
        mut self,
        threads: &mut Threads<LoadThread>,
    ) -> Result<Conducted, TrialError> {
        while !threads.all_ended() {
            let (now_ns, ended) = self.ending.look(threads).await;
            if let Some((_, Err(error))) = ended {
                self.stop(now_ns);
                self.result = std::mem::replace(&mut self.result, Ok(())).and(Err(error));
            }
            if self.ending.is_wanted() {
                self.stop(now_ns);
            }
            if self.ending.is_over(now_ns) {
                self.clients.load_over.set();
            }
            if self.ending.is_given_up(now_ns) {
                self.clients.over.set();
            }
            self.hand_over(now_ns);
        }
        self.finish();
        self.tell_marks();
        let load_end_ns = self.ending.load_end_ns();
        self.tell_silences(load_end_ns);
        self.result.map(|()| Conducted { measured: self.measured, load_end_ns })
    }

    /// Ends the load before its time.
    pub(super) fn stop(&mut self, now_ns: u64) {
        if self.ending.stop(now_ns) {
            self.end_load(now_ns);
        }
    }

    fn end_load(&mut self, now_ns: u64) {
        if self.ending.end_load(now_ns) {
            recorders(self.clients).for_each(|recorder| recorder.end_load(now_ns));
        }
        self.clients.load_over.set();
    }

    /// Tells every interval that is whole by now.
    fn hand_over(&mut self, now_ns: u64) {
        for (closed, recorder) in self.closed.iter_mut().zip(recorders(self.clients)) {
            closed.extend(recorder.take_closed(now_ns));
        }
        while self.closed.iter().all(|closed| !closed.is_empty()) {
            self.tell_next(now_ns);
        }
    }

    /// The last intervals, the open one included.
    fn finish(&mut self) {
        let now_ns = self.clock.now_ns();
        self.end_load(now_ns);
        for (closed, recorder) in self.closed.iter_mut().zip(recorders(self.clients)) {
            closed.extend(recorder.finish(now_ns));
        }
        // Of one that did nothing more there is none where another one was answered at this very moment.
        while self.closed.iter().any(|closed| !closed.is_empty()) {
            self.tell_next(now_ns);
        }
    }

    /// Tells the next interval of all parts together.
    fn tell_next(&mut self, now_ns: u64) {
        let of_part = |lanes: &mut [VecDeque<Interval>]| {
            lanes.iter_mut().filter_map(VecDeque::pop_front).reduce(together)
        };
        let intervals: Vec<Option<Interval>> =
            self.closed.chunks_mut(self.clients.lanes()).map(of_part).collect();
        for (measured, interval) in self.measured.iter_mut().zip(&intervals) {
            interval.iter().for_each(|interval| measured.add(interval));
        }
        if intervals.len() > 1 {
            self.tell_parts(intervals.clone());
        }
        if let Some(interval) = self.merged(intervals) {
            self.tell(interval, now_ns);
        }
    }

    fn tell_parts(&mut self, mut parts: Vec<Option<Interval>>) {
        for (interval, part) in parts.iter_mut().zip(&self.clients.parts) {
            interval.iter_mut().for_each(|interval| self.clients.names.add_longest(interval, &part.lanes));
        }
        // Whether to go on is said to what they come to.
        (self.on_progress)(Progress::Parts(parts));
    }

    fn tell(&mut self, mut interval: Interval, now_ns: u64) {
        interval.generator_pauses = self.watch.as_ref().map(|watch| watch.of(&interval));
        let used = self.generator.take(&self.makers.lock(), now_ns);
        interval.generator_cpu_us = used.cpu_us;
        interval.generator_busiest_share = used.busiest_share;
        let lanes = self.clients.parts.iter().flat_map(|part| &part.lanes);
        self.clients.names.add_longest(&mut interval, lanes);
        let gauges = &mut interval.gauges;
        let active =
            if interval.phase == Phase::Drain { 0 } else { self.active((interval.end_s * 1e9) as u64) };
        gauges.insert(ACTIVE_CLIENTS.to_owned(), active as f64);
        let moved = self.clients.moved.swap(0, Ordering::Relaxed);
        if moved > 0 {
            gauges.insert(MOVED_CLIENTS.to_owned(), f64::from(moved));
        }
        if let Some(server) = self.server_cpu.as_mut().and_then(|read| read(used.cpu_us)) {
            gauges.insert(SERVER_CPU.to_owned(), server.share);
            gauges.insert(SERVER_CPU_S.to_owned(), server.seconds);
            self.govern(interval.phase, server.share);
        }
        self.tell_marks();
        if (self.on_progress)(Progress::Interval(interval)) == Go::Stop {
            self.stop(now_ns);
        }
    }

    fn tell_marks(&mut self) {
        for mark in self.clients.marks() {
            (self.on_progress)(Progress::Mark(mark));
        }
    }

    /// Tells when nobody was answered: of a server that hangs no client has an error.
    fn tell_silences(&mut self, load_end_ns: u64) {
        if !self.clients.names.tells_silences {
            return;
        }
        let all = recorders(self.clients).map(Recorder::silences).collect();
        for mark in silence_marks(all, load_end_ns) {
            (self.on_progress)(Progress::Mark(mark));
        }
    }

    fn govern(&mut self, phase: Phase, share: f64) {
        if let Some(governor) = self.governor.as_mut().filter(|_| phase != Phase::Drain) {
            self.clients.active.send_replace(governor.adjusted(share));
        }
    }

    /// Clients of all parts that load at a moment.
    fn active(&self, now_ns: u64) -> usize {
        let begun = |client: &u32| self.clients.schedule.begins_ns(*client) <= now_ns;
        let active = *self.clients.active.borrow();
        (0..active).filter(begun).count() * self.clients.parts.len()
    }

    /// One interval of all parts together, and how many turns each had.
    fn merged(&self, intervals: Vec<Option<Interval>>) -> Option<Interval> {
        let names = &self.clients.names;
        let turns = |interval: &Interval| -> u64 {
            names.turns.among(&interval.operations).map(|(_, kind)| kind.count).sum()
        };
        let by_part: Vec<u64> = intervals.iter().map(|interval| interval.as_ref().map_or(0, turns)).collect();
        let mut merged = intervals.into_iter().flatten().reduce(together)?;
        for (part, turns) in by_part.into_iter().enumerate() {
            merged.gauges.insert((names.turns_of_part)(part + 1), turns as f64);
        }
        Some(merged)
    }
}

/// Those of all parts, one part after the other.
fn recorders(clients: &Clients) -> impl Iterator<Item = &Recorder> {
    clients.parts.iter().flat_map(|part| &part.lanes).map(|lane| &lane.recorder)
}

/// The same interval of two who were cut alike.
fn together(mut one: Interval, other: Interval) -> Interval {
    for (kind, operation) in &other.operations {
        one.operations.entry(kind.clone()).or_default().merge(operation);
    }
    add_counters(&mut one.gauges, &other.gauges);
    one
}

impl Names {
    fn add_longest<'a>(&self, interval: &mut Interval, lanes: impl IntoIterator<Item = &'a Lane>) {
        let Some(names) = self.last_100_max else { return };
        let last: Vec<Last100> = lanes.into_iter().map(|lane| lock(&lane.last_100).clone()).collect();
        let Some(longest_ns) = Last100::longest_ns(&last) else { return };
        for (name, ns) in names.into_iter().zip(longest_ns) {
            interval.gauges.insert(name.to_owned(), ns as f64 / 1e6);
        }
    }
}

fn add_counters(into: &mut BTreeMap<String, f64>, counters: &BTreeMap<String, f64>) {
    for (name, count) in counters {
        *into.entry(name.clone()).or_default() += count;
    }
}
