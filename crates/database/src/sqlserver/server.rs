//! What a server says of itself: version, settings, where its files are, and what a commit guarantees.
//!
//! What a login may not see is left out. Source of the views:
//! <https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-databases-transact-sql>.

use record::{Server, ServerSetting};

use super::SqlServerSession;
use crate::{Error, Sizes, UsedSpace, Value};

const PRODUCT: &str = "SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), \
                       CAST(SERVERPROPERTY('Edition') AS nvarchar(128)), @@VERSION";
/// Of the session's database.
const DATABASE: &str = "SELECT recovery_model_desc, delayed_durability_desc, page_verify_option_desc, \
                        snapshot_isolation_state_desc, CAST(is_read_committed_snapshot_on AS int), \
                        CAST(compatibility_level AS int) FROM sys.databases WHERE database_id = DB_ID()";
/// Names of its columns.
const DATABASE_NAMES: [&str; 6] = [
    "recovery_model",
    "delayed_durability",
    "page_verify",
    "snapshot_isolation",
    "is_read_committed_snapshot_on",
    "compatibility_level",
];
const CONFIGURATION: &str = "SELECT CAST(name AS nvarchar(128)), CAST(value_in_use AS bigint) FROM sys.configurations \
                             WHERE name IN ('max server memory (MB)', 'min server memory (MB)', \
                             'max degree of parallelism', 'cost threshold for parallelism', 'recovery interval (min)', \
                             'optimize for ad hoc workloads', 'max worker threads') ORDER BY name";
const FILES: &str =
    "SELECT CAST(type AS int), CAST(physical_name AS nvarchar(260)) FROM sys.database_files ORDER BY file_id";
/// Pages of 8 KiB of tables and indexes; else what their files take.
const DATABASE_BYTES: [&str; 2] = [
    "SELECT CAST(sum(used_page_count) AS bigint) * 8192 FROM sys.dm_db_partition_stats",
    "SELECT sum(CAST(size AS bigint)) * 8192 FROM sys.database_files WHERE type = 0",
];
const USED_BYTES: [&str; 1] = [DATABASE_BYTES[0]];
/// Babelfish has no such view, and keeps its tables as PostgreSQL does, which extends each by up to 64 pages at once.
const USED_BYTES_OF_BABELFISH: [&str; 1] =
    ["SELECT CAST(sum(pg_table_size(object_id) + pg_indexes_size(object_id)) AS bigint) FROM sys.tables"];
const AHEAD_BYTES_OF_BABELFISH: u64 = 64 * 8192;
const LOG_BYTES: [&str; 1] =
    ["SELECT sum(CAST(size AS bigint)) * 8192 FROM sys.database_files WHERE type = 1"];
/// Since the server began.
const LOG_WRITTEN_BYTES: [&str; 1] = [
    "SELECT sum(CAST(s.num_of_bytes_written AS bigint)) FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL) AS s \
     JOIN sys.database_files AS f ON f.file_id = s.file_id WHERE f.type = 1",
];
/// What it is that speaks the protocol without being SQL Server.
const BABELFISH: &str = "Babelfish";
/// Underneath is PostgreSQL, whose settings decide what a commit guarantees.
const OF_POSTGRES: &str = "SELECT CAST(current_setting('fsync') AS nvarchar(20)), \
                           CAST(current_setting('synchronous_commit') AS nvarchar(20))";

