//! A comparison of studies as one HTML page that makes no request to anywhere: the answer, how far to trust it and why, the changes
//! with their intervals, what differs, and the machines.

use maud::{Markup, html};
use stats::Comparison as Judgement;

use super::answer::answers;
use super::{
    Against, Combination, Compare, ComparedStudy, Deciding, MetricAgainst, chart, gate, label, text,
};
use crate::chart::Chart;
use crate::comparison::Outcome;
use crate::format;
use crate::lead::{Tile, Tone};
use crate::page::{document, lead, machine, parts, verdicts};
use crate::summary::Reliability;
use crate::table::{Row, Table};

/// Answers that stand under the title; the rest is in the table.
pub(super) const ANSWERS_MOST: usize = 5;

/// Large figures under the title.
const TILES_MOST: usize = 4;

/// What is said of how it came to be.
const METHOD: &str = "prony compares the figures of complete trials, for each combination that both sides have. One run per side: the gain is the \
    median of all ratios between a trial of one side and one of the other. Its interval is exact (Hodges and Lehmann). The table also has \
    the medians of the trials. With one trial per side, the interval follows from those of both trials (Zou and Donner). Such an interval shows \
    only that the two runs differ or are alike, since any two runs may differ. If the spread between runs is given, the gain is the ratio of \
    the geometric means (Welch, of logarithms). Several runs per side: the run is the unit. The gain is the ratio of the geometric means of the \
    runs, and its interval follows from the spread between runs of a side. If a value is zero, the table has the means without an interval. \
    For each figure, all combinations are one family, and verdicts are corrected for it (Holm). A positive gain is an improvement.";

/// The next step where each side is one run.
const REPEAT: &str = "repeat both sides, then compare all runs";

/// The heading of changes that must not be.
const GATES: &str = "Limits";

impl Compare {
    /// The comparison as one self-contained HTML page.
    #[must_use]
    pub fn html(&self) -> String {
        self.shortly().page()
    }

    fn page(&self) -> String {
        let has_gates = self.against.iter().any(|against| !against.gates.is_empty());
        let title = self.title();
        let body = html! {
            header {
                h1 { "Comparison: " span.on { (title) } }
                @let same = self.measured_alike();
                @if let Some(measured) = same { p.meta { (if self.studies.len() == 2 { "Both measured: " } else { "All measured: " }) (measured) } }
                (self.summary())
                @for study in &self.studies { p.meta { (study.told(same.is_none())) } }
                nav aria-label="Sections" {
                    a href="#changes" { "Changes" }
                    @if has_gates { a href="#gates" { (GATES) } }
                    a href="#trust" { "Reliability" }
                    a href="#differences" { "Differences" }
                    a href="#machines" { "Machines" }
                    a href="#method" { "Method" }
                }
            }
            main {
                section id="changes" { h2 { "Changes" } @for against in &self.against { (self.changes(against)) } }
                @if has_gates {
                    section id="gates" { h2 { (GATES) } @for against in &self.against { (gates(against)) } }
                }
                section id="trust" { h2 { "Reliability" } (self.reasons()) }
                section id="differences" { h2 { "Differences" } @for against in &self.against { (self.differing(against)) } }
                section id="machines" { h2 { "Machines" } (self.machines()) }
                section id="method" { h2 { "Method" } p { (METHOD) } }
            }
            footer { "Created by prony from the files of the studies. A dash marks an unknown figure." }
        };
        document(&format!("Comparison: {title}"), &body)
    }

    /// What all studies measured, if it is the same.
    fn measured_alike(&self) -> Option<&str> {
        let first = self.studies.first()?;
        self.studies.iter().all(|study| study.measured == first.measured).then_some(first.measured.as_str())
    }

    /// `after against before`.
    fn title(&self) -> String {
        let others: Vec<&str> = self.against.iter().map(|against| against.name.as_str()).collect();
        match others.as_slice() {
            [] => self.first(),
            others => format!("{} against {}", format::listed(others), self.first()),
        }
    }

    fn first(&self) -> String {
        label(&self.first)
    }

    /// The figures that decide, how reliable the changes are in a few words, and the answers beside their chart.
    fn summary(&self) -> Markup {
        let (trust, reasons) = self.trust();
        let brief = reasons.first().map(|reason| format!(": {}", reason.short)).unwrap_or_default();
        let reasons = html! { a href="#trust" { "Reasons" } };
        html! {
            (lead::tiles(&self.tiles()))
            (lead::reliability(trust, &brief, &reasons))
            (lead::beside(&self.said(), self.lead_chart().as_ref()))
        }
    }

    fn said(&self) -> Markup {
        let answers = self.answers();
        let (told, more) = answers.split_at(answers.len().min(ANSWERS_MOST));
        html! {
            dl.summary {
                @for (index, answer) in told.iter().enumerate() {
                    dt.result { @if index == 0 { "Result" } }
                    dd.result { (verdicts::ended(answer)) }
                }
                @if !more.is_empty() {
                    dt.result {}
                    dd.result { a href="#changes" { (format::counted(more.len(), "more change", "more changes")) } }
                }
                @if let Some(next) = self.next() {
                    dt { "Next" }
                    dd { (verdicts::ended(&format::capital(&next))) }
                }
            }
        }
    }

