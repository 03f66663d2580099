//! Sessions of MySQL and MariaDB. What the server promises of a commit is left as it is set there.
//!
//! A session on whose answer a caller gave up waiting is lost. The driver is our own: [`wire`].

mod activity;
mod administration;
mod connect;
mod fault;
mod inspect;
mod other;
mod service;
mod several;
mod statement;
mod transaction;
mod used;
mod values;
mod wire;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use record::{Link, Server, ServerSetting};

use crate::durability::unsafe_tables;
use crate::error::{Attempt, Doing, remedy};
use crate::url::{Host, ServerAddress};
use crate::{Cell, Connection, Error, Rows, Sizes, Table, Value, WriteMethod};
use values::ParameterRow;
use wire::{AnswerKind, Conn, DriverError, DriverResult, Row, Statement};

pub(crate) use activity::LOOKING;
pub(crate) use administration::ADMINISTRATION;
pub(crate) use inspect::INSPECTED;

/// Parameters that one statement can have: their number is a 16-bit integer of the protocol.
const PARAMETERS: usize = 65_535;
/// Prepared statements that are kept; each takes memory on the server.
const PREPARED: usize = 64;
/// Rows of one statement where many are loaded. On MariaDB 10.11 this was faster than LOAD DATA LOCAL at 40 rows a commit
/// (1.9 times), at 1,000 (1.3) and at 10,000 (1.2), where one statement of all of them was slower (0.8). It also needs no
/// `local_infile`, and refuses what does not fit, of which LOAD DATA LOCAL makes warnings.
const BULK_ROWS: usize = 1_000;
/// What is set for a session: values that do not fit are errors.
const SETTINGS: &str = "SET NAMES utf8mb4; \
                        SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', SESSION autocommit = 1";
/// Undoes that, for statements of others: what a new session of this server has.
pub(crate) const AS_THE_SERVER_HAS_IT: &str =
    "SET SESSION sql_mode = @@GLOBAL.sql_mode, SESSION autocommit = @@GLOBAL.autocommit";

/// A connection.
pub(crate) struct MysqlSession {
    conn: Conn,
    link: Link,
    target: String,
    is_local: bool,
    prepared: HashMap<String, Statement>,
    /// Prepared INSERTs by table and number of rows.
    inserts: HashMap<(&'static Table, usize), Statement>,
    /// Statements that the server does not prepare.
    unprepared: HashSet<String>,
    /// SQLSTATE of the last error, if it was the server's.
    last_code: Option<String>,
    /// Whether something is under way; stays if a caller gives up waiting.
    is_busy: bool,
    /// Whether a transaction is open that failed.
    is_unfinished: bool,
}

impl MysqlSession {
    pub(crate) async fn open(address: &ServerAddress, target: String) -> Result<(Self, Connection), Error> {
        let attempt = Attempt { doing: Doing::Connect, target: &target };
        let (conn, link) = connect::connect(address, attempt).await?;
        let mut session = Self {
            conn,
            link,
            target,
            is_local: address.hosts().all(Host::is_local),
            prepared: HashMap::new(),
            inserts: HashMap::new(),
            unprepared: HashSet::new(),
            last_code: None,
            is_busy: false,
            is_unfinished: false,
        };
        let connection = session.identify().await?;
        Ok((session, connection))
    }

    /// The connection's number, and when the server began with the client's end of the connection.
    async fn identify(&mut self) -> Result<Connection, Error> {
        let id = match self.query("SELECT connection_id()", &[]).await?.first().map(Vec::as_slice) {
            Some([Value::I64(id)]) => *id,
            _ => return Ok(Connection { id: None, since: String::new() }),
        };
        let since = format!("{} {}", self.began_s().await?, self.client_end(id).await?.unwrap_or_default());
        Ok(Connection { id: u64::try_from(id).ok(), since })
    }

    /// Unix time at which the server began.
    async fn began_s(&mut self) -> Result<i64, Error> {
        let now = self.query("SELECT unix_timestamp()", &[]).await?;
        let uptime = self.query("SHOW GLOBAL STATUS LIKE 'Uptime'", &[]).await?;
        let now_s = now.first().and_then(|row| row.first()).and_then(number);
        let uptime_s = uptime.first().and_then(|row| row.get(1)).and_then(number);
        Ok(now_s.unwrap_or(0) - uptime_s.unwrap_or(0))
    }

