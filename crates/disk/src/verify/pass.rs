//! Walks over all pages, in order: the layout before the load, audits within it, and the last audit after it.

use std::io;
use std::sync::atomic::Ordering;

use load::Clock;
use record::Damage;

use super::evidence::Spot;
use super::journal::Journal;
use super::load::{FREE, LOOK_UP_NS, Purpose, Slot, Verifier, VerifyError};
use super::state::PageState;
use super::volume::Volume;
use crate::engine::{Engine, Wait};

/// A walk over all pages, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    pub(super) purpose: Purpose,
    pub(super) part: usize,
    pub(super) page: u64,
    /// Whether the load goes on after it.
    pub(super) is_within_load: bool,
}

/// What a thread tells of what is not metered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// So many more bytes are written that will be verified.
    LaidOut(u64),
    /// An audit interrupts the load from this time on, in nanoseconds since it began.
    AuditBegun(u64),
    /// The load goes on.
    AuditEnded(u64),
    /// Nothing more is metered.
    LoadEnded,
    /// The last audit has read so many more bytes.
    Audited(u64),
}

/// Bytes after which it is told how far a walk is: a message for each I/O would be many.
const TOLD_BYTES: u64 = 32 << 20;

impl<E: Engine, V: Volume, J: Journal> Verifier<'_, E, V, J> {
    /// Writes every page once, durably, so that nothing is read that this run did not write.
    ///
    /// # Errors
    /// When the engine fails, or nothing can be written.
    pub(crate) fn lay_out(&mut self) -> Result<(), VerifyError> {
        let is_whole = self.walk(Purpose::LayOut, false)?;
        let path = || self.parts[0].part.path.clone();
        let failed = |error: io::Error| VerifyError::LayOut { path: path(), error: error.to_string() };
        self.volume.forget_cached().map_err(failed)?;
        // From here on there is something that a crash can lose.
        if is_whole { self.reserve() } else { Ok(()) }
    }

    /// An audit after which the load goes on.
    pub(super) fn audit_within_load(&mut self) -> Result<(), VerifyError> {
        (self.tell)(Told::AuditBegun(self.clock.now_ns()));
        let audited = self.audit(true);
        (self.tell)(Told::AuditEnded(self.clock.now_ns()));
        audited.map(drop)
    }

    /// Awaits what is in flight, gives files their length back, and audits unless the user wants an end.
    pub(super) fn finish(&mut self, ended: Result<(), VerifyError>) -> Result<(), VerifyError> {
        let ended = self.drain().and(ended);
        let now_ns = self.clock.now_ns();
        if let Some(meter) = self.meter.take() {
            meter.finish(now_ns);
        }
        (self.tell)(Told::LoadEnded);
        for part in 0..self.parts.len() {
            if self.parts[part].is_cut {
                self.grow(part)?;
            }
        }
        ended?;
        if !self.stop.load(Ordering::Relaxed) {
            self.found.is_audited = self.audit(false)?;
        }
        Ok(())
    }

    /// Reads and checks every page; whether it came to its end.
    fn audit(&mut self, is_within_load: bool) -> Result<bool, VerifyError> {
        self.drain()?;
        if let Err(error) = self.volume.forget_cached() {
            self.is_frozen = true;
            let spot = Spot { at_ns: self.clock.now_ns(), ..self.nowhere() };
            self.evidence.io(Damage::Failed, spot, format!("flush before an audit: {error}"));
        }
        let is_whole = self.walk(Purpose::Audit, is_within_load)?;
        self.found.audits += u64::from(is_whole);
        Ok(is_whole)
    }

    /// Sends an I/O for every page, in order; whether it came to its end.
    fn walk(&mut self, purpose: Purpose, is_within_load: bool) -> Result<bool, VerifyError> {
        let mut completions = Vec::with_capacity(self.slots.len());
        self.pass = Some(Pass { purpose, part: 0, page: 0, is_within_load });
        while self.pass.is_some() && !self.stop.load(Ordering::Relaxed) {
            let wait = self.send_pass();
            self.exchange(wait, &mut completions)?;
        }
        let is_whole = self.pass.take().is_none();
        self.drain()?;
        self.tell_walked(purpose, is_within_load);
        Ok(is_whole)
    }

    /// Awaits what is in flight.
    pub(super) fn drain(&mut self) -> Result<(), VerifyError> {
        let mut completions = Vec::with_capacity(self.slots.len());
        let mut ended = Ok(());
        let parts = self.parts.len();
        while self.in_flight() > 0 || self.flushing.is_some_and(|flushing| flushing.next_part < parts) {
            self.send_flushes();
            let wait = Wait::Until(self.clock.now_ns() + LOOK_UP_NS);
            match self.exchange(wait, &mut completions) {
                // An engine that failed may never answer.
                Err(error @ VerifyError::Engine(_)) => return Err(error),
                // The first error is the one to be told, and others are still in flight.
                Err(error) => ended = ended.and(Err(error)),
                Ok(_) => {}
            }
        }
        ended
    }

    /// Tells how much was walked over since it was told last.
    fn tell_walked(&mut self, purpose: Purpose, is_within_load: bool) {
        let bytes = std::mem::take(&mut self.untold_bytes);
        match purpose {
            _ if bytes == 0 || is_within_load => {}
            Purpose::LayOut => (self.tell)(Told::LaidOut(bytes)),
            _ => (self.tell)(Told::Audited(bytes)),
        }
    }

    /// Pushes as much of a walk over all pages as there is room for.
    fn send_pass(&mut self) -> Wait {
        let now_ns = self.clock.now_ns();
        while let Some(pass) = self.pass {
            if pass.part == self.parts.len() {
                self.pass = None;
                break;
            }
            let live = self.parts[pass.part].live();
            if pass.page >= live {
                self.pass = Some(Pass { part: pass.part + 1, page: 0, ..pass });
                continue;
            }
            let Some(slot) = self.free.pop() else { break };
            let pages = self.task.shape.run_pages.min(live - pass.page);
            let states = &mut self.parts[pass.part].states[pass.page as usize..(pass.page + pages) as usize];
            match pass.purpose {
                Purpose::LayOut => states.iter_mut().for_each(PageState::latch_to_write),
                _ => states.iter_mut().for_each(PageState::begin_read),
            }
            self.push(slot, Slot { purpose: pass.purpose, part: pass.part, first: pass.page, pages, ..FREE });
            self.pass = Some(Pass { page: pass.page + pages, ..pass });
            self.untold_bytes += pages * u64::from(self.task.page_bytes);
            if self.untold_bytes >= TOLD_BYTES {
                self.tell_walked(pass.purpose, pass.is_within_load);
            }
        }
        Wait::Until(now_ns + LOOK_UP_NS)
    }
}
