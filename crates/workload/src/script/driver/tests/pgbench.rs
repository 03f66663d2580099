//! What pgbench's documentation lists, on a PostgreSQL.

use super::*;

#[test]
fn a_pipeline_is_one_transaction_and_each_of_its_statements_counts() {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    script(
        &url,
        "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL CHECK (n < 1000000)); INSERT INTO t VALUES (1, 0), (2, 0)",
    );
    let both = "\\startpipeline\nUPDATE t SET n = n + :by WHERE id = 1;\n\\syncpipeline\nUPDATE t SET n = n + :by WHERE id = 2;\n\
                SELECT n FROM t;\n\\endpipeline\nSELECT sum(n) AS s FROM t \\gset\n";
    for protocol in ["prepared", "extended"] {
        let ran = ran(&url, &[both], &format!("define = [\"by=1\"]\nprotocol = \"{protocol}\""));
        let transactions = ran.count("transaction");
        assert!(transactions > 10, "{transactions}");
        for line in ["a.sql:2", "a.sql:4", "a.sql:5", "a.sql:7"] {
            assert_eq!(ran.count(line), transactions, "{protocol}, {line}");
        }
    }
    let held = rows(&url, "SELECT n FROM t ORDER BY id");
    assert_eq!(held[0], held[1]);
    // Without a sync between, the first is undone with the second; and the place is that of the second.
    let one = "\\startpipeline\nUPDATE t SET n = 7 WHERE id = 1;\nUPDATE t SET n = 1000000 WHERE id = 2;\nSELECT 1;\n\\endpipeline\n";
    let told = ran(&url, &[one], "clients = 1").outcome.stopped.into_iter().next().unwrap();
    assert!(told.contains("a.sql:3: ") && told.contains("violates check constraint"), "{told}");
    assert_eq!(rows(&url, "SELECT n FROM t ORDER BY id"), held);
}

#[test]
fn a_pipeline_that_branches_leave_open_stops_its_client() {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    for (script, expected) in [
        ("\\if true\n\\startpipeline\n\\endif\nSELECT 1;\n", "ends within a pipeline"),
        (
            "\\if true\n\\startpipeline\n\\endif\nSELECT 1 AS x \\gset\n\\endpipeline\n",
            "a.sql:4: results are not available within a pipeline",
        ),
        ("\\if false\n\\startpipeline\n\\endif\n\\endpipeline\nSELECT 1;\n", "a.sql:4: no pipeline is open"),
        (
            "\\if true\n\\startpipeline\n\\endif\n\\startpipeline\n\\endpipeline\nSELECT 1;\n",
            "a.sql:4: a pipeline is open",
        ),
    ] {
        let told = ran(&url, &[script], "clients = 1").outcome.stopped.into_iter().next().unwrap();
        assert!(told.contains(expected), "{expected} in {told}");
    }
}

/// What a statement gives is what the server writes, whichever way it was sent.
#[test]
fn values_of_results_are_as_the_server_writes_them() {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    script(&url, "CREATE TABLE seen (way text, value text, bit bigint)");
    for protocol in ["simple", "extended", "prepared"] {
        // Within quotes a variable is one with the first alone.
        let value =
            |name: &str| if protocol == "simple" { format!("':{name}'") } else { format!(":{name}::text") };
        let values = ["t", "f", "far", "inf", "seven"].map(value).join(", ");
        let sql = format!(
            "SELECT 1=1 AS t, 1=0 AS f, 1e30::float8 AS far, 'Infinity'::float8 AS inf, 7::bigint AS seven \\gset\n\
             \\set is_not NOT :t\n\\if :t is true and not :is_not\n\\set bit 1\n\\else\n\\set bit 0\n\\endif\n\
             INSERT INTO seen SELECT '{protocol}', concat_ws(' ', {values}), :bit \
             WHERE NOT EXISTS (SELECT 1 FROM seen WHERE way = '{protocol}');\n"
        );
        let ran = ran(&url, &[&sql], &format!("clients = 1\nprotocol = \"{protocol}\""));
        assert_eq!(ran.outcome.stopped, [""; 0], "{protocol}");
        let seen = rows(&url, &format!("SELECT value, bit FROM seen WHERE way = '{protocol}'"));
        assert_eq!(seen, [[Value::Text("t f 1e+30 Infinity 7".to_owned()), Value::I64(1)]], "{protocol}");
    }
}

