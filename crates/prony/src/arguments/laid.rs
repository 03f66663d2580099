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
    /// Directory on the server for a data file
    ///
    /// Repeat the option to have one data file in each directory. [default: the server's]
    #[arg(long, hide_short_help = true, value_name = "DIR", help_heading = HEADING)]
    pub(crate) data_dir: Vec<String>,

    /// Directory on the server for the log
    ///
    /// [default: the first of --data-dir, otherwise the server's]
    #[arg(long, hide_short_help = true, value_name = "DIR", help_heading = HEADING)]
    pub(crate) log_dir: Option<String>,

    /// Initial size of each data file [default: the server's]
    #[arg(long, hide_short_help = true, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) data_size: Option<Size>,

    /// Initial size of the log [default: the server's]
    #[arg(long, hide_short_help = true, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) log_size: Option<Size>,

    /// Amount by which a full file grows [default: the server's]
    #[arg(long, hide_short_help = true, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) growth: Option<Size>,
}

/// How a database logs.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DatabaseLog {
    /// Recovery model [default: the server's for a new database]
    #[arg(long, hide_short_help = true, value_name = "MODEL", help_heading = HEADING, value_parser = recovery())]
    pub(crate) recovery: Option<Recovery>,

    /// Let commits return before the log is on disk [default: the server's]
    #[arg(long, hide_short_help = true, value_name = "WHETHER", help_heading = HEADING, value_parser = delayed())]
    pub(crate) delayed_durability: Option<DelayedDurability>,
}

/// How a store becomes what it was.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DatabaseRestore {
    /// How a store is restored before each trial [default: deletion]
    #[arg(long, hide_short_help = true, value_name = "WAY", help_heading = HEADING, value_parser = ways())]
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
        ("simple", "The log is truncated at checkpoints"),
        (
            "full",
            "The log is kept until it is backed up. prony makes a first backup to the null device, so that this takes effect",
        ),
        ("bulk-logged", "Like full, but with less log for bulk loads"),
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
        ("disabled", "Each commit waits for the log"),
        ("allowed", "A transaction can ask not to wait. prony's own transactions never do"),
        ("forced", "No commit waits. A crash can lose the last commits"),
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
        ("deletion", "Deletes added rows, and sets changed rows back"),
        ("snapshot", "From a database snapshot, which is deleted at the end"),
        ("backup", "From a backup in the server's backup directory, which stays there"),
    ];
    let values = values.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "deletion" => Restore::Deletion,
        "snapshot" => Restore::Snapshot,
        _ => Restore::Backup,
    })
}
