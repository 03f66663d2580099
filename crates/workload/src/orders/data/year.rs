//! The year of orders, with their lines and the customers' history.

use super::draw::{Draw, Source};
use super::row_sink::RowSink;

const US_A_DAY: i64 = 86_400_000_000;
/// Days from 1970-01-01 to 2009-01-01.
const FIRST_DAY: u32 = 14_245;
/// Days of the months of 2009.
const DAYS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Lines that an order has at most, and on average.
const LINES_MAX: u32 = 9;
pub(super) const LINES_MEAN: u64 = 5;

/// Orders of a store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Year {
    pub(super) source: Source,
    pub(super) orders_per_month: u32,
    pub(super) customers: u32,
    pub(super) products: u32,
}

/// One order; what it holds is drawn when it is asked for.
#[derive(Clone, Debug)]
pub(super) struct Order {
    number: u32,
    date_us: i64,
    customer: u32,
    pub(super) net_cents: i64,
    lines: u32,
    products: u32,
    draw: Draw,
}

/// One line of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    number: u32,
    pub(super) product: u32,
    pub(super) quantity: u32,
}

impl Year {
    /// Number of the last order.
    pub(super) fn orders(&self) -> u32 {
        self.orders_per_month * DAYS.len() as u32
    }

    /// The order with this number, from 1. Months follow each other, the days of a month do not.
    #[inline]
    pub(super) fn order(&self, number: u32) -> Order {
        let mut draw = self.source.row(number);
        let month = ((number - 1) / self.orders_per_month) as usize;
        let day = FIRST_DAY + DAYS[..month].iter().sum::<u32>() + draw.below(DAYS[month]);
        Order {
            number,
            date_us: i64::from(day) * US_A_DAY,
            customer: draw.between(1, self.customers),
            net_cents: draw.between(1, 40_000).into(),
            lines: draw.between(1, LINES_MAX),
            products: self.products,
            draw,
        }
    }
}

impl Order {
    /// 8.25 %, rounded to a cent.
    pub(super) fn tax_cents(&self) -> i64 {
        (self.net_cents * 825 + 5_000) / 10_000
    }

    /// The lines, the same each time.
    #[inline]
    pub(super) fn lines(&self) -> impl Iterator<Item = Line> + use<> {
        let (mut draw, products) = (self.draw.clone(), self.products);
        (1..=self.lines).map(move |number| Line {
            number,
            product: draw.between(1, products),
            quantity: draw.between(1, 3),
        })
    }

    /// Writes the row of `orders`.
    pub(super) fn write(&self, sink: &mut impl RowSink) {
        sink.integer(self.number as i32);
        sink.big(self.date_us);
        sink.integer(self.customer as i32);
        sink.big(self.net_cents);
        sink.big(self.tax_cents());
        sink.big(self.net_cents + self.tax_cents());
        sink.end_row();
    }

    /// Writes the rows of `orderlines`.
    pub(super) fn write_lines(&self, sink: &mut impl RowSink) {
        for line in self.lines() {
            sink.small(line.number as i16);
            sink.integer(self.number as i32);
            sink.integer(line.product as i32);
            sink.small(line.quantity as i16);
            sink.big(self.date_us);
            sink.end_row();
        }
    }

    /// Writes the rows of `cust_hist`.
    pub(super) fn write_history(&self, sink: &mut impl RowSink) {
        for line in self.lines() {
            sink.integer(self.customer as i32);
            sink.integer(self.number as i32);
            sink.integer(line.product as i32);
            sink.end_row();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_lie_where_the_calendar_has_them() {
        let year = Year { source: Source::new(1, 0), orders_per_month: 200, customers: 10, products: 10 };
        for number in 1..=2_400 {
            let time = jiff::Timestamp::from_microsecond(year.order(number).date_us).unwrap();
            let time = time.to_zoned(jiff::tz::TimeZone::UTC);
            assert_eq!((time.year(), time.hour(), time.minute(), time.second()), (2009, 0, 0, 0));
            assert_eq!(u32::try_from(time.month()).unwrap(), (number - 1) / 200 + 1, "{number}: {time}");
        }
    }

    #[test]
    fn tax_is_rounded_to_the_nearest_cent() {
        let year = Year { source: Source::new(1, 0), orders_per_month: 1, customers: 1, products: 1 };
        // 8.25 % of 0.06 is 0.495 of a cent, of 2.00 exactly 16.5 cents.
        for (net_cents, tax_cents) in [(1, 0), (6, 0), (7, 1), (200, 17), (10_000, 825), (40_000, 3_300)] {
            assert_eq!(Order { net_cents, ..year.order(1) }.tax_cents(), tax_cents, "{net_cents}");
        }
    }
}
