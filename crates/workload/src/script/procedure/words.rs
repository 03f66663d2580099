//! The words of a statement as far as a procedure has to know them: where transactions begin and end, and which statements give rows.

use database::Dialect;

use crate::script::LogFormat;
use crate::script::replay::{Piece, Pieces};

/// What a statement says of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transaction {
    /// Nothing.
    No,
    /// It begins one, with nothing more to say.
    Begins,
    Commits,
    RollsBack,
    /// Anything else: savepoints, chains, isolation levels of one transaction.
    Other,
}

/// How a statement of PostgreSQL gives rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    Nothing,
    /// It begins with SELECT, at this byte.
    Select(usize),
    Rows,
}

/// The pieces of a statement, as its engine reads them.
fn pieces(sql: &str, dialect: Dialect) -> Pieces<'_> {
    let format = match dialect {
        Dialect::Postgres | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => LogFormat::PostgresCsv,
        Dialect::Mysql => LogFormat::MariadbGeneral,
        Dialect::SqlServer => LogFormat::SqlserverEvents,
    };
    Pieces::of(sql, format)
}

/// What a statement says of transactions, by its first words.
pub(super) fn transaction(sql: &str, dialect: Dialect) -> Transaction {
    let word = |(_, piece)| match piece {
        Piece::Word(word) => Some(word.to_ascii_lowercase()),
        Piece::Other(sign) => Some(sign.to_owned()),
        Piece::Literal | Piece::Place(_) => Some(String::new()),
        Piece::Space | Piece::Remark => None,
    };
    let words: Vec<String> = pieces(sql, dialect).filter_map(word).take(4).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["begin"] | ["begin" | "start", "work" | "transaction"] => Transaction::Begins,
        ["commit" | "end"] | ["commit" | "end", "work" | "transaction"] => Transaction::Commits,
        ["rollback" | "abort"] | ["rollback" | "abort", "work" | "transaction"] => Transaction::RollsBack,
        ["begin" | "start" | "commit" | "end" | "rollback" | "abort" | "savepoint" | "release", ..]
        | ["prepare", "transaction", ..]
        | ["set", "transaction", ..] => Transaction::Other,
        _ => Transaction::No,
    }
}

/// The word that says what a statement of PostgreSQL does, behind the queries of a WITH. None if it begins with a parenthesis.
fn verb(sql: &str) -> Option<(usize, String)> {
    let (mut at, mut depth, mut is_with) = (0, 0_usize, false);
    for (text, piece) in pieces(sql, Dialect::Postgres) {
        match piece {
            Piece::Word(word) if depth == 0 => {
                let word = word.to_ascii_lowercase();
                let is_verb = matches!(
                    word.as_str(),
                    "select" | "insert" | "update" | "delete" | "merge" | "values" | "table"
                );
                if !is_with && word == "with" {
                    is_with = true;
                } else if !is_with || is_verb {
                    return Some((at, word));
                }
            }
            Piece::Other("(") if depth == 0 && !is_with => return None,
            Piece::Other("(") => depth += 1,
            Piece::Other(")") => depth = depth.saturating_sub(1),
            Piece::Space
            | Piece::Remark
            | Piece::Literal
            | Piece::Place(_)
            | Piece::Word(_)
            | Piece::Other(_) => {}
        }
        at += text.len();
    }
    None
}

/// Whether a statement of PostgreSQL is one that its server plans, so that it can be asked for the types of its values.
pub(in crate::script) fn is_planned(sql: &str) -> bool {
    verb(sql).is_none_or(|(_, verb)| {
        matches!(verb.as_str(), "select" | "insert" | "update" | "delete" | "merge" | "values" | "table")
    })
}

/// How a statement of PostgreSQL gives rows.
pub(super) fn gives(sql: &str) -> Gives {
    let Some((at, verb)) = verb(sql) else { return Gives::Rows };
    let is_first = pieces(sql, Dialect::Postgres)
        .find(|(_, piece)| !matches!(piece, Piece::Space | Piece::Remark))
        .is_some_and(|(text, _)| text.eq_ignore_ascii_case(&verb));
    match verb.as_str() {
        "select" if is_first => Gives::Select(at),
        "select" | "values" | "table" | "show" | "explain" | "fetch" => Gives::Rows,
        _ if has_returning(sql) => Gives::Rows,
        _ => Gives::Nothing,
    }
}

fn has_returning(sql: &str) -> bool {
    let mut depth = 0_usize;
    pieces(sql, Dialect::Postgres).any(|(_, piece)| match piece {
        Piece::Word(word) => depth == 0 && word.eq_ignore_ascii_case("returning"),
        Piece::Other(sign) => {
            depth = match sign {
                "(" => depth + 1,
                ")" => depth.saturating_sub(1),
                _ => depth,
            };
            false
        }
        Piece::Space | Piece::Remark | Piece::Literal | Piece::Place(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_known_by_their_words() {
        for (sql, expected) in [
            ("BEGIN", Transaction::Begins),
            ("/* x */ start TRANSACTION", Transaction::Begins),
            ("BEGIN ISOLATION LEVEL SERIALIZABLE", Transaction::Other),
            ("COMMIT", Transaction::Commits),
            ("END", Transaction::Commits),
            ("COMMIT AND CHAIN", Transaction::Other),
            ("ROLLBACK", Transaction::RollsBack),
            ("ROLLBACK TO a", Transaction::Other),
            ("SAVEPOINT a", Transaction::Other),
            ("SELECT 'COMMIT'", Transaction::No),
            ("UPDATE begin SET a = 1", Transaction::No),
        ] {
            assert_eq!(transaction(sql, Dialect::Postgres), expected, "{sql}");
        }
    }

    #[test]
    fn statements_that_give_rows_are_known() {
        for (sql, expected) in [
            ("SELECT 1", Gives::Select(0)),
            ("/* a */ select 1", Gives::Select(8)),
            ("WITH a AS (SELECT 1) SELECT * FROM a", Gives::Rows),
            ("WITH a AS (DELETE FROM t RETURNING id) INSERT INTO u SELECT id FROM a", Gives::Nothing),
            ("UPDATE t SET a = (SELECT 1)", Gives::Nothing),
            ("UPDATE t SET a = 1 RETURNING a", Gives::Rows),
            ("UPDATE t SET a = 'RETURNING'", Gives::Nothing),
            ("(SELECT 1) UNION SELECT 2", Gives::Rows),
            ("VALUES (1)", Gives::Rows),
            ("SET work_mem = '1MB'", Gives::Nothing),
        ] {
            assert_eq!(gives(sql), expected, "{sql}");
        }
        assert!(
            is_planned("WITH a AS (SELECT 1) SELECT 1")
                && is_planned("(SELECT 1)")
                && !is_planned("SET a = 1")
        );
    }
}
