//! Reads a machine and asks servers for all that advice on their settings rests on. Nothing is changed, made or locked, and nothing
//! is judged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use database::{Error, Inspected, Url};
use jiff::Timestamp;
use record::{Environment, InspectedServer, Unread};
use workload::waiting;

use crate::environment::{self, Lying};
use crate::error::RunError;
use crate::server::apart;

/// What lets a directory be seen.
const SEE: &str = "run this as root, or as the user of the server";

/// Reads the machine, the volumes of paths, and servers with the volumes that they lie on. `root` is where the machine's `/proc`, `/sys` and
/// `/etc` are found, which is `/` unless this runs in a container.
///
/// # Errors
/// A server cannot be reached or does not let us in; interrupted.
pub fn inspect(
    root: &Path,
    paths: &[PathBuf],
    targets: &[Url],
    tool_version: &str,
    stop: &AtomicBool,
) -> Result<Environment, RunError> {
    let mut lying: Lying = paths.iter().map(|path| (path.display().to_string(), Ok(path.clone()))).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Error::Unreachable(format!("cannot wait for a database: {error}")))?;
    let mut servers = Vec::new();
    for url in targets {
        let asked = runtime.block_on(waiting::unless_stopped(stop, database::inspect(url)));
        let Some(inspected) = asked.ok_or_else(|| RunError::Interrupted(String::new()))?? else {
            // A file has no server; it is advised on by where it lies.
            lying.extend(url.file().map(|file| (file.display().to_string(), Ok(file.to_owned()))));
            continue;
        };
        let (server, places) = placed(inspected);
        let of = if targets.len() == 1 { String::new() } else { format!(" of {}", server.name) };
        servers.push(named(server, &places, &of));
        lying.extend(places.into_iter().map(|(what, path)| (format!("{what}{of}"), Ok(path))));
    }
    let environment = environment::read_from(root, &lying, tool_version, Timestamp::now());
    Ok(Environment { inspected: servers, ..environment })
}

/// Asks the servers of a study, by the names that volumes of each end in; those volumes are known already. A server that does not answer
/// is told as that: the study goes on without advice on it.
pub(crate) async fn ask(servers: &[(String, Url)], lying: &Lying, stop: &AtomicBool) -> Vec<InspectedServer> {
    let mut asked = Vec::new();
    for (of, url) in servers {
        match waiting::unless_stopped(stop, database::inspect(url)).await {
            Some(Ok(Some(inspected))) => {
                let (server, places) = placed(inspected);
                let mut server = named(server, &places, of);
                server.volumes.retain(|_, volume| lying.contains_key(volume));
                asked.push(server);
            }
            Some(Err(error)) => asked.push(unanswered(url, &error)),
            Some(Ok(None)) | None => {}
        }
    }
    asked
}

fn unanswered(url: &Url, error: &Error) -> InspectedServer {
    let what = "its settings".to_owned();
    InspectedServer {
        name: url.to_string(),
        engine: url.engine().name().to_owned(),
        version: "unknown".to_owned(),
        here: url.is_local(),
        volumes: BTreeMap::new(),
        facts: BTreeMap::new(),
        unread: vec![Unread { what, because: error.to_string(), grant: None }],
    }
}

/// Directories of a server by what lies in each: the data, and what lies apart from it. What cannot be seen is put to what was not read.
fn placed(inspected: Inspected) -> (InspectedServer, BTreeMap<&'static str, PathBuf>) {
    let Inspected { mut server, data_directory, log_directory } = inspected;
    let mut places = BTreeMap::new();
    let Some(data) = data_directory.map(PathBuf::from).filter(|_| server.here) else {
        return (server, places);
    };
    if data.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        server.here = false;
        let because = format!(
            "{} does not exist on this machine. The server is in a container or on another machine",
            data.display()
        );
        server.unread.push(Unread { what: "the location of its files".to_owned(), because, grant: None });
        return (server, places);
    }
    let binary_log =
        setting(&server, "log_bin_basename").and_then(|name| Some(Path::new(name).parent()?.to_owned()));
    let others = [("log", log_directory.map(PathBuf::from)), ("binary log", binary_log)];
    for (what, directory) in others {
        let Some(directory) = directory else { continue };
        match apart(&data, &directory) {
            None => places.insert(what, data.clone()),
            Some(Ok(directory)) => places.insert(what, directory),
            Some(Err(because)) => {
                let what = format!("the location of its {what}");
                server.unread.push(Unread { what, because, grant: Some(SEE.to_owned()) });
                None
            }
        };
    }
    places.insert("data", data);
    (server, places)
}

/// The server with the names of its volumes; what lies in the data directory is on the volume of the data.
fn named(server: InspectedServer, places: &BTreeMap<&'static str, PathBuf>, of: &str) -> InspectedServer {
    let data = places.get("data");
    let volume = |(what, path): (&&str, &PathBuf)| {
        let of_data = data == Some(path);
        ((*what).to_owned(), format!("{}{of}", if of_data { "data" } else { what }))
    };
    InspectedServer { volumes: places.iter().map(volume).collect(), ..server }
}

fn setting<'a>(server: &'a InspectedServer, name: &str) -> Option<&'a str> {
    let rows = server.facts.get("settings")?;
    let row = rows.iter().find(|row| row.get("name").is_some_and(|known| known == name))?;
    row.get("value").map(String::as_str).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn inspected(data: &Path, log: &Path, binary_log: &str) -> Inspected {
        let row = [("name", "log_bin_basename"), ("value", binary_log)];
        let row = row.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let server = InspectedServer {
            name: "mysql://me@localhost/x".to_owned(),
            engine: "mysql".to_owned(),
            version: "MariaDB 10.11.6".to_owned(),
            here: true,
            volumes: BTreeMap::new(),
            facts: [("settings".to_owned(), vec![row.into()])].into(),
            unread: Vec::new(),
        };
        let text = |path: &Path| Some(path.display().to_string());
        Inspected { server, data_directory: text(data), log_directory: text(log) }
    }

    #[test]
    fn what_lies_within_the_data_is_on_its_volume_and_what_does_not_has_one_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let [data, log, redo] = ["data", "log", "data/redo"].map(|name| root.join(name));
        [&data, &log, &redo].into_iter().for_each(|path| fs::create_dir(path).unwrap());
        let basename = log.join("binlog").display().to_string();
        let (server, places) = placed(inspected(&data, &redo, &basename));
        let expected = [("data", &data), ("log", &data), ("binary log", &log)];
        assert_eq!(places, expected.map(|(what, path)| (what, path.clone())).into());
        let server = named(server, &places, " of x");
        let names = ["data", "log", "binary log"].map(|what| server.volumes[what].as_str());
        assert_eq!(names, ["data of x", "data of x", "binary log of x"]);
        assert_eq!(server.unread, []);
    }

    /// The directory that a server in a container tells is one of the container.
    #[test]
    fn a_server_whose_directory_is_not_here_is_not_on_this_machine() {
        let directory = tempfile::tempdir().unwrap();
        let gone = directory.path().join("gone");
        let (server, places) = placed(inspected(&gone, &gone, ""));
        assert!(!server.here && places.is_empty());
        assert!(server.unread[0].because.contains("in a container"), "{:?}", server.unread);
        let (server, _) = placed(inspected(directory.path(), &gone, ""));
        assert!(server.here);
        assert!(server.unread[0].because.contains("cannot access"), "{:?}", server.unread);
        assert_eq!(server.unread[0].grant.as_deref(), Some(SEE));
    }
}
