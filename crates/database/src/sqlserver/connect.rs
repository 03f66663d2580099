//! From an address to a session that is logged in: names, ports, addresses of a listener, the first words, encryption, login.

use std::io;
use std::net::{IpAddr, SocketAddr};

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use record::Link;
use tiberius::{AuthMethod, Client, Config, EncryptionLevel};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::either::Either;

use super::browser;
use super::fault;
use super::prelogin::{self, ANSWER, HEADER_BYTES, PRELOGIN, Prelogin, Word};
use super::stream::Stream;
use super::tls;
use crate::Error;
use crate::error::{Attempt, remedy};
use crate::login::first_line;
use crate::resolve;
use crate::silence::UNACKNOWLEDGED;
use crate::url::sqlserver::{DEFAULT_PORT, Encrypt, SqlServerAddress};

/// Size of packets that is asked for if the address says none: that of Microsoft's drivers.
const PACKET_BYTES: u16 = 8000;
/// How often a server may send us on to another one: Azure does so once.
const REDIRECTIONS_MAX: u32 = 4;
/// Longest answer to the first words that is believed to be one.
const ANSWER_BYTES_MAX: usize = 4096;

const NOT_TDS: &str = "check whether SQL Server listens on that port; if the server requires strict encryption, use encrypt=strict";

const STRICT: &str = "add encrypt=strict to the address";
const NO_TLS: &str =
    "enable encryption on the server, or add encrypt=off to the address if the network is trusted";

/// Who logs in.
enum Login {
    User { name: String, password: String },
    Token(String),
}

/// Connects and logs in.
pub(super) async fn connect(
    address: &SqlServerAddress,
    attempt: Attempt<'_>,
) -> Result<(Client<Stream>, Link), Error> {
    let login = login(address, attempt)?;
    let wanted = wanted(address, matches!(login, Login::Token(_)), attempt)?;
    let (mut host, mut port) = (address.host.clone(), address.port);
    for _ in 0..REDIRECTIONS_MAX {
        let addresses = resolve::addresses(&host, attempt).await?;
        let port_there = match (port, &address.instance) {
            (Some(port), _) => port,
            (None, Some(instance)) => browser::port(&addresses, instance, attempt).await?,
            (None, None) => DEFAULT_PORT,
        };
        let places: Vec<SocketAddr> =
            addresses.into_iter().map(|ip: IpAddr| SocketAddr::new(ip, port_there)).collect();
        let socket = reach(&places, address.multi_subnet_failover).await;
        let socket = socket.map_err(|error| Error::Unreachable(attempt.text(error, remedy::UNREACHABLE)))?;
        let stream = agree(socket, (address, &host), (wanted, &login), attempt).await?;
        let link = stream.link(!address.is_local());
        match Client::connect(config(address, &host, port_there, &login), stream).await {
            Err(tiberius::error::Error::Routing { host: there, port: port_there }) => {
                (host, port) = (there, Some(port_there));
            }
            connected => {
                let client = connected.map_err(|error| fault::at_connect(&error, attempt))?;
                return Ok((client, link));
            }
        }
    }
    Err(Error::Unreachable(attempt.text(
        "each server redirects the connection to another server",
        "check which servers this name leads to",
    )))
}

/// What is to be looked at where nothing answers.
pub(super) fn unanswered(address: &SqlServerAddress) -> &'static str {
    match address.encrypt() {
        Encrypt::Strict => tls::UNANSWERED,
        Encrypt::Off | Encrypt::On => remedy::UNREACHABLE,
    }
}

/// A connection to one of these places: to the first that answers, of one after the other or of all at once.
async fn reach(places: &[SocketAddr], at_once: bool) -> io::Result<TcpStream> {
    let mut tries: FuturesUnordered<_> = FuturesUnordered::new();
    let mut left = places.iter().copied();
    let mut why = io::Error::other("it has no address");
    let socket = loop {
        let count = if at_once { usize::MAX } else { 1 };
        tries.extend(left.by_ref().take(count).map(TcpStream::connect::<SocketAddr>));
        match tries.next().await {
            Some(Ok(socket)) => break socket,
            Some(Err(error)) => why = error,
            None => return Err(why),
        }
    };
    socket.set_nodelay(true)?;
    rustix::net::sockopt::set_socket_keepalive(&socket, true)?;
    rustix::net::sockopt::set_tcp_keepidle(&socket, UNACKNOWLEDGED)?;
    let unacknowledged_ms = u32::try_from(UNACKNOWLEDGED.as_millis()).unwrap_or(u32::MAX);
    rustix::net::sockopt::set_tcp_user_timeout(&socket, unacknowledged_ms)?;
    Ok(socket)
}

