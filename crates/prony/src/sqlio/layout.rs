//! SQLIO's own printed layout, byte for byte, so that an old parser of its output works unchanged.
//!
//! Known from published runs of version 1.5.SG: the wording, the tabs and colons, the column widths, and that rates
//! are cut off after two decimals, latencies after whole milliseconds. What `-U` prints is known from SQLIO's readme. Where
//! nothing published shows a wording, the item says so. This module computes no statistic that is judged elsewhere, and prints nothing: it returns text.

use super::options::{Buffering, Operation, Pattern};

/// What is printed before the load begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    /// Resolution of the clock that times latencies; none without `-L`.
    pub(super) clock_counts_per_s: Option<u64>,
    /// Threads and their files.
    pub(super) load: Load,
    /// Duration that was asked for.
    pub(super) seconds: u32,
    /// Direction.
    pub(super) operation: Operation,
    pub(super) pattern: Pattern,
    /// KiB of one I/O.
    pub(super) block_kb: u32,
    /// Outstanding I/Os of a thread, where `-o` was given.
    pub(super) outstanding: Option<u32>,
    /// Cache mode, where `-B` was given.
    pub(super) buffering: Option<Buffering>,
}

/// Threads and their files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Threads that all work on all files.
    Threads {
        /// Number of threads.
        threads: u32,
        /// At least one.
        files: Vec<TestFile>,
    },
    /// A file and its own threads on each line of a parameter file.
    Pools {
        /// Name of the parameter file.
        parameter_file: String,
        /// At least one.
        pools: Vec<Pool>,
    },
}

/// Threads that work on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pool {
    pub(super) file: TestFile,
    /// Number of threads.
    pub(super) threads: u32,
    /// CPUs they may use; 0 for any.
    pub(super) mask: u64,
}

/// A file and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestFile {
    /// As it was given.
    pub(super) name: String,
    /// Where the size comes from, in MiB.
    pub(super) size: FileSize,
    /// Where it was made or grown for the test.
    pub(super) grown: Option<Growth>,
}

/// What a file lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Growth {
    /// Bytes that it had; 0 where there was none.
    pub(super) from_bytes: u64,
    /// Bytes that it has to have.
    pub(super) to_bytes: u64,
}

/// Where the size of a file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileSize {
    /// The parameter file.
    SpecifiedMb(u64),
    /// The file.
    CurrentMb(u64),
}

/// What a test gave.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figures {
    /// I/Os that ended in the measured time.
    pub(super) ios: u64,
    /// Measured time.
    pub(super) elapsed_us: u64,
    /// Latencies, where they were asked for and an I/O ended.
    pub(super) latency: Option<LatencyFigures>,
    /// CPU use, where it was asked for.
    pub(super) cpu: Option<CpuFigures>,
}

/// Latencies in SQLIO's whole milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LatencyFigures {
    /// Shortest.
    pub(super) min_ms: u64,
    /// Mean of the whole milliseconds; see [`LatencyFigures::from_cells`].
    pub(super) avg_ms: u64,
    /// Longest.
    pub(super) max_ms: u64,
    /// I/Os by whole milliseconds, 0 to 23, and the rest.
    pub(super) ios_by_ms: [u64; BUCKETS],
}

/// 0 to 23 ms, and 24 or more.
const BUCKETS: usize = 25;

/// Use of the CPUs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CpuFigures {
    /// All together first, then each where that was asked for.
    pub(super) columns: Vec<CpuColumn>,
}

/// Use of one CPU or of all, in per cent of its time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CpuColumn {
    /// `ALL` or the number.
    pub(super) processor: String,
    /// In soft interrupts.
    pub(super) dpc_per_cent: f64,
    /// In interrupts of devices.
    pub(super) interrupt_per_cent: f64,
    /// Of the kernel, both kinds of interrupts included.
    pub(super) privileged_per_cent: f64,
    /// All but idle.
    pub(super) busy_per_cent: f64,
    /// Of programs.
    pub(super) user_per_cent: f64,
    /// Interrupts a second.
    pub(super) interrupts_per_s: f64,
}

/// What is printed before the load begins, up to `initialization done`.
pub(super) fn head(setup: &Setup) -> String {
    let mut lines = vec!["sqlio v1.5.SG".to_owned()];
    // Latencies of -LP are timed by the same clock, so that no other wording would be true.
    let clock = setup.clock_counts_per_s;
    lines.extend(
        clock.map(|counts| format!("using system counter for latency timings, {counts} counts per second")),
    );
    lines.extend(pool_lines(&setup.load));
    lines.push(load_line(setup));
    lines.push(format!("\tusing {}", pattern_text(setup.pattern, setup.block_kb)));
    let outstanding = setup.outstanding;
    lines
        .extend(outstanding.map(|ios| format!("\tenabling multiple I/Os per thread with {ios} outstanding")));
    lines
        .extend(setup.buffering.map(|buffering| format!("\tbuffering set to {}", buffering_text(buffering))));
    lines.extend(distinct_files(&setup.load).into_iter().flat_map(size_lines));
    lines.push("initialization done".to_owned());
    lines.join("\n") + "\n"
}

