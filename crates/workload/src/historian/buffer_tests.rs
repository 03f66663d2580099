//! The buffer against a naive model, and its waking of writers and source.

use std::sync::Arc;

use load::Span;
use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;
const PHASES: Phases = Phases { warm_up: Span::ZERO, measure: Span::seconds(3_600) };

fn buffer(max_events: usize, flush_rows: usize, flush_interval_ms: u64, sorting_ms: u64) -> Buffer {
    let limits = Limits {
        max_events,
        flush_rows,
        flush_interval_ns: flush_interval_ms * MS,
        sorting_ns: sorting_ms * MS,
    };
    Buffer::new(limits, PHASES)
}

fn event(due_ms: u64, tag: u32) -> Event {
    Event { time_us: (due_ms * 1_000) as i64, due_ns: due_ms * MS, value: 0.0, tag, quality: 192 }
}

fn events(count: u32, due_ms: u64) -> Vec<Event> {
    (0..count).map(|tag| event(due_ms, tag)).collect()
}

#[test]
fn a_partial_flush_waits_for_its_age() {
    let buffer = buffer(100, 10, 1_000, 0);
    let mut batch = Vec::new();
    buffer.offer(&events(3, 200), 200 * MS);
    assert_eq!(buffer.try_take(1_199 * MS, &mut batch), Take::Wait { until_ns: Some(1_200 * MS) });
    assert_eq!(buffer.try_take(1_200 * MS, &mut batch), Take::Taken);
    assert_eq!(batch, events(3, 200));
    assert_eq!(buffer.try_take(9_000 * MS, &mut batch), Take::Wait { until_ns: None });
}

#[test]
fn what_is_taken_takes_room_until_it_is_committed() {
    let buffer = buffer(10, 6, 1_000, 0);
    let mut batch = Vec::new();
    assert_eq!(buffer.offer(&events(8, 0), 0), 8);
    assert_eq!(buffer.try_take(0, &mut batch), Take::Taken);
    assert_eq!(buffer.offer(&events(5, 1), MS), 2, "six are being written, two are queued");
    buffer.committed(6, 2 * MS);
    assert_eq!(buffer.offer(&events(5, 2), 2 * MS), 5);
}

#[test]
fn a_source_that_has_ended_lets_everything_out_at_once() {
    let buffer = buffer(100, 10, 60_000, 60_000);
    let mut batch = Vec::new();
    buffer.offer(&[event(5, 2), event(3, 1), event(5, 0)], 6 * MS);
    buffer.end(7 * MS);
    assert_eq!(buffer.try_take(7 * MS, &mut batch), Take::Taken);
    assert_eq!(batch, [event(3, 1), event(5, 0), event(5, 2)]);
    assert_eq!(buffer.try_take(7 * MS, &mut Vec::new()), Take::Drained);
    assert_eq!(buffer.drained_ns(), None, "they are not committed yet");
    buffer.committed(3, 9 * MS);
    assert_eq!(buffer.drained_ns(), Some(9 * MS));
}

#[test]
fn refused_events_count_in_the_second_in_which_they_were_due() {
    let buffer = buffer(3, 3, 1_000, 0);
    let due: Vec<Event> = [800, 900, 950, 1_050, 1_100].map(|due_ms| event(due_ms, 0)).to_vec();
    assert_eq!(buffer.offer(&due, 1_200 * MS), 3);
    buffer.passed(1_200 * MS);
    let first = buffer.take_closed(1_200 * MS).unwrap();
    assert_eq!((first.offered, first.refused), (3, 0));
    buffer.passed(2_000 * MS);
    let second = buffer.take_closed(2_000 * MS).unwrap();
    assert_eq!((second.offered, second.refused), (2, 2));
}

/// Runs on one thread in simulated time.
fn simulated<T>(work: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, work)
}

#[test]
fn every_writer_that_waits_gets_a_flush() {
    let taken = simulated(async {
        let clock = Clock::starting_now(true);
        let buffer = Arc::new(buffer(1_000, 10, 60_000, 0));
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let buffer = Arc::clone(&buffer);
                tokio::task::spawn_local(async move {
                    let mut batch = Vec::new();
                    buffer.take(clock, &mut batch).await;
                    (batch.len(), clock.now_ns())
                })
            })
            .collect();
        clock.until(10 * MS).await;
        buffer.offer(&events(40, 10), clock.now_ns());
        let mut taken = Vec::new();
        for writer in writers {
            taken.push(writer.await.unwrap());
        }
        taken
    });
    assert_eq!(taken, vec![(10, 10 * MS); 4]);
}

#[test]
fn while_one_writer_is_busy_another_one_minds_what_is_left() {
    let taken_ms = simulated(async {
        let clock = Clock::starting_now(true);
        let buffer = Arc::new(buffer(1_000, 10, 500, 0));
        let writers: Vec<_> = (0..2)
            .map(|_| {
                let buffer = Arc::clone(&buffer);
                tokio::task::spawn_local(async move {
                    let mut batch = Vec::new();
                    buffer.take(clock, &mut batch).await;
                    // Busy for ever after.
                    (batch.len(), clock.now_ns() / MS)
                })
            })
            .collect();
        clock.until(10 * MS).await;
        buffer.offer(&events(13, 10), clock.now_ns());
        let mut taken = Vec::new();
        for writer in writers {
            taken.push(writer.await.unwrap());
        }
        taken.sort_unstable();
        taken
    });
    assert_eq!(taken_ms, [(3, 510), (10, 10)]);
}

