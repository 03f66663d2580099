//! A session: a connection that has a thread while it works, because DuckDB works where it is called.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use ::duckdb::Connection;
use ownership::Directory;
use record::{Server, ServerSetting};

use super::fault::{fault, not_opened};
use super::handle::{Access, Handle};
use super::statements;
use crate::error::{Attempt, Doing};
use crate::sqlite::{beside, directory_of};
use crate::threaded::{Interrupt, Pool, Threaded};
use crate::{Answer, Cell, Error, Protocol, Rows, Sizes, Table, Value, Wanted, WriteMethod};

/// End of the name of its log.
const LOG_END: &str = ".wal";
/// Settings that change figures.
const SETTINGS: &str = "SELECT name, CAST(value AS VARCHAR) FROM duckdb_settings() \
                        WHERE name IN ('checkpoint_threshold', 'memory_limit', 'threads') ORDER BY name";
/// Bytes of the file, its free blocks included.
const SIZE: &str = "SELECT CAST(total_blocks * block_size AS BIGINT) FROM pragma_database_size() \
                    WHERE database_name = current_database()";

/// The threads of all sessions.
static THREADS: Pool = Pool::new("duckdb");

/// A connection to a file.
pub(crate) struct DuckDbSession {
    file: PathBuf,
    thread: Threaded<Handle>,
    has_begun: bool,
}

impl DuckDbSession {
    /// Opens a file that is there.
    pub(crate) async fn open(file: &Path) -> Result<Self, Error> {
        Self::open_as(file, Access::Write).await
    }

    /// Opens a file of which nothing is changed.
    pub(crate) async fn open_to_read(file: &Path) -> Result<Self, Error> {
        Self::open_as(file, Access::Read).await
    }

