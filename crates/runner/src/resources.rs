//! What the machine does while a trial runs: processors and pressure, and the devices by name, as differences of the
//! kernel's counters between two readings.
//!
//! Nothing is judged here. A counter that goes backwards, as idle time can and a processor's counters do when it
//! is unplugged, counts as one that stood still: there are no negative figures.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use load::Ticks;
use record::{DeviceLoad, MachineLoad, Resources};

use crate::process::Stat;
use crate::sampling::Sampler;

/// Bytes of a sector in `/proc/diskstats`, whatever the device's own are.
const SECTOR_BYTES: f64 = 512.0;

/// Time from one reading to the next.
const EVERY: Duration = Duration::from_secs(1);
/// Shortest time between readings; the kernel counts in ticks of 10 ms.
const SHORTEST_S: f64 = 0.5;

/// Reads counters again and again, and gives what happened in between.
#[derive(Debug)]
pub(crate) struct Counted<C> {
    last: Option<(f64, C)>,
}

impl<C> Counted<C> {
    pub(crate) fn new() -> Self {
        Self { last: None }
    }

    /// Two readings with the time between them and its end, in seconds. None at the first, and where less than half a
    /// second has passed.
    pub(crate) fn read(&mut self, at_s: f64, read: impl FnOnce() -> C) -> Option<(C, &C, f64)> {
        if self.last.as_ref().is_some_and(|(last_s, _)| at_s - last_s < SHORTEST_S) {
            return None;
        }
        let (last_s, last) = self.last.replace((at_s, read()))?;
        let (_, now) = self.last.as_ref()?;
        Some((last, now, at_s - last_s))
    }
}

/// Reads processors and pressure.
#[derive(Debug)]
pub(crate) struct Machine(Counted<Counters>);

impl Machine {
    pub(crate) fn new() -> Self {
        Self(Counted::new())
    }
}

impl Sampler for Machine {
    fn name(&self) -> &'static str {
        "processors"
    }

    fn every(&self) -> Duration {
        EVERY
    }

    fn sample(&mut self, at_s: f64) -> Option<Resources> {
        let (before, now, length_s) = self.0.read(at_s, Counters::read)?;
        let machine = Some(difference(&before, now, length_s));
        Some(Resources { end_s: at_s, length_s, machine, ..Resources::default() })
    }
}

/// Reads block devices.
#[derive(Debug)]
pub(crate) struct Devices {
    /// The kernel's names, such as `nvme0n1`.
    names: Vec<String>,
    counted: Counted<BTreeMap<String, DeviceCounters>>,
}

impl Devices {
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self { names, counted: Counted::new() }
    }
}

impl Sampler for Devices {
    fn name(&self) -> &'static str {
        "devices"
    }

    fn every(&self) -> Duration {
        EVERY
    }

    fn sample(&mut self, at_s: f64) -> Option<Resources> {
        let names = &self.names;
        let read = || {
            let text = fs::read_to_string("/proc/diskstats").unwrap_or_default();
            let of = |name: &String| Some((name.clone(), parse_diskstats(&text, name)?));
            names.iter().filter_map(of).collect()
        };
        let (before, now, length_s) = self.counted.read(at_s, read)?;
        // A device that was not there before has no difference yet.
        let load = |(name, now): (&String, &DeviceCounters)| {
            Some((name.clone(), now.since(before.get(name)?).load(length_s)))
        };
        let devices: BTreeMap<String, DeviceLoad> = now.iter().filter_map(load).collect();
        (!devices.is_empty()).then(|| Resources { end_s: at_s, length_s, devices, ..Resources::default() })
    }
}

/// All counters of processors at one time.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counters {
    cores: BTreeMap<u32, Ticks>,
    /// Of all threads of this program.
    own: Option<u64>,
    pressure_cpu_us: Option<u64>,
    pressure_io_us: Option<u64>,
    pressure_memory_us: Option<u64>,
    dirty_bytes: Option<u64>,
}

impl Counters {
    fn read() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            cores: cores_of(&text("/proc/stat")),
            own: Stat::of(Path::new("/proc"), std::process::id()).map(|own| own.ticks),
            pressure_cpu_us: parse_pressure(&text("/proc/pressure/cpu")),
            pressure_io_us: parse_pressure(&text("/proc/pressure/io")),
            pressure_memory_us: parse_pressure(&text("/proc/pressure/memory")),
            dirty_bytes: parse_dirty(&text("/proc/meminfo")),
        }
    }
}

