//! Arguments of `prony reporting`.

use clap::Args;
use load::Span;
use workload::reporting::Settings;

use super::{Managed, MustHold};

#[derive(Debug, Args)]
pub(crate) struct Reporting {
    /// Database: sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (MariaDB too),
    /// sqlserver://USER@HOST/DATABASE or a connection string of SQL Server. On a server the database named here is only
    /// logged in to; a new one is made for the test. A password can be in the address, in PGPASSWORD, MYSQL_PWD or
    /// SQLCMDPASSWORD. --managed starts a server instead, which is started again and made cold before each cycle of reports
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Option<String>,

    /// Name of the database that is made on the server [default: prony_reports]
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    pub(crate) database: Option<String>,

    /// Keep the database at the end
    #[arg(long, help_heading = "Target")]
    pub(crate) keep: bool,

    /// Take up the database of an earlier run again, if it holds the same messages
    #[arg(long, help_heading = "Target")]
    pub(crate) reuse: bool,

    /// Remove a database of this name that an earlier run left, with all that is in it, and make it anew
    #[arg(long, help_heading = "Target", conflicts_with = "reuse")]
    pub(crate) replace: bool,

    #[command(flatten)]
    pub(crate) managed: Managed,

    /// Fewer messages and reports, for a quick look; the report says so
    #[arg(long, help_heading = "Study")]
    pub(crate) quick: bool,

    /// Times that each cycle of reports is measured [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Study", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each cycle but the first [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Study")]
    pub(crate) pause: Option<Span>,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
