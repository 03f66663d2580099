//! One pass over the begins and ends of a register's operations.
//!
//! Cluster A must come before cluster B if one operation on A ended before one on B began. The pass keeps of each cluster when the first
//! of its operations ended and when the last one began. An operation that begins can only add that others come before its own
//! cluster; so it makes two clusters come before each other if its own must come before one that has ended an operation already. Only
//! the one that began an operation last has to be asked for that.

use std::collections::{BTreeSet, HashMap};

use record::register::{AnomalyKind, Did, Operation};

use super::Found;
use super::clusters::{Clusters, FIRST, Fate};

/// A moment, and the operation that it is of; none of the first value, which is there before everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment<'a> {
    /// Nanoseconds since the load began, −1 before that.
    pub(super) ns: i64,
    pub(super) operation: Option<&'a Operation>,
}

/// What is known of a cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known<'a> {
    /// When the first of its operations ended: from then on it is there.
    pub(super) there: Option<Moment<'a>>,
    /// When the last of its operations began.
    last_begun: Option<Moment<'a>>,
}

/// A read that returned a value that was replaced.
#[derive(Clone, Debug)]
pub(super) struct Stale<'a> {
    /// The cluster of what it returned.
    pub(super) cluster: usize,
    pub(super) read: &'a Operation,
    /// What its client had read before, if that was newer.
    pub(super) own: Option<&'a Operation>,
    /// What shows that there was a newer value before it began: an end before a begin, and an end before the read.
    pub(super) shown_by: Vec<Operation>,
}

/// Two different clusters that are there and began an operation last.
#[derive(Debug, Default)]
struct Latest {
    first: Option<(i64, usize)>,
    second: Option<(i64, usize)>,
}

impl Latest {
    fn add(&mut self, begun_ns: i64, cluster: usize) {
        match self.first {
            Some((ns, first)) if first == cluster => self.first = Some((ns.max(begun_ns), cluster)),
            Some((ns, _)) if ns >= begun_ns => self.second = self.second.max(Some((begun_ns, cluster))),
            _ => {
                self.second = self.first;
                self.first = Some((begun_ns, cluster));
            }
        }
    }

    fn but(&self, cluster: usize) -> Option<(i64, usize)> {
        self.first.filter(|(_, first)| *first != cluster).or(self.second)
    }
}

/// An operation that begins or ends.
#[derive(Clone, Copy, Debug)]
struct Event<'a> {
    ns: i64,
    /// What begins at the moment at which something else ends did not come after it.
    is_end: bool,
    /// The operation's.
    number: usize,
    cluster: usize,
    operation: &'a Operation,
}

struct Sweep<'a> {
    known: Vec<Known<'a>>,
    latest: Latest,
    /// Of each client: its last read that was not stale.
    last_reads: HashMap<u32, (usize, &'a Operation)>,
    stale: Vec<Stale<'a>>,
}

/// What is known of each cluster, and reads of values that were replaced, in the order in which they began. Clusters whose writes are
/// known to be gone are left out.
pub(super) fn sweep<'a>(
    clusters: &Clusters<'a>,
    gone: &BTreeSet<usize>,
    found: &mut Found,
) -> (Vec<Known<'a>>, Vec<Stale<'a>>) {
    let mut known = vec![Known::default(); clusters.all.len()];
    let before_all = Some(Moment { ns: -1, operation: None });
    known[FIRST] = Known { there: before_all, last_begun: before_all };
    let mut latest = Latest::default();
    latest.add(-1, FIRST);
    let mut sweep = Sweep { known, latest, last_reads: HashMap::new(), stale: Vec::new() };
    let events = events(clusters, gone);
    let mut is_left_out = vec![false; events.len()];
    for event in events {
        found.steps += 1;
        match event.is_end {
            false => is_left_out[event.number] = sweep.begins(event),
            true if is_left_out[event.number] => {}
            true => sweep.ends(event),
        }
    }
    (sweep.known, sweep.stale)
}

