//! Rules of PostgreSQL. Settings are as `pg_settings` tells them, with its units.

use super::Severity::{Costs, Danger, Note};
use super::rule::{Found, Rule, Subject, figure, found, found_if, text};
use crate::format;
use record::FactRow;

const GIB: f64 = (1u64 << 30) as f64;
const MIB: f64 = (1u64 << 20) as f64;
/// Shares of memory between which the documentation sees buffers.
const BUFFERS_LEAST: f64 = 0.10;
const BUFFERS_MOST: f64 = 0.40;
/// What a planner should at least believe of caches, as a share of memory.
const CACHE_LEAST: f64 = 0.25;
/// Buffers from which on page tables of small pages are felt.
const LARGE_BYTES: f64 = 4.0 * GIB;
/// Transactions without a vacuum after which the server goes to extremes (`vacuum_failsafe_age`); at 2^31 it stops.
const AGE_MOST: f64 = 1.6e9;

/// What a setting is to become, with what makes it so.
fn set(name: &str, value: &str) -> String {
    format!("ALTER SYSTEM SET {name} = {value}; SELECT pg_reload_conf()")
}

/// The same of a setting that is read when the server starts.
fn set_and_restart(name: &str, value: &str) -> String {
    format!("ALTER SYSTEM SET {name} = {value}, then restart the server")
}

/// A size as a setting takes it, in whole MB.
fn size(bytes: f64) -> String {
    format!("'{}MB'", (bytes / MIB).max(1.0) as u64)
}

fn told(bytes: f64) -> String {
    format::bytes(bytes as u64)
}

/// A setting that must not be off.
fn off(subject: &Subject<'_>, name: &str) -> Option<Found> {
    found_if(subject.is_off(name), format!("{name} is off"), set(name, "on"))
}

/// Settings of a list that are as they should not be.
fn wrong<'a>(names: &[&'a str], is_wrong: impl Fn(&str) -> bool) -> Vec<&'a str> {
    names.iter().copied().filter(|name| is_wrong(name)).collect()
}

fn reset(names: &[&str]) -> String {
    let each = names.iter().map(|name| format!("ALTER SYSTEM RESET {name}; "));
    each.collect::<String>() + "SELECT pg_reload_conf()"
}

/// The role and the database that a setting of commits is of, by the words for them.
fn commits_of(row: &FactRow, [role, database, between]: [&str; 3]) -> String {
    let named = [(role, "role"), (database, "database")]
        .into_iter()
        .filter(|(_, column)| !text(row, column).is_empty());
    named.map(|(kind, column)| format!("{kind} {}", text(row, column))).collect::<Vec<_>>().join(between)
}

