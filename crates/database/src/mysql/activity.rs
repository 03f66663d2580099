//! What MySQL and MariaDB are asked about their sessions and their counters.
//!
//! A session that waits for a lock on a row is `Updating` and the like in the list of sessions, as one that works is. How many wait
//! InnoDB counts; its own list of transactions, which would tell which, is a copy that is as old as somebody keeps reading it.
//! MariaDB knows for how many milliseconds a session has been idle, MySQL for how many seconds. A login without the right
//! `PROCESS` sees its own sessions, and the load's are its own.

use crate::Dialect;
use crate::activity::Looking;

pub(crate) static LOOKING: Looking = Looking {
    dialect: Dialect::Mysql,
    begin: None,
    ways: &[
        "SELECT CASE WHEN command = 'Sleep' THEN 'idle' WHEN coalesce(state, '') = '' THEN 'executing' ELSE state END \
                AS doing, count(*) \
         FROM information_schema.processlist \
         WHERE db IN ({databases}) AND id <> connection_id() AND (command <> 'Sleep' OR time_ms < 100) GROUP BY doing \
         UNION ALL SELECT 'row lock', cast(variable_value AS signed) FROM information_schema.global_status \
         WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS' AND variable_value > 0",
        "SELECT CASE WHEN command = 'Sleep' THEN 'idle' WHEN coalesce(state, '') = '' THEN 'executing' ELSE state END \
                AS doing, count(*) \
         FROM information_schema.processlist \
         WHERE db IN ({databases}) AND id <> connection_id() AND (command <> 'Sleep' OR time < 1) GROUP BY doing \
         UNION ALL SELECT 'row lock', cast(variable_value AS signed) FROM performance_schema.global_status \
         WHERE variable_name = 'Innodb_row_lock_current_waits' AND variable_value > 0",
    ],
    counters: &["SHOW GLOBAL STATUS WHERE variable_name IN ('Innodb_data_reads', 'Innodb_data_writes', \
                 'Innodb_data_fsyncs', 'Innodb_data_read', 'Innodb_data_written', 'Innodb_os_log_fsyncs', \
                 'Innodb_os_log_written', 'Innodb_log_waits', 'Innodb_log_writes', 'Innodb_log_write_requests', \
                 'Innodb_row_lock_waits', 'Innodb_row_lock_time', 'Innodb_buffer_pool_reads', \
                 'Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_wait_free', 'Innodb_buffer_pool_pages_flushed', \
                 'Innodb_deadlocks', 'Com_commit', 'Com_rollback')"],
    remedy: None,
};
