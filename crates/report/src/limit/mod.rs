//! What set the figures, as far as the record tells: other work, of programs or of the kernel, the hypervisor, what sessions waited
//! for, the processors, SQLite's sessions, locks, a device, commits. Each with the figure that says so; what none of them explains
//! is not known.

mod blocked;
mod cause;
mod confirmed;
pub(crate) mod observed;
mod rules;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::background::BackgroundIo;
use crate::budget::{self, Class};
use crate::comparison::StudyComparison;
use crate::format;
use crate::machine::devices_of;
use crate::started;
use crate::trial::Trial;
use crate::verdict::generator::OTHERS_SHARE_MAX;
use crate::verdict::stability::STEAL_SHARE_MAX;

pub(crate) use blocked::{RULE as BLOCKED, doubt as blocked};
pub use cause::Cause;
pub use confirmed::Confirmation;
pub use observed::Observed;

/// Sets what limited each trial, and returns what the comparison says of it.
pub(crate) fn of_all(trials: &mut [Trial], comparison: Option<&StudyComparison>) -> Vec<Confirmation> {
    for trial in &mut *trials {
        trial.limited_by = LimitedBy::of(trial);
    }
    let found = comparison.map(|comparison| confirmed::confirmations(comparison, trials)).unwrap_or_default();
    confirmed::mark(trials, &found);
    found
}

/// How sure it is what limited a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// What sessions did speaks for it.
    Likely,
    /// A study gave more of it, and the trials gained.
    Confirmed,
    /// Nothing stands out of what was looked at.
    Unknown,
}

/// What limited a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitedBy {
    /// How sure that is.
    pub strength: Strength,
    /// What limited, the first first: the second is what the first took from the load. Of an unknown limit none.
    pub causes: Vec<Cause>,
    /// The same in words with the figures that speak for it; none where nothing was seen at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// What was looked at.
    pub looked_at: Observed,
}

impl LimitedBy {
    /// That of a trial by itself; a comparison may confirm it.
    pub(crate) fn of(trial: &Trial) -> Option<Self> {
        let looked_at = Observed::of(trial);
        if looked_at == Observed::default() {
            return None;
        }
        let causes: Vec<Cause> = likely(trial, &looked_at).into_iter().map(|(cause, _)| cause).collect();
        let strength = if causes.is_empty() { Strength::Unknown } else { Strength::Likely };
        Some(Self { strength, causes, says: told(std::iter::once(trial)), looked_at })
    }
}

/// What sessions did that limited a trial. A rate that was held was limited by nothing that its sessions waited for.
fn likely(trial: &Trial, seen: &Observed) -> Vec<(Cause, f64)> {
    let processors = started::processors_share(trial).filter(|&share| share >= BUSY_SHARE);
    match (processors, holds_its_rate(trial)) {
        (_, true) => Vec::new(),
        _ if is_of_device_alone(trial) => {
            let others = rules::device_others(seen, rules::DEVICE_OTHERS_ALONE);
            others.map(|share| (Cause::NeighbourDisk, share)).into_iter().collect()
        }
        // Sessions of a server whose processors are busy wait for these, whatever else they wait for. A wait for a lock needs no processor.
        (Some(share), false) => {
            let mut causes = rules::causes(seen);
            if causes.iter().any(|(cause, _)| *cause == Cause::Locks) {
                return causes;
            }
            causes.retain(|(cause, _)| *cause == Cause::Maintenance);
            causes.push((Cause::ServerCpu, share));
            causes
        }
        (None, false) => rules::causes(seen),
    }
}

/// A load whose operations wait for nothing but the device.
fn is_of_device_alone(trial: &Trial) -> bool {
    trial.budget.is_none() && trial.setup.as_ref().is_some_and(|setup| setup.databases().is_empty())
}

/// What limited trials where background load on their devices limited half of those that were measured or more; else none.
pub(crate) fn background<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<String> {
    let measured: Vec<&Trial> = trials.filter(|trial| !trial.figures.is_empty()).collect();
    let is_limited = |trial: &&&Trial| {
        let limited = trial.limited_by.as_ref();
        limited.is_some_and(|limited| limited.causes.first() == Some(&Cause::NeighbourDisk))
    };
    let limited = measured.iter().filter(is_limited).count();
    (limited > 0 && limited * 2 >= measured.len()).then(|| told(measured.into_iter())).flatten()
}

/// Share of the time, of a core or of all of them, from which on something may be what limits.
pub(crate) const BUSY_SHARE: f64 = 0.9;
/// What a trial was limited by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    /// `the device vda`.
    who: String,
    share: f64,
    /// What stands around the share.
    says: [&'static str; 2],
    evidence: Option<Evidence>,
    /// Whether it is what sessions were seen to wait for.
    is_of_sessions: bool,
}

