//! A study that compares: each combination of levels against its reference, block by block.
//!
//! A combination, here a *point*, is compared along one axis at a time: with the point that has the axis' reference level
//! and shares all other levels, and a named configuration with the reference configuration at the same levels. The named
//! configurations count as an axis. All comparisons along one axis, over all settings of the others, are one family, for
//! which the p-values are corrected (Holm); a study of three axes makes three families. Only blocks in which both trials are
//! complete and free of I/O errors make a pair, so that drift between blocks is no part of an effect.
//!
//! A gain is the change of the metric in per cent, and positive is better: 12% less of a latency gains 12%.

mod caveat;
pub(crate) mod chart;
mod gain;
mod gain_sentence;
pub(crate) mod grid;
mod held;
pub(crate) mod lead;
mod level;
pub(crate) mod looks;
pub(crate) mod method;
mod noise;
mod percentiles;
mod scaling;
pub(crate) mod section;
pub(crate) mod sentence;
mod shape;
mod shape_sentence;
pub(crate) mod table;
mod threshold;

use std::collections::BTreeMap;

use record::{Design, Direction, Manifest, Metric, Order, Percentiles, Resumption};
use serde::Serialize;
use stats::{Better, Estimate, Falling, Jump, Knee, Looks, Queueing, Scalability, ScalingStep};

use crate::change::Sense;
use crate::metrics;
use crate::search::{RateRange, Search};
use crate::trial::Trial;
pub(crate) use caveat::few_blocks;
use gain::Pairs;
pub use gain::{Gain, OutlyingBlock};
pub(crate) use gain::{gain_pct, words};
pub(crate) use grid::{Cell, Grid, Key};
pub use level::Quantity;
pub use looks::{Ended, StudyLooks};
pub use noise::{NoiseFloor, Scatter};
pub(crate) use sentence::THRESHOLD;
pub(crate) use threshold::{Figure, decided};
pub use threshold::{Outcome, ThresholdResult};

/// Name of the axis that the named configurations are.
pub(crate) const CONFIGURATION: &str = "configuration";

/// What a study compares and what that came to.
#[derive(Clone, Debug, Serialize)]
pub struct StudyComparison {
    /// What the verdicts are about.
    pub metric: ComparedMetric,
    /// Order of the trials.
    pub order: Order,
    /// Numbers of the blocks.
    pub blocks: Vec<u32>,
    /// How far it came and why it ended, if it ends once all is settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looks: Option<StudyLooks>,
    /// Why nothing is compared, if nothing is.
    pub not_compared: Option<String>,
    /// From which effect on a difference of this metric matters.
    #[serde(flatten)]
    pub noise: NoiseFloor,
    /// How much this metric scatters.
    #[serde(flatten)]
    pub scatter: Scatter,
    /// The combinations, in the order of the study.
    pub points: Vec<Point>,
    /// The axes, the named configurations first.
    pub axes: Vec<ComparedAxis>,
    /// The same points by the other metrics of the workload.
    pub others: Vec<OtherMetric>,
    /// Percentiles that are shown of each level.
    #[serde(skip)]
    pub(crate) percentiles: Percentiles,
    /// What had to hold.
    pub thresholds: Vec<ThresholdResult>,
    /// Where the published figures come from.
    pub published: Option<PublishedSource>,
    /// Trials that were begun and count for nothing here: not complete, with I/O errors, or of a search that confirmed no rate.
    /// Of those with I/O errors only the share of the errors counts.
    pub not_used: Vec<u32>,
    /// Times that the study was taken up again.
    pub resumed: Vec<Resumption>,
}

/// The metric of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedMetric {
    /// Name, such as `records_per_s`.
    pub name: &'static str,
    /// Unit, as a reader writes it.
    pub unit: &'static str,
    /// Which of two values is the better one.
    pub better: Direction,
    /// What it is, in a few words.
    pub says: &'static str,
}

