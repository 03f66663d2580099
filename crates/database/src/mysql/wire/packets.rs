//! Packets of a connection: a length, a number and a payload.
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html>
//!
//! A payload of 16 MiB or more is split into several packets. Bytes are read into one buffer, and a command leaves with one write.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use record::LinkEncryption;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio_rustls::TlsConnector;

use super::{DriverError, DriverResult, TlsSettings};
use crate::tls::agreed;

/// A socket, or an encrypted one.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin> Transport for S {}

pub(crate) type BoxedTransport = Box<dyn Transport>;

/// Bytes before a payload: its length and its number.
const HEADER_BYTES: usize = 4;
/// A packet of this length is followed by another one of the same payload.
pub(super) const PART_BYTES: usize = 0xff_ffff;
/// Longest payload that servers can have (`max_allowed_packet`).
const PAYLOAD_BYTES_MAX: usize = 1 << 30;
/// Bytes that are read at once. The buffer grows for longer packets.
const ROOM_BYTES: usize = 16 << 10;
/// A buffer that grew beyond this is given back.
const KEPT_BYTES: usize = 1 << 20;
/// First byte of an error.
pub(super) const ERROR: u8 = 0xff;

/// The packets of one connection.
pub(super) struct Packets {
    stream: BoxedTransport,
    /// Bytes that came; those of `unread` were not looked at.
    room: Vec<u8>,
    unread: Range<usize>,
    /// The payload that came last, in `room`.
    payload: Range<usize>,
    /// A payload of several packets, in place of the one in `room`.
    joined: Option<Vec<u8>>,
    /// Number of the packet that is next, in either direction.
    number: u8,
    /// Longest payload that is taken.
    payload_bytes_max: usize,
    /// Packets that were not sent yet.
    outgoing: Vec<u8>,
}

impl Packets {
    pub(super) fn new(stream: BoxedTransport, payload_bytes_max: usize) -> Self {
        Self {
            stream,
            room: vec![0; ROOM_BYTES],
            unread: 0..0,
            payload: 0..0,
            joined: None,
            number: 0,
            payload_bytes_max,
            outgoing: Vec::new(),
        }
    }

    /// The log-in is over: payloads may be long.
    pub(super) fn lift_limit(&mut self) {
        self.payload_bytes_max = PAYLOAD_BYTES_MAX;
    }

    /// Encrypts the connection from here on.
    ///
    /// # Errors
    /// The handshake failed, or somebody put bytes before it.
    pub(super) async fn encrypt(self, tls: &TlsSettings) -> DriverResult<(Self, LinkEncryption)> {
        if !self.unread.is_empty() {
            return Err(DriverError::Protocol("there are bytes before the handshake of TLS"));
        }
        let connector = TlsConnector::from(Arc::clone(&tls.config));
        let stream = connector.connect(tls.name.clone(), self.stream).await?;
        let encryption = agreed(stream.get_ref().1, tls.checks);
        Ok((Self { stream: Box::new(stream), ..self }, encryption))
    }

    /// Reads the next payload.
    ///
    /// # Errors
    /// The connection ended, or the packet has a wrong number or is too long.
    #[inline]
    pub(super) async fn next(&mut self) -> DriverResult<()> {
        self.joined = None;
        let part = self.part().await?;
        if part.len() < PART_BYTES {
            self.payload = part;
            return Ok(());
        }
        self.join(part).await
    }

    /// Reads the other parts of a long payload.
    async fn join(&mut self, first: Range<usize>) -> DriverResult<()> {
        let mut joined = self.room[first].to_vec();
        loop {
            let part = self.part().await?;
            if joined.len() + part.len() > self.payload_bytes_max {
                return Err(DriverError::Protocol("a packet is too long"));
            }
            let is_last = part.len() < PART_BYTES;
            joined.extend_from_slice(&self.room[part]);
            if is_last {
                self.joined = Some(joined);
                return Ok(());
            }
        }
    }

