//! A connection to PostgreSQL, encrypted or not, as libpq would make it:
//! <https://www.postgresql.org/docs/current/libpq-ssl.html>. What differs: `verify-full` without a file of authorities trusts
//! those of the system, where libpq refuses; a file that is named and not there is never passed over.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use record::{Link, LinkEncryption};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream as Binds};
use tokio_postgres::{Client, Config, NoTls};
use tokio_rustls::TlsConnector;

use super::auth::{LogIn, Rule};
use super::fault::{self, Unconnected};
use super::line::{self, DriversEnd, OurEnd, Stream};
use super::several;
use crate::error::Attempt;
use crate::login::{Login, Surroundings};
use crate::silence::UNACKNOWLEDGED;
use crate::tls::{Checks, Fault, Files, Roots, agreed, binding_hash, config, of_home};
use crate::url::encryption::{Binding, Encryption, Mode, Words};
use crate::url::hosts::Wanted;
use crate::url::{Host, ServerAddress};
use crate::{Error, resolve};

/// Connects to the server, or to the one of several that is wanted.
pub(super) async fn connect(
    address: &ServerAddress,
    attempt: Attempt<'_>,
) -> Result<(Connected, Link), Error> {
    if address.tries() == 1 && address.wanted == Wanted::Any {
        return address.silence.let_in(attempt, one(address, attempt)).await;
    }
    several::connect(address, attempt).await
}

/// Connects to a server.
pub(super) async fn one(address: &ServerAddress, attempt: Attempt<'_>) -> Result<(Connected, Link), Error> {
    let login = Login::of_postgres(address, &Surroundings::here());
    let login = login.map_err(|words| Error::Refused(attempt.text(words, "")))?;
    let ignored = login.ignored.clone();
    one_as(address, &login, attempt).await.map_err(|error| with_ignored(error, ignored))
}

/// A refused login also says why a file of passwords was not read: it may hold the password that is missing.
fn with_ignored(error: Error, ignored: Option<String>) -> Error {
    match (error, ignored) {
        (Error::Refused(words), Some(why)) => Error::Refused(format!("{words}; {why}")),
        (error, _) => error,
    }
}

/// The same with a login.
async fn one_as(
    address: &ServerAddress,
    login: &Login,
    attempt: Attempt<'_>,
) -> Result<(Connected, Link), Error> {
    let sought = Sought::of(address, login, attempt).await?;
    let mode = match &address.host {
        Host::Tcp { .. } => login.encryption.mode(Words::Libpq),
        // As libpq, whatever is said of it: nothing leaves the machine.
        Host::Socket { .. } => Mode::Disable,
    };
    let is_remote = !address.host.is_local();
    let taken = login.taken.clone();
    let of = |encryption, remark: Option<String>| Link { is_remote, encryption, remark, taken };
    let failed = |error: &Unconnected| error.told(None, attempt);
    if mode == Mode::Disable {
        let is_socket = matches!(address.host, Host::Socket { .. });
        let remark = if is_socket { "over a Unix socket" } else { "as the address says" };
        let client = plain(&sought).await.map_err(|error| failed(&error))?;
        return Ok((client, of(None, Some(remark.to_owned()))));
    }
    let tls = Connector::of(&login.encryption, mode, attempt)?;
    match mode {
        Mode::Allow => match plain(&sought).await {
            Ok(client) => Ok((client, of(None, Some("the server wanted nothing else".to_owned())))),
            Err(first) if first.is_refusal() => {
                let over_tls = encrypted(&sought, SslMode::Require, &tls).await;
                let client = over_tls.map_err(|error| first.told(Some(&error), attempt))?;
                Ok((client, of(tls.agreed(), None)))
            }
            Err(error) => Err(failed(&error)),
        },
        Mode::Prefer => match encrypted(&sought, SslMode::Prefer, &tls).await {
            Ok(client) => {
                let encryption = tls.agreed();
                let remark = encryption.is_none().then(|| "the server has no TLS".to_owned());
                Ok((client, of(encryption, remark)))
            }
            Err(first) if first.is_refusal() || first.is_of_tls() => {
                let client = plain(&sought).await;
                let client = client.map_err(|error| first.told(Some(&error), attempt))?;
                Ok((client, of(None, Some(format!("with TLS: {}", first.words())))))
            }
            Err(error) => Err(failed(&error)),
        },
        Mode::Disable | Mode::Require | Mode::VerifyCa | Mode::VerifyFull => {
            let client = encrypted(&sought, SslMode::Require, &tls).await.map_err(|error| failed(&error))?;
            Ok((client, of(tls.agreed(), None)))
        }
    }
}

/// A connection: the driver, and our end of the line.
pub(super) struct Connected {
    pub(super) client: Client,
    pub(super) line: OurEnd,
}

/// Where somebody listens.
enum Place {
    Tcp(SocketAddr),
    Socket(PathBuf),
}

/// Where to connect to, in the order in which it is tried, and everything but the encryption.
struct Sought {
    places: Vec<Place>,
    /// The host, as certificates name it.
    host: String,
    silence: Duration,
    config: Config,
    rule: Rule,
}

fn settings(address: &ServerAddress, login: &Login) -> Config {
    let mut config = Config::new();
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
        .channel_binding(binding);
    config
}

async fn plain(sought: &Sought) -> Result<Connected, Unconnected> {
    sought.connect(SslMode::Disable, || Ok(NoTls)).await
}

