//! What was asked and what was really set up: once for what all trials share, by trial for the rest.

use maud::{Markup, html};
use record::{CacheMode, DiskSetup, Written};
use serde_json::Value;

use super::{evidence, parts};
use crate::format;
use crate::model::{Report, Trial};
use crate::table::{Column, Row, Table};

type Facts = Vec<(String, String)>;

pub(super) fn settings(report: &Report) -> Markup {
    let study = vec![
        ("command".to_owned(), report.command.join(" ")),
        ("seed".to_owned(), report.seed.to_string()),
        ("order of the trials".to_owned(), order(report)),
    ];
    let (set_up, set_up_by_trial) = split("Really set up", report, |trial| trial.disk().map(disk));
    let (asked, asked_by_trial) = split("As asked", report, |trial| Some(flat(&trial.parameters)));
    html! {
        div.columns {
            (parts::facts("Study", &study))
            @if !set_up.is_empty() { (parts::facts("Really set up, in all trials", &set_up)) }
            @if !asked.is_empty() { (parts::facts("As asked, in all trials", &asked)) }
        }
        @for table in [set_up_by_trial, asked_by_trial].iter().flatten() { (parts::table(table)) }
        @if !report.study_toml.trim().is_empty() {
            details { summary { "The exact input (study.toml)" } pre { (report.study_toml) } }
        }
    }
}

/// The order in which the trials ran, by their start, as numbers.
fn order(report: &Report) -> String {
    let mut begun: Vec<&Trial> = report.trials.iter().filter(|trial| trial.started.is_some()).collect();
    begun.sort_by(|a, b| a.started.cmp(&b.started).then(a.number.cmp(&b.number)));
    if begun.windows(2).all(|pair| pair[0].number < pair[1].number) {
        return "as numbered".to_owned();
    }
    begun.iter().map(|trial| trial.number.to_string()).collect::<Vec<String>>().join(", ")
}

/// Facts that all trials share, then a table of those in which they differ.
fn split(title: &str, report: &Report, facts: impl Fn(&Trial) -> Option<Facts>) -> (Facts, Option<Table>) {
    let of: Vec<(&Trial, Facts)> =
        report.trials.iter().filter_map(|trial| facts(trial).map(|facts| (trial, facts))).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in of.iter().flat_map(|(_, facts)| facts) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (shared, differing): (Vec<&String>, Vec<&String>) = names.into_iter().partition(|name| {
        let first = of.first().and_then(|(_, facts)| value(facts, name));
        of.iter().all(|(_, facts)| value(facts, name) == first)
    });
    let shared: Facts = shared
        .into_iter()
        .filter_map(|name| Some((name.clone(), value(&of.first()?.1, name)?.to_owned())))
        .collect();
    (shared, (!differing.is_empty()).then(|| by_trial(title, &of, &differing)))
}

fn value<'a>(facts: &'a Facts, name: &str) -> Option<&'a str> {
    facts.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

fn by_trial(title: &str, of: &[(&Trial, Facts)], names: &[&String]) -> Table {
    let mut columns = vec![Column::number("#"), Column::words("trial")];
    columns.extend(names.iter().map(|name| Column::words((*name).clone())));
    let rows = of.iter().map(|(trial, facts)| {
        let mut cells = vec![trial.number.to_string(), trial.name.clone()];
        cells.extend(names.iter().map(|name| value(facts, name).unwrap_or(format::UNKNOWN).to_owned()));
        Row { cells, part: false }
    });
    let rows = rows.collect();
    Table { title: format!("{title}, by trial"), columns, rows }
}

fn disk(disk: &DiskSetup) -> Facts {
    let mut facts = load(disk);
    facts.extend(engine(disk));
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn load(disk: &DiskSetup) -> Vec<(&'static str, String)> {
    let flush =
        disk.flush_every_writes.map(|writes| format!("every {} writes of a thread", format::grouped(writes)));
    vec![
        ("target", disk.path.clone()),
        ("block", format::bytes(disk.block_bytes)),
        ("reads", format!("{} %", disk.read_per_cent)),
        ("pattern", disk.pattern.clone()),
        ("outstanding a thread", disk.outstanding.to_string()),
        ("threads", disk.threads.to_string()),
        ("files", disk.files.to_string()),
        ("bytes of all files", format::bytes(disk.file_bytes)),
        ("region", format::bytes(disk.region_bytes)),
        ("caches", cache(disk.cache).to_owned()),
        ("fdatasync", flush.unwrap_or_else(|| "never".to_owned())),
        ("compressible", format!("{} %", disk.compressible_per_cent)),
        ("duplicates", format!("{} %", disk.duplicate_per_cent)),
        ("written before", written(&disk.written)),
        ("loop", evidence::pacing(disk.pacing)),
    ]
}

fn engine(disk: &DiskSetup) -> Vec<(&'static str, String)> {
    let list = |words: Vec<String>| if words.is_empty() { "none".to_owned() } else { words.join(", ") };
    let fallback = disk.engine_fallback.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let calibration =
        disk.calibration.map(|c| format!("{} ns an operation", format::figure(c.generator_ns_per_operation)));
    vec![
        ("engine", format!("{}{fallback}", disk.engine)),
        ("engine features granted", list(disk.engine_features.clone())),
        ("buffers", disk.buffers.clone()),
        ("time stamps", disk.timing.clone()),
        ("pinned to processors", list(disk.affinity.iter().map(u32::to_string).collect())),
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
        Written::ByUs => "all of it, by this tool".to_owned(),
        Written::Holes { bytes } => format!("{} were never written", format::bytes(*bytes)),
        Written::AllocatedByOthers => "by others".to_owned(),
        Written::Unknown { reason } => format!("unknown: {reason}"),
        Written::NotRead => "nothing is read".to_owned(),
    }
}

/// Nested parameters as dotted names, as a study file would spell them.
fn flat(parameters: &Value) -> Facts {
    let mut facts = Facts::new();
    flatten("", parameters, &mut facts);
    facts
}

fn flatten(prefix: &str, value: &Value, facts: &mut Facts) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&name, member, facts);
            }
        }
        Value::Null => {}
        Value::String(text) => facts.push((prefix.to_owned(), text.clone())),
        other => facts.push((prefix.to_owned(), other.to_string())),
    }
}
