//! How connections of PostgreSQL and MySQL are encrypted, as addresses say it: in the words of libpq and of MySQL's client, of
//! which each is understood for both.
//!
//! - <https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION>
//! - <https://dev.mysql.com/doc/refman/8.4/en/connection-options.html#option_general_ssl-mode>

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::UrlError;
use super::auth::{AUTH, RequiredAuth};
use super::form::{Form, Names};
use crate::tls::{Oldest, Roots};

/// What an address says; what it does not say is as the clients of the engine have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Encryption {
    pub(crate) mode: Option<Mode>,
    pub(crate) roots: Option<Roots>,
    /// Certificate of the client.
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    pub(crate) oldest: Option<Oldest>,
    pub(crate) binding: Option<Binding>,
    /// Which ways to log in are permitted (PostgreSQL).
    pub(crate) auth: Option<RequiredAuth>,
    /// Where the key is from with which a password is encrypted that leaves without TLS (MySQL).
    pub(crate) server_key: Option<ServerKey>,
}

/// Where the public key of a server is from: <https://dev.mysql.com/doc/refman/8.4/en/caching-sha2-pluggable-authentication.html>.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServerKey {
    /// The server is asked for it, whoever that is.
    Asked,
    /// A file in PEM.
    File(PathBuf),
}

/// Whether a connection is encrypted, and what is checked of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// Not at all.
    Disable,
    /// If the server wants nothing else.
    Allow,
    /// If the server can.
    Prefer,
    /// TLS with whoever answers.
    Require,
    /// TLS with a server whose certificate an authority signed that is trusted.
    VerifyCa,
    /// TLS with a server whose certificate is for its name besides.
    VerifyFull,
}

impl Mode {
    pub(crate) const ALL: [Self; 6] =
        [Self::Disable, Self::Allow, Self::Prefer, Self::Require, Self::VerifyCa, Self::VerifyFull];

    /// In the words of libpq, and of MySQL's client, which has no `allow`.
    fn names(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Disable => ("disable", Some("DISABLED")),
            Self::Allow => ("allow", None),
            Self::Prefer => ("prefer", Some("PREFERRED")),
            Self::Require => ("require", Some("REQUIRED")),
            Self::VerifyCa => ("verify-ca", Some("VERIFY_CA")),
            Self::VerifyFull => ("verify-full", Some("VERIFY_IDENTITY")),
        }
    }

    /// As an address of an engine spells it.
    pub(crate) fn name(self, words: Words) -> &'static str {
        let (libpq, mysql) = self.names();
        match words {
            Words::Libpq => libpq,
            Words::Mysql => mysql.unwrap_or(libpq),
        }
    }

    pub(crate) fn read(text: &str, words: Words) -> Result<Self, UrlError> {
        let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
        let is_it = |mode: &Self| {
            let (libpq, mysql) = mode.names();
            let is_known = words == Words::Libpq || mysql.is_some();
            is_known && [Some(libpq), mysql].into_iter().flatten().any(|name| plain(name) == plain(text))
        };
        Self::ALL.into_iter().find(is_it).ok_or_else(|| {
            let known = match words {
                Words::Libpq => "disable, allow, prefer, require, verify-ca or verify-full",
                Words::Mysql => "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY",
            };
            UrlError(format!("unknown encryption `{text}`: use {known}"))
        })
    }
}

/// Whose words an address is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    Libpq,
    Mysql,
}

/// Whether a log-in is bound to the encrypted connection, so that nobody between can pass it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Binding {
    Disable,
    Prefer,
    Require,
}

impl Binding {
    const ALL: [Self; 3] = [Self::Disable, Self::Prefer, Self::Require];

    fn name(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Prefer => "prefer",
            Self::Require => "require",
        }
    }
}

pub(super) const OLDEST: &str = "ssl_min_protocol_version";
pub(super) const BINDING: &str = "channel_binding";
/// The options of a server's public key.
pub(crate) const FETCH_KEY: &str = "get-server-public-key";
pub(crate) const SERVER_KEY: &str = "server-public-key-path";

