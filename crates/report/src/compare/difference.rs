//! In what two studies differ: machines, settings, and the workload of a combination. Both sides are walked as they are
//! stored, so that what is recorded one day is compared from then on.

use std::collections::{BTreeMap, BTreeSet};

use record::{Environment, Leaves, StudyRecord, in_full, leaves};
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
const VOLATILE: [&str; 11] = [
    "taken",
    "available_bytes",
    "free_bytes",
    "seed",
    "content_nonce",
    "generator_ns_per_operation",
    "format",
    "pid",
    "told_by",
    "steal_share",
    "raid_sync",
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

/// Trials of both studies that are set against each other.
type Pairs<'a> = [(&'a Trial, &'a Trial)];
/// All trials of both studies.
type Trials<'a> = (&'a [Trial], &'a [Trial]);

/// Differences of the machines. What is not recorded on either side may differ.
pub(crate) fn environment(first: &StudyRecord, this: &StudyRecord) -> Vec<Difference> {
    let mut found = match (&first.environment, &this.environment) {
        (Some(one), Some(other)) => {
            let (one, other) = both_recorded(one, other);
            between(&machine(&one), &machine(&other))
        }
        (one, other) => {
            let told = |known: bool| Some(if known { "recorded" } else { "not recorded" }.to_owned());
            let what = "environment".to_owned();
            vec![Difference { what, first: told(one.is_some()), this: told(other.is_some()) }]
        }
    };
    let (first, this) = (resumed(first), resumed(this));
    found.extend(paths(&first, &this).into_iter().filter_map(|path| differs(path, &first, &this)));
    found
}

/// What had changed of the machine whenever a study was taken up again: its environment is that of its begin.
fn resumed(study: &StudyRecord) -> Leaves {
    let changed = study.manifest.resumed.iter().zip(1..).filter(|(again, _)| !again.differs.is_empty());
    changed.map(|(again, time)| (format!("resumed, time {time}"), again.differs.join("; "))).collect()
}

/// Differences of what was loaded: of the targets as asked, in their full form, of where they were found to be, and of what
/// the setups tell of them. A difference that several combinations have is told once. Without a pair all trials of one study
/// are set against all of the other.
pub(crate) fn target(pairs: &Pairs<'_>, (first, this): Trials<'_>) -> Vec<Difference> {
    let asked_and_placed = |trial: &Trial| {
        let asked = leaves(&in_full(&trial.target));
        let asked = asked.into_iter().map(|(path, text)| (format!("target.{path}"), text));
        let mut placed = lasting(trial, leaves(&trial.placed));
        placed.retain(|path, _| !is_resolved(path));
        let placed = placed.into_iter().map(|(path, text)| (format!("placed.{path}"), text));
        asked.chain(placed).collect::<Leaves>()
    };
    let mut all = Vec::new();
    for (one, other) in pairs {
        // What format 1 did not record is no difference.
        if !one.target.is_null() && !other.target.is_null() {
            add_new(&mut all, between(&asked_and_placed(one), &asked_and_placed(other)));
        }
        add_new(&mut all, setups(one, other).into_iter().filter(|difference| is_place(&difference.what)));
    }
    if pairs.is_empty() {
        let has_targets = [first, this].into_iter().flatten().all(|trial| !trial.target.is_null());
        let told = |trial: &Trial| {
            let asked = if has_targets { asked_and_placed(trial) } else { Leaves::new() };
            let setup = setup(trial).into_iter().filter(|(path, _)| is_place(path));
            asked.into_iter().chain(setup.map(|(path, text)| (format!("setup.{path}"), text))).collect()
        };
        add_new(&mut all, between(&together(first, told), &together(this, told)));
    }
    all
}

/// Differences of the studies themselves, then of the parameters and setups of the combinations that both have but for what
/// says where; a difference that several combinations have is told once. Without a pair all trials of one study are set
/// against all of the other.
pub(crate) fn settings(
    first: &StudyRecord,
    this: &StudyRecord,
    pairs: &Pairs<'_>,
    (our_trials, their_trials): Trials<'_>,
) -> Vec<Difference> {
    let (first, this) = (of_study(first), of_study(this));
    // What the studies differ in themselves is theirs, seeds too.
    let mut all: Vec<Difference> =
        paths(&first, &this).into_iter().filter_map(|p| differs(p, &first, &this)).collect();
    for (one, other) in pairs {
        let asked = parameters(one, other);
        let is_told = |found: &Difference| {
            asked.iter().any(|asked| last(&asked.what) == last(&found.what) && asked.first == found.first)
        };
        let setups = setups(one, other).into_iter().filter(|found| !is_place(&found.what) && !is_told(found));
        add_new(&mut all, asked.iter().map(|found| named(one, found)).chain(setups));
    }
    if pairs.is_empty() {
        let told = |trial: &Trial| {
            let parameters = leaves(&trial.parameters).into_iter();
            let parameters = parameters.map(|(path, text)| (parameter(trial, &path), text));
            let setup = setup(trial).into_iter().filter(|(path, _)| !is_place(path));
            parameters.chain(setup.map(|(path, text)| (format!("setup.{path}"), text))).collect()
        };
        add_new(&mut all, between(&together(our_trials, told), &together(their_trials, told)));
    }
    all
}

/// What a study says of itself.
fn of_study(study: &StudyRecord) -> Leaves {
    let manifest = &study.manifest;
    let mut own = Leaves::from([
        ("tool_version".to_owned(), manifest.tool_version.clone()),
        ("seed".to_owned(), manifest.seed.to_string()),
        ("quick".to_owned(), manifest.quick.to_string()),
    ]);
    if let Some(design) = manifest.compared() {
        own.insert("blocks".to_owned(), design.blocks.to_string());
        own.extend(leaves(&design.order).into_values().map(|order| ("order".to_owned(), order)));
    }
    own.extend(manifest.search.iter().flat_map(leaves).map(|(path, text)| (format!("search.{path}"), text)));
    own
}

/// Most values of one setting that are told.
const VALUES_MOST: usize = 6;

/// What all trials of a study tell, each with the values that it has anywhere.
fn together(trials: &[Trial], told: impl Fn(&Trial) -> Leaves) -> Leaves {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in trials.iter().flat_map(told) {
        let known = values.entry(path).or_default();
        if !known.contains(&text) {
            known.push(text);
        }
    }
    let joined = |mut texts: Vec<String>| {
        texts.sort();
        let more = texts.len().saturating_sub(VALUES_MOST);
        texts.truncate(VALUES_MOST);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        texts.join(", ") + &more
    };
    values.into_iter().map(|(path, texts)| (path, joined(texts))).collect()
}

/// A difference of parameters under the key that it has in a study file.
fn named(trial: &Trial, found: &Difference) -> Difference {
    let what = if found.what == WORKLOAD { found.what.clone() } else { parameter(trial, &found.what) };
    Difference { what, ..found.clone() }
}

fn parameter(trial: &Trial, path: &str) -> String {
    format!("workload.{}.{path}", trial.workload)
}

fn setup(trial: &Trial) -> Leaves {
    lasting(trial, trial.setup.as_ref().map(leaves).unwrap_or_default())
}

/// The same without what is new at each start of a server: its port, and the names of the directories that are made for it.
fn lasting(trial: &Trial, mut told: Leaves) -> Leaves {
    for server in &trial.started_servers {
        let places = server.places.values().filter_map(|volume| made(&volume.path));
        let new = places.map(|name| (name, MADE)).chain([(server.address.as_str(), server.name.as_str())]);
        for (new, lasting) in new.filter(|(new, _)| !new.is_empty()) {
            told.values_mut().for_each(|text| *text = text.replace(new, lasting));
        }
    }
    told
}

/// The directory of a path that was made for a started server.
fn made(path: &str) -> Option<&str> {
    let is_made = |part: &&str| {
        part.strip_prefix("prony-")
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|letter| letter.is_ascii_hexdigit()))
    };
    path.split('/').rfind(is_made)
}

