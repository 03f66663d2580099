//! Addresses of SQL Server: `sqlserver://[user[:password]@]host[:port][/database][?options]`, or a connection string as ADO.NET
//! and ODBC have it. What both say goes through the same keywords (`keyword`), so that an option has one meaning.
//!
//! What is shown of an address is always the first form, without password; a token is only ever named by its file.

mod keyword;
mod string;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::foreign;
use super::parse::{ENCODING, decoded, host_and_port, host_name};
use super::{Encoded, UrlError, is_loopback};
use crate::silence::Silence;
use keyword::{Keyword, keyword};

pub(super) use string::{connection_string, is_connection_string};

/// Where SQL Server listens if nothing else is said.
pub(crate) const DEFAULT_PORT: u16 = 1433;

/// Where a server is, and how to get in.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SqlServerAddress {
    /// Name or number.
    pub(crate) host: String,
    /// None where the browser service is asked for the one of the instance, or the usual one is meant.
    pub(crate) port: Option<u16>,
    /// Name of an instance whose port the browser service tells.
    pub(crate) instance: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) database: Option<String>,
    pub(crate) encrypt: Option<Encrypt>,
    /// Whether any certificate is good enough.
    pub(crate) trust_server_certificate: bool,
    /// The name that the certificate is to have, where it is not the host's.
    pub(crate) host_name_in_certificate: Option<String>,
    /// File of certificates of authorities that are trusted in place of the system's.
    pub(crate) authorities: Option<PathBuf>,
    /// File with the access token that is the login.
    pub(crate) access_token_file: Option<PathBuf>,
    /// File whose first line is the password; `-` if it is asked for at the terminal.
    pub(crate) password_file: Option<PathBuf>,
    /// Whether all addresses of the host are tried at once, as behind the listener of an availability group.
    pub(crate) multi_subnet_failover: bool,
    /// Whether the session only reads, so that a listener may lead it to a secondary replica.
    pub(crate) is_read_only: bool,
    pub(crate) application_name: Option<String>,
    /// How long the server may take to let somebody in.
    pub(crate) connect_timeout_s: Option<u16>,
    /// Size of the packets that are asked for, in bytes.
    pub(crate) packet_bytes: Option<u16>,
    /// How long it may say nothing.
    pub(crate) silence: Silence,
}

/// How a connection is encrypted, in the words of Microsoft's drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Encrypt {
    /// The login alone, where the server can; everything if the server wants that.
    Off,
    /// Everything, begun within the protocol.
    On,
    /// Everything, begun before the first word of the protocol (TDS 8).
    Strict,
}

impl Encrypt {
    #[cfg(test)]
    const ALL: [Self; 3] = [Self::Off, Self::On, Self::Strict];

    /// As an address spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Strict => "strict",
        }
    }

    /// As the drivers of Microsoft spell it, of whatever age.
    fn read(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "off" | "no" | "false" | "optional" | "0" => Some(Self::Off),
            "on" | "yes" | "true" | "mandatory" | "1" => Some(Self::On),
            "strict" => Some(Self::Strict),
            _ => None,
        }
    }
}

/// Whether a word is an option of an address of the first form.
pub(super) fn is_option(name: &str) -> bool {
    keyword(name)
        .is_some_and(|keyword| !matches!(keyword, Keyword::Server | Keyword::Ignored | Keyword::Password))
}

impl SqlServerAddress {
    /// As the address says; where it says nothing, a connection that leaves this machine is encrypted and checked.
    pub(crate) fn encrypt(&self) -> Encrypt {
        let default = if self.is_local() { Encrypt::Off } else { Encrypt::On };
        self.encrypt.unwrap_or(default)
    }

    pub(crate) fn is_local(&self) -> bool {
        is_loopback(&self.host)
    }

    /// How long the server may take to let somebody in.
    pub(crate) fn letting_in(&self) -> Silence {
        // Of what it may say nothing for, half is for the connection.
        let said = self.connect_timeout_s.map(|seconds| Silence(Duration::from_secs(2 * u64::from(seconds))));
        said.unwrap_or(self.silence)
    }

    /// Whether both are of one server, whoever logs in.
    pub(super) fn is_same_place(&self, other: &Self) -> bool {
        let place = |address: &Self| {
            let instance = address.instance.as_deref().map(str::to_ascii_lowercase);
            let port = address.port.or(instance.is_none().then_some(DEFAULT_PORT));
            (address.host.to_ascii_lowercase(), port, instance.filter(|_| port.is_none()))
        };
        place(self) == place(other)
    }

    /// `host:port` or `host\instance`.
    pub(super) fn place(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (&self.instance, self.port) {
            (Some(instance), None) => format!("{host}\\{instance}"),
            (_, port) => format!("{host}:{}", port.unwrap_or(DEFAULT_PORT)),
        }
    }

