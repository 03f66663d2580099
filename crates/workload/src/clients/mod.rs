//! Many clients, each on a connection of its own, that do something again and again until the load is over.
//!
//! Here is when they do it: the ramp, turns that are due at a rate or come after a time to think, how many are active, the
//! end and the drain. What a turn is is said by a [`Client`].

mod affinity;
mod controller;
mod cpu;
mod crew;
mod last_100;
mod meter;
mod schedule;
mod shared;
mod threads;
mod turns;
mod waits;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use database::Error;
use load::{Go, Progress, Recorder};
use record::Setup;

use crate::TrialError;
use crate::clock::Clock;
use crate::signal::Signal;
use crate::waiting::unless_stopped;
use controller::Controller;

pub(crate) use controller::{Conducted, Measured};
pub use cpu::processors;
pub(crate) use cpu::{CpuUse, MachineCpu};
pub(crate) use meter::OwnCpu;
pub use meter::{CpuReading, ServerMeter};
pub(crate) use schedule::Schedule;
pub(crate) use shared::{Clients, Late, Names, Part};

/// What one client does.
pub(crate) trait Client: Sized + Send + 'static {
    /// What all clients of a trial share.
    type Load: Send + Sync + 'static;
    /// What is done at a turn.
    type Turn;
    /// Whether it may be without a connection when the load ends, since that is what is measured. Else it stopped before the end.
    const MAY_END_AWAY: bool = false;
    /// Whether it waits for its connection without any limit of time, so that a thread of such clients can wait for connections alone.
    const WAITS_FOR_LINES: bool = false;
    /// Whether there is next to nothing to be drawn for a turn, so that in a closed loop one begins when the one before it ended.
    const DRAWS_NOTHING: bool = false;
    /// Longest pause before it tries to connect again.
    const CONNECT_PAUSE_MAX: Duration = crate::backoff::LONGEST;

    /// Connects one.
    async fn connect(load: &Arc<Self::Load>, place: Place) -> Result<Self, Error>;

    /// When its turns are due.
    fn course(&self) -> Course {
        Course::Shared
    }

    /// Makes ready what it begins with, when it begins.
    async fn begin(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Gives back what it holds, behind the last turn of its own course.
    fn finish(&mut self) {}

    /// What it does next, and of which kind that is. It is drawn before the time of the turn begins.
    fn next(&mut self) -> (usize, Self::Turn);

    /// Does it. What it consists of is counted here; the turn itself is counted by whoever asks for it, together with the
    /// counter that is given back.
    async fn once(&mut self, turn: Self::Turn, counting: Counting<'_>) -> Result<Done, Error>;

    /// Its connection is lost or given up. What was sent over it may yet be done.
    fn lost(&mut self);

    /// Connects again.
    async fn connect_again(&mut self) -> Result<(), Error>;

    /// The processor on which its server worked last for it, and the one on which this thread runs, if the first is known and of this machine.
    fn processors(&self) -> Option<(usize, usize)> {
        None
    }

    /// Leaves this thread between two turns; false where it cannot.
    fn leave_thread(&mut self) -> bool {
        false
    }

    /// Goes on on this thread, if it left one.
    ///
    /// # Errors
    /// That its connection is lost.
    fn join_thread(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// When turns of a client are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// As the schedule has it, whichever client takes the next one.
    Shared,
    /// It has a course of its own.
    Own {
        /// When it begins.
        begins_ns: u64,
        /// When its next turn is due; none behind its last one.
        due_ns: Option<u64>,
    },
}

/// What came of a turn, besides that it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// When it ended, if that was seen: now, else.
    pub(crate) ended_ns: Option<u64>,
    /// Counter that it adds one to.
    pub(crate) counter: Option<usize>,
    /// Time of it that its net time leaves out.
    pub(crate) aside_ns: u64,
    /// Time in which a part of it was not due yet: neither its response time nor its net time has that.
    pub(crate) not_due_ns: u64,
    /// Time of it in which its client waited for nobody, by its own wish.
    pub(crate) idle_ns: u64,
    /// Whether it failed, although the client goes on.
    pub(crate) is_failed: bool,
    /// Whether the end of the load cut it off: it counts as nothing.
    pub(crate) is_cut_off: bool,
}

/// Which client it is: of which part, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) part: usize,
    pub(crate) client: u32,
    /// Among those of its part: that of its thread.
    lane: usize,
}

/// Where a client counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counting<'a> {
    pub(crate) recorder: &'a Recorder,
    pub(crate) clock: Clock,
    /// What is not due before this is not sent.
    pub(crate) load_over: &'a Signal,
}

/// Reads what servers used of their CPUs since the last reading, or what others than the load used of this machine's, given what
/// the load used, in microseconds.
pub(crate) type ServerCpu = Box<dyn FnMut(u64) -> Option<CpuUse>>;

/// A load that is about to be driven.
pub(crate) struct Drive<'a> {
    pub(crate) clients: &'a Arc<Clients>,
    /// None where a server is elsewhere.
    pub(crate) server_cpu: Option<ServerCpu>,
    /// Whether all clients run on this thread, in a time that runs ahead.
    pub(crate) simulated: bool,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) on_progress: &'a mut dyn FnMut(Progress) -> Go,
}

impl Drive<'_> {
    /// Connects all clients and drives them until the end of the load, `stop`, or until `on_progress` says so.
    ///
    /// # Errors
    /// When the load could not begin, or threads could not be had. A client that stops is no error.
    pub(crate) async fn run<C: Client>(
        self,
        load: &Arc<C::Load>,
        setup: Setup,
    ) -> Result<Conducted, TrialError> {
        let mut threads = threads::start::<C>(load, self.clients, self.simulated)?;
        unless_stopped(self.stop, threads.ready()).await.unwrap_or(Err(TrialError::Interrupted))?;
        let go = (self.on_progress)(Progress::SetUp(setup));
        let clock = threads.begin();
        let watch = clock.watch(self.simulated)?;
        let mut controller = Controller::new(self, threads.makers(), (clock, watch));
        if go == Go::Stop {
            controller.stop(0);
        }
        controller.conduct(&mut threads).await
    }
}
