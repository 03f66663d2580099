//! The PLC as a client sees it, byte by byte, and whatever a client may send.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::JoinHandle;

use super::*;

/// A PLC of 1,000 registers that is served until it is dropped. Its time stands still at 5 s.
struct Served {
    plc: Arc<Plc>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn start() -> Self {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let settings = Settings { listen, registers: 1_000, ..Settings::default() };
        let plc = Arc::new(Plc::bind_with_clock(&settings, || Duration::from_secs(5)).unwrap());
        let stop = Arc::new(AtomicBool::new(false));
        let (served, stopped) = (Arc::clone(&plc), Arc::clone(&stop));
        let thread = Some(std::thread::spawn(move || served.serve(&stopped).unwrap()));
        Self { plc, stop, thread }
    }

    fn client(&self) -> TcpStream {
        let client = TcpStream::connect(self.plc.address()).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client
    }

    /// Sends a PDU as unit 1 and returns the PDU of the answer.
    fn ask(&self, pdu: &[u8]) -> Vec<u8> {
        ask(&mut self.client(), pdu)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn ask(client: &mut TcpStream, pdu: &[u8]) -> Vec<u8> {
    let mut request = vec![0x12, 0x34, 0, 0, 0, pdu.len() as u8 + 1, 1];
    request.extend(pdu);
    client.write_all(&request).unwrap();
    let mut header = [0; 7];
    client.read_exact(&mut header).unwrap();
    assert_eq!((&header[..4], header[6]), (&request[..4], 1), "transaction, protocol and unit are repeated");
    let mut answer = vec![0; usize::from(u16::from_be_bytes([header[4], header[5]])) - 1];
    client.read_exact(&mut answer).unwrap();
    answer
}

fn read_request(function: u8, first: u16, count: u16) -> Vec<u8> {
    let ([a, b], [c, d]) = (first.to_be_bytes(), count.to_be_bytes());
    vec![function, a, b, c, d]
}

#[test]
fn registers_are_read_by_both_functions() {
    let served = Served::start();
    let values = served.plc.values();
    for (first, count) in [(0, 1), (0, 125), (875, 125), (999, 1), (17, 60)] {
        let range = usize::from(first)..usize::from(first + count);
        let bytes: Vec<u8> = values[range].iter().flat_map(|value| value.to_be_bytes()).collect();
        for function in [3, 4] {
            let answer = served.ask(&read_request(function, first, count));
            assert_eq!(answer[..2], [function, 2 * count as u8]);
            assert_eq!(answer[2..], bytes);
        }
    }
}

#[test]
fn what_a_plc_has_not_is_refused_by_the_code_of_the_protocol() {
    let served = Served::start();
    for function in [3, 4] {
        for (first, count, code) in
            [(0, 126, 3), (0, 0, 3), (0, 65_535, 3), (999, 2, 2), (1_000, 1, 2), (65_535, 125, 2)]
        {
            let answer = served.ask(&read_request(function, first, count));
            assert_eq!(answer, [0x80 | function, code], "{count} registers from {first}");
        }
    }
    for pdu in [
        &[1, 0, 0, 0, 8][..],
        &[2, 0, 0, 0, 8],
        &[5, 0, 0, 0xff, 0],
        &[6, 0, 0, 0, 1],
        &[15, 0, 0, 0, 8, 1, 0xff],
        &[16, 0, 0, 0, 1, 2, 0, 1],
    ] {
        assert_eq!(served.ask(pdu), [0x80 | pdu[0], 1], "{pdu:?}");
    }
    assert_ne!(served.plc.values()[0], 1, "nothing was written");
}

#[test]
fn clients_that_break_the_protocol_disturb_no_other() {
    let served = Served::start();
    let mut good = served.client();
    let request = read_request(3, 0, 10);
    let expected = ask(&mut good, &request);
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 100], &[0, 0, 0, 0, 0, 2, 1, 3], &[0xff; 300], b""] {
        let mut bad = served.client();
        bad.write_all(garbage).unwrap();
        bad.shutdown(std::net::Shutdown::Write).unwrap();
        // Its connection ends, with or without an answer.
        let _ = bad.read_to_end(&mut Vec::new());
        assert_eq!(ask(&mut good, &request), expected, "after {garbage:?}");
    }
    let mut clients: Vec<TcpStream> = (0..30).map(|_| served.client()).collect();
    for client in &mut clients {
        assert_eq!(ask(client, &request), expected);
    }
}

#[test]
fn a_stopped_plc_closes_its_connections_and_can_be_served_again() {
    let mut served = Served::start();
    let mut client = served.client();
    let expected = ask(&mut client, &read_request(3, 0, 5));
    served.stop.store(true, Ordering::Relaxed);
    served.thread.take().unwrap().join().unwrap();
    assert_eq!(client.read(&mut [0; 1]).unwrap(), 0);

    served.stop.store(false, Ordering::Relaxed);
    let (plc, stop) = (Arc::clone(&served.plc), Arc::clone(&served.stop));
    served.thread = Some(std::thread::spawn(move || plc.serve(&stop).unwrap()));
    assert_eq!(served.ask(&read_request(3, 0, 5)), expected);
}

#[test]
fn a_port_that_is_taken_and_registers_that_cannot_be_are_told() {
    let served = Served::start();
    let taken = Settings { listen: served.plc.address(), ..Settings::default() };
    let error = Plc::bind(&taken).unwrap_err().to_string();
    assert!(error.contains(&taken.listen.to_string()) && error.contains("port 0 for a free one"), "{error}");
    for registers in [0, 65_537] {
        let settings = Settings { registers, ..Settings::default() };
        let error = Plc::bind(&settings).unwrap_err().to_string();
        assert!(error.contains(&format!("{registers} registers: give 1 to 65536")), "{error}");
    }
}

#[test]
fn the_command_line_has_the_same_defaults() {
    use clap::{Args, FromArgMatches};

    let command = Settings::augment_args(clap::Command::new("plc"));
    let parse = |arguments: &[&str]| {
        let matches = command.clone().try_get_matches_from([&["plc"], arguments].concat())?;
        Settings::from_arg_matches(&matches)
    };
    assert_eq!(parse(&[]).unwrap(), Settings::default());
    let given =
        parse(&["--listen", "[::1]:0", "--registers", "65536", "--changes-per-s", "0", "--seed", "7"])
            .unwrap();
    let listen = "[::1]:0".parse().unwrap();
    assert_eq!(given, Settings { listen, registers: 65_536, changes_per_s: Some(0), seed: 7 });
    for wrong in [["--registers", "0"], ["--registers", "65537"], ["--listen", "plc"]] {
        assert!(parse(&wrong).is_err(), "{wrong:?}");
    }
}