#[test]
fn a_source_waits_for_room_and_gets_it() {
    let (room, waited_ms) = simulated(async {
        let clock = Clock::starting_now(true);
        let buffer = Arc::new(buffer(100, 10, 500, 0));
        assert_eq!(buffer.room().await, 100);
        buffer.offer(&events(100, 0), 0);
        let writer = {
            let buffer = Arc::clone(&buffer);
            tokio::task::spawn_local(async move {
                let mut batch = Vec::new();
                for _ in 0..10 {
                    batch.clear();
                    buffer.take(clock, &mut batch).await;
                    clock.until(clock.now_ns() + 5 * MS).await;
                    buffer.committed(batch.len(), clock.now_ns());
                }
            })
        };
        let room = buffer.room().await;
        let waited_ms = clock.now_ns() / MS;
        writer.await.unwrap();
        (room, waited_ms)
    });
    assert_eq!((room, waited_ms), (50, 25), "half of the buffer is worth telling");
}

/// What happens to a buffer.
#[derive(Clone, Debug)]
enum Step {
    Offer(Vec<(u64, u32)>),
    Take,
    Commit,
    Wait(u64),
    End,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec((0u64..30, 0u32..4), 1..30).prop_map(Step::Offer),
        4 => Just(Step::Take),
        3 => Just(Step::Commit),
        3 => (0u64..50).prop_map(Step::Wait),
        1 => Just(Step::End),
    ]
}

/// The same in the plainest words: a list of what is queued.
struct Model {
    queued: Vec<Event>,
    ready: Vec<Event>,
    written: Vec<usize>,
    ended: bool,
}

impl Model {
    fn pending(&self) -> usize {
        self.queued.len() + self.ready.len() + self.written.iter().sum::<usize>()
    }

    fn take(&mut self, limits: Limits, now_ns: u64) -> Option<Vec<Event>> {
        let ended = self.ended;
        let is_ripe = |event: &Event| ended || event.due_ns + limits.sorting_ns <= now_ns;
        let mut ripe: Vec<Event> = self.queued.iter().copied().filter(is_ripe).collect();
        self.queued.retain(|event| !is_ripe(event));
        if limits.sorting_ns > 0 {
            ripe.sort_by_key(|event| (event.time_us, event.tag));
        }
        self.ready.extend(ripe);
        let oldest = self.ready.first()?;
        let waited = oldest.due_ns + limits.sorting_ns + limits.flush_interval_ns <= now_ns;
        let is_taken = waited || ended || self.ready.len() >= limits.flush_rows;
        let rows = self.ready.len().min(limits.flush_rows);
        is_taken.then(|| self.ready.drain(..rows).collect())
    }
}

proptest! {
    #[test]
    fn a_buffer_does_what_a_list_does(
        steps in prop::collection::vec(step(), 0..80),
        max_events in 1usize..60,
        flush_rows in 1usize..20,
        flush_interval_ms in 1u64..40,
        sorting_ms in prop_oneof![Just(0u64), 1u64..40],
    ) {
        let buffer = buffer(max_events, flush_rows, flush_interval_ms, sorting_ms);
        let limits = buffer.limits;
        let mut model = Model { queued: Vec::new(), ready: Vec::new(), written: Vec::new(), ended: false };
        let (mut now_ns, mut offered, mut accepted, mut taken) = (100 * MS, 0, 0, 0);
        for step in steps {
            match step {
                Step::Offer(_) if model.ended => {}
                Step::Offer(mut ages) => {
                    ages.sort_unstable_by(|a, b| b.cmp(a));
                    let now_ms = now_ns / MS;
                    let batch: Vec<Event> = ages.iter().map(|&(age_ms, tag)| event(now_ms - age_ms, tag)).collect();
                    let room = max_events - model.pending();
                    let expected = batch.len().min(room);
                    prop_assert_eq!(buffer.offer(&batch, now_ns), expected);
                    model.queued.extend(&batch[..expected]);
                    offered += batch.len() as u64;
                    accepted += expected;
                }
                Step::Take => {
                    let mut batch = Vec::new();
                    let told = buffer.try_take(now_ns, &mut batch);
                    match model.take(limits, now_ns) {
                        Some(expected) => {
                            prop_assert_eq!(told, Take::Taken);
                            let keys = |events: &[Event]| -> Vec<_> {
                                events.iter().map(|event| (event.time_us, event.tag)).collect()
                            };
                            prop_assert_eq!(keys(&batch), keys(&expected));
                            taken += batch.len();
                            model.written.push(batch.len());
                        }
                        None if model.ended => prop_assert_eq!(told, Take::Drained),
                        None => prop_assert!(matches!(told, Take::Wait { .. }), "{:?}", told),
                    }
                }
                Step::Commit => {
                    if let Some(rows) = model.written.pop() {
                        buffer.committed(rows, now_ns);
                    }
                }
                Step::Wait(ms) => now_ns += ms * MS,
                Step::End => {
                    model.ended = true;
                    buffer.end(now_ns);
                }
            }
            prop_assert!(model.pending() <= max_events);
            prop_assert_eq!(load::lock(&buffer.state).pending.level() as usize, model.pending());
        }
        prop_assert_eq!(accepted, taken + model.queued.len() + model.ready.len());
        let counted: u64 = buffer.finish(now_ns).iter().map(|gauge| gauge.offered).sum();
        prop_assert_eq!(counted, offered);
    }
}
