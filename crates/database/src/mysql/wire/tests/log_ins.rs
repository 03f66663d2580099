//! Log-ins at servers that are none: what they hear of the password.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::super::{Credentials, DriverError, RsaKey, Security, log_in, modulus_bytes};
use super::peer::Peer;
use crate::{Error, Session};

const MORE: u8 = 1;
const FULL: u8 = 4;
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
        "so prony did not send it",
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
    assert!(has(&sent, &[0, 1, 0, 3]) && sent.len() > 256, "256 bytes of the key's length: {}", sent.len());
    assert!(!has(&sent, &[1, 0, 0, 3, 2]) && !has(&sent, PASSWORD.as_bytes()));
    std::fs::write(&file, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n").unwrap();
    let (opened, _) = heard(&option, answers, false).await;
    assert!(opened.unwrap_err().to_string().contains("does not contain an RSA public key"));
}

#[test]
fn a_key_that_is_none_is_known_before_it_is_used() {
    assert_eq!(modulus_bytes(KEY.as_bytes()), Some(256));
    for end in 0..KEY.len() - 30 {
        assert_eq!(modulus_bytes(&KEY.as_bytes()[..end]), None);
    }
    assert_eq!(modulus_bytes(KEY.replace("MIIB", "MIIA").as_bytes()), None);
}

fn credentials(security: Security<'_>) -> Credentials<'_> {
    Credentials { user: "joe", password: PASSWORD, database: Some("x"), security }
}

fn peer(answers: Vec<u8>) -> (Box<Peer>, Arc<Mutex<Vec<u8>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let peer = Peer { answers, given: 0, at_once: 10_000, stays_open: false, heard: Arc::clone(&heard) };
    (Box::new(peer), heard)
}

/// Logs in at a server that says all of this at once.
fn logged_in(answers: Vec<u8>, security: Security<'_>) -> (Result<(), DriverError>, Vec<u8>) {
    let (peer, heard) = peer(answers);
    let result = log_in(peer, &credentials(security)).now_or_never().unwrap();
    let result = result.map(|(conn, _)| drop(conn));
    let heard = heard.lock().unwrap().clone();
    (result, heard)
}

const OK: &[u8] = b"\0\0\0\x02\0\0\0";

#[test]
fn a_log_in_goes_through_the_ways_that_a_server_wants() {
    let fast = |number| packet(number, &[MORE, 3]);
    let native = b"\xfemysql_native_password\0ABCDEFGHIJKLMNOPQRST\0";
    let ed25519 = b"\xfeclient_ed25519\0ABCDEFGHIJKLMNOPQRSTABCDEFGHIJKL";
    for answers in [
        vec![greeting("mysql_native_password"), packet(2, OK)],
        vec![greeting("caching_sha2_password"), fast(2), packet(3, OK)],
        vec![greeting("mysql_native_password"), switch(2), fast(4), packet(5, OK)],
        // MariaDB tries one way after the other.
        vec![greeting("mysql_native_password"), packet(2, ed25519), packet(4, native), packet(6, OK)],
    ] {
        let (result, heard) = logged_in(answers.concat(), Security::Open(&RsaKey::Nobodys));
        assert!(result.is_ok(), "{result:?}");
        assert!(!has(&heard, PASSWORD.as_bytes()));
    }
    // Whoever has the socket of a server is it.
    let full = [greeting("caching_sha2_password"), packet(2, &[MORE, FULL]), packet(4, OK)];
    let (result, heard) = logged_in(full.concat(), Security::Socket);
    assert!(result.is_ok() && has(&heard, b"Geheim7x\0"), "{result:?}");
}

#[test]
fn what_a_log_in_ends_with_is_told() {
    let native = "mysql_native_password";
    let wants =
        |plugin: &str| packet(2, &[&b"\xfe"[..], plugin.as_bytes(), b"\0ABCDEFGHIJKLMNOPQRST\0"].concat());
    let before = packet(0, b"\xff\x10\x04Too many connections");
    for (answers, words) in [
        (vec![before], "Too many connections (error 1040)"),
        (vec![greeting(native), packet(2, b"\xff\x15\x04#28000no")], "no (error 1045)"),
        (vec![greeting(native), wants("dialog")], "`dialog`, which prony does not support"),
        (vec![greeting(native), wants("mysql_clear_password")], "so prony did not send it"),
        (vec![greeting(native), packet(2, b"\xfe")], "`mysql_old_password`"),
        (vec![greeting(native), packet(2, &[MORE, FULL])], "that is not part of a log-in"),
        (vec![packet(0, b"\x09old")], "uses an unsupported version of the protocol"),
        (vec![packet(0, b"HTTP/1.1 400 Bad Request")], "uses an unsupported version of the protocol"),
        (vec![greeting(native)[..20].to_vec()], "closed the connection"),
        (vec![vec![0, 0, 2, 0]], "too long"),
    ] {
        let (result, heard) = logged_in(answers.concat(), Security::Open(&RsaKey::Nobodys));
        let error = result.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert!(!has(&heard, PASSWORD.as_bytes()));
    }
}

proptest! {
    #[test]
    fn no_server_breaks_a_log_in_or_hears_the_password(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let answers = [greeting("mysql_native_password"), switch(2), packet(4, &[MORE, 3]), packet(5, OK)];
        let mut bytes = answers.concat();
        changes.iter().for_each(|(place, byte)| *place.get_mut(&mut bytes) = *byte);
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let (result, heard) = logged_in(bytes, Security::Open(&RsaKey::Nobodys));
        if changes.is_empty() {
            prop_assert_eq!(result.is_ok(), !is_cut);
        }
        prop_assert!(!has(&heard, PASSWORD.as_bytes()));
    }
}
