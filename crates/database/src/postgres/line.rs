//! The bytes of a connection, at which the driver and our own exchanges take turns.
//!
//! The driver moves them on a task of its own and hands each row from task to task, which for a statement of one row costs more than all
//! else that this program does. What others wrote is sent and read by `exchange` itself, over the driver's connection while that rests:
//! through the runtime, or on a thread that has a [`Reactor`](crate::Reactor) through that.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use super::auth::LogIn;
use crate::reactor::{self, Line};

/// A socket, or what encrypts one.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {
    /// The socket itself, taken from the runtime.
    fn into_socket(self: Box<Self>) -> io::Result<Result<Socket, Stream>>;
}

pub(super) type Stream = Box<dyn Duplex>;

/// A socket that no runtime knows.
pub(super) enum Socket {
    Tcp(std::net::TcpStream),
    Unix(std::os::unix::net::UnixStream),
}

impl Duplex for TcpStream {
    fn into_socket(self: Box<Self>) -> io::Result<Result<Socket, Stream>> {
        Ok(Ok(Socket::Tcp(self.into_std()?)))
    }
}

impl Duplex for UnixStream {
    fn into_socket(self: Box<Self>) -> io::Result<Result<Socket, Stream>> {
        Ok(Ok(Socket::Unix(self.into_std()?)))
    }
}

impl Duplex for tokio_rustls::client::TlsStream<Stream> {
    fn into_socket(self: Box<Self>) -> io::Result<Result<Socket, Stream>> {
        Ok(Err(self))
    }
}

#[cfg(test)]
impl Duplex for tokio::io::DuplexStream {
    fn into_socket(self: Box<Self>) -> io::Result<Result<Socket, Stream>> {
        Ok(Err(self))
    }
}

impl Socket {
    /// Whether the other end is on this machine, by an address that both have.
    fn is_here(&self) -> bool {
        let Self::Tcp(socket) = self else { return false };
        let ends = (socket.peer_addr(), socket.local_addr());
        matches!(ends, (Ok(there), Ok(here)) if there.ip() == here.ip())
    }

    /// Gives it to the runtime of this thread.
    fn into_stream(self) -> io::Result<Stream> {
        Ok(match self {
            Self::Tcp(socket) => Box::new(TcpStream::from_std(socket)?),
            Self::Unix(socket) => Box::new(UnixStream::from_std(socket)?),
        })
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(socket) => socket.as_fd(),
            Self::Unix(socket) => socket.as_fd(),
        }
    }
}

struct State {
    /// None while it is made an encrypted one, and while a reactor has its socket.
    stream: Option<Stream>,
    is_ours: bool,
    /// The driver, which wanted to read or write while it was not its turn.
    waiting: Option<Waker>,
}

impl State {
    fn give_back(&mut self) {
        self.is_ours = false;
        if let Some(driver) = self.waiting.take() {
            driver.wake();
        }
    }
}

fn state(line: &Mutex<State>) -> MutexGuard<'_, State> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The driver's end.
pub(super) struct DriversEnd {
    shared: Arc<Mutex<State>>,
    /// Sees what the server asks for at the log-in.
    log_in: Option<LogIn>,
}

/// Our end. The line is the driver's again once this is gone, so that it can take its leave.
pub(super) struct OurEnd {
    shared: Arc<Mutex<State>>,
    held: Held,
    /// Whether the server is on this machine.
    is_here: bool,
}

/// The socket of a line, while it is our turn.
enum Held {
    /// It is the runtime's.
    Not,
    /// A reactor of this thread has it.
    Here(Line<Socket>),
    /// It is on its way from one such thread to another.
    Away(Socket),
}

/// Both ends of one connection; it is the driver's turn.
pub(super) fn ends(stream: Stream) -> (DriversEnd, OurEnd) {
    let line = Arc::new(Mutex::new(State { stream: Some(stream), is_ours: false, waiting: None }));
    (
        DriversEnd { shared: Arc::clone(&line), log_in: None },
        OurEnd { shared: line, held: Held::Not, is_here: false },
    )
}

impl DriversEnd {
    /// The stream itself, to make another one of it.
    pub(super) fn take(&self) -> io::Result<Stream> {
        state(&self.shared).stream.take().ok_or_else(gone)
    }

    pub(super) fn put(&self, stream: Stream) {
        state(&self.shared).stream = Some(stream);
    }

    /// What comes is seen from now on, until the log-in is over.
    pub(super) fn watched(self, log_in: LogIn) -> Self {
        Self { log_in: Some(log_in), ..self }
    }

    fn poll<T>(
        &self,
        context: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut Stream>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut state = state(&self.shared);
        if state.is_ours {
            state.waiting = Some(context.waker().clone());
            return Poll::Pending;
        }
        match &mut state.stream {
            Some(stream) => poll(Pin::new(stream), context),
            None => Poll::Ready(Err(gone())),
        }
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the connection was not encrypted in the end")
}

impl AsyncRead for DriversEnd {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = room.filled().len();
        let read = self.poll(context, |stream, context| stream.poll_read(context, room));
        if let (Some(log_in), Poll::Ready(Ok(()))) = (&mut self.get_mut().log_in, &read) {
            log_in.see(&room.filled()[before..])?;
        }
        read
    }
}

