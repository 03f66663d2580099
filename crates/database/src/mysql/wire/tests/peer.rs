//! A server of tests: bytes that were written before, and what a client said to it.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use mysql_common::constants::{CapabilityFlags, ColumnFlags, ColumnType, MariadbCapabilities};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::super::fields::put_number;
use super::super::greeting::Capabilities;
use super::super::packets::Packets;
use super::super::{BoxedTransport, Conn};

/// Gives some bytes at a time, and then the end, or nothing at all.
pub(super) struct Peer {
    pub(super) answers: Vec<u8>,
    pub(super) given: usize,
    pub(super) at_once: usize,
    pub(super) stays_open: bool,
    pub(super) heard: Arc<Mutex<Vec<u8>>>,
}

impl AsyncRead for Peer {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let end = this.answers.len().min(this.given + this.at_once.min(room.remaining()));
        if this.given == end && this.stays_open {
            return Poll::Pending;
        }
        room.put_slice(&this.answers[this.given..end]);
        this.given = end;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Peer {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.heard.lock().unwrap().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// How a server answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) without_eof: bool,
    pub(super) caches_columns: bool,
}

impl Style {
    pub(super) fn capabilities(self) -> Capabilities {
        let mut flags = CapabilityFlags::CLIENT_PROTOCOL_41;
        flags.set(CapabilityFlags::CLIENT_DEPRECATE_EOF, self.without_eof);
        let mut mariadb = MariadbCapabilities::empty();
        mariadb.set(MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA, self.caches_columns);
        Capabilities { flags, mariadb }
    }
}

/// A connection that is logged in at a server that answers so, and what it says.
pub(super) fn conn(answers: Vec<u8>, at_once: usize, style: Style) -> (Conn, Arc<Mutex<Vec<u8>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let peer = Peer { answers, given: 0, at_once, stays_open: false, heard: Arc::clone(&heard) };
    (over(peer, style), heard)
}

pub(super) fn over(peer: Peer, style: Style) -> Conn {
    let stream: BoxedTransport = Box::new(peer);
    let mut packets = Packets::new(stream, 0);
    packets.lift_limit();
    Conn::new(packets, style.capabilities())
}

/// The packets of an answer, with the numbers that they have in an exchange.
pub(super) struct Answers {
    pub(super) bytes: Vec<u8>,
    number: u8,
    style: Style,
}

impl Answers {
    pub(super) fn new(style: Style) -> Self {
        Self { bytes: Vec::new(), number: 1, style }
    }

    /// The answer to the next command.
    pub(super) fn next_command(&mut self) {
        self.number = 1;
    }

    pub(super) fn packet(&mut self, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
        self.bytes.extend_from_slice(&[length[0], length[1], length[2], self.number]);
        self.bytes.extend_from_slice(payload);
        self.number = self.number.wrapping_add(1);
    }

    pub(super) fn ok(&mut self, affected: u64, insert_id: u64, has_more: bool) {
        self.done(0, (affected, insert_id, has_more));
    }

    fn done(&mut self, header: u8, (affected, insert_id, has_more): (u64, u64, bool)) {
        let mut payload = vec![header];
        put_number(affected, &mut payload);
        put_number(insert_id, &mut payload);
        payload.extend_from_slice(&[if has_more { 8 } else { 0 }, 0, 0, 0]);
        self.packet(&payload);
    }

    pub(super) fn error(&mut self, code: u16, message: &str) {
        let [low, high] = code.to_le_bytes();
        let payload = [&[0xff, low, high][..], b"#42000", message.as_bytes()].concat();
        self.packet(&payload);
    }

    fn old_end(&mut self, has_more: bool) {
        self.packet(&[0xfe, 0, 0, if has_more { 8 } else { 0 }, 0]);
    }

    pub(super) fn columns(&mut self, columns: &[(ColumnType, bool)]) {
        for (number, (kind, is_unsigned)) in columns.iter().enumerate() {
            self.packet(&definition(&format!("column{number}"), *kind, *is_unsigned));
        }
        if !columns.is_empty() && !self.style.without_eof {
            self.old_end(false);
        }
    }

    /// What comes before rows.
    pub(super) fn head(&mut self, columns: &[(ColumnType, bool)], are_known: bool) {
        let mut payload = Vec::new();
        put_number(columns.len() as u64, &mut payload);
        if self.style.caches_columns {
            payload.push(u8::from(!are_known));
        }
        self.packet(&payload);
        if !(self.style.caches_columns && are_known) {
            self.columns(columns);
        }
    }

    /// What comes behind rows.
    pub(super) fn end(&mut self, has_more: bool) {
        if self.style.without_eof {
            self.done(0xfe, (0, 0, has_more));
        } else {
            self.old_end(has_more);
        }
    }

    /// The answer to a statement that is prepared.
    pub(super) fn prepared(&mut self, id: u32, parameters: u16, columns: &[(ColumnType, bool)]) {
        let mut payload = vec![0];
        payload.extend_from_slice(&id.to_le_bytes());
        payload.extend_from_slice(&u16::try_from(columns.len()).unwrap().to_le_bytes());
        payload.extend_from_slice(&parameters.to_le_bytes());
        payload.extend_from_slice(&[0, 0, 0]);
        self.packet(&payload);
        self.columns(&vec![(ColumnType::MYSQL_TYPE_VAR_STRING, false); usize::from(parameters)]);
        self.columns(columns);
    }
}

fn definition(name: &str, kind: ColumnType, is_unsigned: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in ["def", "schema", "table", "table", name, name] {
        put_number(text.len() as u64, &mut bytes);
        bytes.extend_from_slice(text.as_bytes());
    }
    let flags = if is_unsigned { ColumnFlags::UNSIGNED_FLAG } else { ColumnFlags::empty() };
    bytes.extend_from_slice(&[0x0c, 45, 0, 20, 0, 0, 0, kind as u8]);
    bytes.extend_from_slice(&flags.bits().to_le_bytes());
    bytes.extend_from_slice(&[0, 0, 0]);
    bytes
}
