//! Background I/O: what programs other than this one and the servers of a trial did on the devices below its target.
//!
//! It is the device's counters less our own, and errs on our side. Reads are exact, since the kernel counts them for whoever sends them.
//! Writes are at least so many: a file system writes a journal that it counts for nobody, and data waits in memory before it is written.
//! Requests are no I/Os: the kernel splits and merges them, so that those of others follow from bytes where ours are not known.

use record::{DeviceLoad, MeasuredTrial, OwnLoad, Resources, Setup};
use serde::Serialize;
use stats::weighted_mean;

use crate::machine::{Part, devices_of, servers_of};
use crate::servers::Servers;
use crate::workloads;

/// Share of a device's requests or bytes from which on background load is reported. On a device that nothing else used, it was at
/// most 2% in 9 of 12 trials; the other three led to the allowances for flushes.
pub(crate) const SHARE_MAX: f64 = 0.1;
/// The same for its requests in flight: with fewer, not one of ten of ours meets one of theirs, so that none waits much longer.
const IN_FLIGHT_MAX: f64 = 0.1;
/// Bytes that a file system may write for a flush. A transaction of ext4's journal was five blocks of 4 KiB and two flushes, which is
/// 10 KiB for each.
const JOURNAL_BYTES: f64 = 16.0 * 1024.0;
/// The same as a multiple of what was written: such a transaction for a single block.
const JOURNAL_TIMES: f64 = 5.0;
/// The least that a request moves.
const SECTOR_BYTES: f64 = 512.0;
/// Readings cover at least so much of the time in which devices were read.
const COVERED_MIN: f64 = 0.8;

/// Background I/O in the measured window of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BackgroundIo {
    /// Devices, by the kernel's names.
    pub devices: Vec<String>,
    /// Reads per second.
    pub reads_per_s: f64,
    /// Writes per second.
    pub writes_per_s: f64,
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Bytes written per second.
    pub write_bytes_per_s: f64,
    /// Mean number of requests in flight, by Little's law.
    pub queue_depth: f64,
    /// The same with ours.
    pub queue_depth_all: f64,
    /// Share (0–1) of all requests or of all bytes, whichever is more.
    pub share: f64,
}

/// What we had devices do ourselves, this program and the servers of the trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Ours {
    /// Bytes read and written per second.
    bytes_per_s: [f64; 2],
    /// Reads and writes per second, where each is one request.
    requests_per_s: Option<[f64; 2]>,
}

impl BackgroundIo {
    /// Whether figures suffer from it.
    pub(crate) fn is_much(&self) -> bool {
        self.share >= SHARE_MAX && self.queue_depth >= IN_FLIGHT_MAX
    }

    /// `vda`, `vda and vdb`.
    pub(crate) fn device(&self) -> String {
        crate::format::listed(&self.devices)
    }

