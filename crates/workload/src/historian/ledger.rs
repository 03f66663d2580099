//! What a trial's outcome is made of: what was accepted, acknowledged, found again and purged, and when what was away.

use std::sync::{Mutex, MutexGuard};

use record::{MaintenanceRun, Mark, MarkKind};

use super::buffer::Event;
use super::compare::{Expected, SECOND_US};
use super::fingerprint::{Fingerprint, Row};
use crate::outages::Outages;

/// Most notes that are told.
const TOLD_MAX: usize = 10_000;

/// The books of one trial, kept by all of its roles.
#[derive(Debug)]
pub(crate) struct Ledger {
    epoch_us: i64,
    entries: Mutex<Entries>,
}

/// What was counted so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    pub(crate) offered: u64,
    pub(crate) accepted: u64,
    pub(crate) acknowledged: u64,
    pub(crate) found_after_outage: u64,
    pub(crate) written_again: u64,
    pub(crate) purged: u64,
    pub(crate) outages: Outages,
    pub(crate) source_outages: Outages,
    pub(crate) maintenance: Vec<MaintenanceRun>,
    /// Begins and ends of purges that were not told yet.
    pub(crate) marks: Vec<Mark>,
    pub(crate) notes: Vec<String>,
    /// Rows acknowledged, by the second of their time since the epoch.
    by_second: Vec<Fingerprint>,
    /// Seconds since the epoch before which rows may have been purged.
    cutoff_s: usize,
}

impl Ledger {
    /// Books of a trial whose events begin at `epoch_us`.
    pub(crate) fn new(epoch_us: i64) -> Self {
        Self { epoch_us, entries: Mutex::default() }
    }

    /// Access to the entries.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Entries> {
        load::lock(&self.entries)
    }

    /// What else goes on or ended, since this was asked last.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        let mut entries = self.lock();
        let mut marks = std::mem::take(&mut entries.marks);
        marks.extend(entries.outages.news(MarkKind::Outage));
        marks.extend(entries.source_outages.news(MarkKind::SourceOutage));
        marks
    }

    pub(crate) fn offered(&self, offered: u64, accepted: u64) {
        let mut entries = self.lock();
        entries.offered += offered;
        entries.accepted += accepted;
    }

    /// Rows are known to be in the database. If a writer has just learned that, at `now_ns`, no outage goes on.
    pub(crate) fn acknowledged(&self, sums: &Sums, now_ns: Option<u64>) {
        let mut entries = self.lock();
        if let Some(now_ns) = now_ns {
            entries.outages.ended(now_ns);
        }
        for (second, sum) in sums.all() {
            entries.acknowledged += sum.rows;
            if entries.by_second.len() <= second {
                entries.by_second.resize(second + 1, Fingerprint::default());
            }
            entries.by_second[second].join(sum);
        }
    }

    /// The sums of some rows.
    pub(crate) fn sums_of(&self, events: &[Event]) -> Sums {
        let mut sums = Sums::new(self.epoch_us);
        events.iter().for_each(|event| sums.add(event));
        sums
    }

    /// Rows older than this time, a whole second since the epoch, may be gone from now on.
    pub(crate) fn purging(&self, cutoff_us: i64) {
        let mut entries = self.lock();
        entries.cutoff_s = entries.cutoff_s.max(self.second(cutoff_us));
    }

    /// The time from which on no row was purged, and how many rows since then were acknowledged.
    pub(crate) fn expected(&self) -> (i64, u64) {
        let entries = self.lock();
        let rows = entries.by_second.iter().skip(entries.cutoff_s).map(|second| second.rows).sum();
        (self.epoch_us + entries.cutoff_s as i64 * SECOND_US, rows)
    }

    /// What these rows were.
    pub(crate) fn expected_rows(&self) -> Expected {
        let entries = self.lock();
        Expected {
            from_us: self.epoch_us + entries.cutoff_s as i64 * SECOND_US,
            by_second: entries.by_second.iter().skip(entries.cutoff_s).copied().collect(),
        }
    }

    /// A sentence for whoever reads the record; each is told once.
    pub(crate) fn note(&self, note: String) {
        let mut entries = self.lock();
        if entries.notes.len() < TOLD_MAX && !entries.notes.contains(&note) {
            entries.notes.push(note);
        }
    }

    fn second(&self, time_us: i64) -> usize {
        second(self.epoch_us, time_us)
    }
}

