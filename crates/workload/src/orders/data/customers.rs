//! Customers: the first half in the US, the second in the rest of the world.

use super::draw::{Draw, Source};
use super::row_sink::RowSink;
use crate::orders::decimal;

/// The states, and the District of Columbia.
pub(in crate::orders) static STATES: [&str; 51] = [
    "AK", "AL", "AR", "AZ", "CA", "CO", "CT", "DC", "DE", "FL", "GA", "HI", "IA", "ID", "IL", "IN", "KS",
    "KY", "LA", "MA", "MD", "ME", "MI", "MN", "MO", "MS", "MT", "NC", "ND", "NE", "NH", "NJ", "NM", "NV",
    "NY", "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VA", "VT", "WA", "WI", "WV", "WY",
];

/// Countries of region 2.
pub(in crate::orders) static COUNTRIES: [&str; 10] =
    ["Australia", "Canada", "Chile", "China", "France", "Germany", "Japan", "Russia", "South Africa", "UK"];

pub(in crate::orders) static GENDERS: [&str; 2] = ["F", "M"];

/// Writes customers, with memory for their texts.
pub(super) struct Customers {
    source: Source,
    /// The last one who lives in the US.
    last_in_us: u32,
    text: String,
}

impl Customers {
    pub(super) fn new(source: Source, customers: u32) -> Self {
        Self { source, last_in_us: customers / 2, text: String::with_capacity(64) }
    }

    /// Writes the customer with this number.
    pub(super) fn write(&mut self, number: u32, sink: &mut impl RowSink) {
        let mut draw = self.source.row(number);
        sink.integer(number as i32);
        self.text(sink, |text| draw.letters::<6>(text));
        let mut last_name = [0; 10];
        self.text(sink, |text| {
            draw.letters::<10>(text);
            last_name.copy_from_slice(text.as_bytes());
        });
        self.write_address(number, &mut draw, sink);
        self.text(sink, |text| {
            text.extend(last_name.map(|letter| char::from(letter.to_ascii_lowercase())));
            text.push_str("@example.com");
        });
        self.text(sink, |text| draw.digits::<10>(text));
        self.write_card(&mut draw, sink);
        self.text(sink, |text| {
            text.push_str("user");
            decimal::append(number.into(), text);
        });
        sink.text("password");
        sink.small(draw.between(18, 90) as i16);
        sink.integer(20_000 * draw.between(1, 5) as i32);
        sink.text(draw.one_of(&GENDERS));
        sink.end_row();
    }

    fn write_address(&mut self, number: u32, draw: &mut Draw, sink: &mut impl RowSink) {
        self.text(sink, |text| {
            decimal::append(draw.between(1, 9_999).into(), text);
            text.push(' ');
            draw.letters::<7>(text);
            text.push_str(" Street");
        });
        sink.null();
        self.text(sink, |text| draw.letters::<7>(text));
        if number <= self.last_in_us {
            sink.text(draw.one_of(&STATES));
            sink.integer(draw.between(10_000, 99_999) as i32);
            sink.text("US");
            sink.small(1);
        } else {
            sink.null();
            sink.integer(0);
            sink.text(draw.one_of(&COUNTRIES));
            sink.small(2);
        }
    }

    fn write_card(&mut self, draw: &mut Draw, sink: &mut impl RowSink) {
        sink.small(draw.between(1, 5) as i16);
        self.text(sink, |text| draw.digits::<16>(text));
        self.text(sink, |text| {
            decimal::append(draw.between(2008, 2012).into(), text);
            let month = draw.between(1, 12);
            text.push_str(if month < 10 { "/0" } else { "/" });
            decimal::append(month.into(), text);
        });
    }

    fn text(&mut self, sink: &mut impl RowSink, write: impl FnOnce(&mut String)) {
        self.text.clear();
        write(&mut self.text);
        sink.text(&self.text);
    }
}
