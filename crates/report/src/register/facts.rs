//! How registers were really set up, and their server: what a commit guarantees comes first.

use record::RegisterSetup;

use crate::format::{self, grouped, yes};
use crate::verdict::server::served_by;
use crate::workloads::Facts;

pub(crate) fn facts(setup: &RegisterSetup) -> Facts {
    let server = &setup.server;
    let facts = [
        ("durability", server.durability.clone()),
        ("commits survive a power loss", yes(server.is_durable)),
        ("server", server.version.clone()),
        ("address", setup.target.clone()),
        ("database", setup.database.clone()),
        ("data directory", server.data_directory.clone().unwrap_or_else(|| "not known".to_owned())),
    ];
    let link = server.link.as_ref().map(|link| ("connection", link.words()));
    let served = served_by(server).map(|words| ("served by", words));
    let facts = facts.into_iter().chain(link).chain(served).chain(load(setup));
    let facts = facts.map(|(name, value)| (name.to_owned(), value));
    let settings = server.settings.iter();
    let settings = settings.map(|setting| (format!("server: {}", setting.name), setting.value.clone()));
    facts.chain(settings).collect()
}

fn load(setup: &RegisterSetup) -> [(&'static str, String); 7] {
    [
        ("loop", format::pacing(setup.pacing)),
        ("registers", grouped(setup.keys.into())),
        ("clients", grouped(setup.clients.into())),
        ("reads", format::per_cent(setup.read_share)),
        ("timeout of an operation", format::latency(setup.timeout_ms * 1e3)),
        ("shortest outage", format::latency(setup.outage_ms * 1e3)),
        ("seed", setup.seed.to_string()),
    ]
}
