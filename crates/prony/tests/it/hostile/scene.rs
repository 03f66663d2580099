//! Where a row plays: a directory with what was there before, and the program run in it.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode, makedev, mkfifoat, mknodat};

use super::{By, Row};
use crate::mounts::is_root;
use crate::running::Running;
use crate::workbench::{Outcome, PRONY, Workbench, finish};

/// A user without privileges (`nobody` on most systems).
pub(crate) const USER: u32 = 65534;

/// What something is, so that a change of it shows.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    inode: u64,
    mode: u32,
    owner: u32,
    device: u64,
    content: Vec<u8>,
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { inode, mode, owner, device, content } = self;
        let begin = String::from_utf8_lossy(&content[..content.len().min(40)]).into_owned();
        write!(f, "inode {inode} mode {mode:o} of {owner} device {device} {} bytes {begin:?}", content.len())
    }
}

/// A directory, what stands for words in a command, and what ends with the row.
pub(crate) struct Scene {
    bench: Workbench,
    by: By,
    words: Vec<(String, String)>,
    held: Vec<Box<dyn Any>>,
}

impl Scene {
    pub(crate) fn new(by: By) -> Self {
        Self { bench: Workbench::new(), by, words: Vec::new(), held: Vec::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.bench.path(name)
    }

    pub(crate) fn bench(&self) -> &Workbench {
        &self.bench
    }

    /// Keeps something until the row has ended.
    pub(crate) fn hold(&mut self, thing: impl Any) {
        self.held.push(Box::new(thing));
    }

    /// What `{word}` stands for in the command.
    pub(crate) fn say(&mut self, word: &str, text: impl Into<String>) {
        self.words.push((format!("{{{word}}}"), text.into()));
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        if let Some(directory) = Path::new(name).parent() {
            fs::create_dir_all(self.path("").join(directory)).unwrap();
        }
        self.bench.write(name, content)
    }

    pub(crate) fn link(&self, name: &str, to: impl AsRef<Path>) {
        symlink(to, self.path(name)).unwrap();
    }

    pub(crate) fn fifo(&self, name: &str) {
        mkfifoat(CWD, self.path(name), Mode::RWXU).unwrap();
    }

    /// The name is kept short: a socket's path has a limit.
    pub(crate) fn socket(&mut self, name: &str) {
        let before = std::env::temp_dir().join(format!("prony-test-{}", std::process::id()));
        let socket = UnixListener::bind(&before).unwrap();
        self.hold(socket);
        if fs::rename(&before, self.path(name)).is_err() {
            // Another file system: bound where it is wanted, by a way that is short.
            fs::remove_file(&before).unwrap();
            let directory = fs::File::open(self.path("")).unwrap();
            let way = format!("/proc/self/fd/{}/{name}", std::os::fd::AsRawFd::as_raw_fd(&directory));
            self.hold(UnixListener::bind(way).unwrap());
        }
    }

    /// A node of a device; false where only a real root may make one.
    pub(crate) fn node(&self, name: &str, kind: FileType, major: u32, minor: u32) -> bool {
        is_root()
            && mknodat(CWD, self.path(name), kind, Mode::from_raw_mode(0o666), makedev(major, minor)).is_ok()
    }

    /// Gives something to a user without privileges.
    pub(crate) fn give_away(&self, name: &str) {
        let path = self.path(name);
        if path.is_dir() && !path.is_symlink() {
            for entry in fs::read_dir(&path).unwrap() {
                let entry = Path::new(name).join(entry.unwrap().file_name());
                self.give_away(entry.to_str().unwrap());
            }
        }
        lchown(path, Some(USER), Some(USER)).unwrap();
    }

    /// Makes everything belong to who runs the row. False if the program cannot be run so.
    pub(crate) fn belongs_to_who_runs_it(&self) -> bool {
        if self.by == By::Root || !is_root() {
            return true;
        }
        fs::set_permissions(self.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        self.give_away("");
        let mut command = self.command();
        command.arg("--version");
        command.output().is_ok_and(|output| output.status.success())
    }

    /// The program, as the user who runs the row.
    fn command(&self) -> Command {
        if self.by == By::Root || !is_root() {
            return self.bench.command(PRONY);
        }
        let mut command = self.bench.command("setpriv");
        command.args([&format!("--reuid={USER}"), &format!("--regid={USER}")]);
        command.args(["--clear-groups", "--", PRONY]);
        command
    }

    pub(crate) fn run(&self, row: &Row) -> Outcome {
        let mut command = self.command();
        for word in row.command.split_whitespace() {
            let replaced = |word: String, (name, text): &(String, String)| word.replace(name, text);
            command.arg(self.words.iter().fold(word.to_owned(), replaced));
        }
        let Some(meanwhile) = row.meanwhile else { return finish(command) };
        let mut running = Running::start_command(&self.bench, command);
        meanwhile(self, &mut running);
        running.ended()
    }

    /// All that is there. A FIFO is not opened, a link not followed.
    pub(crate) fn look(&self) -> BTreeMap<String, Seen> {
        let mut all = BTreeMap::new();
        look_below(&self.path(""), "", &mut all);
        all
    }
}

fn look_below(root: &Path, name: &str, all: &mut BTreeMap<String, Seen>) {
    let path = root.join(name);
    let metadata = path.symlink_metadata().unwrap();
    let kind = metadata.file_type();
    let content = match kind {
        _ if kind.is_file() => fs::read(&path).unwrap(),
        _ if kind.is_symlink() => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
        _ => Vec::new(),
    };
    let is_device = kind.is_block_device() || kind.is_char_device();
    let device = if is_device { metadata.rdev() } else { 0 };
    let (inode, mode, owner) = (metadata.ino(), metadata.mode(), metadata.uid());
    if !name.is_empty() {
        all.insert(name.to_owned(), Seen { inode, mode, owner, device, content });
    }
    if kind.is_dir() {
        for entry in fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap().file_name().into_string().unwrap();
            let below = if name.is_empty() { entry } else { format!("{name}/{entry}") };
            look_below(root, &below, all);
        }
    }
}
