//! One client: orders one after the other, on a connection of its own, until the load is over.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use database::Error;
use load::{Completed, Pacing};
use record::Phase;

use super::running::{
    BROWSE, Driven, LOGIN, NEW_CUSTOMER, ORDER, PRICES, PURCHASE, RETRY, ROLLBACK, Running, lock,
};
use crate::backoff::Backoff;
use crate::clock::Clock;
use crate::orders::contents::Digest;
use crate::orders::store::{Amounts, By, Client, NewCustomer, Purchased};
use crate::orders::visit::{Browse, Shopper, Visit, Wanted, Who};

/// First limit of the pause before something is tried again that was in the way of others; it doubles each time.
const RETRY_NS: u64 = 1_000_000;
/// Longest pause, as in DVD Store.
const RETRY_NS_MAX: u64 = 1_000_000_000;

/// Which client it is: of which store, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) store: usize,
    pub(super) client: u32,
}

/// One client.
#[derive(Debug)]
pub(super) struct User {
    running: Arc<Running>,
    place: Place,
    clock: Clock,
    client: Client,
    shopper: Shopper,
    /// Whether a purchase was sent that was not answered.
    purchasing: bool,
    /// When the connection was made.
    connected_ns: u64,
}

impl User {
    pub(super) fn new(running: Arc<Running>, place: Place, clock: Clock, client: Client) -> Self {
        let store = &running.stores[place.store];
        let [customers, _, products] = store.loaded.ids_max.map(|id| id as u32);
        let who = (place.store as u32, place.client);
        let shopper = Shopper::new(running.job.seed, who, running.job.habits, (customers, products));
        Self { running, place, clock, client, shopper, purchasing: false, connected_ns: 0 }
    }

    /// Orders until the load is over.
    pub(super) async fn run(mut self) {
        let running = Arc::clone(&self.running);
        let store = &running.stores[self.place.store];
        let ended = tokio::select! {
            biased;
            ended = self.order_until_over(store) => ended,
            () = running.over.wait() => {
                store.recorder.at(self.clock.now_ns()).fail(ORDER, 1);
                Err("had an order that was not answered long after the end of the load".to_owned())
            }
        };
        if self.purchasing {
            let connection = self.client.session().connection().clone();
            store.books().unanswered(connection);
        }
        if let Err(why) = ended {
            store.books().stopped.push(format!("client {}: {why}", self.place.client + 1));
        }
    }

