//! What was measured of disks: a sentence a configuration, a series, a steady state, an expectation.

use crate::configuration::Configuration;
use crate::disk::{Expectation, ExpectedFigure, SteadyState, Sweep, SweepPoint};
use crate::format;
use crate::report::Report;
use crate::trial::{Figures, Trial};
use crate::verdict::rate::{Held, held, interval, tail};
use crate::verdict::{Fact, Level, Verdict};
use record::{DiskSetup, Workload};

/// So far above what an array should give, and something else answered.
const FAR_ABOVE_SHARE: f64 = 1.0;

/// From this block size on, the bytes a second are what is asked for, and the I/Os a second follow from them.
const THROUGHPUT_BLOCK_BYTES: u64 = 128 * 1024;

/// Rule of what a configuration gave.
pub(crate) const RATE: &str = "rate";

/// Rule of where a curve bends.
pub(crate) const KNEE: &str = "knee";

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> =
        report.disk.steady_state.iter().map(|state| steady_state(state, report)).collect();
    verdicts.extend(sweeps(&report.disk.sweeps));
    let in_a_sweep = |c: &&Configuration| !report.disk.sweeps.iter().any(|s| s.trials.contains(&c.trials[0]));
    if report.disk.steady_state.is_none() {
        let disks = report.configurations_of(Workload::Disk).filter(in_a_sweep);
        verdicts.extend(disks.filter_map(|disk| configuration(disk, &report.trials)));
    }
    verdicts.extend(report.disk.expectation.iter().flat_map(expectation));
    verdicts
}

/// `RND4K Q32T1 read: 74,120 IOPS (73,010–75,200), p99 0.91 ms`, and of a rate that was offered whether it was held.
fn configuration(configuration: &Configuration, trials: &[Trial]) -> Option<Verdict> {
    let figures = configuration.main().filter(|_| !configuration.is_failed())?;
    let (value, unit) = headline(configuration.disk(), figures)?;
    let scale = figures.per_s.filter(|per_s| *per_s > 0.0).map_or(1.0, |per_s| value / per_s);
    let figure = format!("{} {unit}", format::figure(value));
    let held = held(configuration, trials);
    let mut parts = vec![format!(" {}", interval(configuration, scale))];
    parts.extend(configuration.offered_per_s().map(|rate| format!("{} offered", format::figure(rate))));
    if configuration.trials.len() > 1
        && let Some(best) = configuration.best_per_s
    {
        parts.push(format!("best {}", format::figure(best * scale)));
    }
    if scale != 1.0 {
        parts.push(format!("{} IOPS", format::figure_or_dash(figures.per_s)));
    }
    parts.push(tail(configuration, figures));
    if configuration.cut_short {
        parts.push("cut short".to_owned());
    }
    let fact = Held::fact(held, figure, &parts);
    Some(
        Verdict::new(Level::Finding, RATE, fact)
            .about(&configuration.name)
            .of_trials(configuration.trials.clone()),
    )
}

/// What a rate is remembered by: megabytes a second where blocks are large, else I/Os a second.
pub(crate) fn headline(disk: Option<&DiskSetup>, figures: &Figures) -> Option<(f64, &'static str)> {
    let throughput = disk.is_some_and(|disk| disk.block_bytes >= THROUGHPUT_BLOCK_BYTES);
    match (throughput, figures.mb_per_s, figures.per_s) {
        (true, Some(mb_per_s), Some(per_s)) if per_s > 0.0 => Some((mb_per_s, "MB/s")),
        (_, _, per_s) => Some((per_s?, "IOPS")),
    }
}

/// Of each series the knee and where it passed the tolerance. Several series without a knee are told together.
fn sweeps(all: &[Sweep]) -> Vec<Verdict> {
    let without: Vec<&Sweep> = all.iter().filter(|sweep| sweep.knee.is_none()).collect();
    let (together, alone): (Vec<&Sweep>, Vec<&Sweep>) =
        all.iter().partition(|sweep| sweep.knee.is_none() && without.len() > 1);
    let mut verdicts: Vec<Verdict> =
        alone.into_iter().flat_map(|sweep| std::iter::once(knee(sweep)).chain(tolerance(sweep))).collect();
    verdicts.extend((!together.is_empty()).then(|| no_knee(&together, all)));
    verdicts.extend(together.into_iter().filter_map(tolerance));
    verdicts
}