    async fn open_as(file: &Path, access: Access) -> Result<Self, Error> {
        let path = file.to_owned();
        let open = move |attempt: Attempt<'_>| {
            let handle = Handle::open(&path, access, attempt)?;
            let interrupt = handle.interrupt();
            let interrupt: Interrupt = Box::new(move || interrupt.interrupt());
            Ok((handle, interrupt))
        };
        let thread = Threaded::open(&THREADS, format!("duckdb:{}", file.display()), open).await?;
        Ok(Self { file: file.to_owned(), thread, has_begun: false })
    }

    /// What rows are appended with.
    pub(crate) fn statement_name(method: WriteMethod) -> &'static str {
        match method {
            WriteMethod::Bulk => "Appender, in one transaction",
            WriteMethod::Batch => "prepared INSERT of one row, in one transaction",
            WriteMethod::MultiRow => "prepared INSERT … VALUES of many rows",
        }
    }

    pub(crate) async fn script(&mut self, sql: &str) -> Result<(), Error> {
        let sql = sql.to_owned();
        self.run(move |database, target| {
            statements::script(database, &sql, Attempt { doing: Doing::Run(&sql), target })
        })
        .await
    }

    pub(crate) async fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        self.of_statement(sql, parameters, statements::execute).await
    }

    pub(crate) async fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Error> {
        self.of_statement(sql, parameters, statements::query).await
    }

    pub(crate) async fn count_rows(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        self.of_statement(sql, parameters, statements::count_rows).await
    }

    pub(crate) async fn statement(
        &mut self,
        sql: &str,
        parameters: &[Value],
        sent: (Protocol, Wanted),
    ) -> Result<Answer, Error> {
        self.of_statement(sql, parameters, move |database, sql, parameters| {
            statements::statement(database, sql, parameters, sent)
        })
        .await
    }

    /// The state travels to the thread and back.
    pub(crate) async fn fold<T: Send + 'static>(
        &mut self,
        sql: &str,
        parameters: &[Value],
        state: T,
        add: fn(&mut T, &[Cell<'_>]),
    ) -> Result<T, Error> {
        self.of_statement(sql, parameters, move |database, sql, parameters| {
            statements::fold(database, sql, parameters, (state, add))
        })
        .await
    }

    /// The rows travel to the thread and back.
    pub(crate) async fn append(
        &mut self,
        table: &'static Table,
        rows: &mut Rows,
        method: WriteMethod,
    ) -> Result<(), Error> {
        let travelling = std::mem::take(rows);
        let appending = self.run(move |database, target| {
            let attempt = Attempt { doing: Doing::Append(table.name), target };
            let result = statements::append(database, table, &travelling, method);
            Ok((travelling, result.map_err(|error| fault(&error, attempt))))
        });
        let (back, result) = appending.await?;
        *rows = back;
        result
    }

    /// What DuckDB has not is not told: it has no settings by which a commit is not synced.
    pub(crate) async fn server(&mut self) -> Result<Server, Error> {
        let version = self.query("SELECT library_version FROM pragma_version()", &[]).await?;
        let version = version.first().and_then(|row| row.first()?.text()).unwrap_or("unknown");
        let setting = |row: &Vec<Value>| match row.as_slice() {
            [Value::Text(name), Value::Text(value)] => {
                Some(ServerSetting { name: name.clone(), value: value.clone() })
            }
            _ => None,
        };
        let version = format!("DuckDB {}", version.trim_start_matches('v'));
        let settings = self.query(SETTINGS, &[]).await?.iter().filter_map(setting).collect();
        let directory = directory_of(&self.file);
        Ok(Server {
            version,
            durability: "each commit is synced to the WAL before it returns".to_owned(),
            is_durable: true,
            settings,
            data_directory: directory.clone(),
            log_directory: directory,
            link: None,
            services: Vec::new(),
            unsafe_tables: Vec::new(),
        })
    }

    pub(crate) async fn sizes(&mut self) -> Result<Sizes, Error> {
        let told = self.query(SIZE, &[]).await?;
        let database_bytes = told.first().and_then(|row| row.first()?.integer()?.try_into().ok());
        let log_bytes = fs::metadata(beside(&self.file, LOG_END)).ok().map(|data| data.len());
        Ok(Sizes { database_bytes, log_bytes, log_written_bytes: None })
    }

    /// Whether one of ours is open, whatever became of it.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.has_begun
    }

    pub(crate) async fn begin_transaction(&mut self) -> Result<(), Error> {
        self.script("BEGIN TRANSACTION").await?;
        self.has_begun = true;
        Ok(())
    }

    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        self.has_begun = false;
        self.script("COMMIT").await
    }

    pub(crate) async fn rollback(&mut self) -> Result<(), Error> {
        match std::mem::take(&mut self.has_begun) {
            true => self.script("ROLLBACK").await,
            false => Ok(()),
        }
    }

    /// Nobody ends the transaction that was begun; the thread does it before anything else that it is given.
    pub(crate) fn abandon(&mut self) {
        self.has_begun = false;
        self.thread.leave(|handle| {
            // If this fails, the next BEGIN will tell.
            let _ = handle.connection().execute_batch("ROLLBACK");
        });
    }

    async fn of_statement<T: Send + 'static>(
        &mut self,
        sql: &str,
        parameters: &[Value],
        run: impl FnOnce(&Connection, &str, &[Value]) -> ::duckdb::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let (sql, parameters) = (sql.to_owned(), parameters.to_vec());
        self.run(move |database, target| {
            let attempt = Attempt { doing: Doing::Run(&sql), target };
            run(database, &sql, &parameters).map_err(|error| fault(&error, attempt))
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Connection, &str) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.thread.run(move |handle, target| work(handle.connection(), target)).await
    }
}

impl std::fmt::Debug for DuckDbSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DuckDbSession").field("file", &self.file).finish_non_exhaustive()
    }
}

/// The bytes of a database that a script makes. DuckDB writes files alone, and this one is nobody's: it lies in a directory of its own.
pub(crate) fn image(script: &str) -> Result<Vec<u8>, Error> {
    /// Nothing else is in the directory.
    const NAME: &str = "image.duckdb";
    let attempt = Attempt { doing: Doing::Run(script), target: "a new database" };
    let failed = |error: std::io::Error| {
        Error::Refused(
            attempt.text(error, "let this user write to the directory of temporary files (TMPDIR)"),
        )
    };
    let place = Directory::open(&std::env::temp_dir()).map_err(failed)?;
    let made = place.make_private("prony-duckdb-").map_err(failed)?;
    let directory = made.directory();
    let write = || {
        let database = Connection::open(directory.path().join(NAME))?;
        database.execute_batch(script)?;
        database.execute_batch("CHECKPOINT")
    };
    let written = write().map_err(|error: ::duckdb::Error| not_opened(&error, attempt));
    let image = written.and_then(|()| directory.read(OsStr::new(NAME)).map_err(failed));
    let removed = made.remove_with_all().map_err(failed);
    let image = image?;
    removed.map(|_| image)
}