    async fn order_until_over(&mut self, store: &Driven) -> Result<(), String> {
        tokio::select! {
            () = self.clock.until(self.running.job.begins_ns(self.place.client)) => {}
            () = self.running.load_over.wait() => return Ok(()),
        }
        while let Some(due_ns) = self.turn(store).await {
            match self.order(store, due_ns).await {
                Ok(()) => self.think().await,
                Err(error) if error.is_lost() => self.connect_again(store, &error).await?,
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    /// Waits until the next order may begin, and gives when it was due; none if no order begins any more.
    async fn turn(&mut self, store: &Driven) -> Option<Option<u64>> {
        let running = &self.running;
        let may_order = |active: &u32| self.place.client < *active;
        if !may_order(&running.active.borrow()) {
            let mut active = running.active.subscribe();
            tokio::select! {
                _ = active.wait_for(may_order) => {}
                () = running.load_over.wait() => return None,
            }
        }
        let end_ns = running.job.phases.end_ns();
        if running.load_over.is_set() || self.clock.now_ns() >= end_ns {
            return None;
        }
        let Some(due) = &store.due else { return Some(None) };
        let due_ns = {
            let mut due = lock(due);
            (due.next_ns() < end_ns).then(|| due.take())?
        };
        tokio::select! {
            biased;
            // What was due before the load ended is sent.
            () = self.clock.until(due_ns) => Some(Some(due_ns)),
            () = running.load_over.wait() => None,
        }
    }

    /// One order, counted whatever becomes of it.
    async fn order(&mut self, store: &Driven, due_ns: Option<u64>) -> Result<(), Error> {
        let visit = self.shopper.visit();
        let sent_ns = self.clock.now_ns();
        let visited = self.visit(store, visit).await;
        let now_ns = self.clock.now_ns();
        let mut recording = store.recorder.at(now_ns);
        let purchased = visited.inspect_err(|_| recording.fail(ORDER, 1))?;
        recording.complete(now_ns, Completed { kind: ORDER, due_ns, sent_ns, bytes: 0 });
        if purchased == Purchased::SoldOut {
            recording.count(ROLLBACK);
        }
        let phase = recording.phase();
        if phase == Phase::Measure {
            store.orders_by_client[self.place.client as usize].fetch_add(1, Ordering::Relaxed);
        }
        drop(recording);
        lock(&self.running.last_100).add(phase, now_ns - due_ns.unwrap_or(sent_ns));
        Ok(())
    }

    async fn visit(&mut self, store: &Driven, visit: Visit) -> Result<Purchased, Error> {
        let customer = match visit.who {
            Who::Known(username) => self.login(store, &username).await?,
            Who::New(new) => self.register(store, *new).await?,
        };
        for browse in &visit.browses {
            self.timed(store, BROWSE, async |client: &mut Client| {
                client.browse(browse.by(), browse.batch).await
            })
            .await?;
        }
        let products: Vec<i32> = visit.cart.iter().map(|(product, _)| *product).collect();
        let prices =
            self.timed(store, PRICES, async |client: &mut Client| client.prices(&products).await).await?;
        let amounts = Amounts::of(&visit.cart, &prices);
        self.purchase(store, customer, &visit.cart, amounts).await
    }

    async fn login(&mut self, store: &Driven, username: &str) -> Result<i32, Error> {
        let login = async |client: &mut Client| client.login(username, "password").await;
        let known = self.timed(store, LOGIN, login).await?;
        known.map(|(customer, _)| customer).ok_or_else(|| {
            Error::Statement(format!(
                "the store has no customer {username}: see {}",
                record::Command::new("orders verify")
            ))
        })
    }

    async fn register(&mut self, store: &Driven, mut new: NewCustomer) -> Result<i32, Error> {
        loop {
            let register = async |client: &mut Client| client.new_customer(&new).await;
            if let Some(customer) = self.timed(store, NEW_CUSTOMER, register).await? {
                return Ok(customer);
            }
            self.shopper.rename(&mut new);
        }
    }

    async fn purchase(
        &mut self,
        store: &Driven,
        customer: i32,
        cart: &[(i32, i16)],
        amounts: Amounts,
    ) -> Result<Purchased, Error> {
        let now_us = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as i64;
        self.purchasing = true;
        let purchase = async |client: &mut Client| client.purchase(customer, cart, amounts, now_us).await;
        let result = self.timed(store, PURCHASE, purchase).await;
        self.purchasing = false;
        let digest = Digest::of(customer, cart, amounts, now_us);
        let mut books = store.books();
        match &result {
            Ok(purchased) => {
                books.purchases += 1;
                match purchased {
                    Purchased::Order(orderid) => {
                        books.acknowledged.add(*orderid);
                        books.acknowledged.bought(*orderid, digest);
                    }
                    Purchased::SoldOut => books.rollbacks += 1,
                }
            }
            Err(error) if error.is_lost() => books.unanswered(self.client.session().connection().clone()),
            Err(_) => {}
        }
        drop(books);
        result
    }

    /// One operation. What was in the way of others is tried again, within its response time.
    async fn timed<T>(
        &mut self,
        store: &Driven,
        kind: usize,
        mut operation: impl AsyncFnMut(&mut Client) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let sent_ns = self.clock.now_ns();
        let mut pause_ns = RETRY_NS;
        loop {
            let result = operation(&mut self.client).await;
            let now_ns = self.clock.now_ns();
            let mut recording = store.recorder.at(now_ns);
            match result {
                Err(Error::Conflict(_)) => recording.count(RETRY),
                Err(error) => {
                    recording.fail(kind, 1);
                    return Err(error);
                }
                Ok(done) => {
                    recording.complete(now_ns, Completed { kind, due_ns: None, sent_ns, bytes: 0 });
                    return Ok(done);
                }
            }
            drop(recording);
            tokio::time::sleep(Duration::from_nanos(self.shopper.below_ns(pause_ns))).await;
            pause_ns = (2 * pause_ns).min(RETRY_NS_MAX);
        }
    }

    async fn think(&mut self) {
        let Pacing::Closed { think_time } = self.running.job.pacing else { return };
        if think_time.ns == 0 {
            return;
        }
        let pause_ns = self.shopper.below_ns(2 * think_time.ns);
        tokio::select! {
            () = tokio::time::sleep(Duration::from_nanos(pause_ns)) => {}
            () = self.running.load_over.wait() => {}
        }
    }

    /// Connects again after the connection was lost.
    async fn connect_again(&mut self, store: &Driven, error: &Error) -> Result<(), String> {
        let mut last = error.to_string();
        store.books().outages.failed_since(self.connected_ns, self.clock.now_ns(), &last);
        let mut backoff = Backoff::new();
        loop {
            let connect = async {
                backoff.pause().await;
                store.books().outages.attempted();
                store.client(self.running.job.n_threads).await
            };
            let connected = tokio::select! {
                connected = connect => connected,
                () = self.running.load_over.wait() => {
                    return Err(format!("had no connection when the load ended: {last}"));
                }
            };
            match connected {
                Ok(client) => {
                    self.client = client;
                    self.connected_ns = self.clock.now_ns();
                    store.books().outages.ended(self.connected_ns);
                    return Ok(());
                }
                Err(error) => last = error.to_string(),
            }
        }
    }
}

impl Browse {
    fn by(&self) -> By<'_> {
        match &self.wanted {
            Wanted::Category(category) => By::Category(*category),
            Wanted::Actor(words) => By::Actor(words),
            Wanted::Title(words) => By::Title(words),
        }
    }
}