    /// Reads one packet.
    #[inline]
    async fn part(&mut self) -> DriverResult<Range<usize>> {
        self.fill(HEADER_BYTES).await?;
        let begin = self.unread.start;
        let header = &self.room[begin..begin + HEADER_BYTES];
        let length = usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
        let number = header[3];
        if length > self.payload_bytes_max {
            return Err(DriverError::Protocol("a packet is too long"));
        }
        self.fill(HEADER_BYTES + length).await?;
        let begin = self.unread.start + HEADER_BYTES;
        let part = begin..begin + length;
        // A server that ends a connection says so at once: its packet has no place in the exchange.
        let is_farewell = number == 0 && self.room[part.clone()].first() == Some(&ERROR);
        if number != self.number && !is_farewell {
            return Err(DriverError::Protocol("a packet is out of order"));
        }
        self.number = number.wrapping_add(1);
        self.unread.start = part.end;
        Ok(part)
    }

    /// Reads until so many bytes are unread. The buffer grows with the bytes that come, not with the length that was announced.
    #[inline]
    async fn fill(&mut self, wanted: usize) -> DriverResult<()> {
        while self.unread.len() < wanted {
            if self.unread.start + wanted > self.room.len() {
                self.make_room();
            }
            let count = self.stream.read(&mut self.room[self.unread.end..]).await?;
            if count == 0 {
                let words = "the server closed the connection";
                return Err(DriverError::Io(io::Error::new(io::ErrorKind::UnexpectedEof, words)));
            }
            self.unread.end += count;
        }
        Ok(())
    }

    #[cold]
    fn make_room(&mut self) {
        if self.unread.start > 0 {
            self.room.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        if self.unread.end == self.room.len() {
            self.room.resize(2 * self.room.len(), 0);
        }
    }

    /// The payload that was read last.
    #[inline]
    pub(super) fn payload(&self) -> &[u8] {
        match &self.joined {
            None => &self.room[self.payload.clone()],
            Some(joined) => joined,
        }
    }

    #[cfg(test)]
    pub(super) fn room_bytes(&self) -> usize {
        self.room.len()
    }

    /// Begins a command: the next packet is the first of an exchange.
    #[inline]
    pub(super) fn restart(&mut self) {
        self.number = 0;
        if self.unread.is_empty() {
            self.unread = 0..0;
            if self.room.len() > KEPT_BYTES {
                self.room = vec![0; ROOM_BYTES];
            }
        }
    }

    /// Adds a packet whose payload is written by a function.
    #[inline]
    pub(super) fn put<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let begin = self.outgoing.len();
        self.outgoing.extend_from_slice(&[0; HEADER_BYTES]);
        let written = write(&mut self.outgoing);
        let length = self.outgoing.len() - begin - HEADER_BYTES;
        if length < PART_BYTES {
            let header = header(length, self.number);
            self.outgoing[begin..begin + HEADER_BYTES].copy_from_slice(&header);
            self.number = self.number.wrapping_add(1);
        } else {
            self.split(begin);
        }
        written
    }

    /// Makes several packets of a long payload. The last one has less than the full length, and may be empty.
    #[cold]
    fn split(&mut self, begin: usize) {
        let payload = self.outgoing.split_off(begin + HEADER_BYTES);
        self.outgoing.truncate(begin);
        let empty: &[u8] = &[];
        let last = payload.len().is_multiple_of(PART_BYTES).then_some(empty);
        for part in payload.chunks(PART_BYTES).chain(last) {
            self.outgoing.extend_from_slice(&header(part.len(), self.number));
            self.outgoing.extend_from_slice(part);
            self.number = self.number.wrapping_add(1);
        }
    }

    /// Takes back all packets that were not sent from some length on.
    pub(super) fn take_back(&mut self, length: usize) {
        self.outgoing.truncate(length);
    }

    pub(super) fn outgoing_bytes(&self) -> usize {
        self.outgoing.len()
    }

    /// Sends all packets.
    #[inline]
    pub(super) async fn send(&mut self) -> DriverResult<()> {
        self.stream.write_all(&self.outgoing).await?;
        self.stream.flush().await?;
        self.outgoing.clear();
        self.outgoing.shrink_to(KEPT_BYTES);
        Ok(())
    }

    /// Sends what can be sent without waiting, and ends the connection.
    pub(super) fn leave(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        let sent = Pin::new(&mut self.stream).poll_write(&mut context, &self.outgoing);
        if matches!(sent, Poll::Ready(Ok(_))) {
            let _ = Pin::new(&mut self.stream).poll_shutdown(&mut context);
        }
    }
}

fn header(length: usize, number: u8) -> [u8; HEADER_BYTES] {
    [length as u8, (length >> 8) as u8, (length >> 16) as u8, number]
}
