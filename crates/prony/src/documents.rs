//! What is written beside what is printed: Markdown for a comment on a change, and JUnit XML for continuous integration. Where they
//! go is looked at before anything is measured or read, and nothing is overwritten.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use report::{Compare, Report};
use results::export;

use crate::arguments::AskedDocuments;
use crate::exit::Failure;
use crate::spelling::spelled;
use crate::terminal;

/// Stands for stdout.
const STDOUT: &str = "-";

/// Documents that are to be written.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    markdown: Option<Place>,
    junit: Option<Place>,
}

/// Where a document goes.
#[derive(Debug, PartialEq)]
enum Place {
    Stdout,
    /// The path in full, since a study that is taken up again is run where it was begun.
    File(PathBuf),
}

impl Documents {
    /// What is asked for, where it can be written; `prints` is the option by which something else is printed.
    pub(crate) fn of(asked: &AskedDocuments, prints: Option<&str>) -> Result<Self, Failure> {
        let [markdown, junit] =
            [&asked.markdown, &asked.junit].map(|file| file.as_deref().map(place).transpose());
        let documents = Self { markdown: markdown?, junit: junit? };
        let stdout = Some(&Place::Stdout);
        let both = documents.markdown.is_some() && documents.markdown == documents.junit;
        let refused = match (documents.markdown.as_ref(), documents.junit.as_ref(), prints) {
            _ if both => "--markdown and --junit name the same: give each a file of its own".to_owned(),
            (printed, _, Some(prints)) if printed == stdout => {
                format!("--markdown - and {prints} both print to stdout: name a file for one of them")
            }
            (_, printed, Some(prints)) if printed == stdout => {
                format!("--junit - and {prints} both print to stdout: name a file for one of them")
            }
            _ => return Ok(documents),
        };
        Err(Failure::usage(anyhow!(refused)))
    }

    /// Whether one of them is printed in place of the text.
    pub(crate) fn is_printed(&self) -> bool {
        [&self.markdown, &self.junit].iter().any(|place| **place == Some(Place::Stdout))
    }

    /// Writes those of a run.
    pub(crate) fn of_run(&self, report: &Report) -> Result<(), Failure> {
        self.write(|| report.markdown(|text| spelled(text).into_owned()), || report.junit())
    }

    /// Writes those of a comparison.
    pub(crate) fn of_comparison(&self, compared: &Compare) -> Result<(), Failure> {
        self.write(|| compared.markdown(), || compared.junit())
    }

    /// Writes each of them, also where another one cannot be.
    fn write(
        &self,
        markdown: impl FnOnce() -> String,
        junit: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        let written = self.markdown.as_ref().map_or(Ok(()), |place| place.write("Markdown", &markdown()));
        let junit = self.junit.as_ref().map_or(Ok(()), |place| place.write("JUnit XML", &junit()));
        match written {
            Ok(()) => junit,
            Err(failure) => Err(failure.and(junit)),
        }
    }
}

impl Place {
    fn write(&self, what: &str, text: &str) -> Result<(), Failure> {
        match self {
            Self::Stdout => terminal::print_file(text.as_bytes()),
            Self::File(path) => {
                export::create(path, text.as_bytes())?;
                announce!("{what}: {}", path.display());
                Ok(())
            }
        }
    }
}

fn place(file: &Path) -> Result<Place, Failure> {
    if file.as_os_str() == STDOUT {
        return Ok(Place::Stdout);
    }
    export::check(file)?;
    let path = std::path::absolute(file).map_err(Failure::runtime)?;
    // One file may be reached by several paths.
    let directory = path.parent().and_then(|directory| directory.canonicalize().ok());
    let path = directory.zip(path.file_name()).map_or(path.clone(), |(directory, name)| directory.join(name));
    Ok(Place::File(path))
}
