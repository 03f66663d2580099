//! Where an interrupted study is taken up again: what is kept, and what is measured again.
//!
//! Trials of a block are compared with each other because they were measured close in time. A block that was interrupted is
//! therefore measured again as a whole; in a study that compares nothing only what is missing is.

use std::collections::BTreeSet;

use database::RunId;
use record::{
    Environment, FORMAT_VERSION, Manifest, MeasuredTrial, Order, Reading, Resumption, State, StudyRecord,
    TARGET_VOLUME, in_full, leaves,
};
use serde_json::Value;
use study::{Plan, Trial};

use crate::trial::target_of;

/// A study that is taken up again.
#[derive(Debug)]
pub struct Resume {
    pub(crate) manifest: Manifest,
    pub(crate) environment: Option<Environment>,
    /// What was measured before and is kept.
    pub(crate) kept: Vec<MeasuredTrial>,
    /// Positions in the plan of what is run.
    pub(crate) entries: BTreeSet<usize>,
    /// Trials that were begun and are measured again.
    set_aside: Vec<u32>,
}

/// Why a study cannot be taken up again.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// There is nothing left to do.
    #[error("the study is complete. To print it, use {}", record::Command::new("report"))]
    Finished,
    /// The study file gives another plan than it was begun with.
    #[error(
        "study.toml no longer matches the recorded trials. If you edited it, undo the edit (only commands \
         and rests may change). Otherwise resume with prony {version}, which created it"
    )]
    OtherPlan {
        /// Version that made it.
        version: String,
    },
    /// What it loads is another target than what was measured before.
    #[error(
        "the target in study.toml differs from the target of the recorded trials: {}. Undo this change, or start a new study", differs.join("; ")
    )]
    OtherTarget {
        /// What differs, a sentence each.
        differs: Vec<String>,
    },
}

impl Resume {
    /// Decides what of a study's records is kept.
    ///
    /// # Errors
    /// When nothing is left to do, or the records are of another plan.
    pub fn of(plan: &Plan, record: StudyRecord) -> Result<Self, ResumeError> {
        let StudyRecord { manifest, environment, trials, .. } = record;
        let is_search = manifest.search.is_some();
        let is_complete = manifest.state == State::Complete && trials.iter().all(|trial| !is_left(trial));
        let entries = match is_complete {
            true => BTreeSet::new(),
            false if is_search => searches_left(plan, &trials),
            false => trials_left(plan, &trials),
        };
        // One that was killed after its last trial still has to say so, and to remove what it made.
        if entries.is_empty() && manifest.state != State::Running {
            return Err(ResumeError::Finished);
        }
        let differs = other_targets(plan, &trials, is_search);
        let is_kept = |trial: &MeasuredTrial| match entry_of(plan, trial, is_search) {
            Some(entry) => !entries.contains(&entry),
            None => false,
        };
        let (kept, again): (Vec<_>, Vec<_>) = trials.into_iter().partition(is_kept);
        let planned = plan.trials.iter().map(|trial| &trial.planned);
        let same_plan = is_search || planned.eq(manifest.plan.iter());
        let same_work = |trial: &MeasuredTrial| {
            entry_of(plan, trial, is_search).is_some_and(|entry| is_of(&plan.trials[entry], trial, is_search))
        };
        if same_plan && !differs.is_empty() {
            return Err(ResumeError::OtherTarget { differs });
        }
        if !same_plan || !kept.iter().all(same_work) {
            return Err(ResumeError::OtherPlan { version: manifest.tool_version });
        }
        let set_aside = again.iter().map(|trial| trial.trial.number).collect();
        Ok(Self { manifest, environment, kept, entries, set_aside })
    }

    /// Trials that were begun and are measured again.
    #[must_use]
    pub fn set_aside(&self) -> &[u32] {
        &self.set_aside
    }

