//! Studies that compare: their verdicts, tables and pages.

use proptest::prelude::*;
use record::{Order, Published, PublishedFigure, State, StudyRecord};

use crate::fixture::{self, Collected, Designed};
use crate::report::Report;

const PLACEMENTS: [(&str, f64); 5] = [
    ("single disk", 2_400.0),
    ("two disks", 2_450.0),
    ("RAID1", 2_380.0),
    ("RAID10", 4_700.0),
    ("RAID5", 1_900.0),
];

/// Named configurations with an A/A pair, published figures, and a trial that failed.
pub(crate) fn placements() -> StudyRecord {
    let figure = |name: &str, value: f64| PublishedFigure {
        configuration: Some(name.to_owned()),
        metric: Some("records_per_s".to_owned()),
        value: Some(value),
        gain_pct: Some((value / 2_400.0 - 1.0) * 100.0),
        ..PublishedFigure::default()
    };
    let published = Published {
        source: "An author: A storage paper, 2011 (a server with 24 disks)".to_owned(),
        differs: Some("its disks were SAS disks of 10,000 turns a minute".to_owned()),
        figures: vec![figure("single disk", 2_400.0), figure("RAID10", 4_700.0)],
    };
    let mut study = Designed::blocks(7)
        .configurations(&PLACEMENTS.map(|(name, _)| name))
        .published(published)
        .threshold("gain > 50 % at configuration = RAID10")
        .threshold("gain > -10 %")
        .threshold("records_per_s > 2400 at configuration = two disks")
        .aa()
        .study(|at| {
            let (_, rate) = PLACEMENTS.into_iter().find(|(name, _)| *name == at.configuration)?;
            if at.block == 3 && at.configuration == "RAID1" {
                return Some(at.ended(State::Failed, "no space left on /mnt/raid1"));
            }
            Some(at.records(rate * at.noise(0.015)))
        });
    let resumed = serde_json::json!({"at": "2026-11-21T09:12:00Z", "from_trial": 13, "set_aside": [13, 14], "differs": ["the kernel was 6.12.0 and is 6.12.1"]});
    study.manifest.resumed.push(serde_json::from_value(resumed).unwrap());
    study
}

/// A rising axis with a knee and a sweet spot.
pub(crate) fn flush_rows() -> StudyRecord {
    Designed::blocks(7)
        .axis("flush_rows", &["5", "10", "20", "40", "100", "200", "500", "1000", "2000", "5000"], "40")
        .study(|at| {
            let rows = at.number_of("flush_rows");
            Some(at.records(
                60.0 * rows.min(100.0).powf(0.9) * (rows / 100.0).max(1.0).powf(0.02) * at.noise(0.01),
            ))
        })
}

/// A latency that rises where there are too few I/Os.
pub(crate) fn read_iops() -> StudyRecord {
    let levels = ["1000", "1500", "2000", "2500", "3000", "3500", "4000", "5000", "6000", "8000"];
    Designed::blocks(7)
        .axis("read_iops", &levels, "8000")
        .metric("p99_ms")
        .threshold("p99_ms < 5 at read_iops = 8000")
        .study(|at| {
            let iops = at.number_of("read_iops");
            let latency = 900.0 * (3_500.0 / iops.min(3_500.0)).powf(2.5) * at.noise(0.01);
            Some(at.reads(700.0, latency))
        })
}

/// Two axes.
pub(crate) fn memory_and_cpus() -> StudyRecord {
    Designed::blocks(7)
        .axis("memory", &["8GiB", "16GiB", "32GiB", "64GiB"], "8GiB")
        .axis("cpus", &["2", "4", "8"], "2")
        .metric("iops")
        .study(|at| {
            let (memory, cpus) = (at.number_of("memory"), at.number_of("cpus"));
            let rate = 500.0 * memory.min(32.0).powf(0.4) * (cpus / (1.0 + 0.1 * cpus));
            Some(at.reads(rate * at.noise(0.01), 700.0))
        })
}

fn verdicts(study: &StudyRecord) -> String {
    let report = Report::of(study);
    let lines: Vec<String> =
        report.verdicts().iter().map(|v| format!("{} {}: {}", v.level.word(), v.rule, v.sentence)).collect();
    lines.join("\n")
}

#[test]
fn verdicts_of_placements() {
    insta::assert_snapshot!(verdicts(&placements()));
}

