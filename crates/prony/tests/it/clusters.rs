//! Clusters that somebody else runs: here the test is that somebody. It runs a pair, breaks it when a command of the study asks for it,
//! and tells over HTTP what Patroni would tell of it.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use instance::{Engine, InstanceError, Options, Pair, PairKind, PairOptions, Watch};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::workbench::{Outcome, Workbench, json_file};

/// Far more than any of it takes, even on a busy machine.
const LONG: Duration = Duration::from_secs(120);

fn postgres() -> Pair {
    let options = Options::default().setting("shared_buffers", "32MB");
    Pair::start(Engine::Postgres, PairKind::Async, &PairOptions::of(options)).unwrap()
}

/// A pipe that is open for as long as it is held, whoever is at its other end.
fn pipe(path: &Path) -> File {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    OpenOptions::new().read(true).write(true).open(path).unwrap()
}

/// Runs a study while somebody does to the cluster what its command `sh ask.sh` asks for.
fn operated(
    bench: &Workbench,
    mut operate: impl FnMut() -> Result<(), InstanceError> + Send,
    study: &str,
) -> Outcome {
    bench.write("study.toml", study);
    bench.write("ask.sh", "echo go > asked; read -r told < told; echo \"$told\"; test \"$told\" = done");
    let (asked, mut told) = (pipe(&bench.path("asked")), pipe(&bench.path("told")));
    let mut end = asked.try_clone().unwrap();
    let ran = std::thread::scope(|scope| {
        scope.spawn(move || {
            for line in BufReader::new(asked).lines().map(Result::unwrap) {
                if line == "end" {
                    break;
                }
                let answer = operate().map_or_else(|error| error.to_string(), |()| "done".to_owned());
                writeln!(told, "{}", answer.replace('\n', " ")).unwrap();
            }
        });
        let ran = bench.run(&["study", "run", "study.toml"]);
        writeln!(end, "end").unwrap();
        ran
    });
    std::fs::remove_file(bench.path("asked")).unwrap();
    std::fs::remove_file(bench.path("told")).unwrap();
    ran
}

const REGISTER: &str = "blocks = 1\n[workload.register]\nclients = 4\nrate = \"200/s\"\nwarm_up = \"500ms\"\nduration = \"10s\"\n";

/// The only trial of a run, which may be one of a busy machine.
fn trial(bench: &Workbench, ran: &Outcome) -> Value {
    let trial = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    let state = trial["state"].as_str().unwrap();
    assert!(["complete", "invalid"].contains(&state), "{state}: {}\n{}", trial["reason"], ran.stderr);
    trial
}

/// That a switchover was done in time and seen from outside, by the names of those who took writes before and after.
#[track_caller]
fn switched(trial: &Value, before: &str, after: &str) {
    let [fault] = trial["faults"].as_array().unwrap().as_slice() else { panic!("{}", trial["faults"]) };
    assert_eq!((fault["of"].as_str(), &fault["failed"]), (Some("prod"), &Value::Null), "{fault:#}");
    let times = ["begun_s", "broken_s", "promoted_s", "redundant_s"].map(|name| fault[name].as_f64());
    let [Some(begun_s), Some(broken_s), promoted_s, redundant_s] = times else { panic!("{fault:#}") };
    let cluster = &trial["clusters"][0];
    let is_primary = |member: &&Value| member["role"] == "primary";
    let primary = cluster["members"].as_array().unwrap().iter().find(is_primary).unwrap();
    assert_eq!((primary["name"].as_str(), cluster["is_redundant"].as_bool()), (Some(before), Some(true)));
    // The load may be over before a busy machine has done it.
    if broken_s > 3.0 {
        return;
    }
    assert!(promoted_s.is_some_and(|promoted_s| promoted_s > begun_s), "{fault:#}");
    assert!(redundant_s.is_none_or(|redundant_s| Some(redundant_s) >= promoted_s), "{fault:#}");
    let marks = trial["marks"].as_array().unwrap();
    let promotion = marks.iter().find(|mark| mark["kind"] == "promotion").unwrap();
    let told = (promotion["what"].as_str().unwrap(), promotion["planned"].as_bool());
    assert_eq!(told, (format!("{after} accepts writes").as_str(), Some(true)));
    assert_eq!(trial["outcome"]["writes"]["lost"], 0, "{:#}", trial["outcome"]["writes"]);
}

