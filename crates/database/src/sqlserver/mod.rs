//! Sessions of SQL Server, and of what speaks its protocol. What the server promises of a commit is left as it is set there.
//!
//! The driver cannot take up a connection again on which a caller gave up waiting, or whose conversation it lost: such a session is
//! lost. `SET NOCOUNT` is left off: the numbers of rows that statements changed are wanted.

mod activity;
mod administration;
mod browser;
mod call;
mod connect;
mod counters;
mod fault;
mod inspect;
mod layout;
mod other;
mod prelogin;
mod server;
mod statement;
mod stream;
mod tls;
mod transaction;
mod values;
mod write;

use std::pin::Pin;

use futures_util::TryStreamExt as _;
use record::Link;
use tiberius::error::Error as Driver;
use tiberius::{Client, Command, CommandItem, Query, QueryItem, Row};

use crate::batches::batches;
use crate::error::{Attempt, Doing, remedy};
use crate::rows::CellRow;
use crate::url::sqlserver::SqlServerAddress;
use crate::{Cell, Connection, Error, Value, WriteMethod};
use call::Call;
use stream::Stream;
use values::Parameter;

pub(crate) use activity::LOOKING;
pub(crate) use administration::ADMINISTRATION;
pub(crate) use inspect::INSPECTED;

/// A session that is being opened, and what the server knows it by.
type Opening<'a> = Pin<Box<dyn Future<Output = Result<(SqlServerSession, Connection), Error>> + Send + 'a>>;

/// A connection.
pub(crate) struct SqlServerSession {
    client: Client<Stream>,
    link: Link,
    target: String,
    is_local: bool,
    /// Whether something is under way; stays if a caller gives up waiting, or the conversation is lost.
    is_busy: bool,
    /// Whether a transaction is open that failed.
    is_unfinished: bool,
    /// Number of the last error, if it was the server's.
    last_code: Option<String>,
}

/// What was selected besides rows.
#[derive(Debug, Default)]
struct Selected {
    /// What a procedure put into its parameters.
    outputs: Vec<Value>,
    /// Why a value was not read, if one was not.
    unread: Option<String>,
}

impl SqlServerSession {
    /// In a box of its own: what is under way here is large, and would be part of all that opens sessions of any engine.
    pub(crate) fn open<'a>(address: &'a SqlServerAddress, target: String) -> Opening<'a> {
        Box::pin(Self::opened(address, target))
    }

    async fn opened(address: &SqlServerAddress, target: String) -> Result<(Self, Connection), Error> {
        let attempt = Attempt { doing: Doing::Connect, target: &target };
        let connecting = connect::connect(address, attempt);
        let letting_in = address.letting_in();
        let (client, link) = letting_in.let_in_or(attempt, connect::unanswered(address), connecting).await?;
        let is_local = address.is_local();
        let mut session =
            Self { client, link, target, is_local, is_busy: false, is_unfinished: false, last_code: None };
        let connection = session.identify().await?;
        Ok((session, connection))
    }

    /// The session's number and when it logged in.
    async fn identify(&mut self) -> Result<Connection, Error> {
        let sql = "SELECT session_id, CONVERT(varchar(40), login_time, 126) FROM sys.dm_exec_sessions WHERE session_id = @@SPID";
        match self.query(sql, &[]).await?.first().map(Vec::as_slice) {
            Some([Value::I64(id), Value::Text(since)]) => {
                Ok(Connection { id: u64::try_from(*id).ok(), since: since.clone() })
            }
            _ => Ok(Connection { id: None, since: String::new() }),
        }
    }

    /// What rows are appended with.
    pub(crate) fn statement_name(method: WriteMethod) -> &'static str {
        match method {
            WriteMethod::Bulk => "INSERT BULK (bulk copy, one request)",
            WriteMethod::Batch => "sp_executesql of an INSERT of one row, in one transaction",
            WriteMethod::MultiRow => "sp_executesql of INSERT … VALUES of many rows",
        }
    }

    /// Runs the batches of a script, one after the other.
    pub(crate) async fn script(&mut self, sql: &str) -> Result<(), Error> {
        let doing = Doing::Run(sql);
        self.begin(doing).await?;
        let mut result = Ok(());
        for batch in batches(sql) {
            result = batch_only(&mut self.client, batch).await;
            if result.is_err() {
                break;
            }
        }
        self.done(result, doing)
    }

    pub(crate) async fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        let doing = Doing::Run(sql);
        self.begin(doing).await?;
        let result = changed(&mut self.client, sql, parameters).await;
        self.done(result, doing)
    }

    /// The rows of all that a statement selects; what a procedure put into its parameters is the last of them.
    pub(crate) async fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Error> {
        let mut found = Vec::new();
        let take = |row: Row| {
            let values: Result<Vec<Value>, String> = row.into_iter().map(values::received).collect();
            values.map(|values| found.push(values))
        };
        let outputs = self.select(sql, parameters, take).await?;
        if !outputs.is_empty() {
            found.push(outputs);
        }
        Ok(found)
    }

    pub(crate) async fn fold<T>(
        &mut self,
        sql: &str,
        parameters: &[Value],
        mut state: T,
        add: fn(&mut T, &[Cell<'_>]),
    ) -> Result<T, Error> {
        let mut values = Vec::new();
        let take = |row: Row| {
            values.clear();
            for value in row {
                values.push(values::received(value)?);
            }
            let mut cells = CellRow::of(values.len());
            cells.iter_mut().zip(&values).for_each(|(cell, value)| *cell = Value::cell(value));
            add(&mut state, &cells);
            Ok(())
        };
        self.select(sql, parameters, take).await?;
        Ok(state)
    }

    pub(crate) async fn count_rows(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        let mut count = 0;
        let take = |_| {
            count += 1;
            Ok(())
        };
        self.select(sql, parameters, take).await?;
        Ok(count)
    }

    /// Runs one statement, or calls a procedure, and hands on each row. Gives what a procedure put into its parameters.
    async fn select(
        &mut self,
        sql: &str,
        parameters: &[Value],
        take: impl FnMut(Row) -> Result<(), String>,
    ) -> Result<Vec<Value>, Error> {
        let doing = Doing::Run(sql);
        self.begin(doing).await?;
        let result = selected(&mut self.client, sql, parameters, take).await;
        let Selected { outputs, unread } = self.done(result, doing)?;
        match unread {
            Some(words) => Err(Error::Statement(Attempt { doing, target: &self.target }.text(words, ""))),
            None => Ok(outputs),
        }
    }

    /// To be called before anything is sent: ends a transaction that failed.
    async fn begin(&mut self, doing: Doing<'_>) -> Result<(), Error> {
        if std::mem::replace(&mut self.is_busy, true) {
            let attempt = Attempt { doing, target: &self.target };
            return Err(Error::Lost(
                attempt.text("the running statement was abandoned, or the connection was lost", remedy::LOST),
            ));
        }
        if self.is_unfinished {
            let result = batch_only(&mut self.client, transaction::ROLLBACK).await;
            self.done(result, Doing::Run(transaction::ROLLBACK))?;
            self.is_busy = true;
            self.is_unfinished = false;
        }
        Ok(())
    }

    /// Number of the last error.
    pub(crate) fn last_code(&self) -> Option<String> {
        self.last_code.clone()
    }

    /// To be called with what has come.
    fn done<T>(&mut self, result: Result<T, Driver>, doing: Doing<'_>) -> Result<T, Error> {
        self.is_busy = result.as_ref().is_err_and(|error| !fault::keeps_session(error));
        self.last_code = match &result {
            Err(Driver::Server(answer)) => Some(answer.code().to_string()),
            Err(_) | Ok(_) => None,
        };
        result.map_err(|error| fault::of(&error, Attempt { doing, target: &self.target }))
    }
}

impl std::fmt::Debug for SqlServerSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlServerSession").field("target", &self.target).finish_non_exhaustive()
    }
}

