//! What a study varies: a parameter and its levels.

use load::Workload;
use serde::{Deserialize, Serialize};
use toml::Value;

/// Prefix of the keys of a target's parameters.
pub(crate) const TARGET: &str = "target.";

/// A parameter and its levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Key, such as `workload.disk.outstanding` or `target.database`.
    pub key: String,
    /// Values, in the order in which they are given.
    pub levels: Vec<Value>,
    /// Names of the levels, for people; their values if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The level that the others are compared with, or its name; the first if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Value>,
}

impl Axis {
    /// Name under which trials tell their level: the last part of the key.
    #[must_use]
    pub fn name(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or_default()
    }

    /// What trials tell of a level: its name, or its value.
    #[must_use]
    pub fn text_of(&self, level: &Value) -> String {
        let named = self.levels.iter().zip(&self.names).find(|(other, _)| *other == level);
        named.map_or_else(|| text_of(level), |(_, name)| name.clone())
    }

    /// The level that the others are compared with, as trials tell it.
    #[must_use]
    pub fn reference(&self) -> Option<String> {
        self.reference.as_ref().or(self.levels.first()).map(|level| self.text_of(level))
    }

    /// Name of the workload whose parameter it varies.
    pub(crate) fn workload(&self) -> Option<&str> {
        self.key.strip_prefix("workload.")?.split_once('.').map(|(workload, _)| workload)
    }

    /// Name of the workload's parameter that it varies, if it is one of this workload.
    pub(crate) fn parameter<W: Workload>(&self) -> Option<&str> {
        self.key.strip_prefix("workload.")?.strip_prefix(W::NAME)?.strip_prefix('.')
    }
}

/// A level as a text.
pub(crate) fn text_of(level: &Value) -> String {
    match level {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text_of).collect::<Vec<_>>().join(" + "),
        other => other.to_string(),
    }
}
