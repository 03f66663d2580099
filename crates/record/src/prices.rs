//! What the measured system costs, as whoever owns it says. Nothing here knows a price by itself.

use serde::{Deserialize, Serialize};

/// A price list. It comes from a file of the user's and is stored with the study as it was given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Currency of all amounts: `EUR`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Day of the prices: `2026-11-21`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Where they come from: a seller, an offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What they pay for: `bought`, `three years with support`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub term: Option<String>,
    /// What was bought.
    #[serde(default, alias = "item")]
    pub items: Vec<PriceItem>,
}

/// One line of a price list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceItem {
    /// What it is.
    pub name: String,
    /// Price of one of them.
    pub amount: f64,
    /// How many.
    #[serde(default = "one")]
    pub quantity: u32,
}

/// Largest price of one item.
const AMOUNT_MAX: f64 = 1e12;
/// Largest sum: of more, cents are not exact.
const TOTAL_MAX: f64 = 1e15;

fn one() -> u32 {
    1
}

/// What is wrong with a price list.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PricesError {
    /// There is nothing to add up.
    #[error("the price list has no items: give each as [[items]] with name and amount")]
    NoItems,
    /// An amount cannot be added up.
    #[error("the amount of `{name}` is {amount}: give the price of one as a number from 0 to 1e12")]
    Amount {
        /// Item.
        name: String,
        /// What was given.
        amount: f64,
    },
    /// A name that would upset a terminal or a table.
    #[error("the name `{name}` has control characters: write it as plain text on one line")]
    Name {
        /// Item, with these characters spelled out.
        name: String,
    },
    /// An item that was not bought.
    #[error("the quantity of `{name}` is 0: leave the item out")]
    Quantity {
        /// Item.
        name: String,
    },
    /// The sum is too large.
    #[error("the sum of the amounts is above 1e15: check their size")]
    Total,
    /// Amounts without a currency mean nothing.
    #[error("the price list names no currency: give currency = \"EUR\" or another one")]
    NoCurrency,
    /// Prices change.
    #[error("the price list names no date: give the day of the prices, such as date = \"2026-11-21\"")]
    NoDate,
}

impl PriceItem {
    /// Price of all of them.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.amount * f64::from(self.quantity)
    }
}

impl Prices {
    /// The sum of all items.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.items.iter().map(PriceItem::total).sum()
    }

    /// All mistakes of the list; none if it can be used.
    #[must_use]
    pub fn check(&self) -> Vec<PricesError> {
        let missing = |text: &Option<String>| text.as_ref().is_none_or(|text| text.trim().is_empty());
        let mut mistakes = Vec::new();
        if self.items.is_empty() {
            mistakes.push(PricesError::NoItems);
        }
        for PriceItem { name, amount, quantity } in &self.items {
            if !(0.0..=AMOUNT_MAX).contains(amount) {
                mistakes.push(PricesError::Amount { name: name.clone(), amount: *amount });
            }
            if name.chars().any(char::is_control) {
                mistakes.push(PricesError::Name { name: name.escape_default().to_string() });
            }
            if *quantity == 0 {
                mistakes.push(PricesError::Quantity { name: name.clone() });
            }
        }
        if mistakes.is_empty() && self.total() > TOTAL_MAX {
            mistakes.push(PricesError::Total);
        }
        mistakes.extend(missing(&self.currency).then_some(PricesError::NoCurrency));
        mistakes.extend(missing(&self.date).then_some(PricesError::NoDate));
        mistakes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, amount: f64, quantity: u32) -> PriceItem {
        PriceItem { name: name.to_owned(), amount, quantity }
    }

    fn prices(items: Vec<PriceItem>) -> Prices {
        Prices {
            currency: Some("EUR".to_owned()),
            date: Some("2026-11-21".to_owned()),
            items,
            ..Prices::default()
        }
    }

    fn mistakes(prices: &Prices) -> Vec<String> {
        prices.check().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn items_are_added_up_with_their_quantity() {
        let list = prices(vec![item("server", 2_400.0, 1), item("SSD", 199.5, 4)]);
        assert_eq!(list.total(), 3_198.0);
        assert_eq!(mistakes(&list), [""; 0]);
    }

    #[test]
    fn a_quantity_that_is_not_given_is_one() {
        let item: PriceItem = serde_json::from_str(r#"{"name": "server", "amount": 2400}"#).unwrap();
        assert_eq!(item.total(), 2_400.0);
        let unknown = serde_json::from_str::<PriceItem>(r#"{"name": "server", "amount": 1, "count": 2}"#);
        assert!(unknown.unwrap_err().to_string().contains("unknown field `count`"));
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let list = Prices {
            items: vec![item("a", -1.0, 1), item("b", f64::NAN, 1), item("c", 1.0, 0)],
            ..Prices::default()
        };
        let told = mistakes(&list);
        assert_eq!(told.len(), 5, "{told:?}");
        assert!(told[0].contains("`a` is -1") && told[1].contains("`b` is NaN"), "{told:?}");
        assert!(told[2].contains("`c` is 0") && told[3].contains("no currency"), "{told:?}");
        assert!(told[4].contains("no date"), "{told:?}");
    }

    #[test]
    fn a_list_without_items_or_without_a_sum_cannot_be_used() {
        assert!(mistakes(&prices(Vec::new()))[0].contains("no items"));
        assert!(
            mistakes(&prices(vec![item("moon", 1e12, 2_000)]))[0].contains("the sum of the amounts is above")
        );
        let blank = Prices { currency: Some(" ".to_owned()), ..prices(vec![item("a", 1.0, 1)]) };
        assert!(mistakes(&blank)[0].contains("no currency"));
    }
}
