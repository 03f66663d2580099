//! Rows of an order store, made from its size and a seed.
//!
//! A row depends on the seed, its table and its number only. Any piece of any table can be made at any time and on any
//! thread, and is always the same. Distributions are those of DVD Store, all of them uniform. Nothing is written here: a
//! [`RowSink`] takes the rows.

pub(super) mod customers;
pub(super) mod draw;
mod products;
mod row_sink;
mod sales;
mod year;

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use database::Table;

use self::customers::Customers;
use self::draw::Source;
use self::products::Products;
use self::sales::Counted;
use self::year::{LINES_MEAN, Year};
use super::size::StoreSize;
use super::tables;

pub use row_sink::RowSink;
pub use sales::Totals;

/// Tables of a load. Each but `Categories` has randomness of its own, `OrderLines` and `CustHist` that of `Orders`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreTable {
    /// [`tables::CATEGORIES`].
    Categories,
    /// [`tables::PRODUCTS`].
    Products,
    /// [`tables::INVENTORY`].
    Inventory,
    /// [`tables::CUSTOMERS`].
    Customers,
    /// [`tables::ORDERS`].
    Orders,
    /// [`tables::ORDERLINES`].
    OrderLines,
    /// [`tables::CUST_HIST`].
    CustHist,
}

impl StoreTable {
    /// All of them, in an order in which each row's parents come before it.
    pub const ALL: [Self; 7] = [
        Self::Categories,
        Self::Products,
        Self::Inventory,
        Self::Customers,
        Self::Orders,
        Self::OrderLines,
        Self::CustHist,
    ];

    /// Name and columns.
    #[must_use]
    pub fn table(self) -> &'static Table {
        match self {
            Self::Categories => &tables::CATEGORIES,
            Self::Products => &tables::PRODUCTS,
            Self::Inventory => &tables::INVENTORY,
            Self::Customers => &tables::CUSTOMERS,
            Self::Orders => &tables::ORDERS,
            Self::OrderLines => &tables::ORDERLINES,
            Self::CustHist => &tables::CUST_HIST,
        }
    }

    /// Rows that one number has on average.
    fn rows_a_number(self) -> u64 {
        if matches!(self, Self::OrderLines | Self::CustHist) { LINES_MEAN } else { 1 }
    }
}

/// Rows of one table that are made together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Table.
    pub table: StoreTable,
    /// Numbers of the rows, from 1; of order lines and history those of their orders.
    pub numbers: Range<u32>,
}

/// Rows of a store of one size, from one seed.
#[derive(Debug)]
pub struct StoreData {
    size: StoreSize,
    seed: u64,
    products: Source,
    inventory: Source,
    customers: Source,
    year: Year,
    counted: OnceLock<Counted>,
}

impl StoreData {
    /// Seed where nothing else is said.
    pub const SEED: u64 = 42;

    /// Makes nothing yet.
    #[must_use]
    pub fn new(size: StoreSize, seed: u64) -> Self {
        let [products, inventory, customers, orders] = [0, 1, 2, 3].map(|table| Source::new(seed, table));
        let year = Year {
            source: orders,
            orders_per_month: size.orders_per_month(),
            customers: size.customers(),
            products: size.products(),
        };
        Self { size, seed, products, inventory, customers, year, counted: OnceLock::new() }
    }

    /// Its size.
    #[must_use]
    pub fn size(&self) -> StoreSize {
        self.size
    }

    /// Its seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Numbers that a table's rows have: customers, orders (of lines and history too), products or categories.
    #[must_use]
    pub fn numbers(&self, table: StoreTable) -> Range<u32> {
        let last = match table {
            StoreTable::Categories => products::CATEGORY_NAMES.len() as u32,
            StoreTable::Products | StoreTable::Inventory => self.size.products(),
            StoreTable::Customers => self.size.customers(),
            StoreTable::Orders | StoreTable::OrderLines | StoreTable::CustHist => self.size.orders(),
        };
        1..last + 1
    }

    /// Rows of a table: of order lines and history an expectation, which [`Totals::lines`] tells exactly; of the others
    /// just as many.
    #[must_use]
    pub fn expected_rows(&self, table: StoreTable) -> u64 {
        self.numbers(table).len() as u64 * table.rows_a_number()
    }

    /// A whole table in order, in pieces of about so many rows.
    pub fn pieces(&self, table: StoreTable, rows: u32) -> impl Iterator<Item = Piece> + Send + use<> {
        let step = (u64::from(rows) / table.rows_a_number()).max(1) as usize;
        let Range { start, end } = self.numbers(table);
        (start..end)
            .step_by(step)
            .map(move |first| Piece { table, numbers: first..end.min(first.saturating_add(step as u32)) })
    }

    /// Makes the rows of a piece in order. Those of `Inventory` need every order line of the store: if they were not
    /// counted before ([`Self::count`]), they are now.
    ///
    /// # Panics
    /// If a number is none of [`Self::numbers`], which would be the caller's mistake.
    pub fn write(&self, piece: &Piece, sink: &mut impl RowSink) {
        let all = self.numbers(piece.table);
        let numbers = piece.numbers.clone();
        assert!(all.start <= numbers.start && numbers.end <= all.end, "{numbers:?} are not all in {all:?}");
        match piece.table {
            StoreTable::Categories => numbers.for_each(|number| products::write_category(number, sink)),
            StoreTable::Products => {
                let mut products = Products::new(self.products, self.size.products());
                numbers.for_each(|number| products.write(number, sink));
            }
            StoreTable::Inventory => {
                let sales = &self.counted.get_or_init(|| sales::count(&self.year)).sales;
                for number in numbers {
                    products::write_stock(self.inventory, number, sales[number as usize - 1], sink);
                }
            }
            StoreTable::Customers => {
                let mut customers = Customers::new(self.customers, self.size.customers());
                numbers.for_each(|number| customers.write(number, sink));
            }
            StoreTable::Orders => numbers.for_each(|number| self.year.order(number).write(sink)),
            StoreTable::OrderLines => numbers.for_each(|number| self.year.order(number).write_lines(sink)),
            StoreTable::CustHist => numbers.for_each(|number| self.year.order(number).write_history(sink)),
        }
    }

    /// Counts what the orders come to, once, on so many threads; memory is four bytes a product. None if `stop` was set
    /// before the end.
    pub fn count(&self, threads: usize, stop: &AtomicBool) -> Option<Totals> {
        if self.counted.get().is_none() {
            let counted = sales::count_on(&self.year, threads, stop)?;
            return Some(self.counted.get_or_init(|| counted).totals);
        }
        self.counted.get().map(|counted| counted.totals)
    }
}

#[cfg(test)]
#[path = "distribution_tests.rs"]
mod distribution_tests;
#[cfg(test)]
#[path = "tests.rs"]
mod tests;
