//! Nodes of a pair on volumes of their own: what fails with a volume, of one node or of all, and what is left of that after a kill.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::lab::Labs;
use crate::running::Running;
use crate::workbench::{Workbench, json_file};

/// Laboratories for the two nodes of a pair, and where they are.
struct Volumes {
    labs: Labs,
    names: [String; 2],
    at: [String; 2],
}

impl Volumes {
    /// None where a laboratory cannot be had.
    fn new(of: &str) -> Option<Self> {
        let labs = Labs::new(of)?;
        let names = ["one", "two"].map(|name| labs.name(name));
        let at = [0, 1].map(|number| {
            let made = labs.run(&["lab", "create", &names[number], "--size", "1200MiB"]).ended_with(0);
            made.stdout.trim().to_owned()
        });
        Some(Self { labs, names, at })
    }

    fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let of_nodes = ["--node", &self.at[0], "--node", &self.at[1]];
        [&REGISTER[..], &of_nodes[..], more].concat()
    }

    /// What became of the faults of a run, and of what was written meanwhile.
    fn ran(&self, name: &str, more: &[&str]) -> (Value, String) {
        let ran = self.labs.run(&[&self.arguments(more)[..], &["--results", name]].concat());
        let results = self.labs.bench.names(name);
        let [results] = results.as_slice() else { panic!("{results:?}: {}", ran.stderr) };
        let results = self.labs.bench.path(name).join(results);
        (json_file(results.join("trials/0001/trial.json")), ran.stderr)
    }

    fn is_cut(&self, number: usize) -> bool {
        self.labs.stored(&self.names[number]).unwrap()["is_cut"] == true
    }

    /// What lies on a volume besides what its file system puts there.
    fn on(&self, number: usize) -> Vec<String> {
        let names = fs::read_dir(&self.at[number]).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "lost+found").collect()
    }

    fn remove(self) {
        assert_eq!([self.on(0), self.on(1)], [[""; 0]; 2], "nothing is left on the volumes");
        self.names.iter().for_each(|name| drop(self.labs.run(&["lab", "remove", name]).ended_with(0)));
        self.labs.is_clean();
    }
}

const REGISTER: [&str; 11] = [
    "failover",
    "--managed",
    "postgres",
    "--setting",
    "shared_buffers=32MB",
    "--clients",
    "4",
    "--rate",
    "300/s",
    "--warm-up",
    "500ms",
];

/// A fault of a trial: of whom it was, and why it failed if it did.
fn told(fault: &Value) -> (&str, Option<&str>) {
    (fault["of"].as_str().unwrap(), fault["failed"].as_str())
}

/// The check is known to be able to fail: two nodes that each say that they have it are no more than their memory.
#[test]
fn what_both_nodes_were_not_asked_to_keep_is_gone_with_their_power() {
    let Some(volumes) = Volumes::new("the power of a pair") else { return };
    let cut = |fsync: &str| {
        let setting = format!("fsync={fsync}");
        let fault = ["--fault", "power-cut of all for 500ms at 3s", "--duration", "20s"];
        let pair = ["--pair", "sync", "--failover", "tuned", "--setting", &setting];
        let (trial, stderr) = volumes.ran(fsync, &[&pair[..], &fault[..]].concat());
        let fault = trial["faults"][0].clone();
        assert!(fault["begun_s"].as_f64() >= Some(3.0), "{fault:#}\n{stderr}");
        assert_eq!(fault["of"], "node1 and node2");
        trial
    };
    let kept = cut("on");
    assert_eq!(kept["faults"][0]["failed"], Value::Null, "{:#}", kept["faults"]);
    let writes = &kept["outcome"]["writes"];
    assert_eq!((writes["lost"].as_u64(), &kept["outcome"]["is_audited"]), (Some(0), &Value::Bool(true)));
    let places = &kept["servers"][0]["places"];
    for (node, at) in ["node1", "node2"].iter().zip(&volumes.at) {
        assert_eq!(places[node]["mount"]["known"].as_str(), Some(at.as_str()), "{places:#}");
    }
    let gone = cut("off");
    // What has lost so much may not even start again, which is told too.
    let lost = gone["outcome"]["writes"]["lost"].as_u64();
    assert_eq!(gone["state"], "failed", "{lost:?} {}", gone["reason"]);
    let is_away = gone["outcome"]["is_audited"] != true;
    assert!(lost > Some(0) || is_away, "{:#}", gone["outcome"]);
    volumes.remove();
}

