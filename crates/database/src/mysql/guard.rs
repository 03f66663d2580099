//! A log-in over TCP without TLS that cannot give the password away.
//!
//! A server may answer `caching_sha2_password` with "full authentication". The driver would then ask that server for a public key and
//! encrypt the password with it, so that a server that is none, or somebody between, could decrypt it. The driver cannot be told
//! otherwise. So it speaks to this guard, over a socket of this process, and the guard speaks to the server: it ends such a log-in, or
//! encrypts the password with the key of a file. After the log-in it hands on bytes.
//!
//! The protocol: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::linux::net::SocketAddrExt as _;
use std::sync::{Arc, Mutex, PoisonError};

use mysql_common::crypto;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::AbortHandle;

use crate::silence::UNACKNOWLEDGED;

/// Longest packet of a log-in; one of a server is some hundred bytes.
const PACKET_BYTES_MAX: usize = 1 << 16;
/// Bytes before what a packet says: its length and its number.
const HEADER_BYTES: usize = 4;
/// Bytes of the random text of a server that each log-in is mixed with.
const NONCE_BYTES: usize = 20;
/// Answer of a server that it knows the password by its hash, and that it needs all of it.
const MORE: u8 = 1;
const FAST: u8 = 3;
const FULL: u8 = 4;
const ASK_FOR_KEY: u8 = 2;
const OK: u8 = 0;
const ERROR: u8 = 0xff;
const SWITCH: u8 = 0xfe;

/// Why a guarded log-in ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The server is not to be had.
    Unreachable(io::Error),
    /// The server wanted the whole password, which was not sent.
    FullAuthentication,
}

/// Where a driver connects to, and what becomes of its log-in.
pub(super) struct Guard {
    name: String,
    ended: Arc<Mutex<Option<Ended>>>,
    /// Ends the task of a log-in on which somebody gave up waiting; none once it is done.
    task: Option<AbortHandle>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// How the password is encrypted where the server wants all of it.
pub(super) enum Key {
    /// Not at all: the log-in ends.
    Nobodys,
    /// With the key that the server gives.
    Asked,
    /// With this one, in PEM.
    Given(Vec<u8>),
}

impl Guard {
    /// Waits for the driver, on a socket that only this process gets an answer from.
    pub(super) fn before(addresses: Vec<IpAddr>, port: u16, key: Key) -> io::Result<Self> {
        let mut random = [0_u8; 16];
        rustix::rand::getrandom(&mut random[..], rustix::rand::GetRandomFlags::empty())?;
        let name = random.iter().fold("prony-".to_owned(), |name, byte| format!("{name}{byte:02x}"));
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name)?;
        let listener = std::os::unix::net::UnixListener::bind_addr(&address)?;
        listener.set_nonblocking(true)?;
        let listener = UnixListener::from_std(listener)?;
        let ended = Arc::new(Mutex::new(None));
        let noted = Arc::clone(&ended);
        let task = tokio::spawn(async move {
            // The driver waits until its socket is closed, which is after the note.
            relay(listener, (addresses, port), key, &noted).await;
        });
        Ok(Self { name, ended, task: Some(task.abort_handle()) })
    }

    /// The socket, as the driver takes its path.
    pub(super) fn path(&self) -> String {
        format!("\0{}", self.name)
    }

    /// The log-in is done: what is said from now on is handed on until the connection ends.
    pub(super) fn let_in(mut self) {
        self.task = None;
    }

