//! Servers that are started for a study: made before the first trial, as each trial asks for them before it, and gone at the end.
//!
//! What is loaded before the first trial is loaded without limits. A server that a trial does not use does not run during it.

mod breaking;
mod disk_proof;
mod idle;
mod lifting;
mod sampler;
mod settings;
mod time;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use database::{RunId, Url};
use instance::{Device, Instance, InstanceError, Known, Limits, Pair, Standing, Usage};
use load::Tell;
use record::{FileCache, LimitProof, Preparation, ServerSetting, ServerStep, ServerUse};
use study::{Plan, Pristine, Server, StartedServer, Trial};

use crate::error::RunError;
use crate::faults::{Breaks, Broken, Watches};
use crate::placed::volume;
use crate::server_cpu::{MayUse, Metered, MeteredBy};
use breaking::{Nodes, OneServer, Watched};
pub use disk_proof::WithinLimits;
use disk_proof::cached_bytes;
pub(crate) use disk_proof::{DeviceRate, DeviceWork};
pub(crate) use lifting::Lifting;
pub(crate) use sampler::Groups;
use settings::{Configuration, Whole, engine, pair_of};
pub use time::preparation_s;

/// The first argument of this program when it is to prove limits, by what the second says.
pub const PROVES: &str = "prove-limits";

/// A node that came back has what it missed by then.
const REDUNDANT_WITHIN: std::time::Duration = std::time::Duration::from_secs(600);
/// So many signs of a run's identity tell its servers from those of others.
const RUN_SIGNS: usize = 8;

/// The servers of a study that were started for it.
pub(crate) struct StartedServers {
    servers: Vec<Running>,
    whole: Whole,
    /// What tells the servers of this run from those of others.
    run: String,
    /// This program, which proves limits as another process within them.
    program: PathBuf,
    /// Those that some trial wants restored, whatever the first one wants.
    restored: Vec<StartedServer>,
    lifting: Lifting,
}

struct Running {
    /// As the last trial asked for it.
    of: StartedServer,
    /// Also of who breaks it while a trial runs.
    instance: Arc<Mutex<Instance>>,
    configuration: Configuration,
    /// Whether its limits hold: not while it is loaded.
    is_limited: bool,
    /// What its limits were found to be since they hold.
    proofs: Vec<LimitProof>,
    /// What the page cache held of its files when that was last looked at, if anything depends on it.
    file_cache: Option<FileCache>,
    /// Whether a trial has run on what it keeps.
    is_used: bool,
    /// What it had used when the trial began.
    before: Usage,
    /// CPU time of those of its processes that were killed since, where no group counts them.
    spent: Duration,
    /// Its first process when the trial began: another one has not used what that one had.
    pid: Option<u32>,
}

/// A server that a trial uses, with the sessions that it has there.
struct Wanted {
    server: StartedServer,
    sessions: u32,
}

/// A server that is ready: its place among all, and what was done with it until when.
struct Done {
    at: usize,
    steps: Vec<ServerStep>,
    ready: Instant,
}

/// The servers of a trial, each once.
fn wanted(trial: &Trial) -> Vec<Wanted> {
    let mut all: Vec<Wanted> = Vec::new();
    let sessions = trial.work.any().sessions();
    for server in trial.databases().into_iter().filter_map(|database| database.server) {
        match all.iter_mut().find(|known| known.server.has_same_data(&server)) {
            Some(known) => known.sessions = known.sessions.saturating_add(sessions),
            None => all.push(Wanted { server, sessions }),
        }
    }
    all
}

impl StartedServers {
    /// None yet. The program is this one: it proves limits as another process within them.
    pub(crate) fn new(program: PathBuf) -> Self {
        Self {
            servers: Vec::new(),
            whole: Whole::here(),
            run: String::new(),
            program,
            restored: Vec::new(),
            lifting: Lifting::default(),
        }
    }

    /// The same for the trials of a plan.
    pub(crate) fn of_plan(mut self, plan: &Plan) -> Self {
        let of_trials = plan.trials.iter().flat_map(Trial::databases).filter_map(|wanted| wanted.server);
        let is_restored = |server: &StartedServer| server.server.between_trials == Some(Pristine::Restore);
        self.restored = of_trials.filter(is_restored).collect();
        self
    }

