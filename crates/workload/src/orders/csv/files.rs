//! The files of a store, made by several threads in pieces that are written in order.
//!
//! While they are made they have names of their own; they get their final ones together, when all are complete and synced.
//! Whatever ends it before that, but for a kill, removes them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::csv_rows::CsvRows;
use super::error::CsvError;
use crate::orders::data::{Piece, StoreData, StoreTable};

/// Rows of a piece: a few hundred KiB, which a thread makes in about a millisecond.
const PIECE_ROWS: u32 = 4_096;
/// Rows of a table by which the length of all is estimated.
const SAMPLED_ROWS: u32 = 512;
/// Bytes of a row of `inventory`, whose sales are not known before all orders are counted: 8 digits of a number, 3 of the
/// stock, 4 of the sales at most, and what is between.
const INVENTORY_ROW_BYTES: u64 = 18;

/// A file that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvFile {
    /// Where it is.
    pub path: PathBuf,
    /// Rows, the header not counted.
    pub rows: u64,
    /// Length.
    pub bytes: u64,
}

/// Name of a table's file.
#[must_use]
pub fn file_name(table: StoreTable) -> String {
    format!("{}.csv", table.table().name)
}

/// Bytes that the files of a store will have, within a few per cent, from a sample of each table.
#[must_use]
pub fn estimated_bytes(data: &StoreData) -> u64 {
    StoreTable::ALL.into_iter().map(|table| estimated_table_bytes(data, table)).sum()
}

fn estimated_table_bytes(data: &StoreData, table: StoreTable) -> u64 {
    let rows = data.expected_rows(table);
    if table == StoreTable::Inventory {
        return rows * INVENTORY_ROW_BYTES;
    }
    let numbers = data.numbers(table);
    let mut sample = CsvRows::default();
    let step = (numbers.len() / SAMPLED_ROWS as usize).max(1);
    for first in numbers.step_by(step) {
        data.write(&Piece { table, numbers: first..first + 1 }, &mut sample);
    }
    rows * sample.bytes().len() as u64 / sample.rows().max(1)
}

/// Looks whether the files can be made, and touches nothing.
///
/// # Errors
/// When one of them exists or is being made, or the directory is none and cannot become one.
pub fn check(directory: &Path) -> Result<(), CsvError> {
    check_directory(directory)?;
    let final_paths = StoreTable::ALL.map(|table| directory.join(file_name(table)));
    refuse_existing(final_paths.to_vec(), CsvError::Exists)?;
    refuse_existing(StoreTable::ALL.map(|table| first_path(directory, table)).to_vec(), CsvError::Unfinished)
}

/// Makes all files of a store in a directory, which is made too if only it itself does not exist. `progress` is told of the
/// rows that were written, in lots, by whichever thread wrote them.
///
/// # Errors
/// When a file exists, or cannot be written, or `stop` was set before the end. There is no file of a final name then.
pub fn generate(
    data: &StoreData,
    directory: &Path,
    threads: usize,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<CsvFile>, CsvError> {
    let unfinished = Unfinished::begin(directory)?;
    data.count(threads, stop).ok_or(CsvError::Interrupted)?;
    let pieces = StoreTable::ALL.into_iter().flat_map(|table| data.pieces(table, PIECE_ROWS));
    let line = Line {
        claims: Mutex::new(pieces.enumerate()),
        turn: Mutex::new(Turn { number: 0, files: unfinished, failed: None }),
        passed: Condvar::new(),
    };
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let writer = thread::Builder::new().name("csv".to_owned());
            if let Err(error) = writer.spawn_scoped(scope, || line.work(data, stop, progress)) {
                line.fail(CsvError::Thread(error));
                break;
            }
        }
    });
    let turn = line.turn.into_inner().unwrap_or_else(PoisonError::into_inner);
    match turn.failed {
        Some(error) => Err(error),
        None => turn.files.finish(),
    }
}

/// Threads at work: each claims the next piece, makes it, and writes it when those before it are written.
struct Line<I> {
    claims: Mutex<I>,
    turn: Mutex<Turn>,
    passed: Condvar,
}

struct Turn {
    /// Of the piece that is to be written next.
    number: usize,
    files: Unfinished,
    failed: Option<CsvError>,
}

impl<I: Iterator<Item = (usize, Piece)> + Send> Line<I> {
    fn work(&self, data: &StoreData, stop: &AtomicBool, progress: &(dyn Fn(u64) + Sync)) {
        let mut rows = CsvRows::default();
        loop {
            let claimed = self.claims.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, piece)) = claimed else { return };
            rows.clear();
            data.write(&piece, &mut rows);
            if self.write(number, piece.table, &rows, stop).is_break() {
                return;
            }
            progress(rows.rows());
        }
    }

    /// Waits for its turn and writes. After a failure every thread ends.
    fn write(&self, number: usize, table: StoreTable, rows: &CsvRows, stop: &AtomicBool) -> ControlFlow<()> {
        let mut turn = self.wait_for(number);
        if turn.failed.is_some() {
            return ControlFlow::Break(());
        }
        let result = if stop.load(Ordering::Relaxed) {
            Err(CsvError::Interrupted)
        } else {
            turn.files.append(table, rows)
        };
        turn.number += 1;
        turn.failed = result.err();
        self.passed.notify_all();
        if turn.failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Ends every thread.
    fn fail(&self, error: CsvError) {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).failed.get_or_insert(error);
        self.passed.notify_all();
    }

    fn wait_for(&self, number: usize) -> MutexGuard<'_, Turn> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let is_another = |turn: &mut Turn| turn.number != number && turn.failed.is_none();
        self.passed.wait_while(turn, is_another).unwrap_or_else(PoisonError::into_inner)
    }
}

