//! Passwords in text that is shown: of addresses, connection strings and options, also of misspelt ones.
//!
//! This is the only place that decides what a password is. It reads text in which addresses stand among other words, so it works
//! by what passwords stand next to: `scheme://user:…@host`, `user:…@host`, `password=…`. Where it cannot be told where a
//! password ends, more than the password is left out. Ordinary words, paths and times stay as they are.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Stands for a password.
const PASSWORD: &str = "…";
/// Keys whose value is a password wherever they stand.
const KEYS: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "pgpassword",
    "mysql_pwd",
    "sqlcmdpassword",
    "clickhouse_password",
    "sslpassword",
    "access_token",
    "accesstoken",
    "sharedaccesskey",
];
/// Keys whose value is a password in an address or a connection string, and an ordinary word elsewhere.
const KEYS_OF_ADDRESSES: [&str; 5] = ["pass", "pw", "secret", "token", "passcode"];
/// Kinds of addresses that are followed by the path of a file, which may hold an `@`.
const FILES: [&str; 5] = ["sqlite", "duckdb", "csv", "file", "fake"];
const QUOTES: [char; 3] = ['`', '\'', '"'];

/// Whether a text holds a password.
#[must_use]
pub fn holds_password(text: &str) -> bool {
    without_password(text) != text
}

/// A text in which `…` stands for each password: `postgres://user:…@host/database`.
#[must_use]
pub fn without_password(text: &str) -> Cow<'_, str> {
    if !text.contains(['@', ':', '=', '%']) {
        return Cow::Borrowed(text);
    }
    let shown = without_encoded(&without_plain(text));
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// The same for a text that is one value: a login in it may hold spaces.
#[must_use]
pub fn value_without_password(value: &str) -> Cow<'_, str> {
    match spaced_login(value) {
        Some(shown) => Cow::Owned(without_password(&shown).into_owned()),
        None => without_password(value),
    }
}

fn without_plain(text: &str) -> String {
    without_pairs(&without_logins(&without_quoted_logins(&without_url_logins(text))))
}

/// Words in which the signs of an address are written as `%40`. What hides a password in them is shown without it, and decoded.
fn without_encoded(text: &str) -> String {
    each_word(text, |word| {
        let decoded = decoded(word)?;
        let shown = without_plain(&decoded);
        (shown != decoded).then_some(shown)
    })
}

fn decoded(word: &str) -> Option<String> {
    if !word.contains('%') {
        return None;
    }
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| byte == b'%') {
            Some(number) => {
                bytes.push(number);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|decoded| decoded != word)
}

/// A text in which each word is replaced by what `replace` makes of it, if it makes something.
fn each_word(text: &str, replace: impl Fn(&str) -> Option<String>) -> String {
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive(char::is_whitespace) {
        let word = part.trim_end_matches(char::is_whitespace);
        match replace(word) {
            Some(replaced) => {
                shown.push_str(&replaced);
                shown.push_str(&part[word.len()..]);
            }
            None => shown.push_str(part),
        }
    }
    shown
}

/// Hides passwords of `scheme://user:password@host`.
fn without_url_logins(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        let (address, behind) = after.split_at(address_end(after));
        let _ = write!(shown, "{before}://{}", without_url_login(address));
        rest = behind;
    }
    shown.push_str(rest);
    shown
}

/// Where an address ends of which this is all after `://`: at a space, or where another address begins in a list. A space
/// before the `@` belongs to a password.
fn address_end(after: &str) -> usize {
    let word_end =
        |from: usize| after[from..].find(char::is_whitespace).map_or(after.len(), |end| from + end);
    let mut end = word_end(0);
    if open_login(&after[..end]).is_some() {
        end = after[end..].find('@').map_or(end, |position| word_end(end + position));
    }
    let next = after[..end].match_indices("://").find_map(|(position, _)| {
        let before = after[..position].trim_end_matches(is_of_scheme);
        before.ends_with([',', ';', '"', '\'', '`', '(', '[']).then_some(before.len())
    });
    next.unwrap_or(end)
}

fn is_of_scheme(character: char) -> bool {
    character.is_ascii_alphanumeric() || "+-.".contains(character)
}

/// Where the password of a word begins that has no `@`: it begins like `user:password`, and not like `host:port`.
fn open_login(word: &str) -> Option<usize> {
    let colon = word.find(':')?;
    let (name, behind) = (&word[..colon], &word[colon + 1..]);
    if word.contains('@') || name.contains(['/', '[']) {
        return None;
    }
    let after_digits = behind.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_port = after_digits.chars().next().is_none_or(|next| "/?,;.:)]}\"'`".contains(next))
        && behind.len() - after_digits.len() <= "65535".len();
    let word_of_port = behind.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("port"));
    let is_named = word_of_port && !behind[4..].starts_with(char::is_alphanumeric);
    (!is_port && !is_named).then_some(colon + 1)
}

