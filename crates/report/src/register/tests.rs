//! What is said of registers, of trials made by hand.

use record::Loop;
use record::register::{Did, Operation};

use super::*;
use crate::fixture::{self, Sold};
use crate::verdict::Level;

fn setup(trial: &MeasuredTrial) -> RegisterSetup {
    let server: Server = trial.trial.setup.as_ref().unwrap().orders().unwrap().targets[0].server.clone();
    RegisterSetup {
        target: "postgres://me@db-1/prony_register".to_owned(),
        engine: "postgres".to_owned(),
        database: "prony_register".to_owned(),
        server,
        pacing: Loop::Open { rate_per_s: 200.0, poisson: false },
        keys: 100,
        clients: 8,
        read_share: 0.5,
        timeout_ms: 5_000.0,
        outage_ms: 500.0,
        seed: 42,
        expects_losses: false,
    }
}

/// A minute in which nothing is wrong, then changed.
fn trial(change: impl FnOnce(&mut RegisterOutcome)) -> MeasuredTrial {
    let mut trial = Sold::at("100 registers, 8 clients", &[100.0]).open(100.0, 20.0).trial(1);
    let names = [("order", WRITE), ("purchase", READ)];
    for sample in &mut trial.samples {
        let mut of = std::mem::take(&mut sample.operations);
        sample.operations =
            names.iter().map(|(old, new)| ((*new).to_owned(), of.remove(*old).unwrap())).collect();
    }
    let mut of = std::mem::take(&mut trial.measured);
    trial.measured = names.iter().map(|(old, new)| ((*new).to_owned(), of.remove(*old).unwrap())).collect();
    let writes =
        WrittenValues { acknowledged: 6_500, seen: 3_000, unanswered: 2, ..WrittenValues::default() };
    let mut outcome =
        RegisterOutcome { operations: 13_100, writes, is_audited: true, ..RegisterOutcome::default() };
    change(&mut outcome);
    trial.trial.setup = Some(Setup::Register(Box::new(setup(&trial))));
    trial.trial.workload = Workload::Register;
    trial.trial.main = Workload::Register.main();
    trial.trial.outcome = Some(outcome.into());
    trial
}

fn report(change: impl FnOnce(&mut RegisterOutcome)) -> Report {
    Report::of(&fixture::study("register", vec![trial(change)]))
}

/// A database that was killed once, in the twentieth second.
pub(crate) fn interrupted() -> Report {
    let mut trial = trial(|outcome| {
        outcome.away = vec![away(20.0, Some(22.01))];
        outcome.writes_away = vec![away(20.0, Some(22.04))];
        outcome.reads_away = vec![away(20.001, Some(22.012))];
    });
    for sample in &mut trial.samples[20..22] {
        sample.operations.values_mut().for_each(|operation| *operation = Default::default());
    }
    let mut study = fixture::study("register", vec![trial]);
    (study.manifest.title, study.manifest.slug) = ("Failover".to_owned(), "failover".to_owned());
    study.manifest.command = ["prony", "failover", "--managed", "postgres"].map(str::to_owned).into();
    Report::of(&study)
}

fn said(report: &Report, level: Level) -> Vec<String> {
    let of = |verdict: &&Verdict| verdict.level == level;
    report.verdicts.iter().filter(of).map(|verdict| verdict.sentence().clone()).collect()
}

fn away(start_s: f64, end_s: Option<f64>) -> Away {
    Away { start_s, end_s }
}

#[test]
fn what_was_never_away_and_lost_nothing_is_told_so() {
    let report = report(|_| {});
    let found = said(&report, Level::Finding).join("\n");
    assert!(found.contains("8 clients: never unavailable for 500 ms or longer, "), "{found}");
    let answer = OfRegister
        .answers(&report)
        .iter()
        .map(crate::summary::Answer::sentence)
        .collect::<Vec<_>>()
        .join("\n");
    assert!(answer.contains("lost none of 6,500 acknowledged writes"), "{answer}");
    assert!(answer.contains("all 100 registers were consistent, in 13,100 operations"), "{answer}");
    assert_eq!(said(&report, Level::Failure), [""; 0]);
}

#[test]
fn times_without_an_answer_are_told_with_their_length_and_no_second_time() {
    let report = report(|outcome| {
        outcome.away = vec![away(20.0, Some(22.01))];
        outcome.writes_away = vec![away(20.0, Some(24.5))];
        outcome.reads_away = vec![away(20.001, Some(22.012))];
    });
    let found = said(&report, Level::Finding).join("\n");
    assert!(found.contains("unavailable for 2.01 s (writes 4.50 s), "), "{found}");
    let trial = &report.trials[0];
    assert_eq!(trial.register().unwrap().away.longest_s, 22.01 - 20.0);
    let text = report.text(Some(100)).to_string();
    for part in ["Times without an answer", "24.500 s", "all operations"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("the longest time without an answer was"), "it is told as what it is: {text}");
}

