//! Whole trials of reports, on SQLite, PostgreSQL and MariaDB.

use std::sync::atomic::AtomicBool;

use database::{Existing, Own, Session, Url};
use instance::{MariaDb, Options, Postgres, TdsServer};
use load::Workload as _;
use record::{Interval, Phase, ReportingOutcome, ReportingSetup, Setup, reporting};

use super::*;
use crate::claims::claim;
use crate::reporting::{Settings, create, fill};

/// A database of messages.
struct Loaded {
    own: Own,
    runtime: tokio::runtime::Runtime,
}

/// What was told of a trial.
struct Told {
    outcome: ReportingOutcome,
    setup: ReportingSetup,
    intervals: Vec<Interval>,
}

fn job(text: &str) -> Job {
    toml::from_str::<Settings>(text).unwrap().job().unwrap()
}

impl Loaded {
    fn new(url: &str, job: &Job) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let url: Url = url.parse().unwrap();
        let own = runtime.block_on(async {
            let own = Own::make(&url, "prony_reports", &claim(Existing::Refuse)).await.unwrap();
            let mut session = own.session().await.unwrap();
            create(&mut session).await.unwrap();
            assert!(fill(&mut session, &job.data(), &mut |_| true).await.unwrap());
            own
        });
        Self { own, runtime }
    }

    fn with<T>(&self, act: impl AsyncFnOnce(&mut Session) -> T) -> T {
        self.runtime.block_on(async {
            let mut session = self.own.session().await.unwrap();
            act(&mut session).await
        })
    }

    fn run(&self, job: &Job, stop: &AtomicBool, mut look: impl FnMut(&Progress)) -> Told {
        let (mut setup, mut intervals) = (None, Vec::new());
        let mut on_progress = |progress: Progress| {
            look(&progress);
            match progress {
                Progress::SetUp(Setup::Reporting(told)) => setup = Some(*told),
                Progress::Interval(interval) => intervals.push(interval),
                _ => {}
            }
            Go::On
        };
        let holder = Holder::from(self.own.clone());
        let outcome = run(job, &self.own.lease(), &holder, stop, &mut on_progress).unwrap();
        Told { outcome, setup: setup.unwrap(), intervals }
    }

    fn ran(&self, job: &Job) -> Told {
        self.run(job, &AtomicBool::new(false), |_| {})
    }
}

impl Told {
    /// Operations of a kind in a phase.
    fn count(&self, phase: Phase, kind: &str) -> u64 {
        let of_phase = self.intervals.iter().filter(|interval| interval.phase == phase);
        of_phase.filter_map(|interval| interval.operations.get(kind)).map(|operation| operation.count).sum()
    }
}

const SMALL: &str = "events = 20000\nruns = 3";

fn reports_as_often_as_asked(url: &str) {
    let job = job(SMALL);
    let loaded = Loaded::new(url, &job);
    let told = loaded.ran(&job);
    // SQLite reads on a thread of its own, which is the server's.
    let read_us: u64 = told.intervals.iter().map(|interval| interval.generator_cpu_us).sum();
    assert!(url.starts_with("sqlite") || read_us > 1_000, "{url}: {read_us} µs for 7,668 rows");
    assert_eq!(told.outcome.failure, None);
    assert_eq!(told.outcome.runs.len(), 4, "{url}");
    assert_eq!(told.setup.expected.rows, 1_917, "{url}");
    for run in &told.outcome.runs {
        assert_eq!(run.answer, told.setup.expected, "{url}");
        assert!(run.first_row_s.unwrap() <= run.took_s && run.plan == Some(0), "{url}: {run:?}");
    }
    assert_eq!(told.outcome.plans.len(), 1, "{url}: {:?}", told.outcome.plans);
    let plan = &told.outcome.plans[0].text;
    assert!(plan.contains("message"), "{url}: {plan}");
    assert_eq!(told.count(Phase::WarmUp, reporting::FIRST_REPORT), 1, "{url}");
    assert_eq!(told.count(Phase::Measure, reporting::REPORT), 3, "{url}");
    assert_eq!(told.count(Phase::WarmUp, reporting::REPORT), 0, "{url}");
    let rows: u64 =
        told.intervals.iter().filter_map(|it| it.operations.get(reporting::REPORT)).map(|it| it.rows).sum();
    assert_eq!(rows, 3 * 1_917, "{url}");
}

