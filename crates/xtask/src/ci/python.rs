//! A Python with DuckDB, pandas and PyArrow in a virtual environment below the target directory: with these the tests read
//! back what `prony export` writes, as its users do.
//!
//! The versions are pinned. What is there already is used again as long as it works and the pins are the same.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::Outcome;
use super::packages::Need::{Program, PythonModule};
use super::packages::{Package, require};
use crate::workspace::{Workspace, run};

/// Of Debian's Python, ensurepip and with it `venv` are a package of their own.
const PACKAGES: [Package; 1] = [Package {
    name: "python3-venv",
    needs: &[Program("python3"), PythonModule("ensurepip")],
    why: "tests read an export back with DuckDB and pandas, in a virtual environment",
}];

/// Directory of the environment below the target directory; the tests look for it there.
const ENVIRONMENT: &str = "python";

/// The pinned versions, relative to the root.
const REQUIREMENTS: &str = "crates/prony/tests/python/requirements.txt";

/// Copy of the pins in the environment. It is made last, so that an installation that was interrupted is not taken for whole.
const INSTALLED: &str = "installed-requirements.txt";

/// Makes the environment, unless it is there.
pub(super) fn make(workspace: &Workspace) -> Result<Outcome> {
    let directory = workspace.target_directory().join(ENVIRONMENT);
    let requirements = workspace.root().join(REQUIREMENTS);
    let pins = fs::read_to_string(&requirements).with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    if is_made(&directory, &pins) {
        return Ok(Outcome::Passed);
    }
    require(&PACKAGES)?;
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&directory))?;
    let mut install = python(&directory);
    install.args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet"]);
    // Compiling any of them would take an hour and a compiler for C++.
    install.args(["--only-binary", ":all:", "--requirement"]).arg(&requirements);
    run(&mut install)
        .context("cannot install the pinned packages; they need Python 3.11 or newer and PyPI")?;
    run(&mut imports(&directory))?;
    fs::write(directory.join(INSTALLED), pins)?;
    Ok(Outcome::Passed)
}

/// An environment stops working when the Python of the system is replaced by a newer one.
fn is_made(directory: &Path, pins: &str) -> bool {
    let installed = fs::read_to_string(directory.join(INSTALLED)).unwrap_or_default();
    installed == pins && imports(directory).output().is_ok_and(|output| output.status.success())
}

fn imports(directory: &Path) -> Command {
    let mut command = python(directory);
    command.args(["-c", "import duckdb, jsonschema, pandas, pyarrow.parquet"]);
    command
}

fn python(directory: &Path) -> Command {
    Command::new(directory.join("bin/python"))
}
