//! What a history says, in sentences: changes against the baseline first, then each change point.

use super::{History, HistoryChange, HistorySeries, Piece, Since, SinceVerdict};
use crate::change::{Change, told_or_dash};
use crate::compare::Difference;
use crate::format::{self, figure};
use crate::page::parts::instant;
use crate::verdict::{Level, Verdict};

/// Differences that a sentence names; the tables have all.
const NAMED_MOST: usize = 4;

/// All sentences of a history.
pub(super) fn all(history: &History) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = history
        .left_out
        .iter()
        .map(|out| {
            Verdict::new(Level::Warning, "left_out", format!("{} is left out: {}", out.name, out.reason))
        })
        .collect();
    let runs = history.runs.len();
    if runs < stats::RUNS_MIN {
        let sentence = format!(
            "{} are too few for a change point: {} are needed",
            format::counted(runs, "run", "runs"),
            stats::RUNS_MIN
        );
        verdicts.push(Verdict::new(Level::Warning, "too_few_runs", sentence));
    }
    verdicts.extend(history.series.iter().filter_map(|series| against_baseline(history, series)));
    for series in &history.series {
        verdicts.extend(series.pieces.windows(2).map(|pair| change(history, series, &pair[0], &pair[1])));
    }
    let unchanged: Vec<String> =
        history.series.iter().filter(|series| series.pieces.len() < 2).map(name).collect();
    if !unchanged.is_empty() && runs >= stats::RUNS_MIN {
        let sentence = format!("no change point in {} runs: {}", runs, unchanged.join("; "));
        verdicts.push(Verdict::new(Level::Finding, "unchanged", sentence));
    }
    verdicts.extend(by_chance(history));
    verdicts
}

/// How many of many figures change by chance alone. A correction for all of them would leave nothing to be found: of 999 orders none
/// is rarer than one of a thousand.
fn by_chance(history: &History) -> Option<Verdict> {
    let followed = |series: &&HistorySeries| series.values.iter().flatten().count() >= stats::RUNS_MIN;
    let figures = history.series.iter().filter(followed).count();
    let expected = figures as f64 * stats::CHANGE_CHANCE_MAX;
    let sentence = format!(
        "{figures} figures are followed, and chance alone gives each a change point in about {} of histories whose runs do not depend on \
         each other: {} false ones are to be expected among them, and several times as many where each run resembles the one before",
        format::per_cent(stats::CHANGE_CHANCE_MAX),
        figure(expected)
    );
    (figures > 1).then(|| Verdict::new(Level::Note, "change_by_chance", sentence))
}

/// `RND4K, iops`.
pub(super) fn name(series: &HistorySeries) -> String {
    format!("{}, {}", series.label, series.metric.name)
}

fn against_baseline(history: &History, series: &HistorySeries) -> Option<Verdict> {
    let since: Since = series.since_baseline?;
    let baseline = &history.runs[history.baseline?].name;
    let change = told_or_dash(Change::of(
        since.gain_pct,
        since.low_pct.zip(since.high_pct),
        series.metric.sense(),
        since.effect.as_ref(),
    ));
    let (level, sentence) = match since.verdict {
        SinceVerdict::Regressed => (Level::Failure, format!("worse than at {baseline}: {change}")),
        SinceVerdict::Changed => (
            Level::Finding,
            format!("changed since {baseline}, and not for the worse by what matters: {change}"),
        ),
        SinceVerdict::Unknown => {
            (Level::Warning, format!("not known whether it is worse than at {baseline}"))
        }
        SinceVerdict::Unchanged => return None,
    };
    Some(Verdict::new(level, "since_baseline", format!("{}: {sentence}", name(series))))
}

fn change(history: &History, series: &HistorySeries, before: &Piece, after: &Piece) -> Verdict {
    let run = &history.runs[after.first];
    let gain = series.change(after.gain_pct).map(|change| format!(", {}", change.told())).unwrap_or_default();
    let because =
        history.changes.iter().find(|change| change.run == after.first).map(with).unwrap_or_default();
    let sentence = format!(
        "{}: changes with {} ({}): {} before, {} from then on{gain}{because}",
        name(series),
        run.name,
        instant(&run.started),
        unit(series, before.mean),
        unit(series, after.mean),
    );
    Verdict::new(Level::Finding, "change_point", sentence)
}

fn unit(series: &HistorySeries, value: f64) -> String {
    format!("{} {}", figure(value), series.metric.unit).trim_end().to_owned()
}

/// `; with it changed kernel (6.1 to 6.8)`.
fn with(change: &HistoryChange) -> String {
    let all: Vec<&Difference> =
        change.environment.iter().chain(&change.target).chain(&change.settings).collect();
    if all.is_empty() {
        return "; no change of machine, target or settings is recorded".to_owned();
    }
    let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set".to_owned());
    let one =
        |found: &&Difference| format!("{} ({} to {})", found.what, told(&found.first), told(&found.this));
    let named: Vec<String> = all.iter().take(NAMED_MOST).map(one).collect();
    let more = all.len().saturating_sub(NAMED_MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("; with it changed {}{more}", named.join(", "))
}
