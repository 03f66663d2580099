//! Rules of MariaDB and MySQL. Sizes are bytes, as the servers tell them.

use super::Severity::{Costs, Danger, Note};
use super::rule::{Rule, Subject, figure, found, found_if, text};
use crate::format;

const GIB: f64 = (1u64 << 30) as f64;
const MIB: f64 = (1u64 << 20) as f64;
/// Shares of memory between which a buffer pool is of use.
const POOL_LEAST: f64 = 0.25;
const POOL_MOST: f64 = 0.90;
/// Buffers that a session may have, each of its own size.
const OF_A_SESSION: [&str; 5] =
    ["sort_buffer_size", "join_buffer_size", "read_buffer_size", "read_rnd_buffer_size", "thread_stack"];
/// Engines whose tables know no transactions, and which a crash can damage or empty.
const NOT_TRANSACTIONAL: [&str; 5] = ["MyISAM", "MRG_MyISAM", "MEMORY", "CSV", "ARCHIVE"];

/// What a setting is to become, at once and for good.
fn set(name: &str, value: &str) -> String {
    format!(
        "SET GLOBAL {name} = {value}. To keep it, write {name} = {value} under [mysqld] in the option file"
    )
}

/// The same of a setting that is read when the server starts.
fn set_and_restart(name: &str, value: &str) -> String {
    format!("write {name} = {value} under [mysqld] in the option file, then restart the server")
}

/// A size as an option takes it, in whole MiB.
fn size(bytes: f64) -> String {
    format!("{}M", (bytes / MIB).max(1.0) as u64)
}

fn told(bytes: f64) -> String {
    format::bytes(bytes as u64)
}

fn is_mariadb(subject: &Subject<'_>) -> bool {
    subject.server.is_some_and(|server| server.version.starts_with("MariaDB"))
}

/// Bytes of the redo log, by whichever of two settings the server goes.
fn redo_bytes(subject: &Subject<'_>) -> Option<f64> {
    let capacity = subject.bytes("innodb_redo_log_capacity").filter(|bytes| *bytes > 0.0);
    let files = subject.number("innodb_log_files_in_group").unwrap_or(1.0);
    capacity.or_else(|| Some(subject.bytes("innodb_log_file_size")? * files))
}

