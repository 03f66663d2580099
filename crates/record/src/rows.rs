//! What a database holds against what it acknowledged, as reading all rows of a historian again found it.

use serde::{Deserialize, Serialize};

/// Seconds that a sentence names before it counts.
const NAMED_MAX: usize = 3;

/// What reading the rows of a trial again came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowsCompared {
    /// Rows that were read.
    pub rows: u64,
    /// Acknowledged rows that are not there, at least.
    pub missing: u64,
    /// Rows that are there once more than they should be.
    pub doubled: u64,
    /// Rows that are there and were never acknowledged, at least.
    pub unknown: u64,
    /// Seconds in which as many rows are there as were acknowledged, but not the same.
    pub seconds_changed: u64,
    /// Seconds of the rows' times in which anything differs.
    pub seconds_differing: u64,
    /// The first of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<RowsDiffer>,
}

/// A second in which the rows that are there are not those that were acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsDiffer {
    /// Begin of the second by the rows' times, in microseconds since 1970.
    pub from_us: i64,
    /// See [`RowsCompared::missing`].
    pub missing: u64,
    /// See [`RowsCompared::doubled`].
    pub doubled: u64,
    /// See [`RowsCompared::unknown`].
    pub unknown: u64,
    /// Tags and times are those that were acknowledged, and values or qualities of at least one row are not.
    pub values_changed: bool,
    /// As many rows are there as were acknowledged, and tags or times of at least one are not those.
    pub rows_changed: bool,
}

impl RowsCompared {
    /// Adds a second; so many are kept at most.
    pub fn add(&mut self, differ: RowsDiffer, kept_max: usize) {
        self.missing += differ.missing;
        self.doubled += differ.doubled;
        self.unknown += differ.unknown;
        self.seconds_changed += u64::from(differ.values_changed || differ.rows_changed);
        self.seconds_differing += 1;
        if self.differing.len() < kept_max {
            self.differing.push(differ);
        }
    }

    /// What is wrong, with where: `50 acknowledged rows are not in the database, 50 rows are there twice: between 10:15:03
    /// and 10:15:04 …`; none if nothing is.
    pub(crate) fn sentence(&self, acknowledged: u64) -> Option<String> {
        let mut parts = Vec::new();
        if self.missing > 0 {
            parts.push(format!(
                "{} of {acknowledged} acknowledged rows are not in the database",
                self.missing
            ));
        }
        if self.doubled > 0 {
            parts.push(format!("{} rows are there once more than they were acknowledged", self.doubled));
        }
        if self.unknown > 0 {
            parts.push(format!("{} rows are there that were never acknowledged", self.unknown));
        }
        if self.seconds_changed > 0 {
            parts.push(format!(
                "rows of {} are not those that were acknowledged, though as many",
                seconds(self.seconds_changed)
            ));
        }
        if parts.is_empty() {
            return None;
        }
        let named: Vec<String> = self.differing.iter().take(NAMED_MAX).map(ToString::to_string).collect();
        let more = self.seconds_differing.saturating_sub(named.len() as u64);
        let more = if more > 0 { format!("; and in {} more", seconds(more)) } else { String::new() };
        Some(format!("{} ({}{more})", parts.join(", "), named.join("; ")))
    }
}

fn seconds(count: u64) -> String {
    if count == 1 { "1 second".to_owned() } else { format!("{count} seconds") }
}

impl std::fmt::Display for RowsDiffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let from_s = self.from_us.div_euclid(1_000_000);
        write!(f, "between {} and {} UTC", Clock(from_s), Clock(from_s + 1))?;
        let mut separator = ": ";
        for (count, what) in
            [(self.missing, "missing"), (self.doubled, "there twice"), (self.unknown, "never acknowledged")]
        {
            if count > 0 {
                write!(f, "{separator}{count} {what}")?;
                separator = ", ";
            }
        }
        if self.values_changed {
            write!(f, "{separator}values of at least 1 row changed")?;
        }
        if self.rows_changed {
            write!(f, "{separator}tags or times of at least 1 row changed")?;
        }
        Ok(())
    }
}

/// The time of day of seconds since 1970.
struct Clock(i64);

impl std::fmt::Display for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of_day = self.0.rem_euclid(86_400);
        write!(f, "{:02}:{:02}:{:02}", of_day / 3_600, of_day / 60 % 60, of_day % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HistorianOutcome;

    const FROM_US: i64 = 1_700_000_103 * 1_000_000;

    fn outcome(differing: &[RowsDiffer]) -> HistorianOutcome {
        let mut rows = RowsCompared { rows: 1_000, ..RowsCompared::default() };
        differing.iter().for_each(|differ| rows.add(*differ, 2));
        let (rows_expected, rows_found) = (1_000, Some(1_000));
        HistorianOutcome {
            rows_expected,
            rows_found,
            rows_compared: Some(rows),
            ..HistorianOutcome::default()
        }
    }

    #[test]
    fn rows_that_are_the_same_say_nothing() {
        assert_eq!(outcome(&[]).mismatch(), None);
    }

    /// Fifty rows were deleted and fifty others doubled: the counts agreed, and the rate was held.
    #[test]
    fn as_many_missing_as_doubled_are_told_with_their_second() {
        let differ = RowsDiffer { from_us: FROM_US, missing: 50, doubled: 50, ..RowsDiffer::default() };
        assert_eq!(
            outcome(&[differ]).mismatch().unwrap(),
            "50 of 1000 acknowledged rows are not in the database, 50 rows are there once more than they were acknowledged \
             (between 22:15:03 and 22:15:04 UTC: 50 missing, 50 there twice)"
        );
    }

    #[test]
    fn changes_are_told_and_many_seconds_are_counted() {
        let values = RowsDiffer { from_us: FROM_US, values_changed: true, ..RowsDiffer::default() };
        let rows = RowsDiffer { from_us: FROM_US, rows_changed: true, ..RowsDiffer::default() };
        let told = outcome(&[values, rows, values, values]).mismatch().unwrap();
        assert_eq!(
            told,
            "rows of 4 seconds are not those that were acknowledged, though as many (between 22:15:03 and 22:15:04 UTC: \
             values of at least 1 row changed; between 22:15:03 and 22:15:04 UTC: tags or times of at least 1 row changed; \
             and in 2 seconds more)"
        );
    }

    #[test]
    fn rows_that_were_only_counted_are_compared_by_their_number() {
        let counted = |rows_found| HistorianOutcome { rows_found, rows_compared: None, ..outcome(&[]) };
        assert_eq!(counted(Some(1_000)).mismatch(), None);
        assert_eq!(counted(None).mismatch(), None, "what could not be asked is not wrong");
        assert!(counted(Some(990)).mismatch().unwrap().contains("10 of 1000"));
        assert!(counted(Some(1_010)).mismatch().unwrap().contains("10 rows more"));
    }
}
