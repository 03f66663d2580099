//! `kill -9` of prony at any moment of a longer command.
//!
//! Afterwards the user's files are what they were, the results directory opens if there is one, and the next command (a run
//! of the same, or `study resume`) ends as a good one does.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::lab::{Lab, results_in};
use super::process::{Ended, Started, run};
use super::tally::{Findings, Tally};
use super::things::Things;

const LIMIT: Duration = Duration::from_secs(120);
/// Moments that are drawn for one that meets a running command.
const DRAWN_MAX: u32 = 30;

const STUDY: &str = "blocks = 2\n\
    workload.historian = { rate = 200, warm_up = \"0s\", duration = \"300ms\", screens = 0 }\n\
    target.url = \"sqlite:study.db\"\n\
    axis = [{ key = \"workload.historian.flush_rows\", levels = [10, 40] }]\n";
/// Of the file above: two levels in two blocks.
const STUDY_TRIALS: usize = 4;

/// The study once more, over what a killed run had made for itself.
const AGAIN: &str = "study run study.toml --set target.existing=leftover";

/// What is killed, and what follows.
struct Command {
    words: &'static str,
    /// Kills come from its start to this age.
    until: Duration,
    after: fn(&Lab, &Path, &mut Findings) -> Result<()>,
}

pub(super) fn disk(lab: &Lab) -> Result<Tally> {
    let words = "disk . --file-size 16MiB --warm-up 0s --duration 1s --read-share 50 --cache buffered";
    // A test file has no name, so that there is nothing to take up.
    cases(
        lab,
        &Command { words, until: Duration::from_millis(1500), after: nothing_else_is_left },
        |_| Ok(()),
    )
}

pub(super) fn check(lab: &Lab) -> Result<Tally> {
    let words = "check . --file-size 16MiB --duration 200ms";
    cases(lab, &Command { words, until: Duration::from_secs(8), after: |_, _, _| Ok(()) }, |_| Ok(()))
}

pub(super) fn historian(lab: &Lab) -> Result<Tally> {
    let words = "historian --target sqlite:h.db --rate 500 --warm-up 0s --duration 1s --screens 0 --replace";
    let after = |lab: &Lab, directory: &Path, found: &mut Findings| {
        let words =
            "historian --target sqlite:h.db --rate 100 --warm-up 0s --duration 300ms --screens 0 --replace";
        found.extend(run(lab.prony(words, directory), LIMIT)?.unlike(4));
        nothing_else_is_left(lab, directory, found)
    };
    cases(lab, &Command { words, until: Duration::from_millis(1500), after }, |_| Ok(()))
}

pub(super) fn orders(lab: &Lab) -> Result<Tally> {
    const RUN: &str = "orders run --target sqlite:o.db --n-threads 2 --warmup-time 200ms --run-time 1s";
    let after = |lab: &Lab, directory: &Path, found: &mut Findings| {
        found.extend(run(lab.prony(RUN, directory), LIMIT)?.unlike(0));
        Ok(())
    };
    cases(lab, &Command { words: RUN, until: Duration::from_millis(1500), after }, |directory| {
        let loaded = run(lab.prony("orders load --size 1MB --target sqlite:o.db", directory), LIMIT)?;
        ensure!(loaded.code() == Some(0), "{}", loaded.shown());
        Ok(())
    })
}

pub(super) fn study(lab: &Lab) -> Result<Tally> {
    let after = |lab: &Lab, directory: &Path, found: &mut Findings| {
        match results_in(directory).last() {
            Some(results) => found.extend(resumed(lab, directory, results)?),
            // There is nothing to resume, and the study can be run again.
            None => found.extend(run(lab.prony(AGAIN, directory), LIMIT)?.unlike(0)),
        }
        nothing_else_is_left(lab, directory, found)
    };
    let command = Command { words: "study run study.toml", until: Duration::from_secs(4), after };
    cases(lab, &command, |directory| Ok(fs::write(directory.join("study.toml"), STUDY)?))
}

