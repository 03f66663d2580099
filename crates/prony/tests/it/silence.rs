//! Servers that fall silent while prony waits for them, and the first signal in each such wait.

use std::time::{Duration, Instant};

use instance::Proxy;
use rustix::process::Signal;

use crate::running::Running;
use crate::servers::{mariadb, postgres};
use crate::workbench::Workbench;

/// Within this a line answers a signal, also on a busy machine; a person would call it at once.
const ANSWERED: Duration = Duration::from_secs(1);
/// A drain takes ten seconds, clearing up ten, and a busy machine some more. Any other wait is of a minute or longer.
const ENDED: Duration = Duration::from_secs(45);

/// The address of a server through a proxy that hands on so many bytes.
fn silent(server: &str, bytes: u64) -> (Proxy, String) {
    let port = server.rsplit_once('/').unwrap().0.rsplit_once(':').unwrap().1;
    let proxy = Proxy::before(port.parse().unwrap(), bytes).unwrap();
    let url = proxy.url(server);
    (proxy, url)
}

/// Sends one signal, and has it answered at once and heard before long.
#[track_caller]
fn interrupt(mut run: Running, signal: Signal) -> crate::workbench::Outcome {
    let begin = Instant::now();
    run.send(signal);
    run.wait_for_line("interrupted");
    assert!(begin.elapsed() < ANSWERED, "answered after {:?}", begin.elapsed());
    let ended = run.ended_within(ENDED).expect("it did not end");
    ended.ended_with(130)
}

/// How much a server says when a command goes through undisturbed.
fn whole(bench: &Workbench, server: &str, arguments: &dyn Fn(&str) -> Vec<String>) -> u64 {
    let (proxy, url) = silent(server, u64::MAX);
    run(bench, &arguments(&url)).ended_with(0);
    *proxy.pieces().last().unwrap()
}

fn run(bench: &Workbench, arguments: &[String]) -> crate::workbench::Outcome {
    bench.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

fn start(bench: &Workbench, arguments: &[String]) -> Running {
    Running::start(bench, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Time limits were those of connecting and of a run's end: in a set-up it hung for ever, and the first signal did nothing.
#[test]
fn a_server_that_falls_silent_in_a_set_up_ends_it_by_itself() {
    std::thread::scope(|scope| {
        for (name, server) in [("postgres", postgres().url()), ("mariadb", mariadb().url())] {
            scope.spawn(move || {
                let bench = Workbench::new();
                let load = |url: &str| {
                    words(&format!(
                        "orders load --replace --size 1MB --database silent_load_{name} --target {url}"
                    ))
                };
                let bytes = whole(&bench, &server, &load);
                // While it loads, and not while one of the loaders connects, which is another wait: where that falls is by chance.
                let loading = [80, 70, 60, 50, 90, 75, 65, 55, 85, 45, 40, 95].into_iter().any(|part| {
                    let (proxy, url) = silent(&server, bytes * part / 100);
                    let begin = Instant::now();
                    let outcome = start(&bench, &load(&url)).ended().ended_with(1);
                    assert!(proxy.is_silent());
                    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
                    if !outcome.stderr.contains("did not answer for 1") {
                        outcome.says("cannot connect to").says(" within ");
                        return false;
                    }
                    outcome.says("over another connection within 4 s either").says("drops its answers");
                    true
                });
                assert!(loading, "{name} fell silent to a connection each time");
            });
        }
    });
}

#[test]
fn the_first_signal_ends_a_set_up_with_a_silent_server() {
    std::thread::scope(|scope| {
        for (name, server) in [("postgres", postgres().url()), ("mariadb", mariadb().url())] {
            // To connect for a look, to make a database, to make tables, to load, to make keys.
            for (part, signal) in
                [(0, Signal::TERM), (2, Signal::INT), (4, Signal::HUP), (7, Signal::TERM), (9, Signal::INT)]
            {
                let server = server.clone();
                scope.spawn(move || {
                    let bench = Workbench::new();
                    let load = |url: &str| {
                        words(&format!(
                            "orders load --replace --size 1MB --database interrupted_{name}_{part} --target {url}"
                        ))
                    };
                    let bytes = if part == 0 { 0 } else { whole(&bench, &server, &load) };
                    let (proxy, url) = silent(&server, (bytes * part / 100).max(1));
                    let mut run = start(&bench, &load(&url));
                    run.wait_until("silence", || proxy.is_silent());
                    interrupt(run, signal);
                });
            }
        }
    });
}

#[test]
fn the_first_signal_ends_a_verification_with_a_silent_server() {
    let bench = Workbench::new();
    let store = |url: &str| format!("--database interrupted_verify --target {url}");
    run(&bench, &words(&format!("orders load --size 1MB {}", store(&postgres().url())))).ended_with(0);
    let verify = |url: &str| words(&format!("orders verify {}", store(url)));
    let bytes = whole(&bench, &postgres().url(), &verify);
    let (proxy, url) = silent(&postgres().url(), bytes - 200);
    let mut running = start(&bench, &verify(&url));
    running.wait_until("silence", || proxy.is_silent());
    interrupt(running, Signal::TERM);
}

#[test]
fn the_first_signal_ends_a_drain_into_a_silent_server_and_saves_what_was_measured() {
    let bench = Workbench::new();
    let (proxy, url) = silent(&postgres().url(), u64::MAX);
    let historian = format!(
        "historian --database interrupted_drain --rate 500 --warm-up 0s --duration 5s --target {url}"
    );
    let mut running = start(&bench, &words(&historian));
    running.wait_for_samples(&bench);
    proxy.fall_silent();
    running.wait_until("silence", || proxy.is_silent());
    let outcome = interrupt(running, Signal::INT);
    assert!(bench.results().unwrap().join("report.html").exists());
    let said = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("interrupted; the database `interrupted_drain` on"), "{}", outcome.stdout);
}

/// The wait for another session's lock was SQLite's own: a minute in which nothing was heard.
#[test]
fn the_first_signal_ends_the_wait_for_a_locked_file() {
    let bench = Workbench::new();
    bench.run(&["orders", "load", "--size", "1MB", "--target", "sqlite:o.db"]).ended_with(0);
    let other = rusqlite::Connection::open(bench.path("o.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let arguments = ["orders", "run", "--target", "sqlite:o.db", "--run-time", "1s", "--n-threads", "1"];
    let mut running = Running::start(&bench, &arguments);
    running.wait_for_line("Writes: orders to the stores");
    interrupt(running, Signal::TERM);
}

#[test]
fn the_first_signal_ends_a_command_before_a_trial() {
    let bench = Workbench::new();
    let study = "title = \"x\"\nbefore = \"touch begun; sleep 1000\"\n[workload.disk]\nengine = \"simulated\"\n\
                 duration = \"1s\"\n[target]\npaths = [\"x\"]\n";
    bench.write("x.toml", study);
    let begun = bench.path("begun");
    let mut running = Running::start(&bench, &["study", "run", "x.toml"]);
    running.wait_until("the command", || begun.exists());
    interrupt(running, Signal::HUP);
}
