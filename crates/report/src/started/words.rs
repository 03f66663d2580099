//! A started server in words: for a plan before it is started, and for a report of what it was.

use std::collections::{BTreeMap, BTreeSet};

use record::{Beneath, DeviceLimits, ServerLimits, ServerSetting, StartedServer, Volume};

use crate::format;

/// What is called first in the directories that are made in a user's.
const MADE: &str = "prony-";
/// Servers that are told one by one.
const LISTED_MOST: usize = 6;

/// What a plan would start, a few lines for each server that differs from the others in more than its name.
#[must_use]
pub fn lines(servers: &[StartedServer]) -> Vec<String> {
    let mut kinds: Vec<(Vec<&str>, &StartedServer)> = Vec::new();
    for server in servers {
        let nameless = |server: &StartedServer| StartedServer { name: String::new(), ..server.clone() };
        match kinds.iter_mut().find(|(_, other)| nameless(other) == nameless(server)) {
            Some((names, _)) => names.push(&server.name),
            None => kinds.push((vec![&server.name], server)),
        }
    }
    let more = kinds.len().saturating_sub(LISTED_MOST);
    let told = kinds.iter().take(LISTED_MOST).flat_map(|(names, server)| of_kind(names, server));
    let rest = format!(
        "and {} with other places, limits, settings or faults",
        format::counted(more, "more server", "more servers")
    );
    told.chain((more > 0).then_some(rest)).collect()
}

fn of_kind(names: &[&str], server: &StartedServer) -> Vec<String> {
    let who = match names {
        [name] => format!("{} {name}", server.engine),
        [first, .., last] => format!("{} {} servers, {first} to {last}", names.len(), server.engine),
        [] => server.engine.clone(),
    };
    let places: Vec<String> =
        server.places.iter().map(|(what, volume)| format!("{what} in {}", place(volume))).collect();
    let limits: Vec<String> = limits(server).into_iter().map(|(of, limit)| format!("{of} {limit}")).collect();
    let limited = match (limits.is_empty(), names.len()) {
        (true, _) => "  without limits".to_owned(),
        (false, 1) => format!("  limited in its trials: {}", limits.join(", ")),
        (false, _) => format!("  each limited in its trials: {}", limits.join(", ")),
    };
    let set = |what: &str, settings: &[ServerSetting]| {
        let all: Vec<String> =
            settings.iter().map(|setting| format!("{} = {}", setting.name, setting.value)).collect();
        (!all.is_empty()).then(|| format!("  settings {what}: {}", all.join(", ")))
    };
    let first = format!("starts {who}: {}", places.join(", "));
    let asked = set("asked for", &server.asked);
    let chosen = set("derived from its limits", &server.chosen);
    [first, limited].into_iter().chain(asked).chain(chosen).chain(broken(server)).collect()
}

/// What stands by, and what is broken of it in the trials.
fn broken(server: &StartedServer) -> Vec<String> {
    let pair = server.pair.as_ref().map(|pair| format!("  with standby servers: pair = {pair}"));
    let faults = (!server.faults.is_empty()).then(|| format!("  breaks it: {}", server.faults.join(", ")));
    pair.into_iter().chain(faults).collect()
}

/// The user's directory in which ours is, and what it lies on: `/data on vda (ext4)`.
pub(crate) fn place(volume: &Volume) -> String {
    let path = the_users(&volume.path);
    match (volume.device.known(), &volume.file_system) {
        (Some(device), Some(file_system)) => format!("{path} on {device} ({file_system})"),
        (Some(device), None) => format!("{path} on {device}"),
        (None, Some(file_system)) if !volume.beneath.members.is_empty() => {
            format!("{path} on {} ({file_system})", volume.beneath.members.join(", "))
        }
        (None, Some(file_system)) => format!("{path} ({file_system}, device unknown)"),
        (None, None) => path.to_owned(),
    }
}

