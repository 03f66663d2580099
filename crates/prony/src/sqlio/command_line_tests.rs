//! Tests of the command line, in a file of their own for their length.

use super::*;
use proptest::prelude::*;
use std::os::unix::ffi::OsStringExt;

/// The options as arguments; the tests' own inverse of the parser.
fn print(options: &Options, extensions: &Extensions) -> Vec<OsString> {
    let Options { threads, seconds, block_kb, start_block, .. } = options;
    let mut words = vec![
        if options.operation == Operation::Read { "-kR" } else { "-kW" }.to_owned(),
        format!("-s{seconds}"),
        format!("-b{block_kb}"),
        format!("-S{start_block}"),
    ];
    match options.pattern {
        Pattern::Random => words.push("-frandom".to_owned()),
        Pattern::Sequential => words.push("-fsequential".to_owned()),
        Pattern::Strided { blocks, ios_per_run, reused } => {
            words.extend([format!("-f{blocks}"), format!("-i{ios_per_run}")]);
            words.extend(reused.then(|| "-v1.1.1".to_owned()));
        }
    }
    words.extend(options.outstanding.map(|ios| format!("-o{ios}")));
    words.extend(options.latency.then(|| "-LS".to_owned()));
    words.extend(options.cpu_use.map(|cpu_use| match cpu_use {
        CpuUse::Machine => "-U".to_owned(),
        CpuUse::EachCpu => "-Up".to_owned(),
    }));
    words.extend(options.buffering.map(|buffering| match buffering {
        Buffering::None => "-BN".to_owned(),
        Buffering::Both => "-BY".to_owned(),
        Buffering::Hardware => "-BH".to_owned(),
        Buffering::Software => "-BS".to_owned(),
    }));
    words.extend(match options.affinity {
        Affinity::Any => None,
        Affinity::Cpu(cpu) => Some(format!("-p{cpu}")),
        Affinity::Mask(mask) => Some(format!("-a{mask:#x}")),
        Affinity::RoundRobin(mask) => Some(format!("-aR{mask}")),
    });
    words.extend(extensions.overwrite.then(|| "--overwrite".to_owned()));
    words.extend(extensions.destroy.as_ref().map(|device| format!("--destroy={device}")));
    match &extensions.results {
        Results::Usual => {}
        Results::Under(directory) => words.push(format!("--results={}", directory.display())),
        Results::Discarded => words.push("--no-results".to_owned()),
    }
    words.extend(labels(extensions));
    let mut arguments: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    match &options.targets {
        Targets::ParameterFile(file) => arguments.extend(["-F".into(), file.into()]),
        Targets::Files(files) => {
            arguments.extend([format!("-t{threads}").into(), "--".into()]);
            arguments.extend(files.iter().map(OsString::from));
        }
    }
    arguments
}

fn labels(extensions: &Extensions) -> impl Iterator<Item = String> {
    let name = extensions.name.iter().map(|name| format!("--name={name}"));
    let title = extensions.title.iter().map(|title| format!("--title={title}"));
    let comment = extensions.comment.iter().map(|comment| format!("--comment={comment}"));
    let tags = extensions.tags.iter().map(|tag| format!("--tag={}={}", tag.key, tag.value));
    name.chain(tags).chain(title).chain(comment)
}

/// What a command line is read as, in SQLIO's own words, then the notices; or the mistakes.
fn read(line: &str) -> String {
    let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    match parse(&arguments) {
        Ok(Parsed::Help) => "help".to_owned(),
        Ok(Parsed::Test(test)) => {
            let words = print(&test.options, &test.extensions);
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            [words.join(" ")].into_iter().chain(test.notices).collect::<Vec<_>>().join("\n")
        }
        Err(errors) => errors.lines().join("\n"),
    }
}

#[track_caller]
fn check(line: &str, wanted: &str) {
    assert_eq!(read(line), wanted, "{line}");
}

#[test]
fn defaults_are_those_of_sqlio() {
    let Ok(Parsed::Test(test)) = parse(&[]) else { panic!("no arguments are a test") };
    assert_eq!(test.options, Options::default());
    check("", "-kR -s30 -b2 -S0 -f64 -i64 -t1 -- testfile.dat");
    check("", &read("-kR -t1 -s30 -f64 -b2 -i64 testfile.dat"));
}

