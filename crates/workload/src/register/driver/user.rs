//! One client: a write or a read at each turn.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use database::{Error, Session};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::register::Did;

use super::running::{CONFLICT, READ, Running, Sent, WRITE};
use crate::clients::{Client, Counting, Done, Place};
use crate::clock::Clock;
use crate::register::store;

/// One client.
#[derive(Debug)]
pub(super) struct User {
    running: Arc<Running>,
    session: Session,
    client: u32,
    chance: Xoshiro256PlusPlus,
    /// Values that it wrote.
    written: u64,
    /// What was sent and not answered.
    under_way: Option<(Sent, Clock)>,
}

/// A register, and whether it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    key: u32,
    is_write: bool,
}

impl Client for User {
    type Load = Running;
    type Turn = Turn;
    /// How long a server was away is what is measured: whoever looks seldom sees it late.
    const MAY_END_AWAY: bool = true;
    const CONNECT_PAUSE_MAX: Duration = Duration::from_millis(50);

    async fn connect(load: &Arc<Running>, place: Place) -> Result<Self, Error> {
        let running = Arc::clone(load);
        let session = running.session().await?;
        let seed = running.job.seed ^ u64::from(place.client).wrapping_add(1).rotate_left(17);
        let chance = Xoshiro256PlusPlus::seed_from_u64(seed);
        Ok(Self { running, session, client: place.client, chance, written: 0, under_way: None })
    }

    fn next(&mut self) -> (usize, Turn) {
        let below = |limit: u64, chance: u64| ((u128::from(limit) * u128::from(chance)) >> 64) as u64;
        let key = below(self.running.job.keys.into(), self.chance.next_u64()) as u32;
        let drawn = (self.chance.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let is_write = drawn >= self.running.job.read_share;
        (if is_write { WRITE } else { READ }, Turn { key, is_write })
    }

    async fn once(&mut self, turn: Turn, counting: Counting<'_>) -> Result<Done, Error> {
        let clock = counting.clock;
        self.running.clock.get_or_init(|| clock);
        let value = turn.is_write.then(|| self.value());
        let sent = Sent { client: self.client, key: turn.key, invoked_ns: clock.now_ns(), value };
        self.under_way = Some((sent, clock));
        let did = self.running.soon(exchange(&mut self.session, sent)).await;
        let at_ns = clock.now_ns();
        self.under_way = None;
        let (operation, done) = match did {
            Ok(Some(held)) => {
                let did = Did::Read { value: held.value, replaced: held.replaced, at_ns };
                (sent.ended(did), Ok(Done::default()))
            }
            Ok(None) => {
                (sent.ended(Did::Wrote { value: value.unwrap_or_default(), at_ns }), Ok(Done::default()))
            }
            Err(error) if error.is_lost() => (sent.unanswered(at_ns), Err(error)),
            Err(Error::Conflict(_)) => {
                let refused = Done { counter: Some(CONFLICT), is_failed: true, ..Done::default() };
                (sent.refused(at_ns), Ok(refused))
            }
            // A server that takes nothing any more, since it is a standby now, may be another one when its client connects again.
            Err(error) => (sent.refused(at_ns), Err(Error::Lost(error.to_string()))),
        };
        self.running.add(operation);
        done
    }

    fn lost(&mut self) {
        self.running.is_away[self.client as usize].store(true, Ordering::Relaxed);
        if let Some((sent, clock)) = self.under_way.take() {
            self.running.add(sent.unanswered(clock.now_ns()));
        }
    }

    async fn connect_again(&mut self) -> Result<(), Error> {
        self.session = self.running.session().await?;
        self.running.is_away[self.client as usize].store(false, Ordering::Relaxed);
        Ok(())
    }
}

impl User {
    /// A value that nobody else writes.
    fn value(&mut self) -> u64 {
        self.written += 1;
        value(self.client, self.written)
    }
}

/// The client's number before that of its write, and never the first value: `30000017` is the 17th of the third client.
fn value(client: u32, number: u64) -> u64 {
    /// Writes of a client: more than a history has operations.
    const WRITES: u64 = 10_000_000;
    (u64::from(client) + 1) * WRITES + number
}

/// What a read found; nothing of a write that was acknowledged.
async fn exchange(session: &mut Session, sent: Sent) -> Result<Option<store::Held>, Error> {
    match sent.value {
        Some(value) => store::write(session, sent.key, value).await.map(|()| None),
        None => store::read(session, sent.key).await.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_tell_whose_they_are_and_no_two_are_the_same() {
        assert_eq!([value(0, 1), value(2, 17)], [10_000_001, 30_000_017]);
        assert!(value(0, 2_000_000) < value(1, 1));
    }
}
