//! Which servers of ours there are on this machine: a file for each, from before its directories are made until they are gone, so that a
//! kill at any moment leaves nothing that nobody knows.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ownership::{Directory, Draft, MadeDirectory};
use rustix::fs::Mode;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::directory::DATA;
use crate::options::Registered;
use crate::pair::processes::{self, Stand};
use crate::process::Handle;
use crate::{InstanceError, KnownLab, Options, limits, pair, postgres, shared_memory};

/// Version of what is stored.
const FORMAT: u32 = 1;
/// The same of what has several nodes, which a program of the first version would leave running.
const FORMAT_OF_PAIRS: u32 = 2;
const STOPS_WITHIN: Duration = Duration::from_secs(60);
const DIES_WITHIN: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
const LOG_BYTES_MAX: u64 = 1 << 20;
/// A file has a name of a moment much shorter than this, unless its program was killed.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);

/// A server of ours as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    format: u32,
    /// What it is called; no other has the name.
    pub name: String,
    /// What it is: `postgres`, `mariadb`.
    pub engine: String,
    /// Where clients connect to, with the user and password of a server of loopback.
    pub url: String,
    /// Seconds since 1970 when it was made.
    pub made_s: u64,
    /// The server's first process, once it was started.
    process: Option<Process>,
    /// The program that it belongs to and dies with; none of one that was started to live on.
    owner: Option<Process>,
    /// What it says.
    pub log: PathBuf,
    /// Its directories, each with all that is in it.
    directories: Vec<Place>,
    /// The directories of its control group.
    group: Vec<PathBuf>,
    /// Files of shared memory that its processes had open once it answered, which a killed server leaves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shared_memory: Vec<Place>,
    /// How its nodes stand to each other, if it has several: `sync`, `async`, `quorum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<String>,
    /// Its nodes, if it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<KnownNode>,
}

/// A node of a pair as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownNode {
    /// What it is called in its pair.
    pub name: String,
    /// Where it listens: host and port.
    pub address: String,
    /// What it says.
    pub log: PathBuf,
}

/// A directory that we made, or a file of a server, by more than its name. One that is about to be made has no numbers yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// A process, by more than its number, which may be another's by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    pid: u32,
    /// Clock ticks from the start of the machine to its own.
    began: u64,
}

/// How a server stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It runs and lives on.
    Running,
    /// It runs, and ends with the program of this number that it belongs to.
    Held(u32),
    /// It was kept, and does not run.
    Stopped,
    /// It was to end with a program that was killed: what there is of it is to be removed.
    Left,
}

impl Process {
    /// One that runs now.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in brackets, may have anything in it; the 22nd field is the 20th after it (proc(5)).
        let fields = stat.rsplit_once(") ")?.1;
        let has_ended = fields.starts_with(['Z', 'X']);
        let began = fields.split(' ').nth(19)?.parse().ok()?;
        (!has_ended).then_some(Self { pid, began })
    }

    pub(crate) fn lives(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    pub(crate) fn pid(self) -> u32 {
        self.pid
    }
}

/// What the directory of servers is called.
const SERVERS: &str = "servers";

/// The directory with a file for each of a kind, such as servers.
pub(crate) fn directory(of: &str) -> Result<Directory, InstanceError> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
    let own = || std::env::temp_dir().join(format!("prony-{of}-{}", rustix::process::getuid().as_raw()));
    let path = state.map_or_else(own, |state| state.join("prony").join(of));
    let opened = std::path::absolute(&path).and_then(|path| ownership::make_path(&path));
    let (directory, _) = opened.map_err(InstanceError::file("make", &path))?;
    directory.refuse_if_shared().map_err(InstanceError::file("use", &path))?;
    // The addresses in it have passwords.
    rustix::fs::fchmod(&directory, Mode::RWXU)
        .map_err(|error| InstanceError::file("close to others", &path)(error.into()))?;
    directory.remove_abandoned(ABANDONED_AFTER).map_err(InstanceError::file("tidy", &path))?;
    Ok(directory)
}