#[test]
fn verdicts_along_an_axis() {
    insta::assert_snapshot!(verdicts(&flush_rows()));
}

#[test]
fn verdicts_of_a_latency() {
    insta::assert_snapshot!(verdicts(&read_iops()));
}

#[test]
fn verdicts_of_two_axes() {
    insta::assert_snapshot!(verdicts(&memory_and_cpus()));
}

/// Every study of these tests, for what must hold of all pages.
pub(crate) fn all() -> Vec<StudyRecord> {
    vec![placements(), flush_rows(), read_iops(), memory_and_cpus()]
}

#[test]
fn text_of_placements() {
    insta::assert_snapshot!(Report::of(&placements()).text(Some(140)));
}

#[test]
fn text_of_a_latency() {
    let text = Report::of(&read_iops()).text(None);
    let (_, tables) = text.split_once("\n\ncombination").unwrap();
    insta::assert_snapshot!(format!("combination{tables}"));
}

#[test]
fn few_blocks_are_described_and_not_judged() {
    let study = Designed::blocks(3).configurations(&["SSD", "RAID10"]).order(Order::Given).study(|at| {
        Some(at.reads(if at.configuration == "SSD" { 800.0 } else { 1_600.0 } * at.noise(0.01), 900.0))
    });
    let told = verdicts(&study);
    assert!(told.contains("RAID10 gains 9") || told.contains("RAID10 gains 10"), "{told}");
    assert!(told.contains("over SSD, descriptive only"), "{told}");
    assert!(
        told.contains(
            "Descriptive only: 3 blocks of each combination, whose gains are told with the range of the blocks, a 75 % \
             interval; a verdict takes at least 6"
        ),
        "{told}"
    );
    assert!(told.contains(" %, 75 % interval) over SSD, descriptive only"), "{told}");
    let mut quick = study.clone();
    quick.manifest.quick = true;
    let report = Report::of(&quick);
    let (text, page) = (report.text(None), report.html());
    let first = text.lines().next().unwrap();
    assert!(first.contains(": a quick look of 3 blocks, whose gains are told with the range"), "{first}");
    assert!(text.contains(" %, 75 % interval)") && text.contains("of the confidence that so"), "{text}");
    assert!(page.contains("a quick look of 3 blocks") && page.contains("interval, of at least 75 %"));
    assert!(!page.contains("with its 95 % interval; positive"));
    assert!(told.contains("a steady drift is not cancelled"), "{told}");
    assert!(!told.contains(": better"), "{told}");
}

#[test]
fn repeats_after_each_other_are_not_compared() {
    let study = Designed::blocks(7)
        .axis("flush_rows", &["10", "40"], "40")
        .order(Order::Repeats)
        .study(|at| Some(at.records(100.0 * at.number_of("flush_rows"))));
    let report = Report::of(&study);
    let comparison = report.comparison.as_ref().unwrap();
    assert!(
        comparison.points.iter().all(|point| point.values.gains.is_empty() && point.values.mean.is_some())
    );
    assert!(verdicts(&study).contains("Nothing is compared: all repeats"), "{}", verdicts(&study));
    assert!(!report.text(None).contains("worse"));
}

/// Each of them was called the reference, and the table said "change against  in the same block".
#[test]
fn configurations_without_a_reference_are_compared_with_nothing() {
    let mut study = Designed::blocks(7).configurations(&["reads", "writes"]).study(|at| {
        Some(at.records(if at.configuration == "reads" { 100.0 } else { 50.0 } * at.noise(0.01)))
    });
    study.manifest.design.as_mut().unwrap().reference = None;
    let report = Report::of(&study);
    let comparison = report.comparison.as_ref().unwrap();
    assert!(comparison.points.iter().all(|point| !point.is_reference));
    let text = report.text(None);
    for words in ["(reference)", "change against", "gain over the reference"] {
        assert!(!text.contains(words), "{words} in {text}");
    }
}

