//! What the machine does while a trial runs: processors, pressure and the device, as differences of the kernel's
//! counters between two readings.
//!
//! Nothing is judged here. A counter that goes backwards, as idle time can and a processor's counters do when it
//! is unplugged, counts as one that stood still: there are no negative figures.

use std::collections::BTreeMap;
use std::fs;

use record::Resources;

/// Bytes of a sector in `/proc/diskstats`, whatever the device's own are.
const SECTOR_BYTES: f64 = 512.0;

/// Shortest time between readings; the kernel counts in ticks of 10 ms.
const SHORTEST_S: f64 = 0.5;

/// Reads the kernel's counters, and gives what happened since it did so last.
#[derive(Debug)]
pub(crate) struct Meter {
    device: Option<String>,
    last: Option<(f64, Counters)>,
}

impl Meter {
    /// A meter of this machine and, if given, of the block device with this kernel name, such as `nvme0n1`.
    #[must_use]
    pub(crate) fn new(device: Option<&str>) -> Self {
        Self { device: device.map(str::to_owned), last: None }
    }

    /// What happened since the last reading, at a true time in seconds since the load began. None at the first call,
    /// and where less than half a second has passed: intervals may arrive late and several at once, counters are of
    /// the time that really passed.
    pub(crate) fn read(&mut self, at_s: f64) -> Option<Resources> {
        if self.last.as_ref().is_some_and(|(last_s, _)| at_s - last_s < SHORTEST_S) {
            return None;
        }
        let counters = Counters::read(self.device.as_deref());
        let (last_s, last) = self.last.replace((at_s, counters))?;
        let (_, now) = self.last.as_ref()?;
        (at_s > last_s).then(|| difference(&last, now, at_s, at_s - last_s))
    }
}

/// All counters at one time.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counters {
    cores: BTreeMap<u32, Core>,
    pressure_cpu_us: Option<u64>,
    pressure_io_us: Option<u64>,
    pressure_memory_us: Option<u64>,
    device: Option<DeviceCounters>,
}

impl Counters {
    fn read(device: Option<&str>) -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            cores: parse_stat(&text("/proc/stat")),
            pressure_cpu_us: parse_pressure(&text("/proc/pressure/cpu")),
            pressure_io_us: parse_pressure(&text("/proc/pressure/io")),
            pressure_memory_us: parse_pressure(&text("/proc/pressure/memory")),
            device: device.and_then(|name| parse_diskstats(&text("/proc/diskstats"), name)),
        }
    }
}

fn difference(before: &Counters, now: &Counters, end_s: f64, length_s: f64) -> Resources {
    // A processor that was plugged in meanwhile has no earlier reading, and is left out until it has one.
    let cores: Vec<Core> = now
        .cores
        .iter()
        .filter_map(|(number, core)| before.cores.get(number).map(|before| core.since(before)))
        .collect();
    let all = cores.iter().fold(Core::default(), |all, core| all.plus(core));
    let device = before.device.as_ref().zip(now.device.as_ref());
    let device = device.map(|(before, now)| now.since(before));
    let rate = |of: fn(&DeviceCounters) -> f64| device.as_ref().map(|device| of(device) / length_s);
    let pressure = |before, now| pressure_share(before, now, length_s);
    Resources {
        end_s,
        length_s,
        cpu_busy_share: cores
            .iter()
            .map(|core| share(core.total() - core.idle - core.io_wait, core.total()))
            .collect(),
        cpu_steal_share: share(all.steal, all.total()),
        cpu_interrupt_share: share(all.interrupt, all.total()),
        pressure_cpu_share: pressure(before.pressure_cpu_us, now.pressure_cpu_us),
        pressure_io_share: pressure(before.pressure_io_us, now.pressure_io_us),
        pressure_memory_share: pressure(before.pressure_memory_us, now.pressure_memory_us),
        device_reads_per_s: rate(|device| device.reads as f64),
        device_writes_per_s: rate(|device| device.writes as f64),
        device_read_bytes_per_s: rate(|device| device.sectors_read as f64 * SECTOR_BYTES),
        device_write_bytes_per_s: rate(|device| device.sectors_written as f64 * SECTOR_BYTES),
        device_queue_depth: rate(|device| device.queue_ms as f64 / 1e3),
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn pressure_share(before_us: Option<u64>, now_us: Option<u64>, length_s: f64) -> Option<f64> {
    let waited_us = now_us?.saturating_sub(before_us?);
    Some((waited_us as f64 / 1e6 / length_s).min(1.0))
}

/// Time of one processor, or a difference of such times, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Core {
    /// User, nice and system time; guests' time is in user and nice already.
    work: u64,
    idle: u64,
    io_wait: u64,
    /// Hard and soft interrupts.
    interrupt: u64,
    steal: u64,
}

impl Core {
    fn total(&self) -> u64 {
        self.work + self.idle + self.io_wait + self.interrupt + self.steal
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            work: self.work.saturating_sub(before.work),
            idle: self.idle.saturating_sub(before.idle),
            io_wait: self.io_wait.saturating_sub(before.io_wait),
            interrupt: self.interrupt.saturating_sub(before.interrupt),
            steal: self.steal.saturating_sub(before.steal),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            work: self.work + other.work,
            idle: self.idle + other.idle,
            io_wait: self.io_wait + other.io_wait,
            interrupt: self.interrupt + other.interrupt,
            steal: self.steal + other.steal,
        }
    }
}

