//! What a study that compares came to: what each level gains over the reference, where the curve bends, whether the
//! thresholds held, and what the reader must know of the order and of the noise.

use record::Direction;
use stats::{Best, Effect, Estimate};

use super::{caveat, direction, gain_pct, gain_sentence, shape_sentence};
use crate::comparison::{ComparedMetric, Outcome, Point, StudyComparison, ThresholdResult};
use crate::format::{self, figure, points as points_of};
use crate::report::Report;
use crate::trial::Trial;
use crate::verdict::doubt::Doubt;
use crate::verdict::{Level, Verdict};
use crate::workloads;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let Some(comparison) = &report.comparison else { return thresholds(&report.thresholds) };
    let mut verdicts: Vec<Verdict> = best_combination(comparison).into_iter().collect();
    let mut shapes = Vec::new();
    for axis in &comparison.axes {
        verdicts.extend(gain_sentence::along(comparison, axis));
        verdicts.extend(gain_sentence::elsewhere(comparison, axis));
        shapes.extend(shape_sentence::all(comparison, axis));
    }
    let (no_news, shapes): (Vec<Verdict>, Vec<Verdict>) =
        shapes.into_iter().partition(|verdict| verdict.level == Level::Note);
    verdicts.extend(shapes);
    verdicts.extend(no_shape(&no_news));
    verdicts.extend(not_held(report));
    verdicts.extend(thresholds(&comparison.thresholds));
    verdicts.extend(caveat::all(report, comparison));
    verdicts
}

/// That no knee, sweet spot or scalability was found is no news: one line, with the first reason.
fn no_shape(notes: &[Verdict]) -> Option<Verdict> {
    let first = notes.first()?;
    let more = match notes.len() {
        1 => String::new(),
        2 => "; one more shape was looked for and not found".to_owned(),
        many => format!("; {} more shapes were looked for and not found", many - 1),
    };
    Some(Verdict { sentence: format!("{}{more}", first.sentence), ..first.clone() })
}

/// Rates that were set and not held: what a level gains there is of what was written, and not of what was offered.
fn not_held(report: &Report) -> Option<Verdict> {
    let failed = |trial: &Trial| {
        let is_asked = trial.search.is_none() && !trial.is_broken_on_purpose();
        let judged = trial.shown().judged(trial).filter(|_| is_asked);
        judged.is_some_and(|judged| judged.held == Some(false))
    };
    Doubt::plain(Level::Warning, "not_held", &report.trials, failed).verdict(format::per_cent, |_| {
        "the rate that was offered was not held (pending records grew, or not all was written in time); the trials say why"
            .to_owned()
    })
}

/// The verdicts on single configurations that a comparison replaces: its table has their figures, and a study of many
/// combinations would drown its reader in them.
pub(crate) fn replaces(report: &Report, verdict: &Verdict) -> bool {
    let replaced = || workloads::all().flat_map(|(_, shown)| shown.words().replaced);
    report.comparison.is_some() && replaced().any(|rule| *rule == verdict.rule)
}

/// The rule of what became of thresholds.
pub(crate) const THRESHOLD: &str = "threshold";

fn thresholds(judged: &[ThresholdResult]) -> Vec<Verdict> {
    let of = |outcome: Outcome| judged.iter().filter(move |t| t.outcome == outcome);
    let failed = of(Outcome::Failed).map(|threshold| {
        let sentence = format!("The threshold {} failed: {}", threshold.text, threshold.why);
        Verdict::new(Level::Failure, THRESHOLD, sentence)
    });
    let inconclusive = of(Outcome::Inconclusive).map(|threshold| {
        let sentence =
            format!("Whether the threshold {} holds is not decided: {}", threshold.text, threshold.why);
        Verdict::new(Level::Warning, THRESHOLD, sentence)
    });
    let held: Vec<&str> = of(Outcome::Held).map(|threshold| threshold.text.as_str()).collect();
    let held = (!held.is_empty()).then(|| {
        let what = if held.len() == 1 { "The threshold held" } else { "These thresholds held" };
        Verdict::new(Level::Finding, THRESHOLD, format!("{what}: {}", held.join("; ")))
    });
    failed.chain(inconclusive).chain(held).collect()
}

