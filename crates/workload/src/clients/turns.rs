//! One client: a turn after the other, until the load is over.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use database::Error;
use load::{Completed, Pacing, lock};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Phase;

use super::shared::{Clients, Part};
use super::{Client, Counting, Done, Place};
use crate::backoff::Backoff;
use crate::clock::Clock;

/// The turns of one client.
pub(super) struct Turns<C> {
    clients: Arc<Clients>,
    place: Place,
    clock: Clock,
    client: C,
    /// For its times to think.
    chance: Xoshiro256PlusPlus,
    /// Kind of the turn that is going on.
    turn: Option<usize>,
    /// When the connection was made.
    connected_ns: u64,
}

impl<C: Client> Turns<C> {
    pub(super) fn new(clients: Arc<Clients>, place: Place, clock: Clock, client: C) -> Self {
        let number = (place.part as u64) << 32 | u64::from(place.client);
        let chance = Xoshiro256PlusPlus::seed_from_u64(clients.schedule.seed ^ number.rotate_left(17));
        Self { clients, place, clock, client, chance, turn: None, connected_ns: 0 }
    }

    /// Takes turns until the load is over.
    pub(super) async fn run(mut self) {
        let clients = Arc::clone(&self.clients);
        let part = &clients.parts[self.place.part];
        let ended = tokio::select! {
            biased;
            ended = self.until_over(part) => ended,
            () = clients.over.wait() => Err("had no answer long after the end of the load".to_owned()),
        };
        if let Some(kind) = self.turn.take() {
            part.recorder.at(self.clock.now_ns()).fail(kind, 1);
            self.client.lost();
        }
        if let Err(why) = ended {
            part.stopped(self.place.client, &why);
        }
    }

    async fn until_over(&mut self, part: &Part) -> Result<(), String> {
        tokio::select! {
            () = self.clock.until(self.clients.schedule.begins_ns(self.place.client)) => {}
            () = self.clients.load_over.wait() => return Ok(()),
        }
        while let Some(due_ns) = self.may_begin(part).await {
            match self.once(part, due_ns).await {
                Ok(()) => self.think().await,
                Err(error) if error.is_lost() => self.connect_again(part, &error).await?,
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    /// Waits until the next turn may begin, and gives when it was due; none if none begins any more.
    async fn may_begin(&mut self, part: &Part) -> Option<Option<u64>> {
        let clients = &self.clients;
        let is_active = |active: &u32| self.place.client < *active;
        if !is_active(&clients.active.borrow()) {
            let mut active = clients.active.subscribe();
            tokio::select! {
                _ = active.wait_for(is_active) => {}
                () = clients.load_over.wait() => return None,
            }
        }
        let end_ns = clients.schedule.phases.end_ns();
        if clients.load_over.is_set() || self.clock.now_ns() >= end_ns {
            return None;
        }
        let Some(due) = &part.due else { return Some(None) };
        let due_ns = {
            let mut due = lock(due);
            (due.next_ns() < end_ns).then(|| due.take())?
        };
        tokio::select! {
            biased;
            // What was due before the load ended is sent.
            () = self.clock.until(due_ns) => Some(Some(due_ns)),
            () = clients.load_over.wait() => None,
        }
    }

    /// One turn, counted whatever becomes of it.
    async fn once(&mut self, part: &Part, due_ns: Option<u64>) -> Result<(), Error> {
        let (kind, turn) = self.client.next();
        let sent_ns = self.clock.now_ns();
        self.turn = Some(kind);
        let done = self.client.once(turn, Counting { recorder: &part.recorder, clock: self.clock }).await;
        self.turn = None;
        let now_ns = self.clock.now_ns();
        let mut recording = part.recorder.at(now_ns);
        let Done { counter, aside_ns, is_failed } = done.inspect_err(|_| recording.fail(kind, 1))?;
        let net_ns = now_ns.saturating_sub(sent_ns + aside_ns);
        recording.add(self.clients.names.net_us, net_ns / 1_000);
        match is_failed {
            true => recording.fail(kind, 1),
            false => recording.complete(now_ns, Completed { kind, due_ns, sent_ns, bytes: 0 }),
        }
        counter.into_iter().for_each(|counter| recording.count(counter));
        let phase = recording.phase();
        if phase == Phase::Measure && !is_failed {
            part.turns_by_client[self.place.client as usize].fetch_add(1, Ordering::Relaxed);
        }
        drop(recording);
        let times_ns = [now_ns - due_ns.unwrap_or(sent_ns), net_ns];
        [&self.clients.last_100, &part.last_100].iter().for_each(|last| lock(last).add(phase, times_ns));
        Ok(())
    }

    /// A time to think, uniform below twice the mean.
    async fn think(&mut self) {
        let Pacing::Closed { think_time } = self.clients.schedule.pacing else { return };
        if think_time.ns == 0 {
            return;
        }
        let share_of = |ns: u64, chance: u64| ((u128::from(ns) * u128::from(chance)) >> 64) as u64;
        let pause_ns = share_of(2 * think_time.ns, self.chance.next_u64());
        tokio::select! {
            () = tokio::time::sleep(Duration::from_nanos(pause_ns)) => {}
            () = self.clients.load_over.wait() => {}
        }
    }

    /// Connects again after the connection was lost.
    async fn connect_again(&mut self, part: &Part, error: &Error) -> Result<(), String> {
        self.client.lost();
        let mut last = error.to_string();
        part.outages().failed_since(self.connected_ns, self.clock.now_ns(), &last);
        let mut backoff = Backoff::new();
        loop {
            let connect = async {
                backoff.pause().await;
                part.outages().attempted();
                self.client.connect_again().await
            };
            let connected = tokio::select! {
                connected = connect => connected,
                () = self.clients.load_over.wait() => {
                    return Err(format!("had no connection when the load ended: {last}"));
                }
            };
            match connected {
                Ok(()) => {
                    self.connected_ns = self.clock.now_ns();
                    part.outages().ended(self.connected_ns);
                    return Ok(());
                }
                Err(error) => last = error.to_string(),
            }
        }
    }
}
