//! What is wrong with a study: every mistake names its place, the value and the remedy.

use std::fmt;

/// A mistake in a study.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct StudyError {
    /// Where: a key, or the name of a configuration.
    pub place: String,
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

pub(crate) fn one_error(place: &str, problem: impl Into<String>) -> StudyErrors {
    StudyErrors(vec![StudyError { place: place.to_owned(), problem: problem.into() }])
}
