//! Databases of our own: made under a name of ours, marked, and removed; never one that somebody else made.
//!
//! What may be done with what is there is decided by [`ownership`]; here stands how a mark is kept and read, how a database
//! is held, and how it is made and removed so that a kill at any moment leaves something that the next run knows. No other
//! module removes a database.

mod administration;
mod commenting;
mod file;
mod keeper;
mod layout;
mod lease;
mod mark;
mod marked;
mod renaming;
mod server;

#[cfg(test)]
mod tests;

pub use lease::{Holder, Lease};

use std::sync::Arc;

use ownership::{Action, Existing, Mark, Refusal, Standing, action};
use record::Parameter;
use serde::{Deserialize, Serialize};

use crate::fake::FakeServer;
use crate::url::Address;
use crate::{Claim, Error, Session, Url, mysql, postgres, sqlserver};
use file::Format;

pub use layout::{DelayedDurability, Layout, Recovery, Saved, Saving};

pub(crate) use administration::{Administration, Commenting, Renaming, Way};
pub(crate) use layout::{Files, LayoutStatements, SavingStatements, beneath};
use server::Place;
pub(crate) use server::hash;

/// A database of our own. While any clone of this is there, no other can be made of the same database.
#[derive(Clone, Debug)]
pub struct Own {
    url: Url,
    name: String,
    was_there: bool,
    claim: Claim,
    hold: Arc<Hold>,
}

/// What keeps others from using the database as their own.
#[derive(Debug)]
enum Hold {
    File(file::Hold),
    Server(server::Hold),
    Marked(marked::Hold),
    Fake(FakeHold),
    /// Nothing: it is somebody else's, and used as it is.
    Others,
}

/// Whether a database is still this run's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// Nobody else can have taken it.
    Held,
    /// The server ended the session that holds its lock. It was taken again, and as its mark says nobody took the database
    /// up meanwhile.
    TakenAgain,
    /// Somebody else has it, or had it. Says what was found.
    Lost(String),
}

impl Own {
    /// Makes the database `name` on the server of `url` (for SQLite and DuckDB: the file of `url`), with a mark that it is ours.
    ///
    /// # Errors
    /// When it exists and may not be taken, when the rights are missing, or the server cannot be reached.
    pub async fn make(url: &Url, name: &str, claim: &Claim) -> Result<Self, Error> {
        Self::make_laid(url, name, claim, &Layout::default()).await
    }

    /// [`Self::make`] of a database that lies and logs as is said. One that is there already keeps its files.
    ///
    /// # Errors
    /// As there, and when the server takes no such for one database.
    pub async fn make_laid(url: &Url, name: &str, claim: &Claim, layout: &Layout) -> Result<Self, Error> {
        if claim.existing == Existing::AsItIs {
            return Self::of_others(url, claim, layout).await;
        }
        if *layout != Layout::default() && !takes_layouts(url) {
            return Err(layout::without(url.engine().dialect()));
        }
        let (name, was_there, hold) = match &url.0 {
            Address::Sqlite(path) => {
                let (hold, was_there) = file::make((Format::Sqlite, path), claim).await?;
                (path.display().to_string(), was_there, Hold::File(hold))
            }
            Address::DuckDb(path) => {
                let (hold, was_there) = file::make((Format::DuckDb, path), claim).await?;
                (path.display().to_string(), was_there, Hold::File(hold))
            }
            Address::Fake(server) => {
                let (hold, was_there) = make_fake(url, server, claim).await?;
                (name.to_owned(), was_there, Hold::Fake(hold))
            }
            Address::Postgres(_) => on_server(&postgres::ADMINISTRATION, (url, name), claim, layout).await?,
            Address::Mysql(_) => on_server(&mysql::ADMINISTRATION, (url, name), claim, layout).await?,
            Address::SqlServer(_) => {
                on_server(&sqlserver::ADMINISTRATION, (url, name), claim, layout).await?
            }
            Address::ClickHouse(_) => {
                check_name(name)?;
                let (hold, was_there) = marked::make(url, name, claim).await?;
                (name.to_owned(), was_there, Hold::Marked(hold))
            }
        };
        let url = url.with_database(&name);
        Ok(Self { url, name, was_there, claim: claim.clone(), hold: Arc::new(hold) })
    }

    /// The database of an address, whoever made it. Nothing of ours is put into it.
    async fn of_others(url: &Url, claim: &Claim, layout: &Layout) -> Result<Self, Error> {
        let name = url.file().map(|file| file.display().to_string());
        let name = name.or_else(|| url.database().map(str::to_owned)).ok_or_else(|| {
            Error::NoDatabase(format!("{url} names no database: give one behind the host, as in /DATABASE"))
        })?;
        // It must also be one that can be opened.
        drop(Session::open_as_it_is(url).await?);
        let own = Self {
            url: url.clone(),
            name,
            was_there: true,
            claim: claim.clone(),
            hold: Arc::new(Hold::Others),
        };
        own.set(layout).await.map(|()| own)
    }

