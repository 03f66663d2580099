//! The runs below a directory, without their records: what a list of them tells, and what a run is found by.

use std::ffi::OsStr;
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
/// is in it, is left out; what is damaged is none of those.
///
/// # Errors
/// When the directory cannot be opened or read.
pub fn runs(parent: &Path) -> Result<Vec<Listed>, ReadError> {
    let directory = opened(parent)?;
    let names = directory.names().map_err(|source| ReadError::Closed { path: parent.to_owned(), source })?;
    let below = names.iter().filter_map(|name| Some((parent.join(name), directory.below(name).ok()?)));
    Ok(below
        .filter(|(_, below)| is_ours(below))
        .map(|(path, below)| Listed { path, run: run(&below) })
        .collect())
}

/// Whether something in it says that it was made by us.
fn is_ours(directory: &Directory) -> bool {
    [name::MANIFEST, name::STUDY, name::TRIALS]
        .iter()
        .any(|name| directory.look(OsStr::new(name)).is_ok_and(|seen| seen.is_some()))
}

fn run(directory: &Directory) -> Result<Run, ReadError> {
    Ok(Run {
        manifest: read_manifest(directory)?,
        study_toml: read_text(directory, name::STUDY).unwrap_or_default(),
        verdicts: read_text(directory, name::VERDICTS).ok(),
    })
}
