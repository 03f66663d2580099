//! Databases of our own: made under a name of ours, marked, and removed; never one that somebody else made.

mod file;
mod server;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::fake::FakeServer;
use crate::url::Address;
use crate::{Error, Session, Url, Value};

/// What is done with a database of our own name that exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is an error, whoever made it.
    Refuse,
    /// It is taken up again with what is in it if it is ours, and made if there is none.
    Reuse,
    /// If it is ours and nobody uses it, it is removed and made anew.
    Replace,
}

/// A database of our own. While any clone of this is there, no other can be made of the same database.
#[derive(Clone, Debug)]
pub struct Own {
    url: Url,
    name: String,
    was_there: bool,
    hold: Arc<Hold>,
}

/// What keeps others from using the database as their own.
#[derive(Debug)]
enum Hold {
    File(file::Lock),
    Server(server::Keeper),
    Fake(FakeHold),
}

/// The table that says whose a database is.
const MARK: &str = "prony_mark";
/// Makes the mark, in every dialect.
const MAKE_MARK: &str = "CREATE TABLE prony_mark (tool varchar(40) NOT NULL, \
                         created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP); \
                         INSERT INTO prony_mark (tool) VALUES ('prony')";
/// Rows of a true mark.
const COUNT_MARKS: &str = "SELECT count(*) FROM prony_mark WHERE tool = 'prony'";

impl Own {
    /// Makes the database `name` on the server of `url` (for SQLite: the file of `url`), with a mark that it is ours.
    ///
    /// # Errors
    /// When it exists and may not be taken, when the rights are missing, or the server cannot be reached.
    pub async fn make(url: &Url, name: &str, existing: Existing) -> Result<Self, Error> {
        match &url.0 {
            Address::Sqlite(path) => {
                let (lock, was_there) = file::make(url, path, existing).await?;
                let name = path.display().to_string();
                Ok(Self { url: url.clone(), name, was_there, hold: Arc::new(Hold::File(lock)) })
            }
            Address::Fake(server) => make_fake(url, server, name, existing).await,
            Address::Postgres(_) | Address::Mysql(_) => {
                check_name(name)?;
                let (keeper, was_there) = server::make(url, name, existing).await?;
                let hold = Arc::new(Hold::Server(keeper));
                Ok(Self { url: url.with_database(name), name: name.to_owned(), was_there, hold })
            }
        }
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

    /// A session in it.
    ///
    /// # Errors
    /// Those of [`Session::open`].
    pub async fn session(&self) -> Result<Session, Error> {
        Session::open(self.url()).await
    }

    /// Whether nobody else can have taken it meanwhile: a server may end the session that holds its lock.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn is_held(&self) -> Result<bool, Error> {
        match &*self.hold {
            Hold::File(_) | Hold::Fake(_) => Ok(true),
            Hold::Server(keeper) => keeper.is_held(&self.url).await,
        }
    }

    /// Removes it, with everything in it. All sessions must have ended.
    ///
    /// # Errors
    /// Names what is left and how to remove it.
    pub async fn remove(self) -> Result<(), Error> {
        match &*self.hold {
            Hold::File(lock) => lock.remove_database(),
            Hold::Fake(hold) => {
                hold.server.clear();
                Ok(())
            }
            Hold::Server(keeper) => keeper.remove_database(&self.name).await,
        }
    }
}

/// A name that can stand in a statement as it is.
fn check_name(name: &str) -> Result<(), Error> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_plain && (1..=63).contains(&name.len()) {
        return Ok(());
    }
    Err(Error::NoDatabase(format!(
        "`{name}` cannot be the name of a database: give 1 to 63 letters without accents, digits or _ with --database"
    )))
}

/// A database of ours that another run left, and how to remove it.
fn from_earlier(place: &str, removal: &str) -> Error {
    Error::NoDatabase(format!(
        "{place} is there from an earlier run of prony: take it up again with --reuse or replace it with --replace, whichever this command has, or remove it by: {removal}"
    ))
}

/// A database that somebody else made.
fn of_somebody_else(place: &str, remedy: &str) -> Error {
    Error::NoDatabase(format!("{place} was not made by prony and is left as it is: {remedy}"))
}

/// A database of ours that another run uses.
fn in_use(place: &str) -> Error {
    Error::NoDatabase(format!(
        "{place} is in use by another run of prony or by somebody else's session: wait until it has ended, or give \
         another with --database"
    ))
}

async fn has_mark(session: &mut Session, count_tables: &str, parameters: &[Value]) -> Result<bool, Error> {
    let is_one = |rows: Vec<Vec<Value>>| rows == [[Value::I64(1)]];
    Ok(is_one(session.query(count_tables, parameters).await?)
        && is_one(session.query(COUNT_MARKS, &[]).await?))
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

/// Tables of an SQLite database with the name of the mark.
const COUNT_MARK_TABLES: &str = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1";

async fn make_fake(url: &Url, server: &FakeServer, name: &str, existing: Existing) -> Result<Own, Error> {
    let place = url.to_string();
    if !server.hold() {
        return Err(in_use(&place));
    }
    let hold = FakeHold { server: server.clone() };
    let mut session = Session::open(url).await?;
    let mark = [Value::Text(MARK.to_owned())];
    let is_there = has_mark(&mut session, COUNT_MARK_TABLES, &mark).await?;
    let was_there = match existing {
        Existing::Refuse if is_there => return Err(from_earlier(&place, "a new address")),
        Existing::Reuse => is_there,
        Existing::Refuse => false,
        Existing::Replace => {
            server.clear();
            false
        }
    };
    if !was_there {
        session.script(MAKE_MARK).await?;
    }
    Ok(Own { url: url.clone(), name: name.to_owned(), was_there, hold: Arc::new(Hold::Fake(hold)) })
}
