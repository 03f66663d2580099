//! Reports of trials on servers that were started for them.

use record::{
    DeviceLoad, FileCache, LimitProof, MeasuredTrial, Reading, Resources, Sample, ServerLimits,
    ServerSetting, ServerStep, ServerUse, StartedServer, Volume,
};

use super::{doubts, lines};
use crate::fixture::{self, Sold};
use crate::report::Report;

fn volume(path: &str, device: &str) -> Volume {
    let known = |text: &str| Reading::Known(text.to_owned());
    Volume {
        path: path.to_owned(),
        mount: known("/"),
        device: known(device),
        file_system: Some("ext4".to_owned()),
        beneath: record::Beneath::default(),
    }
}

fn setting(name: &str, value: &str) -> ServerSetting {
    ServerSetting { name: name.to_owned(), value: value.to_owned() }
}

fn proof(of: &str, expected: f64, achieved: f64) -> LimitProof {
    LimitProof { of: of.to_owned(), expected, achieved }
}

pub(crate) fn server(cache: &str) -> StartedServer {
    let step = |what: &str, took_s: f64| ServerStep { what: what.to_owned(), took_s, remark: None };
    let limits = ServerLimits {
        by: "cgroup v2, /sys/fs/cgroup/prony-1".to_owned(),
        memory_bytes: Some(2 << 30),
        cpus: Some(1.5),
        cpu_set: vec![0, 1, 2, 3, 8],
        devices: [(
            "254:0".to_owned(),
            record::DeviceLimits { reads_per_s: Some(781), ..record::DeviceLimits::default() },
        )]
        .into(),
        proofs: vec![proof("processors", 1.5, 1.49), proof("reads/s of 254:0", 781.0, 779.0)],
    };
    StartedServer {
        name: "pg".to_owned(),
        engine: "PostgreSQL".to_owned(),
        pair: None,
        pair_settings: Vec::new(),
        faults: Vec::new(),
        address: "127.0.0.1:20001".to_owned(),
        places: [
            ("data".to_owned(), volume("/data/prony-a1a1a1a1a1a1/data", "vda")),
            ("log".to_owned(), volume("/log/prony-b2b2b2b2b2b2/log", "vdb")),
        ]
        .into(),
        asked: vec![setting("shared_buffers", cache)],
        chosen: vec![setting("max_connections", "100")],
        limits: Some(limits),
        file_cache: None,
        steps: vec![step("restored", 1.25), step("started", 0.75)],
        used: Some(ServerUse {
            cpu_s: 12.5,
            throttled_s: 3.0,
            memory_most_bytes: Some(1 << 30),
            memory_at_limit: 7,
            oom_kills: 0,
        }),
    }
}

fn trial(number: u32, server: StartedServer) -> MeasuredTrial {
    let mut trial = Sold::at("O", &[50.0]).trial(number);
    let read = |sample: &Sample| {
        let load =
            |bytes: f64| DeviceLoad { write_bytes_per_s: bytes, writes_per_s: 10.0, ..DeviceLoad::default() };
        Resources {
            end_s: sample.end_s,
            length_s: sample.length_s,
            devices: [("vda".to_owned(), load(4_194_304.0)), ("vdb".to_owned(), load(1_048_576.0))].into(),
            ..Resources::default()
        }
    };
    trial.resources = trial.samples.iter().map(read).collect();
    trial.trial.servers = vec![server];
    trial
}

fn report(servers: Vec<StartedServer>) -> Report {
    let trials = servers.into_iter().zip(1..).map(|(server, number)| trial(number, server)).collect();
    Report::of(&fixture::study("orders", trials))
}

/// The part of the text that is about started servers.
fn text(report: &Report) -> String {
    let text = report.text(None).to_string();
    text[text.find("Managed servers").unwrap()..].to_owned()
}

#[test]
fn text_of_started_servers() {
    insta::assert_snapshot!(text(&report(vec![server("512MB"), server("1GB")])));
}

