//! Statements that a server would refuse are known before a load, and none of them is run.

use super::*;

/// What is wrong with scripts in a database, as `FILE:LINE: WORDS`.
fn wrong(url: &Url, scripts: &[&str], settings: &str) -> Vec<String> {
    block_on(looked_at(url, scripts, settings))
}

async fn looked_at(url: &Url, scripts: &[&str], settings: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let mut settings: Settings = toml::from_str(settings).unwrap();
    for (number, text) in scripts.iter().enumerate() {
        let path = directory.path().join(format!("{}.sql", ["a", "b"][number]));
        std::fs::write(&path, text).unwrap();
        settings.files.push(ScriptFile { path, weight: 1 });
    }
    let job = check(&Job::of(&settings).unwrap(), url.engine().dialect(), &mut Logs::default()).unwrap();
    let mut session = Session::open_as_it_is(url).await.unwrap();
    let looking = mistakes(&job, &mut session, false);
    tokio::time::timeout(std::time::Duration::from_secs(60), looking).await.expect("it waits").unwrap()
}

/// Each of the mistakes begins with a place, and they are no more than these.
fn assert_places(told: &[String], places: &[&str]) {
    let are_there = told.iter().zip(places).all(|(told, place)| told.starts_with(place));
    assert!(told.len() == places.len() && are_there, "{places:?} in {told:?}");
}

/// What holds on every engine that scripts run on.
fn check_on(url: &Url) {
    let broken = "SELECT n FROM t WHERE id = 1;\nSELCT 1;\nUPDATE nowhere SET n = 1;\n\\set x 3\nSELECT m FROM t WHERE id = :x;\n";
    for protocol in ["prepared", "simple", "extended"] {
        let settings = format!("protocol = \"{protocol}\"");
        let told = wrong(url, &[broken, "DELETE FROM gone WHERE id = 1;\n"], &settings);
        assert_places(&told, &["a.sql:2: ", "a.sql:3: ", "a.sql:5: ", "b.sql:1: "]);
        assert!(told[1].contains("nowhere") && told[2].contains('m') && told[3].contains("gone"), "{told:?}");
        let right = "\\set x random(1, 9)\nUPDATE t SET n = n + :x WHERE id = :x;\nDELETE FROM t WHERE id = :x;\nINSERT INTO t VALUES (:x, 7);\n";
        assert_places(&wrong(url, &[right], &settings), &[]);
    }
    assert_eq!(rows_of(url, "SELECT count(*) FROM t WHERE n = 0"), 10, "nothing was run");
    // Who makes a table may use it, in whichever script.
    let makes = "CREATE TABLE made (a int);\nDROP TABLE made;\n";
    assert_places(&wrong(url, &[makes, "SELECT a FROM made;\n"], ""), &[]);
    assert_places(&wrong(url, &[makes, "SELECT a FRM made;\n"], ""), &["b.sql:1: "]);
    // A branch may be for another version of the server.
    let branch = "SELECT 1;\n\\if :client_id > 3\nSELECT a FROM nowhere;\n\\endif\nSELECT b FROM nowhere;\n";
    assert_places(&wrong(url, &[branch], ""), &["a.sql:5: "]);
    // Which name a result gives, nobody knows.
    let result = "SELECT 't' AS name \\gset\nSELECT n FROM :name;\n";
    assert_places(&wrong(url, &[result], "protocol = \"simple\""), &[]);
    let defined = "SELECT n FROM :name;\n";
    assert_places(&wrong(url, &[defined], "protocol = \"simple\"\ndefine = [\"name=gone\"]"), &["a.sql:1: "]);
    assert_places(&wrong(url, &[defined], "protocol = \"simple\"\ndefine = [\"name=t\"]"), &[]);
}

#[test]
fn sqlite_tells_mistakes_before_the_load() {
    let (_directory, url) = file();
    check_on(&url);
    let told = wrong(&url, &["SELECT 1,\n  2,\n  FROM t;\n"], "");
    assert_places(&told, &["a.sql:3: near \"FROM\": syntax error"]);
    assert_places(
        &wrong(&url, &["SELECT 1 \\; SELECT a FROM gone;\n"], "protocol = \"simple\""),
        &["a.sql:1: "],
    );
}

#[test]
fn postgresql_tells_mistakes_before_the_load() {
    let server = Postgres::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    script(&url, TABLE);
    check_on(&url);
    let told = wrong(&url, &["SELECT n\nFROM t\nWHERE nope = 1;\n"], "");
    assert_places(&told, &["a.sql:3: column \"nope\" does not exist"]);
    let typeless = "\\set x 1\nSELECT :x + :x FROM t;\n";
    assert_eq!(wrong(&url, &[typeless], "").len(), 1, "the types of these are not known");
    assert_places(&wrong(&url, &[typeless], "protocol = \"procedure\""), &[]);
    for passed in [
        "VACUUM t;\n",
        "SET search_path TO elsewhere;\nSELECT n FROM u;\n",
        "CREATE TEMP TABLE u (n int) ON COMMIT DROP;\nSELECT n FROM u;\n",
        "SELECT 1 AS n INTO TEMP u;\nSELECT n FROM u;\n",
    ] {
        assert_places(&wrong(&url, &[passed], ""), &[]);
    }
    let harmless = "SET synchronous_commit TO off;\nSELECT n FROM u;\n";
    assert_places(&wrong(&url, &[harmless], ""), &["a.sql:2: "]);
}

#[test]
fn mariadb_tells_mistakes_before_the_load() {
    let server = MariaDb::start(&Options::default()).unwrap();
    let url: Url = server.url().parse().unwrap();
    script(&url, TABLE);
    check_on(&url);
    assert_places(&wrong(&url, &["SET @x = 7;\nSELECT n FROM u;\n"], ""), &["a.sql:2: "]);
    // MariaDB looks for a procedure only when it is called.
    assert_places(&wrong(&url, &["CALL nobody();\n"], ""), &[]);
    assert_places(&wrong(&url, &["FLUSH STATUS;\nSELECT n FROM t;\n"], ""), &[]);
}

/// A table that was locked by somebody else once held up the look at the statements, without a word and without end.
#[test]
fn a_locked_table_is_not_waited_for_and_is_no_mistake() {
    let (postgres, mariadb) =
        (Postgres::start(&Options::default()).unwrap(), MariaDb::start(&Options::default()).unwrap());
    for (url, lock) in
        [(postgres.url(), &["BEGIN", "LOCK TABLE t"][..]), (mariadb.url(), &["LOCK TABLES t WRITE"])]
    {
        let url: Url = url.parse().unwrap();
        script(&url, TABLE);
        let told = block_on(async {
            let mut session = Session::open_as_it_is(&url).await.unwrap();
            for sql in lock {
                session.execute(sql, &[]).await.unwrap();
            }
            looked_at(&url, &["UPDATE t SET n = 1;\nSELCT 1;\n"], "").await
        });
        assert_places(&told, &["a.sql:2: "]);
    }
}