/// An address without `scheme://`. A password may hold any sign, so that it ends at the last `@`, and without one at the end.
fn without_url_login(address: &str) -> String {
    if let Some((login, place)) = address.rsplit_once('@') {
        return match login.split_once(':') {
            Some((user, _)) => format!("{user}:{PASSWORD}@{place}"),
            None => address.to_owned(),
        };
    }
    match open_login(address) {
        Some(begin) => {
            let end =
                address.trim_end_matches(['"', '\'', '`', ')', ']', ',', '.', ';', ':']).len().max(begin);
            format!("{}{PASSWORD}{}", &address[..begin], &address[end..])
        }
        None => address.to_owned(),
    }
}

/// Hides the passwords of words such as `user:password@host`, `//user:password@host` and `scheme:user:password@host`.
fn without_logins(text: &str) -> String {
    each_word(text, |word| {
        // What follows is an address, whose password is hidden already.
        let end = word.find("://").map_or(word.len(), |at| word[..at].trim_end_matches(is_of_scheme).len());
        let (begin, at) = login_password(&word[..end])?;
        Some(format!("{}{PASSWORD}{}", &word[..begin], &word[at..]))
    })
}

/// Where the password of a login in a word begins and ends.
fn login_password(word: &str) -> Option<(usize, usize)> {
    let at = word.rfind('@')?;
    let mut from = 0;
    loop {
        let colon = from + word[from..at].find(':')?;
        let name = &word[from..colon];
        let letters = &name[name.trim_end_matches(is_of_scheme).len()..];
        from = colon + 1;
        if FILES.iter().any(|file| letters.eq_ignore_ascii_case(file)) {
            continue;
        }
        let password = &word[from..at];
        let is_drive = letters.len() == 1 && password.starts_with('\\');
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_time = is_number(letters) && password.split(':').all(is_number);
        let is_hidden = password == PASSWORD || password.ends_with(&format!(":{PASSWORD}"));
        return (!password.is_empty() && !is_drive && !is_time && !is_hidden).then_some((from, at));
    }
}

/// Hides the passwords of quoted logins that hold spaces: `'user:my password@host'`.
fn without_quoted_logins(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(open) = rest.find(QUOTES) {
        let inner = &rest[open + 1..];
        let quote = &rest[open..=open];
        let Some(close) = inner.find(quote) else { break };
        shown.push_str(&rest[..=open]);
        match spaced_login(&inner[..close]) {
            Some(hidden) => {
                let _ = write!(shown, "{hidden}{quote}");
                rest = &inner[close + 1..];
            }
            None => rest = inner,
        }
    }
    shown.push_str(rest);
    shown
}

/// A value that is a login with spaces in it, without its password; none if it is none.
fn spaced_login(value: &str) -> Option<String> {
    if !value.contains(char::is_whitespace) || value.contains("://") {
        return None;
    }
    let (begin, at) = login_password(value)?;
    // A time begins with a number.
    let is_word = !value[..begin].contains(char::is_whitespace)
        && !value.starts_with(|sign: char| sign.is_ascii_digit());
    let is_attached = !value[begin..].starts_with(char::is_whitespace);
    (is_word && is_attached).then(|| format!("{}{PASSWORD}{}", &value[..begin], &value[at..]))
}

/// Hides what follows a key of a password: `Server=h;Password=…;Database=x`, `host=h password=…`, `?password=…`.
fn without_pairs(text: &str) -> String {
    let mut shown = String::new();
    let mut done = 0;
    for (sign, _) in text.match_indices(['=', ':']) {
        if sign < done {
            continue;
        }
        let Some(value) = Pair::at(text, sign).and_then(|pair| pair.value()) else { continue };
        shown.push_str(&text[done..value.start]);
        shown.push_str(PASSWORD);
        done = value.end;
    }
    shown.push_str(&text[done..]);
    shown
}

/// A key of a password with what stands around it.
struct Pair<'a> {
    text: &'a str,
    /// Where the value begins, without spaces.
    begin: usize,
    place: Place,
    /// The quote that stands right before the key.
    quote: Option<char>,
}

/// Where a pair stands, which tells where its value ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In a connection string of ADO.NET or ODBC: up to the next semicolon.
    Semicolons,
    /// Among the options of an address: up to the next `&`.
    Query,
    /// Among words, as in a connection string of libpq: up to the next space.
    Words,
    /// In JSON: a text in quotes.
    Json,
}

