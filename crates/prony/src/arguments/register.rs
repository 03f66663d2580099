//! Arguments of `prony register`.

use clap::Args;
use load::Span;
use workload::register::Settings;

use super::{Managed, MustHold};

#[derive(Debug, Args)]
pub(crate) struct Register {
    /// Database to test
    ///
    /// sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (also MariaDB),
    /// sqlserver://USER@HOST/DATABASE or a connection string of SQL Server. On a server, prony only logs in to the
    /// database named here. It creates the database prony_register for the test and deletes it. With several hosts
    /// (postgres://USER@ONE,OTHER/DATABASE) each client connects to one that accepts writes, and to another one
    /// when it has to connect again. The password can be in the address, in PGPASSWORD, MYSQL_PWD or
    /// SQLCMDPASSWORD. To start a server instead, use --managed.
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Option<String>,

    /// Delete a database prony_register first, with its data
    ///
    /// Use it for a database that an earlier run left.
    #[arg(long, help_heading = "Target")]
    pub(crate) replace: bool,

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
