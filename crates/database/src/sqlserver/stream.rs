//! The stream on which the driver speaks, behind the first words (`prelogin`), which were said before it.
//!
//! The driver says its own first words all the same: they are taken from it, and it is answered that there is no encryption.
//! Whether there is one is the socket's affair. Where it is for the login alone, it ends once the login has left.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::io::{AsyncRead, AsyncWrite};
use record::{Link, LinkEncryption};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_util::either::Either;

use super::prelogin::Boundary;
use super::tls::Tls;

/// What the driver speaks on.
pub(crate) struct Stream {
    socket: Socket,
    phase: Phase,
    boundary: Boundary,
    /// Answer to the driver's first words, as far as it has not taken it.
    answer: Vec<u8>,
    is_login_alone: bool,
}

/// What bytes go through: as they are, or encrypted.
pub(super) type Socket = Either<TcpStream, Box<Tls>>;

/// What the driver sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its first words, which nobody hears.
    Prelogin,
    /// Its login, after which nothing is encrypted any more.
    Login,
    /// The end of that has to leave.
    LoginSaid,
    /// Requests, and its login where it is as they are.
    Open,
}

impl Stream {
    /// On a connection on which the first words were said; `answer` is the packet for the driver. Whether encryption ends with
    /// the login was agreed upon.
    pub(super) fn new(socket: Socket, answer: Vec<u8>, is_login_alone: bool) -> Self {
        Self { socket, phase: Phase::Prelogin, boundary: Boundary::default(), answer, is_login_alone }
    }

    /// How it is encrypted, as the record has it.
    pub(super) fn link(&self, is_remote: bool) -> Link {
        let encryption: Option<LinkEncryption> = match &self.socket {
            Either::Left(_) => None,
            Either::Right(_) if self.is_login_alone => None,
            Either::Right(tls) => Some(tls.agreed()),
        };
        let remark = match &self.socket {
            Either::Left(_) if is_remote => {
                Some("the server cannot encrypt, so even the login was sent unencrypted".to_owned())
            }
            Either::Right(_) if self.is_login_alone => Some("except for the login".to_owned()),
            Either::Left(_) | Either::Right(_) => None,
        };
        Link { is_remote, encryption, remark, taken: Vec::new() }
    }

    /// Sends what is left of the login, and ends the encryption behind it.
    fn poll_login_left(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.phase == Phase::LoginSaid {
            ready!(Pin::new(&mut self.socket).poll_flush(context))?;
            if let Either::Right(tls) = &mut self.socket {
                tls.end();
            }
            self.phase = Phase::Open;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if !this.answer.is_empty() {
            let count = room.len().min(this.answer.len());
            room[..count].copy_from_slice(&this.answer[..count]);
            this.answer.drain(..count);
            return Poll::Ready(Ok(count));
        }
        ready!(this.poll_login_left(context))?;
        let mut read = ReadBuf::new(room);
        ready!(Pin::new(&mut this.socket).poll_read(context, &mut read))?;
        Poll::Ready(Ok(read.filled().len()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_login_left(context))?;
        match this.phase {
            Phase::Prelogin => {
                let (taken, is_end) = this.boundary.advance(bytes);
                if is_end {
                    this.phase = if this.is_login_alone { Phase::Login } else { Phase::Open };
                }
                Poll::Ready(Ok(taken))
            }
            Phase::Login => {
                let (length, _) = this.boundary.clone().advance(bytes);
                let written = ready!(Pin::new(&mut this.socket).poll_write(context, &bytes[..length]))?;
                if this.boundary.advance(&bytes[..written]).1 {
                    this.phase = Phase::LoginSaid;
                }
                Poll::Ready(Ok(written))
            }
            Phase::LoginSaid | Phase::Open => Pin::new(&mut this.socket).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.phase == Phase::Prelogin {
            return Poll::Ready(Ok(()));
        }
        ready!(this.poll_login_left(context))?;
        Pin::new(&mut this.socket).poll_flush(context)
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(context)
    }
}
