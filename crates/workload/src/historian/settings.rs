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
    /// Tags (measured values) of the plant; with modbus://, registers that are polled [default: 5000]
    #[arg(long, value_name = "NUMBER", help_heading = "Events")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<u32>,

    /// Where events come from: counters (each tag steps once a second), random (changes at --rate),
    /// modbus://HOST:PORT/UNIT (a PLC is polled; UNIT is 255 if left out, ?first=NUMBER is the first register and ?registers=input
    /// polls input registers), csv:FILE (a recording: time, tag, value)
    /// [default: random with --rate or --find-max, else counters]
    #[arg(long, value_name = "SOURCE", help_heading = "Events")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceChoice>,

    /// Records offered a second, or max: as many as the buffer takes
    #[arg(long, value_name = "PER_SECOND", help_heading = "Events")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,

    /// Random changes come as independent instruments would send them (Poisson) instead of evenly spaced
    #[arg(long, help_heading = "Events", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<bool>,

    /// Time between two polls of a PLC [default: 1s]
    #[arg(long, value_name = "TIME", help_heading = "Events")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_interval: Option<Span>,

    /// How many times faster than recorded a csv: source is replayed [default: 1]
    #[arg(long, value_name = "FACTOR", help_heading = "Events", value_parser = load::factor)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,

    /// Columns of a csv: source, by name or number: time=Timestamp,tag=Name,value=4, and quality=… if there is one [default:
    /// those that its first line calls time, tag, value and quality, or by other usual names; else the first four]
    #[arg(long, value_name = "COLUMNS", help_heading = "Events")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Columns>,

    /// Zone of local times of a csv: source, such as 2026-05-01 08:00:00: Europe/Berlin, UTC or +02:00. Without it they are
    /// refused
    #[arg(long, value_name = "ZONE", help_heading = "Events", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<Zone>,

    /// How times of a csv: source are written: unix-s, unix-ms, unix-us, unix-ns, filetime, dotnet-ticks, excel, wincc, or a pattern
    /// such as '%d.%m.%Y %H:%M:%S%.f' [default: found by the first time; one that has several readings is refused with all of them]
    #[arg(long, value_name = "FORMAT", help_heading = "Events")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_format: Option<TimeFormat>,

    /// Meaning of the qualities of a csv: source [default: opc, where a number from 192 on shows it; else refused with all readings]
    #[arg(long, value_name = "MEANING", help_heading = "Events")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Qualities>,

    /// Lines of a csv: source such as $RT_OFF$, by which WinCC marks where it ended [default: refused]
    #[arg(long, value_name = "HOW", help_heading = "Events")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<Marks>,

    /// Load that does not count, before the measured window [default: half of --duration]
    #[arg(long, value_name = "TIME", help_heading = "Events")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// Length of the measured window [default: 80s, or what is left of a csv: recording]
    #[arg(long, value_name = "TIME", help_heading = "Events")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,

    /// Seed of all random choices [default: 42]
    #[arg(long, value_name = "NUMBER", help_heading = "Events")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,

    /// Events accepted and not yet committed at which no new event is accepted [default: 20000]
    #[arg(long, value_name = "EVENTS", help_heading = "Buffer")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_buffered_events: Option<u64>,

    /// Rows that a flush writes in one transaction [default: 40]
    #[arg(long, value_name = "ROWS", help_heading = "Buffer")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_rows: Option<u32>,

    /// Age at which buffered events are flushed though they are fewer [default: 1s]
    #[arg(long, value_name = "TIME", help_heading = "Buffer")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_interval: Option<Span>,

    /// How long events wait to be sorted by time and tag before they are written [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Buffer")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_sorting_period: Option<Span>,

    /// Writers, each with a connection of its own [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Buffer")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writers: Option<u32>,

    /// How rows are written: multi-row (INSERT with many rows), batch (one prepared INSERT a row, sent together), bulk
    /// (COPY BINARY, the fastest INSERT, prepared in one transaction), table-valued (one call of a procedure; only SQL
    /// Server) [default: bulk]
    #[arg(long, value_name = "METHOD", help_heading = "Buffer")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_method: Option<WriteMethod>,

    /// Time from an event to its commit that 99 of 100 records must keep, or the rate is not held [default: no limit]
    #[arg(long, value_name = "TIME", help_heading = "Buffer")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_limit: Option<Span>,

    /// Index the samples by tag and time, as trend reads need it [default: true]
    #[arg(long, help_heading = "Storage", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<bool>,

    /// Partition the samples by time into parts of this length, so that a purge drops one; not with SQLite, which has no
    /// partitions [default: no partitions]
    #[arg(long, value_name = "TIME", help_heading = "Storage")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<Span>,

    /// Screens that are opened in turn; 0 for no readers [default: 10]
    #[arg(long, value_name = "NUMBER", help_heading = "Readers")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screens: Option<u32>,

    /// Time from one screen to the next [default: 30s]
    #[arg(long, value_name = "TIME", help_heading = "Readers")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen_interval: Option<Span>,

    /// Tags of a screen [default: 8]
    #[arg(long, value_name = "NUMBER", help_heading = "Readers")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen_tags: Option<u32>,

    /// How far back a screen's trends reach [default: 1h]
    #[arg(long, value_name = "TIME", help_heading = "Readers")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trend_window: Option<Span>,

    /// Time between two reads of the open screen's latest values [default: 1s]
    #[arg(long, value_name = "TIME", help_heading = "Readers")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_interval: Option<Span>,

    /// Time between two purges; a trial that is shorter has none [default: 1h]
    #[arg(long, value_name = "TIME", help_heading = "Maintenance")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance_interval: Option<Span>,

    /// Age of the rows that a purge removes [default: 1h]
    #[arg(long, value_name = "TIME", help_heading = "Maintenance")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<Span>,

    /// Rows that one statement of a purge deletes [default: 30000; of SQL Server 4000, below which it locks no whole
    /// table]
    #[arg(long, value_name = "ROWS", help_heading = "Maintenance")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purge_rows: Option<u64>,

    /// How a purge removes rows: delete (in blocks) or drop (whole partitions) [default: drop with --partition, else
    /// delete]
    #[arg(long, value_name = "HOW", help_heading = "Maintenance")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purge: Option<Purge>,

    /// Shrink the database after each purge: VACUUM FULL, incremental vacuum or OPTIMIZE TABLE [default: false]
    #[arg(long, help_heading = "Maintenance", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
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
    /// INSERT with many rows of values.
    MultiRow,
    /// A prepared INSERT of one row for each row, sent together.
    Batch,
    /// The engine's fastest way.
    Bulk,
    /// A procedure that takes all rows as one parameter.
    TableValued,
}

/// How a purge removes rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Purge {
    /// DELETE in blocks.
    Delete,
    /// Whole partitions are dropped.
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
                problem: "is no source: give counters, random, modbus://HOST:PORT/UNIT or csv:FILE",
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
