//! Every rule: the record that raises it, its sentence, and a record beside it that does not.

mod historian;
mod orders;

use record::{CacheMode, DiskOutcome, MeasuredTrial, Offered, State, StudyRecord, Written};

use super::doubt::Doubt;
use super::{Level, Verdict};
use crate::fixture::{self, Made};
use crate::format;
use crate::report::Report;

fn verdicts(study: &StudyRecord) -> Vec<Verdict> {
    Report::of(study).verdicts
}

fn of(trials: Vec<MeasuredTrial>) -> StudyRecord {
    fixture::study("quick", trials)
}

/// The only verdict of the rule.
fn one(study: &StudyRecord, rule: &str) -> Verdict {
    let mut found: Vec<Verdict> =
        verdicts(study).into_iter().filter(|verdict| verdict.rule == rule).collect();
    assert_eq!(found.len(), 1, "{rule}: {found:?}");
    found.remove(0)
}

#[track_caller]
fn raised(trial: MeasuredTrial, rule: &str, level: Level, parts: &[&str]) {
    let verdict = one(&of(vec![trial]), rule);
    assert_eq!(verdict.level, level, "{verdict:?}");
    for part in parts {
        assert!(verdict.sentence().contains(part), "{part:?} is not in {:?}", verdict.sentence());
    }
}

#[track_caller]
fn quiet(trial: MeasuredTrial, rule: &str) {
    let found: Vec<Verdict> = verdicts(&of(vec![trial])).into_iter().filter(|v| v.rule == rule).collect();
    assert!(found.is_empty(), "{found:?}");
}

fn read() -> Made {
    Made::read("R")
}

#[test]
fn a_clean_trial_raises_nothing() {
    let levels: Vec<Level> =
        verdicts(&of(vec![read().seconds(30).trial(1)])).iter().map(|verdict| verdict.level).collect();
    assert_eq!(levels, [Level::Finding]);
}

/// Such trials once had no interval, although nearly all of them would have held.
#[test]
fn a_short_trial_has_an_interval_and_a_note_on_how_often_such_ones_hold() {
    let drifting = |seconds: usize| read().seconds(seconds).noise(0.001).trend(0.05).trial(1);
    let parts = ["fewer than 30", "8 to 9 of 10", "correlation of 0.", "at least 30 s"];
    raised(drifting(10), "dependent_seconds", Level::Note, &parts);
    raised(drifting(10), "rate", Level::Finding, &[" in this trial)"]);
    quiet(read().seconds(10).noise(0.0).trial(1), "dependent_seconds");
    quiet(drifting(30), "dependent_seconds");
    let of_several = of((1..=3).map(|number| read().seconds(10).trial(number)).collect());
    assert!(verdicts(&of_several).iter().all(|verdict| verdict.rule != "dependent_seconds"), "30 s together");
}

#[test]
fn the_correlation_of_all_trials_widens_the_interval_of_each() {
    let width = |study: &StudyRecord| {
        let rate = crate::Report::of(study).trials[0].rate_per_s.unwrap();
        (rate.high - rate.low) / rate.value
    };
    let drifting = |number: u32| read().seconds(10).noise(0.001).trend(0.05).trial(number);
    let steady = || read().seconds(10).trial(1);
    let alone = width(&of(vec![steady()]));
    let among = width(&of([steady()].into_iter().chain((2..=6).map(drifting)).collect()));
    assert!(among > 1.3 * alone, "{among} against {alone}");
}

/// 4,863 to 5,049 of 5,000 was once told, and 5,100 to 5,100 of 5,100.
#[test]
fn no_interval_ends_above_what_was_offered() {
    let open = |per_s: f64| read().rate(per_s, 300.0).open(5_000.0, 20.0);
    let rate = crate::Report::of(&of(vec![open(4_956.0).trial(1)])).trials[0].rate_per_s.unwrap();
    assert!(rate.high == 5_000.0 && rate.low < rate.value && rate.value < 5_000.0, "{rate:?}");
    raised(open(4_956.0).trial(1), "rate", Level::Finding, &["–5,000 in this trial), 5,000 offered"]);
    let reached = open(5_000.0).noise(0.0).trial(1);
    raised(reached, "rate", Level::Finding, &["5,000 IOPS (all offered), 5,000 offered"]);
    let poisson = open(4_956.0).with(|setup| {
        setup.pacing = record::Loop::Open { rate_per_s: 5_000.0, poisson: true };
    });
    let rate = crate::Report::of(&of(vec![poisson.trial(1)])).trials[0].rate_per_s.unwrap();
    assert!(rate.high > 5_000.0, "by chance more are due: {rate:?}");
}

