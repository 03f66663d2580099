//! How scripts were really run, and their server: what a commit guarantees comes first.

use record::ScriptSetup;

use super::replay;
use crate::format::{self, grouped, yes};
use crate::verdict::server::{served_by, unsafe_tables};
use crate::workloads::Facts;

pub(crate) fn facts(setup: &ScriptSetup) -> Facts {
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
    let tables = unsafe_tables(server).map(|words| ("tables that a crash may empty", words));
    let facts = facts.into_iter().chain(tables).chain(link).chain(served).chain(load(setup));
    let facts = facts.map(|(name, value)| (name.to_owned(), value));
    let settings = server.settings.iter();
    let settings = settings.map(|setting| (format!("server: {}", setting.name), setting.value.clone()));
    facts.chain(scripts(setup)).chain(settings).collect()
}

fn load(setup: &ScriptSetup) -> Vec<(&'static str, String)> {
    let tries = match setup.tries {
        1 => "once".to_owned(),
        tries => format!("up to {} times", grouped(tries.into())),
    };
    let defined = if setup.defined.is_empty() { "none".to_owned() } else { setup.defined.join(", ") };
    let scale = setup.scale.map(|scale| ("pgbench's tables", format!("scale {}", grouped(scale.into()))));
    let load = [
        ("loop", setup.replay.as_ref().map_or_else(|| format::pacing(setup.pacing), replay::pacing)),
        ("clients", grouped(setup.clients.into())),
        (
            "latency limit",
            setup.latency_limit_ms.map_or_else(|| "none".to_owned(), |ms| format::latency(ms * 1e3)),
        ),
        ("statements are sent", sent(&setup.protocol)),
        ("tries per transaction", tries),
        ("defined variables", defined),
        ("seed", setup.seed.to_string()),
    ];
    let parameters = setup.parameters.as_ref();
    let parameters = parameters.map(|of| ("parameters", format!("{}, {} rows", of.file, grouped(of.rows))));
    let log = setup.replay.iter().flat_map(replay::facts);
    load.into_iter().chain(parameters).chain(scale).chain(log).collect()
}

fn sent(protocol: &str) -> String {
    match protocol {
        "procedure" => {
            "as procedures, one call per transaction: statements within have no separate times".to_owned()
        }
        other => other.to_owned(),
    }
}

/// Each script with its text: what was measured.
fn scripts(setup: &ScriptSetup) -> impl Iterator<Item = (String, String)> {
    let all: u64 = setup.scripts.iter().map(|script| u64::from(script.weight)).sum();
    setup.scripts.iter().map(move |script| {
        let share = match setup.scripts.len() {
            1 => String::new(),
            _ => {
                format!(" ({} of the transactions)", format::per_cent(f64::from(script.weight) / all as f64))
            }
        };
        (format!("script {}{share}", script.name), script.text.trim_end().to_owned())
    })
}
