//! What the first screen says, and that it is one.

use super::*;
use crate::fixture::{self, Made};
use crate::tests::{quick, sweep};

#[test]
fn pages_that_were_checked_are_told_beside_plain_words() {
    let verified =
        record::Verified { written: 4_000, read: 8_000, stall_s: 15.0, ..record::Verified::default() };
    let made = Made::mixed("verify").outcome(|outcome| outcome.verified = Some(Box::new(verified)));
    let trials = disks().into_iter().chain([made.trial(9)]).collect();
    let screen = Report::of(&fixture::study("check", trials)).brief(Some(80)).as_str().replace('\n', " ");
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        screen.contains("Verified 12,000 pages written and read, 0 damaged, 0 stalls over 15 s"),
        "{screen}"
    );
}

/// The first screen said that each trial says why it was left out, and did not.
#[test]
fn where_all_was_left_out_it_is_told_why_once() {
    let left_out = |number, why: &str| Made::read("R").unmeasured(number, State::Skipped, why);
    let trials = vec![
        left_out(1, "there is no such kind"),
        left_out(2, "there is no such kind"),
        left_out(3, "nor that."),
    ];
    let told = Report::of(&fixture::study("disk", trials)).brief(None);
    let told = told.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(told.contains("nothing was measured: there is no such kind. nor that Reliability"), "{told}");
}

#[test]
fn answers_that_do_not_fit_are_counted() {
    let answers = ["a", "b", "c"];
    let print = |answer: &&str| vec![(*answer).to_owned(); 2];
    let more = |count: usize| vec![format!("{count} more")];
    let fitted = |plain: usize, room: usize| fitted(&answers, plain, room, print, more);
    assert_eq!(fitted(0, 6).len(), 6);
    assert_eq!(fitted(0, 5)[4..], ["1 more"], "a line is kept for the count");
    assert_eq!(fitted(0, 3)[2..], ["2 more"]);
    assert_eq!(fitted(0, 0)[..2], ["a", "a"], "one is printed, whatever the room");
    assert_eq!(fitted(2, 4), ["a", "a", "b", "b"], "rather plain words than a count of the rest");
}

/// What `check` measures of a disk.
fn disks() -> Vec<record::MeasuredTrial> {
    let at = |outstanding: u32| move |setup: &mut record::DiskSetup| setup.outstanding = outstanding;
    let commit = |setup: &mut record::DiskSetup| {
        (setup.outstanding, setup.cache) = (1, record::CacheMode::DirectWriteThrough);
    };
    let scan = |setup: &mut record::DiskSetup| {
        (setup.pattern, setup.block_bytes, setup.outstanding) = ("sequential".to_owned(), 1 << 19, 8);
    };
    let pages = |setup: &mut record::DiskSetup| {
        (setup.outstanding, setup.cache) = (32, record::CacheMode::Direct);
    };
    vec![
        Made::read("page read Q1").with(at(1)).rate(7_541.0, 132.0).trial(1),
        Made::read("page read Q32").with(at(32)).rate(31_000.0, 986.0).trial(2),
        Made::read("scan").with(scan).rate(3_308.0, 2_410.0).trial(3),
        Made::write("log write Q1").with(commit).rate(374.0, 2_670.0).trial(4),
        Made::write("page write Q32").with(pages).rate(21_990.0, 1_410.0).trial(5),
    ]
}

#[test]
fn first_screen_of_a_disk_in_plain_words() {
    insta::assert_snapshot!(Report::of(&fixture::study("check", disks())).brief(Some(120)));
}

#[test]
fn first_screen_of_a_disk_beside_much_other_load() {
    let mut study = fixture::study("check", disks());
    study.trials[1] = Made::read("page read Q32").others(0.83).rate(31_000.0, 986.0).trial(2);
    study.manifest.quick = true;
    insta::assert_snapshot!(Report::of(&study).brief(None));
}

#[test]
fn first_screen_of_many_findings() {
    insta::assert_snapshot!(Report::of(&quick()).brief(Some(80)));
}

#[test]
fn first_screen_of_a_check_has_what_each_workload_came_to() {
    let mut trials = disks();
    trials.push(fixture::Collected::closed("historian on SQLite", 17_200.0).trial(6));
    insta::assert_snapshot!(Report::of(&fixture::study("check", trials)).brief(None));
}

/// What `check --managed postgres` measures, with seconds of two tests that scatter.
fn check_with_a_server() -> record::StudyRecord {
    let sqlite = || "SQLite 3.50.2".to_owned();
    let started =
        |record: &mut record::TrialRecord| record.servers = vec![crate::started::tests::server("1GB")];
    let mut trials = disks();
    trials[1] = Made::read("page read Q32").noise(0.3).rate(31_000.0, 986.0).trial(2);
    trials[4] = Made::write("page write Q32").noise(0.3).rate(21_990.0, 1_410.0).trial(5);
    trials.extend([
        fixture::Collected::closed("historian on SQLite", 17_200.0)
            .with(|setup| setup.server.version = sqlite())
            .trial(6),
        fixture::Sold::at("orders on SQLite", &[495.0])
            .with(|setup| (setup.n_threads, setup.targets[0].server.version) = (1, sqlite()))
            .trial(7),
        fixture::Collected::closed("historian on PostgreSQL", 8_200.0).recorded(started).trial(8),
        fixture::Sold::at("orders on PostgreSQL", &[155.0]).recorded(started).trial(9),
    ]);
    fixture::study("check", trials)
}

