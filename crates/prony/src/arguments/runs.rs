//! Arguments by which runs are named, listed and found again.

use std::path::PathBuf;

use clap::Args;
use record::{Labels, RunName, Tag};
use study::Study;

use crate::exit::Failure;

/// What a run is called.
#[derive(Clone, Debug, Args)]
pub(crate) struct Called {
    /// Name of this run
    ///
    /// The commands report, compare, export and list find the run by its name. It is also part of the name of the results
    /// directory.
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub(crate) name: Option<RunName>,

    /// Tag of this run, such as disk=nvme
    ///
    /// The commands report and list show the tag, and `prony list --tag` filters by tag. Can be repeated.
    #[arg(long, hide_short_help = true, value_name = "KEY=VALUE", help_heading = "Output")]
    pub(crate) tag: Vec<Tag>,
}

impl Called {
    pub(crate) fn labels(&self) -> Result<Labels, Failure> {
        Labels::new(self.name.as_ref(), &self.tag).map_err(Failure::usage)
    }
}

/// What must hold of a run.
#[derive(Clone, Debug, Args)]
pub(crate) struct MustHold {
    /// Condition that must hold, such as 'p99_ms < 20'
    ///
    /// The syntax is the same as in a study file: 'iops >= 14000'. The whole 95% interval must meet the condition. The
    /// exit code is 3 if the threshold fails, and 4 if it is inconclusive. Can be repeated.
    #[arg(long, value_name = "METRIC < LIMIT", help_heading = "Repeats and thresholds")]
    pub(crate) threshold: Vec<String>,

    /// Judge thresholds by measured values that have no interval
    ///
    /// A value that was measured only once has no interval.
    #[arg(long = "accept-single-run", hide_short_help = true, help_heading = "Repeats and thresholds")]
    pub(crate) accept_single: bool,
}

impl MustHold {
    /// Lays it on a study.
    pub(crate) fn of(&self, study: &mut Study) -> Result<(), Failure> {
        study.must_hold(&self.threshold, self.accept_single).map_err(Failure::usage)
    }
}

/// Where runs are found that are named and not given by a path.
#[derive(Clone, Debug, Args)]
pub(crate) struct Among {
    /// Directory in which to look up runs by name
    ///
    /// --name gives a run its name. `latest` means the most recent run. An existing path takes precedence over a name.
    #[arg(long, value_name = "DIR", default_value = "prony-results")]
    pub(crate) results: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Directory with the runs to list
    #[arg(long, value_name = "DIR", default_value = "prony-results")]
    pub(crate) results: PathBuf,

    /// List only runs with this tag; can be repeated
    ///
    /// If you give several tags, a run must have all of them.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) tag: Vec<Tag>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Print only the names of runs, one per line
    ///
    /// Other commands find runs by these names. Shell completion uses this list.
    #[arg(long, conflicts_with = "json")]
    pub(crate) names: bool,
}