/// Events arrive and are there in the end; the answer stays the same, and the next trial finds what was loaded.
fn events_arrive_and_are_taken_away(url: &str) {
    let job = job(&format!("{SMALL}\narrivals = 500\nwarm_up = \"1s\""));
    let loaded = Loaded::new(url, &job);
    let told = loaded.ran(&job);
    let outcome = &told.outcome;
    assert_eq!((outcome.failure.as_deref(), outcome.arrivals_stopped.as_deref()), (None, None), "{url}");
    assert!(outcome.events_committed >= 250, "{url}: {}", outcome.events_committed);
    assert_eq!(outcome.events_found, Some(outcome.events_committed), "{url}");
    assert!(outcome.runs.iter().all(|run| run.answer == told.setup.expected), "{url}");
    let arrived: u64 = told.intervals.iter().map(|it| it.operations[reporting::EVENT].count).sum();
    assert_eq!(arrived, outcome.events_committed, "{url}");
    let left = loaded.with(async |session| store::arrived(session, 20_000).await.unwrap());
    assert_eq!(left, 0, "{url}");
}

fn both(url: &str) {
    reports_as_often_as_asked(url);
    let other = url.replace("reports.db", "arriving.db");
    events_arrive_and_are_taken_away(&other);
}

fn sqlite(directory: &tempfile::TempDir) -> String {
    format!("sqlite:{}/reports.db", directory.path().display())
}

#[test]
fn sqlite_reports_and_takes_events() {
    let directory = tempfile::TempDir::new().unwrap();
    both(&sqlite(&directory));
}

#[test]
fn postgres_reports_and_takes_events() {
    for test in [reports_as_often_as_asked, events_arrive_and_are_taken_away] {
        let server = Postgres::start(&Options::default()).unwrap();
        test(&server.url());
    }
}

#[test]
fn mariadb_reports_and_takes_events() {
    for test in [reports_as_often_as_asked, events_arrive_and_are_taken_away] {
        let server = MariaDb::start(&Options::default()).unwrap();
        test(&server.url());
    }
}

/// What speaks T-SQL beside SQL Server keeps no plans.
#[test]
fn t_sql_reports_and_takes_events() {
    let Some(server) = TdsServer::start(&[]).unwrap() else { return };
    let job = job(&format!("{SMALL}\narrivals = 100\naccess = \"procedure\""));
    let told = Loaded::new(&server.url(), &job).ran(&job);
    assert_eq!((told.outcome.failure.as_deref(), told.outcome.arrivals_stopped.as_deref()), (None, None));
    assert!(told.outcome.runs.iter().all(|run| run.answer == told.setup.expected));
    assert_eq!(told.outcome.events_found, Some(told.outcome.events_committed));
    assert!(told.outcome.notes[0].contains("is unknown"), "{:?}", told.outcome.notes);
}

#[test]
fn a_procedure_of_postgres_answers_and_has_the_plan_of_its_statement() {
    let server = Postgres::start(&Options::default()).unwrap();
    let job = job(&format!("{SMALL}\naccess = \"procedure\"\nresult = \"aggregate\""));
    let told = Loaded::new(&server.url(), &job).ran(&job);
    assert!(told.outcome.runs.iter().all(|run| run.answer == told.setup.expected && run.plan == Some(0)));
    let [plan] = told.outcome.plans.as_slice() else { panic!("{:?}", told.outcome.plans) };
    assert!(plan.text.contains("Aggregate") && plan.text.contains("messages"), "{}", plan.text);
    let notes: Vec<&String> =
        told.outcome.notes.iter().filter(|note| note.contains("as one statement")).collect();
    assert_eq!(notes.len(), 1, "{:?}", told.outcome.notes);
}

