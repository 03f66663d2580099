//! The command line. Help, manual and shell completions come from these definitions.

mod disk;
mod examples;
mod historian;
mod inspect;
mod instance;
mod lab;
mod laid;
mod managed;
mod orders;
mod planned_orders;
mod register;
mod reporting;
mod runs;
mod script;
mod study;
mod tables;
mod verify_disk;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use load::{Size, Span};

pub(crate) use disk::Disk;
pub(crate) use examples::of as examples_of;
pub(crate) use historian::Historian;
pub(crate) use inspect::Inspect;
pub(crate) use instance::{Instance, ListInstances, LogOfInstance, StartInstance};
pub(crate) use lab::{CreateLab, Lab, ListLabs};
pub(crate) use laid::{DatabaseFiles, DatabaseLog, DatabaseRestore};
pub(crate) use managed::{CheckedServer, Managed, ServerArguments, decided};
pub(crate) use orders::{CompatOutput, GenerateOrders, LoadOrders, Orders, RunOrders, Store, VerifyOrders};
pub(crate) use planned_orders::{PlannedOrders, completed};
pub(crate) use register::Register;
pub(crate) use reporting::Reporting;
pub(crate) use runs::{Among, Called, List, MustHold};
pub(crate) use script::Script;
pub(crate) use study::{
    Compare, GivenStudy, History, HistoryForm, PlanStudy, ResumeStudy, RunStudy, ShowStudy, Study,
};
pub(crate) use tables::Tables;
pub(crate) use verify_disk::Verify;

/// Measures a database server, from the disk up to the application, and says what limits it
#[derive(Debug, Parser)]
#[command(name = "prony", version, max_term_width = 110)]
#[command(
    after_help = "Exit codes: 0 measured, 1 something failed or cannot be reached, 2 wrong arguments, 3 a rate was not held, a threshold \
                  failed, a change is beyond its limit, a figure is worse than at the baseline or a setting endangers data, 4 no rate was found that is held, or one, a threshold or a change could not be judged, 5 a trial is invalid, 130 interrupted (what was measured is saved).\nEvery option with a value can also be set in the \
                  environment, except those that let something be overwritten: --block-size is PRONY_BLOCK_SIZE; \
                  and in a file of defaults, as block_size under [disk]. The command line wins over the environment, and that over the file."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    _defaults: Defaults,
}

// What says where defaults are; it is read before all else, which needs them.
#[derive(Debug, Args)]
struct Defaults {
    /// File of your own defaults [default: ~/.config/prony/config.toml, if there is one]
    #[arg(long = "config", global = true, value_name = "FILE")]
    _config: Option<PathBuf>,

