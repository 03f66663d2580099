//! What collecting, buffering and flushing cost by themselves: the same source, buffer and counting as in a trial, on one
//! thread, into a database that does nothing.

use std::hint::black_box;

use database::{NumberRow as _, Rows};
use load::{Arrivals, Clock as _, Completed, MonotonicClock, Recorder};
use record::Calibration;

use super::buffer::{Buffer, Event, Take};
use super::job::Job;
use super::ledger::{Ledger, Sums};
use super::running::{COMMIT, RECORD, counted};
use super::settings::{Rate, Settings};
use super::setup;
use super::source::{BATCH_EVENTS, Generator};
use super::store::{self, SAMPLES};
use super::writer::ROW_BYTES;

/// How long a calibration runs.
const CALIBRATION_NS: u64 = 20_000_000;
/// Tags of a calibration, at most: it is not to take longer for memory that it touches once.
const CALIBRATION_TAGS_MAX: u32 = 100_000;

/// Rate at which the pipeline's events are due: more than it can do, so that each has a lag of its own.
const PIPELINE_PER_S: f64 = 1e9;

/// How fast the pipeline is without a database.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PipelineSpeed {
    /// Events that went all the way.
    pub events: u64,
    /// Time that it took, in seconds.
    pub seconds: f64,
    /// CPU time of the one thread, in seconds.
    pub cpu_seconds: f64,
}

impl PipelineSpeed {
    /// Events a second.
    #[must_use]
    pub fn events_per_s(&self) -> f64 {
        self.events as f64 / self.seconds
    }
}

/// Sends so many events of a job through source, buffer, rows and counts on this thread, into nothing.
#[must_use]
pub fn pipeline_only(job: &Job, events: u64) -> PipelineSpeed {
    Pipeline::new(job).run(|done, _| done >= events)
}

/// Events a second that one core collects, buffers, counts and hands over to nothing, with the default settings and random
/// changes. They come at a rate, so that due times, lag and response time are reckoned too.
#[must_use]
pub fn pipeline_events_per_s(events: u64) -> f64 {
    let settings = Settings { rate: Some(Rate::PerSecond(PIPELINE_PER_S)), ..Settings::default() };
    match Job::of(&settings) {
        Ok(job) => pipeline_only(&job, events).events_per_s(),
        Err(problems) => unreachable!("the defaults contradict nothing: {problems:?}"),
    }
}

/// What the load generator costs: CPU time, because a moment in which something else ran would make it look slow; again where a
/// figure is one that no other agrees with. None where nothing could be measured.
pub(crate) fn calibrate(job: &Job) -> Option<Calibration> {
    let tags = job.tags.min(CALIBRATION_TAGS_MAX);
    let job = Job { tags, ..job.clone() };
    let measure = || {
        let speed = Pipeline::new(&job).run(|_, now_ns| now_ns >= CALIBRATION_NS);
        Ok::<_, std::convert::Infallible>(Some(speed.cpu_seconds * 1e9 / speed.events as f64))
    };
    let found_ns = load::undisturbed_ns(measure).unwrap_or_else(|never| match never {});
    found_ns.map(|generator_ns_per_operation| Calibration { generator_ns_per_operation })
}

struct Pipeline {
    generator: Generator,
    arrivals: Option<Arrivals>,
    buffer: Buffer,
    recorder: Recorder,
    ledger: Ledger,
    sums: Sums,
    offered: Vec<Event>,
    batch: Vec<Event>,
    rows: Rows,
}

impl Pipeline {
    fn new(job: &Job) -> Self {
        // Nothing waits here, for its age or for the order of others: only what is done with an event is to count.
        let limits = super::buffer::Limits { flush_interval_ns: 0, ..setup::limits(job) };
        Self {
            generator: Generator::of(job),
            arrivals: Arrivals::of(job.pacing(), 0, 1, job.seed),
            buffer: Buffer::new(limits, job.phases),
            recorder: Recorder::new(counted(!job.is_closed()), job.phases),
            ledger: Ledger::new(0),
            sums: Sums::new(0),
            offered: Vec::with_capacity(BATCH_EVENTS),
            batch: Vec::with_capacity(job.flush_rows as usize),
            rows: Rows::with_capacity(SAMPLES.columns.len(), job.flush_rows as usize),
        }
    }

    /// Runs until it is told that it is enough, asked after each batch with the events done and the time.
    fn run(mut self, enough: impl Fn(u64, u64) -> bool) -> PipelineSpeed {
        let clock = MonotonicClock::starting_now();
        let cpu_before_ns = clock.thread_cpu_ns();
        let mut events = 0;
        loop {
            self.offer(&clock);
            events += self.flush(&clock);
            let now_ns = clock.now_ns();
            if enough(events, now_ns) {
                let cpu_ns = clock.thread_cpu_ns() - cpu_before_ns;
                return PipelineSpeed {
                    events,
                    seconds: now_ns as f64 / 1e9,
                    cpu_seconds: cpu_ns as f64 / 1e9,
                };
            }
            // As the controller does once a second.
            while self.buffer.take_closed(now_ns).is_some() {}
        }
    }

    fn offer(&mut self, clock: &MonotonicClock) {
        let now_ns = clock.now_ns();
        self.offered.clear();
        // Due times are made as in a trial, but nothing is waited for: what is due later is due now.
        let arrivals = &mut self.arrivals;
        let due_ns = (0..BATCH_EVENTS)
            .map(|_| arrivals.as_mut().map_or(now_ns, |arrivals| arrivals.take().min(now_ns)));
        self.generator.fill(&mut self.offered, 0, due_ns);
        let accepted = self.buffer.offer(&self.offered, now_ns);
        let lags_ns = self.offered[..accepted].iter().map(|event| now_ns - event.due_ns);
        self.recorder.at(now_ns).lags(RECORD, lags_ns);
        self.ledger.offered(self.offered.len() as u64, accepted as u64);
        self.buffer.passed(now_ns);
    }

    /// Takes everything that can be taken; gives how many events that were.
    fn flush(&mut self, clock: &MonotonicClock) -> u64 {
        let mut events = 0;
        loop {
            let sent_ns = clock.now_ns();
            self.batch.clear();
            if self.buffer.try_take(sent_ns, &mut self.batch) != Take::Taken {
                return events;
            }
            self.rows.clear();
            self.sums.clear();
            for event in &self.batch {
                self.sums.add(event);
                store::row(event).push_to(&mut self.rows);
            }
            black_box(&self.rows);
            let now_ns = clock.now_ns();
            self.ledger.acknowledged(&self.sums, Some(now_ns));
            let mut recording = self.recorder.at(now_ns);
            recording.complete(now_ns, Completed { kind: COMMIT, due_ns: None, sent_ns, bytes: 0 });
            let due_ns = self.batch.iter().map(|event| event.due_ns);
            recording.complete_together(RECORD, now_ns, sent_ns, ROW_BYTES, due_ns);
            drop(recording);
            self.buffer.committed(self.batch.len(), now_ns);
            events += self.batch.len() as u64;
        }
    }
}
