//! One trial: a table is made, loaded, asked, changed by one session, then by many clients, and emptied. Each operation is timed by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use database::{Error, Holder, Lease, Session};
use load::{Go, Progress};
use record::{Setup, TableOperation, TablesOutcome, TablesSetup, TimedOperation};

use super::Job;
use super::data::{Expected, RowData};
use super::kind::Kind;
use super::made::{Made, Setting, lacking};
use super::size;
use super::statements::{Asked, Statement};
use super::survival::{self, Kill};
use super::table::{Course, Table};
use super::updates::{Updated, Updater, Updates};
use crate::TrialError;
use crate::clients::{Clients, Drive};
use crate::waiting::{unless_stopped, with_grace};

/// How long a table may take to be removed, and what was set to be set back, once the user asks for an end.
const REMOVE_GRACE: Duration = Duration::from_secs(10);

type OnProgress<'a> = &'a mut dyn FnMut(Progress) -> Go;

/// Runs a trial of a table until its end, or until `stop`. A kind of table that the engine does not have is told in the outcome. What of the
/// table survives is tried at the end, where somebody can kill what holds it.
///
/// # Errors
/// When an operation could not be done.
pub fn run(
    job: &Job,
    lease: &Lease,
    holder: &Holder,
    kill: Kill<'_>,
    stop: &AtomicBool,
    on_progress: OnProgress<'_>,
) -> Result<TablesOutcome, TrialError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| TrialError::Load(format!("cannot wait for clients: {error}")))?;
    runtime.block_on(async {
        let dialect = lease.url().engine().dialect();
        let made = match Made::of(job.kind, dialect, job.rows) {
            Ok(made) => made.at(job.zstd_level),
            Err(lacks) => return Ok(left_out(lacks)),
        };
        let asked = Asked::new(dialect, job.access);
        let data = RowData::new(job.rows, job.data_seed);
        let table = Table { job: job.clone(), lease: lease.clone(), made, asked, data };
        let begin = async {
            let mut session = table.session().await?;
            let missing = table.made.missing(job.kind, &mut session).await?;
            Ok::<_, Error>((session, missing))
        };
        let (mut session, missing) = unless_stopped(stop, begin).await.ok_or(TrialError::Interrupted)??;
        if let Some(lacks) = missing {
            return Ok(left_out(lacks));
        }
        let found = Setting::found(&mut session).await?;
        let set_back = match table.made.set {
            Some(setting) => match setting.set(&mut session).await {
                Err(Error::Statement(why)) => return refused(job.kind, why).map(left_out),
                Err(error) => return Err(error.into()),
                Ok(set_back) => Some(set_back),
            },
            None => None,
        };
        let measured = match unless_stopped(stop, table.make(&mut session)).await {
            Some(Ok(())) => measure(&table, session, (kill, holder), stop, on_progress).await,
            Some(Err(Error::Statement(why))) => refused(job.kind, why).map(left_out),
            Some(Err(error)) => Err(error.into()),
            None => Err(TrialError::Interrupted),
        };
        let removing = with_grace(stop, REMOVE_GRACE, removed(&table, set_back.as_deref()));
        let left = removing
            .await
            .unwrap_or_else(|| not_removed(set_back.as_deref(), "the server did not answer in time"));
        let mut outcome = finished(measured, left)?;
        outcome.notes.extend(found);
        if let Ok(database::Held::Lost(found)) = holder.is_held().await {
            outcome.notes.push(found);
        }
        Ok(outcome)
    })
}

fn left_out(lacks: String) -> TablesOutcome {
    TablesOutcome { lacks: Some(lacks), ..TablesOutcome::default() }
}

/// Why a server that does not make a kind of table has none. Where it makes not even the usual one, no other can be measured: an error.
fn refused(kind: Kind, why: String) -> Result<String, TrialError> {
    if kind == Kind::Row {
        return Err(Error::Statement(why).into());
    }
    Ok(format!("this server refuses to create such a table: {why}"))
}