#[test]
fn a_row_of_no_columns_is_a_row_and_a_column_of_no_name_is_told() {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    for protocol in ["simple", "prepared"] {
        let settings = format!("clients = 1\nprotocol = \"{protocol}\"");
        let none = ran(&url, &["SELECT \\gset\nSELECT 1 AS one \\gset\n"], &settings);
        assert_eq!(none.outcome.stopped, [""; 0], "{protocol}");
        for script in ["SELECT 1 \\gset\n", "SELECT 1 AS \"bad name!\" \\gset\n", "SELECT 1 \\aset\n"] {
            let told = ran(&url, &[script], &settings).outcome.stopped.into_iter().next().unwrap();
            assert!(told.contains("a.sql:1: no variable can be called `"), "{protocol}: {told}");
        }
    }
}

/// Each function and operator, with what it comes to.
const EXPRESSIONS: [(&str, &str); 18] = [
    ("abs(-7)", "7"),
    ("double(7)", "7"),
    ("exp(0)", "1"),
    ("greatest(1, 7, 3)", "7"),
    ("hash(7) - hash_murmur2(7)", "0"),
    ("hash_fnv1a(7) - hash_fnv1a(7)", "0"),
    ("int(7.2)", "7"),
    ("int(7.9)", "8"),
    ("least(9, 7, 8)", "7"),
    ("ln(1)", "0"),
    ("mod(17, 10)", "7"),
    ("int(pi() * 100)", "314"),
    ("pow(2, 3)", "8"),
    ("power(2, 3)", "8"),
    ("sqrt(49)", "7"),
    ("CASE WHEN 1 = 2 THEN 1 WHEN NULL IS NULL AND NOT false THEN 7 ELSE 2 END", "7"),
    ("(5 & 3) + (5 | 2) + (5 # 1) + (~0) + (1 << 3) + (16 >> 2) - 1", "22"),
    ("2 + 3 * 4 - 9 / 3 % 2", "13"),
];

/// The list of pgbench's documentation, <https://www.postgresql.org/docs/current/pgbench.html>, with functions and operators.
#[test]
fn each_command_of_pgbench_runs_or_is_refused_by_its_name() {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    let is = |expression: &str, expected: &str| {
        format!("\\set x {expression}\nSELECT 1 WHERE :x = {expected};\n\\expect rows = 1\n")
    };
    let drawn = |expression: &str| {
        format!("\\set x {expression}\nSELECT 1 WHERE :x BETWEEN 1 AND 9;\n\\expect rows = 1\n")
    };
    let mut all = vec![
        "SELECT 7 AS seven, 'a' AS letter \\gset\nSELECT 1 WHERE :seven = 7 AND :letter::text = 'a';\n\\expect rows = 1\n".to_owned(),
        "SELECT 7 AS seven \\gset p_\nSELECT 1 WHERE :p_seven = 7;\n\\expect rows = 1\n".to_owned(),
        "\\set seven 1\nSELECT 7 AS seven WHERE false \\aset\nSELECT 1 WHERE :seven = 1;\n\\expect rows = 1\n".to_owned(),
        "\\if false\nSELECT 1 / 0;\n\\elif true\nSELECT 1;\n\\else\nSELECT 1 / 0;\n\\endif\n".to_owned(),
        "\\sleep 1 us\n\\sleep 1 ms\n\\sleep 0 s\nSELECT 1;\n".to_owned(),
        "\\startpipeline\nSELECT 1;\n\\syncpipeline\nSELECT 2;\n\\endpipeline\n".to_owned(),
    ];
    for (expression, expected) in EXPRESSIONS {
        all.push(is(expression, expected));
    }
    for expression in [
        "random(1, 9)",
        "random_exponential(1, 9, 2.5)",
        "random_gaussian(1, 9, 2.5)",
        "random_zipfian(1, 9, 1.5)",
        "permute(3, 9) + 1",
    ] {
        all.push(drawn(expression));
    }
    let ran = ran(&url, &[&all.concat()], "");
    assert!(ran.outcome.stopped.is_empty(), "{:?}", ran.outcome);
    assert_eq!((ran.outcome.unmet, ran.outcome.first_unmet), (0, None));
    assert!(
        ran.intervals
            .iter()
            .filter_map(|interval| interval.operations.get("transaction"))
            .any(|all| all.count > 0)
    );
    for refused in ["\\shell ls\n", "\\setshell x ls\n"] {
        let told = try_run(&url, &[refused], "").err().unwrap().to_string();
        let name = refused.split(' ').next().unwrap();
        assert!(told.contains(name), "{name} in {told}");
    }
}
