//! Why a server could not be started, stopped or killed.

use std::io;
use std::path::PathBuf;

/// Why a server could not be started, stopped or killed.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// A program is not on this machine.
    #[error("{program} was not found in PATH or {searched}; to install it: `apt-get install {package}`")]
    NotInstalled {
        /// Program that was looked for.
        program: &'static str,
        /// Where it was looked for, besides PATH.
        searched: &'static str,
        /// Debian package that has it.
        package: &'static str,
    },
    /// What is called like MySQL's server is another one, or too old.
    #[error(
        "{program} is not MySQL 8.0 or later: it reports `{said}`. Install MySQL's own packages, or use MariaDB",
        program = program.display()
    )]
    NoMysql {
        /// What was found.
        program: PathBuf,
        /// What it says of itself.
        said: String,
    },
    /// The files that describe an empty MariaDB are not where packages put them.
    #[error("{file} was not found in any of {searched}; `apt-get install mariadb-server` brings it")]
    NoSystemTables {
        /// File that was looked for.
        file: &'static str,
        /// Directories where it was looked for.
        searched: String,
    },
    /// We are root, and there is nobody that a server could run as.
    #[error("a database server refuses to run as root, and /etc/passwd has neither `{user}` nor `nobody`")]
    NoUnprivilegedUser {
        /// User that the server's package makes.
        user: &'static str,
    },
    /// A file or directory of the server cannot be made or read.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no directory in which one of the server's is to be made.
    #[error("directory {path} for its {what} does not exist: create it with `mkdir -p {path}`, or use another", path = path.display())]
    NoPlace {
        /// What was to lie there: `data`, `log`, the name of a tablespace.
        what: String,
        /// The directory.
        path: PathBuf,
    },
    /// Its devices were to be slowed down, and it has no group for that.
    #[error(
        "the server's disks cannot be slowed down, because the server was started without a control group for this"
    )]
    NotThrottled,
    /// Its power was to be cut, and it lies on several volumes.
    #[error(
        "a power cut affects only one volume: put the whole server on one volume, without a separate log directory or tablespaces"
    )]
    SeveralVolumes,
    /// A clock was to jump that is everybody's.
    #[error("the server's clock cannot jump, because the server was started with the clock of the machine")]
    NoClock,
    /// A laboratory does not do what it was asked for.
    #[error("{0}")]
    Lab(Box<crate::LabError>),
    /// A volume was to be filled that others use.
    #[error("{path} is on a volume of {total_mib} MiB, but prony fills at most 4096 MiB: put the data on a volume of `prony lab \
    create`", path = path.display())]
    TooLargeToFill {
        /// A directory of the server.
        path: PathBuf,
        /// Size of the volume.
        total_mib: u64,
    },
    /// More is asked for than the machine has.
    #[error("{0}")]
    BeyondMachine(String),
    /// The directory's path is too long for a socket in it.
    #[error(
        "{path} is {length} bytes long, too long for a server's socket: choose a parent directory under 70 bytes",
        path = path.display(), length = path.as_os_str().len()
    )]
    PathTooLong {
        /// The directory.
        path: PathBuf,
    },
    /// The server's user does not get to its directory.
    #[error(
        "the server's unprivileged user cannot reach {path}: use another directory, allow access (chmod o+x on its parents), or run \
        prony as that user",
        path = path.display()
    )]
    NotPassable {
        /// The directory.
        path: PathBuf,
    },
    /// A server belongs to a program that runs.
    #[error(
        "{name} belongs to a running prony, process {pid}, and is removed when that process ends: end it with Ctrl-C or kill {pid}"
    )]
    HeldByAnother {
        /// Its name.
        name: String,
        /// The program.
        pid: u32,
    },
    /// There is a server of that name.
    #[error("there is a server called {name} already: give another name, or remove that one")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A server cannot be called so.
    #[error(
        "`{name}` cannot be the name of a server: give letters, digits, -, _ and ., and begin with a letter or digit"
    )]
    NoName {
        /// The name.
        name: String,
    },
    /// An engine has no such thing.
    #[error("{engine} has no named tablespaces: omit `{name}`, or use PostgreSQL")]
    NoTablespaces {
        /// The engine.
        engine: &'static str,
        /// Name of the first.
        name: String,
    },
    /// A program cannot be started at all.
    #[error("cannot start {program}: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// Why it failed.
        source: io::Error,
    },
    /// A program ended that should have gone on, or ended with a failure.
    #[error("{program} ended with {status}{}", because(log))]
    Ended {
        /// The program.
        program: &'static str,
        /// How it ended.
        status: String,
        /// Last lines of its log.
        log: String,
    },
    /// A server does not take a setting.
    #[error("{program} rejected a setting: {reason}; correct this setting")]
    Setting {
        /// The program.
        program: &'static str,
        /// What it says.
        reason: String,
    },
    /// A server did not do in time what it was asked for.
    #[error("{program} did not {action} within {limit_s} s{}", because(log))]
    TooSlow {
        /// The program.
        program: &'static str,
        /// What it did not do.
        action: &'static str,
        /// How long was waited.
        limit_s: u64,
        /// Last lines of its log.
        log: String,
    },
    /// No port could be had.
    #[error("no free port was found on 127.0.0.1 from {first} to {last}: close what listens there")]
    NoPort {
        /// First port that was tried.
        first: u16,
        /// Last port that was tried.
        last: u16,
    },
    /// A server is to be started that runs.
    #[error("{program} is running already as process {pid}: stop or kill it first")]
    Running {
        /// The program.
        program: &'static str,
        /// Its process.
        pid: u32,
    },
    /// It cannot be limited as asked.
    #[error(transparent)]
    Limit(#[from] crate::LimitError),
    /// It cannot be done with a pair.
    #[error(transparent)]
    Pair(#[from] crate::PairError),
    /// A process cannot be signalled or waited for.
    #[error("cannot {action} process {pid}: {source}")]
    Process {
        /// What was tried.
        action: &'static str,
        /// The process.
        pid: u32,
        /// Why it failed.
        source: io::Error,
    },
}

/// What servers write before the reason why they do not go on, the gravest first; of equal ones the first in the log is the cause, and
/// the rest follow from it.
const REASONS: [&[&str]; 4] = [&["PANIC:", "FATAL:"], &["[ERROR]"], &["ERROR:"], &["error:"]];
/// What PostgreSQL answers whoever connects before it is ready: it is no reason to end.
const NOT_YET: &str = "the database system is ";
/// Lines of a log that are told beside the reason.
const LINES_MOST: usize = 3;

/// The reason that a log gives, then its last lines: `: FATAL: unrecognized configuration parameter "x"; the end of its log: …`.
fn because(log: &str) -> String {
    let lines: Vec<&str> = log.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let reason = |marks: &&[&str]| {
        let marked = |line: &&str| marks.iter().find_map(|mark| line.find(mark));
        let is_reason = |line: &&&str| !line.contains(NOT_YET);
        lines.iter().filter(is_reason).find_map(|line| marked(line).map(|at| (*line, &line[at..])))
    };
    let found = REASONS.iter().find_map(reason);
    // What is told already is not told twice.
    let others: Vec<&str> =
        lines.iter().copied().filter(|line| found.is_none_or(|(whole, _)| *line != whole)).collect();
    let last = &others[others.len().saturating_sub(LINES_MOST)..];
    let head = found.map_or_else(String::new, |(_, reason)| format!(": {reason}"));
    match last {
        [] => head,
        last => format!("{head}; the end of its log:\n{}", last.join("\n")),
    }
}

impl From<crate::LabError> for InstanceError {
    fn from(error: crate::LabError) -> Self {
        Self::Lab(Box::new(error))
    }
}

impl InstanceError {
    /// Whether what was asked for cannot be on this machine, and nothing failed.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NoPlace { .. }
                | Self::BeyondMachine(_)
                | Self::NoName { .. }
                | Self::NameTaken { .. }
                | Self::Setting { .. }
        )
    }

    /// For `map_err` on calls of the file system.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> InstanceError {
        let path = path.into();
        move |source| InstanceError::File { action, path, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a user had set wrong stood at the end of twenty lines in which a cluster was made.
    #[test]
    fn the_reason_stands_first_and_few_lines_of_the_log_after_it() {
        let log = "fixing permissions ... ok\ncreating subdirectories ... ok\nrunning bootstrap script ... ok\nSync to disk skipped.\n\
                   2026-11-23 00:46:10.326 GMT [26458] FATAL:  unrecognized configuration parameter \"foo\"";
        let ended = InstanceError::Ended {
            program: "postgres",
            status: "exit status: 1".to_owned(),
            log: log.to_owned(),
        };
        let told = ended.to_string();
        let begins = "postgres ended with exit status: 1: FATAL:  unrecognized configuration parameter \"foo\"; the end of its log:\n";
        assert!(told.starts_with(begins), "{told}");
        assert_eq!(told.lines().count(), 1 + LINES_MOST, "{told}");
        let mariadb = "2026-11-23  0:46:10 0 [Note] Starting\n2026-11-23  0:46:11 0 [ERROR] mariadbd: unknown variable 'foo=1'\n\
                       2026-11-23  0:46:11 0 [ERROR] Aborting";
        assert!(
            because(mariadb).starts_with(": [ERROR] mariadbd: unknown variable 'foo=1'; the end"),
            "{}",
            because(mariadb)
        );
        // A PANIC at the end of it all was named in place of what led to it.
        let postgres = "10:00:01 [7] FATAL:  the database system is starting up\n\
                        10:00:01 [8] FATAL:  could not create shared memory segment: No space left on device\n\
                        10:00:02 [9] PANIC:  could not open file \"global/pg_control\": No such file or directory";
        assert!(
            because(postgres).starts_with(": FATAL:  could not create shared memory segment: No space"),
            "{}",
            because(postgres)
        );
        let panicked =
            "1 PANIC:  could not locate a valid checkpoint record\n2 FATAL:  the startup process ended";
        assert!(because(panicked).starts_with(": PANIC:  could not locate"), "{}", because(panicked));
        assert_eq!((because(""), because("a\n")), (String::new(), "; the end of its log:\na".to_owned()));
        assert_eq!(because("x FATAL: no"), ": FATAL: no");
    }
}
