//! The poller against the simulated PLC, and against PLCs that answer as none should.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use super::*;
use crate::plc::{Plc, Settings};

/// A PLC that is served until it is dropped, and whose time goes on only by [`Self::advance`].
struct Served {
    plc: Arc<Plc>,
    elapsed_ms: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn start(registers: u32, changes_per_s: u32) -> Self {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), registers, changes_per_s, 0)
    }

    fn start_at(listen: SocketAddr, registers: u32, changes_per_s: u32, elapsed_ms: u64) -> Self {
        let settings = Settings { listen, registers, changes_per_s: Some(changes_per_s), seed: 5 };
        let elapsed_ms = Arc::new(AtomicU64::new(elapsed_ms));
        let clock = Arc::clone(&elapsed_ms);
        let elapsed = move || Duration::from_millis(clock.load(Ordering::Relaxed));
        let plc = Arc::new(Plc::bind_with_clock(&settings, elapsed).unwrap());
        let stop = Arc::new(AtomicBool::new(false));
        let (served, stopped) = (Arc::clone(&plc), Arc::clone(&stop));
        let thread = Some(std::thread::spawn(move || served.serve(&stopped).unwrap()));
        Self { plc, elapsed_ms, stop, thread }
    }

    fn address(&self) -> String {
        self.plc.address().to_string()
    }

    fn advance(&self, ms: u64) {
        self.elapsed_ms.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// The registers that differ, as the PLC itself knows them.
fn differences(before: &[u16], after: &[u16]) -> Vec<(u32, u16)> {
    let pairs = before.iter().zip(after).enumerate();
    pairs.filter(|(_, (a, b))| a != b).map(|(register, (_, b))| (register as u32, *b)).collect()
}

#[tokio::test]
async fn changes_are_those_of_the_plc() {
    let served = Served::start(1_000, 300);
    let mut poller = Poller::connect(&served.address(), 1_000).await.unwrap();
    assert_eq!(poller.changes().count(), 0, "before the first poll");
    let mut before = served.plc.values();
    assert_eq!(poller.poll().await.unwrap(), before);
    let all: Vec<(u32, u16)> = before.iter().enumerate().map(|(at, value)| (at as u32, *value)).collect();
    assert_eq!(poller.changes().collect::<Vec<_>>(), all, "the first poll reports all");
    // Of 300 changes a second; the last of these pauses changes registers more than once.
    for (pause_ms, count) in [(1_000, 300), (10, 3), (0, 0), (3_333, 1_000), (100, 30), (7_777, 1_000)] {
        served.advance(pause_ms);
        let values = served.plc.values();
        assert_eq!(poller.poll().await.unwrap(), values);
        let changes: Vec<(u32, u16)> = poller.changes().collect();
        assert_eq!(changes, differences(&before, &values), "after {pause_ms} ms");
        assert!(changes.len() <= count && changes.len() * 10 >= count * 9, "{} of {count}", changes.len());
        before = values;
    }
}

#[tokio::test]
async fn a_plc_of_all_registers_is_read_whole() {
    let served = Served::start(65_536, 1_000);
    let mut poller = Poller::connect(&served.address(), 65_536).await.unwrap();
    assert_eq!(poller.poll().await.unwrap(), served.plc.values());
}

#[tokio::test]
async fn registers_that_a_plc_has_not_are_refused_for_good_and_the_connection_stays() {
    let served = Served::start(1_000, 0);
    let mut poller = Poller::connect(&served.address(), 1_001).await.unwrap();
    for _ in 0..2 {
        let error = poller.poll().await.unwrap_err();
        assert!(!error.is_worth_retrying());
        let address = served.address();
        let expected = format!(
            "unit 255 of the PLC {address} refuses holding registers 1000 to 1000 with exception 2 (Illegal data address); some of \
             these registers do not exist: give the first existing one, modbus://{address}/255?first=NUMBER, or use fewer with {}, or poll \
             ?registers=input",
            parameter("tags")
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(poller.changes().count(), 0);
    }
}

#[tokio::test]
async fn a_plc_that_goes_and_comes_back_reports_what_changed_meanwhile() {
    let served = Served::start(500, 100);
    let address = served.plc.address();
    let mut poller = Poller::connect(&served.address(), 500).await.unwrap();
    poller.poll().await.unwrap();
    served.advance(1_000);
    let before = poller.poll().await.unwrap().to_vec();
    let changes: Vec<(u32, u16)> = poller.changes().collect();
    drop(served);

    let gone = poller.poll().await.unwrap_err();
    assert!(matches!(gone, PollError::Lost { .. }) && gone.is_worth_retrying(), "{gone}");
    let unreachable = poller.reconnect().await.unwrap_err();
    assert!(matches!(unreachable, PollError::Unreachable { .. }) && unreachable.is_worth_retrying());
    assert!(unreachable.to_string().contains(&address.to_string()), "{unreachable}");
    let not_connected = poller.poll().await.unwrap_err();
    assert!(not_connected.is_worth_retrying(), "{not_connected}");
    assert_eq!(poller.changes().collect::<Vec<_>>(), changes, "a failed poll changes nothing");

    let served = Served::start_at(address, 500, 100, 3_000);
    poller.reconnect().await.unwrap();
    let after = poller.poll().await.unwrap().to_vec();
    assert_eq!(after, served.plc.values());
    let changes: Vec<(u32, u16)> = poller.changes().collect();
    assert_eq!(changes, differences(&before, &after));
    assert_eq!(changes.len(), 200);
}

/// A PLC of one client that answers each request by `answer`, which gets transaction, first register and count; then
/// the requests are told. An empty answer closes the connection.
fn scripted(
    answer: impl Fn(u16, u16, u16) -> Vec<u8> + Send + 'static,
) -> (String, mpsc::Receiver<(u16, u16)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("{}/9", listener.local_addr().unwrap());
    let (asked, requests) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut request = [0; 12];
        while client.read_exact(&mut request).is_ok() {
            let number = |at: usize| u16::from_be_bytes([request[at], request[at + 1]]);
            assert_eq!((number(2), number(4), request[6], request[7]), (0, 6, 9, 3), "{request:?}");
            asked.send((number(8), number(10))).unwrap();
            let bytes = answer(number(0), number(8), number(10));
            if bytes.is_empty() || client.write_all(&bytes).is_err() {
                return;
            }
        }
    });
    (address, requests)
}

