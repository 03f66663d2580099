//! Statements of servers as pieces: what is a literal, a place of a value, a remark, or anything else. It knows as much of each dialect
//! as it takes to find these.

use database::Dialect;

use super::LogFormat;

/// A piece of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::script) enum Piece<'a> {
    Space,
    Remark,
    /// A text, a number, bytes.
    Literal,
    /// `$1`.
    Place(usize),
    Word(&'a str),
    /// A name in quotes, or a sign.
    Other(&'a str),
}

/// Goes through the pieces of a statement.
pub(in crate::script) struct Pieces<'a> {
    text: &'a str,
    at: usize,
    format: LogFormat,
    /// Whether what stands before is a name or a number, so that a digit belongs to it.
    after_name: bool,
}

impl<'a> Pieces<'a> {
    pub(in crate::script) fn of(text: &'a str, format: LogFormat) -> Self {
        Self { text, at: 0, format, after_name: false }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The bytes that the piece which begins here takes, and what it is.
    fn piece(&self) -> (usize, Piece<'a>) {
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or(' ');
        let is_mysql = self.format == LogFormat::MariadbGeneral;
        match first {
            _ if first.is_whitespace() => (length(rest, char::is_whitespace), Piece::Space),
            '-' if rest.starts_with("--") => (line(rest), Piece::Remark),
            '#' if is_mysql => (line(rest), Piece::Remark),
            // What it has a version before is run: it is no remark.
            '/' if is_mysql && executable(rest) > 0 => (executable(rest), Piece::Space),
            '*' if is_mysql && rest.starts_with("*/") => (2, Piece::Space),
            '/' if rest.starts_with("/*") => (remark(rest), Piece::Remark),
            '\'' => (quoted(rest, '\'', is_mysql), Piece::Literal),
            '"' if is_mysql => (quoted(rest, '"', true), Piece::Literal),
            '"' => self.name(quoted(rest, '"', false)),
            '`' if is_mysql => self.name(quoted(rest, '`', false)),
            '[' if self.format == LogFormat::SqlserverEvents => self.name(quoted(rest, ']', false)),
            '$' if self.format == LogFormat::PostgresCsv => self.dollar(),
            _ if first.is_ascii_digit() || first == '.' && is_fraction(rest) => {
                (number(rest), Piece::Literal)
            }
            _ if is_of_name(first) || first == '@' => self.word(),
            _ => self.name(first.len_utf8()),
        }
    }

    fn name(&self, length: usize) -> (usize, Piece<'a>) {
        (length, Piece::Other(&self.rest()[..length]))
    }

    /// A word; with a quote behind it, it may be the begin of a literal: `E'…'`, `N'…'`, `x'…'`.
    fn word(&self) -> (usize, Piece<'a>) {
        let rest = self.rest();
        let end = length(rest, |letter| {
            is_of_name(letter) || letter.is_ascii_digit() || matches!(letter, '$' | '@' | '#')
        });
        let word = &rest[..end];
        let prefixes = ["e", "n", "x", "b", "u&", "_utf8", "_utf8mb4", "_binary", "_latin1"];
        if rest[end..].starts_with('\'') && prefixes.iter().any(|prefix| word.eq_ignore_ascii_case(prefix)) {
            let has_escapes = word.eq_ignore_ascii_case("e") || self.format == LogFormat::MariadbGeneral;
            return (end + quoted(&rest[end..], '\'', has_escapes), Piece::Literal);
        }
        (end, Piece::Word(word))
    }

    /// `$1`, or a text between `$tag$`.
    fn dollar(&self) -> (usize, Piece<'a>) {
        let rest = self.rest();
        let digits = length(&rest[1..], |letter| letter.is_ascii_digit());
        if let Ok(place) = rest[1..=digits].parse() {
            return (1 + digits, Piece::Place(place));
        }
        let tag = 1 + length(&rest[1..], |letter| is_of_name(letter) || letter.is_ascii_digit());
        if !rest[tag..].starts_with('$') {
            return self.name(1);
        }
        let mark = &rest[..=tag];
        let end = rest[mark.len()..].find(mark).map_or(rest.len(), |at| at + 2 * mark.len());
        (end, Piece::Literal)
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (&'a str, Piece<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest().is_empty() {
            return None;
        }
        let (length, piece) = self.piece();
        let text = &self.rest()[..length];
        // `a.1` of no dialect is a literal behind a name, and `t.5` no fraction.
        let piece = if self.after_name && piece == Piece::Literal && text.starts_with('.') {
            Piece::Other(text)
        } else {
            piece
        };
        self.at += length;
        self.after_name = matches!(piece, Piece::Word(_));
        Some((text, piece))
    }
}

/// The statement with its values in their places, as literals. None if a place has no value.
pub(in crate::script) fn with_values(
    sql: &str,
    values: &[Option<String>],
    literal: impl Fn(Option<&str>) -> String,
) -> Option<String> {
    let mut text = String::with_capacity(sql.len() + 16 * values.len());
    for (piece, kind) in Pieces::of(sql, LogFormat::PostgresCsv) {
        match kind {
            Piece::Place(place) => text.push_str(&literal(values.get(place.checked_sub(1)?)?.as_deref())),
            Piece::Space | Piece::Remark | Piece::Literal | Piece::Word(_) | Piece::Other(_) => {
                text.push_str(piece)
            }
        }
    }
    Some(text)
}

/// A value as a literal of a dialect, whose type the server finds.
pub(in crate::script) fn literal(value: Option<&str>, dialect: Dialect) -> String {
    let Some(value) = value else { return "NULL".to_owned() };
    let doubled = value.replace('\'', "''");
    match dialect {
        Dialect::Postgres | Dialect::Sqlite => format!("'{doubled}'"),
        Dialect::Mysql => format!("'{}'", doubled.replace('\\', "\\\\")),
        Dialect::SqlServer => format!("N'{doubled}'"),
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
    }
}

/// How many values a statement of PostgreSQL has places for.
pub(super) fn places(sql: &str) -> usize {
    let of = |(_, piece)| if let Piece::Place(place) = piece { place } else { 0 };
    Pieces::of(sql, LogFormat::PostgresCsv).map(of).max().unwrap_or(0)
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

fn is_fraction(rest: &str) -> bool {
    rest[1..].starts_with(|letter: char| letter.is_ascii_digit())
}

fn length(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !is_part(letter)).unwrap_or(text.len())
}

fn line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Bytes of the begin of `/*!40101 … */` and MariaDB's `/*M!100100 … */`, which servers run; none of what begins otherwise.
fn executable(text: &str) -> usize {
    let mark = ["/*!", "/*M!"].into_iter().find(|mark| text.starts_with(mark));
    mark.map_or(0, |mark| mark.len() + length(&text[mark.len()..], |letter| letter.is_ascii_digit()))
}

/// Remarks may stand within each other, but not in MySQL, where nobody writes them so.
fn remark(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(rest) = text.get(at..) {
        if rest.is_empty() {
            break;
        }
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Up to the quote that ends it; two of them are one within it.
fn quoted(text: &str, end: char, has_escapes: bool) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && has_escapes {
            letters.next();
        } else if letter == end {
            match letters.peek() {
                Some((_, next)) if *next == end => _ = letters.next(),
                _ => return at + end.len_utf8(),
            }
        }
    }
    text.len()
}

fn number(text: &str) -> usize {
    let mut end = length(text, |letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_'));
    // `1e-5`, but not `1-5`.
    let is_exponent = text[..end].ends_with(['e', 'E']) && !text[..end].starts_with("0x");
    if is_exponent && text[end..].starts_with(['+', '-']) {
        end += 1 + length(&text[end + 1..], |letter| letter.is_ascii_digit());
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_stand_where_their_places_were_and_nowhere_else() {
        let quoted = |value: Option<&str>| value.map_or("NULL".to_owned(), |value| format!("<{value}>"));
        let values = [Some("a".to_owned()), None];
        for (sql, expected) in [
            ("SELECT $1, $2, $1", "SELECT <a>, NULL, <a>"),
            (
                "SELECT '$1', \"$1\", $$ $1 $$, $x$ $1 $x$ -- $1\n, $2",
                "SELECT '$1', \"$1\", $$ $1 $$, $x$ $1 $x$ -- $1\n, NULL",
            ),
            (
                "SELECT E'\\'$1', a$1, $1::int /* $2 /* */ $3 */",
                "SELECT E'\\'$1', a$1, <a>::int /* $2 /* */ $3 */",
            ),
        ] {
            assert_eq!(with_values(sql, &values, quoted).as_deref(), Some(expected));
        }
        assert_eq!(with_values("SELECT $3", &values, quoted), None);
        assert_eq!((places("SELECT $2, '$9', $11"), places("SELECT 1")), (11, 0));
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole_text(text in "[ a-zA-Z0-9$'\"`\\[\\]/*#\\-.@é\\\\\n;()]{0,40}") {
            for format in [LogFormat::PostgresCsv, LogFormat::MariadbGeneral, LogFormat::SqlserverEvents] {
                let joined: String = Pieces::of(&text, format).map(|(piece, _)| piece).collect();
                prop_assert_eq!(&joined, &text);
            }
        }
    }
}
