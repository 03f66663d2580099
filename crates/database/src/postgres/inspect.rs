//! What PostgreSQL is asked for advice on its settings. Everybody may see most of it; where the files lie is shown to members of
//! `pg_read_all_settings` alone.

use crate::inspect::{Question, Questions};

pub(crate) static INSPECTED: Questions = Questions {
    login: "SELECT quote_ident(current_user)",
    some: &[],
    questions: &[
        Question {
            table: "settings",
            about: "its settings",
            columns: &["name", "value", "unit", "source"],
            ways: &[
                "SELECT name, setting, unit, source FROM pg_settings WHERE name IN ('allow_system_table_mods', 'archive_mode', \
                     'autovacuum', 'autovacuum_max_workers', 'autovacuum_vacuum_cost_delay', 'autovacuum_work_mem', \
                     'bgwriter_lru_maxpages', 'checkpoint_completion_target', 'checkpoint_timeout', 'commit_delay', \
                     'data_checksums', 'data_sync_retry', 'debug_assertions', 'effective_cache_size', \
                     'effective_io_concurrency', 'enable_bitmapscan', 'enable_hashagg', 'enable_hashjoin', \
                     'enable_indexonlyscan', 'enable_indexscan', 'enable_material', 'enable_mergejoin', 'enable_nestloop', \
                     'enable_seqscan', 'enable_sort', 'fsync', 'full_page_writes', 'hash_mem_multiplier', 'huge_pages', \
                     'huge_pages_status', 'ignore_checksum_failure', 'ignore_invalid_pages', 'ignore_system_indexes', \
                     'log_min_duration_statement', 'log_statement', 'maintenance_work_mem', 'max_connections', \
                     'max_slot_wal_keep_size', 'max_wal_size', 'min_wal_size', 'random_page_cost', 'seq_page_cost', \
                     'shared_buffers', 'synchronous_commit', 'track_counts', 'wal_buffers', 'wal_level', \
                     'wal_sync_method', 'work_mem', 'zero_damaged_pages') ORDER BY name",
            ],
            grant: None,
        },
        Question {
            table: "files",
            about: "where its files lie",
            columns: &["data_directory"],
            ways: &["SELECT current_setting('data_directory')"],
            grant: Some("GRANT pg_read_all_settings TO {login}"),
        },
        Question {
            table: "commits",
            about: "settings of commits of roles and databases",
            columns: &["role", "database", "value"],
            ways: &[
                "SELECT r.rolname::text, d.datname::text, split_part(one, '=', 2) FROM pg_db_role_setting AS s CROSS JOIN \
                     unnest(s.setconfig) AS one LEFT JOIN pg_roles AS r ON r.oid = s.setrole LEFT JOIN pg_database AS d ON d.oid = \
                     s.setdatabase WHERE one LIKE 'synchronous_commit=%' ORDER BY 1, 2",
            ],
            grant: None,
        },
        Question {
            table: "unlogged",
            about: "tables of this database without a log",
            columns: &["table"],
            ways: &[
                "SELECT n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE \
                     c.relpersistence = 'u' AND c.relkind IN ('r', 'p', 'm') AND n.nspname NOT LIKE 'pg\\_toast%' ORDER BY 1",
            ],
            grant: None,
        },
        Question {
            table: "checkpoints",
            about: "how its checkpoints began",
            columns: &["timed", "requested"],
            ways: &[
                "SELECT num_timed, num_requested FROM pg_stat_checkpointer",
                "SELECT checkpoints_timed, checkpoints_req FROM pg_stat_bgwriter",
            ],
            grant: None,
        },
        Question {
            table: "ages",
            about: "the ages of its databases",
            columns: &["database", "transactions"],
            ways: &["SELECT datname::text, age(datfrozenxid)::bigint FROM pg_database ORDER BY 2 DESC"],
            grant: None,
        },
        Question {
            table: "slots",
            about: "its replication slots",
            columns: &["slot", "active", "kept_bytes"],
            ways: &[
                "SELECT slot_name::text, active::int, pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN \
                     pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, restart_lsn)::bigint FROM \
                     pg_replication_slots ORDER BY 1",
            ],
            grant: None,
        },
        Question {
            table: "archiver",
            about: "its archiver",
            columns: &["archived", "failed", "is_failing"],
            ways: &["SELECT archived_count, failed_count, (last_failed_time > coalesce(last_archived_time, \
                     '-infinity'))::int FROM pg_stat_archiver"],
            grant: None,
        },
    ],
};
