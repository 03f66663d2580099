//! Benchmarks against other tools, in turn on the same machine: ratios say more than figures. And hostile situations, of
//! which the figure is how many are survived.
//!
//! They are no part of `cargo xtask ci`: a shared machine would make them fail at random.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};

use against::Against;

use crate::workspace::Workspace;

mod against;
mod all;
mod calls;
mod diagnosis;
mod disk;
mod disk_verify;
mod encryption;
mod faults;
mod guest;
mod historian;
mod io_limit;
mod orders;
mod pgbench;
mod program;
mod ratio;
mod report;
mod reporting;
mod restore;
mod statistics;
mod study;
mod sysbench;
mod tool;

/// What is compared.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// I/O engines against fio: CPU per I/O, I/Os a second, and how well rates are kept
    Disk(DiskOptions),
    /// Reads of which every page is checked against reads that are not, and against fio's verify=crc32c; memory a page
    Verify(VerifyOptions),
    /// Sessions with TLS against the same without: flushes, calls, sessions opened
    Encryption(EncryptionOptions),
    /// SQL of users against pgbench: transactions a second, client CPU of each, and what a server that hangs does to an open loop
    #[command(name = "script")]
    Pgbench(PgbenchOptions),
    /// Client CPU of calls to SQL Server against the same calls to PostgreSQL
    Calls(CallsOptions),
    /// The historian against bare loops of the same statements, on throwaway servers
    Historian(HistorianOptions),
    /// The order store: rows that one core makes, a load against psql's \copy, CPU and memory of clients
    Orders(OrdersOptions),
    /// Messages of reports: rows that one core makes, a load against psql's \copy, and what reading and checking rows costs
    Reporting(ReportingOptions),
    /// Time that the report of an hour of one-second samples takes
    Report,
    /// Bringing a server's files back between trials against cp --reflink=auto
    Restore(RestoreOptions),
    /// Time that the plan and the report of a study of 500 trials take
    Study,
    /// What the statistics claim, tried on simulated data; writes docs/statistics.md
    Statistics(StatisticsOptions),
    /// Hostile situations at random moments: kills, silent servers, mutated results, planted files; how many are survived
    Faults(FaultsOptions),
    /// Limits under systemd and version 2 of control groups, and packets that are held back, in a small virtual machine; as root
    Guest,
    /// Known bottlenecks, made one at a time: how often prony names them right
    Diagnosis(DiagnosisOptions),
    /// All benchmarks of a cost or a rate, one after the other
    All(AllOptions),
}

#[derive(Args)]
pub(crate) struct AllOptions {
    /// Few and short runs
    #[arg(long)]
    quick: bool,
    /// Write docs/benchmarks.md
    #[arg(long, conflicts_with = "against")]
    write: bool,
}

