//! The controller of a trial of reports: hands over its intervals each second, and ends it where the user wants that.

use std::sync::atomic::AtomicBool;

use load::{Go, PauseWatch, Progress};
use record::Interval;

use super::running::{Role, Running};
use crate::TrialError;
use crate::clock::Clock;
use crate::ending::Ending;
use crate::generator_cpu::GeneratorCpu;
use crate::threads::{LoadThreads, Threads};

/// Longer than any trial.
const WITHOUT_END_NS: u64 = u64::MAX / 4;
/// A commit that was sent is awaited for so long after the last report.
const DRAIN_NS: u64 = 60_000_000_000;

/// Conducts one trial.
pub(super) struct Controller<'a> {
    running: &'a Running,
    makers: LoadThreads,
    clock: Clock,
    watch: Option<PauseWatch>,
    ending: Ending<'a>,
    on_progress: &'a mut dyn FnMut(Progress) -> Go,
    cpu: GeneratorCpu,
    result: Result<(), TrialError>,
}

impl<'a> Controller<'a> {
    pub(super) fn new(
        running: &'a Running,
        makers: LoadThreads,
        (clock, watch): (Clock, Option<PauseWatch>),
        stop: &'a AtomicBool,
        on_progress: &'a mut dyn FnMut(Progress) -> Go,
    ) -> Self {
        let mut cpu = GeneratorCpu::default();
        // What connecting took is no part of the load.
        cpu.take(&makers.lock(), 0);
        Self {
            running,
            makers,
            clock,
            watch,
            ending: Ending::new(clock, stop, WITHOUT_END_NS, WITHOUT_END_NS),
            on_progress,
            cpu,
            result: Ok(()),
        }
    }

    /// Conducts until the reports are done and no event is on its way.
    pub(super) async fn conduct(mut self, threads: &mut Threads<Role>) -> Result<(), TrialError> {
        let mut given_up_ns = None;
        while !threads.all_ended() {
            let (now_ns, ended) = self.ending.look(threads).await;
            if let Some((_, Err(error))) = ended {
                self.stop(now_ns);
                self.result = std::mem::replace(&mut self.result, Ok(())).and(Err(error));
            }
            if self.ending.is_wanted() {
                self.stop(now_ns);
            }
            if !threads.runs(&Role::Asking) && now_ns >= *given_up_ns.get_or_insert(now_ns + DRAIN_NS) {
                self.running.over.set();
            }
            let is_last = self.running.load_over.is_set();
            for interval in self.running.recorder.take_closed(now_ns) {
                self.tell(interval, now_ns);
            }
            if is_last {
                self.running.told.set();
            }
        }
        let now_ns = self.clock.now_ns();
        for interval in self.running.recorder.finish(now_ns) {
            self.tell(interval, now_ns);
        }
        self.result
    }

    /// Ends the load before its time. A report may take an hour and is not awaited.
    pub(super) fn stop(&mut self, now_ns: u64) {
        if !self.ending.stop(now_ns) {
            return;
        }
        self.running.recorder.end_load(now_ns);
        self.running.load_over.set();
        self.running.over.set();
    }

    fn tell(&mut self, mut interval: Interval, now_ns: u64) {
        interval.generator_pauses = self.watch.as_ref().map(|watch| watch.of(&interval));
        let used = self.cpu.take(&self.makers.lock(), now_ns);
        interval.generator_cpu_us = used.cpu_us;
        interval.generator_busiest_share = used.busiest_share;
        if (self.on_progress)(Progress::Interval(interval)) == Go::Stop {
            self.stop(now_ns);
        }
    }
}
