//! The log-in: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html>.
//!
//! The password itself goes to a server over TLS or a Unix socket alone. Elsewhere a server gets proofs that the password is known, and
//! the password encrypted by a key if the user named that key or trusts whichever the server gives: see [`Security`].

use std::sync::Arc;

use mysql_common::scramble::{create_response_for_ed25519, scramble_native, scramble_sha256};
use record::LinkEncryption;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use super::answer::{is_progress, server_error};
use super::fields::Fields;
use super::greeting::{Greeting, NONCE_BYTES, Response};
use super::key::{self, RsaKey};
use super::packets::{ERROR, Packets};
use super::{BoxedTransport, Conn, DriverError, DriverResult};
use crate::tls::Checks;

/// Longest packet of a log-in; one of a server has some hundred bytes.
const PACKET_BYTES_MAX: usize = 1 << 16;
/// Most packets of a server in a log-in. MariaDB tries each way that a user may log in by.
const PACKETS_MAX: usize = 64;
/// First bytes of the packets of a server.
const OK: u8 = 0;
const MORE: u8 = 1;
const SWITCH: u8 = 0xfe;
/// With `caching_sha2_password`: the server knows the password by its hash, or needs all of it.
const FAST: u8 = 3;
const FULL: u8 = 4;
const ASK_FOR_KEY: u8 = 2;
/// Bytes of the random text of `client_ed25519`.
const ED25519_NONCE_BYTES: usize = 32;

/// Who logs in.
#[derive(Debug)]
pub(crate) struct Credentials<'a> {
    pub(crate) user: &'a str,
    pub(crate) password: &'a str,
    pub(crate) database: Option<&'a str>,
    pub(crate) security: Security<'a>,
}

/// Who can read what is sent, and so whether the password may be sent.
#[derive(Debug)]
pub(crate) enum Security<'a> {
    /// Nobody: it is a Unix socket.
    Socket,
    /// Nobody: TLS begins before the log-in.
    Tls(&'a TlsSettings),
    /// Others: a password is encrypted with this key.
    Open(&'a RsaKey),
}

/// How TLS is begun.
#[derive(Debug)]
pub(crate) struct TlsSettings {
    pub(crate) config: Arc<ClientConfig>,
    /// The host, as certificates name it.
    pub(crate) name: ServerName<'static>,
    pub(crate) checks: Checks,
}

/// A way to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plugin {
    /// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_authentication_methods_native_password_authentication.html>
    Native,
    /// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>
    CachingSha2,
    /// <https://mariadb.com/docs/server/reference/plugins/authentication-plugins/authentication-plugin-ed25519>
    Ed25519,
}

impl Plugin {
    fn of(name: &[u8]) -> DriverResult<Self> {
        match name {
            b"mysql_native_password" => Ok(Self::Native),
            b"caching_sha2_password" => Ok(Self::CachingSha2),
            b"client_ed25519" => Ok(Self::Ed25519),
            b"mysql_clear_password" => Err(DriverError::ClearPassword),
            _ => Err(DriverError::UnknownPlugin(String::from_utf8_lossy(name).into_owned())),
        }
    }

    /// The way that is tried first. A server that wants another one says so.
    fn first(name: &[u8]) -> Self {
        match Self::of(name) {
            Ok(Self::CachingSha2) => Self::CachingSha2,
            _ => Self::Native,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::Ed25519 => "client_ed25519",
        }
    }

    /// Shows that a password is known, for one random text of the server. There is nothing to show of an empty one.
    fn proof(self, password: &str, nonce: &[u8]) -> Vec<u8> {
        let password = password.as_bytes();
        match self {
            _ if password.is_empty() => Vec::new(),
            Self::Native => scramble_native(nonce, password).map(Vec::from).unwrap_or_default(),
            Self::CachingSha2 => scramble_sha256(nonce, password).map(Vec::from).unwrap_or_default(),
            Self::Ed25519 => create_response_for_ed25519(password, nonce).to_vec(),
        }
    }

    /// The random text for it, without the zero that may follow.
    fn nonce(self, data: &[u8]) -> Vec<u8> {
        let length = if self == Self::Ed25519 { ED25519_NONCE_BYTES } else { NONCE_BYTES };
        data[..length.min(data.len())].to_vec()
    }
}

