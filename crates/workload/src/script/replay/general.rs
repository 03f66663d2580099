//! The general log of MariaDB and MySQL: <https://mariadb.com/docs/server/server-management/server-monitoring-logs/general-query-log> and
//! <https://dev.mysql.com/doc/refman/8.4/en/query-log.html>.
//!
//! MariaDB (and MySQL before 5.7) writes a time only where the second is another one than that of the line before; MySQL writes it in each line.
//! A line that begins with neither goes on with the statement before it.

use std::collections::HashMap;
use std::io;

use database::Protocol;

use super::entry::{Each, Entry, Found, Left};
use super::lines::{ENTRY_MAX, Line, Lines, Unread};
use super::time;

/// Whether a line begins an entry, or a log.
pub(super) fn is_begin(line: &str) -> bool {
    is_server_line(line) || begin(line).is_some()
}

/// Reads a log to its end.
pub(super) fn read(lines: &mut Lines<'_>, each: &mut Each<'_>) -> io::Result<()> {
    let mut reading = Reading::default();
    let mut is_whole = true;
    while let Some(line) = lines.next()? {
        is_whole = line.is_whole;
        reading.line(line, each);
    }
    if let (Some((number, _)), false) = (&reading.open, is_whole) {
        each(*number, Entry::Left(Left::CutShort));
        return Ok(());
    }
    reading.close(each);
    Ok(())
}

/// What a log was read to so far.
#[derive(Default)]
struct Reading {
    /// The second of the last time.
    at_us: Option<i64>,
    /// Databases of the sessions.
    databases: HashMap<String, String>,
    /// The entry whose lines are read, and the line that it begins in.
    open: Option<(u64, Open)>,
    /// What the entry before has the server do with its log.
    before: Before,
}

/// What a server that writes the begin of a log was told before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    /// No entry was read.
    #[default]
    Nothing,
    /// To begin its log again, so that it and its sessions go on.
    OpensLog,
    Other,
}

/// An entry, as far as it was read.
struct Open {
    at_us: Option<i64>,
    session: String,
    command: String,
    argument: String,
    unread: Option<Left>,
}

/// How an entry begins.
struct Begin<'a> {
    /// None where it is that of the entry before.
    at_us: Option<i64>,
    session: &'a str,
    command: &'a str,
    argument: &'a str,
}

impl Reading {
    fn line(&mut self, line: Line, each: &mut Each<'_>) {
        let text = match line.text {
            Ok(text) => text,
            Err(why) => return self.unread(line.number, why, each),
        };
        if is_server_line(&text) {
            self.close(each);
            each(line.number, self.server_line(&text));
        } else if let Some(begin) = begin(&text) {
            self.close(each);
            self.at_us = begin.at_us.or(self.at_us);
            let Begin { session, command, argument, .. } = begin;
            let open = Open {
                at_us: self.at_us,
                session: session.to_owned(),
                command: command.to_owned(),
                argument: argument.to_owned(),
                unread: None,
            };
            self.open = Some((line.number, open));
        } else if let Some((_, open)) = &mut self.open {
            open.argument.push('\n');
            open.argument.push_str(&text);
            if open.argument.len() > ENTRY_MAX {
                open.argument.clear();
                open.unread = Some(Left::TooLong);
            }
        } else if !text.is_empty() {
            each(line.number, Entry::Left(Left::Malformed));
        }
    }

    /// The first of the lines with which a server begins its log says that it was started, unless it was told to open its log again.
    fn server_line(&mut self, text: &str) -> Entry {
        if !text.ends_with(STARTED) || self.before != Before::Other {
            return Entry::Left(Left::Message);
        }
        self.databases.clear();
        self.before = Before::Nothing;
        Entry::AllEnded(Left::Restart)
    }

    /// A line that is no text belongs to the statement before, or is an entry that nobody can read.
    fn unread(&mut self, number: u64, why: Unread, each: &mut Each<'_>) {
        let left = match why {
            Unread::TooLong => Left::TooLong,
            Unread::NoText => Left::NoText,
        };
        match &mut self.open {
            Some((_, open)) => open.unread = Some(left),
            None => each(number, Entry::Left(left)),
        }
    }

    /// Tells the entry that was read.
    fn close(&mut self, each: &mut Each<'_>) {
        let Some((number, open)) = self.open.take() else { return };
        self.before = if opens_log(&open.command, &open.argument) { Before::OpensLog } else { Before::Other };
        let entry = match open.unread {
            Some(left) => Entry::Left(left),
            None => self.entry(open),
        };
        each(number, entry);
    }

    /// Whether what a text runs stands in the entry behind it. One that changes the session's database is taken note of.
    fn is_told_again(&mut self, session: &str, text: &str) -> bool {
        let is_end = |sign: char| sign.is_whitespace() || sign == '`' || sign == ';';
        let mut words = text.split(is_end).filter(|word| !word.is_empty());
        match (words.next(), words.next()) {
            (Some(first), Some(database)) if first.eq_ignore_ascii_case("USE") => {
                self.databases.insert(session.to_owned(), database.to_owned());
                false
            }
            (Some(first), _) => first.eq_ignore_ascii_case("EXECUTE"),
            (None, _) => false,
        }
    }

