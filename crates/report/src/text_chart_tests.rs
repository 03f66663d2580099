//! Charts in letters, as snapshots.

use record::{Mark, MarkKind, StudyRecord};

use super::*;
use crate::tests;

/// A historian's trial whose rate goes up and down, with a purge and an outage.
fn marked() -> StudyRecord {
    let mut study = tests::historian::judged();
    let trial = &mut study.trials[0];
    let end_s = trial.samples.last().unwrap().end_s;
    for (at, sample) in trial.samples.iter_mut().enumerate() {
        let is_away = (end_s * 0.8..end_s * 0.85).contains(&sample.end_s);
        let wave = (at as f64 / 9.0).sin();
        for operation in sample.operations.values_mut() {
            operation.count = if is_away { 0 } else { (operation.count as f64 * (0.7 + 0.3 * wave)) as u64 };
            let p99_us = operation.latency.p99_us.filter(|_| !is_away);
            operation.latency.p99_us = p99_us.map(|p99_us| p99_us * (0.5 - 0.4 * wave) / 20.0);
        }
    }
    trial.trial.marks.push(Mark::planned(MarkKind::Purge, end_s * 0.5, Some(end_s * 0.6), "purge"));
    trial.trial.marks.push(Mark::planned(MarkKind::Outage, end_s * 0.8, Some(end_s * 0.85), "away"));
    study
}

fn drawn(width: u16, letters: Letters) -> String {
    Report::of(&marked()).courses(width, letters).unwrap().to_string()
}

#[test]
fn blocks_over_time() {
    insta::assert_snapshot!(drawn(100, Letters::Blocks));
}

#[test]
fn ascii_over_time() {
    let text = drawn(80, Letters::Ascii);
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_chart_is_as_wide_as_the_terminal_at_most_and_not_drawn_where_that_is_narrow() {
    assert_eq!(Report::of(&marked()).courses(79, Letters::Blocks), None);
    for width in [80, 81, 99, 100, 120, 400] {
        let widest = drawn(width, Letters::Blocks).lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= usize::from(width).min(110), "{widest} at {width}");
    }
}

/// A run of 20.5 s had `11 s` under its middle.
#[test]
fn times_stand_under_the_columns_in_which_they_begin() {
    let mut study = marked();
    let samples = &mut study.trials[0].samples;
    samples.retain(|sample| sample.end_s <= 20.5);
    let end_s = samples.last().unwrap().end_s;
    let text = Report::of(&study).courses(112, Letters::Blocks).unwrap().to_string();
    let line = text.lines().find(|line| line.trim_start().starts_with("0 s")).unwrap();
    let column = line.find("10 s").unwrap() - (LABEL + 1);
    let columns = 110 - LABEL - 1;
    assert_eq!(column, (10.0 / end_s * columns as f64) as usize, "{text}");
}

/// What is not drawn is told.
#[test]
fn a_percentile_that_no_second_supports_is_told() {
    let mut study = marked();
    for operation in study.trials[0].samples.iter_mut().flat_map(|sample| sample.operations.values_mut()) {
        operation.latency.p99_us = None;
    }
    let text = Report::of(&study).courses(100, Letters::Blocks).unwrap().to_string();
    assert!(text.contains("No second has enough operations for a 99th percentile."), "{text}");
}

/// A second without an answer is blank, one with a single answer is not.
#[test]
fn heights_follow_values_from_zero() {
    let panel = panel(&[Some(0.0), Some(1.0), None, Some(500.0), Some(1000.0)], 4, Letters::Ascii, |most| {
        format::figure(most)
    });
    let panel = panel.unwrap();
    assert_eq!(panel, ["      1,000|    #", "           |    #", "           |   ##", "          0| . ##"]);
    assert_eq!(super::panel(&[None, Some(0.0)], 4, Letters::Blocks, format::figure), None);
}
