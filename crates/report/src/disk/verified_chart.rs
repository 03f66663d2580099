//! Charts of a disk test that checked its pages: how long the slowest I/O of each second took, with stalls and audits, and a map of
//! each file with what was found and how often it was looked at.

use record::verify::{FileMap, LATE_MAX};
use record::{MarkKind, Verified};

use crate::chart::canvas::{Canvas, Ink, Side, TEXT, svg};
use crate::chart::frame::{Axis, Frame, HEIGHT, WIDTH};
use crate::chart::over_time::{Course, Line, Span};
use crate::chart::scale::Scale;
use crate::chart::{Chart, Key};
use crate::format;
use crate::table::{Column, Row, Table};
use crate::trial::Trial;

/// Height of a file's row in the map.
const ROW: f64 = 46.0;
/// Height of its cells.
const CELL: f64 = 20.0;
/// More parts of files than these make no map.
const ROWS_MAX: usize = 24;
/// The faintest that a cell is drawn that was checked.
const FAINTEST: f64 = 0.25;

/// The longest I/O of each second, by kind. None of fewer than two seconds.
pub(super) fn longest(trial: &Trial, verified: &Verified) -> Option<Chart> {
    let of = |kind: &str| {
        Line::of(Ink::Series(trial.shown().ink(kind)), kind, trial, |sample| {
            sample.operations.get(kind).and_then(|operation| operation.latency.max_us)
        })
    };
    let lines: Vec<Line> = ["read", "write", record::disk::FLUSH]
        .map(of)
        .into_iter()
        .filter(|line| line.values().count() > 1)
        .collect();
    let low = lines.iter().flat_map(Line::values).reduce(f64::min)?;
    let high = lines.iter().flat_map(Line::values).reduce(f64::max)?;
    let (top, bottom) = Frame::heights(HEIGHT);
    let y = Axis {
        scale: Scale::decades(low, high, bottom, top),
        title: "longest I/O",
        print: format::plain_latency,
    };
    let course = Course { lines, band: None, spans: spans(trial, verified) };
    let remark = format!("The slowest I/O answered in each second. {}", told_of_slow(verified));
    Some(course.chart(trial, "Stalls and longest I/O over time", &y, &remark, ("", format::latency)))
}

/// The number of slow I/Os, and their place in the drawing.
fn told_of_slow(verified: &Verified) -> String {
    if verified.slow.max(verified.stalls) == 0 {
        return "No I/O took longer than 1 s.".to_owned();
    }
    let which = if verified.slow.max(verified.stalls) > verified.late.len() as u64 {
        format!("Each of the first {} is", format::grouped(LATE_MAX as u64))
    } else {
        "Each is".to_owned()
    };
    format!(
        "{} took longer than 1 s, {} longer than {} s. {which} shaded from the time it was sent to the time it was answered, except during the last audit.",
        format::counted(verified.slow as usize, "I/O", "I/Os"),
        format::grouped(verified.stalls),
        verified.stall_s,
    )
}

/// Audits, and I/Os that took long, as far as the load went.
fn spans(trial: &Trial, verified: &Verified) -> Vec<Span> {
    let audit = MarkKind::Audit.name();
    let mut spans: Vec<Span> = Span::of(trial).into_iter().filter(|span| span.name == audit).collect();
    let end_s = trial.samples.last().map_or(0.0, |sample| sample.end_s);
    let late = verified.late.iter().filter(|late| late.sent_s < end_s);
    spans.extend(late.map(|late| {
        let (ink, name) =
            if late.is_stalled { (Ink::Event(1), "stalled") } else { (Ink::Series(3), "over 1 s") };
        Span { ink, name, begin_s: late.sent_s, end_s: late.answered_s.unwrap_or(f64::INFINITY) }
    }));
    spans
}

