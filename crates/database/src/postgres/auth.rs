//! What a server of PostgreSQL asks for at the log-in, seen before the driver sees it. What the address does not permit ends the
//! connection, so that the driver answers nothing to it: <https://www.postgresql.org/docs/current/protocol-message-formats.html>.

use std::fmt;
use std::io;

use crate::url::auth::{AUTH, Method, RequiredAuth};

/// Bytes of a message up to the kind of request: type, length, kind.
const REQUEST_BYTES: usize = 9;
/// Bytes of a message before what it says: type and length, of which the length counts itself.
const HEADER_BYTES: usize = 5;

/// Why a log-in was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotPermitted {
    words: String,
    pub(super) remedy: String,
}

impl fmt::Display for NotPermitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for NotPermitted {}

/// What is permitted on a connection.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) required: Option<RequiredAuth>,
    /// Whether nobody can listen: a socket, or a server on this machine.
    pub(super) is_local: bool,
}

/// Looks at the messages of a log-in.
#[derive(Debug)]
pub(super) struct LogIn {
    rule: Rule,
    /// Whether the next byte says whether there will be encryption.
    awaits_answer: bool,
    is_encrypted: bool,
    begun: Vec<u8>,
    /// Bytes of a message that are not looked at.
    left: usize,
    /// What was asked for, and whether the exchange was carried to its end.
    asked: Option<(Method, bool)>,
    is_over: bool,
}

impl LogIn {
    pub(super) fn new(rule: Rule, asks_for_tls: bool) -> Self {
        Self {
            rule,
            awaits_answer: asks_for_tls,
            is_encrypted: false,
            begun: Vec::with_capacity(REQUEST_BYTES),
            left: 0,
            asked: None,
            is_over: false,
        }
    }

    /// Looks at what came, before anybody else does.
    pub(super) fn see(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !self.is_over && !bytes.is_empty() {
            if std::mem::take(&mut self.awaits_answer) && matches!(bytes[0], b'S' | b'N') {
                self.is_encrypted = bytes[0] == b'S';
                bytes = &bytes[1..];
                continue;
            }
            let skipped = self.left.min(bytes.len());
            self.left -= skipped;
            bytes = &bytes[skipped..];
            if let (0, Some((&byte, after))) = (self.left, bytes.split_first()) {
                self.begun.push(byte);
                bytes = after;
                let wanted = if self.begun[0] == b'R' { REQUEST_BYTES } else { HEADER_BYTES };
                if self.begun.len() == wanted {
                    self.message().map_err(io::Error::other)?;
                }
            }
        }
        Ok(())
    }

