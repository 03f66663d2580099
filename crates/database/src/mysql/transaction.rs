//! Transactions of several statements, and the ids that the database makes.

use super::MysqlSession;
use crate::error::Doing;
use crate::{Error, Value};

impl MysqlSession {
    pub(crate) async fn begin_transaction(&mut self) -> Result<(), Error> {
        self.control("BEGIN").await
    }

    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        self.control("COMMIT").await
    }

    pub(crate) async fn rollback(&mut self) -> Result<(), Error> {
        self.control("ROLLBACK").await
    }

    /// Nobody ends the transaction that was begun.
    pub(crate) fn abandon(&mut self) {
        self.is_unfinished = true;
    }

    async fn control(&mut self, sql: &'static str) -> Result<(), Error> {
        self.begin(Doing::Run(sql)).await?;
        let result = self.conn.query_drop(sql).await;
        self.done(result, Doing::Run(sql))
    }

    /// The id comes with the answer. It is that of an earlier row if this statement inserted none.
    pub(crate) async fn insert_one(&mut self, sql: &str, parameters: &[Value]) -> Result<Option<i64>, Error> {
        let changed = self.execute(sql, parameters).await?;
        let id = self.conn.insert_id().filter(|_| changed > 0);
        Ok(id.and_then(|id| i64::try_from(id).ok()))
    }
}
