//! Sessions of ClickHouse over its HTTP interface: <https://clickhouse.com/docs/interfaces/http>.
//!
//! A server knows requests alone: nothing that one sets holds for the next, there are no transactions, and values stand in the text of
//! a statement. Rows are changed by mutations, which a server works on once they were answered, unless it is told to wait
//! (`mutations_sync`, since 19.11); who asks for them waits.

mod caller;
mod fault;
mod values;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

use record::{Link, Server, ServerSetting};
use tokio::time::{Instant, sleep};

use crate::error::{Attempt, Doing};
use crate::rows::CellRow;
use crate::silence::{END_INTERVAL, END_TIMEOUT};
use crate::url::ServerAddress;
use crate::{Answer, Cell, Connection, Error, Protocol, Rows, Sizes, Table, Value, Wanted, WriteMethod};
use caller::{Caller, encoded};
use values::{ANSWERED_IN, Answered};

/// Settings that change figures, where a server has them.
const SETTINGS: &str = "SELECT name, value FROM system.settings WHERE name IN ('max_threads', 'max_memory_usage', 'mutations_sync') \
                        ORDER BY name";
/// Those of its tables.
const TABLE_SETTINGS: &str = "SELECT name, value FROM system.merge_tree_settings WHERE name IN ('fsync_after_insert', \
'index_granularity') ORDER BY name";
/// The setting that makes the answer of a mutation wait for it.
const WAITS: &str = "mutations_sync";

/// Requests to one database of a server.
#[derive(Debug)]
pub(crate) struct ClickHouseSession {
    target: String,
    caller: Caller,
    is_remote: bool,
    /// What stands in each request: the database, and the format of answers.
    asked_with: String,
    /// What the numbers of its requests begin with.
    name: String,
    requests: u64,
    version: String,
    /// Code of the last error that the server told.
    last_code: Option<u32>,
}

impl ClickHouseSession {
    /// Makes the first request.
    pub(crate) async fn open(address: &ServerAddress, target: String) -> Result<(Self, Connection), Error> {
        /// Sessions of this process are told apart by it.
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let attempt = Attempt { doing: Doing::Connect, target: &target };
        let caller = Caller::new(address, attempt)?;
        let run = ownership::RunId::new().map_err(|error| Error::Unreachable(attempt.text(error, "")))?;
        let name = format!("prony-{run}-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let database = address.database.as_deref().unwrap_or("default");
        let asked_with =
            format!("database={}&default_format={ANSWERED_IN}&wait_end_of_query=1", encoded(database));
        let is_remote = !address.host.is_local();
        let (requests, version, last_code) = (0, String::new(), None);
        let mut session = Self {
            target: target.clone(),
            caller,
            is_remote,
            asked_with,
            name: name.clone(),
            requests,
            version,
            last_code,
        };
        let asked = "SELECT version()";
        let told = session.ask(("", asked.as_bytes()), attempt).await?;
        let Some([Value::Text(version)]) = told.rows.first().map(Vec::as_slice) else {
            let words = "it did not report a version";
            return Err(Error::Unreachable(
                attempt.text(words, "see whether ClickHouse listens on that port"),
            ));
        };
        session.version.clone_from(version);
        let waits = format!("SELECT count() FROM system.settings WHERE name = '{WAITS}'");
        if session.query(&waits, &[]).await? == [[Value::I64(1)]] {
            session.asked_with += "&mutations_sync=1";
        }
        Ok((session, Connection { id: None, since: name }))
    }

    /// What rows are appended with.
    pub(crate) fn statement_name(_: WriteMethod) -> &'static str {
        "INSERT … FORMAT RowBinary"
    }

    /// Whether an answer to a mutation comes when it is done.
    pub(crate) fn waits_for_mutations(&self) -> bool {
        self.asked_with.contains(WAITS)
    }

    /// One statement a request: a server takes no more.
    pub(crate) async fn script(&mut self, sql: &str) -> Result<(), Error> {
        for statement in crate::Dialect::ClickHouse.statements(sql) {
            let statement = statement.trim().trim_end_matches(';');
            self.run(statement, &[]).await?;
        }
        Ok(())
    }

