//! A comparison of studies for a terminal: differences first, then the figures.

use record::Lines;

use super::{Against, Combination, Compare, ComparedStudy, Difference, MetricAgainst};
use crate::comparison::table::change_of;
use crate::format::{self, figure_or_dash};
use crate::table::{Column, Row, Table};
use crate::text::{SENTENCE_WIDTH, grid, joined, titled};

/// With more sentences than this on what is not compared of a study, the rest is counted.
const NOT_USED_MOST: usize = 10;

impl Compare {
    /// The comparison as text, at most `width` columns wide where the tables allow it.
    #[must_use]
    pub fn text(&self, width: Option<u16>) -> Lines {
        let width = width.map_or(usize::MAX, usize::from).max(40);
        let wrapped = |text: &str| format::wrapped(text, width.min(SENTENCE_WIDTH)).join("\n");
        let Some(first) = self.studies.first() else { return Lines::of("There is nothing to compare.\n") };
        let mut blocks = Vec::new();
        blocks.extend(not_used(first).map(|sentence| wrapped(&sentence)));
        for (against, study) in self.against.iter().zip(self.studies.iter().skip(1)) {
            blocks.push(wrapped(&format!(
                "{} (begun {}) against {} (begun {})",
                against.name, study.started, first.name, first.started
            )));
            blocks.extend(not_used(study).map(|sentence| wrapped(&sentence)));
            blocks.extend(differences(against, &first.name, width));
            blocks.push(wrapped(&format!("{}.", self.caution)));
            blocks.extend(figures(against, &first.name, width));
        }
        if self.against.is_empty() {
            blocks.push("There is only one study, and nothing to compare it with.".to_owned());
        }
        joined(blocks)
    }
}

/// `DIR: trial 7 failed: No space left on device.`
fn not_used(study: &ComparedStudy) -> impl Iterator<Item = String> {
    let more = study.not_used.len().saturating_sub(NOT_USED_MOST);
    let told = study.not_used.iter().take(NOT_USED_MOST);
    let told = told.map(|sentence| format!("{}: {}.", study.name, sentence.trim_end_matches('.')));
    told.chain((more > 0).then(|| format!("{}: and {more} more of the kind.", study.name)))
}

fn differences(against: &Against, first: &str, width: usize) -> Vec<String> {
    let parts =
        [("machines", &against.environment), ("targets", &against.target), ("settings", &against.settings)];
    let part = |(what, found): &(&str, &Vec<Difference>)| match found.is_empty() {
        true => format!("No difference between the {what} is recorded."),
        false => titled(&table(&format!("Differences of the {what}"), found, first, &against.name), width),
    };
    parts.iter().map(part).collect()
}

fn table(title: &str, found: &[Difference], first: &str, this: &str) -> Table {
    let columns = [String::from("what"), first.to_owned(), this.to_owned()].map(Column::words).into();
    let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| format::UNKNOWN.to_owned());
    let row = |found: &Difference| Row {
        cells: vec![found.what.clone(), cell(&found.first), cell(&found.this)],
        part: false,
    };
    Table { title: title.to_owned(), columns, rows: found.iter().map(row).collect() }
}

fn figures(against: &Against, first: &str, width: usize) -> Vec<String> {
    let wrapped = |text: &str| format::wrapped(text, width.min(SENTENCE_WIDTH)).join("\n");
    let mut blocks = Vec::new();
    for combination in against.combinations.iter().filter(|combination| !combination.workload.is_empty()) {
        blocks.push(wrapped(&refused(combination)));
    }
    let rows = against.combinations.iter().flat_map(|combination| {
        combination.metrics.iter().map(|metric| row(combination, metric)).collect::<Vec<Row>>()
    });
    let mut columns: Vec<Column> = vec![Column::words("combination"), Column::words("metric")];
    columns.extend([first.to_owned(), against.name.clone()].map(Column::number));
    columns.push(Column { spare: 1, ..Column::words("trials") });
    columns.extend([Column::number("gain"), Column::words("verdict")]);
    let table = Table { title: String::new(), columns, rows: rows.collect() };
    if table.rows.is_empty() {
        let reasons = against.not_compared.iter();
        blocks.extend(reasons.map(|reason| wrapped(&format!("Nothing is compared: {reason}."))));
    } else {
        blocks.push(grid(&table, width));
        blocks.push(wrapped(
            "Figures: mean of the trials' own, of percentiles too. Gain: change in per cent, positive is better, with the interval between unpaired trials where both sides have \
             several, of 95 % unless it says otherwise.",
        ));
    }
    for (whose, labels) in [(first, &against.only_first), (against.name.as_str(), &against.only_this)] {
        if !labels.is_empty() {
            blocks.push(wrapped(&format!("Only in {whose}: {}.", labels.join("; "))));
        }
    }
    blocks
}

/// `RND4K: no verdict, since the workload differs: threads 1 and 4`.
fn refused(combination: &Combination) -> String {
    let one = |found: &Difference| {
        let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set".to_owned());
        format!("{} {} and {}", found.what, told(&found.first), told(&found.this))
    };
    let parts: Vec<String> = combination.workload.iter().map(one).collect();
    format!("{}: no verdict, since the workload differs: {}.", combination.label, parts.join("; "))
}

fn row(combination: &Combination, against: &MetricAgainst) -> Row {
    let mean = |values: &[f64]| figure_or_dash(stats::mean(values));
    let needed = against.judged.and_then(|judged| judged.blocks_needed);
    let settle = needed
        .map(|blocks| format!("; about {} trials each would settle it", format::grouped(blocks.into())));
    Row {
        cells: vec![
            combination.label.clone(),
            against.metric.name.to_owned(),
            mean(&against.first),
            mean(&against.this),
            format!("{} and {}", against.first.len(), against.this.len()),
            change_of(against.gain_pct, against.low_pct.zip(against.high_pct), against.effect.as_ref()),
            format!("{}{}", against.words, settle.unwrap_or_default()),
        ],
        part: false,
    }
}
