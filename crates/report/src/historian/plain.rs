//! What a historian came to, for people who do not think in commits and buffers: rows a second that a database stores.

use record::{HistorianSetup, Setup, Workload};

use crate::configuration::Configuration;
use crate::format::{self, figure, plain};
use crate::historian::{Historian, finding};
use crate::limit;
use crate::report::Report;
use crate::search::Search;
use crate::trial::Trial;
use crate::workloads::InShort;

/// More configurations are a table's.
const MOST: usize = 2;
/// Rows of a flush unless that is set.
const FLUSH_ROWS: u32 = 40;

/// A sentence a configuration or search; none where they are compared, one is not confirmed or not held, which the findings tell
/// in full.
pub(super) fn answers(report: &Report) -> Vec<String> {
    let historians: Vec<&Configuration> = report.configurations_of(Workload::Historian).collect();
    if report.comparison.is_some() || historians.len().max(report.searches.len()) > MOST {
        return Vec::new();
    }
    let told: Option<Vec<String>> = match &report.searches[..] {
        [] => historians.iter().map(|configuration| answer(configuration, &report.trials)).collect(),
        searches => searches.iter().map(|search| sought(search, report)).collect(),
    };
    told.unwrap_or_default()
}

/// Of each configuration that ran as fast as it went, or held its rate: `17,200 records/s`, `40 a commit`, and what limited it.
pub(super) fn in_short(report: &Report) -> Vec<InShort> {
    let one = |configuration: &Configuration| {
        let setup = configuration.setup.as_ref().and_then(Setup::historian)?;
        let of: Vec<&Trial> = configuration.measured_in(&report.trials).collect();
        let historians = || of.iter().filter_map(|trial| trial.historian());
        let is_held = match historians().map(|one| one.stable.filter(|_| one.is_open())).collect::<Vec<_>>() {
            held if held.contains(&Some(false)) => return None,
            held if held.contains(&Some(true)) => " held",
            _ => "",
        };
        let rows: Vec<f64> = historians().filter_map(|one| one.rows_per_commit).collect();
        let rows = stats::mean(&rows).map(|rows| format!("{} a commit", plain(rows.round())));
        Some(InShort {
            database: name_of(setup)?.to_owned(),
            does: format!("{} records/s{is_held}", figure(configuration.main()?.per_s?)),
            with: rows.into_iter().chain(limit::of_server(&of)).collect(),
        })
    };
    report.configurations_of(Workload::Historian).map(one).collect::<Option<_>>().unwrap_or_default()
}

/// `15,040 historian records/s at 40 a commit, 376 at one`: its flushes follow each other, a commit each.
pub(super) fn of_commits(report: &Report, per_s: f64) -> String {
    let mut setups =
        report.configurations_of(Workload::Historian).filter_map(|one| one.setup.as_ref()?.historian());
    let rows = setups.next().map_or(FLUSH_ROWS, |setup| setup.flush_rows);
    let all = figure(per_s * f64::from(rows));
    format!("{all} historian records/s at {rows} a commit, {} at one", figure(per_s))
}

/// `SQLite kept up with 5,100 rows a second (3 of 4 times, each for 6 min); 5,200 are too many: pending records grew by 312 a second
/// (26 allowed)`. A rate that was held by credits says more than why it failed: `it held 1,000/s for 9 min, then 500/s: burst credits
/// or a cache that fills`.
fn sought(search: &Search, report: &Report) -> Option<String> {
    let (held, too_many, tried) = (search.stable_at?, search.failed_at?, search.held?);
    let numbers = search.trials();
    let mut steps = report.trials.iter().filter(|trial| numbers.contains(&trial.number));
    let setup = steps.find_map(|trial| trial.setup.as_ref().and_then(Setup::historian))?;
    let database = name_of(setup)?;
    let of = match (tried.held, tried.steps) {
        (1, 1) => format!("once, for {}", format::duration(tried.window_s)),
        (held, steps) => format!("{held} of {steps} times, each for {}", format::duration(tried.window_s)),
    };
    let long = tried.long_s.filter(|_| tried.long_held == Some(true));
    let of = format!(
        "{of}{}",
        long.map(|long_s| format!(", then once for {}", format::duration(long_s))).unwrap_or_default()
    );
    let busy = match finding::disturbed(search, report).is_empty() {
        true => "",
        false => "; the machine was busy with other work, an idle one may hold another rate",
    };
    let more = match &search.burst {
        Some(burst) => format!("it {}: {}", burst.words(), finding::BURST),
        None => format!("{} are too many: {}", plain(too_many), search.failed_because.first()?),
    };
    Some(format!("{database} kept up with {} rows a second ({of}); {more}{busy}", plain(held)))
}

/// The database by its product's name alone.
fn name_of(setup: &HistorianSetup) -> Option<&str> {
    setup.server.version.split(' ').next().filter(|name| !name.is_empty())
}

/// `SQLite stores 17,200 rows a second, as fast as they come (40 a commit)`, or `PostgreSQL stores 5,100 rows a second as they are
/// offered: held; of 100 rows 99 are stored within 12.0 ms`.
fn answer(configuration: &Configuration, trials: &[Trial]) -> Option<String> {
    let figures = configuration.main().filter(|_| !configuration.is_failed())?;
    let setup = configuration.setup.as_ref().and_then(Setup::historian)?;
    let of: Vec<&Historian> = configuration.measured_in(trials).filter_map(Trial::historian).collect();
    let database = name_of(setup)?;
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