#[test]
fn lines_of_old_batch_files_are_read() {
    check(
        "-kW -t8 -s120 -o8 -frandom -b64 -BH -LS /data/a /data/b",
        "-kW -s120 -b64 -S0 -frandom -o8 -LS -BH -t8 -- /data/a /data/b",
    );
    check("–kr —s10 −fSequential ‑Bn", "-kR -s10 -b2 -S0 -fsequential -BN -t1 -- testfile.dat");
    check("-F param.txt -o 8 -f random -S 100", "-kR -s30 -b2 -S100 -frandom -o8 -F param.txt");
    check("-o0 -a0x0 a", "-kR -s30 -b2 -S0 -f64 -i64 -t1 -- a");
    check("-f4 -i8 -t4 -v1.1.1 a", "-kR -s30 -b2 -S0 -f4 -i8 -v1.1.1 -t4 -- a");
    check("-aR0xF -Up -BS a", "-kR -s30 -b2 -S0 -f64 -i64 -Up -BS -aR15 -t1 -- a");
    check("-t8 -z -?", "help");
    check("-t8 -?", "help");
    check("-- -kW", "-kR -s30 -b2 -S0 -f64 -i64 -t1 -- -kW");
    check(
        "--results out --destroy=X --overwrite a",
        "-kR -s30 -b2 -S0 -f64 -i64 --overwrite --destroy=X --results=out -t1 -- a",
    );
}

