//! Scripts and what they are read as.

use std::sync::Arc;

use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::chance::Chance;
use super::names::{Names, Variables};
use super::script::{Command, Operand, Script, Step};
use super::statement::{Counting, Into, Kind, Piece, Statement};
use super::value::Value;

fn read(text: &str) -> (Script, Names) {
    let mut names = Names::default();
    match Script::read("a.sql", text, &mut names) {
        Ok(script) => (script, names),
        Err(mistakes) => panic!("{text}: {mistakes:?}"),
    }
}

/// All mistakes, a line each.
fn mistakes(text: &str) -> Vec<String> {
    let mistakes = Script::read("a.sql", text, &mut Names::default()).unwrap_err();
    mistakes.iter().map(ToString::to_string).collect()
}

fn assert_mistakes(text: &str, expected: &[&str]) {
    let found = mistakes(text);
    assert_eq!(found.len(), expected.len(), "{text}: {found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{text}: {found:?} for {expected:?}");
    }
}

fn statements(script: &Script) -> Vec<(usize, &Statement)> {
    let statement = |command: &'_ Command| match &command.step {
        Step::Sql(_) => Some(command.line),
        _ => None,
    };
    let lines = script.commands.iter().filter_map(statement);
    let statements = script.commands.iter().filter_map(|command| match &command.step {
        Step::Sql(statement) => Some(statement),
        _ => None,
    });
    lines.zip(statements).collect()
}

/// Lines and texts of the statements.
fn texts(text: &str) -> Vec<(usize, String)> {
    let (script, names) = read(text);
    statements(&script).into_iter().map(|(line, statement)| (line, statement.source(&names))).collect()
}

/// What is sent when a script runs: its statements with the values of their variables. Sleeps are written down.
fn run(text: &str, given: &[(&str, i64)]) -> Vec<String> {
    let (script, names) = read(text);
    let mut variables = Variables::new(Arc::new(names.clone()));
    for (name, value) in given {
        variables.set(names.find(name).unwrap(), Value::Integer(*value));
    }
    let mut chance = Chance { random: Xoshiro256PlusPlus::seed_from_u64(3), default_seed: 3 };
    let mut done = Vec::new();
    let mut at = 0;
    while let Some(command) = script.commands.get(at) {
        at += 1;
        match &command.step {
            Step::Sql(statement) => done.push(statement.substituted(&variables).unwrap()),
            Step::Set { variable, expression } => {
                let value = expression.value(&variables, &mut chance).unwrap();
                variables.set(*variable, value);
            }
            Step::Sleep { time, unit_ns } => {
                done.push(format!("{} ns", time.ns(*unit_ns, &variables).unwrap()))
            }
            Step::Branch { condition, otherwise } => {
                if !condition.holds(&variables, &mut chance).unwrap() {
                    at = *otherwise;
                }
            }
            Step::Jump(to) => at = *to,
            Step::StartPipeline | Step::SyncPipeline | Step::EndPipeline | Step::Expect { .. } => {}
        }
    }
    done
}

/// As the documentation prints it.
const TPCB_LIKE: &str = "\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
";

#[test]
fn tpcb_like_is_read_as_the_documentation_prints_it() {
    let sent = run(TPCB_LIKE, &[("scale", 10)]);
    assert_eq!(sent.len(), 7);
    assert_eq!((sent[0].as_str(), sent[6].as_str()), ("BEGIN", "END"));
    assert!(!sent.iter().any(|text| text.contains(':')), "{sent:?}");
    let (script, _) = read(TPCB_LIKE);
    assert_eq!(
        script.commands.iter().map(|command| command.line).collect::<Vec<_>>(),
        (1..12).collect::<Vec<_>>()
    );
}

#[test]
fn simple_update_and_select_only_are_read() {
    let lines: Vec<&str> = TPCB_LIKE.lines().collect();
    let simple_update =
        [lines[0], lines[1], lines[2], lines[3], lines[4], lines[5], lines[6], lines[9], lines[10]]
            .join("\n");
    assert_eq!(run(&simple_update, &[("scale", 1)]).len(), 5);
    let select_only =
        "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
    assert_eq!(run(select_only, &[("scale", 1)]).len(), 1);
}

