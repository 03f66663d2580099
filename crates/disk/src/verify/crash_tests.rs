//! Ten thousand crashes of a simulated device with a cache that forgets: any of what was not flushed is gone, sector by sector.
//! What was acknowledged as durable and is lost must be found exactly where a flush lied.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

use load::{Meter, MonotonicClock, Phases, Span, ThreadInterval};

use super::after_crash::{AfterCrash, look};
use super::journal::{Journal, Plan, PlannedPart, Promised};
use super::load::{Part, Task, Verifier};
use super::page::{self, SECTOR, Sector};
use super::stream::PartShape;
use super::volume::Volume;
use crate::buffer::{Buffers, Content};
use crate::engine::KINDS;
use crate::engine::{Completion, Engine, Kind, Operation, Wait};
use crate::pattern::Random;
use crate::settings::VerifyProfile;

const PAGES: u64 = 80;
const PAGE_BYTES: usize = 1024;
const RUN: u128 = 3 << 64 | 9;

/// The medium below a cache.
struct Medium {
    /// What reads see.
    now: Vec<Vec<u8>>,
    /// What is durable.
    durable: Vec<Vec<u8>>,
    /// What was written to each page since, in order.
    unflushed: BTreeMap<u64, Vec<Vec<u8>>>,
    /// Versions that were acknowledged as durable, truly or not.
    claimed: Vec<u64>,
    random: Random,
    lies: bool,
    has_lied: bool,
    /// I/Os after which the power is cut.
    left: u64,
}

impl Medium {
    fn version(&self, page: u64) -> u64 {
        // What stands in the cache is whole.
        page::header(&self.now[page as usize]).map_or(0, |header| header.version)
    }

    fn make_durable(&mut self) {
        self.durable.clone_from(&self.now);
        self.unflushed.clear();
        self.claimed = (0..PAGES).map(|page| self.version(page)).collect();
    }

    fn write(&mut self, first: u64, block: &[u8]) {
        for (page, piece) in (first..).zip(block.chunks_exact(PAGE_BYTES)) {
            self.now[page as usize].copy_from_slice(piece);
            self.unflushed.entry(page).or_default().push(piece.to_vec());
        }
    }

    /// What is left of the pages when the power is gone: of each sector what was durable or anything that was written since.
    fn survivors(&mut self) -> Vec<Vec<u8>> {
        let mut left = self.durable.clone();
        for (page, written) in &self.unflushed {
            let whole = (self.random.below(2) == 0).then(|| self.random.below(written.len() as u64 + 1));
            for sector in 0..PAGE_BYTES / SECTOR {
                let which = whole.unwrap_or_else(|| self.random.below(written.len() as u64 + 1));
                if let Some(content) = which.checked_sub(1).map(|which| &written[which as usize]) {
                    let bytes = sector * SECTOR..(sector + 1) * SECTOR;
                    left[*page as usize][bytes.clone()].copy_from_slice(&content[bytes]);
                }
            }
        }
        left
    }
}

struct Cached {
    medium: Rc<RefCell<Medium>>,
    buffers: Buffers,
    clock: super::damaging::VirtualClock,
    in_flight: Vec<(Operation, Vec<u64>)>,
}

impl Engine for Cached {
    type Clock = super::damaging::VirtualClock;

    fn start(&mut self, _: MonotonicClock) -> Self::Clock {
        self.clock.clone()
    }

    fn buffers(&mut self) -> &mut Buffers {
        &mut self.buffers
    }

    fn push(&mut self, operation: Operation) {
        let medium = self.medium.borrow();
        // What a flush makes durable was written before it was sent.
        let versions = match operation.kind {
            Kind::Flush => (0..PAGES).map(|page| medium.version(page)).collect(),
            Kind::Read | Kind::Write => Vec::new(),
        };
        self.in_flight.push((operation, versions));
    }

