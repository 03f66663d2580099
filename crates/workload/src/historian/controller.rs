//! The controller of a trial: hands over its intervals each second, ends the load, and gives up a drain that has no end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use load::{Go, PauseWatch, Progress};
use record::Interval;
use record::historian::{DATABASE_BYTES, LOG_BYTES, MAINTENANCE_SHARE};

use super::pending::Gauge;
use super::reconcile::Drain;
use super::roles::Name;
use super::running::{KINDS, LATEST, Measured, PURGE, Running, SHRINK, TREND};
use crate::TrialError;
use crate::clock::Clock;
use crate::ending::Ending;
use crate::generator_cpu::GeneratorCpu;
use crate::silences::silence_marks;
use crate::threads::{LoadThreads, Threads};

/// A drain is waited for at least so long.
const DRAIN_NS_MIN: u64 = 60_000_000_000;
/// Time within which a stable step drains, at least.
const DRAIN_LIMIT_NS_MIN: u64 = 10_000_000_000;
/// Reads and purges that go on after the drain are waited for so long.
const OTHERS_NS: u64 = 30_000_000_000;

/// Conducts one trial.
pub(crate) struct Controller<'a> {
    running: &'a Arc<Running>,
    makers: LoadThreads,
    clock: Clock,
    /// None in simulated time.
    watch: Option<PauseWatch>,
    ending: Ending<'a>,
    on_progress: &'a mut dyn FnMut(Progress) -> Go,
    cpu: GeneratorCpu,
    /// Intervals whose gauges are not known yet.
    closed: VecDeque<Interval>,
    gauges: VecDeque<Gauge>,
    drain_limit_ns: u64,
    result: Result<(), TrialError>,
}

impl<'a> Controller<'a> {
    pub(crate) fn new(
        running: &'a Arc<Running>,
        makers: LoadThreads,
        (clock, watch): (Clock, Option<PauseWatch>),
        stop: &'a AtomicBool,
        on_progress: &'a mut dyn FnMut(Progress) -> Go,
    ) -> Self {
        let load_end_ns = running.phases.end_ns();
        let drain_limit_ns = DRAIN_LIMIT_NS_MIN.max(load_end_ns / 10);
        Self {
            running,
            makers,
            clock,
            watch,
            ending: Ending::new(clock, stop, load_end_ns, drain_limit_ns.max(DRAIN_NS_MIN)),
            on_progress,
            cpu: GeneratorCpu::default(),
            closed: VecDeque::new(),
            gauges: VecDeque::new(),
            drain_limit_ns,
            result: Ok(()),
        }
    }