impl Known {
    /// All servers of ours, by their names. A file that cannot be read is an error that names it.
    ///
    /// # Errors
    /// Those of the system, and what is no such file.
    pub fn all() -> Result<Vec<Self>, InstanceError> {
        let directory = directory(SERVERS)?;
        let names = directory.names().map_err(InstanceError::file("list", directory.path()))?;
        let files = names.into_iter().filter(|name| Path::new(name).extension() == Some(OsStr::new("json")));
        let mut all: Vec<Self> = files.map(|name| Self::read(&directory, &name)).collect::<Result<_, _>>()?;
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    fn read(directory: &Directory, name: &OsStr) -> Result<Self, InstanceError> {
        let path = directory.path().join(name);
        let text = directory.read(name).map_err(InstanceError::file("read", &path))?;
        let known: Self = serde_json::from_slice(&text)
            .map_err(|error| InstanceError::file("read", &path)(std::io::Error::other(error)))?;
        if ![FORMAT, FORMAT_OF_PAIRS].contains(&known.format) {
            let newer = format!(
                "its format is {}, but this version of prony reads only format {FORMAT_OF_PAIRS}",
                known.format
            );
            return Err(InstanceError::file("read", path)(std::io::Error::other(newer)));
        }
        Ok(known)
    }

    /// How it stands now.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let runs = self.process.is_some_and(Process::lives) || self.has_members();
        match self.owner {
            Some(owner) if owner.lives() => Standing::Held(owner.pid),
            // Its process may be about to end, too.
            Some(_) => Standing::Left,
            None if runs => Standing::Running,
            None => Standing::Stopped,
        }
    }

    /// Whether anything of a pair runs: the node that was started first may be the one that is gone.
    fn has_members(&self) -> bool {
        let home = self.home().filter(|_| self.pair.is_some());
        home.is_some_and(|home| pair::has_members(home, &self.elsewhere()))
    }

    /// Directories of ours besides the first. What lies on a volume without power cannot be looked at.
    fn elsewhere(&self) -> Vec<&Path> {
        let is_ours = |place: &&Place| {
            place.is_ours() || KnownLab::without_power_under(&place.path).is_ok_and(|lab| lab.is_some())
        };
        self.directories.iter().skip(1).filter(is_ours).map(|place| place.path.as_path()).collect()
    }

    /// Gives volumes their power back that a killed program cut.
    fn restore_power(&self) -> Result<(), InstanceError> {
        for place in &self.directories {
            if let Some(lab) = KnownLab::without_power_under(&place.path)? {
                lab.restore_power()?;
            }
        }
        Ok(())
    }

    /// Its first process, if it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.process.filter(|process| process.lives()).map(|process| process.pid)
    }

    /// Where its data are.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.directories.first().map(|place| place.path.as_path())
    }

    /// The end of what it said.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn log_text(&self) -> Result<String, InstanceError> {
        if self.pair.is_none() || self.nodes.is_empty() {
            return Self::end_of(&self.log);
        }
        let of_node = |node: &KnownNode| {
            let text = Self::end_of(&node.log)?;
            Ok(text.lines().map(|line| format!("{}: {line}\n", node.name)).collect::<String>())
        };
        self.nodes.iter().map(of_node).collect()
    }

    fn end_of(log: &Path) -> Result<String, InstanceError> {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let fault = |error| InstanceError::file("read", log)(error);
        let mut file = ownership::open_plain(log).map_err(fault)?;
        let length = file.metadata().map_err(fault)?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES_MAX))).map_err(fault)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(fault)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Ends it in order and removes all that it has. One that another prony holds is refused.
    ///
    /// # Errors
    /// It is held, it does not end, or something cannot be removed: then that is still there, and known.
    pub fn remove(&self) -> Result<(), InstanceError> {
        if let Standing::Held(pid) = self.standing() {
            return Err(InstanceError::HeldByAnother { name: self.name.clone(), pid });
        }
        limits::lift_left(&self.group);
        self.end()?;
        self.restore_power()?;
        shared_memory::remove_left(&self.shared_memory);
        limits::remove_left(&self.group)?;
        // The data last: what has failed before can be tried again.
        let deadline = Instant::now() + DIES_WITHIN;
        while let Err(error) = self.directories.iter().rev().try_for_each(Place::remove) {
            if Instant::now() > deadline {
                return Err(error);
            }
            // A process that was being started when its prony was killed may have come into its directory only now.
            self.end()?;
            std::thread::sleep(LOOK_AGAIN);
        }
        forget(&directory(SERVERS)?, &file_of(&self.name))
    }

    fn end(&self) -> Result<(), InstanceError> {
        if self.pair.is_some() {
            // By where they stand, frozen or not: what a keeper started is known by nothing else.
            let ours = self.directories.first().filter(|place| place.is_ours());
            return ours.map_or(Ok(()), |place| pair::end_all(&place.path, &self.elsewhere()));
        }
        self.end_first()?;
        let Some(place) = self.directories.first().filter(|place| place.is_ours()) else { return Ok(()) };
        // Whoever stands still does not notice that the first process is gone. They are known by where they stand.
        let Some(stand) = Stand::of(&place.path)? else { return Ok(()) };
        let segments: Vec<postgres::Segment> =
            stand.members()?.iter().flat_map(|one| postgres::segments_of(one.pid)).collect();
        processes::kill_all(&[stand], DIES_WITHIN)?;
        postgres::remove_shared_memory(&place.path.join(DATA), &segments);
        Ok(())
    }

    /// Ends its first process, if it runs, in order where it can.
    fn end_first(&self) -> Result<(), InstanceError> {
        let Some(process) = self.process.filter(|process| process.lives()) else { return Ok(()) };
        let Some(handle) = Handle::open(process.pid)? else { return Ok(()) };
        // What has its number now may have taken it between the look and the handle.
        if !process.lives() {
            return Ok(());
        }
        let in_order = if self.engine == "postgres" { Signal::INT } else { Signal::TERM };
        handle.signal(in_order)?;
        if handle.wait(STOPS_WITHIN)? {
            return Ok(());
        }
        handle.signal(Signal::KILL)?;
        handle.wait(DIES_WITHIN).map(drop)
    }
}

