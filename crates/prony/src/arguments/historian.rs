//! Arguments of `prony historian`.

use clap::Args;
use load::{Size, Span};
use workload::historian::Settings;

use super::{DatabaseFiles, DatabaseLog, Managed, MustHold, profile_names};

#[derive(Debug, Args)]
pub(crate) struct Historian {
    /// Database: sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (MariaDB too),
    /// sqlserver://USER@HOST/DATABASE or a connection string of SQL Server. On a server the database named here is only
    /// logged in to; a new one is made for the test. A password can be in the address, in PGPASSWORD, MYSQL_PWD or
    /// SQLCMDPASSWORD. --managed starts a server instead
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Option<String>,

    /// Name of the database that is made on the server [default: prony_historian]
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    pub(crate) database: Option<String>,

    /// Keep the database at the end
    #[arg(long, help_heading = "Target")]
    pub(crate) keep: bool,

    /// Take up the database of an earlier run again, with what is in it
    #[arg(long, help_heading = "Target")]
    pub(crate) reuse: bool,

    /// Remove a database of this name that an earlier run left, with all that is in it, and make it anew
    #[arg(long, help_heading = "Target", conflicts_with = "reuse")]
    pub(crate) replace: bool,

    #[command(flatten)]
    pub(crate) files: DatabaseFiles,

    #[command(flatten)]
    pub(crate) log: DatabaseLog,

    #[command(flatten)]
    pub(crate) managed: Managed,

    /// Look for the highest rate that is held, and confirm it. Takes one to three hours; with --quick some minutes
    #[arg(long, help_heading = "Study", conflicts_with = "profile")]
    pub(crate) find_max: bool,

    /// Rate that a search begins with [default: 1000]
    #[arg(long, value_name = "PER_SECOND", help_heading = "Study", requires = "find_max", value_parser = load::per_second::parse)]
    pub(crate) start_rate: Option<f64>,

    /// Length of a step that confirms the answer, warm-up included [default: 9m, or 3m and two cycles of the server]
    #[arg(long, value_name = "TIME", help_heading = "Study", requires = "find_max")]
    pub(crate) confirm: Option<Span>,

    /// After the confirming steps, one more of this length (warm-up included), such as 1h. If the rate is not held for so long, the
    /// report says so, and the search goes on below what was written
    #[arg(long, value_name = "TIME", help_heading = "Study", requires = "find_max")]
    pub(crate) confirm_for: Option<Span>,

    /// Shorter times, for a quick look; the report says so
    #[arg(long, help_heading = "Study")]
    pub(crate) quick: bool,

    /// A published test: flush-rows, real-project [default: the one test the options describe]
    #[arg(long, value_name = "NAME", help_heading = "Study", value_parser = profile_names(&::study::HISTORIAN_PROFILES))]
    pub(crate) profile: Option<String>,

    /// Times that each test is measured [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Study", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each test but the first [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Study")]
    pub(crate) pause: Option<Span>,

    /// Disk that is to hold the database: the report tells when it is full
    #[arg(long, value_name = "SIZE", help_heading = "Study")]
    pub(crate) disk_size: Option<Size>,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