async fn encrypted(sought: &Sought, mode: SslMode, tls: &Connector) -> Result<Connected, Unconnected> {
    sought.connect(mode, || tls.beginning(&sought.host)).await
}

impl Sought {
    async fn of(address: &ServerAddress, login: &Login, attempt: Attempt<'_>) -> Result<Self, Error> {
        let (host, places) = match &address.host {
            Host::Tcp { name, port } => {
                let found = resolve::addresses(name, attempt).await?;
                (name.clone(), found.into_iter().map(|one| Place::Tcp(SocketAddr::new(one, *port))).collect())
            }
            Host::Socket { path, port } => {
                (String::new(), vec![Place::Socket(path.join(format!(".s.PGSQL.{port}")))])
            }
        };
        let rule = Rule { required: login.encryption.auth.clone(), is_local: address.host.is_local() };
        Ok(Self { places, host, silence: address.silence.connect(), config: settings(address, login), rule })
    }

    /// Connects to the first place that lets us in.
    async fn connect<T>(
        &self,
        mode: SslMode,
        tls: impl Fn() -> io::Result<T>,
    ) -> Result<Connected, Unconnected>
    where
        T: TlsConnect<DriversEnd>,
        T::Stream: Send + Unpin + 'static,
    {
        let mut config = self.config.clone();
        config.ssl_mode(mode);
        let mut why = Unconnected::Socket(io::Error::other("it has no address"));
        for place in &self.places {
            let tried = async {
                let stream = self.reach(place).await.map_err(Unconnected::Socket)?;
                let (drivers, line) = line::ends(stream);
                let drivers = drivers.watched(LogIn::new(self.rule.clone(), mode != SslMode::Disable));
                let tls = tls().map_err(Unconnected::Socket)?;
                let connected = config.connect_raw(drivers, tls).await;
                let (client, connection) = connected.map_err(Unconnected::Driver)?;
                // How it ends, whoever waits for an answer is told.
                tokio::spawn(async { drop(connection.await) });
                Ok(Connected { client, line })
            };
            match tried.await {
                Ok(connected) => return Ok(connected),
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    async fn reach(&self, place: &Place) -> io::Result<Stream> {
        let reaching = async {
            Ok(match place {
                Place::Socket(path) => Box::new(UnixStream::connect(path).await?) as Stream,
                Place::Tcp(address) => {
                    let socket = TcpStream::connect(address).await?;
                    socket.set_nodelay(true)?;
                    rustix::net::sockopt::set_socket_keepalive(&socket, true)?;
                    rustix::net::sockopt::set_tcp_keepidle(&socket, UNACKNOWLEDGED)?;
                    let unacknowledged_ms = u32::try_from(UNACKNOWLEDGED.as_millis()).unwrap_or(u32::MAX);
                    rustix::net::sockopt::set_tcp_user_timeout(&socket, unacknowledged_ms)?;
                    Box::new(socket)
                }
            })
        };
        let late = || Err(io::Error::new(io::ErrorKind::TimedOut, "connection timed out"));
        timeout(self.silence, reaching).await.unwrap_or_else(|_| late())
    }
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

    fn beginning(&self, host: &str) -> io::Result<Beginning> {
        let name = ServerName::try_from(host.to_owned());
        let name = name
            .map_err(|_| Fault::new(format!("`{host}` cannot be the name in a certificate"), fault::TRUST))?;
        Ok(Beginning { connector: self.clone(), name })
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
                "sslmode=verify-ca trusts all certificates that given authorities have signed, but no authority is given".to_owned(),
                "give a CA certificate file with sslrootcert=FILE, or use sslmode=verify-full, which trusts the CAs of this system",
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

/// TLS with one host.
struct Beginning {
    connector: Connector,
    name: ServerName<'static>,
}

impl TlsConnect<DriversEnd> for Beginning {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, end: DriversEnd) -> Self::Future {
        Box::pin(async move {
            let Self { connector, name } = self;
            let stream = TlsConnector::from(Arc::clone(&connector.config)).connect(name, end.take()?).await?;
            let connection = stream.get_ref().1;
            // A second host is tried only if the first was not to be had.
            let _ = connector.agreed.set(agreed(connection, connector.checks));
            let shown = connection.peer_certificates();
            let hash = shown.and_then(|certificates| binding_hash(certificates.first()?));
            end.put(Box::new(stream));
            Ok(Encrypted { end, hash })
        })
    }
}

/// An encrypted connection.
struct Encrypted {
    end: DriversEnd,
    /// Of the server's certificate.
    hash: Option<Vec<u8>>,
}

impl Binds for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        self.hash.clone().map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.end).poll_read(context, room)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.end).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.end).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.end).poll_shutdown(context)
    }
}

#[cfg(test)]
mod ignored_tests {
    use super::*;

    /// A login failed for want of a password, and nothing said that the file that has it was there and not read.
    #[test]
    fn a_refused_login_says_why_a_file_of_passwords_was_not_read() {
        let why = || Some("/users/me/.pgpass was not read: others can read it".to_owned());
        let told = |error: Error, ignored| with_ignored(error, ignored).to_string();
        assert_eq!(
            told(Error::Refused("password missing".to_owned()), why()),
            "password missing; /users/me/.pgpass was not read: others can read it"
        );
        assert_eq!(told(Error::Refused("password missing".to_owned()), None), "password missing");
        assert_eq!(told(Error::Unreachable("nobody listens".to_owned()), why()), "nobody listens");
    }
}
