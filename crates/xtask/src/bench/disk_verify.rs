//! `cargo xtask bench verify`: what it costs to check every page, against prony without checks and fio with its own.
//!
//! The three take turns on the same pattern, each on a file that it wrote itself, since each checks only what it knows. What is judged is
//! the load thread's CPU per I/O: the process's time also has the layout of the files and the last audit in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::VerifyOptions;
use super::ratio;
use super::tool::{self, Measurement, Tool};
use crate::workspace::Workspace;

/// Checks may cost so much of what the reads cost.
const CHECKED_MOST: f64 = 1.15;
/// Bytes of memory a page.
const PAGE_MOST_BYTES: f64 = 8.0;

/// Words with `{file}`, `{cpu}`, `{seconds}`, `{mib}`, `{place}` and `{fio-json}` to be filled in.
const LOAD: &str = "--create --file-size {mib}MiB --block-size 8KiB --read-share 100 --pattern random --threads 1 \
     --outstanding 32 --engine uring --registered-buffers=true --affinity {cpu} --warm-up 0s --duration {seconds}s \
     --json --results {place}";
const FIO: &str = "--name=bench --filename={file} --size={mib}m --bs=8k --ioengine=io_uring --fixedbufs=1 \
     --registerfiles=1 --direct=1 --iodepth=32 --iodepth_batch_submit=16 --iodepth_batch_complete_min=1 \
     --iodepth_batch_complete_max=32 --numjobs=1 --thread --cpus_allowed={cpu} --verify=crc32c \
     --output-format=json --output={fio-json}";
const FIO_WRITES: &str = "--rw=write --do_verify=0";
/// A load that verifies ends once it has read as much as its file holds, whatever time it is given.
const FIO_READS: &str = "--rw=randread --norandommap --randrepeat=0";

/// What takes turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runner {
    Disk,
    Verify,
    Fio,
}

/// Runs the three in turn, and then looks at the memory of page states.
pub(super) fn run(options: &VerifyOptions, workspace: &Workspace) -> Result<()> {
    let prony = match &options.program {
        Some(program) => program.clone(),
        None => workspace.build_prony()?,
    };
    let directory = options.directory.as_deref().unwrap_or_else(|| workspace.target_directory());
    let place = tempfile::Builder::new().prefix("bench-").tempdir_in(directory)?;
    let bench = Bench { options, prony: &prony, place: &place };
    println!(
        "8 KiB random reads, 32 outstanding, files of {} MiB in {}",
        options.file_mib,
        directory.display()
    );
    if "cpu".contains(options.only.as_str()) {
        bench.cpu()?;
    }
    if "memory".contains(options.only.as_str()) {
        bench.memory()?;
    }
    Ok(())
}

struct Bench<'a> {
    options: &'a VerifyOptions,
    prony: &'a Path,
    /// Holds the files and what the tools write; removed in the end.
    place: &'a TempDir,
}

