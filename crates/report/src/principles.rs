//! Which principles of a sound evaluation a run keeps, and which not, each judged from what the run itself recorded.
//!
//! The principles are those of A. V. Papadopoulos et al., "Methodological Principles for Reproducible Performance Evaluation in Cloud
//! Computing", IEEE Transactions on Software Engineering 47(8), 2021 (SPEC Research Group). What a run cannot know of itself, such as
//! whether its results are published, is said to be kept in part.

use std::collections::BTreeMap;

use record::{Order, State};
use serde::Serialize;

use crate::format::{counted, listed};
use crate::report::Report;
use crate::table::{Column, Row, Table};
use crate::trial::Trial;

/// Where the principles are from.
pub(crate) const SOURCE: &str = "The principles are those of Papadopoulos et al., \"Methodological Principles for Reproducible Performance \
    Evaluation in Cloud Computing\", IEEE Transactions on Software Engineering 47(8), 2021. Each is judged from this run's own data";

/// A principle and whether the run keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Principle {
    /// Its number in the article, such as `P1`.
    pub id: &'static str,
    /// What it asks for.
    pub principle: &'static str,
    /// Whether the run keeps it.
    pub kept: Kept,
    /// Why.
    pub why: String,
}

/// Whether a run keeps a principle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// It does.
    Kept,
    /// Some of what it asks for is there.
    InPart,
    /// It does not.
    NotKept,
    /// The run has nothing that it is about.
    DoesNotApply,
}

impl Kept {
    fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::InPart => "in part",
            Self::NotKept => "not kept",
            Self::DoesNotApply => "does not apply",
        }
    }
}

/// All eight, in their order.
pub(crate) fn all(report: &Report) -> Vec<Principle> {
    let of = |id, principle, (kept, why): (Kept, String)| Principle { id, principle, kept, why };
    vec![
        of("P1", "repeated experiments", repeated(report)),
        of("P2", "workload and configuration coverage", coverage(report)),
        of("P3", "description of the experimental setup", setup(report)),
        of("P4", "open access to artifacts", artifacts(report)),
        of("P5", "probabilistic description of results", distribution(report)),
        of("P6", "statistical evaluation", evaluation(report)),
        of("P7", "units of measurement", units(report)),
        of("P8", "cost", cost(report)),
    ]
}

/// The principles as a table.
pub(crate) fn table(report: &Report) -> Table {
    let columns = ["", "principle", "kept", "why"].map(Column::words).into();
    let row = |one: &Principle| {
        Row::of(vec![
            one.id.to_owned(),
            one.principle.to_owned(),
            one.kept.word().to_owned(),
            one.why.clone(),
        ])
    };
    Table {
        title: "Principles of a reproducible evaluation".to_owned(),
        columns,
        rows: report.principles.iter().map(row).collect(),
    }
}

/// How often each combination was measured: by complete trials, or by searches that confirmed a rate.
fn repeats(report: &Report) -> Vec<usize> {
    let mut counts: BTreeMap<(&str, &BTreeMap<String, String>), usize> = BTreeMap::new();
    // What was left out on purpose is no combination of this run.
    let counts_here = |trial: &&Trial| trial.search.is_none() && !trial.aa && trial.state != State::Skipped;
    for trial in report.trials.iter().filter(counts_here) {
        *counts.entry((&trial.name, &trial.levels)).or_default() += usize::from(trial.is_complete());
    }
    for search in &report.searches {
        let confirmed = usize::from(search.stable_at.is_some());
        *counts.entry((&search.configuration, &search.levels)).or_default() += confirmed;
    }
    counts.into_values().collect()
}

fn repeated(report: &Report) -> (Kept, String) {
    let counts = repeats(report);
    let least = counts.iter().copied().min().unwrap_or(0);
    let what = if counts.len() > 1 { "a combination" } else { "the only combination" };
    match least {
        0 => (Kept::NotKept, format!("{what} has no complete trial")),
        1 => {
            (Kept::NotKept, format!("{what} was measured once, so its interval covers only that measurement"))
        }
        few if few < stats::BLOCKS_MIN => (
            Kept::InPart,
            format!("{what} was measured {few} times, and a 95% CI needs {}", stats::BLOCKS_MIN),
        ),
        many => (Kept::Kept, format!("each combination was measured at least {many} times")),
    }
}

fn coverage(report: &Report) -> (Kept, String) {
    let combinations = repeats(report).len();
    if combinations < 2 {
        return (Kept::NotKept, "one workload in one configuration was measured".to_owned());
    }
    let order = report.comparison.as_ref().map(|comparison| comparison.order);
    match order {
        Some(Order::Blocks) => (
            Kept::Kept,
            format!("{combinations} combinations were measured, in a new random order in each block"),
        ),
        Some(Order::Abba | Order::Given | Order::Repeats) => {
            (Kept::InPart, format!("{combinations} combinations were measured, in a fixed order"))
        }
        None => (
            Kept::InPart,
            format!(
                "{combinations} workloads or settings were measured one after the other, and not compared"
            ),
        ),
    }
}

