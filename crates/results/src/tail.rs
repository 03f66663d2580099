//! Counts how the slowest operations of a window are spread over its seconds, once all of them are read.
//!
//! A percentile is known only when all histograms are summed, and decoding each of them a second time would take as long as the
//! first. So the filled cells of each interval are kept meanwhile, a few bytes each: an hour has some megabytes a kind.

use record::Tail;

/// The filled cells of the histograms of one kind of operation, an interval each.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// Distance to the cell before, and count, by turns.
    packed: Vec<u8>,
    /// Second that an interval belongs to, and where its cells end.
    intervals: Vec<(usize, usize)>,
}

/// Where a percentile lies among the cells of a sum.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    cell: usize,
    /// Share of the operations in the cell that lies beyond.
    share: f64,
}

impl Cells {
    /// Keeps the filled cells of an interval, in rising order.
    pub(crate) fn keep(&mut self, second: usize, filled: &[(usize, u64)]) {
        let mut last = 0;
        for &(cell, count) in filled {
            push(&mut self.packed, (cell - last) as u64);
            push(&mut self.packed, count);
            last = cell;
        }
        self.intervals.push((second, self.packed.len()));
    }

    /// Hands over second, cell and count of all that was kept.
    fn each_interval(&self, mut take: impl FnMut(usize, &mut dyn Iterator<Item = (usize, u64)>)) {
        let mut begin = 0;
        for &(second, end) in &self.intervals {
            let mut rest = &self.packed[begin..end];
            let mut cell = 0;
            let mut cells = std::iter::from_fn(|| {
                cell += usize::try_from(pull(&mut rest)?).ok()?;
                Some((cell, pull(&mut rest)?))
            });
            take(second, &mut cells);
            begin = end;
        }
    }
}

/// The tail of kinds together beyond these percentiles (in per cent, rising), of so many seconds, with the cells of each kind's sum.
pub(crate) fn tail(kinds: &[(&Cells, &[u64])], percentiles: &[f64], seconds: usize) -> Tail {
    let longest = kinds.iter().map(|(_, sum)| sum.len()).max().unwrap_or(0);
    let together = |cell: usize| kinds.iter().filter_map(|(_, sum)| sum.get(cell)).map(|&n| n as f64).sum();
    let places = places(&(0..longest).map(together).collect::<Vec<f64>>(), percentiles);
    let beyond = percentiles.iter().map(|&per_cent| (per_cent, vec![0.0; seconds])).collect();
    let mut tail = Tail { operations: vec![0.0; seconds], beyond };
    for (kind, _) in kinds {
        kind.each_interval(|second, cells| {
            let (operations, beyond) = counted(&places, cells);
            tail.operations[second] += operations;
            for ((_, all), beyond) in tail.beyond.iter_mut().zip(beyond) {
                all[second] += beyond;
            }
        });
    }
    tail
}

/// The percentiles among the cells of a sum.
fn places(sum: &[f64], percentiles: &[f64]) -> Vec<Place> {
    let all: f64 = sum.iter().sum();
    let mut cells = sum.iter().copied().enumerate();
    let (mut place, mut at_or_below) = ((0, 0.0), 0.0);
    let place_of = |per_cent: &f64| {
        let rank = all * (per_cent / 100.0);
        while at_or_below < rank {
            let Some(next) = cells.next() else { break };
            place = next;
            at_or_below += place.1;
        }
        let (cell, count) = place;
        let share = if count > 0.0 { (at_or_below - rank) / count } else { 0.0 };
        Place { cell, share: share.clamp(0.0, 1.0) }
    };
    percentiles.iter().map(place_of).collect()
}

/// All operations of an interval, and those beyond each percentile.
fn counted(places: &[Place], cells: &mut dyn Iterator<Item = (usize, u64)>) -> (f64, Vec<f64>) {
    // Operations past the cells of as many percentiles as the index says.
    let mut past = vec![0.0; places.len() + 1];
    let mut within = vec![0.0; places.len()];
    let mut passed = 0;
    for (cell, count) in cells {
        while passed < places.len() && places[passed].cell < cell {
            passed += 1;
        }
        past[passed] += count as f64;
        let here = places.iter().zip(&mut within).skip(passed).take_while(|(place, _)| place.cell == cell);
        here.for_each(|(_, within)| *within = count as f64);
    }
    let beyond = |index: usize| {
        let further: f64 = past[index + 1..].iter().sum();
        further + places[index].share * within[index]
    };
    (past.iter().sum(), (0..places.len()).map(beyond).collect())
}

