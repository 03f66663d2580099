//! The budget of time: what sessions of the load did while the measured window lasted, in classes that mean the same on every
//! engine.
//!
//! A look tells what each session does at a moment, so that counts over many looks are mean numbers of sessions; divided by the
//! rate they are times of an operation (Little's law). What a server cannot tell apart is split by what its processes used.

mod class;
mod counted;
mod limit;
mod table;

use std::collections::BTreeMap;

use record::{DeviceLoad, Loop, Placed, Resources, Setup, TrialRecord, Volume, doing};
use serde::{Deserialize, Serialize};

use crate::limit::observed::{device_limit, groups};
use crate::machine::{Machine, Part, devices_of, servers_of};
use crate::servers::Servers;
use crate::trial::Trial;

pub use class::Class;
pub(crate) use counted::tables as counted_tables;
pub use counted::{Counted, CountedFile, CountedWait};
pub(crate) use limit::evidence;
pub(crate) use table::{blocks, table};

/// Looks that say nothing yet.
const LOOKS_LEAST: u64 = 20;
/// Share of all cores from which on work that is on no CPU waits for one.
const CPUS_BUSY_SHARE: f64 = 0.8;
/// What a session of the load does is told by name if it took this share of its class.
const TOLD_SHARE: f64 = 0.1;

/// What servers only call work, and what was not on a CPU of it.
const OFF_CPU: &str = "executing, on no CPU";

/// Where the time of a trial's sessions went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Budget {
    /// How often was looked.
    pub looks: u64,
    /// Mean number of sessions that are accounted for.
    pub sessions: f64,
    /// Mean number of sessions of others of which the login does not see what they do; they are not accounted for.
    #[serde(skip_serializing_if = "is_none")]
    pub hidden: f64,
    /// What they did, without what none did.
    pub parts: Vec<Spent>,
    /// What servers counted themselves; none of those that count no waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    /// The device below the log, or else below the data, which the evidence is of.
    #[serde(skip)]
    pub(crate) devices: Devices,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_none(sessions: &f64) -> bool {
    *sessions == 0.0
}

/// A class of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spent {
    /// What it went to.
    pub class: Class,
    /// Share (0–1) of the time of all sessions.
    pub share: f64,
    /// Mean number of sessions.
    pub sessions: f64,
    /// Time of an operation, in microseconds.
    pub us_per_operation: Option<f64>,
    /// What the server called it, with the share (0–1) of this class, the greatest first.
    pub of: Vec<(String, f64)>,
}

/// What a limit of a started server held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// Time of processors.
    Processors,
    /// Reads of data.
    Reads,
    /// Writes of the log.
    Log,
    /// Writes of data.
    Writes,
}

impl Held {
    const ALL: [Self; 4] = [Self::Processors, Self::Reads, Self::Log, Self::Writes];

    fn words(self) -> &'static str {
        match self {
            Self::Processors => "waiting because of the CPU limit",
            Self::Reads => "reads within their limit",
            Self::Log => "log flushes within their limit",
            Self::Writes => "writes within their limit",
        }
    }
}

/// What lay below a trial's log and data, with the means of the devices.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Devices {
    pub(crate) log: Option<Part<DeviceLoad>>,
    pub(crate) data: Option<Part<DeviceLoad>>,
}

impl Devices {
    fn of(placed: &[Placed], during: &[&Resources]) -> Self {
        let means = devices_of(during);
        let mean = |volume: &Volume| {
            let name = volume.device.known()?;
            means.iter().find(|device| device.name == *name).cloned()
        };
        let mut databases = placed.iter().filter_map(|placed| match placed {
            Placed::Database { data, log, .. } => Some((data, log)),
            Placed::Path { .. } => None,
        });
        // Evidence of one device is that of none if databases lie on several.
        let (Some((data, log)), None) = (databases.next(), databases.next()) else { return Self::default() };
        Self { log: log.known().and_then(mean), data: data.known().and_then(mean) }
    }
}

/// Sessions by class and by what they did.
type Sessions = BTreeMap<Class, BTreeMap<String, f64>>;

impl Budget {
    /// That of a measured window; none where servers told nothing, or too little.
    pub(crate) fn of(
        record: &TrialRecord,
        during: &[&Resources],
        machine: &Machine,
        per_s: Option<f64>,
    ) -> Option<Self> {
        let setup = record.setup.as_ref()?;
        let devices = Devices::of(&record.placed, during);
        let Looked { looks, mut sessions, hidden } = Looked::of(setup, during);
        if looks < LOOKS_LEAST {
            return None;
        }
        let servers = Servers::of(setup, during);
        if let Servers::Seen { cores } = servers {
            let is_counted = waiting_threads(servers, during).is_some();
            work_apart(&mut sessions, cores, machine, reads(devices.data.as_ref(), during), is_counted);
        }
        wait_for_processors(&mut sessions, record, servers, during);
        hold_back(&mut sessions, record, &devices, during);
        let counted = Counted::of(during, per_s);
        Self::parts(sessions, per_s).map(|(sessions, parts)| Self {
            looks,
            sessions,
            hidden,
            parts,
            counted,
            devices,
        })
    }

