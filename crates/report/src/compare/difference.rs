//! In what two studies differ: machines, settings, and the workload of a combination. Both sides are walked as they are
//! stored, so that what is recorded one day is compared from then on.

use std::collections::BTreeMap;

use record::{Environment, Leaves, Setup, StudyRecord, leaves};
use serde::Serialize;

use crate::trial::Trial;

/// Something that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Difference {
    /// What it is, as a dotted path.
    pub what: String,
    /// Its value in the first study; none where that has none.
    pub first: Option<String>,
    /// Its value in the other.
    pub this: Option<String>,
}

/// Readings that are never the same twice, by the last part of their path.
const VOLATILE: [&str; 8] = [
    "taken",
    "available_bytes",
    "free_bytes",
    "seed",
    "content_nonce",
    "generator_ns_per_operation",
    "format",
    "pid",
];

/// Parameters that say where and with what chance, and not what is done.
const PLACE: [&str; 17] = [
    "target",
    "targets",
    "path",
    "paths",
    "url",
    "database",
    "data_directory",
    "log_directory",
    "place",
    "server",
    "instance",
    "create",
    "overwrite",
    "destroy",
    "no_fill",
    "reuse",
    "seed",
];

/// Names under which the rate of a search's step is stored: what the search found, and nothing that was asked for.
const FOUND: [&str; 2] = ["rate", "rate_per_s"];

/// Differences of the machines.
pub(super) fn environment(first: &StudyRecord, this: &StudyRecord) -> Vec<Difference> {
    let of = |study: &StudyRecord| match &study.environment {
        Some(environment) => machine(environment),
        None => Leaves::from([("environment".to_owned(), "not recorded".to_owned())]),
    };
    match (&first.environment, &this.environment) {
        (Some(_), Some(_)) => between(&of(first), &of(this)),
        (None, None) => Vec::new(),
        (one, other) => {
            let told = |known: bool| Some(if known { "recorded" } else { "not recorded" }.to_owned());
            let what = "environment".to_owned();
            vec![Difference { what, first: told(one.is_some()), this: told(other.is_some()) }]
        }
    }
}

/// Differences of what was loaded: of the targets as asked, of where they were found to be, and of what the setups tell of
/// them. A difference that several combinations have is told once.
pub(super) fn target<'a>(shared: impl Iterator<Item = (&'a Trial, &'a Trial)>) -> Vec<Difference> {
    let of = |trial: &Trial| {
        let asked = leaves(&trial.target).into_iter().map(|(path, text)| (format!("target.{path}"), text));
        let placed = leaves(&trial.placed).into_iter().map(|(path, text)| (format!("placed.{path}"), text));
        asked.chain(placed).collect::<Leaves>()
    };
    let mut all = Vec::new();
    for (one, other) in shared {
        // What format 1 did not record is no difference.
        if !one.target.is_null() && !other.target.is_null() {
            add_new(&mut all, between(&of(one), &of(other)));
        }
        add_new(&mut all, setups(one, other).into_iter().filter(|difference| is_place(&difference.what)));
    }
    all
}

/// Differences of the studies themselves, then of the setups of the combinations that both have but for what says where; a
/// difference that several combinations have is told once.
pub(super) fn settings<'a>(
    first: &StudyRecord,
    this: &StudyRecord,
    shared: impl Iterator<Item = (&'a Trial, &'a Trial)>,
) -> Vec<Difference> {
    let of = |study: &StudyRecord| {
        let manifest = &study.manifest;
        let mut own = Leaves::from([
            ("tool_version".to_owned(), manifest.tool_version.clone()),
            ("seed".to_owned(), manifest.seed.to_string()),
            ("quick".to_owned(), manifest.quick.to_string()),
        ]);
        if let Some(design) = &manifest.design {
            own.insert("blocks".to_owned(), design.blocks.to_string());
            own.extend(leaves(&design.order).into_values().map(|order| ("order".to_owned(), order)));
        }
        own.extend(
            manifest.search.iter().flat_map(leaves).map(|(path, text)| (format!("search.{path}"), text)),
        );
        own
    };
    let (first, this) = (of(first), of(this));
    // What the studies differ in themselves is theirs, seeds too.
    let mut all: Vec<Difference> =
        paths(&first, &this).into_iter().filter_map(|p| differs(p, &first, &this)).collect();
    for (one, other) in shared {
        add_new(&mut all, setups(one, other).into_iter().filter(|difference| !is_place(&difference.what)));
    }
    all
}

