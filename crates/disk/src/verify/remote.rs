//! A journal on another host: what a run sends of its promises, so that a loss of power here cannot take them with it.
//!
//! One connection carries the promises of all threads, each with its number; what comes back is how many of them are durable there. A
//! reservation waits until it is. A watermark does not, since one that is lost claims less and never too much: a few may be on the way.
//! Whatever goes wrong with the connection is an error of the next promise, and ends the run. There is no password: the network between
//! the two hosts is trusted.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::journal::{Journal, JournalError, Plan, whole};

/// What a run says first.
pub(super) const GREETING: [u8; 8] = *b"pronyvj1";
/// Bytes of a promise: thread, which of the two it is, number.
pub(super) const PROMISE_BYTES: usize = 16;
/// Promises that are on the way at most.
const ON_THE_WAY_MAX: u64 = 8;
/// How long either host waits for the other.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Longest sentence of a refusal.
pub(super) const REFUSAL_MAX: usize = 1024;

/// Where a journal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where<'a> {
    File(&'a Path),
    /// `HOST:PORT`.
    Host(&'a str),
}

impl<'a> Where<'a> {
    /// A name with a port and no slash is a host's; a file of such a name is given as `./NAME:1`.
    pub(crate) fn of(name: &'a Path) -> Self {
        let host = name.to_str().filter(|name| !name.contains('/')).filter(|name| {
            let port = name.rsplit_once(':').filter(|(host, _)| !host.is_empty());
            port.is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0))
        });
        host.map_or(Self::File(name), Self::Host)
    }
}

/// The connection of a run to its journal.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    host: String,
    sent: u64,
    durable: u64,
    /// What ended it, for threads that come later.
    lost: Option<String>,
}

impl Wire {
    /// Connects and has the journal of a run made there; it is durable when this returns.
    ///
    /// # Errors
    /// When nobody answers, or the other host refuses.
    pub(crate) fn connect(host: &str, plan: &Plan) -> Result<Self, JournalError> {
        let failed = |error: io::Error| JournalError::Io { path: host.to_owned(), error };
        let stream = connected(host).map_err(failed)?;
        let mut wire = Self { stream, host: host.to_owned(), sent: 0, durable: 0, lost: None };
        let refusal = wire.greet(&whole(plan).map_err(failed)?).map_err(|error| failed(said(error)))?;
        match refusal {
            None => Ok(wire),
            Some(why) => Err(JournalError::Refused { host: host.to_owned(), why }),
        }
    }

    /// Hands over the journal as it begins; why it is not taken.
    fn greet(&mut self, content: &[u8]) -> io::Result<Option<String>> {
        self.stream.write_all(&GREETING)?;
        self.stream.write_all(&(content.len() as u64).to_le_bytes())?;
        self.stream.write_all(content)?;
        let mut length = [0; 8];
        self.stream.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length) as usize;
        if length == 0 {
            return Ok(None);
        }
        let mut why = vec![0; length.min(REFUSAL_MAX)];
        self.stream.read_exact(&mut why)?;
        Ok(Some(String::from_utf8_lossy(&why).into_owned()))
    }

    /// Sends a promise; waits until it is durable, or until few are on the way.
    fn put(&mut self, thread: u32, pair: u32, number: u64, waits: bool) -> io::Result<()> {
        if let Some(lost) = &self.lost {
            return Err(io::Error::other(lost.clone()));
        }
        let done = self.exchange(thread, pair, number, waits).map_err(said);
        let done =
            done.map_err(|error| io::Error::new(error.kind(), format!("journal at {}: {error}", self.host)));
        self.lost = done.as_ref().err().map(ToString::to_string);
        done
    }

    fn exchange(&mut self, thread: u32, pair: u32, number: u64, waits: bool) -> io::Result<()> {
        // An end that came meanwhile is heard now, and not when too many are on the way.
        while self.has_news()? {
            self.hear()?;
        }
        let mut promise = [0; PROMISE_BYTES];
        promise[..4].copy_from_slice(&thread.to_le_bytes());
        promise[4..8].copy_from_slice(&pair.to_le_bytes());
        promise[8..].copy_from_slice(&number.to_le_bytes());
        self.stream.write_all(&promise)?;
        self.sent += 1;
        let enough = if waits { self.sent } else { self.sent.saturating_sub(ON_THE_WAY_MAX) };
        while self.durable < enough {
            self.hear()?;
        }
        Ok(())
    }

    /// Whether something has come that was not read yet, or the end.
    fn has_news(&self) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut watched = [PollFd::new(&self.stream, PollFlags::IN)];
        Ok(poll(&mut watched, Some(&Timespec::default()))? > 0)
    }

    /// Hears how many promises are durable.
    fn hear(&mut self) -> io::Result<()> {
        let mut durable = [0; 8];
        self.stream.read_exact(&mut durable)?;
        let durable = u64::from_le_bytes(durable);
        if durable < self.durable || durable > self.sent {
            return Err(io::Error::other("it sent an invalid answer"));
        }
        self.durable = durable;
        Ok(())
    }
}

/// What an error of the connection means.
fn said(error: io::Error) -> io::Error {
    let what = match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("it did not answer for {} s", PATIENCE.as_secs())
        }
        io::ErrorKind::UnexpectedEof => "it closed the connection".to_owned(),
        _ => return error,
    };
    io::Error::new(error.kind(), what)
}

fn connected(host: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in host.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The promises of one thread, over the connection that all share.
#[derive(Clone, Debug)]
pub(crate) struct JournalAway {
    wire: Arc<Mutex<Wire>>,
    thread: u32,
}

impl JournalAway {
    pub(crate) fn new(wire: &Arc<Mutex<Wire>>, thread: u32) -> Self {
        Self { wire: Arc::clone(wire), thread }
    }

    fn put(&self, pair: u32, number: u64, waits: bool) -> io::Result<()> {
        let mut wire = self.wire.lock().unwrap_or_else(PoisonError::into_inner);
        wire.put(self.thread, pair, number, waits)
    }
}

impl Journal for JournalAway {
    fn reserve(&mut self, up_to: u64) -> io::Result<()> {
        self.put(0, up_to, true)
    }

    fn durable(&mut self, up_to: u64) -> io::Result<()> {
        self.put(1, up_to, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_a_port_and_no_slash() {
        let host = |name: &'static str| matches!(Where::of(Path::new(name)), Where::Host(_));
        for name in ["journal.example:7645", "192.0.2.7:1", "[2001:db8::1]:7645", "localhost:65535"] {
            assert!(host(name), "{name}");
        }
        for name in ["journal", "/journal/run:1", "./run:1", "run:", ":7645", "run:0", "run:70000", "run:1a"]
        {
            assert!(!host(name), "{name}");
        }
    }
}
