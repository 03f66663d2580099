//! A machine of files: a disk 8:0 of serial S1 with a partition 8:1, and loop devices.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

use super::claim::check;
use super::{Backing, Number, System};

fn machine() -> (tempfile::TempDir, System) {
    let root = tempfile::tempdir().unwrap();
    let system = System { root: root.path().to_owned(), ask: told_by_file };
    for (path, text) in [
        ("sys/devices/sda/dev", "8:0\n"),
        ("sys/devices/sda/device/serial", "S1\n"),
        ("sys/devices/sda/sda1/partition", "1"),
        ("sys/devices/sda/sda1/dev", "8:1\n"),
        ("sys/devices/sda/sda2/partition", "2"),
        ("sys/devices/sda/sda2/dev", "8:2\n"),
        ("proc/self/mountinfo", "22 1 8:16 / / rw - ext4 /dev/sdb rw\n"),
        ("proc/swaps", "Filename Type Size Used Priority\n"),
    ] {
        write(&system, path, text);
    }
    for (number, device) in [("8:0", "sda"), ("8:1", "sda/sda1"), ("8:2", "sda/sda2")] {
        link(&system, &format!("sys/dev/block/{number}"), &format!("../../devices/{device}"));
    }
    (root, system)
}

/// A node of this machine is a file that says what the ioctl would.
fn told_by_file(node: &Path) -> Option<Backing> {
    let text = fs::read_to_string(node).ok()?;
    let numbers: Vec<u64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    Some(Backing { device: numbers[0], inode: numbers[1], node_device: numbers[2] })
}