impl SqlServerSession {
    pub(crate) async fn server(&mut self) -> Result<Server, Error> {
        let product = self.told(PRODUCT).await?;
        let [number, edition, version] = [0, 1, 2].map(|column| cell(&product, column));
        let mut settings = vec![("edition".to_owned(), edition)];
        let database = self.told(DATABASE).await?;
        let of_database = |column: usize| (DATABASE_NAMES[column].to_owned(), cell(&database, column));
        settings.extend((0..DATABASE_NAMES.len()).map(of_database));
        for row in self.told(CONFIGURATION).await? {
            if let [Value::Text(name), Value::I64(value)] = row.as_slice() {
                settings.push((name.clone(), Some(value.to_string())));
            }
        }
        let is_babelfish = version.as_deref().is_some_and(|version| version.contains(BABELFISH));
        let (is_durable, durability) = if is_babelfish {
            let row = self.told(OF_POSTGRES).await?;
            durability_of_postgres(cell(&row, 0).as_deref(), cell(&row, 1).as_deref())
        } else {
            durability(cell(&database, 1).as_deref())
        };
        let files = if self.is_local { self.told(FILES).await? } else { Vec::new() };
        let settings =
            settings.into_iter().filter_map(|(name, value)| Some(ServerSetting { name, value: value? }));
        Ok(Server {
            version: shown_product(version.as_deref(), number.as_deref()),
            durability,
            is_durable,
            settings: settings.collect(),
            data_directory: directory(&files, 0),
            log_directory: directory(&files, 1),
            link: Some(self.link.clone()),
            services: Vec::new(),
            unsafe_tables: Vec::new(),
        })
    }

    pub(crate) async fn sizes(&mut self) -> Result<Sizes, Error> {
        Ok(Sizes {
            database_bytes: self.bytes(&DATABASE_BYTES).await?,
            log_bytes: self.bytes(&LOG_BYTES).await?,
            log_written_bytes: self.bytes(&LOG_WRITTEN_BYTES).await?,
        })
    }

    /// Used pages, which are some of the reserved ones. A file may be mostly free, and tells nothing.
    pub(crate) async fn used_space(&mut self) -> Result<Option<UsedSpace>, Error> {
        if let Some(bytes) = self.bytes(&USED_BYTES).await? {
            return Ok(Some(UsedSpace { bytes, uncertain_bytes: 0 }));
        }
        let uncertain_bytes = AHEAD_BYTES_OF_BABELFISH;
        let bytes = self.bytes(&USED_BYTES_OF_BABELFISH).await?;
        Ok(bytes.map(|bytes| UsedSpace { bytes, uncertain_bytes: uncertain_bytes.min(bytes) }))
    }

