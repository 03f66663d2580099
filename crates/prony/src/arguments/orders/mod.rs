//! Arguments of `prony orders`.

mod planned;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use load::Span;
use workload::orders::{Settings, StoreData, StoreSize};

use super::{DatabaseFiles, DatabaseLog, DatabaseRestore, Managed, Measured, MustHold, Told};

pub(crate) use planned::PlannedOrders;

#[derive(Debug, Subcommand)]
pub(crate) enum Orders {
    /// Write the rows of a store to CSV files
    ///
    /// There is one file per table. No database is needed.
    Generate(GenerateOrders),
    /// Load a store into a new database and keep it
    Load(LoadOrders),
    /// Run orders on loaded stores
    ///
    /// Reports orders per minute, response times, and the fate of each order.
    Run(Box<Measured<RunOrders>>),
    /// Compare the rows of a store with its load
    Verify(VerifyOrders),
}

#[derive(Debug, Args)]
pub(crate) struct RunOrders {
    /// Databases with loaded stores, separated by commas
    ///
    /// Load the stores with `prony orders load` first. Each target has its own clients. sqlite:FILE,
    /// postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (also MariaDB) or sqlserver://USER@HOST/DATABASE.
    /// A SQL Server connection string cannot be one of several targets. The password can be in the address, in
    /// PGPASSWORD, MYSQL_PWD or SQLCMDPASSWORD. To start a server instead, use --managed: prony loads stores of
    /// --size into it.
    #[arg(long, value_name = "URL[,URL…]", help_heading = "Target")]
    pub(crate) target: Option<String>,

    /// Name of the store's database [default: prony_orders]
    ///
    /// Give one name for all servers, one name per server, or several names for a single server.
    #[arg(long, hide_short_help = true, value_name = "NAME[,NAME…]", help_heading = "Target")]
    pub(crate) database: Option<String>,

    #[command(flatten)]
    pub(crate) log: DatabaseLog,

    #[command(flatten)]
    pub(crate) restore: DatabaseRestore,

    #[command(flatten)]
    pub(crate) managed: Managed,

    /// Times to measure the load [default: 1]
    ///
    /// prony deletes the orders of a trial before the next one.
    #[arg(long, value_name = "NUMBER", help_heading = "Repeats and thresholds", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each trial except the first [default: 0s]
    #[arg(long = "cooldown", value_name = "TIME", help_heading = "Repeats and thresholds")]
    pub(crate) pause: Option<Span>,

    /// File with the system's prices, for cost per order
    ///
    /// The result is the cost per order per minute. The file is TOML: currency, date, source, term, and [[items]]
    /// with name, amount and quantity.
    #[arg(long, hide_short_help = true, value_name = "FILE", help_heading = "Output")]
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
    /// Print lines like DVD Store's driver instead of the report
    ///
    /// The lines have the driver's fields. After a deadlock, prony waits as long as the driver (--deadlock-pause 1s).
    #[arg(long, hide_short_help = true, help_heading = "Output", conflicts_with_all = ["json", "csv"])]
    pub(crate) compat: bool,

    /// With --compat: time between two lines [default: 10s]
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Output", requires = "compat")]
    pub(crate) report_rate: Option<Span>,

    /// With --compat: also print a line for each target
    #[arg(
        long,
        hide_short_help = true,
        help_heading = "Output",
        requires = "compat",
        conflicts_with = "csv_output"
    )]
    pub(crate) detailed_view: bool,

    /// With --compat: print comma-separated values
    #[arg(long, hide_short_help = true, help_heading = "Output", requires = "compat")]
    pub(crate) csv_output: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Store {
    /// Database of the store
    ///
    /// sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE (also MariaDB),
    /// sqlserver://USER@HOST/DATABASE or a SQL Server connection string. On a server, prony uses the database named here
    /// only to log in; the store has its own database. The password can be in the address, in PGPASSWORD, MYSQL_PWD or
    /// SQLCMDPASSWORD.
    #[arg(long, value_name = "URL")]
    pub(crate) target: String,

    /// Name of the store's database [default: prony_orders]
    #[arg(long, value_name = "NAME")]
    pub(crate) database: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LoadOrders {
    #[command(flatten)]
    pub(crate) store: Store,

    /// Delete an existing store first, even an incomplete one
    #[arg(long)]
    pub(crate) replace: bool,

    #[command(flatten)]
    pub(crate) rows: StoreRows,

    #[command(flatten)]
    pub(crate) files: DatabaseFiles,

    #[command(flatten)]
    pub(crate) log: DatabaseLog,

    /// Show the plan and load nothing, as prony plan does
    #[arg(long)]
    pub(crate) dry_run: bool,

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
    /// Size of the store, from 1MB to 1000GB
    ///
    /// The size is nominal: 10MB means 20,000 customers, 12,000 orders and 10,000 products. 1GB and larger sizes follow their
    /// own rules, as in DVD Store.
    #[arg(long, alias = "db-size", value_name = "SIZE", default_value_t)]
    pub(crate) size: StoreSize,

    /// Seed of the rows
    ///
    /// The same seed and size create the same rows, with any number of threads.
    #[arg(long, value_name = "NUMBER", default_value_t = StoreData::SEED)]
    pub(crate) seed: u64,

    /// Threads that create and load rows [default: one per CPU]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

impl StoreRows {
    /// The given number of threads, or one per CPU.
    pub(crate) fn threads(&self) -> usize {
        self.threads.map_or_else(|| ::disk::usable_cpus().len().max(1), usize::from)
    }
}

#[derive(Debug, Args)]
pub(crate) struct GenerateOrders {
    /// Directory for the files: customers.csv, orders.csv and others
    ///
    /// The files are CSV (RFC 4180) with a header line. None of them may exist. prony creates the directory if its
    /// parent exists.
    #[arg(long, value_name = "DIR")]
    pub(crate) csv: PathBuf,

    #[command(flatten)]
    pub(crate) rows: StoreRows,

    #[command(flatten)]
    _told: Told,
}