impl Place {
    /// One that is about to be made.
    fn planned(path: PathBuf) -> Self {
        Self { path, device: 0, inode: 0 }
    }

    fn is_planned(&self) -> bool {
        self.inode == 0
    }

    fn of(made: &MadeDirectory) -> std::io::Result<Self> {
        let stat = rustix::fs::fstat(made.directory())?;
        let path = made.directory().path().to_owned();
        Ok(Self { path, device: stat.st_dev, inode: stat.st_ino })
    }

    /// Whether what has its name is the directory that we made.
    fn is_ours(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let seen = std::fs::symlink_metadata(&self.path);
        seen.is_ok_and(|seen| (seen.dev(), seen.ino()) == (self.device, self.inode))
    }

    /// Removes it if it still is the directory that we made.
    fn remove(&self) -> Result<(), InstanceError> {
        let fault = |error| InstanceError::file("remove", &self.path)(error);
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        let name = self.path.file_name().unwrap_or_default();
        let parent = match ownership::open_trusted(parent) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(fault)?,
        };
        let made = if self.is_planned() {
            parent.made_empty(name)
        } else {
            let named = parent.made_before(name, self.device, self.inode);
            named.and_then(|named| match named {
                None => parent.half_removed(self.device, self.inode),
                named => Ok(named),
            })
        };
        match made.map_err(fault)? {
            Some(made) => made.remove_with_all().map(drop).map_err(fault),
            None => Ok(()),
        }
    }
}

/// Makes a directory of a server that no other user may enter. What is stored of the server, if anything is, has the directory before it is
/// there.
pub(crate) fn make_directory(
    entry: Option<&mut Entry>,
    parent: &Path,
) -> Result<MadeDirectory, InstanceError> {
    let fault = |error| InstanceError::file("make a directory in", parent)(error);
    let place = std::path::absolute(parent).and_then(|parent| ownership::open_trusted(&parent));
    let place = place.map_err(fault)?;
    let name = ownership::private_name(PREFIX).map_err(fault)?;
    let Some(entry) = entry else { return place.make_private_as(&name).map_err(fault) };
    let at = entry.known.directories.len();
    entry.known.directories.push(Place::planned(place.path().join(&name)));
    entry.write()?;
    let made = place.make_private_as(&name).map_err(fault)?;
    entry.known.directories[at] = Place::of(&made).map_err(fault)?;
    entry.write()?;
    Ok(made)
}

/// What a directory that we make in a user's is called first.
const PREFIX: &str = "prony-";

fn file_of(name: &str) -> OsString {
    format!("{name}.json").into()
}

/// Puts a text in the place of what a file holds, as a whole.
pub(crate) fn replace(directory: &Directory, file: &OsStr, text: &[u8]) -> Result<(), InstanceError> {
    let written = Draft::begin(directory).and_then(|mut draft| {
        draft.file().write_all(text)?;
        draft.replace(file).map(drop)
    });
    written.map_err(InstanceError::file("write", directory.path().join(file)))
}

pub(crate) fn forget(directory: &Directory, file: &OsStr) -> Result<(), InstanceError> {
    let fault = |error| InstanceError::file("remove", directory.path().join(file))(error);
    match directory.look(file).map_err(fault)? {
        Some(seen) => directory.remove(file, &seen).map(drop).map_err(fault),
        None => Ok(()),
    }
}

/// A server's own file, held by whoever started it.
#[derive(Debug)]
pub(crate) struct Entry {
    directory: Directory,
    known: Known,
}

