//! Transactions of several statements on one session.

use crate::{Error, Session, Value};

/// A transaction that was begun. A statement that fails ends it, with everything undone at once, so that nobody waits for
/// its locks; dropped before its end, it is undone before the session does anything else.
#[derive(Debug)]
pub struct Transaction<'s> {
    session: &'s mut Session,
    is_open: bool,
}

impl<'s> Transaction<'s> {
    pub(crate) fn new(session: &'s mut Session) -> Self {
        Self { session, is_open: true }
    }

    /// As [`Session::execute`].
    ///
    /// # Errors
    /// Those of the database; the transaction is over then.
    pub async fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
        let result = self.open(sql)?.execute(sql, parameters).await;
        self.go_on(result).await
    }

    /// As [`Session::query`].
    ///
    /// # Errors
    /// Those of the database; the transaction is over then.
    pub async fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Error> {
        let result = self.open(sql)?.query(sql, parameters).await;
        self.go_on(result).await
    }

    /// As [`Session::insert`].
    ///
    /// # Errors
    /// Those of the database; the transaction is over then.
    pub async fn insert(&mut self, sql: &str, parameters: &[Value]) -> Result<Option<i64>, Error> {
        let result = self.open(sql)?.insert(sql, parameters).await;
        self.go_on(result).await
    }

    /// Makes everything last, with the durability that the server has.
    ///
    /// # Errors
    /// Those of the database; after [`Error::is_lost`] it is not known whether it was committed, after any other it was
    /// not.
    pub async fn commit(mut self) -> Result<(), Error> {
        let result = self.open("COMMIT")?.commit().await;
        self.go_on(result).await?;
        self.is_open = false;
        Ok(())
    }

    /// Undoes everything.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn rollback(mut self) -> Result<(), Error> {
        if self.is_open {
            self.session.rollback().await?;
            self.is_open = false;
        }
        Ok(())
    }

    fn open(&mut self, sql: &str) -> Result<&mut Session, Error> {
        if self.is_open {
            return Ok(&mut *self.session);
        }
        Err(Error::Statement(format!(
            "cannot run `{sql}`: an earlier statement failed and rolled the transaction back; begin a new one"
        )))
    }

    async fn go_on<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &result {
            // If this fails too, the session tries again before its next statement.
            if error.is_lost() || self.session.rollback().await.is_ok() {
                self.is_open = false;
            }
        }
        result
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.session.abandon();
        }
    }
}
