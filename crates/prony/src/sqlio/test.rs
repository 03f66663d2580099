//! From SQLIO's options to a study of one disk trial.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use disk::{Affinity as CpuSet, Cache, Pattern as Walk, Pool, Run, Settings};
use load::{Size, Span};
use record::shown;
use study::{Configuration, Given, Study};
use workload::given_file;

use super::layout::{FileSize, Growth, Load, Pool as LayoutPool, Setup, TestFile};
use super::options::{
    Affinity, Buffering, Extensions, Operation, Options, Pattern, Targets, mask_cpus, unusable,
};
use super::parameter_file;
use crate::exit::Failure;

/// CLOCK_MONOTONIC counts nanoseconds.
const CLOCK_COUNTS_PER_S: u64 = 1_000_000_000;
/// More than any 256 lines come to.
const PARAMETER_FILE_BYTES_MAX: Size = Size(16 << 20);

/// One run of SQLIO's.
pub(super) struct Test {
    pub(super) options: Options,
    pub(super) study: Study,
    /// Pools of the parameter file; empty without one.
    pools: Vec<parameter_file::Pool>,
    /// Bytes of data in each file before the test, 0 where there is none; in the order of the files or pools.
    bytes_before: Vec<u64>,
    /// Lines for stderr.
    pub(super) notices: Vec<String>,
}

impl Test {
    /// Reads the parameter file, if there is one, and makes the study.
    pub(super) fn of(options: Options, extensions: &Extensions) -> Result<Self, Failure> {
        let usable = disk::usable_cpus();
        let mut mistakes = Vec::from_iter(unusable_option(options.affinity, &usable));
        let (pools, notices) = match &options.targets {
            Targets::Files(_) => (Vec::new(), Vec::new()),
            Targets::ParameterFile(path) => {
                let bytes = given_file::read(path, PARAMETER_FILE_BYTES_MAX).map_err(|error| {
                    Failure::usage(anyhow!("cannot read the parameter file {}: {error}", path.display()))
                })?;
                match parameter_file::parse(&bytes, options.pattern, &usable) {
                    Ok(file) => (file.pools, file.notices),
                    Err(errors) => {
                        mistakes.extend(errors.lines().map(|line| format!("{}: {line}", path.display())));
                        (Vec::new(), Vec::new())
                    }
                }
            }
        };
        if !mistakes.is_empty() {
            return Err(Failure::mistakes(mistakes));
        }
        let study = Study::of_disk(Vec::new());
        let mut test = Self { options, study, pools, bytes_before: Vec::new(), notices };
        test.study.title = "SQLIO".to_owned();
        test.study.slug = "sqlio".to_owned();
        test.study.configuration = vec![Configuration {
            name: "sqlio".to_owned(),
            workload: Given { disk: Some(test.settings(extensions)), ..Given::default() },
            ..Configuration::default()
        }];
        test.study.target.paths = test.paths();
        test.bytes_before = test.paths().iter().map(|path| bytes_of(path)).collect();
        Ok(test)
    }

    fn paths(&self) -> Vec<PathBuf> {
        match &self.options.targets {
            Targets::Files(files) => files.clone(),
            Targets::ParameterFile(_) => self.pools.iter().map(|pool| pool.file.clone()).collect(),
        }
    }

    fn settings(&self, extensions: &Extensions) -> Settings {
        let options = &self.options;
        let block_bytes = u64::from(options.block_kb) << 10;
        let writes = options.operation == Operation::Write;
        let buffering = options.buffering.unwrap_or(Buffering::None);
        let (cache, write_through) = match buffering {
            Buffering::None => (Cache::Direct, true),
            Buffering::Hardware => (Cache::Direct, false),
            Buffering::Software => (Cache::Buffered, true),
            Buffering::Both => (Cache::Buffered, false),
        };
        Settings {
            block_size: Some(Size(block_bytes)),
            read_share: Some(if writes { 0.0 } else { 100.0 }),
            pattern: Some(pattern(options.pattern)),
            offset: Some(Size(options.start_block * block_bytes)),
            outstanding: Some(options.outstanding.unwrap_or(1).max(1)),
            warm_up: Some(Span::ZERO),
            duration: Some(Span::seconds(u64::from(options.seconds))),
            file_size: Some(Size(self.default_file_bytes())),
            create: Some(true),
            overwrite: Some(extensions.overwrite),
            destroy: extensions.destroy.clone(),
            cache: Some(cache),
            write_through: Some(write_through && writes),
            pools: Some(self.disk_pools()),
            in_turn: self.is_in_turn().then_some(true),
            ..Settings::default()
        }
    }

    /// Without `-o` a thread has one I/O on its way, whatever the number of its files: each file gets one in turn.
    fn is_in_turn(&self) -> bool {
        let has_several = matches!(&self.options.targets, Targets::Files(files) if files.len() > 1);
        has_several && self.options.outstanding.is_none()
    }

    /// Bytes that a file must have for the strip of a number in `-f`; none with other patterns, which take it as it is.
    fn strip_bytes(&self) -> Option<u64> {
        let Pattern::Strided { blocks, ios_per_run, .. } = self.options.pattern else { return None };
        let strip_blocks = u64::from(blocks) * u64::from(ios_per_run);
        Some((strip_blocks + self.options.start_block) * (u64::from(self.options.block_kb) << 10))
    }