    /// The same for a run, by whose identity its servers are known: what a killed prony left of the same run is removed first.
    pub(crate) fn of_run(mut self, run: &RunId) -> Result<Self, RunError> {
        self.run = run.as_str().chars().take(RUN_SIGNS).collect();
        let of_run = format!("-{}", self.run);
        let known = Known::all().map_err(|source| of_register("that are known", source))?;
        let left =
            known.iter().filter(|known| known.name.ends_with(&of_run) && known.standing() == Standing::Left);
        for known in left {
            known.remove().map_err(|source| of_register(&known.name, source))?;
        }
        Ok(self)
    }

    /// Looks whether the servers of a trial could be started, and leaves nothing.
    pub(crate) fn look(&self, trial: &Trial) -> Result<(), RunError> {
        for Wanted { server, sessions } in wanted(trial) {
            let configuration = self.configuration(&server, sessions)?;
            let Some(engine) = engine(&server.server) else { continue };
            let options = configuration.options(&server, true);
            let looked = match pair_of(&server.server, &options) {
                Some((kind, options)) => Pair::look(engine, kind, &options),
                None => Instance::look(engine, &options),
            };
            looked.map_err(failed(&server))?;
        }
        Ok(())
    }

    /// The servers of a trial as they would be started, with the directories in which theirs would be made.
    pub(crate) fn planned(&self, trial: &Trial) -> Result<Vec<record::StartedServer>, RunError> {
        let planned = |Wanted { server, sessions }: Wanted| {
            let configuration = self.configuration(&server, sessions)?;
            let places = settings::parents(&server.server).into_iter();
            Ok(record::StartedServer {
                places: places.map(|(what, path)| (what, volume(&path))).collect(),
                ..described(&server, &configuration)
            })
        };
        wanted(trial).into_iter().map(planned).collect()
    }

    fn configuration(&self, server: &StartedServer, sessions: u32) -> Result<Configuration, RunError> {
        settings::check(server, &self.whole).map_err(failed(server))?;
        let configuration = Configuration::of(&server.server, sessions, &self.whole);
        configuration.on(&server.server, &settings::parents(&server.server)).map_err(failed(server))
    }

    fn position(&self, server: &StartedServer) -> Option<usize> {
        self.servers.iter().position(|running| running.of.has_same_data(server))
    }

    /// The address of a server, which runs from then on: it is made if there is none yet, by what the first trial asks of it.
    pub(crate) fn make(
        &mut self,
        server: &StartedServer,
        trial: &Trial,
        tell: &mut Tell<'_>,
    ) -> Result<Url, RunError> {
        let at = match self.position(server) {
            Some(at) => at,
            None => self.start(server, trial, tell)?,
        };
        let running = &self.servers[at];
        let mut instance = running.instance();
        if instance.pid().is_none() {
            instance.start_again().map_err(failed(server))?;
        }
        address(&instance)
    }

    fn start(
        &mut self,
        server: &StartedServer,
        trial: &Trial,
        tell: &mut Tell<'_>,
    ) -> Result<usize, RunError> {
        let sessions = wanted(trial)
            .iter()
            .find(|wanted| wanted.server.has_same_data(server))
            .map_or(0, |it| it.sessions);
        let configuration = self.configuration(server, sessions)?;
        let Some(engine) = engine(&server.server) else {
            unreachable!("the plan has no server of an engine that is not started")
        };
        tell(Preparation::waiting(format!("creating server {}", server.called())));
        // The groups of nodes are made with them, and hold nothing back until a fault does.
        let is_pair = server.server.pair().is_some();
        let options = configuration.options(server, is_pair).registered(self.registered_name(server), false);
        let instance = match pair_of(&server.server, &options) {
            Some((kind, options)) => {
                Pair::start(engine, kind, &options).map(|pair| Instance::Pair(Box::new(pair)))
            }
            None => Instance::start(engine, &options),
        };
        let instance = instance.map_err(failed(server))?;
        let is_limited = is_pair || configuration.limits.is_empty();
        self.servers.push(Running {
            of: server.clone(),
            instance: Arc::new(Mutex::new(instance)),
            configuration,
            is_limited,
            proofs: Vec::new(),
            file_cache: None,
            is_used: false,
            before: Usage::default(),
            spent: Duration::ZERO,
            pid: None,
        });
        Ok(self.servers.len() - 1)
    }

