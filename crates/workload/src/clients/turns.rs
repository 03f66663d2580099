//! One client: a turn after the other, until the load is over.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use database::Error;
use load::{Completed, Pacing, Recorder, lock};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Phase;
use tokio::sync::watch;

use super::affinity::{Host, Whereabouts};
use super::shared::{Clients, Part};
use super::waits::Waits;
use super::{Client, Counting, Course, Done, Place};
use crate::backoff::Backoff;
use crate::clock::Clock;

/// Why a client takes no more turns on its thread.
pub(super) enum Rests<C> {
    /// The load is over for it.
    Over,
    /// It goes on on another thread.
    Moves { turns: Box<Turns<C>>, to: usize },
}

/// The turns of one client.
pub(super) struct Turns<C> {
    clients: Arc<Clients>,
    place: Place,
    /// None of one that stays on its thread.
    whereabouts: Option<Whereabouts<Box<Turns<C>>>>,
    /// Whether it has yet to take up its connection on this thread.
    is_away: bool,
    clock: Clock,
    client: C,
    /// For its times to think.
    chance: Xoshiro256PlusPlus,
    /// Kind of the turn that is going on.
    turn: Option<usize>,
    /// When the connection was made.
    connected_ns: u64,
    /// When the last turn ended, if nothing was waited for since.
    ended_ns: Option<u64>,
    /// When the next turn begins, if that is known.
    begins_ns: Option<u64>,
    /// Clients that may begin a turn, as they were last told.
    active: watch::Receiver<u32>,
    may_turn: bool,
    /// Turns that it finished in the measured window.
    measured: u64,
    waits: Waits,
}

