//! A disk test that checks every page it reads: does this storage keep what it acknowledged?
//!
//! `page` is what is written, `state` what must be there, `sight` what was read and what is wrong with it; all three are pure.
//! `stream` says what is written in which order. `load` is the loop of a thread, with `send` and `reap` as its two halves
//! and `pass` for walks over everything; `evidence` keeps what it found.
//! `journal` holds what was promised, `remote` and `serve` on another host, and `after_crash` sets that against what is there.

mod after_crash;
mod evidence;
mod journal;
mod load;
mod page;
mod pass;
mod reap;
mod remote;
mod send;
mod serve;
mod sight;
mod state;
mod stream;
mod volume;

pub use after_crash::{AfterCrash, AfterCrashError, after_crash};
pub use journal::JournalError;
pub(crate) use journal::{AnyJournal, JournalFile, Plan, PlannedPart, create as create_journal};
pub(crate) use load::{Part, Task, Verifier};
pub(crate) use pass::Told;
pub(crate) use remote::{JournalAway, Where, Wire};
pub use serve::{JournalServer, ServedJournal};
pub(crate) use state::STATE_BYTES;
pub(crate) use stream::{PartShape, Shape};
pub(crate) use volume::Files;

/// Bytes of one I/O of several pages, for the memory of a slot.
pub(crate) fn run_bytes(page_bytes: u64) -> u64 {
    let shape = Shape::of(crate::settings::VerifyProfile::Sqliosim, page_bytes, None, false);
    shape.run_pages * page_bytes
}

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod damaging;
#[cfg(test)]
mod load_tests;
