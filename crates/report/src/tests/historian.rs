//! Whole reports of historians, alone and beside disks.

use record::{MeasuredTrial, State, StudyRecord};

use crate::fixture::{self, Collected, Made, search_rules};
use crate::report::Report;

fn study(profile: &str, trials: Vec<MeasuredTrial>) -> StudyRecord {
    let mut study = fixture::study(profile, trials);
    study.manifest.title = format!("Historian: {profile}");
    study.manifest.command =
        ["prony", "historian", "--target", "postgres://db-1/plant"].map(String::from).into();
    study
}

/// One judged rate, with readers, on a disk whose size is known.
pub(crate) fn judged() -> StudyRecord {
    let mut study =
        study("judged", vec![Collected::at("historian 5100/s", 5_100.0).readers(60_000.0).trial(1)]);
    study.manifest.disk_bytes = Some(2_000_000_000_000);
    study
}

/// A search whose last step could not be judged, and which found a rate all the same.
pub(crate) fn search() -> StudyRecord {
    let name = "historian";
    let held = |rate: f64| Collected::at(name, rate);
    let failed = |rate: f64| Collected::at(name, rate).growing(rate - 5_130.0);
    let steps = [
        held(1_000.0).probe(),
        held(2_000.0).probe(),
        held(4_000.0).probe(),
        failed(8_000.0).probe(),
        failed(8_000.0).probe(),
        failed(6_000.0).probe(),
        failed(6_000.0).probe(),
        held(5_000.0).probe(),
        failed(5_500.0).probe(),
        failed(5_500.0).probe(),
        failed(5_250.0).probe(),
        failed(5_250.0).probe(),
        held(5_120.0).probe(),
        failed(5_200.0).probe(),
        failed(5_200.0).probe(),
        held(5_120.0).confirm(),
        held(5_120.0).confirm().outcome(|o| o.drain_s = None),
        held(5_120.0).confirm().outcome(|o| o.drain_s = None),
        held(4_970.0).confirm(),
        held(4_970.0).confirm().recorded(|r| {
            r.state = State::Invalid;
            r.reason = Some("client-limited: a thread of load used 93% of a core".to_owned());
        }),
        held(4_970.0).confirm(),
        held(4_970.0).confirm(),
    ];
    let mut study = study("search", (1..).zip(steps).map(|(number, made)| made.trial(number)).collect());
    study.manifest.search = Some(search_rules());
    study
}

/// A disk whose burst credits are used up in the first step that confirms, and a long step.
fn burst() -> Report {
    let held = |rate: f64| Collected::at("historian", rate);
    let steps = [
        held(4_000.0).probe(),
        held(8_000.0).probe(),
        held(9_000.0).growing(1_000.0).probe(),
        held(9_000.0).growing(1_000.0).probe(),
        held(8_000.0).seconds(360).growing_from(190, 4_000.0).confirm(),
        held(8_000.0).seconds(360).growing(4_000.0).confirm(),
        held(3_940.0).seconds(360).confirm(),
        held(3_940.0).seconds(360).confirm(),
        held(3_940.0).seconds(360).confirm(),
        held(3_940.0).seconds(3_420).long(),
    ];
    let mut study = study("search", (1..).zip(steps).map(|(number, made)| made.trial(number)).collect());
    let rules = record::SearchRules { confirm_for_s: Some(3_600.0), ..search_rules() };
    study.manifest.search = Some(rules);
    Report::of(&study)
}

#[test]
fn a_rate_that_was_held_by_credits_is_told_as_such() {
    let report = burst();
    let brief = report.brief(None);
    let brief = brief.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "PostgreSQL sustains 3,940 records/s (3 of 3 confirmations of 6 min, then one of 57 min). It kept up with 8,000/s for 3 min 10 s, then wrote 4,000/s: possibly burst credits, or a cache that filled";
    assert!(brief.contains(told), "{brief}");
    let finding = report.verdicts.iter().find(|verdict| verdict.rule == "search").unwrap();
    assert!(
        finding.sentence().contains("3 of 3 confirmations of 6 min and one of 57 min")
            && finding.sentence().contains("ept up with 8,000/s for 3 min 10 s, then wrote 4,000/s"),
        "{}",
        finding.sentence()
    );
}