impl Encryption {
    /// Of the options of an address.
    pub(super) fn read<'a>(form: &Form, option: impl Fn(&str) -> Option<&'a str>) -> Result<Self, UrlError> {
        let Names { words, mode, roots, certificate, key } = form.encryption;
        let file = |name: &str| match option(name) {
            Some("") => Err(UrlError(format!("{name} names no file"))),
            path => Ok(path.map(PathBuf::from)),
        };
        let given = option("sslmode").or_else(|| option("ssl-mode"));
        let encryption = Self {
            mode: given.map(|text| Mode::read(text, words)).transpose()?,
            roots: file(roots)?.map(|path| match path.to_str() {
                Some("system") => Roots::System,
                _ => Roots::File(path),
            }),
            certificate: file(certificate)?,
            key: file(key)?,
            oldest: option(OLDEST).map(read_oldest).transpose()?,
            binding: option(BINDING).map(read_binding).transpose()?,
            auth: option(AUTH).map(RequiredAuth::read).transpose()?.flatten(),
            server_key: read_server_key(option(SERVER_KEY), option(FETCH_KEY))?,
        };
        if encryption.roots == Some(Roots::System)
            && encryption.mode.is_some_and(|mode| mode != Mode::VerifyFull)
        {
            return Err(UrlError(format!(
                "{roots}=system trusts all certificates from any public authority, so the name must be checked too: use {mode}={}",
                Mode::VerifyFull.name(words)
            )));
        }
        if encryption.certificate.is_some() != encryption.key.is_some() {
            return Err(UrlError(format!(
                "a client certificate needs its key: give both {certificate} and {key}"
            )));
        }
        Ok(encryption)
    }

    /// As the address says; where it says nothing, as the clients of the engine do it.
    pub(crate) fn mode(&self, words: Words) -> Mode {
        self.mode.unwrap_or(match (&self.roots, words) {
            (Some(Roots::System), _) => Mode::VerifyFull,
            (Some(Roots::File(_)), Words::Mysql) => Mode::VerifyCa,
            (Some(Roots::File(_)), Words::Libpq) | (None, _) => Mode::Prefer,
        })
    }

    /// The options of an address that say this.
    pub(super) fn options(&self, form: &Form) -> Vec<(&'static str, String)> {
        let Names { words, mode, roots, certificate, key } = form.encryption;
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        let options = [
            (mode, self.mode.map(|mode| mode.name(words).to_owned())),
            (
                roots,
                self.roots.as_ref().map(|roots| match roots {
                    Roots::System => "system".to_owned(),
                    Roots::File(file) => path(file),
                }),
            ),
            (certificate, self.certificate.as_ref().map(path)),
            (key, self.key.as_ref().map(path)),
            (OLDEST, self.oldest.map(|oldest| oldest.name().to_owned())),
            (BINDING, self.binding.map(|binding| binding.name().to_owned())),
            (AUTH, self.auth.as_ref().map(ToString::to_string)),
            (
                SERVER_KEY,
                self.server_key.as_ref().and_then(|key| match key {
                    ServerKey::File(file) => Some(path(file)),
                    ServerKey::Asked => None,
                }),
            ),
            (FETCH_KEY, (self.server_key == Some(ServerKey::Asked)).then(|| "true".to_owned())),
        ];
        options.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Versions before 1.2 are the oldest that libraries would speak, and these here never do.
pub(crate) fn read_oldest(text: &str) -> Result<Oldest, UrlError> {
    match text.to_ascii_lowercase().as_str() {
        "tlsv1" | "tlsv1.1" | "tlsv1.2" => Ok(Oldest::Tls12),
        "tlsv1.3" => Ok(Oldest::Tls13),
        _ => Err(UrlError(format!("unknown TLS version `{text}`: use TLSv1.2 or TLSv1.3"))),
    }
}

/// A file wins over asking, as in MySQL's client.
pub(crate) fn read_server_key(
    file: Option<&str>,
    fetch: Option<&str>,
) -> Result<Option<ServerKey>, UrlError> {
    let is_asked = match fetch.map(str::to_ascii_lowercase).as_deref() {
        None | Some("0" | "false" | "off" | "no") => false,
        Some("1" | "true" | "on" | "yes") => true,
        Some(_) => return Err(UrlError(format!("{FETCH_KEY} is true or false"))),
    };
    match file {
        Some("") => Err(UrlError(format!("{SERVER_KEY} names no file"))),
        Some(file) => Ok(Some(ServerKey::File(file.into()))),
        None => Ok(is_asked.then_some(ServerKey::Asked)),
    }
}

pub(crate) fn read_binding(text: &str) -> Result<Binding, UrlError> {
    let known = Binding::ALL.into_iter().find(|one| one.name() == text);
    known.ok_or_else(|| UrlError(format!("{BINDING} must be disable, prefer or require, not `{text}`")))
}
