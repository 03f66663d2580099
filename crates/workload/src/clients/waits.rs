//! What one client sees of a server that does not answer: from when it began a turn until that, or the next one it begins instead, was done,
//! over lost connections too.

use load::SILENCE_MIN_NS;
use record::ClientAway;

/// The times in which a client waited. Shorter ones than half a second are told of by latencies.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// When it began to wait for the answer that it has not had yet.
    since_ns: Option<u64>,
    seen: ClientAway,
}

impl Waits {
    /// It asks for something, or for that again.
    pub(super) fn asked(&mut self, now_ns: u64) {
        self.since_ns.get_or_insert(now_ns);
    }

    /// It was answered, or waits no more.
    pub(super) fn ended(&mut self, now_ns: u64) {
        let Some(since_ns) = self.since_ns.take() else { return };
        let waited_ns = now_ns.saturating_sub(since_ns);
        if waited_ns >= SILENCE_MIN_NS {
            let waited_s = waited_ns as f64 / 1e9;
            self.seen.times += 1;
            self.seen.longest_s = self.seen.longest_s.max(waited_s);
            self.seen.total_s += waited_s;
        }
    }

    /// It was kept from waiting on.
    pub(super) fn given_up(&mut self) {
        self.since_ns = None;
    }

    pub(super) fn seen(&self) -> ClientAway {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_client_waits_from_its_first_request_to_the_next_answer() {
        let mut waits = Waits::default();
        waits.asked(S);
        waits.ended(S + S / 4);
        // Lost with its connection, and asked for again.
        waits.asked(2 * S);
        waits.asked(5 * S);
        waits.ended(5 * S + S / 2);
        waits.ended(9 * S);
        waits.asked(10 * S);
        waits.ended(11 * S);
        waits.asked(12 * S);
        waits.given_up();
        waits.ended(19 * S);
        assert_eq!(waits.seen(), ClientAway { times: 2, longest_s: 3.5, total_s: 4.5 });
    }
}