/// Ten seconds at the full rate, ten at 60% of it, and so on.
fn in_two_states(mut trial: MeasuredTrial) -> MeasuredTrial {
    let measured = trial.samples.iter_mut().filter(|sample| sample.phase == record::Phase::Measure);
    for (_, sample) in measured.enumerate().filter(|(second, _)| (second / 10) % 2 == 1) {
        for operation in sample.operations.values_mut() {
            operation.count = operation.count * 6 / 10;
        }
    }
    trial
}

#[test]
fn a_trial_that_alternates_between_two_states_says_so() {
    let parts = [
        "between two states: about 20,",
        " IOPS in 50% of the seconds, about 1",
        "IOPS in the others, with 11 changes. The mean describes neither. Look for a change",
    ];
    raised(in_two_states(read().seconds(120).trial(1)), "two_states", Level::Note, &parts);
    quiet(read().seconds(120).trial(1), "two_states");
    quiet(read().seconds(120).trend(0.4).trial(1), "two_states");
    let of_two = of([1, 2].map(|number| in_two_states(read().seconds(120).trial(number))).into());
    let verdict = one(&of_two, "two_states");
    assert!(verdict.sentence().contains("in the first of these trials about 2"), "{verdict:?}");
    assert_eq!(verdict.raised.len(), 2);
    assert!(crate::Report::of(&of_two).trials[0].stability.two_states.is_some(), "in the JSON");
}

#[test]
fn trials_of_one_configuration_in_two_states_are_told_with_their_numbers() {
    let trial = |number: u32, per_s: f64| read().rate(per_s, 400.0).block(number).trial(number);
    let speeds = |slow: &'static [u32]| {
        let per_s = move |number: u32| if slow.contains(&number) { 12_000.0 } else { 20_000.0 };
        of((1..=8).map(|number| trial(number, per_s(number))).collect())
    };
    let verdict = one(&speeds(&[2, 3, 6]), "two_states");
    assert_eq!((verdict.level, verdict.trials.as_slice()), (Level::Note, [2, 3, 6].as_slice()));
    for part in ["in 62% of the 8 trials", "about 12,0", "(lower: trials #2, #3, #6)", "Look for a change of"]
    {
        assert!(verdict.sentence().contains(part), "{part:?} is not in {verdict:?}");
    }
    for slow in [[].as_slice(), &[1, 2, 3]] {
        let found = verdicts(&speeds(slow)).into_iter().filter(|verdict| verdict.rule == "two_states");
        assert_eq!(found.count(), 0, "one state, or one step");
    }
}

#[test]
fn finding_has_rate_interval_and_tail() {
    let study = of(vec![read().seconds(60).rate(74_120.0, 430.0).trial(1)]);
    let verdict = one(&study, "rate");
    let figure = verdict.fact.figure.clone().unwrap();
    assert!(
        figure.ends_with(" IOPS") && verdict.sentence().starts_with(&format!("R: {figure} (")),
        "{verdict:?}"
    );
    assert!(verdict.sentence().contains('–') && verdict.sentence().contains("p99 "), "{verdict:?}");
}

#[test]
fn short_trial_has_no_interval_and_says_so() {
    raised(read().seconds(5).trial(1), "rate", Level::Finding, &["no interval: trial too short"]);
}

#[test]
fn few_operations_have_no_p99_and_say_so() {
    raised(read().rate(50.0, 9_000.0).trial(1), "rate", Level::Finding, &["p95", "too few I/Os for a p99"]);
}

#[test]
fn large_blocks_are_told_in_bytes() {
    let large = |setup: &mut record::DiskSetup| setup.block_bytes = 1 << 20;
    raised(
        read().rate(2_000.0, 4_000.0).with(large).trial(1),
        "rate",
        Level::Finding,
        &["MB/s (", " IOPS, "],
    );
}

#[test]
fn repeats_give_the_mean_and_the_best() {
    let study = of((1..=5)
        .map(|run| read().seconds(5).rate(1e4 + 100.0 * f64::from(run), 300.0).block(run).trial(run))
        .collect());
    let verdict = one(&study, "rate");
    assert!(
        verdict.sentence().contains(", 5 trials)") && verdict.sentence().contains(", best 10,"),
        "{verdict:?}"
    );
    assert_eq!(verdict.trials, [1, 2, 3, 4, 5]);
}

#[test]
fn small_file_behind_the_file_cache_is_doubted() {
    let buffered = |s: &mut record::DiskSetup| s.cache = CacheMode::Buffered;
    raised(
        read().with(buffered).trial(1),
        "file_in_memory",
        Level::Warning,
        &["1 GiB", "8 GiB", "at least 16 GiB"],
    );
    quiet(read().with(buffered).with(|s| s.file_bytes = 16 << 30).trial(1), "file_in_memory");
    quiet(read().trial(1), "file_in_memory");
}