fn events<'a>(clusters: &Clusters<'a>, gone: &BTreeSet<usize>) -> Vec<Event<'a>> {
    let mut events = Vec::new();
    let mut number = 0;
    for (cluster, of) in clusters.all.iter().enumerate() {
        if of.fate() == Fate::Refused || gone.contains(&cluster) {
            continue;
        }
        for operation in of.write.into_iter().chain(of.reads.iter().copied()) {
            let begin = Event { ns: operation.invoked_ns as i64, is_end: false, number, cluster, operation };
            events.push(begin);
            if operation.is_done() {
                events.push(Event { ns: operation.ended_ns() as i64, is_end: true, ..begin });
            }
            number += 1;
        }
    }
    events.sort_by_key(|event| (event.ns, event.is_end));
    events
}

impl<'a> Sweep<'a> {
    /// Whether what begins is a read of a value that was replaced, which is left out then.
    fn begins(&mut self, event: Event<'a>) -> bool {
        let Event { ns, cluster, operation, .. } = event;
        if let Some(newer) = self.newer_than(cluster) {
            self.add_stale(event, newer);
            return true;
        }
        let known = &mut self.known[cluster];
        known.last_begun = Some(Moment { ns, operation: Some(operation) });
        if known.there.is_some() {
            self.latest.add(ns, cluster);
        }
        false
    }

    fn ends(&mut self, event: Event<'a>) {
        let Event { ns, cluster, operation, .. } = event;
        let known = &mut self.known[cluster];
        if known.there.is_none() {
            known.there = Some(Moment { ns, operation: Some(operation) });
            if let Some(begun) = known.last_begun {
                self.latest.add(begun.ns, cluster);
            }
        }
        if let Did::Read { .. } = operation.did {
            self.last_reads.insert(operation.client, (cluster, operation));
        }
    }

    /// A cluster that is there and must come after this one.
    fn newer_than(&self, cluster: usize) -> Option<usize> {
        let there = self.known[cluster].there?;
        self.latest.but(cluster).filter(|(begun_ns, _)| there.ns < *begun_ns).map(|(_, newer)| newer)
    }

    fn add_stale(&mut self, event: Event<'a>, newer: usize) {
        let Event { cluster, operation: read, .. } = event;
        let is_newer = |other: usize| {
            let (there, begun) = (self.known[cluster].there, self.known[other].last_begun);
            there.zip(begun).is_some_and(|(there, begun)| there.ns < begun.ns)
        };
        let own = self.last_reads.get(&read.client).copied();
        let own = own.filter(|(other, _)| *other != cluster && is_newer(*other));
        let newer = own.map_or(newer, |(other, _)| other);
        let there = |moment: Option<Moment<'a>>| moment.and_then(|moment| moment.operation).copied();
        let (older, newer) = (self.known[cluster], self.known[newer]);
        let own = own.map(|(_, read)| read);
        let shown = [there(older.there), there(newer.last_begun), there(newer.there), own.copied()];
        let shown_by = shown.into_iter().flatten().collect();
        self.stale.push(Stale { cluster, read, own, shown_by });
    }
}

impl Stale<'_> {
    /// Tells it by its name.
    pub(super) fn tell(self, found: &mut Found) {
        let kind = match self.own {
            Some(_) => AnomalyKind::NonMonotonicRead,
            None => AnomalyKind::StaleRead,
        };
        found.add(kind, self.shown_by.into_iter().chain([*self.read]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_two_are_of_different_clusters() {
        let mut latest = Latest::default();
        for (ns, cluster) in [(1, 7), (5, 8), (6, 8), (2, 9)] {
            latest.add(ns, cluster);
        }
        assert_eq!((latest.but(7), latest.but(8)), (Some((6, 8)), Some((2, 9))));
        latest.add(9, 9);
        assert_eq!((latest.but(9), latest.but(8)), (Some((6, 8)), Some((9, 9))));
    }
}
