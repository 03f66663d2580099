//! What PostgreSQL's errors mean to a caller, by SQLSTATE:
//! <https://www.postgresql.org/docs/current/errcodes-appendix.html>.

use std::error::Error as StdError;
use std::io;

use tokio_postgres::error::{DbError, ErrorPosition};

use super::auth::NotPermitted;
use super::message::Wrong;
use crate::error::{Attempt, remedy};
use crate::tls::Fault;
use crate::{Error, Mistake, Refusal};

/// What can be done where nothing can be written.
const ONLY_READS: &str = "this server only reads (a hot standby, a read replica, or default_transaction_read_only): connect to the \
                          primary server, at its own address or the writer's of the cluster";
/// What can be done where prepared statements are not kept.
const POOLED: &str = "a pooler stands between that gives each transaction another session of the server (PgBouncer with \
                      pool_mode = transaction): connect to the server itself, or have pool_mode = session, or PgBouncer 1.21 or \
                      later with max_prepared_statements = 200";

/// An error of a connection that was there.
pub(super) fn of(error: &tokio_postgres::Error, is_closed: bool, attempt: Attempt<'_>) -> Error {
    let text = |remedy: &str| attempt.text(words(error), remedy);
    if let Some(answer) = error.as_db_error() {
        return of_code(answer.code().code(), text);
    }
    if is_closed || error.is_closed() || io_error(error).is_some() {
        return Error::Lost(text(remedy::LOST));
    }
    Error::Statement(text(""))
}

/// What the server said of a statement.
pub(super) fn of_wrong(wrong: &Wrong, attempt: Attempt<'_>) -> Error {
    let words = told(&wrong.message, [wrong.detail.as_deref(), wrong.hint.as_deref()]);
    of_code(&wrong.code, |remedy| attempt.text(&words, remedy))
}

/// A connection that broke, with what the server said last.
pub(super) fn of_line(error: &io::Error, last: Option<&Wrong>, attempt: Attempt<'_>) -> Error {
    match last.map(|wrong| (of_wrong(wrong, attempt), wrong)) {
        Some((error @ Error::Lost(_), _)) => error,
        Some((_, wrong)) => Error::Lost(attempt.text(&wrong.message, remedy::LOST)),
        None => Error::Lost(attempt.text(error, remedy::LOST)),
    }
}

fn of_code(code: &str, text: impl Fn(&str) -> String) -> Error {
    match code {
        "57P01" | "57P02" | "57P03" | "57P05" => Error::Lost(text(remedy::LOST)),
        code if code.starts_with("08") => Error::Lost(text(remedy::LOST)),
        "58030" => Error::Lost(text(remedy::DISK)),
        "53100" => Error::Full(text(remedy::FULL)),
        // Serialization failure, deadlock, a lock that was not to be had, a database that somebody is connected to.
        "40001" | "40P01" | "55P03" | "55006" => Error::Conflict(text(remedy::CONFLICT)),
        "3D000" => Error::NoDatabase(text("")),
        "25006" => Error::Refused(text(ONLY_READS)),
        // The statement of this name was prepared in another session of the server, or by somebody else in this one.
        "26000" | "42P05" => Error::Refused(text(POOLED)),
        "42501" => Error::Statement(text("give the login the right to do this")),
        _ => Error::Statement(text("")),
    }
}

/// What can be done where a certificate is not trusted.
pub(super) const TRUST: &str = "name the authority that signed it with sslrootcert=FILE, or, where the network is trusted, give \
                                sslmode=require without it, which encrypts and checks nothing";

/// Why no connection was made.
#[derive(Debug)]
pub(super) enum Unconnected {
    /// There is nobody.
    Socket(io::Error),
    Driver(tokio_postgres::Error),
}

impl Unconnected {
    /// Whether encryption may be what it takes.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Self::Driver(error) if is_refusal(error))
    }

    /// Whether the server has encryption, and it failed.
    pub(super) fn is_of_tls(&self) -> bool {
        matches!(self, Self::Driver(error) if of_tls(error).is_some())
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::Socket(error) => error.to_string(),
            Self::Driver(error) => words(error),
        }
    }

    /// The error; `also` where a second try failed after it, with encryption or without.
    pub(super) fn told(&self, also: Option<&Self>, attempt: Attempt<'_>) -> Error {
        match self {
            Self::Socket(error) => Error::Unreachable(attempt.text(error, remedy::UNREACHABLE)),
            Self::Driver(error) => at_connect(error, also.map(Self::words), attempt),
        }
    }
}