#[test]
fn a_second_measurement_of_the_reference_is_no_repeat_of_it() {
    let study = Designed::blocks(6)
        .configurations(&["A", "B"])
        .aa()
        .study(|at| Some(at.reads(if at.aa { 1_100.0 } else { 1_000.0 }, 900.0)));
    let report = Report::of(&study);
    let reference =
        report.configurations.iter().find(|configuration| configuration.name.contains(" A")).unwrap();
    assert_eq!((reference.trials.len(), reference.rate_per_s.map(|e| e.value.round())), (6, Some(1_000.0)));
    let comparison = report.comparison.as_ref().unwrap();
    assert_eq!(comparison.noise.smallest_effect, 0.03, "what matters does not follow the noise");
    // B is as much as the reference's first measurement and less than the second.
    let gain = comparison.points[1].values.gains[0].gain_pct.unwrap();
    assert!((gain - (1_000.0 / 1_100_000f64.sqrt() - 1.0) * 100.0).abs() < 0.01, "{gain}");
    let told = verdicts(&study);
    assert!(
        told.contains(
            "warning noise_floor: The machine made a difference of 10 % (10–10 %) without a reason"
        ),
        "{told}"
    );
    assert!(
        comparison.points[0]
            .values
            .by_block
            .iter()
            .all(|value| value.is_some_and(|v| (v - 1_000.0).abs() < 1.0))
    );
    let twice = report
        .observations("study")
        .into_iter()
        .filter(|o| o.metric == "iops" && o.configuration == "A (A/A)");
    assert_eq!(twice.count(), 6);
}

#[test]
fn trials_with_io_errors_feed_nothing_but_the_share_of_errors() {
    let study = Designed::blocks(8)
        .configurations(&["A", "B"])
        .metric("iops")
        .threshold("iops < 2000")
        .threshold("error_share <= 0")
        .aa()
        .study(|at| match (at.configuration.as_str(), at.aa, at.block) {
            // Errors are answered fast.
            ("B", _, 3) => Some(
                at.placed(
                    fixture::Made::read("read")
                        .seconds(2)
                        .noise(0.0)
                        .rate(90_000.0, 9.0)
                        .errors(5)
                        .trial(at.number),
                ),
            ),
            ("A", true, 5) => Some(at.ended(State::Failed, "fault")),
            ("B", ..) => Some(at.reads(1_500.0, 900.0)),
            _ => Some(at.reads(1_000.0, 900.0)),
        });
    let comparison = Report::of(&study).comparison.unwrap();
    let b = &comparison.points[1];
    assert_eq!((b.values.gains[0].blocks, b.values.gains[0].gain_pct.map(f64::round)), (7, Some(50.0)));
    assert_eq!((b.values.by_block[2], b.not_used.as_slice(), b.trials.len()), (None, &[8][..], 7));
    assert_eq!(comparison.not_used, [8, 15]);
    assert_eq!(comparison.noise.noise_floor.map(|floor| floor.blocks), Some(7));
    let outcomes: Vec<crate::Outcome> = comparison.thresholds.iter().map(|t| t.outcome).collect();
    assert_eq!(outcomes[0], crate::Outcome::Held);
    assert_ne!(outcomes[1], crate::Outcome::Held, "errors are not forgotten with their trial");
    let told = verdicts(&study);
    assert!(
        told.contains("2 trials count in no comparison (one not complete, one with I/O errors)"),
        "{told}"
    );
}

#[test]
fn published_figures_of_other_metrics_stand_beside_them() {
    let figure = |configuration: &str, metric: &str, value: f64| PublishedFigure {
        configuration: Some(configuration.to_owned()),
        metric: Some(metric.to_owned()),
        value: Some(value),
        ..PublishedFigure::default()
    };
    let published = Published {
        source: "A vendor, 2014".to_owned(),
        differs: None,
        figures: vec![figure("A", "iops", 700_000.0), figure("B", "mb_per_s", 2_500.0)],
    };
    let study = Designed::blocks(2)
        .configurations(&["A", "B"])
        .metric("iops")
        .published(published)
        .study(|at| Some(at.reads(1_000.0, 900.0)));
    let report = Report::of(&study);
    let comparison = report.comparison.as_ref().unwrap();
    let value = |values: &crate::PointValues| values.published.as_ref().and_then(|published| published.value);
    let throughput = comparison.others.iter().find(|other| other.metric.name == "mb_per_s").unwrap();
    assert_eq!(
        comparison.points.iter().map(|p| value(&p.values)).collect::<Vec<_>>(),
        [Some(700_000.0), None]
    );
    assert_eq!(throughput.points.iter().map(value).collect::<Vec<_>>(), [None, Some(2_500.0)]);
    for printed in [report.text(None).as_str(), &report.html()] {
        assert!(printed.contains("(published 2,500)"), "{printed}");
    }
}