    /// Address of the database itself.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Its name; for SQLite the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it was there before.
    #[must_use]
    pub fn was_there(&self) -> bool {
        self.was_there
    }

    /// What those who work in it need.
    #[must_use]
    pub fn lease(&self) -> Lease {
        let file = match &*self.hold {
            Hold::File(hold) => Some(hold.leased()),
            Hold::Server(_) | Hold::Marked(_) | Hold::Fake(_) | Hold::Others => None,
        };
        let is_others = matches!(*self.hold, Hold::Others);
        Lease::new((&self.url, &self.name), &self.claim.run, file, is_others)
    }

    /// A session in it, and not in one that has taken its name.
    ///
    /// # Errors
    /// Those of [`Session::open`], and when somebody took it up, removed it, or made another in its place.
    pub async fn session(&self) -> Result<Session, Error> {
        match &*self.hold {
            Hold::File(hold) => hold.check_held(&self.claim.run).await?,
            Hold::Server(_) | Hold::Marked(_) | Hold::Fake(_) | Hold::Others => {}
        }
        self.lease().session().await
    }

    /// Whether nobody else can have taken it meanwhile: a server may end the session that holds its lock, and a file may be
    /// renamed. A lock that nobody else took is taken again.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn is_held(&self) -> Result<Held, Error> {
        match &*self.hold {
            Hold::File(hold) => hold.is_held(&self.claim.run).await,
            Hold::Server(hold) => hold.is_held(&self.claim.run).await,
            Hold::Marked(hold) => hold.is_held(&self.claim.run).await,
            Hold::Fake(_) | Hold::Others => Ok(Held::Held),
        }
    }

    /// Has it log as a layout says, from now on.
    ///
    /// # Errors
    /// Those of the server, and when it takes no such for one database.
    pub async fn set(&self, layout: &Layout) -> Result<(), Error> {
        match &*self.hold {
            Hold::Server(hold) => hold.set(layout).await,
            Hold::File(_) | Hold::Marked(_) | Hold::Fake(_) | Hold::Others
                if *layout == Layout::default() =>
            {
                Ok(())
            }
            Hold::File(_) | Hold::Marked(_) | Hold::Fake(_) | Hold::Others => Err(self.takes_none()),
        }
    }

    /// Keeps what is in it, to be brought back by [`Self::restore`]. A snapshot goes with it; a backup stays on the server's machine.
    ///
    /// # Errors
    /// Those of the server, and when it has no such for one database.
    pub async fn save(&self, how: Saving) -> Result<Saved, Error> {
        match &*self.hold {
            Hold::Server(hold) => hold.save(how, &self.claim.run).await,
            Hold::File(_) | Hold::Marked(_) | Hold::Fake(_) | Hold::Others => Err(self.takes_none()),
        }
    }

    /// Brings back what was in it. Sessions in it are ended.
    ///
    /// # Errors
    /// Those of the server, and when somebody else took it meanwhile.
    pub async fn restore(&self, saved: &Saved) -> Result<(), Error> {
        match &*self.hold {
            Hold::Server(hold) => hold.restore(saved, &self.claim.run).await,
            Hold::File(_) | Hold::Marked(_) | Hold::Fake(_) | Hold::Others => Err(self.takes_none()),
        }
    }

    /// Removes its snapshot, if there is one, of a database that stays.
    ///
    /// # Errors
    /// Those of the server.
    pub async fn forget_saved(&self) -> Result<(), Error> {
        match &*self.hold {
            Hold::Server(hold) => hold.forget_saved().await,
            Hold::File(_) | Hold::Marked(_) | Hold::Fake(_) | Hold::Others => Ok(()),
        }
    }

    /// Has its server forget what it keeps of files in memory, those of other databases included.
    ///
    /// # Errors
    /// Those of the server, and when it cannot.
    pub async fn cool(&self) -> Result<(), Error> {
        match &*self.hold {
            Hold::Server(hold) => hold.cool().await,
            Hold::File(_) | Hold::Marked(_) | Hold::Fake(_) | Hold::Others => Err(self.takes_none()),
        }
    }

    fn takes_none(&self) -> Error {
        if let Hold::Others = *self.hold {
            let what = "is used as it is: nothing of it is set, kept, brought back or removed; omit it";
            return Error::NoDatabase(format!("{} {what}", self.url));
        }
        layout::without(self.url.engine().dialect())
    }

    /// Removes it, with everything in it, if this run made it and nobody took it up since. All sessions must have ended.
    ///
    /// # Errors
    /// Names what is left, why, and how to remove it.
    pub async fn remove(self) -> Result<(), Error> {
        match &*self.hold {
            Hold::File(hold) => hold.remove(&self.claim.run).await,
            Hold::Fake(hold) => {
                hold.server.clear();
                Ok(())
            }
            Hold::Server(hold) => hold.remove(&self.claim.run).await,
            Hold::Marked(hold) => hold.remove(&self.claim.run).await,
            Hold::Others => Err(self.takes_none()),
        }
    }
}

