//! Parameters of the historian as a user gives them: on the command line, in the environment, in a study file.
//!
//! Everything is optional here, so that layers can be laid over each other; [`super::Job`] is what they come to.
//! The text of `--help`, of the manual and of the study file's keys is the documentation of these fields.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use load::Span;
use serde::{Deserialize, Serialize};

use super::recording::{Columns, Marks, Qualities, TimeFormat, Zone};

/// Parameters of a historian. What is not given comes from the profile, and then from the defaults named here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Tags (measured values) of the plant [default: 5000]
    ///
    /// With --source modbus://, this is the number of polled registers.
    #[arg(long, value_name = "NUMBER", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<u32>,

    /// Records from counters, random, modbus://HOST:PORT/UNIT or csv:FILE
    ///
    /// counters: each tag steps once per second. random: tags change at --rate. modbus:// polls a PLC: UNIT is 255
    /// if omitted, ?first=NUMBER is the first register, and ?registers=input polls input registers. csv: replays a
    /// recording with time, tag and value. [default: random with --rate or --find-max, otherwise counters]
    #[arg(long, value_name = "SOURCE", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceChoice>,

    /// Target rate in records per second, or max
    ///
    /// With `max`, prony accepts as many records as the buffer takes.
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,

    /// Space random changes as independent instruments would [default: evenly]
    ///
    /// With --poisson the gaps are exponential (a Poisson process).
    #[arg(long, hide_short_help = true, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<bool>,

    /// Time between two polls of a PLC [default: 1s]
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_interval: Option<Span>,

    /// Replay a csv: source this many times faster [default: 1]
    #[arg(long, hide_short_help = true, value_name = "FACTOR", help_heading = "Workload", value_parser = load::factor)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,

    /// Columns of a csv: source, by name or number
    ///
    /// For example time=Timestamp,tag=Name,value=4, and quality=NAME if there is one. [default: the columns that
    /// the first line calls time, tag, value and quality, or other usual names, otherwise the first four]
    #[arg(long, hide_short_help = true, value_name = "COLUMNS", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Columns>,

    /// Time zone of local times of a csv: source
    ///
    /// Europe/Berlin, UTC or +02:00. Without it, local times such as 2026-05-01 08:00:00 are refused.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "ZONE",
        help_heading = "Workload",
        allow_hyphen_values = true
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<Zone>,

    /// Format of the times of a csv: source
    ///
    /// unix-s, unix-ms, unix-us, unix-ns, filetime, dotnet-ticks, excel, wincc, or a pattern such as '%d.%m.%Y
    /// %H:%M:%S%.f'. [default: detected from the first time; if the format is ambiguous, prony refuses the file
    /// and lists the possible formats]
    #[arg(long, hide_short_help = true, value_name = "FORMAT", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_format: Option<TimeFormat>,

    /// Meaning of the qualities of a csv: source
    ///
    /// [default: opc if any quality is 192 or more; otherwise prony refuses the file and lists the possible meanings]
    #[arg(long, hide_short_help = true, value_name = "MEANING", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Qualities>,

    /// Handling of WinCC marks in a csv: source [default: refuse]
    ///
    /// WinCC writes lines such as $RT_OFF$ where it stopped.
    #[arg(long, hide_short_help = true, value_name = "HOW", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<Marks>,

    /// Time under load before the measured window [default: half of --duration]
    #[arg(long, alias = "warmup", value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// Length of the measured window [default: 80s]
    ///
    /// For a csv: recording, the default is the remaining length of the recording.
    #[arg(short, short_alias = 'T', long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,

    /// Seed of all random choices [default: 42]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,

    /// Backlog at which no new record is accepted [default: 20000]
    ///
    /// The backlog is the number of records that are accepted but not yet committed.
    #[arg(long, hide_short_help = true, value_name = "EVENTS", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_buffered_events: Option<u64>,

    /// Rows per transaction [default: 40]
    #[arg(long = "batch-rows", value_name = "ROWS", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_rows: Option<u32>,

    /// Age at which a smaller batch is written [default: 1s]
    #[arg(long = "batch-interval", value_name = "TIME", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_interval: Option<Span>,

    /// Time that records wait to be sorted [default: 0s]
    ///
    /// They are sorted by time and tag before they are written.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_sorting_period: Option<Span>,

    /// Writers, each with its own connection [default: 1]
    #[arg(short = 'c', long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writers: Option<u32>,

    /// How rows are written [default: bulk]
    ///
    /// `bulk` means COPY BINARY on PostgreSQL, and otherwise the fastest prepared INSERT, in one transaction.
    /// `table-valued` is available on SQL Server only.
    #[arg(long, value_name = "METHOD", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_method: Option<WriteMethod>,

    /// Latency limit for 99% of records [default: none]
    ///
    /// The latency of a record is the time from the record to its commit. If more than 1% take longer, the rate is
    /// not sustained.
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_limit: Option<Span>,

    /// Index the records by tag and time [default: yes]
    ///
    /// Trend reads need the index.
    #[arg(long, hide_short_help = true, help_heading = "Workload", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<bool>,

    /// Partition the records by this time [default: no partitions]
    ///
    /// A purge can then drop a whole partition. SQLite has no partitions.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<Span>,

    /// Screens to open in turn; 0 for no readers [default: 10]
    #[arg(long, value_name = "NUMBER", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screens: Option<u32>,

    /// Time from one screen to the next [default: 30s]
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen_interval: Option<Span>,

    /// Tags on each screen [default: 8]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen_tags: Option<u32>,

    /// Period that the trends of a screen show [default: 1h]
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trend_window: Option<Span>,

    /// Time between reads of the open screen's latest values [default: 1s]
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_interval: Option<Span>,

    /// Time between two purges [default: 1h]
    ///
    /// A trial shorter than this time has no purge.
    #[arg(long, value_name = "TIME", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance_interval: Option<Span>,

    /// Age of the rows that a purge removes [default: 1h]
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<Span>,

    /// Rows that each statement of a purge deletes [default: 30000]
    ///
    /// For SQL Server the default is 4000, so that it does not lock the whole table.
    #[arg(long, hide_short_help = true, value_name = "ROWS", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purge_rows: Option<u64>,

    /// How a purge removes rows [default: drop with --partition, otherwise delete]
    #[arg(long, hide_short_help = true, value_name = "HOW", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purge: Option<Purge>,

    /// Shrink the database after each purge [default: no]
    ///
    /// Uses VACUUM FULL, incremental vacuum or OPTIMIZE TABLE.
    #[arg(long, hide_short_help = true, help_heading = "Workload", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrink: Option<bool>,
}

