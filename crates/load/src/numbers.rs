//! Numbers that can be meant in two ways: those are asked back, whether they stand on the command line or as text in a study file.

use serde::Deserialize;

use crate::UnitError;

/// Seconds of the units that a rate can be of.
const EVERY_S: [(&str, f64); 3] = [("/s", 1.0), ("/min", 60.0), ("/h", 3600.0)];
const MINUTE_S: f64 = 60.0;

/// A rate in units of one each `every_s` seconds: as text with `/s`, `/min` or `/h`, or as a bare number, which has that unit.
fn rate(text: &str, every_s: f64) -> Result<f64, UnitError> {
    let problem =
        "is not a rate: use a number without a thousands separator, such as 500, 500/s or 30000/min";
    let trimmed = text.trim();
    let Some((bare, given_s)) =
        EVERY_S.iter().find_map(|(unit, given_s)| Some((trimmed.strip_suffix(unit)?, given_s)))
    else {
        return number(text, problem);
    };
    // By a whole number, so that nothing is lost to rounding.
    let rate = number(bare, problem).map_err(|error| error.of(text))?;
    Ok(if *given_s >= every_s { rate / (given_s / every_s) } else { rate * (every_s / given_s) })
}

/// How many times as much.
///
/// # Errors
/// When it is no number, or has a mark that may stand between thousands as well as before a fraction.
pub fn factor(text: &str) -> Result<f64, UnitError> {
    number(text, "is not a factor: use a number such as 10 or 0.5")
}

/// A finite number, or the problem that a text has that is none.
///
/// # Errors
/// As [`factor`].
pub fn number(text: &str, problem: &str) -> Result<f64, UnitError> {
    let trimmed = text.trim();
    if let Some((fraction, whole)) = both_readings(trimmed) {
        return Err(UnitError::new(text, format!("can mean {fraction} or {whole}: write one of these")));
    }
    let number = trimmed.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| UnitError::new(text, problem))
}

/// `3.700` as a number with a fraction and as one of thousands, each so that it cannot be the other.
fn both_readings(text: &str) -> Option<(String, String)> {
    let (before, after) = text.split_once(['.', ','])?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_both = (1..=3).contains(&before.len()) && after.len() == 3 && digits(before) && digits(after);
    if !is_both || before.starts_with('0') {
        return None;
    }
    let short = after.trim_end_matches('0');
    let fraction = match short.len() {
        0 => before.to_owned(),
        3 => format!("{before}.{after}0"),
        _ => format!("{before}.{short}"),
    };
    Some((fraction, format!("{before}{after}")))
}

/// Rates of which a bare number is one a second, for the command line and, as `#[serde(with)]`, for study files. There they are
/// written as bare numbers.
pub mod per_second {
    use serde::{Deserializer, Serializer};

    use super::UnitError;

    /// `500`, `500/s` or `30000/min`.
    ///
    /// # Errors
    /// As [`factor`](super::factor).
    pub fn parse(text: &str) -> Result<f64, UnitError> {
        super::rate(text, 1.0)
    }

    /// As a number.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(rate: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        serde::Serialize::serialize(rate, serializer)
    }

    /// From a number or a text.
    ///
    /// # Errors
    /// Those of [`parse`].
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        super::Given::read(deserializer, parse)
    }
}

/// The same of which a bare number is one a minute.
pub mod per_minute {
    use serde::Deserializer;

    pub use super::per_second::serialize;
    use super::{MINUTE_S, UnitError};

    /// `30000`, `30000/min` or `500/s`.
    ///
    /// # Errors
    /// As [`factor`](super::factor).
    pub fn parse(text: &str) -> Result<f64, UnitError> {
        super::rate(text, MINUTE_S)
    }

    /// From a number or a text.
    ///
    /// # Errors
    /// Those of [`parse`].
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        super::Given::read(deserializer, parse)
    }
}

/// A number of a study file, or a text that says more of it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Given {
    Number(f64),
    Text(String),
}

impl Given {
    fn read<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
        parse: impl Fn(&str) -> Result<f64, UnitError>,
    ) -> Result<Option<f64>, D::Error> {
        let number = Option::<Self>::deserialize(deserializer)?.map(|given| match given {
            Self::Number(number) => Ok(number),
            Self::Text(text) => parse(&text),
        });
        number.transpose().map_err(serde::de::Error::custom)
    }
}