#[test]
fn reads_of_what_was_never_written_are_doubted() {
    let written = |written: Written| read().with(|s| s.written = written).trial(1);
    raised(
        written(Written::Holes { bytes: 300 << 20 }),
        "never_written",
        Level::Warning,
        &["300 MiB", "Fill the file"],
    );
    raised(
        written(Written::AllocatedByOthers),
        "written_by_others",
        Level::Note,
        &["another program wrote the data"],
    );
    let unknown = Written::Unknown { reason: "FIEMAP is not supported".to_owned() };
    raised(written(unknown), "written_unknown", Level::Note, &["FIEMAP is not supported"]);
    quiet(written(Written::Holes { bytes: 0 }), "never_written");
    quiet(written(Written::ByUs), "written_by_others");
}

#[test]
fn rate_above_the_interface_is_doubted() {
    let large = |s: &mut record::DiskSetup| s.block_bytes = 1 << 20;
    let at = |rate: f64| read().with(large).rate(rate, 1_000.0).noise(0.0).trial(1);
    raised(at(8_000.0), "above_interface", Level::Warning, &["8,389 MB/s", "nvme", "7,880 MB/s"]);
    quiet(at(7_000.0), "above_interface");
    let mut study = of(vec![at(8_000.0)]);
    study.environment = None;
    assert!(verdicts(&study).iter().all(|verdict| verdict.rule != "above_interface"));
}

/// A test over two paths found no volume, and its rate was doubted by nobody.
#[test]
fn a_rate_over_several_paths_is_set_against_all_their_interfaces() {
    let on = |paths: [&str; 2], rate: f64| {
        let placed = paths.map(|path| record::Placed::Path {
            path: path.to_owned(),
            on: record::Reading::Unknown("not asked".to_owned()),
        });
        let trial = read().with(|s| (s.block_bytes, s.path) = (1 << 20, paths.join(", ")));
        let trial = trial.recorded(|record| record.placed = placed.to_vec());
        let mut study = of(vec![trial.rate(rate, 1_000.0).noise(0.0).trial(1)]);
        let volumes = &mut study.environment.as_mut().unwrap().volumes;
        let first = volumes.remove(record::TARGET_VOLUME).unwrap();
        let mut second = first.clone();
        if let record::Reading::Known(device) = &mut second.device {
            device.name = "nvme1n1".to_owned();
        }
        for (path, volume) in [("/a", &first), ("/also-a", &first), ("/b", &second)] {
            volumes.insert(path.to_owned(), volume.clone());
        }
        verdicts(&study).into_iter().find(|v| v.rule == "above_interface").map(|verdict| verdict.sentence())
    };
    let of_both = on(["/a", "/b"], 16_000.0).unwrap();
    let says = "nvme interface of nvme0n1 and the nvme interface of nvme1n1 can carry together (15,760 MB/s)";
    assert!(of_both.contains(says), "{of_both}");
    assert_eq!(on(["/a", "/b"], 8_000.0), None, "each carries its part");
    let of_one = on(["/a", "/also-a"], 8_000.0).unwrap();
    assert!(of_one.contains("nvme interface of nvme0n1 can carry (7,880 MB/s)"), "{of_one}");
    assert_eq!(on(["/a", "/unknown"], 16_000.0), None);
}

#[test]
fn compressible_and_duplicate_fill_is_doubted() {
    raised(
        read().with(|s| s.compressible_per_cent = 50.0).trial(1),
        "compressible",
        Level::Warning,
        &["50%"],
    );
    raised(read().with(|s| s.duplicate_per_cent = 20.0).trial(1), "duplicate", Level::Warning, &["20%"]);
    quiet(read().trial(1), "compressible");
    quiet(read().trial(1), "duplicate");
}

#[test]
fn writes_that_wait_for_nothing_are_noted() {
    let direct = |s: &mut record::DiskSetup| s.cache = CacheMode::Direct;
    raised(Made::write("W").with(direct).trial(1), "not_durable", Level::Note, &["not a commit rate"]);
    quiet(Made::write("W").trial(1), "not_durable");
    quiet(Made::write("W").with(direct).with(|s| s.flush_every_writes = Some(1)).trial(1), "not_durable");
    quiet(read().with(direct).trial(1), "not_durable");
}

#[test]
fn busy_load_thread_makes_a_lower_bound() {
    raised(read().busiest(0.81).trial(1), "generator_cpu", Level::Warning, &["81% of a CPU", "add threads"]);
    quiet(read().busiest(0.80).trial(1), "generator_cpu");
    quiet(read().busiest(0.99).with(|s| s.engine = record::DiskEngine::Null).trial(1), "generator_cpu");
}