/// An answer of unit 9 with these bytes after its header.
fn adu(transaction: u16, pdu: &[u8]) -> Vec<u8> {
    let [a, b] = transaction.to_be_bytes();
    [&[a, b, 0, 0, 0, pdu.len() as u8 + 1, 9], pdu].concat()
}

/// An answer with `count` registers of zero.
fn zeros(transaction: u16, count: u16) -> Vec<u8> {
    adu(transaction, &[&[3, 2 * count as u8], &vec![0; 2 * usize::from(count)][..]].concat())
}

#[tokio::test]
async fn no_request_is_for_more_than_125_registers() {
    for (registers, expected) in [
        (1, &[(0, 1)][..]),
        (125, &[(0, 125)]),
        (126, &[(0, 125), (125, 1)]),
        (300, &[(0, 125), (125, 125), (250, 50)]),
    ] {
        let (address, requests) = scripted(|transaction, _, count| zeros(transaction, count));
        let mut poller = Poller::connect(&address, registers).await.unwrap();
        assert_eq!(poller.poll().await.unwrap().len(), registers as usize);
        drop(poller);
        assert_eq!(requests.iter().collect::<Vec<_>>(), expected, "{registers} registers");
    }
}

/// What the first poll of 10 registers ends with.
async fn failure(answer: impl Fn(u16, u16, u16) -> Vec<u8> + Send + 'static) -> PollError {
    let (address, _requests) = scripted(answer);
    Poller::connect(&address, 10).await.unwrap().poll().await.unwrap_err()
}

#[tokio::test]
async fn answers_out_of_form_are_errors_that_may_pass() {
    for error in [
        failure(|transaction, _, count| zeros(transaction.wrapping_add(1), count)).await,
        failure(|transaction, _, _| adu(transaction, &[4, 2, 0, 0])).await,
        failure(|transaction, _, _| adu(transaction, &[3, 99, 0, 0])).await,
        failure(|_, _, _| vec![0, 0, 0x12, 0x34, 0, 4, 9, 3, 0, 0]).await,
        failure(|_, _, _| Vec::new()).await,
    ] {
        assert!(matches!(error, PollError::Lost { .. }) && error.is_worth_retrying(), "{error}");
    }
}

