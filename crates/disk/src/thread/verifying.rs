//! The life of a thread that checks its pages, and what is promised of it.

use std::sync::{Arc, Mutex};

use load::{Meter, MonotonicClock, ThreadInterval, intervals_max};

use super::{FileShare, Life, Message, Ready, Thread};
use crate::buffer::Buffers;
use crate::engine::{Engine, kinds};
use crate::error::TrialError;
use crate::job::{Job, VerifyJob};
use crate::pattern::{Blocks, Random, part};
use crate::verify::{
    AnyJournal, Files, JournalAway, JournalError, JournalFile, Part, PartShape, Plan, PlannedPart, Shape,
    Task, Verifier, Where, Wire, create_journal,
};
use crate::worker::Done;

/// The stream of which a run's number is drawn.
const VERIFY_STREAM: u64 = 1 << 43;

impl Life<'_> {
    /// The life of a thread that verifies: all is written once before it says that it is ready.
    pub(super) fn verify<E: Engine>(
        self,
        verify: &VerifyJob,
        make: impl FnOnce(Buffers) -> Result<(E, Ready), TrialError>,
    ) {
        let Self { thread, started, spare, give_up, tell } = self;
        let told = |told| tell(Message::Told(told));
        let made = thread.buffers().and_then(make).and_then(|(mut engine, ready)| {
            let clock = engine.start(MonotonicClock::starting_now());
            let page_bytes = thread.job.block_bytes;
            let files = Files::new(thread.open_files()?, page_bytes).map_err(|error| {
                TrialError::Engine(format!("cannot open files to read pages again: {error}"))
            })?;
            let parts = thread.parts(verify)?;
            let mut verifier = Verifier::new(
                engine,
                clock,
                (files, thread.open_journal()?),
                thread.task(verify),
                parts,
                give_up,
                &told,
            );
            verifier.lay_out().map_err(|error| TrialError::Engine(error.to_string()))?;
            Ok((verifier, ready))
        });
        let mut verifier = match made {
            Ok((verifier, ready)) => {
                tell(Message::Ready(Ok(ready)));
                verifier
            }
            Err(error) => return tell(Message::Ready(Err(error))),
        };
        let Ok(start) = started.recv() else { return };
        let job = thread.job;
        let clock = verifier.begin(start);
        let empty = ThreadInterval::new(kinds(job).len(), false);
        let hand_over = |interval| tell(Message::Interval(interval));
        let meter = Meter::new(clock, job.phases, empty, hand_over, spare, intervals_max(job.threads));
        let (verified, ended) = verifier.run(meter);
        tell(Message::Verified(Box::new(verified)));
        let ended = ended.map(|()| Done::default()).map_err(|error| TrialError::Engine(error.to_string()));
        tell(Message::Ended(ended));
    }
}