fn write(system: &System, path: &str, text: &str) {
    let path = system.root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn link(system: &System, path: &str, to: &str) {
    let path = system.root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(to, path).unwrap();
}

/// Sets a loop device up over a name, and over what the kernel knows it to be.
fn set_up_loop(system: &System, number: u32, backing_file: &str, asked: Option<[u64; 3]>) {
    let name = format!("loop{number}");
    write(system, &format!("sys/devices/{name}/dev"), &format!("7:{number}\n"));
    write(system, &format!("sys/devices/{name}/loop/backing_file"), &format!("{backing_file}\n"));
    link(system, &format!("sys/block/{name}"), &format!("../devices/{name}"));
    link(system, &format!("sys/dev/block/7:{number}"), &format!("../../devices/{name}"));
    if let Some([device, inode, node]) = asked {
        write(system, &format!("dev/{name}"), &format!("{device} {inode} {node}"));
    }
}

fn refusal_of(system: &System, major: u64, minor: u64, name: Option<&str>) -> Option<String> {
    check(system, Number::of_raw(rustix::fs::makedev(major as u32, minor as u32)), name)
        .err()
        .map(|error| error.to_string())
}

fn refusal(system: &System, name: Option<&str>) -> Option<String> {
    refusal_of(system, 8, 0, name)
}

fn users_of(system: &System, path: &Path) -> Vec<String> {
    system.users_of_file(&File::open(path).unwrap()).unwrap()
}

fn numbers_of(path: &Path) -> [u64; 3] {
    let metadata = fs::metadata(path).unwrap();
    [metadata.dev(), metadata.ino(), 0]
}

fn raw(major: u32, minor: u32) -> u64 {
    rustix::fs::makedev(major, minor)
}

#[test]
fn a_device_is_written_only_under_its_own_name() {
    let (_root, system) = machine();
    assert_eq!(refusal(&system, Some("S1")), None);
    assert!(refusal(&system, None).unwrap().contains("named by its serial number"));
    let message = refusal(&system, Some("S2")).unwrap();
    assert!(message.contains("`S2`") && message.contains("S1"), "{message}");
}

#[test]
fn a_mount_protects_disk_and_partition_but_no_other_partition() {
    let (_root, system) = machine();
    write(&system, "proc/self/mountinfo", "22 1 8:1 / /my\\040home rw - ext4 /dev/sda1 rw\n");
    for minor in [0, 1] {
        assert!(refusal_of(&system, 8, minor, Some("S1")).unwrap().contains("mounted at /my home"));
    }
    assert_eq!(refusal_of(&system, 8, 2, Some("S1")), None);
    write(&system, "proc/self/mountinfo", "22 1 8:0 / /home rw - ext4 /dev/sda rw\n");
    assert!(refusal_of(&system, 8, 2, Some("S1")).unwrap().contains("mounted at /home"), "the whole disk is");
}

#[test]
fn a_holder_of_a_partition_protects_the_disk() {
    let (_root, system) = machine();
    write(&system, "sys/devices/sda/sda1/holders/dm-0/dev", "253:0");
    assert!(refusal(&system, Some("S1")).unwrap().contains("part of dm-0"));
    assert_eq!(refusal_of(&system, 8, 2, Some("S1")), None);
}

/// A loop device over a partition was not seen: paths were compared, for the given path alone. A mounted file system was lost.
#[test]
fn a_loop_device_protects_what_it_stands_on_by_number() {
    let (_root, system) = machine();
    set_up_loop(&system, 3, "/dev/some/other/name", Some([5, 77, raw(8, 1)]));
    for minor in [0, 1] {
        assert!(refusal_of(&system, 8, minor, Some("S1")).unwrap().contains("backing loop3"), "{minor}");
    }
    assert_eq!(refusal_of(&system, 8, 2, Some("S1")), None);
}

/// A hard link of a mounted image was written with `--overwrite`.
#[test]
fn a_file_that_backs_a_loop_device_is_in_use_under_any_name() {
    let (root, system) = machine();
    let (image, other) = (root.path().join("image"), root.path().join("other"));
    fs::write(&image, "").unwrap();
    fs::hard_link(&image, &other).unwrap();
    assert_eq!(users_of(&system, &other), [""; 0]);
    set_up_loop(&system, 3, "/image", None);
    assert_eq!(
        users_of(&system, &other),
        ["backing loop3"],
        "where the device may not be asked, by its name"
    );
    fs::remove_file(&image).unwrap();
    assert_eq!(users_of(&system, &other), [""; 0]);
    write(&system, "sys/devices/loop3/loop/backing_file", "/image (deleted)\n");
    let [device, inode, _] = numbers_of(&other);
    write(&system, "dev/loop3", &format!("{device} {inode} 0"));
    assert_eq!(users_of(&system, &other), ["backing loop3"], "where the name is gone, by its numbers");
}

#[test]
fn a_file_that_is_swap_is_in_use_under_any_name() {
    let (root, system) = machine();
    let (swap, other) = (root.path().join("swap file"), root.path().join("other"));
    fs::write(&swap, "").unwrap();
    fs::hard_link(&swap, &other).unwrap();
    write(&system, "proc/swaps", "Filename Type Size Used Priority\n/swap\\040file file 1 0 -2\n");
    assert_eq!(users_of(&system, &other), ["swap space /swap file"]);
}

/// Two loop devices over one image: what is written to one is written beneath what is mounted of the other.
#[test]
fn a_loop_device_whose_file_backs_another_one_is_in_use() {
    let (root, system) = machine();
    let image = root.path().join("image");
    fs::write(&image, "").unwrap();
    set_up_loop(&system, 1, "/image", Some(numbers_of(&image)));
    assert_eq!(refusal_of(&system, 7, 1, Some("/image")), None);
    set_up_loop(&system, 2, "/image", Some(numbers_of(&image)));
    let message = refusal_of(&system, 7, 1, Some("/image")).unwrap();
    assert!(message.contains("loop2 stands on too"), "{message}");
}

#[test]
fn a_loop_device_over_a_mounted_device_is_in_use() {
    let (_root, system) = machine();
    set_up_loop(&system, 1, "/dev/sda2", Some([5, 77, raw(8, 2)]));
    assert_eq!(refusal_of(&system, 7, 1, Some("/dev/sda2")), None);
    write(&system, "proc/self/mountinfo", "22 1 8:2 / /home rw - ext4 /dev/sda2 rw\n");
    let message = refusal_of(&system, 7, 1, Some("/dev/sda2")).unwrap();
    assert!(message.contains("mounted at /home"), "{message}");
}
