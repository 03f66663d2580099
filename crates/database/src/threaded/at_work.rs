//! How many connections of a pool work, and how many rest that have worked since somebody last looked.
//!
//! A thread tells neither: connections share threads, and which of them wakes for the next command is chance.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bits of each of the two counts.
const BITS: u32 = 20;
const RESTS: u64 = 1;
const WORKS: u64 = 1 << BITS;
const MASK: u64 = WORKS - 1;

/// Connections that work, those that rest, and the number of the last look, in one word: a look sees all three at one moment.
pub(super) struct AtWork(AtomicU64);

/// The look after which a connection came to rest; none while it works, and of one that never did.
#[derive(Default)]
pub(super) struct RestsSince(AtomicU64);

impl AtWork {
    pub(super) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// A connection begins a command.
    pub(super) fn begins(&self, connection: &RestsSince) {
        self.change(|word| without(word, connection) + WORKS);
        connection.0.store(0, Ordering::Relaxed);
    }

    /// Its command has ended.
    pub(super) fn ends(&self, connection: &RestsSince) {
        let word = self.change(|word| word - WORKS + RESTS);
        connection.0.store(look_of(word) + 1, Ordering::Relaxed);
    }

    /// It is closed, and does nothing.
    pub(super) fn closes(&self, connection: &RestsSince) {
        self.change(|word| without(word, connection));
        connection.0.store(0, Ordering::Relaxed);
    }

    /// Connections that work now or have worked since the last look.
    pub(super) fn look(&self) -> u64 {
        let word = self.change(|word| ((look_of(word) + 1) << (2 * BITS)) | (word & (MASK << BITS)));
        ((word >> BITS) & MASK) + (word & MASK)
    }

    /// Gives the word before the change.
    fn change(&self, to: impl Fn(u64) -> u64) -> u64 {
        let changed = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| Some(to(word)));
        changed.unwrap_or_else(|word| word)
    }
}

/// The word without this connection among those that rest.
fn without(word: u64, connection: &RestsSince) -> u64 {
    let is_counted = connection.0.load(Ordering::Relaxed) == look_of(word) + 1;
    word - u64::from(is_counted) * RESTS
}

fn look_of(word: u64) -> u64 {
    word >> (2 * BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_works_or_has_worked_since_the_last_look_is_counted_once() {
        let at_work = AtWork::new();
        let [one, other, idle] = <[RestsSince; 3]>::default();
        at_work.begins(&one);
        at_work.ends(&one);
        at_work.begins(&one);
        at_work.begins(&other);
        at_work.ends(&other);
        assert_eq!(at_work.look(), 2, "one works, the other rests");
        assert_eq!(at_work.look(), 1, "the one has worked all the time, the other not");
        at_work.ends(&one);
        at_work.closes(&idle);
        assert_eq!(at_work.look(), 1);
        assert_eq!(at_work.look(), 0);
        at_work.begins(&other);
        at_work.ends(&other);
        at_work.closes(&other);
        assert_eq!(at_work.look(), 0, "a closed one rests no more");
    }

    proptest::proptest! {
        /// Against a list of who works and who has worked.
        #[test]
        fn any_course_is_counted_as_a_list_counts_it(steps in proptest::collection::vec((0usize..4, 0u8..3), 0..200)) {
            let at_work = AtWork::new();
            let connections = <[RestsSince; 4]>::default();
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
