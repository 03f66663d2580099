//! Where the target of a trial was found to be: which server answered, and what its data and its log lie on.

use std::path::Path;

use record::{Placed, Reading, Server, Setup, Volume};
use study::Target;

use crate::environment;

/// Why nothing is known of where a server's files lie.
const NOT_TOLD: &str = "the server does not tell, or is on another machine";

/// What a trial found of its target.
pub(crate) fn placed(target: &Target, setup: &Setup) -> Vec<Placed> {
    match setup {
        Setup::Disk(_) if setup.is_simulated() => Vec::new(),
        Setup::Disk(_) => {
            let paths = target.paths.iter().map(|path| Placed::Path {
                path: path.display().to_string(),
                on: Reading::Known(volume(path)),
            });
            paths.collect()
        }
        Setup::Historian(setup) => {
            vec![database(&setup.database, &setup.target, &setup.engine, &setup.server)]
        }
        Setup::Orders(setup) => {
            let stores = setup.targets.iter();
            stores
                .map(|store| database(&store.database, &store.target, &store.engine, &store.server))
                .collect()
        }
    }
}

fn database(name: &str, address: &str, engine: &str, server: &Server) -> Placed {
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

fn volume(path: &Path) -> Volume {
    let (mount, device) = environment::below(path);
    Volume { path: path.display().to_string(), mount, device }
}
