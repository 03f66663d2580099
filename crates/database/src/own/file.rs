//! A file of SQLite or DuckDB as a database of our own.
//!
//! The lock is a file of its own beside the database: closing any other handle to the database's file would end the engine's
//! locks on it (<https://sqlite.org/howtocorrupt.html>, 2.2). Both are known by their inodes; what is beside the database and
//! was not made for it is never touched.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ownership::{
    Action, Directory, Existing, Identity, Mark, Permit, Refusal, Removal, RunId, Standing, action,
    may_remove,
};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::{Held, Wish, in_use, is_old, left, mark, refused};
use crate::duckdb::{self, DuckDbSession};
use crate::error::{Attempt, Doing};
use crate::sqlite::{SqliteSession, beside, image, statements};
use crate::{Claim, Dialect, Error, Session, Url};

/// See [`Administration::count_marks`](super::Administration::count_marks).
pub(super) const COUNT_MARKS: &str =
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'prony_mark'";
/// The same of DuckDB.
pub(super) const COUNT_MARKS_OF_DUCKDB: &str = "SELECT count(*) FROM duckdb_tables() \
    WHERE database_name = current_database() AND schema_name = 'main' AND table_name = 'prony_mark'";
/// Marks the file as ours in its header: `PRNY`, see <https://sqlite.org/pragma.html#pragma_application_id>.
const APPLICATION_ID: i32 = 0x5052_4e59;
/// End of the lock's name.
const LOCK_END: &str = "-prony";
/// So often is a lock tried that somebody may only be looking at, and so long is waited in between.
const LOOKS: usize = 20;
const LOOKED_AT: Duration = Duration::from_millis(5);
/// What a lock holds, so that no other file is taken for one.
const LOCK_TEXT: &[u8] =
    b"The lock of prony on the database beside it. It may be removed when no prony runs.\n";
