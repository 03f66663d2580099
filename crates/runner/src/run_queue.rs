//! How long threads could have run and had no processor, as the kernel's scheduler counts it.
//!
//! What a thread waits is counted once it runs again, so that a single second may have less or more of it than was waited in it.
//! Threads that ended are left out from then on.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Nanoseconds that each thread has waited for a processor so far, by the threads' numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Waited(BTreeMap<u32, u64>);

impl Waited {
    /// Those of all threads of some processes; none where the kernel does not count this.
    pub(crate) fn of(proc: &Path, processes: &[u32]) -> Option<Self> {
        let mut waited = BTreeMap::new();
        for process in processes {
            let tasks = fs::read_dir(proc.join(format!("{process}/task"))).into_iter().flatten().flatten();
            for task in tasks {
                let thread = task.file_name().to_str().and_then(|name| name.parse().ok());
                waited.extend(thread.zip(waited_ns(&task.path())));
            }
        }
        (!waited.is_empty()).then_some(Self(waited))
    }

    /// Mean number of threads that waited over a time since an earlier reading.
    pub(crate) fn since(&self, before: &Self, length_s: f64) -> f64 {
        let risen = self.0.iter().map(|(thread, now)| {
            // One that was not there has begun since.
            now.saturating_sub(before.0.get(thread).copied().unwrap_or(0))
        });
        if length_s > 0.0 { risen.sum::<u64>() as f64 / 1e9 / length_s } else { 0.0 }
    }
}

/// The second field of `schedstat`: <https://docs.kernel.org/scheduler/sched-stats.html>.
fn waited_ns(task: &Path) -> Option<u64> {
    fs::read_to_string(task.join("schedstat")).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(proc: &Path, process: u32, thread: u32, waited_ns: u64) {
        let directory = proc.join(format!("{process}/task/{thread}"));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("schedstat"), format!("77 {waited_ns} 5\n")).unwrap();
    }

    #[test]
    fn threads_that_wait_are_counted_each_and_one_that_ended_is_none() {
        let proc = tempfile::tempdir().unwrap();
        assert_eq!(Waited::of(proc.path(), &[1]), None, "the kernel does not count it");
        task(proc.path(), 1, 1, 1_000_000_000);
        task(proc.path(), 1, 2, 0);
        task(proc.path(), 3, 3, 500_000_000);
        let before = Waited::of(proc.path(), &[1, 3]).unwrap();
        task(proc.path(), 1, 2, 2_000_000_000);
        task(proc.path(), 1, 4, 3_000_000_000);
        fs::remove_dir_all(proc.path().join("3")).unwrap();
        let now = Waited::of(proc.path(), &[1, 3]).unwrap();
        assert_eq!(now.since(&before, 2.0), 2.5, "one that began since counts as well");
        assert_eq!(now.since(&now, 2.0), 0.0);
    }
}
