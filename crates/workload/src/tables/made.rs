//! How a kind of table is made on an engine: its DDL, what its sessions set, and what is set for all; or that the engine has none.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use database::{Claim, Dialect, Error, Existing, RunId, Session, Url, Value};

use record::{Parameter, Server};

use super::kind::{Access, Kind};
use super::statements::file;

/// How a table is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Made {
    /// Script that makes it, with a place for the level.
    create: &'static str,
    /// How much it is compressed, where its engine has levels.
    level: u8,
    /// Script that every session runs first; empty for none.
    pub(super) session: String,
    /// What is set for all sessions, and set back at the end.
    pub(super) set: Option<Setting>,
    /// What not every server has of it.
    wants: Option<Wants>,
    /// What the table needs of its database.
    needs: Option<&'static str>,
    /// What it is that its commits do not promise, whatever its server does; none where what the server tells holds.
    pub(super) is_lost: Option<&'static str>,
    /// What is set of the server so that its size on disk has all rows.
    pub(super) flush: Option<&'static str>,
    /// Whether its rows live in memory.
    pub(super) is_in_memory: bool,
    /// Whether procedures on it are compiled to machine code.
    pub(super) is_compiled: bool,
}

/// What a server has to have for a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    /// A storage engine of this name.
    Engine(&'static str),
    /// Codecs of columns of ClickHouse: since 19.1, <https://clickhouse.com/docs/whats-new/changelog/2019>.
    Codecs,
    /// A nonclustered columnstore index with which a table can still be changed: since SQL Server 2016,
    /// <https://learn.microsoft.com/sql/relational-databases/indexes/columnstore-indexes-what-s-new>.
    ChangedColumnstoreIndex,
}

/// A setting that is no session's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// InnoDB's log is flushed once a second, of all databases of the server.
    FlushLog,
    /// Delayed durability of the database.
    DelayedDurability,
}

/// The columns besides the key, as all files have them.
const COLUMNS: [&str; 4] = [
    "category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL",
    "category Int32, value Int32, amount Int64, note String",
    "category Int32 CODEC(ZSTD({level})), value Int32 CODEC(ZSTD({level})), amount Int64 CODEC(ZSTD({level})), note String CODEC(ZSTD({level}))",
    "id, category, value, amount, note",
];

/// ZSTD's levels, and the one where nothing else is said: <https://clickhouse.com/docs/sql-reference/statements/create/table#zstd>.
pub(super) const LEVELS: RangeInclusive<u8> = 1..=22;
const LEVEL: u8 = 9;

/// What a row takes of a MEMORY table at most: its texts are as long as they may be. The server's own 16 MB hold some ten thousand rows;
/// a bound that is far too large is no way out, since its blocks are a part of that.
const HEAP_ROW_BYTES: u64 = 512;
/// Least bound of a MEMORY table: the server's own.
const HEAP_BYTES_LEAST: u64 = 16 << 20;

/// Rows that a database of SQLite's in memory holds: 1 GiB, which `SQLITE_CONFIG_MEMDB_MAXSIZE` of who builds it sets, by some 32 bytes each.
const MEMDB_ROWS_MOST: u64 = 30_000_000;

/// The kinds of tables that a dialect can have; whether its server has them is known to that alone.
#[must_use]
pub fn kinds_of(dialect: Dialect) -> Vec<Kind> {
    Kind::ALL.into_iter().filter(|kind| Made::of(*kind, dialect, 1).is_ok()).collect()
}

/// What a dialect has no such table for: sentences without their ends.
pub(super) fn lacking(dialect: Dialect) -> Vec<String> {
    let lacked = Kind::ALL.into_iter().filter(|kind| Made::of(*kind, dialect, 1).is_err());
    let (explained, plain): (Vec<Kind>, Vec<Kind>) =
        lacked.partition(|kind| why_not(*kind, dialect).is_some());
    let names = plain.into_iter().map(Kind::name).collect::<Vec<&str>>().join(", ");
    let plain = (!names.is_empty()).then(|| format!("{} no {names} tables", has(dialect)));
    let explained = explained.into_iter().filter_map(|kind| why_not(kind, dialect)).map(str::to_owned);
    plain.into_iter().chain(explained).collect()
}

