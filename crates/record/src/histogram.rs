//! Latency histograms: HDR with three significant digits from 1 ns to one hour.
//!
//! Histograms are merged, percentiles are never averaged. A percentile that too few samples support
//! is not given at all. The stored form is the HdrHistogram V2 compressed one, readable by others' tools, and the cells are the
//! same ones. Memory is had for the cells that are used alone, since histograms are made, merged and forgotten each second.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Longest latency that is told apart; longer ones count as this one. One hour, in nanoseconds.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Significant digits.
const DIGITS: u8 = 3;

/// A percentile is given only where at least this many samples lie beyond it.
const SAMPLES_BEYOND_PERCENTILE: f64 = 10.0;

/// Cells of the latencies up to the next doubling: all of them are as wide.
const GROUP_CELLS: usize = 1 << GROUP_BITS;
const GROUP_BITS: u32 = 10;

/// Groups up to the longest latency. The first two are cells of a nanosecond each.
const GROUPS: usize = 33;

type Group = [u64; GROUP_CELLS];

/// Distribution of latencies in nanoseconds, of bounded size whatever the number of samples.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Latency {
    count: u64,
    /// How many latencies lie in each cell; none of a group that none was in.
    groups: Box<[Option<Box<Group>>; GROUPS]>,
}

/// Latencies that are not told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    group: usize,
    /// Within its group.
    place: usize,
}

/// A stored histogram that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("not a histogram in the HdrHistogram V2 form: {0}")]
pub struct HistogramError(String);

impl From<Latency> for String {
    fn from(latency: Latency) -> Self {
        latency.to_base64()
    }
}

impl TryFrom<String> for Latency {
    type Error = HistogramError;

    fn try_from(text: String) -> Result<Self, HistogramError> {
        Self::from_base64(&text)
    }
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.cells()).finish()
    }
}

impl PartialEq for Latency {
    fn eq(&self, other: &Self) -> bool {
        self.filled().eq(other.filled())
    }
}

impl Cell {
    /// That of a latency of an hour at most.
    #[inline]
    fn of(latency_ns: u64) -> Self {
        let doublings = (latency_ns | (2 * GROUP_CELLS as u64 - 1)).ilog2() - GROUP_BITS;
        let cell = ((doublings as usize) << GROUP_BITS) + (latency_ns >> doublings) as usize;
        Self { group: cell / GROUP_CELLS, place: cell % GROUP_CELLS }
    }

    /// How many latencies it holds: a power of two.
    fn width_ns(self) -> u64 {
        1 << self.group.saturating_sub(1)
    }

    fn lowest_ns(self) -> u64 {
        let from = if self.group == 0 { 0 } else { GROUP_CELLS };
        (from + self.place) as u64 * self.width_ns()
    }

    fn highest_ns(self) -> u64 {
        self.lowest_ns() + self.width_ns() - 1
    }

    /// What all of its latencies count as in a mean.
    fn middle_ns(self) -> u64 {
        self.lowest_ns() + self.width_ns() / 2
    }
}

impl Latency {
    /// Memory of the cells of one histogram at most: 8 bytes for each of 2,048 cells up to 2 µs and 1,024 for each doubling beyond.
    pub const BYTES: u64 = (8 * GROUPS * GROUP_CELLS) as u64;

    /// An empty histogram. Has memory, 8 KB each, for the doublings that latencies lie in, from the first of them on.
    #[must_use]
    pub fn new() -> Self {
        Self { count: 0, groups: Box::new([const { None }; GROUPS]) }
    }

    /// Counts one latency; anything over an hour counts as an hour.
    #[inline]
    pub fn record_ns(&mut self, latency_ns: u64) {
        self.record_same_ns(latency_ns, 1);
    }

    /// Counts operations that took the same time.
    #[inline]
    pub fn record_same_ns(&mut self, latency_ns: u64, operations: u64) {
        let cell = Cell::of(latency_ns.min(LONGEST_NS));
        let filled = &mut self.group(cell.group)[cell.place];
        *filled = filled.saturating_add(operations);
        self.count = self.count.saturating_add(operations);
    }

    #[inline]
    fn group(&mut self, number: usize) -> &mut Group {
        self.groups[number].get_or_insert_with(empty_group)
    }

