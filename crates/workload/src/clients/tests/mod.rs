//! A tiny client in virtual time, whose server answers after a time that is given.

mod moving;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use load::{Counted, Kind, Pacing, Phases, Span};
use record::clients::{ACTIVE_CLIENTS, CpuOf, SERVER_CPU};
use record::{Interval, Main, Phase};

use super::*;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// The server that tiny clients ask.
#[derive(Debug, Default)]
struct Server {
    answers_after: Duration,
    /// Turn, counted from 1 over all clients, from which on there are no answers.
    silent_from: Option<u64>,
    /// Turn at which the connection is lost, and how often it cannot be made again.
    lost_at: Option<(u64, u32)>,
    /// Turn that is refused.
    refused_at: Option<u64>,
    /// Turn at which the client panics.
    panics_at: Option<u64>,
    turns: AtomicU64,
    asked: AtomicU32,
    in_vain: AtomicU32,
    given_up: AtomicU32,
    /// When each turn began, and whose it was.
    begun: Mutex<Vec<(u64, Place)>>,
}

#[derive(Debug)]
struct Tiny {
    server: Arc<Server>,
    place: Place,
}

impl Client for Tiny {
    type Load = Server;
    type Turn = u64;

    async fn connect(server: &Arc<Server>, place: Place) -> Result<Self, Error> {
        Ok(Self { server: Arc::clone(server), place })
    }

    fn next(&mut self) -> (usize, u64) {
        (0, self.server.turns.fetch_add(1, Ordering::Relaxed) + 1)
    }

    async fn once(&mut self, turn: u64, counting: Counting<'_>) -> Result<Done, Error> {
        let server = &self.server;
        server.begun.lock().unwrap().push((counting.clock.now_ns(), self.place));
        server.asked.fetch_add(1, Ordering::Relaxed);
        assert_ne!(server.panics_at, Some(turn), "as the test wants it");
        if server.silent_from.is_some_and(|from| turn >= from) {
            std::future::pending::<()>().await;
        }
        counting.clock.until(counting.clock.now_ns() + server.answers_after.as_nanos() as u64).await;
        server.asked.fetch_sub(1, Ordering::Relaxed);
        match () {
            () if server.lost_at.is_some_and(|(at, _)| at == turn) => Err(Error::Lost("reset".to_owned())),
            () if server.refused_at == Some(turn) => Err(Error::Statement("no such table".to_owned())),
            // Every fourth is told apart.
            () => Ok(Done { counter: turn.is_multiple_of(4).then_some(0), aside_ns: MS, ..Done::default() }),
        }
    }

    fn lost(&mut self) {
        self.server.given_up.fetch_add(1, Ordering::Relaxed);
    }

    async fn connect_again(&mut self) -> Result<(), Error> {
        let tries = self.server.in_vain.fetch_add(1, Ordering::Relaxed);
        match self.server.lost_at {
            Some((_, in_vain)) if tries < in_vain => Err(Error::Unreachable("down".to_owned())),
            _ => Ok(()),
        }
    }
}

/// What was driven, and what it came to.
struct Driven {
    server: Arc<Server>,
    clients: Arc<Clients>,
    conducted: Conducted,
    intervals: Vec<Interval>,
    /// What was told of the parts before each of them.
    parts: Vec<Vec<Option<Interval>>>,
}

impl Driven {
    fn measured(&self, gauge: &str) -> f64 {
        let window = self.intervals.iter().filter(|interval| interval.phase == Phase::Measure);
        window.filter_map(|interval| interval.gauges.get(gauge)).sum()
    }

    /// Turns of the whole load.
    fn turns(&self) -> u64 {
        self.intervals.iter().map(|interval| interval.operations["login"].count).sum()
    }

    fn stopped(&self) -> Vec<String> {
        self.clients.parts()[0].take_stopped()
    }
}

