//! Memory that this process may still use, and what a job needs of it. A process that goes past the limit of its control
//! group is killed without a word, so that it is reckoned before the start.
//!
//! Limits are those of control groups (v1 and v2, from the process' own up), of the address space (`ulimit -v`), and what
//! the kernel says is available (proc(5), cgroups(7), the kernel's cgroup-v1/memory.rst and cgroup-v2.rst). Where one cannot
//! be read it is not heeded: nothing is refused for what is not known.

use std::fs;
use std::path::{Path, PathBuf};

use load::{Size, intervals_max};
use record::Latency;
use rustix::process::{Resource, getrlimit};

use crate::buffer::Buffers;
use crate::engine::kinds;
use crate::job::Job;
use crate::verify::STATE_BYTES;

/// What a process may still use, and what keeps it from more.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Allowance {
    bytes: u64,
    /// As a clause.
    because: String,
}

/// Memory of the machine; none if the system does not tell.
#[must_use]
pub fn machine_memory_bytes() -> Option<u64> {
    let system = rustix::system::sysinfo();
    (system.totalram as u64).checked_mul(u64::from(system.mem_unit)).filter(|&bytes| bytes > 0)
}

/// Why a job's blocks and latencies do not fit into memory, if they do not.
pub(crate) fn lack(job: &Job) -> Option<String> {
    lack_of(job, &usable(Path::new("/"))?)
}

fn lack_of(job: &Job, usable: &Allowance) -> Option<String> {
    let threads = threads(job);
    let [blocks, latencies] = needed(job);
    let needed = blocks.saturating_add(latencies);
    (needed > usable.bytes).then(|| {
        format!(
            "outstanding: {threads} {} with {} of {} in flight need {} MiB for blocks and {} MiB for \
             latencies. This process may use only {} MiB more ({}). Use fewer outstanding I/Os or threads, \
             use smaller blocks, or raise the limit",
            if threads == 1 { "thread" } else { "threads" },
            if job.outstanding == 1 { "one block".to_owned() } else { format!("{} blocks", job.outstanding) },
            Size(job.slot().0),
            blocks >> 20,
            latencies >> 20,
            usable.bytes >> 20,
            usable.because
        )
    })
}

/// Memory for the blocks in flight and for latencies.
fn needed(job: &Job) -> [u64; 2] {
    let threads = threads(job);
    let (bytes, reads, writes) = job.slot();
    let blocks = Buffers::bytes(job.outstanding, bytes, reads, writes);
    let blocks = blocks.map_or(u64::MAX, |bytes| (bytes as u64).saturating_mul(threads.into()));
    [blocks, latency_bytes(job, threads)]
}

/// Why what must be known of so many pages does not fit into memory, if it does not.
pub(crate) fn lack_of_states(job: &Job, pages: u64) -> Option<String> {
    lack_of_room_for_states(job, pages, &usable(Path::new("/"))?)
}

fn lack_of_room_for_states(job: &Job, pages: u64, usable: &Allowance) -> Option<String> {
    let states = pages.saturating_mul(STATE_BYTES);
    let needed = needed(job).into_iter().fold(states, u64::saturating_add);
    (needed > usable.bytes).then(|| {
        format!(
            "block_size: the state of {pages} pages of {} needs {} MiB ({STATE_BYTES} bytes per page), or \
             {} MiB with blocks in flight and latencies. This process may use only {} MiB more ({}). Use \
             larger pages, smaller files or a part of them (region), or raise the limit",
            Size(job.block_bytes),
            states >> 20,
            needed >> 20,
            usable.bytes >> 20,
            usable.because
        )
    })
}

fn threads(job: &Job) -> u32 {
    let pools = job.pools.iter().map(|pool| pool.threads).fold(0, u32::saturating_add);
    if job.pools.is_empty() || job.in_turn { job.threads } else { pools }
}

/// Memory that the threads' histograms take at most.
fn latency_bytes(job: &Job, threads: u32) -> u64 {
    let times = if job.pacing.is_open() { 3 } else { 1 };
    u64::from(threads) * intervals_max(threads) as u64 * kinds(job).len() as u64 * times * Latency::BYTES
}

