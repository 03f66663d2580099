//! Comparisons of studies: what differs, what is refused, and what is said of the rest.

use record::StudyRecord;

use super::{Compare, CompareOutcome, CompareRows};
use crate::fixture::{self, Collected, Designed, Made};
use crate::page::tests::without_script;

/// A study of two configurations in so many blocks, whose rates are those of the first times this.
pub(super) fn study(blocks: u32, times: f64, seed: u32) -> StudyRecord {
    Designed::blocks(blocks).configurations(&["SSD", "RAID10"]).study(|at| {
        let rate = if at.configuration == "SSD" { 800.0 } else { 1_200.0 };
        let other = fixture::At { number: at.number + seed, ..at.clone() };
        Some(at.reads(rate * times * other.noise(0.01), 900.0))
    })
}

pub(super) fn compare(first: &StudyRecord, this: &StudyRecord) -> Compare {
    Compare::of(&[("first".to_owned(), first), ("this".to_owned(), this)], None, None)
}

/// A study that is better than an earlier one.
pub(crate) fn improved() -> Compare {
    compare(&study(7, 1.0, 0), &study(7, 1.25, 100))
}

fn metric<'a>(combination: &'a super::Combination, name: &str) -> &'a super::MetricAgainst {
    combination.metrics.iter().find(|metric| metric.metric.name == name).unwrap()
}

#[test]
fn text_of_two_studies() {
    let mut this = study(7, 1.25, 100);
    this.manifest.started = "2026-11-23T07:00:00Z".to_owned();
    if let Some(environment) = &mut this.environment {
        environment.kernel = "6.13.1".to_owned();
        environment.memory.available_bytes = 1;
        environment.taken = "2026-11-23T07:00:00Z".to_owned();
    }
    this.manifest.tool_version = "0.2.0".to_owned();
    insta::assert_snapshot!(compare(&study(7, 1.0, 0), &this).text(Some(110), CompareRows::All));
}

/// Runs of one side on so many days, each with a deviation of its own.
pub(super) fn runs(name: &str, times: f64, shifts: &[f64]) -> Vec<(String, StudyRecord)> {
    let run = |(index, shift): (u32, &f64)| {
        let mut run = study(3, times * (1.0 + shift), 100 * index);
        run.manifest.started = format!("2026-11-{:02}T07:00:00Z", 1 + 2 * index);
        (format!("{name}{}", index + 1), run)
    };
    (0..).zip(shifts).map(run).collect()
}

pub(super) fn compare_runs(first: &[(String, StudyRecord)], this: &[(String, StudyRecord)]) -> Compare {
    fn named(runs: &[(String, StudyRecord)]) -> Vec<(String, &StudyRecord)> {
        runs.iter().map(|(name, run)| (name.clone(), run)).collect()
    }
    Compare::of_runs(&named(first), &named(this), None)
}

/// The same with both sides alternating.
fn alternating(mut this: Vec<(String, StudyRecord)>) -> Vec<(String, StudyRecord)> {
    for (day, (_, run)) in (2..).step_by(2).zip(&mut this) {
        run.manifest.started = format!("2026-11-{day:02}T07:00:00Z");
    }
    this
}

#[test]
fn text_of_three_runs_a_side() {
    let first = runs("A", 1.0, &[0.02, -0.02, 0.0]);
    let mut this = alternating(runs("B", 1.25, &[0.01, -0.03, 0.0]));
    this[1].1.manifest.tool_version = "0.2.0".to_owned();
    let rows = CompareRows::Changed { all_with: "more" };
    insta::assert_snapshot!(compare_runs(&first, &this).text(Some(110), rows));
}

