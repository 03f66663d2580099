//! One load thread: which files and CPUs are its own, its engine, and its load.

mod verifying;

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::Receiver;

use load::{Arrivals, Meter, MonotonicClock, ThreadInterval, intervals_max};
use record::verify::Verified;
use record::{BufferUse, DiskEngine};

pub(crate) use verifying::promise;

use crate::affinity::{pin, usable_cpus, wake_on_time};
use crate::buffer::{Buffers, Content};
use crate::engine::{Engine, kinds, null::Null, psync::Psync, simulated::Simulated, uring, uring::Uring};
use crate::error::TrialError;
use crate::job::Job;
use crate::pattern::{Blocks, Random};
use crate::settings::{EngineChoice, Pattern};
use crate::target::{Access, Region, Target};
use crate::verify::Told;
use crate::worker::{Course, Done, FileWalk, Worker, WorkerError};

/// Streams of random numbers from here on are those of arrivals; below are those of patterns and payloads.
const ARRIVAL_STREAMS: u64 = 1 << 41;

/// What a thread tells the controller.
pub(crate) enum Message {
    /// Its engine is made, or cannot be.
    Ready(Result<Ready, TrialError>),
    /// An interval has ended.
    Interval(ThreadInterval),
    /// What a thread that verifies tells of what is not metered.
    Told(Told),
    /// What it verified; sent before it has ended.
    Verified(Box<Verified>),
    /// It has ended, and its last interval was sent before.
    Ended(Result<Done, TrialError>),
}

/// What a thread's engine got.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub(crate) features: Vec<String>,
    pub(crate) buffers: BufferUse,
}

/// One load thread as it will run.
pub(crate) struct Thread<'a> {
    pub(crate) number: usize,
    pub(crate) threads: usize,
    job: &'a Job,
    target: &'a Target,
    files: Vec<FileShare>,
    /// CPUs it is pinned to; empty if it is not.
    pub(crate) cpus: Vec<u32>,
    /// What stands in its journal, if it has one.
    journal: Option<verifying::Promise>,
}

/// A file as one thread shares it with others.
#[derive(Clone, Debug)]
struct FileShare {
    region: Region,
    /// Its position among the threads of that file, and their number.
    position: u64,
    sharers: u64,
    /// What the threads of the file took, where they share one stream.
    stream: Arc<AtomicU64>,
}

/// Gives every thread its files and CPUs.
///
/// With pools, each thread has the file of its pool, or those of all pools where it takes them in turn. Else, where there are at least as many threads as files, thread
/// t has file t mod files; where there are fewer, thread t has all files f with f mod threads = t.
///
/// # Errors
/// When a region does not hold a block or lies outside of its file.
pub(crate) fn assign<'a>(job: &'a Job, target: &'a Target) -> Result<Vec<Thread<'a>>, TrialError> {
    target.check_polling(job)?;
    target.probe(job)?;
    let regions = target.regions(job)?;
    let (files, threads) = (regions.len(), job.threads as usize);
    let pool_of = pool_of_threads(job);
    let file_lists: Vec<Vec<usize>> = (0..threads)
        .map(|thread| match &pool_of {
            _ if job.in_turn => (0..files).collect(),
            Some(pool_of) => vec![pool_of[thread]],
            None if threads >= files => vec![thread % files],
            None => (0..files).filter(|file| file % threads == thread).collect(),
        })
        .collect();
    let usable = usable_cpus();
    let shares = shares(&file_lists, &regions);
    Ok(shares
        .into_iter()
        .enumerate()
        .map(|(number, files)| Thread {
            number,
            threads,
            job,
            target,
            files,
            journal: None,
            cpus: cpus_of(job, pool_of.as_ref().map(|pool_of| pool_of[number]), number, &usable),
        })
        .collect())
}

/// How each thread shares each of its files.
fn shares(file_lists: &[Vec<usize>], regions: &[Region]) -> Vec<Vec<FileShare>> {
    let mut sharers = vec![0; regions.len()];
    file_lists.iter().flatten().for_each(|&file| sharers[file] += 1);
    let streams: Vec<Arc<AtomicU64>> = regions.iter().map(|_| Arc::default()).collect();
    let mut taken = vec![0; regions.len()];
    let mut share = |&file: &usize| {
        taken[file] += 1;
        let (position, stream) = (taken[file] - 1, Arc::clone(&streams[file]));
        FileShare { region: regions[file], position, sharers: sharers[file], stream }
    };
    file_lists.iter().map(|files| files.iter().map(&mut share).collect()).collect()
}

/// The pool of each thread, if there are pools; its file has the same index. Of pools with the same threads it is the first.
fn pool_of_threads(job: &Job) -> Option<Vec<usize>> {
    let pools = if job.in_turn { 1 } else { job.pools.len() };
    (!job.pools.is_empty()).then(|| {
        job.pools
            .iter()
            .take(pools)
            .enumerate()
            .flat_map(|(pool, threads)| std::iter::repeat_n(pool, threads.threads as usize))
            .collect()
    })
}

