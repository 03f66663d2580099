//! Latency over throughput: what more depth pays, and what it costs.

use crate::chart::Chart;
use crate::chart::canvas::{Canvas, Ink, SERIES, Side, TEXT, svg, text_width};
use crate::chart::frame::{Axis, Frame, WIDTH};
use crate::chart::scale::Scale;
use crate::disk::sweep_chart::EVEN_FACTOR_MAX;
use crate::disk::{Sweep, SweepPoint};
use crate::format::{self, figure, plain, plain_latency};
use crate::table::{Column, Row, Table};

use super::sweeps::depths;

/// Height of the chart.
const HEIGHT: f64 = 300.0;
/// Room for the last figure of the axis.
const RIGHT: f64 = 36.0;
/// Curves in it.
const CURVES_MOST: usize = SERIES;
/// Least distance of two texts that stand at the ends of curves.
const APART: f64 = 15.0;
/// Between the end of a curve and its text.
const GAP: f64 = 8.0;

/// A curve each: of one kind of load its block sizes, of several kinds the first block size of each. None where fewer than two depths
/// have a latency.
pub(super) fn chart(sweeps: &[Sweep]) -> Option<Chart> {
    let chosen = chosen(sweeps);
    let points = || chosen.iter().flat_map(|sweep| &sweep.points);
    let latencies = || points().filter_map(|point| point.mean_us).filter(|us| *us > 0.0);
    let (low, high) = (latencies().reduce(f64::min)?, latencies().reduce(f64::max)?);
    if latencies().count() < 2 {
        return None;
    }
    let (top, bottom) = Frame::heights(HEIGHT);
    let y =
        Axis { scale: Scale::decades(low, high, bottom, top), title: "mean latency", print: plain_latency };
    let frame = Frame { right: WIDTH - RIGHT, ..Frame::new(HEIGHT, &y, []) };
    let x = Axis { scale: across(&chosen, &frame)?, title: "throughput, IOPS", print: plain };
    let depths = depths(sweeps);
    let title = title(&chosen);
    let description = chosen.iter().map(|sweep| described(sweep)).collect::<Vec<_>>().join("; ");
    let svg = svg((WIDTH, HEIGHT), &title, &description, |canvas| {
        frame.draw(canvas, &x, &y);
        let place = |point: &SweepPoint| Some((x.scale.at(point.per_s), y.scale.at(point.mean_us?)));
        let curves: Vec<Curve<'_>> = (0..)
            .zip(&chosen)
            .zip(names(&chosen))
            .map(|((number, sweep), name)| Curve::of(number, sweep, name, place))
            .collect();
        curves.iter().for_each(|curve| curve.draw(canvas, &frame));
        name(canvas, &curves, &frame);
    });
    Some(Chart {
        heading: title,
        svg,
        legend: Vec::new(),
        caption: caption(sweeps, &chosen, &depths),
        table: table(&chosen, &depths),
    })
}

/// From zero, or by factors where the rates are so far apart that some would be one point.
fn across(chosen: &[&Sweep], frame: &Frame) -> Option<Scale> {
    let rates = || chosen.iter().flat_map(|sweep| &sweep.points).map(|point| point.per_s);
    let least = rates().filter(|per_s| *per_s > 0.0).reduce(f64::min)?;
    let most = rates().reduce(f64::max)?;
    Some(if most / least > EVEN_FACTOR_MAX {
        Scale::decades(least, most, frame.left, frame.right)
    } else {
        Scale::from_zero(most * 1.02, frame.left, frame.right)
    })
}

/// The series that are drawn.
fn chosen(sweeps: &[Sweep]) -> Vec<&Sweep> {
    if sweeps.len() <= CURVES_MOST {
        return sweeps.iter().collect();
    }
    let mut firsts: Vec<&Sweep> = Vec::new();
    for sweep in sweeps {
        if !firsts.iter().any(|first| first.group == sweep.group) {
            firsts.push(sweep);
        }
    }
    let chosen = if firsts.len() > 1 { firsts } else { sweeps.iter().collect() };
    chosen.into_iter().take(CURVES_MOST).collect()
}

/// What all of them have in common stands in the title.
fn title(chosen: &[&Sweep]) -> String {
    let shared = chosen.first().filter(|first| chosen.iter().all(|sweep| sweep.group == first.group));
    match shared {
        Some(first) if !first.group.is_empty() => format!("Latency over throughput: {}", first.group),
        _ => "Latency over throughput".to_owned(),
    }
}

