//! What a session's time went to, by what its server says that it does or waits for.
//!
//! Names that are in no list are not guessed at: they are of the class that is not known, and told by their name.

use record::doing;
use serde::{Deserialize, Serialize};

/// What time went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Whoever is at the other end of the session: the client, or the way to it.
    Client,
    /// The server works on a CPU.
    Cpu,
    /// The server has work and no CPU.
    CpuWait,
    /// The server has work, and its limits hold it back: no time of processors, reads or writes within them.
    Throttled,
    /// What is committed goes to the log, by this session or by another for it.
    Log,
    /// Data, or a temporary file, is read from storage.
    Reads,
    /// Data, or a temporary file, is written to storage or forced to it.
    Writes,
    /// Locks on rows, tables and the like, which others hold until they commit.
    Locks,
    /// Pages in memory that others use, or that are not free.
    Buffers,
    /// The server's own short locks.
    Latches,
    /// Replicas that are to confirm.
    Replicas,
    /// Not known.
    Unknown,
}

impl Class {
    /// All, in the order in which they are told.
    pub(crate) const ALL: [Self; 12] = [
        Self::Client,
        Self::Cpu,
        Self::CpuWait,
        Self::Throttled,
        Self::Log,
        Self::Reads,
        Self::Writes,
        Self::Locks,
        Self::Buffers,
        Self::Latches,
        Self::Replicas,
        Self::Unknown,
    ];

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Cpu => "server's CPU",
            Self::CpuWait => "waiting for a CPU",
            Self::Throttled => "held back by limits",
            Self::Log => "log flushes",
            Self::Reads => "data reads",
            Self::Writes => "data writes",
            Self::Locks => "locks",
            Self::Buffers => "buffers",
            Self::Latches => "server's latches",
            Self::Replicas => "replicas",
            Self::Unknown => "not known",
        }
    }

    /// The class of what a session does, as the server of an engine spells it.
    pub(crate) fn of(engine: &str, what: &str) -> Self {
        match (engine, what) {
            (_, doing::EXECUTING) => Self::Cpu,
            (_, doing::IDLE | doing::IN_TRANSACTION) => Self::Client,
            (_, doing::ROW_LOCK) => Self::Locks,
            ("postgres", event) => of_postgres(event),
            ("mysql", event) if event.starts_with("wait/") => of_event(event),
            ("mysql", state) => of_mysql(state),
            ("sqlite", call) => of_call(call),
            ("sqlserver", wait) => of_wait(wait),
            _ => Self::Unknown,
        }
    }
}

/// Source: <https://www.postgresql.org/docs/current/monitoring-stats.html>, tables of wait events, those of 10 and later.
fn of_postgres(event: &str) -> Class {
    let (kind, name) = event.split_once(':').unwrap_or((event, ""));
    match kind {
        "Client" => Class::Client,
        "Lock" => Class::Locks,
        "BufferPin" | "Buffer" => Class::Buffers,
        "IO" => of_postgres_io(name),
        // Others flush for all that wait; buffers of the log are free once they are written.
        "LWLock" if matches!(name, "WALWrite" | "WALWriteLock" | "WALBufMapping" | "WALBufMappingLock") => {
            Class::Log
        }
        "LWLock" if name.starts_with("LockManager") || name == "lock_manager" => Class::Locks,
        // Until 12 a lock, and then an event of its own: another session reads the same page.
        "LWLock" if matches!(name, "BufferIO" | "buffer_io") => Class::Reads,
        "LWLock" if name.to_lowercase().starts_with("buffer") => Class::Buffers,
        "LWLock" => Class::Latches,
        "Timeout" if name == "CommitDelay" => Class::Log,
        "Timeout" if name == "SpinDelay" => Class::Latches,
        "IPC" if matches!(name, "BufferIO" | "BufferIo") => Class::Reads,
        "IPC" if name.starts_with("SyncRep") => Class::Replicas,
        "IPC" if matches!(name, "ProcArrayGroupUpdate" | "XactGroupUpdate" | "ClogGroupUpdate") => {
            Class::Latches
        }
        _ => Class::Unknown,
    }
}

fn of_postgres_io(name: &str) -> Class {
    let is = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    match name {
        // In PostgreSQL 17 and later all of them begin so.
        _ if name.to_lowercase().starts_with("wal") => Class::Log,
        _ if name.contains("Read") || name.contains("Prefetch") => Class::Reads,
        _ if is(&["Write", "Sync", "Extend", "Flush", "Truncate"]) => Class::Writes,
        _ => Class::Unknown,
    }
}