/// A pool's threads may run on any CPU of its mask; others are pinned to one CPU each, in turn.
fn cpus_of(job: &Job, pool: Option<usize>, number: usize, usable: &[u32]) -> Vec<u32> {
    if let Some(pool) = pool {
        return job.pools[pool].affinity.clone().unwrap_or_default().0;
    }
    match &job.affinity {
        Some(affinity) if affinity.0.is_empty() => Vec::new(),
        Some(affinity) => vec![affinity.0[number % affinity.0.len()]],
        // More threads than CPUs: the scheduler places them better than a fixed order does.
        None if job.threads as usize > usable.len() => Vec::new(),
        None => vec![usable[number % usable.len()]],
    }
}

impl Thread<'_> {
    /// The thread's life: engine, start, load, end. Ends without load if the start never comes.
    pub(crate) fn run(
        &self,
        started: &Receiver<MonotonicClock>,
        spare: Receiver<ThreadInterval>,
        give_up: &AtomicBool,
        tell: &dyn Fn(Message),
    ) {
        let life = Life { thread: self, started, spare, give_up, tell };
        if let Err(error) = pin(&self.cpus) {
            return tell(Message::Ready(Err(TrialError::Engine(error))));
        }
        wake_on_time();
        match self.job.engine {
            EngineChoice::Null => {
                life.live(|buffers| Ok((Null::new(buffers), Ready::unregistered(DiskEngine::Null))))
            }
            EngineChoice::Simulated => life.live(|buffers| {
                Ok((Simulated::new(self.job.simulated, buffers), Ready::unregistered(DiskEngine::Simulated)))
            }),
            EngineChoice::Psync => life.live(|buffers| {
                Ok((Psync::new(buffers, self.open_files()?), Ready::unregistered(DiskEngine::Psync)))
            }),
            EngineChoice::Auto | EngineChoice::Uring => life.live(|buffers| self.ring(buffers)),
        }
    }

    fn ring(&self, buffers: Buffers) -> Result<(Uring, Ready), TrialError> {
        let options = uring::Options {
            registered_buffers: self.job.registered_buffers,
            poll: self.job.poll,
            kernel_submission: self.job.kernel_submission,
        };
        let (ring, granted) =
            Uring::new(buffers, self.open_files()?, options).map_err(|error| uring::refused(&error))?;
        Ok((ring, Ready { features: granted.features, buffers: granted.buffers }))
    }

    fn buffers(&self) -> Result<Buffers, TrialError> {
        let job = self.job;
        // Stamps must differ between threads, from those of the fill, and from those of earlier runs.
        let content = Content {
            compressible: job.compressible,
            duplicate: job.duplicate,
            seed: Random::new(job.seed ^ self.target.nonce(), 2 * self.number as u64 + 1).next(),
        };
        let (bytes, reads, writes) = job.slot();
        Buffers::new(job.outstanding, bytes, reads, writes, content).map_err(|error| {
            TrialError::Engine(format!(
                "cannot allocate memory for {} of {} bytes: {error}. Use fewer outstanding I/Os or smaller \
                 blocks",
                if job.outstanding == 1 {
                    "one block".to_owned()
                } else {
                    format!("{} blocks", job.outstanding)
                },
                bytes
            ))
        })
    }

    fn open_files(&self) -> Result<Vec<File>, TrialError> {
        let access = Access { writes: self.job.writes(), cache: self.job.cache };
        self.files.iter().map(|share| Ok(self.target.open(share.region.file, access)?)).collect()
    }

    fn walks(&self) -> Vec<FileWalk> {
        self.files
            .iter()
            .map(|share| {
                let blocks = share.region.bytes / self.job.block_bytes;
                // A stride's first block is the thread's number among all.
                let place = match self.job.pattern {
                    Pattern::Strided { runs: None, .. } => (self.number as u64, self.threads as u64),
                    _ => (share.position, share.sharers),
                };
                FileWalk {
                    begin: share.region.begin,
                    blocks: Blocks::new(self.job.pattern, blocks, place, &share.stream),
                }
            })
            .collect()
    }

    fn named(&self, error: WorkerError) -> TrialError {
        match error.file() {
            Some(file) => TrialError::Io {
                path: self.target.name(self.files[file as usize].region.file),
                problem: error.to_string(),
            },
            None => TrialError::Engine(error.to_string()),
        }
    }
}