/// What a volume is made of: `md raid10 of sda, sdb; blocks of 4 KiB; scheduler none; write cache write back`. None where nothing is known.
pub(crate) fn beneath(volume: &Volume) -> Option<String> {
    let Beneath { block_bytes, raid, members, scheduler, write_cache } = &volume.beneath;
    let members = (!members.is_empty()).then(|| members.join(", "));
    let made = match (raid, members) {
        (Some(raid), Some(members)) => Some(format!("{raid} of {members}")),
        (Some(raid), None) => Some(raid.clone()),
        (None, Some(members)) => Some(format!("on {members}")),
        (None, None) => None,
    };
    let parts = [
        made,
        block_bytes.map(|bytes| format!("blocks of {}", format::bytes(bytes))),
        scheduler.as_ref().map(|scheduler| format!("scheduler {scheduler}")),
        write_cache.as_ref().map(|cache| format!("write cache {cache}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The directory that a user named, of one that was made in it: `/data` of `/data/prony-0e2763deddcf/data`.
fn the_users(path: &str) -> &str {
    let within = path.rsplit_once('/').and_then(|(made, _)| made.rsplit_once('/'));
    let is_made = |name: &str| {
        name.strip_prefix(MADE)
            .is_some_and(|id| id.len() == 12 && id.chars().all(|sign| sign.is_ascii_hexdigit()))
    };
    match within {
        Some((users, made)) if is_made(made) => users,
        _ => path,
    }
}

/// What it could use at most, by what is limited.
pub(crate) fn limits(server: &StartedServer) -> Vec<(String, String)> {
    let Some(ServerLimits { memory_bytes, cpus, cpu_set, devices, .. }) = &server.limits else {
        return Vec::new();
    };
    let mut all: Vec<(String, String)> = Vec::new();
    all.extend(memory_bytes.map(|bytes| ("memory".to_owned(), format::bytes(bytes))));
    all.extend(cpus.map(|cpus| ("CPUs' time".to_owned(), format::plain(cpus))));
    if !cpu_set.is_empty() {
        all.push(("CPU set".to_owned(), ranges(cpu_set)));
    }
    for (number, limits) in devices {
        let device = device_name(server, number);
        all.extend(of_device(limits).into_iter().map(|(what, limit)| (format!("{what} {device}"), limit)));
    }
    all
}

fn of_device(limits: &DeviceLimits) -> Vec<(&'static str, String)> {
    let count = |count: u64| format!("{}/s", format::grouped(count));
    let bytes = |bytes: u64| format!("{}/s", format::bytes(bytes));
    let all = [
        ("reads of", limits.reads_per_s.map(count)),
        ("writes to", limits.writes_per_s.map(count)),
        ("bytes read of", limits.read_bytes_per_s.map(bytes)),
        ("bytes written to", limits.write_bytes_per_s.map(bytes)),
    ];
    all.into_iter().filter_map(|(what, limit)| Some((what, limit?))).collect()
}

/// The kernel's name of a device that is known by its numbers, where it can be but one.
pub(crate) fn device_name(server: &StartedServer, number: &str) -> String {
    let known: BTreeSet<&String> =
        server.places.values().filter_map(|volume| volume.device.known()).collect();
    let limited = server.limits.as_ref().map_or(0, |limits| limits.devices.len());
    match known.iter().next() {
        Some(name) if known.len() == 1 && limited == 1 => (*name).clone(),
        _ => number.to_owned(),
    }
}

/// `0-3, 8`.
fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |&(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(text).collect::<Vec<String>>().join(", ")
}

/// Places of a server that were asked to be apart and are on one device: `data and log`, and the device. Of nodes of a pair nobody asked
/// that.
#[must_use]
pub fn on_one_device(server: &StartedServer) -> Vec<(String, String)> {
    if server.pair.is_some() {
        return Vec::new();
    }
    let mut by_device: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (what, volume) in &server.places {
        for device in volume.devices() {
            by_device.entry(device).or_default().push(what);
        }
    }
    let mut together: Vec<(String, String)> = by_device
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(device, places)| (places.join(" and "), device))
        .collect();
    // Places that share several devices are told once.
    together.dedup_by(|next, first| next.0 == first.0);
    together
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Reading;

    #[test]
    fn places_on_the_same_devices_of_one_file_system_are_together() {
        let volume = |path: &str, members: &[&str]| Volume {
            path: path.to_owned(),
            mount: Reading::Known(path.to_owned()),
            device: Reading::Unknown("several".to_owned()),
            file_system: Some("btrfs".to_owned()),
            beneath: Beneath {
                raid: Some("btrfs raid1".to_owned()),
                members: members.iter().map(|name| (*name).to_owned()).collect(),
                block_bytes: Some(4096),
                scheduler: Some("none".to_owned()),
                ..Beneath::default()
            },
        };
        let server = |log: &[&str]| StartedServer {
            places: BTreeMap::from([
                ("data".to_owned(), volume("/data", &["loop0", "loop1"])),
                ("log".to_owned(), volume("/log", log)),
            ]),
            ..StartedServer::default()
        };
        let together = on_one_device(&server(&["loop0", "loop1"]));
        assert_eq!(together, [("data and log".to_owned(), "loop0".to_owned())]);
        assert_eq!(on_one_device(&server(&["loop2"])), []);
        let pair = StartedServer { pair: Some("sync".to_owned()), ..server(&["loop0", "loop1"]) };
        assert_eq!(on_one_device(&pair), []);
        let of = volume("/data", &["loop0", "loop1"]);
        assert_eq!(place(&of), "/data on loop0, loop1 (btrfs)");
        let told = beneath(&of).unwrap();
        assert_eq!(told, "btrfs raid1 of loop0, loop1; blocks of 4 KiB; scheduler none");
    }

    /// A directory of the user's may be called as ours are.
    #[test]
    fn what_was_made_is_taken_off_and_no_more() {
        for (path, users) in [
            ("/data/prony-0e2763deddcf/data", "/data"),
            ("/mnt/prony-lab/prony-0e2763deddcf/log", "/mnt/prony-lab"),
            ("/mnt/prony-lab", "/mnt/prony-lab"),
            ("/mnt/prony-lab/data", "/mnt/prony-lab/data"),
        ] {
            assert_eq!(the_users(path), users);
        }
    }
}