fn named(settings: &Value, name: &str) -> Option<String> {
    let all = settings.as_array().into_iter().flatten();
    all.filter(|it| it["name"] == name).find_map(|it| it["value"].as_str().map(str::to_owned))
}

#[test]
fn a_list_of_addresses_is_loaded_watched_and_switched_over_by_a_command() {
    let bench = Workbench::new();
    let mut pair = postgres();
    let nodes = pair.nodes();
    let (first, second) = (nodes[0].address.clone(), nodes[1].address.clone());
    let urls = ["node1", "node2"].map(|node| pair.url_of(node).unwrap());
    let study = format!(
        "{REGISTER}[target.cluster.prod]\nnodes = {urls:?}\nswitchover = \"sh ask.sh\"\nfaults = \"switchover at 1s\"\n"
    );
    bench.write("study.toml", &study);
    let plan = bench.run(&["study", "plan", "study.toml"]).ended_with(0).stdout;
    for line in [
        "loads the existing cluster prod",
        "breaks it: switchover at 1s",
        "for switchover a shell runs: sh ask.sh",
    ] {
        assert!(plan.contains(line), "{line} is not in {plan}");
    }
    let ran = operated(&bench, || pair.switchover(), &study);
    let trial = trial(&bench, &ran);
    switched(&trial, &first, &second);
    let cluster = &trial["clusters"][0];
    assert_eq!(cluster["kind"], "PostgreSQL by a list of addresses");
    assert!(named(&cluster["settings"], "synchronous_commit").is_some(), "{cluster:#}");
    assert!(named(&cluster["members"][0]["told"], "version").is_some(), "{cluster:#}");
    let stored = std::fs::read_to_string(bench.results().unwrap().join("trials/0001/trial.json")).unwrap();
    let password = urls[0].split_once("prony:").and_then(|(_, rest)| rest.split_once('@')).unwrap().0;
    let said = [&stored, &ran.stdout, &ran.stderr, &plan];
    assert!(
        !said.iter().any(|text| text.contains(&format!(":{password}@"))),
        "a password was stored or told"
    );
    // A busy machine may have made it invalid.
    let report = bench.run(&["report", "latest"]).stdout;
    for told in ["Existing clusters that were loaded", "another node could take over", "switchover at 1s"] {
        assert!(report.contains(told), "{told} is not in {report}");
    }
}

/// Answers as Patroni's documentation says, by what the nodes of a pair are at that moment.
fn patroni(pair: &mut Pair) -> Vec<String> {
    let watch = pair.watch();
    let listeners = ["node1", "node2"].map(|name| (name, TcpListener::bind("127.0.0.1:0").unwrap()));
    let places = pair.nodes().into_iter().map(|node| node.address);
    let members: Vec<[String; 3]> = listeners
        .iter()
        .zip(places)
        .map(|((name, listener), place)| {
            [(*name).to_owned(), listener.local_addr().unwrap().to_string(), place]
        })
        .collect();
    let interfaces = members.iter().map(|[_, interface, _]| format!("http://{interface}")).collect();
    for (name, listener) in listeners {
        let (watch, members) = (watch.clone(), members.clone());
        // It ends with the tests.
        std::thread::spawn(move || {
            listener.incoming().for_each(|stream| answer(stream.unwrap(), name, &watch, &members));
        });
    }
    interfaces
}

