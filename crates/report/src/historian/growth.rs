//! How many bytes of pages a record takes: from pages in use and rows, never from the size of files.
//!
//! Servers allocate ahead of rows: InnoDB four MiB at once, PostgreSQL up to four. Where a trial wrote little, that is
//! more than its rows. What cannot be told apart from it makes a range, and too wide a range makes no figure.

use record::historian::RECORD;
use record::{HistorianOutcome, HistorianSetup, MeasuredTrial, Sample, UsedBytes};

use super::model::Storage;
use crate::format;

/// Fewer rows than this fill too few pages to say how many bytes each takes.
const ROWS_MIN: u64 = 10_000;
/// Pages at the edges of tables and indexes that are partly filled.
const EDGE_BYTES: u64 = 64 << 10;
/// A server may allocate so much ahead of rows. Results of before have only the sizes of its files.
const AHEAD_BYTES: u64 = 32 << 20;
/// A figure is known if it is off by no more than this share.
const ERROR_SHARE_MAX: f64 = 0.1;
/// A range whose ends are further apart by this factor says nothing.
const RANGE_FACTOR_MAX: f64 = 3.0;
/// Engines whose files have no room ahead of rows as long as nothing is deleted.
const WITHOUT_ROOM_AHEAD: [&str; 2] = ["sqlite", "fake"];

/// What is known of the bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PerRecord {
    /// To within a tenth.
    Known(f64),
    /// Not less than the first and not more than the second.
    Within([f64; 2]),
}

/// Growth of a new database over the rows that it holds: one with older rows may have room for more. With purges, up to the
/// first of them, because rows fill again what a purge leaves free.
pub(super) fn per_record(
    measured: &MeasuredTrial,
    setup: &HistorianSetup,
    outcome: &HistorianOutcome,
) -> Option<PerRecord> {
    let (used, size, rows) = match outcome.maintenance.first() {
        None => (outcome.used_after, outcome.database_bytes_after, outcome.rows_after?),
        Some(first) => {
            let rows = committed_before(&measured.samples, first.start_s);
            (first.used_before, first.database_bytes_before, rows)
        }
    };
    if setup.rows_before > 0 || rows < ROWS_MIN {
        return None;
    }
    let (before, after) = match outcome.used_before.zip(used) {
        Some(used) => used,
        None => (of_files(setup, outcome.database_bytes_before?), of_files(setup, size?)),
    };
    let grown = after.bytes.checked_sub(before.bytes).filter(|&grown| grown > 0)?;
    // What was allocated ahead before the trial was filled by it, and what is ahead after it is no part of its rows.
    let most = grown + before.uncertain_bytes + EDGE_BYTES;
    let least = grown.saturating_sub(after.uncertain_bytes + EDGE_BYTES);
    of_rows(grown, [least, most], rows)
}

fn of_rows(grown: u64, [least, most]: [u64; 2], rows: u64) -> Option<PerRecord> {
    let each = |bytes: u64| bytes as f64 / rows as f64;
    let error = (grown - least).max(most - grown) as f64 / grown as f64;
    match (each(least), each(most)) {
        _ if error <= ERROR_SHARE_MAX => Some(PerRecord::Known(each(grown))),
        (low, high) if high <= low * RANGE_FACTOR_MAX => Some(PerRecord::Within([low, high])),
        _ => None,
    }
}

/// The size of its files, in results of before.
fn of_files(setup: &HistorianSetup, bytes: u64) -> UsedBytes {
    let ahead = if WITHOUT_ROOM_AHEAD.contains(&setup.engine.as_str()) { 0 } else { AHEAD_BYTES };
    UsedBytes { bytes, uncertain_bytes: ahead.min(bytes) }
}

fn committed_before(samples: &[Sample], end_s: f64) -> u64 {
    let before = samples.iter().filter(|sample| sample.end_s <= end_s);
    before.filter_map(|sample| sample.operations.get(RECORD)).map(|operation| operation.count).sum()
}

impl Storage {
    /// Bytes per record, `99.8` or `90.1–120`; none where that is unknown.
    pub(super) fn per_record(&self) -> Option<String> {
        let range = || self.bytes_per_record_range.map(|[low, high]| format::range(low, high));
        self.bytes_per_record.map(format::figure).or_else(range)
    }

    /// Growth in so many seconds at a rate, `1.65 GB` or `1.4 GB–1.9 GB`; none where that is unknown.
    pub(super) fn growth(&self, records_per_s: Option<f64>, seconds: f64) -> Option<String> {
        let records = records_per_s? * seconds;
        let range = || {
            let [low, high] =
                self.bytes_per_record_range?.map(|bytes| format::decimal_bytes(bytes * records));
            Some(format!("{low}–{high}"))
        };
        self.bytes_per_record.map(|bytes| format::decimal_bytes(bytes * records)).or_else(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// 42,000 rows of 101 bytes; InnoDB had allocated 4 MiB more, and 298 bytes per record were reported.
    #[test]
    fn room_that_is_not_told_apart_makes_a_range_or_nothing() {
        let of = |grown: u64, ahead: u64, rows| of_rows(grown, [grown.saturating_sub(ahead), grown], rows);
        assert_eq!(of(4_242_000, 0, 42_000), Some(PerRecord::Known(101.0)));
        assert_eq!(of(4_242_000, 2_121_000, 42_000), Some(PerRecord::Within([50.5, 101.0])));
        assert_eq!(of(4_242_000, 4 * MIB, 42_000), None, "half of nothing to all of it");
        assert_eq!(of(424_200_000, 4 * MIB, 4_200_000), Some(PerRecord::Known(101.0)));
    }

    #[test]
    fn a_range_is_printed_with_both_ends() {
        let within = Storage { bytes_per_record_range: Some([50.5, 101.0]), ..Storage::default() };
        assert_eq!(within.per_record().unwrap(), "50.5–101");
        assert_eq!(within.growth(Some(1_000.0), 3_600.0).unwrap(), "182 MB–364 MB");
        let known = Storage { bytes_per_record: Some(101.0), ..Storage::default() };
        assert_eq!((known.per_record().unwrap(), known.growth(None, 1.0)), ("101".to_owned(), None));
        assert_eq!(Storage::default().per_record(), None);
    }
}