pub(super) static SAFETY: &[Rule] = &[
    Rule {
        name: "fsync",
        severity: Danger,
        why: "After a power loss or a system crash, the database may be damaged beyond repair",
        source: "PostgreSQL documentation, Write Ahead Log: fsync",
        find: |subject| off(subject, "fsync"),
    },
    Rule {
        name: "full-page-writes",
        severity: Danger,
        why: "The log cannot repair a page that a power loss tore",
        source: "PostgreSQL documentation, Write Ahead Log: full_page_writes",
        find: |subject| off(subject, "full_page_writes"),
    },
    Rule {
        name: "synchronous-commit",
        severity: Danger,
        why: "A crash can lose the most recent transactions, although clients saw them as committed",
        source: "PostgreSQL documentation, Asynchronous Commit",
        // That of a role or a database has a rule of its own.
        find: |subject| {
            off(subject, "synchronous_commit").filter(|_| !subject.is_of_session("synchronous_commit"))
        },
    },
    Rule {
        name: "synchronous-commit-of-role",
        severity: Danger,
        why: "A crash can lose the most recent transactions of these sessions, although clients saw them as committed",
        source: "PostgreSQL documentation, Asynchronous Commit; ALTER ROLE: SET configuration_parameter",
        find: |subject| {
            let is_off = |row: &&FactRow| ["off", "0", "no", "false"].contains(&text(row, "value"));
            let off: Vec<&FactRow> = subject.rows("commits").iter().filter(is_off).collect();
            let of: Vec<String> =
                off.iter().map(|row| commits_of(row, ["role", "database", " in "])).collect();
            let first = commits_of(off.first()?, ["ROLE", "DATABASE", " IN "]);
            found(
                format!("synchronous_commit is off for {}", format::listed(&of)),
                format!("ALTER {first} RESET synchronous_commit, for each of them"),
            )
        },
    },
    Rule {
        name: "unlogged-tables",
        severity: Danger,
        why: "Unlogged tables are not in the log. A crash empties them, and a standby does not have their rows",
        source: "PostgreSQL documentation, CREATE TABLE: UNLOGGED",
        find: |subject| {
            let names: Vec<String> =
                subject.rows("unlogged").iter().map(|row| text(row, "table").to_owned()).collect();
            let first = names.first()?;
            found(
                format!("unlogged tables: {}", format::listed(&names)),
                format!("ALTER TABLE {first} SET LOGGED, for each that must survive a crash"),
            )
        },
    },
    Rule {
        name: "data-sync-retry",
        severity: Danger,
        why: "After a failed flush the kernel may have dropped the pages. The next flush succeeds although the data is gone",
        source: "PostgreSQL documentation, Error Handling: data_sync_retry",
        find: |subject| {
            let remedy = set_and_restart("data_sync_retry", "off");
            found_if(subject.is_on("data_sync_retry"), "data_sync_retry is on", remedy)
        },
    },
    Rule {
        name: "developer-options",
        severity: Danger,
        why: "The server reads damaged pages as valid or as empty, and writes them back",
        source: "PostgreSQL documentation, Developer Options",
        find: |subject| {
            let names = [
                "zero_damaged_pages",
                "ignore_checksum_failure",
                "ignore_system_indexes",
                "ignore_invalid_pages",
                "allow_system_table_mods",
            ];
            let on = wrong(&names, |name| subject.is_on(name));
            found_if(!on.is_empty(), format!("on: {}", on.join(", ")), reset(&on))
        },
    },
    Rule {
        name: "wraparound",
        severity: Danger,
        why: "After two billion transactions without a vacuum of all rows, the server refuses writes",
        source: "PostgreSQL documentation, Routine Vacuuming: Preventing Transaction ID Wraparound Failures",
        find: |subject| {
            let oldest = subject.row("ages")?;
            let age = figure(oldest, "transactions")?;
            let database = text(oldest, "database");
            found_if(
                age > AGE_MOST,
                format!("{database} has rows that are {} transactions old", format::grouped(age as u64)),
                format!(
                    "run VACUUM FREEZE in {database} as a superuser. End old transactions, prepared transactions and slots that block it"
                ),
            )
        },
    },
    Rule {
        name: "slots",
        severity: Danger,
        why: "A slot without a client keeps the log until the disk is full, and then the server stops",
        source: "PostgreSQL documentation, Replication: max_slot_wal_keep_size",
        find: |subject| {
            let is_unlimited = subject.number("max_slot_wal_keep_size").is_none_or(|most| most < 0.0);
            let idle = subject.rows("slots").iter().filter(|row| text(row, "active") == "0");
            let names: Vec<String> = idle.map(|row| text(row, "slot").to_owned()).collect();
            let drop = names.first().map_or("", String::as_str);
            found_if(
                is_unlimited && !names.is_empty(),
                format!("slots without a client keep the log without limit: {}", format::listed(&names)),
                format!(
                    "SELECT pg_drop_replication_slot('{drop}') for each unused slot. Then {}",
                    set("max_slot_wal_keep_size", "'64GB'")
                ),
            )
        },
    },
    Rule {
        name: "archiver",
        severity: Danger,
        why: "The backup lacks the unarchived log, and the server keeps that log until the disk is full",
        source: "PostgreSQL documentation, Continuous Archiving and Point-in-Time Recovery: Setting Up WAL Archiving",
        find: |subject| {
            let row = subject.row("archiver")?;
            let failed = figure(row, "failed")?;
            found_if(
                text(row, "is_failing") == "1",
                format!(
                    "the last archive command failed ({} failures in total)",
                    format::grouped(failed as u64)
                ),
                "find the error of archive_command in the server log, and fix it",
            )
        },
    },
    Rule {
        name: "checksums",
        severity: Note,
        why: "If the storage changes a page, the server returns the page as valid data. The damage is found only when all backups contain it",
        source: "PostgreSQL documentation, Reliability and the Write-Ahead Log: Data Checksums",
        find: |subject| {
            let remedy = "stop the server, run pg_checksums -e -D DIRECTORY, and start it again. This reads and writes every page once";
            found_if(subject.is_off("data_checksums"), "pages have no checksums", remedy)
        },
    },
];

