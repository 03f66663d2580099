//! Every register is read once more when the load is over: what was acknowledged last is accounted for by that alone.

use std::time::Duration;

use database::Error;
use record::register::{Did, Operation};
use tokio::time::{Instant, sleep};

use super::running::Running;
use crate::clock::Clock;
use crate::register::store::{self, Held};

/// A server that is away when the load ends is waited for so long.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause before it is tried again.
const PAUSE: Duration = Duration::from_millis(100);

/// Reads all registers as one more client, and adds that to the history.
pub(super) async fn audit(running: &Running, clock: Clock) -> Result<(), Error> {
    let begin = Instant::now();
    loop {
        match read(running, clock).await {
            Err(_) if begin.elapsed() < PATIENCE => sleep(PAUSE).await,
            read => return read,
        }
    }
}

async fn read(running: &Running, clock: Clock) -> Result<(), Error> {
    let mut session = running.session().await?;
    let invoked_ns = clock.now_ns();
    let found = running.soon(store::read_all(&mut session)).await?;
    let at_ns = clock.now_ns();
    let read = |key: u32, held: Held| {
        let did = Did::Read { value: held.value, replaced: held.replaced, at_ns };
        running.add(Operation { client: running.job.clients, key, invoked_ns, did });
    };
    let mut is_there = vec![false; running.job.keys as usize];
    for (key, held) in found {
        read(key, held);
        if let Some(is_there) = is_there.get_mut(key as usize) {
            *is_there = true;
        }
    }
    let missing = (0..).zip(is_there).filter(|(_, is_there)| !is_there);
    missing.for_each(|(key, _)| read(key, Held::NOTHING));
    Ok(())
}
