//! Size of an order store, and how many rows that is.
//!
//! A size is a name and no number of bytes: 10 MB are about 17.5 MB in PostgreSQL with indexes. The rule is DVD Store's,
//! with its discontinuity: 2 GB have fewer products than 1 GB. Published figures used it.

use std::fmt;
use std::str::FromStr;

/// Size of an order store: `10MB`, `1GB`, `40GB`. 1 GB are 1024 MB here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreSize {
    megabytes: u32,
}

/// A text that is no size of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a size of an order store: use whole MB or GB from 1MB to 1000GB, such as 10MB, 1GB or 40GB"
)]
pub struct SizeError {
    given: String,
}

const MEGABYTES_A_GIGABYTE: u32 = 1024;

/// Of more, customers would have numbers beyond 32 bits.
const MEGABYTES_MAX: u32 = 1000 * MEGABYTES_A_GIGABYTE;

/// Months of a year of orders.
const MONTHS: u32 = 12;

/// Rows of a size that others are multiples of.
struct Base {
    customers: u64,
    orders_per_month: u64,
    products: u64,
    megabytes: u32,
}

/// Base of sizes below 1 GB.
const SMALL: Base = Base { customers: 20_000, orders_per_month: 1_000, products: 10_000, megabytes: 10 };
/// 1 GB and nothing else.
const MEDIUM: Base = Base {
    customers: 2_000_000,
    orders_per_month: 100_000,
    products: 100_000,
    megabytes: MEGABYTES_A_GIGABYTE,
};
/// Base of sizes above 1 GB.
const LARGE: Base = Base {
    customers: 200_000_000,
    orders_per_month: 10_000_000,
    products: 1_000_000,
    megabytes: 100 * MEGABYTES_A_GIGABYTE,
};

impl StoreSize {
    /// The size that DVD Store is shipped with.
    pub const DEFAULT: Self = Self { megabytes: 10 };

    /// Its number, with which it is called.
    #[must_use]
    pub(super) fn megabytes(self) -> u32 {
        self.megabytes
    }

    /// Customers, of which the first half lives in the US.
    #[must_use]
    pub fn customers(self) -> u32 {
        self.of(self.base().customers)
    }

    /// Orders of each month.
    #[must_use]
    pub fn orders_per_month(self) -> u32 {
        self.of(self.base().orders_per_month)
    }

    /// Orders of the year that a load holds.
    #[must_use]
    pub fn orders(self) -> u32 {
        MONTHS * self.orders_per_month()
    }

    /// Products.
    #[must_use]
    pub fn products(self) -> u32 {
        self.of(self.base().products)
    }

    fn base(self) -> Base {
        match self.megabytes {
            ..MEGABYTES_A_GIGABYTE => SMALL,
            MEGABYTES_A_GIGABYTE => MEDIUM,
            _ => LARGE,
        }
    }

    /// The base's rows for this size; it is at most [`MEGABYTES_MAX`], so that they fit.
    fn of(self, rows: u64) -> u32 {
        (rows * u64::from(self.megabytes) / u64::from(self.base().megabytes)) as u32
    }
}

impl Default for StoreSize {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl FromStr for StoreSize {
    type Err = SizeError;

    /// Fractions are taken where they are whole MB: `1.5GB` is `1536MB`.
    fn from_str(text: &str) -> Result<Self, SizeError> {
        let error = || SizeError { given: text.to_owned() };
        let trimmed = text.trim();
        let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let unit = match unit.trim_start().to_ascii_uppercase().as_str() {
            "MB" => 1,
            "GB" => MEGABYTES_A_GIGABYTE,
            _ => return Err(error()),
        };
        let megabytes = whole_multiple(number, unit).ok_or_else(error)?;
        let is_possible = (1..=MEGABYTES_MAX).contains(&megabytes);
        is_possible.then_some(Self { megabytes }).ok_or_else(error)
    }
}

/// A decimal number times a unit, if that is a whole number.
fn whole_multiple(number: &str, unit: u32) -> Option<u32> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let numerator: u64 = fraction.parse().ok()?;
    let denominator = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let scaled = numerator.checked_mul(u64::from(unit))?;
    let part = scaled.is_multiple_of(denominator).then(|| scaled / denominator)?;
    let whole: u32 = whole.parse().ok()?;
    whole.checked_mul(unit)?.checked_add(u32::try_from(part).ok()?)
}

impl fmt::Display for StoreSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.megabytes.is_multiple_of(MEGABYTES_A_GIGABYTE) {
            write!(f, "{}GB", self.megabytes / MEGABYTES_A_GIGABYTE)
        } else {
            write!(f, "{}MB", self.megabytes)
        }
    }
}

load::serde_as_text!(StoreSize);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn size(text: &str) -> StoreSize {
        text.parse().unwrap()
    }

    #[test]
    fn rows_are_those_of_the_published_sizes() {
        for (text, customers, orders, products) in [
            ("1MB", 2_000, 1_200, 1_000),
            ("10MB", 20_000, 12_000, 10_000),
            ("1023MB", 2_046_000, 1_227_600, 1_023_000),
            ("1GB", 2_000_000, 1_200_000, 100_000),
            ("2GB", 4_000_000, 2_400_000, 20_000),
            ("40GB", 80_000_000, 48_000_000, 400_000),
            ("100GB", 200_000_000, 120_000_000, 1_000_000),
            ("1000GB", 2_000_000_000, 1_200_000_000, 10_000_000),
        ] {
            let size = size(text);
            assert_eq!((size.customers(), size.orders(), size.products()), (customers, orders, products));
        }
    }

    #[test]
    fn a_size_is_read_as_people_write_it() {
        for (text, printed) in [
            ("10MB", "10MB"),
            (" 40 gb ", "40GB"),
            ("1024MB", "1GB"),
            ("1.5GB", "1536MB"),
            ("0.5GB", "512MB"),
            ("2.0GB", "2GB"),
        ] {
            assert_eq!(size(text).to_string(), printed, "{text}");
        }
        for text in [
            "",
            "10",
            "MB",
            ".5GB",
            "5.GB",
            "1.3GB",
            "0.5MB",
            "0MB",
            "1001GB",
            "10MiB",
            "1TB",
            "-1GB",
            "1e3MB",
            "1.2.3GB",
            "99999999999GB",
            "0.000000000000000000000000001GB",
        ] {
            let message = text.parse::<StoreSize>().map(|size| size.to_string()).unwrap_err().to_string();
            assert!(message.contains(&format!("`{text}`")) && message.contains("40GB"), "{message}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(megabytes in 1..=MEGABYTES_MAX) {
            let size = StoreSize { megabytes };
            prop_assert_eq!(size.to_string().parse(), Ok(size));
        }

        #[test]
        fn any_text_is_an_answer_or_an_error(text in "[0-9.]{0,30}( ?[kKMGmg][bB])?") {
            let _ = text.parse::<StoreSize>();
        }

        #[test]
        fn every_size_has_rows_whose_numbers_fit(megabytes in 1..=MEGABYTES_MAX) {
            let size = StoreSize { megabytes };
            for rows in [size.customers(), size.orders(), size.products()] {
                prop_assert!(i32::try_from(rows).is_ok_and(|rows| rows > 0), "{}", rows);
            }
        }
    }
}
