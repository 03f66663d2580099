//! Histories of simulated nights.

use std::collections::BTreeMap;

use record::StudyRecord;

use super::{History, HistoryOutcome, NoHistory, SinceVerdict};
use crate::fixture::{self, At, Made};
use crate::page::tests::without_script;

/// A night's check of the disk, with a rate around this one.
fn night(day: u32, rate: f64) -> (String, StudyRecord) {
    let at =
        At { number: day * 17, block: 1, configuration: String::new(), levels: BTreeMap::new(), aa: false };
    let noise = at.noise(0.01);
    let trial = Made::read("RND4K").rate(rate * noise, 400.0).trial(1);
    let mut study = fixture::study("check", vec![trial]);
    study.manifest.started = format!("2026-10-{day:02}T02:00:00Z");
    (format!("nightly/{day:02}"), study)
}

/// Sixteen nights of which the last six are slower by this share, with another kernel.
fn nights(slower: f64) -> Vec<(String, StudyRecord)> {
    (1..=16)
        .map(|day| {
            let late = day > 10;
            let (name, mut study) = night(day, if late { 20_000.0 * (1.0 - slower) } else { 20_000.0 });
            if let Some(environment) = study.environment.as_mut().filter(|_| late) {
                environment.kernel = "6.13.1".to_owned();
            }
            (name, study)
        })
        .collect()
}

fn history(nights: &[(String, StudyRecord)], baseline: Option<&str>) -> Result<History, NoHistory> {
    let named: Vec<(String, &StudyRecord)> =
        nights.iter().map(|(name, study)| (name.clone(), study)).collect();
    History::of(&named, baseline, None)
}

/// A history in which the last nights are slower than the baseline.
pub(crate) fn regressed() -> History {
    history(&nights(0.12), Some("nightly/03")).unwrap()
}

#[test]
fn text_of_a_history_with_a_regression() {
    let history = regressed();
    assert_eq!(history.outcome(), HistoryOutcome::Regressed);
    insta::assert_snapshot!(history.text(Some(110)));
}

#[test]
fn a_change_point_is_told_with_what_changed() {
    let history = history(&nights(0.12), None).unwrap();
    let iops = history.series.iter().find(|series| series.metric.name == "iops").unwrap();
    let [before, after] = iops.pieces.as_slice() else { panic!("{:?}", iops.pieces) };
    assert_eq!((before.last, after.first, after.runs), (9, 10, 6));
    assert!(after.gain_pct.is_some_and(|gain| (gain + 12.0).abs() < 1.5), "{after:?}");
    let [change] = history.changes.as_slice() else { panic!("{:?}", history.changes) };
    let what: Vec<&str> = change.environment.iter().map(|found| found.what.as_str()).collect();
    assert_eq!((change.run, what), (10, vec!["kernel"]));
    assert_eq!(
        history.outcome(),
        HistoryOutcome::Passed,
        "nothing is worse than a baseline that was not named"
    );
}

/// Twenty nights with rates of this course.
fn followed(rate: impl Fn(u32) -> f64, baseline: Option<&str>) -> History {
    let nights: Vec<(String, StudyRecord)> = (1..=20).map(|day| night(day, rate(day))).collect();
    history(&nights, baseline).unwrap()
}

