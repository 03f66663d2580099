//! Parameters of reports as a user gives them: on the command line, in the environment, in a study file.

use load::Span;
use serde::{Deserialize, Serialize};

use super::ask::Access;
use super::pattern::Pattern;
use super::query::ReportResult;

/// Parameters of reports over messages. What is not given comes from the defaults named here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Messages that the database is loaded with [default: 1000000; published: 150000000]
    #[arg(long, value_name = "NUMBER", help_heading = "Messages")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,

    /// Days over which the messages are spread evenly [default: 365]
    #[arg(long, value_name = "NUMBER", help_heading = "Messages")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,

    /// Bytes of each message's subject, which no report returns: it makes messages as wide, and what a report has to read as large, as
    /// in a real system [default: 0]
    #[arg(long, value_name = "BYTES", help_heading = "Messages")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_bytes: Option<u32>,

    /// Seed of the messages: the same seed makes the same messages everywhere [default: 42]
    #[arg(long, value_name = "NUMBER", help_heading = "Messages")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_seed: Option<u64>,

    /// Share of the messages, in per cent, that lies within the report's dates [default: 9.58284, as published]
    #[arg(long, value_name = "PER_CENT", help_heading = "Report", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,

    /// Departments of the senders that the report is about, as a pattern of LIKE: % is any text, _ any character [default: %]
    #[arg(long, value_name = "PATTERN", help_heading = "Report")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub department: Option<Pattern>,

    /// Classifications that the report is about, as such a pattern [default: %]
    #[arg(long, value_name = "PATTERN", help_heading = "Report")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classification: Option<Pattern>,

    /// What the report returns: each message, or a row for each domain with its messages and bytes [default: rows]
    #[arg(long, value_name = "WHAT", help_heading = "Report")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ReportResult>,

    /// How the database is asked: by a statement with its values in its text, or by a call of a procedure in it, which SQLite lacks
    /// [default: statement]
    #[arg(long, value_name = "HOW", help_heading = "Report")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,

    /// Reports after the first one, whose mean is told [default: 5]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,

    /// Events that arrive a second while reports run, each committed by itself or with those that waited; 0 for none
    /// [default: a study of 0 and of 82.5, as published]
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<f64>,

    /// Events arrive as independent senders would send them (Poisson) instead of evenly spaced
    #[arg(long, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<bool>,

    /// Have the kernel forget an SQLite file before the first report [default: true]. A server is made cold by its restart, see
    /// the keys between_trials and cold of [target.server.NAME]
    #[arg(long, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_file: Option<bool>,

    /// Time in which nothing but arrivals goes on, before the first report [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// How long all reports of a trial will take about, for the plan and the time that is left [default: a guess from the rows that
    /// they return]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Span>,

    /// Time after which a report is given up and the trial has failed [default: 1h]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Span>,

    /// Seed of the arrivals' times where these are random [default: 42]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}
