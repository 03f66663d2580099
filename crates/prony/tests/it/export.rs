//! `prony export`: DuckDB and pandas find in both files what the report shows.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::workbench::{PRONY, Workbench, finish, json_file};

/// A study of two axes, in which what is deeper than 8 outstanding is skipped, twice.
const SWEEP: &[&str] =
    &["--profile", "sweep", "--block-size", "8KiB", "--latency-tolerance", "1ms", "--repeats", "2"];
/// A study without axes. No engine in virtual time makes a trial invalid, so that it is called so afterwards.
const TOO_FAST: &[&str] = &["--outstanding", "1", "--rate", "1000000"];

/// Measures in virtual time, long enough for intervals of percentiles. The results are in a directory that is the only one in `parent`.
fn measured(bench: &Workbench, parent: &str, options: &[&str], code: i32) -> String {
    let short =
        ["disk", "x", "--engine", "simulated", "--duration", "10s", "--warm-up", "0s", "--cooldown", "0s"];
    bench.run(&[&short[..], options, &["--results", parent]].concat()).ended_with(code);
    let names = bench.names(parent);
    assert_eq!(names.len(), 1, "one study leaves one results directory");
    format!("{parent}/{}", names[0])
}

/// [`TOO_FAST`], with its only trial invalid.
fn measured_invalid(bench: &Workbench, parent: &str) -> String {
    let directory = measured(bench, parent, TOO_FAST, 3);
    let record = bench.path(&directory).join("trials/0001/trial.json");
    let mut trial = json_file(&record);
    assert_eq!(trial["state"], "complete");
    trial["state"] = "invalid".into();
    fs::write(record, trial.to_string()).unwrap();
    directory
}

/// What DuckDB and pandas read in both forms of the long table of these directories.
fn read_back(bench: &Workbench, directories: &[&str]) -> Value {
    read_back_by(bench, "read_export.py", directories)
}

/// What a script reads in both forms of a table.
fn read_back_by(bench: &Workbench, script: &str, arguments: &[&str]) -> Value {
    for (form, file) in [("--csv", "table.csv"), ("--parquet", "table.parquet")] {
        bench.run(&[&["export"], arguments, &[form, "--output", file]].concat()).ended_with(0).says("rows");
    }
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("python/bin/python");
    assert!(
        python.is_file(),
        "there is no {}, by which exports are read back: make it by `cargo xtask python`",
        python.display()
    );
    let mut command = bench.command(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script));
    command.args(["table.csv", "table.parquet"]);
    finish(command).ended_with(0).json()
}

/// What the report shows of each trial: study, trial, configuration, outstanding, IOPS, valid.
fn expected_iops(bench: &Workbench, directory: &str) -> Vec<Value> {
    let document = bench.report_json(&bench.path(directory));
    let study = directory.split_once('/').unwrap().1;
    let trials = document["trials"].as_array().unwrap().iter();
    trials
        .filter(|trial| trial["state"] != "skipped")
        .map(|trial| {
            let outstanding =
                trial["levels"]["outstanding"].as_str().map(|level| level.parse::<f64>().unwrap());
            let iops = &trial["figures"][0]["per_s"];
            json!([study, trial["number"], trial["name"], outstanding, iops, trial["state"] == "complete"])
        })
        .collect()
}

#[test]
fn duckdb_and_pandas_read_what_the_report_shows() {
    let bench = Workbench::new();
    let (sweep, too_fast) = (measured(&bench, "a", SWEEP, 0), measured_invalid(&bench, "b"));
    let read = read_back(&bench, &[&sweep, &too_fast]);
    let rows = read["duckdb"]["parquet"]["rows"].as_array().unwrap();
    let columns = |row: &Value| json!([row[0], row[1], row[3], row[5], row[8], row[11]]);
    let iops: Vec<Value> = rows.iter().filter(|row| row[6] == "iops").map(columns).collect();
    assert_eq!(iops, [expected_iops(&bench, &sweep), expected_iops(&bench, &too_fast)].concat());
    // Four scenarios at 1 to 16 outstanding, twice, and the trial that is invalid.
    for form in ["csv", "parquet"] {
        let counts = read["counts"][form].as_array().unwrap();
        assert!(counts.contains(&json!(["iops", 41, 40])), "{counts:#?}");
        assert!(counts.contains(&json!(["p99_ms", 41, 40])), "{counts:#?}");
    }
}

