//! Groups of the first version: one hierarchy a controller.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::{list, listed, number_of, read, set};
use super::place::{ACCOUNT, Place};
use super::usage::{Usage, numbers};
use super::{LimitError, Limits, Resource, throttle};

/// Time over which the share of processors is counted out, in microseconds: the kernel's own choice.
pub(super) const PERIOD_US: u64 = 100_000;
/// A kernel counts memory in pages, of up to so many bytes.
const PAGE_BYTES_MAX: u64 = 64 << 10;

fn file_of(place: &Place, resource: Resource, file: &str) -> Option<PathBuf> {
    place.directory(resource).map(|directory| directory.join(file))
}

/// Sets the limits of a group that was made.
pub(super) fn set_limits(place: &Place, limits: &Limits) -> Result<(), LimitError> {
    if let Some(directory) = place.directory(Resource::CpuSet) {
        set_processors(directory, limits)?;
    }
    if let (Some(bytes), Some(directory)) = (limits.memory_bytes, place.directory(Resource::Memory)) {
        set(&directory.join("memory.limit_in_bytes"), &bytes.to_string(), |found| is_about(found, bytes))?;
        // Memory and swap together, only where there is swap: with it, kernels do not count how often the limit was met.
        let with_swap = directory.join("memory.memsw.limit_in_bytes");
        if has_swap() && with_swap.exists() {
            set(&with_swap, &bytes.to_string(), |found| is_about(found, bytes))?;
        }
    }
    if let (Some(cpus), Some(directory)) = (limits.cpus, place.directory(Resource::Cpu)) {
        let quota = quota_us(cpus).to_string();
        set(&directory.join("cpu.cfs_period_us"), &PERIOD_US.to_string(), |found| {
            found.trim() == PERIOD_US.to_string()
        })?;
        set(&directory.join("cpu.cfs_quota_us"), &quota, |found| found.trim() == quota)?;
    }
    let Some(io) = place.directory(Resource::Io) else { return Ok(()) };
    let above = io.parent().map(throttle::throttled).unwrap_or_default();
    throttle::stricter(&limits.devices, &above).into_iter().try_for_each(|limit| throttle::impose(io, limit))
}

/// Takes away what makes processes wait. Nobody is told of what cannot be taken away: they then wait.
pub(super) fn lift(place: &Place, limits: &Limits) {
    if let (Some(_), Some(directory)) = (limits.cpus, place.directory(Resource::Cpu)) {
        let _ = std::fs::write(directory.join("cpu.cfs_quota_us"), "-1");
    }
    let Some(io) = place.directory(Resource::Io) else { return };
    for device in &limits.devices {
        for file in ["read_iops", "write_iops", "read_bps", "write_bps"] {
            let file = io.join(format!("blkio.throttle.{file}_device"));
            let _ = std::fs::write(file, format!("{} 0", device.device));
        }
    }
}

/// Whether anything is swapped to: the first line of the list is its head.
fn has_swap() -> bool {
    read(Path::new("/proc/swaps")).is_ok_and(|swaps| swaps.lines().nth(1).is_some())
}

/// A set has to be given before anything can join, also where it is that of the group above.
fn set_processors(directory: &Path, limits: &Limits) -> Result<(), LimitError> {
    let above = directory.parent().unwrap_or(directory);
    let nodes = read(&above.join("cpuset.mems"))?;
    let processors = match &limits.cpu_set[..] {
        [] => read(&above.join("cpuset.cpus"))?.trim().to_owned(),
        wanted => listed(wanted),
    };
    let same = |wanted: &str| {
        let wanted = list(wanted);
        move |found: &str| list(found) == wanted
    };
    set(&directory.join("cpuset.mems"), nodes.trim(), same(&nodes))?;
    set(&directory.join("cpuset.cpus"), &processors, same(&processors))
}

/// Time of processors in a period.
pub(super) fn quota_us(cpus: f64) -> u64 {
    (cpus * PERIOD_US as f64).round() as u64
}

/// Whether a file has that many bytes, but for a part of a page.
pub(super) fn is_about(found: &str, bytes: u64) -> bool {
    found.trim().parse::<u64>().is_ok_and(|found| found.abs_diff(bytes) < PAGE_BYTES_MAX)
}

pub(super) fn usage(place: &Place) -> Result<Usage, LimitError> {
    let text = |resource, file| match file_of(place, resource, file) {
        Some(path) if path.exists() => read(&path),
        _ => Ok(String::new()),
    };
    let number = |text: String| text.trim().parse::<u64>().ok();
    let throttled = text(Resource::Cpu, "cpu.stat")?;
    let counted = match place.of_controller(ACCOUNT) {
        Some(directory) => read(&directory.join("cpuacct.usage"))?,
        None => String::new(),
    };
    let cpu_ns = number(counted).unwrap_or_default();
    let mut usage = Usage {
        cpu: Duration::from_nanos(cpu_ns),
        throttled: Duration::from_nanos(number_of(&throttled, "throttled_time").unwrap_or_default()),
        throttled_periods: number_of(&throttled, "nr_throttled").unwrap_or_default(),
        memory_bytes: number(text(Resource::Memory, "memory.usage_in_bytes")?).unwrap_or_default(),
        memory_most_bytes: number(text(Resource::Memory, "memory.max_usage_in_bytes")?),
        memory_at_limit: number(text(Resource::Memory, "memory.failcnt")?).unwrap_or_default(),
        oom_kills: number_of(&text(Resource::Memory, "memory.oom_control")?, "oom_kill").unwrap_or_default(),
        ..Usage::default()
    };
    usage.counts_devices = true;
    for (file, is_bytes) in [("blkio.throttle.io_serviced", false), ("blkio.throttle.io_service_bytes", true)]
    {
        let text = text(Resource::Io, file)?;
        // One without any device has a line with the sum.
        usage.counts_devices &= !text.is_empty();
        add_devices(&mut usage, &text, is_bytes);
    }
    Ok(usage)
}

/// Lines such as `254:0 Read 12`.
fn add_devices(usage: &mut Usage, text: &str, is_bytes: bool) {
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(at), Some(kind), Some(count)) =
            (words.next().and_then(numbers), words.next(), words.next())
        else {
            continue;
        };
        let Ok(count) = count.parse::<u64>() else { continue };
        let device = usage.devices.entry(at).or_default();
        match (kind, is_bytes) {
            ("Read", false) => device.reads += count,
            ("Write", false) => device.writes += count,
            ("Read", true) => device.read_bytes += count,
            ("Write", true) => device.written_bytes += count,
            _ => {}
        }
    }
}
