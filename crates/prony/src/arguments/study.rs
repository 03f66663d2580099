//! Arguments of `prony study` and `prony compare`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::laboratory::PLACE as LAB;

use super::{Among, AskedDocuments, Format, Output, Told};

#[derive(Debug, Subcommand)]
pub(crate) enum Study {
    /// Run a study: every combination of its levels, in blocks, and what the records support
    Run(RunStudy),
    /// List the published studies that are ready to run
    List,
    /// Print a published study: its file, or the page on it
    Show(ShowStudy),
    /// Show what a study would run, how long it takes, how much it writes, and what it lacks. Touches nothing
    Plan(PlanStudy),
    /// Go on with a study that was interrupted. What is complete is kept; an interrupted block is measured again
    Resume(ResumeStudy),
}

#[derive(Debug, Args)]
pub(crate) struct RunStudy {
    #[command(flatten)]
    pub(crate) given: GivenStudy,

    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct PlanStudy {
    #[command(flatten)]
    pub(crate) given: GivenStudy,

    /// How much trials of the same scatter (standard deviation), such as "2 %", for the gain that the study can find
    /// [default: the study's, or 2 %]
    #[arg(long, value_name = "PERCENT", help_heading = "Study")]
    pub(crate) noise: Option<record::Share>,

    /// Gain that is to be found, such as "5 %": the plan says how many blocks that takes
    #[arg(long, value_name = "PERCENT", help_heading = "Study")]
    pub(crate) gain: Option<record::Share>,

    /// Print one JSON document instead of the table
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GivenStudy {
    /// Study file, or the name of a published study (prony study list)
    #[arg(value_name = "FILE|NAME")]
    pub(crate) study: String,

    /// Fewer blocks and shorter times, for a quick look; the report says so
    #[arg(long, help_heading = "Study")]
    pub(crate) quick: bool,

    /// Times that every combination is measured [default: the study's]
    #[arg(long, value_name = "NUMBER", help_heading = "Study")]
    pub(crate) blocks: Option<u32>,

    /// Whether to end before all blocks: "when settled" looks after each block from the sixth on whether every level is better,
    /// worse or equivalent, and --blocks is then the most; "never" measures all [default: the study's, or never]
    #[arg(long, value_name = "WHEN", help_heading = "Study")]
    pub(crate) stop: Option<String>,

    /// Smallest effect that matters, such as "5 %": what differs by less for certain is equivalent [default: the study's, or
    /// 3 %]
    #[arg(long, value_name = "PERCENT", help_heading = "Study")]
    pub(crate) smallest: Option<record::Share>,

    /// Judge thresholds on what has no interval, for it was measured in one block, by its value
    #[arg(long, help_heading = "Study")]
    pub(crate) accept_single: bool,

    /// Path or address for a place that the study asks for. "lab", or "lab=DIR", has volumes of loop devices made for all places that are
    /// not named, as root, with files in DIR, and removed at the end: good for placement and ratios, not for absolute speed. Can be
    /// repeated
    #[arg(long, value_name = "NAME=PATH_OR_URL", help_heading = "Study", value_parser = place)]
    pub(crate) place: Vec<(String, String)>,

    /// Replace a parameter of the study, such as workload.disk.duration=5s; one that an axis varies narrows it to this
    /// level. Can be repeated
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Study", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowStudy {
    /// Name (prony study list)
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Print the page: what it answers, what it needs, how to adapt it
    #[arg(long)]
    pub(crate) page: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeStudy {
    /// Results directory, or the name of a run (prony list). A password that stood in an address is not stored: give it in
    /// PGPASSWORD or MYSQL_PWD
    #[arg(value_name = "DIR|NAME")]
    pub(crate) directory: PathBuf,

    #[command(flatten)]
    pub(crate) among: Among,

    #[command(flatten)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) documents: AskedDocuments,

    #[command(flatten)]
    _told: Told,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Results directories, or names of runs (prony list); each is compared with the first, or all of them with those after --with
    #[arg(value_name = "DIR|NAME", required = true)]
    pub(crate) directories: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) among: Among,

    /// Runs of the other side, where those before it are runs of one: how much the runs of a side differ says what may be called
    /// better or worse. Two a side at least, better three; let runs of both sides alternate
    #[arg(long, value_name = "DIR|NAME", num_args = 1.., conflicts_with = "between")]
    pub(crate) with: Vec<PathBuf>,

    /// Smallest effect that matters, such as "5 %" [default: that of the first study, or 3 %]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) smallest: Option<record::Share>,

    /// How much runs of the same differ from one time to another (standard deviation), such as "2 %". Without it, and without several
    /// runs of each side, two runs differ or are alike, neither is called better, worse or equivalent, and --fail-if is not judged
    #[arg(long, value_name = "PERCENT")]
    pub(crate) between: Option<record::Share>,

    /// Side that the others are compared with, by a run of it: its path, its name, or latest; it need not stand among the others where
    /// there is no --with. Ends with 3 if what a workload is judged by is worse than there, with 4 if that cannot be told; with
    /// --fail-if the limits alone decide
    #[arg(long, value_name = "DIR|NAME", help_heading = "What must hold")]
    pub(crate) baseline: Option<PathBuf>,

    /// Change from the first side that must not be, in per cent or in the metric's unit: 'p99_ms > +10 %', 'iops < -5 %', 'p99_ms > +2 ms'.
    /// Ends with 3 if it is shown, with 4 if it can be neither shown nor ruled out, and else with 0. Judged by the whole 95 %
    /// interval of the change; can be repeated. Takes --between, or several runs of each side with --with
    #[arg(long, value_name = "METRIC > CHANGE", help_heading = "What must hold")]
    pub(crate) fail_if: Vec<record::ChangeLimit>,

    /// Judge --fail-if by one run on each side, as if runs of different times did not differ: by the interval of its trials, or by its
    /// value where it has one trial
    #[arg(long, requires = "fail_if", help_heading = "What must hold")]
    pub(crate) accept_single: bool,

    /// Percentiles of the latency that are compared besides, such as 99.99, each between 0 and 100 and eight at most; those of limits are
    /// in any case
    #[arg(long, value_name = "LIST", help_heading = "Output")]
    pub(crate) percentiles: Option<record::Percentiles>,

    /// Print all figures, those too that are alike or cannot be told apart
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub(crate) details: bool,

    /// Print one JSON document instead of the tables
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) documents: AskedDocuments,

    /// Write one HTML page with charts, which makes no request to anywhere, to a new file; - prints it in place of the tables
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct History {
    /// Results directories of one configuration, or names of runs, in any order; ten at least for a change point. What measured
    /// something else is left out, and told
    #[arg(value_name = "DIR|NAME", required = true)]
    pub(crate) directories: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) among: Among,

    /// Run that the last ones are compared with, by its name, its directory or that directory's name; ends with 3 if a figure is
    /// worse
    #[arg(long, value_name = "DIR|NAME")]
    pub(crate) baseline: Option<PathBuf>,

    /// Smallest change that matters, such as "5 %" [default: that of the first study, or 3 %]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) smallest: Option<record::Share>,

    #[command(flatten)]
    pub(crate) form: HistoryForm,

    /// File that is made; one that exists is refused [default: stdout]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}

/// Text, unless one of these is asked for.
#[derive(Clone, Debug, Args)]
#[group(multiple = false)]
pub(crate) struct HistoryForm {
    /// Write one HTML page with charts, which makes no request to anywhere, to a new file; - prints it in place of the tables. Without
    /// FILE the page goes to --output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    /// One JSON document
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// CSV, a line for each figure of each run; an apostrophe stands before a text that a spreadsheet would run
    #[arg(long, help_heading = "Output")]
    pub(crate) csv: bool,
}

/// `NAME=PATH_OR_URL`, or `lab` alone.
fn place(text: &str) -> Result<(String, String), String> {
    if text.trim() == LAB { Ok((LAB.to_owned(), String::new())) } else { pair(text) }
}

/// `NAME=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(format!("`{text}` has no name and value: write them with = in between")),
    }
}
