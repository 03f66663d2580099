//! Reads everything about the machine that can change a figure: from `/proc`, `/sys` and `/etc/os-release`.
//!
//! What cannot be read is unknown, with the reason; nothing is guessed from names or from speed. What an
//! interface can carry is its line rate less its line coding: an upper limit that no honest figure passes, and
//! not a promise. Nothing is changed, and no device is opened.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use record::{Cpu, Device, Environment, FORMAT_VERSION, Memory, MountPoint, Reading};
use rustix::fs::{major, minor};

/// Reads the machine, and the file system and device below a target. The target may be a directory, a file or a
/// block device; one that does not exist yet stands for the nearest directory above it that does.
#[must_use]
pub(crate) fn read(target: &Path, tool_version: &str, taken: jiff::Timestamp) -> Environment {
    read_from(Path::new("/"), target, tool_version, taken)
}

/// [`read`] with another place for `/proc`, `/sys` and `/etc`.
fn read_from(root: &Path, target: &Path, tool_version: &str, taken: jiff::Timestamp) -> Environment {
    let kernel = |name: &str| attribute(&root.join("proc/sys/kernel").join(name));
    let (mount, device) = below_target(root, target);
    Environment {
        format: FORMAT_VERSION,
        tool_version: tool_version.to_owned(),
        taken: taken.to_string(),
        host: kernel("hostname").unwrap_or_else(|_| "unknown".to_owned()),
        system: reading(system(root)),
        kernel: kernel("osrelease").unwrap_or_else(|_| "unknown".to_owned()),
        cpu: cpu(root),
        memory: memory(root),
        mount: reading(mount),
        device: reading(device),
    }
}

/// A value, or the reason why it is not known.
type Known<T> = Result<T, String>;

fn reading<T>(value: Known<T>) -> Reading<T> {
    match value {
        Ok(value) => Reading::Known(value),
        Err(reason) => Reading::Unknown(reason),
    }
}

/// The text of a file, trimmed.
fn attribute(path: &Path) -> Known<String> {
    match fs::read(path) {
        Ok(bytes) if bytes.trim_ascii().is_empty() => Err(format!("{} is empty", path.display())),
        Ok(bytes) => Ok(String::from_utf8_lossy(bytes.trim_ascii()).into_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(format!("there is no {}", path.display())),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

fn number(path: &Path) -> Known<u64> {
    let text = attribute(path)?;
    text.parse().map_err(|_| format!("{} says {text:?}, which is no number", path.display()))
}

/// The names in a directory, sorted; none where it cannot be read.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().to_str().map(str::to_owned)).collect();
    names.sort();
    names
}

// The system, its processors and its memory.

fn system(root: &Path) -> Known<String> {
    let path = root.join("etc/os-release");
    let text = attribute(&path)?;
    parse_os_release(&text).ok_or_else(|| format!("{} has no PRETTY_NAME", path.display()))
}

fn parse_os_release(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?.trim();
    let bare = value.trim_matches(['"', '\'']);
    (!bare.is_empty()).then(|| bare.to_owned())
}

fn cpu(root: &Path) -> Cpu {
    let path = root.join("proc/cpuinfo");
    let info = attribute(&path).map(|text| parse_cpuinfo(&text));
    let virtual_machine = info.as_ref().ok().and_then(|info| info.virtual_machine);
    let model = info.and_then(|info| info.model.ok_or_else(|| format!("{} names no model", path.display())));
    Cpu {
        model: reading(model),
        usable: std::thread::available_parallelism()
            .map_or(1, |usable| u32::try_from(usable.get()).unwrap_or(u32::MAX)),
        hypervisor: hypervisor(root, virtual_machine),
        governor: reading(attribute(&root.join("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))),
    }
}

#[derive(Debug, PartialEq)]
struct CpuInfo {
    model: Option<String>,
    /// Whether the processor says that a hypervisor runs below; only x86 has such a flag.
    virtual_machine: Option<bool>,
}

fn parse_cpuinfo(text: &str) -> CpuInfo {
    let value = |wanted: &str| {
        text.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.trim() == wanted)
            .map(|(_, value)| value.trim())
    };
    // "cpu" is POWER's name for it. 64-bit ARM gives numbers alone, which are no model to a reader.
    let model = value("model name").or_else(|| value("cpu")).filter(|model| !model.is_empty());
    let virtual_machine =
        value("flags").map(|flags| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"));
    CpuInfo { model: model.map(str::to_owned), virtual_machine }
}

fn hypervisor(root: &Path, virtual_machine: Option<bool>) -> Option<String> {
    if virtual_machine == Some(false) {
        return None;
    }
    let text = |path: &str| attribute(&root.join(path)).unwrap_or_default();
    let firmware =
        hypervisor_by_firmware(&text("sys/class/dmi/id/sys_vendor"), &text("sys/class/dmi/id/product_name"));
    let clocks = text("sys/devices/system/clocksource/clocksource0/available_clocksource");
    firmware
        .or_else(|| hypervisor_by_clock(&clocks))
        .or((virtual_machine == Some(true)).then_some("unnamed"))
        .map(str::to_owned)
}

/// The hypervisor that names itself in the firmware; bare servers' names are not in this list.
fn hypervisor_by_firmware(vendor: &str, product: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str, &str); 10] = [
        ("QEMU", "", "QEMU"),
        ("VMware", "", "VMware"),
        ("Microsoft", "Virtual Machine", "Hyper-V"),
        ("Xen", "", "Xen"),
        ("innotek", "", "VirtualBox"),
        ("Oracle", "VirtualBox", "VirtualBox"),
        ("Google", "Google Compute Engine", "Google Compute Engine"),
        ("Red Hat", "KVM", "KVM"),
        ("OpenStack", "", "OpenStack"),
        ("Parallels", "", "Parallels"),
    ];
    if vendor.starts_with("Amazon EC2") {
        return (!product.contains("metal")).then_some("Amazon EC2");
    }
    NAMES
        .iter()
        .find(|(maker, machine, _)| vendor.starts_with(maker) && product.contains(machine))
        .map(|(_, _, name)| *name)
}

/// The hypervisor whose clock the kernel found.
fn hypervisor_by_clock(clocks: &str) -> Option<&'static str> {
    [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")]
        .iter()
        .find(|(clock, _)| clocks.contains(clock))
        .map(|(_, name)| *name)
}

fn memory(root: &Path) -> Memory {
    let text = attribute(&root.join("proc/meminfo")).unwrap_or_default();
    parse_meminfo(&text).unwrap_or_else(|| {
        let info = rustix::system::sysinfo();
        let unit_bytes = u64::from(info.mem_unit);
        #[allow(
            clippy::useless_conversion,
            reason = "the kernel's counters are 32 bits wide on some machines"
        )]
        let bytes = |units| u64::from(units).saturating_mul(unit_bytes);
        Memory { total_bytes: bytes(info.totalram), available_bytes: bytes(info.freeram) }
    })
}

fn parse_meminfo(text: &str) -> Option<Memory> {
    let bytes = |wanted: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(wanted)?.strip_prefix(':'))?;
        let kib: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    };
    Some(Memory { total_bytes: bytes("MemTotal")?, available_bytes: bytes("MemAvailable")? })
}