    /// The beginning of a message is there.
    fn message(&mut self) -> Result<(), NotPermitted> {
        let begun = std::mem::take(&mut self.begun);
        let number =
            |at: usize| begun[at..at + 4].iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        let length = number(1) as usize;
        self.left = (length + 1).saturating_sub(begun.len());
        if begun[0] != b'R' {
            return Ok(());
        }
        match number(HEADER_BYTES) {
            0 => {
                self.is_over = true;
                let is_finished = self.asked.is_some_and(|(_, is_finished)| is_finished);
                if is_finished { Ok(()) } else { self.check(Method::None) }
            }
            3 => self.request(Method::Password, true),
            5 => self.request(Method::Md5, true),
            7 => self.request(Method::Gss, true),
            9 => self.request(Method::Sspi, true),
            10 => self.request(Method::ScramSha256, false),
            12 => {
                self.asked = self.asked.map(|(method, _)| (method, true));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn request(&mut self, method: Method, is_finished: bool) -> Result<(), NotPermitted> {
        self.asked = Some((method, is_finished));
        self.check(method)?;
        let is_named = self.rule.required.as_ref().is_some_and(|required| required.names(method));
        if method == Method::Password && !self.is_encrypted && !self.rule.is_local && !is_named {
            return Err(NotPermitted {
                words:
                    "the server requested the password in clear text, but the connection is not encrypted, so prony did not send it"
                        .to_owned(),
                remedy: format!(
                    "use sslmode=verify-full, configure the server to use scram-sha-256, or, if the network is trusted, use {AUTH}=password"
                ),
            });
        }
        Ok(())
    }

    fn check(&self, method: Method) -> Result<(), NotPermitted> {
        match &self.rule.required {
            Some(required) if !required.permits(method) => {
                let asks = if method == Method::None {
                    "accepts the connection without a complete log-in (none)".to_owned()
                } else {
                    format!("requests a log-in with {}", method.name())
                };
                Err(NotPermitted {
                    words: format!("the server {asks}, and {AUTH}={required} does not permit that"),
                    remedy: format!(
                        "check that this is the intended server; if so, change {AUTH}, or the method in the server's pg_hba.conf"
                    ),
                })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: u32, more: &[u8]) -> Vec<u8> {
        let length = 8 + u32::try_from(more.len()).unwrap();
        [&b"R"[..], &length.to_be_bytes(), &kind.to_be_bytes(), more].concat()
    }

    /// What comes of messages, in pieces of any size.
    fn seen(required: &str, is_local: bool, messages: &[Vec<u8>]) -> Result<(), String> {
        let all = messages.concat();
        let mut results = Vec::new();
        for size in [1, 2, 5, 9, all.len()] {
            let rule = Rule { required: RequiredAuth::read(required).unwrap(), is_local };
            let mut log_in = LogIn::new(rule, true);
            let result = all.chunks(size).try_for_each(|piece| log_in.see(piece));
            results.push(result.map_err(|error| error.to_string()));
        }
        assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
        results.remove(0)
    }

    #[test]
    fn a_request_that_is_not_permitted_is_never_handed_on() {
        let (no, yes) = (b"N".to_vec(), b"S".to_vec());
        let notice = [&b"N"[..], &[0, 0, 0, 6], b"ab"].concat();
        let (clear, md5, ok) = (request(3, &[]), request(5, b"salt"), request(0, &[]));
        let (sasl, last) = (request(10, b"SCRAM-SHA-256\0\0"), request(12, b"v=x"));
        for (required, is_local, messages, told) in [
            ("", false, vec![no.clone(), clear.clone()], Some("password in clear")),
            ("", false, vec![no.clone(), notice.clone(), clear.clone()], Some("password in clear")),
            ("", false, vec![yes.clone(), clear.clone(), ok.clone()], None),
            ("", true, vec![no.clone(), clear.clone(), ok.clone()], None),
            ("password", false, vec![no.clone(), clear.clone(), ok.clone()], None),
            ("!md5", false, vec![no.clone(), clear.clone()], Some("password in clear")),
            ("", false, vec![no.clone(), md5.clone(), ok.clone()], None),
            ("", false, vec![no.clone(), ok.clone()], None),
            ("scram-sha-256", true, vec![no.clone(), md5.clone()], Some("requests a log-in with md5")),
            ("scram-sha-256", true, vec![no.clone(), clear], Some("requests a log-in with password")),
            ("scram-sha-256", true, vec![no.clone(), ok.clone()], Some("without a complete log-in")),
            (
                "scram-sha-256",
                true,
                vec![no.clone(), sasl.clone(), ok.clone()],
                Some("without a complete log-in"),
            ),
            ("scram-sha-256", true, vec![no.clone(), sasl.clone(), last.clone(), ok.clone()], None),
            ("!none", true, vec![no.clone(), ok.clone()], Some("without a complete log-in")),
            ("!none", true, vec![no.clone(), sasl, last, ok.clone()], None),
            ("none", true, vec![no.clone(), md5], Some("requests a log-in with md5")),
            ("none", true, vec![no, ok], None),
        ] {
            let result = seen(required, is_local, &messages);
            match told {
                Some(told) => assert!(
                    result.as_ref().is_err_and(|error| error.contains(told)),
                    "{required}: {result:?}"
                ),
                None => assert_eq!(result, Ok(()), "{required}"),
            }
        }
    }
}
