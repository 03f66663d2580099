//! Which engine a trial is run with.

use std::io;

use crate::engine::uring;
use crate::error::TrialError;
use crate::job::{Job, THREADS_MAX};
use crate::settings::{EngineChoice, Pattern};

/// A job whose engine is decided.
pub(crate) struct Resolved {
    pub(crate) job: Job,
    /// Why it is not the first choice.
    pub(crate) fallback: Option<String>,
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
        Err(error) if job.poll || job.kernel_submission => Err(uring::refused(&error)),
        Err(error) => without_ring(job, &error),
    }
}

pub(crate) fn without_ring(job: &Job, error: &io::Error) -> Result<Resolved, TrialError> {
    let threads = job.threads.saturating_mul(job.outstanding);
    if threads > THREADS_MAX {
        return Err(TrialError::Engine(format!(
            "io_uring is unavailable ({error}). Without it {threads} threads would be needed, but the limit is {THREADS_MAX}. Use \
            fewer outstanding I/Os or threads, or allow io_uring"
        )));
    }
    let streams = match job.pattern {
        Pattern::Sequential if job.outstanding > 1 => ". Each thread has its own sequential stream",
        Pattern::Strided { runs: Some(_), .. } if job.outstanding > 1 => {
            ". Several threads share one strip, so their runs of blocks are mixed"
        }
        _ => "",
    };
    let instead = if job.outstanding == 1 {
        "using psync".to_owned()
    } else {
        format!(
            "using psync with {threads} threads of one outstanding I/O each, instead of {} with {} each",
            job.threads, job.outstanding
        )
    };
    let fallback = format!("io_uring is unavailable ({error}): {instead}{streams}");
    let mut job = Job { engine: EngineChoice::Psync, threads, ..job.clone() };
    for pool in &mut job.pools {
        pool.threads *= job.outstanding;
    }
    job.outstanding = 1;
    Ok(Resolved { job, fallback: Some(fallback) })
}
