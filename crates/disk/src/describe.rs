//! How a trial was really set up, as it is recorded.

use record::{Calibration, DiskEngine, DiskSetup};

use crate::choice::Resolved;
use crate::job::Job;
use crate::settings::EngineChoice;
use crate::target::Target;
use crate::thread::{Ready, Thread};

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
        engine: engine_of(job.engine),
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

fn engine_of(engine: EngineChoice) -> DiskEngine {
    match engine {
        EngineChoice::Auto | EngineChoice::Uring => DiskEngine::Uring,
        EngineChoice::Psync => DiskEngine::Psync,
        EngineChoice::Null => DiskEngine::Null,
        EngineChoice::Simulated => DiskEngine::Simulated,
    }
}

fn timing(job: &Job) -> &'static str {
    if job.engine == EngineChoice::Simulated {
        "virtual time"
    } else if job.outstanding == 1 {
        "CLOCK_MONOTONIC, one stamp before and one after each I/O"
    } else {
        "CLOCK_MONOTONIC, one stamp per submitted batch (up to 16 I/Os) and one per reaped batch"
    }
}
