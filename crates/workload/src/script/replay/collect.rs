//! Gathers the entries of a log: statements by session, what was left out by reason, each text once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::BufRead;

use database::Protocol;
use record::LeftOut;

use super::entry::{Entry, Found, Left};
use super::lines::Lines;
use super::log::{Log, Logged, Session};
use super::prepared::Prepared;
use super::shape::shape;
use super::unsendable::unsendable;
use super::{LogFormat, general, postgres, sqlserver, transaction};

/// Most bytes of texts and values that are kept.
const KEPT_MAX: usize = 1 << 30;

/// Gathers.
#[derive(Default)]
pub(super) struct Collected {
    entries: u64,
    sessions: Vec<Session>,
    /// The session that a name means now.
    names: HashMap<String, usize>,
    /// Statements that the session of a name has prepared in SQL.
    prepared: HashMap<String, Prepared>,
    texts: Vec<String>,
    text_numbers: HashMap<String, u32>,
    values: Vec<Vec<Option<String>>>,
    kept_bytes: usize,
    left: BTreeMap<Left, LeftOut>,
    databases: BTreeMap<String, u64>,
    /// Those whose statements are left out.
    other_databases: BTreeSet<String>,
    backwards: u64,
    first_backwards: Option<u64>,
    /// Session and statement in the order of the log, where its times are of whole seconds.
    in_order: Vec<(u32, u32)>,
}

/// Reads a log of a known format.
///
/// # Errors
/// When the file cannot be read, is too large to be kept, or has nothing to be sent: in words that follow the file's name.
pub(super) fn collected(
    from: &mut dyn BufRead,
    (format, is_of_seconds): (LogFormat, bool),
    only_database: Option<&str>,
) -> Result<Log, String> {
    let mut lines = Lines::of(from);
    let mut collected = Collected::default();
    let mut each =
        |line: u64, entry: Entry| collected.add((line, entry), (format, is_of_seconds), only_database);
    let read = match format {
        LogFormat::PostgresCsv => postgres::read(&mut lines, &mut each),
        LogFormat::MariadbGeneral => general::read(&mut lines, &mut each),
        LogFormat::SqlserverEvents => sqlserver::read(&mut lines, &mut each),
    };
    let count = lines.count();
    read.map_err(|error| format!("cannot be read behind line {count}: {error}"))?;
    if collected.kept_bytes > KEPT_MAX {
        return Err(format!(
            "its statements exceed {} GiB, the limit for statements kept in memory: give only a part of the log",
            KEPT_MAX >> 30
        ));
    }
    collected.log(format, is_of_seconds, count)
}

impl Collected {
    fn add(
        &mut self,
        (line, entry): (u64, Entry),
        (format, is_of_seconds): (LogFormat, bool),
        only_database: Option<&str>,
    ) {
        self.entries += 1;
        match entry {
            Entry::Left(left) => self.leave(left, line),
            Entry::Ended { session, why } => {
                self.names.remove(&session);
                self.prepared.remove(&session);
                self.leave(why, line);
            }
            Entry::AllEnded(why) => {
                self.names.clear();
                self.prepared.clear();
                self.leave(why, line);
            }
            Entry::Statement(found) => {
                let is_other = only_database.is_some_and(|only| found.database.as_deref() != Some(only));
                if let (true, Some(other)) = (is_other, &found.database) {
                    self.other_databases.insert(other.clone());
                }
                match if is_other { Some(Left::OtherDatabase) } else { self.unsendable(&found, format) } {
                    Some(left) => self.leave(left, line),
                    None => self.keep(found, line, (format, is_of_seconds)),
                }
            }
        }
    }

    /// Why a statement is not sent, by its words and by what its session did before.
    fn unsendable(&mut self, found: &Found, format: LogFormat) -> Option<Left> {
        unsendable(&found.sql, &found.values, format).or_else(|| {
            if !Prepared::is_about(&found.sql) {
                return None;
            }
            let prepared = self.prepared.entry(found.session.clone()).or_default();
            prepared.forgets_unknown(&found.sql, format).then_some(Left::Deallocates)
        })
    }

    fn leave(&mut self, left: Left, line: u64) {
        let out = self.left.entry(left).or_insert(LeftOut {
            why: left.words().to_owned(),
            count: 0,
            first_line: line,
            is_loss: left.is_loss(),
        });
        out.count += 1;
    }

