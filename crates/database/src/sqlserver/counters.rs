//! What the rows mean in which SQL Server counts: pure functions, tried with rows as they are documented, since no server that
//! has these views answered them here.

use std::collections::BTreeMap;

use record::ReplicaState;

use crate::Value;
use crate::activity::Told;

/// What the names of counters of waits begin with: milliseconds that tasks waited, by the name of the wait.
const WAIT: &str = "wait_ms.";
/// Milliseconds for which tasks that had what they waited for had no processor.
const SIGNAL: &str = "wait_signal_ms";
/// `sys.master_files.type` of a log.
const LOG: i64 = 1;
/// What stands for what a login may not see.
const UNKNOWN: &str = "unknown";
/// What lets a login see which servers have copies.
const DEFINITION: &str = "in master, GRANT VIEW ANY DEFINITION TO the login";

/// Waits of tasks that have nothing to do, in order: those that the reference calls idle, or of a queue, a timer or a background
/// task. Sources: the categories at
/// <https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-query-store-wait-stats-transact-sql> and the words on each at
/// <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-os-wait-stats-transact-sql>.
const IDLE: [&str; 47] = [
    "CHECKPOINT_QUEUE",
    "CHKPT",
    "CLR_AUTO_EVENT",
    "CLR_MANUAL_EVENT",
    "DBMIRROR_DBM_EVENT",
    "DBMIRROR_EVENTS_QUEUE",
    "DBMIRROR_WORKER_QUEUE",
    "DIRTY_PAGE_POLL",
    "DISPATCHER_QUEUE_SEMAPHORE",
    "FT_IFTSHC_MUTEX",
    "FT_IFTS_SCHEDULER_IDLE_WAIT",
    "HADR_CLUSAPI_CALL",
    "HADR_FABRIC_CALLBACK",
    "HADR_FILESTREAM_IOMGR_IOCOMPLETION",
    "HADR_LOGCAPTURE_WAIT",
    "HADR_NOTIFICATION_DEQUEUE",
    "HADR_TIMER_TASK",
    "HADR_WORK_QUEUE",
    "KSOURCE_WAKEUP",
    "LAZYWRITER_SLEEP",
    "LOGMGR_QUEUE",
    "ONDEMAND_TASK_QUEUE",
    "PARALLEL_REDO_DRAIN_WORKER",
    "PARALLEL_REDO_LOG_CACHE",
    "PARALLEL_REDO_TRAN_LIST",
    "PARALLEL_REDO_WORKER_SYNC",
    "PARALLEL_REDO_WORKER_WAIT_WORK",
    "PREEMPTIVE_XE_DISPATCHER",
    "PREEMPTIVE_XE_GETTARGETSTATE",
    "PVS_PREALLOCATE",
    "QDS_ASYNC_QUEUE",
    "QDS_CLEANUP_STALE_QUERIES_TASK_MAIN_LOOP_SLEEP",
    "QDS_PERSIST_TASK_MAIN_LOOP_SLEEP",
    "QDS_SHUTDOWN_QUEUE",
    "REDO_THREAD_PENDING_WORK",
    "REQUEST_FOR_DEADLOCK_SEARCH",
    "RESOURCE_QUEUE",
    "SERVER_IDLE_CHECK",
    "SNI_HTTP_ACCEPT",
    "SOS_WORK_DISPATCHER",
    "SP_SERVER_DIAGNOSTICS_SLEEP",
    "SQLTRACE_BUFFER_FLUSH",
    "SQLTRACE_INCREMENTAL_FLUSH_SLEEP",
    "SQLTRACE_WAIT_ENTRIES",
    "UCS_SESSION_REGISTRATION",
    "VDI_CLIENT_OTHER",
    "XTP_PREEMPTIVE_TASK",
];
/// What names of such waits begin with.
const IDLE_BEGINS: [&str; 9] = [
    "BROKER_",
    "PWAIT_ALL_",
    "PWAIT_DIRECTLOG",
    "PWAIT_EXTENSIBILITY",
    "SLEEP_",
    "WAITFOR",
    "WAIT_FOR_RESULTS",
    "WAIT_XTP_",
    "XE_",
];

fn is_idle(wait: &str) -> bool {
    IDLE.contains(&wait) || IDLE_BEGINS.iter().any(|begin| wait.starts_with(begin))
}

