//! The source of events: counters, random changes, a PLC or a recording.
//!
//! In an open loop due times depend on nothing that the database does: what is due is offered, and refused if the buffer
//! is full. Everything that fell due meanwhile is offered as one batch, so that the source is never what limits.

use std::hint::black_box;
use std::pin::pin;

use load::{Arrivals, Pacing};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Loop;

use super::acquisition::Acquisition;
use super::buffer::Event;
use super::job::{self, Job};
use super::replay::Replay;
use super::running::{RECORD, Running};
use super::tags;
use crate::TrialError;
use crate::clock::Clock;

/// Most events that are offered at once: as many as fit into a processor's cache of the second level.
pub(crate) const BATCH_EVENTS: usize = 4_096;
/// Most events of one round in a closed loop, after which a source looks whether it is to go on.
const ROUND_EVENTS: usize = 2 * BATCH_EVENTS;
/// Most of them that are offered at once: as many as fit into half a cache of the first level, so that they are copied from there.
const CHUNK_EVENTS: usize = 512;
/// Values of tags in a cache line.
const LINE_VALUES: usize = 8;
/// Steps of a random change from one end to the other.
const STEPS: f64 = (1u64 << 32) as f64;
/// Quality of a value that is good, as OPC spells it.
pub(crate) const GOOD: u8 = 192;
/// Most events of one moment in a closed loop. Real time always goes on between two batches; simulated time does not,
/// if the database takes none, and would stand still for ever.
const MOMENT_EVENTS_MAX: usize = 20_000;
/// How late events are still offered after the end of the load. A source that is later than this could not keep its rate,
/// which its lag tells.
const LATE_NS_MAX: u64 = 1_000_000_000;

/// Where events come from.
#[derive(Debug)]
pub(crate) enum Source {
    /// Counters or random changes.
    MadeUp(MadeUp),
    /// A recording.
    Replay(Box<Replay>),
    Plc(Acquisition),
}

/// Makes events, each in its turn.
#[derive(Clone, Debug)]
pub(crate) enum Generator {
    /// Each tag steps in turn.
    Counters { tags: u32, tag: u32, step: f64 },
    /// A tag at random takes a step of its own walk.
    Random { random: Xoshiro256PlusPlus, values: Vec<f64> },
}

/// Offers made-up events until the load ends.
#[derive(Debug)]
pub(crate) struct MadeUp {
    generator: Generator,
    pacing: Pacing,
    seed: u64,
}

impl Source {
    /// Opens what events come from, as far as it is on this machine.
    ///
    /// # Errors
    /// When a recording cannot be read.
    pub(crate) fn open(job: &Job) -> Result<Self, TrialError> {
        match &job.source {
            job::Source::Counters | job::Source::Random(_) => Ok(Self::MadeUp(MadeUp::of(job))),
            job::Source::Csv { path, speed, reading, .. } => {
                Ok(Self::Replay(Box::new(Replay::open(path, reading, *speed)?)))
            }
            job::Source::Modbus { address, poll_interval } => {
                Ok(Self::Plc(Acquisition::of(address, job.tags, poll_interval.ns)))
            }
        }
    }

    /// The job as this source can do it.
    pub(crate) fn job(&self, job: &Job) -> Job {
        match self {
            Self::MadeUp(_) | Self::Plc(_) => job.clone(),
            Self::Replay(replay) => replay.job(job),
        }
    }

    /// What is to be said of it in the record.
    pub(crate) fn notes(&self, job: &Job) -> Vec<String> {
        match self {
            Self::MadeUp(_) | Self::Plc(_) => Vec::new(),
            Self::Replay(replay) => replay.notes(job),
        }
    }

    pub(crate) fn tag_name(&self, tag: u32) -> String {
        match self {
            Self::MadeUp(_) | Self::Plc(_) => tags::name(tag),
            Self::Replay(replay) => replay.tag_name(tag),
        }
    }

    /// Events a second, on average or at most, as far as that is known beforehand.
    pub(crate) fn pacing(&self) -> Loop {
        match self {
            Self::MadeUp(source) => source.pacing.recorded(),
            Self::Replay(replay) => Loop::Open { rate_per_s: replay.events_per_s(), poisson: false },
            Self::Plc(plc) => Loop::Open { rate_per_s: plc.registers_per_s(), poisson: false },
        }
    }