#[test]
fn what_became_of_writes_is_told_as_far_as_it_is_known() {
    let of = |change: fn(&mut RegisterOutcome)| report(change).trials[0].register().unwrap().account();
    let told = of(|outcome| {
        let counts =
            WrittenValues { lost: 3, unanswered: 5, unanswered_seen: 2, refused: 1, ..outcome.writes };
        outcome.writes = counts;
        outcome.anomalies = [(AnomalyKind::LostUpdate, 3), (AnomalyKind::DuplicateWrite, 1)].into();
    });
    let expected = Account {
        acknowledged: 6_500,
        there: Some(6_497),
        lost: Some(3),
        unanswered: 5,
        unanswered_there: Some(2),
        beyond: Some(1),
        refused: Some(1),
    };
    assert_eq!(told, expected);
    let unknown = of(|outcome| outcome.is_audited = false);
    assert_eq!((unknown.there, unknown.lost, unknown.acknowledged), (None, None, 6_500));
}

#[test]
fn an_outage_that_goes_on_counts_to_the_end_of_the_load() {
    let report = report(|outcome| outcome.away = vec![away(20.0, Some(21.0)), away(60.0, None)]);
    let register = report.trials[0].register().unwrap();
    let end_s = report.trials[0].samples.last().unwrap().end_s;
    assert_eq!(register.away.longest_s, end_s - 60.0);
    let found = said(&report, Level::Finding).join("\n");
    assert!(found.contains("at most (2 times, "), "{found}");
}

#[test]
fn what_no_register_does_is_a_failure_with_what_proves_it() {
    let report = report(|outcome| {
        let write = Did::Wrote { value: 17, at_ns: 2_000_000_000 };
        let read = Did::Read { value: 16, replaced: None, at_ns: 4_000_000_000 };
        let operations = vec![
            Operation { client: 0, key: 5, invoked_ns: 1_000_000_000, did: write },
            Operation { client: 1, key: 5, invoked_ns: 3_000_000_000, did: read },
        ];
        outcome.anomalies = [(AnomalyKind::LostUpdate, 3), (AnomalyKind::StaleRead, 1)].into();
        outcome.told = vec![Anomaly { kind: AnomalyKind::LostUpdate, key: 5, operations }];
        outcome.writes.lost = 3;
    });
    let failures = said(&report, Level::Failure).join("\n");
    for part in ["3 lost updates (a write was acknowledged, and is gone), 1 stale read", "client 1 wrote 17"]
    {
        assert!(failures.contains(part), "{part} in {failures}");
    }
    let text = report.text(Some(120)).to_string();
    for part in ["What no register does", "client 2 read 16 (3.000000–4.000000 s)"] {
        assert!(
            text.replace('\n', " ").contains(part) || text.contains("3.000000–4.000000"),
            "{part} in {text}"
        );
    }
}

#[test]
fn what_could_not_be_looked_at_is_said() {
    let told = said(&report(|outcome| outcome.is_audited = false), Level::Warning).join("\n");
    assert!(told.contains("could not be read at the end"), "{told}");
    let unchecked = report(|outcome| outcome.unchecked = Some("two writes of 17".to_owned()));
    let failures = said(&unchecked, Level::Failure).join("\n");
    assert!(failures.contains("could not be checked: two writes of 17"), "{failures}");
    let stopped = report(|outcome| outcome.stopped = vec!["client 3: gone.".to_owned()]);
    let told = said(&stopped, Level::Warning).join("\n");
    assert!(told.contains("1 of 8 clients stopped before the end (client 3: gone)"), "{told}");
}

/// A study that shows what is lost without fsync ended as one that found a loss where none may be.
#[test]
fn losses_that_are_expected_are_a_note_and_other_anomalies_are_not() {
    let told = |kind: AnomalyKind| {
        let mut trial = trial(|outcome| outcome.anomalies = [(AnomalyKind::LostUpdate, 3), (kind, 1)].into());
        let Some(record::Setup::Register(setup)) = &mut trial.trial.setup else {
            panic!("a register's setup")
        };
        setup.expects_losses = true;
        let report = Report::of(&fixture::study("register", vec![trial]));
        [Level::Failure, Level::Note].map(|level| said(&report, level).join("\n").contains("3 lost updates"))
    };
    assert_eq!(told(AnomalyKind::StaleRead), [false, true]);
    assert_eq!(told(AnomalyKind::Fork), [true, false]);
}

#[test]
fn the_head_of_the_page_tells_outage_losses_and_what_nobody_knows() {
    use crate::lead::{Tile, Tone};
    let shown = |report: &Report| -> Vec<(String, Tone)> {
        let told = |tile: Tile| {
            (format!("{} {} {}", tile.label, tile.figure, tile.unit).trim_end().to_owned(), tile.tone)
        };
        OfRegister.tiles(report).into_iter().map(told).collect()
    };
    let whole = shown(&report(|_| {}));
    assert_eq!(whole[0], ("Longest time without an answer none".to_owned(), Tone::Good));
    assert_eq!(whole[1], ("Lost writes 0".to_owned(), Tone::Good));
    assert_eq!(whole[2], ("Writes without an answer 2".to_owned(), Tone::Plain));
    let broken = shown(&report(|outcome| {
        outcome.away = vec![away(10.0, Some(12.5)), away(20.0, Some(21.0))];
        outcome.writes.lost = 3;
    }));
    assert_eq!(broken[0], ("Longest time without an answer 2.50 s".to_owned(), Tone::Plain));
    assert_eq!(broken[1], ("Lost writes 3".to_owned(), Tone::Bad));
    // What was not read again in the end may be lost.
    assert_eq!(shown(&report(|outcome| outcome.is_audited = false))[1].1, Tone::Plain);
}

