//! `prony list`: the runs below a results directory, the last one at the end.

use std::path::Path;

use anyhow::anyhow;
use record::{LATEST, Labels, Lines, RunName, State};
use results::{Listed, ReadError, Run};
use serde_json::{Value, json};
use study::{Plan, Study};

use crate::arguments::List;
use crate::exit::{Exit, Failure};
use crate::terminal;

/// Sentences are not set wider than this.
const WIDTH_MOST: usize = 100;
const INDENT: &str = "    ";

pub(crate) fn run(list: &List) -> Result<Exit, Failure> {
    let mut listed = results::runs(&list.results).map_err(|error| no_runs(&list.results, error))?;
    if !list.tag.is_empty() {
        listed = tagged(listed, list);
    }
    if list.names {
        terminal::print(&Lines::each(names(&listed)))?;
    } else if list.json {
        let runs: Vec<Value> = listed.iter().map(document).collect();
        let text = serde_json::to_string_pretty(&json!({ "runs": runs })).map_err(Failure::runtime)?;
        terminal::print_json(&(text + "\n"))?;
    } else if listed.is_empty() {
        tell!(
            "no run in {} {}",
            list.results.display(),
            if list.tag.is_empty() { "yet" } else { "has these tags" }
        );
    } else {
        let width = terminal::width().map_or(WIDTH_MOST, usize::from).clamp(40, WIDTH_MOST);
        terminal::print(&Lines::each(listed.iter().flat_map(|listed| entry(listed, width))))?;
    }
    Ok(Exit::Pass)
}

fn no_runs(parent: &Path, error: ReadError) -> Failure {
    match error {
        ReadError::Missing { .. } => Failure::usage(anyhow!(
            "{} does not exist: no run was stored here. Give the directory of runs with --results",
            parent.display()
        )),
        error => Failure::usage(error),
    }
}

/// Runs with all of these tags. What cannot be read may have them, which is told.
fn tagged(listed: Vec<Listed>, list: &List) -> Vec<Listed> {
    let (read, damaged): (Vec<Listed>, Vec<Listed>) =
        listed.into_iter().partition(|listed| listed.run.is_ok());
    if !damaged.is_empty() {
        let (many, are) =
            (damaged.len(), if damaged.len() == 1 { "directory is" } else { "directories are" });
        tell!("{many} results {are} unreadable, so the tags are unknown. To see why: prony list");
    }
    let has = |labels: &Labels| list.tag.iter().all(|tag| labels.has(tag));
    read.into_iter().filter(|listed| listed.run.as_ref().is_ok_and(|run| has(&run.manifest.labels))).collect()
}

/// The names that find one run each, and `latest`. A shell may expand what it reads here: what a directory of others calls a run is
/// given only if it is a name.
fn names(listed: &[Listed]) -> Vec<String> {
    let name = |listed: &Listed| listed.run.as_ref().ok()?.manifest.labels.name.clone();
    let all: Vec<String> = listed.iter().filter_map(name).collect();
    let is_one = |name: &&String| all.iter().filter(|other| other == name).count() == 1;
    let names = all.iter().filter(is_one).filter(|name| name.parse::<RunName>().is_ok()).cloned();
    names.chain((!listed.is_empty()).then(|| LATEST.to_owned())).collect()
}

/// Date, name and title of the measurement, then the user's title, the verdict, and the path.
fn entry(listed: &Listed, width: usize) -> Vec<String> {
    let (head, verdict) = match &listed.run {
        Ok(run) => (head(run), verdict(run)),
        Err(error) => ("cannot be read".to_owned(), error.to_string()),
    };
    let title = listed.run.as_ref().ok().and_then(|run| run.manifest.labels.title.clone());
    let mut lines = vec![head];
    for text in title.into_iter().chain([verdict]) {
        let wrapped = report::wrapped(&record::shown(&text), width - INDENT.len());
        lines.extend(wrapped.into_iter().map(|line| format!("{INDENT}{line}")));
    }
    lines.push(format!("{INDENT}{}", listed.path.display()));
    lines
}

fn head(run: &Run) -> String {
    let started = run.manifest.started.parse::<jiff::Timestamp>();
    let started = started
        .map_or_else(|_| run.manifest.started.clone(), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string());
    let parts = [Some(started), run.manifest.labels.in_words(), Some(measured(run))];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
}

/// What was measured, on what: `Disk on /data`.
fn measured(run: &Run) -> String {
    match places(run).as_slice() {
        [] => run.manifest.title.clone(),
        places => format!("{} on {}", run.manifest.title, places.join(", ")),
    }
}

/// What its trials load, each once.
fn places(run: &Run) -> Vec<String> {
    let study = Study::from_toml(&run.study_toml).ok();
    let plan = study.and_then(|study| Plan::of(&study).ok());
    let mut places: Vec<String> =
        plan.iter().flat_map(|plan| plan.trials.iter().flat_map(study::Trial::places)).collect();
    let mut seen = Vec::new();
    places.retain(|place| {
        let is_new = !seen.contains(place);
        seen.push(place.clone());
        is_new
    });
    places
}

/// The state where it is not complete, and the gravest sentence.
fn verdict(run: &Run) -> String {
    let state = match run.manifest.state {
        State::Complete => None,
        State::Running | State::Planned => Some("still running, or interrupted".to_owned()),
        State::Failed => Some(
            run.manifest
                .reason
                .as_ref()
                .map_or_else(|| "failed".to_owned(), |reason| format!("failed: {reason}")),
        ),
        State::Aborted => Some("interrupted".to_owned()),
        State::Invalid => Some("invalid".to_owned()),
        State::Skipped => Some("skipped".to_owned()),
    };
    let gravest = gravest(run);
    let parts: Vec<String> = state.into_iter().chain(gravest).collect();
    if let [state, sentence] = parts.as_slice() {
        return format!("{state}: {}", within(sentence));
    }
    if parts.is_empty() {
        "not evaluated yet. To evaluate it: prony report".to_owned()
    } else {
        parts.join("; ")
    }
}

/// A sentence for use after a colon: an initial `The` becomes `the`, and names stay unchanged.
fn within(sentence: &str) -> String {
    match sentence.strip_prefix("The ") {
        Some(rest) => format!("the {rest}"),
        None => sentence.to_owned(),
    }
}

/// The headline, which stands first in its verdicts as they were stored last; of older runs the gravest sentence.
fn gravest(run: &Run) -> Option<String> {
    /// All that a list needs of a stored verdict.
    #[derive(serde::Deserialize)]
    struct Stored {
        sentence: String,
    }
    let verdicts: Vec<Stored> = serde_json::from_str(run.verdicts.as_ref()?).ok()?;
    verdicts.into_iter().next().map(|verdict| verdict.sentence.trim_end_matches('.').to_owned())
}

fn document(listed: &Listed) -> Value {
    let path = std::path::absolute(&listed.path).unwrap_or_else(|_| listed.path.clone());
    let path = path.display().to_string();
    match &listed.run {
        Err(error) => json!({ "directory": path, "error": error.to_string() }),
        Ok(run) => json!({
            "directory": path,
            "started": run.manifest.started,
            "finished": run.manifest.finished,
            "name": run.manifest.labels.name,
            "tags": run.manifest.labels.tags,
            "title": run.manifest.title,
            "user_title": run.manifest.labels.title,
            "comment": run.manifest.labels.comment,
            "profile": run.manifest.profile,
            "places": places(run),
            "state": run.manifest.state,
            "reason": run.manifest.reason,
            "verdict": gravest(run),
        }),
    }
}