    fn parts(sessions: Sessions, per_s: Option<f64>) -> Option<(f64, Vec<Spent>)> {
        let sum = |of: &BTreeMap<String, f64>| of.values().sum::<f64>();
        let all: f64 = sessions.values().map(sum).sum();
        let part = |(class, of): (Class, BTreeMap<String, f64>)| {
            let mean = sum(&of);
            let mut of: Vec<(String, f64)> = of.into_iter().map(|(what, one)| (what, one / mean)).collect();
            of.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            Spent {
                class,
                share: mean / all,
                sessions: mean,
                us_per_operation: per_s.filter(|&per_s| per_s > 0.0).map(|per_s| mean / per_s * 1e6),
                of,
            }
        };
        let parts: Vec<Spent> = sessions.into_iter().map(part).filter(|part| part.sessions > 0.0).collect();
        (all > 0.0).then_some((all, parts))
    }

    /// Shares of the time that limits held back, by what it would have been.
    pub(crate) fn held_back(&self) -> BTreeMap<Held, f64> {
        let parts = self.parts.iter().filter(|part| part.class == Class::Throttled);
        let of = parts.flat_map(|part| part.of.iter().map(|(what, share)| (what, share * part.share)));
        of.filter_map(|(what, share)| {
            Some((Held::ALL.into_iter().find(|held| held.words() == *what)?, share))
        })
        .collect()
    }

    pub(crate) fn share(&self, class: Class) -> f64 {
        self.parts.iter().find(|part| part.class == class).map_or(0.0, |part| part.share)
    }
}

impl Spent {
    /// `IO:WALSync 80%, LWLock:WALWrite 20%`: what the server called it, as far as it is more than a little.
    pub(crate) fn names(&self) -> String {
        told_names(&self.of)
    }
}

/// What those did that could run, of which their class says it all.
pub(crate) const NO_PROCESSOR: &str = "no CPU";

/// Names with their shares, but for those of which there is little.
fn told_names(of: &[(String, f64)]) -> String {
    let told = of.iter().filter(|(_, share)| *share >= TOLD_SHARE);
    let told: Vec<String> = match of {
        [(only, _)] => vec![only.clone()],
        _ => told.map(|(what, share)| format!("{what} {}", crate::format::per_cent(*share))).collect(),
    };
    told.join(", ")
}

/// A client without think time that has no statement is at work; any other may wait for its time.
fn counts_idle(setup: &Setup) -> bool {
    matches!(setup.pacing(), Loop::Closed { think_time_us } if think_time_us <= 0.0)
}

