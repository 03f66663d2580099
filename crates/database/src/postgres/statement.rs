//! Statements of others, by each of PostgreSQL's ways of sending one.

use std::future::poll_fn;
use std::io;

use futures_util::future::poll_immediate;

use super::exchange::{Answered, Hears};
use super::message::{self, Column, Wrong};
use super::{PostgresSession, fault};
use crate::error::{Attempt, Doing};
use crate::rows::Cell;
use crate::{Answer, Error, Protocol, Refusal, Value, Wanted};

/// Rows of one statement as they are read.
struct Reading<T> {
    state: T,
    add: fn(&mut T, &[Cell<'_>]),
    /// Why a row could not be read.
    unread: Option<String>,
    answered: Answered,
}

impl<T> Hears for Reading<T> {
    fn answered(&mut self, answered: Answered) {
        // What fails at the end of a statement failed.
        if self.answered.is_ok() {
            self.answered = answered;
        }
    }

    fn row(&mut self, columns: &[Column], body: &[u8]) {
        match message::cells(columns, body) {
            Ok(cells) => (self.add)(&mut self.state, &cells),
            Err(why) => _ = self.unread.get_or_insert(why),
        }
    }
}

impl PostgresSession {
    /// Of several statements in one text the last one's answer is given.
    pub(crate) async fn statement(
        &mut self,
        sql: &str,
        parameters: &[Value],
        sent: (Protocol, Wanted),
    ) -> Result<Answer, Error> {
        self.take_line().await?;
        self.exchange.add(sql, parameters, sent);
        self.exchange.end();
        let mut result = Ok(Answer::default());
        let take = &mut |answered: Answered| {
            // What fails at the end of a statement failed.
            if result.is_ok() {
                result = answered;
            }
        };
        let talked = poll_fn(|context| self.exchange.poll(context, take)).await;
        self.told(sql, talked, result)
    }

    /// Runs one statement, and adds each of its rows to `state` as it comes. Rows are read where they were received, so that reading
    /// them costs a fraction of what the server does for them.
    pub(crate) async fn fold<T>(
        &mut self,
        sql: &str,
        parameters: &[Value],
        state: T,
        add: fn(&mut T, &[Cell<'_>]),
    ) -> Result<T, Error> {
        self.take_line().await?;
        self.exchange.add_for_rows(sql, parameters);
        self.exchange.end();
        let mut reading = Reading { state, add, unread: None, answered: Ok(Answer::default()) };
        let talked = poll_fn(|context| self.exchange.poll(context, &mut reading)).await;
        let Reading { state, unread, answered, .. } = reading;
        self.told(sql, talked, answered)?;
        match unread {
            None => Ok(state),
            Some(why) => {
                let attempt = Attempt { doing: Doing::Run(sql), target: &self.target };
                Err(Error::Statement(attempt.text(why, "")))
            }
        }
    }

    /// Begins a pipeline: statements that are sent without waiting for answers.
    pub(crate) async fn begin_pipeline(&mut self) -> Result<(), Error> {
        self.take_line().await?;
        self.is_pipeline = true;
        Ok(())
    }

    /// Puts a statement into the pipeline, which is answered at its end.
    pub(crate) async fn pipelined(
        &mut self,
        sql: &str,
        parameters: &[Value],
        protocol: Protocol,
    ) -> Result<(), Error> {
        self.exchange.add(sql, parameters, (protocol, Wanted::Count));
        if !self.exchange.is_much() {
            return Ok(());
        }
        // The server may wait for us to hear its answers: they are heard at the end.
        match poll_immediate(poll_fn(|context| self.exchange.poll_send(context))).await {
            Some(Err(error)) => {
                let attempt = Attempt { doing: Doing::Run(sql), target: &self.target };
                Err(fault::of_line(&error, None, attempt))
            }
            Some(Ok(())) | None => Ok(()),
        }
    }

    /// Ends a part of the pipeline: what fails before takes nothing with it that comes later.
    pub(crate) fn sync_pipeline(&mut self) {
        self.exchange.sync();
    }

    /// Ends the pipeline of these statements. Each that is answered is told `each` as it comes.
    ///
    /// # Errors
    /// The first of its statements that failed, and its number from zero.
    pub(crate) async fn end_pipeline(
        &mut self,
        statements: &[&str],
        each: &mut (impl FnMut() + Send),
    ) -> Result<(), (usize, Error)> {
        self.exchange.end();
        self.is_pipeline = false;
        let (mut answered, mut first) = (0, None);
        let take = &mut |answer: Answered| match answer {
            Ok(_) => {
                answered += usize::from(first.is_none());
                each();
            }
            Err(wrong) => _ = first.get_or_insert(wrong),
        };
        let talked = poll_fn(|context| self.exchange.poll(context, take)).await;
        if talked.is_ok() && first.is_none() {
            return Ok(());
        }
        // Those after it were not parsed.
        statements.iter().for_each(|sql| self.exchange.forget(sql));
        // An error at its very end is one of the whole: a constraint that waited for the commit, say.
        let number = answered.min(statements.len().saturating_sub(1));
        let sql = statements.get(number).copied().unwrap_or_default();
        let result = first.map_or(Ok(Answer::default()), Err);
        self.told(sql, talked, result).map(|_| ()).map_err(|error| (number, error))
    }

    /// Undoes what was begun and did not end, if anything was.
    pub(crate) async fn undo(&mut self) -> Result<(), Error> {
        self.take_line().await?;
        if !self.exchange.is_in_transaction() {
            return Ok(());
        }
        self.statement("ROLLBACK", &[], (Protocol::Simple, Wanted::Nothing)).await.map(|_| ())
    }

    /// Has the server parse a statement, and forget it again.
    pub(crate) async fn parse(&mut self, sql: &str) -> Result<Option<Refusal>, Error> {
        self.settle().await?;
        let Err(error) = self.client.prepare(sql).await else { return Ok(None) };
        match error.as_db_error().map(|wrong| fault::refusal(wrong, sql)) {
            Some(refusal) => Ok(refusal),
            None => Err(self.failed(&error, Doing::Run(sql))),
        }
    }

    /// SQLSTATE of the last error.
    pub(crate) fn last_code(&self) -> Option<String> {
        self.last_code.clone()
    }

    /// Whether the last of these statements left a transaction open.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.exchange.is_in_transaction()
    }

    fn told(
        &mut self,
        sql: &str,
        talked: io::Result<()>,
        result: Result<Answer, Wrong>,
    ) -> Result<Answer, Error> {
        let attempt = Attempt { doing: Doing::Run(sql), target: &self.target };
        self.last_code = None;
        if let Err(error) = talked {
            return Err(fault::of_line(&error, result.err().as_ref(), attempt));
        }
        result.map_err(|wrong| {
            self.last_code = Some(wrong.code.clone());
            // It is parsed anew the next time: its tables may be others now, or it never came to that.
            self.exchange.forget(sql);
            fault::of_wrong(&wrong, attempt)
        })
    }

    /// Has the line for ourselves, with nothing of ours or the driver's under way.
    async fn take_line(&mut self) -> Result<(), Error> {
        if self.exchange.is_at_hand() {
            self.is_pipeline = false;
            return Ok(());
        }
        if self.exchange.is_ours() {
            self.finish().await?;
        } else {
            self.settle().await?;
            // Whatever the driver sent without waiting is answered before this.
            let rested = self.client.check_connection().await;
            rested.map_err(|error| self.failed(&error, Doing::Run("what was sent before")))?;
        }
        let attempt = Attempt { doing: Doing::Run("the next statement"), target: &self.target };
        self.exchange.take().map_err(|error| fault::of_line(&error, None, attempt))
    }

    /// The processor on which the server worked last for this session, if that is known.
    pub(crate) fn processor(&self) -> Option<usize> {
        self.exchange.processor()
    }

    /// Leaves this thread's reactor; false where it is not waited for by one.
    pub(crate) fn leave_thread(&mut self) -> bool {
        self.exchange.leave()
    }

    /// Goes on with this thread's reactor.
    ///
    /// # Errors
    /// When the connection cannot be waited for here, as one that is lost.
    pub(crate) fn join_thread(&mut self) -> Result<(), Error> {
        let attempt = Attempt { doing: Doing::Run("the next statement"), target: &self.target };
        self.exchange.arrive().map_err(|error| fault::of_line(&error, None, attempt))
    }

    /// Lets the driver have the line again.
    pub(super) async fn give_line_back(&mut self) -> Result<(), Error> {
        if self.exchange.is_ours() {
            self.finish().await?;
            self.exchange.give_back();
        }
        Ok(())
    }

    /// Hears to its end what nobody waited for.
    async fn finish(&mut self) -> Result<(), Error> {
        self.is_pipeline = false;
        if !self.exchange.owes() {
            return Ok(());
        }
        self.exchange.end();
        let heard = poll_fn(|context| self.exchange.poll(context, &mut |_| {})).await;
        let attempt = Attempt { doing: Doing::Run("what was sent before"), target: &self.target };
        heard.map_err(|error| fault::of_line(&error, None, attempt))
    }
}
