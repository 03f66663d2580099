//! Warnings of a single trial: drift, and what chance alone makes of counts.

use stats::Chance;

use crate::noise::{autoregressive, poisson};
use crate::page::{Section, Table};
use crate::sets::{Random, percent};

const SETS: u32 = 2_000;
const SECONDS: [usize; 5] = [10, 30, 60, 120, 300];
const DRIFTS: [f64; 5] = [0.0, -0.05, -0.09, -0.12, -0.2];
const EVENTS_PER_S: [f64; 5] = [0.8, 4.0, 50.0, 110.0, 1000.0];

/// A trend that is told is larger than this share of the mean.
const TREND_MAX: f64 = 0.05;

pub(crate) fn section() -> Section {
    Section {
        about: "prony reports a drift of more than 5% over the trial if chance causes such a drift in fewer than one of \
            100 trials. In the first table, per-second rates are normally distributed with a standard deviation of \
            3%. Neighboring seconds have a correlation of 0.3. In the second table, events are independent. The \
            counts of such events scatter and drift by chance, even if each event carries many records. prony does \
            not warn about variation that chance explains.",
        tables: vec![drift(), chance()],
    }
}

fn drifting(random: &mut Random, seconds: usize, share: f64) -> Vec<f64> {
    let mut values = autoregressive(random, seconds, 0.3, 0.03);
    for (second, value) in values.iter_mut().enumerate() {
        *value += share * ((second as f64 + 0.5) / seconds as f64 - 0.5);
    }
    values
}

fn drift() -> Table {
    let row = |seconds: usize| {
        let cell = |share: f64| {
            let told = percent(&format!("drift {share}, {seconds} s"), SETS, |random| {
                let trend = stats::trend(&drifting(random, seconds, share));
                trend.is_some_and(|trend| trend.is_shown && trend.share.abs() > TREND_MAX)
            });
            format!("{told:.0}")
        };
        std::iter::once(seconds.to_string()).chain(DRIFTS.map(cell)).collect()
    };
    Table {
        caption: format!(
            "Percentage of {SETS} trials for which prony reports a drift. The columns give the true drift."
        ),
        head: std::iter::once("seconds".to_owned())
            .chain(DRIFTS.map(|share| format!("{:.0}%", share * 100.0)))
            .collect(),
        rows: SECONDS.into_iter().map(row).collect(),
    }
}

fn chance() -> Table {
    const RUN_S: usize = 30;
    let counts = |random: &mut Random, per_s: f64| -> Vec<f64> {
        (0..RUN_S).map(|_| poisson(random, per_s)).collect()
    };
    let row = |per_s: f64| {
        let beyond = |what: &str, is_beyond: fn(&[f64], Chance) -> bool| {
            let beyond = percent(&format!("{what} of {per_s} events/s"), SETS, |random| {
                let counts = counts(random, per_s);
                Chance::of(per_s, RUN_S as f64).is_some_and(|chance| is_beyond(&counts, chance))
            });
            format!("{beyond:.1}")
        };
        let noisy = beyond("noise", |counts, chance| {
            stats::coefficient_of_variation(counts).is_some_and(|cv| cv > chance.scatter.max(0.1))
        });
        let moving = beyond("fifths", |counts, chance| {
            let fifths = stats::bins_of_five(counts).as_ref().and_then(stats::pts);
            fifths.is_some_and(|fifths| {
                fifths.range_share > chance.range.max(0.2) || fifths.slope_share > chance.line.max(0.1)
            })
        });
        vec![per_s.to_string(), noisy, moving]
    };
    Table {
        caption: format!(
            "Percentage of {SETS} trials that prony calls noisy or not steady. Each trial lasts {RUN_S} s and has \
                independent events."
        ),
        head: ["events/s", "noisy", "not steady"].map(str::to_owned).to_vec(),
        rows: EVENTS_PER_S.into_iter().map(row).collect(),
    }
}
