//! `prony disk`: one test of a disk, or a profile of several.

use anyhow::anyhow;
use disk::EngineChoice;
use study::Study;

use crate::arguments::Disk;
use crate::exit::{Exit, Failure};
use crate::session;

pub(crate) fn run(disk: &Disk) -> Result<Exit, Failure> {
    session::run(&study(disk)?, &disk.output)
}

/// The study that the arguments describe.
pub(crate) fn study(disk: &Disk) -> Result<Study, Failure> {
    let mut study = match &disk.profile {
        None => Study::of_disk(disk.paths.clone()),
        Some(name) => {
            let mut study = super::profile(name, false)?;
            study.target.paths.clone_from(&disk.paths);
            study
        }
    };
    if let Some(expect) = &disk.expect {
        // Refused here, not in the report of a run that took an hour.
        expect.parse::<report::Array>().map_err(Failure::usage)?;
        study.expect = Some(expect.clone());
    }
    check_paths(disk)?;
    study.blocks = disk.repeats.unwrap_or(study.blocks);
    study.cool_down = disk.pause.unwrap_or(study.cool_down);
    study.latency_tolerance = disk.latency_tolerance.or(study.latency_tolerance);
    study.narrow(&disk.settings).map_err(Failure::usage)?;
    if disk.latency_tolerance.is_some() && !study.has_depths() {
        return Err(Failure::usage(anyhow!(
            "latency_tolerance ends a series of growing depth, and there is none; use --profile sweep"
        )));
    }
    Ok(study)
}

/// A path that does not exist is refused by the target as well; only this command knows how to have it made.
fn check_paths(disk: &Disk) -> Result<(), Failure> {
    let touches_none = matches!(disk.settings.engine, Some(EngineChoice::Null | EngineChoice::Simulated));
    if touches_none || disk.settings.create == Some(true) {
        return Ok(());
    }
    match disk.paths.iter().find(|path| !path.exists() && !path.is_symlink()) {
        Some(path) => Err(Failure::usage(anyhow!(
            "{}: does not exist; name a directory to make test files in, or add --create to make this file",
            path.display()
        ))),
        None => Ok(()),
    }
}
