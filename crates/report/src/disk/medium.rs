//! Doubts about what answered: memory, an empty file, a deduplicating array, a volatile cache, instead of the medium.

use record::{Device, DiskSetup, Placed, Reading, Storage, TARGET_VOLUME, Written};

use crate::format;
use crate::report::Report;
use crate::trial::Trial;
use crate::verdict::doubt::Doubt;
use crate::verdict::outcome::{grouped, notes};
use crate::verdict::{Level, Verdict};

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let trials = &report.trials;
    [
        file_in_memory(report),
        never_written(trials),
        written_by_others(trials),
        written_unknown(trials),
        compressible(trials),
        duplicate(trials),
        not_durable(report),
        no_device(trials),
    ]
    .into_iter()
    .flatten()
    .chain(fallbacks(trials))
    .chain(above_interfaces(report))
    .collect()
}

/// The disk setup of a trial that really did I/O and left figures.
fn io(trial: &Trial) -> Option<&DiskSetup> {
    trial.disk().filter(|disk| disk.engine.loads_device() && !trial.figures.is_empty())
}

fn count(bytes: f64) -> String {
    format::bytes(bytes as u64)
}

fn file_in_memory(report: &Report) -> Option<Verdict> {
    let memory = report.environment.as_ref()?.memory.total_bytes;
    let small = |trial: &Trial| {
        let disk = io(trial)?;
        // A write that is answered when it is on stable storage is not answered by the cache.
        let cached = disk.read_per_cent > 0.0 || !disk.cache.writes_through();
        (disk.cache.uses_file_cache() && cached && disk.file_bytes < memory).then_some(disk.file_bytes as f64)
    };
    Doubt::with_figure(Level::Warning, "file_in_memory", &report.trials, small)
        .verdict(count, |file| {
            format!(
                "a file of {file} was used through the file cache of a machine with {} of memory",
                format::bytes(memory),
            )
        })
        .map(|verdict| {
            let least = format::bytes(memory.saturating_mul(2));
            verdict.with_action(format!("use direct I/O, or a file of at least {least}"))
        })
}

fn never_written(trials: &[Trial]) -> Option<Verdict> {
    let holes = |trial: &Trial| match io(trial)?.written {
        Written::Holes { bytes } if bytes > 0 => Some(bytes as f64),
        _ => None,
    };
    Doubt::with_figure(Level::Warning, "never_written", trials, holes).verdict(count, |bytes| {
        format!(
            "{bytes} of the region were never written, and the device answers such reads without its medium"
        )
    }).map(|verdict| verdict.with_action("fill the file before reading"))
}

fn written_by_others(trials: &[Trial]) -> Option<Verdict> {
    let others = |trial: &Trial| io(trial).is_some_and(|disk| disk.written == Written::AllocatedByOthers);
    Doubt::plain(Level::Note, "written_by_others", trials, others).verdict(count, |_| {
        "another program wrote the data, and a device may return zeros or repeated data faster than real data"
            .to_owned()
    })
}

fn written_unknown(trials: &[Trial]) -> Option<Verdict> {
    let reason = |trial: &Trial| match io(trial).map(|disk| &disk.written) {
        Some(Written::Unknown { reason }) => Some(reason.clone()),
        _ => None,
    };
    let first = trials.iter().find_map(reason)?;
    Doubt::plain(Level::Note, "written_unknown", trials, |trial| reason(trial).is_some())
        .verdict(count, |_| format!("it is unknown whether the region was ever written: {first}"))
}

/// One sentence for the devices that trials lie on, over the trials that lie on the same ones.
fn above_interfaces(report: &Report) -> Vec<Verdict> {
    let mut all: Vec<Vec<&Device>> =
        report.trials.iter().filter_map(|trial| devices(report, trial)).collect();
    let names = |devices: &[&Device]| devices.iter().map(|device| device.name.clone()).collect::<Vec<_>>();
    all.sort_by_key(|devices| names(devices));
    all.dedup_by_key(|devices| names(devices));
    all.into_iter().filter_map(|devices| above_interface(report, &devices)).collect()
}

/// What a trial's paths lie on, each; none where one of them is not known.
fn storages<'a>(report: &'a Report, trial: &Trial) -> Option<Vec<&'a Storage>> {
    let setup = io(trial)?;
    let volumes = &report.environment.as_ref()?.volumes;
    let placed = trial.placed.iter().filter_map(|placed| match placed {
        Placed::Path { path, .. } => Some(path.as_str()),
        Placed::Database { .. } => None,
    });
    let mut paths: Vec<&str> = placed.collect();
    if paths.is_empty() {
        paths.push(&setup.path);
    }
    // Format 1 recorded one volume without its path, that of the first; the paths of a setup stand in one text.
    let is_one = |path: &str| !path.contains(", ");
    let only = volumes.get(TARGET_VOLUME).filter(|_| matches!(paths[..], [path] if is_one(path)));
    paths.iter().map(|path| volumes.get(*path).or(only)).collect()
}

