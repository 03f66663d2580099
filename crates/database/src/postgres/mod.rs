//! Sessions of PostgreSQL. What the server promises of a commit is left as it is set there.

mod activity;
mod administration;
mod auth;
mod connect;
mod copy;
mod exchange;
mod fault;
mod inspect;
mod line;
mod message;
mod other;
mod service;
mod several;
mod statement;
mod transaction;
mod used;
mod values;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::pin::{Pin, pin};

use bytes::Bytes;
use futures_util::future::{MaybeDone, maybe_done, poll_immediate};
use futures_util::{SinkExt as _, StreamExt as _};
use record::{Link, Server, ServerSetting};
use tokio_postgres::{Client, Statement};

use crate::durability::unsafe_tables;
use crate::error::{Attempt, Doing};
use crate::url::ServerAddress;
use crate::{Connection, Error, Rows, Sizes, Table, Value, WriteMethod};
use exchange::Exchange;
use transaction::after_begin;
use values::Received;

pub(crate) use activity::LOOKING;
pub(crate) use administration::ADMINISTRATION;
pub(crate) use copy::Encode;
pub(crate) use inspect::INSPECTED;

/// Parameters that one statement can have: their number is a 16-bit integer of the protocol.
const PARAMETERS: usize = 65_535;
/// Rows of a batch that are under way at once: each takes some hundred bytes here.
const UNDER_WAY: usize = 10_000;
/// Size of the pieces in which rows are sent.
const PIECE_BYTES: usize = 64 << 10;
/// Prepared statements that are kept; each takes memory on the server.
const PREPARED: usize = 64;

/// A connection. What moves its bytes runs beside it on the same runtime.
pub(crate) struct PostgresSession {
    /// To be used only while the line is the driver's: once `settle` has run.
    client: Client,
    exchange: Exchange,
    /// Whether statements are put into a pipeline.
    is_pipeline: bool,
    link: Link,
    target: String,
    is_local: bool,
    prepared: HashMap<String, Statement>,
    /// Prepared INSERTs by table and number of rows.
    inserts: HashMap<(&'static Table, usize), Statement>,
    /// Prepared COPYs by table.
    copies: HashMap<&'static Table, Statement>,
    /// Whether a transaction may be open that nobody waits for any more.
    is_unfinished: bool,
    /// Whether the next statement is the first of a transaction.
    is_to_begin: bool,
    /// Whether the sizes of the WAL's files can be read.
    sees_wal: bool,
    /// SQLSTATE of the last statement of others, if it failed.
    last_code: Option<String>,
}

impl PostgresSession {
    pub(crate) async fn open(address: &ServerAddress, target: String) -> Result<(Self, Connection), Error> {
        let attempt = Attempt { doing: Doing::Connect, target: &target };
        let (connected, link) = connect::connect(address, attempt).await?;
        let mut session = Self {
            client: connected.client,
            exchange: Exchange::over(connected.line),
            is_pipeline: false,
            is_local: !link.is_remote,
            link,
            target,
            prepared: HashMap::new(),
            inserts: HashMap::new(),
            copies: HashMap::new(),
            is_unfinished: false,
            is_to_begin: false,
            sees_wal: true,
            last_code: None,
        };
        let connection = session.identify().await?;
        Ok((session, connection))
    }

    /// The backend's number and when it began, in µs.
    async fn identify(&mut self) -> Result<Connection, Error> {
        let sql = "SELECT pid, (extract(epoch FROM backend_start) * 1000000)::bigint::text FROM pg_stat_activity \
                   WHERE pid = pg_backend_pid()";
        let rows = self.query(sql, &[]).await?;
        match rows.first().map(Vec::as_slice) {
            Some([Value::I64(pid), Value::Text(since)]) => {
                Ok(Connection { id: u64::try_from(*pid).ok(), since: since.clone() })
            }
            _ => Ok(Connection { id: None, since: String::new() }),
        }
    }