    /// Why the log-in ended, if that was not the server's doing.
    pub(super) fn ended(&self) -> Option<Ended> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

async fn relay(listener: UnixListener, place: (Vec<IpAddr>, u16), key: Key, noted: &Mutex<Option<Ended>>) {
    let note = |end| *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    let mut driver = match own_driver(&listener).await {
        Ok(driver) => driver,
        Err(error) => return note(Ended::Unreachable(error)),
    };
    drop(listener);
    let mut server = match reach(&place.0, place.1).await {
        Ok(server) => server,
        Err(error) => return note(Ended::Unreachable(error)),
    };
    match log_in(&mut driver, &mut server, &key).await {
        Ok(true) => {
            // How the connection ends, both of its ends see themselves.
            let _ = tokio::io::copy_bidirectional(&mut driver, &mut server).await;
        }
        Ok(false) => note(Ended::FullAuthentication),
        // The driver sees an end as it is without a guard.
        Err(_) => {}
    }
}

/// The driver of this process. Whoever else found the socket is not answered.
async fn own_driver(listener: &UnixListener) -> io::Result<UnixStream> {
    let own = i32::try_from(std::process::id()).ok();
    loop {
        let (stream, _) = listener.accept().await?;
        if stream.peer_cred()?.pid() == own {
            return Ok(stream);
        }
    }
}

async fn reach(addresses: &[IpAddr], port: u16) -> io::Result<TcpStream> {
    let all: Vec<SocketAddr> = addresses.iter().map(|address| SocketAddr::new(*address, port)).collect();
    let socket = TcpStream::connect(&all[..]).await?;
    socket.set_nodelay(true)?;
    rustix::net::sockopt::set_socket_keepalive(&socket, true)?;
    rustix::net::sockopt::set_tcp_keepidle(&socket, UNACKNOWLEDGED)?;
    Ok(socket)
}

/// Hands on a log-in, packet by packet. False if the server wanted the whole password and there is no key.
async fn log_in(driver: &mut UnixStream, server: &mut TcpStream, key: &Key) -> io::Result<bool> {
    let mut nonce = loop {
        let packet = Packet::read(server).await?;
        packet.write(driver).await?;
        if packet.first() != Some(ERROR) {
            break nonce_of_greeting(packet.payload());
        }
    };
    Packet::read(driver).await?.write(server).await?;
    // Packets of which the driver knows nothing.
    let mut hidden = 0_u8;
    loop {
        let packet = Packet::read(server).await?.renumbered(0_u8.wrapping_sub(hidden));
        let is_full = packet.payload().starts_with(&[MORE, FULL]);
        if is_full && matches!(key, Key::Nobodys) {
            return Ok(false);
        }
        packet.write(driver).await?;
        match packet.payload() {
            [OK, ..] => return Ok(true),
            // What the server says of it, or how far it is; then it goes on, or ends.
            [ERROR, ..] | [MORE, FAST, ..] => {}
            payload => {
                if payload.first() == Some(&SWITCH) {
                    nonce = nonce_of_switch(payload);
                }
                let mut answer = Packet::read(driver).await?.renumbered(hidden);
                if is_full {
                    hidden = hidden.wrapping_add(answer.encrypt_by(key, &nonce, server).await?);
                }
                answer.write(server).await?;
            }
        }
    }
}

/// A packet with its header.
struct Packet(Vec<u8>);

impl Packet {
    async fn read(from: &mut (impl tokio::io::AsyncRead + Unpin)) -> io::Result<Self> {
        let mut bytes = vec![0; HEADER_BYTES];
        from.read_exact(&mut bytes).await?;
        let length = usize::from(bytes[0]) | usize::from(bytes[1]) << 8 | usize::from(bytes[2]) << 16;
        if length > PACKET_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a packet of a log-in is too long"));
        }
        bytes.resize(HEADER_BYTES + length, 0);
        from.read_exact(&mut bytes[HEADER_BYTES..]).await?;
        Ok(Self(bytes))
    }

    async fn write(&self, to: &mut (impl tokio::io::AsyncWrite + Unpin)) -> io::Result<()> {
        to.write_all(&self.0).await
    }

    fn payload(&self) -> &[u8] {
        &self.0[HEADER_BYTES..]
    }

    fn first(&self) -> Option<u8> {
        self.payload().first().copied()
    }

