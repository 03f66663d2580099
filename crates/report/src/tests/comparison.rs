//! Studies that compare: their verdicts, tables and pages.

#[path = "comparison_judged.rs"]
mod judged;

use proptest::prelude::*;
use record::{Order, Published, PublishedFigure, State, StudyRecord};

use crate::fixture::{self, Collected, Designed, Made};
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
        .threshold("gain > 50% at configuration = RAID10")
        .threshold("gain > -10%")
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

/// A latency that falls at once where the tables fit into memory: the levels of the classifier study.
fn memory() -> StudyRecord {
    Designed::blocks(7)
        .axis("memory", &["8GiB", "16GiB", "24GiB", "32GiB", "40GiB", "64GiB"], "64GiB")
        .metric("p99_ms")
        .study(|at| {
            let latency = if at.number_of("memory") < 28.0 { 3_000.0 } else { 1_200.0 };
            Some(at.reads(700.0, latency * at.noise(0.02)))
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
    let lines: Vec<String> = report
        .verdicts()
        .iter()
        .map(|v| format!("{} {}: {}", v.level.word(), v.rule, v.sentence()))
        .collect();
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

/// "The sweet spot is 64MiB; every level below it loses 5% or more" was said of the smallest level, below which there was none.
#[test]
fn of_a_sweet_spot_at_the_smallest_level_nothing_is_claimed_below_it() {
    let study = Designed::blocks(7)
        .axis("memory", &["64MiB", "128MiB", "256MiB"], "256MiB")
        .metric("iops")
        .study(|at| Some(at.reads(700.0 * at.noise(0.002), 1_200.0)));
    let told = verdicts(&study);
    let sentence = "memory: the sweet spot is at most 64MiB, the smallest level. Higher levels gain less than 5%, and lower levels were not measured";
    assert!(told.contains(sentence) && !told.contains("Every level below"), "{told}");
    let page = Report::of(&study).html();
    assert!(page.contains("Ring: the sweet spot, at most 64MiB."), "the chart says the same");
}

#[test]
fn a_jump_between_two_levels_is_a_finding_of_its_own() {
    let told = verdicts(&memory());
    let jump = "finding axis_jump: memory: jump at 24 GiB–32 GiB: p99_ms falls by 6";
    assert!(
        told.contains(jump)
            && told
                .contains("%, more than anywhere else. To locate the jump more closely, add levels between"),
        "{told}"
    );
    assert!(!told.contains("no_knee"), "{told}");
}

/// The time in a queue of one server was given a knee, and a change of "+25,800%" past it.
#[test]
fn time_in_a_queue_has_no_knee_but_a_load_at_which_it_is_full() {
    let study = Designed::blocks(7)
        .axis("n_threads", &["10", "20", "30", "40", "50", "60", "70", "80", "90"], "10")
        .metric("p99_ms")
        .study(|at| {
            Some(at.reads(700.0, 900.0 / (1.0 - at.number_of("n_threads") / 100.0) * at.noise(0.01)))
        });
    let told = verdicts(&study);
    let queue =
        "finding axis_queue: n threads: p99_ms grows like the time spent in a queue that is full at about";
    assert!(told.contains(queue) && told.contains(", p99_ms is twice its value without load"), "{told}");
    assert!(!told.contains("axis_knee") && !told.contains("no_knee"), "{told}");
}

/// The published curve of SPEC SDM 91, which falls from 1,853 to 1,702, has no peak by the law of scalability.
#[test]
fn a_curve_that_falls_at_its_end_is_told_without_a_model() {
    const SDM91: [(&str, f64); 7] = [
        ("1", 64.9),
        ("18", 995.9),
        ("36", 1_652.4),
        ("72", 1_853.2),
        ("108", 1_828.9),
        ("144", 1_775.0),
        ("216", 1_702.2),
    ];
    let of = |blocks: u32, noise: f64| {
        let study = Designed::blocks(blocks)
            .axis("n_threads", &SDM91.map(|(level, _)| level), "1")
            .metric("iops")
            .study(|at| {
                let (_, rate) = SDM91.into_iter().find(|(level, _)| *level == at.level("n_threads"))?;
                let made =
                    Made::read("read").seconds(30).noise(noise).rate(rate * at.noise(noise / 5.0), 700.0);
                Some(at.placed(made.trial(at.number)))
            });
        verdicts(&study)
    };
    let told = of(7, 0.02);
    assert!(
        told.contains("finding axis_falls: n threads: 216 has ")
            && told.contains(" less iops than 72 (paired, 95% CI −"),
        "{told}"
    );
    let single = of(1, 0.02);
    assert!(single.contains("less iops than 72 (single trials with disjoint intervals)"), "{single}");
    assert!(!of(1, 0.4).contains("axis_falls"), "intervals that hold each other");
    assert!(!of(4, 0.02).contains("axis_falls"), "four blocks make no verdict");
}

/// Of two levels the larger was better, and the first screen went on that a sweet spot was not reached.
#[test]
fn two_levels_have_no_news_of_a_sweet_spot() {
    let study = Designed::blocks(7).axis("flush_rows", &["40", "400"], "40").study(|at| {
        let rate = if at.level("flush_rows") == "40" { 126_000.0 } else { 161_000.0 };
        Some(at.records(rate * at.noise(0.02)))
    });
    let told = verdicts(&study);
    assert!(told.contains("is better than 40: +") && !told.contains("finding sweet_spot"), "{told}");
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
    assert!(
        told.contains("Descriptive only: RAID10 +9") || told.contains("Descriptive only: RAID10 +10"),
        "{told}"
    );
    assert!(
        told.contains(
            "Descriptive only: 3 blocks of each combination, so each interval is the range of the blocks (75% CI). Measure at least 6 blocks"
        ),
        "{told}"
    );
    assert!(told.contains(" against SSD (75% CI +"), "{told}");
    let mut quick = study.clone();
    quick.manifest.quick = true;
    let report = Report::of(&quick);
    let (text, page) = (report.text(None), report.html());
    let first = text.lines().next().unwrap();
    assert!(first.contains("Quick run of 3 blocks, so each interval is the range"), "{first}");
    assert!(text.contains("%, 75% CI)") && text.contains("(its confidence is low, because"), "{text}");
    assert!(page.contains("quick run of 3 blocks") && page.contains("with its CI of at least 75%. Positive"));
    assert!(!page.contains("with its 95% CI. Positive"));
    assert!(told.contains("Drift and after-effects of trials do not cancel out"), "{told}");
    assert!(!told.contains("is better"), "{told}");
}

/// Of 4 KiB and 64 KiB the small block was the winner, though the large one moved three times the bytes.
#[test]
fn across_block_sizes_throughput_decides() {
    let study = Designed::blocks(7).axis("block_size", &["4KiB", "64KiB"], "4KiB").study(|at| {
        let is_large = at.level("block_size") == "64KiB";
        let size = if is_large { 64 * 1024 } else { 4 * 1024 };
        let per_s = if is_large { 4_000.0 } else { 20_000.0 } * at.noise(0.01);
        let made = Made::read("read").with(|setup| setup.block_bytes = size);
        Some(at.placed(made.seconds(2).noise(0.0).rate(per_s, 900.0).trial(at.number)))
    });
    let report = Report::of(&study);
    assert_eq!(report.comparison.as_ref().unwrap().metric.name, "mb_per_s");
    let told = verdicts(&study);
    assert!(told.contains("block size 64KiB is better than 4KiB: 3."), "{told}");
    assert!(told.contains(" times the reference in throughput (95% CI 3."), "{told}");
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
    assert!(verdicts(&study).contains("nothing is compared: all repeats"), "{}", verdicts(&study));
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
            "warning noise_floor: A/A check: two measurements of the reference differ by +10% (95% CI +10 to +10%)"
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
        told.contains("2 trials were omitted from all comparisons (one incomplete, one with I/O errors)"),
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
    assert!(text.contains("here the mean of p99 over the blocks") && text.contains("mean p99_ms"), "{text}");
    assert!(page.contains("Mean of p99 over 7 blocks"));
    assert!(page.contains("the percentile of a combination is the mean of the percentiles of its blocks"));
    assert!(!page.contains("percentiles never averaged"));
    let metrics =
        record::METRICS.iter().filter_map(|metric| crate::ComparedMetric::from(metric).percentile());
    assert_eq!(metrics.collect::<Vec<_>>(), ["p50", "p95", "p99", "p999", "p99", "p99"]);
    let single = judged::doubled(1, "p99_ms < 1");
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
    assert!(single.contains("resumed at 2026-11-21T09:12:00Z with trial 13"), "{single}");
    assert!(
        single.contains("the kernel was 6.12.0 and is 6.12.1. Do not compare the trials before"),
        "{single}"
    );
    let repeats = told(&|| {
        let designed = Designed::blocks(2).axis("flush_rows", &["10", "40"], "40").order(Order::Repeats);
        designed.study(|at| Some(at.records(100.0)))
    });
    assert!(repeats.contains("warning resumed: Resumed: the machine changed at trial 13"), "{repeats}");
    assert!(repeats.contains("it did so between the trials before and after"), "{repeats}");
}

#[test]
fn every_failed_threshold_is_told() {
    let mut designed = Designed::blocks(6).configurations(&["A", "B"]).metric("iops");
    for limit in 1..=9 {
        designed = designed.threshold(&format!("iops < {limit}"));
    }
    let told = verdicts(&designed.study(|at| Some(at.reads(1_000.0, 900.0))));
    assert_eq!(told.matches("failure threshold: Threshold (iops < ").count(), 9, "{told}");
}

#[test]
fn what_matters_is_the_users_and_does_not_grow_with_the_noise() {
    // The rate repeats itself within 1%, the latency of the same reference differs by a tenth.
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
    let wide = made(Some("25%"));
    assert_eq!(Report::of(&wide).comparison.unwrap().points[1].values.gains[0].words, "equivalent");
    let compared = |smallest: Option<&str>| {
        let studies = [("a".to_owned(), &wide), ("b".to_owned(), &study)];
        crate::Compare::of(&studies, smallest.map(|share| share.parse().unwrap()), None).against[0]
            .smallest_effect
    };
    assert_eq!((compared(None), compared(Some("7%"))), (0.25, 0.07));
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
    assert!(
        noisy.contains("Inconclusive: B ")
            && noisy.contains("; relevant from 3%). A decision would need about "),
        "{noisy}"
    );
    assert!(
        noisy.contains(" blocks, so longer trials") && noisy.contains("Detectable with 80% power"),
        "{noisy}"
    );
    let small = told(0.008, 0.029, 9);
    assert!(small.contains("Too small to matter: B +2."), "{small}");
    assert!(small.contains("; relevant from 3%). The difference is at most 3."), "{small}");
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
        told(true).contains(
            "warning blocks_correlated: Correlated blocks: the gains of consecutive blocks are correlated"
        ),
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
    assert!(told.contains("a figure of the reference is zero, so the ratio is undefined"), "{told}");
    assert!(!told.contains("twice in"), "{told}");
}

#[test]
fn one_chart_shows_what_each_level_gains_in_each_percentile() {
    let us = |name: &str| if name == "slow" { 2_000.0 } else { 1_500.0 };
    let study = Designed::blocks(7).configurations(&["slow", "fast"]).metric("iops").study(|at| {
        let made = fixture::Made::read("read").seconds(30);
        Some(at.placed(made.rate(700.0, us(&at.configuration) * at.noise(0.02)).trial(at.number)))
    });
    let report = Report::of(&study);
    let page = report.html();
    assert_eq!(page.matches("<h4>Gain in each percentile</h4>").count(), 1, "one chart of all percentiles");
    let description = page.split("<title>Gain in each percentile by configuration</title><desc>").nth(1);
    let description = description.and_then(|rest| rest.split("</desc>").next()).unwrap();
    for percentile in ["fast: p50 +2", ", p95 +2", ", p99 +2", ", p99.9 +2"] {
        assert!(description.contains(percentile), "{percentile}: {description}");
    }
    assert_eq!(page.matches("href=\"#figures\"").count(), 1, "figures and percentiles are one section");
    let text = report.text(None).to_string();
    let row = text.lines().find(|line| line.starts_with("slow     fast")).unwrap();
    assert_eq!(row.matches("%)*").count(), 4, "{row}");
}

/// A kind of table that an engine has not was "not measured in the same block", as if another block had it.
#[test]
fn a_configuration_that_was_left_out_is_called_so_beside_the_others() {
    let study = Designed::blocks(6).configurations(&["A", "B", "C"]).study(|at| {
        Some(match at.configuration.as_str() {
            "C" => at.ended(State::Skipped, "PostgreSQL has no archive tables"),
            _ => at.reads(1_000.0 * at.noise(0.01), 900.0),
        })
    });
    let text = Report::of(&study).text(Some(200)).to_string();
    let row = text.lines().find(|line| line.starts_with("C ")).unwrap();
    assert!(row.contains("skipped") && !text.contains("not measured in the same block"), "{text}");
}

/// "… cannot be told apart from memory 1, cpus 2, memory 2, cpus 1": where one combination ended was left to the reader.
#[test]
fn combinations_of_several_levels_are_listed_apart() {
    let study = Designed::blocks(7)
        .axis("memory", &["1", "2"], "1")
        .axis("cpus", &["1", "2"], "1")
        .metric("iops")
        .study(|at| Some(at.reads(1_000.0 * at.noise(0.05), 700.0)));
    let told = verdicts(&study);
    let (_, others) =
        told.split_once("a tie between ").and_then(|(_, all)| all.split_once(") and ")).unwrap();
    let others: Vec<&str> = others.lines().next().unwrap().split("; ").collect();
    assert_eq!(others.len(), 3, "{told}");
    assert!(others.iter().all(|other| other.matches(", ").count() == 1), "{others:?}");
}

/// Of four configurations on flash the chart said "flash, …: +17% (+13 to +21%, 50% interval), descriptive only", and left open which was which.
#[test]
fn a_bar_is_told_by_its_whole_name_and_its_interval_gives_way() {
    let names =
        ["disk, little memory", "flash, little memory", "flash, page cache", "flash, buffers as the data"];
    let of = |names: &[&str]| {
        let study =
            Designed::blocks(2).configurations(names).study(|at| Some(at.records(1_000.0 * at.noise(0.05))));
        let page = Report::of(&study).html();
        let drawn =
            page.split("<title>gain by configuration</title>").nth(1).unwrap().split("</desc>").nth(1);
        drawn.unwrap().split("</svg>").next().unwrap().to_owned()
    };
    let drawn = of(&names);
    for name in &names[1..] {
        assert!(drawn.contains(&format!("{name}: ")), "{name}: {drawn}");
    }
    assert!(!drawn.contains('…') && !drawn.contains("descriptive only"), "{drawn}");
    let drawn = of(&names[..3]);
    assert!(
        drawn.contains("descriptive only") && !drawn.contains("% CI"),
        "these leave room for it: {drawn}"
    );
    assert!(of(&["A", "B"]).contains("50% CI), descriptive only"), "with room for all of it");
    let long = "x".repeat(90);
    assert!(of(&["A", &long]).contains("…: "), "a name that has no room at all is cut");
}

#[test]
fn page_of_a_comparison_begins_with_its_charts_and_tables() {
    let page = Report::of(&placements()).html();
    assert!(page.contains("Gain by configuration") && page.contains("<title>gain by configuration</title>"));
    assert!(page.contains(" (A/A)") && page.contains("random within each block, from the seed"));
    assert!(page.contains("published records/s") && page.contains("SAS disks of 10,000 turns"));
    assert!(page.contains("class=\"failure\"><b>failed</b><span>gain &gt; -10%"));
    let (comparison, evidence) = (page.find("id=\"comparison\""), page.find("id=\"evidence\""));
    assert!(comparison < evidence && comparison.is_some());
    let page = Report::of(&memory_and_cpus()).html();
    assert_eq!(
        page.matches("<figure>").count(),
        1 + 3 + 4 + 2,
        "the grid, a small chart for each setting, one of the percentiles for each axis, and none for 84 trials"
    );
    assert!(page.contains("A report of more than 60 trials has no chart for each trial"));
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
    assert!(report.text(None).lines().count() < 300);
    assert!(report.text(Some(120)).lines().count() < 600, "cells are broken there");
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
            .threshold("gain > 5%")
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
        let twice = crate::Compare::of(&[("a".to_owned(), &study), ("b".to_owned(), &study)], None, None);
        prop_assert!(twice.text(Some(80), crate::CompareRows::All).contains("One run on each side"));
        prop_assert!(!twice.json().contains("NaN"));
    }
}

/// One wild block of seven hides a gain of 10%: 61% of studies found it instead of 89%, and nothing was said.
#[test]
fn a_block_that_stands_out_is_named_with_the_gain_of_the_others_and_counts() {
    let study = |wild: u32, times: f64| {
        Designed::blocks(7).configurations(&["SSD", "RAID10"]).metric("iops").study(|at| {
            let rate = if at.configuration == "SSD" { 1_000.0 } else { 1_100.0 };
            let is_wild = at.block == wild && at.configuration == "RAID10";
            Some(at.reads(rate * at.noise(0.01) * if is_wild { times } else { 1.0 }, 900.0))
        })
    };
    let report = Report::of(&study(4, 0.6));
    let found = report.verdicts.iter().find(|verdict| verdict.rule == "outlying_block").unwrap();
    for part in [
        "block 4 differs from the others: RAID10 against SSD is off by 4",
        "(gain +9.7% without the block, +9.4% with it)",
        "The block still counts",
    ] {
        assert!(found.sentence().contains(part), "{part}: {}", found.sentence());
    }
    let gain = &report.comparison.as_ref().unwrap().points[1].values.gains[0];
    assert_eq!((gain.blocks, gain.outlying_block.unwrap().block), (7, 4), "it is not left out");
    let document: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    let block = &document["comparison"]["points"][1]["gains"][0]["outlying_block"];
    assert!(block["off_pct"].as_f64().is_some_and(|off| (off + 40.0).abs() < 4.0), "{block}");
    assert!(report.html().contains("lock 4 differs from the others"));
    let usual = Report::of(&study(9, 1.0));
    assert!(!usual.verdicts.iter().any(|verdict| verdict.rule == "outlying_block"), "{:?}", usual.verdicts);
}

/// "About 59 blocks would decide all of it" was said where 80% of studies settle each level, and 41% all four.
#[test]
fn blocks_that_settle_are_of_each_level() {
    let study = Designed::blocks(7)
        .axis("writers", &["1", "2", "4", "8", "16"], "1")
        .study(|at| Some(at.records(1_000.0 * at.noise(0.02))));
    let told = Report::of(&study)
        .verdicts
        .iter()
        .map(|verdict| verdict.sentence().clone())
        .collect::<Vec<_>>()
        .join("\n");
    assert!(told.contains("blocks would decide each with 80% power"), "{told}");
    assert!(!told.contains("decide all of it"), "{told}");
}

/// Of seven metrics with stars, 30 of 100 studies of equal things had a false one, and nothing said so.
#[test]
fn tables_with_stars_say_how_often_any_of_them_is_false() {
    let study = |blocks: u32| {
        Designed::blocks(blocks).configurations(&["SSD", "RAID10"]).metric("iops").study(|at| {
            let rate = if at.configuration == "SSD" { 1_000.0 } else { 1_500.0 };
            Some(at.reads(rate * at.noise(0.02), 900.0))
        })
    };
    let text = Report::of(&study(7)).text(None).to_string().replace('\n', " ");
    let metrics = text.split("Stars are corrected for the number of levels, not for the ").skip(1);
    let told: Vec<&str> = metrics.map(|rest| rest.split("false star here").next().unwrap()).collect();
    assert_eq!(told.len(), 2, "percentiles and other metrics: {text}");
    assert!(told[0].contains("4 percentiles. If nothing differs, up to 19 of 100 studies"), "{told:?}");
    assert!(told[1].contains("metrics. If nothing differs, up to"), "{told:?}");
    let few = Report::of(&study(3)).text(None).to_string();
    assert!(!few.contains("Stars are corrected"), "three blocks have no stars: {few}");
    // Two axes are two families, and the method says what that comes to.
    let page = Report::of(&memory_and_cpus()).html();
    assert!(page.contains("up to 10 of 100 studies with 2 axes"));
    assert!(!Report::of(&study(7)).html().contains("studies with 1 axes"));
}