#[test]
fn rate_near_the_generators_own_is_doubted() {
    // The fixture's generator needs 300 ns: 3.33 million a second on one thread.
    raised(
        read().rate(2e6, 10.0).trial(1),
        "generator_rate",
        Level::Warning,
        &["% of what the load generator reaches"],
    );
    quiet(read().rate(1.5e6, 10.0).trial(1), "generator_rate");
    quiet(read().rate(2e6, 10.0).with(|s| s.threads = 2).trial(1), "generator_rate");
    quiet(read().rate(2e6, 10.0).with(|s| s.calibration = None).trial(1), "generator_rate");
}

#[test]
fn late_sendings_and_unsent_operations_are_doubted() {
    let open = |lag_us: f64| read().rate(5_000.0, 200.0).open(5_000.0, lag_us);
    raised(open(2_000.0).trial(1), "sent_late", Level::Warning, &["p99 lag", "offer a lower rate"]);
    quiet(open(50.0).trial(1), "sent_late");
    raised(
        open(50.0).outcome(|o| o.unsent = 1_234).trial(1),
        "unsent",
        Level::Warning,
        &["1,234 planned operations"],
    );
    quiet(open(50.0).trial(1), "unsent");
    quiet(open(50.0).outcome(|o| o.unsent = 4).trial(1), "unsent");
}

/// A limit of 300 I/Os a second below a rate of 500 was called the client's fault.
#[test]
fn a_rate_that_a_device_does_not_hold_is_said_with_what_was_reached() {
    let offered = |due, waited| Offered { due, slots: 64, waited: Some(waited), sent: Some(3_064) };
    let slow = |o: &mut DiskOutcome| {
        o.unsent = 1_936;
        o.offered = Some(offered(5_000, 2_900));
    };
    let of_ten_seconds = |per_s: f64| read().seconds(10).noise(0.0).rate(per_s, 2e6).open(500.0, 2e6);
    let study = of(vec![of_ten_seconds(300.0).outcome(slow).trial(1)]);
    let rate = one(&study, "rate");
    for part in [
        ": not sustained, 300 of 500 I/Os per second, 1,936 were never sent, all 64 outstanding were in use: ",
        "500 offered",
    ] {
        assert!(rate.sentence().contains(part), "{part} in {}", rate.sentence());
    }
    assert_eq!(rate.fact.figure, None);
    assert!(verdicts(&study).iter().all(|verdict| !["sent_late", "unsent"].contains(&verdict.rule.as_str())));
    // Who breaks what is loaded asks for no rate: that was exit code 3 without a sentence.
    let fault = |r: &mut record::TrialRecord| {
        r.faults = vec![record::FaultDone { asked: "kill at 3s".to_owned(), ..record::FaultDone::default() }];
    };
    let broken = of(vec![of_ten_seconds(300.0).outcome(slow).recorded(fault).trial(1)]);
    assert_eq!(Report::of(&broken).trials[0].rate_held(), None);
    assert!(Report::of(&study).trials[0].rate_held().is_some());
    let rate = one(&broken, "rate");
    assert!(!rate.sentence().contains("not sustained"), "{}", rate.sentence());
    let fast = |o: &mut DiskOutcome| o.offered = Some(offered(5_000, 0));
    let rate = one(&of(vec![of_ten_seconds(500.0).outcome(fast).trial(1)]), "rate");
    assert!(rate.sentence().contains(": sustained: 500 IOPS"), "{}", rate.sentence());
    let late = |o: &mut DiskOutcome| o.offered = Some(offered(5_000, 1_532));
    let late = one(&of(vec![of_ten_seconds(500.0).outcome(late).trial(1)]), "sent_late");
    assert!(
        late.sentence().contains("50% of them waited for the device, because all 64 outstanding"),
        "{}",
        late.sentence()
    );
}

