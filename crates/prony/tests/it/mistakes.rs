//! What is refused: one clear message each, with the value and the remedy, and nothing left behind.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::workbench::Workbench;

/// Runs command lines in a directory with a few files, and makes a table of their exit codes and messages. Nothing
/// may be printed to stdout, made or changed.
#[track_caller]
fn refusals(command_lines: &[&[&str]]) -> String {
    let bench = Workbench::new();
    let content = bench.foreign("data", 1);
    bench.write("small", "precious");
    bench.write("param.txt", "a.dat two 0x0 8\n\nb.dat\n");
    let mut text = String::new();
    for arguments in command_lines {
        let outcome = bench.run(arguments);
        let shown: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
        let code = outcome.code.map_or_else(|| "by a signal".to_owned(), |code| code.to_string());
        text += &format!("$ prony {}\nexit {code}\n", shown.join(" "));
        for line in outcome.stderr.lines() {
            text += format!("    {}", without_free_space(line)).trim_end();
            text += "\n";
        }
        text += "\n";
        assert_eq!(outcome.stdout, "", "{arguments:?} printed to stdout");
    }
    assert_eq!(bench.names("."), ["data", "param.txt", "small"], "something was left behind");
    assert_eq!(std::fs::read(bench.path("data")).unwrap(), content);
    assert_eq!(std::fs::read(bench.path("small")).unwrap(), b"precious");
    text
}

fn quoted(argument: &str) -> String {
    let plain = !argument.is_empty() && !argument.contains(' ');
    if plain { argument.to_owned() } else { format!("'{argument}'") }
}

/// Free space is the machine's own.
fn without_free_space(line: &str) -> String {
    let Some((head, rest)) = line.split_once(" needed, but ") else { return line.to_owned() };
    let (_, tail) = rest.split_once(" (the larger").expect("why space stays free");
    format!("{head} needed, but <free> free, and <kept> must stay free (the larger{tail}")
}

#[test]
fn mistakes_in_values_are_refused() {
    let table = refusals(&[
        &["disk", ".", "--blocksize", "4k"],
        &["disk", ".", "--profile", "fast"],
        &["disk", ".", "--block-size", "1000"],
        &["disk", ".", "--block-size", "4Q"],
        &["disk", ".", "--block-size", "0"],
        &["disk", ".", "--pattern", "spiral"],
        &["disk", ".", "--duration", "soon"],
        &["disk", ".", "--affinity", "3-1"],
        &["disk", ".", "--expect", "a hundred disks"],
        &["disk", ".", "--read-share=101", "--threads=0", "--block-size=1000", "--rate=0", "--duration=0s"],
        &["disk"],
        &["disk", ""],
        &["fsck", "."],
    ]);
    insta::assert_snapshot!(table);
}

/// `--read-share 0.7` read 0.7 %, `--rate 3.700` asked for 3.7 a second, and `--duration 10` was refused without its unit.
#[test]
fn numbers_that_can_be_meant_in_two_ways_are_asked_back() {
    let table = refusals(&[
        &["disk", ".", "--read-share", "0.7"],
        &["disk", ".", "--rate", "3.700"],
        &["disk", ".", "--rate", "abc"],
        &["disk", ".", "--duration", "10"],
        &["historian", "--target", "sqlite:h.db", "--rate", "3.700"],
        &["orders", "run", "--target", "sqlite:o.db", "--pct-newcustomers", "0.2"],
        &["study", "plan", "steady", "--set", "workload.disk.compressible=0.7"],
        &["study", "plan", "sweep", "--set", "workload.disk.duration=10"],
    ]);
    insta::assert_snapshot!(table);
}

/// A mistyped PRONY_BLOCKSIZE was ignored without a word.
#[test]
fn a_variable_that_nothing_heeds_is_told_and_keeps_nobody() {
    let bench = Workbench::new();
    let outcome = bench.run_with(&[("PRONY_BLOCKSIZE", "4KiB")], &["study", "list"]).ended_with(0);
    assert_eq!(
        outcome.stderr,
        "PRONY_BLOCKSIZE has no effect: no option has this name. Did you mean PRONY_BLOCK_SIZE?\n"
    );
}