#[test]
fn rows_are_told_apart_by_trials_only_where_they_differ() {
    let alike = text(&report(vec![server("512MB"), server("512MB")]));
    assert!(!alike.contains("in trials"), "{alike}");
    let moved = StartedServer {
        places: [
            ("data".to_owned(), volume("/data/prony-ffffffffffff/data", "vda")),
            ("log".to_owned(), volume("/log/prony-cccccccccccc/log", "vdb")),
        ]
        .into(),
        ..server("512MB")
    };
    let anew = text(&report(vec![server("512MB"), moved]));
    assert!(!anew.contains("in trials"), "directories of our own are other ones each time: {anew}");
}

/// Of a server without limits there was not one figure, and nothing said why.
#[test]
fn of_a_server_without_limits_the_time_of_processors_is_told_and_no_zero_stands_for_what_nobody_counts() {
    let used = Some(ServerUse { cpu_s: 12.5, ..ServerUse::default() });
    let report = report(vec![StartedServer { limits: None, used, ..server("512MB") }]);
    let table = text(&report);
    let (_, table) = table.split_once("Activity and resources of managed servers").unwrap();
    let (table, _) = table.split_once("I/O on the devices").unwrap();
    assert!(table.contains("13 s") && table.contains("CPU time"), "{table}");
    assert!(!table.contains("throttled") && !table.contains("killed"), "{table}");
    let csv = report.csv();
    let of = |name: &str| {
        let place = csv.lines().next().unwrap().split(',').position(|head| head == name).unwrap();
        csv.lines().nth(1).unwrap().split(',').nth(place).unwrap().to_owned()
    };
    assert_eq!((of("server_cpu_s").as_str(), of("server_throttled_s").as_str()), ("12.5", ""));
}

fn rules(servers: Vec<StartedServer>) -> Vec<String> {
    doubts(&report(servers))
        .into_iter()
        .map(|doubt| format!("{}: {}", doubt.rule, doubt.sentence()))
        .collect()
}

#[test]
fn what_is_not_as_it_was_asked_for_is_doubted() {
    assert_eq!(rules(vec![server("1GB")]), [""; 0]);
    let mut together = server("1GB");
    together.places.insert("log".to_owned(), volume("/data/prony-b2b2b2b2b2b2/log", "vda"));
    let told = rules(vec![together, server("1GB")]);
    assert!(
        told.len() == 1
            && told[0].contains("data and log of its server should be on different devices but are on vda"),
        "{told:?}"
    );
    let with = |proof: LimitProof| {
        let mut server = server("1GB");
        server.limits.as_mut().unwrap().proofs = vec![proof];
        rules(vec![server])
    };
    let passed = with(proof("processors", 1.5, 1.9));
    assert!(
        passed[0].starts_with("limit_passed: ") && passed[0].contains("(processors: 1.90 of 1.50)"),
        "{passed:?}"
    );
    let loose = with(proof("bytes/s written of 254:0", 1e9, 1e8));
    assert!(
        loose[0].starts_with("limit_not_reached: ") && loose[0].contains("of 254:0: 95.4 MiB of"),
        "{loose:?}"
    );
}

#[test]
fn json_and_csv_have_what_was_started_and_used() {
    let report = report(vec![server("1GB")]);
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["trials"][0]["started_servers"][0]["limits"]["cpus"], 1.5);
    let csv = report.csv();
    let [heads, first] = [0, 1].map(|line| csv.lines().nth(line).unwrap().split(',').collect::<Vec<_>>());
    let at = |head: &str| first[heads.iter().position(|other| *other == head).unwrap()];
    assert_eq!((at("server_cpu_s"), at("server_throttled_s"), at("server_oom_kills")), ("12.5", "3", "0"));
    assert_eq!(at("server_memory_most_bytes"), (1_u64 << 30).to_string());
}

/// What a plan tells of servers before they are started.
#[test]
fn servers_that_differ_in_their_names_alone_are_told_together() {
    let named = |name: &str| StartedServer { name: name.to_owned(), ..server("1GB") };
    let told = lines(&[named("pg-1"), named("pg-2"), named("pg-3")]);
    assert_eq!(
        told,
        [
            "starts 3 PostgreSQL servers, pg-1 to pg-3: data in /data on vda (ext4), log in /log on vdb (ext4)",
            "  each limited in its trials: memory 2 GiB, CPUs' time 1.5, CPU set 0-3, 8, reads of 254:0 781/s",
            "  settings asked for: shared_buffers = 1GB",
            "  settings derived from its limits: max_connections = 100",
        ]
    );
}

