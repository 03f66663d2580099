//! What a caller may choose about a server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Limits;

/// How a server is started: its own settings, where its directories are made, and what it may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    settings: Vec<(String, String)>,
    parent_directory: Option<PathBuf>,
    log_parent: Option<PathBuf>,
    tablespaces: BTreeMap<String, PathBuf>,
    limits: Limits,
    has_clock: bool,
    loses_power: bool,
    registered: Option<Registered>,
}

/// How a server is known to the other programs of prony on this machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Registered {
    pub(crate) name: String,
    /// Whether it does not end with this program.
    pub(crate) lives_on: bool,
}

impl Options {
    /// Adds a setting of the server: `-c name=value` for PostgreSQL, `--name=value` for MariaDB and MySQL. A later one wins.
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

    /// Makes the directory of the server's log (write-ahead log, redo log, binary log) in this one instead of among its data.
    #[must_use]
    pub fn log_parent(mut self, directory: impl Into<PathBuf>) -> Self {
        self.log_parent = Some(directory.into());
        self
    }

    /// Makes a tablespace of that name whose directory is made in this one. Only PostgreSQL has such.
    #[must_use]
    pub fn tablespace(mut self, name: impl Into<String>, directory: impl Into<PathBuf>) -> Self {
        self.tablespaces.insert(name.into(), directory.into());
        self
    }

    /// Stores what there is of the server under a name, so that [`crate::Known`] finds it also after this program was killed. One that
    /// lives on is left running with everything it has when its handle is dropped.
    #[must_use]
    pub fn registered(mut self, name: impl Into<String>, lives_on: bool) -> Self {
        self.registered = Some(Registered { name: name.into(), lives_on });
        self
    }

    pub(crate) fn register(&self) -> Option<&Registered> {
        self.registered.as_ref()
    }

    /// Limits what the server may use. What is prepared before it starts (its empty database) is not limited.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Gives it a clock of its own that can jump ([`crate::Instance::set_clock`]).
    #[must_use]
    pub fn with_clock(mut self, has_clock: bool) -> Self {
        self.has_clock = has_clock;
        self
    }

    pub(crate) fn has_clock(&self) -> bool {
        self.has_clock
    }

    /// Says that its power is to be cut ([`crate::Instance::cut_power`]), so that it is looked early whether that can be.
    #[must_use]
    pub fn losing_power(mut self, loses_power: bool) -> Self {
        self.loses_power = loses_power;
        self
    }

    pub(crate) fn loses_power(&self) -> bool {
        self.loses_power
    }

    pub(crate) fn limited(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The same with other settings in the place of each.
    pub(crate) fn with_settings(&self, other: impl Fn(&str, &str) -> (String, String)) -> Self {
        let settings = self.settings.iter().map(|(name, value)| other(name, value)).collect();
        Self { settings, ..self.clone() }
    }

    pub(crate) fn log_place(&self) -> Option<&Path> {
        self.log_parent.as_deref()
    }

    pub(crate) fn tablespaces(&self) -> &BTreeMap<String, PathBuf> {
        &self.tablespaces
    }

    /// The same place with the settings and limits of another one.
    pub(crate) fn configured_as(&self, other: &Self) -> Self {
        Self {
            settings: other.settings.clone(),
            limits: other.limits.clone(),
            has_clock: other.has_clock,
            loses_power: other.loses_power,
            ..self.clone()
        }
    }

    pub(crate) fn parent(&self) -> PathBuf {
        self.parent_directory.as_deref().map_or_else(std::env::temp_dir, Path::to_owned)
    }
}
