//! Tables of started servers: what was started where, what was done with it and what it used, and what went to its devices.

use std::collections::{BTreeMap, BTreeSet};

use record::{DeviceLoad, FileCache, LimitProof, StartedServer, Workload};

use super::words;
use crate::format::{self, UNKNOWN};
use crate::report::Report;
use crate::section::Block;
use crate::table::{Column, Row, Table, column, words as text};
use crate::trial::Trial;

/// Trials whose use a terminal shows.
const TRIALS_MOST: usize = 8;

/// What stands under the table of devices.
const MEANING: &str =
    "Bytes and I/Os are the whole traffic of a device in the measured window, for all programs";

/// What is told of the servers that were started for trials of a workload.
pub(crate) fn blocks(report: &Report, workload: Workload) -> Vec<Block> {
    let trials: Vec<&Trial> =
        report.trials_of(workload).filter(|trial| !trial.started_servers.is_empty()).collect();
    let fits = trials.len() <= TRIALS_MOST;
    let shown = |table: Table| match fits {
        true => Block::Table(table),
        false => Block::OnPage { summary: table.title.clone(), table },
    };
    let devices = devices(&trials);
    let remark = devices.as_ref().filter(|_| fits).map(|_| Block::Remark(format!("{MEANING}.")));
    let known = all(&trials).map(|(trial, server)| (trial.number, server.name.as_str(), facts_of(server)));
    let facts = facts("Managed servers", "server", known);
    let facts = facts.map(|table| Block::Folded { summary: table.title.clone(), table });
    let tables = [facts, uses(&trials).map(shown), devices.map(shown), remark];
    tables.into_iter().flatten().collect()
}

/// Something that is known of a server, and the trials in which it was so.
type Fact = (String, String, BTreeSet<u32>);

/// What is known of servers or clusters by the number of a trial and their names: a row for each fact, told apart by trials where it
/// was not the same in all of its own.
pub(crate) fn facts<'a>(
    title: &str,
    called: &'static str,
    all: impl Iterator<Item = (u32, &'a str, Vec<(String, String)>)>,
) -> Option<Table> {
    let mut servers: BTreeMap<&str, Vec<Fact>> = BTreeMap::new();
    let mut run_in: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (number, name, facts) in all {
        run_in.entry(name).or_default().insert(number);
        let known = servers.entry(name).or_default();
        for (what, value) in facts {
            match known.iter_mut().find(|(other, its, _)| *other == what && *its == value) {
                Some((.., numbers)) => _ = numbers.insert(number),
                None => known.push((what, value, BTreeSet::from([number]))),
            }
        }
    }
    let mut alike: Vec<(Vec<&str>, Vec<Fact>)> = Vec::new();
    for (name, mut facts) in servers {
        for (.., numbers) in &mut facts {
            if *numbers == run_in[name] {
                numbers.clear();
            }
        }
        match alike.iter_mut().find(|(_, other)| *other == facts) {
            Some((names, _)) => names.push(name),
            None => alike.push((vec![name], facts)),
        }
    }
    let rows = alike.iter().flat_map(|(names, facts)| rows_of(names, facts));
    let columns = vec![
        text(called, "name in the study", 0),
        text("what", "place, limit or setting", 0),
        text("is", "as it was found", 0),
        text("in trials", "numbers of the trials; if empty, all trials", 0),
    ];
    Table::of(title, columns, rows).map(|table| table.without_empty_columns(&["in trials"]))
}

fn rows_of(names: &[&str], facts: &[Fact]) -> Vec<Row> {
    let who = match names {
        [first, .., last] => format!("{first} to {last}"),
        names => names.concat(),
    };
    // What is one thing stands together, in whatever trials it was one or the other.
    let mut order: Vec<&String> = facts.iter().map(|(what, ..)| what).collect();
    let mut seen = BTreeSet::new();
    order.retain(|what| seen.insert(*what));
    let sorted = order.into_iter().flat_map(|what| facts.iter().filter(move |fact| fact.0 == *what));
    let row = |(index, (what, value, numbers)): (usize, &Fact)| {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        let lead = if index == 0 { who.clone() } else { String::new() };
        Row { cells: vec![lead, what.clone(), value.clone(), numbers.join(", ")], part: index > 0 }
    };
    sorted.enumerate().map(row).collect()
}

