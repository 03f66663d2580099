//! Parameters of the order store's load as a user gives them: on the command line, in the environment, in a study file.
//!
//! Keys are the names of DVD Store's driver; its names for what every command has, such as the duration, are aliases on the
//! command line. Everything is optional here, so that layers can be laid over each other;
//! [`super::Job`] is what they come to. The text of `--help`, of the manual and of the study file's keys is the
//! documentation of these fields.

use std::fmt;
use std::str::FromStr;

use load::Span;
use serde::{Deserialize, Serialize};

use super::size::StoreSize;

/// Parameters of the load on order stores. What is not given comes from the defaults named here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Clients of each target, each with a connection of its own [default: 1]
    #[arg(long = "clients", visible_alias = "n-threads", value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_threads: Option<u32>,

    /// Clients of a target that begin to order each second, until all do [default: 10]
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub ramp_rate: Option<f64>,

    /// Time that a client thinks after an order: uniform from nothing to twice this [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<Span>,

    /// Longest pause before what was in a deadlock is tried again, uniform from nothing to this, within its response time
    /// [default: 1ms, twice as long after each further one, up to 1s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlock_pause: Option<Span>,

    /// Orders due a minute, or with a unit: 30000/min, 500/s; all targets together, whatever becomes of them. Without it each
    /// client orders again when its last order is done
    #[arg(long, value_name = "PER_MINUTE", help_heading = "Load", value_parser = load::per_minute::parse)]
    #[serde(with = "load::per_minute", skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,

    /// With --rate: orders come as independent customers would send them (Poisson) instead of evenly spaced
    #[arg(long, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<bool>,

    /// Share of the CPU at which the server is held by the number of clients that order, such as 60%. It is what the server itself
    /// uses of the processors that it may use: of a started server within its limits, else of this machine's, on which it must be.
    /// Where its processes cannot be seen, all that the load does not use counts, other programs too, and the report says so
    #[arg(long, value_name = "SHARE", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_target: Option<CpuTarget>,

    /// Load that does not count, before the measured window [default: 1m, or as long as the ramp takes]
    #[arg(long = "warm-up", visible_alias = "warmup-time", value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup_time: Option<Span>,

    /// Length of the measured window [default: 5m]
    #[arg(long = "duration", visible_alias = "run-time", value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_time: Option<Span>,

    /// Seed of all random choices [default: 42]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,

    /// Share of orders of customers who are new, in per cent [default: 20]
    #[arg(long, value_name = "PER_CENT", help_heading = "Orders", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub pct_newcustomers: Option<f64>,

    /// Mean number of browses of an order [default: 3]
    #[arg(long, value_name = "NUMBER", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_searches: Option<u32>,

    /// Mean number of products that a browse asks for [default: 5]
    #[arg(long, value_name = "NUMBER", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_batch_size: Option<u32>,

    /// Mean number of products of a cart, which has 10 at most [default: 5]
    #[arg(long, value_name = "NUMBER", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_line_items: Option<u32>,

    /// Whether operations are procedures in the database (on) or prepared statements (off) [default: on where the engine
    /// has procedures]
    #[arg(long, value_name = "ON_OR_OFF", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub procedures: Option<Procedures>,

    /// Size that the stores must have, such as 10MB [default: whatever was loaded]
    #[arg(long, value_name = "SIZE", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<StoreSize>,

    /// Seed that the rows of the stores must have, as `prony orders load --seed` had it [default: whatever was loaded]
    #[arg(long, value_name = "NUMBER", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_seed: Option<u64>,
}

/// Whether operations are procedures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Procedures {
    /// Each is a call of a procedure in the database.
    On,
    /// Each is prepared statements.
    Off,
}

/// Share of the CPU at which a server is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTarget(
    /// Share, 0–1.
    pub f64,
);

/// A text that is no share of the CPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no share of the CPU: give per cent from 1% to 99%, such as 60%")]
pub struct CpuTargetError(String);

impl FromStr for CpuTarget {
    type Err = CpuTargetError;

    fn from_str(text: &str) -> Result<Self, CpuTargetError> {
        let per_cent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        per_cent
            .filter(|per_cent| (1.0..=99.0).contains(per_cent))
            .map(|per_cent| Self(per_cent / 100.0))
            .ok_or_else(|| CpuTargetError(text.to_owned()))
    }
}

impl fmt::Display for CpuTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", (self.0 * 1e6).round() / 1e4)
    }
}

load::serde_as_text!(CpuTarget);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_cpu_is_read_and_written() {
        for text in ["60%", "1%", "12.5%", "99%"] {
            assert_eq!(text.parse::<CpuTarget>().unwrap().to_string(), text);
        }
        for wrong in ["60", "0.6", "0%", "100%", "-5%", "%", "NaN%"] {
            let error = wrong.parse::<CpuTarget>().unwrap_err().to_string();
            assert!(error.contains(wrong) && error.contains("60%"), "{error}");
        }
    }
}
