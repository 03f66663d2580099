//! Stores a study while it runs, so that a crash of the program loses at most one line.
//!
//! JSON files are replaced in one step and lines are appended with one call each. Data files are synced when
//! their trial ends and not every second: a sync in the middle of a trial would load the disk that is measured.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use record::{Environment, Event, Interval, Manifest, Resources, Setup, TrialRecord};

use crate::durable::{Lines, WriteError, failed, replace, replace_json, sync_directory};
use crate::lock::Lock;
use crate::{hlog, name};

/// Longest part of a directory's name that comes from the study.
const SLUG_BYTES_MAX: usize = 80;

/// The results directory of a study that runs.
#[derive(Debug)]
pub struct Writer {
    directory: PathBuf,
    trial: Option<OpenTrial>,
    /// Trials that are kept when the study begins again; none if it is new.
    kept: Option<Vec<u32>>,
    /// Locks the directory as long as it is open.
    _lock: Lock,
}

/// The trial that runs.
#[derive(Debug)]
struct OpenTrial {
    directory: PathBuf,
    record: TrialRecord,
    samples: Lines,
    resources: Lines,
    latency: Lines,
}

impl Writer {
    /// Makes a new directory below `parent`, named by time and study, such as `20261121T073000Z-check`, and
    /// stores the study's exact input in it. If the name is taken, `-2`, `-3`, … is added: nothing is overwritten.
    ///
    /// # Errors
    /// When the directory or a file in it cannot be written.
    pub fn create(
        parent: &Path,
        slug: &str,
        utc: jiff::Timestamp,
        study_toml: &str,
    ) -> Result<Self, WriteError> {
        fs::create_dir_all(parent).map_err(failed("create", parent))?;
        let name = format!("{}-{}", utc.strftime("%Y%m%dT%H%M%SZ"), file_name(slug));
        let directory = create_new_directory(parent, &name)?;
        let trials = directory.join(name::TRIALS);
        fs::create_dir(&trials).map_err(failed("create", &trials))?;
        replace(&directory, name::STUDY, study_toml.as_bytes())?;
        sync_directory(parent)?;
        // The parent itself may be new; where the directory above it may not be opened, it was not us who made it.
        let _ = fs::canonicalize(parent).map(|parent| parent.parent().map(sync_directory));
        let lock = Lock::of(&directory)?;
        Ok(Self { directory, trial: None, kept: None, _lock: lock })
    }

    /// Opens the directory of a study that is to be taken up again. Nothing is changed yet, and nobody else can write to it.
    ///
    /// # Errors
    /// When somebody still writes to it.
    pub fn reopen(directory: &Path) -> Result<Self, WriteError> {
        let lock = Lock::of(directory)?;
        Ok(Self { directory: directory.to_owned(), trial: None, kept: None, _lock: lock })
    }

    /// Says which trials are kept. When the study begins again, the records of all others are put aside, as
    /// `trials/0007-aside-1`, and nothing is lost.
    pub fn keep(&mut self, trials: Vec<u32>) {
        self.kept = Some(trials);
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Stores what an event tells. When this returns from the end of a trial, the trial is on stable storage.
    ///
    /// # Errors
    /// When a file cannot be written. The directory stays readable.
    ///
    /// # Panics
    /// When events come in an order that no study has, such as an interval of a trial that does not run.
    pub fn accept(&mut self, event: &Event) -> Result<(), WriteError> {
        match event {
            Event::StudyStarted { manifest, environment } => self.start_study(manifest, environment),
            Event::Preparing { .. } | Event::Pausing { .. } => Ok(()),
            Event::TrialStarted(record) => self.start_trial(record),
            Event::TrialSetUp { number, setup } => self.running(*number).set_up(setup),
            Event::Interval { number, interval } => self.running(*number).append(interval),
            Event::Resources { number, resources } => self.running(*number).append_resources(resources),
            Event::TrialFinished(record) => self.finish_trial(record),
            Event::StudyFinished(manifest) => replace_json(&self.directory, name::MANIFEST, manifest),
        }
    }

    /// Stores the verdicts, a JSON document.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_verdicts(&self, json: &str) -> Result<(), WriteError> {
        write_verdicts(&self.directory, json)
    }

