//! A comparison of studies as one HTML page that makes no request to anywhere: the answer, how far to trust it and why, the changes
//! with their intervals, what differs, and the machines.

use maud::{Markup, html};

use super::answer::answers;
use super::{Against, Compare, ComparedStudy, Deciding, chart, gate, label, text};
use crate::comparison::Outcome;
use crate::format;
use crate::page::{document, machine, parts, verdicts};
use crate::summary::Trust;
use crate::table::{Row, Table};

/// Answers that stand under the title; the rest is in the table.
pub(super) const ANSWERS_MOST: usize = 5;

/// What is said of how it came to be.
const METHOD: &str = "Of each combination that both sides have, the figures of its complete trials are compared. One run a side: the gain is \
    the median of all ratios between a trial of one side and one of the other, with its exact interval (Hodges and Lehmann), beside the \
    medians of the trials; of one trial on each side the interval follows from those of both trials (Zou and Donner); it says whether the two runs differ or are alike, and no more, since runs of different times may differ by \
    any amount; where it is given how much runs differ by themselves, the ratio of the geometric means (Welch, of \
    logarithms). Several runs a side: the run is the unit, the gain is the ratio of the geometric means of the runs, and the interval is \
    that of how much runs of one side differ. Where a value is zero there is no interval, and the means stand there. For each figure all combinations are one family, for which verdicts are corrected \
    (Holm). A gain is positive where the figure is better.";

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
                (self.summary())
                @for study in &self.studies { p.meta { (study.told()) } }
                nav aria-label="Sections" {
                    a href="#changes" { "Changes" }
                    @if has_gates { a href="#gates" { "What must not be" } }
                    a href="#trust" { "Trust" }
                    a href="#differences" { "What differs" }
                    a href="#machines" { "Machines" }
                    a href="#method" { "Method" }
                }
            }
            main {
                section id="changes" { h2 { "Changes" } @for against in &self.against { (self.changes(against)) } }
                @if has_gates {
                    section id="gates" { h2 { "What must not be" } @for against in &self.against { (gates(against)) } }
                }
                section id="trust" { h2 { "How far to trust it" } (self.reasons()) }
                section id="differences" { h2 { "What differs" } @for against in &self.against { (self.differing(against)) } }
                section id="machines" { h2 { "Machines" } (self.machines()) }
                section id="method" { h2 { "Method" } p { (METHOD) } }
            }
            footer { "Made by prony from the studies' own files. A dash stands where a figure is unknown." }
        };
        document(&format!("Comparison: {title}"), &body)
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

    /// The answers, and how far to trust them in a few words.
    fn summary(&self) -> Markup {
        let answers = self.answers();
        let (told, more) = answers.split_at(answers.len().min(ANSWERS_MOST));
        let (trust, because) = self.trust();
        html! {
            div.summary {
                @for answer in told { p.answer { (verdicts::ended(answer)) } }
                @if !more.is_empty() {
                    p.answer { a href="#changes" { (format::counted(more.len(), "more change", "more changes")) } "." }
                }
                p class={ "trust " (trust.word()) } {
                    b { "Trust" } " " (verdicts::ended(&format!("{}: {}", trust.word(), gist(&because[0])))) " "
                    a href="#trust" { "Reasons" }
                }
            }
        }
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
        if answers.is_empty() {
            vec!["there is only one study, and nothing to compare it with".to_owned()]
        } else {
            answers
        }
    }

    /// How far the changes can be trusted, and why: at least one reason.
    fn trust(&self) -> (Trust, Vec<String>) {
        let caution = vec![self.caution.clone()];
        let refused = self.against.iter().flat_map(text::unjudged);
        let refused: Vec<String> = refused.collect();
        let runs: Vec<(Trust, String)> = self
            .studies
            .iter()
            .map(|study| (study.trust.0, format!("{} by itself: {}", study.name, study.trust.1)))
            .collect();
        let unused = self.studies.iter().flat_map(text::not_used);
        let within = self.against.iter().flat_map(text::within);
        let worst = if refused.is_empty() { Trust::Good } else { Trust::Poor };
        let own = match self.against.iter().all(Against::by_runs) || self.between.is_some() {
            true => Trust::Good,
            false => Trust::Fair,
        };
        let trust = runs.iter().map(|(trust, _)| *trust).chain([worst, own]).max().unwrap_or(Trust::Fair);
        // What is least to be trusted stands first.
        let (bad, rest): (Vec<_>, Vec<_>) = runs.into_iter().partition(|(of, _)| *of == Trust::Poor);
        let told = |runs: Vec<(Trust, String)>| runs.into_iter().map(|(_, told)| told);
        let reasons =
            refused.into_iter().chain(told(bad)).chain(caution).chain(told(rest)).chain(unused).chain(within);
        (trust, reasons.collect())
    }

    fn reasons(&self) -> Markup {
        let (trust, because) = self.trust();
        html! {
            p { strong { (trust.word()) } }
            ul.plain { @for reason in &because { li { (verdicts::ended(reason)) } } }
            @for (what, commands) in self.deciding.iter().flat_map(Deciding::told) {
                p { (what) ":" }
                @for command in &commands { p.meta { code { (command) } } }
            }
        }
    }

    fn changes(&self, against: &Against) -> Markup {
        let first = self.first();
        let (told, others) = text::apart(against, false);
        let (charts, left_out) = chart::of(&told, "Gain");
        html! {
            @if self.against.len() > 1 { h3 { (against.name) } }
            @for sentence in text::unjudged(against) { p { (sentence) } }
            (parts::charts(&charts))
            @if left_out > 0 {
                p.meta { (format::counted(left_out, "further combination is", "further combinations are")) " in the table only." }
            }
            @if !told.is_empty() {
                (parts::table(&titled(text::metrics(against, &first, &told), "Figures that changed or are judged by")))
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
                    None => p { "No difference between the " (what) " is recorded." },
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

impl ComparedStudy {
    /// `after: Disk on /data, begun 2026-11-22 21:39 UTC, in prony-results/…`.
    fn told(&self) -> String {
        let place = if self.place == self.name { String::new() } else { format!(", in {}", self.place) };
        format!("{}: {}, begun {}{place}", self.name, self.title, parts::instant(&self.started))
    }
}

/// A reason up to its first stop: all of it stands below.
fn gist(reason: &str) -> &str {
    let end = [". ", "; "].iter().filter_map(|stop| reason.find(stop)).min();
    &reason[..end.unwrap_or(reason.len())]
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