#[test]
fn statements_end_as_in_psql() {
    for (text, expected) in [
        ("SELECT 1;", vec![(1, "SELECT 1")]),
        ("SELECT 1", vec![(1, "SELECT 1")]),
        ("SELECT 1; SELECT 2;\n\nSELECT\n 3\n", vec![(1, "SELECT 1"), (1, "SELECT 2"), (3, "SELECT\n 3")]),
        (";;\n;SELECT 1;;", vec![(2, "SELECT 1")]),
        ("SELECT ';', ';;';", vec![(1, "SELECT ';', ';;'")]),
        ("SELECT 'it''s; 1';", vec![(1, "SELECT 'it''s; 1'")]),
        (r"SELECT '\'; SELECT 2;", vec![(1, r"SELECT '\'"), (1, "SELECT 2")]),
        (r"SELECT E'\'; 1', e'a''\'; 2';", vec![(1, r"SELECT E'\'; 1', e'a''\'; 2'")]),
        (r"SELECT FE'\';", vec![(1, r"SELECT FE'\'")]),
        ("SELECT \"a;b\"\"c;\";", vec![(1, "SELECT \"a;b\"\"c;\"")]),
        ("SELECT $$a;b$$;", vec![(1, "SELECT $$a;b$$")]),
        ("SELECT $x$a;$y$;$$;$x$;", vec![(1, "SELECT $x$a;$y$;$$;$x$")]),
        ("SELECT $1; SELECT a$b$; SELECT $2", vec![(1, "SELECT $1"), (1, "SELECT a$b$"), (1, "SELECT $2")]),
        ("-- a; b\nSELECT 1 -- c; d\n + 2;", vec![(2, "SELECT 1 -- c; d\n + 2")]),
        ("/* a; /* b; */ c; */ SELECT /*;*/ 1;", vec![(1, "/* a; /* b; */ c; */ SELECT /*;*/ 1")]),
        ("SELECT 4 / 2 * 1, 3 /2;", vec![(1, "SELECT 4 / 2 * 1, 3 /2")]),
        ("SELECT 1; -- the end\n/* of it */\n", vec![(1, "SELECT 1")]),
        (
            "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2);",
            vec![(1, "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)")],
        ),
        ("SELECT 1);", vec![(1, "SELECT 1)")]),
        ("SELECT 1\n\\set x 1\nSELECT 2;", vec![(1, "SELECT 1"), (3, "SELECT 2")]),
        ("\u{feff}SELECT 1;\r\n\\set x 1\r\nSELECT 2;\r\n", vec![(1, "SELECT 1"), (3, "SELECT 2")]),
    ] {
        let expected: Vec<(usize, String)> =
            expected.into_iter().map(|(line, text)| (line, text.to_owned())).collect();
        assert_eq!(texts(text), expected, "{text}");
    }
}

#[test]
fn statements_that_are_put_together_are_one_command() {
    let (script, names) = read("SELECT 1\\; SELECT :a \\;\\; SELECT 3;\nSELECT 4\\;;");
    let statements = statements(&script);
    let of = |index: usize| {
        let statement: &Statement = statements[index].1;
        (statement.source(&names), statement.statements_in_it())
    };
    assert_eq!(of(0), ("SELECT 1; SELECT :a ;; SELECT 3".to_owned(), 3));
    assert_eq!(of(1), ("SELECT 4;".to_owned(), 1));
}

