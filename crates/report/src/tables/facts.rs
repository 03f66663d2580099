//! How a table was really made, and its server.

use record::TablesSetup;

use crate::format::{grouped, pacing, yes};
use crate::verdict::server::served_by;
use crate::workloads::Facts;

pub(crate) fn facts(setup: &TablesSetup) -> Facts {
    let server = &setup.server;
    let facts = [
        ("kind of table", setup.kind.clone()),
        ("definition", setup.made.clone()),
        ("durability", server.durability.clone()),
        ("commits survive a power loss", yes(server.is_durable)),
        ("server", server.version.clone()),
        ("address", setup.target.clone()),
        ("database", setup.database.clone()),
        ("data directory", server.data_directory.clone().unwrap_or_else(|| "not known".to_owned())),
    ];
    let load = [
        ("rows", grouped(setup.rows)),
        ("statements are sent", setup.access.clone()),
        ("rows per statement that changes all", format!("at most {}", grouped(setup.batch_rows))),
        ("clients", grouped(setup.clients.into())),
        ("loop", pacing(setup.pacing)),
        ("rows deleted by key", grouped(setup.point_deletes)),
        ("seed", setup.seed.to_string()),
    ];
    let link = server.link.as_ref().map(|link| ("connection", link.words()));
    let served = served_by(server).map(|words| ("served by", words));
    let facts = facts.into_iter().chain(link).chain(served).chain(load);
    let facts = facts.map(|(name, value)| (name.to_owned(), value));
    let settings = server.settings.iter();
    facts
        .chain(settings.map(|setting| (format!("server: {}", setting.name), setting.value.clone())))
        .collect()
}