/// What is said of the rate, behind the rule that says it.
fn of_rate(history: &History) -> String {
    let all = super::sentence::all(history);
    let of_rate = all.iter().filter(|verdict| verdict.sentence().starts_with("RND4K, I/Os per second: "));
    of_rate.map(|verdict| format!("{} {}", verdict.rule, verdict.sentence())).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn says(history: &History, parts: &[&str]) {
    let told = of_rate(history);
    assert!(told.lines().count() == 1 && parts.iter().all(|part| told.contains(part)), "{told}");
}

/// A drift was told as a step, a lone spike and two states not at all.
#[test]
fn each_shape_of_a_history_has_its_own_verdict() {
    let drift = followed(|day| 20_000.0 - 200.0 * f64::from(day), None);
    says(
        &drift,
        &["drift RND4K", "drifts over 20 runs, from 19,750 I/O/s to 16,000 I/O/s, −19%. No single run is"],
    );
    let spike = followed(|day| if day == 9 { 9_000.0 } else { 20_000.0 }, None);
    says(
        &spike,
        &[
            "spike RND4K",
            "nightly/09 (2026-10-09 02:00 UTC) is an outlier with 9,087 I/O/s",
            "A single run does not make a change",
        ],
    );
    let last = followed(|day| if day == 20 { 9_000.0 } else { 20_000.0 }, None);
    says(
        &last,
        &[
            "spike RND4K",
            "nightly/20",
            "This is the last run, so it may be the start of a change. Measure two more runs",
        ],
    );
    let states = followed(|day| if day % 3 == 0 { 14_000.0 } else { 20_000.0 }, None);
    says(
        &states,
        &[
            "two_states RND4K",
            "alternates 12 times between two states, 14,060 I/O/s and 19,940 I/O/s, with 14 of 20 runs in the upper state",
        ],
    );
    let charts = [&drift, &states].map(|history| history.html());
    assert!(charts[0].contains(">drift<") && charts[1].contains("median of each state"));
}

/// The report once showed the change, but no next step.
#[test]
fn the_next_step_compares_the_runs_between_which_something_changed() {
    let next = super::sentence::next;
    let step = followed(|day| if day < 8 { 20_000.0 } else { 14_000.0 }, None);
    assert_eq!(next(&step), "compare both runs: prony compare nightly/07 nightly/08");
    let drift = followed(|day| 20_000.0 - 200.0 * f64::from(day), None);
    assert_eq!(next(&drift), "compare both runs: prony compare nightly/01 nightly/20");
    let level = followed(|_| 20_000.0, None);
    assert_eq!(next(&level), "measure again after the next change of the machine or its settings");
    assert!(level.html().contains("<dt>Next</dt>"));
}

#[test]
fn a_drift_for_the_worse_is_a_regression() {
    let fall = |day: u32| 20_000.0 - 200.0 * f64::from(day);
    assert_eq!(followed(fall, Some("nightly/02")).outcome(), HistoryOutcome::Regressed);
    assert_eq!(followed(fall, Some("nightly/18")).outcome(), HistoryOutcome::Passed);
    let rise = |day: u32| 20_000.0 + 200.0 * f64::from(day);
    assert_eq!(followed(rise, Some("nightly/02")).outcome(), HistoryOutcome::Passed);
}

#[test]
fn only_a_change_for_the_worse_since_the_baseline_is_a_regression() {
    let verdict = |slower: f64, baseline: &str| {
        let history = history(&nights(slower), Some(baseline)).unwrap();
        history
            .series
            .iter()
            .find(|series| series.metric.name == "iops")
            .unwrap()
            .since_baseline
            .unwrap()
            .verdict
    };
    assert_eq!(verdict(0.12, "nightly/03"), SinceVerdict::Regressed);
    assert_eq!(verdict(0.12, "nightly/13"), SinceVerdict::Unchanged);
    assert_eq!(verdict(-0.12, "nightly/03"), SinceVerdict::Changed);
    assert_eq!(verdict(0.0, "nightly/03"), SinceVerdict::Unchanged);
}

#[test]
fn a_change_that_does_not_matter_is_no_regression() {
    let nights = nights(0.12);
    let named: Vec<(String, &StudyRecord)> =
        nights.iter().map(|(name, study)| (name.clone(), study)).collect();
    let outcome = |share: &str| {
        History::of(&named, Some("nightly/03"), Some(share.parse().unwrap())).unwrap().outcome()
    };
    assert_eq!(outcome("20%"), HistoryOutcome::Passed);
    assert_eq!(outcome("5%"), HistoryOutcome::Regressed);
}

#[test]
fn runs_are_in_the_order_of_their_begin_however_they_are_given() {
    let mut turned = nights(0.12);
    let straight = history(&turned, None).unwrap().json();
    turned.rotate_left(7);
    assert_eq!(history(&turned, None).unwrap().json(), straight);
}

#[test]
fn another_configuration_is_left_out_and_told_and_is_no_baseline() {
    let mut nights = nights(0.0);
    nights[4].1.trials[0].trial.parameters["outstanding"] = 64.into();
    let (name, mut other) = night(17, 9_000.0);
    other.trials[0].trial.name = "SEQ1M".to_owned();
    nights.push((name, other));
    let found = history(&nights, None).unwrap();
    let reasons: Vec<&str> = found.left_out.iter().map(|out| out.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "the workload of RND4K differs: outstanding 32 and 64",
            "it has no combination in common with the first run"
        ]
    );
    assert_eq!(found.runs.len(), 15);
    let refused = history(&nights, Some("nightly/17")).unwrap_err();
    assert!(
        refused.to_string().contains("nightly/17 cannot be compared: it has no combination"),
        "{refused}"
    );
    assert_eq!(history(&[], None).unwrap_err(), NoHistory::NothingMeasured);
}