pub(super) static MEMORY: &[Rule] = &[
    Rule {
        name: "shared-buffers",
        severity: Costs,
        why: "Pages that do not fit are read again from the kernel or the disk. Above 40% of memory, the same pages are in both caches",
        source: "PostgreSQL documentation, Resource Consumption: shared_buffers",
        find: |subject| {
            let (memory, buffers) = (subject.memory()?, subject.bytes("shared_buffers")?);
            let share = buffers / memory;
            let is_wrong = memory >= GIB && !(BUFFERS_LEAST..=BUFFERS_MOST).contains(&share);
            let what = format!(
                "shared_buffers is {} ({} of {} of memory)",
                told(buffers),
                format::per_cent(share),
                told(memory)
            );
            found_if(is_wrong, what, set_and_restart("shared_buffers", &size(memory / 4.0)))
        },
    },
    Rule {
        name: "effective-cache-size",
        severity: Costs,
        why: "The planner assumes a small cache, and scans tables although an index would be faster",
        source: "PostgreSQL documentation, Query Planning: effective_cache_size",
        find: |subject| {
            let (memory, cache) = (subject.memory()?, subject.bytes("effective_cache_size")?);
            let what = format!("effective_cache_size is {}, with {} of memory", told(cache), told(memory));
            found_if(cache < memory * CACHE_LEAST, what, set("effective_cache_size", &size(memory / 2.0)))
        },
    },
    Rule {
        name: "connections-memory",
        severity: Costs,
        why: "If all sessions sort at once, they need more memory than the machine has. The kernel then swaps, or kills one session, \
        and all others end with it",
        source: "PostgreSQL documentation, Resource Consumption: work_mem",
        find: |subject| {
            let (memory, buffers) = (subject.memory()?, subject.bytes("shared_buffers")?);
            let (most, each) = (subject.number("max_connections")?, subject.bytes("work_mem")?);
            let wanted = buffers + most * each;
            let fits = size((memory - buffers).max(0.0) / 2.0 / most.max(1.0));
            found_if(
                wanted > memory,
                format!(
                    "{} connections with {} of work_mem each plus shared_buffers need {}, with {} of memory",
                    format::grouped(most as u64),
                    told(each),
                    told(wanted),
                    told(memory)
                ),
                format!(
                    "{}, and a larger value only in sessions that need it. Or use a pooler with fewer connections",
                    set("work_mem", &fits)
                ),
            )
        },
    },
    Rule {
        name: "huge-pages",
        severity: Costs,
        why: "Each session has its own page tables for all buffers, in small pages. They cost memory and time",
        source: "PostgreSQL documentation, Managing Kernel Resources: Linux Huge Pages",
        find: |subject| {
            let buffers = subject.bytes("shared_buffers")?;
            let tuning = subject.tuning();
            let page = tuning.and_then(|tuning| tuning.huge_page_bytes.known().copied()).unwrap_or(2 << 20);
            let pages = tuning.and_then(|tuning| tuning.huge_pages.known().copied());
            let server = subject.server?;
            let lacks = server.here && pages.is_some_and(|pages| (pages * page) as f64 <= buffers);
            let wanted = (buffers * 1.1 / page as f64).ceil() as u64;
            let what = match subject.is("huge_pages", "off") {
                true => format!("huge_pages is off, with {} of shared_buffers", told(buffers)),
                false => format!(
                    "the kernel has too few reserved huge pages for {} of shared_buffers",
                    told(buffers)
                ),
            };
            let is_wrong =
                subject.is("huge_pages", "off") || (lacks && !subject.is("huge_pages_status", "on"));
            let remedy =
                format!("sysctl -w vm.nr_hugepages={wanted}. Then {}", set_and_restart("huge_pages", "try"));
            found_if(is_wrong && buffers >= LARGE_BYTES, what, remedy)
        },
    },
    Rule {
        name: "maintenance-memory",
        severity: Note,
        why: "VACUUM reads all indexes several times, and index builds use many small pieces",
        source: "PostgreSQL documentation, Resource Consumption: maintenance_work_mem",
        find: |subject| {
            let bytes = subject.bytes("maintenance_work_mem")?;
            let what = format!("maintenance_work_mem is {}", told(bytes));
            found_if(bytes < 64.0 * MIB, what, set("maintenance_work_mem", "'256MB'"))
        },
    },
];

