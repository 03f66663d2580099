//! A user's recording: a CSV file with a line for each event, `time, tag, value[, quality]`.
//!
//! Opening reads the file once, learns its tags and reports all mistakes; [`Recording::events`] gives its events in the order of
//! their times: read again, with memory for one line, where the file has that order, and else sorted in memory. The form is
//! found out: a delimiter (`,`, `;`, a tab, or that of a line `sep=`), a header or none, usual names of columns, decimal commas where
//! commas are no delimiters, a byte order mark, line ends of any system. A file with mistakes is refused: replayed without the lines
//! that could not be read, it would not be what was recorded. What has two readings is refused with both, unless the user says which.
//! Lines without a value are skipped, and counted.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::ByteRecord;
use serde::{Deserialize, Serialize};

pub use self::columns::{Columns, ColumnsError};
pub use self::error::{Mistake, RecordingError};
pub use self::events::Events;
use self::events::InFile;
use self::fields::Form;
use self::first_pass::Pass;
use self::lines::Lines;
pub use self::quality::Qualities;
pub use self::time_format::{TimeFormat, TimeFormatError};
pub use self::zone::{Zone, ZoneError};
use crate::given_file;

mod columns;
mod error;
mod events;
mod fields;
mod first_pass;
mod hours;
mod lines;
mod quality;
mod readings;
mod time_format;
mod times;
mod zone;

/// Most events that are sorted in memory, each of 24 bytes and, while it is sorted, of 12 more: up to 720 MB.
const SORTED_EVENTS_MAX: u64 = 20_000_000;

/// What a user says of a recording that it does not say itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// Its columns, where they are not the usual ones.
    pub columns: Option<Columns>,
    /// Zone of its local times.
    pub time_zone: Option<Zone>,
    /// How its times are written, where they do not tell it themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_format: Option<TimeFormat>,
    /// What its qualities mean, where they are not those of OPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Qualities>,
    /// What to do with its lines that are marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<Marks>,
}

/// What to do with lines such as `$RT_OFF$`, by which WinCC marks where it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Marks {
    /// Skip these lines.
    Skip,
    /// Keep them as records of a tag of this name.
    Keep,
}

/// A recording that was read once and can be replayed.
#[derive(Clone, Debug)]
pub struct Recording {
    path: PathBuf,
    form: Form,
    delimiter: u8,
    has_header: bool,
    tags: Vec<String>,
    numbers: Arc<HashMap<String, u32>>,
    events: u64,
    first_ns: i64,
    last_ns: i64,
    /// Its events, where the file has another order.
    sorted: Option<Arc<Vec<Recorded>>>,
    learned: Learned,
}

/// What a reader of figures should know of a recording.
#[derive(Clone, Debug, Default)]
struct Learned {
    order: Order,
    skipped: Option<Skipped>,
    marks: Option<Skipped>,
    /// Line of the first value with a decimal comma.
    comma_line: Option<u64>,
    /// Times that clocks of this zone showed twice.
    twice: Option<(u64, Zone)>,
    /// A zone that was given and not needed.
    unused_zone: Option<Zone>,
}

/// How far a file is out of the order of its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Events that are earlier than one before them in the file.
    pub late_events: u64,
    /// The most by which one of them is earlier.
    pub late_ns_max: u64,
}

/// Lines that were skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Skipped {
    lines: u64,
    /// Number of the first, from 1.
    first: u64,
}

/// One event of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// Number of the tag: its place in [`Recording::tags`].
    pub tag: u32,
    /// Time since the earliest event of the file.
    pub offset_ns: u64,
    /// The value; 1 and 0 for true and false.
    pub value: f64,
    /// Quality by the numbers of OPC: 192 is good, 64 uncertain, 0 bad.
    pub quality: u8,
}

