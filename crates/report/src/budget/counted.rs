//! What a server counted itself over the measured window: its waits, in the classes of the budget, and what its files took.
//!
//! Counts are of the whole server and miss no wait; looks are of the load's sessions and a sample. Which of both is told of is always said.

use std::collections::BTreeMap;

use record::Resources;
use serde::Serialize;

use super::Class;
use crate::format::{self, UNKNOWN};
use crate::table::{Row, Table, column, words};
use crate::trial::Trial;

/// What the names of counters of waits begin with: milliseconds that tasks waited, by the name of the wait.
const WAIT: &str = "wait_ms.";
/// The counter of milliseconds for which tasks that had what they waited for had no processor.
const SIGNAL: &str = "wait_signal_ms";
/// What the names of counters of files begin with.
const FILE: &str = "file.";
/// Engine that counts so.
const ENGINE: &str = "sqlserver";

/// What servers counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counted {
    /// Waits, by class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<CountedWait>,
    /// Files of the databases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<CountedFile>,
}

/// Waits of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CountedWait {
    /// Class.
    pub class: Class,
    /// Mean number of tasks that waited.
    pub tasks: f64,
    /// Of an operation, in microseconds.
    pub us_per_operation: Option<f64>,
    /// As the server calls it, with the share (0–1) of this class, the greatest first.
    pub of: Vec<(String, f64)>,
}

/// Files of one kind of a server's databases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CountedFile {
    /// Server, by the name of its database, and `data` or `log`.
    pub name: String,
    /// Reads a second.
    pub reads_per_s: f64,
    /// Mean time of one, in microseconds.
    pub read_us: Option<f64>,
    /// Writes a second.
    pub writes_per_s: f64,
    /// Mean time of one, in microseconds.
    pub write_us: Option<f64>,
}

impl Counted {
    /// None where no server counted.
    pub(super) fn of(during: &[&Resources], per_s: Option<f64>) -> Option<Self> {
        let rates = rates(during);
        let counted = Self { waits: waits(&rates, per_s), files: files(&rates) };
        (counted != Self::default()).then_some(counted)
    }
}

/// How much each counter of each server rose, a second: over the time in which that server told of counters.
fn rates(during: &[&Resources]) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut told_s: BTreeMap<&String, f64> = BTreeMap::new();
    let mut rose: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for read in during {
        for (server, told) in read.told.iter().filter(|(_, told)| !told.counters_per_s.is_empty()) {
            *told_s.entry(server).or_default() += read.length_s;
            let of = rose.entry(server.clone()).or_default();
            for (name, per_s) in &told.counters_per_s {
                *of.entry(name.clone()).or_default() += per_s * read.length_s;
            }
        }
    }
    for (server, counters) in &mut rose {
        let length_s = told_s[server];
        counters.values_mut().for_each(|sum| *sum /= length_s);
    }
    rose
}

fn waits(rates: &BTreeMap<String, BTreeMap<String, f64>>, per_s: Option<f64>) -> Vec<CountedWait> {
    let mut classes: BTreeMap<Class, BTreeMap<String, f64>> = BTreeMap::new();
    for (name, ms_per_s) in rates.values().flatten() {
        let (class, wait) = match name.strip_prefix(WAIT) {
            Some(wait) => (Class::of(ENGINE, wait), wait),
            None if name == SIGNAL => (Class::CpuWait, "signalled, waiting for a CPU"),
            None => continue,
        };
        // Milliseconds in a second are thousandths of a task.
        *classes.entry(class).or_default().entry(wait.to_owned()).or_default() += ms_per_s / 1e3;
    }
    let counted = |(class, of): (Class, BTreeMap<String, f64>)| {
        let tasks: f64 = of.values().sum();
        let mut of: Vec<(String, f64)> = of.into_iter().map(|(wait, one)| (wait, one / tasks)).collect();
        of.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let us_per_operation = per_s.filter(|&per_s| per_s > 0.0).map(|per_s| tasks / per_s * 1e6);
        CountedWait { class, tasks, us_per_operation, of }
    };
    classes.into_iter().map(counted).filter(|wait| wait.tasks > 0.0).collect()
}

fn files(rates: &BTreeMap<String, BTreeMap<String, f64>>) -> Vec<CountedFile> {
    let mut found = Vec::new();
    for (server, counters) in rates {
        for kind in ["data", "log"] {
            let of = |what: &str| counters.get(&format!("{FILE}{kind}.{what}")).copied().unwrap_or(0.0);
            let us = |ms: f64, count: f64| (count > 0.0).then(|| ms / count * 1e3);
            let (reads_per_s, writes_per_s) = (of("reads"), of("writes"));
            let (read_us, write_us) = (us(of("read_ms"), reads_per_s), us(of("write_ms"), writes_per_s));
            if reads_per_s + writes_per_s > 0.0 {
                let name = format!("{server}, {kind}");
                found.push(CountedFile { name, reads_per_s, read_us, writes_per_s, write_us });
            }
        }
    }
    found
}

