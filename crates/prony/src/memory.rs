//! Refuses a limit of memory that cannot be enough: an allocation that fails ends the program where it stands, and what was made
//! for the run would stay.

use anyhow::anyhow;
use rustix::process::{Resource, getrlimit};
use study::Plan;
use workload::historian;

use crate::exit::Failure;

/// What the program takes whatever it does.
const BASE_BYTES: u64 = 256 << 20;
/// What a thread takes of addresses: its stack, and where the C library's allocator begins a heap for it.
const THREAD_BYTES: u64 = (2 + 64) << 20;
/// Threads beside those that make the load.
const OTHER_THREADS: u64 = 6;
/// Heaps that the allocator of glibc begins for each processor: <https://sourceware.org/glibc/manual/latest/html_node/Memory-Allocation-Tunables.html>.
const HEAPS_PER_PROCESSOR: u64 = 8;

/// Refuses a limit (`ulimit -v`) below what a plan needs.
pub(crate) fn check_plan(plan: &Plan) -> Result<(), Failure> {
    let of_trial = |trial: &study::Trial| {
        let disk = trial.work.job::<disk::Settings>().map_or(0, |job| u64::from(job.threads));
        // A client of a server is no thread; one of a file is.
        let files = trial.databases().iter().filter(|database| database.url.file().is_some()).count() as u64;
        let clients = match trial.work.job::<historian::Settings>() {
            Some(job) => u64::from(job.writers),
            None => u64::from(trial.work.any().sessions()) * files,
        };
        disk + clients
    };
    check(plan.trials.iter().map(of_trial).max().unwrap_or(0))
}

/// Refuses one below what so many threads need.
pub(crate) fn check(threads: u64) -> Result<(), Failure> {
    let Some(limit) = getrlimit(Resource::As).current else { return Ok(()) };
    let processors = std::thread::available_parallelism().map_or(1, |number| number.get() as u64);
    let needed = needed_bytes(threads, processors);
    if limit >= needed {
        return Ok(());
    }
    Err(Failure::usage(anyhow!(
        "this process may use only {} of address space (`ulimit -v`), but may need {}. Raise the limit, or \
         use fewer threads or clients. To limit only memory in use, set a cgroup limit",
        report::format::bytes(limit),
        report::format::bytes(needed)
    )))
}

fn needed_bytes(threads: u64, processors: u64) -> u64 {
    let threads = threads + OTHER_THREADS;
    let stacks_beyond = threads.saturating_sub(HEAPS_PER_PROCESSOR * processors) * (2 << 20);
    BASE_BYTES + THREAD_BYTES * threads.min(HEAPS_PER_PROCESSOR * processors) + stacks_beyond
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_a_stack_and_the_first_ones_a_heap() {
        assert_eq!(needed_bytes(0, 64), BASE_BYTES + 6 * THREAD_BYTES);
        assert_eq!(needed_bytes(4, 64), BASE_BYTES + 10 * THREAD_BYTES);
        assert_eq!(needed_bytes(1_000, 1), BASE_BYTES + 8 * THREAD_BYTES + 998 * (2 << 20));
    }
}
