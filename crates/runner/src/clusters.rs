//! Clusters that somebody else runs: looked at before anything is loaded, waited for before each trial, and watched while one runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use database::{Member, SeenCluster};
use load::Tell;
use record::{AttachedCluster, ClusterMember, Preparation, ServerSetting};
use study::{Cluster, Fault, Plan, Trial};
use tokio::runtime::Runtime;
use workload::waiting;

use crate::error::RunError;
use crate::faults::{Stands, WatchedCluster, Watches};

/// How long a member may take to tell how it stands: before anything is loaded, and while something is, when it is asked again soon.
const LOOK_WITHIN: Duration = Duration::from_secs(5);
const WATCH_WITHIN: Duration = Duration::from_secs(2);
/// How long it is waited before a trial for what the one before broke, and how often is looked.
const WHOLE_WITHIN: Duration = Duration::from_secs(600);
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Clusters as the last look before a trial found them, by their names.
#[derive(Default)]
pub(crate) struct Clusters {
    found: BTreeMap<String, Found>,
}

struct Found {
    /// Who took writes.
    primary: Option<String>,
    /// Whether it was redundant before the first trial.
    was_redundant: bool,
}

/// Looks at all clusters that a plan loads, once each.
///
/// # Errors
/// What is wrong with the first that cannot be loaded as it stands.
pub(crate) fn look(plan: &Plan, runtime: &Runtime) -> Result<(), RunError> {
    for (name, cluster) in of_plan(plan) {
        let seen = runtime.block_on(cluster.look(LOOK_WITHIN));
        if let Some(why) = seen.wrong() {
            return Err(RunError::Cluster { name, why });
        }
    }
    Ok(())
}

/// The clusters of a plan as they are loaded, each once.
fn of_plan(plan: &Plan) -> Vec<(String, database::Cluster)> {
    let mut all: Vec<(String, database::Cluster)> = Vec::new();
    for (name, cluster) in plan.trials.iter().flat_map(|trial| trial.target.loaded_clusters()) {
        let attached = cluster.attached().map(|attached| (name.clone(), attached));
        all.extend(attached.filter(|one| !all.contains(one)));
    }
    all
}

/// The clusters that a plan loads, each as a trial asks for it. Nobody is asked.
#[must_use]
pub fn planned_clusters(plan: &Plan) -> Vec<AttachedCluster> {
    let mut all: Vec<AttachedCluster> = Vec::new();
    for (name, cluster) in plan.trials.iter().flat_map(|trial| trial.target.loaded_clusters()) {
        let described = described(name, cluster);
        if !all.contains(&described) {
            all.push(described);
        }
    }
    all
}

/// What is known of a cluster before it is asked.
fn described(name: &str, cluster: &Cluster) -> AttachedCluster {
    let asked: Vec<&str> = cluster.all_faults().iter().map(|fault| fault.what.name()).collect();
    let commands = cluster.commands().into_iter().filter(|(name, _)| asked.contains(&name.as_str()));
    AttachedCluster {
        name: name.to_owned(),
        address: cluster.attached().map(|attached| attached.address().to_string()).unwrap_or_default(),
        nodes: cluster.nodes.iter().map(ToString::to_string).collect(),
        patroni: cluster.patroni.iter().map(ToString::to_string).collect(),
        faults: cluster.all_faults().iter().map(Fault::to_string).collect(),
        commands: settings(commands),
        ..AttachedCluster::default()
    }
}

fn settings(pairs: impl IntoIterator<Item = (String, String)>) -> Vec<ServerSetting> {
    pairs.into_iter().map(|(name, value)| ServerSetting { name, value }).collect()
}

fn member(Member { name, role, told }: Member) -> ClusterMember {
    ClusterMember { name, role: role.name().to_owned(), told: settings(told) }
}

