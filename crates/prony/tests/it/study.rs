//! Study files from the command line: mistakes, plans, thresholds, commands, interruptions, and the published studies.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::running::Running;
use crate::servers;
use crate::workbench::{Outcome, PRONY, Workbench, finish, json_file};

/// Two axes in virtual time: an hour takes milliseconds.
const SIMULATED: &str = r#"
title = "Depth and block size"
blocks = 6
[workload.disk]
engine = "simulated"
simulated = { service = "10ms", parallel = 4 }
duration = "60s"
[target]
paths = ["nowhere"]
[[axis]]
key = "workload.disk.outstanding"
levels = [1, 2, 8]
[[axis]]
key = "workload.disk.block_size"
levels = ["4KiB", "8KiB"]
"#;

/// A historian on a database that exists only in virtual time.
const FAKE: &str = r#"
title = "Rows of a flush"
blocks = 6
metric = "commit_p99_ms"
[workload.historian]
rate = 100
warm_up = "2s"
duration = "20s"
screens = 0
[target]
database = "fake:?append=20ms&row=1ms"
[[axis]]
key = "workload.historian.flush_rows"
levels = [10, 40]
"#;

fn run(bench: &Workbench, file: &str, more: &[&str]) -> Outcome {
    bench.write("study.toml", file);
    bench.run(&[&["study", "run", "study.toml"], more].concat())
}

#[test]
fn a_study_compares_its_levels_and_says_so() {
    let bench = Workbench::new();
    let outcome = run(&bench, SIMULATED, &[]).ended_with(0).says("42 trials on nowhere").says("report: ");
    // Whatever the width of the lines.
    let said = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for sentence in [
        "outstanding 8, with 1.64 MB/s (1.64–1.64), is better than 1: 4.00 times the reference in throughput (95% CI 4.00 to 4.00)",
        "block size 8KiB is better than 4KiB: 2.00 times the reference in throughput (95% CI 2.00 to 2.00)",
        "outstanding: sweet spot not reached",
    ] {
        assert!(said.contains(sentence), "{sentence} is not in:\n{}", outcome.stdout);
    }
    let results = bench.results().unwrap();
    let manifest = json_file(results.join("manifest.json"));
    assert_eq!(manifest["design"]["axes"][0]["reference"], "1");
    assert_eq!(manifest["plan"].as_array().unwrap().len(), 42);
    let html = fs::read_to_string(results.join("report.html")).unwrap();
    assert!(html.contains("4.00 times") && html.contains("better"), "the page says what the text says");
}

#[test]
fn mistakes_are_told_at_once_before_anything_is_touched() {
    let bench = Workbench::new();
    let wrong = SIMULATED
        .replace("blocks = 6", "blocs = 6")
        .replace("8KiB\"]", "8 apples\"]")
        .replace("\"60s\"", "60");
    let outcome = run(&bench, &wrong, &[]).ended_with(2);
    for line in [
        "study.toml: line 3: blocs: unknown key. Did you mean `blocks`?",
        "study.toml: line 7: workload.disk.duration: ",
        "study.toml: line 14: workload.disk.block_size: level 8 apples: ",
    ] {
        assert!(outcome.stderr.contains(line), "{line} is not in:\n{}", outcome.stderr);
    }
    assert_eq!(bench.names("."), ["study.toml"]);
    bench.run(&["study", "run", "hds-flush-row"]).ended_with(2).says("Did you mean hds-flush-rows?");
    bench.run(&["study", "run", "nowhere.toml"]).ended_with(2).says("cannot read the study nowhere.toml");
    run(&bench, SIMULATED, &["--set", "blocks=many"]).ended_with(2).says("blocks: invalid value \"many\"");
    run(&bench, SIMULATED, &["--location", "x=y"])
        .ended_with(2)
        .says("--location x: not a location of this study");
}

#[test]
fn thresholds_decide_the_exit_code() {
    let bench = Workbench::new();
    for (threshold, code) in [
        ("gain > 5% at outstanding = 8", 4),
        ("iops < 200", 3),
        ("p99_ms < 20", 3),
        ("iops > 1 at outstanding = 8, block_size = 4KiB", 0),
    ] {
        let text = format!("thresholds = [\"{threshold}\"]\n{SIMULATED}");
        let outcome = run(&bench, &text, &["--blocks", "2"]);
        assert_eq!(outcome.code, Some(code), "{threshold}:\n{}", outcome.stdout);
        fs::remove_dir_all(bench.path("prony-results")).unwrap();
    }
    let one = "thresholds = [\"p99_ms < 5\"]\nblocks = 1\n[workload.disk]\nengine = \"simulated\"\n[target]\npaths = [\"x\"]\n";
    assert_eq!(run(&bench, one, &[]).code, Some(0), "a study of one combination has thresholds too");
    assert_eq!(run(&bench, &one.replace("< 5", "> 5"), &[]).code, Some(3));
    let one_axis = SIMULATED.rsplit_once("[[axis]]").unwrap().0;
    let gain = format!("thresholds = [\"gain > 5% at outstanding = 8\"]\n{one_axis}");
    assert_eq!(run(&bench, &gain, &[]).code, Some(0), "a gain is decided from six blocks on");
    let text = format!("thresholds = [\"trend_p99_ms < 20\"]\n{SIMULATED}");
    run(&bench, &text, &[])
        .ended_with(2)
        .says("line 1: thresholds: this study does not measure `trend_p99_ms`");
}

