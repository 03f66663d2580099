//! A log that was read: its sessions with their statements, and what of it is left out.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use database::Protocol;
use record::LeftOut;
use serde::{Deserialize, Serialize};

use super::collect::collected;
use super::{LogFormat, general};
use crate::given_file;

/// A log that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    pub(in crate::script) format: LogFormat,
    /// Whether the format was found by the content.
    pub(in crate::script) is_recognised: bool,
    /// Whether its times are of whole seconds.
    pub(in crate::script) is_of_seconds: bool,
    pub(in crate::script) lines: u64,
    pub(in crate::script) entries: u64,
    pub(in crate::script) statements: u64,
    /// Time of the first statement and of the last one, in microseconds.
    pub(in crate::script) first_us: i64,
    pub(in crate::script) last_us: i64,
    pub(in crate::script) texts: Vec<String>,
    /// Of each text: its shape.
    pub(in crate::script) shape_of: Vec<u32>,
    /// Shapes, and how many statements are of each.
    pub(in crate::script) shapes: Vec<(String, u64)>,
    pub(in crate::script) values: Vec<Vec<Option<String>>>,
    pub(in crate::script) sessions: Vec<Session>,
    pub(in crate::script) left: Vec<LeftOut>,
    /// Statements by database, where the log tells it.
    pub(in crate::script) databases: BTreeMap<String, u64>,
    /// Statements whose time is before that of the one before them in their session, and the line of the first.
    pub(in crate::script) backwards: u64,
    pub(in crate::script) first_backwards: Option<u64>,
}

/// A session that was logged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::script) struct Session {
    /// In the order of the log, with times that do not fall.
    pub(in crate::script) statements: Vec<Logged>,
    /// Whether a transaction is open behind the last one.
    pub(super) is_open: bool,
}

/// A statement of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::script) struct Logged {
    pub(in crate::script) at_us: i64,
    /// Number of its text.
    pub(in crate::script) text: u32,
    /// Number of its values, if it has any.
    pub(in crate::script) values: Option<u32>,
    pub(in crate::script) sent: Protocol,
    /// Whether it begins a transaction, be it of itself alone.
    pub(in crate::script) begins: bool,
}

/// Lines and bytes in which a format is looked for.
const LOOKED_AT_LINES: usize = 1_000;
const LOOKED_AT_BYTES: u64 = 1 << 20;

impl Log {
    /// Reads a log, of a format that is given or found by the content.
    ///
    /// # Errors
    /// When it cannot be read or nothing of it can be sent: words that follow the file's name.
    pub(super) fn read(
        path: &Path,
        given: Option<LogFormat>,
        only_database: Option<&str>,
    ) -> Result<Self, String> {
        let file = given_file::open(path).map_err(|error| format!("cannot be opened: {error}"))?;
        let mut begin = Vec::new();
        let looked = (&file).take(LOOKED_AT_BYTES).read_to_end(&mut begin);
        looked.map_err(|error| format!("cannot be read: {error}"))?;
        let mut all = BufReader::with_capacity(1 << 18, begin.as_slice().chain(&file));
        Self::of(&mut all, &begin, given, only_database)
    }

    /// The same of what begins so.
    pub(super) fn of(
        all: &mut dyn BufRead,
        begin: &[u8],
        given: Option<LogFormat>,
        only_database: Option<&str>,
    ) -> Result<Self, String> {
        if let Some(utf16) = given_file::Utf16::of(begin) {
            return Err(format!("is {utf16}; sqlcmd writes UTF-8 with `-f o:65001`"));
        }
        let text = String::from_utf8_lossy(begin);
        let lines = || text.lines().take(LOOKED_AT_LINES);
        let found = lines().find_map(LogFormat::of_line);
        let format = match (given, found) {
            (Some(format), _) | (None, Some(format)) => format,
            (None, None) => return Err(unknown(&text)),
        };
        let is_of_seconds = format == LogFormat::MariadbGeneral && lines().any(general::is_of_seconds);
        let mut log = collected(all, (format, is_of_seconds), only_database).map_err(|words| {
            let other = found.filter(|found| *found != format);
            let also = other.map(|other| format!("; by its content, its format is {other}"));
            format!("{words}{}", also.unwrap_or_default())
        })?;
        log.is_recognised = given.is_none();
        Ok(log)
    }

    /// When a statement is due, from the begin of the load.
    #[must_use]
    pub(in crate::script) fn due_ns(&self, at_us: i64, speed: f64) -> u64 {
        (at_us.saturating_sub(self.first_us) as f64 * 1e3 / speed) as u64
    }

    /// Most sessions that have a connection at once, each from `lead_ns` before its first statement to its last one.
    #[must_use]
    pub(in crate::script) fn sessions_at_once(&self, speed: f64, lead_ns: u64) -> u32 {
        let mut changes: Vec<(u64, i32)> = Vec::with_capacity(2 * self.sessions.len());
        for session in &self.sessions {
            let [Some(first), Some(last)] = [session.statements.first(), session.statements.last()] else {
                continue;
            };
            changes.push((self.due_ns(first.at_us, speed).saturating_sub(lead_ns), 1));
            changes.push((self.due_ns(last.at_us, speed) + 1, -1));
        }
        changes.sort_unstable();
        let open = changes.iter().scan(0, |open, (_, change)| {
            *open += change;
            Some(*open)
        });
        open.max().unwrap_or(0).unsigned_abs()
    }

    /// Whether any statement has values beside it.
    #[must_use]
    pub(in crate::script) fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// The shapes, the most frequent first.
    #[must_use]
    pub(in crate::script) fn shapes_by_count(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..self.shapes.len() as u32).collect();
        // Of two that are as frequent the one that came first.
        numbers.sort_by_key(|number| std::cmp::Reverse(self.shapes[*number as usize].1));
        numbers
    }

    /// How a statement is sent where a job asks for it.
    #[must_use]
    pub(in crate::script) fn sent(logged: &Logged, asked: Option<Protocol>) -> Protocol {
        super::collect::asked(logged.sent, asked)
    }
}

fn unknown(text: &str) -> String {
    let Some(line) = text.lines().find(|line| !line.trim().is_empty()) else {
        return "is empty: give a log with statements".to_owned();
    };
    let begin: String = line.chars().take(60).collect();
    format!(
        "is not a log of a known format; its first line is `{begin}`. Use a csvlog of PostgreSQL, a general log of MariaDB or MySQL, \
        or events of SQL Server as XML"
    )
}

/// Logs that were read, so that trials of one study share them.
#[derive(Debug, Default)]
pub struct Logs(Vec<(Asked, Arc<Log>)>);

/// File, format and database.
type Asked = (PathBuf, Option<LogFormat>, Option<String>);

impl Logs {
    /// The log in a file.
    ///
    /// # Errors
    /// As of [`Log::read`], with the file's name.
    pub(in crate::script) fn log(
        &mut self,
        path: &Path,
        format: Option<LogFormat>,
        only_database: Option<&str>,
    ) -> Result<Arc<Log>, String> {
        let asked = (path.to_owned(), format, only_database.map(str::to_owned));
        if let Some((_, log)) = self.0.iter().find(|(other, _)| *other == asked) {
            return Ok(Arc::clone(log));
        }
        let log = Log::read(path, format, only_database)
            .map_err(|words| format!("the log {} {words}", path.display()))?;
        let log = Arc::new(log);
        self.0.push((asked, Arc::clone(&log)));
        Ok(log)
    }
}
