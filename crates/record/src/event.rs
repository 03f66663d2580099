//! What the runner tells while a study runs. Whoever shows progress or stores results listens to these.

use serde::{Deserialize, Serialize};

use crate::{Environment, Interval, Manifest, Mark, Placed, Preparation, Resources, Setup, TrialRecord};

/// One step of a study, in the order in which they happen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "only a few events per second; boxing would hide them")]
pub enum Event {
    /// The study begins: databases and stores are there, no file of a disk test was touched yet.
    StudyStarted {
        /// The plan.
        manifest: Manifest,
        /// The machine.
        environment: Environment,
    },
    /// Something that takes long and is not measured: told before the study begins, between trials, and within them before
    /// and after the load.
    Preparing(Preparation),
    /// A pause before a trial begins, so that caches and queues settle.
    Pausing {
        /// Trial that follows.
        number: u32,
        /// Seconds of the pause.
        pause_s: f64,
    },
    /// A step of a search comes next: what the search may still take with it, in seconds.
    Searching {
        /// Trial that follows.
        number: u32,
        /// If all goes well.
        expected_s: f64,
        /// If each decision falls as late as it can.
        at_most_s: f64,
    },
    /// A study that ends once all is settled was looked at after a block.
    Looked {
        /// Blocks that were measured.
        blocks: u32,
        /// Blocks that it takes at most.
        blocks_max: u32,
        /// Comparisons that are settled.
        settled: usize,
        /// All comparisons.
        comparisons: usize,
    },
    /// A trial begins; its state is `running`.
    TrialStarted(TrialRecord),
    /// Its engine is set up.
    TrialSetUp {
        /// Trial.
        number: u32,
        /// Setup.
        setup: Setup,
        /// Where its target was found to be.
        placed: Vec<Placed>,
    },
    /// An interval of each part of the load, such as each of several stores; what they come to together is told next. Only
    /// whoever listens hears them: results hold the sum.
    Parts {
        /// Trial.
        number: u32,
        /// In the order of the targets; none of one that did nothing more.
        parts: Vec<Option<Interval>>,
    },
    /// An interval of the trial that runs.
    Interval {
        /// Trial.
        number: u32,
        /// Interval.
        interval: Interval,
    },
    /// The machine during an interval.
    Resources {
        /// Trial.
        number: u32,
        /// Resources.
        resources: Resources,
    },
    /// Something else went on while the trial ran; told again with its end, if it was told before that.
    Mark {
        /// Trial.
        number: u32,
        /// What, and from when to when.
        mark: Mark,
    },
    /// A trial ended or was skipped; the record is final.
    TrialFinished(TrialRecord),
    /// The study ended.
    StudyFinished(Manifest),
}