    /// Adds all samples of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        for (number, other) in other.groups.iter().enumerate() {
            let Some(other) = other else { continue };
            for (cell, count) in self.group(number).iter_mut().zip(other.iter()) {
                *cell = cell.saturating_add(*count);
            }
        }
        self.count = self.count.saturating_add(other.count);
    }

    /// Forgets all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.count = 0;
        self.groups.iter_mut().flatten().for_each(|group| group.fill(0));
    }

    /// Number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean in microseconds, or none of an empty histogram.
    #[must_use]
    pub fn mean_us(&self) -> Option<f64> {
        let share = |(cell, count): (Cell, u64)| cell.middle_ns() as f64 * count as f64 / self.count as f64;
        (self.count > 0).then(|| self.filled().map(share).sum::<f64>() / 1e3)
    }

    /// Shortest sample in microseconds.
    #[must_use]
    pub fn min_us(&self) -> Option<f64> {
        self.filled().next().map(|(cell, _)| cell.lowest_ns() as f64 / 1e3)
    }

    /// Longest sample in microseconds.
    #[must_use]
    pub fn max_us(&self) -> Option<f64> {
        self.filled().next_back().map(|(cell, _)| cell.highest_ns() as f64 / 1e3)
    }

    /// The percentile in microseconds, `0 < per_cent < 100`, by nearest rank. None where fewer than ten samples
    /// lie beyond it (n·(1−p) < 10): such a figure would be chance.
    #[must_use]
    pub fn percentile_us(&self, per_cent: f64) -> Option<f64> {
        let beyond = self.count() as f64 * (1.0 - per_cent / 100.0);
        // The tolerance keeps 1,000 samples enough for p99 in spite of binary fractions.
        (beyond + 1e-6 >= SAMPLES_BEYOND_PERCENTILE).then(|| self.quantile_us(per_cent / 100.0))
    }

    /// The quantile in microseconds without asking whether enough samples support it; 0 of an empty histogram.
    /// For drawing; a figure that is printed comes from [`Latency::percentile_us`].
    #[must_use]
    pub fn quantile_us(&self, quantile: f64) -> f64 {
        let wanted = nearest_rank(quantile, self.count);
        let mut counted: u64 = 0;
        let reached = self.filled().find(|(_, count)| {
            counted = counted.saturating_add(*count);
            counted >= wanted
        });
        let ns = |(cell, _): (Cell, u64)| if quantile == 0.0 { cell.lowest_ns() } else { cell.highest_ns() };
        reached.map_or(0, ns) as f64 / 1e3
    }

    /// The non-empty cells in rising order: first and last latency of the cell in microseconds, and its count.
    pub fn cells(&self) -> impl Iterator<Item = (f64, f64, u64)> + '_ {
        self.filled()
            .map(|(cell, count)| (cell.lowest_ns() as f64 / 1e3, cell.highest_ns() as f64 / 1e3, count))
    }

    /// The non-empty cells in rising order.
    fn filled(&self) -> impl DoubleEndedIterator<Item = (Cell, u64)> + '_ {
        let groups =
            self.groups.iter().enumerate().filter_map(|(number, group)| Some((number, group.as_ref()?)));
        groups.flat_map(|(group, counts)| {
            let cells = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            cells.map(move |(place, &count)| (Cell { group, place }, count))
        })
    }

    /// The stored form: HdrHistogram V2, deflated, base64.
    #[must_use]
    pub fn to_base64(&self) -> String {
        let mut stored = library_histogram();
        self.filled().for_each(|(cell, count)| stored.saturating_record_n(cell.lowest_ns(), count));
        let mut bytes = Vec::new();
        match V2DeflateSerializer::new().serialize(&stored, &mut bytes) {
            Ok(_) => BASE64.encode(bytes),
            Err(error) => unreachable!("writing to memory cannot fail: {error:?}"),
        }
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// When the text is not base64, not a V2 histogram, or one of other bounds than ours.
    pub fn from_base64(text: &str) -> Result<Self, HistogramError> {
        let bytes = BASE64.decode(text.trim()).map_err(|error| HistogramError(error.to_string()))?;
        let stored: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| HistogramError(format!("{error:?}")))?;
        if stored.sigfig() != DIGITS || stored.high() > LONGEST_NS {
            return Err(HistogramError(format!(
                "{} digits up to {} ns, wanted {DIGITS} digits up to {LONGEST_NS} ns",
                stored.sigfig(),
                stored.high()
            )));
        }
        let mut latency = Self::new();
        for cell in stored.iter_recorded() {
            latency.record_same_ns(cell.value_iterated_to(), cell.count_at_value());
        }
        Ok(latency)
    }
}

