//! A comparison of studies for a terminal: the answers first, then what differs, then the figures.

use record::{Lines, shown};

use super::answer::answers;
use super::page::ANSWERS_MOST;
use super::{
    Against, Center, Combination, Compare, ComparedStudy, Deciding, Difference, MetricAgainst,
    RunDifferences, gate, label,
};
use crate::change::told_or_dash;
use crate::format::{self, figure_or_dash};
use crate::page::parts::instant_text;
use crate::search::RateRange;
use crate::table::{Column, Row, Table};
use crate::text::{SENTENCE_WIDTH, grid, joined, titled};

/// With more sentences than this on what is not compared of a study, the rest is counted.
const NOT_USED_MOST: usize = 10;

/// Which figures a text tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareRows<'a> {
    /// All of them.
    All,
    /// What a combination is judged by and what is not alike; the others are counted, with how all of them are asked for.
    Changed {
        /// What the program is to be given, such as a flag.
        all_with: &'a str,
    },
}

impl Compare {
    /// The comparison as text, at most `width` columns wide where the tables allow it: the answers first, then what differs, then
    /// the figures. Runs are called by their names.
    #[must_use]
    pub fn text(&self, width: Option<u16>, rows: CompareRows<'_>) -> Lines {
        self.shortly().told(width.map_or(usize::MAX, usize::from).max(40), rows)
    }

    fn told(&self, width: usize, rows: CompareRows<'_>) -> Lines {
        let wrapped = |text: &str| format::wrapped(text, width.min(SENTENCE_WIDTH)).join("\n");
        let mut blocks: Vec<String> =
            self.against.iter().map(|against| self.summed_up(against, width.min(SENTENCE_WIDTH))).collect();
        if !self.against.is_empty() {
            let (trust, reasons) = self.trust();
            let reason = reasons.first().map(|reason| format!(": {}", reason.short.trim_end_matches('.')));
            let reason = reason.unwrap_or_default();
            let next = self
                .next()
                .map(|next| format!("\n{}", wrapped(&format!("Next: {next}."))))
                .unwrap_or_default();
            blocks.push(wrapped(&format!("Reliability: {}{reason}.", trust.word())) + &next);
        }
        let unused = self.studies.iter().flat_map(not_used);
        blocks.extend(unused.map(|sentence| wrapped(&sentence)));
        for against in &self.against {
            if self.against.len() > 1 {
                blocks.push(format!("{} against {}", against.name, label(&self.first)));
            }
            blocks.extend(differences(against, &self.first[0], width));
            blocks.extend(within(against).map(|sentence| wrapped(&sentence)));
            blocks.extend(figures(against, &label(&self.first), width, rows));
            blocks.extend(gate::table(against).map(|table| titled(&table, width)));
        }
        match self.against.is_empty() {
            true => blocks.push("Only one study was given, so nothing is compared.".to_owned()),
            false => blocks.push(wrapped(&format!("{}.", self.caution))),
        }
        for (what, commands) in self.deciding.iter().flat_map(Deciding::told) {
            let commands: String =
                commands.iter().map(|command| format!("\n{INDENT}{}", shown(command))).collect();
            blocks.push(format!("{}{commands}", wrapped(&format!("{what}:"))));
        }
        joined(blocks)
    }

    /// Which studies, and what came of it.
    fn summed_up(&self, against: &Against, width: usize) -> String {
        let study = |name: &String| self.studies.iter().find(|study| study.name == *name);
        let of = |names: &[String]| names.iter().filter_map(study).collect::<Vec<&ComparedStudy>>();
        let head = format!("{} against {}", begun(&of(&against.runs)), begun(&of(&self.first)));
        let all = answers(against);
        let (told, more) = all.split_at(all.len().min(ANSWERS_MOST));
        let more =
            (!more.is_empty()).then(|| format::counted(more.len(), "more in the table", "more in the table"));
        let told = told.iter().cloned().chain(more).flat_map(|answer| {
            let lines = format::wrapped(&format!("{}.", answer.trim_end_matches('.')), width - INDENT.len());
            lines.into_iter().map(|line| format!("{INDENT}{line}")).collect::<Vec<String>>()
        });
        format::wrapped(&head, width).into_iter().chain(told).collect::<Vec<String>>().join("\n")
    }
}

/// Before each line of an answer.
const INDENT: &str = "  ";

/// `A1 (started 2026-11-21 07:00 UTC), A2 (started …)`.
pub(super) fn begun(studies: &[&ComparedStudy]) -> String {
    let one = |study: &&ComparedStudy| format!("{} (started {})", study.name, instant_text(&study.started));
    studies.iter().map(one).collect::<Vec<String>>().join(", ")
}

