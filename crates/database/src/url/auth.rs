//! Which ways to log in an address of PostgreSQL permits, in the words of libpq:
//! <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-REQUIRE-AUTH>.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::UrlError;

/// The option of an address.
pub(crate) const AUTH: &str = "require_auth";

/// A way to log in that a server asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Method {
    /// The password as it is.
    Password,
    Md5,
    Gss,
    Sspi,
    ScramSha256,
    Oauth,
    /// The server asks for nothing.
    None,
}

impl Method {
    const ALL: [Self; 7] =
        [Self::Password, Self::Md5, Self::Gss, Self::Sspi, Self::ScramSha256, Self::Oauth, Self::None];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Md5 => "md5",
            Self::Gss => "gss",
            Self::Sspi => "sspi",
            Self::ScramSha256 => "scram-sha-256",
            Self::Oauth => "oauth",
            Self::None => "none",
        }
    }
}

/// The ways to log in that are permitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RequiredAuth {
    methods: Vec<Method>,
    /// Whether the methods are the ones that are forbidden.
    is_negated: bool,
}

impl RequiredAuth {
    /// Reads a list such as `scram-sha-256,md5` or `!password,!none`; none for an empty text, which permits everything.
    pub(crate) fn read(text: &str) -> Result<Option<Self>, UrlError> {
        let mut methods = Vec::new();
        let mut is_negated = None;
        for word in text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
            let (negates, name) = word.strip_prefix('!').map_or((false, word), |name| (true, name));
            let Some(method) = Method::ALL.into_iter().find(|method| method.name() == name) else {
                let known = Method::ALL.map(Method::name).join(", ");
                return Err(UrlError(format!(
                    "{AUTH} contains an unknown method: use {known}, or put ! before each of them"
                )));
            };
            if *is_negated.get_or_insert(negates) != negates {
                return Err(UrlError(format!(
                    "{AUTH} mixes methods with and without !: put ! before all of them, or before none"
                )));
            }
            if methods.contains(&method) {
                return Err(UrlError(format!("{AUTH} has {} twice: give it once", method.name())));
            }
            methods.push(method);
        }
        Ok(is_negated.map(|is_negated| Self { methods, is_negated }))
    }

    pub(crate) fn permits(&self, method: Method) -> bool {
        self.methods.contains(&method) != self.is_negated
    }

    /// Whether a method is named as a permitted one, and not only left over.
    pub(crate) fn names(&self, method: Method) -> bool {
        !self.is_negated && self.methods.contains(&method)
    }
}

impl fmt::Display for RequiredAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, method) in self.methods.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let not = if self.is_negated { "!" } else { "" };
            write!(f, "{comma}{not}{}", method.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_read_as_by_libpq() {
        let read = |text: &str| RequiredAuth::read(text).unwrap().unwrap();
        assert_eq!(RequiredAuth::read("").unwrap(), None);
        let positive = read("scram-sha-256, md5");
        assert!(positive.permits(Method::ScramSha256) && positive.permits(Method::Md5));
        assert!(!positive.permits(Method::Password) && !positive.permits(Method::None));
        let negative = read("!password,!none");
        assert!(!negative.permits(Method::Password) && !negative.permits(Method::None));
        assert!(negative.permits(Method::Md5) && !negative.names(Method::Md5));
        assert_eq!(
            (positive.to_string(), negative.to_string()),
            ("scram-sha-256,md5".into(), "!password,!none".into())
        );
        for (text, part) in [
            ("scram", "unknown method: use password, md5"),
            ("md5,!password", "mixes methods"),
            ("md5,md5", "md5 twice"),
            ("md5,", "unknown method"),
        ] {
            let error = RequiredAuth::read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
