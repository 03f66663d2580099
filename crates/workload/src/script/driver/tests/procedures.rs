//! Scripts as procedures, on throwaway servers that have some.

use instance::TdsServer;

use super::*;

const ADD_AS_PROCEDURE: &str =
    "\\set id random(1, 10)\n\\set d 2 * 3 - 5\nBEGIN;\nUPDATE t SET n = n + :d WHERE id = :id;\nCOMMIT;\n";
const PROCEDURE: &str = "protocol = \"procedure\"\nclients = 3\nmax_tries = 1000";

/// Calls a claim for a database of each server, with the words with which a transaction begins.
fn on_each(claims: impl Fn(&Url, &str)) {
    let postgres = Postgres::start(&Options::default()).unwrap();
    let url: Url = postgres.url().parse().unwrap();
    script(&url, TABLE);
    claims(&url, "BEGIN");
    let mariadb = MariaDb::start(&Options::default()).unwrap();
    script(&mariadb.url().parse().unwrap(), "CREATE DATABASE theirs");
    let url = mariadb.url().parse::<Url>().unwrap().with_database("theirs");
    script(&url, TABLE);
    claims(&url, "BEGIN");
    if let Some(sql_server) = TdsServer::start(&[]).unwrap() {
        script(&sql_server.url().parse().unwrap(), "CREATE DATABASE theirs");
        let url = sql_server.url().parse::<Url>().unwrap().with_database("theirs");
        script(&url, TABLE);
        claims(&url, "BEGIN TRANSACTION");
    }
}

/// Names of routines like ours.
fn routines(url: &Url) -> Vec<String> {
    let asked = match url.engine().dialect() {
        Dialect::SqlServer => {
            "SELECT CAST(name AS nvarchar(200)) FROM sys.objects WHERE name LIKE 'prony[_]script%' ORDER BY name"
        }
        Dialect::Postgres => "SELECT proname::text FROM pg_proc WHERE proname LIKE 'prony%' ORDER BY 1",
        Dialect::Mysql | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => {
            "SELECT routine_name FROM information_schema.routines WHERE routine_name LIKE 'prony%' ORDER BY 1"
        }
    };
    let name = |row: Vec<Value>| row[0].text().unwrap_or_default().to_owned();
    rows(url, asked).into_iter().map(name).collect()
}

#[test]
fn a_script_is_a_procedure_that_is_called_once_a_transaction_and_dropped() {
    on_each(|url, begin| {
        let script = ADD_AS_PROCEDURE.replace("BEGIN", begin);
        let ran = ran_each(url, &[&script], PROCEDURE, &[record::script::TRANSACTION]);
        let outcome = &ran.outcome;
        assert!(outcome.stopped.is_empty() && outcome.notes.is_empty(), "{outcome:?}");
        let done = ran.count(record::script::TRANSACTION);
        assert_eq!(sum_of(url), done);
        // What a procedure does has no times of its own.
        let kinds: Vec<&String> = ran.intervals[0].operations.keys().collect();
        assert_eq!(kinds, ["transaction"]);
        assert_eq!((ran.setup.protocol.as_str(), ran.setup.scripts[0].statements.len()), ("procedure", 0));
        assert_eq!(ran.setup.scripts[0].text, script);
        assert_eq!(routines(url), Vec::<String>::new());
    });
}

/// A procedure that selects before it fails was taken for one that was done: the driver keeps the error for whoever asks next, which was
/// the question whether a transaction is open.
#[test]
fn a_row_that_changed_since_the_snapshot_of_a_procedure_is_a_conflict_that_is_tried_again() {
    let mariadb = MariaDb::start(&Options::default().setting("innodb_snapshot_isolation", "ON")).unwrap();
    script(&mariadb.url().parse().unwrap(), "CREATE DATABASE theirs");
    let url = mariadb.url().parse::<Url>().unwrap().with_database("theirs");
    script(&url, "CREATE TABLE t (id int PRIMARY KEY, n bigint NOT NULL); INSERT INTO t VALUES (1, 0)");
    let draw = "BEGIN;\nSELECT n FROM t WHERE id = 1;\nUPDATE t SET n = n + 1 WHERE id = 1;\nCOMMIT;\n";
    let retries = |ran: &[Interval]| {
        ran.iter().filter_map(|interval| interval.gauges.get(record::clients::RETRIES)).sum::<f64>()
    };
    let settings =
        "protocol = \"procedure\"\nclients = 4\nmax_tries = 1000\nwarm_up = \"0s\"\nduration = \"2m\"";
    let ran = run_until(&url, &[draw], settings, &|ran| retries(ran) > 3.0).unwrap();
    let outcome = &ran.outcome;
    assert!(outcome.stopped.is_empty() && outcome.failed == 0, "{outcome:?}");
    assert!(outcome.retries > 3, "{outcome:?}");
    assert_eq!(sum_of(&url), ran.count(record::script::TRANSACTION), "{outcome:?}");
}

/// MariaDB's own are compared as text where the row says nothing of types.
#[test]
fn values_of_a_file_reach_statements_as_what_they_are() {
    on_each(|url, _| {
        script(url, "CREATE TABLE d (at date, word varchar(20), half double precision, n bigint)");
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("values.csv");
        std::fs::write(&file, "id,at,word,half\n9007199254740993,2024-02-29,it's,0.5\n").unwrap();
        let insert = "INSERT INTO d VALUES (:at, :word, :half, :id);\n";
        let ran = ran(url, &[insert], &format!("{PROCEDURE}\nparameters = \"{}\"", file.display()));
        assert!(ran.outcome.stopped.is_empty(), "{:?}", ran.outcome);
        let same = "SELECT count(*) FROM d WHERE at = '2024-02-29' AND word = 'it''s' AND half = 0.5 AND n = 9007199254740993";
        assert!(rows_of(url, same) > 0);
        assert_eq!(rows_of(url, same), rows_of(url, "SELECT count(*) FROM d"));
    });
}

