//! What is said of kinds of tables, of trials made by hand.

use record::{Killed, Loop, TablesOutcome};

use super::*;
use crate::fixture::{self, At, Designed, Sold};
use crate::verdict::Level;

mod head;

fn setup(trial: &MeasuredTrial, kind: &str) -> TablesSetup {
    let server: Server = trial.trial.setup.as_ref().unwrap().orders().unwrap().targets[0].server.clone();
    TablesSetup {
        target: "postgres://me@db-1".to_owned(),
        engine: "postgres".to_owned(),
        database: "prony_tables".to_owned(),
        server,
        kind: kind.to_owned(),
        made: format!("CREATE a {kind} TABLE"),
        access: "prepared".to_owned(),
        rows: 1_000,
        batch_rows: 1_000,
        point_deletes: 10,
        clients: 8,
        lacks: vec!["PostgreSQL has no columnstore tables".to_owned()],
        pacing: Loop::Closed { think_time_us: 0.0 },
        seed: 42,
        data_seed: Some(42),
    }
}

/// A trial in which whole operations take so many seconds.
fn trial(number: u32, kind: &str, seconds: f64, change: impl FnOnce(&mut TablesOutcome)) -> MeasuredTrial {
    trial_at(number, kind, (seconds, 100.0), change)
}

/// The same with a rate of updates by key.
fn trial_at(
    number: u32,
    kind: &str,
    (seconds, updates_per_s): (f64, f64),
    change: impl FnOnce(&mut TablesOutcome),
) -> MeasuredTrial {
    let mut trial = Sold::at(&format!("{kind} table"), &[updates_per_s]).trial(number);
    for sample in &mut trial.samples {
        let of = sample.operations.remove("order").unwrap();
        sample.operations = [(POINT_UPDATE.to_owned(), of)].into();
    }
    let of = trial.measured.remove("order").unwrap();
    trial.measured = [(POINT_UPDATE.to_owned(), of)].into();
    let setup = setup(&trial, kind);
    let timed = |operation| TimedOperation { operation, count: 5, rows: 1_000, seconds };
    let mut outcome = TablesOutcome {
        operations: TableOperation::ALL.map(timed).to_vec(),
        size: TableSize { disk_bytes: Some((seconds * 1e6) as u64), memory_bytes: None },
        ..TablesOutcome::default()
    };
    change(&mut outcome);
    trial.trial.workload = Workload::Tables;
    trial.trial.main = Workload::Tables.main();
    trial.trial.setup = Some(Setup::Tables(Box::new(setup)));
    trial.trial.outcome = Some(outcome.into());
    trial
}

pub(crate) fn report(change: impl FnOnce(&mut TablesOutcome)) -> Report {
    let trials = vec![trial(1, "row", 2.0, |_| {}), trial(2, "volatile", 0.5, change)];
    Report::of(&fixture::study("tables", trials))
}

/// Rows on disk, and a faster kind that lost changes in a crash.
pub(crate) fn pictured() -> Report {
    let kinds =
        [("row", 2.0, 200.0, crash(true, 0, 1_500)), ("volatile", 0.5, 800.0, crash(false, 70, 1_480))];
    let trials = (1..).zip(kinds).map(|(number, (kind, seconds, updates_per_s, survival))| {
        let mut trial = trial_at(number, kind, (seconds, updates_per_s), |outcome| {
            for of in &mut outcome.operations {
                of.count = (updates_per_s * seconds) as u64;
            }
            outcome.survival = Some(survival);
        });
        let Some(Setup::Tables(setup)) = &mut trial.trial.setup else { panic!("a table") };
        setup.server.is_durable = kind == "row";
        trial
    });
    let mut study = fixture::study("tables", trials.collect());
    (study.manifest.title, study.manifest.slug) = ("Tables".to_owned(), "tables".to_owned());
    study.manifest.command = ["prony", "tables", "--managed", "postgres"].map(str::to_owned).into();
    Report::of(&study)
}

fn said(report: &Report, level: Level) -> String {
    let of = |verdict: &&Verdict| verdict.level == level;
    let said = report.verdicts.iter().filter(of).map(|verdict| verdict.sentence().clone());
    said.collect::<Vec<String>>().join("\n")
}

