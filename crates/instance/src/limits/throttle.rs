//! Throttles of devices for everybody: set in the uppermost group of the first version, in which the kernel's own threads are that
//! write back what programs left in memory, and in our own group if that is another.
//!
//! A group of the first version has limits of its own and none of those above it (Linux' blk-throttle): one that is made later
//! takes over what is throttled above it, or is not made where it would only count. The uppermost group of the second version
//! has no limits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::{read, set};
use super::place::{self, Version};
use super::usage::numbers;
use super::{Device, DeviceLimit, LimitError, Resource};

/// A file of a group and the limit that stands in it.
type Kind = (&'static str, fn(&mut DeviceLimit) -> &mut Option<u64>);

const KINDS: [Kind; 4] = [
    ("blkio.throttle.read_iops_device", |limit| &mut limit.read_iops),
    ("blkio.throttle.write_iops_device", |limit| &mut limit.write_iops),
    ("blkio.throttle.read_bps_device", |limit| &mut limit.read_bytes_per_s),
    ("blkio.throttle.write_bps_device", |limit| &mut limit.write_bytes_per_s),
];

/// Where devices are throttled for all processes that are not in groups of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Throttles {
    groups: Vec<PathBuf>,
}

impl Throttles {
    /// Those of this machine.
    ///
    /// # Errors
    /// It has no controller of the first version that throttles, or this user may not use it.
    pub(crate) fn find() -> Result<Self, LimitError> {
        Self::find_at(Path::new("/"))
    }

    fn find_at(root: &Path) -> Result<Self, LimitError> {
        let groups = place::whole_hierarchy(root, Resource::Io.controller(Version::One))?;
        let groups = groups.ok_or_else(|| LimitError::Missing {
            what: Resource::Io.word(),
            why: "throttling a device needs the `blkio` controller of cgroup v1, but this controller is not mounted: omit the throttle, or limit \
            servers (--read-iops, --write-iops)"
                .to_owned(),
        })?;
        for group in &groups {
            place::writable(group, Resource::Io)?;
        }
        Ok(Self { groups })
    }

    /// Those that were found before.
    pub(crate) fn at(groups: &[PathBuf]) -> Self {
        Self { groups: groups.to_vec() }
    }

    pub(crate) fn groups(&self) -> &[PathBuf] {
        &self.groups
    }

    /// Sets them, each read back.
    pub(crate) fn impose(&self, limits: &[DeviceLimit]) -> Result<(), LimitError> {
        self.groups.iter().try_for_each(|group| limits.iter().try_for_each(|limit| impose(group, *limit)))
    }

    /// Takes them away, as far as can be: a group that is gone has none.
    pub(crate) fn lift(&self, devices: impl Iterator<Item = Device>) {
        for device in devices {
            for group in &self.groups {
                for (file, _) in KINDS {
                    let _ = std::fs::write(group.join(file), format!("{device} 0"));
                }
            }
        }
    }
}

/// Sets the limits of a device in a group.
pub(super) fn impose(group: &Path, mut limit: DeviceLimit) -> Result<(), LimitError> {
    let device = limit.device;
    for (file, of) in KINDS {
        let Some(value) = *of(&mut limit) else { continue };
        let line = format!("{device} {value}");
        set(&group.join(file), &line, |found| found.lines().any(|found| found.trim() == line))?;
    }
    Ok(())
}

/// What is throttled in a group.
pub(super) fn throttled(group: &Path) -> Vec<DeviceLimit> {
    let mut all: BTreeMap<Device, DeviceLimit> = BTreeMap::new();
    for (file, of) in KINDS {
        // A kernel without throttles has no such file.
        let text = read(&group.join(file)).unwrap_or_default();
        let entry = |line: &str| {
            let (at, value) = line.trim().split_once(' ')?;
            Some((numbers(at)?, value.trim().parse::<u64>().ok()?))
        };
        for (device, value) in text.lines().filter_map(entry) {
            *of(all.entry(device).or_insert(DeviceLimit { device, ..DeviceLimit::default() })) = Some(value);
        }
    }
    all.into_values().collect()
}

