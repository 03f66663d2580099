//! Commands on results directories that were tampered with: no signal, no panic, no hang, a documented exit code, and nothing
//! written outside the directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::lab::{Lab, results_in};
use super::mutate::{copy_below, mutate};
use super::process::{self, Started};
use super::random::Random;
use super::tally::{Findings, Tally};
use super::things::Things;

/// No command on a small directory takes longer.
const LIMIT: Duration = Duration::from_secs(20);
/// Most mutations of one directory.
const MUTATIONS_MAX: u64 = 3;

/// Runs whose results are tampered with; the last one is a study that is cut off, so that there is something to resume.
const RUNS: [&str; 4] = [
    "disk . --file-size 4MiB --warm-up 0s --duration 300ms --repeats 2 --cache buffered --read-share 50",
    "historian --target sqlite:h.db --rate 500 --warm-up 0s --duration 1s --screens 0",
    "orders run --target sqlite:o.db --warmup-time 0s --run-time 1s",
    "study run study.toml",
];
const LOAD: &str = "orders load --size 1MB --target sqlite:o.db";
const STUDY: &str = "blocks = 2\n\
    workload.disk = { engine = \"simulated\", warm_up = \"0s\", duration = \"1s\" }\n\
    target.paths = [\".\"]\n\
    axis = [{ key = \"workload.disk.outstanding\", levels = [1, 4] }]\n";
/// Trials of the study that are taken away, so that `study resume` has to do something.
const TRIALS_TAKEN: [&str; 2] = ["trials/0005", "trials/0006"];

const COMMANDS: [&str; 6] =
    ["report", "report --json", "report --csv", "export --csv", "compare", "study resume"];

pub(super) fn run(lab: &Lab) -> Result<Tally> {
    let originals = originals(lab)?;
    let mut tally = Tally::default();
    for number in 0..lab.cases() {
        let mut random = lab.random(number);
        let (case, found) = case(lab, &originals, &mut random)?;
        tally.count(&format!("case {}: {case}", number + 1), found);
    }
    Ok(tally)
}

/// A results directory of each of the runs.
fn originals(lab: &Lab) -> Result<Vec<PathBuf>> {
    let directory = lab.fresh("originals")?;
    fs::write(directory.join("study.toml"), STUDY)?;
    let run = |words: &str| {
        let ended = process::run(lab.prony(words, &directory), Duration::from_secs(60))?;
        ensure!(matches!(ended.code(), Some(0 | 3 | 4 | 5)), "{}", ended.shown());
        Ok(())
    };
    run(LOAD)?;
    RUNS.iter().try_for_each(|words| run(words))?;
    let found = results_in(&directory);
    ensure!(found.len() == RUNS.len(), "{} runs made {found:?}", RUNS.len());
    for results in &found {
        cut_off(results)?;
    }
    Ok(found)
}

/// Makes a study look as if it had been killed.
fn cut_off(results: &Path) -> Result<()> {
    for trial in TRIALS_TAKEN.map(|trial| results.join(trial)) {
        if trial.exists() {
            fs::remove_dir_all(&trial)?;
            let manifest = results.join("manifest.json");
            let text = fs::read_to_string(&manifest)?;
            fs::write(&manifest, text.replace("\"complete\"", "\"running\""))?;
        }
    }
    Ok(())
}

fn case(lab: &Lab, originals: &[PathBuf], random: &mut Random) -> Result<(String, Findings)> {
    let place = lab.fresh("work")?;
    let (results, victim) = (place.join("results"), place.join("victim"));
    fs::write(&victim, "a year of data")?;
    let original = random.pick(originals);
    copy_below(original, &results)?;
    let mut told = Vec::new();
    for _ in 0..=random.below(MUTATIONS_MAX) {
        told.push(mutate(&results, &victim, random)?);
    }
    let before = Things::below(&place)?.but(&results);
    let words = *random.pick(&COMMANDS);
    let mut command = lab.prony(words, &place);
    command.arg("results");
    if words == "compare" {
        command.arg(random.pick(originals));
    }
    let started = Started::new(command)?;
    let mut found = if words == "study resume" { resumed(started)? } else { judged(started)? };
    let now = Things::below(&place)?.but(&results);
    found.extend(before.harmed(&now));
    let added = before.added(&now);
    // A study that goes on works where it is told to.
    found.check(added.is_empty() || words == "study resume", || format!("made outside: {added:?}"));
    if !found.is_empty() {
        found.add(format!("the directory is kept as {}", keep(&results)?.display()));
    }
    let kind = original.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok((format!("`{words}` of {kind}: {}", told.join(", ")), found))
}

fn judged(started: Started) -> Result<Findings> {
    Ok(started.ended_within(LIMIT)?.faults())
}

/// A study may have hours to go: then it must heed a signal.
fn resumed(mut started: Started) -> Result<Findings> {
    if !started.runs_until(LIMIT)? {
        return judged(started);
    }
    started.terminate()?;
    let ended = started.ended_within(LIMIT)?;
    let mut found = ended.faults();
    if !found.is_empty() {
        found.add(format!("it was sent SIGTERM after {} s", LIMIT.as_secs()));
    }
    Ok(found)
}

/// Puts a directory that did harm where the next case does not remove it.
fn keep(results: &Path) -> Result<PathBuf> {
    let kept = tempfile::Builder::new().prefix("prony-mutant-").tempdir()?.keep();
    let target = kept.join("results");
    fs::rename(results, &target)
        .or_else(|_| std::process::Command::new("cp").arg("-a").arg(results).arg(&target).status().map(drop))
        .with_context(|| format!("cannot keep {}", results.display()))?;
    Ok(target)
}
