//! Where the cases of one area take place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::random::Random;
use crate::workspace::Workspace;

/// What an area is given.
pub(super) struct Lab {
    prony: PathBuf,
    /// Removed with it.
    place: TempDir,
    area: &'static str,
    seed: u64,
    cases: u32,
}

impl Lab {
    pub(super) fn new(
        prony: &Path,
        workspace: &Workspace,
        area: &'static str,
        seed: u64,
        cases: u32,
    ) -> Result<Self> {
        let place = tempfile::Builder::new().prefix("faults-").tempdir_in(workspace.target_directory())?;
        Ok(Self { prony: prony.to_owned(), place, area, seed, cases })
    }

    /// A directory that is there as long as the area is.
    pub(super) fn place(&self) -> &Path {
        self.place.path()
    }

    /// How many cases are to be tried.
    pub(super) fn cases(&self) -> u32 {
        self.cases
    }

    /// The choices of a case.
    pub(super) fn random(&self, case: u32) -> Random {
        Random::new(self.seed, self.area, case)
    }

    /// An empty directory of this name.
    pub(super) fn fresh(&self, name: &str) -> Result<PathBuf> {
        let path = self.place().join(name);
        if path.exists() {
            fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(path)
    }

    /// prony with what the words say, which are separated by spaces.
    pub(super) fn prony(&self, words: &str, directory: &Path) -> Command {
        let mut command = Command::new(&self.prony);
        command.args(words.split_whitespace()).current_dir(directory);
        command
    }
}

/// The results directories in a directory in which prony ran, the oldest first.
pub(super) fn results_in(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory.join("prony-results")) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}
