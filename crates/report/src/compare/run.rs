//! A study that is compared: what was measured of each combination, and what of it counts for nothing.

use std::collections::BTreeMap;

use record::{Design, Metric, Share, State, StudyRecord, Workload, axis_in_full};

use super::CombinationKey;
use crate::comparison::{Cell, axis_words};
use crate::metrics::of_study;
use crate::report::Report;
use crate::summary::{Reliability, Summary};
use crate::trial::Trial;

/// What was measured, by combination.
pub(crate) type Cells<'a> = BTreeMap<CombinationKey, Vec<Cell<'a>>>;

/// A study with its trials by combination.
pub(crate) struct Run<'a> {
    pub(crate) name: &'a str,
    pub(crate) study: &'a StudyRecord,
    pub(crate) report: Report,
}

impl<'a> Run<'a> {
    pub(crate) fn of(name: &'a str, study: &'a StudyRecord) -> Self {
        Self { name, study, report: Report::of(study) }
    }

    /// The reliability of the run apart from the comparison, the reason, and the next step.
    pub(crate) fn trust(&self) -> (Reliability, String, Option<String>) {
        let summary = Summary::of(&self.report);
        let reason = summary.reliability_reason();
        (summary.reliability, reason, summary.next)
    }

    /// What was measured of each combination. Named configurations are known by their name, single trials by that of the
    /// trial; axes over databases have one name, however a study file spelled them.
    pub(crate) fn cells(&self, designed: bool) -> Cells<'_> {
        let mut cells = Cells::new();
        let single = |trial: &&Trial| {
            trial.is_complete() && !trial.aa && trial.search.is_none() && trial.main().is_some()
        };
        for trial in self.report.trials.iter().filter(single) {
            cells.entry(key(trial, designed)).or_default().push(Cell::of(trial));
        }
        for search in &self.report.searches {
            let held = search.stable_at.and_then(|_| search.range().zip(search.held_in()));
            let step = |number: u32| self.report.trials.iter().find(|trial| trial.number == number);
            if let Some((range, trial)) = held.and_then(|(range, number)| Some((range, step(number)?))) {
                cells.entry(key(trial, designed)).or_default().push(Cell::searched(trial, range));
            }
        }
        cells
    }

    /// What the trials of a workload are judged by.
    pub(crate) fn metric(&self, workload: Workload) -> Option<&'static Metric> {
        let mut design = self.study.manifest.design.clone().unwrap_or_default();
        let is_of = |name: &String| Metric::named(name).is_some_and(|metric| metric.is_of(workload));
        design = Design { metric: design.metric.filter(is_of), ..design };
        of_study(&design, self.report.trials.iter().filter(|trial| trial.is(workload)))
    }

    /// The share from which on an effect matters to whoever made this study.
    pub(crate) fn smallest_effect(&self) -> f64 {
        let own = self.study.manifest.design.as_ref().and_then(|design| design.smallest);
        own.map_or(stats::SMALLEST_EFFECT, Share::value)
    }

    /// What of it is not compared, a sentence each: what is damaged, and what did not come to its end as it should.
    pub(crate) fn not_used(&self) -> Vec<String> {
        let damage =
            self.report.damage.iter().map(|damage| format!("the results directory is damaged: {damage}"));
        let ended = |trial: &Trial| match trial.state {
            _ if trial.is_void() => Some("had errors, so only its error share is compared"),
            State::Failed => Some("failed"),
            State::Aborted | State::Running => Some("was interrupted"),
            State::Invalid => Some("is invalid"),
            State::Complete | State::Planned | State::Skipped => None,
        };
        let trials = self.report.trials.iter().filter_map(|trial| {
            let reason = trial.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            Some(format!("trial {} {}{reason}", trial.number, ended(trial)?))
        });
        let unconfirmed = self.report.searches.iter().filter(|search| search.stable_at.is_none());
        let searches = unconfirmed.map(|search| {
            format!("the search of {} in block {} confirmed no rate", search.configuration, search.block)
        });
        damage.chain(trials).chain(searches).collect()
    }

    /// Why it has nothing that could be compared.
    pub(crate) fn has_nothing(&self) -> String {
        let trials = &self.report.trials;
        match trials.len() {
            0 => format!("{} has no readable trial", self.name),
            1 => format!("the only trial of {} has no valid figures", self.name),
            trials => format!("none of the {trials} trials of {} has valid figures", self.name),
        }
    }
}

fn key(trial: &Trial, designed: bool) -> CombinationKey {
    let levels = trial.levels.iter().map(|(name, level)| axis_in_full(name, level)).collect();
    if designed {
        return (trial.configuration.clone(), levels);
    }
    // A name may tell the levels, as they were spelled.
    let mut name = trial.name.clone();
    for (axis, level) in &trial.levels {
        let (now, full) = axis_in_full(axis, level);
        let told = |axis: &str, level: &str| format!(", {} {level}", axis_words(axis));
        name = name.replace(&told(axis, level), &told(&now, &full));
    }
    (name, levels)
}
