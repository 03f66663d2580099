//! The study file: everything that is to be measured, in one document.

use std::fmt;
use std::path::PathBuf;

use database::Url;
use load::{Size, Span};
use record::Prices;
use serde::{Deserialize, Serialize};
use toml::Value;
use workload::{historian, orders};

use crate::orders::Store;
use crate::search::Search;
use crate::settings::{self, Settings};

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
    /// Trials of the historian are searches for the highest rate that they hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// Times were shortened: a quick look and no measurement to rely on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
    /// Size of the disk that is to hold the database, for the time until it is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_size: Option<Size>,
    /// What the measured system costs, for the cost of an order a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
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

/// What is loaded: paths by the disk workload, a database by a historian, stores by orders.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Directories, files or devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathBuf>,
    /// Address of a database. Its password is never written.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "url_text")]
    pub url: Option<Url>,
    /// Name of the database of our own that is made there; with SQLite the address names the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// What happens if there is one of that name already.
    #[serde(default)]
    pub existing: Existing,
    /// Whether it stays at the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
    /// Order stores that are driven, each by clients of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub store: Vec<Store>,
}

/// What is done with a database of our own name that exists already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Existing {
    /// It is an error.
    #[default]
    Refuse,
    /// It is taken up again with what is in it.
    Reuse,
    /// It is removed and made anew, if it is ours and nobody uses it.
    Replace,
}

/// An address as text.
mod url_text {
    use database::Url;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(url: &Option<Url>, serializer: S) -> Result<S::Ok, S::Error> {
        match url {
            Some(url) => serializer.collect_str(url),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
        let text: Option<String> = Option::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
    }
}

/// Parameters, by workload. A configuration with parameters of a historian is one, and so with orders.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Disk.
    #[serde(default, skip_serializing_if = "is_default")]
    pub disk: disk::Settings,
    /// Historian.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub historian: Option<historian::Settings>,
    /// Orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orders: Option<orders::Settings>,
}

fn is_default<S: Settings>(settings: &S) -> bool {
    *settings == S::default()
}

/// A named set of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Name, such as `RND4K Q32T1 read`.
    pub name: String,
    /// What it sets beyond what all share.
    #[serde(default)]
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

/// A workload that a study can run, as far as its parameters go.
pub trait Varied: Settings {
    /// Prefix of the keys of its parameters.
    const PREFIX: &'static str;

    /// Its parameters.
    fn of(workload: &Workload) -> Self;

    /// Puts its parameters back.
    fn put(self, workload: &mut Workload);
}

impl Varied for disk::Settings {
    const PREFIX: &'static str = "workload.disk.";

    fn of(workload: &Workload) -> Self {
        workload.disk.clone()
    }

    fn put(self, workload: &mut Workload) {
        workload.disk = self;
    }
}

impl Varied for historian::Settings {
    const PREFIX: &'static str = "workload.historian.";

    fn of(workload: &Workload) -> Self {
        workload.historian.clone().unwrap_or_default()
    }

    fn put(self, workload: &mut Workload) {
        workload.historian = Some(self);
    }
}

impl Varied for orders::Settings {
    const PREFIX: &'static str = "workload.orders.";

    fn of(workload: &Workload) -> Self {
        workload.orders.clone().unwrap_or_default()
    }

    fn put(self, workload: &mut Workload) {
        workload.orders = Some(self);
    }
}

impl Axis {
    /// An axis over a parameter of a workload.
    pub(crate) fn of<S: Varied>(key: &str, levels: impl IntoIterator<Item = Value>) -> Self {
        Self { key: format!("{}{key}", S::PREFIX), levels: levels.into_iter().collect() }
    }

    /// Name of the workload's parameter that it varies, if it is one of this workload.
    pub(crate) fn parameter<S: Varied>(&self) -> Option<&str> {
        self.key.strip_prefix(S::PREFIX)
    }
}

impl Study {
    /// Lays what a user gave over the study: a value for an axis narrows it to this level, any other replaces what all
    /// configurations share.
    ///
    /// # Errors
    /// When a configuration sets the same parameter to another value: its name would lie.
    pub fn narrow<S: Varied>(&mut self, given: &S) -> Result<(), StudyErrors> {
        let mut errors = Vec::new();
        let mut rest = given.clone();
        let configured = self.configuration.iter_mut().flat_map(|configuration| &mut configuration.axis);
        for axis in self.axis.iter_mut().chain(configured) {
            let Some(parameter) = axis.parameter::<S>().map(str::to_owned) else { continue };
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
            let conflicts = settings::conflicts(&rest, &S::of(&configuration.workload))
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
        settings::overlay(&rest, &S::of(&self.workload))
            .map_err(|problem| one_error(S::PREFIX, problem))?
            .put(&mut self.workload);
        if let Some(seed) = settings::value(given, "seed").and_then(|seed| seed.as_integer()) {
            self.seed = seed as u64;
        }
        Ok(())
    }

    /// Whether the outstanding I/Os are varied.
    #[must_use]
    pub fn has_depths(&self) -> bool {
        self.axis
            .iter()
            .any(|axis| axis.parameter::<disk::Settings>() == Some("outstanding") && axis.levels.len() > 1)
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