/// Shares in per cent, for the command line and, as `#[serde(with)]`, for study files. One below 1 may be meant as a part of 1: it
/// has to say so by a per cent sign, and is written with it.
pub mod per_cent {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Given, UnitError, number};

    /// `70`, `70 %` or `0.7%`.
    ///
    /// # Errors
    /// When it is no number, or lies between 0 and 1 without a sign.
    pub fn parse(text: &str) -> Result<f64, UnitError> {
        let problem = "is not a share: use per cent, such as 70 or 0.7%";
        match text.trim().strip_suffix('%') {
            Some(share) => number(share, problem),
            None => said(number(text, problem)?, text),
        }
    }

    fn said(share: f64, text: &str) -> Result<f64, UnitError> {
        if share > 0.0 && share < 1.0 {
            // Of no more digits than were given.
            let whole = (share * 1e8).round() / 1e6;
            return Err(UnitError::new(
                text,
                format!("can mean {share}% or {whole}%: write {share}% or {whole}"),
            ));
        }
        Ok(share)
    }

    /// As a number where that cannot be misread.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(share: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        match share {
            None => serializer.serialize_none(),
            Some(share) if *share > 0.0 && *share < 1.0 => serializer.collect_str(&format_args!("{share}%")),
            Some(share) => serializer.serialize_f64(*share),
        }
    }

    /// From a number or a text.
    ///
    /// # Errors
    /// Those of [`parse`].
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        let share = Option::<Given>::deserialize(deserializer)?.map(|given| match given {
            Given::Number(share) => said(share, &share.to_string()),
            Given::Text(text) => parse(&text),
        });
        share.transpose().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 0.7 was 0.7 %, and 3.700 was 3.7 a second, without a word.
    #[test]
    fn what_can_be_meant_in_two_ways_is_asked_back() {
        for (text, readings) in [
            ("3.700", "`3.700` can mean 3.7 or 3700:"),
            ("3,700", "`3,700` can mean 3.7 or 3700:"),
            ("60.000", "`60.000` can mean 60 or 60000:"),
            ("3.725", "`3.725` can mean 3.7250 or 3725:"),
        ] {
            let told = per_second::parse(text).unwrap_err().to_string();
            assert!(told.starts_with(readings), "{told}");
        }
        assert_eq!(
            per_cent::parse("0.7").unwrap_err().to_string(),
            "`0.7` can mean 0.7% or 70%: write 0.7% or 70"
        );
        assert!(per_cent::parse("7.000").is_err());
        for wrong in ["abc", "", "1.000.000", "NaN", "inf", "5 000"] {
            let told = per_second::parse(wrong).unwrap_err().to_string();
            assert!(told.contains("is not a rate: use a number without a thousands separator"), "{told}");
        }
    }

    #[test]
    fn what_is_clear_is_taken() {
        for (text, number) in
            [("3700", 3_700.0), ("3.7", 3.7), ("0.125", 0.125), ("3.7250", 3.725), ("1e6", 1e6), (" 5 ", 5.0)]
        {
            assert_eq!(per_second::parse(text), Ok(number), "{text}");
            assert_eq!(per_minute::parse(text), Ok(number), "{text}");
        }
        for (text, share) in
            [("70", 70.0), ("0.7%", 0.7), ("70 %", 70.0), ("0", 0.0), ("1", 1.0), ("2.5", 2.5)]
        {
            assert_eq!(per_cent::parse(text), Ok(share), "{text}");
        }
    }

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Given {
        #[serde(with = "per_cent")]
        share: Option<f64>,
    }

    proptest! {
        #[test]
        fn a_share_that_is_stored_is_read_back(share in prop::option::of(0.0..100.0_f64)) {
            let given = Given { share };
            let stored = serde_json::to_string(&given).unwrap();
            prop_assert_eq!(serde_json::from_str::<Given>(&stored).unwrap(), given);
        }

        /// Whatever the unit, it is the same rate: a load of 500 a second was asked for as 500 on one command and as 30,000 on
        /// another.
        #[test]
        fn a_rate_with_a_unit_is_the_same_on_every_command(rate in 1..1_000_000_u32) {
            let rate = f64::from(rate);
            prop_assert_eq!(per_second::parse(&format!("{rate}/s")), Ok(rate));
            prop_assert_eq!(per_minute::parse(&format!("{rate}/s")), Ok(rate * 60.0));
            prop_assert_eq!(per_minute::parse(&format!("{rate}/min")), Ok(rate));
            prop_assert_eq!(per_second::parse(&format!("{} /min", rate * 60.0)), Ok(rate));
            prop_assert_eq!(per_minute::parse(&format!("{}/h", rate * 60.0)), Ok(rate));
        }

        #[test]
        fn each_reading_that_is_offered_is_taken(before in 1..999_u32, after in 0..1000_u32) {
            let (fraction, whole) = both_readings(&format!("{before}.{after:03}")).unwrap();
            prop_assert_eq!(per_second::parse(&fraction), Ok(f64::from(before * 1000 + after) / 1e3));
            prop_assert_eq!(per_second::parse(&whole), Ok(f64::from(before * 1000 + after)));
        }
    }
}