    /// What it is called among all servers of this machine. One of the same name that lies elsewhere is another.
    fn registered_name(&self, server: &StartedServer) -> String {
        let called = server.called();
        let same = self.servers.iter().filter(|running| running.of.called() == called).count();
        match same {
            0 => format!("{called}-{}", self.run),
            before => format!("{called}-place{}-{}", before + 1, self.run),
        }
    }

    /// The server that is recorded so: of several of a name, which lie in other places, the one at its address.
    fn of_record(&self, record: &record::StartedServer) -> Option<&Running> {
        self.servers.iter().find(|running| running.is_of(record))
    }

    fn of_record_mut(&mut self, record: &record::StartedServer) -> Option<&mut Running> {
        self.servers.iter_mut().find(|running| running.is_of(record))
    }

    /// Keeps what was loaded of the servers that have it again before each trial.
    pub(crate) fn save(&mut self, tell: &mut Tell<'_>) -> Result<(), RunError> {
        for running in &self.servers {
            let is_restored = self.restored.iter().any(|server| server.has_same_data(&running.of));
            let mut instance = running.instance();
            if is_restored && !instance.is_saved() {
                tell(Preparation::waiting(format!("saving the loaded data of {}", running.of.called())));
                let saved =
                    instance.stop().and_then(|()| instance.save()).and_then(|()| instance.start_again());
                saved.map_err(failed(&running.of))?;
            }
        }
        Ok(())
    }

    /// Whether a trial wants a server made anew that was there for one before.
    pub(crate) fn is_to_be_made_anew(&self, server: &StartedServer) -> bool {
        let running = self.position(server).map(|at| &self.servers[at]);
        running.is_some_and(|running| {
            running.is_used && server.server.between_trials == Some(Pristine::Recreate)
        })
    }

    /// Kills a server that runs, with -9 and all its processes.
    pub(crate) fn kill(&mut self, server: &StartedServer) -> Result<(), RunError> {
        let running = self.running(server);
        let used = running.usage().unwrap_or_default();
        running.instance().kill().map_err(failed(server))?;
        // A new process counts from nothing, a group goes on.
        if running.instance().group().is_none() {
            running.spent += used.cpu.saturating_sub(running.before.cpu);
            running.before = Usage::default();
        }
        Ok(())
    }

    /// Starts a server again that was killed.
    pub(crate) fn start_again(&mut self, server: &StartedServer) -> Result<(), RunError> {
        self.running(server).instance().start_again().map_err(failed(server))
    }

    fn running(&mut self, server: &StartedServer) -> &mut Running {
        let Some(at) = self.position(server) else {
            unreachable!("servers were made before the first trial")
        };
        &mut self.servers[at]
    }

    /// This program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Ends a server, with all that it has.
    pub(crate) fn remove(&mut self, server: &StartedServer) {
        if let Some(at) = self.position(server) {
            self.servers.remove(at);
        }
    }

    /// Makes the servers of a trial what it asks for, stops all others, and waits as long as is asked for. Gives how they stand.
    pub(crate) fn ready(
        &mut self,
        trial: &Trial,
        stop: &AtomicBool,
        tell: &mut Tell<'_>,
    ) -> Result<Vec<record::StartedServer>, RunError> {
        let all = wanted(trial);
        for running in &mut self.servers {
            if !all.iter().any(|wanted| wanted.server.has_same_data(&running.of)) {
                running.instance().stop().map_err(failed(&running.of))?;
            }
        }
        let done: Result<Vec<Done>, RunError> =
            all.iter().map(|wanted| self.ready_one(wanted, tell)).collect();
        // All of them rest at the same time.
        done?.into_iter().map(|done| self.wait_for(done, stop, tell)).collect()
    }

    /// Waits until a server is left alone by what was done with it.
    fn wait_for(
        &mut self,
        Done { at, mut steps, ready }: Done,
        stop: &AtomicBool,
        tell: &mut Tell<'_>,
    ) -> Result<record::StartedServer, RunError> {
        let running = &mut self.servers[at];
        let devices = match running.of.server.quiet_below {
            Some(_) => running.devices(),
            None => Vec::new(),
        };
        let of = &running.of;
        steps.extend(idle::wait(&of.called(), &of.server, &devices, ready, stop, tell));
        (running.before, running.spent) = (running.usage().unwrap_or_default(), Duration::ZERO);
        let pid = running.instance().pid();
        running.pid = pid;
        running.recorded(steps)
    }

