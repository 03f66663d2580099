//! One logged session: its statements in their order, each when it is due or as soon as the one before it is answered.

use std::sync::Arc;

use database::{Error, Session, Wanted};
use load::Completed;

use super::CONNECTS_AHEAD_NS;
use super::playing::Playing;
use crate::clients::{Client, Counting, Course, Done, Place};
use crate::script::OnError;
use crate::script::driver::running::{FAILED, TRANSACTION};
use crate::script::replay::Logged;

/// A logged session.
#[derive(Debug)]
pub(super) struct Player {
    playing: Arc<Playing>,
    /// Number of the session in the log.
    number: usize,
    /// The statement that comes next.
    next: usize,
    /// None before it begins.
    session: Option<Session>,
    /// What was sent and has no answer: whether it is a statement, and whether a transaction.
    awaits: Awaits,
    was_late: bool,
}

/// What is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Awaits {
    #[default]
    Nothing,
    /// The next statement of a transaction is not due, or not sent.
    Transaction,
    Statement,
}

impl Client for Player {
    type Load = Playing;
    /// The statements of a transaction.
    type Turn = std::ops::Range<usize>;

    async fn connect(playing: &Arc<Playing>, place: Place) -> Result<Self, Error> {
        let mut player = Self {
            playing: Arc::clone(playing),
            number: place.client as usize,
            next: 0,
            session: None,
            awaits: Awaits::Nothing,
            was_late: false,
        };
        if player.begins_ns() == 0 {
            player.connect_again().await?;
        }
        Ok(player)
    }

    fn course(&self) -> Course {
        let next = self.statements().get(self.next);
        let due_ns = next.and_then(|logged| self.playing.due_ns(logged));
        Course::Own { begins_ns: self.begins_ns(), due_ns }
    }

    async fn begin(&mut self) -> Result<(), Error> {
        // One whose first statement is due after the end of the load has nothing to do.
        let is_needed = self.statements().first().is_some_and(|first| self.playing.due_ns(first).is_some());
        if self.session.is_some() || !is_needed {
            return Ok(());
        }
        self.connect_again().await
    }

    fn finish(&mut self) {
        self.session = None;
    }

    fn next(&mut self) -> (usize, Self::Turn) {
        let from = self.next;
        let rest = self.statements().get(from + 1..).unwrap_or_default();
        let behind = rest.iter().position(|logged| logged.begins).unwrap_or(rest.len());
        self.next = from + 1 + behind;
        (TRANSACTION, from..self.next)
    }

    async fn once(&mut self, turn: Self::Turn, counting: Counting<'_>) -> Result<Done, Error> {
        self.playing.transaction_begins();
        self.awaits = Awaits::Transaction;
        let mut done = Done::default();
        for at in turn {
            let Some(logged) = self.statements().get(at).copied() else { break };
            let Some((due_ns, waited_ns)) = self.wait_for(&logged, counting).await else {
                done.is_cut_off = true;
                self.playing.transaction_is_cut();
                break;
            };
            done.not_due_ns += waited_ns;
            if !self.send(&logged, due_ns, counting).await? {
                done.is_failed = true;
            }
        }
        self.awaits = Awaits::Nothing;
        done.counter = done.is_failed.then_some(FAILED);
        Ok(done)
    }

    fn lost(&mut self) {
        match std::mem::take(&mut self.awaits) {
            Awaits::Nothing => {}
            Awaits::Transaction => self.playing.transaction_is_unanswered(),
            Awaits::Statement => {
                self.playing.transaction_is_unanswered();
                self.playing.is_unanswered();
            }
        }
    }

    async fn connect_again(&mut self) -> Result<(), Error> {
        // The measured load has no limit, and the controller ends what takes too long.
        self.session = Some(self.playing.lease.session().await?.without_limit());
        Ok(())
    }
}

impl Player {
    fn statements(&self) -> &[Logged] {
        &self.playing.log.sessions[self.number].statements
    }

    fn begins_ns(&self) -> u64 {
        let first = self.statements().first().and_then(|first| self.playing.due_ns(first));
        first.unwrap_or(u64::MAX / 2).saturating_sub(CONNECTS_AHEAD_NS)
    }

    /// Waits until a statement is due. Tells when that is and how long was waited; none where the load is over before.
    async fn wait_for(&self, logged: &Logged, counting: Counting<'_>) -> Option<(u64, u64)> {
        let due_ns = self.playing.due_ns(logged)?;
        let now_ns = counting.clock.now_ns();
        if now_ns >= due_ns {
            return Some((due_ns, 0));
        }
        tokio::select! {
            biased;
            () = counting.clock.until(due_ns) => Some((due_ns, due_ns - now_ns)),
            () = counting.load_over.wait() => None,
        }
    }

    /// Sends a statement and counts it. Tells whether it succeeded.
    async fn send(&mut self, logged: &Logged, due_ns: u64, counting: Counting<'_>) -> Result<bool, Error> {
        let (sql, values, protocol) = self.playing.sent(logged);
        let kind = self.playing.kind(logged);
        let Some(session) = &mut self.session else { unreachable!("a session that has begun is connected") };
        let sent_ns = counting.clock.now_ns();
        self.playing.lags(sent_ns.saturating_sub(due_ns), &mut self.was_late);
        self.awaits = Awaits::Statement;
        let answer = session.statement(&sql, &values, (protocol, Wanted::Nothing)).await;
        let now_ns = counting.clock.now_ns();
        let mut recording = counting.recorder.at(now_ns);
        match answer {
            Ok(_) => {
                let completed = Completed { kind, due_ns: Some(due_ns), sent_ns, bytes: 0 };
                recording.complete(now_ns, completed);
                self.playing.is_answered();
                self.awaits = Awaits::Transaction;
                Ok(true)
            }
            Err(error) => {
                recording.fail(kind, 1);
                drop(recording);
                self.failed(error)
            }
        }
    }

    fn failed(&mut self, error: Error) -> Result<bool, Error> {
        if error.is_lost() {
            return Err(error);
        }
        self.awaits = Awaits::Transaction;
        let code = self.session.as_ref().and_then(Session::last_code);
        self.playing.has_failed(code, &error.to_string());
        match self.playing.on_error {
            OnError::Count => Ok(false),
            // What is wrong is not the connection, whatever kind of error the server made of it.
            OnError::Stop => Err(Error::Statement(error.to_string())),
        }
    }
}