/// Logs in.
///
/// # Errors
/// The server refuses the user, wants what may not be sent, or is none.
pub(crate) async fn log_in(
    stream: BoxedTransport,
    credentials: &Credentials<'_>,
) -> DriverResult<(Conn, Option<LinkEncryption>)> {
    let mut packets = Packets::new(stream, PACKET_BYTES_MAX);
    receive(&mut packets).await?;
    let greeting = Greeting::read(packets.payload())?;
    let mut encryption = None;
    if let Security::Tls(tls) = credentials.security {
        if !greeting.has_tls {
            return Err(DriverError::NoTls);
        }
        packets.put(|bytes| greeting.put_tls_request(credentials.database, bytes));
        packets.send().await?;
        let (encrypted, agreed) = packets.encrypt(tls).await?;
        (packets, encryption) = (encrypted, Some(agreed));
    }
    let plugin = Plugin::first(&greeting.plugin);
    let response = Response {
        user: credentials.user,
        database: credentials.database,
        plugin: plugin.name(),
        proof: &plugin.proof(credentials.password, &greeting.nonce),
        is_encrypted: encryption.is_some(),
    };
    packets.put(|bytes| greeting.put_response(&response, bytes));
    packets.send().await?;
    let capabilities = greeting.capabilities;
    Authentication { packets: &mut packets, credentials, plugin, nonce: greeting.nonce }.run().await?;
    packets.lift_limit();
    Ok((Conn::new(packets, capabilities), encryption))
}

/// The next packet that is no report of MariaDB about its progress.
async fn receive(packets: &mut Packets) -> DriverResult<()> {
    for _ in 0..PACKETS_MAX {
        packets.next().await?;
        match packets.payload() {
            payload if is_progress(payload) => {}
            payload @ [ERROR, ..] => return Err(DriverError::Server(server_error(payload)?)),
            _ => return Ok(()),
        }
    }
    Err(DriverError::Protocol("the log-in does not end"))
}

/// What is said between the first answer and the end of a log-in.
struct Authentication<'a> {
    packets: &'a mut Packets,
    credentials: &'a Credentials<'a>,
    plugin: Plugin,
    nonce: Vec<u8>,
}

impl Authentication<'_> {
    async fn run(mut self) -> DriverResult<()> {
        for _ in 0..PACKETS_MAX {
            receive(self.packets).await?;
            match self.packets.payload() {
                [OK, ..] => return Ok(()),
                [SWITCH] => return Err(DriverError::UnknownPlugin("mysql_old_password".to_owned())),
                [SWITCH, rest @ ..] => {
                    let mut fields = Fields(rest);
                    self.plugin = Plugin::of(fields.text_before_zero()?)?;
                    self.nonce = self.plugin.nonce(fields.0);
                    let proof = self.plugin.proof(self.credentials.password, &self.nonce);
                    self.answer(&proof).await?;
                }
                [MORE, FAST, ..] if self.plugin == Plugin::CachingSha2 => {}
                [MORE, FULL, ..] if self.plugin == Plugin::CachingSha2 => self.give_password().await?,
                _ => {
                    return Err(DriverError::Protocol(
                        "the server sent a packet that is not part of a log-in",
                    ));
                }
            }
        }
        Err(DriverError::Protocol("the log-in does not end"))
    }

    async fn answer(&mut self, payload: &[u8]) -> DriverResult<()> {
        self.packets.put(|bytes| bytes.extend_from_slice(payload));
        self.packets.send().await
    }

    /// Sends the whole password, if that is allowed.
    async fn give_password(&mut self) -> DriverResult<()> {
        let password = self.credentials.password.as_bytes();
        let sent = match self.credentials.security {
            Security::Socket | Security::Tls(_) => [password, &[0]].concat(),
            Security::Open(RsaKey::Nobodys) => return Err(DriverError::FullAuthentication),
            Security::Open(RsaKey::Given(key)) => key::encrypt(password, &self.nonce, key)?,
            Security::Open(RsaKey::Asked) => {
                self.answer(&[ASK_FOR_KEY]).await?;
                receive(self.packets).await?;
                let key = self.packets.payload().strip_prefix(&[MORE]).unwrap_or_default();
                key::encrypt(password, &self.nonce, key)?
            }
        };
        self.answer(&sent).await
    }
}
