//! The identity of a run: what tells that something was made by this run, and not by another one under the same name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// 128 random bits, drawn once when a study begins and kept when it is taken up again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

/// Digits of an identity.
const DIGITS: usize = 32;

/// A text that is no identity of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid run identity `{0}`: use {DIGITS} hexadecimal digits")]
pub struct RunIdError(String);

impl RunId {
    /// A new one.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn new() -> std::io::Result<Self> {
        let mut bytes = [0; DIGITS / 2];
        let mut have = 0;
        while have < bytes.len() {
            have += rustix::rand::getrandom(&mut bytes[have..], rustix::rand::GetRandomFlags::empty())?;
        }
        Ok(u128::from_be_bytes(bytes).into())
    }

    /// Its digits, which can stand in any statement and any name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<u128> for RunId {
    fn from(number: u128) -> Self {
        Self(format!("{number:032x}"))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunId {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Self, RunIdError> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == DIGITS && text.bytes().all(is_digit) {
            Ok(Self(text.to_owned()))
        } else {
            Err(RunIdError(text.to_owned()))
        }
    }
}

impl TryFrom<String> for RunId {
    type Error = RunIdError;

    fn try_from(text: String) -> Result<Self, RunIdError> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(run: RunId) -> Self {
        run.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_runs_are_never_the_same() {
        assert_ne!(RunId::new().unwrap(), RunId::new().unwrap());
    }

    proptest! {
        #[test]
        fn an_identity_is_read_back(number: u128) {
            let run = RunId::from(number);
            prop_assert_eq!(run.as_str().parse::<RunId>(), Ok(run.clone()));
        }

        #[test]
        fn only_plain_digits_are_an_identity(text in "\\PC{0,40}") {
            let is_plain = text.len() == 32 && text.chars().all(|c| "0123456789abcdef".contains(c));
            prop_assert_eq!(text.parse::<RunId>().is_ok(), is_plain);
        }
    }
}
