//! Short studies with the program that the tests have built, in an empty directory, judged by what a user would see: exit
//! code, output, report, and that nothing is left behind. Figures are not judged; a second measures nothing, and so a second
//! build of everything, optimized, would be for nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::ci::{Outcome, test_step};
use crate::workspace::{Workspace, line_of};

mod page;

/// One command line and what it must give.
struct StudyRun {
    /// Words; `{results}` stands for the newest results directory.
    arguments: &'static str,
    gives: &'static [Gives],
    /// Files that the command leaves besides results.
    leaves: &'static [&'static str],
}

/// What a command must give.
#[derive(Clone, Copy)]
enum Gives {
    /// stdout is exactly one JSON document.
    Json,
    /// stdout contains this text.
    Text(&'static str),
    /// The newest results directory has a report, made by this command, that asks nothing from anywhere.
    Report,
}

/// In this order: later commands read what earlier ones left.
const STUDY_RUNS: &[StudyRun] = &[
    StudyRun { arguments: "check --duration 1s --file-size 64MiB", gives: &[Gives::Report], leaves: &[] },
    StudyRun { arguments: "report {results}", gives: &[Gives::Report], leaves: &[] },
    StudyRun {
        arguments: "disk . --profile sqlserver --duration 1s --cooldown 0s --file-size 64MiB --json",
        gives: &[Gives::Json, Gives::Report],
        leaves: &[],
    },
    StudyRun {
        arguments: "historian --target sqlite:historian.db --rate max --warm-up 1s --duration 2s --keep",
        gives: &[Gives::Text("record"), Gives::Report],
        leaves: &["historian.db"],
    },
    StudyRun {
        arguments: "historian --target sqlite:historian.db --reuse --rate max --warm-up 0s --duration 1s --json",
        gives: &[Gives::Json, Gives::Report],
        leaves: &["historian.db"],
    },
    StudyRun {
        arguments: "historian --target sqlite:sweep.db --profile flush-rows --warm-up 0s --duration 1s --screens 0 \
                    --details",
        gives: &[Gives::Text("2013"), Gives::Report],
        leaves: &["historian.db"],
    },
    StudyRun {
        arguments: "orders load --target sqlite:orders.db --size 1MB",
        gives: &[Gives::Text("customers")],
        leaves: &["historian.db", "orders.db"],
    },
    StudyRun {
        arguments: "orders run --target sqlite:orders.db --warmup-time 0s --run-time 2s --prices prices.toml",
        gives: &[Gives::Text("orders/min"), Gives::Text("EUR"), Gives::Report],
        leaves: &["historian.db", "orders.db"],
    },
    StudyRun {
        arguments: "orders run --target sqlite:orders.db --warmup-time 0s --run-time 2s --compat",
        gives: &[Gives::Text("n_purchase_from_start="), Gives::Report],
        leaves: &["historian.db", "orders.db"],
    },
    StudyRun {
        arguments: "study list",
        gives: &[Gives::Text("hds-flush-rows")],
        leaves: &["historian.db", "orders.db"],
    },
    StudyRun {
        arguments: "study plan sqlio-sweep --quick",
        gives: &[Gives::Text("108 trials")],
        leaves: &["historian.db", "orders.db"],
    },
    StudyRun {
        arguments: "study run sqlio-expectation --quick --set workload.disk.file_size=64MiB --set workload.disk.duration=200ms \
                    --set thresholds=[] --details",
        gives: &[Gives::Text("published"), Gives::Report],
        leaves: &["historian.db", "orders.db"],
    },
    StudyRun {
        arguments: "export {results} --csv",
        gives: &[Gives::Text("iops")],
        leaves: &["historian.db", "orders.db"],
    },
    StudyRun {
        arguments: "sqlio -kR -s1 -frandom -b8 -LS -Fparam.txt",
        gives: &[Gives::Text("IOs/sec:"), Gives::Text("Avg_Latency(ms):"), Gives::Text("24+")],
        leaves: &["historian.db", "orders.db", "testfile.dat"],
    },
];

/// Files that lie in the directory before the first command.
const GIVEN_FILES: &[(&str, &str)] = &[("param.txt", "testfile.dat 2 0x0 64\n"), ("prices.toml", PRICES)];

const PRICES: &str =
    "currency = \"EUR\"\ndate = \"2026-11-21\"\n[[items]]\nname = \"server\"\namount = 4800.0\n";

/// Where the program puts results, relative to where it runs.
const RESULTS: &str = "prony-results";

/// The exit code of a run with an invalid trial.
const INVALID: i32 = 5;

/// So often a command is run whose machine stood still.
const TRIES: u32 = 4;

/// A command that takes longer hangs.
const SECONDS_MAX: &str = "180";

/// Runs all of them; each failure is printed, and all of them fail the step.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    // Together with the tests, or else cargo would build what they have in common once more, with fewer features.
    test_step::build(workspace)?;
    let directory = tempfile::Builder::new()
        .prefix("study-")
        .tempdir_in(workspace.target_directory())
        .context("cannot make a temporary directory below the target directory")?;
    for (name, text) in GIVEN_FILES {
        fs::write(directory.path().join(name), text)?;
    }
    let mut failures = 0;
    for study_run in STUDY_RUNS {
        if let Err(error) = study_run.run(workspace, directory.path()) {
            println!("failed: {error:#}");
            failures += 1;
        }
    }
    ensure!(failures == 0, "{failures} of {} study runs", STUDY_RUNS.len());
    Ok(Outcome::Passed)
}

