//! The first reading of a recording, which learns its form, its tags and its times, and collects its mistakes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::ByteRecord;

use super::columns::Places;
use super::error::{Mistake, RecordingError};
use super::fields::{self, Event, Fault, FaultKind, Form, Line, Mark};
use super::hours::Earlier;
use super::quality;
use super::times::TimeForm;
use super::{Learned, Order, Reading, Recording, Skipped, lines};
use crate::given_file;

/// Mistakes that are described; the others are counted.
const MISTAKES_TOLD: usize = 5;

/// What is known while a file is read for the first time. Places of lines are bytes from the beginning of the file.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    path: &'a Path,
    reading: &'a Reading,
    delimiter: u8,
    form: Form,
    has_header: bool,
    is_begun: bool,
    /// A column that is named and not there, with the header.
    no_column: Option<(String, String)>,
    tags: Vec<String>,
    numbers: HashMap<String, u32>,
    events: u64,
    earlier: Earlier,
    first_ns: i64,
    last_ns: i64,
    order: Order,
    skipped_lines: u64,
    first_skipped: Option<u64>,
    first_comma: Option<u64>,
    twice: u64,
    marks: u64,
    first_mark: Option<u64>,
    /// The first quality that is a number whose meaning nobody gave, with its place.
    first_number: Option<(u64, u8)>,
    number_max: u8,
    mistakes: Vec<(u64, Fault)>,
    mistake_count: u64,
}

impl<'a> Pass<'a> {
    pub(super) fn new(path: &'a Path, reading: &'a Reading, delimiter: u8) -> Self {
        let comma = delimiter != b',';
        let form = Form::new(comma, reading);
        Self {
            path,
            reading,
            delimiter,
            form,
            has_header: false,
            is_begun: false,
            no_column: None,
            tags: Vec::new(),
            numbers: HashMap::new(),
            events: 0,
            earlier: Earlier::default(),
            first_ns: i64::MAX,
            last_ns: i64::MIN,
            order: Order::default(),
            skipped_lines: 0,
            first_skipped: None,
            first_comma: None,
            twice: 0,
            marks: 0,
            first_mark: None,
            first_number: None,
            number_max: 0,
            mistakes: Vec::new(),
            mistake_count: 0,
        }
    }

    /// Takes a line; false if all that follow can only be as wrong as it is.
    pub(super) fn add(&mut self, record: &ByteRecord) -> bool {
        if !std::mem::replace(&mut self.is_begun, true) {
            if let Some(fault) = fields::encoding_fault(record) {
                return self.add_fault(fault, place(record));
            }
            self.has_header = self.begin(record);
            if self.has_header {
                return self.no_column.is_none();
            }
        }
        match fields::parse(record, &self.form, &self.numbers, &self.earlier) {
            Ok(Line::Event(event)) => self.add_event(event, place(record)),
            Ok(Line::Mark) => {
                self.marks += 1;
                self.first_mark.get_or_insert(place(record));
            }
            Err(fault) => return self.add_fault(fault, place(record)),
        }
        true
    }

    /// False if all lines that follow can only be as wrong.
    fn add_fault(&mut self, fault: Fault, place: u64) -> bool {
        self.mistake_count += 1;
        let goes_on = fault.kind == FaultKind::Line;
        if self.mistakes.len() < MISTAKES_TOLD {
            self.mistakes.push((place, fault));
        }
        goes_on
    }

    /// Finds the columns in the first line, or in what the user says; true if that line is a header.
    fn begin(&mut self, record: &ByteRecord) -> bool {
        let Some(columns) = &self.reading.columns else {
            let by_names = Places::by_usual_names(record);
            self.form.places = by_names.unwrap_or(Places::IN_ORDER);
            return by_names.is_some() || fields::is_header(record, &self.form);
        };
        match columns.places(Some(record)) {
            Ok(places) => self.form.places = places,
            Err(name) => {
                let names: Vec<_> = record.iter().map(String::from_utf8_lossy).collect();
                self.no_column = Some((name, names.join(", ")));
                return true;
            }
        }
        columns.need_header() || fields::is_header(record, &self.form)
    }

