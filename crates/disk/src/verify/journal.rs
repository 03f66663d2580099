//! What was promised, kept apart from what is verified: how far a thread may have written, and how far it is durable.
//!
//! A journal is one file on another device. It begins with the plan of the run, from which every write can be made again; each
//! thread has four sectors behind it, two for what it may write and two for what is durable, which are written in turn, so that
//! one that was being written at a crash leaves the other.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use ownership::Directory;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::remote::JournalAway;
use super::stream::{PartShape, Shape};
use crate::settings::VerifyProfile;

/// Where a thread's promises go. Both are called with the numbers of writes, in rising order.
pub(crate) trait Journal {
    /// Makes known durably, before any of them is sent, that writes up to this number may be.
    ///
    /// # Errors
    /// When it cannot be made durable.
    fn reserve(&mut self, up_to: u64) -> io::Result<()>;

    /// Tells that all writes up to this number are durable, after the flush that made them so was answered.
    ///
    /// # Errors
    /// When it cannot be written.
    fn durable(&mut self, up_to: u64) -> io::Result<()>;
}

/// No journal: nothing is asked of what outlives a crash.
impl Journal for () {
    fn reserve(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn durable(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }
}

impl<J: Journal> Journal for Option<J> {
    fn reserve(&mut self, up_to: u64) -> io::Result<()> {
        self.as_mut().map_or(Ok(()), |journal| journal.reserve(up_to))
    }

    fn durable(&mut self, up_to: u64) -> io::Result<()> {
        self.as_mut().map_or(Ok(()), |journal| journal.durable(up_to))
    }
}

/// What a run was to write: all that is needed to make its writes again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// In hexadecimal digits: JSON's numbers are shorter.
    pub(crate) run: String,
    pub(crate) page_bytes: u32,
    pub(crate) profile: VerifyProfile,
    pub(crate) flush_every: Option<u64>,
    pub(crate) writes_through: bool,
    pub(crate) seed: u64,
    pub(crate) files: Vec<PathBuf>,
    /// Of each thread.
    pub(crate) threads: Vec<Vec<PlannedPart>>,
}

/// A thread's part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedPart {
    /// Index into the files.
    pub(crate) file: u32,
    pub(crate) begin: u64,
    pub(crate) first: u64,
    pub(crate) shape: PartShape,
}

impl Plan {
    pub(crate) fn shape(&self) -> Shape {
        Shape::of(self.profile, u64::from(self.page_bytes), self.flush_every, self.writes_through)
    }

    pub(crate) fn run(&self) -> Option<u128> {
        u128::from_str_radix(&self.run, 16).ok()
    }
}

/// How far a thread came, as its journal has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Promised {
    /// Writes that may have been sent; none if nothing was: its pages may not even be laid out.
    pub(crate) reserved: Option<u64>,
    /// Writes that are durable.
    pub(crate) durable: u64,
}

const FIRST_LINE: &str = "prony verify journal, version 1";
const SECTOR: usize = 512;
const HEAD_BYTES: usize = 512;
const SLOTS: u64 = 4;
/// Longest plan that is read: one of a thousand threads with files of long names.
const PLAN_BYTES_MAX: usize = 16 << 20;

/// A journal that cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system said so.
    #[error("{path}: {error}")]
    Io {
        /// The journal.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The host that is to keep it does not.
    #[error("{host}: {why}")]
    Refused {
        /// The host.
        host: String,
        /// What it says.
        why: String,
    },
    /// There is a file of that name.
    #[error(
        "{0} already exists. Check it with {after}, or give another file: each run needs its own journal",
        after = crate::parameter("after_crash").of(true)
    )]
    Exists(String),
    /// It is none, or is damaged.
    #[error(
        "{path} is damaged or not a journal of prony verify ({why}). Without the journal, that run cannot \
         be checked"
    )]
    Damaged {
        /// The journal.
        path: String,
        /// What is wrong.
        why: &'static str,
    },
}

/// Makes a journal. It is durable, with its name, when this returns.
pub(crate) fn create(path: &Path, plan: &Plan) -> Result<(), JournalError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => JournalError::Exists(path.display().to_string()),
        _ => JournalError::Io { path: path.display().to_string(), error },
    };
    let content = whole(plan).map_err(failed)?;
    let (directory, name) = Directory::of(path).map_err(failed)?;
    let (file, made) = directory.create_new(&name).map_err(failed)?;
    let written =
        write_all(&file, &content, 0).and_then(|()| file.sync_all()).and_then(|()| directory.sync());
    written.map_err(|error| {
        // One that is not whole is of no use, and would stand in the way of the next run's.
        let _ = made.remove();
        failed(error)
    })
}

/// A journal as it begins, with nothing promised.
pub(super) fn whole(plan: &Plan) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(plan)?;
    let head =
        format!("{FIRST_LINE}\nplan_bytes {}\nplan_crc {:016x}\n", text.len(), crc_fast::crc64_nvme(&text));
    let mut content = head.into_bytes();
    content.resize(HEAD_BYTES, b'\n');
    content.extend_from_slice(&text);
    content.resize(content.len().next_multiple_of(SECTOR), b'\n');
    content.resize(content.len() + plan.threads.len() * SLOTS as usize * SECTOR, 0);
    Ok(content)
}

