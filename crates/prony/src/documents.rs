//! Documents in addition to printed output: Markdown for pull requests, JUnit XML for CI, one sheet for decision makers, and the page
//! of a comparison. Targets are checked before prony measures or reads anything. No file is overwritten.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use report::{Compare, Report};
use results::export;

use crate::arguments::AskedDocuments;
use crate::exit::Failure;
use crate::terminal;

/// Stands for stdout.
const STDOUT: &str = "-";

/// Documents that are to be written.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    asked: Vec<(Form, Place)>,
}

/// What is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Markdown,
    Junit,
    /// The page of a comparison; a run has its own in its results directory.
    Page,
    /// One A4 sheet of a run.
    Sheet,
}

impl Form {
    fn option(self) -> &'static str {
        match self {
            Self::Markdown => "--markdown",
            Self::Junit => "--junit",
            Self::Page => "--html",
            Self::Sheet => "--summary",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Markdown => "Markdown",
            Self::Junit => "JUnit XML",
            Self::Page => "page",
            Self::Sheet => "A4 page",
        }
    }
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
    pub(crate) fn of(
        asked: &AskedDocuments,
        page: Option<(Form, &Path)>,
        prints: Option<&str>,
    ) -> Result<Self, Failure> {
        let markdown = asked.markdown.as_deref().map(|file| (Form::Markdown, file));
        let junit = asked.junit.as_deref().map(|file| (Form::Junit, file));
        let mut documents = Self::default();
        for (form, file) in markdown.into_iter().chain(junit).chain(page) {
            let (option, place) = (form.option(), place(file)?);
            if let Some((other, _)) = documents.asked.iter().find(|(_, other)| *other == place) {
                let other = other.option();
                return Err(Failure::usage(anyhow!(
                    "{other} and {option} name the same file. Give each its own file"
                )));
            }
            if let (Place::Stdout, Some(prints)) = (&place, prints) {
                return Err(Failure::usage(anyhow!(
                    "{option} - and {prints} both print to stdout. Give a file for one of them"
                )));
            }
            documents.asked.push((form, place));
        }
        Ok(documents)
    }

    /// Whether one of them is printed in place of the text.
    pub(crate) fn is_printed(&self) -> bool {
        self.asked.iter().any(|(_, place)| *place == Place::Stdout)
    }

    /// Writes those of a run.
    pub(crate) fn of_run(&self, report: &Report) -> Result<(), Failure> {
        self.write(|form| match form {
            Form::Markdown => report.markdown(),
            Form::Junit => report.junit(),
            Form::Page => report.html(),
            Form::Sheet => report.sheet(),
        })
    }

    /// Writes those of a comparison.
    pub(crate) fn of_comparison(&self, compared: &Compare) -> Result<(), Failure> {
        self.write(|form| match form {
            Form::Markdown => compared.markdown(),
            Form::Junit => compared.junit(),
            Form::Page | Form::Sheet => compared.html(),
        })
    }

    /// Writes each of them, also where another one cannot be.
    fn write(&self, text: impl Fn(Form) -> String) -> Result<(), Failure> {
        let mut all = Ok(());
        for (form, place) in &self.asked {
            let written = place.write(form.name(), &text(*form));
            all = match all {
                Ok(()) => written,
                Err(failure) => Err(failure.and(written)),
            };
        }
        all
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
