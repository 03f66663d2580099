//! Ratios of paired runs, and the lines that are printed.

use super::tool::{Measurement, Tool};

/// A figure of which the median ratio of prony to fio is judged.
pub(super) struct Goal {
    name: &'static str,
    figure: fn(&Measurement) -> Option<f64>,
    bound: Bound,
}

#[derive(Clone, Copy)]
enum Bound {
    AtLeastOne,
    AtMostOne,
    /// Printed, not judged.
    None,
}

impl Goal {
    /// Of an engine that is compared with fio's. The load thread's time is what an I/O costs; the process's time
    /// also has start and report in it, which a long run makes small.
    pub(super) const ENGINE: [Self; 3] = [
        Self { name: "I/Os per second", figure: |run| Some(run.iops), bound: Bound::AtLeastOne },
        Self {
            name: "CPU per I/O, process",
            figure: |run| Some(run.process_cpu_us),
            bound: Bound::AtMostOne,
        },
        Self { name: "CPU per I/O, load thread", figure: |run| run.thread_cpu_us, bound: Bound::None },
    ];
}

/// One run.
pub(super) fn line(tool: Tool, number: u32, run: &Measurement) -> String {
    let thread =
        run.thread_cpu_us.map_or_else(|| "unknown".to_owned(), |thread_cpu_us| format!("{thread_cpu_us:.3}"));
    format!(
        "  {number:>3} {:<6}{:>12.1} I/Os per second   CPU µs per I/O: process {:.3}, load thread {thread}",
        tool.name(),
        run.iops,
        run.process_cpu_us
    )
}

/// Median, least and greatest ratio of prony to fio, and whether the median is what it should be.
pub(super) fn judged(goal: &Goal, pairs: &[(Measurement, Measurement)]) -> String {
    let ratios: Option<Vec<f64>> =
        pairs.iter().map(|(fio, prony)| Some((goal.figure)(prony)? / (goal.figure)(fio)?)).collect();
    let Some(spread) = ratios.and_then(Spread::of) else {
        return format!("  {:<26} unknown: not every run reported it", goal.name);
    };
    let verdict = match goal.bound {
        Bound::AtLeastOne => format!("goal ≥ 1.00: {}", reached(spread.median >= 1.0)),
        Bound::AtMostOne => format!("goal ≤ 1.00: {}", reached(spread.median <= 1.0)),
        Bound::None => String::new(),
    };
    let Spread { median, min, max } = spread;
    format!("  {:<26} prony/fio {median:.3} ({min:.3} – {max:.3})  {verdict}", goal.name)
        .trim_end()
        .to_owned()
}

/// Median, least and greatest of some values, and whether the median is at least what it should be.
pub(super) fn at_least(name: &str, values: Vec<f64>, goal: f64) -> String {
    let Some(Spread { median, min, max }) = Spread::of(values) else {
        return format!("  {name:<26} unknown: no runs");
    };
    format!("  {name:<26} {median:.3} ({min:.3} – {max:.3})  goal ≥ {goal}: {}", reached(median >= goal))
}

/// Median, least and greatest of some values, which are not judged.
pub(super) fn told(name: &str, values: Vec<f64>) -> String {
    match Spread::of(values) {
        Some(Spread { median, min, max }) => format!("  {name:<26} {median:.3} ({min:.3} – {max:.3})"),
        None => format!("  {name:<26} unknown: no runs"),
    }
}

/// Median, least and greatest of some values, and whether the median is at most what it should be.
pub(super) fn at_most(name: &str, values: Vec<f64>, goal: f64) -> String {
    let Some(Spread { median, min, max }) = Spread::of(values) else {
        return format!("  {name:<26} unknown: no runs");
    };
    format!("  {name:<26} {median:.3} ({min:.3} – {max:.3})  goal ≤ {goal}: {}", reached(median <= goal))
}

/// How far the measured rates are from the true one.
pub(super) fn rate_error(tool: Tool, runs: &[Measurement], per_s: f64, tolerance_per_cent: f64) -> String {
    let errors = runs.iter().map(|run| (run.iops / per_s - 1.0) * 100.0).collect();
    let Some(Spread { median, min, max }) = Spread::of(errors) else {
        return format!("  {:<6} unknown: no runs", tool.name());
    };
    let kept = min.abs().max(max.abs()) <= tolerance_per_cent;
    format!(
        "  {:<6} off by {median:+.2}% ({min:+.2} – {max:+.2})  goal within {tolerance_per_cent}% in every run: {}",
        tool.name(),
        reached(kept)
    )
}

fn reached(reached: bool) -> &'static str {
    if reached { "reached" } else { "MISSED" }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    median: f64,
    min: f64,
    max: f64,
}

impl Spread {
    /// None for no values.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let (below, above) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
        Some(Self { median: f64::midpoint(below, above), min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(iops: f64, process_cpu_us: f64) -> Measurement {
        Measurement { iops, process_cpu_us, thread_cpu_us: None }
    }

    #[test]
    fn the_median_of_the_pairs_is_judged() {
        let pairs = [
            (run(100.0, 4.0), run(90.0, 4.0)),
            (run(100.0, 4.0), run(120.0, 2.0)),
            (run(50.0, 4.0), run(51.0, 5.0)),
        ];
        let [iops, process, thread] = &Goal::ENGINE;
        assert_eq!(
            judged(iops, &pairs),
            "  I/Os per second            prony/fio 1.020 (0.900 – 1.200)  goal ≥ 1.00: reached"
        );
        assert!(judged(process, &pairs).contains("1.000 (0.500 – 1.250)  goal ≤ 1.00: reached"));
        assert!(judged(thread, &pairs).contains("unknown"));
    }

    #[test]
    fn a_goal_that_is_missed_is_said_to_be() {
        let pairs = [(run(100.0, 4.0), run(99.0, 4.1))];
        let [iops, process, _] = &Goal::ENGINE;
        assert!(judged(iops, &pairs).ends_with("MISSED") && judged(process, &pairs).ends_with("MISSED"));
    }

    #[test]
    fn one_run_off_the_rate_misses_it() {
        let text = rate_error(Tool::Prony, &[run(500.0, 1.0), run(503.0, 1.0)], 500.0, 0.5);
        assert_eq!(text, "  prony  off by +0.30% (+0.00 – +0.60)  goal within 0.5% in every run: MISSED");
        assert!(rate_error(Tool::Prony, &[run(501.0, 1.0)], 500.0, 0.5).ends_with("reached"));
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_ones() {
        assert_eq!(Spread::of(vec![4.0, 1.0, 3.0, 2.0]).map(|spread| spread.median), Some(2.5));
        assert_eq!(Spread::of(Vec::new()), None);
    }
}
