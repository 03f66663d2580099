//! What SQL Server is asked about its sessions and its counters.
//!
//! Source: <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views>. Without the right to the server's
//! state (`VIEW SERVER PERFORMANCE STATE` since 2022, `VIEW SERVER STATE` before) a login sees its own session alone.

use crate::Dialect;
use crate::activity::Looking;

pub(crate) static LOOKING: Looking = Looking {
    dialect: Dialect::SqlServer,
    begin: None,
    ways: &[
        "SELECT CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') = 0 AND \
                          coalesce(HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER PERFORMANCE STATE'), 0) = 0 THEN 'hidden' \
                     WHEN r.session_id IS NULL AND s.open_transaction_count > 0 THEN 'idle in transaction' \
                     WHEN r.session_id IS NULL THEN 'idle' \
                     WHEN r.wait_type IS NULL THEN 'executing' \
                     ELSE r.wait_type END AS doing, count(*) AS sessions \
         FROM sys.dm_exec_sessions AS s LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id \
         WHERE s.is_user_process = 1 AND s.session_id <> @@SPID AND DB_NAME(s.database_id) IN ({databases}) \
         AND (r.session_id IS NOT NULL OR s.last_request_end_time > DATEADD(millisecond, -100, SYSDATETIME())) \
         GROUP BY CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') = 0 AND \
                          coalesce(HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER PERFORMANCE STATE'), 0) = 0 THEN 'hidden' \
                     WHEN r.session_id IS NULL AND s.open_transaction_count > 0 THEN 'idle in transaction' \
                     WHEN r.session_id IS NULL THEN 'idle' \
                     WHEN r.wait_type IS NULL THEN 'executing' \
                     ELSE r.wait_type END",
        // What has no requests to look at tells of a session that it works, and not what it waits for.
        "SELECT CASE WHEN s.status = 'running' THEN 'executing' ELSE 'idle' END AS doing, count(*) AS sessions \
         FROM sys.dm_exec_sessions AS s \
         WHERE s.session_id <> @@SPID AND DB_NAME(s.database_id) IN ({databases}) AND s.status = 'running' \
         GROUP BY CASE WHEN s.status = 'running' THEN 'executing' ELSE 'idle' END",
    ],
    counters: &[],
    remedy: Some("GRANT VIEW SERVER PERFORMANCE STATE TO the login (before 2022: VIEW SERVER STATE)"),
};
