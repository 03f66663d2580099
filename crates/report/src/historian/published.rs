//! The published figures of a historian beside the measured ones: where its files lay, how many rows a flush wrote, and
//! a "real project" with its purges.

use record::Loop;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::configuration::Configuration;
use crate::format;
use crate::historian::{FlushSeries, Historian};
use crate::published::Source;
use crate::search::Search;
use crate::trial::Trial;

/// Published figures of a historian and ours.
#[derive(Clone, Debug, Serialize)]
pub struct HistorianComparison {
    /// What was measured here: the highest rate of each kind, the highest first.
    pub ours: Vec<OurRate>,
    /// Rates that the published server held, by where data and log lay.
    pub placements: Vec<Placement>,
    /// Rows of a flush at the published rate; empty unless ours were varied over levels of it.
    pub flush_rows: Vec<FlushComparison>,
    /// The "real project"; empty unless a purge ran here.
    pub real_project: Vec<RealProject>,
    /// Growth of the published database.
    pub growth: Growth,
    /// Rate of the published rows of a flush and of the best placement.
    pub best_per_s: f64,
    /// Rate of a single disk.
    pub single_disk_per_s: f64,
    /// In what the published test differs, a sentence each.
    pub differences: Vec<String>,
    /// Title, author, date, engine and machine.
    pub source: String,
}

/// A rate that was measured here.
#[derive(Clone, Debug, Serialize)]
pub struct OurRate {
    /// Configuration, or the search.
    pub configuration: String,
    /// Meaning of the rate: `highest rate held`, `offered and held`, `not held`, `as fast as the buffer accepted them`, …
    pub how: String,
    /// Server and what its commits guarantee.
    pub server: String,
    /// Records a second.
    pub records_per_s: f64,
    /// Over the best published placement.
    pub over_best: f64,
    /// Over the published single disk.
    pub over_single_disk: f64,
}

/// A published placement of data and log.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Placement {
    /// Number in the source.
    pub id: u32,
    /// Where the data lay.
    pub data: String,
    /// Where the log lay.
    pub log: String,
    /// Highest rate held.
    pub records_per_s: f64,
    /// More than the first, in per cent, as printed.
    pub gain_pct: f64,
    /// Where the source contradicts itself.
    pub note: Option<String>,
}

impl HistorianComparison {
    /// A rate over the best published one, and over that of the single disk.
    pub(crate) fn ratios(&self, records_per_s: f64) -> [f64; 2] {
        [records_per_s / self.best_per_s, records_per_s / self.single_disk_per_s]
    }
}

/// A published number of rows of a flush, and what was measured here with it.
#[derive(Clone, Debug, Serialize)]
pub struct FlushComparison {
    /// Rows of a flush.
    pub rows: u32,
    /// Whether the published server held its rate.
    pub published_stable: bool,
    /// Its pending records, in the source's words.
    pub published_pending: String,
    /// Ours, one for each series; none where a series lacks this level.
    pub ours: Vec<Option<OurFlush>>,
    /// What our series are.
    pub series: Vec<String>,
}

/// A point of ours.
#[derive(Clone, Debug, Serialize)]
pub struct OurFlush {
    /// Records a second.
    pub records_per_s: f64,
    /// Whether the rate was held; none of a closed loop.
    pub stable: Option<bool>,
    /// Most pending records.
    pub pending_max: Option<f64>,
}

/// A run of the "real project".
#[derive(Clone, Debug, Serialize)]
pub struct RealProject {
    /// `published`, or the name of our trial.
    pub run: String,
    /// Rows that one statement of a purge deletes; none where partitions are dropped.
    pub purge_rows: Option<u64>,
    /// Records a second.
    pub records_per_s: Option<f64>,
    /// Length of the longest purge.
    pub purge_s: f64,
    /// Length of the longest shrink.
    pub shrink_s: Option<f64>,
    /// Time from one purge to the next.
    pub interval_s: Option<f64>,
    /// Most pending records.
    pub pending_max: Option<f64>,
    /// Their mean.
    pub pending_mean: Option<f64>,
    /// Greatest size of the database.
    pub database_bytes_max: Option<f64>,
    /// Whether the rate was held.
    pub stable: Option<bool>,
}