#[test]
fn no_interval_of_a_mean_goes_below_zero() {
    let study =
        Designed::blocks(2).configurations(&["A", "B"]).metric("iops").threshold("iops >= 0").study(|at| {
            Some(at.reads(
                if at.block == 1 { 8_000.0 } else { 10_000.0 }
                    * if at.configuration == "A" { 1.0 } else { 1.1 },
                900.0,
            ))
        });
    let report = Report::of(&study);
    let comparison = report.comparison.as_ref().unwrap();
    assert!(comparison.points.iter().all(|point| point.values.interval.is_some_and(|e| e.low == 0.0)));
    assert_eq!(comparison.thresholds[0].outcome, crate::Outcome::Held, "{:?}", comparison.thresholds);
    for printed in [report.text(None).as_str(), &report.html()] {
        assert!(printed.contains("0–21,710") && !printed.contains("−3,706"), "{printed}");
    }
}

#[test]
fn the_mean_of_percentiles_is_called_one_wherever_it_stands() {
    let report = Report::of(&read_iops());
    let threshold = &report.comparison.as_ref().unwrap().thresholds[0];
    assert!(threshold.why.contains("mean of the blocks' p99 "), "{}", threshold.why);
    assert!(verdicts(&read_iops()).contains(" with mean p99_ms "), "{}", verdicts(&read_iops()));
    let (text, page) = (report.text(None), report.html());
    assert!(text.contains("here the mean of the blocks' p99") && text.contains("mean p99_ms"), "{text}");
    assert!(page.contains("Mean of the blocks' p99 over 7 blocks"));
    assert!(page.contains("a percentile of a combination is there the mean of its blocks' percentiles"));
    assert!(!page.contains("percentiles never averaged"));
    let metrics =
        record::METRICS.iter().filter_map(|metric| crate::ComparedMetric::from(metric).percentile());
    assert_eq!(metrics.collect::<Vec<_>>(), ["p50", "p95", "p99", "p999", "p99", "p99"]);
    let single = doubled(1, "p99_ms < 1");
    assert!(!single.why.contains("mean of"), "{}", single.why);
}

#[test]
fn every_study_says_that_it_was_interrupted() {
    let told = |comparing: &dyn Fn() -> StudyRecord| {
        let mut study = comparing();
        study.manifest.resumed = placements().manifest.resumed;
        verdicts(&study)
    };
    let single = told(&super::quick);
    assert!(single.contains("taken up again at 2026-11-21T09:12:00Z with trial 13"), "{single}");
    assert!(
        single.contains("the kernel was 6.12.0 and is 6.12.1; do not compare the trials before"),
        "{single}"
    );
    let repeats = told(&|| {
        let designed = Designed::blocks(2).axis("flush_rows", &["10", "40"], "40").order(Order::Repeats);
        designed.study(|at| Some(at.records(100.0)))
    });
    assert!(repeats.contains("warning resumed: From trial 13 on the machine is not the one"), "{repeats}");
    assert!(repeats.contains("is between the trials before and after"), "{repeats}");
}

#[test]
fn every_failed_threshold_is_told() {
    let mut designed = Designed::blocks(6).configurations(&["A", "B"]).metric("iops");
    for limit in 1..=9 {
        designed = designed.threshold(&format!("iops < {limit}"));
    }
    let told = verdicts(&designed.study(|at| Some(at.reads(1_000.0, 900.0))));
    assert_eq!(told.matches("failure threshold: The threshold iops < ").count(), 9, "{told}");
}

