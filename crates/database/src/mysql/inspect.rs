//! What MariaDB and MySQL are asked for advice on their settings. Variables and counters are shown to everybody; tables only to who
//! may read them, so that they are asked for together with one that is closed to all others: to a login that may not read it they
//! are untold, and not none.

use crate::inspect::{Question, Questions};

pub(crate) static INSPECTED: Questions = Questions {
    login: "SELECT concat('''', replace(current_user(), '@', '''@'''), '''')",
    some: &[],
    questions: &[
        Question {
            table: "settings",
            about: "its settings",
            columns: &["name", "value"],
            ways: &[
                "SHOW GLOBAL VARIABLES WHERE variable_name IN ('binlog_expire_logs_seconds', 'binlog_format', \
                     'default_storage_engine', 'expire_logs_days', 'general_log', 'innodb_buffer_pool_size', \
                     'innodb_checksum_algorithm', 'innodb_data_file_buffering', 'innodb_doublewrite', \
                     'innodb_file_per_table', 'innodb_flush_log_at_trx_commit', 'innodb_flush_method', \
                     'innodb_flush_neighbors', 'innodb_force_recovery', 'innodb_io_capacity', 'innodb_io_capacity_max', \
                     'innodb_log_buffer_size', 'innodb_log_file_size', 'innodb_log_files_in_group', \
                     'innodb_numa_interleave', 'innodb_redo_log_capacity', 'innodb_stats_on_metadata', \
                     'innodb_use_native_aio', 'join_buffer_size', 'large_pages', 'log_bin', 'log_bin_basename', \
                     'max_connections', 'query_cache_size', 'query_cache_type', 'read_buffer_size', \
                     'read_rnd_buffer_size', 'skip_name_resolve', 'sort_buffer_size', 'sql_mode', 'sync_binlog', \
                     'thread_stack', 'version_comment')",
            ],
            grant: None,
        },
        Question {
            table: "status",
            about: "its counters",
            columns: &["name", "value"],
            ways: &[
                "SHOW GLOBAL STATUS WHERE variable_name IN ('Innodb_buffer_pool_wait_free', 'Innodb_log_waits', \
                     'Max_used_connections', 'Uptime')",
            ],
            grant: None,
        },
        Question {
            table: "engines",
            about: "the storage engines of its tables",
            columns: &["engine", "tables"],
            ways: &[
                "SELECT engine, cast(count(*) AS signed) FROM information_schema.tables WHERE table_type = 'BASE TABLE' \
                     AND table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys') AND (SELECT \
                     count(*) FROM mysql.innodb_table_stats) >= 0 GROUP BY engine",
            ],
            grant: Some("GRANT SELECT ON *.* TO {login}"),
        },
    ],
};
