//! Text that others wrote, as it may be shown: names, levels and file names of users, what a server says of itself.
//!
//! A terminal obeys control characters, a reader believes a line that begins like one of ours, and a name may be an address
//! with its password. [`shown`] makes of any text one line that does none of that; whoever prints lines passes each of
//! them through it, and [`Lines`] is a text that was made of such lines. Text without any of that is never changed, so that
//! what is shown can be copied; a text that holds `\x1b` as four characters is therefore shown like one that holds the
//! character itself. What is stored, and JSON, keep the text as it is.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::ops::Deref;

/// One line: control characters stand as `\n`, `\x1b` or `\u{202e}`, and passwords of addresses as `…`.
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    match without_password(text) {
        Cow::Borrowed(text) => escaped(text),
        Cow::Owned(text) => Cow::Owned(escaped(&text).into_owned()),
    }
}

/// One line in which control characters are seen, for what may hold no address: a whole page, whose own signs could be
/// taken for the end of one.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    escaped_where(text, is_hidden)
}

/// A text of several lines whose ends are ours, as it may be printed: everything in it that is no end of a line is
/// escaped, so that what was forgotten before can do no harm but to begin a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(String);

impl Lines {
    /// Each text as one line.
    #[must_use]
    pub fn each<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self(texts.into_iter().map(|text| shown(text.as_ref()).into_owned() + "\n").collect())
    }

    /// A text in which each piece that others wrote was passed through [`shown`].
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(escaped_where(text, |character| character != '\n' && is_hidden(character)).into_owned())
    }

    /// What may be printed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Lines {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A JSON document in which no control character stands as itself. It says the same: JSON wants those below U+0020
/// escaped, and permits it of all others, which stand in texts only.
#[must_use]
pub fn shown_json(document: &str) -> String {
    let mut shown = String::with_capacity(document.len());
    let mut units = [0; 2];
    for character in document.chars() {
        if character != '\n' && is_hidden(character) {
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Characters that a terminal obeys, or that change how what stands around them is read: controls, separators of lines,
/// marks and overrides of the direction of writing (Unicode 16, UAX 9 and UTR 36).
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

fn escaped_where(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        let _ = match character {
            '\n' if is_hidden('\n') => shown.write_str("\\n"),
            '\r' => shown.write_str("\\r"),
            '\t' => shown.write_str("\\t"),
            hidden if is_hidden(hidden) && hidden.is_ascii() => write!(shown, "\\x{:02x}", u32::from(hidden)),
            hidden if is_hidden(hidden) => write!(shown, "\\u{{{:x}}}", u32::from(hidden)),
            plain => shown.write_char(plain),
        };
    }
    Cow::Owned(shown)
}

/// Stands for a password.
const PASSWORD: &str = "…";

/// Whether a text holds the password of an address.
#[must_use]
pub fn holds_password(text: &str) -> bool {
    without_password(text) != text
}

/// A text in which no address has a password: `postgres://user:…@host/database`. Where it cannot be told what belongs to a
/// password, more than that is left out.
#[must_use]
pub fn without_password(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        let (address, behind) = after.split_at(address_end(after));
        let _ = write!(shown, "{before}://{}", without_login_password(address));
        rest = behind;
    }
    shown.push_str(rest);
    let shown = without_keyword_password(&shown);
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// A text in which no connection string has a password: `Server=h;Password=…;Database=x`. One without quotes or braces ends at the next
/// semicolon, since it may hold any other sign.
fn without_keyword_password(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(begin) = keyword_password(rest) {
        let (before, value) = rest.split_at(begin);
        let after = &value[keyword_value_end(value)..];
        shown.push_str(before);
        shown.push_str(PASSWORD);
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// Where the value of the first keyword begins that is of a password: one that begins a text, a quotation or a pair, and ends at `=`.
fn keyword_password(text: &str) -> Option<usize> {
    // Of one byte each are the signs that are looked for, so that places stay what they are.
    let small = text.to_ascii_lowercase();
    let found = |keyword: &str| {
        small.match_indices(keyword).find_map(|(at, _)| {
            let before = text[..at].trim_end_matches(' ');
            let begins = before.is_empty() || before.ends_with([';', '"', '\'', '`']);
            let after = text[at + keyword.len()..].trim_start_matches(' ').strip_prefix('=')?;
            begins.then(|| text.len() - after.trim_start_matches(' ').len())
        })
    };
    ["password", "pwd"].into_iter().filter_map(found).min()
}

/// Whether nothing but what stands for a password is a value of a connection string.
fn is_masked(value: &str) -> bool {
    let after = value.strip_prefix(PASSWORD).map(|after| after.trim_start_matches(' '));
    after.is_some_and(|after| after.is_empty() || after.starts_with(';'))
}

/// Where a value of a connection string ends: in braces or quotes where these do, doubled ones being part of it.
fn keyword_value_end(value: &str) -> usize {
    let end = match value.chars().next() {
        Some('{') => '}',
        Some(quote @ ('"' | '\'')) => quote,
        _ if is_masked(value) => return PASSWORD.len(),
        _ => return value.find(';').unwrap_or(value.len()),
    };
    let mut signs = value.char_indices().skip(1).peekable();
    while let Some((at, sign)) = signs.next() {
        if sign == end && signs.next_if(|(_, next)| *next == end).is_none() {
            return at + sign.len_utf8();
        }
    }
    value.len()
}

/// Where an address ends of which this is all after `://`: at a space, or where another address begins in a list. A space
/// before the `@` belongs to a password.
fn address_end(after: &str) -> usize {
    let word_end =
        |from: usize| after[from..].find(char::is_whitespace).map_or(after.len(), |end| from + end);
    let mut end = word_end(0);
    if is_open_login(&after[..end]) {
        end = after[end..].find('@').map_or(end, |position| word_end(end + position));
    }
    let is_scheme = |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
    let next = after[..end].match_indices("://").find_map(|(position, _)| {
        let before = after[..position].trim_end_matches(is_scheme);
        before.ends_with([',', ';', '"', '\'', '`', '(', '[']).then_some(before.len())
    });
    next.unwrap_or(end)
}

/// Whether this begins like `user:password` and not like `host:port`.
fn is_open_login(word: &str) -> bool {
    let behind = word.split_once(':').map_or("", |(_, behind)| behind);
    let behind_port = behind.trim_start_matches(|character: char| character.is_ascii_digit());
    !word.contains('@') && behind_port.starts_with(|character: char| !"/?,;.:)]}\"'`".contains(character))
}

/// An address without `scheme://`. A password may hold any sign, so that it ends at the last `@`.
fn without_login_password(address: &str) -> String {
    let mut shown = match address.rsplit_once('@').map(|(login, place)| (login.split_once(':'), place)) {
        Some((Some((user, _)), place)) => format!("{user}:{PASSWORD}@{place}"),
        _ => address.to_owned(),
    };
    const OPTION: &str = "password=";
    if let Some(begin) = shown.to_ascii_lowercase().find(OPTION).map(|position| position + OPTION.len()) {
        let length = shown[begin..].find(['&', ',']).unwrap_or(shown.len() - begin);
        shown.replace_range(begin..begin + length, PASSWORD);
    }
    shown
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
