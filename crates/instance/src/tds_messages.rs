//! What a client says to a server of SQL Server's protocol, counted by kind: how many round trips something takes.
//!
//! Source: MS-TDS 2.2.3.1, packet headers: kind, status, length of the whole; the first bit of the status ends a message.
//! <https://learn.microsoft.com/openspecs/windows_protocols/ms-tds/>.

use std::collections::BTreeMap;

const HEADER_BYTES: usize = 8;
const ENDS_MESSAGE: u8 = 0x01;
/// A login that alone is encrypted stands between packets as records of TLS, which are passed over (RFC 8446, 5.1).
const TLS_RECORDS: std::ops::RangeInclusive<u8> = 0x14..=0x17;
const TLS_HEADER_BYTES: usize = 5;

/// Messages of a connection, as its bytes come along.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    header: [u8; HEADER_BYTES],
    header_seen: usize,
    /// Bytes of the packet that are still to come.
    left: usize,
}

impl Messages {
    /// Counts the messages that end in these packets, once their header is there.
    pub(crate) fn count(&mut self, mut bytes: &[u8], counts: &mut BTreeMap<u8, u64>) {
        while !bytes.is_empty() {
            let passed = self.left.min(bytes.len());
            self.left -= passed;
            bytes = &bytes[passed..];
            let part = (HEADER_BYTES - self.header_seen).min(bytes.len());
            if self.left > 0 || part == 0 {
                continue;
            }
            self.header[self.header_seen..self.header_seen + part].copy_from_slice(&bytes[..part]);
            self.header_seen += part;
            bytes = &bytes[part..];
            if self.header_seen == HEADER_BYTES {
                let is_tls = TLS_RECORDS.contains(&self.header[0]);
                let [high, low] =
                    if is_tls { [self.header[3], self.header[4]] } else { [self.header[2], self.header[3]] };
                let beyond = if is_tls { TLS_HEADER_BYTES } else { 0 };
                let whole = usize::from(u16::from_be_bytes([high, low])) + beyond;
                (self.header_seen, self.left) = (0, whole.saturating_sub(HEADER_BYTES));
                if !is_tls && self.header[1] & ENDS_MESSAGE != 0 {
                    *counts.entry(self.header[0]).or_default() += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(kind: u8, status: u8, body: &[u8]) -> Vec<u8> {
        let length = u16::try_from(HEADER_BYTES + body.len()).unwrap().to_be_bytes();
        [&[kind, status, length[0], length[1], 0, 0, 1, 0], body].concat()
    }

    #[test]
    fn messages_are_counted_however_their_bytes_come() {
        // A bulk load of three packets, a call in one, and a batch with nothing in it.
        let bytes = [
            packet(7, 0, &[1; 90]),
            // A record of TLS.
            [&[0x17, 3, 3, 0, 40][..], &[1; 40]].concat(),
            packet(7, 0, &[7; 90]),
            packet(7, 1, &[3; 5]),
            packet(3, 1, &[3, 1, 0, 8]),
            packet(1, 1, b""),
        ]
        .concat();
        for piece in [1, 2, 7, 8, 9, 64, bytes.len()] {
            let (mut messages, mut counts) = (Messages::default(), BTreeMap::new());
            bytes.chunks(piece).for_each(|piece| messages.count(piece, &mut counts));
            assert_eq!(counts, [(7, 1), (3, 1), (1, 1)].into(), "pieces of {piece}");
        }
    }
}
