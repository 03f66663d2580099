//! What SQL Server is asked about its sessions, its counters and the copies of its databases.
//!
//! Source: <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views>. Without the right to the server's
//! state (`VIEW SERVER PERFORMANCE STATE` since 2022, `VIEW SERVER STATE` before) a login sees its own session alone, and counters
//! are refused. What the answers mean is said by [`super::counters`].

use super::{counters, fault};
use crate::Dialect;
use crate::activity::{Looking, Telling};

pub(crate) static LOOKING: Looking = Looking {
    dialect: Dialect::SqlServer,
    begin: None,
    ways: &[
        // Sessions of others are left out for who may not see them: that there may be some is the last row.
        "SELECT CASE WHEN r.session_id IS NULL AND s.open_transaction_count > 0 THEN 'idle in transaction' \
                     WHEN r.session_id IS NULL THEN 'idle' \
                     WHEN r.status = 'runnable' THEN 'runnable' \
                     WHEN r.wait_type IS NULL THEN 'executing' \
                     ELSE r.wait_type END AS doing, 1 AS sessions, CAST(s.session_id AS nvarchar(12)) AS ids \
         FROM sys.dm_exec_sessions AS s LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id \
         WHERE s.is_user_process = 1 AND s.session_id <> @@SPID AND DB_NAME(s.database_id) IN ({databases}) \
         AND (r.session_id IS NOT NULL OR s.last_request_end_time > DATEADD(millisecond, -100, SYSDATETIME())) \
         UNION ALL \
         SELECT 'beside checkpoint ' + coalesce(r.wait_type, 'executing'), count(*), NULL FROM sys.dm_exec_requests AS r \
         WHERE r.command IN ('CHECKPOINT', 'RECOVERY WRITER') \
         AND coalesce(r.wait_type, '') NOT IN ('CHECKPOINT_QUEUE', 'DIRTY_PAGE_POLL') \
         GROUP BY coalesce(r.wait_type, 'executing') \
         UNION ALL \
         SELECT 'beside others ' + coalesce(r.wait_type, 'executing'), count(*), NULL \
         FROM sys.dm_exec_sessions AS s JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id \
         WHERE s.is_user_process = 1 AND s.session_id <> @@SPID AND DB_NAME(s.database_id) NOT IN ({databases}) \
         AND coalesce(r.wait_type, '') NOT IN ('WAITFOR', 'BROKER_RECEIVE_WAITFOR', 'SP_SERVER_DIAGNOSTICS_SLEEP') \
         GROUP BY coalesce(r.wait_type, 'executing') \
         UNION ALL \
         SELECT 'hidden', 1, NULL WHERE coalesce(HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE'), 0) = 0 \
         AND coalesce(HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER PERFORMANCE STATE'), 0) = 0",
        // What has no requests to look at tells of a session that it works, and not what it waits for.
        "SELECT CASE WHEN s.status = 'running' THEN 'executing' ELSE 'idle' END AS doing, 1 AS sessions, \
         CAST(s.session_id AS nvarchar(12)) AS ids FROM sys.dm_exec_sessions AS s \
         WHERE s.session_id <> @@SPID AND DB_NAME(s.database_id) IN ({databases}) AND s.status = 'running'",
    ],
    is_lock: |doing| doing.starts_with("LCK_M_"),
    is_table_lock: |_| false,
    // A session that holds locks may run nothing: its last batch is its connection's. What it began first is its oldest transaction.
    blockers: &[
        "SELECT CAST(s.session_id AS bigint), s.login_name, s.program_name, coalesce(h.status, s.status), \
                LEFT(CAST(t.text AS nvarchar(max)), 1000), CAST(DATEDIFF(second, coalesce((SELECT min(a.transaction_begin_time) \
                FROM sys.dm_tran_session_transactions AS o JOIN sys.dm_tran_active_transactions AS a \
                ON a.transaction_id = o.transaction_id WHERE o.session_id = s.session_id), s.last_request_start_time), \
                GETDATE()) AS float), CAST(r.session_id AS nvarchar(12)) \
         FROM sys.dm_exec_requests AS r JOIN sys.dm_exec_sessions AS s ON s.session_id = r.blocking_session_id \
         LEFT JOIN sys.dm_exec_requests AS h ON h.session_id = s.session_id \
         LEFT JOIN sys.dm_exec_connections AS c ON c.session_id = s.session_id \
         OUTER APPLY sys.dm_exec_sql_text(coalesce(h.sql_handle, c.most_recent_sql_handle)) AS t \
         WHERE r.wait_type LIKE 'LCK_M_%' AND r.wait_time >= 500 AND DB_NAME(r.database_id) IN ({databases}) \
         AND coalesce(h.blocking_session_id, 0) = 0",
    ],
    blockers_grant: Some(SERVER_STATE),
    counters: &[],
    tells: &[
        Telling {
            about: "its waits",
            // What never waited is left out: there are a thousand names.
            ways: &[
                "SELECT wait_type, wait_time_ms, signal_wait_time_ms FROM sys.dm_os_wait_stats WHERE wait_time_ms > 0",
            ],
            read: counters::waits,
            is_denied: fault::is_denied,
            grant: SERVER_STATE,
        },
        Telling {
            about: "the reads and writes of its files",
            ways: &[
                "SELECT CAST(coalesce(f.type, CASE WHEN s.file_id = 2 THEN 1 ELSE 0 END) AS int), s.num_of_reads, \
                 s.io_stall_read_ms, s.num_of_writes, s.io_stall_write_ms \
                 FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS s \
                 LEFT JOIN sys.master_files AS f ON f.database_id = s.database_id AND f.file_id = s.file_id \
                 WHERE DB_NAME(s.database_id) IN ({databases})",
            ],
            read: counters::files,
            is_denied: fault::is_denied,
            grant: SERVER_STATE,
        },
        Telling {
            about: "reads that its memory had",
            ways: &[
                "SELECT CAST(RTRIM(counter_name) AS nvarchar(128)), cntr_value FROM sys.dm_os_performance_counters \
                 WHERE object_name LIKE '%:Buffer Manager%' AND counter_name IN ('Page lookups/sec', 'Page reads/sec')",
            ],
            read: counters::buffer,
            is_denied: fault::is_denied,
            grant: SERVER_STATE,
        },
        Telling {
            about: "copies of its databases on other servers",
            ways: &[
                // The lag is told since 2016.
                "SELECT r.replica_server_name, DB_NAME(s.database_id), CAST(s.is_primary_replica AS int), \
                 r.availability_mode_desc, s.synchronization_state_desc, s.synchronization_health_desc, \
                 CAST(s.is_suspended AS int), s.log_send_queue_size, s.redo_queue_size, s.secondary_lag_seconds \
                 FROM sys.dm_hadr_database_replica_states AS s \
                 LEFT JOIN sys.availability_replicas AS r ON r.replica_id = s.replica_id \
                 WHERE DB_NAME(s.database_id) IN ({databases})",
                "SELECT r.replica_server_name, DB_NAME(s.database_id), CAST(s.is_primary_replica AS int), \
                 r.availability_mode_desc, s.synchronization_state_desc, s.synchronization_health_desc, \
                 CAST(s.is_suspended AS int), s.log_send_queue_size, s.redo_queue_size, NULL \
                 FROM sys.dm_hadr_database_replica_states AS s \
                 LEFT JOIN sys.availability_replicas AS r ON r.replica_id = s.replica_id \
                 WHERE DB_NAME(s.database_id) IN ({databases})",
            ],
            read: counters::replicas,
            is_denied: fault::is_denied,
            grant: SERVER_STATE,
        },
    ],
    remedy: Some(SERVER_STATE),
};

/// What lets a login see the state of the whole server.
pub(super) const SERVER_STATE: &str =
    "in master, GRANT VIEW SERVER PERFORMANCE STATE TO the login (before 2022: GRANT VIEW SERVER STATE)";