    fn ready_one(&mut self, wanted: &Wanted, tell: &mut Tell<'_>) -> Result<Done, RunError> {
        let Wanted { server, sessions } = wanted;
        let configuration = self.configuration(server, *sessions)?;
        let Some(at) = self.position(server) else {
            unreachable!("servers were made before the first trial")
        };
        let (program, lifting) = (self.program.clone(), self.lifting.clone());
        let running = &mut self.servers[at];
        running.of = server.clone();
        let mut steps = Vec::new();
        let had = (running.is_limited, running.configuration.limits.clone());
        let ready = running.cycle(
            configuration,
            &lifting,
            &mut |what| {
                tell(Preparation::waiting(format!("{what} {}", server.called())));
            },
            &mut steps,
        );
        ready.map_err(failed(server))?;
        if had != (true, running.configuration.limits.clone()) {
            tell(Preparation::waiting(format!("testing the limits of {}", server.called())));
            let begin = Instant::now();
            running.prove(&program)?;
            steps.push(ServerStep::new("limits proved", begin.elapsed()));
        }
        running.is_used = true;
        Ok(Done { at, steps, ready: Instant::now() })
    }

    /// What lifts the limits of these servers where a run is to end.
    pub(crate) fn lifting(&self) -> Lifting {
        self.lifting.clone()
    }

    /// What breaks a server.
    pub(crate) fn breaks(&self, server: &StartedServer) -> Option<Broken> {
        let running = &self.servers[self.position(server)?];
        let shared = Arc::clone(&running.instance);
        let watch = locked(&shared).pair().map(|pair| pair.watch());
        let by: Arc<Mutex<dyn Breaks>> = match watch {
            Some(_) => Arc::new(Mutex::new(Nodes::new(shared))),
            None => Arc::new(Mutex::new(OneServer::new(shared))),
        };
        let watch = watch.map(|watch| Arc::new(Watched(watch)) as Arc<dyn Watches>);
        Some(Broken { by, watch })
    }

    /// What reads each second what these servers use; none where none of them has a group.
    pub(crate) fn sampler(&self, servers: &[record::StartedServer]) -> Option<Groups> {
        let group = |record: &record::StartedServer| {
            let running = self.of_record(record)?;
            Some((record.name.clone(), running.instance().group()?.in_use()))
        };
        let groups: Vec<_> = servers.iter().filter_map(group).collect();
        (!groups.is_empty()).then(|| Groups::new(groups))
    }

    /// The CPU of a server that has a group, and what it may use of this machine's.
    pub(crate) fn metered(&self, server: &StartedServer) -> Option<Metered> {
        let instance = self.servers[self.position(server)?].instance();
        let group = instance.group()?;
        let Limits { cpus, cpu_set, .. } = group.limits();
        let may_use = MayUse { cpus: *cpus, set: cpu_set.clone() };
        Some(Metered { by: MeteredBy::Group(group.in_use()), may_use })
    }

    /// Completes what is recorded of servers by what they used since their trial began. Tells the first that ran out of memory.
    pub(crate) fn add_use(&mut self, records: &mut [record::StartedServer]) -> Option<String> {
        let mut killed = None;
        for record in records {
            let Some(running) = self.of_record_mut(record) else { continue };
            let Some(now) = running.usage().filter(|_| running.is_counted()) else { continue };
            let mut used = used_since(&running.before, &now);
            used.cpu_s += running.spent.as_secs_f64();
            if used.oom_kills > 0 {
                killed = killed.or_else(|| Some(out_of_memory(&record.name, &used)));
            }
            record.used = Some(used);
        }
        killed
    }
}

/// A server that was started to live on.
#[derive(Clone, Debug, PartialEq)]
pub struct Staying {
    /// Where clients connect to, with the password of a server of loopback.
    pub url: String,
    /// Settings that follow from what it may use.
    pub chosen: Vec<ServerSetting>,
    /// What holds its limits, if it has any.
    pub limited_by: Option<String>,
}

