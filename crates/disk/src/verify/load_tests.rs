//! A thousand loads of a device that is broken in every way, and a thousand of one that is not.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

use load::{Meter, MonotonicClock, Phases, Span, ThreadInterval};
use record::Damage;
use record::verify::Verified;

use super::damaging::{Damaging, Fault, SameStore, Store};
use super::journal::Journal;
use super::load::{Part, Task, Verifier, VerifyError};
use super::stream::{PartShape, Shape};
use crate::buffer::{Buffers, Content};
use crate::engine::KINDS;
use crate::pattern::Random;
use crate::settings::VerifyProfile;

const PAGES: u64 = 96;
const PAGE_BYTES: u32 = 1024;
const RUN: u128 = 0x1234 << 64;
const BEGIN: u64 = 4096;
/// Half of the I/Os come before the layout of the file ends, at which no fault is planned.
const LAID_OUT: u64 = PAGES;

fn task(seed: u64) -> Task {
    let profiles =
        [VerifyProfile::Sqliosim, VerifyProfile::Log, VerifyProfile::Checkpoint, VerifyProfile::Quick];
    let profile = profiles[seed as usize % profiles.len()];
    let shape = Shape::of(profile, u64::from(PAGE_BYTES), Some(40), false);
    // As much of everything as a short run can have.
    let shape = Shape {
        checkpoint_every: shape.checkpoint_every.map(|_| 30),
        checkpoint_runs: 5,
        resize_every: shape.resize_every.map(|_| 60),
        run_pages: 4,
        ..shape
    };
    Task {
        run: RUN,
        thread: 0,
        page_bytes: PAGE_BYTES,
        shape,
        read_share: 0.5,
        outstanding: 1 + seed as u32 % 8,
        seed,
        stall_ns: 200_000_000,
        audit_every_ns: 10_000_000,
        end_ns: 30_000_000,
    }
}

/// What was found, what should have been, and what was done.
struct Ran {
    verified: Verified,
    expected: Vec<(Damage, u64)>,
    done: BTreeMap<Fault, u64>,
}

fn ran(seed: u64, faults: &[Fault]) -> Ran {
    let (verified, ended, store) = loaded(seed, faults, ());
    ended.unwrap();
    let store = store.borrow();
    Ran { verified, expected: store.expected(), done: store.done.clone() }
}

/// What came of a load with a journal, and the device after it.
fn loaded(
    seed: u64,
    faults: &[Fault],
    journal: impl Journal,
) -> (Verified, Result<(), VerifyError>, Rc<RefCell<Store>>) {
    let task = task(seed);
    let mut random = Random::new(seed, 5);
    let planned = faults.iter().map(|&fault| (LAID_OUT + random.below(600), fault)).collect();
    let content = Content { compressible: 0.0, duplicate: 0.0, seed: 0 };
    let buffers = Buffers::new(task.outstanding, 4 * u64::from(PAGE_BYTES), true, false, content).unwrap();
    let geometry = (PAGES as usize, PAGE_BYTES as usize);
    let device = Damaging::new(geometry, BEGIN, buffers, planned, seed);
    let store = device.store.clone();
    let part = Part {
        file: 0,
        number: 0,
        path: "simulated".to_owned(),
        begin: BEGIN,
        first: 0,
        shape: PartShape { pages: PAGES, elastic: true },
        blocks: None,
    };
    let stop = AtomicBool::new(false);
    let clock = super::damaging::VirtualClock::default();
    let others = (SameStore(store.clone()), journal);
    let mut verifier = Verifier::new(device, clock, others, task, vec![part], &stop, &|_| {});
    verifier.begin(MonotonicClock::starting_now());
    verifier.lay_out().unwrap();
    let clock = verifier.begin(MonotonicClock::starting_now());
    let phases = Phases { warm_up: Span::ZERO, measure: Span { ns: task.end_ns } };
    let (_spare, spare) = mpsc::channel();
    let meter = Meter::new(clock, phases, ThreadInterval::new(KINDS.len(), false), |_| {}, spare, 8);
    let (verified, ended) = verifier.run(meter);
    (verified, ended, store)
}

/// A journal whose device fails after so many promises.
struct Failing(u64);

