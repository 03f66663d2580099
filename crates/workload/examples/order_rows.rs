//! Rows of an order store that one core makes, as a figure a second: `cargo xtask bench orders`.
//!
//! The argument names what takes them: `nothing` looks at each value and keeps none, `rows` are the typed rows that a
//! database is loaded with, `csv` are lines in memory.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for one benchmark, not a part of prony"
)]

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use database::Rows;
use workload::orders::csv::CsvRows;
use workload::orders::{Piece, RowSink, StoreData, StoreTable};

/// Rows of a piece, as a loader has them.
const PIECE_ROWS: u32 = 4_096;
const SIZE: &str = "200MB";

fn main() -> ExitCode {
    let kind = std::env::args().nth(1).unwrap_or_default();
    let Ok(size) = SIZE.parse() else { unreachable!("{SIZE} is a size") };
    let data = StoreData::new(size, 42);
    let begin = Instant::now();
    // What is sold has to be counted first: it is a part of what rows cost.
    let counted = data.count(1, &AtomicBool::new(false));
    black_box(counted);
    let rows = match kind.as_str() {
        "nothing" => all(&data, |data, piece| {
            let mut nothing = Nothing { rows: 0 };
            data.write(piece, &mut nothing);
            nothing.rows
        }),
        "rows" => typed(&data),
        "csv" => lines(&data),
        _ => {
            eprintln!("give one of: nothing, rows, csv");
            return ExitCode::from(2);
        }
    };
    println!("{}", rows as f64 / begin.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

fn all(data: &StoreData, mut make: impl FnMut(&StoreData, &Piece) -> u64) -> u64 {
    let pieces = StoreTable::ALL.into_iter().flat_map(|table| data.pieces(table, PIECE_ROWS));
    pieces.map(|piece| make(data, &piece)).sum()
}

fn typed(data: &StoreData) -> u64 {
    let mut tables = StoreTable::ALL
        .map(|table| (table, Rows::with_capacity(table.table().columns.len(), PIECE_ROWS as usize)));
    all(data, |data, piece| {
        let rows = tables.iter_mut().find(|(table, _)| *table == piece.table);
        let Some((_, rows)) = rows else { unreachable!("each table has rows") };
        rows.clear();
        data.write(piece, rows);
        black_box(&*rows);
        rows.len() as u64
    })
}

fn lines(data: &StoreData) -> u64 {
    let mut lines = CsvRows::default();
    all(data, |data, piece| {
        lines.clear();
        data.write(piece, &mut lines);
        black_box(lines.bytes());
        lines.rows()
    })
}

struct Nothing {
    rows: u64,
}

impl RowSink for Nothing {
    fn null(&mut self) {}

    fn small(&mut self, number: i16) {
        black_box(number);
    }

    fn integer(&mut self, number: i32) {
        black_box(number);
    }

    fn big(&mut self, number: i64) {
        black_box(number);
    }

    fn text(&mut self, text: &str) {
        black_box(text);
    }

    fn end_row(&mut self) {
        self.rows += 1;
    }
}
