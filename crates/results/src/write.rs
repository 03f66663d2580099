//! Stores a study while it runs, so that a crash of the program loses at most one line.
//!
//! JSON files are replaced in one step and lines are appended with one call each. Data files are synced when
//! their trial ends and not every second: a sync in the middle of a trial would load the disk that is measured.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;

use ownership::{Directory, Made, MadeDirectory};
use record::{
    Environment, Event, Interval, Manifest, Mark, Placed, Resources, Setup, StudyRecord, TrialRecord,
};

use crate::durable::{BEGIN, Lines, WriteError, failed, replace, replace_json, sync};
use crate::read::ReadError;
use crate::{Archive, Lock, findings, hlog, name, trials};

/// Longest part of a directory's name that comes from the study.
const SLUG_BYTES_MAX: usize = 80;

/// The results directory of a study that runs.
#[derive(Debug)]
pub struct Writer {
    archive: Archive,
    trial: Option<OpenTrial>,
    /// Trials that are kept when the study begins again; none if it is new.
    kept: Option<Vec<u32>>,
    /// What was made, as long as nothing was measured.
    discardable: Option<Discardable>,
    /// Locks the directory as long as it is open.
    _lock: Lock,
}

/// What a study made that did not begin, in the order in which it was made.
#[derive(Debug)]
struct Discardable {
    parents: Vec<MadeDirectory>,
    directory: MadeDirectory,
    trials: MadeDirectory,
    files: Vec<Made>,
}

/// The trial that runs.
#[derive(Debug)]
struct OpenTrial {
    directory: Directory,
    record: TrialRecord,
    samples: Lines,
    resources: Lines,
    latency: Lines,
    /// Made with the first mark.
    marks: Option<Lines>,
}

impl Writer {
    /// Makes a new directory below `parent`, named by time and study, such as `20261121T073000Z-check`, and by the `name` that
    /// the user gave the run, as `20261121T073000Z-check-before`; and
    /// stores the study's exact input in it. If the name is taken, `-2`, `-3`, … is added: nothing is overwritten.
    ///
    /// # Errors
    /// When the directory or a file in it cannot be written.
    pub fn create(
        parent: &Path,
        slug: &str,
        name: Option<&str>,
        utc: jiff::Timestamp,
        study_toml: &str,
    ) -> Result<Self, WriteError> {
        let (place, parents) = ownership::make_path(parent).map_err(failed(BEGIN, parent))?;
        let name = format!("{}-{}", utc.strftime("%Y%m%dT%H%M%SZ"), file_name(slug, name));
        let directory = create_new_directory(&place, &name)?;
        let trials = directory.directory().make(OsStr::new(name::TRIALS));
        let trials = trials.map_err(failed("create", &directory.directory().path().join(name::TRIALS)))?;
        let study = replace(directory.directory(), name::STUDY, study_toml.as_bytes())?;
        sync(&place)?;
        for parent in &parents {
            parent.sync_name().map_err(failed("sync", parent.directory().path()))?;
        }
        let archive = Archive::made(directory.directory());
        let lock = archive.lock()?;
        let discardable = Some(Discardable { parents, directory, trials, files: vec![study] });
        Ok(Self { archive, trial: None, kept: None, discardable, _lock: lock })
    }

    /// Opens the directory of a study that is to be taken up again. Nothing is changed yet, and nobody else can write to it.
    ///
    /// # Errors
    /// When somebody still writes to it, or we are root and another user could change it.
    pub fn reopen(archive: &Archive) -> Result<Self, WriteError> {
        archive.check()?;
        let lock = archive.lock()?;
        Ok(Self { archive: archive.clone(), trial: None, kept: None, discardable: None, _lock: lock })
    }

    /// The directory, to be read, and to be written when the study is over and nobody is kept from it any more.
    #[must_use]
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Reads what is in the directory.
    ///
    /// # Errors
    /// Those of [`Archive::read`].
    pub fn read(&self) -> Result<StudyRecord, ReadError> {
        self.archive.read()
    }

    /// Removes what was made for a study that did not begin, and nothing else; what cannot be removed is left.
    pub fn discard(self) {
        let Some(made) = self.discardable else { return };
        for file in &made.files {
            let _ = file.remove();
        }
        for directory in [&made.trials, &made.directory].into_iter().chain(made.parents.iter().rev()) {
            let _ = directory.remove_empty();
        }
    }

