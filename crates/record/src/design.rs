//! What a study compares with what: its axes with their references, its blocks and their order, and what was published
//! of the same. It is stored in the manifest, so that a report needs no study file to judge.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::{Share, Threshold};

/// The design of a study that compares.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// Times that each combination is measured.
    pub blocks: u32,
    /// Order of the trials.
    pub order: Order,
    /// Whether it may end before all of its blocks.
    #[serde(default, skip_serializing_if = "StoppingRule::is_never")]
    pub stop: StoppingRule,
    /// Names of the named configurations in order; empty if there are none.
    #[serde(default)]
    pub configurations: Vec<String>,
    /// The named configuration that the others are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// What is varied.
    #[serde(default)]
    pub axes: Vec<DesignAxis>,
    /// The metric that verdicts are about; none is the workload's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Smallest effect that matters; none is prony's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<Share>,
    /// What must hold.
    #[serde(default)]
    pub thresholds: Vec<Threshold>,
    /// Whether thresholds alone are judged and nothing is compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thresholds_only: bool,
    /// Whether a threshold on what has no interval is judged by its value. Records of before did so without asking.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub accept_single: bool,
    /// What others published of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_true(value: &bool) -> bool {
    *value
}

/// An axis of a design.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DesignAxis {
    /// Key, such as `workload.historian.flush_rows`.
    pub key: String,
    /// Name under which trials tell their level: `flush_rows`.
    pub name: String,
    /// Levels as trials tell them, in the order of the study file.
    pub levels: Vec<String>,
    /// The one that others are compared with.
    pub reference: String,
}

/// Order of the trials of a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Each block measures every combination once, in an order of its own that the seed decides.
    #[default]
    Blocks,
    /// As given, and in every second block the other way round, so that successive blocks share a setup and a steady drift
    /// cancels out.
    Abba,
    /// Each block in the order given.
    Given,
    /// All repeats of a combination after each other: what comes later meets another machine, so that nothing is compared.
    Repeats,
}

/// Whether a study ends before all of its blocks were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoppingRule {
    /// All blocks are measured.
    #[default]
    #[serde(rename = "never")]
    Never,
    /// After each block from the sixth on it is looked whether all comparisons are settled, and the study ends once they are; its
    /// blocks are then the most that it takes.
    #[serde(rename = "when settled")]
    WhenSettled,
}

/// What others published of the same study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Title, author, year, and the machine that it was measured on.
    pub source: String,
    /// In what it differs from what this study measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
    /// Its figures.
    #[serde(default)]
    pub figures: Vec<PublishedFigure>,
}

/// A published figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedFigure {
    /// Levels that it is of, by the axes' names; those that are not named do not matter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "levels")]
    pub at: BTreeMap<String, String>,
    /// Named configuration that it is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// Metric of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The figure, in the metric's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Gain over the published reference, in per cent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain_pct: Option<f64>,
    /// What was published in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
}

/// A level as a study file may write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Level {
    Text(String),
    Whole(i64),
    Number(f64),
    Truth(bool),
}

/// Levels by their axes, numbers as trials tell them.
fn levels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let levels: BTreeMap<String, Level> = BTreeMap::deserialize(deserializer)?;
    let text = |level| match level {
        Level::Text(text) => text,
        Level::Whole(number) => number.to_string(),
        Level::Number(number) => number.to_string(),
        Level::Truth(truth) => truth.to_string(),
    };
    Ok(levels.into_iter().map(|(axis, level)| (axis, text(level))).collect())
}

impl StoppingRule {
    /// Whether it ends nothing.
    #[must_use]
    pub fn is_never(&self) -> bool {
        *self == Self::Never
    }
}

impl Design {
    /// The axis of a name.
    #[must_use]
    pub fn axis(&self, name: &str) -> Option<&DesignAxis> {
        self.axes.iter().find(|axis| axis.name == name)
    }
}

impl PublishedFigure {
    /// Whether it is of this combination.
    #[must_use]
    pub fn is_of(&self, configuration: &str, levels: &BTreeMap<String, String>) -> bool {
        self.configuration.as_ref().is_none_or(|own| own == configuration)
            && self.at.iter().all(|(axis, level)| levels.get(axis) == Some(level))
    }
}
