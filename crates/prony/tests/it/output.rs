//! What is printed is data: whatever users and servers call things commands no terminal, page or spreadsheet, and holds no
//! password; and what cannot be printed is stored all the same.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::running::Running;
use crate::workbench::{Outcome, PRONY, Workbench, finish};

/// A terminal's colours and bell, a line that looks like one of ours, letters that run backwards; as TOML writes it.
const EVIL_TOML: &str = r"\u001b[31m\u0007\r\nfinding  forged: holds\u009b2J\u007f\u202e";
/// The same as itself, and as it is seen.
const EVIL: &str = "\u{1b}[31m\u{7}\r\nfinding  forged: holds\u{9b}2J\u{7f}\u{202e}";
const SEEN: &str = "\\x1b[31m\\x07\\r\\nfinding  forged: holds\\u{9b}2J\\x7f\\u{202e}";

/// A study in virtual time of two named configurations.
fn study(title: &str, name: &str) -> String {
    format!(
        r#"
        title = "{title}"
        blocks = 1
        before = ": '{EVIL_TOML}'"
        [workload.disk]
        engine = "simulated"
        duration = "2s"
        warm_up = "0s"
        [target]
        paths = ["x{EVIL_TOML}"]
        [[configuration]]
        name = "{name}"
        [[configuration]]
        name = "plain"
        workload.disk.outstanding = 8
        "#
    )
}

#[track_caller]
fn is_only_read(what: &str, text: &str) {
    let at_work =
        |character: &char| (character.is_control() && *character != '\n') || *character == '\u{202e}';
    assert_eq!(text.chars().find(at_work), None, "{what}:\n{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("finding  forged")), "{what}:\n{text}");
}

/// Escape sequences of names and of a server's texts reached the terminal, and an end of line in one made a line that
/// looked like a finding.
#[test]
fn hostile_names_are_only_read_wherever_they_are_printed() {
    let bench = Workbench::new();
    bench.write("study.toml", study(EVIL_TOML, EVIL_TOML));
    let results = format!("r{EVIL}");
    let run = bench.run(&["study", "run", "study.toml", "--results", &results]).ended_with(0);
    for (what, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        is_only_read(what, text);
        assert!(text.contains(SEEN), "{what}:\n{text}");
    }
    let directory = format!("{results}/{}", bench.names(&results)[0]);
    for arguments in [
        &["report", &directory][..],
        &["report", &directory, "--json"],
        &["report", &directory, "--csv"],
        &["export", &directory, "--csv"],
        &["compare", &directory, &directory],
        &["compare", &directory, &directory, "--json"],
        &["history", &directory],
        &["history", &directory, "--json"],
        &["history", &directory, "--csv"],
        &["history", &directory, "--html"],
        &["study", "plan", "study.toml"],
        &["study", "plan", "study.toml", "--json"],
        &["study", "resume", &directory],
    ] {
        let outcome = bench.run(arguments);
        let what = format!("{arguments:?}");
        is_only_read(&what, &outcome.stdout.replace("\r\n", "\n"));
        is_only_read(&what, &outcome.stderr);
        let is_json = arguments.contains(&"--json");
        assert!(
            is_json || [&outcome.stdout, &outcome.stderr].iter().any(|text| text.contains("forged")),
            "{what}"
        );
        if is_json {
            assert!(outcome.json().to_string().contains("forged"), "{what}");
        }
    }
    is_only_read("page", &fs::read_to_string(bench.path(&directory).join("report.html")).unwrap());
}

#[test]
fn hostile_arguments_are_only_read_in_what_a_failing_run_says() {
    let bench = Workbench::new();
    bench.write(
        "wrong.toml",
        format!("\"{EVIL_TOML}\" = 1\ntitle = [\"{EVIL_TOML}\"]\nblocks = \"{EVIL_TOML}\"\n"),
    );
    bench.write("param.txt", format!("{} two\n", EVIL.replace(['\n', '\r'], "")));
    bench.write("prices.toml", format!("currency = \"{EVIL_TOML}\"\n\"{EVIL_TOML}\" = 3\n"));
    bench.write("plant.csv", format!("1,A,\"{EVIL}\"\n"));
    let source = ["historian", "--target", "sqlite:x.db", "--source", "csv:plant.csv", "--duration", "1s"];
    let orders = ["orders", "run", "--target", "sqlite:x.db", "--prices", "prices.toml"];
    for arguments in [
        &["disk", EVIL][..],
        &["disk", ".", "--block-size", EVIL],
        &["disk", ".", &format!("--{EVIL}")],
        &["disk", ".", "--profile", EVIL],
        &[EVIL],
        &["study", "run", EVIL],
        &["study", "run", "wrong.toml"],
        &["study", "run", "wrong.toml", "--location", &format!("{EVIL}=x"), "--set", &format!("{EVIL}=1")],
        &["sqlio", &format!("nowhere/{EVIL}")],
        &["sqlio", "-Fparam.txt"],
        &["sqlio", &format!("-{EVIL}")],
        &["report", EVIL],
        &["export", EVIL, "--csv"],
        &["man", EVIL],
        &["historian", "--target", &format!("sqlite:{EVIL}/x.db"), "--rate", "10", "--duration", "1s"],
        &["orders", "verify", "--target", &format!("sqlite:{EVIL}")],
        &source,
        &orders,
    ] {
        let outcome = bench.run(arguments);
        assert_ne!(outcome.code, Some(0), "{arguments:?}");
        is_only_read(&format!("{arguments:?}"), &outcome.stderr);
        is_only_read(&format!("{arguments:?}"), &outcome.stdout);
        assert!(outcome.stderr.contains("forged"), "{arguments:?}:\n{}", outcome.stderr);
    }
    // What may be an address is not quoted at all: a password may be in it.
    let refused = bench.run(&["historian", "--target", EVIL]).ended_with(2).stderr;
    assert!(refused.contains("unknown kind of address") && !refused.contains("forged"), "{refused}");
}

/// A server that refuses everybody, in its own words.
fn hostile_postgres() -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in server.incoming().take(100) {
            let mut client = client.unwrap();
            let said = |client: &mut TcpStream| {
                let mut length = [0; 4];
                client.read_exact(&mut length).unwrap();
                let mut words = vec![0; u32::from_be_bytes(length) as usize - 4];
                client.read_exact(&mut words).unwrap();
                words
            };
            if said(&mut client) == 80_877_103_u32.to_be_bytes() {
                // It was asked for TLS, and has none.
                client.write_all(b"N").unwrap();
                said(&mut client);
            }
            let fields = format!("SFATAL\0VFATAL\0C28000\0M{EVIL}\0H{EVIL}\0\0");
            let mut answer = vec![b'E'];
            answer.extend((fields.len() as u32 + 4).to_be_bytes());
            answer.extend(fields.as_bytes());
            client.write_all(&answer).unwrap();
        }
    });
    port
}

