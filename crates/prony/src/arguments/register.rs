//! Arguments of `prony register`.

use clap::Args;
use load::Span;
use workload::register::Settings;

use super::{Managed, MustHold};

#[derive(Debug, Args)]
pub(crate) struct Register {
    /// Database: sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (MariaDB too), sqlserver://USER@HOST/DATABASE
    /// or a connection string of SQL Server. On a server the database named here is only logged in to; a new one, prony_register, is
    /// made for the test and removed. Of several hosts (postgres://USER@ONE,OTHER/DATABASE) each client takes one that can be
    /// written, and another one when it has to connect again. A password can be in the address, in PGPASSWORD, MYSQL_PWD or
    /// SQLCMDPASSWORD. --managed starts a server instead
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Option<String>,

    /// Remove a database prony_register that an earlier run left, and make it anew
    #[arg(long, help_heading = "Target")]
    pub(crate) replace: bool,

    #[command(flatten)]
    pub(crate) managed: Managed,

    /// Times that the load is measured [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Study", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each run but the first [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Study")]
    pub(crate) pause: Option<Span>,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
