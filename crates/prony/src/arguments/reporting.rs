//! Arguments of `prony reporting`.

use clap::Args;
use load::Span;
use workload::reporting::Settings;

use super::{Managed, MustHold};

#[derive(Debug, Args)]
pub(crate) struct Reporting {
    /// Database to test
    ///
    /// sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (also MariaDB),
    /// sqlserver://USER@HOST/DATABASE or a SQL Server connection string. On a server, prony uses the database named here
    /// only to log in, and creates a new one for the test. The password can be in the address, in PGPASSWORD,
    /// MYSQL_PWD or SQLCMDPASSWORD. To start a server instead, use --managed: it is restarted with cold caches
    /// before each cycle of reports.
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Option<String>,

    /// Name of the database to create [default: prony_reports]
    #[arg(long, hide_short_help = true, value_name = "NAME", help_heading = "Target")]
    pub(crate) database: Option<String>,

    /// Keep the database at the end
    #[arg(long, help_heading = "Target")]
    pub(crate) keep: bool,

    /// Reuse the database of an earlier run
    ///
    /// The database must contain the same messages.
    #[arg(long, help_heading = "Target")]
    pub(crate) reuse: bool,

    /// First delete any database with this name, including its data
    ///
    /// Use this for a database left by an earlier run.
    #[arg(long, help_heading = "Target", conflicts_with = "reuse")]
    pub(crate) replace: bool,

    #[command(flatten)]
    pub(crate) managed: Managed,

    /// Use fewer messages and reports, for a first impression
    ///
    /// The report says so.
    #[arg(long, help_heading = "Load")]
    pub(crate) quick: bool,

    /// Number of times to measure each cycle of reports [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Repeats and thresholds", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each cycle except the first [default: 0s]
    #[arg(long = "cooldown", value_name = "TIME", help_heading = "Repeats and thresholds")]
    pub(crate) pause: Option<Span>,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
