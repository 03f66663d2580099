//! The laboratory of a study: made before its targets are looked at, and removed when the study has ended, however that was.

use std::path::PathBuf;

use record::{Beneath, Reading, StartedServer, Volume};
use runner::Laboratory;
use study::{GivenLab, Study};

use crate::commands::lab_failure;
use crate::exit::{Exit, Failure};
use crate::interrupt;

/// The place by which a laboratory is asked for.
pub(crate) const PLACE: &str = "lab";
/// What names of its volumes begin with.
const TAG: &str = "study";
/// So many signs tell the laboratories of studies apart that run at once.
const SECRET_SIGNS: usize = 6;

/// The laboratory that a command line asks for, in a directory of the user's or here. Of one that is only planned nothing is made, and
/// its name is that of any.
pub(crate) fn given(directory: &str, is_planned: bool) -> Result<GivenLab, Failure> {
    let directory = if directory.is_empty() { "." } else { directory };
    let tag = if is_planned {
        TAG.to_owned()
    } else {
        let secret = database::RunId::new().map_err(Failure::runtime)?;
        format!("{TAG}-{}", &secret.as_str()[..SECRET_SIGNS])
    };
    let directory = std::path::absolute(PathBuf::from(directory)).map_err(Failure::runtime)?;
    Ok(GivenLab { directory, mounts: runner::lab_mount_point(""), tag })
}

/// Makes the laboratory of a study, if it is to have one, does something in it, and removes it.
pub(crate) fn within(
    study: &Study,
    measure: impl FnOnce(Option<&record::Laboratory>) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let Some(wanted) = &study.lab else { return measure(None) };
    let stop = interrupt::flag_on_signal()?;
    let made = Laboratory::make(wanted, &stop, &mut |name| announce!("creating the lab: {name}"));
    let made = made.map_err(lab_failure)?;
    let ended = measure(Some(made.record()));
    let gone = made.remove().map_err(lab_failure);
    match ended {
        Ok(exit) => gone.map(|()| exit),
        Err(failure) => Err(failure.and(gone)),
    }
}

/// What is told of servers whose places are not made yet: what they will be.
pub(crate) fn told_of(study: &Study, servers: &mut [StartedServer]) {
    let Some(wanted) = &study.lab else { return };
    for volume in servers.iter_mut().flat_map(|server| server.places.values_mut()) {
        let path = PathBuf::from(&volume.path);
        let is_in = |of: &record::LabVolume| path.starts_with(&of.mount) && !path.exists();
        let Some(of) = runner::planned_laboratory(wanted).volumes.into_iter().find(is_in) else { continue };
        *volume = Volume {
            path: volume.path.clone(),
            mount: Reading::Known(of.mount),
            device: Reading::Unknown("it is created before the first trial".to_owned()),
            beneath: Beneath { block_bytes: Some(of.block_bytes), raid: of.joined_by, ..Beneath::default() },
            file_system: Some(of.file_system),
        };
    }
}
