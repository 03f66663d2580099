//! Thresholds: what must hold for a study to pass, such as `p99_ms < 20` or `gain > 5 % at flush_rows = 1000`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{METRICS, Metric};

/// Name of the gain over the reference, in per cent of the metric that the study is about.
pub const GAIN: &str = "gain";

/// A bound on a metric. Its text is `metric < value`, with `<=`, `>` or `>=`, then ` at axis = level, …` where it is of
/// some levels only; `configuration` counts as an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Threshold {
    /// Metric, or [`GAIN`].
    pub metric: String,
    /// Which side is allowed.
    pub bound: Bound,
    /// The limit, in the metric's unit.
    pub limit: f64,
    /// Levels that it is of; empty means all.
    pub at: BTreeMap<String, String>,
}

/// Which side of a limit is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Less than the limit.
    Below,
    /// The limit at most.
    AtMost,
    /// More than the limit.
    Above,
    /// The limit at least.
    AtLeast,
}

/// A text that is not a threshold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// It lacks a part.
    #[error(
        "`{0}` is not a threshold: use METRIC, one of < <= > >=, and a number: \"p99_ms < 20\" or \"gain > 5%\""
    )]
    Form(String),
    /// There is no such metric.
    #[error("unknown metric `{given}`; {}", meant_or(given, &names()))]
    Metric {
        /// What was given.
        given: String,
    },
    /// A unit that the metric does not have.
    #[error("`{unit}` is not the unit of {metric}: {remedy}")]
    Unit {
        /// Metric.
        metric: String,
        /// What was given.
        unit: String,
        /// What to write.
        remedy: String,
    },
}

fn names() -> String {
    format!("{GAIN}, {}", names_of_metrics())
}

/// `iops, mb_per_s, …`.
pub(crate) fn names_of_metrics() -> String {
    let names = METRICS.iter().map(|metric| metric.name).collect::<Vec<_>>().join(", ");
    format!("{names}, and any percentile, such as p99.99_ms")
}

/// The metric that was meant by a name that lacks its unit, `p99_ms` by `p99`.
pub(crate) fn meant(given: &str) -> Option<&'static str> {
    let lacks_unit = |suffix: &&str| Metric::named(&format!("{given}{suffix}")).map(|metric| metric.name);
    let units = ["_ms", "_s", "_per_s", "_per_min", "_pct", "_mb", "_mib"];
    units.iter().find_map(lacks_unit)
}

/// `did you mean p99_ms?`, or all names where nothing tells which was meant.
pub(crate) fn meant_or(given: &str, all: &str) -> String {
    meant(given).map_or_else(|| format!("metrics are {all}"), |name| format!("did you mean `{name}`?"))
}

impl Threshold {
    /// The limit of a latency in microseconds that must not be passed; none of other thresholds.
    #[must_use]
    pub fn latency_limit_us(&self) -> Option<f64> {
        let is_above = matches!(self.bound, Bound::Above | Bound::AtLeast);
        let is_latency = Metric::named(&self.metric)
            .is_some_and(|metric| metric.percentile().is_some() || metric.name == "mean_ms");
        (is_latency && !is_above).then_some(self.limit * 1e3)
    }
}

impl Bound {
    const ALL: [(&'static str, Self); 4] =
        [("<=", Self::AtMost), (">=", Self::AtLeast), ("<", Self::Below), (">", Self::Above)];

    /// A text around the first sign of a bound in it: what stands before it, and what after.
    pub(crate) fn split(text: &str) -> Option<(&str, Self, &str)> {
        let found = Self::ALL.into_iter().filter_map(|(sign, bound)| Some((text.find(sign)?, sign, bound)));
        let (position, sign, bound) =
            found.min_by_key(|&(position, sign, _)| (position, std::cmp::Reverse(sign.len())))?;
        Some((&text[..position], bound, &text[position + sign.len()..]))
    }

    /// Whether a value is on the allowed side.
    #[must_use]
    pub fn allows(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
        }
    }

    /// Whether it bounds from above.
    #[must_use]
    pub fn is_upper(self) -> bool {
        matches!(self, Self::Below | Self::AtMost)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = Self::ALL.into_iter().find(|(_, bound)| bound == self).map_or("", |(sign, _)| sign);
        f.write_str(sign)
    }
}

impl Threshold {
    /// Unit of its limit.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        Metric::named(&self.metric).map_or("%", |metric| metric.unit)
    }

    /// Whether it is of this combination.
    #[must_use]
    pub fn is_of(&self, configuration: &str, levels: &BTreeMap<String, String>) -> bool {
        let has = |axis: &str| {
            levels.get(axis).map(String::as_str).or((axis == "configuration").then_some(configuration))
        };
        self.at.iter().all(|(axis, level)| has(axis) == Some(level))
    }

    /// Whether no value satisfies both.
    #[must_use]
    pub fn contradicts(&self, other: &Self) -> bool {
        let (upper, lower) = match (self.bound.is_upper(), other.bound.is_upper()) {
            (true, false) => (self, other),
            (false, true) => (other, self),
            _ => return false,
        };
        let apart =
            self.at.iter().any(|(axis, level)| other.at.get(axis).is_some_and(|other| other != level));
        let both_closed = upper.bound == Bound::AtMost && lower.bound == Bound::AtLeast;
        let empty = if both_closed { upper.limit < lower.limit } else { upper.limit <= lower.limit };
        self.metric == other.metric && !apart && empty
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { metric, bound, limit, at } = self;
        write!(f, "{metric} {bound} {limit}{}", if metric == GAIN { "%" } else { "" })?;
        for (position, (axis, level)) in at.iter().enumerate() {
            write!(f, "{} {axis} = {level}", if position == 0 { " at" } else { "," })?;
        }
        Ok(())
    }
}

