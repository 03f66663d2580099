//! A configuration: the trials of one name and one set of levels, taken together.

use std::collections::BTreeMap;

use record::{OperationInterval, Setup, State, StudyRecord, Tails, Workload};
use serde::Serialize;
use stats::{Estimate, Looks, TwoStates};

use crate::comparison;
use crate::comparison::grid;
use crate::machine::Machine;
use crate::stability::STATES_SEED;
use crate::trial::{Figures, Generator, Trial, at_most_offered, figures_of, offered};

/// What was measured of one configuration.
#[derive(Clone, Debug, Serialize)]
pub struct Configuration {
    /// Name, such as `RND4K Q32T1 read`.
    pub name: String,
    /// Values of the axes.
    pub levels: BTreeMap<String, String>,
    /// Trials that the figures come from: the complete ones, or those cut short where there is no complete one.
    pub trials: Vec<u32>,
    /// Whether no trial was complete.
    pub cut_short: bool,
    /// How trials ended that were not complete, such as `2 failed`; empty if all were.
    pub not_complete: String,
    /// Figures of all these trials: counts and times added up, histograms merged.
    pub figures: Vec<Figures>,
    /// I/Os a second with an interval: over the repeats, or of a single run, over its seconds.
    pub rate_per_s: Option<Estimate>,
    /// I/Os a second of the best repeat.
    pub best_per_s: Option<f64>,
    /// Megabytes (10^6 bytes) a second of the best repeat, as CrystalDiskMark prints.
    pub best_mb_per_s: Option<f64>,
    /// I/Os a second of each of the trials.
    pub per_s: Vec<f64>,
    /// The two states that its trials alternate between, in operations per second; none if they have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_states: Option<TwoStates>,
    /// What the load generator took: means over the trials.
    pub generator: Generator,
    /// The machine meanwhile: means over the trials.
    pub machine: Machine,
    /// Whether a trial of it failed.
    #[serde(skip)]
    pub(crate) has_failed: bool,
    /// What was loaded.
    #[serde(skip)]
    pub(crate) workload: Workload,
    /// Setup of the first of them.
    #[serde(skip)]
    pub(crate) setup: Option<Setup>,
}

impl Configuration {
    /// The row the configuration is about.
    pub(crate) fn main(&self) -> Option<&Figures> {
        self.figures.first()
    }

    /// The row of a kind.
    pub(crate) fn figures_of(&self, kind: &str) -> Option<&Figures> {
        self.figures.iter().find(|figures| figures.kind == kind)
    }

    pub(crate) fn is(&self, workload: Workload) -> bool {
        self.workload == workload
    }

    /// Whether it failed before any trial of it was complete: that is told as a failure, and its figures are no finding.
    pub(crate) fn is_failed(&self) -> bool {
        self.cut_short && self.has_failed
    }

    /// Its trials.
    pub(crate) fn measured_in<'a>(&'a self, trials: &'a [Trial]) -> impl Iterator<Item = &'a Trial> {
        let of = |number: &u32| trials.iter().find(|trial| trial.number == *number);
        self.trials.iter().filter_map(of)
    }

    /// Operations due a second; open loop only.
    pub(crate) fn offered_per_s(&self) -> Option<f64> {
        self.setup.as_ref().and_then(offered)
    }
}

