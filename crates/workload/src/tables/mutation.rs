//! Changes of rows of ClickHouse, which are mutations: an older server answers before they are done, and works on them after that. What
//! one is known by stands in its text, since such an answer names none.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use database::{Error, Session};
use tokio::time::sleep;

/// Time between two looks whether a mutation is done, at first and at most.
const LOOK_FIRST: Duration = Duration::from_micros(500);
const LOOK_MOST: Duration = Duration::from_millis(50);

/// Runs one, and returns when it is done. Whoever waits for a mutation that does not end may give up.
///
/// # Errors
/// Those of the database.
pub(super) async fn run(session: &mut Session, sql: &str) -> Result<(), Error> {
    /// Clients of one process have mutations at once.
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let known_by = format!("prony-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    session.script(&sql.replace("{mutation}", &known_by)).await?;
    if session.changes_at_once() {
        return Ok(());
    }
    // The table was made for this trial, and no earlier one can have a mutation of it.
    let left = format!(
        "SELECT count() FROM system.mutations WHERE database = currentDatabase() AND table = 'prony_rows' \
         AND is_done = 0 AND position(command, '\\'{known_by}\\'') > 0"
    );
    let mut pause = LOOK_FIRST;
    while session.query(&left, &[]).await? != [[database::Value::I64(0)]] {
        sleep(pause).await;
        pause = (pause * 2).min(LOOK_MOST);
    }
    Ok(())
}
