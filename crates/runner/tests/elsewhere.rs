//! A trial of each workload in a process of its own: it is told its job over one pipe and tells its events over another, and
//! leaves the same record as in this process. The locks stay here.

#![expect(clippy::unwrap_used, reason = "tests assert")]

use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Instant;

use database::{Claim, Error, Existing, Held, Holder, Lease, Own, RunId, Url};
use load::{Go, Progress};
use record::{CpuOf, CpuRead, Interval, Outcome, Phase, Sample, Setup};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use workload::historian;
use workload::orders::{self, StoreData, StoreInUse};
use workload::waiting::Making;
use workload::{CpuReading, ServerMeter};

/// Those who wait for an answer, in the order of their questions.
type Asked = Arc<Mutex<VecDeque<oneshot::Sender<Result<Held, String>>>>>;

/// Set in the process that runs a trial for another one.
const ELSEWHERE: &str = "PRONY_TEST_TRIAL_ELSEWHERE";

/// A trial, as it is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Job {
    Disk(disk::Job),
    Historian(Box<historian::Job>, Lease),
    /// The last says whether somebody tells the CPU of its server.
    Orders(orders::Job, Vec<StoreInUse>, Option<CpuRead>),
}

/// What a trial tells. After progress it waits for a [`Told::Go`], after a question for a [`Told::Held`].
#[derive(Debug, Serialize, Deserialize)]
enum Tells {
    Progress(Box<Progress>),
    /// Whether this database, by its number, is still the run's own.
    WhoseIs(usize),
    /// What its server has used of its CPU.
    WhatIsUsed {},
    Ended(Result<Outcome, String>),
}

/// What it is told.
#[derive(Debug, Serialize, Deserialize)]
enum Told {
    Go(Go),
    Held(Result<Held, String>),
    Used(Option<CpuReading>),
}

impl Job {
    fn run(
        &self,
        holders: &[Holder],
        meter: Option<ServerMeter>,
        on_progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<Outcome, String> {
        let stop = AtomicBool::new(false);
        match self {
            Self::Disk(job) => {
                let target = disk::Target::imaginary(1, job.file_bytes);
                let ended = disk::run(job, &target, &stop, on_progress);
                ended.map(Outcome::Disk).map_err(|error| error.to_string())
            }
            Self::Historian(job, lease) => {
                let ended = historian::run(job, lease, &holders[0], true, &stop, on_progress);
                ended.map(|outcome| Outcome::Historian(Box::new(outcome))).map_err(|error| error.to_string())
            }
            Self::Orders(job, stores, _) => {
                let ended = orders::run(job, stores, holders, meter, &stop, on_progress);
                ended.map(|outcome| Outcome::Orders(Box::new(outcome))).map_err(|error| error.to_string())
            }
        }
    }

    /// Whose CPU is told, if somebody does.
    fn read(&self) -> Option<CpuRead> {
        match self {
            Self::Disk(_) | Self::Historian(..) => None,
            Self::Orders(_, _, read) => *read,
        }
    }

    fn databases(&self) -> usize {
        match self {
            Self::Disk(_) => 0,
            Self::Historian(..) => 1,
            Self::Orders(_, stores, _) => stores.len(),
        }
    }
}

// ---- The process that runs the trial ----

/// No test by itself: this is where the other process begins, which is this program once more.
#[test]
fn a_process_for_another_one() {
    if std::env::var_os(ELSEWHERE).is_none() {
        return;
    }
    let (go, gone) = mpsc::channel();
    let (use_told, used) = mpsc::channel();
    let asked = Asked::default();
    let mut lines = BufReader::new(std::io::stdin()).lines();
    let job: Job = read(&lines.next().unwrap().unwrap());
    let waiting = Arc::clone(&asked);
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            match read(&line) {
                Told::Go(told) => go.send(told).unwrap(),
                Told::Used(reading) => use_told.send(reading).unwrap(),
                Told::Held(held) => drop(waiting.lock().unwrap().pop_front().unwrap().send(held)),
            }
        }
    });
    let holder = |number: usize| {
        let asked = Arc::clone(&asked);
        Holder::new(move || {
            let (answer, answered) = oneshot::channel();
            let mut asked = asked.lock().unwrap();
            asked.push_back(answer);
            tell(&Tells::WhoseIs(number));
            async move {
                answered
                    .await
                    .map_err(|gone| gone.to_string())
                    .and_then(|held| held)
                    .map_err(Error::Unreachable)
            }
        })
    };
    let holders: Vec<Holder> = (0..job.databases()).map(holder).collect();
    let meter = job.read().map(|read| {
        ServerMeter::new(read.of, read.processors.unwrap(), move || {
            tell(&Tells::WhatIsUsed {});
            used.recv().ok().flatten()
        })
    });
    let ended = job.run(&holders, meter, &mut |progress| {
        tell(&Tells::Progress(Box::new(progress)));
        gone.recv().unwrap_or(Go::Stop)
    });
    tell(&Tells::Ended(ended));
}

