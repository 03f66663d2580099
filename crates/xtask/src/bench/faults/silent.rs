//! Servers that fall silent after some bytes, anywhere in the set-up of a command.
//!
//! prony must end by itself and say why; and its first signal must be answered by a line soon, whatever it waits for. How a
//! measured run takes a server that hangs is not asked here: that is an outage, which it measures.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::lab::Lab;
use super::process::{self, Ended, Started};
use super::proxy::Proxy;
use super::server::{Kind, Server};
use super::server_killed::load_has_begun;
use super::tally::{Findings, Tally};

/// A command ends by itself so long after its server fell silent.
const END_LIMIT: Duration = Duration::from_secs(60);
/// A signal is answered within this.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);
/// A signal comes so long after the silence began, at most.
const SIGNAL_WITHIN: Duration = Duration::from_secs(2);
/// How long a command that nobody disturbs may take, and one that is to fall silent until it does.
const LIMIT: Duration = Duration::from_secs(60);
/// Numbers of bytes that are drawn for one that is reached.
const DRAWN_MAX: u32 = 30;

const LOAD: &str = "orders load --size 1MB --replace";
/// Commands; the last two want a loaded store.
const COMMANDS: [&str; 4] = [
    "historian --rate 100 --warm-up 0s --duration 300ms --screens 0 --replace",
    LOAD,
    "orders verify",
    "orders run --warmup-time 0s --run-time 300ms",
];

pub(super) fn run(lab: &Lab, kind: Kind) -> Result<Tally> {
    let server = Server::start(kind)?;
    let before = server.databases()?;
    let mut set_up_bytes = Vec::new();
    for words in COMMANDS {
        load_again(lab, &server, &before)?;
        set_up_bytes.push(bytes_of_set_up(lab, &server, words)?);
    }
    let mut tally = Tally::default();
    let mut number = 0;
    while tally.tried() < lab.cases() {
        ensure!(number < lab.cases().saturating_mul(DRAWN_MAX), "the server never falls silent");
        let mut random = lab.random(number);
        number += 1;
        let turn = tally.tried() as usize % COMMANDS.len();
        let bytes = random.below(set_up_bytes[turn]);
        load_again(lab, &server, &before)?;
        let signal = random.one_in(2).then(|| random.moment(SIGNAL_WITHIN));
        let Some(found) = case(lab, &server, COMMANDS[turn], bytes, signal)? else { continue };
        let way = signal.map_or("left alone".to_owned(), |after| format!("SIGTERM {after:?} later"));
        tally
            .count(&format!("case {number}: `{}`, silent after {bytes} bytes, {way}", COMMANDS[turn]), found);
    }
    Ok(tally)
}

/// A store that is as it was loaded, and no database beside it.
fn load_again(lab: &Lab, server: &Server, before: &BTreeSet<String>) -> Result<()> {
    server.drop_new(before)?;
    let mut load = lab.prony(LOAD, lab.place());
    load.args(["--target", &server.url()]);
    let loaded = process::run(load, LIMIT)?;
    ensure!(loaded.code() == Some(0), "{}", loaded.shown());
    Ok(())
}

fn start(lab: &Lab, server: &Server, words: &str, bytes: u64) -> Result<(Proxy, Started)> {
    let proxy = Proxy::start(server.port(), bytes)?;
    let url = server.url().replace(&format!(":{}/", server.port()), &format!(":{}/", proxy.port()));
    let mut command = lab.prony(words, &lab.fresh("work")?);
    command.args(["--target", &url]);
    Ok((proxy, Started::new(command)?))
}

/// Bytes that the server says until the load begins, or until the end of a command without one.
fn bytes_of_set_up(lab: &Lab, server: &Server, words: &str) -> Result<u64> {
    let (proxy, mut started) = start(lab, server, words, u64::MAX)?;
    let directory = lab.place().join("work");
    let mut bytes = 0;
    started.wait_until(LIMIT, || {
        let has_begun = load_has_begun(&directory);
        if !has_begun {
            bytes = proxy.forwarded();
        }
        has_begun
    })?;
    let ended = started.ended_within(LIMIT)?;
    // A run so short may be too short for figures.
    ensure!(matches!(ended.code(), Some(0 | 3 | 4 | 5)), "undisturbed: {}", ended.shown());
    if !load_has_begun(&directory) {
        bytes = proxy.forwarded();
    }
    println!("  `{words}`: {bytes} bytes of the server in the set-up");
    Ok(bytes)
}

/// None if the command ended before the server fell silent.
fn case(
    lab: &Lab,
    server: &Server,
    words: &str,
    bytes: u64,
    signal: Option<Duration>,
) -> Result<Option<Findings>> {
    let (proxy, mut started) = start(lab, server, words, bytes)?;
    if !started.wait_until(LIMIT, || proxy.is_silent())? {
        let ended = started.ended_within(Duration::ZERO)?;
        ensure!(ended.status.is_some(), "{} bytes are not reached: {}", bytes, ended.shown());
        return Ok(None);
    }
    let mut found = Findings::default();
    let mut is_answered = true;
    if let Some(after) = signal {
        let age = started.age();
        if started.runs_until(age + after)? {
            is_answered = answers(&mut started)?;
        }
    }
    let ended = started.ended_within(END_LIMIT)?;
    found.check(is_answered, || format!("no line within {} s of SIGTERM", ANSWER_LIMIT.as_secs()));
    found.extend(ended_badly(&ended, signal.is_some()));
    Ok(Some(found))
}

/// Whether a signal is followed by a line, or by the end.
fn answers(started: &mut Started) -> Result<bool> {
    let told = started.told_path();
    let before = bytes_of(&told);
    started.terminate()?;
    started.wait_until(ANSWER_LIMIT, || bytes_of(&told) > before)?;
    let age = started.age();
    Ok(bytes_of(&told) > before || !started.runs_until(age)?)
}

fn bytes_of(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| metadata.len())
}

/// It ends with an error that can be read, or as interrupted.
fn ended_badly(ended: &Ended, is_signalled: bool) -> Findings {
    let mut found = ended.faults();
    if !found.is_empty() {
        return found;
    }
    let is_fitting = match ended.code() {
        Some(130) => is_signalled,
        Some(1 | 2 | 5) => true,
        _ => false,
    };
    found.check(is_fitting, || format!("the exit code does not fit: {}", ended.shown()));
    let last = ended.stderr.lines().last().unwrap_or_default();
    found.check(last.contains(' '), || format!("no error is told: {}", ended.shown()));
    found
}