/// The plan of a journal that another host made.
pub(super) fn planned(content: &[u8]) -> Result<Plan, &'static str> {
    parse(content).map(|(plan, _)| plan)
}

fn write_all(file: &File, content: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, content, at)
}

/// Where the sectors of the first thread begin.
fn slots_at(plan_bytes: usize) -> u64 {
    (HEAD_BYTES + plan_bytes).next_multiple_of(SECTOR) as u64
}

/// Reads a journal: what was planned, and how far each thread came.
pub(crate) fn read(path: &Path) -> Result<(Plan, Vec<Promised>), JournalError> {
    let content =
        ownership_read(path).map_err(|error| JournalError::Io { path: path.display().to_string(), error })?;
    parse(&content).map_err(|why| JournalError::Damaged { path: path.display().to_string(), why })
}

fn ownership_read(path: &Path) -> io::Result<Vec<u8>> {
    let (directory, name) = Directory::of(path)?;
    directory.read(&name)
}

fn parse(content: &[u8]) -> Result<(Plan, Vec<Promised>), &'static str> {
    let head = content.get(..HEAD_BYTES).ok_or("it is too short")?;
    let head = std::str::from_utf8(head).map_err(|_| "its header is not text")?;
    let mut lines = head.lines();
    if lines.next() != Some(FIRST_LINE) {
        return Err("its first line is wrong");
    }
    let number =
        |line: Option<&str>, name: &str| line.and_then(|line| line.strip_prefix(name)).map(str::to_owned);
    let bytes = number(lines.next(), "plan_bytes ").and_then(|digits| digits.parse::<usize>().ok());
    let crc = number(lines.next(), "plan_crc ").and_then(|digits| u64::from_str_radix(&digits, 16).ok());
    let (bytes, crc) =
        bytes.zip(crc).filter(|(bytes, _)| *bytes <= PLAN_BYTES_MAX).ok_or("its header is damaged")?;
    let text = content.get(HEAD_BYTES..HEAD_BYTES + bytes).ok_or("it is truncated")?;
    if crc_fast::crc64_nvme(text) != crc {
        return Err("its plan is damaged");
    }
    let plan: Plan = serde_json::from_slice(text).map_err(|_| "its plan is of another version")?;
    let run = plan.run().ok_or("its plan has no run")?;
    let threads = 0..plan.threads.len() as u64;
    let promised = threads
        .map(|thread| promised(content, slots_at(bytes) + thread * SLOTS * SECTOR as u64, (run, thread)));
    let promised = promised.collect::<Result<_, _>>()?;
    Ok((plan, promised))
}

/// What the four sectors of a thread say.
fn promised(content: &[u8], at: u64, of: (u128, u64)) -> Result<Promised, &'static str> {
    let at = at as usize;
    let sectors = content.get(at..at + SLOTS as usize * SECTOR).ok_or("it is truncated")?;
    let either = |pair: &[u8]| {
        let numbers = pair.chunks_exact(SECTOR).map(|sector| number_in(sector, of));
        let is_written = |sector: &[u8]| sector.iter().any(|&byte| byte != 0);
        match numbers.max().flatten() {
            // One sector may be torn, the other was whole before it was written.
            None if pair.chunks_exact(SECTOR).all(is_written) => Err("the record of a thread is damaged"),
            number => Ok(number),
        }
    };
    let (reserved, durable) = sectors.split_at(2 * SECTOR);
    Ok(Promised { reserved: either(reserved)?, durable: either(durable)?.unwrap_or(0) })
}

const SLOT_BYTES: usize = 40;

fn slot(number: u64, (run, thread): (u128, u64)) -> [u8; SECTOR] {
    let mut sector = [0; SECTOR];
    sector[..16].copy_from_slice(&run.to_le_bytes());
    sector[16..24].copy_from_slice(&thread.to_le_bytes());
    sector[24..32].copy_from_slice(&number.to_le_bytes());
    let crc = crc_fast::crc64_nvme(&sector[..32]);
    sector[32..SLOT_BYTES].copy_from_slice(&crc.to_le_bytes());
    sector
}

/// The number in a sector, if it was written by this run's thread, and wholly.
fn number_in(sector: &[u8], of: (u128, u64)) -> Option<u64> {
    let number = u64::from_le_bytes(sector[24..32].try_into().ok()?);
    (sector[..SLOT_BYTES] == slot(number, of)[..SLOT_BYTES]).then_some(number)
}

/// The journal of one thread, wherever it is.
#[derive(Debug)]
pub(crate) enum AnyJournal {
    Here(JournalFile),
    Away(JournalAway),
}

impl Journal for AnyJournal {
    fn reserve(&mut self, up_to: u64) -> io::Result<()> {
        match self {
            Self::Here(journal) => journal.reserve(up_to),
            Self::Away(journal) => journal.reserve(up_to),
        }
    }

