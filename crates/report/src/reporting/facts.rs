//! How reports were really set up, and their server.

use record::ReportingSetup;

use crate::format::{self, figure, grouped, yes};
use crate::verdict::server::{served_by, unsafe_tables};
use crate::workloads::Facts;

pub(crate) fn facts(setup: &ReportingSetup) -> Facts {
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
    let settings = server.settings.iter();
    let settings = settings.map(|setting| (format!("server: {}", setting.name), setting.value.clone()));
    facts.map(|(name, value)| (name.to_owned(), value)).chain(settings).collect()
}

fn load(setup: &ReportingSetup) -> impl Iterator<Item = (&'static str, String)> {
    let arrivals = match setup.arrivals_per_s {
        Some(rate) => format!("{} events/s", figure(rate)),
        None => "none".to_owned(),
    };
    let size = setup.data_bytes.map(|bytes| ("size of the database", format::bytes(bytes)));
    let cold = setup.cold.clone().map(|cold| ("made cold", cold));
    let load = [
        ("messages", format!("{} over {} days, seed {}", grouped(setup.events), setup.days, setup.data_seed)),
        ("bytes per subject", grouped(setup.subject_bytes.into())),
        ("within the report's dates", grouped(setup.messages)),
        ("departments and classifications", format!("{} and {}", setup.department, setup.classification)),
        ("the report returns", setup.result.clone()),
        ("requested as a", setup.access.clone()),
        ("expected rows", grouped(setup.expected.rows)),
        ("expected checksum", format!("{:016x}", setup.expected.sum)),
        ("reports", format!("1 + {}", setup.runs)),
        ("events arrive", arrivals),
        ("seed of arrivals", setup.seed.to_string()),
    ];
    load.into_iter().chain(size).chain(cold)
}
