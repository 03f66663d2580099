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
    #[arg(long, value_name = "SIZE", help_heading = "Access")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size: Option<Size>,

    /// Share of reads in per cent; the rest are writes [default: 100]
    #[arg(long, value_name = "PER_CENT", help_heading = "Access", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub read_share: Option<f64>,

    /// Where successive I/Os go: sequential, sequential:shared (one stream for all threads of a file), random,
    /// strided:BLOCKS or zipf:EXPONENT (a hot spot) [default: random]
    #[arg(long, value_name = "PATTERN", help_heading = "Access")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,

    /// Begin of the region that is used of each file [default: 0]
    #[arg(long, value_name = "SIZE", help_heading = "Access")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<Size>,

    /// Length of the region that is used of each file [default: to its end]
    #[arg(long, value_name = "SIZE", help_heading = "Access")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Size>,

    /// I/Os that each thread keeps outstanding; with --rate, the most it may have [default: 1, or 128 with --rate]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,

    /// Threads [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,

    /// Load that does not count, before the measured window [default: 1s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// Length of the measured window [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,

    /// Open loop: I/Os due a second, all threads together, or with a unit: 500/s, 30000/min [default: closed loop, as fast as
    /// answers come]
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,

    /// Spacing of the I/Os of an open loop [default: fixed]
    #[arg(long, value_name = "SPACING", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Spacing>,

    /// Closed loop: pause after each answer before the next I/O of that slot [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<Span>,

    /// Test files made in each directory [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Files")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u32>,

    /// Size of each test file [default: 1GiB]
    #[arg(long, value_name = "SIZE", help_heading = "Files")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size: Option<Size>,

    /// Leave new test files unwritten: reads may then be answered without touching the disk, and the report says so
    #[arg(long, help_heading = "Files", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_fill: Option<bool>,

    /// Times that test files are written over before the first trial [default: 1]
    #[arg(long, help_heading = "Files", value_name = "NUMBER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_passes: Option<u32>,

    /// Make the file PATH, of --file-size, where it does not exist, and keep it
    #[arg(long, help_heading = "Files", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<bool>,

    /// Write to an existing file that prony did not make. Its content is lost
    #[arg(long, help_heading = "Files", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwrite: Option<bool>,

    /// Write to the block device PATH, which must have this serial number or by-id name. Its content is lost
    #[arg(long, help_heading = "Files", value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destroy: Option<String>,

    /// Caches on the way: direct bypasses the file cache (O_DIRECT), buffered goes through it [default: direct]
    #[arg(long, value_name = "MODE", help_heading = "Caches and data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,

    /// Answer a write only when it is on stable storage (O_DSYNC) [default: false]
    #[arg(long, help_heading = "Caches and data", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_through: Option<bool>,

    /// An fdatasync after every so many writes of a thread [default: never]
    #[arg(long, value_name = "WRITES", help_heading = "Caches and data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<u64>,

    /// Share of each written block that compresses, in per cent [default: 0]
    #[arg(long, value_name = "PER_CENT", help_heading = "Caches and data", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub compressible: Option<f64>,

    /// Share of written blocks that repeat others, in per cent [default: 0]
    #[arg(long, value_name = "PER_CENT", help_heading = "Caches and data", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<f64>,

    /// How I/Os are sent: auto takes io_uring, or psync threads where io_uring is not permitted [default: auto]
    #[arg(long, value_name = "ENGINE", help_heading = "Engine")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineChoice>,

    /// Register buffers with the ring: less CPU an I/O [default: true]
    #[arg(long, help_heading = "Engine", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered_buffers: Option<bool>,

    /// CPUs to pin threads to, in turn: a list such as 0,2-3, or none [default: all usable CPUs]
    #[arg(long, value_name = "CPUS", help_heading = "Engine")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,

    /// Poll the device for completions instead of waiting for interrupts; only where its queues can (IOPOLL)
    #[arg(long, help_heading = "Engine", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll: Option<bool>,

    /// Let a kernel thread submit (SQPOLL); needs 4 CPUs, and its CPU time is not in the generator's
    #[arg(long, help_heading = "Engine", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_submission: Option<bool>,

    /// Seed of all random choices [default: 42]
    #[arg(long, value_name = "NUMBER", help_heading = "Engine")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,

    /// Check every page that is read, with I/O like a database's: random reads and updates, read-ahead, a log, checkpoints, growth and
    /// shrinking (sqliosim), mostly a log (log), mostly checkpoints (checkpoint), or all of it in little time (quick)
    #[arg(long, value_name = "PROFILE", help_heading = "Verify")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyProfile>,

    /// Verifying: an I/O that takes longer is an error, told once [default: 15s]
    #[arg(long, value_name = "TIME", help_heading = "Verify")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<Span>,

    /// Verifying: time between two audits, in which everything is read; one more follows at the end [default: 300s]
    #[arg(long, value_name = "TIME", help_heading = "Verify")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_every: Option<Span>,

    /// Verifying: a new file, on another device, that is told what was acknowledged as durable, or HOST:PORT of a prony that keeps it
    /// (--serve-journal); after a crash --after-crash sets it against what is there. Files keep their length so
    #[arg(long, value_name = "FILE_OR_HOST", help_heading = "Verify")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<PathBuf>,

    /// The simulated device, for `--engine simulated`.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Simulated>,

    /// Pools of threads with files of their own, in place of the target, `files` and `threads`.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pools: Option<Vec<Pool>>,

    /// Whether the threads of all pools are the same ones, which send an I/O to each file in turn [default: false].
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
    /// Random reads and updates with hot spots, read-ahead, a log, checkpoints, files that shrink and grow.
    Sqliosim,
    /// Mostly a log, each write durable before the next.
    Log,
    /// Mostly checkpoints: many runs of pages in order, and a flush.
    Checkpoint,
    /// As `sqliosim`, with checkpoints and changes of length so often that a short run has them too.
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
    /// Evenly.
    Fixed,
    /// With exponential gaps, as independent users would.
    Poisson,
}

/// Which caches may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// O_DIRECT: not the file cache.
    Direct,
    /// The file cache too.
    Buffered,
}

/// How I/Os are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// io_uring, or psync where the kernel does not permit it.
    Auto,
    /// io_uring, or an error.
    Uring,
    /// One pread or pwrite at a time.
    Psync,
    /// Nothing is sent: shows what the generator itself can do.
    Null,
    /// A device with a given service time, in virtual time; for tests.
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
#[error("`{given}` is no {wanted}")]
pub struct ValueError {
    given: String,
    wanted: &'static str,
}

impl FromStr for Pattern {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let error = || ValueError {
            given: text.to_owned(),
            wanted: "pattern: give sequential, sequential:shared, random, strided:BLOCKS such as strided:64, or \
                     zipf:EXPONENT such as zipf:1.1",
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
            wanted: "list of CPUs: give numbers and ranges such as 0,2-3, or none",
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
