//! Readers of logs, on logs as the servers write them.

use std::io::Cursor;

use database::Protocol;

use super::*;

mod made;

fn read_as(text: &str, format: Option<LogFormat>, only: Option<&str>) -> Result<Log, String> {
    Log::of(&mut Cursor::new(text), &text.as_bytes()[..text.len().min(1 << 20)], format, only)
}

fn read(text: &str) -> Log {
    read_as(text, None, None).unwrap()
}

/// Statements of sessions: time since the first of all in milliseconds, text, values.
type Sessions<'a> = Vec<Vec<(i64, &'a str, Vec<Option<&'a str>>)>>;

fn sent(log: &Log) -> Sessions<'_> {
    let of = |logged: &Logged| {
        let values = logged.values.map_or(&[][..], |number| &log.values[number as usize]);
        let text = log.texts[logged.text as usize].as_str();
        ((logged.at_us - log.first_us) / 1_000, text, values.iter().map(Option::as_deref).collect())
    };
    log.sessions.iter().map(|session| session.statements.iter().map(of).collect()).collect()
}

fn left(log: &Log) -> Vec<(&str, u64, u64)> {
    log.left.iter().map(|left| (left.why.as_str(), left.count, left.first_line)).collect()
}

fn adds_up(log: &Log) {
    let left: u64 = log.left.iter().map(|left| left.count).sum();
    assert_eq!(log.entries, log.statements + left, "{:?}", log.left);
    assert_eq!(log.statements, log.shapes.iter().map(|(_, count)| count).sum::<u64>());
}

/// A line of a csvlog as PostgreSQL 15 writes it.
fn csv(second: &str, session: &str, message: &str, detail: &str) -> String {
    csv_of(26, (second, session), ("LOG", message, detail))
}

