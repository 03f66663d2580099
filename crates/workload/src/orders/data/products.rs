//! Categories, products and their stock.

use super::draw::Source;
use super::row_sink::RowSink;
use crate::orders::words::{FIRST_NAMES, LAST_NAMES, TITLE_WORDS};

/// Names of the categories, which are numbered from 1.
pub(super) static CATEGORY_NAMES: [&str; 16] = [
    "Action",
    "Animation",
    "Children",
    "Classics",
    "Comedy",
    "Documentary",
    "Drama",
    "Family",
    "Foreign",
    "Games",
    "Horror",
    "Music",
    "New",
    "Sci-Fi",
    "Sports",
    "Travel",
];

/// Products of a store in which one of [`SPECIAL_ONE_IN`] is a special, at most.
const PRODUCTS_OF_A_SMALL_STORE: u32 = 100_000;
/// Of so many products one is a special, in a small store and in a larger one.
const SPECIAL_ONE_IN: [u32; 2] = [100, 10_000];
/// Of so many products, one has [`POPULAR_STOCK`] times the stock: it is bought ten times as often.
const POPULAR_ONE_IN: u32 = 10_000;
const POPULAR_STOCK: u32 = 10;

pub(super) fn write_category(number: u32, sink: &mut impl RowSink) {
    sink.small(number as i16);
    sink.text(CATEGORY_NAMES[number as usize - 1]);
    sink.end_row();
}

/// Writes products, with memory for their texts.
pub(super) struct Products {
    source: Source,
    products: u32,
    text: String,
}

impl Products {
    pub(super) fn new(source: Source, products: u32) -> Self {
        Self { source, products, text: String::with_capacity(64) }
    }

    /// Writes the product with this number.
    pub(super) fn write(&mut self, number: u32, sink: &mut impl RowSink) {
        let mut draw = self.source.row(number);
        sink.integer(number as i32);
        sink.small(draw.between(1, CATEGORY_NAMES.len() as u32) as i16);
        let index = number as usize - 1;
        let words = TITLE_WORDS.len();
        self.two_words(&TITLE_WORDS[index / words % words], &TITLE_WORDS[index % words], sink);
        let (first, last) = (draw.below(FIRST_NAMES.len() as u32), draw.below(LAST_NAMES.len() as u32));
        self.two_words(&FIRST_NAMES[first as usize], &LAST_NAMES[last as usize], sink);
        sink.big(i64::from(99 + 100 * draw.between(9, 29)));
        let one_in = SPECIAL_ONE_IN[usize::from(self.products > PRODUCTS_OF_A_SMALL_STORE)];
        sink.small(i16::from(draw.below(one_in) == 0));
        sink.integer(draw.between(1, self.products) as i32);
        sink.end_row();
    }

    fn two_words(&mut self, first: &str, second: &str, sink: &mut impl RowSink) {
        self.text.clear();
        self.text.push_str(first);
        self.text.push(' ');
        self.text.push_str(second);
        sink.text(&self.text);
    }
}

/// Writes the stock of the product with this number.
pub(super) fn write_stock(source: Source, number: u32, sales: u32, sink: &mut impl RowSink) {
    let stock = source.row(number).between(0, 500);
    let factor = if number.is_multiple_of(POPULAR_ONE_IN) { POPULAR_STOCK } else { 1 };
    sink.integer(number as i32);
    sink.integer((stock * factor) as i32);
    sink.integer(sales as i32);
    sink.end_row();
}