/// The rank, from 1 on, of the first of so many sorted samples that at least this share (0–1) of them does not exceed.
///
/// It multiplies integers: 99.9 / 100 is a little more than 0.999 as a binary fraction, and 0.999 of 20,000 samples would be rank
/// 19,981.
fn nearest_rank(share: f64, samples: u64) -> u64 {
    /// A share is rounded to this part, which is below one sample in any run.
    const PARTS: u64 = 1_000_000_000_000;
    let parts = (share.clamp(0.0, 1.0) * PARTS as f64).round() as u128;
    let rank = (parts * u128::from(samples)).div_ceil(u128::from(PARTS));
    u64::try_from(rank).unwrap_or(samples).max(1)
}

#[cold]
fn empty_group() -> Box<Group> {
    // In place: an array would be made on the stack, and moved.
    match vec![0; GROUP_CELLS].try_into() {
        Ok(group) => group,
        Err(_) => unreachable!("it is as long as it was made"),
    }
}

/// The one whose stored form is ours.
fn library_histogram() -> Histogram<u64> {
    match Histogram::new_with_bounds(1, LONGEST_NS, DIGITS) {
        Ok(histogram) => histogram,
        Err(error) => unreachable!("constant bounds are valid: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(latencies_ns: &[u64]) -> Latency {
        let mut latency = Latency::new();
        latencies_ns.iter().for_each(|&ns| latency.record_ns(ns));
        latency
    }

    #[test]
    fn percentile_needs_ten_samples_beyond_it() {
        let thousand: Vec<u64> = (1..=1000).map(|ms| ms * 1_000_000).collect();
        assert!(of(&thousand).percentile_us(99.0).is_some());
        assert!(of(&thousand[..999]).percentile_us(99.0).is_none());
        assert!(of(&[]).percentile_us(50.0).is_none());
        assert!(of(&[]).mean_us().is_none());
    }

    /// Each value of such lists was once that of the next rank, because 99.9 / 100 is above 0.999 as a binary fraction.
    #[test]
    fn percentiles_of_whole_thousands_have_the_rank_that_counting_gives() {
        for (per_cent, per_100_000) in
            [(50.0, 50_000), (95.0, 95_000), (99.0, 99_000), (99.9, 99_900), (99.99, 99_990)]
        {
            for thousands in (1..=300_u64).chain([1_000, 3_000]) {
                // Neighbouring ranks lie in different cells: the latency of rank r is r steps.
                let samples = thousands * 1_000;
                let rank = (samples * per_100_000).div_ceil(100_000);
                let steps = [(1_000_000, rank - 1), (2_000_000, 1), (3_000_000, samples - rank)];
                let mut latency = Latency::new();
                steps.iter().for_each(|&(ns, operations)| latency.record_same_ns(ns, operations));
                let us = latency.quantile_us(per_cent / 100.0);
                assert!((us / 2_000.0 - 1.0).abs() < 1e-3, "p{per_cent} of {samples}: {us}");
            }
        }
    }

    #[test]
    fn percentiles_of_whole_thousands_are_those_of_the_sorted_list() {
        let mut state = 1u64;
        let mut next_ns = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            1_000 + (state >> 40) * 37
        };
        for thousands in [10, 11, 20, 37] {
            let mut latencies: Vec<u64> = (0..thousands * 1_000).map(|_| next_ns()).collect();
            let histogram = of(&latencies);
            latencies.sort_unstable();
            let exact_us = latencies[thousands * 999 - 1] as f64 / 1e3;
            let cell = Cell::of(latencies[thousands * 999 - 1]);
            assert_eq!(histogram.percentile_us(99.9), Some(cell.highest_ns() as f64 / 1e3), "{exact_us}");
        }
    }

    #[test]
    fn ranks_are_whole_at_both_ends() {
        assert_eq!([0.0, 0.5, 1.0].map(|share| nearest_rank(share, 7)), [1, 4, 7]);
        assert_eq!(nearest_rank(0.999, u64::MAX), 18_428_297_329_635_842_064);
        assert_eq!((nearest_rank(f64::NAN, 5), nearest_rank(2.0, 5), nearest_rank(0.3, 0)), (1, 5, 1));
    }

    #[test]
    fn longer_than_an_hour_counts_as_an_hour() {
        let max = of(&[u64::MAX]).max_us().unwrap();
        assert!((max / 3.6e9 - 1.0).abs() < 1e-3, "{max}");
    }

    #[test]
    fn cells_begin_where_the_ones_before_end() {
        let cells = (0..GROUPS).flat_map(|group| (0..GROUP_CELLS).map(move |place| Cell { group, place }));
        let mut next_ns = 0;
        for cell in cells {
            assert_eq!(cell.lowest_ns(), next_ns, "{cell:?}");
            assert_eq!((Cell::of(cell.lowest_ns()), Cell::of(cell.highest_ns())), (cell, cell));
            next_ns = cell.highest_ns() + 1;
        }
        assert!(next_ns > LONGEST_NS);
    }

    #[test]
    fn what_was_forgotten_is_as_if_it_had_never_been() {
        let mut latency = of(&[3, 80_000, 1_000_000_000]);
        latency.clear();
        assert_eq!(latency, Latency::new());
        assert_eq!((latency.max_us(), latency.quantile_us(0.5)), (None, 0.0));
        latency.record_ns(7);
        assert_eq!(latency, of(&[7]));
    }

    proptest! {
        #[test]
        fn figures_are_those_of_the_library(
            latencies in prop::collection::vec(prop_oneof![0u64..4_096, 0u64..=LONGEST_NS, 100_000u64..110_000], 1..300),
            quantile in 0.0f64..=1.0,
        ) {
            let (ours, mut theirs) = (of(&latencies), library_histogram());
            latencies.iter().for_each(|&ns| theirs.saturating_record(ns));
            prop_assert_eq!(ours.count(), theirs.len());
            prop_assert_eq!(ours.mean_us(), Some(theirs.mean() / 1e3));
            prop_assert_eq!(ours.min_us(), Some(theirs.min() as f64 / 1e3));
            prop_assert_eq!(ours.max_us(), Some(theirs.max() as f64 / 1e3));
            for quantile in [quantile, 0.0, 1.0] {
                prop_assert_eq!(ours.quantile_us(quantile), theirs.value_at_quantile(quantile) as f64 / 1e3);
            }
            let cell = |ns: u64| (theirs.lowest_equivalent(ns) as f64 / 1e3, theirs.highest_equivalent(ns) as f64 / 1e3);
            let cells = theirs.iter_recorded().map(|found| (cell(found.value_iterated_to()), found.count_at_value()));
            let own = ours.cells().map(|(lowest, highest, count)| ((lowest, highest), count));
            prop_assert_eq!(own.collect::<Vec<_>>(), cells.collect::<Vec<_>>());
            let mut bytes = Vec::new();
            V2DeflateSerializer::new().serialize(&theirs, &mut bytes).unwrap();
            prop_assert_eq!(ours.to_base64(), BASE64.encode(bytes));
        }

        #[test]
        fn percentiles_agree_with_the_sorted_list(
            mut latencies in prop::collection::vec(1u64..5_000_000_000, 200..2000),
            per_mille in 1usize..=950,
        ) {
            let histogram = of(&latencies);
            latencies.sort_unstable();
            let rank = (per_mille * latencies.len()).div_ceil(1_000);
            let exact_us = latencies[rank - 1] as f64 / 1e3;
            let measured_us = histogram.percentile_us(per_mille as f64 / 10.0).unwrap();
            prop_assert!((measured_us - exact_us).abs() <= exact_us * 1e-3 + 1e-3,
                "{measured_us} against {exact_us}");
        }

        #[test]
        fn stored_form_is_read_back(latencies in prop::collection::vec(0u64..4_000_000_000_000, 0..300)) {
            let histogram = of(&latencies);
            let again = Latency::from_base64(&histogram.to_base64()).unwrap();
            prop_assert_eq!(
                histogram.cells().collect::<Vec<_>>(),
                again.cells().collect::<Vec<_>>()
            );
            let json = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(serde_json::from_str::<Latency>(&json).unwrap(), histogram);
        }

        #[test]
        fn operations_of_the_same_time_are_counted_as_if_one_by_one(latency in 0u64..10_000_000_000_000, operations in 0u64..300) {
            let mut together = Latency::new();
            together.record_same_ns(latency, operations);
            prop_assert_eq!(together.max_us(), of(&vec![latency; operations as usize]).max_us());
            prop_assert_eq!(together, of(&vec![latency; operations as usize]));
        }

        #[test]
        fn merging_is_recording_everything_in_one(
            a in prop::collection::vec(0u64..10_000_000, 0..300),
            b in prop::collection::vec(0u64..10_000_000, 0..300),
        ) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let all: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(merged, of(&all));
        }

        #[test]
        fn damaged_text_is_an_error_and_never_a_panic(text in "[A-Za-z0-9+/=]{0,80}") {
            prop_assert!(Latency::from_base64(&text).is_err());
        }
    }
}