impl Recording {
    /// Reads the file once, from its first line to its last, and a second time if its events have to be sorted.
    ///
    /// Times are RFC 3339 (`2026-03-01T07:00:00.5+01:00`), local ones (`2026-03-01 07:00:00.5`) of a zone that is given, or
    /// seconds, milliseconds, microseconds or nanoseconds since 1970. Which of these is decided by the first event for the whole file,
    /// numbers by their size: 10¹¹ and more are milliseconds, 10¹⁴ and more microseconds, 10¹⁷ and more nanoseconds; all of them mean
    /// the years from 1973 on. A first time that another program could mean otherwise is refused with each reading. Of a local time
    /// that clocks showed twice, the earlier events of its tag decide; one that they never showed is a mistake.
    ///
    /// # Errors
    /// The file cannot be read, has no event, has mistakes, or is out of order and has more than 20,000,000 events.
    pub fn open(path: &Path, reading: &Reading) -> Result<Self, RecordingError> {
        Self::open_with(path, reading, SORTED_EVENTS_MAX)
    }

    fn open_with(path: &Path, reading: &Reading, sorted_max: u64) -> Result<Self, RecordingError> {
        let fault = |source| RecordingError::Read { path: path.to_owned(), source };
        let mut lines = Lines::open(given_file::open(path).map_err(fault)?).map_err(fault)?;
        let mut record = ByteRecord::new();
        let mut pass = Pass::new(path, reading, lines.delimiter());
        while lines.read(&mut record).map_err(fault)? && pass.add(&record) {}
        let recording = pass.finish(sorted_max)?;
        if recording.order() == Order::default() {
            return Ok(recording);
        }
        let mut events = Vec::with_capacity(recording.events as usize);
        for event in InFile::of(&recording)? {
            events.push(event?);
        }
        // Events of one time stay in the order of the file.
        events.sort_by_key(|event| event.offset_ns);
        Ok(Self { sorted: Some(Arc::new(events)), ..recording })
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

    /// Time from the earliest event to the latest: the largest `offset_ns`.
    pub fn duration_ns(&self) -> u64 {
        self.last_ns.abs_diff(self.first_ns)
    }

    /// How far the file is out of order.
    pub fn order(&self) -> Order {
        self.learned.order
    }

    /// What a reader of figures should know of it.
    pub fn notes(&self) -> Vec<String> {
        let Learned { order, skipped, marks, comma_line, twice, unused_zone } = &self.learned;
        let mut notes = Vec::new();
        if order.late_events > 0 {
            notes.push(format!(
                "sorted the recording by time: {} of its {} events came after a later one, by {} at most",
                order.late_events,
                self.events,
                load::Span { ns: order.late_ns_max }
            ));
        }
        if let Some(Skipped { lines, first }) = skipped {
            let without = if *lines == 1 { "1 line has".to_owned() } else { format!("{lines} lines have") };
            notes.push(format!(
                "{without} no value and were skipped; the first is line {first} of the recording"
            ));
        }
        if let Some(Skipped { lines, first }) = marks {
            let are = if *lines == 1 { "line is a mark".to_owned() } else { "lines are marks".to_owned() };
            notes.push(format!(
                "{lines} {are} of WinCC and were skipped; the first is line {first} of the recording"
            ));
        }
        if let Some(line) = comma_line {
            notes.push(format!(
                "commas in values of the recording are read as decimal commas; the first is in line {line}"
            ));
        }
        if let Some((times, zone)) = twice {
            notes.push(format!(
                "{times} times of the recording occurred twice in {zone}, when clocks went back. Where the times of a tag go back, \
                the events after this point are counted in the repeated hour"
            ));
        }
        if let Some(zone) = unused_zone {
            notes.push(format!("the times of the recording include their zone: {zone} was not needed"));
        }
        notes
    }

    /// Its events, the earliest first.
    ///
    /// # Errors
    /// The file cannot be opened any more.
    pub fn events(&self) -> Result<Events, RecordingError> {
        Ok(match &self.sorted {
            Some(events) => Events::Sorted { events: Arc::clone(events), next: 0 },
            None => Events::InFile(Box::new(InFile::of(self)?)),
        })
    }
}

#[cfg(test)]
mod tests;
