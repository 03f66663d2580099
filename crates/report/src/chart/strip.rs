//! All configurations at a glance, a row each: latencies on one scale, and the course of the rate.

use record::{Phase, Workload};

use super::Chart;
use super::canvas::{Canvas, Ink, Side, TEXT, svg};
use super::frame::{Axis, Frame, WIDTH};
use super::reduce::lines;
use super::scale::{Scale, Spread};
use super::{Key, ink_of, legend};
use crate::configuration::Configuration;
use crate::format::{self, latency_or_dash, plain_latency};
use crate::report::Report;
use crate::table::{Column, Row, Table};
use crate::trial::{ALL, Figures, Trial};
use crate::workloads;

/// Height of a configuration.
const ROW: f64 = 38.0;

/// Height of a configuration whose course is drawn.
const COURSE_ROW: f64 = 50.0;

/// More configurations than this are no overview.
const MOST: usize = 24;

/// Width of the drawing of a rate's course, in units; also the columns it is reduced to.
const COURSE: f64 = 360.0;

/// Latencies of the configurations of a workload from the fastest over the median and the p99 to the slowest. None of a
/// single configuration, of very many, and where no latencies were kept.
pub(crate) fn strip(report: &Report, workload: Workload, heading: &str) -> Option<Chart> {
    let ink = |figures: &Figures| Ink::Series(workloads::of(workload).ink(&figures.kind));
    let rows = report
        .configurations_of(workload)
        .filter_map(|configuration| Some((configuration.name.clone(), configuration.main()?)))
        .map(|(name, figures)| (name, ink(figures), figures));
    let rows: Vec<(String, Ink, &Figures)> = rows.collect();
    let keys = legend(rows.iter().map(|(_, ink, figures)| Key::new(*ink, kind_in_words(&figures.kind))));
    let chart = drawn(heading, "Latencies of all configurations", "configuration", &rows)?;
    Some(Chart { legend: keys, ..chart })
}

/// What a trial is about and each of its operations.
pub(crate) fn operations(trial: &Trial, heading: &str) -> Option<Chart> {
    let rows = trial.figures.iter();
    let rows = rows.map(|figures| (figures.kind.replace('_', " "), ink_of(trial, &figures.kind), figures));
    let title = format!("Latencies of the operations of {}", trial.name);
    drawn(heading, &title, "operation", &rows.collect::<Vec<_>>())
}

/// What a configuration is about, in the words of a legend.
fn kind_in_words(kind: &str) -> String {
    if kind == ALL { "several kinds".to_owned() } else { kind.replace('_', " ") }
}

fn drawn(heading: &str, title: &str, what: &'static str, all: &[(String, Ink, &Figures)]) -> Option<Chart> {
    let rows: Vec<&(String, Ink, &Figures)> =
        all.iter().filter(|(.., figures)| figures.latency.max_us.is_some()).collect();
    if rows.len() < 2 || rows.len() > MOST {
        return None;
    }
    let low = rows.iter().filter_map(|(.., figures)| figures.latency.min_us).reduce(f64::min)?;
    let high = rows.iter().filter_map(|(.., figures)| figures.latency.max_us).reduce(f64::max)?;
    let height = rows.len() as f64 * ROW + 60.0;
    let frame = Frame { left: 8.0, right: WIDTH - 16.0, top: 10.0, bottom: height - 44.0 };
    let x = Axis {
        scale: Scale::decades(low, high, frame.left, frame.right),
        title: "latency",
        print: plain_latency,
    };
    let describe = |(name, _, figures): &&(String, Ink, &Figures)| {
        format!(
            "{name}: p50 {}, max {}",
            latency_or_dash(figures.latency.p50_us),
            latency_or_dash(figures.latency.max_us)
        )
    };
    let description = rows.iter().map(describe).collect::<Vec<String>>().join("; ");
    let svg = svg((WIDTH, height), title, &description, |canvas| {
        for tick in x.scale.ticks() {
            canvas.line(Ink::Grid, 1.0, (x.scale.at(tick), frame.top), (x.scale.at(tick), frame.bottom));
        }
        frame.horizontal(canvas, &x);
        for (index, drawn) in rows.iter().enumerate() {
            row(canvas, drawn, &frame, &x.scale, frame.top + index as f64 * ROW);
        }
    });
    Some(Chart {
        heading: heading.to_owned(),
        svg,
        legend: Vec::new(),
        caption: "Thin line: fastest to slowest operation. Thick line: median to p99. Dot: median."
            .to_owned(),
        table: table(what, &rows),
    })
}

fn row(
    canvas: &mut Canvas<'_>,
    (name, ink, figures): &(String, Ink, &Figures),
    frame: &Frame,
    x: &Scale,
    top: f64,
) {
    let latency = &figures.latency;
    let (ink, y) = (*ink, top + 26.0);
    canvas.text(ink, Side::Right, (frame.left, top + TEXT * 0.6), name);
    if let (Some(min), Some(max)) = (latency.min_us, latency.max_us) {
        canvas.line(ink, 1.0, (x.at(min), y), (x.at(max), y));
        canvas.line(ink, 1.0, (x.at(max), y - 4.0), (x.at(max), y + 4.0));
    }
    if let (Some(p50), Some(tail)) = (latency.p50_us, latency.p99_us.or(latency.p95_us)) {
        canvas.line(ink, 5.0, (x.at(p50), y), (x.at(tail), y));
    }
    if let Some(p50) = latency.p50_us {
        canvas.dot(ink, 5.0, (x.at(p50), y));
    }
}

