//! Limits of a change between two measurements, such as `p99_ms > +10 %`: what must not be.

use std::fmt;
use std::str::FromStr;

use crate::threshold::{meant_or, names_of_metrics, number};
use crate::{Bound, Metric};

/// A change of a metric that must not be. Its text is `metric > +value`, with `>=`, `<` or `<=`; the value has a sign, and is a share of
/// the first measurement in per cent where it has `%`, else a difference in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeLimit {
    /// Metric.
    pub metric: &'static Metric,
    /// Which side of the limit must not be.
    pub bound: Bound,
    /// The limit, in per cent or in the metric's unit; positive is more of the metric, better or not.
    pub limit: f64,
    /// Whether it is in per cent.
    pub in_per_cent: bool,
}

/// A text that is not a limit of a change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeLimitError {
    /// It lacks a part.
    #[error(
        "`{0}` is not a limit of a change: use a metric, < <= > or >=, and a signed number, as in \"p99_ms > +10%\""
    )]
    Form(String),
    /// The number has no sign, and may be meant as a limit of the value itself.
    #[error(
        "`{0}` has no sign: this limits a change, so write + for more or - for less, as in \"p99_ms > +10%\""
    )]
    Sign(String),
    /// There is no such metric.
    #[error("unknown metric `{given}`; {}", meant_or(given, &names_of_metrics()))]
    Metric {
        /// What was given.
        given: String,
    },
    /// A unit that the metric does not have.
    #[error("`{unit}` is not the unit of {metric}: give the change in {own}, in %, or the number alone")]
    Unit {
        /// Metric.
        metric: &'static str,
        /// What was given.
        unit: String,
        /// The metric's unit.
        own: &'static str,
    },
}

impl ChangeLimit {
    /// Unit of its limit.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        if self.in_per_cent { "%" } else { self.metric.unit }
    }
}

impl fmt::Display for ChangeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit();
        let blank = if unit == "%" { "" } else { " " };
        write!(f, "{} {} {:+}{blank}{unit}", self.metric.name, self.bound, self.limit)
    }
}

impl FromStr for ChangeLimit {
    type Err = ChangeLimitError;

    fn from_str(text: &str) -> Result<Self, ChangeLimitError> {
        let form = || ChangeLimitError::Form(text.to_owned());
        let (metric, bound, limit) = Bound::split(text).ok_or_else(form)?;
        let (metric, limit) = (metric.trim(), limit.trim().replace('−', "-"));
        let (value, unit) = number(&limit).ok_or_else(form)?;
        let metric =
            Metric::named(metric).ok_or_else(|| ChangeLimitError::Metric { given: metric.to_owned() })?;
        if !limit.starts_with(['+', '-']) {
            return Err(ChangeLimitError::Sign(text.to_owned()));
        }
        if !["", "%", metric.unit].contains(&unit) {
            let (metric, own) = (metric.name, metric.unit);
            return Err(ChangeLimitError::Unit { metric, unit: unit.to_owned(), own });
        }
        Ok(Self { metric, bound, limit: value, in_per_cent: unit == "%" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_read_as_it_is_written() {
        for text in [
            "p99_ms > +10%",
            "iops < -5%",
            "p99_ms >= +2.5 ms",
            "error_share > +0 share",
            "iops <= -100 I/O/s",
        ] {
            let limit: ChangeLimit = text.parse().unwrap();
            assert_eq!(limit.to_string(), text);
        }
        let loose: ChangeLimit = "p99_ms>+2".parse().unwrap();
        assert_eq!((loose.to_string().as_str(), loose.in_per_cent), ("p99_ms > +2 ms", false));
        let typeset: ChangeLimit = "iops < −5%".parse().unwrap();
        assert_eq!((typeset.limit, typeset.in_per_cent), (-5.0, true));
    }

    #[test]
    fn what_is_no_limit_of_a_change_is_refused_with_the_remedy() {
        let refused = |text: &str| text.parse::<ChangeLimit>().unwrap_err().to_string();
        for text in ["", "p99_ms", "p99_ms = +20 %", "p99_ms > fast", "p99_ms > +inf"] {
            assert!(refused(text).contains("is not a limit of a change"), "{text}: {}", refused(text));
        }
        assert!(refused("p99_ms > 20%").contains("has no sign: this limits a change"));
        assert!(refused("latency > +20 %").contains("unknown metric `latency`; metrics are iops, mb_per_s"));
        // 41 metrics were listed, and the one that was meant was not seen among them.
        for (given, meant) in
            [("p99", "p99_ms"), ("p98", "p98_ms"), ("mean", "mean_ms"), ("records", "records_per_s")]
        {
            let told = refused(&format!("{given} > +20 %"));
            assert_eq!(told, format!("unknown metric `{given}`; did you mean `{meant}`?"));
        }
        assert!(refused("gain > +20 %").contains("unknown metric `gain`"));
        assert!(
            refused("p99_ms > +20 s").contains("`s` is not the unit of p99_ms: give the change in ms, in %")
        );
    }
}