/// What tells each series from the others: its kind of load, its block size, or both.
fn names(chosen: &[&Sweep]) -> Vec<String> {
    let differ = |of: fn(&Sweep) -> &String| {
        let mut all: Vec<&String> = chosen.iter().map(|sweep| of(sweep)).collect();
        all.sort();
        all.dedup();
        all.len() == chosen.len()
    };
    let name: fn(&Sweep) -> &String = if chosen.len() > 1 && differ(|sweep| &sweep.group) {
        |sweep| &sweep.group
    } else if differ(|sweep| &sweep.label) {
        |sweep| &sweep.label
    } else {
        |sweep| &sweep.series
    };
    chosen.iter().map(|sweep| name(sweep).clone()).collect()
}

/// A series and where its depths lie.
struct Curve<'a> {
    ink: Ink,
    sweep: &'a Sweep,
    name: String,
    /// Depth and place.
    points: Vec<(u32, (f64, f64))>,
}

impl<'a> Curve<'a> {
    fn of(
        number: usize,
        sweep: &'a Sweep,
        name: String,
        place: impl Fn(&SweepPoint) -> Option<(f64, f64)>,
    ) -> Self {
        let points = sweep.points.iter().filter_map(|point| Some((point.outstanding, place(point)?)));
        Self { ink: Ink::Series(number), sweep, name, points: points.collect() }
    }

    /// Neighbours with a line between them: none where a depth between them is not known.
    fn lines(&self) -> impl Iterator<Item = [(u32, (f64, f64)); 2]> + '_ {
        let pairs = self.points.windows(2).map(|pair| [pair[0], pair[1]]);
        pairs.filter(|[from, to]| !self.sweep.lacks_between(from.0, to.0))
    }

    fn draw(&self, canvas: &mut Canvas<'_>, frame: &Frame) {
        self.lines().for_each(|[from, to]| canvas.path(self.ink, 2.0, &[from.1, to.1]));
        self.points.iter().for_each(|(_, at)| canvas.dot(self.ink, 2.8, *at));
        let Some((at, knee)) = self.knee() else { return };
        canvas.ring(self.ink, 6.0, at);
        let text = format!("knee {}", figure(knee));
        let fits = at.0 + GAP + text_width(&text) <= frame.right;
        let (side, beside) = if fits { (Side::Right, at.0 + GAP) } else { (Side::Left, at.0 - GAP) };
        canvas.text(self.ink, side, (beside, (at.1 + TEXT).min(frame.bottom - TEXT / 2.0)), &text);
    }

    /// Where the knee lies on the line between the depths around it.
    fn knee(&self) -> Option<((f64, f64), f64)> {
        let knee = self.sweep.knee.as_ref()?.at;
        let is_within = |depths: &[(u32, (f64, f64)); 2]| {
            (f64::from(depths[0].0)..=f64::from(depths[1].0)).contains(&knee)
        };
        let [(from, low), (to, high)] = self.lines().find(is_within)?;
        let share = (knee / f64::from(from)).ln() / (f64::from(to) / f64::from(from)).ln();
        Some(((low.0 + (high.0 - low.0) * share, low.1 + (high.1 - low.1) * share), knee))
    }
}

