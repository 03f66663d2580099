//! The command line. Help, manual and shell completions come from these definitions.

mod disk;
mod examples;
mod help;
mod historian;
mod inspect;
mod instance;
mod lab;
mod laid;
mod managed;
mod measured;
pub(crate) mod orders;
mod register;
mod renamed;
mod reporting;
mod runs;
mod script;
mod study;
mod switches;
mod tables;
mod verify_disk;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use load::{Size, Span};

pub(crate) use disk::Disk;
pub(crate) use examples::of as examples_of;
pub(crate) use help::{brief, exit_codes, groups};
pub(crate) use historian::Historian;
pub(crate) use inspect::Inspect;
pub(crate) use instance::{Instance, ListInstances, LogOfInstance, StartInstance};
pub(crate) use lab::{CreateLab, Lab, ListLabs};
pub(crate) use laid::{DatabaseFiles, DatabaseLog, DatabaseRestore};
pub(crate) use managed::{CheckedServer, Managed, ServerArguments, decided};
pub(crate) use measured::Measured;
pub(crate) use orders::{GenerateOrders, LoadOrders, Orders, PlannedOrders, RunOrders, Store, VerifyOrders};
pub(crate) use register::Register;
pub(crate) use renamed::{new_command, new_option, notes as notes_on_names};
pub(crate) use reporting::Reporting;
pub(crate) use runs::{Among, Called, Described, List, MustHold, SHOWN};
pub(crate) use script::Script;
pub(crate) use study::{
    Compare, GivenStudy, History, HistoryForm, PlanStudy, ResumeStudy, RunStudy, ShowStudy, Study,
};
pub(crate) use switches::{BOTH, for_shells, spelled_out};
pub(crate) use tables::Tables;
pub(crate) use verify_disk::Verify;

/// Sources of option values, in the long help of the program.
const PRECEDENCE: &str = "\
Environment and defaults:
  Every option with a value can also be set in the environment: --block-size is PRONY_BLOCK_SIZE.
  It can also be set in a file of defaults: block_size under [disk]. The command line takes precedence
  over the environment, and the environment over the file. Options that allow overwriting are accepted
  on the command line only.";

/// The version with the commit and the profile of this build.
const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BUILT_FROM"), ")");

/// Measure a database server and name its bottleneck
#[derive(Debug, Parser)]
#[command(name = "prony", version, long_version = LONG_VERSION, max_term_width = 110)]
#[command(after_long_help = PRECEDENCE)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    _defaults: Defaults,
}

// What says where defaults are; it is read before all else, which needs them.
#[derive(Debug, Args)]
struct Defaults {
    /// File of your defaults [default: ~/.config/prony/config.toml]
    ///
    /// TOML, with a table for each command. A missing file is an error only if this option names it.
    #[arg(long = "config", global = true, hide_short_help = true, value_name = "FILE", help_heading = help::GLOBAL)]
    _config: Option<PathBuf>,