/// What is printed after the load has ended.
pub(super) fn cumulative_data(figures: &Figures, block_kb: u32) -> String {
    let mut text = "CUMULATIVE DATA:\nthroughput metrics:\n".to_owned();
    let per_s = |units: u128, parts: u128| {
        let elapsed_us = u128::from(figures.elapsed_us);
        (units * 100_000_000).checked_div(elapsed_us * parts).unwrap_or(0)
    };
    let ios = u128::from(figures.ios);
    text += &format!("IOs/sec: {}\n", hundredths(per_s(ios, 1)));
    text += &format!("MBs/sec: {}\n", hundredths(per_s(ios * u128::from(block_kb), 1024)));
    if let Some(latency) = &figures.latency {
        text += &latency_text(latency);
    }
    if let Some(cpu) = &figures.cpu {
        text += &cpu_text(cpu);
    }
    text
}

impl LatencyFigures {
    /// From the cells of a histogram: lowest and highest latency in microseconds, and the I/Os between them, in
    /// rising order. None without an I/O.
    ///
    /// SQLIO cuts each latency off to whole milliseconds, averages those and cuts off again. A published run shows
    /// it: 13,080 I/Os a second with 16 outstanding take 1.22 ms on average, its buckets average 0.65 ms, and it
    /// printed 0. A cell that crosses a millisecond counts below it, an error under 0.1 % of the latency.
    pub(super) fn from_cells(cells: impl Iterator<Item = (f64, f64, u64)>) -> Option<Self> {
        let whole_ms = |us: f64| (us / 1e3) as u64;
        let (mut ios, mut total_ms, mut ios_by_ms) = (0u64, 0u128, [0; BUCKETS]);
        let (mut min_ms, mut max_ms) = (u64::MAX, 0);
        for (lowest_us, highest_us, count) in cells.filter(|(_, _, count)| *count > 0) {
            let ms = whole_ms(lowest_us);
            ios += count;
            total_ms += u128::from(ms) * u128::from(count);
            ios_by_ms[(ms as usize).min(BUCKETS - 1)] += count;
            (min_ms, max_ms) = (min_ms.min(ms), max_ms.max(whole_ms(highest_us)));
        }
        let avg_ms = u64::try_from(total_ms.checked_div(u128::from(ios))?).unwrap_or(u64::MAX);
        Some(Self { min_ms, avg_ms, max_ms, ios_by_ms })
    }
}

fn pool_lines(load: &Load) -> Vec<String> {
    let Load::Pools { parameter_file, pools } = load else { return Vec::new() };
    let mut lines = vec![format!("parameter file used: {parameter_file}")];
    let mut first = 0;
    for Pool { file, threads, mask } in pools {
        let last = first + threads.saturating_sub(1);
        let range = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let (name, threads_text) = (&file.name, threads_text(*threads));
        lines.push(format!("\tfile {name} with {threads_text} ({range}) using mask {mask:#x} ({mask})"));
        first += threads;
    }
    lines
}

/// No published run shows several files in this line; the singular is kept for one file.
fn load_line(setup: &Setup) -> String {
    let threads = match &setup.load {
        Load::Threads { threads, .. } => *threads,
        Load::Pools { pools, .. } => pools.iter().map(|pool| pool.threads).sum(),
    };
    let (verb, preposition) = match setup.operation {
        Operation::Read => ("reading", "from"),
        Operation::Write => ("writing", "to"),
    };
    let names: Vec<&str> = distinct_files(&setup.load).into_iter().map(|file| file.name.as_str()).collect();
    let files = match names.as_slice() {
        [names @ .., last] if !names.is_empty() => format!("files {} and {last}", names.join(", ")),
        names => format!("file {}", names.concat()),
    };
    format!("{} {verb} for {} secs {preposition} {files}", threads_text(threads), setup.seconds)
}

fn threads_text(threads: u32) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

fn pattern_text(pattern: Pattern, block_kb: u32) -> String {
    match pattern {
        Pattern::Random => format!("{block_kb}KB random IOs"),
        Pattern::Sequential => format!("{block_kb}KB sequential IOs"),
        Pattern::Strided { blocks, ios_per_run, .. } => {
            let stripe_kb = u64::from(block_kb) * u64::from(blocks);
            format!("{block_kb}KB IOs over {stripe_kb}KB stripes with {ios_per_run} IOs per run")
        }
    }
}

