//! Other connections to the same server: what it does for them, and their end.

use tokio::time::{Instant, sleep};

use super::MysqlSession;
use crate::silence::{END_INTERVAL, END_TIMEOUT};
use crate::{Connection, Error, Value};

/// How far two computations of a server's start may be apart: two statements can be in two seconds.
const START_TOLERANCE_S: i64 = 2;

impl MysqlSession {
    /// Whether the server works on something for another connection. One that waits for its client does not.
    pub(crate) async fn works_for(&mut self, other: &Connection) -> Result<bool, Error> {
        let Some(id) = other.id.and_then(|id| i64::try_from(id).ok()) else { return Ok(true) };
        let client = other.since.split_once(' ').map_or("", |(_, client)| client);
        let sql = "SELECT count(*) FROM information_schema.processlist WHERE id = ? AND host = ? AND command <> 'Sleep' \
                   AND coalesce(state, '') NOT IN ('Reading from net', 'Writing to net', 'Sending to client')";
        let rows = self.query(sql, &[Value::I64(id), Value::Text(client.to_owned())]).await?;
        Ok(rows == [[Value::I64(1)]])
    }

    pub(crate) async fn end(&mut self, connection: &Connection) -> Result<(), Error> {
        let Some(id) = connection.id.and_then(|id| i64::try_from(id).ok()) else { return Ok(()) };
        let (began_s, client) = connection.since.split_once(' ').unwrap_or((&connection.since, ""));
        let apart_s = self.began_s().await? - began_s.parse::<i64>().unwrap_or(0);
        if apart_s.abs() > START_TOLERANCE_S || self.client_end(id).await?.as_deref() != Some(client) {
            return Ok(());
        }
        let killed = self.script(&format!("KILL {id}")).await;
        let deadline = Instant::now() + END_TIMEOUT;
        while self.client_end(id).await?.as_deref() == Some(client) {
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
