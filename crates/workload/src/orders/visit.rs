//! What a customer does: visits, drawn one after the other as DVD Store draws them.

use super::data::customers::{COUNTRIES, GENDERS, STATES};
use super::data::draw::{Draw, Source};
use super::job::{CART_MAX, Habits};
use super::store::{Amounts, NewCustomer};
use super::words::{FIRST_NAMES, LAST_NAMES, TITLE_WORDS};

/// Of so many products one is bought [`POPULAR_WEIGHT`] times as often as others.
const POPULAR_ONE_IN: u32 = 10_000;
const POPULAR_WEIGHT: u32 = 10;
/// Categories.
const CATEGORIES: u32 = 16;
/// Tax in hundredths of a per cent.
const TAX_PER_10_000: i64 = 825;

/// Draws visits.
#[derive(Clone, Debug)]
pub(crate) struct Shopper {
    draw: Draw,
    habits: Habits,
    customers: u32,
    products: u32,
}

/// One visit: who comes, what is looked for, and what is bought.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Visit {
    pub(crate) who: Who,
    pub(crate) browses: Vec<Browse>,
    /// Products and their quantities, not sorted: two customers who buy the same can meet in a deadlock.
    pub(crate) cart: Vec<(i32, i16)>,
}

/// Who comes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Who {
    /// A customer who was loaded, by user name.
    Known(String),
    /// A new one.
    New(Box<NewCustomer>),
}

/// What is looked for, and how many products are wanted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Browse {
    pub(crate) wanted: Wanted,
    pub(crate) batch: u32,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    Category(i16),
    Actor(String),
    Title(String),
}

impl Shopper {
    /// Of one client; each has randomness of its own.
    pub(crate) fn new(
        seed: u64,
        (target, client): (u32, u32),
        habits: Habits,
        (customers, products): (u32, u32),
    ) -> Self {
        Self { draw: Source::new(seed, u64::from(target)).row(client), habits, customers, products }
    }

    /// The next visit.
    pub(crate) fn visit(&mut self) -> Visit {
        // A millionth of the orders is fine enough for a share.
        let is_new = f64::from(self.draw.below(1_000_000)) < self.habits.pct_newcustomers * 1e4;
        let who = if is_new {
            Who::New(Box::new(self.new_customer()))
        } else {
            Who::Known(format!("user{}", self.draw.between(1, self.customers)))
        };
        let browses = (0..self.around(self.habits.n_searches)).map(|_| self.browse()).collect();
        let lines = self.around(self.habits.n_line_items).min(CART_MAX);
        let cart = (0..lines).map(|_| (self.product(), self.draw.between(1, 3) as i16)).collect();
        Visit { who, browses, cart }
    }

    /// Another user name, when one was taken.
    pub(crate) fn rename(&mut self, customer: &mut NewCustomer) {
        customer.username = self.username();
    }

    /// A share of a span of time, uniform below the whole.
    pub(crate) fn below_ns(&mut self, limit_ns: u64) -> u64 {
        (u128::from(limit_ns) * u128::from(self.draw.below(u32::MAX)) / u128::from(u32::MAX)) as u64
    }

    /// Uniform from 1 to twice the mean less 1.
    fn around(&mut self, mean: u32) -> u32 {
        self.draw.between(1, 2 * mean - 1)
    }

    fn browse(&mut self) -> Browse {
        let wanted = match self.draw.below(3) {
            0 => Wanted::Category(self.draw.between(1, CATEGORIES) as i16),
            1 => Wanted::Actor(self.two(&FIRST_NAMES, &LAST_NAMES)),
            _ => Wanted::Title(self.two(&TITLE_WORDS, &TITLE_WORDS)),
        };
        Browse { wanted, batch: self.around(self.habits.search_batch_size) }
    }

    fn two(&mut self, first: &[String], second: &[String]) -> String {
        let mut one_of = |words: &[String]| words[self.draw.below(words.len() as u32) as usize].clone();
        let first = one_of(first);
        format!("{first} {}", one_of(second))
    }

