//! The T-SQL of the workloads, read as far as that can be done without a server: each batch of each text.
//!
//! A text passes if its words are those of the language as its reference spells them (`words`), or names that our own scripts make
//! (`schema`), or columns that the server's views are documented to have; if what is said of a table's columns is true of that table; and if
//! nothing of another dialect is in it. What a statement does is not known here: a server that speaks T-SQL is for that.

mod checks;
mod scan;
mod schema;
mod words;

use database::batches;

use checks::Checks;
use scan::{Token, tokens};
use schema::Schema;

/// What is put in for what stands in braces, as the code does.
const FILLED: &[(&str, &str)] = &[
    ("{on_files}", " ON prony_files"),
    ("{filegroup}", "PRIMARY"),
    ("{misc}", " ON DS_MISC_FG"),
    ("{cust}", " ON DS_CUST_FG"),
    ("{orders}", " ON DS_ORDERS_FG"),
    ("{ind}", " ON DS_IND_FG"),
    ("{group}", "DS_CUST_FG"),
    ("{name}", "cust1"),
    ("{path}", "'/data/cust1.ndf'"),
    ("{size_mb}", "600"),
    ("{from_us}", "0"),
    ("{until_us}", "1000000"),
    ("{to_us}", "1000000"),
    ("{department}", "'%'"),
    ("{classification}", "'sec%'"),
    ("{after}", "10"),
    ("{last}", "20"),
    ("{most}", "5"),
    ("{customerid_max}", "20000"),
    ("{orderid_max}", "12000"),
    ("{table}", "orders"),
    ("{id}", "orderid"),
];
/// Names of filegroups and of their files, which scripts are given.
const FILES: &[&str] = &["prony_files", "DS_MISC_FG", "DS_CUST_FG", "DS_ORDERS_FG", "DS_IND_FG", "cust1"];

/// The named texts of a file.
fn texts(file: &'static str) -> Vec<(&'static str, String)> {
    let named = file.split("-- name: ").skip(1);
    let text = |named: &'static str| {
        let (name, text) = named.split_once('\n').unwrap_or((named, ""));
        (name, filled(text))
    };
    named.map(text).collect()
}

fn filled(text: &str) -> String {
    let mut text = text.to_owned();
    for (braces, value) in FILLED {
        text = text.replace(braces, value);
    }
    // Lists that are made for a number of rows or tags follow on the parameters that are there.
    for (braces, count) in [("{times}", 2), ("{tags}", 2), ("{products}", 10)] {
        let first = text.matches("@P").count() + 1;
        let list: Vec<String> = (first..first + count).map(|number| format!("@P{number}")).collect();
        text = text.replace(braces, &list.join(", "));
    }
    let columns = text
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or(1, |(list, _)| list.split(',').count());
    let row: Vec<String> = (1..=columns).map(|number| format!("@P{number}")).collect();
    text.replace("{rows}", &format!("({})", row.join(", ")))
}

/// Mistakes of all texts of a file, each with the name of its text.
fn mistakes(file: &'static str) -> Vec<String> {
    let texts = texts(file);
    assert!(!texts.is_empty(), "the file has no texts");
    let mut schema = Schema::default();
    let mut scanned: Vec<(&str, Vec<Token<'_>>)> = Vec::new();
    let mut found = Vec::new();
    for (name, text) in &texts {
        for batch in batches(text) {
            match tokens(batch) {
                Ok(batch) => {
                    schema.add(&batch);
                    scanned.push((name, batch));
                }
                Err(mistake) => found.push(format!("{name}: {mistake}")),
            }
        }
        if text.contains('{') {
            found.push(format!("{name}: nothing is put in for a brace"));
        }
    }
    let checks = Checks::new(&schema, FILES);
    found.extend(checks.names());
    for (name, batch) in &scanned {
        found.extend(checks.of(batch).into_iter().map(|mistake| format!("{name}: {mistake}")));
    }
    found
}

#[test]
fn every_text_of_the_workloads_is_t_sql_about_our_own_tables() {
    let historian = include_str!("../historian/sql/sqlserver.sql");
    let orders = include_str!("../orders/store/sql/sqlserver.sql");
    let register = include_str!("../register/sql/sqlserver.sql");
    let reporting = include_str!("../reporting/sql/sqlserver.sql");
    let all =
        [("historian", historian), ("orders", orders), ("register", register), ("reporting", reporting)];
    for (workload, file) in all {
        let mistakes = mistakes(file);
        assert!(mistakes.is_empty(), "{workload}:\n{}", mistakes.join("\n"));
    }
}

#[test]
fn what_is_wrong_in_a_text_is_found() {
    const MADE: &str = "-- name: create\nCREATE TABLE things (a int NOT NULL, b bigint, PRIMARY KEY (a))\nGO\n\
        CREATE PROCEDURE put @a int, @b bigint AS\nBEGIN\n    INSERT INTO things (a, b) VALUES (@a, @b);\nEND\n-- name: use\n";
    let told = |text: &str| mistakes(Box::leak(format!("{MADE}{text}").into_boxed_str())).join("; ");
    assert_eq!(told("SELECT TOP (@P2) t.a FROM things t WHERE t.b >= @P1 ORDER BY t.a"), "");
    for (text, problem) in [
        ("SELECT a FROM things ORDER BY a LIMIT 1", "`LIMIT` is of another dialect: write TOP (n)"),
        ("INSERT INTO things (a) VALUES (1) RETURNING a", "`RETURNING` is of another dialect"),
        ("SELECT a FROM things WHERE a = $1", "`$1`"),
        ("SELECT a FROM things WHERE a = ?", "`?` is no sign of T-SQL here"),
        ("SELECT a::int FROM things", "`:` is no sign"),
        ("SELECT `a` FROM things", "``` is no sign"),
        ("SELECT c FROM things", "`c` is no word of T-SQL and no name of ours"),
        ("SELECT t.c FROM things t", "`t.c`: things has no column of this name"),
        (
            "SELECT v.valeu FROM sys.partition_range_values v",
            "`v.valeu`: sys.partition_range_values has no column",
        ),
        ("SELECT name FROM sys.tabels", "`sys.tabels` is no view that is known"),
        ("INSERT INTO things (a, c) VALUES (1, 2)", "`c`: things has no column of this name"),
        ("INSERT INTO things (a, b) VALUES (1)", "things gets 1 values for 2 columns"),
        ("UPDATE things SET c = 1", "`c`: things has no column of this name"),
        ("EXEC put @P1", "put takes 2 parameters, but was given 1"),
        ("EXEC putt @P1, @P2", "`putt` is no word"),
        ("SELECT a FROM things WHERE a = @P1 AND b = @P3", "@P2 is missing"),
        ("SELECT a FROM things WHERE a = @wanted", "@wanted is not declared"),
        ("SELECT 1 FROM things; CREATE PROCEDURE more AS SELECT 1", "has to be the first of its batch"),
        ("SELECT (a FROM things", "brackets are not closed"),
        ("IF 1 = 1 BEGIN SELECT a FROM things", "1 of BEGIN and CASE and 0 of END"),
        ("SELECT 'a FROM things", "a text is not closed"),
        ("SELECT CAST(SERVERPROPERTY('EngineEditions') AS int)", "`EngineEditions` is no property"),
        ("EXEC ('DROP TABEL things')", "`TABEL` is no word"),
        ("CREATE TABLE [order] (a int)", "`order` is a reserved word"),
        ("SELECT {what} FROM things", "nothing is put in for a brace"),
    ] {
        let told = told(text);
        assert!(told.contains(problem), "{text}: {told}");
    }
}
