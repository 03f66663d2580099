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

use crate::password::without_password;

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

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