/// Starts a server that lives on after this program under a name, and that [`Known`] finds.
///
/// # Errors
/// As of the servers of a study, and when the name is taken.
pub fn start_to_stay(server: &Server, name: &str) -> Result<Staying, RunError> {
    let server = StartedServer::alone(name, server);
    let configuration = StartedServers::new(PathBuf::new()).configuration(&server, 0)?;
    let Some(engine) = engine(&server.server) else {
        unreachable!("nobody asks for a server of an engine that is not started")
    };
    let options = configuration.options(&server, true).registered(name, true);
    Instance::look(engine, &options).map_err(failed(&server))?;
    let instance = Instance::start(engine, &options).map_err(failed(&server))?;
    let url = instance.url();
    let limited_by = instance.group().map(instance::Group::described);
    instance.leave();
    Ok(Staying { url, chosen: configuration.chosen, limited_by })
}

fn out_of_memory(name: &str, used: &ServerUse) -> String {
    let processes =
        if used.oom_kills == 1 { "a process".to_owned() } else { format!("{} processes", used.oom_kills) };
    format!(
        "the kernel killed {processes} of server {name} because memory ran out. Give it more memory, \
         smaller caches or fewer clients"
    )
}

fn used_since(before: &Usage, now: &Usage) -> ServerUse {
    ServerUse {
        cpu_s: now.cpu.saturating_sub(before.cpu).as_secs_f64(),
        throttled_s: now.throttled.saturating_sub(before.throttled).as_secs_f64(),
        memory_most_bytes: now.memory_most_bytes,
        memory_at_limit: now.memory_at_limit.saturating_sub(before.memory_at_limit),
        oom_kills: now.oom_kills.saturating_sub(before.oom_kills),
    }
}