/// Ends of the names of files that an engine makes beside a database, with what they begin with.
type Companions = [(&'static str, &'static [&'static [u8]])];

/// Those of SQLite: the rollback journal, the log and its index, see <https://sqlite.org/fileformat2.html>, 3 and 4, and
/// <https://sqlite.org/walformat.html>, 2.1.
const OF_SQLITE: &Companions = &[
    ("-journal", &[b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", b"\0\0\0\0\0\0\0\0"]),
    ("-wal", &[b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"]),
    ("-shm", &[b"\x18\xe2\x2d\x00", b"\x00\x2d\xe2\x18", b"\0\0\0\0"]),
];
/// Those of DuckDB: the log, and what it is called while it is put into the file or was found after a crash. It begins with an entry
/// that says its version: `WriteAheadLog::WriteHeader` of DuckDB's `write_ahead_log.cpp`.
const OF_DUCKDB: &Companions =
    &[(".wal", DUCKDB_LOG), (".wal.checkpoint", DUCKDB_LOG), (".wal.recovery", DUCKDB_LOG)];
const DUCKDB_LOG: &[&[u8]] = &[b"\x64\x00\x62\x65\x00"];

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Sqlite,
    DuckDb,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::DuckDb => "DuckDB",
        }
    }

    fn scheme(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::DuckDb => "duckdb",
        }
    }

    fn companions(self) -> &'static Companions {
        match self {
            Self::Sqlite => OF_SQLITE,
            Self::DuckDb => OF_DUCKDB,
        }
    }

    /// Whether a file begins as one that may be ours. A header of SQLite tells whether it is; one of DuckDB has no place for that.
    fn may_be_ours(self, begin: &[u8]) -> bool {
        match self {
            Self::Sqlite => is_our_header(begin),
            Self::DuckDb => begin.len() == HEADER_BYTES && begin[8..12] == *b"DUCK",
        }
    }

    /// Refuses what this program was built without.
    fn check(self) -> Result<(), Error> {
        match (self, duckdb::LEFT_OUT) {
            (Self::DuckDb, Some(why)) => Err(Error::NoDatabase(why.to_owned())),
            (Self::DuckDb, None) | (Self::Sqlite, _) => Ok(()),
        }
    }
}

/// Whether whoever wrote a file last closed it, so that to open it changes nothing.
pub(super) fn was_closed(format: Format, file: &Path) -> bool {
    let log = match format {
        Format::Sqlite => "-wal",
        Format::DuckDb => ".wal",
    };
    !beside(file, log).exists()
}

/// A place for a database: a name in a directory that is held open.
#[derive(Debug)]
struct Place {
    format: Format,
    directory: Directory,
    name: OsString,
    /// The same as a path that no engine takes for anything else: it begins with `/`.
    path: PathBuf,
    /// As the user gave it.
    shown: String,
}

/// A database that is held.
#[derive(Debug)]
pub(super) struct Hold {
    place: Place,
    database: Identity,
    /// The mark that this process made the file with. As long as the lock is seen, nobody can have taken it up since.
    made: Option<Mark>,
    lock: Mutex<Lock>,
}

/// Makes or takes up the file. Tells whether it was there.
pub(super) async fn make((format, file): (Format, &Path), claim: &Claim) -> Result<(Hold, bool), Error> {
    let place = Place::of(format, file)?;
    let lock = Lock::take(&place)?;
    let refused =
        |refusal| refused(refusal, Wish::of(claim), &place.shown, "give another file", &place.removal());
    // Before the engine sees it, which would take what is beside a database for a part of it.
    place.check_companions(place.look()?.is_some())?;
    let Found { standing, identity } = place.find().await?;
    match (action(&standing, claim).map_err(refused)?, identity) {
        (Action::TakeUp, Some(database)) => {
            let hold = Hold { place, database, made: None, lock: Mutex::new(lock) };
            // It must also be one that can be opened.
            let mut session = hold.place.session().await?;
            mark::hold(&mut session, &claim.run, is_old(&standing)).await?;
            return Ok((hold, true));
        }
        (Action::Replace(permit), Some(database)) => place.remove(&database, permit)?,
        // There is nothing to be taken up or replaced.
        (Action::Make, _) | (Action::TakeUp | Action::Replace(_), None) => {}
    }
    let mark = Mark::of(claim);
    let database = place.create(&mark)?;
    Ok((Hold { place, database, made: Some(mark), lock: Mutex::new(lock) }, false))
}

/// Looks whether the file will be refused whichever run wants it, and leaves its lock: what its mark says is read when it is taken.
/// A plan opens no database, so that of one of DuckDB it is not known whether it is ours.
pub(super) fn look(
    (format, file): (Format, &Path),
    existing: Existing,
    instead: Option<Existing>,
) -> Result<(), Error> {
    let place = Place::of(format, file)?;
    let there = place.look()?;
    place.check_companions(there.is_some())?;
    let Some(identity) = there else { return Ok(()) };
    // Before the file is opened: to close it again would end the locks that an engine in this process has on it.
    if Lock::is_held(&place) {
        return Err(in_use(&place.shown));
    }
    let is_ours = identity.is_regular() && place.may_be_ours();
    let refusal = match (is_ours, existing) {
        (false, _) => Refusal::Foreign,
        (true, _) if format == Format::DuckDb => return Ok(()),
        (true, Existing::Refuse) => Refusal::OfAnotherRun,
        (
            true,
            Existing::Leftover | Existing::Reuse | Existing::Replace | Existing::Use | Existing::AsItIs,
        ) => return Ok(()),
    };
    Err(refused(refusal, Wish { existing, instead }, &place.shown, "give another file", &place.removal()))
}

/// Looks whether the file will be refused, as its mark says, and leaves its lock: it is judged again when it is taken. Tells whether
/// it is there.
pub(super) async fn look_as((format, file): (Format, &Path), claim: &Claim) -> Result<bool, Error> {
    let place = Place::of(format, file)?;
    place.check_companions(place.look()?.is_some())?;
    if Lock::is_held(&place) {
        return Err(in_use(&place.shown));
    }
    let standing = place.find().await?.standing;
    match action(&standing, claim) {
        Ok(_) => Ok(matches!(standing, Standing::Ours(_))),
        Err(refusal) => {
            Err(refused(refusal, Wish::of(claim), &place.shown, "give another file", &place.removal()))
        }
    }
}

/// A session in the file, which nobody holds for it.
pub(super) async fn look_inside((format, file): (Format, &Path)) -> Result<Session, Error> {
    Place::of(format, file)?.session().await
}

/// Which file a run holds, for those who work in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Leased {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Leased {
    /// A session in the file, if it is still this one, and this run's.
    pub(super) async fn session(&self, format: Format, url: &Url, run: &RunId) -> Result<Session, Error> {
        self.check(format, url)?;
        let mut session = open_own(format, &self.path, url.to_string()).await?;
        self.check(format, url)?;
        match mark::is_held_by(&mut session, run).await? {
            true => Ok(session),
            false => Err(Error::NoDatabase(format!(
                "{} no longer belongs to this run: another run is using it now",
                url.file().unwrap_or(&self.path).display()
            ))),
        }
    }

    fn check(&self, format: Format, url: &Url) -> Result<(), Error> {
        let now = Place::of(format, &self.path)?.look()?;
        let is_same = |now: &Identity| (now.device(), now.inode()) == (self.device, self.inode);
        if now.as_ref().is_some_and(is_same) {
            return Ok(());
        }
        let shown = url.file().unwrap_or(&self.path).display().to_string();
        Err(Error::NoDatabase(another(&shown, now.as_ref())))
    }
}

/// A session in a file, to be used only if it is one of ours: of SQLite its header is looked at once it is open. A file of DuckDB is
/// known before that, by its inode.
async fn open_own(format: Format, file: &Path, target: String) -> Result<Session, Error> {
    match format {
        Format::Sqlite => SqliteSession::open_own(file, target, APPLICATION_ID).await.map(Session::of_sqlite),
        Format::DuckDb => DuckDbSession::open(file).await.map(Session::of_duckdb),
    }
}

/// What is said where a file is not the one that is held.
fn another(shown: &str, now: Option<&Identity>) -> String {
    let found = if now.is_some() { "another file has its name now" } else { "the file no longer exists" };
    format!("{shown}: somebody removed or renamed the file: {found}")
}

impl Hold {
    /// What those who work in the file need.
    pub(super) fn leased(&self) -> Leased {
        Leased { path: self.place.path.clone(), device: self.database.device(), inode: self.database.inode() }
    }

    /// Refuses a file that somebody else has.
    pub(super) async fn check_held(&self, run: &RunId) -> Result<(), Error> {
        match self.is_held(run).await? {
            Held::Lost(found) => Err(Error::NoDatabase(found)),
            Held::Held | Held::TakenAgain => Ok(()),
        }
    }

    /// Whether the file still has its name, and its lock too: somebody may have removed it, and another run taken the
    /// database up. A lock that nobody else took is taken again.
    pub(super) async fn is_held(&self, run: &RunId) -> Result<Held, Error> {
        let now = self.place.look()?;
        if now.as_ref() != Some(&self.database) {
            return Ok(Held::Lost(another(&self.place.shown, now.as_ref())));
        }
        if self.lock().is_seen()? {
            return Ok(Held::Held);
        }
        let lost =
            |found: &str| Ok(Held::Lost(format!("{}: its lock was removed, and {found}", self.place.shown)));
        let Ok(lock) = Lock::take(&self.place) else { return lost("another run holds a new lock") };
        let is_ours = self.place.mark().await?.is_some_and(|mark| mark.held_by.as_ref() == Some(run));
        if !is_ours {
            return lost("another run is using the database now");
        }
        *self.lock() = lock;
        Ok(Held::TakenAgain)
    }

    fn lock(&self) -> MutexGuard<'_, Lock> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the database with all files that its engine made for it.
    pub(super) async fn remove(&self, run: &RunId) -> Result<(), Error> {
        let refused = |refusal| left(refusal, &self.place.shown, &self.place.removal());
        let held = self.is_held(run).await?;
        let now = self.place.look()?;
        let standing = match (held, &self.made) {
            _ if now.is_none() => return Ok(()),
            _ if now.as_ref() != Some(&self.database) => return Err(refused(Refusal::Foreign)),
            (Held::Lost(_), _) => return Err(refused(Refusal::OfAnotherRun)),
            // It is the very file that was made, and its engine need not be asked, which may have no thread or no space left.
            (Held::Held, Some(mark)) => Standing::Ours(mark.clone()),
            _ => self.place.find().await?.standing,
        };
        let permit = may_remove(&standing, run).map_err(refused)?;
        self.place.remove(&self.database, permit)
    }
}

/// What was found under a name.
struct Found {
    standing: Standing,
    identity: Option<Identity>,
}

impl Place {
    /// The place of a file. A link to a database is followed once, here, so that the lock is beside the database itself.
    fn of(format: Format, file: &Path) -> Result<Self, Error> {
        format.check()?;
        let shown = file.display().to_string();
        let failed = |error: io::Error| not_made(&shown, &error);
        let real = match std::fs::canonicalize(file) {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound && !file.is_symlink() => {
                std::path::absolute(file).map_err(failed)?
            }
            Err(error) => return Err(failed(error)),
        };
        let (directory, name) =
            Directory::of(&real).map_err(|error| match (error.kind(), file.parent()) {
                (ErrorKind::NotFound, Some(directory)) => Error::NoDatabase(format!(
                    "cannot create {shown}: directory {0} does not exist; create it with `mkdir -p {0}`",
                    directory.display()
                )),
                _ => failed(error),
            })?;
        let path = std::fs::canonicalize(directory.path()).map_err(failed)?.join(&name);
        match format {
            Format::DuckDb => duckdb::check_path(&path)?,
            Format::Sqlite => {}
        }
        Ok(Self { format, directory, name, path, shown })
    }

    fn look(&self) -> Result<Option<Identity>, Error> {
        self.directory.look(&self.name).map_err(|error| not_made(&self.shown, &error))
    }

    /// The name of a file beside it.
    fn beside(&self, end: &str) -> OsString {
        beside(Path::new(&self.name), end).into_os_string()
    }

    fn target(&self) -> String {
        format!("{}:{}", self.format.scheme(), self.shown)
    }

    /// What stands there.
    async fn find(&self) -> Result<Found, Error> {
        let Some(identity) = self.look()? else {
            return Ok(Found { standing: Standing::Absent, identity: None });
        };
        let mark = if identity.is_regular() && self.may_be_ours() { self.mark().await? } else { None };
        Ok(Found { standing: mark.map_or(Standing::Foreign, Standing::Ours), identity: Some(identity) })
    }

    /// Whether its first bytes are those of a file of ours.
    fn may_be_ours(&self) -> bool {
        self.begins_as(&self.name, |begin| self.format.may_be_ours(begin))
    }

    /// What the mark in a file says whose header may be ours; none of one that is not ours. One of SQLite that a full disk cut short names
    /// no run. One of DuckDB is opened so that nothing of it changes, whoever's it is; one that another process has open is an error.
    async fn mark(&self) -> Result<Option<Mark>, Error> {
        let opened = match self.format {
            Format::Sqlite => self.session().await,
            Format::DuckDb => DuckDbSession::open_to_read(&self.path).await.map(Session::of_duckdb),
        };
        let read = match (opened, self.format) {
            (Ok(mut session), _) => mark::read(&mut session).await,
            (Err(Error::Refused(words)), Format::DuckDb) => return Err(Error::Refused(words)),
            (Err(error), _) => Err(error),
        };
        let unread = match self.format {
            Format::Sqlite => Some(Mark { made_by: None, held_by: None, is_transient: false }),
            Format::DuckDb => None,
        };
        Ok(read.ok().flatten().or(unread))
    }

    /// A session in it.
    async fn session(&self) -> Result<Session, Error> {
        open_own(self.format, &self.path, self.target()).await
    }

    /// Whether the first bytes of a file are as they should be. Nothing is waited for, and no link followed.
    fn begins_as(&self, name: &OsStr, is_right: impl Fn(&[u8]) -> bool) -> bool {
        let Ok(file) = self.directory.open_file(name) else { return false };
        let mut begin = Vec::new();
        file.take(HEADER_BYTES as u64).read_to_end(&mut begin).is_ok() && is_right(&begin)
    }

    /// Refuses what lies beside the place of a database and was not made for one: without a database, anything.
    fn check_companions(&self, has_database: bool) -> Result<(), Error> {
        for (end, _) in self.format.companions() {
            let name = self.beside(end);
            let there = self.directory.look(&name).map_err(|error| not_made(&self.shown, &error))?;
            if there.is_none() || (has_database && self.is_companion(end)) {
                continue;
            }
            let why = if has_database {
                format!("which {} did not create for this database", self.format.name())
            } else {
                "which may contain data of a database that was moved away".to_owned()
            };
            return Err(Error::NoDatabase(format!(
                "{}: next to it is {}{end}, {why}. Put it back next to its database, move it away, or use another file",
                self.shown, self.shown
            )));
        }
        Ok(())
    }

    /// Whether a file beside our database is what its engine makes there; an empty one is too.
    fn is_companion(&self, end: &str) -> bool {
        let begins: &[&[u8]] =
            self.format.companions().iter().find(|(name, _)| *name == end).map_or(&[], |(_, begins)| *begins);
        self.begins_as(&self.beside(end), |begin| {
            begin.is_empty() || begins.iter().any(|known| begin.starts_with(known))
        })
    }

    /// Makes a file with our mark, in one step.
    fn create(&self, mark: &Mark) -> Result<Identity, Error> {
        let image = match self.format {
            Format::Sqlite => {
                let target = self.target();
                let attempt = Attempt { doing: Doing::Connect, target: &target };
                let mark = mark::made(Dialect::Sqlite, mark::TABLE, mark);
                let script = format!("PRAGMA application_id = {APPLICATION_ID}; {mark}");
                image(&script).map_err(|error| statements::fault(&error, attempt))?
            }
            Format::DuckDb => duckdb::image(&mark::made(Dialect::DuckDb, mark::TABLE, mark))?,
        };
        self.directory.create_whole(&self.name, &image).map_err(|error| not_made(&self.shown, &error))
    }

    /// Removes a database of ours with what its engine made beside it.
    fn remove(&self, database: &Identity, _permit: Permit) -> Result<(), Error> {
        let failed = |name: &OsStr, error: io::Error| {
            let name = Path::new(name).display();
            Error::NoDatabase(format!(
                "cannot remove {name} of {}: {error}; remove it with `{}`",
                self.shown,
                self.removal()
            ))
        };
        // First what is of no use without it.
        for (end, _) in self.format.companions() {
            let name = self.beside(end);
            let there = self.directory.look(&name).map_err(|error| failed(&name, error))?;
            if let Some(there) = there.filter(|_| self.is_companion(end)) {
                let _ = self.directory.remove(&name, &there).map_err(|error| failed(&name, error))?;
            }
        }
        match self.directory.remove(&self.name, database).map_err(|error| failed(&self.name, error))? {
            Removal::Removed | Removal::Gone => Ok(()),
            Removal::Another => Err(left(Refusal::Foreign, &self.shown, &self.removal())),
        }
    }

    /// The command that removes a database.
    fn removal(&self) -> String {
        let name = quoted(&self.shown);
        match self.format {
            Format::Sqlite => format!("rm -f {name} {name}-wal {name}-shm {name}{LOCK_END}"),
            Format::DuckDb => format!("rm -f {name} {name}.wal {name}{LOCK_END}"),
        }
    }
}

/// A file's name as a shell takes it.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,@%".contains(c);
    let start = if name.starts_with('-') { "./" } else { "" };
    if name.chars().all(is_plain) {
        format!("{start}{name}")
    } else {
        format!("'{start}{}'", name.replace('\'', r"'\''"))
    }
}