fn facts_of(server: &StartedServer) -> Vec<(String, String)> {
    let mut facts = vec![("engine".to_owned(), server.engine.clone())];
    facts.extend(server.places.iter().map(|(what, volume)| (what.clone(), words::place(volume))));
    let beneath = |(what, volume): (&String, &record::Volume)| {
        Some((format!("{what} lies on"), words::beneath(volume)?))
    };
    facts.extend(server.places.iter().filter_map(beneath));
    facts.extend(words::limits(server).into_iter().map(|(of, limit)| (format!("limit: {of}"), limit)));
    // The place of the group is another one each time.
    let by = server.limits.as_ref().and_then(|limits| limits.by.split(", /").next());
    facts.extend(by.map(|by| ("limits enforced by".to_owned(), by.to_owned())));
    facts.extend(server.asked.iter().map(|it| (format!("{} (asked for)", it.name), it.value.clone())));
    facts.extend(server.pair.iter().map(|pair| ("standby servers".to_owned(), pair.clone())));
    facts.extend(
        server.pair_settings.iter().map(|it| (format!("{} (of the pair)", it.name), it.value.clone())),
    );
    facts.extend(server.chosen.iter().map(|it| (format!("{} (chosen)", it.name), it.value.clone())));
    facts
}

fn all<'a>(trials: &[&'a Trial]) -> impl Iterator<Item = (&'a Trial, &'a StartedServer)> {
    trials.iter().flat_map(|&trial| trial.started_servers.iter().map(move |server| (trial, server)))
}

/// What was done before each trial, whether limits held, and what was used.
fn uses(trials: &[&Trial]) -> Option<Table> {
    let table = Table::of(
        "Activity and resources of managed servers",
        columns_of_uses(),
        all(trials).map(row_of_uses),
    )?;
    let optional = [
        "before the trial",
        "limits as proved",
        "files cached",
        "CPU time",
        "throttled",
        "memory",
        "at its limit",
        "killed",
    ];
    Some(table.without_empty_columns(&optional))
}

fn columns_of_uses() -> Vec<Column> {
    vec![
        column("#", "number of the trial", 4),
        text("trial", "name of the configuration", 3),
        text("server", "name in the study", 0),
        text("before the trial", "action before the trial, and its duration", 1),
        text("limits as proved", "rate reached at each limit before the trial", 0),
        text(
            "files cached",
            "its files in the page cache when its limits took effect, and after eviction",
            1,
        ),
        column("CPU time", "CPU time of its processes during the trial", 0),
        column("throttled", "time in which its limit kept it from running", 0),
        column("memory", "maximum, with page cache", 0),
        column("at its limit", "times that the kernel reclaimed memory", 2),
        column("killed", "processes that the kernel killed for lack of memory", 0),
    ]
}

fn row_of_uses((trial, server): (&Trial, &StartedServer)) -> Row {
    let used = server.used.as_ref();
    // Without limits it has no group that would count these.
    let counted = used.filter(|_| server.limits.is_some());
    let seconds = |of: Option<f64>| of.map_or_else(|| UNKNOWN.to_owned(), format::duration);
    let steps = server.steps.iter().map(|step| {
        let remark = step.remark.as_ref().map(|remark| format!(" ({remark})"));
        format!("{} {}{}", step.what, format::duration(step.took_s), remark.unwrap_or_default())
    });
    let proofs = server.limits.iter().flat_map(|limits| &limits.proofs);
    Row::of(vec![
        trial.number.to_string(),
        trial.name.clone(),
        server.name.clone(),
        steps.collect::<Vec<String>>().join(", "),
        proofs.map(|proof| proved(server, proof)).collect::<Vec<String>>().join("; "),
        server.file_cache.as_ref().map(cached).unwrap_or_default(),
        seconds(used.map(|used| used.cpu_s)),
        seconds(counted.map(|used| used.throttled_s)),
        used.and_then(|used| used.memory_most_bytes).map_or_else(|| UNKNOWN.to_owned(), format::bytes),
        counted.map_or_else(|| UNKNOWN.to_owned(), |used| format::grouped(used.memory_at_limit)),
        counted.map_or_else(|| UNKNOWN.to_owned(), |used| format::grouped(used.oom_kills)),
    ])
}

