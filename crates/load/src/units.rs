//! Sizes and durations as people write them: `64KiB`, `1GB`, `500ms`, `2m`.

use std::fmt;
use std::str::FromStr;

/// A text that is no size or no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` {problem}")]
pub struct UnitError {
    given: String,
    problem: String,
}

impl UnitError {
    pub(crate) fn new(given: &str, problem: impl Into<String>) -> Self {
        Self { given: given.to_owned(), problem: problem.into() }
    }

    /// The same where another word may be given too.
    #[must_use]
    pub fn or(self, word: &str) -> Self {
        Self { problem: format!("{}; or {word}", self.problem), ..self }
    }

    /// The same of the text that this one was a part of.
    pub(crate) fn of(self, given: &str) -> Self {
        Self { given: given.to_owned(), ..self }
    }
}

const SIZE_FORM: &str =
    "is not a size: use a number with KiB, MiB, GiB, TiB (powers of 1024, also K, M, G, T) or KB, MB, GB, TB";
const SPAN_FORM: &str = "is not a duration: use a number with ms, s, m or h, such as 500ms, 30s, 2m or 1h30m";

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub u64);

const BINARY_UNITS: [(&str, u64); 4] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

impl Size {
    /// So many KiB.
    #[must_use]
    pub const fn kib(number: u64) -> Self {
        Self(number << 10)
    }

    /// So many MiB.
    #[must_use]
    pub const fn mib(number: u64) -> Self {
        Self(number << 20)
    }

    fn unit_bytes(unit: &str) -> Option<u64> {
        let (power, base) = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => (0, 1),
            "k" | "kib" => (1, 1024),
            "m" | "mib" => (2, 1024),
            "g" | "gib" => (3, 1024),
            "t" | "tib" => (4, 1024),
            "kb" => (1, 1000),
            "mb" => (2, 1000),
            "gb" => (3, 1000),
            "tb" => (4, 1000),
            _ => return None,
        };
        Some(u64::pow(base, power))
    }
}

impl FromStr for Size {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError::new(text, SIZE_FORM);
        let trimmed = text.trim();
        let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits);
        let unit = Self::unit_bytes(unit.trim()).ok_or_else(error)?;
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(unit).map(Self).ok_or_else(error);
        }
        let bytes = number.parse::<f64>().map_err(|_| error())? * unit as f64;
        // A fraction of a byte is a slip of the pen, not a size.
        let is_whole = bytes.fract() == 0.0 && (0.0..9e15).contains(&bytes);
        if is_whole { Ok(Self(bytes as u64)) } else { Err(error()) }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, bytes) in BINARY_UNITS {
            if self.0 >= bytes && self.0.is_multiple_of(bytes) {
                return write!(f, "{}{name}", self.0 / bytes);
            }
        }
        write!(f, "{}B", self.0)
    }
}

/// A duration, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Nanoseconds.
    pub ns: u64,
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self { ns: 0 };

    /// So many seconds.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self { ns: seconds * 1_000_000_000 }
    }

    /// So many microseconds.
    #[must_use]
    pub const fn microseconds(microseconds: u64) -> Self {
        Self { ns: microseconds * 1_000 }
    }

    /// In seconds.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.ns as f64 / 1e9
    }
}

impl FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError::new(text, SPAN_FORM);
        if text.trim() == "0" {
            return Ok(Self::ZERO);
        }
        if text.trim().parse::<f64>().is_ok_and(|number| number > 0.0) {
            let number = text.trim();
            let which = format!("has no unit: {number}s, {number}m, {number}h or {number}ms?");
            return Err(UnitError::new(text, which));
        }
        let duration: jiff::SignedDuration = text.trim().parse().map_err(|_| error())?;
        u64::try_from(duration.as_nanos()).map(|ns| Self { ns }).map_err(|_| error())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ns == 0 {
            return f.write_str("0s");
        }
        let mut rest = self.ns;
        for (unit, ns) in [
            ("h", 3_600_000_000_000),
            ("m", 60_000_000_000),
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
            ("us", 1_000),
            ("ns", 1),
        ] {
            if rest >= ns {
                write!(f, "{}{unit}", rest / ns)?;
                rest %= ns;
            }
        }
        Ok(())
    }
}

/// Serde by `Display` and `FromStr`, for values that a study file spells as text.
#[macro_export]
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text: String = serde::Deserialize::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

serde_as_text!(Size);

impl serde::Serialize for Span {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From a text; a bare number is asked for its unit.
impl<'de> serde::Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Given {
            Text(String),
            Number(f64),
        }
        let text = match serde::Deserialize::deserialize(deserializer)? {
            Given::Text(text) => text,
            Given::Number(number) => number.to_string(),
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_as_storage_people_mean_them() {
        for (text, bytes) in [
            ("8k", 8192),
            ("8KiB", 8192),
            ("8kb", 8000),
            ("1.5 MiB", 1_572_864),
            ("1GB", 1_000_000_000),
            ("512", 512),
            ("2T", 2 << 40),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for text in ["", "k", "8 apples", "-8k", "0.3", "99999999999T", "1e3"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, ns) in [
            ("5s", 5_000_000_000),
            ("500ms", 500_000_000),
            ("1h30m", 5_400_000_000_000),
            ("100us", 100_000),
            ("0", 0),
        ] {
            assert_eq!(text.parse(), Ok(Span { ns }), "{text}");
        }
        for text in ["", "s", "-5s", "5 parsecs", "NaN", "-5"] {
            assert!(text.parse::<Span>().unwrap_err().to_string().contains("such as 500ms"), "{text}");
        }
        for text in ["5", "1.5"] {
            let asked = format!("`{text}` has no unit: {text}s, {text}m, {text}h or {text}ms?");
            assert_eq!(text.parse::<Span>().unwrap_err().to_string(), asked);
            assert!(serde_json::from_str::<Span>(text).unwrap_err().to_string().contains(&asked));
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(number in any::<u64>()) {
            prop_assert_eq!(Size(number).to_string().parse(), Ok(Size(number)));
            let span = Span { ns: number >> 2 };
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }

        #[test]
        fn any_text_is_an_answer_or_an_error(text in ".{0,20}") {
            let _ = text.parse::<Size>();
            let _ = text.parse::<Span>();
        }
    }
}
