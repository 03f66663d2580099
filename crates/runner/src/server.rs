//! Where a database lies on this machine, and the processes of its server: what they use is read from `/proc`.
//!
//! What cannot be found is unknown, with the reason. A process is taken for the server only if it is called like one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use database::{Engine, Own, Session, Value};
use record::{Reading, Resources, ServerLoad, ServerProcesses};
use workload::waiting;

use crate::process::{Moved, Stat, memory, record};
use crate::resources::Counted;
use crate::run_queue::Waited;
use crate::sampling::Sampler;

/// Time from one reading to the next.
const EVERY: Duration = Duration::from_secs(1);
/// What the processes of a server are called.
const NAMES: [&str; 5] = ["postgres", "postmaster", "mariadbd", "mysqld", "mariadb"];
/// Those that write by calls alone. InnoDB asks for writes by a ring.
const BY_CALLS: [&str; 2] = ["postgres", "postmaster"];

/// Where a database lies.
#[derive(Clone, Debug)]
pub(crate) struct Lies {
    /// Its data, or why that is not known.
    pub(crate) data: Result<PathBuf, String>,
    /// Its log, where that is apart from the data.
    pub(crate) log: Option<Result<PathBuf, String>>,
    /// The file that tells the server's process, or why there is none; nothing where there is no server.
    pub(crate) process: Option<Result<PathBuf, String>>,
}

/// Asks a database where it lies.
pub(crate) async fn lies(own: &Own, stop: &AtomicBool) -> Lies {
    let untold = || "the server does not report the location of its data".to_owned();
    let url = own.url();
    match url.engine() {
        Engine::Sqlite | Engine::DuckDb => {
            Lies { data: url.file().map(Path::to_owned).ok_or_else(untold), log: None, process: None }
        }
        Engine::Fake => Lies { data: Err(untold()), log: None, process: None },
        Engine::Postgres | Engine::Mysql | Engine::SqlServer | Engine::ClickHouse if !url.is_local() => {
            let elsewhere = || "the database is on another machine".to_owned();
            Lies { data: Err(elsewhere()), log: None, process: Some(Err(elsewhere())) }
        }
        Engine::Postgres | Engine::Mysql | Engine::SqlServer | Engine::ClickHouse => {
            let told = waiting::unless_stopped(stop, told(own)).await.flatten();
            told.unwrap_or_else(|| Lies { data: Err(untold()), log: None, process: Some(Err(untold())) })
        }
    }
}

/// What a server on this machine tells; none if it tells nothing.
async fn told(own: &Own) -> Option<Lies> {
    let mut session = own.session().await.ok()?;
    let server = session.server().await.ok()?;
    let data = PathBuf::from(server.data_directory?);
    let process = match own.url().engine() {
        Engine::Postgres => Some(data.join("postmaster.pid")),
        Engine::Mysql => pid_file(&mut session).await.map(|file| data.join(file)),
        // ClickHouse tells none; SQL Server tells a number that on Linux is none of the kernel's.
        Engine::Sqlite | Engine::SqlServer | Engine::ClickHouse | Engine::DuckDb | Engine::Fake => None,
    };
    let process = process.ok_or_else(|| "the server does not report its process".to_owned());
    let log = server.log_directory.and_then(|log| apart(&data, Path::new(&log)));
    Some(Lies { data: Ok(data), log, process: Some(process) })
}

async fn pid_file(session: &mut Session) -> Option<String> {
    match session.query("SELECT @@pid_file", &[]).await.ok()?.first()?.first()? {
        Value::Text(file) => Some(file.clone()),
        _ => None,
    }
}

/// Where the log really lies, if not below the data; or why that cannot be seen.
pub(crate) fn apart(data: &Path, log: &Path) -> Option<Result<PathBuf, String>> {
    let seen = |path: &Path| {
        fs::canonicalize(path).map_err(|error| format!("cannot access {}: {error}", path.display()))
    };
    match (seen(data), seen(log)) {
        (Ok(data), Ok(log)) => (!log.starts_with(data)).then_some(Ok(log)),
        (Err(hidden), _) | (_, Err(hidden)) => Some(Err(hidden)),
    }
}