/// Looks whether a database that is a file will be refused, and touches nothing; of a server nothing is known before it is asked.
///
/// # Errors
/// Those of [`Own::make`] for a file that is not ours, or is ours and may not be taken by any run but its own.
pub fn look(url: &Url, existing: Existing, instead: Option<Existing>) -> Result<(), Error> {
    match &url.0 {
        Address::Sqlite(path) | Address::DuckDb(path) if existing == Existing::AsItIs && !path.is_file() => {
            let path = path.display();
            Err(Error::NoDatabase(match std::fs::exists(path.to_string()) {
                Ok(false) => format!("{path} does not exist. Use the path of an existing database file"),
                Ok(true) | Err(_) => format!("{path} is not a file. Use the path of a database file"),
            }))
        }
        _ if existing == Existing::AsItIs => Ok(()),
        Address::Sqlite(path) => file::look((Format::Sqlite, path), existing, instead),
        Address::DuckDb(path) => file::look((Format::DuckDb, path), existing, instead),
        Address::Fake(_)
        | Address::Postgres(_)
        | Address::Mysql(_)
        | Address::SqlServer(_)
        | Address::ClickHouse(_) => Ok(()),
    }
}

/// Whether a database that is a file was closed by whoever wrote it last, so that to open it changes nothing; true of one on a server.
#[must_use]
pub fn was_closed(url: &Url) -> bool {
    match &url.0 {
        Address::Sqlite(path) => file::was_closed(Format::Sqlite, path),
        Address::DuckDb(path) => file::was_closed(Format::DuckDb, path),
        Address::Fake(_)
        | Address::Postgres(_)
        | Address::Mysql(_)
        | Address::SqlServer(_)
        | Address::ClickHouse(_) => true,
    }
}

/// Looks whether a database will be refused to a run, as its mark says, and takes nothing. Tells whether there is one of ours to be
/// taken up. What stands there is judged again when it is taken.
///
/// # Errors
/// Those of [`Own::make`] for what is not ours, or is ours and may not be taken by this run; and that of a server that cannot be
/// reached or does not let us in.
pub async fn look_as(url: &Url, name: &str, claim: &Claim) -> Result<bool, Error> {
    if claim.existing == Existing::AsItIs {
        look(url, claim.existing, None)?;
        return Session::open_as_it_is(url).await.map(|_| true);
    }
    let administration = match &url.0 {
        Address::Sqlite(path) => return file::look_as((Format::Sqlite, path), claim).await,
        Address::DuckDb(path) => return file::look_as((Format::DuckDb, path), claim).await,
        Address::Postgres(_) => &postgres::ADMINISTRATION,
        Address::Mysql(_) => &mysql::ADMINISTRATION,
        Address::SqlServer(_) => &sqlserver::ADMINISTRATION,
        Address::ClickHouse(_) => {
            check_name(name)?;
            return marked::look(url, name, claim).await;
        }
        Address::Fake(_) => return Ok(false),
    };
    check_name(name)?;
    server::look(administration, url, name, claim).await
}

/// A session in a database of ours, to look at what is in it before it is taken; none if none is there to be taken up.
///
/// # Errors
/// Those of [`look_as`] and [`Session::open`].
pub async fn look_inside(url: &Url, name: &str, claim: &Claim) -> Result<Option<Session>, Error> {
    if !look_as(url, name, claim).await? {
        return Ok(None);
    }
    match &url.0 {
        Address::Sqlite(path) => file::look_inside((Format::Sqlite, path)).await.map(Some),
        Address::DuckDb(path) => file::look_inside((Format::DuckDb, path)).await.map(Some),
        Address::Fake(_)
        | Address::Postgres(_)
        | Address::Mysql(_)
        | Address::SqlServer(_)
        | Address::ClickHouse(_) => Session::open(&url.with_database(name)).await.map(Some),
    }
}

/// Whether it is asked of its server how a database may lie.
fn takes_layouts(url: &Url) -> bool {
    match &url.0 {
        Address::Postgres(_) | Address::Mysql(_) | Address::SqlServer(_) => true,
        Address::Sqlite(_) | Address::ClickHouse(_) | Address::DuckDb(_) | Address::Fake(_) => false,
    }
}