    /// Size of a file that does not exist yet, where no strip says it: SQLIO's 8 MB, behind which the region begins.
    fn default_file_bytes(&self) -> u64 {
        ((1 + self.options.start_block) * (u64::from(self.options.block_kb) << 10)).max(8 << 20)
    }

    /// SQLIO's threads each have `-o` I/Os outstanding on every file. Here every file has threads of its own with as
    /// many, so that a file sees the same number of I/Os. Without `-o` they are the same threads for all files.
    fn disk_pools(&self) -> Vec<Pool> {
        match &self.options.targets {
            Targets::Files(files) => files
                .iter()
                .map(|path| Pool {
                    path: path.clone(),
                    threads: self.options.threads,
                    affinity: affinity(self.options.affinity),
                    size: self.strip_bytes().map(Size),
                })
                .collect(),
            Targets::ParameterFile(_) => self
                .pools
                .iter()
                .map(|pool| Pool {
                    path: pool.file.clone(),
                    threads: pool.threads,
                    affinity: if pool.mask == 0 { affinity(self.options.affinity) } else { mask(pool.mask) },
                    size: pool.size_mb.map(|mb| mb << 20).or(self.strip_bytes()).map(Size),
                })
                .collect(),
        }
    }

    /// What SQLIO prints before the load, from the files as they are then.
    pub(super) fn setup(&self) -> Setup {
        let options = &self.options;
        let load = match &options.targets {
            Targets::Files(files) => Load::Threads {
                threads: options.threads,
                files: files
                    .iter()
                    .zip(&self.bytes_before)
                    .map(|(file, &before)| test_file(file, None, before))
                    .collect(),
            },
            Targets::ParameterFile(path) => Load::Pools {
                parameter_file: shown(&path.display().to_string()).into_owned(),
                pools: self
                    .pools
                    .iter()
                    .zip(&self.bytes_before)
                    .map(|(pool, &before)| layout_pool(pool, before))
                    .collect(),
            },
        };
        Setup {
            clock_counts_per_s: options.latency.then_some(CLOCK_COUNTS_PER_S),
            load,
            seconds: options.seconds,
            operation: options.operation,
            pattern: options.pattern,
            block_kb: options.block_kb,
            outstanding: options.outstanding,
            buffering: options.buffering,
        }
    }
}

fn layout_pool(pool: &parameter_file::Pool, before_bytes: u64) -> LayoutPool {
    LayoutPool {
        file: test_file(&pool.file, pool.size_mb, before_bytes),
        threads: pool.threads,
        mask: pool.mask,
    }
}

/// A file as it is printed, which had so many bytes before the test.
fn test_file(path: &Path, specified_mb: Option<u64>, from_bytes: u64) -> TestFile {
    let to_bytes = bytes_of(path);
    TestFile {
        name: shown(&path.display().to_string()).into_owned(),
        size: specified_mb.map_or(FileSize::CurrentMb(to_bytes >> 20), FileSize::SpecifiedMb),
        grown: (to_bytes > from_bytes).then_some(Growth { from_bytes, to_bytes }),
    }
}

/// Bytes of data in a file or device; 0 where it cannot be looked at.
fn bytes_of(path: &Path) -> u64 {
    disk::data_bytes(path).unwrap_or(0)
}

fn pattern(pattern: Pattern) -> Walk {
    match pattern {
        Pattern::Random => Walk::Random,
        // SQLIO has one position a file, from which whichever thread comes takes the next block.
        Pattern::Sequential => Walk::SharedSequential,
        Pattern::Strided { blocks, ios_per_run, reused } => Walk::Strided {
            blocks: u64::from(blocks),
            runs: Some(Run { ios: u64::from(ios_per_run), reused }),
        },
    }
}

fn affinity(affinity: Affinity) -> Option<CpuSet> {
    match affinity {
        Affinity::Any => None,
        Affinity::Cpu(cpu) => Some(CpuSet(vec![cpu])),
        Affinity::Mask(bits) | Affinity::RoundRobin(bits) => mask(bits),
    }
}

/// The mistake of `-p` or `-a` that names a CPU which this process may not use.
fn unusable_option(affinity: Affinity, usable: &[u32]) -> Option<String> {
    let (option, cpus) = match affinity {
        Affinity::Any => return None,
        Affinity::Cpu(cpu) => (format!("-p{cpu}"), vec![cpu]),
        Affinity::Mask(bits) => (format!("-a{bits:#x}"), mask_cpus(bits).collect()),
        Affinity::RoundRobin(bits) => (format!("-aR{bits:#x}"), mask_cpus(bits).collect()),
    };
    unusable(cpus, usable).map(|problem| format!("{option}: {problem}. Remove it to use any CPU"))
}

/// The CPUs of a mask; none for an empty one.
fn mask(bits: u64) -> Option<CpuSet> {
    let cpus: Vec<u32> = mask_cpus(bits).collect();
    (!cpus.is_empty()).then_some(CpuSet(cpus))
}
