//! What sweeps over the outstanding I/Os came to: the best rates, the knee, and each series at each depth.

use crate::disk::finding::no_knee_reasons;
use crate::disk::{Sweep, SweepPoint};
use crate::format::{self, figure};
use crate::lead::Tile;
use crate::table::{Column, Row, Table};

use super::latency_tile;

/// The knee, in words that need no glossary.
const KNEE: &str = "Depth from which more stops paying";

/// Marks the rate at the knee.
const AT_KNEE: &str = "◆";

/// The best rates, where more depth stops paying, and how long one I/O alone takes.
pub(super) fn tiles(sweeps: &[Sweep]) -> Vec<Tile> {
    [best(sweeps), knee(sweeps), fastest(sweeps), alone(sweeps)].into_iter().flatten().collect()
}

/// The point of all that is highest.
fn highest(sweeps: &[Sweep], of: fn(&SweepPoint) -> Option<f64>) -> Option<(&Sweep, &SweepPoint, f64)> {
    let points = sweeps.iter().flat_map(|sweep| sweep.points.iter().map(move |point| (sweep, point)));
    let valued = points.filter_map(|(sweep, point)| Some((sweep, point, of(point)?)));
    valued.max_by(|one, other| one.2.total_cmp(&other.2))
}

fn best(sweeps: &[Sweep]) -> Option<Tile> {
    let (sweep, point, per_s) = highest(sweeps, |point| Some(point.per_s))?;
    let interval = point.interval.map(|rate| in_words(point, format::range(rate.low.max(0.0), rate.high)));
    let p99 = point.p99_us.map(|us| format!("p99 {}", format::latency(us)));
    let parts = [Some(at(sweep, point)), interval, p99];
    let beside = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    Some(Tile::new("Highest IOPS", figure(per_s), "IOPS").beside(beside))
}

/// What an interval is of: of the repeats, or of the only trial.
fn in_words(point: &SweepPoint, range: String) -> String {
    if point.repeats.is_empty() { format!("{range} in this trial") } else { format!("95% CI {range}") }
}

fn fastest(sweeps: &[Sweep]) -> Option<Tile> {
    let (sweep, point, mb_per_s) = highest(sweeps, |point| point.mb_per_s)?;
    Some(Tile::new("Highest throughput", figure(mb_per_s), "MB/s").beside(at(sweep, point)))
}

/// `8 KiB random read, 256 outstanding`.
fn at(sweep: &Sweep, point: &SweepPoint) -> String {
    format!("{}, {} outstanding", sweep.series, point.outstanding)
}

/// The knee of the first series that has one.
fn knee(sweeps: &[Sweep]) -> Option<Tile> {
    let with = || sweeps.iter().filter_map(|sweep| Some((sweep, sweep.knee.as_ref()?)));
    let Some((sweep, knee)) = with().next() else {
        let without: Vec<&Sweep> = sweeps.iter().collect();
        let parts = [
            (sweeps.len() > 1).then(|| format!("in any of {} series", sweeps.len())),
            Some(no_knee_reasons(&without)).filter(|reasons| !reasons.is_empty()),
        ];
        let beside = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
        return Some(Tile::new(KNEE, "not found", "").beside(beside));
    };
    let others = match with().count() - 1 {
        0 if sweeps.len() > 1 => format!("; the only knee in {} series", sweeps.len()),
        0 => String::new(),
        others => format!("; {} in the table", format::counted(others, "other knee", "other knees")),
    };
    let beside = format!("95% CI {}; {}{others}", format::range(knee.low, knee.high), sweep.series);
    Some(Tile::new(KNEE, figure(knee.at), "outstanding").beside(beside))
}

/// The first series at the least depth.
fn alone(sweeps: &[Sweep]) -> Option<Tile> {
    let sweep = sweeps.first()?;
    let point = sweep.points.first()?;
    let p99 = point.p99_us.map(|us| format!("; p99 {}", format::latency(us))).unwrap_or_default();
    let label = format!("Mean latency at Q{}", point.outstanding);
    Some(latency_tile(label, point.mean_us?).beside(format!("{}{p99}", sweep.series)))
}

/// Depths that were asked for of any series, rising.
pub(super) fn depths(sweeps: &[Sweep]) -> Vec<u32> {
    let mut depths: Vec<u32> = sweeps.iter().flat_map(|sweep| sweep.asked.clone()).collect();
    depths.sort_unstable();
    depths.dedup();
    depths
}

/// The measured depth that is nearest to the knee, by their ratio.
pub(super) fn nearest_to_knee(sweep: &Sweep) -> Option<u32> {
    let at = sweep.knee.as_ref()?.at;
    let apart = |point: &&SweepPoint| (f64::from(point.outstanding) / at).ln().abs();
    let nearest = sweep.points.iter().min_by(|one, other| apart(one).total_cmp(&apart(other)));
    nearest.map(|point| point.outstanding)
}