pub(super) static LOG: &[Rule] = &[
    Rule {
        name: "wal-placement",
        severity: Note,
        why: "Each commit waits for the log, and the log waits behind pages that a checkpoint writes to the same device",
        source: "PostgreSQL documentation, WAL Internals",
        find: |subject| {
            let device = subject.shared_with_data("log")?;
            let remedy = "stop the server, move pg_wal to another device and link to it. Or create the cluster with initdb -X DIRECTORY";
            found(format!("data and log are on one device, {device}"), remedy)
        },
    },
    Rule {
        name: "checkpoints-requested",
        severity: Costs,
        why: "The log fills before the timeout. The server writes pages more often than necessary, and logs each page as a whole again",
        source: "PostgreSQL documentation, WAL Configuration",
        find: |subject| {
            let row = subject.row("checkpoints")?;
            let (timed, requested) = (figure(row, "timed")?, figure(row, "requested")?);
            let most = subject.bytes("max_wal_size")?;
            found_if(
                requested >= 10.0 && requested > timed,
                format!(
                    "{} checkpoints were requested early and {} were on time, with {} of max_wal_size",
                    format::grouped(requested as u64),
                    format::grouped(timed as u64),
                    told(most)
                ),
                set("max_wal_size", &size((most * 4.0).max(4.0 * GIB))),
            )
        },
    },
    Rule {
        name: "max-wal-size",
        severity: Costs,
        why: "A checkpoint starts each time that this much log is written, before its timeout",
        source: "PostgreSQL documentation, Write Ahead Log: max_wal_size",
        find: |subject| {
            let bytes = subject.bytes("max_wal_size")?;
            found_if(bytes < GIB, format!("max_wal_size is {}", told(bytes)), set("max_wal_size", "'4GB'"))
        },
    },
    Rule {
        name: "checkpoint-timeout",
        severity: Costs,
        why: "After each checkpoint, the first change of a page logs the whole page again",
        source: "PostgreSQL documentation, WAL Configuration",
        find: |subject| {
            let seconds = subject.number("checkpoint_timeout")?;
            let what = format!("checkpoint_timeout is {seconds} s");
            found_if(seconds < 300.0, what, set("checkpoint_timeout", "'15min'"))
        },
    },
    Rule {
        name: "checkpoint-spread",
        severity: Costs,
        why: "Checkpoints write their pages in a short burst, and sessions wait behind them",
        source: "PostgreSQL documentation, Write Ahead Log: checkpoint_completion_target",
        find: |subject| {
            let target = subject.number("checkpoint_completion_target")?;
            let what = format!("checkpoint_completion_target is {target}");
            found_if(target < 0.7, what, set("checkpoint_completion_target", "0.9"))
        },
    },
    Rule {
        name: "wal-buffers",
        severity: Costs,
        why: "Sessions that commit at the same time wait for space in the log buffer",
        source: "PostgreSQL documentation, Write Ahead Log: wal_buffers",
        find: |subject| {
            let bytes = subject.bytes("wal_buffers")?;
            let is_small = bytes < MIB && subject.bytes("shared_buffers")? >= 32.0 * MIB;
            found_if(
                is_small,
                format!("wal_buffers is {}", told(bytes)),
                set_and_restart("wal_buffers", "-1"),
            )
        },
    },
];