#[tokio::test]
async fn a_short_answer_is_told_with_both_numbers() {
    let error = failure(|transaction, _, _| zeros(transaction, 7)).await;
    assert!(
        error.to_string().ends_with("was asked for 10 registers starting at 0, but returned 7"),
        "{error}"
    );
    assert!(!error.is_worth_retrying());
}

#[tokio::test]
async fn exceptions_are_worth_retrying_if_they_pass() {
    for (code, is_worth) in [(1, false), (2, false), (3, false), (4, true), (6, true), (10, true), (11, true)]
    {
        let error = failure(move |transaction, _, _| adu(transaction, &[0x83, code])).await;
        assert!(matches!(error, PollError::Refused { first: 0, last: 9, .. }), "{error}");
        assert_eq!(error.is_worth_retrying(), is_worth, "{error}");
    }
}

#[tokio::test]
async fn a_silent_plc_is_given_up_after_two_seconds() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut poller = Poller::connect(&silent.local_addr().unwrap().to_string(), 200).await.unwrap();
    tokio::time::pause();
    let begin = tokio::time::Instant::now();
    let error = poller.poll().await.unwrap_err();
    assert!(begin.elapsed() >= TIME_LIMIT && begin.elapsed() < 2 * TIME_LIMIT);
    assert!(
        error.to_string().ends_with("did not answer a request for registers 0 to 124 within 2 s"),
        "{error}"
    );
    assert!(error.is_worth_retrying());
    assert!(
        matches!(poller.poll().await, Err(PollError::Lost { .. })),
        "a late answer would be taken for another"
    );
}

#[tokio::test]
async fn what_cannot_be_a_plc_is_refused_before_anything_is_sent() {
    for registers in [0, 65_537] {
        let error = Poller::connect("127.0.0.1", registers).await.unwrap_err();
        assert!(
            matches!(error, PollError::Registers { given, first: 0 } if given == registers)
                && !error.is_worth_retrying()
        );
    }
    let error = Poller::connect("10.0.0.7:99999", 1).await.unwrap_err();
    assert!(error.to_string().contains("`10.0.0.7:99999` cannot be the address of a PLC"), "{error}");
    assert!(!error.is_worth_retrying());
}

/// A device that was behind a gateway as unit 3 could not be polled, and one whose registers begin at 100 neither.
#[tokio::test]
async fn unit_first_register_and_kind_of_registers_are_those_of_the_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let requests = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut requests = Vec::new();
        let mut request = [0; 12];
        while client.read_exact(&mut request).is_ok() {
            let number = |at: usize| u16::from_be_bytes([request[at], request[at + 1]]);
            requests.push((request[6], request[7], number(8), number(10)));
            let count = request[11];
            let head = [request[0], request[1], 0, 0, 0, 3 + 2 * count, request[6], request[7], 2 * count];
            client.write_all(&[&head[..], &vec![0; 2 * usize::from(count)]].concat()).unwrap();
        }
        requests
    });
    let mut poller = Poller::connect(&format!("{address}/3?first=100&registers=input"), 4).await.unwrap();
    poller.probe().await.unwrap();
    assert_eq!(poller.changes().count(), 0, "a probe is no poll");
    assert_eq!(poller.poll().await.unwrap(), [0; 4]);
    drop(poller);
    assert_eq!(requests.join().unwrap(), [(3, 4, 100, 4), (3, 4, 100, 4)]);
    let beyond = Poller::connect("127.0.0.1/3?first=65530", 7).await.unwrap_err().to_string();
    assert!(beyond.contains("starting at register 65530: use 1 to 6"), "{beyond}");
}

#[tokio::test]
async fn an_exception_is_told_with_number_unit_and_remedy() {
    for (code, told, remedy) in [
        (1, "exception 1 (Illegal function)", "?registers=input"),
        (2, "exception 2 (Illegal data address)", "?first=NUMBER"),
        (
            11,
            "exception 11 (Gateway target device failed to respond)",
            "does not reach unit 9: give another one, modbus://127.0.0.1:",
        ),
        (244, "exception 244, which Modbus does not define", "a later attempt may succeed"),
    ] {
        let error = failure(move |transaction, _, _| adu(transaction, &[0x83, code])).await.to_string();
        assert!(
            error.starts_with("unit 9 of the PLC") && error.contains(told) && error.contains(remedy),
            "{error}"
        );
    }
}
