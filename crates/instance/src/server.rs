//! What all servers have in common: one process with a directory and a port, which answers after a while.

use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::clock::{Clock, by_clock};
use crate::directory::Directory;
use crate::postgres::{Segment, remove_segments, segments_of};
use crate::process::{Handle, command_of, spawn};
use crate::register::Entry;
use crate::user::User;
use crate::{Group, InstanceError, Options, port};

/// The one user of a throwaway server, who may do everything, and the password without which it may do nothing.
pub(crate) const USER: &str = "prony";
pub(crate) const PASSWORD: &str = "secret";

/// A server that is stopped writes all that it holds in memory, and one that starts may have to recover: on a slow disk that takes
/// minutes. What does not answer after these hangs.
pub(crate) const STARTS_WITHIN: Duration = Duration::from_secs(180);
pub(crate) const STOPS_WITHIN: Duration = Duration::from_secs(600);
/// What is killed ends at once, unless it waits for a disk.
pub(crate) const DIES_WITHIN: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
const PORTS_TRIED: usize = 5;

/// A server, running or not.
#[derive(Debug)]
pub(crate) struct Server {
    program: &'static str,
    /// How it is started.
    pub(crate) options: Options,
    process: Option<Child>,
    /// Its own, if it has one.
    pub(crate) clock: Option<Clock>,
    pub(crate) port: u16,
    /// Dropped before the directory: nothing of the server is left when that is removed.
    pub(crate) group: Option<Group>,
    pub(crate) directory: Directory,
    /// How others find it; removed after the directory.
    entry: Option<Entry>,
    lives_on: bool,
}

impl Server {
    /// None yet: directories and no process, known to others if options ask for that.
    pub(crate) fn make(
        (program, engine): (&'static str, &str),
        options: &Options,
        user: Option<User>,
    ) -> Result<Self, InstanceError> {
        let entry = Entry::of(options, engine)?;
        Self::make_known(program, options, user, entry)
    }

    /// The same for a look whether it could be started.
    pub(crate) fn of_look(
        engine: &str,
        options: &Options,
        user: Option<User>,
    ) -> Result<Self, InstanceError> {
        Self::make_known("", options, user, Some(Entry::of_look(engine)?))
    }

    fn make_known(
        program: &'static str,
        options: &Options,
        user: Option<User>,
        mut entry: Option<Entry>,
    ) -> Result<Self, InstanceError> {
        let made = Directory::make(options, user, entry.as_mut());
        let made = made.and_then(|directory| {
            entry.as_mut().map_or(Ok(()), |entry| entry.set_log(directory.log()))?;
            Ok(directory)
        });
        let directory = match made {
            Ok(directory) => directory,
            Err(error) => {
                entry.map_or(Ok(()), |entry| entry.remove_with_directories())?;
                return Err(error);
            }
        };
        Ok(Self {
            program,
            options: options.clone(),
            process: None,
            clock: None,
            port: 0,
            group: None,
            directory,
            entry,
            lives_on: options.register().is_some_and(|registered| registered.lives_on),
        })
    }

    /// Changes settings and limits, which hold from its next start. It does not run.
    pub(crate) fn configure(&mut self, options: &Options) -> Result<(), InstanceError> {
        self.refuse_if_running()?;
        self.options = self.options.configured_as(options);
        self.limit()
    }

    /// Leaves it running with all that it has: others know of it.
    pub(crate) fn leave(&mut self) {
        self.directory.keep();
        self.process = None;
        if let Some(group) = self.group.take() {
            group.leave();
        }
        self.entry = None;
    }

    /// Makes the group in which the server is to run, if anything of it is limited; one that it had is gone.
    pub(crate) fn limit(&mut self) -> Result<(), InstanceError> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        if let Some(group) = self.group.take() {
            group.remove()?;
        }
        let limits = self.options.limited();
        if !limits.is_empty() {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let planned = Group::plan(&format!("prony-{}-{number}", std::process::id()), limits)?;
            if let Some(entry) = &mut self.entry {
                entry.set_groups(planned.directories())?;
            }
            self.group = Some(planned.make()?);
        }
        Ok(())
    }

    /// Lets go of its directories while something is done to what they lie on, and holds them again. Where that fails they are left, and
    /// known to whoever looks for servers that were left.
    pub(crate) fn without_directory(
        &mut self,
        act: impl FnOnce() -> Result<(), InstanceError>,
    ) -> Result<(), InstanceError> {
        let nowhere = Directory::make(&Options::default(), None, self.entry.as_mut())?;
        self.clock = None;
        let known = std::mem::replace(&mut self.directory, nowhere).let_go();
        match known.and_then(|known| act().and_then(|()| known.hold())) {
            Ok(directory) => {
                self.directory = directory;
                Ok(())
            }
            Err(error) => {
                self.entry = None;
                Err(error)
            }
        }
    }

    /// A command that runs a program of the server within its limits, as its user.
    pub(crate) fn command(&mut self, program: &Path) -> Result<Command, InstanceError> {
        let clock = self.options.has_clock().then(|| Clock::make(self.directory.home())).transpose()?;
        self.clock = clock;
        let (user, group) = (self.directory.user(), self.group.as_ref());
        by_clock(self.clock.as_ref(), program, |first| command_of(first, user, group, !self.lives_on))
    }

