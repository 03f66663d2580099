//! What a verifying thread does with answers: each page is checked, and whatever is wrong is looked at once more on the spot.

use load::Completed;
use record::Damage;
use record::verify::{LATE_MAX, Late};

use super::evidence::{Found, Spot};
use super::journal::Journal;
use super::load::{ERRORS_MAX, FREE, Purpose, Slot, Verifier, VerifyError};
use super::page::{self, Place};
use super::sight::{Expected, Sight, judge, see};
use super::volume::Volume;
use crate::engine::{Completion, Engine};
use crate::prefetch::ask_for;

/// Times that a page is read again that was not what it should be.
const LOOKS: usize = 3;
/// From which time on an I/O is slow, whatever it may take.
const SLOW_NS: u64 = 1_000_000_000;
/// So much of an answer is asked for at a time: a processor has a few dozen lines on the way at most, and waits if it is asked for more.
const ASKED_BYTES: u64 = 4 << 10;

impl<E: Engine, V: Volume, J: Journal> Verifier<'_, E, V, J> {
    /// Deals with an answer.
    ///
    /// # Errors
    /// When the journal cannot be written, or nothing but errors comes.
    #[inline]
    pub(super) fn answered(&mut self, completion: Completion, now_ns: u64) -> Result<(), VerifyError> {
        let Completion { slot: number, result } = completion;
        let slot = self.slots[number as usize];
        if now_ns.saturating_sub(slot.sent_ns) > self.late_ns() {
            self.was_late(number as usize, now_ns);
        }
        self.slots[number as usize].is_busy = false;
        let bytes = slot.pages * u64::from(self.task.page_bytes);
        let is_whole = u64::try_from(result) == Ok(bytes);
        self.meter(&slot, now_ns, bytes, is_whole);
        self.errors_together = if result < 0 { self.errors_together + 1 } else { 0 };
        if !is_whole {
            let fell_short = self.fell_short(&slot, result, now_ns);
            if fell_short.is_err() {
                self.free.push(number);
                return fell_short;
            }
        }
        match slot.purpose {
            Purpose::Read | Purpose::Audit => {
                let states = &mut self.parts[slot.part].states[slot.first as usize..][..slot.pages as usize];
                states.iter_mut().for_each(super::state::PageState::end_read);
                self.check_pages(number, &slot, result, now_ns);
                self.free.push(number);
            }
            Purpose::Update => {
                self.check_pages(number, &slot, result, now_ns);
                let Slot { part, first, pages, sequence, .. } = slot;
                self.push(number, Slot { purpose: Purpose::Write, part, first, pages, sequence, ..FREE });
            }
            Purpose::Write | Purpose::LayOut => {
                self.wrote(&slot, is_whole);
                self.free.push(number);
            }
            Purpose::Flush => {
                self.free.push(number);
                self.flushed(is_whole)?;
            }
        }
        Ok(())
    }

    /// Asks for what is known of the pages that were answered.
    #[inline]
    pub(super) fn ask_for_states(&self, completions: &[Completion]) {
        for completion in completions {
            let Slot { part, first, pages, .. } = self.slots[completion.slot as usize];
            let states = &self.parts[part].states;
            let first = (first as usize).min(states.len());
            ask_for(&states[first..(first + pages as usize).min(states.len())]);
        }
    }

    /// Asks for the begin of what an answer brought, while the one before it is looked at: what a device wrote is in no cache.
    #[inline]
    pub(super) fn ask_for_pages(&mut self, next: Option<&Completion>) {
        let Some(next) = next else { return };
        let Slot { purpose, pages, .. } = self.slots[next.slot as usize];
        if matches!(purpose, Purpose::Read | Purpose::Audit | Purpose::Update) {
            let buffers = self.engine.buffers();
            let bytes = (pages * u64::from(self.task.page_bytes)).min(ASKED_BYTES) as usize;
            let memory_at = buffers.read_at(next.slot);
            ask_for(buffers.block(memory_at, bytes));
        }
    }

    #[inline]
    fn meter(&mut self, slot: &Slot, now_ns: u64, bytes: u64, is_whole: bool) {
        let kind = match slot.purpose {
            Purpose::Read | Purpose::Update => 0,
            Purpose::Write => 1,
            Purpose::Flush => 2,
            Purpose::Audit | Purpose::LayOut => return,
        };
        let Some(meter) = &mut self.meter else { return };
        if is_whole {
            meter
                .complete(now_ns, Completed { kind, due_ns: None, sent_ns: slot.sent_ns.min(now_ns), bytes });
        } else {
            meter.fail(kind);
        }
    }

    #[inline]
    fn wrote(&mut self, slot: &Slot, is_whole: bool) {
        let states = &mut self.parts[slot.part].states[slot.first as usize..][..slot.pages as usize];
        if is_whole {
            states.iter_mut().for_each(super::state::PageState::written);
        } else {
            states.iter_mut().for_each(super::state::PageState::unwritten);
            self.is_frozen = true;
        }
        if slot.purpose == Purpose::Write {
            self.writes_in_flight -= 1;
            self.found.written += if is_whole { slot.pages } else { 0 };
        }
    }

    fn flushed(&mut self, is_whole: bool) -> Result<(), VerifyError> {
        let Some(flushing) = &mut self.flushing else { return Ok(()) };
        flushing.answers_left -= 1;
        flushing.has_failed |= !is_whole;
        if flushing.answers_left > 0 {
            return Ok(());
        }
        let (sequence, has_failed) = (flushing.sequence, flushing.has_failed);
        self.flushing = None;
        // After a failed flush nobody knows what is durable, not even after the next one: the kernel tells an error once.
        self.is_frozen |= has_failed;
        if self.is_frozen { Ok(()) } else { self.journal.durable(sequence).map_err(VerifyError::Journal) }
    }

    /// Checks the pages that were read.
    #[inline]
    fn check_pages(&mut self, number: u32, slot: &Slot, result: i32, now_ns: u64) {
        let page_bytes = self.task.page_bytes as usize;
        let memory_at = self.engine.buffers().read_at(number);
        let read = usize::try_from(result).unwrap_or(0) / page_bytes;
        for index in 0..read.min(slot.pages as usize) {
            let loaded = &mut self.parts[slot.part];
            let at = slot.first as usize + index;
            let state = loaded.states[at];
            let place =
                Place { run: self.task.run, file: loaded.part.number, page: loaded.part.first + at as u64 };
            let block = self.engine.buffers().block(memory_at + index * page_bytes, page_bytes);
            let is_right = |header: page::Header| {
                header.place == place && (state.floor()..=state.issued()).contains(&header.version)
            };
            if !state.must_be_zero() && page::whole(block).is_some_and(is_right) {
                loaded.states[at].checked();
                self.found.read += 1;
            } else {
                self.suspect(slot.part, at, memory_at + index * page_bytes, now_ns);
            }
        }
    }

    /// Looks closely at a page that is not plainly right.
    #[cold]
    fn suspect(&mut self, part: usize, at: usize, memory_at: usize, now_ns: u64) {
        let page_bytes = self.task.page_bytes as usize;
        let loaded = &mut self.parts[part];
        let state = loaded.states[at];
        let page = loaded.part.first + at as u64;
        let expected = Expected {
            place: Place { run: self.task.run, file: loaded.part.number, page },
            floor: state.floor(),
            issued: state.issued(),
            zero: state.must_be_zero(),
            may_be_torn: state.is_in_doubt(),
        };
        self.seen.copy_from_slice(self.engine.buffers().block(memory_at, page_bytes));
        self.found.read += 1;
        loaded.states[at].checked();
        let first = see(&self.seen, &expected);
        let offset = loaded.part.begin + page * page_bytes as u64;
        // What lasts was told when it was found.
        if judge(&first, &[]).is_none() || state.is_damaged() {
            return;
        }
        let looks: Vec<Sight> = (0..LOOKS)
            .filter_map(|_| {
                let read = self.volume.read_again(loaded.part.file, offset, &mut self.again).ok()?;
                (read == page_bytes).then(|| see(&self.again, &expected))
            })
            .collect();
        let Some(damage) = judge(&first, &looks) else { return };
        let recovered = looks.iter().any(|sight| judge(sight, &[]).is_none());
        if !recovered {
            loaded.states[at].tell_damaged();
        }
        let bucket = loaded.bucket(at as u64);
        loaded.damaged[bucket] += 1;
        let spot =
            Spot { path: loaded.part.path.clone(), offset, page, bytes: self.task.page_bytes, at_ns: now_ns };
        let other = self.other(&first);
        let block = &self.seen;
        self.evidence.page(spot, &Found { damage, block, expected, sight: &first, recovered, other });
    }

    /// Where a page belongs that was found elsewhere, and what stands there.
    fn other(&mut self, sight: &Sight) -> Option<String> {
        let Sight::Elsewhere { place, version } = sight else { return None };
        let page_bytes = u64::from(self.task.page_bytes);
        let mut told = format!("it contains page {}, version {version}", place.page);
        let Some(part) = self.parts.iter().map(|loaded| &loaded.part).find(|part| part.number == place.file)
        else {
            return Some(format!("{told}, of file {} of this run", place.file + 1));
        };
        let offset = part.begin + place.page * page_bytes;
        told = format!("{told}, of {} at offset {offset}", part.path);
        let read = self.volume.read_again(part.file, offset, &mut self.again);
        let there = read.ok().and_then(|_| page::whole(&self.again)).filter(|header| header.place == *place);
        Some(match there {
            Some(header) => format!("{told}. The page at that offset contains version {}", header.version),
            None => format!("{told}. The page is missing at that offset"),
        })
    }

    /// An I/O failed, or moved less than it was asked for.
    #[cold]
    fn fell_short(&mut self, slot: &Slot, result: i32, now_ns: u64) -> Result<(), VerifyError> {
        let spot = self.spot(slot, now_ns);
        let what = self.words(slot);
        let (damage, detail) = match u64::try_from(result) {
            Ok(moved) if slot.purpose != Purpose::Write && slot.purpose != Purpose::LayOut => {
                (Damage::NotRead, format!("{what} moved only {moved} bytes"))
            }
            Ok(moved) => (Damage::Failed, format!("{what} moved only {moved} bytes")),
            Err(_) => (Damage::Failed, format!("{what}: {}", std::io::Error::from_raw_os_error(-result))),
        };
        if slot.purpose == Purpose::LayOut {
            return Err(VerifyError::LayOut { path: spot.path, error: detail });
        }
        if self.errors_together >= ERRORS_MAX {
            return Err(VerifyError::Gone { path: spot.path, error: detail });
        }
        if damage == Damage::NotRead {
            let bucket = self.parts[slot.part].bucket(slot.first);
            self.parts[slot.part].damaged[bucket] += 1;
        }
        self.evidence.io(damage, spot, detail);
        Ok(())
    }

    fn spot(&self, slot: &Slot, at_ns: u64) -> Spot {
        let part = &self.parts[slot.part].part;
        let page = part.first + slot.first;
        let page_bytes = u64::from(self.task.page_bytes);
        let offset = if slot.purpose == Purpose::Flush { 0 } else { part.begin + page * page_bytes };
        Spot { path: part.path.clone(), offset, page, bytes: (slot.pages * page_bytes) as u32, at_ns }
    }

    fn words(&self, slot: &Slot) -> String {
        let bytes = slot.pages * u64::from(self.task.page_bytes);
        match slot.purpose {
            Purpose::Read | Purpose::Update => format!("read of {bytes} bytes"),
            Purpose::Audit => format!("audit read of {bytes} bytes"),
            Purpose::Write => format!("write of {bytes} bytes"),
            Purpose::LayOut => format!("first write of {bytes} bytes"),
            Purpose::Flush => "flush".to_owned(),
        }
    }

    /// From which time on an I/O is worth a look.
    #[inline]
    fn late_ns(&self) -> u64 {
        SLOW_NS.min(self.task.stall_ns)
    }

    /// Looks whether an I/O in flight takes too long. Each is told once, however long it takes.
    pub(super) fn look_at_times(&mut self, now_ns: u64) {
        for number in 0..self.slots.len() {
            let slot = self.slots[number];
            if slot.is_busy && now_ns.saturating_sub(slot.sent_ns) > self.late_ns() {
                self.is_late(number, now_ns);
            }
        }
    }

    /// One that was answered late.
    #[cold]
    fn was_late(&mut self, number: usize, now_ns: u64) {
        self.is_late(number, now_ns);
        let slot = self.slots[number];
        if let Some(late) = slot.lateness.number.and_then(|number| self.found.late.get_mut(number)) {
            late.answered_s = Some(now_ns as f64 / 1e9);
        }
        if let Some(finding) = slot.lateness.finding {
            let took_s = now_ns.saturating_sub(slot.sent_ns) as f64 / 1e9;
            let detail = format!("{} completed after {took_s:.1} s", self.words(&slot));
            self.evidence.tell(finding, detail);
        }
    }

    #[cold]
    fn is_late(&mut self, number: usize, now_ns: u64) {
        let slot = self.slots[number];
        let took_ns = now_ns.saturating_sub(slot.sent_ns);
        let mut lateness = slot.lateness;
        if lateness.number.is_none() && self.found.late.len() < LATE_MAX {
            lateness.number = Some(self.found.late.len());
            let sent_s = slot.sent_ns as f64 / 1e9;
            self.found.late.push(Late { sent_s, answered_s: None, is_stalled: false });
        }
        if took_ns > SLOW_NS && !lateness.is_slow {
            self.found.slow += 1;
            lateness.is_slow = true;
        }
        if took_ns > self.task.stall_ns && !lateness.is_stalled {
            self.found.stalls += 1;
            let limit_s = self.task.stall_ns as f64 / 1e9;
            let detail =
                format!("{} did not complete within {limit_s} s or before the end", self.words(&slot));
            let spot = self.spot(&slot, now_ns);
            lateness.finding = self.evidence.io(Damage::Stalled, spot, detail);
            lateness.is_stalled = true;
            if let Some(late) = lateness.number.and_then(|number| self.found.late.get_mut(number)) {
                late.is_stalled = true;
            }
        }
        self.slots[number].lateness = lateness;
    }
}
