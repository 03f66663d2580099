//! Things of the user's in a directory, and whether they are the same afterwards: kind, inode, mode, content, target of a link.
//!
//! Times are not looked at: whoever reads a file may change them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::tally::Findings;

/// A directory of prony's results; what is made in it is no harm.
const RESULTS: &str = "prony-results";

/// What stands under a directory, but for results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Things(BTreeMap<PathBuf, Thing>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Thing {
    device: u64,
    inode: u64,
    mode: u32,
    links: u64,
    /// Of a file its bytes, of a link its target, of others nothing.
    content: Vec<u8>,
}

impl Things {
    /// Looks at everything below a directory without following links.
    pub(super) fn below(directory: &Path) -> Result<Self> {
        let mut found = BTreeMap::new();
        let mut open = vec![directory.to_owned()];
        while let Some(path) = open.pop() {
            for entry in fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))? {
                let path = entry?.path();
                if path.file_name() == Some(OsStr::new(RESULTS)) {
                    continue;
                }
                let metadata = fs::symlink_metadata(&path)?;
                if metadata.is_dir() {
                    open.push(path.clone());
                }
                found.insert(path.clone(), Thing::of(&path, &metadata)?);
            }
        }
        Ok(Self(found))
    }

    /// What was there before and is not the same any more.
    pub(super) fn harmed(&self, now: &Self) -> Findings {
        let harm = |(path, before): (&PathBuf, &Thing)| match now.0.get(path) {
            None => Some(format!("{} is gone", path.display())),
            Some(thing) => {
                before.difference(thing).map(|what| format!("{} has another {what}", path.display()))
            }
        };
        self.0.iter().filter_map(harm).collect()
    }

    /// What was not there before.
    pub(super) fn added(&self, now: &Self) -> Vec<PathBuf> {
        now.0.keys().filter(|path| !self.0.contains_key(*path)).cloned().collect()
    }

    /// Without what is below a directory.
    pub(super) fn but(mut self, directory: &Path) -> Self {
        self.0.retain(|path, _| !path.starts_with(directory));
        self
    }
}

impl Thing {
    fn of(path: &Path, metadata: &fs::Metadata) -> Result<Self> {
        let kind = metadata.file_type();
        let content = if kind.is_symlink() {
            fs::read_link(path)?.into_os_string().into_encoded_bytes()
        } else if kind.is_file() {
            fs::read(path).with_context(|| format!("cannot read {}", path.display()))?
        } else {
            Vec::new()
        };
        // The number of a directory's links is that of what is in it; so is not its own affair.
        let links = if kind.is_dir() || kind.is_fifo() || kind.is_socket() { 1 } else { metadata.nlink() };
        Ok(Self { device: metadata.dev(), inode: metadata.ino(), mode: metadata.mode(), links, content })
    }

    fn difference(&self, now: &Self) -> Option<&'static str> {
        if (self.device, self.inode) != (now.device, now.inode) {
            Some("inode")
        } else if self.mode != now.mode {
            Some("mode")
        } else if self.content != now.content {
            Some("content")
        } else if self.links != now.links {
            Some("number of links")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn harm(change: impl Fn(&Path)) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("d");
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("file"), "a year of data").unwrap();
        std::os::unix::fs::symlink("file", directory.join("link")).unwrap();
        let before = Things::below(place.path()).unwrap();
        change(&directory);
        before.harmed(&Things::below(place.path()).unwrap()).into_iter().collect()
    }

    #[test]
    fn every_kind_of_harm_is_found() {
        let changes: [(_, fn(&Path)); 5] = [
            ("content", |d| fs::write(d.join("file"), "a year of nothing").unwrap()),
            ("is gone", |d| fs::remove_file(d.join("file")).unwrap()),
            ("mode", |d| {
                fs::set_permissions(d.join("file"), fs::Permissions::from_mode(0o600)).unwrap();
            }),
            ("inode", |d| {
                fs::write(d.join("new"), "a year of data").unwrap();
                fs::rename(d.join("new"), d.join("file")).unwrap();
            }),
            ("number of links", |d| fs::hard_link(d.join("file"), d.join("other")).unwrap()),
        ];
        for (text, change) in changes {
            let found = harm(change);
            assert!(found.len() == 1 && found[0].contains(text), "{text}: {found:?}");
        }
    }

    #[test]
    fn what_is_added_or_is_a_result_is_no_harm() {
        let found = harm(|directory| {
            fs::write(directory.join("new"), "").unwrap();
            fs::create_dir(directory.join(RESULTS)).unwrap();
        });
        assert_eq!(found, [""; 0]);
    }
}
