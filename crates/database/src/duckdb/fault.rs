//! What an error of DuckDB means to a caller. It tells its errors by their words alone.

use ::duckdb::Error as Told;

use crate::Error;
use crate::error::{Attempt, remedy};

/// What an error of a statement means.
pub(super) fn fault(error: &Told, attempt: Attempt<'_>) -> Error {
    let said = error.to_string();
    let text = |remedy| attempt.text(&said, remedy);
    if is_conflict(&said) {
        return Error::Conflict(text(remedy::CONFLICT));
    }
    if let Some(full) = full(&said, attempt) {
        return full;
    }
    // After one of these it does nothing any more until it is closed.
    if said.starts_with("FATAL Error") || said.contains("database has been invalidated") {
        return Error::Lost(text(remedy::LOST));
    }
    Error::Statement(text(""))
}

/// What an error means that came when a file was opened.
pub(super) fn not_opened(error: &Told, attempt: Attempt<'_>) -> Error {
    let said = error.to_string();
    let text = |remedy| attempt.text(&said, remedy);
    if said.contains("Could not set lock on file") {
        return Error::Refused(text(
            "another process has this file open, but only one process can: end that process, or use another file",
        ));
    }
    if said.contains("Permission denied") || said.contains("Read-only file system") {
        return Error::Refused(text("give this user write permission for the file and its directory"));
    }
    if let Some(full) = full(&said, attempt) {
        return full;
    }
    Error::NoDatabase(text("give a file that this DuckDB can read"))
}

/// Two that change the same row, or put in the same key, at once: one of them is undone.
fn is_conflict(said: &str) -> bool {
    let is_of_transaction = said.starts_with("TransactionContext Error");
    (is_of_transaction && said.to_ascii_lowercase().contains("conflict"))
        || said.contains("write-write conflict")
}

fn full(said: &str, attempt: Attempt<'_>) -> Option<Error> {
    if said.contains("No space left on device") {
        return Some(Error::Full(attempt.text(said, remedy::FULL)));
    }
    said.contains("File too large").then(|| Error::Full(attempt.text(said, remedy::FILE_LIMIT)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Doing;

    #[test]
    fn what_can_be_tried_again_is_told_from_what_cannot() {
        let attempt = Attempt { doing: Doing::Run("x"), target: "duckdb:a" };
        let kind = |said: &str| {
            fault(&Told::DuckDBFailure(::duckdb::ffi::Error::new(1), Some(said.to_owned())), attempt)
        };
        for said in [
            "TransactionContext Error: Conflict on update!",
            "TransactionContext Error: Conflict on tuple deletion!",
            "TransactionContext Error: Catalog write-write conflict on alter with \"t\"",
            "Constraint Error: write-write conflict on key: \"id: 7\"",
        ] {
            assert!(matches!(kind(said), Error::Conflict(_)), "{said}");
        }
        for said in [
            "Constraint Error: Duplicate key \"id: 7\" violates primary key constraint.",
            "Catalog Error: Table with name conflict does not exist!",
            "TransactionContext Error: Current transaction is aborted (please ROLLBACK)",
        ] {
            assert!(matches!(kind(said), Error::Statement(_)), "{said}");
        }
        assert!(matches!(
            kind("IO Error: Could not write file \"a\": No space left on device"),
            Error::Full(_)
        ));
        assert!(kind("FATAL Error: Failed to commit: x").is_lost());
    }
}