/// The `cpuN` lines of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice.
/// Kernels before 2.6.11 wrote fewer; a field that is not there counts nothing.
fn parse_stat(text: &str) -> BTreeMap<u32, Core> {
    text.lines().filter_map(parse_stat_line).collect()
}

fn parse_stat_line(line: &str) -> Option<(u32, Core)> {
    let (number, times) = line.strip_prefix("cpu")?.split_once(' ')?;
    let times: Vec<u64> = times.split_ascii_whitespace().map_while(|time| time.parse().ok()).collect();
    let time = |field: usize| times.get(field).copied().unwrap_or(0);
    let core = Core {
        work: time(0) + time(1) + time(2),
        idle: time(3),
        io_wait: time(4),
        interrupt: time(5) + time(6),
        steal: time(7),
    };
    Some((number.parse().ok()?, core))
}

/// The microseconds in which some task waited, of a file below `/proc/pressure`.
fn parse_pressure(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

/// Counters of a block device, or a difference of such.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct DeviceCounters {
    reads: u64,
    sectors_read: u64,
    writes: u64,
    sectors_written: u64,
    /// Milliseconds that all requests together spent in the queue and in the device.
    queue_ms: u64,
}

impl DeviceCounters {
    fn since(&self, before: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(before.reads),
            sectors_read: self.sectors_read.saturating_sub(before.sectors_read),
            writes: self.writes.saturating_sub(before.writes),
            sectors_written: self.sectors_written.saturating_sub(before.sectors_written),
            queue_ms: self.queue_ms.saturating_sub(before.queue_ms),
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
        writes: *fields.get(4)?,
        sectors_written: *fields.get(6)?,
        queue_ms: *fields.get(10)?,
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
        Counters { cores: parse_stat(stat), ..Counters::default() }
    }

    fn disk(reads: u64, queue_ms: u64) -> Counters {
        let device =
            DeviceCounters { reads, sectors_read: reads * 8, writes: 10, sectors_written: 80, queue_ms };
        Counters { device: Some(device), ..Counters::default() }
    }

    #[test]
    fn cores_are_read_one_by_one_and_guests_not_twice() {
        let cores = parse_stat(STAT);
        assert_eq!(cores.keys().copied().collect::<Vec<_>>(), [0, 1]);
        let core = Core { work: 11_730, idle: 79_340, io_wait: 1_647, interrupt: 114, steal: 50 };
        assert_eq!(cores[&1], core);
        assert_eq!(parse_stat("cpu0 1 2 3 4")[&0], Core { work: 6, idle: 4, ..Core::default() });
        assert!(parse_stat("").is_empty());
    }

