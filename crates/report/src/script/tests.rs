//! What is said of scripts, of trials made by hand.

use record::script::TRANSACTION;
use record::{
    CodedErrors, LeftOut, Loop, MeasuredTrial, Outage, ReplayInUse, ReplayOutcome, ScriptInUse,
    ScriptOutcome, ScriptSetup, Server, Setup, ShapeInUse, StatementInUse, Workload,
};

use super::*;
use crate::fixture::{self, Sold};
use crate::lead::Tone;
use crate::verdict::Level;

fn setup(trial: &MeasuredTrial) -> ScriptSetup {
    let server: Server = trial.trial.setup.as_ref().unwrap().orders().unwrap().targets[0].server.clone();
    let statement = |line: usize, begins: &str| StatementInUse {
        kind: format!("a.sql:{line}"),
        begins: begins.to_owned(),
    };
    ScriptSetup {
        target: "postgres://me@db-1/mydb".to_owned(),
        engine: "postgres".to_owned(),
        database: "mydb".to_owned(),
        server,
        pacing: Loop::Closed { think_time_us: 0.0 },
        clients: 8,
        ramp_rate_per_s: 1e8,
        latency_limit_ms: None,
        protocol: "prepared".to_owned(),
        tries: 1,
        parameters: None,
        defined: vec!["scale=10".to_owned()],
        scripts: vec![ScriptInUse {
            name: "a.sql".to_owned(),
            weight: 1,
            text: "SELECT 1;\nUPDATE t SET n = :scale;\n".to_owned(),
            kind: None,
            statements: vec![statement(1, "SELECT 1"), statement(2, "UPDATE t SET n = :scale")],
        }],
        replay: None,
        scale: None,
        seed: 42,
    }
}

/// A trial of a script with two statements.
fn trial(change: impl FnOnce(&mut ScriptSetup, &mut ScriptOutcome)) -> MeasuredTrial {
    let mut trial = Sold::at("a.sql, 8 clients", &[100.0]).trial(1);
    let names = [("order", TRANSACTION), ("login", "a.sql:1"), ("purchase", "a.sql:2")];
    for sample in &mut trial.samples {
        let mut of = std::mem::take(&mut sample.operations);
        sample.operations =
            names.iter().map(|(old, new)| ((*new).to_owned(), of.remove(*old).unwrap())).collect();
    }
    let mut of = std::mem::take(&mut trial.measured);
    trial.measured = names.iter().map(|(old, new)| ((*new).to_owned(), of.remove(*old).unwrap())).collect();
    let mut setup = setup(&trial);
    let mut outcome =
        ScriptOutcome { transactions_by_client: vec![740, 750, 760], ..ScriptOutcome::default() };
    change(&mut setup, &mut outcome);
    trial.trial.workload = Workload::Script;
    trial.trial.main = Workload::Script.main();
    trial.trial.setup = Some(Setup::Script(Box::new(setup)));
    trial.trial.outcome = Some(outcome.into());
    trial
}

pub(crate) fn report(change: impl FnOnce(&mut ScriptSetup, &mut ScriptOutcome)) -> Report {
    Report::of(&fixture::study("script", vec![trial(change)]))
}

fn said(report: &Report, level: Level) -> Vec<String> {
    let of = |verdict: &&Verdict| verdict.level == level;
    report.verdicts.iter().filter(of).map(|verdict| verdict.sentence().clone()).collect()
}

#[test]
fn a_rate_is_told_with_its_latency_and_what_failed() {
    let report = report(|_, outcome| outcome.failed = 3);
    let found = said(&report, Level::Finding);
    let rate = found.iter().find(|sentence| sentence.contains("transactions/s")).unwrap();
    for part in ["a.sql, 8 clients: ", "p99 ", "3 failed"] {
        assert!(rate.contains(part), "{part} in {rate}");
    }
    let script = report.trials[0].script().unwrap();
    assert!((script.per_s.unwrap() - 100.0).abs() < 2.0, "{:?}", script.per_s);
    assert!((script.client_variability.unwrap() - 20.0 / 760.0).abs() < 1e-9);
    assert!(answers(&report)[0].text.contains("transactions/s with 8 clients"), "{:?}", answers(&report));
}