fn setup(report: &Report) -> (Kept, String) {
    let lacks = [
        (report.environment.is_none(), "the machine was not recorded"),
        (report.command.is_empty(), "the command was not recorded"),
        (report.study_toml.trim().is_empty(), "the exact input was not recorded"),
    ];
    let lacking: Vec<&str> = lacks.iter().filter(|(lacks, _)| *lacks).map(|(_, what)| *what).collect();
    let changed = report.resumed.iter().filter(|again| !again.differs.is_empty()).count();
    match lacking.as_slice() {
        [] if changed > 0 => (
            Kept::InPart,
            "the machine had changed when the run resumed, and both states are recorded".to_owned(),
        ),
        [] => (
            Kept::Kept,
            "machine, targets, settings, command, seed and exact input are in the report".to_owned(),
        ),
        lacking if report.environment.is_none() => (Kept::NotKept, listed(lacking)),
        lacking => (Kept::InPart, listed(lacking)),
    }
}

fn artifacts(report: &Report) -> (Kept, String) {
    match report.damage.len() {
        0 => (
            Kept::InPart,
            format!(
                "the results directory has the input and all raw data, and prony {} recreates the report from it. A run cannot know whether it is published",
                report.tool_version
            ),
        ),
        damaged => (
            Kept::NotKept,
            format!(
                "the results directory is damaged ({}), so others cannot check all of it",
                counted(damaged, "finding", "findings")
            ),
        ),
    }
}

fn distribution(report: &Report) -> (Kept, String) {
    let measured: Vec<_> =
        report.configurations.iter().filter(|configuration| !configuration.cut_short).collect();
    let has_latencies = |of: &&&crate::configuration::Configuration| {
        of.main().is_some_and(|figures| figures.latency.p50_us.is_some())
    };
    let latencies = measured.iter().filter(has_latencies).count();
    let intervals = measured.iter().filter(|of| of.rate_per_s.is_some()).count();
    let all = measured.len();
    let confirmed = report.searches.iter().filter(|search| search.stable_at.is_some()).count();
    match (latencies, intervals) {
        _ if all == 0 && confirmed > 0 => (
            Kept::InPart,
            "the rate is a range from the confirmed to the failed rate, without a confidence".to_owned(),
        ),
        _ if all == 0 => (Kept::NotKept, "no measurement is complete".to_owned()),
        (latencies, intervals) if latencies == all && intervals == all => (
            Kept::Kept,
            "each combination has percentiles of all latencies and an interval of the rate".to_owned(),
        ),
        (0, 0) => (Kept::NotKept, "there are neither percentiles nor intervals".to_owned()),
        (latencies, intervals) => (
            Kept::InPart,
            format!(
                "{latencies} of {all} combinations have percentiles, {intervals} have an interval of the rate"
            ),
        ),
    }
}

fn evaluation(report: &Report) -> (Kept, String) {
    let Some(comparison) = &report.comparison else {
        return (Kept::DoesNotApply, "nothing is compared".to_owned());
    };
    let blocks = comparison.blocks.len();
    match &comparison.not_compared {
        Some(reason) => (Kept::NotKept, format!("nothing is compared: {reason}")),
        None if blocks < stats::BLOCKS_MIN => (
            Kept::NotKept,
            format!(
                "{} cannot give a verdict: it needs at least {}",
                counted(blocks, "block", "blocks"),
                stats::BLOCKS_MIN
            ),
        ),
        None => (
            Kept::Kept,
            format!(
                "{blocks} blocks, paired tests corrected for the number of levels, intervals, and a smallest relevant difference"
            ),
        ),
    }
}

/// Shares and counts have no unit by their nature; all metrics name theirs where they are defined, so this cannot be missed.
fn units(report: &Report) -> (Kept, String) {
    let unit = report.comparison.as_ref().map(|comparison| comparison.metric.unit);
    let example = unit.filter(|unit| !unit.is_empty());
    let example = example.map(|unit| format!(", and the study is judged in {unit}")).unwrap_or_default();
    (Kept::Kept, format!("each figure is printed with its unit, or is a share or a count{example}"))
}

fn cost(report: &Report) -> (Kept, String) {
    let resources = report.trials.iter().any(|trial| trial.generator.cpu_us_per_operation.is_some());
    if report.trials.iter().any(|trial| trial.shown().is_priced(report)) {
        return (Kept::Kept, "the report has the price list and the cost".to_owned());
    }
    let used = if resources { ". The report has the times and the CPU time used" } else { "" };
    (Kept::NotKept, format!("no price list was given{used}"))
}

#[cfg(test)]
mod tests {
    use record::StudyRecord;