/// Runs a batch, of which nothing is wanted but that it was run.
async fn batch_only(client: &mut Client<Stream>, sql: &str) -> Result<(), Driver> {
    let mut answer = client.simple_query(sql).await?;
    while answer.try_next().await?.is_some() {}
    Ok(())
}

/// A statement with its parameters: `sp_executesql`, whose plan the server keeps by its text, so that nothing is prepared that
/// could be lost with a connection.
fn statement<'a>(sql: &'a str, parameters: &'a [Value]) -> Query<'a> {
    let mut query = Query::new(sql);
    query.bind_iter(parameters.iter().map(|value| Parameter(values::sent(value.cell()))));
    query
}

/// A procedure with its parameters, which are known by their places.
fn command<'a>(call: &Call<'a>, parameters: &'a [Value]) -> Command<'a> {
    let mut command = Command::new(call.procedure);
    for (value, is_output) in parameters.iter().zip(&call.outputs) {
        let parameter = Parameter(values::sent(value.cell()));
        if *is_output { command.bind_out_param("", parameter) } else { command.bind_param("", parameter) }
    }
    command
}

fn call<'s>(sql: &'s str, parameters: &[Value]) -> Option<Call<'s>> {
    Call::of(sql).filter(|call| call.outputs.len() == parameters.len())
}

/// How many rows the last statement changed that was run: before it are those of triggers.
async fn changed(client: &mut Client<Stream>, sql: &str, parameters: &[Value]) -> Result<u64, Driver> {
    let Some(call) = call(sql, parameters) else {
        let changed = statement(sql, parameters).execute(client).await?;
        return Ok(changed.rows_affected().last().copied().unwrap_or(0));
    };
    let mut answer = command(&call, parameters).exec(client).await?;
    let mut changed = 0;
    while let Some(item) = answer.try_next().await? {
        if let CommandItem::RowsAffected(rows) = item {
            changed = rows;
        }
    }
    Ok(changed)
}

/// Hands on each row. One of which a value is not read ends that, and the rest is received all the same.
async fn selected(
    client: &mut Client<Stream>,
    sql: &str,
    parameters: &[Value],
    mut take: impl FnMut(Row) -> Result<(), String>,
) -> Result<Selected, Driver> {
    let mut selected = Selected::default();
    let mut row = |row: Row, unread: &mut Option<String>| {
        if unread.is_none() {
            *unread = take(row).err();
        }
    };
    let Some(call) = call(sql, parameters) else {
        let mut answer = statement(sql, parameters).query(client).await?;
        while let Some(item) = answer.try_next().await? {
            if let QueryItem::Row(found) = item {
                row(found, &mut selected.unread);
            }
        }
        return Ok(selected);
    };
    let mut answer = command(&call, parameters).exec(client).await?;
    while let Some(item) = answer.try_next().await? {
        match item {
            CommandItem::Row(found) => row(found, &mut selected.unread),
            CommandItem::ReturnValue(output) => match values::received(output.data().clone()) {
                Ok(value) => selected.outputs.push(value),
                Err(words) => selected.unread = Some(words),
            },
            CommandItem::Metadata(_) | CommandItem::ReturnStatus(_) | CommandItem::RowsAffected(_) => {}
        }
    }
    Ok(selected)
}
