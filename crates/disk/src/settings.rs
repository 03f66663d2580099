//! Parameters of the disk workload as a user gives them: on the command line, in the environment, in a study file.
//!
//! Everything is optional here, so that layers can be laid over each other; [`crate::Job`] is what they come to.
//! The text of `--help`, of the manual and of the study file's keys is the documentation of these fields.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use load::{Size, Span};
use serde::{Deserialize, Serialize};

/// Parameters of a disk test. What is not given comes from the profile, and then from the defaults named here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Bytes of one I/O [default: 4KiB]
    #[arg(long, alias = "bs", value_name = "SIZE", help_heading = "Access")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size: Option<Size>,

    /// Share of reads in per cent; the rest are writes [default: 100]
    #[arg(long, alias = "rwmixread", value_name = "PER_CENT", help_heading = "Access", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub read_share: Option<f64>,

    /// random, sequential, strided:BLOCKS or zipf:EXPONENT [default: random]
    ///
    /// The order of the I/Os. With `sequential:shared`, all threads of a file share one stream. `strided:64` accesses every
    /// 64th block. `zipf:1.1` is random with a hot spot: a larger exponent makes the spot hotter.
    #[arg(long, value_name = "PATTERN", help_heading = "Access")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,

    /// Start of the region used in each file [default: 0]
    #[arg(long, hide_short_help = true, value_name = "SIZE", help_heading = "Access")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<Size>,

    /// Length of the region used in each file [default: to its end]
    #[arg(long, hide_short_help = true, value_name = "SIZE", help_heading = "Access")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Size>,

    /// Outstanding I/Os per thread [default: 1, or 128 with --rate]
    ///
    /// With --rate, this is the maximum per thread.
    #[arg(long, alias = "iodepth", value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,

    /// Load threads [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,

    /// Time under load before the measured window [default: 1s]
    #[arg(long, alias = "warmup", value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// Length of the measured window [default: 10s]
    #[arg(short, short_alias = 'T', long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,

    /// Target rate of an open loop, in I/Os per second
    ///
    /// The rate is the total of all threads. You can add a unit: 500/s, 30000/min. Without --rate the loop is
    /// closed: each thread sends the next I/O when an earlier one is answered.
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,

    /// Spacing of the I/Os of an open loop [default: fixed]
    #[arg(long, hide_short_help = true, value_name = "SPACING", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Spacing>,

    /// Wait after each answer in a closed loop [default: 0s]
    ///
    /// Each of the outstanding I/Os waits separately before the next one is sent.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<Span>,

    /// Test files to create in each directory [default: 1]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Files")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u32>,

    /// Size of each test file [default: 1GiB]
    #[arg(long, value_name = "SIZE", help_heading = "Files")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size: Option<Size>,

    /// Fill new test files before the first trial [default: fill]
    ///
    /// With --no-fill, new files stay unwritten. Reads can then be answered without access to the disk, and the
    /// report says so.
    #[arg(long, hide_short_help = true, help_heading = "Files", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_fill: Option<bool>,

    /// Times to write test files before the first trial [default: 1]
    #[arg(long, hide_short_help = true, help_heading = "Files", value_name = "NUMBER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_passes: Option<u32>,

    /// Create the file PATH if it does not exist
    ///
    /// The file has the size of --file-size, and prony does not delete it.
    #[arg(long, help_heading = "Files", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<bool>,

    /// Write to an existing file; its content is lost
    ///
    /// This option is required for a file that prony did not create.
    #[arg(long, help_heading = "Files", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwrite: Option<bool>,

    /// Write to a block device; its content is lost
    ///
    /// The device PATH must have this serial number or by-id name.
    #[arg(long, help_heading = "Files", value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destroy: Option<String>,

    /// O_DIRECT (direct) or the file cache (buffered) [default: direct]
    #[arg(long, value_name = "MODE", help_heading = "Caches and data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,

    /// Complete each write only on stable storage (O_DSYNC) [default: no]
    #[arg(long, help_heading = "Caches and data", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_through: Option<bool>,

    /// Call fdatasync after this many writes of a thread [default: never]
    #[arg(long, hide_short_help = true, value_name = "WRITES", help_heading = "Caches and data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<u64>,

    /// Share of each written block that compresses, in per cent [default: 0]
    #[arg(long, hide_short_help = true, value_name = "PER_CENT", help_heading = "Caches and data", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub compressible: Option<f64>,

    /// Share of written blocks that repeat others, in per cent [default: 0]
    #[arg(long, hide_short_help = true, value_name = "PER_CENT", help_heading = "Caches and data", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<f64>,

    /// Interface that sends the I/Os [default: auto]
    ///
    /// With `auto`, prony uses io_uring, or threads with psync if io_uring is not permitted.
    #[arg(long, hide_short_help = true, value_name = "ENGINE", help_heading = "Engine")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineChoice>,

    /// Register buffers with the ring, to save CPU [default: yes]
    #[arg(long, hide_short_help = true, help_heading = "Engine", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered_buffers: Option<bool>,

    /// CPUs to pin threads to, in turn [default: all usable CPUs]
    ///
    /// A list such as 0,2-3, or none.
    #[arg(long, hide_short_help = true, value_name = "CPUS", help_heading = "Engine")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,

    /// Poll the device for completions (IOPOLL) [default: no]
    ///
    /// Polling replaces interrupts. It works only if the device has queues for it.
    #[arg(long, hide_short_help = true, help_heading = "Engine", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll: Option<bool>,

    /// Let a kernel thread submit I/Os (SQPOLL) [default: no]
    ///
    /// This needs 4 CPUs. The kernel thread's CPU time is not included in that of the generator.
    #[arg(long, hide_short_help = true, help_heading = "Engine", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_submission: Option<bool>,

    /// Seed of all random choices [default: 42]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Engine")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,

    /// Check every page that is read, with database-like I/O
    ///
    /// The profile `sqliosim` mixes random reads and updates, read-ahead, log writes, checkpoints, growth and shrinking.
    /// The profile `log` consists mainly of log writes, and `checkpoint` mainly of checkpoints. `quick` runs all briefly.
    #[arg(long, hide_short_help = true, value_name = "PROFILE", help_heading = "Verify")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyProfile>,

    /// Report each I/O that takes longer as an error [default: 15s]
    ///
    /// Applies when pages are verified. Each such I/O is reported once.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Verify")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<Span>,

    /// Time between audits that read everything [default: 300s]
    ///
    /// Applies when pages are verified. One more audit follows at the end.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Verify")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_every: Option<Span>,

    /// Record durable writes in this file, or at HOST:PORT
    ///
    /// The file must be new and on another device. For HOST:PORT, first run prony with --serve-journal on another
    /// host. After a crash, --after-crash compares the journal with the files. Test files keep their length while a
    /// journal is kept.
    #[arg(long, hide_short_help = true, value_name = "FILE_OR_HOST", help_heading = "Verify")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<PathBuf>,

    /// The simulated device, for `--engine simulated`.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Simulated>,

    /// Pools of threads with their own files, instead of the target, `files` and `threads`.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pools: Option<Vec<Pool>>,

    /// All pools share their threads, which send one I/O to each file in turn [default: false].
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<bool>,
}

