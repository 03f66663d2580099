//! Counts the connections of a pool that run a command, and those that have run one since the last reading.
//!
//! Counting threads would not do: connections share threads, and chance decides which thread runs the next command.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The connections of a pool, and the number of the next reading.
///
/// A command only stores in a word of its own connection. So counting costs no more with many connections.
pub(super) struct AtWork {
    reading: AtomicU64,
    connections: Mutex<Vec<Weak<Activity>>>,
}

/// The reading that a connection's last command counts for: [`BUSY`] during a command, and zero before the first one.
pub(super) struct Activity(AtomicU64);

/// Counts for every reading.
const BUSY: u64 = u64::MAX;

impl AtWork {
    pub(super) const fn new() -> Self {
        Self { reading: AtomicU64::new(1), connections: Mutex::new(Vec::new()) }
    }

    /// Adds a connection, which counts until its activity is dropped.
    pub(super) fn connect(&self) -> Arc<Activity> {
        let activity = Arc::new(Activity(AtomicU64::new(0)));
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        if connections.len() == connections.capacity() {
            connections.retain(is_open);
        }
        connections.push(Arc::downgrade(&activity));
        activity
    }

    /// Counts a connection whose command begins.
    pub(super) fn begins(&self, connection: &Activity) {
        connection.0.store(BUSY, Ordering::Relaxed);
    }

    /// Counts a connection whose command has ended.
    pub(super) fn ends(&self, connection: &Activity) {
        connection.0.store(self.reading.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// The connections that run a command now or have run one since the last reading.
    pub(super) fn look(&self) -> u64 {
        let reading = self.reading.fetch_add(1, Ordering::Relaxed);
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.retain(is_open);
        let counted = connections.iter().filter_map(Weak::upgrade);
        counted.filter(|activity| activity.0.load(Ordering::Relaxed) >= reading).count() as u64
    }
}

fn is_open(connection: &Weak<Activity>) -> bool {
    connection.strong_count() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_with_a_command_since_the_last_reading_counts_once() {
        let at_work = AtWork::new();
        let [one, other, idle] = [(); 3].map(|()| at_work.connect());
        at_work.begins(&one);
        at_work.ends(&one);
        at_work.begins(&one);
        at_work.begins(&other);
        at_work.ends(&other);
        assert_eq!(at_work.look(), 2, "one is busy, the other rests");
        assert_eq!(at_work.look(), 1, "one was busy all the time, the other was not");
        at_work.ends(&one);
        drop(idle);
        assert_eq!(at_work.look(), 1);
        assert_eq!(at_work.look(), 0);
        at_work.begins(&other);
        at_work.ends(&other);
        drop(other);
        assert_eq!(at_work.look(), 0, "a closed connection does not count");
    }

    #[test]
    fn closed_connections_leave_the_list_without_a_reading() {
        let at_work = AtWork::new();
        let _open = at_work.connect();
        (0..10_000).for_each(|_| drop(at_work.connect()));
        assert!(at_work.connections.lock().unwrap().len() < 10);
    }

    proptest::proptest! {
        /// Compares the counts with a list of busy connections and a list of those with a command since the last reading.
        #[test]
        fn any_order_of_commands_and_readings_is_counted_as_by_a_list(steps in proptest::collection::vec((0usize..4, 0u8..3), 0..200)) {
            let at_work = AtWork::new();
            let connections = [(); 4].map(|()| at_work.connect());
            let (mut works, mut worked) = ([false; 4], [false; 4]);
            for (who, what) in steps {
                match (what, works[who]) {
                    (0, false) => { at_work.begins(&connections[who]); works[who] = true; }
                    (1, true) => { at_work.ends(&connections[who]); works[who] = false; worked[who] = true; }
                    (2, _) => {
                        let counted = (0..4).filter(|&who| works[who] || worked[who]).count();
                        proptest::prop_assert_eq!(at_work.look(), counted as u64);
                        worked = [false; 4];
                    }
                    _ => {}
                }
            }
        }
    }
}