impl AsyncWrite for DriversEnd {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(context, |stream, context| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(context, |stream, context| stream.poll_shutdown(context))
    }
}

impl OurEnd {
    /// It is our turn; the driver waits. Nothing may be under way for it.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn take(&mut self) -> io::Result<()> {
        if !matches!(self.held, Held::Not) {
            return Ok(());
        }
        let mut state = state(&self.shared);
        state.is_ours = true;
        if !reactor::is_here() {
            return Ok(());
        }
        let Some(stream) = state.stream.take() else { return Ok(()) };
        match stream.into_socket()? {
            Ok(socket) => {
                self.is_here = socket.is_here();
                match Line::of(socket)? {
                    Ok(line) => self.held = Held::Here(line),
                    Err(socket) => state.stream = Some(socket.into_stream()?),
                }
            }
            Err(stream) => state.stream = Some(stream),
        }
        Ok(())
    }

    /// Whether its socket is waited for by a reactor.
    pub(super) fn is_at_hand(&self) -> bool {
        matches!(self.held, Held::Here(_))
    }

    /// What it held, which it does not any more.
    fn let_go(&mut self) -> Option<Socket> {
        match std::mem::replace(&mut self.held, Held::Not) {
            Held::Not => None,
            Held::Here(line) => line.into_socket(),
            Held::Away(socket) => Some(socket),
        }
    }

    /// The processor on which what the server sent last was received, if the server is on this machine: that on which it worked.
    pub(super) fn processor(&self) -> Option<usize> {
        let Held::Here(line) = &self.held else { return None };
        let number = self.is_here.then(|| sockopt::socket_incoming_cpu(line.socket()))?;
        number.ok().map(|number| number as usize)
    }

    /// This thread's reactor has it no more; false where none had.
    pub(super) fn leave(&mut self) -> bool {
        if let Some(socket) = self.let_go() {
            self.held = Held::Away(socket);
        }
        matches!(self.held, Held::Away(_))
    }

    /// This thread's reactor has it now, if it had left another one.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn arrive(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.held, Held::Not) {
            Held::Away(socket) => match Line::of(socket)? {
                Ok(line) => self.held = Held::Here(line),
                Err(socket) => state(&self.shared).stream = Some(socket.into_stream()?),
            },
            held @ (Held::Not | Held::Here(_)) => self.held = held,
        }
        Ok(())
    }

    pub(super) fn give_back(&mut self) {
        let socket = self.let_go();
        let mut state = state(&self.shared);
        if let Some(socket) = socket {
            // Where there is no runtime any more, nobody takes leave.
            let is_runtime = tokio::runtime::Handle::try_current().is_ok();
            state.stream = is_runtime.then(|| socket.into_stream().ok()).flatten();
        }
        state.give_back();
    }

    /// Sends what can be sent of some bytes.
    pub(super) fn poll_send(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Held::Here(line) = &mut self.held {
            return line.send(context, bytes);
        }
        match &mut state(&self.shared).stream {
            Some(stream) => Pin::new(stream).poll_write(context, bytes),
            None => Poll::Ready(Err(gone())),
        }
    }

    /// Sends what an encrypted stream still holds.
    pub(super) fn poll_flush(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_at_hand() {
            return Poll::Ready(Ok(()));
        }
        match &mut state(&self.shared).stream {
            Some(stream) => Pin::new(stream).poll_flush(context),
            None => Poll::Ready(Err(gone())),
        }
    }

    /// Receives into some room, and gives the number of bytes; zero at the end.
    pub(super) fn poll_receive(
        &mut self,
        context: &mut Context<'_>,
        room: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if let Held::Here(line) = &mut self.held {
            return line.receive(context, room);
        }
        let mut room = ReadBuf::new(room);
        let received = match &mut state(&self.shared).stream {
            Some(stream) => Pin::new(stream).poll_read(context, &mut room),
            None => Poll::Ready(Err(gone())),
        };
        received.map_ok(|()| room.filled().len())
    }
}

impl Drop for OurEnd {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    #[tokio::test]
    async fn the_driver_waits_while_it_is_our_turn_and_goes_on_after_it() {
        let (here, mut there) = duplex(64);
        let (mut driver, mut ours) = ends(Box::new(here));
        ours.take().unwrap();
        let reading = tokio::spawn(async move {
            let mut byte = [0];
            driver.read_exact(&mut byte).await.unwrap();
            driver.write_all(b"d").await.unwrap();
            byte[0]
        });
        there.write_all(b"o").await.unwrap();
        let mut room = [0; 8];
        let received = std::future::poll_fn(|context| ours.poll_receive(context, &mut room)).await.unwrap();
        assert_eq!(&room[..received], b"o");
        let sent = std::future::poll_fn(|context| ours.poll_send(context, b"x")).await.unwrap();
        assert_eq!((sent, there.read_u8().await.unwrap()), (1, b'x'));
        tokio::task::yield_now().await;
        assert!(!reading.is_finished());
        drop(ours);
        there.write_all(b"r").await.unwrap();
        assert_eq!(there.read_u8().await.unwrap(), b'd');
        assert_eq!(reading.await.unwrap(), b'r');
    }
}
