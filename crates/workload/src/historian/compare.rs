//! What a database holds against what it acknowledged, second by second of the rows' times: which rows are missing, which
//! are there twice, and where others are there than those that were written.
//!
//! Acknowledged rows are known by their fingerprints alone. In a second whose rows differ, what is found tells what can be
//! known: rows that are there more than once, and how many are too few or too many without these. Rows that were changed
//! cannot be counted, only noticed. A recording that holds a row twice makes it look doubled where other rows differ.

use std::collections::HashMap;

use database::{Cell, Error, Session};
use record::{RowsCompared, RowsDiffer};

use super::fingerprint::{Fingerprint, NO_VALUE, Row, bits};
use super::store::Store;

/// Microseconds of a second.
pub(crate) const SECOND_US: i64 = 1_000_000;
/// Most seconds that are told one by one.
const SECONDS_MAX: usize = 100;
/// Most rows that are kept to look for copies: 40 bytes each.
const KEPT_MAX: usize = 4_000_000;

/// What was acknowledged from a time on, a fingerprint for each second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) from_us: i64,
    pub(crate) by_second: Vec<Fingerprint>,
}

/// What is read of the table: the same of the rows that are there. Those after the last acknowledged second are in one more.
struct Found {
    from_us: i64,
    by_second: Vec<Fingerprint>,
}

/// Reads all rows since a time, and sets them against what was acknowledged; a second time if they differ.
///
/// # Errors
/// Those of the database.
pub(crate) async fn compare(
    store: &Store,
    session: &mut Session,
    expected: Expected,
) -> Result<RowsCompared, Error> {
    let from_us = expected.from_us;
    let found = Found { from_us, by_second: vec![Fingerprint::default(); expected.by_second.len() + 1] };
    let found = store.read_since(session, from_us, found, Found::add).await?;
    let mut differing = Vec::new();
    let nothing = Fingerprint::default();
    for (second, found) in found.by_second.iter().enumerate() {
        if found != expected.by_second.get(second).unwrap_or(&nothing) {
            differing.push(second);
        }
    }
    let mut compared = RowsCompared { rows: found.rows(), ..RowsCompared::default() };
    if differing.is_empty() {
        return Ok(compared);
    }
    let kept = Kept { differing, left: KEPT_MAX, found, rows: HashMap::new() };
    let kept = store.read_since(session, from_us, kept, Kept::add).await?;
    for &second in &kept.differing {
        let expected = expected.by_second.get(second).copied().unwrap_or_default();
        let differ = kept.judged(second, expected);
        compared.add(differ, SECONDS_MAX);
    }
    Ok(compared)
}

impl Found {
    fn second(&self, time_us: i64) -> usize {
        // As the ledger counts: what is older than the first second is in it.
        let second = (time_us.saturating_sub(self.from_us) / SECOND_US).max(0) as usize;
        second.min(self.by_second.len() - 1)
    }

    fn add(&mut self, row: &[Cell<'_>]) {
        let row = row_of(row);
        let second = self.second(row.time_us);
        self.by_second[second].add(row);
    }

    fn rows(&self) -> u64 {
        self.by_second.iter().map(|second| second.rows).sum()
    }
}

/// Rows of the seconds that differ, with how often each is there.
struct Kept {
    differing: Vec<usize>,
    left: usize,
    found: Found,
    rows: HashMap<usize, HashMap<Row, u64>>,
}

impl Kept {
    fn add(&mut self, row: &[Cell<'_>]) {
        let row = row_of(row);
        let second = self.found.second(row.time_us);
        if self.left > 0 && self.differing.binary_search(&second).is_ok() {
            self.left -= 1;
            *self.rows.entry(second).or_default().entry(row).or_default() += 1;
        }
    }

    /// What is wrong with a second.
    fn judged(&self, second: usize, expected: Fingerprint) -> RowsDiffer {
        let from_us = self.found.from_us + second as i64 * SECOND_US;
        let found = self.found.by_second[second];
        let mut once = Fingerprint::default();
        let kept = self.rows.get(&second);
        kept.into_iter().flat_map(HashMap::keys).for_each(|row| once.add(*row));
        let counted: u64 = kept.into_iter().flat_map(HashMap::values).sum();
        // Where not all rows could be kept, copies are not known and counts are the least that differs.
        let (once, doubled) = if counted == found.rows { (once, found.rows - once.rows) } else { (found, 0) };
        let missing = expected.rows.saturating_sub(once.rows);
        let unknown = once.rows.saturating_sub(expected.rows);
        let same_number = missing == 0 && unknown == 0;
        RowsDiffer {
            from_us,
            missing,
            doubled,
            unknown,
            values_changed: same_number && once.keys == expected.keys && once != expected,
            rows_changed: same_number && once.keys != expected.keys,
        }
    }
}

/// A row as [`Store::read_since`] reads it.
fn row_of(row: &[Cell<'_>]) -> Row {
    let whole = |index: usize| row.get(index).and_then(Cell::integer).unwrap_or(i64::MIN);
    let value = match row.get(2) {
        Some(Cell::F64(value)) => bits(*value),
        // SQLite gives a number without a fraction back as what it is declared, others may not.
        Some(Cell::I64(value)) => bits(*value as f64),
        _ => NO_VALUE,
    };
    Row { tag: whole(0), time_us: whole(1), value, quality: whole(3) }
}
