//! Real pairs: redundant, broken, taken over, and gone without a trace.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use instance::{Engine, Failover, Known, Limits, Options, Pair, PairKind, PairOptions, Part, Seen, Standing};

/// However slow the machine is, it is there by then.
const LONG: Duration = Duration::from_secs(300);

fn redundant(pair: &mut Pair) {
    pair.wait_until_redundant(LONG, &AtomicBool::new(false)).unwrap();
}

/// The node that takes writes and is not the given one.
fn other_primary(pair: &mut Pair, gone: &str) -> String {
    pair.wait_for_other_primary(gone, LONG, &AtomicBool::new(false)).unwrap()
}

/// What the node that writes says to a statement, by the address of the pair.
fn told(pair: &Pair, statement: &str) -> Result<String, String> {
    let output = psql(pair, statement).output().unwrap();
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

fn psql(pair: &Pair, statement: &str) -> Command {
    if pair.what().0 == Engine::MariaDb {
        return mariadb(pair, statement);
    }
    let mut psql = Command::new("psql");
    psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--command", statement]);
    psql.env("PGCONNECT_TIMEOUT", "3").arg(pair.url());
    psql
}

/// Its client knows no address of several nodes.
fn mariadb(pair: &Pair, statement: &str) -> Command {
    let node = pair.primary().unwrap().unwrap();
    let url = pair.url_of(&node).unwrap();
    let port = url.trim_end_matches("/mysql").rsplit(':').next().unwrap();
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "--batch", "--skip-column-names", "-h127.0.0.1", "-uprony", "-P", port]);
    client.args(["-e", statement]).env("MYSQL_PWD", "secret");
    client
}

/// The processes that stand below a directory.
fn processes_below(directory: &Path) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let places = entries.filter_map(|entry| std::fs::read_link(entry.path().join("cwd")).ok());
    places.filter(|place| place.starts_with(directory)).count()
}

/// A directory in which servers' users may pass.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place
}

#[test]
fn a_synchronous_pair_fails_over_keeps_what_it_acknowledged_and_becomes_redundant_again() {
    let place = place();
    let options = Options::default().parent_directory(place.path()).setting("max_connections", "77");
    let options = PairOptions::of(options).failover(Failover::Tuned).timeout("startup_grace_period", "2000");
    let mut pair = Pair::start(Engine::Postgres, PairKind::Sync, &options).unwrap();
    let settings = pair.settings().unwrap();
    let value = |name: &str| settings.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    assert_eq!(value("pgautofailover.health_check_period"), Some("500 ms"), "{settings:?}");
    assert_eq!(value("pgautofailover.startup_grace_period"), Some("2000 ms"));
    assert_eq!(value("timeout.network_partition_timeout"), Some("20"));
    assert_eq!(told(&pair, "SHOW max_connections").unwrap(), "77");
    assert_eq!(told(&pair, "SHOW shared_buffers").unwrap(), "128MB");

    let first = pair.primary().unwrap().unwrap();
    told(&pair, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)").unwrap();
    let watch = pair.watch();
    assert!(!watch.look().is_noticed, "all are in their places");
    pair.kill_node(&first).unwrap();
    let second = other_primary(&mut pair, &first);
    assert!(watch.look().is_noticed, "the monitor has another one in its place");
    let nodes = pair.nodes();
    let of = |name: &str| nodes.iter().find(|node| node.name == name).unwrap();
    assert!(of(&second).is_primary && of(&second).keeper_pid.is_some() && of("monitor").is_witness);
    assert_eq!((of(&first).server_pid, of(&first).keeper_pid), (None, None));
    assert_eq!(told(&pair, "SELECT n FROM kept").unwrap(), "1");
    assert!(pair.kill_node(&first).unwrap_err().to_string().contains("it is not running"));

    pair.restart_node(&first).unwrap();
    redundant(&mut pair);
    assert!(!watch.look().is_noticed, "it is back");
    assert_eq!(pair.primary().unwrap(), Some(second.clone()));
    pair.switchover().unwrap();
    assert_eq!(other_primary(&mut pair, &second), first);
    pair.kill_server(&first).unwrap();
    redundant(&mut pair);
    assert!(pair.kill_server("node3").unwrap_err().to_string().contains("node1, node2"));
    drop(pair);
    assert_eq!((processes_below(place.path()), std::fs::read_dir(place.path()).unwrap().count()), (0, 0));
}

