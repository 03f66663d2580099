//! The study file: everything that is to be measured, in one document.

use std::collections::BTreeMap;

use load::{Size, Span};
pub use record::Order;
use record::{Percentiles, Prices, Published, Share, StoppingRule, Threshold};
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::axis::{Axis, TARGET};
use crate::lab::{LabVolume, Laboratory};
use crate::mistake::{self, StudyErrors, in_parameter, one_error, toml_problem};
use crate::search::Search;
use crate::settings;
use crate::target::{self, Target};
use crate::work::{Given, Known};

/// A study. As a file it is TOML; `prony study list` names some that are ready to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Title, for people.
    #[serde(default)]
    pub title: String,
    /// Short name, for the results directory.
    #[serde(default)]
    pub slug: String,
    /// Profile it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Seed of all random choices.
    #[serde(default = "seed")]
    pub seed: u64,
    /// Times that every combination is measured.
    #[serde(default = "blocks")]
    pub blocks: u32,
    /// Order of the trials.
    #[serde(default)]
    pub order: Order,
    /// Whether it ends once all comparisons are settled; its blocks are then the most that it takes.
    #[serde(default, skip_serializing_if = "StoppingRule::is_never")]
    pub stop: StoppingRule,
    /// Whether levels and configurations are compared with their references.
    #[serde(default = "yes")]
    pub compare: bool,
    /// Named configuration that the others are compared with. Without one they are scenarios of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Whether each block measures the reference twice, so that the noise is known: an A/A pair.
    #[serde(default = "yes")]
    pub noise_floor: bool,
    /// Metric that verdicts are about; the workload's own if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Percentiles that the report shows, such as `[50, 99, 99.99]`; prony's own if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentiles: Option<Percentiles>,
    /// Smallest effect that matters, such as `3 %`; prony's own if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<Share>,
    /// Standard deviation of trials of the same, such as `2 %`, for what a plan says that it finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Share>,
    /// What must hold: `p99_ms < 20`, `gain > 5 %`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<Threshold>,
    /// Whether a threshold on what has no interval, of a single block, is judged by its value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_single: bool,
    /// Rest before each trial but the first, for caches and queues to settle.
    #[serde(default = "no_time")]
    pub cool_down: Span,
    /// Whether there is a rest also between two trials of the same combination that follow each other.
    #[serde(default = "yes")]
    pub rest_between_repeats: bool,
    /// Warm-up of the first trial of each combination, in place of the workload's own: a run that does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_warm_up: Option<Span>,
    /// Command that a shell runs before each trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Command that a shell runs after each trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
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
    /// What a quick look lays over the study; without it times and blocks are shortened as prony sees fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick_look: Option<toml::Table>,
    /// What is laid over the study where its places are made in a laboratory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_lab: Option<toml::Table>,
    /// Size of the disk that is to hold the database, for the time until it is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_size: Option<Size>,
    /// What the measured system costs, for the cost of an order a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// Places that a user names: `$name` at the begin of a path or address of a target stands for one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, Place>,
    /// What is made of loop devices for it, and removed after it; a study file says it of places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab: Option<Laboratory>,
    /// The machine that the study was meant for; a smaller one is told.
    #[serde(default, skip_serializing_if = "is_default")]
    pub needs: Needs,
    /// What others published of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
    /// Target.
    #[serde(default)]
    pub target: Target,
    /// What all configurations share.
    #[serde(default)]
    pub workload: Given,
    /// Named configurations; none means one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configuration: Vec<Configuration>,
    /// What is varied within each configuration, the first slowest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axis: Vec<Axis>,
}

/// Fewest blocks that a verdict can come from are six; seven leave one to lose.
pub(crate) const BLOCKS: u32 = 7;

fn blocks() -> u32 {
    BLOCKS
}

fn seed() -> u64 {
    42
}

fn yes() -> bool {
    true
}

fn no_time() -> Span {
    Span::ZERO
}

/// A place that a user names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// What it has to be: `a directory on the array`, `a PostgreSQL server`.
    pub what: String,
    /// What it is if the user names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The lab volume for this location, created for `--location lab`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab: Option<LabVolume>,
}

