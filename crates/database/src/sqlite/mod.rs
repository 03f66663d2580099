//! Sessions of SQLite. Each has a thread while it works, because SQLite waits where it is called.
//!
//! A file must be there already: [`crate::Own`] makes it. The journal is a WAL, and each commit is synced.

mod busy;
pub(crate) mod statements;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use record::{Server, ServerSetting};
use rusqlite::{Connection as Database, OpenFlags, ffi};

use busy::Patience;

use crate::error::{Attempt, Doing};
use crate::threaded::{Interrupt, Pool, Threaded};
use crate::{
    Answer, Cell, Error, Protocol, Refusal, Rows, Sizes, Table, UsedSpace, Value, Wanted, WriteMethod,
};

/// Page cache of a connection; KiB are negative. SQLite's own 2 MiB hold no index of a few hundred thousand rows.
const CACHE_KIB: i64 = -64 * 1024;
/// Pages of the log at which a commit copies them into the file: 64 MiB of them. At SQLite's own 1,000 a page that many
/// commits change is written again and again; together with the cache, commits of 1,000 rows are 1.7 times as fast.
const CHECKPOINT_PAGES: i64 = 16 * 1024;
/// The threads of all sessions.
static THREADS: Pool = Pool::new("sqlite");

/// Sessions of SQLite in this program, counted by what they do. They share threads, so counting threads would not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionsAtWork {
    /// Sessions that run a command now or have run one since the last reading.
    pub active: u64,
    /// Sessions that wait now for the write lock.
    pub waiting: u64,
}

impl SessionsAtWork {
    /// Reads the counts. The next reading starts here.
    #[must_use]
    pub fn look() -> Self {
        Self { active: THREADS.active(), waiting: busy::waiting() }
    }
}

/// A connection to a file.
pub(crate) struct SqliteSession {
    file: PathBuf,
    patience: Patience,
    thread: Threaded<Database>,
    /// True if the next command begins a transaction. It gets its lock, perhaps after a wait, with its first statement.
    is_lazy: bool,
    /// Extended result code of the last statement of others; 0 if it did not fail.
    last_code: Arc<AtomicI32>,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug)]
enum Opening {
    /// As one of ours, with the journal and the durability that these have; marked with this number, if one is given.
    Ours(Option<i32>),
    /// As its own program left it.
    AsItIs,
}

impl SqliteSession {
    /// Opens a file, whatever made it.
    pub(crate) async fn open(file: &Path) -> Result<Self, Error> {
        Self::open_as(file, format!("sqlite:{}", file.display()), Opening::Ours(None)).await
    }

    /// Opens a file that somebody else made, and sets nothing of it.
    pub(crate) async fn open_as_it_is(file: &Path) -> Result<Self, Error> {
        Self::open_as(file, format!("sqlite:{}", file.display()), Opening::AsItIs).await
    }

    /// Opens a file, and uses it only if the file that was opened is marked with this number; `target` is how it is called.
    pub(crate) async fn open_own(file: &Path, target: String, application_id: i32) -> Result<Self, Error> {
        Self::open_as(file, target, Opening::Ours(Some(application_id))).await
    }

