//! What was observed of a trial, as far as it says what limited it: figures, and no judgement.

use std::collections::BTreeMap;

use record::{Blocker, DeviceLimits, GroupLoad, MarkKind, OwnLoad, Resources, State, beside};
use serde::{Deserialize, Serialize};
use stats::weighted_mean;

use crate::budget::{Budget, Class, Held};
use crate::trial::Trial;

/// Text that an error has if a server takes no more connections: the setting of either engine that says how many.
const CONNECTIONS: &str = "max_connections";
/// What a checkpoint waits for that takes its time on purpose.
const PACED: &str = "CheckpointWriteDelay";

/// Figures of the measured window. Shares are of 0–1; what was not observed is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Observed {
    /// Share of the time of sessions that went to each class.
    pub spent: BTreeMap<Class, f64>,
    /// The same for what limits held back, by what it would have been; it is part of `spent`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub held_back: BTreeMap<Held, f64>,
    /// Share of the looks in which something went on beside the load.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub beside: BTreeMap<String, f64>,
    /// Figures of the server's own as they stood on average.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gauges: BTreeMap<String, f64>,
    /// Sessions that held locks for which sessions of the load waited, each as it was seen last, with the most behind it first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<Blocker>,
    /// Share of the window in which old rows were removed or space was given back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked: Option<f64>,
    /// Share of all cores that was busy with neither this program nor its servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
    /// Share of the requests or bytes of the devices that was of neither this program nor its servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_others: Option<f64>,
    /// Mean number of their requests in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_others_in_flight: Option<f64>,
    /// Mean time of a read in queue and device below the data, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_latency_us: Option<f64>,
    /// Share of the pages asked for that were not in the server's buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<f64>,
    /// Mean number of threads of this program that could have run and had no processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_waiting: Option<f64>,
    /// Processors' worth of time that the control group of this program was not let run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_throttled: Option<f64>,
    /// Share of the load's length in which this program stood still.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_paused: Option<f64>,
    /// Whether a connection was refused because there were as many as the server takes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

impl Observed {
    /// The session of somebody else that held locks for which sessions of the load waited.
    pub(crate) fn blocker(&self) -> Option<&Blocker> {
        self.blockers.iter().find(|blocker| !blocker.is_ours)
    }

    pub(crate) fn of(trial: &Trial) -> Self {
        let during = trial.during();
        let budget = trial.budget.as_ref();
        let spent = budget.iter().flat_map(|budget| &budget.parts).map(|part| (part.class, part.share));
        let (beside, gauges) = beside_of(&during);
        let own = |of: fn(&OwnLoad) -> Option<f64>| {
            weighted_mean(during.iter().filter_map(|read| Some((of(read.own.as_ref()?)?, read.length_s))))
        };
        let data = budget.and_then(|budget| budget.devices.data.as_ref());
        let background = trial.beside.background_io.as_ref();
        Self {
            spent: spent.collect(),
            held_back: budget.map(Budget::held_back).unwrap_or_default(),
            beside,
            gauges,
            blockers: blockers(&during),
            marked: marked(trial),
            others: trial.machine.others_share,
            device_others: background.map(|io| io.share),
            device_others_in_flight: background.map(|io| io.queue_depth),
            read_latency_us: data.and_then(|device| device.mean.read_latency_us),
            missed: missed(&during),
            own_waiting: own(|own| own.cpu_wait_threads),
            own_throttled: own(|own| own.throttled_cores),
            own_paused: trial
                .generator
                .paused_ms
                .filter(|_| trial.measured_s > 0.0)
                .map(|ms| ms / 1e3 / trial.measured_s),
            refused: trial.state == State::Failed
                && trial.reason.as_ref().is_some_and(|reason| reason.contains(CONNECTIONS)),
        }
    }
}