    /// How many rows were changed it does not tell.
    pub(crate) async fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        self.run(sql, parameters).await.map(|_| 0)
    }

    pub(crate) async fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Error> {
        self.run(sql, parameters).await.map(|answered| answered.rows)
    }

    pub(crate) async fn count_rows(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        self.run(sql, parameters).await.map(|answered| answered.rows.len() as u64)
    }

    /// The answer is kept whole until it has come.
    pub(crate) async fn fold<T: Send + 'static>(
        &mut self,
        sql: &str,
        parameters: &[Value],
        mut state: T,
        add: fn(&mut T, &[Cell<'_>]),
    ) -> Result<T, Error> {
        let answered = self.run(sql, parameters).await?;
        for row in &answered.rows {
            let mut cells = CellRow::of(row.len());
            cells.iter_mut().zip(row).for_each(|(cell, value)| *cell = value.cell());
            add(&mut state, &cells);
        }
        Ok(state)
    }

    pub(crate) async fn statement(
        &mut self,
        sql: &str,
        parameters: &[Value],
        (protocol, wanted): (Protocol, Wanted),
    ) -> Result<Answer, Error> {
        match protocol {
            Protocol::Simple => {}
            Protocol::Extended | Protocol::Prepared => {
                let attempt = Attempt { doing: Doing::Run(sql), target: &self.target };
                return Err(Error::Statement(attempt.text("ClickHouse does not prepare statements", "")));
            }
        }
        self.last_code = None;
        let Answered { names, mut rows } = self.run(sql, parameters).await?;
        let count = rows.len() as u64;
        let last = match wanted {
            Wanted::Nothing | Wanted::Count => None,
            Wanted::Last => rows.pop(),
        };
        Ok(Answer {
            rows: count,
            last: last.map_or_else(Vec::new, |row| names.into_iter().zip(row).collect()),
            ..Answer::default()
        })
    }

    /// What it called the last error.
    pub(crate) fn last_code(&self) -> Option<String> {
        self.last_code.map(|code| code.to_string())
    }

    /// One INSERT: all of the rows are there after it, or none.
    pub(crate) async fn append(
        &mut self,
        table: &'static Table,
        rows: &Rows,
        _: WriteMethod,
    ) -> Result<(), Error> {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let sql = format!("INSERT INTO {} ({}) FORMAT RowBinary", table.name, columns.join(", "));
        let target = self.target.clone();
        let attempt = Attempt { doing: Doing::Append(table.name), target: &target };
        let mut body = Vec::new();
        values::row_binary(rows, &mut body).map_err(|words| Error::Statement(attempt.text(words, "")))?;
        self.ask((&sql, &body), attempt).await.map(drop)
    }

    pub(crate) async fn server(&mut self) -> Result<Server, Error> {
        let mut settings = self.settings(SETTINGS).await?;
        settings.extend(self.settings(TABLE_SETTINGS).await?);
        let is_durable =
            settings.iter().any(|setting| setting.name == "fsync_after_insert" && setting.value != "0");
        let durability = if is_durable {
            "each INSERT is synced before it is answered (fsync_after_insert)"
        } else {
            "what was answered is in files that were not synced: it may be lost with the power"
        };
        // It is of a database, and a server of others may have several places.
        let path =
            self.query("SELECT data_path FROM system.databases WHERE name = currentDatabase()", &[]).await;
        let path = match path {
            Err(error) if error.is_lost() => return Err(error),
            path => path.ok().and_then(|rows| rows.first()?.first()?.text().map(str::to_owned)),
        };
        let encryption = self.caller.encryption();
        let remark = encryption.is_none().then(|| "as the address says".to_owned());
        Ok(Server {
            version: format!("ClickHouse {}", self.version),
            durability: durability.to_owned(),
            is_durable,
            settings,
            data_directory: path,
            log_directory: None,
            link: Some(Link { is_remote: self.is_remote, encryption, remark, taken: Vec::new() }),
            services: Vec::new(),
            unsafe_tables: Vec::new(),
        })
    }

    async fn settings(&mut self, asked: &str) -> Result<Vec<ServerSetting>, Error> {
        match self.query(asked, &[]).await {
            Err(error) if error.is_lost() => Err(error),
            Err(_) => Ok(Vec::new()),
            Ok(rows) => Ok(rows.into_iter().filter_map(setting).collect()),
        }
    }

    /// It has no log.
    pub(crate) async fn sizes(&mut self) -> Result<Sizes, Error> {
        let asked = "SELECT toInt64(sum(bytes_on_disk)) FROM system.parts WHERE database = currentDatabase() AND active";
        let database_bytes = match self.query(asked, &[]).await {
            Err(error) if error.is_lost() => return Err(error),
            rows => rows.ok().and_then(|rows| rows.first()?.first()?.integer()?.try_into().ok()),
        };
        Ok(Sizes { database_bytes, ..Sizes::default() })
    }

    /// Whether the server works on a request of another session.
    pub(crate) async fn works_for(&mut self, other: &Connection) -> Result<bool, Error> {
        Ok(self.query(&requests_of("count()", other), &[]).await? != [[Value::I64(0)]])
    }

    /// Ends the requests of another session, and waits until they are gone.
    pub(crate) async fn end(&mut self, other: &Connection) -> Result<(), Error> {
        let deadline = Instant::now() + END_TIMEOUT;
        while self.works_for(other).await? {
            let killed = self.script(&format!("KILL QUERY WHERE query_id LIKE '{}-%'", other.since)).await;
            if Instant::now() >= deadline || killed.is_err() {
                let words =
                    killed.err().map_or_else(|| "they are still there".to_owned(), |error| error.to_string());
                return Err(Error::Statement(format!(
                    "cannot end the requests {}-… to {}: {words}",
                    other.since, self.target
                )));
            }
            sleep(END_INTERVAL).await;
        }
        Ok(())
    }

    /// Refuses what it has not, a statement without an end.
    pub(crate) fn lacks(&self, what: &str) -> Error {
        Error::Statement(format!("ClickHouse has no {what} ({})", self.target))
    }

    async fn run(&mut self, sql: &str, parameters: &[Value]) -> Result<Answered, Error> {
        let target = self.target.clone();
        let attempt = Attempt { doing: Doing::Run(sql), target: &target };
        if !parameters.is_empty() {
            let words = "ClickHouse does not accept parameters with a statement";
            return Err(Error::Statement(attempt.text(words, "put them into its text")));
        }
        self.ask(("", sql.as_bytes()), attempt).await
    }

    /// A request: its statement, where that stands in the address, and what is sent behind the head.
    async fn ask(
        &mut self,
        (in_address, body): (&str, &[u8]),
        attempt: Attempt<'_>,
    ) -> Result<Answered, Error> {
        self.requests += 1;
        let mut query = format!("{}&query_id={}-{}", self.asked_with, self.name, self.requests);
        if !in_address.is_empty() {
            query += &format!("&query={}", encoded(in_address));
        }
        let reply = self.caller.ask((&query, body), attempt).await?;
        if reply.status != 200 {
            self.last_code = fault::code(&reply.body);
            return Err(fault::told(&reply.body, attempt));
        }
        values::read(&reply.body).map_err(|words| Error::Statement(attempt.text(words, "")))
    }
}

/// What is asked of the requests of a session that a server works on.
fn requests_of(what: &str, other: &Connection) -> String {
    format!("SELECT {what} FROM system.processes WHERE query_id LIKE '{}-%'", other.since)
}

fn setting(row: Vec<Value>) -> Option<ServerSetting> {
    match row.as_slice() {
        [Value::Text(name), Value::Text(value)] => {
            Some(ServerSetting { name: name.clone(), value: value.clone() })
        }
        _ => None,
    }
}
