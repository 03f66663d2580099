//! A database on a server as one of our own.
//!
//! A thread with a session in the database holds a lock there, which ends with the session whatever becomes of this
//! process. It has a runtime of its own, so that the lock does not depend on whether a caller's runs.

use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::{Existing, MAKE_MARK, MARK, from_earlier, has_mark, in_use, of_somebody_else};
use crate::{Dialect, Error, Session, Url, Value};

/// Makes or takes up a database. Tells whether it was there.
pub(super) async fn make(url: &Url, name: &str, existing: Existing) -> Result<(Keeper, bool), Error> {
    let mut admin = Session::open(url).await?;
    let place = place(url, name);
    if is_there(&mut admin, url, name).await? {
        if !is_ours(url, name).await? {
            return Err(of_somebody_else(&place, "choose another name with --database"));
        }
        if existing == Existing::Refuse {
            return Err(from_earlier(&place, &removal(url, name)));
        }
        let keeper = Keeper::start(url, name).await?.ok_or_else(|| in_use(&place))?;
        if existing == Existing::Reuse {
            return Ok((keeper, true));
        }
        keeper.release();
        if has_sessions(&mut admin, url, name).await? {
            return Err(in_use(&place));
        }
        drop_database(&mut admin, url, name).await?;
    }
    create(&mut admin, url, name).await?;
    match mark(url, name).await {
        Ok(keeper) => Ok((keeper, false)),
        Err(error) => {
            // It has no mark, so that no other run would remove it.
            drop_database(&mut admin, url, name).await?;
            Err(error)
        }
    }
}

/// Holds the lock of a database as long as it is there.
#[derive(Debug)]
pub(super) struct Keeper {
    /// The address that the database was made from.
    url: Url,
    /// What the server calls the session that holds it.
    session: Option<u64>,
    held: Mutex<Option<Held>>,
}

#[derive(Debug)]
struct Held {
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Keeper {
    /// None if somebody else has the lock.
    async fn start(url: &Url, name: &str) -> Result<Option<Self>, Error> {
        let own = url.with_database(name);
        let (answer, answered) = oneshot::channel();
        let (end, ended) = oneshot::channel::<()>();
        let failed = |error: std::io::Error| {
            Error::Unreachable(format!(
                "cannot hold the lock of {own}: {error}; allow this program more threads"
            ))
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let address = own.clone();
        let thread = std::thread::Builder::new()
            .name("database-lock".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    let mut session = lock(&address).await;
                    let id = |session: &Option<Session>| session.as_ref().map(|held| held.connection().id);
                    let result = session.as_ref().map(id).map_err(Clone::clone);
                    let is_held = matches!(result, Ok(Some(_)));
                    if answer.send(result).is_ok() && is_held {
                        // The other side only ever drops its end.
                        let _ = ended.await;
                    }
                    if let Ok(session) = &mut session {
                        drop(session.take());
                    }
                });
            })
            .map_err(failed)?;
        let result = answered.await.unwrap_or(Ok(None));
        let keeper =
            |session| Self { url: url.clone(), session, held: Mutex::new(Some(Held { end, thread })) };
        Ok(result?.map(keeper))
    }

    /// Whether the session still has the lock.
    pub(super) async fn is_held(&self, own: &Url) -> Result<bool, Error> {
        let Some(id) = self.session else { return Ok(true) };
        let sql = if is_postgres(own) {
            format!("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = {id}")
        } else {
            format!("SELECT coalesce(is_used_lock(concat('prony:', md5(database()))) = {id}, 0)")
        };
        Ok(Session::open(own).await?.query(&sql, &[]).await? == [[Value::I64(1)]])
    }

    /// Gives the lock back.
    fn release(&self) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Held { end, thread }) = held {
            drop(end);
            // A panic of that thread is one of ours, and was shown when it came.
            let _ = thread.join();
        }
    }

    /// Removes the database; sessions that linger there are ended.
    pub(super) async fn remove_database(&self, name: &str) -> Result<(), Error> {
        self.release();
        let result = async {
            let mut admin = Session::open(&self.url).await?;
            end_sessions(&mut admin, &self.url, name).await?;
            drop_database(&mut admin, &self.url, name).await
        };
        result.await.map_err(|error| {
            let text = format!(
                "{} is left: {error}; remove it with `{}`",
                place(&self.url, name),
                removal(&self.url, name)
            );
            match error {
                Error::Unreachable(_) => Error::Unreachable(text),
                Error::Lost(_) => Error::Lost(text),
                _ => Error::Statement(text),
            }
        })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.release();
    }
}

/// A session that holds the lock of its database, if nobody else does. One that has just ended is waited for.
async fn lock(own: &Url) -> Result<Option<Session>, Error> {
    let mut session = Session::open(own).await?;
    let (sql, parameters) = if is_postgres(own) {
        // Older servers do not know this setting and never end a session that is idle.
        let _ = session.script("SET idle_session_timeout = 0").await;
        ("SELECT pg_try_advisory_lock($1)", vec![Value::I64(ADVISORY_LOCK)])
    } else {
        session.script("SET SESSION wait_timeout = 31536000").await?;
        ("SELECT get_lock(concat('prony:', md5(database())), 0)", Vec::new())
    };
    for _ in 0..LINGER_LOOKS {
        if session.query(sql, &parameters).await? == [[Value::I64(1)]] {
            return Ok(Some(session));
        }
        tokio::time::sleep(LINGER_INTERVAL).await;
    }
    Ok(None)
}