/// A row for each part of a file: its pages from left to right, the darker the more often they were checked, and where damage was
/// found. None of very many.
pub(super) fn map(trial: &Trial, verified: &Verified) -> Option<Chart> {
    let rows = &verified.map;
    if rows.is_empty() || rows.len() > ROWS_MAX {
        return None;
    }
    let most = rows.iter().flat_map(|row| &row.checks).copied().reduce(f64::max)?;
    let height = rows.len() as f64 * ROW + 8.0;
    let title = format!("Map of what {} verified", trial.name);
    let description = rows.iter().map(described).collect::<Vec<String>>().join("; ");
    let svg = svg((WIDTH, height), &title, &description, |canvas| {
        for (number, row) in rows.iter().enumerate() {
            draw(canvas, row, number as f64 * ROW + 4.0, most);
        }
    });
    let is_damaged = rows.iter().any(|row| row.damaged.iter().any(|&pages| pages > 0));
    let mut legend = vec![Key::new(Ink::Series(0), "checked"), Key::new(Ink::Shade, "never checked")];
    legend.extend(is_damaged.then(|| Key::new(Ink::Series(1), "damage found")));
    Some(Chart {
        heading: "Map of the files: checked pages and damage".to_owned(),
        svg,
        legend,
        caption: format!(
            "From the first page to the last. Darker parts were checked more often, the darkest {} times per page on average.",
            format::figure(most)
        ),
        table: table(rows),
    })
}

fn described(map: &FileMap) -> String {
    let parts: Vec<String> =
        damaged_parts(map).map(|(from, to, pages)| format!("{pages} damaged in {from}-{to}")).collect();
    let damage = if parts.is_empty() { "no damage".to_owned() } else { parts.join(", ") };
    format!("{} from page {}: {} of {} pages checked, {damage}", map.path, map.first, map.checked, map.pages)
}

/// First and last page of each equal part in which damage was found, and the number of such pages.
fn damaged_parts(map: &FileMap) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
    let parts = map.damaged.len() as u64;
    let edge = move |part: u64| map.first + (part * map.pages).div_ceil(parts.max(1));
    (0..).zip(&map.damaged).filter(|(_, pages)| **pages > 0).map(move |(part, &pages)| {
        let from = edge(part);
        (from, (edge(part + 1) - 1).max(from), pages)
    })
}

fn draw(canvas: &mut Canvas<'_>, map: &FileMap, top: f64, most: f64) {
    let (left, right) = (8.0, WIDTH - 8.0);
    canvas.text(Ink::Text, Side::Right, (left, top + TEXT * 0.6), &called(map));
    let (top, cells) = (top + TEXT * 1.4, map.checks.len());
    let at = |cell: usize| left + (right - left) * cell as f64 / cells as f64;
    for (cell, (&checks, &damaged)) in map.checks.iter().zip(&map.damaged).enumerate() {
        let (ink, opacity) = match (damaged, checks) {
            (1.., _) => (Ink::Series(1), 1.0),
            (0, checks) if checks > 0.0 => (Ink::Series(0), FAINTEST + (1.0 - FAINTEST) * checks / most),
            (0, _) => (Ink::Shade, 1.0),
        };
        canvas.rectangle(ink, opacity, (at(cell), top), (at(cell + 1) - 0.5, top + CELL));
    }
}

/// The name of a file with the pages of it; of a long one the end.
fn called(map: &FileMap) -> String {
    const NAME_MAX: usize = 30;
    let characters = map.path.chars().count();
    let name: String = map.path.chars().skip(characters.saturating_sub(NAME_MAX)).collect();
    let cut = if characters > NAME_MAX { "…" } else { "" };
    format!("{cut}{name}, pages {}-{}", map.first, map.first + map.pages.saturating_sub(1))
}