#[test]
fn what_a_killed_run_left_is_replaced_and_what_others_made_is_refused() {
    on_each(|url, begin| {
        let dialect = url.engine().dialect();
        let add = ADD_AS_PROCEDURE.replace("BEGIN", begin);
        let theirs = match dialect {
            Dialect::Postgres => "CREATE FUNCTION prony_script_1() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            Dialect::Mysql | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => {
                "CREATE PROCEDURE prony_script_1() SELECT 1"
            }
            Dialect::SqlServer => "CREATE PROCEDURE prony_script_1 AS SELECT 1",
        };
        script(url, theirs);
        let told = try_run(url, &[&add], PROCEDURE).err().unwrap().to_string();
        assert!(told.contains("`prony_script_1` exists already and was not created by prony"), "{told}");
        assert_eq!(routines(url), ["prony_script_1"]);
        // That of another script is in nobody's way, and stays.
        let drops = if dialect == Dialect::Postgres {
            "DROP FUNCTION prony_script_1"
        } else {
            "DROP PROCEDURE prony_script_1"
        };
        script(url, drops);
        script(url, &theirs.replace("script_1", "script_7"));
        let mark = crate::script::procedure::MARK;
        let left = match dialect {
            Dialect::Postgres => format!(
                "CREATE PROCEDURE prony_script_9(int) LANGUAGE sql AS ''; COMMENT ON PROCEDURE prony_script_9 IS '{mark}'"
            ),
            Dialect::Mysql | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => {
                format!("CREATE PROCEDURE prony_script_9(a int) COMMENT '{mark}' SELECT 1")
            }
            Dialect::SqlServer => {
                format!("CREATE PROCEDURE prony_script_9 @a int AS BEGIN /* {mark} */ SELECT 1 END")
            }
        };
        script(url, &left);
        let ran = ran(url, &[&add], PROCEDURE);
        assert!(ran.outcome.stopped.is_empty() && ran.outcome.notes.is_empty(), "{:?}", ran.outcome);
        assert_eq!(routines(url), ["prony_script_7"]);
    });
}

#[test]
fn a_mistake_of_a_script_is_told_with_its_place_and_leaves_no_procedure() {
    on_each(|url, begin| {
        let add = ADD_AS_PROCEDURE.replace("BEGIN", begin);
        let told = try_run(url, &[&add, "SELECT 1;\n\nSELEKT 2;\n"], PROCEDURE).err().unwrap().to_string();
        // Lines of the procedure are those of its script.
        let place = match url.engine().dialect() {
            Dialect::Mysql | Dialect::SqlServer => "at line 3",
            Dialect::Postgres | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => "SELEKT",
        };
        assert!(told.contains("b.sql") && told.contains(place), "{told}");
        assert_eq!(routines(url), Vec::<String>::new());
        // What goes wrong while it runs stops its clients, and the procedures go all the same.
        script(url, "CREATE TABLE unique_only (id int PRIMARY KEY)");
        let ran = ran(
            url,
            &["INSERT INTO unique_only VALUES (1);\nINSERT INTO unique_only VALUES (1);\n"],
            PROCEDURE,
        );
        assert_eq!(ran.outcome.stopped.len(), 3, "{:?}", ran.outcome);
        assert!(ran.outcome.stopped[0].contains("a.sql as a procedure"), "{:?}", ran.outcome.stopped);
        assert_eq!(routines(url), Vec::<String>::new());
    });
}

#[test]
fn two_runs_do_not_make_procedures_in_one_database_at_once() {
    let postgres = Postgres::start(&Options::default()).unwrap();
    let url: Url = postgres.url().parse().unwrap();
    script(&url, TABLE);
    let own = block_on(Own::make(&url, "", &claim(Existing::AsItIs))).unwrap();
    block_on(async {
        let _others = super::super::procedures::locked(&own.lease()).await.unwrap();
        let told = super::super::procedures::locked(&own.lease()).await.unwrap_err().to_string();
        assert!(told.contains("another run has procedures"), "{told}");
    });
}

/// Which of the rows of a statement is where shows that all of it was run.
#[test]
fn statements_that_give_rows_are_run_to_their_end_in_postgresql() {
    let postgres = Postgres::start(&Options::default()).unwrap();
    let url: Url = postgres.url().parse().unwrap();
    script(&url, TABLE);
    script(&url, "CREATE SEQUENCE s");
    let all = "\\set id 3\nWITH one AS (SELECT nextval('s') AS n) SELECT n FROM one;\nSELECT nextval('s') FROM t WHERE id <= :id;\n\
        UPDATE t SET n = n + 1 WHERE id = :id RETURNING n;\nVALUES (nextval('s'));\n(SELECT nextval('s'));\nSELECT :id;\n";
    let ran = ran(&url, &[all], "protocol = \"procedure\"");
    assert!(ran.outcome.stopped.is_empty(), "{:?}", ran.outcome);
    let done = ran.count("transaction");
    assert_eq!(rows_of(&url, "SELECT n FROM t WHERE id = 3"), done);
    assert_eq!(rows_of(&url, "SELECT last_value FROM s"), done * 6);
}
