//! Servers that prony starts for a study: placed, configured, limited, restored between trials, and gone at the end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::running::Running;
use crate::workbench::{Outcome, PRONY, Workbench, json_file};

/// A directory that every user may pass through, for the data of a server.
fn place() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

fn run(bench: &Workbench, file: &str) -> Outcome {
    bench.write("study.toml", file);
    bench.run(&["study", "run", "study.toml"])
}

/// The servers of each trial.
fn servers(bench: &Workbench) -> Vec<Value> {
    let trials = bench.results().unwrap().join("trials");
    let mut numbers: Vec<_> = fs::read_dir(trials).unwrap().map(|entry| entry.unwrap().path()).collect();
    numbers.sort();
    numbers.iter().map(|trial| json_file(trial.join("trial.json"))["servers"].clone()).collect()
}

fn steps(server: &Value) -> Vec<&str> {
    let steps = server["steps"].as_array().into_iter().flatten();
    steps.map(|step| step["what"].as_str().unwrap()).collect()
}

fn setting<'a>(server: &'a Value, origin: &str, name: &str) -> Option<&'a str> {
    let settings = server[origin].as_array().into_iter().flatten();
    settings.filter(|setting| setting["name"] == name).find_map(|setting| setting["value"].as_str())
}

const HISTORIAN: &str = "blocks = 1\norder = \"given\"\n[workload.historian]\nrate = 200\nwarm_up = \"1s\"\n\
                         duration = \"1s\"\nscreens = 0\n";

#[test]
fn a_server_is_placed_configured_and_restored_between_trials_and_gone_at_the_end() {
    for (engine, cache, chosen) in [
        ("postgres", "shared_buffers", "max_parallel_workers"),
        ("mariadb", "innodb_buffer_pool_size", "max_connections"),
    ] {
        let (bench, data, log) = (Workbench::new(), place(), place());
        let study = format!(
            "{HISTORIAN}[target.server.one]\nengine = \"{engine}\"\ndata = {:?}\nlog = {:?}\n\
             between_trials = \"restore\"\n[[axis]]\nkey = \"target.server.one.settings.{cache}\"\n\
             levels = [\"32MB\", \"64MB\"]\n",
            data.path(),
            log.path(),
        )
        .replace("MB", if engine == "mariadb" { "M" } else { "MB" });
        let plan = {
            bench.write("study.toml", &study);
            bench.run(&["study", "plan", "study.toml"]).ended_with(0)
        };
        assert!(plan.stdout.contains("server one"), "{}", plan.stdout);
        run(&bench, &study).ended_with(0);
        let servers = servers(&bench);
        let [first, second] = [&servers[0][0], &servers[1][0]];
        assert_eq!(setting(first, "asked", cache).map(|value| &value[..2]), Some("32"));
        assert_eq!(setting(second, "asked", cache).map(|value| &value[..2]), Some("64"));
        assert!(setting(first, "chosen", chosen).is_some() && setting(first, "chosen", cache).is_none());
        let lies = |what: &str| first["places"][what]["path"].as_str().unwrap().to_owned();
        assert!(Path::new(&lies("data")).starts_with(data.path()), "{first}");
        assert!(Path::new(&lies("log")).starts_with(log.path()), "{first}");
        assert!(steps(second).ends_with(&["stopped", "restored", "started"]), "{second}");
        assert!(is_empty(data.path()) && is_empty(log.path()), "nothing is left");
        // The server itself says what it runs with, and the log is where it was to be.
        let trial = json_file(bench.results().unwrap().join("trials/0002/trial.json"));
        let found = trial["setup"].to_string();
        assert!(found.contains(if engine == "mariadb" { "64 MiB" } else { "64MB" }), "{found}");
        let placed = trial["placed"][0]["log"]["known"]["path"].as_str().unwrap_or_default();
        assert!(Path::new(placed).starts_with(log.path()) || engine == "postgres", "{}", trial["placed"]);
    }
}