fn schedule(clients: u32, seconds: u64) -> Schedule {
    Schedule {
        latency_limit: None,
        clients,
        ramp_rate_per_s: 1e6,
        pacing: Pacing::Closed { think_time: Span::ZERO },
        cpu_target: None,
        phases: Phases { warm_up: Span::ZERO, measure: Span::seconds(seconds) },
        seed: 7,
    }
}

fn answering_after(ms: u64) -> Server {
    Server { answers_after: Duration::from_millis(ms), ..Server::default() }
}

/// The least that a setup says.
fn setup(schedule: &Schedule) -> Setup {
    Setup::Orders(Box::new(record::OrdersSetup {
        targets: Vec::new(),
        pacing: schedule.pacing.recorded(),
        n_threads: schedule.clients,
        ramp_rate_per_s: schedule.ramp_rate_per_s,
        pct_newcustomers: 0.0,
        n_searches: 1,
        search_batch_size: 1,
        n_line_items: 1,
        cpu_target_share: schedule.cpu_target,
        cpu_read: None,
        seed: schedule.seed,
    }))
}

fn driven(schedule: Schedule, server: Server) -> Driven {
    driven_with((schedule, 1), Arc::new(server), None, |_| Go::On)
}

fn counted(schedule: &Schedule) -> Counted {
    // A name that other workloads have too.
    let kind = Kind { name: "login".to_owned(), open: schedule.pacing.is_open() };
    let counters = ["fourths", "net_us", "late", "skipped"].map(str::to_owned).into();
    Counted { kinds: vec![kind], counters }
}

fn names() -> Names {
    Names {
        clients: "clients".to_owned(),
        turns: Main::Kind("login".to_owned()),
        last_100_max: Some(["longest_ms", "longest_net_ms"]),
        net_us: 1,
        late: Some(Late { late: 2, skipped: 3 }),
        turns_of_part: |part| format!("part_{part}"),
        tells_silences: true,
    }
}

fn driven_with(
    (schedule, parts): (Schedule, u32),
    server: Arc<Server>,
    server_cpu: Option<ServerCpu>,
    mut hear: impl FnMut(&Interval) -> Go,
) -> Driven {
    let clients = Arc::new(Clients::new(schedule, parts, &counted(&schedule), names()));
    let (mut intervals, mut parts) = (Vec::new(), Vec::new());
    let mut on_progress = |progress| match progress {
        Progress::Interval(interval) => {
            let go = hear(&interval);
            intervals.push(interval);
            go
        }
        Progress::Parts(told) => {
            parts.push(told);
            Go::On
        }
        _ => Go::On,
    };
    let stop = AtomicBool::new(false);
    let drive =
        Drive { clients: &clients, server_cpu, simulated: true, stop: &stop, on_progress: &mut on_progress };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let driving = drive.run::<Tiny>(&server, setup(&schedule));
    let conducted = tokio::task::LocalSet::new().block_on(&runtime, driving).unwrap();
    Driven { server, clients, conducted, intervals, parts }
}

#[test]
fn clients_begin_one_after_the_other() {
    let driven = driven(Schedule { ramp_rate_per_s: 2.0, ..schedule(5, 4) }, answering_after(100));
    let begun = driven.server.begun.lock().unwrap().clone();
    let first = |client: u32| begun.iter().find(|(_, place)| place.client == client).unwrap().0 / MS;
    assert_eq!([0, 1, 2, 3, 4].map(first), [0, 500, 1_000, 1_500, 2_000]);
    let active: Vec<f64> = driven.intervals.iter().map(|interval| interval.gauges[ACTIVE_CLIENTS]).collect();
    assert_eq!(active[..4], [3.0, 5.0, 5.0, 5.0]);
    assert_eq!(driven.clients.schedule.ramp(), Span::seconds(2));
    assert!(driven.stopped().is_empty());
}