    fn exchange(&mut self, _: Wait, completions: &mut Vec<Completion>) -> io::Result<()> {
        let mut medium = self.medium.borrow_mut();
        while !self.in_flight.is_empty() {
            if medium.left == 0 {
                // What was in flight may be written as well, or in part.
                for (operation, _) in
                    self.in_flight.drain(..).filter(|(operation, _)| operation.kind == Kind::Write)
                {
                    let block = self.buffers.block(operation.memory_at, operation.bytes as usize);
                    medium.write(operation.offset / PAGE_BYTES as u64, block);
                }
                return Err(io::Error::other("the power is gone"));
            }
            medium.left -= 1;
            let next = medium.random.below(self.in_flight.len() as u64) as usize;
            let (operation, versions) = self.in_flight.swap_remove(next);
            let block = self.buffers.block(operation.memory_at, operation.bytes as usize);
            let first = operation.offset / PAGE_BYTES as u64;
            match operation.kind {
                Kind::Read => {
                    for (page, piece) in (first..).zip(block.chunks_exact_mut(PAGE_BYTES)) {
                        piece.copy_from_slice(&medium.now[page as usize]);
                    }
                }
                Kind::Write => medium.write(first, block),
                Kind::Flush => flush(&mut medium, versions),
            }
            completions.push(Completion { slot: operation.slot, result: operation.bytes as i32 });
            if medium.random.below(3) == 0 || operation.kind == Kind::Flush {
                // The answer of a flush is heard before anything else happens, so that it is known what was claimed.
                break;
            }
        }
        Ok(())
    }
}

fn flush(medium: &mut Medium, versions: Vec<u64>) {
    if medium.lies && medium.random.below(4) == 0 {
        medium.has_lied = true;
    } else {
        for page in 0..PAGES {
            let Some(written) = medium.unflushed.get_mut(&page) else { continue };
            let is_covered = |content: &Vec<u8>| {
                page::header(content).is_some_and(|header| header.version <= versions[page as usize])
            };
            let covered = written.iter().filter(|content| is_covered(content)).count();
            if covered > 0 {
                medium.durable[page as usize] = written[covered - 1].clone();
                written.drain(..covered);
            }
        }
        medium.unflushed.retain(|_, written| !written.is_empty());
    }
    medium.claimed = versions;
}

impl Volume for Rc<RefCell<Medium>> {
    fn read_again(&mut self, _: u32, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        into.copy_from_slice(&self.borrow().now[offset as usize / PAGE_BYTES]);
        Ok(into.len())
    }

    fn resize(&mut self, _: u32, _: u64) -> io::Result<()> {
        unreachable!("a file whose writes are promised keeps its length")
    }

    fn forget_cached(&mut self) -> io::Result<()> {
        self.borrow_mut().make_durable();
        Ok(())
    }
}

#[derive(Clone, Default)]
struct Kept(Rc<RefCell<Promised>>);

impl Journal for Kept {
    fn reserve(&mut self, up_to: u64) -> io::Result<()> {
        self.0.borrow_mut().reserved = Some(up_to);
        Ok(())
    }

    fn durable(&mut self, up_to: u64) -> io::Result<()> {
        self.0.borrow_mut().durable = up_to;
        Ok(())
    }
}

fn plan(seed: u64) -> Plan {
    let shape = PartShape { pages: PAGES, elastic: false };
    let profile = [VerifyProfile::Sqliosim, VerifyProfile::Log, VerifyProfile::Checkpoint][seed as usize % 3];
    Plan {
        run: format!("{RUN:x}"),
        page_bytes: PAGE_BYTES as u32,
        profile,
        flush_every: Some(10 + seed % 20),
        writes_through: false,
        seed,
        files: vec![PathBuf::from("medium")],
        threads: vec![vec![PlannedPart { file: 0, begin: 0, first: 0, shape }]],
    }
}

struct Crashed {
    told: AfterCrash,
    /// Pages of which a sector is older than what was acknowledged as durable.
    lost: BTreeSet<u64>,
    has_lied: bool,
}

