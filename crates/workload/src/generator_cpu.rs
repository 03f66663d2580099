//! CPU time of the threads that make the load, so that a report can say when the load generator was the limit.
//!
//! An embedded database works on threads of its own in this process: those are the server's and are not counted.

use std::collections::BTreeMap;

/// Reads what each thread has used since it was asked before.
#[derive(Debug, Default)]
pub(crate) struct GeneratorCpu {
    used_ns: BTreeMap<i32, u64>,
    asked_ns: u64,
    last_share: f64,
}

/// Intervals that are told together are told within less than this; what they used is told with the first.
const TOGETHER_NS: u64 = 10_000_000;

/// What the threads used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Used {
    /// All of them, in microseconds.
    pub(crate) cpu_us: u64,
    /// Share (0–1) of one core that the busiest one used.
    pub(crate) busiest_share: f64,
}

impl GeneratorCpu {
    /// What `threads` used from the last time this was asked until `now_ns`.
    pub(crate) fn take(&mut self, threads: &[i32], now_ns: u64) -> Used {
        let length_ns = now_ns.saturating_sub(self.asked_ns);
        if length_ns < TOGETHER_NS && self.asked_ns > 0 {
            return Used { cpu_us: 0, busiest_share: self.last_share };
        }
        self.asked_ns = now_ns;
        let mut used = Used::default();
        for &thread in threads {
            // A thread that has ended used nothing more.
            let Some(cpu_ns) = cpu_ns(thread) else { continue };
            let since_ns = cpu_ns.saturating_sub(self.used_ns.insert(thread, cpu_ns).unwrap_or(0));
            used.cpu_us += since_ns / 1_000;
            used.busiest_share = used.busiest_share.max(since_ns as f64 / length_ns.max(1) as f64);
        }
        self.last_share = used.busiest_share;
        used
    }
}

/// CPU time of a thread of this process: the first number of its `schedstat`, in nanoseconds, see
/// <https://docs.kernel.org/scheduler/sched-stats.html>.
fn cpu_ns(thread: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_uses_cpu_time() {
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        let mut cpu = GeneratorCpu::default();
        cpu.take(&[own], 0);
        let mut sum = 0u64;
        while cpu_ns(own).unwrap() < cpu.used_ns[&own] + 3_000_000 {
            sum = sum.wrapping_mul(31).wrapping_add(7);
        }
        let used = cpu.take(&[own, i32::MAX], 1_000_000_000);
        assert!(used.cpu_us >= 3_000, "{used:?} {sum}");
        assert!((used.busiest_share * 1e6 - used.cpu_us as f64).abs() <= 1.0, "{used:?}");
        let together = cpu.take(&[own], 1_000_000_000);
        assert_eq!(
            together,
            Used { cpu_us: 0, busiest_share: used.busiest_share },
            "told at the same moment"
        );
    }
}
