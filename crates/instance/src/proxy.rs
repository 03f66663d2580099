//! A proxy on loopback before a server that falls silent: connections stay open, what clients say is taken, and nothing comes
//! back. It breaks no connection by itself and changes no byte. What clients of SQL Server say is counted by messages.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::tds_messages::Messages;

const PIECE_BYTES: usize = 4096;

/// Hands on so much of what a server says. Its threads end with the connections, and with the process.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    /// Bytes that are still handed on, of all connections together.
    left: AtomicU64,
    /// Whether something was swallowed.
    is_silent: AtomicBool,
    /// Whether connections that are made from now on are handed on whatever is left.
    spares_new: AtomicBool,
    /// Bytes that had been handed on after each piece.
    pieces: Mutex<Vec<u64>>,
    /// Messages of clients by their kind, where they speak the protocol of SQL Server.
    said: Mutex<BTreeMap<u8, u64>>,
    /// Both ends of each connection.
    ends: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Before the server on a port of loopback, for so many bytes of it.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn before(server: u16, bytes: u64) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State {
            left: AtomicU64::new(bytes),
            is_silent: AtomicBool::new(false),
            spares_new: AtomicBool::new(false),
            pieces: Mutex::default(),
            said: Mutex::default(),
            ends: Mutex::default(),
        });
        let of_connections = Arc::clone(&state);
        std::thread::Builder::new().name("proxy".to_owned()).spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // A client of which one end cannot be had is let go, and sees that.
                let _ = connect(client, server, &of_connections);
            }
        })?;
        Ok(Self { port, state })
    }

    /// The address of a server as clients of the proxy have it.
    #[must_use]
    pub fn url(&self, of_server: &str) -> String {
        let (place, database) = of_server.rsplit_once('/').unwrap_or((of_server, ""));
        let host = place.rsplit_once(':').map_or(place, |(host, _)| host);
        format!("{host}:{}/{database}", self.port)
    }

    /// From now on nothing is handed on.
    pub fn fall_silent(&self) {
        self.state.left.store(0, Ordering::Relaxed);
    }

    /// Ends all connections that there are; new ones can be made.
    pub fn cut(&self) {
        for end in self.state.ends.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // Its other side may have ended it already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// How many messages clients said to a server of SQL Server's protocol, by kind: 1 is a batch, 3 a call, 7 a bulk load.
    #[must_use]
    pub fn said(&self) -> BTreeMap<u8, u64> {
        self.state.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Connections that are made from now on are handed on.
    pub fn spare_new_connections(&self) {
        self.state.spares_new.store(true, Ordering::Relaxed);
    }

    /// Whether something was swallowed.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.state.is_silent.load(Ordering::Relaxed)
    }

    /// Bytes that had been handed on after each piece that came from the server: where its messages may end.
    #[must_use]
    pub fn pieces(&self) -> Vec<u64> {
        self.state.pieces.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn connect(client: TcpStream, server: u16, state: &Arc<State>) -> io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", server))?;
    let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
    let ends = [client.try_clone()?, server.try_clone()?];
    state.ends.lock().unwrap_or_else(PoisonError::into_inner).extend(ends);
    let (state, of_client) = (Arc::clone(state), Arc::clone(state));
    std::thread::Builder::new().spawn(move || hand_on(from_client, to_server, &of_client))?;
    std::thread::Builder::new().spawn(move || tell(server, client, &state))?;
    Ok(())
}

/// What a client says, to its end.
fn hand_on(mut from: TcpStream, mut to: TcpStream, state: &State) {
    let mut buffer = [0; PIECE_BYTES];
    let mut messages = Messages::default();
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        // Before they are sent: whoever has the answer finds them counted.
        messages.count(&buffer[..read], &mut state.said.lock().unwrap_or_else(PoisonError::into_inner));
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    // Whoever is left behind ends too.
    let _ = to.shutdown(Shutdown::Both);
}

/// What a server says, as far as it goes. The connection stays open afterwards, until one end leaves it.
fn tell(mut from: TcpStream, mut to: TcpStream, state: &State) {
    let mut buffer = [0; PIECE_BYTES];
    let is_spared = state.spares_new.load(Ordering::Relaxed);
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let goes = if is_spared { read } else { state.take(read) };
        if to.write_all(&buffer[..goes]).is_err() {
            break;
        }
    }
    if is_spared || !state.is_silent.load(Ordering::Relaxed) {
        let _ = to.shutdown(Shutdown::Both);
    }
}

impl State {
    /// How many of so many bytes go.
    fn take(&self, read: usize) -> usize {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.left.load(Ordering::Relaxed);
        let goes = left.min(read as u64);
        self.left.store(left - goes, Ordering::Relaxed);
        if goes < read as u64 {
            self.is_silent.store(true, Ordering::Relaxed);
        }
        let before = pieces.last().copied().unwrap_or(0);
        pieces.push(before + goes);
        goes as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_hands_on_so_much_and_keeps_the_connection() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let proxy = Proxy::before(listener.local_addr().unwrap().port(), 3).unwrap();
        let mut client = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"asked").unwrap();
        let mut said = [0; 5];
        server.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"asked");
        server.write_all(b"told").unwrap();
        let mut heard = [0; 3];
        client.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"tol");
        // Taken, and answered by nothing: not even by an end.
        client.write_all(b"again").unwrap();
        server.read_exact(&mut said).unwrap();
        client.set_nonblocking(true).unwrap();
        assert_eq!(client.read(&mut heard).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(
            proxy.url("mysql://a:b@127.0.0.1:3306/x"),
            format!("mysql://a:b@127.0.0.1:{}/x", proxy.port)
        );
        assert_eq!(proxy.pieces().last(), Some(&3));
    }
}
