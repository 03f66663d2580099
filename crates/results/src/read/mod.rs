//! Opens a results directory, whole or damaged.
//!
//! A killed program, a full disk or a careless hand may have left anything; whatever still tells something is
//! read, and what does not is named in [`StudyRecord::damage`]. Nothing is repaired and nothing is written.

mod runs;
mod trial;

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ownership::Directory;
use record::{
    Environment, FORMAT_VERSION, Manifest, MeasuredTrial, Percentile, Percentiles, State, StudyRecord,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{Archive, name};

pub use runs::{Listed, Run, runs};

/// A directory that cannot be read as results at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is not there.
    #[error("{path} does not exist: give a results directory, such as prony-results/20261121T073000Z-check",
        path = path.display())]
    Missing {
        /// What was given.
        path: PathBuf,
    },
    /// It is a file.
    #[error("{path} is a file: give the results directory that holds it", path = path.display())]
    NotADirectory {
        /// What was given.
        path: PathBuf,
    },
    /// It cannot be opened.
    #[error("cannot open {path}: {source}", path = path.display())]
    Closed {
        /// What was given.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Nothing in it says that it is one of ours.
    #[error("{path} is not a results directory, for it has no manifest.json; {remedy}", path = path.display())]
    NotResults {
        /// What was given.
        path: PathBuf,
        /// What to give instead.
        remedy: String,
    },
    /// The manifest cannot be read.
    #[error("cannot read {path}: {reason}; restore it from a copy, for without it the rest cannot be placed",
        path = path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Made by a version that stores more than this one knows.
    #[error("{path} was made by a newer prony (format {format}, this one reads up to {FORMAT_VERSION}): update",
        path = path.display())]
    Newer {
        /// The manifest.
        path: PathBuf,
        /// Its format version.
        format: u64,
    },
}

/// Reads a study with all of its records.
///
/// # Errors
/// Only when the directory is not one of results, its manifest cannot be read, or a newer version made it.
/// All else that is missing or damaged is a sentence in [`StudyRecord::damage`].
pub fn read(directory: &Path) -> Result<StudyRecord, ReadError> {
    Archive::open(directory)?.read()
}

/// The same with these percentiles in place of those that the study shows, and with these besides.
///
/// # Errors
/// As [`read`].
pub fn read_with(
    directory: &Path,
    shown: Option<&Percentiles>,
    besides: &[Percentile],
) -> Result<StudyRecord, ReadError> {
    Archive::open(directory)?.read_with(shown, besides)
}

/// Opens a directory.
pub(crate) fn opened(path: &Path) -> Result<Directory, ReadError> {
    ownership::open_trusted(path).map_err(|source| {
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::NotFound => ReadError::Missing { path },
            ErrorKind::NotADirectory => ReadError::NotADirectory { path },
            _ => ReadError::Closed { path, source },
        }
    })
}

/// Reads a study from a directory that is held open, with these percentiles in place of those that it shows.
pub(crate) fn study(
    directory: &Directory,
    shown: Option<&Percentiles>,
    besides: &[Percentile],
) -> Result<StudyRecord, ReadError> {
    let mut manifest = read_manifest(directory)?;
    manifest.percentiles = shown.cloned().or(manifest.percentiles);
    if !besides.is_empty() {
        manifest.percentiles = Some(manifest.shown_percentiles().and(besides.iter().copied()));
    }
    let mut damage = Vec::new();
    let environment: Option<Environment> = noted(&mut damage, read_json(directory, name::ENVIRONMENT));
    let study_toml = noted(&mut damage, read_text(directory, name::STUDY));
    let trials = read_trials(directory, &counted(&manifest), &mut damage);
    if let Some(sentence) = unfinished(&manifest, &trials) {
        damage.push(sentence);
    }
    Ok(StudyRecord { manifest, environment, study_toml: study_toml.unwrap_or_default(), trials, damage })
}

fn read_manifest(directory: &Directory) -> Result<Manifest, ReadError> {
    let path = directory.path().join(name::MANIFEST);
    let text = directory.read(OsStr::new(name::MANIFEST)).map_err(|error| no_manifest(directory, &error))?;
    let unreadable =
        |error: serde_json::Error| ReadError::Manifest { path: path.clone(), reason: error.to_string() };
    let Version { format } = serde_json::from_slice(&text).map_err(unreadable)?;
    if format > u64::from(FORMAT_VERSION) {
        return Err(ReadError::Newer { path, format });
    }
    serde_json::from_slice(&text).map_err(unreadable)
}

