//! Answers of servers, and of those that break the protocol: each of these is an error, and no end of the program.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use mysql_common::constants::ColumnType;
use proptest::prelude::*;

use super::super::packets::{PART_BYTES, Packets};
use super::super::{AnswerKind, Conn, DriverError, DriverResult, Raw};
use super::peer::{Answers, Peer, Style, conn, over};

const NEW: Style = Style { without_eof: true, caches_columns: true };
const OLD: Style = Style { without_eof: false, caches_columns: false };
const STYLES: [Style; 3] = [NEW, Style { without_eof: true, caches_columns: false }, OLD];
const NUMBER: (ColumnType, bool) = (ColumnType::MYSQL_TYPE_LONGLONG, false);
const TEXT: (ColumnType, bool) = (ColumnType::MYSQL_TYPE_VAR_STRING, false);

/// The result of what needs no waiting: the whole answer is there.
fn at_once<T>(waiting: impl Future<Output = T>) -> T {
    waiting.now_or_never().expect("it waits for more than the server says")
}

/// Rows and values of all answers to a command.
async fn read_all(conn: &mut Conn, first: AnswerKind) -> DriverResult<Vec<usize>> {
    let mut rows = Vec::new();
    let mut next = Some(first);
    while next.is_some() {
        let mut count = 0;
        while conn.next_row().await? {
            count += 1;
            for value in conn.row().values()? {
                value?;
            }
        }
        rows.push(count);
        next = conn.next_answer().await?;
    }
    Ok(rows)
}

async fn prepare_and_execute(conn: &mut Conn) -> DriverResult<Vec<usize>> {
    let mut statement = conn.prepare("SELECT ?").await?;
    let parameters = statement.parameters();
    let first =
        conn.execute(&mut statement, |put| (0..parameters).for_each(|_| put.put(crate::Cell::Null))).await?;
    read_all(conn, first).await
}

async fn query(conn: &mut Conn) -> DriverResult<Vec<usize>> {
    let first = conn.query("SELECT 1").await?;
    read_all(conn, first).await
}

/// A text answer of two results with rows and one without, and its rows.
fn text_answers(style: Style) -> (Vec<u8>, Vec<usize>) {
    let mut answers = Answers::new(style);
    answers.head(&[NUMBER, TEXT], false);
    answers.packet(b"\x017\x05hello");
    answers.packet(b"\xfb\xfb");
    answers.end(true);
    answers.ok(3, 0, true);
    answers.head(&[NUMBER], false);
    answers.packet(b"\x02-1");
    answers.end(false);
    (answers.bytes, vec![2, 0, 1])
}

/// A prepared statement of one parameter and its answer.
fn binary_answers(style: Style) -> (Vec<u8>, Vec<usize>) {
    let mut answers = Answers::new(style);
    answers.prepared(1, 1, &[NUMBER, TEXT]);
    answers.next_command();
    answers.head(&[NUMBER, TEXT], true);
    for _ in 0..3 {
        answers.packet(b"\0\0\x01\0\0\0\0\0\0\0\x02ab");
    }
    answers.end(false);
    (answers.bytes, vec![3])
}

#[test]
fn several_answers_are_read_one_after_the_other() {
    for style in STYLES {
        for step in [1, 7, 10_000] {
            let (bytes, rows) = text_answers(style);
            let (mut conn, _) = conn(bytes, step, style);
            assert_eq!(at_once(query(&mut conn)).unwrap(), rows, "{style:?}");
            let (bytes, rows) = binary_answers(style);
            let (mut conn, _) = super::peer::conn(bytes, step, style);
            assert_eq!(at_once(prepare_and_execute(&mut conn)).unwrap(), rows, "{style:?}");
        }
    }
}

#[test]
fn an_error_ends_an_answer_and_not_the_connection() {
    let mut answers = Answers::new(NEW);
    answers.error(1064, "wrong");
    answers.next_command();
    answers.head(&[NUMBER], false);
    answers.packet(b"\x017");
    answers.error(1317, "ended amid its rows");
    answers.next_command();
    // A report of progress, and then the end.
    answers.packet(b"\xff\xff\xff\x01\x01\x01\0\0\0\0");
    answers.ok(5, 9, false);
    let (mut conn, _) = conn(answers.bytes, 10_000, NEW);
    for message in ["wrong (error 1064)", "ended amid its rows (error 1317)"] {
        let error = at_once(query(&mut conn)).unwrap_err();
        assert!(matches!(&error, DriverError::Server(told) if told.state == "42000"), "{error:?}");
        assert_eq!(error.to_string(), message);
    }
    at_once(conn.query_drop("INSERT")).unwrap();
    assert_eq!((conn.affected_rows(), conn.insert_id()), (5, Some(9)));
}

