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
    /// sqlserver://USER@HOST/DATABASE or a SQL Server connection string. On a server, prony uses the database named here
    /// only to log in. It creates the database prony_register for the test, and deletes it afterwards. With several hosts
    /// (postgres://USER@ONE,OTHER/DATABASE) each client connects to a host that accepts writes, and to another host
    /// when the client has to reconnect. The password can be in the address, in PGPASSWORD, MYSQL_PWD or
    /// SQLCMDPASSWORD. To start a server instead, use --managed.
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Option<String>,

    /// First delete any database prony_register, including its data
    ///
    /// Use this for a database left by an earlier run.
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