/// Loading is not limited, the trial is; a kernel without groups, or a user who may make none, is told so before anything runs.
#[test]
fn a_server_is_limited_in_its_trial() {
    let bench = Workbench::new();
    let study = format!(
        "{HISTORIAN}[target.server.pg]\nengine = \"postgres\"\nmemory = \"256MiB\"\ncpus = 0.5\ncpu_set = \"0\"\n"
    );
    let outcome = run(&bench, &study);
    if !rustix::process::geteuid().is_root() && outcome.code == Some(1) {
        outcome.says("server pg: ");
        return;
    }
    // What one second tells is not certain.
    assert!(matches!(outcome.code, Some(0 | 4)), "{}", outcome.stderr);
    let server = &servers(&bench)[0][0];
    let limits = &server["limits"];
    assert_eq!(limits["memory_bytes"], 256 << 20);
    assert_eq!((limits["cpus"].as_f64(), limits["cpu_set"][0].as_u64()), (Some(0.5), Some(0)));
    assert_eq!(setting(server, "chosen", "shared_buffers"), Some("64MB"));
    let proofs: Vec<(&str, f64, f64)> = (limits["proofs"].as_array().unwrap().iter())
        .map(|it| {
            (it["of"].as_str().unwrap(), it["expected"].as_f64().unwrap(), it["achieved"].as_f64().unwrap())
        })
        .collect();
    assert_eq!(proofs[0], ("CPUs that it runs on", 1.0, 1.0));
    assert!(proofs[1].0 == "processors" && proofs[1].1 == 0.5, "{proofs:?}");
    assert!(proofs[1].2 > 0.0 && proofs[1].2 <= 0.525, "{proofs:?}");
    assert!(steps(server).ends_with(&["started", "limits proved"]), "{server}");
    let read = fs::read_to_string(bench.results().unwrap().join("trials/0001/resources.ndjson")).unwrap();
    let groups =
        read.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["groups"]["pg"].clone());
    let memory = groups.filter_map(|group| group["memory_bytes"].as_u64()).max();
    assert!(memory.is_some_and(|bytes| bytes > 0 && bytes <= 256 << 20), "{memory:?} in {read}");
    let used = &server["used"];
    assert!(used["cpu_s"].as_f64().unwrap() > 0.0, "{used}");
    assert_eq!(used["oom_kills"], 0);
    // It was asked what its sessions wait for where it was found to be.
    let trial = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    assert!(!trial["notes"].to_string().contains("cannot connect"), "{}", trial["notes"]);
}

/// What the page cache held of a limited server's files, and what the run said; none where nobody may limit here.
fn file_cache(data: &Path, more: &[&str]) -> Option<(Value, String)> {
    let bench = Workbench::new();
    let data = data.to_str().unwrap();
    let limited =
        ["historian", "--managed", "postgres", "--data", data, "--memory", "256MiB", "--rate", "200"];
    let times = ["--warm-up", "1s", "--duration", "1s", "--details"];
    let outcome = bench.run(&[&limited[..], &times, more].concat());
    if !rustix::process::geteuid().is_root() && outcome.code == Some(1) {
        outcome.says("server managed: ");
        return None;
    }
    assert!(matches!(outcome.code, Some(0 | 4)), "{}", outcome.stderr);
    let told = outcome.stdout.split_whitespace().collect::<Vec<&str>>().join(" ");
    Some((servers(&bench)[0][0]["file_cache"].clone(), told))
}

