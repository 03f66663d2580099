//! One connection over which a server is spoken to by HTTP/1.1: a request, its whole answer, the next request. Nothing of HTTP is
//! here that ClickHouse and Patroni do not use.

use std::io;
use std::sync::Arc;

use record::LinkEncryption;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::{Duration, Instant};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;

use crate::error::{Attempt, remedy};
use crate::silence::UNACKNOWLEDGED;
use crate::tls::{Checks, Files, agreed, config};
use crate::url::Host;
use crate::url::encryption::{Encryption, Mode};
use crate::{Error, resolve};

/// Longest line of a head, and most lines, of what is believed to be HTTP.
const LINE_BYTES_MAX: u64 = 64 * 1024;
const LINES_MAX: usize = 200;
/// Longest answer that is kept.
const BODY_BYTES_MAX: u64 = 1 << 30;

/// A connection that can take a request.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: BufReader<Stream>,
    rested_since: Instant,
    encryption: Option<LinkEncryption>,
}

/// What a server answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// As it is, or encrypted.
type Stream = Either<TcpStream, Box<TlsStream<TcpStream>>>;

impl Wire {
    /// Connects to a host.
    pub(crate) async fn open(
        (host, encryption): (&Host, &Encryption),
        attempt: Attempt<'_>,
    ) -> Result<Self, Error> {
        let Host::Tcp { name, port } = host else {
            return Err(Error::Refused(attempt.text("HTTP does not work over a Unix socket", "give a host")));
        };
        let addresses = resolve::addresses(name, attempt).await?;
        let mut why = io::Error::other("it has no address");
        for place in addresses {
            match TcpStream::connect((place, *port)).await {
                Ok(socket) => return Self::begin(socket, (encryption, name), attempt).await,
                Err(error) => why = error,
            }
        }
        Err(Error::Unreachable(attempt.text(why, remedy::UNREACHABLE)))
    }

    async fn begin(
        socket: TcpStream,
        (said, name): (&Encryption, &str),
        attempt: Attempt<'_>,
    ) -> Result<Self, Error> {
        let set = || -> io::Result<()> {
            socket.set_nodelay(true)?;
            rustix::net::sockopt::set_socket_keepalive(&socket, true)?;
            rustix::net::sockopt::set_tcp_keepidle(&socket, UNACKNOWLEDGED)?;
            let unacknowledged_ms = u32::try_from(UNACKNOWLEDGED.as_millis()).unwrap_or(u32::MAX);
            rustix::net::sockopt::set_tcp_user_timeout(&socket, unacknowledged_ms)?;
            Ok(())
        };
        set().map_err(|error| Error::Unreachable(attempt.text(error, remedy::UNREACHABLE)))?;
        let (stream, encryption) = encrypted(socket, (said, name), attempt).await?;
        Ok(Self { stream: BufReader::new(stream), rested_since: Instant::now(), encryption })
    }

    /// How it is encrypted.
    pub(crate) fn encryption(&self) -> Option<&LinkEncryption> {
        self.encryption.as_ref()
    }

    /// How long nothing was asked over it.
    pub(crate) fn rested(&self) -> Duration {
        self.rested_since.elapsed()
    }

    /// From now on nothing is asked over it.
    pub(crate) fn rests(&mut self) {
        self.rested_since = Instant::now();
    }

    /// Tells the answer, and whether the connection takes another request.
    pub(crate) async fn exchange(&mut self, head: &str, body: &[u8]) -> io::Result<(Reply, bool)> {
        let stream = self.stream.get_mut();
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body).await?;
        stream.flush().await?;
        read_reply(&mut self.stream).await
    }
}

/// HTTP agrees on no encryption: an address says whether there is one.
async fn encrypted(
    socket: TcpStream,
    (said, name): (&Encryption, &str),
    attempt: Attempt<'_>,
) -> Result<(Stream, Option<LinkEncryption>), Error> {
    let checks = match said.mode {
        Some(Mode::Require) => Checks::Nothing,
        Some(Mode::VerifyCa) => Checks::Authority,
        Some(Mode::VerifyFull) => Checks::AuthorityAndName,
        None if said.roots.is_some() => Checks::AuthorityAndName,
        None | Some(Mode::Disable) => return Ok((Either::Left(socket), None)),
        Some(Mode::Allow | Mode::Prefer) => {
            let words = "encryption cannot be negotiated over HTTP";
            let remedy = "use sslmode=disable, or use the HTTPS port with require, verify-ca or verify-full";
            return Err(Error::Refused(attempt.text(words, remedy)));
        }
    };
    let refused = |error: crate::tls::Fault| {
        let remedy = error.remedy.clone();
        let remedy = remedy
            .as_deref()
            .unwrap_or("use sslrootcert=FILE to name the authority that signed the certificate");
        Error::Refused(attempt.text(&error.words, remedy))
    };
    let files = Files {
        roots: said.roots.clone(),
        identity: said.certificate.clone().zip(said.key.clone()),
        oldest: said.oldest.unwrap_or_default(),
        is_tls12_alone: false,
    };
    let config = config(checks, &files).map_err(refused)?;
    let server = ServerName::try_from(name.to_owned())
        .map_err(|error| Error::Refused(attempt.text(error, "give the name of a host")))?;
    let connected = TlsConnector::from(Arc::new(config)).connect(server, socket).await;
    let stream = connected.map_err(|error| match crate::tls::Fault::within(&error) {
        Some(fault) => refused(fault),
        None => Error::Unreachable(attempt.text(error, "check whether the server uses HTTPS on that port")),
    })?;
    let encryption = agreed(stream.get_ref().1, checks);
    Ok((Either::Right(Box::new(stream)), Some(encryption)))
}