    /// Host and port of the client of a connection, if it is there.
    async fn client_end(&mut self, id: i64) -> Result<Option<String>, Error> {
        let sql = "SELECT host FROM information_schema.processlist WHERE id = ?";
        match self.query(sql, &[Value::I64(id)]).await?.first().map(Vec::as_slice) {
            Some([Value::Text(host)]) => Ok(Some(host.clone())),
            _ => Ok(None),
        }
    }

    /// What rows are appended with.
    pub(crate) fn statement_name(method: WriteMethod) -> &'static str {
        match method {
            WriteMethod::Bulk => {
                "prepared INSERT … VALUES of up to 1000 rows, in one transaction (faster than LOAD DATA)"
            }
            WriteMethod::Batch => "prepared INSERT of one row, in one transaction",
            WriteMethod::MultiRow => "prepared INSERT … VALUES of many rows",
        }
    }

    pub(crate) async fn script(&mut self, sql: &str) -> Result<(), Error> {
        let doing = Doing::Run(sql);
        self.begin(doing).await?;
        let result = self.conn.query_drop(sql).await;
        self.done(result, doing)
    }

    pub(crate) async fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        let doing = Doing::Run(sql);
        self.prepare(sql, parameters).await?;
        let result = self.started(sql, parameters).await;
        let result = match result {
            Ok(_) => self.conn.drop_answers().await,
            Err(error) => Err(error),
        };
        self.done(result, doing)?;
        Ok(self.conn.affected_rows())
    }

    pub(crate) async fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Error> {
        self.each_row(sql, parameters, Vec::new(), |rows, row| {
            rows.push(values::received(row)?);
            Ok(())
        })
        .await
    }

    pub(crate) async fn fold<T>(
        &mut self,
        sql: &str,
        parameters: &[Value],
        state: T,
        add: fn(&mut T, &[Cell<'_>]),
    ) -> Result<T, Error> {
        self.each_row(sql, parameters, state, |state, row| values::with_cells(row, |cells| add(state, cells)))
            .await
    }

    pub(crate) async fn count_rows(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        self.each_row(sql, parameters, 0, |rows, _| {
            *rows += 1;
            Ok(())
        })
        .await
    }

    /// Runs a statement, and adds each row of its first answer to a state.
    async fn each_row<T>(
        &mut self,
        sql: &str,
        parameters: &[Value],
        mut state: T,
        mut add: impl FnMut(&mut T, Row<'_>) -> DriverResult<()>,
    ) -> Result<T, Error> {
        let doing = Doing::Run(sql);
        self.prepare(sql, parameters).await?;
        let started = self.started(sql, parameters).await;
        let conn = &mut self.conn;
        let run = async {
            started?;
            while conn.next_row().await? {
                add(&mut state, conn.row())?;
            }
            conn.drop_answers().await
        };
        let result = run.await;
        self.done(result, doing)?;
        Ok(state)
    }

    /// Sends a statement that was prepared, and waits for the beginning of its answer.
    async fn started(&mut self, sql: &str, parameters: &[Value]) -> DriverResult<AnswerKind> {
        let Some(statement) = self.prepared.get_mut(sql) else {
            return Err(DriverError::Parameters { wanted: 0, given: parameters.len() });
        };
        self.conn.execute(statement, |put| parameters.iter().for_each(|value| put.put(value.cell()))).await
    }

    pub(crate) async fn append(
        &mut self,
        table: &'static Table,
        rows: &mut Rows,
        method: WriteMethod,
    ) -> Result<(), Error> {
        self.append_each(table, rows.rows(), method).await
    }

    /// As [`Self::append`], of rows that are read where they lie.
    pub(crate) async fn append_each(
        &mut self,
        table: &'static Table,
        rows: impl ExactSizeIterator<Item = impl ParameterRow>,
        method: WriteMethod,
    ) -> Result<(), Error> {
        if rows.len() == 0 {
            return Ok(());
        }
        let doing = Doing::Append(table.name);
        self.begin(doing).await?;
        let result = match method {
            WriteMethod::Bulk => self.insert_many(table, rows, BULK_ROWS).await,
            WriteMethod::MultiRow => self.insert_many(table, rows, usize::MAX).await,
            WriteMethod::Batch => self.insert_each(table, rows).await,
        };
        self.done(result, doing)
    }

    /// INSERTs of so many rows, or as many as parameters allow; if there is one, it is a transaction of its own.
    async fn insert_many(
        &mut self,
        table: &'static Table,
        mut rows: impl ExactSizeIterator<Item = impl ParameterRow>,
        rows_max: usize,
    ) -> DriverResult<()> {
        let width = table.columns.len().max(1);
        let at_once = (PARAMETERS / width).clamp(1, rows_max);
        let is_one = rows.len() <= at_once;
        if !is_one {
            self.is_unfinished = true;
            self.conn.query_drop("BEGIN").await?;
        }
        while rows.len() > 0 {
            let count = rows.len().min(at_once);
            self.insert(table, rows.by_ref().take(count)).await?;
        }
        if !is_one {
            self.conn.query_drop("COMMIT").await?;
            self.is_unfinished = false;
        }
        Ok(())
    }

    /// An INSERT for each row; the protocol has no way to send one before the last is answered.
    async fn insert_each(
        &mut self,
        table: &'static Table,
        rows: impl ExactSizeIterator<Item = impl ParameterRow>,
    ) -> DriverResult<()> {
        self.is_unfinished = true;
        self.conn.query_drop("BEGIN").await?;
        for row in rows {
            self.insert(table, std::iter::once(row)).await?;
        }
        self.conn.query_drop("COMMIT").await?;
        self.is_unfinished = false;
        Ok(())
    }

    /// Runs a prepared INSERT of all of these rows.
    async fn insert(
        &mut self,
        table: &'static Table,
        rows: impl ExactSizeIterator<Item = impl ParameterRow>,
    ) -> DriverResult<()> {
        let key = (table, rows.len());
        if !self.inserts.contains_key(&key) {
            let row = format!("({})", vec!["?"; table.columns.len()].join(","));
            let (names, rows) = (names(table), vec![row; rows.len()].join(","));
            let sql = format!("INSERT INTO {} ({names}) VALUES {rows}", table.name);
            let statement = self.conn.prepare(&sql).await?;
            if self.inserts.len() >= PREPARED {
                self.inserts.drain().for_each(|(_, old)| self.conn.close(old));
            }
            self.inserts.insert(key, statement);
        }
        match self.inserts.get_mut(&key) {
            Some(statement) => {
                self.conn.execute_drop(statement, |put| rows.for_each(|row| row.put_to(put))).await
            }
            None => Ok(()),
        }
    }

    /// Prepares a statement if it is not, and everything else that it needs to run.
    async fn prepare(&mut self, sql: &str, parameters: &[Value]) -> Result<(), Error> {
        let doing = Doing::Run(sql);
        self.begin(doing).await?;
        if !self.prepared.contains_key(sql) {
            let result = self.prepare_anew(sql).await;
            if result.as_ref().is_err_and(statement::cannot_be_prepared) {
                self.unprepared.insert(sql.to_owned());
            }
            self.done(result, doing)?;
            self.is_busy = true;
        }
        let kept = self.prepared.get(sql);
        if kept.is_some_and(|statement| statement.parameters() == parameters.len()) {
            return Ok(());
        }
        self.is_busy = false;
        let words = format!(
            "{} parameters were given, but the statement has another number of them",
            parameters.len()
        );
        Err(Error::Statement(Attempt { doing, target: &self.target }.text(words, "")))
    }

    async fn prepare_anew(&mut self, sql: &str) -> DriverResult<()> {
        let statement = self.conn.prepare(sql).await?;
        if self.prepared.len() >= PREPARED {
            self.prepared.drain().for_each(|(_, old)| self.conn.close(old));
        }
        self.prepared.insert(sql.to_owned(), statement);
        Ok(())
    }

    /// To be called before anything is sent: ends a transaction that failed.
    async fn begin(&mut self, doing: Doing<'_>) -> Result<(), Error> {
        if std::mem::replace(&mut self.is_busy, true) {
            let attempt = Attempt { doing, target: &self.target };
            return Err(Error::Lost(attempt.text("what was under way was given up", remedy::LOST)));
        }
        if self.is_unfinished {
            let result = self.conn.query_drop("ROLLBACK").await;
            self.done(result, Doing::Run("ROLLBACK"))?;
            self.is_busy = true;
            self.is_unfinished = false;
        }
        Ok(())
    }

    /// SQLSTATE of the last error.
    pub(crate) fn last_code(&self) -> Option<String> {
        self.last_code.clone()
    }

    /// To be called with what has come.
    fn done<T>(&mut self, result: DriverResult<T>, doing: Doing<'_>) -> Result<T, Error> {
        self.is_busy = false;
        self.last_code = None;
        result.map_err(|error| {
            if let DriverError::Server(answer) = &error {
                self.last_code = Some(answer.state.clone());
            }
            let error = fault::of(&error, Attempt { doing, target: &self.target });
            if let (Doing::Run(sql), false) = (doing, matches!(error, Error::Conflict(_))) {
                // The server keeps nothing of it.
                self.prepared.remove(sql).into_iter().for_each(|failed| self.conn.close(failed));
            }
            error
        })
    }

    pub(crate) async fn server(&mut self) -> Result<Server, Error> {
        let sql = "SHOW GLOBAL VARIABLES WHERE variable_name IN ('version', 'innodb_flush_log_at_trx_commit', \
                   'sync_binlog', 'log_bin', 'innodb_doublewrite', 'innodb_flush_method', 'innodb_buffer_pool_size', \
                   'innodb_log_file_size', 'innodb_redo_log_capacity', 'datadir', \
                   'innodb_log_group_home_dir')";
        let mut settings = HashMap::new();
        let mut listed = Vec::new();
        for row in self.query(sql, &[]).await? {
            if let [Value::Text(name), value] = row.as_slice() {
                let value = if name.ends_with("size") || name.ends_with("capacity") {
                    number(value).map_or_else(|| "unknown".to_owned(), size)
                } else {
                    text(value)
                };
                settings.insert(name.to_lowercase(), value.clone());
                if !["version", "datadir", "innodb_log_group_home_dir"].contains(&name.as_str()) {
                    listed.push(ServerSetting { name: name.clone(), value });
                }
            }
        }
        let setting = |name: &str| settings.get(name).map_or("unknown", String::as_str);
        let (is_durable, durability) = durability(
            setting("innodb_flush_log_at_trx_commit"),
            setting("log_bin"),
            setting("sync_binlog"),
            setting("innodb_flush_method"),
        );
        let data_directory = settings.get("datadir").filter(|_| self.is_local);
        Ok(Server {
            version: product(setting("version")),
            durability,
            is_durable,
            settings: listed,
            log_directory: data_directory.zip(settings.get("innodb_log_group_home_dir")).map(
                |(data, log)| {
                    // As the server reads it: `./` is its data directory.
                    Path::new(data).join(log).display().to_string()
                },
            ),
            data_directory: data_directory.cloned(),
            link: Some(self.link.clone()),
            services: self.services().await?,
            unsafe_tables: unsafe_tables(self.unsafe_tables().await?),
        })
    }

    /// Tables of storage engines without a log; none where the login may not see them.
    async fn unsafe_tables(&mut self) -> Result<Vec<Vec<Value>>, Error> {
        let sql = "SELECT engine, table_name FROM information_schema.tables WHERE table_schema = database() \
                   AND engine IN ('MEMORY', 'MyISAM', 'MRG_MyISAM', 'CSV', 'ARCHIVE') ORDER BY 1, 2 LIMIT 1000";
        match self.query(sql, &[]).await {
            Err(error) if error.is_lost() => Err(error),
            rows => Ok(rows.unwrap_or_default()),
        }
    }

    pub(crate) async fn sizes(&mut self) -> Result<Sizes, Error> {
        // The first knows the files and needs the right PROCESS; the last knows what statistics say, which lag behind.
        let database = [
            "SELECT sum(file_size) FROM information_schema.innodb_sys_tablespaces \
             WHERE name LIKE concat(replace(database(), '_', '\\\\_'), '/%')",
            "SELECT sum(file_size) FROM information_schema.innodb_tablespaces \
             WHERE name LIKE concat(replace(database(), '_', '\\\\_'), '/%')",
            "SELECT sum(data_length + index_length) FROM information_schema.tables WHERE table_schema = database()",
        ];
        let log = [
            "SELECT @@innodb_redo_log_capacity",
            "SELECT @@innodb_log_file_size * @@innodb_log_files_in_group",
            "SELECT @@innodb_log_file_size",
        ];
        Ok(Sizes {
            database_bytes: self.bytes(&database).await?,
            log_bytes: self.bytes(&log).await?,
            log_written_bytes: self.bytes(&["SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'"]).await?,
        })
    }

    /// The number at the end of the row that the first query gives that can be run.
    async fn bytes(&mut self, queries: &[&str]) -> Result<Option<u64>, Error> {
        for sql in queries {
            match self.query(sql, &[]).await {
                Ok(rows) => {
                    let bytes = rows.first().and_then(|row| row.last()).and_then(number);
                    if let Some(bytes) = bytes.and_then(|bytes| u64::try_from(bytes).ok()) {
                        return Ok(Some(bytes));
                    }
                }
                Err(error) if error.is_lost() => return Err(error),
                Err(_) => {}
            }
        }
        Ok(None)
    }
}

impl std::fmt::Debug for MysqlSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MysqlSession").field("target", &self.target).finish_non_exhaustive()
    }
}

