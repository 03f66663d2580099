//! The other end of a journal on another host: keeps the promises of one run in a file, durably, and says how many it keeps.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::journal::{self, JournalError, JournalFile, Plan};
use super::remote::{GREETING, PATIENCE, PROMISE_BYTES, REFUSAL_MAX};

/// Promises that are taken together before they are made durable once.
const TOGETHER: usize = 64;
/// How often it is looked whether this is to end.
const LOOK_UP: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// Most bytes of a journal as it begins: its plan and the sectors of as many threads as a plan of that length can have.
const CONTENT_MAX: u64 = 64 << 20;

/// A server of one journal.
#[derive(Debug)]
pub struct JournalServer {
    listener: TcpListener,
    address: SocketAddr,
}

/// How the journal of a run came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServedJournal {
    /// The signal came before any run did.
    NoRun,
    /// A run's promises are in the file; so many, and why no more came.
    Run {
        /// Promises that are kept.
        promises: u64,
        /// Why it ended.
        end: String,
    },
}

impl JournalServer {
    /// Listens at an address, such as `0.0.0.0:7645`.
    ///
    /// # Errors
    /// When it cannot.
    pub fn bind(address: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Keeps the journal of the first run that comes in a new file, until that run ends, its connection is lost, or `stop`. What comes
    /// before and is no run, or one that cannot be kept, is refused and told.
    ///
    /// # Errors
    /// When nothing more can be taken, or the journal cannot be written.
    pub fn serve(
        self,
        file: &Path,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(String),
    ) -> Result<ServedJournal, JournalError> {
        let failed = |error: io::Error| JournalError::Io { path: file.display().to_string(), error };
        loop {
            if !ready(&self.listener, stop).map_err(failed)? {
                return Ok(ServedJournal::NoRun);
            }
            let (stream, from) = self.listener.accept().map_err(failed)?;
            match begun(&stream, file) {
                Ok(files) => {
                    // One journal is of one run: nobody else is let in, from before the run hears that it was.
                    drop(self.listener);
                    tell(format!("{from} connected and writes its journal here"));
                    if let Err(error) = answer(&stream, "") {
                        return Ok(ServedJournal::Run { promises: 0, end: lost(&error) });
                    }
                    return kept(&stream, files, stop).map_err(failed);
                }
                Err(why) => tell(format!("{from} was refused: {why}")),
            }
        }
    }
}

/// Whether something can be taken or read; false once `stop` is set.
fn ready(of: &impl std::os::fd::AsFd, stop: &AtomicBool) -> io::Result<bool> {
    while !stop.load(Ordering::Relaxed) {
        let mut watched = [PollFd::new(of, PollFlags::IN)];
        match poll(&mut watched, Some(&LOOK_UP)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

/// Takes the journal as it begins and makes the file; the sectors of each thread. A run whose journal cannot be kept is told why.
fn begun(stream: &TcpStream, file: &Path) -> Result<Vec<JournalFile>, String> {
    let plan = taken(stream).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("no data for {} s", PATIENCE.as_secs())
        }
        _ => error.to_string(),
    })?;
    made(file, &plan).map_err(|error| {
        let why = error.to_string();
        let told: String = why.chars().take(REFUSAL_MAX / 4).collect();
        match answer(stream, &told) {
            Ok(()) => why,
            Err(error) => format!("{why} (the reason could not be sent: {error})"),
        }
    })
}

/// Makes the file of a journal and opens the sectors of each thread.
fn made(file: &Path, plan: &Plan) -> Result<Vec<JournalFile>, JournalError> {
    journal::create(file, plan)?;
    let threads = 0..plan.threads.len() as u32;
    let opened: io::Result<Vec<_>> = threads.map(|thread| JournalFile::open(file, plan, thread)).collect();
    opened.map_err(|error| JournalError::Io { path: file.display().to_string(), error })
}

/// Says why a journal is not kept, or with no words that it is.
fn answer(mut stream: &TcpStream, why: &str) -> io::Result<()> {
    stream.write_all(&(why.len() as u64).to_le_bytes())?;
    stream.write_all(why.as_bytes())
}

/// Reads what a run says first.
fn taken(mut stream: &TcpStream) -> io::Result<Plan> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut head = [0; 16];
    stream.read_exact(&mut head)?;
    let mut length = [0; 8];
    length.copy_from_slice(&head[8..]);
    let length = u64::from_le_bytes(length);
    if head[..8] != GREETING || length > CONTENT_MAX {
        return Err(io::Error::other("the client is not a prony verify of this version"));
    }
    // As much as comes, and no room for what only was said to come.
    let mut content = Vec::new();
    stream.take(length).read_to_end(&mut content)?;
    journal::planned(&content).map_err(|why| io::Error::other(format!("invalid journal: {why}")))
}

