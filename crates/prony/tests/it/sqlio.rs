//! `prony sqlio` as old batch files and old parsers meet it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::workbench::{Outcome, PRONY, Workbench, finish};

/// SQLIO needs whole seconds, so each run takes one; `-BY` where there is no direct I/O.
fn sqlio(bench: &Workbench, arguments: &[&str]) -> Outcome {
    let cache: &[&str] = if bench.has_direct_io() { &[] } else { &["-BY"] };
    bench.run(&[&["sqlio"], cache, arguments].concat())
}

/// How the parsers of that time read it: the last word before a colon is the key, what follows is the value.
fn old_parser(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(|line| line.split_once(':')).map(|(key, value)| (key, value.trim())).collect()
}

/// Asserts that a run's figures belong together, for I/Os of so many KB.
#[track_caller]
fn figures_agree(text: &str, block_kb: f64) {
    let parsed = old_parser(text);
    let number = |key: &str| parsed[key].parse::<f64>().unwrap_or_else(|_| panic!("{key} in:\n{text}"));
    let (ios, mbs) = (number("IOs/sec"), number("MBs/sec"));
    assert!(ios > 0.0, "{text}");
    // Both are cut off after two decimals.
    assert!(
        (mbs - ios * block_kb / 1024.0).abs() < 0.01 + 0.01 * block_kb / 1024.0,
        "{ios} IOs/sec, {mbs} MBs/sec"
    );
    if !parsed.contains_key("histogram") {
        return;
    }
    let (min, mean, max) = (number("Min_Latency(ms)"), number("Avg_Latency(ms)"), number("Max_Latency(ms)"));
    assert!(min <= mean && mean <= max, "{text}");
    let per_cents: Vec<f64> = parsed["%"].split_whitespace().map(|word| word.parse().unwrap()).collect();
    assert_eq!((per_cents.len(), parsed["ms"].split_whitespace().count()), (25, 25));
    assert!(
        (per_cents.iter().sum::<f64>() - 100.0).abs() <= 13.0,
        "each is rounded by itself: {per_cents:?}"
    );
}