#[test]
fn an_asynchronous_pair_is_promoted_on_demand_and_two_primaries_are_noticed() {
    let limits = Limits { memory_bytes: Some(512 << 20), ..Limits::default() };
    // A user who may make no groups gets nodes without limits.
    let may_limit = rustix::process::geteuid().is_root();
    let options = if may_limit { Options::default().limits(limits) } else { Options::default() };
    let mut pair = Pair::start(Engine::Postgres, PairKind::Async, &PairOptions::of(options)).unwrap();
    for node in pair.nodes().iter().filter(|_| may_limit) {
        let inside = pair.group(&node.name).unwrap().unwrap().processes().unwrap();
        assert!(inside.contains(&node.server_pid.unwrap()), "{node:?} is not among {inside:?}");
    }
    assert_eq!(told(&pair, "SHOW synchronous_commit").unwrap(), "local");
    told(&pair, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)").unwrap();
    pair.switchover().unwrap();
    assert_eq!(pair.primary().unwrap().as_deref(), Some("node2"));
    assert_eq!(told(&pair, "SELECT n FROM kept").unwrap(), "1", "a primary that is stopped gives all it has");
    redundant(&mut pair);

    pair.freeze("node1", Part::WalReceiver).unwrap();
    told(&pair, "INSERT INTO kept VALUES (2)").unwrap();
    pair.thaw("node1", Part::WalReceiver).unwrap();
    pair.kill_node("node2").unwrap();
    assert_eq!(pair.primary().unwrap(), None, "nothing takes over by itself");
    pair.switchover().unwrap();
    assert_eq!(pair.primary().unwrap().as_deref(), Some("node1"));
    told(&pair, "INSERT INTO kept VALUES (3)").unwrap();
    pair.restart_node("node2").unwrap();
    redundant(&mut pair);

    pair.freeze("node1", Part::Server).unwrap();
    assert_eq!(pair.primaries(), Vec::<String>::new(), "who hangs takes nothing");
    pair.thaw("node1", Part::Server).unwrap();
    pair.promote("node2").unwrap();
    assert_eq!(pair.primaries(), ["node1", "node2"]);
    assert!(pair.primary().unwrap_err().to_string().starts_with("two primaries at once: node1 and node2"));
    let refused = pair.freeze("node2", Part::WalReceiver).unwrap_err().to_string();
    assert!(refused.starts_with("cannot freeze the WAL receiver of node2"), "{refused}");
}

/// What a standby has received in part it would go on to write, were it let go: only one that is ended has nothing of what was frozen out.
#[test]
fn what_a_standby_has_not_received_is_lost_with_the_first_node_and_nothing_else_is() {
    let received = "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_stat_replication WHERE flush_lsn >= pg_current_wal_lsn()) LOOP \
                    PERFORM pg_sleep(0.02), pg_stat_clear_snapshot(); END LOOP; END $$";
    for (engine, table) in [(Engine::Postgres, "kept"), (Engine::MariaDb, "mysql.kept")] {
        let mut pair = Pair::start(engine, PairKind::Async, &PairOptions::default()).unwrap();
        told(&pair, &format!("CREATE TABLE {table} (n int); INSERT INTO {table} VALUES (1)")).unwrap();
        if engine == Engine::Postgres {
            told(&pair, received).unwrap();
        } else {
            redundant(&mut pair);
        }
        pair.freeze("node2", Part::WalReceiver).unwrap();
        assert!(!pair.watch().look().is_redundant || engine == Engine::Postgres);
        told(&pair, &format!("INSERT INTO {table} VALUES (2)")).unwrap();
        pair.kill_node("node1").unwrap();
        assert_eq!(pair.watch().look().primaries, Vec::<String>::new());
        pair.switchover().unwrap();
        assert_eq!(pair.watch().look().primaries, ["node2"]);
        assert_eq!(told(&pair, &format!("SELECT n FROM {table}")).unwrap(), "1");
        pair.thaw("node2", Part::WalReceiver).unwrap();
        told(&pair, &format!("INSERT INTO {table} VALUES (3)")).unwrap();
        pair.restart_node("node1").unwrap();
        redundant(&mut pair);
        assert_eq!(pair.primaries(), ["node2"]);
    }
}

#[test]
fn a_quorum_of_two_standbys_acknowledges_with_one_of_them_and_not_with_none() {
    let mut pair = Pair::start(Engine::Postgres, PairKind::Quorum, &PairOptions::default()).unwrap();
    told(&pair, "CREATE TABLE kept (n int)").unwrap();
    pair.kill_node("node2").unwrap();
    told(&pair, "INSERT INTO kept VALUES (1)").unwrap();
    assert!(!pair.is_redundant().unwrap());
    pair.kill_server("node3").unwrap();
    // Neither a timeout of statements nor one of locks ends such a wait.
    let mut waiting = psql(&pair, "INSERT INTO kept VALUES (2)").spawn().unwrap();
    let wait = "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep') LOOP \
                PERFORM pg_sleep(0.02), pg_stat_clear_snapshot(); END LOOP; END $$";
    told(&pair, wait).unwrap();
    pair.kill_everything().unwrap();
    assert!(!waiting.wait().unwrap().success(), "nobody acknowledged it");
    assert_eq!(pair.primaries(), Vec::<String>::new());
    pair.start_again().unwrap();
    redundant(&mut pair);
    assert_eq!(told(&pair, "SELECT min(n) FROM kept").unwrap(), "1");
    pair.kill_node("node1").unwrap();
    pair.switchover().unwrap();
    assert_ne!(pair.primary().unwrap().unwrap(), "node1");
    told(&pair, "INSERT INTO kept VALUES (3)").unwrap();
    assert!(pair.nodes().iter().all(|node| node.keeper_pid.is_none()));
}

