//! Whole reports: what is printed, and that all printers agree.

pub(crate) mod comparison;
mod described;
pub(crate) mod historian;
mod hostile;
mod looks;
pub(crate) mod orders;

use record::{DiskSetup, State, StudyRecord};

use crate::fixture::{self, Made};
use crate::report::Report;

fn sweep_depths(label: &str, block_bytes: u64, peak: f64, number: u32) -> Vec<record::MeasuredTrial> {
    let depth = |power: u32| {
        let outstanding = 1u32 << power;
        // One I/O alone takes as long as leaves the peak at 16 outstanding.
        let service_us = 16.0e6 / peak;
        let per_s = (f64::from(outstanding) * 1e6 / service_us).min(peak * (1.0 + 0.01 * f64::from(power)));
        Made::read(&format!("{label} Q{outstanding}T1 read"))
            .with(|setup| (setup.block_bytes, setup.outstanding) = (block_bytes, outstanding))
            .level("workload.disk.outstanding", &outstanding.to_string())
            .rate(per_s, f64::from(outstanding) * 1e6 / per_s)
            .trial(number + power)
    };
    (0..9).map(depth).collect()
}

pub(crate) fn sweep() -> StudyRecord {
    let mut trials = sweep_depths("RND8K", 8192, 40_000.0, 1);
    trials.extend(sweep_depths("RND64K", 65_536, 9_000.0, 20));
    trials.extend(sweep_depths("RND256K", 262_144, 1_500.0, 40));
    let skipped = trials.split_off(trials.len() - 1).remove(0);
    let (number, name) = (skipped.trial.number, skipped.trial.name.clone());
    let reason = "the series had passed the latency tolerance of 20 ms";
    let skipped = Made::read(&name)
        .with(|setup| (setup.block_bytes, setup.outstanding) = (262_144, 256))
        .level("workload.disk.outstanding", "256")
        .unmeasured(number, State::Skipped, reason);
    trials.push(skipped);
    let mut study = fixture::study("sweep", trials);
    study.manifest.latency_tolerance_ms = Some(20.0);
    study
}

pub(crate) fn quick() -> StudyRecord {
    let sequential = |setup: &mut DiskSetup| {
        (setup.pattern, setup.block_bytes, setup.outstanding) = ("sequential".to_owned(), 1 << 20, 8);
    };
    let flushed = |setup: &mut DiskSetup| {
        setup.cache = record::CacheMode::Direct;
        setup.flush_every_writes = Some(100);
    };
    let mut study = fixture::study(
        "quick",
        vec![
            Made::read("SEQ1M Q8T1 read").with(sequential).rate(2_400.0, 3_300.0).seconds(30).trial(1),
            Made::read("RND4K Q32T1 read").rate(74_120.0, 430.0).seconds(30).busiest(0.93).trial(2),
            Made::write("RND4K Q1T1 write")
                .with(|s| s.outstanding = 1)
                .rate(820.0, 1_210.0)
                .noise(0.16)
                .trial(3),
            Made::mixed("RND4K Q32T1 70% read").with(flushed).seconds(60).trial(4),
            Made::read("RND4K 5,000/s").rate(4_998.0, 180.0).open(5_000.0, 60.0).trial(5),
            Made::read("RND4K Q1T1 read").unmeasured(
                6,
                State::Failed,
                "read /data/prony.0: Input/output error (os error 5)",
            ),
        ],
    );
    study.manifest.expect = Some("100 x sas10k raid10".to_owned());
    study
}

pub(crate) fn cdm() -> StudyRecord {
    let runs = (1..=5).flat_map(|block| {
        [
            Made::read("4K QD32 read")
                .seconds(5)
                .rate(70_000.0 + 800.0 * f64::from(block), 440.0)
                .block(block)
                .trial(block * 2 - 1),
            Made::write("4K write").seconds(5).with(|s| s.outstanding = 1).block(block).trial(block * 2),
        ]
    });
    fixture::study("cdm3", runs.collect())
}

pub(crate) fn steady() -> StudyRecord {
    let rounds = (1..=8).flat_map(|round| {
        let level = 9_000.0 + 20_000.0 / f64::from(round * round);
        [
            Made::write("4 KiB, 0% read").rate(level, 3_000.0).block(round).trial(round * 2 - 1),
            Made::read("64 KiB, 100% read")
                .with(|s| s.block_bytes = 65_536)
                .rate(11_000.0, 2_900.0)
                .block(round)
                .trial(round * 2),
        ]
    });
    fixture::study("steady", rounds.collect())
}

#[test]
fn text_of_a_quick_study() {
    insta::assert_snapshot!(Report::of(&quick()).text(Some(120)));
}

#[test]
fn text_of_a_narrow_terminal_says_what_it_left_out() {
    let text = Report::of(&quick()).text(Some(80));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("omitted: too narrow"));
}

#[test]
fn text_of_a_sweep() {
    insta::assert_snapshot!(Report::of(&sweep()).text(None));
}

#[test]
fn text_of_repeats_beside_published_figures() {
    insta::assert_snapshot!(Report::of(&cdm()).text(None));
}

#[test]
fn text_of_steady_state() {
    insta::assert_snapshot!(Report::of(&steady()).text(None));
}