/// Four kinds of tables once had four cards of twelve lines. Figures from the tables are now printed only if there is a single kind.
#[test]
fn a_kind_alone_is_told_in_full_and_several_kinds_in_short() {
    let told = said(&report(|_| {}), Level::Finding);
    let volatile = told.lines().find(|line| line.starts_with("volatile table: ")).unwrap();
    assert!(volatile.contains("updates/s by key (") && volatile.contains("p99"), "{volatile}");
    assert!(!volatile.contains("load") && !volatile.contains("CREATE"), "{volatile}");
    let alone = Report::of(&fixture::study("tables", vec![trial(1, "volatile", 0.5, |_| {})]));
    let told = said(&alone, Level::Finding);
    for part in [
        "updates/s by key",
        "load 500 ms",
        "UPDATE all 500 ms",
        "on disk",
        "created with CREATE a volatile TABLE",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[test]
fn the_table_sets_each_kind_against_rows_on_disk() {
    let report = report(|_| {});
    let table = table::operations(&report).unwrap();
    let cells = |row: usize, head: &str| {
        let column = table.columns.iter().position(|column| column.head == head).unwrap();
        table.rows[row].cells[column].clone()
    };
    assert_eq!([cells(0, "kind"), cells(1, "kind")], ["row", "volatile"]);
    assert_eq!([cells(0, "load"), cells(1, "load")], ["2.00 s", "500 ms (×4.0)"]);
    // Of several SELECTs the mean; five in half a second are ten a second.
    assert_eq!(cells(1, "SELECT"), "100 ms (×4.0)");
    assert_eq!(cells(1, "updates/s"), "10.0 (×4.0)");
    assert!(cells(1, "on disk").ends_with("(×4.0)"), "{}", cells(1, "on disk"));
    let made = table::made(&report).unwrap();
    assert_eq!(made.rows[1].cells[2], "CREATE a volatile TABLE");
}

/// The first screen said that updates by key were ×4.3, and the table ×4.20: one was the ratio of means, the other the mean of ratios.
#[test]
fn a_factor_of_several_blocks_is_that_of_the_comparison() {
    let at = |number, block, kind: &str, seconds| {
        let mut trial = trial(number, kind, seconds, |_| {});
        trial.trial.block = block;
        trial
    };
    let trials = vec![
        at(1, 1, "row", 4.0),
        at(2, 1, "volatile", 1.0),
        at(3, 2, "row", 1.0),
        at(4, 2, "volatile", 1.0),
    ];
    let table = table::operations(&Report::of(&fixture::study("tables", trials))).unwrap();
    let load = table.columns.iter().position(|column| column.head == "load").unwrap();
    assert_eq!(table.rows[1].cells[load], "1.00 s (×2.0)", "of 4 and 1, and not of means 2.5");
}

/// Who takes such a kind knows it; of rows on disk it is a doubt.
#[test]
fn that_commits_may_be_lost_is_a_finding_of_the_kinds_that_are_so() {
    let lost = |kind: &str| {
        let mut trial = trial(1, kind, 1.0, |_| {});
        let Some(Setup::Tables(setup)) = &mut trial.trial.setup else { panic!("a table") };
        (setup.server.is_durable, setup.server.durability) = (false, "ends with the program".to_owned());
        Report::of(&fixture::study("tables", vec![trial]))
    };
    let told = |report: &Report| report.verdicts.iter().any(|verdict| verdict.rule == "server_not_durable");
    assert!(!told(&lost("volatile")) && told(&lost("row")));
    assert!(said(&lost("volatile"), Level::Finding).contains("not durable: ends with the program"));
}

/// Rows of another level are beside the point, also where only a server's setting differs.
#[test]
fn each_level_of_another_axis_has_a_reference_of_its_own() {
    let at = |number, kind: &str, seconds, sync: &str| {
        let mut trial = trial(number, kind, seconds, |_| {});
        trial.trial.name = format!("{kind} {sync}");
        trial.trial.levels =
            [("kind".to_owned(), kind.to_owned()), ("sync".to_owned(), sync.to_owned())].into();
        trial
    };
    let trials = vec![at(1, "row", 2.0, "on"), at(2, "row", 0.25, "off"), at(3, "volatile", 0.5, "off")];
    let table = table::operations(&Report::of(&fixture::study("tables", trials))).unwrap();
    let load = table.columns.iter().position(|column| column.head == "load").unwrap();
    let loads: Vec<&str> = table.rows.iter().map(|row| row.cells[load].as_str()).collect();
    assert_eq!(loads.iter().filter(|load| load.contains('×')).count(), 1, "{loads:?}");
    assert!(loads.contains(&"500 ms (×0.50)"), "{loads:?}");
}

#[test]
fn other_rows_are_no_reference() {
    let mut other = trial(2, "volatile", 0.5, |_| {});
    let Some(Setup::Tables(setup)) = &mut other.trial.setup else { panic!("a table") };
    setup.rows = 2_000;
    let report = Report::of(&fixture::study("tables", vec![trial(1, "row", 2.0, |_| {}), other]));
    let table = table::operations(&report).unwrap();
    assert!(table.rows.iter().all(|row| row.cells.iter().all(|cell| !cell.contains('×'))));
}

#[test]
fn what_went_wrong_is_told_and_what_an_engine_lacks_once() {
    let report = report(|outcome| {
        outcome.wrong = Some("the scan answered [1], and the rows give [2]".to_owned());
        outcome.stopped = vec!["client 3: gone".to_owned()];
        outcome.outages =
            vec![Outage { start_s: 3.0, end_s: Some(4.5), attempts: 3, error: "reset".to_owned() }];
        outcome.unanswered = 4;
    });
    assert!(said(&report, Level::Failure).contains("(volatile table): the scan answered [1]"));
    let warnings = said(&report, Level::Warning);
    for part in ["1 of 8 clients stopped", "the outcome of 4 updates is unknown"] {
        assert!(warnings.contains(part), "{part} in {warnings}");
    }
    let notes = said(&report, Level::Note);
    assert_eq!(notes.matches("PostgreSQL has no columnstore tables").count(), 1, "{notes}");
}

fn crash(is_durable: bool, lost: u64, rows_after: u64) -> Survival {
    Survival::Tried(Crash {
        killed: Killed::Server,
        clients: 8,
        is_durable,
        rows_before: 1_500,
        rows_after,
        acknowledged: 1_000,
        lost,
        lost_oldest_s: (lost > 0).then_some(0.25),
        unanswered_there: 3,
        unanswered_gone: 5,
        back_s: 1.5,
        wrong: None,
    })
}

#[test]
fn what_survived_a_kill_is_told_of_each_kind_in_its_words() {
    let told = |survival: Survival, level| {
        let report = report(|outcome| outcome.survival = Some(survival));
        (said(&report, level), survival::table(&report))
    };
    let (all, table) = told(crash(true, 0, 1_503), Level::Finding);
    assert!(all.contains(
        "all rows were found, and all 1,000 acknowledged changes; of 8 changes without an answer, 3"
    ));
    let table = table.unwrap();
    assert_eq!(table.rows.len(), 1);
    assert_eq!(
        table.rows[0].cells[..8],
        ["volatile", "server", "yes", "1,500", "1,503", "1,000", "1,000", "0"]
    );
    let (kernel, _) = told(crash(false, 0, 1_500), Level::Finding);
    assert!(kernel.contains("a killed process, not a power loss"), "{kernel}");
    let (none, _) = told(crash(false, 1_000, 0), Level::Finding);
    assert!(
        none.contains("1,500 of 1,500 rows were missing, and none of 1,000 acknowledged changes"),
        "{none}"
    );
    assert!(none.contains("the table does not promise more") && !none.contains("or later"), "{none}");
    let (late, _) = told(crash(false, 10, 1_490), Level::Finding);
    assert!(
        late.contains("990 of 1,000 acknowledged changes; the lost ones were acknowledged at most 250 ms"),
        "{late}"
    );
    let (broken, _) = told(crash(true, 1, 1_499), Level::Failure);
    assert!(broken.contains("its commits should be durable"), "{broken}");
    let why = Survival::NotTried("prony kills only servers that it started".to_owned());
    let (not_tried, table) = told(why, Level::Note);
    assert!(
        not_tried.contains("was not tested: prony kills only servers that it started") && table.is_none(),
        "{not_tried}"
    );
}

#[test]
fn many_retries_are_locks() {
    let report = report(|outcome| outcome.retries = 3_000);
    let limit = OfTables.waits(&report.trials[1]).unwrap();
    assert!(format!("{limit:?}").contains("\"locks\""), "{limit:?}");
}

/// A study of kinds whose operations take so many seconds.
fn compared(
    blocks: u32,
    seconds: impl Fn(&At) -> f64,
    survival: impl Fn(&str) -> Option<Survival>,
) -> Report {
    let kinds =
        Designed::blocks(blocks).axis("kind", &["row", "volatile"], "row").metric("point_updates_per_s");
    Report::of(&kinds.study(|at| {
        let kind = at.level("kind").to_owned();
        let mut trial = at.placed(trial(at.number, &kind, seconds(at), |of| of.survival = survival(&kind)));
        let Some(Setup::Tables(setup)) = &mut trial.trial.setup else { panic!("a table") };
        setup.server.is_durable = kind == "row";
        Some(trial)
    }))
}

/// Only what the reference took was told first, and nothing of what another kind gives: one had to look for the answer.
#[test]
fn what_each_kind_gives_against_the_reference_is_told_first() {
    let seconds = |at: &At| if at.level("kind") == "row" { 2.0 } else { 0.1 };
    let survival =
        |kind: &str| Some(if kind == "row" { crash(true, 0, 1_500) } else { crash(false, 1_000, 0) });
    let told = compared(1, seconds, survival).brief(None);
    let told = told.split_whitespace().collect::<Vec<&str>>().join(" ");
    for part in [
        "row 2.50 updates/s by key, UPDATE all 2.00 s, DELETE all 2.00 s, SELECT 400 ms, GROUP BY 2.00 s, durable. Below, ×2 is \
         twice as fast",
        "volatile updates by key ×20, UPDATE all ×20, DELETE all ×20, SELECT ×20, GROUP BY ×20, not durable (kill -9 lost all)",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[test]
fn what_chance_makes_is_no_answer() {
    let answers = plain::answers(&compared(6, |at| at.noise(0.2), |_| None));
    assert_eq!(
        answers[1].sentence(),
        "volatile: no relevant difference in updates by key, UPDATE all, DELETE all, SELECT, GROUP BY, not durable"
    );
    assert!(answers[0].text.contains(", durable (not tested)"), "{answers:?}");
}

#[test]
fn one_kind_alone_is_told_in_full_and_against_nothing() {
    let alone = Report::of(&fixture::study("tables", vec![trial(1, "volatile", 0.5, |_| {})]));
    assert!(plain::answers(&alone).is_empty());
    let told = alone.brief(None);
    let told = told.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(told.contains("created with CREATE a volatile TABLE"), "{told}");
}

/// Two rows of a study were both called volatile, and nothing said which of them was by procedures.
#[test]
fn named_configurations_of_one_kind_are_told_apart_by_their_access() {
    let configurations =
        Designed::blocks(1).configurations(&["on disk", "in memory", "in memory, procedures"]);
    let report = Report::of(&configurations.metric("update_all_s").study(|at| {
        let (kind, seconds) = if at.configuration == "on disk" { ("row", 2.0) } else { ("volatile", 0.5) };
        let mut trial =
            at.placed(trial(at.number, kind, seconds, |of| of.survival = Some(crash(true, 0, 1_500))));
        let Some(Setup::Tables(setup)) = &mut trial.trial.setup else { panic!("a table") };
        if at.configuration.ends_with("procedures") {
            setup.access = "procedure".to_owned();
        }
        Some(trial)
    }));
    for table in [table::operations(&report).unwrap(), survival::table(&report).unwrap()] {
        let names: Vec<&[String]> = table.rows.iter().map(|row| &row.cells[..2]).collect();
        assert_eq!(names, [["row", "prepared"], ["volatile", "prepared"], ["volatile", "procedure"]]);
    }
    let answers = plain::answers(&report);
    assert!(answers[2].sentence().starts_with("in memory, procedures: updates by key ×4.0, "), "{answers:?}");
}

#[test]
fn what_survived_stands_in_the_order_of_the_kinds() {
    let survived = |of: &mut TablesOutcome| of.survival = Some(crash(true, 0, 1_500));
    let trials = vec![
        trial(1, "volatile", 0.5, survived),
        trial(2, "row", 2.0, survived),
        trial(3, "volatile", 0.5, survived),
    ];
    let table = survival::table(&Report::of(&fixture::study("tables", trials))).unwrap();
    let kinds: Vec<&str> = table.rows.iter().map(|row| row.cells[0].as_str()).collect();
    assert_eq!(kinds, ["volatile", "volatile", "row"]);
}

/// Each trial once drew a seed of its own, so that kinds were compared over different rows.
#[test]
fn kinds_are_compared_by_the_checksums_of_their_rows() {
    let checksum = |sum: &str| Some(RowsChecksum { rows: 1_000, sum: sum.to_owned() });
    let of = |second: &str| {
        let first = trial(1, "row", 2.0, |outcome| outcome.checksum = checksum("00000000000000aa"));
        let second = trial(2, "volatile", 0.5, |outcome| outcome.checksum = checksum(second));
        Report::of(&fixture::study("tables", vec![first, second]))
    };
    let same = of("00000000000000aa");
    let told = said(&same, Level::Note);
    let expected = "all 2 tables had the same 1,000 rows after loading (row, volatile): each has the checksum \
                    00000000000000aa";
    assert!(told.contains(expected), "{told}");
    assert!(!same.has_different_rows());
    let different = of("00000000000000bb");
    let told = said(&different, Level::Failure);
    let expected =
        "row 00000000000000aa on postgres, volatile 00000000000000bb on postgres. Do not compare their times";
    assert!(different.has_different_rows() && told.contains(expected), "{told}");
    assert!(!report(|_| {}).has_different_rows(), "results of before have no checksums");
}

/// Two runs, such as one on PostgreSQL and one on MariaDB.
#[test]
fn runs_over_different_rows_are_not_compared() {
    let run = |sum: &str| {
        let checksum = Some(RowsChecksum { rows: 1_000, sum: sum.to_owned() });
        fixture::study("tables", vec![trial(1, "row", 2.0, |outcome| outcome.checksum = checksum)])
    };
    let compared = |one: &str, other: &str| {
        let (one, other) = (run(one), run(other));
        let studies = [("postgres".to_owned(), &one), ("mariadb".to_owned(), &other)];
        let compare = crate::Compare::of(&studies, None, None);
        let workload = compare.against[0].combinations[0].workload.clone();
        workload.into_iter().map(|found| found.what).collect::<Vec<String>>()
    };
    assert_eq!(compared("aa", "bb"), ["checksum of the rows"]);
    assert_eq!(compared("aa", "aa"), [""; 0]);
}

/// The outcome of each kind of table was once a separate paragraph.
#[test]
fn what_a_kill_left_of_several_kinds_is_one_finding() {
    let survival = |kind: &str| {
        Some(match kind {
            "row" => crash(true, 0, 1_500),
            _ => crash(false, 10, 1_490),
        })
    };
    let told = said(&compared(1, |_| 1.0, survival), Level::Finding);
    let expected = "kill -9 of the server: row kept all rows and all acknowledged changes; volatile kept 990 of 1,000 acknowledged \
                    changes (the lost ones were acknowledged at most 250 ms before the kill)";
    assert_eq!(told.matches("kill -9").count(), 1, "{told}");
    assert!(told.contains(expected), "{told}");
    let broken = compared(1, |_| 1.0, |_| Some(crash(true, 10, 1_490)));
    assert_eq!(said(&broken, Level::Failure).matches("its commits should be durable").count(), 2);
    assert_eq!(said(&broken, Level::Finding).matches("kill -9").count(), 0);
}
