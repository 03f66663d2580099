//! How a disk was really loaded.

use record::{CacheMode, DiskSetup, Written};

use crate::format;
use crate::workloads::Facts;

pub(crate) fn facts(disk: &DiskSetup) -> Facts {
    let mut facts = load(disk);
    facts.extend(engine(disk));
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn load(disk: &DiskSetup) -> Vec<(&'static str, String)> {
    let flush =
        disk.flush_every_writes.map(|writes| format!("every {} writes per thread", format::grouped(writes)));
    vec![
        ("target", disk.path.clone()),
        ("block", format::bytes(disk.block_bytes)),
        ("reads", format!("{}%", disk.read_per_cent)),
        ("pattern", disk.pattern.clone()),
        ("outstanding a thread", disk.outstanding.to_string()),
        ("threads", disk.threads.to_string()),
        ("files", disk.files.to_string()),
        ("bytes of all files", format::bytes(disk.file_bytes)),
        ("region", format::bytes(disk.region_bytes)),
        ("caches", cache(disk.cache).to_owned()),
        ("fdatasync", flush.unwrap_or_else(|| "never".to_owned())),
        ("compressible", format!("{}%", disk.compressible_per_cent)),
        ("duplicates", format!("{}%", disk.duplicate_per_cent)),
        ("written before", written(&disk.written)),
        ("loop", format::pacing(disk.pacing)),
    ]
}

fn engine(disk: &DiskSetup) -> Vec<(&'static str, String)> {
    let list = |words: Vec<String>| if words.is_empty() { "none".to_owned() } else { words.join(", ") };
    let fallback = disk.engine_fallback.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let calibration = disk
        .calibration
        .map(|c| format!("{} ns per operation", format::figure(c.generator_ns_per_operation)));
    vec![
        ("engine", format!("{}{fallback}", disk.engine)),
        ("engine features granted", list(disk.engine_features.clone())),
        ("buffers", disk.buffers.to_string()),
        ("time stamps", disk.timing.clone()),
        ("pinned to CPUs", list(disk.affinity.iter().map(u32::to_string).collect())),
        ("generator without a device", calibration.unwrap_or_else(|| "not calibrated".to_owned())),
        ("seed", disk.seed.to_string()),
    ]
}

fn cache(mode: CacheMode) -> &'static str {
    match mode {
        CacheMode::Direct => "direct (O_DIRECT)",
        CacheMode::DirectWriteThrough => "direct and write-through (O_DIRECT, O_DSYNC)",
        CacheMode::Buffered => "file cache",
        CacheMode::BufferedWriteThrough => "file cache, write-through (O_DSYNC)",
    }
}

fn written(written: &Written) -> String {
    match written {
        Written::ByUs => "all, by prony".to_owned(),
        Written::Holes { bytes } => format!("{} were never written", format::bytes(*bytes)),
        Written::AllocatedByOthers => "by others".to_owned(),
        Written::Unknown { reason } => format!("unknown: {reason}"),
        Written::NotRead => "nothing is read".to_owned(),
    }
}
