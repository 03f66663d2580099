//! Messages of reports that one core makes, as a figure a second.
//!
//! The argument names what takes them: `nothing` looks at each message and keeps none, `rows` are the typed rows that a database
//! is loaded with.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for one benchmark, not a part of prony"
)]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use database::Rows;
use workload::reporting::{MESSAGES, MessageData, Standing};

/// Messages of a piece, as a load has them.
const PIECE_ROWS: u64 = 10_000;
const PIECES: u64 = 500;

fn main() -> ExitCode {
    let kind = std::env::args().nth(1).unwrap_or_default();
    let begin = Instant::now();
    let data =
        MessageData::new(Standing { events: PIECES * PIECE_ROWS, days: 365, subject_bytes: 0, seed: 42 });
    match kind.as_str() {
        "nothing" => (0..data.events()).for_each(|number| {
            black_box(data.message(number));
        }),
        "rows" => {
            let mut rows = Rows::with_capacity(MESSAGES.columns.len(), PIECE_ROWS as usize);
            for piece in 0..PIECES {
                rows.clear();
                data.write(piece * PIECE_ROWS..(piece + 1) * PIECE_ROWS, &mut rows);
                black_box(&rows);
            }
        }
        _ => {
            eprintln!("give one of: nothing, rows");
            return ExitCode::from(2);
        }
    }
    println!("{}", data.events() as f64 / begin.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}
