//! Where a server keeps what: its data, its log where that is apart, its tablespaces; and how these become again what they were.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use ownership::{Directory, MadeDirectory};

use crate::directory::{DATA, give_to};
use crate::power::KnownDirectory;
use crate::process::{command, passable, spawn};
use crate::user::User;
use crate::{Entry, InstanceError, Options, make_directory, program};

const LOG: &str = "log";
const TEMPLATE: &str = "template";

/// The places of one server. Whoever holds them removes them.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    places: Vec<Place>,
    user: Option<User>,
}

/// A directory of a server, and what it was once, beside it on the same volume.
#[derive(Debug)]
struct Place {
    /// `data`, `log`, or the name of a tablespace.
    what: String,
    /// The directory in the user's own that both are in; none for data, which are in the server's home.
    outer: Option<MadeDirectory>,
    /// Where both are made.
    parent: Directory,
    content: MadeDirectory,
    template: Option<MadeDirectory>,
}

impl Placement {
    /// Makes the directories that options ask for; all are empty.
    pub(crate) fn make(
        home: &Directory,
        user: Option<User>,
        options: &Options,
        mut entry: Option<&mut Entry>,
    ) -> Result<Self, InstanceError> {
        let mut placement = Self { places: Vec::new(), user };
        placement.places.push(Place::make(DATA, home.clone(), None, user)?);
        if let Some(log) = options.log_place() {
            placement.places.push(Place::make_in(log, LOG, user, entry.as_deref_mut())?);
        }
        for (name, directory) in options.tablespaces() {
            placement.places.push(Place::make_in(directory, name, user, entry.as_deref_mut())?);
        }
        Ok(placement)
    }

    /// The directory of the log, where it is apart.
    pub(crate) fn log(&self) -> Option<&Path> {
        self.places.iter().find(|place| place.outer.is_some() && place.what == LOG).map(Place::path)
    }

    /// What is kept where.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.places.iter().map(|place| (place.what.as_str(), place.path()))
    }

    /// The directories in those of the user.
    pub(crate) fn outer(&self) -> impl Iterator<Item = &MadeDirectory> {
        self.places.iter().filter_map(|place| place.outer.as_ref())
    }

    /// Keeps what is there now as what [`Self::restore`] makes of it again. The server does not run.
    pub(crate) fn save(&mut self) -> Result<(), InstanceError> {
        let user = self.user;
        for place in &mut self.places {
            let path = place.parent.path().join(format!("{TEMPLATE}-{}", place.what));
            let template = place.parent.make(OsStr::new(&format!("{TEMPLATE}-{}", place.what)));
            let template = template.map_err(InstanceError::file("make", &path))?;
            give_to(user, template.directory(), &path)?;
            copy(place.path(), &path, user)?;
            place.template = Some(template);
        }
        self.sync()
    }

    /// What it is without holding it: all in the server's home.
    pub(crate) fn let_go(self) -> Result<KnownPlacement, InstanceError> {
        let known = |place: &Place| {
            let template = place.template.as_ref().map(KnownDirectory::of).transpose()?;
            Ok((place.what.clone(), KnownDirectory::of(&place.content)?, template))
        };
        let places = self.places.iter().map(known).collect::<Result<_, InstanceError>>()?;
        Ok(KnownPlacement { places, user: self.user })
    }

    /// Whether there is something to restore.
    pub(crate) fn is_saved(&self) -> bool {
        self.places.iter().all(|place| place.template.is_some())
    }

    /// Makes of everything what was saved. The server does not run.
    pub(crate) fn restore(&self) -> Result<(), InstanceError> {
        for place in &self.places {
            let Some(template) = &place.template else { continue };
            place.content.clear().map_err(InstanceError::file("empty", place.path()))?;
            copy(template.directory().path(), place.path(), self.user)?;
        }
        self.sync()
    }

    /// Waits until everything is on its volumes, so that nothing of it is written during a trial.
    pub(crate) fn sync(&self) -> Result<(), InstanceError> {
        for place in &self.places {
            let synced = rustix::fs::syncfs(place.content.directory());
            synced.map_err(|error| InstanceError::file("sync", place.path())(error.into()))?;
        }
        Ok(())
    }

    /// Has the kernel forget what it keeps of the server's files. The server does not run.
    pub(crate) fn drop_caches(&self) -> Result<(), InstanceError> {
        self.sync()?;
        for place in &self.places {
            let forget =
                &mut |file: &File| Ok(rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?);
            each_file(place.content.directory(), forget)
                .map_err(InstanceError::file("read", place.path()))?;
        }
        Ok(())
    }

    /// What the page cache holds of the server's files. The server does not run.
    pub(crate) fn cached(&self, cached_bytes: CachedBytes) -> Result<CachedFiles, InstanceError> {
        let mut seen = CachedFiles::default();
        for place in &self.places {
            let add = &mut |file: &File| {
                seen.files_bytes += file.metadata()?.len();
                seen.cached_bytes += cached_bytes(file)?;
                Ok(())
            };
            each_file(place.content.directory(), add)
                .map_err(InstanceError::file("look at", place.path()))?;
        }
        Ok(seen)
    }
}

