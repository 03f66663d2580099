//! The statements that a logged session prepares in SQL, by their names. Those that it prepares by the protocol have other names in a
//! replay.

use std::collections::BTreeSet;

use super::LogFormat;
use super::unsendable::statements;

/// Names of prepared statements.
#[derive(Debug, Default)]
pub(super) struct Prepared(BTreeSet<String>);

impl Prepared {
    /// Whether a text may be about prepared statements: a quick look.
    pub(super) fn is_about(sql: &str) -> bool {
        let has = |word: &str| {
            sql.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
        };
        has("prepare") || has("deallocate") || has("discard")
    }

    /// Takes note of a text. Whether it would forget a statement that was not prepared in SQL.
    pub(super) fn forgets_unknown(&mut self, sql: &str, format: LogFormat) -> bool {
        // A DEALLOCATE of T-SQL is of a cursor.
        if format == LogFormat::SqlserverEvents {
            return false;
        }
        let mut is_unknown = false;
        for words in statements(sql, format) {
            let word = |at: usize| words.get(at).map_or("", |(word, _)| word.as_str());
            match (word(0), word(1)) {
                ("prepare", "transaction") => {}
                ("prepare", name) => _ = self.0.insert(plain(name)),
                ("discard", "all") | ("deallocate", "all") => self.0.clear(),
                ("deallocate" | "drop", "prepare") if word(2) == "all" => self.0.clear(),
                ("deallocate" | "drop", "prepare") => is_unknown |= !self.0.remove(&plain(word(2))),
                ("deallocate", name) => is_unknown |= !self.0.remove(&plain(name)),
                _ => {}
            }
        }
        is_unknown
    }
}

/// A name without its quotes.
fn plain(name: &str) -> String {
    let quote = name.chars().next().filter(|first| matches!(first, '"' | '`'));
    let Some(quote) = quote else { return name.to_owned() };
    name.trim_matches(quote).replace(&format!("{quote}{quote}"), &quote.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_prepared_in_sql_is_known_where_it_is_forgotten() {
        let mut prepared = Prepared::default();
        let mut unknown = |sql: &str| prepared.forgets_unknown(sql, LogFormat::PostgresCsv);
        assert!(unknown("DEALLOCATE lvl"));
        assert!(!unknown("PREPARE lvl (int) AS SELECT $1; PREPARE \"in\"\"let\" AS SELECT 1"));
        assert!(!unknown("DEALLOCATE PREPARE lvl") && unknown("DEALLOCATE lvl"), "once");
        assert!(!unknown("deallocate \"in\"\"let\";"));
        assert!(!unknown("PREPARE lvl AS SELECT 1; DEALLOCATE ALL") && unknown("DEALLOCATE LVL"));
        assert!(!unknown("PREPARE TRANSACTION 'x'") && unknown("DEALLOCATE transaction"));
        let mut prepared = Prepared::default();
        assert!(!prepared.forgets_unknown("PREPARE `a` FROM 'SELECT 1'", LogFormat::MariadbGeneral));
        assert!(!prepared.forgets_unknown("DROP PREPARE a", LogFormat::MariadbGeneral));
        assert!(prepared.forgets_unknown("DEALLOCATE PREPARE a", LogFormat::MariadbGeneral));
        assert!(!prepared.forgets_unknown("DEALLOCATE rows", LogFormat::SqlserverEvents), "a cursor");
    }
}
