//! A simulated device that does what storage does when it is broken, in virtual time, and that knows what it did: the oracle of
//! what must be found. It also loses power: then any of what was not made durable is gone.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;
use std::rc::Rc;

use load::{Clock, MonotonicClock};
use record::Damage;

use super::page::{self, Header, SECTOR};
use super::volume::Volume;
use crate::buffer::Buffers;
use crate::engine::{Completion, Engine, Kind, Operation, Wait};
use crate::pattern::Random;

/// What can be done to a page or an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    Tear,
    Swap,
    MisdirectWrite,
    MisdirectRead,
    Revert,
    LoseWrite,
    StaleRead,
    Phantom,
    FlipBit,
    Zero,
    ShortRead,
    NotRead,
    FailRead,
    FailWrite,
    Stall,
}

impl Fault {
    pub(super) const ALL: [Self; 15] = [
        Self::Tear,
        Self::Swap,
        Self::MisdirectWrite,
        Self::MisdirectRead,
        Self::Revert,
        Self::LoseWrite,
        Self::StaleRead,
        Self::Phantom,
        Self::FlipBit,
        Self::Zero,
        Self::ShortRead,
        Self::NotRead,
        Self::FailRead,
        Self::FailWrite,
        Self::Stall,
    ];
}

/// Damage that lies in a page until it is written again.
#[derive(Clone, Copy, Debug)]
struct Lying {
    damage: Damage,
    /// The page whose write stands here, if it is one that went astray.
    strayed_from: Option<u64>,
}

/// The device's memory, and what it did.
pub(super) struct Store {
    page_bytes: usize,
    /// Bytes of the file before its first page.
    begin: u64,
    pub(super) now: Vec<Vec<u8>>,
    before: Vec<Option<Vec<u8>>>,
    lying: BTreeMap<u64, Lying>,
    /// What must be found: class and page.
    pub(super) seen: Vec<(Damage, u64)>,
    /// Pages whose lost write is told as the one that went astray, once that was seen.
    strayed: Vec<(u64, u64)>,
    planned: Vec<(u64, Fault)>,
    pub(super) done: BTreeMap<Fault, u64>,
    random: Random,
    taken: u64,
}

impl Store {
    fn page_of(&self, offset: u64) -> u64 {
        (offset - self.begin) / self.page_bytes as u64
    }

    /// A page that no fault lies in, that was written more than once, and is none of these.
    fn any_page(&mut self, not: &[u64]) -> Option<u64> {
        (0..20).map(|_| self.random.below(self.now.len() as u64)).find(|page| {
            !not.contains(page)
                && !self.lying.contains_key(page)
                && self.before[*page as usize].is_some()
                && page::whole(&self.now[*page as usize]).is_some()
        })
    }

    fn is_sound(&self, page: u64) -> bool {
        !self.lying.contains_key(&page)
            && page::whole(&self.now[page as usize]).is_some_and(|header| header.place.page == page)
    }

    fn lay(&mut self, page: u64, damage: Damage) {
        self.lying.insert(page, Lying { damage, strayed_from: None });
    }

    /// A fault that is done to pages at rest; whether it could be.
    fn at_rest(&mut self, fault: Fault) -> bool {
        let Some(page) = self.any_page(&[]) else { return false };
        let at = page as usize;
        match fault {
            Fault::Swap => {
                let Some(other) = self.any_page(&[page]) else { return false };
                self.now.swap(at, other as usize);
                self.lay(page, Damage::MisdirectedWrite);
                self.lay(other, Damage::MisdirectedWrite);
            }
            Fault::Revert => {
                let Some(before) = self.before[at].clone() else { return false };
                self.now[at] = before;
                self.lay(page, Damage::LostWrite);
            }
            Fault::Phantom => {
                let Some(header) = page::whole(&self.now[at]) else { return false };
                page::compose(&mut self.now[at], &Header { version: header.version + 1_000, ..header });
                self.lay(page, Damage::Phantom);
            }
            Fault::FlipBit => {
                let bit = self.random.below(self.page_bytes as u64 * 8) as usize;
                self.now[at][bit / 8] ^= 1 << (bit % 8);
                self.lay(page, Damage::Corrupt);
            }
            Fault::Zero => {
                self.now[at].fill(0);
                self.lay(page, Damage::Zero);
            }
            _ => return false,
        }
        true
    }

