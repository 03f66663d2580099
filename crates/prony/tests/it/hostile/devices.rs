//! Devices and images that are in use, by whatever name they are given: alias nodes, hard links, other loop devices.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{FileType, major, minor};

use super::scene::Scene;
use super::{By, ROW, Row, run};
use crate::mounts::LoopDevice;

/// A loop device over a file or a device; its name stands for `{word}`.
fn loop_over(scene: &mut Scene, word: &str, below: &str) -> Option<u64> {
    let device = LoopDevice::on(scene.bench(), &scene.path(below))?;
    let number = fs::metadata(&device.path).unwrap().rdev();
    scene.say(word, device.name());
    scene.hold(device);
    Some(number)
}

fn image(scene: &mut Scene) {
    scene.write("image", vec![7; 4 << 20]);
    let path = scene.path("image").to_str().unwrap().to_owned();
    scene.say("image", path);
}

/// A loop device over the image, another one over that, and a node `alias` of the first one's number.
fn stacked(scene: &mut Scene) -> bool {
    image(scene);
    let Some(below) = loop_over(scene, "below", "image") else { return false };
    scene.node("alias", FileType::BlockDevice, major(below), minor(below))
        && loop_over(scene, "above", "alias").is_some()
}

/// The image has another name too.
fn linked(scene: &mut Scene) -> bool {
    image(scene);
    fs::hard_link(scene.path("image"), scene.path("other")).unwrap();
    loop_over(scene, "loop", "image").is_some()
}

/// As [`linked`], and the name that the loop device was set up by is gone.
fn linked_and_removed(scene: &mut Scene) -> bool {
    let is_there = linked(scene);
    fs::remove_file(scene.path("image")).unwrap();
    is_there
}

const ROWS: &[Row] = &[
    Row {
        name: "an alias of a device that backs another one is not written",
        by: &[By::Root],
        before: stacked,
        command: "disk alias --destroy {image} --read-share 0 --duration 50ms --warm-up 0s",
        says: "in use: backing loop",
        ..ROW
    },
    Row {
        name: "a device that backs another one by an alias is not written",
        by: &[By::Root],
        before: stacked,
        command: "disk {below} --destroy {image} --read-share 0 --duration 50ms --warm-up 0s",
        says: "in use: backing loop",
        ..ROW
    },
    Row {
        name: "an image that backs a device is not written",
        by: &[By::Root],
        before: linked,
        command: "disk image --overwrite --read-share 0 --duration 50ms --warm-up 0s --cache buffered",
        says: "in use: backing loop",
        ..ROW
    },
    Row {
        name: "a hard link of an image that backs a device is not written",
        before: linked,
        command: "disk other --overwrite --read-share 0 --duration 50ms --warm-up 0s --cache buffered",
        says: "in use: backing loop",
        ..ROW
    },
    Row {
        name: "an image that backs a device and lost its name is not written",
        by: &[By::Root],
        before: linked_and_removed,
        command: "disk other --overwrite --read-share 0 --duration 50ms --warm-up 0s --cache buffered",
        says: "in use: backing loop",
        ..ROW
    },
    Row {
        name: "a device whose image backs another one is not written",
        by: &[By::Root],
        before: |scene| {
            let other = scene.path("other").to_str().unwrap().to_owned();
            scene.say("other", other);
            linked(scene) && loop_over(scene, "second", "other").is_some()
        },
        command: "disk {second} --destroy {other} --read-share 0 --duration 50ms --warm-up 0s",
        says: "stands on too",
        ..ROW
    },
    Row {
        name: "a device is not written under the name of another one",
        by: &[By::Root],
        before: stacked,
        command: "disk alias --destroy another --read-share 0 --duration 50ms --warm-up 0s",
        says: "is not called `another`",
        ..ROW
    },
    Row {
        name: "a device is not written without its name",
        by: &[By::Root],
        before: stacked,
        command: "disk {above} --overwrite --read-share 0 --duration 50ms --warm-up 0s",
        says: "add --destroy",
        ..ROW
    },
];

#[test]
fn nothing_that_is_in_use_is_written() {
    run(ROWS);
}