    fn add_event(&mut self, line: Event<'_>, place: u64) {
        self.form.time = Some(line.form);
        if line.mark == Some(Mark::Comma) {
            self.first_comma.get_or_insert(place);
        }
        self.form.mark = self.form.mark.or(line.mark);
        if line.value.is_none() {
            self.skipped_lines += 1;
            self.first_skipped.get_or_insert(place);
            return;
        }
        self.twice += u64::from(line.is_twice);
        if line.quality.is_guessed {
            self.first_number.get_or_insert((place, line.quality.of_opc));
            self.number_max = self.number_max.max(line.quality.of_opc);
        }
        if !self.numbers.contains_key(line.tag) {
            // A file with more tags than numbers does not fit into memory.
            self.numbers.insert(line.tag.to_owned(), self.tags.len() as u32);
            self.tags.push(line.tag.to_owned());
        }
        let ns = line.ns;
        if ns < self.last_ns && self.events > 0 {
            self.order.late_events += 1;
            self.order.late_ns_max = self.order.late_ns_max.max(self.last_ns.abs_diff(ns));
        }
        if let Some(number) = self.numbers.get(line.tag) {
            self.earlier.add(*number, ns);
        }
        self.first_ns = self.first_ns.min(ns);
        self.last_ns = self.last_ns.max(ns);
        self.events += 1;
    }

    /// What was learned, or all that is wrong. A recording that is out of order is sorted up to so many events.
    pub(super) fn finish(mut self, sorted_max: u64) -> Result<Recording, RecordingError> {
        let path = self.path.to_owned();
        if let Some((name, header)) = self.no_column {
            return Err(RecordingError::NoColumn { path, name, header });
        }
        if self.mistake_count > 0 {
            return Err(self.mistakes());
        }
        let line =
            |place: u64| self.line_numbers(&[place]).map(|numbers| numbers.first().copied().unwrap_or(0));
        if let Some((place, number)) = self.first_number.filter(|_| self.number_max < quality::GOOD) {
            return Err(self.unclear_quality(line(place)?, number));
        }
        let marks = self.first_mark.map(line).transpose()?;
        let marks = marks.map(|first| Skipped { lines: self.marks, first });
        let skipped = self.first_skipped.map(line).transpose()?;
        let skipped = skipped.map(|first| Skipped { lines: self.skipped_lines, first });
        let comma_line = self.first_comma.map(line).transpose()?;
        if self.events == 0 {
            return Err(match skipped {
                Some(Skipped { lines, first }) => RecordingError::NoValues { path, lines, first },
                None => RecordingError::Empty { path, has_header: self.has_header },
            });
        }
        let Order { late_events: late, .. } = self.order;
        if late > 0 && self.events > sorted_max {
            return Err(RecordingError::TooLargeToSort { path, late, events: self.events, most: sorted_max });
        }
        let zone = self.form.zone.clone();
        let is_local = self.form.time.is_some_and(TimeForm::is_local);
        Ok(Recording {
            path,
            delimiter: self.delimiter,
            has_header: self.has_header,
            tags: std::mem::take(&mut self.tags),
            numbers: Arc::new(std::mem::take(&mut self.numbers)),
            events: self.events,
            first_ns: self.first_ns,
            last_ns: self.last_ns,
            sorted: None,
            learned: Learned {
                order: self.order,
                skipped,
                marks,
                comma_line,
                twice: zone.clone().filter(|_| self.twice > 0).map(|zone| (self.twice, zone)),
                unused_zone: zone.filter(|_| !is_local),
            },
            form: self.form,
        })
    }

    fn unclear_quality(&self, line: u64, number: u8) -> RecordingError {
        let (path, text) = (self.path.to_owned(), number.to_string());
        RecordingError::Unclear { path, line, text, readings: quality::readings(number) }
    }

    /// Numbers of the lines at these places. These are looked up afterwards: the CSV reader counts the lines of some files wrongly
    /// (empty ones, and line ends of two bytes).
    fn line_numbers(&self, places: &[u64]) -> Result<Vec<u64>, RecordingError> {
        let numbers = given_file::open(self.path).and_then(|file| lines::numbers(file, places));
        numbers.map_err(|source| RecordingError::Read { path: self.path.to_owned(), source })
    }

    fn mistakes(self) -> RecordingError {
        let places: Vec<u64> = self.mistakes.iter().map(|(place, _)| *place).collect();
        let numbers = match self.line_numbers(&places) {
            Ok(numbers) => numbers,
            Err(error) => return error,
        };
        let path: PathBuf = self.path.to_owned();
        let told = numbers.into_iter().zip(self.mistakes);
        let mut first = Vec::new();
        for (line, (_, Fault { text, remedy, kind })) in told {
            match kind {
                FaultKind::Line => first.push(Mistake { line, text, remedy }),
                FaultKind::NoZone => return RecordingError::NoZone { path, text, line },
                FaultKind::Unclear => return RecordingError::Unclear { path, line, text, readings: remedy },
            }
        }
        RecordingError::Mistakes { path, first, count: self.mistake_count }
    }
}

fn place(record: &ByteRecord) -> u64 {
    record.position().map_or(0, csv::Position::byte)
}