fn open_directory_in(parent: &str) -> TempDir {
    let directory = tempfile::tempdir_in(parent).unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

/// What was loaded before a limit of memory stayed in the page cache and served all reads: a limit of 96 MiB cost nothing.
#[test]
fn files_are_evicted_before_a_limit_and_what_stays_is_told() {
    let disk = open_directory_in(env!("CARGO_TARGET_TMPDIR"));
    let bytes = |cache: &Value, key: &str| cache[key].as_u64().unwrap();
    let Some((evicted, told)) = file_cache(disk.path(), &[]) else { return };
    assert!(bytes(&evicted, "cached_before_bytes") > 1 << 20, "{evicted}");
    assert_eq!(
        (evicted["is_evicted"].as_bool(), bytes(&evicted, "cached_bytes")),
        (Some(true), 0),
        "{evicted}"
    );
    assert!(!told.contains("in the page cache"), "{told}");

    let (warm, told) = file_cache(disk.path(), &["--warm"]).unwrap();
    assert_eq!(warm["is_evicted"].as_bool(), Some(false));
    assert!(bytes(&warm, "cached_bytes") > 1 << 20, "{warm}");
    assert!(told.contains("in the page cache when its limits took effect"), "{told}");

    // Files in memory cannot be evicted.
    if Path::new("/dev/shm").is_dir() {
        let memory = open_directory_in("/dev/shm");
        let (stayed, told) = file_cache(memory.path(), &[]).unwrap();
        assert_eq!(
            (stayed["is_evicted"].as_bool(), bytes(&stayed, "cached_bytes") > 1 << 20),
            (Some(true), true)
        );
        assert!(told.contains("in the page cache after eviction"), "{told}");
        assert!(is_empty(memory.path()));
    }
    assert!(is_empty(disk.path()));
}

/// As root on a file system that has a device; elsewhere the remedy is told before anything runs.
#[test]
fn what_goes_to_a_device_is_limited_and_the_limit_is_proved() {
    let bench = Workbench::new();
    let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::set_permissions(data.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let study = format!(
        "{HISTORIAN}[target.server.pg]\nengine = \"postgres\"\ndata = {:?}\nread_iops = 150\nwrite_iops = 120\n",
        data.path()
    );
    let outcome = run(&bench, &study);
    if outcome.code == Some(1) && outcome.stderr.contains("server pg: ") {
        // Above all: no root, no device below, or a path that the server's user does not get through.
        assert!(is_empty(data.path()));
        return;
    }
    assert!(matches!(outcome.code, Some(0 | 4)), "{}", outcome.stderr);
    let limits = servers(&bench)[0][0]["limits"].clone();
    for (proof, limit) in limits["proofs"].as_array().unwrap().iter().zip([150.0, 120.0]) {
        let [expected, achieved] = ["expected", "achieved"].map(|key| proof[key].as_f64().unwrap());
        assert_eq!(expected, limit, "{limits}");
        // A device that others keep busy may give less.
        assert!(achieved > 0.0 && achieved <= limit * 1.02, "{limits}");
    }
    assert!(is_empty(data.path()));
}

/// Several servers share databases and are loaded once; each trial finds the stores as they were loaded.
#[test]
fn stores_are_spread_over_servers_and_recreated() {
    let bench = Workbench::new();
    let study = "blocks = 2\n[workload.orders]\nsize = \"1MB\"\nn_threads = 2\nwarmup_time = \"1s\"\nrun_time = \"1s\"\n\
                 [target]\ndatabase = { at = \"my\", count = 2 }\n[target.server.my]\nengine = \"mariadb\"\n\
                 instances = 2\nbetween_trials = \"recreate\"\nsettings.innodb_buffer_pool_size = \"64M\"\n\
                 settings.innodb_log_file_size = \"8M\"\n";
    run(&bench, study).ended_with(0);
    let servers = servers(&bench);
    let names: Vec<&str> =
        servers[0].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["my-1", "my-2"]);
    let data = |trial: usize| servers[trial][0]["places"]["data"]["path"].clone();
    assert_ne!(data(0), data(1), "made anew");
    assert_ne!(servers[0][0]["address"], servers[0][1]["address"]);
}

/// With 10 KiB a second a server answered nothing any more, and the run went on for minutes after its signal: what was under way
/// was finished within the limits. As root on a file system that has a device.
#[test]
fn a_run_whose_server_may_hardly_write_ends_soon_after_a_signal() {
    let bench = Workbench::new();
    let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::set_permissions(data.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for engine in ["postgres", "mariadb"] {
        bench.write(
            "study.toml",
            format!(
                "blocks = 1\n[workload.historian]\nrate = 200\nwarm_up = \"1s\"\nduration = \"10m\"\nscreens = 0\n\
                 [target.server.it]\nengine = \"{engine}\"\ndata = {:?}\nwrite_rate = \"10KiB\"\n",
                data.path()
            ),
        );
        let mut running = Running::start(&bench, &["study", "run", "study.toml", "--results", engine]);
        // From then on all that is done with the server waits within its limits.
        let what_ended = running.until_or_end(|| has_process_file(data.path()));
        if let Some(outcome) = what_ended {
            assert!(outcome.code == Some(1) && outcome.stderr.contains("server it: "), "{}", outcome.stderr);
            eprintln!("not run: limits of a device need root and a file system on one: {}", outcome.stderr);
            return;
        }
        running.send(Signal::TERM);
        // Of the limits of such a test the least: within them one flush of the log takes longer.
        let outcome = running.ended();
        assert!(outcome.stderr.contains("interrupted"), "{}", outcome.stderr);
        assert!(is_empty(data.path()), "nothing is left");
    }
}

/// Whether a server wrote the number of its process somewhere below.
fn has_process_file(directory: &Path) -> bool {
    fs::read_dir(directory).into_iter().flatten().flatten().any(|entry| {
        let is_its = ["pid", "postmaster.pid"].iter().any(|name| entry.file_name() == *name);
        is_its || entry.path().is_dir() && has_process_file(&entry.path())
    })
}

/// A kill that nothing can answer: the server ends with prony, what it leaves is known, and who takes the study up again removes it.
#[test]
fn what_a_killed_prony_leaves_is_removed_when_the_study_is_taken_up_again() {
    let (bench, data) = (Workbench::new(), place());
    let study = format!(
        "blocks = 2\n[workload.historian]\nrate = 200\nwarm_up = \"1s\"\nduration = \"2s\"\nscreens = 0\n\
         [target.server.pg]\nengine = \"postgres\"\ndata = {:?}\n",
        data.path()
    );
    bench.write("study.toml", study);
    let state = bench.path("state");
    let mut command = bench.command(PRONY);
    command.args(["study", "run", "study.toml"]).env("XDG_STATE_HOME", &state);
    let mut running = Running::start_command(&bench, command);
    running.wait_for_line("2/2");
    running.send(Signal::KILL);
    running.ended();
    assert!(!is_empty(data.path()), "nobody could remove it");
    let known = state.join("prony/servers");
    assert!(!is_empty(&known));

    let results = bench.results().unwrap();
    let resumed = bench.run_with(
        &[("XDG_STATE_HOME", state.to_str().unwrap())],
        &["study", "resume", results.to_str().unwrap()],
    );
    assert!(matches!(resumed.code, Some(0 | 4)), "{}", resumed.stderr);
    assert!(is_empty(data.path()) && is_empty(&known), "{:?}", fs::read_dir(&known).unwrap().next());
}

/// For hand work: a server that lives on after the command, is listed, asked, read, and gone once it is stopped.
#[test]
fn an_instance_is_started_listed_asked_and_stopped() {
    let (bench, data) = (Workbench::new(), place());
    let state = bench.path("state");
    let run = |arguments: &[&str]| bench.run_with(&[("XDG_STATE_HOME", state.to_str().unwrap())], arguments);
    let at = data.path().to_str().unwrap();
    run(&["instance", "start", "postgres", "--cpus", "0.01"]).ended_with(2).says("--cpus: must be a number");
    let started = run(&["instance", "start", "mariadb", "--name", "my", "--data", at]).ended_with(0);
    assert!(started.stdout.starts_with("mysql://prony:secret@127.0.0.1:"), "{}", started.stdout);
    assert!(started.stderr.contains("prony instance stop my"), "{}", started.stderr);
    let url = started.stdout.trim();

    let known = fs::metadata(state.join("prony/servers")).unwrap().permissions().mode();
    assert_eq!(known & 0o077, 0, "nobody else reads the password of a server");
    let listed = run(&["instance", "list"]).ended_with(0).stdout;
    assert!(listed.starts_with("my  mariadb  ") && listed.contains("  running\n"), "{listed}");
    assert!(!listed.contains("secret"), "{listed}");
    let document = run(&["instance", "list", "--json"]).ended_with(0).json();
    assert_eq!(document["instances"][0]["standing"], "running");
    assert!(run(&["instance", "log", "my", "--lines", "3"]).ended_with(0).stdout.lines().count() == 3);
    run(&["instance", "log", "you"]).ended_with(2).says("no server named you (servers: my)");
    run(&["instance", "start", "mariadb", "--name", "my"])
        .ended_with(2)
        .says("there is a server called my already");

    let more = ["--rate", "200", "--warm-up", "1s", "--duration", "1s", "--screens", "0"];
    let measured = run(&[&["historian", "--target", url], more.as_slice()].concat());
    assert!(matches!(measured.code, Some(0 | 4)), "{}", measured.stderr);

    run(&["instance", "stop", "my"]).ended_with(0).says("deleted server my");
    assert!(is_empty(data.path()) && is_empty(&state.join("prony/servers")));
    run(&["instance", "shell", "my"]).ended_with(2).says("there are none");
}

#[test]
fn what_cannot_be_started_is_told_with_its_log_and_fails_its_trial_alone() {
    let bench = Workbench::new();
    let study = format!(
        "{HISTORIAN}[target.server.pg]\nengine = \"postgres\"\n[[axis]]\nkey = \"target.server.pg.settings.shared_preload_libraries\"\n\
         levels = [\"\", \"nowhere\"]\n"
    );
    run(&bench, &study).ended_with(1);
    let results = bench.results().unwrap();
    let states = [1, 2].map(|number| json_file(results.join(format!("trials/000{number}/trial.json"))));
    assert_eq!(
        (states[0]["state"].as_str(), states[1]["state"].as_str()),
        (Some("complete"), Some("failed"))
    );
    let reason = states[1]["reason"].as_str().unwrap();
    assert!(reason.starts_with("server pg: postgres ended with") && reason.contains("nowhere"), "{reason}");
    fs::remove_dir_all(bench.path("prony-results")).unwrap();

    let wrong = study.replace("shared_preload_libraries", "work_mem").replace("\"nowhere\"", "\"a lot\"");
    let wrong = wrong.replace("\"\", ", "\"4MB\", ");
    run(&bench, &wrong)
        .ended_with(2)
        .says("invalid value for parameter \"work_mem\": \"a lot\"; correct this setting");
    assert_eq!(bench.results(), None, "a value that the server refuses is known before anything begins");

    let nowhere =
        format!("{HISTORIAN}[target.server.pg]\nengine = \"postgres\"\ndata = \"/nowhere/at/all\"\n");
    run(&bench, &nowhere).ended_with(2).says("server pg: directory /nowhere/at/all for its data does not exist: create it with `mkdir -p /nowhere/at/all`");
    assert_eq!(bench.results(), None, "nothing was begun");
}

/// What is said of two places in a directory for temporary files, which is in memory on some machines.
fn what_they_are(place: &Path) -> &'static str {
    /// `TMPFS_MAGIC` of statfs(2).
    const TMPFS: i64 = 0x0102_1994;
    if rustix::fs::statfs(place).unwrap().f_type as i64 == TMPFS {
        "which is in memory (tmpfs)"
    } else {
        "data and log of the server managed were meant to be separate, but are on the same device"
    }
}

/// A short historian on a server of its own, with data and log in these directories.
fn historian<'a>(data: &'a str, log: &'a str) -> Vec<&'a str> {
    let mut arguments = vec!["historian", "--managed", "postgres", "--data", data, "--log", log];
    arguments
        .extend("--setting work_mem=3MB --cold --rate 200 --warm-up 1s --duration 1s --screens 0".split(' '));
    arguments.extend("--repeats 2 --between-trials restore".split(' '));
    arguments
}

#[test]
fn a_plan_shows_what_would_be_started_and_where_that_is_not_what_it_seems() {
    let (bench, data, log) = (Workbench::new(), place(), place());
    let (on, apart) = (data.path().to_str().unwrap(), log.path().to_str().unwrap());
    let plan = bench.run(&[vec!["plan"], historian(on, apart)].concat()).ended_with(0);
    for part in [
        &format!("starts PostgreSQL managed: data in {on} "),
        &format!("log in {apart} "),
        "without limits",
        "settings asked for: work_mem = 3MB",
        "settings derived from its limits: shared_buffers = ",
        what_they_are(data.path()),
    ] {
        assert!(plan.stdout.contains(part), "{part}: {}", plan.stdout);
    }
    assert!(is_empty(data.path()) && is_empty(log.path()), "a plan makes nothing");
}

/// The command line says what a study file says, and the study that is stored has it.
#[test]
fn a_command_starts_a_server_of_its_own() {
    let (bench, data, log) = (Workbench::new(), place(), place());
    let arguments = historian(data.path().to_str().unwrap(), log.path().to_str().unwrap());
    // An address that stands in the environment for every day is no second target.
    let outcome = bench.run_with(&[("PRONY_TARGET", "sqlite:every-day.db")], &arguments);
    assert!(matches!(outcome.code, Some(0 | 4)), "{}", outcome.stderr);
    let outcome = outcome.says(what_they_are(data.path()));
    for part in ["Managed servers", "work_mem (asked for)"] {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    // What is in memory has no device.
    let devices = "I/O on the devices of managed servers";
    let is_on_device = what_they_are(data.path()).contains("on the same device");
    assert_eq!(outcome.stdout.contains(devices), is_on_device, "{}", outcome.stdout);
    let page = fs::read_to_string(bench.results().unwrap().join("report.html")).unwrap();
    assert!(page.contains("Managed servers"), "on the page");
    let doubt = "are on one device";
    assert_eq!(page.contains(doubt), is_on_device, "on the page");
    let servers = servers(&bench);
    assert_eq!(setting(&servers[0][0], "asked", "work_mem"), Some("3MB"));
    let steps = steps(&servers[1][0]);
    assert!(steps.ends_with(&["stopped", "restored", "caches dropped", "started"]), "{steps:?}");
    let stored = fs::read_to_string(bench.results().unwrap().join("study.toml")).unwrap();
    assert!(
        stored.contains("[target.server.managed]") && stored.contains("engine = \"postgres\""),
        "{stored}"
    );
    assert!(is_empty(data.path()) && is_empty(log.path()), "nothing is left");
}

#[test]
fn orders_load_what_they_drive_on_servers_that_are_started() {
    let bench = Workbench::new();
    let arguments = [
        "orders",
        "run",
        "--managed",
        "mariadb",
        "--instances",
        "2",
        "--size",
        "1MB",
        "--clients",
        "2",
        "--warm-up",
        "1s",
        "--duration",
        "1s",
        "--setting",
        "innodb_buffer_pool_size=64M",
        "--setting",
        "innodb_log_file_size=8M",
    ];
    let outcome = bench.run(&arguments);
    assert!(matches!(outcome.code, Some(0 | 4)), "{}", outcome.stderr);
    let servers = servers(&bench);
    let names: Vec<&str> =
        servers[0].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["managed-1", "managed-2"]);
    let trial = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    assert_eq!(trial["setup"]["targets"].as_array().map(Vec::len), Some(2), "{}", trial["setup"]);
}

#[test]
fn what_cannot_be_asked_of_a_started_server_names_its_remedy() {
    let bench = Workbench::new();
    for (arguments, told) in [
        (&["historian"][..], "Give a database address with --target, or start a server with --managed"),
        (&["orders", "run", "--clients", "2"], "or start a server with --managed postgres"),
        (&["historian", "--memory", "2GiB"], "--memory needs a managed server. Add --managed"),
        (
            &["historian", "--target", "sqlite:x", "--cpus", "1", "--cold"],
            "--cpus, --cold need a managed server",
        ),
        (
            &["historian", "--target", "sqlite:x", "--managed", "postgres"],
            "--target and --managed exclude each other",
        ),
        (&["historian", "--managed", "postgres", "--keep"], "--keep has no effect with --managed"),
        (&["historian", "--managed", "postgres", "--reuse"], "--reuse has no effect with --managed"),
        (&["historian", "--managed", "postgres", "--replace"], "--replace has no effect with --managed"),
        (
            &["historian", "--managed", "postgres", "--instances", "2"],
            "--instances does not apply to a historian",
        ),
        (&["historian", "--managed", "oracle"], "possible values: postgres, mariadb, mysql"),
        (
            &["historian", "--managed", "mariadb", "--tablespace", "a=/tmp"],
            "--tablespace: supported only for PostgreSQL",
        ),
        (&["historian", "--managed", "postgres", "--memory", "1MiB"], "--memory: too little for a server"),
        (
            &["historian", "--managed", "postgres", "--memory", "512"],
            "A number without a unit is in bytes, so write, for example, 512MiB",
        ),
        (
            &["historian", "--managed", "postgres", "--read-rate", "10"],
            "--read-rate: less than a block of 4KiB per second",
        ),
        (&["historian", "--managed", "postgres", "--setting", "work_mem"], "use NAME=VALUE"),
        (
            &["orders", "run", "--managed", "postgres", "--instances", "2", "--database", "a,b"],
            "--database a,b names 2 databases, but with --instances 2 there is only one on each server",
        ),
    ] {
        bench.run(arguments).ended_with(2).says(told);
    }
    assert_eq!(bench.results(), None);
    // What the environment says of servers for every day is nothing to who names an address.
    let address = ["plan", "historian", "--target", "sqlite:x.db"];
    bench.run_with(&[("PRONY_MANAGED", "postgres"), ("PRONY_MEMORY", "2GiB")], &address).ended_with(0);
}

#[test]
fn what_a_machine_does_not_have_is_refused_by_a_plan_too() {
    let bench = Workbench::new();
    let beyond = [
        (
            &["--data", "/nowhere/x"][..],
            "directory /nowhere/x for its data does not exist: create it with `mkdir -p",
        ),
        (&["--cpu-set", "60000-60001"], "--cpu-set 60000-60001 names CPUs that this machine does not have"),
        (&["--memory", "500TiB"], "--memory 500TiB does not limit the server: this machine has only "),
        (&["--cpus", "4000"], "--cpus 4000 does not limit the server: "),
    ];
    for (options, told) in beyond {
        for plan in [&["plan"][..], &[]] {
            let arguments = [plan, &["historian", "--managed", "postgres", "--rate", "9"], options].concat();
            bench.run(&arguments).ended_with(2).says(told);
        }
    }
    assert_eq!(bench.results(), None);
}

const CHECK: [&str; 6] = ["check", ".", "--duration", "200ms", "--file-size", "16MiB"];

/// A check with a server: its plan, its answer, its interruption and what takes it up again.
#[test]
fn a_check_has_a_server_too_which_is_gone_however_it_ends() {
    let (bench, data, log) = (Workbench::new(), place(), place());
    let [at, log_at] = [&data, &log].map(|place| place.path().to_str().unwrap());
    let server = ["--managed", "postgres", "--data", at, "--log", log_at];
    let arguments = [&CHECK[..], &server].concat();
    let planned = bench.run(&[&["plan"], &arguments[..]].concat()).ended_with(0).stdout;
    for part in [
        "Check: 12 trials on .,",
        "historian on PostgreSQL",
        "orders on PostgreSQL",
        "8 clients per target",
        "starts PostgreSQL managed: data in ",
        at,
        log_at,
    ] {
        assert!(planned.contains(part), "{part} is not in {planned}");
    }
    assert!(is_empty(data.path()), "a plan makes nothing");
    if !bench.has_direct_io() {
        bench.run(&arguments).says("O_DIRECT");
        eprintln!("not tried: a whole check, for {} has no direct I/O", env!("CARGO_TARGET_TMPDIR"));
        return;
    }
    let mut running = Running::start(&bench, &arguments);
    running.wait_for_line("11/12");
    assert!(!is_empty(data.path()), "it runs there");
    running.send(Signal::INT);
    // It may have come to its end meanwhile.
    let outcome = running.ended();
    assert!(matches!(outcome.code, Some(130 | 0 | 5)), "{}", outcome.stderr);
    assert!(is_empty(data.path()) && is_empty(log.path()), "nothing is left");
    let results = bench.results().unwrap();
    let directory = results.to_str().unwrap();
    if outcome.code == Some(130) {
        // A machine that stands still for a moment makes a trial invalid, and says so.
        let resumed = bench.run(&["study", "resume", directory]);
        assert!(matches!(resumed.code, Some(0 | 5)), "{}", resumed.stderr);
        assert!(is_empty(data.path()) && is_empty(log.path()), "nor of what took it up again");
    }
    let document = bench.report_json(&results);
    let states: Vec<&Value> = document["trials"].as_array().unwrap().iter().map(|it| &it["state"]).collect();
    assert_eq!(states.len(), 12);
    assert!(
        states.iter().all(|state| ["complete", "invalid"].contains(&state.as_str().unwrap())),
        "{states:?}"
    );
    if states.iter().any(|state| *state != "complete") {
        eprintln!("not tried: what the page says of both databases, for the machine stood still: {states:?}");
        return;
    }
    answers_for_both(&fs::read_to_string(results.join("report.html")).unwrap());
}

fn answers_for_both(page: &str) {
    for begin in ["PostgreSQL</dt>", "SQLite</dt>"] {
        let line = page.split("<dt class=\"result\">").find(|answer| answer.starts_with(begin));
        let line = line.unwrap_or_else(|| panic!("{begin} begins no answer of the page"));
        assert!(line.contains("records/s") && line.contains("orders/min"), "{line}");
    }
}

#[test]
fn options_of_a_server_that_a_check_does_not_start_are_refused() {
    let bench = Workbench::new();
    bench
        .run(&["check", ".", "--memory", "1GiB"])
        .ended_with(2)
        .says("--memory needs a managed server. Add --managed postgres, mariadb or mysql, or remove it");
    bench
        .run(&["check", ".", "--managed", "postgres", "--cpus", "0.01"])
        .ended_with(2)
        .says("--cpus: must be a number");
    assert!(bench.results().is_none());
}