/// Makes the journal that a job asks for, and has all threads write to it.
///
/// # Errors
/// When a file has no name that would outlive a crash, or the journal cannot be made.
pub(crate) fn promise(threads: &mut [Thread<'_>]) -> Result<(), TrialError> {
    let Some(thread) = threads.first() else { return Ok(()) };
    let (job, target) = (thread.job, thread.target);
    let Some((verify, path)) =
        job.verify.as_ref().and_then(|verify| Some((verify, verify.journal.as_ref()?)))
    else {
        return Ok(());
    };
    let planned = |part: &Part| {
        let Part { number: file, begin, first, shape, .. } = *part;
        PlannedPart { file, begin, first, shape }
    };
    let parts = |thread: &Thread<'_>| Ok(thread.parts(verify)?.iter().map(planned).collect());
    let plan = Plan {
        run: format!("{:x}", thread.run_number()),
        page_bytes: job.block_bytes as u32,
        profile: verify.profile,
        flush_every: flush_every(job, verify),
        writes_through: job.cache.writes_through(),
        seed: job.seed,
        files: target.lasting_paths()?,
        threads: threads.iter().map(parts).collect::<Result<_, TrialError>>()?,
    };
    let failed = |error: JournalError| TrialError::Engine(format!("journal {error}"));
    let wire = match Where::of(path) {
        Where::File(path) => create_journal(path, &plan).map(|()| None),
        Where::Host(host) => Wire::connect(host, &plan).map(|wire| Some(Arc::new(Mutex::new(wire)))),
    };
    let promise = Promise { plan: Arc::new(plan), wire: wire.map_err(failed)? };
    threads.iter_mut().for_each(|thread| thread.journal = Some(promise.clone()));
    Ok(())
}

/// The journal of a run, as its threads have it.
#[derive(Clone)]
pub(crate) struct Promise {
    plan: Arc<Plan>,
    /// The connection to it, where it is on another host.
    wire: Option<Arc<Mutex<Wire>>>,
}

/// Where there is a journal, there is something to be told to it now and then.
fn flush_every(job: &Job, verify: &VerifyJob) -> Option<u64> {
    job.flush_every.or(verify.journal.is_some().then_some(JOURNAL_FLUSH_EVERY))
}

/// Writes between two flushes where promises are kept.
const JOURNAL_FLUSH_EVERY: u64 = 64;

impl Thread<'_> {
    fn run_number(&self) -> u128 {
        let of_seed = Random::new(self.job.seed, VERIFY_STREAM).next();
        u128::from(self.target.nonce()) << 64 | u128::from(of_seed)
    }

    fn open_journal(&self) -> Result<Option<AnyJournal>, TrialError> {
        let path = self.job.verify.as_ref().and_then(|verify| verify.journal.as_ref());
        let (Some(Promise { plan, wire }), Some(path)) = (&self.journal, path) else { return Ok(None) };
        if let Some(wire) = wire {
            return Ok(Some(AnyJournal::Away(JournalAway::new(wire, self.number as u32))));
        }
        let opened = JournalFile::open(path, plan, self.number as u32).map(AnyJournal::Here);
        opened.map(Some).map_err(|error| TrialError::Engine(format!("journal {}: {error}", path.display())))
    }

    /// The pages that are this thread's own.
    fn parts(&self, verify: &VerifyJob) -> Result<Vec<Part>, TrialError> {
        let page_bytes = self.job.block_bytes;
        let share = |(file, share): (usize, &FileShare)| {
            let pages = share.region.bytes / page_bytes;
            let first = part(pages, share.position, share.sharers);
            let end = part(pages, share.position + 1, share.sharers);
            let path = self.target.name(share.region.file);
            if first == end {
                return Err(TrialError::Io {
                    path,
                    problem: format!(
                        "{pages} pages for {} threads. Use fewer threads or a larger file",
                        share.sharers
                    ),
                });
            }
            // What is promised to be there after a crash is never cut off.
            let may_be_cut = verify.journal.is_none() && end == pages;
            let elastic = may_be_cut && self.target.ends_file(share.region);
            let blocks = (!verify.own_reads)
                .then(|| Blocks::new(self.job.pattern, end - first, (0, 1), &share.stream));
            let (number, begin) = (share.region.file as u32, share.region.begin);
            let shape = PartShape { pages: end - first, elastic };
            Ok(Part { file: file as u32, number, path, begin, first, shape, blocks })
        };
        self.files.iter().enumerate().map(share).collect()
    }

    fn task(&self, verify: &VerifyJob) -> Task {
        let job = self.job;
        Task {
            run: self.run_number(),
            thread: self.number as u32,
            page_bytes: job.block_bytes as u32,
            shape: Shape::of(
                verify.profile,
                job.block_bytes,
                flush_every(job, verify),
                job.cache.writes_through(),
            ),
            read_share: job.read_share,
            outstanding: job.outstanding,
            seed: job.seed,
            stall_ns: verify.stall.ns,
            audit_every_ns: verify.audit_every.ns,
            end_ns: job.phases.end_ns(),
        }
    }
}
