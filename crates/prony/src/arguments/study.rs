//! Arguments of `prony study` and `prony compare`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::laboratory::PLACE as LAB;

use super::{Among, AskedDocuments, Format, Output, Told};

#[derive(Debug, Subcommand)]
pub(crate) enum Study {
    /// Run a study: every combination of its levels, in blocks
    Run(RunStudy),
    /// List the published studies
    List,
    /// Print a published study: its file, or its page
    Show(ShowStudy),
    /// Show what a study would run, and what is missing
    ///
    /// Prints steps, time, bytes written and missing requirements. It changes nothing.
    Plan(PlanStudy),
    /// Continue an interrupted study
    ///
    /// Complete blocks are kept. An interrupted block is measured again.
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

    /// Expected noise of trials, such as 2% [default: 2%, or the study's]
    ///
    /// It is the standard deviation between trials of one combination. The plan computes the smallest gain that the study
    /// can detect.
    #[arg(long, value_name = "PERCENT", help_heading = "Study")]
    pub(crate) noise: Option<record::Share>,

    /// Gain to detect, such as 5%
    ///
    /// The plan shows how many blocks are needed to detect this gain.
    #[arg(long, value_name = "PERCENT", help_heading = "Study")]
    pub(crate) gain: Option<record::Share>,

    /// Print one JSON document instead of the table
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

impl RunStudy {
    /// The command that shows the plan of this run.
    pub(super) fn plan(self) -> PlanStudy {
        PlanStudy { given: self.given, noise: None, gain: None, json: self.output.format.json }
    }
}

#[derive(Debug, Args)]
pub(crate) struct GivenStudy {
    /// Study file, or the name of a published study
    #[arg(value_name = "FILE|NAME")]
    pub(crate) study: String,

    /// Use fewer blocks and shorter times, for a first impression
    ///
    /// The report says so.
    #[arg(long, help_heading = "Study")]
    pub(crate) quick: bool,

    /// Times to measure every combination [default: the study's]
    #[arg(long, value_name = "NUMBER", help_heading = "Study")]
    pub(crate) blocks: Option<u32>,

    /// Stop early: settled or never [default: never, or the study's]
    ///
    /// With `settled`, the study stops when every level is better, worse or equivalent. prony checks this after each block,
    /// from the sixth on, and --blocks is the maximum. With `never`, all blocks are measured.
    #[arg(long, value_name = "WHEN", help_heading = "Study", value_parser = stop)]
    pub(crate) stop: Option<String>,

    /// Smallest relevant effect [default: 3%, or the study's]
    ///
    /// A difference that is certainly smaller counts as equivalent.
    #[arg(long = "min-effect", value_name = "PERCENT", help_heading = "Study")]
    pub(crate) smallest: Option<record::Share>,

    /// Judge thresholds by measured values that have no interval
    ///
    /// A value from a single block has no interval.
    #[arg(long = "accept-single-run", help_heading = "Study")]
    pub(crate) accept_single: bool,

    /// Path or address of a location of the study
    ///
    /// "lab" or "lab=DIR" creates lab volumes of loop devices for all locations that are not named, and deletes
    /// them at the end. This needs root. The volumes' files are in DIR. Lab volumes are good for placement and ratios, not
    /// for absolute speed. Can be repeated.
    #[arg(long = "location", value_name = "NAME=PATH_OR_URL", help_heading = "Study", value_parser = place)]
    pub(crate) place: Vec<(String, String)>,

    /// Replace a parameter, such as workload.disk.duration=5s
    ///
    /// An axis that varies this parameter is reduced to this level. Can be repeated.
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Study", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowStudy {
    /// Name of the study (prony study list)
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Print the page: question, requirements, how to adapt it
    #[arg(long)]
    pub(crate) page: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeStudy {
    /// Results directory, or the name of a run (prony list)
    ///
    /// Passwords in addresses are not stored: give them in PGPASSWORD or MYSQL_PWD.
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
    /// Results directories, or names of runs (prony list)
    ///
    /// Each run is compared with the first. With --candidate, these runs are compared with those after --candidate.
    #[arg(value_name = "DIR|NAME", required = true)]
    pub(crate) directories: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) among: Among,

    /// Runs of the other side
    ///
    /// The runs before this option are one side. prony calls a side better or worse based on the variation among the runs of
    /// a side. Each side needs at least two runs, preferably three. Alternate the runs of both sides.
    #[arg(long = "candidate", value_name = "DIR|NAME", num_args = 1.., conflicts_with = "between")]
    pub(crate) with: Vec<PathBuf>,