/// Growth of the published database.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Growth {
    /// 10^9 bytes an hour.
    pub gb_per_hour: f64,
    /// 10^9 bytes a day.
    pub gb_per_day: f64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PublishedFlush {
    rows: u32,
    stable: bool,
    pending_range: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PublishedProject {
    purge_block: u64,
    records_per_s: f64,
    purge_minutes: f64,
    shrink_minutes: f64,
    pending_max: f64,
    pending_avg: f64,
    db_size_max_mb: f64,
    stable: bool,
}

/// The published part on historians.
#[derive(Debug, Deserialize)]
pub(crate) struct Published {
    pub(crate) placement: Vec<Placement>,
    pub(crate) flush_rows: Vec<PublishedFlush>,
    pub(crate) real_project: Vec<PublishedProject>,
    pub(crate) growth: Growth,
}

/// The data that the program carries.
#[derive(Debug, Deserialize)]
struct Shipped {
    source: Source,
    #[serde(flatten)]
    published: Published,
}

fn shipped() -> Result<Shipped, toml::de::Error> {
    toml::from_str(include_str!("../../published/hds.toml"))
}

/// What was measured here, as far as it can stand beside.
pub(crate) struct Measured<'a> {
    pub(crate) configurations: &'a [Configuration],
    pub(crate) searches: &'a [Search],
    pub(crate) flush_rows: &'a [FlushSeries],
    pub(crate) trials: &'a [Trial],
}

/// The published historian beside ours; none where no record was written here.
pub(crate) fn beside(measured: &Measured<'_>) -> Option<HistorianComparison> {
    static SHIPPED: OnceLock<Option<Shipped>> = OnceLock::new();
    let Shipped { source, published } = SHIPPED.get_or_init(|| shipped().ok()).as_ref()?;
    let rates = || published.placement.iter().map(|placement| placement.records_per_s);
    let best_per_s = rates().reduce(f64::max)?;
    let single_disk_per_s = published.placement.first()?.records_per_s;
    let mut ours: Vec<OurRate> = held(measured)
        .into_iter()
        .chain(measured.searches.iter().filter_map(|search| searched(search, measured.trials)))
        .map(|(configuration, how, server, records_per_s)| OurRate {
            configuration,
            how,
            server,
            records_per_s,
            over_best: records_per_s / best_per_s,
            over_single_disk: records_per_s / single_disk_per_s,
        })
        .collect();
    ours.sort_by(|a, b| b.records_per_s.total_cmp(&a.records_per_s));
    let mut kinds: Vec<(String, String)> = Vec::new();
    ours.retain(|rate| {
        let kind = (rate.how.clone(), rate.server.clone());
        let first = !kinds.contains(&kind);
        kinds.push(kind);
        first
    });
    (!ours.is_empty()).then(|| HistorianComparison {
        ours,
        placements: published.placement.clone(),
        flush_rows: flush_rows(published, measured.flush_rows),
        real_project: real_project(published, measured.trials),
        growth: published.growth,
        best_per_s,
        single_disk_per_s,
        differences: differences(published, measured.trials, best_per_s),
        source: format!(
            "{}; {}",
            crate::published::source(source),
            source.engine.as_deref().unwrap_or("database server not named")
        ),
    })
}

/// Name, what the rate is, server, and rate.
type Rate = (String, String, String, f64);

fn held(measured: &Measured<'_>) -> Vec<Rate> {
    let rate = |configuration: &Configuration| -> Option<Rate> {
        let setup = configuration.setup.as_ref()?.historian()?;
        let stable = measured
            .trials
            .iter()
            .filter(|trial| configuration.trials.contains(&trial.number))
            .filter_map(|trial| trial.historian()?.stable);
        let stable: Vec<bool> = stable.collect();
        let how = match (setup.pacing, stable.as_slice()) {
            (Loop::Closed { .. }, _) => "as fast as the buffer accepted them",
            (Loop::Open { .. }, []) => "not judged",
            (Loop::Open { .. }, stable) if stable.iter().all(|held| *held) => "offered and held",
            (Loop::Open { .. }, _) => "not held",
        };
        let per_s = configuration.main()?.per_s.filter(|&per_s| per_s > 0.0)?;
        Some((configuration.name.clone(), how.to_owned(), server(setup), per_s))
    };
    measured.configurations.iter().filter_map(rate).collect()
}

fn searched(search: &Search, trials: &[Trial]) -> Option<Rate> {
    let rate = search.held_at()?;
    let how = match search.stable_at {
        Some(_) => "highest rate held",
        None => "sustained once, not confirmed",
    };
    let number = search.steps.first()?.trial;
    let setup = trials.iter().find(|t| t.number == number)?.historian()?.setup.as_ref()?;
    Some((search.configuration.clone(), how.to_owned(), server(setup), rate))
}

fn server(setup: &record::HistorianSetup) -> String {
    let durable = if setup.server.is_durable { "durable commits" } else { "commits not durable" };
    format!("{}, {durable}", setup.server.version)
}

