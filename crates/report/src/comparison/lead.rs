//! The top of a study's page: the largest gain along each axis, and the chart that compares the levels. With two axes the chart is a grid,
//! otherwise the chart of the first axis.

use stats::Best;

use super::{ComparedAxis, Gain, Point, StudyComparison, axis_words, chart, sentence};
use crate::chart::Chart;
use crate::chart::heat::{Cell, Heat};
use crate::format::{self, figure};
use crate::lead::{Lead, Tile, Tone};

/// Maximum levels of the two axes of a grid.
const ROWS_MOST: usize = 10;
const COLUMNS_MOST: usize = 5;

pub(crate) fn of(compared: &StudyComparison) -> Lead {
    let gains = compared.axes.iter().filter_map(|axis| most(compared, axis));
    // Two axes have their best combination instead.
    let enough = compared.axes.iter().filter(|_| compared.axes.len() == 1).filter_map(enough);
    let tiles = best(compared).into_iter().chain(gains).chain(enough).collect();
    let first = || chart::comparison(compared).into_iter().flat_map(|axis| axis.charts).next();
    Lead { tiles, chart: grid(compared).or_else(first) }
}

/// The largest gain along an axis, with the other axes at their references.
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

/// The sweet spot along an axis of numbers, with the other axes at their references.
fn enough(axis: &ComparedAxis) -> Option<Tile> {
    let series = axis.series.iter().find(|series| series.at_reference && series.sweet_spot.is_some())?;
    let place = series.sweet_spot?;
    let level = &axis.levels[place];
    let lower = series.sweet_spot_lowest.filter(|lowest| *lowest < place);
    let lower = lower.map(|lowest| format!("; {} may do, which is not proven", axis.levels[lowest]));
    let beside = format!("higher levels gain less than 5%{}", lower.unwrap_or_default());
    Some(Tile::new(format!("Enough {}", axis_words(&axis.name)), level.clone(), "").beside(beside))
}

/// The index of the best combination, or the indexes of all that tie, and a description.
fn leaders(compared: &StudyComparison) -> (Vec<usize>, &'static str) {
    match sentence::best(compared) {
        None => (Vec::new(), "the best"),
        Some(Best::Ahead { best, .. }) => (vec![best], "the best"),
        Some(Best::NotApart(all)) => (all, "a tie, none of these is shown to be better than the others"),
        Some(Best::Few(best)) => (vec![best], "the best mean, too few blocks for a verdict"),
    }
}

/// The best combination of two axes, and the combinations that tie with it.
fn best(compared: &StudyComparison) -> Option<Tile> {
    let (places, _) = leaders(compared);
    let (&first, others) = places.split_first()?;
    let point = compared.points.get(first).filter(|_| compared.axes.len() == 2)?;
    let interval = point.values.interval.map(|e| format!("95% CI {}", format::range(e.low, e.high)));
    let tie: Vec<&str> = others.iter().map(|place| compared.points[*place].label.as_str()).collect();
    let tie = (!tie.is_empty()).then(|| format!("a tie with {}", format::listed_by("; ", &tie)));
    let beside = interval.into_iter().chain(tie).collect::<Vec<String>>().join("; ");
    Some(
        Tile::new(format!("Best: {}", point.label), figure(point.values.mean?), compared.metric.unit)
            .beside(beside),
    )
}

/// The values over two axes. Returns none for another number of axes, or if the levels do not fit.
fn grid(compared: &StudyComparison) -> Option<Chart> {
    let [one, other] = compared.axes.as_slice() else { return None };
    let (rows, columns) = if one.levels.len() >= other.levels.len() { (one, other) } else { (other, one) };
    if compared.not_compared.is_some() || rows.levels.len() > ROWS_MOST || columns.levels.len() > COLUMNS_MOST
    {
        return None;
    }
    let at = |row: &String, column: &String| {
        let is_at = |(_, point): &(usize, &Point)| {
            point.levels.get(&rows.name) == Some(row) && point.levels.get(&columns.name) == Some(column)
        };
        compared.points.iter().enumerate().find(is_at)
    };
    let (best, star) = leaders(compared);
    let cell = |(place, point): (usize, &Point)| {
        let mean = point.values.mean?;
        let beside = point.values.interval.map(|e| format::range(e.low, e.high)).unwrap_or_default();
        Some(Cell { value: mean, text: figure(mean), beside, best: best.contains(&place) })
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
            1 => format!("One block, no intervals. ★: {star}."),
            _ => format!(
                "Mean over {blocks} blocks, and its 95% CI. ★: {star}. The verdicts say which differences are certain."
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
    fn an_axis_of_numbers_shows_from_where_more_gains_little() {
        let report = Report::of(&crate::tests::comparison::flush_rows());
        let lead = super::of(report.comparison.as_ref().unwrap());
        let enough = lead.tiles.iter().find(|tile| tile.label == "Enough flush rows").unwrap();
        assert_eq!(enough.figure, "1000");
        assert_eq!(enough.beside, "higher levels gain less than 5%; 100 may do, which is not proven");
    }

    #[test]
    fn a_study_of_two_axes_is_a_grid_and_each_axis_has_its_largest_gain() {
        let reports: Vec<Report> = all().iter().map(Report::of).collect();
        let mut grids = 0;
        for compared in reports.iter().filter_map(|report| report.comparison.as_ref()) {
            let lead = super::of(compared);
            let (best, gains): (Vec<_>, Vec<_>) =
                lead.tiles.iter().partition(|tile| tile.label.starts_with("Best: "));
            assert_eq!(best.len(), usize::from(compared.axes.len() == 2), "{best:?}");
            let (enough, gains): (Vec<_>, Vec<_>) =
                gains.into_iter().partition(|tile| tile.label.starts_with("Enough "));
            assert!(enough.len() <= usize::from(compared.axes.len() == 1), "{enough:?}");
            assert!(gains.len() <= compared.axes.len());
            for tile in gains {
                assert!(!tile.figure.contains('(') && tile.label.contains(" instead of "), "{tile:?}");
            }
            let Some(chart) = super::grid(compared) else { continue };
            grids += 1;
            assert_eq!(compared.axes.len(), 2);
            let measured = compared.points.iter().filter(|point| point.values.mean.is_some()).count();
            assert_eq!(chart.svg.matches("<rect").count(), measured, "a ground for each value");
            let (leaders, _) = super::leaders(compared);
            assert_eq!(chart.svg.matches('★').count(), leaders.len(), "each that ties is marked");
        }
        assert!(grids > 0, "no study of two axes among the fixtures");
    }
}