/// What servers do that are none, and what the error says.
#[test]
fn what_is_against_the_protocol_is_an_error() {
    let ok = b"\x07\0\0\x01\0\0\0\0\0\0\0";
    for (bytes, words) in [
        (b"\x07\0\0\x02\0\0\0\0\0\0\0".to_vec(), "out of order"),
        (b"\x01\0\0\x01\0".to_vec(), "too short"),
        (b"\0\0\0\x01".to_vec(), "too short"),
        (b"\x09\0\0\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(), "too many columns"),
        (b"\x04\0\0\x01\xfd\0\0\x01".to_vec(), "too many columns"),
        (b"\x05\0\0\x01\xfb/etc".to_vec(), "a file from this machine"),
        (b"\x02\0\0\x01\x01\0".to_vec(), "definitions of columns are missing"),
        (b"\x02\0\0\x01\x01\x01\x01\0\0\x02\xfb".to_vec(), "a length is none"),
        (b"\x03\0\0\x01".to_vec(), "closed the connection"),
        (ok[..9].to_vec(), "closed the connection"),
        (Vec::new(), "closed the connection"),
    ] {
        let (mut conn, heard) = conn(bytes.clone(), 10_000, NEW);
        let error = at_once(query(&mut conn)).unwrap_err().to_string();
        assert!(error.contains(words), "{bytes:?}: {error}");
        let before = heard.lock().unwrap().len();
        assert!(at_once(conn.query_drop("SELECT 2")).is_err(), "it is lost");
        drop(conn);
        assert_eq!(heard.lock().unwrap().len(), before, "and nothing more is said");
    }
}

/// A server that shuts down says so at once, whatever was said before.
#[test]
fn a_farewell_has_no_place_in_the_exchange() {
    let (mut conn, _) = conn(b"\x0d\0\0\0\xff\x87\x07#70100bye!".to_vec(), 10_000, NEW);
    let error = at_once(query(&mut conn)).unwrap_err();
    assert!(matches!(&error, DriverError::Server(told) if told.code == 1927), "{error:?}");
}

#[test]
fn a_length_alone_takes_no_memory() {
    let heard = Arc::default();
    let answers = b"\xfe\xff\xff\0begins and ends".to_vec();
    let peer = Peer { answers, given: 0, at_once: 100, stays_open: false, heard };
    let mut packets = Packets::new(Box::new(peer), PART_BYTES);
    assert!(at_once(packets.next()).is_err());
    assert!(packets.room_bytes() < 100_000, "{}", packets.room_bytes());
}

#[test]
fn long_payloads_are_split_and_joined() {
    for length in [PART_BYTES - 1, PART_BYTES, PART_BYTES + 5] {
        let (mut client, heard) = conn(b"\x07\0\0\x02\0\0\0\0\0\0\0".to_vec(), 1 << 20, OLD);
        // The first byte is the command's own. Only the second packet of two has the number before the answer's.
        let sent = at_once(client.query_drop(&"x".repeat(length - 1)));
        assert_eq!(sent.is_ok(), length >= PART_BYTES, "{length}");
        let mut said = heard.lock().unwrap().clone();
        assert_eq!(said[..4], if length < PART_BYTES { [254, 255, 255, 0] } else { [255, 255, 255, 0] });
        if length >= PART_BYTES {
            let second = &said[4 + PART_BYTES..];
            assert_eq!(
                (second[0], second[3], second.len()),
                ((length - PART_BYTES) as u8, 1, 4 + length - PART_BYTES)
            );
        }
        said.push(0);
        let peer =
            Peer { answers: said, given: 0, at_once: 1 << 20, stays_open: false, heard: Arc::default() };
        let mut packets = Packets::new(Box::new(peer), 0);
        packets.lift_limit();
        at_once(packets.next()).unwrap();
        assert_eq!(packets.payload().len(), length);
        assert!(packets.payload()[1..].iter().all(|byte| *byte == b'x'));
    }
}

#[test]
fn an_exchange_that_was_given_up_is_not_taken_up_again() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (answers, heard_by_peer) = (b"\x07\0\0\x01\0".to_vec(), Arc::clone(&heard));
    let peer = Peer { answers, given: 0, at_once: 9, stays_open: true, heard: heard_by_peer };
    let mut conn = over(peer, NEW);
    assert!(conn.query_drop("SELECT 1").now_or_never().is_none(), "it waits");
    let error = at_once(conn.query_drop("SELECT 2")).unwrap_err();
    assert!(error.to_string().contains("an earlier exchange failed or was abandoned"), "{error}");
    drop(conn);
    assert_eq!(*heard.lock().unwrap(), b"\x09\0\0\0\x03SELECT 1");
}