pub(super) static SAFETY: &[Rule] = &[
    Rule {
        name: "flush-at-commit",
        severity: Danger,
        why: "A power loss can lose the last second of transactions, although clients saw them as committed. With 0, a server crash can lose them too",
        source: "MySQL Reference Manual, InnoDB Startup Options and System Variables: innodb_flush_log_at_trx_commit",
        find: |subject| {
            let name = "innodb_flush_log_at_trx_commit";
            let value = subject.setting(name)?;
            found_if(!["1", "3"].contains(&value), format!("{name} is {value}"), set(name, "1"))
        },
    },
    Rule {
        name: "sync-binlog",
        severity: Danger,
        why: "After a power loss the binary log and the tables may differ, and replicas differ from then on",
        source: "MySQL Reference Manual, Binary Logging Options and Variables: sync_binlog",
        find: |subject| {
            let value = subject.setting("sync_binlog")?;
            let is_wrong = subject.is_on("log_bin") && value != "1";
            found_if(
                is_wrong,
                format!("sync_binlog is {value}, and the binary log is on"),
                set("sync_binlog", "1"),
            )
        },
    },
    Rule {
        name: "doublewrite",
        severity: Danger,
        why: "The server cannot repair a page that a power loss tore, and the tablespace is lost",
        source: "MySQL Reference Manual, InnoDB On-Disk Structures: Doublewrite Buffer",
        find: |subject| {
            let is_wrong =
                subject.is_off("innodb_doublewrite") || subject.is("innodb_doublewrite", "DETECT_ONLY");
            let mount = subject.volume_of("data").and_then(|volume| volume.mount.known());
            // It writes a page as a whole or not at all.
            let is_atomic = mount.is_some_and(|mount| mount.file_system == "zfs");
            let what = format!("innodb_doublewrite is {}", subject.setting("innodb_doublewrite")?);
            found_if(is_wrong && !is_atomic, what, set_and_restart("innodb_doublewrite", "ON"))
        },
    },
    Rule {
        name: "flush-method-unsafe",
        severity: Danger,
        why: "The server does not flush all its files, so a power loss damages tables",
        source: "MySQL Reference Manual, InnoDB Startup Options and System Variables: innodb_flush_method",
        find: |subject| {
            let method = subject.setting("innodb_flush_method")?;
            let is_wrong =
                ["nosync", "littlesync"].iter().any(|unsafe_one| method.eq_ignore_ascii_case(unsafe_one));
            let what = format!("innodb_flush_method is {method}");
            found_if(is_wrong, what, set_and_restart("innodb_flush_method", "O_DIRECT"))
        },
    },
    Rule {
        name: "page-checksums",
        severity: Danger,
        why: "If the storage changes a page, the server returns the page as valid data. The damage is found only when all backups contain it",
        source: "MariaDB documentation, InnoDB System Variables: innodb_checksum_algorithm",
        find: |subject| {
            let algorithm = subject.setting("innodb_checksum_algorithm")?;
            let is_wrong =
                algorithm.eq_ignore_ascii_case("none") || algorithm.eq_ignore_ascii_case("strict_none");
            let better = if is_mariadb(subject) { "full_crc32" } else { "crc32" };
            found_if(
                is_wrong,
                format!("innodb_checksum_algorithm is {algorithm}"),
                set_and_restart("innodb_checksum_algorithm", better),
            )
        },
    },
    Rule {
        name: "strict-mode",
        severity: Danger,
        why: "The server cuts values that do not fit, and only warns",
        source: "MySQL Reference Manual, Server SQL Modes: Strict SQL Mode",
        find: |subject| {
            let mode = subject.setting("sql_mode")?;
            let is_strict = mode.split(',').any(|one| one.starts_with("STRICT_"));
            let wanted = [mode, "STRICT_TRANS_TABLES"].into_iter().filter(|one| !one.is_empty());
            let wanted = format!("'{}'", wanted.collect::<Vec<&str>>().join(","));
            found_if(!is_strict, "sql_mode is not strict", set("sql_mode", &wanted))
        },
    },
    Rule {
        name: "forced-recovery",
        severity: Danger,
        why: "The server runs on tablespaces that may be damaged, and skips the steps that would repair or report them",
        source: "MySQL Reference Manual, InnoDB Troubleshooting: Forcing InnoDB Recovery",
        find: |subject| {
            let level = subject.number("innodb_force_recovery")?;
            let remedy =
                "dump all tables, create the data directory again without the setting, and load them";
            found_if(level > 0.0, format!("innodb_force_recovery is {level}"), remedy)
        },
    },
    Rule {
        name: "engine",
        severity: Danger,
        why: "These tables have no transactions. A statement that fails half way stays half done, and a crash may damage the table",
        source: "MySQL Reference Manual, The InnoDB Storage Engine: Introduction to InnoDB",
        find: |subject| {
            let is_bad = |name: &str| NOT_TRANSACTIONAL.iter().any(|bad| bad.eq_ignore_ascii_case(name));
            let tables = subject.rows("engines").iter().filter(|row| is_bad(text(row, "engine")));
            let tables: Vec<String> = tables
                .map(|row| format!("{} in {}", figure(row, "tables").unwrap_or(0.0), text(row, "engine")))
                .collect();
            let default = subject.setting("default_storage_engine").unwrap_or("InnoDB");
            match (is_bad(default), tables.is_empty()) {
                (true, _) => found(
                    format!("new tables use the engine {default}"),
                    set("default_storage_engine", "InnoDB")
                        + ". Then ALTER TABLE … ENGINE = InnoDB for existing tables",
                ),
                (false, false) => found(
                    format!("tables without transactions: {}", format::listed(&tables)),
                    "ALTER TABLE … ENGINE = InnoDB for each",
                ),
                (false, true) => None,
            }
        },
    },
    Rule {
        name: "no-binary-log",
        severity: Note,
        why: "Without the binary log, you cannot recover to a time after the last backup, and cannot have a replica",
        source: "MySQL Reference Manual, Backup and Recovery: Point-in-Time (Incremental) Recovery",
        find: |subject| {
            let remedy = format!(
                "{}, and sync_binlog = 1. You do not need it for data that you can load again",
                set_and_restart("log_bin", "binlog")
            );
            found_if(subject.is_off("log_bin"), "the binary log is off", remedy)
        },
    },
    Rule {
        name: "binlog-format",
        severity: Note,
        why: "A nondeterministic statement may change different rows on a replica",
        source: "MySQL Reference Manual, Replication Formats: Advantages and Disadvantages of Statement-Based and Row-Based Replication",
        find: |subject| {
            let is_wrong = subject.is_on("log_bin") && subject.is("binlog_format", "STATEMENT");
            found_if(is_wrong, "the binary log has statements instead of rows", set("binlog_format", "ROW"))
        },
    },
    Rule {
        name: "binlog-expiry",
        severity: Note,
        why: "The server keeps binary logs until the disk is full, and then it stops",
        source: "MySQL Reference Manual, Binary Logging Options and Variables: binlog_expire_logs_seconds",
        find: |subject| {
            let is_never = |name: &str| subject.number(name).is_none_or(|value| value == 0.0);
            let is_told = ["binlog_expire_logs_seconds", "expire_logs_days"]
                .iter()
                .any(|name| subject.number(name).is_some());
            let never = is_told && is_never("binlog_expire_logs_seconds") && is_never("expire_logs_days");
            found_if(
                subject.is_on("log_bin") && never,
                "binary logs never expire",
                set("binlog_expire_logs_seconds", "604800"),
            )
        },
    },
];

