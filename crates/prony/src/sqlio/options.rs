//! What a test of SQLIO's is: its options with their meaning here, its defaults and its limits.
//!
//! These are the types that [`super::command_line`] reads arguments into. Nothing here touches a file: whether a
//! CPU, a file or a device exists is for the caller.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use record::{RunComment, RunName, RunTitle, Tag};

/// A test as SQLIO's options describe it. [`Options::default`] is
/// `-kR -t1 -s30 -f64 -b2 -i64 -BN testfile.dat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// `-k`
    pub(super) operation: Operation,
    /// `-t`: threads; without a parameter file each of them works on all files. With one, its lines say how many.
    pub(super) threads: u32,
    /// `-s`
    pub(super) seconds: u32,
    /// `-b`: KiB of one I/O.
    pub(super) block_kb: u32,
    /// `-f` and `-i`
    pub(super) pattern: Pattern,
    /// `-o`: outstanding I/Os per thread and file; none is SQLIO's default, one I/O at a time and waited for.
    pub(super) outstanding: Option<u32>,
    /// `-L`: whether latencies are printed.
    pub(super) latency: bool,
    /// `-U`
    pub(super) cpu_use: Option<CpuUse>,
    /// `-B`; none is not given, which runs as [`Buffering::None`] and prints no line.
    pub(super) buffering: Option<Buffering>,
    /// `-S`: block of `-b` KiB at which the tested region begins.
    pub(super) start_block: u64,
    /// `-p` and `-a`; a mask in the parameter file goes before it.
    pub(super) affinity: Affinity,
    /// What is loaded.
    pub(super) targets: Targets,
}

/// What is printed for `-?`; SQLIO's options and ours.
pub(super) const HELP: &str = include_str!("help.txt");
/// SQLIO's limit on threads, all files together.
pub(super) const THREADS_MAX: u32 = 256;
/// SQLIO's limit on files.
pub(super) const FILES_MAX: usize = 256;
/// One direction, as SQLIO never mixes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// `-kR`
    Read,
    /// `-kW`
    Write,
}

/// Where successive I/Os of a thread go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// `-frandom`
    Random,
    /// `-fsequential`
    Sequential,
    /// `-fN -iM`: a strip of M rows of N blocks. A run goes down a column, I/O k at block `column + k * N`; the next run is one
    /// column further, up to the last one of the thread's part of the columns, and then it begins again. The file needs
    /// `M * N` blocks, with the defaults 8 MB.
    Strided {
        /// N: blocks from one I/O to the next.
        blocks: u32,
        /// M: I/Os in a run.
        ios_per_run: u32,
        /// `-v1.1.1`: each thread does its first run again and again.
        reused: bool,
    },
}

/// Caches between the test and the disk, by what Windows calls them and what Linux does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Buffering {
    /// `-BN`, unbuffered and write-through, as SQL Server does: `O_DIRECT | O_DSYNC`.
    None,
    /// `-BY`, file cache and disk cache: plain reads and writes.
    Both,
    /// `-BH`, the disk's cache only: `O_DIRECT`.
    Hardware,
    /// `-BS`, the file cache only: plain reads, writes with `O_DSYNC`.
    Software,
}

/// Which CPU use is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CpuUse {
    /// `-U`
    Machine,
    /// `-Up`
    EachCpu,
}

/// CPUs that threads may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Affinity {
    /// Any.
    Any,
    /// `-p`: all threads on the CPU of this number.
    Cpu(u32),
    /// `-a`: all threads on the CPUs of this mask.
    Mask(u64),
    /// `-aR`: thread after thread on one CPU of this mask, in turn.
    RoundRobin(u64),
}

/// What is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Targets {
    /// Files or devices; every thread works on all of them.
    Files(Vec<PathBuf>),
    /// `-F`: a parameter file names the files and the threads of each.
    ParameterFile(PathBuf),
}

/// Options that SQLIO never had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extensions {
    /// `--overwrite`: files that are not the tool's own may be overwritten.
    pub(super) overwrite: bool,
    /// `--destroy NAME`: the serial number or by-id name of the device that may be overwritten.
    pub(super) destroy: Option<String>,
    /// `--results DIR` and `--no-results`
    pub(super) results: Results,
    /// `--name NAME`
    pub(super) name: Option<RunName>,
    /// `--tag KEY=VALUE`
    pub(super) tags: Vec<Tag>,
    /// `--title TEXT`
    pub(super) title: Option<RunTitle>,
    /// `--comment TEXT`
    pub(super) comment: Option<RunComment>,
}

/// Where the results directory goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Results {
    /// Where the other commands put it.
    #[default]
    Usual,
    /// Under this directory.
    Under(PathBuf),
    /// Nowhere.
    Discarded,
}

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// The options are to be listed.
    Help,
    /// A test is to be run.
    Test(Box<Invocation>),
}

/// A test that is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invocation {
    /// SQLIO's options.
    pub(super) options: Options,
    /// Ours.
    pub(super) extensions: Extensions,
    /// Lines for stderr: what was accepted and means less than it did.
    pub(super) notices: Vec<String>,
}

/// All mistakes of a command line, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Errors(pub(super) Vec<Mistake>);

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// The argument as it was given.
    pub(super) argument: String,
    /// What is wrong with it.
    pub(super) problem: String,
    /// The remedy. Empty if the problem includes it.
    pub(super) remedy: String,
}

/// What is said of a path in Windows' style, which is a plain file name here; none of other paths.
pub(super) fn windows_path_notice(file: &OsStr) -> Option<String> {
    let bytes = file.as_bytes();
    let has_drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    (has_drive || bytes.contains(&b'\\')).then(|| {
        let name = file.to_string_lossy();
        let place = if bytes.contains(&b'/') { "at that path" } else { "in the current directory" };
        format!(
            "{name}: Windows paths have no meaning on Linux. prony uses the file named \"{name}\" \
             {place}"
        )
    })
}

impl Default for Options {
    fn default() -> Self {
        Self {
            operation: Operation::Read,
            threads: 1,
            seconds: 30,
            block_kb: 2,
            pattern: Pattern::Strided { blocks: 64, ios_per_run: 64, reused: false },
            outstanding: None,
            latency: false,
            cpu_use: None,
            buffering: None,
            start_block: 0,
            affinity: Affinity::Any,
            targets: Targets::Files(vec![PathBuf::from("testfile.dat")]),
        }
    }
}

impl Errors {
    /// A line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |Mistake { argument, problem, remedy }: &Mistake| match remedy.as_str() {
            // The problem includes the remedy.
            "" => format!("{argument}: {problem}"),
            remedy => format!("{argument}: {problem}; {remedy}"),
        };
        self.0.iter().map(line).collect()
    }
}

/// What is wrong with CPUs of which some are not usable.
pub(super) fn unusable(cpus: impl IntoIterator<Item = u32>, usable: &[u32]) -> Option<String> {
    let others: Vec<String> =
        cpus.into_iter().filter(|cpu| !usable.contains(cpu)).map(|cpu| cpu.to_string()).collect();
    let (cpus, others) = (if others.len() == 1 { "CPU" } else { "CPUs" }, others.join(", "));
    let may: Vec<String> = usable.iter().map(ToString::to_string).collect();
    (!others.is_empty())
        .then(|| format!("needs {cpus} {others}, but this process may use only {}", may.join(", ")))
}

/// The CPUs of a mask.
pub(super) fn mask_cpus(mask: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |cpu| mask >> cpu & 1 == 1)
}

/// A mask in hexadecimal with 0x, or decimal.
pub(super) fn parse_mask(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => text.parse().ok(),
    }
}