/// 131 a second were once "held" of 100 that were offered: 400 were late when the window began.
#[test]
fn a_backlog_from_the_warm_up_is_told_and_is_no_rate() {
    let offered = Offered { due: 5_000, slots: 2, waited: Some(0), sent: Some(5_400) };
    let trial = |late: u64| {
        let made = read().seconds(10).noise(0.0).rate(500.0, 2e3).open(500.0, 50.0);
        let mut trial = made.outcome(|o| o.offered = Some(offered)).trial(1);
        let window = trial.samples.iter_mut().filter(|sample| sample.phase == record::Phase::Measure);
        for (second, sample) in window.enumerate() {
            let read = sample.operations.get_mut("read").unwrap();
            let late = if second < 2 { late } else { 0 };
            (read.count, read.due_before) = (read.count + late, Some(late));
        }
        let measured = trial.measured.get_mut("read").unwrap();
        (measured.count, measured.due_before) = (measured.count + 2 * late, Some(2 * late));
        trial
    };
    let study = of(vec![trial(200)]);
    let told = one(&study, "backlog_at_begin");
    assert_eq!(told.level, Level::Warning);
    for part in [
        "started with a backlog of about 400 I/Os from the warm-up, gone after 2",
        "Throughput excludes this backlog, but response times include it. Warm up for at least ",
    ] {
        assert!(told.sentence().contains(part), "{part} in {}", told.sentence());
    }
    let rate = one(&study, "rate");
    assert!(rate.sentence().contains(": sustained: 500 IOPS"), "{}", rate.sentence());
    let report = Report::of(&study);
    let high = report.trials[0].rate_per_s.map(|rate| rate.high);
    assert!(high.is_none_or(|high| high <= 500.0), "no rate is above what was offered: {high:?}");
    quiet(trial(20), "backlog_at_begin");
}

#[test]
fn a_pause_of_the_generator_that_is_seen_in_its_latencies_is_doubted() {
    let paused = |longest_ms: f64, sum_ms: f64| {
        let mut trial = read().seconds(20).trial(1);
        trial.samples[3].generator_pauses = Some(record::Pauses { longest_ms, sum_ms });
        trial
    };
    raised(
        paused(150.0, 150.0),
        "generator_paused",
        Level::Warning,
        &["got no CPU for up to 150 ms", "itself caused"],
    );
    quiet(paused(60.0, 120.0), "generator_paused");
    quiet(read().trial(1), "generator_paused");
}

/// A trial that ended without figures was one that a rule held for, and none of those counted: "102 of 101 trials".
#[test]
fn no_sentence_counts_more_trials_than_were_begun() {
    let mut trials: Vec<MeasuredTrial> =
        (1..=4).map(|number| Made::read(&format!("T{number}")).trial(number)).collect();
    trials.push(Made::read("T5").unmeasured(5, State::Invalid, "nothing was answered"));
    trials.push(Made::read("T6").unmeasured(6, State::Skipped, "left out"));
    let report = Report::of(&of(trials));
    let told = |holds: fn(&crate::trial::Trial) -> bool| {
        let doubt = Doubt::plain(Level::Warning, "rule", &report.trials, holds);
        doubt.verdict(format::per_cent, |_| "so".to_owned()).unwrap().sentence()
    };
    assert_eq!(told(|trial| trial.number <= 5), "Rule (all 5 trials): so.");
    assert_eq!(
        told(|trial| trial.number > 1 && trial.number <= 5),
        "Rule (4 of 5 trials: #2, #3, #4, #5): so."
    );
}

#[test]
fn an_invalid_trial_says_why_once() {
    let invalid = |r: &mut record::TrialRecord| {
        r.state = State::Invalid;
        r.reason = Some("client-limited: sent late".to_owned());
    };
    let late = read().rate(5_000.0, 200.0).open(5_000.0, 2_000.0).outcome(|o| o.unsent = 90_000);
    let study = of(vec![late.recorded(invalid).trial(1)]);
    let rules: Vec<String> = verdicts(&study).into_iter().map(|verdict| verdict.rule).collect();
    assert_eq!(
        rules.iter().filter(|rule| ["ended_early", "sent_late", "unsent"].contains(&rule.as_str())).count(),
        1
    );
}

#[test]
fn a_failed_configuration_is_no_finding() {
    let failed = |r: &mut record::TrialRecord| r.state = State::Failed;
    let study = of(vec![read().recorded(failed).trial(1), read().recorded(failed).trial(2)]);
    assert!(verdicts(&study).iter().all(|verdict| verdict.level != Level::Finding));
    let report = Report::of(&study);
    assert_eq!(report.configurations[0].not_complete, "2 failed");
    assert!(report.text(None).contains("2 failed"), "{}", report.text(None));
}

#[test]
fn a_quick_look_is_said_to_be_one() {
    let mut study = of(vec![read().trial(1)]);
    assert!(verdicts(&study).iter().all(|verdict| verdict.rule != "quick"));
    study.manifest.quick = true;
    let verdict = one(&study, "quick");
    assert_eq!(verdict.level, Level::Warning);
    assert!(verdict.sentence().contains("Run it again without the quick mode"), "{}", verdict.sentence());
}

#[test]
fn load_of_others_is_doubted() {
    raised(read().others(0.9).trial(1), "other_load", Level::Warning, &["other programs", "idle machine"]);
    quiet(read().trial(1), "other_load");
}

#[test]
fn engine_that_touches_no_device_is_noted() {
    raised(
        read().with(|s| s.engine = record::DiskEngine::Null).trial(1),
        "no_device",
        Level::Note,
        &["load generator"],
    );
    quiet(read().trial(1), "no_device");
}