impl From<Threshold> for String {
    fn from(threshold: Threshold) -> Self {
        threshold.to_string()
    }
}

impl TryFrom<String> for Threshold {
    type Error = ThresholdError;

    fn try_from(text: String) -> Result<Self, ThresholdError> {
        text.parse()
    }
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let form = || ThresholdError::Form(text.to_owned());
        let (bounded, at) = match text.split_once(" at ") {
            Some((bounded, at)) => (bounded, levels(at).ok_or_else(form)?),
            None => (text, BTreeMap::new()),
        };
        let (metric, bound, limit) = Bound::split(bounded).ok_or_else(form)?;
        let metric = metric.trim();
        let (limit, unit) = number(limit.trim()).ok_or_else(form)?;
        if metric != GAIN && Metric::named(metric).is_none() {
            return Err(ThresholdError::Metric { given: metric.to_owned() });
        }
        let threshold = Self { metric: metric.to_owned(), bound, limit, at };
        if unit.is_empty() || unit == threshold.unit() {
            return Ok(threshold);
        }
        Err(ThresholdError::Unit {
            remedy: format!("give the limit in {}, or the number alone", threshold.unit()),
            metric: threshold.metric,
            unit: unit.to_owned(),
        })
    }
}

/// `5 %` as 5 and `%`.
pub(crate) fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.eE_".contains(c))).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let limit: f64 = number.replace('_', "").parse().ok()?;
    limit.is_finite().then_some((limit, unit.trim()))
}

/// `memory = 32GiB, cpus = 4`.
fn levels(text: &str) -> Option<BTreeMap<String, String>> {
    let level = |part: &str| {
        let (axis, level) = part.split_once('=')?;
        let (axis, level) = (axis.trim(), level.trim());
        (!axis.is_empty() && !level.is_empty()).then(|| (axis.to_owned(), level.to_owned()))
    };
    let named: Vec<(String, String)> = text.split(',').map(level).collect::<Option<_>>()?;
    let count = named.len();
    let levels: BTreeMap<String, String> = named.into_iter().collect();
    (levels.len() == count).then_some(levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_read_as_it_is_written() {
        for text in [
            "p99_ms < 20",
            "gain > 5%",
            "gain >= -3%",
            "records_per_s >= 5100 at flush_rows = 40",
            "p999_ms <= 0.5 at configuration = RAID10 with cache, memory = 32GiB",
        ] {
            let threshold: Threshold = text.parse().unwrap();
            assert_eq!(threshold.to_string(), text);
        }
        let loose: Threshold = "p99_ms<20ms".parse().unwrap();
        assert_eq!(loose.to_string(), "p99_ms < 20");
        let tight: Threshold = "iops >= 14_000".parse().unwrap();
        assert_eq!((tight.bound, tight.limit), (Bound::AtLeast, 14_000.0));
    }

    #[test]
    fn what_is_no_threshold_is_refused_with_the_remedy() {
        let refused = |text: &str| text.parse::<Threshold>().unwrap_err().to_string();
        for text in
            ["", "p99_ms", "p99_ms = 20", "p99_ms < fast", "p99_ms < inf", "gain > 5% at flush_rows", "< 20"]
        {
            let told = refused(text);
            assert!(
                told.contains("is not a threshold") || told.contains("unknown metric ``"),
                "{text}: {told}"
            );
        }
        assert!(refused("p98 < 20").contains("unknown metric `p98`; did you mean `p98_ms`?"));
        assert!(refused("speed < 20").contains("unknown metric `speed`; metrics are gain, iops"));
        assert!(refused("p99_ms < 20 s").contains("`s` is not the unit of p99_ms: give the limit in ms"));
    }

    #[test]
    fn a_bound_includes_its_limit_only_where_it_says_so() {
        for (bound, below, at, above) in [
            (Bound::Below, true, false, false),
            (Bound::AtMost, true, true, false),
            (Bound::Above, false, false, true),
            (Bound::AtLeast, false, true, true),
        ] {
            assert_eq!([1.0, 2.0, 3.0].map(|value| bound.allows(value, 2.0)), [below, at, above], "{bound}");
        }
    }

    #[test]
    fn limits_that_no_value_satisfies_contradict_each_other() {
        let contradicts = |a: &str, b: &str| {
            let (a, b): (Threshold, Threshold) = (a.parse().unwrap(), b.parse().unwrap());
            assert_eq!(a.contradicts(&b), b.contradicts(&a));
            a.contradicts(&b)
        };
        assert!(contradicts("p99_ms < 20", "p99_ms > 30"));
        assert!(contradicts("p99_ms < 20", "p99_ms >= 20"));
        assert!(!contradicts("p99_ms <= 20", "p99_ms >= 20"));
        assert!(!contradicts("p99_ms < 20", "p99_ms < 30"));
        assert!(!contradicts("p99_ms < 20", "mean_ms > 30"));
        assert!(!contradicts("p99_ms < 20 at threads = 1", "p99_ms > 30 at threads = 2"));
        assert!(contradicts("p99_ms < 20", "p99_ms > 30 at threads = 2"));
    }

    #[test]
    fn a_threshold_at_a_level_is_of_that_level_alone() {
        let levels = BTreeMap::from([("threads".to_owned(), "4".to_owned())]);
        let is_of = |text: &str| text.parse::<Threshold>().unwrap().is_of("RAID10", &levels);
        assert!(is_of("p99_ms < 20"));
        assert!(is_of("p99_ms < 20 at threads = 4, configuration = RAID10"));
        assert!(!is_of("p99_ms < 20 at threads = 8"));
        assert!(!is_of("p99_ms < 20 at memory = 4"));
    }
}
