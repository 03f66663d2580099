//! Arguments of `prony tables`.

use clap::Args;
use load::Span;
use workload::tables::Settings;

use super::{DatabaseFiles, DatabaseLog, Managed, MustHold};

#[derive(Debug, Args)]
pub(crate) struct Tables {
    /// Database: sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (MariaDB too),
    /// sqlserver://USER@HOST/DATABASE or a connection string of SQL Server, clickhouse://USER@HOST/DATABASE, duckdb:FILE (where the
    /// program was built with it). On a server the database named here is only logged in to; a new one is made for the tables. A
    /// password can be in the address, in PGPASSWORD, MYSQL_PWD or SQLCMDPASSWORD.
    /// --managed starts a server instead [default: SQLite within this program, on a file in the current directory that is removed]
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Option<String>,

    /// Name of the database that is made on the server [default: prony_tables]
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    pub(crate) database: Option<String>,

    /// Remove a database of this name that an earlier run left, with all that is in it, and make it anew
    #[arg(long, help_heading = "Target")]
    pub(crate) replace: bool,

    #[command(flatten)]
    pub(crate) files: DatabaseFiles,

    #[command(flatten)]
    pub(crate) log: DatabaseLog,

    #[command(flatten)]
    pub(crate) managed: Managed,

    /// Fewer rows and shorter times, for a quick look; the report says so
    #[arg(long, help_heading = "Study")]
    pub(crate) quick: bool,

    /// Times that each kind is measured; from six on differences can be told from chance [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Study", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each trial but the first [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Study")]
    pub(crate) pause: Option<Span>,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
