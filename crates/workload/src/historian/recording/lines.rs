//! Lines of a CSV file, with its delimiter found out and the length of a line bounded.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use csv::{ByteRecord, ReaderBuilder};

use super::fields;
use crate::given_file;

/// Longest line, with quoted line ends in it. Without a bound, a quote that is never closed would make the rest of the
/// file one line in memory.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// What can separate fields; the first where nothing speaks for another.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];
/// What is looked at to find the delimiter.
const BEGINNING_BYTES: u64 = 4_096;

/// The records of a file, read into one that is used again and again.
#[derive(Debug)]
pub(super) struct Lines<R: Read> {
    records: csv::Reader<Bounded<io::Chain<Cursor<Vec<u8>>, R>>>,
    delimiter: u8,
    since_record_bytes: Arc<AtomicU64>,
}

impl<R: Read> Lines<R> {
    /// Finds the delimiter in the first line, and skips one such as `sep=;`.
    pub(super) fn open(source: R) -> io::Result<Self> {
        Self::new(source, None)
    }

    pub(super) fn with_delimiter(source: R, delimiter: u8) -> io::Result<Self> {
        Self::new(source, Some(delimiter))
    }

    fn new(mut source: R, delimiter: Option<u8>) -> io::Result<Self> {
        let mut beginning = Vec::new();
        source.by_ref().take(BEGINNING_BYTES).read_to_end(&mut beginning)?;
        if let Some(utf16) = given_file::Utf16::of(&beginning) {
            return Err(io::Error::other(format!("it is {utf16}")));
        }
        let named = delimiter_of_excel(&beginning);
        let delimiter = match delimiter.or(named) {
            Some(delimiter) => delimiter,
            None => delimiter_of(&beginning)?,
        };
        let since_record_bytes = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&since_record_bytes);
        let bounded = Bounded { source: Cursor::new(beginning).chain(source), since_record_bytes: counter };
        let records =
            ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(bounded);
        let mut lines = Self { records, delimiter, since_record_bytes };
        if named.is_some() {
            lines.read(&mut ByteRecord::new())?;
        }
        Ok(lines)
    }

    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Reads the next record; false at the end. Empty lines are passed over.
    pub(super) fn read(&mut self, record: &mut ByteRecord) -> io::Result<bool> {
        let read = self.records.read_byte_record(record).map_err(into_io);
        self.since_record_bytes.store(0, Ordering::Relaxed);
        read
    }
}

/// Fails when too much was read without a record being complete.
#[derive(Debug)]
struct Bounded<R> {
    source: R,
    /// Shared with whoever knows when a record is complete, which is on the other side of the CSV reader.
    since_record_bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.since_record_bytes.load(Ordering::Relaxed) > LINE_BYTES_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it has a line of more than 1 MiB: close the quotes of each field",
            ));
        }
        let count = self.source.read(buffer)?;
        self.since_record_bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The delimiter of a first line such as `sep=;`, which Excel writes and applies.
fn delimiter_of_excel(beginning: &[u8]) -> Option<u8> {
    let text = beginning.strip_prefix("\u{feff}".as_bytes()).unwrap_or(beginning);
    let (word, rest) = text.split_at_checked(4)?;
    match rest {
        [delimiter, b'\r' | b'\n', ..] if word.eq_ignore_ascii_case(b"sep=") && is_delimiter(*delimiter) => {
            Some(*delimiter)
        }
        _ => None,
    }
}

fn is_delimiter(byte: u8) -> bool {
    byte == b'\t' || byte == b' ' || (byte.is_ascii_punctuation() && byte != b'"')
}

/// What separates the fields of the first line that is not empty: what is there most often, outside quotes. With as many commas as
/// other delimiters it is the one that makes an event of the line: its commas may be decimal ones.
fn delimiter_of(beginning: &[u8]) -> io::Result<u8> {
    let mut line = Vec::new();
    let mut lines = BufReader::new(beginning);
    while line.trim_ascii().is_empty() {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            break;
        }
    }
    let mut is_quoted = false;
    let mut counts = DELIMITERS.map(|delimiter| (delimiter, 0));
    for byte in &line {
        is_quoted ^= *byte == b'"';
        let counted = counts.iter_mut().filter(|(delimiter, _)| delimiter == byte && !is_quoted);
        counted.for_each(|(_, count)| *count += 1);
    }
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or_default();
    let mut likely = counts.iter().filter(|(_, count)| *count == most).map(|(delimiter, _)| *delimiter);
    let first = likely.next().unwrap_or(b',');
    Ok(likely.find(|&delimiter| makes_event(&line, delimiter)).unwrap_or(first))
}

fn makes_event(line: &[u8], delimiter: u8) -> bool {
    let mut record = ByteRecord::new();
    let read = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter)
        .from_reader(line)
        .read_byte_record(&mut record);
    matches!(read, Ok(true)) && fields::is_event(&record)
}

/// Numbers, from 1, of the lines that begin at these places, which ascend: bytes from the beginning of the file. From a
/// place, empty lines and the rest of a line's end are passed over, as the CSV reader does.
pub(super) fn numbers(source: impl Read, places: &[u64]) -> io::Result<Vec<u64>> {
    let (mut numbers, mut line, mut previous) = (Vec::new(), 1, b' ');
    for (place, byte) in BufReader::new(source).bytes().enumerate() {
        let byte = byte?;
        // A line ends with \n, or with an \r that no \n follows.
        line += u64::from(previous == b'\n' || (previous == b'\r' && byte != b'\n'));
        let is_due = places.get(numbers.len()).is_some_and(|due| place as u64 >= *due);
        if is_due && byte != b'\n' && byte != b'\r' {
            numbers.push(line);
        }
        if numbers.len() == places.len() {
            break;
        }
        previous = byte;
    }
    Ok(numbers)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
fn into_io(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
