//! The model of a report: every figure that any printer shows, computed once.
//!
//! A model is plain data and its serde form is the JSON document. Statistics are those of the `stats` crate.

use std::path::{Path, PathBuf};

use record::{
    Environment, Labels, Manifest, MeasuredTrial, Percentiles, Resumption, RunComment, RunTitle, State,
    StudyRecord, Workload, shown_json,
};
use serde::Serialize;
use stats::PooledCorrelation;

use crate::comparison::{self, Ended, Outcome, StudyComparison, ThresholdResult};
use crate::configuration::{self, Configuration};
use crate::disk::{self, steady};
use crate::faults::{self, Availability};
use crate::format;
use crate::historian;
use crate::inspect::Inspection;
use crate::limit::{self, Confirmation};
use crate::orders;
use crate::page::title;
use crate::principles::{self, Principle};
use crate::search::{self, Search};
use crate::trial::{self, Trial};
use crate::verdict::{self, Verdict};

/// Version of the JSON document.
const DOCUMENT_VERSION: u32 = 1;

/// A study, judged and ready to print.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of this document's form.
    pub format: u32,
    /// Title of the study.
    pub title: String,
    /// What the user calls the run.
    #[serde(flatten)]
    pub labels: Labels,
    /// The user's stored comment, even if another comment is shown.
    #[serde(skip)]
    pub(crate) stored_comment: Option<String>,
    /// Where it is stored, if it was read from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Stored>,
    /// Profile it came from.
    pub profile: Option<String>,
    /// Command line.
    pub command: Vec<String>,
    /// The directory in which prony ran, if it was recorded.
    #[serde(skip)]
    pub(crate) working_directory: Option<String>,
    /// Version of the tool that measured.
    pub tool_version: String,
    /// Whether times were shortened: a quick look and no measurement to rely on.
    pub quick: bool,
    /// The laboratory that was made for it, if it ran in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lab: Option<record::Laboratory>,
    /// Percentiles that tables and charts show, where others were asked for than usual.
    #[serde(skip_serializing_if = "is_usual")]
    pub percentiles: Percentiles,
    /// Seed of all random choices, intervals included.
    pub seed: u64,
    /// Begin, RFC 3339 in UTC.
    pub started: String,
    /// End, RFC 3339 in UTC.
    pub finished: Option<String>,
    /// State of the study.
    pub state: State,
    /// Why it failed.
    pub reason: Option<String>,
    /// Times that the study was interrupted and taken up again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<Resumption>,
    /// Sentences that the record supports, the gravest first.
    pub verdicts: Vec<Verdict>,
    /// What was compared with what, if the study compares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<StudyComparison>,
    /// What the comparison confirms or refutes of what likely limited its trials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Confirmation>,
    /// What had to hold, where nothing is compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdResult>,
    /// What was measured, a configuration each; its repeats are taken together, of a steady-state study those of the
    /// window.
    pub configurations: Vec<Configuration>,
    /// Every trial, those that failed and those that were skipped too.
    pub trials: Vec<Trial>,
    /// Searches for the highest sustainable rate of a historian.
    pub searches: Vec<Search>,
    /// What disks came to together.
    #[serde(flatten)]
    pub disk: disk::Series,
    /// What historians came to together.
    #[serde(flatten)]
    pub historian: historian::Series,
    /// What order stores came to together.
    #[serde(flatten)]
    pub orders: orders::Series,
    /// What was broken on purpose, and what its repeats came to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub availability: Vec<Availability>,
    /// Trials of the plan that were never begun.
    pub not_begun: Vec<u32>,
    /// The machine.
    pub environment: Option<Environment>,
    /// What its settings and those of its servers cost or endanger; none of a record from before they were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inspection: Option<Inspection>,
    /// The exact input.
    pub study_toml: String,
    /// What is missing or damaged in the results directory.
    pub damage: Vec<String>,
    /// Which principles of a sound evaluation it keeps.
    pub principles: Vec<Principle>,
}

/// Where a report and its records are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stored {
    /// The results directory.
    #[serde(serialize_with = "lossy")]
    pub directory: PathBuf,
    /// The report as a page.
    #[serde(serialize_with = "lossy")]
    pub report: PathBuf,
}

fn is_usual(percentiles: &Percentiles) -> bool {
    *percentiles == Percentiles::default()
}

