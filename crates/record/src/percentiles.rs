//! The percentiles that a reader asks for: a list such as `50,99,99.99`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Metric, PERCENTILES};

/// More columns than this fit nowhere.
const PERCENTILES_MOST: usize = 8;
/// Digits behind the point: the next ones would take a hundred million operations.
const DECIMALS_MOST: usize = 4;

/// A percentile of the latency, in per cent, between 0 and 100.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
pub struct Percentile(f64);

/// Percentiles that are shown, in rising order and each once; those of a [`crate::Summary`] unless others are asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Given", into = "Vec<f64>")]
pub struct Percentiles(Vec<Percentile>);

/// A text that is no list of percentiles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PercentileError {
    /// It is no number.
    #[error(
        "`{0}` is not a percentile: use numbers between 0 and 100, separated by commas, such as 50,99,99.99"
    )]
    Form(String),
    /// It is none of a distribution.
    #[error("`{0}` is not between 0 and 100; reports always show the shortest and the longest latency")]
    Range(String),
    /// So fine that no run tells it.
    #[error(
        "`{0}` has more than four decimal places, and would need a hundred million operations: give at most four decimal places"
    )]
    Fine(String),
    /// More than there is room for.
    #[error("{0} percentiles are more than there is room for: give at most eight")]
    Many(usize),
}

impl Percentile {
    /// The share in per cent.
    #[must_use]
    pub fn per_cent(self) -> f64 {
        self.0
    }

    /// `p99.99`.
    #[must_use]
    pub fn name(self) -> String {
        format!("p{}", self.0)
    }

    /// Its metric, such as `p99.99_ms`.
    #[must_use]
    pub fn metric(self) -> &'static Metric {
        Metric::of_percentile(self)
    }

    /// Whether every summary has it.
    #[must_use]
    pub fn is_common(self) -> bool {
        PERCENTILES.contains(&self.0)
    }
}

impl Percentiles {
    /// The percentiles in rising order.
    pub fn iter(&self) -> impl Iterator<Item = Percentile> + '_ {
        self.0.iter().copied()
    }

    /// These and others.
    #[must_use]
    pub fn and(&self, others: impl IntoIterator<Item = Percentile>) -> Self {
        Self::sorted(self.iter().chain(others).collect())
    }

    fn sorted(mut all: Vec<Percentile>) -> Self {
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.dedup();
        Self(all)
    }
}

impl Default for Percentiles {
    fn default() -> Self {
        Self(PERCENTILES.map(Percentile).to_vec())
    }
}

impl FromStr for Percentile {
    type Err = PercentileError;

    fn from_str(text: &str) -> Result<Self, PercentileError> {
        let given = text.trim();
        let number = given.strip_prefix('p').unwrap_or(given);
        let is_decimal = number.chars().all(|c| c.is_ascii_digit() || c == '.');
        let value: f64 = number
            .parse()
            .ok()
            .filter(|_| is_decimal)
            .ok_or_else(|| PercentileError::Form(given.to_owned()))?;
        if value <= 0.0 || value >= 100.0 {
            return Err(PercentileError::Range(given.to_owned()));
        }
        let decimals = number.split_once('.').map_or(0, |(_, behind)| behind.trim_end_matches('0').len());
        if decimals > DECIMALS_MOST { Err(PercentileError::Fine(given.to_owned())) } else { Ok(Self(value)) }
    }
}

impl FromStr for Percentiles {
    type Err = PercentileError;

    fn from_str(text: &str) -> Result<Self, PercentileError> {
        let all: Vec<Percentile> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let all = Self::sorted(all);
        if all.0.len() > PERCENTILES_MOST { Err(PercentileError::Many(all.0.len())) } else { Ok(all) }
    }
}

impl fmt::Display for Percentiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.iter().map(|percentile| percentile.0.to_string()).collect();
        f.write_str(&all.join(","))
    }
}

/// As a study file or a manifest has it: a list of numbers, or a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Given {
    Text(String),
    Numbers(Vec<f64>),
}

impl TryFrom<Given> for Percentiles {
    type Error = PercentileError;

    fn try_from(given: Given) -> Result<Self, PercentileError> {
        match given {
            Given::Text(text) => text.parse(),
            Given::Numbers(numbers) => {
                numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",").parse()
            }
        }
    }
}

impl From<Percentiles> for Vec<f64> {
    fn from(percentiles: Percentiles) -> Self {
        percentiles.iter().map(Percentile::per_cent).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threshold;

    fn told(text: &str) -> String {
        text.parse::<Percentiles>().map_or_else(|error| error.to_string(), |all| all.to_string())
    }

    #[test]
    fn a_list_is_sorted_and_has_each_once() {
        assert_eq!(told("99.99, 50,99,p50,99.0"), "50,99,99.99");
        assert_eq!(Percentiles::default().to_string(), "50,95,99,99.9");
        let json = serde_json::to_string(&"99.99,50".parse::<Percentiles>().unwrap()).unwrap();
        assert_eq!(json, "[50.0,99.99]");
        assert_eq!(serde_json::from_str::<Percentiles>(&json).unwrap().to_string(), "50,99.99");
        assert_eq!(serde_json::from_str::<Percentiles>("\"99.99\"").unwrap().to_string(), "99.99");
    }

    #[test]
    fn what_is_no_list_is_refused_with_the_remedy() {
        for text in ["", "50,", "fast", "1e1", "-5", "50;99", "nan", "inf", "."] {
            assert!(
                told(text).contains("numbers between 0 and 100, separated by commas"),
                "{text}: {}",
                told(text)
            );
        }
        for text in ["0", "100", "101", "999", "0.0"] {
            assert!(told(text).contains("is not between 0 and 100"), "{text}: {}", told(text));
        }
        assert!(told("99.99999").contains("more than four decimal places"));
        assert!(told("1,2,3,4,5,6,7,8,9").contains("9 percentiles are more"));
    }

    #[test]
    fn each_percentile_is_a_metric() {
        let metric = Metric::named("p99.99_ms").unwrap();
        assert_eq!(
            (metric.name, metric.unit, metric.says),
            ("p99.99_ms", "ms", "99.99th percentile of the latency")
        );
        assert!(std::ptr::eq(metric, Metric::named("p99.99_ms").unwrap()), "it is one and the same");
        assert_eq!(Metric::named("p99.9_ms").unwrap().name, "p999_ms", "one that has a name already");
        assert_eq!(Metric::named("p99.0_ms").unwrap().name, "p99_ms");
        assert_eq!(Metric::named("p91_ms").unwrap().says, "91st percentile of the latency");
        for name in ["p100_ms", "p0_ms", "p9999_ms", "p99.99", "p_ms", "px_ms", "pp50_ms"] {
            assert!(Metric::named(name).is_none(), "{name}");
        }
        let threshold: Threshold = "p99.99_ms < 20ms".parse().unwrap();
        assert_eq!(threshold.to_string(), "p99.99_ms < 20");
    }
}
