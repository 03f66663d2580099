//! Runs of different times against each other: what single ones claim, and several a side.

use stats::{
    Better, Comparison, Estimate, effect_between_sessions, effect_of_intervals, effect_of_sessions, judge,
    judge_sessions, judge_two_times, run_mean, unpaired_effect,
};

use crate::noise::{autoregressive, normal};
use crate::page::{Section, Table};
use crate::sets::{Random, each};

const SETS: u32 = 4_000;
const TRIALS: usize = 7;
const NOISE: f64 = 0.02;
const SMALLEST: f64 = 0.03;

/// How the two sides are compared.
#[derive(Clone, Copy)]
enum Way {
    /// One run a side, and nothing known of what times do: what says that they differ.
    Single,
    /// One run a side, and the true spread given.
    Given,
    /// So many runs a side.
    Runs(usize),
}

const WAYS: [(&str, Way); 5] = [
    ("one run per side", Way::Single),
    ("one run per side, spread given", Way::Given),
    ("2 runs per side", Way::Runs(2)),
    ("3 runs per side", Way::Runs(3)),
    ("5 runs per side", Way::Runs(5)),
];
const SPREADS: [f64; 3] = [0.0, 0.02, 0.05];

pub(crate) fn section() -> Section {
    Section {
        about: "`prony compare` compares runs from different times. Each run is shifted as a whole, because a machine's \
            figures differ from time to time. The shifts are normally distributed, and their standard deviation is \
            the spread in the column head. The seven trials of a run also scatter by 2%. An effect of 3% or more is \
            relevant. With one run per side, prony calls nothing better, worse, equivalent or small unless you give \
            the spread. In these tables, the given spread is the true spread. Without a given spread, prony reports \
            that the two runs differ, are alike or are indistinguishable. It then judges no limit on a change. With \
            several runs per side, prony estimates the spread from the runs, so few runs give wide intervals. In \
            these tables, the shifts are independent of each other. If a server drifts, alternate the runs of both \
            sides.",
        tables: vec![claims(0.0), claims(0.1), coverage(), two_times()],
    }
}

fn claims(gain: f64) -> Table {
    let row = |(name, way): (&str, Way)| {
        let cell = |spread: f64| {
            let cell = format!("sessions, {name}, {spread}, {gain}");
            let all = each(&cell, SETS, |random| claim(way, spread, gain, random));
            let share = all.iter().filter(|&&claimed| claimed).count() as f64 / all.len() as f64;
            format!("{:.1}", 100.0 * share)
        };
        let said = if matches!(way, Way::Single) { " (called different)" } else { "" };
        std::iter::once(format!("{name}{said}")).chain(SPREADS.map(cell)).collect()
    };
    let what = match gain > 0.0 {
        true => "that call a side with a true gain of 10% better",
        false => "that call one of two equal sides better or worse",
    };
    Table {
        caption: format!("Percentage of {SETS} comparisons {what}."),
        head: head(),
        rows: WAYS.into_iter().map(row).collect(),
    }
}

/// What is measured of each of two single runs.
#[derive(Clone, Copy)]
enum Measured {
    Trials(f64),
    Seconds,
}

/// What is said of one run and another, which says nothing of other times.
fn two_times() -> Table {
    const MEASURED: [(&str, Measured); 3] = [
        ("7 trials, noise 0.5%", Measured::Trials(0.005)),
        ("7 trials, noise 2%", Measured::Trials(0.02)),
        ("one trial of 30 s, noise 5%", Measured::Seconds),
    ];
    let row = |((name, measured), gain): ((&str, Measured), f64)| {
        let cell = |spread: f64| {
            let cell = format!("sessions, two times, {name}, {spread}, {gain}");
            let all = each(&cell, SETS, |random| said(measured, spread, gain, random));
            let share = |wanted: Comparison| {
                100.0 * all.iter().filter(|one| **one == Some(wanted)).count() as f64 / all.len() as f64
            };
            format!("{:.0} / {:.0}", share(Comparison::Differs), share(Comparison::Alike))
        };
        std::iter::once(format!("{name}, gain {:.0}%", gain * 100.0)).chain(SPREADS.map(cell)).collect()
    };
    Table {
        caption: format!(
            "Percentage of {SETS} comparisons that call the two runs different / alike. Each side has one run, and \
                the spread is not given. If the spread is not zero, runs that differ by 4% may look alike, and equal \
                machines may look different. prony therefore claims only that two runs differ or are alike."
        ),
        head: head(),
        rows: MEASURED.into_iter().flat_map(|one| [0.0, 0.04].map(|gain| (one, gain))).map(row).collect(),
    }
}

