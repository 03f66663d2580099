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
use crate::verdict::{Fact, Level, Verdict};
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

/// What a shape is called that was not found, by its rule.
const SHAPES: [(&str, &str); 3] =
    [("no_knee", "knee"), ("sweet_spot", "sweet spot"), ("scalability", "scalability")];

/// That no knee, sweet spot or scalability was found is no news: one line, with the first reason and the names of the others.
fn no_shape(notes: &[Verdict]) -> Option<Verdict> {
    let (first, others) = notes.split_first()?;
    let name = |rule: &str| SHAPES.into_iter().find(|(id, _)| *id == rule).map(|(_, name)| name);
    let mut names: Vec<&str> = Vec::new();
    for name in others.iter().filter(|other| other.rule != first.rule).filter_map(|other| name(&other.rule)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let also = (!names.is_empty()).then(|| format!("also not found: {}", names.join(", ")));
    Some(Verdict { effect: also.or_else(|| first.effect.clone()), ..first.clone() })
}

/// Rates that were set and not held: what a level gains there is of what was written, and not of what was offered.
fn not_held(report: &Report) -> Option<Verdict> {
    let failed = |trial: &Trial| {
        let is_asked = trial.search.is_none() && !trial.is_broken_on_purpose();
        let judged = trial.shown().judged(trial).filter(|_| is_asked);
        judged.is_some_and(|judged| judged.held == Some(false))
    };
    let doubt = Doubt::plain(Level::Warning, "not_held", &report.trials, failed)
        .verdict(format::per_cent, |_| "the offered rate was not sustained".to_owned())?;
    Some(doubt.with_effect("the figures of these trials show the work done, not the offered rate"))
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
        let fact = format!("failed: {}", threshold.why);
        Verdict::new(Level::Failure, THRESHOLD, fact).about(&threshold.text)
    });
    let inconclusive = of(Outcome::Inconclusive).map(|threshold| {
        let fact = format!("inconclusive: {}", threshold.why);
        Verdict::new(Level::Warning, THRESHOLD, fact).about(&threshold.text)
    });
    let held: Vec<&str> = of(Outcome::Held).map(|threshold| threshold.text.as_str()).collect();
    let held = (!held.is_empty()).then(|| {
        let subject = if held.len() == 1 { "passed threshold" } else { "passed thresholds" };
        Verdict::new(Level::Finding, THRESHOLD, held.join("; ")).about(subject)
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
    let subject = format!("best of {} combinations in {}", points.len(), comparison.metric.says);
    let around = |index: usize, after: String| {
        let of_value = value(&comparison.metric, &points[index])?;
        Some(Fact::around(format!("{} with ", points[index].label), of_value, after))
    };
    let needed = format!("a verdict needs {} blocks", stats::BLOCKS_MIN);
    let (first, fact, effect) = match best(comparison)? {
        Best::Ahead { best, next, over_next } => {
            let ahead = ahead(&over_next, better);
            (best, around(best, format!(", {ahead} ahead of the next, {}", points[next].label))?, None)
        }
        Best::NotApart(all) => {
            let others: Vec<&str> = all[1..].iter().map(|index| points[*index].label.as_str()).collect();
            let others = format::listed_by("; ", &others);
            let of_value = value(&comparison.metric, &points[all[0]])?;
            let before = format!("inconclusive, a tie between {} with ", points[all[0]].label);
            (all[0], Fact::around(before, of_value, format!(" and {others}")), None)
        }
        Best::Few(best) => {
            let which = if better == Direction::Higher { "highest" } else { "lowest" };
            (best, around(best, format!(", the {which} mean"))?, Some(needed))
        }
    };
    let trials = points[first].trials.clone();
    let verdict = Verdict::new(Level::Finding, "best", fact).about(subject).of_trials(trials);
    Some(Verdict { effect, ..verdict })
}

/// The best combination, or the combinations that tie for the best, by index.
pub(super) fn best(comparison: &StudyComparison) -> Option<Best> {
    let figures = comparison.points.iter().map(|point| point.values.by_block.as_slice());
    let looks = comparison.looks.as_ref().map(|looks| &looks.levels);
    stats::best(&figures.collect::<Vec<_>>(), direction(comparison.metric.better), looks)
}

/// `8% (95% CI 5–11%)`, by how much the best is ahead of the next.
fn ahead(over_next: &Effect, better: Direction) -> String {
    let pct = |ratio: f64| points_of(gain_pct(ratio, direction(better)).abs());
    let Estimate { value, low, high } = over_next.ratio;
    let (least, most) = if better == Direction::Lower { (high, low) } else { (low, high) };
    format!("{}% (95% CI {}–{}%)", pct(value), pct(least), pct(most))
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