    fn product(&mut self) -> i32 {
        let extra = POPULAR_WEIGHT - 1;
        let drawn = self.draw.below(self.products + self.products / POPULAR_ONE_IN * extra);
        let product = match drawn.checked_sub(self.products) {
            None => drawn + 1,
            Some(popular) => (popular / extra + 1) * POPULAR_ONE_IN,
        };
        product as i32
    }

    /// Drawn from so many that one is hardly ever taken. DVD Store draws among as many as there are customers, so that the
    /// longer it runs the more often a name is taken and it asks once more, until none is left.
    fn username(&mut self) -> String {
        let mut name = "newuser".to_owned();
        self.draw.digits::<12>(&mut name);
        name
    }

    fn new_customer(&mut self) -> NewCustomer {
        let in_us = self.draw.below(2) == 0;
        let draw = &mut self.draw;
        let mut customer = NewCustomer {
            firstname: letters::<6>(draw),
            lastname: letters::<10>(draw),
            address1: format!("{} {} Street", draw.between(1, 9_999), letters::<7>(draw)),
            address2: None,
            city: letters::<7>(draw),
            state: in_us.then(|| draw.one_of(&STATES).to_owned()),
            zip: if in_us { draw.between(10_000, 99_999) as i32 } else { 0 },
            country: if in_us { "US" } else { draw.one_of(&COUNTRIES) }.to_owned(),
            region: if in_us { 1 } else { 2 },
            email: None,
            phone: Some(digits::<10>(draw)),
            creditcardtype: draw.between(1, 5) as i16,
            creditcard: digits::<16>(draw),
            creditcardexpiration: format!("{}/{:02}", draw.between(2008, 2012), draw.between(1, 12)),
            username: String::new(),
            password: "password".to_owned(),
            age: draw.between(18, 90) as i16,
            income: 20_000 * draw.between(1, 5) as i32,
            gender: draw.one_of(&GENDERS).to_owned(),
        };
        customer.email = Some(format!("{}@example.com", customer.lastname.to_ascii_lowercase()));
        self.rename(&mut customer);
        customer
    }
}

impl Amounts {
    /// What a cart comes to at these prices in cents, one a line.
    pub(crate) fn of(cart: &[(i32, i16)], prices: &[i64]) -> Self {
        let net_cents =
            cart.iter().zip(prices).map(|((_, quantity), price)| i64::from(*quantity) * price).sum();
        let tax_cents = (net_cents * TAX_PER_10_000 + 5_000) / 10_000;
        Self { net_cents, tax_cents, total_cents: net_cents + tax_cents }
    }
}

fn letters<const COUNT: usize>(draw: &mut Draw) -> String {
    let mut text = String::with_capacity(COUNT);
    draw.letters::<COUNT>(&mut text);
    text
}

