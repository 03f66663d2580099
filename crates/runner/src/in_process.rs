//! What sessions of SQLite do while a trial runs, ten times a second. Each is a thread of this program, so that the kernel tells it:
//! which system call the thread is in, and on which file.
//!
//! A kernel that does not tell this is a note. Nothing is judged here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::{Resources, ServerTold, doing};

use crate::sampling::Sampler;

/// Time from one look to the next.
const EVERY: Duration = Duration::from_millis(100);
/// Time that looks are added up over. A look may be a little early.
const TOGETHER_S: f64 = 0.95;
/// What threads of sessions are called.
const SESSION: &str = "sqlite";
/// How the name of SQLite's log ends.
const LOG: &str = "-wal";

/// System calls by their numbers, which each architecture has of its own.
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

/// Looks at the threads of sessions.
pub(crate) struct InProcess {
    /// Where the kernel tells of this program.
    own: PathBuf,
    /// Name of the first of the databases.
    name: String,
    /// How often each thread had run at the last look.
    ran: BTreeMap<String, u64>,
    found: ServerTold,
    given_s: f64,
    is_refused: bool,
    notes: Vec<String>,
}

impl InProcess {
    pub(crate) fn new(name: String) -> Self {
        Self::at(PathBuf::from("/proc/self"), name)
    }

    fn at(own: PathBuf, name: String) -> Self {
        Self {
            own,
            name,
            ran: BTreeMap::new(),
            found: ServerTold::default(),
            given_s: 0.0,
            is_refused: false,
            notes: Vec::new(),
        }
    }

    fn look(&mut self) {
        let tasks = fs::read_dir(self.own.join("task")).into_iter().flatten().flatten();
        let read = |path: PathBuf| fs::read_to_string(path).ok();
        let mut ran = BTreeMap::new();
        for task in tasks {
            let task = task.path();
            if read(task.join("comm")).is_none_or(|name| name.trim() != SESSION) {
                continue;
            }
            let Some(call) = read(task.join("syscall")) else {
                self.refuse();
                return;
            };
            let times =
                read(task.join("schedstat")).and_then(|text| text.split_whitespace().nth(2)?.parse().ok());
            let number = task.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let has_run = times.is_none() || self.ran.get(&number).copied() != times;
            ran.extend(times.map(|times: u64| (number, times)));
            // A thread that waits for its next statement, and has not run since, is a session that does nothing.
            let what = what(&self.own, &call);
            if what != doing::IDLE || has_run {
                *self.found.sessions.entry(what).or_default() += 1;
            }
        }
        self.ran = ran;
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

/// `fdatasync of the log`, by the text of `syscall` of proc(5): `75 0x9 …`, or `running`.
fn what(own: &Path, call: &str) -> String {
    let mut fields = call.split_ascii_whitespace();
    let Some(number) = fields.next().and_then(|number| number.parse::<u64>().ok()) else {
        return doing::EXECUTING.to_owned();
    };
    let name = CALLS.iter().find(|(of, _)| *of == number).map(|(_, name)| *name);
    match name {
        None => format!("system call {number}"),
        Some("futex") => doing::IDLE.to_owned(),
        // It lets another session finish that writes.
        Some("nanosleep" | "clock_nanosleep") => doing::ROW_LOCK.to_owned(),
        Some(name) => {
            let file =
                fields.next().and_then(|file| u64::from_str_radix(file.trim_start_matches("0x"), 16).ok());
            let path = file.and_then(|file| fs::read_link(own.join(format!("fd/{file}"))).ok());
            let is_log = path.is_some_and(|path| path.to_string_lossy().ends_with(LOG));
            format!("{name} of the {}", if is_log { "log" } else { "data" })
        }
    }
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

        fn task(&self, number: u32, name: &str, call: &str, times: u64) {
            let task = self.0.path().join(format!("task/{number}"));
            fs::create_dir_all(&task).unwrap();
            for (file, text) in [("comm", name), ("syscall", call), ("schedstat", &format!("1 2 {times}"))] {
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
        own.task(1, "prony", "running", 1);
        own.task(2, "sqlite", &call("fdatasync", "0x9"), 1);
        own.task(3, "sqlite", &call("pread64", "0xa"), 1);
        own.task(4, "sqlite", "running", 1);
        own.task(5, "sqlite", &call("futex", "0x5f"), 1);
        own.task(6, "sqlite", &call("clock_nanosleep", "0x0"), 1);
        own.task(7, "sqlite", "900 0x0", 1);
        let mut sampler = InProcess::at(own.0.path().to_owned(), "store (sqlite)".to_owned());
        assert_eq!(sampler.sample(0.1), None);
        let read = sampler.sample(1.0).unwrap();
        let told = &read.told["store (sqlite)"];
        let expected = [
            ("executing", 2),
            ("fdatasync of the log", 2),
            // The second time it has not run since.
            ("idle", 1),
            ("pread64 of the data", 2),
            ("row lock", 2),
            ("system call 900", 2),
        ];
        assert_eq!(told.looks, 2);
        assert_eq!(told.sessions, expected.map(|(what, count)| (what.to_owned(), count)).into());
    }

    #[test]
    fn a_kernel_that_does_not_tell_is_a_note_once() {
        let own = Own::new();
        own.task(2, "sqlite", "running", 1);
        fs::remove_file(own.0.path().join("task/2/syscall")).unwrap();
        let mut sampler = InProcess::at(own.0.path().to_owned(), "store (sqlite)".to_owned());
        assert_eq!((sampler.sample(0.1), sampler.sample(1.2)), (None, None));
        let notes = sampler.notes();
        assert_eq!(notes.len(), 1);
        assert!(notes[0].starts_with("Session waits of store (sqlite) are unknown"), "{notes:?}");
    }
}
