//! Copies of databases on other servers during trials. For each: its state at the start of the load, during the load and at its end, and
//! the times in which it was behind.

use std::collections::BTreeMap;

use record::{Mark, MarkKind, ReplicaState, Resources, Workload};
use serde::Serialize;

use crate::format::{self, UNKNOWN};
use crate::report::Report;
use crate::section::Block;
use crate::table::{Row, Table, column, words};
use crate::trial::Trial;

/// Bytes of a KiB, in which servers tell of queues.
const KIB: u64 = 1024;

/// A copy of a database over a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replica {
    /// Server that has it.
    pub replica: String,
    /// Database.
    pub database: String,
    /// Whether it is the one that is written to.
    pub is_primary: bool,
    /// Whether a commit waits for it, as the server spells it.
    pub mode: String,
    /// State at the first reading, at the start of the load.
    pub began: String,
    /// State at the last reading, when the load ended.
    pub ended: String,
    /// Seconds of readings in which it was not as its mode has it be; warm-up and all.
    pub behind_s: f64,
    /// Most log that was not sent to it, in bytes.
    pub send_queue_bytes_max: Option<u64>,
    /// Most log that it had and had not redone, in bytes.
    pub redo_queue_bytes_max: Option<u64>,
    /// Most time by which what it had redone was behind what was committed, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_s_max: Option<u64>,
}

/// The copies that servers told of, by server and name, from all readings of a trial.
pub(crate) fn of(resources: &[Resources]) -> Vec<Replica> {
    let mut found: BTreeMap<(String, String), Replica> = BTreeMap::new();
    for (length_s, state) in readings(resources).map(|(read, state)| (read.length_s, state)) {
        let key = (state.replica.clone(), state.database.clone());
        let copy = found.entry(key).or_insert_with(|| Replica {
            replica: state.replica.clone(),
            database: state.database.clone(),
            is_primary: state.is_primary,
            mode: state.mode.clone(),
            began: told(state),
            ended: String::new(),
            behind_s: 0.0,
            send_queue_bytes_max: None,
            redo_queue_bytes_max: None,
            lag_s_max: None,
        });
        copy.ended = told(state);
        copy.is_primary = state.is_primary;
        if is_behind(state) {
            copy.behind_s += length_s;
        }
        copy.send_queue_bytes_max = copy.send_queue_bytes_max.max(state.send_queue_kib.map(|kib| kib * KIB));
        copy.redo_queue_bytes_max = copy.redo_queue_bytes_max.max(state.redo_queue_kib.map(|kib| kib * KIB));
        copy.lag_s_max = copy.lag_s_max.max(state.lag_s);
    }
    found.into_values().collect()
}

