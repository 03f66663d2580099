//! The processes of a pair, or of a server that a killed prony left, whoever made them: a keeper starts its server itself, and what it
//! leaves behind is nobody's child. They are known by the directory in which they stand, which is one that we made: servers stand among
//! their data, and what we start is put into its node's directory. A process with a terminal is somebody who looks around there.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::InstanceError;
use crate::process::Handle;

const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A process that stands in a directory of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// Where it stands.
    pub(crate) directory: PathBuf,
}

/// A directory in which processes may stand, or below it, as it was once seen: what it lies on may have no power any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stand {
    directory: PathBuf,
    owner: u32,
}

impl Stand {
    /// None where there is no such directory.
    pub(crate) fn of(directory: &Path) -> Result<Option<Self>, InstanceError> {
        let Ok(owner) = std::fs::metadata(directory).map(|seen| seen.uid()) else { return Ok(None) };
        let directory =
            std::fs::canonicalize(directory).map_err(InstanceError::file("look at", directory))?;
        Ok(Some(Self { directory, owner }))
    }

    /// One of the same owner, which perhaps cannot be looked at.
    pub(crate) fn of_same(&self, directory: &Path) -> Self {
        let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        Self { directory, owner: self.owner }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Those that stand there. One that ends meanwhile is left out.
    pub(crate) fn members(&self) -> Result<Vec<Member>, InstanceError> {
        let entries = std::fs::read_dir("/proc").map_err(InstanceError::file("list", "/proc"))?;
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Ok(pids.filter_map(|pid| member(pid, &self.directory, self.owner)).collect())
    }
}

/// Those that stand in a directory or below it.
pub(crate) fn below(directory: &Path) -> Result<Vec<Member>, InstanceError> {
    Stand::of(directory)?.map_or(Ok(Vec::new()), |stand| stand.members())
}

/// Those that stand in any of several.
pub(crate) fn in_any(stands: &[Stand]) -> Result<Vec<Member>, InstanceError> {
    let mut all = Vec::new();
    for stand in stands {
        all.extend(stand.members()?);
    }
    Ok(all)
}

fn member(pid: u32, directory: &Path, owner: u32) -> Option<Member> {
    let place = PathBuf::from(format!("/proc/{pid}"));
    let stands = std::fs::read_link(place.join("cwd")).ok().filter(|stands| stands.starts_with(directory))?;
    let is_theirs = std::fs::metadata(&place).ok()?.uid() == owner;
    let parent = parent_without_terminal(&std::fs::read_to_string(place.join("stat")).ok()?)?;
    is_theirs.then_some(Member { pid, parent, directory: stands })
}

/// Fourth field of `/proc/PID/stat`, if the seventh says that it has no terminal. The second is a name in brackets, which may hold
/// anything (proc(5)).
fn parent_without_terminal(stat: &str) -> Option<u32> {
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let is_ended = matches!(*fields.first()?, "Z" | "X");
    (!is_ended && *fields.get(4)? == "0").then_some(())?;
    fields.get(1)?.parse().ok()
}

/// Whether a process was stopped by a signal.
pub(crate) fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
}

/// Signals one that still stands where it stood. Its number may be another's by now: then it gets nothing.
fn signal_one(one: &Member, signal: Signal) -> Result<(), InstanceError> {
    let Some(handle) = Handle::open(one.pid)? else { return Ok(()) };
    match std::fs::read_link(format!("/proc/{}/cwd", one.pid)) {
        Ok(stands) if stands == one.directory => handle.signal(signal),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Signals each of them, in their order.
pub(crate) fn signal(members: &[Member], signal: Signal) -> Result<(), InstanceError> {
    members.iter().try_for_each(|one| signal_one(one, signal))
}

/// Signals what stands in any of several directories or below them until a look finds none that was not signalled before: a process may make others
/// while it is looked for.
pub(crate) fn signal_all(stands: &[Stand], sent: Signal) -> Result<(), InstanceError> {
    let mut known: Vec<u32> = Vec::new();
    loop {
        let mut new = in_any(stands)?;
        new.retain(|one| !known.contains(&one.pid));
        if new.is_empty() {
            return Ok(());
        }
        // The first processes first: what is stopped makes no more.
        new.sort_by_key(|one| one.pid);
        signal(&new, sent)?;
        known.extend(new.iter().map(|one| one.pid));
    }
}

/// Waits until nothing stands in a directory or below it.
///
/// # Errors
/// Something is still there when the limit is over: it is named.
pub(crate) fn await_none(directory: &Path, limit: Duration) -> Result<(), InstanceError> {
    let stand = Stand::of(directory)?;
    end(stand.as_slice(), limit, |_| Ok(()))
}

/// Kills all that stands in any of several directories or below them, and waits until nothing does.
///
/// # Errors
/// Something is still there when the limit is over: it is named.
pub(crate) fn kill_all(stands: &[Stand], limit: Duration) -> Result<(), InstanceError> {
    end(stands, limit, |left| signal(left, Signal::KILL))
}

fn end(
    stands: &[Stand],
    limit: Duration,
    urge: impl Fn(&[Member]) -> Result<(), InstanceError>,
) -> Result<(), InstanceError> {
    let deadline = Instant::now() + limit;
    loop {
        let left = in_any(stands)?;
        let Some(first) = left.first() else { return Ok(()) };
        if Instant::now() > deadline {
            let source = std::io::Error::other("it does not end");
            return Err(InstanceError::Process { action: "end", pid: first.pid, source });
        }
        urge(&left)?;
        std::thread::sleep(LOOK_AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_a_terminal_is_none_of_a_pair() {
        assert_eq!(parent_without_terminal("20 (a) b) S 17 20 20 0 -1"), Some(17));
        assert_eq!(parent_without_terminal("20 (bash) S 17 20 20 34816 20"), None);
        assert_eq!(parent_without_terminal("20 (gone) Z 17 20 20 0 -1"), None);
        assert_eq!(parent_without_terminal("20 (cut"), None);
    }
}