#[test]
fn several_runs_a_side_say_better_and_what_times_differ_by_alone_they_do_not() {
    let iops = |found: &Compare| metric(&found.against[0].combinations[1], "iops").clone();
    let first = runs("A", 1.0, &[0.02, -0.02, 0.0]);
    let found = compare_runs(&first, &runs("B", 1.25, &[0.01, -0.03, 0.0]));
    assert_eq!((iops(&found).words.as_str(), iops(&found).runs), ("better", (3, 3)));
    assert!(
        iops(&found).between_runs.is_some_and(|spread| (0.015..0.025).contains(&spread)),
        "{:?}",
        iops(&found)
    );
    // The seven trials of each run are within 1%, so that single runs differ for certain.
    let found = compare_runs(&first, &runs("B", 1.02, &[0.01, -0.03, 0.0]));
    assert_eq!(iops(&found).words, "not resolvable here");
    let found = compare(&first[0].1, &runs("B", 1.25, &[0.0])[0].1);
    assert_eq!(iops(&found).words, "descriptive only", "three trials");
    let two = compare_runs(&first[..2], &runs("B", 1.04, &[0.02, -0.02]));
    let (low, high) = iops(&two).low_pct.zip(iops(&two).high_pct).unwrap();
    assert!(low < -8.0 && high > 15.0, "two runs a side are wide: {low} {high}");
    let single = compare_runs(&first[..1], &runs("B", 1.25, &[0.0]));
    assert_eq!((iops(&single).between_runs, single.against[0].runs.len()), (None, 1));
    assert!(single.caution.contains("none is called better, worse or equivalent"), "{}", single.caution);
}

#[test]
fn sides_whose_times_do_not_mix_are_told() {
    let first = runs("A", 1.0, &[0.02, -0.02]);
    let said = |this: Vec<(String, StudyRecord)>| compare_runs(&first, &this).caution.contains("Alternate");
    let later = |mut this: Vec<(String, StudyRecord)>| {
        this.iter_mut()
            .for_each(|(_, run)| run.manifest.started = run.manifest.started.replace("-11-", "-12-"));
        this
    };
    assert!(said(later(runs("B", 1.25, &[0.01, -0.03]))));
    assert!(!said(alternating(runs("B", 1.25, &[0.01, -0.03]))));
}

