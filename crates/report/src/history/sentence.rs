//! What a history says, in sentences: changes against the baseline first, then steps, drifts, states and spikes of each figure.

use super::{History, HistoryChange, HistorySeries, Piece, SeriesCourse, Since, SinceVerdict, Spike};
use crate::change::{Change, told_or_dash};
use crate::compare::Difference;
use crate::format::{self, figure};
use crate::page::parts::instant;
use crate::verdict::{Level, Verdict};

/// Differences that a sentence names; the tables have all.
const NAMED_MOST: usize = 4;

/// How often chance makes a change point where runs resemble each other; simulated in docs/statistics.md.
const RESEMBLING: &str = "looked at after each of 60 runs, chance gives one to about 78 of 100 figures that never change at a correlation of 0.5";

/// What looking after each run comes to; simulated in docs/statistics.md.
const EACH_LOOK: &str = "A figure that is looked at after each of 60 runs is given one in about 15 of 100 histories. \
                         \"Worse than the baseline\" allows for that";

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
        verdicts.extend(resembles(series));
        verdicts.extend(course(series));
        verdicts.extend(series.spikes.iter().map(|spike| lone(history, series, spike)));
    }
    let is_level = |series: &&HistorySeries| series.course == SeriesCourse::Level;
    let unchanged: Vec<String> = history.series.iter().filter(is_level).map(name).collect();
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
        "{figures} figures are followed. Chance alone gives each a step in about {} of histories, and a drift, two states or a spike as \
         often, if runs do not depend on each other; expect {} false steps. {EACH_LOOK}",
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
        SinceVerdict::NotShown => (
            Level::Warning,
            format!("may be worse than at {baseline}, which is not shown: {change}{}", worth(series)),
        ),
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

/// `; 20 runs tell as much as 7 independent ones`.
fn worth(series: &HistorySeries) -> String {
    let runs = series.values.iter().flatten().count();
    let worth = |found: stats::Resemblance| {
        format!("; {runs} runs tell as much as {:.0} independent ones", found.independent)
    };
    series.resemblance.filter(|found| found.correlation > 0.0).map(worth).unwrap_or_default()
}

/// That runs resemble the ones before, which makes change points by chance.
fn resembles(series: &HistorySeries) -> Option<Verdict> {
    let found = series.resemblance.filter(stats::Resemblance::is_shown)?;
    let sentence = format!(
        "{}: each run resembles the one before (correlation {:.1}){}, and a change point may be chance: {RESEMBLING}",
        name(series),
        found.correlation,
        worth(series)
    );
    let verdict = Verdict::new(Level::Warning, "runs_correlated", sentence);
    Some(
        verdict.with_remedy(
            "look for what lasts from one run to the next, such as other load or a filling disk",
        ),
    )
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

/// A drift or two states; steps have a sentence each.
fn course(series: &HistorySeries) -> Option<Verdict> {
    let runs = series.values.iter().flatten().count();
    match series.course {
        SeriesCourse::Level | SeriesCourse::Steps => None,
        SeriesCourse::Drift { from, to, gain_pct, .. } => {
            let gain =
                series.change(gain_pct).map(|change| format!(", {}", change.told())).unwrap_or_default();
            let sentence = format!(
                "{}: drifts over {runs} runs, from {} to {}{gain}; no single run is the cause",
                name(series),
                unit(series, from),
                unit(series, to)
            );
            Some(Verdict::new(Level::Finding, "drift", sentence))
        }
        SeriesCourse::TwoStates { low, high, high_runs, switches, .. } => {
            let sentence = format!(
                "{}: alternates between two states, {} and {}: {high_runs} of {runs} runs are in the upper one, and it changes {switches} \
                 times; look for a cause that differs from run to run",
                name(series),
                unit(series, low),
                unit(series, high)
            );
            Some(Verdict::new(Level::Finding, "two_states", sentence))
        }
    }
}

fn lone(history: &History, series: &HistorySeries, spike: &Spike) -> Verdict {
    let run = &history.runs[spike.run];
    let last = series.values.iter().rposition(Option::is_some);
    let what = if last == Some(spike.run) {
        "it is the last run, so it may begin a change: measure two more"
    } else {
        "a single run, so no change"
    };
    let sentence = format!(
        "{}: {} ({}) stands out with {}, where the runs beside it have {}; {what}",
        name(series),
        run.name,
        instant(&run.started),
        unit(series, spike.value),
        unit(series, spike.usual)
    );
    Verdict::new(Level::Finding, "spike", sentence)
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
