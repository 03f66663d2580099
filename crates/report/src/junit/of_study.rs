//! The suite of a run: what had to hold of it, its searches, its rates and its trials.

use record::State;

use super::{Case, End, Suite, document};
use crate::comparison::{Point, StudyComparison, axis_words};
use crate::format;
use crate::page::{machine, title};
use crate::rate::RateHeld;
use crate::report::Report;
use crate::search::Search;
use crate::summary::{Answer, Summary};
use crate::trial::Trial;
use crate::verdict::outcome;

/// Classes of the cases, by which readers group them.
const RUN: &str = "run";
const THRESHOLDS: &str = "thresholds";
const GAINS: &str = "gains";
const SEARCHES: &str = "searches";
const RATES: &str = "rates";
const TRIALS: &str = "trials";

impl Report {
    /// What became of the run as JUnit XML: a case for the run as a whole, for each threshold, for each search, for each rate that was
    /// asked for, and for each trial but the steps of searches. Of a study without thresholds what each level gains is told as
    /// skipped, since nothing was asked of it.
    #[must_use]
    pub fn junit(&self) -> String {
        let summary = Summary::of(self);
        let reliability = format!("reliability: {}", summary.reliability_words());
        document(&[Suite {
            name: title::of(self).whole(),
            started: self.started.clone(),
            host: self.environment.as_ref().map(|environment| environment.host.clone()),
            properties: properties(self),
            cases: cases(self),
            told: summary.answers.iter().map(Answer::sentence).chain([reliability]).collect(),
        }])
    }
}

fn properties(report: &Report) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    all.extend(report.labels.name.clone().map(|name| ("name", name)));
    all.extend(report.labels.tags.iter().map(|(key, value)| ("tag", format!("{key}={value}"))));
    all.extend(report.labels.title.clone().map(|title| ("user_title", title)));
    all.extend(report.labels.comment_lines().map(|line| ("comment", line.to_owned())));
    if let Some(stored) = &report.results {
        all.push(("path", stored.directory.display().to_string()));
    }
    all.push(("machine", machine::in_words(report.environment.as_ref())));
    all.push(("command", report.command.join(" ")));
    all.push(("version", report.tool_version.clone()));
    all
}

fn cases(report: &Report) -> Vec<Case> {
    let compared = report.comparison.as_ref();
    let mut cases = vec![whole(report)];
    let thresholds = compared.iter().flat_map(|compared| &compared.thresholds).chain(&report.thresholds);
    cases.extend(thresholds.map(|threshold| Case::judged(THRESHOLDS, threshold)));
    if let Some(compared) = compared.filter(|compared| compared.thresholds.is_empty()) {
        cases.extend(gains(compared));
    }
    cases.extend(report.searches.iter().map(|found| search(report, found)));
    if report.asks_for_rates() {
        cases.extend(report.trials.iter().filter_map(rate_held));
    }
    cases.extend(report.trials.iter().filter_map(measured));
    cases
}

/// Whether all was measured that was planned.
fn whole(report: &Report) -> Case {
    let unfinished: Vec<String> =
        outcome::unfinished(report).into_iter().map(|verdict| verdict.sentence()).collect();
    let (end, why) = match unfinished.as_slice() {
        [] => (End::Passed, format::counted(report.trials.len(), "trial", "trials")),
        sentences => {
            (End::Error, sentences.iter().chain(&report.damage).cloned().collect::<Vec<_>>().join(" "))
        }
    };
    Case { class: RUN, name: "the run is complete".to_owned(), measured_s: 0.0, end, why }
}

/// What each level gains over the reference, along each axis. Nothing was asked of it, so that it neither passes nor fails.
fn gains(compared: &StudyComparison) -> Vec<Case> {
    let of_point = |point: &Point| {
        let case = |gain: &crate::Gain| {
            let change = gain.change().map(|change| format!("{} {}, ", compared.metric.name, change.told()));
            Case {
                class: GAINS,
                name: format!(
                    "{} over {} ({})",
                    point.label,
                    compared.points[gain.reference].label,
                    axis_words(&gain.axis)
                ),
                measured_s: 0.0,
                end: End::Skipped,
                why: format!("{}{}, no threshold set", change.unwrap_or_default(), gain.words),
            }
        };
        point.values.gains.iter().map(case).collect::<Vec<Case>>()
    };
    compared.points.iter().flat_map(of_point).collect()
}

fn search(report: &Report, search: &Search) -> Case {
    let levels: String =
        search.levels.iter().map(|(axis, level)| format!(", {} {level}", axis_words(axis))).collect();
    let of_steps = report.trials.iter().find(|trial| search.trials().contains(&trial.number));
    let unit = of_steps.map_or("", |trial| trial.shown().words().unit.short);
    let range = search.range().map(|range| format!("{} {unit}", range.words()));
    let because = search.failed_because.join("; ");
    let (end, why) = match (search.stable_at, range) {
        (Some(_), range) => (End::Passed, range.unwrap_or_default()),
        (None, Some(range)) => (End::Error, format!("no rate was confirmed: {range}")),
        (None, None) if because.is_empty() => (End::Error, "no rate was sustained".to_owned()),
        (None, None) => (End::Error, format!("no rate was sustained: {because}")),
    };
    let name =
        format!("{}{levels}, block {}: a sustained rate was found", search.configuration, search.block);
    Case { class: SEARCHES, name, measured_s: 0.0, end, why }
}

/// Whether a rate that was asked for was held; none of a trial without one.
fn rate_held(trial: &Trial) -> Option<Case> {
    let (end, why) = match trial.rate_held()? {
        RateHeld::Held => (End::Passed, String::new()),
        RateHeld::NotHeld(why) => (End::Failed, why),
        RateHeld::NotJudged(why) => (End::Error, format!("not judged: {why}")),
    };
    let name = format!("{} sustains its rate", named(trial));
    Some(Case { class: RATES, name, measured_s: 0.0, end, why })
}

/// Whether a trial was measured as it should. For a step of a search its search speaks, unless the step went wrong in a way that
/// no search may.
fn measured(trial: &Trial) -> Option<Case> {
    let reason = || trial.reason.clone().unwrap_or_else(|| "no reason was recorded".to_owned());
    let (end, why) = match (trial.state, trial.unaccounted()) {
        _ if trial.is_void() => {
            (End::Error, "operations failed, so no figure of this trial is valid".to_owned())
        }
        (State::Failed, _) => (End::Error, format!("it failed: {}", reason())),
        (_, Some(why)) => (End::Failed, why),
        (State::Aborted | State::Running, _) => (End::Error, "interrupted".to_owned()),
        _ if trial.search.is_some() => return None,
        (State::Invalid, None) => (End::Error, format!("invalid: {}", reason())),
        (State::Skipped | State::Planned, None) => (End::Skipped, format!("skipped: {}", reason())),
        (State::Complete, None) => (End::Passed, String::new()),
    };
    Some(Case { class: TRIALS, name: named(trial), measured_s: trial.measured_s, end, why })
}

fn named(trial: &Trial) -> String {
    let aa = if trial.aa { ", A/A" } else { "" };
    format!("trial {}, block {}: {}{aa}", trial.number, trial.block, trial.name)
}