/// Reads an answer to its end. Tells whether the connection takes another request.
async fn read_reply<S: AsyncRead + Unpin>(stream: &mut BufReader<S>) -> io::Result<(Reply, bool)> {
    let status = status(&line(stream).await?)?;
    let (mut length, mut is_chunked, mut stays) = (None, false, true);
    for _ in 0..LINES_MAX {
        let line = line(stream).await?;
        if line.is_empty() {
            let mut body = Vec::new();
            match (is_chunked, length) {
                (true, _) => chunks(stream, &mut body).await?,
                (false, Some(length)) => take(stream, length, &mut body).await?,
                (false, None) => {
                    stays = false;
                    stream.take(BODY_BYTES_MAX).read_to_end(&mut body).await?;
                }
            }
            return Ok((Reply { status, body }, stays));
        }
        let Some((name, value)) = line.split_once(':') else { return Err(odd(&line)) };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = Some(value.parse().map_err(|_| odd(&line))?),
            "transfer-encoding" => is_chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => stays = !value.eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    Err(odd("more lines than a head has"))
}

/// `HTTP/1.1 200 OK`.
fn status(line: &str) -> io::Result<u16> {
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
    status.and_then(|status| status.parse().ok()).ok_or_else(|| odd(line))
}

async fn chunks<S: AsyncRead + Unpin>(stream: &mut BufReader<S>, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let size = line(stream).await?;
        let digits = size.split(';').next().unwrap_or_default().trim();
        let bytes = u64::from_str_radix(digits, 16).map_err(|_| odd(&size))?;
        take(stream, bytes, body).await?;
        let end = line(stream).await?;
        if !end.is_empty() {
            return Err(odd(&end));
        }
        if bytes == 0 {
            return Ok(());
        }
    }
}

/// So many bytes.
async fn take<S: AsyncRead + Unpin>(
    stream: &mut BufReader<S>,
    bytes: u64,
    body: &mut Vec<u8>,
) -> io::Result<()> {
    if body.len() as u64 + bytes > BODY_BYTES_MAX {
        return Err(odd("an answer of more than 1 GiB"));
    }
    let read = stream.take(bytes).read_to_end(body).await?;
    if (read as u64) < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// A line without its end.
async fn line<S: AsyncRead + Unpin>(stream: &mut BufReader<S>) -> io::Result<String> {
    let mut bytes = Vec::new();
    let read = stream.take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes).await?;
    if read == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let text = String::from_utf8_lossy(&bytes);
    text.strip_suffix('\n').map(|line| line.trim_end_matches('\r').to_owned()).ok_or_else(|| odd(&text))
}

fn odd(line: &str) -> io::Error {
    let shown: String = line.chars().take(80).collect();
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the server there does not speak HTTP; its answer begins with `{shown}`"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &str) -> io::Result<(Reply, bool)> {
        read_reply(&mut BufReader::new(text.as_bytes())).await
    }

    #[tokio::test]
    async fn an_answer_is_read_to_its_end_however_its_length_is_told() {
        let reply = |status, body: &str| Reply { status, body: body.as_bytes().to_vec() };
        for (text, expected, stays) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1\nX", reply(200, "1\n"), true),
            (
                "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nCod\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
                reply(404, "Cod0123456789"),
                true,
            ),
            ("HTTP/1.1 200 OK\r\nConnection: Close\r\ncontent-length:0\r\n\r\n", reply(200, ""), false),
            ("HTTP/1.0 200 OK\n\nall of it", reply(200, "all of it"), false),
        ] {
            assert_eq!(read(text).await.unwrap(), (expected, stays), "{text}");
        }
    }

    #[tokio::test]
    async fn what_is_cut_short_is_lost_and_what_is_no_http_is_told() {
        let kind = async |text: &str| read(text).await.unwrap_err().kind();
        for text in [
            "",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n1",
        ] {
            assert_eq!(kind(text).await, io::ErrorKind::UnexpectedEof, "{text:?}");
        }
        for text in [
            "SSH-2.0-OpenSSH\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 OK\r\n\r\n",
        ] {
            assert_eq!(kind(text).await, io::ErrorKind::InvalidData, "{text:?}");
        }
    }
}