/// One combination of levels.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Its levels in words, such as `RAID10 with cache, memory 32GiB`.
    pub label: String,
    /// Named configuration; empty where a study has none.
    pub configuration: String,
    /// Levels, by the axes' names.
    pub levels: BTreeMap<String, String>,
    /// Whether it is the reference in every axis; none is where nothing is compared.
    pub is_reference: bool,
    /// Trials that its values come from.
    pub trials: Vec<u32>,
    /// Trials of it that were begun and count for nothing.
    pub not_used: Vec<u32>,
    /// Whether all of it was left out on purpose: what it was to be was not to be had.
    #[serde(skip)]
    pub(crate) is_left_out: bool,
    /// What became of the rate that was offered to it.
    #[serde(skip)]
    pub(crate) offered: Option<held::OfferedHeld>,
    /// The study's own metric.
    #[serde(flatten)]
    pub values: PointValues,
}

impl Point {
    /// Whether its figure is that of a rate that was offered.
    pub(crate) fn is_of_held_rate(&self) -> bool {
        self.values.gains.iter().any(|gain| gain.is_of_held_rate)
    }
}

/// A metric of a point.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PointValues {
    /// Its value in each block, in the metric's unit; none where there is no complete trial.
    pub by_block: Vec<Option<f64>>,
    /// Mean over the blocks.
    pub mean: Option<f64>,
    /// Of the rate that a search finds: the mean of what was held, and of what failed above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sustained: Option<RateRange>,
    /// The mean with its 95% interval, cut at 0, below which no metric can be; none of fewer than two blocks.
    pub interval: Option<Estimate>,
    /// The 95% interval of this run, where the metric is a percentile or a rate that one block alone has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_interval: Option<RunInterval>,
    /// What it is compared with, an axis each.
    pub gains: Vec<Gain>,
    /// What others published of the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedValue>,
}

/// The 95% interval of a percentile or a rate of one run, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RunInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end; none where it lies beyond all that was measured.
    pub high: Option<f64>,
}

/// A published figure of a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PublishedValue {
    /// The figure in the metric's unit.
    pub value: Option<f64>,
    /// Gain over the published reference, in per cent.
    pub gain_pct: Option<f64>,
    /// What was published in words.
    pub says: Option<String>,
}

/// Where published figures come from.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedSource {
    /// Title, author, year, machine.
    pub source: String,
    /// In what it differs from this study.
    pub differs: Option<String>,
    /// What it says of no single combination.
    pub says: Vec<String>,
}

/// An axis and the shape of the metric along it.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedAxis {
    /// Name; `configuration` for the named configurations.
    pub name: String,
    /// The level that others are compared with.
    pub reference: String,
    /// Levels, in the order of the study.
    pub levels: Vec<String>,
    /// What the levels are, if they are numbers.
    pub quantity: Option<Quantity>,
    /// The levels as numbers: counts, bytes or seconds; empty if they are none.
    pub numbers: Vec<f64>,
    /// The metric along the axis, once for each setting of the other axes.
    pub series: Vec<AxisSeries>,
}

/// The metric along one axis while the others stay where they are.
#[derive(Clone, Debug, Serialize)]
pub struct AxisSeries {
    /// Where the other axes stay, in words; empty if there are none.
    pub setting: String,
    /// Whether the others stay at their references.
    pub at_reference: bool,
    /// The named configuration that it is in, where these are scenarios of their own; else empty.
    pub scenario: String,
    /// The level that the others of this series are compared with.
    pub reference: String,
    /// Indices of its points, in the order of the levels; none where a combination is not part of the study.
    pub points: Vec<Option<usize>>,
    /// Where it bends, in the axis' numbers.
    pub knee: Option<Knee>,
    /// Why no knee is claimed.
    pub no_knee: Option<String>,
    /// The queue that a time over load looks like, where it has no knee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing: Option<Queueing>,
    /// That the last level is worse than one before it, block by block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub falling: Option<Falling>,
    /// The same of single runs whose intervals exclude each other: places in the axis of the best level and of the last, and last over
    /// best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub falling_single: Option<(usize, usize, f64)>,
    /// Two neighbouring levels between which it changes at once, in the axis' numbers.
    pub jump: Option<Jump>,
    /// Why no jump is claimed.
    pub no_jump: Option<String>,
    /// Level, by its place in the axis, past which more gains less than 5%: the sweet spot is this one at most.
    pub sweet_spot: Option<usize>,
    /// The cheapest level that is not ruled out to be it, or to be as good as any that was measured.
    pub sweet_spot_lowest: Option<usize>,
    /// Why there is no sweet spot.
    pub no_sweet_spot: Option<String>,
    /// The Universal Scalability Law fitted to it, along axes that are counts of clients, threads or processors.
    pub scalability: Option<Scalability>,
    /// Why it was not fitted; none where it makes no sense.
    pub no_scalability: Option<String>,
    /// So much of the axis is one for the law: 1, or the smallest level where that is less than one processor.
    pub scalability_unit: f64,
    /// What each step along an axis of processors gives; empty along others.
    pub scaling: Vec<ScalingStep>,
}

