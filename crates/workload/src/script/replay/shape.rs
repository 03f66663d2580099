//! The shape of a statement: the same for all that differ in their literals, in spaces and in remarks, so that they are counted together.

use super::LogFormat;
use super::sql::{Piece, Pieces};

/// Longest shape that is told, in letters; what is longer and begins alike is one shape.
const LETTERS_MAX: usize = 200;

/// The statement with `?` for each literal and each value. Lists of them are one: `IN (?, …)`.
pub(super) fn shape(sql: &str, format: LogFormat) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut is_apart = false;
    for (_, piece) in Pieces::of(sql, format) {
        let part = match piece {
            Piece::Space | Piece::Remark => {
                is_apart = true;
                continue;
            }
            Piece::Literal | Piece::Place(_) => "?",
            Piece::Word(word) => word,
            Piece::Other(text) => text,
        };
        if std::mem::take(&mut is_apart) && !parts.is_empty() {
            parts.push(" ");
        }
        parts.push(part);
    }
    let shape = with_short_lists(&parts);
    let shape = shape.trim_end_matches([';', ' ']);
    match shape.char_indices().nth(LETTERS_MAX) {
        None => shape.to_owned(),
        Some((end, _)) => format!("{}…", shape[..end].trim_end()),
    }
}

/// `(?, ?, ?)` as `(?, …)`, and `(?, …), (?, …)` as `(?, …), …`.
fn with_short_lists(parts: &[&str]) -> String {
    let mut shape = String::new();
    let mut at = 0;
    while at < parts.len() {
        let Some(end) = list_end(&parts[at..]) else {
            shape.push_str(parts[at]);
            at += 1;
            continue;
        };
        let list = &parts[at..at + end];
        shape.push_str(if list.contains(&",") { "(?, …)" } else { "(?)" });
        at += end;
        let mut lists = 1;
        while let Some(next) = next_list(&parts[at..]) {
            at += next;
            lists += 1;
        }
        if lists > 1 {
            shape.push_str(", …");
        }
    }
    shape
}

/// Where a list of nothing but literals ends that begins here.
fn list_end(parts: &[&str]) -> Option<usize> {
    if *parts.first()? != "(" {
        return None;
    }
    let end = parts.iter().position(|part| !matches!(*part, "(" | "?" | "," | " " | "-"))?;
    let is_list = parts[end] == ")" && parts[1..end].contains(&"?") && !parts[1..end].contains(&"(");
    is_list.then_some(end + 1)
}

/// Where another list ends, behind a comma.
fn next_list(parts: &[&str]) -> Option<usize> {
    let begin = parts.iter().position(|part| *part == "(")?;
    let is_behind_comma =
        parts[..begin].contains(&",") && parts[..begin].iter().all(|part| matches!(*part, "," | " "));
    is_behind_comma.then(|| list_end(&parts[begin..]).map(|end| begin + end)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_differ_in_literals_have_one_shape() {
        let of = |sql: &str| shape(sql, LogFormat::PostgresCsv);
        for (sql, expected) in [
            (
                "SELECT a1 FROM t  WHERE id = 12\n AND b = 'x''y' -- why\n;",
                "SELECT a1 FROM t WHERE id = ? AND b = ?",
            ),
            ("select $1, -1.5e-3, E'\\'', $$x$$, \"a b\"", "select ?, -?, ?, ?, \"a b\""),
            ("SELECT * FROM t WHERE id IN (1,2, 3)", "SELECT * FROM t WHERE id IN (?, …)"),
            (
                "INSERT INTO t (a, b) VALUES (1, 'x'), (2, NULL)",
                "INSERT INTO t (a, b) VALUES (?, …), (?, NULL)",
            ),
            ("INSERT INTO t VALUES (1, 'x'), (-2, 'y')", "INSERT INTO t VALUES (?, …), …"),
            ("SELECT f(5)", "SELECT f(?)"),
        ] {
            assert_eq!(of(sql), expected);
        }
        assert_eq!(
            shape("SELECT `a`, \"x\" # no\nFROM t", LogFormat::MariadbGeneral),
            "SELECT `a`, ? FROM t"
        );
        assert_eq!(
            shape("SELECT [a 1], N'x', @p1 FROM t", LogFormat::SqlserverEvents),
            "SELECT [a 1], ?, @p1 FROM t"
        );
        assert_eq!(of(&"a".repeat(300)).chars().count(), 201);
    }
}
