//! What a history says, in sentences: changes against the baseline first, then steps, drifts, states and spikes of each figure.

use super::{History, HistoryChange, HistorySeries, Piece, SeriesCourse, Since, SinceVerdict, Spike};
use crate::change::Change;
use crate::compare::Difference;
use crate::format::{self, figure};
use crate::page::parts::instant_text;
use crate::verdict::{Level, Verdict};

/// Differences that a sentence names; the tables have all.
const NAMED_MOST: usize = 4;

/// How often chance makes a change point where runs resemble each other; simulated in docs/statistics.md.
const RESEMBLING: &str = "at a correlation of 0.5, checks after each of 60 runs find a false change point in about 78 of 100 unchanged figures";

/// What looking after each run comes to; simulated in docs/statistics.md.
const EACH_LOOK: &str = "checks after each of 60 runs find a false step in about 15 of 100 unchanged histories. \"Worse than the baseline\" allows for that";

/// All sentences of a history.
pub(super) fn all(history: &History) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = history
        .left_out
        .iter()
        .map(|out| Verdict::new(Level::Warning, "left_out", out.reason.as_str()).about(&out.name))
        .collect();
    let runs = history.runs.len();
    if runs < stats::RUNS_MIN {
        let fact = format!("{} for a change point", format::counted(runs, "run", "runs"));
        let verdict = Verdict::new(Level::Warning, "too_few_runs", fact);
        verdicts.push(verdict.with_limit(format!("{} are needed", stats::RUNS_MIN)));
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
        let fact = format!("no change point in {runs} runs: {}", unchanged.join("; "));
        verdicts.push(Verdict::new(Level::Finding, "unchanged", fact));
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
    let fact = format!(
        "by chance alone, each of {figures} figures shows a step in about {} of histories of independent runs",
        format::per_cent(stats::CHANGE_CHANCE_MAX)
    );
    let effect = format!(
        "false drifts, alternations and spikes are as likely. Expect {} false steps. {}",
        figure(expected),
        format::capital(EACH_LOOK)
    );
    (figures > 1).then(|| Verdict::new(Level::Note, "change_by_chance", fact).with_effect(effect))
}

/// `RND4K, I/Os per second`.
pub(super) fn name(series: &HistorySeries) -> String {
    match series.label.as_str() {
        "" => format::capital(series.metric.says),
        label => format!("{label}, {}", series.metric.says),
    }
}

/// The next step: more runs, the step that a sentence asks for, or a comparison of the runs on both sides of a change.
pub(super) fn next(history: &History) -> String {
    let (runs, names) = (&history.runs, |one: usize, other: usize| {
        format!("compare both runs: prony compare {} {}", history.runs[one].name, history.runs[other].name)
    });
    if runs.len() < stats::RUNS_MIN {
        let missing = format::counted(stats::RUNS_MIN - runs.len(), "more run", "more runs");
        return format!("measure {missing}: a change point needs {}", stats::RUNS_MIN);
    }
    let steps = history.series.iter().flat_map(|series| series.pieces.windows(2));
    let last_step = steps.max_by_key(|pair| pair[1].first).map(|pair| names(pair[0].last, pair[1].first));
    let mut drifts =
        history.series.iter().filter(|series| matches!(series.course, SeriesCourse::Drift { .. }));
    let drift = drifts.next().map(|_| names(0, runs.len() - 1));
    let asked = || all(history).into_iter().find_map(|verdict| verdict.action);
    let again = || "measure again after the next change of the machine or its settings".to_owned();
    last_step.or(drift).or_else(asked).unwrap_or_else(again)
}

fn against_baseline(history: &History, series: &HistorySeries) -> Option<Verdict> {
    let since: Since = series.since_baseline?;
    let baseline = &history.runs[history.baseline?].name;
    let change = Change::of(
        since.gain_pct,
        since.low_pct.zip(since.high_pct),
        series.metric.sense(),
        since.effect.as_ref(),
    );
    // Its interval is not the usual one.
    let confidence = since.effect.map(|effect| effect.confidence);
    let change =
        change.map_or_else(|| format::UNKNOWN.to_owned(), |change| Change { confidence, ..change }.says());
    let (level, fact) = match since.verdict {
        SinceVerdict::Regressed => (Level::Failure, format!("worse than {baseline}: {change}")),
        SinceVerdict::NotShown => {
            (Level::Warning, format!("may be worse than {baseline}, not significant: {change}"))
        }
        SinceVerdict::Changed => {
            (Level::Finding, format!("changed since {baseline}, not for the worse: {change}"))
        }
        SinceVerdict::Unknown => (Level::Warning, format!("unknown whether worse than {baseline}")),
        SinceVerdict::Unchanged => return None,
    };
    let effect = worth(series).filter(|_| since.verdict == SinceVerdict::NotShown);
    let verdict = Verdict::new(level, "since_baseline", fact).about(name(series));
    Some(Verdict { effect, ..verdict })
}