/// The figure that raised the doubt, which stands on a card, and the sentence.
fn told_drift(trial: MeasuredTrial) -> String {
    let report = Report::of(&fixture::study("disk", vec![trial]));
    let verdict = report.verdicts().iter().find(|verdict| verdict.rule == "drift").unwrap();
    let raised = verdict.raised.values().next().unwrap();
    assert!(raised.starts_with("from ") && raised.ends_with(" IOPS"), "{raised}");
    format!("{raised}: {}", verdict.sentence())
}

#[test]
fn scatter_and_drift_are_doubted() {
    raised(read().seconds(60).noise(0.2).trial(1), "noisy", Level::Warning, &["varied by", "limit 10%"]);
    quiet(read().seconds(60).noise(0.05).trial(1), "noisy");
    let drifting = |share: f64| read().seconds(60).trend(share).trial(1);
    raised(drifting(0.4), "drift", Level::Warning, &["drifted: from ", " to ", " IOPS", "PTS"]);
    raised(drifting(-0.09), "drift", Level::Warning, &["drifted: from ", " IOPS"]);
    // A slope over the run in units of the mean may be more than all of it: it was told as "drifted −116%".
    let falling = told_drift(drifting(-1.16));
    assert!(!falling.contains("−1"), "{falling}");
    quiet(drifting(-0.03), "drift");
    quiet(drifting(0.4), "not_steady");
    quiet(read().seconds(60).trial(1), "not_steady");
    quiet(read().seconds(60).trial(1), "drift");
    let mut waves = read().seconds(50).trial(1);
    for (second, sample) in waves.samples.iter_mut().enumerate() {
        let read = sample.operations.get_mut("read").unwrap();
        read.count = if (second / 10) % 2 == 0 { read.count } else { read.count / 2 };
    }
    raised(waves, "not_steady", Level::Warning, &["the means of five equal parts", "20%"]);
}

#[test]
fn poisson_gaps_alone_make_no_noise() {
    let at = |per_s: f64, poisson: bool| {
        let pacing = record::Loop::Open { rate_per_s: per_s, poisson };
        let deviation = 1.0 / per_s.sqrt();
        read().seconds(60).rate(per_s, 200.0).noise(deviation).with(move |s| s.pacing = pacing).trial(1)
    };
    quiet(at(50.0, true), "noisy");
    raised(at(50.0, false), "noisy", Level::Warning, &["varied by"]);
}

#[test]
fn a_stall_of_a_second_in_two_minutes_is_told_with_its_moment() {
    let stalled = |longest_us: f64| {
        let mut trial = read().seconds(120).trial(1);
        let measured = trial.samples.iter_mut().filter(|sample| sample.phase == record::Phase::Measure);
        for (second, sample) in measured.enumerate() {
            let read = sample.operations.get_mut("read").unwrap();
            match second {
                46 => read.count = read.count * 2 / 5,
                47 => (read.count, read.latency.max_us) = (read.count * 2 / 5, Some(longest_us)),
                _ => {}
            }
        }
        trial
    };
    raised(stalled(1.2e6), "stalled", Level::Warning, &["no answer for 1.2 s at 0:46"]);
    quiet(stalled(2e4), "stalled");
    quiet(read().seconds(120).trial(1), "stalled");
}

#[test]
fn stolen_time_is_noted() {
    raised(read().steal(0.07).trial(1), "steal", Level::Warning, &["7.0%", "CPU steal"]);
    quiet(read().steal(0.05).trial(1), "steal");
}

#[test]
fn io_errors_are_failures() {
    raised(read().errors(3).trial(1), "io_errors", Level::Failure, &["3 of 199,", "(read)"]);
    quiet(read().trial(1), "io_errors");
}

#[test]
fn trials_that_did_not_end_well_stay_visible() {
    let ended = |state: State| read().unmeasured(1, state, "disk full");
    raised(
        ended(State::Failed),
        "ended_early",
        Level::Failure,
        &["(R): failed: disk full", "Nothing was measured"],
    );
    raised(ended(State::Invalid), "ended_early", Level::Warning, &["(R): invalid: disk full"]);
    raised(ended(State::Running), "ended_early", Level::Warning, &["prony ended during the trial"]);
    raised(ended(State::Skipped), "skipped", Level::Note, &["(R): disk full"]);
    let mut aborted = read().trial(1);
    aborted.trial.state = State::Aborted;
    raised(aborted, "ended_early", Level::Warning, &["stopped after 10 s", "Earlier figures are shown"]);
}

