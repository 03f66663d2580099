//! The machine that a study ran on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{InspectedServer, Layout, Tuning};

/// A reading of the machine, or why there is none. A default is never stored as a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading<T> {
    /// What was read.
    Known(T),
    /// Why it could not be read.
    Unknown(String),
}

impl<T> Reading<T> {
    /// The value, if known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

/// The processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Model as the kernel names it.
    pub model: Reading<String>,
    /// Logical processors that this process may use.
    pub usable: u32,
    /// Name of the hypervisor, if the machine is virtual.
    pub hypervisor: Option<String>,
    /// Frequency governor of the first core.
    pub governor: Reading<String>,
}

/// The memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Bytes installed.
    pub total_bytes: u64,
    /// Bytes that could be had without swapping when the study began.
    pub available_bytes: u64,
}

/// The file system of the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountPoint {
    /// Where it is mounted.
    pub path: String,
    /// Type, such as `ext4`.
    pub file_system: String,
    /// Device or remote source.
    pub source: String,
    /// Mount options.
    pub options: String,
    /// Block size in bytes.
    pub block_bytes: u64,
    /// Bytes free to an unprivileged user when the study began.
    pub free_bytes: u64,
}

/// The block device of the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Kernel name, such as `nvme0n1`.
    pub name: String,
    /// Model as the device names itself.
    pub model: Reading<String>,
    /// Whether it has spinning disks, as far as the kernel knows.
    pub rotational: Reading<bool>,
    /// I/O scheduler in use.
    pub scheduler: Reading<String>,
    /// Requests its queue takes.
    pub queue_requests: Reading<u64>,
    /// Smallest unit it addresses, in bytes.
    pub logical_block_bytes: Reading<u64>,
    /// Unit it writes without reading first, in bytes.
    pub physical_block_bytes: Reading<u64>,
    /// Write cache as the kernel believes: `write back` or `write through`.
    pub write_cache: Reading<String>,
    /// Capacity in bytes.
    pub capacity_bytes: Reading<u64>,
    /// Bus: `nvme`, `sata`, `sas`, `usb`, `virtio`, …
    pub interface: Reading<String>,
    /// What the interface can carry at most in one direction, in bytes a second.
    pub interface_bytes_per_s: Reading<u64>,
    /// RAID level, where the device is an md array.
    pub raid: Option<String>,
}

/// Name of the volume in records of format 1, which knew but that of the target.
pub const TARGET_VOLUME: &str = "target";

/// Where something of a target lies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Storage {
    /// Its file system.
    pub mount: Reading<MountPoint>,
    /// The block device below it.
    pub device: Reading<Device>,
    /// How it is made; records of before do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
}

/// The processes of a server on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerProcesses {
    /// The process that all others of it descend from.
    pub pid: u32,
    /// What told so, such as the name of a file.
    pub told_by: String,
}

/// Everything about the machine that can change a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct Environment {
    /// Version of the stored form.
    pub format: u32,
    /// Version of the tool.
    pub tool_version: String,
    /// When it was taken, RFC 3339 in UTC.
    pub taken: String,
    /// Host name.
    pub host: String,
    /// Operating system's own name for itself.
    pub system: Reading<String>,
    /// Kernel release.
    pub kernel: String,
    /// Processors.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Memory,
    /// Where targets lie: `data` and, where it is apart, `log` of a database, the paths of a disk test.
    pub volumes: BTreeMap<String, Storage>,
    /// Servers by the names of their databases; none of what runs within this process.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, Reading<ServerProcesses>>,
    /// What the kernel is set to; records of before do not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
    /// Servers of others that were asked for their settings; none that was started for the study.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inspected: Vec<InspectedServer>,
}

/// As it is stored, format 1 included.
#[derive(Deserialize)]
struct Stored {
    format: u32,
    tool_version: String,
    taken: String,
    host: String,
    system: Reading<String>,
    kernel: String,
    cpu: Cpu,
    memory: Memory,
    #[serde(default)]
    volumes: BTreeMap<String, Storage>,
    #[serde(default)]
    servers: BTreeMap<String, Reading<ServerProcesses>>,
    tuning: Option<Tuning>,
    #[serde(default)]
    inspected: Vec<InspectedServer>,
    mount: Option<Reading<MountPoint>>,
    device: Option<Reading<Device>>,
}

