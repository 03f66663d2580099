//! A pair that outlives nobody: what a killed program leaves of one, and what is refused before anything is made.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;
use crate::{Known, Standing};

/// Set in the environment of the process that this test starts of itself: where it makes its pair.
const TO_BE_KILLED: &str = "PRONY_TEST_PAIR_TO_BE_KILLED";
const LONG: Duration = Duration::from_secs(120);

/// A keeper starts its server itself: neither dies with us by the kernel's help, and a frozen server does not even notice.
#[test]
fn what_a_killed_program_had_of_a_pair_ends_with_it_and_is_removed_by_whoever_comes_next() {
    if let Some(place) = std::env::var_os(TO_BE_KILLED) {
        return start_and_wait_to_be_killed(Path::new(&place));
    }
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let name =
        "pair::tests::what_a_killed_program_had_of_a_pair_ends_with_it_and_is_removed_by_whoever_comes_next";
    let mut starter = Command::new(std::env::current_exe().unwrap());
    starter.args(["--exact", name, "--nocapture"]).env(TO_BE_KILLED, place.path());
    let mut starter = starter.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(starter.stdout.take().unwrap()).lines().map(Result::unwrap);
    let named = lines.find_map(|line| line.strip_prefix("started ").map(str::to_owned)).unwrap();
    let known = || Known::all().unwrap().into_iter().find(|known| known.name == named);
    let found = known().unwrap();
    assert_eq!(found.standing(), Standing::Held(starter.id()));
    let nodes: Vec<&str> = found.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!((found.pair.as_deref(), nodes), (Some("sync"), vec!["monitor", "node1", "node2"]));
    assert!(found.log_text().unwrap().contains("node2: "));

    let members = processes::below(found.home().unwrap()).unwrap();
    assert!(members.len() > 20, "three servers and three keepers: {members:?}");
    let handles: Vec<Handle> = members.iter().filter_map(|one| Handle::open(one.pid).unwrap()).collect();
    starter.kill().unwrap();
    starter.wait().unwrap();
    for handle in handles {
        assert!(handle.wait(LONG).unwrap(), "{handle:?} is still there");
    }
    assert_eq!(known().unwrap().standing(), Standing::Left);
    let home = known().unwrap().home().unwrap().to_owned();
    known().unwrap().remove().unwrap();
    assert!(known().is_none());
    assert_eq!(namespaces(&home), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

fn start_and_wait_to_be_killed(place: &Path) {
    let name = format!("killed-{}", std::process::id());
    let options = Options::default().parent_directory(place).registered(&name, false);
    let options = PairOptions::of(options).failover(Failover::Tuned);
    let (options, is_cut) = in_network(options);
    let mut pair = Pair::start(Engine::Postgres, PairKind::Sync, &options).unwrap();
    pair.freeze("node1", Part::Server).unwrap();
    if is_cut {
        pair.cut("node2", false).unwrap();
    }
    println!("\nstarted {name}");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// With a network of its own that can be cut, and whether there is one: only where we may make networks.
fn in_network(options: PairOptions) -> (PairOptions, bool) {
    let cut = options.clone().in_network(NetworkNeed::Cut);
    match Pair::look(Engine::Postgres, PairKind::Async, &cut) {
        Ok(()) => (cut, true),
        Err(error) => {
            eprintln!("not run: pairs with a network of their own: {error}");
            (options, false)
        }
    }
}

/// Namespaces of the pair in a directory.
fn namespaces(home: &Path) -> Vec<String> {
    let name = home.file_name().unwrap().to_str().unwrap();
    let own = &name[.."prony-01234567".len()];
    let all = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = all.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(own)).collect()
}

#[test]
fn a_node_that_is_cut_off_falls_behind_and_comes_back_and_clients_reach_it_all_the_while() {
    let quick = Options::default().setting("wal_sender_timeout", "1s").setting("wal_receiver_timeout", "1s");
    let (options, is_cut) = in_network(PairOptions::of(quick.with_clock(Clock::look().is_ok())));
    if !is_cut {
        return;
    }
    let mut pair = Pair::start(Engine::Postgres, PairKind::Async, &options).unwrap();
    let home = pair.ground.home.path().to_owned();
    assert_eq!(namespaces(&home).len(), 3, "a switch and two nodes");
    let reached = |pair: &Pair, node: &str| {
        let address = pair.url_of(node).unwrap();
        let at = address.rsplit_once('@').unwrap().1.trim_end_matches("/postgres").to_owned();
        std::net::TcpStream::connect_timeout(&at.parse().unwrap(), Duration::from_secs(5)).is_ok()
    };
    let never = AtomicBool::new(false);
    pair.cut("node2", true).unwrap();
    pair.wait("alone", LONG, &never, |pair| (!pair.is_redundant().unwrap()).then_some(())).unwrap();
    assert!(reached(&pair, "node1") && reached(&pair, "node2"));
    pair.cut("node2", false).unwrap();
    assert!(reached(&pair, "node1") && !reached(&pair, "node2"));
    pair.join("node2").unwrap();
    pair.wait_until_redundant(LONG, &never).unwrap();
    assert!(reached(&pair, "node2"));
    if options.node().has_clock() {
        let psql = ask::Psql { program: program::of_postgres("psql").unwrap(), sockets: home.clone() };
        let ahead = |pair: &Pair| {
            let asked = "SELECT extract(epoch FROM clock_timestamp())::bigint";
            let node = &pair.ground.nodes[1];
            let told = psql.ask((node.name, node.port), "postgres", asked, LONG).unwrap();
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            told.parse::<i64>().unwrap() - now.as_secs() as i64
        };
        pair.set_clock("node2", 86_400).unwrap();
        pair.wait("ahead", LONG, &never, |pair| (ahead(pair) > 80_000).then_some(())).unwrap();
        pair.set_clock("node2", 0).unwrap();
    }
    drop(pair);
    assert_eq!(namespaces(&home), Vec::<String>::new());
}

#[test]
fn what_there_is_no_pair_of_is_told_before_anything_is_made() {
    let told =
        |engine, kind, options: &PairOptions| Pair::look(engine, kind, options).unwrap_err().to_string();
    let plain = PairOptions::default();
    let mysql = told(Engine::MySql, PairKind::Sync, &plain);
    assert!(mysql.starts_with("mysql cannot be started as `pair = \"sync\"`"), "{mysql}");
    let placed = PairOptions::of(Options::default().log_parent("/tmp"));
    let told_of = told(Engine::Postgres, PairKind::Async, &placed);
    assert!(told_of.starts_with("a pair of servers does not support a separate log directory:"), "{told_of}");
    let timed = PairOptions::default().timeout("health_check_period", "500");
    let told_of = told(Engine::Postgres, PairKind::Async, &timed);
    assert!(
        told_of.starts_with("unknown timeout `health_check_period` of this pair's failover"),
        "{told_of}"
    );
}
