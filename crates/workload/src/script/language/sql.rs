//! Finding the end of a command of SQL, and the variables in it, as psql does.
//!
//! It knows quotes, comments, parentheses and the bodies of functions and triggers, and nothing else of what the words mean; nor
//! quotes that only other databases have.

use super::cursor::Cursor;
use super::names::{Names, is_of_name, name_length};
use super::statement::{Piece, Statement};

/// What was read up to an end.
#[derive(Debug)]
pub(super) struct Scanned {
    /// The command with its line; none if there was nothing but blanks and comments.
    pub(super) command: Option<(usize, Statement)>,
    pub(super) end: End,
    /// What is not closed, with the line that it opens in.
    pub(super) problem: Option<(usize, String)>,
}

/// What ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Semicolon,
    /// A meta-command, whose backslash is not taken.
    Backslash,
    Text,
}

/// Reads one command.
pub(super) fn scan(cursor: &mut Cursor<'_>, names: &mut Names) -> Scanned {
    scanned(cursor, names, false)
}

/// The statements of plain SQL, which has neither variables nor meta-commands, each with its line.
///
/// # Errors
/// What is not closed, with the line that it opens in.
pub(crate) fn plain_statements(text: &str) -> Result<Vec<(usize, String)>, (usize, String)> {
    let (mut cursor, mut names) = (Cursor::new(text), Names::default());
    let mut statements = Vec::new();
    loop {
        let scanned = scanned(&mut cursor, &mut names, true);
        if let Some(problem) = scanned.problem {
            return Err(problem);
        }
        if let Some((line, statement)) = scanned.command {
            let text = |piece| match piece {
                Piece::Text(text) => text,
                Piece::Variable(variable) => format!(":{}", names.name(variable)),
                Piece::Quoted { name, .. } => format!(":{name}"),
            };
            statements.push((line, statement.pieces.into_iter().map(text).collect()));
        }
        if scanned.end == End::Text {
            return Ok(statements);
        }
    }
}

fn scanned(cursor: &mut Cursor<'_>, names: &mut Names, is_plain: bool) -> Scanned {
    let mut scanner = Scanner {
        cursor,
        names,
        is_plain,
        body: Body::default(),
        pieces: Vec::new(),
        line: None,
        open: Vec::new(),
        count: 0,
        in_words: false,
        problem: None,
    };
    let end = loop {
        if let Some(end) = scanner.step() {
            break end;
        }
    };
    scanner.finished(end)
}

/// Words that may stand between `CREATE` and what is made.
const BEFORE_KIND: [&str; 8] =
    ["create", "or", "replace", "alter", "temp", "temporary", "constraint", "definer"];

/// Whether the place is within a body that has statements of its own, as `BEGIN ATOMIC` of functions and triggers of SQLite begin one.
#[derive(Debug, Default)]
struct Body {
    makes: Makes,
    /// Whether the word before was `BEGIN`.
    is_begin: bool,
    /// Lines of each `BEGIN` and `CASE` that has no `END` yet.
    open: Vec<usize>,
}

/// What a statement makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Makes {
    /// It has said nothing yet.
    #[default]
    Unsaid,
    /// It began with `CREATE`, and has not said what.
    Something,
    /// The same with a `DEFINER`, so that names may stand before what it is.
    OfSomebody,
    Routine,
    Trigger,
    /// What has no body.
    Other,
}

impl Body {
    /// A word outside of parentheses, in its line.
    fn word(&mut self, word: &str, line: usize) {
        let is = |other: &str| other.eq_ignore_ascii_case(word);
        let was_begin = std::mem::replace(&mut self.is_begin, is("begin"));
        self.makes = match self.makes {
            Makes::Unsaid if is("create") => Makes::Something,
            Makes::Something | Makes::OfSomebody if is("function") || is("procedure") => Makes::Routine,
            Makes::Something | Makes::OfSomebody if is("trigger") => Makes::Trigger,
            Makes::Something if is("definer") => Makes::OfSomebody,
            Makes::Something if BEFORE_KIND.iter().any(|before| is(before)) => Makes::Something,
            Makes::Unsaid | Makes::Something => Makes::Other,
            makes @ (Makes::OfSomebody | Makes::Routine | Makes::Trigger | Makes::Other) => makes,
        };
        let begins = match self.makes {
            Makes::Routine if self.open.is_empty() => was_begin && is("atomic"),
            Makes::Routine | Makes::Trigger => self.is_begin || !self.open.is_empty() && is("case"),
            Makes::Unsaid | Makes::Something | Makes::OfSomebody | Makes::Other => false,
        };
        if begins {
            self.open.push(line);
        } else if is("end") {
            self.open.pop();
        }
    }
}

