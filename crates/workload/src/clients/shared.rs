//! What the clients of a trial share with whoever conducts them: the signals, and what each part has done.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use load::{Arrivals, Counted, Recorder, lock};
use record::{ClientAway, Main, Mark, MarkKind, Offered, Outage};
use tokio::sync::watch;

use super::crew::Panic;
use super::last_100::Last100;
use super::schedule::Schedule;
use super::threads::load_threads;
use crate::outages::Outages;
use crate::signal::Signal;

/// Most lanes of a part: threads beyond share them, since each takes some memory.
const LANES_MAX: usize = 8;

/// All clients of a trial.
#[derive(Debug)]
pub(crate) struct Clients {
    pub(super) schedule: Schedule,
    /// Each has as many clients as the schedule says.
    pub(super) parts: Vec<Part>,
    pub(super) names: Names,
    /// Connections at once, where not each client has one all the time.
    pub(super) connections: Option<u32>,
    /// Those that went on on another thread since that was told.
    pub(super) moved: AtomicU32,
    /// Clients of each part that may begin a turn.
    pub(super) active: watch::Sender<u32>,
    /// No new turn begins.
    pub(super) load_over: Signal,
    /// Clients stop, whatever they are doing.
    pub(super) over: Signal,
}

/// What is told under which names.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// The parameter that gives the number of clients.
    pub(crate) clients: String,
    /// Kinds that are whole turns; others are what a turn consists of.
    pub(crate) turns: Main,
    /// Gauges: longest of the last 100 turns, and the same of their net times, in milliseconds; none of
    /// scripts, whose seconds tell their longest.
    pub(crate) last_100_max: Option<[&'static str; 2]>,
    /// Counter that adds up the turns' net times, in microseconds.
    pub(crate) net_us: usize,
    /// Counters of turns that took longer than their limit, and that were passed over, where there is a limit.
    pub(crate) late: Option<Late>,
    /// Gauge: turns of a part, counted from 1.
    pub(crate) turns_of_part: fn(usize) -> String,
    /// Whether times in which nobody was answered are told; not of a load that finds them by itself.
    pub(crate) tells_silences: bool,
}

/// Counters of what is late.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late {
    pub(crate) late: usize,
    pub(crate) skipped: usize,
}

/// Clients that load the same, such as one database of several.
#[derive(Debug)]
pub(crate) struct Part {
    /// One for each load thread: what two processors write takes each of them as long as a system call.
    pub(super) lanes: Vec<Lane>,
    /// When its turns are due; none in a closed loop.
    pub(super) due: Option<Mutex<Arrivals>>,
    /// The same from the beginning, to count them by.
    all_due: Option<Arrivals>,
    outages: Mutex<Outages>,
    stopped: Mutex<Vec<String>>,
    ended_by_mistake: AtomicU32,
    /// Turns that each client finished in the measured window.
    pub(super) turns_by_client: Vec<AtomicU64>,
    away_by_client: Mutex<Vec<ClientAway>>,
}

impl Clients {
    /// Of so many parts, each counting the same.
    pub(crate) fn new(schedule: Schedule, parts: u32, counted: &Counted, names: Names) -> Self {
        let lanes = load_threads(schedule.clients as usize * parts as usize).clamp(1, LANES_MAX);
        let active = if schedule.cpu_target.is_some() { 1 } else { schedule.clients };
        Self {
            parts: (0..parts).map(|number| Part::new(&schedule, (number, parts), counted, lanes)).collect(),
            schedule,
            names,
            connections: None,
            moved: AtomicU32::new(0),
            active: watch::Sender::new(active),
            load_over: Signal::new(),
            over: Signal::new(),
        }
    }

    /// Of which so many have a connection at once.
    #[must_use]
    pub(crate) fn with_connections(self, connections: u32) -> Self {
        Self { connections: Some(connections), ..self }
    }

    /// Outages of all parts that began, go on or ended since this was asked last.
    pub(super) fn marks(&self) -> Vec<Mark> {
        self.parts.iter().flat_map(|part| part.outages().news(MarkKind::Outage)).collect()
    }

