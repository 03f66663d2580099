//! A register that does all that it should, and clients with delays, refusals and lost answers.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// A register, and the clients that use it.
pub(super) struct Simulation {
    random: Xoshiro256PlusPlus,
    /// What it holds, and what that replaced.
    pub(super) state: (u64, Option<u64>),
    pub(super) now_ns: u64,
    pub(super) next_value: u64,
    pub(super) history: Vec<Operation>,
    /// Whether reads tell what was replaced.
    pub(super) tells_replaced: bool,
}

/// An operation, when it takes effect, and its place in the history.
type Effect = (u64, usize);

impl Simulation {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let tells_replaced = random.next_u64().is_multiple_of(2);
        Self {
            random,
            state: (record::register::FIRST_VALUE, None),
            now_ns: 0,
            next_value: 1,
            history: Vec::new(),
            tells_replaced,
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit
    }

    pub(super) fn value(&mut self) -> u64 {
        self.next_value += 1;
        self.next_value - 1
    }

    /// What a read finds.
    pub(super) fn read(&self, at_ns: u64) -> Did {
        let (value, replaced) = self.state;
        Did::Read { value, replaced: replaced.filter(|_| self.tells_replaced), at_ns }
    }

    /// So many clients do so many operations each. All has taken effect in the end that ever will.
    pub(super) fn go_on(&mut self, clients: u32, operations: u64) {
        let mut effects: Vec<Effect> = Vec::new();
        let begin_ns = self.now_ns;
        for client in 0..clients {
            let mut now_ns = begin_ns + self.below(100);
            for _ in 0..operations {
                now_ns = self.operation(client, now_ns, &mut effects);
                self.now_ns = self.now_ns.max(now_ns);
            }
        }
        effects.sort_unstable();
        for (at_ns, number) in effects {
            self.now_ns = self.now_ns.max(at_ns);
            self.take_effect(number);
        }
        self.now_ns += 1;
    }

    /// One operation of a client, and when it sends the next one.
    fn operation(&mut self, client: u32, invoked_ns: u64, effects: &mut Vec<Effect>) -> u64 {
        let effect_ns = invoked_ns + self.below(50);
        let at_ns = effect_ns + self.below(50);
        let chance = self.below(20);
        let did = match self.below(2) {
            0 if chance == 0 => Did::ReadNothing { at_ns },
            0 => Did::Read { value: 0, replaced: None, at_ns },
            _ => {
                let value = self.value();
                match chance {
                    0 => Did::Refused { value, at_ns },
                    1 | 2 => Did::Unanswered { value, at_ns },
                    _ => Did::Wrote { value, at_ns },
                }
            }
        };
        match did {
            Did::Refused { .. } | Did::ReadNothing { .. } => {}
            // Of three one never does, and one does when nobody waits for it any more.
            Did::Unanswered { .. } if chance == 1 => match self.below(2) {
                0 => {}
                _ => effects.push((effect_ns + self.below(1_000), self.history.len())),
            },
            Did::Wrote { .. } | Did::Read { .. } | Did::Unanswered { .. } => {
                effects.push((effect_ns, self.history.len()));
            }
        }
        self.history.push(Operation { client, key: 0, invoked_ns, did });
        at_ns + 1 + self.below(30)
    }

    fn take_effect(&mut self, number: usize) {
        match self.history[number].did {
            Did::Read { at_ns, .. } => self.history[number].did = self.read(at_ns),
            Did::Wrote { value, .. } | Did::Unanswered { value, .. } => {
                self.state = (value, Some(self.state.0));
            }
            Did::Refused { .. } | Did::ReadNothing { .. } => unreachable!("has no effect"),
        }
    }
}

#[test]
fn nothing_is_found_in_a_thousand_good_histories() {
    let (mut reads, mut late) = (0, 0);
    for seed in 0..1_000 {
        let mut simulation = Simulation::new(seed);
        simulation.go_on(2 + (seed % 7) as u32, 40);
        let checked = check(&simulation.history).unwrap();
        assert_eq!(checked.anomalies, [], "seed {seed}");
        assert_eq!(checked.writes.lost, 0, "seed {seed}");
        reads += checked.writes.seen;
        late += checked.writes.unanswered_seen;
    }
    assert!(reads > 10_000 && late > 500, "the histories say something: {reads}, {late}");
}