#[test]
fn a_statement_is_closed_with_the_next_command_and_a_connection_takes_leave() {
    let mut answers = Answers::new(NEW);
    answers.prepared(5, 0, &[]);
    answers.next_command();
    answers.ok(0, 0, false);
    let (mut conn, heard) = conn(answers.bytes, 10_000, NEW);
    let statement = at_once(conn.prepare("DO 1")).unwrap();
    conn.close(statement);
    at_once(conn.query_drop("DO 2")).unwrap();
    drop(conn);
    let said =
        [&b"\x05\0\0\0\x16DO 1"[..], b"\x05\0\0\0\x19\x05\0\0\0", b"\x05\0\0\0\x03DO 2", b"\x01\0\0\0\x01"];
    assert_eq!(*heard.lock().unwrap(), said.concat());
}

/// A table was altered, so that the same statement has other columns.
#[test]
fn columns_that_changed_are_told_again() {
    for style in STYLES {
        let mut answers = Answers::new(style);
        answers.prepared(1, 0, &[NUMBER]);
        for are_known in [false, true] {
            answers.next_command();
            answers.head(&[TEXT, NUMBER], are_known);
            answers.packet(b"\0\0\x02ab\x01\0\0\0\0\0\0\0");
            answers.end(false);
        }
        let (mut conn, _) = conn(answers.bytes, 10_000, style);
        let mut statement = at_once(conn.prepare("SELECT")).unwrap();
        for _ in 0..2 {
            at_once(conn.execute(&mut statement, |_| {})).unwrap();
            assert!(at_once(conn.next_row()).unwrap());
            let read: Vec<_> = conn.row().values().unwrap().map(|value| value.unwrap().0).collect();
            assert_eq!(read, [Raw::Bytes(b"ab"), Raw::Int(1)], "{style:?}");
            at_once(conn.drop_answers()).unwrap();
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_break_the_driver(
        bytes in prop::collection::vec(prop_oneof![2 => any::<u8>(), 3 => 0u8..9], 0..300),
        step in 1usize..50,
        style in prop::sample::select(STYLES.to_vec()),
        with_header in any::<bool>(),
    ) {
        let bytes = if with_header { [&[bytes.len() as u8, (bytes.len() >> 8) as u8, 0, 1], &bytes[..]].concat() } else { bytes };
        let (mut first, _) = conn(bytes.clone(), step, style);
        let _ = at_once(query(&mut first));
        let (mut second, _) = conn(bytes, step, style);
        let _ = at_once(prepare_and_execute(&mut second));
    }

    #[test]
    fn answers_that_were_cut_are_errors(cut in 0usize..600, style in prop::sample::select(STYLES.to_vec())) {
        let (text, binary) = (text_answers(style).0, binary_answers(style).0);
        let (mut first, _) = conn(text[..cut.min(text.len())].to_vec(), 10_000, style);
        prop_assert_eq!(at_once(query(&mut first)).is_err(), cut < text.len());
        let (mut second, _) = conn(binary[..cut.min(binary.len())].to_vec(), 10_000, style);
        prop_assert_eq!(at_once(prepare_and_execute(&mut second)).is_err(), cut < binary.len());
    }

    #[test]
    fn answers_that_were_changed_break_nothing(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        style in prop::sample::select(STYLES.to_vec()),
    ) {
        let changed = |mut bytes: Vec<u8>| {
            changes.iter().for_each(|(place, byte)| *place.get_mut(&mut bytes) = *byte);
            bytes
        };
        let (mut first, _) = conn(changed(text_answers(style).0), 10_000, style);
        let _ = at_once(query(&mut first));
        let (mut second, _) = conn(changed(binary_answers(style).0), 10_000, style);
        let _ = at_once(prepare_and_execute(&mut second));
    }
}
