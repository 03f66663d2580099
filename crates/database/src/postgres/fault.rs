//! What PostgreSQL's errors mean to a caller, by SQLSTATE:
//! <https://www.postgresql.org/docs/current/errcodes-appendix.html>.

use std::error::Error as StdError;
use std::io;

use tokio_postgres::error::DbError;

use crate::Error;
use crate::error::{Attempt, remedy};

/// An error of a connection that was there.
pub(super) fn of(error: &tokio_postgres::Error, is_closed: bool, attempt: Attempt<'_>) -> Error {
    let text = |remedy| attempt.text(words(error), remedy);
    if let Some(answer) = error.as_db_error() {
        return match answer.code().code() {
            "57P01" | "57P02" | "57P03" | "57P05" => Error::Lost(text(remedy::LOST)),
            code if code.starts_with("08") => Error::Lost(text(remedy::LOST)),
            "53100" => Error::Full(text(remedy::FULL)),
            // Serialization failure, deadlock, a lock that was not to be had, a database that somebody is connected to.
            "40001" | "40P01" | "55P03" | "55006" => Error::Conflict(text(remedy::CONFLICT)),
            "3D000" => Error::NoDatabase(text("")),
            "42501" => Error::Statement(text("give the login the right to do this")),
            _ => Error::Statement(text("")),
        };
    }
    if is_closed || error.is_closed() || io_error(error).is_some() {
        return Error::Lost(text(remedy::LOST));
    }
    Error::Statement(text(""))
}

/// An error while a connection was made.
pub(super) fn at_connect(error: &tokio_postgres::Error, attempt: Attempt<'_>) -> Error {
    let text = |remedy| attempt.text(words(error), remedy);
    if let Some(answer) = error.as_db_error() {
        return match answer.code().code() {
            "3D000" => {
                Error::NoDatabase(text("name one that is there at the end of the address, such as /postgres"))
            }
            "28P01" | "28000" => Error::Refused(text(
                "check user and password of the address, PGPASSWORD, and the server's pg_hba.conf",
            )),
            "42501" => Error::Refused(text("give the login the right to connect to this database")),
            "57P03" => Error::Unreachable(text("wait until the server is up")),
            "53300" => Error::Unreachable(text("end other connections, or raise max_connections")),
            "53100" => Error::Full(text(remedy::FULL)),
            _ => Error::Unreachable(text("")),
        };
    }
    let words = words(error);
    if words.contains("password missing") || words.contains("authentication") {
        return Error::Refused(text("give a password with user:password@host, or as PGPASSWORD"));
    }
    Error::Unreachable(text(remedy::UNREACHABLE))
}

/// The words of the server, or of the system, without the driver's around them.
fn words(error: &tokio_postgres::Error) -> String {
    if let Some(answer) = error.as_db_error() {
        return server_words(answer);
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
    let more = [answer.detail(), answer.hint()].into_iter().flatten();
    more.fold(answer.message().to_owned(), |words, more| format!("{words} ({more})"))
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