/// A function of pgbench's scripts was cut at the first semicolon of its body.
#[test]
fn a_body_of_statements_is_part_of_its_statement() {
    let function = |inner: &str, end: &str| {
        format!("CREATE OR REPLACE FUNCTION f(a int) RETURNS int LANGUAGE sql BEGIN ATOMIC {inner} {end}")
    };
    let trigger = "CREATE TEMP TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET a = 1; DELETE FROM u; END";
    for (text, is_one) in [
        (function("SELECT 1; SELECT 2;", "END"), true),
        (function("SELECT CASE WHEN a > 0 THEN 1 END; SELECT (CASE a WHEN 1 THEN 2 END);", "end"), true),
        (function("SELECT 'end;', $$END;$$ /* END; */;\n-- END;\nSELECT :a + 1;", "END"), true),
        ("create procedure p() BEGIN ATOMIC INSERT INTO t VALUES (1); END".to_owned(), true),
        (trigger.to_owned(), true),
        ("CREATE FUNCTION f(\"end\" int, begin int) RETURNS int RETURN 1".to_owned(), true),
        ("CREATE TABLE t (function text, begin int)".to_owned(), true),
        ("CREATE VIEW v AS SELECT function, begin FROM t".to_owned(), true),
        (
            "CREATE TRIGGER g AFTER UPDATE ON t BEGIN UPDATE u SET a = NEW.end; DELETE FROM u; END"
                .to_owned(),
            true,
        ),
        ("CREATE DEFINER=me@here TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM u; END".to_owned(), true),
        // Bodies of other languages than SQL's own are cut, which their servers tell.
        ("CREATE OR ALTER PROCEDURE p AS BEGIN BEGIN TRAN; COMMIT; END".to_owned(), false),
        ("CREATE TABLE function AS SELECT 1 AS a; BEGIN ATOMIC; END".to_owned(), false),
        ("BEGIN; SELECT 1; END".to_owned(), false),
        ("BEGIN ATOMIC; CASE; END".to_owned(), false),
        ("SELECT 1; CREATE TABLE t (a int); BEGIN; END".to_owned(), false),
    ] {
        let told: Vec<String> =
            texts(&format!("{text};\nSELECT 3;")).into_iter().map(|(_, sql)| sql).collect();
        let parts = if is_one { vec![text.as_str()] } else { text.split("; ").collect() };
        assert_eq!(told, [parts, vec!["SELECT 3"]].concat(), "{text}");
    }
}

/// What follows would be part of it, and would not be run.
#[test]
fn a_body_that_is_not_closed_is_told_with_its_line() {
    let text =
        "SELECT 1;\nCREATE TRIGGER g AFTER INSERT ON t\nBEGIN SELECT CASE WHEN 1 THEN 2; END;\nSELECT 3;";
    assert_mistakes(text, &["a.sql:3: the body that begins here is not closed"]);
}

#[test]
fn a_body_has_variables_and_is_one_of_the_statements_of_its_text() {
    let body = "CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT :a; SELECT '1'::int\\; END";
    let (script, names) =
        read(&format!("SELECT 1\\; {body}\\; BEGIN;\nEND;\n\\set a 1\n{body}\n\\set a 2\nSELECT :a;"));
    let statements = statements(&script);
    let count = |at: usize| statements[at].1.statements_in_it();
    assert_eq!((statements.len(), [0, 1, 2, 3].map(count)), (4, [3, 1, 1, 1]));
    let variables = statements[2].1.parameters(Counting::Places).map(|variable| names.name(variable));
    assert_eq!(variables.collect::<Vec<_>>(), ["a"]);
    assert_eq!(statements[2].1.source(&names), body.replace('\\', ""));
}

#[test]
fn variables_stand_where_sql_has_no_quotes() {
    let (script, names) = read(
        "SELECT :a, ':b', \":c\", $$:d$$, e::int, f[:g], h[1:2], x:=1, \\:i, :größe/:_k1 /* :l */ -- :m\n, a::: n, '12:30:00', :a;",
    );
    let statement = statements(&script)[0].1;
    let known: Vec<&str> =
        statement.parameters(Counting::Places).map(|variable| names.name(variable)).collect();
    assert_eq!(known, ["a", "g", "größe", "_k1", "a"]);
    let once: Vec<&str> =
        statement.parameters(Counting::Variables).map(|variable| names.name(variable)).collect();
    assert_eq!(once, ["a", "g", "größe", "_k1"]);
    let quoted: Vec<&str> = statement.quoted().map(|variable| names.name(variable)).collect();
    assert_eq!(quoted, ["b", "c", "d"]);
    assert_eq!(names.len(), 7);
    let source = statement.source(&names);
    assert!(source.starts_with("SELECT :a, ':b', \":c\", $$:d$$, e::int"), "{source}");
    assert!(source.contains("h[1:2], x:=1, :i, :größe/:_k1 /* :l */ -- :m\n, a::: n"), "{source}");
}

#[test]
fn a_statement_has_placeholders() {
    let (script, _) = read("UPDATE t SET a = :x, b = :y WHERE a = :x;");
    let statement = statements(&script)[0].1;
    let numbered = |number: usize| format!("${number}");
    let text = |counting| statement.with_placeholders(counting, numbered);
    assert_eq!(text(Counting::Variables), "UPDATE t SET a = $1, b = $2 WHERE a = $1");
    assert_eq!(text(Counting::Places), "UPDATE t SET a = $1, b = $2 WHERE a = $3");
    assert_eq!(
        statement.with_placeholders(Counting::Places, |_| "?".to_owned()),
        "UPDATE t SET a = ?, b = ? WHERE a = ?"
    );
}

