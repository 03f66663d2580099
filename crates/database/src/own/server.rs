//! A database on a server as one of our own: what is common to all servers.
//!
//! It is made so that it never stands there without a mark, and removed only after its mark was read once more where nobody
//! else can reach it, or in the step that removes it; how, is the affair of the modules of the servers.

use std::time::Duration;

use ownership::{Action, Permit, Refusal, RunId, Standing, action, may_remove};

use tokio::sync::Mutex;

use super::administration::filled;
use super::keeper::Keeper;
use super::{
    Administration, Held, Layout, Saved, Saving, Way, Wish, commenting, database_parameter, in_use, is_old,
    layout, left, mark, refused, renaming,
};
use crate::{Claim, Error, Session, Url, Value};

/// How long what ends by itself is waited for, and how often is looked.
pub(super) const LINGER_LOOKS: u32 = 100;
pub(super) const LINGER_INTERVAL: Duration = Duration::from_millis(10);
/// The same of what a server goes on with after its client was killed: a statement is finished before anything is noticed.
const FINISH_LOOKS: u32 = 500;

/// A name on a server.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The address that the database is made from.
    pub(super) url: Url,
    pub(super) name: String,
    pub(super) administration: &'static Administration,
}

/// Says of what stands in a place whether it may be removed.
pub(super) type Decision<'a> = &'a (dyn Fn(&Standing) -> Result<Permit, Refusal> + Sync);

impl Place {
    /// The same server, another name.
    pub(super) fn named(&self, name: String) -> Self {
        Self { name, ..self.clone() }
    }

    /// Address of the database itself.
    pub(super) fn own(&self) -> Url {
        self.url.with_database(&self.name)
    }

    pub(super) fn shown(&self) -> String {
        shown(&self.url, &self.name)
    }

    /// Why what stands there is not taken.
    fn refused(&self, refusal: Refusal, wish: Wish) -> Error {
        let other = format!("choose another name with {}", database_parameter());
        refused(refusal, wish, &self.shown(), &other, &self.removal())
    }

    /// The statement that removes it.
    pub(super) fn removal(&self) -> String {
        format!("DROP DATABASE {}", self.quoted())
    }

    /// The name as a statement takes it, with capitals as they are.
    pub(super) fn quoted(&self) -> String {
        self.administration.dialect.quoted(&self.name)
    }

    pub(super) async fn is_there(&self, admin: &mut Session) -> Result<bool, Error> {
        Ok(admin.count_rows(self.administration.exists, &[Value::Text(self.name.clone())]).await? > 0)
    }

    /// What stands there for whoever wants to use it: what does not let us in is not ours.
    pub(super) async fn standing_at_first(&self, admin: &mut Session) -> Result<Standing, Error> {
        match self.standing(admin).await {
            Err(Error::Refused(_) | Error::Denied(_) | Error::Statement(_)) => Ok(Standing::Foreign),
            other => other,
        }
    }

    /// What stands there.
    pub(super) async fn standing(&self, admin: &mut Session) -> Result<Standing, Error> {
        if !self.is_there(admin).await? {
            return Ok(Standing::Absent);
        }
        match &self.administration.way {
            Way::Renaming(_) => Ok(self.mark().await?.map_or(Standing::Foreign, Standing::Ours)),
            Way::Commenting(sql) => commenting::standing(self, sql, admin).await,
        }
    }

