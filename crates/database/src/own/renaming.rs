//! How databases of our own are made and removed where one can be given another name, as on PostgreSQL.
//!
//! Neither can be done in a transaction, but a name can be given in one step. A database is marked under a name that only
//! makes sense to us before it gets its own; and it loses its own before it is removed, so that what is looked at last is what
//! is removed: nobody else knows the name.

use ownership::{Mark, Permit, Refusal};
use tokio::time::Instant;

use super::Renaming;
use super::administration::filled;
use super::server::{Decision, LINGER_INTERVAL, LINGER_LOOKS, Place, Removing, hash};
use super::{Layout, layout, mark};
use crate::{Claim, Error, Session, Value};

impl Place {
    /// Under which it stands while it is made.
    fn in_the_making(&self) -> Self {
        self.named(format!("prony_new_{:016x}", hash(&self.name)))
    }

    /// Under which it stands while it is removed.
    fn on_the_way_out(&self) -> Self {
        self.named(format!("prony_old_{:016x}", hash(&self.name)))
    }

    fn drop_sql(&self) -> String {
        format!("DROP DATABASE IF EXISTS {}", self.quoted())
    }
}

/// Clears up what a run that was killed left of making or removing a database of this name: what was half made holds nothing
/// and is removed; what was on its way out gets its name back, and is judged as what stands there.
pub(super) async fn clear_half_made(place: &Place, sql: &Renaming, admin: &mut Session) -> Result<(), Error> {
    let (half, out) = (place.in_the_making(), place.on_the_way_out());
    if half.is_there(admin).await? {
        if !is_empty(&half, sql).await? || half.has_sessions(admin).await? {
            return Err(taken(&half));
        }
        // No repetition here: content that another program adds during a wait would not be checked.
        admin.script(&half.drop_sql()).await?;
    }
    if out.is_there(admin).await? {
        if place.is_there(admin).await? {
            return Err(taken(&out));
        }
        rename(&out, place, sql, admin).await?;
    }
    Ok(())
}

fn taken(place: &Place) -> Error {
    Error::NoDatabase(format!(
        "{} has a name that prony uses while it creates or deletes databases. It is in use or not empty: find out who owns it, then \
        rename it or delete it with: {}",
        place.shown(),
        place.removal()
    ))
}

/// Whether there is nothing in a database.
async fn is_empty(place: &Place, sql: &Renaming) -> Result<bool, Error> {
    match Session::open(&place.own()).await {
        Ok(mut session) => Ok(session.query(sql.count_relations, &[]).await? == [[Value::I64(0)]]),
        Err(error) if error.is_lost() => Err(error),
        Err(_) => Ok(false),
    }
}

/// Makes a database with its mark, on these files if any are said.
pub(super) async fn create(
    place: &Place,
    sql: &Renaming,
    admin: &mut Session,
    claim: &Claim,
    layout: &Layout,
) -> Result<(), Error> {
    let half = place.in_the_making();
    let files = layout::files(place, layout, admin).await?;
    let make = filled(sql.create, &[("name", &half.quoted())]);
    patiently(admin, &format!("{make}{}", files.clause)).await?;
    let marked = async {
        layout::check_files(&half, &files).await?;
        layout::set(&half, layout, admin).await?;
        let make = mark::made(place.administration.dialect, mark::TABLE, &Mark::of(claim));
        Session::open(&half.own()).await?.script(&make).await?;
        rename(&half, place, sql, admin).await
    };
    let Err(error) = marked.await else { return Ok(()) };
    // What is left of it is cleared by the next run if it cannot be now. The error that led here is what is told.
    let _ = drop_database(&half, admin).await;
    Err(error)
}

/// Removes a database that nobody of us holds.
pub(super) async fn remove(
    place: &Place,
    sql: &Renaming,
    admin: &mut Session,
    decide: Decision<'_>,
) -> Result<(), Removing> {
    let out = place.on_the_way_out();
    match rename(place, &out, sql, admin).await {
        Err(Error::NoDatabase(_)) => return Err(Refusal::Gone.into()),
        // The server cannot be asked who is connected.
        Err(error) if error.is_lost() => return Err(error.into()),
        Err(_) if place.has_sessions(admin).await? => return Err(Removing::InUse),
        renamed => renamed?,
    }
    match out.standing(admin).await.map(|standing| decide(&standing)) {
        Ok(Ok(permit)) => remove_permitted(&out, admin, permit).await.map_err(Removing::Failed),
        Ok(Err(refusal)) => {
            rename(&out, place, sql, admin).await?;
            Err(refusal.into())
        }
        // The first error is the reason. The second one only says that the connection is lost.
        Err(error) => match rename(&out, place, sql, admin).await {
            Ok(()) => Err(error.into()),
            Err(_) => Err(nameless(error, &out).into()),
        },
    }
}

/// Adds the name that the database has now.
fn nameless(error: Error, out: &Place) -> Error {
    let Error::Lost(words) = error else { return error };
    Error::Lost(format!(
        "{words}; the database is named {} until the next run of prony restores its name",
        out.quoted()
    ))
}

async fn remove_permitted(place: &Place, admin: &mut Session, _permit: Permit) -> Result<(), Error> {
    drop_database(place, admin).await
}

async fn drop_database(place: &Place, admin: &mut Session) -> Result<(), Error> {
    // The session that looked at it may linger.
    place.has_sessions(admin).await?;
    patiently(admin, &place.drop_sql()).await
}

/// Gives a database another name, which only works while nobody is connected to it.
async fn rename(from: &Place, to: &Place, sql: &Renaming, admin: &mut Session) -> Result<(), Error> {
    patiently(admin, &filled(sql.rename, &[("name", &from.quoted()), ("other", &to.quoted())])).await
}

/// Repeats a statement for up to a second while a conflict prevents it. The cause is one of our own sessions that is about to end, or
/// another program that creates or deletes a database. Some servers wait for seconds themselves; their refusal is final.
async fn patiently(admin: &mut Session, sql: &str) -> Result<(), Error> {
    let begin = Instant::now();
    loop {
        match admin.script(sql).await {
            Err(Error::Conflict(_)) if begin.elapsed() < LINGER_INTERVAL * LINGER_LOOKS => {
                tokio::time::sleep(LINGER_INTERVAL).await;
            }
            other => return other,
        }
    }
}
