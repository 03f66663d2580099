//! Arguments of `prony orders`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use load::Span;
use workload::orders::{Settings, StoreData, StoreSize};

use super::{DatabaseFiles, DatabaseLog, DatabaseRestore, Managed, Measured, MustHold, Told};

#[derive(Debug, Subcommand)]
pub(crate) enum Orders {
    /// Write the rows of a store to CSV files, one a table, without a database
    Generate(GenerateOrders),
    /// Load a store into a database, which is made for it and stays
    Load(LoadOrders),
    /// Drive loaded stores: orders a minute, response times, and what became of each order
    Run(Box<Measured<RunOrders>>),
    /// Count what is in a loaded store, and set it against what was loaded
    Verify(VerifyOrders),
}

#[derive(Debug, Args)]
pub(crate) struct RunOrders {
    /// Servers or files with stores that were loaded by `prony orders load`, several separated by commas, each driven by
    /// clients of its own: sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE or
    /// sqlserver://USER@HOST/DATABASE; a connection string of SQL Server stands alone. A password can be in the address, in
    /// PGPASSWORD, MYSQL_PWD or SQLCMDPASSWORD. --managed starts a server instead, into which stores of --size are loaded
    #[arg(long, value_name = "URL[,URL…]", help_heading = "Target")]
    pub(crate) target: Option<String>,

    /// Name of the store's database: one for all servers, one for each, or several on one server [default: prony_orders]
    #[arg(long, value_name = "NAME[,NAME…]", help_heading = "Target")]
    pub(crate) database: Option<String>,

    #[command(flatten)]
    pub(crate) log: DatabaseLog,

    #[command(flatten)]
    pub(crate) restore: DatabaseRestore,

    #[command(flatten)]
    pub(crate) managed: Managed,

    /// Times that the load is measured; what a run added is removed before the next [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Study", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each run but the first [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Study")]
    pub(crate) pause: Option<Span>,

    /// File with what the measured system costs (TOML: currency, date, source, term, and [[items]] with name, amount and
    /// quantity), for the cost of an order a minute
    #[arg(long, value_name = "FILE", help_heading = "Study")]
    pub(crate) prices: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,

    #[command(flatten)]
    pub(crate) compat: CompatOutput,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct CompatOutput {
    /// Print DVD Store's own lines, field for field, instead of the report, and wait after a deadlock as its driver does
    /// (--deadlock-pause 1s)
    #[arg(long, help_heading = "Output", conflicts_with_all = ["json", "csv"])]
    pub(crate) compat: bool,

    /// With --compat: time between two lines [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = "Output", requires = "compat")]
    pub(crate) report_rate: Option<Span>,

    /// With --compat: a line for each target too, where there are several
    #[arg(long, help_heading = "Output", requires = "compat", conflicts_with = "csv_output")]
    pub(crate) detailed_view: bool,

    /// With --compat: lines of comma-separated values
    #[arg(long, help_heading = "Output", requires = "compat")]
    pub(crate) csv_output: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Store {
    /// Database: sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (MariaDB too),
    /// sqlserver://USER@HOST/DATABASE or a connection string of SQL Server. On a server the database named here is only
    /// logged in to; the store has one of its own. A password can be in the address, in PGPASSWORD, MYSQL_PWD or
    /// SQLCMDPASSWORD
    #[arg(long, value_name = "URL")]
    pub(crate) target: String,

    /// Name of the store's database on the server [default: prony_orders]
    #[arg(long, value_name = "NAME")]
    pub(crate) database: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LoadOrders {
    #[command(flatten)]
    pub(crate) store: Store,

    /// Load again if there is a store already, or one whose load was broken off: it is removed first
    #[arg(long)]
    pub(crate) replace: bool,

    #[command(flatten)]
    pub(crate) rows: StoreRows,

    #[command(flatten)]
    pub(crate) files: DatabaseFiles,

    #[command(flatten)]
    pub(crate) log: DatabaseLog,

    #[command(flatten)]
    _told: Told,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyOrders {
    #[command(flatten)]
    pub(crate) store: Store,

    #[command(flatten)]
    _told: Told,
}

#[derive(Debug, Args)]
pub(crate) struct StoreRows {
    /// Size of the store, from 1MB to 1000GB. It is a name: 10MB are 20,000 customers, 12,000 orders and 10,000 products;
    /// 1GB and sizes above it follow rules of their own, those of DVD Store
    #[arg(long, value_name = "SIZE", default_value_t)]
    pub(crate) size: StoreSize,

    /// Seed of the rows: the same seed and size make the same rows, with any number of threads
    #[arg(long, value_name = "NUMBER", default_value_t = StoreData::SEED)]
    pub(crate) seed: u64,

    /// Threads that make rows, and in a load send them [default: one for each CPU]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

impl StoreRows {
    /// Threads, as given or as there are CPUs.
    pub(crate) fn threads(&self) -> usize {
        self.threads.map_or_else(|| ::disk::usable_cpus().len().max(1), usize::from)
    }
}

#[derive(Debug, Args)]
pub(crate) struct GenerateOrders {
    /// Directory of the files: customers.csv, orders.csv and so on (RFC 4180, with a header line). None of them may exist. A
    /// directory is made if only it itself does not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) csv: PathBuf,

    #[command(flatten)]
    pub(crate) rows: StoreRows,

    #[command(flatten)]
    _told: Told,
}