#[test]
fn turns_are_counted_with_what_happens_in_them_and_by_part_and_client() {
    let driven = driven_with((schedule(2, 10), 3), Arc::new(answering_after(100)), None, |_| Go::On);
    let turns: Vec<u64> = driven.clients.parts().iter().flat_map(Part::turns_by_client).collect();
    assert_eq!(turns, [99; 6], "a turn that ends with the window is in the drain");
    assert_eq!([1, 2, 3].map(|part| driven.measured(&format!("part_{part}"))), [198.0; 3]);
    let fourths: u64 = driven.conducted.measured.iter().map(|measured| measured.counted("fourths")).sum();
    assert_eq!(driven.measured("fourths"), fourths as f64);
    assert!((145..=150).contains(&fourths), "{fourths} of 594");
    assert_eq!(driven.intervals[0].gauges["longest_ms"], 100.0);
    assert_eq!(driven.intervals[0].gauges["longest_net_ms"], 99.0, "a millisecond of a turn is left out");
    assert_eq!(driven.measured("net_us"), 594.0 * 99_000.0);
    assert_eq!(driven.parts.len(), driven.intervals.len(), "parts are told before what they come to");
    for (parts, whole) in driven.parts.iter().zip(&driven.intervals) {
        let of = |name: &str| parts.iter().flatten().map(|part| part.gauges[name]).sum::<f64>();
        assert_eq!(of("net_us"), whole.gauges["net_us"]);
        assert_eq!(of("longest_net_ms"), 3.0 * 99.0);
    }
}

#[test]
fn one_part_is_told_as_the_whole_alone() {
    assert!(driven(schedule(2, 3), answering_after(100)).parts.is_empty());
}

#[test]
fn clients_think_between_turns() {
    let pacing = Pacing::Closed { think_time: Span { ns: 100 * MS } };
    let driven = driven(Schedule { pacing, ..schedule(1, 1_000) }, answering_after(0));
    let begun: Vec<u64> = driven.server.begun.lock().unwrap().iter().map(|(ns, _)| ns / MS).collect();
    let gaps: Vec<u64> = begun.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|&gap| gap <= 203), "uniform below twice the mean: {:?}", gaps.iter().max());
    // A timer ends at the next millisecond. Four standard errors of a mean of ten thousand are 2.3 ms.
    let mean_ms = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
    assert!((97.0..105.0).contains(&mean_ms), "{mean_ms} ms");
}

#[test]
fn turns_that_are_due_and_have_no_client_are_arrears() {
    let pacing = Pacing::Fixed { rate_per_s: 10.0 };
    let driven = driven(Schedule { pacing, ..schedule(1, 10) }, answering_after(200));
    let (end_ns, turns) = (driven.conducted.load_end_ns, driven.turns());
    assert_eq!(end_ns, 10 * S);
    assert_eq!(turns + driven.clients.unsent(end_ns), 100, "each was sent or not");
    assert_eq!(turns, 50, "as many as one client can");
    let offered = driven.clients.offered(end_ns).unwrap();
    assert_eq!((offered.due, offered.slots), (100, 1));
    let last = driven.intervals.iter().rfind(|interval| interval.phase == Phase::Measure).unwrap();
    let response_s = last.operations["login"].response.as_ref().unwrap().max_us().unwrap() / 1e6;
    assert!((4.9..5.3).contains(&response_s), "it counts from when it was due: {response_s} s");
}

#[test]
fn turns_that_could_not_be_in_time_are_passed_over_and_those_that_took_longer_counted() {
    let limit = |ms| Some(Span { ns: ms * MS });
    let pacing = Pacing::Fixed { rate_per_s: 10.0 };
    let overloaded = Schedule { pacing, latency_limit: limit(250), ..schedule(1, 10) };
    let driven = driven(overloaded, answering_after(200));
    let (turns, skipped) = (driven.turns(), driven.measured("skipped") as u64);
    assert_eq!(turns + skipped + driven.clients.unsent(driven.conducted.load_end_ns), 100);
    // Every second one: what it has waited for another is 200 ms, and its own are as many.
    assert!((46..=50).contains(&skipped), "{skipped}");
    assert!(driven.measured("late") >= 40.0, "{}", driven.measured("late"));
    let last = driven.intervals.iter().rfind(|interval| interval.phase == Phase::Measure).unwrap();
    let response_ms = last.operations["login"].response.as_ref().unwrap().max_us().unwrap() / 1e3;
    assert!(response_ms <= 451.0, "what is sent was at most 250 ms late: {response_ms} ms");
}

