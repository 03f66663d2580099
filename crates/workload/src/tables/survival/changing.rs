//! Clients that change rows until what holds the table is killed: here, or in a process of their own that is killed with the table in it.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use database::{Error, Lease, Value};
use load::lock;
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::time::Instant;
use tokio::task::{JoinSet, LocalSet};

use super::super::Job;
use super::super::statements::place;
use super::super::table::{Course, TRIES, Table};
use super::ledger::{Change, Changes};
use crate::TrialError;

/// Tells of an acknowledged change of a client.
pub(super) type Told = Rc<dyn Fn(u64)>;

/// What the process that changes a table says once its rows are there; afterwards it says the number of a client for each change of
/// this client that was acknowledged.
pub(super) const READY: &str = "ready";

/// When changes were acknowledged, by client.
#[derive(Debug)]
pub(super) struct Tally {
    acknowledged: Vec<Mutex<Vec<Instant>>>,
    count: AtomicU64,
    /// Whether the rows are there that are to be changed.
    pub(super) has_begun: AtomicBool,
    /// Whether clients are to end by themselves.
    pub(super) is_over: AtomicBool,
}

impl Tally {
    pub(super) fn new(changes: Changes) -> Arc<Self> {
        Arc::new(Self {
            acknowledged: (0..changes.clients).map(|_| Mutex::default()).collect(),
            count: AtomicU64::new(0),
            has_begun: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        })
    }

    /// An acknowledged change of a client; one of nobody is none.
    pub(super) fn add(&self, client: u64) {
        if let Some(times) = self.acknowledged.get(client as usize) {
            lock(times).push(Instant::now());
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Of each client, once none adds any more.
    pub(super) fn counts(&self) -> Vec<u64> {
        self.acknowledged.iter().map(|times| lock(times).len() as u64).collect()
    }

    /// When the oldest of some changes was acknowledged.
    pub(super) fn oldest(&self, changes: &[(u64, u64)]) -> Option<Instant> {
        let at = |(client, number): &(u64, u64)| {
            lock(self.acknowledged.get(*client as usize)?).get(*number as usize).copied()
        };
        changes.iter().filter_map(at).min()
    }
}

/// Has clients change rows, each on a connection of its own, until `is_over` or until one of them cannot any more.
///
/// # Errors
/// Why the first one could not.
pub(super) async fn change(
    table: &Table,
    changes: Changes,
    is_over: &AtomicBool,
    told: Told,
) -> Result<(), Error> {
    let ended = Rc::new(Cell::new(false));
    let mut sessions = Vec::new();
    for _ in 0..changes.clients {
        sessions.push(table.session().await?.without_limit());
    }
    let clients = LocalSet::new();
    let changed = clients.run_until(async {
        let mut changing = JoinSet::new();
        for (client, session) in (0..).zip(sessions) {
            let (told, ended) = (Rc::clone(&told), Rc::clone(&ended));
            changing.spawn_local(change_as(client, session, changes, told, ended));
        }
        let mut first = Ok(());
        loop {
            tokio::select! {
                one = changing.join_next() => {
                    let Some(one) = one else { return first };
                    let one = one.unwrap_or_else(|panic| {
                        Err(Error::Statement(format!("a client ended because of a bug in prony: {panic}")))
                    });
                    first = first.and(one);
                    ended.set(true);
                }
                () = tokio::time::sleep(super::LOOK), if !ended.get() => {
                    ended.set(is_over.load(Ordering::Relaxed));
                }
            }
        }
    });
    changed.await
}

/// One client.
async fn change_as(
    client: u64,
    mut session: database::Session,
    changes: Changes,
    told: Told,
    ended: Rc<Cell<bool>>,
) -> Result<(), Error> {
    let place = |number| place(session.dialect(), number);
    let update = format!("UPDATE prony_rows SET amount = {} WHERE id = {}", place(1), place(2));
    let insert = format!(
        "INSERT INTO prony_rows (amount, id, category, value, note) VALUES ({}, {}, 0, 0, 'changed')",
        place(1),
        place(2)
    );
    for number in 0.. {
        if ended.get() {
            return Ok(());
        }
        let Change { is_insert, key, amount } = changes.of(client, number);
        let (sql, values) =
            (if is_insert { &insert } else { &update }, [Value::I64(amount), Value::I64(key.cast_signed())]);
        let mut changed = session.execute(sql, &values).await;
        for _ in 1..TRIES {
            if !matches!(changed, Err(Error::Conflict(_))) {
                break;
            }
            changed = session.execute(sql, &values).await;
        }
        let changed = changed?;
        if changed != 1 {
            return Err(Error::Statement(format!(
                "a change of the row with key {key} changed {changed} rows"
            )));
        }
        told(client);
    }
    Ok(())
}

/// What a process of its own is told to do: make a table, load it and change it until it is killed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Work {
    pub(super) job: Job,
    pub(super) lease: Lease,
}

/// Makes, loads and changes a table as another process of this program asks, until it is killed. `say` takes a line for each
/// acknowledged change; once `is_over`, it ends by itself.
///
/// # Errors
/// When it was told something else, or cannot do it.
pub fn change_until_killed(
    work: &str,
    is_over: &AtomicBool,
    say: impl Fn(&str) + 'static,
) -> Result<(), TrialError> {
    let work: Work = serde_json::from_str(work)
        .map_err(|error| TrialError::Load(format!("cannot read which rows to change: {error}")))?;
    let runtime = super::runtime()?;
    runtime.block_on(async {
        let table = super::table_of(&work.job, &work.lease).map_err(TrialError::Load)?;
        let mut session = table.session().await?;
        table.make(&mut session).await?;
        table.load(&mut session, &mut Course::default(), &mut |_| {}).await?;
        say(READY);
        let changes = super::changes_of(&table);
        let told: Told = Rc::new(move |client| say(&client.to_string()));
        // The first session stays: a database in memory is gone with its last one.
        let changed = change(&table, changes, is_over, told).await;
        drop(session);
        Ok(changed?)
    })
}