/// An error while a connection was made; `also` what a second try said after it.
pub(super) fn at_connect(error: &tokio_postgres::Error, also: Option<String>, attempt: Attempt<'_>) -> Error {
    let mut said = words(error);
    if let Some(other) = also.filter(|other| *other != said) {
        said = format!("{said} (and a second time, otherwise encrypted: {other})");
    }
    let text = |remedy: &str| attempt.text(&said, remedy);
    if let Some(answer) = error.as_db_error() {
        return match answer.code().code() {
            "3D000" => {
                Error::NoDatabase(text("name one that is there at the end of the address, such as /postgres"))
            }
            "28P01" | "28000" => Error::Refused(text(of_refusal(answer.message()))),
            "42501" => Error::Refused(text("give the login the right to connect to this database")),
            "57P03" => Error::Unreachable(text("wait until the server is up")),
            "53300" => Error::Unreachable(text("end other connections, or raise max_connections")),
            "53100" => Error::Full(text(remedy::FULL)),
            _ => Error::Unreachable(text("")),
        };
    }
    if let Some(fault) = of_tls(error) {
        return Error::Refused(text(fault.remedy.as_deref().unwrap_or(TRUST)));
    }
    if let Some(ended) = io_error(error).and_then(not_permitted) {
        return Error::Refused(text(&ended.remedy));
    }
    if said.contains("does not support TLS") {
        return Error::Refused(text(
            "have the server encrypt (ssl = on, with ssl_cert_file and ssl_key_file), or give sslmode=disable where the \
             network is trusted",
        ));
    }
    if said.contains("channel binding") {
        return Error::Refused(text(
            "log in by scram-sha-256 over TLS (password_encryption and pg_hba.conf of the server), or give \
             channel_binding=prefer",
        ));
    }
    if said.contains("password missing") || said.contains("authentication") {
        return Error::Refused(text(
            "give a password with user:password@host, as PGPASSWORD, in ~/.pgpass (mode 600) or by password_file=FILE",
        ));
    }
    Error::Unreachable(text(remedy::UNREACHABLE))
}

/// What can be done about a login that was refused: <https://www.postgresql.org/docs/current/client-authentication-problems.html>.
fn of_refusal(message: &str) -> &'static str {
    let has_rule = !message.contains("no pg_hba.conf entry");
    if !has_rule && (message.ends_with("no encryption") || message.ends_with("SSL off")) {
        return "this server may want encryption: give sslmode=require, or a rule of pg_hba.conf without it";
    }
    if message.contains("client certificate") {
        return "name a certificate with its key that the server trusts, with sslcert=FILE and sslkey=FILE";
    }
    "check user and password of the address, PGPASSWORD, and the server's pg_hba.conf"
}

/// Whether the server answered that it does not let this login in so, but may otherwise encrypted.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|answer| answer.code().code().starts_with("28"))
}

/// What is wrong with the encryption, if that is it.
fn of_tls(error: &tokio_postgres::Error) -> Option<Fault> {
    Fault::within(io_error(error)?)
}

/// The words of the server, or of the system, without the driver's around them.
fn words(error: &tokio_postgres::Error) -> String {
    if let Some(answer) = error.as_db_error() {
        return server_words(answer);
    }
    if let Some(fault) = of_tls(error) {
        return fault.words;
    }
    if let Some(error) = io_error(error) {
        return error.to_string();
    }
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        source = cause.source();
    }
    words
}

fn server_words(answer: &DbError) -> String {
    told(answer.message(), [answer.detail(), answer.hint()])
}

/// Why the server does not take a statement that it parses, if that is the statement's own fault:
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
pub(super) fn refusal(wrong: &DbError, sql: &str) -> Option<Refusal> {
    let code = wrong.code().code();
    let mistake = match code {
        // Tables, columns, functions, types, schemas, prepared statements and cursors.
        "42P01" | "42703" | "42883" | "42704" | "3F000" | "26000" | "34000" => Mistake::Missing,
        // Also an operator or a function of which there are several.
        "42P18" | "42P08" | "42725" => Mistake::Type,
        // A right that is missing is told when it runs.
        "42501" => return None,
        code if code.starts_with("42") || code.starts_with("22") || code.starts_with("0A") => Mistake::Other,
        _ => return None,
    };
    let lines_before = match wrong.position() {
        // Letters from 1.
        Some(ErrorPosition::Original(position)) => {
            sql.chars().take((*position as usize).saturating_sub(1)).filter(|letter| *letter == '\n').count()
        }
        Some(ErrorPosition::Internal { .. }) | None => 0,
    };
    let words = told(wrong.message(), [wrong.detail(), wrong.hint()]);
    Some(Refusal { words, lines_before, mistake })
}

fn told(message: &str, more: [Option<&str>; 2]) -> String {
    more.into_iter().flatten().fold(message.to_owned(), |words, more| format!("{words} ({more})"))
}

/// Why we ended a log-in, if we did.
fn not_permitted(error: &io::Error) -> Option<&NotPermitted> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

fn io_error(error: &tokio_postgres::Error) -> Option<&io::Error> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            return Some(error);
        }
        source = cause.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Doing;

    #[test]
    fn what_a_disk_failed_or_a_server_that_ends_did_not_answer_may_be_done() {
        let meaning = |code: &str| {
            let wrong = Wrong {
                code: code.to_owned(),
                message: "as the server has it".to_owned(),
                ..Wrong::default()
            };
            of_wrong(&wrong, Attempt { doing: Doing::Run("COMMIT"), target: "postgres://localhost/x" })
        };
        // A log that could not be written, when the power of its disk was cut: the server ends.
        for lost in ["58030", "57P01", "57P03", "08006"] {
            assert!(matches!(meaning(lost), Error::Lost(_)), "{lost}");
        }
        assert!(meaning("58030").to_string().contains("whether this was done is not known"));
        assert!(matches!(meaning("53100"), Error::Full(_)));
        assert!(matches!(meaning("40001"), Error::Conflict(_)));
        assert!(matches!(meaning("58P01"), Error::Statement(_)), "a file that is not there");
    }
}