#[test]
fn trial_cut_short_has_its_figures_and_says_so() {
    let mut aborted = read().trial(1);
    aborted.trial.state = State::Aborted;
    raised(aborted, "rate", Level::Finding, &["cut short"]);
    let mut invalid = read().trial(1);
    invalid.trial.state = State::Invalid;
    quiet(invalid, "rate");
}

#[test]
fn state_of_the_study_is_told() {
    let mut study = of(vec![read().trial(1)]);
    study.manifest.state = State::Failed;
    study.manifest.reason = Some("no space left".to_owned());
    assert_eq!(one(&study, "study").sentence(), "Run state: the run failed: no space left.");
    study.manifest.state = State::Running;
    assert_eq!(one(&study, "study").level, Level::Warning);
    study.manifest.plan.push(record::PlannedTrial { number: 9, ..study.manifest.plan[0].clone() });
    assert_eq!(
        one(&study, "not_begun").sentence(),
        "Trials not started: 1 of 2 planned trials did not start."
    );
    study.damage.push("trials/0001/latency.hlog ends in the middle of a line".to_owned());
    assert!(one(&study, "damage").sentence().contains("latency.hlog"));
    study.environment = None;
    assert_eq!(one(&study, "environment").level, Level::Note);
}

#[test]
fn remarks_of_the_engine_are_told_once() {
    let noted =
        |number| read().recorded(|r| r.notes = vec!["IOPOLL is not supported".to_owned()]).trial(number);
    assert_eq!(one(&of(vec![noted(1), noted(2)]), "engine_note").trials, [1, 2]);
    let fallback =
        |s: &mut record::DiskSetup| s.engine_fallback = Some("io_uring is blocked (EPERM)".to_owned());
    raised(read().with(fallback).trial(1), "engine", Level::Note, &["instead of", "EPERM"]);
}

#[test]
fn a_rule_that_holds_for_many_trials_makes_one_sentence() {
    let noisy =
        |number: u32| Made::read(&format!("T{number}")).steal(0.06 + 0.01 * f64::from(number)).trial(number);
    let verdict = one(&of((1..=6).map(noisy).collect()), "steal");
    assert!(
        verdict.sentence().starts_with("CPU steal (all 6 trials): the hypervisor gave 7.0% to 12% of"),
        "{verdict:?}"
    );
    let mut mixed: Vec<MeasuredTrial> = (1..=4).map(noisy).collect();
    mixed.push(read().trial(9));
    assert!(one(&of(mixed), "steal").sentence().starts_with("CPU steal (4 of 5 trials: #1, #2, #3, #4): "));
}

#[test]
fn expected_array_is_compared_with_the_best_random_trials() {
    let mut study = of(vec![
        read().rate(7_000.0, 500.0).noise(0.0).trial(1),
        Made::read("best").rate(10_500.0, 500.0).noise(0.0).with(|s| s.outstanding = 128).trial(2),
        Made::read("sequential").rate(99_000.0, 500.0).with(|s| s.pattern = "sequential".to_owned()).trial(3),
    ]);
    study.manifest.expect = Some("100 x sas10k raid10".to_owned());
    let sentences: Vec<String> =
        verdicts(&study).into_iter().filter(|v| v.rule == "expectation").map(|v| v.sentence()).collect();
    assert_eq!(
        sentences,
        [
            "100 x sas10k raid10: expected 14,000 random read IOPS, best measured 10,500: 25% less.",
            "100 x sas10k raid10: expected 7,000 random write IOPS, not measured.",
        ]
    );
    study.manifest.expect = Some("256 x sas10k raid10".to_owned());
    let shallow = verdicts(&study).into_iter().find(|v| v.rule == "expectation").unwrap().sentence();
    assert!(shallow.contains("some disks were idle"), "128 I/Os for 256 disks: {shallow}");
    study.manifest.expect = Some("4 x sata7200 raid10".to_owned());
    let too_good = verdicts(&study).into_iter().find(|v| v.rule == "expectation").unwrap().sentence();
    assert!(too_good.contains("35.0 times as much. These disks cannot reach this rate"), "{too_good}");
    study.manifest.expect = Some("a hundred disks".to_owned());
    assert!(one(&study, "expectation").sentence().contains("invalid description"));
}

