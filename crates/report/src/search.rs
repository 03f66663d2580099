//! A search for the highest sustainable rate: its steps, and what they come to.

use std::collections::BTreeMap;

use record::{Manifest, SearchRules, SearchStep};
use serde::Serialize;
use stats::StepAutocorrelation;

use crate::format::figure;
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
    /// Whether it is the long step that a confirmed rate must hold too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub long: bool,
    /// Whether the rate was held; none of a step that failed or is invalid, which counts for nothing.
    pub stable: Option<bool>,
    /// Why it was not held, or why that is not known.
    pub because: Vec<String>,
    /// Length of its measured window in seconds.
    pub measured_s: f64,
    /// Rows in the table when it ended.
    pub rows_after: Option<u64>,
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
    /// The confirmed rate: the highest at which as many confirming steps were held as the rules ask for, and that was not given up.
    pub stable_at: Option<f64>,
    /// How it was held; none where no rate was.
    pub held: Option<Tried>,
    /// The highest rate that was held in a single step, if no rate was confirmed.
    pub unconfirmed_at: Option<f64>,
    /// The lowest rate above it that was given up. What can be held lies between the two.
    pub failed_at: Option<f64>,
    /// Whether a confirmed rate had to be held in a long step too.
    #[serde(skip)]
    pub long: bool,
    /// How often it was not held; none where no rate failed.
    pub failed: Option<Tried>,
    /// Why it was not held.
    pub failed_because: Vec<String>,
    /// The highest rate that was held for a while and then fell for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
    /// How much seconds of a quick look resemble the ones before, where that may have let a rate pass that is too high.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resemblance: Option<StepAutocorrelation>,
    /// Rates below the confirmed one that were given up.
    pub failed_below: Vec<f64>,
    /// Why no higher rate was tried, if none failed.
    pub ended_by: Option<String>,
    /// Confirming steps that the rules ask for, and of how many.
    pub confirmations: Option<u32>,
    /// See `confirmations`.
    pub confirmations_of: Option<u32>,
    /// Whether the steps were shortened.
    pub quick: bool,
    /// Length of a step.
    pub step_s: Option<f64>,
}

/// Where the greatest rate lies that can be held: not below the one that was held, and below the one that failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateRange {
    /// The highest rate that was held; of several searches their mean.
    pub held_per_s: f64,
    /// The lowest rate above it that was given up; of several searches their mean, none where one of them gave up none.
    pub failed_per_s: Option<f64>,
}

impl RateRange {
    /// The mean of several: each of their rates lies between its own ends, so that the mean rate lies between the mean ends.
    pub(crate) fn mean(ranges: &[Self]) -> Option<Self> {
        Self::of_several(&[ranges.to_vec()], |runs| stats::mean(&runs.concat()))
    }

    /// The same of another center of values by run, which rises with each of them.
    pub(crate) fn of_several(
        runs: &[Vec<Self>],
        center: impl Fn(&[Vec<f64>]) -> Option<f64>,
    ) -> Option<Self> {
        let held: Vec<Vec<f64>> =
            runs.iter().map(|run| run.iter().map(|range| range.held_per_s).collect()).collect();
        let failed: Option<Vec<Vec<f64>>> =
            runs.iter().map(|run| run.iter().map(|range| range.failed_per_s).collect()).collect();
        Some(Self { held_per_s: center(&held)?, failed_per_s: failed.and_then(|failed| center(&failed)) })
    }

    /// `4,200 to below 4,600`; `from 4,200 on` where nothing failed.
    pub(crate) fn words(&self) -> String {
        match self.failed_per_s {
            Some(failed) => format!("{} to below {}", figure(self.held_per_s), figure(failed)),
            None => format!("from {} on", figure(self.held_per_s)),
        }
    }
}