fn crashed(seed: u64, lies: bool) -> Crashed {
    let plan = plan(seed);
    let mut random = Random::new(seed, 11);
    let pages = vec![vec![0; PAGE_BYTES]; PAGES as usize];
    let medium = Rc::new(RefCell::new(Medium {
        durable: pages.clone(),
        now: pages,
        unflushed: BTreeMap::new(),
        claimed: vec![0; PAGES as usize],
        left: u64::MAX,
        lies,
        has_lied: false,
        random: Random::new(seed, 12),
    }));
    let outstanding = 1 + random.below(6) as u32;
    let content = Content { compressible: 0.0, duplicate: 0.0, seed: 0 };
    let buffers = Buffers::new(outstanding, 16 * PAGE_BYTES as u64, true, false, content).unwrap();
    let clock = super::damaging::VirtualClock::default();
    let engine = Cached { medium: medium.clone(), buffers, clock: clock.clone(), in_flight: Vec::new() };
    let task = Task {
        run: RUN,
        thread: 0,
        page_bytes: PAGE_BYTES as u32,
        shape: plan.shape(),
        read_share: 0.2,
        outstanding,
        seed,
        stall_ns: u64::MAX,
        audit_every_ns: u64::MAX,
        end_ns: u64::MAX,
    };
    let PlannedPart { begin, first, shape, .. } = plan.threads[0][0];
    let part = Part { file: 0, number: 0, path: "medium".to_owned(), begin, first, shape, blocks: None };
    let (stop, kept) = (AtomicBool::new(false), Kept::default());
    let mut verifier =
        Verifier::new(engine, clock, (medium.clone(), kept.clone()), task, vec![part], &stop, &|_| {});
    verifier.lay_out().unwrap();
    medium.borrow_mut().left = random.below(400);
    let clock = verifier.begin(MonotonicClock::starting_now());
    let phases = Phases { warm_up: Span::ZERO, measure: Span::seconds(1) };
    let (_spare, spare) = mpsc::channel();
    let meter = Meter::new(clock, phases, ThreadInterval::new(KINDS.len(), false), |_| {}, spare, 8);
    let (verified, ended) = verifier.run(meter);
    assert!(ended.is_err() && !verified.is_faulty(), "{ended:?} {verified:?}");
    after(&plan, &kept, &mut medium.borrow_mut())
}

fn after(plan: &Plan, kept: &Kept, medium: &mut Medium) -> Crashed {
    let left = medium.survivors();
    let is_lost = |page: &u64| {
        let place = page::Place { run: RUN, file: 0, page: *page };
        let sectors = page::sectors(&left[*page as usize], place);
        sectors.iter().any(|sector| match sector {
            Sector::Version(version) => *version < medium.claimed[*page as usize],
            Sector::Zero | Sector::NotRead | Sector::Other => true,
        })
    };
    let lost = (0..PAGES).filter(is_lost).collect();
    let read = |_, offset: u64, into: &mut [u8]| {
        let (page, at) = (offset as usize / PAGE_BYTES, offset as usize % PAGE_BYTES);
        into.copy_from_slice(&left[page][at..at + into.len()]);
        Ok(into.len())
    };
    let told = look(plan, &[*kept.0.borrow()], &["medium".to_owned()], read);
    Crashed { told, lost, has_lied: medium.has_lied }
}

fn found(told: &AfterCrash) -> (u64, BTreeSet<u64>) {
    let pages = told.verified.findings.iter().map(|finding| finding.page).collect();
    (told.verified.damaged(), pages)
}

#[test]
fn nothing_is_lost_where_flushes_do_what_they_say() {
    let (mut torn, mut newer, mut durable) = (0, 0, 0);
    for seed in 0..5_000 {
        let Crashed { told, lost, has_lied } = crashed(seed, false);
        assert!(!has_lied && lost.is_empty());
        assert!(!told.verified.is_faulty(), "seed {seed}: {:#?}", told.verified.findings);
        assert_eq!((told.verified.pages, told.not_laid_out), (PAGES, 0));
        torn += told.torn_in_flight;
        newer += told.newer;
        durable += told.durable_writes;
    }
    assert!(torn > 1_000 && newer > 1_000 && durable > 10_000, "{torn} {newer} {durable}");
}

#[test]
fn what_is_lost_is_found_exactly_where_a_flush_lied() {
    let (mut with_loss, mut pages) = (0, 0);
    for seed in 5_000..10_000 {
        let Crashed { told, lost, has_lied } = crashed(seed, true);
        assert!(has_lied || lost.is_empty(), "seed {seed}");
        let (damaged, found) = found(&told);
        assert_eq!(damaged, lost.len() as u64, "seed {seed}: {lost:?} {:#?}", told.verified.findings);
        if damaged <= record::verify::FINDINGS_MAX as u64 {
            assert_eq!(found, lost, "seed {seed}");
        }
        with_loss += u64::from(!lost.is_empty());
        pages += lost.len();
    }
    assert!(with_loss > 500 && pages > 1_000, "{with_loss} {pages}");
}
