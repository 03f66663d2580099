//! Places of SQL where a server takes no parameter, so that a variable there can only be a part of the text.
//!
//! Only what every server refuses, or takes for something else, is known here. What one server refuses, it says itself.

use database::Dialect;

use super::LogFormat;
use super::language::{Names, Statement};
use super::replay::{Piece, Pieces};

/// Words before a name.
const BEFORE_NAME: [&str; 9] =
    ["as", "database", "index", "into", "join", "schema", "table", "update", "view"];
/// Statements of PostgreSQL that take no parameter anywhere.
const WITHOUT_PARAMETERS: [&str; 24] = [
    "alter",
    "analyse",
    "analyze",
    "begin",
    "cluster",
    "comment",
    "commit",
    "copy",
    "drop",
    "grant",
    "listen",
    "lock",
    "notify",
    "prepare",
    "reindex",
    "release",
    "reset",
    "revoke",
    "rollback",
    "savepoint",
    "set",
    "start",
    "truncate",
    "vacuum",
];
/// What may follow an element of ORDER BY or GROUP BY that is a variable by itself.
const BEHIND_ELEMENT: [&str; 15] = [
    ")", ",", "asc", "desc", "fetch", "for", "having", "limit", "nulls", "offset", "order", "range", "rows",
    "union", "window",
];
/// Words that begin another clause than ORDER BY or GROUP BY.
const OTHER_CLAUSE: [&str; 9] =
    ["from", "having", "limit", "offset", "on", "select", "set", "values", "where"];

/// A word or a sign in small letters, and how many parentheses are open there.
#[derive(Debug)]
struct Token {
    text: String,
    depth: usize,
    /// The variable that it is, or is a part of.
    variable: Option<usize>,
}

/// What stands for a variable while a text is taken apart.
const MARK: &str = "prony_variable_";

/// The first variable of a statement that stands where the server takes no parameter, and what stands there instead.
pub(super) fn without_parameter(
    statement: &Statement,
    names: &Names,
    dialect: Dialect,
) -> Option<(usize, &'static str)> {
    let text = statement.joined(|variable| format!("{MARK}{variable}_"));
    let tokens = tokens(&text, dialect, names);
    (0..tokens.len()).find_map(|at| {
        let variable = tokens[at].variable?;
        Some((variable, kind_of_place(&tokens, at, dialect)?))
    })
}

/// The words of each statement of a text, in small letters.
pub(super) fn words(sql: &str, dialect: Dialect) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for (text, piece) in Pieces::of(sql, format(dialect)) {
        match piece {
            Piece::Other(";") => all.push(Vec::new()),
            Piece::Word(_) => all.iter_mut().next_back().into_iter().for_each(|words| {
                words.push(text.to_ascii_lowercase());
            }),
            Piece::Space | Piece::Remark | Piece::Literal | Piece::Place(_) | Piece::Other(_) => {}
        }
    }
    all.retain(|words| !words.is_empty());
    all
}

fn format(dialect: Dialect) -> LogFormat {
    match dialect {
        Dialect::Mysql => LogFormat::MariadbGeneral,
        Dialect::SqlServer => LogFormat::SqlserverEvents,
        Dialect::Postgres | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => LogFormat::PostgresCsv,
    }
}

fn tokens(text: &str, dialect: Dialect, names: &Names) -> Vec<Token> {
    let (mut depth, mut tokens) = (0_usize, Vec::new());
    for (text, piece) in Pieces::of(text, format(dialect)) {
        match piece {
            Piece::Space | Piece::Remark => continue,
            Piece::Other("(") => depth += 1,
            Piece::Other(")") => depth = depth.saturating_sub(1),
            Piece::Other(_) | Piece::Literal | Piece::Place(_) | Piece::Word(_) => {}
        }
        let variable = match piece {
            Piece::Word(word) => marked(word).filter(|variable| *variable < names.len()),
            Piece::Space | Piece::Remark | Piece::Literal | Piece::Place(_) | Piece::Other(_) => None,
        };
        tokens.push(Token { text: text.to_ascii_lowercase(), depth, variable });
    }
    tokens
}

/// The variable whose mark is in a word.
fn marked(word: &str) -> Option<usize> {
    let (_, rest) = word.split_once(MARK)?;
    rest.split_once('_')?.0.parse().ok()
}

fn kind_of_place(tokens: &[Token], at: usize, dialect: Dialect) -> Option<&'static str> {
    let before = |places: usize| at.checked_sub(places).map_or("", |at| tokens[at].text.as_str());
    let first = first_of_statement(tokens, at);
    if !tokens[at].text.starts_with(MARK) {
        return Some("a part of a name");
    }
    if BEFORE_NAME.contains(&before(1)) || before(1) == "from" && is_from_of_table(tokens, at) {
        return Some("a name");
    }
    if is_element(tokens, at) {
        return Some("a column to sort or group by");
    }
    let is_create = tokens[first].text == "create";
    if is_create && tokens[first..at].iter().any(|token| token.text == "view") {
        return Some("the text of a view");
    }
    if dialect == Dialect::Postgres
        && (WITHOUT_PARAMETERS.contains(&tokens[first].text.as_str())
            || is_create && !is_table_as(&tokens[first..at]))
    {
        return Some("a part of a statement without parameters");
    }
    None
}

/// Where the statement begins of which a token is.
fn first_of_statement(tokens: &[Token], at: usize) -> usize {
    tokens[..at].iter().rposition(|token| token.text == ";").map_or(0, |end| end + 1)
}

