//! Block devices, on a loop device: written only under its own name and never while it is used.

use std::fs;
use std::path::PathBuf;

use crate::mounts::{LoopDevice, has_tool, is_root, private_mounts, shell};
use crate::running::Running;
use crate::workbench::{Outcome, Workbench, finish};

/// A loop device on an image with an ext4 file system; none where it cannot be had.
fn device_with_file_system(bench: &Workbench) -> Option<(LoopDevice, PathBuf)> {
    let image = bench.write("image", "");
    fs::OpenOptions::new().write(true).open(&image).unwrap().set_len(16 << 20).unwrap();
    if !is_root() || !has_tool("mkfs.ext4") {
        return None;
    }
    let mut command = bench.command("sh");
    command.args(["-c", "PATH=$PATH:/usr/sbin:/sbin exec mkfs.ext4 -q -F image"]);
    finish(command).ended_with(0);
    let device = LoopDevice::on(bench, &image)?;
    Some((device, image))
}

fn writes(bench: &Workbench, device: &str, options: &[&str]) -> Outcome {
    let short = ["--read-share", "0", "--duration", "50ms", "--warm-up", "0s"];
    bench.run(&[&["disk", device], &short[..], options].concat())
}

#[test]
fn a_device_is_written_under_its_own_name_only() {
    let bench = Workbench::new();
    let Some((device, image)) = device_with_file_system(&bench) else {
        eprintln!("not tried: writing to a loop device, for which root, losetup and mkfs.ext4 are needed");
        return;
    };
    let content = fs::read(&image).unwrap();
    let (name, own) = (device.name(), image.to_str().unwrap());
    let refusal = writes(&bench, name, &[]).ended_with(2).says("add --destroy with its serial");
    assert!(refusal.stderr.contains(own), "the name to give is told: {}", refusal.stderr);
    writes(&bench, name, &["--overwrite"]).ended_with(2).says("--destroy");
    let refusal = writes(&bench, name, &["--destroy", "another"]).ended_with(2);
    assert!(refusal.stderr.contains("is not called `another`"), "{}", refusal.stderr);
    bench.run(&["disk", name, "--duration", "50ms", "--warm-up", "0s"]).ended_with(0);
    assert_eq!(fs::read(&image).unwrap(), content, "refusals and reads change nothing");
    let outcome = writes(&bench, name, &["--destroy", own]).ended_with(0);
    assert!(
        outcome.stderr.contains("will be overwritten. It now contains: an ext2/3/4 file system"),
        "{outcome:?}"
    );
    assert_ne!(fs::read(&image).unwrap(), content);
}

#[test]
fn a_mounted_device_is_refused_even_under_its_own_name() {
    let bench = Workbench::new();
    let device = device_with_file_system(&bench);
    let (Some((device, image)), Some(way)) = (device, private_mounts()) else {
        eprintln!("not tried: writing to a mounted device, for which root, losetup and mkfs.ext4 are needed");
        return;
    };
    let script = "mkdir mnt; mount \"$1\" mnt; echo mounted >&2; \"$prony\" disk \"$1\" --read-share 0 --destroy \"$2\"";
    let mut command = shell(&bench, way, script);
    command.arg("sh").args([device.name(), image.to_str().unwrap()]);
    let outcome = finish(command).ended_with(2).says("mounted");
    assert!(outcome.stderr.contains("in use: mounted at ") && outcome.stderr.contains("/mnt"), "{outcome:?}");
}

/// A mount in another namespace stands in no table that can be read here; the kernel itself then refuses.
#[test]
fn a_device_mounted_where_it_cannot_be_seen_is_refused() {
    let bench = Workbench::new();
    let device = device_with_file_system(&bench);
    let (Some((device, image)), Some(way)) = (device, private_mounts()) else {
        eprintln!(
            "not tried: a device in use out of sight, for which root, losetup and mkfs.ext4 are needed"
        );
        return;
    };
    let script = "mkdir mnt; mount \"$1\" mnt; echo mounted >&2; exec cat go-on";
    let mut command = shell(&bench, way, script);
    command.arg("sh").arg(device.name());
    rustix::fs::mkfifoat(rustix::fs::CWD, bench.path("go-on"), rustix::fs::Mode::RWXU).unwrap();
    let mut holder = Running::start_command(&bench, command);
    holder.wait_for_line("mounted");
    let outcome = writes(&bench, device.name(), &["--destroy", image.to_str().unwrap()]).ended_with(2);
    assert!(outcome.stderr.contains("in use by the kernel (O_EXCL"), "{outcome:?}");
    drop(fs::OpenOptions::new().write(true).open(bench.path("go-on")).unwrap());
    holder.ended().ended_with(0);
}

/// Mounts the last device, and runs prony on another node of the first.
fn is_refused_while_mounted(bench: &Workbench, written: &str, name: &str, mounted: &str) -> Option<()> {
    let way = private_mounts()?;
    let script = "PATH=$PATH:/usr/sbin:/sbin; mkfs.ext4 -q -F \"$3\"; mkdir mnt; mount \"$3\" mnt; echo precious > mnt/a; sync
        code=0; \"$prony\" disk \"$1\" --destroy \"$2\" --read-share 0 --duration 50ms --warm-up 0s || code=$?
        umount mnt; mount \"$3\" mnt; cat mnt/a; exit $code";
    let mut command = shell(bench, way, script);
    command.arg("sh").args([written, name, mounted]);
    let outcome = finish(command).ended_with(2).says("in use: ");
    assert_eq!(outcome.stdout, "precious\n");
    Some(())
}

/// Loop devices were looked for over the path that was given, and not over its partitions: a mounted file system was lost.
#[test]
fn a_disk_whose_partition_backs_a_mounted_device_is_refused() {
    let bench = Workbench::new();
    let image = bench.write("disk", vec![0; 16 << 20]);
    let tried = LoopDevice::on(&bench, &image).filter(|_| has_tool("addpart")).and_then(|disk| {
        let partition = disk.partition(&bench, 28_672)?;
        let over = LoopDevice::on(&bench, &partition.path).filter(|_| has_tool("mkfs.ext4"))?;
        is_refused_while_mounted(&bench, disk.name(), image.to_str()?, over.name())
    });
    if tried.is_none() {
        eprintln!(
            "not tried: a partition that backs a device, for which root, losetup and addpart are needed"
        );
    }
}

/// Loop devices were looked for by the text of the path: a node of the same number elsewhere got through.
#[test]
fn another_node_of_a_device_that_backs_a_mounted_one_is_refused() {
    use rustix::fs::{CWD, FileType, Mode, mknodat, stat};
    let bench = Workbench::new();
    let tried = device_with_file_system(&bench).and_then(|(device, image)| {
        let over = LoopDevice::on(&bench, &device.path)?;
        let number = stat(&device.path).ok()?.st_rdev;
        mknodat(CWD, bench.path("alias"), FileType::BlockDevice, Mode::RUSR | Mode::WUSR, number).ok()?;
        is_refused_while_mounted(&bench, "alias", image.to_str()?, over.name())
    });
    if tried.is_none() {
        eprintln!("not tried: another node of a device, for which root and losetup are needed");
    }
}