#[test]
fn in_a_closed_loop_nothing_is_passed_over() {
    let limited = |ms| Schedule { latency_limit: Some(Span { ns: ms * MS }), ..schedule(1, 10) };
    let late = driven(limited(100), answering_after(200));
    assert_eq!((late.measured("late"), late.measured("skipped")), (49.0, 0.0));
    let in_time = driven(limited(200), answering_after(200));
    assert_eq!(in_time.measured("late"), 0.0, "the limit itself is in time");
}

/// A turn that was answered at the very moment at which the load ended was not told, if another part had none.
#[test]
fn turns_that_are_due_come_at_their_rate() {
    let pacing = Pacing::Poisson { rate_per_s: 50.0 };
    let driven = driven_with((Schedule { pacing, ..schedule(8, 100) }, 2), Arc::default(), None, |_| Go::On);
    assert_eq!(driven.clients.unsent(driven.conducted.load_end_ns), 0);
    let due = driven.clients.offered(driven.conducted.load_end_ns).unwrap().due;
    assert_eq!(driven.turns(), due);
    // Four standard deviations of a count of 5,000.
    assert!((4_717..5_283).contains(&due), "{due}");
}

#[test]
fn a_share_of_the_servers_cpu_is_held_by_the_number_of_clients() {
    let server = Arc::new(answering_after(50));
    let busy = Arc::clone(&server);
    // Each client that is answered takes 4 % of it.
    let server_cpu = move |_| {
        let share = f64::from(busy.asked.load(Ordering::Relaxed)) * 0.04;
        Some(CpuUse { share: share.min(1.0), seconds: share })
    };
    let wanted = Schedule { cpu_target: Some(0.6), ..schedule(100, 60) };
    let driven = driven_with((wanted, 1), server, Some(Box::new(server_cpu)), |_| Go::On);
    let active: Vec<f64> = driven.intervals.iter().map(|interval| interval.gauges[ACTIVE_CLIENTS]).collect();
    assert_eq!(active[0], 1.0, "it begins with one");
    assert!(active[40..60].iter().all(|active| (14.0..=16.0).contains(active)), "{active:?}");
}

/// On a machine of many processors the server's own 60 % are hardly seen: what counts is the half of one that it may use.
#[test]
fn the_share_that_is_held_is_that_of_the_processors_which_the_server_may_use() {
    let server = Arc::new(answering_after(50));
    let busy = Arc::clone(&server);
    let begin = std::cell::OnceCell::new();
    let mut cpu = OwnCpu::begin(ServerMeter::new(CpuOf::Groups, 0.5, move || {
        let at_s = begin.get_or_init(tokio::time::Instant::now).elapsed().as_secs_f64();
        // A turn takes a millisecond of a processor.
        Some(CpuReading { at_s, used_s: busy.begun.lock().unwrap().len() as f64 * 1e-3 })
    }));
    let wanted = Schedule { cpu_target: Some(0.6), ..schedule(100, 60) };
    let driven = driven_with((wanted, 1), server, Some(Box::new(move |_| cpu.used())), |_| Go::On);
    let of = |gauge: &str| -> Vec<f64> {
        driven.intervals.iter().filter_map(|interval| interval.gauges.get(gauge)).copied().collect()
    };
    // A client takes 20 ms a second, 4 % of what the server may use.
    let (active, shares) = (of(ACTIVE_CLIENTS), of(SERVER_CPU));
    assert!(active[40..60].iter().all(|active| (14.0..=16.0).contains(active)), "{active:?}");
    assert!(shares[40..58].iter().all(|share| (share - 0.6).abs() < 0.05), "{shares:?}");
}