    /// Take no defaults from a file
    #[arg(long = "no-config", global = true)]
    _no_config: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Measuring(Measuring),
    /// The order store: customers who log in, browse and buy, as in DVD Store 2.1
    #[command(subcommand)]
    Orders(Orders),
    /// Vary what you like, in blocks, and say what each change gains: study files, and published studies ready to run
    #[command(subcommand)]
    Study(Study),
    /// Compare results directories: what differs in machine and settings, and what each gains over the first
    Compare(Compare),
    /// Follow one configuration over many results directories: when each figure changed, what changed with it, and whether it is worse
    History(History),
    /// Find settings of this machine and of servers that endanger data or cost performance, and say what to do. Changes nothing
    ///
    /// Looks at memory, processors and clock of the machine, at file systems, devices and arrays below paths and servers, and asks each server
    /// for its settings. Each piece of advice says what was found, why it matters, the command or setting that changes it, and where the
    /// product's own documentation says so. What a login may not see is named with the grant.
    ///
    /// Ends with 0 if nothing was found that is as grave as --fail-on says, with 3 if something was, and else with 4 if a server did not tell
    /// all that is asked of it.
    Inspect(Inspect),
    /// Serve a simulated PLC over Modbus TCP, for a historian to collect from
    Plc(Plc),
    /// Start, list and end servers of prony's own, for hand work; and those that a killed prony left
    #[command(subcommand)]
    Instance(Instance),
    /// Make, list and remove laboratories: volumes of loop devices, throttled if you like
    ///
    /// Root makes and removes them. Below their devices are files of one disk. What is measured there tells what placement gains and how
    /// figures follow from throttles; it tells nothing of absolute speed, of the time of seeks, or of controllers and their caches.
    #[command(subcommand)]
    Lab(Lab),
    /// Take SQLIO's options and parameter file, and print what SQLIO printed
    #[command(disable_help_flag = true)]
    Sqlio {
        /// SQLIO's arguments; -? lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<OsString>,
    },
    /// Show what would be run, how long it takes and how much it writes. Touches nothing
    #[command(subcommand, mut_subcommands(as_plan))]
    Plan(Planned),
    /// Make the report of a results directory again
    Report(Report),
    /// List the runs that are stored: when, what they are called, what was measured on what, what came of it, and where it is
    List(List),
    /// Write the figures of one or several results directories as one long table, for DuckDB, pandas or a spreadsheet
    #[command(after_help = EXPORT_COLUMNS)]
    Export(Export),
    /// Print what a warning or a piece of advice means, how it is computed, and what to do
    ///
    /// Reports end each warning with its rule in brackets, such as [noisy]. Without a rule, all rules are listed.
    Explain(Explain),
    /// Print a completion script for a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of prony or of one of its commands
    Man {
        /// Words of the command, such as orders run
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
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
    /// What does this machine give a database? Measures the disk under a directory, and a historian and orders on SQLite
    ///
    /// About two minutes: eight disk tests that stand for a database's I/O, then the record rate of a historian and the orders a
    /// minute of a small order store, both on SQLite in the same directory. It writes a test file of 1 GiB, which has no name and
    /// vanishes with the process, and two databases, prony-check.sqlite and prony-check-orders.sqlite, which it removes at the end.
    /// With --managed both run once more on a server that is started for them in the same directory, unless --data names another.
    /// `prony plan check` says how long it takes and what it writes with other options.
    Check(Box<Measured<Check>>),
    /// Measure a directory's file system, a file, or a block device
    Disk(Box<Measured<Disk>>),
    /// Does this storage keep what it acknowledged? SQL-Server-like I/O whose every page is checked
    ///
    /// Every page that is written says where it belongs and how often it was written, and carries checksums; every page that is read is
    /// checked as it arrives, and all of them in audits, the last one after the load. What is wrong is told by its class: bytes that were
    /// not read, zeros, old data, misdirected reads and writes, torn pages, corrupt ones, stale reads, lost writes, phantoms, I/O errors,
    /// and I/Os that take longer than they may. Findings are in the results directory below findings/, without any data of yours.
    /// Ends with 1 if anything is wrong.
    Verify(Box<Measured<Verify>>),
    /// What record rate does a database hold? Collects, buffers, writes, reads and purges as a historian does
    Historian(Box<Measured<Historian>>),
    /// How many of your own transactions a second does a database take? Runs SQL in files, in pgbench's language, on every engine
    ///
    /// A file is a transaction: statements that end with a semicolon, with :variables, and pgbench's commands \set (with all functions and
    /// distributions), \gset, \aset, \if, \elif, \else, \endif and \sleep. \expect rows = 1 behind a statement says how many rows it
    /// has to give or change. Every transaction, and every statement of it, is timed. --replay takes a log of statements with times instead.
    /// docs/script.md has all of it.
    Script(Box<Measured<Script>>),
    /// How long does a report over millions of messages take, at first and again, and how much memory, CPU and IOPS does it need?
    ///
    /// A database of classified messages is made from a seed, and asked for the report "messages by domain" over a share of its dates:
    /// once cold, then five times more, once while nothing else goes on and once while 82.5 events a second arrive. All rows are read and
    /// checked. docs/reporting.md says what is made cold how, and how memory, CPUs and IOPS of a server become what a study varies.
    Reporting(Box<Measured<Reporting>>),
    /// How long is a database away, and what does it lose? Writes and reads registers, and checks all that was answered
    ///
    /// Clients write values to rows of one table and read them. Every operation is kept with the times at which it was sent and answered,
    /// and each row has to be what a register is that is written and read at once: updates that are lost though they were
    /// acknowledged, stale and dirty reads, reads that go back in time, and writes that were done twice are told by their names, with the operations that
    /// prove them. Each time without an answer is told with its length, of all clients together, of writes, of reads and of each
    /// client. Break the server, switch it over, or restart it meanwhile. Ends with 1 if anything is wrong. docs/register.md has all of it.
    Register(Box<Measured<Register>>),
    /// In memory or on disk, durable or not, compiled or not, row or column? The same rows and operations on every kind of table
    ///
    /// Kinds are named by what they are, and each engine has some of them: row (on disk, what the others are set against), volatile (in
    /// memory, or without a log), relaxed (durable late), memory-durable, clustered, covering, columnstore-index, columnstore, archive,
    /// rocks (MyRocks) and aria. Load, SELECT by value, scan, GROUP BY, UPDATE and DELETE of all rows, updates and deletes by key of many clients are each
    /// timed by themselves, and every answer is checked. docs/tables.md has all of it.
    Tables(Box<Measured<Tables>>),
}

// A command that measures: what it asks for, and what becomes of the results.
#[derive(Debug, Args)]
pub(crate) struct Measured<W: Args> {
    #[command(flatten)]
    pub(crate) asked: W,

    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Planned {
    #[command(flatten)]
    Measuring(Measuring),
    /// Plan of `prony orders run`, which may be left out, or of `prony orders load`
    #[command(subcommand)]
    Orders(PlannedOrders),
}

/// A command that measures, as one that shows its plan.
fn as_plan(command: clap::Command) -> clap::Command {
    // That of a command within a group says so itself.
    if command.get_about().is_some_and(|about| about.to_string().starts_with("Plan of")) {
        return command;
    }
    let name = command.get_name();
    let about = format!("Plan of `prony {name}`; of the output options only --json has a meaning here");
    command.about(about)
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

    /// Also write pages that can tell where they belong, and check each that is read: half a minute more (prony verify)
    #[arg(long)]
    pub(crate) thorough: bool,

    #[command(flatten)]
    pub(crate) managed: CheckedServer,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Rule, as a report prints it: noisy
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
    /// Results directory, or the name of a run (prony list), or latest
    #[arg(value_name = "DIR|NAME")]
    pub(crate) directory: PathBuf,

    #[command(flatten)]
    pub(crate) among: Among,

    #[command(flatten)]
    pub(crate) format: Format,

    /// Percentiles of the latency that tables show, such as 50,99,99.99, each between 0 and 100 and eight at most; JSON, CSV and exports
    /// have them besides the usual ones [default: those of the study, or 50,95,99,99.9]
    #[arg(long, value_name = "LIST", help_heading = "Output")]
    pub(crate) percentiles: Option<record::Percentiles>,

    #[command(flatten)]
    pub(crate) documents: AskedDocuments,
}

/// What stands under the help of `prony export`.
const EXPORT_COLUMNS: &str = "A row is one metric of one trial. Columns: study (name of the results directory), trial, block, \
                              configuration, one for each axis, metric, unit, value, and valid, which is false where the \
                              trial failed, was cut off or does not mean what it should.\n\n\
                              With --series a row is one second of one trial: study to the axes as above, time (its end, in \
                              UTC), end_s (since the load began), length_s, phase (warm-up, measured, drain), then what was \
                              recorded. Of each kind of operation: read_operations, read_per_s, read_mb_per_s, read_rows, \
                              read_errors, read_min_ms, read_mean_ms, read_p50_ms, read_p95_ms, read_p99_ms, read_p999_ms, \
                              read_max_ms. Then the workload's gauges, such as pending_records; generator_cpu_cores, \
                              generator_busiest_share and pauses; cpu_busy_share and others of the processors, pressure_io_share; \
                              device_sda_reads_per_s and others of each device; server_NAME_cpu_cores, memory_bytes and \
                              processes of each server; started_NAME_cpu_cores, throttled_cores and memory_bytes of one that was \
                              started; valid. Shares are of 0-1. What was not recorded, or of too few \
                              operations, is NULL, and no zero.";

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Results directories, or names of runs (prony list)
    #[arg(required = true, value_name = "DIR|NAME")]
    pub(crate) directories: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) among: Among,

