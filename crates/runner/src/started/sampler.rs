//! What started servers use while a trial runs, each second, as their control groups count it.

use std::collections::BTreeMap;
use std::time::Duration;

use instance::{DeviceUsage, GroupUse, Usage};
use record::{GroupLoad, Resources};

use crate::sampling::Sampler;

/// Time from one reading to the next.
const EVERY: Duration = Duration::from_secs(1);

/// The groups of a trial's servers, by the servers' names.
pub(crate) struct Groups {
    groups: Vec<(String, GroupUse)>,
    last: Option<(f64, BTreeMap<String, Usage>)>,
}

impl Groups {
    pub(super) fn new(groups: Vec<(String, GroupUse)>) -> Self {
        Self { groups, last: None }
    }
}

impl Sampler for Groups {
    fn name(&self) -> &'static str {
        "control groups of started servers"
    }

    fn every(&self) -> Duration {
        EVERY
    }

    fn sample(&mut self, at_s: f64) -> Option<Resources> {
        let read = self.groups.iter().filter_map(|(name, group)| Some((name.clone(), group.usage().ok()?)));
        let now: BTreeMap<String, Usage> = read.collect();
        let (before_s, before) = self.last.replace((at_s, now.clone()))?;
        let length_s = at_s - before_s;
        let loads =
            now.iter().filter_map(|(name, now)| Some((name.clone(), load(before.get(name)?, now, length_s))));
        let groups: BTreeMap<String, GroupLoad> = loads.collect();
        (length_s > 0.0 && !groups.is_empty()).then(|| Resources {
            end_s: at_s,
            length_s,
            groups,
            ..Resources::default()
        })
    }
}

fn load(before: &Usage, now: &Usage, length_s: f64) -> GroupLoad {
    let rate = |now: Duration, before: Duration| now.saturating_sub(before).as_secs_f64() / length_s;
    let sum = |usage: &Usage, of: fn(&DeviceUsage) -> u64| usage.devices.values().map(of).sum::<u64>();
    // A group that did nothing yet is counted, and names no device.
    let devices = |of: fn(&DeviceUsage) -> u64| {
        now.counts_devices.then(|| sum(now, of).saturating_sub(sum(before, of)) as f64 / length_s)
    };
    GroupLoad {
        cpu_cores: rate(now.cpu, before.cpu),
        throttled_cores: rate(now.throttled, before.throttled),
        memory_bytes: now.memory_bytes,
        reads_per_s: devices(|device| device.reads),
        writes_per_s: devices(|device| device.writes),
        read_bytes_per_s: devices(|device| device.read_bytes),
        write_bytes_per_s: devices(|device| device.written_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_is_of_the_time_between_two_readings_and_never_negative() {
        let usage = |cpu_ms, throttled_ms| Usage {
            cpu: Duration::from_millis(cpu_ms),
            throttled: Duration::from_millis(throttled_ms),
            memory_bytes: 7,
            ..Usage::default()
        };
        let load_of = load(&usage(1_000, 500), &usage(2_500, 800), 2.0);
        assert_eq!((load_of.cpu_cores, load_of.throttled_cores, load_of.memory_bytes), (0.75, 0.15, 7));
        assert_eq!((load_of.reads_per_s, load_of.writes_per_s), (None, None), "devices are not counted");
        let device = |reads, writes| {
            let usage = DeviceUsage { reads, writes, read_bytes: reads * 512, written_bytes: writes * 4096 };
            let devices = [(instance::Device::default(), usage)].into();
            Usage { devices, counts_devices: true, ..Usage::default() }
        };
        let load_of = load(&device(10, 100), &device(10, 220), 2.0);
        assert_eq!((load_of.reads_per_s, load_of.writes_per_s), (Some(0.0), Some(60.0)));
        assert_eq!((load_of.read_bytes_per_s, load_of.write_bytes_per_s), (Some(0.0), Some(245_760.0)));
        let idle = Usage { counts_devices: true, ..Usage::default() };
        let load_of = load(&idle, &idle, 2.0);
        assert_eq!(
            (load_of.reads_per_s, load_of.read_bytes_per_s),
            (Some(0.0), Some(0.0)),
            "it read nothing"
        );
        assert_eq!(load(&usage(9, 9), &usage(1, 1), 1.0).cpu_cores, 0.0, "of a group that was made anew");
    }
}