#[test]
fn a_load_that_is_ended_sooner_drains_and_begins_nothing_more() {
    let server = Arc::new(answering_after(300));
    let go = |interval: &Interval| if interval.end_s >= 3.0 { Go::Stop } else { Go::On };
    let driven = driven_with((schedule(4, 3_600), 1), server, None, go);
    let end_ns = driven.conducted.load_end_ns;
    assert!((3 * S..3 * S + 200 * MS).contains(&end_ns), "{end_ns}");
    let begun = driven.server.begun.lock().unwrap().clone();
    assert!(begun.iter().all(|(ns, _)| *ns <= end_ns), "{:?}", begun.last());
    assert_eq!(driven.turns(), begun.len() as u64, "what was begun is awaited");
    let last = driven.intervals.last().unwrap();
    assert!(last.phase == Phase::Drain && last.end_s < 3.7, "{} s", last.end_s);
    assert!(driven.stopped().is_empty());
}

#[test]
fn a_turn_without_an_answer_is_given_up_after_the_drain() {
    for (is_ended, given_up_s) in [(false, 65.0), (true, 13.0)] {
        let server = Arc::new(Server { silent_from: Some(9), ..answering_after(500) });
        let go = |interval: &Interval| if is_ended && interval.end_s >= 3.0 { Go::Stop } else { Go::On };
        let driven = driven_with((schedule(2, 5), 1), server, None, go);
        let last_s = driven.intervals.last().unwrap().end_s;
        assert!((last_s - given_up_s).abs() < 0.3, "{last_s}, wanted {given_up_s}");
        let stopped = driven.stopped();
        assert!(
            stopped.len() == 2
                && stopped[0].contains("still without an answer long after the end of the load"),
            "{stopped:?}"
        );
        assert_eq!(driven.server.given_up.load(Ordering::Relaxed), 2, "clients know of it");
        let errors: u64 = driven.intervals.iter().map(|interval| interval.operations["login"].errors).sum();
        assert_eq!((driven.turns(), errors), (8, 2));
    }
}

#[test]
fn a_lost_connection_is_made_again_and_told_as_an_outage() {
    let driven = driven(schedule(1, 10), Server { lost_at: Some((20, 4)), ..answering_after(100) });
    let outages = driven.clients.parts()[0].take_outages();
    let [outage] = outages.as_slice() else { panic!("{outages:?}") };
    assert_eq!((outage.error.as_str(), outage.attempts), ("reset", 5));
    // Pauses of 50, 100, 200, 400 and 800 ms.
    let length_s = outage.end_s.unwrap() - outage.start_s;
    assert!((outage.start_s - 2.0).abs() < 0.05 && (length_s - 1.55).abs() < 0.05, "{outage:?}");
    assert!(driven.stopped().is_empty() && driven.turns() > 80, "{}", driven.turns());
    assert_eq!(driven.server.given_up.load(Ordering::Relaxed), 1);
}

#[test]
fn a_client_that_is_refused_or_panics_stops_and_says_why() {
    let refused = driven(schedule(3, 5), Server { refused_at: Some(7), ..answering_after(100) });
    let stopped = refused.stopped();
    assert!(stopped.len() == 1 && stopped[0].ends_with(": no such table"), "{stopped:?}");
    assert!(refused.turns() > 90, "the others go on");
    let panicked = driven(schedule(3, 5), Server { panics_at: Some(7), ..answering_after(100) });
    let stopped = panicked.stopped();
    assert!(stopped.len() == 1 && stopped[0].contains("bug in prony"), "{stopped:?}");
    assert_eq!(panicked.clients.parts()[0].ended_by_mistake(), 1);
    assert!(panicked.turns() > 90, "the others go on");
}
