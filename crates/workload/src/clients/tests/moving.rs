//! Clients on real threads that always find their server where another thread is.

use std::collections::HashSet;
use std::thread::ThreadId;

use record::clients::MOVED_CLIENTS;

use super::*;

/// What they were seen to do.
#[derive(Debug, Default)]
struct Seen {
    /// On which threads each client took turns.
    threads: Mutex<HashSet<(u32, ThreadId)>>,
    turns: AtomicU64,
    joined: AtomicU64,
    /// Whether the connection is lost on each third way.
    loses: bool,
    again: AtomicU64,
    /// Turn at which a client panics.
    panics_at: Option<u64>,
}

#[derive(Debug)]
struct Wanderer {
    seen: Arc<Seen>,
    place: Place,
    /// Whether it left a thread and joined none yet.
    is_away: bool,
}

/// The number of this load thread, which stands for a processor.
fn number() -> usize {
    let number = std::thread::current().name().and_then(|name| name.strip_prefix("clients-")?.parse().ok());
    number.unwrap()
}

/// Load threads; each has two clients.
fn threads() -> usize {
    std::thread::available_parallelism().unwrap().get()
}

impl Client for Wanderer {
    type Load = Seen;
    type Turn = u64;
    const WAITS_FOR_LINES: bool = true;

    async fn connect(seen: &Arc<Seen>, place: Place) -> Result<Self, Error> {
        Ok(Self { seen: Arc::clone(seen), place, is_away: false })
    }

    fn next(&mut self) -> (usize, u64) {
        (0, self.seen.turns.fetch_add(1, Ordering::Relaxed))
    }

    async fn once(&mut self, turn: u64, _: Counting<'_>) -> Result<Done, Error> {
        assert!(!self.is_away, "it was not told where it is");
        assert_ne!(self.seen.panics_at, Some(turn), "as the test wants it");
        self.seen.threads.lock().unwrap().insert((self.place.client, std::thread::current().id()));
        tokio::task::yield_now().await;
        Ok(Done::default())
    }

    fn lost(&mut self) {}

    async fn connect_again(&mut self) -> Result<(), Error> {
        self.seen.again.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn processors(&self) -> Option<(usize, usize)> {
        Some(((number() + 1) % threads(), number()))
    }

    fn leave_thread(&mut self) -> bool {
        self.is_away = true;
        true
    }

    fn join_thread(&mut self) -> Result<(), Error> {
        assert!(self.is_away, "it had not left");
        self.is_away = false;
        let ways = self.seen.joined.fetch_add(1, Ordering::Relaxed);
        match self.seen.loses && ways.is_multiple_of(3) {
            true => Err(Error::Lost("reset".to_owned())),
            false => Ok(()),
        }
    }
}

struct Wandered {
    seen: Arc<Seen>,
    clients: Arc<Clients>,
    conducted: Conducted,
    /// Turns of the whole load, and clients that moved, as they were told.
    turns: u64,
    moved: f64,
}

impl Wandered {
    /// Clients that took turns on so many threads.
    fn on_threads(&self, count: usize) -> usize {
        let seen = self.seen.threads.lock().unwrap();
        let of = |client: u32| seen.iter().filter(|(other, _)| *other == client).count();
        (0..self.clients.schedule.clients).filter(|&client| of(client) == count).count()
    }
}

/// Two clients of each thread for some seconds.
fn wandered(seen: Seen, schedule: Schedule) -> Wandered {
    let schedule = Schedule { clients: 2 * threads() as u32, ..schedule };
    let clients = Arc::new(Clients::new(schedule, 1, &counted(&schedule), names()));
    let (seen, mut turns, mut moved) = (Arc::new(seen), 0, 0.0);
    let mut on_progress = |progress| {
        if let Progress::Interval(interval) = progress {
            turns += interval.operations["login"].count;
            moved += interval.gauges.get(MOVED_CLIENTS).copied().unwrap_or(0.0);
        }
        Go::On
    };
    let stop = AtomicBool::new(false);
    let drive = Drive {
        clients: &clients,
        server_cpu: None,
        simulated: false,
        stop: &stop,
        on_progress: &mut on_progress,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let driving = drive.run::<Wanderer>(&seen, setup(&schedule));
    let conducted = tokio::task::LocalSet::new().block_on(&runtime, driving).unwrap();
    Wandered { seen, clients, conducted, turns, moved }
}

fn are_threads() -> bool {
    let are_threads = threads() > 1;
    if !are_threads {
        eprintln!("not run: clients that go from one load thread to another, for there is one processor");
    }
    are_threads
}

#[test]
fn a_client_goes_on_where_its_server_works_and_each_of_its_turns_counts() {
    if !are_threads() {
        return;
    }
    let wandered = wandered(Seen::default(), schedule(1, 2));
    assert!(wandered.seen.joined.load(Ordering::Relaxed) > 0);
    assert!(wandered.on_threads(1) < 2 * threads(), "{:?}", wandered.seen);
    // Who joins a thread it has left itself, since the other one took none, has not moved.
    assert!(wandered.moved > 0.0 && wandered.moved <= wandered.seen.joined.load(Ordering::Relaxed) as f64);
    assert_eq!(wandered.turns, wandered.seen.turns.load(Ordering::Relaxed));
    let counted: u64 = wandered.clients.parts()[0].turns_by_client().iter().sum();
    let measured: u64 =
        wandered.conducted.measured.iter().map(|measured| measured.window.operations().count).sum();
    assert_eq!(counted, measured);
    assert_eq!(wandered.clients.parts()[0].take_stopped(), [""; 0]);
}

#[test]
fn a_client_that_loses_its_connection_on_the_way_makes_another_one() {
    if !are_threads() {
        return;
    }
    let wandered = wandered(Seen { loses: true, ..Seen::default() }, schedule(1, 2));
    let again = wandered.seen.again.load(Ordering::Relaxed);
    // The end of the load may come before another one is made.
    let stopped = wandered.clients.parts()[0].take_stopped();
    assert!(stopped.iter().all(|why| why.contains("had no connection when the load ended")), "{stopped:?}");
    assert_eq!(again + stopped.len() as u64, wandered.seen.joined.load(Ordering::Relaxed).div_ceil(3));
    assert!(again > 0);
    assert_eq!(wandered.turns, wandered.seen.turns.load(Ordering::Relaxed));
    assert!(!wandered.clients.parts()[0].take_outages().is_empty());
}

/// Nobody waits for a client that is no more.
#[test]
fn a_client_that_panics_ends_alone() {
    if !are_threads() {
        return;
    }
    let wandered = wandered(Seen { panics_at: Some(100), ..Seen::default() }, schedule(1, 1));
    assert_eq!(wandered.clients.parts()[0].ended_by_mistake(), 1);
    assert_eq!(wandered.turns + 1, wandered.seen.turns.load(Ordering::Relaxed));
}

#[test]
fn a_client_that_thinks_stays_where_it_is() {
    let pacing = Pacing::Closed { think_time: Span { ns: 100_000 } };
    let wandered = wandered(Seen::default(), Schedule { pacing, ..schedule(1, 1) });
    assert_eq!(wandered.seen.joined.load(Ordering::Relaxed), 0);
    assert_eq!(wandered.on_threads(1), 2 * threads());
}
