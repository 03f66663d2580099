//! `prony inspect`: settings of this machine and of servers that endanger data or cost performance. Changes nothing.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use database::Url;
use report::Inspection;

use crate::arguments::Inspect;
use crate::exit::{Exit, Failure};
use crate::{interrupt, terminal};

pub(crate) fn run(inspect: &Inspect) -> Result<Exit, Failure> {
    let (targets, paths) = checked(inspect)?;
    let root = inspect.root.as_deref().unwrap_or(Path::new("/"));
    let stop = interrupt::flag_on_signal()?;
    let environment = runner::inspect(root, &paths, &targets, env!("CARGO_PKG_VERSION"), &stop)?;
    let inspection = Inspection::of(&environment)
        .ok_or_else(|| Failure::runtime(anyhow!("cannot read anything about this machine")))?;
    if inspect.json {
        terminal::print_json(&inspection.json(&environment))?;
    } else {
        terminal::print(&inspection.text(terminal::width()))?;
    }
    Ok(exit(&inspection, inspect))
}

/// What it comes to: what was found decides, and where nothing that grave was, whether all was told that there is to judge.
fn exit(inspection: &Inspection, inspect: &Inspect) -> Exit {
    match inspection.worst() {
        Some(worst) if worst <= inspect.fail_on => Exit::NotHeld,
        _ if !inspection.unread.is_empty() => Exit::Inconclusive,
        _ => Exit::Pass,
    }
}

/// Addresses and paths, once all mistakes in them are told. Without any it is the directory that one is in.
fn checked(inspect: &Inspect) -> Result<(Vec<Url>, Vec<PathBuf>), Failure> {
    let mut mistakes = Vec::new();
    let mut targets = Vec::new();
    for (number, text) in inspect.target.iter().enumerate() {
        match text.parse::<Url>() {
            Ok(url) => targets.push(url),
            Err(error) if inspect.target.len() == 1 => mistakes.push(format!("--target: {error}")),
            Err(error) => mistakes.push(format!("--target, number {}: {error}", number + 1)),
        }
    }
    let given = inspect.paths.iter().chain(&inspect.root);
    for path in given {
        if let Err(error) = path.symlink_metadata() {
            let path = path.display();
            mistakes
                .push(format!("cannot inspect {path}: {error}. Give a directory, a file or a block device"));
        }
    }
    if let Some(root) = inspect.root.iter().find(|root| root.exists() && !root.join("proc").exists()) {
        let root = root.display();
        mistakes.push(format!(
            "invalid value {root} for --root: {root}/proc does not exist. Give the \
             directory that contains proc, sys and etc of the machine"
        ));
    }
    if !mistakes.is_empty() {
        return Err(Failure::mistakes(mistakes));
    }
    let is_bare = targets.is_empty() && inspect.paths.is_empty();
    let paths = if is_bare { vec![PathBuf::from(".")] } else { inspect.paths.clone() };
    Ok((targets, paths))
}