/// Published runs show only the sentence for the hardware cache.
fn buffering_text(buffering: Buffering) -> &'static str {
    match buffering {
        Buffering::None => "not use file nor disk caches (as is SQL Server)",
        Buffering::Both => "use both hardware disk cache and file cache",
        Buffering::Hardware => "use hardware disk cache (but not file cache)",
        Buffering::Software => "use file cache (but not hardware disk cache)",
    }
}

/// The files in their order, once each, for two pools may share one.
fn distinct_files(load: &Load) -> Vec<&TestFile> {
    let all: Vec<&TestFile> = match load {
        Load::Threads { files, .. } => files.iter().collect(),
        Load::Pools { pools, .. } => pools.iter().map(|pool| &pool.file).collect(),
    };
    let is_first = |index: usize| all[..index].iter().all(|earlier| earlier.name != all[index].name);
    (0..all.len()).filter(|&index| is_first(index)).map(|index| all[index]).collect()
}

/// The size, after what making or growing the file prints: its four lines stand so in runs that others printed; whether the
/// figures stand behind a blank or a tab does not show there.
fn size_lines(file: &TestFile) -> Vec<String> {
    let name = &file.name;
    let grown = file.grown.map(|Growth { from_bytes, to_bytes }| {
        let by_bytes = to_bytes.saturating_sub(from_bytes);
        [
            format!("size of file {name} needs to be: {to_bytes} bytes"),
            format!("current file size:\t{from_bytes} bytes"),
            format!("need to expand by:\t{by_bytes} bytes"),
            format!("expanding {name} ... done."),
        ]
    });
    let size = match file.size {
        FileSize::SpecifiedMb(size_mb) => format!("using specified size: {size_mb} MB for file: {name}"),
        FileSize::CurrentMb(size_mb) => format!("using current size: {size_mb} MB for file: {name}"),
    };
    grown.into_iter().flatten().chain([size]).collect()
}

/// Cut off, not rounded: published runs print 102.18 MB/s for 13,080.21 I/Os of 8 KB, which are 102.189.
fn hundredths(value: u128) -> String {
    format!("{:>5}.{:02}", value / 100, value % 100)
}

/// Per cents are rounded each by itself: a published run prints 97 and 3 with a maximum far behind both. Each has three
/// characters of its line, 100 too, so that scripts which cut the line by columns find the others (`%:100  0  0`).
fn latency_text(latency: &LatencyFigures) -> String {
    let LatencyFigures { min_ms, avg_ms, max_ms, ios_by_ms } = latency;
    let mut text = "latency metrics:\n".to_owned();
    text += &format!("Min_Latency(ms): {min_ms}\nAvg_Latency(ms): {avg_ms}\nMax_Latency(ms): {max_ms}\n");
    let ios: u128 = ios_by_ms.iter().map(|&ios| u128::from(ios)).sum();
    let (mut buckets, mut per_cents) = (String::new(), String::new());
    for (ms, &count) in ios_by_ms.iter().enumerate() {
        // "ms:" is one longer than "%:".
        buckets += &if ms == 0 { format!("{ms:>2}") } else { format!(" {ms:>2}") };
        let per_cent = (u128::from(count) * 200 + ios).checked_div(2 * ios).unwrap_or(0);
        per_cents += &format!("{per_cent:>3}");
    }
    text + &format!("histogram:\nms:{buckets}+\n%:{per_cents}\n")
}

/// The table of SQLIO's readme. It stands last, so that a parser that counts lines finds the others in their places; where
/// SQLIO printed it is not known.
fn cpu_text(cpu: &CpuFigures) -> String {
    type Row = (&'static str, fn(&CpuColumn) -> f64);
    let rows: [Row; 6] = [
        ("DPCTime(%):", |column| column.dpc_per_cent),
        ("InterruptTime(%):", |column| column.interrupt_per_cent),
        ("PrivilegedTime(%):", |column| column.privileged_per_cent),
        ("ProcessorTime(%):", |column| column.busy_per_cent),
        ("UserTime(%):", |column| column.user_per_cent),
        ("Interrupts/sec:", |column| column.interrupts_per_s),
    ];
    let line = |name: &str, cells: Vec<String>| format!("{name:<20}{}\n", cells.concat());
    // Numbers of processors end a character before the figures, as in the readme.
    let processor = |column: &CpuColumn| column.processor.clone();
    let mut text = line(
        "ProcessorNumber:",
        cpu.columns
            .iter()
            .enumerate()
            .map(|(index, column)| {
                let width = if index == 0 { 8 } else { 9 };
                format!("{:>width$}", processor(column))
            })
            .collect(),
    );
    for (name, value) in rows {
        text += &line(name, cpu.columns.iter().map(|column| format!("{:>9.2}", value(column))).collect());
    }
    text
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
