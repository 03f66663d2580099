//! Puts the threads' intervals together: an interval of the trial is whole once every thread has handed over its part.

use std::collections::{BTreeMap, VecDeque};

use record::{Interval, OperationInterval};

use crate::ThreadInterval;

/// Merges intervals of threads that each hand them over in order.
#[derive(Debug)]
pub struct Merge {
    kinds: Vec<String>,
    /// Threads that will still hand over.
    running: Vec<bool>,
    pending: VecDeque<Pending>,
    first_index: u32,
}

#[derive(Debug)]
struct Pending {
    interval: Interval,
    merged_threads: u32,
    /// Threads that had not finished when the interval was opened must have handed over their part.
    seen: Vec<bool>,
}

impl Merge {
    /// For so many threads whose meters count kinds of these names. Those that are named alike are told as one.
    #[must_use]
    pub fn new(kinds: impl IntoIterator<Item: Into<String>>, threads: usize) -> Self {
        let kinds = kinds.into_iter().map(Into::into).collect();
        Self { kinds, running: vec![true; threads], pending: VecDeque::new(), first_index: 0 }
    }

    /// Takes a thread's interval. The part itself can be used again.
    pub fn add(&mut self, thread: usize, part: &ThreadInterval) {
        let position = (part.index - self.first_index) as usize;
        while self.pending.len() <= position {
            self.pending.push_back(Pending::new(part, self.running.len()));
        }
        self.pending[position].merge(&self.kinds, thread, part);
    }

    /// A thread has handed over its last interval.
    pub fn finished(&mut self, thread: usize) {
        self.running[thread] = false;
    }

    /// The next interval that all threads have handed over, in order.
    pub fn next_whole(&mut self) -> Option<Interval> {
        let first = self.pending.front()?;
        let waits = self.running.iter().zip(&first.seen).any(|(running, seen)| *running && !seen);
        if waits || first.merged_threads == 0 {
            return None;
        }
        self.first_index += 1;
        self.pending.pop_front().map(|pending| pending.interval)
    }
}

impl Pending {
    fn new(part: &ThreadInterval, threads: usize) -> Self {
        Self {
            interval: Interval {
                end_s: 0.0,
                length_s: 0.0,
                phase: part.phase,
                operations: BTreeMap::new(),
                gauges: BTreeMap::new(),
                generator_cpu_us: 0,
                generator_busiest_share: 0.0,
                generator_pauses: None,
            },
            merged_threads: 0,
            seen: vec![false; threads],
        }
    }

    fn merge(&mut self, kinds: &[String], thread: usize, part: &ThreadInterval) {
        let length_ns = part.end_ns - part.start_ns;
        let interval = &mut self.interval;
        interval.phase = part.phase;
        // Threads end the drain at different moments: the longest one counts.
        interval.end_s = interval.end_s.max(part.end_ns as f64 / 1e9);
        interval.length_s = interval.length_s.max(length_ns as f64 / 1e9);
        interval.generator_cpu_us += part.cpu_ns / 1_000;
        let busy_share = part.cpu_ns as f64 / length_ns.max(1) as f64;
        interval.generator_busiest_share = interval.generator_busiest_share.max(busy_share);
        for (kind, operation) in kinds.iter().zip(&part.operations) {
            match interval.operations.get_mut(kind) {
                Some(merged) => merged.merge(operation),
                None => {
                    interval.operations.insert(kind.clone(), OperationInterval::clone(operation));
                }
            }
        }
        self.merged_threads += 1;
        self.seen[thread] = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use record::Phase;

    fn part(index: u32, count: u64) -> ThreadInterval {
        let mut part = ThreadInterval::new(1, false);
        part.index = index;
        part.start_ns = u64::from(index) * 1_000_000_000;
        part.end_ns = part.start_ns + 1_000_000_000;
        part.phase = Phase::Measure;
        part.cpu_ns = 250_000_000 * count;
        part.operations[0].count = count;
        part
    }

    #[test]
    fn an_interval_waits_for_every_thread() {
        let mut merge = Merge::new(["read"], 2);
        merge.add(0, &part(0, 1));
        merge.add(0, &part(1, 1));
        assert!(merge.next_whole().is_none());
        merge.add(1, &part(0, 2));
        let whole = merge.next_whole().unwrap();
        assert_eq!(whole.operations["read"].count, 3);
        assert_eq!((whole.end_s, whole.length_s), (1.0, 1.0));
        assert_eq!((whole.generator_cpu_us, whole.generator_busiest_share), (750_000, 0.5));
        assert!(merge.next_whole().is_none());
    }

    #[test]
    fn a_thread_that_ended_is_not_waited_for() {
        let mut merge = Merge::new(["read"], 2);
        merge.add(0, &part(0, 1));
        merge.finished(0);
        assert!(merge.next_whole().is_none());
        merge.add(1, &part(0, 1));
        merge.add(1, &part(1, 5));
        merge.finished(1);
        assert_eq!(merge.next_whole().unwrap().operations["read"].count, 2);
        assert_eq!(merge.next_whole().unwrap().operations["read"].count, 5);
        assert!(merge.next_whole().is_none());
    }

    proptest! {
        #[test]
        fn names_are_free_and_the_sum_of_each_is_told(
            names in prop::collection::vec("order|read|login|\\PC{0,6}", 1..6),
            counts in prop::collection::vec(0u64..100, 1..5),
        ) {
            let mut merge = Merge::new(names.clone(), counts.len());
            for (thread, &count) in counts.iter().enumerate() {
                let mut part = part(0, count);
                part.operations = vec![OperationInterval { count, ..OperationInterval::default() }; names.len()];
                merge.add(thread, &part);
            }
            let whole = merge.next_whole().unwrap();
            let each = counts.iter().sum::<u64>();
            for name in &names {
                let times = names.iter().filter(|other| *other == name).count() as u64;
                prop_assert_eq!(whole.operations[name].count, times * each);
            }
            prop_assert!(whole.operations.keys().all(|name| names.contains(name)));
        }
    }
}