/// A machine that a study was meant for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Needs {
    /// Processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Size>,
    /// Space on the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<Size>,
}

/// Rounds until one configuration is steady (SNIA Performance Test Specification).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steady {
    /// Levels of the axes that name the tracked trial of each round.
    pub tracked: std::collections::BTreeMap<String, Value>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A named set of parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Name, such as `RND4K Q32T1 read`.
    pub name: String,
    /// What it loads in place of what all share.
    #[serde(default, skip_serializing_if = "is_default")]
    pub target: Target,
    /// What it sets beyond what all share.
    #[serde(default, skip_serializing_if = "is_default")]
    pub workload: Given,
    /// Levels that replace those of an axis for this configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axis: Vec<Axis>,
}

impl Study {
    /// Lays what a user gave over the study: a value for an axis narrows it to this level, any other replaces what all
    /// configurations share.
    ///
    /// # Errors
    /// When a configuration sets the same parameter to another value: its name would lie.
    pub fn narrow<W: Known>(&mut self, given: &W) -> Result<(), StudyErrors> {
        let mut errors = Vec::new();
        let mut rest = given.clone();
        let configured = self.configuration.iter_mut().flat_map(|configuration| &mut configuration.axis);
        for axis in self.axis.iter_mut().chain(configured) {
            let Some(parameter) = axis.parameter::<W>().map(str::to_owned) else { continue };
            if let Some(level) = settings::value(given, &parameter) {
                if let Some(tracked) =
                    self.steady.as_mut().and_then(|steady| steady.tracked.get_mut(&parameter))
                {
                    *tracked = level.clone();
                }
                axis.levels = vec![level];
                rest =
                    settings::without(&rest, &parameter).map_err(|problem| one_error(parameter, problem))?;
            }
        }
        for configuration in &self.configuration {
            let conflicts = settings::conflicts(&rest, W::given(&configuration.workload).as_ref()).map_err(
                |problem| one_error(mistake::Place::Configuration(configuration.name.clone()), problem),
            )?;
            let problem = format!(
                "the profile{} already sets this value for `{}`. Remove the value, or remove --profile",
                self.profile.as_ref().map_or_else(String::new, |name| format!(" {name}")),
                configuration.name
            );
            errors.extend(conflicts.iter().map(|name| in_parameter(W::NAME, name, &*problem)));
        }
        if !errors.is_empty() {
            errors.sort_by(|a, b| a.place.cmp(&b.place));
            errors.dedup_by(|a, b| a.place == b.place);
            return Err(StudyErrors(errors));
        }
        let laid = settings::overlay(Some(&rest), W::given(&self.workload).as_ref());
        *W::given_mut(&mut self.workload) = Some(laid.map_err(|problem| one_error(W::NAME, problem))?);
        if let Some(seed) = settings::value(given, "seed").and_then(|seed| seed.as_integer()) {
            self.seed = seed as u64;
        }
        Ok(())
    }

    /// How what stands in an older spelling is written now.
    pub(crate) fn notes(&self) -> Vec<String> {
        let targets =
            self.configuration.iter().map(|configuration| &configuration.target).chain([&self.target]);
        let mut notes: Vec<String> = targets.filter_map(Target::older_spelling).collect();
        let keys = self.axis.iter().filter_map(|axis| axis.key.strip_prefix(TARGET));
        notes.extend(
            keys.filter_map(|key| Some((key, target::key_now(key)?)))
                .map(|(key, now)| format!("target.{key} is an old spelling of the axis target.{now}")),
        );
        notes.dedup();
        notes.extend(self.unseen_devices());
        notes
    }

    /// Servers whose devices are to be quiet and cannot be seen.
    fn unseen_devices(&self) -> Option<String> {
        let mut servers = self.target.server.iter();
        let (name, server) = servers.find(|(_, server)| server.runs() && server.quiet_below.is_some())?;
        let at: Vec<String> = server.at.iter().map(ToString::to_string).collect();
        Some(format!(
            "target.server.{name}.quiet_below has no effect, because the devices of {} are on another machine. prony waits only for the rest period",
            at.join(", ")
        ))
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
        toml::from_str(text).map_err(|error| one_error("study", toml_problem(text, &error)))
    }
}