fn answer(mut stream: TcpStream, name: &str, watch: &Watch, members: &[[String; 3]]) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let seen = watch.look();
    let leads = |name: &str| seen.primaries.iter().any(|primary| primary == name);
    let member = |[name, interface, place]: &[String; 3]| {
        let (host, port) = place.split_once(':').unwrap();
        let (role, state) = if leads(name) { ("leader", "running") } else { ("replica", "streaming") };
        let port: u16 = port.parse().unwrap();
        json!({"name": name, "role": role, "state": state, "api_url": format!("http://{interface}/patroni"),
            "host": host, "port": port, "timeline": 1, "lag": 0, "tags": {"clonefrom": true}})
    };
    let follower = |name: &&str| {
        json!({"usename": "replicator", "application_name": name, "client_addr": "127.0.0.1", "state": "streaming",
            "sync_state": "async", "sync_priority": 0})
    };
    let others =
        ["node1", "node2"].into_iter().filter(|other| *other != name && leads(name) && seen.is_redundant);
    let followers: Vec<Value> = others.map(|other| follower(&other)).collect();
    let path = String::from_utf8_lossy(&head).split(' ').nth(1).unwrap_or_default().to_owned();
    let told = match path.as_str() {
        "/cluster" => json!({"members": members.iter().map(member).collect::<Vec<_>>(), "scope": "demo"}),
        "/patroni" => json!({"state": "running", "role": if leads(name) { "primary" } else { "replica" },
            "server_version": 150014, "timeline": 1, "replication": followers,
            "patroni": {"version": "4.0.0", "scope": "demo", "name": name}}),
        "/config" => {
            json!({"ttl": 30, "loop_wait": 10, "retry_timeout": 10, "maximum_lag_on_failover": 1048576,
            "synchronous_mode": false, "postgresql": {"parameters": {"primary_conninfo": "password=hidden"}}})
        }
        _ => panic!("{path} is asked for"),
    };
    let body = told.to_string();
    let length = body.len();
    // Whoever asked may have gone.
    let _ = write!(
        stream,
        "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
}

#[test]
fn patroni_tells_who_takes_writes_and_what_decides_how_another_one_does() {
    let bench = Workbench::new();
    let mut pair = postgres();
    let interfaces = patroni(&mut pair);
    let study = format!(
        "{REGISTER}[target.cluster.prod]\naddress = {:?}\npatroni = {:?}\nswitchover = \"sh ask.sh\"\nfaults = \"switchover at 1s\"\n",
        pair.url(),
        &interfaces[..1],
    );
    let ran = operated(&bench, || pair.switchover(), &study);
    let trial = trial(&bench, &ran);
    switched(&trial, "node1", "node2");
    let cluster = &trial["clusters"][0];
    assert_eq!(cluster["kind"], "Patroni (demo)");
    let settings =
        ["ttl", "maximum_lag_on_failover", "synchronous_mode"].map(|name| named(&cluster["settings"], name));
    assert_eq!(settings.map(Option::unwrap), ["30", "1048576", "false"]);
    assert!(!cluster.to_string().contains("hidden"), "{cluster:#}");
    let lag =
        cluster["members"].as_array().unwrap().iter().map(|member| named(&member["told"], "lag in bytes"));
    assert_eq!(lag.collect::<Vec<_>>(), [Some("0".to_owned()), Some("0".to_owned())]);
}

#[test]
fn a_cluster_that_cannot_be_loaded_as_it_stands_is_refused_before_anything_is_written() {
    let bench = Workbench::new();
    let mut pair = postgres();
    let interfaces = patroni(&mut pair);
    let refused = |target: &str| {
        bench.write("study.toml", format!("{REGISTER}[target.cluster.prod]\n{target}\n"));
        let told = bench.run(&["study", "run", "study.toml"]).ended_with(1).stderr;
        assert!(told.contains("cluster prod: "), "{told}");
        told
    };
    let (first, second) = (pair.url_of("node1").unwrap(), pair.url_of("node2").unwrap());
    let headless = refused(&format!("nodes = [{second:?}]"));
    assert!(
        headless.contains("none of its members accepts writes") && headless.contains("is standby"),
        "{headless}"
    );
    let gone = refused("nodes = [\"postgres://a@127.0.0.1:1/x\", \"postgres://a@127.0.0.1:2/x\"]");
    assert!(
        gone.contains("the cluster cannot be reached: cannot connect to postgres://a@127.0.0.1:1/x"),
        "{gone}"
    );
    let silent = refused(&format!("nodes = [{first:?}]\npatroni = \"http://127.0.0.1:1\""));
    assert!(silent.contains("cannot connect to http://127.0.0.1:1/cluster"), "{silent}");
    let fewer = refused(&format!("nodes = [{first:?}]\npatroni = {interfaces:?}"));
    assert!(
        fewer.contains("Patroni has 2 members") && fewer.contains("but the study names 1: name all of them"),
        "{fewer}"
    );
    let stranger =
        refused(&format!("nodes = [{first:?}, \"postgres://a@127.0.0.1:1/x\"]\npatroni = {interfaces:?}"));
    assert!(stranger.contains("node 127.0.0.1:1 is not a member in Patroni"), "{stranger}");
    pair.promote("node2").unwrap();
    for nodes in
        [format!("nodes = [{first:?}, {second:?}]"), format!("address = {first:?}\npatroni = {interfaces:?}")]
    {
        let split = refused(&nodes);
        assert!(split.contains("accept writes at the same time: find out which node is right"), "{split}");
    }
    assert_eq!(bench.names("."), ["study.toml"], "nothing ran");
}

