//! `prony export`: the long table of results directories, or that of their seconds, for other tools.
//!
//! A study is called by its directory's name, and by as much of the path before it as tells it from the others.

use std::io::IsTerminal as _;
use std::path::{Component, Path, PathBuf};

use anyhow::anyhow;
use report::Report;
use results::export::{self, ExportError, Table};

use crate::arguments::{self, ExportForm};
use crate::exit::{Exit, Failure};
use crate::terminal;

pub(crate) fn run(arguments: &arguments::Export) -> Result<Exit, Failure> {
    let arguments::Export { directories, among, form, series, output } = arguments;
    match output {
        // Known before anything is read.
        Some(file) => export::check(file)?,
        None if form.parquet && std::io::stdout().is_terminal() => {
            return Err(Failure::usage(anyhow!(
                "Parquet is a binary format and is not printed to a terminal. Give a file with --output, \
                 or redirect stdout to one"
            )));
        }
        None => {}
    }
    let directories = &among.find_all(directories)?;
    let written = if *series {
        let all = all_of(directories, Report::series)?;
        written(&Table::of_seconds(&all), *form)?
    } else {
        let all = all_of(directories, Report::observations)?;
        written(&Table::of_metrics(&all), *form)?
    };
    let Some(file) = output else {
        terminal::print_file(&written.bytes)?;
        return Ok(Exit::Pass);
    };
    export::create(file, &written.bytes)?;
    tell!("{}: {}", file.display(), counted(written.rows, "row"));
    Ok(Exit::Pass)
}

/// A table in its form.
struct Written {
    bytes: Vec<u8>,
    rows: usize,
}

fn written(table: &Table<'_>, form: ExportForm) -> Result<Written, ExportError> {
    let bytes = if form.csv { table.csv().into_bytes() } else { table.parquet()? };
    Ok(Written { bytes, rows: table.rows() })
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        if error.is_usage() { Self::usage(error) } else { Self::runtime(error) }
    }
}

/// What the table is made of, of all studies in the order in which they were given.
fn all_of<T>(directories: &[PathBuf], of: fn(&Report, &str) -> Vec<T>) -> Result<Vec<T>, Failure> {
    let names = names(directories)?;
    let mut all = Vec::new();
    let mut empty = 0;
    for (directory, name) in directories.iter().zip(names) {
        let study = results::read(directory).map_err(Failure::usage)?;
        study.damage.iter().for_each(|sentence| tell!("{}: {sentence}", directory.display()));
        let of_study = of(&Report::of(&study), &name);
        if of_study.is_empty() {
            tell!("{}: no trial was measured, so it has no rows", directory.display());
            empty += 1;
        }
        all.extend(of_study);
    }
    if empty == directories.len() {
        return Err(Failure::usage(anyhow!(
            "nothing to export. Give a results directory with at least one measured trial"
        )));
    }
    Ok(all)
}

/// `1 row`, `2 rows`.
fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// What each study is called.
fn names(directories: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let paths: Vec<Vec<String>> = directories.iter().map(|directory| components(directory)).collect();
    for (number, path) in paths.iter().enumerate() {
        if paths[..number].contains(path) {
            return Err(Failure::usage(anyhow!(
                "{} is given twice, so its rows would count twice. Give it once",
                directories[number].display()
            )));
        }
    }
    Ok(distinct_names(&paths))
}

/// The parts of the path that a directory is found by, whatever way it was given. One that is not there has the given ones;
/// reading it will say so.
fn components(directory: &Path) -> Vec<String> {
    let path = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let part = |component: Component<'_>| component.as_os_str().to_string_lossy().into_owned();
    path.components().filter(|component| *component != Component::RootDir).map(part).collect()
}

/// The last part of each path, and as many before it as no other path ends with.
fn distinct_names(paths: &[Vec<String>]) -> Vec<String> {
    let name = |path: &Vec<String>| {
        let end = |depth: usize| &path[path.len().saturating_sub(depth)..];
        let is_taken =
            |depth: &usize| paths.iter().any(|other| other != path && other.ends_with(end(*depth)));
        let depth = (1..path.len()).find(|depth| !is_taken(depth)).unwrap_or(path.len());
        end(depth).join("/")
    };
    paths.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn studies_of_one_name_are_told_apart_by_what_is_before_it() {
        let named = |paths: &[&str]| {
            let paths: Vec<Vec<String>> =
                paths.iter().map(|path| path.split('/').map(str::to_owned).collect()).collect();
            distinct_names(&paths)
        };
        assert_eq!(named(&["work/old/disk"]), ["disk"]);
        assert_eq!(named(&["work/old/disk", "work/new/check"]), ["disk", "check"]);
        assert_eq!(named(&["work/old/disk", "work/new/disk"]), ["old/disk", "new/disk"]);
        assert_eq!(
            named(&["a/x/disk", "b/x/disk", "b/y/disk", "check"]),
            ["a/x/disk", "b/x/disk", "y/disk", "check"]
        );
        assert_eq!(named(&["x/disk", "a/x/disk"]), ["x/disk", "a/x/disk"], "a path that is all used up");
    }

    #[test]
    fn a_directory_is_the_same_whatever_way_it_is_given() {
        let directory = tempfile::tempdir().unwrap();
        let (path, again) = (directory.path().to_owned(), directory.path().join("."));
        assert_eq!(components(&path), components(&again));
        let message = names(&[path, again]).unwrap_err().message();
        assert!(message.contains("is given twice"), "{message}");
    }
}