#[test]
fn a_plan_tells_trials_time_and_bytes_and_touches_nothing() {
    let bench = Workbench::new();
    bench.write("study.toml", SIMULATED);
    let plan = bench.run(&["study", "plan", "study.toml"]).ended_with(0).stdout;
    for text in [
        "42 trials on nowhere",
        " (42 min 42 s of load",
        "Writes: nothing",
        "the reference again",
        "5 more rounds",
    ] {
        assert!(plan.contains(text), "{text} is not in:\n{plan}");
    }
    let quick = bench
        .run(&["study", "plan", "study.toml", "--quick", "--blocks", "3", "--json"])
        .ended_with(0)
        .json();
    assert_eq!(quick["trials"].as_array().unwrap().len(), 18);
    assert_eq!(bench.names("."), ["study.toml"]);
}

/// A name of more than 28 characters moved all that stands behind it, and no column could be read down.
#[test]
fn names_of_any_length_leave_the_columns_of_a_plan_in_line() {
    let bench = Workbench::new();
    let names = [
        "short",
        "the second shelf with a battery",
        "a-name-without-a-blank-that-is-longer-than-any-column",
        "every controller with its cache switched off and all of the disks behind one port",
    ];
    let configurations: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            format!(
                "[[configuration]]\nname = \"{name}\"\n[configuration.workload.disk]\noutstanding = {}\n",
                at + 1
            )
        })
        .collect();
    let head = "blocks = 1\n[workload.disk]\nengine = \"simulated\"\nsimulated = { service = \"10ms\", parallel = 4 }\n\
                duration = \"60s\"\n[target]\npaths = [\"nowhere\"]\n";
    bench.write("study.toml", format!("{head}{}", configurations.concat()));
    let plan = bench.run(&["study", "plan", "study.toml"]).ended_with(0).stdout;
    let trials: Vec<&str> = plan.lines().filter(|line| line.contains("100% reads")).collect();
    let columns: Vec<usize> =
        trials.iter().map(|line| line[..line.find("100% reads").unwrap()].chars().count()).collect();
    assert_eq!(columns.len(), names.len(), "{plan}");
    assert!(columns.iter().all(|&column| column == columns[0]), "{columns:?} in\n{plan}");
    let words: Vec<&str> = plan.split_whitespace().collect();
    for word in names.iter().flat_map(|name| name.split(' ')) {
        assert!(words.contains(&word), "{word} in\n{plan}");
    }
}

/// Two depths of a simulated disk, the second of which gains 300 % by as much in each block.
fn stopping(blocks: u32) -> String {
    let one_axis = SIMULATED.rsplit_once("[[axis]]").unwrap().0;
    one_axis.replace("blocks = 6", &format!("blocks = {blocks}\nstop = \"when settled\""))
}

#[test]
fn a_study_ends_once_all_is_settled() {
    let bench = Workbench::new();
    let told = "after block 6 of at most 20: 2 of 2 comparisons are decided. The study ends here";
    let outcome = run(&bench, &stopping(20), &[]).ended_with(0).says(told);
    let said = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "the study ended after 6 of at most 20 blocks: all 2 comparisons are decided.";
    assert!(said.contains(why) && !said.contains("did not start"), "{said}");
    let results = bench.results().unwrap();
    let document = bench.report_json(&results);
    assert_eq!(
        (&document["state"], &document["comparison"]["looks"]["ended"]),
        (&"complete".into(), &"settled".into())
    );
    assert_eq!(document["trials"].as_array().unwrap().len(), 6 * 4);
    let resumed = bench.run(&["study", "resume", results.to_str().unwrap()]);
    resumed.ended_with(2).says("the study is complete");
}