fn said(measured: Measured, spread: f64, gain: f64, random: &mut Random) -> Option<Comparison> {
    let effect = match measured {
        Measured::Trials(noise) => {
            let mut run = |gain: f64| {
                let shift = gain.ln_1p() + spread * normal(random);
                (0..TRIALS).map(|_| (shift + noise * normal(random)).exp()).collect::<Vec<f64>>()
            };
            unpaired_effect(&run(0.0), &run(gain))?
        }
        Measured::Seconds => {
            let mut run = |gain: f64| -> Option<Estimate> {
                let level = (gain.ln_1p() + spread * normal(random)).exp();
                let seconds = autoregressive(random, 30, 0.3, 0.05).into_iter().map(|of| level * of);
                Some(run_mean(&seconds.collect::<Vec<f64>>(), None)?.estimate)
            };
            effect_of_intervals(run(0.0)?, run(gain)?)?
        }
    };
    Some(judge_two_times(&[effect], SMALLEST, Better::Higher)[0].comparison)
}

fn coverage() -> Table {
    let row = |(name, way): (&str, Way)| {
        let cell = |spread: f64| {
            let cell = format!("sessions, interval, {name}, {spread}");
            let all = each(&cell, SETS, |random| interval(way, spread, random));
            let holds = all.iter().filter(|(low, high)| (*low..=*high).contains(&1.0)).count();
            let mut widths: Vec<f64> = all.iter().map(|(low, high)| 100.0 * (high - low) / 2.0).collect();
            widths.sort_by(f64::total_cmp);
            format!("{:.0} / ±{:.0}%", 100.0 * holds as f64 / all.len() as f64, widths[widths.len() / 2])
        };
        std::iter::once(name.to_owned()).chain(SPREADS.map(cell)).collect()
    };
    Table {
        caption: format!(
            "The two sides are equal. The first figure is the percentage of {SETS} comparisons with an interval that \
                contains zero difference. The second is half the median width of the intervals."
        ),
        head: head(),
        rows: WAYS.into_iter().map(row).collect(),
    }
}

fn head() -> Vec<String> {
    let spreads = SPREADS.map(|spread| format!("spread {:.0}%", spread * 100.0));
    std::iter::once("compared".to_owned()).chain(spreads).collect()
}

/// The trials of each run of a side.
fn side(runs: usize, spread: f64, gain: f64, random: &mut Random) -> Vec<Vec<f64>> {
    let mut run = || {
        let shift = gain.ln_1p() + spread * normal(random);
        (0..TRIALS).map(|_| (shift + NOISE * normal(random)).exp()).collect()
    };
    (0..runs).map(|_| run()).collect()
}

fn sides(way: Way, spread: f64, gain: f64, random: &mut Random) -> [Vec<Vec<f64>>; 2] {
    let runs = match way {
        Way::Single | Way::Given => 1,
        Way::Runs(runs) => runs,
    };
    [side(runs, spread, 0.0, random), side(runs, spread, gain, random)]
}

fn effect(way: Way, spread: f64, [first, this]: &[Vec<Vec<f64>>; 2]) -> Option<stats::Effect> {
    match way {
        Way::Single => unpaired_effect(&first[0], &this[0]),
        Way::Given => effect_between_sessions(&first[0], &this[0], spread),
        Way::Runs(_) => effect_of_sessions(first, this).map(|sessions| sessions.effect),
    }
}

/// Whether one is called better, or of equal ones worse.
fn claim(way: Way, spread: f64, gain: f64, random: &mut Random) -> bool {
    let sides = sides(way, spread, gain, random);
    let judge = match way {
        Way::Single => judge_two_times,
        Way::Given => judge,
        Way::Runs(_) => judge_sessions,
    };
    effect(way, spread, &sides).is_some_and(|effect| {
        let judged = judge(&[effect], SMALLEST, Better::Higher)[0].comparison;
        matches!(judged, Comparison::Better | Comparison::Differs)
            || (gain <= 0.0 && judged == Comparison::Worse)
    })
}

fn interval(way: Way, spread: f64, random: &mut Random) -> (f64, f64) {
    let sides = sides(way, spread, 0.0, random);
    effect(way, spread, &sides).map_or((f64::NAN, f64::NAN), |effect| (effect.ratio.low, effect.ratio.high))
}
