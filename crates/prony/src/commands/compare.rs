//! `prony compare`: results directories side by side.

use std::path::PathBuf;

use anyhow::{anyhow, ensure};
use record::{Percentile, Percentiles, StudyRecord};
use report::{Compare, CompareOutcome, CompareRows, Deciding, Gates, Outcome};

use crate::arguments;
use crate::documents::{Documents, Form};
use crate::exit::{Exit, Failure};
use crate::terminal;

/// What tells all figures and not those alone that changed.
const ALL: &str = "--details";
/// What limits changes.
const FAIL_IF: &str = "--fail-if";

pub(crate) fn run(compare: &arguments::Compare) -> Result<Exit, Failure> {
    let prints = [(compare.json, "--json"), (compare.details, ALL)];
    let prints = prints.iter().find(|(is_asked, _)| *is_asked).map(|(_, option)| *option);
    let page = compare.html.as_deref().map(|file| (Form::Page, file));
    let documents = Documents::of(&compare.documents, page, prints)?;
    let (first, with) = sides(compare)?;
    check(&first, &with).map_err(Failure::usage)?;
    let (first, with) = (read(&first, compare)?, read(&with, compare)?);
    let (first, with) = (named(&first), named(&with));
    let mut compared = match with.as_slice() {
        [] => Compare::of(&first, compare.smallest, compare.between),
        with => Compare::of_runs(&first, with, compare.smallest),
    };
    if let [one, other] = [first.as_slice(), with.as_slice()].concat().as_slice() {
        compared = compared.with_deciding(deciding(compare, [one, other]));
    }
    // Where changes are limited, what is worse within the limits is allowed.
    let is_baseline = compare.baseline.is_some() && compare.fail_if.is_empty();
    let gates = Gates { fail_if: &compare.fail_if, accept_single: compare.accept_single, is_baseline };
    let compared =
        compared.judged_by(&gates).map_err(|error| Failure::usage(anyhow!("{FAIL_IF}: {error}")))?;
    let shown = if documents.is_printed() { Ok(()) } else { show(compare, &compared) };
    // A reader of stdout that is gone, or a full disk there, keeps no file from being written.
    match (shown, documents.of_comparison(&compared)) {
        (Ok(()), written) => written?,
        (Err(failure), written) => return Err(failure.and(written)),
    }
    Ok(ended(&compared))
}

fn show(compare: &arguments::Compare, compared: &Compare) -> Result<(), Failure> {
    if compare.json {
        return terminal::print_json(&compared.json());
    }
    let rows = if compare.details { CompareRows::All } else { CompareRows::Changed { all_with: ALL } };
    terminal::print(&compared.text(terminal::width(), rows))
}

/// What was asked for decides, whatever else could be told; where nothing was, whether there are verdicts.
fn ended(compared: &Compare) -> Exit {
    match (compared.gate(), compared.outcome()) {
        (Some(Outcome::Failed), _) => Exit::NotHeld,
        (Some(Outcome::Inconclusive), _) => Exit::Inconclusive,
        (Some(Outcome::Held), _) | (None, CompareOutcome::Judged) => Exit::Pass,
        (None, CompareOutcome::Descriptive | CompareOutcome::Refused | CompareOutcome::NothingShared) => {
            Exit::Inconclusive
        }
    }
}

/// The runs of both sides, the first of which is the baseline if there is one.
fn sides(compare: &arguments::Compare) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    let mut first = compare.among.find_all(&compare.directories)?;
    let with = compare.among.find_all(&compare.with)?;
    let Some(wanted) = &compare.baseline else { return Ok((first, with)) };
    let baseline = compare.among.find(wanted)?;
    let whole = |directory: &PathBuf| directory.canonicalize().unwrap_or_else(|_| directory.clone());
    let is = |directory: &PathBuf| whole(directory) == whole(&baseline);
    if with.is_empty() {
        first.retain(|directory| !is(directory));
        first.insert(0, baseline);
        return Ok((first, with));
    }
    match (first.iter().any(is), with.iter().any(is)) {
        (true, _) => Ok((first, with)),
        (false, true) => Ok((with, first)),
        (false, false) => Err(Failure::usage(anyhow!(
            "the baseline {} is not among the runs. Give it before or after --candidate",
            wanted.display()
        ))),
    }
}