    /// The same with a number that is so much higher.
    fn renumbered(mut self, by: u8) -> Self {
        self.0[HEADER_BYTES - 1] = self.0[HEADER_BYTES - 1].wrapping_add(by);
        self
    }

    /// Encrypts a password, and gives the number of packets that were exchanged for it.
    async fn encrypt_by(&mut self, key: &Key, nonce: &[u8], server: &mut TcpStream) -> io::Result<u8> {
        let number = self.0[HEADER_BYTES - 1];
        match key {
            Key::Given(key) => self.encrypt(nonce, key).map(|()| 0),
            Key::Asked => {
                Self(vec![1, 0, 0, number, ASK_FOR_KEY]).write(server).await?;
                let told = Self::read(server).await?;
                self.encrypt(nonce, told.payload().strip_prefix(&[MORE]).unwrap_or_default())?;
                self.0[HEADER_BYTES - 1] = number.wrapping_add(2);
                Ok(2)
            }
            Key::Nobodys => Err(io::Error::other("there is no key")),
        }
    }

    /// Makes of a password, with the zero at its end, what only the owner of the key can read.
    fn encrypt(&mut self, nonce: &[u8], key: &[u8]) -> io::Result<()> {
        let wrong = |words: &str| io::Error::new(io::ErrorKind::InvalidData, words);
        let mixed: Vec<u8> =
            self.payload().iter().zip(nonce.iter().cycle()).map(|(byte, other)| byte ^ other).collect();
        let room = modulus_bytes(key).and_then(|bytes| bytes.checked_sub(42));
        if nonce.is_empty() || room.is_none_or(|room| mixed.len() > room) {
            return Err(wrong(
                "the server gave no RSA public key, or one that is too short for the password",
            ));
        }
        let encrypted = crypto::encrypt(&mixed, key);
        let length = u16::try_from(encrypted.len()).map_err(|_| wrong("the key is too long"))?;
        self.0.truncate(HEADER_BYTES);
        self.0[..2].copy_from_slice(&length.to_le_bytes());
        self.0[2] = 0;
        self.0.extend(encrypted);
        Ok(())
    }
}

/// The random text of the first packet of a server: eight bytes behind its version and the number of the connection, and the rest later.
fn nonce_of_greeting(payload: &[u8]) -> Vec<u8> {
    let version_end = payload.iter().skip(1).position(|byte| *byte == 0).map_or(payload.len(), |at| at + 2);
    let first = payload.get(version_end + 4..version_end + 12).unwrap_or_default();
    let second = payload.get(version_end + 31..version_end + 43).unwrap_or_default();
    [first, second].concat()
}

/// The same of a packet that changes the way to log in: behind the name of that.
fn nonce_of_switch(payload: &[u8]) -> Vec<u8> {
    let behind = payload.iter().position(|byte| *byte == 0).map_or(payload.len(), |at| at + 1);
    payload[behind..].iter().take(NONCE_BYTES).copied().collect()
}

/// Bytes of the modulus of an RSA key in PEM; none if it is no such key, which the driver's library would stop the program for.
pub(super) fn modulus_bytes(pem: &[u8]) -> Option<usize> {
    use rustls::pki_types::SubjectPublicKeyInfoDer;
    use rustls::pki_types::pem::PemObject as _;
    const RSA: [u8; 13] = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];
    let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).ok()?;
    let (info, []) = part(&der, 0x30)? else { return None };
    let (algorithm, rest) = part(info, 0x30)?;
    let (bits, []) = part(rest, 3)? else { return None };
    let (key, []) = part(bits.strip_prefix(&[0])?, 0x30)? else { return None };
    let (modulus, exponent) = part(key, 2)?;
    let (exponent, []) = part(exponent, 2)? else { return None };
    let modulus = modulus.strip_prefix(&[0]).unwrap_or(modulus);
    (algorithm == RSA && modulus.len() >= 128 && !exponent.is_empty()).then_some(modulus.len())
}

