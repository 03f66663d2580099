//! Mistakes of servers: rows of facts as each engine gives them.

use super::*;

fn settings(values: &[(&str, &str, &str)]) -> Vec<FactRow> {
    let row = |(name, value, unit): &(&str, &str, &str)| {
        let all = [("name", *name), ("value", *value), ("unit", *unit)];
        let told = all.into_iter().filter(|(_, value)| !value.is_empty());
        told.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    values.iter().map(row).collect()
}

/// As `pg_settings` gives them.
fn postgres() -> Environment {
    let settings = settings(&[
        ("autovacuum", "on", ""),
        ("autovacuum_vacuum_cost_delay", "2", "ms"),
        ("bgwriter_lru_maxpages", "100", ""),
        ("checkpoint_completion_target", "0.9", ""),
        ("checkpoint_timeout", "900", "s"),
        ("data_checksums", "on", ""),
        ("data_sync_retry", "off", ""),
        ("effective_cache_size", "4194304", "8kB"),
        ("effective_io_concurrency", "200", ""),
        ("enable_seqscan", "on", ""),
        ("fsync", "on", ""),
        ("full_page_writes", "on", ""),
        ("huge_pages", "try", ""),
        ("log_min_duration_statement", "1000", "ms"),
        ("log_statement", "none", ""),
        ("maintenance_work_mem", "1048576", "kB"),
        ("max_connections", "200", ""),
        ("max_slot_wal_keep_size", "-1", "MB"),
        ("max_wal_size", "16384", "MB"),
        ("random_page_cost", "1.1", ""),
        ("shared_buffers", "2097152", "8kB"),
        ("synchronous_commit", "on", ""),
        ("track_counts", "on", ""),
        ("wal_buffers", "2048", "8kB"),
        ("work_mem", "16384", "kB"),
        ("zero_damaged_pages", "off", ""),
    ]);
    let facts = [
        ("settings", settings),
        ("commits", rows(&["role", "database", "value"], &[&["app", "plant", "local"]])),
        ("checkpoints", rows(&["timed", "requested"], &[&["400", "12"]])),
        ("ages", rows(&["database", "transactions"], &[&["plant", "150000000"]])),
        ("slots", rows(&["slot", "active", "kept_bytes"], &[&["standby", "1", "16777216"]])),
        ("archiver", rows(&["archived", "failed", "is_failing"], &[&["900", "3", "0"]])),
    ];
    with_server("postgres", "PostgreSQL 15.18", &facts)
}

/// A log on the device of the data.
fn together(environment: &mut Environment) {
    environment.inspected[0].volumes.insert("log".to_owned(), "data".to_owned());
}

const POSTGRES: &[Planted] = &[
    ("fsync", |e| set(e, "fsync", "off")),
    ("full-page-writes", |e| set(e, "full_page_writes", "off")),
    ("synchronous-commit", |e| set(e, "synchronous_commit", "off")),
    ("synchronous-commit-of-role", |e| put(e, "commits", ("role", "app"), "value", "off")),
    ("unlogged-tables", |e| {
        let found = rows(&["table"], &[&["public.tank"]]);
        e.inspected[0].facts.insert("unlogged".to_owned(), found);
    }),
    ("data-sync-retry", |e| set(e, "data_sync_retry", "on")),
    ("developer-options", |e| set(e, "zero_damaged_pages", "on")),
    ("wraparound", |e| put(e, "ages", ("database", "plant"), "transactions", "1900000000")),
    ("slots", |e| put(e, "slots", ("slot", "standby"), "active", "0")),
    ("archiver", |e| put(e, "archiver", ("", ""), "is_failing", "1")),
    ("checksums", |e| set(e, "data_checksums", "off")),
    ("shared-buffers", |e| set(e, "shared_buffers", "16384")),
    ("shared-buffers", |e| set(e, "shared_buffers", "4194304")),
    ("effective-cache-size", |e| set(e, "effective_cache_size", "524288")),
    ("connections-memory", |e| set(e, "work_mem", "1048576")),
    ("huge-pages", |e| set(e, "huge_pages", "off")),
    ("huge-pages", |e| tuned(e).huge_pages = Reading::Known(0)),
    ("maintenance-memory", |e| set(e, "maintenance_work_mem", "1024")),
    ("wal-placement", together),
    ("checkpoints-requested", |e| put(e, "checkpoints", ("", ""), "requested", "4000")),
    ("max-wal-size", |e| set(e, "max_wal_size", "64")),
    ("checkpoint-timeout", |e| set(e, "checkpoint_timeout", "30")),
    ("checkpoint-spread", |e| set(e, "checkpoint_completion_target", "0.1")),
    ("wal-buffers", |e| set(e, "wal_buffers", "8")),
    ("autovacuum", |e| set(e, "autovacuum", "off")),
    ("autovacuum-delay", |e| set(e, "autovacuum_vacuum_cost_delay", "20")),
    ("random-page-cost", |e| set(e, "random_page_cost", "4")),
    ("io-concurrency", |e| set(e, "effective_io_concurrency", "1")),
    ("planner-methods", |e| set(e, "enable_seqscan", "off")),
    ("statistics", |e| set(e, "track_counts", "off")),
    ("background-writer", |e| set(e, "bgwriter_lru_maxpages", "0")),
    ("statement-log", |e| set(e, "log_min_duration_statement", "0")),
    ("statement-log", |e| set(e, "log_statement", "all")),
];

/// The session that asked had it from its role, and the remedy was to alter the server.
#[test]
fn a_commit_setting_of_a_role_is_told_as_such_and_not_as_the_servers() {
    let mut environment = postgres();
    set(&mut environment, "synchronous_commit", "off");
    put(&mut environment, "settings", ("name", "synchronous_commit"), "source", "database user");
    put(&mut environment, "commits", ("role", "app"), "value", "off");
    let found = Inspection::of(&environment).unwrap().advice;
    let told: Vec<&str> = found
        .iter()
        .filter(|advice| advice.rule.contains("commit"))
        .map(|advice| advice.found.as_str())
        .collect();
    assert_eq!(told, ["synchronous_commit is off for role app in database plant"]);
}

#[test]
fn mistakes_of_postgres_are_found_each_alone() {
    let lists = [postgres::SAFETY, postgres::MEMORY, postgres::LOG, postgres::WORK];
    check(&postgres(), &lists, POSTGRES);
}

/// As SHOW GLOBAL VARIABLES gives them.
fn mariadb() -> Environment {
    let settings = settings(&[
        ("binlog_expire_logs_seconds", "864000", ""),
        ("binlog_format", "MIXED", ""),
        ("default_storage_engine", "InnoDB", ""),
        ("expire_logs_days", "10.000000", ""),
        ("general_log", "OFF", ""),
        ("innodb_buffer_pool_size", "42949672960", ""),
        ("innodb_checksum_algorithm", "full_crc32", ""),
        ("innodb_doublewrite", "ON", ""),
        ("innodb_file_per_table", "ON", ""),
        ("innodb_flush_log_at_trx_commit", "1", ""),
        ("innodb_flush_method", "O_DIRECT", ""),
        ("innodb_flush_neighbors", "0", ""),
        ("innodb_force_recovery", "0", ""),
        ("innodb_io_capacity", "2000", ""),
        ("innodb_log_buffer_size", "67108864", ""),
        ("innodb_log_file_size", "8589934592", ""),
        ("innodb_stats_on_metadata", "OFF", ""),
        ("innodb_use_native_aio", "ON", ""),
        ("join_buffer_size", "262144", ""),
        ("large_pages", "ON", ""),
        ("log_bin", "ON", ""),
        ("max_connections", "500", ""),
        ("query_cache_size", "1048576", ""),
        ("query_cache_type", "OFF", ""),
        ("read_buffer_size", "131072", ""),
        ("read_rnd_buffer_size", "262144", ""),
        ("skip_name_resolve", "ON", ""),
        ("sort_buffer_size", "2097152", ""),
        ("sql_mode", "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION", ""),
        ("sync_binlog", "1", ""),
        ("thread_stack", "299008", ""),
    ]);
    let status =
        [("Innodb_buffer_pool_wait_free", "0"), ("Innodb_log_waits", "0"), ("Max_used_connections", "40")];
    let status: Vec<[&str; 2]> = status.iter().map(|(name, value)| [*name, *value]).collect();
    let status: Vec<&[&str]> = status.iter().map(<[&str; 2]>::as_slice).collect();
    let facts = [
        ("settings", settings),
        ("status", rows(&["name", "value"], &status)),
        ("engines", rows(&["engine", "tables"], &[&["InnoDB", "40"]])),
    ];
    with_server("mysql", "MariaDB 10.11.6", &facts)
}

fn status(environment: &mut Environment, name: &str, value: &str) {
    put(environment, "status", ("name", name), "value", value);
}

const MYSQL: &[Planted] = &[
    ("flush-at-commit", |e| set(e, "innodb_flush_log_at_trx_commit", "2")),
    ("sync-binlog", |e| set(e, "sync_binlog", "0")),
    ("doublewrite", |e| set(e, "innodb_doublewrite", "OFF")),
    ("doublewrite", |e| set(e, "innodb_doublewrite", "DETECT_ONLY")),
    ("flush-method-unsafe", |e| set(e, "innodb_flush_method", "nosync")),
    ("page-checksums", |e| set(e, "innodb_checksum_algorithm", "none")),
    ("strict-mode", |e| set(e, "sql_mode", "NO_ENGINE_SUBSTITUTION")),
    ("forced-recovery", |e| set(e, "innodb_force_recovery", "1")),
    ("engine", |e| set(e, "default_storage_engine", "MyISAM")),
    ("engine", |e| put(e, "engines", ("engine", "MyISAM"), "tables", "3")),
    ("no-binary-log", |e| set(e, "log_bin", "OFF")),
    ("binlog-format", |e| set(e, "binlog_format", "STATEMENT")),
    ("binlog-expiry", |e| {
        set(e, "binlog_expire_logs_seconds", "0");
        set(e, "expire_logs_days", "0.000000");
    }),
    ("buffer-pool", |e| set(e, "innodb_buffer_pool_size", "134217728")),
    ("connections-memory", |e| set(e, "sort_buffer_size", "268435456")),
    ("pool-waits", |e| status(e, "Innodb_buffer_pool_wait_free", "12")),
    ("large-pages", |e| set(e, "large_pages", "OFF")),
    ("numa-interleave", |e| set(e, "innodb_numa_interleave", "OFF")),
    ("query-cache", |e| set(e, "query_cache_type", "ON")),
    ("log-placement", together),
    ("flush-method", |e| set(e, "innodb_flush_method", "fsync")),
    ("flush-method", |e| set(e, "innodb_data_file_buffering", "ON")),
    ("redo-size", |e| set(e, "innodb_log_file_size", "100663296")),
    ("redo-size", |e| set(e, "innodb_redo_log_capacity", "104857600")),
    ("log-waits", |e| status(e, "Innodb_log_waits", "7")),
    ("log-buffer", |e| set(e, "innodb_log_buffer_size", "1048576")),
    ("io-capacity", |e| set(e, "innodb_io_capacity", "200")),
    ("flush-neighbors", |e| set(e, "innodb_flush_neighbors", "1")),
    ("native-aio", |e| set(e, "innodb_use_native_aio", "OFF")),
    ("file-per-table", |e| set(e, "innodb_file_per_table", "OFF")),
    ("general-log", |e| set(e, "general_log", "ON")),
    ("stats-on-metadata", |e| set(e, "innodb_stats_on_metadata", "ON")),
    ("name-resolve", |e| set(e, "skip_name_resolve", "OFF")),
];

#[test]
fn mistakes_of_mariadb_and_mysql_are_found_each_alone() {
    check(&mariadb(), &[mysql::SAFETY, mysql::MEMORY, mysql::IO], MYSQL);
}

/// Each page is written as a whole or not at all there.
#[test]
fn a_file_system_that_tears_no_page_needs_no_doublewrite() {
    let mut environment = mariadb();
    set(&mut environment, "innodb_doublewrite", "OFF");
    mount(&mut environment).file_system = "zfs".to_owned();
    assert_eq!(names(&environment), [""; 0]);
}

/// Memory and devices are those of this machine, of which those of another say nothing.
#[test]
fn a_server_elsewhere_is_not_set_against_this_machine() {
    for (mut environment, settings) in [
        (postgres(), &[("shared_buffers", "16384"), ("random_page_cost", "4")][..]),
        (mariadb(), &[("innodb_buffer_pool_size", "134217728"), ("innodb_io_capacity", "200")]),
    ] {
        settings.iter().for_each(|(name, value)| set(&mut environment, name, value));
        assert_eq!(names(&environment).len(), 2);
        environment.inspected[0].here = false;
        environment.inspected[0].volumes.clear();
        assert_eq!(names(&environment), [""; 0]);
    }
}

const OF_DATABASES: [&str; 8] = [
    "database",
    "recovery",
    "page_verify",
    "auto_close",
    "auto_shrink",
    "durability",
    "full_backup_hours",
    "log_backup_hours",
];
const OF_FILES: [&str; 7] =
    ["database", "file", "kind", "size_bytes", "growth_bytes", "growth_per_cent", "volume"];

/// Rows as sys.configurations, sys.databases, sys.master_files and the others are documented to give them.
fn sqlserver() -> Environment {
    let settings = settings(&[
        ("cost threshold for parallelism", "50", ""),
        ("max degree of parallelism", "8", ""),
        ("max server memory (MB)", "49152", ""),
        ("priority boost", "0", ""),
    ]);
    let databases: [&[&str]; 2] = [
        &["plant", "FULL", "CHECKSUM", "0", "0", "DISABLED", "20", "0"],
        &["master", "SIMPLE", "CHECKSUM", "0", "0", "DISABLED"],
    ];
    let files: [&[&str]; 11] = [
        &["plant", "plant", "ROWS", "107374182400", "268435456", "0", "D:\\"],
        &["plant", "plant_log", "LOG", "10737418240", "268435456", "0", "L:\\"],
        &["master", "mastlog", "LOG", "2097152", "67108864", "0", "C:\\"],
        &["tempdb", "tempdev", "ROWS", "8388608", "67108864", "0", "T:\\"],
        &["tempdb", "temp2", "ROWS", "8388608", "67108864", "0", "T:\\"],
        &["tempdb", "temp3", "ROWS", "8388608", "67108864", "0", "T:\\"],
        &["tempdb", "temp4", "ROWS", "8388608", "67108864", "0", "T:\\"],
        &["tempdb", "temp5", "ROWS", "8388608", "67108864", "0", "T:\\"],
        &["tempdb", "temp6", "ROWS", "8388608", "67108864", "0", "T:\\"],
        &["tempdb", "temp7", "ROWS", "8388608", "67108864", "0", "T:\\"],
        &["tempdb", "temp8", "ROWS", "8388608", "67108864", "0", "T:\\"],
    ];
    let machine = ["memory_bytes", "available_bytes", "server_bytes", "schedulers"];
    let facts = [
        ("settings", settings),
        ("machine", rows(&machine, &[&["68719476736", "12884901888", "51539607552", "16"]])),
        ("databases", rows(&OF_DATABASES, &databases)),
        ("files", rows(&OF_FILES, &files)),
        ("backups", rows(&["database", "path"], &[&["plant", "\\\\backup\\sql\\plant.bak"]])),
        ("services", rows(&["instant_file_initialization"], &[&["Y"]])),
        ("power", rows(&["plan"], &[&["8C5E7FDA-E8BF-4A96-9A85-A6E23A8C635C"]])),
        ("suspect", rows(&["pages"], &[&["0"]])),
    ];
    let mut environment = with_server("sqlserver", "SQL Server 2022", &facts);
    environment.inspected[0].here = false;
    environment.inspected[0].volumes.clear();
    environment
}

fn of_plant(environment: &mut Environment, column: &str, value: &str) {
    put(environment, "databases", ("database", "plant"), column, value);
}

fn of_file(environment: &mut Environment, file: &str, column: &str, value: &str) {
    put(environment, "files", ("file", file), column, value);
}

const SQLSERVER: &[Planted] = &[
    ("no-backup", |e| of_plant(e, "full_backup_hours", "400")),
    ("no-log-backup", |e| of_plant(e, "log_backup_hours", "48")),
    ("page-verify", |e| of_plant(e, "page_verify", "TORN_PAGE_DETECTION")),
    ("suspect-pages", |e| put(e, "suspect", ("", ""), "pages", "2")),
    ("delayed-durability", |e| of_plant(e, "durability", "FORCED")),
    ("backup-beside-data", |e| put(e, "backups", ("database", "plant"), "path", "D:\\backup\\plant.bak")),
    ("max-server-memory", |e| set(e, "max server memory (MB)", "2147483647")),
    ("max-server-memory", |e| put(e, "machine", ("", ""), "server_bytes", "21474836480")),
    ("max-degree-of-parallelism", |e| set(e, "max degree of parallelism", "0")),
    ("cost-threshold", |e| set(e, "cost threshold for parallelism", "5")),
    ("priority-boost", |e| set(e, "priority boost", "1")),
    ("power-plan", |e| put(e, "power", ("", ""), "plan", "381b4222-f694-41f0-9685-ff5bb260df2e")),
    ("auto-close", |e| of_plant(e, "auto_close", "1")),
    ("auto-shrink", |e| of_plant(e, "auto_shrink", "1")),
    ("file-growth", |e| of_file(e, "plant", "growth_bytes", "1048576")),
    ("file-growth", |e| of_file(e, "plant_log", "growth_per_cent", "10")),
    ("data-and-log", |e| of_file(e, "plant_log", "volume", "D:\\")),
    ("instant-file-initialization", |e| put(e, "services", ("", ""), "instant_file_initialization", "N")),
    ("tempdb-files", |e| of_file(e, "temp8", "kind", "LOG")),
    ("tempdb-files", |e| of_file(e, "temp3", "size_bytes", "1073741824")),
];

#[test]
fn mistakes_of_sql_server_are_found_each_alone() {
    let lists = [sqlserver::SAFETY, sqlserver::RESOURCES, sqlserver::FILES];
    check(&sqlserver(), &lists, SQLSERVER);
}

#[test]
fn a_database_that_was_never_backed_up_has_no_backup() {
    let mut environment = sqlserver();
    of_plant(&mut environment, "full_backup_hours", "never");
    of_plant(&mut environment, "log_backup_hours", "never");
    assert_eq!(names(&environment), ["no-backup", "no-log-backup"]);
    let inspection = Inspection::of(&environment).unwrap();
    assert!(inspection.advice[1].remedy.contains("ALTER DATABASE [plant] SET RECOVERY SIMPLE"));
    of_plant(&mut environment, "recovery", "SIMPLE");
    assert_eq!(names(&environment), ["no-backup"], "a log that empties itself needs no backup");
}

/// Who may not read the history of backups is told of none, and nothing is known.
#[test]
fn backups_that_are_not_told_of_are_not_missing() {
    let mut environment = sqlserver();
    for row in environment.inspected[0].facts.get_mut("databases").unwrap() {
        row.remove("full_backup_hours");
        row.remove("log_backup_hours");
    }
    assert_eq!(names(&environment), [""; 0]);
}

/// What a mount point below the root holds is not told.
#[test]
fn a_backup_is_beside_its_data_only_where_volumes_are_told() {
    let mut environment = sqlserver();
    put(&mut environment, "backups", ("database", "plant"), "path", "/backup/plant.bak");
    of_file(&mut environment, "plant", "volume", "/");
    assert_eq!(names(&environment), [""; 0]);
    of_file(&mut environment, "plant", "volume", "/backup");
    assert_eq!(names(&environment), ["backup-beside-data"]);
}
