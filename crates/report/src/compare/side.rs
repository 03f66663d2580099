//! A side of a comparison: one study, or several runs of the same at different times.

use std::collections::BTreeMap;

use serde::Serialize;

use super::difference::{self, Difference};
use super::run::Run;
use super::{CombinationKey, RunCells};
use crate::comparison::combination;
use crate::format;
use crate::trial::Trial;

/// What was measured of each combination, run by run.
pub(super) type Cells<'a> = BTreeMap<CombinationKey, Vec<RunCells<'a>>>;

/// What never is the same in two runs, and no difference of a side.
const OWN: &str = "seed";

/// In what a run differs from the first of its side.
#[derive(Clone, Debug, Serialize)]
pub struct RunDifferences {
    /// Its name.
    pub run: String,
    /// Name of the first of its side.
    pub of: String,
    /// In what they differ: machines, targets, settings.
    pub differences: Vec<Difference>,
}

/// A run whose workload of a combination is not that of the first run of its side that has it.
#[derive(Clone, Debug, Serialize)]
pub struct MixedWorkload {
    /// Its name.
    pub run: String,
    /// Name of the first.
    pub of: String,
    /// In what they differ.
    pub differences: Vec<Difference>,
}

/// A side.
pub(super) struct Side<'a> {
    /// Its runs, at least one.
    pub(super) runs: Vec<Run<'a>>,
}

impl<'a> Side<'a> {
    pub(super) fn of(runs: &'a [(String, &'a record::StudyRecord)]) -> Self {
        Self { runs: runs.iter().map(|(name, study)| Run::of(name, study)).collect() }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.runs.iter().map(|run| run.name.to_owned()).collect()
    }

    /// `A1`, or `A1 and 2 more`.
    pub(super) fn label(&self) -> String {
        super::label(&self.names())
    }

    pub(super) fn is_designed(&self) -> bool {
        self.runs.iter().all(|run| run.study.manifest.compared().is_some())
    }

    /// What was measured of each combination in the runs that have it.
    pub(super) fn cells(&self, designed: bool) -> Cells<'_> {
        let mut cells = Cells::new();
        for (place, run) in self.runs.iter().enumerate() {
            for (key, own) in run.cells(designed) {
                cells.entry(key).or_default().push((place, own));
            }
        }
        cells
    }

    /// Whether all its runs were begun before all of the other, or after them.
    pub(super) fn is_apart_from(&self, other: &Self) -> bool {
        let begun = |side: &Self| {
            let mut all: Vec<String> = side.runs.iter().map(|run| run.report.started.clone()).collect();
            all.sort();
            all.first().cloned().zip(all.last().cloned())
        };
        let ends = begun(self).zip(begun(other));
        ends.is_some_and(|((first, last), (other_first, other_last))| {
            last < other_first || other_last < first
        })
    }

    /// In what further runs differ from the first one.
    pub(super) fn within(&self, cells: &Cells<'_>) -> Vec<RunDifferences> {
        let Some((first, others)) = self.runs.split_first() else { return Vec::new() };
        let of = |(place, run): (usize, &Run<'_>)| {
            let pairs: Vec<(&Trial, &Trial)> =
                cells.values().filter_map(|runs| Some((trial(runs, 0)?, trial(runs, place)?))).collect();
            let trials = (first.report.trials.as_slice(), run.report.trials.as_slice());
            let mut differences = difference::environment(first.study, run.study);
            differences.extend(difference::target(&pairs, trials));
            let settings = difference::settings(first.study, run.study, &pairs, trials);
            differences.extend(settings.into_iter().filter(|found| found.what != OWN));
            RunDifferences { run: run.name.to_owned(), of: first.name.to_owned(), differences }
        };
        let all = (1..).zip(others).map(of);
        all.filter(|found| !found.differences.is_empty()).collect()
    }

    /// Runs whose workload of a combination is another than that of the first that has it.
    pub(super) fn mixed(&self, runs: &[RunCells<'_>]) -> Vec<MixedWorkload> {
        let Some(((first, own), others)) = runs.split_first() else { return Vec::new() };
        let of = |(place, cells): &RunCells<'_>| MixedWorkload {
            run: self.runs[*place].name.to_owned(),
            of: self.runs[*first].name.to_owned(),
            differences: difference::workload(own[0].trial, cells[0].trial),
        };
        others.iter().map(of).filter(|mixed| !mixed.differences.is_empty()).collect()
    }

    /// `RAID10 was not measured in A3`.
    pub(super) fn partly(&self, cells: &Cells<'_>) -> Vec<String> {
        let lacking = |runs: &[RunCells<'_>]| {
            let lacks = |place: &usize| !runs.iter().any(|(has, _)| has == place);
            let names = (0..self.runs.len()).filter(lacks).map(|place| self.runs[place].name);
            names.collect::<Vec<&str>>()
        };
        cells
            .iter()
            .map(|(key, runs)| (key, lacking(runs)))
            .filter(|(_, names)| !names.is_empty())
            .map(|(key, names)| format!("{} has no figures in {}", combination(key), format::listed(&names)))
            .collect()
    }
}

fn trial<'a>(runs: &'a [RunCells<'_>], at: usize) -> Option<&'a Trial> {
    runs.iter().find(|(place, _)| *place == at).and_then(|(_, cells)| cells.first()).map(|cell| cell.trial)
}
