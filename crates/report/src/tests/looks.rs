//! Studies that end once all is settled: how far they came, why they ended, and what they claim.

use record::{MeasuredTrial, PlannedTrial, State, StoppingRule, StudyRecord};
use stats::Looks;

use crate::comparison::Ended;
use crate::fixture::{At, Designed};
use crate::report::Report;

/// Three places of at most twelve blocks, of which so many were measured; the second is better and the third the same.
fn study(measured: u32, noise: f64) -> StudyRecord {
    study_of(measured, noise, 1.0)
}

/// The same with a third that is so many times the first.
fn study_of(measured: u32, noise: f64, third: f64) -> StudyRecord {
    let trial = |at: &At| -> Option<MeasuredTrial> {
        let factor = match at.configuration.as_str() {
            "SSD" => 1.5,
            "two disks" => third,
            _ => 1.0,
        };
        (at.block <= measured).then(|| at.reads(1_000.0 * factor * at.noise(noise), 900.0))
    };
    let mut design = Designed::blocks(12).configurations(&["disk", "SSD", "two disks"]);
    design.design.stop = StoppingRule::WhenSettled;
    let mut study = design.study(trial);
    for block in measured + 1..=12 {
        let plan = |number: usize| PlannedTrial {
            number: (block - 1) * 3 + number as u32 + 1,
            block,
            ..study.manifest.plan[number].clone()
        };
        study.manifest.plan.extend([0, 1, 2].map(plan));
    }
    study
}

fn sentence(report: &Report, rule: &str) -> Option<String> {
    report.verdicts().iter().find(|verdict| verdict.rule == rule).map(crate::Verdict::sentence)
}

#[test]
fn a_study_that_ended_early_says_after_how_many_blocks_and_why() {
    let report = Report::of(&study(8, 0.004));
    let lines: Vec<String> = report
        .verdicts()
        .iter()
        .map(|v| format!("{} {}: {}", v.level.word(), v.rule, v.sentence()))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert!(report.not_begun.is_empty(), "the blocks that it did without");
    let compared = report.comparison.as_ref().unwrap();
    assert_eq!(compared.blocks, [1, 2, 3, 4, 5, 6, 7, 8]);
    let document: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    let looks = serde_json::json!({
        "blocks": 8, "blocks_max": 12, "settled": 2, "comparisons": 2, "ended": "settled"
    });
    assert_eq!(document["comparison"]["looks"], looks);
    let (text, page) = (report.text(None), report.html());
    for method in ["the spending function of Lan and DeMets", "ratio of geometric means"] {
        assert!(page.contains(method), "{method}");
    }
    assert!(
        text.contains("ended after 8 of at most 12 blocks")
            && page.contains("ended after 8 of at most 12 blocks")
    );
}

#[test]
fn its_intervals_are_those_of_all_looks_together() {
    let mut ended = study(8, 0.02);
    let looked = Report::of(&ended).comparison.unwrap();
    ended.manifest.design.as_mut().unwrap().stop = StoppingRule::Never;
    ended.manifest.plan.truncate(24);
    let fixed = Report::of(&ended).comparison.unwrap();
    assert!(fixed.looks.is_none());
    let levels = Looks::new(12).unwrap();
    for (point, plain) in looked.points.iter().zip(&fixed.points) {
        let width = |values: &crate::PointValues| values.interval.map(|i| i.high - i.low).unwrap();
        assert!(width(&point.values) > 1.2 * width(&plain.values), "{point:?}");
        let Some(gain) = point.values.gains.first() else { continue };
        let reference = &looked.points[gain.reference].values.by_block;
        let pairs = reference.iter().zip(&point.values.by_block);
        let pairs: Vec<(f64, f64)> = pairs.map(|(of, to)| (of.unwrap(), to.unwrap())).collect();
        assert_eq!(gain.effect, levels.effect(&pairs));
    }
    for (other, plain) in looked.others.iter().zip(&fixed.others) {
        let effect = |points: &[crate::PointValues]| points[1].gains[0].effect;
        let (looked, plain) = (effect(&other.points), effect(&plain.points));
        assert!(looked.is_none() || looked != plain, "{:?}", other.metric);
    }
}

#[test]
fn what_is_not_settled_is_said_at_the_last_block_and_before() {
    let last = Report::of(&study(12, 0.05));
    let looks = last.comparison.as_ref().unwrap().looks.as_ref().unwrap();
    assert_eq!((looks.ended, looks.settled, looks.comparisons), (Ended::AtMost, 1, 2));
    let told = sentence(&last, "looks").unwrap();
    assert!(
        told.starts_with(
            "Stopping rule: the study used all of its 12 blocks: 1 of 2 comparisons is decided. Int"
        ),
        "{told}"
    );

    let mut interrupted = study(8, 0.004);
    interrupted.manifest.state = State::Aborted;
    let report = Report::of(&interrupted);
    let looks = report.comparison.as_ref().unwrap().looks.as_ref().unwrap();
    assert_eq!(
        (looks.ended, looks.settled),
        (Ended::NotEnded, 2),
        "what would end it is known to a resumed run"
    );
    let told = sentence(&report, "looks").unwrap();
    assert!(
        told.starts_with("Stopping rule: the study stopped early, after 8 of at most 12 blocks: all 2"),
        "{told}"
    );
    assert_eq!(report.not_begun.len(), 12);
    assert!(sentence(&report, "not_begun").is_some());
}

#[test]
fn a_difference_that_may_still_matter_settles_nothing() {
    // Shown, by less than matters, with an interval that reaches beyond.
    let study = study_of(12, 0.004, 1.028);
    let report = Report::of(&study);
    let comparison = report.comparison.unwrap();
    let judged: Vec<stats::Comparison> = comparison
        .points
        .iter()
        .flat_map(|p| &p.values.gains)
        .map(|gain| gain.judged.unwrap().comparison)
        .collect();
    assert_eq!(judged, [stats::Comparison::Better, stats::Comparison::Small]);
    assert_eq!(comparison.looks.unwrap().settled, 1);
}
