//! A limit of reads or writes a second that the kernel keeps: an oracle for measured rates, and a bottleneck that is made.
//!
//! It makes a control group of its own and removes it. It changes no other group, except that with version 2 the
//! I/O controller is switched on for the root's children, where it stays on.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

const V1: &str = "/sys/fs/cgroup/blkio";
const V2: &str = "/sys/fs/cgroup";

/// What is limited.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Reads,
    Writes,
}

/// A control group whose processes read or write at most so often; gone when dropped.
pub(super) struct IoLimit {
    group: PathBuf,
}

impl IoLimit {
    /// Limits reads from the device that holds `file`, or writes to it.
    pub(super) fn new(file: &Path, direction: Direction, iops: u32) -> Result<Self> {
        let device = device_of(file)?;
        let name = format!("prony-bench-{}", std::process::id());
        let (v1, v2) = match direction {
            Direction::Reads => ("blkio.throttle.read_iops_device", "riops"),
            Direction::Writes => ("blkio.throttle.write_iops_device", "wiops"),
        };
        if Path::new(V1).join(v1).exists() {
            return Self::create(Path::new(V1).join(name), v1, &format!("{device} {iops}"));
        }
        let controllers = fs::read_to_string(Path::new(V2).join("cgroup.controllers")).unwrap_or_default();
        if !controllers.split_whitespace().any(|controller| controller == "io") {
            bail!("this machine has no I/O controller of control groups in {V2}");
        }
        set(&Path::new(V2).join("cgroup.subtree_control"), "+io")?;
        Self::create(Path::new(V2).join(name), "io.max", &format!("{device} {v2}={iops}"))
    }

    fn create(group: PathBuf, file: &str, rule: &str) -> Result<Self> {
        fs::create_dir(&group)
            .with_context(|| format!("cannot make the control group {}; run as root", group.display()))?;
        let limit = Self { group };
        set(&limit.group.join(file), rule)?;
        Ok(limit)
    }

    /// A command that enters the group before it becomes `program`.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
            .arg(self.group.join("cgroup.procs"))
            .arg(program);
        command
    }
}

impl Drop for IoLimit {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.group) {
            eprintln!("cannot remove the control group {}: {error}", self.group.display());
        }
    }
}

/// `major:minor` of the whole disk below `file`; a partition cannot be limited.
fn device_of(file: &Path) -> Result<String> {
    let number = fs::metadata(file).with_context(|| format!("cannot look at {}", file.display()))?.dev();
    // The kernel's own encoding: 12 bits of major number, and a minor number on both sides of it.
    let (major, minor) = ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xfff00));
    let link = format!("/sys/dev/block/{major}:{minor}");
    let Ok(device) = fs::canonicalize(&link) else {
        bail!("{} is on no block device of its own ({major}:{minor})", file.display());
    };
    if !device.join("partition").exists() {
        return Ok(format!("{major}:{minor}"));
    }
    let disk = device.parent().context("a partition without a disk")?.join("dev");
    let disk_number = fs::read_to_string(&disk).with_context(|| format!("cannot read {}", disk.display()))?;
    Ok(disk_number.trim().to_owned())
}

fn set(file: &Path, value: &str) -> Result<()> {
    fs::write(file, value).with_context(|| format!("cannot write `{value}` to {}", file.display()))
}
