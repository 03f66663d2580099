//! The shape of the metric along an axis of numbers: knee, jump, sweet spot, scalability.

use record::{Direction, Metric};
use stats::{CandidateLevel, SweetSpot};

use super::level::{Quantity, numbers};
use super::{AxisSeries, CONFIGURATION, ComparedAxis, DesignedAxis, Grid, Point, direction, label};

/// Axes that are counts of what works at the same time.
const SCALING: [&str; 5] = ["n_threads", "threads", "outstanding", "cpus", "clients"];

/// Axes of processors, of which less than one is no contradiction.
const PROCESSORS: &str = "cpus";

/// A point of a curve needs the metric in so many blocks for a sweet spot.
const SWEET_SPOT_BLOCKS_MIN: usize = stats::BLOCKS_MIN;

/// Each axis with its curves; these have a shape where levels are compared, from this share of a difference on.
pub(crate) fn axes(
    axes: &[DesignedAxis],
    grid: &Grid<'_>,
    points: &[Point],
    metric: &Metric,
    seed: u64,
    compared_from: Option<f64>,
) -> Vec<ComparedAxis> {
    axes.iter()
        .map(|axis| {
            let (quantity, numbers) =
                numbers(&axis.levels).map_or((None, Vec::new()), |(quantity, of)| (Some(quantity), of));
            let mut series = settings(axis, axes, grid);
            if let Some(smallest) = compared_from.filter(|_| quantity.is_some()) {
                let shape = Curve { axis, quantity, numbers: &numbers, points, metric, smallest };
                series.iter_mut().for_each(|curve| shape.fill(curve, seed));
            }
            ComparedAxis {
                name: axis.name.clone(),
                reference: axis.reference.clone(),
                levels: axis.levels.clone(),
                quantity,
                numbers,
                series,
            }
        })
        .collect()
}

/// The settings of the other axes, that of their references first, each with its points in the order of the levels.
fn settings(axis: &DesignedAxis, axes: &[DesignedAxis], grid: &Grid<'_>) -> Vec<AxisSeries> {
    let are_compared = axes.iter().any(|axis| axis.name == CONFIGURATION);
    let mut series: Vec<(super::Key, AxisSeries)> = Vec::new();
    for row in &grid.rows {
        let Some(first) = axis.levels.first().filter(|_| axis.level(&row.key).is_some()) else { continue };
        let place = axis.moved(&row.key, first);
        if series.iter().any(|(other, _)| *other == place) {
            continue;
        }
        let others = || axes.iter().filter(|other| other.name != axis.name);
        let curve = AxisSeries {
            setting: label(&row.key, axes, Some(&axis.name)),
            at_reference: others().all(|other| other.is_reference(&row.key)),
            scenario: if are_compared { String::new() } else { row.key.0.clone() },
            reference: axis.reference(&row.key).to_owned(),
            points: axis.levels.iter().map(|level| grid.find(&axis.moved(&row.key, level))).collect(),
            knee: None,
            no_knee: None,
            queueing: None,
            falling: None,
            falling_single: None,
            jump: None,
            no_jump: None,
            sweet_spot: None,
            sweet_spot_lowest: None,
            no_sweet_spot: None,
            scalability: None,
            no_scalability: None,
            scalability_unit: 1.0,
            scaling: Vec::new(),
        };
        series.push((place, curve));
    }
    let mut series: Vec<AxisSeries> = series.into_iter().map(|(_, curve)| curve).collect();
    series.sort_by_key(|curve| !curve.at_reference);
    series
}

/// What the shape of a curve is found from.
struct Curve<'a> {
    axis: &'a DesignedAxis,
    quantity: Option<Quantity>,
    numbers: &'a [f64],
    points: &'a [Point],
    metric: &'a Metric,
    /// From which share on a difference matters.
    smallest: f64,
}

/// Where a sweet spot is, in places of the axis.
struct Found {
    /// None where no level below the largest is shown to be as good.
    at_most: Option<usize>,
    lowest: usize,
}

const NOT_REACHED: &str = "sweet spot not reached: each level below the largest may lose 5% or more against the best, and no larger \
                           level was measured";

