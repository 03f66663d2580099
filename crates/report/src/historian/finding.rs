//! What was measured of historians: a rate that was held or not, a search, purges, growth.

use record::{State, Workload};

use super::model::{DAY_S, HOUR_S};
use crate::configuration::Configuration;
use crate::format::{self, counted, figure, plain};
use crate::historian::{FlushSeries, Historian};
use crate::report::Report;
use crate::search::Search;
use crate::trial::Trial;
use crate::verdict::generator::OTHERS_SHARE_MAX;
use crate::verdict::rate::{interval, tail};
use crate::verdict::stability::STEAL_SHARE_MAX;
use crate::verdict::{Fact, Level, Verdict};

/// Rule of what a configuration gave.
pub(crate) const RECORD_RATE: &str = "record_rate";

/// Rule of what a search found.
pub(crate) const SEARCH: &str = "search";

/// Rule of the rows of a flush that had the greatest rate.
pub(crate) const FLUSH_ROWS: &str = "flush_rows";

/// Rule of how the database grows.
pub(crate) const GROWTH: &str = "growth";

/// Length of a step of a search unless it is shortened, warm-up included.
const STEP_S: f64 = 120.0;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = report.searches.iter().map(|found| search(found, report)).collect();
    let historians = report.configurations_of(Workload::Historian);
    verdicts.extend(historians.filter_map(|configuration| rate(configuration, &report.trials)));
    verdicts.extend(report.historian.flush_rows.iter().filter_map(flush_rows));
    verdicts.extend(report.historians().filter_map(maintenance));
    verdicts.extend(growth(report));
    verdicts
}

/// `historian 5,100/s: held: 5,100 records/s written (5,098–5,101), p99 12.0 ms from event to commit`.
fn rate(configuration: &Configuration, trials: &[Trial]) -> Option<Verdict> {
    let figures = configuration.main().filter(|_| !configuration.is_failed())?;
    let name = &configuration.name;
    let written = format!("{} records/s", self::figure(figures.per_s?));
    let range = interval(configuration, 1.0);
    let of: Vec<&Historian> = configuration.measured_in(trials).filter_map(Trial::historian).collect();
    let open = of.iter().any(|historian| historian.is_open());
    let from = match (figures.latency.mean_us, open) {
        (Some(_), true) => " from event to commit",
        (Some(_), false) => " from the start of a batch to its commit",
        (None, _) => "",
    };
    let cut_short = if configuration.cut_short { ", cut short" } else { "" };
    let latency = format!("{}{from}{cut_short}", tail(configuration, figures));
    let fact: Fact = match (open, not_held(&of)) {
        (false, _) => {
            let rows = stats::mean(&of.iter().filter_map(|h| h.rows_per_commit).collect::<Vec<f64>>());
            let rows = rows.map(|rows| format!(", {} per commit", plain(rows.round()))).unwrap_or_default();
            Fact::around("", written, format!(" {range}, at full speed{rows}, {latency}"))
        }
        (true, Held::Yes(how)) => {
            Fact::around(format!("sustained{how}: "), written, format!(" {range}, {latency}"))
        }
        (true, Held::No(how, reasons)) => {
            let offered = configuration.offered_per_s().map(plain).unwrap_or_default();
            let of_offered = format!("{written} of {offered} offered {range}");
            // A rate that was not sustained is no figure to remember.
            format!("not sustained{how}, {reasons}: {of_offered}, {latency}").into()
        }
        (true, Held::Unknown(why)) => {
            let after = format!(" {range}, unknown whether sustained{why}, {latency}");
            Fact::around("", written, after)
        }
    };
    let verdict = Verdict::new(Level::Finding, RECORD_RATE, fact).about(name);
    Some(verdict.of_trials(configuration.trials.clone()))
}

