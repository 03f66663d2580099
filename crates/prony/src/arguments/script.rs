//! Arguments of `prony script`.

use clap::Args;
use load::Span;
use workload::script::Settings;

use super::{Managed, MustHold};

#[derive(Debug, Args)]
pub(crate) struct Script {
    /// Existing database to run the scripts on
    ///
    /// sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (also MariaDB),
    /// sqlserver://USER@HOST/DATABASE or a SQL Server connection string. Your scripts change this database exactly as
    /// written. prony itself creates only the tables for --initialize and the procedures for --protocol procedure,
    /// and later drops the procedures. The password can be in the address, in PGPASSWORD, MYSQL_PWD or SQLCMDPASSWORD. To
    /// start a server instead, use --managed, with --init FILE for your tables.
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Option<String>,

    #[command(flatten)]
    pub(crate) managed: Managed,

    /// Times to measure the load [default: 1]
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
