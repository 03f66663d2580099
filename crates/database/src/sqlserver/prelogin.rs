//! The first words of the protocol: what a client and a server say of themselves before a login, and whether they encrypt.
//!
//! Source: MS-TDS 2.2.6.5 (PRELOGIN) and 2.2.3.1 (packet header),
//! <https://learn.microsoft.com/openspecs/windows_protocols/ms-tds/>. The driver says these words too, but its TLS is of libraries
//! in C; so they are said here, encryption is agreed upon here (`tls`), and the driver is let in behind them (`stream`).

/// Bytes before the data of a packet.
pub(super) const HEADER_BYTES: usize = 8;
/// Type of the packets in which a client says the first words, and in which TLS is begun.
pub(super) const PRELOGIN: u8 = 0x12;
/// Type of the packets in which a server answers.
pub(super) const ANSWER: u8 = 0x04;
/// Status of the last packet of a message.
pub(super) const END_OF_MESSAGE: u8 = 0x01;

const VERSION: u8 = 0;
const ENCRYPTION: u8 = 1;
const INSTANCE: u8 = 2;
const THREAD: u8 = 3;
const MARS: u8 = 4;
const FEDERATED: u8 = 6;
const NONCE: u8 = 7;
const TERMINATOR: u8 = 0xff;

/// What each side says of encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The login alone.
    Off,
    /// Everything.
    On,
    /// It cannot.
    NotSupported,
    /// It has to be.
    Required,
    /// TLS was there before the first word; Microsoft's own driver for Go says it so, and what a server answers means nothing then.
    Strict,
}

impl Word {
    fn of(byte: u8) -> Option<Self> {
        [Self::Off, Self::On, Self::NotSupported, Self::Required, Self::Strict]
            .into_iter()
            .find(|word| *word as u8 == byte)
    }
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prelogin {
    version: [u8; 6],
    pub(super) word: Word,
    /// Whether it takes a token for a login.
    federated: Option<u8>,
    nonce: Option<Vec<u8>>,
}

/// The message of a client: what it says of encryption, whether it logs in with a token, and which instance it wants.
pub(super) fn asked(word: Word, has_token: bool, instance: Option<&str>) -> Vec<u8> {
    let mut name = instance.unwrap_or_default().as_bytes().to_vec();
    name.push(0);
    let mut options = vec![
        (VERSION, vec![0; 6]),
        (ENCRYPTION, vec![word as u8]),
        (INSTANCE, name),
        (THREAD, vec![0; 4]),
        (MARS, vec![0]),
    ];
    if has_token {
        options.push((FEDERATED, vec![1]));
    }
    message(&options)
}

/// Options behind their table, as a message of both sides has them.
fn message(options: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut table = Vec::new();
    let mut data: Vec<u8> = Vec::new();
    for (option, value) in options {
        let offset = options.len() * 5 + 1 + data.len();
        table.push(*option);
        // A few dozen bytes.
        table.extend((offset as u16).to_be_bytes());
        table.extend((value.len() as u16).to_be_bytes());
        data.extend(value);
    }
    table.push(TERMINATOR);
    table.extend(data);
    table
}

impl Prelogin {
    /// Reads a server's message; none if it is no such message.
    pub(super) fn read(message: &[u8]) -> Option<Self> {
        let mut found = Self { version: [0; 6], word: Word::NotSupported, federated: None, nonce: None };
        let mut table = message;
        loop {
            let (&option, rest) = table.split_first()?;
            if option == TERMINATOR {
                return Some(found);
            }
            let (place, rest) = rest.split_first_chunk::<4>()?;
            let offset = usize::from(u16::from_be_bytes([place[0], place[1]]));
            let length = usize::from(u16::from_be_bytes([place[2], place[3]]));
            let value = message.get(offset..offset + length)?;
            match option {
                VERSION => found.version = value.try_into().ok()?,
                ENCRYPTION => found.word = Word::of(*value.first()?)?,
                FEDERATED => found.federated = value.first().copied(),
                NONCE => found.nonce = Some(value.to_vec()),
                // Of no use to us.
                _ => {}
            }
            table = rest;
        }
    }

