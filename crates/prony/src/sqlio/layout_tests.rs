//! Tests of the layout, in a file of their own for their length.

use super::*;
use proptest::prelude::*;

/// A test and what it gave.
#[derive(Clone)]
struct Outcome {
    setup: Setup,
    figures: Figures,
}

/// All that SQLIO prints.
fn print(outcome: &Outcome) -> String {
    head(&outcome.setup) + &cumulative_data(&outcome.figures, outcome.setup.block_kb)
}

/// The run published in "SQL Server 2012: Storage Systems (part 7)", 2013.
const PUBLISHED: &str = "sqlio v1.5.SG
using system counter for latency timings, 14318180 counts per second
parameter file used: param.txt
\tfile c:\\testfile.dat with 2 threads (0-1) using mask 0x0 (0)
2 threads reading for 300 secs from file c:\\testfile.dat
\tusing 8KB random IOs
\tenabling multiple I/Os per thread with 8 outstanding
\tbuffering set to use hardware disk cache (but not file cache)
using specified size: 100 MB for file: c:\\testfile.dat
initialization done
CUMULATIVE DATA:
throughput metrics:
IOs/sec: 13080.21
MBs/sec:   102.18
latency metrics:
Min_Latency(ms): 0
Avg_Latency(ms): 0
Max_Latency(ms): 114
histogram:
ms: 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24+
%: 37 59  3  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0
";

fn file(name: &str, size: FileSize) -> TestFile {
    TestFile { name: name.to_owned(), size, grown: None }
}

fn published() -> Outcome {
    let file = file("c:\\testfile.dat", FileSize::SpecifiedMb(100));
    // 13,080.21 a second for 300 s; the counts give the published per cents, with a tail up to 114 ms.
    let cells = [
        (110.0, 999.0, 1_451_903),
        (1_000.0, 1_999.0, 2_315_197),
        (2_000.0, 2_999.0, 133_418),
        (3_000.0, 3_999.0, 15_000),
        (24_000.0, 114_900.0, 8_545),
    ];
    Outcome {
        setup: Setup {
            clock_counts_per_s: Some(14_318_180),
            load: Load::Pools {
                parameter_file: "param.txt".to_owned(),
                pools: vec![Pool { file, threads: 2, mask: 0 }],
            },
            seconds: 300,
            operation: Operation::Read,
            pattern: Pattern::Random,
            block_kb: 8,
            outstanding: Some(8),
            buffering: Some(Buffering::Hardware),
        },
        figures: Figures {
            ios: 3_924_063,
            elapsed_us: 300_000_000,
            latency: LatencyFigures::from_cells(cells.into_iter()),
            cpu: None,
        },
    }
}

/// What `sqlio` without options on a file of 8 MB prints.
fn plain() -> Outcome {
    let files = vec![file("testfile.dat", FileSize::CurrentMb(8))];
    let mut outcome = published();
    outcome.setup = Setup {
        clock_counts_per_s: None,
        load: Load::Threads { threads: 1, files },
        seconds: 30,
        pattern: Pattern::Strided { blocks: 64, ios_per_run: 64, reused: false },
        block_kb: 2,
        outstanding: None,
        buffering: None,
        ..outcome.setup
    };
    outcome.figures = Figures { ios: 12_345, elapsed_us: 30_000_001, latency: None, cpu: None };
    outcome
}

/// The value behind a name and a colon, as the scripts of SQLIO's days cut it out.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.split_once(':').filter(|(before, _)| *before == name))
        .map(|(_, v)| v.trim())
}

#[track_caller]
fn check(outcome: &Outcome, wanted: &str) {
    assert_eq!(print(outcome), wanted);
}

#[test]
fn published_run_is_printed_byte_for_byte() {
    check(&published(), PUBLISHED);
}

