//! The trials of a study by point and block.

use std::collections::{BTreeMap, BTreeSet};

use record::{Design, Manifest, Metric, State};

use crate::metrics;
use crate::percentile::interval_ms;
use crate::search::{RateRange, Search};
use crate::trial::Trial;

/// What a point is known by: its named configuration and its levels.
pub(crate) type Key = (String, BTreeMap<String, String>);

/// All points with what was measured of them.
pub(crate) struct Grid<'a> {
    /// Numbers of the blocks, rising.
    pub(crate) blocks: Vec<u32>,
    /// Points in the order of the study.
    pub(crate) rows: Vec<Row<'a>>,
    /// Second measurements of a reference: the block, the point, and what was measured.
    pub(crate) aa: Vec<(u32, Key, Cell<'a>)>,
    /// Second measurements that were begun and count for nothing.
    aa_not_used: Vec<u32>,
    index: BTreeMap<Key, usize>,
}

/// One point.
pub(crate) struct Row<'a> {
    pub(crate) key: Key,
    /// What was measured in each block.
    pub(crate) cells: Vec<Option<Cell<'a>>>,
    /// Trials that were begun and count for nothing.
    pub(crate) not_used: Vec<u32>,
    /// Whether a trial of it was left out on purpose.
    is_left_out: bool,
}

/// A point in one block: a complete trial, or a search that confirmed a rate, with the step that speaks for it.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'a> {
    pub(crate) trial: &'a Trial,
    sustained: Option<RateRange>,
}

/// Metrics that are as many times the rate of the operations that a trial is about, whichever second it is of.
const RATES: [&str; 5] = ["iops", "mb_per_s", "records_per_s", "orders_per_min", "committed_orders_per_min"];

impl<'a> Cell<'a> {
    /// A complete trial.
    pub(crate) fn of(trial: &'a Trial) -> Self {
        Self { trial, sustained: None }
    }

    /// A search that confirmed a rate, with the step that speaks for it.
    pub(crate) fn searched(trial: &'a Trial, confirmed: RateRange) -> Self {
        Self { trial, sustained: Some(confirmed) }
    }

    /// None of a trial with I/O errors, whose figures nobody should trust, but for the share of the errors itself.
    pub(crate) fn value(&self, metric: &Metric) -> Option<f64> {
        match metric.name {
            metrics::SUSTAINED => Some(self.sustained?.held_per_s),
            metrics::ERROR_SHARE => metrics::value(self.trial, metric),
            _ if self.is_trusted() => metrics::value(self.trial, metric),
            _ => None,
        }
    }

    /// The interval of a percentile or of a rate of its run, in the metric's unit; the upper end may be infinite.
    pub(crate) fn interval(&self, metric: &Metric) -> Option<(f64, f64)> {
        let of_run = || interval_ms(self.trial, metric).or_else(|| self.rate_interval(metric));
        of_run().filter(|_| self.is_trusted())
    }

    /// That of what is a fixed number a main operation, or that many times its rate.
    fn rate_interval(&self, metric: &Metric) -> Option<(f64, f64)> {
        let rate = self.trial.rate_per_s.filter(|rate| rate.value > 0.0)?;
        let factor =
            metrics::value(self.trial, metric).filter(|_| RATES.contains(&metric.name))? / rate.value;
        Some((rate.low * factor, rate.high * factor))
    }

    /// Where the greatest rate lies that can be held; none of what was not searched.
    pub(crate) fn sustained(&self) -> Option<RateRange> {
        self.sustained
    }

    /// Whether its figures count.
    pub(crate) fn is_trusted(&self) -> bool {
        !self.trial.is_void()
    }
}

impl Row<'_> {
    /// Whether there is nothing of it because it was left out, which is told with the reason.
    pub(crate) fn is_left_out(&self) -> bool {
        self.is_left_out && self.not_used.is_empty() && self.cells.iter().all(Option::is_none)
    }

    /// The metric in each block.
    pub(crate) fn values(&self, metric: &Metric) -> Vec<Option<f64>> {
        self.cells.iter().map(|cell| cell.as_ref().and_then(|cell| cell.value(metric))).collect()
    }
}