fn of_series(rule: &str, fact: Fact, sweep: &Sweep) -> Verdict {
    Verdict::new(Level::Finding, rule, fact).about(&sweep.series).of_trials(sweep.trials.clone())
}

fn knee(sweep: &Sweep) -> Verdict {
    let fact = match (&sweep.knee, &sweep.no_knee) {
        (Some(knee), _) => {
            let range = format!(" ({}–{})", format::figure(knee.low), format::figure(knee.high));
            Fact::around("knee at ", format!("{} outstanding", format::figure(knee.at)), range)
        }
        (None, reason) => reason.as_deref().unwrap_or("no knee").into(),
    };
    Verdict { effect: best(sweep), ..of_series(KNEE, fact, sweep) }
}

/// `all 12 series: no knee (the curve bends gradually: 9, a jump fits as well: 3)`, and the highest rate of them.
fn no_knee(without: &[&Sweep], all: &[Sweep]) -> Verdict {
    let subject = match all.len() {
        2 if without.len() == 2 => "both series".to_owned(),
        count if without.len() == count => format!("all {count} series"),
        _ => grouped(without),
    };
    let highest = without.iter().filter_map(|sweep| Some((sweep, sweep.best()?)));
    let highest = highest.max_by(|one, other| one.1.per_s.total_cmp(&other.1.per_s));
    let effect = highest.map(|(sweep, point)| {
        let p99 = point.p99_us.map(|us| format!(", p99 {}", format::latency(us))).unwrap_or_default();
        let rate = format::figure(point.per_s);
        let what = format!("{} at {} outstanding", sweep.series, point.outstanding);
        format!("highest rate: {rate} IOPS, {what}{p99} (not tested against the others)")
    });
    let trials: Vec<u32> = without.iter().flat_map(|sweep| sweep.trials.clone()).collect();
    let verdict = Verdict::new(Level::Finding, KNEE, format!("no knee ({})", no_knee_reasons(without)))
        .about(&subject)
        .of_trials(trials);
    Verdict { effect, ..verdict }
}

/// `random read (8 KiB, 16 KiB), random write (8 KiB)`.
fn grouped(series: &[&Sweep]) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for sweep in series {
        match groups.iter_mut().find(|(group, _)| *group == sweep.group) {
            Some((_, labels)) => labels.push(&sweep.label),
            None => groups.push((&sweep.group, vec![&sweep.label])),
        }
    }
    let group = |(group, labels): &(&str, Vec<&str>)| match group.is_empty() {
        true => labels.join(", "),
        false => format!("{group} ({})", labels.join(", ")),
    };
    groups.iter().map(group).collect::<Vec<String>>().join(", ")
}

/// Each reason with how many series have it.
pub(super) fn no_knee_reasons(without: &[&Sweep]) -> String {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for reason in without.iter().filter_map(|sweep| sweep.no_knee_in_short) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    match reasons.as_slice() {
        [(only, count)] if *count == without.len() => (*only).to_owned(),
        reasons => reasons
            .iter()
            .map(|(reason, count)| format!("{reason}: {count}"))
            .collect::<Vec<String>>()
            .join(", "),
    }
}

fn best(sweep: &Sweep) -> Option<String> {
    let best = sweep.best()?;
    let p99 = best.p99_us.map(|us| format!(", p99 {}", format::latency(us))).unwrap_or_default();
    let (rate, next) = (format::figure(best.per_s), next(sweep, best));
    Some(format!(
        "highest rate: {rate} IOPS at {} outstanding{p99}{next} (not tested against the others)",
        best.outstanding
    ))
}

/// `, 2.9% more than at 128 outstanding`: the next level is often nearly as good.
fn next(sweep: &Sweep, best: &SweepPoint) -> String {
    let others =
        sweep.points.iter().filter(|point| point.outstanding != best.outstanding && point.per_s > 0.0);
    let next = others.max_by(|one, other| one.per_s.total_cmp(&other.per_s));
    next.map_or_else(String::new, |next| {
        let ahead = format::per_cent(best.per_s / next.per_s - 1.0);
        format!(", {ahead} more than at {} outstanding", next.outstanding)
    })
}

