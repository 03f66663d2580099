//! A database server as a trial found it, and the times in which it could not be used.

use serde::{Deserialize, Serialize};

use crate::Link;

/// A setting of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSetting {
    /// Name as the server spells it.
    pub name: String,
    /// Value with its unit.
    pub value: String,
}

/// A database server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Product and version, such as `PostgreSQL 15.18`.
    pub version: String,
    /// What a commit guarantees, as far as the settings tell: a sentence.
    pub durability: String,
    /// Whether a committed row survives a loss of power, as far as the settings tell.
    pub is_durable: bool,
    /// Settings that change figures: durability, caches, log sizes.
    pub settings: Vec<ServerSetting>,
    /// Directory of its data, where the server tells it and it is on this machine.
    #[serde(default)]
    pub data_directory: Option<String>,
    /// Directory of its log (WAL, redo log), where that is known. It may be a link to elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_directory: Option<String>,
    /// How the connection to it was made; none of what runs in this process, and of records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// Who runs it, whether it is a copy, and what stands before it, as far as it tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
    /// Tables of the database of which a crash may lose committed rows, whatever the settings say; none in records of before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsafe_tables: Vec<UnsafeTables>,
}

/// Tables of one kind of which a crash may lose committed rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsafeTables {
    /// What they are: `unlogged`, `temporary`, or the storage engine, such as `MEMORY`.
    pub kind: String,
    /// Their names.
    pub names: Vec<String>,
}

/// Something that runs a server for its users, that it is, or that stands before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// Name, such as `Amazon RDS`.
    pub name: String,
    /// What told so.
    pub told_by: String,
}

/// A time in which the database could not be written, or the source of events not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outage {
    /// When the first operation failed, in seconds since the load began.
    pub start_s: f64,
    /// When it could be used again; none if not before the end.
    pub end_s: Option<f64>,
    /// Attempts to connect.
    pub attempts: u64,
    /// First error.
    pub error: String,
}
