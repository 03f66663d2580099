//! `cargo xtask bench disk`: the I/O engines against fio's, with the same options.
//!
//! Runs have no warm-up, so that the CPU time of a process and its count of I/Os cover the same time. Each pair
//! gives one ratio; the median of the ratios is judged, because the device drifts more than the tools differ.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::DiskOptions;
use super::io_limit::{Direction, IoLimit};
use super::ratio::{self, Goal};
use super::tool::{self, Measurement, Tool};
use crate::workspace::Workspace;

struct Benchmark {
    name: &'static str,
    method: Method,
    /// At least this long, whatever was asked for.
    seconds_min: u32,
    /// Added to [`PRONY`].
    prony: &'static str,
    /// Added to [`FIO`].
    fio: &'static str,
}

#[derive(Clone, Copy)]
enum Method {
    /// Both in turn; ratios are judged.
    Compare,
    /// prony alone, with a rate that it must keep.
    KeepRate { per_s: f64, tolerance_per_cent: f64 },
    /// Both in turn below a limit of the kernel, which they must measure.
    FindLimit { read_iops: u32, tolerance_per_cent: f64 },
}

/// Words with `{file}`, `{cpu}`, `{seconds}`, `{results}` and `{fio-json}` to be filled in.
const PRONY: &str = "disk {file} --block-size 4KiB --read-share 100 --pattern random --threads 1 --affinity {cpu} \
     --warm-up 0s --duration {seconds}s --json --results {results}";
const FIO: &str = "--name=bench --filename={file} --bs=4k --rw=randread --norandommap --randrepeat=0 --numjobs=1 \
     --thread --cpus_allowed={cpu} --time_based --runtime={seconds} \
     --output-format=json --output={fio-json}";

const PRONY_URING: &str = "--outstanding 32 --engine uring --registered-buffers=true";
const FIO_URING: &str = "--ioengine=io_uring --fixedbufs=1 --registerfiles=1 --direct=1 --iodepth=32 \
     --iodepth_batch_submit=16 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32";

const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "4 KiB random read, io_uring, 32 outstanding, registered buffers and files",
        method: Method::Compare,
        seconds_min: 1,
        prony: PRONY_URING,
        fio: FIO_URING,
    },
    Benchmark {
        name: "null engine, latencies recorded, 32 outstanding",
        method: Method::Compare,
        seconds_min: 1,
        prony: "--outstanding 32 --engine null",
        fio: "--ioengine=null --size=1g --iodepth=32 --iodepth_batch_submit=16 --iodepth_batch_complete_min=1 \
              --iodepth_batch_complete_max=32",
    },
    Benchmark {
        name: "null engine, latencies recorded, 1 outstanding",
        method: Method::Compare,
        seconds_min: 1,
        prony: "--outstanding 1 --engine null",
        fio: "--ioengine=null --size=1g --iodepth=1",
    },
    Benchmark {
        name: "open loop at 500 reads/s",
        method: Method::KeepRate { per_s: 500.0, tolerance_per_cent: 0.5 },
        seconds_min: 10,
        prony: "--outstanding 32 --engine uring --registered-buffers=true --rate 500",
        fio: "",
    },
    Benchmark {
        name: "open loop at 5000 reads/s",
        method: Method::KeepRate { per_s: 5000.0, tolerance_per_cent: 0.5 },
        seconds_min: 10,
        prony: "--outstanding 32 --engine uring --registered-buffers=true --rate 5000",
        fio: "",
    },
    Benchmark {
        name: "cgroup limit of 781 reads/s",
        method: Method::FindLimit { read_iops: 781, tolerance_per_cent: 1.0 },
        seconds_min: 10,
        prony: PRONY_URING,
        fio: FIO_URING,
    },
];

/// Runs the benchmarks that were asked for. Without fio there is nothing to compare with, and nothing is run.
pub(super) fn run(options: &DiskOptions, workspace: &Workspace) -> Result<()> {
    let Some(fio_version) = tool::fio_version() else {
        println!("not run: fio is not installed; `apt-get install fio` or `dnf install fio` brings it");
        return Ok(());
    };
    let prony = workspace.build_prony()?;
    let directory = options.directory.as_deref().unwrap_or_else(|| workspace.target_directory());
    let place = tempfile::Builder::new().prefix("bench-").tempdir_in(directory)?;
    let bench = Bench { options, prony: &prony, place: &place };
    println!("prony against {fio_version}, file of {} MiB in {}", options.file_mib, directory.display());
    fill(&bench.file(), options.file_mib)?;
    for benchmark in BENCHMARKS.iter().filter(|benchmark| benchmark.name.contains(&options.only)) {
        println!("\n{}", benchmark.name);
        bench.run(benchmark)?;
    }
    Ok(())
}