struct Scanner<'scan, 'text> {
    cursor: &'scan mut Cursor<'text>,
    names: &'scan mut Names,
    /// Whether colons and backslashes mean nothing.
    is_plain: bool,
    body: Body,
    pieces: Vec<Piece>,
    /// Of the first word.
    line: Option<usize>,
    /// Lines of the parentheses that are open.
    open: Vec<usize>,
    /// Statements whose first word is read.
    count: usize,
    /// Whether a word of the current statement is read.
    in_words: bool,
    problem: Option<(usize, String)>,
}

impl Scanner<'_, '_> {
    /// Takes what the text begins with here.
    fn step(&mut self) -> Option<End> {
        let rest = self.cursor.rest();
        let Some(next) = rest.chars().next() else { return Some(End::Text) };
        match next {
            _ if next.is_ascii_whitespace() => self.blank(1),
            '-' if rest.starts_with("--") => self.blank(rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => self.comment(),
            '\'' | '"' => self.quoted(next, next.len_utf8(), false),
            '$' => self.dollar(),
            ';' if self.open.is_empty() && self.body.open.is_empty() => {
                self.cursor.take(1);
                return Some(End::Semicolon);
            }
            ':' | '\\' if self.is_plain => self.word(1),
            ':' => self.colon(),
            '\\' => return self.backslash(),
            '(' => {
                self.open.push(self.cursor.line());
                self.word(1);
            }
            ')' => {
                self.open.pop();
                self.word(1);
            }
            _ if is_of_name(next) => self.name(),
            _ => self.word(next.len_utf8()),
        }
        None
    }

    /// Adds text that is neither blank nor a comment.
    fn word(&mut self, bytes: usize) {
        self.began();
        self.add(bytes);
    }

    fn began(&mut self) {
        self.line.get_or_insert(self.cursor.line());
        self.count += usize::from(!self.in_words);
        self.in_words = true;
    }

    /// What a command may not begin with.
    fn blank(&mut self, bytes: usize) {
        if self.pieces.is_empty() {
            self.cursor.take(bytes);
        } else {
            self.add(bytes);
        }
    }

    fn add(&mut self, bytes: usize) {
        let text = self.cursor.take(bytes);
        self.add_text(text);
    }

    fn add_text(&mut self, text: &str) {
        if let Some(Piece::Text(last)) = self.pieces.last_mut() {
            last.push_str(text);
        } else {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    /// Adds a quoted text, in which a colon and a name are a piece of their own.
    fn add_quoted(&mut self, bytes: usize) {
        if self.is_plain {
            return self.add(bytes);
        }
        let mut rest = self.cursor.take(bytes);
        while let Some(at) = rest.find(':') {
            let colons = rest[at..].find(|letter| letter != ':').unwrap_or(rest.len() - at);
            let name = name_length(&rest[at + colons..]);
            let end = at + colons + name;
            if colons == 1 && name > 0 {
                self.add_text(&rest[..at]);
                let name = &rest[at + 1..end];
                let variable = self.names.index(name);
                self.pieces.push(Piece::Quoted { variable, name: name.to_owned() });
            } else {
                self.add_text(&rest[..end]);
            }
            rest = &rest[end..];
        }
        self.add_text(rest);
    }

    /// A comment, which may have others in it. It is kept where it begins a command too: it may be a hint.
    fn comment(&mut self) {
        let rest = self.cursor.rest();
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(next) = rest[at..].find(['/', '*']) {
            at += next;
            let mark = rest[at..].get(..2);
            match mark {
                Some("/*") => depth += 1,
                Some("*/") => depth -= 1,
                _ => {
                    at += 1;
                    continue;
                }
            }
            at += 2;
            if depth == 0 {
                return self.add(at);
            }
        }
        self.not_closed("the comment", "*/");
    }

    /// A quoted text, after some bytes of which the last is the quote that opens it.
    fn quoted(&mut self, quote: char, opening: usize, has_escapes: bool) {
        self.began();
        match closed(&self.cursor.rest()[opening..], quote, has_escapes) {
            Some(length) => self.add_quoted(opening + length),
            None => self.not_closed("the quote", &quote.to_string()),
        }
    }

    /// A word, or the `E` before a quote with backslashes in it.
    fn name(&mut self) {
        let rest = self.cursor.rest();
        let length = rest.find(|letter| letter != '$' && !is_of_name(letter)).unwrap_or(rest.len());
        if matches!(&rest[..length], "e" | "E") && rest[length..].starts_with('\'') {
            self.quoted('\'', length + 1, true);
        } else {
            // A column of these names stands in parentheses, or behind a dot.
            let is_column = matches!(self.pieces.last(), Some(Piece::Text(before)) if before.ends_with('.'));
            if self.open.is_empty() && !is_column {
                self.body.word(&rest[..length], self.cursor.line());
            }
            self.word(length);
        }
    }

    /// A text between two equal marks such as `$tag$`, or a single `$`.
    fn dollar(&mut self) {
        let rest = self.cursor.rest();
        let tag = 1 + name_length(&rest[1..]);
        if !rest[tag..].starts_with('$') {
            return self.word(1);
        }
        self.began();
        let mark = &rest[..=tag];
        match rest[mark.len()..].find(mark) {
            Some(text) => self.add_quoted(2 * mark.len() + text),
            None => self.not_closed("the quote", mark),
        }
    }

    /// A variable, unless it is a cast (`::`) or no name follows.
    fn colon(&mut self) {
        let rest = self.cursor.rest();
        let colons = rest.find(|letter| letter != ':').unwrap_or(rest.len());
        let name = name_length(&rest[colons..]);
        if colons != 1 || name == 0 {
            return self.word(colons);
        }
        self.began();
        let variable = self.names.index(&rest[1..=name]);
        self.pieces.push(Piece::Variable(variable));
        self.cursor.take(1 + name);
    }

    /// A semicolon or a colon that stands for itself, or a meta-command.
    fn backslash(&mut self) -> Option<End> {
        match self.cursor.rest().get(1..2) {
            Some(";") => {
                // Within a body it ends a part of the same statement.
                if self.body.open.is_empty() {
                    self.in_words = false;
                    self.body = Body::default();
                }
                self.cursor.take(2);
                self.add_text(";");
            }
            Some(":") => {
                self.began();
                self.cursor.take(2);
                self.add_text(":");
            }
            _ => return Some(End::Backslash),
        }
        None
    }

    /// Takes all that is left, because something is not closed.
    fn not_closed(&mut self, what: &str, with: &str) {
        let problem = format!("{what} that opens here is not closed: close it with {with}");
        self.problem = Some((self.cursor.line(), problem));
        self.open.clear();
        self.word(self.cursor.rest().len());
    }

    fn finished(mut self, end: End) -> Scanned {
        if let Some(line) = self.body.open.first() {
            let problem = "the body that begins here is not closed within its command: close it with END";
            self.problem = Some((*line, problem.to_owned()));
        }
        if let Some(line) = self.open.first() {
            let problem = "the parenthesis that opens here is not closed within its command: close it with )";
            self.problem = Some((*line, problem.to_owned()));
        }
        if let Some(Piece::Text(last)) = self.pieces.last_mut() {
            last.truncate(last.trim_ascii_end().len());
            if last.is_empty() {
                self.pieces.pop();
            }
        }
        let statement = Statement { pieces: self.pieces, then: None, count: self.count };
        Scanned { command: self.line.map(|line| (line, statement)), end, problem: self.problem }
    }
}

/// Bytes up to the end of the quote that closes a text. Two quotes in it are one of the text.
fn closed(text: &str, quote: char, has_escapes: bool) -> Option<usize> {
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && has_escapes {
            letters.next();
        } else if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return Some(at + letter.len_utf8());
        }
    }
    None
}
