//! What is read of a certificate besides what is verified: its common name, its times, and how it was signed. DER is read as it is
//! laid down in <https://www.rfc-editor.org/rfc/rfc5280#section-4.1>; whatever is not understood is not there.

use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT: u8 = 0x06;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// 2.5.4.3
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// 2.5.29.17
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// A value of DER: its tag, what is in it, and all of it.
struct Item<'a> {
    tag: u8,
    inner: &'a [u8],
}

/// The values that stand one after the other.
struct Items<'a>(&'a [u8]);

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (digits.iter().fold(0, |length, &digit| length << 8 | usize::from(digit)), rest)
            }
            _ => return None,
        };
        let (inner, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(Item { tag, inner })
    }
}

/// The parts of a certificate that are asked for.
pub(super) struct Parts<'a> {
    issuer: &'a [u8],
    subject: &'a [u8],
    extensions: Option<&'a [u8]>,
    /// Object identifier of how it was signed.
    signature: &'a [u8],
}

impl<'a> Parts<'a> {
    pub(super) fn of(der: &'a [u8]) -> Option<Self> {
        let whole = Items(der).next().filter(|item| item.tag == SEQUENCE)?;
        let mut outer = Items(whole.inner);
        let body = outer.next()?;
        let signature = Items(outer.next()?.inner).next().filter(|item| item.tag == OBJECT)?.inner;
        let mut fields = Items(body.inner).filter(|item| item.tag != VERSION);
        // Serial number and algorithm stand before, the times between.
        let issuer = fields.nth(2)?.inner;
        let subject = fields.nth(1)?.inner;
        let extensions = fields.find(|item| item.tag == EXTENSIONS).map(|item| item.inner);
        Some(Self { issuer, subject, extensions, signature })
    }

    /// Whether it names itself as its authority.
    pub(super) fn is_self_signed(&self) -> bool {
        self.issuer == self.subject
    }

    pub(super) fn has_alternative_names(&self) -> bool {
        let list = self.extensions.and_then(|extensions| Items(extensions).next());
        let mut each = list.iter().flat_map(|list| Items(list.inner));
        each.any(|extension| Items(extension.inner).next().is_some_and(|id| id.inner == ALTERNATIVE_NAMES))
    }

    pub(super) fn common_name(&self) -> Option<&'a str> {
        let mut names = Items(self.subject).filter(|item| item.tag == SET).flat_map(|set| Items(set.inner));
        names.find_map(|pair| {
            let mut pair = Items(pair.inner);
            let is_name = pair.next()?.inner == COMMON_NAME;
            let value = pair.next()?.inner;
            is_name.then(|| std::str::from_utf8(value).ok()).flatten()
        })
    }
}

/// Whether a name, which may begin with `*.`, is a host's: the asterisk stands for one label.
pub(super) fn is_for(name: &str, host: &str) -> bool {
    match name.strip_prefix("*.") {
        Some(domain) => host
            .split_once('.')
            .is_some_and(|(first, rest)| !first.is_empty() && rest.eq_ignore_ascii_case(domain)),
        None => name.eq_ignore_ascii_case(host),
    }
}

/// What a log-in is bound to (`tls-server-end-point`, <https://www.rfc-editor.org/rfc/rfc5929#section-4.1>): the certificate's hash,
/// by the function that it was signed with, and a better one for MD5 and SHA-1. None where it was signed without such a function.
pub(crate) fn binding_hash(der: &[u8]) -> Option<Vec<u8>> {
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];
    let parts = Parts::of(der)?;
    let kind = |prefix| parts.signature.strip_prefix(prefix);
    match (kind(RSA), kind(ECDSA)) {
        (Some([4 | 5 | 11]), _) | (_, Some([1] | [3, 2])) => Some(Sha256::digest(der).to_vec()),
        (Some([12]), _) | (_, Some([3, 3])) => Some(Sha384::digest(der).to_vec()),
        (Some([13]), _) | (_, Some([3, 4])) => Some(Sha512::digest(der).to_vec()),
        (Some([14]), _) | (_, Some([3, 1])) => Some(Sha224::digest(der).to_vec()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{
        CertificateParams, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519,
    };

    use super::*;

    fn made(names: &[&str], common_name: &str, algorithm: &'static rcgen::SignatureAlgorithm) -> Vec<u8> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::OrganizationName, "prony");
        params.distinguished_name.push(DnType::CommonName, common_name);
        let key = KeyPair::generate_for(algorithm).unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn names_are_read_of_certificates_with_and_without_alternative_ones() {
        let named = made(&["db.example"], "cn.example", &PKCS_ECDSA_P256_SHA256);
        let parts = Parts::of(&named).unwrap();
        assert!(parts.has_alternative_names() && parts.is_self_signed());
        assert_eq!(parts.common_name(), Some("cn.example"));
        let old = made(&[], "old.example", &PKCS_ECDSA_P256_SHA256);
        let parts = Parts::of(&old).unwrap();
        assert!(!parts.has_alternative_names());
        assert_eq!(parts.common_name(), Some("old.example"));
    }

    #[test]
    fn a_log_in_is_bound_by_the_hash_of_the_signature() {
        let of = |algorithm| binding_hash(&made(&["h"], "h", algorithm)).map(|hash| hash.len());
        assert_eq!(of(&PKCS_ECDSA_P256_SHA256), Some(32));
        assert_eq!(of(&PKCS_ECDSA_P384_SHA384), Some(48));
        assert_eq!(of(&PKCS_ED25519), None, "there is no hash in it");
    }

    #[test]
    fn an_asterisk_stands_for_one_label() {
        for (name, host, expected) in [
            ("db.example", "DB.example", true),
            ("*.example", "db.example", true),
            ("*.example", "a.db.example", false),
            ("*.example", ".example", false),
            ("*.example", "example", false),
            ("db.example", "db.example.org", false),
        ] {
            assert_eq!(is_for(name, host), expected, "{name} {host}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..400) {
            let _ = binding_hash(&bytes);
            let mut whole = made(&["db.example"], "cn", &PKCS_ECDSA_P256_SHA256);
            whole.truncate(cut);
            if let Some(parts) = Parts::of(&whole) {
                let _ = (parts.common_name(), parts.has_alternative_names());
            }
        }
    }
}
