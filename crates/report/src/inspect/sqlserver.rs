//! Rules of SQL Server, over rows as its catalog views and dynamic management views are documented to give them.
//!
//! `database::sqlserver::inspect` has the queries. The rules are tested with rows of that form, and not on a SQL Server.

use record::FactRow;

use super::Severity::{Costs, Danger, Note};
use super::rule::{Rule, Subject, figure, found, found_if, text};
use crate::format;

const MIB: f64 = (1u64 << 20) as f64;
/// What `max server memory (MB)` is as the server comes: no limit.
const UNLIMITED_MB: f64 = 2_147_483_647.0;
/// The largest share of memory that leaves the system something.
const MEMORY_MOST: f64 = 0.90;
/// Databases that the server keeps for itself.
const SYSTEM: [&str; 4] = ["master", "model", "msdb", "tempdb"];
/// Hours after which a full backup, and a backup of the log, is overdue.
const FULL_BACKUP_H: f64 = 7.0 * 24.0;
const LOG_BACKUP_H: f64 = 24.0;
/// Growth that is too small for a file to grow by, in bytes.
const GROWTH_LEAST: f64 = 16.0 * MIB;
/// The power plan that keeps processors at full speed, and another that does, by their numbers in Windows.
const FULL_SPEED: [&str; 2] =
    ["8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c", "e9a42b02-d5df-448d-aa00-03f14749eb61"];

/// Statements that set an option of the server.
fn configure(name: &str, value: &str) -> String {
    format!(
        "EXEC sp_configure 'show advanced options', 1; RECONFIGURE; EXEC sp_configure '{name}', {value}; RECONFIGURE"
    )
}

/// Databases of users that a rule is about, by their names.
fn databases(subject: &Subject<'_>, is_wrong: impl Fn(&FactRow) -> bool) -> Vec<String> {
    let rows = subject.rows("databases").iter();
    let rows = rows.filter(|row| !SYSTEM.contains(&text(row, "database")) && is_wrong(row));
    rows.map(|row| text(row, "database").to_owned()).collect()
}

/// A statement for each of some databases.
fn alter(databases: &[String], to: &str) -> String {
    let name = databases.first().map_or("", String::as_str).replace(']', "]]");
    let of_each = if databases.len() > 1 { ", for each of them" } else { "" };
    format!("ALTER DATABASE [{name}] SET {to}{of_each}")
}

/// Files of a kind: `ROWS` or `LOG`.
fn files<'a>(subject: &Subject<'a>, kind: &'static str) -> impl Iterator<Item = &'a FactRow> {
    subject.rows("files").iter().filter(move |row| text(row, "kind") == kind)
}

/// Whether a backup is older than this, or was never made; not so where the server does not tell.
fn is_over(row: &FactRow, column: &str, hours_most: f64) -> bool {
    row.contains_key(column) && figure(row, column).is_none_or(|hours| hours > hours_most)
}

fn is_tempdb(row: &FactRow) -> bool {
    text(row, "database") == "tempdb"
}

/// `database: file`.
fn file_name(row: &FactRow) -> String {
    format!("{}: {}", text(row, "database"), text(row, "file"))
}

