//! Why there is no encryption, in words, with what to do about it.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use rustls::{AlertDescription, CertificateError, Error};

/// What is wrong with a certificate, a file or a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) words: String,
    /// What to do, where it is not the same for whatever is wrong with a certificate.
    pub(crate) remedy: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl StdError for Fault {}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        Self::other(fault)
    }
}

impl Fault {
    pub(crate) fn new(words: String, remedy: &str) -> Self {
        Self { words, remedy: (!remedy.is_empty()).then(|| remedy.to_owned()) }
    }

    /// A certificate that is to be trusted by another file, another name or not at all.
    fn of_trust(words: String) -> Self {
        Self { words, remedy: None }
    }

    pub(super) fn of_self_signed(trusted: &str) -> Self {
        Self::of_trust(format!("the server's certificate is self-signed, and is not among {trusted}"))
    }

    pub(super) fn of_unknown(trusted: &str) -> Self {
        Self::of_trust(format!(
            "the server's certificate is signed by an authority that is not among {trusted}"
        ))
    }

    pub(super) fn of_name(host: &str, names: &[String]) -> Self {
        let names = match names {
            [] => "no name at all".to_owned(),
            names => names.join(", "),
        };
        let remedy =
            "connect with a name from the certificate, or install a certificate for this name on the server";
        let words = format!("the server's certificate is for {names}, and not for {host}");
        Self::new(words, remedy)
    }

    /// What is in an error of a connection, if it is one of TLS.
    pub(crate) fn within(error: &io::Error) -> Option<Self> {
        let mut source: Option<&(dyn StdError + 'static)> = error.get_ref().map(|inner| inner as _);
        while let Some(cause) = source {
            if let Some(fault) = cause.downcast_ref::<Self>() {
                return Some(fault.clone());
            }
            if let Some(error) = cause.downcast_ref::<Error>() {
                return Some(Self::of(error));
            }
            source = match cause.downcast_ref::<io::Error>() {
                Some(inner) => inner.get_ref().map(|inner| inner as _),
                None => cause.source(),
            };
        }
        None
    }

    /// What rustls says, in words.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Other(other) => {
                let fault = (other.0.as_ref() as &(dyn StdError + 'static)).downcast_ref::<Self>();
                fault.cloned().unwrap_or_else(|| Self::of_trust(format!("TLS failed ({error})")))
            }
            Error::InvalidCertificate(wrong) => Self::of_certificate(wrong),
            Error::PeerIncompatible(_) | Error::AlertReceived(AlertDescription::ProtocolVersion) => {
                Self::of_version(error)
            }
            Error::AlertReceived(AlertDescription::HandshakeFailure) => Self::new(
                "the server ended the handshake: it has no TLS version or no cipher in common with prony"
                    .to_owned(),
                VERSION,
            ),
            Error::AlertReceived(
                alert @ (AlertDescription::CertificateRequired
                | AlertDescription::BadCertificate
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnknownCA
                | AlertDescription::AccessDenied),
            ) => Self::new(
                format!("the server rejected the client certificate, or requires one ({alert:?})"),
                "give a valid client certificate that the server's authority has signed, and its key",
            ),
            _ => Self::of_trust(format!("the TLS handshake failed ({error})")),
        }
    }

    fn of_version(error: &Error) -> Self {
        Self::new(format!("the server supports none of the permitted TLS versions ({error})"), VERSION)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
    fn of_certificate(wrong: &CertificateError) -> Self {
        let renew =
            "install a new certificate on the server, and check that the clocks of both machines are right";
        match wrong {
            CertificateError::ExpiredContext { time, not_after } => {
                let ago_s = time.as_secs().saturating_sub(not_after.as_secs());
                Self::new(format!("the server's certificate expired {} ago", long(ago_s)), renew)
            }
            CertificateError::Expired => Self::new("the server's certificate has expired".to_owned(), renew),
            CertificateError::NotValidYetContext { time, not_before } => {
                let until_s = not_before.as_secs().saturating_sub(time.as_secs());
                Self::new(
                    format!(
                        "the server's certificate is not yet valid. It becomes valid in {}",
                        long(until_s)
                    ),
                    renew,
                )
            }
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::of_trust(
                "the server's certificate is self-signed, or signed by an authority that is not trusted"
                    .to_owned(),
            ),
            CertificateError::NotValidForNameContext { expected, presented } => {
                let names: Vec<String> = presented.iter().map(|name| plain_name(name)).collect();
                Self::of_name(&expected.to_str(), &names)
            }
            _ => Self::of_trust(format!("the server's certificate cannot be used ({wrong})")),
        }
    }
}

/// What versions there are.
const VERSION: &str =
    "enable TLS 1.2 or 1.3 on the server, and check `ssl_min_protocol_version` in the address";

/// `DnsName("db.example")` is `db.example`.
fn plain_name(name: &str) -> String {
    name.split('"').nth(1).unwrap_or(name).to_owned()
}

/// A long time, roughly.
fn long(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..7_200 => (seconds / 60, "minutes"),
        7_200..172_800 => (seconds / 3_600, "hours"),
        _ => (seconds / 86_400, "days"),
    };
    format!("{count} {unit}")
}