#[test]
fn what_matters_is_the_users_and_does_not_grow_with_the_noise() {
    // The rate repeats itself within 1 %, the latency of the same reference differs by a tenth.
    let made = |smallest: Option<&str>| {
        let mut designed = Designed::blocks(7).configurations(&["A", "B"]).aa();
        designed.design.smallest = smallest.map(|share| share.parse().unwrap());
        designed.study(|at| {
            let rate = if at.configuration == "A" { 1_000.0 } else { 1_200.0 };
            Some(at.reads(rate * at.noise(0.001), if at.aa { 1_100.0 } else { 1_000.0 } * rate / 1_000.0))
        })
    };
    let study = made(None);
    let report = Report::of(&study);
    let comparison = report.comparison.as_ref().unwrap();
    let verdict = |values: &crate::PointValues| values.gains[0].words.clone();
    let latency = comparison.others.iter().find(|other| other.metric.name == "mean_ms").unwrap();
    assert_eq!((comparison.noise.smallest_effect, latency.noise.smallest_effect), (0.03, 0.03));
    assert!(latency.noise.noise_floor.is_some_and(|pair| pair.ratio.value > 1.05));
    assert_eq!(
        (verdict(&comparison.points[1].values), verdict(&latency.points[1])),
        ("better".into(), "worse".into())
    );
    let document: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    let document = &document["comparison"];
    assert!(document["smallest_effect"].is_f64() && document["others"][0]["smallest_effect"].is_f64());
    assert!(document["detectable"].is_f64() && document["serial"]["p_value"].is_f64());
    let wide = made(Some("25 %"));
    assert_eq!(Report::of(&wide).comparison.unwrap().points[1].values.gains[0].words, "equivalent");
    let compared = |smallest: Option<&str>| {
        let studies = [("a".to_owned(), &wide), ("b".to_owned(), &study)];
        crate::Compare::of(&studies, smallest.map(|share| share.parse().unwrap())).against[0].smallest_effect
    };
    assert_eq!((compared(None), compared(Some("7 %"))), (0.25, 0.07));
}

#[test]
fn what_is_not_settled_says_what_it_needs() {
    let told = |noise: f64, gain: f64, blocks: u32| {
        verdicts(&Designed::blocks(blocks).configurations(&["A", "B"]).study(|at| {
            let rate = if at.configuration == "A" { 1_000.0 } else { 1_000.0 * (1.0 + gain) };
            Some(at.reads(rate * at.noise(noise), 900.0))
        }))
    };
    let noisy = told(0.08, 0.0, 7);
    assert!(noisy.contains(": not resolvable here, 7 blocks tell no less than "), "{noisy}");
    assert!(
        noisy.contains("blocks would settle it") && noisy.contains("would have been found in four of five"),
        "{noisy}"
    );
    let small = told(0.008, 0.029, 9);
    assert!(small.contains(": small, at most 3."), "{small}");
}

#[test]
fn blocks_that_resemble_each_other_are_warned_of() {
    let told = |waves: bool| {
        verdicts(&Designed::blocks(14).configurations(&["A", "B"]).study(|at| {
            let wave = if waves { (f64::from(at.block) / 2.3).sin() * 0.03 } else { 0.0 };
            let rate = if at.configuration == "A" { 1_000.0 } else { 1_000.0 * (1.0 + wave) };
            Some(at.reads(rate * at.noise(0.005), 900.0))
        }))
    };
    assert!(
        told(true).contains("warning blocks_correlated: Blocks resemble the ones before them"),
        "{}",
        told(true)
    );
    assert!(!told(false).contains("blocks_correlated"), "{}", told(false));
}

#[test]
fn a_figure_of_zero_is_not_told_as_a_missing_measurement() {
    let study = Designed::blocks(7)
        .configurations(&["A", "B"])
        .metric("error_share")
        .aa()
        .study(|at| Some(at.reads(1_000.0, 900.0)));
    let told = verdicts(&study);
    assert!(told.contains("a figure of the reference is zero, so that it has no ratio to itself"), "{told}");
    assert!(!told.contains("twice in"), "{told}");
}

#[test]
fn only_blocks_with_both_trials_make_pairs() {
    // The level's invalid trials are far off; the reference lacks another block.
    let study = Designed::blocks(9).configurations(&["A", "B"]).study(|at| {
        match (at.configuration.as_str(), at.block) {
            ("B", 2) => {
                let mut trial = at.reads(9_000.0, 900.0);
                trial.trial.state = State::Invalid;
                Some(trial)
            }
            ("A", 5) => None,
            ("A", _) => Some(at.reads(1_000.0, 900.0)),
            _ => Some(at.reads(1_500.0, 900.0)),
        }
    });
    let report = Report::of(&study);
    let comparison = report.comparison.as_ref().unwrap();
    let gain = &comparison.points[1].values.gains[0];
    assert_eq!((gain.blocks, gain.gain_pct.map(f64::round), gain.words.as_str()), (7, Some(50.0), "better"));
    assert_eq!(comparison.not_used, [4]);
}