fn table(what: &'static str, rows: &[&(String, Ink, &Figures)]) -> Table {
    let heads = ["min", "p50", "p99", "max"].map(Column::number);
    let columns = [Column::words(what)].into_iter().chain(heads).collect();
    let rows = rows.iter().map(|(name, _, figures)| {
        let latency = &figures.latency;
        let latencies =
            [latency.min_us, latency.p50_us, latency.p99_us, latency.max_us].map(format::latency_or_dash);
        Row::of([name.clone()].into_iter().chain(latencies).collect())
    });
    let rows = rows.collect();
    Table { title: "Latencies".to_owned(), columns, rows }
}

/// The rate of each configuration by the second, as a share of its own mean. None where [`strip`] is none for want
/// of configurations, and where nothing was measured by the second.
pub(crate) fn courses(report: &Report, workload: Workload) -> Option<Chart> {
    let configurations = report.configurations_of(workload);
    let rows: Vec<Course<'_>> = configurations.filter_map(|c| course(c, &report.trials)).collect();
    if rows.len() < 2 || rows.len() > MOST {
        return None;
    }
    let height = rows.len() as f64 * COURSE_ROW + 40.0;
    let most = rows
        .iter()
        .flat_map(|row| &row.shares)
        .fold(1.0, |most: f64, (_, share)| most.max(share.unwrap_or(0.0)));
    let title = "Throughput over time of each configuration";
    let describe = |row: &Course<'_>| format!("{}: coefficient of variation {}", row.name, row.variation);
    let description = rows.iter().map(describe).collect::<Vec<String>>().join("; ");
    let svg = svg((WIDTH, height), title, &description, |canvas| {
        for (index, row) in rows.iter().enumerate() {
            draw_course(canvas, row, 10.0 + index as f64 * COURSE_ROW, most);
        }
        let y = height - 12.0;
        canvas.text(Ink::Text, Side::Right, (8.0, y), "time");
        canvas.text(Ink::Text, Side::Right, (COURSE + 22.0, y), "scatter");
    });
    let columns = vec![Column::words("configuration"), Column::number("coefficient of variation")];
    let cells = rows.iter().map(|row| Row::of(vec![row.name.to_owned(), row.variation.clone()]));
    Some(Chart {
        heading: "Steadiness of each configuration".to_owned(),
        svg,
        legend: legend(rows.iter().map(|row| Key::new(row.ink, kind_in_words(row.kind)))),
        caption: "Throughput per second, from zero, as a share of its mean (thin line). Scatter is the coefficient of variation of the first trial. More than 360 seconds are reduced to the lowest and highest of each column."
            .to_owned(),
        table: Table { title: title.to_owned(), columns, rows: cells.collect() },
    })
}

struct Course<'a> {
    name: &'a str,
    ink: Ink,
    kind: &'a str,
    variation: String,
    shares: Vec<(f64, Option<f64>)>,
}

fn course<'a>(configuration: &'a Configuration, trials: &'a [Trial]) -> Option<Course<'a>> {
    let trial = trials.iter().find(|trial| configuration.trials.first() == Some(&trial.number))?;
    let mean = trial.main()?.per_s.filter(|mean| *mean > 0.0)?;
    let measured =
        trial.samples.iter().filter(|sample| sample.phase == Phase::Measure && sample.length_s >= 0.5);
    let shares: Vec<(f64, Option<f64>)> =
        measured.map(|sample| (sample.end_s, trial.rate_in(sample).map(|per_s| per_s / mean))).collect();
    let kind = trial.main().map_or("", |figures| figures.kind.as_str());
    (shares.len() > 1).then(|| Course {
        name: &configuration.name,
        ink: ink_of(trial, kind),
        kind,
        variation: trial
            .stability
            .coefficient_of_variation
            .map_or_else(|| format::UNKNOWN.to_owned(), format::per_cent),
        shares,
    })
}

fn draw_course(canvas: &mut Canvas<'_>, row: &Course<'_>, top: f64, most: f64) {
    let (Some(first), Some(last)) = (row.shares.first(), row.shares.last()) else { return };
    let x = Scale::time(first.0, last.0, 8.0, 8.0 + COURSE);
    let y =
        Scale { spread: Spread::Linear, low: 0.0, high: most, from: top + COURSE_ROW - 8.0, to: top + 18.0 };
    canvas.text(Ink::Text, Side::Right, (x.from, top + TEXT * 0.6), row.name);
    canvas.line(Ink::Axis, 1.0, (x.from, y.from), (x.to, y.from));
    canvas.line(Ink::Axis, 0.5, (x.from, y.at(1.0)), (x.to, y.at(1.0)));
    for part in lines(&row.shares, COURSE as usize) {
        let points: Vec<(f64, f64)> =
            part.iter().map(|&(second, share)| (x.at(second), y.at(share))).collect();
        canvas.path(row.ink, 2.0, &points);
    }
    canvas.text(Ink::Text, Side::Right, (x.to + 14.0, f64::midpoint(y.from, y.to)), &row.variation);
}