fn locked(instance: &Mutex<Instance>) -> MutexGuard<'_, Instance> {
    instance.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    fn instance(&self) -> MutexGuard<'_, Instance> {
        locked(&self.instance)
    }

    /// Brings it into the state in which a trial is to find it.
    fn cycle(
        &mut self,
        configuration: Configuration,
        lifting: &Lifting,
        tell: &mut dyn FnMut(&str),
        steps: &mut Vec<ServerStep>,
    ) -> Result<(), InstanceError> {
        let mut step = |tell: &mut dyn FnMut(&str),
                        doing: &str,
                        what: &str,
                        run: &mut dyn FnMut() -> Result<(), InstanceError>| {
            tell(doing);
            let begin = Instant::now();
            run()?;
            steps.push(ServerStep::new(what, begin.elapsed()));
            Ok(())
        };
        let restores = self.of.server.between_trials == Some(Pristine::Restore) && self.is_used;
        let restarts = self.of.server.between_trials == Some(Pristine::Restart) && self.is_used;
        let changes = !self.is_limited || configuration != self.configuration;
        let cache = self.cache_wanted(&configuration, changes || restores);
        let runs = self.instance().pid().is_some();
        if let Some(pair) = self.instance().pair().filter(|_| runs) {
            // What was broken in the trial before may still be catching up.
            return step(tell, "waiting for all nodes of", "redundant", &mut || {
                pair.wait_until_redundant(REDUNDANT_WITHIN, &AtomicBool::new(false))
            });
        }
        if runs && !(restores || restarts || changes || cache == CacheWanted::Evicted) {
            return Ok(());
        }
        let shared = Arc::clone(&self.instance);
        let mut instance = locked(&shared);
        if runs {
            step(tell, "stopping", "stopped", &mut || instance.stop())?;
        }
        if restores {
            assert!(instance.is_saved(), "what is restored was saved once it was loaded");
            step(tell, "restoring", "restored", &mut || instance.restore())?;
        }
        if changes {
            instance.configure(&configuration.options(&self.of, true))?;
            (self.configuration, self.is_limited) = (configuration, true);
            lifting.set(&self.of.called(), instance.group().map(instance::Group::lifter));
        }
        match cache {
            CacheWanted::AsItIs => {}
            CacheWanted::Unlimited => self.file_cache = None,
            CacheWanted::Warm => self.file_cache = Some(cached(&mut instance, false)?),
            CacheWanted::Evicted => step(tell, "dropping the caches of", "caches dropped", &mut || {
                self.file_cache = Some(cached(&mut instance, true)?);
                Ok(())
            })?,
        }
        step(tell, "starting", "started", &mut || instance.start_again())
    }

    /// What is done about files that are cached, before a server starts with such limits. Whatever was loaded or restored was cached outside
    /// the group of these limits.
    fn cache_wanted(&self, configuration: &Configuration, is_filled_outside: bool) -> CacheWanted {
        let is_passed = configuration.limits.are_passed_by_cached_files();
        let was_warm = self.file_cache.is_some_and(|cache| !cache.is_evicted);
        match self.of.server.cold {
            Some(true) => CacheWanted::Evicted,
            None if is_passed && (is_filled_outside || was_warm) => CacheWanted::Evicted,
            Some(false) if is_passed && is_filled_outside => CacheWanted::Warm,
            Some(false) | None if is_passed => CacheWanted::AsItIs,
            Some(false) | None => CacheWanted::Unlimited,
        }
    }

    /// Does within the limits of the server what they allow, and refuses limits that do not hold.
    fn prove(&mut self, program: &Path) -> Result<(), RunError> {
        let within = self.within_limits()?;
        self.proofs.clear();
        if within.work.is_empty() {
            return Ok(());
        }
        let unproved = |why: String| RunError::Unproved { name: self.of.called(), why };
        if program.as_os_str().is_empty() {
            let why =
                "prony cannot find its own program file without /proc. Mount it: `mount -t proc proc /proc`";
            return Err(unproved(why.to_owned()));
        }
        let told = serde_json::to_string(&within.work).unwrap_or_default();
        let said = self.instance().run_within(program, &[PROVES, &told]).map_err(failed(&self.of))?;
        let said: Result<Vec<LimitProof>, String> = serde_json::from_slice(&said)
            .map_err(|error| unproved(format!("the limit test returned an unexpected answer: {error}")))?;
        self.proofs = said.map_err(unproved)?;
        match self.proofs.iter().find(|proof| !proof.holds()) {
            None => Ok(()),
            Some(LimitProof { of, expected, achieved }) => Err(unproved(format!(
                "its limit of {expected} {of} has no effect here: the test reached {achieved:.1}"
            ))),
        }
    }

    /// What is to be done within its limits, in directories of our own on the devices that are limited.
    fn within_limits(&self) -> Result<Within, RunError> {
        let limits = &self.configuration.limits;
        let mut within = Within {
            work: WithinLimits { devices: Vec::new(), cpus: limits.cpus, cpu_set: limits.cpu_set.clone() },
            _directories: Vec::new(),
        };
        let parents = settings::parents(&self.of.server);
        for limit in &limits.devices {
            let is_on = |path: &PathBuf| Device::under(path).is_ok_and(|device| device == limit.device);
            let Some((_, parent)) = parents.iter().find(|(_, path)| is_on(path)) else { continue };
            let directory = Scratch::make(parent)
                .map_err(|error| InstanceError::File {
                    action: "create a directory in",
                    path: parent.clone(),
                    source: error,
                })
                .map_err(failed(&self.of))?;
            for (of, expected) in [
                (DeviceRate::Reads, limit.read_iops),
                (DeviceRate::Writes, limit.write_iops),
                (DeviceRate::ReadBytes, limit.read_bytes_per_s),
                (DeviceRate::WriteBytes, limit.write_bytes_per_s),
            ] {
                let Some(expected) = expected else { continue };
                within.work.devices.push(DeviceWork {
                    device: limit.device.to_string(),
                    directory: directory.0.directory().path().to_owned(),
                    of,
                    expected: expected as f64,
                });
            }
            within._directories.push(directory);
        }
        Ok(within)
    }

    /// The kernel's names of the devices that its directories lie on.
    fn devices(&mut self) -> Vec<String> {
        let places = self.instance().places().into_iter();
        let mut devices: Vec<String> =
            places.filter_map(|(_, path)| volume(&path).device.known().cloned()).collect();
        devices.sort();
        devices.dedup();
        devices
    }

    /// Whether that is the record of this one: several servers can have one name.
    fn is_of(&self, record: &record::StartedServer) -> bool {
        let is_at = |url: Url| url.host().unwrap_or_default() == record.address;
        self.of.called() == record.name && address(&self.instance()).is_ok_and(is_at)
    }

    /// Whether what it used in a trial is counted: by its group, or by a process that is still there. Of what was killed and started
    /// again on purpose nobody knows.
    fn is_counted(&self) -> bool {
        let mut instance = self.instance();
        instance.group().is_some() || !self.spent.is_zero() || instance.pid() == self.pid
    }

    /// What it has used; nothing is known of several that stand for each other; of one without limits, which has no group that would count, the time of its processes alone.
    fn usage(&mut self) -> Option<Usage> {
        let mut instance = self.instance();
        if instance.pair().is_some() {
            return None;
        }
        if let Some(group) = instance.group() {
            return group.usage().ok();
        }
        let cpu = crate::server::cpu_time(instance.pid()?)?;
        Some(Usage { cpu, ..Usage::default() })
    }

    /// What holds its limits; of a pair, whose nodes have a group each, that of the first.
    fn held_by(&self) -> String {
        let mut instance = self.instance();
        let of_node =
            instance.pair().and_then(|pair| pair.group("node1").ok()?.map(instance::Group::described));
        of_node.or_else(|| instance.group().map(instance::Group::described)).unwrap_or_default()
    }

    fn recorded(&mut self, steps: Vec<ServerStep>) -> Result<record::StartedServer, RunError> {
        let address = address(&self.instance())?.host().unwrap_or_default();
        let places: BTreeMap<_, _> = self
            .instance()
            .places()
            .into_iter()
            .map(|(what, path): (String, PathBuf)| (what, volume(&path)))
            .collect();
        let by = self.held_by();
        let limits = self.configuration.recorded(by, self.proofs.clone());
        let read =
            self.instance().pair().map(|pair| pair.settings()).transpose().map_err(failed(&self.of))?;
        let setting = |(name, value)| ServerSetting { name, value };
        Ok(record::StartedServer {
            pair_settings: read.unwrap_or_default().into_iter().map(setting).collect(),
            address,
            places,
            limits,
            file_cache: self.file_cache,
            steps,
            ..described(&self.of, &self.configuration)
        })
    }
}

