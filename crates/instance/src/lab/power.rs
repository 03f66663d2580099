//! The power of a laboratory, as far as its file system is concerned: what that has not written to its devices is gone when it is cut.
//! What it has written is kept, whether the devices were asked to keep it or not: they have no cache of their own that could lose it.

use std::path::Path;
use std::time::{Duration, Instant};

use super::known::KnownLab;
use super::programs::{MOUNT, Program, UMOUNT};
use super::{FileSystem, LabError, combination, mounts};

/// It speaks to ext4 too, by the request that both have of XFS (`XFS_IOC_GOINGDOWN`, xfs_io(8): shutdown).
const XFS_IO: Program = Program { name: "xfs_io", package: "xfsprogs" };
/// Whoever was killed has let go of its files by then, and whoever looked at them too.
const FREE_WITHIN: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl KnownLab {
    /// The laboratory that a path lies on, if it is one whose power can be cut.
    ///
    /// # Errors
    /// It lies on none, or its file system cannot; a program is missing, or we are not root.
    pub(crate) fn with_power_under(path: &Path) -> Result<Self, LabError> {
        let path = std::fs::canonicalize(path).map_err(LabError::file("look at", path))?;
        let all = mounts::all()?.into_iter().filter(|mounted| path.starts_with(&mounted.at));
        let mount = all.max_by_key(|mounted| mounted.at.as_os_str().len());
        let lies_there = |lab: &Self| {
            let at = std::fs::canonicalize(&lab.mount_point.path).ok();
            mount.as_ref().is_some_and(|mount| at.as_ref() == Some(&mount.at))
        };
        let lab = Self::all()?.into_iter().find(lies_there);
        let lab = lab.ok_or_else(|| LabError::NoPower { path: path.clone() })?;
        if lab.shape.file_system == FileSystem::Btrfs {
            let why = format!(
                "the lab `{}` uses btrfs, but prony cannot simulate a power cut on btrfs: create a lab with ext4 or xfs",
                lab.name
            );
            return Err(LabError::Impossible(why));
        }
        if !rustix::process::geteuid().is_root() {
            return Err(LabError::NotRoot);
        }
        [XFS_IO, MOUNT, UMOUNT].into_iter().try_for_each(|program| program.find().map(drop))?;
        Ok(lab)
    }

    /// The laboratory without power that a path lies on, if there is one. Perhaps nothing on it can be looked at.
    pub(crate) fn without_power_under(path: &Path) -> Result<Option<Self>, LabError> {
        let whole = std::fs::canonicalize(path).ok();
        let lies_there = |lab: &Self| {
            let at = &lab.mount_point.path;
            let real = std::fs::canonicalize(at).ok();
            let is_in_whole = real.zip(whole.as_ref()).is_some_and(|(real, whole)| whole.starts_with(real));
            lab.is_cut && (path.starts_with(at) || is_in_whole)
        };
        Ok(Self::all()?.into_iter().find(lies_there))
    }

    /// Has its file system write nothing any more, not even its own journal. Whatever is asked of it fails. That is stored before, so
    /// that others can give it back after a kill.
    pub(crate) fn cut_power(&self) -> Result<(), LabError> {
        self.store_power(true)?;
        XFS_IO.run(&["-x", "-c", "shutdown", &self.mounted_at()]).map(drop)
    }

    /// Mounts it again, of what its devices have. Nothing of it is open.
    pub(crate) fn restore_power(&self) -> Result<(), LabError> {
        let at = self.mounted_at();
        let deadline = Instant::now() + FREE_WITHIN;
        let is_mounted = || {
            let real = std::fs::canonicalize(&self.mount_point.path);
            let real = real.unwrap_or_else(|_| self.mount_point.path.clone());
            Ok::<bool, LabError>(mounts::all()?.iter().any(|mounted| mounted.at == real))
        };
        // It is not if whoever did so before was killed in between.
        while is_mounted()? {
            let Err(error) = UMOUNT.run(&[&at]) else { break };
            if Instant::now() > deadline {
                return Err(error);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        let devices = self.array.as_ref().map(|array| vec![array.display().to_string()]);
        let devices = devices.unwrap_or_else(|| self.loops.clone());
        let options = combination::mount_options(&self.shape, &devices);
        let first = devices.first().map_or("", String::as_str);
        MOUNT.run(&["-t", self.shape.file_system.word(), "-o", &options, first, &at])?;
        self.store_power(false)
    }

    fn mounted_at(&self) -> String {
        self.mount_point.path.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write as _;

    use super::super::{Lab, LabPlace, LabShape};
    use super::*;

    #[test]
    fn what_was_not_asked_to_be_kept_is_gone_and_the_rest_is_there() {
        for file_system in [FileSystem::Ext4, FileSystem::Xfs] {
            let parent = tempfile::tempdir().unwrap();
            let name = format!("power-{}-{}", file_system.word(), std::process::id());
            let shape = LabShape { file_system, device_bytes: 512 << 20, ..LabShape::default() };
            let place = LabPlace {
                directory: parent.path().to_owned(),
                mount_point: parent.path().join("at"),
                in_memory: true,
            };
            let lab = match Lab::make(&name, &shape, &place) {
                Ok(lab) => lab,
                Err(error) => {
                    eprintln!("not run: the power of a laboratory: {error}");
                    continue;
                }
            };
            let at = place.mount_point.clone();
            let mut kept = File::create(at.join("kept")).unwrap();
            kept.write_all(b"all of it").unwrap();
            kept.sync_all().unwrap();
            let mut lost = File::create(at.join("lost")).unwrap();
            lost.write_all(b"all of it").unwrap();
            let known = KnownLab::with_power_under(&at).unwrap();
            known.cut_power().unwrap();
            let cut = KnownLab::without_power_under(&at.join("kept")).unwrap().unwrap();
            assert_eq!((&cut.name, KnownLab::without_power_under(parent.path()).unwrap()), (&name, None));
            assert!(lost.write_all(b"more").and_then(|()| lost.sync_all()).is_err());
            drop((kept, lost));
            known.restore_power().unwrap();
            assert_eq!(KnownLab::without_power_under(&at).unwrap(), None);
            assert_eq!(fs::read(at.join("kept")).unwrap(), b"all of it");
            assert_eq!(fs::read(at.join("lost")).unwrap_or_default(), b"", "{}", file_system.word());
            lab.remove().unwrap();
        }
    }

    #[test]
    fn a_volume_of_somebody_else_keeps_its_power() {
        let told = KnownLab::with_power_under(Path::new("/")).unwrap_err().to_string();
        assert!(told.contains("prony lab create"), "{told}");
    }
}
