//! Addresses of Patroni's REST interface: `http://host:port`, or `https://host:port` with the options of libpq that say how that is
//! encrypted. Whoever asks needs no user.

use std::fmt;
use std::str::FromStr;

use super::encryption::{Encryption, Mode};
use super::form::{CLICKHOUSE, Form, SocketOption};
use super::parse::{decoded, host_and_port, port_number};
use super::{Encoded, Host, UrlError};

/// Where Patroni listens if nothing else is said: <https://patroni.readthedocs.io/en/latest/yaml_configuration.html#rest-api>.
const DEFAULT_PORT: u16 = 8008;
const FORMS: &str =
    "give http://HOST:8008, or https://HOST:8008, such as [\"http://pg1:8008\", \"http://pg2:8008\"]";

static OPTIONS: Form = Form {
    scheme: "http",
    default_port: DEFAULT_PORT,
    takes_several: false,
    socket: SocketOption::Path("socket"),
    encryption: CLICKHOUSE.encryption,
    options: &["sslmode", "sslrootcert", "sslcert", "sslkey"],
};

/// Where a member of a cluster is asked by HTTP how all of them stand.
#[derive(Clone, PartialEq, Eq)]
pub struct Interface {
    pub(crate) host: Host,
    pub(crate) encryption: Encryption,
}

impl Interface {
    /// The one at a path of it, as a member tells its own: `http://10.89.0.4:8008/patroni`. It is asked with this one's files.
    pub(crate) fn told(&self, text: &str) -> Option<Self> {
        let other: Self = text.parse().ok()?;
        let is_encrypted = |one: &Self| one.encryption.mode != Some(Mode::Disable);
        let same = is_encrypted(&other) == is_encrypted(self);
        Some(if same { Self { host: other.host, encryption: self.encryption.clone() } } else { other })
    }
}

impl FromStr for Interface {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let (is_encrypted, rest) = match text.split_once("://") {
            Some(("http", rest)) => (false, rest),
            Some(("https", rest)) => (true, rest),
            _ => return Err(UrlError(format!("not an address of Patroni's REST interface: {FORMS}"))),
        };
        if rest.contains('@') {
            // It may be a password, so nothing of it is quoted.
            return Err(UrlError(format!("Patroni's status needs no login: omit the user; {FORMS}")));
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (place, path) = place.split_once('/').unwrap_or((place, ""));
        if !matches!(path, "" | "patroni") {
            return Err(UrlError(format!("remove `/{path}`: {FORMS}")));
        }
        let (name, port) = host_and_port(place)?;
        if name.is_empty() {
            return Err(UrlError(format!("the address does not name a host: {FORMS}")));
        }
        let port = port.map(port_number).transpose()?.unwrap_or(DEFAULT_PORT);
        let mut options: Vec<(&str, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !is_encrypted || !OPTIONS.options.contains(&name) {
                let known = OPTIONS.options.join(", ");
                return Err(UrlError(format!("the option `{name}` is not known: give https with {known}")));
            }
            options.push((name, decoded(value, "an option")?));
        }
        let option =
            |name: &str| options.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str());
        let mut encryption = Encryption::read(&OPTIONS, option)?;
        encryption.mode = match (is_encrypted, encryption.mode) {
            (false, _) => Some(Mode::Disable),
            (true, None) => Some(Mode::VerifyFull),
            (true, Some(mode @ (Mode::Require | Mode::VerifyCa | Mode::VerifyFull))) => Some(mode),
            (true, Some(Mode::Disable | Mode::Allow | Mode::Prefer)) => {
                return Err(UrlError(
                    "https is always encrypted: use sslmode=require, verify-ca or verify-full, or use http"
                        .to_owned(),
                ));
            }
        };
        Ok(Self { host: Host::Tcp { name: name.to_owned(), port }, encryption })
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_encrypted = self.encryption.mode != Some(Mode::Disable);
        write!(f, "{}://{}", if is_encrypted { "https" } else { "http" }, self.host)?;
        let mut sign = '?';
        let options = if is_encrypted { self.encryption.options(&OPTIONS) } else { Vec::new() };
        for (name, value) in options {
            if (name, value.as_str()) != ("sslmode", "verify-full") {
                write!(f, "{sign}{name}={}", Encoded(&value).to_string().replace("%2F", "/"))?;
                sign = '&';
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_shown_as_it_is_read() {
        for (text, shown) in [
            ("http://pg1", "http://pg1:8008"),
            ("http://10.89.0.4:8009/patroni", "http://10.89.0.4:8009"),
            ("http://[::1]:8008/", "http://[::1]:8008"),
            ("https://pg1?sslrootcert=/etc/ca.pem", "https://pg1:8008?sslrootcert=/etc/ca.pem"),
            ("https://pg1:1?sslmode=require", "https://pg1:1?sslmode=require"),
        ] {
            let read: Interface = text.parse().unwrap();
            assert_eq!(read.to_string(), shown);
            assert_eq!(shown.parse(), Ok(read), "{text}");
        }
    }

    #[test]
    fn what_is_no_interface_is_told_with_the_remedy_and_no_password() {
        for (text, told) in [
            ("pg1:8008", "not an address of Patroni's REST interface: give http://HOST:8008"),
            ("http://me:secret@pg1", "omit the user"),
            ("http://", "the address does not name a host"),
            ("http://pg1:x", "the port must be a number"),
            ("http://pg1/cluster", "remove `/cluster`"),
            ("http://pg1?sslmode=require", "give https with"),
            ("https://pg1?sslmode=prefer", "https is always encrypted"),
        ] {
            let error = text.parse::<Interface>().unwrap_err().to_string();
            assert!(error.contains(told) && !error.contains("secret"), "{text}: {error}");
        }
    }
}
