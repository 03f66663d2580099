//! The gain of more CPUs, step by step: a sentence and a table.

use stats::ScalingStep;

use super::{AxisSeries, ComparedMetric, StudyComparison, axis_words};
use crate::format::{self, figure, plain};
use crate::table::{Row, Table, column, dash, words};
use crate::verdict::{Level, Verdict};

/// Confidence of an interval that needs no word.
const USUAL_CONFIDENCE: f64 = 0.95;

/// `cpus: doubling the CPUs multiplies orders per minute by 1.90 (95% CI 1.84–1.97) from 2 to 4 CPUs, by 1.80 (…) from 4 to 8
/// CPUs`.
pub(super) fn finding(metric: &ComparedMetric, words: &str, series: &AxisSeries) -> Option<Verdict> {
    let step = |step: &ScalingStep| {
        format!(
            "by {} ({}) from {} to {} CPUs",
            figure(step.per_doubling(step.ratio)),
            per_doubling(step),
            plain(step.from),
            plain(step.to)
        )
    };
    let steps: Vec<String> = series.scaling.iter().map(step).collect();
    let fact = format!("doubling the CPUs multiplies {} {}", metric.says, steps.join(", "));
    (!steps.is_empty()).then(|| Verdict::new(Level::Finding, "scaling", fact).about(words))
}

/// The interval of a doubling, and its confidence if that is not 95%.
fn per_doubling(step: &ScalingStep) -> String {
    let Some(effect) = &step.effect else { return "one block, no interval".to_owned() };
    let [low, high] = [effect.ratio.low, effect.ratio.high].map(|ratio| step.per_doubling(ratio));
    let range = format::range(low, high);
    match effect.confidence < USUAL_CONFIDENCE {
        true => format!("{} CI {range}", format::per_cent(effect.confidence)),
        false => format!("95% CI {range}"),
    }
}

/// Each step of each axis of processors a row; none where there is no such axis.
pub(super) fn table(comparison: &StudyComparison) -> Option<Table> {
    let columns = vec![
        words("axis", "what is varied", 2),
        words("setting", "levels of the other axes", 1),
        column("from", "CPUs", 0),
        column("to", "CPUs", 0),
        column("times", "throughput with more CPUs divided by throughput with fewer", 0),
        column("interval", "95% unless stated otherwise", 1),
        column("per doubling", "the same ratio for twice as many CPUs; 2 is linear scaling", 0),
        column(
            "efficiency",
            "ratio of the throughputs divided by the ratio of the CPUs; 100% is linear scaling",
            0,
        ),
        column("blocks", "blocks that measured both", 3),
    ];
    let rows = comparison.axes.iter().flat_map(|axis| {
        let of_series = move |series: &AxisSeries| {
            let row = |step: &ScalingStep| row(&axis_words(&axis.name), &series.setting, step);
            series.scaling.iter().map(row).collect::<Vec<Row>>()
        };
        axis.series.iter().flat_map(of_series)
    });
    let table = Table::of("Scaling over CPUs", columns, rows);
    table.map(|table| table.without_empty_columns(&["setting", "interval"]))
}

fn row(axis: &str, setting: &str, step: &ScalingStep) -> Row {
    let interval = step.effect.as_ref().map(|effect| {
        let of = if effect.confidence < USUAL_CONFIDENCE {
            format!(" ({})", format::per_cent(effect.confidence))
        } else {
            String::new()
        };
        format!("{}{of}", format::range(effect.ratio.low, effect.ratio.high))
    });
    Row::of(vec![
        axis.to_owned(),
        if setting.is_empty() { format::UNKNOWN.to_owned() } else { setting.to_owned() },
        plain(step.from),
        plain(step.to),
        figure(step.ratio),
        dash(interval),
        figure(step.per_doubling(step.ratio)),
        format::per_cent(step.efficiency(step.ratio)),
        step.blocks.to_string(),
    ])
}

#[cfg(test)]
mod tests {
    use crate::fixture::Designed;
    use crate::report::Report;

    fn over(levels: &[&str], throughput: impl Fn(f64) -> f64) -> Report {
        let study = Designed::blocks(7)
            .axis("cpus", levels, levels[0])
            .metric("iops")
            .study(|at| Some(at.reads(10_000.0 * throughput(at.number_of("cpus")) * at.noise(0.002), 100.0)));
        Report::of(&study)
    }

    fn sentence(report: &Report, rule: &str) -> String {
        let found = report.verdicts.iter().find(|verdict| verdict.rule == rule);
        found.map(|verdict| verdict.sentence().clone()).unwrap_or_default()
    }

    #[test]
    fn steps_of_processors_are_told_and_are_a_table_in_text_and_page() {
        // The published steps of one, two and four boards of two processors.
        let boards = |n: f64| {
            if n < 3.0 {
                1.0
            } else if n < 5.0 {
                1.9
            } else {
                1.9 * 1.8
            }
        };
        let report = over(&["2", "4", "8"], boards);
        let told = sentence(&report, "scaling");
        assert!(
            told.starts_with(
                "cpus: doubling the CPUs multiplies I/Os per second by 1.90 (95% CI 1.90–1.90) from 2 to 4 CPUs"
            ),
            "{told}"
        );
        assert!(told.contains(", by 1.80 (95% CI 1.80–1.80) from 4 to 8 CPUs"), "{told}");
        let text = report.text(Some(200));
        for part in ["Scaling over CPUs", "per doubling", "95%", "90%"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(report.html().contains("Scaling over CPUs"));
        let json = serde_json::to_value(&report.comparison).unwrap();
        assert_eq!(json["axes"][0]["series"][0]["scaling"].as_array().unwrap().len(), 2);
        let series = &report.comparison.as_ref().unwrap().axes[0].series[0];
        assert!(series.no_scalability.as_ref().unwrap().contains("(required: 6)"));
    }

    #[test]
    fn parts_of_a_processor_are_counted_in_the_smallest_of_them() {
        let law = |cpus: f64| {
            let n = cpus / 0.25;
            n / (1.0 + 0.05 * (n - 1.0) + 0.002 * n * (n - 1.0))
        };
        let report = over(&["0.25", "0.5", "0.75", "1", "1.5", "2"], law);
        let told = sentence(&report, "scalability");
        let series = &report.comparison.as_ref().unwrap().axes[0].series[0];
        assert_eq!((series.scalability_unit, series.no_scalability.as_deref()), (0.25, None));
        assert!(told.contains("scales (in units of 0.25 CPU) with contention σ 0.0"), "{told}");
        let sigma = series.scalability.unwrap().sigma;
        assert!((sigma.value - 0.05).abs() < 0.005, "the one that was put in, and not {sigma:?}");
        assert!(sentence(&report, "scaling").contains("from 0.25 to 0.5"));
    }
}