fn setups(first: &Trial, this: &Trial) -> Vec<Difference> {
    let setup = |trial: &Trial| trial.setup.as_ref().map(leaves).unwrap_or_default();
    let found = between(&setup(first), &setup(this)).into_iter();
    let found = found.filter(|difference| !was_found(&difference.what, first, this));
    found.map(|found| Difference { what: format!("setup.{}", found.what), ..found }).collect()
}

fn add_new(all: &mut Vec<Difference>, found: impl IntoIterator<Item = Difference>) {
    for found in found {
        if !all.contains(&found) {
            all.push(found);
        }
    }
}

fn is_place(path: &str) -> bool {
    path.split('.').any(|part| PLACE.contains(&part))
}

/// What is known of a machine. A volume that is the only one is that of the target, whatever it is called.
fn machine(environment: &Environment) -> Leaves {
    let mut machine = leaves(&Environment { volumes: BTreeMap::new(), ..environment.clone() });
    machine.extend(match environment.volumes.values().next() {
        Some(only) if environment.volumes.len() == 1 => leaves(only),
        _ => leaves(&BTreeMap::from([("volumes", &environment.volumes)])),
    });
    machine
}

/// Differences of what a combination asks of the server. A parameter that one side left to its default differs only if the
/// setups differ in it.
pub(super) fn workload(first: &Trial, this: &Trial) -> Vec<Difference> {
    if first.workload != this.workload {
        let (one, other) = (Some(first.workload.name().to_owned()), Some(this.workload.name().to_owned()));
        return vec![Difference { what: "workload".to_owned(), first: one, this: other }];
    }
    let asked = |trial: &Trial| leaves(&trial.parameters);
    let found = between(&asked(first), &asked(this)).into_iter();
    let found = found.filter(|found| !is_place(&found.what) && !was_found(&found.what, first, this));
    found.filter(|found| !same_by_default(found, first.setup.as_ref(), this.setup.as_ref())).collect()
}

/// Whether it is the rate of two searches' steps.
fn was_found(path: &str, first: &Trial, this: &Trial) -> bool {
    let last = path.rsplit('.').next().unwrap_or_default();
    first.search.is_some() && this.search.is_some() && FOUND.contains(&last)
}

fn same_by_default(found: &Difference, first: Option<&Setup>, this: Option<&Setup>) -> bool {
    if found.first.is_some() && found.this.is_some() {
        return false;
    }
    let last = found.what.rsplit('.').next().unwrap_or_default();
    let real = |setup: Option<&Setup>| leaves(&setup?).remove(last);
    real(first).is_some_and(|one| Some(one) == real(this))
}

fn between(first: &Leaves, this: &Leaves) -> Vec<Difference> {
    let is_volatile = |path: &str| path.rsplit('.').next().is_some_and(|last| VOLATILE.contains(&last));
    let paths = paths(first, this).into_iter().filter(|path| !is_volatile(path));
    paths.filter_map(|path| differs(path, first, this)).collect()
}

fn paths<'a>(first: &'a Leaves, this: &'a Leaves) -> Vec<&'a String> {
    let mut paths: Vec<&String> = first.keys().chain(this.keys()).collect();
    paths.sort();
    paths.dedup();
    paths
}

fn differs(path: &str, first: &Leaves, this: &Leaves) -> Option<Difference> {
    let (one, other) = (first.get(path), this.get(path));
    (one != other).then(|| Difference { what: path.to_owned(), first: one.cloned(), this: other.cloned() })
}
