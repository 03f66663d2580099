//! The lock on a database of a server.
//!
//! A thread with a session in the database holds it there, so that it ends with the session whatever becomes of this
//! process. It has a runtime of its own, so that the lock does not depend on whether a caller's runs.

use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::Administration;
use super::administration::filled;
use super::server::{LINGER_INTERVAL, LINGER_LOOKS};
use crate::{Error, Session, Url, Value};

/// Holds the lock of a database as long as it is there.
#[derive(Debug)]
pub(super) struct Keeper {
    administration: &'static Administration,
    /// What the server calls the session that holds it.
    session: Option<u64>,
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Keeper {
    /// Takes the lock of the database of an address; none if somebody else has it.
    pub(super) async fn start(
        administration: &'static Administration,
        own: &Url,
    ) -> Result<Option<Self>, Error> {
        let (answer, answered) = oneshot::channel();
        let (end, ended) = oneshot::channel::<()>();
        let place = own.to_string();
        let failed = move |error: std::io::Error| {
            Error::Unreachable(format!(
                "cannot hold the lock of {place}: {error}; allow this program more threads and files (ulimit -u, -n)"
            ))
        };
        let address = own.clone();
        let hold = move |answer: oneshot::Sender<_>| async move {
            let mut session = lock(administration, &address).await;
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
        };
        // The runtime is made where it runs: one that is dropped within another panics.
        let no_runtime = failed.clone();
        let run = move || match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(hold(answer)),
            Err(error) => drop(answer.send(Err(no_runtime(error)))),
        };
        let thread =
            std::thread::Builder::new().name("database-lock".to_owned()).spawn(run).map_err(failed)?;
        let result = answered.await.unwrap_or(Ok(None));
        Ok(result?.map(|session| Self { administration, session, held: Some(Held { end, thread }) }))
    }

    /// Whether the session still has the lock.
    pub(super) async fn is_held(&self, own: &Url) -> Result<bool, Error> {
        let Some(id) = self.session else { return Ok(true) };
        let sql = filled(self.administration.is_held, &[("id", &id.to_string())]);
        Ok(Session::open(own).await?.query(&sql, &[]).await? == [[Value::I64(1)]])
    }
}

impl Drop for Keeper {
    /// Gives the lock back.
    fn drop(&mut self) {
        if let Some(Held { end, thread }) = self.held.take() {
            drop(end);
            // A panic of that thread is one of ours, and was shown when it came.
            let _ = thread.join();
        }
    }
}

/// A session that holds the lock of its database, if nobody else does. One that has just ended is waited for.
async fn lock(administration: &Administration, own: &Url) -> Result<Option<Session>, Error> {
    let mut session = Session::open(own).await?;
    if let Some(stay) = administration.stay {
        match session.script(stay).await {
            Err(_) if administration.stay_may_be_unknown => {}
            stays => stays?,
        }
    }
    Ok(take_lock(administration, &mut session).await?.then_some(session))
}

/// Takes the lock of the database of a session, which keeps it to its end; false if somebody else has it.
pub(super) async fn take_lock(administration: &Administration, session: &mut Session) -> Result<bool, Error> {
    let looks = if administration.waits_for_locks { 1 } else { LINGER_LOOKS };
    for _ in 0..looks {
        if session.query(administration.lock, &[]).await? == [[Value::I64(1)]] {
            return Ok(true);
        }
        tokio::time::sleep(LINGER_INTERVAL).await;
    }
    Ok(false)
}
