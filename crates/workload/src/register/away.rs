//! How long nobody was answered, from a history alone: no error has to be seen for that, since a server that hangs gives none.

use record::ClientAway;
use record::register::{Away, Operation};

/// Most outages that are told one by one.
const TOLD_MAX: usize = 10_000;

/// The times of at least this length in which none of these operations was answered as it was to be, though somebody waited for one. Each
/// begins with the last such answer, or when somebody began to wait, if that was later; it ends with the next one. Who has given up
/// the last one and has no connection still waits until that moment.
pub(super) fn away<'a>(
    operations: impl Iterator<Item = &'a Operation>,
    waited_until_ns: Option<u64>,
    least_ns: u64,
) -> Vec<Away> {
    let mut ended: Vec<&Operation> = operations.collect();
    ended.sort_unstable_by_key(|operation| (operation.ended_ns(), operation.invoked_ns));
    let first_invoked = first_invoked(&ended);
    let mut away = Vec::new();
    let (mut answered_ns, mut next) = (0, 0);
    for (number, operation) in ended.iter().enumerate().filter(|(_, operation)| operation.is_done()) {
        let start_ns = answered_ns.max(first_invoked[next]);
        add(&mut away, (start_ns, operation.ended_ns()), true, least_ns);
        (answered_ns, next) = (operation.ended_ns(), number + 1);
    }
    // Who still waited when the load was over had no answer.
    if let Some(last) = ended[next..].last() {
        let end_ns = last.ended_ns().max(waited_until_ns.unwrap_or(0));
        add(&mut away, (answered_ns.max(first_invoked[next]), end_ns), false, least_ns);
    }
    away.truncate(TOLD_MAX);
    away
}

fn add(away: &mut Vec<Away>, (start_ns, end_ns): (u64, u64), is_over: bool, least_ns: u64) {
    if end_ns.saturating_sub(start_ns) >= least_ns {
        let seconds = |ns: u64| ns as f64 / 1e9;
        away.push(Away { start_s: seconds(start_ns), end_s: is_over.then_some(seconds(end_ns)) });
    }
}

/// Of those from each number on: when the first one was sent.
fn first_invoked(operations: &[&Operation]) -> Vec<u64> {
    let mut first = vec![u64::MAX; operations.len()];
    let mut earliest = u64::MAX;
    for (first, operation) in first.iter_mut().zip(operations).rev() {
        earliest = earliest.min(operation.invoked_ns);
        *first = earliest;
    }
    first
}

/// What each client saw, whatever it asked for. Of a time that goes on, that until its client stopped waiting counts.
pub(super) fn by_client(
    history: &[Operation],
    waited_until_ns: &[Option<u64>],
    least_ns: u64,
) -> Vec<ClientAway> {
    let mut of_client: Vec<Vec<&Operation>> = vec![Vec::new(); waited_until_ns.len()];
    for operation in history {
        if let Some(of_client) = of_client.get_mut(operation.client as usize) {
            of_client.push(operation);
        }
    }
    let sum = |(operations, until_ns): (Vec<&Operation>, &Option<u64>)| {
        let last_ns = operations.iter().map(|operation| operation.ended_ns()).max();
        let last_ns = last_ns.max(*until_ns).unwrap_or_default();
        let lengths = away(operations.into_iter(), *until_ns, least_ns);
        let lengths = lengths.iter().map(|away| away.length_s(last_ns as f64 / 1e9));
        lengths.fold(ClientAway::default(), |sum, length_s| ClientAway {
            times: sum.times + 1,
            longest_s: sum.longest_s.max(length_s),
            total_s: sum.total_s + length_s,
        })
    };
    of_client.into_iter().zip(waited_until_ns).map(sum).collect()
}

#[cfg(test)]
mod tests {
    use record::register::Did;

    use super::*;

    const S: u64 = 1_000_000_000;

    /// `client, sent, ended, is answered`, times in tenths of a second.
    fn history(of: &[(u32, u64, u64, bool)]) -> Vec<Operation> {
        let operation = |&(client, sent, ended, is_answered): &(u32, u64, u64, bool)| {
            let at_ns = ended * S / 10;
            let did = match is_answered {
                true => Did::Wrote { value: sent, at_ns },
                false => Did::Unanswered { value: sent, at_ns },
            };
            Operation { client, key: 0, invoked_ns: sent * S / 10, did }
        };
        of.iter().map(operation).collect()
    }

    fn told(of: &[(u32, u64, u64, bool)]) -> Vec<(f64, Option<f64>)> {
        let away = away(history(of).iter(), None, S / 2);
        away.iter().map(|away| (away.start_s, away.end_s)).collect()
    }

    #[test]
    fn a_server_that_hangs_is_away_from_the_last_answer_to_the_next() {
        let hangs =
            [(0, 0, 1, true), (1, 5, 6, true), (0, 9, 31, true), (1, 10, 32, true), (0, 33, 34, true)];
        assert_eq!(told(&hangs), [(0.9, Some(3.1))], "nobody waited before");
        let others =
            [(0, 0, 30, true), (1, 2, 4, true), (1, 5, 8, true), (1, 9, 12, true), (1, 12, 16, true)];
        assert_eq!(
            told(&others),
            [(1.6, Some(3.0))],
            "one waits all the time, others are answered meanwhile"
        );
    }

    #[test]
    fn nobody_is_away_while_nobody_waits() {
        assert_eq!(told(&[(0, 0, 1, true), (0, 50, 51, true), (0, 90, 94, true)]), []);
        assert_eq!(told(&[]), []);
    }

    #[test]
    fn what_fails_is_no_answer() {
        let killed =
            [(0, 0, 1, true), (0, 2, 3, false), (0, 4, 5, false), (0, 20, 21, true), (0, 60, 61, true)];
        assert_eq!(told(&killed), [(0.2, Some(2.1))]);
    }

    #[test]
    fn an_outage_may_begin_the_load_and_may_go_on_to_its_end() {
        assert_eq!(told(&[(0, 0, 10, true), (0, 12, 40, false)]), [(0.0, Some(1.0)), (1.2, None)]);
        assert_eq!(told(&[(0, 3, 40, false)]), [(0.3, None)]);
    }

    /// A server that was killed and does not come back refuses connections: nothing is sent any more.
    #[test]
    fn who_has_no_connection_still_waits() {
        let killed = history(&[(0, 0, 1, true), (1, 1, 2, true), (0, 3, 4, false), (1, 4, 4, false)]);
        let away = |until_s: Option<u64>| away(killed.iter(), until_s.map(|s| s * S), S / 2);
        assert_eq!(away(None), []);
        assert_eq!(away(Some(6)), [Away { start_s: 0.3, end_s: None }]);
        let clients = by_client(&killed, &[Some(6 * S), None], S / 2);
        assert_eq!((clients[0].times, clients[1].times), (1, 0));
        assert!((clients[0].longest_s - 5.7).abs() < 1e-9);
    }

    #[test]
    fn each_client_has_its_own() {
        let of = [(0, 0, 1, true), (1, 0, 10, true), (0, 2, 3, true), (1, 11, 31, false)];
        let clients = by_client(&history(&of), &[None, None, None], S / 2);
        assert_eq!(clients[0], ClientAway::default());
        assert_eq!((clients[1].times, clients[1].longest_s), (2, 2.0));
        assert!((clients[1].total_s - 3.0).abs() < 1e-9);
        assert_eq!(clients[2], ClientAway::default());
    }
}