#[test]
fn what_was_late_is_told_with_its_limit_and_is_a_metric() {
    let report = report(|setup, outcome| {
        setup.latency_limit_ms = Some(50.0);
        (outcome.late, outcome.skipped) = (30, 10);
    });
    let found = said(&report, Level::Finding).join("\n");
    assert!(found.contains("later than 50.0 ms") && found.contains("not sent"), "{found}");
    let late = report.trials[0].script().unwrap().late.clone().unwrap();
    let transactions = report.trials[0].script().unwrap().transactions as f64;
    assert!((late.share.unwrap() - 40.0 / (transactions + 10.0)).abs() < 1e-9, "{late:?}");
    let (_, late_pct) = OfScript.metrics().iter().find(|(name, _)| *name == "late_pct").unwrap();
    assert_eq!(late_pct(&report.trials[0]), Some(late.share.unwrap() * 100.0));
    let without = self::report(|_, _| {});
    assert!(without.trials[0].script().unwrap().late.is_none());
}

#[test]
fn each_statement_stands_with_its_first_words() {
    let table = table::statements(&report(|_, _| {})).unwrap();
    let cells: Vec<[&str; 2]> =
        table.rows.iter().map(|row| [row.cells[1].as_str(), row.cells[2].as_str()]).collect();
    assert_eq!(cells, [[TRANSACTION, ""], ["a.sql:1", "SELECT 1"], ["a.sql:2", "UPDATE t SET n = :scale"]]);
}

#[test]
fn statements_stand_in_the_order_of_their_lines() {
    let mut trial = trial(|_, _| {});
    let tenth = trial.measured["a.sql:1"].clone();
    trial.measured.insert("a.sql:10".to_owned(), tenth.clone());
    for sample in &mut trial.samples {
        let of = sample.operations["a.sql:1"].clone();
        sample.operations.insert("a.sql:10".to_owned(), of);
    }
    let report = Report::of(&fixture::study("script", vec![trial]));
    let kinds: Vec<&str> = report.trials[0].figures.iter().map(|figures| figures.kind.as_str()).collect();
    assert_eq!(kinds, [TRANSACTION, "a.sql:1", "a.sql:2", "a.sql:10"]);
}

#[test]
fn the_text_of_a_script_is_among_its_facts() {
    let report = report(|setup, _| {
        let other = ScriptInUse { name: "b.sql".to_owned(), weight: 3, ..setup.scripts[0].clone() };
        setup.scripts.push(other);
    });
    let facts = facts::facts(&report.trials[0].script().unwrap().setup);
    let of = |name: &str| facts.iter().find(|(other, _)| other.starts_with(name)).unwrap();
    assert_eq!(of("script a.sql").0, "script a.sql (25% of the transactions)");
    assert!(of("script b.sql").1.ends_with("UPDATE t SET n = :scale;"));
    assert_eq!(of("defined variables").1, "scale=10");
}

#[test]
fn what_went_wrong_is_told_with_the_first_of_it() {
    let report = report(|_, outcome| {
        (outcome.unmet, outcome.failed) = (2, 5);
        outcome.first_unmet = Some("a.sql:2: rows = 1 was expected, and 0 came".to_owned());
        outcome.first_failure = Some("deadlock detected".to_owned());
        outcome.stopped = vec!["client 3: gone".to_owned()];
        outcome.outages =
            vec![Outage { start_s: 3.0, end_s: Some(4.5), attempts: 3, error: "reset".to_owned() }];
        outcome.unanswered = 4;
    });
    let failures = said(&report, Level::Failure);
    assert!(
        failures
            .iter()
            .any(|one| one.contains("expectations of the scripts failed 2 times (a.sql:2: rows = 1")),
        "{failures:?}"
    );
    let warnings = said(&report, Level::Warning).join("\n");
    for part in [
        "5 transactions failed (",
        "deadlock detected",
        "1 of 8 clients stopped",
        "the outcome of 4 transactions is unknown",
    ] {
        assert!(warnings.contains(part), "{part} in {warnings}");
    }
}

