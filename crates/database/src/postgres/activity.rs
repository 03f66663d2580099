//! What PostgreSQL is asked about its sessions and its counters.
//!
//! Source: <https://www.postgresql.org/docs/current/monitoring-stats.html>. Columns came and went over the versions, so that the
//! views are read as whatever they have.

use crate::Dialect;
use crate::activity::Looking;

pub(crate) static LOOKING: Looking = Looking {
    dialect: Dialect::Postgres,
    begin: Some("SET application_name = 'prony sampler'"),
    ways: &[
        "SELECT CASE WHEN query = '<insufficient privilege>' THEN 'hidden' \
                     WHEN state = 'disabled' THEN 'untracked' \
                     WHEN state = 'idle' THEN 'idle' \
                     WHEN state LIKE 'idle in transaction%' THEN 'idle in transaction' \
                     WHEN wait_event_type IS NULL THEN 'executing' \
                     ELSE wait_event_type || ':' || wait_event END AS doing, count(*), string_agg(pid::text, ',') \
              FROM pg_stat_activity \
              WHERE datname IN ({databases}) AND coalesce(backend_type, 'client backend') = 'client backend' AND pid <> pg_backend_pid() \
              AND (state <> 'idle' OR state_change > clock_timestamp() - interval '100 ms' OR query = '<insufficient privilege>') \
              AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum) \
              GROUP BY doing \
         UNION ALL \
         SELECT 'beside ' || CASE WHEN backend_type = 'checkpointer' THEN 'checkpoint' \
                                  WHEN backend_type = 'autovacuum worker' OR pid IN (SELECT pid FROM pg_stat_progress_vacuum) \
                                  THEN 'vacuum' ELSE 'others' END \
                || coalesce(' ' || wait_event_type || ':' || wait_event, ' executing') AS doing, count(*), NULL \
              FROM pg_stat_activity \
              WHERE pid <> pg_backend_pid() AND wait_event_type IS DISTINCT FROM 'Activity' \
              AND (backend_type IN ('checkpointer', 'autovacuum worker') OR pid IN (SELECT pid FROM pg_stat_progress_vacuum) \
                   OR (backend_type = 'client backend' AND state = 'active' AND datname NOT IN ({databases}))) \
              GROUP BY doing",
        // Without what goes on beside the load.
        "SELECT CASE WHEN query = '<insufficient privilege>' THEN 'hidden' \
                     WHEN state = 'disabled' THEN 'untracked' \
                     WHEN state = 'idle' THEN 'idle' \
                     WHEN state LIKE 'idle in transaction%' THEN 'idle in transaction' \
                     WHEN wait_event_type IS NULL THEN 'executing' \
                     ELSE wait_event_type || ':' || wait_event END AS doing, count(*), string_agg(pid::text, ',') \
              FROM pg_stat_activity \
              WHERE datname IN ({databases}) AND coalesce(backend_type, 'client backend') = 'client backend' AND pid <> pg_backend_pid() \
              AND (state <> 'idle' OR state_change > clock_timestamp() - interval '100 ms' OR query = '<insufficient privilege>') \
              GROUP BY doing",
    ],
    is_lock: |doing| doing.starts_with("Lock:"),
    is_table_lock: |_| false,
    // Whoever holds all others back waits for no lock itself. Looking at who blocks whom takes the lock manager's own locks for a moment, so
    // that only those are looked at that have waited for a while.
    blockers: &[
        "SELECT waits.blocker::bigint, holder.usename::text, holder.application_name, holder.state, \
                left(nullif(holder.query, '<insufficient privilege>'), 1000), \
                extract(epoch FROM now() - coalesce(holder.xact_start, holder.query_start))::float8, \
                string_agg(waits.pid::text, ',') \
         FROM (SELECT pid, unnest(pg_blocking_pids(pid)) AS blocker FROM pg_stat_activity \
               WHERE datname IN ({databases}) AND wait_event_type = 'Lock' \
               AND state_change < clock_timestamp() - interval '500 ms' LIMIT 100) AS waits \
         LEFT JOIN pg_stat_activity AS holder ON holder.pid = waits.blocker \
         WHERE holder.wait_event_type IS DISTINCT FROM 'Lock' GROUP BY 1, 2, 3, 4, 5, 6",
    ],
    blockers_grant: None,
    counters: &[
        "SELECT 'pg_stat_wal.' || key, value::float8 FROM pg_stat_wal AS source, jsonb_each_text(to_jsonb(source)) \
         WHERE value ~ '^[0-9.]+$'",
        "SELECT 'pg_stat_bgwriter.' || key, value::float8 FROM pg_stat_bgwriter AS source, \
         jsonb_each_text(to_jsonb(source)) WHERE value ~ '^[0-9.]+$'",
        // 17 and later.
        "SELECT 'pg_stat_checkpointer.' || key, value::float8 FROM pg_stat_checkpointer AS source, \
         jsonb_each_text(to_jsonb(source)) WHERE value ~ '^[0-9.]+$'",
        // 16 and later.
        "SELECT 'pg_stat_io.' || (to_jsonb(source) ->> 'object') || '.' || key, sum(value::float8) \
         FROM pg_stat_io AS source, jsonb_each_text(to_jsonb(source)) \
         WHERE key IN ('reads', 'read_time', 'writes', 'write_time', 'extends', 'extend_time', 'fsyncs', 'fsync_time', \
         'writebacks', 'writeback_time', 'hits', 'evictions') AND value ~ '^[0-9.]+$' GROUP BY 1",
        "SELECT 'pg_stat_database.' || key, sum(value::float8) FROM pg_stat_database AS source, \
         jsonb_each_text(to_jsonb(source)) WHERE datname IN ({databases}) AND key IN ('xact_commit', 'xact_rollback', \
         'blks_read', 'blks_hit', 'blk_read_time', 'blk_write_time', 'temp_bytes', 'deadlocks') \
         AND value ~ '^[0-9.]+$' GROUP BY 1",
    ],
    tells: &[],
    remedy: Some("GRANT pg_monitor TO CURRENT_USER"),
};
