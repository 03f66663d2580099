//! A session: one connection to one database, whatever the engine.

use std::pin::pin;

use record::Server;
use tokio::time::timeout;

use crate::clickhouse::ClickHouseSession;
use crate::duckdb::DuckDbSession;
use crate::error::{Attempt, Doing, remedy};
use crate::fake::FakeSession;
use crate::login::typed;
use crate::mysql::MysqlSession;
use crate::numbers::Numbers;
use crate::ours::Registered;
use crate::postgres::PostgresSession;
use crate::rows::Cell;
use crate::silence::{Silence, Watch, seconds};
use crate::sqlite::SqliteSession;
use crate::sqlserver::SqlServerSession;
use crate::url::Address;
use crate::{
    Answer, Dialect, Error, NumberRow, Protocol, Refusal, Rows, RowsProcedure, Table, Transaction, Url,
    Value, Wanted,
};

/// One connection.
#[derive(Debug)]
pub struct Session {
    opened: Opened,
    connection: Connection,
    /// Of a server that is not to be silent.
    watch: Option<Watch>,
    /// Of a server that numbers its sessions.
    _registered: Option<Registered>,
}

/// Awaits an exchange with a server, watched if the session is. The watch is kept elsewhere: it can open a session itself, and
/// every statement of a measured load would have to carry the room for that.
macro_rules! watched {
    ($session:expr, $doing:expr, $exchange:expr) => {{
        let exchange = pin!($exchange);
        match &$session.watch {
            Some(watch) => Box::pin(watch.over(&$session.connection, $doing, exchange)).await,
            None => exchange.await,
        }
    }};
}

#[derive(Debug)]
enum Opened {
    Sqlite(SqliteSession),
    Postgres(Box<PostgresSession>),
    Mysql(Box<MysqlSession>),
    SqlServer(Box<SqlServerSession>),
    ClickHouse(Box<ClickHouseSession>),
    DuckDb(DuckDbSession),
    Fake(FakeSession),
}

/// What ClickHouse has not.
const TRANSACTIONS: &str = "transactions of several statements";

/// How rows are appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteMethod {
    /// INSERT with many rows of values in one statement.
    MultiRow,
    /// A prepared INSERT of one row, executed for each row, sent without waiting where the protocol allows it.
    Batch,
    /// The engine's fastest way to load rows: COPY BINARY, or prepared statements of the best number of rows in one
    /// transaction.
    Bulk,
}

/// What a server knows a connection by, so that it can be made sure that it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Number of the backend or thread; none where the database is in this process.
    pub(crate) id: Option<u64>,
    /// When it began, or the server did, as the server spells it: numbers are used again.
    pub(crate) since: String,
}

/// Bytes that a database takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Tables and indexes.
    pub database_bytes: Option<u64>,
    /// Log as it stands: WAL or redo log files.
    pub log_bytes: Option<u64>,
    /// Bytes written to the log since the server began, where it counts them.
    pub log_written_bytes: Option<u64>,
}

/// Pages that the rows and indexes of a database use. Room that a server allocated ahead of rows is not part of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedSpace {
    /// Bytes of these pages.
    pub bytes: u64,
    /// At most so many of these bytes may be allocated ahead, where the server does not report each page.
    pub uncertain_bytes: u64,
}

impl UsedSpace {
    /// Of a server whose size of a database has no room ahead.
    fn exact(sizes: Sizes) -> Option<Self> {
        sizes.database_bytes.map(|bytes| Self { bytes, uncertain_bytes: 0 })
    }
}

