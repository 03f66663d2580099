//! What a verifying thread sends next: reads where nothing is written meanwhile, writes in the order of its stream.

use load::Clock;

use super::journal::Journal;
use super::load::{FREE, Flushing, LOOK_UP_NS, Purpose, Slot, Verifier, VerifyError};
use super::page::{self, Header, Place};
use super::stream::{Reason, Step, hot_or_any};
use super::volume::Volume;
use crate::engine::{Engine, Kind, Operation, Wait};
use crate::prefetch::ask_for;

/// Most I/Os that are sent with one system call, and the most to a device that has nothing to do.
const BATCH: usize = 16;
const BATCH_MIN: usize = 4;
/// Draws of a page to be read before it is given up for now: hot pages may all be written.
const DRAWS: u32 = 8;
/// Reads that are drawn before they are sent.
pub(super) const AHEAD: usize = 4;
/// Writes that are reserved at a time: a journal is flushed once for so many.
const RESERVED: u64 = 16_384;

/// Pages of a read that is sent some reads later. Nothing is read where a draw has no pages, as those have with which all begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drawn {
    part: usize,
    first: u64,
    pages: u64,
}

impl<E: Engine, V: Volume, J: Journal> Verifier<'_, E, V, J> {
    /// Pushes a batch of the load and says how long to wait for answers.
    ///
    /// # Errors
    /// When the journal or a change of a file's length fails.
    #[inline]
    pub(super) fn send(&mut self, now_ns: u64) -> Result<Wait, VerifyError> {
        let batch = self.in_flight().clamp(BATCH_MIN, BATCH);
        for _ in 0..batch {
            let Some(slot) = self.free.pop() else { return Ok(Wait::Until(now_ns + LOOK_UP_NS)) };
            let pushed = self.push_next(slot);
            if !matches!(pushed, Ok(true)) {
                self.free.push(slot);
                pushed?;
                return Ok(Wait::Until(now_ns + LOOK_UP_NS));
            }
        }
        Ok(Wait::No)
    }

    /// Pushes one I/O of the load; false if nothing can be sent before something is answered.
    #[inline]
    fn push_next(&mut self, slot: u32) -> Result<bool, VerifyError> {
        if self.push_flush(slot) {
            return Ok(true);
        }
        if let Some(Step::Cut { .. } | Step::Grow { .. }) = self.step {
            if self.in_flight() > 1 {
                return Ok(false);
            }
            self.resize()?;
        }
        if self.random.unit() >= self.task.read_share && self.push_write(slot)? {
            return Ok(true);
        }
        match self.step {
            Some(Step::Cut { .. } | Step::Grow { .. }) => self.push_next_after_resize(slot),
            _ => Ok(self.push_read(slot)),
        }
    }

    /// A resize came up: with nothing in flight it is done at once, else what is in flight is awaited first.
    #[cold]
    fn push_next_after_resize(&mut self, slot: u32) -> Result<bool, VerifyError> {
        if self.in_flight() > 1 {
            return Ok(false);
        }
        self.resize()?;
        Ok(self.push_read(slot))
    }

    /// Pushes a read of what is not being written; false if that cannot be found at once.
    #[inline]
    fn push_read(&mut self, slot: u32) -> bool {
        for _ in 0..DRAWS {
            let Drawn { part, first, pages } = self.next_drawn();
            if pages == 0 || first + pages > self.stream.pages(part) {
                continue;
            }
            let states = &mut self.parts[part].states[first as usize..(first + pages) as usize];
            if states.iter().all(|state| state.can_be_read()) {
                states.iter_mut().for_each(super::state::PageState::begin_read);
                self.push(slot, Slot { purpose: Purpose::Read, part, first, pages, ..FREE });
                return true;
            }
        }
        false
    }

    /// The oldest of the reads that were drawn; another takes its place. What is drawn early is in the cache once it is its turn:
    /// looking at a page's state would otherwise
    /// take longer than all else that is done here.
    #[inline]
    fn next_drawn(&mut self) -> Drawn {
        let new = self.draw();
        let Drawn { part, first, pages } = new;
        ask_for(&self.parts[part].states[first as usize..(first + pages) as usize]);
        let turn = self.draws % AHEAD;
        self.draws += 1;
        std::mem::replace(&mut self.drawn[turn], new)
    }

    /// Draws a read of pages that are there now.
    #[inline]
    fn draw(&mut self) -> Drawn {
        let part = self.next_part;
        self.next_part = if part + 1 == self.parts.len() { 0 } else { part + 1 };
        let live = self.stream.pages(part);
        let shape = self.task.shape;
        let loaded = &mut self.parts[part];
        let (first, pages) = match &mut loaded.part.blocks {
            Some(blocks) => (blocks.next(&mut self.random), 1),
            None if shape.ahead_share > 0.0 && self.random.unit() < shape.ahead_share => {
                let first = if loaded.ahead < live { loaded.ahead } else { 0 };
                let pages = shape.run_pages.min(live - first);
                loaded.ahead = first + pages;
                (first, pages)
            }
            None => (hot_or_any(&mut self.random, live, shape.hot_share), 1),
        };
        Drawn { part, first, pages }
    }

    /// Pushes the next write of the stream, or the flush that comes before it; false if it must wait for what is in flight.
    #[inline]
    fn push_write(&mut self, slot: u32) -> Result<bool, VerifyError> {
        loop {
            let step = match self.step {
                Some(step) => step,
                None => *self.step.insert(self.stream.next()),
            };
            match step {
                Step::Cut { .. } | Step::Grow { .. } => return Ok(false),
                Step::Flush => {
                    if self.writes_in_flight > 0 || self.flushing.is_some() {
                        return Ok(false);
                    }
                    self.step = None;
                    let answers_left = self.parts.len();
                    self.flushing = Some(Flushing {
                        sequence: self.sequence,
                        next_part: 0,
                        answers_left,
                        has_failed: false,
                    });
                    return Ok(self.push_flush(slot));
                }
                Step::Write { part, first, pages, reason } => {
                    let states = &mut self.parts[part].states[first as usize..(first + pages) as usize];
                    if states.iter().any(|state| state.is_spent()) {
                        // Nothing is promised of it, nor of what follows.
                        (self.step, self.is_frozen) = (None, true);
                        self.sequence += 1;
                        continue;
                    }
                    if !states.iter().all(|state| state.can_be_written()) {
                        return Ok(false);
                    }
                    states.iter_mut().for_each(super::state::PageState::latch_to_write);
                    self.step = None;
                    self.begin_write(slot, Slot { part, first, pages, ..FREE }, reason)?;
                    return Ok(true);
                }
            }
        }
    }

    #[inline]
    fn begin_write(&mut self, slot: u32, at: Slot, reason: Reason) -> Result<(), VerifyError> {
        if self.sequence >= self.reserved {
            self.reserve()?;
        }
        self.sequence += 1;
        self.writes_in_flight += 1;
        let at = Slot { sequence: self.sequence, ..at };
        match reason {
            Reason::Update => self.push(slot, Slot { purpose: Purpose::Update, ..at }),
            Reason::Checkpoint | Reason::Log => self.push(slot, Slot { purpose: Purpose::Write, ..at }),
        }
        Ok(())
    }

    #[cold]
    pub(super) fn reserve(&mut self) -> Result<(), VerifyError> {
        let up_to = self.sequence + RESERVED;
        self.journal.reserve(up_to).map_err(VerifyError::Journal)?;
        self.reserved = up_to;
        Ok(())
    }

    /// Pushes the flush of the next file, if a flush is being sent.
    #[inline]
    fn push_flush(&mut self, slot: u32) -> bool {
        let parts = self.parts.len();
        let Some(flushing) = self.flushing.as_mut().filter(|flushing| flushing.next_part < parts) else {
            return false;
        };
        let part = flushing.next_part;
        flushing.next_part += 1;
        self.push(slot, Slot { purpose: Purpose::Flush, part, ..FREE });
        true
    }

    /// Sends what is left of a flush.
    pub(super) fn send_flushes(&mut self) {
        while self.flushing.is_some() {
            let Some(slot) = self.free.pop() else { return };
            if !self.push_flush(slot) {
                return self.free.push(slot);
            }
        }
    }

    /// Cuts off the end of a file, or has it grow again. Nothing is in flight.
    #[cold]
    fn resize(&mut self) -> Result<(), VerifyError> {
        match self.step.take() {
            Some(Step::Cut { part }) => {
                let loaded = &mut self.parts[part];
                loaded.is_cut = true;
                let pages = loaded.part.first + loaded.live();
                let bytes = loaded.part.begin + pages * u64::from(self.task.page_bytes);
                self.set_length(part, bytes)
            }
            Some(Step::Grow { part }) => self.grow(part),
            other => {
                self.step = other;
                Ok(())
            }
        }
    }

    /// Gives a part that was cut off its length back. What is there then is zero.
    pub(super) fn grow(&mut self, part: usize) -> Result<(), VerifyError> {
        let loaded = &mut self.parts[part];
        loaded.is_cut = false;
        let Some(from) = loaded.part.shape.zones().elastic_from else { return Ok(()) };
        loaded.states[from as usize..].iter_mut().for_each(super::state::PageState::cut_off);
        let bytes = loaded.part.begin
            + (loaded.part.first + loaded.part.shape.pages) * u64::from(self.task.page_bytes);
        self.found.resized += 1;
        self.set_length(part, bytes)
    }

    fn set_length(&mut self, part: usize, bytes: u64) -> Result<(), VerifyError> {
        let part = &self.parts[part].part;
        let resized = self.volume.resize(part.file, bytes);
        resized.map_err(|error| VerifyError::Resize { path: part.path.clone(), bytes, error })
    }

    /// Pushes an I/O: a page that is written is made here, and one that is read is made known as not read.
    #[inline]
    pub(super) fn push(&mut self, slot: u32, at: Slot) {
        let page_bytes = self.task.page_bytes as usize;
        let memory_at = self.engine.buffers().read_at(slot);
        let kind = match at.purpose {
            Purpose::Flush => Kind::Flush,
            Purpose::Read | Purpose::Audit | Purpose::Update => {
                page::poison(self.engine.buffers().block(memory_at, at.pages as usize * page_bytes));
                Kind::Read
            }
            Purpose::Write | Purpose::LayOut => {
                self.compose(memory_at, &at);
                Kind::Write
            }
        };
        let part = &self.parts[at.part].part;
        let offset = part.begin + (part.first + at.first) * u64::from(self.task.page_bytes);
        let bytes = at.pages as u32 * self.task.page_bytes;
        let (file, offset) = (part.file, if kind == Kind::Flush { 0 } else { offset });
        self.slots[slot as usize] = Slot { is_busy: true, ..at };
        self.pushed.push(slot);
        self.engine.push(Operation { slot, kind, file, offset, bytes, memory_at });
    }

    /// Makes the pages of a write, each in its next version.
    #[inline]
    fn compose(&mut self, memory_at: usize, at: &Slot) {
        let page_bytes = self.task.page_bytes as usize;
        let wall_ns = self.wall_ns + self.clock.now_ns();
        let loaded = &mut self.parts[at.part];
        for number in 0..at.pages {
            let page = at.first + number;
            let version = loaded.states[page as usize].issue();
            let place =
                Place { run: self.task.run, file: loaded.part.number, page: loaded.part.first + page };
            let header = Header {
                place,
                version,
                job: self.task.thread,
                sequence: at.sequence,
                wall_ns,
                page_bytes: self.task.page_bytes,
            };
            let block = self.engine.buffers().block(memory_at + number as usize * page_bytes, page_bytes);
            page::compose(block, &header);
        }
    }
}