/// Each once, in order.
fn once(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

pub(super) static SAFETY: &[Rule] = &[
    Rule {
        name: "no-backup",
        severity: Danger,
        why: "Data that is lost with the disk cannot be restored",
        source: "SQL Server documentation, Back up and restore of SQL Server databases",
        find: |subject| {
            let is_overdue = |row: &FactRow| is_over(row, "full_backup_hours", FULL_BACKUP_H);
            let names = databases(subject, is_overdue);
            let remedy =
                "BACKUP DATABASE … TO DISK = … WITH CHECKSUM at least once per week, and test the restore";
            found_if(
                !names.is_empty(),
                format!("no full backup within a week: {}", format::listed(&names)),
                remedy,
            )
        },
    },
    Rule {
        name: "no-log-backup",
        severity: Danger,
        why: "In the full recovery model, only a log backup frees log space. The log grows until its volume is full, and then the \
        database refuses writes",
        source: "SQL Server documentation, Recovery models (SQL Server)",
        find: |subject| {
            let names = databases(subject, |row| {
                let keeps_log = ["FULL", "BULK_LOGGED"].contains(&text(row, "recovery"));
                keeps_log && is_over(row, "log_backup_hours", LOG_BACKUP_H)
            });
            let remedy = format!(
                "BACKUP LOG … TO DISK = … every few minutes. If the last full backup is enough, {}",
                alter(&names, "RECOVERY SIMPLE")
            );
            let what =
                format!("full recovery model without a log backup within a day: {}", format::listed(&names));
            found_if(!names.is_empty(), what, remedy)
        },
    },
    Rule {
        name: "page-verify",
        severity: Danger,
        why: "If the storage changes a page, the server returns the page as valid data. The damage is found only when all backups contain it",
        source: "SQL Server documentation, Set the PAGE_VERIFY Database Option to CHECKSUM",
        find: |subject| {
            let names = databases(subject, |row| !["CHECKSUM", ""].contains(&text(row, "page_verify")));
            let what = format!("pages have no checksums: {}", format::listed(&names));
            found_if(!names.is_empty(), what, alter(&names, "PAGE_VERIFY CHECKSUM"))
        },
    },
    Rule {
        name: "suspect-pages",
        severity: Danger,
        why: "The storage returned pages that differ from those that the server wrote",
        source: "SQL Server documentation, Manage the suspect_pages table (SQL Server)",
        find: |subject| {
            let pages = figure(subject.row("suspect")?, "pages")?;
            let what = format!("pages that the storage changed: {}", format::grouped(pages as u64));
            found_if(
                pages > 0.0,
                what,
                "run DBCC CHECKDB for each database, restore the pages, and check the storage",
            )
        },
    },
    Rule {
        name: "delayed-durability",
        severity: Danger,
        why: "A crash can lose the most recent transactions, although clients saw them as committed",
        source: "SQL Server documentation, Control transaction durability",
        find: |subject| {
            let names = databases(subject, |row| text(row, "durability") == "FORCED");
            let what = format!("commits do not wait for the log: {}", format::listed(&names));
            found_if(!names.is_empty(), what, alter(&names, "DELAYED_DURABILITY = DISABLED"))
        },
    },
    Rule {
        name: "backup-beside-data",
        severity: Danger,
        why: "The failure that destroys the data destroys its backup too",
        source: "SQL Server documentation, Backup and Data Files Location",
        find: |subject| {
            // Of a volume that is the root of all others it is not told which one holds a path.
            let volume_of = |path: &str| {
                let volumes = subject.rows("files").iter().map(|row| text(row, "volume"));
                let holding = volumes.filter(|volume| volume.len() > 1 && path.starts_with(volume));
                holding.max_by_key(|volume| volume.len())
            };
            let is_beside = |backup: &&FactRow| {
                let volume = volume_of(text(backup, "path"));
                let mut data =
                    files(subject, "ROWS").filter(|file| text(file, "database") == text(backup, "database"));
                volume.is_some() && data.any(|file| volume == Some(text(file, "volume")))
            };
            let beside = subject.rows("backups").iter().filter(is_beside);
            let names = once(beside.map(|row| text(row, "database").to_owned()).collect());
            let what = format!("backups are on the same volume as the data: {}", format::listed(&names));
            found_if(!names.is_empty(), what, "write backups to another machine, or at least to other disks")
        },
    },
];

pub(super) static RESOURCES: &[Rule] = &[
    Rule {
        name: "max-server-memory",
        severity: Costs,
        why: "The server takes all memory, and the system and other programs must swap",
        source: "SQL Server documentation, Server memory configuration options: max server memory",
        find: |subject| {
            let limit_mb = subject.number("max server memory (MB)")?;
            let row = subject.row("machine")?;
            let memory = figure(row, "memory_bytes")?;
            let of_server = figure(row, "server_bytes").unwrap_or(0.0);
            let others = (memory - figure(row, "available_bytes").unwrap_or(memory) - of_server).max(0.0);
            let limit = limit_mb * MIB;
            let what = match limit_mb >= UNLIMITED_MB {
                true => {
                    format!("max server memory has no limit, on {} of memory", format::bytes(memory as u64))
                }
                false => format!(
                    "max server memory is {}, with {} of memory, and other programs use {}",
                    format::bytes(limit as u64),
                    format::bytes(memory as u64),
                    format::bytes(others as u64)
                ),
            };
            let wanted = ((memory - others) * 0.75 / MIB).max(128.0) as u64;
            let is_wrong = limit > memory * MEMORY_MOST || limit + others > memory;
            found_if(is_wrong, what, configure("max server memory (MB)", &wanted.to_string()))
        },
    },
    Rule {
        name: "max-degree-of-parallelism",
        severity: Costs,
        why: "One query uses all CPUs, and its threads wait for each other more than they work",
        source: "SQL Server documentation, Server configuration: max degree of parallelism",
        find: |subject| {
            let most = subject.number("max degree of parallelism")?;
            let processors = figure(subject.row("machine")?, "schedulers")?;
            let what = format!("a query may use all {processors} CPUs");
            found_if(most == 0.0 && processors > 8.0, what, configure("max degree of parallelism", "8"))
        },
    },
    Rule {
        name: "cost-threshold",
        severity: Note,
        why: "Queries of a few milliseconds run on several threads, which costs more than it gains on current CPUs",
        source: "SQL Server documentation, Server configuration: cost threshold for parallelism",
        find: |subject| {
            let cost = subject.number("cost threshold for parallelism")?;
            let what = format!("the cost threshold for parallelism is {cost}");
            let remedy = format!(
                "{}, then check which plans change",
                configure("cost threshold for parallelism", "50")
            );
            found_if(cost <= 5.0, what, remedy)
        },
    },
    Rule {
        name: "priority-boost",
        severity: Costs,
        why: "Server threads run before the system threads that the server waits for. Microsoft will remove this option",
        source: "SQL Server documentation, Server configuration: priority boost",
        find: |subject| {
            let is_on = subject.number("priority boost")? != 0.0;
            found_if(
                is_on,
                "priority boost is on",
                configure("priority boost", "0") + ", then restart the server",
            )
        },
    },
    Rule {
        name: "power-plan",
        severity: Costs,
        why: "A CPU that waits for I/O runs slower, so it handles each answer of the device late",
        source: "Windows Server documentation, Slow performance on Windows Server when using the Balanced power plan",
        find: |subject| {
            let plan = text(subject.row("power")?, "plan").to_lowercase();
            let is_saving = !plan.is_empty() && !FULL_SPEED.contains(&plan.as_str());
            found_if(is_saving, "the power plan reduces CPU speed", "powercfg /setactive SCHEME_MIN")
        },
    },
    Rule {
        name: "auto-close",
        severity: Costs,
        why: "When the last session ends, the database closes and drops its cache. The next session waits until the database is open again",
        source: "SQL Server documentation, Set the AUTO_CLOSE Database Option to OFF",
        find: |subject| {
            let names = databases(subject, |row| text(row, "auto_close") == "1");
            found_if(
                !names.is_empty(),
                format!("auto close is on: {}", format::listed(&names)),
                alter(&names, "AUTO_CLOSE OFF"),
            )
        },
    },
    Rule {
        name: "auto-shrink",
        severity: Costs,
        why: "Files shrink and grow again in turns, which fragments indexes",
        source: "SQL Server documentation, Set the AUTO_SHRINK Database Option to OFF",
        find: |subject| {
            let names = databases(subject, |row| text(row, "auto_shrink") == "1");
            let what = format!("auto shrink is on: {}", format::listed(&names));
            found_if(!names.is_empty(), what, alter(&names, "AUTO_SHRINK OFF"))
        },
    },
];

pub(super) static FILES: &[Rule] = &[
    Rule {
        name: "file-growth",
        severity: Costs,
        why: "Files grow in many small steps, or in ever larger steps, and sessions wait for each step",
        source: "SQL Server documentation, Considerations for the autogrow and autoshrink settings in SQL Server",
        find: |subject| {
            let is_wrong = |row: &&FactRow| {
                let bytes = figure(row, "growth_bytes").unwrap_or(0.0);
                figure(row, "growth_per_cent").is_some_and(|share| share > 0.0)
                    || (bytes > 0.0 && bytes < GROWTH_LEAST)
            };
            let wrong: Vec<String> = subject.rows("files").iter().filter(is_wrong).map(file_name).collect();
            let what =
                format!("files grow by a percentage or by less than 16 MB: {}", format::listed(&wrong));
            let remedy = "ALTER DATABASE … MODIFY FILE (NAME = …, FILEGROWTH = 256MB), and set the size that each file will need";
            found_if(!wrong.is_empty(), what, remedy)
        },
    },
    Rule {
        name: "data-and-log",
        severity: Costs,
        why: "Each commit waits for the log, and the log waits behind pages that a checkpoint writes to the same volume",
        source: "SQL Server documentation, Place Data and Log Files on Separate Drives",
        find: |subject| {
            let shares = |log: &&FactRow| {
                let volume = text(log, "volume");
                let of_same = |data: &FactRow| text(data, "database") == text(log, "database");
                !volume.is_empty()
                    && files(subject, "ROWS").any(|data| of_same(data) && text(data, "volume") == volume)
            };
            let logs = files(subject, "LOG").filter(|log| !SYSTEM.contains(&text(log, "database")));
            let names = once(logs.filter(shares).map(|log| text(log, "database").to_owned()).collect());
            let what = format!("data and log are on one volume: {}", format::listed(&names));
            let remedy = "run `ALTER DATABASE … MODIFY FILE (NAME = …, FILENAME = …)` for the log, take the database offline, move \
            the file, and bring the database online";
            found_if(!names.is_empty(), what, remedy)
        },
    },
    Rule {
        name: "instant-file-initialization",
        severity: Costs,
        why: "The server fills new space of data files with zeros first, and sessions wait for that",
        source: "SQL Server documentation, Database instant file initialization",
        find: |subject| {
            let is_off = text(subject.row("services")?, "instant_file_initialization") == "N";
            let remedy = "grant the service account the right Perform volume maintenance tasks (secpol.msc, Local Policies, User \
            Rights Assignment), then restart the service";
            found_if(is_off, "instant file initialization is off", remedy)
        },
    },
    Rule {
        name: "tempdb-files",
        severity: Costs,
        why: "Sessions that create temporary tables at the same time wait for the same allocation pages. Each data file has its own allocation pages",
        source: "SQL Server documentation, tempdb database: Optimize tempdb performance",
        find: |subject| {
            let processors = figure(subject.row("machine")?, "schedulers")?;
            let of_tempdb: Vec<&FactRow> = files(subject, "ROWS").filter(|row| is_tempdb(row)).collect();
            let wanted = processors.min(8.0) as usize;
            let sizes = once(of_tempdb.iter().map(|row| text(row, "size_bytes").to_owned()).collect());
            match of_tempdb.len() {
                0 => None,
                many if many < wanted => found(
                    format!(
                        "tempdb has {} for {processors} CPUs",
                        format::counted(many, "data file", "data files")
                    ),
                    format!("ALTER DATABASE tempdb ADD FILE, up to {wanted} files of the same size"),
                ),
                _ => found_if(
                    sizes.len() > 1,
                    "the data files of tempdb differ in size",
                    "ALTER DATABASE tempdb MODIFY FILE (NAME = …, SIZE = …) until all sizes are equal: the server uses the largest file most",
                ),
            }
        },
    },
];