/// In what the runs of a side differ, and what only some of them have.
pub(super) fn within(against: &Against) -> impl Iterator<Item = String> {
    let differs = |run: &RunDifferences| {
        let all: Vec<String> = run.differences.iter().map(told).collect();
        format!(
            "{} is given as another run of {}, but differs from it: {}.",
            run.run,
            run.of,
            format::listed(&all)
        )
    };
    let partly = against.partly.iter().map(|sentence| format!("{sentence}."));
    against.within.iter().map(differs).chain(partly)
}

/// `threads 1 and 4`.
fn told(found: &Difference) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set".to_owned());
    format!("{} {} and {}", found.what, value(&found.first), value(&found.this))
}

/// `DIR: trial 7 failed: No space left on device.`
pub(super) fn not_used(study: &ComparedStudy) -> impl Iterator<Item = String> {
    let more = study.not_used.len().saturating_sub(NOT_USED_MOST);
    let told = study.not_used.iter().take(NOT_USED_MOST);
    let told = told.map(|sentence| format!("{}: {}.", study.name, sentence.trim_end_matches('.')));
    told.chain((more > 0).then(|| format!("{}: and {more} more.", study.name)))
}

fn differences(against: &Against, first: &str, width: usize) -> Vec<String> {
    let parts = different(against, first);
    let same: Vec<&str> = parts.iter().filter(|(_, table)| table.is_none()).map(|(what, _)| *what).collect();
    let tables = parts.iter().filter_map(|(_, table)| table.as_ref()).map(|table| titled(table, width));
    let same = match same.as_slice() {
        [] => None,
        [only] => Some((*only).to_owned()),
        [others @ .., last] => Some(format!("{} and {last}", others.join(", "))),
    };
    let same = same.map(|same| format!("The recorded {same} are the same."));
    tables.chain(same).collect()
}

