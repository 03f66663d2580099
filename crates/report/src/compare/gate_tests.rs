//! What must not be of a comparison: judged by intervals, and by values only where these are accepted.

use record::StudyRecord;

use super::tests::{compare, compare_runs, runs, study};
use super::{Compare, CompareRows, Gates};
use crate::comparison::Outcome;

const LIMITS: [&str; 2] = ["p99_ms > +10%", "iops < -5%"];

fn judged(compare: Compare, limits: &[&str], accept_single: bool) -> Compare {
    let fail_if: Vec<record::ChangeLimit> = limits.iter().map(|limit| limit.parse().unwrap()).collect();
    compare.judged_by(&Gates { fail_if: &fail_if, accept_single, is_baseline: false }).unwrap()
}

/// What becomes of one limit where rates are those of the first times this, and single runs are accepted.
fn outcome(times: f64, limit: &str) -> (Outcome, String) {
    let found = judged(compare(&study(7, 1.0, 0), &study(7, times, 100)), &[limit], true);
    let gate = &found.against[0].gates[0];
    assert_eq!(found.gate(), Some(gate.outcome));
    (gate.outcome, gate.why.clone())
}

#[test]
fn a_change_is_judged_by_its_whole_interval() {
    for (times, limit, expected) in [
        (0.8, "iops < -5%", Outcome::Failed),
        (0.951, "iops < -5%", Outcome::Inconclusive),
        (1.0, "iops < -5%", Outcome::Held),
        (1.25, "iops < -5%", Outcome::Held),
        (1.25, "iops > +20%", Outcome::Failed),
        (0.8, "iops < -100", Outcome::Failed),
        (0.8, "iops < -300 I/O/s", Outcome::Held),
        (0.8, "iops < -240", Outcome::Inconclusive),
    ] {
        let (found, why) = outcome(times, limit);
        assert_eq!(found, expected, "{times} {limit}: {why}");
    }
    for (times, limit) in [(0.951, "iops < -5%"), (0.8, "iops < -240")] {
        let (_, why) = outcome(times, limit);
        assert!(
            why.contains(
                "). The limit is inside the interval. More trials do not reduce the spread between runs"
            ) && why.contains("Compare several runs of each side"),
            "{why}"
        );
    }
    let (_, why) = outcome(0.8, "iops < -100");
    assert!(
        why.contains("RAID10: −2") && why.contains(" I/O/s (95% CI −2") && why.contains("SSD: −1"),
        "{why}"
    );
}

/// Two equal machines that differ by 5% from time to time failed `iops < -5%` in about one of six comparisons.
#[test]
fn one_run_a_side_is_not_judged_unless_its_spread_is_given_or_single_runs_are_accepted() {
    let (first, this) = (study(7, 1.0, 0), study(7, 0.8, 100));
    for limit in ["iops < -5%", "iops > +5%", "iops < -100", "p99_ms > +50%"] {
        let found = judged(compare(&first, &this), &[limit], false);
        let gate = &found.against[0].gates[0];
        assert_eq!(gate.outcome, Outcome::Inconclusive, "{limit}: {}", gate.why);
        assert!(
            gate.why.contains(" between these two runs, but the spread between runs is unknown"),
            "{limit}: {}",
            gate.why
        );
        assert_ne!(judged(compare(&first, &this), &[limit], true).gate(), Some(Outcome::Inconclusive));
    }
    let studies = [("first".to_owned(), &first), ("this".to_owned(), &this)];
    let of = |limit: &str| {
        let given = Compare::of(&studies, None, Some("2%".parse().unwrap()));
        judged(given, &[limit], false).gate().unwrap()
    };
    assert_eq!([of("iops < -5%"), of("iops > +5%")], [Outcome::Failed, Outcome::Held]);
}

#[test]
fn zeros_have_no_ratio_and_a_difference() {
    let (found, why) = outcome(1.0, "error_share > +1%");
    assert!(
        found == Outcome::Inconclusive && why.contains("Give the limit in the unit of the metric"),
        "{why}"
    );
    assert_eq!(outcome(1.0, "error_share > +0.001").0, Outcome::Held);
}

/// Three trials a side have an interval of 90%, and single ones none.
#[test]
fn what_is_measured_too_seldom_is_not_judged() {
    let of = |blocks: u32, accept_single: bool| {
        let found =
            judged(compare(&study(blocks, 1.0, 0), &study(blocks, 0.5, 100)), &LIMITS[1..], accept_single);
        (found.gate().unwrap(), found.against[0].gates[0].why.clone())
    };
    let (found, why) = of(3, true);
    assert_eq!(found, Outcome::Inconclusive);
    assert!(
        why.contains("% (90% CI ")
            && why.contains("%), which is inconclusive. Measure each side at least four times"),
        "{why}"
    );
    let (found, why) = of(1, false);
    assert!(found == Outcome::Inconclusive && why.contains("or accept single values"), "{why}");
    let (found, why) = of(1, true);
    assert!(found == Outcome::Failed && why.contains("% without an interval"), "{why}");
}

#[test]
fn several_runs_a_side_have_an_interval_of_runs() {
    let first = runs("A", 1.0, &[0.02, -0.02, 0.0]);
    let of = |times: f64, limit: &str| {
        judged(compare_runs(&first, &runs("B", times, &[0.01, -0.03, 0.0])), &[limit], false).gate().unwrap()
    };
    assert_eq!(of(0.7, "iops < -5%"), Outcome::Failed);
    assert_eq!(of(0.93, "iops < -5%"), Outcome::Inconclusive);
    assert_eq!(of(0.7, "iops < -100"), Outcome::Failed);
    let found = judged(compare_runs(&first, &runs("B", 0.93, &[0.01, -0.03, 0.0])), &["iops < -5%"], false);
    assert!(
        found.against[0].gates[0].why.contains(" runs per side may decide it"),
        "{:?}",
        found.against[0].gates
    );
}

