//! A historian that can be run: settings with every default filled in and every contradiction refused.

use std::path::PathBuf;

use load::{JobError, Pacing, Phases, Problems, Span, short};
use serde::{Deserialize, Serialize};

use super::modbus::PlcAddress;
use super::parameter;
use super::recording::Reading;
use super::settings::{Purge, Rate, Settings, SourceChoice, WriteMethod};
use crate::plc::REGISTERS_MAX;

/// Most tags of a plant.
pub(crate) const TAGS_MAX: u32 = 10_000_000;
/// Most rows of one flush.
pub(crate) const FLUSH_ROWS_MAX: u32 = 1_000_000;
/// Most events that the buffer holds: 32 bytes each.
pub(crate) const BUFFERED_MAX: u64 = 100_000_000;
/// Most writers.
pub(crate) const WRITERS_MAX: u32 = 256;
/// Shortest length of a partition.
const PARTITION_MIN: Span = Span::seconds(1);
/// Length of the window where nothing else is said: with its warm-up a step of two minutes.
const DURATION: Span = Span::seconds(80);
/// Rows of one DELETE, unless an engine has a number of its own.
pub(crate) const PURGE_ROWS: u64 = 30_000;
/// Time between two purges, and age of what they remove, where nothing else is said.
const MAINTENANCE_INTERVAL: Span = Span::seconds(3600);

/// One historian, complete and without contradiction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Tags.
    pub tags: u32,
    /// Source.
    pub source: Source,
    /// Warm-up and window.
    pub phases: Phases,
    /// Seed.
    pub seed: u64,
    /// Events accepted and not committed at which no more are accepted.
    pub max_buffered_events: u64,
    /// Rows of one flush.
    pub flush_rows: u32,
    /// Age at which fewer are flushed.
    pub flush_interval: Span,
    /// How long events wait to be sorted.
    pub time_sorting_period: Span,
    /// Writers.
    pub writers: u32,
    /// How rows are written.
    pub write_method: WriteMethod,
    /// Limit of the 99th percentile from event to commit.
    pub p99_limit: Option<Span>,
    /// Whether samples are indexed by tag and time.
    pub index: bool,
    /// Length of a partition.
    pub partition: Option<Span>,
    /// Readers, if there are any.
    pub readers: Option<Readers>,
    /// Maintenance, if the trial is long enough for one.
    pub maintenance: Option<Maintenance>,
}

/// Where events come from, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Each tag is a counter that steps once a second: as many events a second as there are tags.
    Counters,
    /// Tags chosen at random walk at random, at the pace given. Closed: as fast as the buffer takes them.
    Random(Pacing),
    /// A PLC is polled; its changes are the events.
    Modbus {
        /// Host and port.
        address: String,
        /// Time between two polls.
        poll_interval: Span,
    },
    /// A recording is replayed.
    Csv {
        /// File.
        path: PathBuf,
        /// How many times faster than recorded.
        speed: f64,
        /// What is said of it.
        #[serde(default)]
        reading: Reading,
        /// Its events a second on average, at this speed, once it was read.
        #[serde(default)]
        rate_per_s: Option<f64>,
    },
}

/// Screens that read while rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Readers {
    /// Screens that are opened in turn.
    pub screens: u32,
    /// Time from one screen to the next.
    pub screen_interval: Span,
    /// Tags of a screen.
    pub screen_tags: u32,
    /// How far back trends reach.
    pub trend_window: Span,
    /// Time between two reads of the latest values.
    pub latest_interval: Span,
}

/// Purge and shrink.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Maintenance {
    /// Time between two purges.
    pub interval: Span,
    /// Age of the rows that are purged.
    pub retention: Span,
    /// Rows of one DELETE; none where partitions are dropped.
    pub purge_rows: Option<u64>,
    /// Whether nobody said how many rows, so that an engine may have a number of its own.
    pub is_usual_purge: bool,
    /// Whether a shrink follows.
    pub shrink: bool,
}