/// A quick look at a server whose seconds resemble each other, and at one that is as fast all the time.
#[test]
fn a_quick_search_says_where_seconds_resemble_each_other() {
    let warned = |course: fn(usize) -> f64| {
        let held = |rate: f64| Collected::at("historian", rate).seconds(10);
        let failed = |rate: f64| held(rate).growing(rate - 5_000.0).written(course).probe();
        let steps = [
            held(4_000.0).probe(),
            failed(8_000.0),
            failed(8_000.0),
            failed(6_000.0),
            failed(6_000.0),
            held(4_000.0).confirm(),
        ];
        let mut study = study("quick", (1..).zip(steps).map(|(number, made)| made.trial(number)).collect());
        study.manifest.search = Some(record::SearchRules {
            quick: true,
            confirmations: 1,
            confirmations_of: 1,
            ..search_rules()
        });
        let report = Report::of(&study);
        let found = report.verdicts.into_iter().find(|verdict| verdict.rule == "search_seconds_resemble");
        found.map(|verdict| verdict.sentence())
    };
    let sentence = warned(|second| 1.0 + 0.1 * (second as f64 * 0.5).sin()).unwrap();
    assert!(sentence.contains("the rate may be up to 7% too high"), "{sentence}");
    assert_eq!(warned(|_| 1.0), None);
    assert_eq!(warned(|second| if second % 2 == 0 { 1.1 } else { 0.9 }), None);
}

/// Two purges and an outage within ten minutes.
pub(crate) fn project() -> StudyRecord {
    let trial = Collected::at("real project", 3_700.0)
        .seconds(600)
        .readers(240_000.0)
        .with(|setup| (setup.flush_rows, setup.max_buffered_events) = (100, 200_000))
        .maintenance(240.0, 0.4)
        .outage(152.4, Some(155.6))
        .outcome(|outcome| outcome.written_again = 100);
    study("real-project", vec![trial.trial(1)])
}

/// The published rows of a flush at the published rate, and as fast as it goes.
pub(crate) fn flush_rows() -> StudyRecord {
    let mut trials = Vec::new();
    for (number, rows) in (1..).zip([10, 40, 100, 500, 1_000, 5_000]) {
        let at_rate = Collected::at(&format!("5100/s, flush_rows {rows}"), 5_100.0).flush_rows(rows);
        trials.push(if rows == 10 { at_rate.growing(1_400.0) } else { at_rate }.trial(number));
    }
    let fast = [3_700.0, 11_900.0, 24_500.0, 71_000.0, 98_000.0, 142_000.0];
    for ((number, rows), rate) in (7..).zip([10, 40, 100, 500, 1_000, 5_000]).zip(fast) {
        let name = format!("as fast as it goes, flush_rows {rows}");
        trials.push(Collected::closed(&name, rate).flush_rows(rows).seconds(30).trial(number));
    }
    study("flush-rows", trials)
}

/// A check: disk tests, then a short historian on an embedded database.
pub(crate) fn check() -> StudyRecord {
    let embedded = |setup: &mut record::HistorianSetup| {
        setup.engine = "sqlite".to_owned();
        setup.target = "sqlite:/data/prony.db".to_owned();
        setup.server.version = "SQLite 3.50.2".to_owned();
        setup.server.durability =
            "a commit waits until the WAL is on stable storage (synchronous FULL)".to_owned();
        setup.server.settings.clear();
        setup.calibration = None;
    };
    let file = |record: &mut record::TrialRecord| {
        record.target = serde_json::json!({"database": "sqlite:/data/prony.db"});
    };
    let trials = vec![
        Made::read("RND4K Q32T1 read").rate(74_120.0, 430.0).seconds(30).trial(1),
        Made::write("RND4K Q1T1 write").with(|s| s.outstanding = 1).rate(820.0, 1_210.0).trial(2),
        Collected::at("historian 5100/s", 5_100.0).seconds(8).with(embedded).recorded(file).trial(3),
        Collected::closed("historian as fast as it goes", 61_000.0)
            .seconds(8)
            .with(embedded)
            .recorded(file)
            .trial(4),
    ];
    let mut study = fixture::study("quick", trials);
    study.manifest.title = "Check of /data".to_owned();
    study
}

pub(crate) fn all() -> [StudyRecord; 5] {
    [judged(), search(), project(), flush_rows(), check()]
}

