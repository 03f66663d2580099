//! The schemas in `docs/schema` are correct: stored and printed documents follow them, and the schemas allow no other fields.
//!
//! A Python script validates the documents, and tries an unknown field in each object. Stored files of old versions are not validated.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::running::Running;
use crate::workbench::{Workbench, finish, json_file};

/// Files of a results directory, each with the schema of its documents. Files that are not JSON have none.
const FILES: [(&str, Option<&str>); 10] = [
    ("manifest.json", Some("manifest")),
    ("environment.json", Some("environment")),
    ("verdicts.json", Some("verdicts")),
    ("trial.json", Some("trial")),
    ("samples.ndjson", Some("sample")),
    ("resources.ndjson", Some("resources")),
    ("marks.ndjson", Some("mark")),
    ("study.toml", None),
    ("report.html", None),
    ("latency.hlog", None),
];
/// The schema of the output of `--json`.
const REPORT: &str = "report";
/// Objects in trials and in reports of trials that keep the spelling of a study file.
const FREE: [&str; 2] = ["parameters", "target"];

/// Runs in one workbench, and their JSON output.
struct Measured {
    bench: Workbench,
    documents: Vec<PathBuf>,
}

impl Measured {
    fn new() -> Self {
        Self { bench: Workbench::new(), documents: Vec::new() }
    }

    /// Runs prony with `--json`. A run can be invalid on a busy machine, and the run of a test can fail.
    fn run(&mut self, arguments: &[&str]) {
        let outcome = self.bench.run(&[arguments, &["--json"]].concat());
        outcome.json();
        self.keep(&outcome.stdout);
    }

    fn keep(&mut self, document: &str) {
        let path = self.bench.write(&format!("document-{}.json", self.documents.len()), document);
        self.documents.push(path);
    }

    /// All documents of these runs, each with its schema.
    fn all(&self) -> Vec<(&'static str, PathBuf)> {
        let mut all: Vec<_> = self.documents.iter().map(|path| (REPORT, path.clone())).collect();
        let results = self.bench.path("prony-results");
        if results.exists() {
            add_stored(&results, &mut all);
        }
        all
    }

    /// Asserts that there are documents of these schemas, and that all documents are valid. Only objects with the user's own names may
    /// accept an unknown field.
    #[track_caller]
    fn follows(&self, schemas: &[&str]) {
        let all = self.all();
        let read = read(&self.bench, &all);
        assert_eq!(read["faulty"], json!([]), "{:#}", read["faulty"]);
        for schema in schemas {
            let of = &read["schemas"][schema];
            assert!(of["documents"].as_u64() > Some(0) && of["tried"].as_u64() > Some(0), "{schema}: {of}");
        }
        for (schema, of) in read["schemas"].as_object().unwrap() {
            let accepted = of["accepted"].as_array().unwrap().iter().map(|place| place.as_str().unwrap());
            let wrong: Vec<&str> = accepted.filter(|place| !is_free(schema, place)).collect();
            assert_eq!(wrong, [""; 0], "{schema} accepts unknown fields there");
        }
    }
}

/// True for objects with the user's own names, which a schema cannot list.
fn is_free(schema: &str, place: &str) -> bool {
    let of_trial = match schema {
        "trial" => place.strip_prefix('/'),
        REPORT => place.strip_prefix("/trials/*/"),
        _ => None,
    };
    of_trial.and_then(|place| place.split('/').next()).is_some_and(|name| FREE.contains(&name))
}

/// Adds the files below a directory. An unknown file is an error, except in `findings`.
fn add_stored(directory: &Path, all: &mut Vec<(&'static str, PathBuf)>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap();
        match FILES.iter().find(|(known, _)| *known == name) {
            _ if path.is_dir() => add_stored(&path, all),
            Some((_, schema)) => all.extend(schema.map(|schema| (schema, path))),
            None => assert!(directory.ends_with("findings"), "{} is described nowhere", path.display()),
        }
    }
}