impl Curve<'_> {
    fn fill(&self, series: &mut AxisSeries, seed: u64) {
        let levels = self.measured(series);
        match stats::knee(&levels, seed) {
            Ok(knee) => series.knee = Some(knee),
            Err(reason) => {
                series.no_knee = Some(reason.to_string());
                let is_time = self.metric.better == Direction::Lower;
                series.queueing = is_time.then(|| stats::queueing(&levels)).flatten();
            }
        }
        let rises = self.numbers.windows(2).all(|pair| pair[0] < pair[1]);
        if rises && self.metric.better == Direction::Higher {
            series.falling = stats::falling(&levels, stats::Better::Higher, self.smallest);
            series.falling_single = self.falling_single(series);
        }
        match stats::jump(&levels, seed) {
            Ok(jump) => series.jump = Some(jump),
            Err(reason) => series.no_jump = Some(reason.to_string()),
        }
        match self.sweet_spot(series) {
            Ok(Found { at_most, lowest }) => {
                (series.sweet_spot, series.sweet_spot_lowest) = (at_most, Some(lowest));
                series.no_sweet_spot = at_most.is_none().then(|| NOT_REACHED.to_owned());
            }
            Err(reason) => series.no_sweet_spot = Some(reason),
        }
        let scales = SCALING.contains(&self.axis.name.as_str()) && self.quantity == Some(Quantity::Count);
        if scales && self.metric.better == Direction::Higher {
            self.scale(series, &levels);
        }
    }

    fn scale(&self, series: &mut AxisSeries, levels: &[CandidateLevel<'_>]) {
        let mut counted = levels.to_vec();
        if self.axis.name == PROCESSORS {
            series.scaling = stats::scaling_steps(levels);
            let smallest = self.numbers.iter().copied().fold(f64::INFINITY, f64::min);
            if smallest > 0.0 && smallest < 1.0 {
                // The law counts from one: of parts of a processor the smallest is that.
                series.scalability_unit = smallest;
                counted.iter_mut().for_each(|level| level.level /= smallest);
            }
        }
        match stats::usl(&counted) {
            Ok(found) => series.scalability = Some(found),
            Err(reason) => series.no_scalability = Some(reason.to_string()),
        }
    }

    /// The best level and the last one, if both are single runs whose intervals exclude each other, and the best is neither the first
    /// level nor the last.
    fn falling_single(&self, series: &AxisSeries) -> Option<(usize, usize, f64)> {
        let at = |place: usize| Some(&self.points[(*series.points.get(place)?)?].values);
        let last = self.numbers.len().checked_sub(1)?;
        let mean = |place: usize| at(place).and_then(|values| values.mean).unwrap_or(f64::NEG_INFINITY);
        let best = (0..last).max_by(|a, b| mean(*a).total_cmp(&mean(*b))).filter(|best| *best > 0)?;
        let (of_best, of_last) = (at(best)?, at(last)?);
        let excluded = of_last.run_interval?.high? < of_best.run_interval?.low;
        let ratio = of_last.mean? / of_best.mean?;
        (excluded && ratio <= 1.0 - self.smallest).then_some((best, last, ratio))
    }

    /// The metric of each level that is part of the study, block by block.
    fn measured(&self, series: &AxisSeries) -> Vec<CandidateLevel<'_>> {
        let points = self.numbers.iter().zip(&series.points);
        let of = |(&level, &point): (&f64, &Option<usize>)| {
            Some(CandidateLevel { level, by_block: &self.points[point?].values.by_block })
        };
        points.filter_map(of).collect()
    }

    /// The places of its levels, or why there are none.
    fn sweet_spot(&self, series: &AxisSeries) -> Result<Found, String> {
        if !self.numbers.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err("the levels do not rise, so it is unknown which one costs more".to_owned());
        }
        let present: Vec<(usize, &Point)> = series
            .points
            .iter()
            .enumerate()
            .filter_map(|(place, index)| Some((place, &self.points[(*index)?])))
            .collect();
        let least =
            present.iter().map(|(_, p)| p.values.by_block.iter().flatten().count()).min().unwrap_or(0);
        if least < SWEET_SPOT_BLOCKS_MIN {
            return Err(format!(
                "a level was measured in only {}, and {SWEET_SPOT_BLOCKS_MIN} are needed",
                crate::format::counted(least, "block", "blocks")
            ));
        }
        let candidates: Vec<CandidateLevel<'_>> = present
            .iter()
            .map(|(place, point)| CandidateLevel {
                level: self.numbers[*place],
                by_block: &point.values.by_block,
            })
            .collect();
        match stats::sweet_spot(&candidates, direction(self.metric.better)) {
            SweetSpot::AtMost { level, lowest } => {
                Ok(Found { at_most: Some(present[level].0), lowest: present[lowest].0 })
            }
            // That the larger of two is better is said already.
            SweetSpot::NotReached { .. } if candidates.len() < 3 => {
                Err("none with only two levels: a third level would show whether a higher level gains more"
                    .to_owned())
            }
            SweetSpot::NotReached { lowest } => Ok(Found { at_most: None, lowest: present[lowest].0 }),
            SweetSpot::Unknown => {
                Err("a level has a figure of zero, or shares fewer than six blocks with the best level"
                    .to_owned())
            }
        }
    }
}