/// The process that a file tells, below another place for `/proc`, if it is that of a server.
fn processes(proc: &Path, file: &Path) -> Result<ServerProcesses, String> {
    let told = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("cannot read {told}: {error}"))?;
    let pid = text.lines().next().and_then(|line| line.trim().parse().ok());
    let pid: u32 = pid.ok_or_else(|| format!("{told} contains no process"))?;
    let name = fs::read_to_string(proc.join(format!("{pid}/comm")))
        .map_err(|_| format!("process {pid} from {told} does not exist here"))?;
    if !NAMES.iter().any(|known| name.trim().starts_with(known)) {
        return Err(format!("process {pid} from {told} is {} here, not a server", name.trim()));
    }
    Ok(ServerProcesses { pid, told_by: told.to_string() })
}

/// The process of a server as it is recorded.
pub(crate) fn reading(file: Result<&PathBuf, &String>) -> Reading<ServerProcesses> {
    let processes = file.map_err(Clone::clone).and_then(|file| processes(Path::new("/proc"), file));
    processes.map_or_else(Reading::Unknown, Reading::Known)
}

/// Reads what servers use.
pub(crate) struct Servers {
    /// Files that tell their processes, by the names of their databases.
    files: BTreeMap<String, PathBuf>,
    counted: Counted<BTreeMap<String, Used>>,
}

/// What a server has used, and uses.
#[derive(Clone, Debug, Default, PartialEq)]
struct Used {
    pid: u32,
    ticks: u64,
    memory_bytes: u64,
    processes: u32,
    /// None where this user may not see that of all processes.
    moved: Option<Moved>,
    /// Whether it writes by calls alone, and never by a ring.
    writes_by_calls: bool,
    /// None where the kernel does not count it.
    waited: Option<Waited>,
}

impl Used {
    /// What was used since an earlier reading of the same processes; a server that was started again begins anew.
    fn since(&self, before: &Self, length_s: f64) -> Option<ServerLoad> {
        if before.pid != self.pid {
            return None;
        }
        let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
        let moved = self.moved.zip(before.moved).map(|(now, before)| now.since(before));
        let written = |moved: Moved| match self.writes_by_calls {
            true => moved.dirtied_bytes.min(moved.called_bytes),
            false => moved.dirtied_bytes,
        };
        let waited = self.waited.as_ref().zip(before.waited.as_ref());
        Some(ServerLoad {
            cpu_cores: self.ticks.saturating_sub(before.ticks) as f64 / ticks_per_s / length_s,
            memory_bytes: self.memory_bytes,
            processes: self.processes,
            read_bytes_per_s: moved.map(|moved| moved.read_bytes as f64 / length_s),
            write_bytes_per_s: moved.map(|moved| written(moved) as f64 / length_s),
            cpu_wait_threads: waited.map(|(now, before)| now.since(before, length_s)),
        })
    }
}

impl Servers {
    pub(crate) fn new(files: BTreeMap<String, PathBuf>) -> Self {
        Self { files, counted: Counted::new() }
    }
}

impl Sampler for Servers {
    fn name(&self) -> &'static str {
        "servers"
    }

    fn every(&self) -> Duration {
        EVERY
    }

    fn sample(&mut self, at_s: f64) -> Option<Resources> {
        let files = &self.files;
        let (before, now, length_s) = self.counted.read(at_s, || used(Path::new("/proc"), files))?;
        let load =
            |(name, now): (&String, &Used)| Some((name.clone(), now.since(before.get(name)?, length_s)?));
        let servers: BTreeMap<String, ServerLoad> = now.iter().filter_map(load).collect();
        (!servers.is_empty()).then(|| Resources { end_s: at_s, length_s, servers, ..Resources::default() })
    }
}

/// What each server has used; several databases of one server are told once.
fn used(proc: &Path, files: &BTreeMap<String, PathBuf>) -> BTreeMap<String, Used> {
    let mut seen = BTreeSet::new();
    let of = |(name, file): (&String, &PathBuf)| {
        let pid = processes(proc, file).ok()?.pid;
        seen.insert(pid).then(|| used_by(proc, pid)).flatten().map(|used| (name.clone(), used))
    };
    files.iter().filter_map(of).collect()
}