    /// Reads what follows `sqlserver:`.
    pub(super) fn read(rest: &str) -> Result<Self, UrlError> {
        let Some(rest) = rest.strip_prefix("//") else {
            return Err(UrlError(
                "`sqlserver:` needs two slashes: give sqlserver://host/database".to_owned(),
            ));
        };
        let whole = rest;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        if database.contains('@') || query.contains('@') {
            // Most likely the end of a password that has a / or a ? in it, so nothing of it is quoted.
            return Err(UrlError(format!("there is an @ after the host; {ENCODING}")));
        }
        let (login, place) = match authority.rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, authority),
        };
        let mut said = Said::default();
        if let Some(login) = login {
            let (user, password) =
                login.split_once(':').map_or((login, None), |(user, word)| (user, Some(word)));
            said.take(Keyword::User, &decoded(user, "the user")?)?;
            if let Some(password) = password {
                said.take(Keyword::Password, &decoded(password, "the password")?)?;
            }
        }
        let (host, port) = host_and_port(place)?;
        said.address.host = decoded(host, "the host")?;
        host_name(&said.address.host)?;
        if let Some(port) = port {
            said.take(Keyword::Port, port)?;
        }
        if !database.is_empty() {
            said.take(Keyword::Database, &decoded(database, "the database")?)?;
        }
        let mut unknown = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match said.option(name, &decoded(value, "an option")?)? {
                true => {}
                false => unknown.push(name),
            }
        }
        if !unknown.is_empty() {
            let known = keyword::OPTIONS.map(|(name, _)| name);
            return Err(foreign::unknown_options("sqlserver", whole, &unknown, &known));
        }
        said.whole()
    }
}

/// An address that is being read.
#[derive(Default)]
struct Said {
    address: SqlServerAddress,
    given: Vec<Keyword>,
}

impl Said {
    /// An option of an address of the first form; whether it is one.
    fn option(&mut self, name: &str, value: &str) -> Result<bool, UrlError> {
        match keyword(name) {
            Some(Keyword::Password) => {
                Err(UrlError("a password stands after the user: user:password@host".to_owned()))
            }
            Some(Keyword::Server | Keyword::Ignored) | None => Ok(false),
            Some(known) => self.take(known, value).map(|()| true),
        }
    }

    /// What a keyword says.
    fn take(&mut self, keyword: Keyword, value: &str) -> Result<(), UrlError> {
        if keyword != Keyword::Ignored {
            if self.given.contains(&keyword) {
                return Err(UrlError(format!("`{}` is given twice", keyword.name())));
            }
            self.given.push(keyword);
        }
        let address = &mut self.address;
        let text = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match keyword {
            Keyword::Server => return self.server(value),
            Keyword::Port => address.port = Some(number(keyword, value, 1..=u16::MAX)?),
            Keyword::Instance => address.instance = text(),
            Keyword::Database => address.database = text(),
            Keyword::User => address.user = text(),
            Keyword::Password => address.password = Some(value.to_owned()),
            Keyword::Encrypt => {
                let wrong = || UrlError(format!("unknown encryption `{value}`: use off, on or strict"));
                address.encrypt = Some(Encrypt::read(value).ok_or_else(wrong)?);
            }
            Keyword::TrustServerCertificate => address.trust_server_certificate = truth(keyword, value)?,
            Keyword::HostNameInCertificate => address.host_name_in_certificate = text(),
            Keyword::Authorities => address.authorities = text().map(PathBuf::from),
            Keyword::AccessTokenFile => address.access_token_file = text().map(PathBuf::from),
            Keyword::PasswordFile => address.password_file = text().map(PathBuf::from),
            Keyword::MultiSubnetFailover => address.multi_subnet_failover = truth(keyword, value)?,
            Keyword::ApplicationIntent => {
                address.is_read_only = match value.to_ascii_lowercase().as_str() {
                    "readonly" => true,
                    "readwrite" => false,
                    _ => return Err(wrong(keyword, "ReadOnly or ReadWrite")),
                };
            }
            Keyword::ApplicationName => address.application_name = text(),
            Keyword::ConnectTimeout => address.connect_timeout_s = Some(number(keyword, value, 1..=3600)?),
            Keyword::PacketSize => address.packet_bytes = Some(number(keyword, value, 512..=32_767)?),
            Keyword::Integrated => {
                // `SSPI` says yes too.
                if value.eq_ignore_ascii_case("sspi") || truth(keyword, value)? {
                    return Err(UrlError(
                        "a login of Windows is not spoken here: give user and password of a login of the server, or an \
                         access token with access_token_file=FILE"
                            .to_owned(),
                    ));
                }
            }
            Keyword::Ignored => {}
        }
        Ok(())
    }

