//! A user's recording: a CSV file with a line for each event, `time, tag, value[, quality]`.
//!
//! Opening reads the file once, learns its tags and reports all mistakes; [`Recording::events`] reads it again, event by
//! event, with memory for one line. The form is found out and not asked for: a delimiter (`,` or `;`), a header or none,
//! a byte order mark, line ends of any system. A file with mistakes is refused: replayed without the lines that could
//! not be read, it would not be what was recorded.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::ByteRecord;

use self::fields::{Fault, TimeForm};
use self::lines::Lines;
use crate::given_file;

mod fields;
mod lines;

/// Mistakes that are described; the others are counted.
const MISTAKES_TOLD: usize = 5;

/// A recording that was read once and can be replayed.
#[derive(Clone, Debug)]
pub struct Recording {
    path: PathBuf,
    form: TimeForm,
    delimiter: u8,
    has_header: bool,
    tags: Vec<String>,
    numbers: Arc<HashMap<String, u32>>,
    events: u64,
    begin_ns: i64,
    first_ns: i64,
    last_ns: i64,
    late_events: u64,
}

/// One event of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// Number of the tag: its place in [`Recording::tags`].
    pub tag: u32,
    /// Time since the first event of the file; 0 for an event that is older than that one.
    pub offset_ns: u64,
    /// The value; 1 and 0 for true and false.
    pub value: f64,
    /// Quality by the numbers of OPC: 192 is good, 64 uncertain, 0 bad.
    pub quality: u8,
}

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// It cannot be opened or read.
    #[error("cannot read the recording {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no event in it.
    #[error(
        "the recording {path} has no events{header}: give a line `time,tag,value` for each",
        path = path.display(), header = if *has_header { ", only a header" } else { "" }
    )]
    Empty {
        /// The file.
        path: PathBuf,
        /// Whether it has at least a header.
        has_header: bool,
    },
    /// Lines of it cannot be understood.
    #[error("the recording {path} has {count} {lines}: {told}", path = path.display(),
        lines = if *count == 1 { "mistake" } else { "mistakes" }, told = told(first, *count))]
    Mistakes {
        /// The file.
        path: PathBuf,
        /// The first of the mistakes.
        first: Vec<Mistake>,
        /// All mistakes.
        count: u64,
    },
    /// It is not what it was when it was opened.
    #[error(
        "the recording {path} was changed while it was replayed, at event {event} or before: replay a copy of it",
        path = path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// Number of the event, from 1, at which that was noticed.
        event: u64,
    },
}

/// A line that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Number of the line, from 1.
    pub line: u64,
    /// What stands there, shortened.
    pub text: String,
    /// What should.
    pub remedy: String,
}

/// Reads the events of a recording one after the other, in the order of the file.
#[derive(Debug)]
pub struct Events {
    lines: Lines<File>,
    record: ByteRecord,
    recording: Recording,
    left: u64,
    is_over: bool,
}

impl Recording {
    /// Reads the file once, from its first line to its last.
    ///
    /// Times are RFC 3339 (`2026-03-01T07:00:00.5+01:00`) or seconds, milliseconds or microseconds since 1970. Which of
    /// these is decided by the first event for the whole file, numbers by their size: below 100,000,000,000 they are
    /// seconds, below 100,000,000,000,000 milliseconds, and above microseconds; all of them mean the years from 1973 on.
    ///
    /// # Errors
    /// The file cannot be read, has no event, or has mistakes.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let fault = |source| RecordingError::Read { path: path.to_owned(), source };
        let mut lines = Lines::open(given_file::open(path).map_err(fault)?).map_err(fault)?;
        let mut record = ByteRecord::new();
        let mut pass = Pass::default();
        while lines.read(&mut record).map_err(fault)? {
            pass.add(&record);
        }
        pass.finish(path, lines.delimiter())
    }

    /// The tags in the order in which they first appear.
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// Number of events, at least 1.
    pub fn event_count(&self) -> u64 {
        self.events
    }

    /// Earliest time, in microseconds since 1970.
    #[cfg(test)]
    fn first_us(&self) -> i64 {
        self.first_ns.div_euclid(1_000)
    }

    /// Latest time, in microseconds since 1970.
    #[cfg(test)]
    fn last_us(&self) -> i64 {
        self.last_ns.div_euclid(1_000)
    }

    /// Time from the first event of the file to its latest: the largest `offset_ns`.
    pub fn duration_ns(&self) -> u64 {
        self.last_ns.abs_diff(self.begin_ns)
    }

    /// Events that are older than one that stands before them in the file.
    pub fn late_events(&self) -> u64 {
        self.late_events
    }

    /// Reads the file again, event by event.
    ///
    /// # Errors
    /// The file cannot be opened any more.
    pub fn events(&self) -> Result<Events, RecordingError> {
        let fault = |source| RecordingError::Read { path: self.path.clone(), source };
        let lines = given_file::open(&self.path).and_then(|file| Lines::with_delimiter(file, self.delimiter));
        let mut events = Events {
            lines: lines.map_err(fault)?,
            record: ByteRecord::new(),
            recording: self.clone(),
            left: self.events,
            is_over: false,
        };
        if self.has_header {
            events.lines.read(&mut events.record).map_err(fault)?;
        }
        Ok(events)
    }
}

