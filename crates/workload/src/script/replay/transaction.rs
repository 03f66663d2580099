//! Where transactions begin and end, by the words of statements.

use super::LogFormat;
use super::sql::{Piece, Pieces};

/// Whether a transaction is open behind a statement that found one open, or none.
pub(super) fn is_open_after(sql: &str, format: LogFormat, mut is_open: bool) -> bool {
    let mut words: Vec<String> = Vec::new();
    for (text, piece) in Pieces::of(sql, format) {
        match piece {
            Piece::Word(word) => words.push(word.to_ascii_lowercase()),
            Piece::Other(";") => {
                is_open = after(&words, format, is_open);
                words.clear();
            }
            Piece::Literal | Piece::Other(_) => words.push(text.to_owned()),
            Piece::Space | Piece::Remark | Piece::Place(_) => {}
        }
    }
    after(&words, format, is_open)
}

fn after(words: &[String], format: LogFormat, is_open: bool) -> bool {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let is_tsql = format == LogFormat::SqlserverEvents;
    match word(0) {
        // In T-SQL a block begins and ends so.
        "begin" if is_tsql => is_open || matches!(word(1), "tran" | "transaction" | "distributed"),
        "end" if is_tsql => is_open,
        "begin" => true,
        "start" => is_open || word(1) == "transaction",
        "rollback" | "abort" if words.iter().any(|word| word == "to") || word(1) == "prepared" => is_open,
        "commit" if word(1) == "prepared" => is_open,
        "commit" | "rollback" | "abort" | "end" => {
            let chain = words.iter().position(|word| word == "chain");
            chain.is_some_and(|at| word(at - 1) != "no")
        }
        "prepare" if word(1) == "transaction" => false,
        _ => is_open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_open_from_its_begin_to_its_end() {
        let pg = LogFormat::PostgresCsv;
        for (sql, before, after) in [
            ("BEGIN", false, true),
            ("/* x */ start transaction read only;", false, true),
            ("SELECT 1", false, false),
            ("SELECT 'commit'", true, true),
            ("COMMIT;", true, false),
            ("rollback to savepoint a", true, true),
            ("ROLLBACK", true, false),
            ("END", true, false),
            ("COMMIT AND CHAIN", true, true),
            ("COMMIT AND NO CHAIN", true, false),
            ("BEGIN; UPDATE t SET a = 1; COMMIT", false, false),
            ("PREPARE TRANSACTION 'x'", true, false),
            ("COMMIT PREPARED 'x'", false, false),
        ] {
            assert_eq!(is_open_after(sql, pg, before), after, "{sql}");
        }
        let events = LogFormat::SqlserverEvents;
        assert!(!is_open_after("BEGIN SELECT 1 END", events, false));
        assert!(is_open_after("BEGIN TRAN", events, false) && !is_open_after("COMMIT", events, true));
    }
}