/// `20 runs are worth 7 independent ones`; none where runs do not resemble each other.
fn worth(series: &HistorySeries) -> Option<String> {
    let runs = series.values.iter().flatten().count();
    let found = series.resemblance.filter(|found| found.correlation > 0.0)?;
    Some(format!("{runs} runs are worth {:.0} independent ones", found.independent))
}

/// That runs resemble the ones before, which makes change points by chance.
fn resembles(series: &HistorySeries) -> Option<Verdict> {
    let found = series.resemblance.filter(stats::Resemblance::is_shown)?;
    let worth = worth(series).map(|worth| format!(", so {worth}")).unwrap_or_default();
    let fact = format!("each run resembles the one before (correlation {:.1}){worth}", found.correlation);
    let verdict = Verdict::new(Level::Warning, "runs_correlated", fact).about(name(series));
    let verdict = verdict.with_effect(format!("a change point may be chance: {RESEMBLING}"));
    Some(verdict.with_action(
        "look for a cause that lasts from run to run, such as background load or a filling disk",
    ))
}

fn change(history: &History, series: &HistorySeries, before: &Piece, after: &Piece) -> Verdict {
    let run = &history.runs[after.first];
    let gain = series.change(after.gain_pct).map(|change| format!(", {}", change.says())).unwrap_or_default();
    let fact = format!(
        "changed with {} ({}), from {} to {}{gain}",
        run.name,
        instant_text(&run.started),
        unit(series, before.mean),
        unit(series, after.mean),
    );
    let verdict = Verdict::new(Level::Finding, "change_point", fact).about(name(series));
    let with = history.changes.iter().find(|change| change.run == after.first).map(with);
    Verdict { effect: with, ..verdict }
}

/// A drift or two states; steps have a sentence each.
fn course(series: &HistorySeries) -> Option<Verdict> {
    let runs = series.values.iter().flatten().count();
    match series.course {
        SeriesCourse::Level | SeriesCourse::Steps => None,
        SeriesCourse::Drift { from, to, gain_pct, .. } => {
            let gain =
                series.change(gain_pct).map(|change| format!(", {}", change.says())).unwrap_or_default();
            let fact =
                format!("drifts over {runs} runs, from {} to {}{gain}", unit(series, from), unit(series, to));
            let verdict = Verdict::new(Level::Finding, "drift", fact).about(name(series));
            Some(verdict.with_effect("no single run is the cause"))
        }
        SeriesCourse::TwoStates { low, high, high_runs, switches, .. } => {
            let fact = format!(
                "alternates {switches} times between two states, {} and {}, with {high_runs} of {runs} runs in the upper state",
                unit(series, low),
                unit(series, high)
            );
            let verdict = Verdict::new(Level::Finding, "two_states", fact).about(name(series));
            Some(verdict.with_action("find a cause that differs from run to run"))
        }
    }
}

fn lone(history: &History, series: &HistorySeries, spike: &Spike) -> Verdict {
    let run = &history.runs[spike.run];
    let last = series.values.iter().rposition(Option::is_some);
    let fact = format!(
        "{} ({}) is an outlier with {}, and the runs around it have {}",
        run.name,
        instant_text(&run.started),
        unit(series, spike.value),
        unit(series, spike.usual)
    );
    let verdict = Verdict::new(Level::Finding, "spike", fact).about(name(series));
    if last == Some(spike.run) {
        let verdict = verdict.with_effect("this is the last run, so it may be the start of a change");
        verdict.with_action("measure two more runs")
    } else {
        verdict.with_effect("a single run does not make a change")
    }
}

fn unit(series: &HistorySeries, value: f64) -> String {
    format!("{} {}", figure(value), series.metric.unit).trim_end().to_owned()
}

/// `changed with it: kernel (6.1 to 6.8)`.
fn with(change: &HistoryChange) -> String {
    let all: Vec<&Difference> = change.differences().collect();
    if all.is_empty() {
        return "no change of machine, target or settings is recorded".to_owned();
    }
    let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set".to_owned());
    let one =
        |found: &&Difference| format!("{} ({} to {})", found.what, told(&found.first), told(&found.this));
    let named: Vec<String> = all.iter().take(NAMED_MOST).map(one).collect();
    let more = all.len().saturating_sub(NAMED_MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("changed with it: {}{more}", named.join(", "))
}
