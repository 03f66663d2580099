//! Parameters of a load on registers as a user gives them: on the command line, in the environment, in a study file.

use load::Span;
use serde::{Deserialize, Serialize};

/// Parameters of a load on registers. What is not given comes from the defaults named here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Registers: rows that all clients write and read [default: 100]
    ///
    /// With fewer registers, prony knows more of the history of each.
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<u32>,

    /// Clients, each with its own connection [default: 10]
    #[arg(short, long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,

    /// Target rate in operations per second [default: 1000]
    ///
    /// The rate is the total of all clients. Operations are sent on time even if the database is slow.
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,

    /// Space operations as independent users would [default: evenly]
    ///
    /// With --poisson the gaps are exponential (a Poisson process).
    #[arg(long, hide_short_help = true, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<bool>,

    /// Share of reads in per cent; the rest are writes [default: 50]
    #[arg(long, value_name = "PER_CENT", help_heading = "Load", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub reads: Option<f64>,

    /// Time after which an operation is given up [default: 5s]
    ///
    /// The client then reconnects. For a write, it is unknown whether it took effect.
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,

    /// Shortest time without an answer that counts as an outage [default: 500ms]
    ///
    /// Only time during which a client waits for an answer is counted.
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<Span>,

    /// Time under load before the measured window [default: 5s]
    ///
    /// Answers during this time are checked like all others.
    #[arg(long, alias = "warmup", value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// Length of the measured window [default: 1m]
    #[arg(short, short_alias = 'T', long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,

    /// Report lost writes without failing the trial [default: fail]
    ///
    /// Use this if losses are expected, for example without fsync. Any other anomaly still fails the trial.
    #[arg(long, hide_short_help = true, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_losses: Option<bool>,

    /// Seed of all random choices [default: 42]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}
