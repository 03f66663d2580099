//! T-SQL as words, variables, numbers, texts and signs; comments are left out.
//!
//! Source: <https://learn.microsoft.com/en-us/sql/t-sql/language-elements/language-elements-transact-sql>.

/// What a text consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A keyword or a name; a name in brackets without these.
    Word(&'t str),
    /// With its `@`.
    Variable(&'t str),
    Number(&'t str),
    /// Without its quotes.
    Text(&'t str),
    Sign(char),
}

impl<'t> Token<'t> {
    pub(super) fn word(self) -> Option<&'t str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Variable(_) | Self::Number(_) | Self::Text(_) | Self::Sign(_) => None,
        }
    }

    pub(super) fn is(self, word: &str) -> bool {
        self.word().is_some_and(|own| own.eq_ignore_ascii_case(word))
    }
}

/// The tokens of a text.
///
/// # Errors
/// Names what is not closed, or is no sign of the language.
pub(super) fn tokens(sql: &str) -> Result<Vec<Token<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '-' if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, closed(rest, "*/", "a comment")?),
            'N' if rest.starts_with("N'") => {
                let length = text(&rest[1..])?;
                (Some(Token::Text(&rest[2..length])), 1 + length)
            }
            '\'' => {
                let length = text(rest)?;
                (Some(Token::Text(&rest[1..length - 1])), length)
            }
            '[' => {
                let length = closed(rest, "]", "a name in brackets")?;
                (Some(Token::Word(&rest[1..length - 1])), length)
            }
            _ if is_of_word(first) => word(rest, first),
            _ if "()=<>+-*,;.!".contains(first) => (Some(Token::Sign(first)), 1),
            _ => return Err(format!("`{first}` is no sign of T-SQL here: {}", line(rest))),
        };
        found.extend(token);
        rest = &rest[length..];
    }
    Ok(found)
}

fn is_of_word(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, '_' | '@' | '$' | '#')
}

fn word(rest: &str, first: char) -> (Option<Token<'_>>, usize) {
    let length = rest.find(|sign| !is_of_word(sign)).unwrap_or(rest.len());
    let word = &rest[..length];
    let token = match first {
        '@' => Token::Variable(word),
        _ if first.is_ascii_digit() => Token::Number(word),
        _ => Token::Word(word),
    };
    (Some(token), length)
}

fn closed(rest: &str, end: &str, what: &str) -> Result<usize, String> {
    rest.find(end).map(|at| at + end.len()).ok_or_else(|| format!("{what} is not closed: {}", line(rest)))
}

/// Length of a text with its quotes; two of them are one within.
fn text(rest: &str) -> Result<usize, String> {
    let mut at = 1;
    loop {
        let end = rest[at..].find('\'').ok_or_else(|| format!("a text is not closed: {}", line(rest)))?;
        at += end + 1;
        if !rest[at..].starts_with('\'') {
            return Ok(at);
        }
        at += 1;
    }
}

fn line(rest: &str) -> &str {
    rest.lines().next().unwrap_or_default()
}
