//! The browser service, which tells on which port a named instance listens.
//!
//! Source: MC-SQLR, <https://learn.microsoft.com/openspecs/windows_protocols/mc-sqlr/>: CLNT_UCAST_INST and SVR_RESP.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::timeout;

use crate::Error;
use crate::error::Attempt;

const PORT: u16 = 1434;
/// The question for one instance.
const ASK: u8 = 0x04;
const ANSWER: u8 = 0x05;
/// How long one answer is waited for, and how often is asked: nothing says that a packet was lost.
const PATIENCE: Duration = Duration::from_millis(800);
const QUESTIONS: u32 = 3;
/// Longest answer, by the specification.
const ANSWER_BYTES: usize = 1024 + 3;

const REMEDY: &str =
    "start the browser service on that host and allow UDP port 1434, or give the instance's port: host:port";

/// The port of an instance of a host.
pub(super) async fn port(host: &[IpAddr], instance: &str, attempt: Attempt<'_>) -> Result<u16, Error> {
    port_at(host, PORT, instance, attempt).await
}

async fn port_at(host: &[IpAddr], service: u16, instance: &str, attempt: Attempt<'_>) -> Result<u16, Error> {
    let silent = || format!("the browser service gives no information about the instance `{instance}`");
    let mut why = silent();
    for address in host.iter().cycle().take(host.len() * QUESTIONS as usize) {
        match asked(SocketAddr::new(*address, service), instance).await {
            Ok(Some(answer)) => {
                return tcp_port(&answer, instance)
                    .map_err(|words| Error::Unreachable(attempt.text(words, REMEDY)));
            }
            Ok(None) => why = silent(),
            Err(error) => why = format!("the browser service cannot be asked: {error}"),
        }
    }
    Err(Error::Unreachable(attempt.text(why, REMEDY)))
}

/// What the service answers; nothing where it is silent.
async fn asked(service: SocketAddr, instance: &str) -> std::io::Result<Option<Vec<u8>>> {
    let any: IpAddr =
        if service.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(service).await?;
    let mut question = vec![ASK];
    question.extend(instance.as_bytes());
    question.push(0);
    socket.send(&question).await?;
    let mut answer = vec![0; ANSWER_BYTES];
    match timeout(PATIENCE, socket.recv(&mut answer)).await {
        Ok(received) => {
            answer.truncate(received?);
            Ok(Some(answer))
        }
        Err(_) => Ok(None),
    }
}

/// The port in an answer: pairs of names and values between semicolons, behind three bytes.
///
/// # Errors
/// In words, when it tells none.
fn tcp_port(answer: &[u8], instance: &str) -> Result<u16, String> {
    let odd = || format!("the answer for instance `{instance}` is not from a browser service");
    let (head, text) = answer.split_at_checked(3).ok_or_else(odd)?;
    let length = usize::from(u16::from_le_bytes([head[1], head[2]]));
    if head[0] != ANSWER || text.len() < length {
        return Err(odd());
    }
    let text = String::from_utf8_lossy(&text[..length]);
    let words: Vec<&str> = text.split(';').collect();
    let value = |name: &str| {
        words.chunks_exact(2).find(|pair| pair[0].eq_ignore_ascii_case(name)).map(|pair| pair[1])
    };
    if !value("InstanceName").is_some_and(|name| name.eq_ignore_ascii_case(instance)) {
        return Err(format!("the browser service does not know an instance `{instance}`"));
    }
    let port = value("tcp").and_then(|port| port.parse().ok()).filter(|port| *port > 0);
    port.ok_or_else(|| format!("the instance `{instance}` does not listen on TCP"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Doing;

    const TEXT: &str =
        "ServerName;ILSUNG1;InstanceName;YUKONSTD;IsClustered;No;Version;9.00.1399.06;tcp;57137;;";

    fn answer(text: &str) -> Vec<u8> {
        let length = u16::try_from(text.len()).unwrap().to_le_bytes();
        [&[ANSWER, length[0], length[1]], text.as_bytes()].concat()
    }

    /// The example of MC-SQLR 4.2.
    #[test]
    fn a_port_is_read() {
        assert_eq!(tcp_port(&answer(TEXT), "yukonstd"), Ok(57_137));
        for (text, instance, part) in [
            (TEXT, "OTHER", "does not know an instance `OTHER`"),
            ("ServerName;A;InstanceName;X;IsClustered;No;np;\\\\A\\pipe;;", "X", "does not listen on TCP"),
            ("ServerName;A;InstanceName;X;tcp;0;;", "X", "does not listen on TCP"),
        ] {
            let words = tcp_port(&answer(text), instance).unwrap_err();
            assert!(words.contains(part), "{words}");
        }
        for odd in [&b""[..], b"\x05\xff\xff;", b"\x04\0\0", b"HTTP/1.1 400"] {
            assert!(tcp_port(odd, "X").unwrap_err().contains("not from a browser service"));
        }
    }

    #[tokio::test]
    async fn a_service_is_asked_for_the_instance() {
        let service = UdpSocket::bind(("127.0.0.1", 0)).await.unwrap();
        let place = service.local_addr().unwrap();
        let serve = async {
            let mut question = [0; 99];
            let (length, who) = service.recv_from(&mut question).await.unwrap();
            assert_eq!(&question[..length], b"\x04YUKONSTD\0");
            service.send_to(&answer(TEXT), who).await.unwrap();
        };
        let attempt = Attempt { doing: Doing::Connect, target: "sqlserver://h" };
        let hosts = [place.ip()];
        let (found, ()) = tokio::join!(port_at(&hosts, place.port(), "YUKONSTD", attempt), serve);
        assert_eq!(found, Ok(57_137));
        drop(service);
        let error = port_at(&hosts, place.port(), "YUKONSTD", attempt).await.unwrap_err().to_string();
        assert!(error.contains("UDP port 1434"), "{error}");
    }

    proptest! {
        #[test]
        fn no_answer_breaks_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = tcp_port(&bytes, "X");
        }
    }
}