    /// What rows are appended with.
    pub(crate) fn statement_name(method: WriteMethod) -> &'static str {
        match method {
            WriteMethod::Bulk => "COPY … FROM STDIN (FORMAT binary)",
            WriteMethod::Batch => "prepared INSERT of one row, pipelined in one transaction",
            WriteMethod::MultiRow => "prepared INSERT … VALUES of many rows",
        }
    }

    pub(crate) async fn script(&mut self, sql: &str) -> Result<(), Error> {
        self.settle().await?;
        self.client.batch_execute(sql).await.map_err(|error| self.failed(&error, Doing::Run(sql)))
    }

    pub(crate) async fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        self.settle().await?;
        let statement = self.prepare(sql, parameters).await?;
        let is_first = std::mem::take(&mut self.is_to_begin);
        let run = self.client.execute_raw(&statement, parameters.iter().map(Value::cell));
        let result = after_begin(&self.client, is_first, run).await;
        result.map_err(|error| self.forget(sql, &error))
    }

    pub(crate) async fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Error> {
        self.settle().await?;
        let statement = self.prepare(sql, parameters).await?;
        let width = statement.columns().len();
        let mut found = Vec::new();
        let is_first = std::mem::take(&mut self.is_to_begin);
        let run = async {
            let mut rows = pin!(self.client.query_raw(&statement, parameters.iter().map(Value::cell)).await?);
            while let Some(row) = rows.next().await {
                let row = row?;
                let values: Result<Vec<Value>, _> = (0..width)
                    .map(|column| row.try_get::<_, Received>(column).map(|received| received.0))
                    .collect();
                found.push(values?);
            }
            Ok(())
        };
        let result = after_begin(&self.client, is_first, run).await;
        result.map(|()| found).map_err(|error| self.forget(sql, &error))
    }

    pub(crate) async fn count_rows(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        self.settle().await?;
        let statement = self.prepare(sql, parameters).await?;
        let is_first = std::mem::take(&mut self.is_to_begin);
        let run = async {
            let mut count = 0;
            let mut rows = pin!(self.client.query_raw(&statement, parameters.iter().map(Value::cell)).await?);
            while let Some(row) = rows.next().await {
                row?;
                count += 1;
            }
            Ok(count)
        };
        let result = after_begin(&self.client, is_first, run).await;
        result.map_err(|error| self.forget(sql, &error))
    }

    pub(crate) async fn append(
        &mut self,
        table: &'static Table,
        rows: &mut Rows,
        method: WriteMethod,
    ) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        match method {
            WriteMethod::Bulk => self.copy(table, rows.rows()).await,
            WriteMethod::MultiRow => {
                self.settle().await?;
                self.insert_many(table, rows).await
            }
            WriteMethod::Batch => {
                self.settle().await?;
                self.insert_each(table, rows).await
            }
        }
    }

    /// One COPY, which is a transaction of its own.
    pub(crate) async fn copy(
        &mut self,
        table: &'static Table,
        rows: impl ExactSizeIterator<Item = impl Encode>,
    ) -> Result<(), Error> {
        if rows.len() == 0 {
            return Ok(());
        }
        self.settle().await?;
        let doing = Doing::Append(table.name);
        let statement = match self.copies.get(table) {
            Some(statement) => statement.clone(),
            None => {
                let sql = format!("COPY {} ({}) FROM STDIN (FORMAT binary)", table.name, names(table));
                let statement =
                    self.client.prepare(&sql).await.map_err(|error| self.failed(&error, doing))?;
                self.copies.insert(table, statement.clone());
                statement
            }
        };
        let client = &self.client;
        let mut encoder = copy::Encoder::new(table, rows);
        let run = async {
            // The server works on each piece while the next is encoded. The first one is encoded before: to have the server
            // begin meanwhile takes a look at the socket more, which costs as much as it gains.
            let mut piece = encoder.piece(PIECE_BYTES).map_err(Unsent::Value)?;
            let mut sink = pin!(client.copy_in::<_, Bytes>(&statement).await.map_err(Unsent::Driver)?);
            while let Some(bytes) = piece {
                sink.feed(bytes).await.map_err(Unsent::Driver)?;
                piece = encoder.piece(PIECE_BYTES).map_err(Unsent::Value)?;
            }
            sink.finish().await.map(|_| ()).map_err(Unsent::Driver)
        };
        let result = run.await;
        result.map_err(|unsent| match unsent {
            Unsent::Driver(error) => self.failed(&error, doing),
            Unsent::Value(words) => {
                Error::Statement(Attempt { doing, target: &self.target }.text(words, "none was stored"))
            }
        })
    }

    /// As few INSERTs as parameters allow; if there is one, it is a transaction of its own.
    async fn insert_many(&mut self, table: &'static Table, rows: &Rows) -> Result<(), Error> {
        let width = table.columns.len().max(1);
        let parts = rows.in_parts((PARAMETERS / width).max(1));
        let is_one = parts.len() <= 1;
        let doing = Doing::Append(table.name);
        if !is_one {
            self.is_unfinished = true;
            self.client.batch_execute("BEGIN").await.map_err(|error| self.failed(&error, doing))?;
        }
        for part in parts {
            let statement = self.insert(table, part.len() / width).await?;
            let result = self.client.execute_raw(&statement, part).await;
            result.map_err(|error| self.failed(&error, doing))?;
        }
        if !is_one {
            self.client.batch_execute("COMMIT").await.map_err(|error| self.failed(&error, doing))?;
            self.is_unfinished = false;
        }
        Ok(())
    }

    /// An INSERT for each row, sent without waiting for an answer.
    async fn insert_each(&mut self, table: &'static Table, rows: &Rows) -> Result<(), Error> {
        let doing = Doing::Append(table.name);
        let statement = self.insert(table, 1).await?;
        self.is_unfinished = true;
        let result = send_each(&self.client, &statement, rows).await;
        result.map_err(|error| self.failed(&error, doing))?;
        self.is_unfinished = false;
        Ok(())
    }

    /// A prepared INSERT of so many rows.
    async fn insert(&mut self, table: &'static Table, rows: usize) -> Result<Statement, Error> {
        if let Some(statement) = self.inserts.get(&(table, rows)) {
            return Ok(statement.clone());
        }
        let width = table.columns.len();
        let mut sql = format!("INSERT INTO {} ({}) VALUES ", table.name, names(table));
        for parameter in 0..rows * width {
            let before = match (parameter, parameter % width) {
                (0, _) => "(",
                (_, 0) => "),(",
                _ => ",",
            };
            // Writing to a string cannot fail.
            let _ = write!(sql, "{before}${}", parameter + 1);
        }
        sql.push(')');
        let result = self.client.prepare(&sql).await;
        let statement = result.map_err(|error| self.failed(&error, Doing::Append(table.name)))?;
        if self.inserts.len() >= PREPARED {
            self.inserts.clear();
        }
        self.inserts.insert((table, rows), statement.clone());
        Ok(statement)
    }

    async fn prepare(&mut self, sql: &str, parameters: &[Value]) -> Result<Statement, Error> {
        let statement = match self.prepared.get(sql) {
            Some(statement) => statement.clone(),
            None => {
                let result = self.client.prepare(sql).await;
                let statement = result.map_err(|error| self.failed(&error, Doing::Run(sql)))?;
                if self.prepared.len() >= PREPARED {
                    self.prepared.clear();
                }
                self.prepared.insert(sql.to_owned(), statement.clone());
                statement
            }
        };
        let wanted = statement.params().len();
        if wanted == parameters.len() {
            return Ok(statement);
        }
        let attempt = Attempt { doing: Doing::Run(sql), target: &self.target };
        let words = format!("the statement has {wanted} parameters, but {} were given", parameters.len());
        Err(Error::Statement(attempt.text(words, "")))
    }

    /// Lets the driver have the line, and ends a transaction that was left open because it failed or because nobody waited for its end.
    async fn settle(&mut self) -> Result<(), Error> {
        self.give_line_back().await?;
        if self.is_unfinished {
            let result = self.client.batch_execute("ROLLBACK").await;
            result.map_err(|error| self.failed(&error, Doing::Run("ROLLBACK")))?;
            self.is_unfinished = false;
        }
        Ok(())
    }

    /// A statement that failed is prepared anew the next time, because its tables may be others now; not if others were
    /// in its way.
    fn forget(&mut self, sql: &str, error: &tokio_postgres::Error) -> Error {
        let error = self.failed(error, Doing::Run(sql));
        if !matches!(error, Error::Conflict(_)) {
            self.prepared.remove(sql);
        }
        error
    }

    fn failed(&self, error: &tokio_postgres::Error, doing: Doing<'_>) -> Error {
        fault::of(error, self.client.is_closed(), Attempt { doing, target: &self.target })
    }

    pub(crate) async fn server(&mut self) -> Result<Server, Error> {
        let sql = "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('server_version', 'fsync', \
                   'synchronous_commit', 'full_page_writes', 'wal_sync_method', 'wal_level', 'shared_buffers', \
                   'max_wal_size', 'checkpoint_timeout', 'wal_compression', 'data_directory') ORDER BY name";
        let mut settings = HashMap::new();
        let mut listed = Vec::new();
        for row in self.query(sql, &[]).await? {
            if let [Value::Text(name), Value::Text(value)] = row.as_slice() {
                settings.insert(name.clone(), value.clone());
                if name != "server_version" && name != "data_directory" {
                    listed.push(ServerSetting { name: name.clone(), value: value.clone() });
                }
            }
        }
        listed.extend(self.commit_settings().await?);
        let setting = |name: &str| settings.get(name).map_or("unknown", String::as_str);
        let (is_durable, durability) = durability(setting("fsync"), setting("synchronous_commit"));
        let version = setting("server_version").split(' ').next().unwrap_or("unknown");
        let data_directory = settings.get("data_directory").filter(|_| self.is_local);
        Ok(Server {
            version: format!("PostgreSQL {version}"),
            durability,
            is_durable,
            settings: listed,
            log_directory: data_directory.map(|data| format!("{data}/pg_wal")),
            data_directory: data_directory.cloned(),
            link: Some(self.link.clone()),
            services: self.services().await?,
            unsafe_tables: unsafe_tables(self.rows_of(UNSAFE_TABLES).await?),
        })
    }

    /// What is set of commits for this role or this database, which comes before the server's own setting.
    async fn commit_settings(&mut self) -> Result<Vec<ServerSetting>, Error> {
        let rows = self.rows_of(COMMIT_SETTINGS).await?;
        let setting = |row: &Vec<Value>| match row.as_slice() {
            [Value::Text(of), Value::Text(value)] => {
                Some(ServerSetting { name: format!("synchronous_commit of {of}"), value: value.clone() })
            }
            _ => None,
        };
        Ok(rows.iter().filter_map(setting).collect())
    }

    /// Rows of something that a login may not see, or that a server of another kind does not have: then none.
    async fn rows_of(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Error> {
        match self.query(sql, &[]).await {
            Err(error) if error.is_lost() => Err(error),
            rows => Ok(rows.unwrap_or_default()),
        }
    }

    pub(crate) async fn sizes(&mut self) -> Result<Sizes, Error> {
        let database_bytes = self.bytes("SELECT pg_database_size(current_database())").await?;
        // A standby has no place where it inserts.
        let log_written_bytes =
            self.bytes("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint").await?;
        let mut log_bytes = None;
        if self.sees_wal {
            log_bytes = self.bytes("SELECT coalesce(sum(size), 0)::bigint FROM pg_ls_waldir()").await?;
            self.sees_wal = log_bytes.is_some();
        }
        Ok(Sizes { database_bytes, log_bytes, log_written_bytes })
    }

    /// One number, or none if this login may not see it.
    async fn bytes(&mut self, sql: &str) -> Result<Option<u64>, Error> {
        match self.query(sql, &[]).await {
            Ok(rows) => {
                let bytes = rows.first().and_then(|row| row.first()).and_then(Value::integer);
                Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()))
            }
            Err(error) if error.is_lost() => Err(error),
            Err(_) => Ok(None),
        }
    }
}

