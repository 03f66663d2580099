//! Engines: what takes I/Os and gives them back answered.
//!
//! An engine belongs to one thread. It owns the thread's buffers and its clock, so that a simulated device can run
//! the same load in virtual time.

pub(crate) mod null;
pub(crate) mod psync;
pub(crate) mod simulated;
pub(crate) mod uring;

use std::fmt;
use std::io;

use load::{Clock, MonotonicClock};

use crate::buffer::Buffers;
use crate::job::Job;

/// Kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Flush,
}

/// Names of all kinds. A load that checks pages meters each of them. It does not meter audits and the layout of the files.
pub(crate) const KINDS: &[&str] = &["read", "write", "flush"];

/// Names of the kinds that a job sends. Only these are metered: a histogram for each thread and kind takes room.
pub(crate) fn kinds(job: &Job) -> &'static [&'static str] {
    if job.verify.is_some() {
        return KINDS;
    }
    match (job.reads(), job.writes(), job.flush_every.is_some()) {
        (true, false, _) => &["read"],
        (true, true, false) => &["read", "write"],
        (true, true, true) => KINDS,
        (false, _, false) => &["write"],
        (false, _, true) => &["write", "flush"],
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
        })
    }
}

impl Kind {
    /// Position in [`kinds`] of a job that sends it.
    #[inline]
    pub(crate) fn index(self, job_reads: bool) -> usize {
        match self {
            Self::Read => 0,
            Self::Write => usize::from(job_reads),
            Self::Flush => usize::from(job_reads) + 1,
        }
    }
}

/// One I/O to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    /// Slot it occupies until it is answered.
    pub(crate) slot: u32,
    pub(crate) kind: Kind,
    /// Index into the thread's files.
    pub(crate) file: u32,
    /// Byte offset in the file.
    pub(crate) offset: u64,
    pub(crate) bytes: u32,
    /// Where its block is in the buffers' memory.
    pub(crate) memory_at: usize,
}

/// An answered I/O.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub(crate) slot: u32,
    /// Bytes moved, or a negated errno.
    pub(crate) result: i32,
}

/// How long an exchange may wait for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Not at all.
    No,
    /// Until one I/O is answered. Only while one is in flight.
    One,
    /// Until one is answered or this time of the engine's clock is reached.
    Until(u64),
}

/// Sends I/Os and collects answers.
pub(crate) trait Engine {
    /// Its clock.
    type Clock: Clock + Clone;

    /// Takes the clock of all threads, which began with their start, and gives its own where that is another.
    fn start(&mut self, clock: MonotonicClock) -> Self::Clock;

    fn buffers(&mut self) -> &mut Buffers;

    /// Takes an I/O; it is sent at the latest with the next exchange. There is room for as many as there are slots.
    fn push(&mut self, operation: Operation);

    /// Sends what was pushed, waits, and adds what was answered to `completions`.
    ///
    /// # Errors
    /// When the engine itself fails; an I/O that fails is a completion.
    fn exchange(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> io::Result<()>;
}