/// Source: <https://dev.mysql.com/doc/refman/8.4/en/performance-schema-instrument-naming.html>.
fn of_event(event: &str) -> Class {
    let is = |parts: &[&str]| parts.iter().any(|part| event.contains(part));
    match event {
        // A file of the data is read and written by the same event; who waits for it reads, others write behind.
        _ if is(&["innodb_log_file", "/binlog", "BINLOG"]) => Class::Log,
        _ if is(&["wait/io/file/innodb/", "wait/io/file/sql/FRM", "innodb_temp_file"]) => Class::Reads,
        _ if event.starts_with("wait/lock/") => Class::Locks,
        _ if event.starts_with("wait/synch/") => Class::Latches,
        _ if event.starts_with("wait/io/socket/") => Class::Client,
        // What is read of a table is work; what it waits for within has events of its own.
        _ if event.starts_with("wait/io/table/") => Class::Cpu,
        _ => Class::Unknown,
    }
}

/// System calls of SQLite's threads, with the file that each is on.
fn of_call(call: &str) -> Class {
    let (name, file) = call.split_once(" of the ").unwrap_or((call, ""));
    match (name, file) {
        ("fsync" | "fdatasync" | "pwrite64" | "write" | "ftruncate", "log") => Class::Log,
        ("fsync" | "fdatasync" | "pwrite64" | "write" | "ftruncate", _) => Class::Writes,
        ("pread64" | "read", _) => Class::Reads,
        _ => Class::Unknown,
    }
}

/// States of sessions that work, in which the server does not tell when they wait for storage.
const MYSQL_WORKS: [&str; 31] = [
    "after create",
    "after opening tables",
    "checking permissions",
    "closing tables",
    "copying to tmp table",
    "creating sort index",
    "creating tmp table",
    "end",
    "end of update loop",
    "execute",
    "filling schema table",
    "freeing items",
    "fulltext initialization",
    "init",
    "init for update",
    "opening tables",
    "optimizing",
    "preparing",
    "query end",
    "reset for next command",
    "rollback",
    "searching rows for update",
    "sending data",
    "sorting result",
    "starting",
    "statistics",
    "unlocking tables",
    "update",
    "updating",
    "updating status",
    "writing to tmp table",
];

/// Sources: <https://mariadb.com/kb/en/general-thread-states/>, <https://dev.mysql.com/doc/refman/8.4/en/general-thread-states.html>.
fn of_mysql(state: &str) -> Class {
    let state = state.to_lowercase();
    let waits_for = |parts: &[&str]| parts.iter().any(|part| state.contains(part));
    match state.as_str() {
        _ if waits_for(&["semi-sync", "semisync"]) => Class::Replicas,
        "commit" | "commit_implicit" | "committing" | "waiting for handler commit" => Class::Log,
        // It takes a microsecond but in MariaDB from 10.6 on, where the answer of a procedure that committed is held in it until
        // the log is flushed.
        "starting cleanup" => Class::Log,
        _ if waits_for(&["group commit", "prior transaction to commit", "binlog commit"]) => Class::Log,
        "system lock" | "table lock" | "user lock" | "locked" => Class::Locks,
        _ if state.starts_with("waiting for") && waits_for(&["lock", "table flush"]) => Class::Locks,
        "reading from net" | "writing to net" | "sending to client" | "receiving from client" => {
            Class::Client
        }
        working if MYSQL_WORKS.contains(&working) => Class::Cpu,
        _ => Class::Unknown,
    }
}

