//! Samples what the sessions of SQLite do during a trial, ten times a second.
//!
//! Sessions run on threads of this program. For each thread the kernel reports the current system call and its file. It does not
//! report why a thread waits for another one, nor which session an idle thread belongs to. Sessions count both themselves: how
//! many wait for the lock, and how many there are.
//!
//! If the kernel refuses the system calls, the record gets a note.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use database::SessionsAtWork;
use record::{Resources, ServerTold, doing};

use crate::sampling::Sampler;

/// Time between two samples.
const EVERY: Duration = Duration::from_millis(100);
/// Samples are added up over this time. A little less than a second, since a sample may be early.
const TOGETHER_S: f64 = 0.95;
/// Name of the threads of sessions.
const SESSION: &str = "sqlite";
/// Ending of the name of SQLite's log.
const LOG: &str = "-wal";

/// System calls by number. The numbers differ between architectures.
#[cfg(target_arch = "x86_64")]
const CALLS: [(u64, &str); 10] = [
    (0, "read"),
    (1, "write"),
    (17, "pread64"),
    (18, "pwrite64"),
    (35, "nanosleep"),
    (74, "fsync"),
    (75, "fdatasync"),
    (77, "ftruncate"),
    (202, "futex"),
    (230, "clock_nanosleep"),
];
#[cfg(not(target_arch = "x86_64"))]
const CALLS: [(u64, &str); 10] = [
    (46, "ftruncate"),
    (63, "read"),
    (64, "write"),
    (67, "pread64"),
    (68, "pwrite64"),
    (82, "fsync"),
    (83, "fdatasync"),
    (98, "futex"),
    (101, "nanosleep"),
    (115, "clock_nanosleep"),
];

/// Samples the threads of sessions.
pub(crate) struct InProcess {
    /// The kernel's directory on this process.
    own: PathBuf,
    /// Name of the first of the databases.
    name: String,
    /// Reads the counts that sessions keep.
    at_work: fn() -> SessionsAtWork,
    found: ServerTold,
    given_s: f64,
    is_refused: bool,
    notes: Vec<String>,
}

impl InProcess {
    pub(crate) fn new(name: String) -> Self {
        // Sessions that were busy before the trial do not count.
        let _before = SessionsAtWork::look();
        Self::at(PathBuf::from("/proc/self"), name, SessionsAtWork::look)
    }

    fn at(own: PathBuf, name: String, at_work: fn() -> SessionsAtWork) -> Self {
        Self {
            own,
            name,
            at_work,
            found: ServerTold::default(),
            given_s: 0.0,
            is_refused: false,
            notes: Vec::new(),
        }
    }

    fn look(&mut self) {
        let tasks = fs::read_dir(self.own.join("task")).into_iter().flatten().flatten();
        let read = |path: PathBuf| fs::read_to_string(path).ok();
        let mut working = 0;
        for task in tasks {
            let task = task.path();
            if read(task.join("comm")).is_none_or(|name| name.trim() != SESSION) {
                continue;
            }
            let Some(call) = read(task.join("syscall")) else {
                self.refuse();
                return;
            };
            if let Some(what) = what(&self.own, &call) {
                *self.found.sessions.entry(what).or_default() += 1;
                working += 1;
            }
        }
        let SessionsAtWork { active, waiting } = (self.at_work)();
        let resting = active.saturating_sub(working + waiting);
        for (what, count) in [(doing::ROW_LOCK, waiting), (doing::IDLE, resting)] {
            if count > 0 {
                *self.found.sessions.entry(what.to_owned()).or_default() += count;
            }
        }
        self.found.looks += 1;
    }

    fn refuse(&mut self) {
        if !self.is_refused {
            self.notes.push(format!(
                "Session waits of {} are unknown: this kernel does not report the system calls of threads.",
                self.name
            ));
        }
        self.is_refused = true;
    }
}