/// The least of all allowances; none if nothing is known.
fn usable(root: &Path) -> Option<Allowance> {
    let known = control_groups(root).into_iter().chain(available(root)).chain(address_space(root));
    known.min_by_key(|allowance| allowance.bytes)
}

fn read(root: &Path, path: impl AsRef<Path>) -> Option<String> {
    let path = path.as_ref();
    fs::read_to_string(root.join(path.strip_prefix("/").unwrap_or(path))).ok()
}

/// What the kernel thinks that a program can have without swapping.
fn available(root: &Path) -> Option<Allowance> {
    let text = read(root, "/proc/meminfo")?;
    let kib: u64 = field(&text, "MemAvailable:")?;
    Some(Allowance { bytes: kib << 10, because: "MemAvailable of /proc/meminfo".to_owned() })
}

fn address_space(root: &Path) -> Option<Allowance> {
    let limit = getrlimit(Resource::As).current?;
    let pages: u64 = read(root, "/proc/self/statm")?.split(' ').next()?.parse().ok()?;
    let used = pages.saturating_mul(rustix::param::page_size() as u64);
    let because = format!("its address space is limited to {} MiB, ulimit -v", limit >> 20);
    Some(Allowance { bytes: limit.saturating_sub(used), because })
}

/// The number behind a name in lines of names and numbers.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()?.parse().ok())?)
}

/// Files of a control group, which differ by version.
struct Version {
    limit: &'static str,
    usage: &'static str,
    /// What counts as used and is given back when memory is short.
    caches: [&'static str; 2],
}

const FIRST: Version = Version {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    caches: ["total_inactive_file", "total_active_file"],
};
const SECOND: Version =
    Version { limit: "memory.max", usage: "memory.current", caches: ["inactive_file", "active_file"] };

/// What each control group with a limit still allows, from the process' own up to the root of the hierarchy.
fn control_groups(root: &Path) -> Vec<Allowance> {
    let (Some(groups), Some(mounts)) = (read(root, "/proc/self/cgroup"), read(root, "/proc/self/mountinfo"))
    else {
        return Vec::new();
    };
    let mut allowances = Vec::new();
    for line in groups.lines() {
        // `4:memory:/a/b` of the first version, `0::/a/b` of the second.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let version = match controllers {
            "" => &SECOND,
            controllers if controllers.split(',').any(|one| one == "memory") => &FIRST,
            _ => continue,
        };
        let Some((mount, directory)) = directory(&mounts, version, Path::new(path)) else { continue };
        let own_and_above = directory.ancestors().take_while(|above| above.starts_with(&mount));
        allowances.extend(own_and_above.filter_map(|group| allowance(root, group, version)));
    }
    allowances
}

/// Where the hierarchy is mounted, and where in it the process' own group is.
fn directory(mounts: &str, version: &Version, group: &Path) -> Option<(PathBuf, PathBuf)> {
    mounts.lines().find_map(|line| {
        let (before, behind) = line.split_once(" - ")?;
        let mut behind = behind.split(' ');
        let (kind, options) = (behind.next()?, behind.nth(1)?);
        let is_it = match version.limit == SECOND.limit {
            true => kind == "cgroup2",
            false => kind == "cgroup" && options.split(',').any(|option| option == "memory"),
        };
        let mut before = before.split(' ').skip(3);
        let (top, mount) = (before.next()?, PathBuf::from(before.next()?));
        // In a container the mount may show a part of the hierarchy only.
        let within = group.strip_prefix(top).or_else(|_| group.strip_prefix("/")).ok()?;
        is_it.then(|| (mount.clone(), mount.join(within)))
    })
}

fn allowance(root: &Path, group: &Path, version: &Version) -> Option<Allowance> {
    let number = |name: &str| read(root, group.join(name))?.trim().parse::<u64>().ok();
    // `max` of the second version is no number; the first one says so by one that no machine has.
    let limit = number(version.limit).filter(|&limit| limit < 1 << 60)?;
    let used = number(version.usage).unwrap_or(0);
    let stat = read(root, group.join("memory.stat")).unwrap_or_default();
    let caches: u64 = version.caches.iter().filter_map(|name| field(&stat, name)).sum();
    let bytes = limit.saturating_sub(used.saturating_sub(caches));
    let because = format!("the limit of its control group {} is {} MiB", group.display(), limit >> 20);
    Some(Allowance { bytes, because })
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