    /// The metric for the verdict of the first combinations: its change, its values, and the verdict.
    fn tiles(&self) -> Vec<Tile> {
        let combinations = self.against.iter().flat_map(|against| &against.combinations);
        let mains = combinations.filter(|one| !one.is_refused()).filter_map(|one| Some((one, one.main()?)));
        mains.take(TILES_MOST).filter_map(|(combination, metric)| tile(combination, metric)).collect()
    }

    /// The chart of the first side that is compared; the others stand with their tables.
    fn lead_chart(&self) -> Option<Chart> {
        let (told, _) = text::apart(self.against.first()?, false);
        chart::of(&told, &self.heading(self.against.first()?)).0.into_iter().next()
    }

    /// The heading of a chart: what is compared with what.
    fn heading(&self, against: &Against) -> String {
        format!("{} against {}", against.name, self.first())
    }

    /// What failed of what must not be; then of each combination what it is judged by.
    fn answers(&self) -> Vec<String> {
        let several = self.against.len() > 1;
        let whose = |against: &Against| if several { format!("{}: ", against.name) } else { String::new() };
        let of = |against: &Against| {
            let told = answers(against).into_iter().map(|told| format!("{}{told}", whose(against)));
            told.collect::<Vec<String>>()
        };
        let answers: Vec<String> = self.against.iter().flat_map(of).collect();
        if answers.is_empty() { vec!["only one study, so nothing is compared".to_owned()] } else { answers }
    }

    /// How reliable the changes are, and why: at least one reason.
    pub(super) fn trust(&self) -> (Reliability, Vec<Reason>) {
        let refused: Vec<Reason> = self.against.iter().flat_map(text::unjudged).map(Reason::of).collect();
        let of_run = |study: &ComparedStudy| {
            let (reliability, reason) = &study.trust;
            Reason::of(format!("{} has {} reliability{reason}", study.name, reliability.word()))
        };
        // What is least reliable stands first.
        let (bad, rest): (Vec<_>, Vec<_>) =
            self.studies.iter().partition(|study| study.trust.0 == Reliability::Low);
        let worst = if refused.is_empty() { Reliability::High } else { Reliability::Low };
        let own = match self.against.iter().all(Against::by_runs) || self.between.is_some() {
            true => Reliability::High,
            // Any two runs may differ, so nothing is better or worse.
            false => Reliability::Low,
        };
        let of_runs = self.studies.iter().map(|study| study.trust.0);
        let trust = of_runs.chain([worst, own]).max().unwrap_or(Reliability::Medium);
        let caution = Reason { short: self.caution_short.to_owned(), whole: self.caution.clone() };
        let unused = self.studies.iter().flat_map(text::not_used).map(Reason::of);
        let within = self.against.iter().flat_map(text::within).map(Reason::of);
        let told = |runs: Vec<&ComparedStudy>| runs.into_iter().map(of_run).collect::<Vec<Reason>>();
        let reasons = refused
            .into_iter()
            .chain(told(bad))
            .chain([caution])
            .chain(told(rest))
            .chain(unused)
            .chain(within);
        (trust, reasons.collect())
    }

    /// What to do about the first run of low reliability; else, of single runs, to repeat them.
    pub(super) fn next(&self) -> Option<String> {
        let bad = self.studies.iter().find(|study| study.trust.0 == Reliability::Low);
        let of_bad = bad.and_then(|bad| Some(format!("for {}: {}", bad.name, bad.next.as_ref()?)));
        let repeat = || match (&self.deciding, self.is_spread_unknown) {
            (Some(_), _) => Some(format!("{REPEAT}. Under Reliability are the commands")),
            (None, true) => Some(REPEAT.to_owned()),
            (None, false) => None,
        };
        of_bad.or_else(repeat)
    }

    fn reasons(&self) -> Markup {
        let (trust, reasons) = self.trust();
        html! {
            p { strong { (trust.word()) } }
            ul.plain { @for reason in &reasons { li { (verdicts::ended(&reason.whole)) } } }
            @for (what, commands) in self.deciding.iter().flat_map(Deciding::told) {
                p { (what) ":" }
                @for command in &commands { p.meta { code { (command) } } }
            }
        }
    }