#[test]
fn a_pair_of_galera_goes_on_with_one_node_and_restores_itself_after_an_end_of_everything() {
    let options = PairOptions::default().failover(Failover::Tuned).timeout("evs.suspect_timeout", "PT1.5S");
    let mut pair = Pair::start(Engine::MariaDb, PairKind::Sync, &options).unwrap();
    let settings = pair.settings().unwrap();
    let value = |name: &str| settings.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    assert_eq!((value("evs.suspect_timeout"), value("evs.install_timeout")), (Some("PT1.5S"), Some("PT2S")));
    told(
        &pair,
        "CREATE DATABASE test; CREATE TABLE test.kept (n int PRIMARY KEY); INSERT INTO test.kept VALUES (1)",
    )
    .unwrap();
    assert_eq!(pair.primary().unwrap().as_deref(), Some("node1"));
    pair.kill_node("node1").unwrap();
    assert_eq!(other_primary(&mut pair, "node1"), "node2");
    assert!(pair.watch().look().is_noticed, "the group goes on with fewer members");
    told(&pair, "INSERT INTO test.kept VALUES (2)").unwrap();
    assert_eq!(told(&pair, "SELECT count(*) FROM test.kept").unwrap(), "2");
    pair.restart_node("node1").unwrap();
    redundant(&mut pair);
    let seen = pair.watch().look();
    assert!(seen.is_redundant && !seen.is_noticed, "{seen:?}");

    // Who came back is not written to, and a client that waits is told to go elsewhere.
    assert_eq!(pair.primaries(), ["node2"]);
    let mut waiting = psql(&pair, "SELECT sleep(100000)").spawn().unwrap();
    let clients = "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'SELECT sleep%'";
    while told(&pair, clients).unwrap() != "1" {}
    pair.switchover().unwrap();
    assert!(!waiting.wait().unwrap().success());
    assert_eq!(pair.watch().look().primaries, ["node1"]);
    assert!(pair.promote("node2").unwrap_err().to_string().contains("use a switchover"));
    redundant(&mut pair);
    pair.restart_everything().unwrap();
    redundant(&mut pair);
    pair.kill_everything().unwrap();
    pair.start_again().unwrap();
    redundant(&mut pair);
    assert_eq!(told(&pair, "SELECT count(*) FROM test.kept").unwrap(), "2");
}

#[test]
fn a_replica_of_mariadb_is_promoted_on_demand_and_the_lost_node_follows_from_the_beginning() {
    let mut pair = Pair::start(Engine::MariaDb, PairKind::Async, &PairOptions::default()).unwrap();
    told(
        &pair,
        "CREATE DATABASE test; CREATE TABLE test.kept (n int PRIMARY KEY); INSERT INTO test.kept VALUES (1)",
    )
    .unwrap();
    pair.switchover().unwrap();
    assert_eq!(pair.primary().unwrap().as_deref(), Some("node2"));
    assert_eq!(told(&pair, "SELECT n FROM test.kept").unwrap(), "1");
    redundant(&mut pair);
    assert_eq!(
        pair.watch().look(),
        Seen { primaries: vec!["node2".to_owned()], is_redundant: true, is_noticed: false }
    );
    pair.kill_server("node2").unwrap();
    assert_eq!(pair.primary().unwrap(), None);
    pair.switchover().unwrap();
    assert_eq!(pair.primary().unwrap().as_deref(), Some("node1"));
    told(&pair, "INSERT INTO test.kept VALUES (2)").unwrap();
    pair.restart_node("node2").unwrap();
    redundant(&mut pair);
    pair.switchover().unwrap();
    assert_eq!(told(&pair, "SELECT count(*) FROM test.kept").unwrap(), "2");
}

#[test]
fn a_pair_that_lives_on_is_found_by_its_name_and_removed_with_all_its_nodes() {
    let place = place();
    let name = format!("pair-{}", std::process::id());
    let options = Options::default().parent_directory(place.path()).registered(&name, true);
    let pair = Pair::start(Engine::MariaDb, PairKind::Async, &PairOptions::of(options)).unwrap();
    pair.leave();
    let known = Known::all().unwrap().into_iter().find(|known| known.name == name).unwrap();
    assert_eq!((known.standing(), known.pair.as_deref()), (Standing::Running, Some("async")));
    assert_eq!(known.nodes.iter().filter(|node| known.url.contains(&node.address)).count(), 2, "{known:?}");
    assert!(processes_below(place.path()) >= 2);
    known.remove().unwrap();
    assert_eq!(known.standing(), Standing::Stopped);
    assert_eq!((processes_below(place.path()), std::fs::read_dir(place.path()).unwrap().count()), (0, 0));
}