    /// Reads pages into a block, as far as the fault lets it; what is answered.
    fn read(&mut self, fault: Option<Fault>, first: u64, block: &mut [u8]) -> (i32, bool) {
        let pages = (block.len() / self.page_bytes) as u64;
        let all_sound = (first..first + pages).all(|page| self.is_sound(page));
        let page_bytes = self.page_bytes;
        match fault.filter(|_| all_sound) {
            Some(Fault::FailRead) => {
                self.seen.push((Damage::Failed, first));
                return (-rustix::io::Errno::IO.raw_os_error(), true);
            }
            Some(Fault::ShortRead) => {
                self.seen.push((Damage::NotRead, first));
                block[..page_bytes / 2].copy_from_slice(&self.now[first as usize][..page_bytes / 2]);
                return (page_bytes as i32 / 2, true);
            }
            _ => {}
        }
        let mut is_done = false;
        for (number, piece) in block.chunks_exact_mut(page_bytes).enumerate() {
            let fault = fault.filter(|_| number == 0 && all_sound);
            is_done |= self.read_page(fault, first + number as u64, piece);
        }
        (block.len() as i32, is_done)
    }

    /// Reads one page; whether the fault was done.
    fn read_page(&mut self, fault: Option<Fault>, page: u64, piece: &mut [u8]) -> bool {
        match fault {
            Some(Fault::MisdirectRead) => {
                let Some(other) = self.any_page(&[page]) else { return self.read_page(None, page, piece) };
                piece.copy_from_slice(&self.now[other as usize]);
                self.seen.push((Damage::MisdirectedRead, page));
                true
            }
            Some(Fault::StaleRead) if self.before[page as usize].is_some() => {
                if let Some(before) = &self.before[page as usize] {
                    piece.copy_from_slice(before);
                }
                self.seen.push((Damage::StaleRead, page));
                true
            }
            Some(Fault::NotRead) => {
                let half = SECTOR * (1 + self.random.below((self.page_bytes / SECTOR) as u64 - 1) as usize);
                piece[..half].copy_from_slice(&self.now[page as usize][..half]);
                self.seen.push((Damage::NotRead, page));
                true
            }
            _ => {
                piece.copy_from_slice(&self.now[page as usize]);
                self.saw(page);
                false
            }
        }
    }

    /// The load read what lies in a page: it must be found, once.
    fn saw(&mut self, page: u64) {
        let Some(lying) = self.lying.get(&page).copied() else { return };
        if !self.seen.contains(&(lying.damage, page)) {
            self.seen.push((lying.damage, page));
            self.strayed.extend(lying.strayed_from.map(|from| (from, page)));
        }
    }

    /// Writes one page of an I/O; whether the fault was done.
    fn write_page(&mut self, fault: Option<Fault>, page: u64, piece: &[u8]) -> bool {
        let at = page as usize;
        let is_sound = self.is_sound(page);
        match fault.filter(|_| is_sound) {
            Some(Fault::Tear) => {
                let kept = SECTOR * (1 + self.random.below((self.page_bytes / SECTOR) as u64 - 1) as usize);
                self.now[at][..kept].copy_from_slice(&piece[..kept]);
                self.lay(page, Damage::Torn);
                true
            }
            Some(Fault::LoseWrite) => {
                self.lay(page, Damage::LostWrite);
                true
            }
            Some(Fault::MisdirectWrite) => {
                let Some(other) = self.any_page(&[page]) else { return self.write_page(None, page, piece) };
                self.now[other as usize].copy_from_slice(piece);
                self.lay(page, Damage::LostWrite);
                let strayed_from = Some(page);
                self.lying.insert(other, Lying { damage: Damage::MisdirectedWrite, strayed_from });
                true
            }
            _ => {
                if page::whole(&self.now[at]).is_some_and(|header| header.place.page == page) && is_sound {
                    self.before[at] = Some(self.now[at].clone());
                }
                self.now[at].copy_from_slice(piece);
                self.lying.remove(&page);
                false
            }
        }
    }