pub(super) static MEMORY: &[Rule] = &[
    Rule {
        name: "buffer-pool",
        severity: Costs,
        why: "Pages that do not fit are read again from the disk. If sessions have no memory left, the kernel swaps",
        source: "MySQL Reference Manual, Configuring InnoDB Buffer Pool Size",
        find: |subject| {
            let (memory, pool) = (subject.memory()?, subject.bytes("innodb_buffer_pool_size")?);
            let share = pool / memory;
            let is_wrong = memory >= GIB && !(POOL_LEAST..=POOL_MOST).contains(&share);
            let what = format!(
                "innodb_buffer_pool_size is {} ({} of {} of memory)",
                told(pool),
                format::per_cent(share),
                told(memory)
            );
            let remedy = format!(
                "{}, or less if other programs need memory",
                set_and_restart("innodb_buffer_pool_size", &size(memory * 0.7))
            );
            found_if(is_wrong, what, remedy)
        },
    },
    Rule {
        name: "connections-memory",
        severity: Costs,
        why: "If all sessions sort and join at once, they need more memory than the machine has. The kernel then swaps, or kills the server",
        source: "MySQL Reference Manual, Optimizing the MySQL Server: How MySQL Uses Memory",
        find: |subject| {
            let (memory, pool) = (subject.memory()?, subject.bytes("innodb_buffer_pool_size")?);
            let most = subject.number("max_connections")?;
            let each: f64 = OF_A_SESSION.iter().filter_map(|name| subject.bytes(name)).sum();
            let wanted = pool + most * each;
            let used = subject.counter("Max_used_connections").unwrap_or(0.0);
            found_if(
                wanted > memory,
                format!(
                    "{} connections with {} of buffers each plus the buffer pool need {}, with {} of memory",
                    format::grouped(most as u64),
                    told(each),
                    told(wanted),
                    told(memory)
                ),
                format!(
                    "reduce sort_buffer_size and join_buffer_size, and set max_connections closer to the peak so far ({})",
                    format::grouped(used as u64)
                ),
            )
        },
    },
    Rule {
        name: "pool-waits",
        severity: Costs,
        why: "The buffer pool had no free page, so sessions waited until the server wrote a page out",
        source: "MySQL Reference Manual, Server Status Variables: Innodb_buffer_pool_wait_free",
        find: |subject| {
            let waits = subject.counter("Innodb_buffer_pool_wait_free")?;
            let what = format!("sessions waited {} times for a free page", format::grouped(waits as u64));
            found_if(
                waits > 0.0,
                what,
                "increase innodb_buffer_pool_size, and set innodb_io_capacity to the write rate of the device",
            )
        },
    },
    Rule {
        name: "large-pages",
        severity: Note,
        why: "Without huge pages, a pool of this size needs more page table entries than the CPU can cache",
        source: "MySQL Reference Manual, Optimizing Memory Use: Enabling Large Page Support",
        find: |subject| {
            let pool = subject.bytes("innodb_buffer_pool_size")?;
            let is_wrong = subject.is_off("large_pages") && pool >= 8.0 * GIB;
            let what = format!("large_pages is off, with a buffer pool of {}", told(pool));
            let pages = (pool * 1.1 / (2.0 * MIB)).ceil() as u64;
            let remedy =
                format!("sysctl -w vm.nr_hugepages={pages}. Then {}", set_and_restart("large_pages", "ON"));
            found_if(is_wrong, what, remedy)
        },
    },
    Rule {
        name: "numa-interleave",
        severity: Costs,
        why: "The pool fills the memory of one NUMA node, and the kernel reclaims memory there although other nodes have free memory",
        source: "MySQL Reference Manual, InnoDB Startup Options and System Variables: innodb_numa_interleave",
        find: |subject| {
            let nodes = *subject.tuning()?.numa_nodes.known()?;
            let is_wrong = subject.server?.here && nodes > 1 && subject.is_off("innodb_numa_interleave");
            let what = format!("innodb_numa_interleave is off, with {nodes} NUMA nodes");
            found_if(is_wrong, what, set_and_restart("innodb_numa_interleave", "ON"))
        },
    },
    Rule {
        name: "query-cache",
        severity: Costs,
        why: "Every statement takes one global lock to search the cache, and every write takes it to invalidate entries",
        source: "MariaDB documentation, Query Cache",
        find: |subject| {
            let is_on = !subject.is_off("query_cache_type") && subject.setting("query_cache_type").is_some();
            let is_wrong = is_on && subject.bytes("query_cache_size")? > 0.0;
            let remedy = format!("{}; {}", set("query_cache_type", "OFF"), set("query_cache_size", "0"));
            found_if(is_wrong, "the query cache is on", remedy)
        },
    },
];