// The file system.

/// Major and minor number of a device.
type DeviceNumber = (u32, u32);

fn below_target(root: &Path, target: &Path) -> (Known<MountPoint>, Known<Device>) {
    let found = nearest_existing(target).and_then(|path| Some((fs::metadata(&path).ok()?, path)));
    let Some((metadata, path)) = found else {
        let reason = format!("neither {} nor a directory above it can be read", target.display());
        return (Err(reason.clone()), Err(reason));
    };
    if metadata.file_type().is_block_device() {
        let whole = (major(metadata.rdev()), minor(metadata.rdev()));
        let reason = format!("{} is a block device: it is used without a file system", path.display());
        return (Err(reason), device(root, whole));
    }
    let mount = mount_holding(root, &path, (major(metadata.dev()), minor(metadata.dev())));
    let device = mount.as_ref().map_err(Clone::clone).and_then(|mount| match mount.device {
        // The kernel numbers file systems 0:n that are not on one block device.
        (0, _) => Err(why_no_device(&mount.file_system, &mount.source)),
        number => device(root, number),
    });
    (mount.and_then(|mount| mount_point(mount, &path)), device)
}

fn nearest_existing(target: &Path) -> Option<PathBuf> {
    std::path::absolute(target).ok()?.ancestors().find_map(|path| fs::canonicalize(path).ok())
}

fn mount_point(mount: Mount, path: &Path) -> Known<MountPoint> {
    let space = rustix::fs::statvfs(path)
        .map_err(|error| format!("cannot ask for the space of {}: {error}", path.display()))?;
    Ok(MountPoint {
        path: mount.path.display().to_string(),
        file_system: mount.file_system,
        source: mount.source,
        options: mount.options,
        block_bytes: space.f_frsize,
        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
    })
}

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq)]
struct Mount {
    device: DeviceNumber,
    path: PathBuf,
    /// Of the mount first, then those of the file system that the mount does not repeat.
    options: String,
    file_system: String,
    source: String,
}

