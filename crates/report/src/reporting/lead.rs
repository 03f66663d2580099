//! The top of a page on reports: times of the first report and the next ones, as figures and as bars. Data is static, or events arrive.

use record::Workload;

use super::Reporting;
use super::words::{time, times};
use crate::chart::Chart;
use crate::chart::canvas::{Canvas, Ink, Side, TEXT, svg};
use crate::chart::frame::{Axis, Frame, WIDTH};
use crate::chart::scale::Scale;
use crate::chart::{Key, legend};
use crate::configuration::Configuration;
use crate::format::{figure, plain};
use crate::lead::Tile;
use crate::report::Report;
use crate::table::{Column, Row, Table};
use crate::trial::Trial;

/// Maximum number of cases. The tables show more.
const MOST: usize = 2;
/// Height of a bar with its text.
const ROW: f64 = 40.0;
/// From this many seconds on, the axis is in seconds.
const SECOND: f64 = 1.0;

/// The activity of the database during the reports, with the times of a single run.
struct Case<'a> {
    name: String,
    run: &'a Reporting,
}

/// One case for each configuration with a single run. Returns no cases for several runs or many configurations, which the tables compare.
fn cases(report: &Report) -> Vec<Case<'_>> {
    let configurations = report.configurations_of(Workload::Reporting);
    let counted: Vec<_> = configurations.filter(|one| !one.is_failed()).collect();
    if counted.len() > MOST || report.comparison.is_some() {
        return Vec::new();
    }
    counted.into_iter().map(|one| case(one, report)).collect::<Option<_>>().unwrap_or_default()
}

fn case<'a>(configuration: &'a Configuration, report: &'a Report) -> Option<Case<'a>> {
    let mut runs = configuration.measured_in(&report.trials).filter_map(Trial::reporting);
    let run = runs.next().filter(|_| runs.next().is_none())?;
    let name = match run.setup.arrivals_per_s {
        Some(rate) => format!("{} events/s arrive", figure(rate)),
        None => "static data".to_owned(),
    };
    Some(Case { name, run })
}

/// A bar: its name, its colour, its time in seconds, and its interval or the state of the caches.
type Bar = (String, Ink, f64, Beside);

/// What stands beside the time of a report.
enum Beside {
    /// The interval of the mean.
    Interval(Option<[f64; 2]>),
    /// The state of the caches before the first report.
    Caches(&'static str),
}

fn bars<'a>(cases: &'a [Case<'_>]) -> impl Iterator<Item = Bar> + 'a {
    cases.iter().flat_map(|Case { name, run }| {
        let caches = if run.cold.is_some() { "cold caches" } else { "caches not cleared" };
        let first = Beside::Caches(caches);
        let first = run.first_s.map(|s| (format!("First report, {name}"), Ink::Series(1), s, first));
        let next = Beside::Interval(run.interval_s);
        let next = run.mean_s.map(|s| (format!("Next reports, {name}"), Ink::Series(0), s, next));
        first.into_iter().chain(next)
    })
}

pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let tile = |(what, _, seconds, interval): Bar| {
        let text = time(seconds);
        let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
        let tile = Tile::new(what, number, unit);
        match interval {
            Beside::Interval(Some([low, high])) => {
                tile.beside(format!("mean, {} in this trial", times(low, high)))
            }
            Beside::Interval(None) => tile.beside("mean"),
            Beside::Caches(state) => tile.beside(state),
        }
    };
    bars(&cases(report)).map(tile).collect()
}

pub(super) fn chart(report: &Report) -> Option<Chart> {
    let cases = cases(report);
    let bars: Vec<_> = bars(&cases).collect();
    let most_s = bars.iter().map(|bar| bar.2).reduce(f64::max)?;
    let (factor, title) = if most_s < SECOND { (1e3, "time in ms") } else { (1.0, "time in s") };
    let height = bars.len() as f64 * ROW + 60.0;
    let frame = Frame { left: 8.0, right: WIDTH - 16.0, top: 8.0, bottom: height - 44.0 };
    let scale = Scale::from_zero(most_s * factor * 1.02, frame.left, frame.right);
    let x = Axis { scale, title, print: plain };
    let told = |bar: &Bar| format!("{}: {}", bar.0, time(bar.2));
    let description = bars.iter().map(told).collect::<Vec<String>>().join("; ");
    let heading = "Time of a report";
    let svg = svg((WIDTH, height), heading, &description, |canvas: &mut Canvas<'_>| {
        frame.horizontal(canvas, &x);
        for (index, bar) in bars.iter().enumerate() {
            let top = frame.top + index as f64 * ROW;
            canvas.text(Ink::Text, Side::Right, (frame.left, top + TEXT * 0.6), &told(bar));
            let end = x.scale.at(bar.2 * factor);
            canvas.rectangle(bar.1, 0.8, (frame.left, top + 18.0), (end, top + 32.0));
        }
    });
    let columns = vec![Column::words("report"), Column::number("time"), Column::number("in this trial")];
    let row = |bar: &Bar| {
        let beside = match bar.3 {
            Beside::Interval(interval) => interval.map(|[low, high]| times(low, high)).unwrap_or_default(),
            Beside::Caches(state) => state.to_owned(),
        };
        Row::of(vec![bar.0.clone(), time(bar.2), beside])
    };
    Some(Chart {
        heading: heading.to_owned(),
        svg,
        legend: legend(bars.iter().map(|bar| {
            Key::new(bar.1, if bar.1 == Ink::Series(1) { "first report" } else { "mean of the next reports" })
        })),
        caption: "Each bar begins at 0.".to_owned(),
        table: Table { title: heading.to_owned(), columns, rows: bars.iter().map(row).collect() },
    })
}