#[test]
fn a_study_that_settles_nothing_takes_all_of_its_blocks() {
    let bench = Workbench::new();
    // There is no ratio to a share of zero.
    let outcome = run(&bench, &format!("metric = \"error_share\"\n{}", stopping(8)), &[]).ended_with(0);
    let said = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("the study used all of its 8 blocks: 0 of 2 comparisons are decided."), "{said}");
    assert_eq!(
        outcome.stderr.matches(" of 2 comparisons are decided").count(),
        2,
        "after six and seven: {}",
        outcome.stderr
    );
}

#[test]
fn a_plan_of_a_study_that_may_end_early_tells_the_least_and_the_most() {
    let bench = Workbench::new();
    bench.write("study.toml", stopping(20));
    let plan = bench.run(&["study", "plan", "study.toml"]).ended_with(0).stdout;
    insta::assert_snapshot!(plan);
    let document = bench.run(&["study", "plan", "study.toml", "--json"]).ended_with(0).json();
    assert_eq!(
        (document["duration_at_least_s"].as_f64(), document["duration_s"].as_f64()),
        (Some(1464.0), Some(4880.0))
    );
    assert_eq!(document["finds"]["ends_when_settled"], true);
    // As flags, and without looks.
    bench.write("study.toml", SIMULATED);
    let flags = ["study", "plan", "study.toml", "--stop", "when settled"];
    let plan = bench.run(&[&flags[..], &["--blocks", "9"]].concat()).ended_with(0).stdout;
    assert!(plan.contains("after 6 to 9 blocks"), "{plan}");
    bench
        .run(&flags)
        .ended_with(2)
        .says("--stop: this rule can end a study after 6 blocks at the earliest, so with 6 it saves nothing");
    let unknown = ["study", "plan", "study.toml", "--stop", "soon"];
    bench.run(&unknown).ended_with(2).says("must be \"never\" or \"when settled\"");
    bench.write("study.toml", stopping(20));
    let plan = bench.run(&["study", "plan", "study.toml", "--stop", "never"]).ended_with(0).stdout;
    assert!(plan.contains("19 more rounds"), "{plan}");
    let plan = bench.run(&["study", "plan", "study.toml", "--quick"]).ended_with(0).stdout;
    assert!(plan.contains("1 more round"), "{plan}");
}

#[test]
fn commands_surround_each_trial_and_a_failing_one_ends_the_study() {
    let bench = Workbench::new();
    let noted = "before = \"echo before $PRONY_TRIAL $PRONY_LEVEL_OUTSTANDING >> log\"\n\
                 after = \"echo after $PRONY_TRIAL >> log\"\norder = \"given\"\n";
    let short = ["--blocks", "1", "--set", "workload.disk.block_size=4KiB"];
    run(&bench, &format!("{noted}{SIMULATED}"), &short).ended_with(0);
    let log = fs::read_to_string(bench.path("log")).unwrap();
    assert_eq!(log, "before 1 1\nafter 1\nbefore 2 2\nafter 2\nbefore 3 8\nafter 3\n");
    fs::remove_dir_all(bench.path("prony-results")).unwrap();

    let failing =
        format!("before = \"test -e ready || test $PRONY_TRIAL -lt 3\"\norder = \"given\"\n{SIMULATED}");
    let outcome = run(&bench, &failing, &short).ended_with(1);
    assert!(outcome.stdout.contains("the command before trial 3"), "{}", outcome.stdout);
    let results = bench.results().unwrap();
    bench.write("ready", "");
    let resumed = bench.run(&["study", "resume", results.to_str().unwrap()]).ended_with(0);
    assert!(!resumed.stdout.contains("the command before"), "{}", resumed.stdout);
}

/// A trial that had come to its end was measured again, and nobody was told that its record could not be read.
#[test]
fn what_is_damaged_of_a_study_is_told_before_it_is_taken_up_again() {
    let bench = Workbench::new();
    let failing =
        format!("before = \"test -e ready || test $PRONY_TRIAL -lt 3\"\norder = \"given\"\n{SIMULATED}");
    let short = ["--blocks", "1", "--set", "workload.disk.block_size=4KiB"];
    run(&bench, &failing, &short).ended_with(1);
    let results = bench.results().unwrap();
    let path = results.join("trials/0001/trial.json");
    let mut record = json_file(path.clone());
    record["outcome"] = Value::Null;
    fs::write(&path, record.to_string()).unwrap();
    bench.write("ready", "");
    bench
        .run(&["study", "resume", results.to_str().unwrap()])
        .ended_with(0)
        .says("trial 1: trial.json cannot be read: it was measured to its end and has no outcome");
    assert_eq!(json_file(path)["outcome"]["workload"], "disk", "measured again");
    assert!(results.join("trials/0001-aside-1").exists());
}

