//! The events of a recording in the order of their times: read line by line where the file has that order, and else from memory.

use std::fs::File;
use std::sync::Arc;

use csv::ByteRecord;

use super::error::RecordingError;
use super::fields::{self, Line};
use super::hours::Earlier;
use super::lines::Lines;
use super::{Recorded, Recording};
use crate::given_file;

/// Reads the events of a recording one after the other, the earliest first.
#[derive(Debug)]
pub enum Events {
    /// The file has them in order.
    #[doc(hidden)]
    InFile(Box<InFile>),
    /// They were sorted.
    #[doc(hidden)]
    Sorted {
        /// All of them.
        events: Arc<Vec<Recorded>>,
        /// The next one.
        next: usize,
    },
}

/// Reads the events of a file in its order.
#[derive(Debug)]
pub struct InFile {
    lines: Lines<File>,
    record: ByteRecord,
    recording: Recording,
    earlier: Earlier,
    left: u64,
    is_over: bool,
}

impl Iterator for Events {
    type Item = Result<Recorded, RecordingError>;

    /// After an error nothing follows.
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::InFile(events) => events.next(),
            Self::Sorted { events, next } => {
                let event = events.get(*next).copied();
                *next += 1;
                event.map(Ok)
            }
        }
    }
}

impl InFile {
    /// Begins with the first line after the header.
    pub(super) fn of(recording: &Recording) -> Result<Self, RecordingError> {
        let fault = |source| RecordingError::Read { path: recording.path.clone(), source };
        let lines = given_file::open(&recording.path)
            .and_then(|file| Lines::with_delimiter(file, recording.delimiter));
        let mut events = Self {
            lines: lines.map_err(fault)?,
            record: ByteRecord::new(),
            earlier: Earlier::default(),
            left: recording.events,
            is_over: false,
            recording: recording.clone(),
        };
        if recording.has_header {
            events.lines.read(&mut events.record).map_err(fault)?;
        }
        Ok(events)
    }

    /// The next line with a value, if there is one.
    fn read(&mut self) -> Result<Option<Recorded>, RecordingError> {
        loop {
            let read = self.lines.read(&mut self.record);
            let is_there =
                read.map_err(|source| RecordingError::Read { path: self.recording.path.clone(), source })?;
            if !is_there {
                return Ok(None);
            }
            match self.event().ok_or_else(|| self.changed())? {
                None => {}
                Some((event, ns)) => {
                    self.earlier.add(event.tag, ns);
                    return Ok(Some(event));
                }
            }
        }
    }

    /// The event of the line that was read and its time, or that it has no value; `None` if it is not one that was there before.
    fn event(&self) -> Option<Option<(Recorded, i64)>> {
        let recording = &self.recording;
        let line = fields::parse(&self.record, &recording.form, &recording.numbers, &self.earlier).ok()?;
        let Line::Event(line) = line else { return Some(None) };
        let Some(value) = line.value else { return Some(None) };
        let tag = *recording.numbers.get(line.tag)?;
        let ns = line.ns;
        let in_range = (recording.first_ns..=recording.last_ns).contains(&ns);
        let offset_ns = ns.abs_diff(recording.first_ns);
        in_range.then_some(Some((Recorded { tag, offset_ns, value, quality: line.quality.of_opc }, ns)))
    }

    fn changed(&self) -> RecordingError {
        RecordingError::Changed {
            path: self.recording.path.clone(),
            event: self.recording.events - self.left + 1,
        }
    }
}

impl Iterator for InFile {
    type Item = Result<Recorded, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let event = match self.read() {
            Ok(Some(event)) if self.left > 0 => Ok(event),
            Ok(None) if self.left == 0 => {
                self.is_over = true;
                return None;
            }
            Ok(_) => Err(self.changed()),
            Err(error) => Err(error),
        };
        self.is_over = event.is_err();
        self.left = self.left.saturating_sub(1);
        Some(event)
    }
}