#[test]
fn lines_of_options_that_were_not_given_are_left_out() {
    insta::assert_snapshot!(print(&plain()), @r#"
    sqlio v1.5.SG
    1 thread reading for 30 secs from file testfile.dat
    	using 2KB IOs over 128KB stripes with 64 IOs per run
    using current size: 8 MB for file: testfile.dat
    initialization done
    CUMULATIVE DATA:
    throughput metrics:
    IOs/sec:   411.49
    MBs/sec:     0.80
    "#);
}

/// The example of SQLIO's readme.
fn readme_cpu() -> CpuFigures {
    let column = |processor: &str, [dpc, interrupt, privileged, busy, user, per_s]: [f64; 6]| CpuColumn {
        processor: processor.to_owned(),
        dpc_per_cent: dpc,
        interrupt_per_cent: interrupt,
        privileged_per_cent: privileged,
        busy_per_cent: busy,
        user_per_cent: user,
        interrupts_per_s: per_s,
    };
    CpuFigures {
        columns: vec![
            column("ALL", [22.30, 30.19, 95.35, 98.99, 3.64, 11_608.76]),
            column("0", [24.06, 28.64, 95.05, 98.90, 3.85, 2_898.03]),
            column("1", [21.87, 30.78, 94.94, 98.64, 3.69, 2_917.36]),
            column("2", [19.79, 31.87, 95.93, 99.27, 3.33, 2_917.26]),
            column("3", [23.48, 29.47, 95.46, 99.16, 3.69, 2_876.10]),
        ],
    }
}

/// Nothing was printed of a file that was made, where SQLIO has four lines.
#[test]
fn a_file_that_is_made_or_grown_is_told_before_its_size() {
    let mut outcome = plain();
    let grown = Some(Growth { from_bytes: 0, to_bytes: 8_388_608 });
    let made = TestFile { grown, ..file("testfile.dat", FileSize::CurrentMb(8)) };
    outcome.setup.load = Load::Threads { threads: 1, files: vec![made] };
    insta::assert_snapshot!(head(&outcome.setup), @r#"
    sqlio v1.5.SG
    1 thread reading for 30 secs from file testfile.dat
    	using 2KB IOs over 128KB stripes with 64 IOs per run
    size of file testfile.dat needs to be: 8388608 bytes
    current file size:	0 bytes
    need to expand by:	8388608 bytes
    expanding testfile.dat ... done.
    using current size: 8 MB for file: testfile.dat
    initialization done
    "#);
}

#[test]
fn several_pools_and_cpu_use_are_printed() {
    let mut outcome = published();
    let pool = |name, threads, mask| Pool { file: file(name, FileSize::CurrentMb(64)), threads, mask };
    outcome.setup.operation = Operation::Write;
    outcome.setup.pattern = Pattern::Sequential;
    outcome.setup.buffering = Some(Buffering::None);
    outcome.setup.load = Load::Pools {
        parameter_file: "/etc/param.txt".to_owned(),
        pools: vec![pool("/a/x", 1, 0), pool("/b/x", 4, 0xf0), pool("/c/x", 2, 3), pool("/a/x", 1, 1)],
    };
    outcome.figures.cpu = Some(readme_cpu());
    insta::assert_snapshot!(print(&outcome), @r#"
    sqlio v1.5.SG
    using system counter for latency timings, 14318180 counts per second
    parameter file used: /etc/param.txt
    	file /a/x with 1 thread (0) using mask 0x0 (0)
    	file /b/x with 4 threads (1-4) using mask 0xf0 (240)
    	file /c/x with 2 threads (5-6) using mask 0x3 (3)
    	file /a/x with 1 thread (7) using mask 0x1 (1)
    8 threads writing for 300 secs to files /a/x, /b/x and /c/x
    	using 8KB sequential IOs
    	enabling multiple I/Os per thread with 8 outstanding
    	buffering set to not use file nor disk caches (as is SQL Server)
    using current size: 64 MB for file: /a/x
    using current size: 64 MB for file: /b/x
    using current size: 64 MB for file: /c/x
    initialization done
    CUMULATIVE DATA:
    throughput metrics:
    IOs/sec: 13080.21
    MBs/sec:   102.18
    latency metrics:
    Min_Latency(ms): 0
    Avg_Latency(ms): 0
    Max_Latency(ms): 114
    histogram:
    ms: 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24+
    %: 37 59  3  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0
    ProcessorNumber:         ALL        0        1        2        3
    DPCTime(%):             22.30    24.06    21.87    19.79    23.48
    InterruptTime(%):       30.19    28.64    30.78    31.87    29.47
    PrivilegedTime(%):      95.35    95.05    94.94    95.93    95.46
    ProcessorTime(%):       98.99    98.90    98.64    99.27    99.16
    UserTime(%):             3.64     3.85     3.69     3.33     3.69
    Interrupts/sec:      11608.76  2898.03  2917.36  2917.26  2876.10
    "#);
}

#[test]
fn buffering_is_said_in_a_sentence() {
    let all = [Buffering::None, Buffering::Both, Buffering::Hardware, Buffering::Software];
    insta::assert_snapshot!(all.map(buffering_text).join("\n"), @r#"
    not use file nor disk caches (as is SQL Server)
    use both hardware disk cache and file cache
    use hardware disk cache (but not file cache)
    use file cache (but not hardware disk cache)
    "#);
}

/// Published runs, IOs/sec and KB of one I/O against the printed MBs/sec: none of them is rounded up.
#[test]
fn megabytes_are_cut_off_as_in_published_runs() {
    let published = [
        ("13080.21", 8, "102.18"),
        ("28807.29", 8, "225.05"),
        ("28507.87", 8, "222.71"),
        ("219753.18", 8, "1716.82"),
        ("421.88", 8, "3.29"),
        ("3434.19", 8, "26.82"),
        ("7808.43", 2, "15.25"),
    ];
    for (ios_per_s, block_kb, mb_per_s) in published {
        let ios = ios_per_s.replace('.', "").parse().unwrap();
        let figures = Figures { ios, elapsed_us: 100_000_000, latency: None, cpu: None };
        let text = cumulative_data(&figures, block_kb);
        assert_eq!((field(&text, "IOs/sec"), field(&text, "MBs/sec")), (Some(ios_per_s), Some(mb_per_s)));
    }
}

#[test]
fn nothing_measured_prints_no_latency() {
    assert_eq!(LatencyFigures::from_cells(std::iter::empty()), None);
    let figures = Figures { ios: 0, elapsed_us: 0, latency: None, cpu: None };
    assert_eq!(
        cumulative_data(&figures, 8),
        "CUMULATIVE DATA:\nthroughput metrics:\nIOs/sec:     0.00\nMBs/sec:     0.00\n"
    );
}

proptest! {
    #[test]
    fn old_parsers_get_the_numbers_back(
        latencies_us in prop::collection::vec(0u64..60_000, 1..200),
        elapsed_us in 1u64..10_000_000,
        block_kb in 1u32..1025,
    ) {
        let mut outcome = published();
        let mut sorted = latencies_us.clone();
        sorted.sort_unstable();
        let cells = sorted.iter().map(|&us| (us as f64, us as f64, 1));
        let ios = latencies_us.len() as u64;
        let latency = LatencyFigures::from_cells(cells);
        outcome.figures = Figures { ios, elapsed_us, latency, cpu: None };
        outcome.setup.block_kb = block_kb;
        let text = print(&outcome);
        let number = |name| field(&text, name).unwrap().parse::<f64>().unwrap();
        let ios_per_s = ios as f64 * 1e6 / elapsed_us as f64;
        prop_assert!((0.0..0.0101).contains(&(ios_per_s - number("IOs/sec"))));
        let mb_per_s = ios_per_s * f64::from(block_kb) / 1024.0;
        prop_assert!((0.0..0.0101).contains(&(mb_per_s - number("MBs/sec"))));
        let whole_ms: Vec<u64> = sorted.iter().map(|us| us / 1000).collect();
        prop_assert_eq!(number("Min_Latency(ms)") as u64, whole_ms[0]);
        prop_assert_eq!(number("Avg_Latency(ms)") as u64, whole_ms.iter().sum::<u64>() / ios);
        prop_assert_eq!(number("Max_Latency(ms)") as u64, whole_ms[whole_ms.len() - 1]);
        let line = text.lines().last().unwrap().strip_prefix("%:").unwrap();
        let per_cents: Vec<u64> =
            line.as_bytes().chunks(3).map(|cut| str::from_utf8(cut).unwrap().trim().parse().unwrap()).collect();
        prop_assert_eq!(per_cents.len(), BUCKETS);
        for (ms, per_cent) in per_cents.into_iter().enumerate() {
            let count = whole_ms.iter().filter(|&&whole| whole.min(24) == ms as u64).count();
            prop_assert!((per_cent as f64 - count as f64 * 100.0 / ios as f64).abs() <= 0.5);
        }
    }

    /// Scripts cut three characters for each millisecond.
    #[test]
    fn a_hundred_per_cent_stand_in_their_column(ms in 0..BUCKETS) {
        let mut ios_by_ms = [0; BUCKETS];
        ios_by_ms[ms] = 7;
        let text = latency_text(&LatencyFigures { min_ms: 0, avg_ms: 0, max_ms: 0, ios_by_ms });
        let line = text.lines().last().unwrap();
        prop_assert_eq!(line.len(), 2 + 3 * BUCKETS);
        for column in 0..BUCKETS {
            let cut = &line[2 + 3 * column..5 + 3 * column];
            prop_assert_eq!(cut, if column == ms { "100" } else { "  0" });
        }
    }

    #[test]
    fn columns_of_the_histogram_stand_below_each_other(ios_by_ms in prop::array::uniform25(1u64..1_000_000)) {
        let text = latency_text(&LatencyFigures { min_ms: 0, avg_ms: 0, max_ms: 0, ios_by_ms });
        let lines: Vec<&str> = text.lines().rev().take(2).collect();
        prop_assert_eq!(lines[0].len() + 1, lines[1].len());
    }
}
