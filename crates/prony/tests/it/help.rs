//! Help, plans, manual and completions, as snapshots: whatever changes what a user reads shows in review.

use std::process::{Command, Stdio};

use crate::workbench::{PRONY, Workbench, finish};

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

/// The version identifies the program that measured a figure.
#[test]
fn the_version_has_the_commit_and_the_profile() {
    let version = Workbench::new().run(&["--version"]).ended_with(0).stdout;
    let build = version.trim().strip_prefix(concat!("prony ", env!("CARGO_PKG_VERSION"), " ("));
    let build = build.and_then(|build| build.strip_suffix(')'));
    let (commit, profile) = build.and_then(|build| build.split_once(", profile ")).unwrap_or_default();
    assert!(commit.starts_with("commit ") || commit == "unknown commit", "{version}");
    assert!(!profile.is_empty() && profile != "unknown", "{version}");
    let short = Workbench::new().run(&["-V"]).ended_with(0).stdout;
    assert_eq!(short.trim(), concat!("prony ", env!("CARGO_PKG_VERSION")));
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
        "failover",
        "script",
        "plan-script",
        "tables",
        "plan-tables",
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

/// What bash offers for the last of these words.
fn offered(bench: &Workbench, words: &[&str]) -> Vec<String> {
    let script = bench.run(&["completions", "bash"]).ended_with(0).stdout;
    bench.write("completions", script);
    let directory = std::path::Path::new(PRONY).parent().unwrap().display();
    let last = words.len() - 1;
    let ask = format!(
        "PATH='{directory}':$PATH; . ./completions; COMP_WORDS=({}); COMP_CWORD={last}; \
         _prony prony '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.iter().map(|word| format!("'{word}' ")).collect::<String>(),
        words[last],
        words[last - 1]
    );
    let mut bash = bench.command("bash");
    bash.args(["-c", &ask]);
    let outcome = finish(bash).ended_with(0);
    outcome
        .stdout
        .lines()
        .filter(|line| !line.starts_with('-') && !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Names are those of the moment at which a shell asks, and a script of last year knows them.
#[test]
fn shells_complete_the_names_of_runs() {
    let bench = Workbench::new();
    assert_eq!(offered(&bench, &["prony", "report", ""]), [""; 0], "no run, no name");
    let measure = |name: &str| {
        let short = ["--engine", "null", "--duration", "50ms", "--warm-up", "0s", "--name", name];
        bench.run(&[&["disk", "x"][..], &short].concat()).ended_with(0);
    };
    ["before", "after", "twice", "twice"].into_iter().for_each(measure);
    for words in [
        &["prony", "report", ""][..],
        &["prony", "compare", ""],
        &["prony", "compare", "before", ""],
        &["prony", "compare", "before", "--candidate", ""],
        &["prony", "compare", "before", "--baseline", ""],
        &["prony", "history", ""],
        &["prony", "history", "before", "--baseline", ""],
        &["prony", "export", ""],
        &["prony", "study", "resume", ""],
    ] {
        // They are in the order in which they were begun, and those of one second in that of their names.
        let mut names = offered(&bench, words);
        names.sort();
        assert_eq!(names, ["after", "before", "latest"], "{words:?}");
    }
    assert_eq!(offered(&bench, &["prony", "report", "be"]), ["before"]);
    assert_eq!(offered(&bench, &["prony", "disk", ""]), [""; 0], "it takes none");
    for shell in ["zsh", "fish"] {
        let script = printed(&["completions", shell]);
        assert!(
            script.contains("prony list --names 2>/dev/null") && !script.contains("PRONY-RUNS"),
            "{script}"
        );
    }
    assert!(printed(&["completions", "zsh"]).matches(":_prony_runs").count() >= 8);
    assert!(printed(&["completions", "fish"]).matches("prony list --names").count() >= 8);
    for shell in ["elvish", "powershell"] {
        assert!(!printed(&["completions", shell]).contains("PRONY-RUNS"));
    }
}

/// A shell expands the words that it is offered: a results directory of others named a run after a command.
#[test]
fn what_is_no_name_is_offered_to_no_shell() {
    let bench = Workbench::new();
    bench
        .run(&["disk", "x", "--engine", "null", "--duration", "50ms", "--warm-up", "0s", "--name", "mine"])
        .ended_with(0);
    let manifest = bench.results().unwrap().join("manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace("\"mine\"", "\"$(touch taken)\"")).unwrap();
    assert_eq!(bench.run(&["list", "--names"]).ended_with(0).stdout, "latest\n");
    assert_eq!(offered(&bench, &["prony", "report", ""]), ["latest"]);
    assert!(!bench.path("taken").exists());
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

#[test]
fn help_of_inspect() {
    let text = printed(&["inspect", "--help"]);
    insta::assert_snapshot!(text);
}
