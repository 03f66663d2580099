//! The longest of the last 100 turns, as DVD Store tells it of orders.

use record::Phase;

/// Turns that are looked at.
const TURNS: usize = 100;

/// Response times of the last turns.
#[derive(Debug, Default)]
pub(super) struct Last100 {
    ns: Vec<u64>,
    next: usize,
    phase: Option<Phase>,
}

impl Last100 {
    /// Adds a turn. Those of the warm-up are forgotten when it ends.
    pub(super) fn add(&mut self, phase: Phase, ns: u64) {
        if phase == Phase::Measure && self.phase == Some(Phase::WarmUp) {
            self.ns.clear();
            self.next = 0;
        }
        self.phase = Some(phase);
        if self.ns.len() < TURNS {
            self.ns.push(ns);
        } else {
            self.ns[self.next] = ns;
        }
        self.next = (self.next + 1) % TURNS;
    }

    /// In nanoseconds; none before the first turn.
    pub(super) fn longest_ns(&self) -> Option<u64> {
        self.ns.iter().copied().max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_forgotten_after_a_hundred_others() {
        let mut last = Last100::default();
        assert_eq!(last.longest_ns(), None);
        last.add(Phase::Measure, 900);
        (0..99).for_each(|ns| last.add(Phase::Measure, ns));
        assert_eq!(last.longest_ns(), Some(900));
        last.add(Phase::Measure, 5);
        assert_eq!(last.longest_ns(), Some(98));
    }

    #[test]
    fn the_warm_up_is_forgotten() {
        let mut last = Last100::default();
        (0..150).for_each(|_| last.add(Phase::WarmUp, 5_000));
        last.add(Phase::Measure, 7);
        last.add(Phase::Measure, 3);
        assert_eq!(last.longest_ns(), Some(7));
    }
}