/// Time of processors that a server has used, by the process that all others of it descend from; none where that cannot be seen.
pub(crate) fn cpu_time(pid: u32) -> Option<Duration> {
    let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
    used_by(Path::new("/proc"), pid).map(|used| Duration::from_secs_f64(used.ticks as f64 / ticks_per_s))
}

/// CPU time of a server's processes in seconds, and the first of them: what that one and its children used since they began.
pub(crate) fn cpu_s(proc: &Path, file: &Path) -> Option<(f64, u32)> {
    let pid = processes(proc, file).ok()?.pid;
    let children = children(proc, pid);
    // What ended children have used is counted by their parent from then on.
    let own = Stat::of(proc, pid)?;
    let others = children.into_iter().filter_map(|child| Stat::of(proc, child));
    let all = own.ticks + own.ended_ticks + others.map(|other| other.ticks).sum::<u64>();
    Some((all as f64 / rustix::param::clock_ticks_per_second() as f64, pid))
}

fn children(proc: &Path, pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(proc.join(format!("{pid}/task/{pid}/children"))).unwrap_or_default();
    children.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect()
}

fn used_by(proc: &Path, pid: u32) -> Option<Used> {
    let first = Stat::of(proc, pid)?;
    // What ended children have used is counted by their parent from then on.
    let ticks = first.ticks + first.ended_ticks;
    let name = record(&proc.join(format!("{pid}/comm"))).unwrap_or_default();
    let writes_by_calls = BY_CALLS.iter().any(|known| name.starts_with(known));
    let moved = Some(Moved::default());
    let mut used = Used { pid, ticks, moved, writes_by_calls, ..Used::default() };
    let (mut common_bytes, mut waited) = (0, Waited::default());
    let others = children(proc, pid).into_iter().map(|child| (child, Stat::of(proc, child)));
    for (process, stat) in std::iter::once((pid, Some(first))).chain(others) {
        waited.add(proc, process, stat.map(|stat| stat.threads));
        let Some((own_bytes, shared_bytes)) = memory(proc, process) else { continue };
        if process != pid {
            used.ticks += stat.map_or(0, |stat| stat.ticks);
        }
        used.processes += 1;
        used.moved = used.moved.zip(Moved::of(proc, process)).map(|(sum, more)| sum.plus(more));
        used.memory_bytes += own_bytes;
        common_bytes = common_bytes.max(shared_bytes);
    }
    used.memory_bytes += common_bytes;
    used.waited = waited.counted();
    Some(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Proc(tempfile::TempDir);

    impl Proc {
        fn process(&self, pid: u32, name: &str, children: &str, times: [u64; 4], pages: [u64; 2]) {
            let directory = self.0.path().join(pid.to_string());
            fs::create_dir_all(directory.join(format!("task/{pid}"))).unwrap();
            let [user, system, ended_user, ended_system] = times;
            let [resident, shared] = pages;
            for (file_name, text) in [
                ("comm", format!("{name}\n")),
                (&format!("task/{pid}/children"), children.to_owned()),
                (
                    "stat",
                    format!(
                        "{pid} (a ) b) S 1 1 1 0 -1 0 1 2 3 4 {user} {system} {ended_user} {ended_system} 20 0 1"
                    ),
                ),
                ("statm", format!("900 {resident} {shared} 5 0 60 0\n")),
                ("io", format!("rchar: 9\nwchar: 100\nsyscw: 1\nread_bytes: {pid}\nwrite_bytes: 1000\n")),
            ] {
                fs::write(directory.join(file_name), text).unwrap();
            }
        }

        fn file(&self, text: &str) -> PathBuf {
            let path = self.0.path().join("postmaster.pid");
            fs::write(&path, text).unwrap();
            path
        }
    }

    #[test]
    fn a_server_is_its_process_with_its_children_and_what_they_share_is_counted_once() {
        let proc = Proc(tempfile::tempdir().unwrap());
        proc.process(70, "postgres", "71 72 73 99", [10, 5, 100, 50], [35, 10]);
        proc.process(71, "postgres", "", [7, 1, 900, 900], [140, 127]);
        proc.process(72, "postgres", "", [2, 0, 0, 0], [83, 77]);
        // It has ended.
        proc.process(73, "postgres", "", [0; 4], [0; 2]);
        let file = proc.file("70\n/var/lib/postgresql\n");
        let files = BTreeMap::from([("a".to_owned(), file.clone()), ("b".to_owned(), file)]);
        let used = used(proc.0.path(), &files);
        let whole = Used {
            pid: 70,
            ticks: 165 + 8 + 2,
            memory_bytes: (25 + 13 + 6 + 127) * rustix::param::page_size() as u64,
            processes: 3,
            moved: Some(Moved {
                read_bytes: 70 + 71 + 72,
                dirtied_bytes: 3000,
                called_bytes: 3 * (100 + rustix::param::page_size() as u64),
            }),
            writes_by_calls: true,
            waited: None,
        };
        assert_eq!(used, BTreeMap::from([("a".to_owned(), whole)]), "two databases of one server");
        let cpu = cpu_s(proc.0.path(), &proc.file("70\n")).unwrap();
        assert_eq!(cpu, (175.0 / rustix::param::clock_ticks_per_second() as f64, 70));
        fs::remove_file(proc.0.path().join("72/io")).unwrap();
        let seen = used_by(proc.0.path(), 70).unwrap();
        assert_eq!(seen.moved, None, "a sum without one of them is none");
    }

    /// On a file system with large folios the kernel told 30 times of what was written to the log.
    #[test]
    fn a_server_that_writes_by_calls_wrote_no_more_than_these() {
        let written = |name: &str| {
            let proc = Proc(tempfile::tempdir().unwrap());
            let path = proc.file("70\n");
            let io = |calls: u64| {
                proc.process(70, name, "", [0; 4], [35, 10]);
                let (wchar, dirtied) = (calls * 8192, calls * 131_072);
                let text = format!("wchar: {wchar}\nsyscw: {calls}\nread_bytes: 0\nwrite_bytes: {dirtied}\n");
                fs::write(proc.0.path().join("70/io"), text).unwrap();
                used_by(proc.0.path(), processes(proc.0.path(), &path).unwrap().pid).unwrap()
            };
            let (before, now) = (io(10), io(1_010));
            let load = now.since(&before, 1.0).unwrap();
            load.write_bytes_per_s.unwrap()
        };
        assert_eq!(written("mariadbd"), 131_072_000.0, "what it asked for by a ring is in no count of calls");
        assert_eq!(written("postgres"), 1_000.0 * (8_192.0 + rustix::param::page_size() as f64));
    }

    #[test]
    fn what_is_no_server_is_unknown_with_the_reason() {
        let proc = Proc(tempfile::tempdir().unwrap());
        proc.process(70, "bash", "", [0; 4], [0; 2]);
        let why = |file: &Path| processes(proc.0.path(), file).unwrap_err();
        assert!(why(&proc.file("70\n")).ends_with("is bash here, not a server"));
        assert!(why(&proc.file("71\n")).contains("process 71 from "));
        assert!(why(&proc.file("\n")).ends_with("contains no process"));
        assert!(why(Path::new("/nowhere/x.pid")).starts_with("cannot read /nowhere/x.pid"));
    }

    #[test]
    fn a_log_is_apart_where_it_lies_elsewhere() {
        let directory = tempfile::tempdir().unwrap();
        let (data, log) = (directory.path().join("data"), directory.path().join("log"));
        [&data, &log, &data.join("pg_wal")].into_iter().for_each(|path| fs::create_dir(path).unwrap());
        assert_eq!(apart(&data, &data.join("pg_wal")), None);
        fs::remove_dir(data.join("pg_wal")).unwrap();
        std::os::unix::fs::symlink(&log, data.join("pg_wal")).unwrap();
        assert_eq!(apart(&data, &data.join("pg_wal")), Some(Ok(fs::canonicalize(&log).unwrap())));
        fs::remove_file(data.join("pg_wal")).unwrap();
        std::os::unix::fs::symlink(data.join("pg_wal"), data.join("pg_wal")).unwrap();
        let hidden = apart(&data, &data.join("pg_wal")).unwrap().unwrap_err();
        assert!(
            hidden.starts_with("cannot access ") && hidden.contains("pg_wal: "),
            "it may lie anywhere: {hidden}"
        );
    }
}