#[test]
fn a_statement_is_filled_in_with_values() {
    let (script, names) = read("SELECT :a+:b,:c;");
    let mut variables = Variables::new(Arc::new(names));
    let statement = statements(&script)[0].1;
    variables.set(0, Value::Integer(-5));
    variables.set(1, Value::Double(0.25));
    let wrong = statement.substituted(&variables).unwrap_err().to_string();
    assert!(wrong.contains("variable `c` has no value"), "{wrong}");
    variables.set(2, Value::Null);
    assert_eq!(statement.substituted(&variables).unwrap(), "SELECT -5+0.25,NULL");
    variables.set(2, Value::Text("'x'".to_owned()));
    assert_eq!(statement.substituted(&variables).unwrap(), "SELECT -5+0.25,'x'");
}

/// pgbench's scripts have `':days days'::interval`, whose variable was sent as its name.
#[test]
fn a_text_is_filled_in_within_quotes_as_pgbench_does() {
    let (script, names) =
        read("SELECT 'HH24:MI:SS', ':days days'::interval, E'\\':d', $$:days::t$$, '::days', '12:30';");
    let days = names.find("days").unwrap();
    let mut variables = Variables::new(Arc::new(names));
    let statement = statements(&script)[0].1;
    let without = "SELECT 'HH24:MI:SS', ':days days'::interval, E'\\':d', $$:days::t$$, '::days', '12:30'";
    assert_eq!(statement.substituted(&variables).unwrap(), without);
    variables.set(days, Value::Integer(7));
    assert_eq!(
        statement.substituted(&variables).unwrap(),
        "SELECT 'HH24:MI:SS', '7 days'::interval, E'\\':d', $$7::t$$, '::days', '12:30'"
    );
    assert_eq!(
        statement.with_placeholders(Counting::Places, |_| "?".to_owned()),
        without,
        "values beside it have no quotes"
    );
}

#[test]
fn a_statement_is_named_by_its_first_words() {
    let words = |text: &str| {
        let (script, names) = read(text);
        statements(&script)[0].1.first_words(&names)
    };
    assert_eq!(words("SELECT\n   1,\t:a ;"), "SELECT 1, :a");
    let long = words("SELECT a_rather_long_name_of_a_column, ünd, another_one FROM somewhere WHERE x = 1;");
    assert_eq!(long, "SELECT a_rather_long_name_of_a_column, ünd, another_one FROM…");
}

#[test]
fn a_result_is_stored() {
    let (script, _) = read(
        "SELECT 1 AS a \\gset\nSELECT 2 AS b\n  \\gset p_\nSELECT 3\\; SELECT 4 \\aset\nSELECT 5;\n\\GSET\nSELECT 6;",
    );
    let into = |kind, prefix: &str| Some(Into { kind, prefix: prefix.to_owned() });
    let then: Vec<Option<Into>> =
        statements(&script).iter().map(|(_, statement)| statement.then.clone()).collect();
    assert_eq!(
        then,
        [into(Kind::Gset, ""), into(Kind::Gset, "p_"), into(Kind::Aset, ""), into(Kind::Gset, ""), None]
    );
    assert_mistakes(
        "\\gset\nSELECT 1 \\gset\n\\gset\nSELECT 1;\n\\set x 1\n\\aset\nSELECT 1 \\gset a b\nSELECT 1 \\gset 1;",
        &[
            "a.sql:1: `\\gset` without a statement",
            "a.sql:3: `\\gset` follows a statement that already stores its result",
            "a.sql:6: `\\aset` without a statement",
            "a.sql:7: `\\gset a b` has an invalid prefix",
            "a.sql:8: `\\gset 1;` has an invalid prefix",
        ],
    );
}