    /// Smallest relevant effect [default: 3%, or the study's]
    ///
    /// The study of the first run applies.
    #[arg(long = "min-effect", value_name = "PERCENT")]
    pub(crate) smallest: Option<record::Share>,

    /// Standard deviation between runs, such as 2%
    ///
    /// It is the variation between runs of the same configuration at different times. Without this option, and without
    /// several runs per side, prony only says that two runs differ or are alike. It calls no run better, worse or
    /// equivalent, and does not judge --fail-if.
    #[arg(long = "run-sd", value_name = "PERCENT")]
    pub(crate) between: Option<record::Share>,

    /// Run that the others are compared with
    ///
    /// Give a path, a name or `latest`. The run represents its side. Without --candidate, it need not be one of
    /// the other runs. The exit code is 3 if the workload's main figure is worse than the baseline, and 4 if that
    /// is inconclusive. With --fail-if, only the limits given there decide.
    #[arg(long, value_name = "DIR|NAME", help_heading = "Pass/fail limits")]
    pub(crate) baseline: Option<PathBuf>,

    /// Change that fails the comparison, such as 'p99_ms > +10%'
    ///
    /// The change is relative to the first side, in per cent or in the metric's unit: 'iops < -5%', 'p99_ms > +2
    /// ms'. The whole 95% interval of the change decides. The exit code is 3 if the change is certain, 4 if it is
    /// inconclusive, and otherwise 0. This option needs --run-sd, or several runs per side with --candidate. Can be
    /// repeated.
    #[arg(long, value_name = "METRIC > CHANGE", help_heading = "Pass/fail limits")]
    pub(crate) fail_if: Vec<record::ChangeLimit>,

    /// Judge --fail-if with only one run per side
    ///
    /// prony then assumes that runs at different times do not differ. It uses the interval of the trials of the
    /// run, or the measured value if there is only one trial.
    #[arg(long = "accept-single-run", requires = "fail_if", help_heading = "Pass/fail limits")]
    pub(crate) accept_single: bool,

    /// More percentiles of latency to compare, such as 99.99
    ///
    /// Give at most eight, each between 0 and 100. Percentiles that have a limit are always compared.
    #[arg(long, value_name = "LIST", help_heading = "Output")]
    pub(crate) percentiles: Option<record::Percentiles>,

    /// Print all figures, including those without a difference
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub(crate) details: bool,

    /// Print one JSON document instead of the tables
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) documents: AskedDocuments,

    /// Write one HTML page with charts to a new file
    ///
    /// The page requests nothing from any server.
    /// If FILE is -, prony prints the page instead of the tables.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct History {
    /// Results directories of one configuration, or names of runs
    ///
    /// The order does not matter. A change point needs at least ten runs. Runs of anything else are skipped and
    /// listed.
    #[arg(value_name = "DIR|NAME", required = true)]
    pub(crate) directories: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) among: Among,

    /// Run that the last runs are compared with
    ///
    /// Give a name, a results directory or the name of such a directory. The exit code is 3 if a figure is worse.
    #[arg(long, value_name = "DIR|NAME")]
    pub(crate) baseline: Option<PathBuf>,

    /// Smallest relevant change [default: 3%, or the study's]
    ///
    /// The study of the first run applies.
    #[arg(long = "min-effect", value_name = "PERCENT")]
    pub(crate) smallest: Option<record::Share>,

    #[command(flatten)]
    pub(crate) form: HistoryForm,

    /// File to create; must not exist [default: stdout]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}

/// Text, unless one of these is asked for.
#[derive(Clone, Debug, Args)]
#[group(multiple = false)]
pub(crate) struct HistoryForm {
    /// Write one HTML page with charts to a new file
    ///
    /// The page requests nothing from any server.
    /// If FILE is -, prony prints the page instead of the tables. Without FILE the page goes to
    /// --output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Print CSV, one line per figure and run
    ///
    /// Text that a spreadsheet would run as a formula is prefixed with an apostrophe.
    #[arg(long, help_heading = "Output")]
    pub(crate) csv: bool,
}

/// The end condition, as study files spell it. A study rejects unknown words.
#[allow(clippy::unnecessary_wraps, reason = "clap wants a result")]
fn stop(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(if text.trim() == "settled" { "when settled".to_owned() } else { text.to_owned() })
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
        _ => Err(format!("invalid `{text}`: use NAME=VALUE")),
    }
}
