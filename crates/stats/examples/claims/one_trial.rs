//! The interval of the mean of one trial's seconds.

use crate::noise::autoregressive;
use crate::page::{Section, Table};
use crate::sets::percent;

const SETS: u32 = 2_000;
const SECONDS: [usize; 9] = [8, 10, 20, 30, 60, 80, 120, 300, 600];
const RHOS: [f64; 4] = [0.0, 0.3, 0.6, 0.9];

pub(crate) fn section() -> Section {
    Section {
        about: "The interval beside the mean of one trial claims to hold the mean that this run would have had, had it gone on \
                for ever, in 95 of 100 runs. Seconds scatter normally by 3 % and hang together by rho from one to the next.",
        tables: vec![coverage()],
    }
}

fn coverage() -> Table {
    let row = |seconds: usize| {
        let cell = |rho: f64| {
            let holds = |seconds: usize, rho: f64| {
                percent(&format!("one trial, {seconds} s, rho {rho}"), SETS, |random| {
                    let values = autoregressive(random, seconds, rho, 0.03);
                    stats::bootstrap_mean(&values, 1).is_some_and(|mean| mean.low <= 1.0 && 1.0 <= mean.high)
                })
            };
            format!("{:.0}", holds(seconds, rho))
        };
        std::iter::once(seconds.to_string()).chain(RHOS.map(cell)).collect()
    };
    Table {
        caption: format!("Per cent of {SETS} runs whose interval holds the true mean."),
        head: std::iter::once("seconds".to_owned()).chain(RHOS.map(|rho| format!("rho {rho}"))).collect(),
        rows: SECONDS.into_iter().map(row).collect(),
    }
}
