//! A search for the highest sustainable rate: its steps, and what they come to.

use std::collections::BTreeMap;

use record::{Manifest, SearchStep};
use serde::Serialize;

use crate::trial::Trial;

/// Rates that differ by less than this share are one rate.
const SAME_RATE: f64 = 1e-9;

/// A step of a search.
#[derive(Clone, Debug, Serialize)]
pub struct SearchedStep {
    /// Records offered a second.
    pub rate_per_s: f64,
    /// Whether it confirms a rate that was found stable before.
    pub confirms: bool,
    /// Whether the rate was held; none of a step that failed or is invalid, which counts for nothing.
    pub stable: Option<bool>,
    /// Why it was not held, or why that is not known.
    pub because: Vec<String>,
    /// Number of the trial.
    pub trial: u32,
}

/// A search and what it found.
#[derive(Clone, Debug, Serialize)]
pub struct Search {
    /// Name of the configuration.
    pub configuration: String,
    /// Values of the axes.
    pub levels: BTreeMap<String, String>,
    /// Named configuration that it is of; empty where a study has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub named: String,
    /// Block, from 1.
    pub block: u32,
    /// Its steps in their order.
    pub steps: Vec<SearchedStep>,
    /// The confirmed rate: the highest at which as many confirming steps as the rules ask for were held, and no step
    /// was not.
    pub stable_at: Option<f64>,
    /// The highest rate that was held in a single step, if no rate was confirmed.
    pub unconfirmed_at: Option<f64>,
    /// The lowest rate above it that was not held.
    pub failed_at: Option<f64>,
    /// Why it was not held.
    pub failed_because: Vec<String>,
    /// Rates below the confirmed one that were not held.
    pub failed_below: Vec<f64>,
    /// Why no higher rate was tried, if none failed.
    pub ended_by: Option<String>,
    /// Confirming steps that the rules ask for.
    pub confirmations: Option<u32>,
    /// Whether the steps were shortened.
    pub quick: bool,
    /// Length of a step.
    pub step_s: Option<f64>,
}

impl Search {
    /// The highest rate that was held, confirmed or not.
    pub(crate) fn held_at(&self) -> Option<f64> {
        self.stable_at.or(self.unconfirmed_at)
    }

    /// The trial that speaks for the rate that was held: the last step that held it.
    pub(crate) fn held_in(&self) -> Option<u32> {
        let rate = self.held_at()?;
        let held = |step: &&SearchedStep| step.stable == Some(true) && same(step.rate_per_s, rate);
        self.steps.iter().rev().find(held).map(|step| step.trial)
    }

    pub(crate) fn trials(&self) -> Vec<u32> {
        self.steps.iter().map(|step| step.trial).collect()
    }
}

/// All searches of a study: the steps of one configuration in one block are one search. Those that measured the
/// reference a second time are asked for apart.
pub(crate) fn all(manifest: &Manifest, trials: &[Trial], aa: bool) -> Vec<Search> {
    let mut groups: Vec<Vec<(&Trial, SearchStep)>> = Vec::new();
    let steps = trials.iter().filter(|trial| trial.aa == aa);
    for (trial, step) in steps.filter_map(|trial| Some((trial, trial.search?))) {
        let same = |group: &&mut Vec<(&Trial, SearchStep)>| {
            let first = group[0].0;
            first.name == trial.name
                && first.block == trial.block
                && first.levels == trial.levels
                && first.configuration == trial.configuration
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push((trial, step)),
            None => groups.push(vec![(trial, step)]),
        }
    }
    groups.iter().map(|group| search(manifest, group)).collect()
}

fn search(manifest: &Manifest, group: &[(&Trial, SearchStep)]) -> Search {
    let steps: Vec<SearchedStep> = group.iter().map(|(trial, step)| searched(trial, *step)).collect();
    let rules = manifest.search;
    let needed = rules.map_or(1, |rules| rules.confirmations.max(1)) as usize;
    let stable_at = highest(&steps, |rate| confirmed(&steps, rate, needed));
    let held = |rate: f64| at(&steps, rate).any(|step| step.stable == Some(true)) && !failed(&steps, rate);
    let unconfirmed_at = highest(&steps, held).filter(|_| stable_at.is_none());
    let floor = stable_at.or(unconfirmed_at).unwrap_or(0.0);
    let failures = || steps.iter().filter(|step| step.stable == Some(false));
    let lowest = failures()
        .filter(|step| step.rate_per_s > floor && !same(step.rate_per_s, floor))
        .min_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    let mut failed_below: Vec<f64> = failures()
        .map(|step| step.rate_per_s)
        .filter(|&rate| stable_at.is_some_and(|at| rate < at))
        .collect();
    failed_below.sort_by(f64::total_cmp);
    failed_below.dedup_by(|a, b| same(*a, *b));
    let first = group[0].0;
    Search {
        configuration: first.name.clone(),
        levels: first.levels.clone(),
        named: first.configuration.clone(),
        block: first.block,
        stable_at,
        unconfirmed_at,
        failed_at: lowest.map(|step| step.rate_per_s),
        failed_because: lowest.map(|step| step.because.clone()).unwrap_or_default(),
        failed_below,
        ended_by: lowest.is_none().then(|| ended_by(&steps)),
        confirmations: rules.map(|rules| rules.confirmations),
        quick: rules.is_some_and(|rules| rules.quick),
        step_s: rules.map(|rules| rules.step_s),
        steps,
    }
}

