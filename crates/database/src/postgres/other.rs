//! Other connections to the same server: what it does for them, and their end.

use tokio::time::{Instant, sleep};

use super::PostgresSession;
use crate::silence::{END_INTERVAL, END_TIMEOUT};
use crate::{Connection, Error, Value};

impl PostgresSession {
    /// Whether the server works on something for another connection. One that waits for its client does not; a server that
    /// does not tell is believed to.
    pub(crate) async fn works_for(&mut self, other: &Connection) -> Result<bool, Error> {
        let Some(pid) = other.id.and_then(|pid| i64::try_from(pid).ok()) else { return Ok(true) };
        let sql = "SELECT coalesce(state = 'disabled' OR (state = 'active' AND wait_event_type IS DISTINCT FROM 'Client'), true) \
                   FROM pg_stat_activity WHERE pid = $1 AND (extract(epoch FROM backend_start) * 1000000)::bigint::text = $2";
        let rows = self.query(sql, &[Value::I64(pid), Value::Text(other.since.clone())]).await?;
        Ok(rows == [[Value::I64(1)]])
    }

    pub(crate) async fn end(&mut self, connection: &Connection) -> Result<(), Error> {
        let Some(pid) = connection.id.and_then(|pid| i64::try_from(pid).ok()) else { return Ok(()) };
        let is_it = "FROM pg_stat_activity WHERE pid = $1 AND \
                     (extract(epoch FROM backend_start) * 1000000)::bigint::text = $2";
        let parameters = [Value::I64(pid), Value::Text(connection.since.clone())];
        self.query(&format!("SELECT pg_terminate_backend(pid) {is_it}"), &parameters).await?;
        let deadline = Instant::now() + END_TIMEOUT;
        while self.count_rows(&format!("SELECT pid {is_it}"), &parameters).await? > 0 {
            if Instant::now() >= deadline {
                return Err(Error::Statement(format!(
                    "cannot end the lost connection {pid} to {}: it is still there after {} s; end it with `SELECT \
                     pg_terminate_backend({pid})`",
                    self.target,
                    END_TIMEOUT.as_secs()
                )));
            }
            sleep(END_INTERVAL).await;
        }
        Ok(())
    }
}
