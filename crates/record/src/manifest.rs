//! A study as planned: what was to be run, by what, and how far it came.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stats::search::{Rules, Search, Steps};

use crate::{Cycle, Design, Labels, Laboratory, Metric, Percentile, Percentiles, Prices, State};

/// One trial of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedTrial {
    /// Number within the study, from 1.
    pub number: u32,
    /// Name of the configuration.
    pub name: String,
    /// Block it belongs to, from 1.
    pub block: u32,
    /// Values of the axes, by name.
    #[serde(default)]
    pub levels: BTreeMap<String, String>,
    /// Named configuration that it is of; empty where a study has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub configuration: String,
    /// Whether it is the second measurement of the reference in its block: the A/A pair that tells the noise floor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aa: bool,
}

/// `manifest.json`: what was to be run, by what, and how far it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the stored form.
    pub format: u32,
    /// Version of the tool.
    pub tool_version: String,
    /// Title of the study.
    pub title: String,
    /// Short name, part of the directory's name.
    pub slug: String,
    /// What the user calls it.
    #[serde(flatten)]
    pub labels: Labels,
    /// Profile it came from: `quick`, `sqlserver`, `sweep`, …
    pub profile: Option<String>,
    /// Command line.
    pub command: Vec<String>,
    /// Directory that it was begun in: paths that do not begin with `/` are below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    /// What the run's databases are marked with: a study that is taken up again knows by it what it made itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Seed.
    pub seed: u64,
    /// Begin, RFC 3339 in UTC.
    pub started: String,
    /// End, RFC 3339 in UTC.
    pub finished: Option<String>,
    /// State.
    pub state: State,
    /// Why it failed.
    pub reason: Option<String>,
    /// Latency past which a series is stopped, in milliseconds.
    pub latency_tolerance_ms: Option<f64>,
    /// The array that the device is said to be, for `--expect`.
    pub expect: Option<String>,
    /// The search for the highest sustainable rate, if trials are steps of one. Its trials are not known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRules>,
    /// Whether times were shortened: a quick look and no measurement to rely on.
    #[serde(default)]
    pub quick: bool,
    /// The laboratory that was made for it, if it ran in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab: Option<Laboratory>,
    /// Size of the disk that is to hold the database, in bytes, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// What the measured system costs, if that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// Percentiles that are shown, where others were asked for than usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentiles: Option<Percentiles>,
    /// What is compared with what, if the study compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<Design>,
    /// Times that it was taken up again after an interruption.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<Resumption>,
    /// The trials in order.
    pub plan: Vec<PlannedTrial>,
}

impl Manifest {
    /// What is compared with what; none where thresholds alone are judged.
    #[must_use]
    pub fn compared(&self) -> Option<&Design> {
        self.design.as_ref().filter(|design| !design.thresholds_only)
    }

    /// Percentiles that are shown.
    #[must_use]
    pub fn shown_percentiles(&self) -> Percentiles {
        self.percentiles.clone().unwrap_or_default()
    }

    /// Percentiles that are asked for beside those of every summary: shown ones, and those of the metric and of thresholds.
    #[must_use]
    pub fn own_percentiles(&self) -> Vec<Percentile> {
        let of_design = |design: &Design| {
            let thresholds = design.thresholds.iter().map(|threshold| threshold.metric.clone());
            design.metric.iter().cloned().chain(thresholds).collect::<Vec<String>>()
        };
        let named = self.design.iter().flat_map(of_design);
        let named = named.filter_map(|name| Metric::named(&name)?.percentile());
        let all = self.shown_percentiles().and(named);
        all.iter().filter(|percentile| !percentile.is_common()).collect()
    }
}

/// A study that was interrupted and taken up again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumption {
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// First trial that was measured then.
    pub from_trial: u32,
    /// How the machine differs from the one that the study was begun on, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
    /// Trials of the interrupted block that had been measured before and were measured again, so that a block's trials stay
    /// close in time.
    #[serde(default)]
    pub set_aside: Vec<u32>,
}

/// The rules of a search for the highest sustainable rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRules {
    /// Records a second of the first step; of a study of several blocks each search begins a little above it.
    pub start_per_s: f64,
    /// The search ends when the lowest failed rate is at most this share above the highest stable one.
    pub resolution_share: f64,
    /// Length of a step, warm-up included, in seconds.
    pub step_s: f64,
    /// Length of a confirming step, warm-up included, in seconds.
    pub confirm_s: f64,
    /// Confirming steps of a rate that must be held.
    pub confirmations: u32,
    /// Of how many; zero in records of before, where all must be.
    #[serde(default)]
    pub confirmations_of: u32,
    /// Times that a rate must fail until it is given up; once in records of before.
    #[serde(default = "once")]
    pub failures: u32,
    /// The cycle that steps are as long as; none in records of before, and where lengths are the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Cycle>,
    /// Length of the long step that a confirmed rate must hold too, warm-up included, in seconds; none if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_for_s: Option<f64>,
    /// Rest between steps, in seconds.
    pub cool_down_s: f64,
    /// Whether the steps were shortened: a quick look and no measurement to rely on.
    pub quick: bool,
}

fn once() -> u32 {
    1
}

impl SearchRules {
    /// What the search decides by.
    #[must_use]
    pub fn decisions(&self) -> Rules {
        Rules {
            start_per_s: self.start_per_s,
            resolution_share: self.resolution_share,
            failures: self.failures,
            confirmations: self.confirmations,
            confirmations_of: self.confirmations_of.max(self.confirmations),
            long: self.confirm_for_s.is_some(),
        }
    }

    /// Time that a search takes on a server that holds so much, if all goes well, in seconds.
    #[must_use]
    pub fn time_on_s(&self, capacity_per_s: f64) -> f64 {
        self.announced_s(Search::new(self.decisions()).steps_on(capacity_per_s))
    }

    /// Time that a search takes at most, in seconds; see [`Search::steps_at_most`].
    #[must_use]
    pub fn time_at_most_s(&self) -> f64 {
        self.announced_s(Search::new(self.decisions()).steps_at_most())
    }

    /// The same with what each step takes besides, as far as that can be said before any of them ran.
    fn announced_s(&self, steps: Steps) -> f64 {
        /// To empty tables, to drain and to count: of small tables on a quick disk.
        const BESIDES_S: f64 = 1.0;
        self.time_s(steps) + f64::from(steps.all()) * BESIDES_S
    }

    /// Time that so many steps take with their rests, in seconds. Emptying tables and draining come on top.
    #[must_use]
    pub fn time_s(&self, steps: Steps) -> f64 {
        f64::from(steps.probes) * (self.step_s + self.cool_down_s)
            + f64::from(steps.confirmations) * (self.confirm_s + self.cool_down_s)
            + f64::from(steps.long) * (self.confirm_for_s.unwrap_or(0.0) + self.cool_down_s)
    }
}
