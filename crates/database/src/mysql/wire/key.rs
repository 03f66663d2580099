//! The RSA key of a server, with which a password is encrypted where the connection is not.
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>

use mysql_common::crypto;

use super::{DriverError, DriverResult};

/// Bytes that the padding (OAEP with SHA-1) takes of a block.
const PADDING_BYTES: usize = 42;

/// The key that encrypts the password if the server wants all of it.
#[derive(Debug)]
pub(crate) enum RsaKey {
    /// None: the login ends.
    Nobodys,
    /// The key that the server gives.
    Asked,
    /// This key, in PEM.
    Given(Vec<u8>),
}

/// Encrypts a password for the owner of a key.
///
/// # Errors
/// This is no key, or it is too short for the password.
pub(super) fn encrypt(password: &[u8], nonce: &[u8], key: &[u8]) -> DriverResult<Vec<u8>> {
    let room = modulus_bytes(key).and_then(|bytes| bytes.checked_sub(PADDING_BYTES));
    if nonce.is_empty() || room.is_none_or(|room| password.len() >= room) {
        return Err(DriverError::Protocol(
            "the server gave no RSA public key, or one that is too short for the password",
        ));
    }
    let with_zero = password.iter().chain(&[0]);
    let mixed: Vec<u8> = with_zero.zip(nonce.iter().cycle()).map(|(byte, other)| byte ^ other).collect();
    Ok(crypto::encrypt(&mixed, key))
}

/// Bytes of the modulus of an RSA key in PEM, or none if it is no such key: the library that encrypts would panic.
pub(crate) fn modulus_bytes(pem: &[u8]) -> Option<usize> {
    use rustls::pki_types::SubjectPublicKeyInfoDer;
    use rustls::pki_types::pem::PemObject as _;
    const RSA: [u8; 13] = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];
    let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).ok()?;
    let (info, []) = part(&der, 0x30)? else { return None };
    let (algorithm, rest) = part(info, 0x30)?;
    let (bits, []) = part(rest, 3)? else { return None };
    let (key, []) = part(bits.strip_prefix(&[0])?, 0x30)? else { return None };
    let (modulus, exponent) = part(key, 2)?;
    let (exponent, []) = part(exponent, 2)? else { return None };
    let modulus = modulus.strip_prefix(&[0]).unwrap_or(modulus);
    (algorithm == RSA && modulus.len() >= 128 && !exponent.is_empty()).then_some(modulus.len())
}

/// The content of a DER part of a kind, and the bytes after the part.
fn part(der: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let count = usize::from(first & 0x7f);
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        _ if count > 2 || count > rest.len() => return None,
        _ => (rest[..count].iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), &rest[count..]),
    };
    (found == kind && length <= rest.len()).then(|| rest.split_at(length))
}