pub(super) static IO: &[Rule] = &[
    Rule {
        name: "log-placement",
        severity: Note,
        why: "Each commit waits for the logs, and the logs wait behind pages that are written to the same device",
        source: "MySQL Reference Manual, Optimizing InnoDB Disk I/O",
        find: |subject| {
            let shared = [("log", "redo log"), ("binary log", "binary log")];
            let shared: Vec<(&str, &str)> = shared
                .into_iter()
                .filter_map(|(what, words)| Some((words, subject.shared_with_data(what)?)))
                .collect();
            let (_, device) = shared.first()?;
            let words: Vec<&str> = shared.iter().map(|(words, _)| *words).collect();
            found(
                format!("data and {} are on one device, {device}", words.join(" and ")),
                "stop the server, and move the logs: set innodb_log_group_home_dir for the redo log, and log_bin with a path for the binary log",
            )
        },
    },
    Rule {
        name: "flush-method",
        severity: Costs,
        why: "Pages are in the buffer pool and also in the kernel's cache, and the kernel copies them between both",
        source: "MySQL Reference Manual, Optimizing InnoDB Disk I/O: innodb_flush_method",
        find: |subject| {
            let buffers = subject.setting("innodb_data_file_buffering");
            let method = subject.setting("innodb_flush_method").unwrap_or_default();
            match buffers {
                // MariaDB 11 and later go by this one.
                Some(_) => found_if(
                    subject.is_on("innodb_data_file_buffering"),
                    "innodb_data_file_buffering is on",
                    set("innodb_data_file_buffering", "OFF"),
                ),
                None => found_if(
                    ["fsync", "O_DSYNC"].iter().any(|buffered| method.eq_ignore_ascii_case(buffered)),
                    format!("innodb_flush_method is {method}"),
                    set_and_restart("innodb_flush_method", "O_DIRECT"),
                ),
            }
        },
    },
    Rule {
        name: "redo-size",
        severity: Costs,
        why: "When the redo log is nearly full, the server writes pages out early, before later changes to the same pages",
        source: "MySQL Reference Manual, Optimizing InnoDB Redo Logging",
        find: |subject| {
            let (redo, pool) = (redo_bytes(subject)?, subject.bytes("innodb_buffer_pool_size")?);
            let is_wrong = pool >= 512.0 * MIB && redo < pool / 8.0;
            let name = match subject.setting("innodb_redo_log_capacity") {
                Some(_) => "innodb_redo_log_capacity",
                None => "innodb_log_file_size",
            };
            let what = format!("the redo log is {}, and the buffer pool {}", told(redo), told(pool));
            found_if(is_wrong, what, set_and_restart(name, &size((pool / 4.0).min(16.0 * GIB))))
        },
    },
    Rule {
        name: "log-waits",
        severity: Costs,
        why: "The buffer of the redo log was too small, so sessions waited until the server wrote it out",
        source: "MySQL Reference Manual, Server Status Variables: Innodb_log_waits",
        find: |subject| {
            let waits = subject.counter("Innodb_log_waits")?;
            let bytes = subject.bytes("innodb_log_buffer_size")?;
            let what = format!(
                "sessions waited {} times for the log buffer of {}",
                format::grouped(waits as u64),
                told(bytes)
            );
            found_if(
                waits > 0.0,
                what,
                set_and_restart("innodb_log_buffer_size", &size((bytes * 4.0).max(64.0 * MIB))),
            )
        },
    },
    Rule {
        name: "log-buffer",
        severity: Costs,
        why: "A transaction with a few large rows fills the buffer, so the server writes the log before the commit",
        source: "MySQL Reference Manual, InnoDB Startup Options and System Variables: innodb_log_buffer_size",
        find: |subject| {
            let bytes = subject.bytes("innodb_log_buffer_size")?;
            let what = format!("innodb_log_buffer_size is {}", told(bytes));
            found_if(bytes < 8.0 * MIB, what, set_and_restart("innodb_log_buffer_size", "64M"))
        },
    },
    Rule {
        name: "io-capacity",
        severity: Costs,
        why: "In the background, the server writes pages only as fast as a spinning disk could. In the end, sessions must write pages themselves",
        source: "MySQL Reference Manual, Configuring InnoDB I/O Capacity",
        find: |subject| {
            let capacity = subject.number("innodb_io_capacity")?;
            let what = format!("innodb_io_capacity is {capacity}, and the data is on a solid-state device");
            let remedy =
                format!("{}, or the write rate that you measured", set("innodb_io_capacity", "2000"));
            found_if(capacity <= 200.0 && subject.is_on_ssd(), what, remedy)
        },
    },
    Rule {
        name: "flush-neighbors",
        severity: Costs,
        why: "The server also writes the neighbors of each written page. This saves seeks on a spinning disk and wastes writes on flash",
        source: "MySQL Reference Manual, Configuring Buffer Pool Flushing: innodb_flush_neighbors",
        find: |subject| {
            let neighbors = subject.number("innodb_flush_neighbors")?;
            let what =
                format!("innodb_flush_neighbors is {neighbors}, and the data is on a solid-state device");
            found_if(neighbors > 0.0 && subject.is_on_ssd(), what, set("innodb_flush_neighbors", "0"))
        },
    },
    Rule {
        name: "native-aio",
        severity: Costs,
        why: "Each background I/O blocks a thread, so few are in progress at once",
        source: "MySQL Reference Manual, Configuring InnoDB: Using Asynchronous I/O on Linux",
        find: |subject| {
            let remedy = "write innodb_use_native_aio = ON under [mysqld] in the option file, then restart the server. If the server \
            disables it again, its log has the reason: fs.aio-max-nr is too small, or io_uring is forbidden";
            found_if(subject.is_off("innodb_use_native_aio"), "innodb_use_native_aio is off", remedy)
        },
    },
    Rule {
        name: "file-per-table",
        severity: Note,
        why: "The space of dropped tables stays in one file that never shrinks",
        source: "MySQL Reference Manual, InnoDB On-Disk Structures: File-Per-Table Tablespaces",
        find: |subject| {
            let remedy = format!(
                "{}. Then ALTER TABLE … FORCE for existing tables",
                set("innodb_file_per_table", "ON")
            );
            found_if(subject.is_off("innodb_file_per_table"), "innodb_file_per_table is off", remedy)
        },
    },
    Rule {
        name: "general-log",
        severity: Costs,
        why: "The server writes each statement of each session to one file",
        source: "MySQL Reference Manual, MySQL Server Logs: The General Query Log",
        find: |subject| {
            found_if(subject.is_on("general_log"), "the general log is on", set("general_log", "OFF"))
        },
    },
    Rule {
        name: "stats-on-metadata",
        severity: Costs,
        why: "Listing tables makes the server recompute the statistics of all tables",
        source: "MySQL Reference Manual, Configuring Optimizer Statistics for InnoDB: innodb_stats_on_metadata",
        find: |subject| {
            let is_on = subject.is_on("innodb_stats_on_metadata");
            found_if(is_on, "innodb_stats_on_metadata is on", set("innodb_stats_on_metadata", "OFF"))
        },
    },
    Rule {
        name: "name-resolve",
        severity: Note,
        why: "A new connection waits for a name server, and is refused without an answer",
        source: "MySQL Reference Manual, DNS Lookups and the Host Cache",
        find: |subject| {
            let remedy = format!(
                "{}. Accounts then use addresses instead of names",
                set_and_restart("skip_name_resolve", "ON")
            );
            found_if(
                subject.is_off("skip_name_resolve"),
                "the server looks up the host names of clients",
                remedy,
            )
        },
    },
];