/// What the server of a trial counted: its waits, and its files.
pub(crate) fn tables(trial: &Trial) -> Vec<Table> {
    let Some(counted) = trial.budget.as_ref().and_then(|budget| budget.counted.as_ref()) else {
        return Vec::new();
    };
    [waits_table(counted), files_table(counted)].into_iter().flatten().collect()
}

fn waits_table(counted: &Counted) -> Option<Table> {
    let columns = vec![
        words("time went to", "resource that tasks of the server waited for", 0),
        column("tasks", "mean number of waiting tasks", 0),
        column("of an operation", "wait per operation", 1),
        words("the server's name for it", "and its share of that row", 2),
    ];
    let mut waits: Vec<&CountedWait> = counted.waits.iter().collect();
    waits.sort_by(|a, b| b.tasks.total_cmp(&a.tasks));
    let row = |wait: &CountedWait| {
        Row::of(vec![
            wait.class.words().to_owned(),
            format::figure(wait.tasks),
            wait.us_per_operation.map_or_else(|| UNKNOWN.to_owned(), format::latency),
            super::told_names(&wait.of),
        ])
    };
    Table::of("Waits of the whole server, from its own counters", columns, waits.into_iter().map(row))
}

fn files_table(counted: &Counted) -> Option<Table> {
    let columns = vec![
        words("files", "of the databases of a server", 0),
        column("reads/s", "reads per second", 0),
        column("a read", "mean time", 0),
        column("writes/s", "writes per second", 0),
        column("a write", "mean time", 0),
    ];
    let us = |us: Option<f64>| us.map_or_else(|| UNKNOWN.to_owned(), format::latency);
    let row = |file: &CountedFile| {
        Row::of(vec![
            file.name.clone(),
            format::figure(file.reads_per_s),
            us(file.read_us),
            format::figure(file.writes_per_s),
            us(file.write_us),
        ])
    };
    Table::of("Files of the databases, from the server's counters", columns, counted.files.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::ServerTold;

    /// Two readings of rises, as they come of `sys.dm_os_wait_stats` and `sys.dm_io_virtual_file_stats`.
    fn readings(counters: [&[(&str, f64)]; 2]) -> Vec<Resources> {
        let reading = |(counters, length_s): (&[(&str, f64)], f64)| {
            let counters_per_s = counters.iter().map(|(name, rate)| ((*name).to_owned(), *rate)).collect();
            let told = ServerTold { looks: 10, counters_per_s, ..ServerTold::default() };
            Resources { length_s, told: [("orders".to_owned(), told)].into(), ..Resources::default() }
        };
        counters.into_iter().zip([1.0, 3.0]).map(reading).collect()
    }

    fn counted(counters: [&[(&str, f64)]; 2], per_s: Option<f64>) -> Option<Counted> {
        let readings = readings(counters);
        Counted::of(&readings.iter().collect::<Vec<_>>(), per_s)
    }

    #[test]
    fn milliseconds_of_waits_are_mean_tasks_in_the_classes_of_the_budget() {
        let first: &[(&str, f64)] = &[("wait_ms.WRITELOG", 4_000.0), ("wait_ms.LOGBUFFER", 1_000.0)];
        let second: &[(&str, f64)] =
            &[("wait_ms.WRITELOG", 2_000.0), ("wait_ms.LCK_M_X", 800.0), ("wait_signal_ms", 400.0)];
        let counted = counted([first, second], Some(1_000.0)).unwrap();
        let told: Vec<(Class, f64)> = counted.waits.iter().map(|wait| (wait.class, wait.tasks)).collect();
        // Weighted by the seconds: (4 × 1 + 2 × 3) / 4 and 1 × 1 / 4 of the log.
        assert_eq!(told, [(Class::CpuWait, 0.3), (Class::Log, 2.75), (Class::Locks, 0.6)]);
        let log = &counted.waits[1];
        assert!((log.us_per_operation.unwrap() - 2_750.0).abs() < 1e-6);
        assert_eq!(log.of[0].0, "WRITELOG");
        assert!((log.of[0].1 - 2.5 / 2.75).abs() < 1e-9);
        assert!(counted.files.is_empty());
    }

    #[test]
    fn a_file_s_stalls_are_the_mean_times_of_its_reads_and_writes() {
        let each: &[(&str, f64)] = &[
            ("file.log.writes", 500.0),
            ("file.log.write_ms", 450.0),
            ("file.data.reads", 100.0),
            ("file.data.read_ms", 1_200.0),
        ];
        let counted = counted([each, each], None).unwrap();
        let told: Vec<_> =
            counted.files.iter().map(|file| (&*file.name, file.read_us, file.write_us)).collect();
        assert_eq!(told, [("orders, data", Some(12_000.0), None), ("orders, log", None, Some(900.0))]);
        assert!(counted.waits.is_empty());
    }

    #[test]
    fn a_server_that_does_not_count_is_not_one_that_never_waited() {
        assert_eq!(counted([&[("pg_stat_wal.wal_sync", 9.0)], &[]], Some(1.0)), None);
    }
}
