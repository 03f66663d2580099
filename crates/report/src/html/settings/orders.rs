//! How an order store was really driven, and its servers: what a commit guarantees comes first.

use record::{OrdersSetup, StoreTarget};

use super::super::evidence;
use super::Facts;
use crate::format::{self, grouped, plain};

pub(super) fn facts(setup: &OrdersSetup) -> Facts {
    let several = setup.targets.len() > 1;
    let of_target = |(index, target): (usize, &StoreTarget)| {
        let prefix = if several { format!("target {}: ", index + 1) } else { String::new() };
        let named = move |(name, value): (String, String)| (format!("{prefix}{name}"), value);
        store(target).into_iter().map(named).collect::<Facts>()
    };
    let stores: Vec<Facts> = setup.targets.iter().enumerate().map(of_target).collect();
    let loads = load(setup).into_iter().map(|(name, value)| (name.to_owned(), value));
    let mut facts: Facts = stores.first().cloned().unwrap_or_default();
    facts.extend(loads);
    facts.extend(stores.into_iter().skip(1).flatten());
    facts
}

fn store(target: &StoreTarget) -> Facts {
    let server = &target.server;
    let durable = if server.is_durable { "yes" } else { "no" };
    let facts = [
        ("durability", server.durability.clone()),
        ("a committed order survives a loss of power", durable.to_owned()),
        ("server", server.version.clone()),
        ("address", target.target.clone()),
        ("database", target.database.clone()),
        ("size of the store", format!("{}, seed {}", target.size, target.seed)),
        ("restored before", target.restored.clone().unwrap_or_else(|| "nothing had changed".to_owned())),
        ("data directory", server.data_directory.clone().unwrap_or_else(|| "not known".to_owned())),
    ];
    let settings = server.settings.iter();
    let settings = settings.map(|setting| (format!("server: {}", setting.name), setting.value.clone()));
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(settings).collect()
}

fn load(setup: &OrdersSetup) -> Vec<(&'static str, String)> {
    let cpu =
        setup.cpu_target_share.map_or_else(|| "none: all clients are active".to_owned(), format::per_cent);
    let how = if setup.procedures { "procedures in the database" } else { "prepared statements" };
    vec![
        ("loop", evidence::pacing(setup.pacing)),
        ("clients of each target", grouped(setup.n_threads.into())),
        ("clients that begin each second", plain(setup.ramp_rate_per_s)),
        ("orders of new customers", format!("{} %", plain(setup.pct_newcustomers))),
        ("browses of an order, mean", setup.n_searches.to_string()),
        ("products of a browse, mean", setup.search_batch_size.to_string()),
        ("products of a cart, mean", setup.n_line_items.to_string()),
        ("operations are", how.to_owned()),
        ("CPU target", cpu),
        ("seed", setup.seed.to_string()),
    ]
}