impl Journal for Failing {
    fn reserve(&mut self, _: u64) -> io::Result<()> {
        self.durable(0)
    }

    fn durable(&mut self, _: u64) -> io::Result<()> {
        self.0 = self.0.checked_sub(1).ok_or_else(|| io::Error::other("the journal is gone"))?;
        Ok(())
    }
}

/// A thread whose journal failed waited for ever for an I/O that it had not sent.
#[test]
fn a_journal_that_fails_ends_the_load_whatever_is_in_flight() {
    for seed in 0..200 {
        let (verified, ended, _) = loaded(seed, &[], Failing(1 + seed % 2));
        assert!(matches!(ended, Err(VerifyError::Journal(_))), "seed {seed}: {ended:?}");
        assert!(!verified.is_audited && !verified.is_faulty(), "seed {seed}: {verified:?}");
    }
}

fn found(verified: &Verified) -> Vec<(Damage, u64)> {
    let mut all: Vec<_> = verified.findings.iter().map(|finding| (finding.damage, finding.page)).collect();
    all.sort_unstable();
    all
}

/// Faults of a run: up to four, of kinds that follow from the seed, so that all come up as often.
fn faults(seed: u64) -> Vec<Fault> {
    let mut random = Random::new(seed, 6);
    let number = 1 + random.below(4);
    let first = seed as usize % Fault::ALL.len();
    let others = (1..number).map(|_| Fault::ALL[random.below(Fault::ALL.len() as u64) as usize]);
    std::iter::once(Fault::ALL[first]).chain(others).collect()
}

#[test]
fn each_fault_is_found_and_told_what_it_is() {
    let mut done: BTreeMap<Fault, u64> = BTreeMap::new();
    let mut classes: BTreeMap<Damage, u64> = BTreeMap::new();
    for seed in 0..1_000 {
        let ran = ran(seed, &faults(seed));
        assert_eq!(
            found(&ran.verified),
            ran.expected,
            "seed {seed}: {:?} {:#?}",
            faults(seed),
            ran.verified.findings
        );
        ran.done.iter().for_each(|(fault, times)| *done.entry(*fault).or_default() += times);
        ran.expected.iter().for_each(|(damage, _)| *classes.entry(*damage).or_default() += 1);
        assert!(ran.verified.is_audited && ran.verified.checked == PAGES, "seed {seed}");
    }
    for fault in Fault::ALL {
        assert!(done.get(&fault).is_some_and(|&times| times > 60), "{fault:?} hardly happened: {done:?}");
    }
    for damage in Damage::ALL.into_iter().filter(|damage| *damage != Damage::OldData) {
        assert!(
            classes.get(&damage).is_some_and(|&times| times > 40),
            "{damage} was hardly seen: {classes:?}"
        );
    }
}

#[test]
fn where_nothing_is_wrong_nothing_is_found() {
    let mut resized = 0;
    for seed in 0..1_000 {
        let ran = ran(seed, &[]);
        assert!(!ran.verified.is_faulty(), "seed {seed}: {:#?}", ran.verified.findings);
        assert!(
            ran.verified.is_audited && ran.verified.audits >= 2 && ran.verified.checks_least >= 1,
            "seed {seed}"
        );
        assert!(ran.verified.written > 20 && ran.verified.read > 400, "seed {seed}: {:?}", ran.verified);
        resized += ran.verified.resized;
    }
    assert!(resized > 500, "{resized}");
}

#[test]
fn what_happened_before_the_run_is_old_data() {
    let store = |seed| {
        let task = task(seed);
        let mut block = vec![0; PAGE_BYTES as usize];
        let place = super::page::Place { run: RUN + 1, file: 0, page: 3 };
        let header = super::page::Header {
            place,
            version: 1,
            job: 0,
            sequence: 0,
            wall_ns: 0,
            page_bytes: PAGE_BYTES,
        };
        super::page::compose(&mut block, &header);
        let expected = super::sight::Expected {
            place: super::page::Place { run: task.run, ..place },
            floor: 1,
            issued: 1,
            zero: false,
            may_be_torn: false,
        };
        super::sight::judge(&super::sight::see(&block, &expected), &[])
    };
    assert_eq!(store(1), Some(Damage::OldData));
}