impl Entry {
    /// Makes it for a server of which nothing is made yet. One that lives on belongs to nobody.
    pub(crate) fn make(name: &str, engine: &str, lives_on: bool) -> Result<Self, InstanceError> {
        let directory = directory(SERVERS)?;
        if !name.starts_with(|sign: char| sign.is_ascii_alphanumeric())
            || !name.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.'))
        {
            return Err(InstanceError::NoName { name: name.to_owned() });
        }
        let known = Known {
            format: FORMAT,
            name: name.to_owned(),
            engine: engine.to_owned(),
            url: String::new(),
            made_s: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            process: None,
            owner: (!lives_on).then(|| Process::of(std::process::id())).flatten(),
            log: PathBuf::new(),
            directories: Vec::new(),
            group: Vec::new(),
            shared_memory: Vec::new(),
            pair: None,
            nodes: Vec::new(),
        };
        let text = serde_json::to_vec_pretty(&known).unwrap_or_default();
        match directory.create_whole(&file_of(name), &text) {
            Ok(_) => Ok(Self { directory, known }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(InstanceError::NameTaken { name: name.to_owned() })
            }
            Err(error) => Err(InstanceError::file("make", directory.path().join(file_of(name)))(error)),
        }
    }

    /// That of options, if they ask for one.
    pub(crate) fn of(options: &Options, engine: &str) -> Result<Option<Self>, InstanceError> {
        let registered = options.register();
        registered.map(|Registered { name, lives_on }| Self::make(name, engine, *lives_on)).transpose()
    }

    /// That of a look whether a server could be started, which removes again what it makes.
    pub(crate) fn of_look(engine: &str) -> Result<Self, InstanceError> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self::make(&format!("look-{}-{number}", std::process::id()), engine, false)
    }

    /// Says where the server writes what it says.
    pub(crate) fn set_log(&mut self, log: PathBuf) -> Result<(), InstanceError> {
        self.known.log = log;
        self.write()
    }

    /// Removes it and all directories that were made for it.
    pub(crate) fn remove_with_directories(&self) -> Result<(), InstanceError> {
        self.known.directories.iter().rev().try_for_each(Place::remove)?;
        self.remove()
    }

    /// Says in what groups it will be, before they are made.
    pub(crate) fn set_groups(&mut self, groups: Vec<PathBuf>) -> Result<(), InstanceError> {
        self.known.group = groups;
        self.write()
    }

    /// Says what shared memory it has open.
    pub(crate) fn set_shared_memory(&mut self, files: Vec<Place>) -> Result<(), InstanceError> {
        if self.known.shared_memory == files {
            return Ok(());
        }
        self.known.shared_memory = files;
        self.write()
    }

    /// Removes the shared memory of its processes, which have ended.
    pub(crate) fn remove_shared_memory(&self) {
        shared_memory::remove_left(&self.known.shared_memory);
    }

    /// Says that it is a pair.
    pub(crate) fn is_pair(&mut self, kind: &str) -> Result<(), InstanceError> {
        (self.known.format, self.known.pair) = (FORMAT_OF_PAIRS, Some(kind.to_owned()));
        self.write()
    }

    /// Says what nodes it has. It is stored with the next [`Self::update`].
    pub(crate) fn set_nodes(&mut self, nodes: Vec<KnownNode>) {
        self.known.nodes = nodes;
    }

    /// Says what process it has, where it listens, and in what group it is.
    pub(crate) fn update(
        &mut self,
        pid: Option<u32>,
        url: String,
        group: Vec<PathBuf>,
    ) -> Result<(), InstanceError> {
        self.known.process = pid.and_then(Process::of);
        (self.known.url, self.known.group) = (url, group);
        self.write()
    }

    fn write(&self) -> Result<(), InstanceError> {
        let file = file_of(&self.known.name);
        let text = serde_json::to_vec_pretty(&self.known).unwrap_or_default();
        replace(&self.directory, &file, &text)
    }

    /// Removes it: its server is gone.
    pub(crate) fn remove(&self) -> Result<(), InstanceError> {
        forget(&self.directory, &file_of(&self.known.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_when_it_began() {
        let own = Process::of(std::process::id()).unwrap();
        assert!(own.lives());
        assert!(!Process { began: own.began + 1, ..own }.lives(), "another has its number");
        assert_eq!(Process::of(0), None);
    }

    #[test]
    fn only_the_directory_that_was_made_is_removed() {
        let here = tempfile::tempdir().unwrap();
        let parent = ownership::open_trusted(here.path()).unwrap();
        let made = parent.make_private("prony-").unwrap();
        std::fs::write(made.directory().path().join("data"), "x").unwrap();
        let place = Place::of(&made).unwrap();
        let other = Place { inode: place.inode + 1, ..place.clone() };
        other.remove().unwrap();
        assert!(place.path.join("data").exists(), "another is left");
        place.remove().unwrap();
        assert!(!place.path.exists());
        place.remove().unwrap();
    }
}
