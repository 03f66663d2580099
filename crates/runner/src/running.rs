//! Databases on servers that somebody else runs: brought before each trial to what it asks for, as far as can be done from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use database::{Error, Held as Lock, Own, Saved, Saving};
use load::Tell;
use record::Preparation;
use study::{Cycle, Trial, WantedDatabase};
use tokio::runtime::Runtime;
use workload::waiting::{self, telling};

use crate::command::{self, When};
use crate::error::RunError;
use crate::targets::Held;

/// How long a server that was started again may take until it answers, and how often is looked.
const ANSWERS_WITHIN: Duration = Duration::from_secs(600);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What is done before a trial, and who hears of it.
pub(crate) struct Bringing<'a, 'b, 'c> {
    pub(crate) trial: &'a Trial,
    pub(crate) runtime: &'a Runtime,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) tell: &'a mut Tell<'b>,
    pub(crate) kept: &'a [Kept],
    /// What was done, in words of a note.
    pub(crate) done: &'c mut Vec<String>,
}

impl Bringing<'_, '_, '_> {
    /// Starts the servers of a trial again whose study gives a command for it, each command once.
    pub(crate) fn restart(&mut self, wanted: &[WantedDatabase]) -> Result<(), RunError> {
        let mut ran: Vec<&str> = Vec::new();
        for restart in wanted.iter().filter_map(|wanted| wanted.cycle.restart.as_deref()) {
            if ran.contains(&restart) {
                continue;
            }
            ran.push(restart);
            let begin = Instant::now();
            command::run(restart, When::Before, &self.trial.planned, self.stop, self.tell)?;
            self.took(&format!("the server was restarted ({restart})"), begin);
        }
        Ok(())
    }

    /// Brings a database to what a trial asks for.
    pub(crate) fn bring(&mut self, held: &mut Held, wanted: &WantedDatabase) -> Result<(), RunError> {
        let Cycle { saving, restart, cold, .. } = &wanted.cycle;
        if restart.is_some() {
            self.wait_for(held)?;
        }
        let is_used = std::mem::replace(&mut held.is_used, true);
        let kept = self.kept.iter().find(|kept| kept.wanted.is_same(wanted));
        let saved = kept.and_then(|kept| kept.saved.as_ref());
        if let Some(saved) = saved.filter(|_| saving.is_some() && is_used) {
            let begin = Instant::now();
            self.work(&format!("restoring {}", wanted.name), held.own.restore(saved))?;
            let from = saved.stays().map_or_else(
                || "its snapshot".to_owned(),
                |path| format!("its backup {path}, which is kept on the server's machine"),
            );
            self.took(&format!("{} was restored from {from}", wanted.name), begin);
        }
        self.work(&format!("setting {}", wanted.name), held.own.set(&wanted.layout))?;
        if *cold {
            let begin = Instant::now();
            self.work("emptying the server's buffers", held.own.cool())?;
            self.took("the server's buffers were emptied, including those of its other databases", begin);
        }
        Ok(())
    }

    /// Leaves servers alone for as long as is asked for.
    pub(crate) fn rest(&mut self, wanted: &[WantedDatabase]) {
        let rest =
            wanted.iter().filter_map(|wanted| wanted.cycle.rest).map(|rest| rest.ns).max().unwrap_or(0);
        let end = Instant::now() + Duration::from_nanos(rest);
        while !self.stop.load(Ordering::Relaxed) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            (self.tell)(Preparation::waiting(format!(
                "letting the server rest for {} s more",
                left.as_secs() + 1
            )));
            std::thread::sleep(left.min(LOOK_EVERY));
        }
    }

    /// Waits until a server that was started again answers, and takes the lock of a database again.
    fn wait_for(&mut self, held: &Held) -> Result<(), RunError> {
        let end = Instant::now() + ANSWERS_WITHIN;
        loop {
            match self.work("waiting for the server to answer", held.own.is_held()) {
                Ok(Lock::Held | Lock::TakenAgain) => return Ok(()),
                Ok(Lock::Lost(why)) => return Err(RunError::Database(Error::Lost(why))),
                // It may be there and recover its databases still, which it tells in many words.
                Err(RunError::Database(_)) if Instant::now() < end => std::thread::sleep(LOOK_EVERY),
                Err(error) => return Err(error),
            }
        }
    }

    fn work<T>(&mut self, what: &str, work: impl Future<Output = Result<T, Error>>) -> Result<T, RunError> {
        let work = telling(self.tell, Preparation::waiting(what), work);
        let done = self.runtime.block_on(waiting::unless_stopped_for_long(self.stop, work));
        Ok(done.ok_or_else(|| RunError::Interrupted(String::new()))??)
    }

    fn took(&mut self, what: &str, begin: Instant) {
        self.done.push(format!("{what} (took {:.1} s)", begin.elapsed().as_secs_f64()));
    }
}

/// A database that is brought back before some trial.
pub(crate) struct Kept {
    pub(crate) wanted: WantedDatabase,
    saving: Saving,
    saved: Option<Saved>,
}

impl Kept {
    /// One of which nothing is kept yet.
    pub(crate) fn new(wanted: WantedDatabase, saving: Saving) -> Self {
        Self { wanted, saving, saved: None }
    }

    /// Keeps what is in it now that it was made ready. Of one that was made anew the backup that there is holds the same.
    pub(crate) fn keep(
        &mut self,
        own: &Own,
        (runtime, stop): (&Runtime, &AtomicBool),
        tell: &mut Tell<'_>,
    ) -> Result<(), RunError> {
        if self.saved.as_ref().is_some_and(|saved| saved.stays().is_some()) {
            return Ok(());
        }
        let what = Preparation::waiting(format!("saving the content of {}", own.name()));
        let saving = telling(tell, what, own.save(self.saving));
        let saved = runtime.block_on(waiting::unless_stopped_for_long(stop, saving));
        self.saved = Some(saved.ok_or_else(|| RunError::Interrupted(String::new()))??);
        Ok(())
    }
}