/// How the steps of a rate ended: those that confirmed it if there were any, else those that looked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Tried {
    /// Steps that could be judged.
    pub steps: usize,
    /// Those that held it.
    pub held: usize,
    /// Length of the shortest measured window of those that held it, in seconds; of all if none did.
    pub window_s: f64,
    /// Most rows in the table at the end of a step.
    pub rows: Option<u64>,
    /// Length of the measured window of the long step, in seconds; none where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_s: Option<f64>,
    /// Whether the long step held it, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_held: Option<bool>,
}

/// A rate that was held for a while and not for ever, as burst credits or a cache that fills make it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Burst {
    /// Records a second that were offered.
    pub rate_per_s: f64,
    /// How long as many were written, in seconds.
    pub held_s: f64,
    /// Records a second that were written after that.
    pub then_per_s: f64,
}

impl Burst {
    /// `kept up with 9,860/s for 8 min, then wrote 5,000/s`.
    pub(crate) fn words(&self) -> String {
        let Self { rate_per_s, held_s, then_per_s } = self;
        format!(
            "kept up with {}/s for {}, then wrote {}/s",
            crate::format::plain(*rate_per_s),
            crate::format::duration(held_s.round()),
            figure(*then_per_s)
        )
    }
}

impl Search {
    /// The highest rate that was held, confirmed or not.
    pub(crate) fn held_at(&self) -> Option<f64> {
        self.stable_at.or(self.unconfirmed_at)
    }

    /// Where the greatest rate lies that can be held; none where none was held.
    pub(crate) fn range(&self) -> Option<RateRange> {
        Some(RateRange { held_per_s: self.held_at()?, failed_per_s: self.failed_at })
    }

    /// The trial that speaks for the rate that was held: the last step that held it.
    pub(crate) fn held_in(&self) -> Option<u32> {
        let rate = self.held_at()?;
        let held = |step: &&SearchedStep| step.stable == Some(true) && same(step.rate_per_s, rate);
        self.steps.iter().rev().find(held).map(|step| step.trial)
    }

    /// Has the trial that speaks for it know what it came to.
    pub(crate) fn tell(&self, trials: &mut [Trial]) {
        let number = self.held_in();
        if let Some(trial) = trials.iter_mut().find(|trial| Some(trial.number) == number) {
            trial.searched = self.range().map(|range| (range, self.stable_at.is_some()));
        }
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
    let limits = Limits::of(rules.as_ref());
    let stable_at = highest(&steps, |rate| limits.confirmed(&steps, rate));
    let held =
        |rate: f64| at(&steps, rate).any(|step| step.stable == Some(true)) && !limits.given_up(&steps, rate);
    let unconfirmed_at = highest(&steps, held).filter(|_| stable_at.is_none());
    let floor = stable_at.or(unconfirmed_at).unwrap_or(0.0);
    let failed = || steps.iter().filter(|step| step.stable == Some(false));
    let is_given_up = |step: &&SearchedStep| limits.given_up(&steps, step.rate_per_s);
    let above = || failed().filter(|step| step.rate_per_s > floor && !same(step.rate_per_s, floor));
    let least = |a: &&SearchedStep, b: &&SearchedStep| a.rate_per_s.total_cmp(&b.rate_per_s);
    // A failed rate that was not tried again counts only if no other rate was given up: the search was interrupted.
    let lowest = above().filter(is_given_up).min_by(least).or_else(|| above().min_by(least));
    let below = |step: &&SearchedStep| stable_at.is_some_and(|at| step.rate_per_s < at);
    let mut failed_below: Vec<f64> =
        failed().filter(is_given_up).filter(below).map(|step| step.rate_per_s).collect();
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
        held: stable_at.or(unconfirmed_at).map(|rate| tried(&steps, rate)),
        failed_at: lowest.map(|step| step.rate_per_s),
        failed: lowest.map(|step| tried(&steps, step.rate_per_s)),
        failed_because: lowest.map(|step| step.because.clone()).unwrap_or_default(),
        failed_below,
        ended_by: lowest.is_none().then(|| ended_by(&steps)),
        confirmations: rules.map(|rules| rules.confirmations),
        confirmations_of: rules.map(|rules| rules.decisions().confirmations_of),
        quick: rules.is_some_and(|rules| rules.quick),
        step_s: rules.map(|rules| rules.step_s),
        long: limits.long,
        burst: burst(group, floor),
        resemblance: rules.filter(|rules| rules.quick).and_then(|_| resemblance(group)),
        steps,
    }
}

