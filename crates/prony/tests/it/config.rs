//! A user's own defaults: below the command line and the environment, told, and recorded.

use std::fs;

use crate::workbench::{Outcome, Workbench};

/// A workbench with a file of defaults where it is looked for.
fn with_defaults(text: &str) -> Workbench {
    let bench = Workbench::new();
    fs::create_dir_all(bench.path("home/prony")).unwrap();
    bench.write("home/prony/config.toml", text);
    bench
}

fn run(bench: &Workbench, variables: &[(&str, &str)], arguments: &[&str]) -> Outcome {
    let home = bench.path("home");
    let variables: Vec<(&str, &str)> =
        [("XDG_CONFIG_HOME", home.to_str().unwrap())].into_iter().chain(variables.iter().copied()).collect();
    bench.run_with(&variables, arguments)
}

#[test]
fn the_file_counts_below_the_environment_and_the_command_line_and_is_told() {
    let bench = with_defaults("[disk]\nblock_size = \"8KiB\"\n[default]\nduration = \"1s\"\n");
    let size = |variables: &[(&str, &str)], options: &[&str]| {
        let outcome =
            run(&bench, variables, &[&["plan", "disk", ".", "--json"], options].concat()).ended_with(0);
        let told = outcome.stderr.clone();
        (outcome.json()["trials"][0]["parameters"]["block_size"].as_str().map(str::to_owned), told)
    };
    let (given, told) = size(&[], &[]);
    assert_eq!(given.as_deref(), Some("8KiB"));
    assert!(told.contains("home/prony/config.toml: ") && told.contains("--block-size=8KiB"), "{told}");
    assert!(told.contains("--duration=1s"), "{told}");
    assert_eq!(size(&[("PRONY_BLOCK_SIZE", "16KiB")], &[]).0.as_deref(), Some("16KiB"));
    let (given, told) = size(&[("PRONY_BLOCK_SIZE", "16KiB")], &["--block-size", "32KiB"]);
    assert_eq!(given.as_deref(), Some("32KiB"));
    assert!(!told.contains("--block-size"), "{told}");
    assert_eq!(size(&[], &["--no-config"]), (None, String::new()));
    bench.write("other.toml", "[disk]\nblock_size = \"64KiB\"\n");
    assert_eq!(size(&[], &["--config", "other.toml"]).0.as_deref(), Some("64KiB"));
    // A value that is also the name of a command ended the search for the file, and the other one was taken.
    let after = ["--name", "sqlio", "--config", "other.toml"];
    assert_eq!(size(&[], &after).0.as_deref(), Some("64KiB"));
    assert_eq!(size(&[("PRONY_CONFIG", "other.toml")], &[]).0.as_deref(), Some("64KiB"));
    run(&bench, &[], &["plan", "disk", ".", "--config", "none.toml"])
        .ended_with(2)
        .says("cannot read none.toml");
}

/// Two runs of one command line must not differ for a reason that only a file at home knows.
#[test]
fn what_came_from_the_file_is_recorded() {
    let bench = with_defaults("[disk]\nengine = \"null\"\nduration = \"50ms\"\nwarm_up = \"0s\"\n");
    run(&bench, &[], &["disk", "x"]).ended_with(0);
    let manifest = fs::read_to_string(bench.results().unwrap().join("manifest.json")).unwrap();
    for option in ["--engine=null", "--duration=50ms", "--warm-up=0s"] {
        assert!(manifest.contains(option), "{manifest}");
    }
}

#[test]
fn mistakes_name_file_line_and_key() {
    let bench = with_defaults("[disk]\nblok_size = \"8KiB\"\nduration = 10\noverwrite = true\n");
    let outcome = run(&bench, &[], &["plan", "disk", "."]).ended_with(2);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    for (number, told) in [
        ("line 2: [disk] blok_size: ", "Did you mean block_size?"),
        ("line 3: [disk] duration: ", "10s, 10m"),
        ("line 4: [disk] overwrite: ", "command line only"),
    ] {
        let is_told =
            |line: &&str| line.starts_with("error: ") && line.contains(number) && line.contains(told);
        assert!(lines.iter().any(is_told), "{number}: {lines:#?}");
    }
    run(&bench, &[], &["plan", "disk", ".", "--no-config"]).ended_with(0);
}

/// One slip in the file kept anybody from reading the help that explains the file, and SQLIO's options, which it has no part in.
#[test]
fn a_file_that_cannot_be_read_stops_only_what_heeds_it() {
    for broken in ["[disk]\nblok_size = \"8KiB\"\n", "[disk\n"] {
        let bench = with_defaults(broken);
        let told = "home/prony/config.toml: line ";
        let help = run(&bench, &[], &["disk", "--help"]).ended_with(0).says("warning: ").says(told);
        assert!(help.stdout.contains("--block-size"), "{}", help.stdout);
        for quiet in [
            &["--version"][..],
            &["man", "disk"],
            &["completions", "bash"],
            &["sqlio", "-?"],
            &["sqlio", "-s1", "nothing.dat"],
        ] {
            let outcome = run(&bench, &[], quiet);
            assert!(!outcome.stderr.contains("config.toml"), "{quiet:?}: {}", outcome.stderr);
            assert!(quiet[0] == "sqlio" || outcome.code == Some(0), "{quiet:?}: {}", outcome.stderr);
        }
        for heeding in [&["plan", "disk", "."][..], &["list"], &["disk"], &["report", "latest"]] {
            let outcome = run(&bench, &[], heeding).ended_with(2).says("error: ").says(told);
            assert!(!outcome.stderr.contains("warning"), "{heeding:?}: {}", outcome.stderr);
        }
        run(&bench, &[], &["list", "--no-config"]);
    }
}
