//! The result of a historian for the first screen: records per second that a database stores.

use record::{HistorianSetup, Setup, Workload};

use crate::configuration::Configuration;
use crate::format::{self, figure, plain};
use crate::historian::{Historian, finding};
use crate::limit;
use crate::report::Report;
use crate::search::Search;
use crate::summary::Answer;
use crate::trial::Trial;
use crate::workloads::InShort;

/// More configurations are a table's.
const MOST: usize = 2;
/// Rows of a flush unless that is set.
const FLUSH_ROWS: u32 = 40;

/// A sentence a configuration or search; none where they are compared, one is not confirmed or not held, which the findings tell
/// in full.
pub(super) fn answers(report: &Report) -> Vec<Answer> {
    let historians: Vec<&Configuration> = report.configurations_of(Workload::Historian).collect();
    if report.comparison.is_some() || historians.len().max(report.searches.len()) > MOST {
        return Vec::new();
    }
    let told: Option<Vec<Answer>> = match &report.searches[..] {
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
            held if held.contains(&Some(true)) => " sustained",
            _ => "",
        };
        let rows: Vec<f64> = historians().filter_map(|one| one.rows_per_commit).collect();
        let rows = stats::mean(&rows).map(|rows| format!("{} per commit", plain(rows.round())));
        Some(InShort {
            database: name_of(setup)?.to_owned(),
            does: format!("{} records/s{is_held}", figure(configuration.main()?.per_s?)),
            with: rows.into_iter().chain(limit::of_server(&of)).collect(),
        })
    };
    report.configurations_of(Workload::Historian).map(one).collect::<Option<_>>().unwrap_or_default()
}

/// `15,040 records/s (40 per commit), 376 records/s (1 per commit)`: its batches follow each other, with one commit each.
pub(super) fn of_commits(report: &Report, per_s: f64) -> String {
    let mut setups =
        report.configurations_of(Workload::Historian).filter_map(|one| one.setup.as_ref()?.historian());
    let rows = setups.next().map_or(FLUSH_ROWS, |setup| setup.flush_rows);
    let all = figure(per_s * f64::from(rows));
    format!("{all} records/s ({rows} per commit), {} records/s (1 per commit)", figure(per_s))
}

/// `sustains 5,100 records/s (3 of 4 confirmations of 6 min). 5,200/s failed: the backlog grew by 312 per second (26 allowed)`. For a
/// burst, its course replaces the reason: `It sustained 1,000/s for 9 min, then 500/s: burst credits or a cache that fills`.
fn sought(search: &Search, report: &Report) -> Option<Answer> {
    let (held, too_many, tried) = (search.stable_at?, search.failed_at?, search.held?);
    let numbers = search.trials();
    let mut steps = report.trials.iter().filter(|trial| numbers.contains(&trial.number));
    let setup = steps.find_map(|trial| trial.setup.as_ref().and_then(Setup::historian))?;
    let database = name_of(setup)?;
    let of = match (tried.held, tried.steps) {
        (1, 1) => format!("confirmed once, for {}", format::duration(tried.window_s)),
        (held, steps) => format!("{held} of {steps} confirmations of {}", format::duration(tried.window_s)),
    };
    let long = tried.long_s.filter(|_| tried.long_held == Some(true));
    let of = format!(
        "{of}{}",
        long.map(|long_s| format!(", then one of {}", format::duration(long_s))).unwrap_or_default()
    );
    let busy = match finding::disturbed(search, report) {
        None => "",
        Some(_) => ". CPU time went to other programs or guests: an idle machine may sustain another rate",
    };
    let more = match &search.burst {
        Some(burst) => format!("It {}: {}", burst.words(), finding::BURST),
        None => format!("{}/s failed: {}", plain(too_many), search.failed_because.first()?),
    };
    Some(Answer::labelled(database, format!("sustains {} records/s ({of}). {more}{busy}", plain(held))))
}

/// The database by its product's name alone.
fn name_of(setup: &HistorianSetup) -> Option<&str> {
    setup.server.version.split(' ').next().filter(|name| !name.is_empty())
}

/// `17,200 records/s at full speed (40 per commit)`, or `5,100 records/s sustained, p99 12.0 ms from event to commit`.
fn answer(configuration: &Configuration, trials: &[Trial]) -> Option<Answer> {
    let figures = configuration.main().filter(|_| !configuration.is_failed())?;
    let setup = configuration.setup.as_ref().and_then(Setup::historian)?;
    let of: Vec<&Historian> = configuration.measured_in(trials).filter_map(Trial::historian).collect();
    let database = name_of(setup)?;
    let stores = format!("{} records/s", figure(figures.per_s?));
    if of.iter().all(|historian| !historian.is_open()) {
        let rows = of.iter().filter_map(|historian| historian.rows_per_commit).collect::<Vec<f64>>();
        let rows = stats::mean(&rows).map(|rows| format!(" ({} per commit)", plain(rows.round())));
        return Some(Answer::labelled(
            database,
            format!("{stores} at full speed{}", rows.unwrap_or_default()),
        ));
    }
    let p99 = figures.latency.p99_us.map(|us| format!(", p99 {} from event to commit", format::latency(us)));
    let held = of.iter().all(|historian| historian.stable == Some(true));
    held.then(|| Answer::labelled(database, format!("{stores} sustained{}", p99.unwrap_or_default())))
}