/// Keeps promises until no more come.
fn kept(mut stream: &TcpStream, mut files: Vec<JournalFile>, stop: &AtomicBool) -> io::Result<ServedJournal> {
    let mut promises = 0;
    let mut last = Last::new();
    let mut buffer = vec![0; TOGETHER * PROMISE_BYTES];
    let mut have = 0;
    let end = loop {
        if !ready(&stream, stop)? {
            break "stopped by the user".to_owned();
        }
        match stream.read(&mut buffer[have..]) {
            Ok(0) => break "the run closed its connection".to_owned(),
            Ok(bytes) => have += bytes,
            Err(error) => break lost(&error),
        }
        let whole = have / PROMISE_BYTES;
        if let Err(why) = keep(&buffer[..whole * PROMISE_BYTES], &mut files, &mut last)? {
            break format!("invalid data ({why})");
        }
        promises += whole as u64;
        buffer.copy_within(whole * PROMISE_BYTES..have, 0);
        have -= whole * PROMISE_BYTES;
        if let Err(error) = stream.write_all(&u64::to_le_bytes(promises)) {
            break lost(&error);
        }
    };
    Ok(ServedJournal::Run { promises, end })
}

fn lost(error: &io::Error) -> String {
    format!("the connection was lost ({error})")
}

/// The last promise of each thread and kind.
type Last = std::collections::BTreeMap<(u32, u32), u64>;

