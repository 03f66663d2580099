//! Change points of a history: where nothing changes, and where something does.

use stats::change_points;

use crate::noise::autoregressive;
use crate::page::{Section, Table};
use crate::sets::percent;

/// Figures that never change, a cell.
const UNCHANGED: u32 = 1_000;
/// Figures that change, a cell.
const CHANGED: u32 = 250;
const RUNS: [usize; 3] = [10, 20, 40];
/// How a run resembles the one before.
const RHOS: [f64; 2] = [0.0, 0.3];
/// Shifts in standard deviations of a run.
const SHIFTS: [f64; 4] = [1.0, 2.0, 3.0, 4.0];
/// Standard deviation of a run, as a share.
const DEVIATION: f64 = 0.02;

pub(crate) fn section() -> Section {
    Section {
        about: "`prony history` looks for change points in each figure by itself and claims one where chance makes one as clear in at most \
                1 % of histories; of a hundred figures that never change, one is to be expected to have a change point, and a report tells \
                how many are of as many figures as it follows. It does not correct for their number: the test compares a history with 999 \
                orders of its runs, so that no p-value is below 0.001, and of ten runs that changed in the middle two of 252 orders are as \
                clear, 0.008. Holm's correction of 1 % asks for 0.001 of the clearest of ten figures and for less of more figures, which no \
                history could give, so that nothing would ever be found. Runs scatter normally by 2 % and are taken to be independent; \
                where one resembles the one before by rho, more are false.",
        tables: vec![alarms(), found()],
    }
}

fn alarms() -> Table {
    let row = |runs: usize| {
        let cell = |rho: f64| {
            let claimed = percent(&format!("history, {runs}, {rho}"), UNCHANGED, |random| {
                let values = autoregressive(random, runs, rho, DEVIATION);
                change_points(&values, 1).is_some_and(|points| !points.is_empty())
            });
            format!("{claimed:.1}")
        };
        std::iter::once(runs.to_string()).chain(RHOS.map(cell)).collect()
    };
    Table {
        caption: format!("Per cent of {UNCHANGED} figures that never change and are given a change point."),
        head: std::iter::once("runs".to_owned()).chain(RHOS.map(|rho| format!("rho {rho}"))).collect(),
        rows: RUNS.into_iter().map(row).collect(),
    }
}

fn found() -> Table {
    let row = |(runs, rho): (usize, f64)| {
        let cell = |shift: f64| {
            let found = percent(&format!("history, {runs}, {rho}, shift {shift}"), CHANGED, |random| {
                let mut values = autoregressive(random, runs, rho, DEVIATION);
                values[runs / 2..].iter_mut().for_each(|value| *value += DEVIATION * shift);
                let near = |at: usize| at.abs_diff(runs / 2) <= 1;
                change_points(&values, 1).is_some_and(|points| points.iter().any(|point| near(point.at)))
            });
            format!("{found:.0}")
        };
        [runs.to_string(), rho.to_string()].into_iter().chain(SHIFTS.map(cell)).collect()
    };
    let head = ["runs", "rho"].map(str::to_owned).into_iter();
    Table {
        caption: format!(
            "Per cent of {CHANGED} figures that shift in the middle, by so many standard deviations of a run, whose change point is found \
             there or one run beside."
        ),
        head: head.chain(SHIFTS.map(|shift| format!("shift {shift}"))).collect(),
        rows: RHOS.iter().flat_map(|&rho| RUNS.map(|runs| (runs, rho))).map(row).collect(),
    }
}
