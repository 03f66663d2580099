//! Opens a results directory, whole or damaged.
//!
//! A killed program, a full disk or a careless hand may have left anything; whatever still tells something is
//! read, and what does not is named in [`StudyRecord::damage`]. Nothing is repaired and nothing is written.

mod trial;

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use record::{Environment, FORMAT_VERSION, Manifest, MeasuredTrial, State, StudyRecord};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::name;

/// A directory that cannot be read as results at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is not there.
    #[error("there is no {path}: give a results directory, such as prony-results/20261121T073000Z-check",
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
    let manifest = read_manifest(directory)?;
    let mut damage = Vec::new();
    let environment: Option<Environment> = noted(&mut damage, read_json(directory, name::ENVIRONMENT));
    let study_toml = fs::read_to_string(directory.join(name::STUDY));
    let study_toml = noted(&mut damage, study_toml.map_err(|error| unreadable(name::STUDY, &error)));
    let trials = read_trials(directory, &mut damage);
    if let Some(sentence) = unfinished(&manifest, &trials) {
        damage.push(sentence);
    }
    Ok(StudyRecord { manifest, environment, study_toml: study_toml.unwrap_or_default(), trials, damage })
}

fn read_manifest(directory: &Path) -> Result<Manifest, ReadError> {
    let path = directory.join(name::MANIFEST);
    let text = fs::read(&path).map_err(|error| no_manifest(directory, &error))?;
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

fn no_manifest(directory: &Path, error: &io::Error) -> ReadError {
    let path = directory.to_owned();
    match (error.kind(), fs::metadata(directory)) {
        (ErrorKind::NotFound, Err(_)) => ReadError::Missing { path },
        (ErrorKind::NotFound, Ok(_)) => ReadError::NotResults { remedy: remedy_for(directory), path },
        (_, Ok(metadata)) if !metadata.is_dir() => ReadError::NotADirectory { path },
        _ => ReadError::Manifest { path: directory.join(name::MANIFEST), reason: error.to_string() },
    }
}

/// The directory above the results is the likeliest mistake; it is answered with the latest results in it.
fn remedy_for(directory: &Path) -> String {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let latest = entries.map(|entry| entry.path()).filter(|path| path.join(name::MANIFEST).is_file()).max();
    match latest {
        Some(latest) => format!("give one that is in it, such as {}", latest.display()),
        None if directory.join(name::STUDY).is_file() => "its study was ended before it began".to_owned(),
        None => "give one that prony made, such as prony-results/20261121T073000Z-check".to_owned(),
    }
}

fn read_trials(directory: &Path, damage: &mut Vec<String>) -> Vec<MeasuredTrial> {
    let entries = fs::read_dir(directory.join(name::TRIALS));
    let Some(entries) = noted(damage, entries.map_err(|error| unreadable(name::TRIALS, &error))) else {
        return Vec::new();
    };
    // Whatever is not a number was not put there by us, and is none of our business.
    let number =
        |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok().zip(Some(entry.path()));
    let mut directories: Vec<(u32, PathBuf)> = entries.flatten().filter_map(number).collect();
    directories.sort();
    directories.into_iter().filter_map(|(number, path)| trial::read(number, &path, damage)).collect()
}

fn unfinished(manifest: &Manifest, trials: &[MeasuredTrial]) -> Option<String> {
    let ended = trials.iter().filter(|trial| trial.trial.state != State::Running).count();
    matches!(manifest.state, State::Running | State::Planned).then(|| {
        format!(
            "the study was cut off, or is still running: {ended} of {} trials have ended",
            manifest.plan.len()
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

fn read_json<T: DeserializeOwned>(directory: &Path, name: &str) -> Result<T, String> {
    let text = fs::read(directory.join(name)).map_err(|error| unreadable(name, &error))?;
    serde_json::from_slice(&text).map_err(|error| format!("{name} cannot be read: {error}"))
}
