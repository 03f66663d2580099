//! A block device, through all layers of md and device mapper down to its disks.

use std::fs;
use std::path::{Path, PathBuf};

use record::Device;

use super::attribute::{Known, attribute, names, number, reading};
use super::interface::{Interface, interface};

/// Major and minor number of a device.
pub(super) type DeviceNumber = (u32, u32);

/// What the kernel says of a device. A partition stands for its disk.
pub(super) fn device(root: &Path, (major, minor): DeviceNumber) -> Known<Device> {
    let link = root.join(format!("sys/dev/block/{major}:{minor}"));
    let directory = fs::canonicalize(&link).map_err(|_| format!("{} does not exist", link.display()))?;
    Ok(describe(root, &whole_disk(directory)))
}

/// A partition's directory lies in that of its disk.
pub(super) fn whole_disk(directory: PathBuf) -> PathBuf {
    match directory.parent() {
        Some(disk) if directory.join("partition").exists() => disk.to_owned(),
        _ => directory,
    }
}

/// Kernel names of the disks that a device is made of; none of a disk.
pub(super) fn members(root: &Path, (major, minor): DeviceNumber) -> Vec<String> {
    let link = root.join(format!("sys/dev/block/{major}:{minor}"));
    let Ok(directory) = fs::canonicalize(link) else { return Vec::new() };
    let own = whole_disk(directory);
    let mut names: Vec<String> =
        physical_disks(&own).iter().filter(|disk| **disk != own).map(|disk| kernel_name(disk)).collect();
    names.sort();
    names
}

fn describe(root: &Path, directory: &Path) -> Device {
    let queue = |name: &str| directory.join("queue").join(name);
    let disks = physical_disks(directory);
    let interfaces: Vec<Interface> = disks.iter().map(|disk| interface(root, disk)).collect();
    let names: Vec<Known<String>> = interfaces.iter().map(|interface| interface.name.clone()).collect();
    let rates = interfaces.into_iter().map(|interface| interface.bytes_per_s);
    let schedulers = disks.iter().map(|disk| scheduler(disk)).collect();
    let requests = disks.iter().map(|disk| number(&disk.join("queue/nr_requests"))).collect();
    Device {
        name: kernel_name(directory),
        model: reading(model(directory, &disks)),
        rotational: reading(rotational(directory, &disks)),
        scheduler: reading(agreed(&disks, schedulers)),
        queue_requests: reading(agreed(&disks, requests)),
        logical_block_bytes: reading(number(&queue("logical_block_size"))),
        physical_block_bytes: reading(number(&queue("physical_block_size"))),
        write_cache: reading(attribute(&queue("write_cache"))),
        // Sectors of 512 bytes, whatever the device's own are.
        capacity_bytes: reading(number(&directory.join("size")).map(|sectors| sectors.saturating_mul(512))),
        interface: reading(agreed(&disks, names)),
        interface_bytes_per_s: reading(rates.sum()),
        raid: raid_level(directory),
    }
}

/// The kernel writes the slash of such names as `cciss/c0d0` as an exclamation mark.
pub(super) fn kernel_name(directory: &Path) -> String {
    directory.file_name().map(|name| name.to_string_lossy().replace('!', "/")).unwrap_or_default()
}

/// The directories of the devices that this one is made of.
fn parts(directory: &Path) -> Vec<PathBuf> {
    let slaves = directory.join("slaves");
    let part = |name: String| fs::canonicalize(slaves.join(name)).ok().map(whole_disk);
    names(&slaves).into_iter().filter_map(part).collect()
}

/// The disks below a device through all layers of md and device mapper; the device itself if there are none.
fn physical_disks(directory: &Path) -> Vec<PathBuf> {
    let mut disks: Vec<PathBuf> = parts(directory).iter().flat_map(|part| physical_disks(part)).collect();
    disks.sort();
    disks.dedup();
    if disks.is_empty() { vec![directory.to_owned()] } else { disks }
}

/// What all disks say, unless one says nothing or they differ.
fn agreed<T: PartialEq + std::fmt::Display>(disks: &[PathBuf], values: Vec<Known<T>>) -> Known<T> {
    let mut values = values.into_iter().collect::<Known<Vec<T>>>()?;
    if values.windows(2).any(|pair| pair[0] != pair[1]) {
        let each = disks.iter().zip(&values).map(|(disk, value)| format!("{}: {value}", kernel_name(disk)));
        return Err(format!("the disks differ: {}", each.collect::<Vec<_>>().join(", ")));
    }
    values.pop().ok_or_else(|| "no disk found".to_owned())
}