/// A line for the other process; the test's own words have lines of their own.
fn tell(tells: &Tells) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{}", serde_json::to_string(tells).unwrap()).unwrap();
    out.flush().unwrap();
}

fn read<T: DeserializeOwned>(line: &str) -> T {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

// ---- The process that has it run ----

/// What a record is made of.
#[derive(Debug, PartialEq)]
struct Recorded {
    setup: Setup,
    intervals: Vec<Interval>,
    ended: Outcome,
}

/// Hears a trial.
#[derive(Default)]
struct Hears {
    setup: Option<Setup>,
    intervals: Vec<Interval>,
}

impl Hears {
    fn hear(&mut self, progress: Progress) -> Go {
        match progress {
            Progress::Preparing(_) | Progress::Mark(_) | Progress::Parts(_) => {}
            Progress::SetUp(setup) => self.setup = Some(setup),
            Progress::Interval(interval) => self.intervals.push(interval),
        }
        Go::On
    }

    fn recorded(self, ended: Result<Outcome, String>) -> Recorded {
        Recorded { setup: self.setup.unwrap(), intervals: self.intervals, ended: ended.unwrap() }
    }
}

fn here(job: &Job, holders: &[Holder]) -> Recorded {
    let mut hears = Hears::default();
    let ended = job.run(holders, job.read().map(half_used), &mut |progress| hears.hear(progress));
    hears.recorded(ended)
}

fn elsewhere(job: &Job, holders: &[Holder]) -> Recorded {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process_for_another_one", "--nocapture"])
        .env(ELSEWHERE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut hears = Hears::default();
    let mut meter = job.read().map(half_used);
    send(&mut child, job);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let said = out.lines().map(Result::unwrap).filter(|line| line.starts_with('{'));
    let mut ended = None;
    for line in said {
        match read(&line) {
            Tells::Progress(progress) => send(&mut child, &Told::Go(hears.hear(*progress))),
            Tells::WhoseIs(number) => {
                let held = runtime.block_on(holders[number].is_held());
                send(&mut child, &Told::Held(held.map_err(|error| error.to_string())));
            }
            Tells::WhatIsUsed {} => {
                let meter = meter.as_mut().unwrap();
                send(&mut child, &Told::Used(meter.ask()));
            }
            Tells::Ended(result) => ended = Some(result),
        }
    }
    assert!(child.wait().unwrap().success());
    hears.recorded(ended.unwrap())
}

fn send<T: Serialize>(child: &mut Child, told: &T) {
    let mut text = serde_json::to_string(told).unwrap();
    text.push('\n');
    child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
}

/// A server that uses half of its processors whatever is asked of it.
fn half_used(read: CpuRead) -> ServerMeter {
    let (begin, processors) = (Instant::now(), read.processors.unwrap());
    ServerMeter::new(read.of, processors, move || {
        let at_s = begin.elapsed().as_secs_f64();
        Some(CpuReading { at_s, used_s: at_s * processors * 0.5 })
    })
}

fn held() -> Holder {
    Holder::new(|| async { Ok(Held::Held) })
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn claim() -> Claim {
    Claim::new(RunId::new().unwrap(), Existing::Refuse)
}

/// What is plain data travels without a loss.
fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    read(&serde_json::to_string(value).unwrap())
}

#[test]
fn a_disk_test_elsewhere_is_the_same_to_the_last_count() {
    for text in [
        r#"{"engine": "simulated", "outstanding": 4, "read_share": 70.0, "warm_up": "1s", "duration": "3s",
            "simulated": {"service": "700us"}}"#,
        r#"{"engine": "simulated", "rate": 333.3, "arrivals": "poisson", "duration": "5s",
            "simulated": {"service": "1ms"}}"#,
    ] {
        let settings: disk::Settings = serde_json::from_str(text).unwrap();
        let job = Job::Disk(disk::Job::of(&settings).unwrap());
        let told = elsewhere(&job, &[]);
        assert_eq!(told, here(&job, &[]));
        assert!(told.intervals.iter().map(|i| i.operations["read"].count).sum::<u64>() > 1_000);
    }
}