    #[test]
    fn shares_are_of_the_time_between_two_readings() {
        let before = counters("cpu0 0 0 0 0 0 0 0 0\ncpu1 100 0 0 100 0 0 0 0");
        let now = counters("cpu0 30 0 10 40 10 0 5 5\ncpu1 100 0 0 200 0 0 0 0");
        let resources = difference(&before, &now, 7.0, 1.0);
        assert_eq!((resources.end_s, resources.length_s), (7.0, 1.0));
        assert_eq!(resources.cpu_busy_share, [0.5, 0.0]);
        assert_eq!((resources.cpu_steal_share, resources.cpu_interrupt_share), (0.025, 0.025));
    }

    #[test]
    fn counters_that_go_backwards_give_no_negative_figure() {
        let before = counters("cpu0 900 0 0 900 90 0 0 9\ncpu1 5 0 0 5 0 0 0 0");
        let now = counters("cpu0 10 0 0 950 20 0 0 0\ncpu2 7 0 0 7 0 0 0 0");
        let resources = difference(&before, &now, 1.0, 1.0);
        assert_eq!(resources.cpu_busy_share, [0.0], "cpu1 left, cpu2 has no earlier reading");
        assert_eq!(resources.cpu_steal_share, 0.0);
        let resources = difference(&disk(100, 50), &disk(90, 40), 1.0, 1.0);
        assert_eq!((resources.device_reads_per_s, resources.device_queue_depth), (Some(0.0), Some(0.0)));
        assert_eq!(pressure_share(Some(10), Some(5), 1.0), Some(0.0));
    }

    #[test]
    fn no_time_between_two_readings_is_no_division_by_zero() {
        let resources = difference(&counters(STAT), &counters(STAT), 1.0, 1.0);
        assert_eq!(resources.cpu_busy_share, [0.0, 0.0]);
        let mut meter = Meter::new(None);
        assert_eq!((meter.read(1.0), meter.read(1.0), meter.read(0.5)), (None, None, None));
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
        let resources = difference(&counters(STAT), &counters(STAT), 1.0, 1.0);
        assert_eq!((resources.pressure_io_share, resources.device_reads_per_s), (None, None));
    }

    #[test]
    fn the_device_is_found_by_its_whole_name() {
        let device = DeviceCounters {
            reads: 48_546,
            sectors_read: 4_188_322,
            writes: 33_791,
            sectors_written: 4_406_304,
            queue_ms: 60_619,
        };
        assert_eq!(parse_diskstats(DISKSTATS, "vda"), Some(device));
        assert_eq!(parse_diskstats(DISKSTATS, "vda1").map(|device| device.queue_ms), Some(11));
        assert_eq!(parse_diskstats(DISKSTATS, "vd"), None);
        assert_eq!(parse_diskstats("8 0 sda 1 2", "sda"), None);
    }

    #[test]
    fn device_rates_are_a_second_and_queue_depth_is_time_in_queue_by_time() {
        let resources = difference(&disk(1_000, 500), &disk(3_000, 4_500), 2.0, 0.5);
        assert_eq!(resources.device_reads_per_s, Some(4_000.0));
        assert_eq!(resources.device_read_bytes_per_s, Some(16_384_000.0));
        assert_eq!(
            (resources.device_writes_per_s, resources.device_write_bytes_per_s),
            (Some(0.0), Some(0.0))
        );
        assert_eq!(resources.device_queue_depth, Some(8.0));
    }

    #[test]
    fn this_machine_gives_shares_between_none_and_all() {
        let mut meter = Meter::new(Some("a device that is not there"));
        assert_eq!(meter.read(0.0), None);
        let resources = meter.read(1.0).unwrap();
        assert!(!resources.cpu_busy_share.is_empty());
        assert!(resources.cpu_busy_share.iter().all(|share| (0.0..=1.0).contains(share)));
        assert_eq!(resources.device_reads_per_s, None);
    }
}
