//! Messages of reports, for `cargo xtask bench reporting`: made, loaded and read.
//!
//! The first argument says what is done. `nothing` looks at each message and keeps none, `rows` makes the typed rows that a database is
//! loaded with: rows a second. `load URL` fills a database with them and removes it: seconds. `keep URL` makes one that stays. `report URL`
//! asks that one for all of its messages again and again and checks them, `bare URL` reads the same rows by the driver alone and looks at
//! none: rows, and the most memory in KiB.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for one benchmark, not a part of prony"
)]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use database::{Claim, Error, Existing, Own, Rows, RunId, Url};
use workload::reporting::{
    Access, MESSAGES, MessageData, Question, Report, ReportResult, Standing, create, fill,
};

/// Messages of a piece, as a load has them.
const PIECE_ROWS: u64 = 10_000;
/// Pieces that are made.
const PIECES: u64 = 500;
/// Messages of a database.
const LOADED: u64 = 1_500_000;
/// Times that all of them are read.
const READS: u64 = 10;
/// Database on the server.
const NAME: &str = "prony_reports";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (what, url) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let done = match what.as_str() {
        "nothing" | "rows" => Ok(made(&what)),
        "load" | "keep" | "report" | "bare" => with_database(&what, &url),
        _ => Err("give one of: nothing, rows, load URL, keep URL, report URL, bare URL".to_owned()),
    };
    match done {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn data(events: u64) -> MessageData {
    MessageData::new(Standing { events, days: 365, subject_bytes: 0, seed: 42 })
}

/// Rows a second.
fn made(what: &str) -> String {
    let begin = Instant::now();
    let data = data(PIECES * PIECE_ROWS);
    if what == "nothing" {
        (0..data.events()).for_each(|number| {
            black_box(data.message(number));
        });
    } else {
        let mut rows = Rows::with_capacity(MESSAGES.columns.len(), PIECE_ROWS as usize);
        for piece in 0..PIECES {
            rows.clear();
            data.write(piece * PIECE_ROWS..(piece + 1) * PIECE_ROWS, &mut rows);
            black_box(&rows);
        }
    }
    (data.events() as f64 / begin.elapsed().as_secs_f64()).to_string()
}

fn with_database(what: &str, url: &str) -> Result<String, String> {
    let url: Url = url.parse().map_err(|error| format!("{error}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let run = RunId::new().map_err(|error| error.to_string())?;
    let done = runtime.block_on(async {
        match what {
            "load" => load(&url, run, false).await,
            "keep" => load(&url, run, true).await,
            _ => read(&url, run, what == "report").await,
        }
    });
    done.map_err(|error| error.to_string())
}

/// Seconds.
async fn load(url: &Url, run: RunId, is_kept: bool) -> Result<String, Error> {
    let claim = Claim { is_transient: !is_kept, ..Claim::new(run, Existing::Replace) };
    let own = Own::make(url, NAME, &claim).await?;
    let begin = Instant::now();
    let mut session = own.session().await?;
    create(&mut session).await?;
    fill(&mut session, &data(LOADED), &mut |_| true).await?;
    let seconds = begin.elapsed().as_secs_f64();
    drop(session);
    if !is_kept {
        own.remove().await?;
    }
    Ok(seconds.to_string())
}

/// Rows, and the most memory.
async fn read(url: &Url, run: RunId, is_checked: bool) -> Result<String, Error> {
    let claim = Claim::new(run, Existing::Reuse);
    let own = Own::make(url, NAME, &claim).await?;
    let mut session = own.session().await?;
    let data = data(LOADED);
    let report = Report::of_share(&data, 1.0, ReportResult::Rows);
    let question = Question::of(&report, &data, session.dialect(), Access::Statement);
    let Some(question) = question else { unreachable!("every engine has statements") };
    let mut rows = 0;
    for _ in 0..READS {
        rows += match is_checked {
            true => question.ask(&mut session).await?.answer.rows,
            false => session.count_rows(question.sql(), &[]).await?,
        };
    }
    Ok(format!("{rows} {}", most_memory_kib()))
}

/// The most memory of this process at once (VmHWM of proc(5)).
fn most_memory_kib() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()).unwrap_or("0").to_owned()
}
