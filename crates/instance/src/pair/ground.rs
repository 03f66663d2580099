//! What all pairs have in common: a directory with a place for each node, and the processes that stand there.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ownership::MadeDirectory;
use rustix::fs::Mode;
use rustix::process::Signal;

use super::error::PairError;
use super::network::{self, Link, Network};
use super::processes::Stand;
use super::volume::OwnVolume;
use super::{PairOptions, processes};
use crate::clock::{Clock, by_clock};
use crate::directory::{DATA, Directory, give_to};
use crate::limits::PlannedGroup;
use crate::postgres::{Segment, remove_of_system_v, remove_segments, remove_shared_memory, segments_of};
use crate::process::{Handle, command_in_session, spawn};
use crate::server::DIES_WITHIN;
use crate::user::User;
use crate::{Entry, Group, InstanceError, port};

/// Lines of each log that are told with an error.
const LOG_LINES: usize = 8;
/// No kind of pair has more nodes with data.
const NODES_MAX: usize = 3;

/// The directory of a pair, and its nodes.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) home: Directory,
    pub(crate) options: PairOptions,
    /// Those that hold data.
    pub(crate) nodes: Vec<Seat>,
    /// Volumes of nodes that are still to be seated, in their order; none where all lies in one directory.
    volumes: VecDeque<OwnVolume>,
    /// The groups of the nodes until they are made.
    groups: VecDeque<PlannedGroup>,
    /// That of its nodes alone, if they have one.
    pub(crate) network: Option<Network>,
    /// Monitor or arbitrator; none of a pair that is promoted by hand.
    pub(crate) witness: Option<Seat>,
    /// All that were given.
    ports: Vec<u16>,
    /// Whether it does not end with this program.
    pub(crate) lives_on: bool,
    /// Whether it is somebody else's by now.
    pub(crate) is_left: bool,
}

/// A node's place, its port, and what we have started there.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) name: &'static str,
    pub(crate) port: u16,
    /// Its place in the pair's own network, if that has one.
    link: Option<Link>,
    /// Its own, if it has one.
    pub(crate) clock: Option<Clock>,
    /// Its directory in the pair's.
    pub(crate) place: PathBuf,
    directory: ownership::Directory,
    /// Where all that it is to keep lies, if that is apart.
    pub(super) volume: Option<OwnVolume>,
    pub(super) data: Option<MadeDirectory>,
    log: File,
    log_path: PathBuf,
    pub(crate) process: Option<Child>,
    pub(crate) group: Option<Group>,
}

impl Ground {
    pub(crate) fn new(
        home: Directory,
        options: &PairOptions,
        mut entry: Option<&mut Entry>,
    ) -> Result<Self, InstanceError> {
        let lives_on = options.node().register().is_some_and(|registered| registered.lives_on);
        let network = Network::make(home.path(), options.network())?;
        let volumes =
            options.volumes().iter().map(|parent| OwnVolume::make(parent, home.user(), entry.as_deref_mut()));
        Ok(Self {
            volumes: volumes.collect::<Result<_, _>>()?,
            home,
            network,
            options: options.clone(),
            nodes: Vec::new(),
            groups: VecDeque::new(),
            witness: None,
            ports: Vec::new(),
            lives_on,
            is_left: false,
        })
    }

    fn volumes(&self) -> impl Iterator<Item = &OwnVolume> {
        self.nodes.iter().filter_map(|node| node.volume.as_ref()).chain(&self.volumes)
    }

    /// Leaves the directories on volumes of their own when this is dropped.
    pub(crate) fn keep(&mut self) {
        self.home.keep();
        self.nodes.iter_mut().filter_map(|node| node.volume.as_mut()).for_each(OwnVolume::keep);
    }

    /// Removes all directories. Whether none is left.
    pub(crate) fn clear(&self) -> bool {
        let are_gone = self.volumes().map(OwnVolume::clear).fold(true, |all, gone| all & gone.is_ok());
        self.home.clear().is_ok() && are_gone
    }

    /// Where processes of it stand.
    pub(crate) fn stands(&self) -> Result<Vec<Stand>, InstanceError> {
        let home = Stand::of(self.home.path())?;
        Ok(home.into_iter().chain(self.volumes().map(|volume| volume.stand().clone())).collect())
    }