/// The engine of the database that a reading is named by.
fn engine_of(setup: &Setup, name: &str) -> String {
    let databases = setup.databases();
    let of = databases.iter().find(|database| {
        let rest = name.strip_prefix(database.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    });
    of.map_or_else(String::new, |database| database.engine.to_owned())
}

/// What was seen of the load's sessions.
struct Looked {
    /// The fewest looks at any server.
    looks: u64,
    sessions: Sessions,
    /// Mean number of sessions of others.
    hidden: f64,
}

impl Looked {
    fn of(setup: &Setup, during: &[&Resources]) -> Self {
        let mut looks: BTreeMap<&String, u64> = BTreeMap::new();
        let mut counts: BTreeMap<(&String, &String), u64> = BTreeMap::new();
        for (server, told) in during.iter().flat_map(|read| &read.told) {
            *looks.entry(server).or_default() += u64::from(told.looks);
            for (what, sessions) in &told.sessions {
                *counts.entry((server, what)).or_default() += sessions;
            }
        }
        let (mut sessions, mut hidden) = (Sessions::new(), 0.0);
        for ((server, what), count) in counts {
            let mean = count as f64 / looks[server].max(1) as f64;
            match what.as_str() {
                doing::HIDDEN | doing::UNTRACKED => hidden += mean,
                doing::IDLE if !counts_idle(setup) => {}
                _ => {
                    let of = sessions.entry(Class::of(&engine_of(setup, server), what)).or_default();
                    *of.entry(what.clone()).or_default() += mean;
                }
            }
        }
        without_row_locks(&mut sessions);
        Self { looks: looks.into_values().min().unwrap_or(0), sessions, hidden }
    }
}

/// Takes out of what is work for a server those that wait for locks on rows, where it counts them as both.
fn without_row_locks(sessions: &mut Sessions) {
    let locks = sessions.get(&Class::Locks).and_then(|locks| locks.get(doing::ROW_LOCK)).copied();
    if let (Some(locks), Some(work)) = (locks, sessions.get_mut(&Class::Cpu)) {
        let all: f64 = work.values().sum();
        scale(work, (all - locks).max(0.0));
    }
}

/// What sessions of a trial did in each second in which a server was looked at, warm-up and all. What is work for the server is not
/// split further.
pub(crate) fn seconds(trial: &Trial) -> Vec<(f64, BTreeMap<Class, f64>)> {
    let Some(setup) = &trial.setup else { return Vec::new() };
    // Servers are looked at in the same second and not at the same moment.
    let mut seconds: BTreeMap<u64, Vec<&Resources>> = BTreeMap::new();
    for read in trial.beside.resources.iter().filter(|read| !read.told.is_empty()) {
        seconds.entry(read.end_s.round() as u64).or_default().push(read);
    }
    let sum = |of: BTreeMap<String, f64>| of.into_values().sum();
    let second = |(end_s, read): (u64, Vec<&Resources>)| {
        let sessions = Looked::of(setup, &read).sessions;
        (end_s as f64, sessions.into_iter().map(|(class, of)| (class, sum(of))).collect())
    };
    seconds.into_iter().map(second).collect()
}

/// Splits what servers only call work: what their processes really used of CPUs, reads that are counted and not named, and the
/// rest.
fn work_apart(sessions: &mut Sessions, cores: f64, machine: &Machine, reads: f64, is_counted: bool) {
    let Some(work) = sessions.get_mut(&Class::Cpu) else { return };
    let all: f64 = work.values().sum();
    let off_cpu = (all - cores).max(0.0);
    scale(work, all - off_cpu);
    let reads = reads.min(off_cpu);
    let mut put = |class: Class, what: &str, mean: f64| {
        if mean > 0.0 {
            *sessions.entry(class).or_default().entry(what.to_owned()).or_default() += mean;
        }
    };
    put(Class::Reads, "reads by the server's count", reads);
    // Where the kernel counts who waits for a processor, nothing is inferred from how busy these are.
    let is_crowded = !is_counted && machine.busy_share.is_some_and(|share| share >= CPUS_BUSY_SHARE);
    let rest = if is_crowded { Class::CpuWait } else { Class::Unknown };
    put(rest, OFF_CPU, off_cpu - reads);
}

/// Share of a limit from which on it is reached: it is kept over more than a second, and counted by seconds.
const REACHED_SHARE: f64 = 0.85;
/// Processors' worth of time from which on a group is held back.
const THROTTLED_CORES: f64 = 0.02;

/// Takes apart what a limit of reads or writes held back, where it was reached: all that sessions waited for it but what the device
/// took.
fn hold_back(sessions: &mut Sessions, record: &TrialRecord, devices: &Devices, during: &[&Resources]) {
    let reached = |limit: Option<f64>, per_s: Option<f64>| {
        limit.zip(per_s).filter(|(limit, per_s)| per_s / limit >= REACHED_SHARE).map(|(_, per_s)| per_s)
    };
    let reads = reached(
        device_limit(&record.servers, |limits| limits.reads_per_s),
        groups(during, |group| group.reads_per_s),
    );
    let writes = reached(
        device_limit(&record.servers, |limits| limits.writes_per_s),
        groups(during, |group| group.writes_per_s),
    );
    let us = |device: &Option<Part<DeviceLoad>>, of: fn(&DeviceLoad) -> Option<f64>| {
        device.as_ref().and_then(|device| of(&device.mean)).unwrap_or(0.0)
    };
    for (class, held, per_s, us) in [
        (Class::Reads, Held::Reads, reads, us(&devices.data, |load| load.read_latency_us)),
        (Class::Log, Held::Log, writes, us(&devices.log, |load| load.write_latency_us)),
        (Class::Writes, Held::Writes, writes, us(&devices.data, |load| load.write_latency_us)),
    ] {
        let Some(per_s) = per_s else { continue };
        if held == Held::Reads {
            // InnoDB has no state for who reads: what was on no processor waited for what was held back.
            let unnamed = take_named(sessions, Class::Unknown, OFF_CPU, f64::MAX);
            add(sessions, Class::Throttled, held.words(), unnamed);
        }
        let Some(parts) = sessions.get_mut(&class) else { continue };
        let all: f64 = parts.values().sum();
        let by_device = (per_s * us / 1e6).min(all);
        scale(parts, by_device);
        add(sessions, Class::Throttled, held.words(), all - by_device);
    }
}

/// Mean number of threads of the servers that could have run and had no processor; none where that was not counted.
fn waiting_threads(servers: Servers, during: &[&Resources]) -> Option<f64> {
    match servers {
        Servers::Seen { .. } => {
            let seen = servers_of(during);
            seen.iter().map(|server| server.mean.cpu_wait_threads).sum::<Option<f64>>()
        }
        Servers::InProcess => stats::weighted_mean(
            during.iter().filter_map(|read| Some((read.own.as_ref()?.cpu_wait_threads?, read.length_s))),
        ),
        Servers::Absent | Servers::Unseen => None,
    }
}

/// Takes out of all classes those that could have run and had no processor: a server tells what a session last did, or that it is
/// idle though its next statement has arrived. Work that was on no processor goes first.
fn wait_for_processors(
    sessions: &mut Sessions,
    record: &TrialRecord,
    servers: Servers,
    during: &[&Resources],
) {
    let Some(threads) = waiting_threads(servers, during) else { return };
    let mut rest = take(sessions, &[Class::CpuWait], threads);
    rest.1 += take_named(sessions, Class::Unknown, OFF_CPU, rest.0);
    let mut left = threads - rest.1;
    if servers == Servers::InProcess {
        left -= take(sessions, &[Class::Cpu], left).1;
        rest.1 = threads - left;
    } else {
        // On a CPU is who was counted to use one.
        let others: Vec<Class> = Class::ALL.into_iter().filter(|class| *class != Class::Cpu).collect();
        rest.1 += take(sessions, &others, left).1;
    }
    let is_throttled = groups(during, |group| Some(group.throttled_cores))
        .is_some_and(|c| c >= THROTTLED_CORES)
        && record.servers.iter().any(|server| server.limits.as_ref().is_some_and(|l| l.cpus.is_some()));
    let own = during.iter().filter_map(|read| Some((read.own.as_ref()?.throttled_cores?, read.length_s)));
    let is_own =
        servers == Servers::InProcess && stats::weighted_mean(own).is_some_and(|c| c >= THROTTLED_CORES);
    match is_throttled || is_own {
        true => add(sessions, Class::Throttled, Held::Processors.words(), rest.1),
        false => add(sessions, Class::CpuWait, NO_PROCESSOR, rest.1),
    }
}

/// Takes so many sessions out of classes, of each in proportion. Gives what is left to be taken, and what was.
fn take(sessions: &mut Sessions, classes: &[Class], wanted: f64) -> (f64, f64) {
    let of = |class: &Class| sessions.get(class).map_or(0.0, |of| of.values().sum());
    let all: f64 = classes.iter().map(of).sum();
    let taken = wanted.clamp(0.0, all);
    for class in classes {
        if let Some(parts) = sessions.get_mut(class) {
            let own: f64 = parts.values().sum();
            scale(parts, own * (1.0 - taken / all));
        }
    }
    (wanted - taken, taken)
}

/// The same of what one class has under a name.
fn take_named(sessions: &mut Sessions, class: Class, name: &str, wanted: f64) -> f64 {
    let Some(part) = sessions.get_mut(&class).and_then(|of| of.get_mut(name)) else { return 0.0 };
    let taken = wanted.clamp(0.0, *part);
    *part -= taken;
    taken
}

fn add(sessions: &mut Sessions, class: Class, what: &str, mean: f64) {
    if mean > 0.0 {
        *sessions.entry(class).or_default().entry(what.to_owned()).or_default() += mean;
    }
}

/// Scales parts to a sum.
fn scale(parts: &mut BTreeMap<String, f64>, to: f64) {
    let sum: f64 = parts.values().sum();
    if sum > 0.0 {
        parts.values_mut().for_each(|part| *part *= to / sum);
    }
}

/// Mean number of sessions that read data where the server counts reads and names no wait for them: reads a second times the time
/// that one takes below.
fn reads(data: Option<&Part<DeviceLoad>>, during: &[&Resources]) -> f64 {
    let Some(read_us) = data.and_then(|device| device.mean.read_latency_us) else { return 0.0 };
    let read = during.iter().flat_map(|read| read.told.values().map(move |told| (told, read.length_s)));
    let read =
        read.map(|(told, s)| (told.counters_per_s.get("Innodb_data_reads").copied().unwrap_or(0.0), s));
    stats::weighted_mean(read).unwrap_or(0.0) * read_us / 1e6
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
