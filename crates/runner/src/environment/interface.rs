//! What a disk's interface is, and what it can carry.
//!
//! The rate is that of the link which the kernel reports; where it reports none, the rate is unknown.

use std::path::Path;

use super::attribute::{Known, attribute, names, number};
use super::device::kernel_name;

/// A disk's bus, and the bytes a second that it can carry in one direction.
pub(super) struct Interface {
    pub(super) name: Known<String>,
    pub(super) bytes_per_s: Known<u64>,
}

/// Told by the disk's place in the device tree, which the kernel names after the drivers on the way to it.
pub(super) fn interface(root: &Path, disk: &Path) -> Interface {
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
        ("virtio", Err("virtio does not report the bandwidth of the host's device".to_owned()))
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
        Err(format!("{} does not report its type", disk.display()))
    };
    let bytes_per_s = match &name {
        Ok(name) => Err(format!("{name} does not report its bandwidth")),
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
        return Err(format!("NVMe over {transport} does not report its bandwidth"));
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
        .ok_or_else(|| format!("{} reports {speed:?} with {width:?} lanes", function.display()))
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
    let path = found.ok_or_else(|| format!("no speed file found above {}", disk.display()))?;
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
    use super::super::machine::{GEN4_X4_BYTES_PER_S, Machine, known, why};
    use super::*;

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
        assert!(why(&device.interface_bytes_per_s).starts_with("NVMe over tcp does not report"));
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
            "virtio does not report the bandwidth of the host's device"
        );
        assert_eq!(why(&device.rotational), "virtio does not report the device of the host");
        assert!(why(&device.model).ends_with("vda/device/model does not exist"), "{:?}", device.model);
    }

    #[test]
    fn a_controller_that_hides_its_disks_is_named() {
        let machine = Machine::new();
        machine.disk("sys/devices/pci0000:00/0000:00:05.0/host0/target0:2:0/0:2:0:0/block/sda", "8:0");
        machine.file("sys/class/scsi_host/host0/proc_name", "megaraid_sas");
        let device = machine.device(8, 0);
        assert_eq!(known(&device.interface), "scsi (megaraid_sas)");
        assert_eq!(why(&device.interface_bytes_per_s), "scsi (megaraid_sas) does not report its bandwidth");
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
}