impl Made {
    /// How a kind is made for so many rows.
    ///
    /// # Errors
    /// Why a dialect has none, a sentence without its end.
    pub(super) fn of(kind: Kind, dialect: Dialect, rows: u64) -> Result<Self, String> {
        let create = file(dialect).create(kind).ok_or_else(|| lacking_kind(kind, dialect))?;
        if (dialect, kind) == (Dialect::Sqlite, Kind::Volatile) && rows > MEMDB_ROWS_MOST {
            return Err(format!(
                "SQLite cannot hold a volatile table of {rows} rows: its in-memory databases (memdb) are limited to 1 GiB, about \
                {MEMDB_ROWS_MOST} rows"
            ));
        }
        let made = Self {
            create,
            level: LEVEL,
            session: String::new(),
            set: None,
            wants: None,
            needs: None,
            is_lost: None,
            flush: None,
            is_in_memory: false,
            is_compiled: false,
        };
        Ok(match dialect {
            Dialect::Sqlite => made.of_sqlite(kind),
            Dialect::Postgres => made.of_postgres(kind),
            Dialect::Mysql => made.of_mysql(kind, rows),
            Dialect::SqlServer => made.of_sql_server(kind),
            Dialect::DuckDb => made,
            Dialect::ClickHouse => Self { wants: (kind == Kind::Archive).then_some(Wants::Codecs), ..made },
        })
    }

    /// The same, compressed at another level if one is given.
    pub(super) fn at(self, level: Option<u8>) -> Self {
        Self { level: level.unwrap_or(self.level), ..self }
    }

    /// Script that makes it.
    pub(super) fn create(&self) -> String {
        self.create.replace("{level}", &self.level.to_string())
    }

    fn of_sqlite(self, kind: Kind) -> Self {
        /// A database in memory is gone with its last session, and each trial has one of its own.
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        match kind {
            Kind::Volatile => {
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                let session = format!("ATTACH 'file:/prony_tables_{number}?vfs=memdb' AS memory");
                let is_lost = Some("the table is in memory and ends with the program");
                Self { session, is_lost, is_in_memory: true, ..self }
            }
            Kind::Relaxed => Self { session: "PRAGMA synchronous = off".to_owned(), ..self },
            Kind::Row
            | Kind::MemoryDurable
            | Kind::Clustered
            | Kind::Covering
            | Kind::ColumnstoreIndex
            | Kind::Columnstore
            | Kind::Archive
            | Kind::Rocks
            | Kind::Aria => self,
        }
    }

    fn of_postgres(self, kind: Kind) -> Self {
        match kind {
            Kind::Volatile => {
                Self { is_lost: Some("the table is not logged, and empty after a crash"), ..self }
            }
            Kind::Relaxed => Self { session: "SET synchronous_commit = off".to_owned(), ..self },
            Kind::Row
            | Kind::MemoryDurable
            | Kind::Clustered
            | Kind::Covering
            | Kind::ColumnstoreIndex
            | Kind::Columnstore
            | Kind::Archive
            | Kind::Rocks
            | Kind::Aria => self,
        }
    }

    fn of_mysql(self, kind: Kind, rows: u64) -> Self {
        match kind {
            Kind::Volatile => Self {
                session: format!(
                    "SET SESSION max_heap_table_size = {}",
                    rows.saturating_mul(HEAP_ROW_BYTES).max(HEAP_BYTES_LEAST)
                ),
                wants: Some(Wants::Engine("MEMORY")),
                is_lost: Some("the table is in memory, and empty after a restart"),
                is_in_memory: true,
                ..self
            },
            Kind::Relaxed => Self { set: Some(Setting::FlushLog), ..self },
            Kind::Rocks => Self {
                wants: Some(Wants::Engine("ROCKSDB")),
                // What is only in memory and in its log counts as nothing.
                flush: Some("SET GLOBAL rocksdb_force_flush_memtable_now = 1"),
                ..self
            },
            Kind::Aria => Self {
                wants: Some(Wants::Engine("Aria")),
                is_lost: Some(
                    "Aria has no transactions, and it writes its own log, but the server reports only on InnoDB's log",
                ),
                ..self
            },
            Kind::Row
            | Kind::MemoryDurable
            | Kind::Clustered
            | Kind::Covering
            | Kind::ColumnstoreIndex
            | Kind::Columnstore
            | Kind::Archive => self,
        }
    }