    /// Connects to what is not on this machine.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub(crate) async fn connect(&mut self) -> Result<(), TrialError> {
        match self {
            Self::MadeUp(_) | Self::Replay(_) => Ok(()),
            Self::Plc(plc) => plc.connect().await,
        }
    }

    /// Offers events until the load ends.
    ///
    /// # Errors
    /// When a recording cannot be read any further, or a PLC cannot do what is asked.
    pub(crate) async fn run(self, running: &Running, clock: Clock) -> Result<(), TrialError> {
        let all = async {
            match self {
                Self::MadeUp(source) => {
                    source.run(running, clock).await;
                    Ok(())
                }
                Self::Replay(replay) => replay.run(running, clock).await,
                Self::Plc(plc) => plc.run(running, clock).await,
            }
        };
        let result = tokio::select! {
            result = all => result,
            () = running.stopped.wait() => Ok(()),
            () = clock.until(running.phases.end_ns() + LATE_NS_MAX) => Ok(()),
        };
        running.buffer.end(clock.now_ns());
        result
    }
}

impl Generator {
    /// Has the state of all tags come into the caches before so many events, where they ask for most of it: in its order, which a
    /// processor reads ahead of, and not tag by tag. While a source waits, whatever else ran has pushed it out.
    fn warm(&self, events: usize) {
        if let Self::Random { values, .. } = self
            && values.len() <= events
        {
            black_box(values.iter().step_by(LINE_VALUES).sum::<f64>());
        }
    }

    pub(crate) fn of(job: &Job) -> Self {
        match job.source {
            job::Source::Random(_) => Self::Random {
                random: Xoshiro256PlusPlus::seed_from_u64(job.seed),
                values: vec![0.0; job.tags as usize],
            },
            job::Source::Counters | job::Source::Modbus { .. } | job::Source::Csv { .. } => {
                Self::Counters { tags: job.tags, tag: 0, step: 0.0 }
            }
        }
    }

    /// Adds the next events, one for each moment at which one is due.
    #[inline]
    pub(crate) fn fill(&mut self, events: &mut Vec<Event>, epoch_us: i64, due_ns: impl Iterator<Item = u64>) {
        let event = |due_ns: u64, tag: u32, value: f64| Event {
            time_us: epoch_us + (due_ns / 1_000) as i64,
            due_ns,
            value,
            tag,
            quality: GOOD,
        };
        match self {
            Self::Counters { tags, tag, step } => events.extend(due_ns.map(|due_ns| {
                let event = event(due_ns, *tag, *step);
                *tag += 1;
                if *tag == *tags {
                    *tag = 0;
                    *step += 1.0;
                }
                event
            })),
            Self::Random { random, values } => {
                // A copy that nothing else can reach stays in registers.
                let (mut drawn, values) = (random.clone(), values.as_mut_slice());
                events.extend(due_ns.map(|due_ns| {
                    let bits = drawn.next_u64();
                    // The upper half chooses the tag, the lower one the step, both with 32 bits.
                    let tag = ((bits >> 32) * values.len() as u64) >> 32;
                    let value = &mut values[tag as usize];
                    *value += (bits & 0xffff_ffff) as f64 / STEPS - 0.5;
                    event(due_ns, tag as u32, *value)
                }));
                *random = drawn;
            }
        }
    }
}

impl MadeUp {
    pub(crate) fn of(job: &Job) -> Self {
        // Not the seed of the values: due times and values are not to follow from the same numbers.
        Self { generator: Generator::of(job), pacing: job.pacing(), seed: job.seed ^ 0xa5a5_5a5a }
    }

    /// Offers events until the load ends.
    pub(crate) async fn run(mut self, running: &Running, clock: Clock) {
        match Arrivals::of(self.pacing, 0, 1, self.seed) {
            Some(arrivals) => self.open(arrivals, running, clock).await,
            None => self.closed(running, clock).await,
        }
    }

    async fn open(&mut self, mut arrivals: Arrivals, running: &Running, clock: Clock) {
        let end_ns = running.phases.end_ns();
        let mut batch = Vec::with_capacity(BATCH_EVENTS);
        loop {
            let now_ns = clock.now_ns();
            if now_ns > end_ns + LATE_NS_MAX {
                return;
            }
            let until_ns = end_ns.min(now_ns + 1);
            let due_ns = std::iter::from_fn(|| (arrivals.next_ns() < until_ns).then(|| arrivals.take()));
            self.generator.fill(&mut batch, running.epoch_us, due_ns.take(BATCH_EVENTS));
            if !batch.is_empty() {
                running.offer(&batch, clock.now_ns());
            }
            batch.clear();
            running.buffer.passed(arrivals.next_ns());
            if arrivals.next_ns() >= end_ns {
                return clock.until(end_ns).await;
            }
            clock.until_about(arrivals.next_ns()).await;
        }
    }