/// Number of the lock; PostgreSQL's are numbers of a database. These are the letters `prony`.
const ADVISORY_LOCK: i64 = 0x70_726f_6e79;

fn is_postgres(url: &Url) -> bool {
    url.engine().dialect() == Dialect::Postgres
}

fn place(url: &Url, name: &str) -> String {
    format!("the database `{name}` on {}", url.host().unwrap_or_default())
}

fn removal(url: &Url, name: &str) -> String {
    format!("DROP DATABASE {}", quoted(url, name))
}

/// A name as a statement takes it, with capitals as they are.
fn quoted(url: &Url, name: &str) -> String {
    if is_postgres(url) { format!("\"{name}\"") } else { format!("`{name}`") }
}

async fn is_there(admin: &mut Session, url: &Url, name: &str) -> Result<bool, Error> {
    let sql = if is_postgres(url) {
        "SELECT datname FROM pg_database WHERE datname = $1"
    } else {
        "SELECT schema_name FROM information_schema.schemata WHERE schema_name = ?"
    };
    Ok(admin.count_rows(sql, &[Value::Text(name.to_owned())]).await? > 0)
}

/// Whether a database has our mark. One that does not let us in is not ours.
async fn is_ours(url: &Url, name: &str) -> Result<bool, Error> {
    let mut session = match Session::open(&url.with_database(name)).await {
        Ok(session) => session,
        Err(Error::Refused(_) | Error::NoDatabase(_) | Error::Statement(_)) => return Ok(false),
        Err(error) => return Err(error),
    };
    let count_tables = if is_postgres(url) {
        "SELECT count(*) FROM pg_tables WHERE tablename = $1"
    } else {
        "SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND table_name = ?"
    };
    match has_mark(&mut session, count_tables, &[Value::Text(MARK.to_owned())]).await {
        Err(error) if !error.is_lost() => Ok(false),
        other => other,
    }
}

/// Ids of sessions in a database other than the one that asks.
fn sessions_sql(url: &Url) -> &'static str {
    if is_postgres(url) {
        "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend' \
         AND pid <> pg_backend_pid()"
    } else {
        "SELECT id FROM information_schema.processlist WHERE db = ? AND id <> connection_id()"
    }
}

/// How long sessions that end by themselves are waited for, and how often is looked.
const LINGER_LOOKS: u32 = 100;
const LINGER_INTERVAL: std::time::Duration = std::time::Duration::from_millis(10);

/// Whether somebody is connected and stays so: a server notices after a while that a client has gone.
async fn has_sessions(admin: &mut Session, url: &Url, name: &str) -> Result<bool, Error> {
    for _ in 0..LINGER_LOOKS {
        if admin.count_rows(sessions_sql(url), &[Value::Text(name.to_owned())]).await? == 0 {
            return Ok(false);
        }
        tokio::time::sleep(LINGER_INTERVAL).await;
    }
    Ok(true)
}

async fn end_sessions(admin: &mut Session, url: &Url, name: &str) -> Result<(), Error> {
    if !has_sessions(admin, url, name).await? {
        return Ok(());
    }
    for row in admin.query(sessions_sql(url), &[Value::Text(name.to_owned())]).await? {
        let Some(Value::I64(id)) = row.first() else { continue };
        let sql = if is_postgres(url) {
            format!("SELECT pg_terminate_backend({id})")
        } else {
            format!("KILL {id}")
        };
        match admin.script(&sql).await {
            Err(error) if error.is_lost() => return Err(error),
            // It may be gone by now; if it is not, the next statement says so.
            _ => {}
        }
    }
    Ok(())
}

async fn create(admin: &mut Session, url: &Url, name: &str) -> Result<(), Error> {
    let characters = if is_postgres(url) { "" } else { " CHARACTER SET utf8mb4" };
    let sql = format!("CREATE DATABASE {}{characters}", quoted(url, name));
    admin.script(&sql).await.map_err(|error| match error {
        Error::Statement(words) => Error::Refused(words),
        other => other,
    })
}

/// Locks and marks a database that was just made.
async fn mark(url: &Url, name: &str) -> Result<Keeper, Error> {
    let keeper = Keeper::start(url, name).await?.ok_or_else(|| in_use(&place(url, name)))?;
    Session::open(&url.with_database(name)).await?.script(MAKE_MARK).await?;
    Ok(keeper)
}

async fn drop_database(admin: &mut Session, url: &Url, name: &str) -> Result<(), Error> {
    if !is_postgres(url) {
        // Otherwise a forgotten transaction would be waited for for a day.
        admin.script("SET SESSION lock_wait_timeout = 10").await?;
    }
    admin.script(&format!("DROP DATABASE IF EXISTS {}", quoted(url, name))).await
}
