//! DuckDB's library below the target directory, and tests of what links to it.
//!
//! The lints include DuckDB where the library is there. The other tests do not: most users build a program without it.
//!
//! The library comes from DuckDB's own package for Node.js, which its makers build for each version. No header comes with it, and none
//! is needed. The version is pinned, and a library of that version is used again.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::npm::Package;
use super::{Outcome, watch};
use crate::workspace::Workspace;

/// The package's name, without the architecture.
const PACKAGE: &str = "@duckdb/node-bindings-linux-";
const VERSION: &str = "1.5.6-r.1";
/// The library's directory below the target directory.
const DIRECTORY: &str = "duckdb";
const LIBRARY: &str = "libduckdb.so";

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
    let Some(name) = package_name(std::env::consts::ARCH) else {
        return Ok(Outcome::NotRun(format!("DuckDB has no package for {}", std::env::consts::ARCH)));
    };
    let fetched = package(&name).fetch(&workspace.target_directory().join(DIRECTORY))?;
    Ok(match fetched {
        Some(_) => Outcome::Passed,
        None => Outcome::NotRun("npm is not installed, which brings DuckDB's library".to_owned()),
    })
}

/// The directory of the library, if the step has fetched it.
pub(super) fn library(workspace: &Workspace) -> Option<PathBuf> {
    let directory = workspace.target_directory().join(DIRECTORY);
    let name = package_name(std::env::consts::ARCH)?;
    package(&name).is_fetched(&directory).then_some(directory)
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

/// The package's name of an architecture, as Node.js calls those.
fn package_name(architecture: &str) -> Option<String> {
    let name = match architecture {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return None,
    };
    Some(format!("{PACKAGE}{name}@{VERSION}"))
}

fn package(name: &str) -> Package<'_> {
    Package { name, file: LIBRARY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_called_as_node_calls_architectures() {
        assert_eq!(package_name("x86_64").unwrap(), format!("@duckdb/node-bindings-linux-x64@{VERSION}"));
        assert!(package_name("aarch64").unwrap().contains("-arm64@"));
        assert_eq!(package_name("riscv64"), None);
    }
}