/// The one field that all versions of a stored form share.
#[derive(Deserialize)]
struct Version {
    format: u64,
}

fn no_manifest(directory: &Directory, error: &io::Error) -> ReadError {
    match error.kind() {
        ErrorKind::NotFound => {
            ReadError::NotResults { remedy: remedy_for(directory), path: directory.path().to_owned() }
        }
        _ => ReadError::Manifest { path: directory.path().join(name::MANIFEST), reason: error.to_string() },
    }
}

/// The directory above the results is the likeliest mistake; it is answered with the latest results in it.
fn remedy_for(directory: &Directory) -> String {
    let has = |directory: &Directory, name: &str| {
        directory.look(OsStr::new(name)).is_ok_and(|seen| seen.is_some_and(|seen| seen.is_regular()))
    };
    let names = directory.names().unwrap_or_default();
    let mut below = names.iter().filter_map(|name| directory.below(name).ok());
    match below.rfind(|below| has(below, name::MANIFEST)) {
        Some(latest) => format!("give one that is in it, such as {}", latest.path().display()),
        None if has(directory, name::STUDY) => "its study was ended before it began".to_owned(),
        None if is_new(&names) => {
            "a run that was killed in its first moment leaves such a directory: nothing was measured, so delete it and run again".to_owned()
        }
        None => "give one that prony made, such as prony-results/20261121T073000Z-check".to_owned(),
    }
}

/// Whether a directory has no more than what a run makes first: nothing, or an empty directory of trials.
fn is_new(names: &[std::ffi::OsString]) -> bool {
    names.iter().all(|name| name == name::TRIALS)
}

/// Percentiles whose tails are counted, in rising order.
fn counted(manifest: &Manifest) -> Vec<f64> {
    Percentiles::default().and(manifest.own_percentiles()).iter().map(Percentile::per_cent).collect()
}

fn read_trials(directory: &Directory, percentiles: &[f64], damage: &mut Vec<String>) -> Vec<MeasuredTrial> {
    let trials = directory.below(OsStr::new(name::TRIALS));
    let trials = trials.and_then(|trials| Ok((trials.names()?, trials)));
    let Some((names, trials)) = noted(damage, trials.map_err(|error| unreadable(name::TRIALS, &error)))
    else {
        return Vec::new();
    };
    // Whatever is not a number was not put there by us, and is none of our business.
    let mut numbers: Vec<(u32, &OsStr)> =
        names.iter().filter_map(|name| Some((name.to_str()?.parse().ok()?, name.as_os_str()))).collect();
    numbers.sort();
    let read = |(number, name)| trial::read(number, &trials, name, percentiles, damage);
    numbers.into_iter().filter_map(read).collect()
}

fn unfinished(manifest: &Manifest, trials: &[MeasuredTrial]) -> Option<String> {
    let ended = trials.iter().filter(|trial| trial.trial.state != State::Running).count();
    matches!(manifest.state, State::Running | State::Planned).then(|| {
        format!(
            "the study was cut off, or is still running: {ended} of {} ended",
            match manifest.plan.len() {
                1 => "1 trial has".to_owned(),
                trials => format!("{trials} trials have"),
            }
        )
    })
}

/// Keeps the value, or notes why there is none.
fn noted<T>(damage: &mut Vec<String>, value: Result<T, String>) -> Option<T> {
    value.map_err(|sentence| damage.push(sentence)).ok()
}

fn unreadable(name: &str, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("{name} is missing"),
        _ => format!("{name} cannot be read: {error}"),
    }
}

fn read_text(directory: &Directory, name: &str) -> Result<String, String> {
    let text = directory.read(OsStr::new(name)).map_err(|error| unreadable(name, &error))?;
    String::from_utf8(text).map_err(|error| format!("{name} cannot be read: {error}"))
}

fn read_json<T: DeserializeOwned>(directory: &Directory, name: &str) -> Result<T, String> {
    let text = directory.read(OsStr::new(name)).map_err(|error| unreadable(name, &error))?;
    serde_json::from_slice(&text).map_err(|error| format!("{name} cannot be read: {error}"))
}
