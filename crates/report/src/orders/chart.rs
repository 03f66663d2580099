//! The course of an order store: orders a minute of each target, the response time of an order, its operations, how evenly
//! clients were served, and the CPU share of the machine less the load.

use record::orders::{ACTIVE_CLIENTS, ORDER, SERVER_CPU, target_orders};
use record::{CpuOf, Phase, Sample};

use crate::chart::aligned::{self, Panel};
use crate::chart::canvas::{Canvas, Ink, SERIES, svg};
use crate::chart::frame::{Axis, Frame, HEIGHT, WIDTH, from_zero};
use crate::chart::over_time::{Band, Course, Line, Span};
use crate::chart::reduce::spans;
use crate::chart::scale::{Scale, Spread};
use crate::chart::{Chart, Key, legend};
use crate::format::{self, figure, plain};
use crate::orders::{ClientSpread, Orders, OrdersTarget, UNIT};
use crate::table::{Column, Row, Table};
use crate::trial::Trial;

/// Bars of the chart of clients; more clients are reduced.
const BARS: usize = 120;

/// The charts of a trial; those of which nothing was recorded are left out.
pub(crate) fn orders(trial: &Trial) -> Vec<Chart> {
    let charts = [
        course(trial),
        by_target(trial),
        crate::chart::histogram::of_kind("Response time of an order", trial, ORDER),
        crate::chart::strip::operations(trial, "An order and its operations"),
        clients(trial),
        server_cpu(trial),
        active(trial),
    ];
    charts.into_iter().flatten().collect()
}

/// Nothing begins while the last orders drain.
fn loaded(sample: &Sample) -> bool {
    sample.phase != Phase::Drain
}

/// Orders a minute of one target, if the samples tell them.
fn of_target(number: usize) -> impl Fn(&Sample) -> Option<f64> {
    let name = target_orders(number);
    move |sample| Some(UNIT.of(sample.gauges.get(&name).filter(|_| loaded(sample))? / sample.length_s))
}

/// Orders per minute of all targets, the response time of an order, and the activity of sessions.
pub(super) fn course(trial: &Trial) -> Option<Chart> {
    let orders = trial.orders()?;
    let finished = Line::of(Ink::Series(0), "finished", trial, |sample| {
        trial.rate_in(sample).filter(|_| loaded(sample)).map(|per_s| UNIT.of(per_s))
    });
    let offered = orders
        .offered_per_min
        .map(|rate| Line::of(Ink::Series(2), "offered", trial, move |sample| loaded(sample).then_some(rate)));
    let lines = offered.into_iter().chain([finished.broken()]);
    let lines: Vec<Line> = lines.filter(|line| line.values().count() > 1).collect();
    let remark = if orders.targets.len() > 1 {
        "All targets together. Rolled-back orders are included. One point per second. Shaded seconds do not count."
    } else {
        "Rolled-back orders are included. One point per second. Shaded seconds do not count."
    };
    let panels =
        [Panel::rate(lines, UNIT.long, UNIT.short), Panel::latency(trial, ORDER), Panel::sessions(trial)];
    aligned::of(trial, panels, remark)
}

/// One line per target. Returns none for a single target, and for more targets than there are colours.
fn by_target(trial: &Trial) -> Option<Chart> {
    let targets = trial.orders()?.targets.len();
    let numbers = (1..=targets).filter(|_| (2..=SERIES).contains(&targets));
    let line = |number: usize| {
        Line::of(Ink::Series(number - 1), &format!("target {number}"), trial, of_target(number))
    };
    let lines: Vec<Line> = numbers.map(line).filter(|line| line.values().count() > 1).collect();
    let most = lines.iter().flat_map(Line::values).reduce(f64::max)?;
    let remark = "One line per target. Rolled-back orders are included. One point per second. Shaded seconds do not count.";
    let course = Course { lines, band: None::<Band>, spans: Span::of(trial) };
    let y = from_zero(most, UNIT.long);
    Some(course.chart(trial, "Orders per minute of each target", &y, remark, (UNIT.short, figure)))
}

/// The share of the CPU that the load did not use beside the one at which the server was to be held.
fn server_cpu(trial: &Trial) -> Option<Chart> {
    let cpu = trial.orders()?.cpu_target?;
    let target = cpu.target_share * 100.0;
    let (label, title, remark) = match cpu.read.of {
        CpuOf::Groups | CpuOf::Processes => (
            "server",
            "CPU share of the server",
            "CPU time of the server's own processes, as a share of the CPUs that it may use. Shaded seconds do not count.",
        ),
        CpuOf::MachineLessLoad => (
            "machine, without the load",
            "CPU share of the machine, without the load",
            "CPU time of this machine without the load. Shaded seconds do not count.",
        ),
    };
    let share = Line::of(Ink::Series(0), label, trial, |sample| {
        Some(sample.gauges.get(SERVER_CPU).filter(|_| loaded(sample))? * 100.0)
    });
    if share.values().count() < 2 {
        return None;
    }
    let asked = Line::of(Ink::Series(2), "target", trial, move |sample| loaded(sample).then_some(target));
    let course = Course { lines: vec![asked, share], band: None, spans: Span::of(trial) };
    let y = Axis { print: per_cent, ..from_zero(100.0 / 1.05, "share of the CPU") };
    Some(course.chart(trial, title, &y, remark, ("", per_cent)))
}