async fn on_server(
    administration: &'static Administration,
    (url, name): (&Url, &str),
    claim: &Claim,
    layout: &Layout,
) -> Result<(String, bool, Hold), Error> {
    check_name(name)?;
    let place = Place { url: url.clone(), name: name.to_owned(), administration };
    let (hold, was_there) = server::make(place, claim, layout).await?;
    Ok((name.to_owned(), was_there, Hold::Server(hold)))
}

/// Most bytes of the name of a database that every server takes whole.
const NAME_BYTES_MAX: usize = 63;

/// Whether a database on a server can have this name: one that can stand in a statement as it is.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_plain && (1..=NAME_BYTES_MAX).contains(&name.len())
}

fn check_name(name: &str) -> Result<(), Error> {
    if is_name(name) {
        return Ok(());
    }
    Err(Error::NoDatabase(format!(
        "`{name}` cannot be the name of a database: give 1 to {NAME_BYTES_MAX} letters without accents, digits or _ with {}",
        database_parameter()
    )))
}

/// The name of a database, as a sentence names it that says what to give.
fn database_parameter() -> Parameter<'static> {
    Parameter::new("target.database.name")
}

/// What a run wants to do with what is there, for what it is told where it may not.
#[derive(Clone, Copy, Debug)]
struct Wish {
    existing: Existing,
    /// See [`Claim::instead`].
    instead: Option<Existing>,
}

impl Wish {
    fn of(claim: &Claim) -> Self {
        Self { existing: claim.existing, instead: claim.instead }
    }
}

/// Why what is there is not taken.
fn refused(refusal: Refusal, wish: Wish, place: &str, other: &str, removal: &str) -> Error {
    Error::NoDatabase(match refusal {
        Refusal::Foreign => format!("{place} was not created by prony and is left as it is: {other}"),
        Refusal::OfAnotherRun => format!(
            "{place} exists from an earlier run of prony: {}delete it with: {removal}",
            taken_up(wish)
        ),
        Refusal::Gone => format!("{place} does not exist any more"),
    })
}

/// What the user may have done with what is there of an earlier run.
fn taken_up(Wish { existing, instead }: Wish) -> String {
    let parameter = |existing: Existing| Parameter::new("target.database.existing").of(existing.name());
    let replace = parameter(Existing::Replace);
    match instead {
        // Of a place that is none of the user's choice, nothing else can be said.
        _ if existing == Existing::Leftover => String::new(),
        Some(instead) => {
            format!("reuse it with {}, replace it with {replace}, or ", parameter(instead))
        }
        None => format!("replace it with {replace}, or "),
    }
}

/// Why what is there is not removed at the end of a run.
fn left(refusal: Refusal, place: &str, removal: &str) -> Error {
    Error::NoDatabase(match refusal {
        Refusal::Foreign => format!(
            "{place} is left as it is: this run did not create it. Somebody deleted or renamed the one that this run created"
        ),
        Refusal::OfAnotherRun => format!(
            "{place} is left as it is: another run of prony reused it meanwhile. If nobody needs it, delete it with: {removal}"
        ),
        Refusal::Gone => format!("{place} does not exist any more"),
    })
}

/// Whether what stands there has a mark of an older version, which has no place for runs.
fn is_old(standing: &Standing) -> bool {
    matches!(standing, Standing::Ours(Mark { made_by: None, held_by: None, .. }))
}

/// A database of ours that another run uses.
fn in_use(place: &str) -> Error {
    Error::NoDatabase(format!(
        "{place} is in use by another run of prony or by somebody else's session: wait until it has ended, or give \
         another with {}",
        database_parameter()
    ))
}

struct FakeHold {
    server: FakeServer,
}

impl std::fmt::Debug for FakeHold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FakeHold")
    }
}

impl Drop for FakeHold {
    fn drop(&mut self) {
        self.server.let_go();
    }
}

async fn make_fake(url: &Url, server: &FakeServer, claim: &Claim) -> Result<(FakeHold, bool), Error> {
    let place = url.to_string();
    if !server.hold() {
        return Err(in_use(&place));
    }
    let hold = FakeHold { server: server.clone() };
    let mut session = Session::open(url).await?;
    let mark = mark::read(&mut session).await?;
    // A fake is made empty and belongs to this process: what has no mark is nothing yet.
    let standing = mark.map_or(Standing::Absent, Standing::Ours);
    match action(&standing, claim)
        .map_err(|refusal| refused(refusal, Wish::of(claim), &place, "", "a new address"))?
    {
        Action::TakeUp => {
            mark::hold(&mut session, &claim.run, is_old(&standing)).await?;
            return Ok((hold, true));
        }
        Action::Replace(_) => server.clear(),
        Action::Make => {}
    }
    session.script(&mark::made(session.dialect(), mark::TABLE, &Mark::of(claim))).await?;
    Ok((hold, false))
}