#[test]
fn a_plan_tells_what_stands_by_and_what_is_broken() {
    let broken = StartedServer {
        pair: Some("sync (pg_auto_failover, tuned)".to_owned()),
        faults: vec!["kill-node for 15s at 5s".to_owned(), "switchover at 40s".to_owned()],
        ..server("1GB")
    };
    let told = lines(&[broken]);
    assert_eq!(
        told[4..],
        [
            "  with standby servers: pair = sync (pg_auto_failover, tuned)",
            "  breaks it: kill-node for 15s at 5s, switchover at 40s",
        ]
    );
}

/// Sessions waited for a server that could do no more, and the whole machine was said to be idle.
#[test]
fn a_limit_of_processors_that_is_used_up_is_what_limits() {
    let with = |cores: f64| {
        let mut trial = trial(1, server("1GB"));
        for read in &mut trial.resources {
            let load = record::ServerLoad { cpu_cores: cores, ..record::ServerLoad::default() };
            read.servers = [("store_1".to_owned(), load)].into();
        }
        crate::limit::told(Report::of(&fixture::study("orders", vec![trial])).trials.iter())
    };
    assert_eq!(with(1.47).as_deref(), Some("likely: the CPU limit, the server used 98%"));
    assert!(!with(1.2).unwrap().contains("the limit of processors"));
}

#[test]
fn what_a_limit_kept_from_a_server_is_drawn_and_exported_by_the_second() {
    let mut measured = trial(1, server("1GB"));
    for read in &mut measured.resources {
        let load = record::GroupLoad {
            cpu_cores: 1.5,
            throttled_cores: 0.25,
            memory_bytes: 1 << 20,
            ..record::GroupLoad::default()
        };
        read.groups = [("pg".to_owned(), load)].into();
    }
    let report = Report::of(&fixture::study("orders", vec![measured]));
    let page = report.html();
    for part in ["CPUs of managed servers over time", "pg used", "pg throttled"] {
        assert!(page.contains(part), "{part}");
    }
    let series = report.series("study");
    let column = series[0].figures.iter().find(|(head, _)| head.name == "started_pg_throttled_cores");
    assert_eq!(column.unwrap().1[0], Some(0.25));
    assert!(!report_without_groups().contains("Processors of started servers"));
}

fn report_without_groups() -> String {
    report(vec![server("1GB")]).html()
}

/// Five thousand reads a second passed a limit of sixty: the page cache held what was loaded before the limit.
#[test]
fn files_that_stay_cached_are_told_and_evicted_ones_are_not() {
    let with = |is_evicted: bool, cached_bytes: u64| {
        let cache =
            FileCache { is_evicted, files_bytes: 200 << 20, cached_before_bytes: 190 << 20, cached_bytes };
        let server = StartedServer { file_cache: Some(cache), ..server("1GB") };
        (rules(vec![server.clone()]), text(&report(vec![server])))
    };
    let (told, table) = with(true, 0);
    assert!(!told.iter().any(|told| told.starts_with("files_")), "{told:?}");
    assert!(table.contains("190 MiB of 200 MiB, 0 B after eviction"), "{table}");
    let (told, _) = with(true, 1 << 20);
    assert!(!told.iter().any(|told| told.starts_with("files_")), "a few pages that others read: {told:?}");
    let (told, table) = with(true, 150 << 20);
    let still = told.iter().find(|told| told.starts_with("files_still_cached: ")).unwrap();
    assert!(
        still.contains("150 MiB of 200 MiB of its files")
            && still.contains("Reads from the cache bypass the I/O limits of "),
        "{still}"
    );
    assert!(table.contains("150 MiB after eviction"), "{table}");
    let (told, table) = with(false, 190 << 20);
    let warm = told.iter().find(|told| told.starts_with("files_not_evicted: ")).unwrap();
    assert!(
        warm.contains("190 MiB of 200 MiB of its files") && warm.contains("to evict these pages"),
        "{warm}"
    );
    assert!(table.contains("190 MiB of 200 MiB, not evicted"), "{table}");
}