/// `fdatasync of the log`, by the text of `syscall` of proc(5): `75 0x9 …`, or `running`; none of a thread that waits for another one.
fn what(own: &Path, call: &str) -> Option<String> {
    let mut fields = call.split_ascii_whitespace();
    let Some(number) = fields.next().and_then(|number| number.parse::<u64>().ok()) else {
        return Some(doing::EXECUTING.to_owned());
    };
    let name = CALLS.iter().find(|(of, _)| *of == number).map(|(_, name)| *name);
    let what = match name {
        None => format!("system call {number}"),
        Some("futex") => return None,
        // It lets another session finish that writes.
        Some("nanosleep" | "clock_nanosleep") => doing::ROW_LOCK.to_owned(),
        Some(name) => {
            let file =
                fields.next().and_then(|file| u64::from_str_radix(file.trim_start_matches("0x"), 16).ok());
            let path = file.and_then(|file| fs::read_link(own.join(format!("fd/{file}"))).ok());
            let is_log = path.is_some_and(|path| path.to_string_lossy().ends_with(LOG));
            format!("{name} of the {}", if is_log { "log" } else { "data" })
        }
    };
    Some(what)
}

impl Sampler for InProcess {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn every(&self) -> Duration {
        EVERY
    }

    fn sample(&mut self, at_s: f64) -> Option<Resources> {
        if self.is_refused {
            return None;
        }
        self.look();
        let length_s = at_s - self.given_s;
        if length_s < TOGETHER_S {
            return None;
        }
        self.given_s = at_s;
        let found = std::mem::take(&mut self.found);
        (found.looks > 0).then(|| Resources {
            end_s: at_s,
            length_s,
            told: [(self.name.clone(), found)].into(),
            ..Resources::default()
        })
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn missing_share_told(&self) -> f64 {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Own(tempfile::TempDir);

    impl Own {
        fn new() -> Self {
            let own = Self(tempfile::tempdir().unwrap());
            fs::create_dir(own.0.path().join("fd")).unwrap();
            for (number, path) in [(9, "/data/store.db-wal"), (10, "/data/store.db")] {
                std::os::unix::fs::symlink(path, own.0.path().join(format!("fd/{number}"))).unwrap();
            }
            own
        }

        fn task(&self, number: u32, name: &str, call: &str) {
            let task = self.0.path().join(format!("task/{number}"));
            fs::create_dir_all(&task).unwrap();
            for (file, text) in [("comm", name), ("syscall", call)] {
                fs::write(task.join(file), format!("{text}\n")).unwrap();
            }
        }

        fn number(name: &str) -> u64 {
            CALLS.iter().find(|(_, of)| *of == name).unwrap().0
        }
    }

    #[test]
    fn each_thread_of_a_session_is_in_a_system_call_or_works() {
        let own = Own::new();
        let call = |name: &str, file: &str| format!("{} {file} 0x0 0x0", Own::number(name));
        own.task(1, "prony", "running");
        own.task(2, "sqlite", &call("fdatasync", "0x9"));
        own.task(3, "sqlite", &call("pread64", "0xa"));
        own.task(4, "sqlite", "running");
        own.task(5, "sqlite", &call("futex", "0x5f"));
        own.task(6, "sqlite", &call("clock_nanosleep", "0x0"));
        own.task(7, "sqlite", "900 0x0");
        // Nine sessions: five work, two wait for a lock, and two rest. How many threads have no work does not matter.
        let mut sampler = InProcess::at(own.0.path().to_owned(), "store (sqlite)".to_owned(), || {
            SessionsAtWork { active: 9, waiting: 2 }
        });
        assert_eq!(sampler.sample(0.1), None);
        let read = sampler.sample(1.0).unwrap();
        let told = &read.told["store (sqlite)"];
        let expected = [
            ("executing", 2),
            ("fdatasync of the log", 2),
            ("idle", 4),
            ("pread64 of the data", 2),
            ("row lock", 6),
            ("system call 900", 2),
        ];
        assert_eq!(told.looks, 2);
        assert_eq!(told.sessions, expected.map(|(what, count)| (what.to_owned(), count)).into());
    }

    #[test]
    fn a_kernel_that_does_not_tell_is_a_note_once() {
        let own = Own::new();
        own.task(2, "sqlite", "running");
        fs::remove_file(own.0.path().join("task/2/syscall")).unwrap();
        let mut sampler = InProcess::at(own.0.path().to_owned(), "store (sqlite)".to_owned(), || {
            SessionsAtWork { active: 1, waiting: 0 }
        });
        assert_eq!((sampler.sample(0.1), sampler.sample(1.2)), (None, None));
        let notes = sampler.notes();
        assert_eq!(notes.len(), 1);
        assert!(notes[0].starts_with("Session waits of store (sqlite) are unknown"), "{notes:?}");
    }
}