#[test]
fn sweep_tells_its_knee_and_where_it_passed_the_tolerance() {
    let study = crate::tests::sweep();
    let found: Vec<Verdict> = verdicts(&study).into_iter().filter(|v| v.level == Level::Finding).collect();
    let sentence = |rule: &str, series: &str| {
        let found = found.iter().find(|v| v.rule == rule && v.sentence().starts_with(series));
        found.map(Verdict::sentence)
    };
    let knee = sentence("knee", "8 KiB random read").unwrap();
    assert!(knee.contains("knee at 16."), "{knee}");
    // 42,990 IOPS at 256 were once the best rate, although 41,730 to 43,690 were measured at 128 in one trial each.
    assert!(knee.contains("Highest rate: 4") && !knee.contains("the best rate is"), "{knee}");
    assert!(knee.contains("% more than at "), "{knee}");
    assert!(knee.ends_with("(not tested against the others)."), "{knee}");
    assert_eq!(sentence("tolerance", "8 KiB random read"), None, "5.95 ms at 256");
    let passed = sentence("tolerance", "256 KiB random read").unwrap();
    assert!(passed.contains("exceeded 20 ms at 32 outstanding"), "{passed}");
    assert!(passed.contains("IOPS at 16") && passed.ends_with("(depth 256 skipped)."), "{passed}");
    assert!(found.iter().all(|verdict| verdict.rule != "rate"), "a series speaks for its trials");
}

#[test]
fn short_sweep_says_why_it_has_no_knee() {
    let depth = |power: u32| {
        let outstanding = 1u32 << power;
        read()
            .level("outstanding", &outstanding.to_string())
            .rate(1e4 * f64::from(outstanding), 100.0)
            .trial(power + 1)
    };
    let verdict = one(&of((0..4).map(depth).collect()), "knee");
    assert!(verdict.sentence().contains("no knee: too few levels: 4 levels in"), "{verdict:?}");
}

/// Thirteen sentences were once identical.
#[test]
fn several_series_without_a_knee_are_told_once() {
    let depth = |block_bytes: u64, power: u32| {
        let outstanding = 1u32 << power;
        Made::read(&format!("R{block_bytes}"))
            .with(|setup| (setup.block_bytes, setup.outstanding) = (block_bytes, outstanding))
            .level("outstanding", &outstanding.to_string())
            .rate(1e4 * f64::from(outstanding), 100.0)
            .trial(power + 1 + block_bytes as u32 / 4096 * 10)
    };
    let short: Vec<_> =
        [8192, 16_384].into_iter().flat_map(|block| (0..4).map(move |n| depth(block, n))).collect();
    let told = one(&of(short.clone()), "knee").sentence();
    assert!(told.starts_with("both series: no knee (too few usable depths). Highest rate: "), "{told}");
    assert!(told.contains("KiB random read at 8 outstanding"), "{told}");
    let mut mixed = crate::tests::sweep();
    mixed.trials.extend(short.into_iter().map(|mut trial| {
        trial.trial.number += 100;
        trial.trial.parameters["other"] = true.into();
        trial
    }));
    let knees: Vec<String> =
        verdicts(&mixed).into_iter().filter(|v| v.rule == "knee").map(|v| v.sentence()).collect();
    assert_eq!(knees.len(), 3 + 1, "{knees:?}");
    assert!(knees[3].contains(": no knee ("), "{knees:?}");
}

#[test]
fn steady_state_is_told_with_its_round_and_window() {
    let verdict = one(&crate::tests::steady(), "steady_state");
    assert!(verdict.sentence().contains("reached in round 8"), "{verdict:?}");
    assert!(verdict.sentence().contains("(mean of rounds 4 to 8)"), "{verdict:?}");
    let mut study = crate::tests::steady();
    study.trials.truncate(12);
    let sentence = one(&study, "steady_state").sentence();
    assert!(sentence.contains("no steady state within 6 rounds"), "{sentence}");
}

/// A calibration of 20 ms once gave a hundredth of its neighbours', and the rate was said to be 287% of what the load generator
/// reaches.
#[test]
fn more_than_the_generator_reaches_is_never_claimed() {
    let calibrated = |ns: f64| {
        let calibration = record::Calibration { generator_ns_per_operation: ns };
        read().with(|setup| setup.calibration = Some(calibration)).trial(1)
    };
    let per_s = Report::of(&of(vec![calibrated(50.0)])).trials[0].main().unwrap().per_s.unwrap();
    let of_share = |share: f64| calibrated(1e9 * share / per_s);
    raised(of_share(0.9), "generator_rate", Level::Warning, &["the rate is 90%"]);
    quiet(of_share(0.9), "calibration_disturbed");
    quiet(of_share(2.87), "generator_rate");
    raised(
        of_share(2.87),
        "calibration_disturbed",
        Level::Note,
        &["background load disturbed the calibration"],
    );
}

/// Of nine trials of a sweep "reads" nobody knew which one a warning was about.
#[test]
fn trials_of_one_name_are_told_by_their_numbers() {
    let trial =
        |number: u32| if number == 3 { read().others(0.9).trial(number) } else { read().trial(number) };
    let told = one(&of((1..=4).map(trial).collect()), "other_load").sentence();
    assert!(told.contains(", 1 of 4 trials: #3): "), "{told}");
}