/// Times in which a copy was behind, from the begin of the first reading that says so to the begin of the first that does not.
pub(crate) fn marks(resources: &[Resources]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    let mut open: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (read, state) in readings(resources) {
        let begin_s = (read.end_s - read.length_s).max(0.0);
        let key = (state.replica.as_str(), state.database.as_str());
        match (is_behind(state), open.get(&key).copied()) {
            (true, None) => {
                let what = format!("{} on {}: {}", state.database, state.replica, told(state));
                open.insert(key, marks.len());
                marks.push(Mark {
                    begin_s,
                    end_s: None,
                    kind: MarkKind::ReplicaBehind,
                    what,
                    planned: false,
                });
            }
            (false, Some(index)) => {
                marks[index].end_s = Some(begin_s);
                open.remove(&key);
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    marks
}

fn readings(resources: &[Resources]) -> impl Iterator<Item = (&Resources, &ReplicaState)> {
    resources.iter().flat_map(|read| {
        read.told.values().flat_map(move |told| told.replicas.iter().map(move |state| (read, state)))
    })
}

/// The one that is written to is never behind itself.
fn is_behind(state: &ReplicaState) -> bool {
    !state.is_primary && !state.keeps_up()
}

fn told(state: &ReplicaState) -> String {
    let suspended = if state.is_suspended { ", suspended" } else { "" };
    format!("{}{suspended}", state.state)
}

/// What is told of the copies of a workload's trials.
pub(crate) fn blocks(report: &Report, workload: Workload) -> Vec<Block> {
    let trials: Vec<&Trial> =
        report.trials_of(workload).filter(|trial| !trial.beside.replicas.is_empty()).collect();
    let Some(table) = table(&trials) else { return Vec::new() };
    let behind =
        trials.iter().flat_map(|trial| trial.beside.replicas.iter().filter_map(|copy| behind(trial, copy)));
    std::iter::once(Block::Table(table)).chain(behind.map(Block::Remark)).collect()
}

/// That commits did not wait for a copy that they should have waited for, or that it did not follow.
fn behind(trial: &Trial, copy: &Replica) -> Option<String> {
    let Replica { replica, database, .. } = copy;
    let seconds = format::figure(copy.behind_s);
    let what = match copy.mode.as_str() {
        "SYNCHRONOUS_COMMIT" => "commits did not wait for it and would be lost with the primary",
        _ => "the primary did not send it the log",
    };
    (copy.behind_s > 0.0).then(|| {
        format!("Trial {}: {database} on {replica} was behind for {seconds} s: {what}.", trial.number)
    })
}

fn table(trials: &[&Trial]) -> Option<Table> {
    let columns = vec![
        column("#", "number of the trial", 0),
        words("database", "that is copied", 2),
        words("on", "server with the copy", 0),
        words("mode", "whether commits wait for it", 1),
        words("at the start of the load", "state", 0),
        words("when it ended", "state", 0),
        column("behind", "time outside its replication mode", 0),
        column("not sent", "maximum log not yet sent to it", 0),
        column("not redone", "maximum log received but not replayed", 0),
        column("lag", "maximum delay behind the commits", 1),
    ];
    let bytes = |bytes: Option<u64>| bytes.map_or_else(|| UNKNOWN.to_owned(), format::bytes);
    let rows = trials.iter().flat_map(|trial| {
        trial.beside.replicas.iter().map(|copy| {
            Row::of(vec![
                trial.number.to_string(),
                copy.database.clone(),
                if copy.is_primary { format!("{} (primary)", copy.replica) } else { copy.replica.clone() },
                copy.mode.clone(),
                copy.began.clone(),
                copy.ended.clone(),
                if copy.is_primary {
                    UNKNOWN.to_owned()
                } else {
                    format!("{} s", format::figure(copy.behind_s))
                },
                bytes(copy.send_queue_bytes_max),
                bytes(copy.redo_queue_bytes_max),
                copy.lag_s_max.map_or_else(|| UNKNOWN.to_owned(), |seconds| format!("{seconds} s")),
            ])
        })
    });
    Table::of("Availability group", columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::ServerTold;

    fn state(replica: &str, is_primary: bool, state: &str, send_queue_kib: Option<u64>) -> ReplicaState {
        ReplicaState {
            replica: replica.to_owned(),
            database: "orders".to_owned(),
            is_primary,
            mode: "SYNCHRONOUS_COMMIT".to_owned(),
            state: state.to_owned(),
            health: None,
            is_suspended: false,
            send_queue_kib,
            redo_queue_kib: None,
            lag_s: send_queue_kib.map(|kib| kib / 512),
        }
    }

    /// A reading a second, in each the copy on NODE2 as given.
    fn readings(states: &[(&str, u64)]) -> Vec<Resources> {
        let reading = |(second, (word, kib)): (usize, &(&str, u64))| {
            let primary = state("NODE1", true, "SYNCHRONIZED", None);
            let replicas = vec![primary, state("NODE2", false, word, Some(*kib))];
            let told = ServerTold { looks: 10, replicas, ..ServerTold::default() };
            Resources {
                end_s: second as f64 + 1.0,
                length_s: 1.0,
                told: [("orders".to_owned(), told)].into(),
                ..Resources::default()
            }
        };
        states.iter().enumerate().map(reading).collect()
    }

    #[test]
    fn a_copy_that_fell_behind_is_told_with_the_time_and_the_queue() {
        let read = readings(&[
            ("SYNCHRONIZED", 0),
            ("NOT SYNCHRONIZING", 512),
            ("SYNCHRONIZING", 2048),
            ("SYNCHRONIZED", 4),
            ("SYNCHRONIZING", 8),
        ]);
        let copies = of(&read);
        assert_eq!(
            copies.iter().map(|copy| (&*copy.replica, copy.behind_s)).collect::<Vec<_>>(),
            [("NODE1", 0.0), ("NODE2", 3.0)]
        );
        let copy = &copies[1];
        assert_eq!((&*copy.began, &*copy.ended), ("SYNCHRONIZED", "SYNCHRONIZING"));
        assert_eq!((copy.send_queue_bytes_max, copy.redo_queue_bytes_max), (Some(2048 * KIB), None));
        assert_eq!((copy.lag_s_max, copies[0].lag_s_max), (Some(4), None));
        let marks = marks(&read);
        let told: Vec<_> = marks.iter().map(|mark| (mark.begin_s, mark.end_s, &*mark.what)).collect();
        assert_eq!(
            told,
            [
                (1.0, Some(3.0), "orders on NODE2: NOT SYNCHRONIZING"),
                (4.0, None, "orders on NODE2: SYNCHRONIZING")
            ]
        );
        assert!(marks.iter().all(|mark| !mark.planned));
    }

    #[test]
    fn where_no_server_tells_of_copies_nothing_is_said() {
        assert_eq!(of(&[Resources::default()]), []);
        assert_eq!(marks(&[Resources::default()]), []);
    }
}
