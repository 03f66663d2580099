//! pgbench's scripts and tables, on every engine.

use instance::TdsServer;

use super::*;
use crate::script::builtin::{self, Tables};

/// Makes pgbench's tables of scale 1, and runs its scripts on them.
fn banks(url: &Url) {
    let own = block_on(Own::make(url, "", &claim(Existing::AsItIs))).unwrap();
    let mut rows = 0;
    let mut loaded = |more| {
        rows += more;
        true
    };
    let lease = own.lease();
    let standing = || block_on(async { builtin::standing(&mut lease.session().await.unwrap()).await });
    assert_eq!(standing(), Ok(Tables::None));
    assert_eq!(block_on(builtin::make(&lease, 1, &mut loaded)), Ok(true));
    assert_eq!((rows, standing()), (100_011, Ok(Tables::Of(1))));
    let all =
        "builtin = [\"select-only\", \"simple-update\", \"tpcb-like@2\"]\nclients = 3\nmax_tries = 1000";
    // Scripts are drawn: on a slow server one may not come up within a second.
    let ran = ran_each(url, &[], all, &["select-only", "simple-update", "tpcb-like"]);
    assert!(ran.outcome.stopped.is_empty() && ran.outcome.disagreement.is_none(), "{:?}", ran.outcome);
    assert_eq!(ran.setup.scale, Some(1));
    let written = ran.count("simple-update") + ran.count("tpcb-like");
    let told = rows_of(url, "SELECT count(*) FROM pgbench_history");
    assert!((written..=written + 3).contains(&told), "{told} of {written}");
    let balances = ran.outcome.balances.unwrap();
    assert_eq!((balances.accounts, balances.tellers), (balances.history, balances.branches));
    if url.engine().dialect() != Dialect::Sqlite {
        as_procedures(url, told, all);
    }
}

/// The same, each script a procedure.
fn as_procedures(url: &Url, before: u64, all: &str) {
    let ran = ran_each(url, &[], &format!("{all}\nprotocol = \"procedure\""), &["transaction"]);
    assert!(ran.outcome.stopped.is_empty() && ran.outcome.disagreement.is_none(), "{:?}", ran.outcome);
    assert_eq!(ran.outcome.notes, Vec::<String>::new());
    let written = ran.count("simple-update") + ran.count("tpcb-like");
    let told = rows_of(url, "SELECT count(*) FROM pgbench_history") - before;
    assert!((written..=written + 3).contains(&told), "{told} of {written}");
    let balances = ran.outcome.balances.unwrap();
    assert_eq!((balances.accounts, balances.tellers), (balances.history, balances.branches));
}

/// What somebody else does meanwhile is found.
#[test]
fn balances_that_others_change_during_the_load_do_not_agree() {
    let (_directory, url) = file();
    let own = block_on(Own::make(&url, "", &claim(Existing::AsItIs))).unwrap();
    block_on(builtin::make(&own.lease(), 1, &mut |_| true)).unwrap();
    script(
        &url,
        "CREATE TRIGGER spoil AFTER INSERT ON pgbench_history BEGIN UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1; END",
    );
    let ran = ran_each(&url, &[], "builtin = [\"tpcb-like\"]", &["transaction"]);
    let balances = ran.outcome.balances.unwrap();
    assert!(balances.branches > balances.tellers, "{balances:?}");
    let told = ran.outcome.disagreement.unwrap();
    assert!(told.contains(&format!("branches by {}", balances.branches)), "{told}");
}

#[test]
fn built_in_scripts_leave_balances_that_agree_on_every_engine() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("bank.db");
    rusqlite::Connection::open(&file)
        .unwrap()
        .execute_batch("PRAGMA journal_mode = wal; PRAGMA user_version = 1")
        .unwrap();
    banks(&format!("sqlite:{}", file.display()).parse().unwrap());
    let postgres = Postgres::start(&Options::default()).unwrap();
    banks(&postgres.url().parse().unwrap());
    let mariadb = MariaDb::start(&Options::default()).unwrap();
    script(&mariadb.url().parse().unwrap(), "CREATE DATABASE theirs");
    banks(&mariadb.url().parse::<Url>().unwrap().with_database("theirs"));
    if let Some(sql_server) = TdsServer::start(&[]).unwrap() {
        script(&sql_server.url().parse().unwrap(), "CREATE DATABASE theirs");
        banks(&sql_server.url().parse::<Url>().unwrap().with_database("theirs"));
    }
}

#[test]
fn tables_that_are_half_there_are_told_as_such() {
    let (_directory, url) = file();
    script(&url, "CREATE TABLE pgbench_branches (bid int)");
    let told = block_on(async { builtin::standing(&mut Session::open_as_it_is(&url).await.unwrap()).await });
    let told = told.unwrap_err().to_string();
    assert!(told.contains("but not pgbench_tellers, pgbench_accounts, pgbench_history"), "{told}");
    script(
        &url,
        "INSERT INTO pgbench_branches VALUES (1); CREATE TABLE pgbench_tellers (tid int); CREATE TABLE pgbench_accounts (aid int); \
         CREATE TABLE pgbench_history (tid int)",
    );
    let told = block_on(async { builtin::standing(&mut Session::open_as_it_is(&url).await.unwrap()).await });
    assert!(told.unwrap_err().to_string().contains("1 branches and 0 tellers"));
}