impl<'a> Grid<'a> {
    /// Where the greatest rate of each point lies, of its searches together.
    pub(crate) fn sustained(&self) -> impl Iterator<Item = Option<RateRange>> {
        let of = |row: &Row<'_>| {
            RateRange::mean(
                &row.cells.iter().flatten().filter_map(Cell::sustained).collect::<Vec<RateRange>>(),
            )
        };
        self.rows.iter().map(of)
    }

    pub(crate) fn of(
        manifest: &Manifest,
        design: &Design,
        trials: &'a [Trial],
        searches: &[Search],
        aa_searches: &[Search],
    ) -> Self {
        let mut grid = Self::empty(manifest, design, trials);
        for trial in trials.iter().filter(|trial| trial.search.is_none()) {
            let usable = trial.is_complete() && trial.main().is_some();
            let cell = usable.then_some(Cell::of(trial));
            grid.place(key(trial), trial, cell);
        }
        for search in searches.iter().chain(aa_searches) {
            let of = |number: u32| trials.iter().find(|trial| trial.number == number);
            let confirmed = search.stable_at.and_then(|_| Some((search.range()?, of(search.held_in()?)?)));
            let cell = confirmed.map(|(range, trial)| Cell::searched(trial, range));
            if let Some(trial) = confirmed.map(|(_, trial)| trial).or_else(|| of(*search.trials().last()?)) {
                grid.place(key(trial), trial, cell);
            }
        }
        grid
    }

    /// The points of the plan and of the trials, without anything measured.
    fn empty(manifest: &Manifest, design: &Design, trials: &[Trial]) -> Self {
        let last = trials.iter().map(|trial| trial.block).max();
        // Blocks that a study did without once all was settled are none of it.
        let belongs = |block: u32| design.stop.is_never() || last.is_none_or(|last| block <= last);
        let planned = manifest.plan.iter().filter(|planned| !planned.aa && belongs(planned.block));
        let planned = planned.map(|p| ((p.configuration.clone(), p.levels.clone()), p.block));
        let begun = trials.iter().filter(|trial| !trial.aa).map(|trial| (key(trial), trial.block));
        let (mut keys, mut blocks) = (BTreeSet::new(), BTreeSet::new());
        for (key, block) in planned.chain(begun) {
            keys.insert(key);
            blocks.insert(block);
        }
        let mut keys: Vec<Key> = keys.into_iter().collect();
        keys.sort_by_cached_key(|key| place_in(design, key));
        let index = keys.iter().cloned().zip(0..).collect();
        let row =
            |key: Key| Row { key, cells: vec![None; blocks.len()], not_used: Vec::new(), is_left_out: false };
        let rows = keys.into_iter().map(row).collect();
        Self { blocks: blocks.into_iter().collect(), rows, aa: Vec::new(), aa_not_used: Vec::new(), index }
    }

    /// Puts what was measured where it belongs. Of several complete trials of a point in one block, which a study that was
    /// taken up again may have, the last one counts that can be trusted.
    fn place(&mut self, key: Key, trial: &'a Trial, cell: Option<Cell<'a>>) {
        let begun = !matches!(trial.state, State::Skipped | State::Planned);
        let not_used = (begun && !cell.is_some_and(|cell| cell.is_trusted())).then_some(trial.number);
        if trial.aa {
            self.aa.extend(cell.map(|cell| (trial.block, key, cell)));
            self.aa_not_used.extend(not_used);
            return;
        }
        let block = self.blocks.iter().position(|block| *block == trial.block);
        let row = self.index.get(&key).and_then(|&index| self.rows.get_mut(index));
        let (Some(block), Some(row)) = (block, row) else { return };
        row.not_used.extend(not_used);
        row.is_left_out |= trial.state == State::Skipped;
        let place = &mut row.cells[block];
        if let Some(cell) = cell.filter(|cell| cell.is_trusted() || place.is_none()) {
            *place = Some(cell);
        }
    }

    /// The metric of a point in each block as others are compared with it: where it was measured twice in a block, the geometric
    /// mean of both.
    pub(crate) fn as_reference(&self, index: usize, metric: &Metric) -> Vec<Option<f64>> {
        let row = &self.rows[index];
        let mut values = row.values(metric);
        for (block, _, cell) in self.aa.iter().filter(|(_, key, _)| *key == row.key) {
            let place = self.blocks.iter().position(|other| other == block);
            let Some(value) = place.and_then(|place| values.get_mut(place)) else { continue };
            *value = match (*value, cell.value(metric)) {
                (Some(first), Some(second)) => Some((first * second).sqrt()),
                (first, second) => first.or(second),
            };
        }
        values
    }

    /// All trials that were begun and count for nothing, rising.
    pub(crate) fn not_used(&self) -> Vec<u32> {
        let of_points = self.rows.iter().flat_map(|row| &row.not_used);
        let mut all: Vec<u32> = of_points.chain(&self.aa_not_used).copied().collect();
        all.sort_unstable();
        all
    }

    pub(crate) fn row(&self, key: &Key) -> Option<&Row<'a>> {
        self.rows.get(self.find(key)?)
    }

    pub(crate) fn find(&self, key: &Key) -> Option<usize> {
        self.index.get(key).copied()
    }
}

pub(crate) fn key(trial: &Trial) -> Key {
    (trial.configuration.clone(), trial.levels.clone())
}

/// Where a point stands in the order of the study file.
pub(crate) fn place_in(design: &Design, key: &Key) -> Vec<usize> {
    let place = |levels: &[String], level: Option<&String>| {
        levels.iter().position(|l| Some(l) == level).unwrap_or(usize::MAX)
    };
    let configuration = place(&design.configurations, Some(&key.0));
    let axes = design.axes.iter().map(|axis| place(&axis.levels, key.1.get(&axis.name)));
    std::iter::once(configuration).chain(axes).collect()
}