impl StudyRun {
    fn run(&self, workspace: &Workspace, directory: &Path) -> Result<()> {
        let arguments = self.arguments_in(directory)?;
        // `timeout` is part of coreutils. Its exit code 124 says that time was up.
        let mut command = Command::new("timeout");
        command.args(["--kill-after=10", SECONDS_MAX]).arg(workspace.tested_prony()).args(&arguments);
        command.current_dir(directory).stdin(Stdio::null());
        println!("$ prony {}", arguments.join(" "));
        let mut run = || command.output().with_context(|| format!("cannot start `{}`", line_of(&command)));
        let mut output = run()?;
        for _ in 1..TRIES {
            if !stood_still(&output, directory) {
                break;
            }
            println!("  the machine stood still meanwhile: once more");
            output = run()?;
        }
        self.judge(&output, directory).map_err(|error| anyhow!("{error:#}\n{}", shown(&output)))
    }

    /// The arguments with the newest results directory filled in. Its old report is removed, so that one that
    /// is there afterwards is new.
    fn arguments_in(&self, directory: &Path) -> Result<Vec<String>> {
        let words = self.arguments.split_whitespace();
        if !self.arguments.contains("{results}") {
            return Ok(words.map(str::to_owned).collect());
        }
        let results = newest_results(directory)?;
        let _ = fs::remove_file(results.join("report.html"));
        let results = results.strip_prefix(directory)?.to_string_lossy().into_owned();
        Ok(words.map(|word| word.replace("{results}", &results)).collect())
    }

    fn judge(&self, output: &Output, directory: &Path) -> Result<()> {
        match output.status.code() {
            Some(0) => {}
            Some(124 | 137) => bail!("did not end within {SECONDS_MAX} s"),
            _ => bail!("ended with {}", output.status),
        }
        for gives in self.gives {
            gives.check(&output.stdout, directory)?;
        }
        self.check_what_is_left(directory)
    }

    fn check_what_is_left(&self, directory: &Path) -> Result<()> {
        let given = GIVEN_FILES.iter().map(|(name, _)| *name);
        let expected: BTreeSet<&str> = given.chain(self.leaves.iter().copied()).chain([RESULTS]).collect();
        for entry in fs::read_dir(directory)? {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            ensure!(expected.contains(name.as_ref()), "`{name}` was left behind");
        }
        Ok(())
    }
}

impl Gives {
    fn check(self, stdout: &[u8], directory: &Path) -> Result<()> {
        match self {
            Self::Json => {
                serde_json::from_slice::<serde_json::Value>(stdout)
                    .context("stdout is not one JSON document")?;
            }
            Self::Text(text) => {
                ensure!(String::from_utf8_lossy(stdout).contains(text), "stdout lacks `{text}`");
            }
            Self::Report => check_report(&newest_results(directory)?.join("report.html"))?,
        }
        Ok(())
    }
}

/// Whether a run is invalid because the machine gave it no time, as itself or its report says.
fn stood_still(output: &Output, directory: &Path) -> bool {
    if output.status.code() != Some(INVALID) {
        return false;
    }
    let page =
        newest_results(directory).and_then(|results| Ok(fs::read_to_string(results.join("report.html"))?));
    let told = [String::from_utf8_lossy(&output.stdout).into_owned(), page.unwrap_or_default()];
    told.iter().any(|text| text.contains("stood still"))
}

