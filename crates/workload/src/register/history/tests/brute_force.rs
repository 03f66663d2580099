//! Against a checker that tries every order.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::register::FIRST_VALUE;

use super::*;

/// A register, by what it holds and what that replaced.
type State = (u64, Option<u64>);

/// Whether there is an order of these that a register can have done, in which nothing comes before what had ended when it was sent.
fn is_linearizable(left: &[Operation], (value, replaced): State) -> bool {
    if left.iter().all(|operation| matches!(operation.did, Did::Unanswered { .. })) {
        return true;
    }
    (0..left.len()).any(|next| {
        let operation = left[next];
        let is_first = left.iter().all(|other| !other.is_done() || other.ended_ns() >= operation.invoked_ns);
        let state = match operation.did {
            Did::Wrote { value: written, .. } | Did::Unanswered { value: written, .. } => {
                (written, Some(value))
            }
            Did::Read { value: seen, replaced: told, .. } => {
                if seen != value || told.is_some_and(|told| replaced != Some(told)) {
                    return false;
                }
                (value, replaced)
            }
            Did::Refused { .. } | Did::ReadNothing { .. } => unreachable!("left out"),
        };
        let mut others = left.to_vec();
        others.remove(next);
        is_first && is_linearizable(&others, state)
    })
}

fn brute_force(history: &[Operation]) -> bool {
    let effective =
        |operation: &&Operation| !matches!(operation.did, Did::Refused { .. } | Did::ReadNothing { .. });
    let left: Vec<Operation> = history.iter().filter(effective).copied().collect();
    is_linearizable(&left, (FIRST_VALUE, None))
}

/// Anything: up to eight operations at any times, whose reads return any value.
fn random_history(random: &mut Xoshiro256PlusPlus, tells_replaced: bool) -> Vec<Operation> {
    let mut below = |limit: u64| random.next_u64() % limit;
    let operations = 2 + below(7);
    let writes = 1 + below(operations.min(4));
    let mut history = Vec::new();
    for number in 0..operations {
        let invoked_ns = below(16);
        let at_ns = invoked_ns + below(8);
        let did = if number < writes {
            let value = number + 1;
            match below(8) {
                0 => Did::Refused { value, at_ns },
                1 | 2 => Did::Unanswered { value, at_ns },
                _ => Did::Wrote { value, at_ns },
            }
        } else {
            let value = below(writes + 1);
            let replaced = (tells_replaced && value > 0).then(|| below(writes + 1));
            Did::Read { value, replaced, at_ns }
        };
        history.push(Operation { client: below(3) as u32, key: 0, invoked_ns, did });
    }
    history
}

fn told(history: &[Operation]) -> String {
    history.iter().map(text).collect::<Vec<_>>().join(" | ")
}

#[test]
fn exactly_what_no_order_explains_has_anomalies() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(17);
    let mut good = 0;
    for _ in 0..20_000 {
        let history = random_history(&mut random, false);
        let is_good = brute_force(&history);
        assert_eq!(kinds(&history).is_empty(), is_good, "{}", told(&history));
        good += u64::from(is_good);
    }
    assert!((4_000..16_000).contains(&good), "both kinds: {good} of 20000");
}

/// What the chain tells is wrong is wrong. It does not find all that could be known of one.
#[test]
fn what_is_found_by_what_was_replaced_is_explained_by_no_order() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(18);
    let (mut good, mut bad, mut missed) = (0, 0, 0);
    for _ in 0..20_000 {
        let history = random_history(&mut random, true);
        match (kinds(&history).is_empty(), brute_force(&history)) {
            (true, true) => good += 1,
            (false, false) => bad += 1,
            (true, false) => missed += 1,
            (false, true) => panic!("{}", told(&history)),
        }
    }
    assert!(good > 1_000 && bad > 1_000 && missed < bad / 10, "{good}, {bad}, {missed}");
}