    /// What must be found, in order: a lost write whose page was found elsewhere is told there.
    pub(super) fn expected(&self) -> Vec<(Damage, u64)> {
        let told_elsewhere = |(damage, page): &&(Damage, u64)| {
            *damage == Damage::LostWrite && self.strayed.iter().any(|(from, _)| from == page)
        };
        let mut all: Vec<_> = self.seen.iter().filter(|seen| !told_elsewhere(seen)).copied().collect();
        all.sort_unstable();
        all
    }
}

/// A clock that only this device moves.
#[derive(Clone, Debug, Default)]
pub(super) struct VirtualClock(Rc<Cell<u64>>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    fn thread_cpu_ns(&self) -> u64 {
        0
    }
}

/// The device as an engine.
pub(super) struct Damaging {
    pub(super) store: Rc<RefCell<Store>>,
    clock: VirtualClock,
    buffers: Buffers,
    in_flight: BinaryHeap<Reverse<(u64, u32)>>,
    operations: BTreeMap<u32, Operation>,
}

/// How much slower than others an I/O is that stalls.
const STALL_NS: u64 = 400_000_000;
const SERVICE_NS: u64 = 100_000;

impl Damaging {
    /// A device of so many pages with faults at the given I/Os.
    pub(super) fn new(
        (pages, page_bytes): (usize, usize),
        begin: u64,
        buffers: Buffers,
        planned: Vec<(u64, Fault)>,
        seed: u64,
    ) -> Self {
        let store = Store {
            page_bytes,
            begin,
            now: vec![vec![0; page_bytes]; pages],
            before: vec![None; pages],
            lying: BTreeMap::new(),
            seen: Vec::new(),
            strayed: Vec::new(),
            planned,
            done: BTreeMap::new(),
            random: Random::new(seed, 77),
            taken: 0,
        };
        Self {
            store: Rc::new(RefCell::new(store)),
            clock: VirtualClock::default(),
            buffers,
            in_flight: BinaryHeap::new(),
            operations: BTreeMap::new(),
        }
    }

    /// The fault that is due, if this I/O is one that it can be done to.
    fn due(&self, kind: Kind) -> Option<usize> {
        let store = self.store.borrow();
        let of_kind = |fault: Fault| match fault {
            Fault::Tear | Fault::MisdirectWrite | Fault::LoseWrite | Fault::FailWrite => kind == Kind::Write,
            Fault::MisdirectRead | Fault::StaleRead | Fault::ShortRead | Fault::NotRead | Fault::FailRead => {
                kind == Kind::Read
            }
            Fault::Swap | Fault::Revert | Fault::Phantom | Fault::FlipBit | Fault::Zero | Fault::Stall => {
                true
            }
        };
        store.planned.iter().position(|&(at, fault)| at <= store.taken && of_kind(fault))
    }

    fn perform(&mut self, operation: Operation) -> i32 {
        self.store.borrow_mut().taken += 1;
        let due = self.due(operation.kind).filter(|_| operation.kind != Kind::Flush);
        let mut store = self.store.borrow_mut();
        let store = &mut *store;
        let fault = due.map(|number| store.planned[number].1);
        let block = self.buffers.block(operation.memory_at, operation.bytes as usize);
        let (result, is_done) = match operation.kind {
            Kind::Flush => (0, false),
            Kind::Read => {
                let rested = fault.is_some_and(|fault| store.at_rest(fault));
                let first = store.page_of(operation.offset);
                let (result, done) = store.read(fault.filter(|_| !rested), first, block);
                (result, rested || done)
            }
            Kind::Write => write(store, fault, &operation, block),
        };
        if let (Some(number), true) = (due, is_done) {
            let (_, fault) = store.planned.remove(number);
            *store.done.entry(fault).or_default() += 1;
        }
        result
    }