/// What came of a trial, with what it left behind.
fn finished(
    measured: Result<TablesOutcome, TrialError>,
    left: Option<String>,
) -> Result<TablesOutcome, TrialError> {
    match (measured, left) {
        (Ok(outcome), None) => Ok(outcome),
        (Ok(mut outcome), Some(left)) => {
            outcome.notes.push(left);
            Ok(outcome)
        }
        (Err(error), None) => Err(error),
        (Err(error), Some(left)) => Err(TrialError::Load(format!("{error}; and {left}"))),
    }
}

/// Sets back what was set, and removes the table. Says what could not be done.
async fn removed(table: &Table, set_back: Option<&str>) -> Option<String> {
    let mut session = match table.lease.session().await {
        Ok(session) => session,
        Err(error) => return not_removed(set_back, &error.to_string()),
    };
    if let Some(back) = set_back
        && let Err(error) = Setting::set_back(&mut session, back).await
    {
        return not_removed(set_back, &error.to_string());
    }
    let dropped = table.drop(&mut session).await;
    dropped.err().map(|error| format!("the table could not be removed: {error}"))
}

fn not_removed(set_back: Option<&str>, why: &str) -> Option<String> {
    Some(match set_back {
        Some(back) => {
            format!(
                "a setting that was changed for the trial could not be restored ({why}): run `{back}` yourself"
            )
        }
        None => format!("the table could not be removed: {why}"),
    })
}

