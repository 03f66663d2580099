//! A peer that speaks as much TDS as what no test server has needs: TLS before the first word, logins by token. It says what it was told,
//! lets everybody in and answers each request with nothing.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::{Error, Session};

const PRELOGIN: u8 = 0x12;
const LOGIN: u8 = 0x10;
/// Encryption is option 1 of a first word, and stands behind the table of what else there is.
const ENCRYPTION: u8 = 1;

/// What a client said.
#[derive(Debug)]
struct Heard {
    protocol: Option<Vec<u8>>,
    encryption: u8,
    login: Vec<u8>,
}

struct Peer {
    port: u16,
    certificate: PathBuf,
    heard: JoinHandle<std::io::Result<Heard>>,
    _place: TempDir,
}

impl Peer {
    /// One that speaks TLS before its first word.
    async fn strict() -> Self {
        let place = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let made = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
        let certificate = place.path().join("ca.pem");
        std::fs::write(&certificate, made.pem()).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![b"tds/8.0".to_vec()];
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = tokio::spawn(async move {
            let (socket, _) = listener.accept().await?;
            let mut stream = TlsAcceptor::from(Arc::new(config)).accept(socket).await?;
            let protocol = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
            serve(&mut stream, protocol).await
        });
        Self { port, certificate, heard, _place: place }
    }

    fn url(&self, options: &str) -> String {
        format!("sqlserver://localhost:{}/x?sslrootcert={}&{options}", self.port, self.certificate.display())
    }
}

/// Hears a first word and a login, and lets the client in.
async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    protocol: Option<Vec<u8>>,
) -> std::io::Result<Heard> {
    let (kind, words) = message(stream).await?;
    assert_eq!(kind, PRELOGIN);
    let place = words
        .chunks(5)
        .take_while(|option| option[0] != 0xff)
        .find(|option| option[0] == ENCRYPTION)
        .unwrap();
    let encryption = words[usize::from(u16::from_be_bytes([place[1], place[2]]))];
    // A version, and the client's own word.
    let answer = [0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0, 0, 0, 0, encryption];
    say(stream, &answer).await?;
    let (kind, login) = message(stream).await?;
    assert_eq!(kind, LOGIN);
    let name: Vec<u8> = "peer".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut said = vec![1, 0x73, 0x0b, 0, 3, 4];
    said.extend(name);
    said.extend([16, 0, 0, 0]);
    let mut let_in = vec![0xad];
    let_in.extend((said.len() as u16).to_le_bytes());
    let_in.extend(said);
    let done = [&[0xfd][..], &[0; 12]].concat();
    let_in.extend(&done);
    say(stream, &let_in).await?;
    // Who the session is, which this one does not know.
    message(stream).await?;
    say(stream, &done).await?;
    Ok(Heard { protocol, encryption, login })
}

/// A message of any number of packets, and what it is.
async fn message<S: AsyncRead + Unpin>(stream: &mut S) -> std::io::Result<(u8, Vec<u8>)> {
    let mut all = Vec::new();
    loop {
        let mut header = [0; 8];
        stream.read_exact(&mut header).await?;
        let mut data = vec![0; usize::from(u16::from_be_bytes([header[2], header[3]])) - header.len()];
        stream.read_exact(&mut data).await?;
        all.extend(data);
        if header[1] & 1 == 1 {
            return Ok((header[0], all));
        }
    }
}

async fn say<S: AsyncWrite + Unpin>(stream: &mut S, data: &[u8]) -> std::io::Result<()> {
    let length = (data.len() as u16 + 8).to_be_bytes();
    stream.write_all(&[&[4, 1, length[0], length[1], 0, 0, 1, 0], data].concat()).await?;
    stream.flush().await
}

#[tokio::test]
async fn strict_encryption_begins_before_the_first_word() {
    let peer = Peer::strict().await;
    let url = peer.url("encrypt=strict").replace("//", "//ann:secret@");
    let session = Session::open(&url.parse().unwrap()).await.unwrap();
    assert_eq!(session.connection().id, None, "it did not say who we are");
    let heard = peer.heard.await.unwrap().unwrap();
    assert_eq!((heard.protocol.as_deref(), heard.encryption), (Some(&b"tds/8.0"[..]), 4), "{heard:?}");
}

/// A server that closes at the first word of the older form is one that wants the newer.
#[tokio::test]
async fn a_server_that_is_strict_is_asked_with_strict() {
    let peer = Peer::strict().await;
    let url = peer.url("encrypt=on").replace("//", "//ann:secret@");
    let error = Session::open(&url.parse().unwrap()).await.unwrap_err();
    assert!(
        matches!(&error, Error::Unreachable(text) if text.contains("requires strict encryption, use encrypt=strict")),
        "{error}"
    );
}

#[tokio::test]
async fn a_token_is_the_login_and_is_never_sent_readable() {
    let peer = Peer::strict().await;
    let token = peer.certificate.with_file_name("token");
    std::fs::write(&token, "eyJ0eXAi.of.azure\n").unwrap();
    let with = |options: &str| peer.url(&format!("{options}&access_token_file={}", token.display()));
    let error = Session::open(&with("encrypt=off").parse().unwrap()).await.unwrap_err();
    assert!(
        matches!(&error, Error::Refused(text) if text.contains("only over an encrypted connection")),
        "{error}"
    );
    Session::open(&with("encrypt=strict").parse().unwrap()).await.unwrap();
    let login = peer.heard.await.unwrap().unwrap().login;
    let sent: Vec<u8> = "eyJ0eXAi.of.azure".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(
        login.windows(sent.len()).any(|piece| piece == sent),
        "the login has the token, without the end of its line"
    );
}
