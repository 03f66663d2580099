//! Arguments by which runs are named, listed and found again.

use std::ffi::OsStr;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use record::{LabelError, Labels, RunComment, RunName, RunTitle, Tag};
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

    /// Title of this run in its reports
    ///
    /// One line of at most 200 bytes. The line below it still says what was measured. `prony report --title` shows another
    /// title.
    #[arg(long, hide_short_help = true, value_name = "TEXT", help_heading = "Output", value_parser = Words::<RunTitle>::new())]
    pub(crate) title: Option<RunTitle>,

    /// Comment on this run in its reports
    ///
    /// At most 2,000 bytes of text. It can have line breaks.
    #[arg(long, hide_short_help = true, value_name = "TEXT", help_heading = "Output", value_parser = Words::<RunComment>::new())]
    pub(crate) comment: Option<RunComment>,
}

impl Called {
    pub(crate) fn labels(&self) -> Result<Labels, Failure> {
        let labels = Labels::new(self.name.as_ref(), &self.tag).map_err(Failure::usage)?;
        Ok(labels.described(self.title.as_ref(), self.comment.as_ref()))
    }
}

/// A title and a comment for one output, instead of the stored ones. Only the command line gives them: variables and files of
/// defaults describe future runs, and would be wrong titles for stored ones.
#[derive(Clone, Debug, Args)]
pub(crate) struct Described {
    /// Title to show instead of the stored one
    ///
    /// One line of at most 200 bytes. The results directory does not change: prony does not create its page again.
    #[arg(id = SHOWN[0], long = "title", value_name = "TEXT", help_heading = "Output", value_parser = Words::<RunTitle>::new())]
    pub(crate) title: Option<RunTitle>,

    /// Comment to show instead of the stored one
    ///
    /// At most 2,000 bytes of text. It can have line breaks. The results directory does not change: prony does not create its
    /// page again.
    #[arg(id = SHOWN[1], long = "comment", value_name = "TEXT", help_heading = "Output", value_parser = Words::<RunComment>::new())]
    pub(crate) comment: Option<RunComment>,
}

/// Ids of these arguments.
pub(crate) const SHOWN: [&str; 2] = ["shown_title", "shown_comment"];

impl Described {
    pub(crate) fn is_given(&self) -> bool {
        self.title.is_some() || self.comment.is_some()
    }
}

/// Reads the user's words. An error does not repeat them, as clap's own would: they may be long.
struct Words<T>(PhantomData<fn() -> T>);

impl<T> Words<T> {
    fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Clone for Words<T> {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl<T: FromStr<Err = LabelError> + Clone + Send + Sync + fmt::Debug + 'static> TypedValueParser
    for Words<T>
{
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        value.to_string_lossy().parse().map_err(|error: LabelError| {
            let option = argument.map(|argument| format!(" for '{argument}'")).unwrap_or_default();
            command.clone().error(ErrorKind::ValueValidation, format!("invalid value{option}: {error}"))
        })
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