/// Takes away what is throttled in a group, as far as can be.
pub(super) fn lift_all(group: &Path) {
    let devices = throttled(group).into_iter().map(|limit| limit.device);
    Throttles::at(&[group.to_owned()]).lift(devices);
}

/// The stricter one of each limit.
pub(super) fn stricter(asked: &[DeviceLimit], above: &[DeviceLimit]) -> Vec<DeviceLimit> {
    let mut all: Vec<DeviceLimit> = asked.to_vec();
    for &(mut other) in above {
        let Some(own) = all.iter_mut().find(|own| own.device == other.device) else {
            all.push(other);
            continue;
        };
        for (_, of) in KINDS {
            let (mine, theirs) = (of(own), *of(&mut other));
            *mine = [*mine, theirs].into_iter().flatten().min();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOP_3: Device = Device { major: 7, minor: 3 };

    /// A machine of files whose uppermost group is at `sys/fs/cgroup/blkio`, on which we are in `/ours`.
    fn machine(ours: &str) -> (tempfile::TempDir, PathBuf) {
        let here = tempfile::tempdir().unwrap();
        let group = here.path().join("sys/fs/cgroup/blkio");
        let own = group.join(ours.trim_start_matches('/'));
        std::fs::create_dir_all(here.path().join("proc/self")).unwrap();
        std::fs::create_dir_all(&own).unwrap();
        let mounts = "38 31 0:35 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n";
        std::fs::write(here.path().join("proc/self/mountinfo"), mounts).unwrap();
        std::fs::write(here.path().join("proc/self/cgroup"), format!("7:blkio:{ours}\n0::/\n")).unwrap();
        (here, group)
    }

    #[test]
    fn devices_are_throttled_uppermost_and_where_we_are() {
        let (here, group) = machine("/ours");
        let throttles = Throttles::find_at(here.path()).unwrap();
        assert_eq!(throttles.groups(), [group.clone(), group.join("ours")]);
        let (here, group) = machine("/");
        assert_eq!(Throttles::find_at(here.path()).unwrap().groups(), std::slice::from_ref(&group));
        std::fs::write(here.path().join("proc/self/mountinfo"), "41 31 0:38 / /c rw - cgroup2 cgroup2 rw\n")
            .unwrap();
        let error = Throttles::find_at(here.path()).unwrap_err().to_string();
        assert!(error.contains("of cgroup v1, but this controller is not mounted"), "{error}");
    }

    #[test]
    fn a_throttle_is_read_back_and_lifted() {
        let (here, group) = machine("/");
        let throttles = Throttles::find_at(here.path()).unwrap();
        let limit = DeviceLimit {
            device: LOOP_3,
            read_iops: Some(85),
            write_bytes_per_s: Some(9),
            ..DeviceLimit::default()
        };
        throttles.impose(&[limit]).unwrap();
        assert_eq!(throttled(&group), [limit]);
        assert!(!group.join("blkio.throttle.write_iops_device").exists(), "what is not asked for is not set");
        throttles.lift([LOOP_3].into_iter());
        assert_eq!(std::fs::read_to_string(group.join("blkio.throttle.read_iops_device")).unwrap(), "7:3 0");
    }

    #[test]
    fn a_group_has_the_stricter_of_its_own_and_of_what_is_above() {
        let device = |minor| Device { major: 7, minor };
        let of = |minor, read_iops, write_iops| DeviceLimit {
            device: device(minor),
            read_iops,
            write_iops,
            ..DeviceLimit::default()
        };
        assert_eq!(
            stricter(&[of(0, Some(100), None)], &[of(0, Some(85), Some(80)), of(1, None, Some(5))]),
            [of(0, Some(85), Some(80)), of(1, None, Some(5))]
        );
        assert_eq!(stricter(&[of(0, Some(50), None)], &[of(0, Some(85), None)]), [of(0, Some(50), None)]);
    }
}