/// What a part of DER of a kind holds, and what follows it.
fn part(der: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let count = usize::from(first & 0x7f);
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        _ if count > 2 || count > rest.len() => return None,
        _ => (rest[..count].iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), &rest[count..]),
    };
    (found == kind && length <= rest.len()).then(|| rest.split_at(length))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::net::TcpListener;

    use super::*;
    use crate::{Error, Session};

    const PASSWORD: &str = "Geheim7x";
    const KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
         MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAsAzk42Dq4I97gwvUSGDp\n\
         FmWNtLSXi2Vh5BccTVc9BwuSgunZqIml4Cc3l6cjUUQzircw6x71BwdTnNZgUMWd\n\
         1u+gJ44f2GcxSQODKsy5iBvKq3vcYXibR5O2a7yJINB5E5AbASeXDxycO0e3resp\n\
         hQSp4dL2m9Tq2Zt5IOwP5/ZHoBbu/SG00mN9OeBFHep6+ojLUKor1Be8jS5/S5xq\n\
         9Xpa8E6fLVu6MTO1GeWn6KzfccRhY0zdui6mP8n0fqp/g5c3EvlCwfyu1jRAnaZr\n\
         wwOyiRE71wM205Y4QofJuSqkxETv7TxfHWz8kdSOyFUy0DaeorUgbDkmhSncmo7e\n\
         nQIDAQAB\n\
         -----END PUBLIC KEY-----\n";

    fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len() % 256).unwrap();
        let more = u8::try_from(payload.len() / 256).unwrap();
        [&[length, more, 0, number], payload].concat()
    }

    /// What a server says first: no TLS, and a way to log in.
    fn greeting(plugin: &str) -> Vec<u8> {
        let mut payload = b"\x0a8.4.0\0\x07\0\0\0abcdefgh\0".to_vec();
        // Without the bit of TLS; the length of the random text.
        payload.extend([0xff, 0xf7, 45, 2, 0, 0xff, 0xdf, 21]);
        payload.extend([0; 10]);
        payload.extend(b"ijklmnopqrst\0");
        payload.extend(plugin.as_bytes());
        payload.push(0);
        packet(0, &payload)
    }

    fn switch(number: u8) -> Vec<u8> {
        packet(number, b"\xfecaching_sha2_password\0ABCDEFGHIJKLMNOPQRST\0")
    }

    /// What a client that has connected says to a server that answers with these packets, all of them at once or one after the other.
    async fn heard(options: &str, answers: Vec<Vec<u8>>, at_once: bool) -> (Result<(), Error>, Vec<u8>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&heard);
        let server = tokio::spawn(async move {
            // One that has no TLS is asked again without.
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut room = [0; 4096];
                if at_once {
                    stream.write_all(&answers.concat()).await.unwrap();
                }
                for answer in &answers {
                    if !at_once && stream.write_all(answer).await.is_err() {
                        break;
                    }
                    let Ok(count @ 1..) = stream.read(&mut room).await else { break };
                    noted.lock().unwrap().extend(&room[..count]);
                }
            }
        });
        let url = format!("mysql://joe:{PASSWORD}@127.0.0.1:{port}/x{options}");
        let opened = Session::open(&url.parse().unwrap()).await.map(drop);
        server.abort();
        let heard = heard.lock().unwrap().clone();
        (opened, heard)
    }

    fn has(heard: &[u8], bytes: &[u8]) -> bool {
        heard.windows(bytes.len()).any(|window| window == bytes)
    }

    /// Whoever answered at the port of a server without TLS got the password, encrypted with a key of their own.
    #[tokio::test]
    async fn a_server_without_tls_gets_neither_the_password_nor_a_question_for_its_key() {
        let key = |number| packet(number, &[&[MORE], KEY.as_bytes()].concat());
        let full = |number| packet(number, &[MORE, FULL]);
        let progress = packet(0, b"\xff\xff\xff\x01\x01\x01\0\0\0\0");
        let sha2 = "caching_sha2_password";
        for answers in [
            vec![greeting(sha2), full(2), key(4)],
            vec![greeting("mysql_native_password"), switch(2), full(4), key(6)],
            vec![greeting(sha2), switch(2), full(4), key(6)],
            vec![progress, greeting(sha2), full(2), key(4)],
        ] {
            for options in ["", "?ssl-mode=DISABLED", "?ssl-mode=PREFERRED", "?get-server-public-key=false"] {
                for at_once in [false, true] {
                    let (opened, heard) = heard(options, answers.clone(), at_once).await;
                    assert!(!has(&heard, PASSWORD.as_bytes()), "{options}");
                    assert!(
                        !has(&heard, &[1, 0, 0, 3, 2]) && !has(&heard, &[1, 0, 0, 5, 2]),
                        "{options}: asked for the key"
                    );
                    assert!(heard.len() < 400, "{options}: {} bytes", heard.len());
                    assert!(matches!(opened, Err(Error::Refused(_) | Error::Unreachable(_))), "{opened:?}");
                }
            }
        }
        let (opened, heard) = heard("", vec![greeting(sha2), full(2), key(4)], false).await;
        assert!(has(&heard, b"joe\0"), "it was asked to log in");
        let told = opened.unwrap_err().to_string();
        for part in [
            "was not sent",
            "ssl-mode=VERIFY_IDENTITY",
            "server-public-key-path=FILE",
            "get-server-public-key=true",
        ] {
            assert!(told.contains(part), "{told}");
        }
        assert!(!told.contains(PASSWORD));
    }

    #[tokio::test]
    async fn who_allows_it_asks_for_the_key_or_uses_a_file() {
        let answers =
            vec![greeting("caching_sha2_password"), packet(2, &[MORE, FULL]), packet(4, b"\xff\x15\x04no")];
        let with_key =
            vec![answers[0].clone(), answers[1].clone(), packet(4, &[&[MORE], KEY.as_bytes()].concat())];
        let asking = "?ssl-mode=DISABLED&get-server-public-key=true";
        let (_, asked) = heard(asking, with_key, false).await;
        assert!(has(&asked, &[1, 0, 0, 3, 2]) && has(&asked, &[0, 1, 0, 5]), "{asked:?}");
        assert!(!has(&asked, PASSWORD.as_bytes()));
        // What is no key stops nobody but this log-in.
        let (opened, asked) = heard(asking, answers.clone(), false).await;
        assert!(opened.is_err() && asked.len() < 400 && !has(&asked, PASSWORD.as_bytes()));
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("key.pem");
        std::fs::write(&file, KEY).unwrap();
        let option = format!("?ssl-mode=DISABLED&server-public-key-path={}", file.display());
        let (_, sent) = heard(&option, answers.clone(), false).await;
        assert!(
            has(&sent, &[0, 1, 0, 3]) && sent.len() > 256,
            "256 bytes of the key's length: {}",
            sent.len()
        );
        assert!(!has(&sent, &[1, 0, 0, 3, 2]) && !has(&sent, PASSWORD.as_bytes()));
        std::fs::write(&file, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n").unwrap();
        let (opened, _) = heard(&option, answers, false).await;
        assert!(opened.unwrap_err().to_string().contains("holds no RSA public key"));
    }

    #[test]
    fn a_key_that_is_none_is_known_before_it_is_used() {
        assert_eq!(modulus_bytes(KEY.as_bytes()), Some(256));
        for end in 0..KEY.len() - 30 {
            assert_eq!(modulus_bytes(&KEY.as_bytes()[..end]), None);
        }
        assert_eq!(modulus_bytes(KEY.replace("MIIB", "MIIA").as_bytes()), None);
    }
}
