//! A connection to MySQL or MariaDB, encrypted or not, as MySQL's client would make it:
//! <https://dev.mysql.com/doc/refman/8.4/en/connection-options.html#option_general_ssl-mode>. What differs: `VERIFY_IDENTITY` without
//! a file of authorities trusts those of the system, where that client refuses; a file that is named is always used to check.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use record::{Link, LinkEncryption};
use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, UnixStream};

use super::wire::{
    BoxedTransport, Conn, Credentials, DriverError, DriverResult, RsaKey, Security, TlsSettings, log_in,
    modulus_bytes,
};
use super::{SETTINGS, fault, several};
use crate::error::Attempt;
use crate::login::{Login, Surroundings};
use crate::silence::UNACKNOWLEDGED;
use crate::tls::{Checks, Fault, Files, config};
use crate::url::encryption::{Encryption, Mode, ServerKey, Words};
use crate::url::{Host, ServerAddress};
use crate::{Error, resolve};

const NO_TLS: &str = "the server has no TLS";

/// Connects to the server, or to the one of several that can be written to.
pub(super) async fn connect(address: &ServerAddress, attempt: Attempt<'_>) -> Result<(Conn, Link), Error> {
    match address.tries() {
        1 => address.silence.let_in(attempt, one(address, attempt)).await,
        _ => several::connect(address, attempt).await,
    }
}

/// Connects to a server.
pub(super) async fn one(address: &ServerAddress, attempt: Attempt<'_>) -> Result<(Conn, Link), Error> {
    let login = Login::of_mysql(address, &Surroundings::here());
    let login = login.map_err(|words| Error::Refused(attempt.text(words, "")))?;
    let mode = login.encryption.mode(Words::Mysql);
    let is_remote = !address.host.is_local();
    let link = |encryption, remark: Option<&str>| Link {
        is_remote,
        encryption,
        remark: remark.map(str::to_owned),
        taken: login.taken.clone(),
    };
    let failed = |error| fault::at_connect(&error, attempt);
    let sought = Sought { address, login: &login };
    let Host::Tcp { name, port } = &address.host else {
        let conn = sought.over_socket(mode, attempt).await?;
        return Ok((conn, link(None, Some("over a Unix socket"))));
    };
    let addresses: Vec<SocketAddr> =
        resolve::addresses(name, attempt).await?.into_iter().map(|one: IpAddr| (one, *port).into()).collect();
    let server = format!("{name}:{port}");
    if mode == Mode::Disable {
        let conn = sought.unencrypted(&addresses, attempt).await?;
        return Ok((conn, link(None, Some("as the address says"))));
    }
    if mode == Mode::Prefer && Plain::is_known(&server) {
        // Another one may have taken its place.
        let conn = sought.unencrypted(&addresses, attempt).await.inspect_err(|_| Plain::forget(&server))?;
        return Ok((conn, link(None, Some(NO_TLS))));
    }
    let tls = tls(&login.encryption, mode, name).map_err(|fault| {
        Error::Refused(attempt.text(&fault.words, fault.remedy.as_deref().unwrap_or(fault::TRUST)))
    })?;
    match sought.over_tcp(&addresses, Security::Tls(&tls)).await {
        Ok((conn, encryption)) => Ok((conn, link(encryption, None))),
        Err(DriverError::NoTls) if mode == Mode::Prefer => {
            Plain::note(&server);
            let conn = sought.unencrypted(&addresses, attempt).await?;
            Ok((conn, link(None, Some(NO_TLS))))
        }
        Err(error) => Err(failed(error)),
    }
}

/// A server, and who logs in there.
#[derive(Clone, Copy)]
struct Sought<'a> {
    address: &'a ServerAddress,
    login: &'a Login,
}