#[test]
fn meta_commands_are_read_as_they_are_written() {
    let (script, names) = read(
        "\\set x 1 + \\\n   2\n  \\SET größe :x\n\\sleep 10\n\\sleep 10ms\n\\sleep 5 US\n\\sleep :x ms\n\\sleep :x\n\\startpipeline\n\\syncpipeline\n\\endpipeline\n",
    );
    assert_eq!((names.find("x"), names.find("größe"), names.len()), (Some(0), Some(1), 2));
    let lines: Vec<usize> = script.commands.iter().map(|command| command.line).collect();
    assert_eq!(lines, [1, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    let steps: Vec<&Step> = script.commands.iter().map(|command| &command.step).collect();
    assert!(
        matches!(steps[0], Step::Set { variable: 0, .. })
            && matches!(steps[1], Step::Set { variable: 1, .. })
    );
    let (number, variable) = (Operand::Number, Operand::Variable);
    for (step, expected) in steps[2..7].iter().zip([
        (number(10), 1_000_000_000),
        (number(10), 1_000_000),
        (number(5), 1_000),
        (variable(0), 1_000_000),
        (variable(0), 1_000_000_000),
    ]) {
        assert!(matches!(step, Step::Sleep { time, unit_ns } if (*time, *unit_ns) == expected), "{step:?}");
    }
    assert!(matches!(steps[7..], [Step::StartPipeline, Step::SyncPipeline, Step::EndPipeline]));
}

#[test]
fn a_variable_tells_how_long_a_sleep_is() {
    for (value, ns) in [
        (Value::Integer(3), Some(3_000)),
        (Value::Integer(-3), Some(0)),
        (Value::Integer(i64::MAX), Some(u64::MAX)),
        (Value::Double(1.9), Some(1_000)),
        (Value::Double(f64::NAN), Some(0)),
        (Value::Text("7".to_owned()), Some(7_000)),
        (Value::Text("soon".to_owned()), None),
        (Value::Boolean(true), None),
        (Value::Null, None),
    ] {
        let mut names = Names::default();
        let variable = names.index("pause");
        let mut variables = Variables::new(Arc::new(names));
        variables.set(variable, value.clone());
        let found = Operand::Variable(variable).ns(1_000, &variables);
        match ns {
            Some(ns) => assert_eq!(found, Ok(ns), "{value}"),
            None => assert!(found.unwrap_err().to_string().contains("variable `pause` is"), "{value}"),
        }
    }
}

#[test]
fn meta_commands_with_mistakes_say_why() {
    for (text, words) in [
        ("\\set", "`\\set` without a variable"),
        ("\\set x", "`\\set x` without an expression"),
        ("\\set 1x 5", "invalid variable name `1x`"),
        ("\\set a-b 5", "invalid variable name `a-b`"),
        ("\\set x=5", "invalid variable name `x=5`"),
        ("\\set :x 5", "`:x` stands for the value of a variable, but `\\set` needs the variable's name, `x`"),
        ("\\set x 5;", "`;` has no meaning in an expression"),
        ("\\set x 5 \\", "`\\` has no meaning in an expression"),
        ("\\sleep", "`\\sleep` has no time: give a whole number"),
        ("\\sleep -5", "`\\sleep -5` has no time"),
        ("\\sleep 1.5 s", "`\\sleep 1.5 s` has no time"),
        ("\\sleep :", "`\\sleep :` names no variable"),
        ("\\sleep 5 hours", "unknown unit `hours` of `\\sleep`: use us, ms or s"),
        ("\\sleep :x h", "unknown unit `h` of `\\sleep`"),
        ("\\sleep 99999999999999999999", "`\\sleep 99999999999999999999` is longer than"),
        ("\\syncpipeline", "`\\syncpipeline` without a pipeline"),
        ("\\endpipeline", "`\\endpipeline` without a pipeline"),
        ("\\startpipeline", "the pipeline is not ended"),
        ("\\shell ls", "`\\shell` is not supported"),
        ("\\setrandom tank 1 :tanks", "write `\\set tank random(1, :tanks)`"),
        ("\\SETRANDOM tank 1 9 gaussian 2.5", "write `\\set tank random_gaussian(1, 9, 2.5)`"),
        (
            "\\set tank random_zipfian(1, 900, 1.2) -- shape as in the plant",
            "the comment `-- shape as in the plant` cannot follow an expression: write it on a separate line",
        ),
        ("\\if :tank > 1 -- why\n\\endif", "the comment `-- why` cannot follow"),
        ("\\sleep 10 ms -- rest", "the comment `-- rest` cannot follow"),
        (
            "\\setshell x ls",
            "`\\setshell` is not supported, because programs cannot run during a measured load: compute the value",
        ),
        ("\\sett x 1", "unknown meta-command `\\sett`: did you mean `\\set`? Use \\set, \\sleep, "),
        ("\\echo x", "unknown meta-command `\\echo`: Use"),
        ("\\", "unknown meta-command `\\`: Use"),
        ("SELECT 1 \\g\n", "unknown meta-command `\\g`: did you mean `\\gset`?"),
        ("SELECT 1 \\gset;", "unknown meta-command `\\gset;`: did you mean `\\gset`?"),
        ("\\expect rows = 1", "`\\expect` without a statement"),
        ("SELECT 1;\n\\expect", "`\\expect` does not mention rows"),
        ("SELECT 1;\n\\expect time < 5", "`\\expect time < 5` does not mention rows"),
        ("SELECT 1;\n\\expect rows ~ 5", "`\\expect rows ~ 5` does not mention rows"),
        (
            "SELECT 1;\n\\expect rows =",
            "`\\expect rows =` without an expression: give one, such as \\expect rows = 1",
        ),
    ] {
        let found = mistakes(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].contains(words), "{text}: {}", found[0]);
    }
}

#[test]
fn sleeps_name_a_variable_and_end() {
    for (text, words) in [
        ("\\sleep :1", "`\\sleep :1` names no variable"),
        ("\\sleep 99999999999 s", "`\\sleep 99999999999 s` is longer than"),
    ] {
        let found = mistakes(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].contains(words), "{text}: {}", found[0]);
    }
}