/// True if each judged trial of a configuration sustained its rate. Returns none without an offered rate or a judged trial.
pub(super) fn is_sustained(configuration: &Configuration, trials: &[Trial]) -> Option<bool> {
    configuration.offered_per_s()?;
    let runs: Vec<&Historian> = configuration.measured_in(trials).filter_map(Trial::historian).collect();
    match not_held(&runs) {
        Held::Yes(_) => Some(true),
        Held::No(..) => Some(false),
        Held::Unknown(_) => None,
    }
}

/// Whether a rate was held in the trials of a configuration, with how many of them where they are several.
enum Held {
    Yes(String),
    No(String, String),
    Unknown(String),
}

fn not_held(of: &[&Historian]) -> Held {
    let judged: Vec<&&Historian> = of.iter().filter(|historian| historian.stable.is_some()).collect();
    let failed: Vec<&&&Historian> = judged.iter().filter(|h| h.stable == Some(false)).collect();
    match (judged.len(), failed.first()) {
        (0, _) => {
            let why = of.iter().find_map(|historian| historian.unstable_because.first());
            Held::Unknown(why.map(|why| format!(" ({why})")).unwrap_or_default())
        }
        (1, None) => Held::Yes(String::new()),
        (trials, None) => Held::Yes(format!(" in all {trials} trials")),
        (1, Some(only)) => Held::No(String::new(), only.unstable_because.join(", ")),
        (trials, Some(first)) => {
            Held::No(format!(" in {} of {trials} trials", failed.len()), first.unstable_because.join(", "))
        }
    }
}

/// What a rate that falls after a while is a sign of.
pub(super) const BURST: &str = "possibly burst credits, or a cache that filled";

/// `historian: sustained 5,100 records/s (3 of 4 confirmations of 6 min, on up to 1,830,000 records). 5,200 failed in 2 of 2 steps of
/// 6 min: the backlog grew by 312 per second (26 allowed)`.
fn search(search: &Search, report: &Report) -> Verdict {
    let name = search_name(search, report);
    let above = match (search.failed_at, &search.ended_by) {
        (Some(rate), _) => {
            format!("{} failed{}: {}", plain(rate), how_failed(search), search.failed_because.join(", "))
        }
        (None, ended_by) => {
            format!("no rate failed: {}", ended_by.as_deref().unwrap_or("no step was judged"))
        }
    };
    let figure = search.held_at().map(|rate| format!("{} records/s", plain(rate)));
    let fact: Fact = match (search.stable_at, figure) {
        (Some(_), Some(at)) => {
            Fact::around("sustained ", at, format!("{}{}", how_held(search), quick(search)))
        }
        (None, Some(at)) => {
            let needed = search.confirmations.unwrap_or(1) as usize;
            let needed = match search.confirmations_of.unwrap_or(1) as usize {
                of if of > needed => format!("{needed} of {of} confirmations"),
                _ => counted(needed, "confirmation", "confirmations"),
            };
            let long = if search.long { " and the long step" } else { "" };
            let after = format!(" was sustained once, without {needed}{long}{}", quick(search));
            Fact::around("not confirmed: ", at, after)
        }
        _ if search.failed_at.is_some() => format!("no rate was sustained{}", quick(search)).into(),
        _ => format!("no rate could be judged{}", quick(search)).into(),
    };
    let burst = search.burst.as_ref().map(|burst| format!("{}: {BURST}", burst.words()));
    let effects: Vec<String> = std::iter::once(above).chain(burst).chain(disturbed(search, report)).collect();
    let effects: Vec<String> = effects.iter().map(|effect| format::capital(effect)).collect();
    let verdict = Verdict::new(Level::Finding, SEARCH, fact).about(name).with_effect(effects.join(". "));
    verdict.of_trials(search.trials())
}

