//! A cluster that somebody else runs, as a trial found it: its members, and what decides how another one takes over.

use serde::{Deserialize, Serialize};

use crate::ServerSetting;

/// A cluster that somebody else runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AttachedCluster {
    /// Name in the study.
    pub name: String,
    /// Where sessions go, without a password.
    pub address: String,
    /// Members that the study names, without passwords.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Addresses of Patroni's REST interface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patroni: Vec<String>,
    /// What is broken of it in the trial, as the study asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// The commands that do that, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<ServerSetting>,
    /// What keeps its members together, as far as they tell: `Galera`; empty where nobody was asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Its members before the trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<ClusterMember>,
    /// Whether another one could take over with all that is acknowledged; none where that is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_redundant: Option<bool>,
    /// What decides how others take over, as it was read from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<ServerSetting>,
}

/// A member of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterMember {
    /// As the cluster calls it, or where it listens.
    pub name: String,
    /// `primary`, `standby`, or `unknown`.
    pub role: String,
    /// What else it told: version, timeline, lag, or why it did not answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<ServerSetting>,
}