/// The report once omitted a new kernel if no figure changed.
#[test]
fn a_change_of_the_machine_is_marked_although_no_figure_changed() {
    let found = history(&nights(0.0), None).unwrap();
    assert!(found.series.iter().all(|series| series.pieces.len() == 1), "no change point");
    let [change] = found.changes.as_slice() else { panic!("{:?}", found.changes) };
    assert_eq!((change.run, change.environment[0].what.as_str()), (10, "kernel"));
    let page = found.html();
    assert!(page.contains("Triangle: machine, target or settings changed before this run"));
    assert!(page.contains("What changed") && page.contains("kernel"));
    assert!(!page.contains("Dashed: a change point"), "nothing dashed is drawn");
}

#[test]
fn few_runs_are_not_judged() {
    let nights = &nights(0.5)[6..14];
    let found = history(nights, Some("nightly/07")).unwrap();
    assert_eq!(found.outcome(), HistoryOutcome::Inconclusive);
    assert!(found.text(None).contains("8 runs for a change point (10 are needed)"), "{}", found.text(None));
}

#[test]
fn csv_has_a_line_for_each_figure_of_each_run() {
    let found = history(&nights(0.12), None).unwrap();
    let csv = found.csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + found.series.len() * 16);
    assert_eq!(lines[0], "run,started,combination,metric,unit,value,piece");
    assert!(
        lines[1].starts_with("nightly/01,2026-10-01T02:00:00Z,RND4K,iops,") && lines[1].ends_with(",1"),
        "{}",
        lines[1]
    );
    assert!(lines[16].ends_with(",2"), "{}", lines[16]);
}

#[test]
fn the_page_stands_alone_and_runs_nothing_of_others() {
    let mut nights = nights(0.12);
    nights[11].0 = "<script>alert(1)</script>".to_owned();
    let html = history(&nights, Some("nightly/03")).unwrap().html();
    assert!(html.contains("<svg") && html.contains("worse than nightly/03") && html.contains("kernel"));
    without_script(&html);
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("src="));
}

/// Nights that wander were called worse by chance, and nothing was said of how they resemble each other.
#[test]
fn nights_that_resemble_each_other_are_warned_of_and_count_as_fewer() {
    let mut found = history(&nights(0.12), Some("nightly/03")).unwrap();
    assert!(!found.text(None).to_string().contains("resembles the one before ("));
    let iops = &mut found.series[0];
    let calm = iops.resemblance.unwrap();
    assert!(calm.correlation < 0.3 && calm.independent > 8.0, "{calm:?}");
    iops.resemblance = Some(stats::Resemblance { correlation: 0.6, chance: 0.001, independent: 4.2 });
    iops.since_baseline.as_mut().unwrap().verdict = SinceVerdict::NotShown;
    let told = found.text(None).to_string().replace('\n', " ");
    let told = told.split_whitespace().collect::<Vec<&str>>().join(" ");
    for part in [
        "warning Change since baseline (RND4K, I/Os per second): may be worse than nightly/03, not significant: −12% (",
        "16 runs are worth 4 independent ones",
        "each run resembles the one before (correlation 0.6)",
        "lag 1: 0.6",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(found.outcome(), HistoryOutcome::Passed, "what is not shown fails nothing");
}
