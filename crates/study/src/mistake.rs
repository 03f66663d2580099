//! What is wrong with a study: every mistake names its place, the value and the remedy.

use std::fmt;

/// Where in a study a mistake is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// At a key, dotted, such as `target.database`.
    Key(String),
    /// In an axis, by its key.
    Axis(String),
    /// In a configuration, by its name.
    Configuration(String),
    /// In a parameter of a workload, wherever it was given.
    Parameter {
        /// Name of the workload.
        workload: &'static str,
        /// Name of the parameter.
        name: String,
    },
}

impl From<String> for Place {
    fn from(key: String) -> Self {
        Self::Key(key)
    }
}

impl From<&str> for Place {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

/// As a study file has it.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) | Self::Axis(key) => f.write_str(key),
            Self::Configuration(name) => write!(f, "configuration {name}"),
            Self::Parameter { workload, name } => write!(f, "workload.{workload}.{name}"),
        }
    }
}

/// A mistake in a study.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct StudyError {
    /// Where.
    pub place: Place,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// All mistakes of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyErrors(pub Vec<StudyError>);

impl std::error::Error for StudyErrors {}

impl fmt::Display for StudyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if position == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

/// What is wrong with a TOML document, with the line. The error's own text quotes the document, with all that is in it.
#[must_use]
pub fn toml_problem(document: &str, error: &toml::de::Error) -> String {
    let begin = error.span().map_or(0, |span| span.start).min(document.len());
    let line = 1 + document.as_bytes()[..begin].iter().filter(|&&byte| byte == b'\n').count();
    format!("line {line}: {}", error.message())
}

pub(crate) fn mistake(place: impl Into<Place>, problem: impl Into<String>) -> StudyError {
    StudyError { place: place.into(), problem: problem.into() }
}

/// A mistake in a parameter of a workload.
pub(crate) fn in_parameter(workload: &'static str, name: &str, problem: impl Into<String>) -> StudyError {
    mistake(Place::Parameter { workload, name: name.to_owned() }, problem)
}

pub(crate) fn one_error(place: impl Into<Place>, problem: impl Into<String>) -> StudyErrors {
    StudyErrors(vec![mistake(place, problem)])
}