fn mount_holding(root: &Path, path: &Path, device: DeviceNumber) -> Known<Mount> {
    let file = root.join("proc/self/mountinfo");
    let mounts = parse_mountinfo(&attribute(&file)?);
    choose_mount(&mounts, path, device)
        .cloned()
        .ok_or_else(|| format!("{} has no mount that holds {}", file.display(), path.display()))
}

/// Lines that are not as proc(5) describes are left out.
fn parse_mountinfo(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_mount).collect()
}

fn parse_mount(line: &str) -> Option<Mount> {
    let (of_mount, of_file_system) = line.split_once(" - ")?;
    let mut fields = of_mount.split(' ').skip(2);
    let (major, minor) = fields.next()?.split_once(':')?;
    let _root = fields.next()?;
    let path = fields.next()?;
    let mut options: Vec<&str> = fields.next()?.split(',').collect();
    let mut fields = of_file_system.split(' ');
    let (file_system, source) = (fields.next()?, fields.next()?);
    for option in fields.next().unwrap_or_default().split(',').filter(|option| !option.is_empty()) {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        device: (major.parse().ok()?, minor.parse().ok()?),
        path: PathBuf::from(unescape(path)),
        options: unescape(&options.join(",")),
        file_system: unescape(file_system),
        source: unescape(source),
    })
}

/// The kernel writes blanks, tabs, newlines and backslashes as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let octal = after.get(..3).filter(|_| *first == b'\\').and_then(octal_byte);
        bytes.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { &after[3..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn octal_byte(digits: &[u8]) -> Option<u8> {
    let octal = digits.iter().all(|digit| (b'0'..=b'7').contains(digit));
    octal.then(|| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()).flatten()
}

/// The mount that holds a path: the deepest one, the latest of several in one place. One of the path's own
/// device goes first, since a deeper one may be hidden; btrfs gives files device numbers that no mount has.
fn choose_mount<'a>(mounts: &'a [Mount], path: &Path, device: DeviceNumber) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.path));
    above.max_by_key(|mount| (mount.device == device, mount.path.as_os_str().len()))
}

fn why_no_device(file_system: &str, source: &str) -> String {
    match file_system {
        "tmpfs" | "ramfs" | "devtmpfs" => format!("{file_system} is in memory, there is no device below it"),
        "overlay" => "overlay joins other file systems, and does not tell which of them holds a file: \
                      give a directory on a volume"
            .to_owned(),
        "btrfs" | "zfs" | "bcachefs" => {
            format!(
                "{file_system} can spread a file over several devices, here {source}, and does not tell how"
            )
        }
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "9p" | "virtiofs" | "glusterfs" | "lustre" => {
            format!("{file_system} is on another host, at {source}")
        }
        _ => format!("{file_system} has no block device of its own"),
    }
}

// The device.

fn device(root: &Path, (major, minor): DeviceNumber) -> Known<Device> {
    let link = root.join(format!("sys/dev/block/{major}:{minor}"));
    let directory = fs::canonicalize(&link).map_err(|_| format!("there is no {}", link.display()))?;
    Ok(describe(root, &whole_disk(directory)))
}

