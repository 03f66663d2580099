//! `prony compare`: results directories side by side.

use std::path::PathBuf;

use anyhow::ensure;
use record::StudyRecord;
use report::{Compare, CompareOutcome, CompareRows};

use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::terminal;

/// What tells all figures and not those alone that changed.
const ALL: &str = "--details";

pub(crate) fn run(compare: &arguments::Compare) -> Result<Exit, Failure> {
    let (first, with) =
        (compare.among.find_all(&compare.directories)?, compare.among.find_all(&compare.with)?);
    check(&first, &with).map_err(Failure::usage)?;
    let (first, with) = (read(&first)?, read(&with)?);
    let (first, with) = (named(&first), named(&with));
    let compared = match with.as_slice() {
        [] => Compare::of(&first, compare.smallest, compare.between),
        with => Compare::of_runs(&first, with, compare.smallest),
    };
    if compare.json {
        terminal::print_json(&compared.json())?;
    } else {
        let rows = if compare.details { CompareRows::All } else { CompareRows::Changed { all_with: ALL } };
        terminal::print(&compared.text(terminal::width(), rows))?;
    }
    Ok(match compared.outcome() {
        CompareOutcome::Judged => Exit::Pass,
        CompareOutcome::Descriptive | CompareOutcome::Refused | CompareOutcome::NothingShared => {
            Exit::Inconclusive
        }
    })
}

/// A run that is given twice would be two runs that do not differ.
fn check(first: &[PathBuf], with: &[PathBuf]) -> anyhow::Result<()> {
    if with.is_empty() {
        ensure!(
            first.len() > 1,
            "there is nothing to compare it with: give another directory, or runs of another side after --with"
        );
        return Ok(());
    }
    let mut seen = Vec::new();
    for directory in first.iter().chain(with) {
        let whole = directory.canonicalize().unwrap_or_else(|_| directory.clone());
        ensure!(!seen.contains(&whole), "{} is given twice: each run counts once", directory.display());
        seen.push(whole);
    }
    Ok(())
}

/// Studies by the names of their directories, as they were given.
fn read(directories: &[PathBuf]) -> Result<Vec<(String, StudyRecord)>, Failure> {
    let one = |directory: &PathBuf| {
        Ok((directory.display().to_string(), results::read(directory).map_err(Failure::usage)?))
    };
    directories.iter().map(one).collect()
}

fn named(studies: &[(String, StudyRecord)]) -> Vec<(String, &StudyRecord)> {
    studies.iter().map(|(name, study)| (name.clone(), study)).collect()
}
