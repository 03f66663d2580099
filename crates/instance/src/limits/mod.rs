//! Limits of a server's memory, processors and block devices, by control groups.
//!
//! A group is joined before the server's program begins, so that nothing of it was ever outside. Each limit is read back
//! after it was set: a kernel rounds some and ignores others. What cannot be limited here is an error with what to do about
//! it, never a group without the limit.
//!
//! <https://docs.kernel.org/admin-guide/cgroup-v1/index.html>, <https://docs.kernel.org/admin-guide/cgroup-v2.html>

mod device;
mod error;
mod files;
mod place;
mod scope;
mod throttle;
mod usage;
mod v1;
mod v2;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;

pub use device::Device;
pub use error::LimitError;
pub(crate) use throttle::Throttles;
pub use usage::{DeviceUsage, Usage};

use crate::process::Handle;
use place::{Place, Version};

/// What a group of processes may use at most. What is `None` or empty is not limited.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Bytes of memory, page cache included. Nothing is swapped out beyond it.
    pub memory_bytes: Option<u64>,
    /// Processors' worth of time; parts count.
    pub cpus: Option<f64>,
    /// Numbers of the processors to run on.
    pub cpu_set: Vec<u32>,
    /// Of each block device.
    pub devices: Vec<DeviceLimit>,
    /// Whether its devices may be slowed down while it runs.
    pub throttles: bool,
}

/// Limits of one block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceLimit {
    /// The whole device: a kernel limits no partitions.
    pub device: Device,
    /// Reads a second.
    pub read_iops: Option<u64>,
    /// Writes a second.
    pub write_iops: Option<u64>,
    /// Bytes read a second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written a second.
    pub write_bytes_per_s: Option<u64>,
}

/// Things that a group limits, each by a controller of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Resource {
    Memory,
    Cpu,
    CpuSet,
    Io,
}

impl Limits {
    /// How many of them there are whose proof takes time: that of processors' time, and each of each device.
    #[must_use]
    pub fn number(&self) -> usize {
        let of_device = |limit: &DeviceLimit| {
            [limit.read_iops, limit.write_iops, limit.read_bytes_per_s, limit.write_bytes_per_s]
                .iter()
                .flatten()
                .count()
        };
        usize::from(self.cpus.is_some()) + self.devices.iter().map(of_device).sum::<usize>()
    }

    fn resources(&self) -> Vec<Resource> {
        let is_limited =
            |device: &DeviceLimit| *device != DeviceLimit { device: device.device, ..DeviceLimit::default() };
        let io = self.throttles || self.devices.iter().any(is_limited);
        let wanted = [
            (Resource::Memory, self.memory_bytes.is_some()),
            (Resource::Cpu, self.cpus.is_some()),
            (Resource::CpuSet, !self.cpu_set.is_empty()),
            (Resource::Io, io),
        ];
        wanted.into_iter().filter(|(_, is_wanted)| *is_wanted).map(|(resource, _)| resource).collect()
    }

    /// Whether the page cache lets a server read past them: pages that were cached outside the group are not in its memory, and reading them
    /// reads no device.
    #[must_use]
    pub fn are_passed_by_cached_files(&self) -> bool {
        let limits_reads =
            |device: &DeviceLimit| device.read_iops.is_some() || device.read_bytes_per_s.is_some();
        self.memory_bytes.is_some() || self.devices.iter().any(limits_reads)
    }

    /// Whether nothing is limited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.resources().is_empty()
    }
}

/// Sees to it that such limits can be had where systemd manages the groups of the machine: then this process goes on as the same
/// program with the same arguments, and the same number, in a scope that systemd gives it.
pub(crate) fn enter_scope(limits: &Limits) -> Result<(), LimitError> {
    if limits.is_empty() { Ok(()) } else { scope::enter(&limits.resources()) }
}

/// Lifts the limits of I/O of a group whose program is no more, as far as can be: what is to end would wait within them.
pub(crate) fn lift_left(directories: &[PathBuf]) {
    for directory in directories {
        throttle::lift_all(directory);
        v2::lift_all(directory);
    }
}