impl<C: Client> Turns<C> {
    pub(super) fn new(
        clients: Arc<Clients>,
        (place, whereabouts): (Place, Option<Whereabouts<Box<Turns<C>>>>),
        clock: Clock,
        client: C,
    ) -> Self {
        let number = (place.part as u64) << 32 | u64::from(place.client);
        let chance = Xoshiro256PlusPlus::seed_from_u64(clients.schedule.seed ^ number.rotate_left(17));
        let mut active = clients.active.subscribe();
        let may_turn = place.client < *active.borrow_and_update();
        Self {
            clients,
            place,
            whereabouts,
            is_away: false,
            clock,
            client,
            chance,
            turn: None,
            connected_ns: 0,
            ended_ns: None,
            begins_ns: None,
            active,
            may_turn,
            measured: 0,
            waits: Waits::default(),
        }
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Has it go on on a thread, in the thread's lane of its part.
    pub(super) fn go_on_at(&mut self, host: &Host<Box<Self>>, lane: usize, now_ns: u64) {
        self.place.lane = lane;
        self.is_away = true;
        if let Some(whereabouts) = &mut self.whereabouts {
            host.take_in(whereabouts, now_ns);
        }
    }

    /// Takes turns until the load is over, or until it goes on elsewhere.
    pub(super) async fn run(mut self) -> Rests<C> {
        let clients = Arc::clone(&self.clients);
        let part = &clients.parts[self.place.part];
        let ended = {
            let mut turns = pin!(self.until_over(part));
            let mut over = pin!(clients.over.wait());
            let mut is_awaited = false;
            poll_fn(|context| {
                if let Poll::Ready(ended) = turns.as_mut().poll(context) {
                    return Poll::Ready(ended);
                }
                // It wakes this task whenever it comes. To ask each time takes a lock that all clients take.
                if clients.over.is_set()
                    || !std::mem::replace(&mut is_awaited, true) && over.as_mut().poll(context).is_ready()
                {
                    return Poll::Ready(Err(
                        "was still without an answer long after the end of the load".to_owned()
                    ));
                }
                Poll::Pending
            })
            .await
        };
        if let Ok(Some(to)) = ended {
            return Rests::Moves { turns: Box::new(self), to };
        }
        if let Some(kind) = self.turn.take() {
            self.recorder(part).at(self.clock.now_ns()).fail(kind, 1);
            self.client.lost();
        }
        part.turns_by_client[self.place.client as usize].store(self.measured, Ordering::Relaxed);
        self.waits.ended(self.clock.now_ns());
        part.waited(self.place.client, self.waits.seen());
        if let Err(why) = ended {
            part.stopped(self.place.client, &why);
        }
        Rests::Over
    }

    /// Gives the thread on which it goes on, if it does.
    async fn until_over(&mut self, part: &Part) -> Result<Option<usize>, String> {
        if std::mem::take(&mut self.is_away) {
            if let Err(error) = self.client.join_thread() {
                self.connect_again(part, &error).await?;
            }
        } else if !self.has_begun(part).await? {
            return Ok(None);
        }
        while let Some(due_ns) = self.may_begin(part).await {
            match self.once(part, due_ns).await {
                Ok(()) => self.think().await,
                Err(error) if error.is_lost() => self.connect_again(part, &error).await?,
                Err(error) => return Err(error.to_string()),
            }
            if let Some(thread) = self.better_thread() {
                return Ok(Some(thread));
            }
        }
        Ok(None)
    }

    /// Waits until it begins, and has it make ready; false where the load is over before.
    async fn has_begun(&mut self, part: &Part) -> Result<bool, String> {
        let begins_ns = match self.client.course() {
            Course::Shared => self.clients.schedule.begins_ns(self.place.client),
            Course::Own { begins_ns, .. } => begins_ns,
        };
        tokio::select! {
            () = self.clock.until(begins_ns) => {}
            () = self.clients.load_over.wait() => return Ok(false),
        }
        match self.client.begin().await {
            Ok(()) => {}
            Err(error) if error.is_lost() => {
                self.connected_ns = self.clock.now_ns();
                self.connect_again(part, &error).await?;
            }
            Err(error) => return Err(error.to_string()),
        }
        Ok(true)
    }

    /// The thread that it belongs to, when it has left this one for it. To look is no turn's time.
    fn better_thread(&mut self) -> Option<usize> {
        let whereabouts = self.whereabouts.as_mut()?;
        let now_ns = self.ended_ns.take_if(|now_ns| whereabouts.is_due(*now_ns))?;
        let to = whereabouts.look(now_ns, self.client.processors())?;
        self.client.leave_thread().then_some(to)
    }

    fn recorder<'a>(&self, part: &'a Part) -> &'a Recorder {
        &part.lanes[self.place.lane].recorder
    }

    /// Waits until the next turn may begin, and gives when it was due; none if none begins any more.
    async fn may_begin(&mut self, part: &Part) -> Option<Option<u64>> {
        // Whether they changed is seen without writing to what all threads read.
        if self.active.has_changed().is_ok_and(|has_changed| has_changed) {
            self.may_turn = self.place.client < *self.active.borrow_and_update();
        }
        if !self.may_turn && !self.is_let_in().await {
            return None;
        }
        let clients = &self.clients;
        let end_ns = clients.schedule.phases.end_ns();
        loop {
            // To read the clock takes as long as much else does.
            let now_ns = self.ended_ns.take().unwrap_or_else(|| self.clock.now_ns());
            if clients.load_over.is_set() || now_ns >= end_ns {
                return None;
            }
            let due_ns = match (self.client.course(), &part.due) {
                (Course::Own { due_ns: Some(due_ns), .. }, _) if due_ns < end_ns => due_ns,
                (Course::Own { .. }, _) => {
                    self.client.finish();
                    self.waits.ended(now_ns);
                    // The window does not end before its time because all have done theirs.
                    clients.load_over.wait().await;
                    return None;
                }
                (Course::Shared, None) => {
                    self.begins_ns = C::DRAWS_NOTHING.then_some(now_ns);
                    return Some(None);
                }
                (Course::Shared, Some(due)) => {
                    let mut due = lock(due);
                    (due.next_ns() < end_ns).then(|| due.take())?
                }
            };
            if due_ns > now_ns {
                // It is connected, and waits for its turn.
                self.waits.ended(now_ns);
            }
            tokio::select! {
                biased;
                // What was due before the load ended is sent.
                () = self.clock.until(due_ns) => {}
                () = clients.load_over.wait() => return None,
            }
            if !self.is_too_late(part, due_ns) {
                return Some(Some(due_ns));
            }
        }
    }

    /// Waits until so many clients load that this one does too; false if the load ends before.
    async fn is_let_in(&mut self) -> bool {
        let client = self.place.client;
        self.ended_ns = None;
        self.waits.ended(self.clock.now_ns());
        tokio::select! {
            _ = self.active.wait_for(|active| client < *active) => self.may_turn = true,
            () = self.clients.load_over.wait() => {}
        }
        self.may_turn
    }

    /// Whether a turn could not be in time any more: it is passed over, and counted.
    fn is_too_late(&self, part: &Part, due_ns: u64) -> bool {
        let limit = self.clients.schedule.latency_limit.zip(self.clients.names.late);
        let Some((limit, late)) = limit else { return false };
        let now_ns = self.clock.now_ns();
        let is_too_late = now_ns.saturating_sub(due_ns) > limit.ns;
        if is_too_late {
            self.recorder(part).at(now_ns).count(late.skipped);
        }
        is_too_late
    }

    /// One turn, counted whatever becomes of it.
    async fn once(&mut self, part: &Part, due_ns: Option<u64>) -> Result<(), Error> {
        let (kind, turn) = self.client.next();
        let sent_ns = self.begins_ns.take().unwrap_or_else(|| self.clock.now_ns());
        self.turn = Some(kind);
        self.waits.asked(sent_ns);
        let load_over = &self.clients.load_over;
        let counting = Counting { recorder: self.recorder(part), clock: self.clock, load_over };
        let done = self.client.once(turn, counting).await;
        self.turn = None;
        let seen_ns = done.as_ref().ok().and_then(|done| done.ended_ns);
        let now_ns = seen_ns.unwrap_or_else(|| self.clock.now_ns());
        self.ended_ns = Some(now_ns);
        let mut recording = self.recorder(part).at(now_ns);
        let Done { counter, aside_ns, not_due_ns, idle_ns, is_failed, is_cut_off, ended_ns: _ } =
            done.inspect_err(|_| recording.fail(kind, 1))?;
        if is_cut_off {
            self.waits.given_up();
            return Ok(());
        }
        self.waits.ended(now_ns.saturating_sub(not_due_ns + idle_ns));
        let (sent_ns, due_ns) = (sent_ns + not_due_ns, due_ns.map(|due_ns| due_ns + not_due_ns));
        let net_ns = now_ns.saturating_sub(sent_ns + aside_ns);
        recording.add(self.clients.names.net_us, net_ns / 1_000);
        match is_failed {
            true => recording.fail(kind, 1),
            false => {
                recording.complete(now_ns, Completed { kind, due_ns, sent_ns, bytes: 0 });
                recording.answered(now_ns);
            }
        }
        counter.into_iter().for_each(|counter| recording.count(counter));
        let limit = self.clients.schedule.latency_limit.zip(self.clients.names.late);
        if let Some((_, late)) = limit.filter(|(limit, _)| now_ns - due_ns.unwrap_or(sent_ns) > limit.ns)
            && !is_failed
        {
            recording.count(late.late);
        }
        let phase = recording.phase();
        if phase == Phase::Measure && !is_failed {
            self.measured += 1;
        }
        drop(recording);
        if self.clients.names.last_100_max.is_some() {
            let times_ns = [now_ns - due_ns.unwrap_or(sent_ns), net_ns];
            lock(&part.lanes[self.place.lane].last_100).add((phase, now_ns), times_ns);
        }
        Ok(())
    }

    /// A time to think, uniform below twice the mean.
    async fn think(&mut self) {
        let Pacing::Closed { think_time } = self.clients.schedule.pacing else { return };
        if think_time.ns == 0 {
            return;
        }
        let share_of = |ns: u64, chance: u64| ((u128::from(ns) * u128::from(chance)) >> 64) as u64;
        self.ended_ns = None;
        let pause_ns = share_of(2 * think_time.ns, self.chance.next_u64());
        tokio::select! {
            () = self.clock.until(self.clock.now_ns() + pause_ns) => {}
            () = self.clients.load_over.wait() => {}
        }
    }

    /// Connects again after the connection was lost.
    async fn connect_again(&mut self, part: &Part, error: &Error) -> Result<(), String> {
        self.client.lost();
        self.ended_ns = None;
        let mut last = error.to_string();
        part.outages().failed_since(self.connected_ns, self.clock.now_ns(), &last);
        let mut backoff = Backoff::up_to(C::CONNECT_PAUSE_MAX);
        loop {
            let connect = async {
                backoff.pause().await;
                part.outages().attempted();
                self.client.connect_again().await
            };
            let connected = tokio::select! {
                connected = connect => connected,
                () = self.clients.load_over.wait() => {
                    if C::MAY_END_AWAY {
                        return Ok(());
                    }
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
