//! Connection strings as ADO.NET and ODBC have them: `Server=tcp:host,1433;Database=plant;User Id=ann;Password={se;cret};…`.
//!
//! No message quotes a value, and none what follows a password: it could be the rest of one.

use super::keyword::{Keyword, keyword};
use super::{Said, SqlServerAddress};
use crate::url::UrlError;

const QUOTING: &str =
    "write a value that has a ; or begins with a quote in braces, as Password={…}, and a } in it twice";

/// Whether a text begins like one: with a keyword that is known, and no scheme before it.
pub(in crate::url) fn is_connection_string(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| !name.contains(':') && keyword(name.trim()).is_some())
}

/// Reads one.
pub(in crate::url) fn connection_string(text: &str) -> Result<SqlServerAddress, UrlError> {
    let mut said = Said::default();
    let mut rest = text.trim_start();
    let mut is_after_password = false;
    while !rest.is_empty() {
        let Some((name, after)) = rest.split_once('=') else {
            let what = if is_after_password { "what follows the password" } else { "its end" };
            return Err(UrlError(format!("the connection string has no = in {what}; {QUOTING}")));
        };
        let name = name.trim();
        let Some(known) = keyword(name) else {
            let what =
                if is_after_password { "what follows the password".to_owned() } else { format!("`{name}`") };
            return Err(UrlError(format!(
                "{what} is no keyword of a connection string that is known; {QUOTING}"
            )));
        };
        let (value, behind) = value(after)?;
        said.take(known, &value)?;
        is_after_password = known == Keyword::Password;
        rest = behind.trim_start_matches(|sign: char| sign == ';' || sign.is_whitespace());
    }
    said.whole()
}

/// A value and what comes behind its `;`. In braces or quotes it ends where these do, doubled ones being part of it.
fn value(text: &str) -> Result<(String, &str), UrlError> {
    let text = text.trim_start();
    let end = match text.chars().next() {
        Some('{') => '}',
        Some(quote @ ('"' | '\'')) => quote,
        _ => {
            let (value, behind) = text.split_once(';').unwrap_or((text, ""));
            return Ok((value.trim_end().to_owned(), behind));
        }
    };
    let mut value = String::new();
    let mut signs = text.char_indices().skip(1).peekable();
    while let Some((_, sign)) = signs.next() {
        if sign != end {
            value.push(sign);
        } else if signs.next_if(|(_, next)| *next == end).is_some() {
            value.push(end);
        } else {
            let behind = signs.peek().map_or("", |(at, _)| &text[*at..]).trim_start();
            if behind.is_empty() || behind.starts_with(';') {
                return Ok((value, behind));
            }
            return Err(UrlError(format!("something stands between a {end} and the next ;: {QUOTING}")));
        }
    }
    Err(UrlError(format!("a value has no {end} at its end; {QUOTING}")))
}