    fn of_sql_server(self, kind: Kind) -> Self {
        match kind {
            Kind::Volatile | Kind::MemoryDurable => Self {
                is_lost: (kind == Kind::Volatile)
                    .then_some("the rows are only in memory and are lost in a restart"),
                needs: file(Dialect::SqlServer).memory_filegroup,
                is_in_memory: true,
                is_compiled: true,
                ..self
            },
            Kind::Relaxed => Self { set: Some(Setting::DelayedDurability), ..self },
            Kind::ColumnstoreIndex => Self { wants: Some(Wants::ChangedColumnstoreIndex), ..self },
            Kind::Row
            | Kind::Clustered
            | Kind::Covering
            | Kind::Columnstore
            | Kind::Archive
            | Kind::Rocks
            | Kind::Aria => self,
        }
    }

    /// How it is made, in the words of the engine: DDL and settings.
    pub(super) fn words(&self, access: Access) -> String {
        let lines = self.create.lines().filter(|line| !line.starts_with("--"));
        // All kinds have the same columns besides the key.
        let create = lines.collect::<Vec<&str>>().join(" ");
        let create = COLUMNS.iter().fold(create, |create, columns| create.replace(columns, "…"));
        let create = create.replace("{level}", &self.level.to_string());
        let set = self.set.map(|setting| setting.words().to_owned());
        let session = (!self.session.is_empty()).then(|| self.session.clone());
        let compiled = (self.is_compiled && access == Access::Procedure)
            .then(|| "procedures WITH NATIVE_COMPILATION".to_owned());
        let parts: Vec<String> = [Some(create.trim_end_matches(';').to_owned()), session, set, compiled]
            .into_iter()
            .flatten()
            .collect();
        parts.join("; ")
    }

    /// Why the server does not have what the table is made with, if so.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn missing(&self, kind: Kind, session: &mut Session) -> Result<Option<String>, Error> {
        let engine = match self.wants {
            None => return Ok(None),
            Some(Wants::Codecs) => return without_codecs(kind, session).await,
            Some(Wants::ChangedColumnstoreIndex) => {
                let told = session
                    .query("SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128))", &[])
                    .await?;
                return Ok(read_only_with_columns(told.first().and_then(|row| row.first()?.text())));
            }
            Some(Wants::Engine(engine)) => engine,
        };
        let asked = "SELECT COUNT(*) FROM information_schema.ENGINES WHERE ENGINE = ? AND SUPPORT IN ('YES', 'DEFAULT')";
        let found = session.query(asked, &[Value::Text(engine.to_owned())]).await?;
        let is_there = found.first().and_then(|row| row.first()).and_then(Value::integer) == Some(1);
        // It is a plugin that the server's own package does not bring.
        let remedy = if kind == Kind::Rocks {
            format!(
                " (install the plugin, on Debian the package mariadb-plugin-rocksdb, and load it in the server: INSTALL SONAME 'ha_rocksdb', or {})",
                Parameter::new("target.server.managed.settings").of("plugin_load_add=ha_rocksdb")
            )
        } else {
            String::new()
        };
        Ok((!is_there)
            .then(|| format!("this server has no {kind} tables: it has no storage engine {engine}{remedy}")))
    }

    /// The server as it tells of itself, with what a commit promises of such a table.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn server(&self, kind: Kind, session: &mut Session) -> Result<Server, Error> {
        let mut server = session.server().await?;
        if let Some(is_lost) = self.is_lost {
            (server.is_durable, server.durability) = (false, is_lost.to_owned());
        }
        if kind == Kind::Rocks {
            // What the server tells is of InnoDB's log.
            let asked = "SELECT CAST(@@GLOBAL.rocksdb_flush_log_at_trx_commit AS SIGNED)";
            let flush = session.query(asked, &[]).await?;
            let flush = flush.first().and_then(|row| row.first()).and_then(Value::integer);
            (server.is_durable, server.durability) = of_rocks(flush);
        }
        Ok(server)
    }

    /// Makes what the table needs of its database.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn prepare(&self, session: &mut Session) -> Result<(), Error> {
        match self.needs {
            Some(needs) => session.script(needs).await,
            None => Ok(()),
        }
    }
}

