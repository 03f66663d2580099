//! What ClickHouse says when it does not do something: `Code: 60, e.displayText() = DB::Exception: Table … doesn't exist., …`.
//!
//! Codes: <https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp>.

use crate::Error;
use crate::error::{Attempt, remedy};

const UNKNOWN_DATABASE: u32 = 81;
/// Unknown user, wrong password, password required; all of them in one since 20.
const LOGINS: [u32; 4] = [192, 193, 194, 516];
const DATABASE_ACCESS_DENIED: u32 = 291;
const READONLY: u32 = 164;
const ACCESS_DENIED: u32 = 497;
const NOT_ENOUGH_SPACE: u32 = 243;
/// Merges do not keep up: the same is taken later.
const TOO_MANY_PARTS: u32 = 252;
/// What the system says where a disk is full, in an error with a code of its own.
const NO_SPACE: &str = "No space left on device";

/// An error of ours.
pub(super) fn told(body: &[u8], attempt: Attempt<'_>) -> Error {
    let text = String::from_utf8_lossy(body);
    let (code, words) = read(&text);
    match code {
        _ if words.contains(NO_SPACE) => Error::Full(attempt.text(words, remedy::FULL)),
        Some(NOT_ENOUGH_SPACE) => Error::Full(attempt.text(words, remedy::FULL)),
        Some(UNKNOWN_DATABASE) => Error::NoDatabase(attempt.text(words, "check its name")),
        Some(code) if LOGINS.contains(&code) => {
            Error::Refused(attempt.text(words, "check user and password: clickhouse://user:password@host"))
        }
        Some(DATABASE_ACCESS_DENIED | READONLY | ACCESS_DENIED) => Error::Refused(
            attempt.text(words, "grant the user the permission for this, or log in as another user"),
        ),
        Some(TOO_MANY_PARTS) => Error::Conflict(attempt.text(words, remedy::CONFLICT)),
        Some(_) | None => Error::Statement(attempt.text(words, "")),
    }
}

/// The code of an error.
pub(super) fn code(body: &[u8]) -> Option<u32> {
    read(&String::from_utf8_lossy(body)).0
}

/// Code and words, without the names of C++ around them.
fn read(text: &str) -> (Option<u32>, String) {
    let code = text.strip_prefix("Code: ").and_then(|rest| {
        rest.split(|sign: char| !sign.is_ascii_digit()).next().and_then(|digits| digits.parse().ok())
    });
    let words = text.split_once("DB::Exception: ").map_or(text, |(_, words)| words);
    let words = words.split(", e.what() =").next().unwrap_or(words).trim().trim_end_matches('.');
    (code, if words.is_empty() { "it gave no reason".to_owned() } else { words.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Doing;

    fn of(text: &str) -> Error {
        told(text.as_bytes(), Attempt { doing: Doing::Run("SELECT 1"), target: "clickhouse://h" })
    }

    /// As 18.16 and 24 say them.
    #[test]
    fn errors_are_told_apart_by_their_codes() {
        let old = "Code: 60, e.displayText() = DB::Exception: Table t1.nothing doesn't exist., e.what() = DB::Exception\n";
        assert_eq!(
            of(old),
            Error::Statement(
                "cannot run `SELECT 1` in clickhouse://h: Table t1.nothing doesn't exist".to_owned()
            )
        );
        let new = "Code: 516. DB::Exception: prony: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)";
        assert!(matches!(of(new), Error::Refused(words) if words.contains("Authentication failed")));
        let none = "Code: 81, e.displayText() = DB::Exception: Database none doesn't exist, e.what() = DB::Exception";
        assert!(matches!(of(none), Error::NoDatabase(_)));
        let full = "Code: 74, e.displayText() = DB::ErrnoException: Cannot write, errno: 28, strerror: No space left on device";
        assert!(matches!(of(full), Error::Full(_)));
        assert!(matches!(of("Code: 252. DB::Exception: Too many parts (300)"), Error::Conflict(_)));
        assert!(matches!(of(""), Error::Statement(words) if words.ends_with("it gave no reason")));
        assert_eq!((code(new.as_bytes()), code(b"<html>")), (Some(516), None));
    }
}