#[test]
fn both_forms_agree_in_every_cell_and_have_the_documented_types() {
    let bench = Workbench::new();
    let (sweep, too_fast) = (measured(&bench, "a", SWEEP, 0), measured_invalid(&bench, "b"));
    let read = read_back(&bench, &[&sweep, &too_fast]);
    let [text, number, whole, flag] =
        [["VARCHAR", "str"], ["DOUBLE", "float64"], ["BIGINT", "int64"], ["BOOLEAN", "bool"]];
    let types = [
        ("study", text),
        ("trial", whole),
        ("block", whole),
        ("configuration", text),
        ("block_size", text),
        ("outstanding", number),
        ("metric", text),
        ("unit", text),
        ("value", number),
        ("low", number),
        ("high", number),
        ("valid", flag),
    ];
    let rows = &read["duckdb"]["parquet"]["rows"];
    for (reader, which) in [("duckdb", 0), ("pandas", 1)] {
        let expected = types.map(|(name, kinds)| [name, kinds[which]]);
        for form in ["csv", "parquet"] {
            assert_eq!(read[reader][form]["columns"], json!(expected), "{reader}, {form}");
            assert!(read[reader][form]["rows"] == *rows, "{reader} reads other rows from {form}");
        }
    }
    let last = rows.as_array().unwrap().last().unwrap();
    assert_eq!((&last[4], &last[5]), (&Value::Null, &Value::Null), "a study without axes has no levels");
}

#[test]
fn studies_of_one_name_are_told_apart() {
    let bench = Workbench::new();
    let first = measured_invalid(&bench, "a");
    fs::create_dir(bench.path("b")).unwrap();
    let second = first.replacen("a/", "b/", 1);
    fs::rename(bench.path(measured_invalid(&bench, "c")), bench.path(&second)).unwrap();
    let table = bench.run(&["export", &first, &second, "--csv"]).ended_with(0).stdout;
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    table.lines().skip(1).for_each(|line| *rows.entry(line.split(',').next().unwrap()).or_default() += 1);
    assert_eq!(rows.keys().copied().collect::<Vec<_>>(), [first.as_str(), second.as_str()]);
}

