//! The interval of the mean of one trial's seconds.

use crate::noise::{autoregressive, below};
use crate::page::{Section, Table};
use crate::sets::{Random, each, percent};

const SETS: u32 = 2_000;
const SECONDS: [usize; 9] = [8, 10, 20, 30, 60, 80, 120, 300, 600];
const RHOS: [f64; 4] = [0.0, 0.3, 0.6, 0.9];

/// Stalls: seconds without an answer, and every how many seconds.
const STALLS: [(usize, usize); 4] = [(1, 30), (3, 60), (10, 60), (5, 120)];

pub(crate) fn section() -> Section {
    Section {
        about: "The interval beside the mean of one trial claims to hold the mean that this run would have had, had it gone on \
                for ever, in 95 of 100 runs. Seconds scatter normally by 3 % and hang together by rho from one to the next. \
                Where a run is so short for its correlation that its seconds are worth fewer than three independent ones, a \
                report gives no interval and says why. A stall that comes each minute is no correlation of \
                neighbours, and of a run that saw one or none of them no interval can know; a report tells the longest time \
                without an answer instead.",
        tables: vec![coverage(), width(), told(), stalls()],
    }
}

fn table(head: &str, caption: String, cell: impl Fn(usize, f64) -> String) -> Table {
    let row = |seconds: usize| {
        std::iter::once(seconds.to_string()).chain(RHOS.map(|rho| cell(seconds, rho))).collect()
    };
    Table {
        caption,
        head: std::iter::once(head.to_owned()).chain(RHOS.map(|rho| format!("rho {rho}"))).collect(),
        rows: SECONDS.into_iter().map(row).collect(),
    }
}

fn name(seconds: usize, rho: f64) -> String {
    format!("one trial, {seconds} s, rho {rho}")
}

fn holds(estimate: stats::Estimate, truth: f64) -> bool {
    estimate.low <= truth && truth <= estimate.high
}

fn series(random: &mut Random, seconds: usize, rho: f64) -> Vec<f64> {
    autoregressive(random, seconds, rho, 0.03)
}

fn coverage() -> Table {
    let caption = format!("Per cent of {SETS} runs whose interval holds the true mean.");
    table("seconds", caption, |seconds, rho| {
        let holds = percent(&name(seconds, rho), SETS, |random| {
            stats::run_mean(&series(random, seconds, rho)).is_some_and(|run| holds(run.estimate, 1.0))
        });
        format!("{holds:.0}")
    })
}

fn width() -> Table {
    let caption = format!(
        "Median width of these intervals over the width that would be right: 3.92 standard deviations of the {SETS} means."
    );
    table("seconds", caption, |seconds, rho| {
        let runs = each(&name(seconds, rho), SETS, |random| stats::run_mean(&series(random, seconds, rho)));
        let estimates = || runs.iter().flatten().map(|run| run.estimate);
        let widths: Vec<f64> = estimates().map(|estimate| estimate.high - estimate.low).collect();
        let means: Vec<f64> = estimates().map(|estimate| estimate.value).collect();
        let right = stats::coefficient_of_variation(&means).map(|scatter| 3.92 * scatter);
        let over = stats::median(&widths).zip(right).map(|(width, right)| width / right);
        over.map_or_else(|| "–".to_owned(), |over| format!("{over:.2}"))
    })
}

fn told() -> Table {
    let caption =
        format!("Per cent of {SETS} runs that are given no interval, being so short and so correlated.");
    table("seconds", caption, |seconds, rho| {
        let told = percent(&name(seconds, rho), SETS, |random| {
            stats::run_mean(&series(random, seconds, rho)).is_some_and(|run| run.dependence.holds_less)
        });
        format!("{told:.0}")
    })
}

fn stalls() -> Table {
    const STALLED_SECONDS: [usize; 3] = [30, 120, 300];
    let row = |(length, every): (usize, usize)| {
        let cell = |seconds: usize| {
            let holds =
                percent(&format!("stalls of {length} s each {every} s, {seconds} s"), SETS, |random| {
                    let values = stalling(random, seconds, length, every);
                    let truth = 1.0 - length as f64 / every as f64;
                    stats::run_mean(&values).is_some_and(|run| holds(run.estimate, truth))
                });
            format!("{holds:.0}")
        };
        std::iter::once(format!("{length} s each {every} s")).chain(STALLED_SECONDS.map(cell)).collect()
    };
    Table {
        caption: format!(
            "Per cent of {SETS} runs whose interval holds the true mean, of a server that stalls."
        ),
        head: std::iter::once("stall".to_owned()).chain(STALLED_SECONDS.map(|s| format!("{s} s"))).collect(),
        rows: STALLS.into_iter().map(row).collect(),
    }
}

/// A series that stands still for so many seconds of every so many, from a random moment on.
fn stalling(random: &mut Random, seconds: usize, length: usize, every: usize) -> Vec<f64> {
    let begin = below(random, every);
    let mut values = series(random, seconds, 0.3);
    for (second, value) in values.iter_mut().enumerate() {
        if (second + begin) % every < length {
            *value = 0.0;
        }
    }
    values
}
