//! What of a table survives when what holds it is killed in the midst of changes: tried, and not believed.
//!
//! The table is made once more, with fewer rows, so that nothing that was timed is touched. Who kills a server, and starts it again, is
//! whoever started it: here it is only asked for. An engine within the program is killed with a process of its own.

mod changing;
mod held;
mod ledger;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use database::{Cell, Dialect, Error, Holder, Lease, Session};
use load::{Go, Progress};
use record::{Preparation, Survival};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;
use tokio::time::sleep;

use super::Job;
use super::data::RowData;
use super::made::Made;
use super::statements::Asked;
use super::table::{Course, Table};
use crate::TrialError;
use crate::waiting::unless_stopped;
use changing::Tally;
pub use changing::change_until_killed;
use held::{Held, Process, Server};
use ledger::Changes;

/// Most rows that are loaded for it.
const ROWS_MOST: u64 = 100_000;
/// Most changes before the kill: a table in memory has to hold their rows.
const CHANGES_MOST: u64 = 200_000;
/// Changes go on for as long, at least.
const CHANGING_LEAST: Duration = Duration::from_secs(1);
/// So many are waited for, but not for longer than [`CHANGING_MOST`].
const CHANGES_LEAST: u64 = 100;
const CHANGING_MOST: Duration = Duration::from_secs(20);
/// Time between two looks at how far something is.
const LOOK: Duration = Duration::from_millis(10);

/// The first argument of this program when it is to change a table until it is killed, see [`change_until_killed`].
pub const CHANGES: &str = "change-table";

/// What is asked of whoever started a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Break {
    /// All its processes are killed with -9.
    Kill,
    /// It is started again as it was, and answers.
    StartAgain,
}

/// Who can kill what holds a table.
pub enum Kill<'a> {
    /// The one who started the server, asked so.
    Server(&'a mut dyn FnMut(Break) -> Result<(), String>),
    /// This program, in a process of its own that has the table in it.
    Program(PathBuf),
    /// Nobody, for this reason: a sentence without its end.
    Nobody(&'static str),
}

/// Tries it, and tells what survived. None if the user asks for an end meanwhile.
pub(super) async fn tried(
    table: &Table,
    kill: Kill<'_>,
    holder: &Holder,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<Option<Survival>, TrialError> {
    let not_tried = |why: &str| Ok(Some(Survival::NotTried(why.to_owned())));
    if table.job.crash == Some(false) {
        return not_tried("the test was switched off");
    }
    let table = table_of(&table.job, &table.lease).map_err(TrialError::Load)?;
    let (changes, mut tell) = (changes_of(&table), |what: String| {
        let _ = on_progress(Progress::Preparing(Preparation::waiting(what)));
    });
    let kind = table.job.kind;
    tell(format!("loading a {kind} table for the kill test"));
    // Asked now: what was set for the trial is gone with the server.
    let promising = async { table.made.server(kind, &mut table.session().await?).await };
    let Some(server) = unless_stopped(stop, promising).await else { return Ok(None) };
    let is_durable = server?.is_durable;
    let tally = Tally::new(changes);
    let mut held = match kill {
        Kill::Nobody(why) => return not_tried(why),
        Kill::Program(program) => Held::Process(Process::begin(&program, &table, &tally)?),
        Kill::Server(ask) => {
            let Some(loaded) = unless_stopped(stop, load(&table)).await else { return Ok(None) };
            loaded?;
            Held::Server(Server::begin(ask, &table, changes, &tally)?)
        }
    };
    let killed = held.killed();
    tell(format!("changing rows of a {kind} table before the kill"));
    if !is_due(&mut held, &tally, stop).await {
        tally.is_over.store(true, Ordering::Relaxed);
        let ended = held.end().await;
        return if stop.load(Ordering::Relaxed) { Ok(None) } else { ended.and(not_tried(TOO_SLOW)) };
    }
    tell(format!("killing and restarting a {kind} table"));
    let at = std::time::Instant::now();
    let dead = held.kill().await;
    tally.is_over.store(true, Ordering::Relaxed);
    let dead = dead?;
    if let Ok(database::Held::Lost(found)) = holder.is_held().await {
        return Err(TrialError::Load(found));
    }
    let mut session = table.session().await?;
    let back_s = at.elapsed().as_secs_f64();
    let found = changes.compare(&table.data, &tally.counts(), &rows(&table, &mut session).await?);
    let oldest = tally.oldest(&found.lost);
    let lost_oldest_s = oldest.map(|then| dead.saturating_duration_since(then).as_secs_f64());
    let clients = changes.clients as u32;
    Ok(Some(Survival::Tried(found.after(killed, (clients, is_durable), (lost_oldest_s, back_s)))))
}

const TOO_SLOW: &str = "no change was acknowledged in time for the kill test";

/// Waits until there is something to lose. Not if there never is, if clients ended by themselves, or if the user asks for an end.
async fn is_due(held: &mut Held<'_>, tally: &Tally, stop: &AtomicBool) -> bool {
    let mut begin = None;
    loop {
        sleep(LOOK).await;
        if stop.load(Ordering::Relaxed) || held.has_ended() {
            return false;
        }
        if !tally.has_begun.load(Ordering::Relaxed) {
            continue;
        }
        let since = begin.get_or_insert_with(std::time::Instant::now).elapsed();
        match tally.count() {
            CHANGES_MOST.. => return true,
            CHANGES_LEAST.. if since >= CHANGING_LEAST => return true,
            count if since >= CHANGING_MOST => return count > 0,
            _ => {}
        }
    }
}

async fn load(table: &Table) -> Result<(), Error> {
    let mut session = table.session().await?;
    table.make(&mut session).await?;
    table.load(&mut session, &mut Course::default(), &mut |_| {}).await
}

/// The table that is killed: of the same kind, with no more rows than are worth it.
fn table_of(job: &Job, lease: &Lease) -> Result<Table, String> {
    let dialect = lease.url().engine().dialect();
    let job = Job { rows: job.rows.min(ROWS_MOST), ..job.clone() };
    Ok(Table {
        made: Made::of(job.kind, dialect, job.rows + CHANGES_MOST)?.at(job.zstd_level),
        asked: Asked::new(dialect, job.access),
        data: RowData::new(job.rows, job.data_seed),
        lease: lease.clone(),
        job,
    })
}

fn changes_of(table: &Table) -> Changes {
    Changes::new(table.job.rows, table.job.clients.into())
}

/// The keys and amounts of all rows that are there.
async fn rows(table: &Table, session: &mut Session) -> Result<Vec<(i64, i64)>, Error> {
    fn add(rows: &mut Vec<(i64, i64)>, row: &[Cell<'_>]) {
        let number = |place: usize| row.get(place).and_then(Cell::integer).unwrap_or(i64::MIN);
        rows.push((number(0), number(1)));
    }
    match session.fold("SELECT id, amount FROM prony_rows", &[], Vec::new(), add).await {
        // A database in memory is gone with its process, and the table with it.
        Err(Error::Statement(_)) if table.made.is_in_memory && session.dialect() == Dialect::Sqlite => {
            Ok(Vec::new())
        }
        rows => rows,
    }
}

fn runtime() -> Result<Runtime, TrialError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| TrialError::Load(format!("cannot wait for clients: {error}")))
}