impl Source {
    /// As the parameter spells it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Counters => "counters".to_owned(),
            Self::Random(_) => "random".to_owned(),
            Self::Modbus { address, .. } => format!("modbus://{address}"),
            Self::Csv { path, .. } => format!("csv:{}", path.display()),
        }
    }
}

impl Job {
    /// Fills in the defaults and checks everything.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn of(settings: &Settings) -> Result<Self, Vec<JobError>> {
        let mut problems = Problems::default();
        check_ranges(&mut problems, settings);
        check_sources(&mut problems, settings);
        check_storage(&mut problems, settings);
        problems.none().map(|()| Self::defaulted(settings))
    }

    /// Records offered a second, where that is known beforehand.
    #[must_use]
    pub fn rate_per_s(&self) -> Option<f64> {
        match &self.source {
            Source::Counters => Some(f64::from(self.tags)),
            Source::Random(pacing) => pacing.rate_per_s(),
            Source::Csv { rate_per_s, .. } => *rate_per_s,
            Source::Modbus { .. } => None,
        }
    }

    /// Records offered a second at most, where there are as many as change: the registers that are polled.
    #[must_use]
    pub fn rate_per_s_max(&self) -> Option<f64> {
        match &self.source {
            Source::Modbus { poll_interval, .. } => {
                Some(f64::from(self.tags) * 1e9 / poll_interval.ns.max(1) as f64)
            }
            Source::Counters | Source::Random(_) | Source::Csv { .. } => self.rate_per_s(),
        }
    }

    /// When made-up events are due; counters step once a second.
    pub(crate) fn pacing(&self) -> Pacing {
        match self.source {
            Source::Random(pacing) => pacing,
            Source::Counters | Source::Modbus { .. } | Source::Csv { .. } => {
                Pacing::Fixed { rate_per_s: f64::from(self.tags) }
            }
        }
    }

    /// Whether events come as fast as the buffer takes them.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.source, Source::Random(pacing) if !pacing.is_open())
    }

    fn defaulted(settings: &Settings) -> Self {
        let measure = settings.duration.unwrap_or(DURATION);
        let warm_up = settings.warm_up.unwrap_or(Span { ns: measure.ns / 2 });
        let phases = Phases { warm_up, measure };
        Self {
            tags: settings.tags.unwrap_or(5_000),
            source: source(settings),
            phases,
            seed: settings.seed.unwrap_or(42),
            max_buffered_events: settings.max_buffered_events.unwrap_or(20_000),
            flush_rows: settings.flush_rows.unwrap_or(40),
            flush_interval: settings.flush_interval.unwrap_or(Span::seconds(1)),
            time_sorting_period: settings.time_sorting_period.unwrap_or(Span::ZERO),
            writers: settings.writers.unwrap_or(1),
            write_method: settings.write_method.unwrap_or(WriteMethod::Bulk),
            p99_limit: settings.p99_limit,
            index: settings.index.unwrap_or(true),
            partition: settings.partition,
            readers: readers(settings),
            maintenance: maintenance(settings, phases),
        }
    }
}

fn source(settings: &Settings) -> Source {
    let choice = settings.source.clone().unwrap_or(match settings.rate {
        Some(_) => SourceChoice::Random,
        None => SourceChoice::Counters,
    });
    match choice {
        SourceChoice::Counters => Source::Counters,
        SourceChoice::Random => Source::Random(match (settings.rate, settings.poisson) {
            (None | Some(Rate::Max), _) => Pacing::Closed { think_time: Span::ZERO },
            (Some(Rate::PerSecond(rate_per_s)), Some(true)) => Pacing::Poisson { rate_per_s },
            (Some(Rate::PerSecond(rate_per_s)), _) => Pacing::Fixed { rate_per_s },
        }),
        SourceChoice::Modbus { address } => {
            Source::Modbus { address, poll_interval: settings.poll_interval.unwrap_or(Span::seconds(1)) }
        }
        SourceChoice::Csv(path) => Source::Csv {
            path,
            speed: settings.speed.unwrap_or(1.0),
            reading: Reading {
                columns: settings.columns.clone(),
                time_zone: settings.time_zone.clone(),
                time_format: settings.time_format.clone(),
                quality: settings.quality,
                marks: settings.marks,
            },
            rate_per_s: None,
        },
    }
}