fn raid_level(directory: &Path) -> Option<String> {
    attribute(&array(directory)?.join("md/level")).ok()
}

/// The directory of the uppermost md array that a device is, or is made of.
pub(super) fn array(directory: &Path) -> Option<PathBuf> {
    if directory.join("md/level").exists() {
        return Some(directory.to_owned());
    }
    parts(directory).iter().find_map(|part| array(part))
}

/// `Samsung SSD 990 PRO`, `md raid10 of 4 × ST600MP0005`, `vg0-data (LVM) on Samsung SSD 990 PRO`.
fn model(directory: &Path, disks: &[PathBuf]) -> Known<String> {
    let models = disks.iter().map(|disk| disk_model(disk));
    let Some(layer) = layer_name(directory) else { return models.collect() };
    let models: Vec<String> = models.collect::<Known<_>>().map_err(|reason| format!("{layer}: {reason}"))?;
    let mut counted: Vec<(usize, String)> = Vec::new();
    for model in models {
        match counted.iter_mut().find(|(_, name)| *name == model) {
            Some((count, _)) => *count += 1,
            None => counted.push((1, model)),
        }
    }
    let each = counted.into_iter().map(|(count, model)| match count {
        1 => model,
        _ => format!("{count} × {model}"),
    });
    Ok(format!("{layer} {}", each.collect::<Vec<_>>().join(", ")))
}

/// What an md or device-mapper device is, up to the preposition before its disks.
fn layer_name(directory: &Path) -> Option<String> {
    if let Ok(level) = attribute(&directory.join("md/level")) {
        return Some(format!("md {level} of"));
    }
    let name = attribute(&directory.join("dm/name")).ok()?;
    let uuid = attribute(&directory.join("dm/uuid")).unwrap_or_default();
    let kind = match uuid.split('-').next() {
        Some("LVM") => "LVM",
        Some("CRYPT") => "dm-crypt",
        Some("mpath") => "multipath",
        _ => "device mapper",
    };
    Some(format!("{name} ({kind}) on"))
}

fn disk_model(disk: &Path) -> Known<String> {
    let model = attribute(&disk.join("device/model"))?;
    // SCSI tells the maker apart; "ATA" there is the layer that speaks for a SATA disk.
    match attribute(&disk.join("device/vendor")) {
        Ok(vendor) if vendor != "ATA" && !vendor.starts_with("0x") => Ok(format!("{vendor} {model}")),
        _ => Ok(model),
    }
}

/// A virtio disk is spinning in the kernel's eyes because nothing told it otherwise.
fn rotational(directory: &Path, disks: &[PathBuf]) -> Known<bool> {
    if disks.iter().any(|disk| kernel_name(disk).starts_with("vd")) {
        return Err("virtio does not report the device of the host".to_owned());
    }
    Ok(number(&directory.join("queue/rotational"))? != 0)
}

/// `none [mq-deadline] kyber`: the one in brackets is in use; a queue that has no choice names it bare.
fn scheduler(disk: &Path) -> Known<String> {
    let path = disk.join("queue/scheduler");
    let text = attribute(&path)?;
    parse_scheduler(&text).ok_or_else(|| format!("{} says {text:?}", path.display()))
}