    /// The run that it was begun as; none where it was begun before runs had an identity.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.manifest.run.as_ref()?.parse().ok()
    }

    /// Whether trials are to be run.
    pub(crate) fn has_trials(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Trials that are kept.
    #[must_use]
    pub fn kept_trials(&self) -> Vec<u32> {
        self.kept.iter().map(|trial| trial.trial.number).collect()
    }

    /// How many trials of the plan are run.
    #[must_use]
    pub fn trials(&self) -> usize {
        self.entries.len()
    }

    /// Whether the trial at this position of the plan is run.
    #[must_use]
    pub fn runs(&self, entry: usize) -> bool {
        self.entries.contains(&entry)
    }

    /// Number of the last trial that is kept.
    pub(crate) fn last_number(&self) -> u32 {
        self.kept.iter().map(|trial| trial.trial.number).max().unwrap_or(0)
    }

    /// The manifest of the study as it goes on.
    pub(crate) fn manifest(&self, plan: &Plan, now: &str, environment: &Environment) -> Manifest {
        let first = self.entries.first().map_or(0, |&entry| plan.trials[entry].planned.number);
        let is_search = self.manifest.search.is_some();
        let mut manifest = Manifest { format: FORMAT_VERSION, ..self.manifest.clone() };
        (manifest.state, manifest.reason, manifest.finished) = (State::Running, None, None);
        manifest.resumed.push(Resumption {
            at: now.to_owned(),
            from_trial: if is_search { self.last_number() + 1 } else { first },
            differs: self
                .environment
                .as_ref()
                .map(|begun| differences(begun, environment, plan))
                .unwrap_or_default(),
            set_aside: self.set_aside.clone(),
        });
        manifest
    }

    pub(crate) fn kept(&self, trial: &Trial) -> Option<&MeasuredTrial> {
        self.kept.iter().find(|kept| kept.trial.number == trial.planned.number)
    }
}

/// Whether a trial did not come to its end. What failed may have failed for what has been mended since.
fn is_left(trial: &MeasuredTrial) -> bool {
    !matches!(trial.trial.state, State::Complete | State::Invalid | State::Skipped)
}

/// Parameters that a search sets for each of its steps.
const OF_A_STEP: [&str; 3] = ["rate", "warm_up", "duration"];

/// Whether a record is of what the plan would run now.
fn is_of(entry: &Trial, trial: &MeasuredTrial, is_search: bool) -> bool {
    let mut now = entry.work.any().parameters();
    let mut then = trial.trial.parameters.clone();
    for parameters in [&mut now, &mut then].into_iter().filter_map(|value| value.as_object_mut()) {
        parameters.retain(|name, _| !(is_search && OF_A_STEP.contains(&name.as_str())));
    }
    now == then
}

/// How the targets that the plan names differ from those that were recorded, also of trials that are measured again. What was
/// made for the study may be kept at its end or not, which changes no figure.
fn other_targets(plan: &Plan, trials: &[MeasuredTrial], is_search: bool) -> Vec<String> {
    let mut differs: Vec<String> = Vec::new();
    for trial in trials {
        let Some(entry) = entry_of(plan, trial, is_search) else { continue };
        let (then, now) = (&trial.trial, &plan.trials[entry]);
        // Format 1 recorded of the target what the setup told.
        let told = match (&then.target, &then.setup) {
            (Value::Null, Some(setup)) => other_loaded(&record::loaded(setup), now).into_iter().collect(),
            (Value::Null, None) => Vec::new(),
            (target, _) => between(target, &target_of(now)),
        };
        for told in told {
            if !differs.contains(&told) {
                differs.push(told);
            }
        }
    }
    differs
}

/// How what was loaded differs from what the plan would load now; none where nothing outside this process was.
fn other_loaded(then: &[String], now: &Trial) -> Option<String> {
    let databases = now.databases();
    let now = match databases.as_slice() {
        [] => vec![
            now.target.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
        ],
        databases => {
            let addresses = databases.iter().map(|database| database.url.with_database(&database.name));
            addresses.map(|address| address.to_string()).collect()
        }
    };
    let differs = !then.is_empty() && then != now;
    differs.then(|| format!("the target was {}, but is now {}", then.join(" and "), now.join(" and ")))
}

fn between(then: &Value, now: &Value) -> Vec<String> {
    let (then, now) = (leaves(&in_full(then)), leaves(&in_full(now)));
    let paths: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let matters =
        |path: &&String| path.rsplit('.').next() != Some("keep") && then.get(*path) != now.get(*path);
    let told = |value: Option<&String>| value.map_or("not set", String::as_str).to_owned();
    let sentence = |path: &String| {
        format!("target.{path} was {}, but is now {}", told(then.get(path)), told(now.get(path)))
    };
    paths.into_iter().filter(matters).map(sentence).collect()
}

