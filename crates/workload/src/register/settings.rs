//! Parameters of a load on registers as a user gives them: on the command line, in the environment, in a study file.

use load::Span;
use serde::{Deserialize, Serialize};

/// Parameters of a load on registers. What is not given comes from the defaults named here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Registers: rows of one table, each of which is written and read by all clients. Of fewer of them more is known [default: 100]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<u32>,

    /// Clients, each with a connection of its own [default: 10]
    #[arg(short, long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,

    /// Operations due a second, all clients together, whatever becomes of them [default: 1000]
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,

    /// Operations come as independent users would send them (Poisson) instead of evenly spaced
    #[arg(long, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<bool>,

    /// Share of the operations that read, in per cent; the others write [default: 50]
    #[arg(long, value_name = "PER_CENT", help_heading = "Load", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub reads: Option<f64>,

    /// An operation without an answer is given up after this time, and its client connects again: a write may have been done or not then
    /// [default: 5s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,

    /// A time without an answer, while clients wait, that counts as an outage if it is as long [default: 500ms]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<Span>,

    /// Load whose rates and latencies do not count, before the measured window; its answers are checked as all others [default: 5s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// Length of the measured window [default: 1m]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,

    /// Lost writes are expected, as without fsync: they are reported and do not fail the trial. Any other anomaly still does
    #[arg(long, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_losses: Option<bool>,

    /// Seed of all random choices [default: 42]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}