#[test]
fn a_historian_elsewhere_is_the_same_to_the_last_count() {
    let settings: historian::Settings = serde_json::from_str(
        r#"{"rate": 700.0, "poisson": true, "warm_up": "2s", "duration": "20s", "writers": 2, "maintenance_interval": "7s",
            "retention": "5s"}"#,
    )
    .unwrap();
    let url: Url = "fake:?append=3ms&row=20us&lose_committed_at=40&down=300ms".parse().unwrap();
    let own = block_on(Own::make(&url, "historian", &claim())).unwrap();
    let job = Job::Historian(Box::new(historian::Job::of(&settings).unwrap()), own.lease());
    let told = elsewhere(&job, &[held()]);
    // What is in a fake's memory does not travel: both begin with an empty one.
    assert_eq!(told, here(&again(&job), &[held()]));
    let Outcome::Historian(outcome) = &told.ended else { panic!("{told:?}") };
    assert!(outcome.acknowledged > 10_000 && outcome.outages.len() == 1, "{outcome:?}");
    assert_eq!((outcome.mismatch(), outcome.lock_lost), (None, false));
    let records: Vec<Sample> = told.intervals.iter().map(Interval::sample).collect();
    assert!(records.iter().any(|sample| sample.gauges.contains_key("maintenance_share")));
}

/// Where time is real: what is told of which phases and operations, and that all adds up.
fn shape(told: &Recorded) -> (Setup, Vec<String>, BTreeSet<&str>, BTreeSet<&str>) {
    let mut phases: Vec<String> = told.intervals.iter().map(|i| format!("{:?}", i.phase)).collect();
    phases.dedup();
    let kinds = told.intervals.iter().flat_map(|i| i.operations.keys().map(String::as_str)).collect();
    let gauges = told.intervals.iter().flat_map(|i| i.gauges.keys().map(String::as_str)).collect();
    let mut setup = told.setup.clone();
    if let Setup::Orders(setup) = &mut setup {
        setup.targets.iter_mut().for_each(|target| target.restored = None);
    }
    (setup, phases, kinds, gauges)
}

fn adds_up(told: &Recorded) {
    let Outcome::Orders(outcome) = &told.ended else { panic!("{told:?}") };
    let [target] = outcome.targets.as_slice() else { panic!("{outcome:?}") };
    assert_eq!((target.mismatches(), target.acknowledged_lost), (vec![], Some(0)), "{target:?}");
    assert_eq!(target.orders_found, Some(target.acknowledged()));
    let window = told.intervals.iter().filter(|interval| interval.phase == Phase::Measure);
    let counted: u64 = window.map(|interval| interval.operations["order"].count).sum();
    assert!(counted > 0 && counted == target.orders(), "{counted} and {target:?}");
    assert!(target.stopped.is_empty() && target.outages.is_empty(), "{target:?}");
}

#[test]
fn orders_elsewhere_add_up_as_here_while_the_lock_is_held_here() {
    let directory = tempfile::tempdir().unwrap();
    let (own, mut job) = store(directory.path());
    let own_cpu = CpuRead { of: CpuOf::Groups, processors: Some(0.5) };
    if let Job::Orders(_, _, read) = &mut job {
        *read = Some(own_cpu);
    }
    let holders = [Holder::from(own.clone())];
    let (there, here) = (elsewhere(&job, &holders), here(&job, &holders));
    let shares =
        there.intervals.iter().filter_map(|interval| interval.gauges.get(record::orders::SERVER_CPU));
    let shares: Vec<f64> = shares.copied().collect();
    assert!(!shares.is_empty() && shares.iter().all(|share| (share - 0.5).abs() < 1e-9), "{shares:?}");
    adds_up(&there);
    adds_up(&here);
    assert_eq!(shape(&there), shape(&here));
    let Setup::Orders(setup) = &here.setup else { panic!("{here:?}") };
    assert_eq!(setup.cpu_read, Some(own_cpu));
    assert!(setup.targets[0].restored.is_some(), "what was done elsewhere is in the same file");
    drop(own);
}

#[test]
fn a_trial_elsewhere_hears_that_the_database_was_taken() {
    let directory = tempfile::tempdir().unwrap();
    let (_own, job) = store(directory.path());
    let lost = Holder::new(|| async { Ok(Held::Lost("another run holds it".to_owned())) });
    let told = elsewhere(&job, &[lost]);
    let Outcome::Orders(outcome) = &told.ended else { panic!("{told:?}") };
    assert!(outcome.targets[0].lock_lost, "{outcome:?}");
    assert_eq!(outcome.notes, ["another run holds it"]);
}

/// A small store in a file, and orders for a second.
fn store(directory: &Path) -> (Own, Job) {
    let url: Url = format!("sqlite:{}", directory.join("orders.db").display()).parse().unwrap();
    let data = StoreData::new("1MB".parse().unwrap(), 7);
    let stop = AtomicBool::new(false);
    let (own, loaded) =
        orders::load_held(Making::plain(&url, "", &claim()), &data, 1, &stop, &mut |_| {}).unwrap();
    let settings: orders::Settings = serde_json::from_str(
        r#"{"n_threads": 2, "ramp_rate": 1000.0, "warmup_time": "200ms", "run_time": "1s"}"#,
    )
    .unwrap();
    let stores = vec![StoreInUse { lease: own.lease(), loaded }];
    (own, Job::Orders(orders::Job::of(&settings).unwrap(), stores, None))
}
