//! Patterns of LIKE that every engine reads alike: `%` is any text, `_` any character.
//!
//! Engines differ in capitals, in what escapes and in brackets. So a pattern has none of these, and neither have the names.

use std::fmt;
use std::str::FromStr;

/// A pattern of names of departments or classifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "pattern `{pattern}`: engines interpret {found:?} differently; use only a-z, 0-9, `-` and `.`, with the wildcards `%` (any text) and `_` (any character)"
)]
pub struct PatternError {
    pattern: String,
    found: char,
}

impl Pattern {
    /// What every name matches.
    #[must_use]
    pub fn any() -> Self {
        Self("%".to_owned())
    }

    /// As it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a whole name is of this pattern.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut at, mut seen) = (0, 0);
        // Where the last `%` stands, and how much of the name it has taken.
        let mut any: Option<(usize, usize)> = None;
        while seen < name.len() {
            match (pattern.get(at), any) {
                (Some(b'%'), _) => {
                    any = Some((at, seen));
                    at += 1;
                }
                (Some(sign), _) if *sign == b'_' || *sign == name[seen] => {
                    at += 1;
                    seen += 1;
                }
                (_, Some((begin, taken))) => {
                    any = Some((begin, taken + 1));
                    at = begin + 1;
                    seen = taken + 1;
                }
                (_, None) => return false,
            }
        }
        pattern[at..].iter().all(|sign| *sign == b'%')
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let is_read_alike = |sign: &char| matches!(sign, 'a'..='z' | '0'..='9' | '-' | '.' | '%' | '_');
        match text.chars().find(|sign| !is_read_alike(sign)) {
            Some(found) => Err(PatternError { pattern: text.to_owned(), found }),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

load::serde_as_text!(Pattern);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By the definition, in exponential time.
    fn by_definition(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern, name) {
            ([], name) => name.is_empty(),
            ([b'%', rest @ ..], name) => (0..=name.len()).any(|taken| by_definition(rest, &name[taken..])),
            ([sign, rest @ ..], [first, others @ ..]) => {
                (*sign == b'_' || sign == first) && by_definition(rest, others)
            }
            (_, []) => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn a_name_matches_as_like_is_defined(pattern in "[ab%_]{0,7}", name in "[ab]{0,8}") {
            let expected = by_definition(pattern.as_bytes(), name.as_bytes());
            prop_assert_eq!(pattern.parse::<Pattern>().unwrap().matches(&name), expected);
        }
    }

    #[test]
    fn what_engines_read_differently_is_refused() {
        for (text, found) in [("Sales%", 'S'), ("a\\%", '\\'), ("[ab]%", '['), ("a b", ' '), ("é", 'é')] {
            let error = text.parse::<Pattern>().unwrap_err();
            assert_eq!(error, PatternError { pattern: text.to_owned(), found });
        }
    }
}
