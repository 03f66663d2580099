//! One file of a package of npm, below the target directory. The version is pinned, and a file of that version is used again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::{line_of, run};

/// Names the package that the file is from. It is written last, so that half a file is never used.
const FETCHED: &str = "fetched-package.txt";

/// A package and what is wanted of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Package<'a> {
    /// With its version: `name@1.2.3`.
    pub(crate) name: &'a str,
    /// The path in the package.
    pub(crate) file: &'a str,
}

impl Package<'_> {
    /// The file in a directory of its own, fetched unless it is there; none where npm is not installed.
    pub(crate) fn fetch(&self, directory: &Path) -> Result<Option<PathBuf>> {
        let path = directory.join(self.file);
        if self.is_fetched(directory) {
            return Ok(Some(path));
        }
        if !Command::new("npm").arg("--version").output().is_ok_and(|output| output.status.success()) {
            return Ok(None);
        }
        fs::create_dir_all(directory)?;
        let archive = self.packed(directory)?;
        let mut unpack = Command::new("tar");
        unpack.arg("-xzf").arg(&archive).arg("-C").arg(directory);
        run(unpack.args(["--strip-components=1", &format!("package/{}", self.file)]))?;
        fs::remove_file(archive)?;
        fs::write(directory.join(FETCHED), self.name)?;
        Ok(Some(path))
    }

    /// Whether the file is there and of this version.
    pub(crate) fn is_fetched(&self, directory: &Path) -> bool {
        let fetched = fs::read_to_string(directory.join(FETCHED)).unwrap_or_default();
        fetched == self.name && directory.join(self.file).is_file()
    }

    /// Downloads the archive of the package.
    fn packed(&self, directory: &Path) -> Result<PathBuf> {
        let mut pack = Command::new("npm");
        pack.args(["pack", "--loglevel", "error", self.name]).current_dir(directory);
        let line = line_of(&pack);
        println!("$ {line}");
        let packed = pack.output().with_context(|| format!("cannot start `{line}`"))?;
        let said = String::from_utf8_lossy(&packed.stderr);
        ensure!(
            packed.status.success(),
            "`{line}` ended with {}; it needs the registry of npm once: {}",
            packed.status,
            said.trim()
        );
        let told = String::from_utf8_lossy(&packed.stdout);
        let archive = told.lines().last().map(str::trim).filter(|name| !name.is_empty());
        Ok(directory.join(archive.with_context(|| format!("`{line}` names no file"))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: Package<'_> = Package { name: "a@1", file: "a.js" };

    #[test]
    fn a_file_of_another_version_or_half_of_one_is_fetched_again() {
        let directory = tempfile::tempdir().unwrap();
        let is_fetched = || PACKAGE.is_fetched(directory.path());
        fs::write(directory.path().join(PACKAGE.file), "").unwrap();
        assert!(!is_fetched());
        fs::write(directory.path().join(FETCHED), "a@2").unwrap();
        assert!(!is_fetched());
        fs::write(directory.path().join(FETCHED), "a@1").unwrap();
        assert!(is_fetched());
        fs::remove_file(directory.path().join(PACKAGE.file)).unwrap();
        assert!(!is_fetched());
    }
}