/// Where events come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceChoice {
    /// Each tag is a counter that steps once a second.
    Counters,
    /// Tags chosen at random walk at random.
    Random,
    /// A PLC is polled; its changes are the events.
    Modbus {
        /// `HOST[:PORT][/UNIT][?first=NUMBER][&registers=holding|input]`
        address: String,
    },
    /// A recording is replayed.
    Csv(PathBuf),
}

/// Records offered a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// So many, whatever becomes of them.
    PerSecond(f64),
    /// As many as the buffer takes.
    Max,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum WriteMethod {
    /// One INSERT with many rows of values.
    MultiRow,
    /// One prepared INSERT per row, sent together.
    Batch,
    /// The fastest method of the engine.
    Bulk,
    /// One call of a procedure that takes all rows as a parameter.
    TableValued,
}

/// How a purge removes rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Purge {
    /// DELETE in blocks.
    Delete,
    /// Drops whole partitions.
    Drop,
}

/// A text that is none of the values a parameter can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` {problem}")]
pub struct ValueError {
    given: String,
    problem: &'static str,
}

impl FromStr for SourceChoice {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let text = text.trim();
        if let Some(address) = text.strip_prefix("modbus://").filter(|address| !address.is_empty()) {
            return Ok(Self::Modbus { address: address.to_owned() });
        }
        if let Some(file) = text.strip_prefix("csv:").filter(|file| !file.is_empty()) {
            return Ok(Self::Csv(PathBuf::from(file)));
        }
        match text {
            "counters" => Ok(Self::Counters),
            "random" => Ok(Self::Random),
            _ => Err(ValueError {
                given: text.to_owned(),
                problem: "is not a source: use counters, random, modbus://HOST:PORT/UNIT or csv:FILE",
            }),
        }
    }
}

impl fmt::Display for SourceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counters => f.write_str("counters"),
            Self::Random => f.write_str("random"),
            Self::Modbus { address } => write!(f, "modbus://{address}"),
            Self::Csv(file) => write!(f, "csv:{}", file.display()),
        }
    }
}

load::serde_as_text!(SourceChoice);

impl FromStr for Rate {
    type Err = load::UnitError;

    fn from_str(text: &str) -> Result<Self, load::UnitError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("max") {
            return Ok(Self::Max);
        }
        // A number that is wrong was meant as one.
        let is_word = !text.contains(|one: char| one.is_ascii_digit());
        let read = load::per_second::parse(text).map(Self::PerSecond);
        read.map_err(|error| if is_word { error.or("max") } else { error })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerSecond(rate) => write!(f, "{rate}"),
            Self::Max => f.write_str("max"),
        }
    }
}

impl Serialize for Rate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::PerSecond(rate) => serializer.serialize_f64(*rate),
            Self::Max => serializer.serialize_str("max"),
        }
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Given {
            Number(f64),
            Text(String),
        }
        match Given::deserialize(deserializer)? {
            Given::Number(rate) => Ok(Self::PerSecond(rate)),
            Given::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}
