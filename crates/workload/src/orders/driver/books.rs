//! What became of the orders of one store, kept by all of its clients.

use database::Connection;

use crate::orders::reconcile::Acknowledged;
use crate::orders::store::Loaded;

/// Most notes that are told.
const NOTES_MAX: usize = 1_000;

/// The books of one store. Counts are from the beginning of the load.
#[derive(Debug)]
pub(super) struct Books {
    /// Orders that were answered as committed.
    pub(super) acknowledged: Acknowledged,
    pub(super) purchases: u64,
    pub(super) rollbacks: u64,
    /// Purchases whose answer never came.
    pub(super) unanswered: u64,
    /// Connections on which these were under way: they may still go on.
    pub(super) left: Vec<Connection>,
    pub(super) notes: Vec<String>,
}

impl Books {
    /// Of a store to which this was loaded.
    pub(super) fn of(loaded: &Loaded) -> Self {
        Self {
            acknowledged: Acknowledged::new(loaded),
            purchases: 0,
            rollbacks: 0,
            unanswered: 0,
            left: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// A sentence for whoever reads the record; each is told once.
    pub(super) fn note(&mut self, note: String) {
        if self.notes.len() < NOTES_MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The answer of a purchase on this connection will not come.
    pub(super) fn unanswered(&mut self, connection: Connection) {
        self.unanswered += 1;
        self.left.push(connection);
    }
}
