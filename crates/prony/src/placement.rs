//! What is wrong with the places of servers that are to be started: told before anything runs, and no reason not to run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use record::{StartedServer, Volume};
use report::format;
use study::{Plan, Pristine, Study};

use crate::commands;

/// A server's own files before anything is loaded: those of a new cluster, and the log that it keeps.
const EMPTY_BYTES: u64 = 300 << 20;
/// A volume of which so much is in use is told, unless more than this is free all the same.
const FULL_SHARE: f64 = 0.95;
const FREE_ENOUGH_BYTES: u64 = 20 << 30;
const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "devtmpfs"];
const ON_NETWORK: [&str; 12] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "9p",
    "virtiofs",
    "glusterfs",
    "lustre",
    "beegfs",
    "fuse.sshfs",
    "fuse.glusterfs",
];

/// What every server has a place for.
const DATA: &str = "data";
/// Stands for servers in a sentence until they are known.
const SERVER: &str = "\u{2063}";

/// Room on a volume.
#[derive(Clone, Copy, Debug)]
struct Room {
    free_bytes: u64,
    all_bytes: u64,
}

/// A sentence for each place that is not what it seems.
pub(crate) fn remarks(study: &Study, plan: &Plan, servers: &[StartedServer]) -> Vec<String> {
    let writes = |server: &StartedServer| commands::least_written(study, plan, &server.name);
    let mut remarks = told(servers, &copies(plan), &writes, &room);
    remarks.extend(on_one_file_system(servers));
    remarks
}

/// Places of one server's data that trials compare, and that lie on one file system. A path that is given twice is meant so.
fn on_one_file_system(servers: &[StartedServer]) -> Vec<String> {
    let mut by_mount: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for server in servers {
        let volume = server.places.get(DATA).and_then(|volume| Some((volume, volume.mount.known()?)));
        if let Some((volume, mount)) = volume {
            by_mount.entry((&server.name, mount)).or_default().insert(&volume.path);
        }
    }
    let several = by_mount.into_iter().filter(|(_, paths)| paths.len() > 1);
    let sentence = |((name, _), paths): ((&str, &str), BTreeSet<&str>)| {
        let paths = paths.into_iter().collect::<Vec<&str>>().join(" and ");
        format!(
            "the data directories {paths} of server {name} are on the same file system. Expect no \
             difference between them"
        )
    };
    several.map(sentence).collect()
}

/// Names of the servers whose files are there twice.
fn copies(plan: &Plan) -> BTreeSet<String> {
    let databases = plan.trials.iter().flat_map(study::Trial::databases);
    let servers = databases.filter_map(|database| database.server);
    let restored = servers.filter(|server| server.server.between_trials == Some(Pristine::Restore));
    restored.map(|server| server.called()).collect()
}

fn room(volume: &Volume) -> Option<Room> {
    let space = rustix::fs::statvfs(Path::new(&volume.path)).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(space.f_frsize);
    Some(Room { free_bytes: bytes(space.f_bavail), all_bytes: bytes(space.f_blocks) })
}

fn told(
    servers: &[StartedServer],
    copies: &BTreeSet<String>,
    writes: &dyn Fn(&StartedServer) -> Option<u64>,
    room: &dyn Fn(&Volume) -> Option<Room>,
) -> Vec<String> {
    // Servers that share a volume fill it together; one that several trials ask for in other ways is one.
    let least = |server: &StartedServer| {
        let times = if copies.contains(&server.name) { 2 } else { 1 };
        writes(server).unwrap_or(0).saturating_add(EMPTY_BYTES) * times
    };
    let least_on = |volume: &Volume| -> u64 {
        let on_it = servers.iter().filter(|server| server.places[DATA].mount == volume.mount);
        on_it.map(|server| (&server.name, least(server))).collect::<BTreeMap<_, _>>().into_values().sum()
    };
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    for server in servers {
        let of_place = |(what, volume): (&String, &Volume)| {
            let least = if what == DATA { least_on(volume) } else { 0 };
            let full = room(volume).and_then(|room| full(volume, room, least));
            let both = kind(volume).into_iter().chain(full);
            both.map(|problem| format!("{what} of {SERVER} would be in {}, which {problem}", volume.path))
                .collect::<Vec<String>>()
        };
        for sentence in server.places.iter().flat_map(of_place).chain(together(server)) {
            match told.iter_mut().find(|(other, _)| *other == sentence) {
                Some((_, names)) if names.contains(&server.name.as_str()) => {}
                Some((_, names)) => names.push(&server.name),
                None => told.push((sentence, vec![&server.name])),
            }
        }
    }
    told.into_iter().map(|(sentence, names)| sentence.replace(SERVER, &called(&names))).collect()
}

fn called(names: &[&str]) -> String {
    match names {
        [name] => format!("the server {name}"),
        [first, .., last] => format!("{} servers ({first} to {last})", names.len()),
        [] => String::new(),
    }
}

fn kind(volume: &Volume) -> Option<String> {
    let file_system = volume.file_system.as_deref()?;
    if IN_MEMORY.contains(&file_system) {
        return Some(format!(
            "is in memory ({file_system}). No disk would be measured, and the data would count toward the server's memory. Give a directory on a disk"
        ));
    }
    ON_NETWORK
        .contains(&file_system)
        .then(|| format!("is on another host ({file_system}). The network and that host are measured too"))
}