fn searched(trial: &Trial, step: SearchStep) -> SearchedStep {
    let judged = trial.shown().judged(trial).filter(|_| trial.is_complete());
    let stable = judged.as_ref().and_then(|judged| judged.held);
    let because = match judged.filter(|judged| judged.held.is_some()) {
        Some(judged) => judged.because.to_vec(),
        None => trial.reason.iter().cloned().collect(),
    };
    SearchedStep {
        rate_per_s: step.rate_per_s(),
        confirms: matches!(step, SearchStep::Confirm { .. }),
        stable,
        because,
        trial: trial.number,
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_RATE * a.abs().max(b.abs())
}

fn at(steps: &[SearchedStep], rate: f64) -> impl Iterator<Item = &SearchedStep> {
    steps.iter().filter(move |step| same(step.rate_per_s, rate))
}

fn failed(steps: &[SearchedStep], rate: f64) -> bool {
    at(steps, rate).any(|step| step.stable == Some(false))
}

fn confirmed(steps: &[SearchedStep], rate: f64, needed: usize) -> bool {
    let held = at(steps, rate).filter(|step| step.confirms && step.stable == Some(true)).count();
    held >= needed && !failed(steps, rate)
}

fn highest(steps: &[SearchedStep], holds: impl Fn(f64) -> bool) -> Option<f64> {
    steps.iter().map(|step| step.rate_per_s).filter(|&rate| holds(rate)).reduce(f64::max)
}

/// Why no rate failed: the step above could not be judged, or there was none.
fn ended_by(steps: &[SearchedStep]) -> String {
    let unknown = steps.iter().rev().find(|step| step.stable.is_none());
    match unknown {
        Some(step) => {
            let because = step.because.first().map_or("no reason was recorded", String::as_str);
            format!("{} records/s could not be judged: {because}", crate::format::plain(step.rate_per_s))
        }
        None => "the search ended before a rate failed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{self, Collected};
    use crate::report::Report;

    /// Steps as text: `p` probes, `c` confirms, then the rate, then `+` held, `-` not held, `?` invalid.
    fn search(steps: &[&str]) -> super::Search {
        let trials = (1..).zip(steps).map(|(number, step)| {
            let (kind, rest) = step.split_at(1);
            let (rate, how) = rest.split_at(rest.len() - 1);
            let rate: f64 = rate.parse().unwrap();
            let made = Collected::at("historian", rate);
            let made = if kind == "p" { made.probe() } else { made.confirm() };
            match how {
                "+" => made.trial(number),
                "-" => made.growing(rate * 0.06).trial(number),
                _ => made
                    .recorded(|r| {
                        r.state = record::State::Invalid;
                        r.reason = Some("client-limited: a thread was busy".to_owned());
                    })
                    .trial(number),
            }
        });
        let mut study = fixture::study("historian", trials.collect());
        study.manifest.search = Some(fixture::search_rules());
        Report::of(&study).searches.remove(0)
    }

    #[test]
    fn the_confirmed_rate_is_the_highest_with_all_its_confirmations() {
        let found = search(&["p1000+", "p2000-", "p1500+", "c1500+", "c1500+", "c1500+"]);
        assert_eq!((found.stable_at, found.failed_at), (Some(1500.0), Some(2000.0)));
        assert!(found.failed_because[0].starts_with("pending records grew by"), "{found:?}");
        assert_eq!((found.unconfirmed_at, found.ended_by), (None, None));
    }

    #[test]
    fn a_rate_whose_confirmation_failed_is_the_failed_one() {
        let found = search(&["p1000+", "p1500+", "p2000-", "c1500+", "c1500-", "c1455+", "c1455+", "c1455+"]);
        assert_eq!((found.stable_at, found.failed_at), (Some(1455.0), Some(1500.0)));
    }

    #[test]
    fn too_few_confirmations_confirm_nothing() {
        let found = search(&["p1000+", "p2000-", "c1000+", "c1000+"]);
        assert_eq!(
            (found.stable_at, found.unconfirmed_at, found.failed_at),
            (None, Some(1000.0), Some(2000.0))
        );
        let nothing = search(&["p1000-", "p500-"]);
        assert_eq!((nothing.stable_at, nothing.unconfirmed_at, nothing.failed_at), (None, None, Some(500.0)));
    }

    #[test]
    fn an_invalid_step_counts_neither_as_held_nor_as_not() {
        let found = search(&["p1000+", "p2000?", "c1000+", "c1000?", "c1000+", "c1000+"]);
        assert_eq!((found.stable_at, found.failed_at), (Some(1000.0), None));
        assert!(found.ended_by.unwrap().contains("client-limited"));
    }

    #[test]
    fn a_failure_below_the_confirmed_rate_is_kept_in_view() {
        let found = search(&["p1000-", "p2000+", "p4000-", "c2000+", "c2000+", "c2000+"]);
        assert_eq!((found.stable_at, found.failed_at), (Some(2000.0), Some(4000.0)));
        assert_eq!(found.failed_below, [1000.0]);
    }
}
