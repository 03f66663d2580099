//! What a server may answer, in the order in which it may.

use std::future::poll_fn;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

use super::super::line::{DriversEnd, ends};
use super::*;

const READY: &[u8] = b"Z\0\0\0\x05I";
const IN_TRANSACTION: &[u8] = b"Z\0\0\0\x05T";

fn done(tag: &str) -> Vec<u8> {
    [b"C".as_slice(), &(tag.len() as u32 + 5).to_be_bytes(), tag.as_bytes(), b"\0"].concat()
}

fn failed(code: &str) -> Vec<u8> {
    let fields = format!("C{code}\0Mno\0\0");
    [b"E".as_slice(), &(fields.len() as u32 + 4).to_be_bytes(), fields.as_bytes()].concat()
}

fn exchange() -> (Exchange, DriversEnd, DuplexStream) {
    let (here, there) = duplex(1 << 20);
    let (driver, ours) = ends(Box::new(here));
    let mut exchange = Exchange::over(ours);
    exchange.take().unwrap();
    (exchange, driver, there)
}

/// All answers, rows or code, and how it ended.
async fn answers(exchange: &mut Exchange) -> (Vec<Result<u64, String>>, io::Result<()>) {
    let mut told = Vec::new();
    let take = &mut |answered: Answered| {
        told.push(answered.map(|answer| answer.rows).map_err(|wrong| wrong.code));
    };
    let ended = poll_fn(|context| exchange.poll(context, take)).await;
    (told, ended)
}

const PREPARED_ONE: (Protocol, Wanted) = (Protocol::Prepared, Wanted::Count);

#[tokio::test]
async fn a_pipeline_goes_on_behind_the_sync_after_what_failed() {
    let (mut exchange, _driver, mut server) = exchange();
    for sql in ["a", "b", "c"] {
        exchange.add(sql, &[], PREPARED_ONE);
    }
    exchange.sync();
    exchange.add("d", &[], PREPARED_ONE);
    exchange.end();
    let said = [&done("UPDATE 2"), &failed("22012"), READY, &done("UPDATE 7"), IN_TRANSACTION].concat();
    server.write_all(&said).await.unwrap();
    let (told, ended) = answers(&mut exchange).await;
    assert_eq!(told, [Ok(2), Err("22012".into()), Ok(7)]);
    assert!(ended.is_ok() && !exchange.owes() && exchange.is_in_transaction());
}

#[tokio::test]
async fn what_fails_at_the_end_is_told_after_the_answer() {
    let (mut exchange, _driver, mut server) = exchange();
    exchange.add("insert", &[], PREPARED_ONE);
    exchange.end();
    server.write_all(&[&done("INSERT 0 1"), &failed("23503"), READY].concat()).await.unwrap();
    let (told, ended) = answers(&mut exchange).await;
    assert_eq!(told, [Ok(1), Err("23503".into())]);
    assert!(ended.is_ok());
}

#[tokio::test]
async fn a_server_that_says_why_it_ends_is_heard_before_its_end() {
    let (mut exchange, _driver, mut server) = exchange();
    exchange.add("x", &[], (Protocol::Simple, Wanted::Nothing));
    server.write_all(&failed("57P01")).await.unwrap();
    drop(server);
    let (told, ended) = answers(&mut exchange).await;
    assert_eq!(told, [Err("57P01".into())]);
    assert!(ended.is_err());
}

#[tokio::test]
async fn a_statement_that_waits_for_data_is_told_that_none_come() {
    for (protocol, expected) in [
        (Protocol::Simple, b"f\0\0\0\x26no data are sent with a statement\0".to_vec()),
        (Protocol::Extended, b"f\0\0\0\x26no data are sent with a statement\0S\0\0\0\x04".to_vec()),
    ] {
        let (mut exchange, _driver, mut server) = exchange();
        exchange.add("COPY t FROM STDIN", &[], (protocol, Wanted::Nothing));
        exchange.end();
        server.write_all(b"G\0\0\0\x07\0\0\0").await.unwrap();
        let mut first = vec![0; exchange.out.len()];
        let talk = answers(&mut exchange);
        let answer = async {
            server.read_exact(&mut first).await.unwrap();
            let mut then = vec![0; expected.len()];
            server.read_exact(&mut then).await.unwrap();
            server.write_all(&[&failed("57014"), READY].concat()).await.unwrap();
            then
        };
        let ((told, ended), then) = tokio::join!(talk, answer);
        assert_eq!((told, ended.is_ok()), (vec![Err("57014".into())], true), "{protocol:?}");
        assert!(then == expected, "{protocol:?}: {then:?}");
    }
}

