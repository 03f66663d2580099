//! Parameters of a table as a user gives them: on the command line, in the environment, in a study file.

use load::Span;
use serde::{Deserialize, Serialize};

use super::kind::{Access, Kind};

/// Parameters of a trial of a table. What is not given comes from the defaults named here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Kind of table [default: all kinds, each compared with row]
    ///
    /// row, volatile, relaxed, memory-durable, clustered, covering, columnstore-index, columnstore, archive, rocks
    /// or aria. Each engine has some of these kinds.
    #[arg(long, value_name = "KIND", help_heading = "Table")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,

    /// Statements: ad-hoc, prepared or procedure [default: prepared]
    ///
    /// `ad-hoc`: text with the values. `prepared`: prepared once per connection. `procedure`: calls of a procedure on
    /// the server, compiled to machine code if the engine supports this.
    #[arg(long, value_name = "ACCESS", help_heading = "Table")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,

    /// ZSTD level of ClickHouse archive tables, 1 to 22 [default: 9]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Table")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zstd_level: Option<u8>,

    /// Rows of the table, about 40 bytes each [default: 1000000]
    #[arg(long, value_name = "NUMBER", help_heading = "Table")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,

    /// Maximum rows that one statement changes [default: 1000000]
    ///
    /// Applies to updates and deletes of all rows. More rows are changed in several statements, each with its own
    /// commit.
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Table")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_rows: Option<u64>,

    /// Clients that update and delete by key [default: 8]
    ///
    /// Each has its own connection.
    #[arg(short, long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,

    /// Rows that the clients delete by key, in total [default: 1% of all rows]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point_deletes: Option<u64>,

    /// Updates by key before the measured window [default: 2s]
    #[arg(long, alias = "warmup", value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// Length of the measured window of updates by key [default: 10s]
    #[arg(short, short_alias = 'T', long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,

    /// Kill the server and check the rows [default: if possible]
    ///
    /// After all timing, clients change rows of a table of this kind. prony then kills the server with SIGKILL, and
    /// looks for the acknowledged changes. It kills only servers that it started, or, for SQLite and DuckDB, a process
    /// of its own. --crash is refused if nothing can be killed.
    #[arg(long, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crash: Option<bool>,

    /// Seed of the rows and of the keys [default: 42]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}
