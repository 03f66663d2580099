//! `prony history`: one configuration over many results directories.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use record::StudyRecord;
use report::{History, HistoryOutcome};
use results::export;

use crate::arguments::{self, Among, HistoryForm};
use crate::exit::{Exit, Failure};
use crate::terminal;

/// Stands for stdout.
const STDOUT: &str = "-";

pub(crate) fn run(arguments: &arguments::History) -> Result<Exit, Failure> {
    let file = file(arguments)?;
    if let Some(file) = file {
        // Known before anything is read.
        export::check(file)?;
    }
    let mut directories = arguments.among.find_all(&arguments.directories)?;
    let wanted = arguments.baseline.as_ref();
    let baseline = wanted.map(|wanted| baseline(&mut directories, wanted, &arguments.among)).transpose()?;
    let mut studies: Vec<(String, StudyRecord)> = Vec::new();
    for directory in &directories {
        let study = results::read(directory).map_err(Failure::usage)?;
        study.damage.iter().for_each(|sentence| tell!("{}: {sentence}", directory.display()));
        studies.push((directory.display().to_string(), study));
    }
    let named: Vec<(String, &StudyRecord)> =
        studies.iter().map(|(name, study)| (name.clone(), study)).collect();
    let history = History::of(&named, baseline.as_deref(), arguments.smallest).map_err(Failure::usage)?;
    show(&arguments.form, file, &history)?;
    Ok(match history.outcome() {
        HistoryOutcome::Passed => Exit::Pass,
        HistoryOutcome::Regressed => Exit::NotHeld,
        HistoryOutcome::Inconclusive => Exit::Inconclusive,
    })
}

/// The file that is written, by either of its options; none of what is printed.
fn file(arguments: &arguments::History) -> Result<Option<&Path>, Failure> {
    let page = arguments.form.html.as_deref().filter(|file| *file != Path::new(STDOUT));
    match (page, arguments.output.as_deref()) {
        (Some(page), Some(output)) => Err(Failure::usage(anyhow!(
            "--html {} and --output {} both name a file. Use only one of them",
            page.display(),
            output.display()
        ))),
        (page, output) => Ok(page.or(output)),
    }
}

fn show(form: &HistoryForm, file: Option<&Path>, history: &History) -> Result<(), Failure> {
    let text = || match form {
        _ if form.html.is_some() => Some(history.html()),
        _ if form.json => Some(history.json()),
        _ if form.csv => Some(history.csv()),
        _ => None,
    };
    match (file, text()) {
        (Some(file), text) => {
            let text = text.unwrap_or_else(|| history.text(None).to_string());
            export::create(file, text.as_bytes())?;
            let runs = history.runs.len();
            tell!("{}: {runs} {}", file.display(), if runs == 1 { "run" } else { "runs" });
            // What is in a file is not seen: the verdicts are told all the same.
            terminal::print(&history.verdicts(terminal::width()))?;
        }
        (None, Some(text)) if form.json => terminal::print_json(&text)?,
        (None, Some(text)) => terminal::print_file(text.as_bytes())?,
        (None, None) => terminal::print(&history.text(terminal::width()))?,
    }
    Ok(())
}

/// The baseline as it is called among the directories: one of them, by its path or by its own name, or a further one that is
/// read too, by its path or what the run is called.
fn baseline(directories: &mut Vec<PathBuf>, wanted: &Path, among: &Among) -> Result<String, Failure> {
    let is = |directory: &&PathBuf| {
        directory.as_path() == wanted || directory.file_name().is_some_and(|name| name == wanted.as_os_str())
    };
    let named: Vec<&PathBuf> = directories.iter().filter(is).collect();
    match named.as_slice() {
        [only] => Ok(only.display().to_string()),
        [] => {
            let found = among.find(wanted)?;
            if !directories.contains(&found) {
                directories.push(found.clone());
            }
            Ok(found.display().to_string())
        }
        [first, second, ..] => Err(Failure::usage(anyhow!(
            "{} is ambiguous: it can mean {} or {}. Give the path of one",
            wanted.display(),
            first.display(),
            second.display()
        ))),
    }
}
