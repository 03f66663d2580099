//! The result of each kind of table against its reference, for readers who choose a kind.

use record::Workload;
use stats::Comparison;

use super::Tables;
use crate::comparison::{CONFIGURATION, ComparedAxis, Gain, Point, PointValues, StudyComparison, axis_words};
use crate::format::{self, duration, figure, grouped};
use crate::report::Report;
use crate::summary::Answer;
use crate::trial::Trial;

/// With more kinds than this a table is easier to read.
const MOST: usize = 12;
/// What is told: the metric, its words, and how its figure is printed.
const TOLD: [(&str, &str, Print); 5] = [
    ("point_updates_per_s", "updates by key", |_, per_s| format!("{} updates/s by key", figure(per_s))),
    ("update_all_s", "UPDATE all", taken),
    ("delete_all_s", "DELETE all", taken),
    ("select_s", "SELECT", taken),
    ("group_s", "GROUP BY", taken),
];

type Print = fn(&str, f64) -> String;

fn taken(words: &str, seconds: f64) -> String {
    format!("{words} {}", duration(seconds))
}

/// A sentence a kind, each against its reference; none where kinds are not compared.
pub(super) fn answers(report: &Report) -> Vec<Answer> {
    let compared = report.comparison.as_ref().and_then(|compared| Some((compared, axis(compared)?)));
    let Some((comparison, axis)) = compared else { return Vec::new() };
    let is_of_tables = report.trials.iter().all(|trial| trial.is(Workload::Tables));
    if !is_of_tables || comparison.points.len() > MOST {
        return Vec::new();
    }
    let points = comparison.points.iter().enumerate();
    points.filter_map(|(index, point)| answer(report, comparison, axis, (index, point))).collect()
}

/// The axis along which kinds are compared.
fn axis(comparison: &StudyComparison) -> Option<&ComparedAxis> {
    let is_of_kinds = |axis: &&ComparedAxis| axis_words(&axis.name) == "kind" || axis.name == CONFIGURATION;
    comparison.axes.iter().find(is_of_kinds).filter(|_| comparison.not_compared.is_none())
}

/// What is told of a point: the words of a metric, how it is printed, its values, and how they compare along the axis of kinds.
type Told<'a> = (&'a str, Print, &'a PointValues, Option<&'a Gain>);

fn answer(
    report: &Report,
    comparison: &StudyComparison,
    axis: &ComparedAxis,
    (index, point): (usize, &Point),
) -> Option<Answer> {
    let told = TOLD.iter().filter_map(|(metric, words, print)| {
        let values = values(comparison, index, metric)?;
        Some((*words, *print, values, values.gains.iter().find(|gain| gain.axis == axis.name)))
    });
    let told: Vec<Told<'_>> = told.filter(|(_, _, values, _)| values.mean.is_some()).collect();
    let is_reference = told.iter().all(|(.., gain)| gain.is_none());
    let is_compared = told.iter().any(|(.., gain)| gain.and_then(Gain::change).is_some());
    let figures = if is_compared { factors(&told) } else { absolute(&told) };
    let name = point.levels.get(&axis.name).unwrap_or(&point.label);
    let explained = if is_reference { ". Below, ×2 is twice as fast" } else { "" };
    let durable = durable(report, point).map(|words| format!(", {words}")).unwrap_or_default();
    (!told.is_empty()).then(|| Answer::labelled(name, format!("{figures}{durable}{explained}")))
}

/// The values of a metric at a point, whether it is the study's own or another one.
fn values<'a>(comparison: &'a StudyComparison, index: usize, metric: &str) -> Option<&'a PointValues> {
    if comparison.metric.name == metric {
        return comparison.points.get(index).map(|point| &point.values);
    }
    comparison.others.iter().find(|other| other.metric.name == metric)?.points.get(index)
}

fn absolute(told: &[Told<'_>]) -> String {
    let one = |(words, print, values, _): &Told<'_>| Some(print(words, values.mean?));
    told.iter().filter_map(one).collect::<Vec<String>>().join(", ")
}

/// `UPDATE all ×5.6, GROUP BY ×2.4; no relevant difference in SELECT`.
fn factors(told: &[Told<'_>]) -> String {
    let (mut figures, mut alike) = (Vec::new(), Vec::new());
    for (words, _, _, gain) in told {
        let Some((gain, change)) = gain.and_then(|gain| Some((gain, gain.change()?))) else { continue };
        if is_alike(gain) {
            alike.push(*words);
        } else {
            figures.push(format!("{words} ×{}", rounded(change.times(change.gain_pct))));
        }
    }
    let alike = (!alike.is_empty()).then(|| format!("no relevant difference in {}", format::listed(&alike)));
    let figures = (!figures.is_empty()).then(|| figures.join(", "));
    figures.into_iter().chain(alike).collect::<Vec<String>>().join("; ")
}

/// True if there is no difference, or if the difference is not relevant.
fn is_alike(gain: &Gain) -> bool {
    match gain.judged.map(|judged| judged.comparison) {
        Some(
            Comparison::WithinNoise
            | Comparison::NotResolvable
            | Comparison::Equivalent
            | Comparison::Alike
            | Comparison::Small,
        ) => true,
        Some(Comparison::Better | Comparison::Worse | Comparison::Differs | Comparison::Descriptive)
        | None => false,
    }
}

/// True if the comparison of kinds finds no relevant difference in this metric.
pub(super) fn is_like_reference(report: &Report, trials: &[u32], metric: &str) -> bool {
    let found = || {
        let comparison = report.comparison.as_ref()?;
        let axis = axis(comparison)?;
        let is_its = |point: &Point| point.trials.iter().any(|trial| trials.contains(trial));
        let values = values(comparison, comparison.points.iter().position(is_its)?, metric)?;
        values.gains.iter().find(|gain| gain.axis == axis.name)
    };
    found().is_some_and(is_alike)
}

/// A factor with two digits, or all of them before the point.
pub(super) fn rounded(factor: f64) -> String {
    match factor {
        factor if !factor.is_finite() => format::UNKNOWN.to_owned(),
        factor if factor >= 9.95 => grouped(factor.round() as u64),
        factor if factor >= 0.995 => format!("{factor:.1}"),
        factor => format!("{factor:.2}"),
    }
}

/// Whether what was acknowledged stays: as a kill showed it, or as it is promised where none was tried.
fn durable(report: &Report, point: &Point) -> Option<String> {
    let of = || {
        report.trials.iter().filter(|trial| point.trials.contains(&trial.number)).filter_map(Trial::tables)
    };
    let is_durable = of().map(|tables| tables.setup.server.is_durable).reduce(|all, one| all && one)?;
    let crashes: Vec<_> = of().filter_map(Tables::crash).collect();
    let acknowledged: u64 = crashes.iter().map(|crash| crash.acknowledged).sum();
    let lost: u64 = crashes.iter().map(|crash| crash.lost).sum();
    let taken = match lost {
        0 => "nothing".to_owned(),
        _ if lost == acknowledged => "all".to_owned(),
        _ => format!("{} of {} changes", grouped(lost), grouped(acknowledged)),
    };
    Some(match (crashes.is_empty(), is_durable, lost) {
        (true, true, _) => "durable (not tested)".to_owned(),
        (true, false, _) => "not durable".to_owned(),
        (false, true, 0) => "durable".to_owned(),
        (false, false, 0) => "not durable, although kill -9 lost nothing".to_owned(),
        (false, true, _) => format!("kill -9 lost {taken}, although the table is durable"),
        (false, false, _) => format!("not durable (kill -9 lost {taken})"),
    })
}
