//! What the kernel tells of a process in files that are each written whole at one read: <https://man7.org/linux/man-pages/man5/proc.5.html>.
//!
//! A server can have a thousand processes, of which several such files are read each second while it is measured: so each is opened, read
//! once and closed, and of those that tell the same the shortest is read.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Longer than any of these files.
const ROOM: usize = 4096;

/// The text of a file that is one record of the kernel's.
pub(crate) fn record(path: &Path) -> Option<String> {
    let mut room = [0; ROOM];
    let length = File::open(path).and_then(|mut file| file.read(&mut room)).ok()?;
    // One that fills the room may go on.
    (length < ROOM).then(|| String::from_utf8_lossy(&room[..length]).into_owned())
}

/// What a process has used, by its `stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// User and system time, in ticks.
    pub(crate) ticks: u64,
    /// Those of its ended children.
    pub(crate) ended_ticks: u64,
    pub(crate) threads: u64,
}

impl Stat {
    pub(crate) fn of(proc: &Path, pid: u32) -> Option<Self> {
        let text = record(&of(proc, pid, "stat"))?;
        // The name, in brackets, may have anything in it.
        let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
        let sum = |one: usize, other: usize| Some(number(one)? + number(other)?);
        Some(Self { ticks: sum(11, 12)?, ended_ticks: sum(13, 14)?, threads: number(17)? })
    }
}

/// What a process moved to and from storage, and its ended children did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Bytes read from storage.
    pub(crate) read_bytes: u64,
    /// Bytes of memory that are to be written to storage because of it. Of a file in the page cache the kernel counts a whole folio for
    /// a part of it: 295 MB/s of a PostgreSQL that wrote 10.
    pub(crate) dirtied_bytes: u64,
    /// The most bytes that its writes can have changed in whole pages; none of what asks the kernel for writes by a ring is in it.
    pub(crate) called_bytes: u64,
}

impl Moved {
    pub(crate) fn of(proc: &Path, pid: u32) -> Option<Self> {
        let text = record(&of(proc, pid, "io"))?;
        let number = |name: &str| -> Option<u64> {
            text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
        };
        let pages = number("syscw:")?.saturating_mul(rustix::param::page_size() as u64);
        Some(Self {
            read_bytes: number("read_bytes:")?,
            dirtied_bytes: number("write_bytes:")?,
            called_bytes: number("wchar:")?.saturating_add(pages),
        })
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            read_bytes: self.read_bytes + other.read_bytes,
            dirtied_bytes: self.dirtied_bytes + other.dirtied_bytes,
            called_bytes: self.called_bytes + other.called_bytes,
        }
    }

    /// What was moved since an earlier reading.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            dirtied_bytes: self.dirtied_bytes.saturating_sub(before.dirtied_bytes),
            called_bytes: self.called_bytes.saturating_sub(before.called_bytes),
        }
    }
}

/// Memory of a process alone, and what it maps of files and shares with others, in bytes.
pub(crate) fn memory(proc: &Path, pid: u32) -> Option<(u64, u64)> {
    let text = record(&of(proc, pid, "statm"))?;
    let mut pages = text.split_ascii_whitespace().skip(1).map_while(|field| field.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    let page_bytes = rustix::param::page_size() as u64;
    // One that has ended has none, and waits only to be told so.
    (resident > 0).then(|| (resident.saturating_sub(shared) * page_bytes, shared * page_bytes))
}

fn of(proc: &Path, pid: u32, file: &str) -> PathBuf {
    proc.join(format!("{pid}/{file}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_may_go_on_is_none() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "1 ".repeat(ROOM / 2 - 1)).unwrap();
        assert_eq!(record(file.path()).unwrap().len(), ROOM - 2);
        std::fs::write(file.path(), "1 ".repeat(ROOM / 2)).unwrap();
        assert_eq!(record(file.path()), None);
        assert_eq!(record(Path::new("/nowhere")), None);
    }

    /// What this process is told in few words is what it is told in many.
    #[test]
    fn this_process_is_told_alike_by_both_of_its_files() {
        let (proc, own) = (Path::new("/proc"), std::process::id());
        let status = std::fs::read_to_string(of(proc, own, "status")).unwrap();
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() as f64
        };
        let (alone, shared) = memory(proc, own).unwrap();
        let near = |bytes: u64, kib: f64| (bytes as f64 / 1024.0 - kib).abs() < 0.2 * kib + 4096.0;
        assert!(near(alone, kib("RssAnon:")), "{alone}: {status}");
        assert!(near(shared, kib("RssFile:") + kib("RssShmem:")), "{shared}: {status}");
        let stat = std::thread::spawn(move || Stat::of(proc, own)).join().unwrap();
        assert!(stat.unwrap().threads >= 2, "it was read by a second one");
        assert!(Moved::of(proc, own).is_some());
    }
}