    fn answer_until_now(&mut self, completions: &mut Vec<Completion>) {
        while let Some(&Reverse((done_ns, slot))) = self.in_flight.peek() {
            if done_ns > self.clock.now_ns() {
                break;
            }
            self.in_flight.pop();
            let Some(operation) = self.operations.remove(&slot) else { continue };
            let result = self.perform(operation);
            completions.push(Completion { slot, result });
        }
    }
}

fn write(store: &mut Store, fault: Option<Fault>, operation: &Operation, block: &[u8]) -> (i32, bool) {
    let first = store.page_of(operation.offset);
    let whole = operation.bytes as i32;
    if fault == Some(Fault::FailWrite) && store.is_sound(first) {
        store.seen.push((Damage::Failed, first));
        // Some of it may have been written nevertheless.
        let sectors = store.random.below((store.page_bytes / SECTOR) as u64 + 1) as usize;
        store.now[first as usize][..sectors * SECTOR].copy_from_slice(&block[..sectors * SECTOR]);
        return (-rustix::io::Errno::IO.raw_os_error(), true);
    }
    let rested = fault.is_some_and(|fault| store.at_rest(fault));
    let mut is_done = rested;
    let page_bytes = store.page_bytes;
    for (number, piece) in block.chunks_exact(page_bytes).enumerate() {
        let fault = fault.filter(|_| number == 0 && !rested);
        is_done |= store.write_page(fault, first + number as u64, piece);
    }
    (whole, is_done)
}

impl Engine for Damaging {
    type Clock = VirtualClock;

    fn start(&mut self, _: MonotonicClock) -> VirtualClock {
        self.clock.clone()
    }

    fn buffers(&mut self) -> &mut Buffers {
        &mut self.buffers
    }

    fn push(&mut self, operation: Operation) {
        let due = self.due(operation.kind).filter(|_| operation.kind != Kind::Flush);
        let mut store = self.store.borrow_mut();
        let stalls = due.is_some_and(|number| store.planned[number].1 == Fault::Stall);
        if let (Some(number), true) = (due, stalls) {
            store.planned.remove(number);
            *store.done.entry(Fault::Stall).or_default() += 1;
            let page = store.page_of(operation.offset);
            store.seen.push((Damage::Stalled, page));
        }
        let service_ns = SERVICE_NS / 2 + store.random.below(SERVICE_NS) + if stalls { STALL_NS } else { 0 };
        self.in_flight.push(Reverse((self.clock.now_ns() + service_ns, operation.slot)));
        self.operations.insert(operation.slot, operation);
    }

    fn exchange(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> io::Result<()> {
        let next_ns = self.in_flight.peek().map(|&Reverse((done_ns, _))| done_ns);
        let wake_ns = match (wait, next_ns) {
            (Wait::No, _) | (Wait::One, None) => None,
            (Wait::One, Some(next_ns)) => Some(next_ns),
            (Wait::Until(until_ns), next_ns) => Some(until_ns.min(next_ns.unwrap_or(u64::MAX))),
        };
        if let Some(wake_ns) = wake_ns {
            self.clock.0.set(self.clock.now_ns().max(wake_ns));
        }
        self.answer_until_now(completions);
        Ok(())
    }
}

/// The same device, as a verifying thread reads it again.
pub(super) struct SameStore(pub(super) Rc<RefCell<Store>>);

impl Volume for SameStore {
    fn read_again(&mut self, _: u32, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let store = self.0.borrow();
        into.copy_from_slice(&store.now[store.page_of(offset) as usize]);
        Ok(into.len())
    }

    fn resize(&mut self, _: u32, bytes: u64) -> io::Result<()> {
        let mut store = self.0.borrow_mut();
        let from = store.page_of(bytes);
        for page in from..store.now.len() as u64 {
            store.now[page as usize].fill(0);
            store.before[page as usize] = None;
            store.lying.remove(&page);
        }
        Ok(())
    }

    fn forget_cached(&mut self) -> io::Result<()> {
        Ok(())
    }
}
