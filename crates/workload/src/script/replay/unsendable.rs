//! What of a log is not sent, by the words of its statements: a text of several is left out as a whole for one of them.

use super::LogFormat;
use super::entry::Left;
use super::sql::{Piece, Pieces};

/// Why a text is not sent, if so.
pub(super) fn unsendable(sql: &str, format: LogFormat) -> Option<Left> {
    let statements = statements(sql, format);
    if statements.is_empty() {
        return Some(Left::Unsupported);
    }
    statements.iter().find_map(|words| of_statement(words, format))
}

/// A word, or a sign, of a statement, in small letters; and how many parentheses are open there.
type Words = Vec<(String, usize)>;

/// The statements of a text that have a word. Those of T-SQL need nothing between them: there all words are one.
fn statements(sql: &str, format: LogFormat) -> Vec<Words> {
    let mut all = vec![Words::new()];
    let mut depth = 0_usize;
    for (_, piece) in Pieces::of(sql, format) {
        let word = match piece {
            Piece::Word(word) => word.to_ascii_lowercase(),
            Piece::Other(";") => {
                all.push(Words::new());
                depth = 0;
                continue;
            }
            Piece::Other(sign) => {
                depth = match sign {
                    "(" => depth + 1,
                    ")" => depth.saturating_sub(1),
                    _ => depth,
                };
                sign.to_owned()
            }
            Piece::Literal | Piece::Place(_) => String::new(),
            Piece::Space | Piece::Remark => continue,
        };
        if let Some(last) = all.last_mut() {
            last.push((word, depth));
        }
    }
    let has_word = |words: &Words| {
        words.iter().any(|(word, _)| {
            word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_' || letter == '@')
        })
    };
    all.retain(has_word);
    all
}

fn of_statement(words: &Words, format: LogFormat) -> Option<Left> {
    let word = |at: usize| words.get(at).map_or("", |(word, _)| word.as_str());
    match format {
        LogFormat::PostgresCsv => match (word(0), word(1)) {
            ("copy", _) => Some(Left::Copy),
            ("alter", "system") => Some(Left::ChangesServer),
            _ => None,
        },
        LogFormat::MariadbGeneral => match word(0) {
            "load" => Some(Left::Copy),
            // A number of the logged server's means somebody else at the target's.
            "kill" | "shutdown" => Some(Left::Unsupported),
            "use" => Some(Left::ChangesDatabase),
            "set" if sets_for_all(words) => Some(Left::ChangesServer),
            _ => None,
        },
        LogFormat::SqlserverEvents => {
            let pairs = || {
                words
                    .iter()
                    .zip(words.iter().skip(1))
                    .map(|((one, _), (two, _))| (one.as_str(), two.as_str()))
            };
            let has = |pair: (&str, &str)| pairs().any(|other| other == pair);
            // Elsewhere it names an index.
            let is_hint = |next: &str| matches!(next, "hint" | "plan");
            let is_use = |at: usize| word(at) == "use" && !is_hint(word(at + 1));
            match word(0) {
                _ if word(0) == "bulk" || has(("bulk", "insert")) => Some(Left::Copy),
                "kill" | "shutdown" => Some(Left::Unsupported),
                _ if (0..words.len()).any(is_use) => Some(Left::ChangesDatabase),
                "reconfigure" => Some(Left::ChangesServer),
                _ if words.iter().any(|(word, _)| word == "sp_configure") => Some(Left::ChangesServer),
                _ if has(("alter", "server")) => Some(Left::ChangesServer),
                _ => None,
            }
        }
    }
}

/// Whether a SET of MySQL has a target that all sessions have: `GLOBAL a`, `@@GLOBAL.a`, `PERSIST a`, also behind others.
fn sets_for_all(words: &Words) -> bool {
    let is_target = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        before.is_some_and(|(word, depth)| *depth == 0 && (at == 1 || word == ","))
    };
    let is_of_all = |word: &str| {
        let name = word.strip_prefix("@@").unwrap_or(word);
        matches!(name, "global" | "persist" | "persist_only")
    };
    // `SET global = 1` would be a variable of a procedure, which no log has.
    words.iter().enumerate().any(|(at, (word, _))| is_of_all(word) && is_target(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_sent_is_known_in_each_statement_of_a_text() {
        let (pg, mysql, events) =
            (LogFormat::PostgresCsv, LogFormat::MariadbGeneral, LogFormat::SqlserverEvents);
        for (sql, format, expected) in [
            ("BEGIN; COPY t FROM STDIN; COMMIT", pg, Some(Left::Copy)),
            ("/* a */ copy (SELECT 1) TO STDOUT", pg, Some(Left::Copy)),
            ("SELECT 'COPY; COPY'", pg, None),
            ("SELECT copy FROM t", pg, None),
            ("SELECT 1; ALTER SYSTEM SET work_mem = '1GB'", pg, Some(Left::ChangesServer)),
            ("-- nothing", pg, Some(Left::Unsupported)),
            ("SET GLOBAL max_connections = 5", mysql, Some(Left::ChangesServer)),
            ("SET @@GLOBAL.max_connections = 5", mysql, Some(Left::ChangesServer)),
            ("SET SESSION a = 1, @@persist.b = 2", mysql, Some(Left::ChangesServer)),
            ("SELECT 1; SET PERSIST a = 1", mysql, Some(Left::ChangesServer)),
            ("/*!40101 SET GLOBAL a = 1 */", mysql, Some(Left::ChangesServer)),
            ("SET @a = @@global.b", mysql, None),
            ("SET @a = if(1, @@global.b, @@global.c)", mysql, None),
            ("SELECT @@GLOBAL.a", mysql, None),
            ("/*!40101 SET NAMES utf8 */", mysql, None),
            ("/*M!100100 INSERT INTO t VALUES (1) */;", mysql, None),
            ("/*!40000 USE shop */", mysql, Some(Left::ChangesDatabase)),
            ("/* SELECT 1 */", mysql, Some(Left::Unsupported)),
            ("SELECT 1; KILL 5", mysql, Some(Left::Unsupported)),
            ("LOAD DATA INFILE 'x' INTO TABLE t", mysql, Some(Left::Copy)),
            ("SELECT a FROM t USE INDEX (i)", mysql, None),
            ("SELECT 1 USE shop SELECT 2", events, Some(Left::ChangesDatabase)),
            ("SELECT 1 OPTION (USE HINT ('X'))", events, None),
            ("SELECT 1 BULK INSERT t FROM 'x'", events, Some(Left::Copy)),
            ("EXEC sp_configure 'a', 1", events, Some(Left::ChangesServer)),
            ("RECONFIGURE", events, Some(Left::ChangesServer)),
        ] {
            assert_eq!(unsendable(sql, format), expected, "{sql}");
        }
    }
}