/// SQLite's figures and the server's stand there, and the weakest: limit and trust are brief for it.
#[test]
fn first_screen_of_a_check_with_a_server() {
    let report = Report::of(&check_with_a_server());
    insta::assert_snapshot!(report.brief(None));
    let page = report.html().replace('\u{a0}', " ");
    for answer in &Summary::of(&report).answers[..Summary::of(&report).plain] {
        let shown = answer.text.replace('&', "&amp;");
        assert!(page.contains(&shown), "the page has the same results: {answer:?}");
    }
}

#[test]
fn a_doubt_is_named_with_its_trials_and_the_others_are_counted() {
    let brief = |report: &Report| in_brief(report, &unprinted(report, &[]));
    let report = Report::of(&check_with_a_server());
    assert!(brief(&report).unwrap().starts_with("noisy, 2 of 9 trials (+"), "{:?}", brief(&report));
    let mut quick = check_with_a_server();
    quick.manifest.quick = true;
    assert!(brief(&Report::of(&quick)).unwrap().starts_with(QUICK));
    let mut one = Report::of(&fixture::study("check", disks()));
    let says = "the levels were not measured in one block";
    one.verdicts = vec![Verdict::new(Level::Warning, "not_compared", says)];
    assert_eq!(brief(&one).unwrap(), small(&one.verdicts[0].name().unwrap()), "a verdict on no trial");
    assert_eq!(brief(&Report::of(&fixture::study("check", disks()))), None);
}

#[test]
fn a_name_within_a_sentence_begins_with_a_small_letter_unless_it_is_an_abbreviation() {
    for (name, expected) in
        [("Noisy", "noisy"), ("CPU limit", "CPU limit"), ("", ""), ("I/O errors", "I/O errors")]
    {
        assert_eq!(small(name), expected);
    }
}

/// The clause behind the last semicolon was taken for the next step: `next  1 operations that were due were never sent`.
#[test]
fn next_is_the_action_of_a_warning_and_no_other_part_of_it() {
    let next_after = |verdict: Verdict| {
        let mut report = Report::of(&fixture::study("check", disks()));
        report.verdicts = vec![verdict];
        Summary::of(&report).next.unwrap()
    };
    let warning =
        || Verdict::new(Level::Warning, "steal", "a fact").with_effect("1 operation was never sent");
    assert!(!next_after(warning()).contains("never sent"), "{}", next_after(warning()));
    let asks = warning().about("scan").with_limit("limit 5%").with_action("repeat when its host is quieter");
    let name = asks.name().unwrap();
    assert_eq!(
        asks.sentence(),
        format!(
            "{name} (scan): a fact (limit 5%). 1 operation was never sent. Repeat when its host is quieter."
        )
    );
    assert_eq!(next_after(asks), "repeat when its host is quieter");
}

/// `trust  poor: one more warning` after the first doubt had been told as the answer: more than what?
#[test]
fn doubts_that_are_answers_are_neither_repeated_nor_counted_as_more() {
    let mut study = fixture::study("disk", vec![Made::read("read").trial(1)]);
    study.trials[0].trial.state = State::Failed;
    study.trials[0].trial.reason = Some("the disk is gone".to_owned());
    let mut report = Report::of(&study);
    report.verdicts.retain(|verdict| verdict.rule == outcome::ENDED_EARLY);
    let alone = Summary::of(&report);
    assert!(alone.answers[0].text.contains("the disk is gone"), "{alone:?}");
    assert_eq!(alone.reliability_words(), "low: 1 of 1 trials failed");
    let noisy = Verdict::new(Level::Warning, "noisy", "throughput varied by 14%");
    report.verdicts.extend([noisy.clone(), noisy]);
    assert_eq!(Summary::of(&report).reliability_words(), "low: noisy: throughput varied by 14% (+1 warning)");
}

/// An invalid run told no figure at all.
#[test]
fn an_invalid_trial_tells_its_figure_and_that_it_does_not_count() {
    let mut study = fixture::study("disk", vec![Made::read("read").rate(20_000.0, 50.0).trial(1)]);
    study.trials[0].trial.state = State::Invalid;
    study.trials[0].trial.reason = Some("client-limited: it stood still".to_owned());
    let report = Report::of(&study);
    let told = report.brief(Some(80)).to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Invalid read: 19,960 IOPS (does not count)"), "{told}");
    assert!(told.contains("Reliability low: ") && told.contains("it stood still"), "{told}");
    let headline = report.headline().fact.text();
    assert_eq!(
        headline,
        "Invalid: read: 19,960 IOPS (does not count); 1 of 1 trials invalid; reliability low"
    );
}

