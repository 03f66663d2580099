//! A database in memory whose speed and faults are given, in the time of tokio's clock, which tests can run ahead.
//!
//! Underneath is an SQLite database in memory, so that SQL means what it means. Its own time is not counted; it works on
//! the caller's thread, because a clock that runs ahead would not wait for another one.

mod text;
mod transaction;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use record::Server;
use rusqlite::Connection as Database;
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep_until};

use crate::error::{Attempt, Doing, remedy};
use crate::sqlite::{SqliteSession, statements};
use crate::{Answer, Cell, Error, Protocol, Rows, Sizes, Table, UsedSpace, Value, Wanted, WriteMethod};

/// Speed and faults of the fake. As an address: `fake:?append=2ms&row=0s&query=1ms&lose_at=100&down=3s&discard=true`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fake {
    /// Time of a transaction that appends rows. All sessions share one server that does one after the other.
    pub append: Duration,
    /// Time of each row in it, on top.
    pub row: Duration,
    /// Time of any other statement.
    pub query: Duration,
    /// The append, counted from 1, at which the connection is lost after its rows were committed.
    pub lose_committed_at: Option<u64>,
    /// The append at which the connection is lost and its rows are not committed.
    pub lose_at: Option<u64>,
    /// How long the server cannot be reached after that. If that is any time, all other sessions are lost too.
    pub down: Duration,
    /// The append at which the disk is full, once.
    pub full_at: Option<u64>,
    /// Rows that the disk has room for: it is full for good when they are there.
    pub room: Option<u64>,
    /// Rows are counted and thrown away, so that nothing but the caller takes time.
    pub discard: bool,
}

/// The one server behind all clones of an address.
#[derive(Clone)]
pub(crate) struct FakeServer(Arc<Shared>);

struct Shared {
    fake: Fake,
    state: Mutex<State>,
    /// Held by the session whose transaction is open: there is one database, and it has one.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct State {
    database: Option<Database>,
    /// When the server has done what it was given.
    free_at: Option<Instant>,
    down_until: Option<Instant>,
    /// The latest time seen.
    seen: Option<Instant>,
    /// How often all sessions were lost.
    crashes: u64,
    appends: u64,
    rows: u64,
    /// Whether somebody holds the database as its own.
    is_held: bool,
}

/// Timers of tokio end at the next millisecond. A caller that comes within that time of the end of the last service
/// would have come at once if they were exact, so the server goes on as if it had: the mean rate is as given.
const TICK: Duration = Duration::from_millis(1);

impl FakeServer {
    pub(crate) fn new(fake: Fake) -> Self {
        Self(Arc::new(Shared { fake, state: Mutex::default(), turn: Arc::default() }))
    }

    pub(crate) fn fake(&self) -> &Fake {
        &self.0.fake
    }

    #[cfg(test)]
    pub(crate) fn rows(&self) -> u64 {
        self.state().rows
    }

    /// Makes the caller the only holder; false if there is one already.
    pub(crate) fn hold(&self) -> bool {
        !std::mem::replace(&mut self.state().is_held, true)
    }

    pub(crate) fn let_go(&self) {
        self.state().is_held = false;
    }

    /// Throws away everything in the database.
    pub(crate) fn clear(&self) {
        self.state().database = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartialEq for FakeServer {
    fn eq(&self, other: &Self) -> bool {
        self.0.fake == other.0.fake
    }
}

impl Eq for FakeServer {}

impl State {
    /// The present time. Each runtime of tokio can have a clock of its own that ran ahead; where one begins anew, the
    /// server is free and up.
    fn now(&mut self) -> Instant {
        let now = Instant::now();
        if self.seen.is_some_and(|seen| now < seen) {
            self.free_at = None;
            self.down_until = None;
        }
        self.seen = Some(now);
        now
    }

    /// When something that takes so long will be done.
    fn done_at(&mut self, now: Instant, service: Duration) -> Instant {
        let begin = match self.free_at {
            Some(free_at) if now.saturating_duration_since(free_at) < TICK => free_at,
            _ => now,
        };
        let done_at = begin + service;
        self.free_at = Some(done_at);
        done_at
    }

    fn database(&mut self) -> rusqlite::Result<&Database> {
        let database = match self.database.take() {
            Some(database) => database,
            None => {
                let database = Database::open_in_memory()?;
                statements::prepare(&database)?;
                database
            }
        };
        Ok(self.database.insert(database))
    }
}

/// A connection to the fake.
pub(crate) struct FakeSession {
    server: FakeServer,
    target: String,
    /// How often the server had lost everybody when this began.
    crashes: u64,
    is_lost: bool,
    /// While a transaction is open.
    turn: Option<OwnedMutexGuard<()>>,
}

impl fmt::Debug for FakeSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeSession").field("target", &self.target).finish_non_exhaustive()
    }
}

impl FakeSession {
    pub(crate) fn open(server: &FakeServer) -> Result<Self, Error> {
        let target = server.fake().to_string();
        let mut state = server.state();
        let now = state.now();
        if state.down_until.is_some_and(|until| now < until) {
            let attempt = Attempt { doing: Doing::Connect, target: &target };
            return Err(Error::Unreachable(attempt.text("the fake is down", "wait until it is up")));
        }
        let crashes = state.crashes;
        drop(state);
        Ok(Self { server: server.clone(), target, crashes, is_lost: false, turn: None })
    }

    pub(crate) async fn script(&mut self, sql: &str) -> Result<(), Error> {
        self.run(Doing::Run(sql), |database, attempt| statements::script(database, sql, attempt)).await
    }