fn readers(settings: &Settings) -> Option<Readers> {
    let screens = settings.screens.unwrap_or(10);
    (screens > 0).then(|| Readers {
        screens,
        screen_interval: settings.screen_interval.unwrap_or(Span::seconds(30)),
        screen_tags: settings.screen_tags.unwrap_or(8),
        trend_window: settings.trend_window.unwrap_or(Span::seconds(3600)),
        latest_interval: settings.latest_interval.unwrap_or(Span::seconds(1)),
    })
}

fn maintenance(settings: &Settings, phases: Phases) -> Option<Maintenance> {
    let interval = settings.maintenance_interval.unwrap_or(MAINTENANCE_INTERVAL);
    let drops = settings.purge.map_or(settings.partition.is_some(), |purge| purge == Purge::Drop);
    // One that is due when the load ends would not run any more.
    (interval.ns < phases.end_ns()).then(|| Maintenance {
        interval,
        retention: settings.retention.unwrap_or(MAINTENANCE_INTERVAL),
        purge_rows: (!drops).then(|| settings.purge_rows.unwrap_or(PURGE_ROWS)),
        is_usual_purge: settings.purge_rows.is_none(),
        shrink: settings.shrink.unwrap_or(false),
    })
}

fn check_ranges(problems: &mut Problems, settings: &Settings) {
    problems.within("tags", settings.tags, 1, TAGS_MAX);
    problems.within("max_buffered_events", settings.max_buffered_events, 1, BUFFERED_MAX);
    problems.within("flush_rows", settings.flush_rows, 1, FLUSH_ROWS_MAX);
    problems.within("writers", settings.writers, 1, WRITERS_MAX);
    problems.within("screens", settings.screens, 0, 10_000);
    problems.within("screen_tags", settings.screen_tags, 1, 1_000);
    problems.within("purge_rows", settings.purge_rows, 1, 1_000_000_000);
    problems.within("speed", settings.speed, 1e-6, 1e6);
    if let Some(Rate::PerSecond(rate)) = settings.rate
        && !(0.001..=1e9).contains(&rate)
    {
        problems
            .add("rate", format!("cannot be {}: use 0.001 to 1e9 records per second, or max", short(rate)));
    }
    check_times(problems, settings);
    let flush_rows = u64::from(settings.flush_rows.unwrap_or(40));
    let buffered = settings.max_buffered_events.unwrap_or(20_000);
    if flush_rows > buffered {
        problems.add(
            "flush_rows",
            format!(
                "cannot be {flush_rows} with {}: a batch would never be full",
                parameter("max_buffered_events").of(buffered)
            ),
        );
    }
}

fn check_times(problems: &mut Problems, settings: &Settings) {
    for (parameter, given) in [
        ("duration", settings.duration),
        ("poll_interval", settings.poll_interval),
        ("flush_interval", settings.flush_interval),
        ("p99_limit", settings.p99_limit),
        ("screen_interval", settings.screen_interval),
        ("trend_window", settings.trend_window),
        ("latest_interval", settings.latest_interval),
        ("maintenance_interval", settings.maintenance_interval),
    ] {
        problems.some_time(parameter, given);
        problems.no_age(parameter, given);
    }
    for (parameter, given) in [
        ("warm_up", settings.warm_up),
        ("time_sorting_period", settings.time_sorting_period),
        ("partition", settings.partition),
        ("retention", settings.retention),
    ] {
        problems.no_age(parameter, given);
    }
}