/// Random bytes, so that neither a compressing nor a deduplicating device answers faster than it reads.
fn fill(path: &Path, file_mib: u64) -> Result<()> {
    let write = || -> io::Result<()> {
        let mut file = File::create_new(path)?;
        let mut random = File::open("/dev/urandom")?;
        let mut piece = vec![0; 1 << 20];
        for _ in 0..file_mib {
            random.read_exact(&mut piece)?;
            file.write_all(&piece)?;
        }
        file.sync_all()
    };
    write().with_context(|| format!("cannot fill {}", path.display()))
}

/// What all benchmarks of one call have in common.
struct Bench<'a> {
    options: &'a DiskOptions,
    prony: &'a Path,
    /// Holds the test file and what the tools write; removed in the end.
    place: &'a TempDir,
}

impl Bench<'_> {
    fn run(&self, benchmark: &Benchmark) -> Result<()> {
        match benchmark.method {
            Method::Compare => {
                let pairs = self.pairs(benchmark, None)?;
                Goal::ENGINE.iter().for_each(|goal| println!("{}", ratio::judged(goal, &pairs)));
            }
            Method::KeepRate { per_s, tolerance_per_cent } => {
                let runs: Result<Vec<Measurement>> = (1..=self.options.pairs)
                    .map(|number| self.measure(benchmark, Tool::Prony, number, None))
                    .collect();
                println!("{}", ratio::rate_error(Tool::Prony, &runs?, per_s, tolerance_per_cent));
            }
            Method::FindLimit { read_iops, tolerance_per_cent } => {
                let limit = match IoLimit::new(&self.file(), Direction::Reads, read_iops) {
                    Ok(limit) => limit,
                    Err(error) => {
                        println!("  not run: {error:#}");
                        return Ok(());
                    }
                };
                let (fio, prony): (Vec<_>, Vec<_>) = self.pairs(benchmark, Some(&limit))?.into_iter().unzip();
                for (tool, runs) in [(Tool::Fio, fio), (Tool::Prony, prony)] {
                    println!("{}", ratio::rate_error(tool, &runs, f64::from(read_iops), tolerance_per_cent));
                }
            }
        }
        Ok(())
    }

    /// fio and prony in turn; each pair is (fio, prony).
    fn pairs(
        &self,
        benchmark: &Benchmark,
        limit: Option<&IoLimit>,
    ) -> Result<Vec<(Measurement, Measurement)>> {
        (1..=self.options.pairs)
            .map(|number| {
                let fio = self.measure(benchmark, Tool::Fio, number, limit)?;
                Ok((fio, self.measure(benchmark, Tool::Prony, number, limit)?))
            })
            .collect()
    }

    fn measure(
        &self,
        benchmark: &Benchmark,
        tool: Tool,
        number: u32,
        limit: Option<&IoLimit>,
    ) -> Result<Measurement> {
        let seconds = self.options.seconds.max(benchmark.seconds_min);
        let words = match tool {
            Tool::Fio => FIO.split_whitespace().chain(benchmark.fio.split_whitespace()),
            Tool::Prony => PRONY.split_whitespace().chain(benchmark.prony.split_whitespace()),
        };
        let arguments: Vec<String> = words.map(|word| self.filled(word, seconds)).collect::<Result<_>>()?;
        let measurement = tool::measure(tool, self.prony, &arguments, self.place.path(), limit)?;
        println!("{}", ratio::line(tool, number, &measurement));
        Ok(measurement)
    }

    fn filled(&self, word: &str, seconds: u32) -> Result<String> {
        let cpu = match self.options.cpu {
            Some(cpu) => cpu,
            None => std::thread::available_parallelism()?.get() - 1,
        };
        Ok(word
            .replace("{file}", &self.file().to_string_lossy())
            .replace("{cpu}", &cpu.to_string())
            .replace("{seconds}", &seconds.to_string())
            .replace("{fio-json}", tool::FIO_JSON)
            .replace("{results}", &self.place.path().to_string_lossy()))
    }

    fn file(&self) -> PathBuf {
        self.place.path().join("file.dat")
    }
}