fn parse_scheduler(text: &str) -> Option<String> {
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(chosen, _)| chosen);
    let only = || Some(text.trim()).filter(|text| !text.is_empty() && !text.contains(char::is_whitespace));
    chosen.or_else(only).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::machine::{GEN4_X4_BYTES_PER_S, Machine, NVME_0, NVME_1, known, why};
    use super::*;

    #[test]
    fn a_partition_is_described_by_its_disk() {
        let machine = Machine::new();
        machine.nvme(0, "259:0").file(&format!("{NVME_0}/nvme0n1p2/partition"), "2");
        machine.link("sys/dev/block/259:2", &format!("{NVME_0}/nvme0n1p2"));
        let device = machine.device(259, 2);
        assert_eq!(device, machine.device(259, 0));
        assert_eq!(device.name, "nvme0n1");
        assert_eq!(known(&device.model), "Samsung SSD 990 PRO 1TB");
        assert_eq!(known(&device.interface), "nvme");
        assert_eq!(known(&device.interface_bytes_per_s), GEN4_X4_BYTES_PER_S);
        assert_eq!(known(&device.scheduler), "mq-deadline");
        assert_eq!((known(&device.queue_requests), known(&device.capacity_bytes)), (256, 512_000));
        assert_eq!((known(&device.logical_block_bytes), known(&device.physical_block_bytes)), (512, 4096));
        assert_eq!((known(&device.rotational), device.raid), (false, None));
    }

    #[test]
    fn an_md_array_is_described_by_its_level_and_members() {
        let machine = Machine::new();
        machine.nvme(0, "259:0").nvme(1, "259:1");
        let array = "sys/devices/virtual/block/md0";
        machine.disk(array, "9:0").file(&format!("{array}/md/level"), "raid1");
        machine.link(&format!("{array}/slaves/nvme0n1"), NVME_0);
        machine.link(&format!("{array}/slaves/nvme1n1"), NVME_1);
        let device = machine.device(9, 0);
        assert_eq!((device.name.as_str(), device.raid.as_deref()), ("md0", Some("raid1")));
        assert_eq!(members(&machine.root, (9, 0)), ["nvme0n1", "nvme1n1"]);
        assert_eq!(members(&machine.root, (259, 0)), [""; 0], "a disk is made of nothing else");
        assert_eq!(known(&device.model), "md raid1 of 2 × Samsung SSD 990 PRO 1TB");
        assert_eq!(known(&device.interface_bytes_per_s), 2 * GEN4_X4_BYTES_PER_S);
        machine.file(&format!("{NVME_1}/queue/scheduler"), "[none] mq-deadline");
        let reason = machine.device(9, 0).scheduler;
        assert_eq!(why(&reason), "the disks differ: nvme0n1: mq-deadline, nvme1n1: none");
    }

    #[test]
    fn a_logical_volume_is_followed_through_all_layers() {
        let machine = Machine::new();
        machine.nvme(0, "259:0").file(&format!("{NVME_0}/nvme0n1p1/partition"), "1");
        let (array, volume) = ("sys/devices/virtual/block/md0", "sys/devices/virtual/block/dm-3");
        machine.disk(array, "9:0").file(&format!("{array}/md/level"), "raid10");
        machine.link(&format!("{array}/slaves/nvme0n1p1"), &format!("{NVME_0}/nvme0n1p1"));
        machine.disk(volume, "253:3").link(&format!("{volume}/slaves/md0"), array);
        machine.file(&format!("{volume}/dm/name"), "vg0-data").file(&format!("{volume}/dm/uuid"), "LVM-x7");
        machine.file(&format!("{volume}/queue/scheduler"), "none");
        let device = machine.device(253, 3);
        assert_eq!((device.name.as_str(), device.raid.as_deref()), ("dm-3", Some("raid10")));
        assert_eq!(members(&machine.root, (253, 3)), ["nvme0n1"], "LVM over md raid10 over NVMe");
        assert_eq!(known(&device.model), "vg0-data (LVM) on Samsung SSD 990 PRO 1TB");
        assert_eq!(known(&device.interface), "nvme");
        assert_eq!(known(&device.scheduler), "mq-deadline", "the scheduler that counts is that of the disk");
    }

    #[test]
    fn what_is_missing_is_unknown_and_names_the_file() {
        let machine = Machine::new();
        let place = "sys/devices/virtual/block/loop0";
        machine.link("sys/dev/block/7:0", place).file(&format!("{place}/queue/rotational"), "maybe");
        let device = machine.device(7, 0);
        assert!(why(&device.scheduler).ends_with("loop0/queue/scheduler does not exist"));
        assert!(why(&device.capacity_bytes).ends_with("loop0/size does not exist"));
        assert!(why(&device.rotational).ends_with("rotational contains \"maybe\", not a number"));
        let error = super::device(&machine.root, (8, 0)).unwrap_err();
        assert!(error.ends_with("sys/dev/block/8:0 does not exist"), "{error}");
    }

    #[test]
    fn scheduler_is_the_one_in_brackets() {
        for (text, scheduler) in [
            ("none [mq-deadline] kyber bfq", Some("mq-deadline")),
            ("[none] mq-deadline", Some("none")),
            ("none", Some("none")),
            ("none mq-deadline", None),
            ("", None),
        ] {
            assert_eq!(parse_scheduler(text).as_deref(), scheduler, "{text:?}");
        }
    }
}
