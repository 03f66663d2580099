//! A database of our own on a server that has neither locks nor a way to rename databases: ClickHouse.
//!
//! It is made by a statement that fails where the name is taken, and marked after that: who is killed between leaves an empty one that
//! nobody takes for ours. That a run holds it is what its mark says last, and nothing keeps another run from taking it up or replacing
//! it, if its user has that done; whoever worked in it finds another run's mark then.

use ownership::{Action, Mark, Permit, RunId, Standing, action, may_remove};

use super::{Held, Wish, database_parameter, is_old, left, mark, refused, server};
use crate::{Claim, Dialect, Error, Session, Url};

/// A database that is held.
#[derive(Debug)]
pub(super) struct Hold {
    place: Place,
}

/// A name on a server.
#[derive(Debug)]
struct Place {
    url: Url,
    name: String,
}

/// Looks whether a database will be refused. Tells whether it is there.
pub(super) async fn look(url: &Url, name: &str, claim: &Claim) -> Result<bool, Error> {
    let place = Place { url: url.clone(), name: name.to_owned() };
    let standing = place.standing(&mut Session::open(url).await?).await?;
    action(&standing, claim).map_err(|refusal| place.refused(refusal, claim))?;
    Ok(matches!(standing, Standing::Ours(_)))
}

/// Makes or takes up a database. Tells whether it was there.
pub(super) async fn make(url: &Url, name: &str, claim: &Claim) -> Result<(Hold, bool), Error> {
    let place = Place { url: url.clone(), name: name.to_owned() };
    let mut admin = Session::open(url).await?;
    let standing = place.standing(&mut admin).await?;
    match action(&standing, claim).map_err(|refusal| place.refused(refusal, claim))? {
        Action::TakeUp => {
            mark::hold(&mut Session::open(&place.own()).await?, &claim.run, is_old(&standing)).await?;
            return Ok((Hold { place }, true));
        }
        Action::Replace(permit) => place.remove(&mut admin, permit).await?,
        Action::Make => {}
    }
    admin.script(&format!("CREATE DATABASE {}", place.quoted())).await.map_err(|error| match error {
        Error::Statement(words) => Error::Refused(words),
        Error::Unreachable(_)
        | Error::Refused(_)
        | Error::Denied(_)
        | Error::NoDatabase(_)
        | Error::Lost(_)
        | Error::Full(_)
        | Error::Conflict(_) => error,
    })?;
    let marking = mark::made(Dialect::ClickHouse, mark::TABLE, &Mark::of(claim));
    let marked = match Session::open(&place.own()).await {
        Ok(mut session) => session.script(&marking).await,
        Err(error) => Err(error),
    };
    marked.map_err(|error| {
        error.at(&format!(
            "{} was created, but could not be marked as prony's; remove it with: {}",
            place.shown(),
            place.removal()
        ))
    })?;
    Ok((Hold { place }, false))
}

impl Place {
    fn own(&self) -> Url {
        self.url.with_database(&self.name)
    }

    fn shown(&self) -> String {
        server::shown(&self.url, &self.name)
    }

    fn quoted(&self) -> String {
        Dialect::ClickHouse.quoted(&self.name)
    }

    /// The statement that removes it.
    fn removal(&self) -> String {
        format!("DROP DATABASE {}", self.quoted())
    }

    fn refused(&self, refusal: ownership::Refusal, claim: &Claim) -> Error {
        let other = format!("choose another name with {}", database_parameter());
        refused(refusal, Wish::of(claim), &self.shown(), &other, &self.removal())
    }

    /// What stands there.
    async fn standing(&self, admin: &mut Session) -> Result<Standing, Error> {
        let asked = format!(
            "SELECT name FROM system.databases WHERE name = {}",
            Dialect::ClickHouse.text(&self.name)
        );
        if admin.count_rows(&asked, &[]).await? == 0 {
            return Ok(Standing::Absent);
        }
        match Session::open(&self.own()).await {
            Ok(mut session) => Ok(mark::read(&mut session).await?.map_or(Standing::Foreign, Standing::Ours)),
            Err(Error::NoDatabase(_)) => Ok(Standing::Absent),
            // What does not let us in is not ours.
            Err(Error::Refused(_) | Error::Denied(_) | Error::Statement(_)) => Ok(Standing::Foreign),
            Err(error) => Err(error),
        }
    }

    async fn remove(&self, admin: &mut Session, _permit: Permit) -> Result<(), Error> {
        admin.script(&self.removal()).await
    }
}

impl Hold {
    /// Whether the mark is still this run's: nothing else tells.
    pub(super) async fn is_held(&self, run: &RunId) -> Result<Held, Error> {
        let standing = self.place.standing(&mut Session::open(&self.place.url).await?).await?;
        let found = match standing {
            Standing::Ours(mark) if mark.held_by.as_ref() == Some(run) => return Ok(Held::Held),
            Standing::Ours(_) => "another run of prony is using it now",
            Standing::Absent | Standing::HalfMade | Standing::Foreign => {
                "it no longer exists, or another database has its name"
            }
        };
        Ok(Held::Lost(format!("{}: {found}", self.place.shown())))
    }

    /// Removes the database, if its mark is still this run's.
    pub(super) async fn remove(&self, run: &RunId) -> Result<(), Error> {
        let mut admin = Session::open(&self.place.url).await?;
        let standing = self.place.standing(&mut admin).await?;
        if standing == Standing::Absent {
            return Ok(());
        }
        let permit = may_remove(&standing, run)
            .map_err(|refusal| left(refusal, &self.place.shown(), &self.place.removal()))?;
        self.place.remove(&mut admin, permit).await
    }
}
