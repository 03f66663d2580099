//! The result of an order store for the first screen: orders per minute, and the time per order.

use record::{Setup, Workload};

use crate::configuration::Configuration;
use crate::format::{self, figure};
use crate::limit;
use crate::orders::UNIT;
use crate::report::Report;
use crate::summary::Answer;
use crate::trial::Trial;
use crate::verdict::rate::{Held, held};
use crate::workloads::InShort;

/// More configurations are a table's.
const MOST: usize = 2;
/// Orders of new customers in a hundred unless that is set.
const NEW_PER_CENT: f64 = 20.0;

/// One answer per configuration; none where they are compared, or a rate was not sustained, which the findings have in full.
pub(super) fn answers(report: &Report) -> Vec<Answer> {
    let stores: Vec<&Configuration> = report.configurations_of(Workload::Orders).collect();
    if report.comparison.is_some() || stores.len() > MOST {
        return Vec::new();
    }
    let told = stores.iter().map(|configuration| answer(configuration, &report.trials));
    told.collect::<Option<Vec<Answer>>>().unwrap_or_default()
}

/// Each configuration that sustained its rate: `29,720 orders/min`, `2 clients`, and its bottleneck.
pub(super) fn in_short(report: &Report) -> Vec<InShort> {
    let one = |configuration: &Configuration| {
        let setup = configuration.setup.as_ref().and_then(Setup::orders)?;
        let is_held = match held(configuration, &report.trials) {
            None => "",
            Some(Held::Yes(_)) => " sustained",
            Some(Held::No(_)) => return None,
        };
        let of: Vec<&Trial> = configuration.measured_in(&report.trials).collect();
        let clients = (setup.n_threads > 1).then(|| format!("{} clients", setup.n_threads));
        let [target] = setup.targets.as_slice() else { return None };
        Some(InShort {
            database: target.server.version.split(' ').next().filter(|name| !name.is_empty())?.to_owned(),
            does: format!("{} orders/min{is_held}", figure(UNIT.of(configuration.main()?.per_s?))),
            with: clients.into_iter().chain(limit::of_server(&of)).collect(),
        })
    };
    report.configurations_of(Workload::Orders).map(one).collect::<Option<_>>().unwrap_or_default()
}

/// `18,800 orders/min`: a purchase is a commit, and a new customer is one before that.
pub(super) fn of_commits(report: &Report, per_s: f64) -> String {
    let mut setups =
        report.configurations_of(Workload::Orders).filter_map(|one| one.setup.as_ref()?.orders());
    let new_per_cent = setups.next().map_or(NEW_PER_CENT, |setup| setup.pct_newcustomers);
    format!("{} orders/min", figure(UNIT.of(per_s / (1.0 + new_per_cent / 100.0))))
}

/// `29,720 orders/min with 2 clients, 1.96 ms per order (p99 5.10 ms)`.
fn answer(configuration: &Configuration, trials: &[Trial]) -> Option<Answer> {
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
        1 => database.to_owned(),
        several => format!("{several} × {database}"),
    };
    let clients = u64::from(setup.n_threads) * setup.targets.len() as u64;
    let rate = figure(UNIT.of(figures.per_s?));
    let takes = figures.latency.mean_us.map(|us| {
        let p99 = figures.latency.p99_us.map(|us| format!(" (p99 {})", format::latency(us)));
        format!(", {} per order{}", format::latency(us), p99.unwrap_or_default())
    });
    let clients = format::counted(clients as usize, "client", "clients");
    let text = format!("{rate} orders/min with {clients}{how}{}", takes.unwrap_or_default());
    Some(Answer::labelled(database, text))
}