#[test]
fn balances_are_told_whether_they_agree_or_not() {
    let balances = Some(Balances { accounts: 1_234, tellers: -5, branches: -5, history: 1_234 });
    let agreeing = report(|_, outcome| outcome.balances = balances);
    let notes = said(&agreeing, Level::Note).join("\n");
    assert!(notes.contains("history changed by 1,234 each, tellers and branches by −5 each"), "{notes}");
    let same = Some(Balances { accounts: 7, tellers: 7, branches: 7, history: 7 });
    let notes = said(&report(|_, outcome| outcome.balances = same), Level::Note).join("\n");
    assert!(notes.contains("accounts, tellers, branches and history changed by 7 each"), "{notes}");
    let other = report(|_, outcome| {
        outcome.balances = balances;
        outcome.disagreement = Some("balances differ: …".to_owned());
    });
    assert!(said(&other, Level::Failure).iter().any(|one| one.contains("balances differ")));
    assert!(!said(&other, Level::Note).iter().any(|one| one.contains("balances agree")));
}

#[test]
fn many_retries_are_locks() {
    let report = report(|_, outcome| outcome.retries = 3_000);
    let limit = OfScript.waits(&report.trials[0]).unwrap();
    assert!(format!("{limit:?}").contains("\"locks\""), "{limit:?}");
}

fn log() -> ReplayInUse {
    let left = |why: &str, count, is_loss| LeftOut { why: why.to_owned(), count, first_line: 7, is_loss };
    let shape = |kind: &str, shape: &str| ShapeInUse {
        kind: kind.to_owned(),
        shape: shape.to_owned(),
        statements: 50,
    };
    ReplayInUse {
        file: "busy.csv".to_owned(),
        format: "postgres-csv".to_owned(),
        is_recognised: true,
        speed: 2.0,
        only_database: None,
        on_error: "count".to_owned(),
        whole_seconds: true,
        lines: 130,
        entries: 120,
        statements: 100,
        transactions: 90,
        sessions: 12,
        log_s: 20.0,
        left_out: vec![
            left("messages of the server that are not statements", 15, false),
            left("COPY, because its data are not in the log", 5, true),
        ],
        databases: [("shop".to_owned(), 99), ("other".to_owned(), 1)].into(),
        backwards: 2,
        first_backwards: Some(44),
        shapes: vec![shape("a.sql:1", "SELECT ?"), shape("a.sql:2", "UPDATE t SET n = ?")],
        other_shapes: [0, 0],
    }
}

/// A report of a trial that replayed it.
fn replayed() -> Report {
    let errors =
        |code: &str, count| CodedErrors { code: code.to_owned(), count, first: format!("said {code}") };
    report(|setup, outcome| {
        setup.scripts.clear();
        setup.replay = Some(log());
        outcome.first_failure = Some("said 23505".to_owned());
        outcome.replay = Some(ReplayOutcome {
            answered: 90,
            failed: 7,
            unanswered: 1,
            unsent: 2,
            not_due: 0,
            cut_transactions: 1,
            errors: vec![errors("23505", 4), errors("42P01", 3)],
            lag_ms_max: 250.0,
            sessions_late: 3,
        });
    })
}

#[test]
fn a_replay_tells_what_was_read_what_is_left_out_and_what_failed() {
    let report = replayed();
    let notes = said(&report, Level::Note).join("\n");
    for part in [
        "100 statements of 120 entries of the log are sent at 2 times the pace of the log: 90 transactions of 12 sessions (postgres-csv, detected)",
        "3 of 12 sessions sent a statement more than 100 ms late (at most 250",
        "one transaction was open at the end of the load, and rolled back with its connection",
    ] {
        assert!(notes.contains(part), "{part} in {notes}");
    }
    let warnings = said(&report, Level::Warning).join("\n");
    for part in [
        "the replay skips 5 entries of the log: 5 COPY, because its data are not in the log (line 7)",
        "go backwards 2 times (first in line 44)",
        "7 of 100 statements failed: 4 with 23505 (said 23505), 3 with 42P01 (said 42P01)",
        "2 of 100 statements were never sent",
        "the statements of 2 databases (other, shop) all go to one database. Replay the statements of one database with ",
    ] {
        assert!(warnings.contains(part), "{part} in {warnings}");
    }
    assert!(!warnings.contains("given up") && !warnings.contains("messages of the server"), "{warnings}");
}