    /// Ignore the file of your defaults
    #[arg(long = "no-config", global = true, hide_short_help = true, help_heading = help::GLOBAL)]
    _no_config: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Measuring(Measuring),
    /// Load and run order stores, as DVD Store 2.1
    #[command(subcommand)]
    Orders(Orders),
    /// Run studies: vary parameters in blocks and compare
    #[command(subcommand)]
    Study(Study),
    /// Compare runs: machine, settings and gain over the first
    Compare(Compare),
    /// Follow one configuration over many runs, and find changes
    History(History),
    /// Find settings that endanger data or cost performance
    ///
    /// Changes nothing. Inspects the machine's memory, CPUs and clock, and the file systems, devices and arrays under
    /// paths and servers. Also asks each server for its settings. Each piece of advice states the finding, the
    /// reason, the command or setting that changes it, and the place in the product's documentation. If a login lacks
    /// permission to see a setting, prony names the privilege to grant.
    ///
    /// The exit code is 3 if any finding has the severity of --fail-on or higher. Otherwise it is 4 if a
    /// server did not report all settings, and 0 if every server did.
    #[command(visible_alias = "doctor")]
    Inspect(Inspect),
    /// Serve a simulated PLC over Modbus TCP
    Plc(Plc),
    /// Start, list and stop managed servers
    ///
    /// Use them for manual tests. The servers run until you stop them. The list includes servers that a killed prony
    /// left.
    #[command(subcommand)]
    Instance(Instance),
    /// Create, list and delete lab volumes of loop devices
    ///
    /// Requires root. The devices are files on one disk, optionally throttled. Lab volumes show gains from
    /// placement, and ratios that follow from throttles. They do not show absolute speed, seek times, or effects of
    /// controllers and their caches.
    #[command(subcommand)]
    Lab(Lab),
    /// Run with SQLIO's options, and print SQLIO's output
    #[command(disable_help_flag = true)]
    Sqlio {
        /// Arguments of SQLIO; -? lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<OsString>,
    },
    /// Show what a command would do, without running it
    ///
    /// Prints steps, time and bytes written. It changes nothing.
    #[command(subcommand, mut_subcommands(as_plan))]
    Plan(Planned),
    /// Print the report of a run again
    Report(Report),
    /// List stored runs: date, name, test, result and directory
    List(List),
    /// Export figures as one table, for DuckDB, pandas, spreadsheets
    #[command(after_long_help = EXPORT_COLUMNS)]
    Export(Export),
    /// Explain a warning or a piece of advice
    ///
    /// Prints its meaning, how it is computed, and what to do. Reports end each warning with its rule in brackets,
    /// such as [noisy]. Without a rule, prony lists all rules.
    Explain(Explain),
    /// Print a completion script for a shell
    Completions {
        /// Shell to print the script for
        shell: clap_complete::Shell,
    },
    /// Print the manual page of prony or of a command
    Man {
        /// Command, such as study run
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,

        /// Print it as Markdown; also for warnings and exit-codes
        #[arg(long)]
        markdown: bool,
    },
}

impl Command {
    /// Whether anything of a file of defaults can have an effect on it.
    pub(crate) fn heeds_defaults(&self) -> bool {
        !matches!(self, Self::Sqlio { .. } | Self::Completions { .. } | Self::Man { .. } | Self::Explain(_))
    }
}