#[test]
fn levels_of_two_axes_are_compared_along_one_at_a_time() {
    let report = Report::of(&memory_and_cpus());
    let points = &report.comparison.as_ref().unwrap().points;
    let index = |label: &str| points.iter().position(|point| point.label == label).unwrap();
    let of = &points[index("memory 32GiB, cpus 8")];
    let references: Vec<(&str, usize)> =
        of.values.gains.iter().map(|gain| (gain.axis.as_str(), gain.reference)).collect();
    assert_eq!(
        references,
        [("memory", index("memory 8GiB, cpus 8")), ("cpus", index("memory 32GiB, cpus 2"))]
    );
    assert!(points[index("memory 8GiB, cpus 2")].values.gains.is_empty());
}

/// A level at twice the reference's rate and half its latency, without scatter, in so many blocks.
fn doubled(blocks: u32, threshold: &str) -> crate::ThresholdResult {
    let study = Designed::blocks(blocks)
        .configurations(&["A", "B"])
        .metric("iops")
        .threshold(threshold)
        .study(|at| {
            let (rate, us) = if at.configuration == "A" { (1_000.0, 2_000.0) } else { (2_000.0, 1_000.0) };
            Some(at.reads(rate * at.noise(0.02), us))
        });
    Report::of(&study).comparison.unwrap().thresholds.remove(0)
}

#[test]
fn thresholds_are_judged_by_their_whole_interval() {
    use crate::Outcome::{Failed, Held, Inconclusive};
    let cases = [
        ("iops > 900", 7, Held),
        ("iops > 1500", 7, Failed),
        ("iops > 1500 at configuration = B", 7, Held),
        ("iops > 1000 at configuration = A", 7, Inconclusive),
        ("iops < 2000 at configuration = B", 7, Inconclusive),
        ("mean_ms < 1.2 at configuration = B", 7, Held),
        ("mean_ms < 1.2", 7, Failed),
        ("gain > 50 %", 7, Held),
        ("gain > 150 %", 7, Failed),
        ("gain > 100 %", 7, Inconclusive),
        ("gain > 50 % at configuration = A", 7, Inconclusive),
        ("iops > 900", 1, Held),
        ("iops > 1500", 1, Failed),
        ("iops > 900", 3, Held),
        ("iops > 1500", 3, Failed),
        ("gain > 50 %", 1, Inconclusive),
        ("gain > 50 %", 5, Inconclusive),
        ("gain > 150 %", 5, Inconclusive),
        ("gain > 50 %", 6, Held),
        ("error_share <= 0", 7, Held),
        ("error_share > 0", 7, Failed),
        ("commit_p99_ms < 5", 7, Inconclusive),
        ("iops > 1 at configuration = C", 7, Inconclusive),
    ];
    for (text, blocks, outcome) in cases {
        let result = doubled(blocks, text);
        assert_eq!(result.outcome, outcome, "{blocks} {result:?}");
    }
    assert!(doubled(1, "iops > 900").why.contains("in one block"));
    assert!(doubled(3, "iops > 900").why.contains("from 3 blocks"));
    let few = doubled(3, "gain > 50 %").why;
    assert!(few.contains("from 3 blocks, descriptive only; a gain is judged from 6 blocks on"), "{few}");
    assert!(doubled(7, "error_share > 0").why.contains("A: 0"), "zero is a measurement");
    assert!(doubled(7, "commit_p99_ms < 5").why.contains("no block has this figure"));
    assert!(doubled(7, "iops > 1 at configuration = C").why.contains("no measured combination"));
}

#[test]
fn a_gain_over_zero_is_not_told_as_not_measured() {
    let study = Designed::blocks(7)
        .configurations(&["A", "B"])
        .metric("error_share")
        .threshold("gain > 5 %")
        .study(|at| Some(at.reads(1_000.0, 900.0)));
    let result = Report::of(&study).comparison.unwrap().thresholds.remove(0);
    assert_eq!(result.outcome, crate::Outcome::Inconclusive);
    assert!(result.why.contains("no ratio, a value is zero"), "{}", result.why);
}

