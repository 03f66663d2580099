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

/// As fast as it goes, sessions are never all idle.
#[test]
fn a_report_tells_where_the_time_of_a_servers_sessions_went() {
    for (url, engine) in [(postgres().url(), "postgres"), (mariadb().url(), "mysql")] {
        let bench = Workbench::new();
        let load = ["--rate", "max", "--warm-up", "0s", "--duration", "5s", "--screens", "0"];
        let place = ["historian", "--target", &url, "--database", "prony_budget"];
        bench.run(&[&place[..], &load].concat());
        let report = bench.run(&["report", "latest", "--json"]).ended_with(0).json();
        let budget = &report["trials"][0]["budget"];
        assert!(budget["looks"].as_u64() >= Some(20), "{engine} {budget:#}");
        let parts = budget["parts"].as_array().unwrap();
        let share = |part: &Value| part["share"].as_f64().unwrap();
        let sum: f64 = parts.iter().map(share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{engine} {budget:#}");
        let unknown = parts.iter().filter(|part| part["class"] == "unknown");
        let named =
            unknown.flat_map(|part| part["of"].as_array().unwrap().iter().map(|of| (share(part), of)));
        let much = |(of_all, of): &(f64, &Value)| of_all * of[1].as_f64().unwrap() > 0.1;
        let is_known = |(_, of): &(f64, &Value)| of[0] == "executing, on no CPU";
        let mut missing = named.filter(|one| much(one) && !is_known(one));
        assert_eq!(missing.next(), None, "what {engine} says here is in no table of names");
        let details = bench.run(&["report", "latest", "--details"]).ended_with(0).stdout;
        assert!(details.contains("Where the time of sessions went"), "{details}");
    }
}
