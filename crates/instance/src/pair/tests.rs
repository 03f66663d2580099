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
    known().unwrap().remove().unwrap();
    assert!(known().is_none());
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

fn start_and_wait_to_be_killed(place: &Path) {
    let name = format!("killed-{}", std::process::id());
    let options = Options::default().parent_directory(place).registered(&name, false);
    let options = PairOptions::of(options).failover(Failover::Tuned);
    let mut pair = Pair::start(Engine::Postgres, PairKind::Sync, &options).unwrap();
    pair.freeze("node1", Part::Server).unwrap();
    println!("\nstarted {name}");
    std::io::stdin().read_line(&mut String::new()).unwrap();
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
    assert!(told_of.starts_with("a pair of servers takes no directory of its own for the log"), "{told_of}");
    let timed = PairOptions::default().timeout("health_check_period", "500");
    let told_of = told(Engine::Postgres, PairKind::Async, &timed);
    assert!(told_of.starts_with("`health_check_period` is no timeout of this pair's failover"), "{told_of}");
}
