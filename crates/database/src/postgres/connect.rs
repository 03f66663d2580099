//! A connection to PostgreSQL, encrypted or not, as libpq would make it:
//! <https://www.postgresql.org/docs/current/libpq-ssl.html>. What differs: `verify-full` without a file of authorities trusts
//! those of the system, where libpq refuses; a file that is named and not there is never passed over.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use record::{Link, LinkEncryption};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream as Binds};
use tokio_postgres::{Client, Config, NoTls, Socket};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{fault, several};
use crate::error::Attempt;
use crate::login::{Login, Surroundings};
use crate::silence::UNACKNOWLEDGED;
use crate::tls::{Checks, Fault, Files, Roots, agreed, binding_hash, config, of_home};
use crate::url::encryption::{Binding, Encryption, Mode, Words};
use crate::url::hosts::Wanted;
use crate::url::{Host, ServerAddress};
use crate::{Error, resolve};

type Driver = tokio_postgres::Error;

/// Connects to the server, or to the one of several that is wanted.
pub(super) async fn connect(address: &ServerAddress, attempt: Attempt<'_>) -> Result<(Client, Link), Error> {
    if address.tries() == 1 && address.wanted == Wanted::Any {
        return address.silence.let_in(attempt, one(address, attempt)).await;
    }
    several::connect(address, attempt).await
}

/// Connects to a server.
pub(super) async fn one(address: &ServerAddress, attempt: Attempt<'_>) -> Result<(Client, Link), Error> {
    let login = Login::of_postgres(address, &Surroundings::here());
    let login = login.map_err(|words| Error::Refused(attempt.text(words, "")))?;
    let wanted = settings(address, &login, attempt).await?;
    let mode = match &address.host {
        Host::Tcp { .. } => login.encryption.mode(Words::Libpq),
        // As libpq, whatever is said of it: nothing leaves the machine.
        Host::Socket { .. } => Mode::Disable,
    };
    let is_remote = !address.host.is_local();
    let taken = login.taken.clone();
    let of = |encryption, remark: Option<String>| Link { is_remote, encryption, remark, taken };
    let failed = |error: &Driver| fault::at_connect(error, None, attempt);
    if mode == Mode::Disable {
        let is_socket = matches!(address.host, Host::Socket { .. });
        let remark = if is_socket { "over a Unix socket" } else { "as the address says" };
        let client = plain(&wanted).await.map_err(|error| failed(&error))?;
        return Ok((client, of(None, Some(remark.to_owned()))));
    }
    let tls = Connector::of(&login.encryption, mode, attempt)?;
    match mode {
        Mode::Allow => match plain(&wanted).await {
            Ok(client) => Ok((client, of(None, Some("the server wanted nothing else".to_owned())))),
            Err(first) if fault::is_refusal(&first) => {
                let over_tls = encrypted(&wanted, SslMode::Require, &tls).await;
                let client = over_tls.map_err(|error| fault::at_connect(&first, Some(&error), attempt))?;
                Ok((client, of(tls.agreed(), None)))
            }
            Err(error) => Err(failed(&error)),
        },
        Mode::Prefer => match encrypted(&wanted, SslMode::Prefer, &tls).await {
            Ok(client) => {
                let encryption = tls.agreed();
                let remark = encryption.is_none().then(|| "the server has no TLS".to_owned());
                Ok((client, of(encryption, remark)))
            }
            Err(first) if fault::is_refusal(&first) || fault::of_tls(&first).is_some() => {
                let client = plain(&wanted).await;
                let client = client.map_err(|error| fault::at_connect(&first, Some(&error), attempt))?;
                Ok((client, of(None, Some(format!("with TLS: {}", fault::words(&first))))))
            }
            Err(error) => Err(failed(&error)),
        },
        Mode::Disable | Mode::Require | Mode::VerifyCa | Mode::VerifyFull => {
            let client = encrypted(&wanted, SslMode::Require, &tls).await.map_err(|error| failed(&error))?;
            Ok((client, of(tls.agreed(), None)))
        }
    }
}

/// Everything but the encryption.
async fn settings(address: &ServerAddress, login: &Login, attempt: Attempt<'_>) -> Result<Config, Error> {
    let mut config = Config::new();
    match &address.host {
        Host::Tcp { name, port } => {
            for one in resolve::addresses(name, attempt).await? {
                config.host(name).hostaddr(one).port(*port);
            }
        }
        Host::Socket { path, port } => {
            config.host_path(path).port(*port);
        }
    }
    if let Some(user) = &login.user {
        config.user(user);
    }
    if let Some(password) = &login.password {
        config.password(password);
    }
    let binding = match login.encryption.binding {
        Some(Binding::Disable) => tokio_postgres::config::ChannelBinding::Disable,
        Some(Binding::Require) => tokio_postgres::config::ChannelBinding::Require,
        Some(Binding::Prefer) | None => tokio_postgres::config::ChannelBinding::Prefer,
    };
    config
        .dbname(address.database.as_deref().unwrap_or("postgres"))
        .application_name("prony")
        .connect_timeout(address.silence.connect())
        .tcp_user_timeout(UNACKNOWLEDGED)
        .keepalives_idle(UNACKNOWLEDGED)
        .channel_binding(binding);
    Ok(config)
}