#[test]
fn csv_of_a_quick_study() {
    insta::assert_snapshot!(Report::of(&quick()).csv().replace("\r\n", "\n"));
}

#[test]
fn csv_lines_have_as_many_fields_as_the_head() {
    let mut study = quick();
    study.trials[0].trial.name = "a \"b\", c".to_owned();
    let csv = Report::of(&study).csv();
    assert!(csv.contains("1,1,\"a \"\"b\"\", c\","));
    let head = csv.lines().next().map(|line| line.matches(',').count());
    for line in csv.lines().filter(|line| !line.contains('"')) {
        assert_eq!(Some(line.matches(',').count()), head, "{line}");
    }
}

#[test]
fn verdicts_of_a_quick_study() {
    let report = Report::of(&quick());
    let lines: Vec<String> = report
        .verdicts()
        .iter()
        .map(|v| format!("{} {}: {}", v.level.word(), v.rule, v.sentence()))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn json_is_one_document_with_the_same_figures() {
    let report = Report::of(&quick());
    let document: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(document["format"], 1);
    assert_eq!(document["trials"][1]["figures"][0]["per_s"].as_f64(), report.trials[1].figures[0].per_s);
    for (stored, verdict) in document["verdicts"].as_array().unwrap().iter().zip(report.verdicts()) {
        assert_eq!(stored["sentence"], verdict.sentence());
        assert_eq!(stored["fact"], verdict.fact.text());
        assert_eq!(stored["rule"], verdict.rule);
        assert_eq!(stored["figure"].as_str(), verdict.fact.figure.as_deref());
        assert_eq!(stored["remedy"].as_str(), verdict.action.as_deref());
    }
    assert!(!report.json().contains("NaN"));
}

#[test]
fn reads_and_writes_are_summed_and_flushes_are_not() {
    let report = Report::of(&fixture::study("quick", vec![Made::mixed("mixed").noise(0.0).trial(1)]));
    let rows: Vec<(&str, Option<f64>)> =
        report.trials[0].figures.iter().map(|row| (row.kind.as_str(), row.per_s)).collect();
    assert_eq!(
        rows,
        [("all", Some(20_000.0)), ("read", Some(14_000.0)), ("write", Some(6_000.0)), ("flush", Some(60.0))]
    );
}

/// A kind called `order` or `record` once made every other kind a part of it.
#[test]
fn names_of_operations_are_free() {
    let of = |main: record::Main| {
        let mut trial = Made::mixed("M").noise(0.0).trial(1);
        let named = |kind: String| match kind.as_str() {
            "read" => "order".to_owned(),
            "write" => "login".to_owned(),
            _ => "record".to_owned(),
        };
        trial.measured = trial.measured.into_iter().map(|(kind, of)| (named(kind), of)).collect();
        for sample in &mut trial.samples {
            let operations = std::mem::take(&mut sample.operations);
            sample.operations = operations.into_iter().map(|(kind, of)| (named(kind), of)).collect();
        }
        trial.trial.main = main;
        let report = Report::of(&fixture::study("mixed", vec![trial]));
        let trial = &report.trials[0];
        let rows: Vec<(String, Option<f64>)> =
            trial.figures.iter().map(|figures| (figures.kind.clone(), figures.per_s)).collect();
        (rows, trial.rate_per_s.unwrap().value)
    };
    let row = |kind: &str, per_s: f64| (kind.to_owned(), Some(per_s));
    let (order, login, record) = (row("order", 14_000.0), row("login", 6_000.0), row("record", 60.0));
    let visit = of(record::Main::Kind("login".to_owned()));
    assert_eq!(visit, (vec![login.clone(), order.clone(), record.clone()], 6_000.0));
    let all = of(record::Main::AllBut(vec!["record".to_owned()]));
    assert_eq!(all, (vec![row("all", 20_000.0), login, order, record], 20_000.0));
}

#[test]
fn lost_histograms_leave_the_counts() {
    let mut study = fixture::study("quick", vec![Made::read("R").noise(0.0).trial(1)]);
    let trial = &mut study.trials[0];
    let window = record::Window::stored(trial.trial.main.clone(), false, &trial.samples, Default::default());
    trial.measured = window.kinds().clone();
    let report = Report::of(&study);
    let figures = &report.trials[0].figures[0];
    assert_eq!((figures.per_s, figures.latency.p50_us, figures.in_flight), (Some(20_000.0), None, None));
    assert!(report.verdicts()[0].sentence().contains("latency unknown"));
}

#[test]
fn a_study_without_trials_is_printed() {
    let mut study = fixture::study("quick", Vec::new());
    study.environment = None;
    let report = Report::of(&study);
    assert!(report.text(None).contains("the machine was not recorded"));
    assert!(report.html().contains("Nothing was measured"));
    assert_eq!(report.csv().lines().count(), 1);
}

#[test]
fn steady_state_speaks_of_its_window_only() {
    let report = Report::of(&steady());
    assert!(report.configurations.iter().all(|configuration| configuration.trials.len() == 5));
    let state = report.disk.steady_state.as_ref().unwrap();
    assert_eq!((state.reached_in_round, state.window), (Some(8), Some((4, 8))));
    assert_eq!(state.window_mean_per_s, Some(state.matrix[0].per_s));
}