/// Seven bits a byte, lowest first, while the eighth is set.
fn push(packed: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        packed.push(number as u8 | 0x80);
        number >>= 7;
    }
    packed.push(number as u8);
}

fn pull(packed: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0.. {
        let (&byte, rest) = packed.split_first()?;
        *packed = rest;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use record::Latency;

    use super::*;
    use crate::sum::{Adder, Sum};

    /// The usual ones, and some that somebody may ask for.
    const PERCENTILES: [f64; 7] = [50.0, 95.0, 97.5, 99.0, 99.9, 99.99, 99.9999];

    fn of(latencies_ns: &[u64]) -> Latency {
        let mut latency = Latency::new();
        latencies_ns.iter().for_each(|&ns| latency.record_ns(ns));
        latency
    }

    /// The tail of histograms as they are stored, a second each, and of two kinds if that is wanted.
    fn read(kinds: &[&[Vec<u64>]]) -> Tail {
        let mut adder = Adder::new();
        let sums: Vec<(Cells, Sum)> = kinds
            .iter()
            .map(|seconds| {
                let (mut cells, mut sum) = (Cells::default(), Sum::default());
                for (second, latencies) in seconds.iter().enumerate() {
                    let filled = adder.add(&of(latencies).to_base64(), &mut sum).unwrap().unwrap();
                    cells.keep(second, filled);
                }
                (cells, sum)
            })
            .collect();
        let kinds: Vec<(&Cells, &[u64])> =
            sums.iter().map(|(cells, sum)| (cells, sum.cells().unwrap())).collect();
        tail(&kinds, &PERCENTILES, 3)
    }

    #[test]
    fn what_equals_the_percentile_is_beyond_it_in_the_same_share_of_each_second() {
        // Of 100 operations 40 take 1 µs, 40 take 2 µs, 20 take 3 µs: of those of 2 µs three quarters lie beyond the median.
        let seconds = [[vec![1_000; 40], vec![2_000; 8]].concat(), vec![2_000; 32], vec![3_000; 20]];
        let tail = read(&[&seconds]);
        assert_eq!(tail.operations, [48.0, 32.0, 20.0]);
        assert_eq!(tail.beyond[0].1, [6.0, 24.0, 20.0]);
    }

    #[test]
    fn kinds_together_are_counted_against_their_common_percentile() {
        let fast = [vec![1_000; 30], vec![1_000; 30], vec![]];
        let slow = [vec![9_000; 10], vec![9_000; 10], vec![9_000; 20]];
        let tail = read(&[&fast, &slow]);
        assert_eq!(tail.operations, [40.0, 40.0, 20.0]);
        let rounded: Vec<f64> = tail.beyond[1].1.iter().map(|beyond| (beyond * 1e6).round() / 1e6).collect();
        assert_eq!(rounded, [1.25, 1.25, 2.5], "p95 lies among the slow ones, an eighth of which is beyond");
    }

    proptest! {
        #[test]
        fn seconds_add_up_to_what_lies_beyond_each_percentile(
            seconds in prop::collection::vec(prop::collection::vec(1u64..5_000_000, 1..200), 3),
        ) {
            let tail = read(&[&seconds]);
            let (all, count) = (of(&seconds.concat()), seconds.concat().len() as f64);
            for (place, per_cent) in PERCENTILES.into_iter().enumerate() {
                let beyond: f64 = tail.beyond[place].1.iter().sum();
                prop_assert!((beyond - count * (1.0 - per_cent / 100.0)).abs() < 1e-6, "{per_cent}: {beyond}");
                let value = all.quantile_us(per_cent / 100.0);
                for (latencies, beyond) in seconds.iter().zip(&tail.beyond[place].1) {
                    let cells: Vec<(f64, f64, u64)> = of(latencies).cells().collect();
                    let above: u64 = cells.iter().filter(|(low, ..)| *low > value).map(|cell| cell.2).sum();
                    let within: u64 = cells
                        .iter().filter(|(low, high, _)| *low <= value && value <= *high).map(|cell| cell.2).sum();
                    prop_assert!(above as f64 <= beyond + 1e-9 && *beyond <= (above + within) as f64 + 1e-9);
                }
            }
        }

        #[test]
        fn numbers_are_read_back(number in any::<u64>()) {
            let mut packed = Vec::new();
            push(&mut packed, number);
            let mut rest = packed.as_slice();
            prop_assert_eq!(pull(&mut rest), Some(number));
            prop_assert!(rest.is_empty());
        }
    }
}
