//! The first packets of a connection: the server's greeting, and the answer to it.
//!
//! - <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html>
//! - <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_response.html>
//! - <https://mariadb.com/docs/server/reference/clientserver-protocol/1-connecting/connection>

use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};

use super::fields::Fields;
use super::{DriverError, DriverResult};

/// Version of the protocol.
const VERSION: u8 = 10;
/// `utf8mb4_general_ci`. Servers before 5.5.3 do not know it.
const COLLATION: u8 = 45;
/// Longest packet that this client takes.
const PACKET_BYTES_MAX: u32 = 1 << 30;
/// Bytes of the random text that each log-in is mixed with.
pub(super) const NONCE_BYTES: usize = 20;

/// What this driver can do. It does not offer to send files (`CLIENT_LOCAL_FILES`).
fn own_capabilities() -> CapabilityFlags {
    CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_MULTI_STATEMENTS
        | CapabilityFlags::CLIENT_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
        | CapabilityFlags::CLIENT_DEPRECATE_EOF
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
}

/// What both sides can do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capabilities {
    pub(super) flags: CapabilityFlags,
    pub(super) mariadb: MariadbCapabilities,
}

impl Capabilities {
    /// Whether rows end with an OK packet, and columns with nothing.
    pub(super) fn without_eof(self) -> bool {
        self.flags.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF)
    }

    /// Whether the server leaves out columns that it told when the statement was prepared.
    pub(super) fn has_cached_columns(self) -> bool {
        self.mariadb.contains(MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA)
    }
}

/// What a server says first.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) nonce: Vec<u8>,
    pub(super) plugin: Vec<u8>,
    pub(super) has_tls: bool,
    pub(super) capabilities: Capabilities,
}

impl Greeting {
    pub(super) fn read(payload: &[u8]) -> DriverResult<Self> {
        let mut fields = Fields(payload);
        if fields.u8()? != VERSION {
            return Err(DriverError::Protocol("the server uses an unsupported version of the protocol"));
        }
        fields.text_before_zero()?;
        let _connection = fields.u32()?;
        let mut nonce = fields.bytes(8)?.to_vec();
        fields.u8()?;
        let low = fields.u16()?;
        let _collation_and_status: [u8; 3] = fields.array()?;
        let high = fields.u16()?;
        let nonce_bytes = usize::from(fields.u8()?);
        fields.bytes(6)?;
        let mariadb = fields.u32()?;
        let theirs = CapabilityFlags::from_bits_truncate(u32::from(low) | u32::from(high) << 16);
        if !theirs.contains(CapabilityFlags::CLIENT_PROTOCOL_41 | CapabilityFlags::CLIENT_SECURE_CONNECTION) {
            return Err(DriverError::Protocol("the server is older than MySQL 4.1"));
        }
        // With a zero at its end.
        nonce.extend_from_slice(fields.bytes(nonce_bytes.saturating_sub(8).max(13))?);
        nonce.truncate(NONCE_BYTES);
        let mut plugin = fields.0;
        // Some versions leave out the zero.
        plugin = plugin.split(|byte| *byte == 0).next().unwrap_or(plugin);
        let flags = theirs & own_capabilities();
        // This bit tells apart MySQL and MariaDB, which has capabilities of its own.
        let is_mariadb = !theirs.contains(CapabilityFlags::CLIENT_LONG_PASSWORD);
        let mut mariadb = MariadbCapabilities::from_bits_truncate(if is_mariadb { mariadb } else { 0 });
        mariadb &= MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA;
        if !flags.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
            mariadb = MariadbCapabilities::empty();
        }
        Ok(Self {
            nonce,
            plugin: plugin.to_vec(),
            has_tls: theirs.contains(CapabilityFlags::CLIENT_SSL),
            capabilities: Capabilities { flags, mariadb },
        })
    }

    /// Begins TLS with the first bytes of the answer. MariaDB reads the capabilities here only, and not in the answer that follows.
    pub(super) fn put_tls_request(&self, database: Option<&str>, bytes: &mut Vec<u8>) {
        self.put_beginning(true, database, bytes);
    }

    /// Answers.
    pub(super) fn put_response(&self, response: &Response<'_>, bytes: &mut Vec<u8>) {
        self.put_beginning(response.is_encrypted, response.database, bytes);
        put_text(response.user, bytes);
        bytes.push(response.proof.len() as u8);
        bytes.extend_from_slice(response.proof);
        if let Some(database) = response.database {
            put_text(database, bytes);
        }
        if self.capabilities.flags.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH) {
            put_text(response.plugin, bytes);
        }
    }

    fn put_beginning(&self, is_encrypted: bool, database: Option<&str>, bytes: &mut Vec<u8>) {
        let Capabilities { mut flags, mariadb } = self.capabilities;
        flags.set(CapabilityFlags::CLIENT_SSL, is_encrypted);
        flags.set(CapabilityFlags::CLIENT_CONNECT_WITH_DB, database.is_some());
        bytes.extend_from_slice(&flags.bits().to_le_bytes());
        bytes.extend_from_slice(&PACKET_BYTES_MAX.to_le_bytes());
        bytes.push(COLLATION);
        bytes.extend_from_slice(&[0; 19]);
        bytes.extend_from_slice(&mariadb.bits().to_le_bytes());
    }
}

/// Who logs in, and how.
#[derive(Debug)]
pub(super) struct Response<'a> {
    pub(super) user: &'a str,
    pub(super) database: Option<&'a str>,
    pub(super) plugin: &'a str,
    /// That the password is known; less than 256 bytes.
    pub(super) proof: &'a [u8],
    pub(super) is_encrypted: bool,
}

fn put_text(text: &str, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(0);
}