/// Says the first words, and encrypts what is to be.
async fn agree(
    mut socket: TcpStream,
    (address, host): (&SqlServerAddress, &str),
    (wanted, login): (Encrypt, &Login),
    attempt: Attempt<'_>,
) -> Result<Stream, Error> {
    let has_token = matches!(login, Login::Token(_));
    let say =
        |word| prelogin::packet(PRELOGIN, &prelogin::asked(word, has_token, address.instance.as_deref()));
    let encrypt = |socket| async move {
        let encrypted = tls::encrypt(socket, (address, wanted), host).await;
        encrypted.map_err(|why| why.told(attempt))
    };
    if wanted == Encrypt::Strict {
        let mut tls = encrypt(socket).await?;
        let answer = exchange(&mut tls, &say(Word::Strict), attempt).await?;
        return Ok(Stream::new(Either::Right(Box::new(tls)), answer.plain(), false));
    }
    let word = if wanted == Encrypt::Off { Word::Off } else { Word::On };
    let answer = exchange(&mut socket, &say(word), attempt).await?;
    let is_login_alone = match (word, answer.word) {
        (Word::Off, Word::NotSupported) => {
            return Ok(Stream::new(Either::Left(socket), answer.plain(), false));
        }
        (Word::Off, Word::Off) => true,
        (_, Word::On | Word::Required) => false,
        (_, Word::Strict) => {
            return Err(Error::Refused(
                attempt.text("the server accepts connections only within TLS", STRICT),
            ));
        }
        // A server that can encrypt says so.
        (_, Word::Off | Word::NotSupported) => {
            return Err(Error::Refused(
                attempt
                    .text("the server does not support encryption, but this connection requires it", NO_TLS),
            ));
        }
    };
    let tls = encrypt(socket).await?;
    Ok(Stream::new(Either::Right(Box::new(tls)), answer.plain(), is_login_alone))
}

/// How it is encrypted. A token is good for whoever reads it, and so is never sent readable.
fn wanted(address: &SqlServerAddress, has_token: bool, attempt: Attempt<'_>) -> Result<Encrypt, Error> {
    match (address.encrypt(), has_token) {
        (Encrypt::Off, true) if address.encrypt.is_some() => Err(Error::Refused(attempt.text(
            "an access token is sent only over an encrypted connection",
            "omit encrypt=off, or log in with a user and a password",
        ))),
        (Encrypt::Off, true) => Ok(Encrypt::On),
        (encrypt, _) => Ok(encrypt),
    }
}

/// Sends the first words and reads those of the server.
async fn exchange<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(
    stream: &mut S,
    words: &[u8],
    attempt: Attempt<'_>,
) -> Result<Prelogin, Error> {
    let lost = |error: io::Error| {
        let words = format!("the connection ended during the first exchange: {error}");
        Error::Unreachable(attempt.text(words, NOT_TDS))
    };
    let odd = || Error::Unreachable(attempt.text("what answers there does not speak TDS", NOT_TDS));
    stream.write_all(words).await.map_err(lost)?;
    stream.flush().await.map_err(lost)?;
    let mut header = [0; HEADER_BYTES];
    stream.read_exact(&mut header).await.map_err(lost)?;
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if header[0] != ANSWER || !(HEADER_BYTES..=ANSWER_BYTES_MAX).contains(&length) {
        return Err(odd());
    }
    let mut answer = vec![0; length - HEADER_BYTES];
    stream.read_exact(&mut answer).await.map_err(lost)?;
    Prelogin::read(&answer).ok_or_else(odd)
}

fn login(address: &SqlServerAddress, attempt: Attempt<'_>) -> Result<Login, Error> {
    let refused = |words: String, remedy: &str| Error::Refused(attempt.text(words, remedy));
    if let Some(file) = &address.access_token_file {
        let read = std::fs::read_to_string(file);
        let token = read.map_err(|error| {
            refused(
                format!("cannot read the access token in {}: {error}", file.display()),
                "name a file that holds it",
            )
        })?;
        let token = token.trim();
        if token.is_empty() {
            return Err(refused(
                format!("{} does not contain an access token", file.display()),
                "put one into it",
            ));
        }
        return Ok(Login::Token(token.to_owned()));
    }
    let name = address.user.clone().or_else(|| std::env::var("SQLCMDUSER").ok());
    let password = match &address.password_file {
        Some(file) => Some(first_line(file).map_err(|words| refused(words, ""))?),
        None => address.password.clone().or_else(|| std::env::var("SQLCMDPASSWORD").ok()),
    };
    match (name, password) {
        (Some(name), Some(password)) => Ok(Login::User { name, password }),
        (None, _) => Err(refused("no user is given".to_owned(), "give user:password@host, or SQLCMDUSER")),
        (Some(_), None) => {
            Err(refused("the login has no password".to_owned(), "give user:password@host, or SQLCMDPASSWORD"))
        }
    }
}

fn config(address: &SqlServerAddress, host: &str, port: u16, login: &Login) -> Config {
    let mut config = Config::new();
    config.host(host);
    config.port(port);
    config.application_name(address.application_name.as_deref().unwrap_or("prony"));
    config.client_name(rustix::system::uname().nodename().to_string_lossy());
    config.packet_size(u32::from(address.packet_bytes.unwrap_or(PACKET_BYTES)));
    config.readonly(address.is_read_only);
    if let Some(database) = &address.database {
        config.database(database);
    }
    // What is encrypted is the stream's affair, and how long anything may take is that of whoever waits.
    config.encryption(EncryptionLevel::NotSupported);
    config.handshake_timeout(None);
    config.command_timeout(None);
    config.authentication(match login {
        Login::User { name, password } => AuthMethod::sql_server(name, password),
        Login::Token(token) => AuthMethod::aad_token(token),
    });
    config
}