/// What stands for it.
const MADE: &str = "prony-…";

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

fn setups(first: &Trial, this: &Trial) -> Vec<Difference> {
    let found = between(&setup(first), &setup(this)).into_iter();
    let found = found.filter(|difference| !was_found(&difference.what, first, this));
    found.map(|found| Difference { what: format!("setup.{}", found.what), ..found }).collect()
}

/// The directory that a target was found to lie in. What was asked for tells another one, and device and mount tell another place.
fn is_resolved(placed: &str) -> bool {
    ["data.path", "log.path", "on.path"].iter().any(|end| placed.ends_with(&format!(".{end}")))
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

/// Two machines by what is recorded of both. What the kernel is set to came later, and what servers told is compared by the setups of
/// trials, which tell what each was run with. Volumes and servers that only one study used are no difference of the machines.
fn both_recorded(one: &Environment, other: &Environment) -> (Environment, Environment) {
    let layouts =
        |environment: &Environment| environment.volumes.values().all(|volume| volume.layout.is_some());
    let (has_tuning, has_layouts) =
        (one.tuning.is_some() && other.tuning.is_some(), layouts(one) && layouts(other));
    let both_used = |name: &String| one.volumes.contains_key(name) && other.volumes.contains_key(name);
    let is_one_each = one.volumes.len() == 1 && other.volumes.len() == 1;
    let both_ran = |name: &String| one.servers.contains_key(name) && other.servers.contains_key(name);
    let reduced = |environment: &Environment| {
        let mut reduced = Environment { inspected: Vec::new(), ..environment.clone() };
        reduced.tuning = reduced.tuning.filter(|_| has_tuning);
        reduced.volumes.retain(|name, _| is_one_each || both_used(name));
        reduced.servers.retain(|name, _| both_ran(name));
        if !has_layouts {
            reduced.volumes.values_mut().for_each(|volume| volume.layout = None);
        }
        reduced
    };
    (reduced(one), reduced(other))
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

/// What is said to differ where the workloads themselves do.
const WORKLOAD: &str = "workload";

/// Differences of what a combination asks of the server.
pub(crate) fn workload(first: &Trial, this: &Trial) -> Vec<Difference> {
    let asked = parameters(first, this).into_iter().filter(|found| !is_place(&found.what));
    asked.chain(rows_of_tables(first, this)).collect()
}

/// Tables that were loaded alike have equal checksums, whatever their kinds and engines. Times over other rows are not compared.
fn rows_of_tables(first: &Trial, this: &Trial) -> Option<Difference> {
    let checksum = |trial: &Trial| trial.tables()?.checksum.clone();
    let (one, other) = (checksum(first)?, checksum(this)?);
    let what = "checksum of the rows".to_owned();
    (one != other).then_some(Difference { what, first: Some(one.sum), this: Some(other.sum) })
}

/// What a store brings with it that was there before, and what decides how much work it is.
const BROUGHT: [&str; 1] = ["size"];

/// Differences of what was asked for, those that say where too. What one side did not ask for is what was used there, which the
/// setup tells, and so is what neither asked for and a store brought with it.
fn parameters(first: &Trial, this: &Trial) -> Vec<Difference> {
    if first.workload != this.workload {
        let (one, other) = (Some(first.workload.name().to_owned()), Some(this.workload.name().to_owned()));
        return vec![Difference { what: WORKLOAD.to_owned(), first: one, this: other }];
    }
    let (ours, theirs) = (leaves(&first.parameters), leaves(&this.parameters));
    let found = between(&ours, &theirs).into_iter();
    let found = found.filter(|found| !was_found(&found.what, first, this));
    let unasked = BROUGHT.into_iter().filter(|name| !ours.contains_key(*name) && !theirs.contains_key(*name));
    let unasked = unasked.map(|name| Difference { what: name.to_owned(), first: None, this: None });
    found.chain(unasked).filter_map(|found| by_use(found, first, this)).collect()
}

/// Whether it is the rate of two searches' steps.
fn was_found(path: &str, first: &Trial, this: &Trial) -> bool {
    first.search.is_some() && this.search.is_some() && FOUND.contains(&last(path))
}

/// The same of what was used where one side or both did not say; none where that is no difference.
fn by_use(found: Difference, first: &Trial, this: &Trial) -> Option<Difference> {
    if found.first.is_some() && found.this.is_some() {
        return Some(found);
    }
    let name = last(&found.what);
    let (one, other) = (used(first, name), used(this, name));
    if one == other && (one.is_some() || found.first == found.this) {
        return None;
    }
    Some(Difference { first: found.first.or(one), this: found.this.or(other), ..found })
}

/// What the setup tells of a parameter, wherever it stands there; each value once.
fn used(trial: &Trial, name: &str) -> Option<String> {
    let told = leaves(trial.setup.as_ref()?).into_iter().filter(|(path, _)| last(path) == name);
    let values: BTreeSet<String> = told.map(|(_, text)| text).collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<String>>().join(", "))
}

fn between(first: &Leaves, this: &Leaves) -> Vec<Difference> {
    let is_volatile = |path: &str| VOLATILE.contains(&last(path));
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
