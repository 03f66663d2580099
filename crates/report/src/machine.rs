//! The machine during the measured window of a trial: its processors, and its devices and servers by name.

use std::collections::BTreeMap;

use record::{DeviceLoad, MachineLoad, Mark, MeasuredTrial, Resources, Sample, ServerLoad, Setup};
use serde::Serialize;

use stats::weighted_mean;

use crate::background::BackgroundIo;
use crate::faults::{self, Fault};
use crate::replicas::{self, Replica};
use crate::servers::Servers;
use crate::trial::Generator;

/// The machine during the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Machine {
    /// CPU time of the whole machine an operation.
    pub cpu_us_per_operation: Option<f64>,
    /// CPU time of the load and of the servers that it loads, an operation, in microseconds; none where the processes of a server were not
    /// seen. Work of other programs is not in it.
    pub measurement_cpu_us_per_operation: Option<f64>,
    /// Share (0–1) of all cores that was busy.
    pub busy_share: Option<f64>,
    /// Share (0–1) of all cores that this program used.
    #[serde(skip)]
    pub(crate) own_share: Option<f64>,
    /// Share (0–1) of all cores that was busy with other work than the measurement: neither this program's nor that of the
    /// servers that it loads, and no interrupts. None where these are here, or may be, and were not seen.
    #[serde(skip)]
    pub(crate) others_share: Option<f64>,
    /// Share (0–1) of all cores' time that the hypervisor gave to others.
    pub steal_share: Option<f64>,
    /// Mean number of requests in the device's queue; none where there are several, which are told one by one.
    pub device_queue_depth: Option<f64>,
}

/// What was loaded beside the processors, and what went on beside the load.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Beside {
    /// Devices, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<Part<DeviceLoad>>,
    /// Servers on the machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Part<ServerLoad>>,
    /// What other programs did on the devices; none where no device was read, or where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_io: Option<BackgroundIo>,
    /// Why it is not known what they did.
    #[serde(skip)]
    pub(crate) background_unknown: Option<&'static str>,
    /// Copies of its databases on other servers, where servers told of any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<Replica>,
    /// What was broken on purpose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// Marked times; the outcome of the workload says more of them.
    #[serde(skip)]
    pub(crate) marks: Vec<Mark>,
    /// All readings of the machine, which a reader of the JSON finds in `resources.ndjson`.
    #[serde(skip)]
    pub(crate) resources: Vec<Resources>,
}

impl Beside {
    pub(crate) fn of(measured: &MeasuredTrial, during: &[&Resources]) -> Self {
        let devices = devices_of(during);
        let (background_io, background_unknown) = match BackgroundIo::of(measured, during) {
            Ok(background) => (background, None),
            Err(why) => (None, Some(why)),
        };
        Self {
            background_io,
            background_unknown,
            devices: if devices.len() > 1 { devices } else { Vec::new() },
            servers: servers_of(during),
            replicas: replicas::of(&measured.resources),
            faults: faults::of(measured),
            marks: measured.trial.marks.iter().cloned().chain(replicas::marks(&measured.resources)).collect(),
            resources: measured.resources.clone(),
        }
    }
}

/// Something of the machine that was loaded, by name: its means over the measured window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part<T> {
    /// Name.
    pub name: String,
    /// Means over the measured window.
    pub mean: T,
}

/// What was read of the machine within a window.
pub(crate) fn during<'a>(resources: &'a [Resources], window: &[&Sample]) -> Vec<&'a Resources> {
    let (Some(first), Some(last)) = (window.first(), window.last()) else { return Vec::new() };
    let (begin_s, end_s) = (first.end_s - first.length_s, last.end_s);
    let middle_s = |r: &Resources| r.end_s - r.length_s / 2.0;
    resources.iter().filter(|r| middle_s(r) > begin_s && middle_s(r) < end_s).collect()
}

