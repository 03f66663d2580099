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
    /// Messages to load [default: 1000000; published: 150000000]
    #[arg(long, value_name = "NUMBER", help_heading = "Messages")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,

    /// Days over which the messages are spread evenly [default: 365]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Messages")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,

    /// Bytes of each message's subject [default: 0]
    ///
    /// Reports do not return the subject. It makes messages as large as in a real system, so that reports have to read
    /// as much data.
    #[arg(long, hide_short_help = true, value_name = "BYTES", help_heading = "Messages")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_bytes: Option<u32>,

    /// Seed of the messages [default: 42]
    ///
    /// The same seed creates the same messages everywhere.
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Messages")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_seed: Option<u64>,

    /// Share of messages in the report, in per cent [default: 9.58284]
    ///
    /// The default is the published share. The messages are those within the report's dates.
    #[arg(long, value_name = "PER_CENT", help_heading = "Report", value_parser = load::per_cent::parse)]
    #[serde(with = "load::per_cent", skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,

    /// Departments of the senders, as a LIKE pattern [default: %]
    ///
    /// % is any text, _ is any character.
    #[arg(long, hide_short_help = true, value_name = "PATTERN", help_heading = "Report")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub department: Option<Pattern>,

    /// Classifications in the report, as a LIKE pattern [default: %]
    ///
    /// % is any text, _ is any character.
    #[arg(long, hide_short_help = true, value_name = "PATTERN", help_heading = "Report")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classification: Option<Pattern>,

    /// Rows that the report returns [default: rows]
    #[arg(long, value_name = "WHAT", help_heading = "Report")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ReportResult>,

    /// How the report is requested [default: statement]
    ///
    /// SQLite has no procedures.
    #[arg(long, value_name = "HOW", help_heading = "Report")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,

    /// Reports after the first one [default: 5]
    ///
    /// The result is the mean of these reports.
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,

    /// Events per second that arrive during reports; 0 for none
    ///
    /// Each event is committed separately, or together with others that are waiting. [default: a study of 0 and of 82.5, as
    /// published]
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<f64>,

    /// Space arrivals as independent senders would [default: evenly]
    ///
    /// With --poisson the gaps are exponential (a Poisson process).
    #[arg(long, hide_short_help = true, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<bool>,

    /// Evict an SQLite file from the page cache first [default: yes]
    ///
    /// prony does this before the first report. For a server, a restart clears its caches: see the keys between_trials and
    /// cold of [target.server.NAME].
    #[arg(long, hide_short_help = true, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_file: Option<bool>,

    /// Time with only arrivals before the first report [default: 0s]
    #[arg(long, alias = "warmup", hide_short_help = true, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// Expected time of all reports, for the plan
    ///
    /// This time is also used to show the time left. [default: an estimate from the rows that they return]
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Span>,

    /// Give up a report after this time [default: 1h]
    ///
    /// The trial then fails.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Span>,

    /// Seed of the times of random arrivals [default: 42]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}
