//! What MySQL and MariaDB are asked about their sessions and their counters.
//!
//! A session that waits for a lock on a row is `Updating` and the like in the list of sessions, as one that works is. How many wait
//! InnoDB counts; its own list of transactions, which would tell which, is a copy that is as old as somebody keeps reading it.
//! Where performance_schema is on and shows waits, what a session waits for is told by its innermost event; else, and where it waits
//! for none, by its state in the list of sessions.
//! MariaDB knows for how many milliseconds a session has been idle, MySQL for how many seconds. A login without the right
//! `PROCESS` sees its own sessions, and the load's are its own.

use crate::Dialect;
use crate::activity::Looking;

pub(crate) static LOOKING: Looking = Looking {
    dialect: Dialect::Mysql,
    begin: None,
    ways: &[
        "SELECT CASE WHEN command = 'Sleep' THEN 'idle' WHEN coalesce(event, 'idle') <> 'idle' THEN event WHEN coalesce(state, \
         '') = '' THEN 'executing' ELSE state END AS doing, count(*) FROM information_schema.processlist AS sessions LEFT JOIN \
         (SELECT threads.processlist_id AS of_session, substring_index(group_concat(waits.event_name ORDER BY waits.event_id \
         DESC), ',', 1) AS event FROM performance_schema.threads JOIN performance_schema.events_waits_current AS waits USING \
         (thread_id) WHERE waits.timer_end IS NULL OR waits.timer_end = 0 GROUP BY threads.processlist_id) AS events ON \
         of_session = id WHERE db IN ({databases}) AND id <> connection_id() AND (command <> 'Sleep' OR time_ms < 100) GROUP BY \
         doing UNION ALL SELECT concat('beside others ', if(coalesce(state, '') = '', 'executing', state)), count(*) FROM \
         information_schema.processlist WHERE coalesce(db, '') NOT IN ({databases}) AND id <> connection_id() AND command IN \
         ('Query', 'Execute') GROUP BY 1 UNION ALL SELECT if(variable_name = 'Innodb_row_lock_current_waits', 'row lock', \
         concat('beside gauge ', lower(variable_name))), cast(variable_value AS signed) FROM information_schema.global_status \
         WHERE variable_name IN ('Innodb_row_lock_current_waits', 'Innodb_checkpoint_age', 'Innodb_checkpoint_max_age', \
         'Innodb_history_list_length') AND variable_value > 0",
        "SELECT CASE WHEN command = 'Sleep' THEN 'idle' WHEN coalesce(state, '') = '' THEN 'executing' ELSE state END AS doing, \
         count(*) FROM information_schema.processlist WHERE db IN ({databases}) AND id <> connection_id() AND (command <> \
         'Sleep' OR time_ms < 100) GROUP BY doing UNION ALL SELECT concat('beside others ', if(coalesce(state, '') = '', \
         'executing', state)), count(*) FROM information_schema.processlist WHERE coalesce(db, '') NOT IN ({databases}) AND id \
         <> connection_id() AND command IN ('Query', 'Execute') GROUP BY 1 UNION ALL SELECT if(variable_name = \
         'Innodb_row_lock_current_waits', 'row lock', concat('beside gauge ', lower(variable_name))), cast(variable_value AS \
         signed) FROM information_schema.global_status WHERE variable_name IN ('Innodb_row_lock_current_waits', \
         'Innodb_checkpoint_age', 'Innodb_checkpoint_max_age', 'Innodb_history_list_length') AND variable_value > 0",
        "SELECT CASE WHEN command = 'Sleep' THEN 'idle' WHEN coalesce(event, 'idle') <> 'idle' THEN event WHEN coalesce(state, \
         '') = '' THEN 'executing' ELSE state END AS doing, count(*) FROM information_schema.processlist AS sessions LEFT JOIN \
         (SELECT threads.processlist_id AS of_session, substring_index(group_concat(waits.event_name ORDER BY waits.event_id \
         DESC), ',', 1) AS event FROM performance_schema.threads JOIN performance_schema.events_waits_current AS waits USING \
         (thread_id) WHERE waits.timer_end IS NULL OR waits.timer_end = 0 GROUP BY threads.processlist_id) AS events ON \
         of_session = id WHERE db IN ({databases}) AND id <> connection_id() AND (command <> 'Sleep' OR time < 1) GROUP BY \
         doing UNION ALL SELECT concat('beside others ', if(coalesce(state, '') = '', 'executing', state)), count(*) FROM \
         information_schema.processlist WHERE coalesce(db, '') NOT IN ({databases}) AND id <> connection_id() AND command IN \
         ('Query', 'Execute') GROUP BY 1 UNION ALL SELECT if(variable_name = 'Innodb_row_lock_current_waits', 'row lock', \
         concat('beside gauge ', lower(variable_name))), cast(variable_value AS signed) FROM performance_schema.global_status \
         WHERE variable_name IN ('Innodb_row_lock_current_waits', 'Innodb_checkpoint_age', 'Innodb_checkpoint_max_age', \
         'Innodb_history_list_length') AND variable_value > 0",
        "SELECT CASE WHEN command = 'Sleep' THEN 'idle' WHEN coalesce(state, '') = '' THEN 'executing' ELSE state END AS doing, \
         count(*) FROM information_schema.processlist WHERE db IN ({databases}) AND id <> connection_id() AND (command <> \
         'Sleep' OR time < 1) GROUP BY doing UNION ALL SELECT concat('beside others ', if(coalesce(state, '') = '', \
         'executing', state)), count(*) FROM information_schema.processlist WHERE coalesce(db, '') NOT IN ({databases}) AND id \
         <> connection_id() AND command IN ('Query', 'Execute') GROUP BY 1 UNION ALL SELECT if(variable_name = \
         'Innodb_row_lock_current_waits', 'row lock', concat('beside gauge ', lower(variable_name))), cast(variable_value AS \
         signed) FROM performance_schema.global_status WHERE variable_name IN ('Innodb_row_lock_current_waits', \
         'Innodb_checkpoint_age', 'Innodb_checkpoint_max_age', 'Innodb_history_list_length') AND variable_value > 0",
    ],
    counters: &["SHOW GLOBAL STATUS WHERE variable_name IN ('Innodb_data_reads', 'Innodb_data_writes', \
                 'Innodb_data_fsyncs', 'Innodb_data_read', 'Innodb_data_written', 'Innodb_os_log_fsyncs', \
                 'Innodb_os_log_written', 'Innodb_log_waits', 'Innodb_log_writes', 'Innodb_log_write_requests', \
                 'Innodb_row_lock_waits', 'Innodb_row_lock_time', 'Innodb_buffer_pool_reads', \
                 'Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_wait_free', 'Innodb_buffer_pool_pages_flushed', \
                 'Innodb_deadlocks', 'Com_commit', 'Com_rollback')"],
    tells: &[],
    remedy: None,
};
