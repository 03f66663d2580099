//! The machine while a trial runs: its processors, its devices and the servers on it, each by name.
//!
//! Samplers read at rates of their own. A reading holds what one of them read; what it did not read is absent, and never zero.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ReplicaState;

/// Name of the device in records of format 1, which knew but one and did not name it.
const ONLY_DEVICE: &str = "device";

/// What was read of the machine over a time: one JSON object a line in `resources.ndjson`. All shares are of 0–1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Resources {
    /// End of that time in seconds since the load began.
    pub end_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// Processors and pressure.
    #[serde(flatten)]
    pub machine: Option<MachineLoad>,
    /// Block devices by the kernel's names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub devices: BTreeMap<String, DeviceLoad>,
    /// Servers on this machine by the names of their databases.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, ServerLoad>,
    /// What servers, wherever they are, told of themselves, by the names of their databases.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub told: BTreeMap<String, ServerTold>,
    /// Servers that were started for the trial, by their names, as their control groups count.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, GroupLoad>,
    /// This program itself, where it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnLoad>,
}

/// Processors and what waited for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineLoad {
    /// Busy share (all but idle and waiting for I/O) of each core.
    pub cpu_busy_share: Vec<f64>,
    /// Share of all cores' time that a hypervisor gave to others.
    pub cpu_steal_share: f64,
    /// Share of all cores' time spent in soft and hard interrupts.
    pub cpu_interrupt_share: f64,
    /// Share of all cores' time that this program used, all of its threads together; none where that was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_own_share: Option<f64>,
    /// Share of the time in which some task waited for the CPU (pressure stall information).
    pub pressure_cpu_share: Option<f64>,
    /// Share of the time in which some task waited for I/O.
    pub pressure_io_share: Option<f64>,
    /// Share of the time in which some task waited for memory.
    pub pressure_memory_share: Option<f64>,
    /// Bytes per second by which the data that waits in memory to be written became less: the kernel's dirty pages and those under
    /// way to devices. Negative while it becomes more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_dirty_fall_bytes_per_s: Option<f64>,
}

/// A block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceLoad {
    /// Reads that it completed, a second.
    pub reads_per_s: f64,
    /// Writes that it completed, a second.
    pub writes_per_s: f64,
    /// Bytes read, a second.
    pub read_bytes_per_s: f64,
    /// Bytes written, a second.
    pub write_bytes_per_s: f64,
    /// Mean number of requests in its queue (iostat's aqu-sz).
    pub queue_depth: f64,
    /// Share of the time in which it had something to do (iostat's %util).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_share: Option<f64>,
    /// Mean time of a read in queue and device, in microseconds; none if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_latency_us: Option<f64>,
    /// Mean time of a write in queue and device, in microseconds; none if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_latency_us: Option<f64>,
    /// Flushes of its cache per second; none where the kernel does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes_per_s: Option<f64>,
}

/// The processes of a database server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerLoad {
    /// Cores that they used, all together: 2.0 is two whole ones.
    pub cpu_cores: f64,
    /// Memory of their own and the largest share of what they have in common, in bytes.
    pub memory_bytes: u64,
    /// How many they are.
    pub processes: u32,
    /// Bytes that they had read from storage, a second; none where this user may not see that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_s: Option<f64>,
    /// Bytes that they had written to storage, a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_s: Option<f64>,
    /// Mean number of their threads that could have run and had no processor; none where the kernel does not count that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_threads: Option<f64>,
}

/// This program while it loads something: what it was not given. What it used of processors is a share of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnLoad {
    /// Mean number of its threads that could have run and had no processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_threads: Option<f64>,
    /// Time in which the control group that it was started in was not let run although it could have, a second; all processors
    /// together. None where it is in no group that is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_cores: Option<f64>,
    /// Bytes that it had read from storage, a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_s: Option<f64>,
    /// Bytes that it had written to storage, a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_s: Option<f64>,
}

/// What a control group used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupLoad {
    /// Cores that it used: 2.0 is two whole ones.
    pub cpu_cores: f64,
    /// Cores that it could have used and was not let: time in which it was throttled, a second.
    pub throttled_cores: f64,
    /// Memory, page cache included.
    pub memory_bytes: u64,
    /// Reads that it had devices do, a second; none where the kernel does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_per_s: Option<f64>,
    /// Writes that it had devices do, a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes_per_s: Option<f64>,
    /// Bytes that it read from devices, per second; none where the kernel does not count them, and in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_s: Option<f64>,
    /// Bytes that it wrote to devices itself, per second. The first version of groups leaves out what the kernel writes for it later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_s: Option<f64>,
}