/// The figures and verdicts of a study, without what is said of its interruption.
fn comparison(bench: &Workbench, results: &Path) -> (Value, Vec<String>) {
    let mut document = bench.report_json(results);
    let mut comparison = document["comparison"].take();
    comparison["resumed"] = Value::Null;
    let sentence = |verdict: &Value| verdict["sentence"].as_str().unwrap().to_owned();
    let verdicts = document["verdicts"].as_array().unwrap().iter();
    (comparison, verdicts.filter(|verdict| verdict["rule"] != "resumed").map(sentence).collect())
}

/// Holds a study before the trial whose number is in the file `stop`: it waits for somebody to write to a pipe.
const GATE: &str = "before = \"test \\\"$(cat stop 2>/dev/null)\\\" != $PRONY_TRIAL || cat gate\"\n";

fn make_pipe(bench: &Workbench) -> Outcome {
    let mut command = bench.command("mkfifo");
    command.arg("gate");
    finish(command)
}

/// Kills a study before a trial, takes it up again, and sets it against the undisturbed one.
fn killed_before(file: &str, trial: u32, undisturbed: &(Value, Vec<String>)) {
    let bench = Workbench::new();
    bench.write("study.toml", file);
    bench.write("stop", trial.to_string());
    assert_eq!(make_pipe(&bench).code, Some(0));
    let mut running = Running::start(&bench, &["study", "run", "study.toml"]);
    let ended = |bench: &Workbench| {
        let record = bench.results()?.join(format!("trials/{:04}/trial.json", trial - 1));
        fs::read_to_string(record).ok().filter(|text| text.contains("\"complete\""))
    };
    running.wait_until("the trial before it", || ended(&bench).is_some());
    let results = bench.results().unwrap();
    let directory = results.to_str().unwrap();
    bench.run(&["study", "resume", directory]).ended_with(1).says("another prony writes to it");
    // What waits at the gate ends with the study that started it.
    running.send(Signal::KILL);
    assert_eq!(running.ended().code, None, "it was killed before its end");
    fs::remove_file(bench.path("stop")).unwrap();

    let before = bench.report_json(&results);
    let complete = before["trials"].as_array().unwrap().iter().filter(|trial| trial["state"] == "complete");
    assert_eq!(complete.count() as u32, trial - 1, "what was complete is there");
    bench.run(&["study", "resume", directory]).ended_with(0).says("trials left");
    assert_eq!(&comparison(&bench, &results), undisturbed, "killed before trial {trial}");
    bench.run(&["study", "resume", directory]).ended_with(2).says("the study is complete");
}

#[test]
fn a_study_that_is_killed_and_resumed_ends_with_the_same_verdicts() {
    let one_axis = SIMULATED.rsplit_once("[[axis]]").unwrap().0;
    for (file, trials) in [(one_axis, [2, 11]), (&stopping(9), [5, 23]), (FAKE, [2, 12])] {
        let file = format!("{GATE}{file}");
        let bench = Workbench::new();
        run(&bench, &file, &[]).ended_with(0);
        let undisturbed = comparison(&bench, &bench.results().unwrap());
        trials.into_iter().for_each(|trial| killed_before(&file, trial, &undisturbed));
    }
}