    /// The mark in the database, if it is there and has one.
    pub(super) async fn mark(&self) -> Result<Option<ownership::Mark>, Error> {
        let mut session = match Session::open(&self.own()).await {
            Ok(session) => session,
            Err(Error::NoDatabase(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        mark::read(&mut session).await
    }

    /// Whether somebody is connected and stays so: a server notices after a while that a client has gone.
    pub(super) async fn has_sessions(&self, admin: &mut Session) -> Result<bool, Error> {
        self.has_sessions_after(admin, LINGER_LOOKS).await
    }

    async fn has_sessions_after(&self, admin: &mut Session, looks: u32) -> Result<bool, Error> {
        for _ in 0..looks {
            if admin.count_rows(self.administration.sessions, &[Value::Text(self.name.clone())]).await? == 0 {
                return Ok(false);
            }
            tokio::time::sleep(LINGER_INTERVAL).await;
        }
        Ok(true)
    }

    /// Ends the sessions in the database that do not end by themselves.
    pub(super) async fn end_sessions(&self, admin: &mut Session) -> Result<(), Error> {
        if !self.has_sessions(admin).await? {
            return Ok(());
        }
        for row in admin.query(self.administration.sessions, &[Value::Text(self.name.clone())]).await? {
            let Some(id) = row.first().and_then(Value::integer) else { continue };
            let sql = filled(self.administration.end_session, &[("id", &id.to_string())]);
            // It may be gone by now; if it is not, the next statement says so.
            if let Err(error) = admin.script(&sql).await
                && error.is_lost()
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// A session from which databases are made and removed, while nobody else does so under this name.
    async fn admin(&self) -> Result<Session, Error> {
        let mut admin = Session::open(&self.url).await?;
        let Administration { lock_name, lock_key, waits_for_locks, .. } = self.administration;
        let key = lock_key(&self.name);
        let looks = if *waits_for_locks { 1 } else { FINISH_LOOKS };
        for _ in 0..looks {
            if admin.query(lock_name, std::slice::from_ref(&key)).await? == [[Value::I64(1)]] {
                return Ok(admin);
            }
            tokio::time::sleep(LINGER_INTERVAL).await;
        }
        Err(in_use(&self.shown()))
    }

    async fn create(&self, admin: &mut Session, claim: &Claim, layout: &Layout) -> Result<(), Error> {
        let made = match &self.administration.way {
            Way::Renaming(sql) => renaming::create(self, sql, admin, claim, layout).await,
            Way::Commenting(sql) => commenting::create(self, sql, admin, claim).await,
        };
        made.map_err(|error| match error {
            Error::Statement(words) => Error::Refused(words),
            Error::Unreachable(_)
            | Error::Refused(_)
            | Error::Denied(_)
            | Error::NoDatabase(_)
            | Error::Lost(_)
            | Error::Full(_)
            | Error::Conflict(_) => error,
        })
    }

    /// Removes the database, if `decide` still permits it when nobody else has it. Nobody of us may hold its lock.
    async fn remove(&self, admin: &mut Session, decide: Decision<'_>) -> Result<(), Removing> {
        layout::drop_snapshot(self, admin).await?;
        match &self.administration.way {
            Way::Renaming(sql) => renaming::remove(self, sql, admin, decide).await,
            Way::Commenting(sql) => commenting::remove(self, sql, admin, decide).await,
        }
    }

    /// Clears up what a run that was killed left of making or removing a database of this name.
    async fn clear_half_made(&self, admin: &mut Session) -> Result<(), Error> {
        match &self.administration.way {
            Way::Renaming(sql) => renaming::clear_half_made(self, sql, admin).await,
            // What is half made has its name, and is judged as what stands there.
            Way::Commenting(_) => Ok(()),
        }
    }
}

/// Why a database was not removed.
#[derive(Debug)]
pub(super) enum Removing {
    /// It is not ours to remove.
    Refused(Refusal),
    /// Somebody else is connected to it.
    InUse,
    /// The server did not do it.
    Failed(Error),
}

impl From<Error> for Removing {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Refusal> for Removing {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Looks whether a database will be refused, without any lock: it is judged again when it is taken. Tells whether it is there.
pub(super) async fn look(
    administration: &'static Administration,
    url: &Url,
    name: &str,
    claim: &Claim,
) -> Result<bool, Error> {
    let place = Place { url: url.clone(), name: name.to_owned(), administration };
    let mut admin = Session::open(url).await?;
    let standing = place.standing_at_first(&mut admin).await?;
    match action(&standing, claim) {
        Ok(_) => Ok(matches!(standing, Standing::Ours(_))),
        Err(Refusal::OfAnotherRun) if place.has_sessions(&mut admin).await? => Err(in_use(&place.shown())),
        Err(refusal) => Err(place.refused(refusal, Wish::of(claim))),
    }
}

/// Makes or takes up a database. Tells whether it was there.
pub(super) async fn make(place: Place, claim: &Claim, layout: &Layout) -> Result<(Hold, bool), Error> {
    layout::check(&place, layout)?;
    let shown = place.shown();
    let refused = |refusal| place.refused(refusal, Wish::of(claim));
    let mut admin = place.admin().await?;
    place.clear_half_made(&mut admin).await?;
    let standing = place.standing_at_first(&mut admin).await?;
    match action(&standing, claim).map_err(refused)? {
        Action::Make => {}
        Action::TakeUp => {
            let hold = Hold::take(place.clone()).await?.ok_or_else(|| in_use(&shown))?;
            // Looked at again now that nobody else can take it.
            return match action(&place.standing(&mut admin).await?, claim).map_err(refused)? {
                Action::TakeUp => {
                    mark::hold(&mut Session::open(&place.own()).await?, &claim.run, is_old(&standing))
                        .await?;
                    layout::set(&place, layout, &mut admin).await?;
                    Ok((hold, true))
                }
                Action::Make | Action::Replace(_) => Err(in_use(&shown)),
            };
        }
        Action::Replace(_) => {
            // Whoever holds it still has a session there.
            drop(Hold::take(place.clone()).await?.ok_or_else(|| in_use(&shown))?);
            if place.has_sessions_after(&mut admin, FINISH_LOOKS).await? {
                return Err(in_use(&shown));
            }
            let decide = |standing: &Standing| match action(standing, claim)? {
                Action::Replace(permit) => Ok(permit),
                Action::Make | Action::TakeUp => Err(Refusal::Gone),
            };
            place.remove(&mut admin, &decide).await.map_err(|error| match error {
                Removing::Refused(refusal) => refused(refusal),
                Removing::InUse => in_use(&shown),
                Removing::Failed(error) => error,
            })?;
        }
    }
    place.create(&mut admin, claim, layout).await?;
    Ok((Hold::take(place).await?.ok_or_else(|| in_use(&shown))?, false))
}

/// A session in a database, looked at by its mark: the name alone may be another's by now.
pub(super) async fn session(own: &Url, name: &str, run: &RunId) -> Result<Session, Error> {
    let mut session = Session::open(own).await?;
    match mark::is_held_by(&mut session, run).await? {
        true => Ok(session),
        false => Err(Error::NoDatabase(format!(
            "{} no longer belongs to this run: another run is using it now, or the database was replaced",
            shown(own, name)
        ))),
    }
}

pub(super) fn shown(url: &Url, name: &str) -> String {
    format!("the database `{name}` on {}", url.host().unwrap_or_default())
}

/// A database that is held.
#[derive(Debug)]
pub(super) struct Hold {
    place: Place,
    /// None once the lock was given back. Whoever looks at it does so to the end before the next one.
    keeper: Mutex<Option<Keeper>>,
}

impl Hold {
    /// None if somebody else holds it.
    async fn take(place: Place) -> Result<Option<Self>, Error> {
        let keeper = Keeper::start(place.administration, &place.own()).await?;
        Ok(keeper.map(|keeper| Self { place, keeper: Mutex::new(Some(keeper)) }))
    }

    /// Whether nobody else can have taken it; a lock that was lost is taken again. The mark is asked as well: on some servers
    /// a lock outlives its database.
    pub(super) async fn is_held(&self, run: &RunId) -> Result<Held, Error> {
        if let Some(found) = self.taken_by_others(run).await? {
            return Ok(Held::Lost(format!("{}: {found}", self.place.shown())));
        }
        let mut held = self.keeper.lock().await;
        if let Some(keeper) = held.as_ref()
            && keeper.is_held(&self.place.own()).await?
        {
            return Ok(Held::Held);
        }
        drop(held.take());
        let keeper = Keeper::start(self.place.administration, &self.place.own()).await?;
        let Some(keeper) = keeper else {
            return Ok(Held::Lost(format!(
                "the server ended the session that held the lock on {}, and another program holds the lock now",
                self.place.shown()
            )));
        };
        *held = Some(keeper);
        // Looked at again now that nobody else can take it.
        Ok(match self.taken_by_others(run).await? {
            None => Held::TakenAgain,
            Some(found) => Held::Lost(format!("{}: {found}", self.place.shown())),
        })
    }

    /// What is found in the place of the database that this run holds, if it is another.
    async fn taken_by_others(&self, run: &RunId) -> Result<Option<&'static str>, Error> {
        Ok(match self.place.mark().await? {
            Some(mark) if mark.held_by.as_ref() == Some(run) => None,
            Some(_) => Some("another run of prony is using it now"),
            None => Some("it no longer exists, or another database has its name"),
        })
    }

    pub(super) async fn set(&self, layout: &Layout) -> Result<(), Error> {
        layout::set(&self.place, layout, &mut Session::open(&self.place.url).await?).await
    }

    pub(super) async fn save(&self, how: Saving, run: &RunId) -> Result<Saved, Error> {
        let mut admin = self.place.admin().await?;
        layout::save(&self.place, how, run.as_str(), &mut admin).await
    }

    /// Brings the database back. Its lock is given up for it, and taken again when nobody else has taken it meanwhile.
    pub(super) async fn restore(&self, saved: &Saved, run: &RunId) -> Result<(), Error> {
        let mut admin = self.place.admin().await?;
        drop(self.keeper.lock().await.take());
        layout::restore(&self.place, saved, &mut admin).await?;
        drop(admin);
        match self.is_held(run).await? {
            Held::Held | Held::TakenAgain => Ok(()),
            Held::Lost(why) => Err(Error::Lost(why)),
        }
    }

    pub(super) async fn forget_saved(&self) -> Result<(), Error> {
        layout::drop_snapshot(&self.place, &mut Session::open(&self.place.url).await?).await
    }

    pub(super) async fn cool(&self) -> Result<(), Error> {
        layout::cool(&self.place).await
    }

    /// Removes the database; sessions that linger there are ended.
    pub(super) async fn remove(&self, run: &RunId) -> Result<(), Error> {
        let (place, removal) = (self.place.shown(), self.place.removal());
        let removed = match self.is_held(run).await {
            Ok(Held::Lost(_)) => self.removed_where_lost(run).await,
            Ok(Held::Held | Held::TakenAgain) => self.remove_held(run).await,
            Err(error) => Err(error.into()),
        };
        match removed {
            Ok(()) | Err(Removing::Refused(Refusal::Gone)) => Ok(()),
            Err(Removing::Refused(refusal)) => Err(left(refusal, &place, &removal)),
            Err(Removing::InUse) => Err(Error::Statement(format!(
                "{place} could not be deleted, because another program is connected to it; delete it with `{removal}`"
            ))),
            Err(Removing::Failed(error)) => {
                let text = format!("{place} could not be deleted: {error}; delete it with `{removal}`");
                Err(match error {
                    Error::Unreachable(_) => Error::Unreachable(text),
                    Error::Lost(_) => Error::Lost(text),
                    Error::Refused(_)
                    | Error::Denied(_)
                    | Error::NoDatabase(_)
                    | Error::Full(_)
                    | Error::Conflict(_)
                    | Error::Statement(_) => Error::Statement(text),
                })
            }
        }
    }

    /// The lock is somebody else's: all that can be said is what stands there.
    async fn removed_where_lost(&self, run: &RunId) -> Result<(), Removing> {
        let mut admin = Session::open(&self.place.url).await?;
        match may_remove(&self.place.standing(&mut admin).await?, run) {
            Err(refusal) => Err(refusal.into()),
            Ok(_) => Err(Removing::InUse),
        }
    }

    async fn remove_held(&self, run: &RunId) -> Result<(), Removing> {
        let decide = |standing: &Standing| may_remove(standing, run);
        let mut admin = self.place.admin().await?;
        let _ = decide(&self.place.standing(&mut admin).await?)?;
        drop(self.keeper.lock().await.take());
        self.place.end_sessions(&mut admin).await?;
        self.place.remove(&mut admin, &decide).await
    }
}

/// FNV-1a of a name: <http://www.isthe.com/chongo/tech/comp/fnv/>.
pub(crate) fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