/// Of several axes, the combination that is ahead of all others; of a single one, its own sentences say so.
fn best_combination(comparison: &StudyComparison) -> Option<Verdict> {
    let scenarios =
        comparison.axes.iter().flat_map(|axis| &axis.series).any(|series| !series.scenario.is_empty());
    let is_offered = comparison.points.iter().any(Point::is_of_held_rate);
    if is_offered || comparison.axes.len() < 2 || comparison.not_compared.is_some() || scenarios {
        return None;
    }
    let points = &comparison.points;
    let better = comparison.metric.better;
    let figures: Vec<&[Option<f64>]> = points.iter().map(|point| point.values.by_block.as_slice()).collect();
    let of_several = format!("of {} combinations", points.len());
    let says = comparison.metric.says;
    let with_value = |index: usize| {
        let of_value = value(&comparison.metric, &points[index])?;
        Some(format!("{} with {of_value}", points[index].label))
    };
    let looks = comparison.looks.as_ref().map(|looks| &looks.levels);
    let (first, sentence) = match stats::best(&figures, direction(better), looks)? {
        Best::Ahead { best, next, over_next } => {
            let (ahead, next, found) = (ahead(&over_next, better), &points[next].label, with_value(best)?);
            (best, format!("The best {of_several} in {says} is {found}, {ahead} ahead of the next, {next}"))
        }
        Best::NotApart(all) => {
            let others: Vec<&str> = all[1..].iter().map(|index| points[*index].label.as_str()).collect();
            let best = with_value(all[0])?;
            let others = format::listed_by("; ", &others);
            (
                all[0],
                format!(
                    "Which {of_several} is the best in {says} is not settled: {best} cannot be told apart from {others}"
                ),
            )
        }
        Best::Few(best) => {
            let needed = stats::BLOCKS_MIN;
            let which = if better == Direction::Higher { "greatest" } else { "least" };
            let best_value = with_value(best)?;
            (
                best,
                format!(
                    "The {which} mean of {says} {of_several} is that of {best_value}; to name a best one takes {needed} blocks"
                ),
            )
        }
    };
    let figure = value(&comparison.metric, &points[first]);
    let trials = points[first].trials.clone();
    Some(Verdict { figure, trials, ..Verdict::new(Level::Finding, "best", sentence) })
}

/// `8 % (5–11 %)`, by how much the best is ahead of the next.
fn ahead(over_next: &Effect, better: Direction) -> String {
    let pct = |ratio: f64| points_of(gain_pct(ratio, direction(better)).abs());
    let Estimate { value, low, high } = over_next.ratio;
    let (least, most) = if better == Direction::Lower { (high, low) } else { (low, high) };
    format!("{} % ({}–{} %)", pct(value), pct(least), pct(most))
}

/// `2,310 records/s (2,280–2,340)`; of a metric whose unit does not tell what it is, with its name. Of several blocks a
/// percentile is the mean of theirs.
pub(crate) fn value(metric: &ComparedMetric, point: &Point) -> Option<String> {
    let several = point.values.by_block.iter().flatten().count() > 1;
    let name = match (metric.better, metric.percentile()) {
        (Direction::Higher, _) => String::new(),
        (Direction::Lower, Some(_)) if several => format!("mean {} ", metric.name),
        (Direction::Lower, _) => format!("{} ", metric.name),
    };
    let mean = format!("{name}{} {}", figure(point.values.mean?), metric.unit);
    Some(match point.values.interval {
        Some(interval) => format!("{mean} ({})", format::range(interval.low, interval.high)),
        None => mean,
    })
}
