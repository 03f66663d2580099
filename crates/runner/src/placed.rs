//! Where the target of a trial was found to be: which server answered, and what its data and its log lie on.

use std::path::{Path, PathBuf};

use record::{Placed, Reading, SetUpDatabase, Setup, Volume};
use study::Target;

use crate::environment;

/// Why nothing is known of where a server's files lie.
const NOT_TOLD: &str = "the server does not report it, or is on another machine";

/// What a trial found of its target.
pub(crate) fn placed(target: &Target, setup: &Setup) -> Vec<Placed> {
    let databases: Vec<Placed> = setup.databases().into_iter().map(database).collect();
    if !databases.is_empty() || setup.is_simulated() {
        return databases;
    }
    let on_path =
        |path: &PathBuf| Placed::Path { path: path.display().to_string(), on: Reading::Known(volume(path)) };
    target.paths.iter().map(on_path).collect()
}

fn database(database: SetUpDatabase<'_>) -> Placed {
    let SetUpDatabase { name, address, engine, server } = database;
    let on = |directory: &Option<String>| match directory {
        Some(directory) => Reading::Known(volume(Path::new(directory))),
        None => Reading::Unknown(NOT_TOLD.to_owned()),
    };
    Placed::Database {
        database: name.to_owned(),
        address: address.to_owned(),
        engine: engine.to_owned(),
        version: server.version.clone(),
        data: on(&server.data_directory),
        log: on(&server.log_directory),
    }
}

pub(crate) fn volume(path: &Path) -> Volume {
    let (mount, device, beneath) = environment::below(path);
    let file_system = mount.known().map(|mount| mount.file_system.clone());
    let mount = match mount {
        Reading::Known(mount) => Reading::Known(mount.path),
        Reading::Unknown(why) => Reading::Unknown(why),
    };
    Volume { path: path.display().to_string(), mount, device, file_system, beneath }
}