impl std::fmt::Debug for PostgresSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresSession").field("target", &self.target).finish_non_exhaustive()
    }
}

fn names(table: &Table) -> String {
    table.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(",")
}

/// A transaction that executes a statement for each row, sent without waiting for an answer.
async fn send_each(client: &Client, statement: &Statement, rows: &Rows) -> Result<(), tokio_postgres::Error> {
    let mut begin = Some(on_its_way(client.batch_execute("BEGIN")).await);
    let mut inserts = Vec::with_capacity(rows.len().min(UNDER_WAY));
    let mut left = rows.rows();
    while left.len() > 0 {
        for row in left.by_ref().take(UNDER_WAY) {
            inserts.push(on_its_way(client.execute_raw(statement, row)).await);
        }
        let commit =
            if left.len() == 0 { Some(on_its_way(client.batch_execute("COMMIT")).await) } else { None };
        if let Some(begin) = begin.take() {
            answer(begin).await?;
        }
        for insert in inserts.drain(..) {
            answer(insert).await?;
        }
        if let Some(commit) = commit {
            answer(commit).await?;
        }
    }
    Ok(())
}

/// Why rows did not go out. A COPY that is not finished stores nothing.
enum Unsent {
    Driver(tokio_postgres::Error),
    /// A value is not of its column's kind.
    Value(String),
}

