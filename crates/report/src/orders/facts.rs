//! How an order store was really driven, and its servers: what a commit guarantees comes first.

use record::{OrdersSetup, StoreTarget};

use crate::format::{self, grouped, plain, yes};
use crate::verdict::server::served_by;
use crate::workloads::Facts;

/// Begins the name of a setting of a server.
const SETTING: &str = "server: ";

pub(crate) fn facts(setup: &OrdersSetup) -> Facts {
    let stores: Vec<Facts> = setup.targets.iter().map(store).collect();
    let loads = load(setup).into_iter().map(|(name, value)| (name.to_owned(), value));
    let mut facts = together(&stores, |name| !name.starts_with(SETTING));
    facts.extend(loads);
    facts.extend(together(&stores, |name| name.starts_with(SETTING)));
    facts
}

/// What all targets share once, else the value of each by its number.
fn together(stores: &[Facts], wanted: impl Fn(&str) -> bool) -> Facts {
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in stores.iter().flatten().filter(|(name, _)| wanted(name)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let fact = |name: &String| {
        let of =
            |facts: &Facts| facts.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        let values: Vec<String> = stores.iter().map(|facts| of(facts).unwrap_or_default()).collect();
        let value = match values.split_first() {
            Some((first, rest)) if rest.iter().all(|other| other == first) => first.clone(),
            _ => {
                let numbered = (1..).zip(&values).map(|(number, value)| format!("{number}: {value}"));
                numbered.collect::<Vec<String>>().join("; ")
            }
        };
        (name.clone(), value)
    };
    names.into_iter().map(fact).collect()
}

fn store(target: &StoreTarget) -> Facts {
    let server = &target.server;
    let how = if target.procedures { "procedures in the database" } else { "prepared statements" };
    let facts = [
        ("durability", server.durability.clone()),
        ("committed orders survive a power loss", yes(server.is_durable)),
        ("server", server.version.clone()),
        ("address", target.target.clone()),
        ("database", target.database.clone()),
        ("size of the store", format!("{}, seed {}", target.size, target.seed)),
        ("operations are", how.to_owned()),
        ("restored before", target.restored.clone().unwrap_or_else(|| "nothing had changed".to_owned())),
        ("data directory", server.data_directory.clone().unwrap_or_else(|| "not known".to_owned())),
    ];
    let link = server.link.as_ref().map(|link| ("connection", link.words()));
    let served = served_by(server).map(|words| ("served by", words));
    let settings = server.settings.iter();
    let settings = settings.map(|setting| (format!("{SETTING}{}", setting.name), setting.value.clone()));
    facts
        .into_iter()
        .chain(link)
        .chain(served)
        .map(|(name, value)| (name.to_owned(), value))
        .chain(settings)
        .collect()
}

fn load(setup: &OrdersSetup) -> Vec<(&'static str, String)> {
    let cpu =
        setup.cpu_target_share.map_or_else(|| "none: all clients are active".to_owned(), format::per_cent);
    vec![
        ("loop", format::pacing(setup.pacing)),
        ("clients of each target", grouped(setup.n_threads.into())),
        ("clients that start per second", plain(setup.ramp_rate_per_s)),
        ("orders of new customers", format!("{}%", plain(setup.pct_newcustomers))),
        ("browses per order, mean", setup.n_searches.to_string()),
        ("products per browse, mean", setup.search_batch_size.to_string()),
        ("products per cart, mean", setup.n_line_items.to_string()),
        ("CPU target", cpu),
        ("seed", setup.seed.to_string()),
    ]
}