#[derive(Args)]
pub(crate) struct DiskOptions {
    /// Pairs of runs; fio and prony take turns
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Seconds of one run; benchmarks of rates take at least 10
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// CPU that the load thread is pinned to [default: the last one]
    #[arg(long)]
    cpu: Option<usize>,
    /// Directory of the test file, on the device to be read [default: the target directory]
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,
    /// Size of the test file
    #[arg(long, default_value_t = 1024, value_name = "MIB", value_parser = clap::value_parser!(u64).range(16..))]
    file_mib: u64,
    /// Only benchmarks whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

#[derive(Args)]
pub(crate) struct VerifyOptions {
    /// Rounds: reads without checks, with them, and fio's take turns
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Seconds of one run; fio's reads its file once
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// CPU that the load thread is pinned to [default: the last one]
    #[arg(long)]
    cpu: Option<usize>,
    /// Directory of the test files, on the device to be read [default: the target directory]
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,
    /// Size of each test file
    #[arg(long, default_value_t = 1024, value_name = "MIB", value_parser = clap::value_parser!(u64).range(32..))]
    file_mib: u64,
    /// Only what contains this: cpu, memory
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// A prony that was built already [default: the release one, which is built]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct EncryptionOptions {
    /// Pairs of runs; with and without TLS take turns
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Seconds of one run
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

#[derive(Args)]
pub(crate) struct PgbenchOptions {
    /// Pairs of runs for each number of clients; pgbench and prony take turns
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Seconds of one run
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    seconds: u32,
    /// Only what contains this: clients, frozen
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Only so many clients [default: 1, 8 and 32]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    clients: Option<u32>,
    /// A prony that was built already [default: the release one, which is built]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct CallsOptions {
    /// Address of a SQL Server [default: one that PRONY_TDS_SERVER starts]
    #[arg(long)]
    url: Option<String>,
    /// Pairs of runs; the servers take turns
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Seconds of one run
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

#[derive(Args)]
pub(crate) struct HistorianOptions {
    /// Pairs of runs; bare loop and historian take turns
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Seconds of one run, after a second that does not count
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Directory of the databases [default: the target directory, servers in the one for temporary files]
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,
    /// Only benchmarks whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

#[derive(Args)]
pub(crate) struct OrdersOptions {
    /// Runs of each kind
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Pairs of loads, in which psql and prony take turns, and of runs with and without sampling
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Size of the store that is loaded
    #[arg(long, default_value = "1GB")]
    size: String,
    /// Only benchmarks whose name contains this: rows, load, clients, sampling
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

#[derive(Args)]
pub(crate) struct ReportingOptions {
    /// Runs of each kind, and pairs
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Only benchmarks whose name contains this: rows, load, read
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

#[derive(Args)]
pub(crate) struct RestoreOptions {
    /// Pairs of copies; cp and prony take turns
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Size of what is copied, beside an empty server
    #[arg(long, default_value_t = 1024, value_name = "MIB", value_parser = clap::value_parser!(u64).range(16..))]
    mib: u64,
    /// Directory on the volume in question [default: the target directory]
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct StatisticsOptions {
    /// Print only the sections whose title contains this, and leave the page as it is
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

#[derive(Args)]
pub(crate) struct FaultsOptions {
    /// Only areas whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Cases of each area [default: each area's own number]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Seed of all random choices [default: another one each time]
    #[arg(long)]
    seed: Option<u64>,
    /// A prony that was built already [default: the release one, which is built]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct DiagnosisOptions {
    /// Runs of each case
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Only cases whose name contains this
    #[arg(long, value_name = "CASE", default_value = "")]
    only: String,
    /// Only cases of this engine
    #[arg(long)]
    engine: Option<diagnosis::Engine>,
    /// A prony that was built already [default: the release one, which is built]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Directory of servers and files, on the device that is to be the bottleneck [default: the target directory]
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,
    /// Store here what prony looked at in each run, as the tests of its rules have it
    #[arg(long, value_name = "PATH")]
    keep: Option<PathBuf>,
}

impl Bench {
    /// Tells whether everything survived; a goal that was missed is printed and nothing more. With another program, tells whether
    /// this tree's is no regression. `name` is the benchmark's on the command line.
    pub(crate) fn run(&self, name: &str, other: Option<&Path>, workspace: &Workspace) -> Result<bool> {
        if let Some(binary) = other {
            return self.run_against(name, binary, workspace);
        }
        match self {
            Self::Disk(options) => disk::run(options, workspace)?,
            Self::Verify(options) => disk_verify::run(options, workspace)?,
            Self::Encryption(options) => encryption::run(options, workspace)?,
            Self::Pgbench(options) => pgbench::run(options, workspace)?,
            Self::Calls(options) => calls::run(options, workspace)?,
            Self::Historian(options) => historian::run(options, workspace)?,
            Self::Orders(options) => orders::run(options, workspace)?,
            Self::Reporting(options) => reporting::run(options, workspace)?,
            Self::Report => report::run(workspace)?,
            Self::Restore(options) => restore::run(options, workspace)?,
            Self::Study => study::run(workspace)?,
            Self::Statistics(options) => statistics::run(options, workspace)?,
            Self::Faults(options) => return faults::run(options, workspace),
            Self::Guest => return guest::run(workspace),
            Self::Diagnosis(options) => return diagnosis::run(options, workspace),
            Self::All(options) => return all::run(options, workspace),
        }
        Ok(true)
    }

    fn run_against(&self, name: &str, binary: &Path, workspace: &Workspace) -> Result<bool> {
        let (bench, quick) = match self {
            Self::All(options) => (None, options.quick),
            _ => (Some(name), false),
        };
        let (pairs, seconds) = if quick { (7, 1) } else { (11, 3) };
        against::run(bench, &Against { binary, pairs, seconds }, workspace)
    }
}