/// One PRONY_RATE meant a rate a second for two commands and one a minute for the third, without a word.
#[test]
fn a_rate_without_a_unit_is_refused_where_it_is_set_for_all_commands() {
    let bench = Workbench::new();
    for command in [
        &["plan", "disk", "."][..],
        &["plan", "historian", "--target", "sqlite:h.db"],
        &["plan", "orders", "--target", "sqlite:o.db"],
    ] {
        bench
            .run_with(&[("PRONY_RATE", "500")], command)
            .ended_with(2)
            .says("PRONY_RATE=500/s or PRONY_RATE=500/min");
        let outcome = bench.run_with(&[("PRONY_RATE", "30000/min")], command).ended_with(0);
        let given = outcome.stdout.contains("500/s") || outcome.stdout.contains("30000 orders/min");
        assert!(given, "{command:?}: {}", outcome.stdout);
    }
    bench.run_with(&[("PRONY_RATE", "500")], &["study", "list"]).ended_with(0);
    bench.run_with(&[("PRONY_RATE", "500")], &["plan", "disk", ".", "--rate", "5"]).ended_with(0);
}

/// What DVD Store's users type, and what those of every other command do.
#[test]
fn one_thing_has_one_name_on_every_command_and_its_own_beside() {
    let bench = Workbench::new();
    let plan = |options: &[&str]| {
        bench
            .run(&[&["plan", "orders", "--target", "sqlite:o.db", "--json"], options].concat())
            .ended_with(0)
            .json()
    };
    let ours = plan(&["--clients", "8", "--warm-up", "10s", "--duration", "20s"]);
    let of_dvd_store = plan(&["--n-threads", "8", "--warmup-time", "10s", "--run-time", "20s"]);
    assert_eq!(ours["trials"], of_dvd_store["trials"]);
    assert_eq!(ours["trials"][0]["parameters"]["run_time"], "20s");
}

#[test]
fn contradictions_are_refused() {
    let table = refusals(&[
        &["disk", ".", "--engine", "psync", "--outstanding", "8"],
        &["disk", ".", "--engine", "psync", "--poll"],
        &["disk", ".", "--rate", "100", "--think-time", "1ms"],
        &["disk", ".", "--arrivals", "poisson"],
        &["disk", ".", "--write-through"],
        &["disk", ".", "--no-fill", "--fill-passes", "2"],
        &["disk", ".", "--cache", "buffered", "--poll"],
        &["disk", ".", "--profile", "quick", "--block-size", "16KiB"],
        &["disk", ".", "--profile", "cdm3", "--outstanding", "4"],
        &["disk", ".", "--json", "--csv"],
        &["verify", "journal", "--serve-journal", "127.0.0.1:0", "--duration", "1h"],
        &["verify", ".", "--after-crash", "--journal", "journal", "--file-size", "1GiB", "--threads", "2"],
        &["plan", "verify", "journal", "--serve-journal", "127.0.0.1:0"],
    ]);
    insta::assert_snapshot!(table);
}

#[test]
fn mistakes_in_orders_are_refused() {
    let table = refusals(&[
        &["orders"],
        &["orders", "generate"],
        &["orders", "generate", "--csv", ".", "--size", "10"],
        &["orders", "generate", "--csv", ".", "--size", "1.3GB"],
        &["orders", "generate", "--csv", ".", "--size", "2000GB"],
        &["orders", "generate", "--csv", ".", "--threads", "0"],
        &["orders", "generate", "--csv", ".", "--seed", "today"],
        &["orders", "generate", "--csv", "small", "--size", "1MB"],
        &["orders", "generate", "--csv", "no/parent", "--size", "1MB"],
    ]);
    insta::assert_snapshot!(table);
}

