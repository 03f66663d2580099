//! What a study asks for and this machine has not: told before anything runs, and no reason not to run.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use report::format;
use study::{Needs, Plan, Study, WantedDatabase};

/// Of the memory that a machine is sold with, the system keeps some to itself.
const MEMORY_SHARE_MIN: f64 = 0.95;

/// A sentence for each lack.
pub(crate) fn lacks(study: &Study, plan: &Plan) -> Vec<String> {
    // A quick look needs little.
    let needs = if study.quick { Needs::default() } else { study.needs };
    let cpus = ::disk::usable_cpus().len() as u32;
    let mut lacks = Vec::new();
    if let Some(wanted) = needs.cpus.filter(|&wanted| cpus < wanted) {
        lacks.push(format!(
            "too few CPUs: the study is intended for {wanted} or more, but this machine has {cpus}"
        ));
    }
    if let (Some(wanted), Some(memory)) = (needs.memory, ::disk::machine_memory_bytes())
        && (memory as f64) < wanted.0 as f64 * MEMORY_SHARE_MIN
    {
        let (wanted, memory) = (format::bytes(wanted.0), format::bytes(memory));
        lacks.push(format!(
            "too little memory: the study is intended for {wanted} or more, but this machine has {memory}"
        ));
    }
    let places = places(plan);
    if let Some(wanted) = needs.space {
        let short = places.iter().filter_map(|place| Some((place, free_bytes(place)?)));
        lacks.extend(short.filter(|(_, free)| *free < wanted.0).map(|(place, free)| {
            let (wanted, free) = (format::bytes(wanted.0), format::bytes(free));
            format!(
                "too little space: the study is intended for {wanted} of free space, but {} has only {free}",
                place.display()
            )
        }));
    }
    lacks.extend(same_file_system(plan));
    lacks.extend(left_out(plan));
    lacks
}

/// Trials that a database has no tables for, as its dialect tells already; what a server lacks besides is known when it runs.
fn left_out(plan: &Plan) -> Vec<String> {
    let mut by_reason: Vec<(String, usize)> = Vec::new();
    for trial in &plan.trials {
        let databases = trial.databases();
        let why = |database: &WantedDatabase| trial.work.any().lacks(database.url.engine().dialect().name());
        let Some(reason) = databases.iter().find_map(why) else { continue };
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => by_reason.push((reason, 1)),
        }
    }
    let all = plan.trials.len();
    let sentence =
        |(reason, count)| format!("{count} of {all} trials are skipped and take no time: {reason}");
    by_reason.into_iter().map(sentence).collect()
}

/// Directories on this machine that the study writes to.
fn places(plan: &Plan) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> =
        plan.disk_tests().into_iter().flat_map(|(paths, _)| paths.to_vec()).collect();
    let urls = plan.databases().into_iter().map(|(database, _)| database.url);
    places.extend(urls.filter_map(|url| url.file().map(directory_of)));
    places.sort();
    places.dedup();
    places
}

fn directory_of(file: &Path) -> PathBuf {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

fn free_bytes(place: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(place).ok()?;
    Some(space.f_bavail * space.f_frsize)
}

/// Places that are compared with each other and lie on one file system.
fn same_file_system(plan: &Plan) -> Vec<String> {
    let mut by_device: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (paths, _) in plan.disk_tests() {
        let [path] = paths else { continue };
        if let Some(metadata) = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_dir) {
            by_device.entry(metadata.dev()).or_default().push(path.display().to_string());
        }
    }
    let several = by_device.into_values().filter(|places| places.len() > 1);
    let sentence = |mut places: Vec<String>| {
        places.sort();
        format!("{} are on the same file system. Expect no difference between them", places.join(" and "))
    };
    several.map(sentence).collect()
}
