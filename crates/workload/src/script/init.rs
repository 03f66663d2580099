//! The statements of a file that makes tables and rows, each with its line.
//!
//! They are sent one at a time where the server would have all of one text in one transaction, or would not say which of them failed: some
//! (VACUUM, CREATE DATABASE) are not to be had within one.

use database::Dialect;

use super::language::plain_statements;

/// What is sent at once, with its line in the file.
///
/// # Errors
/// What is not closed, with its line.
pub(super) fn parts(text: &str, dialect: Dialect) -> Result<Vec<(usize, String)>, (usize, String)> {
    match dialect {
        Dialect::Postgres | Dialect::Sqlite => plain_statements(text),
        // Their servers know the ends of statements, bodies of procedures included; T-SQL has batches, between lines `GO`.
        Dialect::Mysql | Dialect::SqlServer => Ok(vec![(1, text.to_owned())]),
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts_of(text: &str) -> Vec<(usize, String)> {
        parts(text, Dialect::Postgres).unwrap()
    }

    #[test]
    fn statements_end_at_semicolons_outside_of_quotes_comments_and_bodies() {
        let text = "-- first\nCREATE TABLE t (a text DEFAULT ';');\n\nINSERT INTO t VALUES ($$a;b$$), ($x$;$x$), (E'\\';');\n/* ; */ VACUUM t;\nSELECT 1";
        let lines: Vec<usize> = parts_of(text).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 4, 5, 6]);
        assert_eq!(parts_of(text)[1].1, "INSERT INTO t VALUES ($$a;b$$), ($x$;$x$), (E'\\';')");
        assert!(parts_of(" \n-- nothing\n;;\n").is_empty());
    }

    #[test]
    fn a_body_of_statements_is_part_of_its_statement() {
        let function = "CREATE OR REPLACE FUNCTION f(a int) RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT CASE WHEN a > 0 THEN 1 END; SELECT 2; END";
        let trigger = "CREATE TEMP TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET a = 1; DELETE FROM u; END";
        let text = format!("{function};\nBEGIN;\nSELECT 1;\nEND;\n{trigger};\nSELECT 3;");
        let told: Vec<String> = parts_of(&text).into_iter().map(|(_, sql)| sql).collect();
        assert_eq!(told, [function, "BEGIN", "SELECT 1", "END", trigger, "SELECT 3"]);
    }

    #[test]
    fn colons_and_backslashes_are_what_they_are() {
        let text = "SELECT '1'::int, :name, a[1:2];\nINSERT INTO t VALUES ('\\N');";
        assert_eq!(parts_of(text)[0].1, "SELECT '1'::int, :name, a[1:2]");
        assert_eq!(parts_of(text).len(), 2);
    }

    #[test]
    fn what_is_not_closed_is_told_with_its_line() {
        let (line, why) = parts("SELECT 1;\nSELECT 'a;\n", Dialect::Sqlite).unwrap_err();
        assert!(line == 2 && why.contains("not closed"), "{line}: {why}");
    }
}