/// Rows of `sys.dm_os_wait_stats`: name, time waited, and the part of it after what was waited for was there.
pub(super) fn waits(rows: &[Vec<Value>]) -> Told {
    let mut counters = BTreeMap::from([(SIGNAL.to_owned(), 0.0)]);
    for row in rows {
        let [Value::Text(wait), waited, signal] = row.as_slice() else { continue };
        let (Some(waited), Some(signal)) = (waited.integer(), signal.integer()) else { continue };
        if !is_idle(wait) {
            counters.insert(format!("{WAIT}{wait}"), (waited - signal).max(0) as f64);
            *counters.entry(SIGNAL.to_owned()).or_default() += signal as f64;
        }
    }
    Told { counters, from_zero: &[WAIT], ..Told::default() }
}

/// Rows of `sys.dm_io_virtual_file_stats` with the kind of each file: reads, milliseconds of them, writes, milliseconds of them.
/// <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-io-virtual-file-stats-transact-sql>.
pub(super) fn files(rows: &[Vec<Value>]) -> Told {
    let mut counters = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.is_empty()) {
        let Some(figures) = row.iter().map(Value::integer).collect::<Option<Vec<i64>>>() else { continue };
        let of = if figures.first() == Some(&LOG) { "log" } else { "data" };
        for (what, figure) in ["reads", "read_ms", "writes", "write_ms"].iter().zip(&figures[1..]) {
            *counters.entry(format!("file.{of}.{what}")).or_default() += *figure as f64;
        }
    }
    Told { counters, ..Told::default() }
}

/// Rows of `sys.dm_os_performance_counters`: those of a second are counted from the server's begin on.
/// <https://learn.microsoft.com/sql/relational-databases/performance-monitor/sql-server-buffer-manager-object>.
pub(super) fn buffer(rows: &[Vec<Value>]) -> Told {
    let counter = |row: &Vec<Value>| {
        let [Value::Text(name), value] = row.as_slice() else { return None };
        let name = match name.trim_end() {
            "Page lookups/sec" => "buffer.page_lookups",
            "Page reads/sec" => "buffer.page_reads",
            _ => return None,
        };
        Some((name.to_owned(), value.integer()? as f64))
    };
    Told { counters: rows.iter().filter_map(counter).collect(), ..Told::default() }
}

/// Rows of `sys.dm_hadr_database_replica_states` with `sys.availability_replicas`; queues are in KiB there.
/// <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-hadr-database-replica-states-transact-sql>.
pub(super) fn replicas(rows: &[Vec<Value>]) -> Told {
    let replicas: Vec<ReplicaState> = rows.iter().filter_map(|row| replica(row)).collect();
    let unseen = replicas.iter().any(|state| state.replica == UNKNOWN);
    let untold = unseen.then_some(("which servers have copies of its databases", DEFINITION));
    Told { replicas, untold, ..Told::default() }
}