#[test]
fn text_of_a_judged_rate() {
    insta::assert_snapshot!(Report::of(&judged()).text(Some(120)));
}

#[test]
fn first_screen_of_a_search() {
    insta::assert_snapshot!(Report::of(&search()).brief(Some(80)));
}

/// A quick search was of poor trust, and nothing said why.
#[test]
fn a_quick_search_says_why_it_is_of_poor_trust() {
    let mut study = search();
    study.manifest.quick = true;
    let brief = Report::of(&study).brief(Some(80)).to_string();
    assert!(brief.contains("Reliability    low: quick run with shortened times"), "{brief}");
}

#[test]
fn text_of_a_search() {
    insta::assert_snapshot!(Report::of(&search()).text(Some(120)));
}

#[test]
fn text_of_purges_and_an_outage() {
    insta::assert_snapshot!(Report::of(&project()).text(Some(120)));
}

#[test]
fn text_of_the_rows_of_a_flush() {
    insta::assert_snapshot!(Report::of(&flush_rows()).text(Some(140)));
}

#[test]
fn text_of_a_check_of_disk_and_historian() {
    insta::assert_snapshot!(Report::of(&check()).text(Some(120)));
}

#[test]
fn csv_of_a_check_has_the_columns_of_both() {
    let report = Report::of(&check());
    let csv = report.csv();
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|other| *other == name).unwrap();
    let lines: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let line = |trial: &str, kind: &str| {
        lines.iter().find(|line| line[0] == trial && line[column("kind")] == kind).unwrap()
    };
    assert_eq!(line("1", "read")[column("held")], "");
    assert_eq!(line("3", "record")[column("held")], "true");
    assert_eq!(line("3", "record")[column("expected_rows")], line("3", "record")[column("found_rows")]);
    assert_eq!(line("3", "commit")[column("held")], "", "the trial's own fields stand in its first line");
    assert_eq!(line("4", "record")[column("held")], "", "a closed loop has no rate to hold");
    assert!(lines.iter().all(|line| line.len() == head.len()));
    let disks = Report::of(&crate::tests::quick()).csv();
    assert!(!disks.contains("acknowledged_rows"), "a study of disks keeps its columns");
}

#[test]
fn json_of_a_historian_has_its_figures_and_its_search() {
    let document = |study: &StudyRecord| -> serde_json::Value {
        serde_json::from_str(&Report::of(study).json()).unwrap()
    };
    let judged = document(&judged());
    let historian = &judged["trials"][0]["historian"];
    assert_eq!(historian["stable"], true);
    assert_eq!(historian["records_per_s"], 5_100.0);
    assert!(historian["storage"]["years_until_full"].as_f64().unwrap() > 0.0);
    assert!(judged["published_historian"]["placements"].as_array().unwrap().len() == 9);
    let found = &document(&search())["searches"][0];
    assert_eq!((&found["stable_at"], &found["failed_at"]), (&4_970.0.into(), &5_120.0.into()));
    assert!(document(&crate::tests::quick())["trials"][0].get("historian").is_none());
}

#[test]
fn kinds_of_a_historian_are_not_added_up_and_records_come_first() {
    let report = Report::of(&judged());
    let kinds: Vec<&str> = report.trials[0].figures.iter().map(|figures| figures.kind.as_str()).collect();
    assert_eq!(kinds, ["record", "commit", "trend", "latest"]);
    assert_eq!(report.trials[0].figures[0].per_s, Some(5_100.0));
    assert_eq!(report.trials[0].rate_per_s.unwrap().value, 5_100.0);
}

#[test]
fn a_historian_that_wrote_nothing_is_about_its_records_all_the_same() {
    let mut study = judged();
    let trial = &mut study.trials[0];
    trial.measured.remove("record");
    for sample in &mut trial.samples {
        sample.operations.remove("record");
    }
    let report = Report::of(&study);
    let main = &report.trials[0].figures[0];
    assert_eq!((main.kind.as_str(), main.per_s), ("record", Some(0.0)));
    assert_eq!(report.trials[0].historian().unwrap().stable, Some(false));
    assert!(report.text(Some(120)).contains("only 0% of the offered records were written"));
}