// Commands that measure and have no others beside them. With a third stroke this would be the help of `prony`.
#[derive(Debug, Subcommand)]
pub(crate) enum Measuring {
    /// Measure the disk under a directory, and SQLite on it
    ///
    /// Takes about 100 s. Runs eight disk tests that represent the I/O of a database. Then it measures the
    /// record rate of a historian, and the orders per minute of a small order store. Both use SQLite in the same
    /// directory. It writes an unnamed test file of 1 GiB, which disappears when the process ends. It also writes
    /// two databases, prony-check.sqlite and prony-check-orders.sqlite, and deletes them at the end. With --managed
    /// both workloads also run on a server that prony starts in the same directory, or in that of --data. `prony
    /// plan check` shows time and bytes written for your options.
    Check(Box<Measured<Check>>),
    /// Measure a file system, a file or a block device
    Disk(Box<Measured<Disk>>),
    /// Check that storage keeps the data that it acknowledged
    ///
    /// The I/O resembles that of SQL Server. Every written page contains its position, a count of its writes, and
    /// checksums. Every page is checked when it is read. Audits check all pages; the last audit follows the load.
    ///
    /// Errors are classified: bytes that were not read, zeros, old data, misdirected reads and writes, and torn
    /// pages. Other classes are corrupt pages, stale reads, lost writes, phantoms, I/O errors, and stalls. Findings are in
    /// the results directory under findings/, without any of your data. The exit code is 1 if anything is wrong.
    Verify(Box<Measured<Verify>>),
    /// Measure the record rate that a database sustains
    ///
    /// Collects, buffers, writes, reads and purges as a SCADA historian does.
    Historian(Box<Measured<Historian>>),
    /// Run your own SQL or pgbench scripts, on every engine
    ///
    /// Each file contains one transaction. Statements end with a semicolon and can contain :variables. pgbench commands
    /// work: \set (with all functions and distributions), \gset, \aset, \if, \elif, \else, \endif and \sleep.
    /// \expect rows = 1 after a statement requires that it returns or changes this number of rows. Every transaction and
    /// every statement is timed. --replay replays a log of statements with their times instead. See docs/script.md.
    Script(Box<Measured<Script>>),
    /// Time a report over millions of messages, cold and warm
    ///
    /// Creates a database of classified messages from a seed. Then it asks for the report "messages by domain" over
    /// a share of the dates: once with cold caches, then five times more. It does so once without other load, and once while
    /// 82.5 events arrive per second. All rows are read and checked. docs/reporting.md describes how data is made
    /// cold, and how a study varies a server's memory, CPUs and IOPS.
    Analytics(Box<Measured<Reporting>>),
    /// Measure outages and lost writes, for example during a failover
    ///
    /// Clients write values to rows of one table and read them. prony records every operation with the times of its
    /// request and its answer. Each row must behave like a register that is written and read atomically. Anomalies
    /// are listed with the operations that prove them. They include lost acknowledged updates, stale and dirty reads,
    /// reads that go back in time, and writes that took effect twice.
    ///
    /// Each period without an answer is listed with its length: for all clients together, for writes, for reads and
    /// for each client. Break the server, switch it over or restart it during the test. The exit code is 1 if
    /// anything is wrong. See docs/register.md.
    Failover(Box<Measured<Register>>),
    /// Compare kinds of tables: memory, durability, rows and columns
    ///
    /// Runs the same operations on the same rows in every kind of table. Each engine has some of the kinds: row (on disk,
    /// the reference), volatile (in memory or without log), relaxed (durable later). Others are memory-durable, clustered,
    /// covering, columnstore-index, columnstore, archive, rocks (MyRocks) and aria.
    ///
    /// Load, SELECT by value, scan and GROUP BY are timed separately. So are UPDATE and DELETE of all rows, and
    /// updates and deletes by key with many clients. Every answer is checked. See docs/tables.md.
    Tables(Box<Measured<Tables>>),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Planned {
    #[command(flatten)]
    Measuring(Measuring),
    /// Show the plan of `prony orders run` or `load`
    ///
    /// The word `run` can be omitted.
    #[command(subcommand)]
    Orders(PlannedOrders),
}

/// A command that measures, as one that shows its plan.
fn as_plan(command: clap::Command) -> clap::Command {
    // That of a command within a group says so itself.
    if command.get_about().is_some_and(|about| about.to_string().starts_with("Show the plan of")) {
        return command;
    }
    let about = format!("Show the plan of `prony {}`", command.get_name());
    let long = format!("{about}\n\nOnly --json of the output options has an effect.");
    command.about(about).long_about(long)
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Directory to measure
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Size of the test file [default: 1GiB]
    #[arg(long, help_heading = "Load", value_name = "SIZE")]
    pub(crate) file_size: Option<Size>,

    /// Length of each measured window [default: 8s]
    #[arg(short, short_alias = 'T', long, help_heading = "Load", value_name = "TIME")]
    pub(crate) duration: Option<Span>,

    /// Also check every page that is read; adds 30 s
    ///
    /// Writes pages that contain their position, as prony verify does.
    #[arg(long, help_heading = "Load")]
    pub(crate) thorough: bool,

    #[command(flatten)]
    pub(crate) managed: CheckedServer,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Rule as shown in a report, such as noisy
    #[arg(value_name = "RULE")]
    pub(crate) rule: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Plc {
    #[command(flatten)]
    pub(crate) settings: workload::plc::Settings,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Results directory, name of a run (prony list), or latest
    #[arg(value_name = "DIR|NAME")]
    pub(crate) directory: PathBuf,

    #[command(flatten)]
    pub(crate) among: Among,

    #[command(flatten)]
    pub(crate) format: Format,

    /// Percentiles of latency in tables, such as 50,99,99.99
    ///
    /// Give at most eight, each between 0 and 100. JSON, CSV and exports contain both these and the usual ones.
    /// [default: the study's, or 50,95,99,99.9]
    #[arg(long, hide_short_help = true, value_name = "LIST", help_heading = "Output")]
    pub(crate) percentiles: Option<record::Percentiles>,

    /// Write a one-page summary to a new file
    ///
    /// The page is one sheet of A4, for people who decide. It has the question, the answer, one chart, the reliability, the
    /// machine and the date. If FILE is -, prony prints the page instead of the text.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) summary: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) described: Described,

    #[command(flatten)]
    pub(crate) documents: AskedDocuments,
}

/// The columns, in the help of `prony export`.
const EXPORT_COLUMNS: &str = "\
Columns without --series (one row per metric and trial):
  study          Name of the results directory.
  trial, block, configuration, and one column for each axis.
  metric, unit, value.
  valid          False if the trial failed, was interrupted or is invalid.

Columns with --series (one row per second and trial):
  Columns from study to the axes, as above.
  time           End of the second, in UTC.
  end_s          Seconds since the load started.
  length_s       Length in seconds.
  phase          warm-up, measured or drain.
  For each kind of operation, such as read:
                 read_operations, read_per_s, read_mb_per_s, read_rows, read_errors.
                 read_min_ms, read_mean_ms, read_p50_ms, read_p95_ms, read_p99_ms, read_p999_ms, read_max_ms.
  The workload's gauges, such as pending_records.
  generator_cpu_cores, generator_busiest_share, pauses.
  cpu_busy_share and other columns for the CPUs, pressure_io_share.
  For each device, such as sda: device_sda_reads_per_s and others.
  For each server: server_NAME_cpu_cores, memory_bytes and processes.
  For each managed server: started_NAME_cpu_cores, throttled_cores and memory_bytes.
  valid          As above.

Shares range from 0 to 1. A value is NULL if it was not recorded, or if there were too few operations.";

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Results directories, or names of runs (prony list)
    #[arg(required = true, value_name = "DIR|NAME")]
    pub(crate) directories: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) among: Among,

