//! TLS as the protocol begins it: within packets of its own (TDS 7), or before its first word (TDS 8, `encrypt=strict`).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use record::LinkEncryption;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::prelogin::{HEADER_BYTES, PRELOGIN, packet};
use crate::Error;
use crate::error::Attempt;
use crate::tls::{Checks, Fault, Files, Roots, agreed, config};
use crate::url::sqlserver::{Encrypt, SqlServerAddress};

/// Name of the protocol that is begun within TLS.
const TDS_8: &[u8] = b"tds/8.0";
/// Most bytes of a TLS record that are put into a packet: what every server takes before a size was agreed upon.
const PIECE_BYTES: usize = 4096 - HEADER_BYTES;

/// What a handshake is checked by.
const REMEDY: &str = "use sslrootcert=FILE to give the authority that signed the certificate, or host_name_in_certificate=NAME to \
give the certificate's name; if the network is trusted, use trust_server_certificate=true";

/// One that waits for the first word of the protocol says nothing to the first word of TLS.
pub(super) const UNANSWERED: &str = "check host and port, and that the server runs and accepts this machine; use encrypt=on for \
servers before SQL Server 2022, which lack encrypt=strict";
const ENDED: &str = "see the server's log; if the server does not support encrypt=strict, use encrypt=on";

/// An encrypted connection, or one that was until its login had left.
pub(crate) struct Tls {
    stream: TlsStream<Wrapped>,
    is_over: bool,
    checks: Checks,
}

/// A socket on which a handshake may be under way within packets of the protocol.
pub(super) struct Wrapped {
    socket: TcpStream,
    is_wrapping: bool,
    /// What TLS has to say, as packets, and how much of it was sent.
    outgoing: Vec<u8>,
    sent: usize,
    header: [u8; HEADER_BYTES],
    header_seen: usize,
    /// Bytes of the packet that have not come.
    left: usize,
}

/// Why there is no encryption.
pub(super) enum Unencrypted {
    /// What a certificate is wrong with, or another mistake of somebody.
    Fault(Fault),
    /// The connection.
    Io(io::Error),
}

/// Encrypts a connection. With `encrypt=off` whoever answers is believed, as by the drivers of Microsoft: nothing but the login is
/// encrypted then, unless the server wants more.
///
/// # Errors
/// See [`Unencrypted`].
pub(super) async fn encrypt(
    socket: TcpStream,
    (address, wanted): (&SqlServerAddress, Encrypt),
    host: &str,
) -> Result<Tls, Unencrypted> {
    let checks = if wanted == Encrypt::Off || address.trust_server_certificate {
        Checks::Nothing
    } else {
        Checks::AuthorityAndName
    };
    // What 1.3 sends after the handshake would stand between packets.
    let is_tls12_alone = wanted != Encrypt::Strict;
    let roots = address.authorities.clone().map(Roots::File);
    let files = Files { roots, is_tls12_alone, ..Files::default() };
    let mut config = config(checks, &files).map_err(Unencrypted::Fault)?;
    if wanted == Encrypt::Strict {
        config.alpn_protocols = vec![TDS_8.to_vec()];
    }
    let name = address.host_name_in_certificate.as_deref().unwrap_or(host).to_owned();
    let no_name =
        |_| Unencrypted::Fault(Fault::new(format!("`{name}` cannot be the name in a certificate"), REMEDY));
    let name = ServerName::try_from(name.clone()).map_err(no_name)?;
    let wrapped = Wrapped {
        socket,
        is_wrapping: wanted != Encrypt::Strict,
        outgoing: Vec::new(),
        sent: 0,
        header: [0; HEADER_BYTES],
        header_seen: 0,
        left: 0,
    };
    let connected = TlsConnector::from(Arc::new(config)).connect(name, wrapped).await;
    let mut stream = connected.map_err(|error| match Fault::within(&error) {
        Some(fault) => Unencrypted::Fault(fault),
        None => Unencrypted::Io(error),
    })?;
    stream.get_mut().0.is_wrapping = false;
    Ok(Tls { stream, is_over: false, checks })
}

impl Unencrypted {
    /// As an error of the connection.
    pub(super) fn told(self, attempt: Attempt<'_>) -> Error {
        match self {
            Self::Fault(Fault { words, remedy, .. }) => {
                Error::Refused(attempt.text(words, remedy.as_deref().unwrap_or(REMEDY)))
            }
            Self::Io(error) => {
                let words = format!("the connection ended during the negotiation of encryption: {error}");
                Error::Unreachable(attempt.text(words, ENDED))
            }
        }
    }
}

impl Tls {
    /// From now on everything is in the clear, in both directions.
    pub(super) fn end(&mut self) {
        self.is_over = true;
    }

    /// What was agreed upon.
    pub(super) fn agreed(&self) -> LinkEncryption {
        agreed(self.stream.get_ref().1, self.checks)
    }
}

impl AsyncRead for Tls {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.is_over {
            false => Pin::new(&mut this.stream).poll_read(context, room),
            true => Pin::new(this.stream.get_mut().0).poll_read(context, room),
        }
    }
}

impl AsyncWrite for Tls {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match this.is_over {
            false => Pin::new(&mut this.stream).poll_write(context, bytes),
            true => Pin::new(this.stream.get_mut().0).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.is_over {
            false => Pin::new(&mut this.stream).poll_flush(context),
            true => Pin::new(this.stream.get_mut().0).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.is_over {
            false => Pin::new(&mut this.stream).poll_shutdown(context),
            true => Pin::new(this.stream.get_mut().0).poll_shutdown(context),
        }
    }
}

impl AsyncRead for Wrapped {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.is_wrapping {
            return Pin::new(&mut this.socket).poll_read(context, room);
        }
        while this.left == 0 {
            let mut header = ReadBuf::new(&mut this.header[this.header_seen..]);
            ready!(Pin::new(&mut this.socket).poll_read(context, &mut header))?;
            if header.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.header_seen += header.filled().len();
            if this.header_seen == HEADER_BYTES {
                let whole = usize::from(u16::from_be_bytes([this.header[2], this.header[3]]));
                this.left = whole.saturating_sub(HEADER_BYTES);
                this.header_seen = 0;
            }
        }
        let length = this.left.min(room.remaining());
        let mut piece = ReadBuf::new(room.initialize_unfilled_to(length));
        ready!(Pin::new(&mut this.socket).poll_read(context, &mut piece))?;
        let count = piece.filled().len();
        room.advance(count);
        this.left -= count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wrapped {
    /// While the handshake is under way everything that TLS says at once goes into one message.
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if !this.is_wrapping {
            ready!(this.poll_sent(context))?;
            return Pin::new(&mut this.socket).poll_write(context, bytes);
        }
        let count = bytes.len().min(PIECE_BYTES);
        this.outgoing.extend(packet(PRELOGIN, &bytes[..count]));
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_sent(context))?;
        Pin::new(&mut this.socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(context)
    }
}

impl Wrapped {
    /// Sends what the handshake has to say.
    fn poll_sent(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.outgoing.len() {
            let written =
                ready!(Pin::new(&mut self.socket).poll_write(context, &self.outgoing[self.sent..]))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += written;
        }
        self.outgoing.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }
}