/// What a commit of MyRocks promises, by its `rocksdb_flush_log_at_trx_commit`.
fn of_rocks(flush: Option<i64>) -> (bool, String) {
    match flush {
        Some(1) => {
            (true, "RocksDB's log is flushed at each commit (rocksdb_flush_log_at_trx_commit=1)".to_owned())
        }
        Some(other) => (
            false,
            format!("RocksDB's log is not flushed at each commit (rocksdb_flush_log_at_trx_commit={other})"),
        ),
        None => {
            (false, "the server does not report whether RocksDB's log is flushed at each commit".to_owned())
        }
    }
}

/// That a table of a SQL Server of such a version cannot be changed once it has an index by columns, if so.
fn read_only_with_columns(version: Option<&str>) -> Option<String> {
    /// SQL Server 2016.
    const FIRST: u32 = 13;
    let kind = Kind::ColumnstoreIndex;
    let Some(version) = version else {
        return Some(format!("this server has no {kind} tables: it does not report its version"));
    };
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    (major.is_none_or(|major| major < FIRST)).then(|| {
        format!("this server has no {kind} tables that can be changed: they need SQL Server 2016 ({FIRST}.0) or later, but this is {version}")
    })
}

/// That a ClickHouse has no codecs of columns, if so.
async fn without_codecs(kind: Kind, session: &mut Session) -> Result<Option<String>, Error> {
    let asked = "SELECT version(), toInt64(toUInt32(splitByChar('.', version())[1]) >= 19)";
    let told = session.query(asked, &[]).await?;
    Ok(match told.first().map(Vec::as_slice) {
        Some([_, Value::I64(1)]) => None,
        Some([version, _]) => Some(format!(
            "this server has no {kind} tables: ClickHouse {} cannot set a compression codec for single columns. Its stronger \
            compression can only be set for the whole server",
            version.text().unwrap_or("of that version")
        )),
        Some(_) | None => Some(format!("this server has no {kind} tables: it does not report its version")),
    })
}

/// Why a dialect has no such table of so many rows, a sentence without its end; none of one that it has.
#[must_use]
pub fn lacks(kind: Kind, dialect: Dialect, rows: u64) -> Option<String> {
    Made::of(kind, dialect, rows).err()
}

fn lacking_kind(kind: Kind, dialect: Dialect) -> String {
    let why = why_not(kind, dialect).map(str::to_owned);
    why.unwrap_or_else(|| format!("{} no {kind} tables", has(dialect)))
}

/// Why not, where there is more to say of it.
const fn why_not(kind: Kind, dialect: Dialect) -> Option<&'static str> {
    match (dialect, kind) {
        (Dialect::Postgres, Kind::Clustered) => {
            Some("PostgreSQL has no clustered tables: CLUSTER sorts the rows only once")
        }
        (Dialect::Mysql, Kind::Clustered) => Some(
            "InnoDB always clusters rows by their primary key, so tables of kind `row` are already clustered",
        ),
        (Dialect::Postgres, Kind::Columnstore) => {
            Some("PostgreSQL has no built-in columnstore tables, and prony does not test extensions")
        }
        (Dialect::Mysql, Kind::Columnstore) => Some(
            "MySQL and MariaDB have no built-in columnstore tables, and prony does not test MariaDB ColumnStore",
        ),
        (Dialect::ClickHouse, Kind::Row) => {
            Some("ClickHouse has no row tables: it stores all tables by columns")
        }
        (Dialect::ClickHouse, Kind::Volatile) => Some(
            "prony creates no ClickHouse tables in memory, because not every server can change their rows",
        ),
        (Dialect::ClickHouse, Kind::Relaxed) => Some(
            "ClickHouse answers before it syncs a table, so tables of kind `columnstore` are already relaxed",
        ),
        (Dialect::ClickHouse, Kind::Clustered) => Some(
            "ClickHouse always sorts tables by their key, so tables of kind `columnstore` are already clustered",
        ),
        (Dialect::DuckDb, Kind::Row) => Some("DuckDB has no row tables: it stores all tables by columns"),
        (Dialect::DuckDb, Kind::Volatile) => Some(
            "prony creates no in-memory DuckDB tables: they need a separate database, and they too are stored by columns",
        ),
        (Dialect::DuckDb, Kind::Relaxed) => {
            Some("DuckDB has no relaxed tables: it always syncs every commit")
        }
        (Dialect::DuckDb, Kind::Archive) => {
            Some("DuckDB has no archive tables: it already compresses each column in its own way")
        }
        (
            Dialect::Sqlite
            | Dialect::Postgres
            | Dialect::Mysql
            | Dialect::SqlServer
            | Dialect::ClickHouse
            | Dialect::DuckDb,
            _,
        ) => None,
    }
}

