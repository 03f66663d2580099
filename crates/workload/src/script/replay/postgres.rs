//! PostgreSQL's csvlog: <https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-LOGGING-CSVLOG>.
//!
//! Statements are told as messages: by `log_statement` before they are run, by `log_min_duration_statement` when they are over, with what they
//! took. One that was told by the first is not told again by the second.

use std::io;

use database::Protocol;

use super::entry::{Each, Entry, Found, Left};
use super::lines::{ENTRY_MAX, Lines, Unread};
use super::{sql, time};

/// Columns of the versions: 8.3 and 8.4, 9.0 to 12 with the application, 13 with the kind of process, 14 and later with the leader and the
/// query's number.
const COLUMNS: [usize; 4] = [22, 23, 24, 26];
const LOG_TIME: usize = 0;
const DATABASE: usize = 2;
const SESSION: usize = 5;
const SEVERITY: usize = 11;
const MESSAGE: usize = 13;
const DETAIL: usize = 14;

/// Whether a line begins an entry.
pub(super) fn is_begin(line: &str) -> bool {
    let Some((stamp, rest)) = line.split_once(',') else { return false };
    let is_zone = |zone: &str| !zone.is_empty() && !zone.contains(char::is_whitespace);
    stamp.as_bytes().get(10) == Some(&b' ')
        && time::parsed(stamp).is_some_and(|(_, zone)| is_zone(zone))
        && rest.matches(',').count() >= 2
}

/// Reads a log to its end.
pub(super) fn read(lines: &mut Lines<'_>, each: &mut Each<'_>) -> io::Result<()> {
    let mut record = Record::default();
    while let Some(line) = lines.next()? {
        let text = match line.text {
            Ok(text) => text,
            Err(why) => {
                // What is open cannot go on: its quotes are not known any more.
                record.left(why, line.number);
                String::new()
            }
        };
        if record.begin > 0 && !record.begins_well && is_begin(&text) {
            // The quotes of what did not begin as an entry say nothing of where it ends.
            each(record.begin, Entry::Left(Left::Malformed));
            record = Record::default();
        }
        if record.add(&text, line.number) && record.is_open() && line.is_whole {
            continue;
        }
        let cut = !line.is_whole && (record.is_open() || !is_whole(&fields(&record.text)));
        let entry = match (record.unread, cut) {
            (Some(left), _) => Entry::Left(left),
            (None, true) => Entry::Left(Left::CutShort),
            (None, false) => entry(&fields(&record.text)),
        };
        // An empty line is nothing.
        if record.unread.is_some() || !record.text.is_empty() {
            each(record.begin, entry);
        }
        record = Record::default();
    }
    if record.begin > 0 {
        each(record.begin, Entry::Left(Left::CutShort));
    }
    Ok(())
}

/// A record, until its quotes are closed.
#[derive(Default)]
struct Record {
    text: String,
    /// Line that it begins in; 0 where none was read.
    begin: u64,
    quotes: usize,
    /// Whether its first line is the begin of an entry.
    begins_well: bool,
    unread: Option<Left>,
}

impl Record {
    /// Adds a line. Tells whether it may go on.
    fn add(&mut self, line: &str, number: u64) -> bool {
        if self.begin == 0 {
            self.begin = number;
            self.begins_well = is_begin(line);
        } else {
            self.text.push('\n');
        }
        self.quotes += line.bytes().filter(|byte| *byte == b'"').count();
        self.text.push_str(line);
        if self.text.len() > ENTRY_MAX {
            self.unread = Some(Left::TooLong);
        }
        self.unread.is_none()
    }

    fn is_open(&self) -> bool {
        self.quotes % 2 == 1
    }

    fn left(&mut self, why: Unread, number: u64) {
        if self.begin == 0 {
            self.begin = number;
        }
        self.unread = Some(match why {
            Unread::TooLong => Left::TooLong,
            Unread::NoText => Left::NoText,
        });
    }
}

/// The values of a record of CSV.
pub(super) fn fields(record: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = record.chars().peekable();
    let (mut is_quoted, mut is_begin) = (false, true);
    while let Some(letter) = letters.next() {
        let field = fields.last_mut();
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.into_iter().for_each(|field| field.push('"'));
            }
            '"' if is_quoted => is_quoted = false,
            '"' if is_begin => is_quoted = true,
            ',' if !is_quoted => {
                fields.push(String::new());
                is_begin = true;
                continue;
            }
            letter => field.into_iter().for_each(|field| field.push(letter)),
        }
        is_begin = false;
    }
    fields
}