/// Each of these was refused, or made a file of a name that nobody meant.
#[test]
fn lines_that_scripts_pass_in_other_forms_are_read() {
    // Test-SqlIo of kvaes passes an option and its value as one argument.
    let as_one: Vec<OsString> = ["-o 8", "-f random", "-F  param.txt"].map(OsString::from).into();
    let Ok(Parsed::Test(test)) = parse(&as_one) else { panic!("one argument each") };
    assert_eq!((test.options.outstanding, test.options.pattern), (Some(8), Pattern::Random));
    assert_eq!(test.options.targets, Targets::ParameterFile("param.txt".into()));
    check("-kR – fsequential -o8 a", "-kR -s30 -b2 -S0 -fsequential -o8 -t1 -- a");
    check("- f random a", "-kR -s30 -b2 -S0 -frandom -t1 -- a");
    check(
        "/kW /t2 /S 5 -F /param.txt",
        "-kW -s30 -b2 -S5 -f64 -i64 -F /param.txt\n-t2: not used: the files and their threads come from -F",
    );
    check("/kR /data/a //b", "-kR -s30 -b2 -S0 -f64 -i64 -t1 -- /data/a //b");
    check(
        "-kWR a",
        "-kW -s30 -b2 -S0 -f64 -i64 -t1 -- a\n\
         -kWR: SQLIO never mixes reads and writes: it uses the first letter, so this test only writes",
    );
    check(
        "-krw -D11 a",
        "-kR -s30 -b2 -S0 -f64 -i64 -t1 -- a\n\
         -krw: SQLIO never mixes reads and writes: it uses the first letter, so this test only reads\n\
         -D11: accepted, but has no effect: prony has no debug output, but its results include values for every second",
    );
    insta::assert_snapshot!(read("/swap.img -DE - test.dat - ./a"), @r#"
    -swap.img: "wap.img" is not a number of seconds; give -s1 to -s31536000, or //swap.img for a file of this name in the root directory
    -DE: "E" is not a debug level; remove it, or give -D1 or higher (drive letters are -d)
    -test.dat: "est.dat" is not a number of threads; give -t1 to -t256
    -: a single dash is not an option; remove it, or give ./- as a file
    "#);
}

#[test]
fn what_means_less_here_is_a_notice() {
    insta::assert_snapshot!(
        read("-64 -LPi -i32 -frandom -pI1 -v1.1.1 -t4 -dE -Fparam.txt spare.dat"), @r#"
    -kR -s30 -b2 -S0 -frandom -LS -p1 -F param.txt
    -64: accepted, but has no effect: this is a 64-bit process
    -LPi: timed with CLOCK_MONOTONIC, like -LS, because CPU timers differ from CPU to CPU
    -LPi: the time of initiation is not printed separately: latencies are measured from submission
    -pI1: Linux does not support an ideal CPU: the threads are bound to the given CPU
    -i32: accepted, but has no effect: runs need a number in -f
    -v1.1.1: accepted, but has no effect: runs need a number in -f
    -t4: not used: the files and their threads come from -F
    -dE: not used: the files and their threads come from -F
    spare.dat: not used: the files and their threads come from -F
    "#);
    insta::assert_snapshot!(read(r"c:\testfile.dat E:x /mnt/a\b"), @r#"
    -kR -s30 -b2 -S0 -f64 -i64 -t1 -- c:\testfile.dat E:x /mnt/a\b
    c:\testfile.dat: Windows paths have no meaning on Linux. prony uses the file named "c:\testfile.dat" in the current directory
    E:x: Windows paths have no meaning on Linux. prony uses the file named "E:x" in the current directory
    /mnt/a\b: Windows paths have no meaning on Linux. prony uses the file named "/mnt/a\b" at that path
    "#);
}

#[test]
fn all_mistakes_are_said_at_once_with_their_remedies() {
    insta::assert_snapshot!(
        read("-kX -t257 -s0 -b -f0 -iq -mC4 -o8 -LQ -BX -d EF -R1 -p0 -a1 -ls -x - -Uq -v2 -t4 --frob --overwrite=1 \
            --results a --no-results --destroy X --destroy Y --results b --destroy --"), @r#"
    -kX: "X" is not a valid direction; give -kR to read or -kW to write
    -t257: 257 threads are out of range; give -t1 to -t256
    -s0: 0 seconds are out of range; give -s1 to -s31536000
    -b: "" is not a number of KB; give -b1 to -b1048576
    -f0: "0" is neither a pattern nor a number of blocks; give -frandom, -fsequential or -f1 and up
    -iq: "q" is not a number of I/Os per run; give -i1 to -i4294967295
    -mC4: copy and scatter/gather I/O are not supported, and plain I/O would be a different test; remove it, and give the size of one I/O with -b
    -LQ: "Q" is not a valid timer; give -LS, or -LP
    -BX: "X" is not a valid cache mode; give -BN for none, -BY both, -BH hardware or -BS software
    -R1: drives have no numbers or letters on Linux; give the device (for example /dev/sdb) instead of the file name, and add --destroy NAME to write to the device
    -a1: -p and -a exclude each other; give only one of them
    -ls: SQLIO has no such option; did you mean -L? -? lists all options
    -x: SQLIO has no such option; -? lists all options; to give a file of this name, write ./-name
    -: a single dash is not an option; remove it, or give ./- as a file
    -Uq: "q" is not a valid kind of CPU use; give -U for the machine or -Up for each CPU
    -v2: unknown version "2"; remove it, or give -v1.1.1
    -t4: -t257 was already given; give -t once
    --frob: unknown option; the options of prony are --overwrite, --destroy NAME, --results DIR, --no-results, --name NAME, --tag KEY=VALUE, --title TEXT, --comment TEXT, --help
    --overwrite: takes no value; give --overwrite without a value
    --no-results: --results was already given; give only one of them
    --destroy: is given twice; give one device at a time
    --results: --results or --no-results was already given; give only one of them, once
    --destroy: needs a device; give the device's serial number or its name under /dev/disk/by-id
    -o8: it cannot be combined with -mC4; give only -o
    -dEF: Linux has no drive letters; remove it, and give each file's path on a mounted file system
    "#);
    insta::assert_snapshot!(
        read("-S9007199254740991 -b1048576"),
        @"-S9007199254740991: the test would exceed 8 EiB, the largest file; reduce -S, -f, -i or -b");
    insta::assert_snapshot!(
        read("-f4294967295 -i4294967295"),
        @"-f4294967295: the test would exceed 8 EiB, the largest file; reduce -S, -f, -i or -b");
    // Its readme: a stripe factor at least as large as the number of threads, so that -f1 has one.
    insta::assert_snapshot!(read("-f1 -t2"), @"-t2: the maximum number of threads with -f1 is 1, one column per thread; give at most -t1, or at least -f2");
    insta::assert_snapshot!(read(&"a ".repeat(257)), @"a: one file too many for SQLIO; give at most 256 files");
}

#[test]
fn an_empty_argument_is_not_a_file() {
    let errors = parse(&[OsString::new()]).unwrap_err();
    assert_eq!(
        errors.lines().join("\n"),
        "\"\": an empty argument is not a file name; remove it, or give a name"
    );
}

fn options() -> impl Strategy<Value = Options> {
    let pattern = prop_oneof![
        Just(Pattern::Random),
        Just(Pattern::Sequential),
        (THREADS_MAX..9999, 1u32..9999, any::<bool>())
            .prop_map(|(blocks, ios_per_run, reused)| Pattern::Strided { blocks, ios_per_run, reused }),
    ];
    let affinity = prop_oneof![
        Just(Affinity::Any),
        any::<u32>().prop_map(Affinity::Cpu),
        (1..u64::MAX).prop_map(Affinity::Mask),
        (1..u64::MAX).prop_map(Affinity::RoundRobin),
    ];
    let buffering = prop::sample::select(vec![
        Buffering::None,
        Buffering::Both,
        Buffering::Hardware,
        Buffering::Software,
    ]);
    let files = prop::collection::vec("[^\0\r]{1,9}", 1..9);
    let targets = prop_oneof![
        files.prop_map(|files| Targets::Files(files.iter().map(PathBuf::from).collect())),
        "[a-z/.]{1,9}".prop_map(|file| Targets::ParameterFile(file.into())),
    ];
    let cpu_use = prop::option::of(prop::sample::select(vec![CpuUse::Machine, CpuUse::EachCpu]));
    let operation = prop::sample::select(vec![Operation::Read, Operation::Write]);
    let numbers = (1..=THREADS_MAX, 1u32..99_999, 1u32..9999, 0u64..99_999, prop::option::of(1u32..999));
    (numbers, pattern, affinity, prop::option::of(buffering), targets, cpu_use, operation, any::<bool>())
        .prop_map(|(numbers, pattern, affinity, buffering, targets, cpu_use, operation, latency)| {
            let (threads, seconds, block_kb, start_block, outstanding) = numbers;
            // The threads of a parameter file are in the file.
            let threads = if matches!(targets, Targets::Files(_)) { threads } else { 1 };
            Options {
                operation,
                threads,
                seconds,
                block_kb,
                pattern,
                outstanding,
                latency,
                cpu_use,
                buffering,
                start_block,
                affinity,
                targets,
            }
        })
}

fn extensions() -> impl Strategy<Value = Extensions> {
    let results = prop_oneof![
        Just(Results::Usual),
        Just(Results::Discarded),
        "[^\0\r]{1,9}".prop_map(|directory| Results::Under(directory.into())),
    ];
    let destroy = prop::option::of("[^\0\r]{1,9}");
    let name = prop::option::of("[a-kA-Z0-9]{1,9}".prop_map(|name| name.parse().unwrap()));
    let tags =
        prop::collection::vec("[a-z0-9]{1,9}=[ -9;<>?A-~]{0,9}x".prop_map(|tag| tag.parse().unwrap()), 0..3);
    let title = prop::option::of("[ -9;<>?A-~]{0,9}x".prop_map(|title| title.parse().unwrap()));
    let comment = prop::option::of("x[ -9;<>?A-~\n]{0,9}x".prop_map(|comment| comment.parse().unwrap()));
    (any::<bool>(), destroy, results, name, tags, title, comment).prop_map(
        |(overwrite, destroy, results, name, tags, title, comment)| Extensions {
            overwrite,
            destroy,
            results,
            name,
            tags,
            title,
            comment,
        },
    )
}

proptest! {
    #[test]
    fn bytes_never_panic(arguments in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 0..8)) {
        let arguments: Vec<_> = arguments.into_iter().map(OsString::from_vec).collect();
        if let Err(errors) = parse(&arguments) {
            prop_assert!(!errors.lines().join("\n").is_empty());
        }
    }

    #[test]
    fn near_options_never_panic(
        arguments in prop::collection::vec(
            "(-|--|–|—)[ktsfbioLmUBSdRpaFv6?]?([0-9]{0,22}|[A-Zé]|random|0x[0-9A-G]*|=)",
            0..12,
        ),
    ) {
        let arguments: Vec<_> = arguments.into_iter().map(OsString::from).collect();
        let _ = parse(&arguments);
    }

    #[test]
    fn printed_options_are_read_back(options in options(), extensions in extensions()) {
        let parsed = parse(&print(&options, &extensions));
        let Ok(Parsed::Test(test)) = parsed else { panic!("{parsed:?}") };
        prop_assert_eq!(test.options, options);
        prop_assert_eq!(test.extensions, extensions);
    }
}

/// A batch of Windows that sh runs gives a last argument with a carriage return: `pump.dat\r` was made, filled and measured.
#[test]
fn a_windows_line_end_is_told_with_its_remedy() {
    let told = |words: &[&str]| {
        let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&arguments).map_or_else(|errors| errors.lines().join("\n"), |parsed| format!("{parsed:?}"))
    };
    insta::assert_snapshot!(told(&["-kR", "pump.dat\r"]), @r"pump.dat\r: ends with the carriage return (\r) of a Windows line end; convert the script with dos2unix, or with tr -d '\r'");
    insta::assert_snapshot!(told(&["-kR", "pump.dat", "\r"]), @r"\r: ends with the carriage return (\r) of a Windows line end; convert the script with dos2unix, or with tr -d '\r'");
    insta::assert_snapshot!(told(&["-LS\r", "-kX", "pump.dat"]), @r#"
    -LS\r: ends with the carriage return (\r) of a Windows line end; convert the script with dos2unix, or with tr -d '\r'
    -kX: "X" is not a valid direction; give -kR to read or -kW to write
    "#);
    assert_eq!(told(&["-?\r"]), "Help");
}