/// What a server told of itself over a session that is no part of the load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerTold {
    /// The session that asked, by the number that the server knows it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u64>,
    /// How often was looked at what its sessions do.
    pub looks: u32,
    /// Sessions of the load, added up over all looks, by what each did: one of [`doing`], or what it waited for as the server
    /// spells it, such as `IO:WALSync`.
    pub sessions: BTreeMap<String, u64>,
    /// How much its own counters rose, a second, as it spells them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters_per_s: BTreeMap<String, f64>,
    /// What the server and sessions of others did beside the load, added up over all looks, by one of [`beside`] and what it waited
    /// for as the server spells it: `vacuum IO:DataFileRead`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub beside: BTreeMap<String, u64>,
    /// Sessions that held locks which sessions of the load waited for, as they were seen last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<Blocker>,
    /// Copies of its databases on other servers, and of each the one that is written to, as they stood last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<ReplicaState>,
}

/// A session that holds a lock for which others wait, and waits for none itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Blocker {
    /// Its number at the server; none of a transaction that was prepared and belongs to no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u64>,
    /// Whether it is a session of the load itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ours: bool,
    /// Its user, where the login may see that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Its program, as it calls itself; of MySQL and MariaDB the address that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// What it did, as the server spells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The begin of its statement, or of its last one, up to a word that may stand before a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// How long its transaction had been open when it was seen, in seconds; of a server that does not tell, its statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_s: Option<f64>,
    /// The time from which it was, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Sessions of the load that waited for it, at most.
    pub waiting: u64,
}

/// What a server can be seen to do beside the load: the first word of what is told of it.
pub mod beside {
    /// It removes what rows left behind, by itself or because somebody asked for it.
    pub const VACUUM: &str = "vacuum";
    /// It writes what changed in memory to the data, so that the log can be used again.
    pub const CHECKPOINT: &str = "checkpoint";
    /// A session of somebody else works.
    pub const OTHERS: &str = "others";
    /// Nobody: what follows is a figure of the server's own as it stood at each look, added up.
    pub const GAUGE: &str = "gauge";
}

/// What a session can be seen to do besides waiting for something that its server names.
pub mod doing {
    /// It works on a statement, and waits for nothing that its server knows of.
    pub const EXECUTING: &str = "executing";
    /// It could run, and its server has no thread of a processor for it.
    pub const RUNNABLE: &str = "runnable";
    /// It has no statement, and had one a moment ago: whoever is at its other end does something.
    pub const IDLE: &str = "idle";
    /// It has a transaction and no statement.
    pub const IN_TRANSACTION: &str = "idle in transaction";
    /// It waits for a lock on a row, where the server spells that nowhere.
    pub const ROW_LOCK: &str = "row lock";
    /// The server does not show the login of whoever looked what it does.
    pub const HIDDEN: &str = "hidden";
    /// The server does not track what it does (`track_activities` is off).
    pub const UNTRACKED: &str = "untracked";
}

/// As it is stored, format 1 included.
#[derive(Deserialize)]
struct Stored {
    end_s: f64,
    length_s: f64,
    #[serde(default)]
    devices: BTreeMap<String, DeviceLoad>,
    #[serde(default)]
    servers: BTreeMap<String, ServerLoad>,
    #[serde(default)]
    told: BTreeMap<String, ServerTold>,
    #[serde(default)]
    groups: BTreeMap<String, GroupLoad>,
    #[serde(default)]
    own: Option<OwnLoad>,
    device_reads_per_s: Option<f64>,
    device_writes_per_s: Option<f64>,
    device_read_bytes_per_s: Option<f64>,
    device_write_bytes_per_s: Option<f64>,
    device_queue_depth: Option<f64>,
    /// Those of the machine and others: read here, an optional structure that is flattened would be none where it is damaged.
    #[serde(flatten)]
    others: serde_json::Map<String, Value>,
}

/// What the fields of [`MachineLoad`] begin with.
const OF_MACHINE: [&str; 3] = ["cpu_", "pressure_", "memory_"];

impl Stored {
    /// The device of format 1. All of its figures were known, or none.
    fn only_device(&self) -> Option<DeviceLoad> {
        Some(DeviceLoad {
            reads_per_s: self.device_reads_per_s?,
            writes_per_s: self.device_writes_per_s?,
            read_bytes_per_s: self.device_read_bytes_per_s?,
            write_bytes_per_s: self.device_write_bytes_per_s?,
            queue_depth: self.device_queue_depth?,
            ..DeviceLoad::default()
        })
    }
}