/// Tells how many bytes of a file the page cache holds.
pub type CachedBytes = fn(&File) -> std::io::Result<u64>;

/// What the page cache holds of the files of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachedFiles {
    /// Length of all of them.
    pub files_bytes: u64,
    /// What of that is in the page cache.
    pub cached_bytes: u64,
}

/// The places of a server that nobody holds.
#[derive(Debug)]
pub(crate) struct KnownPlacement {
    places: Vec<(String, KnownDirectory, Option<KnownDirectory>)>,
    user: Option<User>,
}

impl KnownPlacement {
    /// Holds them again, in the server's home.
    pub(crate) fn hold(&self, home: &Directory) -> Result<Placement, InstanceError> {
        let place = |(what, content, template): &(String, KnownDirectory, Option<KnownDirectory>)| {
            Ok(Place {
                what: what.clone(),
                outer: None,
                parent: home.clone(),
                content: content.open()?,
                template: template.as_ref().map(KnownDirectory::open).transpose()?,
            })
        };
        let places = self.places.iter().map(place).collect::<Result<_, InstanceError>>()?;
        Ok(Placement { places, user: self.user })
    }
}

impl Place {
    /// In a directory of our own in the user's.
    fn make_in(
        parent: &Path,
        what: &str,
        user: Option<User>,
        entry: Option<&mut Entry>,
    ) -> Result<Self, InstanceError> {
        let outer = make_directory(entry, parent)?;
        give_to(user, outer.directory(), outer.directory().path())?;
        passable(outer.directory().path(), user)?;
        let inner = outer.directory().clone();
        Self::make(what, inner, Some(outer), user)
    }

    fn make(
        what: &str,
        parent: Directory,
        outer: Option<MadeDirectory>,
        user: Option<User>,
    ) -> Result<Self, InstanceError> {
        let path = parent.path().join(what);
        let content = parent.make(OsStr::new(what)).map_err(InstanceError::file("make", &path))?;
        give_to(user, content.directory(), &path)?;
        Ok(Self { what: what.to_owned(), outer, parent, content, template: None })
    }

    fn path(&self) -> &Path {
        self.content.directory().path()
    }
}

/// Copies all that is in a directory, as its user, sharing blocks where the file system can.
fn copy(from: &Path, to: &Path, user: Option<User>) -> Result<(), InstanceError> {
    let mut copying = command(&program::cp()?, user, None)?;
    copying.args(["--archive", "--reflink=auto", "--"]).arg(from.join(".")).arg(to);
    copying.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = spawn(copying).map_err(|source| InstanceError::Spawn { program: "cp".to_owned(), source })?;
    let pid = child.id();
    let ended = child.wait_with_output();
    let ended = ended.map_err(|source| InstanceError::Process { action: "wait for", pid, source })?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
    Err(InstanceError::Ended { program: "cp", status: ended.status.to_string(), log: said })
}

/// Calls a function for each file below a directory. Links are not followed.
fn each_file(
    directory: &Directory,
    act: &mut dyn FnMut(&File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    for name in directory.names()? {
        match directory.look(&name)?.map(|seen| seen.kind()) {
            Some(ownership::Kind::Directory) => each_file(&directory.below(&name)?, act)?,
            Some(ownership::Kind::File) => act(&directory.open_file(&name)?)?,
            Some(_) | None => {}
        }
    }
    Ok(())
}
