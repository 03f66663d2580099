//! What is mounted of our devices.

use std::path::{Path, PathBuf};

use super::LabError;

/// A mount, as far as it concerns us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mounted {
    pub(super) at: PathBuf,
    pub(super) source: String,
}

/// What is mounted here.
pub(super) fn all() -> Result<Vec<Mounted>, LabError> {
    let path = Path::new("/proc/self/mountinfo");
    let text = std::fs::read_to_string(path).map_err(LabError::file("read", path))?;
    Ok(text.lines().filter_map(mounted).collect())
}

/// A line of `mountinfo` (proc(5)): the path is the fifth field, the source the second after the hyphen.
fn mounted(line: &str) -> Option<Mounted> {
    let (before, after) = line.split_once(" - ")?;
    let at = before.split(' ').nth(4)?.replace("\\040", " ");
    Some(Mounted { at: PathBuf::from(at), source: after.split(' ').nth(1)?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_read_with_its_source() {
        let line =
            "43 27 0:39 / /run/prony/lab/a\\040b rw,noatime shared:1 - btrfs /dev/loop0 rw,space_cache=v2";
        let expected = Mounted { at: PathBuf::from("/run/prony/lab/a b"), source: "/dev/loop0".to_owned() };
        assert_eq!(mounted(line), Some(expected));
        assert_eq!(mounted("none"), None);
    }
}
