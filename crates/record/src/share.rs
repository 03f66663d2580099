//! A share as people write it: `3 %`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A share of something, from nothing to all of it, as per cent: `3 %` is 0.03.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Share(f64);

/// A text that is no share.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a share: use per cent above 0 and up to 100, such as \"3%\"")]
pub struct ShareError(String);

impl Share {
    /// The share, above 0 and up to 1.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }
}

impl FromStr for Share {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        let share = number.map(|per_cent| per_cent / 100.0).filter(|share| *share > 0.0 && *share <= 1.0);
        share.map(Self).ok_or_else(|| ShareError(text.to_owned()))
    }
}

impl TryFrom<String> for Share {
    type Error = ShareError;

    fn try_from(text: String) -> Result<Self, ShareError> {
        text.parse()
    }
}

impl From<Share> for String {
    fn from(share: Share) -> Self {
        share.to_string()
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Per cent are written with few digits; what a product of doubles adds is cut off.
        let text = format!("{:.6}", self.0 * 100.0);
        write!(f, "{}%", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_and_written_as_per_cent() {
        for (text, value) in [("3 %", 0.03), ("2.5%", 0.025), (" 100 % ", 1.0), ("0.1 %", 0.001)] {
            let share: Share = text.parse().unwrap();
            assert!((share.value() - value).abs() < 1e-12, "{text}");
            assert_eq!(share.to_string().parse::<Share>().unwrap(), share, "{text}");
        }
        assert_eq!("7%".parse::<Share>().unwrap().to_string(), "7%");
        for wrong in ["3", "0.03", "0 %", "-3 %", "101 %", "% 3", "three %", "NaN %", ""] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }
}
