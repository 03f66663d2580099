//! Arguments of `prony script`.

use clap::Args;
use load::Span;
use workload::script::Settings;

use super::{Managed, MustHold};

#[derive(Debug, Args)]
pub(crate) struct Script {
    /// Database, which is used as it is: sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (MariaDB too),
    /// sqlserver://USER@HOST/DATABASE or a connection string of SQL Server. The scripts change in it what they change; prony itself
    /// creates nothing there except the tables that --initialise asks for and the procedures of --protocol procedure, which it drops
    /// again. A password can be in the address, in PGPASSWORD, MYSQL_PWD or SQLCMDPASSWORD. --managed starts a server instead, and
    /// --init FILE creates your tables on that
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Option<String>,

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
