//! A PostgreSQL of our own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ownership::Identity;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

use crate::Place;
use crate::process::{Handle, children, command};
use crate::server::{DIES_WITHIN, PASSWORD, Server, USER, url};
use crate::user::User;
use crate::{Group, InstanceError, Options, program, shared_memory};

/// A PostgreSQL of its own. It is stopped and its directory removed when this is dropped.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
    program: PathBuf,
}

impl Postgres {
    /// Makes an empty cluster, starts a server on it and waits until it answers; takes about 2 s.
    ///
    /// # Errors
    /// PostgreSQL or `setpriv` is not installed, the directory cannot be made, or the server does not start: then the
    /// end of its log is in the error.
    pub fn start(options: &Options) -> Result<Self, InstanceError> {
        let user = User::unprivileged("postgres")?;
        let mut postgres = Self {
            program: program::of_postgres("postgres")?,
            server: Server::make(("postgres", "postgres"), options, user)?,
        };
        postgres.make_cluster()?;
        postgres.server.limit()?;
        let program = &postgres.program;
        postgres.server.start_on_free_port(|server| run(server, program))?;
        Ok(postgres)
    }

    /// Where clients connect to, with a user who may do everything: `postgres://prony:secret@127.0.0.1:PORT/postgres`.
    pub fn url(&self) -> String {
        url("postgres", self.port(), "postgres")
    }

    /// The group in which it is limited, if it is.
    pub fn group(&self) -> Option<&Group> {
        self.server.group.as_ref()
    }

    /// The port on 127.0.0.1; it stays when the server is started again.
    pub fn port(&self) -> u16 {
        self.server.port
    }

    /// The server's first process (postmaster), or `None` while the server does not run.
    pub fn pid(&mut self) -> Option<u32> {
        self.server.pid()
    }

    /// The directory of the cluster.
    pub fn data_directory(&self) -> PathBuf {
        self.server.directory.data()
    }

    /// Ends all processes of the server at once and takes its shared memory away, as a power cut would. What it had
    /// given to the operating system to write survives, unlike in a power cut. No error if it does not run.
    ///
    /// # Errors
    /// The processes cannot be found, signalled or waited for.
    pub fn kill(&mut self) -> Result<(), InstanceError> {
        let Some(pid) = self.server.pid() else { return self.server.end_process() };
        let Some(postmaster) = Handle::open(pid)? else { return self.server.end_process() };
        // Stopped, the postmaster makes no further processes while its children are looked for.
        postmaster.signal(Signal::STOP)?;
        await_stop(pid)?;
        let children = children(pid)?;
        let segments: Vec<Segment> =
            children.iter().chain([&pid]).flat_map(|&pid| segments_of(pid)).collect();
        let handles: Vec<Option<Handle>> =
            children.into_iter().map(Handle::open).collect::<Result<_, _>>()?;
        let processes = || handles.iter().flatten().chain([&postmaster]);
        processes().try_for_each(|process| process.signal(Signal::KILL))?;
        for process in processes() {
            process.wait(DIES_WITHIN)?;
        }
        self.server.end_process()?;
        self.remove_shared_memory(&segments);
        Ok(())
    }

    /// Stands all processes of the server still, as a machine that hangs does: it answers nobody, and keeps its connections. No error if
    /// it does not run.
    ///
    /// # Errors
    /// The processes cannot be found or signalled.
    pub fn freeze(&mut self) -> Result<(), InstanceError> {
        let Some(pid) = self.server.pid() else { return Ok(()) };
        let Some(postmaster) = Handle::open(pid)? else { return Ok(()) };
        // Stopped, the postmaster makes no further processes while its children are looked for.
        postmaster.signal(Signal::STOP)?;
        await_stop(pid)?;
        self.signal_children(pid, Signal::STOP)
    }

    /// Lets them go on.
    ///
    /// # Errors
    /// As there.
    pub fn thaw(&mut self) -> Result<(), InstanceError> {
        let Some(pid) = self.server.pid() else { return Ok(()) };
        let Some(postmaster) = Handle::open(pid)? else { return Ok(()) };
        self.signal_children(pid, Signal::CONT)?;
        postmaster.signal(Signal::CONT)
    }

    fn signal_children(&self, pid: u32, signal: Signal) -> Result<(), InstanceError> {
        for child in children(pid)? {
            // One that has ended meanwhile needs none.
            if let Some(child) = Handle::open(child)? {
                child.signal(signal)?;
            }
        }
        Ok(())
    }

