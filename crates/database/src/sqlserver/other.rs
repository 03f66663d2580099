//! Other connections to the same server: what it does for them, and their end.

use tokio::time::{Instant, sleep};

use super::SqlServerSession;
use crate::silence::{END_INTERVAL, END_TIMEOUT};
use crate::{Connection, Error, Value};

/// Whether a session is there, by its number and when it logged in: numbers are used again.
const IS_IT: &str = "FROM sys.dm_exec_sessions AS s WHERE s.session_id = @P1 AND CONVERT(varchar(40), s.login_time, 126) = @P2";

impl SqlServerSession {
    /// Whether the server works on something for another connection. One that waits for its client does not, where the server tells
    /// what its requests wait for.
    pub(crate) async fn works_for(&mut self, other: &Connection) -> Result<bool, Error> {
        let Some(id) = other.id.and_then(|id| i64::try_from(id).ok()) else { return Ok(true) };
        let parameters = [Value::I64(id), Value::Text(other.since.clone())];
        let waits = format!(
            "SELECT count(*) {IS_IT} AND (s.last_request_start_time > DATEADD(second, -1, GETDATE()) OR EXISTS (SELECT 1 \
             FROM sys.dm_exec_requests AS r WHERE r.session_id = s.session_id \
             AND coalesce(r.wait_type, '') <> 'ASYNC_NETWORK_IO'))"
        );
        let rows = match self.query(&waits, &parameters).await {
            Err(Error::Statement(_) | Error::Denied(_)) => {
                // One of many short requests may just be over.
                let works = "s.status NOT IN ('sleeping', 'idle') OR s.last_request_start_time > DATEADD(second, -1, GETDATE())";
                self.query(&format!("SELECT count(*) {IS_IT} AND ({works})"), &parameters).await?
            }
            rows => rows?,
        };
        Ok(rows == [[Value::I64(1)]])
    }

    pub(crate) async fn end(&mut self, connection: &Connection) -> Result<(), Error> {
        let Some(id) = connection.id.and_then(|id| i64::try_from(id).ok()) else { return Ok(()) };
        let parameters = [Value::I64(id), Value::Text(connection.since.clone())];
        let is_it = format!("SELECT s.session_id {IS_IT}");
        if self.count_rows(&is_it, &parameters).await? == 0 {
            return Ok(());
        }
        let killed = self.script(&format!("KILL {id}")).await;
        let deadline = Instant::now() + END_TIMEOUT;
        while self.count_rows(&is_it, &parameters).await? > 0 {
            if Instant::now() >= deadline || killed.is_err() {
                let why = killed.err().map_or_else(
                    || format!("it is still there after {} s", END_TIMEOUT.as_secs()),
                    |error| error.to_string(),
                );
                return Err(Error::Statement(format!(
                    "cannot end the lost connection {id} to {}: {why}; end it with `KILL {id}`",
                    self.target
                )));
            }
            sleep(END_INTERVAL).await;
        }
        Ok(())
    }
}