    /// `tcp:host\instance,port`, as the drivers take it.
    fn server(&mut self, value: &str) -> Result<(), UrlError> {
        let begin = value.get(..4).unwrap_or_default().to_ascii_lowercase();
        let rest = if begin == "tcp:" { &value[4..] } else { value };
        let is_other =
            ["np:", "lpc:", "admin:"].iter().any(|other| value.to_ascii_lowercase().starts_with(other));
        if is_other || rest.starts_with("\\\\") || rest.to_ascii_lowercase().starts_with("(localdb)") {
            return Err(UrlError(format!(
                "`{value}` is not a TCP address, and prony supports only TCP: use host,port"
            )));
        }
        let (place, port) = match rest.rsplit_once(',') {
            Some((place, port)) => (place, Some(port.trim())),
            None => (rest, None),
        };
        let (host, instance) = match place.split_once('\\') {
            Some((host, instance)) => (host, Some(instance.trim())),
            None => (place, None),
        };
        let host = host.trim().trim_start_matches('[').trim_end_matches(']');
        self.address.host = if matches!(host, "." | "(local)") { String::new() } else { host.to_owned() };
        if let Some(instance) = instance.filter(|instance| !instance.is_empty()) {
            self.take(Keyword::Instance, instance)?;
        }
        port.map_or(Ok(()), |port| self.take(Keyword::Port, port))
    }

    /// The address, if what it says fits together.
    fn whole(mut self) -> Result<SqlServerAddress, UrlError> {
        if self.address.host.is_empty() {
            "localhost".clone_into(&mut self.address.host);
        }
        let address = self.address;
        let has_password = address.password.is_some() || address.password_file.is_some();
        if address.access_token_file.is_some() && (address.user.is_some() || has_password) {
            return Err(UrlError("an access token replaces user and password: omit both".to_owned()));
        }
        if address.encrypt == Some(Encrypt::Strict) && address.trust_server_certificate {
            return Err(UrlError(
                "encrypt=strict checks the server's certificate: omit trust_server_certificate. Give the authority as \
                sslrootcert=FILE, or the server's name as host_name_in_certificate=NAME"
                    .to_owned(),
            ));
        }
        Ok(address)
    }
}

fn wrong(keyword: Keyword, wanted: &str) -> UrlError {
    UrlError(format!("`{}` wants {wanted}", keyword.name()))
}

fn number(keyword: Keyword, value: &str, range: std::ops::RangeInclusive<u16>) -> Result<u16, UrlError> {
    let number = value.parse().ok().filter(|number| range.contains(number));
    let wanted = format!("a number from {} to {}; {ENCODING}", range.start(), range.end());
    number.ok_or_else(|| wrong(keyword, &wanted))
}

fn truth(keyword: Keyword, value: &str) -> Result<bool, UrlError> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(wrong(keyword, "yes or no")),
    }
}

impl fmt::Display for SqlServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sqlserver://")?;
        if let Some(user) = &self.user {
            write!(f, "{}@", Encoded(user))?;
        }
        if self.host.contains(':') {
            write!(f, "[{}]", self.host)?
        } else {
            write!(f, "{}", Encoded(&self.host))?
        }
        if let Some(port) = self.port.filter(|port| *port != DEFAULT_PORT || self.instance.is_some()) {
            write!(f, ":{port}")?;
        }
        if let Some(database) = &self.database {
            write!(f, "/{}", Encoded(database))?;
        }
        let mut sign = '?';
        for (name, option) in keyword::OPTIONS {
            if let Some(value) = self.shown(option) {
                write!(f, "{sign}{name}={}", Encoded(&value))?;
                sign = '&';
            }
        }
        Ok(())
    }
}

impl SqlServerAddress {
    /// What is shown of an option behind the `?`; none if it is not given.
    fn shown(&self, option: Keyword) -> Option<String> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let yes = |is: bool| is.then(|| "true".to_owned());
        match option {
            Keyword::Encrypt => self.encrypt.map(|encrypt| encrypt.name().to_owned()),
            Keyword::TrustServerCertificate => yes(self.trust_server_certificate),
            Keyword::HostNameInCertificate => self.host_name_in_certificate.clone(),
            Keyword::Authorities => path(&self.authorities),
            Keyword::AccessTokenFile => path(&self.access_token_file),
            Keyword::PasswordFile => path(&self.password_file),
            Keyword::Instance => self.instance.clone(),
            Keyword::MultiSubnetFailover => yes(self.multi_subnet_failover),
            Keyword::ApplicationIntent => self.is_read_only.then(|| "ReadOnly".to_owned()),
            Keyword::ApplicationName => self.application_name.clone(),
            Keyword::ConnectTimeout => self.connect_timeout_s.map(|number| number.to_string()),
            Keyword::PacketSize => self.packet_bytes.map(|number| number.to_string()),
            Keyword::Server
            | Keyword::Port
            | Keyword::Database
            | Keyword::User
            | Keyword::Password
            | Keyword::Integrated
            | Keyword::Ignored => None,
        }
    }
}
