//! How a connection to a server was made: what was agreed upon with it, whatever was asked for.

use serde::{Deserialize, Serialize};

/// A connection to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Whether it leaves this machine, as far as its address tells.
    pub is_remote: bool,
    /// How it is encrypted; none if it is not.
    pub encryption: Option<LinkEncryption>,
    /// Why it is not encrypted, or what else is to be known of how it came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// What of the login and its encryption came from elsewhere than the address, such as `password from ~/.pgpass`, and files
    /// that were not read, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<String>,
}

/// How a connection is encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEncryption {
    /// Protocol, such as `TLSv1.3`.
    pub protocol: String,
    /// Cipher suite as the engine's tools name it, such as `TLS_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// What was checked of the server's certificate.
    pub verified: Checked,
}

/// What was checked of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checked {
    /// Nothing: it may be anybody.
    Nothing,
    /// That an authority that is trusted signed it.
    Authority,
    /// That, and that it is for the server's name.
    AuthorityAndName,
}

impl Link {
    /// One line for people.
    #[must_use]
    pub fn words(&self) -> String {
        let words = match &self.encryption {
            Some(encryption) => {
                let verified = match encryption.verified {
                    Checked::Nothing => "the server's certificate was not verified",
                    Checked::Authority => {
                        "the server's certificate was verified by its authority, not for its name"
                    }
                    Checked::AuthorityAndName => "the server's certificate was verified",
                };
                format!("{}, {}; {verified}", encryption.protocol, encryption.cipher)
            }
            None => "not encrypted".to_owned(),
        };
        let words = match &self.remark {
            Some(remark) => format!("{words} ({remark})"),
            None => words,
        };
        self.taken.iter().fold(words, |words, taken| format!("{words}; {taken}"))
    }

    /// What somebody on the way to the server could do, where it is on another machine: read all, or be the server.
    #[must_use]
    pub fn exposure(&self) -> Option<&'static str> {
        if !self.is_remote {
            return None;
        }
        match &self.encryption {
            None => Some("can be read and changed on its way"),
            Some(LinkEncryption { verified: Checked::Nothing, .. }) => {
                Some("is encrypted, but who answered was not verified")
            }
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(is_remote: bool, verified: Option<Checked>) -> Link {
        let encryption = |verified| LinkEncryption {
            protocol: "TLSv1.3".to_owned(),
            cipher: "TLS_AES_256_GCM_SHA384".to_owned(),
            verified,
        };
        Link { is_remote, encryption: verified.map(encryption), remark: None, taken: Vec::new() }
    }

    #[test]
    fn only_what_leaves_the_machine_unencrypted_or_unverified_is_exposed() {
        for (is_remote, verified, exposed) in [
            (true, None, true),
            (true, Some(Checked::Nothing), true),
            (true, Some(Checked::Authority), false),
            (true, Some(Checked::AuthorityAndName), false),
            (false, None, false),
            (false, Some(Checked::Nothing), false),
        ] {
            let link = link(is_remote, verified);
            assert_eq!(link.exposure().is_some(), exposed, "{link:?}");
        }
    }

    #[test]
    fn a_line_tells_what_was_agreed_upon_and_why_it_is_not_more() {
        let plain = Link { remark: Some("the server has no TLS".to_owned()), ..link(true, None) };
        assert_eq!(plain.words(), "not encrypted (the server has no TLS)");
        let plain = Link { taken: vec!["user from PGUSER".to_owned()], ..plain };
        assert_eq!(plain.words(), "not encrypted (the server has no TLS); user from PGUSER");
        assert_eq!(
            link(true, Some(Checked::AuthorityAndName)).words(),
            "TLSv1.3, TLS_AES_256_GCM_SHA384; the server's certificate was verified"
        );
        let stored = serde_json::to_string(&plain).unwrap();
        assert_eq!(serde_json::from_str::<Link>(&stored).unwrap(), plain);
    }
}