fn csv_of(
    columns: usize,
    (second, session): (&str, &str),
    (severity, message, detail): (&str, &str, &str),
) -> String {
    let quoted = |text: &str| {
        if text.is_empty() { String::new() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
    };
    let mut line = format!(
        "2024-01-15 10:00:{second} UTC,\"me\",\"shop\",4711,\"[local]\",{session},1,\"SELECT\",2024-01-15 09:59:00 UTC,3/7,0,{severity},00000,{},{},,,,,,,,\"psql\"",
        quoted(message),
        quoted(detail)
    );
    let behind: &[&str] = match columns {
        22 => return line.trim_end_matches(",\"psql\"").to_owned() + "\n",
        23 => &[],
        24 => &[",\"client backend\""],
        _ => &[",\"client backend\"", ",", ",0"],
    };
    behind.iter().for_each(|part| line.push_str(part));
    line + "\n"
}

#[test]
fn a_csvlog_of_all_statements_is_read_with_its_sessions_and_values() {
    let text = [
        csv("00.000", "a.1", "connection received: host=[local]", ""),
        csv("00.100", "a.1", "statement: BEGIN", ""),
        csv("00.200", "b.2", "execute <unnamed>: SELECT $1, $2", "parameters: $1 = 'it''s, $2', $2 = NULL"),
        csv("00.300", "a.1", "statement: UPDATE t\n\tSET n = \"n\"", ""),
        csv("00.400", "a.1", "execute S_1: SELECT 1", ""),
        csv("00.500", "a.1", "execute fetch from S_1/C_2: SELECT 1", ""),
        csv("00.600", "a.1", "statement: COPY t FROM STDIN", ""),
        csv("00.700", "a.1", "duration: 0.100 ms", ""),
        csv_of(26, ("00.800", "a.1"), ("ERROR", "relation \"x\" does not exist", "")),
        csv("00.900", "a.1", "statement: COMMIT", ""),
    ]
    .concat();
    let log = read(&text);
    assert_eq!(
        (log.format, log.is_recognised, log.lines, log.entries),
        (LogFormat::PostgresCsv, true, 11, 10)
    );
    let [a, b] = &sent(&log)[..] else { panic!("{log:?}") };
    let none = Vec::new;
    assert_eq!(
        *a,
        [
            (0, "BEGIN", none()),
            (200, "UPDATE t\n\tSET n = \"n\"", none()),
            (300, "SELECT 1", none()),
            (800, "COMMIT", none())
        ]
    );
    assert_eq!(*b, [(100, "SELECT $1, $2", vec![Some("it's, $2"), None])]);
    let protocols: Vec<Protocol> = log.sessions[0].statements.iter().map(|logged| logged.sent).collect();
    assert_eq!(protocols, [Protocol::Simple, Protocol::Simple, Protocol::Prepared, Protocol::Simple]);
    let begins: Vec<bool> = log.sessions[0].statements.iter().map(|logged| logged.begins).collect();
    assert_eq!(begins, [true, false, false, false]);
    assert_eq!(
        left(&log),
        [
            ("messages of the server that are not statements", 1, 10),
            ("connections that begin or end, and requests other than statements", 1, 1),
            ("durations without a statement", 1, 9),
            ("further rows of a statement; all its rows are read", 1, 7),
            ("COPY, because its data are not in the log", 1, 8),
        ]
    );
    adds_up(&log);
}

/// An hour was waited for that no clock had.
#[test]
fn a_clock_that_is_put_forward_or_back_is_no_time_that_passes() {
    let at = |clock: &str, zone: &str| {
        csv("00.000", "a.1", "statement: SELECT 1", "").replacen(
            "2024-01-15 10:00:00.000 UTC",
            &format!("{clock} {zone}"),
            1,
        )
    };
    for clocks in [
        [("2024-03-31 01:59:59.500", "CET"), ("2024-03-31 03:00:00.500", "CEST")],
        [("2024-10-27 02:59:59.500", "CEST"), ("2024-10-27 02:00:00.500", "CET")],
        [("2024-11-03 01:59:59.500", "EDT"), ("2024-11-03 01:00:00.500", "EST")],
    ] {
        let log = read(&clocks.map(|(clock, zone)| at(clock, zone)).concat());
        assert_eq!((log.last_us - log.first_us, log.backwards), (1_000_000, 0), "{clocks:?}");
    }
}

#[test]
fn a_statement_that_is_told_when_it_is_over_began_before() {
    let text = [
        csv("01.000", "a.1", "duration: 250.000 ms  statement: SELECT pg_sleep(0.25)", ""),
        csv("01.000", "b.1", "duration: 0.100 ms  parse <unnamed>: SELECT $1", ""),
        csv("01.000", "b.1", "duration: 0.100 ms  bind <unnamed>: SELECT $1", "parameters: $1 = '7'"),
        csv("01.000", "b.1", "duration: 50.000 ms  execute <unnamed>: SELECT $1", "Parameters: $1 = '7'"),
    ]
    .concat();
    let log = read(&text);
    let times: Vec<i64> = sent(&log).iter().map(|session| session[0].0).collect();
    assert_eq!(times, [0, 200]);
    assert_eq!(left(&log).len(), 1);
    adds_up(&log);
}

#[test]
fn csvlogs_of_all_versions_are_read() {
    for columns in [22, 23, 24, 26] {
        let line = csv_of(columns, ("00.000", "a.1"), ("LOG", "statement: SELECT 1", ""));
        assert_eq!(postgres::fields(line.trim_end()).len(), columns, "the test's own line");
        assert_eq!(read(&line).statements, 1, "{columns}");
    }
}

#[test]
fn values_that_the_log_does_not_have_leave_their_statement_out() {
    let text = [
        csv("00.000", "a.1", "statement: SELECT 1", ""),
        csv("00.100", "a.1", "execute <unnamed>: SELECT $1", ""),
        csv("00.200", "a.1", "execute <unnamed>: SELECT $1", "parameters: $1 = 'abc...'"),
    ]
    .concat();
    let log = read(&text);
    assert_eq!(log.statements, 1);
    let why: Vec<&str> = left(&log).iter().map(|(why, ..)| *why).collect();
    assert!(why[0].contains("without their values") && why[1].contains("cut short"), "{why:?}");
}

#[test]
fn a_csvlog_that_was_cut_at_both_ends_is_read_from_its_first_whole_entry() {
    let whole = csv("00.100", "a.1", "statement: SELECT 2", "");
    let last = csv("00.200", "a.1", "statement: SELECT\n3", "");
    let text = format!("rest of \"a\" statement\",,,,\n{whole}{}", &last[..last.find("3\"").unwrap()]);
    let log = read(&text);
    assert_eq!(sent(&log), [[(0, "SELECT 2", Vec::new())]]);
    assert_eq!(left(&log), [("not in this format", 1, 1), ("cut short by the end of the file", 1, 3)]);
    adds_up(&log);
    // An odd number of quotes before the first entry must not swallow it.
    let log = read(&format!("rest\",,\n{whole}"));
    assert_eq!((log.statements, log.left[0].count), (1, 1), "{log:?}");
    // A last entry that only lacks its end of line may lack more.
    let log = read_as(&format!("{whole}{}", last.trim_end().trim_end_matches(",,0")), None, None).unwrap();
    assert_eq!(log.statements, 2, "24 columns are those of a version");
}

#[test]
fn times_that_go_backwards_keep_the_order_of_their_session_and_are_told() {
    let text = [
        csv("05.000", "a.1", "statement: SELECT 1", ""),
        csv("03.000", "a.1", "statement: SELECT 2", ""),
        csv("06.000", "a.1", "statement: SELECT 3", ""),
    ]
    .concat();
    let log = read(&text);
    let told: Vec<(i64, &str)> = sent(&log)[0].iter().map(|(ms, text, _)| (*ms, *text)).collect();
    assert_eq!(told, [(0, "SELECT 1"), (0, "SELECT 2"), (1_000, "SELECT 3")]);
    assert_eq!((log.backwards, log.first_backwards), (1, Some(2)));
}

const MARIADB: &str = "/usr/sbin/mariadbd, Version: 10.11.6-MariaDB-0+deb12u1-log (Debian 12). started with:\n\
Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\n\
Time\t\t    Id Command\tArgument\n\
240115 10:00:00\t     3 Connect\troot@localhost on shop using Socket\n\
\t\t     3 Query\tSELECT 1\n\
\t\t     4 Connect\troot@localhost on  using Socket\n\
\t\t     4 Query\tUPDATE t\n\
SET n = 1\n\
\n\
WHERE id = 2\n\
240115 10:00:02\t     3 Prepare\tSELECT ?\n\
\t\t     3 Execute\tSELECT 'a'\n\
\t\t     3 Init DB\tother\n\
\t\t     3 Query\tuse shop\n\
\t\t     3 Quit\t\n\
\t\t     3 Connect\tme@localhost on shop using Socket\n\
\t\t     3 Query\tSELECT 2\n\
\t\t     3 Frobnicate\tnow\n\
\t\t     4 Ping\t\n";

#[test]
fn a_general_log_of_mariadb_is_read_and_its_seconds_are_filled_evenly() {
    let log = read(MARIADB);
    assert_eq!((log.format, log.is_of_seconds, log.lines), (LogFormat::MariadbGeneral, true, 19));
    let told: Vec<Vec<(i64, &str)>> = sent(&log)
        .into_iter()
        .map(|session| session.into_iter().map(|(ms, text, _)| (ms, text)).collect())
        .collect();
    assert_eq!(
        told,
        [
            vec![(0, "SELECT 1"), (2_000, "SELECT 'a'")],
            vec![(500, "UPDATE t\nSET n = 1\n\nWHERE id = 2")],
            vec![(2_500, "SELECT 2")]
        ]
    );
    assert_eq!(log.databases.iter().map(|(name, n)| (name.as_str(), *n)).collect::<Vec<_>>(), [("shop", 3)]);
    let of = |part: &str| {
        left(&log).iter().find(|(why, ..)| why.contains(part)).map(|(_, count, line)| (*count, *line))
    };
    assert_eq!(of("changes of the database"), Some((2, 13)));
    assert_eq!(of("unknown command"), Some((1, 18)));
    assert_eq!(of("messages of the server"), Some((3, 1)));
    adds_up(&log);
}

/// The texts of each session.
fn texts(log: &Log) -> Vec<Vec<&str>> {
    sent(log).into_iter().map(|session| session.into_iter().map(|(_, text, _)| text).collect()).collect()
}

const STARTED: &str = "/usr/sbin/mariadbd, Version: 10.11.6-MariaDB-log (Debian 12). started with:\n\
Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\n\
Time\t\t    Id Command\tArgument\n";

/// Threads are counted from the beginning again: one that had a number before was taken for the same session, with its variables, its
/// transaction and its database.
#[test]
fn a_server_that_starts_again_ends_all_sessions() {
    let text = format!(
        "{STARTED}240115 10:00:00\t     3 Connect\troot@localhost on shop using Socket\n\
         \t\t     3 Query\tSET @a = 7\n\
         \t\t     3 Query\tBEGIN\n\
         \t\t     4 Connect\troot@localhost on shop using Socket\n\
         \t\t     4 Query\tSELECT 4\n\
         {STARTED}240115 10:00:01\t     3 Query\tSELECT @a\n\
         \t\t     4 Connect\troot@localhost on shop using Socket\n\
         \t\t     4 Query\tSELECT 5\n"
    );
    let log = read(&text);
    assert_eq!(
        texts(&log),
        [vec!["SET @a = 7", "BEGIN"], vec!["SELECT 4"], vec!["SELECT @a"], vec!["SELECT 5"]]
    );
    assert!(log.sessions[2].statements[0].begins, "the transaction ended with its session");
    // Of the third session no database is known.
    assert_eq!(log.databases.values().sum::<u64>(), 4);
    assert!(
        left(&log).contains(&("starts of the server, at which all sessions end", 1, 9)),
        "{:?}",
        left(&log)
    );
    adds_up(&log);
}

#[test]
fn a_server_that_opens_its_log_again_goes_on() {
    for opens in [
        "3 Query\tFLUSH LOGS",
        "3 Query\tflush local general logs",
        "9 Refresh\t",
        "3 Query\tSET GLOBAL general_log = 1",
    ] {
        let text = format!(
            "{STARTED}240115 10:00:00\t     3 Connect\troot@localhost on shop using Socket\n\
             \t\t     3 Query\tSET @a = 7\n\
             \t\t     {opens}\n\
             {STARTED}240115 10:00:01\t     3 Query\tSELECT @a\n"
        );
        let log = read(&text);
        assert_eq!(log.sessions.len(), 1, "{opens}");
        assert_eq!(texts(&log)[0].last(), Some(&"SELECT @a"));
        adds_up(&log);
    }
}

/// It failed, since a replay prepares statements under names of its own, and a pooler was blamed.
#[test]
fn a_statement_that_was_prepared_by_the_protocol_is_not_deallocated() {
    let text = [
        csv("00.100", "a.1", "execute lvl: SELECT $1::int", "parameters: $1 = '4'"),
        csv("00.200", "a.1", "statement: DEALLOCATE lvl", ""),
        csv("00.300", "a.1", "execute lvl: SELECT $1::int", "parameters: $1 = '5'"),
        csv("00.400", "a.1", "statement: PREPARE own AS SELECT 1", ""),
        csv("00.500", "a.2", "statement: DEALLOCATE own", ""),
        csv("00.600", "a.1", "statement: DEALLOCATE own", ""),
        csv("00.700", "a.1", "statement: DISCARD ALL", ""),
    ]
    .concat();
    let log = read(&text);
    let first =
        ["SELECT $1::int", "SELECT $1::int", "PREPARE own AS SELECT 1", "DEALLOCATE own", "DISCARD ALL"];
    assert_eq!(texts(&log), [first.to_vec()]);
    let why = "DEALLOCATE of statements that the session did not PREPARE in SQL: the replay uses different names for these statements";
    assert_eq!(left(&log), [(why, 2, 2)]);
    adds_up(&log);
}

#[test]
fn what_sets_another_character_set_is_left_out_and_told() {
    let text = [
        csv("00.100", "a.1", "statement: SET client_encoding TO 'LATIN1'", ""),
        csv("00.200", "a.1", "statement: INSERT INTO words VALUES ('höhe')", ""),
    ]
    .concat();
    let log = read(&text);
    assert_eq!(texts(&log), [["INSERT INTO words VALUES ('höhe')"]]);
    assert!(left(&log)[0].0.contains("UTF-8"), "{:?}", left(&log));
    assert!(!log.left[0].is_loss);
    adds_up(&log);
}

/// A server logs both the EXECUTE and what it runs.
#[test]
fn what_an_execute_of_sql_runs_is_sent_once() {
    let text = "240115 10:00:00\t     3 Connect\troot@localhost on shop using Socket\n\
        \t\t     3 Query\tPREPARE s FROM 'INSERT INTO t VALUES (?)'\n\
        \t\t     3 Prepare\tINSERT INTO t VALUES (?)\n\
        \t\t     3 Query\tEXECUTE s USING @a\n\
        \t\t     3 Execute\tINSERT INTO t VALUES (7)\n";
    let log = read_as(text, Some(LogFormat::MariadbGeneral), None).unwrap();
    let told: Vec<&str> = sent(&log)[0].iter().map(|(_, text, _)| *text).collect();
    assert_eq!(told, ["PREPARE s FROM 'INSERT INTO t VALUES (?)'", "INSERT INTO t VALUES (7)"]);
    adds_up(&log);
}

#[test]
fn a_use_changes_the_database_of_its_session() {
    let text = "240115 10:00:00\t     3 Connect\troot@localhost on shop using Socket\n\
        \t\t     3 Query\tinsert into u values ('shop')\n\
        \t\t     3 Query\tUSE `billing`\n\
        \t\t     3 Query\tdelete from u\n";
    for (only, statement) in [("shop", "insert into u values ('shop')"), ("billing", "delete from u")] {
        let log = read_as(text, Some(LogFormat::MariadbGeneral), Some(only)).unwrap();
        let told: Vec<&str> = sent(&log)[0].iter().map(|(_, text, _)| *text).collect();
        assert_eq!(told, [statement], "{only}");
    }
}

#[test]
fn a_general_log_of_mysql_has_its_time_in_each_line() {
    let text = "2024-01-15T10:00:00.000000Z\t    8 Connect\troot@localhost on shop using Socket\n\
        2024-01-15T10:00:00.250000Z\t    8 Query\tINSERT INTO t VALUES (1),\n(2)\n\
        2024-01-15T11:00:00.500000+01:00\t    8 Query\tCOMMIT\n";
    let log = read(text);
    assert_eq!(
        sent(&log),
        [[(0, "INSERT INTO t VALUES (1),\n(2)", Vec::new()), (250, "COMMIT", Vec::new())]]
    );
    assert!(!log.is_of_seconds);
    let cut = read(text.trim_end());
    assert_eq!((cut.statements, left(&cut)[1]), (1, ("cut short by the end of the file", 1, 4)));
    adds_up(&cut);
}

#[test]
fn a_general_log_that_begins_without_a_time_tells_how_many_entries_have_none() {
    let text = "\t\t     3 Query\tSELECT 1\nrest of something\n240115 10:00:00\t     3 Query\tSELECT 2\n";
    let log = read(text);
    assert_eq!((log.statements, left(&log)), (1, vec![("without a time", 1, 1)]));
    let told = read_as("\t\t     3 Query\tSELECT 1\n", None, None).unwrap_err();
    assert!(
        told.contains("no statement to send") && told.contains("without a time (the first in line 1)"),
        "{told}"
    );
}

fn event(name: &str, stamp: &str, session: &str, of: &str, text: &str, duration: u64) -> String {
    format!(
        "<event name=\"{name}\" package=\"sqlserver\" timestamp=\"2024-01-15T10:00:{stamp}Z\"><data name=\"duration\"><value>{duration}</value>\
         </data><data name=\"{of}\"><value>{text}</value></data><action name=\"session_id\" package=\"sqlserver\"><value>{session}</value></action>\
         <action name=\"database_name\" package=\"sqlserver\"><value>shop</value></action></event>\n"
    )
}

#[test]
fn events_of_sql_server_are_read_whatever_stands_between_them() {
    let text = [
        "event_data\n----------\n".to_owned(),
        event(
            "sql_batch_completed",
            "00.500",
            "53",
            "batch_text",
            "SELECT '&lt;&amp;&gt;',\n  1 &#x41;&#66;",
            100_000,
        ),
        event(
            "rpc_completed",
            "00.600",
            "54",
            "statement",
            "exec sp_executesql N'SELECT @p',N'@p int',@p=1",
            0,
        ),
        event("rpc_completed", "00.700", "54", "statement", "exec sp_reset_connection ", 0),
        event("rpc_completed", "00.800", "54", "statement", "exec sp_execute 1,2", 0),
        event("sql_batch_completed", "00.900", "54", "batch_text", "USE master", 0),
        event("sql_batch_completed", "00.950", "54", "batch_text", "BEGIN TRAN", 0),
        event("sql_statement_completed", "00.960", "54", "statement", "BEGIN TRAN", 0),
        "(7 rows affected)\n<event name=\"rpc_completed\" timestamp=\"20".to_owned(),
    ]
    .concat();
    let log = read(&text);
    assert_eq!(log.format, LogFormat::SqlserverEvents);
    let told = sent(&log);
    assert_eq!(told[0], [(0, "SELECT '<&>',\n  1 AB", Vec::new())]);
    assert_eq!(told[1], [(200, "exec sp_executesql N'SELECT @p',N'@p int',@p=1", Vec::new())]);
    assert_eq!(told[2], [(550, "BEGIN TRAN", Vec::new())], "a connection that was reset is another session");
    let of = |part: &str| {
        left(&log).iter().find(|(why, ..)| why.contains(part)).map(|(_, count, line)| (*count, *line))
    };
    assert_eq!(
        (of("handles"), of("changes of the database"), of("cut short")),
        (Some((1, 7)), Some((1, 8)), Some((1, 12)))
    );
    adds_up(&log);
}

/// A replay of a copy that went on in the database itself would be the worst that it could do.
#[test]
fn no_statement_leaves_the_target_or_ends_sessions_of_its_server() {
    let of_mysql = |sql: &str| {
        let text =
            format!("2024-01-15T10:00:00.0Z\t 8 Query\tSELECT 1\n2024-01-15T10:00:00.0Z\t 8 Query\t{sql}\n");
        read(&text).statements == 1
    };
    for left in [
        "USE shop",
        "/* x */ use `shop`",
        "SELECT 1; USE shop",
        "KILL 12",
        "LOAD DATA INFILE 'x' INTO TABLE t",
    ] {
        assert!(of_mysql(left), "{left}");
    }
    assert!(!of_mysql("SELECT a FROM t USE INDEX (i)") && !of_mysql("SELECT 'use'"));
    let of_events = |sql: &str| {
        let batch = |sql: &str| event("sql_batch_completed", "00.500", "53", "batch_text", sql, 0);
        read(&(batch("SELECT 1") + &batch(sql))).statements == 1
    };
    for left in ["USE shop", "SET NOCOUNT ON USE [shop] SELECT 1", "kill 53", "BULK INSERT t FROM 'x'"] {
        assert!(of_events(left), "{left}");
    }
    assert!(!of_events("SELECT 1 OPTION (USE HINT('x'))") && !of_events("SELECT [use] FROM t"));
}

#[test]
fn only_statements_of_one_database_are_kept_where_it_is_named() {
    let other = csv("00.000", "a.1", "statement: SELECT 1", "").replace("\"shop\"", "\"other\"");
    let text = other + &csv("00.100", "b.1", "statement: SELECT 2", "");
    let log = read_as(&text, None, Some("shop")).unwrap();
    assert_eq!((log.statements, left(&log)), (1, vec![("of another database", 1, 1)]));
    assert_eq!(read(&text).databases.len(), 2);
    let told = read_as(&text, None, Some("none")).unwrap_err();
    assert!(told.contains("2 of another database"), "{told}");
}

#[test]
fn what_is_no_log_is_refused_with_what_it_begins_with() {
    for (text, part) in [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("SELECT 1;\nSELECT 2;\n", "not a log of a known format; its first line is `SELECT 1;`"),
        ("\u{feff}\u{0}PNG", "not a log of a known format"),
    ] {
        let told = read_as(text, None, None).unwrap_err();
        assert!(told.contains(part), "{text:?}: {told}");
    }
    let wide: Vec<u8> = b"\xff\xfe<\0e\0".to_vec();
    let told = Log::of(&mut Cursor::new(&wide), &wide, None, None).unwrap_err();
    assert!(told.contains("UTF-16") && told.contains("iconv"), "{told}");
    let told = read_as(MARIADB, Some(LogFormat::PostgresCsv), None).unwrap_err();
    assert!(told.ends_with("by its content, its format is mariadb-general"), "{told}");
    let quiet = csv("00.000", "a.1", "checkpoint starting: time", "");
    let told = read_as(&quiet, None, None).unwrap_err();
    assert!(told.contains("log_statement = all") && told.contains("(the first in line 1)"), "{told}");
}

#[test]
fn sessions_that_are_open_at_once_are_counted_with_the_time_in_which_they_connect() {
    let at = |second: &str, session: &str| csv(second, session, "statement: SELECT 1", "");
    let text = [at("00.000", "a.1"), at("01.000", "a.1"), at("01.500", "b.1"), at("05.000", "c.1")].concat();
    let log = read(&text);
    assert_eq!((log.sessions_at_once(1.0, 0), log.sessions_at_once(1.0, 1_000_000_000)), (1, 2));
    assert_eq!(log.sessions_at_once(10.0, 1_000_000_000), 3);
}