impl<'a> Pair<'a> {
    /// The one whose `=` or `:` stands at a place.
    fn at(text: &'a str, sign: usize) -> Option<Self> {
        let is_json = text[sign..].starts_with(':');
        let before = text[..sign].trim_end_matches(' ');
        let before = if is_json { before.strip_suffix('"')? } else { before };
        let is_of_key =
            |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '-';
        let lead = before.trim_end_matches(is_of_key);
        let key = before[lead.len()..].trim_start_matches('-').to_ascii_lowercase().replace('-', "_");
        let begin = text.len() - text[sign + 1..].trim_start_matches(' ').len();
        let value = &text[begin..];
        let trimmed = lead.trim_end_matches(' ');
        let place = match trimmed.chars().next_back() {
            _ if is_json => Place::Json,
            Some('?' | '&') => Place::Query,
            None | Some(';') => Place::Semicolons,
            Some(quote) if QUOTES.contains(&quote) && trimmed.len() == lead.len() => Place::Semicolons,
            Some(_) => Place::Words,
        };
        let is_spaced = before.len() < sign || begin > sign + 1;
        // A sentence may say that the password = something.
        let is_value = !is_spaced || value.starts_with(QUOTES) || lead.contains('=');
        let is_after_pair = trimmed.contains('=') && (trimmed.ends_with(';') || lead.ends_with(' '));
        let is_of_address = place == Place::Query || is_after_pair;
        let is_key = KEYS.contains(&key.as_str())
            || is_of_address && !is_json && KEYS_OF_ADDRESSES.contains(&key.as_str());
        let is_pair = place != Place::Words || is_value;
        let is_text = !is_json || value.starts_with('"');
        let quote = trimmed.chars().next_back().filter(|last| QUOTES.contains(last));
        (is_key && is_pair && is_text).then_some(Self { text, begin, place, quote })
    }

    /// Where its value stands; none if there is nothing to hide.
    fn value(&self) -> Option<std::ops::Range<usize>> {
        let value = &self.text[self.begin..];
        let length = match value.chars().next()? {
            _ if is_hidden(value) => return None,
            quote if self.place == Place::Json => {
                let length = quoted_length(value, quote);
                let inner = value[1..length].strip_suffix(quote).unwrap_or(&value[1..length]);
                let begin = self.begin + 1;
                return (!inner.is_empty() && inner != PASSWORD).then(|| begin..begin + inner.len());
            }
            '{' if self.place != Place::Query => quoted_length(value, '}'),
            quote @ ('"' | '\'') if Some(quote) != self.quote && self.place != Place::Query => {
                quoted_length(value, quote)
            }
            _ => self.open_length(value),
        };
        (length > 0).then(|| self.begin..self.begin + length)
    }

    /// Length of a value that stands in no quotes.
    fn open_length(&self, value: &str) -> usize {
        let length = match self.place {
            Place::Semicolons => {
                let end = value.find(';').unwrap_or(value.len());
                self.quote.and_then(|quote| closing(&value[..end], quote)).unwrap_or(end)
            }
            Place::Query => {
                value.find(|sign: char| sign == '&' || sign.is_whitespace()).unwrap_or(value.len())
            }
            Place::Words | Place::Json => value.find(char::is_whitespace).unwrap_or(value.len()),
        };
        match self.place {
            Place::Semicolons => length,
            Place::Query | Place::Words | Place::Json => {
                value[..length].trim_end_matches([')', '`', '\'', '"']).len()
            }
        }
    }
}

/// Whether a value is what stands for a password.
fn is_hidden(value: &str) -> bool {
    let after = value.strip_prefix(PASSWORD);
    after.is_some_and(|after| {
        after.trim_start_matches(' ').chars().next().is_none_or(|next| !next.is_alphanumeric())
            || after.starts_with(' ')
    })
}

/// Where a quotation ends that began before a text: at a quote that no word goes on behind.
fn closing(text: &str, quote: char) -> Option<usize> {
    text.match_indices(quote).map(|(at, _)| at).find(|at| {
        let next = text[at + quote.len_utf8()..].chars().next();
        next.is_none_or(|next| next.is_whitespace() || ",.:;)".contains(next))
    })
}

/// Length of a value that begins with a quote or a brace, up to its end. A doubled end is part of it, as is one behind a backslash.
fn quoted_length(value: &str, end: char) -> usize {
    let mut signs = value.char_indices().skip(1).peekable();
    while let Some((at, sign)) = signs.next() {
        if sign == '\\' && end != '}' {
            signs.next();
        } else if sign == end && signs.next_if(|(_, next)| *next == end).is_none() {
            return at + sign.len_utf8();
        }
    }
    value.len()
}

#[cfg(test)]
#[path = "password_tests.rs"]
mod tests;
