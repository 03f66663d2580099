//! `cargo xtask bench diagnosis`: bottlenecks are made one at a time, and what prony names is set against what was made.
//!
//! It reads prony's JSON. The table of what was named for what is printed as docs/diagnosis.md has it. A machine on which other
//! programs work has other bottlenecks than those that are made here.

mod cases;
mod made;
mod matrix;

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use self::cases::{CASES, Case};
use self::matrix::Matrix;
use super::DiagnosisOptions;
use crate::workspace::Workspace;

pub(super) use cases::Engine;

/// Tells whether each case was named right often enough, and no wrong cause confirmed.
pub(super) fn run(options: &DiagnosisOptions, workspace: &Workspace) -> Result<bool> {
    let is_wanted = |case: &&Case| {
        case.name.contains(&options.only) && options.engine.is_none_or(|engine| engine == case.engine)
    };
    let wanted: Vec<&Case> = CASES.iter().filter(is_wanted).collect();
    let names: std::collections::BTreeSet<&str> = CASES.iter().map(|case| case.name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    ensure!(
        !wanted.is_empty(),
        "no case's name contains `{}`; there are: {}",
        options.only,
        names.join(", ")
    );
    let prony = match &options.program {
        Some(path) => std::path::absolute(path)?,
        None => workspace.build_prony()?,
    };
    ensure!(prony.is_file(), "--program: there is no {}; name a prony that was built", prony.display());
    let parent = options.directory.clone().unwrap_or_else(|| workspace.target_directory().to_owned());
    if let Some(keep) = &options.keep {
        fs::create_dir_all(keep)?;
    }
    let mut matrix = Matrix::default();
    for run in 1..=options.runs {
        for case in &wanted {
            let found = made::run(case, &prony, &parent);
            let engine = case.engine.name();
            match &found {
                Ok(said) => {
                    let sign = if case.right.contains(&said.cause.as_str()) { "right" } else { "WRONG" };
                    println!(
                        "{run:>3} {} on {engine}: {sign}, {} {} ({})",
                        case.name, said.strength, said.cause, said.words
                    );
                    keep(options.keep.as_ref(), case, run, &said.looked_at)?;
                }
                Err(error) => println!("{run:>3} {} on {engine}: NOT RUN, {error:#}", case.name),
            }
            matrix.add(case, found.ok());
        }
    }
    println!("\n{}", matrix.table(&wanted));
    Ok(matrix.is_good())
}

/// Stores what was looked at, as the tests of the rules have it.
fn keep(directory: Option<&PathBuf>, case: &Case, run: u32, looked_at: &serde_json::Value) -> Result<()> {
    let Some(directory) = directory else { return Ok(()) };
    let name = format!("{}-{}-{run}.json", case.name.replace(' ', "-"), case.engine.name().to_lowercase());
    fs::write(directory.join(name), serde_json::to_string_pretty(looked_at)? + "\n")?;
    Ok(())
}
