//! Certificates and keys as files, and the authorities of the system.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::{Fault, Roots};

/// Authorities that are trusted.
#[derive(Debug)]
pub(super) struct Trusted {
    pub(super) store: Arc<RootCertStore>,
    /// As they were read; only those that could be used.
    pub(super) certificates: Vec<CertificateDer<'static>>,
    /// Where they come from, in words.
    pub(super) name: String,
}

/// The authorities of a file, or of the system; those are read once.
pub(super) fn roots(roots: &Roots) -> Result<Arc<Trusted>, Fault> {
    static SYSTEM: OnceLock<Arc<Trusted>> = OnceLock::new();
    match roots {
        Roots::File(path) => of_file(path),
        Roots::System => match SYSTEM.get() {
            Some(system) => Ok(Arc::clone(system)),
            None => Ok(Arc::clone(SYSTEM.get_or_init(|| Arc::new(of_system())))),
        },
    }
    .and_then(|trusted| {
        let remedy = "install ca-certificates, or give a file with the certificates of trusted authorities";
        let nothing = || Fault::new(format!("{} has no certificate", trusted.name), remedy);
        if trusted.certificates.is_empty() { Err(nothing()) } else { Ok(trusted) }
    })
}

fn of_system() -> Trusted {
    // What cannot be read of a directory is no reason to trust none of it.
    let found = rustls_native_certs::load_native_certs();
    trusted(found.certs, "the authorities of this system".to_owned())
}

fn of_file(path: &Path) -> Result<Arc<Trusted>, Fault> {
    let remedy = "name a file with certificates of authorities in PEM";
    let read = certificates(path).map_err(|words| Fault::new(words, remedy))?;
    Ok(Arc::new(trusted(read, path.display().to_string())))
}

fn trusted(read: Vec<CertificateDer<'static>>, name: String) -> Trusted {
    let mut store = RootCertStore::empty();
    let mut certificates = read;
    certificates.retain(|certificate| store.add(certificate.clone()).is_ok());
    Trusted { store: Arc::new(store), certificates, name }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    if !bytes.windows(11).any(|window| window == b"-----BEGIN ") {
        // A certificate alone, as it is.
        return Ok(if bytes.is_empty() { Vec::new() } else { vec![CertificateDer::from(bytes)] });
    }
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    read.map_err(|error| format!("{} holds no certificates in PEM ({error})", path.display()))
}

/// The certificate of a client, with those that lead to its authority, and its key.
///
/// # Errors
/// They cannot be read, or others can read the key.
pub(super) fn identity(
    certificate: &Path,
    key: &Path,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Fault> {
    let remedy = "name the certificate of the client and its key, both in PEM";
    let chain = certificates(certificate).map_err(|words| Fault::new(words, remedy))?;
    if chain.is_empty() {
        return Err(Fault::new(format!("{} has no certificate", certificate.display()), remedy));
    }
    let shown = key.display();
    let unread = |error: std::io::Error| Fault::new(format!("cannot read the key {shown}: {error}"), remedy);
    let metadata = std::fs::metadata(key).map_err(unread)?;
    // As libpq: <https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-CLIENTCERT>.
    let allowed = if metadata.uid() == 0 { 0o640 } else { 0o600 };
    if metadata.mode() & 0o777 & !allowed != 0 {
        let words = format!("the key {shown} can be read by others (mode {:o})", metadata.mode() & 0o777);
        return Err(Fault::new(words, &format!("run `chmod {allowed:o} {shown}`")));
    }
    let bytes = std::fs::read(key).map_err(unread)?;
    let secret = PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| {
        Fault::new(format!("{shown} does not contain an unencrypted key in PEM format ({error})"), remedy)
    })?;
    Ok((chain, secret))
}

/// A file of libpq's in the home directory, if it is there.
pub(crate) fn of_home(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
    let path = Path::new(&home).join(".postgresql").join(name);
    path.is_file().then_some(path)
}