/// Where successive I/Os of a thread go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// One block after the other; threads of a file begin at equal distances.
    Sequential,
    /// One block after the other; all threads of a file take the next block of one stream.
    SharedSequential,
    /// Uniform over the region.
    Random,
    /// Every so many blocks. Thread t begins at block t and goes on to the end of the region. In runs, it goes back after
    /// each of them and begins the next one a block further: as SQLIO walks over a strip, of which each thread has a part.
    Strided {
        /// Distance of successive I/Os in blocks.
        blocks: u64,
        /// Runs, if it goes back.
        runs: Option<Run>,
    },
    /// Random with a hot spot: block frequencies fall as rank^−exponent, ranks scattered over the region.
    Zipf {
        /// Exponent, above 0.
        exponent: f64,
    },
}

/// A run of strided I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// I/Os of a run, at least one.
    pub ios: u64,
    /// Whether a thread does its first run again and again: the error of SQLIO 1.1.1.
    pub reused: bool,
}

/// What the load of a verifying test is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum VerifyProfile {
    /// Random reads and updates with hot spots, read-ahead, log writes, checkpoints, growing and shrinking files.
    Sqliosim,
    /// Mostly log writes: each write is durable before the next.
    Log,
    /// Mostly checkpoints: many runs of pages in order, then one flush.
    Checkpoint,
    /// Like sqliosim, with frequent checkpoints and length changes, so that a short run includes them.
    Quick,
}

impl VerifyProfile {
    /// As it is given.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqliosim => "sqliosim",
            Self::Log => "log",
            Self::Checkpoint => "checkpoint",
            Self::Quick => "quick",
        }
    }
}

/// How the I/Os of an open loop are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Evenly spaced.
    Fixed,
    /// Exponential gaps, as from independent users.
    Poisson,
}

/// Which caches may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// O_DIRECT: bypasses the file cache.
    Direct,
    /// Goes through the file cache.
    Buffered,
}

/// How I/Os are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// io_uring, or psync if the kernel does not permit it.
    Auto,
    /// io_uring, or an error.
    Uring,
    /// One pread or pwrite at a time.
    Psync,
    /// Sends nothing: shows the limit of the generator itself.
    Null,
    /// A device with a given service time in virtual time, for tests.
    #[value(hide = true)]
    Simulated,
}

/// A device that exists only in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Simulated {
    /// Time it takes for one I/O.
    pub service: Span,
    /// I/Os it works on at once, for each thread.
    pub parallel: u32,
    /// The I/O (counted from 1, per thread) that fails with EIO, if any.
    pub fails_at: Option<u64>,
}

impl Default for Simulated {
    fn default() -> Self {
        Self { service: Span::microseconds(100), parallel: 1, fails_at: None }
    }
}

