//! A study with all of its records together, as it is read and reported.

use std::collections::BTreeMap;

use crate::{
    Environment, Latency, Loop, Manifest, OperationInterval, Resources, Sample, Setup, Tails, TrialRecord,
    Window, format,
};

/// A trial with all that was measured in it.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredTrial {
    /// What is known of it.
    pub trial: TrialRecord,
    /// Its intervals, all phases.
    pub samples: Vec<Sample>,
    /// The machine meanwhile.
    pub resources: Vec<Resources>,
    /// Operations of the measured window by kind, with histograms merged. Latencies of operations that were in
    /// flight at its end are in, their counts are not.
    pub measured: BTreeMap<String, OperationInterval>,
    /// How the slowest of these operations are spread over the window's seconds.
    pub tails: Tails,
}

/// A study with all of its records, as a report takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRecord {
    /// The plan and its state.
    pub manifest: Manifest,
    /// The machine; absent only if the program was killed before it was stored.
    pub environment: Option<Environment>,
    /// The exact input.
    pub study_toml: String,
    /// All trials that were begun or skipped, by number.
    pub trials: Vec<MeasuredTrial>,
    /// What is missing or damaged in the directory, a sentence each.
    pub damage: Vec<String>,
}

impl MeasuredTrial {
    /// A trial that was stored, from its samples and the latencies that go with them, by kind and yet without counts, with how the
    /// slowest are spread.
    #[must_use]
    pub fn stored(
        trial: TrialRecord,
        mut samples: Vec<Sample>,
        resources: Vec<Resources>,
        latencies: BTreeMap<String, OperationInterval>,
        tails: Tails,
    ) -> Self {
        if trial.format == 1 {
            format::rows_apart(trial.workload, &mut samples);
        }
        let measured = Window::stored(trial.main.clone(), is_open(&trial), &samples, latencies);
        Self { trial, samples, resources, measured: measured.kinds().clone(), tails }
    }

    /// A trial of which nothing was measured yet.
    #[must_use]
    pub fn new(trial: TrialRecord) -> Self {
        Self {
            trial,
            samples: Vec::new(),
            resources: Vec::new(),
            measured: BTreeMap::new(),
            tails: Tails::default(),
        }
    }

    /// All kinds' latencies of the measured window in one histogram.
    #[must_use]
    pub fn latency(&self) -> Latency {
        let mut all = Latency::new();
        self.measured.values().for_each(|operation| all.merge(operation.latency()));
        all
    }

    /// Its measured window.
    #[must_use]
    pub fn window(&self) -> Window {
        let (main, is_open) = (self.trial.main.clone(), is_open(&self.trial));
        Window::stored(main, is_open, &self.samples, BTreeMap::new()).of(self.measured.clone())
    }
}

fn is_open(trial: &TrialRecord) -> bool {
    matches!(trial.setup.as_ref().map(Setup::pacing), Some(Loop::Open { .. }))
}
