//! `prony disk`: one test of a disk, or a profile of several.

use anyhow::anyhow;
use study::{Study, profiles};

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
        Some(name) => profiles()
            .into_iter()
            .find(|profile| profile.name == name)
            .ok_or_else(|| Failure::usage(anyhow!("there is no profile called {name}")))?
            .study(disk.paths.clone()),
    };
    if let Some(expect) = &disk.expect {
        // Refused here, not in the report of a run that took an hour.
        expect.parse::<report::Array>().map_err(Failure::usage)?;
        study.expect = Some(expect.clone());
    }
    study.blocks = disk.repeats.unwrap_or(study.blocks);
    study.pause = disk.pause.unwrap_or(study.pause);
    study.latency_tolerance = disk.latency_tolerance.or(study.latency_tolerance);
    study.narrow(&disk.settings).map_err(Failure::usage)?;
    Ok(study)
}