#[test]
fn options_that_a_profile_fixes_are_told_once_each() {
    let bench = Workbench::new();
    let arguments = ["disk", ".", "--profile", "cdm3", "--outstanding", "4", "--read-share", "50"];
    let outcome = bench.run(&arguments).ended_with(2);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines[0].contains("--outstanding: ") && lines[1].contains("--read-share: "), "{lines:#?}");
}

/// A remedy must be one that the command has.
#[test]
fn remedies_name_options_that_the_command_has() {
    let bench = Workbench::new();
    bench.foreign("data", 1);
    for (arguments, foreign) in
        [(&["check", "missing"][..], "--create"), (&["sqlio", "-kW", "data"], "--create")]
    {
        let outcome = bench.run(arguments).ended_with(2);
        assert!(!outcome.stderr.contains(foreign), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn targets_that_cannot_be_are_refused() {
    let table = refusals(&[
        &["disk", "missing"],
        &["plan", "disk", "missing"],
        &["disk", "missing/new", "--create"],
        &["disk", "/dev/null"],
        &["disk", "/dev/null", "--read-share", "0", "--overwrite"],
        &["disk", "data", "--read-share", "0"],
        &["disk", "small", "--read-share", "50"],
        &["disk", ".", "--file-size", "900TiB"],
        &["disk", ".", "--files", "4096", "--file-size", "1TiB"],
    ]);
    insta::assert_snapshot!(table);
}

#[test]
fn results_that_cannot_be_read_or_made_are_refused() {
    let table = refusals(&[
        &["report", "missing"],
        &["report", "small"],
        &["report", "."],
        &["export", ".", "--csv"],
        &["export", "."],
        &["export", "--csv"],
        &["export", ".", "--csv", "--parquet"],
        &["export", ".", "--csv", "--output", "small"],
        &["man", "fsck"],
        &["completions", "csh"],
    ]);
    insta::assert_snapshot!(table);
}

#[test]
fn mistakes_in_sqlio_are_refused() {
    let table = refusals(&[
        &["sqlio", "-q"],
        &["sqlio", "-kX", "-t0", "-b", "-z", "a.dat"],
        &["sqlio", "-dCD", "-R0,1", "-m4", "a.dat"],
        &["sqlio", "-Fmissing.txt"],
        &["sqlio", "-Fparam.txt"],
    ]);
    insta::assert_snapshot!(table);
}

#[test]
fn a_results_directory_that_cannot_be_made_is_refused_before_the_load() {
    let bench = Workbench::new();
    bench.write("taken", "");
    for engine in ["null", "auto"] {
        let arguments = ["disk", ".", "--file-size", "1MiB", "--results", "taken", "--engine", engine];
        bench.run(&arguments).ended_with(1).says("choose another with --results");
    }
    assert_eq!(bench.names("."), ["taken"]);
}

/// It was said that something had removed what never was there.
#[test]
fn results_in_a_directory_of_the_kernels_are_refused_with_what_it_is() {
    let bench = Workbench::new();
    bench.write(
        "s.toml",
        "[workload.disk]\nengine = \"null\"\nduration = \"100ms\"\n[target]\npaths = [\"x\"]\n",
    );
    let refused = bench.run(&["study", "run", "s.toml", "--results", "/proc"]).ended_with(1);
    let refused =
        refused.says("the directory may belong to the kernel, such as /proc: store the results elsewhere");
    assert!(!refused.stderr.contains("something removed it"), "{}", refused.stderr);
}

/// The keys that were proposed are read for one version more, and the one that was meant was not among them.
#[test]
fn a_server_to_be_started_that_stands_in_the_target_is_shown_its_table() {
    let bench = Workbench::new();
    bench.write("s.toml", "[target]\nmanaged = \"postgres\"\n[workload.historian]\nrate = 9\n");
    bench
        .run(&["study", "plan", "s.toml"])
        .ended_with(2)
        .says("[target.server.pg] with engine = \"postgres\"");
    bench.write("s.toml", "[target]\nfoo = 1\n[workload.historian]\nrate = 9\n");
    let refused = bench.run(&["study", "plan", "s.toml"]).ended_with(2);
    refused.says("target.foo: unknown key. Keys here: paths, database, server, cluster\n");
}

#[test]
fn a_value_in_the_environment_is_checked_as_one_on_the_command_line() {
    let bench = Workbench::new();
    let arguments = ["disk", "x", "--engine", "null"];
    let outcome = bench.run_with(&[("PRONY_BLOCK_SIZE", "lots")], &arguments).ended_with(2);
    assert!(outcome.stderr.contains("invalid value 'lots' for '--block-size <SIZE>'"), "{}", outcome.stderr);
}

/// A region is part of the file, so that one beyond it can be refused before a file is written.
#[test]
fn a_region_beyond_the_file_is_refused_before_anything_is_written() {
    let bench = Workbench::new();
    bench.write("small", "precious");
    for arguments in [
        &["disk", ".", "--file-size", "1MiB", "--region", "2MiB"][..],
        &["disk", ".", "--file-size", "1MiB", "--offset", "1MiB"],
        &["disk", "small"],
    ] {
        bench.run(arguments).ended_with(2).says("does not fit into");
    }
    assert_eq!(bench.names("."), ["small"]);
}

/// The product of number and size once passed 2^64 and was taken for less.
#[test]
fn files_larger_than_any_disk_are_refused() {
    let bench = Workbench::new();
    for size in ["4096TiB", "8000000TiB", "16777215TiB"] {
        bench
            .run(&["plan", "disk", ".", "--files", "4096", "--file-size", size])
            .ended_with(2)
            .says("not enough space");
        bench.run(&["plan", "disk", ".", "--file-size", size]).ended_with(2).says("not enough space");
    }
}

/// Options that take values, and values that have broken programs before, or any text.
fn options_and_values() -> impl Strategy<Value = Vec<String>> {
    const OPTIONS: &str = "block-size read-share pattern offset region outstanding threads warm-up duration rate \
                           think-time files fill-passes flush-every compressible affinity repeats pause \
                           latency-tolerance expect seed";
    const VALUES: &str = "0 1 -1 nan inf 1e300 18446744073709551615 16777215TiB 1000000h";
    let words = |text: &'static str| prop::sample::select(text.split_whitespace().collect::<Vec<_>>());
    let value = prop_oneof![
        words(VALUES).prop_map(str::to_owned),
        "[0-9]{0,9}(B|KiB|GiB|ms|s|h|:[0-9]{1,20})?",
        "\\PC{0,8}",
    ];
    let pair = (words(OPTIONS), value).prop_map(|(option, value)| format!("--{option}={value}"));
    prop::collection::vec(pair, 1..4)
}

/// Whatever is given is an answer or a mistake that is named. A plan touches nothing.
#[test]
fn no_value_ends_in_a_panic() {
    let config =
        Config { cases: 256, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() };
    let bench = Workbench::new();
    let checked = TestRunner::new(config).run(&options_and_values(), |given| {
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let outcome = bench.run(&[&["plan", "disk", ".", "--file-size", "1MiB"], &given[..]].concat());
        prop_assert!(matches!(outcome.code, Some(0 | 2)), "{:?}\n{}", outcome.code, outcome.stderr);
        prop_assert_eq!(outcome.code == Some(0), outcome.stderr.is_empty(), "{}", outcome.stderr);
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn mistakes_in_inspections_are_refused() {
    let table = refusals(&[
        &["inspect", "nowhere"],
        &["inspect", "--root", "."],
        &[
            "inspect",
            "--root",
            "nowhere",
            "gone",
            "--target",
            "oracle://h/x",
            "--target",
            "postgres://u@h:port/x",
        ],
        &["inspect", "--target", "mysql://u:secret@127.0.0.1:1/x"],
        &["inspect", "--fail-on", "everything"],
        &["inspect", "--tagret", "x"],
    ]);
    insta::assert_snapshot!(table);
}
