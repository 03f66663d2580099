//! Mounts that only one test sees, and loop devices that end with it; where the machine permits them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workbench::{Workbench, finish};

/// How to get a mount namespace: as root, or as an own root in a user namespace. None where neither is permitted.
pub(crate) fn private_mounts() -> Option<&'static [&'static str]> {
    const WAYS: [&[&str]; 2] = [&["--mount"], &["--map-root-user", "--mount"]];
    WAYS.into_iter().find(|way| {
        let mut command = Command::new("unshare");
        command.args(*way).args(["sh", "-c", "mount -t tmpfs none /mnt"]);
        succeeds(&mut command)
    })
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A shell script with mounts of its own, in the bench's directory. The program is `$prony` in it.
pub(crate) fn shell(bench: &Workbench, way: &[&str], script: &str) -> Command {
    let mut command = bench.command("unshare");
    command.args(way).args(["sh", "-euc", script]);
    command.env("prony", crate::workbench::PRONY);
    // Tools for file systems are often on the administrator's path only.
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
    command
}

/// A loop device on a file of the bench.
pub(crate) struct LoopDevice {
    pub(crate) path: PathBuf,
}

impl LoopDevice {
    /// None where it cannot be had, which needs root and a kernel with such devices.
    pub(crate) fn on(bench: &Workbench, image: &Path) -> Option<Self> {
        if !is_root() {
            return None;
        }
        let mut command = bench.command("sh");
        command.args(["-c", "PATH=$PATH:/usr/sbin:/sbin exec losetup --find --show \"$1\"", "sh"]).arg(image);
        let outcome = finish(command);
        let path = PathBuf::from(outcome.stdout.trim());
        (outcome.code == Some(0) && path.exists()).then_some(Self { path })
    }

    /// Makes a partition of it from 1 MiB on, of so many sectors; not every kernel reads tables of partitions.
    pub(crate) fn partition(&self, bench: &Workbench, sectors: u32) -> Option<Partition> {
        let mut command = bench.command("addpart");
        command.arg(&self.path).args(["1", "2048", &sectors.to_string()]);
        let is_made = finish(command).code == Some(0);
        let partition =
            is_made.then(|| Partition { disk: self.path.clone(), path: format!("{}p1", self.name()).into() });
        partition.filter(|partition| partition.path.exists())
    }

    pub(crate) fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let mut command = Command::new("sh");
        command.args(["-c", "PATH=$PATH:/usr/sbin:/sbin exec losetup --detach \"$1\"", "sh"]).arg(&self.path);
        succeeds(&mut command);
    }
}

/// A partition of a loop device. It would outlive the device's file.
pub(crate) struct Partition {
    disk: PathBuf,
    pub(crate) path: PathBuf,
}

impl Drop for Partition {
    fn drop(&mut self) {
        succeeds(Command::new("delpart").arg(&self.disk).arg("1"));
    }
}

/// Whether a tool is on the path or the administrator's path.
pub(crate) fn has_tool(name: &str) -> bool {
    let mut command = Command::new("sh");
    command.args(["-c", "PATH=$PATH:/usr/sbin:/sbin command -v \"$1\"", "sh", name]);
    succeeds(&mut command)
}

fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