fn names(table: &Table) -> String {
    table.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(",")
}

/// A whole number, in whatever type it has come.
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::I64(number) => Some(*number),
        Value::F64(number) => Some(*number as i64),
        Value::Text(text) => text.parse().ok(),
        Value::Null | Value::I16(_) | Value::I32(_) => None,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::I64(number) => number.to_string(),
        Value::F64(number) => number.to_string(),
        Value::Null | Value::I16(_) | Value::I32(_) => "unknown".to_owned(),
    }
}

fn size(bytes: i64) -> String {
    if bytes % (1 << 20) == 0 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} B") }
}

/// `10.11.14-MariaDB-0+deb12u2` is MariaDB, `8.4.3` is MySQL.
fn product(version: &str) -> String {
    let number = version.split('-').next().unwrap_or(version);
    let name = if version.contains("MariaDB") { "MariaDB" } else { "MySQL" };
    format!("{name} {number}")
}

/// Source: <https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables>,
/// `innodb_flush_log_at_trx_commit`. With a binary log a crash keeps what is in both logs, so both must be synced.
fn durability(flush: &str, log_bin: &str, sync_binlog: &str, method: &str) -> (bool, String) {
    let has_binlog = log_bin.eq_ignore_ascii_case("on") || log_bin == "1";
    let binlog =
        if has_binlog { format!(", sync_binlog={sync_binlog}") } else { ", no binary log".to_owned() };
    let settings = format!("innodb_flush_log_at_trx_commit={flush}{binlog}");
    let is_synced = !method.to_lowercase().contains("nosync");
    let (is_durable, sentence) = match flush {
        "1" | "3" if !is_synced => (false, "nothing is forced to the disk: innodb_flush_method is nosync"),
        "1" | "3" if has_binlog && sync_binlog != "1" => (
            false,
            "the redo log is flushed at each commit, but the binary log is not: the last commits may be lost",
        ),
        "1" | "3" => (true, "each commit waits until its redo log is flushed to the disk"),
        _ => {
            (false, "commits return before their redo log is flushed: a crash can lose about the last second")
        }
    };
    (is_durable, format!("{sentence} ({settings})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_durable_is_flushed_in_all_logs() {
        for (flush, log_bin, sync_binlog, method, expected) in [
            ("1", "OFF", "0", "fsync", true),
            ("1", "ON", "1", "O_DIRECT", true),
            ("1", "ON", "0", "O_DIRECT", false),
            ("1", "OFF", "0", "nosync", false),
            ("2", "OFF", "0", "fsync", false),
            ("0", "ON", "1", "fsync", false),
        ] {
            let (is_durable, sentence) = durability(flush, log_bin, sync_binlog, method);
            assert_eq!(is_durable, expected, "{sentence}");
        }
    }

    #[test]
    fn products_are_told_by_their_version() {
        assert_eq!(product("10.11.14-MariaDB-0+deb12u2-log"), "MariaDB 10.11.14");
        assert_eq!(product("8.4.3"), "MySQL 8.4.3");
    }
}
