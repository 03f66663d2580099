//! `prony orders generate`: the rows of an order store as files.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use indicatif::{ProgressBar, ProgressStyle};
use record::{Lines, shown};
use report::format;
use workload::orders::csv::{self, CsvError, CsvFile};
use workload::orders::{StoreData, StoreTable};

use crate::arguments::GenerateOrders;
use crate::exit::{Exit, Failure};
use crate::{interrupt, memory, terminal, ticker};

/// How often a plain line is printed.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

pub(crate) fn generate(arguments: &GenerateOrders) -> Result<Exit, Failure> {
    let GenerateOrders { csv: directory, rows, .. } = arguments;
    csv::check(directory)?;
    let (data, threads) = (StoreData::new(rows.size, rows.seed), rows.threads());
    let expected: u64 = StoreTable::ALL.into_iter().map(|table| data.expected_rows(table)).sum();
    let bytes = csv::estimated_bytes(&data);
    announce!(
        "order store of {}, seed {}: about {} rows",
        data.size(),
        data.seed(),
        format::figure(expected as f64)
    );
    announce!("Writes: about {} of files to {} (kept)", format::bytes(bytes), directory.display());
    check_space(directory, bytes)?;
    memory::check(threads as u64)?;
    let stop = interrupt::flag_on_signal()?;
    let begin = Instant::now();
    let progress = RowsWritten::new(expected);
    let result = csv::generate(&data, directory, threads, &stop, &|rows| progress.add(rows));
    progress.finish();
    let files = result?;
    terminal::print(&table(&files))?;
    announce!("took {}", format::duration(begin.elapsed().as_secs_f64()));
    Ok(Exit::Pass)
}

impl From<CsvError> for Failure {
    fn from(error: CsvError) -> Self {
        match error {
            CsvError::Interrupted => Self::interrupted(error),
            error if error.is_usage() => Self::usage(error),
            error => Self::runtime(error),
        }
    }
}

/// Asks the directory, or the one that it is to be made in.
fn check_space(directory: &Path, bytes: u64) -> Result<(), Failure> {
    let parent = || directory.parent().filter(|parent| !parent.as_os_str().is_empty());
    let there = if directory.exists() { directory } else { parent().unwrap_or(Path::new(".")) };
    match disk::lack_of_space(there, bytes)? {
        None => Ok(()),
        Some(lack) => Err(Failure::usage(anyhow!(
            "not enough space in {}: {lack}. Use a smaller --size, or another directory",
            directory.display()
        ))),
    }
}

/// A line a file.
fn table(files: &[CsvFile]) -> Lines {
    let cells: Vec<[String; 3]> = files
        .iter()
        .map(|file| {
            let rows = format!("{} rows", format::grouped(file.rows));
            [shown(&file.path.display().to_string()).into_owned(), rows, format::bytes(file.bytes)]
        })
        .collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let line = |[path, rows, bytes]: &[String; 3]| {
        format!("{path:<0$}  {rows:>1$}  {bytes:>2$}", widths[0], widths[1], widths[2])
    };
    Lines::each(cells.iter().map(line))
}

/// How far it is: a bar on a terminal, else a plain line every ten seconds.
struct RowsWritten {
    rows: AtomicU64,
    total: u64,
    live: Option<ProgressBar>,
    last_plain: Mutex<Instant>,
}

impl RowsWritten {
    fn new(total: u64) -> Self {
        let live = terminal::shows_live_line().then(|| {
            let bar = ProgressBar::new(total);
            // The template is constant; without it the bar has indicatif's own look.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {percent}% {wide_bar} {eta}") {
                bar.set_style(style);
            }
            ticker::start(&bar);
            bar
        });
        Self { rows: AtomicU64::new(0), total, live, last_plain: Mutex::new(Instant::now()) }
    }

    fn add(&self, rows: u64) {
        let done = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        if let Some(bar) = &self.live {
            return bar.set_position(done);
        }
        let mut last_plain = load::lock(&self.last_plain);
        if last_plain.elapsed() >= PLAIN_EVERY {
            *last_plain = Instant::now();
            let share = done as f64 / self.total as f64;
            announce!(
                "{} of about {} rows ({:.0}%)",
                format::grouped(done),
                format::grouped(self.total),
                share * 100.0
            );
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.live {
            bar.finish_and_clear();
        }
    }
}