#[test]
fn both_forms_go_to_stdout_as_they_go_to_a_file() {
    let bench = Workbench::new();
    let directory = measured_invalid(&bench, "a");
    for (form, file) in [("--csv", "table.csv"), ("--parquet", "table.parquet")] {
        let mut command = bench.command(PRONY);
        command.args(["export", &directory, form]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        bench.run(&["export", &directory, form, "--output", file]).ended_with(0);
        assert!(output.stdout == fs::read(bench.path(file)).unwrap(), "{form} differs");
    }
}

#[test]
fn a_file_that_exists_is_refused_and_stays() {
    let bench = Workbench::new();
    let directory = measured_invalid(&bench, "a");
    let theirs = bench.write("table.csv", "theirs");
    let into = |file: &str| bench.run(&["export", &directory, "--csv", "--output", file]).ended_with(2);
    into("table.csv")
        .says("table.csv already exists, and prony does not overwrite it: use another file, or delete it");
    assert_eq!(fs::read_to_string(theirs).unwrap(), "theirs");
    into("later/table.csv").says("directory later does not exist; create it");
    assert_eq!(bench.names("."), ["a", "table.csv"]);
}

#[test]
fn what_measured_nothing_has_no_rows_and_says_so() {
    let bench = Workbench::new();
    let (whole, empty) = (measured_invalid(&bench, "a"), measured_invalid(&bench, "b"));
    fs::remove_dir_all(bench.path(&empty).join("trials/0001")).unwrap();
    let nothing = format!("{empty}: no trial was measured");
    let alone = bench.run(&["export", &empty, "--csv"]).ended_with(2).says(&nothing);
    assert_eq!(alone.stdout, "");
    assert!(alone.stderr.contains("nothing to export. Give a results directory"), "{}", alone.stderr);
    let both = bench.run(&["export", &empty, &whole, "--csv"]).ended_with(0).says(&nothing);
    assert!(both.stdout.lines().count() > 5, "{}", both.stdout);
}

/// Every second that is stored of a study: trial, end, phase as the table says it, operations and errors of reads, p99 in ms.
fn stored_seconds(bench: &Workbench, directory: &str) -> Vec<Value> {
    let trials = format!("{directory}/trials");
    let of_trial = |trial: &String| {
        let path = bench.path(format!("{trials}/{trial}/samples.ndjson"));
        let number: u32 = trial.parse().unwrap();
        let text = fs::read_to_string(path).unwrap_or_default();
        let line = move |line: &str| {
            let sample: Value = serde_json::from_str(line).unwrap();
            let phase = match sample["phase"].as_str().unwrap() {
                "warm_up" => "warm-up",
                "measure" => "measured",
                other => other,
            };
            let read = &sample["operations"]["read"];
            let p99_ms = read["latency"]["p99_us"].as_f64().map(|us| us / 1e3);
            let count = |name: &str| read[name].as_f64();
            json!([number, sample["end_s"], phase, count("count"), count("errors"), p99_ms])
        };
        text.lines().map(line).collect::<Vec<Value>>()
    };
    bench.names(&trials).iter().flat_map(of_trial).collect()
}

/// The cells of these columns in each row.
fn cells(read: &Value, columns: &[&str]) -> Vec<Value> {
    let names = read["columns"].as_array().unwrap();
    let place = |column: &&str| {
        let found = names.iter().position(|name| name == *column);
        found.unwrap_or_else(|| panic!("no {column} in {names:?}"))
    };
    let places: Vec<usize> = columns.iter().map(place).collect();
    let rows = read["rows"].as_array().unwrap().iter();
    rows.map(|row| places.iter().map(|&place| row[place].clone()).collect()).collect()
}

#[test]
fn seconds_are_read_back_as_they_are_stored() {
    let bench = Workbench::new();
    let (sweep, too_fast) = (measured(&bench, "a", SWEEP, 0), measured_invalid(&bench, "b"));
    let read = read_back_by(&bench, "read_series.py", &["--series", &sweep, &too_fast]);
    let whole = &read["duckdb"]["parquet"];
    for (reader, form) in [("duckdb", "csv"), ("pandas", "csv"), ("pandas", "parquet")] {
        assert_eq!(read[reader][form]["columns"], whole["columns"], "{reader}, {form}");
        assert!(read[reader][form]["rows"] == whole["rows"], "{reader} reads other rows from {form}");
    }
    let columns = ["trial", "end_s", "phase", "read_operations", "read_errors", "read_p99_ms"];
    let stored = [stored_seconds(&bench, &sweep), stored_seconds(&bench, &too_fast)].concat();
    assert!(stored.len() > 400 && stored.iter().any(|second| second[2] == "measured"), "{}", stored.len());
    assert_eq!(cells(whole, &columns), stored);
    for row in cells(whole, &["phase", "read_per_s", "read_operations", "length_s"]) {
        let [rate, operations, length_s] = [1, 2, 3].map(|place| row[place].as_f64());
        let expected = operations.zip(length_s).map(|(count, s)| count / s);
        assert_eq!(rate, expected.filter(|_| row[0] != "drain"), "{row}");
    }
    let started = json_file(bench.path(&too_fast).join("trials/0001/trial.json"))["started"].clone();
    let started: jiff::Timestamp = started.as_str().unwrap().parse().unwrap();
    let last = cells(whole, &["time", "end_s", "outstanding", "valid"]).pop().unwrap();
    let time = started.as_duration().as_secs_f64() + last[1].as_f64().unwrap();
    assert!((last[0].as_f64().unwrap() - time).abs() < 0.001, "{last}, {time}");
    assert_eq!((&last[2], &last[3]), (&Value::Null, &json!(false)), "a study without axes has no levels");
}