fn digits<const COUNT: usize>(draw: &mut Draw) -> String {
    let mut text = String::with_capacity(COUNT);
    draw.digits::<COUNT>(&mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HABITS: Habits =
        Habits { pct_newcustomers: 20.0, n_searches: 3, search_batch_size: 5, n_line_items: 5 };

    fn visits(habits: Habits, count: usize) -> Vec<Visit> {
        let mut shopper = Shopper::new(7, (0, 0), habits, (20_000, 10_000));
        (0..count).map(|_| shopper.visit()).collect()
    }

    fn mean(numbers: impl ExactSizeIterator<Item = usize>) -> f64 {
        let count = numbers.len() as f64;
        numbers.sum::<usize>() as f64 / count
    }

    /// Each bound is four standard errors of the mean or share.
    #[test]
    fn customers_behave_as_in_dvd_store() {
        let visits = visits(HABITS, 40_000);
        let new = visits.iter().filter(|visit| matches!(visit.who, Who::New(_))).count() as f64 / 40_000.0;
        assert!((new - 0.2).abs() < 0.008, "{new} are new");
        let browses = mean(visits.iter().map(|visit| visit.browses.len()));
        assert!((browses - 3.0).abs() < 0.029, "{browses} browses");
        let lines = mean(visits.iter().map(|visit| visit.cart.len()));
        assert!((lines - 5.0).abs() < 0.052, "{lines} lines");
        let all: Vec<&Browse> = visits.iter().flat_map(|visit| &visit.browses).collect();
        let batch = mean(all.iter().map(|browse| browse.batch as usize));
        assert!((batch - 5.0).abs() < 0.03, "{batch} products a browse");
        for (kind, count) in [
            ("category", all.iter().filter(|browse| matches!(browse.wanted, Wanted::Category(_))).count()),
            ("actor", all.iter().filter(|browse| matches!(browse.wanted, Wanted::Actor(_))).count()),
        ] {
            let share = count as f64 / all.len() as f64;
            assert!((share - 1.0 / 3.0).abs() < 0.0055, "{share} by {kind}");
        }
    }

    #[test]
    fn every_ten_thousandth_product_is_ten_times_as_likely() {
        let mut shopper = Shopper::new(1, (0, 0), HABITS, (20_000, 20_000));
        let drawn: Vec<i32> = (0..2_000_000).map(|_| shopper.product()).collect();
        let times = |product: i32| drawn.iter().filter(|&&drawn| drawn == product).count() as f64;
        // 2,000,000 draws of 20,018 shares: 99.9 a share, 999 for ten of them.
        for popular in [10_000, 20_000] {
            assert!((times(popular) - 999.0).abs() < 130.0, "{} times {popular}", times(popular));
        }
        for other in [1, 9_999, 10_001, 19_999] {
            assert!((times(other) - 99.9).abs() < 42.0, "{} times {other}", times(other));
        }
        assert!(drawn.iter().all(|product| (1..=20_000).contains(product)));
    }

    #[test]
    fn an_amount_is_the_cart_at_its_prices_and_tax() {
        let amounts = Amounts::of(&[(1, 2), (9, 3)], &[1_099, 2_999]);
        assert_eq!(
            amounts,
            Amounts { net_cents: 11_195, tax_cents: 924, total_cents: 12_119 },
            "8.25 % of 111.95 are 9.2359"
        );
    }

    #[test]
    fn clients_and_seeds_differ_and_repeat() {
        let first = |seed, client| Shopper::new(seed, client, HABITS, (20_000, 10_000)).visit();
        assert_eq!(first(1, (0, 0)), first(1, (0, 0)));
        for other in [first(2, (0, 0)), first(1, (1, 0)), first(1, (0, 1))] {
            assert_ne!(first(1, (0, 0)), other);
        }
    }

    proptest! {
        #[test]
        fn a_visit_fits_the_store_and_the_habits(
            seed: u64,
            pct_newcustomers in 0.0f64..=100.0,
            n_searches in 1u32..10,
            search_batch_size in 1u32..10,
            n_line_items in 1u32..=10,
            customers in 1u32..50_000,
            products in 1u32..50_000,
        ) {
            let habits = Habits { pct_newcustomers, n_searches, search_batch_size, n_line_items };
            let mut shopper = Shopper::new(seed, (0, 3), habits, (customers, products));
            for _ in 0..20 {
                let visit = shopper.visit();
                prop_assert!((1..=2 * n_searches as usize - 1).contains(&visit.browses.len()));
                prop_assert!((1..=(2 * n_line_items as usize - 1).min(10)).contains(&visit.cart.len()));
                for (product, quantity) in visit.cart {
                    prop_assert!((1..=products as i32).contains(&product) && (1..=3).contains(&quantity));
                }
                for browse in visit.browses {
                    prop_assert!((1..=2 * search_batch_size - 1).contains(&browse.batch));
                }
                match visit.who {
                    Who::Known(name) => {
                        let number: u32 = name.strip_prefix("user").unwrap().parse().unwrap();
                        prop_assert!((1..=customers).contains(&number));
                        prop_assert!(pct_newcustomers < 100.0);
                    }
                    Who::New(new) => {
                        prop_assert!(pct_newcustomers > 0.0 && new.username.len() == 19);
                        prop_assert_eq!(new.region == 1, new.country == "US");
                    }
                }
            }
        }
    }
}
