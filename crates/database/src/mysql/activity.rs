//! What MySQL and MariaDB are asked about their sessions and their counters.
//!
//! A session that waits for a lock on a row is `Updating` and the like in the list of sessions, as one that works is. How many wait
//! InnoDB counts; its own list of transactions, which would tell which, is a copy that is as old as somebody keeps reading it.
//! Where performance_schema is on and shows waits, what a session waits for is told by its innermost event; else, and where it waits
//! for none, by its state in the list of sessions.
//! MariaDB knows for how many milliseconds a session has been idle, MySQL for how many seconds. A login without the right
//! `PROCESS` sees its own sessions, and the load's are its own.

use record::doing;

use crate::Dialect;
use crate::activity::Looking;

pub(crate) static LOOKING: Looking = Looking {
    dialect: Dialect::Mysql,
    // The numbers of ten thousand sessions take some 80 kB. MariaDB has a megabyte, MySQL one thousand bytes.
    begin: Some("SET SESSION group_concat_max_len = 1048576"),
    ways: &[
        "SELECT CASE WHEN command = 'Sleep' THEN 'idle' WHEN coalesce(event, 'idle') <> 'idle' THEN event WHEN coalesce(state, \
         '') = '' THEN 'executing' ELSE state END AS doing, count(*), group_concat(id) FROM information_schema.processlist AS sessions LEFT JOIN \
         (SELECT threads.processlist_id AS of_session, substring_index(group_concat(waits.event_name ORDER BY waits.event_id \
         DESC), ',', 1) AS event FROM performance_schema.threads JOIN performance_schema.events_waits_current AS waits USING \
         (thread_id) WHERE waits.timer_end IS NULL OR waits.timer_end = 0 GROUP BY threads.processlist_id) AS events ON \
         of_session = id WHERE db IN ({databases}) AND id <> connection_id() AND (command <> 'Sleep' OR time_ms < 100) GROUP BY \
         doing UNION ALL SELECT concat('beside others ', if(coalesce(state, '') = '', 'executing', state)), count(*), NULL FROM \
         information_schema.processlist WHERE coalesce(db, '') NOT IN ({databases}) AND id <> connection_id() AND command IN \
         ('Query', 'Execute') GROUP BY 1 UNION ALL SELECT if(variable_name = 'Innodb_row_lock_current_waits', 'row lock', \
         concat('beside gauge ', lower(variable_name))), cast(variable_value AS signed), NULL FROM information_schema.global_status \
         WHERE variable_name IN ('Innodb_row_lock_current_waits', 'Innodb_checkpoint_age', 'Innodb_checkpoint_max_age', \
         'Innodb_history_list_length') AND variable_value > 0",
        "SELECT CASE WHEN command = 'Sleep' THEN 'idle' WHEN coalesce(state, '') = '' THEN 'executing' ELSE state END AS doing, \
         count(*), group_concat(id) FROM information_schema.processlist WHERE db IN ({databases}) AND id <> connection_id() AND (command <> \
         'Sleep' OR time_ms < 100) GROUP BY doing UNION ALL SELECT concat('beside others ', if(coalesce(state, '') = '', \
         'executing', state)), count(*), NULL FROM information_schema.processlist WHERE coalesce(db, '') NOT IN ({databases}) AND id \
         <> connection_id() AND command IN ('Query', 'Execute') GROUP BY 1 UNION ALL SELECT if(variable_name = \
         'Innodb_row_lock_current_waits', 'row lock', concat('beside gauge ', lower(variable_name))), cast(variable_value AS \
         signed), NULL FROM information_schema.global_status WHERE variable_name IN ('Innodb_row_lock_current_waits', \
         'Innodb_checkpoint_age', 'Innodb_checkpoint_max_age', 'Innodb_history_list_length') AND variable_value > 0",
        "SELECT CASE WHEN command = 'Sleep' THEN 'idle' WHEN coalesce(event, 'idle') <> 'idle' THEN event WHEN coalesce(state, \
         '') = '' THEN 'executing' ELSE state END AS doing, count(*), group_concat(id) FROM information_schema.processlist AS sessions LEFT JOIN \
         (SELECT threads.processlist_id AS of_session, substring_index(group_concat(waits.event_name ORDER BY waits.event_id \
         DESC), ',', 1) AS event FROM performance_schema.threads JOIN performance_schema.events_waits_current AS waits USING \
         (thread_id) WHERE waits.timer_end IS NULL OR waits.timer_end = 0 GROUP BY threads.processlist_id) AS events ON \
         of_session = id WHERE db IN ({databases}) AND id <> connection_id() AND (command <> 'Sleep' OR time < 1) GROUP BY \
         doing UNION ALL SELECT concat('beside others ', if(coalesce(state, '') = '', 'executing', state)), count(*), NULL FROM \
         information_schema.processlist WHERE coalesce(db, '') NOT IN ({databases}) AND id <> connection_id() AND command IN \
         ('Query', 'Execute') GROUP BY 1 UNION ALL SELECT if(variable_name = 'Innodb_row_lock_current_waits', 'row lock', \
         concat('beside gauge ', lower(variable_name))), cast(variable_value AS signed), NULL FROM performance_schema.global_status \
         WHERE variable_name IN ('Innodb_row_lock_current_waits', 'Innodb_checkpoint_age', 'Innodb_checkpoint_max_age', \
         'Innodb_history_list_length') AND variable_value > 0",
        "SELECT CASE WHEN command = 'Sleep' THEN 'idle' WHEN coalesce(state, '') = '' THEN 'executing' ELSE state END AS doing, \
         count(*), group_concat(id) FROM information_schema.processlist WHERE db IN ({databases}) AND id <> connection_id() AND (command <> \
         'Sleep' OR time < 1) GROUP BY doing UNION ALL SELECT concat('beside others ', if(coalesce(state, '') = '', \
         'executing', state)), count(*), NULL FROM information_schema.processlist WHERE coalesce(db, '') NOT IN ({databases}) AND id \
         <> connection_id() AND command IN ('Query', 'Execute') GROUP BY 1 UNION ALL SELECT if(variable_name = \
         'Innodb_row_lock_current_waits', 'row lock', concat('beside gauge ', lower(variable_name))), cast(variable_value AS \
         signed), NULL FROM performance_schema.global_status WHERE variable_name IN ('Innodb_row_lock_current_waits', \
         'Innodb_checkpoint_age', 'Innodb_checkpoint_max_age', 'Innodb_history_list_length') AND variable_value > 0",
    ],
    is_lock,
    is_table_lock: |doing| doing.to_lowercase().contains("metadata lock"),
    blockers: &[
        // MariaDB, and MySQL before 8: rows.
        "SELECT blocking.trx_mysql_thread_id, holder.user, holder.host, if(holder.command = 'Sleep', 'idle in transaction', \
                coalesce(nullif(holder.state, ''), holder.command)), left(coalesce(blocking.trx_query, holder.info), 1000), \
                timestampdiff(SECOND, blocking.trx_started, now()), group_concat(waiting.trx_mysql_thread_id) \
         FROM information_schema.innodb_lock_waits AS waits \
         JOIN information_schema.innodb_trx AS waiting ON waiting.trx_id = waits.requesting_trx_id \
         JOIN information_schema.innodb_trx AS blocking ON blocking.trx_id = waits.blocking_trx_id \
         LEFT JOIN information_schema.processlist AS holder ON holder.id = blocking.trx_mysql_thread_id \
         WHERE blocking.trx_state <> 'LOCK WAIT' AND waiting.trx_wait_started <= now() - INTERVAL 1 SECOND \
         GROUP BY 1, 2, 3, 4, 5, 6",
        // MySQL 8: rows. What an idle session ran last is its current event still.
        "SELECT holder.processlist_id, holder.processlist_user, holder.processlist_host, if(holder.processlist_command = 'Sleep', \
                'idle in transaction', coalesce(holder.processlist_state, holder.processlist_command)), \
                left(coalesce(holder.processlist_info, statements.sql_text), 1000), \
                timestampdiff(SECOND, blocking.trx_started, now()), group_concat(waiting.processlist_id) \
         FROM performance_schema.data_lock_waits AS waits \
         JOIN performance_schema.threads AS holder ON holder.thread_id = waits.blocking_thread_id \
         JOIN performance_schema.threads AS waiting ON waiting.thread_id = waits.requesting_thread_id \
         JOIN information_schema.innodb_trx AS blocking ON blocking.trx_mysql_thread_id = holder.processlist_id \
         LEFT JOIN performance_schema.events_statements_current AS statements ON statements.thread_id = holder.thread_id \
         WHERE blocking.trx_state <> 'LOCK WAIT' AND waiting.processlist_time >= 1 GROUP BY 1, 2, 3, 4, 5, 6",
        // MariaDB with its plugin: tables. Weaker locks hold nobody back who reads or writes rows.
        "SELECT locks.thread_id, holder.user, holder.host, coalesce(nullif(holder.state, ''), holder.command), left(holder.info, 1000), \
                holder.time, NULL \
         FROM information_schema.metadata_lock_info AS locks \
         JOIN information_schema.processlist AS holder ON holder.id = locks.thread_id \
         WHERE locks.table_schema IN ({databases}) AND coalesce(holder.state, '') NOT LIKE 'Waiting for%' \
         AND locks.lock_mode IN ('MDL_SHARED_READ_ONLY', 'MDL_SHARED_NO_WRITE', 'MDL_SHARED_NO_READ_WRITE', 'MDL_EXCLUSIVE') \
         GROUP BY 1, 2, 3, 4, 5, 6",
        // MySQL 8, and MariaDB 10.5 or later with performance_schema on: tables.
        "SELECT holder.processlist_id, holder.processlist_user, holder.processlist_host, coalesce(nullif(holder.processlist_state, ''), \
                holder.processlist_command), left(holder.processlist_info, 1000), holder.processlist_time, \
                group_concat(waiting.processlist_id) \
         FROM performance_schema.metadata_locks AS wanted \
         JOIN performance_schema.metadata_locks AS held ON held.object_type = wanted.object_type \
         AND held.object_schema = wanted.object_schema AND held.object_name = wanted.object_name \
         AND held.owner_thread_id <> wanted.owner_thread_id \
         JOIN performance_schema.threads AS holder ON holder.thread_id = held.owner_thread_id \
         JOIN performance_schema.threads AS waiting ON waiting.thread_id = wanted.owner_thread_id \
         WHERE wanted.lock_status = 'PENDING' AND held.lock_status = 'GRANTED' AND wanted.object_schema IN ({databases}) \
         AND (wanted.lock_type = 'EXCLUSIVE' OR held.lock_type IN ('SHARED_READ_ONLY', 'SHARED_NO_WRITE', \
         'SHARED_NO_READ_WRITE', 'EXCLUSIVE')) AND coalesce(holder.processlist_state, '') NOT LIKE 'Waiting for%' \
         GROUP BY 1, 2, 3, 4, 5, 6",
    ],
    blockers_grant: Some(
        "GRANT PROCESS ON *.* TO the login, and for locks on tables INSTALL SONAME 'metadata_lock_info' (MariaDB) or \
         performance_schema = ON",
    ),
    counters: &["SHOW GLOBAL STATUS WHERE variable_name IN ('Innodb_data_reads', 'Innodb_data_writes', \
                 'Innodb_data_fsyncs', 'Innodb_data_read', 'Innodb_data_written', 'Innodb_os_log_fsyncs', \
                 'Innodb_os_log_written', 'Innodb_log_waits', 'Innodb_log_writes', 'Innodb_log_write_requests', \
                 'Innodb_row_lock_waits', 'Innodb_row_lock_time', 'Innodb_buffer_pool_reads', \
                 'Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_wait_free', 'Innodb_buffer_pool_pages_flushed', \
                 'Innodb_deadlocks', 'Com_commit', 'Com_rollback')"],
    tells: &[],
    remedy: None,
};

/// A row of InnoDB's, a table, or a name.
fn is_lock(what: &str) -> bool {
    let small = what.to_lowercase();
    what == doing::ROW_LOCK
        || what.starts_with("wait/lock/")
        || (small.starts_with("waiting for") && small.contains("lock"))
}