fn table(rows: &[FileMap]) -> Table {
    let columns = vec![
        Column::words("file"),
        Column::number("from page"),
        Column::number("pages"),
        Column::number("checked"),
        Column::words("damage, by pages"),
    ];
    let row = |map: &FileMap| {
        let parts: Vec<String> =
            damaged_parts(map).map(|(from, to, pages)| format!("{pages} in {from}-{to}")).collect();
        let damage = if parts.is_empty() { "none".to_owned() } else { parts.join(", ") };
        Row::of(vec![
            map.path.clone(),
            map.first.to_string(),
            format::grouped(map.pages),
            format::grouped(map.checked),
            damage,
        ])
    };
    Table { title: "Checks of each file".to_owned(), columns, rows: rows.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Made, study};
    use crate::report::Report;
    use record::verify::Late;
    use record::{Damage, Mark, MeasuredTrial};

    fn verified() -> Verified {
        let map = |first, damaged: &[u64]| FileMap {
            path: "/data/verify.dat".to_owned(),
            first,
            pages: 10,
            checked: 9,
            damaged: damaged.to_vec(),
            checks: vec![4.0; damaged.len()],
        };
        let late = |sent_s, is_stalled| Late { sent_s, answered_s: Some(sent_s + 2.0), is_stalled };
        Verified {
            map: vec![map(0, &[0, 0, 2, 0]), map(10, &[0; 4])],
            late: vec![late(2.0, false), late(4.0, true), late(90.0, true)],
            damage: [(Damage::Torn, 2)].into(),
            stall_s: 1.5,
            stalls: 2,
            slow: 3,
            ..Verified::default()
        }
    }

    fn reported(measured: MeasuredTrial) -> Trial {
        Report::of(&study("verify", vec![measured])).trials.remove(0)
    }

    fn trial(name: &str) -> Trial {
        let verified = verified();
        let made = Made::mixed(name)
            .outcome(|outcome| outcome.verified = Some(Box::new(verified)))
            .recorded(|record| record.marks.push(Mark::planned(MarkKind::Audit, 5.0, Some(7.0), "")));
        reported(made.trial(1))
    }

    #[test]
    fn stalls_are_drawn_where_they_were_and_counted() {
        let trial = trial("verify");
        let spans: Vec<_> =
            spans(&trial, &verified()).iter().map(|span| (span.name, span.begin_s, span.end_s)).collect();
        assert_eq!(spans, [("audit", 5.0, 7.0), ("over 1 s", 2.0, 4.0), ("stalled", 4.0, 6.0)]);
        let chart = longest(&trial, &verified()).unwrap();
        assert!(
            chart.caption.contains("3 I/Os took longer than 1 s, 2 longer than 1.5 s"),
            "{}",
            chart.caption
        );
        let calm = Verified { slow: 0, stalls: 0, late: Vec::new(), ..verified() };
        assert_eq!(told_of_slow(&calm), "No I/O took longer than 1 s.");
        let legend: Vec<&str> = chart.legend.iter().map(|key| &*key.text).collect();
        assert_eq!(legend, ["read", "write", "flush", "audit", "over 1 s", "stalled"]);
        assert!(chart.svg.contains("over 1 s"));
    }

    #[test]
    fn the_map_says_where_damage_is() {
        let chart = map(&trial("verify"), &verified()).unwrap();
        assert!(
            chart.svg.contains("…") || chart.svg.contains("/data/verify.dat, pages 0-9"),
            "{}",
            chart.svg
        );
        assert!(chart.svg.contains("2 damaged in 5-7"), "{}", chart.svg);
        let damage: Vec<&str> = chart.table.rows.iter().map(|row| &*row.cells[4]).collect();
        assert_eq!(damage, ["2 in 5-7", "none"]);
        assert_eq!(map(&trial("verify"), &Verified::default()).map(|chart| chart.heading), None);
    }

    /// A rate that falls while everything is read again was told as unsteady.
    #[test]
    fn audits_are_no_unsteadiness() {
        let fallen = |marks: Vec<Mark>| {
            let made = Made::read("R").seconds(20).recorded(|record| record.marks = marks);
            let mut measured = made.trial(1);
            for sample in &mut measured.samples[10..14] {
                sample.operations.values_mut().for_each(|operation| operation.count = 0);
            }
            reported(measured).stability
        };
        let audit = Mark::planned(MarkKind::Audit, 10.2, Some(13.5), "");
        assert!(fallen(Vec::new()).coefficient_of_variation.unwrap() > 0.3);
        assert!(fallen(vec![audit]).coefficient_of_variation.unwrap() < 0.05);
    }
}
