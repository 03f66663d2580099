//! Takes a laboratory apart, whatever of it there is: in the order in which each step can be tried again if a later one fails.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::known::{KnownLab, Made};
use super::loops::{self, Loop};
use super::make::parent_of;
use super::programs::{MDADM, UMOUNT};
use super::{LabError, lab_mount_point, mounts};
use crate::limits::Throttles;
use crate::{DeviceLimit, Standing};

/// Time in which programs end that a killed prony was making it by, and their hold of its devices with them.
const FREE_WITHIN: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl KnownLab {
    /// Removes it with all that it has. One that another prony holds is refused.
    ///
    /// # Errors
    /// It is held or in use, or something cannot be removed: then that is still there, and known.
    pub fn remove(&self) -> Result<(), LabError> {
        if let Standing::Held(pid) = self.standing() {
            return Err(LabError::Held { name: self.name.clone(), pid });
        }
        if !rustix::process::geteuid().is_root() {
            return Err(LabError::NotRoot);
        }
        self.take_apart()
    }

    pub(super) fn take_apart(&self) -> Result<(), LabError> {
        let loops = if self.files.is_empty() { Vec::new() } else { loops::on(&self.files)? };
        if !loops.is_empty() {
            let throttles = Throttles::at(&self.throttled_at);
            // First of all: what is still to be written would wait within them.
            throttles.lift(loops.iter().map(|one| one.device));
            if let Err(error) = self.unmount(&loops) {
                // Whoever uses it goes on within them, as far as can be: the error that led here is what is told.
                let limits: Vec<DeviceLimit> =
                    loops.iter().map(|one| self.shape.throttle.of(one.device)).collect();
                let _ = throttles.impose(&limits);
                return Err(error);
            }
            self.stop_array()?;
            self.detach()?;
        }
        remove(&self.mount_point)?;
        self.remove_empty_parent()?;
        remove(&self.backing)?;
        self.forget()
    }

    /// Unmounts its own file system from its own place. One that is mounted elsewhere too is used by somebody.
    fn unmount(&self, loops: &[Loop]) -> Result<(), LabError> {
        let array = self.array.as_ref().and_then(|array| std::fs::canonicalize(array).ok());
        let is_ours = |source: &str| {
            loops.iter().any(|one| one.node == source)
                || self.array.as_deref() == Some(Path::new(source))
                || array.as_deref() == Some(Path::new(source))
        };
        let own = |all: Vec<mounts::Mounted>| -> Vec<mounts::Mounted> {
            all.into_iter().filter(|mounted| is_ours(&mounted.source)).collect()
        };
        let mounted = own(mounts::all()?);
        if let Some(elsewhere) = mounted.iter().find(|mounted| mounted.at != self.mount_point.path) {
            return Err(self.in_use(&format!("it is mounted at {} too", elsewhere.at.display())));
        }
        let deadline = Instant::now() + FREE_WITHIN;
        while !own(mounts::all()?).is_empty() {
            let at = self.mount_point.path.display().to_string();
            match UMOUNT.run(&[&at]) {
                Ok(_) => {}
                Err(LabError::Failed { said, .. }) if Instant::now() > deadline => {
                    return Err(self.in_use(&said));
                }
                Err(LabError::Failed { .. }) => std::thread::sleep(LOOK_AGAIN),
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    fn stop_array(&self) -> Result<(), LabError> {
        let Some(array) = self.array.as_ref().filter(|array| array.exists()) else { return Ok(()) };
        MDADM.run(&["--stop", "--quiet", &array.display().to_string()]).map(drop).map_err(|error| match error
        {
            LabError::Failed { said, .. } => self.in_use(&said),
            other => other,
        })
    }

    /// Takes its loop devices away and waits until they are: one that is in use would go only later.
    fn detach(&self) -> Result<(), LabError> {
        let deadline = Instant::now() + FREE_WITHIN;
        loop {
            let left = loops::on(&self.files)?;
            if left.is_empty() {
                return Ok(());
            }
            let failed = left.iter().find_map(|one| loops::detach(&one.node).err());
            if Instant::now() > deadline {
                let nodes: Vec<&str> = left.iter().map(|one| one.node.as_str()).collect();
                let why = failed
                    .map_or_else(|| "a program has these devices open".to_owned(), |error| error.to_string());
                return Err(self.in_use(&format!("cannot delete {}: {why}", nodes.join(", "))));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// The directory of several volumes that are mounted side by side goes with the last of them.
    fn remove_empty_parent(&self) -> Result<(), LabError> {
        // Without a separator at its end.
        let all: PathBuf = lab_mount_point("").components().collect();
        match self.mount_point.path.parent() {
            Some(parent) if parent.starts_with(&all) && parent != all => {
                remove(&Made::planned(parent.to_owned()))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn in_use(&self, why: &str) -> LabError {
        LabError::InUse { name: self.name.clone(), mount: self.mount_point.path.clone(), why: why.to_owned() }
    }
}

/// Removes a directory that was made with all that is in it: the one that was made, and no other that has its name. One that was not
/// yet known by more than its name is removed if nothing is in it.
fn remove(made: &Made) -> Result<(), LabError> {
    let fault = |error| LabError::file("remove", &made.path)(error);
    let Some((parent, name)) = parent_of(&made.path)? else { return Ok(()) };
    let Some(seen) = parent.look(name).map_err(fault)? else { return Ok(()) };
    let before = match made.is {
        Some(is) => parent.made_before(name, is.device, is.inode),
        None => parent.made_before(name, seen.device(), seen.inode()),
    };
    let Some(directory) = before.map_err(fault)? else { return Ok(()) };
    let removed = match made.is {
        Some(_) => directory.remove_with_all().map(drop),
        None => match directory.remove_empty() {
            // Whatever is in it is not ours: nothing was put there before it was known.
            Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed.map(drop),
        },
    };
    removed.map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::loops::Inode;

    #[test]
    fn only_what_was_made_is_removed_and_by_more_than_its_name() {
        let here = tempfile::tempdir().unwrap();
        let path = here.path().join("prony-lab-1");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("0"), "x").unwrap();
        let stat = rustix::fs::stat(&path).unwrap();
        let is = Inode { device: stat.st_dev, inode: stat.st_ino };
        remove(&Made { path: path.clone(), is: None }).unwrap();
        assert!(path.join("0").exists(), "what was put there before it was known is somebody else's");
        remove(&Made { path: path.clone(), is: Some(Inode { inode: is.inode + 1, ..is }) }).unwrap();
        assert!(path.join("0").exists(), "another database has its name");
        remove(&Made { path: path.clone(), is: Some(is) }).unwrap();
        assert!(!path.exists());
        remove(&Made { path: path.clone(), is: Some(is) }).unwrap();
        std::fs::create_dir(&path).unwrap();
        remove(&Made { path: path.clone(), is: None }).unwrap();
        assert!(!path.exists(), "an empty one of this name was planned by us");
    }
}