/// `background CPU load took 61% to 95% of all CPUs in 7 of 9 steps, so an idle machine may sustain another rate`.
pub(super) fn disturbed(search: &Search, report: &Report) -> Option<String> {
    let numbers = search.trials();
    let steps: Vec<&Trial> = report.trials.iter().filter(|trial| numbers.contains(&trial.number)).collect();
    let taken = |who: &str, most: f64, share: fn(&Trial) -> Option<f64>| {
        let over: Vec<f64> =
            steps.iter().filter_map(|step| share(step)).filter(|&share| share > most).collect();
        let (low, high) = (over.iter().copied().reduce(f64::min)?, over.iter().copied().reduce(f64::max)?);
        let (low, high) = (format::per_cent(low), format::per_cent(high));
        let range = if low == high { low } else { format!("{low} to {high}") };
        Some(format!("{who} took {range} of all CPUs in {} of {} steps", over.len(), steps.len()))
    };
    let others = taken("background load", OTHERS_SHARE_MAX, |step| step.machine.others_share);
    let steal = taken("the hypervisor", STEAL_SHARE_MAX, |step| step.machine.steal_share);
    let parts: Vec<String> = [others, steal].into_iter().flatten().collect();
    (!parts.is_empty())
        .then(|| format!("{}, so an idle machine may sustain another rate", parts.join(", and ")))
}

/// ` (3 of 4 confirmations of 6 min, on up to 1,830,000 records)`.
fn how_held(search: &Search) -> String {
    let Some(tried) = search.held else { return String::new() };
    let rows =
        tried.rows.map(|rows| format!(", on up to {} records", format::grouped(rows))).unwrap_or_default();
    let steps = if tried.steps == 1 { "confirmation" } else { "confirmations" };
    let long = tried.long_s.filter(|_| tried.long_held == Some(true));
    let long = long.map(|long_s| format!(" and one of {}", format::duration(long_s)));
    format!(
        " ({} of {} {steps} of {}{}{rows})",
        tried.held,
        tried.steps,
        format::duration(tried.window_s),
        long.unwrap_or_default()
    )
}

/// ` in 2 of 3 steps of 80 s`.
fn how_failed(search: &Search) -> String {
    let Some(tried) = search.failed else { return String::new() };
    if let (Some(long_s), Some(false)) = (tried.long_s, tried.long_held) {
        return format!(" in a step of {}", format::duration(long_s));
    }
    let steps = if tried.steps == 1 { "step" } else { "steps" };
    format!(
        " in {} of {} {steps} of {}",
        tried.steps - tried.held,
        tried.steps,
        format::duration(tried.window_s)
    )
}

fn quick(search: &Search) -> String {
    match search.step_s.filter(|_| search.quick) {
        Some(step_s) if step_s < STEP_S => {
            format!(" (quick run: steps of {} s instead of {} s)", plain(step_s), plain(STEP_S))
        }
        Some(_) => " (quick run)".to_owned(),
        None => String::new(),
    }
}

/// The configuration, with its levels and block where several searches share its name.
fn search_name(search: &Search, report: &Report) -> String {
    let twins = || report.searches.iter().filter(|other| other.configuration == search.configuration);
    let mut name = search.configuration.clone();
    if twins().any(|other| other.levels != search.levels) {
        let levels: Vec<String> =
            search.levels.iter().map(|(key, level)| format!("{} {level}", crate::axis_words(key))).collect();
        name = format!("{name}, {}", levels.join(", "));
    }
    if twins().any(|other| other.block != search.block) {
        name = format!("{name}, block {}", search.block);
    }
    name
}

