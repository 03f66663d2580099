//! Loop devices: set up over our files, and known by what they stand on and not by their names.

use serde::{Deserialize, Serialize};

use super::LabError;
use super::programs::LOSETUP;
use crate::Device;

/// A file by more than its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Inode {
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// A loop device that is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    /// `/dev/loop3`.
    pub(super) node: String,
    /// Its numbers.
    pub(super) device: Device,
    /// What it stands on.
    pub(super) on: Inode,
    /// Whether it passes the memory of the file by.
    pub(super) is_direct: bool,
}

/// Major number of loop devices (Linux' admin-guide/devices.txt).
const LOOP_MAJOR: u32 = 7;

/// All loop devices of this machine that stand on one of these files.
pub(super) fn on(files: &[Inode]) -> Result<Vec<Loop>, LabError> {
    let columns = "NAME,BACK-INO,BACK-MAJ:MIN,DIO";
    let text = LOSETUP.run(&["--list", "--json", "--output", columns])?;
    let mut all =
        listed(&text).map_err(|why| LabError::Failed { program: "losetup --list".to_owned(), said: why })?;
    all.retain(|one| files.contains(&one.on));
    all.sort_by_key(|one| files.iter().position(|file| *file == one.on));
    Ok(all)
}

/// What `losetup --json` says. Nothing at all is said where there are none.
fn listed(text: &str) -> Result<Vec<Loop>, String> {
    #[derive(Deserialize)]
    struct List {
        loopdevices: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        name: String,
        #[serde(rename = "back-ino")]
        inode: Option<serde_json::Value>,
        #[serde(rename = "back-maj:min")]
        device: Option<String>,
        dio: Option<serde_json::Value>,
    }
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let list: List =
        serde_json::from_str(text).map_err(|error| format!("its answer cannot be read: {error}"))?;
    let read = |entry: &Entry| {
        // Older versions write numbers and truth as texts.
        let plain = |value: &serde_json::Value| value.to_string().trim_matches('"').trim().to_owned();
        let (major, minor) = entry.device.as_deref()?.trim().split_once(':')?;
        let on = Inode {
            device: rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?),
            inode: plain(entry.inode.as_ref()?).parse().ok()?,
        };
        let minor = entry.name.strip_prefix("/dev/loop")?.parse().ok()?;
        let is_direct = entry.dio.as_ref().is_some_and(|dio| matches!(plain(dio).as_str(), "true" | "1"));
        Some(Loop { node: entry.name.clone(), device: Device { major: LOOP_MAJOR, minor }, on, is_direct })
    };
    Ok(list.loopdevices.iter().filter_map(read).collect())
}

/// Sets one up over a file.
pub(super) fn attach(file: &str, sector_bytes: u64) -> Result<(), LabError> {
    let sector = sector_bytes.to_string();
    let words = ["--find", "--direct-io=on", "--sector-size", &sector, file];
    LOSETUP.run(&words).map(drop).map_err(|error| match error {
        LabError::Failed { said, .. } if said.contains("cannot find an unused loop device") => {
            LabError::NoLoop { why: said }
        }
        other => other,
    })
}

/// Takes one away from its file; one that is in use is taken away when that ends.
pub(super) fn detach(node: &str) -> Result<(), LabError> {
    LOSETUP.run(&["--detach", node]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loop_devices_are_known_by_what_they_stand_on() {
        let text = r#"{"loopdevices": [
            {"name": "/dev/loop1", "back-ino": 1048867, "back-maj:min": "     254:0  ", "dio": false},
            {"name": "/dev/loop12", "back-ino": "7", "back-maj:min": "8:17", "dio": "1"},
            {"name": "/dev/loop2", "back-ino": null, "back-maj:min": null, "dio": null}]}"#;
        let found = listed(text).unwrap();
        let expected = |node: &str, minor, (major, of, inode), is_direct| Loop {
            node: node.to_owned(),
            device: Device { major: 7, minor },
            on: Inode { device: rustix::fs::makedev(major, of), inode },
            is_direct,
        };
        assert_eq!(
            found,
            [
                expected("/dev/loop1", 1, (254, 0, 1_048_867), false),
                expected("/dev/loop12", 12, (8, 17, 7), true)
            ]
        );
        assert_eq!(listed("\n").unwrap(), []);
        assert!(listed("{").unwrap_err().starts_with("its answer cannot be read"));
    }
}