    /// Makes the place of the next node that has data.
    pub(crate) fn seat_node(&mut self, name: &'static str, has_data: bool) -> Result<Seat, InstanceError> {
        let volume = self.volumes.pop_front();
        self.seat_on(name, has_data, volume)
    }

    /// Makes the place of a witness.
    pub(crate) fn seat(&mut self, name: &'static str, has_data: bool) -> Result<Seat, InstanceError> {
        self.seat_on(name, has_data, None)
    }

    /// Makes a place, with a directory for its data if that is to be there, and finds a port for it.
    fn seat_on(
        &mut self,
        name: &'static str,
        has_data: bool,
        volume: Option<OwnVolume>,
    ) -> Result<Seat, InstanceError> {
        let user = self.home.user();
        let made = self.home.make_in(name)?;
        let place = made.path().to_owned();
        let log_path = self.home.path().join(format!("{name}.log"));
        let log = self.home.make_growing(&format!("{name}.log"))?;
        let port = self.free_port()?;
        let link = self.network.as_mut().map(|network| network.join(name)).transpose()?;
        let mut seat = Seat {
            name,
            port,
            link,
            clock: None,
            place,
            directory: made,
            volume,
            data: None,
            log,
            log_path,
            process: None,
            group: None,
        };
        if has_data {
            seat.data = Some(seat.make(DATA, user)?);
        }
        if self.options.node().has_clock() {
            seat.clock = Some(Clock::make(&seat.directory)?);
        }
        Ok(seat)
    }

    /// A port that is free and that no other node was given.
    pub(crate) fn free_port(&mut self) -> Result<u16, InstanceError> {
        loop {
            let port = port::free()?;
            if !self.ports.contains(&port) {
                self.ports.push(port);
                return Ok(port);
            }
        }
    }

