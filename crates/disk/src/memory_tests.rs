//! A machine of files: control groups of both versions, and what is available.

use super::*;
use crate::settings::Settings;

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        machine.file("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n")
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// `because` without the figures.
    fn usable(&self) -> Option<(u64, String)> {
        usable(self.0.path()).map(|allowance| (allowance.bytes, allowance.because))
    }
}

fn second_version() -> Machine {
    Machine::new()
        .file("proc/self/cgroup", "0::/prony.slice/run\n")
        .file("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n")
        .file("sys/fs/cgroup/prony.slice/run/memory.max", "max\n")
}

#[test]
fn without_limits_what_is_available_may_be_used() {
    let told = "MemAvailable of /proc/meminfo".to_owned();
    assert_eq!(Machine::new().usable(), Some((4 * GIB, told.clone())));
    assert_eq!(second_version().usable(), Some((4 * GIB, told)));
    assert_eq!(
        Machine(tempfile::tempdir().unwrap()).usable(),
        None,
        "nothing is refused for what is not known"
    );
}

#[test]
fn a_group_above_limits_those_below_and_gives_its_caches_back() {
    let machine = second_version()
        .file("sys/fs/cgroup/prony.slice/memory.max", "1073741824\n")
        .file("sys/fs/cgroup/prony.slice/memory.current", "805306368\n")
        .file(
            "sys/fs/cgroup/prony.slice/memory.stat",
            "anon 1\ninactive_file 134217728\nactive_file 134217728\n",
        );
    let (bytes, because) = machine.usable().unwrap();
    assert_eq!(bytes, 512 * MIB);
    assert_eq!(because, "the limit of its control group /sys/fs/cgroup/prony.slice is 1024 MiB");
}

#[test]
fn the_first_version_is_read_where_memory_is_mounted() {
    let machine = Machine::new()
        .file("proc/self/cgroup", "8:pids:/\n4:cpu,memory:/docker/abc/run\n0::/\n")
        .file(
            "proc/self/mountinfo",
            "33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpuset\n\
             35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw shared:1 - cgroup cgroup rw,cpu,memory\n",
        )
        .file("sys/fs/cgroup/memory/run/memory.limit_in_bytes", "67108864\n")
        .file("sys/fs/cgroup/memory/run/memory.usage_in_bytes", "4194304\n")
        .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_eq!(machine.usable().unwrap().0, 60 * MIB);
}

/// 512 outstanding blocks of 1 MiB under a limit of 64 MiB ended by the kernel's hand, without a word.
#[test]
fn blocks_that_do_not_fit_are_refused_with_figures() {
    let job = |outstanding: u32, threads: u32| {
        let settings = Settings {
            block_size: Some(Size(MIB)),
            outstanding: Some(outstanding),
            threads: Some(threads),
            ..Settings::default()
        };
        Job::of(&settings).unwrap()
    };
    let usable = Allowance { bytes: 64 * MIB, because: "a limit".to_owned() };
    let told = lack_of(&job(256, 2), &usable).unwrap();
    assert!(told.contains("2 threads with 256 blocks of 1MiB in flight need 512 MiB for blocks"), "{told}");
    assert!(told.contains("may use only 64 MiB more (a limit). Use fewer outstanding"), "{told}");
    assert_eq!(lack_of(&job(8, 1), &usable), None);
    let many = lack_of(&job(1, 1024), &Allowance { bytes: GIB, because: String::new() });
    assert!(many.is_some(), "latencies count too");
}

#[test]
fn pages_are_known_of_only_where_there_is_room_for_it() {
    let settings = Settings { verify: Some(crate::settings::VerifyProfile::Quick), ..Settings::default() };
    let job = Job::of(&settings).unwrap();
    let usable = Allowance { bytes: GIB, because: "a limit".to_owned() };
    let (one_tib, pages) = (1 << 40, |bytes: u64| bytes / job.block_bytes);
    let told = lack_of_room_for_states(&job, pages(one_tib), &usable).unwrap();
    let begin = "block_size: the state of 134217728 pages of 8KiB needs 1024 MiB (8 bytes per page)";
    assert!(told.starts_with(begin) && told.contains("(a limit). Use larger pages"), "{told}");
    assert_eq!(lack_of_room_for_states(&job, pages(one_tib / 4), &usable), None);
}