fn replica(row: &[Value]) -> Option<ReplicaState> {
    let [replica, database, is_primary, mode, state, health, is_suspended, send, redo, lag] = row else {
        return None;
    };
    let text = |value: &Value| value.text().map(str::to_owned);
    let or_unknown = |value| text(value).unwrap_or_else(|| UNKNOWN.to_owned());
    let figure = |value: &Value| value.integer().and_then(|figure| u64::try_from(figure).ok());
    Some(ReplicaState {
        replica: or_unknown(replica),
        database: or_unknown(database),
        is_primary: is_primary.integer() == Some(1),
        mode: or_unknown(mode),
        state: or_unknown(state),
        health: text(health),
        is_suspended: is_suspended.integer() == Some(1),
        send_queue_kib: figure(send),
        redo_queue_kib: figure(redo),
        lag_s: figure(lag),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn numbers(name: &str, numbers: &[i64]) -> Vec<Value> {
        std::iter::once(text(name)).chain(numbers.iter().map(|number| Value::I64(*number))).collect()
    }

    fn counted(told: &Told) -> Vec<(&str, f64)> {
        told.counters.iter().map(|(name, value)| (name.as_str(), *value)).collect()
    }

    /// Of the time waited, a part is after the signal: `wait_time_ms` includes `signal_wait_time_ms`.
    #[test]
    fn waits_are_without_what_idles_and_signals_are_apart() {
        let told = waits(&[
            numbers("WRITELOG", &[4_000, 150]),
            numbers("LCK_M_X", &[700, 50]),
            numbers("SOS_SCHEDULER_YIELD", &[90, 90]),
            numbers("LAZYWRITER_SLEEP", &[9_000_000, 800]),
            numbers("SLEEP_TASK", &[9_000_000, 800]),
            numbers("XE_TIMER_EVENT", &[9_000_000, 800]),
            numbers("BROKER_TO_FLUSH", &[9_000_000, 800]),
            numbers("WAITFOR", &[9_000_000, 800]),
            numbers("HADR_WORK_QUEUE", &[9_000_000, 800]),
        ]);
        let expected = [
            ("wait_ms.LCK_M_X", 650.0),
            ("wait_ms.SOS_SCHEDULER_YIELD", 0.0),
            ("wait_ms.WRITELOG", 3_850.0),
            ("wait_signal_ms", 290.0),
        ];
        assert_eq!(counted(&told), expected);
        assert_eq!(counted(&waits(&[])), [("wait_signal_ms", 0.0)]);
    }

    #[test]
    fn no_wait_for_what_a_load_needs_idles() {
        for wait in [
            "WRITELOG",
            "PAGEIOLATCH_SH",
            "LCK_M_U",
            "PAGELATCH_EX",
            "HADR_SYNC_COMMIT",
            "ASYNC_NETWORK_IO",
            "CXPACKET",
            "RESOURCE_SEMAPHORE",
            "WAIT_ON_SYNC_STATISTICS_REFRESH",
            "CLR_SEMAPHORE",
            "THREADPOOL",
            "SOS_SCHEDULER_YIELD",
            "IO_COMPLETION",
            "LOG_RATE_GOVERNOR",
        ] {
            assert!(!is_idle(wait), "{wait}");
        }
        assert!(IDLE.is_sorted());
    }

    #[test]
    fn files_of_a_kind_are_added_up() {
        let row = |figures: [i64; 5]| figures.map(Value::I64).to_vec();
        let told = files(&[
            row([0, 10, 100, 20, 300]),
            row([0, 1, 2, 3, 4]),
            row([1, 5, 6, 7, 8]),
            vec![Value::Null; 5],
        ]);
        let expected = [
            ("file.data.read_ms", 102.0),
            ("file.data.reads", 11.0),
            ("file.data.write_ms", 304.0),
            ("file.data.writes", 23.0),
            ("file.log.read_ms", 6.0),
            ("file.log.reads", 5.0),
            ("file.log.write_ms", 8.0),
            ("file.log.writes", 7.0),
        ];
        assert_eq!(counted(&told), expected);
    }

    #[test]
    fn names_of_counters_are_padded_by_the_server() {
        let padded = format!("{:<128}", "Page lookups/sec");
        let told = buffer(&[
            numbers(&padded, &[901]),
            numbers("Page reads/sec", &[7]),
            numbers("Page life expectancy", &[300]),
        ]);
        assert_eq!(counted(&told), [("buffer.page_lookups", 901.0), ("buffer.page_reads", 7.0)]);
    }

    #[test]
    fn a_copy_is_read_with_its_queues_and_what_is_null_is_unknown() {
        let primary = vec![
            text("NODE1"),
            text("orders"),
            Value::I64(1),
            text("SYNCHRONOUS_COMMIT"),
            text("SYNCHRONIZED"),
            text("HEALTHY"),
            Value::I64(0),
            Value::Null,
            Value::Null,
            Value::Null,
        ];
        let secondary = vec![
            text("NODE2"),
            text("orders"),
            Value::I64(0),
            text("ASYNCHRONOUS_COMMIT"),
            text("SYNCHRONIZING"),
            text("HEALTHY"),
            Value::I64(1),
            Value::I64(2_048),
            Value::I64(12),
            Value::I64(3),
        ];
        let told = replicas(&[primary, secondary.clone()]);
        assert_eq!(told.untold, None);
        let [first, second] = told.replicas.as_slice() else { panic!("{told:?}") };
        assert!(first.is_primary && first.keeps_up() && !first.is_suspended);
        assert_eq!((first.send_queue_kib, first.lag_s), (None, None));
        assert!(!second.is_primary && !second.keeps_up(), "it is suspended");
        assert_eq!(
            (second.send_queue_kib, second.redo_queue_kib, second.lag_s),
            (Some(2_048), Some(12), Some(3))
        );
        let mut hidden = secondary;
        (hidden[0], hidden[3]) = (Value::Null, Value::Null);
        let told = replicas(&[hidden]);
        assert_eq!((&*told.replicas[0].replica, &*told.replicas[0].mode), (UNKNOWN, UNKNOWN));
        assert!(told.untold.unwrap().1.contains("VIEW ANY DEFINITION"));
    }
}