/// Another metric of the same points.
#[derive(Clone, Debug, Serialize)]
pub struct OtherMetric {
    /// The metric.
    pub metric: ComparedMetric,
    /// From which effect on a difference of this metric matters.
    #[serde(flatten)]
    pub noise: NoiseFloor,
    /// Its values, a point each in the same order.
    pub points: Vec<PointValues>,
}

impl ComparedMetric {
    /// As far as its changes are told.
    pub(crate) fn sense(&self) -> Sense {
        Sense::of(self.better, self.unit)
    }

    /// The percentile that it is, such as `p99`; none of other metrics. A trial's percentile is that of one histogram; over
    /// blocks only the mean of theirs is known, since each pair within a block needs a value of its own, and every printer
    /// says so.
    pub(crate) fn percentile(&self) -> Option<&'static str> {
        percentile(self.name)
    }
}

/// `p99` of `commit_p99_ms`.
pub(crate) fn percentile(metric: &'static str) -> Option<&'static str> {
    let is_rank = |part: &&str| part.strip_prefix('p').is_some_and(|rank| rank.parse::<f64>().is_ok());
    metric.split('_').find(is_rank)
}

impl From<&Metric> for ComparedMetric {
    fn from(metric: &Metric) -> Self {
        Self { name: metric.name, unit: metric.unit, better: metric.better, says: metric.says }
    }
}

pub(crate) fn direction(better: Direction) -> Better {
    match better {
        Direction::Higher => Better::Higher,
        Direction::Lower => Better::Lower,
    }
}

/// An axis as points are compared along it.
#[derive(Clone, Debug)]
pub(crate) struct DesignedAxis {
    pub(crate) name: String,
    pub(crate) levels: Vec<String>,
    reference: String,
    /// References of configurations that do not have the axis' own.
    own: BTreeMap<String, String>,
}

impl DesignedAxis {
    /// The axes of a design, the named configurations first if they are compared: without a reference they are scenarios
    /// of their own.
    fn all(design: &Design, grid: &Grid<'_>) -> Vec<Self> {
        let compared = design.reference.clone().filter(|_| design.configurations.len() > 1);
        let configurations = compared.map(|reference| Self {
            name: CONFIGURATION.to_owned(),
            levels: design.configurations.clone(),
            reference,
            own: BTreeMap::new(),
        });
        let axes = design.axes.iter().map(|axis| Self {
            name: axis.name.clone(),
            levels: axis.levels.clone(),
            reference: axis.reference.clone(),
            own: own_references(axis, grid),
        });
        configurations.into_iter().chain(axes).collect()
    }

    /// The level that a point is compared with.
    pub(crate) fn reference(&self, key: &Key) -> &str {
        self.own.get(&key.0).unwrap_or(&self.reference)
    }

    /// Whether a point is at the reference.
    fn is_reference(&self, key: &Key) -> bool {
        self.level(key) == Some(self.reference(key))
    }

    /// The level of a point.
    pub(crate) fn level<'k>(&self, key: &'k Key) -> Option<&'k str> {
        if self.name == CONFIGURATION { Some(&key.0) } else { key.1.get(&self.name).map(String::as_str) }
    }

    /// The same point at another level.
    pub(crate) fn moved(&self, key: &Key, level: &str) -> Key {
        let mut key = key.clone();
        if self.name == CONFIGURATION {
            level.clone_into(&mut key.0);
        } else {
            key.1.insert(self.name.clone(), level.to_owned());
        }
        key
    }
}