#[test]
fn what_only_the_correction_leaves_open_is_said_to_be_so() {
    // Six blocks of one sign have an interval that excludes no difference; of eight such levels none is shown.
    let scatter = [0.002, 0.05, 0.11, 0.004, 0.09, 0.03];
    let names = ["ref", "b", "c", "d", "e", "f", "g", "h", "i"];
    let study = Designed::blocks(6).configurations(&names).study(|at| {
        let more = if at.configuration == "ref" { 0.0 } else { scatter[at.block as usize - 1] };
        Some(at.reads(10_000.0 * (1.0 + more), 900.0))
    });
    let told = verdicts(&study);
    assert!(
        told.contains("Not resolvable here against ref, where 3 % matters: b (gains 4.6 %, 0.2–11 %)"),
        "{told}"
    );
    assert!(
        told.contains("an interval without 0 is not enough once corrected for all comparisons"),
        "{told}"
    );
}

#[test]
fn a_metric_whose_less_is_better_gains_when_it_falls() {
    let study = Designed::blocks(7).configurations(&["slow", "fast"]).metric("mean_ms").study(|at| {
        Some(at.reads(700.0, if at.configuration == "slow" { 2_000.0 } else { 1_000.0 } * at.noise(0.005)))
    });
    let told = verdicts(&study);
    assert!(
        told.contains("fast: mean latency is 50 % lower (") && told.contains(") than with slow: better"),
        "{told}"
    );
    let gain = Report::of(&study).comparison.unwrap().points[1].values.gains[0].clone();
    assert!(gain.gain_pct.is_some_and(|gain| (gain - 50.0).abs() < 2.0), "{gain:?}");
    assert!(gain.low_pct < gain.gain_pct && gain.gain_pct < gain.high_pct, "{gain:?}");
}

#[test]
fn searches_are_compared_by_the_rate_that_they_confirmed() {
    let mut study = Designed::blocks(6).axis("writers", &["1", "4"], "1").study(|at| Some(at.records(1.0)));
    study.manifest.search = Some(fixture::search_rules());
    let planned: Vec<record::TrialRecord> = study.trials.iter().map(|trial| trial.trial.clone()).collect();
    study.trials = planned
        .iter()
        .flat_map(|place| {
            let rate = if place.levels["writers"] == "1" { 500.0 } else { 900.0 } + f64::from(place.block);
            let step = |made: Collected, index: u32| {
                let mut trial = made.seconds(30).trial(place.number * 10 + index);
                (trial.trial.block, trial.trial.levels) = (place.block, place.levels.clone());
                trial
            };
            let confirm = || Collected::at("historian", rate).confirm();
            vec![
                step(Collected::at("historian", rate).probe(), 0),
                step(Collected::at("historian", rate * 1.02).growing(rate * 0.1).probe(), 1),
                step(confirm(), 2),
                step(confirm(), 3),
                // The search of the last block did not come to its end.
                step(if place.block == 6 { confirm().probe() } else { confirm() }, 4),
            ]
        })
        .collect();
    let report = Report::of(&study);
    let comparison = report.comparison.as_ref().unwrap();
    assert_eq!(comparison.metric.name, "sustained_per_s");
    assert_eq!(comparison.points[1].values.by_block[..2], [Some(901.0), Some(902.0)]);
    assert_eq!(comparison.points[1].values.by_block[5], None, "not confirmed");
    let told = report.observations("study");
    let rates: Vec<_> = told.iter().filter(|o| o.metric == "sustained_per_s").collect();
    assert_eq!((rates.len(), rates.iter().filter(|o| o.valid).count()), (12, 10));
}

#[test]
fn every_trial_that_was_begun_has_its_observations() {
    let told = Report::of(&super::quick()).observations("20261121-quick");
    let of = |trial: u32, metric: &str| {
        told.iter()
            .find(|o| o.trial == trial && o.metric == metric)
            .map(|o| (o.value, o.unit.as_str(), o.valid))
    };
    let report = Report::of(&super::quick());
    let read = &report.trials[1].figures[0];
    assert_eq!(of(2, "iops"), read.per_s.map(|rate| (rate, "I/O/s", true)));
    assert_eq!(of(2, "p99_ms"), read.latency.p99_us.map(|us| (us / 1e3, "ms", true)));
    assert_eq!(of(2, "records_per_s"), None);
    assert!(
        told.iter().all(|o| o.trial != 6 && o.study == "20261121-quick"),
        "nothing was measured in trial 6"
    );
    let orders: Vec<_> = super::orders::all()
        .iter()
        .flat_map(|study| Report::of(study).observations("orders"))
        .filter(|o| o.metric == "orders_per_min" || o.metric == "variability_pct")
        .collect();
    assert!(
        orders.iter().any(|o| o.metric == "variability_pct")
            && orders.iter().any(|o| o.metric == "orders_per_min")
    );
}

