//! Histories as texts: an operation a line, or several with `|` between them.
//!
//! `3 w17 10-20` is client 3 writing 17, sent at 10 and acknowledged at 20; `w17!` was refused, `w17?` not answered; `r17` read 17,
//! `r17<16` read it as what replaced 16; `r?` had no answer.

mod bound;
mod brute_force;
mod planted;
mod published;
mod simulated;

use record::register::Did;

use super::*;

fn operation(text: &str) -> Operation {
    let [client, did, times] = text.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{text}") };
    let (invoked, ended) = times.split_once('-').unwrap();
    let (invoked_ns, at_ns): (u64, u64) = (invoked.parse().unwrap(), ended.parse().unwrap());
    let number = |text: &str| text.parse::<u64>().unwrap();
    let what = &did[1..];
    let did = match (&did[..1], what.strip_suffix('!'), what.strip_suffix('?')) {
        ("w", Some(value), _) => Did::Refused { value: number(value), at_ns },
        ("w", _, Some(value)) => Did::Unanswered { value: number(value), at_ns },
        ("w", _, _) => Did::Wrote { value: number(what), at_ns },
        ("r", _, Some(_)) => Did::ReadNothing { at_ns },
        ("r", _, _) => match what.split_once('<') {
            Some((value, replaced)) => {
                Did::Read { value: number(value), replaced: Some(number(replaced)), at_ns }
            }
            None => Did::Read { value: number(what), replaced: None, at_ns },
        },
        _ => panic!("{text}"),
    };
    Operation { client: client.parse().unwrap(), key: 0, invoked_ns, did }
}

fn history(text: &str) -> Vec<Operation> {
    text.split(['|', '\n']).filter(|line| !line.trim().is_empty()).map(operation).collect()
}

fn text(operation: &Operation) -> String {
    let did = match operation.did {
        Did::Wrote { value, .. } => format!("w{value}"),
        Did::Refused { value, .. } => format!("w{value}!"),
        Did::Unanswered { value, .. } => format!("w{value}?"),
        Did::Read { value, replaced: None, .. } => format!("r{value}"),
        Did::Read { value, replaced: Some(replaced), .. } => format!("r{value}<{replaced}"),
        Did::ReadNothing { .. } => "r?".to_owned(),
    };
    format!("{} {did} {}-{}", operation.client, operation.invoked_ns, operation.ended_ns())
}

/// What is found: `stale read: 1 w1 0-5, 2 w2 10-15, 3 r1 20-25`.
fn found(text_of: &str) -> Vec<String> {
    let told = |anomaly: &Anomaly| {
        let operations: Vec<String> = anomaly.operations.iter().map(text).collect();
        format!("{}: {}", anomaly.kind, operations.join(", "))
    };
    check(&history(text_of)).unwrap().anomalies.iter().map(told).collect()
}

fn kinds(history: &[Operation]) -> Vec<AnomalyKind> {
    check(history).unwrap().anomalies.iter().map(|anomaly| anomaly.kind).collect()
}

#[test]
fn what_a_register_does_is_found_to_be_nothing() {
    for good in [
        "",
        "1 r0 0-5",
        "1 w1 0-5 | 1 r1 6-9",
        // What ends at the moment at which something else is sent did not come before it.
        "1 w1 0-5 | 2 r0 5-9",
        // Two writes at once, and nobody knows in which order until somebody reads.
        "1 w1 0-10 | 2 w2 0-10 | 3 r1 11-12 | 3 r1 13-14",
        "1 w1 0-10 | 2 w2 0-10 | 3 r2 11-12 | 3 r2 13-14",
        "1 w1 0-10 | 2 w2 0-10 | 3 r1 1-2 | 3 r2 3-4",
        // A write without an answer takes effect when it wants to, or never.
        "1 w1 0-5 | 2 w2? 6-7 | 3 r1 8-9 | 3 w3 10-11 | 3 r3 12-13 | 3 r2 14-15",
        "1 w1 0-5 | 2 w2? 6-7 | 3 r1 8-9",
        // A read at the same time as a write sees it or not.
        "1 w1 0-5 | 2 w2 10-20 | 3 r1 11-12 | 4 r2 13-14",
        "1 w1! 0-5 | 2 r0 6-7 | 2 r? 8-9",
    ] {
        assert_eq!(found(good), [""; 0], "{good}");
    }
}

