//! Help, plans, manual and completions, as snapshots: whatever changes what a user reads shows in review.

use std::process::{Command, Stdio};

use crate::workbench::Workbench;

/// What is printed, with the version made anonymous.
fn printed(arguments: &[&str]) -> String {
    let text = Workbench::new().run(arguments).ended_with(0).stdout;
    text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn help_of_the_program() {
    let text = printed(&["--help"]);
    insta::assert_snapshot!(text);
}

#[test]
fn help_of_disk() {
    let text = printed(&["disk", "--help"]);
    insta::assert_snapshot!(text);
}

#[test]
fn help_of_historian() {
    let text = printed(&["historian", "--help"]);
    insta::assert_snapshot!(text);
}

#[test]
fn help_of_orders() {
    let of = |command: &str| printed(&["orders", command, "--help"]);
    let texts = [printed(&["orders", "--help"]), of("generate"), of("load"), of("verify")];
    let text = texts.join("\n----\n\n");
    insta::assert_snapshot!(text);
}

#[test]
fn help_of_plc() {
    let text = printed(&["plc", "--help"]);
    insta::assert_snapshot!(text);
}

#[test]
fn help_of_check() {
    let text = printed(&["check", "--help"]);
    insta::assert_snapshot!(text);
}

#[test]
fn help_of_export() {
    let text = printed(&["export", "--help"]);
    insta::assert_snapshot!(text);
}

#[test]
fn help_of_sqlio() {
    let help = printed(&["sqlio", "-?"]);
    assert_eq!(help, printed(&["sqlio", "--help"]));
    insta::assert_snapshot!(help);
}

#[test]
fn plan_of_disk() {
    let small = ["--file-size", "16MiB"];
    let plan = |options: &[&str]| printed(&[&["plan", "disk", "."], options, &small].concat());
    let several = ["--read-share", "70", "--rate", "500", "--repeats", "2", "--files", "2"];
    let plans = [plan(&[]), plan(&several), plan(&["--profile", "sqlserver"])].join("\n----\n\n");
    insta::assert_snapshot!(plans);
}

#[test]
fn plan_of_historian() {
    let plan = |options: &[&str]| {
        printed(&[&["plan", "historian", "--target", "sqlite:history.db"], options].concat())
    };
    let plans = [
        plan(&[]),
        plan(&["--find-max", "--quick"]),
        plan(&["--profile", "flush-rows"]),
        plan(&["--profile", "real-project"]),
    ];
    insta::assert_snapshot!(plans.join("\n----\n\n"));
}

#[test]
fn plan_of_check() {
    let text = printed(&["plan", "check", ".", "--file-size", "16MiB"]);
    insta::assert_snapshot!(text);
}

#[test]
fn manual_begins_with_name_and_synopsis() {
    let first = |arguments: &[&str]| printed(arguments).lines().take(10).collect::<Vec<_>>().join("\n");
    let beginnings = [first(&["man"]), first(&["man", "disk"])].join("\n----\n");
    insta::assert_snapshot!(beginnings);
}

#[test]
fn every_command_has_a_manual_page_and_help() {
    for command in [
        "check",
        "disk",
        "historian",
        "orders",
        "orders-generate",
        "orders-load",
        "orders-verify",
        "plc",
        "sqlio",
        "plan",
        "plan-check",
        "plan-disk",
        "plan-historian",
        "orders run",
        "study run",
        "study resume",
        "plan orders load",
        "list",
        "report",
        "export",
        "completions",
        "man",
    ] {
        let words: Vec<&str> = std::iter::once("man").chain(command.split(' ')).collect();
        let page = printed(&words);
        let help = printed(&command.split(['-', ' ']).chain(["--help"]).collect::<Vec<_>>());
        assert!(help.contains("Examples:") || command == "sqlio", "{command}: {help}");
        let name = command.replace(['-', ' '], "\\-");
        assert!(page.contains(&format!(".SH NAME\nprony\\-{name}")), "{page}");
        assert!(page.contains("\n.SH EXAMPLES\n") && page.matches("EXAMPLES").count() == 1, "{page}");
    }
}

/// A page was pointed to that could not be printed.
#[test]
fn pages_that_a_page_names_can_be_printed() {
    let mut pages = vec![Vec::<String>::new()];
    let mut seen = 0;
    while let Some(words) = pages.pop() {
        let arguments: Vec<&str> = std::iter::once("man").chain(words.iter().map(String::as_str)).collect();
        let page = printed(&arguments).replace("\\-", "-");
        let named = page.lines().filter_map(|line| line.strip_suffix("(1)")?.strip_prefix("prony-"));
        let new = named
            .filter(|name| !name.contains("help"))
            .map(|name| name.split('-').map(str::to_owned).collect());
        pages.extend(new);
        seen += 1;
    }
    assert!(seen > 25, "{seen}");
}

#[test]
fn completions_know_the_names_of_studies_and_pages() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        for name in ["hds-flush-rows", "sqlio-sweep", "real-project", "orders-run"] {
            assert!(script.contains(name), "{name} is not in the completions for {shell}");
        }
    }
}

#[test]
fn a_load_is_planned_and_the_word_run_may_be_left_out() {
    let plan =
        printed(&["plan", "orders", "load", "--target", "sqlite:o.db", "--size", "1MB", "--threads", "2"]);
    insta::assert_snapshot!(plan);
    let run = |words: &[&str]| printed(&[words, &["--target", "sqlite:o.db"]].concat());
    assert_eq!(run(&["plan", "orders"]), run(&["plan", "orders", "run"]));
}

#[test]
fn completions_are_scripts_that_name_the_options() {
    for (shell, check) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")] {
        let bench = Workbench::new();
        let script = bench.run(&["completions", shell]).ended_with(0).stdout;
        for word in ["prony", "sqlio", "block-size", "latency-tolerance"] {
            assert!(script.contains(word), "{word} is not in the completions for {shell}");
        }
        let path = bench.write("completions", script);
        // -n reads and does not run, in all three.
        let status = Command::new(check).arg("-n").arg(path).stdin(Stdio::null()).status();
        match status {
            Ok(status) => assert!(status.success(), "{shell} does not read its completions"),
            Err(_) => eprintln!("not tried: completions in {shell}, which is not installed"),
        }
    }
}
