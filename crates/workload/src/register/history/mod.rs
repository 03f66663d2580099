//! Checks a history of operations on registers: whether each register did what one that is written and read at once would do, and if
//! not, what it did instead, with the operations that prove it.
//!
//! Pure: it knows no database and no clock. Only what must be wrong is told, whatever the times between sending and answers
//! hide: a write that was not answered may take effect at any time after it was sent, or never.
//!
//! Each value is written once, so that a read tells which write it saw. All operations on one value are then a cluster, and a history
//! is linearizable if and only if no two clusters must each come before the other (Gibbons and Korach, "Testing Shared Memories", SIAM
//! Journal on Computing 26(4), 1997). One pass over the begins and ends of the operations finds the first read that makes it so ([`sweep`]); that read
//! is told and left out, and the pass goes on. What each write replaced, where reads tell it, says more: it makes a chain of
//! each register, of which [`chain`] finds what forks and what is missing. A history that has nothing of all that is linearizable.

mod chain;
mod clusters;
mod lost;
mod sweep;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use record::register::{Anomaly, AnomalyKind, Operation, WrittenValues};

use clusters::Clusters;

/// What a history came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// What no register does, by register and in the order in which it is known.
    pub anomalies: Vec<Anomaly>,
    /// What became of the writes.
    pub writes: WrittenValues,
    /// Looks at an operation or a value, for the bound on what a check takes.
    pub steps: u64,
}

/// A history of which nothing can be said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// Reads do not tell which write they saw.
    #[error("the history has two writes of {value} to register {key}: each value is to be written once")]
    WrittenTwice {
        /// The register.
        key: u32,
        /// The value.
        value: u64,
    },
    /// An operation that no clock can have seen.
    #[error("an operation on register {key} ended at {ended_ns} ns, before it was sent at {invoked_ns} ns")]
    EndedBefore {
        /// The register.
        key: u32,
        /// When it was sent.
        invoked_ns: u64,
        /// When it ended.
        ended_ns: u64,
    },
}

/// Checks a history, whose operations may come in any order.
///
/// # Errors
/// When a value was written twice to a register, or is the first value, and when an operation ended before it was sent.
pub fn check(history: &[Operation]) -> Result<Checked, HistoryError> {
    let mut registers: BTreeMap<u32, Vec<&Operation>> = BTreeMap::new();
    for operation in history {
        let Operation { key, invoked_ns, .. } = *operation;
        let ended_ns = operation.ended_ns();
        if ended_ns < invoked_ns {
            return Err(HistoryError::EndedBefore { key, invoked_ns, ended_ns });
        }
        registers.entry(key).or_default().push(operation);
    }
    let mut checked = Checked::default();
    for operations in registers.values() {
        checked.add_register(operations)?;
    }
    Ok(checked)
}

impl Checked {
    fn add_register(&mut self, operations: &[&Operation]) -> Result<(), HistoryError> {
        let mut found = Found::default();
        let clusters = Clusters::of(operations, &mut found)?;
        let links = chain::links(&clusters, &mut found);
        let (known, mut lost) = lost::swept(&clusters, &links, &mut found);
        chain::check(&clusters, (&links, &known), &mut lost, &mut found);
        add_writes(&mut self.writes, &clusters);
        self.writes.lost += lost.len() as u64;
        self.steps += found.steps;
        let known_ns = |anomaly: &Anomaly| anomaly.operations.iter().map(Operation::ended_ns).max();
        found.anomalies.sort_by_key(known_ns);
        self.anomalies.append(&mut found.anomalies);
        Ok(())
    }
}

fn add_writes(writes: &mut WrittenValues, clusters: &Clusters<'_>) {
    for cluster in clusters.written() {
        let seen = u64::from(!cluster.reads.is_empty());
        match cluster.fate() {
            clusters::Fate::Acknowledged => {
                writes.acknowledged += 1;
                writes.seen += seen;
            }
            clusters::Fate::Unanswered => {
                writes.unanswered += 1;
                writes.unanswered_seen += seen;
            }
            clusters::Fate::Refused => writes.refused += 1,
        }
    }
}

/// What was found of one register.
#[derive(Debug, Default)]
struct Found {
    anomalies: Vec<Anomaly>,
    steps: u64,
}

impl Found {
    fn add(&mut self, kind: AnomalyKind, operations: impl IntoIterator<Item = Operation>) {
        let mut told: Vec<Operation> = Vec::new();
        for operation in operations {
            if !told.contains(&operation) {
                told.push(operation);
            }
        }
        let key = told.first().map_or(0, |operation| operation.key);
        self.anomalies.push(Anomaly { kind, key, operations: told });
    }
}
