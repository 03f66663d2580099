//! Change points of a history: where nothing changes, and where something does.

use stats::{
    Better, Course, HistoryShape, SMALLEST_EFFECT, SinceVerdict, change_points, history_resemblance,
    history_shape, history_since,
};

use crate::noise::autoregressive;
use crate::page::{Section, Table};
use crate::sets::{Random, each, percent};

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
        about: "`prony history` looks for change points in each figure separately. It claims a change point if chance \
            makes an equally clear change point in at most 1% of histories. Among a hundred figures that never \
            change, expect one with a change point. The report states how many of the figures that it follows have a \
            change point. prony does not correct for the number of figures. The test compares a history with 999 \
            random orders of its runs, so no p-value is below 0.001. If a history of ten runs changes in the middle, \
            two of the 252 orders are equally clear (p = 0.008). Holm's correction at 1% requires p <= 0.001 for the \
            clearest of ten figures, and a smaller p-value for more figures. No history could give such a p-value, \
            so prony would never find a change point. Runs are normally distributed with a standard deviation of 2% \
            unless a table says otherwise. The test assumes that the runs are independent. If each run has \
            correlation rho with the previous run, more change points are false. A warning then reports the \
            correlation.",
        tables: vec![alarms(), found(), shapes(), resembling()],
    }
}

pub(crate) fn watched_section() -> Section {
    Section {
        about: "prony judges a history after each run, so each new run is another look. The rules for calling a figure \
            worse than the baseline are stricter than those for a change point. prony counts runs that resemble each \
            other as a smaller number of independent runs. It calculates this number from the correlation of \
            neighboring runs within the segments, and from the standard error of this correlation. prony calls a \
            figure worse only if chance makes an equally large change in at most 0.2% of looks. A change of 3% or \
            more is relevant.",
        tables: vec![watched(), delays()],
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
        caption: format!(
            "Percentage of {UNCHANGED} figures for which prony claims a change point, although the figures never \
            change."
        ),
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
            "Percentage of {CHANGED} figures for which prony claims a change point at the true shift or one run away. \
                Each figure shifts in the middle of its history. The columns give the shift in standard deviations of a \
                run."
        ),
        head: head.chain(SHIFTS.map(|shift| format!("shift {shift}"))).collect(),
        rows: RHOS.iter().flat_map(|&rho| RUNS.map(|runs| (runs, rho))).map(row).collect(),
    }
}

/// Histories that are watched, a cell.
const WATCHED: u32 = 150;
/// Runs of the first and of the last look.
const LOOKS: [usize; 2] = [10, 60];
/// Place of the baseline.
const BASELINE: usize = 4;

fn shape(values: &[f64]) -> HistoryShape {
    history_shape(values, 1).unwrap_or_default()
}

fn since(values: &[f64], shape: &HistoryShape) -> SinceVerdict {
    history_since(values, shape, BASELINE, SMALLEST_EFFECT, Better::Higher).verdict
}

/// Histories that never change, looked at after each run: what is said at any look.
fn watched() -> Table {
    const ROWS: [(f64, f64); 5] = [(0.0, 0.03), (0.0, 0.1), (0.3, 0.03), (0.5, 0.03), (0.5, 0.1)];
    let row = |(rho, deviation): (f64, f64)| {
        let all = each(&format!("history, watched, {rho}, {deviation}"), WATCHED, |random| {
            let values = autoregressive(random, LOOKS[1], rho, deviation);
            let mut ever = [false; 4];
            for runs in LOOKS[0]..=LOOKS[1] {
                let shape = shape(&values[..runs]);
                let verdict = since(&values[..runs], &shape);
                ever[0] |= verdict == SinceVerdict::Regressed;
                ever[1] |= verdict == SinceVerdict::NotShown;
                ever[2] |= shape.course != Course::Level;
                ever[3] |= !shape.spikes.is_empty();
            }
            ever
        });
        let share = |of: usize| {
            format!("{:.1}", 100.0 * all.iter().filter(|ever| ever[of]).count() as f64 / all.len() as f64)
        };
        [rho.to_string(), format!("{:.0}%", deviation * 100.0)].into_iter().chain((0..4).map(share)).collect()
    };
    let head =
        ["rho", "scatter", "worse", "may be worse, not shown", "a step, drift or two states", "a lone spike"];
    Table {
        caption: format!(
            "Percentage of {WATCHED} figures that get this verdict at least once, although the figures never change. prony judges \
             the figures after each run from the {}th to the {}th. The baseline is the {}th run.",
            LOOKS[0],
            LOOKS[1],
            BASELINE + 1
        ),
        head: head.map(str::to_owned).into(),
        rows: ROWS.into_iter().map(row).collect(),
    }
}

/// Histories with a step that is watched, a cell.
const STEPPED: u32 = 80;