impl From<Stored> for Environment {
    fn from(stored: Stored) -> Self {
        let only = stored.mount.zip(stored.device);
        let only =
            only.map(|(mount, device)| (TARGET_VOLUME.to_owned(), Storage { mount, device, layout: None }));
        Self {
            format: stored.format,
            tool_version: stored.tool_version,
            taken: stored.taken,
            host: stored.host,
            system: stored.system,
            kernel: stored.kernel,
            cpu: stored.cpu,
            memory: stored.memory,
            volumes: stored.volumes.into_iter().chain(only).collect(),
            servers: stored.servers,
            tuning: stored.tuning,
            inspected: stored.inspected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unread;

    const MACHINE: &str = r#""format":1,"tool_version":"0.1.0","taken":"2026-11-21T07:30:00Z","host":"h","system":{"known":"s"},
        "kernel":"6","cpu":{"model":{"known":"m"},"usable":2,"hypervisor":null,"governor":{"unknown":"u"}},
        "memory":{"total_bytes":2,"available_bytes":1}"#;

    #[test]
    fn the_one_volume_of_format_1_is_read_and_stored_as_one_of_several() {
        let text =
            format!(r#"{{{MACHINE},"mount":{{"unknown":"no mount"}},"device":{{"unknown":"no device"}}}}"#);
        let environment: Environment = serde_json::from_str(&text).unwrap();
        let unknown = |text: &str| Reading::Unknown(text.to_owned());
        let only = Storage {
            mount: unknown("no mount"),
            device: Reading::Unknown("no device".to_owned()),
            layout: None,
        };
        assert_eq!(environment.volumes, BTreeMap::from([(TARGET_VOLUME.to_owned(), only)]));
        let stored = serde_json::to_string(&environment).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&stored).unwrap(), environment);
    }
    /// What is read for advice came after format 2 had been stored without it.
    #[test]
    fn settings_of_kernel_and_servers_are_read_back_and_nothing_of_them_is_asked_of_older_records() {
        let text = format!(
            r#"{{{MACHINE},"volumes":{{"data":{{"mount":{{"unknown":"m"}},"device":{{"unknown":"d"}}}}}}}}"#
        );
        let old: Environment = serde_json::from_str(&text).unwrap();
        assert_eq!((&old.tuning, old.inspected.len(), &old.volumes["data"].layout), (&None, 0, &None));
        let stored = serde_json::to_string(&old).unwrap();
        assert!(["tuning", "inspected", "layout"].iter().all(|new| !stored.contains(new)), "{stored}");
        let unknown = || Reading::Unknown("it is not told".to_owned());
        let tuning = Tuning {
            transparent_huge_pages: Reading::Known("always".to_owned()),
            huge_page_bytes: Reading::Known(2 << 20),
            huge_pages: Reading::Known(0),
            swappiness: Reading::Known(60),
            swap_bytes: Reading::Known(1 << 30),
            overcommit: Reading::Known(2),
            numa_nodes: Reading::Known(2),
            numa_balancing: Reading::Known(1),
            zone_reclaim: Reading::Known(0),
            clock_source: unknown(),
            clock_sources: unknown(),
            steal_share: Reading::Known(0.015),
        };
        let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let server = InspectedServer {
            name: "postgres://me@localhost/x".to_owned(),
            engine: "postgres".to_owned(),
            version: "PostgreSQL 15.18".to_owned(),
            here: true,
            volumes: [fact("data", "data")].into(),
            facts: [("settings".to_owned(), vec![[fact("name", "fsync"), fact("value", "off")].into()])]
                .into(),
            unread: vec![Unread { what: "slots".to_owned(), because: "denied".to_owned(), grant: None }],
        };
        let mut new = Environment { tuning: Some(tuning), inspected: vec![server], ..old };
        let layout =
            Layout { read_ahead_bytes: Some(128 << 10), raid_degraded: Some(1), ..Layout::default() };
        new.volumes.get_mut("data").unwrap().layout = Some(layout);
        let stored = serde_json::to_string(&new).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&stored).unwrap(), new);
    }
}