/// In what machines, targets and settings differ; no table where no difference is recorded.
pub(super) fn different(against: &Against, first: &str) -> [(&'static str, Option<Table>); 3] {
    let parts =
        [("machines", &against.environment), ("targets", &against.target), ("settings", &against.settings)];
    parts.map(|(what, found)| {
        let title = format!("Differences of the {what}");
        (what, (!found.is_empty()).then(|| table(&title, found, first, &against.runs[0])))
    })
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

fn figures(against: &Against, first: &str, width: usize, rows: CompareRows<'_>) -> Vec<String> {
    let wrapped = |text: &str| format::wrapped(text, width.min(SENTENCE_WIDTH)).join("\n");
    let mut blocks: Vec<String> = unjudged(against).iter().map(|text| wrapped(text)).collect();
    let (told, others) = apart(against, rows == CompareRows::All);
    if !told.is_empty() || !others.is_empty() {
        blocks.push(grid(&metrics(against, first, &told), width));
        if let CompareRows::Changed { all_with } = rows {
            blocks.extend(
                counted(&others).map(|counts| wrapped(&format!("{counts}. To print them, use {all_with}."))),
            );
        }
        blocks.push(wrapped(&legend(against)));
    }
    blocks.extend(alone(against, first).iter().map(|text| wrapped(text)));
    blocks
}

/// A metric of a combination, a row each.
type Rows<'a> = Vec<(&'a Combination, &'a MetricAgainst)>;

/// All figures, those first that are told: what a combination is judged by and what is not alike.
pub(super) fn apart(against: &Against, all: bool) -> (Rows<'_>, Rows<'_>) {
    fn rows(combination: &Combination) -> Rows<'_> {
        combination.metrics.iter().map(|metric| (combination, metric)).collect()
    }
    let is_told = |(combination, metric): &(&Combination, &MetricAgainst)| {
        all || combination.metric == Some(metric.metric.name) || metric.is_change()
    };
    against.combinations.iter().flat_map(rows).partition(is_told)
}

/// Why there is no verdict, or nothing to compare, a sentence each.
pub(super) fn unjudged(against: &Against) -> Vec<String> {
    let nothing = against.not_compared.iter().map(|reason| format!("Nothing is compared: {reason}."));
    against.combinations.iter().flat_map(refused).chain(nothing).collect()
}

/// Combinations that one side alone has.
pub(super) fn alone(against: &Against, first: &str) -> Vec<String> {
    let sides = [(first, &against.only_first), (against.name.as_str(), &against.only_this)];
    let some = sides.iter().filter(|(_, labels)| !labels.is_empty());
    some.map(|(whose, labels)| format!("Only in {whose}: {}.", labels.join("; "))).collect()
}

/// What the figures and their gain are.
pub(super) fn legend(against: &Against) -> String {
    let has = |center: Center| {
        let all = against.combinations.iter().flat_map(|combination| &combination.metrics);
        all.into_iter().any(|metric| metric.center == center)
    };
    let legend = match (against.by_runs(), has(Center::GeometricMean)) {
        (true, _) => LEGEND_OF_RUNS,
        (false, true) => LEGEND_OF_MEANS,
        (false, false) => LEGEND,
    };
    format!("{legend}{}", if has(Center::Mean) { LEGEND_OF_ZEROS } else { "" })
}

/// More runs a side than this nobody makes to settle a question.
pub(super) const PRACTICAL: u32 = 100;

const LEGEND: &str = "Figures: median over the trials. Gain: median of the ratios between a trial of one side and a trial of the other; positive \
                      is better. The interval is that of unpaired trials, or, with one trial on a side, follows from the two \
                      trials. It is a 95% CI unless stated otherwise.";
const LEGEND_OF_MEANS: &str =
    "Figures: geometric mean over the trials. Gain: their ratio with its interval; positive is better.";
const LEGEND_OF_RUNS: &str = "Figures: geometric mean over the runs. Gain: their ratio with its 95% CI; positive is better. \
                              Spread: standard deviation between runs of one side.";
/// Said besides where it is so.
const LEGEND_OF_ZEROS: &str = " If a value is zero, the figure is the arithmetic mean.";

pub(super) fn metrics(against: &Against, first: &str, rows: &[(&Combination, &MetricAgainst)]) -> Table {
    let by_runs = against.by_runs();
    let mut columns: Vec<Column> = vec![Column::words("combination"), Column::words("metric")];
    columns.extend([first.to_owned(), against.name.clone()].map(Column::number));
    columns.push(Column { spare: 1, ..Column::words(if by_runs { "runs" } else { "trials" }) });
    columns.extend(by_runs.then(|| Column::number("spread")));
    columns.extend([Column::number("gain"), Column::words("verdict")]);
    let rows = rows.iter().map(|(combination, metric)| row(combination, metric, by_runs));
    Table { title: String::new(), columns, rows: rows.collect() }
}

/// `27 others: 20 equivalent, 7 not resolvable here`; none where there is none.
pub(super) fn counted(others: &[(&Combination, &MetricAgainst)]) -> Option<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for (_, metric) in others {
        match counts.iter_mut().find(|(words, _)| *words == metric.words) {
            Some((_, count)) => *count += 1,
            None => counts.push((&metric.words, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let parts: Vec<String> = match counts.as_slice() {
        [(words, _)] => vec![(*words).to_owned()],
        several => several.iter().map(|(words, count)| format!("{count} {words}")).collect(),
    };
    let head = match others.len() {
        0 => return None,
        1 => "One other figure".to_owned(),
        several => format!("{several} other figures"),
    };
    Some(format!("{head}: {}", parts.join(", ")))
}

/// `RND4K: no verdict, because the workload differs: threads 1 and 4`.
pub(super) fn refused(combination: &Combination) -> Vec<String> {
    let all = |found: &[Difference]| found.iter().map(told).collect::<Vec<String>>().join("; ");
    let sides = (!combination.workload.is_empty()).then(|| {
        format!(
            "{}: no verdict, because the workload differs: {}.",
            combination.label,
            all(&combination.workload)
        )
    });
    let mixed = combination.mixed.iter().map(|mixed| {
        format!(
            "{}: no verdict, because {} and {} are given as runs of one side but have different workloads: {}.",
            combination.label,
            mixed.run,
            mixed.of,
            all(&mixed.differences)
        )
    });
    sides.into_iter().chain(mixed).collect()
}

fn row(combination: &Combination, against: &MetricAgainst, by_runs: bool) -> Row {
    let center = |value: Option<f64>, sustained: Option<RateRange>| match sustained {
        Some(range) => range.words(),
        None => figure_or_dash(value),
    };
    let needed = against.judged.and_then(|judged| judged.blocks_needed);
    let settle = needed.map(|runs| match runs {
        runs if runs > PRACTICAL => format!(", more than {PRACTICAL} runs per side to decide"),
        runs => format!(", about {runs} runs per side to decide"),
    });
    let (ours, theirs) = if by_runs { against.runs } else { (against.first.len(), against.this.len()) };
    let spread = against.between_runs.map_or_else(|| format::UNKNOWN.to_owned(), format::per_cent);
    let mut cells = vec![
        combination.label.clone(),
        against.metric.name.to_owned(),
        center(against.first_value, against.first_sustained),
        center(against.this_value, against.this_sustained),
        format!("{ours} and {theirs}"),
    ];
    cells.extend(by_runs.then_some(spread));
    cells
        .extend([told_or_dash(against.change()), format!("{}{}", against.words, settle.unwrap_or_default())]);
    Row { cells, part: false }
}