/// What speaks for a limit besides its share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) class: Class,
    /// What the server called it, if that says more than the class.
    pub(crate) names: Option<String>,
    /// What the device below did.
    pub(crate) device: Option<String>,
    /// Who held the lock.
    pub(crate) blocker: Option<String>,
}

impl Limit {
    /// None of less than the least share. The words stand around it.
    pub(crate) fn of(who: &str, share: Option<f64>, least: f64, says: [&'static str; 2]) -> Option<Self> {
        let share = share.filter(|&share| share >= least)?.min(1.0);
        Some(Self { who: who.to_owned(), share, says, evidence: None, is_of_sessions: false })
    }

    /// The same of cores, of which there may be more than one.
    fn beyond_one(who: &str, cores: Option<f64>, least: f64, says: [&'static str; 2]) -> Option<Self> {
        let share = cores.filter(|&cores| cores >= least)?;
        Some(Self { who: who.to_owned(), share, says, evidence: None, is_of_sessions: false })
    }

    pub(crate) fn with(self, evidence: Evidence) -> Self {
        Self { evidence: Some(evidence), ..self }
    }
}

/// What takes the machine away, and what sessions waited for where servers told that; else the first that holds of the processors
/// and of what operations waited for.
fn of(trial: &Trial) -> Vec<Limit> {
    let machine = &trial.machine;
    let seen = Observed::of(trial);
    let causes = likely(trial, &seen);
    // Others that take processors from nobody limit nobody.
    let is_harmless = trial.budget.as_ref().is_some_and(|_| seen.own_waiting.is_some());
    let says = [", which took ", " of all CPUs"];
    let others = machine.others_share.filter(|_| !is_harmless);
    let taken = Limit::of("background CPU load", others, OTHERS_SHARE_MAX, says).or_else(|| {
        let says = [", which gave ", " of the CPU time to other guests"];
        Limit::of("the hypervisor", machine.steal_share, STEAL_SHARE_MAX, says)
    });
    let waits = causes.iter().filter_map(|(cause, share)| by_sessions(trial, &seen, *cause, *share));
    let waits: Vec<Limit> = waits.collect();
    let is_locked = causes.iter().any(|(cause, _)| *cause == Cause::Locks);
    match (taken, waits.is_empty()) {
        (None, true) => first_of(trial).into_iter().collect(),
        // However busy the machine is: who waits for a lock needs nothing of it.
        (taken, false) if is_locked => waits.into_iter().chain(taken).collect(),
        // A load that waits for its device alone suffers from who uses that more than from who uses processors.
        (taken, _) if is_of_device_alone(trial) => waits.into_iter().chain(taken).collect(),
        (taken, _) => taken.into_iter().chain(waits).collect(),
    }
}

/// What stands around the share that other programs have of a device.
const BACKGROUND_SAYS: [&str; 2] = [": ", " of its requests or bytes"];

/// `background I/O on vda`.
fn background_on(io: &BackgroundIo) -> String {
    format!("background I/O on {}", io.device())
}

/// Work on processors, waits for one, or both together.
fn of_processors(
    seen: &Observed,
    share: f64,
    [waited, took]: [[&'static str; 2]; 2],
) -> (&'static str, f64, [&'static str; 2]) {
    let spent = |class: Class| seen.spent.get(&class).copied().unwrap_or(0.0);
    if spent(Class::Cpu) >= share {
        ("CPU time of the server", share, took)
    } else if spent(Class::CpuWait) >= share {
        ("CPUs", share, waited)
    } else {
        ("CPUs", share, [", used or waited for by sessions ", " of their time"])
    }
}

/// A cause that sessions speak for, in words.
fn by_sessions(trial: &Trial, seen: &Observed, cause: Cause, share: f64) -> Option<Limit> {
    let waited = [", for which sessions waited ", " of their time"];
    let took = [", which took ", " of session time"];
    let processors = started::processors_share(trial).filter(|&used| used >= BUSY_SHARE);
    let (who, share, says) = match cause {
        Cause::ServerCpu => match processors {
            Some(used) => ("the CPU limit", used, [", the server used ", ""]),
            None => of_processors(seen, share, [waited, took]),
        },
        Cause::NeighbourCpu => (cause.who(), seen.others.unwrap_or(share), [", which used ", " of all CPUs"]),
        Cause::NeighbourDisk => (cause.who(), share, BACKGROUND_SAYS),
        Cause::Maintenance => (cause.who(), share, [", active ", " of the time"]),
        Cause::Checkpoints => (cause.who(), share, [", active ", " of the time"]),
        Cause::Generator => match seen.spent.get(&Class::Client).copied().unwrap_or(0.0) >= share {
            true => (cause.who(), share, took),
            false => (cause.who(), share, [", withheld by its limit ", " of the time"]),
        },
        Cause::Clients => (cause.who(), share, took),
        Cause::Connections => {
            ("connections", share, [": the server refused a connection at ", " of its maximum"])
        }
        Cause::Memory => {
            (cause.who(), share, [": sessions waited ", " of their time for reads of uncached data"])
        }
        Cause::Hypervisor
        | Cause::Reads
        | Cause::LogFlushes
        | Cause::DataWrites
        | Cause::Locks
        | Cause::Latches
        | Cause::Replicas
        | Cause::Device => (cause.who(), share, waited),
    };
    let on_device = trial.beside.background_io.as_ref().filter(|_| cause == Cause::NeighbourDisk);
    let who = on_device.map_or_else(|| who.to_owned(), background_on);
    let limit = Limit { is_of_sessions: true, ..Limit::of(&who, Some(share), 0.0, says)? };
    let evidence = trial
        .budget
        .as_ref()
        .filter(|_| processors.is_none())
        .and_then(|budget| budget::evidence(budget, cause));
    let blocker = || seen.blocker().map(|blocker| format!("held by {}", blocked::words(blocker)));
    Some(match evidence {
        Some(evidence) if cause == Cause::Locks => limit.with(Evidence { blocker: blocker(), ..evidence }),
        Some(evidence) => limit.with(evidence),
        None => limit,
    })
}

fn first_of(trial: &Trial) -> Option<Limit> {
    Limit::of("CPUs", trial.machine.busy_share, BUSY_SHARE, [", ", " busy"])
        .or_else(|| {
            let says = [", its sessions used ", " of a CPU, including other work of prony"];
            Limit::beyond_one("SQLite", sqlite_cores(trial), BUSY_SHARE, says)
        })
        .or_else(|| device(trial))
        .or_else(|| trial.shown().waits(trial))
}

/// A rate that was held was limited by nothing that its sessions waited for.
fn holds_its_rate(trial: &Trial) -> bool {
    let judged = trial.shown().judged(trial).and_then(|judged| judged.held);
    judged.or(trial.offered_rate.map(|rate| rate.held)).unwrap_or(false)
}

/// Cores that this program used but for its load threads, where SQLite runs in it; none of other databases. Its sessions, of
/// which one alone can write, are most of that, and no counter tells them from the rest.
fn sqlite_cores(trial: &Trial) -> Option<f64> {
    let is_sqlite = trial.setup.as_ref()?.databases().iter().any(|database| database.engine == "sqlite");
    let cores = trial.beside.resources.iter().find_map(|r| Some(r.machine.as_ref()?.cpu_busy_share.len()))?;
    let own = trial.machine.own_share? - trial.generator.all_cores_share?;
    is_sqlite.then_some(own * cores as f64)
}

/// The busiest device that the target lies on, or who else uses it.
fn device(trial: &Trial) -> Option<Limit> {
    let others = trial.beside.background_io.as_ref().filter(|io| io.is_much());
    let others = others.and_then(|io| {
        Limit::of(&background_on(io), Some(io.share), rules::DEVICE_OTHERS_ALONE, BACKGROUND_SAYS)
    });
    others.or_else(|| busiest_device(trial))
}

fn busiest_device(trial: &Trial) -> Option<Limit> {
    let read = devices_of(&trial.during());
    let busy = read.iter().filter_map(|device| Some((&device.name, device.mean.busy_share?)));
    let (name, share) = busy.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Limit::of(&format!("the device {name}"), Some(share), BUSY_SHARE, [", busy ", " of the time"])
}

/// Limits that are told.
const TOLD: usize = 2;
/// Levels of the load over which the share of what limits is to rise.
const LEVELS_LEAST: usize = 3;

/// Whether sessions spent more of their time on it the more was asked of the server: over three levels of the load or more, in trials
/// that differ in nothing else that was varied.
fn rises(trials: &[&Trial], limit: &Limit) -> bool {
    let Some(class) = limit.evidence.as_ref().map(|evidence| evidence.class) else { return false };
    let mut keys = trials.iter().flat_map(|trial| trial.levels.keys()).collect::<Vec<_>>();
    keys.sort_unstable();
    keys.dedup();
    let varies =
        |key: &&String| trials.iter().any(|trial| trial.levels.get(*key) != trials[0].levels.get(*key));
    if keys.into_iter().filter(varies).count() > 1 {
        return false;
    }
    let mut levels: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (trial, budget) in trials.iter().filter_map(|trial| Some((trial, trial.budget.as_ref()?))) {
        // Clients that wait for answers are as many as are accounted for.
        let load = trial.offered_per_s.unwrap_or(budget.sessions).round() as u64;
        levels.entry(load).or_default().push(budget.share(class));
    }
    let shares: Vec<f64> = levels.values().filter_map(|shares| stats::mean(shares)).collect();
    shares.len() >= LEVELS_LEAST && shares.is_sorted_by(|less, more| less < more)
}

/// What limited trials of one configuration on a server that told what its sessions waited for, or that was started: `perhaps limited by
/// log flushes`, or that it is not known. None of other databases, of which the processors and devices are told for all trials together.
pub(crate) fn of_server(trials: &[&Trial]) -> Option<String> {
    let trial = trials.iter().find(|trial| trial.budget.is_some() || !trial.started_servers.is_empty())?;
    let found = of(trial);
    Some(found.first().map_or_else(
        || "bottleneck unknown".to_owned(),
        |limit| format!("possible bottleneck: {}", limit.who),
    ))
}

/// The same in as few words as a first screen has room for: `perhaps the device vda (6 of 10 trials), commits (1 of 10)`. None of one
/// trial, whose evidence is short.
pub(crate) fn brief<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<String> {
    let trials: Vec<&Trial> = trials.filter(|trial| trial.has_run()).collect();
    let mut groups: Vec<(Limit, usize)> = Vec::new();
    for limit in trials.iter().flat_map(|trial| of(trial)) {
        match groups.iter_mut().find(|(other, _)| other.who == limit.who) {
            Some((_, count)) => *count += 1,
            None => groups.push((limit, 1)),
        }
    }
    groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let one = |(index, (limit, count)): (usize, &(Limit, usize))| {
        let trials =
            if index == 0 { format!("{count} of {} trials", trials.len()) } else { count.to_string() };
        format!("{} ({trials})", limit.who)
    };
    let parts: Vec<String> = groups.iter().take(TOLD).enumerate().map(one).collect();
    let word = if rises(&trials, &groups.first()?.0) { "likely:" } else { "possible:" };
    (trials.len() > 1).then(|| format!("{word} {}", parts.join(", ")))
}

/// `perhaps the device vda, busy 93% to 100% of the time in 7 of 10 trials; …`; none where nothing is known of any trial.
///
/// What sessions waited for is *likely*; what was merely busy is *perhaps*. Only a study that gives more of it and shows the gain confirms it: [`confirmations`].
pub(crate) fn told<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<String> {
    let trials: Vec<&Trial> = trials.filter(|trial| trial.has_run()).collect();
    let found: Vec<Vec<Limit>> = trials.iter().map(|trial| of(trial)).collect();
    let known = found.iter().filter(|limits| !limits.is_empty()).count();
    let mut groups: Vec<(Limit, Vec<f64>)> = Vec::new();
    for limit in found.into_iter().flatten() {
        match groups.iter_mut().find(|(other, _)| other.who == limit.who) {
            Some((_, shares)) => shares.push(limit.share),
            None => groups.push((limit.clone(), vec![limit.share])),
        }
    }
    groups.sort_by_key(|(_, shares)| std::cmp::Reverse(shares.len()));
    let one = |(limit, shares): &(Limit, Vec<f64>)| {
        let [low, high] = [f64::min, f64::max].map(|end| shares.iter().copied().fold(limit.share, end));
        let (low, high) = (format::per_cent(low), format::per_cent(high));
        let share = if low == high { low } else { format!("{low} to {high}") };
        let of = match trials.len() {
            1 => String::new(),
            all if shares.len() == all => format!(" in all {all} trials"),
            all => format!(" in {} of {all} trials", shares.len()),
        };
        format!("{}{}{share}{}{of}", limit.who, limit.says[0], limit.says[1])
    };
    let evidence = |limit: &Limit| {
        let evidence = limit.evidence.as_ref()?;
        let told: Vec<&str> = [&evidence.names, &evidence.blocker, &evidence.device]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        Some(format!(" ({})", told.join("; "))).filter(|_| !told.is_empty())
    };
    // Of several trials it would be that of one.
    let evidence = |limit| evidence(limit).filter(|_| trials.len() == 1).unwrap_or_default();
    let parts: Vec<String> = groups.iter().take(TOLD).map(|group| one(group) + &evidence(&group.0)).collect();
    let rest = if known < trials.len() { "; unknown in the others" } else { "" };
    let is_likely = groups.first().is_some_and(|(first, _)| first.is_of_sessions);
    let word = if is_likely { "likely:" } else { "possible:" };
    let is_rising = groups.first().is_some_and(|(first, _)| rises(&trials, first));
    let rest = if is_rising { format!(", growing with the load{rest}") } else { rest.to_owned() };
    (known > 0).then(|| format!("{word} {}{rest}", parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Made};
    use crate::report::Report;
    use record::{DeviceLoad, MeasuredTrial, Resources};

    fn check(trials: Vec<MeasuredTrial>, expected: Option<&str>) {
        let report = Report::of(&fixture::study("disk", trials));
        assert_eq!(told(report.trials.iter()).as_deref(), expected);
    }

    fn on_device(mut trial: MeasuredTrial, busy_share: f64) -> MeasuredTrial {
        let load = DeviceLoad { busy_share: Some(busy_share), ..DeviceLoad::default() };
        let read = |sample: &record::Sample| Resources {
            end_s: sample.end_s,
            length_s: sample.length_s,
            devices: [("vda".to_owned(), load)].into(),
            ..Resources::default()
        };
        trial.resources.extend(trial.samples.iter().map(read).collect::<Vec<Resources>>());
        trial
    }

    #[test]
    fn a_limit_is_told_with_the_figure_that_says_so() {
        let read = || Made::read("R");
        check(vec![read().trial(1)], None);
        check(vec![on_device(read().trial(1), 0.97)], Some("possible: the device vda, busy 97% of the time"));
        check(vec![on_device(read().trial(1), 0.89)], None);
        check(
            vec![read().others(0.9).trial(1)],
            Some("possible: background CPU load, which took 52% of all CPUs"),
        );
        // What the kernel does in interrupts is nobody's other work: those of a disk that is loaded are the load's.
        let mut interrupted = read().others(0.9).trial(1);
        let machines = interrupted.resources.iter_mut().filter_map(|read| read.machine.as_mut());
        machines.for_each(|machine| machine.cpu_interrupt_share = 0.4);
        check(vec![interrupted], None);
        check(
            vec![read().steal(0.07).trial(1)],
            Some("possible: the hypervisor, which gave 7.0% of the CPU time to other guests"),
        );
    }

    /// It was called SQLite's one writer, whatever read beside it and whatever else this program did.
    #[test]
    fn of_sqlite_all_its_sessions_are_told_and_more_than_one_core_of_them() {
        let of = |own_share: f64| {
            let trial = crate::fixture::Collected::at("historian", 500.0).in_process(own_share).trial(1);
            Report::of(&fixture::study("historian", vec![trial]))
        };
        let told = |own_share: f64| told(of(own_share).trials.iter()).unwrap_or_default();
        let cores = of(0.9).trials[0].beside.resources[0].machine.as_ref().unwrap().cpu_busy_share.len();
        let said = told(1.9 / cores as f64);
        assert!(
            said.contains("SQLite, its sessions used 1") && said.contains("of a CPU, including other work"),
            "{said}"
        );
        assert!(!said.contains("writer") && !told(0.5 / cores as f64).contains("SQLite"), "{said}");
    }

    #[test]
    fn all_trials_are_not_counted_twice() {
        let busy = |number: u32| on_device(Made::read(&format!("T{number}")).trial(number), 0.97);
        check(vec![busy(1), busy(2)], Some("possible: the device vda, busy 97% of the time in all 2 trials"));
    }

    #[test]
    fn several_trials_are_counted_and_what_is_not_known_is_said() {
        let trials = vec![
            on_device(Made::read("A").trial(1), 0.97),
            on_device(Made::read("B").trial(2), 1.0),
            Made::read("C").trial(3),
        ];
        let told =
            "possible: the device vda, busy 97% to 100% of the time in 2 of 3 trials; unknown in the others";
        check(trials, Some(told));
    }

    #[test]
    fn several_trials_are_told_in_brief_where_a_screen_has_no_room() {
        let read = |name: &str, number: u32| Made::read(name).trial(number);
        let of = |trials: Vec<MeasuredTrial>| {
            let report = Report::of(&fixture::study("disk", trials));
            brief(report.trials.iter())
        };
        let busy = |name: &str, number: u32| on_device(read(name, number), 0.97);
        let others = Made::read("C").others(0.9).trial(3);
        assert_eq!(of(vec![busy("A", 1)]), None, "one trial has its evidence");
        assert_eq!(of(vec![read("A", 1), read("B", 2)]), None, "nothing is known");
        assert_eq!(
            of(vec![busy("A", 1), busy("B", 2), others, read("D", 4)]).as_deref(),
            Some("possible: the device vda (2 of 4 trials), background CPU load (1)")
        );
    }
}