    use super::*;
    use crate::fixture::{self, Designed, Made, Sold, prices};

    fn study(blocks: u32) -> StudyRecord {
        Designed::blocks(blocks).configurations(&["SSD", "RAID10"]).study(|at| {
            let mut trial =
                Made::read("read").seconds(12).rate(900.0 * at.noise(0.01), 900.0).trial(at.number);
            trial.trial.name = "read".to_owned();
            Some(at.placed(trial))
        })
    }

    fn single() -> StudyRecord {
        fixture::study("read", vec![Made::read("read").seconds(12).trial(1)])
    }

    #[track_caller]
    fn check(study: &StudyRecord, id: &str, kept: Kept, why: &str) {
        let report = Report::of(study);
        let found = report.principles.iter().find(|one| one.id == id).unwrap();
        assert!(found.kept == kept && found.why.contains(why), "{found:?}");
    }

    #[test]
    fn a_study_of_seven_blocks_keeps_what_a_single_trial_does_not() {
        let (study, single) = (study(7), single());
        check(&study, "P1", Kept::Kept, "at least 7 times");
        check(&single, "P1", Kept::NotKept, "was measured once");
        check(&study, "P2", Kept::Kept, "2 combinations were measured, in a new random order");
        check(&single, "P2", Kept::NotKept, "one workload in one configuration");
        check(&study, "P5", Kept::Kept, "has percentiles of all latencies and an interval");
        check(&study, "P6", Kept::Kept, "7 blocks");
        check(&single, "P6", Kept::DoesNotApply, "nothing is compared");
        check(&study, "P7", Kept::Kept, "the study is judged in I/O/s");
        check(&single, "P7", Kept::Kept, "with its unit");
    }

    #[test]
    fn few_blocks_and_another_order_keep_less() {
        check(&study(3), "P1", Kept::InPart, "was measured 3 times");
        check(&study(3), "P6", Kept::NotKept, "3 blocks cannot give a verdict: it needs at least 6");
        let mut failed = single();
        failed.trials[0].trial.state = record::State::Failed;
        check(&failed, "P1", Kept::NotKept, "has no complete trial");
        check(&failed, "P5", Kept::NotKept, "no measurement is complete");
        let mut given = study(7);
        given.manifest.design.as_mut().unwrap().order = Order::Given;
        check(&given, "P2", Kept::InPart, "in a fixed order");
        given.manifest.design.as_mut().unwrap().order = Order::Repeats;
        check(&given, "P6", Kept::NotKept, "ran after each other");
        let two = fixture::study("two", vec![Made::read("read").trial(1), Made::write("write").trial(2)]);
        check(&two, "P2", Kept::InPart, "one after the other, and not compared");
        let short = fixture::study("short", vec![Made::read("read").seconds(2).trial(1)]);
        check(&short, "P5", Kept::InPart, "1 of 1 combinations have percentiles, 0 have an interval");
    }

    #[test]
    fn a_setup_that_was_not_recorded_and_a_damaged_directory_are_missed() {
        let mut study = single();
        study.study_toml = "title = \"read\"".to_owned();
        study.manifest.command = vec!["prony".to_owned(), "disk".to_owned()];
        check(&study, "P3", Kept::Kept, "machine, targets, settings, command");
        check(&study, "P4", Kept::InPart, "whether it is published");
        let mut other = study.clone();
        other.manifest.command.clear();
        check(&other, "P3", Kept::InPart, "the command was not recorded");
        other.environment = None;
        check(&other, "P3", Kept::NotKept, "the machine was not recorded");
        study.manifest.resumed.push(record::Resumption {
            at: "2026-11-22T07:00:00Z".to_owned(),
            from_trial: 1,
            differs: vec!["host was db-1 and is db-2".to_owned()],
            set_aside: Vec::new(),
        });
        check(&study, "P3", Kept::InPart, "when the run resumed");
        study.damage.push("trial 1: samples.ndjson is missing".to_owned());
        check(&study, "P4", Kept::NotKept, "damaged (one finding)");
    }

    #[test]
    fn cost_takes_a_price_list() {
        let mut sold = fixture::study("orders", vec![Sold::at("orders", &[100.0]).trial(1)]);
        check(&sold, "P8", Kept::NotKept, "no price list was given");
        sold.manifest.prices = Some(prices());
        check(&sold, "P8", Kept::Kept, "the price list and the cost");
    }

    #[test]
    fn text_page_and_document_have_all_eight() {
        let report = Report::of(&single());
        let document: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!(document["principles"].as_array().map(Vec::len), Some(8));
        assert_eq!(document["principles"][0]["kept"], "not_kept");
        for text in [report.text(None).to_string(), report.html()] {
            for one in ["Principles of a reproducible evaluation", "P1", "not kept", "P8", "Papadopoulos"] {
                assert!(text.contains(one), "{one}");
            }
        }
    }
}