/// A run that is given twice would be two runs that do not differ.
fn check(first: &[PathBuf], with: &[PathBuf]) -> anyhow::Result<()> {
    if with.is_empty() {
        ensure!(
            first.len() > 1,
            "there is only one run, so nothing can be compared. Give another directory, or the runs of the other side after --candidate"
        );
        return Ok(());
    }
    let mut seen = Vec::new();
    for directory in first.iter().chain(with) {
        let whole = directory.canonicalize().unwrap_or_else(|_| directory.clone());
        ensure!(!seen.contains(&whole), "{} is given twice. Give each run once", directory.display());
        seen.push(whole);
    }
    Ok(())
}

/// Studies by the names of their directories, as they were given.
fn read(
    directories: &[PathBuf],
    compare: &arguments::Compare,
) -> Result<Vec<(String, StudyRecord)>, Failure> {
    let limited = compare.fail_if.iter().filter_map(|limit| limit.metric.percentile());
    let asked: Vec<Percentile> =
        compare.percentiles.iter().flat_map(Percentiles::iter).chain(limited).collect();
    let one = |directory: &PathBuf| {
        let study = results::read_with(directory, None, &asked).map_err(Failure::usage)?;
        Ok((directory.display().to_string(), study))
    };
    directories.iter().map(one).collect()
}

/// What would decide between two single runs: two more runs of each, in turn, and all six compared; or the spread of such runs.
fn deciding(compare: &arguments::Compare, sides: [&(String, &StudyRecord); 2]) -> Deciding {
    let typed = |(directory, study): &(String, &StudyRecord)| {
        let own = study.manifest.labels.name.clone();
        let given = compare.directories.iter().chain(&compare.with).chain(&compare.baseline);
        let is_typed = |name: &String| given.clone().any(|given| given.as_os_str() == name.as_str());
        own.filter(is_typed).unwrap_or_else(|| directory.clone())
    };
    let base = |(_, study): &(String, &StudyRecord), unnamed: &str| {
        study.manifest.labels.name.clone().unwrap_or_else(|| unnamed.to_owned())
    };
    let bases = [base(sides[0], "first"), base(sides[1], "second")];
    // Two runs of one name have to differ in those of their repeats.
    let bases = if bases[0] == bases[1] { bases.map(|base| base + "-again") } else { bases };
    let bases = if bases[0] == bases[1] { ["first".to_owned(), "second".to_owned()] } else { bases };
    let runs = |side: usize| {
        [typed(sides[side]), format!("{}-2", bases[side]), format!("{}-3", bases[side])].into_iter()
    };
    let repeat = |number: u32, side: usize| again(sides[side].1, &format!("{}-{number}", bases[side]));
    let measured = [2, 3].into_iter().flat_map(|number| [0, 1].map(|side| repeat(number, side)));
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let asked = asked(compare);
    let all =
        words(&["prony", "compare"]).into_iter().chain(runs(0)).chain(words(&["--candidate"])).chain(runs(1));
    let all: Vec<String> = all.chain(asked.clone()).collect();
    let two = words(&["prony", "compare"]).into_iter().chain(sides.map(typed));
    let two = two.chain(words(&["--run-sd", "2%"])).chain(asked).collect::<Vec<String>>();
    Deciding::of(&measured.chain([all]).collect::<Vec<_>>(), &two)
}

/// What is asked of a comparison, to be asked of the next one.
fn asked(compare: &arguments::Compare) -> Vec<String> {
    let smallest = compare.smallest.map(|share| ["--min-effect".to_owned(), share.to_string()]);
    let limits = compare.fail_if.iter().map(|limit| [FAIL_IF.to_owned(), limit.to_string()]);
    smallest.into_iter().chain(limits).flatten().collect()
}

/// Options of a run that its repetition cannot reuse: its name, title and comment, and files that exist already.
const OF_ONE_RUN: [&str; 5] = ["--name", "--title", "--comment", "--markdown", "--junit"];

/// The command of a run, for another run of this name.
fn again(study: &StudyRecord, name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut given = study.manifest.command.iter();
    while let Some(word) = given.next() {
        if OF_ONE_RUN.contains(&word.as_str()) {
            given.next();
        } else if !OF_ONE_RUN.iter().any(|option| word.starts_with(&format!("{option}="))) {
            words.push(word.clone());
        }
    }
    words.extend(["--name".to_owned(), name.to_owned()]);
    words
}

fn named(studies: &[(String, StudyRecord)]) -> Vec<(String, &StudyRecord)> {
    studies.iter().map(|(name, study)| (name.clone(), study)).collect()
}