/// Removes the directories of a group which a program left that is no more. Its processes were killed: those that still wait for a disk are
/// waited for.
pub(crate) fn remove_left(directories: &[PathBuf]) -> Result<(), LimitError> {
    remove_within(directories, GONE_WITHIN)
}

fn remove_within(directories: &[PathBuf], limit: Duration) -> Result<(), LimitError> {
    let deadline = Instant::now() + limit;
    while let Err(error) = directories.iter().try_for_each(|directory| place::remove(directory)) {
        if Instant::now() > deadline {
            return Err(error);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

/// Time in which the processes of a group end that are killed with it.
const GONE_WITHIN: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A group of processes with limits. Its processes are killed and it is removed when this is dropped.
#[derive(Debug)]
pub struct Group {
    place: Place,
    limits: Limits,
}

/// A group that is about to be made.
#[derive(Debug)]
pub(crate) struct PlannedGroup {
    place: Place,
    limits: Limits,
}

impl PlannedGroup {
    /// Its directories.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        self.place.paths().into_iter().map(Path::to_owned).collect()
    }

    /// Makes it.
    ///
    /// # Errors
    /// As [`Group::make`].
    pub(crate) fn make(self) -> Result<Group, LimitError> {
        // Before it is a group of ours: what is one is emptied when it is dropped, whatever runs in it.
        self.place.make()?;
        Group::limited(self.place, &self.limits)
    }
}

/// Reads what a group uses, and holds nothing of it.
#[derive(Clone, Debug)]
pub struct GroupUse {
    place: Place,
}

impl GroupUse {
    /// As [`Group::usage`].
    ///
    /// # Errors
    /// The group is gone, or a file of it cannot be read.
    pub fn usage(&self) -> Result<Usage, LimitError> {
        usage_of(&self.place)
    }
}

fn usage_of(place: &Place) -> Result<Usage, LimitError> {
    match place.version {
        Version::One => v1::usage(place),
        Version::Two => v2::usage(place),
    }
}

impl Group {
    /// Makes a group of that name with these limits; one in which nothing runs was left by a process that is no more, and is made
    /// anew.
    ///
    /// # Errors
    /// Something cannot be limited on this machine or by this user, or a limit does not read back as it was set.
    pub fn make(name: &str, limits: &Limits) -> Result<Self, LimitError> {
        Self::make_at(Path::new("/"), name, limits)
    }

    /// Finds where such a group can be, and makes nothing yet.
    ///
    /// # Errors
    /// As [`Self::make`].
    pub(crate) fn plan(name: &str, limits: &Limits) -> Result<PlannedGroup, LimitError> {
        Self::plan_at(Path::new("/"), name, limits)
    }

    /// [`Self::plan`] on the machine whose files are below `root`.
    fn plan_at(root: &Path, name: &str, limits: &Limits) -> Result<PlannedGroup, LimitError> {
        Ok(PlannedGroup { place: Place::find(root, name, &limits.resources())?, limits: limits.clone() })
    }

    /// [`Self::make`] on the machine whose files are below `root`.
    fn make_at(root: &Path, name: &str, limits: &Limits) -> Result<Self, LimitError> {
        Self::plan_at(root, name, limits)?.make()
    }

    /// The group that was made there, with its limits.
    fn limited(place: Place, limits: &Limits) -> Result<Self, LimitError> {
        let group = Self { place, limits: limits.clone() };
        group.impose()?;
        Ok(group)
    }

    /// Sets its limits, again if they were lifted.
    pub(crate) fn impose(&self) -> Result<(), LimitError> {
        self.set(&self.limits)
    }

    /// Has its devices answer so many reads and writes a second, or what their limits are again.
    pub(crate) fn throttle(&self, iops: Option<u64>) -> Result<(), LimitError> {
        let slow = |device: &DeviceLimit| DeviceLimit { read_iops: iops, write_iops: iops, ..*device };
        let devices: Vec<DeviceLimit> = self.limits.devices.iter().map(slow).collect();
        // The first version sets a group's processors anew with all else.
        let only = |devices| Limits { devices, cpu_set: self.limits.cpu_set.clone(), ..Limits::default() };
        if iops.is_none() {
            self.lifter_of(only(devices)).lift();
            return self.set(&only(self.limits.devices.clone()));
        }
        self.set(&only(devices))
    }

    fn set(&self, limits: &Limits) -> Result<(), LimitError> {
        match self.place.version {
            Version::One => v1::set_limits(&self.place, limits),
            Version::Two => v2::set_limits(&self.place, limits),
        }
    }

    /// Lifts the limits of I/O and of processor time, as far as can be: what is to end would wait within them for what it still
    /// has to write.
    pub(crate) fn lift(&self) {
        self.lifter().lift();
    }

    /// What lifts them from any thread, as long as the group is there.
    #[must_use]
    pub fn lifter(&self) -> Lifter {
        self.lifter_of(self.limits.clone())
    }

    fn lifter_of(&self, limits: Limits) -> Lifter {
        Lifter { place: self.place.clone(), limits }
    }

    /// What is limited.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How it is limited, for a record: `cgroup v2` and the path.
    #[must_use]
    pub fn described(&self) -> String {
        let version = match self.place.version {
            Version::One => "cgroup v1",
            Version::Two => "cgroup v2",
        };
        format!("{version}, {}", self.place.name())
    }

    /// A program and its arguments, to which what is to run in the group is appended: it joins and then becomes that.
    #[must_use]
    pub(crate) fn entrance(&self) -> (PathBuf, Vec<OsString>) {
        const JOIN: &str =
            "while [ \"$1\" != -- ]; do echo $$ > \"$1\" || exit 125; shift; done; shift; exec \"$@\"";
        let mut arguments: Vec<OsString> = vec!["-c".into(), JOIN.into(), "join".into()];
        arguments.extend(self.place.members().into_iter().map(PathBuf::into_os_string));
        arguments.push("--".into());
        (PathBuf::from("/bin/sh"), arguments)
    }

    /// What the group has used since it was made.
    ///
    /// # Errors
    /// A file of the group cannot be read.
    pub fn usage(&self) -> Result<Usage, LimitError> {
        usage_of(&self.place)
    }

    /// What reads the use of the group as long as that is there, from any thread.
    #[must_use]
    pub fn in_use(&self) -> GroupUse {
        GroupUse { place: self.place.clone() }
    }

    /// Numbers of the processes in it.
    ///
    /// # Errors
    /// A file of the group cannot be read.
    pub fn processes(&self) -> Result<Vec<u32>, LimitError> {
        let mut all = Vec::new();
        for file in self.place.members() {
            all.extend(files::read(&file)?.lines().filter_map(|line| line.trim().parse::<u32>().ok()));
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// Its directories, to be removed once nothing is in it any more.
    #[must_use]
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        self.place.paths().into_iter().map(Path::to_owned).collect()
    }

    /// Leaves it, with what runs in it.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }

    /// Kills what runs in it and removes it.
    ///
    /// # Errors
    /// Something in it does not end, or the group cannot be removed.
    pub fn remove(mut self) -> Result<(), LimitError> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), LimitError> {
        let deadline = Instant::now() + GONE_WITHIN;
        loop {
            let left = self.processes().unwrap_or_default();
            for pid in &left {
                let Ok(Some(handle)) = Handle::open(*pid) else { continue };
                // Its number may have become another's before it was held.
                if self.processes().is_ok_and(|now| now.contains(pid)) {
                    // It has ended, or is looked at again.
                    let _ = handle.signal(Signal::KILL);
                }
            }
            match self.place.remove() {
                Ok(()) => return Ok(()),
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => std::thread::sleep(LOOK_AGAIN),
            }
        }
    }
}

/// Lifts the limits of a group.
#[derive(Clone, Debug)]
pub struct Lifter {
    place: Place,
    limits: Limits,
}

impl Lifter {
    /// Lifts the limits of I/O and of processor time, as far as can be. They hold again from the next start of what is in the group.
    pub fn lift(&self) {
        match self.place.version {
            Version::One => v1::lift(&self.place, &self.limits),
            Version::Two => v2::lift(&self.place, &self.limits),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Nobody is left who could be told.
        let _ = self.clear();
    }
}

#[cfg(test)]
mod tests;
