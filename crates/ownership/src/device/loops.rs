//! What loop devices stand on. They claim nothing that the kernel would tell of the file or device below them.

use std::fs;
use std::path::Path;

use super::system::{Number, System, entries, lossy};

/// Asks a loop device's node what the device stands on (LOOP_GET_STATUS64); none if it may not be asked.
pub type AskLoop = fn(&Path) -> Option<Backing>;

/// What can be written, and by that what stands upon it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    Device(Number),
    File { device: Number, inode: u64 },
}

/// What a loop device stands on, as the kernel has it since it was set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backing {
    /// Device of the file's file system (`st_dev`).
    pub device: u64,
    /// The file's inode.
    pub inode: u64,
    /// The device, if it is a node of one (`st_rdev`).
    pub node_device: u64,
}

impl Backing {
    fn thing(self) -> Thing {
        match self.node_device {
            0 => Thing::File { device: Number::of_raw(self.device), inode: self.inode },
            raw => Thing::Device(Number::of_raw(raw)),
        }
    }
}

impl Thing {
    /// What is at a path now; none if nothing is, or what holds no data.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let stat = rustix::fs::stat(path).ok()?;
        match crate::Kind::of_mode(stat.st_mode) {
            crate::Kind::BlockDevice => Some(Self::Device(Number::of_raw(stat.st_rdev))),
            crate::Kind::File => Some(Self::File { device: Number::of_raw(stat.st_dev), inode: stat.st_ino }),
            _ => None,
        }
    }
}

/// A loop device that is set up.
pub(super) struct Loop {
    /// `loop3`.
    pub(super) name: String,
    /// What it stands on. Two, if the name that the kernel tells leads to something else here than what it is: it is of
    /// another mount namespace then, or was given to another file.
    pub(super) stands_on: Vec<Thing>,
}

impl System {
    /// All loop devices that are set up.
    pub(super) fn loops(&self) -> Vec<Loop> {
        entries(&self.root.join("sys/block")).iter().filter_map(|directory| self.loop_at(directory)).collect()
    }

    fn loop_at(&self, directory: &Path) -> Option<Loop> {
        let backing = fs::read(directory.join("loop/backing_file")).ok()?;
        let name = lossy(directory.file_name()?);
        let by_name = std::str::from_utf8(&backing).ok().map(|path| path.trim_end_matches('\n'));
        let by_name = by_name.and_then(|path| Thing::at(&self.place(path)));
        let asked = (self.ask)(&self.root.join("dev").join(&name)).map(Backing::thing);
        let mut stands_on: Vec<Thing> = by_name.into_iter().chain(asked).collect();
        stands_on.dedup();
        Some(Loop { name, stands_on })
    }
}