    async fn open_as(file: &Path, target: String, opening: Opening) -> Result<Self, Error> {
        let path = file.to_owned();
        let patience = Patience::new();
        let of_thread = patience.of_thread();
        let open = move |attempt: Attempt<'_>| {
            of_thread.enter();
            let database = open(&path, opening).map_err(|error| not_opened(&path, &error, attempt))?;
            let interrupt = database.get_interrupt_handle();
            let interrupt: Interrupt = Box::new(move || interrupt.interrupt());
            Ok((database, interrupt))
        };
        let thread = Threaded::open(&THREADS, target, open).await?;
        Ok(Self { file: file.to_owned(), patience, thread, is_lazy: false, last_code: Arc::default() })
    }

    /// What rows are appended with.
    pub(crate) fn statement_name(method: WriteMethod) -> &'static str {
        match method {
            WriteMethod::Bulk => "prepared INSERT … VALUES of 40 rows, in one transaction",
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

    pub(crate) async fn statement(
        &mut self,
        sql: &str,
        parameters: &[Value],
        sent: (Protocol, Wanted),
    ) -> Result<Answer, Error> {
        let code = Arc::clone(&self.last_code);
        self.of_statement(sql, parameters, move |database, sql, parameters, attempt| {
            let answer = statements::statement(database, sql, parameters, sent);
            code.store(answer.as_ref().err().and_then(statements::code).unwrap_or(0), Ordering::Relaxed);
            answer.map_err(|error| statements::fault(&error, attempt))
        })
        .await
    }

    pub(crate) async fn parse(&mut self, sql: &str) -> Result<Option<Refusal>, Error> {
        let sql = sql.to_owned();
        self.run(move |database, _| Ok(statements::refusal(database, &sql))).await
    }

    /// Extended result code of the last statement of others, if it failed.
    pub(crate) fn last_code(&self) -> Option<String> {
        let code = self.last_code.load(Ordering::Relaxed);
        (code != 0).then(|| format!("SQLite {code}"))
    }

    pub(crate) async fn count_rows(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        self.of_statement(sql, parameters, statements::count_rows).await
    }

    /// The state travels to the thread and back.
    pub(crate) async fn fold<T: Send + 'static>(
        &mut self,
        sql: &str,
        parameters: &[Value],
        state: T,
        add: fn(&mut T, &[Cell<'_>]),
    ) -> Result<T, Error> {
        self.of_statement(sql, parameters, move |database, sql, parameters, attempt| {
            statements::fold(database, sql, parameters, (state, add), attempt)
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
        let (back, result) = self
            .run(move |database, target| {
                let attempt = Attempt { doing: Doing::Append(table.name), target };
                let result = statements::append(database, table, &travelling, method, attempt);
                Ok((travelling, result))
            })
            .await?;
        *rows = back;
        result
    }

    pub(crate) async fn server(&mut self) -> Result<Server, Error> {
        let mut settings = self
            .run(|database, target| {
                statements::settings(database, Attempt { doing: Doing::Run("PRAGMA"), target })
            })
            .await?;
        let is_wal = settings.get("journal_mode").is_some_and(|mode| mode == "wal");
        let is_durable = settings.get("synchronous").is_some_and(|level| level == "2" || level == "3");
        let durability = match (is_durable, is_wal) {
            (true, true) => {
                "each commit is synced to the WAL before it returns (journal_mode=wal, synchronous=full)"
            }
            (true, false) => "each commit is synced before it returns (synchronous=full)",
            (false, _) => "a power loss can lose commits: synchronous is neither full nor extra",
        };
        let names = [("journal_mode", ""), ("page_size", " B"), ("wal_autocheckpoint", " pages")];
        let mut listed: Vec<ServerSetting> = names
            .iter()
            .filter_map(|(name, unit)| Some((name, format!("{}{unit}", settings.remove(name)?))))
            .map(|(name, value)| ServerSetting { name: (*name).to_owned(), value })
            .collect();
        listed.push(ServerSetting { name: "synchronous".to_owned(), value: level_name(&settings) });
        listed.push(ServerSetting { name: "cache_size".to_owned(), value: cache_size(&settings) });
        let directory = directory_of(&self.file);
        Ok(Server {
            version: format!("SQLite {}", rusqlite::version()),
            durability: durability.to_owned(),
            is_durable,
            settings: listed,
            data_directory: directory.clone(),
            log_directory: directory,
            link: None,
            services: Vec::new(),
            unsafe_tables: Vec::new(),
        })
    }

    /// The database is as large as its pages, wherever they are: the file has those that are only in the WAL later.
    pub(crate) async fn sizes(&mut self) -> Result<Sizes, Error> {
        let file = self.file.clone();
        self.run(move |database, target| {
            let attempt = Attempt { doing: Doing::Run("PRAGMA page_count"), target };
            let database_bytes = statements::page_bytes(database, attempt)?;
            let log_bytes = fs::metadata(beside(&file, "-wal")).ok().map(|data| data.len());
            Ok(Sizes { database_bytes: Some(database_bytes), log_bytes, log_written_bytes: None })
        })
        .await
    }

    /// A page of the free list holds no row.
    pub(crate) async fn used_space(&mut self) -> Result<Option<UsedSpace>, Error> {
        self.run(move |database, target| {
            let attempt = Attempt { doing: Doing::Run("PRAGMA freelist_count"), target };
            statements::used_space(database, attempt).map(Some)
        })
        .await
    }

    pub(crate) async fn is_in_transaction(&mut self) -> Result<bool, Error> {
        self.run(|database, _| Ok(!database.is_autocommit())).await
    }

    /// The lock on the file is taken now: a transaction that had only read could find that another wrote meanwhile, and
    /// could not go on.
    pub(crate) async fn begin_transaction(&mut self) -> Result<(), Error> {
        self.execute("BEGIN IMMEDIATE", &[]).await.map(drop)
    }

    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        self.execute("COMMIT", &[]).await.map(drop)
    }

    pub(crate) async fn rollback(&mut self) -> Result<(), Error> {
        self.run(|database, target| {
            statements::rollback(database, Attempt { doing: Doing::Run("ROLLBACK"), target })
        })
        .await
    }

    /// Nobody ends the transaction that was begun; the thread does it before anything else that it is given.
    pub(crate) fn abandon(&mut self) {
        let of_thread = self.patience.of_thread();
        self.thread.leave(|database| {
            of_thread.enter();
            let attempt = Attempt { doing: Doing::Run("ROLLBACK"), target: "" };
            // If this fails, the next BEGIN will tell.
            let _ = statements::rollback(database, attempt);
        });
    }

    async fn of_statement<T: Send + 'static>(
        &mut self,
        sql: &str,
        parameters: &[Value],
        run: impl FnOnce(&Database, &str, &[Value], Attempt<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.is_lazy = begins_lazily(sql);
        let (sql, parameters) = (sql.to_owned(), parameters.to_vec());
        self.run(move |database, target| {
            run(database, &sql, &parameters, Attempt { doing: Doing::Run(&sql), target })
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Database, &str) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let of_thread = self.patience.of_thread();
        let (result, is_open) = self
            .thread
            .run(move |database, target| {
                of_thread.enter();
                Ok((work(database, target), !database.is_autocommit()))
            })
            .await?;
        self.thread.holds(is_open && !std::mem::take(&mut self.is_lazy));
        result
    }
}

impl Drop for SqliteSession {
    /// What runs for it does not wait for others any more. The last connection to a file puts what is in the WAL into it.
    fn drop(&mut self) {
        self.patience.end();
    }
}

impl std::fmt::Debug for SqliteSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteSession").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Whether a statement begins a transaction that takes its locks later: <https://sqlite.org/lang_transaction.html>.
fn begins_lazily(sql: &str) -> bool {
    let begin = |text: &str, word: &str| {
        let is_word = text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
        is_word.then(|| text.len() - text[word.len()..].trim_start().len())
    };
    let mut rest = sql.trim();
    let Some(length) = begin(rest, "begin") else { return false };
    rest = &rest[length..];
    for word in ["deferred", "transaction"] {
        rest = begin(rest, word).map_or(rest, |length| &rest[length..]);
    }
    rest.trim_start_matches(';').trim().is_empty()
}

/// A name beside that of the file, as SQLite makes them: the same with something at its end.
pub(crate) fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// The directory that a file is in, as far as that is known.
pub(crate) fn directory_of(file: &Path) -> Option<String> {
    let file = std::path::absolute(file).ok()?;
    Some(file.parent()?.display().to_string())
}

/// Opens a file. A relative name is made absolute, because SQLite takes one that begins with `file:` for an address of
/// another file (<https://sqlite.org/uri.html>).
fn open(file: &Path, opening: Opening) -> rusqlite::Result<Database> {
    let path = std::path::absolute(file).map_err(|_| rusqlite::Error::InvalidPath(file.to_owned()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Database::open_with_flags(path, flags)?;
    if database.is_readonly("main")? {
        // Before anything is made beside a file that this user may only read.
        return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_READONLY), None));
    }
    Patience::wait_in(&database)?;
    let Opening::Ours(application_id) = opening else {
        statements::prepare(&database)?;
        return Ok(database);
    };
    // Before anything is changed: the file that was looked at may have been replaced.
    if let Some(wanted) = application_id {
        let found: i32 = database.pragma_query_value(None, "application_id", |row| row.get(0))?;
        if found != wanted {
            return Err(rusqlite::Error::InvalidPath(file.to_owned()));
        }
    }
    database.pragma_update(None, "journal_mode", "wal")?;
    database.pragma_update(None, "synchronous", "full")?;
    database.pragma_update(None, "foreign_keys", true)?;
    database.pragma_update(None, "cache_size", CACHE_KIB)?;
    database.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    statements::prepare(&database)?;
    Ok(database)
}

/// The bytes of a database that a script makes.
pub(crate) fn image(script: &str) -> rusqlite::Result<Vec<u8>> {
    let database = Database::open_in_memory()?;
    database.execute_batch(script)?;
    Ok(database.serialize("main")?.to_vec())
}

fn not_opened(file: &Path, error: &rusqlite::Error, attempt: Attempt<'_>) -> Error {
    match fs::symlink_metadata(file) {
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => {
            let directory = file.parent().filter(|directory| !directory.as_os_str().is_empty());
            let remedy = match directory.filter(|directory| !directory.is_dir()) {
                Some(directory) => format!("make the directory {} first", directory.display()),
                None => "the file does not exist: check its name".to_owned(),
            };
            Error::NoDatabase(attempt.text(error, &remedy))
        }
        _ => statements::fault(error, attempt),
    }
}

fn level_name(settings: &std::collections::HashMap<&str, String>) -> String {
    let level = settings.get("synchronous").map_or("unknown", String::as_str);
    match level {
        "0" => "off",
        "1" => "normal",
        "2" => "full",
        "3" => "extra",
        other => other,
    }
    .to_owned()
}

/// Pages where it is positive, KiB where it is negative: <https://sqlite.org/pragma.html#pragma_cache_size>.
fn cache_size(settings: &std::collections::HashMap<&str, String>) -> String {
    let given = settings.get("cache_size").map_or("unknown", String::as_str);
    match given.strip_prefix('-') {
        Some(kib) => format!("{kib} KiB"),
        None => format!("{given} pages"),
    }
}