fn searched(trial: &Trial, step: SearchStep) -> SearchedStep {
    let judged = trial.shown().judged(trial).filter(|_| trial.is_complete());
    let stable = judged.as_ref().and_then(|judged| judged.held);
    let rows_after = judged.as_ref().and_then(|judged| judged.rows);
    let because = match judged.filter(|judged| judged.held.is_some() || !judged.because.is_empty()) {
        Some(judged) => judged.because.to_vec(),
        None => trial.reason.iter().cloned().collect(),
    };
    SearchedStep {
        rate_per_s: step.rate_per_s(),
        confirms: matches!(step, SearchStep::Confirm { .. } | SearchStep::Long { .. }),
        long: matches!(step, SearchStep::Long { .. }),
        stable,
        because,
        measured_s: trial.measured_s,
        rows_after,
        trial: trial.number,
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_RATE * a.abs().max(b.abs())
}

fn at(steps: &[SearchedStep], rate: f64) -> impl DoubleEndedIterator<Item = &SearchedStep> {
    steps.iter().filter(move |step| same(step.rate_per_s, rate))
}

fn count(steps: &[SearchedStep], rate: f64, confirms: bool, stable: bool) -> usize {
    let counts =
        |step: &&SearchedStep| step.confirms == confirms && !step.long && step.stable == Some(stable);
    at(steps, rate).filter(counts).count()
}

/// The highest rate above the one that was held which was written for a while in a step that confirms it, and then fell for good.
/// What was written before that counts from the first of its confirming steps on; where that fell at once, the steps that looked for
/// it say how long it was held.
fn burst(group: &[(&Trial, SearchStep)], held_per_s: f64) -> Option<Burst> {
    let of = |rate_per_s: f64| {
        let at = || group.iter().filter(move |(_, step)| same(step.rate_per_s(), rate_per_s));
        let mut held_s = 0.0;
        for (trial, step) in at() {
            let [written, _] = trial.shown().written(trial);
            if written.is_empty() {
                return None;
            }
            let length_s: f64 = written.iter().map(|interval| interval.length_s).sum();
            if matches!(step, SearchStep::Probe { .. }) {
                continue;
            }
            if let Some(fall) = stats::fall(written, rate_per_s) {
                held_s += fall.after_s;
                if held_s == 0.0 {
                    let probes = at().filter(|(_, step)| matches!(step, SearchStep::Probe { .. }));
                    held_s = probes.map(|(probe, _)| probe.measured_s).fold(0.0, f64::max);
                }
                return Some(Burst { rate_per_s, held_s, then_per_s: fall.to_per_s });
            }
            held_s += length_s;
        }
        None
    };
    let above = group.iter().map(|(_, step)| step.rate_per_s()).filter(|rate| *rate > held_per_s);
    let mut rates: Vec<f64> = above.filter(|rate| !same(*rate, held_per_s)).collect();
    rates.sort_by(|a, b| b.total_cmp(a));
    rates.dedup_by(|a, b| same(*a, *b));
    rates.into_iter().find_map(of)
}

/// How much seconds resemble the ones before in steps that the server did not hold, if that matters.
fn resemblance(group: &[(&Trial, SearchStep)]) -> Option<StepAutocorrelation> {
    let is_held = |trial: &Trial| trial.shown().judged(trial).is_none_or(|judged| judged.held != Some(false));
    let not_held = group.iter().filter(|(trial, _)| !is_held(trial));
    let windows = not_held.map(|(trial, _)| {
        let [_, measured] = trial.shown().written(trial);
        measured
    });
    stats::step_autocorrelation(&windows.collect::<Vec<_>>()).filter(StepAutocorrelation::matters)
}

/// What a search is judged by: the rules that it was run by.
#[derive(Clone, Copy)]
struct Limits {
    /// Steps that look for a rate and fail until it is given up.
    failures: usize,
    /// Confirming steps that must be held.
    confirmations: usize,
    /// Confirming steps that may fail.
    may_fail: usize,
    /// Whether a long step must be held too.
    long: bool,
}

impl Limits {
    fn of(rules: Option<&SearchRules>) -> Self {
        let Some(rules) = rules.map(SearchRules::decisions) else {
            return Self { failures: 1, confirmations: 1, may_fail: 0, long: false };
        };
        Self {
            failures: rules.failures.max(1) as usize,
            confirmations: rules.confirmations.max(1) as usize,
            may_fail: (rules.confirmations_of - rules.confirmations) as usize,
            long: rules.long,
        }
    }

    fn given_up(self, steps: &[SearchedStep], rate: f64) -> bool {
        count(steps, rate, false, false) >= self.failures
            || count(steps, rate, true, false) > self.may_fail
            || long(steps, rate).any(|step| step.stable == Some(false))
    }

    fn confirmed(self, steps: &[SearchedStep], rate: f64) -> bool {
        count(steps, rate, true, true) >= self.confirmations
            && (!self.long || long(steps, rate).any(|step| step.stable == Some(true)))
            && !self.given_up(steps, rate)
    }
}

fn long(steps: &[SearchedStep], rate: f64) -> impl DoubleEndedIterator<Item = &SearchedStep> {
    at(steps, rate).filter(|step| step.long && step.stable.is_some())
}

fn tried(steps: &[SearchedStep], rate: f64) -> Tried {
    let judged = || at(steps, rate).filter(|step| step.stable.is_some() && !step.long);
    let confirms = judged().any(|step| step.confirms);
    let judged: Vec<&SearchedStep> = judged().filter(|step| step.confirms == confirms).collect();
    let held = judged.iter().filter(|step| step.stable == Some(true)).count();
    let shown = judged.iter().filter(|step| held == 0 || step.stable == Some(true));
    Tried {
        steps: judged.len(),
        held,
        window_s: shown.map(|step| step.measured_s).reduce(f64::min).unwrap_or(0.0),
        rows: at(steps, rate).filter_map(|step| step.rows_after).max(),
        long_s: long(steps, rate).map(|step| step.measured_s).next_back(),
        long_held: long(steps, rate).map(|step| step.stable == Some(true)).next_back(),
    }
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

    use super::RateRange;

    /// Steps as text: `p` probes, `c` confirms, `l` confirms for longer, then the rate, then `+` held, `-` not held, `?` invalid.
    fn search(steps: &[&str]) -> super::Search {
        search_by(steps, |_| {})
    }

    fn search_by(steps: &[&str], change: impl FnOnce(&mut record::SearchRules)) -> super::Search {
        let trials = (1..).zip(steps).map(|(number, step)| {
            let (kind, rest) = step.split_at(1);
            let (rate, how) = rest.split_at(rest.len() - 1);
            let rate: f64 = rate.parse().unwrap();
            let made = Collected::at("historian", rate);
            let made = match kind {
                "p" => made.probe(),
                "l" => made.long(),
                _ => made.confirm(),
            };
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
        let mut rules = fixture::search_rules();
        change(&mut rules);
        study.manifest.search = Some(rules);
        Report::of(&study).searches.remove(0)
    }

    #[test]
    fn the_confirmed_rate_is_the_highest_with_all_its_confirmations() {
        let found = search(&["p1000+", "p2000-", "p1500+", "c1500+", "c1500+", "c1500+"]);
        assert_eq!((found.stable_at, found.failed_at), (Some(1500.0), Some(2000.0)));
        assert!(found.failed_because[0].starts_with("the backlog grew by"), "{found:?}");
        assert_eq!((found.unconfirmed_at, found.ended_by), (None, None));
    }

    #[test]
    fn a_rate_whose_confirmation_failed_twice_is_the_failed_one() {
        let found = search(&[
            "p1000+", "p1500+", "p2000-", "p2000-", "c1500-", "c1500-", "c1455+", "c1455+", "c1455+",
        ]);
        assert_eq!((found.stable_at, found.failed_at), (Some(1455.0), Some(1500.0)));
    }

    #[test]
    fn one_failed_confirmation_and_a_probe_that_held_at_last_do_not_count_against_a_rate() {
        let found = search(&["p1000-", "p1000+", "p1500-", "p1500-", "c1000+", "c1000-", "c1000+", "c1000+"]);
        assert_eq!((found.stable_at, found.failed_at), (Some(1000.0), Some(1500.0)));
        let (held, failed) = (found.held.unwrap(), found.failed.unwrap());
        assert_eq!((held.held, held.steps, failed.held, failed.steps), (3, 4, 0, 2));
        assert!(found.failed_below.is_empty());
    }

    #[test]
    fn a_search_of_before_is_judged_by_its_own_rules() {
        let steps = ["p1000-", "p1000+", "p1500-", "c1000+", "c1000-", "c1000+", "c1000+"];
        let found = search_by(&steps, |rules| {
            (rules.failures, rules.confirmations_of, rules.cycle) = (1, 0, None);
        });
        assert_eq!((found.stable_at, found.failed_at), (None, Some(1000.0)), "each of its steps had to hold");
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
    fn a_long_step_confirms_only_where_it_is_asked_for_and_gives_up_what_it_does_not_hold() {
        let confirmed = ["p1000+", "p2000-", "p2000-", "c1000+", "c1000+", "c1000+"];
        let asked = |rules: &mut record::SearchRules| rules.confirm_for_s = Some(3_600.0);
        let with = |more: &[&str]| search_by(&[&confirmed[..], more].concat(), asked);
        let not_yet = with(&[]);
        assert_eq!(
            (not_yet.stable_at, not_yet.unconfirmed_at),
            (None, Some(1000.0)),
            "the long step is missing"
        );
        let held = with(&["l1000+"]);
        assert_eq!((held.stable_at, held.failed_at), (Some(1000.0), Some(2000.0)));
        let tried = held.held.unwrap();
        assert_eq!((tried.held, tried.steps, tried.long_held), (3, 3, Some(true)));
        let lower = with(&["l1000-", "c900+", "c900+", "c900+", "l900+"]);
        assert_eq!((lower.stable_at, lower.failed_at), (Some(900.0), Some(1000.0)));
        assert_eq!(lower.failed.unwrap().long_held, Some(false));
    }

    #[test]
    fn an_invalid_step_counts_neither_as_held_nor_as_not() {
        let found = search(&["p1000+", "p2000?", "c1000+", "c1000?", "c1000+", "c1000+"]);
        assert_eq!((found.stable_at, found.failed_at), (Some(1000.0), None));
        assert!(found.ended_by.unwrap().contains("client-limited"));
    }

    #[test]
    fn the_rate_of_several_searches_lies_between_the_means_of_their_ends() {
        let range = |held_per_s, failed_per_s| RateRange { held_per_s, failed_per_s };
        let words = |ranges: &[RateRange]| RateRange::mean(ranges).map(|range| range.words());
        let first = range(4_000.0, Some(4_400.0));
        assert_eq!(words(&[first]).unwrap(), "4,000 to below 4,400");
        assert_eq!(words(&[first, range(4_400.0, Some(4_800.0))]).unwrap(), "4,200 to below 4,600");
        assert_eq!(words(&[first, range(4_400.0, None)]).unwrap(), "from 4,200 on", "one gave up no rate");
        assert_eq!(words(&[]), None);
    }

    #[test]
    fn a_failure_below_the_confirmed_rate_is_kept_in_view() {
        let found = search(&["p1000-", "p1000-", "p2000+", "p4000-", "c2000+", "c2000+", "c2000+"]);
        assert_eq!((found.stable_at, found.failed_at), (Some(2000.0), Some(4000.0)));
        assert_eq!(found.failed_below, [1000.0]);
    }
}