    /// The same as a packet that says nothing of encryption, for the driver, which is to know of none.
    pub(super) fn plain(&self) -> Vec<u8> {
        let mut options =
            vec![(VERSION, self.version.to_vec()), (ENCRYPTION, vec![Word::NotSupported as u8])];
        options.extend(self.federated.map(|byte| (FEDERATED, vec![byte])));
        options.extend(self.nonce.clone().map(|nonce| (NONCE, nonce)));
        packet(ANSWER, &message(&options))
    }
}

/// A message of one packet.
pub(super) fn packet(kind: u8, data: &[u8]) -> Vec<u8> {
    // Of these messages none is longer than a packet.
    let length = ((HEADER_BYTES + data.len()) as u16).to_be_bytes();
    let mut packet = vec![kind, END_OF_MESSAGE, length[0], length[1], 0, 0, 1, 0];
    packet.extend(data);
    packet
}

/// Follows the packets of one message through pieces of any size.
#[derive(Clone, Debug, Default)]
pub(super) struct Boundary {
    header: [u8; HEADER_BYTES],
    /// Bytes of the header that have come.
    seen: usize,
    /// Bytes of the packet that have not.
    left: usize,
}

impl Boundary {
    /// How many of these bytes belong to the message, and whether it is at its end then.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while at < bytes.len() {
            if self.seen < HEADER_BYTES {
                self.header[self.seen] = bytes[at];
                self.seen += 1;
                at += 1;
                if self.seen == HEADER_BYTES {
                    let whole = usize::from(u16::from_be_bytes([self.header[2], self.header[3]]));
                    self.left = whole.saturating_sub(HEADER_BYTES);
                }
            } else {
                let taken = self.left.min(bytes.len() - at);
                self.left -= taken;
                at += taken;
            }
            if self.seen == HEADER_BYTES && self.left == 0 {
                self.seen = 0;
                if self.header[1] & END_OF_MESSAGE != 0 {
                    return (at, true);
                }
            }
        }
        (at, false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example of MS-TDS 4.1, "Pre-Login Request", with another version and without a trace id.
    #[test]
    fn a_client_says_what_the_specification_shows() {
        let expected = [
            0x00, 0x00, 0x1a, 0x00, 0x06, 0x01, 0x00, 0x20, 0x00, 0x01, 0x02, 0x00, 0x21, 0x00, 0x01, 0x03,
            0x00, 0x22, 0x00, 0x04, 0x04, 0x00, 0x26, 0x00, 0x01, 0xff, 0, 0, 0, 0, 0, 0, 0x01, 0x00, 0, 0,
            0, 0, 0x00,
        ];
        assert_eq!(asked(Word::On, false, None), expected);
        assert_eq!(asked(Word::Off, true, Some("X"))[..5], [0x00, 0x00, 0x1f, 0x00, 0x06]);
    }

    /// The example of MS-TDS 4.2, "Pre-Login Response".
    #[test]
    fn a_server_is_understood() {
        let answer = [
            0x00, 0x00, 0x1a, 0x00, 0x06, 0x01, 0x00, 0x20, 0x00, 0x01, 0x02, 0x00, 0x21, 0x00, 0x01, 0x03,
            0x00, 0x22, 0x00, 0x00, 0x04, 0x00, 0x22, 0x00, 0x01, 0xff, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00,
            0x01, 0x00, 0x00,
        ];
        let server = Prelogin::read(&answer).unwrap();
        assert_eq!((server.version, server.word), ([9, 0, 0, 0, 0, 0], Word::On));
        let plain = server.plain();
        assert_eq!(plain[..4], [ANSWER, END_OF_MESSAGE, 0, plain.len() as u8]);
        assert_eq!(
            Prelogin::read(&plain[HEADER_BYTES..]).unwrap(),
            Prelogin { word: Word::NotSupported, ..server }
        );
        for wrong in [
            &b""[..],
            b"HTTP/1.1 400 Bad Request",
            &answer[..30],
            &[0x01, 0x00, 0x06, 0x00, 0x01, 0xff, 0x09],
        ] {
            assert_eq!(Prelogin::read(wrong), None);
        }
    }

    proptest! {
        #[test]
        fn no_answer_breaks_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Prelogin::read(&bytes);
        }

        #[test]
        fn the_end_of_a_message_is_found_in_any_pieces(
            packets in proptest::collection::vec(0usize..40, 1..4),
            piece in 1usize..50,
            behind in 0usize..20,
        ) {
            let mut message = Vec::new();
            for (index, length) in packets.iter().enumerate() {
                let mut one = packet(0x10, &vec![7; *length]);
                one[1] = u8::from(index + 1 == packets.len());
                message.extend(one);
            }
            let length = message.len();
            message.extend(vec![9; behind]);
            let (mut boundary, mut at) = (Boundary::default(), 0);
            for bytes in message.chunks(piece) {
                let (taken, is_end) = boundary.advance(bytes);
                at += taken;
                prop_assert_eq!(is_end, at == length);
                if is_end { break }
                prop_assert_eq!(taken, bytes.len());
            }
            prop_assert_eq!(at, length);
        }
    }
}