/// A partition's directory lies in that of its disk.
fn whole_disk(directory: PathBuf) -> PathBuf {
    match directory.parent() {
        Some(disk) if directory.join("partition").exists() => disk.to_owned(),
        _ => directory,
    }
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
fn kernel_name(directory: &Path) -> String {
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
    values.pop().ok_or_else(|| "there is no disk".to_owned())
}

fn raid_level(directory: &Path) -> Option<String> {
    let level = attribute(&directory.join("md/level")).ok();
    level.or_else(|| parts(directory).iter().find_map(|part| raid_level(part)))
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
        return Err("virtio does not tell what the host's device is".to_owned());
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

// What the interface can carry.

/// A disk's bus, and the bytes a second that it can carry in one direction.
struct Interface {
    name: Known<String>,
    bytes_per_s: Known<u64>,
}

/// Told by the disk's place in the device tree, which the kernel names after the drivers on the way to it.
fn interface(root: &Path, disk: &Path) -> Interface {
    let within = disk.strip_prefix(root).unwrap_or(disk);
    let path: Vec<&str> = within.iter().filter_map(|name| name.to_str()).collect();
    let numbered =
        |prefix: &str| path.iter().find_map(|name| name.strip_prefix(prefix).filter(|n| is_number(n)));
    let (name, bytes_per_s) = if kernel_name(disk).starts_with("nvme") {
        ("nvme", nvme_bytes_per_s(disk))
    } else if numbered("usb").is_some() {
        ("usb", usb_bytes_per_s(disk))
    } else if let Some(port) = numbered("ata") {
        ("sata", sata_bytes_per_s(root, port))
    } else if path.iter().any(|name| name.starts_with("end_device-")) {
        let sata = attribute(&disk.join("device/vendor")).is_ok_and(|vendor| vendor == "ATA");
        (if sata { "sata" } else { "sas" }, sas_bytes_per_s(root, disk))
    } else if numbered("virtio").is_some() {
        ("virtio", Err("virtio does not tell what the host's device can carry".to_owned()))
    } else {
        return other_interface(root, disk, numbered("host"));
    };
    Interface { name: Ok(name.to_owned()), bytes_per_s }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Buses whose speed the kernel does not tell.
fn other_interface(root: &Path, disk: &Path, host: Option<&str>) -> Interface {
    const BY_NAME: [(&str, &str); 9] = [
        ("loop", "loop"),
        ("zram", "memory"),
        ("ram", "memory"),
        ("pmem", "memory"),
        ("nbd", "network block device"),
        ("rbd", "ceph"),
        ("drbd", "drbd"),
        ("mmcblk", "mmc"),
        ("xvd", "xen"),
    ];
    let disk_name = kernel_name(disk);
    let name = if let Some((_, name)) = BY_NAME.iter().find(|(prefix, _)| disk_name.starts_with(prefix)) {
        Ok((*name).to_owned())
    } else if let Some(host) = host {
        let driver = attribute(&root.join(format!("sys/class/scsi_host/host{host}/proc_name")));
        Ok(driver.map_or_else(|_| "scsi".to_owned(), |driver| format!("scsi ({driver})")))
    } else {
        Err(format!("{} does not tell", disk.display()))
    };
    let bytes_per_s = match &name {
        Ok(name) => Err(format!("{name} does not tell what it can carry")),
        Err(reason) => Err(reason.clone()),
    };
    Interface { name, bytes_per_s }
}

/// The PCIe link of the controller; of all controllers together where the kernel joins several paths.
fn nvme_bytes_per_s(disk: &Path) -> Known<u64> {
    let above = disk.join("device");
    if let Ok(transport) = attribute(&above.join("transport"))
        && transport != "pcie"
    {
        return Err(format!("NVMe over {transport} does not tell what it can carry"));
    }
    let is_controller = |name: &String| name.strip_prefix("nvme").is_some_and(is_number);
    let paths: Vec<String> = names(&above).into_iter().filter(is_controller).collect();
    if paths.is_empty() {
        return link_bytes_per_s(&above.join("device"));
    }
    paths.iter().map(|path| link_bytes_per_s(&above.join(path).join("device"))).sum()
}

fn link_bytes_per_s(function: &Path) -> Known<u64> {
    let speed = attribute(&function.join("current_link_speed"))?;
    let width = attribute(&function.join("current_link_width"))?;
    pcie_bytes_per_s(&speed, &width)
        .ok_or_else(|| format!("{} says {speed:?} with {width:?} lanes", function.display()))
}

/// `8.0 GT/s PCIe` and `4` lanes. Line coding by generation (PCI Express Base Specification): 8b/10b up to
/// 5 GT/s, 128b/130b up to 32 GT/s, and from 64 GT/s on flits of 256 bytes that hold 242.
fn pcie_bytes_per_s(speed: &str, width: &str) -> Option<u64> {
    let transfers = leading_number(speed, "GT/s")?;
    let lanes: u32 = width.parse().ok().filter(|lanes| *lanes > 0)?;
    let share = match transfers {
        ..=5.0 => 8.0 / 10.0,
        ..=32.0 => 128.0 / 130.0,
        _ => 242.0 / 256.0,
    };
    Some((transfers * 1e9 * share / 8.0 * f64::from(lanes)).round() as u64)
}

/// The positive number before a unit: 8.0 of `8.0 GT/s PCIe`.
fn leading_number(text: &str, unit: &str) -> Option<f64> {
    let mut words = text.split_ascii_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    (words.next()?.starts_with(unit) && number.is_finite() && number > 0.0).then_some(number)
}

fn sata_bytes_per_s(root: &Path, port: &str) -> Known<u64> {
    let path = root.join(format!("sys/class/ata_link/link{port}/sata_spd"));
    serial_bytes_per_s(&path, "Gbps")
}

/// The phys of the port that the disk hangs on, together; mostly it is one.
fn sas_bytes_per_s(root: &Path, disk: &Path) -> Known<u64> {
    let is_end = |path: &&Path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("end_device-"))
    };
    let port = disk.ancestors().find(is_end).and_then(Path::parent).unwrap_or(disk);
    let phys: Vec<String> = names(port).into_iter().filter(|name| name.starts_with("phy-")).collect();
    if phys.is_empty() {
        return Err(format!("{} has no phy", port.display()));
    }
    let class = root.join("sys/class/sas_phy");
    phys.iter().map(|phy| serial_bytes_per_s(&class.join(phy).join("negotiated_linkrate"), "Gbit")).sum()
}

/// `6.0 Gbps` and `12.0 Gbit`: SATA and SAS send ten bits a byte, SAS at 22.5 Gbit/s sends 150 for 128.
fn serial_bytes_per_s(path: &Path, unit: &str) -> Known<u64> {
    let text = attribute(path)?;
    let gigabits = leading_number(&text, unit).ok_or_else(|| format!("{} says {text:?}", path.display()))?;
    let share = if gigabits > 12.0 { 128.0 / 150.0 } else { 8.0 / 10.0 };
    Ok((gigabits * 1e9 * share / 8.0).round() as u64)
}

/// The speed of the nearest USB device above the disk, in Mbit/s: plain up to USB 2, 8b/10b at 5 Gbit/s, 128b/132b
/// above.
fn usb_bytes_per_s(disk: &Path) -> Known<u64> {
    let found = disk.ancestors().map(|above| above.join("speed")).find(|path| path.exists());
    let path = found.ok_or_else(|| format!("there is no speed file above {}", disk.display()))?;
    let megabits = number(&path)?;
    let share = match megabits {
        0..=480 => 1.0,
        481..=5_000 => 8.0 / 10.0,
        _ => 128.0 / 132.0,
    };
    Ok((megabits as f64 * 1e6 * share / 8.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A machine of files: `proc`, `sys` and `etc` below a directory of its own.
    struct Machine {
        _directory: tempfile::TempDir,
        root: PathBuf,
    }

    impl Machine {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let root = fs::canonicalize(directory.path()).unwrap();
            Self { _directory: directory, root }
        }

        fn file(&self, path: &str, text: &str) -> &Self {
            let path = self.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
            self
        }

        fn link(&self, path: &str, to: &str) -> &Self {
            let path = self.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(self.root.join(to), path).unwrap();
            self
        }

        /// A disk at a place in the device tree, with the files that all disks have.
        fn disk(&self, place: &str, number: &str) -> &Self {
            self.link(&format!("sys/dev/block/{number}"), place);
            for (name, text) in [
                ("size", "1000"),
                ("queue/rotational", "0"),
                ("queue/scheduler", "none [mq-deadline] kyber"),
                ("queue/nr_requests", "256"),
                ("queue/logical_block_size", "512"),
                ("queue/physical_block_size", "4096"),
                ("queue/write_cache", "write back"),
            ] {
                self.file(&format!("{place}/{name}"), text);
            }
            self
        }

        /// An NVMe disk with a PCIe 4.0 link of four lanes.
        fn nvme(&self, n: u32, number: &str) -> &Self {
            let function = format!("sys/devices/pci0000:00/0000:0{n}:00.0");
            let disk = format!("{function}/nvme/nvme{n}/nvme{n}n1");
            self.disk(&disk, number)
                .link(&format!("{disk}/device"), &format!("{function}/nvme/nvme{n}"))
                .link(&format!("{function}/nvme/nvme{n}/device"), &function)
                .file(&format!("{function}/nvme/nvme{n}/model"), "Samsung SSD 990 PRO 1TB")
                .file(&format!("{function}/nvme/nvme{n}/transport"), "pcie")
                .file(&format!("{function}/current_link_speed"), "16.0 GT/s PCIe")
                .file(&format!("{function}/current_link_width"), "4")
        }

        fn device(&self, major: u32, minor: u32) -> Device {
            device(&self.root, (major, minor)).unwrap()
        }

        fn mounts(&self, text: &str) -> &Self {
            self.file("proc/self/mountinfo", text)
        }
    }

    const NVME_0: &str = "sys/devices/pci0000:00/0000:00:00.0/nvme/nvme0/nvme0n1";
    const NVME_1: &str = "sys/devices/pci0000:00/0000:01:00.0/nvme/nvme1/nvme1n1";
    const GEN4_X4_BYTES_PER_S: u64 = 7_876_923_077;

    fn why<T>(reading: &Reading<T>) -> &str {
        match reading {
            Reading::Unknown(reason) => reason,
            Reading::Known(_) => panic!("known"),
        }
    }

    fn known<T: Clone>(reading: &Reading<T>) -> T {
        reading.known().cloned().unwrap()
    }

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
    fn an_nvme_disk_behind_its_subsystem_has_the_links_of_all_its_paths() {
        let machine = Machine::new();
        machine.nvme(0, "259:9").nvme(1, "259:8");
        let subsystem = "sys/devices/virtual/nvme-subsystem/nvme-subsys0";
        machine
            .disk(&format!("{subsystem}/nvme0n1"), "259:0")
            .link(&format!("{subsystem}/nvme0n1/device"), subsystem)
            .link(&format!("{subsystem}/nvme0"), "sys/devices/pci0000:00/0000:00:00.0/nvme/nvme0")
            .link(&format!("{subsystem}/nvme1"), "sys/devices/pci0000:00/0000:01:00.0/nvme/nvme1");
        let device = machine.device(259, 0);
        assert_eq!(known(&device.interface_bytes_per_s), 2 * GEN4_X4_BYTES_PER_S);
    }

    #[test]
    fn nvme_over_a_network_has_no_known_limit() {
        let machine = Machine::new();
        machine.nvme(0, "259:0").file("sys/devices/pci0000:00/0000:00:00.0/nvme/nvme0/transport", "tcp");
        let device = machine.device(259, 0);
        assert!(why(&device.interface_bytes_per_s).starts_with("NVMe over tcp does not tell"));
    }

    #[test]
    fn a_sata_disk_has_the_speed_of_its_link() {
        let machine = Machine::new();
        let disk = "sys/devices/pci0000:00/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0/block/sda";
        machine.disk(disk, "8:0").file("sys/class/ata_link/link3/sata_spd", "6.0 Gbps");
        machine
            .file(&format!("{disk}/device/vendor"), "ATA")
            .file(&format!("{disk}/device/model"), "ST4000DM004");
        let device = machine.device(8, 0);
        assert_eq!((known(&device.interface), known(&device.model)), ("sata".into(), "ST4000DM004".into()));
        assert_eq!(known(&device.interface_bytes_per_s), 600_000_000);
        machine.file("sys/class/ata_link/link3/sata_spd", "<unknown>");
        let reason = machine.device(8, 0).interface_bytes_per_s;
        assert!(why(&reason).ends_with("link3/sata_spd says \"<unknown>\""), "{reason:?}");
    }

    #[test]
    fn a_sas_disk_has_the_speed_of_its_ports_phys() {
        let machine = Machine::new();
        let port = "sys/devices/pci0000:00/0000:00:03.0/host0/port-0:0/expander-0:0/port-0:0:4";
        let disk = format!("{port}/end_device-0:0:4/target0:0:4/0:0:4:0/block/sdc");
        machine.disk(&disk, "8:32").file("sys/class/sas_phy/phy-0:0:4/negotiated_linkrate", "12.0 Gbit");
        machine.file(&format!("{port}/phy-0:0:4/uevent"), "");
        machine
            .file(&format!("{disk}/device/vendor"), "SEAGATE")
            .file(&format!("{disk}/device/model"), "ST600MP0005");
        let device = machine.device(8, 32);
        assert_eq!(
            (known(&device.interface), known(&device.model)),
            ("sas".into(), "SEAGATE ST600MP0005".into())
        );
        assert_eq!(known(&device.interface_bytes_per_s), 1_200_000_000);
    }

    #[test]
    fn a_usb_disk_has_the_speed_of_its_port() {
        let machine = Machine::new();
        let port = "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1";
        machine.disk(&format!("{port}/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdd"), "8:48");
        for (speed, bytes_per_s) in [("480", 60_000_000), ("5000", 500_000_000), ("10000", 1_212_121_212)] {
            machine.file(&format!("{port}/speed"), speed);
            let device = machine.device(8, 48);
            assert_eq!(known(&device.interface), "usb");
            assert_eq!(known(&device.interface_bytes_per_s), bytes_per_s);
        }
    }

    #[test]
    fn virtio_is_not_taken_at_its_word() {
        let machine = Machine::new();
        machine.disk("sys/devices/pci0000:00/0000:00:02.0/virtio1/block/vda", "254:0");
        machine.file("sys/devices/pci0000:00/0000:00:02.0/virtio1/block/vda/queue/rotational", "1");
        let device = machine.device(254, 0);
        assert_eq!(known(&device.interface), "virtio");
        assert_eq!(
            why(&device.interface_bytes_per_s),
            "virtio does not tell what the host's device can carry"
        );
        assert_eq!(why(&device.rotational), "virtio does not tell what the host's device is");
        assert!(why(&device.model).ends_with("vda/device/model"), "{:?}", device.model);
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
        assert_eq!(known(&device.model), "vg0-data (LVM) on Samsung SSD 990 PRO 1TB");
        assert_eq!(known(&device.interface), "nvme");
        assert_eq!(known(&device.scheduler), "mq-deadline", "the scheduler that counts is that of the disk");
    }

    #[test]
    fn a_controller_that_hides_its_disks_is_named() {
        let machine = Machine::new();
        machine.disk("sys/devices/pci0000:00/0000:00:05.0/host0/target0:2:0/0:2:0:0/block/sda", "8:0");
        machine.file("sys/class/scsi_host/host0/proc_name", "megaraid_sas");
        let device = machine.device(8, 0);
        assert_eq!(known(&device.interface), "scsi (megaraid_sas)");
        assert_eq!(why(&device.interface_bytes_per_s), "scsi (megaraid_sas) does not tell what it can carry");
    }

    #[test]
    fn what_is_missing_is_unknown_and_names_the_file() {
        let machine = Machine::new();
        let place = "sys/devices/virtual/block/loop0";
        machine.link("sys/dev/block/7:0", place).file(&format!("{place}/queue/rotational"), "maybe");
        let device = machine.device(7, 0);
        assert!(why(&device.scheduler).starts_with("there is no /"));
        assert!(why(&device.scheduler).ends_with("loop0/queue/scheduler"));
        assert!(why(&device.capacity_bytes).ends_with("loop0/size"));
        assert!(why(&device.rotational).ends_with("rotational says \"maybe\", which is no number"));
        let error = super::device(&machine.root, (8, 0)).unwrap_err();
        assert!(error.ends_with("sys/dev/block/8:0"), "{error}");
    }

    #[test]
    fn pcie_links_carry_what_their_generation_codes() {
        for (speed, width, bytes_per_s) in [
            ("2.5 GT/s PCIe", "1", Some(250_000_000)),
            ("5 GT/s", "4", Some(2_000_000_000)),
            ("8.0 GT/s PCIe", "4", Some(3_938_461_538)),
            ("16.0 GT/s PCIe", "4", Some(GEN4_X4_BYTES_PER_S)),
            ("32.0 GT/s PCIe", "4", Some(15_753_846_154)),
            ("64.0 GT/s PCIe", "4", Some(30_250_000_000)),
            ("Unknown", "4", None),
            ("16.0 GT/s PCIe", "0", None),
            ("-1 GT/s", "4", None),
            ("", "", None),
        ] {
            assert_eq!(pcie_bytes_per_s(speed, width), bytes_per_s, "{speed} × {width}");
        }
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

    const MOUNTS: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
22 27 0:21 / /proc rw,relatime - proc proc rw
40 27 259:2 / /data rw,noatime shared:7 master:2 - xfs /dev/nvme0n1p2 rw,attr2,inode64
41 27 0:44 / /srv/my\\040disk\\134x rw - btrfs /dev/sda1 rw,subvol=/@
42 40 8:1 / /data/old rw - ext4 /dev/sda1 rw
43 40 8:17 / /data/old rw - ext4 /dev/sdb1 rw
this line is none
44 27 x:y / /bad rw - ext4 /dev/sdc rw";

    #[test]
    fn mounts_are_read_with_their_escapes_and_both_kinds_of_options() {
        let mounts = parse_mountinfo(MOUNTS);
        assert_eq!(mounts.len(), 6);
        assert_eq!(mounts[2].options, "rw,noatime,attr2,inode64");
        assert_eq!((mounts[2].device, mounts[2].file_system.as_str()), ((259, 2), "xfs"));
        assert_eq!(mounts[3].path, Path::new("/srv/my disk\\x"));
        for (escaped, text) in [("a\\040b", "a b"), ("\\11", "\\11"), ("\\+40", "\\+40"), ("\\777", "\\777")]
        {
            assert_eq!(unescape(escaped), text);
        }
    }

    #[test]
    fn a_path_lies_on_the_deepest_and_latest_mount_of_its_device() {
        let mounts = parse_mountinfo(MOUNTS);
        for (path, device, source) in [
            ("/srv/x", (254, 0), "/dev/vda"),
            ("/data/pg", (259, 2), "/dev/nvme0n1p2"),
            ("/database", (254, 0), "/dev/vda"),
            ("/data/old/x", (8, 17), "/dev/sdb1"),
            ("/data/old/hidden", (259, 2), "/dev/nvme0n1p2"),
            ("/srv/my disk\\x/y", (0, 99), "/dev/sda1"),
        ] {
            let mount = choose_mount(&mounts, Path::new(path), device).unwrap();
            assert_eq!(mount.source, source, "{path}");
        }
        assert!(choose_mount(&[], Path::new("/"), (8, 0)).is_none());
    }

    #[test]
    fn a_target_that_does_not_exist_yet_stands_for_the_directory_above() {
        let machine = Machine::new();
        machine.mounts("30 1 0:31 / / rw - tmpfs tmpfs rw,size=4g");
        let environment = read_from(
            &machine.root,
            &machine.root.join("not/yet/here"),
            "0.1.0",
            "2026-11-21T07:30:00Z".parse().unwrap(),
        );
        let mount = known(&environment.mount);
        assert_eq!((mount.path.as_str(), mount.options.as_str()), ("/", "rw,size=4g"));
        assert!(mount.block_bytes > 0);
        assert_eq!(why(&environment.device), "tmpfs is in memory, there is no device below it");
        assert_eq!(environment.taken, "2026-11-21T07:30:00Z");
    }

    #[test]
    fn file_systems_without_one_device_say_why() {
        for (file_system, reason) in [
            ("tmpfs", "is in memory"),
            ("overlay", "does not tell which of them holds a file"),
            ("btrfs", "over several devices, here SOURCE"),
            ("nfs4", "on another host, at SOURCE"),
            ("fuse.sshfs", "no block device of its own"),
        ] {
            let text = why_no_device(file_system, "SOURCE");
            assert!(text.starts_with(file_system) && text.contains(reason), "{text}");
        }
    }

    #[test]
    fn a_machine_without_any_file_is_read_as_unknown() {
        let machine = Machine::new();
        let environment = read_from(&machine.root, Path::new("/"), "0.1.0", jiff::Timestamp::UNIX_EPOCH);
        assert_eq!((environment.host.as_str(), environment.kernel.as_str()), ("unknown", "unknown"));
        assert!(why(&environment.system).ends_with("etc/os-release"));
        assert!(why(&environment.cpu.model).ends_with("proc/cpuinfo"));
        assert!(why(&environment.cpu.governor).ends_with("scaling_governor"));
        assert!(why(&environment.mount).ends_with("proc/self/mountinfo"));
        assert_eq!(environment.device, Reading::Unknown(why(&environment.mount).to_owned()));
        assert!(environment.memory.total_bytes > 0, "the kernel is asked where there is no /proc");
    }

    #[test]
    fn this_machine_is_read() {
        let environment = read(Path::new("."), "0.1.0", jiff::Timestamp::UNIX_EPOCH);
        assert!(environment.cpu.usable >= 1);
        assert!(environment.memory.total_bytes >= environment.memory.available_bytes);
        assert!(environment.mount.known().is_some_and(|mount| mount.free_bytes > 0));
        assert_ne!(environment.kernel, "unknown");
    }

    #[test]
    fn processors_are_read_as_far_as_they_tell() {
        let x86 = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor lahf_lm\n\nmodel name\t: other";
        let metal = "model name : Xeon\nflags : fpu vme";
        let arm = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd0c\n";
        for (text, model, virtual_machine) in [
            (x86, Some("AMD EPYC"), Some(true)),
            (metal, Some("Xeon"), Some(false)),
            ("cpu\t\t: POWER9, altivec supported", Some("POWER9, altivec supported"), None),
            (arm, None, None),
            ("", None, None),
        ] {
            assert_eq!(parse_cpuinfo(text), CpuInfo { model: model.map(str::to_owned), virtual_machine });
        }
    }

    #[test]
    fn hypervisors_are_named_where_there_is_one() {
        for (vendor, product, name) in [
            ("QEMU", "Standard PC (Q35 + ICH9, 2009)", Some("QEMU")),
            ("VMware, Inc.", "VMware Virtual Platform", Some("VMware")),
            ("Microsoft Corporation", "Virtual Machine", Some("Hyper-V")),
            ("Microsoft Corporation", "Surface Pro", None),
            ("Amazon EC2", "m7i.large", Some("Amazon EC2")),
            ("Amazon EC2", "m7i.metal-24xl", None),
            ("Dell Inc.", "PowerEdge R740", None),
        ] {
            assert_eq!(hypervisor_by_firmware(vendor, product), name, "{vendor} {product}");
        }
        let machine = Machine::new();
        assert_eq!(hypervisor(&machine.root, Some(true)).as_deref(), Some("unnamed"));
        machine.file("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc kvm-clock");
        assert_eq!(hypervisor(&machine.root, Some(true)).as_deref(), Some("KVM"));
        assert_eq!(hypervisor(&machine.root, Some(false)), None);
    }

    #[test]
    fn memory_and_system_are_read() {
        let text = "MemTotal:       24684092 kB\nMemFree: 1 kB\nMemAvailable:   24355000 kB\n";
        let memory = Memory { total_bytes: 24_684_092 << 10, available_bytes: 24_355_000 << 10 };
        assert_eq!(parse_meminfo(text), Some(memory));
        assert_eq!(parse_meminfo("MemTotal: many kB\n"), None);
        let text = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(parse_os_release(text).as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(parse_os_release("PRETTY_NAME=Alpine").as_deref(), Some("Alpine"));
        assert_eq!(parse_os_release("PRETTY_NAME=\"\""), None);
    }
}