/// A threshold that failed was told twice, as the answer and as a doubt, and one that was not decided was not told at all.
#[test]
fn thresholds_are_results_and_no_doubts() {
    let made = |number| Made::read("read").rate(20_000.0, 50.0).block(number).trial(number);
    let mut study = fixture::study("disk", (1..=6).map(made).collect());
    study.manifest.design = Some(record::Design {
        blocks: 6,
        order: record::Order::Repeats,
        thresholds: ["iops >= 30000", "iops >= 1000", "p99_ms < 0.001"].map(|t| t.parse().unwrap()).to_vec(),
        thresholds_only: true,
        ..record::Design::default()
    });
    let report = Report::of(&study);
    let summary = Summary::of(&report);
    let of = |text: &str| {
        let told: Vec<&Answer> = summary.answers.iter().filter(|answer| answer.text.contains(text)).collect();
        assert_eq!(told.len(), 1, "{text} is there once: {summary:#?}");
        told[0].text.clone()
    };
    assert!(of("iops >= 30000").starts_with("iops >= 30000 failed: "), "{summary:#?}");
    assert!(of("iops >= 1000").starts_with("iops >= 1000 passed: "), "{summary:#?}");
    assert!(of("p99_ms < 0.001").starts_with("p99_ms < 0.001 "), "{summary:#?}");
    assert_eq!((summary.reliability, summary.because.clone()), (Reliability::High, None), "{summary:#?}");
}

/// What a terminal of 80 columns and 24 lines shows without scrolling, whatever was measured.
#[test]
fn every_first_screen_has_at_most_twelve_lines_of_eighty_columns() {
    let studies = [quick(), sweep(), crate::tests::cdm(), crate::tests::steady(), check_with_a_server()];
    for study in studies {
        for width in [None, Some(40), Some(80), Some(200)] {
            let text = Report::of(&study).brief(width).to_string();
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= 80, "{text}");
            assert!(text.lines().count() <= LINES_MOST || width == Some(40), "{text}");
        }
    }
}

#[test]
fn trust_falls_with_doubts_and_rises_with_repeats() {
    let of = |study: &record::StudyRecord| Summary::of(&Report::of(study));
    let one = fixture::study("disk", vec![Made::read("read").rate(20_000.0, 50.0).trial(1)]);
    let once = of(&one);
    assert_eq!(once.reliability, Reliability::Medium, "{once:?}");
    assert!(once.because.as_ref().unwrap().starts_with("measured once"), "{once:?}");
    let twice = (1..=2).map(|block| Made::read("read").rate(20_000.0, 50.0).block(block).trial(block));
    let twice = of(&fixture::study("disk", twice.collect()));
    assert_eq!((twice.reliability, twice.because.clone()), (Reliability::High, None), "{twice:?}");
    let mut invalid = one.clone();
    invalid.trials[0].trial.state = State::Invalid;
    invalid.trials[0].trial.reason = Some("client-limited: sent late".to_owned());
    assert_eq!(
        (of(&invalid).reliability, of(&invalid).next.as_deref()),
        (Reliability::Low, Some("measure it again"))
    );
    let mut ended = one;
    ended.manifest.state = State::Aborted;
    let ended = of(&ended);
    assert_eq!(
        (ended.reliability, ended.next),
        (Reliability::Low, None),
        "what is left is told by whoever ran it"
    );
}

/// One invalid step made the reliability of a confirmed rate low.
#[test]
fn an_invalid_step_of_a_search_leaves_the_confirmed_rate_its_reliability() {
    let mut report = Report::of(&crate::tests::historian::search());
    let summary = Summary::of(&report);
    assert_eq!(summary.reliability, Reliability::Medium);
    let reason = summary.reliability_reason();
    assert!(reason.starts_with(": a step is invalid: client-limited: "), "{reason}");
    assert!(reason.ends_with("The other steps confirm the rate"), "{reason}");
    report.searches[0].stable_at = None;
    assert_eq!(Summary::of(&report).reliability, Reliability::Low);
}

#[test]
fn a_long_fact_of_a_warning_is_in_the_report_only() {
    let report = Report::of(&fixture::study("disk", vec![Made::read("read").rate(20_000.0, 50.0).trial(1)]));
    let words = |fact: String| {
        let doubt = crate::verdict::Verdict::new(crate::verdict::Level::Warning, "noisy", fact);
        super::doubt_in_words(&doubt, &report)
    };
    assert_eq!(words("throughput varied by 16%".to_owned()), "noisy: throughput varied by 16%");
    assert_eq!(words("x".repeat(super::FACT_LETTERS_MOST)).len(), "noisy: ".len() + super::FACT_LETTERS_MOST);
    assert_eq!(words("x".repeat(super::FACT_LETTERS_MOST + 1)), "noisy");
}