#[test]
fn lost_writes_are_said_to_be_counted_on_a_busy_machine_too_where_all_were_checked() {
    let holds = |change: fn(&mut RegisterOutcome)| OfRegister.holds_when_busy(&report(change)).is_some();
    assert!(holds(|_| {}));
    assert!(!holds(|outcome| outcome.is_audited = false));
    assert!(!holds(|outcome| outcome.unchecked = Some("two writes of 17".to_owned())));
    assert!(!holds(|outcome| outcome.anomalies = [(AnomalyKind::LostUpdate, 1)].into()));
}

/// A standby that took no writes answered reads: the head of the page said in green that nobody had waited.
#[test]
fn an_outage_of_writes_alone_is_the_longest_time_without_an_answer() {
    use crate::lead::Tone;
    let first = |writes: Vec<Away>, all: Vec<Away>| {
        let report = report(|outcome| (outcome.writes_away, outcome.away) = (writes, all));
        let tile = OfRegister.tiles(&report).remove(0);
        (format!("{} {}", tile.figure, tile.unit), tile.beside, tile.tone)
    };
    let alone = first(vec![away(20.0, Some(50.0))], Vec::new());
    assert_eq!(alone, ("30 s".to_owned(), "of writes; others were answered".to_owned(), Tone::Plain));
    let longer = first(vec![away(20.0, Some(24.5))], vec![away(20.0, Some(22.0))]);
    assert_eq!((longer.0.as_str(), longer.1.as_str()), ("4.50 s", "of writes; all operations: 2.00 s"));
    let same = first(vec![away(20.0, Some(22.001))], vec![away(20.0, Some(22.0))]);
    assert_eq!((same.0.as_str(), same.1.as_str()), ("2.00 s", "one outage"));
}

/// A trial in which nobody was answered from 20 to 23 s, and so many writes had no answer in the 21st second.
fn with_outage(
    number: u32,
    end_s: f64,
    unanswered: u64,
    change: impl FnOnce(&mut RegisterOutcome),
) -> MeasuredTrial {
    let mut trial = trial(|outcome| {
        outcome.away = vec![away(20.0, Some(end_s))];
        outcome.writes.unanswered = 2;
        change(outcome);
    });
    trial.trial.number = number;
    trial.trial.marks.push(record::Mark::silence(20_000_000_000, Some((end_s * 1e9) as u64)));
    trial.samples[20].operations.get_mut(WRITE).unwrap().errors = unanswered;
    trial
}

fn led(trials: Vec<MeasuredTrial>) -> Chart {
    crate::lead::Lead::of(&Report::of(&fixture::study("register", trials))).chart.unwrap()
}

#[test]
fn the_course_of_the_rate_leads_and_is_drawn_once() {
    let report = Report::of(&fixture::study("register", vec![with_outage(1, 23.0, 2, |_| {})]));
    let heading = "<h4>Operations per second over time";
    assert_eq!(report.html().matches(heading).count(), 1);
    let several = vec![
        with_outage(1, 21.0, 2, |_| {}),
        with_outage(2, 23.0, 2, |_| {}),
        with_outage(3, 22.0, 2, |_| {}),
    ];
    assert_eq!(led(several).heading, "Operations per second over time: trial 2, the longest outage of 3");
}

#[test]
fn writes_without_an_answer_are_marked_where_samples_tell_them() {
    let drawn = |unanswered: u64| led(vec![with_outage(1, 23.0, unanswered, |_| {})]);
    let told = drawn(2);
    assert_eq!(told.svg.matches("<circle").count(), 1, "two in one second");
    assert!(
        told.svg.contains(">unanswered</text>") && told.caption.contains("Dots: writes without an answer")
    );
    // Errors of another kind are among them.
    let unknown = drawn(5);
    assert!(!unknown.svg.contains("<circle") && !unknown.caption.contains("Dots"));
}

#[test]
fn the_moment_in_which_a_loss_was_seen_is_marked_as_long_as_the_load_went_on() {
    let drawn = |seen_s: u64| {
        led(vec![with_outage(1, 23.0, 2, |outcome| {
            let did = Did::Read { value: 16, replaced: None, at_ns: seen_s * 1_000_000_000 };
            let operations = vec![Operation { client: 1, key: 5, invoked_ns: 24_000_000_000, did }];
            outcome.anomalies = [(AnomalyKind::LostUpdate, 1)].into();
            outcome.told = vec![Anomaly { kind: AnomalyKind::LostUpdate, key: 5, operations }];
        })])
    };
    let is_marked = |chart: &Chart| chart.legend.iter().any(|key| key.text.contains("loss seen"));
    assert!(is_marked(&drawn(25)) && !is_marked(&drawn(9_000)));
}
