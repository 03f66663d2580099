//! Arguments of `prony historian`.

use clap::Args;
use load::{Size, Span};
use workload::historian::Settings;

use super::{DatabaseFiles, DatabaseLog, Managed, MustHold, profile_names};

#[derive(Debug, Args)]
pub(crate) struct Historian {
    /// Database to test
    ///
    /// sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (also MariaDB),
    /// sqlserver://USER@HOST/DATABASE or a SQL Server connection string. On a server, prony uses the database named here
    /// only to log in, and creates a new one for the test. The password can be in the address, in PGPASSWORD,
    /// MYSQL_PWD or SQLCMDPASSWORD. To start a server instead, use --managed.
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Option<String>,

    /// Name of the database to create [default: prony_historian]
    #[arg(long, hide_short_help = true, value_name = "NAME", help_heading = "Target")]
    pub(crate) database: Option<String>,

    /// Keep the database at the end
    #[arg(long, help_heading = "Target")]
    pub(crate) keep: bool,

    /// Reuse the database of an earlier run, with its data
    #[arg(long, help_heading = "Target")]
    pub(crate) reuse: bool,

    /// First delete any database with this name, including its data
    ///
    /// Use this for a database left by an earlier run.
    #[arg(long, help_heading = "Target", conflicts_with = "reuse")]
    pub(crate) replace: bool,

    #[command(flatten)]
    pub(crate) files: DatabaseFiles,

    #[command(flatten)]
    pub(crate) log: DatabaseLog,

    #[command(flatten)]
    pub(crate) managed: Managed,

    /// Find the highest sustained rate; takes 1 to 3 hours
    ///
    /// Further steps confirm the result. With --quick the search takes a few minutes.
    #[arg(long, help_heading = "Load", conflicts_with = "profile")]
    pub(crate) find_max: bool,

    /// Rate at which a search starts [default: 1000]
    #[arg(long, hide_short_help = true, value_name = "PER_SECOND", help_heading = "Load", requires = "find_max", value_parser = load::per_second::parse)]
    pub(crate) start_rate: Option<f64>,

    /// Length of a confirming step, warm-up included [default: 9m]
    ///
    /// The default is 3m plus two cycles of the server, if that is longer.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Load", requires = "find_max")]
    pub(crate) confirm: Option<Span>,

    /// Add a confirming step of this length, such as 1h
    ///
    /// The length includes the warm-up. If the rate is not sustained that long, the report says so, and the search
    /// continues below the rate actually written.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Load", requires = "find_max")]
    pub(crate) confirm_for: Option<Span>,

    /// Use shorter times, for a first impression
    ///
    /// The report says so.
    #[arg(long, help_heading = "Load")]
    pub(crate) quick: bool,

    /// Run a published test
    ///
    /// Without this option, prony runs one test as the other options describe.
    #[arg(long, value_name = "NAME", help_heading = "Load", value_parser = profile_names(&::study::HISTORIAN_PROFILES))]
    pub(crate) profile: Option<String>,

    /// Times to measure each test [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Repeats and thresholds", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each test except the first [default: 0s]
    #[arg(long = "cooldown", value_name = "TIME", help_heading = "Repeats and thresholds")]
    pub(crate) pause: Option<Span>,

    /// Size of the disk for the database
    ///
    /// The report shows when a disk of this size will be full.
    #[arg(long, hide_short_help = true, value_name = "SIZE", help_heading = "Output")]
    pub(crate) disk_size: Option<Size>,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
