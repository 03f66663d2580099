//! Checks on the tree that neither the compiler nor clippy makes.
//!
//! Each check takes data and returns findings; only this file reads the disk. A check has no switch to turn
//! it off: a rule that does not hold any more is changed here, in the open.

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::ci::Outcome;
use crate::workspace::Workspace;
use source::Source;

mod circles;
mod dependencies;
mod documentation;
mod fences;
mod flags;
mod forbidden_text;
mod functions;
mod names;
mod source;
mod test_code;
mod words;
mod workload_names;

/// Where the tolerated long functions are listed, relative to the root.
const LONG_FUNCTIONS: &str = "crates/xtask/long-functions.txt";
/// Where the libraries are listed that still spell flags of the program, relative to the root.
const FLAGS: &str = "crates/xtask/flags-of-libraries.txt";

/// The list of large import circles, relative to the root.
const CIRCLES: &str = "crates/xtask/circles.txt";

/// Where it is listed how many lines of shared files name a workload, relative to the root.
const WORKLOAD_NAMES: &str = "crates/xtask/workload-names.txt";

/// Where it is listed how many faults of style the texts of each place have, relative to the root.
const WORDS_COUNTED: &str = "crates/xtask/words-counted.txt";

/// Runs all checks and prints what they find.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    let root = workspace.root();
    let (sources, mut findings) = source::read_all(root)?;
    let list =
        |path: &str| std::fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"));

    findings.extend(dependencies::check(&dependencies::crates(&workspace.metadata)));
    findings.extend(documentation::check(&sources));
    findings.extend(circles::check(&sources, CIRCLES, &list(CIRCLES)?));
    findings.extend(functions::check(&sources, &list(LONG_FUNCTIONS)?));
    findings.extend(fences::check(&sources));
    findings.extend(flags::check(&sources, &list(FLAGS)?));
    findings.extend(names::check(&sources));
    findings.extend(test_code::check(&sources));
    findings.extend(workload_names::check(&sources, &list(WORKLOAD_NAMES)?));
    let faults = words::faults(&words::Rules::read()?, &sources, &markdown(root)?);
    findings.extend(words::check(&faults, &list(WORDS_COUNTED)?));
    findings.extend(check_texts(root)?);

    conclude(&sources, findings)
}

/// Prints each fault of style of the places that begin with a text.
pub(crate) fn print_words(workspace: &Workspace, place: &str) -> Result<()> {
    let (sources, _) = source::read_all(workspace.root())?;
    let faults = words::faults(&words::Rules::read()?, &sources, &markdown(workspace.root())?);
    words::print(&faults, place);
    Ok(())
}

/// Prints the import circles of a crate, or of all crates; of one file, its arrows.
pub(crate) fn print_circles(workspace: &Workspace, name: &str, file: Option<&str>) -> Result<()> {
    let (sources, _) = source::read_all(workspace.root())?;
    match file {
        Some(file) => circles::print_arrows(&sources, file),
        None => circles::print(&sources, name),
    }
    Ok(())
}

/// All pages of documentation, with their paths from the root.
fn markdown(root: &Path) -> Result<Vec<(String, String)>> {
    let mut pages = Vec::new();
    for directory in ["", "docs/", "studies/"] {
        let listing =
            std::fs::read_dir(root.join(directory)).with_context(|| format!("cannot list {directory}"))?;
        for entry in listing {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                let path = format!("{directory}{name}");
                let text = std::fs::read_to_string(root.join(&path))
                    .with_context(|| format!("cannot read {path}"))?;
                pages.push((path, text));
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// Something that breaks a rule, with its remedy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// File, relative to the root.
    path: String,
    /// Line from 1; 0 stands for the file as a whole.
    line: usize,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(formatter, "{}: {}", self.path, self.message),
            line => write!(formatter, "{}:{line}: {}", self.path, self.message),
        }
    }
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

fn conclude(sources: &[Source], mut findings: Vec<Finding>) -> Result<Outcome> {
    findings.sort();
    findings.iter().for_each(|finding| println!("{finding}"));
    if !findings.is_empty() {
        bail!("{} findings", findings.len());
    }
    println!("{} source files, no findings", sources.len());
    Ok(Outcome::Passed)
}

/// Looks through the files that git tracks or would take with `git add`; others are nobody's text.
fn check_texts(root: &Path) -> Result<Vec<Finding>> {
    let listing = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output();
    let listing = match listing {
        Ok(listing) if listing.status.success() => listing.stdout,
        _ => {
            println!("forbidden text: not checked, this is not a git checkout or git is not installed");
            return Ok(Vec::new());
        }
    };
    let mut findings = Vec::new();
    for path in String::from_utf8_lossy(&listing).split_terminator('\0') {
        // A deleted file is still listed, and an image is no text.
        if let Ok(text) = std::fs::read_to_string(root.join(path)) {
            findings.extend(forbidden_text::check(path, &text));
        }
    }
    Ok(findings)
}