impl Sought<'_> {
    async fn over_socket(self, mode: Mode, attempt: Attempt<'_>) -> Result<Conn, Error> {
        let Host::Socket { path, .. } = &self.address.host else {
            return Err(Error::Unreachable(attempt.text("not a Unix socket", "")));
        };
        if mode != Mode::Prefer && mode != Mode::Disable {
            let words =
                "TLS is not available over a Unix socket, and not needed because no data leaves this machine";
            return Err(Error::Refused(attempt.text(words, "omit ssl-mode and ssl-ca from this address")));
        }
        let connecting = async {
            let stream = UnixStream::connect(path).await?;
            self.log_in(Box::new(stream), Security::Socket).await
        };
        let connected = connecting.await.map_err(|error| fault::at_connect(&error, attempt));
        connected.map(|(conn, _)| conn)
    }

    /// A connection over TCP without TLS.
    async fn unencrypted(self, addresses: &[SocketAddr], attempt: Attempt<'_>) -> Result<Conn, Error> {
        let key = key(&self.login.encryption, attempt)?;
        let connected = self.over_tcp(addresses, Security::Open(&key)).await;
        connected.map(|(conn, _)| conn).map_err(|error| fault::at_connect(&error, attempt))
    }

    async fn over_tcp(
        self,
        addresses: &[SocketAddr],
        security: Security<'_>,
    ) -> DriverResult<(Conn, Option<LinkEncryption>)> {
        let socket = TcpStream::connect(addresses).await?;
        socket.set_nodelay(true)?;
        let kept = rustix::net::sockopt::set_socket_keepalive(&socket, true)
            .and_then(|()| rustix::net::sockopt::set_tcp_keepidle(&socket, UNACKNOWLEDGED));
        kept.map_err(std::io::Error::from)?;
        self.log_in(Box::new(socket), security).await
    }

    async fn log_in(
        self,
        stream: BoxedTransport,
        security: Security<'_>,
    ) -> DriverResult<(Conn, Option<LinkEncryption>)> {
        let credentials = Credentials {
            user: self.login.user.as_deref().unwrap_or_default(),
            password: self.login.password.as_deref().unwrap_or_default(),
            database: self.address.database.as_deref(),
            security,
        };
        let (mut conn, encryption) = log_in(stream, &credentials).await?;
        conn.query_drop(SETTINGS).await?;
        Ok((conn, encryption))
    }
}

/// The key for a server that wants the whole password over a connection without TLS.
///
/// # Errors
/// The file that the address names holds none.
fn key(encryption: &Encryption, attempt: Attempt<'_>) -> Result<RsaKey, Error> {
    let refused = |words: String, remedy: &str| Error::Refused(attempt.text(words, remedy));
    let file = match &encryption.server_key {
        None => return Ok(RsaKey::Nobodys),
        Some(ServerKey::Asked) => return Ok(RsaKey::Asked),
        Some(ServerKey::File(file)) => file,
    };
    let read = std::fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()));
    let key = read.map_err(|words| refused(words, ""))?;
    if modulus_bytes(&key).is_none() {
        let words = format!("{} does not contain an RSA public key in PEM format", file.display());
        return Err(refused(words, "name the file public_key.pem of the server's data directory"));
    }
    Ok(RsaKey::Given(key))
}

/// How TLS is begun with a host.
fn tls(encryption: &Encryption, mode: Mode, host: &str) -> Result<TlsSettings, Fault> {
    let checks = match (mode, &encryption.roots) {
        (Mode::VerifyFull, _) => Checks::AuthorityAndName,
        (Mode::VerifyCa, None) => {
            return Err(Fault::new(
                "ssl-mode=VERIFY_CA trusts all certificates that given authorities have signed, but no authority is given".to_owned(),
                "give a CA certificate file with ssl-ca=FILE, or use ssl-mode=VERIFY_IDENTITY, which trusts the CAs of this system",
            ));
        }
        (_, Some(_)) => Checks::Authority,
        (_, None) => Checks::Nothing,
    };
    let files = Files {
        roots: encryption.roots.clone(),
        identity: encryption.certificate.clone().zip(encryption.key.clone()),
        oldest: encryption.oldest.unwrap_or_default(),
        is_tls12_alone: false,
    };
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| Fault::new(format!("`{host}` cannot be the name in a certificate"), fault::TRUST))?;
    Ok(TlsSettings { config: Arc::new(config(checks, &files)?), name, checks })
}

/// Servers that were found to have no TLS, so that they are not asked each time: each question costs a connection, of which they may
/// count those that went no further.
struct Plain;

static PLAIN: Mutex<Option<HashSet<String>>> = Mutex::new(None);

impl Plain {
    fn with<T>(act: impl FnOnce(&mut HashSet<String>) -> T) -> T {
        act(PLAIN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
    }

    fn is_known(server: &str) -> bool {
        Self::with(|known| known.contains(server))
    }

    fn note(server: &str) {
        Self::with(|known| known.insert(server.to_owned()));
    }

    fn forget(server: &str) {
        Self::with(|known| known.remove(server));
    }
}