    /// The witness first.
    pub(crate) fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.witness.iter().chain(&self.nodes)
    }

    pub(crate) fn seats_mut(&mut self) -> impl Iterator<Item = &mut Seat> {
        self.witness.iter_mut().chain(&mut self.nodes)
    }

    /// Plans a group for each node that there may be, if anything of the nodes is limited. Gives their directories, so that the groups are
    /// known before they are made.
    pub(crate) fn plan_groups(&mut self) -> Result<Vec<PathBuf>, InstanceError> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let limits = self.options.node().limited();
        let count = if limits.is_empty() { 0 } else { NODES_MAX };
        for _ in 0..count {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("prony-{}-pair-{number}", std::process::id());
            self.groups.push_back(Group::plan(&name, limits)?);
        }
        Ok(self.groups.iter().flat_map(PlannedGroup::directories).collect())
    }

    /// Limits each node by a group of its own: each is a machine of that size.
    pub(crate) fn limit(&mut self) -> Result<(), InstanceError> {
        for (node, planned) in self.nodes.iter_mut().zip(self.groups.drain(..)) {
            node.group = Some(planned.make()?);
        }
        Ok(())
    }

    /// A command that stands in a node's place, as the servers' user.
    pub(crate) fn command(&self, seat: &Seat, program: &Path) -> Result<Command, InstanceError> {
        let network = seat.link.as_ref().map(|link| link.namespace.as_path());
        let (user, group) = (self.home.user(), seat.group.as_ref());
        let mut command =
            by_clock(seat.clock.as_ref(), program, |first| command_in_session(first, user, group, network))?;
        command.current_dir(&seat.place);
        Ok(command)
    }

    /// Runs a program that prepares a node, to its end.
    pub(crate) fn prepare(
        &self,
        seat: &Seat,
        program: &'static str,
        mut command: Command,
    ) -> Result<(), InstanceError> {
        seat.log_output_of(&mut command)?;
        let mut child = spawned(program, command)?;
        let status = child.wait().map_err(wait_fault(child.id()))?;
        if status.success() { Ok(()) } else { Err(self.ended_with(seat, program, status, &seat.log_text())) }
    }

    /// The same with a file as its input.
    pub(crate) fn prepare_from(
        &self,
        seat: &Seat,
        program: &'static str,
        mut command: Command,
        input: File,
    ) -> Result<(), InstanceError> {
        seat.log_output_of(&mut command)?;
        let before = seat.log_text().len();
        command.stdin(input);
        let mut child = spawned(program, command)?;
        let status = child.wait().map_err(wait_fault(child.id()))?;
        let said = seat.log_text();
        let is_wrong = said.get(before..).is_some_and(|said| said.contains("ERROR:"));
        if status.success() && !is_wrong {
            Ok(())
        } else {
            Err(self.ended_with(seat, program, status, &said))
        }
    }

    fn ended_with(
        &self,
        seat: &Seat,
        program: &'static str,
        status: ExitStatus,
        said: &str,
    ) -> InstanceError {
        let (node, status) = (seat.name.to_owned(), status.to_string());
        PairError::Ended { program, node, status, logs: tail_of(&seat.log_path, said) }.into()
    }

    /// A program that is to keep a node has ended by itself.
    pub(crate) fn refuse_if_ended(&mut self, program: &'static str) -> Result<(), InstanceError> {
        let ended = self.seats_mut().find_map(|seat| seat.has_ended().map(|status| (seat.name, status)));
        ended.map_or(Ok(()), |(name, status)| Err(self.ended(program, name, status)))
    }

    /// The same of one node.
    pub(crate) fn refuse_if_ended_at(
        &mut self,
        number: usize,
        program: &'static str,
    ) -> Result<(), InstanceError> {
        let seat = &mut self.nodes[number];
        let Some(status) = seat.has_ended() else { return Ok(()) };
        seat.process = None;
        let name = seat.name;
        Err(self.ended(program, name, status))
    }

    /// What it did not become in time.
    pub(crate) fn not_reached(&self, what: &'static str, limit: Duration, state: String) -> InstanceError {
        PairError::NotReached { what, limit_s: limit.as_secs(), state, logs: self.log_tails() }.into()
    }

    pub(crate) fn ended(&self, program: &'static str, node: &str, status: ExitStatus) -> InstanceError {
        let (node, status) = (node.to_owned(), status.to_string());
        PairError::Ended { program, node, status, logs: self.log_tails() }.into()
    }

    /// The ends of all logs, each under its name.
    pub(crate) fn log_tails(&self) -> String {
        self.seats().map(|seat| tail_of(&seat.log_path, &seat.log_text())).collect()
    }

    /// Ends everything at once.
    pub(crate) fn end(&mut self) -> Result<(), InstanceError> {
        for group in self.nodes.iter().filter_map(|node| node.group.as_ref()) {
            group.lift();
        }
        let others: Vec<Stand> = self.volumes().map(|volume| volume.stand().clone()).collect();
        let ended = end_standing(self.home.path(), others);
        self.seats_mut().try_for_each(Seat::reap)?;
        ended
    }
}

impl Seat {
    pub(crate) fn data(&self) -> PathBuf {
        self.kept().join(DATA)
    }

    /// Where all lies that it is to keep.
    pub(crate) fn kept(&self) -> &Path {
        self.volume.as_ref().map_or(&self.place, OwnVolume::path)
    }

    /// Where its processes stand: servers stand among their data.
    pub(crate) fn stands(&self) -> Result<Vec<Stand>, InstanceError> {
        let own = Stand::of(&self.place)?;
        Ok(own.into_iter().chain(self.volume.iter().map(|volume| volume.stand().clone())).collect())
    }

    /// Its processes.
    pub(crate) fn members(&self) -> Result<Vec<processes::Member>, InstanceError> {
        processes::in_any(&self.stands()?)
    }

    /// Makes a directory where all lies that it is to keep.
    pub(crate) fn make(&self, name: &str, user: Option<User>) -> Result<MadeDirectory, InstanceError> {
        let directory =
            self.volume.as_ref().map_or(Ok(&self.directory), |volume| volume.directory())?.clone();
        Self::make_in(&directory, name, user)
    }

    /// Makes one in its place, whatever it is to keep elsewhere.
    pub(crate) fn make_here(&self, name: &str, user: Option<User>) -> Result<MadeDirectory, InstanceError> {
        Self::make_in(&self.directory, name, user)
    }

