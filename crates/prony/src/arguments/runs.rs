//! Arguments by which runs are named, listed and found again.

use std::path::PathBuf;

use clap::Args;
use record::{Labels, RunName, Tag};
use study::Study;

use crate::exit::Failure;

/// What a run is called.
#[derive(Clone, Debug, Args)]
pub(crate) struct Called {
    /// Name of this run, by which report, compare, export and list find it again; part of the name of its results directory
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub(crate) name: Option<RunName>,

    /// Tag of this run, such as disk=nvme, that report and list show and by which `prony list` filters. Can be repeated
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Output")]
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
    /// What must hold, in the words of a study file: 'p99_ms < 20', 'iops >= 14000'. Ends with 3 if it fails, with 4 if that cannot be
    /// told. Judged by the whole 95 % interval; can be repeated
    #[arg(long, value_name = "METRIC < LIMIT", help_heading = "Study")]
    pub(crate) threshold: Vec<String>,

    /// Judge thresholds on what has no interval, for it was measured once, by its value
    #[arg(long, help_heading = "Study")]
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
    /// Directory in which a run is found by its name (--name), or as `latest`; what is a path wins over a name
    #[arg(long, value_name = "DIR", default_value = "prony-results")]
    pub(crate) results: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Directory whose runs are listed
    #[arg(long, value_name = "DIR", default_value = "prony-results")]
    pub(crate) results: PathBuf,

    /// Only runs with this tag; can be repeated, and a run has all of them
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) tag: Vec<Tag>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the names alone by which other commands find these runs, a line each: what a shell completes
    #[arg(long, conflicts_with = "json")]
    pub(crate) names: bool,
}
