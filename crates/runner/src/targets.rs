//! What the trials of a study are run against: all of it is made ready before the first trial, so that no trial waits for it,
//! and left as it was found after the last. A database is held once, whoever uses it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use database::{Claim, Engine, Error, Existing, Own, RunId, Url};
use load::Tell;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{InspectedServer, Preparation, Unit};
use study::{Fault, Plan, StartedServer, Trial, WantedDatabase};
use tokio::runtime::Runtime;
use workload::ServerMeter;
use workload::orders::store::Loaded;
use workload::waiting::{self, Making};

use crate::activity::Looked;
use crate::clusters::{self, Clusters};
use crate::environment::Lying;
use crate::error::{Listener, RunError};
use crate::faults::{Breaks, Broken, Commands, Faults, Scheduled};
use crate::inspect;
use crate::preparing::Preparing;
use crate::resume::Resume;
use crate::running::{Bringing, Kept};
use crate::server::{self, Lies};
use crate::server_cpu::{self, MayUse, Metered, MeteredBy};
use crate::started::{Groups, Lifting, StartedServers};
use crate::workloads;

/// Files and databases of a study.
pub(crate) struct Targets {
    /// Files and devices of the disk tests, by the paths that were given.
    files: Vec<(Vec<PathBuf>, disk::Target)>,
    databases: Vec<Held>,
    /// Databases that some trial wants brought back.
    kept: Vec<Kept>,
    /// Servers that were started for them; they end after the databases were given up.
    servers: StartedServers,
    /// Clusters of others as they were found.
    clusters: Clusters,
    /// What their connections live on.
    runtime: Runtime,
}

/// A database of our own that is held.
pub(crate) struct Held {
    wanted: WantedDatabase,
    /// Address of its server as it was given, or of the one that was started.
    url: Url,
    pub(crate) own: Own,
    /// What was loaded into it, where that is known.
    pub(crate) loaded: Option<Loaded>,
    /// Whether the next trial finds it as it was made.
    pub(crate) fresh: bool,
    /// Whether a trial has run on it.
    pub(crate) is_used: bool,
    lies: Lies,
}

/// How all that a trial is run against stands.
pub(crate) struct Ready {
    /// Servers that were started for it.
    pub(crate) servers: Vec<record::StartedServer>,
    /// Clusters of others that it loads.
    pub(crate) clusters: Vec<record::AttachedCluster>,
    /// What was done before it with databases of servers that somebody else runs.
    pub(crate) done: Vec<String>,
}

/// Looks at the databases of a plan that are files, and touches nothing: what will be refused is refused before anybody reads what
/// would be written to it. No server is asked.
///
/// # Errors
/// As when they are taken up, for what is not ours, or is there and is not to be.
pub fn look_at_databases(plan: &Plan) -> Result<(), RunError> {
    for (wanted, trial) in plan.databases() {
        let looked = database::look(&wanted.url, wanted.existing, instead(Some(trial)));
        if let Err(error) = looked {
            return Err(told_of(&wanted, trial).unwrap_or(error.into()));
        }
    }
    Ok(())
}

/// What is to be told of a database that is refused, where what it holds says more than whose it is.
fn told_of(wanted: &WantedDatabase, trial: &Trial) -> Option<RunError> {
    if !database::was_closed(&wanted.url) {
        return None;
    }
    let claim = claim(wanted, &RunId::new().ok()?, Some(trial));
    let runtime = Targets::new(Path::new("")).ok()?.runtime;
    runtime.block_on(workloads::look(&trial.work, wanted, &claim)).err()
}

/// Looks at all databases of a plan as a run would take them up, and takes nothing: servers are reached, and stores that are to be
/// driven are there.
///
/// # Errors
/// As when they are taken up, for what may not be, and for a server that cannot be reached or does not let us in.
pub fn look_at_targets(plan: &Plan, run: &RunId) -> Result<(), RunError> {
    let targets = Targets::new(Path::new(""))?;
    plan.trials.iter().try_for_each(|trial| targets.servers.look(trial))?;
    clusters::look(plan, &targets.runtime)?;
    for (wanted, trial) in looked_at(plan) {
        let claim = claim(&wanted, run, Some(trial));
        targets.runtime.block_on(workloads::look(&trial.work, &wanted, &claim))?;
    }
    Ok(())
}

