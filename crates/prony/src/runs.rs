//! Finds a run by what a user calls it: the path of its results directory, its name, or `latest`.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use record::LATEST;
use results::{Listed, ReadError};

use crate::arguments::Among;
use crate::exit::Failure;

impl Among {
    /// The results directory that is meant. A path wins over a name.
    pub(crate) fn find(&self, given: &Path) -> Result<PathBuf, Failure> {
        let Some(name) = name_in(given) else { return Ok(given.to_owned()) };
        let called = |problem: &str| Failure::usage(anyhow!("{name}: {problem}"));
        let listed = match results::runs(&self.results) {
            // Where no run was stored yet there is none of that name either.
            Err(ReadError::Missing { .. }) => Vec::new(),
            listed => listed.map_err(Failure::usage)?,
        };
        let meant = if name == LATEST { latest(&listed) } else { called_so(&listed, name) };
        match meant.as_slice() {
            [] if name == LATEST => Err(called(&format!(
                "{} has no runs yet. Give another directory with --results",
                self.results.display()
            ))),
            [] => Err(called(&format!(
                "no directory or run of this name (searched {}). See prony list, or give --results DIR",
                self.results.display()
            ))),
            [one] => match &one.run {
                Ok(_) => Ok(one.path.clone()),
                Err(error) => Err(called(&format!("cannot be read: {error}"))),
            },
            several => Err(called(&ambiguous(several))),
        }
    }

    /// Each of several.
    pub(crate) fn find_all(&self, given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
        given.iter().map(|given| self.find(given)).collect()
    }
}

/// What can be a name of what was given: one part, and nothing of that name is there.
fn name_in(given: &Path) -> Option<&str> {
    let text = given.to_str()?;
    let is_there = given.exists() || given.is_symlink();
    (!is_there && !text.is_empty() && !text.contains('/')).then_some(text)
}

/// The run that was begun last: a damaged one is told, and not passed over.
fn latest(listed: &[Listed]) -> Vec<&Listed> {
    let begun = |listed: &&Listed| {
        let started = listed.run.as_ref().ok().and_then(|run| run.manifest.started.parse().ok());
        started.or_else(|| in_its_name(&listed.path))
    };
    listed.iter().max_by_key(begun).into_iter().collect()
}

/// The end of the second in the name of a results directory: nobody knows when in that second it was begun.
fn in_its_name(path: &Path) -> Option<jiff::Timestamp> {
    let name = path.file_name()?.to_str()?;
    let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", name.get(..16)?).ok()?;
    let second = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    second.checked_add(jiff::SignedDuration::from_millis(999)).ok()
}

/// Runs of a name, and the one whose directory is called so.
fn called_so<'a>(listed: &'a [Listed], name: &str) -> Vec<&'a Listed> {
    let is = |listed: &&Listed| {
        let named = listed.run.as_ref().is_ok_and(|run| run.manifest.labels.name.as_deref() == Some(name));
        named || listed.path.file_name().is_some_and(|own| own == name)
    };
    listed.iter().filter(is).collect()
}

fn ambiguous(several: &[&Listed]) -> String {
    let one = |listed: &&Listed| listed.path.display().to_string();
    let all: Vec<String> = several.iter().map(one).collect();
    format!("{} runs have this name. Give the path of one: {}", several.len(), all.join(", "))
}