/// Who has: `SQLite has`.
const fn has(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "SQLite has",
        Dialect::Postgres => "PostgreSQL has",
        Dialect::Mysql => "MySQL and MariaDB have",
        Dialect::SqlServer => "SQL Server has",
        Dialect::ClickHouse => "ClickHouse has",
        Dialect::DuckDb => "DuckDB has",
    }
}

impl Setting {
    /// What is set, as its server spells it.
    const fn words(self) -> &'static str {
        match self {
            Self::FlushLog => {
                "SET GLOBAL innodb_flush_log_at_trx_commit = 2 (of the whole server; set back at the end)"
            }
            Self::DelayedDurability => {
                "ALTER DATABASE … SET DELAYED_DURABILITY = FORCED (set back at the end)"
            }
        }
    }

    /// Sets it, and gives the script that sets it back.
    ///
    /// # Errors
    /// Those of the database: the user may not set what is the whole server's.
    pub(super) async fn set(self, session: &mut Session) -> Result<String, Error> {
        match self {
            Self::FlushLog => {
                let was = session
                    .query("SELECT CAST(@@GLOBAL.innodb_flush_log_at_trx_commit AS SIGNED)", &[])
                    .await?;
                let was =
                    was.first().and_then(|row| row.first()).and_then(Value::integer).ok_or_else(|| {
                        Error::Statement(
                            "the server does not report innodb_flush_log_at_trx_commit, so prony does not change it"
                                .to_owned(),
                        )
                    })?;
                // Found by the next run, should this one be killed.
                session
                    .script(&format!(
                        "CREATE TABLE IF NOT EXISTS {SET_BACK} (flush_log bigint NOT NULL); DELETE FROM {SET_BACK}; \
                         INSERT INTO {SET_BACK} (flush_log) VALUES ({was})"
                    ))
                    .await?;
                session.script("SET GLOBAL innodb_flush_log_at_trx_commit = 2").await?;
                Ok(format!("SET GLOBAL innodb_flush_log_at_trx_commit = {was}"))
            }
            Self::DelayedDurability => {
                let was = "SELECT delayed_durability_desc FROM sys.databases WHERE database_id = DB_ID()";
                let was = session.query(was, &[]).await?;
                let was = was
                    .first()
                    .and_then(|row| row.first())
                    .and_then(Value::text)
                    .unwrap_or("DISABLED")
                    .to_owned();
                session.script("ALTER DATABASE CURRENT SET DELAYED_DURABILITY = FORCED").await?;
                Ok(format!("ALTER DATABASE CURRENT SET DELAYED_DURABILITY = {was}"))
            }
        }
    }
}

/// Table of what is to be set back, in the database of the run that set it.
const SET_BACK: &str = "prony_set_back";