#[test]
fn a_command_that_fails_fails_the_trial_with_what_it_said() {
    let bench = Workbench::new();
    let pair = postgres();
    let urls = ["node1", "node2"].map(|node| pair.url_of(node).unwrap());
    bench.write(
        "study.toml",
        format!(
            "{REGISTER}[target.cluster.prod]\nnodes = {urls:?}\nfault.cut = \"echo no such cable >&2; exit 3\"\nfaults = \"cut at 1s\"\n"
        )
        .replace("10s", "3s"),
    );
    bench.run(&["study", "run", "study.toml"]);
    let trial = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    let reason = trial["reason"].as_str().unwrap_or_default();
    assert_eq!(trial["state"], "failed", "{reason}");
    assert!(reason.contains("`cut at 1s` of prod") && reason.contains("printed: no such cable"), "{reason}");
}

/// All of them take writes: sessions go to one, and its place among those named says who counts as the one that does.
#[test]
fn members_of_galera_are_watched_each_at_its_own_address() {
    let bench = Workbench::new();
    let options = Options::default().setting("innodb_buffer_pool_size", "32M");
    let mut pair = Pair::start(Engine::MariaDb, PairKind::Sync, &PairOptions::of(options)).unwrap();
    let urls = ["node1", "node2"].map(|node| pair.url_of(node).unwrap());
    let study = format!(
        "{REGISTER}[target.cluster.prod]\naddress = {:?}\nnodes = {urls:?}\nfault.kill = \"sh ask.sh\"\nfaults = \"kill at 1s\"\n",
        urls[0]
    );
    let operate = || {
        pair.kill_node("node2")?;
        pair.restart_node("node2")?;
        pair.wait_until_redundant(LONG, &std::sync::atomic::AtomicBool::new(false))
    };
    let ran = operated(&bench, operate, &study);
    let trial = trial(&bench, &ran);
    let cluster = &trial["clusters"][0];
    let first = pair.nodes()[0].address.clone();
    assert_eq!((cluster["kind"].as_str(), cluster["is_redundant"].as_bool()), (Some("Galera"), Some(true)));
    let roles = cluster["members"].as_array().unwrap().iter().map(|member| member["role"].as_str().unwrap());
    assert_eq!(roles.collect::<Vec<_>>(), ["primary", "standby"]);
    assert_eq!(cluster["members"][0]["name"], first.as_str());
    assert_eq!(
        named(&cluster["members"][0]["told"], "wsrep_cluster_size").as_deref(),
        Some("3"),
        "with its arbitrator"
    );
    let fault = &trial["faults"][0];
    assert_eq!((&fault["failed"], &fault["promoted_s"]), (&Value::Null, &Value::Null), "{fault:#}");
    let marks = trial["marks"].as_array().into_iter().flatten();
    assert_eq!(marks.filter(|mark| mark["kind"] == "promotion").count(), 0, "{:#}", trial["marks"]);
    let fewer =
        format!("{REGISTER}[target.cluster.prod]\naddress = {:?}\nnodes = [{:?}]\n", urls[0], urls[0]);
    bench.write("study.toml", fewer);
    let told = bench.run(&["study", "run", "study.toml"]).ended_with(1).stderr;
    assert!(told.contains("the address names 1, but wsrep_incoming_addresses lists 2"), "{told}");
}
