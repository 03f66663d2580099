//! Two states that a rate alternates between, within a trial and from trial to trial.

use crate::noise::{autoregressive, normal};
use crate::one_trial::fast_and_slow;
use crate::page::{Section, Table};
use crate::server::unit;
use crate::sets::{Random, percent};

const SETS: u32 = 1_000;
const SECONDS: [usize; 5] = [30, 60, 120, 300, 600];
const TRIALS: [usize; 4] = [7, 10, 15, 20];
const SEED: u64 = 1;

pub(crate) fn section() -> Section {
    Section {
        about: "If a rate alternates between two states, a note reports the level and the share of each state. prony \
            looks for states in the seconds of a trial of at least 30 s, and in seven or more trials of one \
            configuration. The values must form two groups. The distance between the groups must be at least five \
            times the scatter within the groups. The distance must also be larger than in 99 of 100 uniform samples. \
            Each group must have at least a quarter of the values. Seconds must switch between the groups at least \
            four times, but on average not more often than every third second. Trials must switch between the groups \
            at least twice. Noise is 3% unless the row says otherwise. \"20 s and 10 s at 60%\" means full speed for \
            20 s and 60% of full speed for 10 s, on average. prony misses states that last as long as the trial. It \
            also misses two states if the distance between them is less than five times the noise.",
        tables: vec![
            of_seconds(
                "seconds of one state",
                &ONE_STATE,
                "Percentage of {} trials with one state for which prony reports two states.",
            ),
            of_seconds(
                "seconds of two states",
                &TWO_STATES,
                "Percentage of {} trials with two states for which prony reports two states.",
            ),
            of_trials(
                "trials of one state",
                &TRIALS_OF_ONE,
                "Percentage of {} configurations with one state for which prony reports two states.",
            ),
            of_trials(
                "trials of two states",
                &TRIALS_OF_TWO,
                "Percentage of {} configurations with two states for which prony reports two states.",
            ),
        ],
    }
}

/// A server, by its name and its rates.
type Named<'a> = (&'a str, fn(&mut Random, usize) -> Vec<f64>);

const ONE_STATE: [Named<'_>; 13] = [
    ("white noise", |random, count| autoregressive(random, count, 0.0, 0.03)),
    ("rho 0.3", |random, count| autoregressive(random, count, 0.3, 0.03)),
    ("rho 0.6", |random, count| autoregressive(random, count, 0.6, 0.03)),
    ("rho 0.9", |random, count| autoregressive(random, count, 0.9, 0.03)),
    ("rho 0.97", |random, count| autoregressive(random, count, 0.97, 0.03)),
    ("log-normal, sigma 0.5", |random, count| lognormal(random, count, 0.5)),
    ("log-normal, sigma 1", |random, count| lognormal(random, count, 1.0)),
    ("drift by 20%", |random, count| drift(random, count, 0.2)),
    ("drift by 50%", |random, count| drift(random, count, 0.5)),
    ("one step by 40%", step),
    ("checkpoints: 60 s of each 300 s at 60%", |random, count| {
        checkpoints(random, count, (60.0, 300.0), 0.6)
    }),
    ("checkpoints: 30 s of each 300 s at 60%", |random, count| {
        checkpoints(random, count, (30.0, 300.0), 0.6)
    }),
    ("checkpoints: 10 s of each 60 s at 50%", |random, count| checkpoints(random, count, (10.0, 60.0), 0.5)),
];

const TWO_STATES: [Named<'_>; 8] = [
    ("5 s and 5 s at 60%", |random, count| alternating(random, count, (5.0, 5.0), (0.6, 0.03))),
    ("10 s and 10 s at 60%", |random, count| alternating(random, count, (10.0, 10.0), (0.6, 0.03))),
    ("10 s and 10 s at 80%", |random, count| alternating(random, count, (10.0, 10.0), (0.8, 0.03))),
    ("10 s and 10 s at 60%, noise 5%", |random, count| alternating(random, count, (10.0, 10.0), (0.6, 0.05))),
    ("10 s and 10 s at 80%, noise 5%", |random, count| alternating(random, count, (10.0, 10.0), (0.8, 0.05))),
    ("20 s and 10 s at 60%", |random, count| alternating(random, count, (20.0, 10.0), (0.6, 0.03))),
    ("60 s and 30 s at 60%", |random, count| alternating(random, count, (60.0, 30.0), (0.6, 0.03))),
    ("10 min and 5 min at 60%", |random, count| alternating(random, count, (600.0, 300.0), (0.6, 0.03))),
];