    #[command(flatten)]
    pub(crate) form: ExportForm,

    /// Write one row per second instead of one per metric
    #[arg(long)]
    pub(crate) series: bool,

    /// File to create; must not exist [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ExportForm {
    /// Write CSV (RFC 4180)
    ///
    /// Text that a spreadsheet would run as a formula gets an apostrophe in front. Control characters are escaped. Parquet
    /// keeps texts unchanged.
    #[arg(long)]
    pub(crate) csv: bool,

    /// Write Parquet, which keeps the types of columns
    #[arg(long)]
    pub(crate) parquet: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Output {
    /// Parent directory for results
    #[arg(long, value_name = "DIR", default_value = "prony-results", help_heading = "Output")]
    pub(crate) results: PathBuf,

    #[command(flatten)]
    pub(crate) called: Called,

    #[command(flatten)]
    pub(crate) format: Format,

    /// Percentiles of latency in tables, such as 50,99,99.99
    ///
    /// Give at most eight, each between 0 and 100. JSON, CSV and exports contain both these and the usual ones.
    /// [default: the study's, or 50,95,99,99.9]
    #[arg(long, hide_short_help = true, value_name = "LIST", help_heading = "Output")]
    pub(crate) percentiles: Option<record::Percentiles>,

    #[command(flatten)]
    pub(crate) documents: AskedDocuments,

    #[command(flatten)]
    _told: Told,

    /// Show the plan and measure nothing, as prony plan does
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
}

// How much is told on stderr; read from the matches of whatever command has it. No global option: -v is one of SQLIO's own.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Told {
    /// Print only the result and errors
    #[arg(id = "quiet", short, long, help_heading = "Output", conflicts_with = "verbose")]
    _quiet: bool,

