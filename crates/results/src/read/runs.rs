//! The runs below a directory, without their records: what a list of them tells, and what a run is found by.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ownership::Directory;
use record::Manifest;

use super::{ReadError, opened, read_manifest, read_text};
use crate::name;

/// A results directory below another one.
#[derive(Debug)]
pub struct Listed {
    /// Where it is.
    pub path: PathBuf,
    /// What is known of it, or why nothing can be.
    pub run: Result<Run, ReadError>,
}

/// A run, without its records.
#[derive(Debug)]
pub struct Run {
    /// What was to be run, and how far it came.
    pub manifest: Manifest,
    /// The study as it was given; empty if it is missing.
    pub study_toml: String,
    /// The verdicts as they were stored last, a JSON document; none where there are none yet.
    pub verdicts: Option<String>,
}

/// The results directories in a directory, in the order in which they were begun, by their names. What is none, for nothing of ours
/// is in it, is left out; what is damaged, or cannot be looked into, is none of those.
///
/// # Errors
/// When the directory cannot be opened or read.
pub fn runs(parent: &Path) -> Result<Vec<Listed>, ReadError> {
    let directory = opened(parent)?;
    let names = directory.names().map_err(|source| ReadError::Closed { path: parent.to_owned(), source })?;
    Ok(names.iter().filter_map(|name| listed(&directory, parent.join(name), name)).collect())
}

/// What is known of one of the names; none of what is no directory, or none of ours.
fn listed(parent: &Directory, path: PathBuf, name: &OsStr) -> Option<Listed> {
    let below = match parent.below(name) {
        Err(error) if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::NotFound) => return None,
        below => below.and_then(|below| Ok(is_ours(&below)?.then_some(below))),
    };
    let run = match below {
        Ok(below) => run(&below?),
        // It may be one of ours: nobody can tell.
        Err(source) => Err(ReadError::Closed { path: path.clone(), source }),
    };
    Some(Listed { path, run })
}

/// Whether something in it says that it was made by us.
fn is_ours(directory: &Directory) -> std::io::Result<bool> {
    for name in [name::MANIFEST, name::STUDY, name::TRIALS] {
        if directory.look(OsStr::new(name))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn run(directory: &Directory) -> Result<Run, ReadError> {
    Ok(Run {
        manifest: read_manifest(directory)?,
        study_toml: read_text(directory, name::STUDY).unwrap_or_default(),
        verdicts: read_text(directory, name::VERDICTS).ok(),
    })
}