#[test]
fn runs_of_one_side_that_are_not_the_same_are_named_and_have_no_verdict() {
    let mut first = runs("A", 1.0, &[0.02, -0.02, 0.0]);
    for trial in first[1].1.trials.iter_mut().filter(|trial| trial.trial.configuration == "SSD") {
        trial.trial.parameters["outstanding"] = 64.into();
    }
    first[2].1.trials.retain(|trial| trial.trial.configuration == "SSD");
    if let Some(environment) = &mut first[2].1.environment {
        environment.kernel = "6.13.1".to_owned();
    }
    let found = compare_runs(&first, &runs("B", 1.25, &[0.01, -0.03, 0.0]));
    assert_eq!(found.outcome(), CompareOutcome::Refused);
    let [raid, ssd] = found.against[0].combinations.as_slice() else { panic!("{found:?}") };
    assert_eq!(metric(ssd, "iops").words, "refused: the workload differs");
    assert_eq!((metric(raid, "iops").words.as_str(), metric(raid, "iops").runs), ("better", (2, 3)));
    let text = found.text(None, CompareRows::All).to_string().replace('\n', " ");
    for said in [
        "SSD: no verdict, because A2 and A1 are given as runs of one side but have different workloads: outstanding 32 and 64.",
        "A3 is given as another run of A1, but differs from it: kernel 6.12.0 and 6.13.1.",
        "RAID10 has no figures in A3.",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn what_did_not_change_is_counted_unless_all_is_asked_for() {
    let found = compare(&study(7, 1.0, 0), &study(7, 1.25, 100));
    let text = found.text(None, CompareRows::Changed { all_with: "--all" }).to_string();
    let in_a_line = text.replace('\n', " ");
    let counts = "10 other figures: 6 alike in these two runs, 2 not resolvable here, 2 no ratio, a value is zero. To print them, use --all.";
    assert!(in_a_line.contains(counts), "{text}");
    assert!(text.contains("RAID10       mb_per_s") && !text.contains("p95_ms"), "{text}");
    assert!(found.text(None, CompareRows::All).to_string().contains("p95_ms"));
}

#[test]
fn a_verdict_is_refused_where_the_workload_differs() {
    let first = study(7, 1.0, 0);
    let mut this = study(7, 1.25, 100);
    for trial in this.trials.iter_mut().filter(|trial| trial.trial.configuration == "SSD") {
        trial.trial.parameters["outstanding"] = 64.into();
    }
    let found = compare(&first, &this);
    assert_eq!(found.outcome(), CompareOutcome::Refused);
    let [raid, ssd] = found.against[0].combinations.as_slice() else { panic!("{found:?}") };
    let iops = |combination: &super::Combination| metric(combination, "iops").clone();
    assert_eq!((raid.label.as_str(), iops(raid).words.as_str()), ("RAID10", "differs"));
    assert_eq!((iops(ssd).judged, iops(ssd).words.as_str()), (None, "refused: the workload differs"));
    assert!(iops(ssd).gain_pct.is_some_and(|gain| (gain - 25.0).abs() < 3.0), "the figure stays");
    let text = found.text(None, CompareRows::All);
    assert!(text.contains("SSD: no verdict, because the workload differs: outstanding 32 and 64."), "{text}");
}

#[test]
fn where_the_target_alone_differs_nothing_is_refused() {
    let (first, mut this) = (study(7, 1.0, 0), study(7, 1.0, 100));
    for trial in &mut this.trials {
        trial.trial.target["paths"] = serde_json::json!(["/mnt/ssd"]);
        if let Some(record::Setup::Disk(setup)) = &mut trial.trial.setup {
            setup.path = "/mnt/ssd".to_owned();
        }
    }
    let found = compare(&first, &this);
    assert_eq!(found.outcome(), CompareOutcome::Judged);
    assert_eq!(found.against[0].settings, []);
    let told: Vec<&str> = found.against[0].target.iter().map(|found| found.what.as_str()).collect();
    assert_eq!(told, ["target.paths.1", "setup.path"], "once for all combinations");
}

#[test]
fn a_default_that_one_side_spells_out_is_no_difference() {
    let (first, mut this) = (study(7, 1.0, 0), study(7, 1.0, 100));
    for trial in &mut this.trials {
        trial.trial.parameters["threads"] = 1.into();
    }
    assert_eq!(compare(&first, &this).outcome(), CompareOutcome::Judged);
    for trial in &mut this.trials {
        trial.trial.parameters["threads"] = 2.into();
        if let Some(record::Setup::Disk(setup)) = &mut trial.trial.setup {
            setup.threads = 2;
        }
    }
    assert_eq!(compare(&first, &this).outcome(), CompareOutcome::Refused);
}

#[test]
fn other_workloads_are_never_judged() {
    let first = study(7, 1.0, 0);
    let this = Designed::blocks(7).configurations(&["SSD", "RAID10"]).study(|at| Some(at.records(900.0)));
    let found = compare(&first, &this);
    assert_eq!(found.outcome(), CompareOutcome::Refused);
    assert_eq!(found.against[0].combinations[0].workload[0].what, "workload");
}

#[test]
fn one_trial_each_gives_a_ratio_and_no_verdict() {
    let single = |rate: f64| {
        fixture::study("quick", vec![Made::read("RND4K").seconds(2).noise(0.0).rate(rate, 500.0).trial(1)])
    };
    let found = compare(&single(1_000.0), &single(1_500.0));
    assert_eq!(found.outcome(), CompareOutcome::Descriptive);
    let iops = metric(&found.against[0].combinations[0], "iops");
    assert_eq!((iops.gain_pct, iops.low_pct, iops.words.as_str()), (Some(50.0), None, "descriptive only"));
}

#[test]
fn what_only_one_study_has_is_named() {
    let other = fixture::study("quick", vec![Made::read("RND4K").seconds(2).trial(1)]);
    let found = compare(&study(2, 1.0, 0), &other);
    assert_eq!(found.outcome(), CompareOutcome::NothingShared);
    assert!(found.text(None, CompareRows::All).contains("no measured combination in common"));
    assert_eq!(found.against[0].only_this, ["RND4K"]);
}

/// A study of one trial of this name.
fn one(name: &str, change: impl FnOnce(&mut record::DiskSetup)) -> StudyRecord {
    fixture::study("quick", vec![Made::read(name).with(change).seconds(2).trial(1)])
}

fn told(found: &[super::Difference]) -> Vec<String> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    found
        .iter()
        .map(|found| format!("{}: {} | {}", found.what, text(&found.first), text(&found.this)))
        .collect()
}

/// `prony disk --outstanding 8` and `--outstanding 16` were said to differ in nothing, and to have nothing in common.
#[test]
fn one_trial_each_is_compared_whatever_its_name_and_each_parameter_that_differs_is_named() {
    let found = compare(&one("Q8", |s| s.outstanding = 8), &one("Q16", |s| s.outstanding = 16));
    assert_eq!(found.outcome(), CompareOutcome::Refused, "and not nothing shared");
    let against = &found.against[0];
    assert_eq!((against.combinations[0].label.as_str(), &against.not_compared), ("Q8 and Q16", &Vec::new()));
    assert_eq!(told(&against.settings), ["workload.disk.outstanding: 8 | 16"]);
    assert!(
        !found.text(None, CompareRows::All).contains("settings are the same"),
        "{}",
        found.text(None, CompareRows::All)
    );
    let mut simulated = one("Q8", |_| {});
    simulated.trials[0].trial.parameters["simulated"] = serde_json::json!({"service": "10ms"});
    let mut fast = simulated.clone();
    fast.trials[0].trial.parameters["simulated"]["service"] = "5ms".into();
    let found = compare(&simulated, &fast);
    assert_eq!(told(&found.against[0].settings), ["workload.disk.simulated.service: 10ms | 5ms"]);
}

#[test]
fn studies_that_share_nothing_are_compared_in_all_that_their_trials_have() {
    let study = |names: [&str; 2], engine: record::DiskEngine, path: &str| {
        let mut trials: Vec<record::MeasuredTrial> = (1..)
            .zip(names)
            .map(|(number, name)| Made::read(name).with(|s| s.engine = engine).seconds(2).trial(number))
            .collect();
        trials[1].trial.parameters["outstanding"] = 64.into();
        trials.iter_mut().for_each(|trial| trial.trial.target["paths"] = serde_json::json!([path]));
        fixture::study("quick", trials)
    };
    let first = study(["A", "B"], record::DiskEngine::Uring, "/data");
    let this = study(["C", "D"], record::DiskEngine::Psync, "/other");
    let found = compare(&first, &this);
    let against = &found.against[0];
    assert_eq!(told(&against.settings), ["setup.engine: uring | psync"], "outstanding is 32 and 64 in both");
    assert_eq!(told(&against.target), ["target.paths.1: /data | /other"]);
    assert_eq!(found.outcome(), CompareOutcome::NothingShared);
    let text = found.text(None, CompareRows::All);
    assert!(text.contains("Nothing is compared: the two have no measured combination in common"), "{text}");
    assert!(text.contains("Only in first: A; B."), "{text}");
}

#[test]
fn where_nothing_came_to_figures_it_is_said_why() {
    let mut failed = one("A", |_| {});
    failed.trials[0].trial.state = record::State::Failed;
    failed.trials[0].trial.reason = Some("No space left on device".to_owned());
    let text = compare(&one("A", |_| {}), &failed).text(None, CompareRows::All);
    assert!(text.contains("the only trial of this has no valid figures"), "{text}");
    assert!(text.contains("this: trial 1 failed: No space left on device."), "{text}");
    failed.trials.clear();
    let text = compare(&failed, &one("A", |_| {})).text(None, CompareRows::All);
    assert!(text.contains("Nothing is compared: first has no readable trial."), "{text}");
}

#[test]
fn what_is_damaged_is_told_before_anything_is_compared() {
    let (mut first, mut this) = (study(7, 1.0, 0), study(7, 1.0, 100));
    first.damage.push("trial 3: trial.json is that of trial 4: it is left out".to_owned());
    this.damage = (1..=12).map(|number| format!("trial {number}: samples.ndjson is missing")).collect();
    let found = compare(&first, &this);
    let text = found.text(None, CompareRows::All);
    let says = "first: the results directory is damaged: trial 3: trial.json is that of trial 4";
    assert!(text.find(says).is_some_and(|at| at < text.find("Differences").unwrap_or(usize::MAX)), "{text}");
    assert!(text.contains("this: and 2 more."), "{text}");
    assert_eq!((found.studies[0].not_used.len(), found.studies[1].not_used.len()), (1, 12));
}

/// The machine is recorded once, at the begin, and a study that went on elsewhere was said to be of the same one.
#[test]
fn a_machine_that_changed_while_a_study_ran_or_is_not_known_is_a_difference() {
    let (first, mut this) = (study(2, 1.0, 0), study(2, 1.0, 100));
    this.manifest.resumed.push(record::Resumption {
        at: "2026-11-22T07:00:00Z".to_owned(),
        from_trial: 3,
        differs: vec!["host was db-1 and is db-2".to_owned()],
        set_aside: Vec::new(),
    });
    let found = compare(&first, &this);
    assert_eq!(told(&found.against[0].environment), ["resumed, time 1:  | host was db-1 and is db-2"]);
    let unknown = |mut study: StudyRecord| {
        study.environment = None;
        study
    };
    let found = compare(&unknown(first.clone()), &unknown(first));
    assert_eq!(told(&found.against[0].environment), ["environment: not recorded | not recorded"]);
}

/// A database by address, as a table or by the older key was another target and another axis.
#[test]
fn spellings_of_one_database_are_one_target_and_one_level() {
    let study = |axis: &str, level: &str, target: serde_json::Value| {
        let mut study = Designed::blocks(2).axis(axis, &[level], level).study(|at| Some(at.records(900.0)));
        study.trials.iter_mut().for_each(|trial| trial.trial.target = target.clone());
        study
    };
    let first = study("url", "sqlite:/a.db", serde_json::json!({"url": "sqlite:/a.db"}));
    let level = "{ at = \"sqlite:/a.db\" }";
    let this = study("database", level, serde_json::json!({"database": [{"at": "sqlite:/a.db"}]}));
    let found = compare(&first, &this);
    let against = &found.against[0];
    assert_eq!(against.combinations[0].label, "database sqlite:/a.db");
    assert_eq!((&against.only_first, &against.only_this), (&Vec::new(), &Vec::new()));
    assert_eq!(told(&against.target), [""; 0]);
}

/// `prony check` twice: of the historian and the order store not one figure was compared.
#[test]
fn all_metrics_of_all_workloads_are_compared() {
    let study = |rate: f64| {
        let mut trials: Vec<record::MeasuredTrial> =
            (1..=8).map(|number| Made::read(&format!("R{number}")).seconds(2).trial(number)).collect();
        trials.push(Collected::at("historian", rate).seconds(2).trial(9));
        fixture::study("check", trials)
    };
    let (first, mut this) = (study(500.0), study(500.0));
    this.trials[0].measured.values_mut().for_each(|read| read.service = record::Latency::new());
    let found = compare(&first, &this);
    let [.., historian] = found.against[0].combinations.as_slice() else { panic!("{found:?}") };
    assert!(historian.metric.is_some_and(|name| name != "iops"), "{historian:?}");
    let text = found.text(None, CompareRows::All);
    for name in ["iops", "p99_ms", "records_per_s", "pending_max"] {
        assert!(text.contains(name), "{name} is not in:\n{text}");
    }
    let lost = metric(&found.against[0].combinations[0], "p99_ms");
    assert_eq!((lost.this.len(), lost.words.as_str()), (0, "measured only in the first"));
}

#[test]
fn each_further_study_is_compared_with_the_first() {
    let (one, two, three) = (study(2, 1.0, 0), study(2, 1.1, 100), study(2, 1.2, 200));
    let found =
        Compare::of(&[("A".to_owned(), &one), ("B".to_owned(), &two), ("C".to_owned(), &three)], None, None);
    let names: Vec<&str> = found.against.iter().map(|against| against.name.as_str()).collect();
    assert_eq!(names, ["B", "C"]);
    let document: serde_json::Value = serde_json::from_str(&found.json()).unwrap();
    assert_eq!(document["caution"].as_str().map(|text| text.starts_with("One run on each side")), Some(true));
    assert_eq!(Compare::of(&[], None, None).outcome(), CompareOutcome::NothingShared);
}

#[test]
fn nothing_is_better_unless_it_is_known_how_much_sessions_differ() {
    let (first, this) = (study(7, 1.0, 0), study(7, 1.25, 100));
    let compared = |between: Option<&str>| {
        let studies = [("first".to_owned(), &first), ("this".to_owned(), &this)];
        let found = Compare::of(&studies, None, between.map(|share| share.parse().unwrap()));
        let iops = metric(&found.against[0].combinations[0], "iops").clone();
        (iops.words, iops.high_pct.unwrap() - iops.low_pct.unwrap(), found.caution)
    };
    let (unknown, narrow, caution) = compared(None);
    assert!(
        unknown == "differs" && caution.contains("none is called better, worse or equivalent"),
        "{unknown}: {caution}"
    );
    let (quiet, wider, caution) = compared(Some("2%"));
    assert!(
        quiet == "better" && wider > narrow && caution.contains("the given spread"),
        "{quiet}: {caution}"
    );
    let (restless, widest, _) = compared(Some("20%"));
    assert!(restless == "not resolvable here" && widest > wider, "{restless}");
}

/// Of a true gain of 4% between times that differ by 2%, a quarter of comparisons said "equivalent", and that some dozens of trials
/// would settle it.
#[test]
fn one_run_a_side_is_never_equivalent_or_small_and_proposes_no_trials() {
    for times in [1.0, 1.01, 1.03, 1.035, 1.06, 1.25] {
        let found = compare(&study(7, 1.0, 0), &study(7, times, 100));
        for metric in found.against[0].combinations.iter().flat_map(|of| &of.metrics) {
            let allowed =
                ["differs", "alike in these two runs", "not resolvable here", "no ratio, a value is zero"];
            assert!(
                allowed.contains(&metric.words.as_str()),
                "{times} {}: {}",
                metric.metric.name,
                metric.words
            );
            assert_eq!(metric.judged.and_then(|judged| judged.blocks_needed), None, "{times}");
        }
        let text = found.text(None, CompareRows::All).to_string();
        assert!(!text.contains(" to decide") && !text.contains("small"), "{text}");
    }
}

#[test]
fn what_would_decide_is_proposed_where_the_spread_of_runs_is_not_known() {
    let deciding = || {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
        super::Deciding::of(
            &[words("measure before-2"), words("weigh first --with this")],
            &words("weigh by 2%"),
        )
    };
    let (first, this) = (study(7, 1.0, 0), study(7, 1.25, 100));
    let found = compare(&first, &this).with_deciding(deciding());
    let told =
        [found.text(Some(80), CompareRows::All).to_string(), found.markdown(), read_aloud(&found.html())];
    for text in told {
        for line in [
            "To decide, measure both sides again",
            "measure before-2",
            "weigh first --with this",
            "weigh by 2%",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
    let studies = [("first".to_owned(), &first), ("this".to_owned(), &this)];
    let given = Compare::of(&studies, None, Some("2%".parse().unwrap())).with_deciding(deciding());
    assert_eq!(given.deciding, None, "the spread decides already");
}

#[test]
fn a_machine_that_was_not_recorded_is_a_difference() {
    let (first, mut this) = (study(2, 1.0, 0), study(2, 1.0, 100));
    this.environment = None;
    let found = compare(&first, &this);
    assert_eq!(found.against[0].environment[0].this.as_deref(), Some("not recorded"));
}

/// Two checks of one machine had 36 differences of machines: one had a server's volumes besides, and their directories differed.
#[test]
fn what_one_study_alone_used_is_no_difference_of_machines() {
    let placed = |path: &str| {
        serde_json::from_value(serde_json::json!({
            "is": "path", "path": ".", "on": {"known": {"path": path, "mount": {"known": "/"}, "device": {"known": "vda"}}}
        }))
        .unwrap()
    };
    let study = |path: &str| {
        let mut study = study(2, 1.0, 0);
        study.trials.iter_mut().for_each(|trial| trial.trial.placed = vec![placed(path)]);
        study
    };
    let (first, mut this) = (study("/data/a"), study("/data/b"));
    let environment = this.environment.as_mut().unwrap();
    let mut volume = environment.volumes.values().next().unwrap().clone();
    volume.device = record::Reading::Unknown("another one".to_owned());
    environment.volumes.insert("data of shop (postgres)".to_owned(), volume);
    environment.servers.insert("shop".to_owned(), record::Reading::Unknown("not here".to_owned()));
    let found = compare(&first, &this);
    let against = &found.against[0];
    assert_eq!((told(&against.environment), told(&against.target)), (Vec::new(), Vec::new()));
    // What both used is compared still.
    let volumes = &mut this.environment.as_mut().unwrap().volumes;
    volumes.remove("data of shop (postgres)");
    volumes.values_mut().for_each(|common| common.mount = record::Reading::Unknown("no mount".to_owned()));
    assert!(!compare(&first, &this).against[0].environment.is_empty());
}

/// A search in each of six blocks that confirms about this rate.
fn searches(rate_per_s: f64) -> StudyRecord {
    let mut study = Designed::blocks(6).axis("writers", &["1"], "1").study(|at| Some(at.records(1.0)));
    study.manifest.search = Some(fixture::search_rules());
    let search = |place: record::TrialRecord| {
        let rate = rate_per_s + f64::from(place.block);
        let steps = [
            Collected::at("historian", rate).probe(),
            Collected::at("historian", rate * 1.02).growing(rate * 0.1).probe(),
            Collected::at("historian", rate).confirm(),
            Collected::at("historian", rate).confirm(),
            Collected::at("historian", rate).confirm(),
        ];
        steps.into_iter().zip(0..).map(move |(step, index)| {
            let mut trial = step.seconds(30).trial(place.number * 10 + index);
            (trial.trial.block, trial.trial.levels) = (place.block, place.levels.clone());
            trial
        })
    };
    study.trials =
        std::mem::take(&mut study.trials).into_iter().flat_map(|made| search(made.trial)).collect();
    study
}

#[test]
fn the_rates_that_two_searches_found_are_no_difference_of_the_workload() {
    let found = compare(&searches(500.0), &searches(900.0));
    let combination = &found.against[0].combinations[0];
    assert_eq!(combination.workload, []);
    assert_eq!(found.outcome(), CompareOutcome::Judged);
    let sustained = metric(combination, "sustained_per_s");
    assert_eq!(sustained.words, "differs");
    let text = found.text(None, CompareRows::All).to_string();
    assert!(text.contains("504 to below 514") && text.contains("904 to below 922"), "{text}");
    assert!(sustained.gain_pct.is_some_and(|gain| (gain - 79.0).abs() < 1.0), "{sustained:?}");
    let settings: Vec<&str> = found.against[0].settings.iter().map(|found| found.what.as_str()).collect();
    assert!(settings.iter().all(|what| !what.contains("rate")), "{settings:?}");
    // A rate that was asked for is one.
    let asked = |rate: f64| {
        Designed::blocks(6)
            .configurations(&["A", "B"])
            .study(|at| Some(at.placed(Collected::at("historian", rate).seconds(2).trial(at.number))))
    };
    assert_eq!(compare(&asked(500.0), &asked(900.0)).outcome(), CompareOutcome::Refused);
}

/// The text of a page without its marks.
fn read_aloud(page: &str) -> String {
    let mut text = String::new();
    for piece in page.split('<').skip(1) {
        text.push_str(piece.split_once('>').map_or("", |(_, text)| text));
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_page_says_the_answer_how_far_to_trust_it_what_changed_and_what_differs() {
    let mut this = study(7, 1.25, 100);
    if let Some(environment) = &mut this.environment {
        environment.kernel = "6.13.1".to_owned();
    }
    let page = compare(&study(7, 1.0, 0), &this).html();
    let text = read_aloud(&page);
    for said in [
        "RAID10: ",
        "differs.",
        "Reliability low: ",
        "One run on each side",
        "Gain: ",
        "Right of the line at 0%",
        "95% CI",
        "Differences of the machines",
        "kernel",
        "6.13.1",
        "All other figures",
    ] {
        assert!(text.contains(said), "{said} is not in {text}");
    }
    let (summary, _) = page.split_once("<nav").unwrap();
    assert!(
        summary.contains("<dd class=\"result\">") && summary.contains("class=\"reliability low\""),
        "{summary}"
    );
    without_script(&page);
    for outside in ["http://", "https://", "src=", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<details class=\"more\"><summary>").count(), 2, "two machines");
    let one = compare(&study(7, 1.0, 0), &study(7, 1.0, 100)).html();
    assert!(read_aloud(&one).contains("first, this: "), "one machine is told once");
}

/// On an axis of per cent a tenth of the rate and a fifth of it look alike.
#[test]
fn a_page_draws_large_changes_as_factors_and_says_so() {
    let page = compare(&study(7, 1.0, 0), &study(7, 0.125, 100)).html();
    let text = read_aloud(&page);
    assert!(
        text.contains("Right of 1 × is better") && text.contains("gain as a factor (logarithmic)"),
        "{text}"
    );
    assert!(text.contains("0.125 times"), "{text}");
}

#[test]
fn a_page_of_what_has_no_verdict_trusts_nothing_and_says_why() {
    let mut other = study(7, 1.0, 100);
    for trial in &mut other.trials {
        trial.trial.parameters["outstanding"] = 64.into();
    }
    let text = read_aloud(&compare(&study(7, 1.0, 0), &other).html());
    assert!(text.contains("2 combinations have no verdict, because the workload differs."), "{text}");
    assert!(text.contains("Reliability low: "), "{text}");
    other.trials.clear();
    let nothing = read_aloud(&compare(&study(7, 1.0, 0), &other).html());
    assert!(nothing.contains("nothing is compared") && nothing.contains("Reliability low"), "{nothing}");
}

/// Of two sides it was not told which one broke a limit.
#[test]
fn a_page_of_several_sides_says_of_each_answer_whose_it_is() {
    let (first, second, third) = (study(7, 1.0, 0), study(7, 1.0, 100), study(7, 0.5, 200));
    let named = [("first", &first), ("second", &second), ("third", &third)];
    let named = named.map(|(name, study)| (name.to_owned(), study));
    let limits = ["iops < -5%".parse().unwrap()];
    let gates = super::Gates { fail_if: &limits, accept_single: true, ..super::Gates::default() };
    let compared = Compare::of(&named, None, None).judged_by(&gates).unwrap();
    let page = compared.html();
    let (summary, _) = page.split_once("<nav").unwrap();
    let (_, summary) = summary.split_once("class=\"summary\"").unwrap();
    assert!(summary.contains("third: failed, because iops &lt; -5"), "{summary}");
    assert!(summary.contains("second: ") && !summary.contains("second: failed"), "{summary}");
}

/// The first screen once reported low reliability of a run without the reason and the remedy.
#[test]
fn a_run_of_low_reliability_says_why_and_what_to_do() {
    let mut this = study(7, 1.25, 100);
    this.manifest.quick = true;
    let found = compare(&study(7, 1.0, 0), &this);
    let text = found.text(Some(200), CompareRows::All).to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("has low reliability: quick run"), "{text}");
    assert!(text.contains("Next: for ") && text.contains(": run it again without the quick mode."), "{text}");
    assert!(found.html().contains("<dt>Next</dt>"), "the page says it too");
    let sound = compare(&study(7, 1.0, 0), &study(7, 1.25, 100));
    let text = sound.text(Some(200), CompareRows::All);
    assert!(text.contains("Next: repeat both sides, then compare all runs."), "{text}");
}

/// A name that is none of ours stands as text.
#[test]
fn a_page_escapes_what_others_wrote() {
    let evil = "<script>alert(1)</script>\u{1b}[2J";
    let (first, this) = (study(3, 1.0, 0), study(3, 1.1, 100));
    let page = Compare::of(&[(evil.to_owned(), &first), ("this".to_owned(), &this)], None, None).html();
    let page = without_script(&page);
    assert!(!page.contains('\u{1b}') && page.contains("&lt;script"));
}