    /// Finds a free port and starts the server on it. Another process may take the port first: then the next one.
    pub(crate) fn start_on_free_port(
        &mut self,
        start: impl Fn(&mut Self) -> Result<(), InstanceError>,
    ) -> Result<(), InstanceError> {
        if self.options.limited().are_passed_by_cached_files() {
            // The empty database was made outside the group.
            self.directory.placement.drop_caches()?;
        }
        for _ in 1..PORTS_TRIED {
            self.port = port::free()?;
            match start(self) {
                Err(InstanceError::Ended { log, .. }) if log.contains("Address already in use") => {}
                result => return result,
            }
        }
        self.port = port::free()?;
        start(self)
    }

    /// Starts the process and waits until `is_ready`, which is asked with its number, says that it answers.
    pub(crate) fn run(
        &mut self,
        mut command: Command,
        url: &str,
        mut is_ready: impl FnMut(u32) -> bool,
    ) -> Result<(), InstanceError> {
        self.refuse_if_running()?;
        if let Some(group) = &self.group {
            group.impose()?;
        }
        self.log_output_of(&mut command)?;
        let process = self.process.insert(spawned(self.program, command)?);
        if let Some(entry) = &mut self.entry {
            let group = self.group.as_ref().map(Group::directories).unwrap_or_default();
            entry.update(Some(process.id()), url.to_owned(), group)?;
        }
        let deadline = Instant::now() + STARTS_WITHIN;
        loop {
            let pid = process.id();
            if let Some(status) = process.try_wait().map_err(wait_fault(pid))? {
                self.process = None;
                return Err(self.ended(self.program, status));
            }
            // Asked first: what it has open once it answers is known then.
            let is_ready = is_ready(pid);
            if let Some(entry) = &mut self.entry {
                entry.set_shared_memory(segments_of(pid).iter().map(Segment::place).collect())?;
            }
            if is_ready {
                return Ok(());
            }
            if Instant::now() > deadline {
                self.end_process()?;
                return Err(self.too_slow("become ready", STARTS_WITHIN));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Runs a program that prepares the directory, to its end.
    pub(crate) fn prepare(&self, program: &'static str, mut command: Command) -> Result<(), InstanceError> {
        self.log_output_of(&mut command)?;
        let mut child = spawned(program, command)?;
        let status = child.wait().map_err(wait_fault(child.id()))?;
        if status.success() { Ok(()) } else { Err(self.ended(program, status)) }
    }

    /// Whether it runs, which is an error where something is to be changed that it uses.
    pub(crate) fn refuse_if_running(&mut self) -> Result<(), InstanceError> {
        match self.pid() {
            Some(pid) => Err(InstanceError::Running { program: self.program, pid }),
            None => Ok(()),
        }
    }

    /// Process of the server; `None` while it does not run.
    pub(crate) fn pid(&mut self) -> Option<u32> {
        let process = self.process.as_mut()?;
        match process.try_wait() {
            Ok(None) => Some(process.id()),
            _ => None,
        }
    }

    /// Asks the server to end by a signal and waits for it. A server that does not run is no error.
    pub(crate) fn stop(&mut self, signal: Signal) -> Result<(), InstanceError> {
        self.stop_within(signal, STOPS_WITHIN)
    }

    /// The same in less time. Its limits are lifted: they are those of its work, and not of its end.
    pub(crate) fn stop_within(&mut self, signal: Signal, limit: Duration) -> Result<(), InstanceError> {
        let Some(process) = &mut self.process else { return Ok(()) };
        if let Some(group) = &self.group {
            group.lift();
        }
        if let Some(handle) = Handle::open(process.id())? {
            handle.signal(signal)?;
            if !handle.wait(limit)? {
                return Err(self.too_slow("stop", limit));
            }
        }
        process.wait().map_err(wait_fault(process.id()))?;
        self.process = None;
        Ok(())
    }

    /// Ends the process at once and waits until it is gone.
    pub(crate) fn end_process(&mut self) -> Result<(), InstanceError> {
        if let Some(group) = &self.group {
            group.lift();
        }
        let Some(mut process) = self.process.take() else { return Ok(()) };
        let segments = segments_of(process.id());
        // It fails only on a process that has ended.
        let _ = process.kill();
        let ended = process.wait().map(drop).map_err(wait_fault(process.id()));
        remove_segments(&segments);
        ended
    }

    fn log_output_of(&self, command: &mut Command) -> Result<(), InstanceError> {
        let log = self.directory.open_log()?;
        let copy = log.try_clone().map_err(InstanceError::file("open", self.directory.log()))?;
        command.stdout(log).stderr(copy);
        Ok(())
    }

    fn ended(&self, program: &'static str, status: std::process::ExitStatus) -> InstanceError {
        InstanceError::Ended { program, status: status.to_string(), log: self.directory.log_tail() }
    }

    fn too_slow(&self, action: &'static str, limit: Duration) -> InstanceError {
        let log = self.directory.log_tail();
        InstanceError::TooSlow { program: self.program, action, limit_s: limit.as_secs(), log }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nobody is left who could be told.
        let _ = self.end_process();
        if let Some(entry) = &self.entry {
            entry.remove_shared_memory();
        }
        self.group = None;
        let is_gone = self.directory.clear().is_ok();
        if let Some(entry) = self.entry.as_ref().filter(|_| is_gone) {
            let _ = entry.remove();
        }
    }
}

/// The address that clients are given.
pub(crate) fn url(scheme: &str, port: u16, database: &str) -> String {
    format!("{scheme}://{USER}:{PASSWORD}@127.0.0.1:{port}/{database}")
}

fn spawned(program: &'static str, command: Command) -> Result<Child, InstanceError> {
    spawn(command).map_err(|source| InstanceError::Spawn { program: program.to_owned(), source })
}

fn wait_fault(pid: u32) -> impl FnOnce(std::io::Error) -> InstanceError {
    move |source| InstanceError::Process { action: "wait for", pid, source }
}
