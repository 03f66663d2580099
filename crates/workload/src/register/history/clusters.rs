//! The operations on one register by the value that they wrote or read.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use record::register::{AnomalyKind, Did, FIRST_VALUE, Operation};

use super::{Found, HistoryError};

/// The cluster of what the register held before anybody wrote it.
pub(super) const FIRST: usize = 0;

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Acknowledged,
    Unanswered,
    Refused,
}

/// All operations on one value.
#[derive(Debug, Default)]
pub(super) struct Cluster<'a> {
    /// None of the first value.
    pub(super) write: Option<&'a Operation>,
    /// Reads of it that say something of the order, in no order: those that say by themselves that something is wrong are left out.
    pub(super) reads: Vec<&'a Operation>,
}

impl Cluster<'_> {
    /// What its writer heard.
    pub(super) fn fate(&self) -> Fate {
        match self.write.map(|write| write.did) {
            Some(Did::Unanswered { .. }) => Fate::Unanswered,
            Some(Did::Refused { .. }) => Fate::Refused,
            // The first value is there from the beginning.
            Some(Did::Wrote { .. } | Did::Read { .. } | Did::ReadNothing { .. }) | None => Fate::Acknowledged,
        }
    }

    /// Whether its write is known to have been done.
    pub(super) fn is_effective(&self) -> bool {
        self.fate() == Fate::Acknowledged || !self.reads.is_empty()
    }
}

/// All clusters of a register.
#[derive(Debug)]
pub(super) struct Clusters<'a> {
    pub(super) all: Vec<Cluster<'a>>,
    by_value: HashMap<u64, usize>,
}

impl<'a> Clusters<'a> {
    /// Tells reads that are wrong whatever else was done.
    pub(super) fn of(operations: &[&'a Operation], found: &mut Found) -> Result<Self, HistoryError> {
        let mut clusters =
            Self { all: vec![Cluster::default()], by_value: HashMap::from([(FIRST_VALUE, FIRST)]) };
        found.steps += operations.len() as u64;
        for write in operations.iter().copied().filter(|operation| operation.is_write()) {
            clusters.add_write(write)?;
        }
        for read in operations {
            if let Did::Read { value, replaced, .. } = read.did {
                found.steps += 1;
                clusters.add_read(read, [Some(value), replaced], found);
            }
        }
        Ok(clusters)
    }

    fn add_write(&mut self, write: &'a Operation) -> Result<(), HistoryError> {
        let (Did::Wrote { value, .. } | Did::Refused { value, .. } | Did::Unanswered { value, .. }) =
            write.did
        else {
            return Ok(());
        };
        match self.by_value.entry(value) {
            Entry::Occupied(_) => return Err(HistoryError::WrittenTwice { key: write.key, value }),
            Entry::Vacant(vacant) => _ = vacant.insert(self.all.len()),
        }
        self.all.push(Cluster { write: Some(write), reads: Vec::new() });
        Ok(())
    }

    /// A read of a value, and perhaps of what that replaced.
    fn add_read(&mut self, read: &'a Operation, [value, replaced]: [Option<u64>; 2], found: &mut Found) {
        let wrong = [value, replaced].into_iter().flatten().find_map(|value| self.wrong(read, value));
        if let Some((kind, write)) = wrong {
            found.add(kind, write.into_iter().copied().chain([*read]));
            return;
        }
        if let Some(cluster) = value.and_then(|value| self.by_value.get(&value)) {
            self.all[*cluster].reads.push(read);
        }
    }

    /// What is wrong with a value, whenever else it was read, and its write.
    fn wrong(&self, read: &Operation, value: u64) -> Option<(AnomalyKind, Option<&'a Operation>)> {
        let Some(cluster) = self.by_value.get(&value) else {
            return Some((AnomalyKind::UnwrittenValue, None));
        };
        let cluster = &self.all[*cluster];
        let write = cluster.write?;
        if cluster.fate() == Fate::Refused {
            return Some((AnomalyKind::DirtyRead, Some(write)));
        }
        (read.ended_ns() < write.invoked_ns).then_some((AnomalyKind::ReadBeforeWrite, Some(write)))
    }

    /// The cluster of a value.
    pub(super) fn of_value(&self, value: u64) -> Option<usize> {
        self.by_value.get(&value).copied()
    }

    /// Those that somebody wrote, or was to write.
    pub(super) fn written(&self) -> impl Iterator<Item = &Cluster<'a>> {
        self.all.iter().skip(FIRST + 1)
    }
}