#[test]
fn tables_of_a_replay_account_for_all_entries_and_name_shapes() {
    let report = replayed();
    let rows = replay::table(&report).unwrap().rows;
    let of: Vec<(&str, &str)> =
        rows.iter().map(|row| (row.cells[1].as_str(), row.cells[2].as_str())).collect();
    assert_eq!(of[0], ("entries in 130 lines", "120"));
    assert!(of.contains(&("failed with 42P01", "3")) && of.contains(&("never sent", "2")), "{of:?}");
    // Entries are what is left out and what is to be sent, and that is what became of it.
    let number = |begin: &str| -> u64 {
        of.iter()
            .filter(|(what, _)| what.starts_with(begin))
            .map(|(_, count)| count.parse::<u64>().unwrap())
            .sum()
    };
    assert_eq!(number("entries"), number("left out") + number("statements to be sent"));
    assert_eq!(
        number("statements to be sent"),
        number("answered") + number("failed") + number("without") + number("never")
    );
    let statements = table::statements(&report).unwrap();
    assert_eq!(statements.rows[1].cells[2], "SELECT ?");
    let facts = facts::facts(&report.trials[0].script().unwrap().setup);
    let of = |name: &str| facts.iter().find(|(other, _)| other == name).unwrap().1.as_str();
    assert_eq!(of("loop"), "open loop, at 2 times the pace of the log");
    assert_eq!(
        (of("format of the log"), of("databases of its statements")),
        ("postgres-csv, detected", "other (1), shop (99)")
    );
}

/// A log with quiet seconds was called noisy and stalled.
#[test]
fn seconds_of_a_log_that_differ_are_no_noise() {
    assert!(OfScript.by_chance(&report(|_, _| {}).trials[0]).is_some());
    let replayed = &replayed().trials[0];
    assert_eq!((OfScript.answers_per_s(replayed), OfScript.by_chance(replayed).is_none()), (None, true));
    // More clients are not to be had: the log has the sessions.
    let remedy = OfScript.late_remedy(replayed).unwrap();
    assert!(remedy.contains("replay it slower") && !remedy.contains("clients"), "{remedy}");
}

/// Statements within a procedure have no times, which is said.
#[test]
fn procedures_are_told_as_such_and_have_no_statements() {
    let report = report(|setup, _| {
        setup.protocol = "procedure".to_owned();
        setup.scripts[0].statements.clear();
    });
    let facts = facts::facts(&report.trials[0].script().unwrap().setup);
    let sent = &facts.iter().find(|(name, _)| name == "statements are sent").unwrap().1;
    assert!(sent.contains("one call per transaction") && sent.contains("no separate times"), "{sent}");
}

/// The first screen of a mistake in a script said that nothing was measured, and not why.
#[test]
fn the_first_screen_of_a_load_that_does_not_count_says_why() {
    let mut invalid =
        trial(|_, outcome| outcome.stopped = vec!["client 1: a.sql:2: no such table".to_owned()]);
    invalid.trial.state = State::Invalid;
    invalid.trial.reason =
        Some("a client stopped before the end: client 1: a.sql:2: no such table".to_owned());
    let screen = Report::of(&fixture::study("script", vec![invalid])).brief(Some(80));
    let screen = screen.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        screen.contains("invalid: a client stopped before the end: client 1: a.sql:2: no such table"),
        "{screen}"
    );
    assert!(!screen.contains("nothing was measured"), "{screen}");
    assert!(screen.contains("Next fix the cause"), "{screen}");
}

#[test]
fn the_head_has_the_rate_and_what_failed_or_was_late() {
    let told = |limit_ms: Option<f64>, failed: u64| {
        let trial = trial(|setup, outcome| {
            setup.latency_limit_ms = limit_ms;
            (outcome.failed, outcome.late, outcome.skipped) = (failed, 3, 4);
        });
        let report = Report::of(&fixture::study("script", vec![trial]));
        assert!(lead::chart(&report).unwrap().heading.starts_with("Transactions per second and latency"));
        lead::tiles(&report).into_iter().map(|tile| (tile.label, tile.figure, tile.tone)).collect::<Vec<_>>()
    };
    let plain = told(None, 0);
    assert_eq!(plain.len(), 3);
    assert_eq!(plain[2], ("Failed transactions".to_owned(), "0".to_owned(), Tone::Plain));
    let limited = told(Some(20.0), 5);
    assert_eq!(limited[2], ("Failed transactions".to_owned(), "5".to_owned(), Tone::Bad));
    assert_eq!(limited[3], ("Late transactions".to_owned(), "7".to_owned(), Tone::Bad));
}
