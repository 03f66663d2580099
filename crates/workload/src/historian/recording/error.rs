//! Why a recording cannot be replayed.

use std::io;
use std::path::PathBuf;

use crate::historian::parameter;

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
    /// None of its lines has a value.
    #[error(
        "the recording {path} has no values in the {lines} lines starting at line {first}: check the value column, or name it with {columns}",
        path = path.display(), columns = parameter("columns")
    )]
    NoValues {
        /// The file.
        path: PathBuf,
        /// Lines without a value.
        lines: u64,
        /// The first of them, from 1.
        first: u64,
    },
    /// Its header has not the columns that were named.
    #[error(
        "the recording {path} does not have exactly one column `{name}`: its first line names {header}; give {columns} with some of \
        these names, or with numbers",
        path = path.display(), columns = parameter("columns")
    )]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
        /// The names that there are.
        header: String,
    },
    /// Its times are local, and nobody said where.
    #[error(
        "the recording {path} has local times, such as `{text}` in line {line}: give their time zone with {zone}, such as \
        Europe/Berlin, UTC or +02:00",
        path = path.display(), zone = parameter("time_zone")
    )]
    NoZone {
        /// The file.
        path: PathBuf,
        /// The first local time.
        text: String,
        /// Its line, from 1.
        line: u64,
    },
    /// Something of it has several readings, or one that the user has to confirm.
    #[error("line {line} of the recording {path} has `{text}`: {readings}", path = path.display())]
    Unclear {
        /// The file.
        path: PathBuf,
        /// The first line with it, from 1.
        line: u64,
        /// What stands there.
        text: String,
        /// What it can be, and how to say which.
        readings: String,
    },
    /// It is out of order, and too large to be sorted.
    #[error(
        "the recording {path} is not sorted by time ({late} of {events} events are out of order). prony sorts up to {most} in \
        memory: sort the lines by time, or split the file",
        path = path.display()
    )]
    TooLargeToSort {
        /// The file.
        path: PathBuf,
        /// Events that are earlier than one before them.
        late: u64,
        /// All events.
        events: u64,
        /// Events that are sorted at most.
        most: u64,
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
        "the recording {path} was changed during the replay, at or before event {event}: replay a copy of the file",
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