/// Configurations with levels of their own, which the reference is none of, are compared with the first of these.
fn own_references(axis: &record::DesignAxis, grid: &Grid<'_>) -> BTreeMap<String, String> {
    let mut levels: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &grid.rows {
        let level = row.key.1.get(&axis.name).map(String::as_str);
        levels.entry(row.key.0.as_str()).or_default().extend(level);
    }
    let own = |(configuration, levels): (&str, Vec<&str>)| {
        let first = axis.levels.iter().find(|level| levels.contains(&level.as_str()))?;
        let has_reference = levels.contains(&axis.reference.as_str());
        (!has_reference).then(|| (configuration.to_owned(), first.clone()))
    };
    levels.into_iter().filter_map(own).collect()
}

/// A combination in words, without a study's order of axes.
pub(crate) fn combination(key: &Key) -> String {
    let label = label(key, &[], None);
    if label.is_empty() { "the only combination".to_owned() } else { label }
}

/// `flush rows` of `flush_rows`: how a level's axis is called wherever names are made of levels.
#[must_use]
pub fn axis_words(name: &str) -> String {
    name.rsplit('.').next().unwrap_or(name).replace('_', " ")
}

/// The levels of a point in words, but for one axis.
pub(crate) fn label(key: &Key, axes: &[DesignedAxis], without: Option<&str>) -> String {
    let configuration = Some(key.0.clone()).filter(|name| !name.is_empty() && without != Some(CONFIGURATION));
    let named = |(name, level): (&String, &String)| format!("{} {level}", axis_words(name));
    let wanted = |name: &String| without != Some(name.as_str());
    let of_axes = axes.iter().filter_map(|axis| key.1.get_key_value(&axis.name));
    let others = key.1.iter().filter(|(name, _)| !axes.iter().any(|axis| axis.name == **name));
    let levels = of_axes.chain(others).filter(|(name, _)| wanted(name)).map(named);
    configuration.into_iter().chain(levels).collect::<Vec<String>>().join(", ")
}

/// What a study compares; none if it has no design, or nothing of it was measured.
pub(crate) fn of(
    manifest: &Manifest,
    trials: &[Trial],
    searches: &[Search],
    aa_searches: &[Search],
    looks: Option<&Looks>,
) -> Option<StudyComparison> {
    let design = manifest.design.as_ref()?;
    let metric = metrics::of_study(design, trials.iter())?;
    let grid = Grid::of(manifest, design, trials, searches, aa_searches);
    if grid.rows.len() < 2 && design.thresholds.is_empty() {
        return None;
    }
    let axes = DesignedAxis::all(design, &grid);
    let compares = design.order != Order::Repeats;
    let smallest = design.smallest.map_or(stats::SMALLEST_EFFECT, record::Share::value);
    let measured = |metric: &Metric| {
        let pairs = Pairs::of(&grid, &axes, metric, smallest, looks);
        let mut points = measured(&pairs, compares);
        if metric.name == metrics::SUSTAINED {
            points.iter_mut().zip(grid.sustained()).for_each(|(point, range)| point.sustained = range);
        }
        (points, NoiseFloor::of(&grid, metric, smallest, looks))
    };
    let (values, noise) = measured(metric);
    let scatter =
        compares.then(|| Scatter::of(&Pairs::of(&grid, &axes, metric, smallest, looks), manifest.seed));
    let points: Vec<Point> = grid
        .rows
        .iter()
        .zip(values)
        .map(|(row, values)| {
            // A figure without a metric is of the one that the study is about.
            let published = published(design, &row.key, |name| name.is_none_or(|name| name == metric.name));
            Point { values: PointValues { published, ..values }, ..point(row, &axes) }
        })
        .collect();
    let mut comparison = StudyComparison {
        metric: metric.into(),
        order: design.order,
        blocks: grid.blocks.clone(),
        looks: looks.map(|looks| StudyLooks::of(looks, &points, grid.blocks.len(), manifest.state)),
        not_compared: (!compares).then(|| REPEATS.to_owned()),
        noise,
        scatter: scatter.unwrap_or_default(),
        axes: shape::axes(&axes, &grid, &points, metric, manifest.seed, compares.then_some(smallest)),
        points,
        others: others(design, &grid, metric, measured),
        percentiles: manifest.shown_percentiles(),
        thresholds: Vec::new(),
        published: design.published.as_ref().map(source),
        not_used: grid.not_used(),
        resumed: manifest.resumed.clone(),
    };
    held::mark(&mut comparison, trials);
    comparison.thresholds = threshold::all(design, &comparison);
    Some(comparison)
}

