//! Where load threads run, and how precisely they wake.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// CPUs that this process may use.
#[must_use]
pub fn usable_cpus() -> Vec<u32> {
    match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect(),
        Err(_) => vec![0],
    }
}

/// Pins this thread to the CPUs; no CPUs means that it is not pinned.
pub(crate) fn pin(cpus: &[u32]) -> Result<(), String> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    let usable = usable_cpus();
    for &cpu in cpus {
        if !usable.contains(&cpu) {
            let affinity = crate::parameter("affinity");
            return Err(format!(
                "cannot pin a thread to CPU {cpu}: this process may use only {usable:?}. Change {affinity}"
            ));
        }
        set.set(cpu as usize);
    }
    sched_setaffinity(None, &set)
        .map_err(|error| format!("cannot pin a thread to the CPUs {cpus:?}: {error}"))
}

/// Asks for timers of this thread to be as precise as the kernel can; the default slack is 50 µs. Without it the
/// generator lags more, which the record shows.
pub(crate) fn wake_on_time() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_can_be_pinned_to_a_usable_cpu_only() {
        let cpus = usable_cpus();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                pin(&cpus[..1]).unwrap();
                assert_eq!(usable_cpus(), cpus[..1]);
                assert!(pin(&[4000]).unwrap_err().contains("‹workload.disk.affinity›"));
            });
        });
    }
}