/// What the one path of a trial lies on.
pub(super) fn storage<'a>(report: &'a Report, trial: &Trial) -> Option<&'a Storage> {
    match storages(report, trial)?.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// The devices that a trial's paths lie on, by name and each once; none where one of them is not known.
fn devices<'a>(report: &'a Report, trial: &Trial) -> Option<Vec<&'a Device>> {
    let storages = storages(report, trial)?.into_iter();
    let mut devices: Vec<&Device> = storages.map(|storage| storage.device.known()).collect::<Option<_>>()?;
    devices.sort_by_key(|device| &device.name);
    devices.dedup_by_key(|device| &device.name);
    Some(devices)
}

fn above_interface(report: &Report, devices: &[&Device]) -> Option<Verdict> {
    // Several carry what all of them together can.
    let each = devices.iter().map(|device| device.interface_bytes_per_s.known().copied());
    let most = each.sum::<Option<u64>>()? as f64 / 1e6;
    let is_on =
        |own: &[&Device]| own.iter().map(|own| &own.name).eq(devices.iter().map(|device| &device.name));
    let faster = |trial: &Trial| {
        self::devices(report, trial).filter(|own| is_on(own))?;
        // An interface carries reads and writes at the same time, so each direction is judged alone.
        let one_way =
            trial.figures.iter().filter(|figures| figures.kind == "read" || figures.kind == "write");
        one_way.filter_map(|figures| figures.mb_per_s).reduce(f64::max).filter(|&mb_per_s| mb_per_s > most)
    };
    let interface = |device: &Device| match &device.interface {
        Reading::Known(name) => format!("{name} interface of {}", device.name),
        Reading::Unknown(_) => format!("device's interface of {}", device.name),
    };
    let names: Vec<String> = devices.iter().map(|device| interface(device)).collect();
    let together = if devices.len() > 1 { " together" } else { "" };
    let mb_per_s = |value: f64| format!("{} MB/s", format::figure(value));
    Doubt::with_figure(Level::Warning, "above_interface", &report.trials, faster)
        .verdict(mb_per_s, |rate| {
            format!(
                "{rate} is more than the {} can carry{together} ({}); something before the device answered",
                names.join(" and the "),
                mb_per_s(most),
            )
        })
        .map(|verdict| verdict.with_action("measure with direct I/O and a larger file"))
}

fn compressible(trials: &[Trial]) -> Option<Verdict> {
    let share =
        |trial: &Trial| io(trial).map(|disk| disk.compressible_per_cent / 100.0).filter(|&share| share > 0.0);
    Doubt::with_figure(Level::Warning, "compressible", trials, share)
        .verdict(format::per_cent, |share| {
            format!(
                "{share} of each block is compressible; storage that compresses data looks too fast with such blocks"
            )
        })
        .map(|verdict| verdict.with_action("keep the fill incompressible unless your own data compresses this well"))
}

fn duplicate(trials: &[Trial]) -> Option<Verdict> {
    let share =
        |trial: &Trial| io(trial).map(|disk| disk.duplicate_per_cent / 100.0).filter(|&share| share > 0.0);
    Doubt::with_figure(Level::Warning, "duplicate", trials, share).verdict(format::per_cent, |share| {
        format!(
            "{share} of the blocks are duplicates; storage that deduplicates data looks too fast with such blocks"
        )
    }).map(|verdict| verdict.with_action("keep all blocks unique unless your own data repeats this often"))
}

/// A database waits until a commit is stable; writes that did not wait say nothing of that.
fn not_durable(report: &Report) -> Option<Verdict> {
    let volatile = |trial: &Trial| {
        let writes = trial.figures.iter().any(|figures| figures.kind == "write");
        writes
            && io(trial).is_some_and(|disk| !disk.cache.writes_through() && disk.flush_every_writes.is_none())
    };
    Doubt::plain(Level::Note, "not_durable", &report.trials, volatile).verdict(count, |_| {
        "the device answered writes before they were on stable storage, so this is not a commit rate"
            .to_owned()
    })
}

fn no_device(trials: &[Trial]) -> Option<Verdict> {
    let none = |trial: &Trial| trial.disk().is_some_and(|disk| !disk.engine.loads_device());
    Doubt::plain(Level::Note, "no_device", trials, none)
        .verdict(count, |_| "no device was used: these are figures of the load generator alone".to_owned())
}

fn fallbacks(trials: &[Trial]) -> Vec<Verdict> {
    let reasons = trials.iter().filter_map(|trial| {
        let disk = trial.disk()?;
        let reason = disk.engine_fallback.as_ref()?;
        Some((format!("the engine {} ran instead of the requested one: {reason}", disk.engine), trial))
    });
    notes("engine", grouped(reasons))
}
