//! What a caller may choose about a throwaway server.

use std::path::{Path, PathBuf};

use crate::Limits;

/// How a server is started: its own settings, and where its directory is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    settings: Vec<(String, String)>,
    parent_directory: Option<PathBuf>,
    limits: Limits,
}

impl Options {
    /// Adds a setting of the server: `-c name=value` for PostgreSQL, `--name=value` for MariaDB. A later one wins.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Makes the server's directory in this one instead of the system's directory for temporary files. Every user must
    /// be able to pass through it, and its path must be short (under 70 bytes): the server's socket has a limit of 107.
    #[must_use]
    pub fn parent_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.parent_directory = Some(directory.into());
        self
    }

    /// Limits what the server may use. What is prepared before it starts (its empty database) is not limited.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) fn limited(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn parent(&self) -> PathBuf {
        self.parent_directory.as_deref().map_or_else(std::env::temp_dir, Path::to_owned)
    }
}