/// Threads that work on one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// File.
    pub path: PathBuf,
    /// Threads.
    pub threads: u32,
    /// CPUs they may run on; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,
    /// Size of the file in use; the whole file if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

/// CPUs that threads are pinned to in turn; empty for no pinning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affinity(pub Vec<u32>);

/// A text that is none of the values a parameter can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid value `{given}`: not a {wanted}")]
pub struct ValueError {
    given: String,
    wanted: &'static str,
}

impl FromStr for Pattern {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let error = || ValueError {
            given: text.to_owned(),
            wanted: "pattern. Give sequential, sequential:shared, random, strided:BLOCKS (for example \
                 strided:64), or zipf:EXPONENT (for example zipf:1.1)",
        };
        let (name, argument) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        match (name.trim().to_ascii_lowercase().as_str(), argument) {
            ("sequential", None) => Ok(Self::Sequential),
            ("sequential", Some("shared")) => Ok(Self::SharedSequential),
            ("random", None) => Ok(Self::Random),
            ("strided", Some(argument)) => {
                let (blocks, runs) = argument.split_once(':').map_or((argument, None), |(b, r)| (b, Some(r)));
                let blocks = blocks.parse().ok().filter(|&blocks| blocks > 0).ok_or_else(error)?;
                let runs = runs.map(|runs| Run::read(runs).ok_or_else(error)).transpose()?;
                Ok(Self::Strided { blocks, runs })
            }
            ("zipf", Some(exponent)) => exponent
                .parse()
                .ok()
                .filter(|exponent: &f64| (0.01..=10.0).contains(exponent))
                .map(|exponent| Self::Zipf { exponent })
                .ok_or_else(error),
            _ => Err(error()),
        }
    }
}

impl Run {
    /// `64`, or `64:reused`; none of other texts.
    fn read(text: &str) -> Option<Self> {
        let (ios, reused) = text.strip_suffix(":reused").map_or((text, false), |ios| (ios, true));
        ios.parse().ok().filter(|&ios| ios > 0).map(|ios| Self { ios, reused })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequential => f.write_str("sequential"),
            Self::Random => f.write_str("random"),
            Self::SharedSequential => f.write_str("sequential:shared"),
            Self::Strided { blocks, runs: None } => write!(f, "strided:{blocks}"),
            Self::Strided { blocks, runs: Some(Run { ios, reused }) } => {
                write!(f, "strided:{blocks}:{ios}{}", if *reused { ":reused" } else { "" })
            }
            Self::Zipf { exponent } => write!(f, "zipf:{exponent}"),
        }
    }
}

impl FromStr for Affinity {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let error = || ValueError {
            given: text.to_owned(),
            wanted: "list of CPUs. Give numbers and ranges, for example 0,2-3, or none",
        };
        if text.trim().eq_ignore_ascii_case("none") {
            return Ok(Self::default());
        }
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.trim().parse().map_err(|_| error())?;
            let last: u32 = last.trim().parse().map_err(|_| error())?;
            if first > last || last > 4095 {
                return Err(error());
            }
            cpus.extend(first..=last);
        }
        Ok(Self(cpus))
    }
}

impl fmt::Display for Affinity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (position, cpu) in self.0.iter().enumerate() {
            write!(f, "{}{cpu}", if position == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

load::serde_as_text!(Pattern);
load::serde_as_text!(Affinity);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_are_read_and_nonsense_is_refused() {
        for (text, pattern) in [
            ("random", Pattern::Random),
            ("Sequential", Pattern::Sequential),
            ("sequential:shared", Pattern::SharedSequential),
            ("strided:64", Pattern::Strided { blocks: 64, runs: None }),
            ("strided:64:8", Pattern::Strided { blocks: 64, runs: Some(Run { ios: 8, reused: false }) }),
            (
                "strided:64:8:reused",
                Pattern::Strided { blocks: 64, runs: Some(Run { ios: 8, reused: true }) },
            ),
            ("zipf:1.1", Pattern::Zipf { exponent: 1.1 }),
        ] {
            assert_eq!(text.parse(), Ok(pattern), "{text}");
        }
        for text in [
            "",
            "strided",
            "strided:0",
            "zipf:",
            "zipf:-1",
            "zipf:nan",
            "random:3",
            "strided:1:0",
            "strided:1::reused",
        ] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn cpu_lists_are_read() {
        assert_eq!("0,2-4".parse(), Ok(Affinity(vec![0, 2, 3, 4])));
        assert_eq!("none".parse(), Ok(Affinity::default()));
        for text in ["", "4-2", "a", "0,,1", "99999"] {
            assert!(text.parse::<Affinity>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_answer_or_an_error(text in ".{0,20}") {
            if let Ok(pattern) = text.parse::<Pattern>() {
                prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
            }
            if let Ok(cpus) = text.parse::<Affinity>() {
                prop_assert_eq!(cpus.to_string().parse(), Ok(cpus));
            }
        }
    }
}
