//! What stands at the head of a page: a few large figures, and the one chart that is the answer.

use record::Workload;

use crate::chart::Chart;
use crate::comparison;
use crate::configuration::Configuration;
use crate::format;
use crate::report::Report;
use crate::trial::{Figures, Trial};
use crate::verdict::rate::{self, Held};
use crate::workloads;

/// Large figures of one page.
const TILES_MOST: usize = 4;

/// A large figure with what it is about: `1,240` `orders/min`, `1,190 to 1,290`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    /// What was measured: `Random reads, 8 KiB`.
    pub(crate) label: String,
    pub(crate) figure: String,
    /// Unit of the figure; empty of a count that the label explains.
    pub(crate) unit: String,
    /// Its interval, or what else a reader needs beside it; empty if nothing.
    pub(crate) beside: String,
    pub(crate) tone: Tone,
}

/// Judgement of a large figure. The text says it too, so colour is never alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// It is neither.
    Plain,
    /// As it must be: no page damaged.
    Good,
    /// As it must not be: writes lost.
    Bad,
    /// It does not count: its test was invalid. It is struck out.
    Invalid,
}

impl Tile {
    pub(crate) fn new(label: impl Into<String>, figure: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            figure: figure.into(),
            unit: unit.into(),
            beside: String::new(),
            tone: Tone::Plain,
        }
    }

    pub(crate) fn beside(self, beside: impl Into<String>) -> Self {
        Self { beside: beside.into(), ..self }
    }

    pub(crate) fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

/// The head of a page.
pub(crate) struct Lead {
    pub(crate) tiles: Vec<Tile>,
    pub(crate) chart: Option<Chart>,
}

impl Lead {
    /// Of a study its comparison; else the figures and the first chart of the workloads, in their order.
    pub(crate) fn of(report: &Report) -> Self {
        let run = || workloads::all().filter(|(workload, _)| report.trials_of(*workload).next().is_some());
        if let Some(compared) = &report.comparison {
            let own = run().find(|(_, shown)| shown.leads_study(report)).map(|(_, shown)| shown);
            let own = own.and_then(|shown| {
                Some(Self { tiles: shown.tiles(report), chart: Some(shown.lead(report)?) })
            });
            return own.unwrap_or_else(|| comparison::lead::of(compared));
        }
        let tiles = run().map(|(workload, shown)| match shown.tiles(report) {
            own if own.is_empty() => rates(report, workload, &TAILS),
            own => own,
        });
        let tiles = foremost(tiles.collect());
        let own = || run().find_map(|(_, shown)| shown.lead(report));
        let of_all = || run().find_map(|(_, shown)| shown.overview(report).into_iter().next());
        Self { tiles, chart: own().or_else(of_all).or_else(|| of_only_trial(report)) }
    }

    /// True if the head shows this chart.
    pub(crate) fn has(&self, chart: &Chart) -> bool {
        self.chart.as_ref().is_some_and(|own| own.svg == chart.svg)
    }
}

/// The first chart of the only trial that counts; none of several.
fn of_only_trial(report: &Report) -> Option<Chart> {
    let mut counted = report.trials.iter().filter(|trial| trial.is_complete());
    let only = counted.next().filter(|_| counted.next().is_none())?;
    only.shown().course(only).into_iter().next()
}

/// A percentile of the latency.
pub(crate) struct Tail {
    name: &'static str,
    of: fn(&Figures) -> Option<f64>,
    /// What the latency lies between; empty for one from the request to the response.
    beside: &'static str,
}

impl Tail {
    pub(crate) const P99: Self = Self { name: "p99", of: |figures| figures.latency.p99_us, beside: "" };
    const P50: Self = Self { name: "p50", of: |figures| figures.latency.p50_us, beside: "" };

    pub(crate) const fn beside(self, beside: &'static str) -> Self {
        Self { beside, ..self }
    }
}

/// Percentiles beside the rate of a single configuration.
const TAILS: [Tail; 2] = [Tail::P50, Tail::P99];

/// Whether a configuration sustained its rate, in words. Returns none if nothing was judged.
pub(crate) type Judge = fn(&Configuration, &[Trial]) -> Option<(String, Tone)>;