impl Setting {
    /// Sets back what was set, by the script that [`Self::set`] gave.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn set_back(session: &mut Session, script: &str) -> Result<(), Error> {
        session.script(script).await?;
        session.script(&format!("DROP TABLE IF EXISTS {SET_BACK}")).await
    }

    /// What is set on a server that is the server's own as little as a run's, a sentence without its end: somebody set it while the server
    /// ran, as a run does that is killed before it sets it back.
    ///
    /// # Errors
    /// Those of the database, but for a server that does not tell.
    pub(super) async fn found(session: &mut Session) -> Result<Option<String>, Error> {
        if session.dialect() != Dialect::Mysql {
            return Ok(None);
        }
        // The first is MariaDB's way to tell, the second MySQL's.
        for asked in [
            "SELECT COUNT(*) FROM information_schema.SYSTEM_VARIABLES \
             WHERE VARIABLE_NAME = 'INNODB_FLUSH_LOG_AT_TRX_COMMIT' AND GLOBAL_VALUE = '2' AND GLOBAL_VALUE_ORIGIN = 'SQL'",
            "SELECT COUNT(*) FROM performance_schema.variables_info \
             WHERE VARIABLE_NAME = 'innodb_flush_log_at_trx_commit' AND VARIABLE_SOURCE = 'DYNAMIC' \
             AND @@GLOBAL.innodb_flush_log_at_trx_commit = 2",
        ] {
            match session.query(asked, &[]).await {
                Ok(rows) => {
                    let is_set = rows.first().and_then(|row| row.first()).and_then(Value::integer) == Some(1);
                    return Ok(is_set.then(|| FOUND.to_owned()));
                }
                Err(Error::Statement(_) | Error::Denied(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

const FOUND: &str = "innodb_flush_log_at_trx_commit was 2 before the trial, set by a statement since the server started. If prony \
was killed during a trial of a relaxed table, it left this value behind: then restore it with SET GLOBAL \
innodb_flush_log_at_trx_commit = 1";

/// What a run that was killed had set, to be set back once its database is this run's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftSet {
    flush_log: i64,
}

impl LeftSet {
    /// Looks into a database of prony's own for what the run that made it had set and not set back. None where there is nothing, or
    /// nobody can look now.
    pub async fn look(url: &Url, name: &str, run: &RunId) -> Option<Self> {
        if url.engine().dialect() != Dialect::Mysql {
            return None;
        }
        let claim = Claim::new(run.clone(), Existing::Use);
        let mut session = database::look_inside(url, name, &claim).await.ok()??;
        let rows = session.query(&format!("SELECT flush_log FROM {SET_BACK}"), &[]).await.ok()?;
        Some(Self { flush_log: rows.first()?.first()?.integer()? })
    }

    /// Sets it back, and tells what.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn set_back(self, session: &mut Session) -> Result<String, Error> {
        let script = format!("SET GLOBAL innodb_flush_log_at_trx_commit = {}", self.flush_log);
        Setting::set_back(session, &script).await?;
        Ok(script)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_has_its_kinds_and_says_what_it_lacks() {
        let names = |dialect| kinds_of(dialect).into_iter().map(Kind::name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(Dialect::Sqlite), "row volatile relaxed clustered covering");
        assert_eq!(names(Dialect::Postgres), "row volatile relaxed covering");
        assert_eq!(names(Dialect::Mysql), "row volatile relaxed covering rocks aria");
        assert_eq!(
            names(Dialect::SqlServer),
            "row volatile relaxed memory-durable clustered covering columnstore-index columnstore archive"
        );
        assert_eq!(names(Dialect::ClickHouse), "columnstore archive");
        assert_eq!(names(Dialect::DuckDb), "columnstore");
        let told = |kind, dialect| Made::of(kind, dialect, 1).unwrap_err();
        assert_eq!(told(Kind::Archive, Dialect::Sqlite), "SQLite has no archive tables");
        assert!(told(Kind::Clustered, Dialect::Postgres).contains("CLUSTER sorts the rows only once"));
        assert!(told(Kind::Clustered, Dialect::Mysql).contains("tables of kind `row` are already clustered"));
        assert_eq!(
            lacking(Dialect::Sqlite),
            ["SQLite has no memory-durable, columnstore-index, columnstore, archive, rocks, aria tables"]
        );
        assert_eq!(lacking(Dialect::Postgres).len(), 3);
        // MariaDB has a plugin for them.
        assert!(told(Kind::Columnstore, Dialect::Mysql).contains("prony does not test MariaDB ColumnStore"));
        assert!(told(Kind::Row, Dialect::ClickHouse).contains("stores all tables by columns"));
        assert_eq!(
            lacking(Dialect::ClickHouse)[0],
            "ClickHouse has no memory-durable, covering, columnstore-index, rocks, aria tables"
        );
        assert!(told(Kind::Relaxed, Dialect::DuckDb).contains("syncs every commit"));
        assert_eq!(
            lacking(Dialect::DuckDb)[0],
            "DuckDB has no memory-durable, clustered, covering, columnstore-index, rocks, aria tables"
        );
    }

    /// Thirty million rows were loaded first, and then there was "room to be made on the disk".
    #[test]
    fn more_rows_than_sqlite_holds_in_memory_are_told_before_any_is_loaded() {
        let told = lacks(Kind::Volatile, Dialect::Sqlite, 60_000_000).unwrap();
        assert!(told.contains("table of 60000000 rows") && told.contains("are limited to 1 GiB"), "{told}");
        assert_eq!(lacks(Kind::Volatile, Dialect::Sqlite, 30_000_000), None);
        assert_eq!(lacks(Kind::Row, Dialect::Sqlite, 60_000_000), None);
        assert_eq!(lacks(Kind::Volatile, Dialect::Mysql, 60_000_000), None);
    }

    /// With such an index a table of SQL Server 2014 is read only, and each trial of it would fail.
    #[test]
    fn an_index_by_columns_is_left_out_where_its_table_cannot_be_changed() {
        assert_eq!(read_only_with_columns(Some("13.0.1601.5")), None);
        assert_eq!(read_only_with_columns(Some("16.0.4135.4")), None);
        let told = |version| read_only_with_columns(version).unwrap();
        assert!(
            told(Some("12.0.6024.0"))
                .ends_with("they need SQL Server 2016 (13.0) or later, but this is 12.0.6024.0")
        );
        assert!(told(Some("new")).ends_with("this is new"));
        assert!(told(None).ends_with("it does not report its version"));
    }

    #[test]
    fn what_rocks_promises_is_said_by_its_own_log() {
        assert!(of_rocks(Some(1)).0 && !of_rocks(Some(2)).0 && !of_rocks(None).0);
        assert!(of_rocks(Some(0)).1.ends_with("(rocksdb_flush_log_at_trx_commit=0)"));
    }

    #[test]
    fn the_words_are_those_of_the_engine() {
        let words = |kind, dialect, access| Made::of(kind, dialect, 1).unwrap().words(access);
        let unlogged = words(Kind::Volatile, Dialect::Postgres, Access::Prepared);
        assert_eq!(unlogged, "CREATE UNLOGGED TABLE prony_rows (id bigint PRIMARY KEY, …)");
        for dialect in Dialect::ALL {
            for kind in kinds_of(dialect) {
                let words = words(kind, dialect, Access::Prepared);
                assert!(words.contains('…') && !words.contains("note"), "{words}");
            }
        }
        let late = words(Kind::Relaxed, Dialect::Postgres, Access::Prepared);
        assert!(late.ends_with("; SET synchronous_commit = off"), "{late}");
        let heap = words(Kind::Volatile, Dialect::Mysql, Access::Prepared);
        assert!(heap.contains("ENGINE=MEMORY") && !heap.contains("A hash"), "{heap}");
        assert!(words(Kind::Relaxed, Dialect::Mysql, Access::Prepared).contains("of the whole server"));
        let archive = |level| Made::of(Kind::Archive, Dialect::ClickHouse, 1).unwrap().at(level);
        assert!(archive(None).words(Access::AdHoc).contains("(id Int64 CODEC(ZSTD(9)), …)"));
        assert!(archive(Some(19)).words(Access::AdHoc).contains("(id Int64 CODEC(ZSTD(19)), …)"));
        assert_eq!(archive(Some(19)).create().matches("CODEC(ZSTD(19))").count(), 5);
        let native = |access| words(Kind::MemoryDurable, Dialect::SqlServer, access).contains("NATIVE");
        assert!(native(Access::Procedure) && !native(Access::AdHoc));
    }
}
