//! Servers that are started for a study: made before the first trial, as each trial asks for them before it, and gone at the end.
//!
//! What is loaded before the first trial is loaded without limits. A server that a trial does not use does not run during it.

mod settings;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use database::Url;
use instance::{Instance, InstanceError, Usage};
use load::Tell;
use record::{Preparation, ServerStep, ServerUse};
use study::{Pristine, StartedServer, Trial};

use crate::error::RunError;
use crate::placed::volume;
use settings::{Configuration, Whole, engine};

/// The servers of a study that were started for it.
pub(crate) struct StartedServers {
    servers: Vec<Running>,
    whole: Whole,
}

struct Running {
    /// As the last trial asked for it.
    of: StartedServer,
    instance: Instance,
    configuration: Configuration,
    /// Whether its limits hold: not while it is loaded.
    is_limited: bool,
    /// Whether a trial has run on what it keeps.
    is_used: bool,
    /// What it had used when the trial began.
    before: Usage,
}

/// A server that a trial uses, with the sessions that it has there.
struct Wanted {
    server: StartedServer,
    sessions: u32,
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
    pub(crate) fn new() -> Self {
        Self { servers: Vec::new(), whole: Whole::here() }
    }

    /// Looks whether the servers of a trial could be started, and leaves nothing.
    pub(crate) fn look(&self, trial: &Trial) -> Result<(), RunError> {
        for Wanted { server, sessions } in wanted(trial) {
            let configuration = self.configuration(&server, sessions)?;
            let Some(engine) = engine(&server.server) else { continue };
            Instance::look(engine, &configuration.options(&server, true)).map_err(failed(&server))?;
        }
        Ok(())
    }

    fn configuration(&self, server: &StartedServer, sessions: u32) -> Result<Configuration, RunError> {
        let configuration = Configuration::of(&server.server, sessions, self.whole);
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
        let running = &mut self.servers[at];
        if running.instance.pid().is_none() {
            running.instance.start_again().map_err(failed(server))?;
        }
        address(&running.instance)
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
        tell(Preparation::waiting(format!("making the server {}", server.called())));
        let instance =
            Instance::start(engine, &configuration.options(server, false)).map_err(failed(server))?;
        let is_limited = configuration.limits.is_empty();
        self.servers.push(Running {
            of: server.clone(),
            instance,
            configuration,
            is_limited,
            is_used: false,
            before: Usage::default(),
        });
        Ok(self.servers.len() - 1)
    }