/// Which number of rows a flush had the greatest rate, how far it is before the next, and what it gained over 40, where the
/// database set the pace. Trials one after the other are no test of it.
fn flush_rows(series: &FlushSeries) -> Option<Verdict> {
    if series.offered_per_s.is_some() {
        return held_by_rows(series);
    }
    let best = series.best()?;
    let figure = format!("{} rows", plain(f64::from(best.flush_rows)));
    let gain = match best.gain_share {
        Some(share) if share >= 1.0 => {
            format!(", {} times the throughput with 40", self::figure(1.0 + share))
        }
        Some(share) if share > 0.0005 => format!(", {} more than with 40", format::per_cent(share)),
        _ => String::new(),
    };
    let next = series.next_to(best).map(|next| {
        let rows = plain(f64::from(next.flush_rows));
        match best.records_per_s / next.records_per_s - 1.0 {
            ahead if ahead > 0.0005 => {
                format!(", {} more than with {rows} rows", format::per_cent(ahead))
            }
            _ => format!(", the same as with {rows} rows"),
        }
    });
    let after = format!(", {} records/s{gain}{}", self::figure(best.records_per_s), next.unwrap_or_default());
    let trials: Vec<u32> = series.points.iter().flat_map(|point| point.trials.clone()).collect();
    let fact = Fact::around("highest throughput with ", figure, after);
    let verdict = Verdict::new(Level::Finding, FLUSH_ROWS, fact).about(batches_of(series));
    Some(
        verdict.with_effect("not tested against the others: a study with blocks does that").of_trials(trials),
    )
}

/// `5,100 records/s offered: held with 40, 100 and 500 rows a flush, and not with 10`. At an offered rate all that hold it are alike.
fn held_by_rows(series: &FlushSeries) -> Option<Verdict> {
    let with = |held: bool| {
        let points = series.points.iter().filter(|point| point.stable == Some(held));
        points.map(|point| plain(f64::from(point.flush_rows))).collect::<Vec<String>>()
    };
    let (held, not_held) = (with(true), with(false));
    let told = match (held.is_empty(), not_held.is_empty()) {
        (true, true) => return None,
        (false, true) => format!("sustained with {} rows", format::listed(&held)),
        (true, false) => format!("not sustained with {} rows", format::listed(&not_held)),
        (false, false) => format!(
            "sustained with {} rows, and not with {}",
            format::listed(&held),
            format::listed(&not_held)
        ),
    };
    let trials: Vec<u32> = series.points.iter().flat_map(|point| point.trials.clone()).collect();
    Some(Verdict::new(Level::Finding, FLUSH_ROWS, told).about(batches_of(series)).of_trials(trials))
}

/// What the verdicts on batches are about.
fn batches_of(series: &FlushSeries) -> String {
    format!("rows per batch, {}", series.series)
}

/// `real project: a purge of 13,320,000 rows took 46 min, its shrink 60 s: 78% of the hour between two purges`.
fn maintenance(trial: &Trial) -> Option<Verdict> {
    let historian = trial.historian()?;
    let interval_s = historian.setup.as_ref()?.maintenance?.interval_s;
    let ended = || historian.maintenance.iter().filter_map(|run| Some((run, run.interval_share?)));
    let (longest, share) = ended().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let run = &longest.run;
    let which = match ended().count() {
        1 => "a purge".to_owned(),
        several => format!("the longest of {several} purges,"),
    };
    let shrink = run.shrink_s.map(|s| format!(", its shrink {}", format::duration(s))).unwrap_or_default();
    let took = format!(
        "{which} of {} rows{} took {}{shrink}",
        format::grouped(run.purged_rows),
        if which.ends_with(',') { "," } else { "" },
        format::duration(run.purge_s)
    );
    let pending = format!("the backlog rose to {}", format::grouped(run.pending_max));
    let between = format!("the {} between two purges", interval_words(interval_s));
    let shares: Vec<f64> = ended().map(|(_, share)| share).collect();
    let (level, rule, end, effect) = match longest.keeps_up {
        Some(false) => longer(&shares, &between, &pending),
        _ => {
            let end = format!("{} of {between}", format::per_cent(share));
            (Level::Finding, "maintenance", end, pending)
        }
    };
    let verdict = Verdict::new(level, rule, format!("{took}, {end}")).about(&trial.name).with_effect(effect);
    let verdict = match level {
        Level::Warning => verdict.with_action("delete more rows per statement, or drop partitions"),
        Level::Failure | Level::Finding | Level::Note => verdict,
    };
    Some(verdict.of_trials(vec![trial.number]))
}