/// What the page cache is to hold of a server's files when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CacheWanted {
    /// What it holds: its group has read or written that.
    AsItIs,
    /// What it holds, and no limit depends on it.
    Unlimited,
    /// What it holds, as the study asks for it, though reads pass the limits.
    Warm,
    /// Nothing.
    Evicted,
}

/// How often files are evicted before what is left is left: a page that is being written stays once.
const EVICTIONS: usize = 3;

/// Looks at what the page cache holds of the files of a server that does not run, and evicts them if that is wanted.
fn cached(instance: &mut Instance, is_evicted: bool) -> Result<FileCache, InstanceError> {
    let seen = instance.cached(cached_bytes)?;
    let mut cache = FileCache {
        is_evicted,
        files_bytes: seen.files_bytes,
        cached_before_bytes: seen.cached_bytes,
        cached_bytes: seen.cached_bytes,
    };
    for _ in 0..EVICTIONS {
        if !is_evicted || cache.cached_bytes == 0 {
            break;
        }
        instance.drop_caches()?;
        cache.cached_bytes = instance.cached(cached_bytes)?.cached_bytes;
    }
    Ok(cache)
}

/// What proves limits, and where.
struct Within {
    work: WithinLimits,
    /// They are there as long as the work is done.
    _directories: Vec<Scratch>,
}

/// A directory of our own that is gone after its use.
struct Scratch(ownership::MadeDirectory);

impl Scratch {
    fn make(parent: &Path) -> std::io::Result<Self> {
        let parent = ownership::open_trusted(&std::path::absolute(parent)?)?;
        Ok(Self(parent.make_private("prony-proof-")?))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left who could be told.
        let _ = self.0.remove_with_all();
    }
}

/// What is known of a server before it is started.
fn described(server: &StartedServer, configuration: &Configuration) -> record::StartedServer {
    record::StartedServer {
        name: server.called(),
        engine: server.server.engine.map(study::Engine::called).unwrap_or_default().to_owned(),
        pair: server.server.pair_in_words(),
        faults: server.server.all_faults().iter().map(ToString::to_string).collect(),
        asked: configuration.asked.clone(),
        chosen: configuration.chosen.clone(),
        limits: configuration.recorded(String::new(), Vec::new()),
        ..record::StartedServer::default()
    }
}

fn address(instance: &Instance) -> Result<Url, RunError> {
    let parsed = instance.url().parse();
    parsed.map_err(|error: database::UrlError| {
        RunError::Database(database::Error::Unreachable(error.to_string()))
    })
}

fn of_register(name: &str, source: InstanceError) -> RunError {
    RunError::Server { name: name.to_owned(), source: Box::new(source) }
}

/// The error of a server of the study.
fn failed(server: &StartedServer) -> impl FnOnce(InstanceError) -> RunError {
    let name = server.called();
    move |source| RunError::Server { name, source: Box::new(source) }
}
