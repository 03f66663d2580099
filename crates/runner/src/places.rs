//! What the trials of a study are run against: all of it is made ready before the first trial, so that no trial waits for it,
//! and left as it was found after the last.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use database::{Error, RunId};
use load::{Go, Progress, Tell};
use record::{Preparation, Unit};
use study::{Existing, Plan, Target, Trial, Work};
use workload::historian;

use crate::historian::Home;
use crate::orders::Stores;
use crate::preparing::Preparing;
use crate::run::{Listener, RunError};
use crate::trial::Ended;

/// Files, databases and stores of a study.
#[derive(Default)]
pub(crate) struct Places {
    /// Files and devices of the disk tests, by the paths that were given.
    files: Vec<(Vec<PathBuf>, disk::Target)>,
    /// Databases of the historians.
    homes: Vec<(Target, Home)>,
    /// Stores of the orders.
    stores: Option<Stores>,
}

impl Places {
    /// Makes or takes up databases and stores.
    pub(crate) fn open(
        plan: &Plan,
        run: &RunId,
        stop: &AtomicBool,
        listen: &mut Listener<'_>,
    ) -> Result<Self, RunError> {
        let mut places = Self::default();
        let mut preparing = Preparing::new(listen);
        let opened = places.open_all(plan, run, stop, &mut |at| preparing.tell(at));
        match opened.and(preparing.end()) {
            Ok(()) => Ok(places),
            Err(error) => Err(match (error, places.leave(stop)) {
                (RunError::Interrupted(_), Err(left)) => RunError::Interrupted(format!("; {left}")),
                // The error that led here is what is told.
                (error, _) => error,
            }),
        }
    }

    /// What a study that was killed after its last trial had made for itself, so that it is removed with them.
    pub(crate) fn left(plan: &Plan, run: &RunId, stop: &AtomicBool) -> Result<Self, RunError> {
        let databases = plan.databases().into_iter().filter(|target| target.is_transient()).cloned();
        let stores =
            plan.stores().into_iter().filter(|(store, _)| store.load.is_some()).map(|(store, _)| Target {
                url: Some(store.url.clone()),
                database: Some(store.database.clone()),
                ..Target::default()
            });
        let mut places = Self::default();
        for target in databases.chain(stores) {
            // Whatever the study asks for: only what it made itself is to go.
            let target = Target { existing: Existing::Refuse, ..target };
            match Home::make(&target, run, stop, &mut |_| {}) {
                Ok(home) => places.homes.push((target, home)),
                Err(RunError::Database(Error::NoDatabase(_))) => {}
                Err(error) => {
                    // The error that led here is what is told.
                    let _ = places.leave(stop);
                    return Err(error);
                }
            }
        }
        Ok(places)
    }

    fn open_all(
        &mut self,
        plan: &Plan,
        run: &RunId,
        stop: &AtomicBool,
        tell: &mut Tell<'_>,
    ) -> Result<(), RunError> {
        for target in plan.databases() {
            self.homes.push((target.clone(), Home::make(target, run, stop, tell)?));
        }
        self.stores = Stores::open(plan, run, stop, tell)?;
        if stop.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted(String::new()));
        }
        Ok(())
    }

    /// Makes and fills test files.
    pub(crate) fn prepare_files(
        &mut self,
        plan: &Plan,
        stop: &AtomicBool,
        listen: &mut Listener<'_>,
    ) -> Result<(), RunError> {
        for (paths, jobs) in plan.disk_tests() {
            let mut preparing = Preparing::new(listen);
            let target = disk::Target::prepare(paths, &jobs, stop, |done_bytes, total_bytes| {
                preparing.tell(Preparation::new("writing test files", done_bytes, total_bytes, Unit::Bytes));
            })?;
            preparing.end()?;
            self.files.push((paths.to_vec(), target));
        }
        Ok(())
    }

    /// Where the data of a database or store lies, if that is on this machine and the server tells.
    pub(crate) fn data_directory(&self) -> Option<PathBuf> {
        match (self.homes.first(), &self.stores) {
            (Some((_, home)), _) => home.place(),
            (None, Some(stores)) => stores.place(),
            (None, None) => None,
        }
    }

    /// Where the data of the historian's database of a trial lies; none of anything else.
    pub(crate) fn data_directory_of(&self, trial: &Trial) -> Option<PathBuf> {
        trial.work.job::<historian::Settings>()?;
        self.homes.iter().find(|(other, _)| other.is_same_database(&trial.target))?.1.place()
    }

    /// Runs a trial's work where it belongs.
    pub(crate) fn run(
        &mut self,
        trial: &Trial,
        work: &Work,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<Ended, String> {
        let target = &trial.target;
        match work {
            Work::Disk(asked) => {
                let files =
                    self.files.iter().find(|(paths, _)| *paths == target.paths).map(|(_, files)| files);
                let Some(files) = files else { unreachable!("files were made ready before the first trial") };
                disk::run(&asked.job, files, stop, on_progress)
                    .map(Ended::Disk)
                    .map_err(|error| error.to_string())
            }
            Work::Historian(asked) => {
                let home = self.homes.iter_mut().find(|(other, _)| other.is_same_database(target));
                let Some((_, home)) = home else {
                    unreachable!("databases were made before the first trial")
                };
                home.run(&asked.job, stop, on_progress)
                    .map(|outcome| Ended::Historian(Box::new(outcome)))
                    .map_err(|error| error.to_string())
            }
            Work::Orders(asked) => {
                let Some(stores) = &self.stores else {
                    unreachable!("stores were taken up before the first trial")
                };
                stores
                    .run(&target.store, &asked.job, stop, on_progress)
                    .map(|outcome| Ended::Orders(Box::new(outcome)))
                    .map_err(|error| error.to_string())
            }
        }
    }

    /// Leaves databases and stores as they were found.
    pub(crate) fn leave(&mut self, stop: &AtomicBool) -> Result<(), String> {
        let mut result = Ok(());
        for (_, home) in self.homes.drain(..) {
            result = result.and(home.leave(stop).map_err(|error| error.to_string()));
        }
        let stores = self.stores.take().map_or(Ok(()), |stores| stores.leave(stop));
        result.and(stores.map_err(|error| error.to_string()))
    }
}