/// Source: the categories of waits at
/// <https://learn.microsoft.com/en-us/sql/relational-databases/system-catalog-views/sys-query-store-wait-stats-transact-sql>. What a thread
/// of a parallel statement waits for from the others (`CXPACKET`), transactions, compilation and worker threads are of none of ours.
fn of_wait(wait: &str) -> Class {
    let begins = |parts: &[&str]| parts.iter().any(|part| wait.starts_with(part));
    match wait {
        // It could run, or let others run and waits for its turn.
        doing::RUNNABLE | "SOS_SCHEDULER_YIELD" => Class::CpuWait,
        "LOG_RATE_GOVERNOR"
        | "POOL_LOG_RATE_GOVERNOR"
        | "INSTANCE_LOG_RATE_GOVERNOR"
        | "HADR_THROTTLE_LOG_RATE_GOVERNOR" => Class::Throttled,
        "WRITELOG" | "LOGBUFFER" | "LOGMGR" | "LOGMGR_FLUSH" | "LOGMGR_RESERVE_APPEND" | "LOGMGR_PMM_LOG" => {
            Class::Log
        }
        _ if begins(&["PAGEIOLATCH_"]) => Class::Reads,
        // The last two are calls of the system: a file grows, and is flushed.
        "WRITE_COMPLETION"
        | "ASYNC_IO_COMPLETION"
        | "CHKPT"
        | "PREEMPTIVE_OS_WRITEFILEGATHER"
        | "PREEMPTIVE_OS_FLUSHFILEBUFFERS" => Class::Writes,
        _ if begins(&["LCK_M_"]) => Class::Locks,
        // Memory for a statement's work is a matter of buffers too.
        "RESOURCE_SEMAPHORE" | "MEMORY_ALLOCATION_EXT" | "RESERVED_MEMORY_ALLOCATION_EXT" => Class::Buffers,
        _ if begins(&["PAGELATCH_"]) => Class::Buffers,
        _ if begins(&["LATCH_"]) => Class::Latches,
        "CMEMTHREAD" | "CMEMPARTITIONED" | "EE_PMOLOCK" => Class::Latches,
        "ASYNC_NETWORK_IO" | "NET_WAITFOR_PACKET" | "PROXY_NETWORK_IO" => Class::Client,
        _ if begins(&["HADR_", "PWAIT_HADR", "DBMIRROR", "REPLICA_WRITES", "SE_REPL_"]) => Class::Replicas,
        _ => Class::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_say_is_of_a_class_and_what_nobody_knows_is_not_guessed() {
        for (engine, what, class) in [
            ("postgres", "executing", Class::Cpu),
            ("postgres", "idle in transaction", Class::Client),
            ("postgres", "Client:ClientRead", Class::Client),
            ("postgres", "IO:WALSync", Class::Log),
            ("postgres", "IO:WalSync", Class::Log),
            ("postgres", "LWLock:WALWrite", Class::Log),
            ("postgres", "LWLock:WALInsert", Class::Latches),
            ("postgres", "IO:DataFileRead", Class::Reads),
            ("postgres", "IPC:BufferIO", Class::Reads),
            ("postgres", "IO:DataFileExtend", Class::Writes),
            ("postgres", "IO:BufFileWrite", Class::Writes),
            ("postgres", "Lock:transactionid", Class::Locks),
            ("postgres", "LWLock:LockManager", Class::Locks),
            ("postgres", "LWLock:BufferContent", Class::Buffers),
            ("postgres", "LWLock:buffer_mapping", Class::Buffers),
            ("postgres", "IPC:SyncRep", Class::Replicas),
            ("postgres", "Extension:Extension", Class::Unknown),
            ("postgres", "Timeout:PgSleep", Class::Unknown),
            ("mysql", "row lock", Class::Locks),
            ("mysql", "Commit", Class::Log),
            ("mysql", "waiting for handler commit", Class::Log),
            ("mysql", "Waiting for table metadata lock", Class::Locks),
            ("mysql", "Starting cleanup", Class::Log),
            ("mysql", "Updating", Class::Cpu),
            ("mysql", "Fulltext initialization", Class::Cpu),
            ("mysql", "Sending data", Class::Cpu),
            ("mysql", "Writing to net", Class::Client),
            ("mysql", "Waiting for semi-sync ACK from slave", Class::Replicas),
            ("mysql", "Some state of later", Class::Unknown),
            ("mysql", "wait/io/file/innodb/innodb_log_file", Class::Log),
            ("mysql", "wait/io/file/innodb/innodb_data_file", Class::Reads),
            ("mysql", "wait/lock/metadata/sql/mdl", Class::Locks),
            ("mysql", "wait/synch/mutex/innodb/trx_sys_mutex", Class::Latches),
            ("mysql", "wait/io/table/sql/handler", Class::Cpu),
            ("mysql", "wait/of/later", Class::Unknown),
            ("sqlite", "fdatasync of the log", Class::Log),
            ("sqlite", "fdatasync of the data", Class::Writes),
            ("sqlite", "pread64 of the data", Class::Reads),
            ("sqlite", "row lock", Class::Locks),
            ("sqlite", "executing", Class::Cpu),
            ("sqlite", "system call 900", Class::Unknown),
            ("another", "Commit", Class::Unknown),
        ] {
            assert_eq!(Class::of(engine, what), class, "{engine} {what}");
        }
    }

    #[test]
    fn waits_are_of_the_class_that_the_reference_puts_them_in() {
        for (wait, class) in [
            ("executing", Class::Cpu),
            ("runnable", Class::CpuWait),
            ("SOS_SCHEDULER_YIELD", Class::CpuWait),
            ("idle in transaction", Class::Client),
            ("ASYNC_NETWORK_IO", Class::Client),
            ("WRITELOG", Class::Log),
            ("LOGBUFFER", Class::Log),
            ("PAGEIOLATCH_SH", Class::Reads),
            ("PREEMPTIVE_OS_WRITEFILEGATHER", Class::Writes),
            ("LCK_M_U", Class::Locks),
            ("PAGELATCH_EX", Class::Buffers),
            ("RESOURCE_SEMAPHORE", Class::Buffers),
            ("LATCH_EX", Class::Latches),
            ("HADR_SYNC_COMMIT", Class::Replicas),
            ("HADR_THROTTLE_LOG_RATE_GOVERNOR", Class::Throttled),
            ("LOG_RATE_GOVERNOR", Class::Throttled),
            ("CXPACKET", Class::Unknown),
            ("THREADPOOL", Class::Unknown),
            ("SOME_WAIT_OF_LATER", Class::Unknown),
        ] {
            assert_eq!(Class::of("sqlserver", wait), class, "{wait}");
        }
    }
}