/// The results of the validator.
fn read(bench: &Workbench, documents: &[(&str, PathBuf)]) -> Value {
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("python/bin/python");
    assert!(python.is_file(), "there is no {}: make it by `cargo xtask python`", python.display());
    let mut command = bench.command(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/read_schema.py"));
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema"));
    for (schema, path) in documents {
        command.arg(schema).arg(path);
    }
    finish(command).ended_with(0).json()
}

/// Schemas of the files and of the output that every run that measures produces.
const OF_EACH_RUN: [&str; 6] = ["manifest", "environment", "verdicts", "trial", "sample", REPORT];

#[test]
fn what_disk_tests_leave_follows_the_schemas() {
    let mut runs = Measured::new();
    let simulated = ["disk", "x", "--engine", "simulated", "--warm-up", "0s", "--cooldown", "0s"];
    let sweep = ["--profile", "sweep", "--duration", "10s", "--block-size", "8KiB", "--repeats", "2"];
    runs.run(&[&simulated[..], &sweep, &["--latency-tolerance", "1ms"]].concat());
    // One block size and one mix, out of many.
    let steady = ["study", "run", "steady", "--blocks", "6", "--location", "disk=x"];
    let set = ["engine=simulated", "duration=1s", "warm_up=0s", "block_size=4KiB", "read_share=0"];
    let set: Vec<String> = set.iter().map(|key| format!("workload.disk.{key}")).collect();
    let set = set.iter().flat_map(|key| ["--set", key.as_str()]).chain(["--set", "cool_down=0s"]);
    runs.run(&[&steady[..], &set.collect::<Vec<_>>()].concat());
    assert!(json_file(&runs.documents[1])["steady_state"].is_object());
    let open =
        ["--rate", "300", "--duration", "20s", "--percentiles", "50,99.99", "--name", "a", "--tag", "b=c"];
    let open = [&open[..], &["--title", "A", "--comment", "B\nC"]].concat();
    runs.run(&[&simulated[..], &open].concat());
    let real = ["disk", ".", "--file-size", "4MiB", "--duration", "1s", "--expect", "8 x sas10k raid10"];
    runs.run(&[&real[..], runs.bench.cache()].concat());
    runs.follows(&[&OF_EACH_RUN[..], &["resources"]].concat());
}

#[test]
fn what_is_found_in_damaged_files_follows_the_schemas() {
    let mut runs = Measured::new();
    let verify = ["verify", "data", "--create", "--file-size", "4MiB", "--duration", "2s", "--json"];
    let arguments =
        [&verify[..], &["--read-share", "90", "--audit-every", "1s"], runs.bench.cache()].concat();
    let mut run = Running::start(&runs.bench, &arguments);
    run.wait_for_samples(&runs.bench);
    let file = File::options().write(true).open(runs.bench.path("data")).unwrap();
    for page in 0..64 {
        file.write_all_at(&[7; 512], (1 << 20) + page * 8192).unwrap();
    }
    let outcome = run.ended().ended_with(1);
    runs.keep(&outcome.stdout);
    let trial = json_file(runs.bench.results().unwrap().join("trials/0001/trial.json"));
    let findings = &trial["outcome"]["verified"]["findings"];
    assert!(findings.as_array().is_some_and(|findings| !findings.is_empty()), "{findings}");
    runs.follows(&[&OF_EACH_RUN[..], &["mark"]].concat());
}

#[test]
fn what_historians_leave_follows_the_schemas() {
    let mut runs = Measured::new();
    let fake = ["historian", "--target", "fake:?append=40ms&lose_at=500&down=3s"];
    runs.run(&[&fake[..], &["--rate", "500", "--duration", "1m"]].concat());
    let of_sqlite = ["historian", "--target", "sqlite:h.db", "--rate", "500", "--warm-up", "0s"];
    let maintained = ["--maintenance-interval", "1s", "--retention", "1s", "--disk-size", "1GiB"];
    runs.run(&[&of_sqlite[..], &["--duration", "4s"], &maintained].concat());
    let search = r#"
        title = "Search"
        blocks = 1
        [search]
        start_per_s = 20.0
        confirm = "1m"
        cool_down = "0s"
        [workload.historian]
        warm_up = "5s"
        duration = "30s"
        screens = 0
        [target]
        database = "fake:?append=200ms"
        [[axis]]
        key = "workload.historian.flush_rows"
        levels = [8, 40]
    "#;
    runs.bench.write("search.toml", search);
    runs.run(&["study", "run", "search.toml"]);
    runs.follows(&[&OF_EACH_RUN[..], &["resources", "mark"]].concat());
}

#[test]
fn what_order_stores_leave_follows_the_schemas() {
    let mut runs = Measured::new();
    for target in ["sqlite:o.db", "sqlite:p.db"] {
        runs.bench.run(&["orders", "load", "--size", "1MB", "--target", target]).ended_with(0);
    }
    let items = "currency = \"EUR\"\ndate = \"2026-11-21\"\n[[items]]\nname = \"server\"\namount = 1000\n";
    runs.bench.write("prices.toml", items);
    let short = ["orders", "run", "--warmup-time", "200ms", "--run-time", "1s"];
    let two = ["--target", "sqlite:o.db,sqlite:p.db", "--clients", "2", "--ramp-rate", "100"];
    runs.run(&[&short[..], &two].concat());
    let one = ["--target", "sqlite:o.db"];
    runs.run(&[&short[..], &one, &["--repeats", "2", "--prices", "prices.toml"]].concat());
    runs.run(&[&short[..], &one, &["--rate", "100/s"]].concat());
    runs.run(&[&short[..], &one, &["--cpu-target", "20%"]].concat());
    runs.follows(&[&OF_EACH_RUN[..], &["resources"]].concat());
}

#[test]
fn what_scripts_and_replays_leave_follows_the_schemas() {
    let mut runs = Measured::new();
    let made = "CREATE TABLE t (id int PRIMARY KEY, n bigint NOT NULL); INSERT INTO t VALUES (1, 0), (2, 0);";
    rusqlite::Connection::open(runs.bench.path("theirs.db")).unwrap().execute_batch(made).unwrap();
    let add = "\\set id random(1, 2)\nUPDATE t SET n = n + 1 WHERE id = :id;\n\\expect rows = 2\nSELECT n FROM t;\n";
    runs.bench.write("add.sql", add);
    let line = |ms: u32, statement: &str| {
        format!(
            "2024-01-15 10:00:00.{ms:03} CET,\"me\",\"shop\",4711,\"[local]\",5f.1,1,\"SELECT\",2024-01-15 09:59:00 CET,3/7,0,LOG,00000,\
             \"statement: {statement}\",,,,,,,,,\"psql\",\"client backend\",,0\n"
        )
    };
    let log = ["SELECT n FROM t", "INSERT INTO t VALUES (1, 5)", "COPY t FROM STDIN"];
    let log: String = (1..).zip(log).map(|(number, statement)| line(100 * number, statement)).collect();
    runs.bench.write("busy.csv", log);
    let target = ["--target", "sqlite:theirs.db"];
    let short = ["--warm-up", "200ms", "--duration", "1s", "--clients", "2", "--max-tries", "1000"];
    let late = ["script", "add.sql", "add.sql@2", "--latency-limit", "1ms", "-D", "scale=2"];
    runs.run(&[&late[..], &target, &short].concat());
    let open = ["script", "--builtin", "select-only", "--initialize", "--rate", "50"];
    runs.run(&[&open[..], &target, &short].concat());
    runs.run(&[&["script", "--replay", "busy.csv"][..], &target].concat());
    runs.follows(&OF_EACH_RUN);
}

#[test]
fn what_the_other_workloads_leave_follows_the_schemas() {
    let mut runs = Measured::new();
    let reports = ["analytics", "--events", "20000", "--days", "30", "--target", "sqlite:reports.db"];
    runs.run(&[&reports[..], &["--warm-up", "100ms"]].concat());
    let registers = ["failover", "--target", "sqlite:registers.db", "--rate", "60", "--clients", "3"];
    runs.run(&[&registers[..], &["--warm-up", "200ms", "--duration", "1s"]].concat());
    let tables = ["tables", "--rows", "3000", "--clients", "2", "--point-deletes", "20"];
    runs.run(&[&tables[..], &["--warm-up", "50ms", "--duration", "300ms"]].concat());
    runs.follows(&OF_EACH_RUN);
}

/// Two axes and two configurations in virtual time, with all features of a study.
const COMPARING: &str = r#"
title = "Depth and threads"
blocks = 7
stop = "when settled"
reference = "slow"
thresholds = ["gain > 5% at outstanding = 8", "iops > 1"]
[workload.disk]
engine = "simulated"
duration = "20s"
[target]
paths = ["nowhere"]
[[axis]]
key = "workload.disk.outstanding"
levels = [1, 2, 4, 8, 16]
[[axis]]
key = "workload.disk.threads"
levels = [1, 2]
[[configuration]]
name = "slow"
workload.disk.simulated = { service = "10ms", parallel = 4 }
[[configuration]]
name = "fast"
workload.disk.simulated = { service = "5ms", parallel = 4 }
[published]
source = "somebody"
differs = "all"
[[published.figures]]
at = { outstanding = 8 }
value = 100.0
says = "quick"
"#;

#[test]
fn what_studies_leave_follows_the_schemas() {
    let mut runs = Measured::new();
    runs.bench.write("study.toml", COMPARING);
    runs.run(&["study", "run", "study.toml"]);
    let comparison = &json_file(&runs.documents[0])["comparison"];
    assert!(comparison["looks"].is_object() && comparison["published"].is_object(), "{comparison:#}");
    runs.follows(&OF_EACH_RUN);
}

#[test]
fn what_a_resumed_study_leaves_follows_the_schemas() {
    let mut runs = Measured::new();
    let failing = "before = \"test -e ready || test $PRONY_TRIAL -lt 7\"\n";
    let twice = COMPARING.replace("blocks = 7\nstop = \"when settled\"", "blocks = 2");
    runs.bench.write("study.toml", format!("{failing}{twice}"));
    runs.run(&["study", "run", "study.toml"]);
    assert_eq!(json_file(&runs.documents[0])["state"], "failed");
    runs.bench.write("ready", "");
    let results = runs.bench.results().unwrap();
    runs.run(&["study", "resume", results.to_str().unwrap()]);
    let manifest = json_file(results.join("manifest.json"));
    assert!(manifest["resumed"].as_array().is_some_and(|times| times.len() == 1), "{manifest:#}");
    let trials = runs.bench.names(results.join("trials"));
    assert!(trials.iter().any(|name| name.ends_with("-aside-1")), "these are validated too: {trials:?}");
    runs.follows(&OF_EACH_RUN);
}

#[test]
fn what_a_managed_server_with_a_fault_leaves_follows_the_schemas() {
    let mut runs = Measured::new();
    let registers = ["failover", "--managed", "postgres", "--clients", "4", "--rate", "300/s"];
    let fault = ["--warm-up", "500ms", "--duration", "4s", "--fault", "kill at 1s", "--outage", "50ms"];
    runs.run(&[&registers[..], &fault].concat());
    let report = json_file(&runs.documents[0]);
    assert!(report["availability"][0].is_object(), "{report:#}");
    assert!(report["trials"][0]["started_servers"][0].is_object(), "{report:#}");
    runs.follows(&[&OF_EACH_RUN[..], &["resources", "mark"]].concat());
}

/// Stored files of format 1 have no schema, but reports of them do.
#[test]
fn reports_of_format_1_follow_the_schema() {
    let mut runs = Measured::new();
    for of in ["", "-historian", "-orders", "-search", "-design", "-resumed", "-interrupted"] {
        let name = format!("format-1{of}");
        let mut copy = runs.bench.command("cp");
        copy.arg("-r").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/fixtures").join(&name));
        copy.arg(&name);
        finish(copy).ended_with(0);
        runs.run(&["report", &name]);
    }
    runs.follows(&[REPORT]);
}

#[test]
fn documents_with_an_unknown_a_missing_or_a_wrong_field_are_refused() {
    let mut runs = Measured::new();
    let historian = ["historian", "--target", "sqlite:h.db", "--rate", "100", "--warm-up", "0s"];
    let maintained = ["--duration", "3s", "--maintenance-interval", "1s", "--retention", "1s"];
    runs.run(&[&historian[..], &maintained].concat());
    let mut all: Vec<(&str, PathBuf)> = Vec::new();
    for (schema, path) in runs.all() {
        let text = fs::read_to_string(&path).unwrap();
        // The first document, if the file has one document per line.
        let whole = serde_json::Deserializer::from_str(&text).into_iter::<Value>().next().unwrap().unwrap();
        for damaged in damaged(&whole, &required(schema)) {
            let name = format!("damaged-{}.json", all.len());
            all.push((schema, runs.bench.write(&name, damaged.to_string())));
        }
    }
    let read = read(&runs.bench, &all);
    let faulty = read["faulty"].as_array().unwrap().iter();
    let refused: Vec<&str> = faulty.map(|faulty| faulty["file"].as_str().unwrap()).collect();
    assert!(all.iter().any(|(schema, _)| *schema == "mark"), "{all:?}");
    for (schema, path) in &all {
        let text = || fs::read_to_string(path).unwrap();
        assert!(refused.contains(&path.to_str().unwrap()), "{schema} accepts {}", text());
    }
}

/// The required fields of a document. For a list, the required fields of its items.
fn required(schema: &str) -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let schema = json_file(directory.join(format!("{schema}.schema.json")));
    let of = if schema["type"] == "array" { &schema["$defs"]["Verdict"] } else { &schema };
    serde_json::from_value(of["required"].clone()).unwrap()
}