/// Databases that are looked at before anything is announced, each with a trial that uses it. One that is used as it is is looked at for each
/// trial that asks for something else of it.
fn looked_at(plan: &Plan) -> Vec<(WantedDatabase, &Trial)> {
    let mut all = plan.databases();
    for trial in &plan.trials {
        let asked = trial.work.any().parameters();
        for wanted in trial.databases().into_iter().filter(|wanted| wanted.existing == Existing::AsItIs) {
            let is_known = |(known, other): &(WantedDatabase, &Trial)| {
                known.is_same(&wanted) && other.work.any().parameters() == asked
            };
            if !all.iter().any(is_known) {
                all.push((wanted, trial));
            }
        }
    }
    // What is started for the study is made anew.
    all.retain(|(wanted, _)| wanted.server.is_none());
    all
}

/// The same of a study that is taken up again by `run`, or by the one that it was begun with where that is known.
///
/// # Errors
/// As there. Where no trial is left, only what the study made itself is looked for, and what is another's is none of that.
pub fn look_again(plan: &Plan, resume: &Resume, run: &RunId) -> Result<(), RunError> {
    let run = resume.run().unwrap_or_else(|| run.clone());
    if resume.has_trials() {
        return look_at_targets(plan, &run);
    }
    let targets = Targets::new(Path::new(""))?;
    for wanted in of_its_own(plan) {
        match targets.runtime.block_on(database::look_as(
            &wanted.url,
            &wanted.name,
            &claim(&wanted, &run, None),
        )) {
            Ok(_) | Err(Error::NoDatabase(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What a plan makes for itself, to be taken by nobody but the run that made it.
fn of_its_own(plan: &Plan) -> impl Iterator<Item = WantedDatabase> {
    // Of a server that was started for the study nothing can be left but its directories.
    let is_left = |wanted: &WantedDatabase| wanted.is_transient() && wanted.server.is_none();
    let transient = plan.databases().into_iter().filter(move |(wanted, _)| is_left(wanted));
    // Whatever the study asks for: only what it made itself is to go.
    transient.map(|(wanted, _)| WantedDatabase { existing: Existing::Refuse, ..wanted })
}

fn claim(wanted: &WantedDatabase, run: &RunId, trial: Option<&Trial>) -> Claim {
    Claim { is_transient: !wanted.keep, instead: instead(trial), ..Claim::new(run.clone(), wanted.existing) }
}

/// The servers that a plan would start, each as it would stand in a trial and each once, with the directories in which theirs would be
/// made. Nothing is started, and nobody is asked.
///
/// # Errors
/// Where limits of devices are asked for, and something lies on none that the kernel counts.
pub fn planned_servers(plan: &Plan) -> Result<Vec<record::StartedServer>, RunError> {
    let servers = StartedServers::new(PathBuf::new());
    let mut all: Vec<record::StartedServer> = Vec::new();
    for trial in &plan.trials {
        for server in servers.planned(trial)? {
            if !all.contains(&server) {
                all.push(server);
            }
        }
    }
    Ok(all)
}

/// How what is there could be taken up instead: a store that is there is driven, and whatever else is there is gone on in.
fn instead(trial: Option<&Trial>) -> Option<Existing> {
    let is_driven = trial.is_some_and(|trial| trial.work.any().needs().are_loaded());
    Some(if is_driven { Existing::Use } else { Existing::Reuse })
}

fn runtime() -> Result<Runtime, RunError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.map_err(|error| Error::Unreachable(format!("cannot wait for a database: {error}")))?)
}

impl Targets {
    fn new(program: &Path) -> Result<Self, RunError> {
        let runtime = runtime()?;
        Ok(Self {
            files: Vec::new(),
            databases: Vec::new(),
            kept: Vec::new(),
            servers: StartedServers::new(program.to_owned()),
            clusters: Clusters::default(),
            runtime,
        })
    }

    /// Makes, loads or takes up the databases of a plan.
    pub(crate) fn open(
        plan: &Plan,
        run: &RunId,
        program: &Path,
        stop: &AtomicBool,
        listen: &mut Listener<'_>,
    ) -> Result<Self, RunError> {
        let mut targets = Self::new(program)?;
        if plan.databases().iter().any(|(wanted, _)| wanted.server.is_some()) {
            targets.servers = targets.servers.of_plan(plan).of_run(run)?;
        }
        let databases = plan.databases().into_iter().map(|(wanted, _)| wanted);
        targets.kept =
            databases.filter_map(|wanted| Some(Kept::new(wanted.clone(), plan.saving(&wanted)?))).collect();
        let mut preparing = Preparing::new(listen);
        let mut tell = |at| preparing.tell(at);
        let opened = plan
            .databases()
            .into_iter()
            .try_for_each(|(wanted, trial)| targets.hold(wanted, run, stop, Some(trial), &mut tell))
            .and_then(|()| targets.servers.save(&mut tell));
        match opened.and(preparing.end()) {
            Ok(()) => Ok(targets),
            Err(error) => Err(match (error, targets.leave(stop)) {
                (RunError::Interrupted(why), Err(left)) => RunError::Interrupted(format!("{why}; {left}")),
                // The error that led here is what is told.
                (error, _) => error,
            }),
        }
    }

    /// What a study that was killed after its last trial had made for itself, so that it is removed with it.
    pub(crate) fn left(plan: &Plan, run: &RunId, stop: &AtomicBool) -> Result<Self, RunError> {
        let mut targets = Self::new(Path::new(""))?;
        for wanted in of_its_own(plan) {
            match targets.hold(wanted, run, stop, None, &mut |_| {}) {
                Ok(()) | Err(RunError::Database(Error::NoDatabase(_))) => {}
                Err(error) => {
                    // The error that led here is what is told.
                    let _ = targets.leave(stop);
                    return Err(error);
                }
            }
        }
        Ok(targets)
    }

    /// Holds a database as the work of a trial wants it; without a trial it is made, or taken up, as it is.
    fn hold(
        &mut self,
        wanted: WantedDatabase,
        run: &RunId,
        stop: &AtomicBool,
        trial: Option<&Trial>,
        tell: &mut Tell<'_>,
    ) -> Result<(), RunError> {
        let claim = claim(&wanted, run, trial);
        // Where it really is.
        let found = match (&wanted.server, trial) {
            (Some(server), Some(trial)) => {
                WantedDatabase { url: self.servers.make(server, trial, tell)?, ..wanted.clone() }
            }
            _ => wanted.clone(),
        };
        let url = found.url.clone();
        let is_kept = self.kept.iter().any(|kept| kept.wanted.is_same(&wanted));
        let asked = Asked { wanted: &found, claim: &claim, runtime: &self.runtime, stop, is_kept };
        let (own, loaded) = match trial {
            Some(trial) => workloads::ready(&trial.work, &asked, tell)?,
            None => (asked.make(tell)?, None),
        };
        let fresh = !own.was_there();
        let lies = self.runtime.block_on(server::lies(&own, stop));
        // Held before anything of it is kept: what was made is removed with the others if that fails.
        self.databases.push(Held { wanted, url, own: own.clone(), loaded, fresh, is_used: false, lies });
        if let Some(kept) = self.kept.iter_mut().find(|kept| kept.wanted.is_same(&found)) {
            kept.keep(&own, (&self.runtime, stop), tell)?;
        }
        if stop.load(Ordering::Relaxed) { Err(RunError::Interrupted(String::new())) } else { Ok(()) }
    }

    /// Makes the servers that were started for a trial what it asks for. Gives how they stand; none if it has none.
    pub(crate) fn ready(
        &mut self,
        trial: &Trial,
        run: &RunId,
        stop: &AtomicBool,
        listen: &mut Listener<'_>,
    ) -> Result<Ready, RunError> {
        let mut preparing = Preparing::new(listen);
        let ready = self.ready_telling(trial, run, stop, &mut |at| preparing.tell(at));
        preparing.end()?;
        ready
    }

    fn ready_telling(
        &mut self,
        trial: &Trial,
        run: &RunId,
        stop: &AtomicBool,
        tell: &mut Tell<'_>,
    ) -> Result<Ready, RunError> {
        let clusters = self.clusters.ready(trial, (&self.runtime, stop), tell)?;
        let is_used = |wanted: &WantedDatabase| {
            self.databases.iter().any(|held| held.is_used && held.wanted.is_same(wanted))
        };
        let mut anew: Vec<WantedDatabase> = trial.databases();
        anew.retain(|wanted| match &wanted.server {
            Some(server) => self.servers.is_to_be_made_anew(server),
            None => wanted.cycle.anew && is_used(wanted),
        });
        for wanted in &anew {
            self.give_up(wanted, stop)?;
        }
        let is_anew = anew.iter().any(|wanted| wanted.server.is_some());
        anew.into_iter().try_for_each(|wanted| self.hold(wanted, run, stop, Some(trial), tell))?;
        if is_anew {
            self.servers.save(tell)?;
        }
        let servers = self.servers.ready(trial, stop, tell)?;
        self.check_held_again(trial, stop)?;
        let done = self.bring(trial, stop, tell)?;
        Ok(Ready { servers, clusters, done })
    }

    /// Gives up a database that is made anew, with the server that was started for it.
    fn give_up(&mut self, wanted: &WantedDatabase, stop: &AtomicBool) -> Result<(), RunError> {
        let Some(at) = self.databases.iter().position(|held| held.wanted.is_same(wanted)) else {
            return Ok(());
        };
        let held = self.databases.remove(at);
        match &wanted.server {
            Some(server) => self.servers.remove(server),
            // Its sessions end with it, and with them their locks: whoever makes the database anew does not wait on this runtime.
            None => runtime()?.block_on(waiting::remove(held.own, stop))?,
        }
        Ok(())
    }

    /// Whoever held a database lost it with the server that was started again, or with the member of a cluster that took the writes.
    fn check_held_again(&mut self, trial: &Trial, stop: &AtomicBool) -> Result<(), RunError> {
        let may_be_lost = |held: &&mut Held| held.wanted.server.is_some() || held.wanted.cluster.is_some();
        let held = self.databases_of(trial).into_iter().filter(may_be_lost);
        let held: Vec<Own> = held.map(|held| held.own.clone()).collect();
        for own in held {
            let taken = self.runtime.block_on(waiting::unless_stopped(stop, own.is_held()));
            if let database::Held::Lost(why) = taken.ok_or_else(|| RunError::Interrupted(String::new()))?? {
                return Err(RunError::Database(Error::Lost(why)));
            }
        }
        Ok(())
    }

    /// Brings databases of servers that somebody else runs to what a trial asks for. Tells what was done.
    fn bring(
        &mut self,
        trial: &Trial,
        stop: &AtomicBool,
        tell: &mut Tell<'_>,
    ) -> Result<Vec<String>, RunError> {
        let mut wanted: Vec<WantedDatabase> = trial.databases();
        wanted.retain(|wanted| wanted.server.is_none());
        let mut done = Vec::new();
        let kept = &self.kept;
        let mut bringing = Bringing { trial, runtime: &self.runtime, stop, tell, kept, done: &mut done };
        bringing.restart(&wanted)?;
        for wanted in &wanted {
            if let Some(held) = self.databases.iter_mut().find(|held| held.wanted.is_same(wanted)) {
                bringing.bring(held, wanted)?;
            }
        }
        bringing.rest(&wanted);
        Ok(done)
    }

    /// What breaks the servers of a trial while it runs, as it asks for. What is drawn of each is drawn by the seed and its number.
    pub(crate) fn faults(&self, trial: &Trial, seed: u64) -> Faults {
        let mut scheduled = Vec::new();
        let mut chance =
            Xoshiro256PlusPlus::seed_from_u64(seed ^ u64::from(trial.planned.number).rotate_left(32));
        let by_commands = |commands: BTreeMap<String, String>| -> Arc<Mutex<dyn Breaks>> {
            Arc::new(Mutex::new(Commands::new(commands, trial.planned.clone())))
        };
        let mut schedule = |name: &str, faults: &[Fault], broken: &dyn Fn(&Fault) -> Broken| {
            for fault in faults {
                let broken = broken(fault);
                let drawn = (chance.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                scheduled.push(Scheduled::new(fault, name, drawn, broken));
            }
        };
        let mut known: Vec<StartedServer> = Vec::new();
        for server in trial.databases().into_iter().filter_map(|wanted| wanted.server) {
            if known.iter().any(|known| known.has_same_data(&server)) {
                continue;
            }
            let called = server.called();
            if let Some(broken) = self.servers.breaks(&server) {
                let StartedServer { server, .. } = &server;
                let commands = by_commands(server.fault.clone());
                schedule(&called, server.all_faults(), &|fault| {
                    let by = if server.is_by_command(fault) { &commands } else { &broken.by };
                    Broken { by: Arc::clone(by), ..broken.clone() }
                });
            }
            known.push(server);
        }
        for (name, server) in trial.target.server.iter().filter(|(_, server)| server.runs()) {
            let broken = Broken { by: by_commands(server.fault.clone()), watch: None };
            schedule(name, server.all_faults(), &|_| broken.clone());
        }
        for (name, cluster) in trial.target.loaded_clusters() {
            let broken = Broken { by: by_commands(cluster.commands()), watch: None };
            schedule(name, cluster.all_faults(), &|_| broken.clone());
        }
        Faults::new(scheduled).watching(self.clusters.watched(trial))
    }

    /// What lifts the limits of started servers where a run is to end; none where there are none.
    pub(crate) fn lifting(&self) -> Option<Lifting> {
        self.databases.iter().any(|held| held.wanted.server.is_some()).then(|| self.servers.lifting())
    }

    /// What reads each second what started servers use; none where none of them has a group.
    pub(crate) fn sampler(&self, servers: &[record::StartedServer]) -> Option<Groups> {
        self.servers.sampler(servers)
    }

    /// Completes what is recorded of started servers once their trial has ended. Tells of one that ran out of memory.
    pub(crate) fn add_use(&mut self, servers: &mut [record::StartedServer]) -> Option<String> {
        self.servers.add_use(servers)
    }

    /// Makes and fills test files.
    pub(crate) fn prepare_files(
        &mut self,
        plan: &Plan,
        stop: &AtomicBool,
        listen: &mut Listener<'_>,
    ) -> Result<(), RunError> {
        for (paths, jobs) in plan.disk_tests() {
            let mut preparing = Preparing::new(listen);
            let target = disk::Target::prepare(paths, &jobs, stop, |done_bytes, total_bytes| {
                preparing.tell(Preparation::new("writing test files", done_bytes, total_bytes, Unit::Bytes));
            })?;
            preparing.end()?;
            self.files.push((paths.to_vec(), target));
        }
        Ok(())
    }

    /// Where databases lie, by a name of each: empty where there is but one, else ` of ` and its own.
    pub(crate) fn lying(&self) -> Vec<(String, &Lies)> {
        match self.databases.as_slice() {
            [only] => vec![(String::new(), &only.lies)],
            all => all.iter().map(|held| (format!(" of {}", self.name(held)), &held.lies)).collect(),
        }
    }

    /// Asks each server that was not started for the study for its settings: one that was has those that the study gave it.
    pub(crate) fn inspect(&self, lying: &Lying, stop: &AtomicBool) -> Vec<InspectedServer> {
        let mut servers: Vec<(String, Url)> = Vec::new();
        for (held, (name, _)) in self.databases.iter().zip(self.lying()) {
            let is_known = servers.iter().any(|(_, known)| known.is_same_place(&held.url));
            if held.wanted.server.is_none() && !is_known {
                servers.push((name, held.url.clone()));
            }
        }
        self.runtime.block_on(inspect::ask(&servers, lying, stop))
    }

    /// Files that tell the processes of their servers, by the names of databases; none of what has no server.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (String, Result<PathBuf, String>)> {
        self.databases.iter().filter_map(|held| Some((self.name(held), held.lies.process.clone()?)))
    }

    /// The names of a trial's databases, as [`Self::servers`] has them.
    pub(crate) fn names_of(&self, trial: &Trial) -> Vec<String> {
        let wanted = trial.databases();
        let is_wanted = |held: &&Held| wanted.iter().any(|wanted| held.wanted.is_same(wanted));
        self.databases.iter().filter(is_wanted).map(|held| self.name(held)).collect()
    }

    /// The servers that a trial loads, each once.
    pub(crate) fn looked_at(&self, trial: &Trial) -> Vec<Looked> {
        let wanted = trial.databases();
        let mut servers: Vec<Looked> = Vec::new();
        for held in self.databases.iter().filter(|held| wanted.iter().any(|w| held.wanted.is_same(w))) {
            let (url, database) = (&held.url, held.own.name().to_owned());
            match servers.iter_mut().find(|server| server.url.is_same_place(url)) {
                Some(server) => server.databases.push(database),
                None => servers.push(Looked {
                    name: self.name(held),
                    url: url.clone(),
                    databases: vec![database],
                }),
            }
        }
        servers.retain(|server| !server.url.engine().is_file() && !server.url.engine().is_simulated());
        servers
    }

    /// What tells the CPU of a trial's servers: their groups, or the processes of those that have none, which is done only where it is
    /// `needed`. None where one of them cannot be seen.
    pub(crate) fn meter(&self, trial: &Trial, needed: bool) -> Option<ServerMeter> {
        let wanted = trial.databases();
        let mut places: Vec<&Url> = Vec::new();
        let mut metered = Vec::new();
        for held in self.databases.iter().filter(|held| wanted.iter().any(|w| held.wanted.is_same(w))) {
            if places.iter().any(|place| place.is_same_place(&held.url)) {
                continue;
            }
            places.push(&held.url);
            let group = held.wanted.server.as_ref().and_then(|server| self.servers.metered(server));
            let processes = || {
                let file = held.lies.process.clone().filter(|_| needed)?.ok()?;
                Some(Metered { by: MeteredBy::Processes(file), may_use: MayUse::default() })
            };
            metered.push(group.or_else(processes)?);
        }
        server_cpu::meter(metered)
    }

    /// The name of the first of a trial's databases of SQLite, whose sessions are threads of this program that do all of its work.
    pub(crate) fn in_process(&self, trial: &Trial) -> Option<String> {
        let wanted = trial.databases();
        let mut held = self.databases.iter().filter(|held| wanted.iter().any(|w| held.wanted.is_same(w)));
        let is_told = |held: &&Held| match held.url.engine() {
            Engine::Sqlite => true,
            // DuckDB has threads of its own beside those of its sessions.
            Engine::DuckDb
            | Engine::Postgres
            | Engine::Mysql
            | Engine::SqlServer
            | Engine::ClickHouse
            | Engine::Fake => false,
        };
        held.find(is_told).map(|held| self.name(held))
    }

    /// The name of a database, with its server's where that is needed to tell it from others.
    fn name(&self, held: &Held) -> String {
        let name = held.name();
        let alike = self.databases.iter().filter(|other| other.name() == name).count();
        match held.own.url().host() {
            Some(host) if alike > 1 => format!("{name} at {host}"),
            _ => name,
        }
    }

    /// The files of a trial.
    pub(crate) fn files_of(&self, trial: &Trial) -> &disk::Target {
        let files = self.files.iter().find(|(paths, _)| *paths == trial.target.paths);
        let Some((_, files)) = files else { unreachable!("files were made ready before the first trial") };
        files
    }

    /// Servers that were started, and this program once more.
    pub(crate) fn started(&mut self) -> &mut StartedServers {
        &mut self.servers
    }

    /// The databases of a trial, in the order given.
    pub(crate) fn databases_of(&mut self, trial: &Trial) -> Vec<&mut Held> {
        let wanted = trial.databases();
        let order = |held: &Held| wanted.iter().position(|wanted| held.wanted.is_same(wanted));
        let mut held: Vec<(usize, &mut Held)> =
            self.databases.iter_mut().filter_map(|held| Some((order(held)?, held))).collect();
        assert_eq!(held.len(), wanted.len(), "a database was not made ready before the first trial");
        held.sort_by_key(|(order, _)| *order);
        held.into_iter().map(|(_, held)| held).collect()
    }

    /// The time between two checkpoints of the servers of a trial, in seconds, where they go by time.
    pub(crate) fn checkpoint_s(&self, trial: &Trial, stop: &AtomicBool) -> Result<Option<f64>, RunError> {
        let wanted = trial.databases();
        let mut longest: Option<f64> = None;
        for held in
            self.databases.iter().filter(|held| wanted.iter().any(|wanted| held.wanted.is_same(wanted)))
        {
            let asked = async { held.own.session().await?.server().await };
            let server = self.runtime.block_on(waiting::unless_stopped(stop, asked));
            let server = server.ok_or_else(|| RunError::Interrupted(String::new()))??;
            longest = longest.into_iter().chain(server.checkpoint_s()).reduce(f64::max);
        }
        Ok(longest)
    }

    /// Leaves databases as they were found: what is to be kept or was there before stays. Gives what is left and why, if
    /// something is that should not be.
    pub(crate) fn leave(&mut self, stop: &AtomicBool) -> Result<(), String> {
        let mut result = Ok(());
        for Held { wanted, own, .. } in self.databases.drain(..) {
            if wanted.server.is_some() {
                continue;
            }
            let left = if !wanted.keep && !own.was_there() {
                self.runtime.block_on(waiting::remove(own, stop))
            } else if self.kept.iter().any(|kept| kept.wanted.is_same(&wanted)) {
                self.runtime.block_on(waiting::forget_saved(&own, stop))
            } else {
                Ok(())
            };
            result = result.and(left.map_err(|error| error.to_string()));
        }
        result
    }
}

impl Held {
    /// A server's database by its name and engine, a file by its path.
    fn name(&self) -> String {
        match self.own.url().file() {
            Some(_) => self.own.name().to_owned(),
            None => format!("{} ({})", self.own.name(), self.own.url().engine().name()),
        }
    }
}

/// A database that is to be made ready.
pub(crate) struct Asked<'a> {
    pub(crate) wanted: &'a WantedDatabase,
    pub(crate) claim: &'a Claim,
    pub(crate) runtime: &'a Runtime,
    pub(crate) stop: &'a AtomicBool,
    /// Whether what is in it is kept, to be brought back.
    pub(crate) is_kept: bool,
}

impl Asked<'_> {
    /// Makes it, or takes it up.
    pub(crate) fn make(&self, tell: &mut Tell<'_>) -> Result<Own, RunError> {
        let WantedDatabase { url, name, .. } = self.wanted;
        let made = self.runtime.block_on(waiting::make(self.making(), self.stop, tell));
        let made = made.ok_or_else(|| {
            RunError::Interrupted(format!(": {url} did not answer and may still create `{name}`"))
        })?;
        Ok(made?)
    }

    /// What is to be made.
    pub(crate) fn making(&self) -> Making<'_> {
        let WantedDatabase { url, name, layout, .. } = self.wanted;
        Making { url, name, claim: self.claim, layout }
    }
}