/// `145 MiB of 160 MiB, 0 B after eviction`.
fn cached(cache: &FileCache) -> String {
    let FileCache { is_evicted, files_bytes, cached_before_bytes, cached_bytes } = *cache;
    let before = format!("{} of {}", format::bytes(cached_before_bytes), format::bytes(files_bytes));
    match is_evicted {
        true => format!("{before}, {} after eviction", format::bytes(cached_bytes)),
        false => format!("{before}, not evicted"),
    }
}

/// `reads/s of vda: 779 of 781`.
pub(super) fn proved(server: &StartedServer, proof: &LimitProof) -> String {
    let what = match proof.of.rsplit_once(" of ") {
        Some((unit, device)) => format!("{unit} of {}", words::device_name(server, device)),
        None => proof.of.clone(),
    };
    let figure = |value: f64| {
        if what.starts_with("bytes") { format::bytes(value as u64) } else { format::figure(value) }
    };
    format!("{what}: {} of {}", figure(proof.achieved), figure(proof.expected))
}

/// What went to the devices under a trial's servers in its measured window.
fn devices(trials: &[&Trial]) -> Option<Table> {
    let columns = vec![
        column("#", "number of the trial", 4),
        text("trial", "name of the configuration", 3),
        text("device", "the kernel's name", 0),
        text("holds", "parts of the servers that are on it", 0),
        column("written", "bytes in the measured window", 0),
        column("writes", "in the measured window", 1),
        column("read", "bytes in the measured window", 0),
        column("reads", "in the measured window", 1),
    ];
    let rows = trials.iter().flat_map(|trial| {
        let went = went(trial);
        holding(trial).into_iter().filter_map(move |(device, what)| {
            let [written, writes, read, reads] = *went.get(device.as_str())?;
            let what: Vec<String> = what.into_iter().collect();
            let count = |value: f64| format::grouped(value.round() as u64);
            let bytes = |value: f64| format::bytes(value as u64);
            Some(Row::of(vec![
                trial.number.to_string(),
                trial.name.clone(),
                device,
                what.join(" and "),
                bytes(written),
                count(writes),
                bytes(read),
                count(reads),
            ]))
        })
    });
    Table::of("I/O on the devices of managed servers (all programs)", columns, rows)
}

/// What lies on each device: `data`, `log`, tablespaces.
fn holding(trial: &Trial) -> BTreeMap<String, BTreeSet<String>> {
    let mut holding: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (what, volume) in trial.started_servers.iter().flat_map(|server| &server.places) {
        for device in volume.devices() {
            holding.entry(device).or_default().insert(what.clone());
        }
    }
    holding
}

/// Bytes written, writes, bytes read and reads of each device in the measured window.
fn went(trial: &Trial) -> BTreeMap<&str, [f64; 4]> {
    let mut all: BTreeMap<&str, [f64; 4]> = BTreeMap::new();
    for read in trial.during() {
        for (device, load) in &read.devices {
            let DeviceLoad { write_bytes_per_s, writes_per_s, read_bytes_per_s, reads_per_s, .. } = *load;
            let rates = [write_bytes_per_s, writes_per_s, read_bytes_per_s, reads_per_s];
            let sums = all.entry(device).or_default();
            sums.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += rate * read.length_s);
        }
    }
    all
}