/// Damaged copies of a document. One has an unknown field. In others, one required field is missing, or one field has a wrong type. In
/// a list, only the first document is damaged.
fn damaged(whole: &Value, required: &[String]) -> Vec<Value> {
    let change = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut damaged = whole.clone();
        let document = if damaged.is_array() { &mut damaged[0] } else { &mut damaged };
        change(document.as_object_mut().unwrap());
        damaged
    };
    let first = if whole.is_array() { &whole[0] } else { whole };
    let names = first.as_object().unwrap().keys();
    let unknown = change(&|document| _ = document.insert("of_no_schema".to_owned(), json!(1)));
    let missing = required.iter().map(|name| change(&|document| _ = document.remove(name).unwrap()));
    let wrong = names.map(|name| change(&|document| _ = document.insert(name.clone(), json!([[[]]]))));
    std::iter::once(unknown).chain(missing).chain(wrong).collect()
}

#[test]
fn schemas_describe_each_of_their_fields() {
    let read = read(&Workbench::new(), &[]);
    let schemas = read["schemas"].as_object().unwrap();
    assert_eq!(schemas.len(), 9, "{schemas:#?}");
    for (name, schema) in schemas {
        assert_eq!(schema["undescribed"], json!([]), "{name} has fields without a description");
    }
}
