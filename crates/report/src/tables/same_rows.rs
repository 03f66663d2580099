//! Whether all kinds of tables of a study, on all of its engines, held the same rows once they were loaded.

use std::collections::{BTreeMap, BTreeSet};

use record::{RowsChecksum, State, Workload};

use super::Tables;
use crate::format::{self, grouped};
use crate::report::Report;
use crate::verdict::{Level, Verdict};

/// Rule that all held the same rows.
pub(crate) const SAME: &str = "same_rows";
/// Rule that they did not.
pub(crate) const DIFFERENT: &str = "different_rows";

/// A table whose rows were read back.
struct ReadBack<'a> {
    trial: u32,
    of: &'a Tables,
    checksum: &'a RowsChecksum,
}

/// Tables that were loaded with the same rows: as many, made from the same seed.
type Loaded<'a> = BTreeMap<(u64, Option<u64>), Vec<ReadBack<'a>>>;

fn loaded(report: &Report) -> Loaded<'_> {
    let mut loaded = Loaded::new();
    let measured = report.trials_of(Workload::Tables).filter(|trial| trial.state != State::Skipped);
    for (trial, of) in measured.filter_map(|trial| Some((trial.number, trial.tables()?))) {
        let Some(checksum) = &of.checksum else { continue };
        let key = (of.setup.rows, of.setup.data_seed);
        loaded.entry(key).or_default().push(ReadBack { trial, of, checksum });
    }
    loaded
}

fn differ(tables: &[ReadBack<'_>]) -> bool {
    tables.iter().any(|table| table.checksum != tables[0].checksum)
}

impl Report {
    /// Whether tables that were loaded with the same rows held different ones.
    #[must_use]
    pub fn has_different_rows(&self) -> bool {
        loaded(self).values().any(|tables| differ(tables))
    }
}

/// A sentence for each set of rows that more than one table was loaded with.
pub(super) fn verdicts(report: &Report) -> Vec<Verdict> {
    let several = loaded(report).into_values().filter(|tables| tables.len() > 1);
    several.map(|tables| if differ(&tables) { different(&tables) } else { same(&tables) }).collect()
}

fn same(tables: &[ReadBack<'_>]) -> Verdict {
    let each = |of: fn(&Tables) -> &str| tables.iter().map(|table| of(table.of)).collect::<BTreeSet<&str>>();
    let (kinds, engines) = (each(|of| &of.kind), each(|of| &of.setup.engine));
    let checksum = tables[0].checksum;
    let rows = match checksum.rows < tables[0].of.setup.rows {
        true => format!("first {} rows", grouped(checksum.rows)),
        false => format!("{} rows", grouped(checksum.rows)),
    };
    let on = if engines.len() > 1 { format!(" on {}", listed(&engines)) } else { String::new() };
    let sentence = format!(
        "all {} tables had the same {rows} after loading ({}{on}): each has the checksum {}",
        tables.len(),
        listed(&kinds),
        checksum.sum
    );
    Verdict { trials: trials(tables), ..Verdict::new(Level::Note, SAME, sentence) }
}

fn different(tables: &[ReadBack<'_>]) -> Verdict {
    let of = |table: &ReadBack<'_>| {
        format!("{} {} on {}", table.of.kind, table.checksum.sum, table.of.setup.engine)
    };
    let each: BTreeSet<String> = tables.iter().map(of).collect();
    let each: Vec<&str> = each.iter().map(String::as_str).collect();
    let sentence = format!(
        "the checksums of tables with the same input differ: {}. Do not compare their times",
        format::listed(&each)
    );
    Verdict { trials: trials(tables), ..Verdict::new(Level::Failure, DIFFERENT, sentence) }
}

fn listed(names: &BTreeSet<&str>) -> String {
    format::listed(&names.iter().copied().collect::<Vec<&str>>())
}

fn trials(tables: &[ReadBack<'_>]) -> Vec<u32> {
    tables.iter().map(|table| table.trial).collect()
}