/// What the planner may use, all of it on as the server comes.
const PLANNER: [&str; 10] = [
    "enable_bitmapscan",
    "enable_hashagg",
    "enable_hashjoin",
    "enable_indexonlyscan",
    "enable_indexscan",
    "enable_material",
    "enable_mergejoin",
    "enable_nestloop",
    "enable_seqscan",
    "enable_sort",
];

pub(super) static WORK: &[Rule] = &[
    Rule {
        name: "autovacuum",
        severity: Costs,
        why: "Tables and indexes fill with dead rows, and plans use old statistics. In the end an unstoppable vacuum runs",
        source: "PostgreSQL documentation, Routine Vacuuming: The Autovacuum Daemon",
        find: |subject| off(subject, "autovacuum"),
    },
    Rule {
        name: "autovacuum-delay",
        severity: Costs,
        why: "A vacuum with such long pauses falls behind a load that updates and deletes",
        source: "PostgreSQL documentation, Automatic Vacuuming: autovacuum_vacuum_cost_delay",
        find: |subject| {
            let delay_ms = subject.number("autovacuum_vacuum_cost_delay")?;
            let what = format!("autovacuum_vacuum_cost_delay is {delay_ms} ms");
            found_if(delay_ms >= 10.0, what, set("autovacuum_vacuum_cost_delay", "'2ms'"))
        },
    },
    Rule {
        name: "random-page-cost",
        severity: Costs,
        why: "The planner counts a random read as four sequential reads, as on a spinning disk, and scans although an index would be faster",
        source: "PostgreSQL documentation, Query Planning: random_page_cost",
        find: |subject| {
            let cost = subject.number("random_page_cost")?;
            let what = format!("random_page_cost is {cost}, and the data is on a solid-state device");
            found_if(cost >= 3.0 && subject.is_on_ssd(), what, set("random_page_cost", "1.1"))
        },
    },
    Rule {
        name: "io-concurrency",
        severity: Note,
        why: "Bitmap scans issue one read at a time, and a solid-state device could serve many",
        source: "PostgreSQL documentation, Resource Consumption: effective_io_concurrency",
        find: |subject| {
            let reads = subject.number("effective_io_concurrency")?;
            let what =
                format!("effective_io_concurrency is {reads}, and the data is on a solid-state device");
            found_if(reads <= 1.0 && subject.is_on_ssd(), what, set("effective_io_concurrency", "200"))
        },
    },
    Rule {
        name: "planner-methods",
        severity: Costs,
        why: "A plan method that was disabled to fix one plan is disabled for all statements",
        source: "PostgreSQL documentation, Query Planning: Planner Method Configuration",
        find: |subject| {
            let off = wrong(&PLANNER, |name| subject.is_off(name));
            found_if(!off.is_empty(), format!("off: {}", off.join(", ")), reset(&off))
        },
    },
    Rule {
        name: "statistics",
        severity: Costs,
        why: "Without counts, autovacuum does not know which tables need a vacuum, and does nothing",
        source: "PostgreSQL documentation, Run-time Statistics: track_counts",
        find: |subject| off(subject, "track_counts"),
    },
    Rule {
        name: "background-writer",
        severity: Costs,
        why: "Sessions that need a buffer must first write out its old page",
        source: "PostgreSQL documentation, Resource Consumption: bgwriter_lru_maxpages",
        find: |subject| {
            let is_off = subject.number("bgwriter_lru_maxpages")? == 0.0;
            found_if(is_off, "bgwriter_lru_maxpages is 0", reset(&["bgwriter_lru_maxpages"]))
        },
    },
    Rule {
        name: "statement-log",
        severity: Costs,
        why: "The server writes each statement to its log, with time and text",
        source: "PostgreSQL documentation, Error Reporting and Logging: When to Log",
        find: |subject| {
            let all = subject.is("log_statement", "all")
                || subject.number("log_min_duration_statement") == Some(0.0);
            let remedy =
                format!("{}; {}", set("log_min_duration_statement", "'1s'"), reset(&["log_statement"]));
            found_if(all, "all statements are logged", remedy)
        },
    },
];
