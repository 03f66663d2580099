//! Which laboratories there are on this machine: a file for each, from before anything of it is made until all of it is gone.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ownership::Directory;
use serde::{Deserialize, Serialize};

use super::loops::Inode;
use super::{LabError, LabShape};
use crate::Standing;
use crate::register::{self, Process};

/// Version of what is stored.
const FORMAT: u32 = 1;
/// What the directory of its files is in, beside that of servers.
const LABS: &str = "labs";
const NAME_BYTES_MAX: usize = 40;

/// A laboratory as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownLab {
    format: u32,
    /// What it is called; no other has the name.
    pub name: String,
    /// Seconds since 1970 when it was begun.
    pub made_s: u64,
    /// What it is.
    pub shape: LabShape,
    /// The program that it ends with, or that is making it; none of one that stays until it is removed.
    pub(super) owner: Option<Process>,
    /// Directory of its backing files.
    pub backing: Made,
    /// Where it is mounted.
    pub mount_point: Made,
    /// Its backing files, in the order of its devices.
    pub(super) files: Vec<Inode>,
    /// Its loop devices, such as `/dev/loop0`.
    pub loops: Vec<String>,
    /// Whether its loop devices pass the memory of their files by.
    pub is_direct: bool,
    /// The md array, where md joins its devices.
    pub array: Option<PathBuf>,
    /// Control groups at which its devices are throttled.
    pub throttled_at: Vec<PathBuf>,
    /// Whether its power is cut: its file system does nothing until it is mounted again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// A directory that is made for it. It has a name of ours before it is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The directory.
    pub path: PathBuf,
    /// Which one it is, once it was made.
    pub(super) is: Option<Inode>,
}

impl Made {
    pub(super) fn planned(path: PathBuf) -> Self {
        Self { path, is: None }
    }
}

fn file_of(name: &str) -> OsString {
    format!("{name}.json").into()
}

pub(super) fn directory() -> Result<Directory, LabError> {
    Ok(register::directory(LABS)?)
}

/// Whether something can be called so.
pub(super) fn check_name(name: &str) -> Result<(), LabError> {
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    let is_name = name.starts_with(|sign: char| sign.is_ascii_alphanumeric())
        && name.len() <= NAME_BYTES_MAX
        && name.chars().all(is_sign);
    if is_name { Ok(()) } else { Err(LabError::NoName { name: name.to_owned() }) }
}

impl KnownLab {
    /// One of which nothing is made yet, and that we are making.
    pub(super) fn new(name: &str, shape: &LabShape, backing: PathBuf, mount_point: PathBuf) -> Self {
        Self {
            format: FORMAT,
            name: name.to_owned(),
            made_s: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            shape: shape.clone(),
            owner: Process::of(std::process::id()),
            backing: Made::planned(backing),
            mount_point: Made::planned(mount_point),
            files: Vec::new(),
            loops: Vec::new(),
            is_direct: false,
            array: None,
            throttled_at: Vec::new(),
            is_cut: false,
        }
    }

    /// All laboratories of ours, by their names. A file that cannot be read is an error that names it.
    ///
    /// # Errors
    /// Those of the system, and what is no such file.
    pub fn all() -> Result<Vec<Self>, LabError> {
        let directory = directory()?;
        let names = directory.names().map_err(LabError::file("list", directory.path()))?;
        let files = names.into_iter().filter(|name| Path::new(name).extension() == Some(OsStr::new("json")));
        let mut all: Vec<Self> = files.map(|name| Self::read(&directory, &name)).collect::<Result<_, _>>()?;
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    fn read(directory: &Directory, name: &OsStr) -> Result<Self, LabError> {
        let path = directory.path().join(name);
        let text = directory.read(name).map_err(LabError::file("read", &path))?;
        let known: Self = serde_json::from_slice(&text)
            .map_err(|error| LabError::file("read", &path)(std::io::Error::other(error)))?;
        if known.format != FORMAT {
            let newer = format!(
                "its format is {}, but this version of prony reads only format {FORMAT}",
                known.format
            );
            return Err(LabError::file("read", path)(std::io::Error::other(newer)));
        }
        Ok(known)
    }

    /// How it stands now: one that stays is [`Standing::Running`].
    #[must_use]
    pub fn standing(&self) -> Standing {
        match self.owner {
            Some(owner) if owner.lives() => Standing::Held(owner.pid()),
            Some(_) => Standing::Left,
            None => Standing::Running,
        }
    }

    /// Stores it for the first time.
    pub(super) fn begin(&self) -> Result<(), LabError> {
        let directory = directory()?;
        match directory.create_whole(&file_of(&self.name), &self.text()) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(LabError::NameTaken { name: self.name.clone() })
            }
            Err(error) => Err(LabError::file("make", directory.path().join(file_of(&self.name)))(error)),
        }
    }

    /// Stores what it is by now.
    pub(super) fn update(&self) -> Result<(), LabError> {
        let directory = directory()?;
        Ok(register::replace(&directory, &file_of(&self.name), &self.text())?)
    }

    /// Stores whether its power is cut.
    pub(super) fn store_power(&self, is_cut: bool) -> Result<(), LabError> {
        Self { is_cut, ..self.clone() }.update()
    }

    pub(super) fn forget(&self) -> Result<(), LabError> {
        Ok(register::forget(&directory()?, &file_of(&self.name))?)
    }

    fn text(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_a_file_and_of_a_directory() {
        for name in ["a", "disk-a.1_x", "7"] {
            check_name(name).unwrap();
        }
        for name in ["", ".", "..", "-a", "a/b", "a b", "ä", &"a".repeat(41)] {
            assert!(check_name(name).unwrap_err().to_string().contains("cannot be the name of a laboratory"));
        }
    }

    #[test]
    fn what_is_stored_is_read_again() {
        let known = KnownLab::new("a", &LabShape::default(), "/data/prony-lab-1".into(), "/run/x".into());
        let read: KnownLab = serde_json::from_slice(&known.text()).unwrap();
        assert_eq!((read.standing(), read), (Standing::Held(std::process::id()), known));
    }
}