const TRIALS_OF_ONE: [Named<'_>; 7] = [
    ("white noise", |random, count| autoregressive(random, count, 0.0, 0.03)),
    ("rho 0.3", |random, count| autoregressive(random, count, 0.3, 0.03)),
    ("rho 0.6", |random, count| autoregressive(random, count, 0.6, 0.03)),
    ("rho 0.9", |random, count| autoregressive(random, count, 0.9, 0.03)),
    ("log-normal, sigma 0.5", |random, count| lognormal(random, count, 0.5)),
    ("drift by 20%", |random, count| drift(random, count, 0.2)),
    ("one step by 40%", step),
];

const TRIALS_OF_TWO: [Named<'_>; 4] = [
    ("half at 60%, noise 2%", |random, count| by_chance(random, count, (0.5, 0.6), 0.02)),
    ("half at 60%, noise 5%", |random, count| by_chance(random, count, (0.5, 0.6), 0.05)),
    ("half at 80%, noise 2%", |random, count| by_chance(random, count, (0.5, 0.8), 0.02)),
    ("30% at 60%, noise 2%", |random, count| by_chance(random, count, (0.3, 0.6), 0.02)),
];

fn lognormal(random: &mut Random, count: usize, sigma: f64) -> Vec<f64> {
    (0..count).map(|_| (sigma * normal(random)).exp()).collect()
}

fn drift(random: &mut Random, count: usize, share: f64) -> Vec<f64> {
    let noise = autoregressive(random, count, 0.3, 0.03);
    noise
        .into_iter()
        .enumerate()
        .map(|(at, value)| value * (1.0 - share * at as f64 / count as f64))
        .collect()
}

/// From a random place on it is slower by 40 %.
fn step(random: &mut Random, count: usize) -> Vec<f64> {
    let from = unit(random) * count as f64;
    let speed = |at: usize| if (at as f64) < from { 1.0 } else { 0.6 };
    (0..count).map(|at| speed(at) * (1.0 + 0.03 * normal(random))).collect()
}

/// Slower for a time, again and again, from a random moment on.
fn checkpoints(random: &mut Random, count: usize, (length_s, every_s): (f64, f64), speed: f64) -> Vec<f64> {
    let begin_s = unit(random) * every_s;
    let speed = |at: usize| if (at as f64 + begin_s) % every_s < length_s { speed } else { 1.0 };
    (0..count).map(|at| speed(at) * (1.0 + 0.03 * normal(random))).collect()
}

/// Fast and slow for exponential times.
fn alternating(
    random: &mut Random,
    count: usize,
    mean_s: (f64, f64),
    (speed, noise): (f64, f64),
) -> Vec<f64> {
    let speeds = fast_and_slow(random, count, mean_s, speed);
    speeds.into_iter().map(|speed| speed * (1.0 + noise * normal(random))).collect()
}

/// Each trial is slow or not as a coin falls.
fn by_chance(random: &mut Random, count: usize, (share, speed): (f64, f64), noise: f64) -> Vec<f64> {
    let one = |random: &mut Random| {
        let speed = if unit(random) < share { speed } else { 1.0 };
        speed * (1.0 + noise * normal(random))
    };
    (0..count).map(|_| one(random)).collect()
}

fn of_seconds(head: &str, servers: &[Named<'_>], caption: &str) -> Table {
    let head = (head, SECONDS.map(|seconds| format!("{seconds} s")).to_vec());
    table(head, &SECONDS, servers, caption, |values| stats::two_states_of_seconds(values, SEED).is_some())
}

fn of_trials(head: &str, servers: &[Named<'_>], caption: &str) -> Table {
    let head = (head, TRIALS.map(|trials| format!("{trials} trials")).to_vec());
    table(head, &TRIALS, servers, caption, |values| stats::two_states_of_trials(values, SEED).is_some())
}

fn table(
    (head, columns): (&str, Vec<String>),
    counts: &[usize],
    servers: &[Named<'_>],
    caption: &str,
    told: impl Fn(&[f64]) -> bool + Sync,
) -> Table {
    let row = |(name, server): &Named<'_>| {
        let cell = |&count: &usize| {
            let told =
                percent(&format!("{head}, {name}, {count}"), SETS, |random| told(&server(random, count)));
            format!("{told:.1}")
        };
        std::iter::once((*name).to_owned()).chain(counts.iter().map(cell)).collect()
    };
    Table {
        caption: caption.replace("{}", &SETS.to_string()),
        head: std::iter::once(head.to_owned()).chain(columns).collect(),
        rows: servers.iter().map(row).collect(),
    }
}