impl Bench<'_> {
    /// CPU per I/O: disk, verify and fio, as often as was asked for.
    fn cpu(&self) -> Result<()> {
        let fio = tool::fio_version();
        match &fio {
            Some(version) => {
                println!("against {version} with verify=crc32c");
                self.write_for_fio()?;
            }
            None => println!(
                "not run against fio: it is not installed; `apt-get install fio` or `dnf install fio` brings it"
            ),
        }
        let mut rounds: Vec<[Option<Measurement>; 3]> = Vec::new();
        for number in 1..=self.options.rounds {
            let disk = self.measure(Runner::Disk, number)?;
            let verify = self.measure(Runner::Verify, number)?;
            let of_fio = fio.as_ref().map(|_| self.measure(Runner::Fio, number)).transpose()?;
            rounds.push([Some(disk), Some(verify), of_fio]);
        }
        println!("{}", ratio::at_most("CPU per I/O, verify/disk", ratios(&rounds, 1, 0)?, CHECKED_MOST));
        if fio.is_some() {
            println!("{}", ratio::at_most("CPU per I/O, verify/fio", ratios(&rounds, 1, 2)?, 1.0));
            println!("{}", ratio::told("CPU per I/O, disk/fio", ratios(&rounds, 0, 2)?));
        }
        Ok(())
    }

    fn write_for_fio(&self) -> Result<()> {
        let words = format!("{FIO} {FIO_WRITES}");
        let output = Command::new("fio")
            .args(self.filled(&words, Runner::Fio)?)
            .current_dir(self.place.path())
            .output()?;
        if !output.status.success() {
            bail!("fio cannot write its file:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    fn measure(&self, runner: Runner, number: u32) -> Result<Measurement> {
        let (tool, words) = match runner {
            Runner::Disk => (Tool::Prony, format!("disk {{file}} {LOAD}")),
            Runner::Verify => (Tool::Prony, format!("verify {{file}} {LOAD} --audit-every 1h")),
            Runner::Fio => (Tool::Fio, format!("{FIO} {FIO_READS}")),
        };
        let arguments = self.filled(&words, runner)?;
        let measurement = tool::measure(tool, self.prony, &arguments, self.place.path(), None)?;
        println!(
            "{} {}",
            ratio::line(tool, number, &measurement),
            if runner == Runner::Verify { "(checked)" } else { "" }
        );
        Ok(measurement)
    }

    fn filled(&self, words: &str, runner: Runner) -> Result<Vec<String>> {
        let cpu = match self.options.cpu {
            Some(cpu) => cpu,
            None => std::thread::available_parallelism()?.get() - 1,
        };
        let fill = |word: &str| {
            word.replace("{file}", &self.file(runner).to_string_lossy())
                .replace("{cpu}", &cpu.to_string())
                .replace("{seconds}", &self.options.seconds.to_string())
                .replace("{mib}", &self.options.file_mib.to_string())
                .replace("{fio-json}", tool::FIO_JSON)
                .replace("{place}", &self.place.path().to_string_lossy())
        };
        Ok(words.split_whitespace().map(fill).collect())
    }

    fn file(&self, runner: Runner) -> PathBuf {
        self.place.path().join(match runner {
            Runner::Disk => "disk.dat",
            Runner::Verify => "verify.dat",
            Runner::Fio => "fio.dat",
        })
    }

    /// Memory a page: the most that the process ever had with many pages, and with few.
    fn memory(&self) -> Result<()> {
        const PAGE_BYTES: u64 = 512;
        let few_mib = 16;
        let pages = |mib: u64| (mib << 20) / PAGE_BYTES;
        let (few, many) = (self.peak_bytes(few_mib)?, self.peak_bytes(self.options.file_mib)?);
        let more = pages(self.options.file_mib) - pages(few_mib);
        let each = (many as f64 - few as f64) / more as f64;
        println!(
            "memory: {} MiB with {} pages, {} MiB with {}",
            few >> 20,
            pages(few_mib),
            many >> 20,
            pages(self.options.file_mib)
        );
        // What is read once more than a page's eight bytes is noise of the allocator.
        println!(
            "{}",
            ratio::at_most("bytes of memory a page", vec![(each * 10.0).round() / 10.0], PAGE_MOST_BYTES)
        );
        Ok(())
    }

    /// The most memory that a short run had.
    fn peak_bytes(&self, mib: u64) -> Result<u64> {
        let file = self.place.path().join(format!("memory-{mib}.dat"));
        let mut command = Command::new(self.prony);
        command.arg("verify").arg(file).args([
            "--create",
            "--block-size",
            "512B",
            "--duration",
            "1s",
            "--threads",
            "1",
        ]);
        command.args(["--file-size", &format!("{mib}MiB"), "--json", "--results"]).arg(self.place.path());
        let child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("cannot start prony")?;
        watched(child)
    }
}

/// Reads what the kernel says of a process until it ends.
fn watched(mut child: Child) -> Result<u64> {
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib =
            line.and_then(|line| line.split_whitespace().next()).and_then(|kib| kib.parse::<u64>().ok());
        most = most.max(kib.unwrap_or(0) * 1024);
        if let Some(ended) = child.try_wait()? {
            if !ended.success() {
                bail!("prony verify ended with {ended}");
            }
            return Ok(most);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ratios of the load threads' CPU per I/O, a round each.
fn ratios(rounds: &[[Option<Measurement>; 3]], of: usize, to: usize) -> Result<Vec<f64>> {
    let cpu_us =
        |round: &[Option<Measurement>; 3], which: usize| round[which].and_then(|run| run.thread_cpu_us);
    let ratio = |round: &[Option<Measurement>; 3]| Some(cpu_us(round, of)? / cpu_us(round, to)?);
    let all: Option<Vec<f64>> = rounds.iter().map(ratio).collect();
    all.context("a run did not tell the CPU time of its load thread")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_give_ratios_and_one_without_cpu_time_none() {
        let run = |thread_cpu_us| Some(Measurement { iops: 1.0, process_cpu_us: 9.0, thread_cpu_us });
        let rounds =
            [[run(Some(4.0)), run(Some(5.0)), run(Some(10.0))], [run(Some(2.0)), run(Some(2.0)), None]];
        assert_eq!(ratios(&rounds, 1, 0).unwrap(), [1.25, 1.0]);
        assert!(ratios(&rounds, 1, 2).is_err());
    }
}
