//! The stream on which the driver speaks, behind the first words (`prelogin`), which were said before it.
//!
//! The driver says its own first words all the same: they are taken from it, and it is answered that there is no encryption.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::io::{AsyncRead, AsyncWrite};
use tokio::io::{AsyncRead as TokioRead, AsyncWrite as TokioWrite, ReadBuf};
use tokio::net::TcpStream;

use super::prelogin::Boundary;

/// What the driver speaks on.
pub(crate) struct Stream {
    socket: TcpStream,
    phase: Phase,
    boundary: Boundary,
    /// Answer to the driver's first words, as far as it has not taken it.
    answer: Vec<u8>,
}

/// What the driver sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its first words, which nobody hears.
    Prelogin,
    /// Its login and requests.
    Open,
}

impl Stream {
    /// On a connection on which the first words were said; `answer` is the packet for the driver.
    pub(super) fn new(socket: TcpStream, answer: Vec<u8>) -> Self {
        Self { socket, phase: Phase::Prelogin, boundary: Boundary::default(), answer }
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
        let mut read = ReadBuf::new(room);
        ready!(Pin::new(&mut this.socket).poll_read(context, &mut read))?;
        Poll::Ready(Ok(read.filled().len()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match this.phase {
            Phase::Prelogin => {
                let (taken, is_end) = this.boundary.advance(bytes);
                if is_end {
                    this.phase = Phase::Open;
                }
                Poll::Ready(Ok(taken))
            }
            Phase::Open => Pin::new(&mut this.socket).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.phase == Phase::Prelogin {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.socket).poll_flush(context)
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(context)
    }
}
