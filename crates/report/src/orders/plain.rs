//! What an order store came to, in everybody's words: orders a minute, and how long one takes.

use record::{Setup, Workload};

use crate::configuration::Configuration;
use crate::format::{self, figure};
use crate::limit;
use crate::orders::UNIT;
use crate::report::Report;
use crate::trial::Trial;
use crate::verdict::rate::{Held, held};
use crate::workloads::InShort;

/// More configurations are a table's.
const MOST: usize = 2;
/// Orders of new customers in a hundred unless that is set.
const NEW_PER_CENT: f64 = 20.0;

/// A sentence a configuration; none where they are compared, or a rate was not held, which the findings tell in full.
pub(super) fn answers(report: &Report) -> Vec<String> {
    let stores: Vec<&Configuration> = report.configurations_of(Workload::Orders).collect();
    if report.comparison.is_some() || stores.len() > MOST {
        return Vec::new();
    }
    let told = stores.iter().map(|configuration| answer(configuration, &report.trials));
    told.collect::<Option<Vec<String>>>().unwrap_or_default()
}

/// Of each configuration whose rate was not missed: `29,720 orders a minute`, `2 clients`, and what limited it.
pub(super) fn in_short(report: &Report) -> Vec<InShort> {
    let one = |configuration: &Configuration| {
        let setup = configuration.setup.as_ref().and_then(Setup::orders)?;
        let is_held = match held(configuration, &report.trials) {
            None => "",
            Some(Held::Yes(_)) => " held",
            Some(Held::No(_)) => return None,
        };
        let of: Vec<&Trial> = configuration.measured_in(&report.trials).collect();
        let clients = (setup.n_threads > 1).then(|| format!("{} clients", setup.n_threads));
        let [target] = setup.targets.as_slice() else { return None };
        Some(InShort {
            database: target.server.version.split(' ').next().filter(|name| !name.is_empty())?.to_owned(),
            does: format!("{} orders a minute{is_held}", figure(UNIT.of(configuration.main()?.per_s?))),
            with: clients.into_iter().chain(limit::of_server(&of)).collect(),
        })
    };
    report.configurations_of(Workload::Orders).map(one).collect::<Option<_>>().unwrap_or_default()
}

/// `18,800 orders a minute`: a purchase is a commit, and a new customer is one before that.
pub(super) fn of_commits(report: &Report, per_s: f64) -> String {
    let mut setups =
        report.configurations_of(Workload::Orders).filter_map(|one| one.setup.as_ref()?.orders());
    let new_per_cent = setups.next().map_or(NEW_PER_CENT, |setup| setup.pct_newcustomers);
    format!("{} orders a minute", figure(UNIT.of(per_s / (1.0 + new_per_cent / 100.0))))
}

/// `SQLite takes 29,720 orders a minute of 2 clients; an order takes 1.96 ms (p99 5.10 ms)`.
fn answer(configuration: &Configuration, trials: &[Trial]) -> Option<String> {
    let figures = configuration.main().filter(|_| !configuration.is_failed())?;
    let setup = configuration.setup.as_ref().and_then(Setup::orders)?;
    let how = match held(configuration, trials) {
        None => String::new(),
        Some(Held::Yes(held)) => format!(", {held}"),
        Some(Held::No(_)) => return None,
    };
    let first = setup.targets.first()?;
    let database = first.server.version.split(' ').next().filter(|name| !name.is_empty())?;
    let database = match setup.targets.len() {
        1 => format!("{database} takes"),
        several => format!("{several} databases ({database}) take"),
    };
    let clients = u64::from(setup.n_threads) * setup.targets.len() as u64;
    let rate = figure(UNIT.of(figures.per_s?));
    let takes = figures.latency.mean_us.map(|us| {
        let p99 = figures.latency.p99_us.map(|us| format!(" (p99 {})", format::latency(us)));
        format!("; an order takes {}{}", format::latency(us), p99.unwrap_or_default())
    });
    let clients = format::counted(clients as usize, "client", "clients");
    Some(format!("{database} {rate} orders a minute of {clients}{how}{}", takes.unwrap_or_default()))
}
