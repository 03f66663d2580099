//! The shared memory that a killed PostgreSQL leaves in `/dev/shm`. A server lists its segments in one of them, so that all are found once no
//! process maps them any more. A server that starts on the same data reads the same list (`dsm_cleanup_using_control_segment`).

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;

use ownership::{Directory, Identity};

use crate::Place;

/// What a segment of PostgreSQL is called, before its number.
const NAME: &str = "PostgreSQL.";
/// The head of the list (`dsm.c`, `dsm_control_header`): a number that says what it is, the items in use, the items that there is room for.
const MAGIC: u32 = 0x9a50_3d32;
const HEAD_BYTES: usize = 16;
/// A list is of some kilobytes for each hundred connections; nothing larger is one.
const LIST_BYTES_MAX: u64 = 64 << 20;

/// Removes files of shared memory that were those of a server whose processes have ended, and the ones that they list.
pub(crate) fn remove_left(files: &[Place]) {
    for file in files {
        let Ok((directory, name)) = Directory::of(&file.path) else { continue };
        let Ok(Some(seen)) = directory.look(&name) else { continue };
        if !seen.is_regular() || (seen.device(), seen.inode()) != (file.device, file.inode) {
            continue;
        }
        if name.to_string_lossy().starts_with(NAME) {
            remove_listed(&directory, &name, &seen, mapped);
        }
        // It may be gone by now.
        let _ = directory.remove(&name, &seen);
    }
}

/// Removes the segments that a list names, if the file is a list. A segment stays if it belongs to another user than the list, or if a
/// process maps it: another server may have reused the name since the owner of the list was killed.
fn remove_listed(
    directory: &Directory,
    name: &OsStr,
    list: &Identity,
    mapped: impl FnOnce() -> BTreeSet<(u64, u64)>,
) {
    let mut bytes = Vec::new();
    let read = directory.open_file(name).and_then(|file| file.take(LIST_BYTES_MAX).read_to_end(&mut bytes));
    let names = if read.is_ok() { listed(&bytes) } else { Vec::new() };
    if names.is_empty() {
        return;
    }
    let mapped = mapped();
    for name in names {
        let Ok(Some(seen)) = directory.look(&name) else { continue };
        let is_unused = !mapped.contains(&(seen.device(), seen.inode()));
        if seen.is_regular() && seen.has_owner_of(list) && is_unused {
            let _ = directory.remove(&name, &seen);
        }
    }
}

/// Device and inode of each segment that a process maps. The maps of another user's processes cannot be read, but a segment of that user
/// is not removed either.
fn mapped() -> BTreeSet<(u64, u64)> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let maps = processes.filter_map(|process| std::fs::read(process.path().join("maps")).ok());
    maps.flat_map(|maps| mapped_in(&String::from_utf8_lossy(&maps))).collect()
}

/// The same of one process. A line is `ADDRESSES RIGHTS OFFSET MAJOR:MINOR INODE PATH` (`proc_pid_maps(5)`).
fn mapped_in(maps: &str) -> Vec<(u64, u64)> {
    let segment = |line: &str| {
        let mut fields = line.split_ascii_whitespace().skip(3);
        let (device, inode, path) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?);
        let (major, minor) = device.split_once(':')?;
        let number = |digits| u32::from_str_radix(digits, 16).ok();
        let device = rustix::fs::makedev(number(major)?, number(minor)?);
        path.rsplit('/').next()?.starts_with(NAME).then_some((device, inode))
    };
    maps.lines().filter_map(segment).collect()
}