impl TryFrom<Stored> for Resources {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let only = stored.only_device().map(|device| (ONLY_DEVICE.to_owned(), device));
        let is_of_machine = |name: &String| OF_MACHINE.iter().any(|begin| name.starts_with(begin));
        // Readings that only a later version of this program knows are left out of what is read, and are no damage.
        let is_of_later = stored.others.iter().any(|(name, value)| !is_of_machine(name) && !value.is_null());
        let machine = match stored.others.keys().any(is_of_machine) {
            true => Some(MachineLoad::deserialize(Value::Object(stored.others)).map_err(|e| e.to_string())?),
            false => None,
        };
        let devices: BTreeMap<_, _> = stored.devices.into_iter().chain(only).collect();
        let is_empty = devices.is_empty()
            && stored.servers.is_empty()
            && stored.told.is_empty()
            && stored.groups.is_empty()
            && stored.own.is_none();
        if machine.is_none() && is_empty && !is_of_later {
            return Err("it holds no reading".to_owned());
        }
        let Stored { end_s, length_s, servers, told, groups, own, .. } = stored;
        Ok(Self { end_s, length_s, machine, devices, servers, told, groups, own })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(resources: &Resources) -> String {
        let line = serde_json::to_string(resources).unwrap();
        assert_eq!(serde_json::from_str::<Resources>(&line).unwrap(), *resources, "{line}");
        line
    }

    #[test]
    fn each_sampler_has_lines_of_its_own_and_what_it_did_not_read_is_absent() {
        let machine = MachineLoad { cpu_busy_share: vec![0.5, 1.0], ..MachineLoad::default() };
        let of_machine =
            Resources { end_s: 1.0, length_s: 1.0, machine: Some(machine), ..Resources::default() };
        assert!(!read_back(&of_machine).contains("devices"));
        let load = DeviceLoad { reads_per_s: 9.0, busy_share: Some(0.25), ..DeviceLoad::default() };
        let devices = BTreeMap::from([("sda".to_owned(), load), ("sdb".to_owned(), DeviceLoad::default())]);
        let of_devices = Resources { end_s: 1.25, length_s: 0.25, devices, ..Resources::default() };
        assert!(!read_back(&of_devices).contains("cpu_"), "a share of nothing is not zero");
        let server = ServerLoad {
            cpu_cores: 1.5,
            memory_bytes: 1 << 30,
            processes: 7,
            write_bytes_per_s: Some(8192.0),
            ..ServerLoad::default()
        };
        let servers = BTreeMap::from([("prony_orders".to_owned(), server)]);
        let of_server = read_back(&Resources { end_s: 2.0, length_s: 1.0, servers, ..Resources::default() });
        assert!(!of_server.contains("read_bytes"), "what was not read is not zero");
    }

    #[test]
    fn what_a_server_told_is_read_back_and_nothing_of_it_is_asked_of_older_lines() {
        let told = ServerTold {
            session: Some(4711),
            looks: 10,
            sessions: [("IO:WALSync".to_owned(), 31), (doing::EXECUTING.to_owned(), 4)].into(),
            counters_per_s: [("pg_stat_wal.wal_sync".to_owned(), 212.5)].into(),
            beside: [("checkpoint IO:DataFileSync".to_owned(), 3)].into(),
            blockers: vec![Blocker {
                session: Some(12),
                waiting: 3,
                open_s: Some(4.5),
                ..Blocker::default()
            }],
            replicas: vec![ReplicaState {
                replica: "NODE2".to_owned(),
                database: "prony_orders".to_owned(),
                is_primary: false,
                mode: "SYNCHRONOUS_COMMIT".to_owned(),
                state: "SYNCHRONIZED".to_owned(),
                health: Some("HEALTHY".to_owned()),
                is_suspended: false,
                send_queue_kib: Some(12),
                redo_queue_kib: None,
                lag_s: Some(1),
            }],
        };
        let told = BTreeMap::from([("prony_orders (postgres)".to_owned(), told)]);
        read_back(&Resources { end_s: 2.0, length_s: 1.0, told, ..Resources::default() });
        let old = r#"{"end_s":1.0,"length_s":1.0,"servers":{"x":{"cpu_cores":1.0,"memory_bytes":5,"processes":2}}}"#;
        let old: Resources = serde_json::from_str(old).unwrap();
        assert_eq!((old.servers["x"].read_bytes_per_s, old.told.len()), (None, 0));
        let old = r#"{"end_s":1.0,"length_s":1.0,"told":{"x":{"looks":3,"sessions":{"idle":1}}}}"#;
        let old: Resources = serde_json::from_str(old).unwrap();
        assert_eq!(old.told["x"].blockers, []);
    }

