//! Anomalies that are planted into histories that are good but for them.

use std::collections::BTreeSet;

use super::simulated::Simulation;
use super::*;

/// Clients that do nothing but what is planted.
const ONE: u32 = 100;
const OTHER: u32 = 101;

impl Simulation {
    fn add(&mut self, client: u32, did: impl FnOnce(u64) -> Did) {
        let invoked_ns = self.now_ns;
        self.now_ns += 20;
        self.history.push(Operation { client, key: 0, invoked_ns, did: did(invoked_ns + 10) });
    }

    fn write(&mut self, client: u32) -> u64 {
        let value = self.value();
        self.add(client, |at_ns| Did::Wrote { value, at_ns });
        self.state = (value, Some(self.state.0));
        value
    }

    fn read_again(&mut self, client: u32) {
        let did = self.read(0);
        self.add(client, |at_ns| match did {
            Did::Read { value, replaced, .. } => Did::Read { value, replaced, at_ns },
            _ => unreachable!("a read"),
        });
    }

    /// A read while the register holds something else.
    fn read_as(&mut self, client: u32, state: (u64, Option<u64>)) {
        let now = std::mem::replace(&mut self.state, state);
        self.read_again(client);
        self.state = now;
    }
}

/// Does what no register does while nobody else does anything.
fn plant(kind: AnomalyKind, simulation: &mut Simulation) {
    let before = simulation.state;
    match kind {
        AnomalyKind::LostUpdate => {
            simulation.write(ONE);
            simulation.state = before;
            simulation.read_again(OTHER);
        }
        AnomalyKind::StaleRead => {
            simulation.write(ONE);
            simulation.read_as(OTHER, before);
            simulation.read_again(ONE);
        }
        AnomalyKind::NonMonotonicRead => {
            simulation.write(ONE);
            simulation.read_again(OTHER);
            simulation.read_as(OTHER, before);
            simulation.read_again(ONE);
        }
        AnomalyKind::DirtyRead => {
            let value = simulation.value();
            simulation.add(ONE, |at_ns| Did::Refused { value, at_ns });
            simulation.read_as(OTHER, (value, Some(before.0)));
        }
        AnomalyKind::UnwrittenValue => simulation.read_as(OTHER, (1 << 60, Some(before.0))),
        AnomalyKind::ReadBeforeWrite => {
            let value = simulation.next_value;
            simulation.read_as(OTHER, (value, Some(before.0)));
            simulation.write(ONE);
        }
        AnomalyKind::Fork => {
            simulation.tells_replaced = true;
            // Sent at the same moment.
            let sent_ns = simulation.now_ns;
            simulation.write(ONE);
            let of_one = simulation.state;
            simulation.now_ns = sent_ns;
            simulation.state = before;
            simulation.write(OTHER);
            simulation.read_as(ONE, of_one);
            simulation.read_again(OTHER);
        }
        AnomalyKind::DuplicateWrite => {
            simulation.tells_replaced = true;
            let value = simulation.write(ONE);
            simulation.read_again(OTHER);
            // At once, so that nothing is lost but by this.
            simulation.read_as(OTHER, (value, Some(value)));
        }
    }
}

/// Without the chain a fork is told as well: one of both was lost, or read too late.
fn expected(kind: AnomalyKind, found: &BTreeSet<AnomalyKind>) -> bool {
    let alone = *found == BTreeSet::from([kind]);
    alone || kind == AnomalyKind::Fork && found.contains(&kind)
}

#[test]
fn each_planted_anomaly_is_found_by_its_name_and_nothing_else() {
    for kind in AnomalyKind::ALL {
        for seed in 0..200 {
            let mut simulation = Simulation::new(seed);
            simulation.go_on(4, 30);
            // There is something to go back to.
            simulation.write(ONE);
            simulation.read_again(OTHER);
            plant(kind, &mut simulation);
            let tells_replaced = simulation.tells_replaced;
            simulation.tells_replaced = false;
            simulation.go_on(4, 30);
            simulation.read_again(ONE);
            let found: BTreeSet<AnomalyKind> = kinds(&simulation.history).into_iter().collect();
            assert!(expected(kind, &found), "{kind}, seed {seed}, {tells_replaced}: {found:?}");
        }
    }
}

/// The operations that are told are enough: a history of them alone has the same anomaly.
#[test]
fn what_is_told_proves_the_anomaly_by_itself() {
    for kind in AnomalyKind::ALL {
        for seed in 0..50 {
            let mut simulation = Simulation::new(seed);
            simulation.go_on(4, 30);
            simulation.write(ONE);
            simulation.read_again(OTHER);
            plant(kind, &mut simulation);
            let checked = check(&simulation.history).unwrap();
            let told = &checked.anomalies.iter().find(|anomaly| anomaly.kind == kind).unwrap().operations;
            let values: Vec<u64> = told.iter().filter_map(value_of).collect();
            let is_written =
                |value: &u64| told.iter().any(|one| one.is_write() && value_of(one) == Some(*value));
            // What was read is to have been written by somebody.
            let others = simulation.history.iter().filter(|one| one.is_write() && !told.contains(one));
            let writes = others.filter(|one| {
                value_of(one).is_some_and(|value| values.contains(&value) && !is_written(&value))
                    || chained(told, one)
            });
            let alone: Vec<Operation> = told.iter().chain(writes).copied().collect();
            assert!(!check(&alone).unwrap().anomalies.is_empty(), "{kind}, seed {seed}: {told:?}");
        }
    }
}

fn value_of(operation: &Operation) -> Option<u64> {
    match operation.did {
        Did::Wrote { value, .. }
        | Did::Refused { value, .. }
        | Did::Unanswered { value, .. }
        | Did::Read { value, .. } => Some(value),
        Did::ReadNothing { .. } => None,
    }
}

/// Whether a write is of what a read says was replaced.
fn chained(told: &[Operation], write: &Operation) -> bool {
    let replaced = told.iter().filter_map(|one| match one.did {
        Did::Read { replaced, .. } => replaced,
        _ => None,
    });
    replaced.into_iter().any(|replaced| value_of(write) == Some(replaced))
}
