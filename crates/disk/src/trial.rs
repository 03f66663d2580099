//! Runs one trial: decides the engine, measures what the generator itself costs, and plays the load.

use std::sync::atomic::AtomicBool;

use load::{Go, Pacing, Phases, Progress, Span};
use record::{Calibration, DiskOutcome};

use crate::choice::{Resolved, resolve};
use crate::error::TrialError;
use crate::job::Job;
use crate::play::play;
use crate::settings::EngineChoice;
use crate::target::Target;
use crate::thread::{self, Thread};

/// How long a calibration of the generator runs.
const CALIBRATION: Phases =
    Phases { warm_up: Span::microseconds(2_000), measure: Span::microseconds(20_000) };

/// Runs a job against a target until its end, an error, `stop`, or until `on_progress` says so.
///
/// # Errors
/// When the trial could not begin, or an I/O failed. What was measured before was told by `on_progress`.
pub fn run(
    job: &Job,
    target: &Target,
    stop: &AtomicBool,
    on_progress: impl FnMut(Progress) -> Go,
) -> Result<DiskOutcome, TrialError> {
    let resolved = resolve(job)?;
    let mut threads = thread::assign(&resolved.job, target)?;
    thread::promise(&mut threads)?;
    if resolved.job.cache.uses_file_cache() {
        target.forget_cached();
    }
    let calibration = calibrate(&resolved.job)?;
    play(&resolved, target, &threads, calibration, stop, on_progress)
}

/// Measures what the generator itself costs: the same job on one thread against the null engine, again where a figure is one that
/// no other agrees with.
///
/// # Errors
/// When the job's buffers cannot be had.
fn calibrate(job: &Job) -> Result<Option<Calibration>, TrialError> {
    // A generator without a device has nothing to verify.
    if matches!(job.engine, EngineChoice::Null | EngineChoice::Simulated) || job.verify.is_some() {
        return Ok(None);
    }
    let idle = Job {
        engine: EngineChoice::Null,
        threads: 1,
        phases: CALIBRATION,
        pacing: Pacing::Closed { think_time: Span::ZERO },
        pools: Vec::new(),
        in_turn: false,
        affinity: None,
        ..job.clone()
    };
    let target = Target::imaginary(1, (1 << 30).max(job.block_bytes + job.offset_bytes));
    let idle = Resolved { job: Job { region_bytes: None, ..idle }, fallback: None };
    let threads = thread::assign(&idle.job, &target)?;
    let found_ns = load::undisturbed_ns(|| idle_ns(&idle, &target, &threads))?;
    Ok(found_ns.map(|generator_ns_per_operation| Calibration { generator_ns_per_operation }))
}

/// CPU time of an operation that does nothing, in nanoseconds; none if nothing was measured.
fn idle_ns(idle: &Resolved, target: &Target, threads: &[Thread<'_>]) -> Result<Option<f64>, TrialError> {
    let (mut operations, mut seconds) = (0, 0.0);
    play(idle, target, threads, None, &AtomicBool::new(false), |progress| {
        if let Progress::Interval(interval) = progress
            && interval.phase == record::Phase::Measure
        {
            operations += interval.operations.values().map(|operation| operation.count).sum::<u64>();
            // CPU time: a moment in which something else ran would make the generator look slow.
            seconds += interval.generator_cpu_us as f64 / 1e6;
        }
        Go::On
    })?;
    Ok((operations > 0 && seconds > 0.0).then(|| seconds * 1e9 / operations as f64))
}

#[cfg(test)]
#[path = "trial_tests.rs"]
mod tests;