#[test]
fn the_volume_of_one_node_fails_and_the_others_do_not() {
    let Some(volumes) = Volumes::new("needs a separate volume for each node") else { return };
    let faults = [
        "--fault",
        "power-cut of standby for 500ms at 1s",
        "--fault",
        "fill of standby for 1s at 5s",
        "--fault",
        "power-cut for 500ms at 9s",
        "--duration",
        "16s",
        "--pair",
        "async",
    ];
    let (trial, stderr) = volumes.ran("alone", &faults);
    let done: Vec<_> = trial["faults"].as_array().unwrap().iter().map(told).collect();
    assert_eq!(done, [("node2", None), ("node2", None), ("node1", None)], "{stderr}");
    assert_eq!(trial["outcome"]["writes"]["lost"], 0, "{:#}", trial["outcome"]);
    volumes.remove();
}

#[test]
fn the_volume_of_one_node_hardly_answers_and_does_again() {
    let Some(volumes) = Volumes::new("the volume of a node that is slow") else { return };
    let slow = ["--fault", "throttle for 2s at 1s", "--duration", "8s", "--pair", "async"];
    let ran = volumes.labs.run(&volumes.arguments(&slow));
    if ran.stderr.contains("cannot limit") {
        eprintln!("not run: a volume that hardly answers: {}", ran.stderr.trim());
        return volumes.remove();
    }
    let trial = json_file(volumes.labs.bench.results().unwrap().join("trials/0001/trial.json"));
    assert_eq!(told(&trial["faults"][0]), ("node1", None), "{}", ran.stderr);
    let silent = trial["marks"].as_array().unwrap().iter().filter(|mark| mark["kind"] == "silence");
    assert!(silent.count() > 0, "commits waited for it: {:#}", trial["marks"]);
    assert_eq!(trial["outcome"]["writes"]["lost"], 0, "{:#}", trial["outcome"]);
    volumes.remove();
}

/// A volume that a killed prony left without power could not even be emptied.
#[test]
fn what_a_killed_prony_cut_has_its_power_again_when_its_pair_is_stopped() {
    let Some(volumes) = Volumes::new("a kill while the power is cut") else { return };
    let faults = ["--fault", "fill for 1h at 500ms", "--fault", "power-cut of standby for 1h at 1s"];
    let long = ["--duration", "90m", "--pair", "async"];
    let mut command = volumes.labs.command(&volumes.arguments(&[&faults[..], &long[..]].concat()));
    command.stdin(std::process::Stdio::null());
    let mut running = Running::start_command(&volumes.labs.bench, command);
    running.wait_until("a cut", || volumes.is_cut(1));
    running.send(Signal::KILL);
    running.ended();
    let known = volumes.labs.run(&["instance", "list", "--json"]).ended_with(0).json()["instances"].clone();
    let [left] = known.as_array().unwrap().as_slice() else { panic!("{known:#}") };
    assert_eq!(left["standing"], "left", "{left:#}");
    assert!(volumes.is_cut(1) && !volumes.is_cut(0));
    volumes.labs.run(&["instance", "stop", left["name"].as_str().unwrap()]).ended_with(0);
    assert!(!volumes.is_cut(1));
    fs::write(format!("{}/there", volumes.at[1]), "x").unwrap();
    fs::remove_file(format!("{}/there", volumes.at[1])).unwrap();
    volumes.remove();
}

#[test]
fn nodes_that_could_not_fail_alone_are_refused_before_anything_is_started() {
    let bench = Workbench::new();
    let refused = |more: &[&str], code: i32, told: &str| {
        let more = [&REGISTER[..], &["--duration", "6s", "--pair", "sync"], more].concat();
        let refused = bench.run(&more).ended_with(code).stderr;
        assert!(refused.contains(told), "{more:?}: {refused}");
    };
    for name in ["a", "b"] {
        fs::create_dir(bench.path(name)).unwrap();
    }
    let cut = ["--fault", "power-cut of all at 1s"];
    refused(&cut, 2, "Give each node its own");
    refused(&["--node", "a"], 2, "--node: must be two directories");
    refused(&["--node", "a", "--node", "a"], 2, "--node: the same directory is given twice");
    refused(&["--node", "a", "--node", "nowhere"], 2, "does not exist");
    refused(&["--node", "a", "--node", "b"], 1, "are on one volume");
    refused(&["--node", "a", "--node", "b", "--fault", "kill of all at 1s"], 2, "only power-cut can");
    assert_eq!((bench.names("a"), bench.names("b")), (vec![], vec![]));
}