fn per_cent(value: f64) -> String {
    format!("{}%", if value.fract() == 0.0 { plain(value) } else { figure(value) })
}

/// Clients that were driving, where their number was to hold the server at its share.
fn active(trial: &Trial) -> Option<Chart> {
    trial.orders()?.cpu_target?;
    let line = Line::of(Ink::Series(0), "active", trial, |s| s.gauges.get(ACTIVE_CLIENTS).copied());
    let most = line.values().reduce(f64::max).filter(|_| line.values().count() > 1)?;
    let course = Course { lines: vec![line], band: None, spans: Span::of(trial) };
    let remark = "Active clients at the end of each second, all targets together.";
    Some(course.chart(trial, "Active clients", &from_zero(most, "clients"), remark, ("clients", figure)))
}

/// Orders a minute of every client: the clients of a target side by side, the slowest first. None of a single client.
fn clients(trial: &Trial) -> Option<Chart> {
    let orders = trial.orders()?;
    let count: usize = orders.targets.iter().map(|target| target.clients_per_min.len()).sum();
    let most = orders.clients.map(|clients| clients.max_per_min).filter(|_| count > 1)?;
    let y = from_zero(most, "orders per minute");
    let frame = Frame::new(HEIGHT, &y, []);
    let (low, high) = (0.5, count as f64 + 0.5);
    let scale = Scale { spread: Spread::Time, low, high, from: frame.left, to: frame.right };
    let x = Axis { scale, title: "client", print: plain };
    let title = format!("Orders per minute of each client of {}", trial.name);
    let svg = svg((WIDTH, HEIGHT), &title, &describe(orders), |canvas| {
        frame.draw(canvas, &x, &y);
        let mut first = 0;
        for target in &orders.targets {
            let ink = key(target.number, orders.targets.len()).ink;
            bars(canvas, (target, ink), first, (&scale, &y.scale), count);
            first += target.clients_per_min.len();
        }
    });
    let reduced = if count > BARS { " Several clients share a bar, which shows the fastest." } else { "" };
    Some(Chart {
        heading: "Orders per minute of each client".to_owned(),
        svg,
        legend: legend(orders.targets.iter().map(|target| key(target.number, orders.targets.len()))),
        caption: format!("One bar per client, grouped by target, the slowest first.{reduced}"),
        table: table(orders),
    })
}

/// The colour of a target; of more than there are colours, neighbours differ.
fn key(number: usize, targets: usize) -> Key {
    match (targets <= SERIES, number % 2) {
        (true, _) => Key::new(Ink::Series(number - 1), format!("target {number}")),
        (false, 1) => Key::new(Ink::Series(0), "targets of odd numbers"),
        (false, _) => Key::new(Ink::Series(1), "targets of even numbers"),
    }
}

fn bars(
    canvas: &mut Canvas<'_>,
    (target, ink): (&OrdersTarget, Ink),
    first: usize,
    (x, y): (&Scale, &Scale),
    all: usize,
) {
    let mut rates = target.clients_per_min.clone();
    rates.sort_by(f64::total_cmp);
    let most = (BARS * rates.len() / all).max(1);
    for span in spans(rates.len(), most) {
        let Some(highest) = rates[span.clone()].last() else { continue };
        let edge = |index: usize| x.at((first + index) as f64 + 0.5);
        let (left, right) = (edge(span.start), edge(span.end));
        // A client without an order keeps a bar that is seen.
        let height = y.at(*highest).min(y.from - 1.0);
        let gap = ((right - left) * 0.15).min(1.0);
        canvas.rectangle(ink, 0.85, (left, height), (right - gap, y.from));
    }
}

fn described(target: &OrdersTarget, clients: &ClientSpread) -> String {
    format!(
        "target {}: {} clients, {} to {}, median {}",
        target.number,
        clients.clients,
        figure(clients.min_per_min),
        figure(clients.max_per_min),
        figure(clients.median_per_min)
    )
}

fn describe(orders: &Orders) -> String {
    let each = orders.targets.iter().filter_map(|target| Some(described(target, target.clients.as_ref()?)));
    each.collect::<Vec<String>>().join("; ")
}

fn table(orders: &Orders) -> Table {
    let heads = ["target", "clients", "slowest", "median", "fastest", "differ by", "by chance"];
    let rows = orders.targets.iter().filter_map(|target| {
        let clients = target.clients?;
        Some(Row::of(vec![
            target.number.to_string(),
            clients.clients.to_string(),
            figure(clients.min_per_min),
            figure(clients.median_per_min),
            figure(clients.max_per_min),
            clients.variability.map_or_else(|| format::UNKNOWN.to_owned(), format::per_cent),
            clients.variability_by_chance.map_or_else(|| format::UNKNOWN.to_owned(), format::per_cent),
        ]))
    });
    Table {
        title: "Orders per minute of single clients".to_owned(),
        columns: heads.map(Column::number).into(),
        rows: rows.collect(),
    }
}