impl Ready {
    /// What all threads got: of the buffers the worst, with the number of threads that it is true of.
    pub(crate) fn least(all: Vec<Self>) -> Self {
        let threads = all.len();
        let without = all.iter().filter(|ready| ready.buffers != BufferUse::Registered).count();
        let nothing = Self { features: Vec::new(), buffers: BufferUse::Registered };
        let worse =
            |least: Self, ready: Self| if least.buffers == BufferUse::Registered { ready } else { least };
        let mut least = all.into_iter().reduce(worse).unwrap_or(nothing);
        if let BufferUse::Refused(reason) = &mut least.buffers
            && without < threads
        {
            *reason = format!("{reason} ({without} of {threads} threads)");
        }
        least
    }

    fn unregistered(engine: DiskEngine) -> Self {
        Self { features: Vec::new(), buffers: BufferUse::NoRing(engine) }
    }
}

/// What a thread needs while it lives.
struct Life<'a> {
    thread: &'a Thread<'a>,
    started: &'a Receiver<MonotonicClock>,
    spare: Receiver<ThreadInterval>,
    give_up: &'a AtomicBool,
    tell: &'a dyn Fn(Message),
}

impl Life<'_> {
    fn live<E: Engine>(self, make: impl FnOnce(Buffers) -> Result<(E, Ready), TrialError>) {
        if let Some(verify) = &self.thread.job.verify {
            return self.verify(verify, make);
        }
        let Self { thread, started, spare, give_up, tell } = self;
        let mut engine = match thread.buffers().and_then(make) {
            Ok((engine, ready)) => {
                tell(Message::Ready(Ok(ready)));
                engine
            }
            Err(error) => return tell(Message::Ready(Err(error))),
        };
        let Ok(start) = started.recv() else { return };
        let job = thread.job;
        let number = thread.number as u64;
        let clock = engine.start(start);
        let empty = ThreadInterval::new(kinds(job).len(), job.pacing.is_open());
        let hand_over = |interval| tell(Message::Interval(interval));
        let meter =
            Meter::new(clock.clone(), job.phases, empty, hand_over, spare, intervals_max(job.threads));
        let course = Course {
            random: Random::new(job.seed, 2 * number),
            files: thread.walks(),
            arrivals: Arrivals::of(
                job.pacing,
                thread.number as u32,
                job.threads,
                Random::new(job.seed, ARRIVAL_STREAMS + number).next(),
            ),
        };
        let worker = Worker::new(job, engine, clock, meter, give_up, course);
        let ended = worker.run().map_err(|error| thread.named(error));
        tell(Message::Ended(ended));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Pool, Settings};

    /// Files of each thread, as text.
    fn assigned(files: usize, threads: u32) -> Vec<Vec<usize>> {
        let job = Job::of(&Settings {
            threads: Some(threads),
            engine: Some(EngineChoice::Null),
            ..Settings::default()
        })
        .unwrap();
        let job = Job { files: files as u32, ..job };
        let target = Target::imaginary(files, job.file_bytes);
        assign(&job, &target)
            .unwrap()
            .iter()
            .map(|thread| thread.files.iter().map(|share| share.region.file).collect())
            .collect()
    }

    #[test]
    fn threads_share_files_and_files_share_threads() {
        assert_eq!(assigned(2, 5), [[0], [1], [0], [1], [0]]);
        assert_eq!(assigned(5, 2), [vec![0, 2, 4], vec![1, 3]]);
    }

    /// Threads of pools that are the same ones: each has all files, and one buffer for all of them.
    #[test]
    fn files_in_turn_have_the_same_threads() {
        let pool = |path: &str| Pool { path: path.into(), threads: 2, affinity: None, size: None };
        let of = |in_turn| {
            let job = Job::of(&Settings {
                pools: Some(vec![pool("a"), pool("b"), pool("c")]),
                in_turn: Some(in_turn),
                pattern: Some(Pattern::SharedSequential),
                engine: Some(EngineChoice::Null),
                ..Settings::default()
            })
            .unwrap();
            let job = Job { files: 3, ..job };
            let target = Target::imaginary(3, job.file_bytes);
            let of_thread = |thread: &Thread<'_>| -> Vec<(usize, u64, u64)> {
                let share = |share: &FileShare| (share.region.file, share.position, share.sharers);
                thread.files.iter().map(share).collect()
            };
            let threads = assign(&job, &target).unwrap();
            let same_stream =
                |a: usize, b: usize| Arc::ptr_eq(&threads[a].files[0].stream, &threads[b].files[0].stream);
            assert!(same_stream(0, 1), "threads of a file share one stream");
            assert!(in_turn || !same_stream(0, 2), "and those of another one do not");
            threads.iter().map(of_thread).collect::<Vec<_>>()
        };
        assert_eq!(of(true), [[(0, 0, 2), (1, 0, 2), (2, 0, 2)], [(0, 1, 2), (1, 1, 2), (2, 1, 2)]]);
        let apart = of(false);
        assert_eq!(apart.len(), 6);
        assert_eq!((&apart[0], &apart[5]), (&vec![(0, 0, 2)], &vec![(2, 1, 2)]));
    }
}
