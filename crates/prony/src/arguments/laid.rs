//! Arguments of where the files of a database lie, how it logs and how it is brought back: SQL Server's alone.

use ::study::{Database, Restore};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use database::{DelayedDurability, Recovery};
use load::Size;

/// Where this stands in a help.
const HEADING: &str = "Database of SQL Server";

/// Where the files of a database lie that is made.
#[derive(Clone, Debug, Args)]
pub(crate) struct DatabaseFiles {
    /// Directory of the server's machine with a data file of the database that is made. Can be repeated for a file in each [default:
    /// where the server makes files]
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    pub(crate) data_dir: Vec<String>,

    /// Directory of the server's machine with its log [default: the first with data, else where the server makes logs]
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    pub(crate) log_dir: Option<String>,

    /// Initial size of each data file [default: the server's]
    #[arg(long, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) data_size: Option<Size>,

    /// Initial size of the log [default: the server's]
    #[arg(long, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) log_size: Option<Size>,

    /// By how much each file grows when it is full [default: the server's]
    #[arg(long, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) growth: Option<Size>,
}

/// How a database logs.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DatabaseLog {
    /// What its log keeps [default: what the server gives a new database]
    #[arg(long, value_name = "MODEL", help_heading = HEADING, value_parser = recovery())]
    pub(crate) recovery: Option<Recovery>,

    /// Whether a commit may return before its log is on the disk [default: the server's]
    #[arg(long, value_name = "WHETHER", help_heading = HEADING, value_parser = delayed())]
    pub(crate) delayed_durability: Option<DelayedDurability>,
}

/// How a store becomes what it was.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DatabaseRestore {
    /// How a store becomes what was loaded before each run [default: deletion]
    #[arg(long, value_name = "WAY", help_heading = HEADING, value_parser = ways())]
    pub(crate) restore: Option<Restore>,
}

impl DatabaseFiles {
    /// Says it of a database.
    pub(crate) fn of(&self, database: &mut Database) {
        database.data_dir.clone_from(&self.data_dir);
        database.log_dir.clone_from(&self.log_dir);
        (database.data_size, database.log_size, database.growth) =
            (self.data_size, self.log_size, self.growth);
    }
}

impl DatabaseLog {
    /// Says it of a database.
    pub(crate) fn of(self, database: &mut Database) {
        (database.recovery, database.delayed_durability) = (self.recovery, self.delayed_durability);
    }
}

fn recovery() -> impl TypedValueParser<Value = Recovery> {
    let values = [
        ("simple", "What no transaction needs any more goes at the next checkpoint"),
        (
            "full",
            "Everything stays until the log is backed up; a first backup is made to nowhere, so that it does",
        ),
        ("bulk-logged", "As full, with less of what is loaded in bulk"),
    ];
    let values = values.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "simple" => Recovery::Simple,
        "full" => Recovery::Full,
        _ => Recovery::BulkLogged,
    })
}

fn delayed() -> impl TypedValueParser<Value = DelayedDurability> {
    let values = [
        ("disabled", "Each commit waits"),
        ("allowed", "Transactions may ask not to; none of prony's does"),
        ("forced", "None waits: the last ones may be lost in a crash"),
    ];
    let values = values.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "disabled" => DelayedDurability::Disabled,
        "allowed" => DelayedDurability::Allowed,
        _ => DelayedDurability::Forced,
    })
}

fn ways() -> impl TypedValueParser<Value = Restore> {
    let values = [
        ("deletion", "What runs added is deleted, and what they changed is put back"),
        ("snapshot", "From a snapshot beside it, which is removed at the end"),
        ("backup", "From a backup in the server's directory for them, which stays there"),
    ];
    let values = values.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "deletion" => Restore::Deletion,
        "snapshot" => Restore::Snapshot,
        _ => Restore::Backup,
    })
}
