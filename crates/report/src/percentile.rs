//! Percentiles of one run with their intervals: what the tails of a record support, as latencies.

use record::{Latency, Metric, Percentile, Percentiles, Tail, Workload};
use serde::Serialize;
use stats::percentile_ranks;

use crate::format::{self, UNKNOWN};
use crate::report::Report;
use crate::section::Block;
use crate::table::{Column, Row, Table, column, words};
use crate::trial::{Figures, Trial};

/// Rows of percentiles that a terminal shows.
const ROWS_MOST: usize = 12;

/// What the signs in place of an interval mean.
const SIGNS: &str = "Intervals cover this trial only; below 30 s they hold in about 9 of 10 trials. –: too few operations are above the percentile, or the trial is shorter than 8 s. A single bound: the upper bound exceeds every measured value";

/// The 95% interval of a percentile of one run, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PercentileInterval {
    /// Lower end, at most the percentile.
    pub low_us: f64,
    /// Upper end, at least the percentile; none where it lies beyond all that was measured.
    pub high_us: Option<f64>,
}

/// The intervals of the percentiles of a [`record::Summary`], of this trial; none of fewer than eight seconds, or if too few
/// operations lie beyond the percentile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PercentileIntervals {
    /// Of the median.
    pub p50_us: Option<PercentileInterval>,
    /// Of the 95th percentile.
    pub p95_us: Option<PercentileInterval>,
    /// Of the 99th percentile.
    pub p99_us: Option<PercentileInterval>,
    /// Of the 99.9th percentile.
    pub p999_us: Option<PercentileInterval>,
}

/// A percentile that was asked for besides those of every summary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OwnPercentile {
    /// Which one, in per cent.
    pub percentile: Percentile,
    /// Its value in microseconds; none where too few operations lie beyond it.
    pub us: Option<f64>,
    /// Its interval of this run; none where a [`PercentileIntervals`] has none, and of several trials together.
    pub interval: Option<PercentileInterval>,
}

impl PercentileInterval {
    fn of(latency: &Latency, tail: Option<&Tail>, per_cent: f64) -> Option<Self> {
        let percentile = latency.percentile_us(per_cent)?;
        let ranks = percentile_ranks(&tail?.seconds(per_cent)?, per_cent / 100.0)?;
        Some(Self {
            low_us: latency.quantile_us(ranks.low).min(percentile),
            high_us: ranks.high.map(|high| latency.quantile_us(high).max(percentile)),
        })
    }
}

impl PercentileIntervals {
    pub(crate) fn of(latency: &Latency, tail: Option<&Tail>) -> Self {
        let [p50_us, p95_us, p99_us, p999_us] =
            record::PERCENTILES.map(|per_cent| PercentileInterval::of(latency, tail, per_cent));
        Self { p50_us, p95_us, p99_us, p999_us }
    }
}

impl OwnPercentile {
    pub(crate) fn of(latency: &Latency, tail: Option<&Tail>, percentile: Percentile) -> Self {
        let per_cent = percentile.per_cent();
        let us = latency.percentile_us(per_cent);
        Self { percentile, us, interval: PercentileInterval::of(latency, tail, per_cent) }
    }
}

impl Figures {
    /// A percentile with its interval, as far as they are known; nothing of one that nobody asked for.
    pub(crate) fn percentile(&self, wanted: Percentile) -> (Option<f64>, Option<PercentileInterval>) {
        let (latency, intervals) = (&self.latency, &self.intervals);
        let common = [
            (latency.p50_us, intervals.p50_us),
            (latency.p95_us, intervals.p95_us),
            (latency.p99_us, intervals.p99_us),
            (latency.p999_us, intervals.p999_us),
        ];
        let place = record::PERCENTILES.iter().position(|per_cent| *per_cent == wanted.per_cent());
        let own = || self.own_percentiles.iter().find(|own| own.percentile == wanted);
        match place {
            Some(place) => common[place],
            None => own().map_or((None, None), |own| (own.us, own.interval)),
        }
    }
}

/// The interval of a metric that is a percentile of one run, in milliseconds, the upper end infinite where it is open.
pub(crate) fn interval_ms(trial: &Trial, metric: &Metric) -> Option<(f64, f64)> {
    let interval = match metric.percentile() {
        Some(percentile) => trial.main()?.percentile(percentile).1,
        None => trial.shown().percentile_interval(trial, metric.name),
    }?;
    Some((interval.low_us / 1e3, interval.high_us.map_or(f64::INFINITY, |high| high / 1e3)))
}

