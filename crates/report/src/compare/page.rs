//! A comparison of studies as one HTML page that makes no request to anywhere: the answer, how far to trust it and why, the changes
//! with their intervals, what differs, and the machines.

use maud::{Markup, html};

use super::{Against, Combination, Compare, ComparedStudy, MetricAgainst, chart, gate, label, text};
use crate::change::told_or_dash;
use crate::comparison::{Outcome, ThresholdResult};
use crate::format::{self, figure_or_dash};
use crate::page::{document, machine, parts, verdicts};
use crate::summary::Trust;
use crate::table::Table;

/// Answers that stand under the title; the rest is in the table.
const ANSWERS_MOST: usize = 5;

/// What is said of how it came to be.
const METHOD: &str = "Of each combination that both sides have, each figure is the mean of its complete trials. One run a side: the ratio \
    of the means with the interval of unpaired trials (Welch, of logarithms). Several runs a side: the run is the unit, and the interval \
    is that of how much runs of one side differ. For each figure all combinations are one family, for which verdicts are corrected \
    (Holm). A gain is positive where the figure is better.";

impl Compare {
    /// The comparison as one self-contained HTML page.
    #[must_use]
    pub fn html(&self) -> String {
        self.shortly().page()
    }

    /// The same with runs called what their users call them, or as their directories, where that tells them apart.
    fn shortly(&self) -> Self {
        let short: Vec<String> = self.studies.iter().map(ComparedStudy::shortly).collect();
        let is_one = |name: &&String| short.iter().filter(|other| other == name).count() == 1;
        let names: Vec<(&String, &String)> =
            self.studies.iter().map(|study| &study.name).zip(&short).collect();
        let of = |name: &String| {
            let found = names.iter().find(|(long, _)| *long == name).map(|(_, short)| *short);
            found.filter(is_one).unwrap_or(name).clone()
        };
        let mut all = self.clone();
        all.first.iter_mut().for_each(|name| *name = of(name));
        all.studies.iter_mut().for_each(|study| study.name = of(&study.name));
        for against in &mut all.against {
            against.runs.iter_mut().for_each(|name| *name = of(name));
            against.name = label(&against.runs);
            for within in &mut against.within {
                (within.run, within.of) = (of(&within.run), of(&within.of));
            }
        }
        all
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
        let gates = self.against.iter().flat_map(|against| {
            let broken = against.gates.iter().filter(|gate| gate.outcome != Outcome::Held);
            let told =
                |gate: &ThresholdResult| format!("{}: {}, {}", gate.text, gate::word(gate.outcome), gate.why);
            broken.map(told).map(|told| format!("{}{told}", whose(against))).collect::<Vec<String>>()
        });
        let changes = self.against.iter().flat_map(|against| {
            let (refused, judged): (Vec<&Combination>, Vec<&Combination>) =
                against.combinations.iter().partition(|combination| combination.is_refused());
            let mains = judged.into_iter().map(answer).chain(without_verdict(&refused));
            let mains: Vec<String> = mains.collect();
            let nothing = against.not_compared.iter().map(|reason| format!("nothing is compared: {reason}"));
            mains
                .into_iter()
                .chain(nothing)
                .map(|told| format!("{}{told}", whose(against)))
                .collect::<Vec<String>>()
        });
        let answers: Vec<String> = gates.chain(changes).collect();
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
    fn shortly(&self) -> String {
        let own = || self.name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&self.name).to_owned();
        self.own_name.clone().unwrap_or_else(own)
    }

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

/// `RAID10: I/Os a second 1,200 and 1,500 I/O/s, +25 % (+24 to +26 %), better`.
fn answer(combination: &Combination) -> String {
    let label = if combination.label.is_empty() { String::new() } else { format!("{}: ", combination.label) };
    let Some(metric) = combination.main() else {
        return format!("{label}what it is judged by was not measured");
    };
    let MetricAgainst { metric: of, first, this, words, .. } = metric;
    let [first, this] = [first, this].map(|values| figure_or_dash(stats::mean(values)));
    format!("{label}{} {first} and {this} {}, {}, {words}", of.says, of.unit, told_or_dash(metric.change()))
}

/// `4 combinations have no verdict, since the workload differs`.
fn without_verdict(refused: &[&Combination]) -> Option<String> {
    let why = "no verdict, since the workload differs";
    match refused {
        [] => None,
        [only] if only.label.is_empty() => Some(why.to_owned()),
        [only] => Some(format!("{}: {why}", only.label)),
        several => Some(format!("{} combinations have {why}", several.len())),
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

fn titled(table: Table, title: &str) -> Table {
    Table { title: title.to_owned(), ..table }
}