/// All configurations that left figures, in the order of the study where it compares, else of their first trial; of the given blocks only, if any are
/// given. The steps of a search are no repeats of each other and are left to it; a second measurement of the reference
/// is left out. Intervals hold for all looks of the study, if it has any.
pub(crate) fn all(
    study: &StudyRecord,
    trials: &[Trial],
    blocks: Option<(u32, u32)>,
    looks: Option<&Looks>,
) -> Vec<Configuration> {
    let wanted = |trial: &Trial| {
        !trial.aa
            && trial.search.is_none()
            && blocks.is_none_or(|(first, last)| (first..=last).contains(&trial.block))
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, trial) in trials.iter().enumerate().filter(|(_, trial)| wanted(trial)) {
        let same = |group: &&mut Vec<usize>| {
            let first = &trials[group[0]];
            first.workload == trial.workload
                && first.name == trial.name
                && first.levels == trial.levels
                && first.configuration == trial.configuration
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    // Blocks run in orders of chance.
    if let Some(design) = &study.manifest.design {
        groups.sort_by_cached_key(|group| grid::place_in(design, &grid::key(&trials[group[0]])));
    }
    groups.iter().filter_map(|group| configuration(study, trials, group, looks)).collect()
}

fn configuration(
    study: &StudyRecord,
    trials: &[Trial],
    group: &[usize],
    looks: Option<&Looks>,
) -> Option<Configuration> {
    let of_state = |wanted: &dyn Fn(State) -> bool| -> Vec<usize> {
        group.iter().copied().filter(|&i| wanted(trials[i].state) && !trials[i].figures.is_empty()).collect()
    };
    let complete = of_state(&|state| state == State::Complete);
    let cut_short = complete.is_empty();
    let chosen = if cut_short {
        of_state(&|state| matches!(state, State::Aborted | State::Running | State::Failed))
    } else {
        complete
    };
    let first = &trials[*chosen.first()?];
    let mains: Vec<&Figures> = chosen.iter().filter_map(|&i| trials[i].main()).collect();
    let per_s: Vec<f64> = mains.iter().filter_map(|figures| figures.per_s).collect();
    let rate_per_s = match chosen.as_slice() {
        [_] => first.rate_per_s,
        _ => comparison::looks::mean(looks, &per_s),
    };
    Some(Configuration {
        name: first.name.clone(),
        levels: first.levels.clone(),
        trials: chosen.iter().map(|&i| trials[i].number).collect(),
        cut_short,
        not_complete: not_complete(trials, group),
        has_failed: group.iter().any(|&index| trials[index].state == State::Failed),
        figures: merged(study, trials, &chosen),
        rate_per_s: rate_per_s.map(|rate| at_most_offered(rate, first.setup.as_ref())),
        best_per_s: per_s.iter().copied().reduce(f64::max),
        best_mb_per_s: mains.iter().filter_map(|figures| figures.mb_per_s).reduce(f64::max),
        two_states: stats::two_states_of_trials(&per_s, STATES_SEED),
        per_s,
        generator: generator(trials, &chosen),
        machine: machine(trials, &chosen),
        workload: first.workload,
        setup: first.setup.clone(),
    })
}

/// Trials that were not complete, by state.
fn not_complete(trials: &[Trial], group: &[usize]) -> String {
    let mut counts: Vec<(State, usize)> = Vec::new();
    let ended = group.iter().map(|&index| trials[index].state);
    for state in ended.filter(|state| !matches!(state, State::Complete | State::Skipped)) {
        match counts.iter_mut().find(|(other, _)| *other == state) {
            Some((_, count)) => *count += 1,
            None => counts.push((state, 1)),
        }
    }
    let words = counts.into_iter().map(|(state, count)| format!("{count} {}", crate::format::state(state)));
    words.collect::<Vec<_>>().join(", ")
}

/// The figures of several trials; those of a single one are its own.
fn merged(study: &StudyRecord, trials: &[Trial], chosen: &[usize]) -> Vec<Figures> {
    if let [only] = chosen {
        return trials[*only].figures.clone();
    }
    let mut kinds: BTreeMap<String, OperationInterval> = BTreeMap::new();
    for (kind, operation) in chosen.iter().flat_map(|&index| &study.trials[index].measured) {
        kinds.entry(kind.clone()).or_default().merge(operation);
    }
    let first = &trials[chosen[0]];
    let measured_s = chosen.iter().map(|&index| trials[index].measured_s).sum();
    figures_of(
        first.shown(),
        &first.about,
        &kinds,
        measured_s,
        (&Tails::default(), &study.manifest.own_percentiles()),
    )
}

fn mean_of(trials: &[Trial], chosen: &[usize], figure: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
    stats::mean(&chosen.iter().filter_map(|&index| figure(&trials[index])).collect::<Vec<f64>>())
}

fn generator(trials: &[Trial], chosen: &[usize]) -> Generator {
    let mean = |figure: fn(&Trial) -> Option<f64>| mean_of(trials, chosen, figure);
    Generator {
        cpu_us_per_operation: mean(|trial| trial.generator.cpu_us_per_operation),
        busiest_share: mean(|trial| trial.generator.busiest_share),
        all_cores_share: mean(|trial| trial.generator.all_cores_share),
        calibrated_per_s: mean(|trial| trial.generator.calibrated_per_s),
        pause_longest_ms: mean(|trial| trial.generator.pause_longest_ms),
        paused_ms: mean(|trial| trial.generator.paused_ms),
        ..Generator::default()
    }
}

fn machine(trials: &[Trial], chosen: &[usize]) -> Machine {
    let mean = |figure: fn(&Trial) -> Option<f64>| mean_of(trials, chosen, figure);
    Machine {
        cpu_us_per_operation: mean(|trial| trial.machine.cpu_us_per_operation),
        measurement_cpu_us_per_operation: mean(|trial| trial.machine.measurement_cpu_us_per_operation),
        busy_share: mean(|trial| trial.machine.busy_share),
        steal_share: mean(|trial| trial.machine.steal_share),
        device_queue_depth: mean(|trial| trial.machine.device_queue_depth),
        ..Machine::default()
    }
}