#[test]
fn all_mistakes_are_told_by_line() {
    assert_mistakes(
        "\\set x 1 +\nSELECT 1;\n\\if 1\n\\nonsense\nSELECT (1;\n2; \n\\else 5\n\\set 9 (\n",
        &[
            "a.sql:1: the expression ends",
            "a.sql:3: `\\if` without `\\endif`",
            "a.sql:4: unknown meta-command `\\nonsense`",
            "a.sql:5: the parenthesis that opens here is not closed",
            "a.sql:7: `\\else` accepts no arguments: remove `5`",
            "a.sql:8: invalid variable name `9`",
            "a.sql:8: the expression ends where a value is expected",
        ],
    );
}

#[test]
fn what_is_not_closed_is_told_with_its_line() {
    for (text, mark) in [
        ("SELECT 1;\nSELECT 'a;\nSELECT 2;\n", "close it with '"),
        ("SELECT 1;\nSELECT E'a\\';\n", "close it with '"),
        ("SELECT 1;\nSELECT \"a;\n", "close it with \""),
        ("SELECT 1;\nSELECT $x$ $y$ $$;\n", "close it with $x$"),
        ("SELECT 1;\n/* /* */ SELECT 2;\n", "close it with */"),
        ("SELECT 1;\nSELECT (2;\n", "close it with )"),
        ("SELECT 1;\nSELECT (2\n\\set x 1\n", "close it with )"),
    ] {
        let found = mistakes(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].starts_with("a.sql:2: ") && found[0].ends_with(mark), "{text}: {}", found[0]);
    }
}

#[test]
fn a_script_without_a_command_is_a_mistake() {
    for text in ["", "\n\n", "-- nothing\n", "/* nothing */", ";"] {
        assert_mistakes(text, &["a.sql:1: the script has no command"]);
    }
}

const CHAIN: &str = "\\if :a = 1
one;
\\if :b
one_b;
\\else
one_not_b;
\\endif
\\elif :a = 2
two;
\\elif :a = 3
\\if :b
three_b;
\\endif
three;
\\else
other;
\\if :b = 0
\\else
other_b;
\\endif
\\endif
end;
";

#[test]
fn conditions_run_the_branch_that_holds() {
    for (a, b, sent) in [
        (1, 1, vec!["one", "one_b", "end"]),
        (1, 0, vec!["one", "one_not_b", "end"]),
        (2, 1, vec!["two", "end"]),
        (3, 1, vec!["three_b", "three", "end"]),
        (3, 0, vec!["three", "end"]),
        (4, 0, vec!["other", "end"]),
        (4, 1, vec!["other", "other_b", "end"]),
    ] {
        assert_eq!(run(CHAIN, &[("a", a), ("b", b)]), sent, "{a} {b}");
    }
}

#[test]
fn a_script_may_end_with_a_condition() {
    let text = "\\set x 0\n\\if NULL\nSELECT 1;\n\\elif :x\nSELECT 2;\n\\else\n\\sleep 2 us\n\\endif";
    assert_eq!(run(text, &[]), ["2000 ns"]);
}