/// Bytes at the begin of a file that tell what it is.
const HEADER_BYTES: usize = 72;

/// Whether a file begins as one with our mark. SQLite is not asked: the header is enough, and a file of which a full disk took
/// only a part from the WAL has one too (<https://sqlite.org/fileformat2.html>, 1.3).
fn is_our_header(begin: &[u8]) -> bool {
    begin.len() == HEADER_BYTES
        && begin.starts_with(b"SQLite format 3\0")
        && begin[68..] == APPLICATION_ID.to_be_bytes()
}

/// A lock that others see, and that ends with this process at the latest.
#[derive(Debug)]
struct Lock {
    directory: Directory,
    name: OsString,
    identity: Identity,
    _held: File,
}

impl Lock {
    /// Takes the lock of a place.
    fn take(place: &Place) -> Result<Self, Error> {
        let name = place.beside(LOCK_END);
        let shown = format!("{}{LOCK_END}", place.shown);
        let failed = |error: io::Error| not_made(&shown, &error);
        loop {
            match place.directory.create_whole(&name, LOCK_TEXT) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
            if !place.begins_as(&name, |begin| LOCK_TEXT.starts_with(begin) && begin.len() == HEADER_BYTES) {
                if place.directory.look(&name).map_err(failed)?.is_none() {
                    continue;
                }
                return Err(Error::NoDatabase(format!(
                    "{shown} exists and is not a lock of prony: move it away, or use another file"
                )));
            }
            let held = match place.directory.open_file(&name) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            let is_locked = Self::exclusive(&held, || std::thread::sleep(LOOKED_AT));
            if !is_locked.map_err(|error| failed(error.into()))? {
                return Err(in_use(&place.shown));
            }
            // Whoever had it may have removed the file between the two calls: then this is a lock that nobody sees.
            use std::os::fd::AsFd as _;
            let identity = Identity::of(held.as_fd()).map_err(failed)?;
            if place.directory.look(&name).map_err(failed)?.is_some_and(|seen| seen == identity) {
                return Ok(Self { directory: place.directory.clone(), name, identity, _held: held });
            }
        }
    }
}

