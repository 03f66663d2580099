//! When a device counts as quiet.

use std::fmt;
use std::str::FromStr;

use load::Size;

/// What a device is below when it is quiet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quiet {
    /// Share (0–1) of the time in which it had something to do.
    Busy(f64),
    /// Bytes a second that went to and from it.
    Bytes(Size),
}

/// A text that says nothing of the kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid limit `{0}` for a quiet device. Give the share of busy time, for example 5%, or bytes per \
     second, for example 1MiB"
)]
pub struct QuietError(String);

impl FromStr for Quiet {
    type Err = QuietError;

    fn from_str(text: &str) -> Result<Self, QuietError> {
        let error = || QuietError(text.to_owned());
        match text.trim().strip_suffix('%') {
            Some(number) => {
                let per_cent = number.trim().parse::<f64>().ok();
                let per_cent = per_cent.filter(|per_cent| *per_cent > 0.0 && *per_cent < 100.0);
                per_cent.map(|per_cent| Self::Busy(per_cent / 100.0)).ok_or_else(error)
            }
            None => text.parse().ok().filter(|size: &Size| size.0 > 0).map(Self::Bytes).ok_or_else(error),
        }
    }
}

impl fmt::Display for Quiet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(share) => write!(f, "{}%", (share * 1e6).round() / 1e4),
            Self::Bytes(size) => size.fmt(f),
        }
    }
}

load::serde_as_text!(Quiet);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_or_a_number_of_bytes_is_read_and_written() {
        for text in ["5%", "0.5%", "99.9%", "1MiB", "512B"] {
            assert_eq!(text.parse::<Quiet>().unwrap().to_string(), text);
        }
        assert_eq!("5%".parse(), Ok(Quiet::Busy(0.05)));
        assert_eq!("1MiB".parse(), Ok(Quiet::Bytes(Size::mib(1))));
        for wrong in ["0%", "100%", "-1%", "NaN%", "0B", "soon", ""] {
            let error = wrong.parse::<Quiet>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{wrong}`")) && error.contains("1MiB"), "{error}");
        }
    }
}
