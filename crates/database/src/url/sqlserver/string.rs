//! Connection strings as ADO.NET and ODBC have them: `Server=tcp:host,1433;Database=plant;User Id=ann;Password={se;cret};…`.
//!
//! No message quotes a value, and none what follows a password: it could be the rest of one.

use super::keyword::{Keyword, keyword};
use super::{Said, SqlServerAddress};
use crate::url::UrlError;

/// Whose reader a string is for: both have other marks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// ADO.NET: values in quotes; of a key that is given twice the last counts.
    /// <https://learn.microsoft.com/dotnet/api/system.data.sqlclient.sqlconnection.connectionstring>
    SqlClient,
    /// Values in braces; of a key that is given twice the first counts.
    /// <https://learn.microsoft.com/sql/odbc/reference/syntax/sqldriverconnect-function>
    Odbc,
}

impl Reader {
    fn quoting(self) -> &'static str {
        match self {
            Self::SqlClient => {
                "put a value with a ; or a leading quote in quotes, and write each such quote inside it twice"
            }
            Self::Odbc => "put a value with a ; in braces, and write each } inside it twice",
        }
    }

    /// By the keys that only one of both has.
    fn of(text: &str) -> Result<Self, UrlError> {
        let names =
            text.split(';').filter_map(|pair| Some(pair.split_once('=')?.0.trim().to_ascii_lowercase()));
        let names: Vec<String> = names.collect();
        let has = |keys: &[&str]| names.iter().any(|name| keys.contains(&name.as_str()));
        if has(&["driver", "dsn", "filedsn"]) {
            return Ok(Self::Odbc);
        }
        let is_odbc = has(&["uid", "pwd", "trusted_connection", "wsid", "app"]);
        let is_client =
            has(&["user id", "user", "password", "data source", "initial catalog", "integrated security"]);
        let has_braces = text
            .split(';')
            .filter_map(|pair| Some(pair.split_once('=')?.1))
            .any(|value| value.trim_start().starts_with('{'));
        if is_odbc && is_client && has_braces {
            return Err(UrlError(
                "ODBC and SqlClient read braces differently, but the connection string has keys of both: use UID= and PWD=, or User ID= and Password="
                    .to_owned(),
            ));
        }
        Ok(if is_odbc && !is_client { Self::Odbc } else { Self::SqlClient })
    }
}

/// Whether a text begins like one: with a keyword that is known, and no scheme before it.
pub(in crate::url) fn is_connection_string(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| !name.contains(':') && keyword(name.trim()).is_some())
}

/// Reads one.
pub(in crate::url) fn connection_string(text: &str) -> Result<SqlServerAddress, UrlError> {
    let reader = Reader::of(text)?;
    let mut pairs: Vec<(Keyword, String)> = Vec::new();
    let mut rest = text.trim_start();
    let mut is_after_password = false;
    while !rest.is_empty() {
        let Some((name, after)) = rest.split_once('=') else {
            let what = if is_after_password { "what follows the password" } else { "its end" };
            let quoting = reader.quoting();
            return Err(UrlError(format!("the connection string has no = in {what}; {quoting}")));
        };
        let name = name.trim();
        let Some(known) = keyword(name) else {
            let what =
                if is_after_password { "what follows the password".to_owned() } else { format!("`{name}`") };
            let quoting = reader.quoting();
            return Err(UrlError(format!("unknown keyword {what} in the connection string; {quoting}")));
        };
        let (value, behind) = value(after, reader)?;
        let earlier = pairs.iter().position(|(keyword, _)| *keyword == known && known != Keyword::Ignored);
        match (earlier, reader) {
            (None, _) => pairs.push((known, value)),
            (Some(earlier), Reader::SqlClient) => pairs[earlier].1 = value,
            (Some(_), Reader::Odbc) => {}
        }
        is_after_password |= known == Keyword::Password;
        rest = behind.trim_start_matches(|sign: char| sign == ';' || sign.is_whitespace());
    }
    let mut said = Said::default();
    for (keyword, value) in &pairs {
        said.take(*keyword, value)?;
    }
    said.whole()
}

/// A value and what comes behind its `;`. Within marks it ends where these do, doubled ones being part of it.
fn value(text: &str, reader: Reader) -> Result<(String, &str), UrlError> {
    let text = text.trim_start();
    let end = match (text.chars().next(), reader) {
        (Some('{'), Reader::Odbc) => '}',
        (Some(quote @ ('"' | '\'')), Reader::SqlClient) => quote,
        _ => {
            let (value, behind) = text.split_once(';').unwrap_or((text, ""));
            return Ok((value.trim_end().to_owned(), behind));
        }
    };
    let quoting = reader.quoting();
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
            return Err(UrlError(format!("something stands between a {end} and the next ;: {quoting}")));
        }
    }
    Err(UrlError(format!("a value has no {end} at its end; {quoting}")))
}