    fn durable(&mut self, up_to: u64) -> io::Result<()> {
        match self {
            Self::Here(journal) => journal.durable(up_to),
            Self::Away(journal) => journal.durable(up_to),
        }
    }
}

/// The journal of one thread, in a file.
#[derive(Debug)]
pub(crate) struct JournalFile {
    file: File,
    /// Where its sectors begin.
    at: u64,
    of: (u128, u64),
    turns: [u64; 2],
}

impl JournalFile {
    /// Opens the sectors of a thread in a journal that was made.
    pub(crate) fn open(path: &Path, plan: &Plan, thread: u32) -> io::Result<Self> {
        let bytes = serde_json::to_vec(plan)?.len();
        // Each of its writes is durable before it is answered.
        let flags = OFlags::WRONLY | OFlags::DSYNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let thread = u64::from(thread);
        let run = plan.run().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        Ok(Self {
            file,
            at: slots_at(bytes) + thread * SLOTS * SECTOR as u64,
            of: (run, thread),
            turns: [0; 2],
        })
    }

    /// Writes a reservation (0) or a watermark (1).
    pub(super) fn put(&mut self, pair: usize, number: u64) -> io::Result<()> {
        let sector = pair as u64 * 2 + self.turns[pair] % 2;
        self.turns[pair] += 1;
        write_all(&self.file, &slot(number, self.of), self.at + sector * SECTOR as u64)
    }
}

impl Journal for JournalFile {
    fn reserve(&mut self, up_to: u64) -> io::Result<()> {
        self.put(0, up_to)
    }

    fn durable(&mut self, up_to: u64) -> io::Result<()> {
        self.put(1, up_to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(threads: usize) -> Plan {
        let shape = PartShape { pages: 100, elastic: false };
        let part = |first| PlannedPart { file: 0, begin: 1 << 20, first, shape };
        Plan {
            run: format!("{:x}", 0xFEED_u128 << 64 | 7),
            page_bytes: 8192,
            profile: VerifyProfile::Sqliosim,
            flush_every: Some(64),
            writes_through: false,
            seed: u64::MAX,
            files: vec![PathBuf::from("/data/file")],
            threads: (0..threads as u64).map(|thread| vec![part(100 * thread)]).collect(),
        }
    }

    fn written(threads: usize) -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("journal");
        create(&path, &plan(threads)).unwrap();
        (place, path)
    }

    #[test]
    fn promises_are_read_back_by_thread() {
        let (_place, path) = written(3);
        assert_eq!(read(&path).unwrap(), (plan(3), vec![Promised::default(); 3]));
        let mut second = JournalFile::open(&path, &plan(3), 1).unwrap();
        for number in [10, 20, 30] {
            second.reserve(number * 100).unwrap();
            second.durable(number).unwrap();
        }
        let nothing = Promised::default();
        let promised = Promised { reserved: Some(3_000), durable: 30 };
        assert_eq!(read(&path).unwrap().1, [nothing, promised, nothing]);
    }

    #[test]
    fn a_torn_sector_leaves_the_promise_before() {
        let (_place, path) = written(1);
        let mut journal = JournalFile::open(&path, &plan(1), 0).unwrap();
        for number in [1_000, 2_000] {
            journal.reserve(number).unwrap();
            journal.durable(number / 10).unwrap();
        }
        let mut content = std::fs::read(&path).unwrap();
        let slots = content.len() - 4 * SECTOR;
        content[slots + SECTOR + 25] ^= 1;
        content[slots + 3 * SECTOR + 33] ^= 1;
        assert_eq!(parse(&content).unwrap().1, [Promised { reserved: Some(1_000), durable: 100 }]);
    }

    #[test]
    fn what_is_no_journal_is_said_to_be_none() {
        let (_place, path) = written(2);
        let whole = std::fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[HEAD_BYTES + 5] ^= 1;
        let mut gone = whole.clone();
        let last = gone.len() - 2 * SECTOR;
        gone[last..].fill(0x5A);
        let cases: [(&[u8], &str); 5] = [
            (&gone, "the record of a thread is damaged"),
            (b"", "it is too short"),
            (&[b'x'; 4096], "its first line is wrong"),
            (&whole[..whole.len() - 1], "it is truncated"),
            (&damaged, "its plan is damaged"),
        ];
        for (content, why) in cases {
            assert_eq!(parse(content).unwrap_err(), why);
        }
        let again = create(&path, &plan(2)).unwrap_err().to_string();
        assert!(again.contains("each run needs its own journal"), "{again}");
        let missing = read(&path.with_extension("gone")).unwrap_err().to_string();
        assert!(missing.contains("journal.gone: No such file"), "{missing}");
    }

    #[test]
    fn sectors_of_another_run_are_no_promise() {
        let of = (9 << 80, 1);
        assert_eq!(number_in(&slot(77, of), of), Some(77));
        assert_eq!(number_in(&slot(77, of), (8 << 80, 1)), None);
        assert_eq!(number_in(&slot(77, of), (9 << 80, 2)), None);
        assert_eq!(number_in(&[0; SECTOR], of), None);
    }
}