/// An end of line within a server's error made a line `finding  fake: holds`.
#[test]
fn what_a_server_says_makes_no_line_of_ours() {
    let bench = Workbench::new();
    let target = format!("postgres://me@127.0.0.1:{}/x", hostile_postgres());
    for arguments in [
        &["historian", "--target", &target, "--rate", "10", "--duration", "1s"][..],
        &["orders", "load", "--target", &target, "--size", "10MB"],
        &["orders", "verify", "--target", &target],
        &["orders", "run", "--target", &target, "--run-time", "1s"],
    ] {
        let outcome = bench.run(arguments);
        assert_ne!(outcome.code, Some(0), "{arguments:?}");
        is_only_read(&format!("{arguments:?}"), &outcome.stderr);
        is_only_read(&format!("{arguments:?}"), &outcome.stdout);
        assert!(outcome.stderr.contains("finding  forged"), "{arguments:?}:\n{}", outcome.stderr);
    }
}

/// `target.url` that was given twice, or an address where a name belongs, was quoted with its password.
#[test]
fn passwords_are_told_nowhere() {
    let bench = Workbench::new();
    const URL: &str = "postgres://me:secret@localhost:1/x";
    let axis = format!("title = \"t\"\n[[axis]]\nkey = \"target.url\"\nlevels = [\"{URL}\", \"{URL}\"]\n");
    bench.write("levels.toml", format!("{axis}[workload.historian]\nrate = 10\n"));
    bench.write("title.toml", study(URL, "a"));
    bench.write("name.toml", study("t", URL));
    bench.write(
        "key.toml",
        format!("\"{URL}\" = 1\nblocks = \"{URL}\"\norder = \"{URL}\"\nthresholds = [\"{URL}\"]"),
    );
    bench.write("syntax.toml", format!("title = {URL}\n"));
    for arguments in [
        &["study", "run", "levels.toml"][..],
        &["study", "run", "title.toml"],
        &["study", "run", "name.toml"],
        &["study", "run", "key.toml"],
        &["study", "run", "syntax.toml"],
        &["study", "run", URL],
        &["study", "run", "name.toml", "--set", &format!("title={URL}")],
        &["study", "run", "name.toml", "--location", &format!("{URL}={URL}")],
        &["disk", URL],
        &["disk", ".", "--profile", URL],
        &["disk", ".", "--block-size", URL],
        &["disk", ".", "--expect", URL],
        &["report", URL],
        &["historian", "--target", "sqlite:x.db", "--database", URL],
        &["orders", "verify", "--target", "sqlite:x.db", "--database", URL],
        &["sqlio", URL, "-x"],
        &[URL],
    ] {
        let outcome = bench.run(arguments);
        assert_ne!(outcome.code, Some(0), "{arguments:?}");
        assert!(!outcome.stderr.contains("secret"), "{arguments:?}:\n{}", outcome.stderr);
        assert_eq!(bench.results(), None, "{arguments:?} stored something");
    }
}

