//! Transactions of several statements. BEGIN goes out with the first of them, which saves a round trip.

use std::future::Future;

use tokio_postgres::Client;

use super::{PostgresSession, answer, on_its_way};
use crate::Error;
use crate::error::Doing;

impl PostgresSession {
    pub(crate) async fn begin_transaction(&mut self) -> Result<(), Error> {
        self.settle().await?;
        self.is_to_begin = true;
        Ok(())
    }

    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        self.end_by("COMMIT").await
    }

    pub(crate) async fn rollback(&mut self) -> Result<(), Error> {
        self.end_by("ROLLBACK").await
    }

    /// Nobody ends the transaction that was begun.
    pub(crate) fn abandon(&mut self) {
        self.is_unfinished = !std::mem::take(&mut self.is_to_begin);
    }

    async fn end_by(&mut self, sql: &'static str) -> Result<(), Error> {
        if std::mem::take(&mut self.is_to_begin) {
            return Ok(());
        }
        self.give_line_back().await?;
        self.client.batch_execute(sql).await.map_err(|error| self.failed(&error, Doing::Run(sql)))
    }
}

/// Sends a request, and BEGIN before it if it is the first of a transaction.
pub(super) async fn after_begin<T>(
    client: &Client,
    is_first: bool,
    request: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, tokio_postgres::Error> {
    if !is_first {
        return request.await;
    }
    let begin = on_its_way(client.batch_execute("BEGIN")).await;
    let result = request.await;
    answer(begin).await?;
    result
}
