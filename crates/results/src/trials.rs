//! The directories of trials: made whole, and put aside when their trials are measured again.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};

use ownership::{Directory, MadeDirectory, NotPlain};
use record::TrialRecord;

use crate::durable::{WriteError, failed, replace_json, sync};
use crate::name;

/// Makes the directory of a trial with its record in it. It has its name only when the record is there, so that a directory of
/// a number that holds none was not made by us.
pub(crate) fn create(trials: &Directory, record: &TrialRecord) -> Result<Directory, WriteError> {
    let name = format!("{:04}", record.number);
    let path = trials.path().join(&name);
    let mut draft = trials.make_draft().map_err(failed("create", &path))?;
    let written = replace_json(draft.directory(), name::TRIAL, record).map_err(|error| error.source);
    match written.and_then(|_| draft.rename(OsStr::new(&name))) {
        Ok(()) => Ok(draft.directory().clone()),
        Err(error) => Err(undo(&draft, failed("create", &path)(error))),
    }
}

fn undo(draft: &MadeDirectory, error: WriteError) -> WriteError {
    // What cannot be removed is no trial by its name.
    let _ = draft.remove_with_all();
    error
}

/// Puts all trials aside but those that are kept. What was not made by us keeps its name, and is in the way of nothing but a
/// trial of the same number.
pub(crate) fn put_aside_but(trials: &Directory, kept: &[u32]) -> Result<(), WriteError> {
    let names = trials.names().map_err(failed("read", trials.path()))?;
    for name in &names {
        let number = name.to_str().and_then(|name| name.parse::<u32>().ok());
        if let Some(number) = number.filter(|number| !kept.contains(number))
            && is_trial(trials, name, number).map_err(failed("read", &trials.path().join(name)))?
        {
            put_aside(trials, name)?;
        }
    }
    sync(trials)
}

/// Whether a directory was made by us for the trial of this number: it holds a record of it, or a damaged one, such as one of
/// another number, and nothing that is not a trial's.
fn is_trial(trials: &Directory, name: &OsStr, number: u32) -> io::Result<bool> {
    let directory = match trials.below(name) {
        Ok(directory) => directory,
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(false),
        Err(error) => return Err(error),
    };
    let text = match directory.read(OsStr::new(name::TRIAL)) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) if error.get_ref().is_some_and(|error| error.is::<NotPlain>()) => return Ok(false),
        Err(error) => return Err(error),
    };
    match serde_json::from_slice::<TrialRecord>(&text) {
        Ok(record) if record.number == number => Ok(true),
        Ok(_) | Err(_) => Ok(directory.names()?.iter().all(|name| is_of_trial(name))),
    }
}

fn is_of_trial(name: &OsStr) -> bool {
    [name::TRIAL, name::SAMPLES, name::RESOURCES, name::MARKS, name::LATENCY].iter().any(|own| name == *own)
}

/// Renames a trial's directory so that no reader takes it for the trial's.
fn put_aside(trials: &Directory, name: &OsStr) -> Result<(), WriteError> {
    for time in 1_u32.. {
        let mut aside = OsString::from(name);
        aside.push(format!("-aside-{time}"));
        match trials.rename(name, &aside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            renamed => return renamed.map_err(failed("rename", &trials.path().join(name))),
        }
    }
    unreachable!("some number is free")
}