    fn make_in(
        parent: &ownership::Directory,
        name: &str,
        user: Option<User>,
    ) -> Result<MadeDirectory, InstanceError> {
        let path = parent.path().join(name);
        let made = parent.make(OsStr::new(name)).map_err(InstanceError::file("make", &path))?;
        // Servers refuse to keep data where others could read them.
        rustix::fs::fchmod(made.directory(), Mode::RWXU)
            .map_err(|error| InstanceError::file("close to others", &path)(error.into()))?;
        give_to(user, made.directory(), &path)?;
        Ok(made)
    }

    /// Removes all of its data. It does not run.
    pub(crate) fn empty(&self) -> Result<(), InstanceError> {
        let Some(data) = &self.data else { return Ok(()) };
        data.clear().map_err(InstanceError::file("empty", self.data()))
    }

    /// Waits until nothing stands among its data: the children of a killed server end by themselves.
    pub(crate) fn await_rest(&self) -> Result<(), InstanceError> {
        processes::await_none(&self.data(), DIES_WITHIN)
    }

    /// Where clients reach it.
    pub(crate) fn address(&self) -> String {
        let host = self.link.as_ref().map_or(Ipv4Addr::LOCALHOST, |link| link.of_clients);
        format!("{host}:{}", self.port)
    }

    /// Where other nodes do.
    pub(crate) fn host(&self) -> Ipv4Addr {
        self.link.as_ref().map_or(Ipv4Addr::LOCALHOST, |link| link.of_nodes)
    }

    /// The addresses that it listens at: in a network of its own there is nobody else.
    pub(crate) fn listens_at(&self) -> &'static str {
        if self.link.is_some() { "*" } else { "127.0.0.1" }
    }

    /// Starts what runs there from now on.
    pub(crate) fn start(&mut self, program: &'static str, mut command: Command) -> Result<(), InstanceError> {
        if let Some(pid) = self.pid() {
            return Err(InstanceError::Running { program, pid });
        }
        if let Some(group) = &self.group {
            group.impose()?;
        }
        self.log_output_of(&mut command)?;
        self.process = Some(spawned(program, command)?);
        Ok(())
    }

    fn log_output_of(&self, command: &mut Command) -> Result<(), InstanceError> {
        let fault = || InstanceError::file("open", &self.log_path);
        let (log, copy) = (self.log.try_clone().map_err(fault())?, self.log.try_clone().map_err(fault())?);
        command.stdin(std::process::Stdio::null()).stdout(log).stderr(copy);
        Ok(())
    }

    /// What we have started, or `None` if it has ended.
    pub(crate) fn pid(&mut self) -> Option<u32> {
        let process = self.process.as_mut()?;
        match process.try_wait() {
            Ok(None) => Some(process.id()),
            _ => None,
        }
    }

    /// Signals what we have started there, if it runs.
    pub(crate) fn signal(&mut self, signal: Signal) -> Result<(), InstanceError> {
        let Some(pid) = self.pid() else { return Ok(()) };
        Handle::open(pid)?.map_or(Ok(()), |handle| handle.signal(signal))
    }

    /// How what we have started has ended, if it has.
    pub(crate) fn has_ended(&mut self) -> Option<ExitStatus> {
        self.process.as_mut()?.try_wait().ok()?
    }

    /// Asks it to end by a signal and waits for it. What does not run is no error.
    pub(crate) fn stop(
        &mut self,
        program: &'static str,
        signal: Signal,
        limit: Duration,
    ) -> Result<(), InstanceError> {
        let Some(pid) = self.pid() else { return self.reap() };
        if let Some(group) = &self.group {
            group.lift();
        }
        if let Some(handle) = Handle::open(pid)? {
            handle.signal(signal)?;
            if !handle.wait(limit)? {
                let (log, limit_s) = (self.log_text(), limit.as_secs());
                return Err(InstanceError::TooSlow { program, action: "stop", limit_s, log });
            }
        }
        self.reap()
    }

    /// Waits until what we have started there has ended by itself.
    pub(crate) fn await_end(&mut self, program: &'static str, limit: Duration) -> Result<(), InstanceError> {
        let handle = self.pid().map(Handle::open).transpose()?.flatten();
        if handle.is_some_and(|handle| !handle.wait(limit).unwrap_or(false)) {
            let (log, limit_s) = (self.log_text(), limit.as_secs());
            return Err(InstanceError::TooSlow { program, action: "stop", limit_s, log });
        }
        self.reap()
    }

    /// Collects what has ended. What runs is ended.
    pub(crate) fn reap(&mut self) -> Result<(), InstanceError> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        // It fails only on a process that has ended.
        let _ = process.kill();
        process.wait().map(drop).map_err(wait_fault(process.id()))
    }

    /// Ends all that stands in its place, and leaves what a crash leaves.
    pub(crate) fn kill(&mut self) -> Result<(), InstanceError> {
        let stands = self.stands()?;
        let segments = segments_in(&stands)?;
        let killed = processes::kill_all(&stands, DIES_WITHIN);
        self.reap()?;
        remove_segments(&segments);
        killed
    }

    pub(crate) fn log(&self) -> &Path {
        &self.log_path
    }

    /// All that it and its programs have said.
    pub(crate) fn log_text(&self) -> String {
        let opened = ownership::open_plain(&self.log_path);
        let read = opened.and_then(|mut file| {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes)
        });
        String::from_utf8_lossy(&read.unwrap_or_default()).into_owned()
    }
}

