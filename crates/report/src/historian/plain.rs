//! What a historian came to, for people who do not think in commits and buffers: rows a second that a database stores.

use record::{Setup, Workload};

use crate::configuration::Configuration;
use crate::format::{self, figure, plain};
use crate::historian::Historian;
use crate::report::Report;
use crate::trial::Trial;

/// More configurations are a table's.
const MOST: usize = 2;

/// A sentence a configuration; none where rates were searched, are compared, or one was not held, which the findings tell in full.
pub(super) fn answers(report: &Report) -> Vec<String> {
    let historians: Vec<&Configuration> = report.configurations_of(Workload::Historian).collect();
    if report.comparison.is_some() || !report.searches.is_empty() || historians.len() > MOST {
        return Vec::new();
    }
    let told = historians.iter().map(|configuration| answer(configuration, &report.trials));
    told.collect::<Option<Vec<String>>>().unwrap_or_default()
}

/// `SQLite stores 17,200 rows a second, as fast as they come (40 a commit)`, or `PostgreSQL stores 5,100 rows a second as they are
/// offered: held; of 100 rows 99 are stored within 12.0 ms`.
fn answer(configuration: &Configuration, trials: &[Trial]) -> Option<String> {
    let figures = configuration.main().filter(|_| !configuration.is_failed())?;
    let setup = configuration.setup.as_ref().and_then(Setup::historian)?;
    let of: Vec<&Historian> = configuration.measured_in(trials).filter_map(Trial::historian).collect();
    let database = setup.server.version.split(' ').next().filter(|name| !name.is_empty())?;
    let stores = format!("{database} stores {} rows a second", figure(figures.per_s?));
    if of.iter().all(|historian| !historian.is_open()) {
        let rows = of.iter().filter_map(|historian| historian.rows_per_commit).collect::<Vec<f64>>();
        let rows = stats::mean(&rows).map(|rows| format!(" ({} a commit)", plain(rows.round())));
        return Some(format!("{stores}, as fast as they come{}", rows.unwrap_or_default()));
    }
    let p99 = figures
        .latency
        .p99_us
        .map(|us| format!("; of 100 rows 99 are stored within {}", format::latency(us)));
    let held = of.iter().all(|historian| historian.stable == Some(true));
    held.then(|| format!("{stores} as they are offered: held{}", p99.unwrap_or_default()))
}