impl Iterator for Events {
    type Item = Result<Recorded, RecordingError>;

    /// After an error nothing follows.
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let read = self.lines.read(&mut self.record);
        let event = match read {
            Ok(true) if self.left > 0 => self.event().ok_or_else(|| self.changed()),
            Ok(false) if self.left == 0 => {
                self.is_over = true;
                return None;
            }
            Ok(_) => Err(self.changed()),
            Err(source) => Err(RecordingError::Read { path: self.recording.path.clone(), source }),
        };
        self.is_over = event.is_err();
        self.left = self.left.saturating_sub(1);
        Some(event)
    }
}

impl Events {
    /// The event of the line that was read; `None` if it is not one that was there before.
    fn event(&self) -> Option<Recorded> {
        let recording = &self.recording;
        let line = fields::parse(&self.record, Some(recording.form)).ok()?;
        let tag = *recording.numbers.get(line.tag)?;
        let in_range = (recording.first_ns..=recording.last_ns).contains(&line.time_ns);
        let offset_ns =
            if line.time_ns < recording.begin_ns { 0 } else { line.time_ns.abs_diff(recording.begin_ns) };
        in_range.then_some(Recorded { tag, offset_ns, value: line.value, quality: line.quality })
    }

    fn changed(&self) -> RecordingError {
        RecordingError::Changed {
            path: self.recording.path.clone(),
            event: self.recording.events - self.left + 1,
        }
    }
}

/// What is known while a file is read for the first time.
#[derive(Debug, Default)]
struct Pass {
    form: Option<TimeForm>,
    has_header: bool,
    is_begun: bool,
    tags: Vec<String>,
    numbers: HashMap<String, u32>,
    events: u64,
    begin_ns: i64,
    first_ns: i64,
    last_ns: i64,
    late_events: u64,
    /// With the place of the line: bytes from the beginning of the file.
    mistakes: Vec<(u64, Fault)>,
    mistake_count: u64,
}

impl Pass {
    fn add(&mut self, record: &ByteRecord) {
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        if is_first && fields::is_header(record) {
            self.has_header = true;
            return;
        }
        let form = self.form;
        match fields::parse(record, form) {
            Ok(line) => {
                self.form = Some(line.form);
                if !self.numbers.contains_key(line.tag) {
                    // A file with more tags than numbers does not fit into memory.
                    self.numbers.insert(line.tag.to_owned(), self.tags.len() as u32);
                    self.tags.push(line.tag.to_owned());
                }
                self.add_time(line.time_ns);
            }
            Err(fault) => self.add_mistake(record, fault),
        }
    }

    fn add_time(&mut self, time_ns: i64) {
        if self.events == 0 {
            (self.begin_ns, self.first_ns, self.last_ns) = (time_ns, time_ns, time_ns);
        }
        self.late_events += u64::from(time_ns < self.last_ns);
        self.first_ns = self.first_ns.min(time_ns);
        self.last_ns = self.last_ns.max(time_ns);
        self.events += 1;
    }

    fn add_mistake(&mut self, record: &ByteRecord, fault: Fault) {
        self.mistake_count += 1;
        if self.mistakes.len() < MISTAKES_TOLD {
            self.mistakes.push((record.position().map_or(0, csv::Position::byte), fault));
        }
    }

    fn finish(self, path: &Path, delimiter: u8) -> Result<Recording, RecordingError> {
        if self.mistake_count > 0 {
            return Err(self.mistakes(path));
        }
        let path = path.to_owned();
        let Some(form) = self.form else {
            return Err(RecordingError::Empty { path, has_header: self.has_header });
        };
        Ok(Recording {
            path,
            form,
            delimiter,
            has_header: self.has_header,
            tags: self.tags,
            numbers: Arc::new(self.numbers),
            events: self.events,
            begin_ns: self.begin_ns,
            first_ns: self.first_ns,
            last_ns: self.last_ns,
            late_events: self.late_events,
        })
    }
}

impl Pass {
    /// The mistakes with the numbers of their lines. These are looked up afterwards: the CSV reader counts the lines of
    /// some files wrongly (empty ones, and line ends of two bytes).
    fn mistakes(self, path: &Path) -> RecordingError {
        let places: Vec<u64> = self.mistakes.iter().map(|(place, _)| *place).collect();
        let numbers = given_file::open(path).and_then(|file| lines::numbers(file, &places));
        let path = path.to_owned();
        let numbers = match numbers {
            Ok(numbers) => numbers,
            Err(source) => return RecordingError::Read { path, source },
        };
        let mistakes = numbers.into_iter().zip(self.mistakes);
        let first = mistakes
            .map(|(line, (_, fault))| Mistake { line, text: fault.text, remedy: fault.remedy.to_owned() })
            .collect();
        RecordingError::Mistakes { path, first, count: self.mistake_count }
    }
}

fn told(first: &[Mistake], count: u64) -> String {
    let mut told: Vec<String> = first
        .iter()
        .map(|mistake| format!("line {}: `{}`: {}", mistake.line, mistake.text, mistake.remedy))
        .collect();
    let others = count - first.len() as u64;
    if others > 0 {
        told.push(format!("and {others} more"));
    }
    told.join("; ")
}

#[cfg(test)]
mod tests;
