//! The machine while a trial runs, as it is stored.

use std::fs;

use serde_json::Value;

use crate::servers::{mariadb, postgres};
use crate::workbench::{Workbench, json_file};

#[test]
fn servers_on_this_machine_are_read_beside_its_processors() {
    for (url, told_by) in [(postgres().url(), "postmaster.pid"), (mariadb().url(), "/pid")] {
        let bench = Workbench::new();
        let load = ["--rate", "200", "--warm-up", "0s", "--duration", "3s", "--screens", "0"];
        let place = ["historian", "--target", &url, "--database", "prony_sampled"];
        bench.run(&[&place[..], &load].concat());
        let results = bench.results().unwrap();
        let environment = json_file(results.join("environment.json"));
        let server = environment["servers"].as_object().unwrap().values().next().unwrap();
        assert!(server["known"]["told_by"].as_str().is_some_and(|file| file.ends_with(told_by)), "{server}");
        assert!(environment["volumes"]["data"]["mount"]["known"].is_object(), "{environment:#}");
        let lines = fs::read_to_string(results.join("trials/0001/resources.ndjson")).unwrap();
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |part: &str| lines.iter().filter(|line| !line[part].is_null()).collect::<Vec<_>>();
        assert!(of("cpu_busy_share").len() >= 2, "{lines:#?}");
        let servers = of("servers");
        assert!(
            servers.len() >= 2 && servers.iter().all(|line| line["cpu_busy_share"].is_null()),
            "{lines:#?}"
        );
        let load = servers[0]["servers"].as_object().unwrap().values().next().unwrap();
        assert!(
            load["processes"].as_u64() >= Some(1) && load["memory_bytes"].as_u64() > Some(1 << 20),
            "{load}"
        );
        assert!(load["write_bytes_per_s"].as_f64().is_some(), "{load}");
        let told = of("told");
        let told: Vec<&Value> =
            told.iter().filter_map(|line| line["told"].as_object()?.values().next()).collect();
        assert!(told.len() >= 2 && told[0]["session"].is_u64(), "{lines:#?}");
        let count = |name: &str| told.iter().filter_map(|told| told[name].as_u64()).sum::<u64>();
        assert!(count("looks") >= 5, "{told:#?}");
        let counters = told.iter().flat_map(|told| told["counters_per_s"].as_object()).flatten();
        assert!(counters.clone().count() > 3, "{told:#?}");
        let commits = |name: &str| matches!(name, "pg_stat_database.xact_commit" | "Innodb_data_fsyncs");
        assert!(counters.clone().any(|(name, _)| commits(name)), "{told:#?}");
        let named = lines.iter().filter_map(|line| line["servers"].as_object()?.keys().next()).next();
        let also = lines.iter().filter_map(|line| line["told"].as_object()?.keys().next()).next();
        assert_eq!(named, also, "readings of one server have one name");
        assert_eq!(
            json_file(results.join("trials/0001/trial.json"))["notes"].as_array().map_or(0, Vec::len),
            0
        );
    }
}