/// Runs after a step of 30 runs until it is called worse.
fn delays() -> Table {
    const ROWS: [(f64, f64); 4] = [(0.0, 0.1), (0.0, 0.05), (0.5, 0.1), (0.5, 0.2)];
    const AFTER: [usize; 5] = [3, 4, 6, 10, 20];
    let row = |(rho, step): (f64, f64)| {
        let delays = each(&format!("history, delay, {rho}, {step}"), STEPPED, |random| {
            let mut values = autoregressive(random, 50, rho, 0.03);
            values[30..].iter_mut().for_each(|value| *value -= step);
            (33..=50).find(|&runs| since(&values[..runs], &shape(&values[..runs])) == SinceVerdict::Regressed)
        });
        let within = |runs: usize| {
            let found = delays.iter().flatten().filter(|found| **found <= 30 + runs).count();
            format!("{:.0}", 100.0 * found as f64 / delays.len() as f64)
        };
        [rho.to_string(), format!("{:.0}%", step * 100.0)].into_iter().chain(AFTER.map(within)).collect()
    };
    let head = ["rho", "step"].map(str::to_owned).into_iter();
    Table {
        caption: format!(
            "Percentage of {STEPPED} figures that prony calls worse than the baseline within the given number of runs \
                after a step. The step follows 30 runs that scatter by 3%. prony recognizes a step only if at least \
                three runs follow it."
        ),
        head: head.chain(AFTER.map(|runs| format!("{runs} runs"))).collect(),
        rows: ROWS.into_iter().map(row).collect(),
    }
}

/// A true course, in standard deviations of a run.
type TrueCourse = (&'static str, fn(usize, &mut Random) -> f64);

/// What each true shape is taken for. The shapes are those of Apache Otava's tests.
fn shapes() -> Table {
    const RUNS: usize = 40;
    const SHAPES: [TrueCourse; 7] = [
        ("level", |_, _| 0.0),
        ("a step of 4", |at, _| if at < 20 { 0.0 } else { 4.0 }),
        ("two steps of 4, up and back", |at, _| if (15..25).contains(&at) { 4.0 } else { 0.0 }),
        ("two steps of 4, down and down", |at, _| -4.0 * f64::from(u8::from(at >= 13) + u8::from(at >= 26))),
        ("a drift of 6 in all", |at, _| 6.0 * at as f64 / RUNS as f64),
        ("a lone spike of 8", |at, _| if at == 17 { 8.0 } else { 0.0 }),
        (
            "two states 8 apart, at random",
            |_, random| if crate::noise::below(random, 2) == 0 { 0.0 } else { 8.0 },
        ),
    ];
    let row = |(name, course): TrueCourse| {
        let all = each(&format!("history, shape, {name}"), CHANGED, |random| {
            let noise = autoregressive(random, RUNS, 0.0, DEVIATION);
            let values: Vec<f64> =
                noise.iter().enumerate().map(|(at, value)| value + DEVIATION * course(at, random)).collect();
            shape(&values)
        });
        let share = |is: fn(&HistoryShape) -> bool| {
            format!("{:.0}", 100.0 * all.iter().filter(|shape| is(shape)).count() as f64 / all.len() as f64)
        };
        let shares = [
            share(|shape| shape.course == Course::Level),
            share(|shape| matches!(shape.course, Course::Steps { .. })),
            share(|shape| matches!(shape.course, Course::Drift { .. })),
            share(|shape| matches!(shape.course, Course::TwoStates { .. })),
            share(|shape| !shape.spikes.is_empty()),
        ];
        std::iter::once(name.to_owned()).chain(shares).collect()
    };
    let head = [
        "true shape, in standard deviations of a run",
        "level",
        "steps",
        "drift",
        "two states",
        "a lone spike",
    ];
    Table {
        caption: format!(
            "Percentage of {CHANGED} figures for which prony reports each shape. Each figure has {RUNS} independent \
                runs. A spike is reported in addition to the shape."
        ),
        head: head.map(str::to_owned).into(),
        rows: SHAPES.into_iter().map(row).collect(),
    }
}

/// Whether resemblance is told, and how large it is said to be.
fn resembling() -> Table {
    const RHOS: [f64; 4] = [0.0, 0.3, 0.5, 0.8];
    let row = |runs: usize| {
        let cell = |rho: f64| {
            let all = each(&format!("history, resemblance, {runs}, {rho}"), UNCHANGED, |random| {
                let values = autoregressive(random, runs, rho, DEVIATION);
                history_resemblance(&values, &shape(&values), 1)
            });
            let told = all.iter().flatten().filter(|found| found.is_shown()).count();
            let mut seen: Vec<f64> = all.iter().flatten().map(|found| found.correlation).collect();
            seen.sort_by(f64::total_cmp);
            format!("{:.1} / {:.1}", 100.0 * told as f64 / all.len() as f64, seen[seen.len() / 2])
        };
        std::iter::once(runs.to_string()).chain(RHOS.map(cell)).collect()
    };
    Table {
        caption: format!(
            "No figure changes. The first number is the percentage of {UNCHANGED} figures with a warning that runs \
                resemble previous runs. The second is the median estimated correlation within the segments."
        ),
        head: std::iter::once("runs".to_owned()).chain(RHOS.map(|rho| format!("rho {rho}"))).collect(),
        rows: [20, 30, 60].into_iter().map(row).collect(),
    }
}
