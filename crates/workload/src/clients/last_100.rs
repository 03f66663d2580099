//! The longest of the last 100 turns, as DVD Store tells it of orders: of the whole time and of the net time.

use record::Phase;

/// Turns that are looked at.
const TURNS: usize = 100;

/// The last turns of one load thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Last100 {
    turns: Vec<Turn>,
    next: usize,
    phase: Option<Phase>,
}

/// When one ended, and what it took.
#[derive(Clone, Copy, Debug)]
struct Turn {
    ended_ns: u64,
    /// The whole time and the net time.
    ns: [u64; 2],
}

impl Last100 {
    /// Adds a turn. Those of the warm-up are forgotten when it ends.
    pub(super) fn add(&mut self, (phase, ended_ns): (Phase, u64), ns: [u64; 2]) {
        if phase == Phase::Measure && self.phase == Some(Phase::WarmUp) {
            self.turns.clear();
            self.next = 0;
        }
        self.phase = Some(phase);
        let turn = Turn { ended_ns, ns };
        if self.turns.len() < TURNS {
            self.turns.push(turn);
        } else {
            self.turns[self.next] = turn;
        }
        self.next = (self.next + 1) % TURNS;
    }

    /// The longest whole time and the longest net time of the last 100 of all threads, in nanoseconds; none before the first turn.
    pub(super) fn longest_ns(threads: &[Self]) -> Option<[u64; 2]> {
        let is_measured = threads.iter().any(|last| last.phase.is_some_and(|phase| phase != Phase::WarmUp));
        // One that ended none since the warm-up has forgotten nothing yet.
        let counts = |last: &&Self| !is_measured || last.phase != Some(Phase::WarmUp);
        let mut turns: Vec<Turn> =
            threads.iter().filter(counts).flat_map(|last| last.turns.iter().copied()).collect();
        turns.sort_unstable_by_key(|turn| std::cmp::Reverse(turn.ended_ns));
        let last = turns.iter().take(TURNS).map(|turn| turn.ns);
        last.reduce(|longest, turn| [0, 1].map(|time| longest[time].max(turn[time])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn longest(last: &Last100) -> Option<[u64; 2]> {
        Last100::longest_ns(std::slice::from_ref(last))
    }

    #[test]
    fn a_turn_is_forgotten_after_a_hundred_others() {
        let mut last = Last100::default();
        assert_eq!(longest(&last), None);
        last.add((Phase::Measure, 0), [900, 20]);
        (0..99).for_each(|ns| last.add((Phase::Measure, ns + 1), [ns, ns]));
        assert_eq!(longest(&last), Some([900, 98]));
        last.add((Phase::Measure, 100), [5, 5]);
        assert_eq!(longest(&last), Some([98, 98]));
    }

    #[test]
    fn the_warm_up_is_forgotten() {
        let mut last = Last100::default();
        (0..150).for_each(|at| last.add((Phase::WarmUp, at), [5_000; 2]));
        let idle = last.clone();
        last.add((Phase::Measure, 150), [7; 2]);
        last.add((Phase::Measure, 151), [3; 2]);
        assert_eq!(longest(&last), Some([7; 2]));
        assert_eq!(Last100::longest_ns(&[idle, last]), Some([7; 2]), "by all threads");
    }

    #[test]
    fn the_last_are_those_of_all_threads_together() {
        let (mut slow, mut fast) = (Last100::default(), Last100::default());
        slow.add((Phase::Measure, 10), [900, 900]);
        slow.add((Phase::Measure, 1_000), [80, 80]);
        (0..99).for_each(|at| fast.add((Phase::Measure, 500 + at), [at, at]));
        assert_eq!(Last100::longest_ns(&[slow, fast]), Some([98, 98]), "the longest was 101 turns ago");
    }
}
