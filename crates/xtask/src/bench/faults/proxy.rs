//! A server that falls silent: a TCP proxy that forwards so many bytes of a server's answers and nothing more.
//!
//! Connections stay open and take what the client sends, as those to a stopped machine do.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;

/// How often a thread looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A proxy in front of a port of this machine; it ends when it is dropped, and its connections with it.
pub(super) struct Proxy {
    state: Arc<State>,
    address: SocketAddr,
}

struct State {
    /// Bytes that the server may still say, all connections together.
    left: AtomicU64,
    forwarded: AtomicU64,
    is_silent: AtomicBool,
    has_ended: AtomicBool,
}

impl Proxy {
    /// Forwards that many bytes of the server, then none.
    pub(super) fn start(server: u16, bytes: u64) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            left: AtomicU64::new(bytes),
            forwarded: AtomicU64::new(0),
            is_silent: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || accept(&listener, server, &shared));
        Ok(Self { state, address })
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Bytes of the server that were forwarded so far.
    pub(super) fn forwarded(&self) -> u64 {
        self.state.forwarded.load(Ordering::SeqCst)
    }

    /// Whether something was held back.
    pub(super) fn is_silent(&self) -> bool {
        self.state.is_silent.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.has_ended.store(true, Ordering::SeqCst);
    }
}

impl State {
    /// How many of these bytes may be forwarded.
    fn grant(&self, bytes: usize) -> usize {
        let bytes = bytes as u64;
        let taken = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| Some(left.saturating_sub(bytes)));
        let granted = taken.unwrap_or_else(|left| left).min(bytes);
        if granted < bytes {
            self.is_silent.store(true, Ordering::SeqCst);
        }
        self.forwarded.fetch_add(granted, Ordering::SeqCst);
        usize::try_from(granted).unwrap_or(0)
    }
}

fn accept(listener: &TcpListener, server: u16, state: &Arc<State>) {
    while !state.has_ended.load(Ordering::SeqCst) {
        let Ok((client, _)) = listener.accept() else {
            std::thread::sleep(LOOK_EVERY);
            continue;
        };
        // A server that does not answer is a client that is closed.
        let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
        let (Ok(back), Ok(forth)) = (client.try_clone(), server.try_clone()) else { continue };
        let of_client = Arc::clone(state);
        std::thread::spawn(move || copy(&client, &server, &of_client, |_, bytes| bytes));
        let of_server = Arc::clone(state);
        std::thread::spawn(move || copy(&forth, &back, &of_server, State::grant));
    }
}

/// Copies until one of both closes; of what is read only that many bytes are passed on.
fn copy(mut from: &TcpStream, mut to: &TcpStream, state: &State, grant: fn(&State, usize) -> usize) {
    // Nothing can be done about a socket that takes no such setting, and the copy works without.
    let _ = from.set_nonblocking(false).and_then(|()| from.set_read_timeout(Some(LOOK_EVERY)));
    let mut buffer = [0; 16 * 1024];
    while !state.has_ended.load(Ordering::SeqCst) {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                let granted = grant(state, count);
                if to.write_all(&buffer[..granted]).is_err() {
                    break;
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
    }
    // A server that fell silent does not hang up either.
    if !state.is_silent.load(Ordering::SeqCst) || state.has_ended.load(Ordering::SeqCst) {
        let _ = to.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a client gets of a server that says ten bytes.
    fn heard(bytes: u64) -> (Vec<u8>, bool) {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let proxy = Proxy::start(port, bytes).unwrap();
        let mut client = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
        let (mut connection, _) = server.accept().unwrap();
        connection.write_all(b"0123456789").unwrap();
        let mut got = vec![0; usize::try_from(bytes.min(10)).unwrap()];
        client.read_exact(&mut got).unwrap();
        client.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let more = client.read(&mut [0; 1]);
        assert_eq!(more.unwrap_err().kind(), ErrorKind::WouldBlock, "it stays open and says nothing");
        (got, proxy.is_silent())
    }

    #[test]
    fn a_server_is_heard_up_to_the_byte_and_no_further() {
        assert_eq!(heard(4), (b"0123".to_vec(), true));
        assert_eq!(heard(100), (b"0123456789".to_vec(), false));
    }
}
