//! `prony disk`: one test of a disk, or a profile of several.

use std::path::PathBuf;

use anyhow::anyhow;
use disk::{EngineChoice, Settings};
use record::Parameter;
use study::Study;

use super::measuring::Asks;
use crate::arguments::Disk;
use crate::exit::Failure;

impl Asks for Disk {
    fn study(&self) -> Result<Study, Failure> {
        let mut study = match &self.profile {
            None => Study::of_disk(self.paths.clone()),
            Some(name) => {
                let mut study = super::profile(name, false)?;
                study.target.paths.clone_from(&self.paths);
                study
            }
        };
        if let Some(expect) = &self.expect {
            // Refused here, not in the report of a run that took an hour.
            expect.parse::<report::Array>().map_err(Failure::usage)?;
            study.expect = Some(expect.clone());
        }
        check_paths(&self.paths, &self.settings)?;
        study.blocks = self.repeats.unwrap_or(study.blocks);
        study.cool_down = self.pause.unwrap_or(study.cool_down);
        study.latency_tolerance = self.latency_tolerance.or(study.latency_tolerance);
        study.narrow(&self.settings).map_err(Failure::usage)?;
        self.must.of(&mut study)?;
        if self.latency_tolerance.is_some() && !study.has_depths() {
            return Err(Failure::usage(anyhow!(
                "{} needs a series of trials with increasing queue depth. Use --profile sweep",
                Parameter::new("latency_tolerance")
            )));
        }
        Ok(study)
    }
}

/// A path that does not exist is refused by the target as well; only this command knows how to have it made.
pub(super) fn check_paths(paths: &[PathBuf], settings: &Settings) -> Result<(), Failure> {
    let touches_none = matches!(settings.engine, Some(EngineChoice::Null | EngineChoice::Simulated));
    if touches_none || settings.create == Some(true) {
        return Ok(());
    }
    match paths.iter().find(|path| !path.exists() && !path.is_symlink()) {
        Some(path) => Err(Failure::usage(anyhow!(
            "{} does not exist. Give a directory for test files, or add --create to create this file",
            path.display()
        ))),
        None => Ok(()),
    }
}
