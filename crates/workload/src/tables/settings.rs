//! Parameters of a table as a user gives them: on the command line, in the environment, in a study file.

use load::Span;
use serde::{Deserialize, Serialize};

use super::kind::{Access, Kind};

/// Parameters of a trial of a table. What is not given comes from the defaults named here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Kind of table: row, volatile, relaxed, memory-durable, clustered, covering, columnstore-index, columnstore, archive, rocks or
    /// aria [default: all that the engine has, each compared with row]
    #[arg(long, value_name = "KIND", help_heading = "Table")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,

    /// How statements come to the server: ad-hoc (one text with its values), prepared (once on each connection) or procedure (a call of
    /// one on the server, compiled to machine code where the engine does that) [default: prepared]
    #[arg(long, value_name = "ACCESS", help_heading = "Table")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,

    /// Level of ZSTD, 1 to 22, that archive tables of ClickHouse are compressed at [default: 9]
    #[arg(long, value_name = "NUMBER", help_heading = "Table")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zstd_level: Option<u8>,

    /// Rows of the table, of about 40 bytes each [default: 1000000]
    #[arg(long, value_name = "NUMBER", help_heading = "Table")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,

    /// Most rows that one statement changes where all rows are updated or deleted: more are taken in several statements, each committed
    /// by itself [default: 1000000]
    #[arg(long, value_name = "NUMBER", help_heading = "Table")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_rows: Option<u64>,

    /// Clients that update and delete rows by their keys, each with a connection of its own [default: 8]
    #[arg(short, long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,

    /// Rows that clients delete by their keys, all of them together [default: a hundredth of all rows]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point_deletes: Option<u64>,

    /// Updates by key that do not count, before the measured window [default: 2s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// Length of the measured window of updates by key [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,

    /// Try what survives: once everything is timed, clients change rows of such a table, the server is killed with -9 in the midst of it,
    /// and what was acknowledged is looked for. Servers that prony started are killed, and of SQLite and DuckDB a process of its own; true
    /// asks for it, and is refused where nothing can be killed [default: where it can be]
    #[arg(long, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crash: Option<bool>,

    /// Seed of the rows and of the keys that are drawn [default: 42]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}