/// A series a row, its depths across: I/Os a second, and the mean latency below. None of no sweep.
pub(super) fn table(sweeps: &[Sweep]) -> Option<Table> {
    let depths = depths(sweeps);
    // Where columns have no room, every second depth goes.
    let spare = |place: usize| if place % 2 == 1 { 2 } else { 1 };
    let mut columns = vec![Column::words("series"), Column::words("")];
    columns.extend(depths.iter().enumerate().map(|(place, depth)| Column {
        spare: spare(place),
        meaning: "outstanding I/Os per thread",
        ..Column::number(format!("Q{depth}"))
    }));
    columns.push(Column {
        meaning: "outstanding I/Os per thread, with its 95% interval",
        ..Column::words("knee")
    });
    let rows = sweeps.iter().flat_map(|sweep| [rates(sweep, &depths), latencies(sweep, &depths)]);
    let mark = format!(" ({AT_KNEE} depth nearest to the knee)");
    let mark = if sweeps.iter().any(|sweep| sweep.knee.is_some()) { mark.as_str() } else { "" };
    let title = format!("Each series: IOPS and mean latency by outstanding I/Os{mark}");
    Table::of(&title, columns, rows)
}

fn rates(sweep: &Sweep, depths: &[u32]) -> Row {
    let at_knee = nearest_to_knee(sweep);
    let rate = |point: &SweepPoint| match at_knee == Some(point.outstanding) {
        true => format!("{AT_KNEE} {}", figure(point.per_s)),
        false => figure(point.per_s),
    };
    let knee = sweep.knee.as_ref().map_or_else(
        || sweep.no_knee_in_short.map_or_else(|| "none".to_owned(), |why| format!("none: {why}")),
        |knee| format!("{} ({})", figure(knee.at), format::range(knee.low, knee.high)),
    );
    let cells = [sweep.series.clone(), "IOPS".to_owned()].into_iter();
    Row::of(cells.chain(cells_of(sweep, depths, rate)).chain([knee]).collect())
}

fn latencies(sweep: &Sweep, depths: &[u32]) -> Row {
    let mean = |point: &SweepPoint| format::latency_or_dash(point.mean_us);
    let cells = [String::new(), "mean".to_owned()].into_iter();
    Row { cells: cells.chain(cells_of(sweep, depths, mean)).chain([String::new()]).collect(), part: true }
}

/// A cell a depth; a dash where it was not measured.
fn cells_of(sweep: &Sweep, depths: &[u32], print: impl Fn(&SweepPoint) -> String) -> Vec<String> {
    let cell = |depth: &u32| sweep.points.iter().find(|point| point.outstanding == *depth).map(&print);
    depths.iter().map(|depth| cell(depth).unwrap_or_else(|| format::UNKNOWN.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Report;
    use crate::tests::sweep;
    use record::{State, StudyRecord};

    fn sweeps(study: &StudyRecord) -> Vec<Sweep> {
        Report::of(study).disk.sweeps
    }

    #[test]
    fn the_first_figures_are_the_best_rates_and_the_knee() {
        let tiles = tiles(&sweeps(&sweep()));
        let of: Vec<(&str, &str, &str)> =
            tiles.iter().map(|tile| (&*tile.label, &*tile.figure, &*tile.unit)).collect();
        assert_eq!(
            of,
            [
                ("Highest IOPS", "42,990", "IOPS"),
                (KNEE, "16.8", "outstanding"),
                ("Highest throughput", "643", "MB/s"),
                ("Mean latency at Q1", "401", "µs"),
            ]
        );
        assert!(tiles[0].beside.starts_with("8 KiB random read, 256 outstanding; "), "{:?}", tiles[0]);
        assert!(tiles[0].beside.contains(" in this trial; p99 "), "{:?}", tiles[0]);
        assert!(tiles[1].beside.ends_with("; 2 other knees in the table"), "{:?}", tiles[1]);
    }

    #[test]
    fn a_sweep_without_a_knee_says_so_and_names_no_depth() {
        let mut study = sweep();
        study.trials.retain(|trial| trial.trial.number < 4);
        let tile = &tiles(&sweeps(&study))[1];
        assert_eq!((&*tile.figure, &*tile.beside), ("not found", "too few usable depths"), "{tile:?}");
    }

    #[test]
    fn each_series_has_a_row_of_rates_and_one_of_latencies_and_dashes_where_nothing_is_known() {
        let mut study = sweep();
        study.trials[1].trial.state = State::Invalid;
        let table = table(&sweeps(&study)).unwrap();
        let heads: Vec<&str> = table.columns.iter().map(|column| &*column.head).collect();
        assert_eq!((heads[2], heads[3], heads[10], heads[11]), ("Q1", "Q2", "Q256", "knee"));
        let rows: Vec<&[String]> = table.rows.iter().map(|row| row.cells.as_slice()).collect();
        assert_eq!((rows.len(), &*rows[0][0], &*rows[0][1]), (6, "8 KiB random read", "IOPS"));
        assert_eq!([&*rows[0][2], &*rows[0][3], &*rows[1][3]], ["2,495", "–", "–"], "Q2 does not count");
        let marked: Vec<usize> = (0..12).filter(|&cell| rows[2][cell].starts_with(AT_KNEE)).collect();
        assert_eq!(marked, [6], "16.7 is nearest to Q16: {:?}", rows[2]);
        assert_eq!([&*rows[4][10], &*rows[5][10]], ["–", "–"], "Q256 was skipped");
        assert!(rows[2][11].starts_with("16.7 ("), "{:?}", rows[2]);
        assert_eq!(super::table(&[]), None);
    }
}
