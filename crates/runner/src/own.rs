//! What this program was not given while it loads: processors and, where its control group has a quota, time within that. And what
//! it moved to and from storage itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::{OwnLoad, Resources};

use crate::process::Moved;
use crate::resources::Counted;
use crate::run_queue::Waited;
use crate::sampling::Sampler;

/// Time from one reading to the next.
const EVERY: Duration = Duration::from_secs(1);
/// Where control groups of either version stand.
const GROUPS: &str = "/sys/fs/cgroup";

/// Reads this program.
pub(crate) struct Own {
    group: Option<PathBuf>,
    counted: Counted<Counters>,
}

struct Counters {
    waited: Option<Waited>,
    throttled_s: Option<f64>,
    moved: Option<Moved>,
}

impl Own {
    pub(crate) fn new() -> Self {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self { group: statistics_of(Path::new(GROUPS), &groups), counted: Counted::new() }
    }
}

impl Sampler for Own {
    fn name(&self) -> &'static str {
        "program itself"
    }

    fn every(&self) -> Duration {
        EVERY
    }

    fn sample(&mut self, at_s: f64) -> Option<Resources> {
        let group = &self.group;
        let (before, now, length_s) = self.counted.read(at_s, || {
            let (proc, own) = (Path::new("/proc"), std::process::id());
            let throttled = group.as_ref().and_then(|file| fs::read_to_string(file).ok());
            Counters {
                waited: Waited::of(proc, own),
                throttled_s: throttled.and_then(|text| throttled_s(&text)),
                moved: Moved::of(proc, own),
            }
        })?;
        let moved = now.moved.zip(before.moved).map(|(now, before)| now.since(before));
        let per_s = |bytes: u64| bytes as f64 / length_s;
        let throttled = now.throttled_s.zip(before.throttled_s);
        let own = OwnLoad {
            cpu_wait_threads: now
                .waited
                .as_ref()
                .zip(before.waited.as_ref())
                .map(|(now, before)| now.since(before, length_s)),
            throttled_cores: throttled.map(|(now, before)| (now - before).max(0.0) / length_s),
            read_bytes_per_s: moved.map(|moved| per_s(moved.read_bytes)),
            write_bytes_per_s: moved.map(|moved| per_s(moved.dirtied_bytes)),
        };
        let is_empty = own == OwnLoad::default();
        (!is_empty).then(|| Resources { end_s: at_s, length_s, own: Some(own), ..Resources::default() })
    }
}

/// The file that tells for how long our group was throttled, below a place for control groups and by the text of
/// `/proc/self/cgroup`; none where it has no quota. Source: `cgroups(7)`.
fn statistics_of(groups: &Path, text: &str) -> Option<PathBuf> {
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        match controllers {
            "" => Some(groups.join(path).join("cpu.stat")),
            all if all.split(',').any(|one| one == "cpu") => {
                let places = ["cpu", controllers].map(|place| groups.join(place).join(path).join("cpu.stat"));
                places.into_iter().find(|file| file.exists())
            }
            _ => None,
        }
    };
    text.lines().filter_map(of_line).find(|file| file.exists())
}

/// Version 1 counts nanoseconds, version 2 microseconds.
fn throttled_s(text: &str) -> Option<f64> {
    let number = |name: &str| {
        let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
        rest.trim().parse::<f64>().ok()
    };
    number("throttled_time ").map(|ns| ns / 1e9).or_else(|| number("throttled_usec ").map(|us| us / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_either_version_is_found_by_what_the_kernel_says_of_us() {
        let groups = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let directory = groups.path().join(path);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("cpu.stat"), "").unwrap();
            directory.join("cpu.stat")
        };
        let (one, together, two) = (make("cpu/a"), make("cpu,cpuacct/b"), make("user/c"));
        for (text, expected) in [
            ("3:cpuset:/x\n2:cpu:/a\n0::/\n", Some(&one)),
            ("2:cpu,cpuacct:/b\n", Some(&together)),
            ("0::/user/c\n", Some(&two)),
            ("2:cpu:/nowhere\n0::/\n", None),
            ("", None),
        ] {
            assert_eq!(statistics_of(groups.path(), text).as_ref(), expected, "{text:?}");
        }
    }

    #[test]
    fn throttled_time_has_the_unit_of_its_version() {
        assert_eq!(throttled_s("nr_periods 5\nnr_throttled 4\nthrottled_time 1500000000\n"), Some(1.5));
        assert_eq!(throttled_s("usage_usec 9\nthrottled_usec 250000\n"), Some(0.25));
        assert_eq!(throttled_s("usage_usec 9\n"), None);
    }

    #[test]
    fn this_program_can_be_read() {
        let mut own = Own::new();
        assert_eq!(own.sample(0.0), None, "there is no difference yet");
        let read = own.sample(1.0);
        assert!(read.is_none_or(|read| read.own.is_some() && read.length_s == 1.0));
    }
}