    /// The number that the first query gives that can be run and tells something.
    async fn bytes(&mut self, queries: &[&str]) -> Result<Option<u64>, Error> {
        for sql in queries {
            let bytes = self.told(sql).await?.first().and_then(|row| row.first()).and_then(Value::integer);
            if let Some(bytes) = bytes.and_then(|bytes| u64::try_from(bytes).ok()).filter(|bytes| *bytes > 0)
            {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// Rows, or none if this login may not see them, or the server has no such thing.
    async fn told(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Error> {
        match self.query(sql, &[]).await {
            Err(error) if error.is_lost() => Err(error),
            rows => Ok(rows.unwrap_or_default()),
        }
    }
}

/// A value of the first row, as text.
fn cell(rows: &[Vec<Value>], column: usize) -> Option<String> {
    match rows.first()?.get(column)? {
        Value::Text(text) => Some(text.clone()),
        Value::I64(number) => Some(number.to_string()),
        Value::F64(number) => Some(number.to_string()),
        Value::Null | Value::I16(_) | Value::I32(_) => None,
    }
}

/// `SQL Server 2022 16.0.4135.4`: the first line of `@@VERSION` has the year, and the property the number.
fn shown_product(version: Option<&str>, number: Option<&str>) -> String {
    let line = version.and_then(|version| version.lines().next()).unwrap_or("SQL Server").trim();
    if line.contains(BABELFISH) {
        let whole = version.unwrap_or_default();
        let numbers = whole.match_indices("PostgreSQL ").map(|(at, words)| &whole[at + words.len()..]);
        let number = numbers
            .filter_map(|rest| rest.split_whitespace().next())
            .find(|word| word.starts_with(|sign: char| sign.is_ascii_digit()));
        return format!("Babelfish on PostgreSQL {}", number.unwrap_or("of unknown version"));
    }
    // `Microsoft SQL Server 2022 (RTM-CU14) (KB…) - 16.0.4135.4 (X64)`, `Microsoft SQL Azure (RTM) - 12.0.2000.8`.
    let name = line.split(['(', '-']).next().unwrap_or(line).trim().trim_start_matches("Microsoft ");
    match number {
        Some(number) => format!("{name} {number}"),
        None => name.to_owned(),
    }
}

/// The directory of the first file of this kind: 0 is data, 1 is log.
fn directory(files: &[Vec<Value>], kind: i64) -> Option<String> {
    let name = files.iter().find_map(|row| match row.as_slice() {
        [Value::I64(found), Value::Text(name)] if *found == kind => Some(name),
        _ => None,
    })?;
    name.rsplit_once('/')
        .map(|(directory, _)| directory.to_owned())
        .filter(|directory| directory.starts_with('/'))
}

/// Source: <https://learn.microsoft.com/sql/relational-databases/logs/control-transaction-durability>.
fn durability(delayed: Option<&str>) -> (bool, String) {
    let Some(delayed) = delayed else {
        return (false, "the server does not report whether commits wait for the disk".to_owned());
    };
    let is_durable = !delayed.eq_ignore_ascii_case("FORCED");
    let sentence = if is_durable {
        "each commit waits until its log is flushed to the disk"
    } else {
        "commits return before their log is flushed: a crash can lose the last ones"
    };
    (is_durable, format!("{sentence} (delayed_durability={delayed})"))
}

/// As [`crate::postgres`] tells it, in short.
fn durability_of_postgres(fsync: Option<&str>, synchronous_commit: Option<&str>) -> (bool, String) {
    let (Some(fsync), Some(commit)) = (fsync, synchronous_commit) else { return durability(None) };
    let is_durable = fsync == "on" && commit != "off";
    let sentence = if is_durable {
        "each commit waits until its WAL is flushed to the disk"
    } else {
        "commits do not wait for the disk: a crash can lose the last ones, and without fsync the whole database"
    };
    (is_durable, format!("{sentence} (fsync={fsync}, synchronous_commit={commit})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_told_by_their_version() {
        for (version, number, expected) in [
            (
                "Microsoft SQL Server 2022 (RTM-CU14) (KB5038325) - 16.0.4135.4 (X64) \n\tJul 10 2024",
                "16.0.4135.4",
                "SQL Server 2022 16.0.4135.4",
            ),
            (
                "Microsoft SQL Azure (RTM) - 12.0.2000.8 \n\tMay  2 2024",
                "12.0.2000.8",
                "SQL Azure 12.0.2000.8",
            ),
            (
                "Babelfish for PostgreSQL with SQL Server Compatibility - 12.0.2000.8\nOct 22 2024\n\
                 Copyright (c) Amazon Web Services\nPostgreSQL 16.4 on x86_64-pc-linux-gnu (Babelfish 4.3.0)",
                "12.0.2000.8",
                "Babelfish on PostgreSQL 16.4",
            ),
            ("Babelfish for PostgreSQL", "12.0.2000.8", "Babelfish on PostgreSQL of unknown version"),
        ] {
            assert_eq!(shown_product(Some(version), Some(number)), expected);
        }
        assert_eq!(shown_product(None, None), "SQL Server");
    }

    #[test]
    fn what_is_durable_is_waited_for() {
        assert!(durability(Some("DISABLED")).0 && durability(Some("ALLOWED")).0);
        assert!(!durability(Some("FORCED")).0 && !durability(None).0);
        assert!(durability_of_postgres(Some("on"), Some("on")).0);
        assert!(!durability_of_postgres(Some("off"), Some("on")).0 && !durability_of_postgres(None, None).0);
    }

    #[test]
    fn files_tell_where_a_database_lies() {
        let file = |kind, name: &str| vec![Value::I64(kind), Value::Text(name.to_owned())];
        let files =
            [file(0, "/var/opt/mssql/data/x.mdf"), file(1, "/log/x_log.ldf"), file(0, "/other/x.ndf")];
        assert_eq!(directory(&files, 0).as_deref(), Some("/var/opt/mssql/data"));
        assert_eq!(directory(&files, 1).as_deref(), Some("/log"));
        assert_eq!(directory(&[file(0, "C:\\data\\x.mdf")], 0), None);
        assert_eq!(directory(&[], 0), None);
    }
}