    #[test]
    fn what_a_group_used_is_read_back_and_absent_where_there_is_none() {
        let load = GroupLoad {
            cpu_cores: 0.5,
            throttled_cores: 0.25,
            memory_bytes: 1 << 20,
            writes_per_s: Some(60.0),
            ..GroupLoad::default()
        };
        let groups = BTreeMap::from([("pg".to_owned(), load)]);
        let line = read_back(&Resources { end_s: 2.0, length_s: 1.0, groups, ..Resources::default() });
        assert!(line.contains("throttled_cores") && !line.contains("servers"), "{line}");
    }

    #[test]
    fn what_this_program_was_not_given_is_read_back_also_alone() {
        let own =
            OwnLoad { cpu_wait_threads: Some(1.5), write_bytes_per_s: Some(4096.0), ..OwnLoad::default() };
        let line =
            read_back(&Resources { end_s: 2.0, length_s: 1.0, own: Some(own), ..Resources::default() });
        assert!(!line.contains("throttled"), "{line}");
    }

    /// A line of a sampler that this version does not know was damage.
    #[test]
    fn a_line_of_a_later_version_is_read_as_far_as_it_is_known() {
        let line = r#"{"end_s":1.0,"length_s":1.0,"network":{"eth0":{"sent_bytes_per_s":5.0}}}"#;
        let read: Resources = serde_json::from_str(line).unwrap();
        assert_eq!(read, Resources { end_s: 1.0, length_s: 1.0, ..Resources::default() });
    }

    /// Format 1 had one device without a name, in five fields.
    #[test]
    fn the_one_device_of_format_1_is_read() {
        let line = r#"{"end_s":3.0,"length_s":1.0,"cpu_busy_share":[0.5],"cpu_steal_share":0.01,"cpu_interrupt_share":0.02,
            "pressure_cpu_share":null,"pressure_io_share":0.5,"pressure_memory_share":0.0,"device_reads_per_s":100.0,
            "device_writes_per_s":7.0,"device_read_bytes_per_s":4096.0,"device_write_bytes_per_s":512.0,
            "device_queue_depth":30.5}"#;
        let read: Resources = serde_json::from_str(line).unwrap();
        let device = DeviceLoad {
            reads_per_s: 100.0,
            writes_per_s: 7.0,
            read_bytes_per_s: 4096.0,
            write_bytes_per_s: 512.0,
            queue_depth: 30.5,
            ..DeviceLoad::default()
        };
        assert_eq!(read.devices, BTreeMap::from([("device".to_owned(), device)]));
        let machine = read.machine.unwrap();
        assert_eq!((machine.cpu_steal_share, machine.pressure_io_share), (0.01, Some(0.5)));
        let without = line.replace("30.5", "null").replace("100.0", "null");
        assert!(serde_json::from_str::<Resources>(&without).unwrap().devices.is_empty());
    }

    /// A share that could not be read made processors and pressure of the line nothing, without a word.
    #[test]
    fn a_line_that_is_damaged_or_holds_nothing_is_an_error() {
        let machine = MachineLoad { cpu_busy_share: vec![0.5], ..MachineLoad::default() };
        let whole = Resources { end_s: 1.0, length_s: 1.0, machine: Some(machine), ..Resources::default() };
        let whole = serde_json::to_value(&whole).unwrap();
        let wrong = |change: &dyn Fn(&mut Value)| {
            let mut line = whole.clone();
            change(&mut line);
            serde_json::from_str::<Resources>(&line.to_string()).unwrap_err().to_string()
        };
        let text = wrong(&|line| line["cpu_steal_share"] = "0.1".into());
        assert!(text.contains("invalid type: string"), "{text}");
        let lacks = wrong(&|line| drop(line.as_object_mut().unwrap().remove("cpu_busy_share")));
        assert_eq!(lacks, "missing field `cpu_busy_share`");
        let null = wrong(&|line| line["cpu_busy_share"] = Value::Null);
        assert!(null.contains("invalid type: null"), "{null}");
        let empty = serde_json::from_str::<Resources>(r#"{"end_s":1.0,"length_s":1.0}"#).unwrap_err();
        assert_eq!(empty.to_string(), "it holds no reading");
    }
}