fn full(volume: &Volume, room: Room, least_bytes: u64) -> Option<String> {
    let free = format::bytes(room.free_bytes);
    if room.free_bytes < least_bytes {
        return Some(format!(
            "has only {free} free on {}, but at least {} will be written. Use a larger volume, or load less",
            volume.mount.known().map_or("its volume", String::as_str),
            format::bytes(least_bytes)
        ));
    }
    let used = 1.0 - room.free_bytes as f64 / room.all_bytes.max(1) as f64;
    (used >= FULL_SHARE && room.free_bytes < FREE_ENOUGH_BYTES)
        .then(|| format!("is nearly full: {free} of {} free", format::bytes(room.all_bytes)))
}

/// Places of one server that were asked to be apart and are on one device.
fn together(server: &StartedServer) -> Vec<String> {
    let of = |(places, device): (String, String)| {
        format!(
            "{places} of {SERVER} are given separately, but are on the same device, {device}. This run cannot show the benefit of \
            separate devices. Give directories on different devices"
        )
    };
    report::on_one_device(server).into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Reading;

    fn volume(path: &str, file_system: &str, device: &str) -> Volume {
        let known = |text: &str| Reading::Known(text.to_owned());
        let device = if device.is_empty() { Reading::Unknown(String::new()) } else { known(device) };
        Volume {
            path: path.to_owned(),
            mount: known(path),
            device,
            file_system: Some(file_system.to_owned()),
            beneath: record::Beneath::default(),
        }
    }

    fn check(places: &[(&str, Volume)], free: u64, writes: Option<u64>, expected: &[&str]) {
        let places = places.iter().map(|(what, volume)| ((*what).to_owned(), volume.clone())).collect();
        let server = StartedServer { name: "pg".to_owned(), places, ..StartedServer::default() };
        let room = |_: &Volume| Some(Room { free_bytes: free << 30, all_bytes: 100 << 30 });
        let told = told(&[server.clone(), server], &BTreeSet::new(), &|_| writes, &room);
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.contains(expected), "{told}");
        }
    }

    #[test]
    fn servers_that_fill_a_volume_together_are_told_together() {
        let server = |name: &str| StartedServer {
            name: name.to_owned(),
            places: BTreeMap::from([("data".to_owned(), volume("/data", "ext4", "vda"))]),
            ..StartedServer::default()
        };
        let servers = [server("pg-1"), server("pg-2"), server("pg-3")];
        let room = |_: &Volume| Some(Room { free_bytes: 50 << 30, all_bytes: 100 << 30 });
        let of = |copies: &BTreeSet<String>| told(&servers, copies, &|_| Some(15 << 30), &room);
        assert!(of(&BTreeSet::new()).is_empty());
        let twice = of(&BTreeSet::from(["pg-1".to_owned()]));
        assert!(
            twice.len() == 1 && twice[0].starts_with("data of 3 servers (pg-1 to pg-3) would be in"),
            "{twice:?}"
        );
    }

    /// Slow and fast storage were two directories of one disk, and a plan that compares them said nothing.
    #[test]
    fn places_that_are_compared_on_one_file_system_are_told() {
        let server = |name: &str, path: &str, mount: &str| {
            let mut volume = volume(path, "ext4", "vda");
            volume.mount = Reading::Known(mount.to_owned());
            let places = BTreeMap::from([("data".to_owned(), volume)]);
            StartedServer { name: name.to_owned(), places, ..StartedServer::default() }
        };
        let told =
            on_one_file_system(&[server("pg", "/a", "/"), server("pg", "/b", "/"), server("pg", "/a", "/")]);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with("the data directories /a and /b of server pg are on the same file system")
        );
        let apart = [server("pg", "/a", "/"), server("pg", "/b", "/b"), server("other", "/c", "/")];
        assert_eq!(on_one_file_system(&apart), Vec::<String>::new());
    }

    #[test]
    fn places_that_are_not_what_they_seem_are_told_once() {
        let disk = || volume("/data", "ext4", "vda");
        check(&[("data", disk())], 50, None, &[]);
        check(&[("data", volume("/tmp", "tmpfs", ""))], 50, None, &["/tmp, which is in memory (tmpfs)"]);
        check(&[("data", volume("/mnt", "nfs4", ""))], 50, None, &["which is on another host (nfs4)"]);
        check(&[("data", disk())], 4, None, &["which is nearly full: 4 GiB of 100 GiB free"]);
        check(
            &[("data", disk())],
            50,
            Some(60 << 30),
            &["has only 50 GiB free on /data, but at least 60.3 GiB will be"],
        );
        let log = volume("/log", "xfs", "vdb");
        check(&[("data", disk()), ("log", log)], 50, None, &[]);
        let beside = volume("/data/log", "ext4", "vda");
        check(
            &[("data", disk()), ("log", beside)],
            50,
            None,
            &["data and log of the server pg are given separately, but are on the same device, vda"],
        );
    }
}