    /// Print each step and its time on stderr
    ///
    /// Steps are trials, commands before and after trials, calibrations, notes and outages.
    #[arg(id = "verbose", short, long, hide_short_help = true, help_heading = "Output")]
    _verbose: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Format {
    /// Print one JSON document instead of the table
    #[arg(long, help_heading = "Output", conflicts_with = "csv")]
    pub(crate) json: bool,

    /// Print all tables and texts, not only the summary
    ///
    /// On a terminal of at least 80 columns, prony also shows throughput and 99th percentile over time. PRONY_DETAILS=1
    /// makes this option the default.
    #[arg(long, help_heading = "Output")]
    pub(crate) details: bool,

    /// Print the table as CSV
    ///
    /// Text that a spreadsheet would run as a formula is prefixed with an apostrophe.
    #[arg(long, help_heading = "Output")]
    pub(crate) csv: bool,
}

// What is written beside what is printed.
#[derive(Clone, Debug, Args)]
pub(crate) struct AskedDocuments {
    /// Write a summary as Markdown to a new file
    ///
    /// The summary contains the answer, its reliability and its tables, for a comment on a pull request.
    /// If FILE is -, prony prints the document instead of the text.
    #[arg(long, hide_short_help = true, value_name = "FILE", help_heading = "Output")]
    pub(crate) markdown: Option<PathBuf>,

    /// Write results as JUnit XML to a new file
    ///
    /// Each threshold is a test case for continuous integration. A threshold that was not judged is an error, never a pass.
    /// If FILE is -, prony prints the document instead of the text.
    #[arg(long, hide_short_help = true, value_name = "FILE", help_heading = "Output")]
    pub(crate) junit: Option<PathBuf>,
}

/// The variable of the one flag that can be set in the environment.
pub(crate) const DETAILS: &str = "PRONY_DETAILS";

impl Format {
    /// The option by which something else is printed than the first screen.
    pub(crate) fn prints(self) -> Option<&'static str> {
        let all = [(self.json, "--json"), (self.csv, "--csv"), (self.details, "--details")];
        all.iter().find(|(is_asked, _)| *is_asked).map(|(_, option)| *option)
    }

    /// Whether tables are wanted, now or always. Not by clap, whose usage would name the option as if it had been given.
    pub(crate) fn wants_details(self) -> bool {
        let by_variable = || std::env::var_os(DETAILS).and_then(|value| yes_or_no(&value));
        self.details || by_variable().unwrap_or(false)
    }
}

/// What a variable of a flag says; none of a word that says neither.
pub(crate) fn yes_or_no(value: &std::ffi::OsStr) -> Option<bool> {
    match value.to_str()?.to_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "" | "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

fn profile_names(profiles: &[::study::ReadyStudy]) -> clap::builder::PossibleValuesParser {
    let value = |profile: &::study::ReadyStudy| {
        clap::builder::PossibleValue::new(profile.name).help(profile.answers())
    };
    profiles.iter().map(value).collect::<Vec<_>>().into()
}

/// What may cost somebody data is asked for each time, never by a variable that was set long ago.
pub(crate) const COSTS_DATA: [&str; 4] = ["overwrite", "destroy", "create", "replace"];

/// Lets every option with a value be set by an environment variable: `--block-size` by `PRONY_BLOCK_SIZE`.
pub(crate) fn with_environment(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| {
        let Some(long) = argument.get_long() else { return argument };
        let is_of_one_output = SHOWN.contains(&argument.get_id().as_str());
        if !argument.get_action().takes_values() || COSTS_DATA.contains(&long) || is_of_one_output {
            return argument;
        }
        let variable = renamed::variable(&argument, long);
        argument.env(variable).hide_env(true)
    });
    command.mut_subcommands(with_environment)
}

/// The whole command line as it is read and shown.
pub(crate) fn program() -> clap::Command {
    with_environment(command())
}

/// The command line without environment variables, for the manual.
pub(crate) fn command() -> clap::Command {
    help::arranged(examples::shown(renamed::with_old_names(Arguments::command())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        program().debug_assert();
    }
}