/// What was measured made anonymous: every number behind `initialization done`.
fn layout(text: &str) -> String {
    let (head, data) = text.split_once("CUMULATIVE DATA:").expect("figures");
    let lines = data.lines().map(|line| match line.split_once(": ") {
        // Without a blank where all are below a millisecond.
        _ if line.starts_with("%:") => "%: <per cents>".to_owned(),
        Some((key, value)) if key != "ms" && value.trim().parse::<f64>().is_ok() => {
            format!("{key}: <number>")
        }
        _ => line.to_owned(),
    });
    head.to_owned() + "CUMULATIVE DATA:" + &lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_parameter_file_loads_its_files_and_the_figures_can_be_parsed() {
    let bench = Workbench::new();
    bench.write("param.txt", "first.dat 2 0x0 8\r\n# a comment\r\nsecond.dat 1 0x0 4\r\n");
    let arguments = ["-kW", "-s1", "-frandom", "-o4", "-b8", "-LS", "-Fparam.txt", "--no-results"];
    let outcome = sqlio(&bench, &arguments).ended_with(0);
    assert!(outcome.stderr.lines().all(|line| line.starts_with("sqlio: ")), "{}", outcome.stderr);
    figures_agree(&outcome.stdout, 8.0);
    if bench.has_direct_io() {
        insta::assert_snapshot!(layout(&outcome.stdout));
    }
    assert_eq!(bench.names("."), ["first.dat", "param.txt", "second.dat"]);
}

#[test]
fn a_test_file_is_made_kept_and_used_again() {
    let bench = Workbench::new();
    let write = ["-kW", "-s1", "-fsequential", "-b64", "--no-results", "test.dat"];
    let first = sqlio(&bench, &write).ended_with(0);
    assert!(first.stdout.contains("using current size: 8 MB for file: test.dat\n"), "{}", first.stdout);
    let made = fs::metadata(bench.path("test.dat")).unwrap();
    let read = ["-kR", "-s1", "-frandom", "-b64", "--no-results", "test.dat"];
    let second = sqlio(&bench, &read).ended_with(0);
    figures_agree(&second.stdout, 64.0);
    assert!(second.stdout.contains("using current size: 8 MB for file: test.dat\n"), "{}", second.stdout);
    let used = fs::metadata(bench.path("test.dat")).unwrap();
    assert_eq!((made.ino(), made.mtime_nsec()), (used.ino(), used.mtime_nsec()), "read, and not made again");
}

#[test]
fn a_file_that_is_not_ours_is_not_written() {
    let bench = Workbench::new();
    let content = bench.foreign("data.mdf", 8);
    let outcome =
        sqlio(&bench, &["-kW", "-s1", "data.mdf"]).ended_with(2).says("add --overwrite to overwrite it");
    assert_eq!(outcome.stdout, "");
    assert_eq!(fs::read(bench.path("data.mdf")).unwrap(), content);
    assert_eq!(bench.names("."), ["data.mdf"]);
}

#[test]
fn a_link_named_sqlio_behaves_as_the_command() {
    let bench = Workbench::new();
    std::os::unix::fs::symlink(PRONY, bench.path("sqlio")).unwrap();
    let linked = |arguments: &[&str]| {
        let mut command = bench.command(bench.path("sqlio"));
        command.args(arguments);
        finish(command)
    };
    for arguments in [&["-?"][..], &["-q"], &["-kX", "-t0"], &["-Fmissing"], &["-kW", "/dev/null"]] {
        let (by_name, by_link) = (bench.run(&[&["sqlio"], arguments].concat()), linked(arguments));
        assert_eq!((by_name.code, by_name.stdout), (by_link.code, by_link.stdout), "{arguments:?}");
        // Each speaks under the name it was called by.
        let anonymous = |text: &str| text.to_owned();
        assert_eq!(anonymous(&by_name.stderr), anonymous(&by_link.stderr), "{arguments:?}");
    }
    let outcome = linked(&["-BY", "-s1", "-frandom", "-b8", "--no-results", "test.dat"]).ended_with(0);
    figures_agree(&outcome.stdout, 8.0);
}

#[test]
fn typographic_dashes_are_dashes() {
    let bench = Workbench::new();
    let arguments = ["–kR", "—s1", "–frandom", "‑b8", "–BY", "——no-results", "test.dat"];
    let outcome = bench.run(&[&["sqlio"], &arguments[..]].concat()).ended_with(0);
    assert!(
        outcome.stdout.contains("1 thread reading for 1 secs from file test.dat\n"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("using 8KB random IOs\n"), "{}", outcome.stdout);
}

#[test]
fn an_unknown_option_is_named() {
    let bench = Workbench::new();
    let outcome =
        sqlio(&bench, &["-q", "-s1", "test.dat"]).ended_with(2).says("-q: SQLIO has no such option");
    assert_eq!(outcome.stdout, "");
    assert_eq!(bench.names("."), [""; 0]);
}

#[test]
fn what_means_less_here_is_said_in_one_line_each() {
    let bench = Workbench::new();
    let arguments =
        ["-kR", "-s1", "-fsequential", "-b8", "-i8", "-64", "-LP", "-BY", "--no-results", "test.dat"];
    let outcome = bench.run(&[&["sqlio"], &arguments[..]].concat()).ended_with(0);
    let lines: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with("sqlio: -")).collect();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    for option in ["-i8", "-64", "-LP"] {
        let count = lines.iter().filter(|line| line.starts_with(&format!("sqlio: {option}: "))).count();
        assert_eq!(count, 1, "{option}: {lines:#?}");
    }
    figures_agree(&outcome.stdout, 8.0);
}

#[test]
fn results_are_stored_beside_unless_they_are_not_wanted() {
    let bench = Workbench::new();
    let arguments = ["-s1", "-frandom", "-b8", "-BY", "--results", "kept", "test.dat"];
    let outcome =
        bench.run(&[&["sqlio"], &arguments[..]].concat()).ended_with(0).says("sqlio: report: kept/");
    let directory = bench.path("kept").join(&bench.names("kept")[0]);
    let document = bench.report_json(&directory);
    let operations = document["trials"][0]["figures"][0]["operations"].as_f64().unwrap();
    let seconds = document["trials"][0]["measured_s"].as_f64().unwrap();
    let printed: f64 = old_parser(&outcome.stdout)["IOs/sec"].parse().unwrap();
    assert!((printed - operations / seconds).abs() < 0.01, "{printed} and {operations} in {seconds} s");
}

/// `-U` printed lines of ours, a file that was made none, and nothing on the way to the figures said that a sparse file answers
/// from nowhere.
#[test]
fn a_file_that_is_made_grown_or_never_written_is_told_and_cpus_have_columns() {
    let bench = Workbench::new();
    let made = sqlio(&bench, &["-s1", "-f4", "-i8", "-b2", "-Up", "--no-results", "strip.dat"]).ended_with(0);
    let lines = "size of file strip.dat needs to be: 65536 bytes\ncurrent file size:\t0 bytes\n\
                 need to expand by:\t65536 bytes\nexpanding strip.dat ... done.\nusing current size: 0 MB for file: strip.dat\n";
    assert!(made.stdout.contains(lines), "{}", made.stdout);
    let (_, table) = made.stdout.split_once("ProcessorNumber:         ALL        0").expect("a table");
    let names: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split(':').next()).collect();
    assert_eq!(
        names,
        [
            "DPCTime(%)",
            "InterruptTime(%)",
            "PrivilegedTime(%)",
            "ProcessorTime(%)",
            "UserTime(%)",
            "Interrupts/sec"
        ]
    );
    let grown = sqlio(&bench, &["-s1", "-f4", "-i16", "-b2", "--no-results", "strip.dat"]).ended_with(0);
    assert!(grown.stdout.contains("need to expand by:\t65536 bytes\n"), "{}", grown.stdout);
    let again = sqlio(&bench, &["-s1", "-f4", "-i16", "-b2", "--no-results", "strip.dat"]).ended_with(0);
    assert!(!again.stdout.contains("expand") && !again.stderr.contains("warning"), "{}", again.stdout);
    fs::File::create(bench.path("sparse.dat")).unwrap().set_len(8 << 20).unwrap();
    sqlio(&bench, &["-s1", "-frandom", "-b8", "--no-results", "sparse.dat"])
        .ended_with(0)
        .says("sqlio: warning: 8MiB of the data to read has never been written");
}

/// One thread had an I/O on its way in each file at the same time, and twice the I/Os a second of the test that was asked for.
#[test]
fn a_thread_waits_for_each_i_o_before_it_goes_to_the_next_file() {
    let bench = Workbench::new();
    let threads = |outstanding: &[&str], results: &str| {
        let arguments = ["-BY", "-s1", "-frandom", "-b8", "-t1", "--results", results, "a.dat", "b.dat"];
        bench.run(&[&["sqlio"], outstanding, &arguments[..]].concat()).ended_with(0);
        let directory = bench.path(results).join(&bench.names(results)[0]);
        let setup = bench.report_json(&directory)["trials"][0]["setup"].clone();
        assert_eq!(setup["files"], 2, "{setup}");
        setup["threads"].as_u64().unwrap()
    };
    assert_eq!(threads(&[], "in-turn"), 1, "one I/O on its way");
    assert_eq!(threads(&["-o1"], "beside"), 2, "one in each file");
}