fn tolerance(sweep: &Sweep) -> Option<Verdict> {
    let most_us = sweep.tolerance_us?;
    let passed = sweep.points.iter().find(|point| Some(point.outstanding) == sweep.passed_at)?;
    let within = sweep.best_within().map_or_else(
        || "no depth was within this limit".to_owned(),
        |point| {
            format!("best within this limit: {} IOPS at {}", format::figure(point.per_s), point.outstanding)
        },
    );
    let skipped = match sweep.skipped.as_slice() {
        [] => String::new(),
        [only] => format!(" (depth {only} skipped)"),
        [first, .., last] => format!(" (depths {first} to {last} skipped)"),
    };
    let fact = format!(
        "mean latency exceeded {} at {} outstanding ({}); {within}{skipped}",
        format::plain_latency(most_us),
        passed.outstanding,
        format::latency_or_dash(passed.mean_us),
    );
    Some(of_series("tolerance", fact.into(), sweep))
}

fn steady_state(state: &SteadyState, report: &Report) -> Verdict {
    let mean = state.window_mean_per_s.map(|mean| format!("{} IOPS", format::figure(mean)));
    let trials = report.configurations.iter().find(|c| c.name == state.watched).map(|c| c.trials.clone());
    let fact: Fact = match (state.reached_in_round, state.window, mean) {
        (Some(round), Some((first, last)), Some(mean)) => Fact::around(
            format!("steady state reached in round {round}: "),
            mean,
            format!(" (mean of rounds {first} to {last})"),
        ),
        (_, Some((first, last)), Some(mean)) => Fact::around(
            format!("no steady state within {} rounds: ", state.rounds_per_s.len()),
            mean,
            format!(" (mean of rounds {first} to {last})"),
        ),
        _ => {
            let rounds = format::counted(state.rounds_per_s.len(), "round", "rounds");
            format!("no steady state within {rounds}: the rule needs five").into()
        }
    };
    Verdict::new(Level::Finding, "steady_state", fact)
        .about(&state.watched)
        .of_trials(trials.unwrap_or_default())
}

fn expectation(expectation: &Expectation) -> Vec<Verdict> {
    if let Some(error) = &expectation.error {
        let fact = format!("invalid description of the array: {error}");
        return vec![Verdict::new(Level::Warning, "expectation", fact)];
    }
    expectation.figures.iter().map(|figure| expected(&expectation.array, figure)).collect()
}

fn expected(array: &str, figure: &ExpectedFigure) -> Verdict {
    let (should, what) = (format::figure(figure.expected_per_s), &figure.what);
    let measured = figure.measured_per_s.zip(figure.difference_share).zip(figure.configuration.as_ref());
    let Some(((per_s, difference), configuration)) = measured else {
        let fact = format!("expected {should} {what} IOPS, not measured");
        return Verdict::new(Level::Finding, "expectation", fact).about(array);
    };
    let distance = match difference {
        share if share.abs() < 0.0005 => "as expected".to_owned(),
        share if share < 0.0 => format!("{} less", format::per_cent(-share)),
        share if share < 1.0 => format!("{} more", format::per_cent(share)),
        share => format!("{} times as much", format::figure(1.0 + share)),
    };
    let doubt = match difference {
        share if share > FAR_ABOVE_SHARE => Some(
            "these disks cannot reach this rate: a cache answered, or the array differs from its description",
        ),
        share if share < 0.0 && figure.too_few_outstanding => {
            Some("fewer I/Os were outstanding than the array has disks, so some disks were idle")
        }
        _ => None,
    };
    let measured = format::figure(per_s);
    let before = format!("expected {should} {what} IOPS, {configuration} measured {measured}: ");
    let verdict =
        Verdict::new(Level::Finding, "expectation", Fact::around(before, distance, "")).about(array);
    Verdict { effect: doubt.map(str::to_owned), ..verdict }
}