#[tokio::test]
async fn what_nobody_waited_for_is_heard_to_its_end_by_the_next() {
    let (mut exchange, _driver, mut server) = exchange();
    exchange.add("slow", &[], PREPARED_ONE);
    exchange.end();
    server.write_all(b"D\0\0\xff\xff").await.unwrap();
    // Dropped in the middle of a row.
    assert!(futures_util::future::poll_immediate(answers(&mut exchange)).await.is_none());
    assert!(exchange.owes());
    server.write_all(&vec![0; 0xffff - 4]).await.unwrap();
    server.write_all(&[&done("SELECT 1"), READY].concat()).await.unwrap();
    let (told, ended) = answers(&mut exchange).await;
    assert!(ended.is_ok() && !exchange.owes());
    assert_eq!(told, [Ok(1)]);
}

#[tokio::test]
async fn a_statement_is_parsed_once_and_again_when_it_was_forgotten() {
    let (mut exchange, _driver, mut server) = exchange();
    let mut parsed = Vec::new();
    for round in 0..4 {
        if round == 2 {
            exchange.forget("SELECT 1");
        }
        exchange.add("SELECT 1", &[], PREPARED_ONE);
        exchange.end();
        parsed.push(exchange.out.windows(5).filter(|part| part.starts_with(b"P\0\0\0")).count());
        server.write_all(&[&done("SELECT 1"), READY].concat()).await.unwrap();
        assert!(answers(&mut exchange).await.1.is_ok());
    }
    assert_eq!(parsed, [1, 0, 1, 0]);
}

/// A row of one bigint, as the server holds it, with what it is described by.
fn described(kind: u32) -> Vec<u8> {
    let column = [b"n\0".as_slice(), &[0; 6], &kind.to_be_bytes(), &[0; 8]].concat();
    [b"T".as_slice(), &(column.len() as u32 + 6).to_be_bytes(), &[0, 1], &column].concat()
}

fn bigint(number: i64) -> Vec<u8> {
    [b"D\0\0\0\x12\0\x01\0\0\0\x08".as_slice(), &number.to_be_bytes()].concat()
}

/// What was heard: rows, and how the statement ended.
#[derive(Default)]
struct Listening {
    rows: Vec<Result<i64, String>>,
    ended: Vec<Answered>,
}

impl Hears for Listening {
    fn answered(&mut self, answered: Answered) {
        self.ended.push(answered);
    }

    fn row(&mut self, columns: &[Column], body: &[u8]) {
        let row = message::cells(columns, body);
        self.rows.push(row.map(|cells| cells[0].integer().unwrap()));
    }
}

#[tokio::test]
async fn each_row_is_heard_as_it_comes_and_what_fails_behind_them_is_an_error() {
    for (end, is_answer) in [(done("SELECT 2"), true), (failed("57014"), false)] {
        let (mut exchange, _driver, mut server) = exchange();
        exchange.add_for_rows("SELECT n", &[]);
        exchange.end();
        let said =
            [&described(20), &bigint(7), &bigint(-9), &end, &READY.to_vec()].map(Vec::as_slice).concat();
        server.write_all(&said).await.unwrap();
        let mut heard = Listening::default();
        poll_fn(|context| exchange.poll(context, &mut heard)).await.unwrap();
        assert_eq!(heard.rows, [Ok(7), Ok(-9)]);
        assert_eq!((heard.ended.len(), heard.ended[0].is_ok()), (1, is_answer));
        assert!(!exchange.owes());
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_told_with_its_column() {
    let (mut exchange, _driver, mut server) = exchange();
    exchange.add_for_rows("SELECT n", &[]);
    exchange.end();
    let said = [&described(1114), &bigint(7), &done("SELECT 1"), &READY.to_vec()].map(Vec::as_slice).concat();
    server.write_all(&said).await.unwrap();
    let mut heard = Listening::default();
    poll_fn(|context| exchange.poll(context, &mut heard)).await.unwrap();
    assert_eq!(
        heard.rows,
        [Err("column `n`: prony does not read values of type timestamp: cast the value to text".to_owned())]
    );
}