pub(crate) fn machine_of(
    during: &[&Resources],
    (operations, measured_s): (u64, f64),
    generator: Generator,
    setup: Option<&Setup>,
) -> Machine {
    let servers = setup.map_or(Servers::Unseen, |setup| Servers::of(setup, during));
    let read = || during.iter().filter_map(|r| Some((r.machine.as_ref()?, r.length_s)));
    // Readings begin and end when they like: their mean is that of the window, their sum is not.
    let busy_cores = weighted_mean(read().map(|(load, s)| (load.cpu_busy_share.iter().sum::<f64>(), s)));
    let busy = |load: &MachineLoad| stats::mean(&load.cpu_busy_share).unwrap_or(0.0);
    let busy_share = weighted_mean(read().map(|(load, s)| (busy(load), s)));
    let us_per_operation = |used_cores: Option<f64>| {
        let used_cores = used_cores.filter(|&used| used > 0.0 && operations > 0);
        let us = used_cores.map(|used| used * measured_s * 1e6 / operations as f64);
        // The kernel counts the time of a machine and of a process in ticks of 10 ms and a thread's in nanoseconds: a whole that is less
        // than its part is only coarse, and is not shown.
        us.filter(|&us| generator.cpu_us_per_operation.is_none_or(|part| us >= part))
    };
    let devices = devices_of(during);
    let own_share = weighted_mean(read().filter_map(|(load, s)| Some((load.cpu_own_share?, s))));
    let steal_share = weighted_mean(read().map(|(load, s)| (load.cpu_steal_share, s)));
    let cores = during.iter().find_map(|r| Some(r.machine.as_ref()?.cpu_busy_share.len() as f64));
    let measurement_share = match (own_share, servers) {
        (Some(own), Servers::Absent | Servers::InProcess) => Some(own),
        (Some(own), Servers::Seen { cores: used }) => cores.map(|cores| own + used / cores),
        (None, Servers::Absent) => generator.all_cores_share,
        (Some(_), Servers::Unseen) | (None, Servers::InProcess | Servers::Seen { .. } | Servers::Unseen) => {
            None
        }
    };
    // The kernel counts stolen time as busy here, and that is told by itself. What it spends in interrupts it counts as nobody's:
    // those of a disk or a network that is loaded are the load's.
    let interrupts = weighted_mean(read().map(|(load, s)| (load.cpu_interrupt_share, s)));
    let nobodys = steal_share.unwrap_or(0.0) + interrupts.unwrap_or(0.0);
    let others = |(all, ours): (f64, f64)| (all - ours - nobodys).max(0.0);
    Machine {
        cpu_us_per_operation: us_per_operation(busy_cores),
        measurement_cpu_us_per_operation: us_per_operation(
            measurement_share.zip(cores).map(|(share, cores)| share * cores),
        ),
        own_share,
        others_share: busy_share.zip(measurement_share).map(others),
        busy_share,
        steal_share,
        device_queue_depth: devices
            .first()
            .filter(|_| devices.len() == 1)
            .map(|device| device.mean.queue_depth),
    }
}

/// The means of each device, by name.
pub(crate) fn devices_of(during: &[&Resources]) -> Vec<Part<DeviceLoad>> {
    let mut read: BTreeMap<&String, Vec<(&DeviceLoad, f64)>> = BTreeMap::new();
    for resources in during {
        resources
            .devices
            .iter()
            .for_each(|(name, load)| read.entry(name).or_default().push((load, resources.length_s)));
    }
    let part = |(name, read): (&String, Vec<(&DeviceLoad, f64)>)| {
        let some = |of: fn(&DeviceLoad) -> Option<f64>| {
            weighted_mean(read.iter().filter_map(|(load, s)| Some((of(load)?, *s))))
        };
        let mean = |of: fn(&DeviceLoad) -> f64| weighted_mean(read.iter().map(|(load, s)| (of(load), *s)));
        Some(Part {
            name: name.clone(),
            mean: DeviceLoad {
                reads_per_s: mean(|load| load.reads_per_s)?,
                writes_per_s: mean(|load| load.writes_per_s)?,
                read_bytes_per_s: mean(|load| load.read_bytes_per_s)?,
                write_bytes_per_s: mean(|load| load.write_bytes_per_s)?,
                queue_depth: mean(|load| load.queue_depth)?,
                busy_share: some(|load| load.busy_share),
                // A mean of means: of seconds with more reads no more than of others.
                read_latency_us: some(|load| load.read_latency_us),
                write_latency_us: some(|load| load.write_latency_us),
                flushes_per_s: some(|load| load.flushes_per_s),
            },
        })
    };
    read.into_iter().filter_map(part).collect()
}