    fn entry(&mut self, open: Open) -> Entry {
        let Open { at_us, session, command, argument, .. } = open;
        if command == "Query" && self.is_told_again(&session, &argument) {
            return Entry::Left(Left::Parts);
        }
        let left = match command.as_str() {
            "Query" | "Execute" => {
                let Some(at_us) = at_us else { return Entry::Left(Left::NoTime) };
                let database = self.databases.get(&session).cloned();
                // Values of what was prepared stand in its text.
                let found = Found {
                    at_us,
                    session,
                    database,
                    sql: argument,
                    values: Vec::new(),
                    sent: Protocol::Simple,
                };
                return Entry::Statement(found);
            }
            "Connect" | "Change user" => {
                self.connected(&session, &argument);
                return Entry::Ended { session, why: Left::Connection };
            }
            "Quit" => {
                self.databases.remove(&session);
                return Entry::Ended { session, why: Left::Connection };
            }
            "Init DB" => {
                self.databases.insert(session, argument.trim().to_owned());
                Left::ChangesDatabase
            }
            "Prepare" | "Close stmt" | "Reset stmt" => Left::Parts,
            "Fetch" => Left::FurtherRows,
            "Ping" | "Statistics" | "Field List" | "Processlist" | "Set option" | "Sleep" | "Time"
            | "Debug" | "Error" | "Daemon" | "Reset connection" => Left::Connection,
            "Long Data" | "Bulk_execute" | "Delayed insert" | "Connect Out" | "Binlog Dump"
            | "Binlog Dump GTID" | "Table Dump" | "Register Slave" | "Register Replica" | "Slave_worker"
            | "Slave_IO" | "Slave_SQL" | "Create DB" | "Drop DB" | "Refresh" | "Shutdown" | "Kill" => {
                Left::Unsupported
            }
            _ => Left::UnknownCommand,
        };
        Entry::Left(left)
    }

    /// `root@localhost on shop using Socket`: MariaDB and MySQL write it so.
    fn connected(&mut self, session: &str, argument: &str) {
        let database = argument.split_once(" on ").and_then(|(_, rest)| rest.split_whitespace().next());
        match database.filter(|name| *name != "using" && !argument.contains("Access denied")) {
            Some(name) => _ = self.databases.insert(session.to_owned(), name.to_owned()),
            None => _ = self.databases.remove(session),
        }
    }
}

/// Whether a server that is told so opens its log again: <https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/flush-commands/flush>.
fn opens_log(command: &str, argument: &str) -> bool {
    let words =
        || argument.split(|sign: char| !sign.is_alphanumeric() && sign != '_').map(str::to_ascii_lowercase);
    match command {
        "Refresh" => true,
        "Query" | "Execute" => match words().find(|word| !word.is_empty()).as_deref() {
            Some("flush") => words().any(|word| word == "logs"),
            Some("set") => {
                words().any(|word| matches!(word.as_str(), "general_log" | "general_log_file" | "log_output"))
            }
            Some(_) | None => false,
        },
        _ => false,
    }
}

/// End of the first line of a log, and of a server's part of it.
const STARTED: &str = "started with:";

/// The three lines with which a server begins its log, each time that it is started.
fn is_server_line(line: &str) -> bool {
    line.ends_with(STARTED) && line.contains(", Version: ")
        || line.starts_with("Tcp port: ") && line.contains("Unix socket: ")
        || line.starts_with("Time") && line.contains("Id Command") && line.ends_with("Argument")
}

/// `TIME\t  ID COMMAND\tARGUMENT`.
fn begin(line: &str) -> Option<Begin<'_>> {
    let (stamp, rest) = line.split_once('\t')?;
    let at_us = match stamp {
        "" => None,
        stamp => Some(time::short(stamp).or_else(|| of_mysql(stamp))?),
    };
    // Where the time is left out there are two tabs.
    let rest = if at_us.is_none() { rest.strip_prefix('\t')? } else { rest };
    let rest = rest.trim_start_matches(' ');
    let (session, rest) = rest.split_once(' ')?;
    let (command, argument) = rest.split_once('\t').unwrap_or((rest, ""));
    let is_number = !session.is_empty() && session.bytes().all(|digit| digit.is_ascii_digit());
    let is_command = command.starts_with(|letter: char| letter.is_ascii_uppercase())
        && command.len() <= 24
        && command.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'_'));
    (is_number && is_command).then_some(Begin { at_us, session, command, argument })
}

fn of_mysql(stamp: &str) -> Option<i64> {
    let (at_us, zone) = time::parsed(stamp)?;
    (stamp.as_bytes()[10] == b'T' && (zone == "Z" || zone.starts_with(['+', '-']))).then_some(at_us)
}

/// Whether times are of whole seconds.
pub(super) fn is_of_seconds(line: &str) -> bool {
    line.split_once('\t').is_some_and(|(stamp, _)| time::short(stamp).is_some())
}
