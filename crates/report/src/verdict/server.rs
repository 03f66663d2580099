//! Servers that a workload was run against: what their commits promise, and how long they were away.

use record::{Outage, Server, UnsafeTables};

use super::doubt::Doubt;
use super::{Level, Verdict};
use crate::format;
use crate::trial::Trial;

/// The servers of a trial that was measured.
fn servers(trial: &Trial) -> Vec<&Server> {
    let setup = trial.setup.as_ref().filter(|_| !trial.figures.is_empty());
    setup.map(|setup| trial.shown().servers(setup)).unwrap_or_default()
}

pub(crate) fn not_durable(trials: &[Trial]) -> Option<Verdict> {
    let server = |trial: &Trial| {
        let servers = if trial.shown().tells_durability(trial) { Vec::new() } else { servers(trial) };
        servers.into_iter().find(|server| !server.is_durable).cloned()
    };
    let durability = trials.iter().find_map(server)?.durability;
    Doubt::plain(Level::Warning, "server_not_durable", trials, |trial| server(trial).is_some())
        .verdict(format::per_cent, |_| format!("a power loss may lose commits ({durability})"))
        .map(|verdict| {
            verdict
                .with_effect("the figures are not comparable with those of a durable server")
                .with_action("make commits durable, and repeat")
        })
}

/// Who runs a server, whether it is a copy, and what stands before it, in a line.
pub(crate) fn served_by(server: &Server) -> Option<String> {
    let each = server.services.iter().map(|service| format!("{} ({})", service.name, service.told_by));
    let words = each.collect::<Vec<String>>().join("; ");
    (!words.is_empty()).then_some(words)
}

/// Tables of the database of which a crash may lose committed rows, in a line: `unlogged: tank, well`.
pub(crate) fn unsafe_tables(server: &Server) -> Option<String> {
    let kind = |of: &UnsafeTables| format!("{}: {}", of.kind, format::listed(&of.names));
    let words = server.unsafe_tables.iter().map(kind).collect::<Vec<String>>().join("; ");
    (!words.is_empty()).then_some(words)
}

/// Connections to other machines that others on the way could read, or be the server of.
pub(crate) fn exposed(trials: &[Trial]) -> Option<Verdict> {
    let link = |trial: &Trial| {
        // One that was started for the trial is on this machine, also in a network of its own.
        let servers = if trial.started_servers.is_empty() { servers(trial) } else { Vec::new() };
        let links = servers.into_iter().filter_map(|server| server.link.clone());
        links.into_iter().find_map(|link| Some((link.exposure()?, link.words())))
    };
    let (exposure, words) = trials.iter().find_map(link)?;
    Doubt::plain(Level::Note, "connection_exposed", trials, |trial| link(trial).is_some())
        .verdict(format::per_cent, |_| format!("the connection to another machine {exposure} ({words})"))
        .map(|verdict| verdict.with_action(VERIFIED))
}

/// How an address asks for an encrypted connection to a verified server.
const VERIFIED: &str = "set `sslmode=verify-full` in the address (MySQL and MariaDB: `ssl-mode=VERIFY_IDENTITY`, SQL Server: `encrypt=on`)";

/// ` for 3.20 s`, ` 2 times, together for 5.00 s`, ` from second 40 to the end`.
pub(crate) fn length_of(outages: &[Outage]) -> String {
    let (back, away): (Vec<_>, Vec<_>) = outages.iter().partition(|outage| outage.end_s.is_some());
    let away_s: f64 = back.iter().filter_map(|outage| Some(outage.end_s? - outage.start_s)).sum();
    match (away.first(), outages.len()) {
        (Some(last), _) => format!(" from second {} to the end", format::plain(last.start_s.round())),
        (None, 1) => format!(" for {}", format::duration(away_s)),
        (None, times) => format!(" {times} times, together for {}", format::duration(away_s)),
    }
}