#[test]
fn what_a_killed_trial_left_is_taken_away_first() {
    let directory = tempfile::TempDir::new().unwrap();
    let job = job(SMALL);
    let loaded = Loaded::new(&sqlite(&directory), &job);
    let left =
        format!("INSERT INTO messages VALUES (20001, {}, 1, 1, 1, 1, 1, '')", job.data().time_us(10_000));
    loaded.with(async |session| session.script(&left).await.unwrap());
    let told = loaded.ran(&job);
    assert_eq!(told.outcome.runs[0].answer, told.setup.expected, "it lay within the dates");
}

#[test]
fn a_row_that_was_changed_is_another_answer() {
    let directory = tempfile::TempDir::new().unwrap();
    let job = job(SMALL);
    let loaded = Loaded::new(&sqlite(&directory), &job);
    let damage = "UPDATE messages SET size_bytes = size_bytes + 1 WHERE message_id = 10000";
    loaded.with(async |session| session.script(damage).await.unwrap());
    let told = loaded.ran(&job);
    let answer = told.outcome.runs[0].answer;
    assert_eq!(answer.rows, told.setup.expected.rows);
    assert_ne!(answer.sum, told.setup.expected.sum);
}

#[test]
fn a_plan_that_changes_is_told_with_both() {
    let server = Postgres::start(&Options::default()).unwrap();
    let job = job("events = 20000\nruns = 1000\nresult = \"aggregate\"");
    let loaded = Loaded::new(&server.url(), &job);
    let lease = loaded.own.lease();
    let drop_index = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut session = lease.session().await.unwrap();
            session.script("DROP INDEX messages_sent").await.unwrap();
        });
    };
    let mut is_there = true;
    let told = loaded.run(&job, &AtomicBool::new(false), |progress| {
        if matches!(progress, Progress::Interval(_)) && std::mem::take(&mut is_there) {
            std::thread::scope(|scope| scope.spawn(drop_index).join().unwrap());
        }
    });
    let [seek, scan] = told.outcome.plans.as_slice() else { panic!("{:?}", told.outcome.plans) };
    assert!(seek.text.contains("messages_sent"), "{}", seek.text);
    assert!(scan.text.contains("Seq Scan on messages"), "{}", scan.text);
    let plans = [told.outcome.runs.first(), told.outcome.runs.last()].map(|run| run.unwrap().plan);
    assert_eq!(plans, [Some(0), Some(1)]);
}

#[test]
fn a_report_beyond_its_limit_is_a_failure_that_names_it() {
    let directory = tempfile::TempDir::new().unwrap();
    let job = job("events = 200000\nshare = 100\ntime_limit = \"1ms\"");
    let told = Loaded::new(&sqlite(&directory), &job).ran(&job);
    assert_eq!(told.outcome.runs, []);
    let failure = told.outcome.failure.unwrap();
    assert!(failure.contains("no answer within 1ms") && failure.contains("time_limit"), "{failure}");
}

#[test]
fn a_server_that_dies_ends_it_with_what_was_answered() {
    let server = Postgres::start(&Options::default()).unwrap();
    let job = job("events = 20000\nruns = 100000\narrivals = 100");
    let loaded = Loaded::new(&server.url(), &job);
    let mut server = Some(server);
    let told = loaded.run(&job, &AtomicBool::new(false), |progress| {
        if matches!(progress, Progress::Interval(interval) if interval.phase == Phase::Measure) {
            drop(server.take());
        }
    });
    assert!(!told.outcome.runs.is_empty());
    let failure = told.outcome.failure.unwrap();
    assert!(failure.to_lowercase().contains("connection"), "{failure}");
    assert_eq!(told.outcome.events_found, None);
}

#[test]
fn a_stop_ends_a_report_that_goes_on() {
    let server = Postgres::start(&Options::default()).unwrap();
    let job = job("events = 20000\nruns = 100000");
    let loaded = Loaded::new(&server.url(), &job);
    let stop = AtomicBool::new(false);
    let told = loaded.run(&job, &stop, |progress| {
        if matches!(progress, Progress::Interval(_)) {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    assert_eq!(told.outcome.failure, None);
    assert!(told.outcome.runs.len() < 100_000);
}
