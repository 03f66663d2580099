//! What makes pairs, which metric is compared, and how thresholds are judged.

use super::*;

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
pub(super) fn doubled(blocks: u32, threshold: &str) -> crate::ThresholdResult {
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

/// The limit on what a single block has without an interval held or failed by its value, against the manual.
#[test]
fn a_single_value_decides_only_where_it_is_accepted() {
    use crate::Outcome::{Failed, Held, Inconclusive};
    let judged = |threshold: &str, accepts: bool| {
        let mut designed = Designed::blocks(1).configurations(&["A"]).metric("iops").threshold(threshold);
        (designed.design.accept_single, designed.design.thresholds_only) = (accepts, true);
        let report = Report::of(&designed.study(|at| Some(at.reads(1_000.0, 2_000.0))));
        assert!(report.comparison.is_none(), "nothing is compared");
        assert_eq!(report.outcome(), Some(report.thresholds[0].outcome));
        report.thresholds[0].clone()
    };
    for (threshold, alone, accepted) in [
        ("error_share <= 0", Inconclusive, Held),
        ("mean_ms < 1", Inconclusive, Failed),
        ("gain > 5%", Inconclusive, Inconclusive),
    ] {
        let (one, other) = (judged(threshold, false), judged(threshold, true));
        assert_eq!((one.outcome, other.outcome), (alone, accepted), "{threshold}: {} {}", one.why, other.why);
    }
    let told = judged("mean_ms < 1", false).why;
    assert!(told.contains("without an interval, which is inconclusive. Measure several times"), "{told}");
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
        ("gain > 50%", 7, Held),
        ("gain > 150%", 7, Failed),
        ("gain > 100%", 7, Inconclusive),
        ("gain > 50% at configuration = A", 7, Inconclusive),
        ("iops > 900", 1, Inconclusive),
        ("iops > 900", 3, Held),
        ("iops > 1500", 3, Failed),
        ("gain > 50%", 1, Inconclusive),
        ("gain > 50%", 5, Inconclusive),
        ("gain > 150%", 5, Inconclusive),
        ("gain > 50%", 6, Held),
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
    let few = doubled(3, "gain > 50%").why;
    assert!(
        few.contains("from 3 blocks, descriptive only. A gain is judged only with 6 or more blocks"),
        "{few}"
    );
    assert!(doubled(7, "error_share > 0").why.contains("A: 0"), "zero is a measurement");
    assert!(doubled(7, "commit_p99_ms < 5").why.contains("no block has this figure"));
    assert!(doubled(7, "iops > 1 at configuration = C").why.contains("no measured combination"));
}

/// A study of one block of thirty seconds with this threshold, and the ends of the interval of its p99 in milliseconds.
fn one_block(threshold: &str) -> (crate::ThresholdResult, (f64, f64)) {
    let study =
        Designed::blocks(1).configurations(&["A", "B"]).metric("p99_ms").threshold(threshold).study(|at| {
            Some(at.placed(fixture::Made::read("read").seconds(30).rate(700.0, 2_000.0).trial(at.number)))
        });
    let comparison = Report::of(&study).comparison.unwrap();
    let run = comparison.points[0].values.run_interval.unwrap();
    (comparison.thresholds[0].clone(), (run.low, run.high.unwrap()))
}

#[test]
fn a_percentile_of_a_single_block_is_judged_by_the_interval_of_its_run() {
    use crate::Outcome::{Failed, Held, Inconclusive};
    let (_, (low, high)) = one_block("p99_ms < 1");
    assert!(low < high && low > 1.0, "{low} to {high}");
    let (inside, about) = (f64::midpoint(low, high), " at configuration = A");
    for (text, outcome) in [
        (format!("p99_ms < {}{about}", high * 1.01), Held),
        (format!("p99_ms < {inside}{about}"), Inconclusive),
        (format!("p99_ms > {inside}{about}"), Inconclusive),
        (format!("p99_ms < {}{about}", low * 0.99), Failed),
        (format!("p99_ms > {}{about}", low * 0.99), Held),
    ] {
        let result = one_block(&text).0;
        assert_eq!(result.outcome, outcome, "{result:?}");
        assert!(result.why.contains("in one block, with the interval of that trial"), "{}", result.why);
    }
    assert_eq!(one_block("mean_ms > 1").0.outcome, Inconclusive, "what has no interval decides nothing");
    let rate = one_block("iops > 100").0;
    assert_eq!(rate.outcome, Held, "{rate:?}");
    assert!(rate.why.contains("with the interval of that trial"), "{}", rate.why);
}

#[test]
fn a_percentile_whose_interval_is_open_is_held_to_its_lower_end_alone() {
    use crate::Outcome::{Failed, Held, Inconclusive};
    let outcome = |threshold: &str| {
        let study = Designed::blocks(1).configurations(&["A", "B"]).metric("p99_ms").threshold(threshold);
        let study = study.study(|at| {
            let mut trial = fixture::Made::read("read").seconds(30).rate(60.0, 2_000.0).trial(at.number);
            // All slow operations came in one second.
            for (_, beyond) in trial.tails.kinds.values_mut().flat_map(|tail| &mut tail.beyond) {
                let all = beyond.iter().sum();
                beyond.fill(0.0);
                beyond[7] = all;
            }
            Some(at.placed(trial))
        });
        let report = Report::of(&study);
        assert!(report.text(None).to_string().contains("(from "), "{}", report.text(None));
        report.comparison.unwrap().thresholds.remove(0)
    };
    let result = outcome("p99_ms < 1000");
    assert_eq!(result.outcome, Inconclusive, "{result:?}");
    assert!(result.why.contains(" ms (from ") && result.why.contains(" on) in one block"), "{}", result.why);
    assert_eq!(outcome("p99_ms > 0.01").outcome, Held);
    assert_eq!(outcome("p99_ms < 0.01").outcome, Failed);
}

#[test]
fn a_gain_over_zero_is_not_told_as_not_measured() {
    let study = Designed::blocks(7)
        .configurations(&["A", "B"])
        .metric("error_share")
        .threshold("gain > 5%")
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
        told.contains(
            "nconclusive against ref in I/Os per second (relevant from 3%): b (+4.6%, 95% CI +0.2 to +11%)"
        ),
        "{told}"
    );
    assert!(
        told.contains(
            "Some intervals exclude 0, but are not significant after correction for all comparisons"
        ),
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
        told.contains("fast is better than slow: 50% lower mean latency (95% CI of the gain +"),
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
    let table = report.text(Some(400)).to_string();
    let row = |label: &str| table.lines().find(|line| line.starts_with(label)).unwrap_or_default().to_owned();
    assert!(row("writers 4").contains(" 903 to below 921 "), "{table}");
    assert!(table.replace('\n', " ").contains("(used for gains and intervals) to below the mean"), "{table}");
    assert!(report.html().contains("903 to below 921"));
    let told = report.observations("study");
    let rates: Vec<_> = told.iter().filter(|o| o.metric == "sustained_per_s").collect();
    assert_eq!((rates.len(), rates.iter().filter(|o| o.valid).count()), (12, 10));
    let one = rates.iter().find(|o| o.block == 1 && o.axes["writers"] == "4").unwrap();
    assert_eq!((one.value, one.low, one.high), (901.0, Some(901.0), Some(901.0 * 1.02)));
    let csv = report.csv();
    assert!(csv.contains("sustained_per_s,sustained_below_per_s,sustained_confirmed\r\n"), "{csv}");
    assert!(csv.contains(",confirm,901,901,919.02,true\r\n"), "{csv}");
    assert!(csv.contains(",probe,906,906,924.12,false\r\n") && csv.contains(",probe,901,,,\r\n"), "{csv}");
}

#[test]
fn every_trial_that_was_begun_has_its_observations() {
    let told = Report::of(&crate::tests::quick()).observations("20261121-quick");
    let of = |trial: u32, metric: &str| {
        told.iter()
            .find(|o| o.trial == trial && o.metric == metric)
            .map(|o| (o.value, o.unit.as_str(), o.valid))
    };
    let report = Report::of(&crate::tests::quick());
    let read = &report.trials[1].figures[0];
    assert_eq!(of(2, "iops"), read.per_s.map(|rate| (rate, "I/O/s", true)));
    assert_eq!(of(2, "p99_ms"), read.latency.p99_us.map(|us| (us / 1e3, "ms", true)));
    let ends =
        |metric: &str| told.iter().find(|o| o.trial == 2 && o.metric == metric).map(|o| (o.low, o.high));
    let interval = read.intervals.p99_us.unwrap();
    let ms = |us: f64| Some(us / 1e3);
    assert_eq!(ends("p99_ms"), Some((ms(interval.low_us), interval.high_us.and_then(ms))));
    assert_eq!(ends("mean_ms"), Some((None, None)));
    assert_eq!(of(2, "records_per_s"), None);
    assert!(
        told.iter().all(|o| o.trial != 6 && o.study == "20261121-quick"),
        "nothing was measured in trial 6"
    );
    let orders: Vec<_> = crate::tests::orders::all()
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

/// Where 5,100 records/s were offered, the one setting that did not hold them once "gained 4.3%".
#[test]
fn a_setting_that_did_not_hold_a_rate_is_never_a_gain() {
    let of = |metric: &str| {
        let study = Designed::blocks(6).axis("flush_rows", &["10", "40", "1000"], "40").metric(metric);
        study.study(|at| {
            let made = crate::fixture::Collected::at("H", 5_100.0);
            let refuses = |outcome: &mut record::HistorianOutcome| {
                (outcome.refused, outcome.drain_s) = (50_000, None);
            };
            // What it wrote in the window is more than what was offered in it.
            let made =
                if at.level("flush_rows") == "10" { made.growing(-900.0).outcome(refuses) } else { made };
            Some(at.placed(made.trial(at.number)))
        })
    };
    let study = of("records_per_s");
    let told = verdicts(&study);
    let held = "flush rows: 5,100 records/s were sustained with 40, 1000, not with 10";
    assert!(told.contains(held), "{told}");
    assert!(!told.contains("finding gain") && !told.contains("finding best"), "{told}");
    let comparison = Report::of(&study).comparison.unwrap();
    let gains = comparison.points.iter().flat_map(|point| &point.values.gains);
    assert_eq!(gains.map(|gain| gain.words.as_str()).collect::<Vec<&str>>(), ["not sustained", "sustained"]);
    // Latencies at a rate that both held are compared.
    let told = verdicts(&of("p99_ms"));
    assert!(told.contains(held) && told.contains("flush rows 1000"), "{told}");
}