type UnderWay<F> = Pin<Box<MaybeDone<F>>>;

/// A request that is polled once is on its way; the order of polls is that of the wire.
async fn on_its_way<F: Future>(request: F) -> UnderWay<F> {
    let mut request = Box::pin(maybe_done(request));
    poll_immediate(&mut request).await;
    request
}

async fn answer<T, E>(mut request: UnderWay<impl Future<Output = Result<T, E>>>) -> Result<(), E> {
    request.as_mut().await;
    request.as_mut().take_output().transpose().map(|_| ())
}

/// What has no log: <https://www.postgresql.org/docs/current/sql-createtable.html>, `UNLOGGED`. Temporary tables are those of all sessions.
const UNSAFE_TABLES: &str = "SELECT CASE c.relpersistence WHEN 'u' THEN 'unlogged' ELSE 'temporary' END, c.relname::text \
     FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
     WHERE c.relpersistence IN ('u', 't') AND c.relkind IN ('r', 'p', 'm') AND n.nspname NOT LIKE 'pg\\_toast%' \
     ORDER BY c.relpersistence = 't', 2 LIMIT 1000";
/// Those of a role or a database apply to sessions that begin later.
const COMMIT_SETTINGS: &str = "SELECT concat_ws(' in ', CASE WHEN s.setrole <> 0 THEN 'role ' || current_user END, \
     CASE WHEN s.setdatabase <> 0 THEN 'database ' || current_database() END), split_part(one, '=', 2) \
     FROM pg_db_role_setting AS s CROSS JOIN unnest(s.setconfig) AS one \
     WHERE one LIKE 'synchronous_commit=%' \
     AND s.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user)) \
     AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())) ORDER BY 1";

/// Source: <https://www.postgresql.org/docs/current/runtime-config-wal.html>, `fsync` and `synchronous_commit`.
fn durability(fsync: &str, synchronous_commit: &str) -> (bool, String) {
    let settings = format!("fsync={fsync}, synchronous_commit={synchronous_commit}");
    let is_durable = fsync == "on" && synchronous_commit != "off";
    let sentence = match (fsync, synchronous_commit) {
        ("on", "off") => "commits return before their WAL is flushed: a crash can lose the last ones",
        ("on", _) => "each commit waits until its WAL is flushed to the disk",
        _ => "nothing is forced to the disk: a loss of power may destroy the database",
    };
    (is_durable, format!("{sentence} ({settings})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_durable_is_fsynced_and_waited_for() {
        for (fsync, synchronous_commit, expected) in [
            ("on", "on", true),
            ("on", "local", true),
            ("on", "remote_apply", true),
            ("on", "off", false),
            ("off", "on", false),
        ] {
            let (is_durable, sentence) = durability(fsync, synchronous_commit);
            assert_eq!(is_durable, expected, "{sentence}");
            assert!(sentence.contains(synchronous_commit), "{sentence}");
        }
    }
}
