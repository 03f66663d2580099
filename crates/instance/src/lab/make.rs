//! Makes a laboratory, step by step: each is stored before it is done, so that a kill at any moment leaves nothing unknown.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ownership::{Directory, MadeDirectory, RunId};

use super::combination::{self, Machine};
use super::known::{KnownLab, check_name};
use super::loops::{self, Inode, Loop};
use super::programs::{LOSETUP, MDADM, MOUNT, UMOUNT};
use super::{FileSystem, LabError, LabPlace, LabShape, Raid, room};
use crate::DeviceLimit;
use crate::limits::Throttles;

/// What the directory of backing files is called first; signs that nobody can foresee follow.
const BACKING: &str = "prony-lab-";
const SECRET_SIGNS: usize = 12;

/// A laboratory that we made. It is removed when this is dropped, unless it is left.
#[derive(Debug)]
pub struct Lab {
    known: KnownLab,
    is_gone: bool,
}

impl Lab {
    /// Looks whether such a laboratory could be made here, and makes nothing.
    ///
    /// # Errors
    /// What is missing, and what brings it.
    pub fn look(name: &str, shape: &LabShape, place: &LabPlace) -> Result<(), LabError> {
        check_name(name)?;
        if !rustix::process::geteuid().is_root() {
            return Err(LabError::NotRoot);
        }
        if let Some(why) = combination::impossible(shape, &Machine::here()) {
            return Err(LabError::Impossible(why));
        }
        [LOSETUP, MOUNT, UMOUNT, combination::maker(shape.file_system)]
            .into_iter()
            .try_for_each(|program| program.find().map(drop))?;
        if is_joined_by_md(shape) {
            MDADM.find()?;
        }
        if !Path::new("/dev/loop-control").exists() {
            return Err(LabError::NoLoop { why: "/dev/loop-control does not exist".to_owned() });
        }
        if !shape.throttle.is_none() {
            Throttles::find()?;
        }
        if KnownLab::all()?.iter().any(|known| known.name == name) {
            return Err(LabError::NameTaken { name: name.to_owned() });
        }
        match place.mount_point.symlink_metadata() {
            Ok(_) => return Err(LabError::Taken { path: place.mount_point.clone() }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(LabError::file("look at", &place.mount_point)(error)),
        }
        room::look(place, shape)
    }

    /// Makes it. It ends with this program unless it is [left](Self::leave).
    ///
    /// # Errors
    /// As [`Self::look`], when the name is taken, and what the system refuses. Nothing is left then.
    pub fn make(name: &str, shape: &LabShape, place: &LabPlace) -> Result<Self, LabError> {
        Self::look(name, shape, place)?;
        let absolute = |path: &Path| std::path::absolute(path).map_err(LabError::file("look at", path));
        let secret = RunId::new().map_err(LabError::file("draw a name in", &place.directory))?;
        let backing = format!("{BACKING}{}", &secret.as_str()[..SECRET_SIGNS]);
        let backing = absolute(&place.directory)?.join(backing);
        let known = KnownLab::new(name, shape, backing, absolute(&place.mount_point)?);
        known.begin()?;
        let mut lab = Self { known, is_gone: false };
        match lab.build() {
            Ok(()) => Ok(lab),
            Err(error) => {
                lab.is_gone = true;
                match lab.known.take_apart() {
                    Ok(()) => Err(error),
                    // It is still known, and listed.
                    Err(left) => Err(LabError::Impossible(format!(
                        "{error}; also, the incomplete lab could not be removed: {left}"
                    ))),
                }
            }
        }
    }

    fn build(&mut self) -> Result<(), LabError> {
        let files = self.make_files()?;
        for file in &files {
            loops::attach(file, self.known.shape.sector_bytes)?;
        }
        let loops = loops::on(&self.known.files)?;
        if loops.len() != files.len() {
            let why = format!("{} of {} were set up", loops.len(), files.len());
            return Err(LabError::NoLoop { why });
        }
        let nodes: Vec<String> = loops.iter().map(|one| one.node.clone()).collect();
        self.known.loops.clone_from(&nodes);
        self.known.is_direct = loops.iter().all(|one| one.is_direct);
        self.known.update()?;
        let devices = self.join(nodes)?;
        let shape = &self.known.shape;
        combination::maker(shape.file_system).run(&combination::maker_arguments(shape, &devices))?;
        self.mount(&devices)?;
        self.throttle(&loops)
    }

    /// The backing files, in a directory of their own, with all of their blocks: a disk that fills up later takes none from them.
    fn make_files(&mut self) -> Result<Vec<String>, LabError> {
        let directory = made(&self.known.backing.path)?;
        self.known.backing.is = Some(inode(directory.directory(), &self.known.backing.path)?);
        self.known.update()?;
        let mut paths = Vec::new();
        for number in 0..self.known.shape.devices {
            let name = format!("{number}");
            let path = self.known.backing.path.join(&name);
            let file = directory.directory().create_private(OsStr::new(&name));
            let (file, _) = file.map_err(LabError::file("make", &path))?;
            rustix::fs::fallocate(
                &file,
                rustix::fs::FallocateFlags::empty(),
                0,
                self.known.shape.device_bytes,
            )
            .map_err(|error| LabError::file("reserve the space of", &path)(error.into()))?;
            self.known.files.push(inode(&file, &path)?);
            paths.push(path.display().to_string());
        }
        // Loop devices are known by these files.
        self.known.update()?;
        Ok(paths)
    }

    /// Makes one device of several where the file system does not do that itself.
    fn join(&mut self, nodes: Vec<String>) -> Result<Vec<String>, LabError> {
        if !is_joined_by_md(&self.known.shape) {
            return Ok(nodes);
        }
        let array = format!("/dev/md/prony-{}", self.known.name);
        self.known.array = Some(PathBuf::from(&array));
        self.known.update()?;
        MDADM.run(&combination::array_arguments(&self.known.shape, &array, &nodes))?;
        Ok(vec![array])
    }

    fn mount(&mut self, devices: &[String]) -> Result<(), LabError> {
        let point = self.known.mount_point.path.clone();
        let parent = point.parent().unwrap_or(Path::new("/"));
        ownership::make_path(parent).map_err(LabError::file("make", parent))?;
        let directory = made(&point)?;
        self.known.mount_point.is = Some(inode(directory.directory(), &point)?);
        self.known.update()?;
        let shape = &self.known.shape;
        let options = combination::mount_options(shape, devices);
        let first = devices.first().map_or("", String::as_str);
        let at = point.display().to_string();
        MOUNT.run(&["-t", shape.file_system.word(), "-o", &options, first, &at]).map(drop)
    }

    fn throttle(&mut self, loops: &[Loop]) -> Result<(), LabError> {
        let throttle = self.known.shape.throttle;
        if throttle.is_none() {
            return Ok(());
        }
        let throttles = Throttles::find()?;
        self.known.throttled_at = throttles.groups().to_vec();
        self.known.update()?;
        let limits: Vec<DeviceLimit> = loops.iter().map(|one| throttle.of(one.device)).collect();
        Ok(throttles.impose(&limits)?)
    }

    /// What it is.
    #[must_use]
    pub fn known(&self) -> &KnownLab {
        &self.known
    }

    /// Leaves it as it is until somebody removes it by its name.
    ///
    /// # Errors
    /// That cannot be stored.
    pub fn leave(mut self) -> Result<(), LabError> {
        self.known.owner = None;
        self.known.update()?;
        self.is_gone = true;
        Ok(())
    }

    /// Removes it with all that it has.
    ///
    /// # Errors
    /// Something uses it, or cannot be removed: then that is still there, and known.
    pub fn remove(mut self) -> Result<(), LabError> {
        self.is_gone = true;
        self.known.take_apart()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if !self.is_gone {
            // Nobody is left who could be told; what is left is known.
            let _ = self.known.take_apart();
        }
    }
}

fn is_joined_by_md(shape: &LabShape) -> bool {
    shape.raid != Raid::Single && shape.file_system != FileSystem::Btrfs
}

/// A new directory of this path.
fn made(path: &Path) -> Result<MadeDirectory, LabError> {
    let fault = |error| LabError::file("make", path)(error);
    let parent = ownership::open_trusted(path.parent().unwrap_or(Path::new("/"))).map_err(fault)?;
    parent.make(path.file_name().unwrap_or_default()).map_err(fault)
}

fn inode(what: impl rustix::fd::AsFd, path: &Path) -> Result<Inode, LabError> {
    let stat = rustix::fs::fstat(what).map_err(|error| LabError::file("look at", path)(error.into()))?;
    Ok(Inode { device: stat.st_dev, inode: stat.st_ino })
}

/// The directory of a path and its last part, if that directory is there.
pub(super) fn parent_of(path: &Path) -> Result<Option<(Directory, &OsStr)>, LabError> {
    let name = path.file_name().unwrap_or_default();
    match ownership::open_trusted(path.parent().unwrap_or(Path::new("/"))) {
        Ok(parent) => Ok(Some((parent, name))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LabError::file("open the directory of", path)(error)),
    }
}