    pub(crate) async fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        let work =
            |database: &_, attempt: Attempt<'_>| statements::execute(database, sql, parameters, attempt);
        self.run(Doing::Run(sql), work).await
    }

    pub(crate) async fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Error> {
        let work = |database: &_, attempt: Attempt<'_>| statements::query(database, sql, parameters, attempt);
        self.run(Doing::Run(sql), work).await
    }

    pub(crate) async fn statement(
        &mut self,
        sql: &str,
        parameters: &[Value],
        sent: (Protocol, Wanted),
    ) -> Result<Answer, Error> {
        let work = |database: &_, attempt: Attempt<'_>| {
            statements::statement(database, sql, parameters, sent)
                .map_err(|error| statements::fault(&error, attempt))
        };
        self.run(Doing::Run(sql), work).await
    }

    pub(crate) async fn count_rows(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        let work =
            |database: &_, attempt: Attempt<'_>| statements::count_rows(database, sql, parameters, attempt);
        self.run(Doing::Run(sql), work).await
    }

    pub(crate) async fn fold<T>(
        &mut self,
        sql: &str,
        parameters: &[Value],
        state: T,
        add: fn(&mut T, &[Cell<'_>]),
    ) -> Result<T, Error> {
        let work = |database: &_, attempt: Attempt<'_>| {
            statements::fold(database, sql, parameters, (state, add), attempt)
        };
        self.run(Doing::Run(sql), work).await
    }

    /// It is an SQLite database underneath.
    pub(crate) fn statement_name(method: WriteMethod) -> &'static str {
        SqliteSession::statement_name(method)
    }

    #[expect(clippy::unused_self, reason = "as of every session")]
    pub(crate) fn server(&self) -> Server {
        Server {
            version: "fake".to_owned(),
            durability: "nothing is written: this is a fake in memory".to_owned(),
            is_durable: false,
            settings: Vec::new(),
            data_directory: None,
            log_directory: None,
            link: None,
            services: Vec::new(),
            unsafe_tables: Vec::new(),
        }
    }

    /// Runs something in the database when the server has had its time for it.
    async fn run<T>(
        &mut self,
        doing: Doing<'_>,
        work: impl FnOnce(&Database, Attempt<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.serve(doing, self.server.fake().query).await?;
        let _turn = self.other_turn().await;
        let attempt = Attempt { doing, target: &self.target };
        let mut state = self.server.state();
        let database = state.database().map_err(|error| statements::fault(&error, attempt))?;
        work(database, attempt)
    }

    pub(crate) async fn append(
        &mut self,
        table: &'static Table,
        rows: &mut Rows,
        method: WriteMethod,
    ) -> Result<(), Error> {
        let doing = Doing::Append(table.name);
        let fake = self.server.fake();
        let count = u64::try_from(rows.len()).unwrap_or(u64::MAX);
        let service = fake.append + fake.row.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        self.serve(doing, service).await?;
        let _turn = self.other_turn().await;
        let server = self.server.clone();
        let mut state = server.state();
        state.appends += 1;
        let number = Some(state.appends);
        let fake = server.fake();
        if number == fake.full_at || fake.room.is_some_and(|room| state.rows + count > room) {
            let attempt = Attempt { doing, target: &self.target };
            return Err(Error::Full(attempt.text("the fake's disk is full", remedy::FULL)));
        }
        if number == fake.lose_at {
            return Err(self.lose(&mut state, doing));
        }
        if !fake.discard {
            let attempt = Attempt { doing, target: &self.target };
            let database = state.database().map_err(|error| statements::fault(&error, attempt))?;
            statements::append(database, table, rows, method, attempt)?;
        }
        state.rows += count;
        if number == fake.lose_committed_at { Err(self.lose(&mut state, doing)) } else { Ok(()) }
    }

    pub(crate) async fn sizes(&mut self) -> Result<Sizes, Error> {
        let bytes = self.run(Doing::Run("PRAGMA page_count"), statements::page_bytes).await?;
        Ok(Sizes { database_bytes: Some(bytes), log_bytes: None, log_written_bytes: None })
    }

    pub(crate) async fn used_space(&mut self) -> Result<Option<UsedSpace>, Error> {
        // It takes no time, so that looking at the space moves no purge.
        let doing = Doing::Run("PRAGMA freelist_count");
        self.alive(doing)?;
        let attempt = Attempt { doing, target: &self.target };
        let mut state = self.server.state();
        let database = state.database().map_err(|error| statements::fault(&error, attempt))?;
        statements::used_space(database, attempt).map(Some)
    }

    /// Waits until the server has done what takes so long.
    async fn serve(&mut self, doing: Doing<'_>, service: Duration) -> Result<(), Error> {
        self.alive(doing)?;
        let (now, done_at) = {
            let mut state = self.server.state();
            let now = state.now();
            (now, state.done_at(now, service))
        };
        if done_at > now {
            sleep_until(done_at).await;
        } else {
            // Others on the same thread get their turn.
            tokio::task::coop::consume_budget().await;
        }
        self.alive(doing)
    }

    fn alive(&self, doing: Doing<'_>) -> Result<(), Error> {
        if self.is_lost || self.server.state().crashes != self.crashes {
            Err(self.lost(doing))
        } else {
            Ok(())
        }
    }

    fn lose(&mut self, state: &mut State, doing: Doing<'_>) -> Error {
        self.is_lost = true;
        let down = self.server.fake().down;
        if !down.is_zero() {
            state.crashes += 1;
            let now = state.now();
            state.down_until = Some(now + down);
        }
        self.lost(doing)
    }

    fn lost(&self, doing: Doing<'_>) -> Error {
        let attempt = Attempt { doing, target: &self.target };
        Error::Lost(attempt.text("the fake has gone away", crate::error::remedy::LOST))
    }
}
