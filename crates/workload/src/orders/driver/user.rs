//! One client of a store: an order at each turn.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use database::Error;
use load::{Completed, Span};

use super::running::{
    BROWSE, Driven, LOGIN, NEW_CUSTOMER, ORDER, PRICES, PURCHASE, RETRY, ROLLBACK, Running,
};
use crate::clients::{Client as TakesTurns, Counting, Done, Place};
use crate::orders::contents::Digest;
use crate::orders::store::{Amounts, By, Client, NewCustomer, Purchased};
use crate::orders::visit::{Browse, Shopper, Visit, Wanted, Who};

/// First limit of the pause before something is tried again that was in the way of others; it doubles each time, unless the
/// job gives a limit.
const RETRY_NS: u64 = 1_000_000;
/// Its last limit.
const RETRY_NS_MAX: u64 = 1_000_000_000;

/// One client; its part is the store.
#[derive(Debug)]
pub(super) struct User {
    running: Arc<Running>,
    place: Place,
    client: Client,
    shopper: Shopper,
    /// Whether a purchase was sent that was not answered.
    purchasing: bool,
}

impl TakesTurns for User {
    type Load = Running;
    type Turn = Visit;

    async fn connect(load: &Arc<Running>, place: Place) -> Result<Self, Error> {
        let running = Arc::clone(load);
        let store = &running.stores[place.part];
        let client = store.client(running.job.n_threads).await?;
        let [customers, _, products] = store.loaded.ids_max.map(|id| id as u32);
        let who = (place.part as u32, place.client);
        let shopper = Shopper::new(running.job.seed, who, running.job.habits, (customers, products));
        Ok(Self { running, place, client, shopper, purchasing: false })
    }

    fn next(&mut self) -> (usize, Visit) {
        (ORDER, self.shopper.visit())
    }

    async fn once(&mut self, visit: Visit, counting: Counting<'_>) -> Result<Done, Error> {
        let (purchased, aside_ns) = self.visit(visit, counting).await?;
        Ok(Done {
            counter: (purchased == Purchased::SoldOut).then_some(ROLLBACK),
            aside_ns,
            ..Done::default()
        })
    }

    fn lost(&mut self) {
        if std::mem::take(&mut self.purchasing) {
            let connection = self.client.session().connection().clone();
            self.store().books().unanswered(connection);
        }
    }

    async fn connect_again(&mut self) -> Result<(), Error> {
        self.client = self.store().client(self.running.job.n_threads).await?;
        Ok(())
    }
}

impl User {
    fn store(&self) -> &Driven {
        &self.running.stores[self.place.part]
    }

    /// A visit, and the time in it that DVD Store does not count: the look-up of prices.
    async fn visit(&mut self, visit: Visit, counting: Counting<'_>) -> Result<(Purchased, u64), Error> {
        let customer = match visit.who {
            Who::Known(username) => self.login(&username, counting).await?,
            Who::New(new) => self.register(*new, counting).await?,
        };
        for browse in &visit.browses {
            self.timed(counting, BROWSE, async |client: &mut Client| {
                client.browse(browse.by(), browse.batch).await
            })
            .await?;
        }
        let products: Vec<i32> = visit.cart.iter().map(|(product, _)| *product).collect();
        let asked_ns = counting.clock.now_ns();
        let prices =
            self.timed(counting, PRICES, async |client: &mut Client| client.prices(&products).await).await?;
        let prices_ns = counting.clock.now_ns() - asked_ns;
        let amounts = Amounts::of(&visit.cart, &prices);
        Ok((self.purchase(customer, &visit.cart, amounts, counting).await?, prices_ns))
    }

    async fn login(&mut self, username: &str, counting: Counting<'_>) -> Result<i32, Error> {
        let login = async |client: &mut Client| client.login(username, "password").await;
        let known = self.timed(counting, LOGIN, login).await?;
        known.map(|(customer, _)| customer).ok_or_else(|| {
            Error::Statement(format!(
                "the store has no customer {username}: see {}",
                record::Command::new("orders verify")
            ))
        })
    }

    async fn register(&mut self, mut new: NewCustomer, counting: Counting<'_>) -> Result<i32, Error> {
        loop {
            let register = async |client: &mut Client| client.new_customer(&new).await;
            if let Some(customer) = self.timed(counting, NEW_CUSTOMER, register).await? {
                return Ok(customer);
            }
            self.shopper.rename(&mut new);
        }
    }

    async fn purchase(
        &mut self,
        customer: i32,
        cart: &[(i32, i16)],
        amounts: Amounts,
        counting: Counting<'_>,
    ) -> Result<Purchased, Error> {
        let now_us = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as i64;
        self.purchasing = true;
        let purchase = async |client: &mut Client| client.purchase(customer, cart, amounts, now_us).await;
        let result = self.timed(counting, PURCHASE, purchase).await;
        // One whose answer was lost may have been done.
        self.purchasing = result.as_ref().is_err_and(Error::is_lost);
        let purchased = result?;
        let digest = Digest::of(customer, cart, amounts, now_us);
        let mut books = self.store().books();
        books.purchases += 1;
        match purchased {
            Purchased::Order(orderid) => {
                books.acknowledged.add(orderid);
                books.acknowledged.bought(orderid, digest);
            }
            Purchased::SoldOut => books.rollbacks += 1,
        }
        drop(books);
        Ok(purchased)
    }

    /// One operation. What was in the way of others is tried again, within its response time.
    async fn timed<T>(
        &mut self,
        counting: Counting<'_>,
        kind: usize,
        mut operation: impl AsyncFnMut(&mut Client) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Counting { recorder, clock, .. } = counting;
        let sent_ns = clock.now_ns();
        let mut limits_ns = retry_limits_ns(self.running.job.deadlock_pause);
        loop {
            let result = operation(&mut self.client).await;
            let now_ns = clock.now_ns();
            let mut recording = recorder.at(now_ns);
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
            let limit_ns = limits_ns.next().unwrap_or(RETRY_NS_MAX);
            tokio::time::sleep(Duration::from_nanos(self.shopper.below_ns(limit_ns))).await;
        }
    }
}

/// The longest that each pause before another try can be, one after the other.
fn retry_limits_ns(given: Option<Span>) -> impl Iterator<Item = u64> {
    let first_ns = given.map_or(RETRY_NS, |pause| pause.ns);
    let factor = if given.is_some() { 1 } else { 2 };
    std::iter::successors(Some(first_ns), move |limit_ns| {
        Some(limit_ns.saturating_mul(factor).min(RETRY_NS_MAX.max(first_ns)))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A client of DVD Store waits up to a second after each deadlock; ours began with a millisecond whatever was asked for.
    #[test]
    fn pauses_after_deadlocks_double_unless_a_limit_is_given() {
        let limits_ms = |given| retry_limits_ns(given).map(|ns| ns / 1_000_000).take(12).collect::<Vec<_>>();
        assert_eq!(limits_ms(None), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000, 1_000]);
        assert_eq!(limits_ms(Some(Span::seconds(1))), [1_000; 12]);
        assert_eq!(limits_ms(Some(Span::seconds(5))), [5_000; 12]);
    }
}
