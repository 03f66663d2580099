//! The command line. Help, manual and shell completions come from these definitions.

mod study;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use disk::Settings;
use load::{Size, Span};
use workload::historian;
use workload::orders::{self, StoreData, StoreSize};

pub(crate) use study::{Compare, GivenStudy, PlanStudy, ResumeStudy, RunStudy, ShowStudy, Study};

/// Measures a database server, from the disk up to the application, and says what limits it
#[derive(Debug, Parser)]
#[command(name = "prony", version, max_term_width = 110)]
#[command(
    after_help = "Exit codes: 0 measured, 1 something failed, 2 wrong arguments, 3 a rate was not held or a threshold \
                  failed, 4 no rate was found that is held, or one or a threshold could not be judged, 5 a trial is invalid, 130 interrupted (what was measured is saved).\nEvery option with a value can also be set in the \
                  environment, except those that let something be overwritten: --block-size is PRONY_BLOCK_SIZE. \
                  An option given on the command line wins."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What does this machine give a database? Measures the disk under a directory, and a historian on SQLite
    Check(Check),
    /// Measure a directory's file system, a file, or a block device
    Disk(Box<Disk>),
    /// What record rate does a database hold? Collects, buffers, writes, reads and purges as a historian does
    Historian(Box<Historian>),
    /// The order store: customers who log in, browse and buy, as in DVD Store 2.1
    #[command(subcommand)]
    Orders(Orders),
    /// Vary what you like, in blocks, and say what each change gains: study files, and published studies ready to run
    #[command(subcommand)]
    Study(Study),
    /// Compare results directories: what differs in machine and settings, and what each gains over the first
    Compare(Compare),
    /// Serve a simulated PLC over Modbus TCP, for a historian to collect from
    Plc(Plc),
    /// Take SQLIO's options and parameter file, and print what SQLIO printed
    #[command(disable_help_flag = true)]
    Sqlio {
        /// SQLIO's arguments; -? lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<OsString>,
    },
    /// Show what would be run, how long it takes and how much it writes. Touches nothing
    #[command(subcommand)]
    Plan(Planned),
    /// Make the report of a results directory again
    Report(Report),
    /// Write the figures of one or several results directories as one long table, for DuckDB, pandas or a spreadsheet
    #[command(after_help = EXPORT_COLUMNS)]
    Export(Export),
    /// Print a completion script for a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of prony or of one of its commands
    Man {
        /// Command
        command: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Planned {
    /// Plan of `prony check`
    Check(Check),
    /// Plan of `prony disk`; of the output options only --json has a meaning here
    Disk(Box<Disk>),
    /// Plan of `prony historian`; of the output options only --json has a meaning here
    Historian(Box<Historian>),
    /// Plan of `prony orders run`; of the output options only --json has a meaning here
    Orders(Box<RunOrders>),
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Directory whose disk is measured
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Size of the test file [default: 1GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) file_size: Option<Size>,

    /// Length of each measured window [default: 8s]
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Span>,

    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Disk {
    /// Directories (test files of our own are made there), files or block devices
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// A bundle of tests: quick, cdm3, cdm8, sqlserver, sweep, steady [default: the one test the options describe]
    #[arg(long, value_name = "NAME", help_heading = "Study", value_parser = profile_names(&::study::DISK_PROFILES))]
    pub(crate) profile: Option<String>,

    /// Times that each test is measured [default: 1, or the profile's]
    #[arg(long, value_name = "NUMBER", help_heading = "Study", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each test but the first [default: 0s, or the profile's]
    #[arg(long, value_name = "TIME", help_heading = "Study")]
    pub(crate) pause: Option<Span>,

    /// Mean latency past which a sweep goes no deeper [default: 20ms in the profile sweep]
    #[arg(long, value_name = "TIME", help_heading = "Study")]
    pub(crate) latency_tolerance: Option<Span>,

    /// Compare with what an array should give: DISKS x KIND [RAID], such as "100 x sas10k raid10"
    #[arg(long, value_name = "ARRAY", help_heading = "Study")]
    pub(crate) expect: Option<String>,

    #[command(flatten)]
    pub(crate) settings: Settings,

    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Historian {
    /// Database: sqlite:FILE, postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE (MariaDB too). On a server the
    /// database named here is only logged in to; a new one is made for the test. A password can be in the address, in
    /// PGPASSWORD or in MYSQL_PWD
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: String,

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

    /// Look for the highest rate that is held, and confirm it. Takes about an hour; with --quick some minutes
    #[arg(long, help_heading = "Study", conflicts_with = "profile")]
    pub(crate) find_max: bool,

    /// Rate that a search begins with [default: 1000]
    #[arg(long, value_name = "PER_SECOND", help_heading = "Study", requires = "find_max")]
    pub(crate) start_rate: Option<f64>,

    /// Length of a step that confirms the answer, warm-up included [default: 5m, or five maintenance intervals]
    #[arg(long, value_name = "TIME", help_heading = "Study", requires = "find_max")]
    pub(crate) confirm: Option<Span>,

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
    pub(crate) settings: historian::Settings,

    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Orders {
    /// Write the rows of a store to CSV files, one a table, without a database
    Generate(GenerateOrders),
    /// Load a store into a database, which is made for it and stays
    Load(LoadOrders),
    /// Drive loaded stores: orders a minute, response times, and what became of each order
    Run(Box<RunOrders>),
    /// Count what is in a loaded store, and set it against what was loaded
    Verify(VerifyOrders),
}

#[derive(Debug, Args)]
pub(crate) struct RunOrders {
    /// Servers or files with stores that were loaded by `prony orders load`, several separated by commas, each driven by
    /// clients of its own: sqlite:FILE, postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE. A password can be in
    /// the address, in PGPASSWORD or in MYSQL_PWD
    #[arg(long, value_name = "URL[,URL…]", help_heading = "Target")]
    pub(crate) target: String,

    /// Name of the store's database: one for all servers, one for each, or several on one server [default: prony_orders]
    #[arg(long, value_name = "NAME[,NAME…]", help_heading = "Target")]
    pub(crate) database: Option<String>,

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
    pub(crate) settings: orders::Settings,

    #[command(flatten)]
    pub(crate) compat: CompatOutput,

    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct CompatOutput {
    /// Print DVD Store's own lines, field for field, instead of the report
    #[arg(long, help_heading = "Output", conflicts_with_all = ["json", "csv"])]
    pub(crate) compat: bool,

    /// With --compat: time between two lines [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = "Output", requires = "compat")]
    pub(crate) report_rate: Option<Span>,

    /// With --compat: a line for each target too
    #[arg(long, help_heading = "Output", requires = "compat", conflicts_with = "csv_output")]
    pub(crate) detailed_view: bool,

    /// With --compat: lines of comma-separated values
    #[arg(long, help_heading = "Output", requires = "compat")]
    pub(crate) csv_output: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Store {
    /// Database: sqlite:FILE, postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE (MariaDB too). On a server the
    /// database named here is only logged in to; the store has one of its own. A password can be in the address, in
    /// PGPASSWORD or in MYSQL_PWD
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
}

#[derive(Debug, Args)]
pub(crate) struct VerifyOrders {
    #[command(flatten)]
    pub(crate) store: Store,
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
}

#[derive(Debug, Args)]
pub(crate) struct Plc {
    #[command(flatten)]
    pub(crate) settings: workload::plc::Settings,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Results directory
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,

    #[command(flatten)]
    pub(crate) format: Format,
}

/// What stands under the help of `prony export`.
const EXPORT_COLUMNS: &str = "A row is one metric of one trial. Columns: study (name of the results directory), trial, block, \
                              configuration, one for each axis, metric, unit, value, and valid, which is false where the \
                              trial failed, was cut off or does not mean what it should.

    prony export prony-results/* --parquet --output runs.parquet
    duckdb -c \"FROM 'runs.parquet' WHERE valid AND metric = 'iops'\"";

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Results directories
    #[arg(required = true, value_name = "DIR")]
    pub(crate) directories: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) form: ExportForm,

    /// File that is made; one that exists is refused [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ExportForm {
    /// CSV (RFC 4180). An apostrophe stands before a text that a spreadsheet would run, and control characters are escaped;
    /// Parquet has texts as they are
    #[arg(long)]
    pub(crate) csv: bool,

    /// Parquet, which keeps the types of the columns
    #[arg(long)]
    pub(crate) parquet: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Output {
    /// Directory in which results directories are made
    #[arg(long, value_name = "DIR", default_value = "prony-results", help_heading = "Output")]
    pub(crate) results: PathBuf,

    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Format {
    /// Print one JSON document instead of the table
    #[arg(long, help_heading = "Output", conflicts_with = "csv")]
    pub(crate) json: bool,

    /// Print the table as CSV; an apostrophe stands before a text that a spreadsheet would run
    #[arg(long, help_heading = "Output")]
    pub(crate) csv: bool,
}

fn profile_names(profiles: &[::study::ReadyStudy]) -> clap::builder::PossibleValuesParser {
    let value = |profile: &::study::ReadyStudy| {
        clap::builder::PossibleValue::new(profile.name).help(profile.answers())
    };
    profiles.iter().map(value).collect::<Vec<_>>().into()
}

/// What may cost somebody data is asked for each time, never by a variable that was set long ago.
const NOT_FROM_ENVIRONMENT: [&str; 3] = ["overwrite", "destroy", "create"];

/// Lets every option with a value be set by an environment variable: `--block-size` by `PRONY_BLOCK_SIZE`.
pub(crate) fn with_environment(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| {
        let Some(long) = argument.get_long() else { return argument };
        if !argument.get_action().takes_values() || NOT_FROM_ENVIRONMENT.contains(&long) {
            return argument;
        }
        let variable = format!("PRONY_{}", long.to_uppercase().replace('-', "_"));
        argument.env(variable).hide_env(true)
    });
    command.mut_subcommands(with_environment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definitions_are_consistent() {
        with_environment(Arguments::command()).debug_assert();
    }
}
