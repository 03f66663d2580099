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
    pub(crate) fn acknowledged(&self, events: &[Event], now_ns: Option<u64>) {
        {
            let mut entries = self.lock();
            if let Some(now_ns) = now_ns {
                entries.outages.ended(now_ns);
            }
            entries.acknowledged += events.len() as u64;
        }
        let mut rest = events;
        // Nearly always all of a flush lie in one second or two.
        while let Some(first) = rest.first() {
            let second = self.second(first.time_us);
            let begin_us = if second == 0 { i64::MIN } else { self.epoch_us + second as i64 * SECOND_US };
            let end_us = self.epoch_us + (second as i64 + 1) * SECOND_US;
            let mut sum = Fingerprint::default();
            let within = |event: &&Event| (begin_us..end_us).contains(&event.time_us);
            rest.iter().take_while(within).for_each(|event| sum.add(Row::of(event)));
            rest = &rest[sum.rows as usize..];
            let mut entries = self.lock();
            if entries.by_second.len() <= second {
                entries.by_second.resize(second + 1, Fingerprint::default());
            }
            entries.by_second[second].join(sum);
        }
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
        ((time_us - self.epoch_us) / SECOND_US).max(0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time_us: i64) -> Event {
        Event { time_us, due_ns: 0, value: 0.0, tag: 0, quality: 192 }
    }

    #[test]
    fn rows_since_the_cutoff_are_expected() {
        let ledger = Ledger::new(5_000_000);
        let events: Vec<Event> = [5_000_000, 5_999_999, 6_000_000, 8_500_000].map(event).to_vec();
        ledger.acknowledged(&events, None);
        assert_eq!(ledger.expected(), (5_000_000, 4));
        ledger.purging(6_000_000);
        assert_eq!(ledger.expected(), (6_000_000, 2));
        ledger.purging(4_000_000);
        assert_eq!(ledger.expected(), (6_000_000, 2), "what is gone does not come back");
        ledger.purging(60_000_000);
        assert_eq!(ledger.expected(), (60_000_000, 0));
    }
}
