//! What a load came to: its history checked, its outages, and what its clients said.

use std::collections::BTreeMap;

use record::register::{Anomaly, AnomalyKind, Away, Operation};
use record::{Mark, MarkKind, Outage, RegisterOutcome};

use crate::clients::Clients;
use crate::register::{Job, away, history};

/// Anomalies of each kind that are told with their operations.
const TOLD_MAX: u64 = 10;

/// Checks the history.
pub(super) fn add_history(
    outcome: &mut RegisterOutcome,
    job: &Job,
    history: &[Operation],
    waited_until: &[Option<u64>],
) {
    let least_ns = job.outage.ns;
    // The last reads are not of the load.
    let load = || history.iter().filter(|operation| operation.client < job.clients);
    let until_ns = waited_until.iter().copied().max().flatten();
    outcome.operations = history.len() as u64;
    outcome.away = away::away(load(), until_ns, least_ns);
    outcome.writes_away = away::away(load().filter(|operation| operation.is_write()), until_ns, least_ns);
    outcome.reads_away = away::away(load().filter(|operation| !operation.is_write()), until_ns, least_ns);
    outcome.clients = away::by_client(history, waited_until, least_ns);
    match history::check(history) {
        Ok(checked) => {
            outcome.writes = checked.writes;
            (outcome.anomalies, outcome.told) = counted(checked.anomalies);
        }
        Err(error) => outcome.unchecked = Some(error.to_string()),
    }
}

/// How many there are of each kind, and the first of each.
fn counted(anomalies: Vec<Anomaly>) -> (BTreeMap<AnomalyKind, u64>, Vec<Anomaly>) {
    let (mut counts, mut told) = (BTreeMap::new(), Vec::new());
    for anomaly in anomalies {
        let count: &mut u64 = counts.entry(anomaly.kind).or_default();
        *count += 1;
        if *count <= TOLD_MAX {
            told.push(anomaly);
        }
    }
    (counts, told)
}

/// What clients and their connections tell.
pub(super) fn add_clients(outcome: &mut RegisterOutcome, clients: &Clients, load_end_ns: u64) {
    outcome.unsent = clients.unsent(load_end_ns);
    outcome.offered = clients.offered(load_end_ns);
    for part in clients.parts() {
        outcome.stopped.extend(part.take_stopped());
        outcome.outages.extend(part.take_outages());
    }
}

/// The times without an answer, for charts, and those without an answer to writes or to reads where there are no such.
pub(super) fn marks(outcome: &RegisterOutcome) -> Vec<Mark> {
    let of = |away: &[Away], what: &str| {
        let outage = |&Away { start_s, end_s }: &Away| {
            Mark::outage(MarkKind::Silence, &Outage { start_s, end_s, attempts: 0, error: what.to_owned() })
        };
        away.iter().map(outage).collect::<Vec<Mark>>()
    };
    let all = of(&outcome.away, "nothing was answered");
    match all.is_empty() {
        true => {
            let writes = of(&outcome.writes_away, "no write was acknowledged");
            writes.into_iter().chain(of(&outcome.reads_away, "no read was answered")).collect()
        }
        false => all,
    }
}