/// A path as text; what is not UTF-8 of it is replaced, for a document has nothing else.
fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// The configurations. If there is a steady state, they cover its window only: figures from before the window do not describe the device.
fn settled(
    study: &StudyRecord,
    trials: &[Trial],
    looks: Option<&stats::Looks>,
) -> (Vec<Configuration>, Option<steady::SteadyState>) {
    let configurations = configuration::all(study, trials, None, looks);
    let steady_state = steady::of(&study.manifest, &configurations, trials);
    match steady_state.as_ref().and_then(|state| state.window) {
        Some(window) => (configuration::all(study, trials, Some(window), looks), steady_state),
        None => (configurations, steady_state),
    }
}

impl Report {
    /// Computes all figures of a study and judges them.
    #[must_use]
    pub fn of(study: &StudyRecord) -> Self {
        let manifest = &study.manifest;
        let mut trials = trials(study);
        let looks = manifest.design.as_ref().and_then(comparison::looks::levels);
        let (configurations, steady_state) = settled(study, &trials, looks.as_ref());
        let [searches, aa_searches] = searched(manifest, &mut trials);
        let compared = comparison::of(manifest, &trials, &searches, &aa_searches, looks.as_ref());
        let (comparison, thresholds) = apart(manifest, compared);
        let limits = limit::of_all(&mut trials, comparison.as_ref());
        let report = Self {
            format: DOCUMENT_VERSION,
            title: manifest.title.clone(),
            labels: manifest.labels.clone(),
            stored_comment: manifest.labels.comment.clone(),
            results: None,
            profile: manifest.profile.clone(),
            command: manifest.command.clone(),
            working_directory: manifest.working_directory.clone(),
            tool_version: manifest.tool_version.clone(),
            quick: manifest.quick,
            lab: manifest.lab.clone(),
            percentiles: manifest.shown_percentiles(),
            seed: manifest.seed,
            started: manifest.started.clone(),
            finished: manifest.finished.clone(),
            state: manifest.state,
            reason: manifest.reason.clone(),
            resumed: manifest.resumed.clone(),
            verdicts: Vec::new(),
            disk: disk::Series::of(manifest, &configurations, &trials, steady_state),
            historian: historian::Series::of(&configurations, &searches, &trials, comparison.is_some()),
            orders: orders::Series::of(manifest, &configurations, &trials),
            availability: faults::availability(&trials),
            not_begun: not_begun(study, comparison.as_ref()),
            comparison,
            limits,
            thresholds,
            searches,
            configurations,
            trials,
            environment: study.environment.clone(),
            inspection: study.environment.as_ref().and_then(Inspection::of),
            study_toml: study.study_toml.clone(),
            damage: study.damage.clone(),
            principles: Vec::new(),
        };
        report.judged()
    }

    /// The same with its verdicts, and with the principles that it keeps.
    fn judged(mut self) -> Self {
        self.principles = principles::all(&self);
        self.verdicts = verdict::all(&self);
        self
    }

    /// The same, with where it is stored: in this results directory, by its path in full.
    #[must_use]
    pub fn stored_in(self, directory: &Path) -> Self {
        let results = Stored { directory: directory.to_owned(), report: directory.join("report.html") };
        Self { results: Some(results), ..self }
    }