    fn changes(&self, against: &Against) -> Markup {
        let first = self.first();
        let (told, others) = text::apart(against, false);
        let (mut charts, left_out) = chart::of(&told, &self.heading(against));
        let lead = self.lead_chart();
        charts.retain(|chart| lead.as_ref().is_none_or(|lead| lead.svg != chart.svg));
        html! {
            @if self.against.len() > 1 { h3 { (against.name) } }
            @for sentence in text::unjudged(against) { p { (sentence) } }
            (parts::charts(&charts))
            @if left_out > 0 {
                p.meta { "The table has " (format::counted(left_out, "more combination", "more combinations")) "." }
            }
            @if !told.is_empty() {
                (parts::table(&titled(text::metrics(against, &first, &told), "Changed figures, and figures with a verdict")))
                p.meta { (text::legend(against)) }
            }
            @if let Some(counts) = text::counted(&others) {
                details { summary { (counts) } (parts::table(&titled(text::metrics(against, &first, &others), "All other figures"))) }
            }
            @for sentence in text::alone(against, &first) { p { (sentence) } }
        }
    }

    fn differing(&self, against: &Against) -> Markup {
        html! {
            @if self.against.len() > 1 { h3 { (against.name) } }
            @for (what, table) in text::different(against, &self.first[0]) {
                @match table {
                    Some(table) => (parts::long_table(&table)),
                    None => p { "The recorded " (what) " are the same." },
                }
            }
        }
    }

    /// Each machine once, with the runs that were made on it.
    fn machines(&self) -> Markup {
        let mut machines: Vec<(String, Vec<&ComparedStudy>)> = Vec::new();
        for study in &self.studies {
            let words = study.machine.clone();
            match machines.iter_mut().find(|(of, _)| *of == words) {
                Some((_, runs)) => runs.push(study),
                None => machines.push((words, vec![study])),
            }
        }
        html! {
            @for (words, runs) in &machines {
                @let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
                details.more {
                    summary { (format::listed(&names)) ": " (words) }
                    (machine::facts(runs[0].environment.as_ref()))
                }
            }
        }
    }
}

/// `Throughput, with RAID10 in both`, `+25%`, `from 1,200 to 1,500 I/O/s, 95% CI +24 to +26%, better`; of a latency `12% lower`.
fn tile(combination: &Combination, metric: &MetricAgainst) -> Option<Tile> {
    let change = metric.change()?.parts();
    let of = &metric.metric;
    let label = match combination.label.as_str() {
        "" => format::capital(of.says),
        label => format!("{}, with {label} in both", format::capital(of.says)),
    };
    let [first, this] = [metric.first_value, metric.this_value].map(format::figure_or_dash);
    let values = format!("from {first} to {this} {}", of.unit);
    let words = match metric.judged {
        None => "too few runs for a verdict".to_owned(),
        Some(_) => metric.words.clone(),
    };
    let told = [Some(values), change.interval.clone(), Some(words)];
    let beside = told.into_iter().flatten().collect::<Vec<String>>().join(", ");
    let tone = match metric.judged.map(|judged| judged.comparison) {
        Some(Judgement::Better) => Tone::Good,
        Some(Judgement::Worse) => Tone::Bad,
        _ => Tone::Plain,
    };
    Some(Tile::new(label, change.short(), "").beside(beside).tone(tone))
}

/// A reason for the reliability of the changes.
pub(super) struct Reason {
    /// In a few words, for the first screen.
    pub(super) short: String,
    /// In full.
    whole: String,
}

impl Reason {
    /// Of a sentence that is short enough.
    fn of(sentence: String) -> Self {
        Self { short: sentence.clone(), whole: sentence }
    }
}

impl ComparedStudy {
    /// `after: "New cache", Disk: /data on db7, started 2026-11-22 21:39 UTC, in prony-results/…`, without what is told of all already.
    fn told(&self, with_measured: bool) -> Markup {
        html! {
            (self.name) ": "
            @if let Some(title) = &self.user_title { "\"" (title) "\", " }
            @if with_measured { (self.measured) ", " } "started " (parts::instant(&self.started))
            @if self.place != self.name { ", in " (self.place) }
        }
    }
}

fn gates(against: &Against) -> Markup {
    html! {
        h3 { (against.name) }
        ul.doubts {
            @for gate in &against.gates {
                @let class = match gate.outcome {
                    Outcome::Held => "held",
                    Outcome::Inconclusive => "warning",
                    Outcome::Failed => "failure",
                };
                li class=(class) { b { (gate::word(gate.outcome)) } span { (gate.text) " – " (gate.why) "." } }
            }
        }
    }
}

/// Columns that stand beside what a row is of, whatever is beyond the edge of a narrow page.
const ANSWERS: [&str; 2] = ["gain", "verdict"];

/// A table of figures for the page: what they gained before what they were.
fn titled(table: Table, title: &str) -> Table {
    let is_answer = |index: &usize| ANSWERS.contains(&table.columns[*index].head.as_ref());
    let names = table.columns.len().min(2);
    let (answers, others): (Vec<usize>, Vec<usize>) = (names..table.columns.len()).partition(is_answer);
    let order: Vec<usize> = (0..names).chain(answers).chain(others).collect();
    let row =
        |row: &Row| Row { cells: order.iter().map(|&at| row.cells[at].clone()).collect(), part: row.part };
    Table {
        title: title.to_owned(),
        columns: order.iter().map(|&at| table.columns[at].clone()).collect(),
        rows: table.rows.iter().map(row).collect(),
    }
}
