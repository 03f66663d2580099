//! What is settled before a trial begins, and how it is recorded: the engine, its calibration, the setup.

use std::io;
use std::sync::atomic::AtomicBool;

use load::{Go, Pacing, Phases, Progress, Span};
use record::{Calibration, DiskSetup};

use crate::engine::uring;
use crate::job::{Job, THREADS_MAX};
use crate::settings::{EngineChoice, Pattern};
use crate::target::Target;
use crate::thread::{Ready, Thread};
use crate::trial::{self, TrialError};

/// How long a calibration of the generator runs.
const CALIBRATION: Phases =
    Phases { warm_up: Span::microseconds(2_000), measure: Span::microseconds(20_000) };

/// A job whose engine is decided.
pub(crate) struct Resolved {
    pub(crate) job: Job,
    /// Why it is not the first choice.
    pub(crate) fallback: Option<String>,
}

/// The message where a ring cannot be had and nothing else was permitted.
pub(crate) fn no_ring(error: &io::Error) -> TrialError {
    TrialError::Engine(format!(
        "cannot make an io_uring: {error}. Allow it (a container's seccomp profile or the sysctl \
         kernel.io_uring_disabled may forbid it), or use {} with one outstanding I/O a thread",
        crate::parameter("engine").of("psync")
    ))
}

/// Decides the engine. Where `auto` cannot have a ring, each outstanding I/O becomes a thread of its own, so that the
/// device sees the same number of I/Os, and the record says so.
///
/// # Errors
/// When that would take too many threads.
pub(crate) fn resolve(job: &Job) -> Result<Resolved, TrialError> {
    if job.engine != EngineChoice::Auto {
        return Ok(Resolved { job: job.clone(), fallback: None });
    }
    match uring::probe() {
        Ok(()) => Ok(Resolved { job: Job { engine: EngineChoice::Uring, ..job.clone() }, fallback: None }),
        Err(error) if job.poll || job.kernel_submission => Err(no_ring(&error)),
        Err(error) => without_ring(job, &error),
    }
}

pub(crate) fn without_ring(job: &Job, error: &io::Error) -> Result<Resolved, TrialError> {
    let threads = job.threads.saturating_mul(job.outstanding);
    if threads > THREADS_MAX {
        return Err(TrialError::Engine(format!(
            "io_uring is not to be had here ({error}), and {threads} threads in its place are more than \
             {THREADS_MAX}: use fewer outstanding I/Os or threads, or allow io_uring"
        )));
    }
    let streams = match job.pattern {
        Pattern::Sequential if job.outstanding > 1 => "; a sequential stream becomes one for each thread",
        _ => "",
    };
    let instead = if job.outstanding == 1 {
        "psync".to_owned()
    } else {
        format!(
            "psync with {threads} threads of one outstanding I/O each, instead of {} with {} each",
            job.threads, job.outstanding
        )
    };
    let fallback = format!("io_uring is not to be had here ({error}): {instead}{streams}");
    let mut job = Job { engine: EngineChoice::Psync, threads, ..job.clone() };
    for pool in &mut job.pools {
        pool.threads *= job.outstanding;
    }
    job.outstanding = 1;
    Ok(Resolved { job, fallback: Some(fallback) })
}

/// On fewer CPUs the kernel's submission thread takes the time that the load needs: fio fell to 15 k IOPS on two.
const KERNEL_SUBMISSION_CPUS_MIN: usize = 4;

/// What the machine lacks of what a job asks for, if anything. Touches nothing.
pub(crate) fn lacking(job: &Job) -> Option<String> {
    let usable = crate::affinity::usable_cpus();
    let mut asked = job
        .affinity
        .iter()
        .chain(job.pools.iter().filter_map(|pool| pool.affinity.as_ref()))
        .flat_map(|cpus| &cpus.0);
    if let Some(cpu) = asked.find(|cpu| !usable.contains(cpu)) {
        return Some(format!("affinity: there is no CPU {cpu} for this process; it may use {usable:?}"));
    }
    if let Some(lack) = crate::memory::lack(job) {
        return Some(lack);
    }
    let cpus = usable.len();
    (job.kernel_submission && cpus < KERNEL_SUBMISSION_CPUS_MIN).then(|| {
        format!(
            "kernel_submission (SQPOLL) needs {KERNEL_SUBMISSION_CPUS_MIN} CPUs and there are {cpus}: leave it out"
        )
    })
}