/// Whether a `FROM` names tables, and is not a part of a function such as `extract(epoch FROM …)` or of `IS DISTINCT FROM`.
fn is_from_of_table(tokens: &[Token], at: usize) -> bool {
    let from = at - 1;
    if from.checked_sub(1).is_some_and(|at| tokens[at].text == "distinct") {
        return false;
    }
    let depth = tokens[from].depth;
    let opening = tokens[..from].iter().rposition(|token| token.text == "(" && token.depth == depth);
    match opening.filter(|_| depth > 0) {
        None => true,
        Some(opening) => matches!(tokens[opening + 1].text.as_str(), "select" | "with" | "delete"),
    }
}

/// Whether a variable is by itself an element of ORDER BY or GROUP BY.
fn is_element(tokens: &[Token], at: usize) -> bool {
    let is_alone = tokens
        .get(at + 1)
        .is_none_or(|next| next.text == ";" || BEHIND_ELEMENT.contains(&next.text.as_str()));
    let depth = tokens[at].depth;
    let before = at.checked_sub(1).map_or("", |at| tokens[at].text.as_str());
    if !is_alone || !matches!(before, "by" | ",") {
        return false;
    }
    for by in (1..at).rev().take_while(|by| tokens[*by].depth >= depth) {
        let token = &tokens[by];
        if token.depth > depth {
            continue;
        }
        if token.text == "by" {
            return matches!(tokens[by - 1].text.as_str(), "order" | "group");
        }
        if OTHER_CLAUSE.contains(&token.text.as_str()) || token.text == "(" {
            return false;
        }
    }
    false
}

/// `CREATE TEMP TABLE t AS SELECT …`, which takes parameters.
fn is_table_as(tokens: &[Token]) -> bool {
    let kind = tokens
        .iter()
        .skip(1)
        .find(|token| !matches!(token.text.as_str(), "temp" | "temporary" | "unlogged" | "global" | "local"));
    kind.is_some_and(|kind| kind.text == "table")
        && tokens.iter().any(|token| token.text == "as" && token.depth == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::language::{Script, Step};

    fn found(sql: &str, dialect: Dialect) -> Option<(String, &'static str)> {
        let mut names = Names::default();
        let script = Script::read("a.sql", &format!("{sql};\n"), &mut names).unwrap();
        let Step::Sql(statement) = &script.commands[0].step else { panic!("{sql} is a statement") };
        without_parameter(statement, &names, dialect)
            .map(|(variable, place)| (names.name(variable).to_owned(), place))
    }

    #[test]
    fn a_variable_in_the_place_of_a_name_is_found() {
        for sql in [
            "SELECT * FROM :x",
            "SELECT * FROM t JOIN :x ON true",
            "SELECT * FROM t WHERE a IN (SELECT b FROM :x)",
            "INSERT INTO :x VALUES (1)",
            "UPDATE :x SET a = 1",
            "DELETE FROM :x",
            "SELECT a AS :x FROM t",
            "SELECT CAST(a AS :x)",
            "SELECT * FROM t_:x",
            "SELECT a FROM t ORDER BY :x",
            "SELECT a FROM t ORDER BY b, :x DESC LIMIT 3",
            "SELECT count(*) FROM t GROUP BY :x",
            "CREATE VIEW v AS SELECT a FROM t WHERE a > :x",
            "CREATE TABLE :x (a int)",
        ] {
            for dialect in [Dialect::Postgres, Dialect::Mysql, Dialect::Sqlite, Dialect::SqlServer] {
                let found = found(sql, dialect);
                assert!(found.as_ref().is_some_and(|(name, _)| name == "x"), "{sql}: {found:?}");
            }
        }
    }

    #[test]
    fn statements_of_postgresql_without_parameters_are_known() {
        for sql in [
            "SET work_mem = :x",
            "VACUUM (PARALLEL :x) t",
            "NOTIFY channel, :x",
            "CREATE INDEX i ON t (a) WHERE a > :x",
            "ALTER TABLE t ALTER a SET DEFAULT :x",
            "SELECT 1 \\; SET LOCAL work_mem = :x",
        ] {
            assert!(found(sql, Dialect::Postgres).is_some(), "{sql}");
        }
        assert_eq!(found("SET @a = :x", Dialect::Mysql), None);
    }

    #[test]
    fn a_variable_that_is_a_value_is_left_alone() {
        for sql in [
            "SELECT :x",
            "SELECT a FROM t WHERE a = :x AND b IN (:y, :z) LIMIT :n OFFSET :m",
            "INSERT INTO t (a, b) VALUES (:x, :y) ON CONFLICT (a) DO UPDATE SET b = :y",
            "UPDATE t SET a = a + :x WHERE b = :y",
            "SELECT extract(epoch FROM :x::timestamp), substring(a FROM :n FOR :m) FROM t",
            "SELECT a FROM t WHERE a IS DISTINCT FROM :x",
            "SELECT a FROM t ORDER BY a + :x, abs(:y), CASE WHEN :z = 1 THEN a END",
            "SELECT a FROM t ORDER BY :x - a",
            "CREATE TEMP TABLE u AS SELECT a FROM t WHERE a > :x",
            "SELECT * FROM generate_series(1, :n), f(a, :m)",
            "SELECT sum(a) OVER (PARTITION BY b ORDER BY c ROWS :n PRECEDING) FROM t",
            "SELECT 'FROM :x'",
        ] {
            assert_eq!(found(sql, Dialect::Postgres), None, "{sql}");
        }
    }
}
