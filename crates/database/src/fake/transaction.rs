//! Transactions of several statements on the fake: while one is open, all other sessions wait.

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use super::FakeSession;
use crate::Error;
use crate::error::{Attempt, Doing};
use crate::sqlite::statements;

impl FakeSession {
    pub(crate) async fn begin_transaction(&mut self) -> Result<(), Error> {
        self.serve(Doing::Run("BEGIN"), self.server.fake().query).await?;
        self.turn = self.other_turn().await;
        self.control("BEGIN")
    }

    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        self.serve(Doing::Run("COMMIT"), self.server.fake().query).await?;
        self.control("COMMIT")?;
        self.turn = None;
        Ok(())
    }

    pub(crate) async fn rollback(&mut self) -> Result<(), Error> {
        self.serve(Doing::Run("ROLLBACK"), self.server.fake().query).await?;
        self.abandon();
        Ok(())
    }

    pub(crate) fn abandon(&mut self) {
        if let Ok(database) = self.server.state().database() {
            let attempt = Attempt { doing: Doing::Run("ROLLBACK"), target: &self.target };
            // If this fails, the next BEGIN will tell.
            let _ = statements::rollback(database, attempt);
        }
        self.turn = None;
    }

    /// Waits until no other session has a transaction open, and keeps others from it.
    pub(super) async fn other_turn(&self) -> Option<OwnedMutexGuard<()>> {
        if self.turn.is_some() {
            return None;
        }
        let turn = Arc::clone(&self.server.0.turn);
        match Arc::clone(&turn).try_lock_owned() {
            Ok(turn) => Some(turn),
            Err(_) => Some(turn.lock_owned().await),
        }
    }

    fn control(&self, sql: &'static str) -> Result<(), Error> {
        let attempt = Attempt { doing: Doing::Run(sql), target: &self.target };
        let mut state = self.server.state();
        let database = state.database().map_err(|error| statements::fault(&error, attempt))?;
        statements::script(database, sql, attempt)
    }
}
