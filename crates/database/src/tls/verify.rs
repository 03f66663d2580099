//! What is checked of the certificate that a server shows.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};

use super::Fault;
use super::certificate::{Parts, is_for};
use super::files::Trusted;

/// Checks as libpq does them.
#[derive(Debug)]
pub(super) struct Verifier {
    /// None where whoever answers is believed.
    trusted: Option<Arc<Trusted>>,
    checks_name: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    pub(super) fn new(trusted: Option<Arc<Trusted>>, checks_name: bool, provider: &CryptoProvider) -> Self {
        Self { trusted, checks_name, algorithms: provider.signature_verification_algorithms }
    }

    fn check_authority(
        &self,
        trusted: &Trusted,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        let parsed = ParsedCertificate::try_from(certificate)?;
        let checked = verify_server_cert_signed_by_trust_anchor(
            &parsed,
            &trusted.store,
            others,
            now,
            self.algorithms.all,
        );
        checked.or_else(|error| {
            // A server that shows the very certificate that is trusted: libraries refuse it if it could sign others too, and look at
            // its times before they do.
            let is_trusted = trusted.certificates.iter().any(|root| root == certificate);
            let could_sign = format!("{error:?}").contains("CaUsedAsEndEntity");
            if is_trusted && could_sign { Ok(()) } else { Err(error) }
        })
    }

    /// By its alternative names, and by its common name where it has none.
    fn check_name(&self, certificate: &CertificateDer<'_>, name: &ServerName<'_>) -> Result<(), Error> {
        let by_names = verify_server_name(&ParsedCertificate::try_from(certificate)?, name);
        by_names.or_else(|error| {
            let common = Parts::of(certificate).filter(|parts| !parts.has_alternative_names());
            match common.and_then(|parts| parts.common_name()) {
                Some(common) if is_for(common, &name.to_str()) => Ok(()),
                Some(common) => Err(Fault::of_name(&name.to_str(), &[common.to_owned()]).into_rustls()),
                None => Err(error),
            }
        })
    }
}

impl Fault {
    fn into_rustls(self) -> Error {
        Error::Other(OtherError(Arc::new(self)))
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(trusted) = &self.trusted else { return Ok(ServerCertVerified::assertion()) };
        self.check_authority(trusted, certificate, others, now).map_err(|error| {
            let is_unknown = matches!(
                error,
                // Of an authority of the same name as one that is trusted.
                Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature)
            );
            match Parts::of(certificate) {
                Some(parts) if is_unknown && parts.is_self_signed() => {
                    Fault::of_self_signed(&trusted.name).into_rustls()
                }
                _ if is_unknown => Fault::of_unknown(&trusted.name).into_rustls(),
                _ => error,
            }
        })?;
        if self.checks_name {
            self.check_name(certificate, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