/// The means of each server, by name.
pub(crate) fn servers_of(during: &[&Resources]) -> Vec<Part<ServerLoad>> {
    let mut read: BTreeMap<&String, Vec<(&ServerLoad, f64)>> = BTreeMap::new();
    for resources in during {
        resources
            .servers
            .iter()
            .for_each(|(name, load)| read.entry(name).or_default().push((load, resources.length_s)));
    }
    let part = |(name, read): (&String, Vec<(&ServerLoad, f64)>)| {
        let cpu_cores = weighted_mean(read.iter().map(|(load, s)| (load.cpu_cores, *s)))?;
        let memory_bytes = weighted_mean(read.iter().map(|(load, s)| (load.memory_bytes as f64, *s)))? as u64;
        let processes = read.iter().map(|(load, _)| load.processes).max()?;
        let some = |of: fn(&ServerLoad) -> Option<f64>| {
            weighted_mean(read.iter().filter_map(|(load, s)| Some((of(load)?, *s))))
        };
        let mean = ServerLoad {
            cpu_cores,
            memory_bytes,
            processes,
            read_bytes_per_s: some(|load| load.read_bytes_per_s),
            write_bytes_per_s: some(|load| load.write_bytes_per_s),
            cpu_wait_threads: some(|load| load.cpu_wait_threads),
        };
        Some(Part { name: name.clone(), mean })
    };
    read.into_iter().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;
    use crate::fixture::{self, Made, Sold};

    /// A single reading of a second, of which the reports after the first took a third, tripled the CPU time of each.
    #[test]
    fn cpu_time_of_an_operation_is_of_the_window_and_not_of_all_that_was_read() {
        let cpu_us = |read: &dyn Fn(&Resources) -> bool| {
            let mut trial = Made::read("read").rate(1_000.0, 700.0).trial(1);
            trial.resources.retain(read);
            Report::of(&fixture::study("disk", vec![trial])).trials[0].machine.cpu_us_per_operation.unwrap()
        };
        let whole = cpu_us(&|_| true);
        let begin = cpu_us(&|read| read.end_s < 6.5);
        assert!(whole > 0.0 && (begin / whole - 1.0).abs() < 1e-9, "{begin} and {whole}");
    }

    /// Calls that slept twice as long were told to cost twice the CPU: other programs kept the machine as busy as before, and half as many
    /// calls shared all of it.
    #[test]
    fn the_metric_holds_no_work_of_other_programs() {
        let cpu_us = |others: f64, is_seen: bool| {
            let mut trial = Sold::at("O", &[50.0]).trial(1);
            for read in &mut trial.resources {
                let machine = read.machine.as_mut().unwrap();
                (machine.cpu_busy_share, machine.cpu_own_share) = (vec![0.3 + others; 2], Some(0.1));
                let load = ServerLoad { cpu_cores: 0.4, ..ServerLoad::default() };
                read.servers = is_seen.then(|| ("store_1".to_owned(), load)).into_iter().collect();
            }
            let report = Report::of(&fixture::study("orders", vec![trial]));
            let trial = &report.trials[0];
            let metric = record::Metric::named("cpu_us_per_operation").unwrap();
            (crate::metrics::value(trial, metric), trial.machine.cpu_us_per_operation)
        };
        let ((alone, whole), (busy, busy_whole)) = (cpu_us(0.0, true), cpu_us(0.6, true));
        assert!(alone.is_some() && alone == busy, "{alone:?} and {busy:?}");
        assert!(
            (busy_whole.unwrap() / whole.unwrap() - 3.0).abs() < 1e-9,
            "the machine's is told as what it is"
        );
        assert!(
            (alone.unwrap() / whole.unwrap() - 1.0).abs() < 1e-9,
            "0.2 of the load and 0.4 of the server"
        );
        assert_eq!(cpu_us(0.6, false).0, None, "what a server used that was not seen is not known");
    }
}