/// The name of each curve beside its last point, apart from the others.
fn name(canvas: &mut Canvas<'_>, curves: &[Curve<'_>], frame: &Frame) {
    let mut ends: Vec<(&Curve<'_>, (f64, f64))> =
        curves.iter().filter_map(|curve| Some((curve, curve.points.last()?.1))).collect();
    ends.sort_by(|one, other| one.1.1.total_cmp(&other.1.1));
    let mut free = frame.top;
    for (curve, (x, y)) in ends {
        let text = &curve.name;
        let y = (y - TEXT * 0.8).max(free);
        free = y + APART;
        let fits = x + GAP + text_width(text) <= WIDTH;
        let (side, x) = if fits { (Side::Right, x + GAP) } else { (Side::Left, x - GAP) };
        canvas.text(curve.ink, side, (x, y), text);
    }
}

fn described(sweep: &Sweep) -> String {
    let end = |point: Option<&SweepPoint>| {
        let point = point?;
        let latency = format::latency_or_dash(point.mean_us);
        Some(format!("{} IOPS and {latency} at {} outstanding", figure(point.per_s), point.outstanding))
    };
    let (first, last) = (end(sweep.points.first()), end(sweep.points.last()));
    format!("{}: {} to {}", sweep.series, first.unwrap_or_default(), last.unwrap_or_default())
}

fn caption(sweeps: &[Sweep], chosen: &[&Sweep], depths: &[u32]) -> String {
    let ends = depths.first().zip(depths.last());
    let (first, last) = ends.map_or((0, 0), |(first, last)| (*first, *last));
    let ring = if chosen.iter().any(|sweep| sweep.knee.is_some()) { " Ring: the knee." } else { "" };
    let drawn = chosen.iter().map(|sweep| sweep.series.as_str()).collect::<Vec<_>>().join(", ");
    let all = if sweeps.len() > chosen.len() { "; all series are below" } else { "" };
    format!(
        "{drawn}{all}. A point for each depth, from {first} to {last} outstanding I/Os per thread. Up is slower, right is more.{ring}"
    )
}

fn table(chosen: &[&Sweep], depths: &[u32]) -> Table {
    let columns = [Column::number("outstanding")].into_iter();
    let columns = columns.chain(chosen.iter().map(|sweep| Column::number(sweep.series.clone()))).collect();
    let cell = |sweep: &&Sweep, depth: u32| {
        let point = sweep.points.iter().find(|point| point.outstanding == depth);
        point.map_or_else(
            || format::UNKNOWN.to_owned(),
            |point| format!("{} / {}", figure(point.per_s), format::latency_or_dash(point.mean_us)),
        )
    };
    let row = |&depth: &u32| {
        let cells = chosen.iter().map(|sweep| cell(sweep, depth));
        Row::of([depth.to_string()].into_iter().chain(cells).collect())
    };
    Table { title: "IOPS / mean latency".to_owned(), columns, rows: depths.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::sweep_chart;
    use crate::fixture::{self, Made};
    use crate::report::Report;
    use record::{MeasuredTrial, State};

    fn at(number: u32, pattern: &str, block_kib: u64, outstanding: u32) -> MeasuredTrial {
        Made::read(&format!("any {number}"))
            .with(|setup| {
                (setup.pattern, setup.block_bytes) = (pattern.to_owned(), block_kib << 10);
                setup.outstanding = outstanding;
            })
            .rate(1e4 * f64::from(outstanding.min(8)), 100.0)
            .level("workload.disk.outstanding", &outstanding.to_string())
            .trial(number)
    }

    fn series(first: u32, pattern: &str, block_kib: u64) -> Vec<MeasuredTrial> {
        (0..4).map(|power| at(first + power, pattern, block_kib, 1 << power)).collect()
    }

    fn drawn(trials: Vec<MeasuredTrial>) -> Chart {
        chart(&Report::of(&fixture::study("sweep", trials)).disk.sweeps).unwrap()
    }

    fn lines(chart: &Chart) -> usize {
        chart.svg.matches("<polyline").count()
    }

    /// A line from Q2 to Q8 would say what Q4 came to, which does not count.
    #[test]
    fn no_line_goes_past_a_depth_that_does_not_count() {
        assert_eq!(lines(&drawn(series(1, "random", 8))), 3);
        let mut trials = series(1, "random", 8);
        trials[2].trial.state = State::Invalid;
        let by_depth = sweep_chart::sweeps(&Report::of(&fixture::study("sweep", trials.clone())).disk.sweeps);
        assert_eq!(by_depth[0].each_ref().map(lines), [1, 1], "rate and latency by depth");
        let chart = drawn(trials);
        assert_eq!((lines(&chart), chart.svg.matches("<circle").count()), (1, 3));
        assert_eq!(chart.table.rows[2].cells, ["4", "–"]);
    }

    #[test]
    fn of_many_series_the_first_of_each_kind_is_drawn() {
        let kinds =
            [("random", 8), ("random", 16), ("sequential", 64), ("sequential", 128), ("zipf:0.99", 32)];
        let all = (1..).step_by(10).zip(kinds).flat_map(|(first, (kind, kib))| series(first, kind, kib));
        let chart = drawn(all.collect());
        assert_eq!(chart.table.columns.len(), 1 + 3);
        assert!(chart.svg.contains(">sequential read<"), "the kind is a name: {}", chart.svg);
        assert!(
            chart
                .caption
                .starts_with("8 KiB random read, 64 KiB sequential read, 32 KiB zipf:0.99 read; all series"),
            "{}",
            chart.caption
        );
    }

    #[test]
    fn of_one_kind_the_block_sizes_are_the_names() {
        let all =
            (1..).step_by(10).zip([4, 8, 16, 32, 64]).flat_map(|(first, kib)| series(first, "random", kib));
        let chart = drawn(all.collect());
        assert_eq!(chart.heading, "Latency over throughput: random read");
        assert!(chart.svg.contains(">32 KiB<") && !chart.svg.contains(">64 KiB<"), "{}", chart.svg);
    }

    /// Of 43,000 and 1,600 IOPS the slower series was a line at the left end.
    #[test]
    fn rates_far_apart_are_drawn_by_factors() {
        let far = chart(&Report::of(&crate::tests::sweep()).disk.sweeps).unwrap();
        assert!(far.svg.contains("throughput, IOPS (logarithmic)"), "{}", far.svg);
        assert!(!drawn(series(1, "random", 8)).svg.contains("IOPS (logarithmic)"));
    }

    #[test]
    fn a_knee_is_marked_on_its_curve() {
        let chart = chart(&Report::of(&crate::tests::sweep()).disk.sweeps).unwrap();
        assert!(
            chart.svg.contains("knee 16.8") && chart.caption.ends_with("Ring: the knee."),
            "{}",
            chart.caption
        );
    }
}
