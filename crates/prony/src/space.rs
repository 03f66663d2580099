//! Refuses files that cannot have room: a load that fills a volume ends in its midst, and takes room from others until then.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use report::format;
use study::{Plan, Study};

use crate::commands;
use crate::exit::Failure;

/// A directory of files that a plan makes, and the least that is written there.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    directory: PathBuf,
    least_bytes: u64,
}

/// Refuses a plan whose files of databases come to more than their volumes have free. Of a file that is there already nobody knows what it
/// still takes.
pub(crate) fn check_plan(study: &Study, plan: &Plan) -> Result<(), Failure> {
    let files = commands::least_in_files(study, plan).into_iter().filter(|(file, _)| !file.exists());
    let mut volumes: BTreeMap<u64, Wanted> = BTreeMap::new();
    for (file, least_bytes) in files {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = parent.unwrap_or(Path::new(".")).to_owned();
        // One that is not there is told where the file is made.
        let Ok(metadata) = std::fs::metadata(&directory) else { continue };
        let wanted = volumes.entry(metadata.dev()).or_insert(Wanted { directory, least_bytes: 0 });
        wanted.least_bytes = wanted.least_bytes.saturating_add(least_bytes);
    }
    volumes.into_values().try_for_each(|wanted| {
        let free = rustix::fs::statvfs(&wanted.directory);
        let free_bytes = free.map(|space| space.f_bavail.saturating_mul(space.f_frsize));
        free_bytes.map_or(Ok(()), |free_bytes| refuse(&wanted, free_bytes))
    })
}

fn refuse(wanted: &Wanted, free_bytes: u64) -> Result<(), Failure> {
    if free_bytes >= wanted.least_bytes {
        return Ok(());
    }
    Err(Failure::usage(anyhow!(
        "{} has only {} free, but at least {} will be written. Use a larger volume, free some space, or \
         load less",
        wanted.directory.display(),
        format::bytes(free_bytes),
        format::bytes(wanted.least_bytes)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_refused_with_what_is_needed() {
        let wanted = Wanted { directory: "/data".into(), least_bytes: 3 << 30 };
        assert!(refuse(&wanted, 3 << 30).is_ok());
        let told = refuse(&wanted, 1 << 30).unwrap_err().message();
        assert!(told.contains("/data has only 1 GiB free, but at least 3 GiB will be written"), "{told}");
    }
}