    /// What became of all thresholds together: failed if one failed, else inconclusive if one was; none without any.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        let compared = self.comparison.iter().flat_map(|comparison| &comparison.thresholds);
        compared.chain(&self.thresholds).map(|threshold| threshold.outcome).max()
    }

    /// Whether rates that were offered had to be held. A profile asks which of them are, and so do a study and a search; a rate that was
    /// given is one that should be.
    #[must_use]
    pub fn asks_for_rates(&self) -> bool {
        self.profile.is_none() && self.comparison.is_none() && self.searches.is_empty()
    }

    /// The verdicts, the gravest first.
    #[must_use]
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// The model as one JSON document that ends with a newline.
    #[must_use]
    pub fn json(&self) -> String {
        match serde_json::to_string_pretty(self) {
            Ok(text) => shown_json(&text) + "\n",
            Err(error) => unreachable!("the model has string keys and writes to memory: {error}"),
        }
    }

    /// The same report with this title and this comment, if given, instead of the stored ones.
    #[must_use]
    pub fn described(self, title: Option<&RunTitle>, comment: Option<&RunComment>) -> Self {
        Self { labels: self.labels.described(title, comment), ..self }
    }

    /// Title, the user's name of the run, what was measured, and a remark on quick runs: `Disk "before" (disk=nvme): /data on db7`.
    pub(crate) fn heading(&self) -> String {
        let name = self.labels.name.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
        let tags = self.labels.tags_in_words();
        let tags = if tags.is_empty() { String::new() } else { format!(" ({tags})") };
        let place = title::place(self).map(|place| format!(": {place}")).unwrap_or_default();
        let quick = self.quick_words().map(|quick| format!(". {}", format::capital(&quick)));
        format!("{}{name}{tags}{place}{}", self.title, quick.unwrap_or_default())
    }

    /// What a quick run is worth.
    pub(crate) fn quick_words(&self) -> Option<String> {
        let compared = self.comparison.as_ref().filter(|compared| compared.not_compared.is_none());
        let blocks = compared.map_or(0, |compared| compared.blocks.len());
        let of_blocks = match blocks {
            blocks if blocks > 1 && blocks < stats::BLOCKS_MIN => {
                format!(" of {blocks} blocks{}", comparison::few_blocks(blocks))
            }
            1 => " of one block".to_owned(),
            _ => String::new(),
        };
        self.quick.then(|| format!("quick run{of_blocks}, indicative only"))
    }

    /// Trials of a workload.
    pub(crate) fn trials_of(&self, workload: Workload) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(move |trial| trial.is(workload))
    }

    /// Configurations of a workload.
    pub(crate) fn configurations_of(&self, workload: Workload) -> impl Iterator<Item = &Configuration> {
        self.configurations.iter().filter(move |configuration| configuration.is(workload))
    }
}

/// The figures of all trials.
fn trials(study: &StudyRecord) -> Vec<Trial> {
    let cores = study.environment.as_ref().map(|environment| environment.cpu.usable);
    let pooled = correlations(study);
    let of = |trial: &MeasuredTrial| {
        let pooled = pooled.iter().find(|(workload, _)| *workload == trial.trial.workload);
        Trial::of(trial, &study.manifest, cores, pooled.map(|(_, pooled)| *pooled))
    };
    study.trials.iter().map(of).collect()
}

/// How much the seconds of each workload's complete trials resemble the ones before, all trials together: a short trial by itself
/// cannot tell.
fn correlations(study: &StudyRecord) -> Vec<(Workload, PooledCorrelation)> {
    let mut rates: Vec<(Workload, Vec<Vec<f64>>)> = Vec::new();
    for trial in study.trials.iter().filter(|trial| trial.trial.state == State::Complete) {
        let workload = trial.trial.workload;
        match rates.iter_mut().find(|(other, _)| *other == workload) {
            Some((_, of_workload)) => of_workload.push(trial::rates_of(trial)),
            None => rates.push((workload, vec![trial::rates_of(trial)])),
        }
    }
    let pooled = |(workload, rates): (Workload, Vec<Vec<f64>>)| {
        Some((workload, PooledCorrelation::of(rates.iter().map(Vec::as_slice))?))
    };
    rates.into_iter().filter_map(pooled).collect()
}

/// What is compared, and where nothing is, what had to hold.
fn apart(
    manifest: &Manifest,
    judged: Option<StudyComparison>,
) -> (Option<StudyComparison>, Vec<ThresholdResult>) {
    match judged {
        Some(judged) if manifest.compared().is_none() => (None, judged.thresholds),
        compared => (compared, Vec::new()),
    }
}

/// Trials that should have been begun. Those of the blocks that a study did without, for all was settled, are none of them.
fn not_begun(study: &StudyRecord, comparison: Option<&StudyComparison>) -> Vec<u32> {
    let looks = comparison.and_then(|comparison| comparison.looks.as_ref());
    let is_settled = looks.is_some_and(|looks| looks.ended == Ended::Settled);
    let last = study.trials.iter().map(|trial| trial.trial.block).max().filter(|_| is_settled);
    let begun = |number: u32| study.trials.iter().any(|trial| trial.trial.number == number);
    let planned = study.manifest.plan.iter().filter(|planned| last.is_none_or(|last| planned.block <= last));
    planned.map(|planned| planned.number).filter(|&number| !begun(number)).collect()
}

/// What the searches of a study found, and those of its pairs without a difference; their trials are told what they were steps of.
fn searched(manifest: &Manifest, trials: &mut [Trial]) -> [Vec<Search>; 2] {
    let all = [false, true].map(|is_aa| search::all(manifest, trials, is_aa));
    all.iter().flatten().for_each(|search| search.tell(trials));
    all
}