fn cores_of(stat: &str) -> BTreeMap<u32, Ticks> {
    Ticks::of_stat(stat).filter_map(|(core, ticks)| Some((core?, ticks))).collect()
}

fn difference(before: &Counters, now: &Counters, length_s: f64) -> MachineLoad {
    // A processor that was plugged in meanwhile has no earlier reading, and is left out until it has one.
    let cores: Vec<Ticks> = now
        .cores
        .iter()
        .filter_map(|(number, core)| before.cores.get(number).map(|before| core.since(before)))
        .collect();
    let all = cores.iter().fold(Ticks::default(), |all, core| all.plus(core));
    let pressure = |before, now| pressure_share(before, now, length_s);
    MachineLoad {
        cpu_busy_share: cores.iter().map(|core| share(core.busy() + core.steal, core.total())).collect(),
        cpu_steal_share: share(all.steal, all.total()),
        cpu_interrupt_share: share(all.interrupts(), all.total()),
        cpu_own_share: now
            .own
            .zip(before.own)
            .map(|(now, before)| share(now.saturating_sub(before), all.total())),
        pressure_cpu_share: pressure(before.pressure_cpu_us, now.pressure_cpu_us),
        pressure_io_share: pressure(before.pressure_io_us, now.pressure_io_us),
        pressure_memory_share: pressure(before.pressure_memory_us, now.pressure_memory_us),
        memory_dirty_fall_bytes_per_s: before
            .dirty_bytes
            .zip(now.dirty_bytes)
            .map(|(before, now)| (before as f64 - now as f64) / length_s),
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn pressure_share(before_us: Option<u64>, now_us: Option<u64>, length_s: f64) -> Option<f64> {
    let waited_us = now_us?.saturating_sub(before_us?);
    Some((waited_us as f64 / 1e6 / length_s).min(1.0))
}

/// The microseconds in which some task waited, of a file below `/proc/pressure`.
fn parse_pressure(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

/// Bytes that programs changed in memory and that no device has yet, by `/proc/meminfo`.
fn parse_dirty(text: &str) -> Option<u64> {
    let kib = |name: &str| {
        let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
        rest.trim().trim_end_matches(" kB").parse::<u64>().ok()
    };
    Some((kib("Dirty:")? + kib("Writeback:")?) * 1024)
}

/// Counters of a block device, or a difference of such.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct DeviceCounters {
    reads: u64,
    sectors_read: u64,
    /// Milliseconds that all reads together took.
    read_ms: u64,
    writes: u64,
    sectors_written: u64,
    /// Milliseconds that all writes together took.
    write_ms: u64,
    /// Milliseconds in which there was at least one request.
    busy_ms: u64,
    /// Milliseconds that all requests together spent in the queue and in the device.
    queue_ms: u64,
    /// Flushes of its cache; none of a kernel before 5.5.
    flushes: Option<u64>,
}

impl DeviceCounters {
    fn since(&self, before: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(before.reads),
            sectors_read: self.sectors_read.saturating_sub(before.sectors_read),
            read_ms: self.read_ms.saturating_sub(before.read_ms),
            writes: self.writes.saturating_sub(before.writes),
            sectors_written: self.sectors_written.saturating_sub(before.sectors_written),
            write_ms: self.write_ms.saturating_sub(before.write_ms),
            busy_ms: self.busy_ms.saturating_sub(before.busy_ms),
            queue_ms: self.queue_ms.saturating_sub(before.queue_ms),
            flushes: self.flushes.zip(before.flushes).map(|(now, before)| now.saturating_sub(before)),
        }
    }

    /// What a difference over so many seconds comes to.
    fn load(&self, length_s: f64) -> DeviceLoad {
        let rate = |count: f64| count / length_s;
        let mean_us = |ms: u64, count: u64| (count > 0).then(|| ms as f64 * 1e3 / count as f64);
        DeviceLoad {
            reads_per_s: rate(self.reads as f64),
            writes_per_s: rate(self.writes as f64),
            read_bytes_per_s: rate(self.sectors_read as f64 * SECTOR_BYTES),
            write_bytes_per_s: rate(self.sectors_written as f64 * SECTOR_BYTES),
            queue_depth: rate(self.queue_ms as f64 / 1e3),
            busy_share: Some(rate(self.busy_ms as f64 / 1e3).min(1.0)),
            read_latency_us: mean_us(self.read_ms, self.reads),
            write_latency_us: mean_us(self.write_ms, self.writes),
            flushes_per_s: self.flushes.map(|flushes| rate(flushes as f64)),
        }
    }
}

/// The device's line of `/proc/diskstats`, by the kernel's Documentation/admin-guide/iostats.rst.
fn parse_diskstats(text: &str, device: &str) -> Option<DeviceCounters> {
    let fields = |line: &str| -> Option<Vec<u64>> {
        let mut fields = line.split_ascii_whitespace().skip(2);
        (fields.next()? == device).then(|| fields.map_while(|field| field.parse().ok()).collect())
    };
    let fields = text.lines().find_map(fields)?;
    Some(DeviceCounters {
        reads: *fields.first()?,
        sectors_read: *fields.get(2)?,
        read_ms: *fields.get(3)?,
        writes: *fields.get(4)?,
        sectors_written: *fields.get(6)?,
        write_ms: *fields.get(7)?,
        busy_ms: *fields.get(9)?,
        queue_ms: *fields.get(10)?,
        // Before it four figures of discards.
        flushes: fields.get(15).copied(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "\
cpu  14074 0 6045 163613 1764 0 122 93 0 0
cpu0 6185 0 2202 84272 116 0 11 42 0 0
cpu1 7888 0 3842 79340 1647 3 111 50 7000 0
intr 4242 1 2
ctxt 99";

    const DISKSTATS: &str = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 48546 7889 4188322 41275 33791 30222 4406304 17935 3 23020 60619 10374 13 883760 1126 4469 281
 254       1 vda1 1 2 3 4 5 6 7 8 9 10 11";

    fn counters(stat: &str) -> Counters {
        Counters { cores: cores_of(stat), ..Counters::default() }
    }

    fn disk(reads: u64, queue_ms: u64) -> DeviceCounters {
        let (read_ms, busy_ms) = (reads / 10, queue_ms / 10);
        let writes = DeviceCounters { writes: 10, sectors_written: 80, ..DeviceCounters::default() };
        DeviceCounters { reads, sectors_read: reads * 8, read_ms, busy_ms, queue_ms, ..writes }
    }

    #[test]
    fn cores_are_read_one_by_one_and_guests_not_twice() {
        let cores = cores_of(STAT);
        assert_eq!(cores.keys().copied().collect::<Vec<_>>(), [0, 1]);
        let core = Ticks {
            user: 7_888,
            system: 3_842,
            idle: 79_340,
            io_wait: 1_647,
            interrupt: 3,
            soft_interrupt: 111,
            steal: 50,
        };
        assert_eq!(cores[&1], core);
        assert_eq!(cores_of("cpu0 1 2 3 4")[&0], Ticks { user: 3, system: 3, idle: 4, ..Ticks::default() });
        assert!(cores_of("").is_empty());
    }

    #[test]
    fn shares_are_of_the_time_between_two_readings() {
        let before = counters("cpu0 0 0 0 0 0 0 0 0\ncpu1 100 0 0 100 0 0 0 0");
        let now = counters("cpu0 30 0 10 40 10 0 5 5\ncpu1 100 0 0 200 0 0 0 0");
        let resources = difference(&before, &now, 1.0);
        assert_eq!(resources.cpu_busy_share, [0.5, 0.0]);
        assert_eq!((resources.cpu_steal_share, resources.cpu_interrupt_share), (0.025, 0.025));
    }

    #[test]
    fn counters_that_go_backwards_give_no_negative_figure() {
        let before = counters("cpu0 900 0 0 900 90 0 0 9\ncpu1 5 0 0 5 0 0 0 0");
        let now = counters("cpu0 10 0 0 950 20 0 0 0\ncpu2 7 0 0 7 0 0 0 0");
        let resources = difference(&before, &now, 1.0);
        assert_eq!(resources.cpu_busy_share, [0.0], "cpu1 left, cpu2 has no earlier reading");
        assert_eq!(resources.cpu_steal_share, 0.0);
        let device = disk(90, 40).since(&disk(100, 50)).load(1.0);
        assert_eq!((device.reads_per_s, device.queue_depth, device.read_latency_us), (0.0, 0.0, None));
        assert_eq!(pressure_share(Some(10), Some(5), 1.0), Some(0.0));
    }

    #[test]
    fn no_time_between_two_readings_is_no_division_by_zero() {
        let resources = difference(&counters(STAT), &counters(STAT), 1.0);
        assert_eq!(resources.cpu_busy_share, [0.0, 0.0]);
        let mut machine = Machine::new();
        assert_eq!((machine.sample(1.0), machine.sample(1.0), machine.sample(0.5)), (None, None, None));
    }

    #[test]
    fn pressure_is_some_tasks_waiting_and_none_where_the_kernel_has_none() {
        let text = "some avg10=1.24 avg60=0.95 avg300=0.86 total=14056855\nfull avg10=0.00 total=7\n";
        assert_eq!(parse_pressure(text), Some(14_056_855));
        for text in ["", "full avg10=0.00 total=7", "some avg10=1.24", "some total=much"] {
            assert_eq!(parse_pressure(text), None, "{text:?}");
        }
        assert_eq!(pressure_share(Some(0), Some(250_000), 0.5), Some(0.5));
        assert_eq!(pressure_share(Some(0), Some(9_000_000), 1.0), Some(1.0));
        assert_eq!(pressure_share(None, Some(1), 1.0), None);
        assert_eq!(difference(&counters(STAT), &counters(STAT), 1.0).pressure_io_share, None);
    }

    #[test]
    fn what_waits_in_memory_to_be_written_falls_and_rises() {
        let text =
            "MemTotal: 9 kB\nDirty:              3000 kB\nWriteback:           96 kB\nWritebackTmp: 7 kB\n";
        assert_eq!(parse_dirty(text), Some(3096 * 1024));
        assert_eq!(parse_dirty("Dirty: 5 kB\n"), None);
        let at = |dirty_bytes| Counters { dirty_bytes, ..Counters::default() };
        let fall = |before, now| difference(&at(before), &at(now), 2.0).memory_dirty_fall_bytes_per_s;
        assert_eq!((fall(Some(5_000), Some(1_000)), fall(Some(1_000), Some(5_000))), (Some(2e3), Some(-2e3)));
        assert_eq!(fall(None, Some(1)), None);
    }

    #[test]
    fn the_device_is_found_by_its_whole_name() {
        let device = DeviceCounters {
            reads: 48_546,
            sectors_read: 4_188_322,
            read_ms: 41_275,
            writes: 33_791,
            sectors_written: 4_406_304,
            write_ms: 17_935,
            busy_ms: 23_020,
            queue_ms: 60_619,
            flushes: Some(4_469),
        };
        assert_eq!(parse_diskstats(DISKSTATS, "vda"), Some(device));
        let before_5_5 = parse_diskstats(DISKSTATS, "vda1").unwrap();
        assert_eq!((before_5_5.queue_ms, before_5_5.flushes), (11, None));
        assert_eq!(parse_diskstats(DISKSTATS, "vd"), None);
        assert_eq!(parse_diskstats("8 0 sda 1 2", "sda"), None);
    }

    #[test]
    fn device_rates_are_a_second_and_queue_depth_is_time_in_queue_by_time() {
        let device = disk(3_000, 4_500).since(&disk(1_000, 500)).load(0.5);
        assert_eq!((device.reads_per_s, device.read_bytes_per_s), (4_000.0, 16_384_000.0));
        assert_eq!((device.writes_per_s, device.write_bytes_per_s), (0.0, 0.0));
        assert_eq!((device.queue_depth, device.busy_share), (8.0, Some(0.8)));
        assert_eq!(
            (device.read_latency_us, device.write_latency_us),
            (Some(100.0), None),
            "of no write there is no time"
        );
    }

    #[test]
    fn this_machine_gives_shares_between_none_and_all() {
        let mut machine = Machine::new();
        assert_eq!(machine.sample(0.0), None);
        let load = machine.sample(1.0).unwrap().machine.unwrap();
        assert!(!load.cpu_busy_share.is_empty());
        assert!(load.cpu_busy_share.iter().all(|share| (0.0..=1.0).contains(share)));
        let mut devices = Devices::new(vec!["a device that is not there".to_owned()]);
        assert_eq!(devices.sample(0.0), None);
        assert_eq!(devices.sample(1.0), None, "no line that holds nothing");
    }
}
