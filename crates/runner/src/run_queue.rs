//! How long threads could have run and had no processor, as the kernel's scheduler counts it.
//!
//! What a thread waits is counted once it runs again, so that a single second may have less or more of it than was waited in it.
//! Threads that ended are left out from then on.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::process::record;

/// Nanoseconds that each thread has waited for a processor so far, by the threads' numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Waited(BTreeMap<u32, u64>);

impl Waited {
    /// Those of all threads of a process; none where the kernel does not count this.
    pub(crate) fn of(proc: &Path, process: u32) -> Option<Self> {
        let mut waited = Self::default();
        waited.add(proc, process, None);
        waited.counted()
    }

    /// Adds those of a process, of which it may be known how many threads it has.
    pub(crate) fn add(&mut self, proc: &Path, process: u32, threads: Option<u64>) {
        let directory = proc.join(process.to_string());
        if threads == Some(1) {
            self.0.extend(waited_ns(&directory).map(|waited| (process, waited)));
            return;
        }
        for task in fs::read_dir(directory.join("task")).into_iter().flatten().flatten() {
            let thread = task.file_name().to_str().and_then(|name| name.parse().ok());
            self.0.extend(thread.zip(waited_ns(&task.path())));
        }
    }

    /// None where the kernel does not count it.
    pub(crate) fn counted(self) -> Option<Self> {
        (!self.0.is_empty()).then_some(self)
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
    record(&task.join("schedstat"))?.split_ascii_whitespace().nth(1)?.parse().ok()
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
        let waited = |processes: &[(u32, Option<u64>)]| {
            let mut waited = Waited::default();
            processes.iter().for_each(|(process, threads)| waited.add(proc.path(), *process, *threads));
            waited.counted()
        };
        assert_eq!(Waited::of(proc.path(), 1), None, "the kernel does not count it");
        task(proc.path(), 1, 1, 1_000_000_000);
        task(proc.path(), 1, 2, 0);
        task(proc.path(), 3, 3, 500_000_000);
        let before = waited(&[(1, None), (3, Some(2))]).unwrap();
        task(proc.path(), 1, 2, 2_000_000_000);
        task(proc.path(), 1, 4, 3_000_000_000);
        fs::remove_dir_all(proc.path().join("3")).unwrap();
        let now = waited(&[(1, Some(3)), (3, Some(2))]).unwrap();
        assert_eq!(now.since(&before, 2.0), 2.5, "one that began since counts as well");
        assert_eq!(now.since(&now, 2.0), 0.0);
        assert_eq!(Waited::of(proc.path(), 1), Some(now), "however many are known of");
    }

    #[test]
    fn a_process_of_one_thread_is_read_without_a_look_at_its_threads() {
        let proc = tempfile::tempdir().unwrap();
        fs::create_dir(proc.path().join("7")).unwrap();
        fs::write(proc.path().join("7/schedstat"), "77 5000 1\n").unwrap();
        let mut waited = Waited::default();
        waited.add(proc.path(), 7, Some(1));
        assert_eq!(waited, Waited(BTreeMap::from([(7, 5_000)])));
    }
}