    fn keep(&mut self, found: Found, line: u64, (format, is_of_seconds): (LogFormat, bool)) {
        let Found { at_us, session, database, sql, values, sent } = found;
        if let Some(database) = database {
            *self.databases.entry(database).or_default() += 1;
        }
        let sessions = &mut self.sessions;
        let number = *self.names.entry(session).or_insert_with(|| {
            sessions.push(Session::default());
            sessions.len() - 1
        });
        let of_session = &mut self.sessions[number];
        let begins = !of_session.is_open;
        of_session.is_open = transaction::is_open_after(&sql, format, of_session.is_open);
        let before_us = of_session.statements.last().map_or(i64::MIN, |before| before.at_us);
        if at_us < before_us {
            self.backwards += 1;
            self.first_backwards.get_or_insert(line);
        }
        self.kept_bytes += values.iter().flatten().map(String::len).sum::<usize>();
        let statement = Logged {
            at_us: at_us.max(before_us),
            text: self.text_numbers.get(&sql).copied().unwrap_or(u32::MAX),
            values: (!values.is_empty()).then_some(self.values.len() as u32),
            sent,
            begins,
        };
        if !values.is_empty() {
            self.values.push(values);
        }
        let statement = if statement.text == u32::MAX {
            Logged { text: self.new_text(sql), ..statement }
        } else {
            statement
        };
        let of_session = &mut self.sessions[number];
        of_session.statements.push(statement);
        if is_of_seconds {
            self.in_order.push((number as u32, of_session.statements.len() as u32 - 1));
        }
    }

    fn new_text(&mut self, sql: String) -> u32 {
        let number = self.texts.len() as u32;
        // Once for the text and once to find it by.
        self.kept_bytes += 2 * sql.len();
        if self.kept_bytes <= KEPT_MAX {
            self.texts.push(sql.clone());
            self.text_numbers.insert(sql, number);
        }
        number
    }

    /// All entries of one second are spread evenly over it, in their order: otherwise they would be due together.
    fn spread(&mut self) {
        let mut from = 0;
        while let Some(&(session, statement)) = self.in_order.get(from) {
            let second = |&(session, statement): &(u32, u32)| {
                self.sessions[session as usize].statements[statement as usize].at_us
            };
            let at_us = second(&(session, statement));
            let count = self.in_order[from..].iter().take_while(|other| second(other) == at_us).count();
            for (number, &(session, statement)) in self.in_order[from..from + count].iter().enumerate() {
                let statement = &mut self.sessions[session as usize].statements[statement as usize];
                statement.at_us += (1_000_000 * number / count) as i64;
            }
            from += count;
        }
    }

    fn log(mut self, format: LogFormat, is_of_seconds: bool, lines: u64) -> Result<Log, String> {
        if self.sessions.is_empty() {
            return Err(self.nothing(format, lines));
        }
        self.spread();
        let statements = || self.sessions.iter().flat_map(|session| &session.statements);
        let mut times_used = vec![0_u64; self.texts.len()];
        statements().for_each(|statement| times_used[statement.text as usize] += 1);
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut shapes: Vec<(String, u64)> = Vec::new();
        let shape_of = self.texts.iter().zip(&times_used).map(|(text, times)| {
            let shape = shape(text, format);
            let number = *numbers.entry(shape.clone()).or_insert_with(|| {
                shapes.push((shape, 0));
                shapes.len() as u32 - 1
            });
            shapes[number as usize].1 += times;
            number
        });
        let shape_of: Vec<u32> = shape_of.collect();
        let times = || statements().map(|statement| statement.at_us);
        Ok(Log {
            format,
            is_recognised: false,
            is_of_seconds,
            lines,
            entries: self.entries,
            statements: statements().count() as u64,
            first_us: times().min().unwrap_or(0),
            last_us: times().max().unwrap_or(0),
            texts: self.texts,
            shape_of,
            shapes,
            values: self.values,
            sessions: self.sessions,
            left: self.left.into_values().collect(),
            databases: self.databases,
            backwards: self.backwards,
            first_backwards: self.first_backwards,
        })
    }

    /// Why nothing of a log can be sent.
    fn nothing(&self, format: LogFormat, lines: u64) -> String {
        if self.entries == 0 {
            return "is empty: give a log with statements".to_owned();
        }
        let left: Vec<String> = self
            .left
            .values()
            .map(|out| format!("{} {} (the first in line {})", out.count, out.why, out.first_line))
            .collect();
        let others: Vec<&str> = self.other_databases.iter().map(String::as_str).collect();
        let of_others = format!("give a database that its statements are of: {}", others.join(", "));
        let remedy = match format {
            _ if !others.is_empty() => of_others.as_str(),
            LogFormat::PostgresCsv => {
                "the server has to log statements (log_statement = all, or log_min_duration_statement = 0) in English (lc_messages = C)"
            }
            LogFormat::MariadbGeneral => "the server has to log statements (general_log = 1)",
            LogFormat::SqlserverEvents => {
                "the events have to be rpc_completed and sql_batch_completed, with the action session_id"
            }
        };
        format!("has no statement to send in its {lines} lines: {}; {remedy}", left.join(", "))
    }
}

/// How a statement of a log is sent where a job asks for it.
pub(super) fn asked(sent: Protocol, asked: Option<Protocol>) -> Protocol {
    match (sent, asked) {
        (Protocol::Simple, _) | (_, None) => sent,
        (Protocol::Extended | Protocol::Prepared, Some(asked)) => asked,
    }
}
