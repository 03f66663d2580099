//! What the devices under a trial's load did over its seconds, a line a device; where there is but one, its figure is told.

use std::collections::BTreeSet;

use record::{DeviceLoad, GroupLoad};

use super::Chart;
use super::canvas::Ink;
use super::frame::{Axis, Frame, HEIGHT};
use super::over_time::{Course, Line, Span, highest};
use super::scale::Scale;
use crate::format::{self, plain};
use crate::machine::Part;
use crate::table::{Column, Row, Table};
use crate::trial::Trial;

/// Requests in the queue of each device; none of a trial with one device or none.
pub(crate) fn devices(trial: &Trial) -> Option<Chart> {
    let line = |device: &Part<DeviceLoad>| {
        let resources = trial.beside.resources.iter();
        let read = resources.filter_map(|r| Some((r.end_s, r.devices.get(&device.name)?.queue_depth)));
        Line::through(Ink::Series(0), &device.name, read)
    };
    let (lines, remark) = highest(trial.beside.devices.iter().map(line).collect(), "devices");
    let most = lines.iter().flat_map(Line::values).reduce(f64::max)?;
    let (top, bottom) = Frame::heights(HEIGHT);
    let scale = Scale::from_zero((most * 1.05).max(1.0), bottom, top);
    let y = Axis { scale, title: "requests in the queue", print: plain };
    let course = Course { lines, band: None, spans: Span::of(trial) };
    let remark = format!("One line per device, one point per second. Shaded seconds do not count.{remark}");
    Some(course.chart(trial, "Queues of the devices over time", &y, &remark, ("requests", format::figure)))
}

/// Processors that started servers used, and that they were not let use; none where no group counted that.
pub(crate) fn started(trial: &Trial) -> Option<Chart> {
    let read = &trial.beside.resources;
    let line = |name: &str, what: &str, of: fn(&GroupLoad) -> f64| {
        let points = read.iter().filter_map(|r| Some((r.end_s, of(r.groups.get(name)?))));
        Line::through(Ink::Series(0), &format!("{name} {what}"), points)
    };
    let names: BTreeSet<&String> = read.iter().flat_map(|r| r.groups.keys()).collect();
    let lines = names.into_iter().flat_map(|name| {
        [line(name, "used", |load| load.cpu_cores), line(name, "throttled", |load| load.throttled_cores)]
    });
    let (lines, remark) = highest(lines.collect(), "lines");
    let most = lines.iter().flat_map(Line::values).reduce(f64::max)?;
    let (top, bottom) = Frame::heights(HEIGHT);
    let scale = Scale::from_zero((most * 1.05).max(0.1), bottom, top);
    let y = Axis { scale, title: "CPUs", print: plain };
    let course = Course { lines, band: None, spans: Span::of(trial) };
    let remark = format!(
        "CPUs that a server used, and CPUs that its limit withheld. One point per second. Shaded seconds do not count.{remark}"
    );
    Some(course.chart(trial, "CPUs of managed servers over time", &y, &remark, ("CPUs", format::figure)))
}

/// The means of each device over the measured window, where there are several.
pub(crate) fn device_table(trial: &Trial) -> Option<Table> {
    if trial.beside.devices.is_empty() {
        return None;
    }
    let heads = ["reads/s", "writes/s", "read MB/s", "written MB/s", "queue", "busy", "read", "write"];
    let columns = std::iter::once(Column::words("device")).chain(heads.map(Column::number)).collect();
    let cells = |name: &str, load: &DeviceLoad| {
        let counts = [
            load.reads_per_s,
            load.writes_per_s,
            load.read_bytes_per_s / 1e6,
            load.write_bytes_per_s / 1e6,
            load.queue_depth,
        ];
        let mut cells = vec![name.to_owned()];
        cells.extend(counts.map(format::figure));
        cells.push(load.busy_share.map_or_else(|| format::UNKNOWN.to_owned(), format::per_cent));
        cells.extend([load.read_latency_us, load.write_latency_us].map(format::latency_or_dash));
        cells
    };
    let rows = trial.beside.devices.iter().map(|device| Row::of(cells(&device.name, &device.mean)));
    Some(Table { title: "Devices".to_owned(), columns, rows: rows.collect() })
}
