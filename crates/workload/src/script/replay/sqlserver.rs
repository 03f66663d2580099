//! Extended events of SQL Server, as `SELECT event_data FROM sys.fn_xe_file_target_read_file(…)` gives them: a text of XML for each event.
//! <https://learn.microsoft.com/sql/relational-databases/system-functions/sys-fn-xe-file-target-read-file-transact-sql>.
//!
//! What stands between the events (heads of columns, lines, counts of rows of the program that asked) is passed over.

use std::io;

use database::Protocol;

use super::entry::{Each, Entry, Found, Left};
use super::lines::{ENTRY_MAX, Lines, Unread};
use super::time;

const BEGIN: &str = "<event ";
const END: &str = "</event>";

/// Whether an event begins in a line.
pub(super) fn is_begin(line: &str) -> bool {
    line.find(BEGIN).is_some_and(|at| line[at..].contains("name=\"") && line[at..].contains("timestamp=\""))
}

/// Reads a log to its end.
pub(super) fn read(lines: &mut Lines<'_>, each: &mut Each<'_>) -> io::Result<()> {
    let mut open: Option<(u64, String)> = None;
    while let Some(line) = lines.next()? {
        let text = match line.text {
            Ok(text) => text,
            Err(why) => {
                let left = if why == Unread::TooLong { Left::TooLong } else { Left::NoText };
                each(open.take().map_or(line.number, |(number, _)| number), Entry::Left(left));
                continue;
            }
        };
        let mut rest = text.as_str();
        loop {
            let Some((number, event)) = &mut open else {
                let Some(at) = rest.find(BEGIN) else { break };
                open = Some((line.number, String::new()));
                rest = &rest[at..];
                continue;
            };
            let Some(end) = rest.find(END) else {
                event.push_str(rest);
                event.push('\n');
                break;
            };
            event.push_str(&rest[..end]);
            each(*number, entry(event));
            open = None;
            rest = &rest[end + END.len()..];
        }
        if let Some((number, _)) = open.take_if(|(_, event)| event.len() > ENTRY_MAX) {
            each(number, Entry::Left(Left::TooLong));
        }
    }
    if let Some((number, _)) = open {
        each(number, Entry::Left(Left::CutShort));
    }
    Ok(())
}

fn entry(event: &str) -> Entry {
    let (head, body) = event.split_once('>').unwrap_or((event, ""));
    let text = match attribute(head, "name") {
        Some("rpc_completed") => value(body, "statement"),
        Some("sql_batch_completed") => value(body, "batch_text"),
        // Each statement of a batch, which is told itself.
        Some("sql_statement_completed" | "sp_statement_completed") => return Entry::Left(Left::Parts),
        Some("login" | "logout") => {
            return match value(body, "session_id") {
                Some(session) => Entry::Ended { session, why: Left::Connection },
                None => Entry::Left(Left::Connection),
            };
        }
        Some(_) => return Entry::Left(Left::Message),
        None => return Entry::Left(Left::Malformed),
    };
    let Some(sql) = text else { return Entry::Left(Left::Malformed) };
    let Some(session) = value(body, "session_id") else { return Entry::Left(Left::NoSession) };
    let time = attribute(head, "timestamp").and_then(time::parsed);
    let Some((over_us, _)) = time else { return Entry::Left(Left::NoTime) };
    // It is told when it is over.
    let took_us: i64 = value(body, "duration").and_then(|us| us.trim().parse().ok()).unwrap_or(0);
    match of_procedure(&sql) {
        Some(Procedure::Reset) => return Entry::Ended { session, why: Left::Connection },
        Some(Procedure::Handle) => return Entry::Left(Left::Handle),
        None => {}
    }
    let database = value(body, "database_name").filter(|name| !name.is_empty());
    Entry::Statement(Found {
        at_us: over_us - took_us,
        session,
        database,
        sql,
        values: Vec::new(),
        sent: Protocol::Simple,
    })
}

/// A procedure that a driver calls, and nobody else can.
enum Procedure {
    /// A pool gives a connection to somebody else: what comes is another session.
    Reset,
    Handle,
}

fn of_procedure(sql: &str) -> Option<Procedure> {
    let mut words =
        sql.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty());
    let call = words.find(|word| word.eq_ignore_ascii_case("exec")).and_then(|_| words.next())?;
    let call = call.to_ascii_lowercase();
    match call.as_str() {
        "sp_reset_connection" => Some(Procedure::Reset),
        "sp_execute" | "sp_unprepare" => Some(Procedure::Handle),
        _ => call.starts_with("sp_cursor").then_some(Procedure::Handle),
    }
}

/// `name="…"` of the begin of an element.
fn attribute<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = head.split_once(&format!("{name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

/// The value of the data or the action of this name.
fn value(body: &str, name: &str) -> Option<String> {
    let (_, rest) = body.split_once(&format!(" name=\"{name}\""))?;
    let element = rest.split("<data ").next()?.split("<action ").next()?;
    let (_, value) = element.split_once("<value>")?;
    let (value, _) = value.split_once("</value>")?;
    Some(unescaped(value))
}

/// A text of XML as it is.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        plain.push_str(before);
        let named = behind.split_once(';').and_then(|(name, rest)| Some((letter(name)?, rest)));
        match named {
            Some((letter, behind)) => {
                plain.push(letter);
                rest = behind;
            }
            None => {
                plain.push('&');
                rest = behind;
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn letter(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    })
}