/// The percentiles of each trial of a workload with their intervals. A terminal shows the rows that trials are about, and those of
/// single kinds where there is room; nothing where trials repeat each other or are many.
pub(crate) fn blocks(report: &Report, workload: Workload) -> Vec<Block> {
    let trials: Vec<&Trial> = report.trials_of(workload).filter(|trial| has_any(trial)).collect();
    let is_repeated = report.configurations_of(workload).any(|configuration| configuration.trials.len() > 1);
    let is_searched = trials.iter().any(|trial| trial.search.is_some());
    let shown = &report.percentiles;
    let (all, mains) = (table(&trials, usize::MAX, shown), table(&trials, 1, shown));
    let fits = |table: &Table| !is_repeated && !is_searched && table.rows.len() <= ROWS_MOST;
    let on_page = |table: Table| Block::OnPage { summary: table.title.clone(), table };
    let remark = || Block::Remark(format!("{SIGNS}."));
    match (all, mains) {
        (Some(all), _) if fits(&all) => vec![Block::Table(all), remark()],
        (Some(all), Some(mains)) if fits(&mains) => vec![Block::Table(mains), remark(), on_page(all)],
        (all, _) => all.map(on_page).into_iter().collect(),
    }
}

/// A table of so many rows of each trial at most; none without any.
fn table(trials: &[&Trial], rows_most: usize, percentiles: &Percentiles) -> Option<Table> {
    let mut columns = vec![
        column("#", "number of the trial", 4),
        words("trial", "name of the configuration", 0),
        words("operation", "kind of operation", 0),
    ];
    columns.extend(percentile_columns(percentiles, [2, 3, 0, 1]));
    let rows = trials.iter().flat_map(|trial| {
        let figures = trial.figures.iter().take(rows_most).enumerate();
        figures.map(|(index, figures)| row(trial, figures, index > 0, percentiles))
    });
    let names: Vec<String> = percentiles.iter().map(Percentile::name).collect();
    let table = Table::of("Percentiles of each trial, with their 95% CI", columns, rows)?;
    // What was asked for is told, also where no run was long enough for it.
    let names = if *percentiles == Percentiles::default() { names } else { Vec::new() };
    Some(table.without_empty_columns(&names.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// A column for each percentile; `spare` says how much each of the usual ones is needed.
pub(crate) fn percentile_columns(
    percentiles: &Percentiles,
    spare: [u8; record::PERCENTILES.len()],
) -> impl Iterator<Item = Column> {
    percentiles.iter().map(move |percentile| {
        let place = record::PERCENTILES.iter().position(|per_cent| *per_cent == percentile.per_cent());
        Column {
            head: percentile.name().into(),
            // What was asked for is left out last.
            spare: place.map_or(1, |place| spare[place]),
            ..column("", percentile.metric().says, 0)
        }
    })
}

fn has_any(trial: &Trial) -> bool {
    trial.figures.iter().any(|figures| figures.latency.p50_us.is_some())
}

fn row(trial: &Trial, figures: &Figures, part: bool, percentiles: &Percentiles) -> Row {
    let cells = percentiles.iter().map(|percentile| figures.percentile(percentile));
    let lead =
        if part { [String::new(), String::new()] } else { [trial.number.to_string(), trial.name.clone()] };
    let cells =
        lead.into_iter().chain([figures.kind.clone()]).chain(cells.map(|(us, interval)| cell(us, interval)));
    Row { cells: cells.collect(), part }
}

/// `12.3 ms (11.9–12.8)`, `12.3 ms (from 11.9 ms on)`, or `12.3 ms (–)`.
fn cell(us: Option<f64>, interval: Option<PercentileInterval>) -> String {
    let Some(us) = us else { return UNKNOWN.to_owned() };
    let ends = match interval {
        Some(PercentileInterval { low_us, high_us: Some(high_us) }) => between(us, low_us, high_us),
        Some(PercentileInterval { low_us, high_us: None }) => format!("from {} on", format::latency(low_us)),
        None => UNKNOWN.to_owned(),
    };
    format!("{} ({ends})", format::latency(us))
}

/// Both ends, without their unit where it is that of the percentile.
fn between(us: f64, low_us: f64, high_us: f64) -> String {
    let texts = [us, low_us, high_us].map(format::latency);
    let [_, low, high] = texts.each_ref().map(|text| text.split_once(' '));
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    let is_one_unit = unit(&texts[0]) == unit(&texts[1]) && unit(&texts[0]) == unit(&texts[2]);
    match (low, high) {
        (Some((low, _)), Some((high, _))) if is_one_unit => format!("{low}–{high}"),
        _ => format!("{}–{}", texts[1], texts[2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_have_the_unit_of_their_percentile_or_their_own() {
        let of = |low_us, high_us| Some(PercentileInterval { low_us, high_us });
        assert_eq!(cell(Some(12_300.0), of(11_900.0, Some(12_800.0))), "12.3 ms (11.9–12.8)");
        assert_eq!(cell(Some(1_020.0), of(981.0, Some(1_100.0))), "1.02 ms (981 µs–1.10 ms)");
        assert_eq!(cell(Some(12_300.0), of(11_900.0, None)), "12.3 ms (from 11.9 ms on)");
        assert_eq!(cell(Some(12_300.0), None), "12.3 ms (–)");
        assert_eq!(cell(None, None), "–");
    }
}