#[test]
fn a_killed_study_of_a_real_database_goes_on_and_leaves_nothing_behind() {
    let bench = Workbench::new();
    bench.write(
        "study.toml",
        "blocks = 2\nworkload.historian = { rate = 200, warm_up = \"0s\", duration = \"1s\", screens = 0 }\n\
         target.database = \"sqlite:historian.db\"\naxis = [{ key = \"workload.historian.flush_rows\", levels = [10, 40] }]\n",
    );
    let mut running = Running::start(&bench, &["study", "run", "study.toml"]);
    running.wait_until("the third trial", || {
        bench.results().is_some_and(|results| results.join("trials/0003/samples.ndjson").exists())
    });
    running.send(Signal::KILL);
    assert_eq!(running.ended().code, None);
    assert!(bench.path("historian.db").exists(), "the database of the killed study is still there");
    let results = bench.results().unwrap();
    // From another directory: the paths of the study are still those of the one that it was begun in.
    let mut elsewhere = bench.command(PRONY);
    elsewhere.args(["study", "resume", results.to_str().unwrap()]).current_dir("/");
    finish(elsewhere).ended_with(0).says("2 of 4 trials left");
    let document = bench.report_json(&results);
    let states: Vec<&str> =
        document["trials"].as_array().unwrap().iter().map(|t| t["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["complete"; 4]);
    assert!(!bench.path("historian.db").exists(), "what was made for the study is removed");
    assert!(results.join("trials/0003-aside-1").exists(), "what was measured before is kept aside");
}

#[test]
fn results_are_compared_with_the_first() {
    let bench = Workbench::new();
    let fast = SIMULATED.replace("service = \"10ms\"", "service = \"5ms\"");
    let mut directories = Vec::new();
    for (name, file) in [("slow", SIMULATED), ("fast", fast.as_str())] {
        run(&bench, file, &["--results", name]).ended_with(0);
        let entry = fs::read_dir(bench.path(name)).unwrap().next().unwrap().unwrap();
        directories.push(entry.path().to_str().unwrap().to_owned());
    }
    let [slow, fast] = &directories[..] else { unreachable!() };
    let outcome = bench.run(&["compare", slow, fast]).ended_with(4);
    assert!(
        outcome.stdout.contains("One run on each side: the spread between runs is unknown"),
        "{}",
        outcome.stdout
    );
    let settings = outcome.stdout.split("Differences of the settings").nth(1).unwrap_or_default();
    assert!(settings.contains("workload.disk.simulated.service"), "{}", outcome.stdout);
    let same = bench.run(&["compare", slow, slow, "--json"]).ended_with(0).json();
    assert!(same["against"][0]["environment"].as_array().unwrap().is_empty());
    bench.run(&["compare", slow, "nowhere"]).ended_with(2).says("no directory or run of this name");
    bench.run(&["compare", slow]).ended_with(2).says("there is only one run, so nothing can be compared");
    let said = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("use --details"), "{}", outcome.stdout);
    bench
        .run(&["compare", slow, "--candidate", fast, slow])
        .ended_with(2)
        .says("is given twice. Give each run once");
    bench.run(&["compare", slow, "--candidate", fast, "--run-sd", "2%"]).ended_with(2);
}

#[test]
fn a_comparison_is_written_as_a_page_that_overwrites_nothing() {
    let bench = Workbench::new();
    let measure = |name: &str| {
        let null =
            ["--engine", "null", "--duration", "1s", "--warm-up", "0s", "--repeats", "2", "--name", name];
        bench.run(&[&["disk", "x"][..], &null].concat());
    };
    ["before", "after"].into_iter().for_each(measure);
    let compare = |page: &str| bench.run(&["compare", "before", "after", "--html", page]);
    let told = compare("page.html").ended_with(4).says("/page.html");
    assert!(told.stdout.contains("against"), "the text is printed all the same: {}", told.stdout);
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    for part in ["after against before", "<svg", "Reliability", "id=\"machines\""] {
        assert!(page.contains(part), "{part}");
    }
    let again = compare("page.html").ended_with(2).says("page.html already exists");
    assert_eq!(again.stdout, "", "known before anything is read");
    assert!(compare("-").ended_with(4).stdout.starts_with("<!DOCTYPE html>"));
    bench
        .run(&["compare", "before", "after", "--html", "-", "--json"])
        .ended_with(2)
        .says("--html - and --json both print");
}

#[test]
fn runs_of_two_sides_are_compared_by_how_much_they_differ_themselves() {
    let bench = Workbench::new();
    let mut directories = Vec::new();
    for name in ["a1", "b1", "a2", "b2"] {
        run(&bench, SIMULATED, &["--results", name]).ended_with(0);
        let entry = fs::read_dir(bench.path(name)).unwrap().next().unwrap().unwrap();
        directories.push(entry.path().to_str().unwrap().to_owned());
    }
    let [a1, b1, a2, b2] = &directories[..] else { unreachable!() };
    let outcome = bench.run(&["compare", a1, a2, "--candidate", b1, b2, "--json"]).ended_with(0);
    let document = outcome.json();
    assert_eq!(document["first"].as_array().unwrap().len(), 2);
    assert_eq!(document["against"][0]["runs"].as_array().unwrap().len(), 2);
    let metric = &document["against"][0]["combinations"][0]["metrics"][0];
    assert_eq!(metric["runs"], serde_json::json!([2, 2]));
    assert!(metric["between_runs"].is_number(), "{metric}");
}

#[test]
fn runs_of_one_configuration_are_followed() {
    let bench = Workbench::new();
    let mut directories = Vec::new();
    for name in ["one", "two"] {
        run(&bench, SIMULATED, &["--results", name]).ended_with(0);
        let entry = fs::read_dir(bench.path(name)).unwrap().next().unwrap().unwrap();
        directories.push(entry.path().to_str().unwrap().to_owned());
    }
    let [one, two] = &directories[..] else { unreachable!() };
    let outcome = bench.run(&["history", one, two]).ended_with(0);
    assert!(outcome.stdout.contains("2 runs for a change point (10 are needed)"), "{}", outcome.stdout);
    // The baseline may be a directory that is not among the others.
    let document = bench.run(&["history", two, "--baseline", one, "--json"]).ended_with(4).json();
    assert_eq!(
        (document["runs"].as_array().unwrap().len(), &document["baseline"]),
        (2, &serde_json::json!(0))
    );
    bench.run(&["history", one, two, "--html", "--output", "history.html"]).ended_with(0);
    assert!(fs::read_to_string(bench.path("history.html")).unwrap().contains("<svg"));
    bench.run(&["history", one, two, "--html", "--output", "history.html"]).ended_with(2);
    bench
        .run(&["history", one, two, "--baseline", "nowhere"])
        .ended_with(2)
        .says("no directory or run of this name");
}

#[test]
fn published_studies_are_listed_and_shown() {
    let bench = Workbench::new();
    let list = bench.run(&["study", "list"]).ended_with(0).stdout;
    for name in [
        "hds-flush-rows",
        "hds-placement",
        "hds-real-project",
        "hds-sqlio",
        "primequest-blocks",
        "primequest-throughput",
        "primequest-cpu-scaling",
        "primequest-memory",
        "primequest-tables",
        "primequest-columnstore",
        "r630-think-time",
        "r630-hdd-ssd",
        "r630-cycle",
        "r630-availability",
        "sqlio-sweep",
        "sqlio-expectation",
        "classifier-ram",
        "classifier-vcpu",
        "classifier-iops",
    ] {
        assert!(list.contains(name), "{name} is not in:\n{list}");
        let file = bench.run(&["study", "show", name]).ended_with(0).stdout;
        assert!(file.contains("[published]"), "{file}");
        let page = bench.run(&["study", "show", name, "--page"]).ended_with(0).stdout;
        assert!(page.starts_with(&format!("# {name}\n")) && page.contains("## How to adapt it"), "{page}");
    }
    bench.run(&["study", "show", "hds"]).ended_with(2).says("prony study list");
    let missing = bench.run(&["study", "plan", "primequest-throughput"]).ended_with(2);
    for place in ["striped", "second"] {
        assert!(
            missing.stderr.contains(&format!("places.{place}: missing. Give a directory")),
            "{}",
            missing.stderr
        );
    }
}

/// Its plan told of twelve trials and their time; eight of them were left out, as was known from the engine alone.
#[test]
fn a_plan_tells_which_trials_its_engine_has_no_tables_for() {
    let bench = Workbench::new();
    fs::create_dir(bench.path("data")).unwrap();
    let plan = |engine: &str| {
        let engine = format!("engine={engine}");
        let places = ["--location", "data=data", "--location", &engine];
        let arguments = [&["study", "plan", "primequest-columnstore", "--quick"], &places[..]].concat();
        bench.run(&arguments).ended_with(0).stdout
    };
    let of_postgres = plan("postgres");
    for sentence in [
        "2 of 12 trials are skipped and take no time: PostgreSQL has no archive tables",
        "2 of 12 trials are skipped and take no time: PostgreSQL has no clustered tables: CLUSTER sorts",
    ] {
        assert!(of_postgres.contains(sentence), "{of_postgres}");
    }
    assert_eq!(of_postgres.matches("are skipped and take no time").count(), 4, "{of_postgres}");
    let of_mariadb = plan("mariadb");
    assert!(of_mariadb.contains("InnoDB always clusters rows by their primary key"), "{of_mariadb}");
}

/// Runs a published study tiny, and gives what it prints.
fn tiny(bench: &Workbench, name: &str, more: &[&str]) -> String {
    let outcome = bench.run(&[&["study", "run", name, "--quick"], more].concat());
    assert!(matches!(outcome.code, Some(0 | 3 | 4 | 5)), "{}\n{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("Quick run"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("published"), "what was published stands beside it: {}", outcome.stdout);
    let results = bench.results().unwrap();
    assert_eq!(json_file(results.join("manifest.json"))["state"], "complete");
    fs::remove_dir_all(bench.path("prony-results")).unwrap();
    outcome.stdout
}

#[test]
fn published_studies_of_a_disk_run_tiny() {
    let bench = Workbench::new();
    let mut short =
        vec!["--blocks", "1", "--set", "workload.disk.duration=50ms", "--set", "workload.disk.warm_up=0s"];
    short.extend(["--set", "workload.disk.file_size=16MiB"]);
    if !bench.has_direct_io() {
        short.extend(["--set", "workload.disk.cache=buffered"]);
    }
    tiny(&bench, "sqlio-sweep", &short);
    tiny(&bench, "sqlio-expectation", &short);
    fs::create_dir(bench.path("a")).unwrap();
    fs::create_dir(bench.path("b")).unwrap();
    let places = ["--location", "blocks_4k=a", "--location", "blocks_64k=b"];
    let plan =
        bench.run(&[&["study", "plan", "hds-sqlio", "--quick"], &places[..]].concat()).ended_with(0).stdout;
    assert!(plan.contains("a and b are on the same file system"), "{plan}");
    tiny(&bench, "hds-sqlio", &[&short[..], &places[..]].concat());
    let places = ["--location", "device=a", "--location", "striped=b", "--location", "second=."];
    let shown = tiny(&bench, "primequest-throughput", &[&short[..], &places].concat());
    assert!(shown.contains("second device"), "{shown}");
    assert!(bench.names("a").is_empty() && bench.names("b").is_empty(), "test files leave nothing");
}

#[test]
fn published_studies_of_a_historian_run_tiny() {
    let bench = Workbench::new();
    let short = [
        "--blocks",
        "1",
        "--set",
        "workload.historian.warm_up=0s",
        "--set",
        "workload.historian.duration=500ms",
    ];
    let shown = tiny(&bench, "hds-flush-rows", &short);
    assert!(shown.contains("stable, 0 to 20,000 pending"), "{shown}");
    let hour = ["maintenance_interval", "retention", "trend_window", "warm_up"]
        .map(|key| format!("workload.historian.{key}=1s"));
    let mut short = vec!["--blocks", "1", "--set", "workload.historian.duration=3s"];
    short.extend(hour.iter().flat_map(|set| ["--set", set.as_str()]));
    let shown = tiny(&bench, "hds-real-project", &short);
    assert!(shown.contains("purge rows 60000") || shown.contains("purge_rows"), "{shown}");
    assert_eq!(bench.names("."), [""; 0], "no database is left");
}

#[test]
fn the_published_study_of_order_stores_runs_tiny() {
    let bench = Workbench::new();
    let url = format!("server={}", servers::postgres().url());
    let mut short = vec!["--blocks", "1", "--location", &url, "--set", "workload.orders.warmup_time=500ms"];
    short.extend(["--set", "workload.orders.run_time=1500ms", "--set", "workload.orders.n_threads=2"]);
    let prices = "prices={ currency = \"EUR\", date = \"2026-11-21\", items = [{ name = \"server\", amount = 9000 }] }";
    short.extend(["--set", prices]);
    bench.write("prony-results.txt", "");
    let shown = tiny(&bench, "r630-think-time", &short);
    assert!(shown.contains("variability") && shown.contains("EUR"), "{shown}");
}

/// A directory that the user of a started server gets to.
fn open_to_all(bench: &Workbench, name: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    for path in [bench.path("."), bench.path(name)] {
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

const ORDERS_SHORT: [&str; 8] = [
    "--blocks",
    "1",
    "--set",
    "workload.orders.warmup_time=500ms",
    "--set",
    "workload.orders.run_time=1500ms",
    "--set",
    "workload.orders.size=1MB",
];

#[test]
fn the_published_cycle_runs_tiny_and_tells_what_each_way_took() {
    let bench = Workbench::new();
    open_to_all(&bench, "data");
    let data = format!("data={}", bench.path("data").display());
    let more = ["--location", &data, "--set", "target.server.db.quiet_within=1500ms", "--details"];
    let shown = tiny(&bench, "r630-cycle", &[&ORDERS_SHORT[..], &more].concat());
    for part in ["restored", "rested 1.", "caches dropped", "recreated", "idle for 10 minutes"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(bench.names("data").is_empty(), "nothing is left");
}

/// Planning starts nothing, and so needs no more than is there.
#[test]
fn studies_of_availability_tell_what_stands_by_and_what_is_broken_before_anything_is_started() {
    let bench = Workbench::new();
    fs::create_dir(bench.path("data")).unwrap();
    let data = format!("data={}", bench.path("data").display());
    let nodes = ["one", "two"].map(|name| {
        fs::create_dir(bench.path(name)).unwrap();
        format!("{name}={}", bench.path(name).display())
    });
    for (name, told) in [
        ("r630-availability", "breaks it: kill-node for 1m at 1m..1m30s"),
        ("availability-single", "breaks it: restart at 20s..40s"),
        ("availability-sync", "pair = sync (pg_auto_failover, tuned)"),
        ("availability-async", "breaks it: kill-node of standby for 15s at 20s..30s"),
        ("availability-async", "breaks it: promote for 15s at 20s..30s"),
        ("availability-galera", "pair = sync (Galera with an arbitrator, tuned)"),
        ("availability-receiver", "breaks it: freeze-receiver for 15s at 20s..30s"),
        ("availability-network", "breaks it: isolate for 40s at 20s..30s"),
        ("availability-power", "breaks it: power-cut at 20s..40s"),
        ("availability-power-pair", "breaks it: power-cut of all for 5s at 20s..40s"),
        ("availability-synchrony", "pair = quorum (streaming replication)"),
    ] {
        let places = if name == "availability-power-pair" { &nodes[..] } else { std::slice::from_ref(&data) };
        let places = places.iter().flat_map(|place| ["--location", place.as_str()]);
        let asked: Vec<&str> = ["study", "plan", name].into_iter().chain(places).collect();
        let plan = bench.run(&asked).ended_with(0).stdout;
        assert!(plan.contains(told), "{told} is not in:\n{plan}");
        bench.run(&[&asked[..], &["--quick"]].concat()).ended_with(0);
        let page = bench.run(&["study", "show", name, "--page"]).ended_with(0).stdout;
        assert!(page.starts_with(&format!("# {name}\n")) && page.contains("## How to adapt it"), "{page}");
    }
    assert!(bench.names("data").is_empty(), "a plan makes nothing");
}

#[test]
fn published_studies_of_started_servers_are_planned_with_what_they_vary() {
    let bench = Workbench::new();
    let plan = |name: &str, more: &[&str]| {
        let arguments = [&["study", "plan", name], more].concat();
        bench.run(&arguments).ended_with(0).stdout
    };
    let place = |name: &str| {
        fs::create_dir(bench.path(name)).unwrap();
        bench.path(name).display().to_string()
    };
    let (slow, fast) = (format!("hdd={}", place("a")), format!("ssd={}", place("b")));
    let two = ["--location", slow.as_str(), "--location", fast.as_str()];
    let storages = plan("r630-hdd-ssd", &two);
    assert!(
        storages.contains("36 trials") && storages.contains("SSD, 24 databases on 4 instances"),
        "{storages}"
    );
    let quick = plan("r630-hdd-ssd", &[&two[..], &["--quick", "--location", "engine=mariadb"]].concat());
    assert!(quick.contains("MariaDB server db-4"), "the last of four: {quick}");
    let data = format!("data={}", place("c"));
    let boards = ["study", "plan", "primequest-cpu-scaling", "--location", data.as_str()];
    let small = plan("primequest-cpu-scaling", &["--location", data.as_str(), "--quick"]);
    assert!(small.contains("cpus 0.25") && !small.contains("cpus 8"), "{small}");
    if std::thread::available_parallelism().unwrap().get() >= 8 {
        let boards = bench.run(&boards).ended_with(0).stdout;
        assert!(boards.contains("cpus 8"), "{boards}");
    } else {
        bench.run(&boards).ended_with(2).says("does not limit the server: it has").says("CPUs here");
    }
}

#[test]
fn a_password_is_stored_nowhere() {
    let bench = Workbench::new();
    let url = servers::postgres().url();
    assert!(url.contains("secret"));
    bench.write(
        "study.toml",
        "blocks = 1\nworkload.historian = { rate = 100, warm_up = \"0s\", duration = \"1s\", screens = 0 }\n\
         target = { url = \"$server\", database = \"prony_study_password\" }\nplaces.server.what = \"a server\"\n\
         axis = [{ key = \"workload.historian.flush_rows\", levels = [10, 40] }]\n",
    );
    bench.run(&["study", "run", "study.toml", "--location", &format!("server={url}")]).ended_with(0);
    let results = bench.results().unwrap();
    for file in ["study.toml", "manifest.json", "report.html", "trials/0001/trial.json"] {
        let text = fs::read_to_string(results.join(file)).unwrap();
        assert!(!text.contains("secret"), "{file} holds a password");
    }
}

#[test]
fn profiles_are_studies_that_are_listed_and_planned_alike() {
    let bench = Workbench::new();
    let list = bench.run(&["study", "list"]).ended_with(0).stdout;
    let document = |arguments: &[&str]| bench.run(arguments).ended_with(0).stdout;
    for (name, by_option) in [
        ("sqlserver", &["plan", "disk", ".", "--profile", "sqlserver", "--json"][..]),
        (
            "flush-rows",
            &[
                "plan",
                "historian",
                "--target",
                "sqlite:prony-historian.sqlite",
                "--profile",
                "flush-rows",
                "--json",
            ],
        ),
    ] {
        assert!(list.contains(name), "{name} is not in:\n{list}");
        assert_eq!(document(&["study", "plan", name, "--json"]), document(by_option), "{name}");
        let file = document(&["study", "show", name]);
        assert!(file.contains(&format!("profile = \"{name}\"")), "{file}");
        bench.run(&["study", "show", name, "--page"]).ended_with(2).says("has no page");
    }
}