    /// Stops the server in order: running transactions are rolled back, everything else is on disk. No error if it does
    /// not run.
    ///
    /// # Errors
    /// It is not down after 10 minutes.
    pub fn stop(&mut self) -> Result<(), InstanceError> {
        self.server.stop(Signal::INT)
    }

    /// Starts the server again after [`Self::kill`] or [`Self::stop`], on the same port and data, and waits until it has
    /// recovered and answers.
    ///
    /// # Errors
    /// It runs, or it does not start: then the end of its log is in the error.
    pub fn start_again(&mut self) -> Result<(), InstanceError> {
        run(&mut self.server, &self.program)
    }

    /// The server with its directories.
    pub(crate) fn server(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Nothing of an empty cluster is worth waiting for a disk, hence `--no-sync`; the server itself syncs as it does
    /// by default.
    fn make_cluster(&self) -> Result<(), InstanceError> {
        let directory = &self.server.directory;
        let password = directory.write("password", &format!("{PASSWORD}\n"))?;
        let mut initdb = command(&program::of_postgres("initdb")?, directory.user(), None)?;
        initdb.args([
            "--no-sync",
            "--no-instructions",
            "--locale=C",
            "--encoding=UTF8",
            "--auth=scram-sha-256",
        ]);
        initdb.arg(format!("--username={USER}")).arg("--pwfile").arg(password);
        initdb.arg("--pgdata").arg(directory.data()).stdin(Stdio::null());
        if let Some(log) = directory.placement.log() {
            initdb.arg("--waldir").arg(log);
        }
        self.server.prepare("initdb", initdb)?;
        self.make_tablespaces()
    }

    /// Makes them as a server of one user does, which reads statements from its input, each on a line.
    fn make_tablespaces(&self) -> Result<(), InstanceError> {
        let names = self.server.options.tablespaces();
        if names.is_empty() {
            return Ok(());
        }
        let directory = &self.server.directory;
        let mut statements = String::new();
        for (name, path) in directory.placement.all().filter(|(what, _)| names.contains_key(*what)) {
            let (name, path) = (name.replace('"', "\"\""), path.display().to_string().replace('\'', "''"));
            statements += &format!("CREATE TABLESPACE \"{name}\" LOCATION '{path}';\n");
        }
        let file = directory.write("tablespaces.sql", &statements)?;
        let input = std::fs::File::open(&file).map_err(InstanceError::file("open", file))?;
        let mut single = command(&self.program, directory.user(), None)?;
        single.args(["--single", "-D"]).arg(directory.data()).arg("postgres").stdin(input);
        self.server.prepare("postgres --single", single)
    }

    /// What the kernel keeps of a killed server. The next start would do without it, but a directory that is removed has no next start.
    fn remove_shared_memory(&self, segments: &[Segment]) {
        remove_shared_memory(&self.data_directory(), segments);
    }
}

/// What the kernel keeps of a killed server with its data in a directory.
pub(crate) fn remove_shared_memory(data: &Path, segments: &[Segment]) {
    remove_segments(segments);
    let file = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    if let Some(id) = PidFile::of(&file).and_then(|file| file.shared_memory) {
        remove_of_system_v("-m", id);
    }
}

/// Those that whoever was killed could not remove, and the ones that they list: another may have been made after the look.
pub(crate) fn remove_segments(segments: &[Segment]) {
    let places: Vec<Place> = segments.iter().map(Segment::place).collect();
    shared_memory::remove_left(&places);
}

/// Removes shared memory (`-m`) or semaphores (`-s`) by their number.
pub(crate) fn remove_of_system_v(what: &str, id: &str) {
    let mut ipcrm = Command::new("ipcrm");
    ipcrm.args([what, id]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = ipcrm.status();
}

/// The first process of the server with its data in a directory, by what it says there, and whether it is ready.
pub(crate) fn postmaster_of(data: &Path) -> Option<(u32, bool)> {
    let text = std::fs::read_to_string(data.join("postmaster.pid")).ok()?;
    PidFile::of(&text).map(|file| (file.pid, file.is_ready))
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // An immediate shutdown leaves no shared memory behind and writes nothing that is about to be removed.
        if self.server.stop_within(Signal::QUIT, DIES_WITHIN).is_err() {
            let _ = self.kill();
        }
    }
}

fn run(server: &mut Server, program: &Path) -> Result<(), InstanceError> {
    let mut command = server.command(program)?;
    let directory = &server.directory;
    command.arg("-D").arg(directory.data()).stdin(Stdio::null());
    for (name, value) in server.options.settings() {
        command.arg("-c").arg(format!("{name}={value}"));
    }
    command.args(["-c", "listen_addresses=127.0.0.1", "-p", &server.port.to_string()]);
    command.arg("-k").arg(directory.path());
    let file = directory.data().join("postmaster.pid");
    let url = url("postgres", server.port, "postgres");
    server.run(command, &url, |pid| {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        PidFile::of(&text).is_some_and(|file| file.pid == pid && file.is_ready)
    })
}

/// What `postmaster.pid` says of the server, a line for each thing (`miscadmin.h`, LOCK_FILE_LINE_*). `pg_ctl --wait`
/// waits for the same line.
struct PidFile<'a> {
    pid: u32,
    /// Number of the System V segment.
    shared_memory: Option<&'a str>,
    is_ready: bool,
}