impl Clusters {
    /// Waits until the clusters of a trial are as they were before the first one, and tells how they stand.
    pub(crate) fn ready(
        &mut self,
        trial: &Trial,
        (runtime, stop): (&Runtime, &AtomicBool),
        tell: &mut Tell<'_>,
    ) -> Result<Vec<AttachedCluster>, RunError> {
        let mut all = Vec::new();
        for (name, cluster) in trial.target.loaded_clusters() {
            let Some(attached) = cluster.attached() else { continue };
            let seen = self.wait_for(name, &attached, (runtime, stop), tell)?;
            let read = waiting::unless_stopped(stop, attached.settings(LOOK_WITHIN));
            let read = runtime.block_on(read).ok_or_else(|| RunError::Interrupted(String::new()))?;
            let read =
                read.map_err(|error| RunError::Cluster { name: name.clone(), why: error.to_string() })?;
            let SeenCluster { kind, members, is_redundant, .. } = seen;
            all.push(AttachedCluster {
                kind,
                members: members.into_iter().map(member).collect(),
                is_redundant,
                settings: settings(read),
                ..described(name, cluster)
            });
        }
        Ok(all)
    }

    /// Looks until nothing is wrong with a cluster that was in order before. One that is wrong the first time is not waited for.
    fn wait_for(
        &mut self,
        name: &str,
        cluster: &database::Cluster,
        (runtime, stop): (&Runtime, &AtomicBool),
        tell: &mut Tell<'_>,
    ) -> Result<SeenCluster, RunError> {
        let known = self.found.get(name).map(|found| found.was_redundant);
        let end = Instant::now() + WHOLE_WITHIN;
        loop {
            let looked = runtime.block_on(waiting::unless_stopped(stop, cluster.look(LOOK_WITHIN)));
            let seen = looked.ok_or_else(|| RunError::Interrupted(String::new()))?;
            let alone =
                || format!("before the first trial another member was a standby, but now none is ({seen})");
            let is_alone = known == Some(true) && seen.is_redundant != Some(true);
            let Some(why) = seen.wrong().or_else(|| is_alone.then(alone)) else {
                let was_redundant = known.unwrap_or(seen.is_redundant == Some(true));
                let primary = seen.primaries().pop();
                self.found.insert(name.to_owned(), Found { primary, was_redundant });
                return Ok(seen);
            };
            if known.is_none() {
                return Err(RunError::Cluster { name: name.to_owned(), why });
            }
            if Instant::now() > end {
                let waited_s = WHOLE_WITHIN.as_secs();
                let why = format!("it did not recover within {waited_s} s: {why}");
                return Err(RunError::Cluster { name: name.to_owned(), why });
            }
            if stop.load(Ordering::Relaxed) {
                return Err(RunError::Interrupted(String::new()));
            }
            tell(Preparation::waiting(format!("waiting for the cluster {name}: {why}")));
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// What is watched while a trial runs.
    pub(crate) fn watched(&self, trial: &Trial) -> Vec<WatchedCluster> {
        let watched = |(name, cluster): (&String, &Cluster)| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            let watch = Watching { cluster: cluster.attached()?, runtime: Mutex::new(runtime) };
            let primary = self.found.get(name).and_then(|found| found.primary.clone());
            Some(WatchedCluster { name: name.clone(), primary, watch: Arc::new(watch) })
        };
        trial.target.loaded_clusters().filter_map(watched).collect()
    }
}

/// Looks at a cluster, over sessions of its own.
struct Watching {
    cluster: database::Cluster,
    runtime: Mutex<Runtime>,
}

impl Watches for Watching {
    /// Of a cluster that does not tell whether others stand by, that is never known.
    fn stands(&self) -> Stands {
        let runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = runtime.block_on(self.cluster.look(WATCH_WITHIN));
        let is_redundant = seen.is_redundant == Some(true);
        // What its members decide by is their own affair.
        Stands { primaries: seen.primaries(), is_redundant, is_noticed: false }
    }
}
