//! Values of variables and expressions, and their text in SQL.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
    /// What came from outside: from a row of a result, a definition or a file. An expression reads it as one of the others.
    Text(String),
}

/// What an expression computes with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum Scalar {
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
}

/// Why something has no value. Whoever evaluates it says of which file and line it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub(crate) struct Wrong {
    words: String,
}

impl Wrong {
    /// In these words.
    pub(crate) fn new(words: impl Into<String>) -> Self {
        Self { words: words.into() }
    }
}

impl Value {
    /// As it counts in an expression; `None` if it is text that is nothing of that.
    pub(super) fn scalar(&self) -> Option<Scalar> {
        match self {
            Self::Null => Some(Scalar::Null),
            Self::Boolean(boolean) => Some(Scalar::Boolean(*boolean)),
            Self::Integer(integer) => Some(Scalar::Integer(*integer)),
            Self::Double(double) => Some(Scalar::Double(*double)),
            Self::Text(text) => Scalar::read(text),
        }
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Boolean(boolean) => Self::Boolean(boolean),
            Scalar::Integer(integer) => Self::Integer(integer),
            Scalar::Double(double) => Self::Double(double),
        }
    }
}

/// As it stands in SQL.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("NULL"),
            Self::Boolean(boolean) => write!(formatter, "{boolean}"),
            Self::Integer(integer) => write!(formatter, "{integer}"),
            Self::Double(double) => formatter.write_str(&double_text(*double)),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::from(*self).fmt(formatter)
    }
}

impl Scalar {
    /// As a condition: numbers other than 0 are true, NULL is not.
    #[must_use]
    pub(super) fn is_true(self) -> bool {
        match self {
            Self::Null => false,
            Self::Boolean(boolean) => boolean,
            Self::Integer(integer) => integer != 0,
            Self::Double(double) => double != 0.0,
        }
    }

    /// As a whole number, the even one of two that are equally near.
    pub(super) fn integer(self) -> Result<i64, Wrong> {
        match self {
            Self::Integer(integer) => Ok(integer),
            Self::Double(double) => whole(double),
            Self::Null | Self::Boolean(_) => Err(self.no_number()),
        }
    }

    /// As a double.
    pub(super) fn double(self) -> Result<f64, Wrong> {
        match self {
            Self::Integer(integer) => Ok(integer as f64),
            Self::Double(double) => Ok(double),
            Self::Null | Self::Boolean(_) => Err(self.no_number()),
        }
    }

    /// As an operand of NOT, AND and OR.
    pub(super) fn boolean(self) -> Result<bool, Wrong> {
        match self {
            Self::Boolean(boolean) => Ok(boolean),
            Self::Null | Self::Integer(_) | Self::Double(_) => {
                Err(Wrong::new(format!("{self} is not a boolean: compare it, such as {self} <> 0")))
            }
        }
    }

    fn no_number(self) -> Wrong {
        Wrong::new(format!("{self} is not a number: convert it, such as CASE WHEN {self} THEN 1 ELSE 0 END"))
    }

    /// A bigint, NULL, a boolean's word or its beginning, or a double.
    fn read(text: &str) -> Option<Self> {
        let text = text.trim_ascii();
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return text.parse().ok().map(Self::Integer);
        }
        if text.eq_ignore_ascii_case("null") {
            return Some(Self::Null);
        }
        if let Some(boolean) = boolean_word(text) {
            return Some(Self::Boolean(boolean));
        }
        let double: f64 = text.parse().ok()?;
        // What is too large for a double becomes infinite; only a word may say that it is.
        let is_said = digits.starts_with(['i', 'I']);
        (!double.is_infinite() || is_said).then_some(Self::Double(double))
    }
}

/// A boolean as PostgreSQL reads it, with words that are cut short: `o` alone is neither of two.
fn boolean_word(text: &str) -> Option<bool> {
    let word = text.to_ascii_lowercase();
    let begins = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    if begins("true", 1) || begins("yes", 1) || begins("on", 2) {
        Some(true)
    } else if begins("false", 1) || begins("no", 1) || begins("off", 2) {
        Some(false)
    } else {
        None
    }
}

/// The nearest whole number.
fn whole(double: f64) -> Result<i64, Wrong> {
    let rounded = double.round_ties_even();
    // 2^63, the first that does not fit; its negative does.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&rounded) {
        Ok(rounded as i64)
    } else {
        let text = double_text(double);
        Err(Wrong::new(format!("bigint out of range: {text} cannot be converted to a 64-bit whole number")))
    }
}

