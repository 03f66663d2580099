//! Transactions of several statements.

use super::{SqlServerSession, batch_only};
use crate::Error;
use crate::error::Doing;

pub(super) const BEGIN: &str = "BEGIN TRANSACTION";
pub(super) const COMMIT: &str = "COMMIT TRANSACTION";
/// Ends what was begun, if the server has not done so itself, as it does with a deadlock's victim.
pub(super) const ROLLBACK: &str = "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION";

impl SqlServerSession {
    pub(crate) async fn begin_transaction(&mut self) -> Result<(), Error> {
        self.control(BEGIN).await
    }

    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        self.control(COMMIT).await
    }

    pub(crate) async fn rollback(&mut self) -> Result<(), Error> {
        self.control(ROLLBACK).await
    }

    /// Nobody ends the transaction that was begun.
    pub(crate) fn abandon(&mut self) {
        self.is_unfinished = true;
    }

    async fn control(&mut self, sql: &'static str) -> Result<(), Error> {
        self.begin(Doing::Run(sql)).await?;
        let result = batch_only(&mut self.client, sql).await;
        self.done(result, Doing::Run(sql))
    }
}
