//! The head of a study's page: what each axis gains at most, and the chart that compares the levels: a grid of two axes, else the chart
//! of the first one.

use record::Direction;

use super::{ComparedAxis, Gain, Point, StudyComparison, axis_words, chart};
use crate::chart::Chart;
use crate::chart::heat::{Cell, Heat};
use crate::format::{self, figure};
use crate::lead::{Lead, Tile, Tone};

/// Levels of an axis for which a grid has room.
const ROWS_MOST: usize = 10;
const COLUMNS_MOST: usize = 5;

pub(crate) fn of(compared: &StudyComparison) -> Lead {
    let tiles = compared.axes.iter().filter_map(|axis| most(compared, axis)).collect();
    let first = || chart::comparison(compared).into_iter().flat_map(|axis| axis.charts).next();
    Lead { tiles, chart: grid(compared).or_else(first) }
}

/// The largest gain along an axis, where the others stay at their references.
fn most(compared: &StudyComparison, axis: &ComparedAxis) -> Option<Tile> {
    let gains = axis.series.iter().filter(|series| series.at_reference).flat_map(|series| {
        let points = series.points.iter().flatten().map(|&index| &compared.points[index]);
        points.filter_map(move |point| Some((series, point, chart::gain_of(axis, &point.values)?)))
    });
    let pct = |gain: &Gain| gain.gain_pct.unwrap_or(f64::NEG_INFINITY);
    let (series, point, gain) = gains
        .filter(|(.., gain)| gain.gain_pct.is_some() && !gain.is_of_held_rate)
        .max_by(|one, other| pct(one.2).total_cmp(&pct(other.2)))?;
    let level = point.levels.get(&axis.name).unwrap_or(&point.configuration);
    let at = if series.setting.is_empty() { String::new() } else { format!(", {}", series.setting) };
    let label = format!("{} {level} instead of {}{at}", axis_words(&axis.name), series.reference);
    let tone = match gain.judged.map(|judged| judged.comparison) {
        Some(stats::Comparison::Better) => Tone::Good,
        Some(stats::Comparison::Worse) => Tone::Bad,
        _ => Tone::Plain,
    };
    let change = gain.change()?.parts();
    let beside = change.interval.iter().chain([&gain.words]).cloned().collect::<Vec<String>>().join(", ");
    let unit = change.of(compared.metric.says).trim().to_owned();
    Some(Tile::new(label, change.figure(), unit).beside(beside).tone(tone))
}

/// The values over two axes; none of another number of axes, or of more levels than fit.
fn grid(compared: &StudyComparison) -> Option<Chart> {
    let [one, other] = compared.axes.as_slice() else { return None };
    let (rows, columns) = if one.levels.len() >= other.levels.len() { (one, other) } else { (other, one) };
    if compared.not_compared.is_some() || rows.levels.len() > ROWS_MOST || columns.levels.len() > COLUMNS_MOST
    {
        return None;
    }
    let at = |row: &String, column: &String| {
        let is_at = |point: &&Point| {
            point.levels.get(&rows.name) == Some(row) && point.levels.get(&columns.name) == Some(column)
        };
        compared.points.iter().find(is_at)
    };
    let means = compared.points.iter().filter_map(|point| point.values.mean);
    let best = match compared.metric.better {
        Direction::Higher => means.reduce(f64::max),
        Direction::Lower => means.reduce(f64::min),
    };
    let cell = |point: &Point| {
        let mean = point.values.mean?;
        let beside = point.values.interval.map(|e| format::range(e.low, e.high)).unwrap_or_default();
        Some(Cell { value: mean, text: figure(mean), beside, best: Some(mean) == best })
    };
    let cells: Vec<Vec<Option<Cell>>> = rows
        .levels
        .iter()
        .map(|row| columns.levels.iter().map(|column| at(row, column).and_then(cell)).collect())
        .collect();
    cells.iter().flatten().flatten().nth(1)?;
    let (metric, blocks) = (&compared.metric, compared.blocks.len());
    let heat = Heat {
        heading: format!("{}, {}", chart::name(compared), metric.unit),
        caption: match blocks {
            1 => "One block, no intervals. ★: the best mean.".to_owned(),
            _ => format!(
                "Mean over {blocks} blocks, and its 95% CI. ★: the best mean. The verdicts say which differences are certain."
            ),
        },
        rows: (axis_words(&rows.name), rows.levels.clone()),
        columns: (axis_words(&columns.name), columns.levels.clone()),
        cells,
    };
    Some(heat.chart())
}

#[cfg(test)]
mod tests {
    use crate::report::Report;
    use crate::tests::comparison::all;

    #[test]
    fn a_study_of_two_axes_is_a_grid_and_each_axis_has_its_largest_gain() {
        let reports: Vec<Report> = all().iter().map(Report::of).collect();
        let mut grids = 0;
        for compared in reports.iter().filter_map(|report| report.comparison.as_ref()) {
            let lead = super::of(compared);
            assert!(lead.tiles.len() <= compared.axes.len());
            for tile in &lead.tiles {
                assert!(!tile.figure.contains('(') && tile.label.contains(" instead of "), "{tile:?}");
            }
            let Some(chart) = super::grid(compared) else { continue };
            grids += 1;
            assert_eq!(compared.axes.len(), 2);
            let measured = compared.points.iter().filter(|point| point.values.mean.is_some()).count();
            assert_eq!(chart.svg.matches("<rect").count(), measured, "a ground for each value");
            assert_eq!(chart.svg.matches('★').count(), 1);
        }
        assert!(grids > 0, "no study of two axes among the fixtures");
    }
}
