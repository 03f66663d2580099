//! What needs a real kernel, in a small virtual machine without hardware help: limits under systemd and version 2 of control groups, and
//! packets between the nodes of a pair that are held back. It says whether limits hold and who gets them, and how much longer packets
//! take, never how fast anything is.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::program::output;
use crate::workspace::Workspace;

/// Looks of the guest's scripts. As many must be made: one that is missing did not come so far.
const CHECKS: usize = 23;

const NEEDED: [(&str, &str); 6] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("debootstrap", "debootstrap"),
    ("mke2fs", "e2fsprogs"),
    ("busybox", "busybox-static"),
    ("cpio", "cpio"),
    ("depmod", "kmod"),
];

/// Whether all of them are as they are to be.
pub(super) fn run(workspace: &Workspace) -> Result<bool> {
    for (program, package) in NEEDED {
        let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output()?;
        if !found.status.success() {
            bail!("{program} is missing: `apt-get install {package} linux-image-cloud-amd64` brings it");
        }
    }
    let place = workspace.target_directory().join("guest");
    fs::create_dir_all(&place)?;
    let scripts = [
        ("make.sh", include_str!("make.sh")),
        ("task.sh", include_str!("task.sh")),
        ("user.sh", include_str!("user.sh")),
        ("delay.sh", include_str!("delay.sh")),
    ];
    for (name, text) in scripts {
        fs::write(place.join(name), text).with_context(|| format!("cannot write {name}"))?;
    }
    println!("making and booting a virtual machine in {}: about ten minutes", place.display());
    let said = boot(&place, &workspace.tested_prony())?;
    let (lines, is_right) = judged(&said);
    lines.iter().for_each(|line| println!("{line}"));
    if !is_right {
        println!("--- what the machine said ---\n{said}");
    }
    Ok(is_right)
}

fn boot(place: &Path, prony: &Path) -> Result<String> {
    if !prony.exists() {
        bail!("{} is missing: `cargo build` makes it", prony.display());
    }
    output(Command::new("sh").arg(place.join("make.sh")).args([place, prony]))
}

/// What is told of it, and whether all was looked at and right.
fn judged(said: &str) -> (Vec<String>, bool) {
    let told = said.lines().filter_map(|line| line.trim().strip_prefix("CHECK "));
    let mut lines: Vec<String> = told.map(str::to_owned).collect();
    let right = lines.iter().filter(|line| line.ends_with(": ok")).count();
    let is_right = right == CHECKS && lines.len() == CHECKS;
    lines.push(format!("{right} of {CHECKS} as they are to be"));
    lines.extend(said.lines().filter_map(|line| line.trim().strip_prefix("PROVED ")).map(str::to_owned));
    (lines, is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_look_counts_and_none_may_be_missing() {
        let all = "CHECK a limit: ok\r\n".repeat(CHECKS);
        assert!(judged(&all).1);
        assert!(!judged(&all.replacen("ok", "failed: no group", 1)).1);
        assert!(!judged(&"CHECK a limit: ok\n".repeat(CHECKS - 1)).1);
        let looks = [include_str!("task.sh"), include_str!("user.sh"), include_str!("delay.sh")].concat();
        let made = looks.lines().filter(|line| line.starts_with("check '") || line.starts_with("result $?"));
        assert_eq!(made.count(), CHECKS);
    }
}