    /// Lanes of each part.
    pub(super) fn lanes(&self) -> usize {
        self.parts.first().map_or(1, |part| part.lanes.len())
    }

    /// The parts, in their order.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Turns that were due before the load ended and of which none began.
    pub(crate) fn unsent(&self, load_end_ns: u64) -> u64 {
        let due = self.parts.iter().filter_map(|part| part.due.as_ref());
        due.map(|due| lock(due).clone().untaken_before(load_end_ns)).sum()
    }

    /// What was due in the window that ended so; none of a closed loop.
    pub(crate) fn offered(&self, load_end_ns: u64) -> Option<Offered> {
        let from_ns = self.schedule.phases.warm_up.ns.min(load_end_ns);
        let slots = u64::from(self.schedule.clients) * self.parts.len() as u64;
        let mut offered = Offered { slots, ..Offered::default() };
        for part in &self.parts {
            let all = part.all_due.as_ref()?;
            let before = |moment_ns| all.clone().untaken_before(moment_ns);
            offered.due += before(load_end_ns).saturating_sub(before(from_ns));
        }
        Some(offered)
    }
}

/// Where the clients of a part count that are on one thread, in lines of the processors' caches that others do not write to.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Lane {
    pub(super) recorder: Recorder,
    pub(super) last_100: Mutex<Last100>,
}

impl Lane {
    fn new(counted: &Counted, schedule: &Schedule) -> Self {
        Self { recorder: Recorder::new(counted.clone(), schedule.phases), last_100: Mutex::default() }
    }
}

impl Part {
    fn new(schedule: &Schedule, (number, parts): (u32, u32), counted: &Counted, lanes: usize) -> Self {
        let seed = schedule.seed.wrapping_add(u64::from(number));
        let due = Arrivals::of(schedule.pacing, number, parts, seed);
        Self {
            lanes: (0..lanes).map(|_| Lane::new(counted, schedule)).collect(),
            all_due: due.clone(),
            due: due.map(Mutex::new),
            outages: Mutex::default(),
            stopped: Mutex::default(),
            ended_by_mistake: AtomicU32::new(0),
            turns_by_client: (0..schedule.clients).map(|_| AtomicU64::new(0)).collect(),
            away_by_client: Mutex::new(vec![ClientAway::default(); schedule.clients as usize]),
        }
    }

    /// Turns that each client finished in the measured window.
    pub(crate) fn turns_by_client(&self) -> Vec<u64> {
        self.turns_by_client.iter().map(|turns| turns.load(Ordering::Relaxed)).collect()
    }

    /// What each client saw of times without an answer; nothing where none had to wait for long.
    pub(crate) fn away_by_client(&self) -> Vec<ClientAway> {
        let all = lock(&self.away_by_client);
        if all.iter().any(|client| client.times > 0) { all.clone() } else { Vec::new() }
    }

    pub(super) fn waited(&self, client: u32, seen: ClientAway) {
        lock(&self.away_by_client)[client as usize] = seen;
    }

    /// Times in which clients had no connection.
    pub(crate) fn take_outages(&self) -> Vec<Outage> {
        std::mem::take(&mut self.outages().all)
    }

    /// Clients that stopped before the end, and why.
    pub(crate) fn take_stopped(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.stopped))
    }

    /// Clients of which it is not known what they were doing when they stopped.
    pub(crate) fn ended_by_mistake(&self) -> u32 {
        self.ended_by_mistake.load(Ordering::Relaxed)
    }

    pub(super) fn outages(&self) -> MutexGuard<'_, Outages> {
        lock(&self.outages)
    }

    /// A client stopped before the end.
    pub(super) fn stopped(&self, client: u32, why: &str) {
        lock(&self.stopped).push(format!("client {}: {why}", client + 1));
    }

    /// A client panicked.
    pub(super) fn panicked(&self, client: u32, panic: &Panic) {
        let words =
            panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref().map(String::as_str));
        let words = words.unwrap_or("it panicked");
        lock(&self.stopped).push(format!("client {} ended because of a bug in prony: {words}", client + 1));
        self.ended_by_mistake.fetch_add(1, Ordering::Relaxed);
    }
}