/// The address of a PLC, and whether it can have so many registers.
fn check_plc(problems: &mut Problems, settings: &Settings) {
    let Some(SourceChoice::Modbus { address }) = &settings.source else { return };
    let first = match PlcAddress::of(address) {
        Ok(address) => address.first,
        Err(problem) => return problems.add("source", format!("modbus://{address}: {problem}")),
    };
    let most = REGISTERS_MAX - u32::from(first);
    if let Some(tags) = settings.tags
        && (most + 1..=TAGS_MAX).contains(&tags)
    {
        let from = if first == 0 { String::new() } else { format!(" from register {first} on") };
        problems.add(
            "tags",
            format!("cannot be {tags} with a modbus:// source: a PLC has at most {most} registers{from}"),
        );
    }
}

fn check_sources(problems: &mut Problems, settings: &Settings) {
    let choice = settings.source.as_ref();
    let random =
        matches!(choice, Some(SourceChoice::Random)) || (choice.is_none() && settings.rate.is_some());
    if let (Some(choice), Some(rate), false) = (choice, settings.rate, random) {
        let instead = match choice {
            SourceChoice::Counters => format!(
                "counters change once per second, so their rate is the number of tags: use {}",
                parameter("tags")
            ),
            SourceChoice::Csv(_) => format!("a recording has its own pace: use {}", parameter("speed")),
            SourceChoice::Modbus { .. } | SourceChoice::Random => {
                "the PLC determines how many values change".to_owned()
            }
        };
        problems.add(
            "rate",
            format!("cannot be {} with {}: {instead}", short(rate), parameter("source").of(choice)),
        );
    }
    if random && settings.rate.is_none() {
        let (rate, max) = (parameter("rate"), parameter("rate").of("max"));
        problems.add(
            "source",
            format!("`random` needs a rate: use {rate} with a number of records per second, or {max}"),
        );
    }
    if settings.poisson.is_some() && !matches!(settings.rate, Some(Rate::PerSecond(_))) {
        problems.add("poisson", "has no effect without a rate per second");
    }
    check_plc(problems, settings);
    if settings.poll_interval.is_some() && !matches!(choice, Some(SourceChoice::Modbus { .. })) {
        problems.add("poll_interval", "has no effect without a modbus:// source");
    }
    let csv = matches!(choice, Some(SourceChoice::Csv(_)));
    for (parameter, is_given) in [
        ("speed", settings.speed.is_some()),
        ("columns", settings.columns.is_some()),
        ("time_zone", settings.time_zone.is_some()),
        ("time_format", settings.time_format.is_some()),
        ("quality", settings.quality.is_some()),
        ("marks", settings.marks.is_some()),
    ] {
        if is_given && !csv {
            problems.add(parameter, "has no effect without a csv: source");
        }
    }
    if settings.tags.is_some() && csv {
        problems.add("tags", "has no effect with a csv: source, which uses the tags of the recording");
    }
}

fn check_storage(problems: &mut Problems, settings: &Settings) {
    if let Some(partition) = settings.partition.filter(|&partition| partition < PARTITION_MIN) {
        problems.add("partition", format!("cannot be {partition}: give at least {PARTITION_MIN}"));
    }
    if settings.purge == Some(Purge::Drop) && settings.partition.is_none() {
        problems
            .add("purge", format!("cannot be `drop` without partitions: give {}", parameter("partition")));
    }
    let drops = settings.purge.map_or(settings.partition.is_some(), |purge| purge == Purge::Drop);
    if drops && settings.purge_rows.is_some() {
        let delete = parameter("purge").of("delete");
        problems.add("purge_rows", format!("has no effect if whole partitions are dropped: use {delete}"));
    }
    if settings.screens == Some(0) {
        let none = parameter("screens").of(0);
        for (parameter, given) in [
            ("screen_interval", settings.screen_interval.is_some()),
            ("screen_tags", settings.screen_tags.is_some()),
            ("trend_window", settings.trend_window.is_some()),
            ("latest_interval", settings.latest_interval.is_some()),
        ] {
            if given {
                problems.add(parameter, format!("has no effect with {none}"));
            }
        }
    }
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