    /// Keeps what was loaded of the servers that have it again before each trial.
    pub(crate) fn save(&mut self, tell: &mut Tell<'_>) -> Result<(), RunError> {
        for running in &mut self.servers {
            if running.of.server.between_trials == Some(Pristine::Restore) && !running.instance.is_saved() {
                tell(Preparation::waiting(format!("copying what was loaded into {}", running.of.called())));
                let instance = &mut running.instance;
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

    /// Ends a server, with all that it has.
    pub(crate) fn remove(&mut self, server: &StartedServer) {
        if let Some(at) = self.position(server) {
            self.servers.remove(at);
        }
    }

    /// Makes the servers of a trial what it asks for, and stops all others. Gives how they stand.
    pub(crate) fn ready(
        &mut self,
        trial: &Trial,
        tell: &mut Tell<'_>,
    ) -> Result<Vec<record::StartedServer>, RunError> {
        let all = wanted(trial);
        for running in &mut self.servers {
            if !all.iter().any(|wanted| wanted.server.has_same_data(&running.of)) {
                running.instance.stop().map_err(failed(&running.of))?;
            }
        }
        all.iter().map(|wanted| self.ready_one(wanted, tell)).collect()
    }

    fn ready_one(&mut self, wanted: &Wanted, tell: &mut Tell<'_>) -> Result<record::StartedServer, RunError> {
        let Wanted { server, sessions } = wanted;
        let configuration = self.configuration(server, *sessions)?;
        let Some(at) = self.position(server) else {
            unreachable!("servers were made before the first trial")
        };
        let running = &mut self.servers[at];
        running.of = server.clone();
        let mut steps = Vec::new();
        let ready = running.cycle(
            configuration,
            &mut |what| {
                tell(Preparation::waiting(format!("{what} {}", server.called())));
            },
            &mut steps,
        );
        ready.map_err(failed(server))?;
        running.is_used = true;
        running.before = running.usage().unwrap_or_default();
        running.recorded(steps)
    }

    /// Completes what is recorded of servers by what they used since their trial began. Tells the first that ran out of memory.
    pub(crate) fn add_use(&self, records: &mut [record::StartedServer]) -> Option<String> {
        let mut killed = None;
        for record in records {
            let Some(running) = self.servers.iter().find(|running| running.of.called() == record.name) else {
                continue;
            };
            let Some(now) = running.usage() else { continue };
            let used = used_since(&running.before, &now);
            if used.oom_kills > 0 {
                killed = killed.or_else(|| Some(out_of_memory(&record.name, &used)));
            }
            record.used = Some(used);
        }
        killed
    }
}

fn out_of_memory(name: &str, used: &ServerUse) -> String {
    let processes =
        if used.oom_kills == 1 { "a process".to_owned() } else { format!("{} processes", used.oom_kills) };
    format!(
        "the kernel killed {processes} of the server {name} for want of memory: give it more, or smaller caches and fewer clients"
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

impl Running {
    /// Brings it into the state in which a trial is to find it.
    fn cycle(
        &mut self,
        configuration: Configuration,
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
            steps.push(ServerStep { what: what.to_owned(), took_s: begin.elapsed().as_secs_f64() });
            Ok(())
        };
        let restores = self.of.server.between_trials == Some(Pristine::Restore) && self.is_used;
        let restarts = self.of.server.between_trials == Some(Pristine::Restart) && self.is_used;
        let is_cold = self.of.server.cold == Some(true);
        let changes = !self.is_limited || configuration != self.configuration;
        let runs = self.instance.pid().is_some();
        if runs && !(restores || restarts || is_cold || changes) {
            return Ok(());
        }
        let instance = &mut self.instance;
        if runs {
            step(tell, "stopping", "stopped", &mut || instance.stop())?;
        }
        if restores {
            step(tell, "restoring", "restored", &mut || instance.restore())?;
        }
        if changes {
            instance.configure(&configuration.options(&self.of, true))?;
            (self.configuration, self.is_limited) = (configuration, true);
        }
        if is_cold {
            step(tell, "dropping the caches of", "caches dropped", &mut || instance.drop_caches())?;
        }
        step(tell, "starting", "started", &mut || instance.start_again())
    }

    fn usage(&self) -> Option<Usage> {
        self.instance.group()?.usage().ok()
    }

    fn recorded(&mut self, steps: Vec<ServerStep>) -> Result<record::StartedServer, RunError> {
        let address = address(&self.instance)?.host().unwrap_or_default();
        let places: BTreeMap<_, _> = self
            .instance
            .places()
            .into_iter()
            .map(|(what, path): (String, PathBuf)| (what, volume(&path)))
            .collect();
        let by = self.instance.group().map(instance::Group::described).unwrap_or_default();
        Ok(record::StartedServer {
            name: self.of.called(),
            engine: self.of.server.engine.map(study::Engine::called).unwrap_or_default().to_owned(),
            address,
            places,
            asked: self.configuration.asked.clone(),
            chosen: self.configuration.chosen.clone(),
            limits: self.configuration.recorded(by, Vec::new()),
            steps,
            used: None,
        })
    }
}

fn address(instance: &Instance) -> Result<Url, RunError> {
    let parsed = instance.url().parse();
    parsed.map_err(|error: database::UrlError| {
        RunError::Database(database::Error::Unreachable(error.to_string()))
    })
}

/// The error of a server of the study.
fn failed(server: &StartedServer) -> impl FnOnce(InstanceError) -> RunError {
    let name = server.called();
    move |source| RunError::Server { name, source: Box::new(source) }
}