/// Files under their first names, which are removed unless they are finished.
struct Unfinished {
    directory: PathBuf,
    /// Whether the directory is new too.
    made_directory: bool,
    files: Vec<UnfinishedFile>,
}

struct UnfinishedFile {
    table: StoreTable,
    path: PathBuf,
    file: File,
    rows: u64,
    bytes: u64,
}

impl Unfinished {
    fn begin(directory: &Path) -> Result<Self, CsvError> {
        check(directory)?;
        let made_directory = make_directory(directory)?;
        let mut begun = Self { directory: directory.to_owned(), made_directory, files: Vec::new() };
        for table in StoreTable::ALL {
            begun.files.push(UnfinishedFile::begin(directory, table)?);
        }
        Ok(begun)
    }

    fn append(&mut self, table: StoreTable, rows: &CsvRows) -> Result<(), CsvError> {
        match self.files.iter_mut().find(|file| file.table == table) {
            Some(file) => file.append(rows),
            None => unreachable!("each table has a file"),
        }
    }

    /// Gives the files their names. A name that was taken meanwhile is refused.
    fn finish(mut self) -> Result<Vec<CsvFile>, CsvError> {
        for file in &self.files {
            file.file.sync_all().map_err(|error| CsvError::write(&file.path, file.bytes, error))?;
        }
        let final_path = |file: &UnfinishedFile| self.directory.join(file_name(file.table));
        refuse_existing(self.files.iter().map(final_path).collect(), CsvError::Exists)?;
        let mut finished = Vec::new();
        for UnfinishedFile { table, path: first, rows, bytes, .. } in &self.files {
            let path = self.directory.join(file_name(*table));
            fs::rename(first, &path)
                .map_err(|error| CsvError::file(&path, "cannot give it its name", error))?;
            finished.push(CsvFile { path, rows: *rows, bytes: *bytes });
        }
        self.files.clear();
        self.made_directory = false;
        sync_directory(&self.directory)?;
        Ok(finished)
    }
}

impl Drop for Unfinished {
    /// What cannot be removed is left: the next run names it.
    fn drop(&mut self) {
        for file in &self.files {
            let _ = fs::remove_file(&file.path);
        }
        if self.made_directory {
            let _ = fs::remove_dir(&self.directory);
        }
    }
}

impl UnfinishedFile {
    fn begin(directory: &Path, table: StoreTable) -> Result<Self, CsvError> {
        let path = first_path(directory, table);
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let what = "cannot make files in it";
        let file = file.map_err(|source| CsvError::Directory { path: directory.to_owned(), what, source })?;
        let mut begun = Self { table, path, file, rows: 0, bytes: 0 };
        let header = begun.append(&CsvRows::header(table.table()));
        header.map(|()| begun).inspect_err(|_| {
            // Nobody else knows of it yet.
            let _ = fs::remove_file(first_path(directory, table));
        })
    }

    fn append(&mut self, rows: &CsvRows) -> Result<(), CsvError> {
        let written = self.file.write_all(rows.bytes());
        written.map_err(|error| CsvError::write(&self.path, self.bytes, error))?;
        self.rows += rows.rows();
        self.bytes += rows.bytes().len() as u64;
        Ok(())
    }
}

/// Name of a file that is being made.
fn first_path(directory: &Path, table: StoreTable) -> PathBuf {
    directory.join(format!("{}.partial", file_name(table)))
}

fn refuse_existing(mut paths: Vec<PathBuf>, error: fn(Vec<PathBuf>) -> CsvError) -> Result<(), CsvError> {
    // A link to nowhere is there too.
    paths.retain(|path| path.symlink_metadata().is_ok());
    if paths.is_empty() { Ok(()) } else { Err(error(paths)) }
}

fn check_directory(path: &Path) -> Result<(), CsvError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_new = matches!(path.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound);
    let (path, what) =
        if is_new { (parent, "cannot make a directory in it") } else { (path, "cannot make files in it") };
    let problem = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    Err(CsvError::Directory { path: path.to_owned(), what, source: problem })
}

/// Makes the directory if it does not exist, and tells whether it did.
fn make_directory(path: &Path) -> Result<bool, CsvError> {
    match fs::create_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(false),
        Err(source) => Err(CsvError::Directory { path: path.to_owned(), what: "cannot make it", source }),
    }
}

fn sync_directory(path: &Path) -> Result<(), CsvError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(|source| CsvError::Directory {
        path: path.to_owned(),
        what: "cannot sync it",
        source,
    })
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