/// A study file that was a pipe was waited for, and `/dev/zero` read until memory ended.
#[test]
fn what_is_no_file_is_refused_at_once() {
    let bench = Workbench::new();
    mknodat(CWD, bench.path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    fs::create_dir(bench.path("directory")).unwrap();
    fs::File::create(bench.path("large")).unwrap().set_len((16 << 20) + 1).unwrap();
    for (file, why) in [
        ("pipe", "it is a FIFO: give a regular file"),
        ("/dev/zero", "it is a character device: give a regular file"),
        ("/dev/urandom", "it is a character device: give a regular file"),
        ("directory", "it is a directory: give a regular file"),
        ("large", "it is larger than 16MiB, the maximum size that prony reads"),
    ] {
        bench.run(&["study", "plan", file]).ended_with(2).says(why);
        bench.run(&["sqlio", &format!("-F{file}")]).ended_with(2).says(why);
        let prices = ["orders", "run", "--target", "sqlite:x.db", "--prices", file];
        bench.run(&prices).ended_with(2).says(&why.replace("16MiB", "1MiB"));
    }
}

/// In virtual time, with stdout on a device that is always full.
fn into_a_full_stdout(bench: &Workbench, arguments: &[&str]) -> Outcome {
    let mut command = bench.command(PRONY);
    command.args(arguments).stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A stdout that was full kept report.html from being made.
#[test]
fn a_stdout_that_is_full_costs_no_page() {
    let short = ["x", "--engine", "simulated", "--duration", "1s", "--warm-up", "0s"];
    let bench = Workbench::new();
    let outcome = into_a_full_stdout(&bench, &[&["disk"], &short[..]].concat());
    outcome.ended_with(1).says("cannot write to stdout: No space left on device").says("report: ");
    let results = bench.results().unwrap();
    assert!(results.join("report.html").exists());
    fs::remove_file(results.join("report.html")).unwrap();
    into_a_full_stdout(&bench, &["report", results.to_str().unwrap()])
        .ended_with(1)
        .says("cannot write to stdout");
    assert!(results.join("report.html").exists());
}

/// A terminal that was closed sends SIGHUP and takes nothing any more; that ended with 1 and without a page.
#[test]
fn a_terminal_that_was_closed_interrupts() {
    let bench = Workbench::new();
    let mut command = bench.command("sh");
    let hour = "disk x --engine null --duration 1h --warm-up 0s --rate=1000";
    command.args(["-c", &format!("exec {PRONY} {hour} >/dev/full")]);
    let mut run = Running::start_command(&bench, command);
    run.wait_for_samples(&bench);
    // Once by its shell and once by the kernel.
    run.send(Signal::HUP);
    run.wait_for_line("interrupted");
    run.send(Signal::HUP);
    run.ended().ended_with(130).says("cannot write to stdout").says("report: ");
    assert!(bench.results().unwrap().join("report.html").exists());
}

/// What DuckDB and pandas read in these files, by the documented expression too.
fn read_back(bench: &Workbench, files: [&Path; 2]) -> Value {
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("python/bin/python");
    assert!(python.is_file(), "there is no {}: make it by `cargo xtask python`", python.display());
    let mut command = bench.command(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/read_texts.py"));
    command.args(files).args([record::UNDO.0, record::UNDO.1]);
    finish(command).ended_with(0).json()
}

/// 54 cells of an export were `=cmd|' /C calc'!A0`, which a spreadsheet runs. No way to write one is run by none and read by
/// all as the same text, so that what is put before it must come off again.
#[test]
fn cells_that_a_spreadsheet_would_run_are_read_back_as_they_were() {
    let bench = Workbench::new();
    let names = [
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-2+3",
        "@SUM(A1)",
        "=HYPERLINK(\\\"x\\\")",
        "＝1",
        " =1",
        "'=1",
        "''-x",
        "a;=1;+b",
        "it's",
        "page read",
        "x-1",
        "\\\"=1\\\"",
    ];
    let configurations: String =
        names.iter().map(|name| format!("[[configuration]]\nname = \"{name}\"\n")).collect();
    let head = study("t", "a").split("[[configuration]]").next().unwrap().to_owned();
    bench.write("study.toml", head + &configurations);
    bench.run(&["study", "run", "study.toml", "--results", "r"]).ended_with(0);
    let directory = format!("r/{}", bench.names("r")[0]);
    for form in ["csv", "parquet"] {
        let file = format!("table.{form}");
        bench.run(&["export", &directory, &format!("--{form}"), "--output", &file]).ended_with(0);
    }
    let figures = bench.run(&["report", &directory, "--csv"]).ended_with(0).stdout;
    let figures = bench.write("figures.csv", figures);
    let read = read_back(&bench, [&bench.path("table.csv"), &bench.path("table.parquet")]);
    let mut given: Vec<String> = names.iter().map(|name| name.replace("\\\"", "\"")).collect();
    given.sort();
    for reader in ["duckdb", "pandas"] {
        assert_eq!(read[reader]["parquet"], json!(given), "{reader}: Parquet holds texts as they are");
        assert_eq!(read[reader]["undone"], json!(given), "{reader}");
        for cell in read[reader]["csv"].as_array().unwrap() {
            let cell = cell.as_str().unwrap();
            assert!(!cell.starts_with(['=', '+', '-', '@', '＝']), "{reader}: {cell} would be run");
        }
    }
    let table: PathBuf = bench.path("table.parquet");
    let read = read_back(&bench, [&figures, &table]);
    assert_eq!(read["pandas"]["undone"], json!(given), "the figures of a report too");
    assert!(table.as_os_str().as_bytes().ends_with(b"parquet"));
}

/// What is printed on a terminal of so many columns; none where no program makes one.
fn on_a_terminal(bench: &Workbench, columns: u16, locale: &str, words: &str) -> Option<String> {
    let mut script = bench.command("script");
    script.args(["-qec", &format!("stty cols {columns} rows 50; {PRONY} {words}"), "/dev/null"]);
    script.env("LC_ALL", locale).env("SHELL", "/bin/sh").env("PRONY_DETAILS", "false");
    if script.output().is_err() {
        eprintln!("not tried: a terminal, for there is no `script`");
        return None;
    }
    Some(finish(script).stdout.replace('\r', ""))
}

/// Charts of letters stand where there is room for them and somebody asks for details: the first screen stays one.
#[test]
fn a_wide_terminal_has_charts_over_time_with_details_alone() {
    let bench = Workbench::new();
    bench.run(&["disk", "x", "--engine", "simulated", "--duration", "5s", "--warm-up", "1s"]).ended_with(0);
    let shown = |columns, locale, words| on_a_terminal(&bench, columns, locale, words);
    let Some(blocks) = shown(100, "C.UTF-8", "report latest --details") else { return };
    assert!(blocks.contains("over time: I/Os per second") && blocks.contains("│██"), "{blocks}");
    assert!(blocks.contains("w: warm-up") && blocks.contains("99th percentile"), "{blocks}");
    let ascii = shown(100, "C", "report latest --details").unwrap();
    assert!(ascii.contains("|##") && !ascii.contains('█'), "{ascii}");
    for (columns, words) in [(79, "report latest --details"), (100, "report latest"), (200, "report latest")]
    {
        let text = shown(columns, "C.UTF-8", words).unwrap();
        assert!(!text.contains("over time") && !text.contains('█'), "{columns} {words}: {text}");
    }
    let first = shown(200, "C.UTF-8", "report latest").unwrap();
    assert!(first.lines().count() <= 12, "{first}");
    assert!(!bench.run(&["report", "latest", "--details"]).stdout.contains("over time"), "a file has none");
}

/// Without being asked for details, a run ends with its answer on one screen, and the report's path below it.
#[test]
fn a_run_ends_with_its_answer_on_one_screen() {
    let bench = Workbench::new();
    let disk = ["disk", "x", "--engine", "simulated", "--duration", "2s", "--warm-up", "0s"];
    let outcome = bench.run_with(&[("PRONY_DETAILS", "false"), ("COLUMNS", "80")], &disk).ended_with(0);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(lines.len() <= 11 && lines.iter().all(|line| line.chars().count() <= 80), "{}", outcome.stdout);
    let first_words: Vec<&str> = lines.iter().filter_map(|line| line.split("  ").next()).collect();
    for label in ["Reliability", "Bottleneck", "Next"] {
        assert!(first_words.contains(&label), "{}", outcome.stdout);
    }
    let said = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("prony disk --profile sweep"), "as it is typed: {}", outcome.stdout);
    assert!(!outcome.stdout.contains('─'), "no table: {}", outcome.stdout);
    assert!(bench.run(&disk).ended_with(0).stdout.contains('─'), "with details there are tables");
}