/// Makes promises durable, of each thread and kind only the last of those that came together. The inner error says what is none.
fn keep(promises: &[u8], files: &mut [JournalFile], last: &mut Last) -> io::Result<Result<(), &'static str>> {
    let mut news = Last::new();
    for promise in promises.chunks_exact(PROMISE_BYTES) {
        let word =
            |at: usize| u32::from_le_bytes([promise[at], promise[at + 1], promise[at + 2], promise[at + 3]]);
        let number = u64::from(word(8)) | u64::from(word(12)) << 32;
        let (thread, pair) = (word(0), word(4));
        if thread as usize >= files.len() || pair > 1 {
            return Ok(Err("unknown thread"));
        }
        if last.insert((thread, pair), number).is_some_and(|before| before > number) {
            return Ok(Err("number decreases"));
        }
        news.insert((thread, pair), number);
    }
    for ((thread, pair), number) in news {
        files[thread as usize].put(pair as usize, number)?;
    }
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::{Arc, Mutex};
    use std::thread::JoinHandle;

    use super::*;
    use crate::settings::VerifyProfile;
    use crate::verify::journal::{Journal, PlannedPart, Promised};
    use crate::verify::remote::{JournalAway, Wire};
    use crate::verify::stream::PartShape;

    fn plan(threads: u64) -> Plan {
        let shape = PartShape { pages: 100, elastic: false };
        let part = |first| vec![PlannedPart { file: 0, begin: 4096, first, shape }];
        Plan {
            run: "7".to_owned(),
            page_bytes: 8192,
            profile: VerifyProfile::Log,
            flush_every: Some(64),
            writes_through: false,
            seed: 3,
            files: vec![PathBuf::from("/data/file")],
            threads: (0..threads).map(|thread| part(100 * thread)).collect(),
        }
    }

    type Served = JoinHandle<(Result<ServedJournal, JournalError>, Vec<String>)>;

    fn serving(file: PathBuf) -> (String, Served) {
        let server = JournalServer::bind("127.0.0.1:0").unwrap();
        let address = server.address().to_string();
        let serve = move || {
            let mut told = Vec::new();
            let served = server.serve(&file, &AtomicBool::new(false), &mut |line| told.push(line));
            (served, told)
        };
        (address, std::thread::spawn(serve))
    }

    fn wire(address: &str, threads: u64) -> Arc<Mutex<Wire>> {
        Arc::new(Mutex::new(Wire::connect(address, &plan(threads)).unwrap()))
    }

    #[test]
    fn what_threads_promise_stands_in_the_file() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("kept");
        let (address, served) = serving(file.clone());
        let wire = wire(&address, 3);
        let (mut first, mut last) = (JournalAway::new(&wire, 0), JournalAway::new(&wire, 2));
        for number in 1..=1_000 {
            last.reserve(number * 10).unwrap();
            // A reservation that was answered is there, whatever comes then.
            if number % 100 == 0 {
                assert_eq!(journal::read(&file).unwrap().1[2].reserved, Some(number * 10));
            }
            last.durable(number).unwrap();
        }
        first.reserve(5).unwrap();
        drop((first, last, wire));
        let (ended, _) = served.join().unwrap();
        let end = "the run closed its connection".to_owned();
        assert_eq!(ended.unwrap(), ServedJournal::Run { promises: 2_001, end });
        let promised = |reserved, durable| Promised { reserved, durable };
        let expected = vec![promised(Some(5), 0), promised(None, 0), promised(Some(10_000), 1_000)];
        assert_eq!(journal::read(&file).unwrap(), (plan(3), expected));
    }

    #[test]
    fn what_is_no_promise_ends_the_journal_and_the_run_hears_of_it() {
        for (thread, number) in [(5, 9), (0, 1)] {
            let place = tempfile::tempdir().unwrap();
            let (address, served) = serving(place.path().join("kept"));
            let wire = wire(&address, 1);
            let mut honest = JournalAway::new(&wire, 0);
            honest.reserve(2).unwrap();
            assert!(JournalAway::new(&wire, thread).reserve(number).is_err());
            let failed = honest.reserve(3).unwrap_err().to_string();
            assert!(failed.starts_with(&format!("journal at {address}: ")), "{failed}");
            assert_eq!(honest.durable(4).unwrap_err().to_string(), failed, "and it stays so");
            let (ended, _) = served.join().unwrap();
            let ServedJournal::Run { promises: 1, end } = ended.unwrap() else { panic!("one was kept") };
            assert!(end.starts_with("invalid data"), "{end}");
        }
    }

    #[test]
    fn only_a_run_is_let_in_and_only_one() {
        let place = tempfile::tempdir().unwrap();
        let (address, served) = serving(place.path().join("kept"));
        for strange in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            b"pronyvj1\xff\xff\xff\xff\xff\xff\xff\xff",
            b"pronyvj1\x03\0\0\0\0\0\0\0abc",
            b"",
        ] {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.write_all(strange).unwrap();
        }
        let wire = wire(&address, 1);
        assert!(TcpStream::connect(&address).is_err(), "nobody else is let in");
        drop(wire);
        let (ended, told) = served.join().unwrap();
        assert!(matches!(ended.unwrap(), ServedJournal::Run { promises: 0, .. }));
        assert_eq!(told.iter().filter(|line| line.contains("was refused")).count(), 4, "{told:#?}");
        let again = serving(place.path().join("kept"));
        let refused = Wire::connect(&again.0, &plan(1)).unwrap_err().to_string();
        assert!(refused.contains("already exists"), "{refused}");
    }
}