#[test]
fn sentences_and_tables_of_historians_do_not_speak_of_ios() {
    for study in [judged(), search(), project(), flush_rows()] {
        let text = Report::of(&study).text(None);
        for word in ["IOPS", "I/O", "MB/s", "disk may", "outstanding", "not the disk"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn growth_is_that_of_the_rows_before_the_first_purge() {
    let report = Report::of(&project());
    let storage = &report.trials[0].historian().unwrap().storage;
    // The fixture's first purge begins with twice 90 bytes for each row of an interval.
    let bytes = storage.bytes_per_record.unwrap();
    assert!((bytes - 2.0 * 90.0 * 240.0 / 250.0).abs() < 4.0, "{bytes}");
    assert_eq!(storage.bytes_per_day, storage.bytes_per_hour.map(|hour| hour * 24.0));
    assert_eq!(storage.years_until_full, None, "no disk was given");
}

#[test]
fn ours_stands_beside_the_published_best_and_the_single_disk() {
    let report = Report::of(&judged());
    let comparison = report.historian.published_historian.as_ref().unwrap();
    let [ours] = comparison.ours.as_slice() else { panic!("{:?}", comparison.ours) };
    assert_eq!((ours.over_best, ours.over_single_disk), (1.0, 5_100.0 / 2_400.0));
    assert!(comparison.source.contains("2013-10") && comparison.source.contains("SQL Server 2008"));
    assert!(comparison.flush_rows.is_empty() && comparison.real_project.is_empty());
    let swept = Report::of(&flush_rows()).historian.published_historian.unwrap();
    assert_eq!(swept.flush_rows.len(), 6);
    assert!(swept.flush_rows.iter().all(|level| level.ours.iter().all(Option::is_some)));
    assert_eq!(Report::of(&project()).historian.published_historian.unwrap().real_project.len(), 3);
    assert!(Report::of(&crate::tests::quick()).historian.published_historian.is_none());
}

#[test]
fn gain_of_the_rows_of_a_flush_is_over_forty() {
    let report = Report::of(&flush_rows());
    let [at_rate, fast] = report.historian.flush_rows.as_slice() else {
        panic!("{:?}", report.historian.flush_rows)
    };
    assert_eq!((at_rate.offered_per_s, fast.offered_per_s), (Some(5_100.0), None));
    let forty = fast.points.iter().find(|point| point.flush_rows == 40).unwrap();
    assert_eq!(forty.gain_share, Some(0.0));
    assert!(fast.points.last().unwrap().gain_share.unwrap() > 10.0);
    assert_eq!(at_rate.points[0].stable, Some(false));
    let mut without = flush_rows();
    without.trials.retain(|trial| !trial.trial.name.ends_with("flush_rows 40"));
    assert!(
        Report::of(&without)
            .historian
            .flush_rows
            .iter()
            .all(|s| s.points.iter().all(|p| p.gain_share.is_none()))
    );
}

#[test]
fn a_long_historian_makes_a_page_of_bounded_size() {
    let page = |seconds: usize| {
        let made = Collected::at("long", 3_700.0).seconds(seconds).readers(60_000.0).maintenance(600.0, 0.4);
        Report::of(&study("real-project", vec![made.trial(1)])).html()
    };
    let (hour, two) = (page(3_600), page(7_200));
    assert!(hour.len() < 400_000, "{} bytes", hour.len());
    assert!(two.len() < hour.len() * 12 / 10, "{} after {} bytes", two.len(), hour.len());
}

#[test]
fn pages_mark_purges_and_outages_and_tell_shapes_apart() {
    let page = Report::of(&project()).html();
    for part in [
        "</span>purge</li>",
        "</span>shrink</li>",
        "</span>outage</li>",
        ">pending records<",
        ">offered<",
        "Flush latency",
        "Size over time",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(
        Report::of(&search())
            .html()
            .contains("Dot: kept up in this step. Cross: did not. Ring: could not be judged.")
    );
    let (_, settings) = page.split_once("id=\"settings\"").unwrap();
    let at = |words: &str| settings.find(words).unwrap();
    assert!(at("a commit waits until the log") < at("source of events"), "durability comes first");
    assert!(at("source of events") < at("server: shared_buffers"));
    let check = Report::of(&check()).html();
    assert!(check.find("Figures: disk").unwrap() < check.find("Figures: historian").unwrap());
}