/// As pgbench prints it, with C's `%.15g`: 15 significant digits without zeros at the end, with an exponent where that is shorter.
/// What is not finite is a word of PostgreSQL.
fn double_text(double: f64) -> String {
    const DIGITS: i32 = 15;
    if !double.is_finite() {
        let word = if double.is_nan() { "NaN" } else { "Infinity" };
        return format!("{}{word}", if double < 0.0 { "-" } else { "" });
    }
    let scientific = format!("{double:.14e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        without_zeros(&format!("{double:.*}", (DIGITS - 1 - exponent) as usize)).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", without_zeros(digits), exponent.abs())
    }
}

fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_value_has_its_text_in_sql() {
        for (value, text) in [
            (Value::Null, "NULL"),
            (Value::Boolean(true), "true"),
            (Value::Boolean(false), "false"),
            (Value::Integer(i64::MIN), "-9223372036854775808"),
            (Value::Text("it's".to_owned()), "it's"),
            (Value::Double(1.0), "1"),
            (Value::Double(0.1), "0.1"),
            (Value::Double(-2.5), "-2.5"),
            (Value::Double(1.0 / 3.0), "0.333333333333333"),
            (Value::Double(2.0 / 3.0), "0.666666666666667"),
            (Value::Double(100.0), "100"),
            (Value::Double(123_456_789_012_345.0), "123456789012345"),
            (Value::Double(1e15), "1e+15"),
            (Value::Double(999_999_999_999_999.9), "1e+15"),
            (Value::Double(1.5e300), "1.5e+300"),
            (Value::Double(0.0001), "0.0001"),
            (Value::Double(0.00001), "1e-05"),
            (Value::Double(0.0), "0"),
            (Value::Double(f64::INFINITY), "Infinity"),
            (Value::Double(f64::NEG_INFINITY), "-Infinity"),
            (Value::Double(f64::NAN), "NaN"),
        ] {
            assert_eq!(value.to_string(), text);
        }
    }

    #[test]
    fn text_counts_as_what_it_says() {
        for (text, scalar) in [
            ("5", Scalar::Integer(5)),
            (" -5 ", Scalar::Integer(-5)),
            ("+5", Scalar::Integer(5)),
            ("007", Scalar::Integer(7)),
            ("5.", Scalar::Double(5.0)),
            (".5", Scalar::Double(0.5)),
            ("1e3", Scalar::Double(1_000.0)),
            ("inf", Scalar::Double(f64::INFINITY)),
            ("-Infinity", Scalar::Double(f64::NEG_INFINITY)),
            ("null", Scalar::Null),
            ("NULL", Scalar::Null),
            ("t", Scalar::Boolean(true)),
            ("TRUE", Scalar::Boolean(true)),
            ("ye", Scalar::Boolean(true)),
            ("on", Scalar::Boolean(true)),
            ("f", Scalar::Boolean(false)),
            ("n", Scalar::Boolean(false)),
            ("No", Scalar::Boolean(false)),
            ("of", Scalar::Boolean(false)),
            ("off", Scalar::Boolean(false)),
        ] {
            assert_eq!(Scalar::read(text), Some(scalar), "{text}");
        }
        for other in
            ["", " ", "o", "abc", "truely", "1 2", "9223372036854775808", "1e999", "-", "--1", "0x10"]
        {
            assert_eq!(Scalar::read(other), None, "{other}");
        }
        assert!(matches!(Scalar::read("nan"), Some(Scalar::Double(nan)) if nan.is_nan()));
    }

    #[test]
    fn a_double_is_rounded_to_the_even_one_of_two() {
        for (double, whole) in [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (-1.5, -2), (9.2, 9)] {
            assert_eq!(Scalar::Double(double).integer(), Ok(whole), "{double}");
        }
        assert_eq!(Scalar::Double(-9_223_372_036_854_775_808.0).integer(), Ok(i64::MIN));
        for double in [9_223_372_036_854_775_808.0, f64::NAN, f64::INFINITY] {
            assert!(Scalar::Double(double).integer().unwrap_err().to_string().contains("out of range"));
        }
    }

    proptest! {
        /// Fifteen digits are the nearest to within half of the last.
        #[test]
        fn the_text_of_a_double_is_the_number(double in proptest::num::f64::NORMAL) {
            let read: f64 = double_text(double).parse().unwrap();
            prop_assert!(((read - double) / double).abs() <= 5.1e-15 || read.is_infinite(), "{double}: {read}");
        }
    }
}