/// The last lines of a log, under its name.
fn tail_of(path: &Path, text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    format!("\nthe end of {}:\n{}", path.display(), lines[lines.len().saturating_sub(LOG_LINES)..].join("\n"))
}

/// Ends all that stands in the directory of a pair, frozen or not, and removes its network and what else the kernel keeps of it.
/// The same in the directories that its nodes have elsewhere.
pub(crate) fn end_all(directory: &Path, others: &[&Path]) -> Result<(), InstanceError> {
    let Some(stand) = Stand::of(directory)? else { return Ok(()) };
    end_standing(directory, others.iter().map(|other| stand.of_same(other)).collect())
}

fn end_standing(directory: &Path, others: Vec<Stand>) -> Result<(), InstanceError> {
    network::remove_of(directory)?;
    let mut stands: Vec<Stand> = Stand::of(directory)?.into_iter().collect();
    let elsewhere: Vec<PathBuf> = others.iter().map(|other| other.directory().join(DATA)).collect();
    stands.extend(others);
    let segments = segments_in(&stands)?;
    processes::kill_all(&stands, DIES_WITHIN)?;
    for data in data_directories(directory).into_iter().chain(elsewhere) {
        remove_shared_memory(&data, &segments);
    }
    for file in keeper_files(directory) {
        // Its fifth line is the number of the semaphore with which its processes take turns at the log.
        if let Some(id) = std::fs::read_to_string(file).unwrap_or_default().lines().nth(4) {
            remove_of_system_v("-s", id.trim());
        }
    }
    Ok(())
}

/// The shared memory of what stands in directories.
fn segments_in(stands: &[Stand]) -> Result<Vec<Segment>, InstanceError> {
    Ok(processes::in_any(stands)?.iter().flat_map(|one| segments_of(one.pid)).collect())
}

/// The places of a pair's nodes.
fn places(directory: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn data_directories(directory: &Path) -> Vec<PathBuf> {
    let below = places(directory).map(|place| place.join(DATA));
    below.filter(|path| path.join("postmaster.pid").is_file()).collect()
}

/// The files in which keepers say who they are.
fn keeper_files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left: Vec<PathBuf> = places(directory).map(|place| place.join(super::autoctl::RUNTIME)).collect();
    while let Some(path) = left.pop() {
        let file = path.join("pg_autoctl.pid");
        if file.is_file() {
            found.push(file);
        }
        let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
        let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        left.extend(directories.map(|entry| entry.path()));
    }
    found
}

fn spawned(program: &'static str, command: Command) -> Result<Child, InstanceError> {
    spawn(command).map_err(|source| InstanceError::Spawn { program: program.to_owned(), source })
}

fn wait_fault(pid: u32) -> impl FnOnce(std::io::Error) -> InstanceError {
    move |source| InstanceError::Process { action: "wait for", pid, source }
}