/// All operations, in their order, and at last what survives.
async fn measure(
    table: &Table,
    mut session: Session,
    (kill, holder): (Kill<'_>, &Holder),
    stop: &AtomicBool,
    on_progress: OnProgress<'_>,
) -> Result<TablesOutcome, TrialError> {
    let mut expected = Expected::of(&table.data);
    let (mut course, mut outcome) = (Course::default(), TablesOutcome::default());
    let before = before(table, &mut session, (&mut course, &mut outcome, &mut expected), on_progress);
    let setup = unless_stopped(stop, before).await.ok_or(TrialError::Interrupted)??;
    let updated = update_by_key(table, setup, (&mut course, &mut outcome), stop, on_progress).await?;
    if stop.load(Ordering::Relaxed) {
        return Ok(together(course, outcome, updated));
    }
    expected.all[1] += updated.acknowledged.cast_signed();
    let after = async {
        if !outcome.outages.is_empty() {
            // This session rested meanwhile, and was lost as the clients' were.
            session = table.session().await?;
        }
        after(table, &mut session, (&mut course, &expected, updated.unanswered), on_progress).await
    };
    let Some(after) = unless_stopped(stop, after).await else {
        return Ok(together(course, outcome, updated));
    };
    after?;
    drop(session);
    outcome.survival = survival::tried(table, kill, holder, stop, on_progress).await?;
    Ok(together(course, outcome, updated))
}

fn together(course: Course, outcome: TablesOutcome, updated: Updated) -> TablesOutcome {
    TablesOutcome {
        operations: course.operations,
        retries: course.retries + updated.retries,
        wrong: course.wrong.or(updated.wrong),
        unanswered: updated.unanswered,
        ..outcome
    }
}

/// What one session does before the clients come.
async fn before(
    table: &Table,
    session: &mut Session,
    (course, outcome, expected): (&mut Course, &mut TablesOutcome, &mut Expected),
    on_progress: OnProgress<'_>,
) -> Result<Setup, Error> {
    let mut tell = |at| {
        let _ = on_progress(Progress::Preparing(at));
    };
    let tell = &mut tell;
    table.load(session, course, tell).await?;
    outcome.size = size::of(session, &table.made).await?;
    table.select(session, course, &expected.selected).await?;
    let scan = (TableOperation::Scan, Statement::Scan);
    table.query(session, course, scan, ("the scan", &expected.all), tell).await?;
    let group = (TableOperation::Group, Statement::Group);
    table.query(session, course, group, ("the GROUP BY", &expected.groups), tell).await?;
    outcome.checksum = Some(table.read_back(session, course, &expected.checksum, tell).await?);
    let (rows, update) = (table.job.rows, (TableOperation::UpdateAll, Statement::UpdateAll));
    table.change_all(session, course, update, ("the UPDATE of all rows", rows), tell).await?;
    expected.all[1] += rows.cast_signed();
    let all = table.ask(session, course, (Statement::Scan, &[])).await?;
    course.expect("a scan after the UPDATE of all rows", &all, &expected.all);
    describe(table, session).await
}

async fn describe(table: &Table, session: &mut Session) -> Result<Setup, Error> {
    let Table { job, lease, made, .. } = table;
    let server = made.server(job.kind, session).await?;
    Ok(Setup::Tables(Box::new(TablesSetup {
        target: lease.url().to_string(),
        engine: lease.url().engine().name().to_owned(),
        database: lease.name().to_owned(),
        server,
        kind: job.kind.to_string(),
        made: made.words(job.access),
        access: job.access.to_string(),
        rows: job.rows,
        batch_rows: job.batch_rows,
        point_deletes: job.point_deletes,
        clients: job.clients,
        lacks: lacking(session.dialect()),
        pacing: job.schedule().pacing.recorded(),
        seed: job.seed,
        data_seed: Some(job.data_seed),
    })))
}

/// Clients change rows by their keys for as long as the job says.
async fn update_by_key(
    table: &Table,
    setup: Setup,
    (course, outcome): (&mut Course, &mut TablesOutcome),
    stop: &AtomicBool,
    on_progress: OnProgress<'_>,
) -> Result<Updated, TrialError> {
    let updates = Arc::new(Updates::new(table.clone()));
    let clients = Arc::new(Clients::new(table.job.schedule(), 1, &Updates::counted(), Updates::names()));
    let drive = Drive { clients: &clients, server_cpu: None, simulated: false, stop, on_progress };
    let conducted = drive.run::<Updater>(&updates, setup).await?;
    for (part, measured) in clients.parts().iter().zip(&conducted.measured) {
        let (count, seconds) = (measured.window.operations().count, measured.window.seconds());
        let operation = TableOperation::PointUpdate;
        course.operations.push(TimedOperation { operation, count, rows: count, seconds });
        outcome.stopped = part.take_stopped();
        outcome.outages = part.take_outages();
    }
    Ok(updates.came_to())
}

/// What is done once the clients have updated.
async fn after(
    table: &Table,
    session: &mut Session,
    (course, expected, unanswered): (&mut Course, &Expected, u64),
    on_progress: OnProgress<'_>,
) -> Result<(), Error> {
    let mut tell = |at| {
        let _ = on_progress(Progress::Preparing(at));
    };
    let tell = &mut tell;
    let found = table.ask(session, course, (Statement::Scan, &[])).await?;
    // An update whose answer was lost may be done.
    let most = expected.all[1] + unanswered.cast_signed();
    let amounts = found.get(1).copied().unwrap_or_default().clamp(expected.all[1], most);
    course.expect("a scan after the updates by key", &found, &[expected.all[0], amounts, expected.all[2]]);
    table.delete_by_key(course).await?;
    let left = table.job.rows - table.job.point_deletes;
    let all = table.ask(session, course, (Statement::Scan, &[])).await?;
    course.expect("a count after the deletes by key", &all[..1], &[left.cast_signed()]);
    let delete = (TableOperation::DeleteAll, Statement::DeleteAll);
    table.change_all(session, course, delete, ("the DELETE of all rows", left), tell).await?;
    let all = table.ask(session, course, (Statement::Scan, &[])).await?;
    course.expect("a scan after the DELETE of all rows", &all, &[0, 0, 0]);
    Ok(())
}