/// More trials do not make less of what runs differ by themselves.
#[test]
fn with_a_given_spread_several_runs_are_asked_for_and_no_trials() {
    let studies = [("first".to_owned(), &study(7, 1.0, 0)), ("this".to_owned(), &study(7, 0.95, 100))];
    let found = judged(Compare::of(&studies, None, Some("5%".parse().unwrap())), &["iops < -5%"], false);
    let why = &found.against[0].gates[0].why;
    assert!(why.contains("Compare several runs of each side") && !why.contains("trials per side"), "{why}");
}

#[test]
fn a_workload_that_differs_is_not_judged_and_a_metric_that_is_not_there_is_refused() {
    let mut this = study(7, 0.5, 100);
    for trial in &mut this.trials {
        trial.trial.parameters["outstanding"] = 64.into();
    }
    let found = judged(compare(&study(7, 1.0, 0), &this), &LIMITS, false);
    assert_eq!(found.gate(), Some(Outcome::Inconclusive));
    assert!(found.against[0].gates[0].why.contains("the workload differs"), "{:?}", found.against[0].gates);
    let limit = ["records_per_s < -5%".parse().unwrap()];
    let gates = Gates { fail_if: &limit, ..Gates::default() };
    let refused = compare(&study(7, 1.0, 0), &study(7, 1.0, 100)).judged_by(&gates).unwrap_err().to_string();
    assert!(
        refused.contains("no compared combination has the metric records_per_s. Available: iops, mb_per_s"),
        "{refused}"
    );
}

#[test]
fn nothing_may_be_worse_than_a_baseline() {
    let gates = Gates { is_baseline: true, ..Gates::default() };
    let first = runs("A", 1.0, &[0.02, -0.02, 0.0]);
    let several = |times: f64| {
        let found = compare_runs(&first, &runs("B", times, &[0.01, -0.03, 0.0]));
        found.judged_by(&gates).unwrap().gate().unwrap()
    };
    assert_eq!([several(0.7), several(1.25)], [Outcome::Failed, Outcome::Held]);
    assert_eq!(several(0.97), Outcome::Inconclusive, "it may be 5% worse");
    // Of two runs nobody knows how much times differ.
    let two = |this: &StudyRecord| compare(&study(7, 1.0, 0), this).judged_by(&gates).unwrap();
    assert_eq!(two(&study(7, 0.7, 100)).gate(), Some(Outcome::Inconclusive));
    assert_eq!(two(&study(7, 1.25, 100)).gate(), Some(Outcome::Held));
    assert_eq!(two(&study(1, 0.7, 100)).gate(), Some(Outcome::Inconclusive));
    assert_eq!(two(&study(7, 1.0, 100)).gate(), Some(Outcome::Inconclusive), "alike in these two runs");
}

#[test]
fn text_of_what_must_not_be() {
    let found = judged(compare(&study(7, 1.0, 0), &study(7, 0.9, 100)), &LIMITS, false);
    let text = found.text(Some(110), CompareRows::Changed { all_with: "--details" }).to_string();
    let told = text.split("Limits of this\n").nth(1).unwrap();
    insta::assert_snapshot!(told);
    assert_eq!(compare(&study(7, 1.0, 0), &study(7, 0.9, 100)).gate(), None, "nothing was asked");
}

#[test]
fn documents_of_what_must_not_be() {
    let mut this = study(7, 0.9, 100);
    this.manifest.labels.name = Some("after".to_owned());
    this.trials[3].trial.state = record::State::Failed;
    this.trials[3].trial.reason = Some("read x: Input/output error <EIO> | 5".to_owned());
    let found =
        judged(compare(&study(7, 1.0, 0), &this), &["iops < -5%", "iops < -9.9%", "mean_ms > +20%"], true);
    insta::assert_snapshot!("markdown_of_what_must_not_be", found.markdown());
    insta::assert_snapshot!("junit_of_what_must_not_be", found.junit());
}

/// What nobody asked neither passes nor fails; that there is no verdict does not pass.
#[test]
fn junit_of_a_comparison_of_which_nothing_was_asked() {
    let ends = |this: &StudyRecord| {
        let junit = compare(&study(7, 1.0, 0), this).junit();
        let document = roxmltree::Document::parse(&junit).unwrap();
        let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
        ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name).unwrap().to_owned())
    };
    assert_eq!(ends(&study(7, 0.5, 100)), ["2", "0", "0", "2"]);
    assert_eq!(ends(&study(1, 0.5, 100)), ["2", "0", "2", "0"], "descriptive");
    let mut other = study(7, 1.0, 100);
    for trial in &mut other.trials {
        trial.trial.parameters["outstanding"] = 64.into();
    }
    assert_eq!(ends(&other), ["2", "0", "2", "0"], "refused");
    let mut other = study(7, 1.0, 100);
    other.trials.clear();
    assert_eq!(ends(&other), ["1", "0", "1", "0"], "nothing is shared");
    let junit = judged(compare(&study(7, 1.0, 0), &study(1, 1.0, 100)), &LIMITS, false).junit();
    assert!(junit.contains("tests=\"2\" failures=\"0\" errors=\"2\""), "{junit}");
}