    /// Conducts until all roles have ended.
    pub(crate) async fn conduct(mut self, threads: &mut Threads<Name>) -> Result<Drain, TrialError> {
        let mut others_until_ns = None;
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
                self.running.load_over.set();
            }
            if self.running.taken.is_set() {
                self.stop(now_ns);
                self.ending.give_up(now_ns);
            }
            if self.ending.is_given_up(now_ns) {
                self.running.give_up.set();
            }
            self.hand_over(now_ns);
            if !threads.runs(&Name::Writer) && now_ns >= *others_until_ns.get_or_insert(now_ns + OTHERS_NS) {
                self.running.over.set();
            }
        }
        self.finish();
        for mark in silence_marks(vec![self.running.recorder.silences()], self.ending.load_end_ns()) {
            (self.on_progress)(Progress::Mark(mark));
        }
        self.result.map(|()| Drain {
            seconds: self
                .running
                .buffer
                .drained_ns()
                .map(|drained_ns| drained_ns.saturating_sub(self.ending.load_end_ns()) as f64 / 1e9),
            limit_s: self.drain_limit_ns as f64 / 1e9,
        })
    }

    /// Ends the load before its time.
    pub(crate) fn stop(&mut self, now_ns: u64) {
        if !self.ending.stop(now_ns) {
            return;
        }
        if self.ending.end_load(now_ns) {
            self.running.recorder.end_load(now_ns);
            self.running.buffer.end_load(now_ns);
        }
        self.running.stopped.set();
        self.running.load_over.set();
    }

    /// Tells every interval that is whole by now.
    fn hand_over(&mut self, now_ns: u64) {
        self.closed.extend(self.running.recorder.take_closed(now_ns));
        while let Some(gauge) = self.running.buffer.take_closed(now_ns) {
            self.gauges.push_back(gauge);
        }
        while let Some(interval) = self.next_whole() {
            self.tell(interval, now_ns);
        }
    }

    /// The last intervals, the open one included.
    fn finish(&mut self) {
        let now_ns = self.clock.now_ns();
        self.closed.extend(self.running.recorder.finish(now_ns));
        self.gauges.extend(self.running.buffer.finish(now_ns));
        while let Some(mut interval) = self.closed.pop_front() {
            self.add_gauges(&mut interval);
            self.tell(interval, now_ns);
        }
    }

    /// The next interval whose gauges are known too, with them.
    fn next_whole(&mut self) -> Option<Interval> {
        let end_s = self.closed.front()?.end_s;
        self.gauges.iter().find(|gauge| end_s_of(gauge) >= end_s)?;
        let mut interval = self.closed.pop_front()?;
        self.add_gauges(&mut interval);
        Some(interval)
    }

    fn add_gauges(&mut self, interval: &mut Interval) {
        // The last interval ends when it is asked for, a moment after the operations' one.
        let is_last = self.closed.is_empty() && self.gauges.len() == 1;
        let within = |gauge: &Gauge| is_last || end_s_of(gauge) <= interval.end_s;
        let Some(mut gauge) =
            self.gauges.front().is_some_and(within).then(|| self.gauges.pop_front()).flatten()
        else {
            return;
        };
        while self.gauges.front().is_some_and(|next| end_s_of(next) <= interval.end_s) {
            if let Some(next) = self.gauges.pop_front() {
                gauge.join(&next);
            }
        }
        let gauges = &mut interval.gauges;
        let mut set = |name: &str, value: f64| gauges.insert(name.to_owned(), value);
        set(record::PENDING, gauge.pending.mean());
        set(record::PENDING_MIN, gauge.pending.min as f64);
        set(record::PENDING_MAX, gauge.pending.max as f64);
        set(record::OFFERED, gauge.offered as f64);
        set(record::REFUSED, gauge.refused as f64);
    }

    fn tell(&mut self, mut interval: Interval, now_ns: u64) {
        interval.generator_pauses = self.watch.as_ref().map(|watch| watch.of(&interval));
        let used = self.cpu.take(&self.makers.lock(), now_ns);
        interval.generator_cpu_us = used.cpu_us;
        interval.generator_busiest_share = used.busiest_share;
        let mut measured = self.running.measured();
        measured.add_to(&mut interval, self.running.job.maintenance.is_some());
        drop(measured);
        self.leave_out_kinds(&mut interval);
        for mark in self.running.ledger.marks() {
            (self.on_progress)(Progress::Mark(mark));
        }
        if (self.on_progress)(Progress::Interval(interval)) == Go::Stop {
            self.stop(now_ns);
        }
    }

    /// Kinds that this trial cannot have are not told.
    fn leave_out_kinds(&self, interval: &mut Interval) {
        let job = &self.running.job;
        let absent = [
            (TREND, job.readers.is_none()),
            (LATEST, job.readers.is_none()),
            (PURGE, job.maintenance.is_none()),
            (SHRINK, !job.maintenance.is_some_and(|maintenance| maintenance.shrink)),
        ];
        for (kind, _) in absent.into_iter().filter(|(_, is_absent)| *is_absent) {
            interval.operations.remove(KINDS[kind]);
        }
    }
}

impl Measured {
    /// Adds sizes that were read in an interval, and the share of it in which maintenance ran.
    fn add_to(&mut self, interval: &mut Interval, maintains: bool) {
        let ns = |seconds: f64| (seconds * 1e9).round() as u64;
        let (start_ns, end_ns) = (ns(interval.end_s - interval.length_s), ns(interval.end_s));
        let read = self.sizes.iter().take_while(|(read_ns, _)| *read_ns < end_ns).count();
        for (_, sizes) in self.sizes.drain(..read) {
            for (name, bytes) in [(DATABASE_BYTES, sizes.database_bytes), (LOG_BYTES, sizes.log_bytes)] {
                if let Some(bytes) = bytes {
                    interval.gauges.insert(name.to_owned(), bytes as f64);
                }
            }
        }
        if !maintains {
            return;
        }
        let within_ns = |&(begin_ns, ended_ns): &(u64, Option<u64>)| {
            ended_ns.unwrap_or(end_ns).min(end_ns).saturating_sub(begin_ns.max(start_ns))
        };
        let busy_ns: u64 = self.maintenance_ns.iter().map(within_ns).sum();
        let share = busy_ns as f64 / (end_ns - start_ns).max(1) as f64;
        interval.gauges.insert(MAINTENANCE_SHARE.to_owned(), share.min(1.0));
        // Intervals come in order: what ended before this one's end is not needed again.
        self.maintenance_ns.retain(|(_, ended_ns)| ended_ns.is_none_or(|ended_ns| ended_ns > end_ns));
    }
}

fn end_s_of(gauge: &Gauge) -> f64 {
    gauge.end_ns() as f64 / 1e9
}
