//! What a study knows of a workload, whichever it is: its parameters, the job that they come to, and what can be said of that
//! before it runs. How it is run, stored and reported is no matter of this.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{JobError, Phases, Span};

/// A workload, by the type of its parameters: all of them optional, so that layers of them can be laid over each other.
pub trait Workload: Serialize + DeserializeOwned + Clone + Default + PartialEq + Debug + 'static {
    /// Which it is.
    const WORKLOAD: record::Workload;
    /// Name: its parameters are `workload.NAME` in a study file.
    const NAME: &'static str = Self::WORKLOAD.name();
    /// Names of the parameters for the lengths of warm-up and window.
    const TIMES: [&'static str; 2];
    /// What the parameters come to: complete and without contradiction.
    type Job: Clone + PartialEq + Debug;

    /// Fills in the defaults and checks everything.
    ///
    /// # Errors
    /// All mistakes at once.
    fn job(&self) -> Result<Self::Job, Vec<JobError>>;

    /// Writes defaults out that a record must tell.
    fn settle(&mut self, _job: &Self::Job) {}

    /// Whether anything of it is drawn; else a seed would say nothing.
    fn draws(&self) -> bool {
        true
    }

    /// The seed as given.
    fn seed(&mut self) -> &mut Option<u64>;

    /// The seed of all random choices of a job.
    fn seed_of(job: &mut Self::Job) -> &mut u64;

    /// Warm-up and window.
    fn phases(job: &Self::Job) -> Phases;

    /// The warm-up as given.
    fn warm_up(&mut self) -> &mut Option<Span>;

    /// Warm-up and window, to be changed.
    fn phases_of(job: &mut Self::Job) -> &mut Phases;

    /// What it needs of a target.
    fn needs(job: &Self::Job) -> TargetNeeds;

    /// What a database is loaded with for it before the first trial: trials of one database must agree on it.
    fn content(_job: &Self::Job) -> String {
        Self::NAME.to_owned()
    }

    /// Sessions that it has in each of its databases at once, at most.
    fn sessions(_job: &Self::Job) -> u32 {
        0
    }

    /// Whether each trial begins with what its database is loaded with, whatever the trial before wrote, also in one that was taken up.
    fn leaves_as_found() -> bool {
        false
    }

    /// About how long a trial takes besides its phases, with a database of this dialect.
    fn around(_job: &Self::Job, _dialect: &str) -> Around {
        Around::default()
    }

    /// What that time is for, where a user should know: `to load 1000 messages`.
    fn besides(_job: &Self::Job) -> Option<String> {
        None
    }

    /// Why a database of this dialect has not what the trial is of, a sentence without its end: it is left out. None where only the server
    /// itself can tell.
    fn lacks(_job: &Self::Job, _dialect: &str) -> Option<String> {
        None
    }

    /// Whether it goes on while its database is broken on purpose, and tells of it.
    fn endures_faults() -> bool {
        false
    }

    /// Whether it writes to its target.
    fn writes(_job: &Self::Job) -> bool {
        true
    }

    /// What a job does, in the words of the field, against so many databases: the name of a trial that was given none.
    fn describe(job: &Self::Job, databases: usize) -> String;

    /// Whether names of trials tell their levels, of named configurations and of those without a name.
    fn tells_levels(_is_named: bool) -> bool {
        true
    }

    /// A job in a line of a plan.
    fn line(job: &Self::Job) -> String;

    /// Parameters that a quick look lays over those which all trials share; `asked` are those of each trial.
    fn quick_look(shared: &Self, asked: &[&Self]) -> Self;

    /// Parameters that nothing heeds in any of these jobs: they would be ignored in silence. Of a search the jobs are its first
    /// steps.
    fn without_effect(_asked: &[(&Self, &Self::Job)], _is_search: bool) -> Vec<JobError> {
        Vec::new()
    }

    /// What a search of the highest rate that is held has to know; none where no rate is held.
    fn searched(&self) -> Option<Searched> {
        None
    }

    /// The same at a rate that a search sets, with other times where they are given; as it is where no rate is held.
    #[must_use]
    fn at_rate(&self, _rate_per_s: f64, _phases: Option<Phases>) -> Self {
        self.clone()
    }
}

/// About how long a trial takes besides its phases, in seconds: as measured with small databases on one quick disk.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Around {
    /// To load its database, once for all trials that find it loaded.
    pub load_s: f64,
    /// To set up, calibrate, drain, count and restore, for each trial.
    pub trial_s: f64,
}

/// What a job needs of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetNeeds {
    /// Nothing: it names its own files, or touches none.
    Nothing,
    /// Directories, files or devices.
    Paths,
    /// Databases.
    Databases {
        /// Who takes them: `a historian`.
        who: &'static str,
        /// Most that it takes at once, if there is a most.
        most: Option<usize>,
        /// What one is called where nothing else is said.
        name: &'static str,
        /// Whether one that was loaded before is driven where nothing else is said; else one is made.
        loaded: bool,
        /// Whether one that somebody else made is used as it is where nothing else is said of one at an address.
        as_it_is: bool,
        /// Whether one that keeps tables by columns will do.
        columns: bool,
        /// Whether the fake database will do.
        fake: bool,
        /// An address, for whoever gave none.
        such_as: &'static str,
    },
}

impl TargetNeeds {
    /// Whether databases that were loaded before are driven where nothing else is said.
    #[must_use]
    pub fn are_loaded(&self) -> bool {
        matches!(self, Self::Databases { loaded: true, .. })
    }
}

/// What a search of the highest rate that is held has to know of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// Parameters that contradict a search.
    pub contradictions: Vec<JobError>,
    /// The longest time in which everything that happens regularly has happened: a step that confirms holds some of them.
    pub cycle: Span,
}