impl Session {
    /// Connects. To be called within a tokio runtime, as everything here.
    ///
    /// # Errors
    /// When there is no such server, database or file, or the login is refused.
    pub async fn open(url: &Url) -> Result<Self, Error> {
        let typed = typed(url).map_err(|words| {
            Error::Refused(Attempt { doing: Doing::Connect, target: &url.to_string() }.text(words, ""))
        })?;
        let url = typed.as_ref().unwrap_or(url);
        let (opened, connection, silence) = match &url.0 {
            Address::Sqlite(file) => return Ok(Self::of_sqlite(SqliteSession::open(file).await?)),
            Address::DuckDb(file) => return Ok(Self::of_duckdb(DuckDbSession::open(file).await?)),
            Address::Fake(server) => {
                let here = Connection { id: None, since: String::new() };
                (Opened::Fake(FakeSession::open(server)?), here, None)
            }
            Address::Postgres(server) => {
                // It is large, and would be part of all that opens sessions of any engine.
                let opening = Box::pin(PostgresSession::open(server, url.to_string()));
                let silence = Silence(server.silence.0 * server.tries());
                let (session, connection) = soon(url, silence, opening).await?;
                (Opened::Postgres(Box::new(session)), connection, Some(server.silence))
            }
            Address::Mysql(server) => {
                // As that of PostgreSQL.
                let opening = Box::pin(MysqlSession::open(server, url.to_string()));
                let silence = Silence(server.silence.0 * server.tries());
                let (session, connection) = soon(url, silence, opening).await?;
                (Opened::Mysql(Box::new(session)), connection, Some(server.silence))
            }
            Address::SqlServer(server) => {
                let opening = SqlServerSession::open(server, url.to_string());
                let (session, connection) = soon(url, server.letting_in(), opening).await?;
                (Opened::SqlServer(Box::new(session)), connection, Some(server.silence))
            }
            Address::ClickHouse(server) => {
                let opening = ClickHouseSession::open(server, url.to_string());
                let (session, connection) = soon(url, server.silence, opening).await?;
                (Opened::ClickHouse(Box::new(session)), connection, Some(server.silence))
            }
        };
        let registered = connection.id.zip(url.host()).map(|(id, server)| Registered::new(server, id));
        let watch = silence.map(|silence| Watch::new(url, silence));
        Ok(Self { opened, connection, watch, _registered: registered })
    }

    /// As [`Self::open`], of a database that somebody else made: nothing of it is set that others would find set. A file of SQLite keeps its
    /// journal, and whatever a commit of its own program promises.
    ///
    /// # Errors
    /// As there.
    pub async fn open_as_it_is(url: &Url) -> Result<Self, Error> {
        match &url.0 {
            Address::Sqlite(file) => Ok(Self::of_sqlite(SqliteSession::open_as_it_is(file).await?)),
            Address::Mysql(_) => {
                let mut session = Self::open(url).await?;
                session.script(crate::mysql::AS_THE_SERVER_HAS_IT).await?;
                Ok(session)
            }
            Address::Postgres(_)
            | Address::SqlServer(_)
            | Address::ClickHouse(_)
            | Address::DuckDb(_)
            | Address::Fake(_) => Self::open(url).await,
        }
    }

