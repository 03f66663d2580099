//! Groups of the second version: one hierarchy.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::{list, listed, number_of, read, set};
use super::place::Place;
use super::usage::{Usage, numbers};
use super::v1::{PERIOD_US, is_about, quota_us};
use super::{DeviceLimit, LimitError, Limits, Resource};

/// Sets the limits of a group that was made.
pub(super) fn set_limits(place: &Place, limits: &Limits) -> Result<(), LimitError> {
    let file = |name: &str| file_of(place, name);
    if !limits.cpu_set.is_empty() {
        let processors = listed(&limits.cpu_set);
        set(&file("cpuset.cpus"), &processors, |found| list(found) == list(&processors))?;
        // A set that a group above does not have reads back as it was set, and is not in effect.
        let effective = read(&file("cpuset.cpus.effective"))?;
        if list(&effective) != list(&processors) {
            return Err(LimitError::NotKept {
                path: file("cpuset.cpus.effective"),
                value: processors,
                found: effective.trim().to_owned(),
            });
        }
    }
    if let Some(bytes) = limits.memory_bytes {
        set(&file("memory.max"), &bytes.to_string(), |found| is_about(found, bytes))?;
        // A kernel without swap has no such file.
        let swap = file("memory.swap.max");
        if swap.exists() {
            set(&swap, "0", |found| found.trim() == "0")?;
        }
    }
    if let Some(cpus) = limits.cpus {
        let share = format!("{} {PERIOD_US}", quota_us(cpus));
        set(&file("cpu.max"), &share, |found| found.trim() == share)?;
    }
    for device in &limits.devices {
        if let Some(line) = line_of(device) {
            set(&file("io.max"), &line, |found| found.lines().any(|found| has_all(found, &line)))?;
        }
    }
    Ok(())
}

/// As that of the first version.
pub(super) fn lift(place: &Place, limits: &Limits) {
    if limits.cpus.is_some() {
        let _ = std::fs::write(file_of(place, "cpu.max"), "max");
    }
    for device in &limits.devices {
        let line = format!("{} riops=max wiops=max rbps=max wbps=max", device.device);
        let _ = std::fs::write(file_of(place, "io.max"), line);
    }
}

/// Takes away what is throttled in a group whose program is no more, as far as can be.
pub(super) fn lift_all(group: &Path) {
    let file = group.join("io.max");
    for line in read(&file).unwrap_or_default().lines() {
        let device = line.split_whitespace().next().unwrap_or_default();
        let _ = std::fs::write(&file, format!("{device} riops=max wiops=max rbps=max wbps=max"));
    }
}

fn file_of(place: &Place, name: &str) -> PathBuf {
    // Every resource has the same directory.
    place.directory(Resource::Memory).map(|directory| directory.join(name)).unwrap_or_default()
}

fn line_of(device: &DeviceLimit) -> Option<String> {
    let limits = [
        ("riops", device.read_iops),
        ("wiops", device.write_iops),
        ("rbps", device.read_bytes_per_s),
        ("wbps", device.write_bytes_per_s),
    ];
    let words: Vec<String> =
        limits.iter().filter_map(|(word, limit)| limit.map(|limit| format!("{word}={limit}"))).collect();
    (!words.is_empty()).then(|| format!("{} {}", device.device, words.join(" ")))
}

/// Whether a line has all words of another, which a kernel gives in its own order and with those that are not limited.
fn has_all(found: &str, wanted: &str) -> bool {
    wanted.split_whitespace().all(|word| found.split_whitespace().any(|one| one == word))
}

pub(super) fn usage(place: &Place) -> Result<Usage, LimitError> {
    // Files of controllers that are not given to the group are not there.
    let text = |name: &str| {
        let path = file_of(place, name);
        if path.exists() { read(&path) } else { Ok(String::new()) }
    };
    let (cpu, events) = (text("cpu.stat")?, text("memory.events")?);
    let us = |word: &str| Duration::from_micros(number_of(&cpu, word).unwrap_or_default());
    let mut usage = Usage {
        cpu: us("usage_usec"),
        throttled: us("throttled_usec"),
        throttled_periods: number_of(&cpu, "nr_throttled").unwrap_or_default(),
        memory_bytes: text("memory.current")?.trim().parse().unwrap_or_default(),
        memory_most_bytes: text("memory.peak")?.trim().parse().ok(),
        memory_at_limit: number_of(&events, "max").unwrap_or_default(),
        oom_kills: number_of(&events, "oom_kill").unwrap_or_default(),
        ..Usage::default()
    };
    usage.counts_devices = file_of(place, "io.stat").exists();
    for line in text("io.stat")?.lines() {
        let mut words = line.split_whitespace();
        let Some(at) = words.next().and_then(numbers) else { continue };
        let device = usage.devices.entry(at).or_default();
        for (word, count) in words.filter_map(|word| word.split_once('=')) {
            let Ok(count) = count.parse() else { continue };
            match word {
                "rios" => device.reads = count,
                "wios" => device.writes = count,
                "rbytes" => device.read_bytes = count,
                "wbytes" => device.written_bytes = count,
                _ => {}
            }
        }
    }
    Ok(usage)
}