fn cases(lab: &Lab, command: &Command, prepare: impl Fn(&Path) -> Result<()>) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut number = 0;
    while tally.tried() < lab.cases() {
        ensure!(number < lab.cases().saturating_mul(DRAWN_MAX), "`{}` ends too soon", command.words);
        let moment = lab.random(number).moment(command.until);
        number += 1;
        let directory = lab.fresh("work")?;
        let users = directory.join("users");
        fs::create_dir(&users)?;
        plant(&directory, &users)?;
        prepare(&directory)?;
        let before = Things::below(&users)?;
        let mut started = Started::new(lab.prony(command.words, &directory))?;
        if !started.runs_until(moment)? {
            continue;
        }
        started.kill()?;
        let mut found = before.harmed(&Things::below(&users)?);
        for results in results_in(&directory) {
            found.extend(unopened(lab, &directory, &results)?);
        }
        (command.after)(lab, &directory, &mut found)?;
        found.extend(before.harmed(&Things::below(&users)?));
        tally.count(&format!("case {number}: `{}` killed after {moment:?}", command.words), found);
    }
    Ok(tally)
}

/// Files with names that prony might take for its own, linked into the directory that it works in.
fn plant(directory: &Path, users: &Path) -> Result<()> {
    for name in ["prony-0001.tmp", "prony.tmp", "data.db", ".report.html.new"] {
        fs::write(users.join(name), format!("a year of data, in {name}"))?;
        std::os::unix::fs::symlink(users.join(name), directory.join(name))?;
    }
    Ok(())
}

/// What is wrong if a results directory does not open.
fn unopened(lab: &Lab, directory: &Path, results: &Path) -> Result<Findings> {
    let mut report = lab.prony("report", directory);
    report.arg(results);
    let ended = run(report, LIMIT)?;
    let mut found = ended.faults();
    // Killed before its first trial, a study has no results, and is to say so.
    let is_told = ended.stderr.contains("ended before it began") && names(&results.join("trials")).is_empty();
    if found.is_empty() && !is_told && !matches!(ended.code(), Some(0 | 3 | 4 | 5)) {
        found.add(format!("the results do not open: {}; they hold {:?}", ended.shown(), names(results)));
    }
    Ok(found)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Goes on with a study. One that was killed when its last trial was done says so, and leaves its database to the next run.
fn resumed(lab: &Lab, directory: &Path, results: &Path) -> Result<Findings> {
    let mut resume = lab.prony("study resume", directory);
    resume.arg(results);
    let ended = run(resume, LIMIT)?;
    let has_come_to_its_end = ended.code() == Some(2) && ended.stderr.contains("the study is complete");
    let mut found = incomplete(lab, directory, results)?;
    if has_come_to_its_end {
        found.extend(run(lab.prony(AGAIN, directory), LIMIT)?.unlike(0));
    } else {
        found.extend(ended.unlike(0));
    }
    Ok(found)
}

/// What is wrong if not all trials of a study are complete.
fn incomplete(lab: &Lab, directory: &Path, results: &Path) -> Result<Findings> {
    let mut report = lab.prony("report --json", directory);
    report.arg(results);
    let states = states(&run(report, LIMIT)?)?;
    let mut found = Findings::default();
    let is_whole = states.len() == STUDY_TRIALS && states.iter().all(|state| state == "complete");
    found.check(is_whole, || format!("the trials after `study resume`: {states:?}"));
    Ok(found)
}

fn states(ended: &Ended) -> Result<Vec<String>> {
    let report: Value = serde_json::from_str(&ended.stdout).with_context(|| ended.shown())?;
    let trials = report["trials"].as_array().cloned().unwrap_or_default();
    Ok(trials.iter().map(|trial| trial["state"].as_str().unwrap_or("unknown").to_owned()).collect())
}

/// Databases and test files are gone, whoever removed them.
fn nothing_else_is_left(_: &Lab, directory: &Path, found: &mut Findings) -> Result<()> {
    const THERE: [&str; 7] = [
        "users",
        "prony-results",
        "study.toml",
        "prony-0001.tmp",
        "prony.tmp",
        "data.db",
        ".report.html.new",
    ];
    let left: Vec<String> =
        names(directory).into_iter().filter(|name| !THERE.contains(&name.as_str())).collect();
    found.check(left.is_empty(), || format!("left over: {left:?}"));
    Ok(())
}