    /// Says which trials are kept. When the study begins again, the records of all others are put aside, as
    /// `trials/0007-aside-1`, and nothing is lost.
    pub fn keep(&mut self, trials: Vec<u32>) {
        self.kept = Some(trials);
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.archive.path()
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
            Event::Preparing(_)
            | Event::Pausing { .. }
            | Event::Searching { .. }
            | Event::Looked { .. }
            | Event::Parts { .. } => Ok(()),
            Event::TrialStarted(record) => self.start_trial(record),
            Event::TrialSetUp { number, setup, placed } => self.running(*number).set_up(setup, placed),
            Event::Interval { number, interval } => self.running(*number).append(interval),
            Event::Resources { number, resources } => self.running(*number).append_resources(resources),
            Event::Mark { number, mark } => self.running(*number).append_mark(mark),
            Event::TrialFinished(record) => self.finish_trial(record),
            Event::StudyFinished(manifest) => self.store_json(name::MANIFEST, manifest),
        }
    }

    fn start_study(&mut self, manifest: &Manifest, environment: &Environment) -> Result<(), WriteError> {
        if let Some(kept) = &self.kept {
            trials::put_aside_but(&self.trials()?, kept)?;
        }
        self.store_json(name::MANIFEST, manifest)?;
        // Of a study that is taken up again, the machine that it was begun on stays; the manifest says how it differs.
        let there = self.archive.directory.look(OsStr::new(name::ENVIRONMENT));
        if there.map_err(failed("look at", &self.directory().join(name::ENVIRONMENT)))?.is_some() {
            return Ok(());
        }
        self.store_json(name::ENVIRONMENT, environment)
    }

    /// Stores a file of the study, and remembers it while the study can be discarded.
    fn store_json<T: serde::Serialize>(&mut self, name: &str, value: &T) -> Result<(), WriteError> {
        let made = replace_json(&self.archive.directory, name, value)?;
        if let Some(discardable) = &mut self.discardable {
            discardable.files.push(made);
        }
        Ok(())
    }

    fn start_trial(&mut self, record: &TrialRecord) -> Result<(), WriteError> {
        assert!(self.trial.is_none(), "trial {} began before the last one ended", record.number);
        self.discardable = None;
        let directory = trials::create(&self.trials()?, record)?;
        let mut latency = Lines::create(&directory, name::LATENCY)?;
        latency.append(hlog::header(record.started.as_deref()).as_bytes())?;
        self.trial = Some(OpenTrial {
            record: record.clone(),
            samples: Lines::create(&directory, name::SAMPLES)?,
            resources: Lines::create(&directory, name::RESOURCES)?,
            latency,
            marks: None,
            directory,
        });
        Ok(())
    }

    /// A trial that was skipped, or failed before it began, ends without having run; it leaves its record alone.
    fn finish_trial(&mut self, record: &TrialRecord) -> Result<(), WriteError> {
        self.discardable = None;
        let trials = self.trials()?;
        match self.trial.take() {
            Some(trial) => {
                assert_eq!(trial.record.number, record.number, "another trial ended than the one that ran");
                trial.sync()?;
                replace_json(&trial.directory, name::TRIAL, record)?;
            }
            None => drop(trials::create(&trials, record)?),
        }
        findings::store(&self.archive.directory, record)?;
        sync(&trials)?;
        sync(&self.archive.directory)
    }

    /// The directory of the trials, which is made if it is not there.
    fn trials(&self) -> Result<Directory, WriteError> {
        made_below(&self.archive.directory, name::TRIALS)
    }

    fn running(&mut self, number: u32) -> &mut OpenTrial {
        match &mut self.trial {
            Some(trial) if trial.record.number == number => trial,
            _ => unreachable!("trial {number} does not run"),
        }
    }
}

/// A directory of ours in another one, which is made if it is not there.
pub(crate) fn made_below(directory: &Directory, name: &str) -> Result<Directory, WriteError> {
    let path = directory.path().join(name);
    let name = OsStr::new(name);
    let opened = match directory.below(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            directory.make(name).map(|made| made.directory().clone())
        }
        opened => opened,
    };
    opened.map_err(failed("open", &path))
}

impl OpenTrial {
    fn set_up(&mut self, setup: &Setup, placed: &[Placed]) -> Result<(), WriteError> {
        self.record.setup = Some(setup.clone());
        self.record.placed = placed.to_vec();
        replace_json(&self.directory, name::TRIAL, &self.record).map(drop)
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

    /// The record has them at the end; until then they stand here.
    fn append_mark(&mut self, mark: &Mark) -> Result<(), WriteError> {
        let lines = match self.marks.take() {
            Some(lines) => lines,
            None => Lines::create(&self.directory, name::MARKS)?,
        };
        self.marks.insert(lines).append_json(mark)
    }

    fn sync(&self) -> Result<(), WriteError> {
        self.marks.as_ref().map_or(Ok(()), Lines::sync)?;
        self.latency.sync()?;
        self.samples.sync()?;
        self.resources.sync()
    }
}

/// The slug and the name of the run as part of a file name: it cannot lead out of the parent directory, hide, or be empty.
/// Where both are too long it is the slug that is cut.
fn file_name(slug: &str, name: Option<&str>) -> String {
    let name = name.map(|name| format!("-{}", plain(name, SLUG_BYTES_MAX))).unwrap_or_default();
    let slug = plain(slug, SLUG_BYTES_MAX.saturating_sub(name.len()));
    let both = format!("{}{name}", if slug.is_empty() { "study" } else { &slug });
    both.trim_matches(['-', '.']).to_owned()
}

/// So many bytes of a text at most, of characters that every file system takes.
fn plain(text: &str, bytes_max: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let text: String = text.chars().map(plain).take(bytes_max).collect();
    text.trim_matches(['-', '.']).to_owned()
}

fn create_new_directory(parent: &Directory, name: &str) -> Result<MadeDirectory, WriteError> {
    let mut now = name.to_owned();
    let mut taken: u32 = 1;
    loop {
        match parent.make(OsStr::new(&now)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                taken += 1;
                now = format!("{name}-{taken}");
            }
            made => return made.map_err(failed(BEGIN, &parent.path().join(now))),
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
            assert_eq!(file_name(slug, None), name, "{slug:?}");
        }
        assert_eq!(file_name(&"x".repeat(500), None).len(), SLUG_BYTES_MAX);
    }

    #[test]
    fn the_name_of_a_run_is_in_that_of_its_directory_whatever_the_study_is_called() {
        assert_eq!(file_name("disk", Some("before")), "disk-before");
        assert_eq!(file_name("", Some("before")), "study-before");
        assert_eq!(file_name("disk", Some("../x/")), "disk-x");
        let long = file_name(&"x".repeat(500), Some(&"n".repeat(60)));
        assert!(long.len() == SLUG_BYTES_MAX && long.ends_with(&"n".repeat(60)), "{long}");
    }
}