    /// That of a trial; none where no device was read. An error says why it is not known.
    pub(crate) fn of(measured: &MeasuredTrial, during: &[&Resources]) -> Result<Option<Self>, &'static str> {
        let devices = devices_of(during);
        let Some(setup) = measured.trial.setup.as_ref().filter(|_| !devices.is_empty()) else {
            return Ok(None);
        };
        let shown = workloads::of(measured.trial.workload);
        if !shown.loads_device(setup) {
            return Ok(None);
        }
        let is_several = measured.trial.servers.iter().any(|server| server.pair.is_some());
        if is_several || !measured.trial.clusters.is_empty() {
            return Err("prony reads only one of the nodes, and others may use the same device");
        }
        // Records of before do not have what this program moved.
        let Some(own) = bytes_of_program(during) else { return Ok(None) };
        let Some(bytes_per_s) = bytes_of_ours(own, setup, during) else {
            return Err("the kernel hides the I/O of the server. Run prony as root or as the server's user");
        };
        let ours = Ours { bytes_per_s, requests_per_s: shown.requests_per_s(measured) };
        let fall = during
            .iter()
            .filter_map(|read| Some((read.machine.as_ref()?.memory_dirty_fall_bytes_per_s?, read.length_s)));
        Ok(Some(Self::beyond(&devices, &ours, weighted_mean(fall).unwrap_or(0.0).max(0.0))))
    }

    /// What devices did beyond ours. `late_bytes_per_s` is what may have been written of earlier changes.
    fn beyond(devices: &[Part<DeviceLoad>], ours: &Ours, late_bytes_per_s: f64) -> Self {
        let sum = |of: fn(&DeviceLoad) -> f64| devices.iter().map(|device| of(&device.mean)).sum::<f64>();
        let flushes = sum(|load| load.flushes_per_s.unwrap_or(0.0));
        let [read, written] = ours.bytes_per_s;
        // A device without a cache of its own is sent no flush.
        let journal = if flushes > 0.0 { flushes * JOURNAL_BYTES } else { f64::INFINITY };
        let write_most = written + journal.min(written * JOURNAL_TIMES) + late_bytes_per_s;
        let (all_read, all_written) = (sum(|load| load.read_bytes_per_s), sum(|load| load.write_bytes_per_s));
        let read_bytes_per_s = (all_read - read).max(0.0);
        let write_bytes_per_s = (all_written - write_most).max(0.0);
        // The kernel counts a flush as a write, too, which has no bytes.
        let (all_reads, all_writes) =
            (sum(|load| load.reads_per_s), (sum(|load| load.writes_per_s) - flushes).max(0.0));
        let own = |kind: usize| ours.requests_per_s.map(|of| of[kind]);
        let reads_per_s = requests(all_reads, own(0), [read_bytes_per_s, all_read]);
        let writes_per_s = requests(all_writes, own(1), [write_bytes_per_s, all_written]);
        let time = |us: Option<f64>, per_s: f64| us.unwrap_or(0.0) * per_s / 1e6;
        let reading = sum_of(devices, |load| time(load.read_latency_us, load.reads_per_s));
        let writing = sum_of(devices, |load| time(load.write_latency_us, load.writes_per_s));
        let queue_depth = reading * share(reads_per_s, all_reads) + writing * share(writes_per_s, all_writes);
        let queue_depth_all = sum(|load| load.queue_depth);
        let of_bytes = share(read_bytes_per_s + write_bytes_per_s, all_read + all_written);
        let of_requests = share(reads_per_s + writes_per_s, all_reads + all_writes);
        // Not all of ours may have gone to one of several devices: what is beyond all of it there was surely not ours.
        let is_theirs = |device: &&Part<DeviceLoad>| {
            let load = &device.mean;
            let beyond =
                (load.read_bytes_per_s - read).max(0.0) + (load.write_bytes_per_s - write_most).max(0.0);
            share(beyond, load.read_bytes_per_s + load.write_bytes_per_s) >= SHARE_MAX
        };
        let names = |devices: Vec<&Part<DeviceLoad>>| -> Vec<String> {
            devices.into_iter().map(|device| device.name.clone()).collect()
        };
        let theirs = names(devices.iter().filter(is_theirs).collect());
        Self {
            devices: if theirs.is_empty() { names(devices.iter().collect()) } else { theirs },
            reads_per_s,
            writes_per_s,
            read_bytes_per_s,
            write_bytes_per_s,
            queue_depth: queue_depth.min(queue_depth_all),
            queue_depth_all,
            share: of_bytes.max(of_requests),
        }
    }
}

fn sum_of(devices: &[Part<DeviceLoad>], of: impl Fn(&DeviceLoad) -> f64) -> f64 {
    devices.iter().map(|device| of(&device.mean)).sum()
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole).min(1.0) } else { 0.0 }
}

/// Requests of others: all but ours where these are known, else by the share of bytes. None has fewer bytes than a sector.
fn requests(all: f64, ours: Option<f64>, [others_bytes, all_bytes]: [f64; 2]) -> f64 {
    let others = ours.map_or(all * share(others_bytes, all_bytes), |ours| (all - ours).max(0.0));
    others.min(others_bytes / SECTOR_BYTES)
}

/// Length of the readings that have something.
fn length_s(during: &[&Resources], is_read: fn(&Resources) -> bool) -> f64 {
    during.iter().filter(|read| is_read(read)).map(|read| read.length_s).sum()
}

/// Whether what was read of something covers enough of the time in which devices were read.
fn covers(during: &[&Resources], is_read: fn(&Resources) -> bool) -> bool {
    length_s(during, is_read) >= length_s(during, |read| !read.devices.is_empty()) * COVERED_MIN
}

/// Bytes per second that this program read and wrote.
fn bytes_of_program(during: &[&Resources]) -> Option<[f64; 2]> {
    let own = |of: fn(&OwnLoad) -> Option<f64>| {
        weighted_mean(during.iter().filter_map(|read| Some((of(read.own.as_ref()?)?, read.length_s))))
    };
    let bytes = [own(|own| own.read_bytes_per_s)?, own(|own| own.write_bytes_per_s)?];
    covers(during, |read| read.own.is_some()).then_some(bytes)
}

/// The same with those of the trial's servers; none where one of them is not known.
fn bytes_of_ours(mut bytes: [f64; 2], setup: &Setup, during: &[&Resources]) -> Option<[f64; 2]> {
    match Servers::of(setup, during) {
        Servers::Absent | Servers::InProcess => Some(bytes),
        // One that was started again within the window was not read meanwhile.
        Servers::Seen { .. } if covers(during, |read| !read.servers.is_empty()) => {
            for server in servers_of(during) {
                bytes[0] += server.mean.read_bytes_per_s?;
                bytes[1] += server.mean.write_bytes_per_s?;
            }
            Some(bytes)
        }
        Servers::Seen { .. } | Servers::Unseen => None,
    }
}

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;