#[test]
fn each_anomaly_is_told_by_its_name_with_what_proves_it() {
    for (bad, told) in [
        ("1 w1 0-5 | 2 r0 6-9 | 2 r1 10-11", "stale read: 1 w1 0-5, 2 r0 6-9"),
        ("1 w1 0-5 | 2 w2 6-9 | 3 r1 10-11 | 3 r2 12-13", "stale read: 1 w1 0-5, 2 w2 6-9, 3 r1 10-11"),
        (
            "1 w1 0-5 | 2 w2 6-30 | 3 r2 10-11 | 4 r1 12-13 | 4 r2 40-41",
            "stale read: 1 w1 0-5, 3 r2 10-11, 4 r1 12-13",
        ),
        (
            "1 w1 0-5 | 2 w2 6-9 | 3 r2 10-11 | 3 r1 12-13 | 4 r2 14-15",
            "non-monotonic read: 1 w1 0-5, 3 r2 10-11, 2 w2 6-9, 3 r1 12-13",
        ),
        ("1 w1 0-5 | 2 w2 6-9 | 3 r1 10-11", "lost update: 1 w1 0-5, 2 w2 6-9, 3 r1 10-11"),
        ("1 w1 0-5 | 2 r0 6-9", "lost update: 1 w1 0-5, 2 r0 6-9"),
        ("1 w1! 0-5 | 2 r1 6-9", "dirty read: 1 w1! 0-5, 2 r1 6-9"),
        ("1 r7 0-5", "value that nobody wrote: 1 r7 0-5"),
        ("1 r1<7 6-9 | 2 w1 0-5", "value that nobody wrote: 1 r1<7 6-9"),
        ("1 r1 0-5 | 2 w1 6-9", "read before its write: 2 w1 6-9, 1 r1 0-5"),
        (
            "1 w1 0-9 | 2 w2 0-9 | 3 r1<0 10-11 | 4 r2<0 12-13 | 4 r2<0 14-15",
            "fork: 1 w1 0-9, 3 r1<0 10-11, 2 w2 0-9, 4 r2<0 12-13",
        ),
        ("1 w1? 0-5 | 2 r1<1 6-7", "write that took effect twice: 1 w1? 0-5, 2 r1<1 6-7"),
        (
            "1 w1 0-5 | 2 w2 6-9 | 3 w3 10-15 | 4 r3<1 16-17",
            "lost update: 1 w1 0-5, 2 w2 6-9, 3 w3 10-15, 4 r3<1 16-17",
        ),
    ] {
        assert!(found(bad).contains(&told.to_owned()), "{bad}\n{told}\n{:?}", found(bad));
    }
}

/// One lost write may be missed by a hundred reads: that is one lost update.
#[test]
fn a_lost_update_is_told_once() {
    assert_eq!(
        found("1 w1 0-5 | 2 w2 6-9 | 3 r1 10-11 | 4 r1 12-13 | 3 r1 14-15"),
        ["lost update: 1 w1 0-5, 2 w2 6-9, 3 r1 10-11"]
    );
}

/// Of two writes at once either may have come last, and one that was seen again after a stale read explains what nobody read any more.
#[test]
fn a_write_that_another_one_may_have_replaced_is_not_called_lost() {
    for replaced in [
        "1 w1 0-5 | 2 w3 6-30 | 3 w2 10-12 | 4 r1 40-41 | 4 r3 50-51",
        "1 w1 0-5 | 2 w2 6-9 | 2 w3 10-12 | 4 r1 40-41 | 4 r3 50-51",
    ] {
        assert_eq!(kinds(&history(replaced)), [AnomalyKind::StaleRead], "{replaced}");
        assert_eq!(check(&history(replaced)).unwrap().writes.lost, 0, "{replaced}");
    }
}

/// Once a read is told nothing rests on it: two that contradict each other are one anomaly and not two.
#[test]
fn a_read_that_is_told_proves_nothing() {
    assert_eq!(
        found("1 w1 0-9 | 2 w2 0-9 | 3 r1 10-11 | 4 r2 12-13 | 5 r1 14-15").len(),
        1,
        "the second read alone disagrees"
    );
}

#[test]
fn registers_have_nothing_to_do_with_each_other() {
    let mut of_two = history("1 w1 0-5 | 2 r0 6-9");
    of_two[1].key = 1;
    assert_eq!(kinds(&of_two), []);
}

#[test]
fn what_became_of_writes_is_counted() {
    let writes = |text: &str| check(&history(text)).unwrap().writes;
    assert_eq!(
        writes(
            "1 w1 0-5 | 2 r1 6-7 | 1 w2 8-9 | 1 w3 10-11 | 3 w4? 12-13 | 3 w5? 14-15 | 4 r4 16-17 | 2 w6! 18-19"
        ),
        WrittenValues { acknowledged: 3, lost: 0, seen: 1, unanswered: 2, unanswered_seen: 1, refused: 1 }
    );
    assert_eq!(writes("1 w1 0-5 | 2 r0 6-7").lost, 1);
}

#[test]
fn a_history_of_which_nothing_can_be_said_is_refused() {
    let error = |text: &str| check(&history(text)).unwrap_err().to_string();
    let twice = error("1 w1 0-5 | 2 w1? 6-7");
    assert!(twice.contains("two writes of 1 to register 0"), "{twice}");
    assert!(error("1 w0 0-5").contains("two writes of 0"), "the first value is there already");
    assert!(error("1 w1 6-5").contains("ended at 5 ns, before it was sent at 6 ns"));
}