/// What rows come to, by the second of their time: made while each is in hand anyway, and entered once they are acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    epoch_us: i64,
    /// The second of the last row, from when to when it lasts, and the rows in it since the second changed last.
    second: usize,
    begin_us: i64,
    end_us: i64,
    sum: Fingerprint,
    /// Those before it. Nearly always all rows of a flush lie in one second or two.
    before: Vec<(usize, Fingerprint)>,
}

impl Sums {
    /// Of no rows yet, in a trial whose events begin at `epoch_us`.
    pub(crate) fn new(epoch_us: i64) -> Self {
        let sum = Fingerprint::default();
        // No row lies between these.
        Self { epoch_us, second: 0, begin_us: 0, end_us: 0, sum, before: Vec::with_capacity(16) }
    }

    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.sum = Fingerprint::default();
        self.before.clear();
    }

    /// Adds a row.
    #[inline]
    pub(crate) fn add(&mut self, event: &Event) {
        if event.time_us < self.begin_us || event.time_us >= self.end_us {
            self.turn_to(event.time_us);
        }
        self.sum.add(Row::of(event));
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> u64 {
        self.all().map(|(_, sum)| sum.rows).sum()
    }

    /// Second by second; one may come again.
    fn all(&self) -> impl Iterator<Item = (usize, Fingerprint)> {
        let last = (self.second, self.sum);
        self.before.iter().copied().chain([last]).filter(|(_, sum)| sum.rows > 0)
    }

    #[cold]
    fn turn_to(&mut self, time_us: i64) {
        self.before.push((self.second, std::mem::take(&mut self.sum)));
        self.second = second(self.epoch_us, time_us);
        self.begin_us =
            if self.second == 0 { i64::MIN } else { self.epoch_us + self.second as i64 * SECOND_US };
        self.end_us = self.epoch_us + (self.second as i64 + 1) * SECOND_US;
    }
}

/// The second since the epoch in which a time lies; all before it are in the first.
fn second(epoch_us: i64, time_us: i64) -> usize {
    ((time_us - epoch_us) / SECOND_US).max(0) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(time_us: i64) -> Event {
        Event { time_us, due_ns: 0, value: 0.0, tag: 0, quality: 192 }
    }

    #[test]
    fn rows_since_the_cutoff_are_expected() {
        let ledger = Ledger::new(5_000_000);
        let events: Vec<Event> = [5_000_000, 5_999_999, 6_000_000, 8_500_000].map(event).to_vec();
        ledger.acknowledged(&ledger.sums_of(&events), None);
        assert_eq!(ledger.expected(), (5_000_000, 4));
        ledger.purging(6_000_000);
        assert_eq!(ledger.expected(), (6_000_000, 2));
        ledger.purging(4_000_000);
        assert_eq!(ledger.expected(), (6_000_000, 2), "what is gone does not come back");
        ledger.purging(60_000_000);
        assert_eq!(ledger.expected(), (60_000_000, 0));
    }

    proptest! {
        #[test]
        fn sums_of_a_flush_are_those_of_its_rows_second_by_second(
            times_us in prop::collection::vec(2_000_000i64..9_000_000, 0..60), again in any::<bool>(),
        ) {
            let ledger = Ledger::new(4_000_000);
            let events: Vec<Event> = times_us.iter().copied().map(event).collect();
            let mut sums = Sums::new(4_000_000);
            if again {
                // A flush that was tried before, with its rows in part.
                events.iter().take(events.len() / 2).for_each(|event| sums.add(event));
                sums.clear();
            }
            events.iter().for_each(|event| sums.add(event));
            prop_assert_eq!(sums.rows(), events.len() as u64);
            ledger.acknowledged(&sums, None);
            let mut expected: Vec<Fingerprint> = Vec::new();
            for event in &events {
                let second = ((event.time_us - 4_000_000).max(0) / SECOND_US) as usize;
                expected.resize(expected.len().max(second + 1), Fingerprint::default());
                expected[second].add(Row::of(event));
            }
            prop_assert_eq!(ledger.expected_rows().by_second, expected);
            prop_assert_eq!(ledger.lock().acknowledged, events.len() as u64);
        }
    }
}
