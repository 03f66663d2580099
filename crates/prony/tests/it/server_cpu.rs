//! Clients that are adjusted so that the server itself uses a share of the processors that it may use.

use std::fs;

use serde_json::Value;

use crate::workbench::{Outcome, Workbench, json_file};

/// Orders on a server of half a processor, whose clients think so shortly that all of them together ask for several times as much.
fn held_at(bench: &Workbench, share: &str) -> Outcome {
    let arguments = "orders run --managed postgres --cpus 0.5 --size 1MB --clients 24 --think-time 10ms --warm-up 12s \
                     --duration 10s --cpu-target";
    let arguments: Vec<&str> = arguments.split_whitespace().chain([share]).collect();
    bench.run(&arguments)
}

/// What the server's own group counted of processors, second by second of the measured window.
fn cores(bench: &Workbench) -> Vec<f64> {
    let read = fs::read_to_string(bench.results().unwrap().join("trials/0001/resources.ndjson")).unwrap();
    let lines = read.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    // The last look comes at the end of all, whatever part of a second that leaves, and what it sees is the end.
    let of_window = lines.filter(|line| {
        let number = |name: &str| line[name].as_f64().unwrap();
        number("length_s") > 0.9 && number("end_s") > 13.0 && number("end_s") < 22.1
    });
    of_window.filter_map(|line| line["groups"]["managed"]["cpu_cores"].as_f64()).collect()
}

/// The target was compared with the whole machine: a server of half a processor never comes near 60 % of two, and all clients ran.
#[test]
fn the_servers_own_group_is_held_at_a_share_of_what_it_may_use() {
    let bench = Workbench::new();
    let outcome = held_at(&bench, "60%");
    if !rustix::process::geteuid().is_root() && outcome.code == Some(1) {
        outcome.says("server managed: ");
        return;
    }
    // A machine that stands still makes a trial invalid.
    assert!(matches!(outcome.code, Some(0 | 4 | 5)), "{}", outcome.stderr);
    let trial = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    let read = &trial["setup"]["cpu_read"];
    assert_eq!((read["of"].as_str(), read["processors"].as_f64()), (Some("groups"), Some(0.5)), "{read}");
    let told = outcome.stdout.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(told.contains("the server's control group used") && told.contains("of 0.5 CPUs"), "{told}");
    if outcome.code == Some(5) {
        return;
    }
    let cores = cores(&bench);
    let mean = cores.iter().sum::<f64>() / cores.len() as f64;
    assert!((0.2..0.4).contains(&mean), "60 % of half a processor, and not {mean}: {cores:?}");
}
