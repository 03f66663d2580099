//! TLS by rustls: what is checked of a server's certificate, and by which roots. How an engine begins it stands beside its
//! session.

mod certificate;
mod fault;
mod files;
mod verify;

use std::path::PathBuf;
use std::sync::Arc;

use record::{Checked, LinkEncryption};
use rustls::crypto::ring;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, ProtocolVersion, SupportedProtocolVersion};
use serde::{Deserialize, Serialize};

pub(crate) use certificate::binding_hash;
pub(crate) use fault::Fault;
pub(crate) use files::of_home;
use files::{identity, roots};
use verify::Verifier;

/// What is checked of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checks {
    /// Nothing: whoever answers is believed.
    Nothing,
    /// That an authority that is trusted signed it.
    Authority,
    /// That, and that it is for the server's name.
    AuthorityAndName,
}

impl Checks {
    pub(crate) fn verified(self) -> Checked {
        match self {
            Self::Nothing => Checked::Nothing,
            Self::Authority => Checked::Authority,
            Self::AuthorityAndName => Checked::AuthorityAndName,
        }
    }
}

/// Which authorities are trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Roots {
    /// Those of the system.
    System,
    /// Those of a file.
    File(PathBuf),
}

/// The oldest version that is spoken; older ones than the first are spoken by nobody here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Oldest {
    #[default]
    Tls12,
    Tls13,
}

impl Oldest {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tls12 => "TLSv1.2",
            Self::Tls13 => "TLSv1.3",
        }
    }

    fn versions(self) -> &'static [&'static SupportedProtocolVersion] {
        static BOTH: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];
        match self {
            Self::Tls12 => &BOTH,
            Self::Tls13 => &BOTH[..1],
        }
    }
}

/// The files of a connection, and the oldest version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    /// None where nothing is checked, or the system's are meant.
    pub(crate) roots: Option<Roots>,
    /// Certificate and key of the client.
    pub(crate) identity: Option<(PathBuf, PathBuf)>,
    pub(crate) oldest: Oldest,
    /// Whether 1.2 is the newest too.
    pub(crate) is_tls12_alone: bool,
}

impl Files {
    fn versions(&self) -> &'static [&'static SupportedProtocolVersion] {
        static TLS12_ALONE: [&SupportedProtocolVersion; 1] = [&TLS12];
        if self.is_tls12_alone { &TLS12_ALONE } else { self.oldest.versions() }
    }
}

/// What a handshake is made with.
///
/// # Errors
/// Files that cannot be read, or do not hold what they should.
pub(crate) fn config(checks: Checks, files: &Files) -> Result<ClientConfig, Fault> {
    let provider = Arc::new(ring::default_provider());
    let verifier = match checks {
        Checks::Nothing => Verifier::new(None, false, &provider),
        Checks::Authority | Checks::AuthorityAndName => {
            let trusted = roots(files.roots.as_ref().unwrap_or(&Roots::System))?;
            Verifier::new(Some(trusted), checks == Checks::AuthorityAndName, &provider)
        }
    };
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(files.versions())
        .map_err(|error| Fault::new(error.to_string(), ""))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    match &files.identity {
        None => Ok(builder.with_no_client_auth()),
        Some((certificate, key)) => {
            let (chain, secret) = identity(certificate, key)?;
            builder.with_client_auth_cert(chain, secret).map_err(|error| {
                let words = format!(
                    "the certificate {} and the key {} do not match ({error})",
                    certificate.display(),
                    key.display()
                );
                Fault::new(words, "name the key that belongs to the certificate")
            })
        }
    }
}

/// What was agreed upon.
pub(crate) fn agreed(connection: &ClientConnection, checks: Checks) -> LinkEncryption {
    let protocol = match connection.protocol_version() {
        Some(ProtocolVersion::TLSv1_3) => "TLSv1.3".to_owned(),
        Some(ProtocolVersion::TLSv1_2) => "TLSv1.2".to_owned(),
        other => format!("{other:?}"),
    };
    let suite = connection.negotiated_cipher_suite();
    let cipher = suite.and_then(|suite| suite.suite().as_str()).unwrap_or("unknown");
    // As everybody else names those of 1.3: <https://www.rfc-editor.org/rfc/rfc8446#appendix-B.4>.
    let cipher = cipher.replace("TLS13_", "TLS_");
    LinkEncryption { protocol, cipher, verified: checks.verified() }
}