    #[command(flatten)]
    pub(crate) form: ExportForm,

    /// A row for each second of each trial, in place of one for each metric
    #[arg(long)]
    pub(crate) series: bool,

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
    pub(crate) called: Called,

    #[command(flatten)]
    pub(crate) format: Format,

    /// Percentiles of the latency that tables show, such as 50,99,99.99, each between 0 and 100 and eight at most; JSON, CSV and exports
    /// have them besides the usual ones [default: those of the study, or 50,95,99,99.9]
    #[arg(long, value_name = "LIST", help_heading = "Output")]
    pub(crate) percentiles: Option<record::Percentiles>,

    #[command(flatten)]
    pub(crate) documents: AskedDocuments,

    #[command(flatten)]
    _told: Told,
}

// How much is told on stderr; read from the matches of whatever command has it. No global option: -v is one of SQLIO's own.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Told {
    /// Tell nothing but the result and errors: no announcement, no live line
    #[arg(id = "quiet", short, long, help_heading = "Output", conflicts_with = "verbose")]
    _quiet: bool,

    /// Tell on stderr what is done and how long it takes: trials, commands around them, calibrations, notes, outages
    #[arg(id = "verbose", short, long, help_heading = "Output")]
    _verbose: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Format {
    /// Print one JSON document instead of the table
    #[arg(long, help_heading = "Output", conflicts_with = "csv")]
    pub(crate) json: bool,

    /// Print every table and sentence, not only the answer, and on a terminal of 80 columns or more rate and 99th percentile over time;
    /// always with PRONY_DETAILS=1
    #[arg(long, help_heading = "Output")]
    pub(crate) details: bool,

    /// Print the table as CSV; an apostrophe stands before a text that a spreadsheet would run
    #[arg(long, help_heading = "Output")]
    pub(crate) csv: bool,
}

// What is written beside what is printed.
#[derive(Clone, Debug, Args)]
pub(crate) struct AskedDocuments {
    /// Write the answer, how far to trust it and its tables as Markdown, for a comment on a pull request, to a new file; - prints it in
    /// place of the text
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) markdown: Option<PathBuf>,

    /// Write what had to hold and what was measured as JUnit XML, for continuous integration, to a new file; what was not judged is an
    /// error there and never passed. - prints it in place of the text
    #[arg(long, value_name = "FILE", help_heading = "Output")]
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
        if !argument.get_action().takes_values() || COSTS_DATA.contains(&long) {
            return argument;
        }
        let variable = format!("PRONY_{}", long.to_uppercase().replace('-', "_"));
        argument.env(variable).hide_env(true)
    });
    command.mut_subcommands(with_environment)
}

/// The whole command line as it is read and shown.
pub(crate) fn program() -> clap::Command {
    with_environment(examples::shown(Arguments::command()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        program().debug_assert();
    }
}
