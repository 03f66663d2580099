//! The tables of a study that compares: a combination a row, its other metrics, and its thresholds.

use record::Metric;

use crate::change::{Change, signed_per_cent, told_or_dash};
use crate::comparison::{
    CONFIGURATION, ComparedAxis, ComparedMetric, Gain, Point, PointValues, StudyComparison, ThresholdResult,
    axis_words, threshold,
};
use crate::format::{self, figure_or_dash};
use crate::metrics;
use crate::table::{Column, Row, Table, column, dash, words};

/// Every combination: its mean, what it gains along each axis with the verdict, and what was published.
pub(crate) fn combinations(comparison: &StudyComparison) -> Table {
    let metric = &comparison.metric;
    let several_blocks = comparison.blocks.len() > 1;
    let mut columns = vec![
        words("combination", "levels of the axes", 0),
        Column { meaning: metric.says, ..Column::number(heading(metric, several_blocks)) },
    ];
    let several = comparison.axes.len() > 1;
    for axis in comparison.axes.iter().filter(|_| comparison.not_compared.is_none()) {
        let of = |what: &str| {
            if several { format!("{what}, {}", axis_words(&axis.name)) } else { what.to_owned() }
        };
        let meaning = "change against the reference of this axis, with its interval (95% unless stated); positive is better";
        columns.push(Column { meaning, ..Column::number(of("gain")) });
        columns.push(Column::words(of("verdict")));
    }
    let published =
        [format!("published {}", metric.unit), PUBLISHED_GAIN.to_owned(), PUBLISHED_WORDS.to_owned()];
    columns.extend(published.iter().take(2).map(|head| Column { spare: 1, ..Column::number(head.clone()) }));
    columns.push(Column { spare: 4, ..Column::words(published[2].clone()) });
    columns.push(column("95%", "95% CI of the mean over the blocks", 3));
    columns.push(column("blocks", "blocks with a complete trial", 2));
    let rows = comparison.points.iter().map(|point| Row::of(cells(comparison, point)));
    let title = format!("{} of each combination", sentence_case(metric.says));
    Table { title, columns, rows: rows.collect() }
        .without_empty_columns(&published.each_ref().map(String::as_str))
}

const PUBLISHED_GAIN: &str = "published gain";
const PUBLISHED_WORDS: &str = "published in words";

fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// `records/s`; of a unit that does not say what it is of, the name of the metric, which ends with its unit.
fn head(name: &str, unit: &str) -> String {
    if unit.contains('/') { unit.to_owned() } else { name.to_owned() }
}

/// The head of the metric; of several blocks a percentile is the mean of theirs.
fn heading(metric: &ComparedMetric, several_blocks: bool) -> String {
    let head = head(metric.name, metric.unit);
    if several_blocks && metric.percentile().is_some() { format!("mean {head}") } else { head }
}

fn cells(comparison: &StudyComparison, point: &Point) -> Vec<String> {
    let values = &point.values;
    let measured = values.by_block.iter().flatten().count();
    let mut cells = vec![name(point), mean(values)];
    for axis in comparison.axes.iter().filter(|_| comparison.not_compared.is_none()) {
        cells.extend(gain_cells(values, axis));
    }
    let published = values.published.as_ref();
    cells.push(figure_or_dash(published.and_then(|published| published.value)));
    cells
        .push(published.and_then(|p| p.gain_pct).map_or_else(|| format::UNKNOWN.to_owned(), signed_per_cent));
    cells.push(published.and_then(|p| p.says.clone()).unwrap_or_else(|| format::UNKNOWN.to_owned()));
    cells.push(dash(threshold::ends(values).map(format::open_range)));
    cells.push(format!("{measured} of {}", values.by_block.len()));
    cells
}

fn name(point: &Point) -> String {
    if point.is_reference { format!("{} (reference)", point.label) } else { point.label.clone() }
}

/// The mean; of rates that searches found, where it lies.
fn mean(values: &PointValues) -> String {
    values.sustained.map_or_else(|| figure_or_dash(values.mean), |range| range.words())
}

fn gain_cells(values: &PointValues, axis: &ComparedAxis) -> [String; 2] {
    match values.gains.iter().find(|gain| gain.axis == axis.name) {
        Some(gain) => [change(gain), gain.words.clone()],
        None => [String::new(), if values.mean.is_some() { "reference".to_owned() } else { String::new() }],
    }
}

/// `+96% (+91 to +101%)`.
pub(crate) fn change(gain: &Gain) -> String {
    told_or_dash(gain.change())
}

/// The other metrics of each combination, each with its gain where it is compared along one axis. None without any.
pub(crate) fn other_metrics(comparison: &StudyComparison) -> Option<Table> {
    let mut columns = vec![words("combination", "levels of the axes", 0)];
    let heads = comparison.others.iter().enumerate().map(|(index, other)| Column {
        meaning: other.metric.says,
        spare: u8::try_from(index).unwrap_or(u8::MAX),
        ..Column::number(other.metric.name)
    });
    columns.extend(heads);
    let row = |(index, point): (usize, &Point)| {
        let values = comparison.others.iter().map(|other| other_cell(&other.points[index]));
        Row::of([name(point)].into_iter().chain(values).collect())
    };
    let rows = comparison.points.iter().enumerate().map(row).collect();
    let title = if comparison.not_compared.is_none() && !comparison.axes.is_empty() {
        "Other metrics: mean over the blocks, and gain over the reference (positive is better; * better or worse)"
    } else {
        "Other metrics: mean over the blocks"
    };
    (!comparison.others.is_empty()).then(|| Table { title: title.to_owned(), columns, rows })
}