/// Measures what the generator itself costs: the same job on one thread against the null engine.
///
/// # Errors
/// When the job's buffers cannot be had.
pub(crate) fn calibrate(job: &Job) -> Result<Option<Calibration>, TrialError> {
    if matches!(job.engine, EngineChoice::Null | EngineChoice::Simulated) {
        return Ok(None);
    }
    let idle = Job {
        engine: EngineChoice::Null,
        threads: 1,
        phases: CALIBRATION,
        pacing: Pacing::Closed { think_time: Span::ZERO },
        pools: Vec::new(),
        affinity: None,
        ..job.clone()
    };
    let target = Target::imaginary(1, (1 << 30).max(job.block_bytes + job.offset_bytes));
    let idle = Job { region_bytes: None, ..idle };
    let (mut operations, mut seconds) = (0, 0.0);
    trial::run(&idle, &target, &AtomicBool::new(false), |progress| {
        if let Progress::Interval(interval) = progress
            && interval.phase == record::Phase::Measure
        {
            operations += interval.operations.values().map(|operation| operation.count).sum::<u64>();
            // CPU time: a moment in which something else ran would make the generator look slow.
            seconds += interval.generator_cpu_us as f64 / 1e6;
        }
        Go::On
    })?;
    Ok((operations > 0 && seconds > 0.0)
        .then(|| Calibration { generator_ns_per_operation: seconds * 1e9 / operations as f64 }))
}

/// The record of what was set up.
pub(crate) fn describe(
    resolved: &Resolved,
    target: &Target,
    threads: &[Thread<'_>],
    ready: &Ready,
    calibration: Option<Calibration>,
) -> DiskSetup {
    let job = &resolved.job;
    let mut affinity: Vec<u32> = threads.iter().flat_map(|thread| thread.cpus.iter().copied()).collect();
    affinity.sort_unstable();
    affinity.dedup();
    DiskSetup {
        path: target.describe(),
        block_bytes: job.block_bytes,
        read_per_cent: job.read_share * 100.0,
        pattern: job.pattern.to_string(),
        outstanding: job.outstanding,
        threads: job.threads,
        files: target.files_of(job),
        file_bytes: target.file_bytes(job),
        region_bytes: target.regions(job).iter().flatten().map(|region| region.bytes).sum(),
        cache: job.cache,
        flush_every_writes: job.flush_every,
        compressible_per_cent: job.compressible * 100.0,
        duplicate_per_cent: job.duplicate * 100.0,
        written: target.written(job),
        pacing: job.pacing.recorded(),
        engine: engine_name(job.engine).to_owned(),
        engine_fallback: resolved.fallback.clone(),
        engine_features: ready.features.clone(),
        buffers: ready.buffers.clone(),
        timing: timing(job).to_owned(),
        affinity,
        calibration,
        seed: job.seed,
        content_nonce: target.nonce(),
    }
}

fn engine_name(engine: EngineChoice) -> &'static str {
    match engine {
        EngineChoice::Auto | EngineChoice::Uring => "uring",
        EngineChoice::Psync => "psync",
        EngineChoice::Null => "null",
        EngineChoice::Simulated => "simulated",
    }
}

fn timing(job: &Job) -> &'static str {
    if job.engine == EngineChoice::Simulated {
        "virtual time"
    } else if job.outstanding == 1 {
        "CLOCK_MONOTONIC, one stamp before and one after each I/O"
    } else {
        "CLOCK_MONOTONIC, one stamp a submitted batch (up to 16 I/Os) and one a reaped batch"
    }
}