    async fn closed(&mut self, running: &Running, clock: Clock) {
        let end_ns = running.phases.end_ns();
        let mut chunk = Vec::with_capacity(CHUNK_EVENTS);
        let (mut moment_ns, mut in_moment, mut last_ns) = (0, 0, 0);
        // What is offered is due when it is: no interval need wait for it.
        running.buffer.passed(u64::MAX);
        let mut end = pin!(clock.until(end_ns));
        loop {
            let room = tokio::select! {
                room = running.buffer.room() => room,
                () = &mut end => return,
            };
            let now_ns = clock.now_ns();
            if now_ns >= end_ns || running.stopped.is_set() {
                return;
            }
            in_moment = if now_ns == moment_ns { in_moment } else { 0 };
            moment_ns = now_ns;
            let mut times_ns = spread(last_ns, now_ns, room.min(ROUND_EVENTS));
            last_ns = now_ns;
            in_moment += times_ns.len();
            self.generator.warm(times_ns.len());
            while times_ns.len() > 0 {
                chunk.clear();
                self.generator.fill(&mut chunk, running.epoch_us, times_ns.by_ref().take(CHUNK_EVENTS));
                running.offer(&chunk, clock.now_ns());
            }
            if in_moment >= MOMENT_EVENTS_MAX {
                clock.until(now_ns + 1).await;
            }
        }
    }
}

/// So many moments, evenly from after one to another: a flush is known by its tags and times. In fractions of 2^-20 ns, so that
/// all of them need one division, and each an addition.
fn spread(after_ns: u64, until_ns: u64, moments: usize) -> impl ExactSizeIterator<Item = u64> {
    let step = (u128::from(until_ns - after_ns) << 20) / moments.max(1) as u128;
    let mut at = u128::from(after_ns) << 20;
    (1..moments + 1).map(move |moment| {
        at += step;
        if moment == moments { until_ns } else { (at >> 20) as u64 }
    })
}

impl Running {
    /// Offers events to the buffer and counts how late the accepted ones are.
    pub(crate) fn offer(&self, events: &[Event], now_ns: u64) -> usize {
        let accepted = self.buffer.offer(events, now_ns);
        let lags_ns = events[..accepted].iter().map(|event| now_ns.saturating_sub(event.due_ns));
        self.recorder.at(now_ns).lags(RECORD, lags_ns);
        self.ledger.offered(events.len() as u64, accepted as u64);
        accepted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::historian::{Rate, Settings, SourceChoice};

    fn job(source: SourceChoice, tags: u32, seed: u64) -> Job {
        let rate = (source == SourceChoice::Random).then_some(Rate::PerSecond(1_000.0));
        let settings = Settings {
            source: Some(source),
            rate,
            tags: Some(tags),
            seed: Some(seed),
            ..Settings::default()
        };
        Job::of(&settings).unwrap()
    }

    fn made(job: &Job, count: u64) -> Vec<Event> {
        let mut events = Vec::new();
        Generator::of(job).fill(&mut events, 7_000_000, (0..count).map(|number| number * 1_500));
        events
    }

    #[test]
    fn counters_step_tag_by_tag() {
        let events = made(&job(SourceChoice::Counters, 3, 1), 7);
        let steps: Vec<(u32, f64, i64)> =
            events.iter().map(|event| (event.tag, event.value, event.time_us - 7_000_000)).collect();
        assert_eq!(
            steps,
            [(0, 0.0, 0), (1, 0.0, 1), (2, 0.0, 3), (0, 1.0, 4), (1, 1.0, 6), (2, 1.0, 7), (0, 2.0, 9)]
        );
    }

    proptest! {
        #[test]
        fn times_of_a_batch_rise_evenly_to_now(
            after_ns in 0u64..1 << 52,
            since_ns in 0u64..1 << 52,
            moments in 1usize..=BATCH_EVENTS,
        ) {
            let times_ns: Vec<u64> = spread(after_ns, after_ns + since_ns, moments).collect();
            prop_assert_eq!(times_ns.len(), moments);
            prop_assert_eq!(times_ns.last(), Some(&(after_ns + since_ns)));
            for (number, &time_ns) in times_ns.iter().enumerate() {
                let exact_ns = u128::from(since_ns) * (number as u128 + 1) / moments as u128;
                prop_assert!(exact_ns.abs_diff(u128::from(time_ns - after_ns)) <= 1, "{number}: {time_ns}");
            }
        }
    }

    #[test]
    fn random_changes_follow_from_the_seed() {
        let events = made(&job(SourceChoice::Random, 50, 1), 1_000);
        assert_eq!(events, made(&job(SourceChoice::Random, 50, 1), 1_000));
        assert_ne!(events, made(&job(SourceChoice::Random, 50, 2), 1_000));
    }

    #[test]
    fn random_changes_reach_every_tag_and_walk_by_small_steps() {
        let events = made(&job(SourceChoice::Random, 50, 1), 50_000);
        let mut values = vec![0.0; 50];
        let mut counts = vec![0u32; 50];
        for event in events {
            let tag = event.tag as usize;
            let step: f64 = event.value - values[tag];
            assert!(step.abs() <= 0.5, "{step}");
            values[tag] = event.value;
            counts[tag] += 1;
        }
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }
}
