//! One pass over all orders: what was sold of each product, and the sums that a loaded store is verified by.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use super::year::Year;

/// Orders that a thread counts before it looks whether it is to stop.
const STEP: u32 = 4_096;

/// What the orders of a store come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Order lines, and rows of history.
    pub lines: u64,
    /// Sum of the lines' quantities, and of the sales of all products.
    pub quantity: u64,
    /// Sum of `netamount_cents`.
    pub net_cents: i64,
    /// Sum of `tax_cents`; with the one before it, that of `totalamount_cents`.
    pub tax_cents: i64,
}

/// Result of the pass.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) totals: Totals,
    /// Of each product, from number 1 on.
    pub(super) sales: Vec<u32>,
}

/// Counts on this thread, to the end.
pub(super) fn count(year: &Year) -> Counted {
    let pass = Pass::new(year);
    let totals = pass.steps().map(|first| pass.step(first)).fold(Totals::default(), sum);
    pass.counted(totals)
}

/// Counts on so many threads; none if it is stopped. All add to the same counts, so that memory does not grow with them.
pub(super) fn count_on(year: &Year, threads: usize, stop: &AtomicBool) -> Option<Counted> {
    let pass = Pass::new(year);
    let next = AtomicU32::new(0);
    let work = || {
        let mut totals = Totals::default();
        loop {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let Some(first) = pass.steps().nth(next.fetch_add(1, Ordering::Relaxed) as usize) else {
                return Some(totals);
            };
            totals = sum(totals, pass.step(first));
        }
    };
    let parts: Option<Vec<Totals>> = thread::scope(|scope| {
        // The counts are the same on fewer threads, where the system gives no more.
        let other = |_| thread::Builder::new().name("sales".to_owned()).spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(other).collect();
        let own = work();
        // A thread that panicked has a mistake of ours, which goes on here.
        let others = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(own).chain(others).collect()
    });
    Some(pass.counted(parts?.into_iter().fold(Totals::default(), sum)))
}

struct Pass<'a> {
    year: &'a Year,
    sales: Vec<AtomicU32>,
}

impl<'a> Pass<'a> {
    fn new(year: &'a Year) -> Self {
        Self { year, sales: (0..year.products).map(|_| AtomicU32::new(0)).collect() }
    }

    /// First orders of the steps.
    fn steps(&self) -> impl Iterator<Item = u32> + use<> {
        (1..=self.year.orders()).step_by(STEP as usize)
    }

    fn step(&self, first: u32) -> Totals {
        let mut totals = Totals::default();
        for number in first..(first + STEP).min(self.year.orders() + 1) {
            let order = self.year.order(number);
            totals.net_cents += order.net_cents;
            totals.tax_cents += order.tax_cents();
            for line in order.lines() {
                totals.lines += 1;
                totals.quantity += u64::from(line.quantity);
                self.sales[line.product as usize - 1].fetch_add(line.quantity, Ordering::Relaxed);
            }
        }
        totals
    }

    fn counted(self, totals: Totals) -> Counted {
        Counted { totals, sales: self.sales.into_iter().map(AtomicU32::into_inner).collect() }
    }
}

fn sum(one: Totals, other: Totals) -> Totals {
    Totals {
        lines: one.lines + other.lines,
        quantity: one.quantity + other.quantity,
        net_cents: one.net_cents + other.net_cents,
        tax_cents: one.tax_cents + other.tax_cents,
    }
}
