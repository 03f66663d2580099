//! The study file: everything that is to be measured, in one document.

use std::fmt;
use std::path::PathBuf;

use disk::Settings;
use load::Span;
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::settings;

/// A study. As a file it is TOML; see the crate's profiles for examples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Title, for people.
    pub title: String,
    /// Short name, for the results directory.
    pub slug: String,
    /// Profile it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Times that every configuration is measured.
    #[serde(default = "one")]
    pub blocks: u32,
    /// Order of the trials.
    #[serde(default)]
    pub order: Order,
    /// Rest before each trial but the first, for caches and queues to settle.
    #[serde(default = "no_time")]
    pub pause: Span,
    /// Mean latency past which a series goes no deeper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_tolerance: Option<Span>,
    /// The array that the device is said to be, such as `100 x sas10k raid10`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// Blocks are rounds that end when this is steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steady>,
    /// Target.
    pub target: Target,
    /// What all configurations share.
    #[serde(default)]
    pub workload: Workload,
    /// Named configurations; none means one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configuration: Vec<Configuration>,
    /// What is varied within each configuration, the first slowest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axis: Vec<Axis>,
}

fn one() -> u32 {
    1
}

fn no_time() -> Span {
    Span::ZERO
}

/// Order of the trials of a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// All repeats of a configuration after each other, as given.
    #[default]
    Given,
    /// One pass over all configurations, then the next.
    Passes,
}

/// Rounds until one configuration is steady (SNIA Performance Test Specification).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steady {
    /// Levels of the axes that name the tracked trial of each round.
    pub tracked: std::collections::BTreeMap<String, Value>,
}

/// What is loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Directories, files or devices.
    pub paths: Vec<PathBuf>,
}

/// Parameters, by workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Disk.
    #[serde(default)]
    pub disk: Settings,
}

/// A named set of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Name, such as `RND4K Q32T1 read`.
    pub name: String,
    /// What it sets beyond what all share.
    pub workload: Workload,
    /// Levels that replace those of an axis for this configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axis: Vec<Axis>,
}

/// A parameter and its levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Key, such as `workload.disk.outstanding`.
    pub key: String,
    /// Values, in the order in which they are measured.
    pub levels: Vec<Value>,
}

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

/// Prefix of the keys of disk parameters.
const DISK_KEY: &str = "workload.disk.";

impl Axis {
    /// An axis over a disk parameter.
    pub(crate) fn disk(key: &str, levels: impl IntoIterator<Item = Value>) -> Self {
        Self { key: format!("{DISK_KEY}{key}"), levels: levels.into_iter().collect() }
    }

    /// Name of the disk parameter that it varies, if it is one.
    pub(crate) fn parameter(&self) -> Option<&str> {
        self.key.strip_prefix(DISK_KEY)
    }
}

impl Study {
    /// Lays what a user gave over the study: a value for an axis narrows it to this level, any other replaces what all
    /// configurations share.
    ///
    /// # Errors
    /// When a configuration sets the same parameter to another value: its name would lie.
    pub fn narrow(&mut self, given: &Settings) -> Result<(), StudyErrors> {
        let mut errors = Vec::new();
        let mut rest = given.clone();
        let configured = self.configuration.iter_mut().flat_map(|configuration| &mut configuration.axis);
        for axis in self.axis.iter_mut().chain(configured) {
            let Some(parameter) = axis.parameter().map(str::to_owned) else { continue };
            if let Some(level) = settings::value(given, &parameter) {
                if let Some(tracked) =
                    self.steady.as_mut().and_then(|steady| steady.tracked.get_mut(&parameter))
                {
                    *tracked = level.clone();
                }
                axis.levels = vec![level];
                rest =
                    settings::without(&rest, &parameter).map_err(|problem| one_error(&parameter, problem))?;
            }
        }
        for configuration in &self.configuration {
            let conflicts = settings::conflicts(&rest, &configuration.workload.disk)
                .map_err(|problem| one_error(&configuration.name, problem))?;
            errors.extend(conflicts.into_iter().map(|key| StudyError {
                problem: format!(
                    "the profile{} fixes this for `{}`; leave it out, or leave out --profile",
                    self.profile.as_ref().map_or_else(String::new, |name| format!(" {name}")),
                    configuration.name
                ),
                place: key,
            }));
        }
        if !errors.is_empty() {
            errors.sort_by(|a, b| a.place.cmp(&b.place));
            errors.dedup_by(|a, b| a.place == b.place);
            return Err(StudyErrors(errors));
        }
        self.workload.disk = settings::overlay(&rest, &self.workload.disk)
            .map_err(|problem| one_error("workload.disk", problem))?;
        if let Some(seed) = given.seed {
            self.seed = seed;
        }
        Ok(())
    }

    /// Whether the outstanding I/Os are varied.
    #[must_use]
    pub fn has_depths(&self) -> bool {
        self.axis.iter().any(|axis| axis.parameter() == Some("outstanding") && axis.levels.len() > 1)
    }

    /// As a file.
    ///
    /// # Errors
    /// When a value cannot be written as TOML, which would be our own mistake.
    pub fn to_toml(&self) -> Result<String, StudyErrors> {
        toml::to_string(self).map_err(|error| one_error("study", error.to_string()))
    }

    /// From a file.
    ///
    /// # Errors
    /// Names the line and what is wrong.
    pub fn from_toml(text: &str) -> Result<Self, StudyErrors> {
        toml::from_str(text).map_err(|error| one_error("study", error.to_string()))
    }
}

pub(crate) fn one_error(place: &str, problem: impl Into<String>) -> StudyErrors {
    StudyErrors(vec![StudyError { place: place.to_owned(), problem: problem.into() }])
}
