//! How much a check takes, in steps and not in time.

use super::simulated::Simulation;
use super::*;

/// Looks at operations and values that one operation may take.
const STEPS: u64 = 8;

fn steps(history: &[Operation]) -> u64 {
    check(history).unwrap().steps
}

#[test]
fn ten_thousand_operations_on_one_register_take_some_steps_each() {
    let mut simulation = Simulation::new(3);
    simulation.go_on(20, 500);
    assert_eq!(simulation.history.len(), 10_000);
    assert!(steps(&simulation.history) <= STEPS * 10_000, "{}", steps(&simulation.history));
}

/// What is wrong takes no longer than what is right: each read is stale, then each write is lost.
#[test]
fn ten_thousand_anomalies_take_some_steps_each() {
    let (mut stale, mut missing) = (history("1 w1 0-1"), history("1 w1 0-1"));
    for number in 1..5_000 {
        let at = |ns: u64| number * 100 + ns;
        let (value, before) = (number + 1, number);
        let did = Did::Wrote { value, at_ns: at(10) };
        let write = Operation { client: 1, key: 0, invoked_ns: at(0), did };
        let did = |value, replaced| Did::Read { value, replaced, at_ns: at(30) };
        let read = |did| Operation { client: 2, key: 0, invoked_ns: at(20), did };
        stale.extend([write, read(did(before, None))]);
        missing.extend([write, read(did(value, Some(1)))]);
    }
    assert!(kinds(&stale).len() >= 4_999 && kinds(&missing).len() >= 4_998);
    for bad in [stale, missing] {
        assert!(steps(&bad) <= STEPS * bad.len() as u64, "{} of {}", steps(&bad), bad.len());
    }
}
