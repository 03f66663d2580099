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
    /// Clients per target, each with its own connection [default: 1]
    #[arg(short = 'c', long = "clients", alias = "n-threads", value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_threads: Option<u32>,

    /// Clients per target that start per second [default: 10]
    #[arg(long, hide_short_help = true, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub ramp_rate: Option<f64>,

    /// Mean wait between orders of a client [default: 0s]
    ///
    /// Waits are uniformly distributed, from zero to twice this time.
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<Span>,

    /// Longest wait before a retry after a deadlock [default: 1ms]
    ///
    /// Waits are uniformly distributed, from zero to this time, and count as response time. The default doubles with each
    /// further retry, up to 1s.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlock_pause: Option<Span>,

    /// Target rate with a unit, such as 30000/min or 500/s
    ///
    /// The rate is the total of all targets. Orders are sent on time even if the database is slow. Without
    /// --rate each client sends its next order when its last one is done.
    #[arg(long, value_name = "RATE", help_heading = "Load", value_parser = load::per_minute::parse)]
    #[serde(with = "load::per_minute", skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,

    /// Space orders as independent customers would [default: evenly]
    ///
    /// Applies with --rate. With --poisson the gaps are exponential (a Poisson process).
    #[arg(long, hide_short_help = true, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<bool>,

    /// Keep the server at this CPU share, such as 60%
    ///
    /// prony adjusts the number of active clients. The share is the server's part of the CPU time that is available to it.
    /// For a managed server that is its CPU limit, otherwise all CPUs of this machine, on which the
    /// server must run. If its processes are not visible, prony counts all CPU time except that of the load, including
    /// that of other programs. The report then says so.
    #[arg(long, hide_short_help = true, value_name = "SHARE", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_target: Option<CpuTarget>,

    /// Time under load before the measured window [default: 1m]
    ///
    /// The default is at least as long as the ramp.
    #[arg(long = "warm-up", aliases = ["warmup-time", "warmup"], value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup_time: Option<Span>,

    /// Length of the measured window [default: 5m]
    #[arg(
        short = 'd',
        short_alias = 'T',
        long = "duration",
        alias = "run-time",
        value_name = "TIME",
        help_heading = "Load"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_time: Option<Span>,

    /// Seed of all random choices [default: 42]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,

    /// Share of orders of new customers, in per cent [default: 20]
    #[arg(long, hide_short_help = true, value_name = "PER_CENT", help_heading = "Orders", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub pct_newcustomers: Option<f64>,

    /// Mean number of browses per order [default: 3]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_searches: Option<u32>,

    /// Mean number of products per browse [default: 5]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_batch_size: Option<u32>,

    /// Mean number of products per cart, at most 10 [default: 5]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_line_items: Option<u32>,

    /// Procedures in the database (on), or prepared statements (off)
    ///
    /// [default: on if the engine has procedures]
    #[arg(long, value_name = "ON_OR_OFF", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub procedures: Option<Procedures>,

    /// Size that the stores must have, such as 10MB
    ///
    /// [default: any]
    #[arg(long, alias = "db-size", value_name = "SIZE", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<StoreSize>,

    /// Seed that the rows of the stores must have
    ///
    /// This is the --seed given to `prony orders load`. [default: any]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Orders")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_seed: Option<u64>,
}

/// Whether operations are procedures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Procedures {
    /// Each operation calls a procedure in the database.
    On,
    /// Each operation consists of prepared statements.
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
#[error("`{0}` is not a share of the CPU: use per cent from 1% to 99%, such as 60%")]
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