/// Whether a record has the columns of a version; later ones may have more.
fn is_whole(fields: &[String]) -> bool {
    COLUMNS.contains(&fields.len()) || COLUMNS.last().is_some_and(|most| fields.len() > *most)
}

fn entry(fields: &[String]) -> Entry {
    if !is_whole(fields) {
        return Entry::Left(Left::Malformed);
    }
    if fields[SEVERITY] != "LOG" {
        return Entry::Left(Left::Message);
    }
    let (took_us, message) = match without_duration(&fields[MESSAGE]) {
        Some((_, "")) => return Entry::Left(Left::DurationAlone),
        Some(found) => found,
        None => (0, fields[MESSAGE].as_str()),
    };
    let (sent, sql) = match told(message) {
        Ok(told) => told,
        Err(left) => return Entry::Left(left),
    };
    // When it was told it was over, or had yet to begin.
    let Some((told_us, _)) = time::parsed(&fields[LOG_TIME]) else { return Entry::Left(Left::NoTime) };
    if fields[SESSION].is_empty() {
        return Entry::Left(Left::NoSession);
    }
    let values = match sent {
        Protocol::Simple => Vec::new(),
        Protocol::Extended | Protocol::Prepared => match values(sql, &fields[DETAIL]) {
            Ok(values) => values,
            Err(left) => return Entry::Left(left),
        },
    };
    Entry::Statement(Found {
        at_us: told_us - took_us,
        session: fields[SESSION].clone(),
        database: Some(fields[DATABASE].clone()).filter(|name| !name.is_empty()),
        sql: sql.to_owned(),
        values,
        sent,
    })
}

/// `duration: 0.123 ms  statement: …` without its begin, and how long that is.
fn without_duration(message: &str) -> Option<(i64, &str)> {
    let (took, rest) = message.strip_prefix("duration: ")?.split_once(" ms")?;
    let took_ms: f64 = took.parse().ok()?;
    Some(((took_ms * 1e3).round() as i64, rest.trim_start()))
}

/// How a message says that a statement is sent, and which.
fn told(message: &str) -> Result<(Protocol, &str), Left> {
    if let Some(sql) = message.strip_prefix("statement: ") {
        return Ok((Protocol::Simple, sql));
    }
    if let Some(rest) = message.strip_prefix("execute ") {
        if rest.starts_with("fetch from ") {
            return Err(Left::FurtherRows);
        }
        let (name, sql) = rest.split_once(": ").ok_or(Left::Message)?;
        let is_kept = !name.starts_with("<unnamed>");
        return Ok((if is_kept { Protocol::Prepared } else { Protocol::Extended }, sql));
    }
    if message.starts_with("parse ") || message.starts_with("bind ") {
        return Err(Left::Parts);
    }
    if message.starts_with("fastpath function call: ") {
        return Err(Left::Unsupported);
    }
    let connection =
        ["connection received: ", "connection authorized: ", "connection authenticated: ", "disconnection: "];
    match connection.iter().any(|begin| message.starts_with(begin)) {
        true => Err(Left::Connection),
        false => Err(Left::Message),
    }
}

/// The values that a statement has places for, of `parameters: $1 = 'a', $2 = NULL`.
fn values(sql: &str, detail: &str) -> Result<Vec<Option<String>>, Left> {
    let places = sql::places(sql);
    let listed = ["parameters: ", "Parameters: "].iter().find_map(|begin| detail.strip_prefix(begin));
    let values = match listed {
        Some(listed) => listed_values(listed)?,
        None => Vec::new(),
    };
    if values.len() < places { Err(Left::NoValues) } else { Ok(values) }
}

fn listed_values(mut text: &str) -> Result<Vec<Option<String>>, Left> {
    let mut values = Vec::new();
    loop {
        let begin = format!("${} = ", values.len() + 1);
        text = text.strip_prefix(begin.as_str()).ok_or(Left::NoValues)?;
        if let Some(rest) = text.strip_prefix("NULL") {
            values.push(None);
            text = rest;
        } else {
            let (value, rest) =
                quoted(text.strip_prefix('\'').ok_or(Left::NoValues)?).ok_or(Left::NoValues)?;
            // So ends what was cut at log_parameter_max_length.
            if value.ends_with("...") {
                return Err(Left::CutValues);
            }
            values.push(Some(value));
            text = rest;
        }
        match text.strip_prefix(", ") {
            Some(rest) => text = rest,
            None => return Ok(values),
        }
    }
}

/// A text up to its quote, and what stands behind.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let (part, behind) = rest.split_once('\'')?;
        value.push_str(part);
        match behind.strip_prefix('\'') {
            Some(more) => {
                value.push('\'');
                rest = more;
            }
            None => return Some((value, behind)),
        }
    }
}
