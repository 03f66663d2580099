//! How reports are told: their times, and what they return.

use super::Reporting;
use crate::format::{self, figure, grouped};

/// A time in seconds: `0.42 s`, `12.3 ms`.
pub(crate) fn time(seconds: f64) -> String {
    match seconds < 1.0 {
        true => format::latency(seconds * 1e6),
        false => format!("{} s", figure(seconds)),
    }
}

/// Both ends of an interval: `0.40–0.44 s`, `980 ms–1.02 s`.
pub(crate) fn times(low_s: f64, high_s: f64) -> String {
    let (low, high) = (time(low_s), time(high_s));
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

/// `95,828 rows`, `9,431 rows that add up the messages of its dates, of which there are 95,828`.
pub(crate) fn rows_of(reporting: &Reporting) -> String {
    let rows = format::counted(reporting.rows as usize, "row", "rows");
    match reporting.setup.result.as_str() {
        "aggregate" => {
            format!("{rows} that sum up the {} messages of its dates", grouped(reporting.setup.messages))
        }
        _ => rows,
    }
}