    /// Stores the report, an HTML page.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_report(&self, html: &str) -> Result<(), WriteError> {
        write_report(&self.directory, html)
    }

    fn start_study(&self, manifest: &Manifest, environment: &Environment) -> Result<(), WriteError> {
        if let Some(kept) = &self.kept {
            put_aside_but(&self.directory.join(name::TRIALS), kept)?;
        }
        replace_json(&self.directory, name::MANIFEST, manifest)?;
        // Of a study that is taken up again, the machine that it was begun on stays; the manifest says how it differs.
        if self.directory.join(name::ENVIRONMENT).exists() {
            return Ok(());
        }
        replace_json(&self.directory, name::ENVIRONMENT, environment)
    }

    fn start_trial(&mut self, record: &TrialRecord) -> Result<(), WriteError> {
        assert!(self.trial.is_none(), "trial {} began before the last one ended", record.number);
        let directory = self.trial_directory(record.number)?;
        replace_json(&directory, name::TRIAL, record)?;
        let mut latency = Lines::create(directory.join(name::LATENCY))?;
        latency.append(hlog::header(record.started.as_deref()).as_bytes())?;
        self.trial = Some(OpenTrial {
            record: record.clone(),
            samples: Lines::create(directory.join(name::SAMPLES))?,
            resources: Lines::create(directory.join(name::RESOURCES))?,
            latency,
            directory,
        });
        Ok(())
    }

    /// A trial that was skipped, or failed before it began, ends without having run; it leaves its record alone.
    fn finish_trial(&mut self, record: &TrialRecord) -> Result<(), WriteError> {
        let directory = match self.trial.take() {
            Some(trial) => {
                assert_eq!(trial.record.number, record.number, "another trial ended than the one that ran");
                trial.sync()?;
                trial.directory
            }
            None => self.trial_directory(record.number)?,
        };
        replace_json(&directory, name::TRIAL, record)?;
        sync_directory(&self.directory.join(name::TRIALS))?;
        sync_directory(&self.directory)
    }

    fn trial_directory(&self, number: u32) -> Result<PathBuf, WriteError> {
        let directory = self.directory.join(name::TRIALS).join(format!("{number:04}"));
        fs::create_dir(&directory).map_err(failed("create", &directory))?;
        Ok(directory)
    }

    fn running(&mut self, number: u32) -> &mut OpenTrial {
        match &mut self.trial {
            Some(trial) if trial.record.number == number => trial,
            _ => unreachable!("trial {number} does not run"),
        }
    }
}

impl OpenTrial {
    fn set_up(&mut self, setup: &Setup) -> Result<(), WriteError> {
        self.record.setup = Some(setup.clone());
        replace_json(&self.directory, name::TRIAL, &self.record)
    }

    /// Histograms first: a reader counts an interval only once its sample line is there.
    fn append(&mut self, interval: &Interval) -> Result<(), WriteError> {
        let histograms = hlog::lines(interval);
        if !histograms.is_empty() {
            self.latency.append(histograms.as_bytes())?;
        }
        self.samples.append_json(&interval.sample())
    }

    fn append_resources(&mut self, resources: &Resources) -> Result<(), WriteError> {
        self.resources.append_json(resources)
    }

    fn sync(&self) -> Result<(), WriteError> {
        self.latency.sync()?;
        self.samples.sync()?;
        self.resources.sync()
    }
}

/// Stores verdicts, a JSON document, in a results directory that exists; older ones are replaced.
///
/// # Errors
/// When the file cannot be written.
pub fn write_verdicts(directory: &Path, json: &str) -> Result<(), WriteError> {
    replace(directory, name::VERDICTS, json.as_bytes())
}

/// Stores a report, an HTML page, in a results directory that exists; an older one is replaced.
///
/// # Errors
/// When the file cannot be written.
pub fn write_report(directory: &Path, html: &str) -> Result<(), WriteError> {
    replace(directory, name::REPORT, html.as_bytes())
}

/// Puts all trials aside but those that are kept.
fn put_aside_but(trials: &Path, kept: &[u32]) -> Result<(), WriteError> {
    fs::create_dir_all(trials).map_err(failed("create", trials))?;
    for entry in fs::read_dir(trials).map_err(failed("read", trials))? {
        let name = entry.map_err(failed("read", trials))?.file_name();
        let number = name.to_str().and_then(|name| name.parse::<u32>().ok());
        if number.is_some_and(|number| !kept.contains(&number)) {
            put_aside(&trials.join(name))?;
        }
    }
    sync_directory(trials)
}

/// Renames a trial's directory so that no reader takes it for the trial's.
fn put_aside(trial: &Path) -> Result<(), WriteError> {
    let name = trial.file_name().unwrap_or_default().to_string_lossy();
    let free =
        |time: u32| Some(trial.with_file_name(format!("{name}-aside-{time}"))).filter(|to| !to.exists());
    let Some(to) = (1..).find_map(free) else { unreachable!("some number is free") };
    fs::rename(trial, to).map_err(failed("rename", trial))
}

/// The slug as part of a file name: it cannot lead out of the parent directory, hide, or be empty.
fn file_name(slug: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = slug.chars().map(plain).take(SLUG_BYTES_MAX).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { "study".to_owned() } else { name.to_owned() }
}

fn create_new_directory(parent: &Path, name: &str) -> Result<PathBuf, WriteError> {
    let mut directory = parent.join(name);
    let mut taken: u32 = 1;
    loop {
        match fs::create_dir(&directory) {
            Ok(()) => return Ok(directory),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                taken += 1;
                directory = parent.join(format!("{name}-{taken}"));
            }
            Err(error) => return Err(failed("create", &directory)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slug_cannot_lead_out_of_the_parent() {
        for (slug, name) in [
            ("check", "check"),
            ("../../etc/x", "etc-x"),
            ("Rows before a flush", "Rows-before-a-flush"),
            ("Größe", "Gr--e"),
            (".hidden", "hidden"),
            ("..", "study"),
            ("", "study"),
        ] {
            assert_eq!(file_name(slug), name, "{slug:?}");
        }
        assert_eq!(file_name(&"x".repeat(500)).len(), SLUG_BYTES_MAX);
    }
}
