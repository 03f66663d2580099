//! Arguments of `prony tables`.

use clap::Args;
use load::Span;
use workload::tables::Settings;

use super::{DatabaseFiles, DatabaseLog, Managed, MustHold};

#[derive(Debug, Args)]
pub(crate) struct Tables {
    /// Database to test [default: a temporary SQLite file]
    ///
    /// sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (also MariaDB),
    /// sqlserver://USER@HOST/DATABASE or a SQL Server connection string, clickhouse://USER@HOST/DATABASE,
    /// duckdb:FILE (if the program includes it). On a server, prony uses the database named here only to log in, and
    /// creates a new one for the tables. The password can be in the address, in PGPASSWORD, MYSQL_PWD or
    /// SQLCMDPASSWORD. To start a server instead, use --managed. The default is the built-in SQLite with a file in
    /// the current directory. prony deletes this file afterwards.
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Option<String>,

    /// Name of the database to create [default: prony_tables]
    #[arg(long, hide_short_help = true, value_name = "NAME", help_heading = "Target")]
    pub(crate) database: Option<String>,

    /// First delete any database with this name, including its data
    ///
    /// Use this for a database left by an earlier run.
    #[arg(long, help_heading = "Target")]
    pub(crate) replace: bool,

    #[command(flatten)]
    pub(crate) files: DatabaseFiles,

    #[command(flatten)]
    pub(crate) log: DatabaseLog,

    #[command(flatten)]
    pub(crate) managed: Managed,

    /// Use fewer rows and shorter times, for a first impression
    ///
    /// The report says so.
    #[arg(long, help_heading = "Load")]
    pub(crate) quick: bool,

    /// Times to measure each kind [default: 1]
    ///
    /// With six or more, real differences can be distinguished from chance.
    #[arg(long, value_name = "NUMBER", help_heading = "Repeats and thresholds", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each trial except the first [default: 0s]
    #[arg(long = "cooldown", value_name = "TIME", help_heading = "Repeats and thresholds")]
    pub(crate) pause: Option<Span>,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
