//! DuckDB's library below the target directory, and tests of what links to it.
//!
//! The lints include DuckDB where the library is there. The other tests do not: most users build a program without it.
//!
//! The library comes from DuckDB's own package for Node.js, which its makers build for each version. No header comes with it, and none
//! is needed. The version is pinned, and a library of that version is used again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{Outcome, watch};
use crate::workspace::{Workspace, line_of, run};

/// The package's name, without the architecture.
const PACKAGE: &str = "@duckdb/node-bindings-linux-";
const VERSION: &str = "1.5.6-r.1";
/// The library's directory below the target directory.
const DIRECTORY: &str = "duckdb";
const LIBRARY: &str = "libduckdb.so";
/// Names the package that the library is from. It is written last, so that half a library is never used.
const FETCHED: &str = "fetched-package.txt";

/// The tests of code that is there with DuckDB only.
const TEST: [&str; 14] = [
    "test",
    "--package",
    "prony-database",
    "--package",
    "prony",
    "--features",
    "prony/duckdb",
    "--no-fail-fast",
    "--lib",
    "--test",
    "it",
    "--",
    "duckdb::",
    "_duckdb_",
];

/// Fetches the library, unless it is there.
pub(super) fn fetch(workspace: &Workspace) -> Result<Outcome> {
    let Some(package) = package(std::env::consts::ARCH) else {
        return Ok(Outcome::NotRun(format!("DuckDB has no package for {}", std::env::consts::ARCH)));
    };
    let directory = workspace.target_directory().join(DIRECTORY);
    if is_fetched(&directory, &package) {
        return Ok(Outcome::Passed);
    }
    if !Command::new("npm").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Ok(Outcome::NotRun("npm is not installed, which brings DuckDB's library".to_owned()));
    }
    fetch_package(&directory, &package)?;
    Ok(Outcome::Passed)
}

/// The directory of the library, if the step has fetched it.
pub(super) fn library(workspace: &Workspace) -> Option<PathBuf> {
    let directory = workspace.target_directory().join(DIRECTORY);
    is_fetched(&directory, &package(std::env::consts::ARCH)?).then_some(directory)
}

/// Tests the session and the program, with the library if it is there.
pub(super) fn test(workspace: &Workspace) -> Result<Outcome> {
    if let outcome @ Outcome::NotRun(_) = fetch(workspace)? {
        return Ok(outcome);
    }
    let mut command = workspace.cargo(&TEST);
    add_library(&mut command, workspace);
    command.env("INSTA_UPDATE", "no");
    watch::run_within(watch::LIMIT, command)?;
    Ok(Outcome::Passed)
}

/// Lets a command find the library, to link with it or to load it.
pub(super) fn add_library(command: &mut Command, workspace: &Workspace) {
    if let Some(directory) = library(workspace) {
        command.env("DUCKDB_LIB_DIR", &directory).env("LD_LIBRARY_PATH", directory);
    }
}

/// The package of an architecture, as Node.js calls those.
fn package(architecture: &str) -> Option<String> {
    let name = match architecture {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return None,
    };
    Some(format!("{PACKAGE}{name}@{VERSION}"))
}

fn is_fetched(directory: &Path, package: &str) -> bool {
    let fetched = fs::read_to_string(directory.join(FETCHED)).unwrap_or_default();
    fetched == package && directory.join(LIBRARY).is_file()
}

fn fetch_package(directory: &Path, package: &str) -> Result<()> {
    fs::create_dir_all(directory)?;
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", package]).current_dir(directory);
    let line = line_of(&pack);
    println!("$ {line}");
    let packed = pack.output().with_context(|| format!("cannot start `{line}`"))?;
    let said = String::from_utf8_lossy(&packed.stderr);
    ensure!(packed.status.success(), "`{line}` ended with {}: {}", packed.status, said.trim());
    let told = String::from_utf8_lossy(&packed.stdout);
    let archive = told.lines().last().map(str::trim).filter(|name| !name.is_empty());
    let archive = directory.join(archive.with_context(|| format!("`{line}` names no file"))?);
    let mut unpack = Command::new("tar");
    unpack.arg("-xzf").arg(&archive).arg("-C").arg(directory);
    run(unpack.args(["--strip-components=1", &format!("package/{LIBRARY}")]))?;
    fs::remove_file(archive)?;
    fs::write(directory.join(FETCHED), package)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_called_as_node_calls_architectures() {
        assert_eq!(package("x86_64").unwrap(), format!("@duckdb/node-bindings-linux-x64@{VERSION}"));
        assert!(package("aarch64").unwrap().contains("-arm64@"));
        assert_eq!(package("riscv64"), None);
    }

    #[test]
    fn a_library_of_another_version_or_half_of_one_is_fetched_anew() {
        let directory = tempfile::tempdir().unwrap();
        let is_fetched = || is_fetched(directory.path(), "a@1");
        fs::write(directory.path().join(LIBRARY), "").unwrap();
        assert!(!is_fetched());
        fs::write(directory.path().join(FETCHED), "a@2").unwrap();
        assert!(!is_fetched());
        fs::write(directory.path().join(FETCHED), "a@1").unwrap();
        assert!(is_fetched());
        fs::remove_file(directory.path().join(LIBRARY)).unwrap();
        assert!(!is_fetched());
    }
}