/// The points by all other metrics that some point has.
fn others(
    design: &Design,
    grid: &Grid<'_>,
    main: &Metric,
    measured: impl Fn(&Metric) -> (Vec<PointValues>, NoiseFloor),
) -> Vec<OtherMetric> {
    let other = |metric: &Metric| {
        let (mut points, noise) = measured(metric);
        for (row, values) in grid.rows.iter().zip(&mut points) {
            values.published = published(design, &row.key, |name| name == Some(metric.name));
        }
        let any = points.iter().any(|point| point.mean.is_some());
        any.then(|| OtherMetric { metric: metric.into(), noise, points })
    };
    let trials = grid.rows.iter().flat_map(|row| row.cells.iter().flatten()).map(|cell| cell.trial);
    metrics::all(trials).into_iter().filter(|metric| metric.name != main.name).filter_map(other).collect()
}

const REPEATS: &str = "all repeats of a combination ran after each other, so drift would look like an effect. Use order = \"blocks\" to \
                       compare combinations";

fn point(row: &grid::Row<'_>, axes: &[DesignedAxis]) -> Point {
    Point {
        label: label(&row.key, axes, None),
        configuration: row.key.0.clone(),
        levels: row.key.1.clone(),
        is_reference: !axes.is_empty() && axes.iter().all(|axis| axis.is_reference(&row.key)),
        trials: row
            .cells
            .iter()
            .flatten()
            .filter(|cell| cell.is_trusted())
            .map(|cell| cell.trial.number)
            .collect(),
        not_used: row.not_used.clone(),
        is_left_out: row.is_left_out(),
        offered: None,
        values: PointValues::default(),
    }
}

/// The values of all points by one metric, and what they gain.
fn measured(pairs: &Pairs<'_>, compares: bool) -> Vec<PointValues> {
    let gains = if compares { pairs.gains() } else { vec![Vec::new(); pairs.values.len()] };
    let of = |(index, (by_block, gains)): (usize, (Vec<Option<f64>>, Vec<Gain>))| {
        let known: Vec<f64> = by_block.iter().flatten().copied().collect();
        PointValues {
            mean: stats::mean(&known),
            interval: mean_interval(pairs.looks, &known),
            run_interval: (known.len() == 1).then(|| pairs.run_interval(index)).flatten(),
            by_block,
            gains,
            sustained: None,
            published: None,
        }
    };
    pairs.values.iter().cloned().zip(gains).enumerate().map(of).collect()
}

/// Student's interval knows nothing of the metric: of few blocks that scatter, it reaches below 0.
fn mean_interval(looks: Option<&Looks>, by_block: &[f64]) -> Option<Estimate> {
    let interval = looks::mean(looks, by_block)?;
    Some(Estimate { low: interval.low.max(0.0), ..interval })
}

/// What was published of a point by a metric that the figure names or leaves out.
fn published(design: &Design, key: &Key, is_about: impl Fn(Option<&str>) -> bool) -> Option<PublishedValue> {
    let is_specific = |figure: &&record::PublishedFigure| {
        is_about(figure.metric.as_deref())
            && (!figure.at.is_empty() || figure.configuration.is_some())
            && figure.is_of(&key.0, &key.1)
    };
    let figures = || design.published.iter().flat_map(|published| &published.figures).filter(is_specific);
    let found = PublishedValue {
        value: figures().find_map(|figure| figure.value),
        gain_pct: figures().find_map(|figure| figure.gain_pct),
        says: figures().find_map(|figure| figure.says.clone()),
    };
    (found != PublishedValue::default()).then_some(found)
}

fn source(published: &record::Published) -> PublishedSource {
    let general = published.figures.iter().filter(|f| f.at.is_empty() && f.configuration.is_none());
    PublishedSource {
        source: published.source.clone(),
        differs: published.differs.clone(),
        says: general.filter_map(|figure| figure.says.clone()).collect(),
    }
}