fn check_report(path: &Path) -> Result<()> {
    let page = fs::read_to_string(path).with_context(|| format!("no report {}", path.display()))?;
    ensure!(page.trim_end().ends_with("</html>"), "{} is cut off", path.display());
    let requests = page::requests(&page);
    ensure!(requests.is_empty(), "{} asks for {}", path.display(), requests.join(", "));
    Ok(())
}

/// Names of results directories begin with the time, to the second; the file system's time settles ties.
fn newest_results(directory: &Path) -> Result<PathBuf> {
    let results = directory.join(RESULTS);
    let entries = fs::read_dir(&results).with_context(|| format!("no {RESULTS} directory"))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        found.push((
            fs::metadata(path.join("manifest.json")).and_then(|manifest| manifest.modified()).ok(),
            path,
        ));
    }
    found.sort();
    let newest = found.pop().with_context(|| format!("{RESULTS} is empty"))?;
    Ok(newest.1)
}

/// The end of both outputs, to see what happened without a second run.
fn shown(output: &Output) -> String {
    let end = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n  | ")
    };
    format!("  stdout:\n  | {}\n  stderr:\n  | {}", end(&output.stdout), end(&output.stderr))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    const PAGE: &str = "<!doctype html><html><body>text</body></html>\n";

    /// What is wrong with a run that gave `stdout` and left `files`; empty if nothing is.
    fn verdict(exit_code: i32, gives: &'static [Gives], stdout: &str, files: &[(&str, &str)]) -> String {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let output = Output {
            status: ExitStatus::from_raw(exit_code << 8),
            stdout: stdout.into(),
            stderr: Vec::new(),
        };
        let study_run = StudyRun { arguments: "", gives, leaves: &["kept.dat"] };
        study_run.judge(&output, directory.path()).err().map(|error| format!("{error:#}")).unwrap_or_default()
    }

    #[test]
    fn a_run_that_gives_all_it_must_passes() {
        let files = [
            ("kept.dat", ""),
            ("prony-results/a/manifest.json", "{}"),
            ("prony-results/a/report.html", PAGE),
        ];
        let gives = &[Gives::Json, Gives::Report];
        assert_eq!(verdict(0, gives, "{\"trials\": []}\n", &files), "");
    }

    #[test]
    fn the_exit_code_is_looked_at_first() {
        assert!(verdict(3, &[Gives::Json], "", &[]).contains("exit status: 3"));
        assert!(verdict(124, &[], "", &[]).contains("did not end"));
        assert!(verdict(5, &[], "the load generator itself stood still", &[]).contains("exit status: 5"));
    }

    #[test]
    fn only_a_run_that_is_invalid_because_the_machine_stood_still_is_run_again() {
        let directory = tempfile::tempdir().unwrap();
        let told = |exit_code: i32, stdout: &str| {
            let status = ExitStatus::from_raw(exit_code << 8);
            stood_still(&Output { status, stdout: stdout.into(), stderr: Vec::new() }, directory.path())
        };
        assert!(told(5, "invalid: the load generator itself stood still for 602 ms"));
        assert!(!told(5, "invalid: no operation was answered") && !told(1, "it stood still"));
    }

    #[test]
    fn two_documents_or_a_greeting_are_not_one_json_document() {
        for stdout in ["{} {}", "done\n{}", ""] {
            assert!(verdict(0, &[Gives::Json], stdout, &[]).contains("not one JSON document"), "{stdout}");
        }
    }

    #[test]
    fn a_test_file_that_is_left_is_named() {
        assert_eq!(verdict(0, &[], "", &[(".prony-test-0", "")]), "`.prony-test-0` was left behind");
    }

    #[test]
    fn a_missing_or_cut_or_asking_report_fails() {
        let report = |text| [("prony-results/a/report.html", text)];
        assert!(
            verdict(0, &[Gives::Report], "", &[("prony-results/a/manifest.json", "")]).contains("no report")
        );
        assert!(verdict(0, &[Gives::Report], "", &report("<html><body>")).contains("cut off"));
        let asks = "<html><script src=\"//a.example/b.js\"></script></html>";
        assert!(verdict(0, &[Gives::Report], "", &report(asks)).contains("asks for"));
    }

    #[test]
    fn text_that_old_parsers_look_for_is_looked_for() {
        assert_eq!(verdict(0, &[Gives::Text("IOs/sec:")], "IOs/sec: 13080.21", &[]), "");
        assert!(verdict(0, &[Gives::Text("IOs/sec:")], "IOPS 13080", &[]).contains("lacks"));
    }
}