/// The published levels beside ours, if we have one of them.
fn flush_rows(published: &Published, series: &[FlushSeries]) -> Vec<FlushComparison> {
    let row = |level: &PublishedFlush| {
        let ours = series.iter().map(|series| {
            let point = series.points.iter().find(|point| point.flush_rows == level.rows)?;
            Some(OurFlush {
                records_per_s: point.records_per_s,
                stable: point.stable,
                pending_max: point.pending_max,
            })
        });
        FlushComparison {
            rows: level.rows,
            published_stable: level.stable,
            published_pending: level.pending_range.replace("..", " to "),
            ours: ours.collect(),
            series: series.iter().map(|series| series.series.clone()).collect(),
        }
    };
    let rows: Vec<FlushComparison> = published.flush_rows.iter().map(row).collect();
    if rows.iter().any(|row| row.ours.iter().any(Option::is_some)) { rows } else { Vec::new() }
}

/// The published runs, then our trials with a purge.
fn real_project(published: &Published, trials: &[Trial]) -> Vec<RealProject> {
    let ours: Vec<RealProject> = trials
        .iter()
        .filter(|trial| trial.is_complete())
        .filter_map(|trial| our_project(trial, trial.historian()?))
        .collect();
    if ours.is_empty() {
        return ours;
    }
    let theirs = published.real_project.iter().map(|run| RealProject {
        run: "published".to_owned(),
        purge_rows: Some(run.purge_block),
        records_per_s: Some(run.records_per_s),
        purge_s: run.purge_minutes * 60.0,
        shrink_s: Some(run.shrink_minutes * 60.0),
        interval_s: Some(3600.0),
        pending_max: Some(run.pending_max),
        pending_mean: Some(run.pending_avg),
        database_bytes_max: Some(run.db_size_max_mb * f64::from(1 << 20)),
        stable: Some(run.stable),
    });
    theirs.chain(ours).collect()
}

fn our_project(trial: &Trial, historian: &Historian) -> Option<RealProject> {
    let setup = historian.setup.as_ref()?.maintenance?;
    let runs = || historian.maintenance.iter().map(|maintenance| &maintenance.run);
    let sizes = trial.samples.iter().filter_map(|s| s.gauges.get(record::historian::DATABASE_BYTES).copied());
    let before = runs().filter_map(|run| run.database_bytes_before).map(|bytes| bytes as f64);
    Some(RealProject {
        run: trial.name.clone(),
        purge_rows: setup.purge_rows,
        records_per_s: historian.records_per_s,
        purge_s: runs().map(|run| run.purge_s).reduce(f64::max)?,
        shrink_s: runs().filter_map(|run| run.shrink_s).reduce(f64::max),
        interval_s: Some(setup.interval_s),
        pending_max: historian.pending_max,
        pending_mean: historian.pending_mean,
        database_bytes_max: sizes.chain(before).reduce(f64::max),
        stable: historian.stable,
    })
}

fn differences(published: &Published, trials: &[Trial], best_per_s: f64) -> Vec<String> {
    let mut engines: Vec<String> = Vec::new();
    for setup in trials.iter().filter_map(|trial| trial.historian()?.setup.as_ref()) {
        if !engines.contains(&setup.server.version) {
            engines.push(setup.server.version.clone());
        }
    }
    let mut sentences = vec![
        format!(
            "Published for SQL Server 2008 on disks of 2013: the highest rate with a backlog near zero. Measured here with {}.",
            engines.join(", ")
        ),
        format!(
            "The author varied the records per batch at {} records/s, and judged each value by the backlog.",
            format::plain(best_per_s)
        ),
    ];
    sentences.extend(
        published.placement.iter().filter_map(|placement| {
            Some(format!("Placement {}: {}.", placement.id, placement.note.as_ref()?))
        }),
    );
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_figures_are_read_in_full() {
        let historian = shipped().unwrap().published;
        let rates: Vec<f64> = historian.placement.iter().map(|placement| placement.records_per_s).collect();
        assert_eq!(
            rates,
            [2400.0, 2500.0, 2400.0, 2700.0, 4700.0, 3100.0, 3100.0, 4800.0, 5100.0],
            "nine placements"
        );
        for placement in &historian.placement {
            let gain = (placement.records_per_s / 2400.0 - 1.0) * 100.0;
            // The source rounds 12.5 and 112.5 down, and 95.8 and 29.2 to the nearest.
            assert!((gain - placement.gain_pct).abs() <= 0.5, "{placement:?}");
        }
        assert_eq!((historian.flush_rows.len(), historian.real_project.len()), (6, 2));
    }
}