#[test]
fn conditions_that_do_not_belong_together_are_told() {
    for (text, expected) in [
        ("\\if 1\n\\if 1\nSELECT 1;\n\\endif\n", "a.sql:1: `\\if` without `\\endif`"),
        ("SELECT 1;\n\\endif\n", "a.sql:2: `\\endif` without `\\if`"),
        ("SELECT 1;\n\\elif 1\n", "a.sql:2: `\\elif` without `\\if`"),
        ("\\else\nSELECT 1;\n", "a.sql:1: `\\else` without `\\if`"),
        ("\\if 1\n\\else\n\\else\n\\endif", "a.sql:3: `\\else` after the `\\else` of the `\\if` in line 1"),
        ("\\if 1\n\\else\n\\elif 1\n\\endif", "a.sql:3: `\\elif` after the `\\else`"),
        ("\\if (\nSELECT 1;\n\\endif\n", "a.sql:1: the expression ends"),
        (
            "\\if\nSELECT 1;\n\\endif\n",
            "a.sql:1: `\\if` without an expression: give one, such as \\if :x > 0",
        ),
        ("\\if 1\n\\elif \nSELECT 1;\n\\endif\n", "a.sql:2: `\\elif` without an expression"),
        ("\\if 1\nSELECT 1;\n\\endif 1\n", "a.sql:3: `\\endif` accepts no arguments: remove `1`"),
    ] {
        assert_mistakes(text, &[expected]);
    }
    assert_mistakes("\\if 1\n\\if 1\n\\if 1\n\\endif", &["a.sql:1: `\\if`", "a.sql:2: `\\if`"]);
}

#[test]
fn pipelines_that_do_not_belong_together_are_told() {
    for (text, expected) in [
        ("\\startpipeline\n\\startpipeline\n\\endpipeline\n", "a.sql:2: the pipeline of line 1 is not ended"),
        ("\\startpipeline\nSELECT 1;\n", "a.sql:1: the pipeline is not ended"),
        ("\\startpipeline\n\\endpipeline\n\\endpipeline\n", "a.sql:3: `\\endpipeline` without a pipeline"),
        (
            "\\startpipeline\nSELECT 1 \\gset\n\\endpipeline\n",
            "a.sql:2: `\\gset` within the pipeline of line 1, where no result is known before its end: put the statement",
        ),
        (
            "\\startpipeline\nSELECT 1;\n\\expect rows = 1\n\\endpipeline\n",
            "a.sql:3: `\\expect` within the pipeline",
        ),
        (
            "\\startpipeline\n\\if 1\n\\endpipeline\n\\else\n\\endpipeline\n\\endif\n\\syncpipeline\n",
            "a.sql:7: `\\syncpipeline` without a pipeline",
        ),
    ] {
        assert_mistakes(text, &[expected]);
    }
    // Whether a pipeline is open depends on the condition, as it does where it is ended.
    read("\\if :a\n\\startpipeline\n\\endif\nSELECT 1;\n\\if :a\n\\endpipeline\n\\endif\n");
}

#[test]
fn expectations_are_of_the_statement_before() {
    use super::operator::{Comparison, as_expected};
    let (script, _) =
        read("SELECT 1;\n\\expect rows >= 1\n\\expect rows<>:n\nSELECT 2 \\gset\n\\expect rows = 1\n");
    let expected: Vec<Comparison> = script
        .commands
        .iter()
        .filter_map(|command| match &command.step {
            Step::Expect { comparison, .. } => Some(*comparison),
            _ => None,
        })
        .collect();
    assert_eq!(expected, [Comparison::AtLeast, Comparison::Different, Comparison::Equal]);
    assert_mistakes(
        "SELECT 1;\n\\set x 1\n\\expect rows = 1\n",
        &["a.sql:3: `\\expect` without a statement"],
    );
    assert_mistakes(
        "\\if 1\nSELECT 1;\n\\endif\n\\expect rows = 1\n",
        &["a.sql:4: `\\expect` without a statement"],
    );
    for (rows, comparison, value, is_so) in [
        (3, Comparison::Equal, Value::Integer(3), Some(true)),
        (3, Comparison::Different, Value::Integer(3), Some(false)),
        (3, Comparison::Less, Value::Double(3.5), Some(true)),
        (3, Comparison::AtMost, Value::Text("2".to_owned()), Some(false)),
        (3, Comparison::Greater, Value::Integer(3), Some(false)),
        (3, Comparison::AtLeast, Value::Integer(3), Some(true)),
        (3, Comparison::Equal, Value::Null, None),
        (3, Comparison::Equal, Value::Boolean(true), None),
        (3, Comparison::Equal, Value::Text("many".to_owned()), None),
    ] {
        let found = as_expected(rows, comparison, &value).map_err(|wrong| wrong.to_string());
        match is_so {
            Some(is_so) => assert_eq!(found, Ok(is_so), "{comparison:?} {value}"),
            None => assert!(found.unwrap_err().contains("cannot compare the rows with"), "{value}"),
        }
    }
}