/// Position in the plan of what a record is of.
fn entry_of(plan: &Plan, trial: &MeasuredTrial, is_search: bool) -> Option<usize> {
    let record = &trial.trial;
    plan.trials.iter().position(|entry| {
        let planned = &entry.planned;
        if is_search {
            (&planned.name, planned.block, &planned.levels, planned.aa)
                == (&record.name, record.block, &record.levels, record.aa)
        } else {
            planned.number == record.number
        }
    })
}

/// Trials that did not come to their end, with the others of their block where a block's trials are compared.
fn trials_left(plan: &Plan, trials: &[MeasuredTrial]) -> BTreeSet<usize> {
    let ended: BTreeSet<u32> =
        trials.iter().filter(|trial| !is_left(trial)).map(|trial| trial.trial.number).collect();
    let is_left = |(_, trial): &(usize, &Trial)| !ended.contains(&trial.planned.number);
    with_their_blocks(plan, plan.trials.iter().enumerate().filter(is_left).map(|(entry, _)| entry).collect())
}

/// Searches that were not begun, that failed, and the last one that was begun: whether it had ended is not recorded.
fn searches_left(plan: &Plan, trials: &[MeasuredTrial]) -> BTreeSet<usize> {
    let entry = |trial: &MeasuredTrial| entry_of(plan, trial, true);
    let begun: BTreeSet<usize> = trials.iter().filter_map(entry).collect();
    let failed = trials.iter().filter(|trial| is_left(trial)).filter_map(entry);
    let last = trials.iter().max_by_key(|trial| trial.trial.number).and_then(entry);
    let not_begun = (0..plan.trials.len()).filter(|entry| !begun.contains(entry));
    with_their_blocks(plan, not_begun.chain(failed).chain(last).collect())
}

/// Where the trials of a block are compared with each other, all of it is measured again.
fn with_their_blocks(plan: &Plan, left: BTreeSet<usize>) -> BTreeSet<usize> {
    let compares =
        plan.design.as_ref().is_some_and(|design| design.order != Order::Repeats && design.blocks > 1);
    if !compares {
        return left;
    }
    let blocks: BTreeSet<u32> = left.iter().map(|&entry| plan.trials[entry].planned.block).collect();
    (0..plan.trials.len()).filter(|&entry| blocks.contains(&plan.trials[entry].planned.block)).collect()
}

/// What the volumes of databases' logs are called, where those lie apart.
const LOG: &str = "log";

/// What of the machine changes every figure.
fn differences(begun: &Environment, now: &Environment, plan: &Plan) -> Vec<String> {
    let known = known_volumes(begun, plan);
    // By their devices, and not by the names of what lies on them.
    let sources = |environment: &Environment, is_known: &dyn Fn(&str) -> bool| {
        let volumes = environment.volumes.iter().filter(|(name, _)| is_known(name));
        let mounts = volumes.filter_map(|(_, volume)| volume.mount.known());
        let mut sources: Vec<&str> = mounts.map(|mount| mount.source.as_str()).collect();
        sources.sort_unstable();
        sources.dedup();
        sources.join(", ")
    };
    let model = |reading: &Reading<String>| reading.known().cloned().unwrap_or_default();
    let pairs = [
        ("host", begun.host.clone(), now.host.clone()),
        ("kernel", begun.kernel.clone(), now.kernel.clone()),
        ("CPU", model(&begun.cpu.model), model(&now.cpu.model)),
        ("usable CPUs", begun.cpu.usable.to_string(), now.cpu.usable.to_string()),
        ("memory", begun.memory.total_bytes.to_string(), now.memory.total_bytes.to_string()),
        ("device", sources(begun, &|_| true), sources(now, &known)),
        ("prony", begun.tool_version.clone(), now.tool_version.clone()),
    ];
    let differs = pairs.into_iter().filter(|(_, begun, now)| begun != now);
    differs.map(|(what, begun, now)| format!("{what} was {begun}, but is now {now}")).collect()
}

/// Which volumes of a machine are of those that were known when a study was begun. Format 1 recorded one alone: that of the
/// first path, or that of a database's data.
fn known_volumes(begun: &Environment, plan: &Plan) -> impl Fn(&str) -> bool {
    let only_target = begun.volumes.keys().eq([TARGET_VOLUME]);
    let tests = plan.disk_tests();
    let first = tests.first().and_then(|(paths, _)| paths.first()).map(|path| path.display().to_string());
    move |name: &str| match &first {
        _ if !only_target => true,
        Some(first) => name == first,
        None => !name.starts_with(LOG),
    }
}

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;