fn held(configuration: &Configuration, trials: &[Trial]) -> Option<(String, Tone)> {
    Some(match rate::held(configuration, trials)? {
        Held::No(_) => ("not sustained".to_owned(), Tone::Bad),
        Held::Yes(held) => (held, Tone::Plain),
    })
}

/// The rate of each configuration of a workload, and for a single one these percentiles of its latency.
pub(crate) fn rates(report: &Report, workload: Workload, tails: &[Tail]) -> Vec<Tile> {
    judged_rates(report, workload, tails, held)
}

/// The same for a workload that judges its rates itself.
pub(crate) fn judged_rates(report: &Report, workload: Workload, tails: &[Tail], judge: Judge) -> Vec<Tile> {
    let measured: Vec<&Configuration> = report
        .configurations_of(workload)
        .filter(|one| !one.is_failed() && one.main().is_some_and(|main| main.per_s.is_some()))
        .collect();
    let tails = if measured.len() == 1 { tails } else { &[] };
    measured.into_iter().flat_map(|one| figures(one, report, tails, judge)).collect()
}

/// The only configuration of a workload, if it left figures, and the trial of it whose rate is in the middle.
pub(crate) fn only(report: &Report, workload: Workload) -> Option<(&Configuration, &Trial)> {
    let mut all = report.configurations_of(workload);
    let only = all.next().filter(|one| all.next().is_none() && !one.is_failed())?;
    let mut trials: Vec<&Trial> = only.measured_in(&report.trials).collect();
    let per_s = |trial: &Trial| trial.main().and_then(|main| main.per_s).unwrap_or(0.0);
    trials.sort_by(|one, other| per_s(one).total_cmp(&per_s(other)));
    Some((only, trials.get(trials.len().saturating_sub(1) / 2)?))
}

/// The chart of one trial with, of several, which one that is.
pub(crate) fn chart_of(trial: &Trial, of: usize, chart: Chart) -> Chart {
    match of {
        1 => chart,
        of => Chart {
            heading: format!("{}: trial {} of {of}, with the median rate", chart.heading, trial.number),
            ..chart
        },
    }
}

fn figures(configuration: &Configuration, report: &Report, tails: &[Tail], judge: Judge) -> Vec<Tile> {
    let unit = &workloads::of(configuration.workload).words().unit;
    let Some((main, per_s)) = configuration.main().and_then(|main| Some((main, main.per_s?))) else {
        return Vec::new();
    };
    let interval = rate::interval(configuration, unit.of(1.0));
    let interval = interval.trim_matches(['(', ')']);
    let rate = Tile::new(&configuration.name, format::figure(unit.of(per_s)), unit.short);
    let rate = match judge(configuration, &report.trials) {
        Some((words, tone)) => rate.beside(format!("{words}, {interval}")).tone(tone),
        None => rate.beside(interval),
    };
    let latencies = tails.iter().filter_map(|tail| {
        let text = format::latency((tail.of)(main)?);
        let (figure, unit) = text.split_once(' ')?;
        Some(Tile::new(format!("{} latency", tail.name), figure, unit).beside(tail.beside))
    });
    std::iter::once(rate).chain(latencies).collect()
}

/// The first of each, then the second of each, as far as there is room; in the order in which they came.
fn foremost<T>(of_workloads: Vec<Vec<T>>) -> Vec<T> {
    let mut ranked: Vec<(usize, usize, T)> = Vec::new();
    for (workload, all) in of_workloads.into_iter().enumerate() {
        ranked.extend(all.into_iter().enumerate().map(|(place, one)| (place, workload, one)));
    }
    ranked.sort_by_key(|(place, workload, _)| (*place, *workload));
    ranked.truncate(TILES_MOST);
    ranked.sort_by_key(|(place, workload, _)| (*workload, *place));
    ranked.into_iter().map(|(.., one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::foremost;

    #[test]
    fn each_workload_has_a_figure_before_one_has_two() {
        assert_eq!(
            foremost(vec![vec!["a1", "a2", "a3"], vec!["b1"], vec!["c1", "c2"]]),
            ["a1", "a2", "b1", "c1"]
        );
        assert_eq!(foremost(vec![vec!["a1", "a2", "a3", "a4", "a5"]]), ["a1", "a2", "a3", "a4"]);
        assert_eq!(foremost::<&str>(vec![vec![], vec![]]), [""; 0]);
    }
}