/// What a purge that was longer than the time to the next one means: the shares of all of them that they took of that time tell.
fn longer(shares: &[f64], between: &str, pending: &str) -> (Level, &'static str, String, String) {
    let (last, share) = last_purges(shares);
    let end = format!("longer than {between}");
    let together = format!("the last {last} purges took {} of their time", format::per_cent(share));
    if last == 1 {
        let effect = format!("one purge does not show whether the next ones catch up, {pending}");
        return (Level::Warning, "maintenance_too_long", end, effect);
    }
    if share >= 1.0 {
        let effect = format!("purges do not catch up: {together}, and {pending}");
        return (Level::Warning, "maintenance_too_long", end, effect);
    }
    (Level::Finding, "maintenance", end, format!("purges catch up: {together}, and {pending}"))
}

/// The later half of the purges, at least two of them where there are several, and the share of the time from one to the next
/// that they took together. The first one finds what was there before, and may be longer than all others.
fn last_purges(shares: &[f64]) -> (usize, f64) {
    let last = shares.len().div_ceil(2).max(2).min(shares.len());
    let sum: f64 = shares[shares.len() - last..].iter().sum();
    (last, sum / last.max(1) as f64)
}

fn interval_words(seconds: f64) -> String {
    if seconds == 3600.0 { "hour".to_owned() } else { format::duration(seconds) }
}

/// Growth at one rate that was held: that of the search, else the highest one; else of a closed loop the highest.
fn growth(report: &Report) -> Option<Verdict> {
    let trial = growing(report)?;
    let historian = trial.historian()?;
    let storage = &historian.storage;
    let over = |seconds: f64| storage.growth(historian.records_per_s, seconds);
    let [hour, day, week] = [over(HOUR_S)?, over(DAY_S)?, over(7.0 * DAY_S)?];
    let full = storage.disk_bytes.zip(storage.years_until_full).map(|(disk, years)| {
        format!(". A disk of {} is full in {}", format::plain_bytes(disk as f64), format::time_until(years))
    });
    let more = match storage.bytes_per_record_range {
        Some(_) => ". A longer trial gives a single figure",
        None => "",
    };
    let before = format!("at {} records/s the database grows by ", self::figure(historian.records_per_s?));
    let after = format!(" ({} bytes per record)", storage.per_record()?);
    let effect = format!(
        "without purges and at the pace of these {}: {day} per day, {week} per week{}{more}",
        format::duration(trial.measured_s),
        full.unwrap_or_default()
    );
    let verdict = Verdict::new(Level::Finding, GROWTH, Fact::around(before, format!("{hour}/h"), after));
    Some(verdict.about(&trial.name).with_effect(effect).of_trials(vec![trial.number]))
}

/// The trial whose growth is told.
fn growing(report: &Report) -> Option<&Trial> {
    let searched: Vec<u32> = report.searches.iter().filter_map(Search::held_in).collect();
    let known = || {
        report.historians().filter(|trial| {
            trial.state == State::Complete
                && trial.historian().is_some_and(|h| h.storage.per_record().is_some())
        })
    };
    let rate = |trial: &&Trial| trial.historian().and_then(|h| h.records_per_s).unwrap_or(0.0);
    let highest = |a: &&Trial, b: &&Trial| rate(a).total_cmp(&rate(b));
    let found = |trial: &&Trial| searched.contains(&trial.number);
    let held =
        |trial: &&Trial| trial.search.is_none() && trial.historian().is_some_and(|h| h.stable == Some(true));
    let closed = |trial: &&Trial| trial.historian().is_some_and(|historian| !historian.is_open());
    known()
        .filter(found)
        .max_by(highest)
        .or_else(|| known().filter(held).max_by(highest))
        .or_else(|| known().filter(closed).max_by(highest))
}