    /// Whether a transaction is open that a statement of others began. MySQL does not tell (MariaDB does): there it is no.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn is_in_transaction(&mut self) -> Result<bool, Error> {
        let asked = match &mut self.opened {
            Opened::Sqlite(session) => return session.is_in_transaction().await,
            Opened::DuckDb(session) => return Ok(session.is_in_transaction()),
            Opened::ClickHouse(_) | Opened::Fake(_) => return Ok(false),
            Opened::Postgres(session) => return Ok(session.is_in_transaction()),
            Opened::Mysql(_) => "SELECT @@in_transaction AS is_open",
            Opened::SqlServer(_) => "SELECT @@TRANCOUNT AS is_open",
        };
        let answer = match self.statement(asked, &[], (Protocol::Simple, Wanted::Last)).await {
            Err(Error::Statement(_)) if self.dialect() == Dialect::Mysql => return Ok(false),
            answer => answer?,
        };
        let is_open = |(_, value): &(String, Value)| {
            !matches!(value, Value::I64(0))
                && !matches!(value, Value::Text(text) if text == "f" || text == "0")
        };
        Ok(answer.last.first().is_some_and(is_open))
    }

    /// The same session for a load that is measured: a silence of the server is part of what is measured, and whoever drives
    /// the load has limits of its own. Without this, a server that is silent for some ten seconds counts as lost.
    #[must_use]
    pub fn without_limit(mut self) -> Self {
        self.watch = None;
        self
    }

    /// Has it be somebody else's for whoever looks.
    #[cfg(test)]
    pub(crate) fn forget_registration(&mut self) {
        self._registered = None;
    }

    /// A session in a file of SQLite that was opened already.
    pub(crate) fn of_sqlite(session: SqliteSession) -> Self {
        let connection = Connection { id: None, since: String::new() };
        Self { opened: Opened::Sqlite(session), connection, watch: None, _registered: None }
    }

    /// A session in a file of DuckDB that was opened already.
    pub(crate) fn of_duckdb(session: DuckDbSession) -> Self {
        let connection = Connection { id: None, since: String::new() };
        Self { opened: Opened::DuckDb(session), connection, watch: None, _registered: None }
    }

    /// Runs statements that have no parameters, separated by semicolons, and in T-SQL by lines `GO` where a batch ends.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn script(&mut self, sql: &str) -> Result<(), Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.script(sql).await,
            Opened::Postgres(session) => watched!(self, Doing::Run(sql), session.script(sql)),
            Opened::Mysql(session) => watched!(self, Doing::Run(sql), session.script(sql)),
            Opened::SqlServer(session) => watched!(self, Doing::Run(sql), session.script(sql)),
            Opened::ClickHouse(session) => watched!(self, Doing::Run(sql), session.script(sql)),
            Opened::DuckDb(session) => session.script(sql).await,
            Opened::Fake(session) => session.script(sql).await,
        }
    }

    /// Runs one statement, prepared once and kept, and gives the number of rows that it changed.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.execute(sql, parameters).await,
            Opened::Postgres(session) => watched!(self, Doing::Run(sql), session.execute(sql, parameters)),
            Opened::Mysql(session) => watched!(self, Doing::Run(sql), session.execute(sql, parameters)),
            Opened::SqlServer(session) => watched!(self, Doing::Run(sql), session.execute(sql, parameters)),
            Opened::ClickHouse(session) => watched!(self, Doing::Run(sql), session.execute(sql, parameters)),
            Opened::DuckDb(session) => session.execute(sql, parameters).await,
            Opened::Fake(session) => session.execute(sql, parameters).await,
        }
    }

    /// Runs one query, prepared once and kept, and gives its rows: integers and truth values as [`Value::I64`], floating
    /// point and decimal numbers as [`Value::F64`], everything else as [`Value::Text`].
    ///
    /// # Errors
    /// Those of the database. PostgreSQL and SQL Server send times, intervals and the like in forms of their own: cast them to text.
    pub async fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.query(sql, parameters).await,
            Opened::Postgres(session) => watched!(self, Doing::Run(sql), session.query(sql, parameters)),
            Opened::Mysql(session) => watched!(self, Doing::Run(sql), session.query(sql, parameters)),
            Opened::SqlServer(session) => watched!(self, Doing::Run(sql), session.query(sql, parameters)),
            Opened::ClickHouse(session) => watched!(self, Doing::Run(sql), session.query(sql, parameters)),
            Opened::DuckDb(session) => session.query(sql, parameters).await,
            Opened::Fake(session) => session.query(sql, parameters).await,
        }
    }

    /// Runs what somebody else wrote, as they ask for it to be sent: one statement, or several where it is sent as one text. Values have
    /// places in it as the dialect writes them; sent as text it has none.
    ///
    /// # Errors
    /// Those of the database; and where a column of the last row is wanted whose values are not read: cast it to text.
    pub async fn statement(
        &mut self,
        sql: &str,
        parameters: &[Value],
        (protocol, wanted): (Protocol, Wanted),
    ) -> Result<Answer, Error> {
        let sent = (protocol, wanted);
        match &mut self.opened {
            Opened::Sqlite(session) => session.statement(sql, parameters, sent).await,
            Opened::Postgres(session) => {
                watched!(self, Doing::Run(sql), session.statement(sql, parameters, sent))
            }
            Opened::Mysql(session) => {
                watched!(self, Doing::Run(sql), session.statement(sql, parameters, sent))
            }
            Opened::SqlServer(session) => {
                watched!(self, Doing::Run(sql), session.statement(sql, parameters, sent))
            }
            Opened::ClickHouse(session) => {
                watched!(self, Doing::Run(sql), session.statement(sql, parameters, sent))
            }
            Opened::DuckDb(session) => session.statement(sql, parameters, sent).await,
            Opened::Fake(session) => session.statement(sql, parameters, sent).await,
        }
    }

    /// Has the server read one statement of somebody else's, and run nothing. Values have places in it as the dialect writes them; those
    /// given are examples, from which SQL Server knows types. None if the server would run it, or does not say beforehand.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn parse(&mut self, sql: &str, examples: &[Value]) -> Result<Option<Refusal>, Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.parse(sql).await,
            Opened::Postgres(session) => watched!(self, Doing::Run(sql), session.parse(sql)),
            Opened::Mysql(session) => watched!(self, Doing::Run(sql), session.parse(sql)),
            Opened::SqlServer(session) => watched!(self, Doing::Run(sql), session.parse(sql, examples)),
            // No script is run there.
            Opened::ClickHouse(_) | Opened::DuckDb(_) | Opened::Fake(_) => Ok(None),
        }
    }

    /// What the server called the last error of a [`Session::statement`]: its SQLSTATE; of SQL Server the number, of SQLite the extended
    /// result code (<https://sqlite.org/rescode.html>). None where the error was not the server's.
    #[must_use]
    pub fn last_code(&self) -> Option<String> {
        match &self.opened {
            Opened::Sqlite(session) => session.last_code(),
            Opened::Postgres(session) => session.last_code(),
            Opened::Mysql(session) => session.last_code(),
            Opened::SqlServer(session) => session.last_code(),
            Opened::ClickHouse(session) => session.last_code(),
            // It has none but words.
            Opened::DuckDb(_) | Opened::Fake(_) => None,
        }
    }

    /// Undoes what was begun by statements of others and did not end, if anything was.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn undo(&mut self) -> Result<(), Error> {
        match &mut self.opened {
            Opened::Postgres(session) => watched!(self, Doing::Run("ROLLBACK"), session.undo()),
            Opened::Sqlite(_)
            | Opened::Mysql(_)
            | Opened::SqlServer(_)
            | Opened::DuckDb(_)
            | Opened::Fake(_) => self.rollback().await,
            // Nothing can have been begun.
            Opened::ClickHouse(_) => Ok(()),
        }
    }

    /// The processor on which the server worked last for this session, where both are on this machine and a [`Reactor`](crate::Reactor) waits
    /// for the connection.
    #[must_use]
    pub fn processor(&self) -> Option<usize> {
        let Opened::Postgres(session) = &self.opened else { return None };
        session.processor()
    }

    /// Leaves this thread and its reactor: nothing may be done until it joined another one. False where it cannot, for something is under way,
    /// or no reactor has it.
    pub fn leave_thread(&mut self) -> bool {
        let Opened::Postgres(session) = &mut self.opened else { return false };
        session.leave_thread()
    }

    /// Goes on with this thread's reactor.
    ///
    /// # Errors
    /// When its connection cannot be waited for here, as one that is lost.
    pub fn join_thread(&mut self) -> Result<(), Error> {
        let Opened::Postgres(session) = &mut self.opened else { return Ok(()) };
        session.join_thread()
    }

    /// Begins a pipeline: statements of others that are sent without waiting for answers.
    ///
    /// # Errors
    /// Those of the database, and that this one has no pipelines.
    pub async fn begin_pipeline(&mut self) -> Result<(), Error> {
        self.with_pipelines()?.begin_pipeline().await
    }

    /// Puts a statement into the pipeline.
    ///
    /// # Errors
    /// As there. What the server says of it comes at the end.
    pub async fn pipelined(
        &mut self,
        sql: &str,
        parameters: &[Value],
        protocol: Protocol,
    ) -> Result<(), Error> {
        self.with_pipelines()?.pipelined(sql, parameters, protocol).await
    }

    /// Ends a part of the pipeline: what fails before takes nothing with it that comes later.
    ///
    /// # Errors
    /// That this database has no pipelines.
    pub fn sync_pipeline(&mut self) -> Result<(), Error> {
        self.with_pipelines()?.sync_pipeline();
        Ok(())
    }

    /// Ends the pipeline of these statements. Each that is answered is told `each` as its answer comes.
    ///
    /// # Errors
    /// The first of its statements that failed, and its number from zero.
    pub async fn end_pipeline(
        &mut self,
        statements: &[&str],
        each: &mut (impl FnMut() + Send),
    ) -> Result<(), (usize, Error)> {
        let session = self.with_pipelines().map_err(|error| (0, error))?;
        session.end_pipeline(statements, each).await
    }

    fn with_pipelines(&mut self) -> Result<&mut PostgresSession, Error> {
        let engine = match &mut self.opened {
            Opened::Postgres(session) => return Ok(session),
            Opened::Sqlite(_) => "SQLite",
            Opened::Mysql(_) => "MySQL",
            Opened::SqlServer(_) => "SQL Server",
            Opened::ClickHouse(_) => "ClickHouse",
            Opened::DuckDb(_) => "DuckDB",
            Opened::Fake(_) => "the fake database",
        };
        Err(Error::Statement(format!("{engine} has no pipelines")))
    }

    /// Runs one query, receives all of its rows, keeps none, and gives their number.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn count_rows(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.count_rows(sql, parameters).await,
            Opened::Postgres(session) => watched!(self, Doing::Run(sql), session.count_rows(sql, parameters)),
            Opened::Mysql(session) => watched!(self, Doing::Run(sql), session.count_rows(sql, parameters)),
            Opened::SqlServer(session) => {
                watched!(self, Doing::Run(sql), session.count_rows(sql, parameters))
            }
            Opened::ClickHouse(session) => {
                watched!(self, Doing::Run(sql), session.count_rows(sql, parameters))
            }
            Opened::DuckDb(session) => session.count_rows(sql, parameters).await,
            Opened::Fake(session) => session.count_rows(sql, parameters).await,
        }
    }

    /// Runs one query, and adds each of its rows to `state` as it comes, with the kinds of values that [`Session::query`] gives. No row
    /// is kept, so that a table may be of any size. A statement is planned for its values, whatever was asked before.
    ///
    /// # Errors
    /// Those of the database; what was added by then is lost.
    pub async fn fold<T: Send + 'static>(
        &mut self,
        sql: &str,
        parameters: &[Value],
        state: T,
        add: fn(&mut T, &[Cell<'_>]),
    ) -> Result<T, Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.fold(sql, parameters, state, add).await,
            Opened::Postgres(session) => session.fold(sql, parameters, state, add).await,
            Opened::Mysql(session) => session.fold(sql, parameters, state, add).await,
            Opened::SqlServer(session) => session.fold(sql, parameters, state, add).await,
            Opened::ClickHouse(session) => session.fold(sql, parameters, state, add).await,
            Opened::DuckDb(session) => session.fold(sql, parameters, state, add).await,
            Opened::Fake(session) => session.fold(sql, parameters, state, add).await,
        }
    }

    /// Runs one INSERT of one row, prepared once and kept, and gives the id that the database made for it; none if it
    /// inserted no row. Where a dialect can, the statement returns the id (`RETURNING`), which is then all that it returns;
    /// MySQL sends it with the answer.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn insert(&mut self, sql: &str, parameters: &[Value]) -> Result<Option<i64>, Error> {
        match &mut self.opened {
            Opened::Mysql(session) => watched!(self, Doing::Run(sql), session.insert_one(sql, parameters)),
            Opened::ClickHouse(session) => Err(session.lacks("ids that a server makes")),
            Opened::Sqlite(_)
            | Opened::Postgres(_)
            | Opened::SqlServer(_)
            | Opened::DuckDb(_)
            | Opened::Fake(_) => {
                let rows = self.query(sql, parameters).await?;
                Ok(rows.first().and_then(|row| row.first()).and_then(Value::integer))
            }
        }
    }

    /// Begins a transaction of several statements, with the isolation that the server has; on SQLite it is the only one
    /// that writes.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn begin(&mut self) -> Result<Transaction<'_>, Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.begin_transaction().await?,
            Opened::Postgres(session) => {
                watched!(self, Doing::Run("BEGIN"), session.begin_transaction())?;
            }
            Opened::Mysql(session) => watched!(self, Doing::Run("BEGIN"), session.begin_transaction())?,
            Opened::SqlServer(session) => {
                watched!(self, Doing::Run("BEGIN TRANSACTION"), session.begin_transaction())?;
            }
            Opened::ClickHouse(session) => return Err(session.lacks(TRANSACTIONS)),
            Opened::DuckDb(session) => session.begin_transaction().await?,
            Opened::Fake(session) => session.begin_transaction().await?,
        }
        Ok(Transaction::new(self))
    }

    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.commit().await,
            Opened::Postgres(session) => watched!(self, Doing::Run("COMMIT"), session.commit()),
            Opened::Mysql(session) => watched!(self, Doing::Run("COMMIT"), session.commit()),
            Opened::SqlServer(session) => watched!(self, Doing::Run("COMMIT"), session.commit()),
            Opened::ClickHouse(session) => Err(session.lacks(TRANSACTIONS)),
            Opened::DuckDb(session) => session.commit().await,
            Opened::Fake(session) => session.commit().await,
        }
    }

    pub(crate) async fn rollback(&mut self) -> Result<(), Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.rollback().await,
            Opened::Postgres(session) => watched!(self, Doing::Run("ROLLBACK"), session.rollback()),
            Opened::Mysql(session) => watched!(self, Doing::Run("ROLLBACK"), session.rollback()),
            Opened::SqlServer(session) => watched!(self, Doing::Run("ROLLBACK"), session.rollback()),
            Opened::ClickHouse(session) => Err(session.lacks(TRANSACTIONS)),
            Opened::DuckDb(session) => session.rollback().await,
            Opened::Fake(session) => session.rollback().await,
        }
    }

    /// The transaction that was begun is undone before anything else is done.
    pub(crate) fn abandon(&mut self) {
        match &mut self.opened {
            Opened::Sqlite(session) => session.abandon(),
            Opened::Postgres(session) => session.abandon(),
            Opened::Mysql(session) => session.abandon(),
            Opened::SqlServer(session) => session.abandon(),
            // None can have been begun.
            Opened::ClickHouse(_) => {}
            Opened::DuckDb(session) => session.abandon(),
            Opened::Fake(session) => session.abandon(),
        }
    }

    /// Appends rows in one transaction. They are committed when this returns, with the durability that the server has.
    /// The rows are the same afterwards, unless the future was dropped before its end.
    ///
    /// # Errors
    /// Those of the database; after [`Error::is_lost`] it is not known whether the rows were committed, after any other
    /// they were not.
    pub async fn append(
        &mut self,
        table: &'static Table,
        rows: &mut Rows,
        method: WriteMethod,
    ) -> Result<(), Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.append(table, rows, method).await,
            Opened::Postgres(session) => {
                watched!(self, Doing::Append(table.name), session.append(table, rows, method))
            }
            Opened::Mysql(session) => {
                watched!(self, Doing::Append(table.name), session.append(table, rows, method))
            }
            Opened::SqlServer(session) => {
                watched!(self, Doing::Append(table.name), session.append(table, rows, method))
            }
            Opened::ClickHouse(session) => {
                watched!(self, Doing::Append(table.name), session.append(table, rows, method))
            }
            Opened::DuckDb(session) => session.append(table, rows, method).await,
            Opened::Fake(session) => session.append(table, rows, method).await,
        }
    }

    /// As [`Self::append`], of rows of numbers that are read where they lie: an engine that can encodes them from there, any
    /// other has them copied into `room`.
    ///
    /// # Errors
    /// As `append`.
    pub async fn append_numbers(
        &mut self,
        table: &'static Table,
        rows: impl ExactSizeIterator<Item = impl NumberRow>,
        room: &mut Rows,
        method: WriteMethod,
    ) -> Result<(), Error> {
        match (&mut self.opened, method) {
            (Opened::Postgres(session), WriteMethod::Bulk) => {
                let rows = rows.map(Numbers);
                watched!(self, Doing::Append(table.name), session.copy(table, rows))
            }
            (Opened::Mysql(session), method) => {
                let rows = rows.map(Numbers);
                watched!(self, Doing::Append(table.name), session.append_each(table, rows, method))
            }
            (Opened::SqlServer(session), method) => {
                let rows = rows.map(Numbers);
                watched!(self, Doing::Append(table.name), session.append_each(table, rows, method))
            }
            _ => {
                room.clear();
                rows.for_each(|row| row.push_to(room));
                self.append(table, room, method).await
            }
        }
    }

    /// Hands rows of numbers to a procedure that takes them as one parameter.
    ///
    /// # Errors
    /// As `append`; and that the engine has no such parameters.
    pub async fn call_with_rows(
        &mut self,
        procedure: &'static RowsProcedure,
        rows: impl ExactSizeIterator<Item = impl NumberRow>,
    ) -> Result<(), Error> {
        match &mut self.opened {
            Opened::SqlServer(session) => {
                let rows = rows.map(Numbers);
                watched!(self, Doing::Append(procedure.name), session.call_with_rows(procedure, rows))
            }
            Opened::Sqlite(_)
            | Opened::Postgres(_)
            | Opened::Mysql(_)
            | Opened::ClickHouse(_)
            | Opened::DuckDb(_)
            | Opened::Fake(_) => {
                let name = procedure.name;
                Err(Error::Statement(format!(
                    "`{name}` cannot accept rows as a parameter: only SQL Server has table-valued parameters"
                )))
            }
        }
    }

    /// What `append` sends for a method, in the words of the engine, such as `COPY … FROM STDIN (FORMAT binary)`.
    #[must_use]
    pub fn statement_name(&self, method: WriteMethod) -> &'static str {
        match &self.opened {
            Opened::Sqlite(_) => SqliteSession::statement_name(method),
            Opened::Postgres(_) => PostgresSession::statement_name(method),
            Opened::Mysql(_) => MysqlSession::statement_name(method),
            Opened::SqlServer(_) => SqlServerSession::statement_name(method),
            Opened::ClickHouse(_) => ClickHouseSession::statement_name(method),
            Opened::DuckDb(_) => DuckDbSession::statement_name(method),
            Opened::Fake(_) => FakeSession::statement_name(method),
        }
    }

    /// Version, settings and durability.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn server(&mut self) -> Result<Server, Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.server().await,
            Opened::Postgres(session) => {
                watched!(self, Doing::Run("the queries of its settings"), session.server())
            }
            Opened::Mysql(session) => {
                watched!(self, Doing::Run("the queries of its settings"), session.server())
            }
            Opened::SqlServer(session) => {
                watched!(self, Doing::Run("the queries of its settings"), session.server())
            }
            Opened::ClickHouse(session) => {
                watched!(self, Doing::Run("the queries of its settings"), session.server())
            }
            Opened::DuckDb(session) => session.server().await,
            Opened::Fake(session) => Ok(session.server()),
        }
    }

    /// Sizes of the database of this session. What cannot be read (rights, engine) is none.
    ///
    /// # Errors
    /// Only if the session is lost.
    pub async fn sizes(&mut self) -> Result<Sizes, Error> {
        match &mut self.opened {
            Opened::Sqlite(session) => session.sizes().await,
            Opened::Postgres(session) => {
                watched!(self, Doing::Run("the queries of its sizes"), session.sizes())
            }
            Opened::Mysql(session) => watched!(self, Doing::Run("the queries of its sizes"), session.sizes()),
            Opened::SqlServer(session) => {
                watched!(self, Doing::Run("the queries of its sizes"), session.sizes())
            }
            Opened::ClickHouse(session) => {
                watched!(self, Doing::Run("the queries of its sizes"), session.sizes())
            }
            Opened::DuckDb(session) => session.sizes().await,
            Opened::Fake(session) => session.sizes().await,
        }
    }

    /// Pages that rows and indexes use, without what is allocated ahead; none where the server does not report it. It may
    /// have the server refresh its statistics and read the end of each table: do not call it every second.
    ///
    /// # Errors
    /// Only if the session is lost.
    pub async fn used_space(&mut self) -> Result<Option<UsedSpace>, Error> {
        let doing = Doing::Run("the queries of its used pages");
        let used = match &mut self.opened {
            Opened::Sqlite(session) => session.used_space().await,
            Opened::Postgres(session) => watched!(self, doing, session.used_space()),
            Opened::Mysql(session) => watched!(self, doing, session.used_space()),
            Opened::SqlServer(session) => watched!(self, doing, session.used_space()),
            // Parts and blocks are written with rows; nothing is allocated ahead.
            Opened::ClickHouse(session) => watched!(self, doing, session.sizes()).map(UsedSpace::exact),
            Opened::DuckDb(session) => session.sizes().await.map(UsedSpace::exact),
            Opened::Fake(session) => session.used_space().await,
        };
        match used {
            Err(error) if !error.is_lost() => Ok(None),
            used => used,
        }
    }

    /// The SQL that it speaks.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        match &self.opened {
            Opened::Sqlite(_) | Opened::Fake(_) => Dialect::Sqlite,
            Opened::Postgres(_) => Dialect::Postgres,
            Opened::Mysql(_) => Dialect::Mysql,
            Opened::SqlServer(_) => Dialect::SqlServer,
            Opened::ClickHouse(_) => Dialect::ClickHouse,
            Opened::DuckDb(_) => Dialect::DuckDb,
        }
    }

    /// Whether a change of rows is done when it is answered. Of ClickHouse it is a mutation, which servers before 19.11 work on after that.
    #[must_use]
    pub fn changes_at_once(&self) -> bool {
        match &self.opened {
            Opened::ClickHouse(session) => session.waits_for_mutations(),
            Opened::Sqlite(_)
            | Opened::Postgres(_)
            | Opened::Mysql(_)
            | Opened::SqlServer(_)
            | Opened::DuckDb(_)
            | Opened::Fake(_) => true,
        }
    }

    /// What the server knows this connection by.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Makes sure that another connection of ours, which was lost, does nothing any more: ends it if it is still there.
    /// After this, what it was doing is either committed or never will be.
    ///
    /// # Errors
    /// Those of the database, and when the connection is still there after 10 s.
    pub async fn end(&mut self, connection: &Connection) -> Result<(), Error> {
        match &mut self.opened {
            // A session here is gone when it is dropped, with whatever it had not committed.
            Opened::Sqlite(_) | Opened::DuckDb(_) | Opened::Fake(_) => Ok(()),
            Opened::Postgres(session) => {
                watched!(self, Doing::Run("the end of a lost connection"), session.end(connection))
            }
            Opened::Mysql(session) => {
                watched!(self, Doing::Run("the end of a lost connection"), session.end(connection))
            }
            Opened::SqlServer(session) => {
                watched!(self, Doing::Run("the end of a lost connection"), session.end(connection))
            }
            Opened::ClickHouse(session) => {
                watched!(self, Doing::Run("the end of a lost connection"), session.end(connection))
            }
        }
    }
}

/// A connection that is to be there soon.
async fn soon<T>(
    url: &Url,
    silence: Silence,
    opening: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let limit = silence.open();
    timeout(limit, opening).await.unwrap_or_else(|_| {
        let attempt = Attempt { doing: Doing::Connect, target: &url.to_string() };
        let words =
            format!("the server accepted the connection, but then did not answer within {}", seconds(limit));
        Err(Error::Unreachable(attempt.text(words, remedy::UNREACHABLE)))
    })
}