/// Shares of looks, by the first word of what went on; and means of gauges by their names.
fn beside_of(during: &[&Resources]) -> (BTreeMap<String, f64>, BTreeMap<String, f64>) {
    let told = || during.iter().flat_map(|read| read.told.values());
    let looks: f64 = told().map(|told| f64::from(told.looks)).sum();
    let (mut shares, mut gauges) = (BTreeMap::new(), BTreeMap::new());
    for (what, count) in told().flat_map(|told| &told.beside).filter(|(what, _)| !what.contains(PACED)) {
        let (kind, name) = what.split_once(' ').unwrap_or((what, ""));
        let of =
            if kind == beside::GAUGE { gauges.entry(name.to_owned()) } else { shares.entry(kind.to_owned()) };
        *of.or_insert(0.0) += *count as f64 / looks.max(1.0);
    }
    // Several of them at once are still the whole time.
    shares.values_mut().for_each(|share: &mut f64| *share = share.min(1.0));
    (shares, gauges)
}

/// Each session that held locks, as it was seen last: the one that was seen most often first.
fn blockers(during: &[&Resources]) -> Vec<Blocker> {
    let mut found: Vec<(usize, Blocker)> = Vec::new();
    for blocker in during.iter().flat_map(|read| read.told.values()).flat_map(|told| &told.blockers) {
        match found.iter_mut().find(|(_, other)| other.session == blocker.session) {
            Some((times, other)) => {
                let waiting = other.waiting.max(blocker.waiting);
                (*times, *other) = (*times + 1, Blocker { waiting, ..blocker.clone() });
            }
            None => found.push((1, blocker.clone())),
        }
    }
    found.sort_by_key(|(times, blocker)| std::cmp::Reverse((*times, blocker.waiting)));
    found.into_iter().map(|(_, blocker)| blocker).collect()
}

/// Share of the measured window that marks of upkeep cover.
fn marked(trial: &Trial) -> Option<f64> {
    let window = trial.samples.iter().filter(|sample| sample.phase == record::Phase::Measure);
    let (begin_s, end_s) = window.fold((f64::MAX, 0.0_f64), |(begin_s, end_s), sample| {
        (begin_s.min(sample.end_s - sample.length_s), end_s.max(sample.end_s))
    });
    let upkeep =
        trial.beside.marks.iter().filter(|mark| matches!(mark.kind, MarkKind::Purge | MarkKind::Shrink));
    let covered =
        upkeep.map(|mark| (mark.end_s.unwrap_or(end_s).min(end_s) - mark.begin_s.max(begin_s)).max(0.0));
    let covered_s: f64 = covered.sum();
    (covered_s > 0.0 && end_s > begin_s).then(|| (covered_s / (end_s - begin_s)).min(1.0))
}

/// By the counters of PostgreSQL, InnoDB and SQL Server.
fn missed(during: &[&Resources]) -> Option<f64> {
    let sum = |name: &str| -> f64 {
        let told = during.iter().flat_map(|read| read.told.values().map(move |told| (told, read.length_s)));
        told.filter_map(|(told, s)| Some(told.counters_per_s.get(name)? * s)).sum()
    };
    let postgres = (sum("pg_stat_database.blks_read"), sum("pg_stat_database.blks_hit"));
    let sqlserver = (sum("buffer.page_reads"), sum("buffer.page_lookups"));
    let (read, all) = if postgres.0 + postgres.1 > 0.0 {
        (postgres.0, postgres.0 + postgres.1)
    } else if sqlserver.1 > 0.0 {
        sqlserver
    } else {
        (sum("Innodb_buffer_pool_reads"), sum("Innodb_buffer_pool_read_requests"))
    };
    (all > 0.0).then_some((read / all).min(1.0))
}

/// Means of what the groups of started servers did together.
pub(crate) fn groups(during: &[&Resources], of: fn(&GroupLoad) -> Option<f64>) -> Option<f64> {
    let read = during.iter().filter(|read| !read.groups.is_empty());
    weighted_mean(
        read.filter_map(|read| {
            Some((read.groups.values().filter_map(of).reduce(|a, b| a + b)?, read.length_s))
        }),
    )
}

/// Limits of all devices together; none where nothing is limited.
pub(crate) fn device_limit(
    servers: &[record::StartedServer],
    of: fn(&DeviceLimits) -> Option<u64>,
) -> Option<f64> {
    let limits = servers.iter().filter_map(|server| server.limits.as_ref()).flat_map(|l| l.devices.values());
    limits.filter_map(of).reduce(|a, b| a + b).map(|sum| sum as f64)
}