/// The names of the segments in a list; none if it is none. An item is as long as the file has room for: its length is not the same in all
/// versions, and it always begins with the number of the segment and the count of its users, which is 0 if the item is free.
fn listed(bytes: &[u8]) -> Vec<OsString> {
    let number = |at: usize| {
        let four = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(four))
    };
    let (Some(MAGIC), Some(used), Some(room)) = (number(0), number(4), number(8)) else { return Vec::new() };
    let item_bytes = bytes.len().saturating_sub(HEAD_BYTES).checked_div(room as usize).unwrap_or(0);
    if item_bytes < 8 || used > room {
        return Vec::new();
    }
    let item = |index: usize| {
        let at = HEAD_BYTES + index * item_bytes;
        let (handle, users) = (number(at)?, number(at + 4)?);
        (users > 0).then(|| OsString::from(format!("{NAME}{handle}")))
    };
    (0..used as usize).filter_map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list with room for four items, of 40 bytes as since PostgreSQL 14.
    fn list(items: &[(u32, u32)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [MAGIC, items.len() as u32, 4, 0] {
            bytes.extend(number.to_ne_bytes());
        }
        for (handle, users) in items {
            bytes.extend(handle.to_ne_bytes());
            bytes.extend(users.to_ne_bytes());
            bytes.extend([0; 32]);
        }
        bytes.resize(HEAD_BYTES + 4 * 40, 0);
        bytes
    }

    #[test]
    fn a_list_names_the_segments_in_use() {
        assert_eq!(
            listed(&list(&[(7, 2), (8, 0), (4_000_000_000, 1)])),
            ["PostgreSQL.7", "PostgreSQL.4000000000"]
        );
        assert_eq!(listed(&list(&[])), [""; 0]);
        let mut other = list(&[(7, 2)]);
        other[0] ^= 1;
        assert_eq!(listed(&other), [""; 0], "another file");
        assert_eq!(listed(&list(&[(7, 2)])[..20]), [""; 0], "cut");
        assert_eq!(listed(&[]), [""; 0]);
    }

    #[test]
    fn maps_name_the_segments_that_are_in_use() {
        let maps = "55d0-55d8 r--p 00000000 fe:00 131 /usr/lib/postgresql/15/bin/postgres\n\
                    7f01-7f02 rw-s 00000000 00:1a 4711 /dev/shm/PostgreSQL.1804289383\n\
                    7f03-7f04 rw-s 00000000 00:1a 4712 /dev/shm/PostgreSQL.7 (deleted)\n\
                    7f05-7f06 rw-p 00000000 00:00 0 \n\
                    7f07-7f08 rw-s 00000000 00:1a 4713 /dev/shm/other";
        let device = rustix::fs::makedev(0, 0x1a);
        assert_eq!(mapped_in(maps), [(device, 4711), (device, 4712)]);
    }

    /// Another server reused the name of a segment of the dead one.
    #[test]
    fn a_listed_segment_that_a_process_maps_stays() {
        let place = tempfile::tempdir().unwrap();
        for (name, bytes) in
            [("PostgreSQL.1", list(&[(2, 1), (3, 1)])), ("PostgreSQL.2", vec![0]), ("PostgreSQL.3", vec![0])]
        {
            std::fs::write(place.path().join(name), bytes).unwrap();
        }
        let directory = Directory::open(place.path()).unwrap();
        let look = |name: &str| directory.look(OsStr::new(name)).unwrap();
        let mapped = look("PostgreSQL.2").map(|seen| (seen.device(), seen.inode()));
        let name = OsStr::new("PostgreSQL.1");
        remove_listed(&directory, name, &look("PostgreSQL.1").unwrap(), || mapped.into_iter().collect());
        assert!(look("PostgreSQL.2").is_some() && look("PostgreSQL.3").is_none());
    }

    /// A prony was killed with its server, and a megabyte of shared memory stayed that nobody knew.
    #[test]
    fn what_a_known_list_lists_is_removed_with_it_and_nothing_else() {
        use std::os::unix::fs::MetadataExt as _;
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = place.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let seen = std::fs::metadata(&path).unwrap();
            Place { path, device: seen.dev(), inode: seen.ino() }
        };
        let known = file("PostgreSQL.1", &list(&[(2, 2), (3, 1)]));
        file("PostgreSQL.2", b"x");
        file("PostgreSQL.9", b"another server's");
        let taken = file("PostgreSQL.4", b"another one took the name");
        remove_left(&[known, Place { inode: taken.inode + 1, ..taken }]);
        let mut left: Vec<_> =
            std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["PostgreSQL.4", "PostgreSQL.9"]);
    }
}
