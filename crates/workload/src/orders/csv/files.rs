//! The files of a store, made by several threads in pieces that are written in order.
//!
//! While they are made they have no names; they get them together, when all are complete and synced. Whatever ends it before
//! that leaves nothing.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use ownership::{Directory, Draft, Made, MadeDirectory};

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
/// When one of them exists, or the directory is none and cannot become one.
pub fn check(directory: &Path) -> Result<(), CsvError> {
    check_directory(directory)?;
    let mut paths = StoreTable::ALL.map(|table| directory.join(file_name(table))).to_vec();
    // A link to nowhere is there too.
    paths.retain(|path| path.symlink_metadata().is_ok());
    if paths.is_empty() { Ok(()) } else { Err(CsvError::Exists(paths)) }
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
            let claimed = load::lock(&self.claims).next();
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
        load::lock(&self.turn).failed.get_or_insert(error);
        self.passed.notify_all();
    }

    fn wait_for(&self, number: usize) -> MutexGuard<'_, Turn> {
        let turn = load::lock(&self.turn);
        let is_another = |turn: &mut Turn| turn.number != number && turn.failed.is_none();
        self.passed.wait_while(turn, is_another).unwrap_or_else(PoisonError::into_inner)
    }
}

/// Files without names, of which nothing is left unless they are finished.
struct Unfinished {
    directory: Directory,
    /// The same, if it is new too.
    made_directory: Option<MadeDirectory>,
    files: Vec<UnfinishedFile>,
}

struct UnfinishedFile {
    table: StoreTable,
    /// That it will have.
    path: PathBuf,
    draft: Draft,
    rows: u64,
    bytes: u64,
}

impl Unfinished {
    fn begin(path: &Path) -> Result<Self, CsvError> {
        check(path)?;
        let (directory, made_directory) = open_or_make(path)?;
        let mut begun = Self { directory, made_directory, files: Vec::new() };
        for table in StoreTable::ALL {
            begun.files.push(UnfinishedFile::begin(&begun.directory, table)?);
        }
        Ok(begun)
    }

    fn append(&mut self, table: StoreTable, rows: &CsvRows) -> Result<(), CsvError> {
        match self.files.iter_mut().find(|file| file.table == table) {
            Some(file) => file.append(rows),
            None => unreachable!("each table has a file"),
        }
    }

    /// Gives the files their names. A name that was taken meanwhile stays with who has it, and no file of ours stands beside it.
    fn finish(mut self) -> Result<Vec<CsvFile>, CsvError> {
        for file in &mut self.files {
            let synced = file.draft.file().sync_all();
            synced.map_err(|error| CsvError::write(&file.path, file.bytes, error))?;
        }
        let mut finished = Vec::new();
        let mut named = Vec::new();
        for file in std::mem::take(&mut self.files) {
            let UnfinishedFile { table, path, draft, rows, bytes } = file;
            match draft.name(OsStr::new(&file_name(table))) {
                Ok(made) => named.push(made),
                Err(error) => return Err(undo(&named, path, error)),
            }
            finished.push(CsvFile { path, rows, bytes });
        }
        self.made_directory = None;
        let what = "cannot sync it";
        let path = self.directory.path();
        let failed = |source| CsvError::Directory { path: path.to_owned(), what, source };
        self.directory.sync().map_err(failed)?;
        Ok(finished)
    }
}

/// Takes back the files that have their names already.
fn undo(named: &[Made], path: PathBuf, error: io::Error) -> CsvError {
    for made in named {
        // What cannot be removed is whole, and the next run names it.
        let _ = made.remove();
    }
    if error.kind() == io::ErrorKind::AlreadyExists {
        return CsvError::Exists(vec![path]);
    }
    CsvError::file(&path, "cannot rename it to its final name", error)
}

impl Drop for Unfinished {
    /// What cannot be removed is left: it is an empty directory.
    fn drop(&mut self) {
        self.files.clear();
        if let Some(made) = &self.made_directory {
            let _ = made.remove_empty();
        }
    }
}

impl UnfinishedFile {
    fn begin(directory: &Directory, table: StoreTable) -> Result<Self, CsvError> {
        let what = "cannot make files in it";
        let failed = |source| CsvError::Directory { path: directory.path().to_owned(), what, source };
        let draft = Draft::begin(directory).map_err(failed)?;
        let path = directory.path().join(file_name(table));
        let mut begun = Self { table, path, draft, rows: 0, bytes: 0 };
        begun.append(&CsvRows::header(table.table()))?;
        Ok(begun)
    }

    fn append(&mut self, rows: &CsvRows) -> Result<(), CsvError> {
        let written = self.draft.file().write_all(rows.bytes());
        written.map_err(|error| CsvError::write(&self.path, self.bytes, error))?;
        self.rows += rows.rows();
        self.bytes += rows.bytes().len() as u64;
        Ok(())
    }
}

fn check_directory(path: &Path) -> Result<(), CsvError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_new = matches!(path.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound);
    let (path, what) =
        if is_new { (parent, "cannot make a directory in it") } else { (path, "cannot make files in it") };
    let problem = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    Err(CsvError::Directory { path: path.to_owned(), what, source: problem })
}

/// Opens the directory, or makes it and says that it did. Its parent is not made.
fn open_or_make(path: &Path) -> Result<(Directory, Option<MadeDirectory>), CsvError> {
    let failed = |what| move |source| CsvError::Directory { path: path.to_owned(), what, source };
    match ownership::open_trusted(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return Ok((opened.map_err(failed("cannot open it"))?, None)),
    }
    let (directory, mut made) = ownership::make_path(path).map_err(failed("cannot make it"))?;
    Ok((directory, made.pop()))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
