//! The longest of the last 100 turns, as DVD Store tells it of orders: of the whole time and of the net time.

use record::Phase;

/// Turns that are looked at.
const TURNS: usize = 100;

/// Response times of the last turns.
#[derive(Debug, Default)]
pub(super) struct Last100 {
    /// The whole time and the net time of each.
    ns: Vec<[u64; 2]>,
    next: usize,
    phase: Option<Phase>,
}

impl Last100 {
    /// Adds a turn. Those of the warm-up are forgotten when it ends.
    pub(super) fn add(&mut self, phase: Phase, ns: [u64; 2]) {
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

    /// The longest whole time and the longest net time in nanoseconds; none before the first turn.
    pub(super) fn longest_ns(&self) -> Option<[u64; 2]> {
        self.ns.iter().copied().reduce(|longest, turn| [0, 1].map(|time| longest[time].max(turn[time])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_forgotten_after_a_hundred_others() {
        let mut last = Last100::default();
        assert_eq!(last.longest_ns(), None);
        last.add(Phase::Measure, [900, 20]);
        (0..99).for_each(|ns| last.add(Phase::Measure, [ns, ns]));
        assert_eq!(last.longest_ns(), Some([900, 98]));
        last.add(Phase::Measure, [5, 5]);
        assert_eq!(last.longest_ns(), Some([98, 98]));
    }

    #[test]
    fn the_warm_up_is_forgotten() {
        let mut last = Last100::default();
        (0..150).for_each(|_| last.add(Phase::WarmUp, [5_000; 2]));
        last.add(Phase::Measure, [7; 2]);
        last.add(Phase::Measure, [3; 2]);
        assert_eq!(last.longest_ns(), Some([7; 2]));
    }
}