impl<'a> PidFile<'a> {
    /// `None` while the file is not there yet.
    fn of(text: &'a str) -> Option<Self> {
        let lines: Vec<&str> = text.lines().collect();
        Some(Self {
            pid: lines.first()?.trim().parse().ok()?,
            shared_memory: lines.get(6).and_then(|line| line.split_whitespace().nth(1)),
            is_ready: lines.get(7).is_some_and(|line| line.trim() == "ready"),
        })
    }
}

/// Waits until a child of ours has stopped or ended, and leaves its exit code to be collected.
fn await_stop(pid: u32) -> Result<(), InstanceError> {
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(()) };
    let events = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let waited = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(number), events));
    let fault =
        |error: rustix::io::Errno| InstanceError::Process { action: "stop", pid, source: error.into() };
    waited.map(drop).map_err(fault)
}

/// A file of POSIX shared memory that our server has open, whatever gets its name later.
pub(crate) struct Segment {
    directory: ownership::Directory,
    name: OsString,
    identity: Identity,
}

impl Segment {
    /// As it is stored.
    pub(crate) fn place(&self) -> Place {
        let path = self.directory.path().join(&self.name);
        Place { path, device: self.identity.device(), inode: self.identity.inode() }
    }
}

/// Those of a process of PostgreSQL that is stopped.
pub(crate) fn segments_of(pid: u32) -> Vec<Segment> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut files: Vec<(PathBuf, u64)> = maps.lines().filter_map(mapped_segment).collect();
    files.dedup();
    files.iter().filter_map(|(path, inode)| segment(path, *inode)).collect()
}

/// Path and inode in a line of `/proc/PID/maps` (proc(5)), if it is of shared memory: PostgreSQL's, or a clock's that can jump.
fn mapped_segment(line: &str) -> Option<(PathBuf, u64)> {
    const KINDS: [&str; 3] = ["/dev/shm/PostgreSQL.", "/dev/shm/faketime_shm_", "/dev/shm/sem.faketime_sem_"];
    let path = &line[KINDS.into_iter().find_map(|kind| line.find(kind))?..];
    let inode = line.split_whitespace().nth(4)?.parse().ok()?;
    Some((PathBuf::from(path), inode))
}

/// The file of that name, if it is the one that is mapped.
fn segment(path: &Path, inode: u64) -> Option<Segment> {
    let (directory, name) = ownership::Directory::of(path).ok()?;
    let identity = directory.look(&name).ok()??;
    (identity.is_regular() && identity.inode() == inode).then_some(Segment { directory, name, identity })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pid_file_tells_readiness_by_its_eighth_line() {
        let starting = "17\n/data\n1700000000\n20001\n/socket\n127.0.0.1\n  5432001     32768\nstarting\n";
        let file = PidFile::of(starting).unwrap();
        assert_eq!((file.pid, file.shared_memory, file.is_ready), (17, Some("32768"), false));
        let ready = starting.replace("starting", "ready   ");
        assert!(PidFile::of(&ready).unwrap().is_ready);
    }

    #[test]
    fn a_segment_is_known_by_its_inode() {
        let line = "7f12-7f13 rw-s 00000000 00:1a 77 /dev/shm/PostgreSQL.1234";
        assert_eq!(mapped_segment(line), Some((PathBuf::from("/dev/shm/PostgreSQL.1234"), 77)));
        assert_eq!(mapped_segment("7f12-7f13 r--p 00000000 00:1a 78 /usr/lib/libc.so"), None);
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("PostgreSQL.1234");
        std::fs::write(&path, "").unwrap();
        let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&path).unwrap());
        assert!(segment(&path, inode).is_some());
        assert!(segment(&path, inode + 1).is_none(), "another file has its name");
    }

    #[test]
    fn pid_file_that_is_being_written_is_not_ready() {
        assert!(PidFile::of("").is_none());
        let file = PidFile::of("17\n/data\n").unwrap();
        assert_eq!((file.pid, file.shared_memory, file.is_ready), (17, None, false));
    }
}