#[test]
fn scripts_share_the_names_of_their_variables() {
    let mut names = Names::default();
    Script::read("a.sql", "\\set x 1\nSELECT :x, :y;", &mut names).unwrap();
    let second = Script::read("b.sql", "SELECT :y;", &mut names).unwrap();
    assert_eq!(statements(&second)[0].1.pieces[1], Piece::Variable(names.find("y").unwrap()));
    assert_eq!(names.len(), 2);
}

#[test]
fn a_script_is_plain_data() {
    for text in [
        TPCB_LIKE,
        CHAIN,
        "\\set x -1.5e-3 / CASE WHEN :a THEN 1 END\nSELECT :x \\gset p_\n\\expect rows = :x\n",
    ] {
        let (script, _) = read(text);
        let stored = serde_json::to_string(&script).unwrap();
        assert_eq!(serde_json::from_str::<Script>(&stored).unwrap(), script);
    }
}

/// Pieces of scripts that mean something, alone or together.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = proptest::sample::select(vec![
        "SELECT 1",
        ";",
        "\n",
        " ",
        "\\",
        "\\;",
        "\\:",
        "\\\n",
        "\r\n",
        "'",
        "''",
        "\"",
        "E'",
        "\\'",
        "$",
        "$$",
        "$x$",
        "(",
        ")",
        "--",
        "/*",
        "*/",
        ":a",
        "::",
        ":",
        "größe",
        "\\set x ",
        "1 + ",
        ":x",
        "\\if 1\n",
        "\\elif ",
        "\\else\n",
        "\\endif\n",
        "\\gset",
        "\\aset p_\n",
        "\\sleep 1 ms\n",
        "\\startpipeline\n",
        "\\endpipeline\n",
        "\\expect rows = ",
        "CREATE FUNCTION ",
        "BEGIN ",
        "END",
        "\u{feff}",
        "\0",
        "变",
    ]);
    proptest::collection::vec(fragment, 0..30).prop_map(|fragments| fragments.concat())
}

/// Reads a text that may be anything, and looks at all that was read.
fn read_anything(text: &str) {
    let mut names = Names::default();
    match Script::read("a.sql", text, &mut names) {
        Ok(script) => {
            let end = script.commands.len();
            for command in &script.commands {
                assert!((1..=text.lines().count() + 1).contains(&command.line), "{command:?}");
                if let Step::Branch { otherwise: target, .. } | Step::Jump(target) = &command.step {
                    assert!((1..=end).contains(target), "{command:?}");
                }
            }
            for (_, statement) in statements(&script) {
                assert!(
                    statement.statements_in_it() > 0 && !statement.first_words(&names).is_empty(),
                    "{statement:?}"
                );
            }
        }
        Err(mistakes) => assert!(!mistakes.is_empty() && mistakes.is_sorted_by_key(|mistake| mistake.line)),
    }
}

proptest! {
    #[test]
    fn reading_never_panics(text: String) {
        read_anything(&text);
    }

    #[test]
    fn reading_fragments_never_panics(text in fragments()) {
        read_anything(&text);
    }

    /// What is one statement by its own text is read as that text, with its variables in their places.
    #[test]
    fn joined_pieces_are_the_source(words in proptest::collection::vec(proptest::sample::select(vec![
        "SELECT", "a", ":b", "::int", "':c;'", "\"d;\"", "$$;e:f$$", "$t$ $$ $t$", "E'\\';'", "/* ; */", "-- ;\n", "(1; 2)", "+",
        "1.5", "größe", ":größe", ":=", "[1:2]", "\n", "\t", "''", "x$y$", "$1",
    ]), 0..20)) {
        let source = format!("SELECT {} 1", words.join(" "));
        prop_assert_eq!(texts(&format!("  {source} ;\n")), [(1, source)]);
    }
}