impl Lock {
    /// Whether the lock could be had. Who only looks whether it is held has it for a moment, which is waited for.
    fn exclusive(lock: &File, mut wait: impl FnMut()) -> rustix::io::Result<bool> {
        for _ in 0..LOOKS {
            match flock(lock, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) => wait(),
                locked => return locked.map(|()| true),
            }
        }
        Ok(false)
    }

    /// Whether a run has the lock of a place. Nothing is made for the question.
    fn is_held(place: &Place) -> bool {
        let Ok(file) = place.directory.open_file(&place.beside(LOCK_END)) else { return false };
        flock(&file, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
    }

    /// Whether others see it under its name.
    fn is_seen(&self) -> Result<bool, Error> {
        let now = self.directory.look(&self.name);
        let now = now.map_err(|error| not_made(&self.name.to_string_lossy(), &error))?;
        Ok(now.as_ref() == Some(&self.identity))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is locked, so that no other's is removed. If it stays, the next one takes it.
        let _ = self.directory.remove(&self.name, &self.identity);
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
fn not_made(shown: &str, error: &io::Error) -> Error {
    let text = |remedy: &str| format!("cannot make {shown}: {error}; {remedy}");
    match error.kind() {
        ErrorKind::StorageFull => Error::Full(text(crate::error::remedy::FULL)),
        ErrorKind::FileTooLarge => Error::Full(text(crate::error::remedy::FILE_LIMIT)),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Error::Refused(text("give this user write permission for the directory, or use another one"))
        }
        _ => Error::NoDatabase(text("give another file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who only looked at a lock made another's start fail: it was held for that moment.
    #[test]
    fn a_lock_that_is_looked_at_for_a_moment_is_had_and_one_that_is_held_is_not() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = || File::open(file.path()).unwrap();
        let (wanted, mut looking) = (open(), Some(open()));
        flock(looking.as_ref().unwrap(), FlockOperation::NonBlockingLockShared).unwrap();
        // It is over once it is waited for.
        assert_eq!(Lock::exclusive(&wanted, || drop(looking.take())), Ok(true));
        let (other, mut waited) = (open(), 0);
        assert_eq!(Lock::exclusive(&other, || waited += 1), Ok(false));
        assert_eq!(waited, LOOKS);
    }
}