async fn plain(config: &Config) -> Result<Client, Driver> {
    let mut config = config.clone();
    let (client, connection) = config.ssl_mode(SslMode::Disable).connect(NoTls).await?;
    // How it ends, whoever waits for an answer is told.
    tokio::spawn(async { drop(connection.await) });
    Ok(client)
}

async fn encrypted(config: &Config, mode: SslMode, tls: &Connector) -> Result<Client, Driver> {
    let mut config = config.clone();
    let (client, connection) = config.ssl_mode(mode).connect(tls.clone()).await?;
    tokio::spawn(async { drop(connection.await) });
    Ok(client)
}

/// Begins TLS, and remembers what was agreed upon.
#[derive(Clone)]
struct Connector {
    config: Arc<ClientConfig>,
    checks: Checks,
    agreed: Arc<OnceLock<LinkEncryption>>,
}

impl Connector {
    fn of(encryption: &Encryption, mode: Mode, attempt: Attempt<'_>) -> Result<Self, Error> {
        let made = checks(encryption, mode).and_then(|(checks, files)| Ok((checks, config(checks, &files)?)));
        let (checks, config) = made.map_err(|fault| {
            Error::Refused(attempt.text(&fault.words, fault.remedy.as_deref().unwrap_or(fault::TRUST)))
        })?;
        Ok(Self { config: Arc::new(config), checks, agreed: Arc::new(OnceLock::new()) })
    }

    fn agreed(&self) -> Option<LinkEncryption> {
        self.agreed.get().cloned()
    }
}

/// What is checked, and with which files: those of the address, or those that libpq looks for in the home directory.
fn checks(encryption: &Encryption, mode: Mode) -> Result<(Checks, Files), Fault> {
    let roots = encryption.roots.clone().or_else(|| of_home("root.crt").map(Roots::File));
    let checks = match (mode, &roots) {
        (Mode::VerifyFull, _) => Checks::AuthorityAndName,
        (Mode::VerifyCa, Some(_)) => Checks::Authority,
        (Mode::VerifyCa, None) => {
            return Err(Fault::new(
                "sslmode=verify-ca trusts whatever the authorities signed, and none is named".to_owned(),
                "name a file of them with sslrootcert=FILE, or give sslmode=verify-full, which trusts those of the system",
            ));
        }
        // A file of authorities is there to be used.
        (Mode::Disable | Mode::Allow | Mode::Prefer | Mode::Require, Some(_)) => Checks::Authority,
        (Mode::Disable | Mode::Allow | Mode::Prefer | Mode::Require, None) => Checks::Nothing,
    };
    let given = encryption.certificate.clone().zip(encryption.key.clone());
    let identity = given.or_else(|| of_home("postgresql.crt").zip(of_home("postgresql.key")));
    let identity: Option<(PathBuf, PathBuf)> = identity;
    Ok((
        checks,
        Files { roots, identity, oldest: encryption.oldest.unwrap_or_default(), is_tls12_alone: false },
    ))
}

impl MakeTlsConnect<Socket> for Connector {
    type Stream = Encrypted;
    type TlsConnect = Beginning;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Beginning, io::Error> {
        let name = ServerName::try_from(host.to_owned());
        let name =
            name.map_err(|_| Fault::new(format!("`{host}` can be no name of a certificate"), fault::TRUST))?;
        Ok(Beginning { connector: self.clone(), name })
    }
}

/// TLS with one host.
struct Beginning {
    connector: Connector,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for Beginning {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let Self { connector, name } = self;
            let stream = TlsConnector::from(Arc::clone(&connector.config)).connect(name, socket).await?;
            // A second host is tried only if the first was not to be had.
            let _ = connector.agreed.set(agreed(stream.get_ref().1, connector.checks));
            Ok(Encrypted(stream))
        })
    }
}

/// An encrypted connection.
struct Encrypted(TlsStream<Socket>);

impl Binds for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        let shown = self.0.get_ref().1.peer_certificates();
        let hash = shown.and_then(|certificates| binding_hash(certificates.first()?));
        hash.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, room)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