#[test]
fn an_open_loop_that_was_held_is_compared_by_latency() {
    let metric = |achieved: f64| {
        let study = Designed::blocks(2).configurations(&["A", "B"]).study(|at| {
            let made =
                fixture::Made::read("read").seconds(2).noise(0.0).rate(achieved, 500.0).open(1_000.0, 10.0);
            Some(at.placed(made.trial(at.number)))
        });
        Report::of(&study).comparison.unwrap().metric.name
    };
    assert_eq!(metric(1_000.0), "p99_ms");
    assert_eq!(metric(900.0), "iops");
}

#[test]
fn page_of_a_comparison_begins_with_its_charts_and_tables() {
    let page = Report::of(&placements()).html();
    assert!(page.contains("Gain by configuration") && page.contains("<title>gain by configuration</title>"));
    assert!(page.contains(" (A/A)") && page.contains("an order of its own that the seed decides"));
    assert!(page.contains("published records/s") && page.contains("SAS disks of 10,000 turns"));
    assert!(page.contains("class=\"failure\"><b>failed</b><span>gain &gt; -10 %"));
    let (comparison, evidence) = (page.find("id=\"comparison\""), page.find("id=\"evidence\""));
    assert!(comparison < evidence && comparison.is_some());
    let page = Report::of(&memory_and_cpus()).html();
    assert_eq!(
        page.matches("<figure>").count(),
        3 + 4,
        "a small chart for each setting, and none for 84 trials"
    );
    assert!(page.contains("More than 60 trials have no charts"));
}

#[test]
fn hundreds_of_trials_make_a_page_of_bounded_size() {
    let counts = ["1", "2", "4", "8", "16", "32"];
    let study = Designed::blocks(7)
        .axis("writers", &counts, "1")
        .axis("block", &counts, "1")
        .axis("memory", &["8GiB", "16GiB"], "8GiB")
        .metric("iops")
        .study(|at| {
            let rate = 100.0 * at.number_of("writers").sqrt() * at.number_of("block").sqrt();
            let trial = at.reads(rate * at.noise(0.02), 900.0);
            Some(if at.number % 9 == 0 {
                at.ended(State::Failed, &format!("fault {}", at.number))
            } else {
                trial
            })
        });
    assert_eq!(study.trials.len(), 504);
    let report = Report::of(&study);
    let page = report.html();
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    assert!(report.verdicts().len() < 60, "{} sentences", report.verdicts().len());
    assert!(report.text(Some(120)).lines().count() < 300);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_mix_of_states_makes_a_report(
        states in prop::collection::vec(0u8..9, 36),
        order in 0u8..4,
        metric in prop::option::of(0usize..record::METRICS.len()),
    ) {
        let order = [Order::Blocks, Order::Abba, Order::Given, Order::Repeats][usize::from(order)];
        let mut designed = Designed::blocks(7)
            .axis("n_threads", &["1", "2", "4"], "2")
            .threshold("gain > 5 %")
            .threshold("error_share <= 0 at n_threads = 4")
            .order(order)
            .aa();
        designed.design.metric = metric.map(|index| record::METRICS[index].name.to_owned());
        let study = designed.study(|at| match states.get(at.number as usize).copied().unwrap_or(0) {
            0 => None,
            1 => Some(at.ended(State::Failed, "fault")),
            2 => Some(at.ended(State::Invalid, "client-limited")),
            3 => Some(at.ended(State::Skipped, "tolerance")),
            4 => Some(at.ended(State::Running, "killed")),
            5 => Some(record::MeasuredTrial::new(at.reads(10.0, 900.0).trial)),
            6 => Some(at.records(40.0)),
            _ => Some(at.reads(40.0 * at.noise(0.5), 900.0)),
        });
        let report = Report::of(&study);
        prop_assert!(!report.json().contains("NaN"));
        prop_assert!(!report.html().contains("NaN") && !report.text(Some(80)).contains("NaN"));
        prop_assert!(report.observations("s").iter().all(|o| o.value.is_finite()));
        let twice = crate::Compare::of(&[("a".to_owned(), &study), ("b".to_owned(), &study)], None);
        prop_assert!(twice.text(Some(80)).contains("Not interleaved"));
        prop_assert!(!twice.json().contains("NaN"));
    }
}