/// How often any star of a table is false where nothing differs; none of a table whose stars are of one metric. The levels of a
/// metric are corrected for their number, and metrics are not: corrected for both, seven blocks would show next to nothing.
pub(crate) fn stars(metrics: usize, what: &str) -> Option<String> {
    let any = 100.0 * (1.0 - 0.95f64.powi(i32::try_from(metrics).unwrap_or(i32::MAX)));
    (metrics > 1).then(|| {
        format!(
            "Stars are corrected for the number of levels, not for the {metrics} {what}. If nothing differs, up to {any:.0} of 100 \
             studies have a false star here. A star is only a hint. Verdicts are given only for the study's own metric"
        )
    })
}

/// Metrics of the other ones that may have a star.
pub(crate) fn starred_metrics(comparison: &StudyComparison) -> usize {
    let has_stars = |values: &PointValues| matches!(values.gains.as_slice(), [gain] if gain.judged.is_some_and(|judged| judged.comparison != stats::Comparison::Descriptive));
    comparison.others.iter().filter(|other| other.points.iter().any(has_stars)).count()
}

fn other_cell(values: &PointValues) -> String {
    let figure = gained(values, mean(values));
    match published_words(values) {
        Some(published) => format!("{figure} ({published})"),
        None => figure,
    }
}

/// `published 29.1`, or what was published in place of a figure.
fn published_words(values: &PointValues) -> Option<String> {
    let published = values.published.as_ref()?;
    let figure = published.value.map(format::figure);
    let gain = published.gain_pct.map(|gain| format!("gain {}", signed_per_cent(gain)));
    let told = figure.or(gain).or_else(|| published.says.clone())?;
    Some(format!("published {told}"))
}

/// The mean with the gain over the only reference.
fn gained(values: &PointValues, mean: String) -> String {
    let [gain] = values.gains.as_slice() else { return mean };
    let shown = gain.judged.is_some_and(|judged| {
        matches!(judged.comparison, stats::Comparison::Better | stats::Comparison::Worse)
    });
    let mark = if shown { "*" } else { "" };
    match gain.change().map(|change| Change { ends: None, ..change }) {
        Some(change) => format!("{mean} ({}{mark})", change.told()),
        None => mean,
    }
}

/// What had to hold. None without any.
pub(crate) fn thresholds(judged: &[ThresholdResult]) -> Option<Table> {
    let columns = vec![Column::words("threshold"), Column::words("outcome"), Column::words("figures")];
    let row = |threshold: &ThresholdResult| {
        Row::of(vec![threshold.text.clone(), threshold.outcome.word().to_owned(), threshold.why.clone()])
    };
    let rows: Vec<Row> = judged.iter().map(row).collect();
    (!rows.is_empty()).then(|| Table { title: "Thresholds".to_owned(), columns, rows })
}

/// Where the published figures come from and how they differ, a line each.
pub(crate) fn published_notes(comparison: &StudyComparison) -> Vec<String> {
    let Some(published) = &comparison.published else { return Vec::new() };
    let differs = published
        .differs
        .as_ref()
        .map(|differs| format!("The published study differs: {}", differs.trim_end_matches('.')));
    let says = published.says.iter().map(|says| format!("Published: {says}"));
    says.chain(differs).chain([format!("Source: {}", published.source)]).collect()
}

/// What a rate is that a search found.
const SEARCHED: &str = ", from the confirmed rate to below the failed rate";
const SEARCHED_IN_BLOCKS: &str = ", from the mean of the confirmed rates (used for gains and intervals) to below the mean of the failed rates";

/// What the columns mean.
pub(crate) fn legend(comparison: &StudyComparison) -> String {
    let metric = &comparison.metric;
    let less = Metric::named(metric.name).is_some_and(|m| m.better == record::Direction::Lower);
    let sense = if less { ", less is better, so a gain is a decrease" } else { "" };
    let axes: Vec<String> = comparison
        .axes
        .iter()
        .map(|axis| {
            let mut references: Vec<&str> =
                axis.series.iter().map(|series| series.reference.as_str()).collect();
            references.sort_unstable();
            references.dedup();
            let references = references.join(" or ");
            if axis.name == CONFIGURATION {
                references
            } else {
                format!("{} {references}", axis_words(&axis.name))
            }
        })
        .collect();
    let gain = format!(
        ". Gain: change against {} in the same block, positive is better, with the interval of the paired blocks{}",
        axes.join(", or against "),
        if comparison.blocks.len() < stats::BLOCKS_MIN {
            " (its confidence is low, because there are few blocks)"
        } else {
            " (95% unless stated)"
        }
    );
    let compares = comparison.not_compared.is_none() && !comparison.axes.is_empty();
    let gain = if compares { gain } else { String::new() };
    let several_blocks = comparison.blocks.len() > 1;
    let head = heading(metric, several_blocks);
    let mean = match metric.percentile() {
        Some(percentile) if several_blocks => format!(", here the mean of {percentile} over the blocks"),
        _ => String::new(),
    };
    let of = match metric.percentile() {
        Some(_) if !several_blocks => "CI of the percentile of this trial",
        _ => "CI of the mean over the blocks",
    };
    let searched = match metric.name == metrics::SUSTAINED {
        true if several_blocks => SEARCHED_IN_BLOCKS,
        true => SEARCHED,
        false => "",
    };
    format!("{head}: {}{mean}{searched}{sense}. 95%: {of}{gain}", metric.says)
}
