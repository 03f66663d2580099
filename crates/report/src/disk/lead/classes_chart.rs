//! Abilities of a storage on the scales of classes of storage: where it stands is seen at a glance.

use crate::chart::Chart;
use crate::chart::canvas::{Canvas, Ink, Side, svg, text_width};
use crate::chart::frame::WIDTH;
use crate::chart::scale::Scale;
use crate::disk::class::{self, Band};
use crate::disk::published;
use crate::format::{self, plain};
use crate::table::{Column, INTERVAL, Row, Table};

use super::classes::{Ability, Found};
use super::uncounted;

/// Height of an ability.
const ROW: f64 = 92.0;
/// Heights within it: the name, the classes, the measured figure, the axis, its ticks.
const NAME: f64 = 10.0;
const BAND_TOP: f64 = 20.0;
const BAND_BOTTOM: f64 = 40.0;
const POINT: f64 = 53.0;
const AXIS: f64 = 64.0;
const TICKS: f64 = 76.0;
/// Left and right end of the scales.
const SIDES: (f64, f64) = (4.0, WIDTH - 8.0);
/// A scale goes on so many times below the end of the first class, and above the begin of the last.
const ROOM_TIMES: f64 = 10.0;
/// A scale begins at this share of a measured figure at the latest.
const LEAST_SHARE: f64 = 0.5;
/// Radius of the measured figure, and half the length of the line through one that does not count.
const DOT: f64 = 5.0;
const STRIKE: f64 = 9.0;
const INK: Ink = Ink::Series(0);

/// A scale for each ability.
pub(super) fn chart(abilities: &[Ability]) -> Option<Chart> {
    let library = published::library()?;
    let height = abilities.len() as f64 * ROW;
    let description = abilities.iter().map(described).collect::<Vec<String>>().join("; ");
    let title = "This storage among classes of storage (logarithmic scales)";
    let svg = svg((WIDTH, height), title, &description, |canvas| {
        for (number, ability) in abilities.iter().enumerate() {
            draw(canvas, ability, number as f64 * ROW);
        }
    });
    let has_invalid = abilities.iter().any(|ability| matches!(ability.found, Found::Not { .. }));
    let invalid =
        if has_invalid { " A struck-out point was measured in a trial that does not count." } else { "" };
    let goes_on =
        if abilities.iter().any(goes_on) { " A bar at the left end goes on to the left." } else { "" };
    Some(Chart {
        heading: title.to_owned(),
        svg,
        legend: Vec::new(),
        caption: format!(
            "Point and bar: measured here, with the 95% interval.{goes_on}{invalid} {}",
            class::ends_in_words(library)
        ),
        table: table(abilities),
    })
}

/// True if the interval begins below the scale.
fn goes_on(ability: &Ability) -> bool {
    matches!(ability.found, Found::Counts { interval: Some((low, _)), .. } if low < scale(ability).low)
}

fn scale(ability: &Ability) -> Scale {
    let ends = || ability.bands.iter().filter_map(|band| band.end);
    let (low, high) = (ends().fold(f64::INFINITY, f64::min), ends().fold(0.0, f64::max));
    let (least, most) = match ability.found {
        Found::Counts { value, interval, .. } => {
            (Some(value), Some(interval.map_or(value, |(_, high)| high)))
        }
        Found::Not { value, .. } => (value, value),
    };
    // A rate of nothing has no place on a scale by factors.
    let least = least.filter(|least| *least > 0.0).unwrap_or(low);
    let low = (low / ROOM_TIMES).min(least * LEAST_SHARE);
    Scale::decades(low, (high * ROOM_TIMES).max(most.unwrap_or(high)), SIDES.0, SIDES.1)
}

fn draw(canvas: &mut Canvas<'_>, ability: &Ability, top: f64) {
    let scale = scale(ability);
    canvas.text(Ink::Text, Side::Right, (SIDES.0, top + NAME), &ability.name);
    let (ink, text) = match &ability.found {
        Found::Counts { value, .. } => (INK, format!("{} {}", format::figure(*value), ability.unit)),
        Found::Not { state, .. } => (Ink::Text, format::state(*state).to_owned()),
    };
    canvas.text(ink, Side::Left, (SIDES.1, top + NAME), &text);
    bands(canvas, ability, &scale, top);
    axis(canvas, &scale, top);
    match ability.found {
        Found::Counts { value, interval, .. } => measured(canvas, &scale, top, value, interval),
        Found::Not { value: Some(value), .. } => struck(canvas, (scale.at(value), top + POINT)),
        Found::Not { value: None, .. } => {}
    }
}

/// Where each class begins and ends, on this scale.
fn edges<'a>(bands: &'a [Band], scale: &'a Scale) -> impl Iterator<Item = (&'static str, f64, f64)> + 'a {
    let ends = || bands.iter().map(|band| band.end.map_or(scale.to, |end| scale.at(end)));
    let begins = std::iter::once(scale.from).chain(ends());
    bands.iter().zip(begins.zip(ends())).map(|(band, (begin, end))| (band.name, begin, end))
}

fn bands(canvas: &mut Canvas<'_>, ability: &Ability, scale: &Scale, top: f64) {
    let value = match ability.found {
        Found::Counts { value, .. } => Some(value),
        Found::Not { .. } => None,
    };
    for (number, (name, begin, end)) in edges(&ability.bands, scale).enumerate() {
        let ground = if number % 2 == 0 { Ink::Shade } else { Ink::Grid };
        let (upper, lower) = ((begin, top + BAND_TOP), (end, top + BAND_BOTTOM));
        canvas.rectangle(ground, 1.0, upper, lower);
        if value.is_some_and(|value| name == class_of(&ability.bands, value)) {
            canvas.rectangle(INK, 0.25, upper, lower);
        }
        let middle = f64::midpoint(begin, end);
        canvas.text(Ink::Text, Side::Middle, (middle, top + f64::midpoint(BAND_TOP, BAND_BOTTOM)), name);
    }
}

/// The class that a rate is of.
fn class_of(bands: &[Band], value: f64) -> &'static str {
    bands.iter().find(|band| band.end.is_none_or(|end| value <= end)).map_or("", |band| band.name)
}

fn axis(canvas: &mut Canvas<'_>, scale: &Scale, top: f64) {
    canvas.line(Ink::Axis, 1.0, (scale.from, top + AXIS), (scale.to, top + AXIS));
    for tick in scale.ticks() {
        let (at, text) = (scale.at(tick), plain(tick));
        canvas.line(Ink::Axis, 1.0, (at, top + AXIS), (at, top + AXIS + 4.0));
        let half = text_width(&text) / 2.0;
        if at - half >= 0.0 && at + half <= WIDTH {
            canvas.text(Ink::Text, Side::Middle, (at, top + TICKS), &text);
        }
    }
}

fn measured(canvas: &mut Canvas<'_>, scale: &Scale, top: f64, value: f64, interval: Option<(f64, f64)>) {
    let (at, y) = (scale.at(value), top + POINT);
    let (low, high) = interval.map_or((at, at), |(low, high)| (scale.at(low), scale.at(high)));
    canvas.line(INK, 3.0, (low, y), (high, y));
    canvas.line(INK, 2.0, (at, top + BAND_BOTTOM), (at, y));
    canvas.dot(INK, DOT, (at, y));
}

/// A figure that does not count.
fn struck(canvas: &mut Canvas<'_>, (x, y): (f64, f64)) {
    canvas.ring(Ink::Axis, DOT, (x, y));
    canvas.line(Ink::Axis, 2.0, (x - STRIKE, y + DOT), (x + STRIKE, y - DOT));
}

fn described(ability: &Ability) -> String {
    let found = match &ability.found {
        Found::Counts { value, .. } => {
            format!("{} {}, class {}", format::figure(*value), ability.unit, class_of(&ability.bands, *value))
        }
        Found::Not { state, .. } => uncounted(*state),
    };
    format!("{}: {found}", ability.name)
}

fn table(abilities: &[Ability]) -> Table {
    let columns = vec![
        Column::words("ability"),
        Column::number("measured"),
        Column::number(INTERVAL),
        Column::words("classes"),
    ];
    let row = |ability: &Ability| {
        let (measured, interval) = match &ability.found {
            Found::Counts { value, interval, .. } => (format::figure(*value), *interval),
            Found::Not { value, state } => {
                (format!("{} ({})", format::figure_or_dash(*value), uncounted(*state)), None)
            }
        };
        let interval =
            interval.map_or_else(|| format::UNKNOWN.to_owned(), |(low, high)| format::range(low, high));
        let class = |band: &Band| match band.end {
            Some(end) => format!("{} up to {}", band.name, format::figure(end)),
            None => format!("{} above", band.name),
        };
        let classes = ability.bands.iter().map(class).collect::<Vec<String>>().join(", ");
        Row::of(vec![format!("{}, {}", ability.name, ability.unit), measured, interval, classes])
    };
    Table {
        title: "Measured rates and classes of storage".to_owned(),
        columns,
        rows: abilities.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::classes::abilities;
    use super::super::samples;
    use super::*;
    use crate::disk::storage::Storage;
    use crate::report::Report;
    use record::State;

    fn ability(found: Found) -> Ability {
        let bands = class::read_bands(published::library().unwrap()).unwrap();
        Ability { name: "Reads".to_owned(), unit: "reads/s", bands, found }
    }

    fn counts(value: f64, interval: Option<(f64, f64)>) -> Found {
        Found::Counts { value, interval, beside: String::new() }
    }

    #[test]
    fn the_class_of_each_figure_is_told_and_its_ends_are_in_the_table() {
        let report = Report::of(&samples::check());
        let chart = chart(&abilities(&report, &Storage::of(&report).unwrap())).unwrap();
        for told in
            ["Durable commits: 376 commits/s, class HDD", "reads/s, class SSD", "MB/s, class NVMe or array"]
        {
            assert!(chart.svg.contains(told), "{told} in {}", chart.svg);
        }
        assert_eq!(chart.table.rows[0].cells[3], "HDD up to 500, SSD up to 4,545, write cache above");
        assert!(chart.caption.contains("HDS tests, 2013") && !chart.caption.contains("does not count"));
    }

    #[test]
    fn what_does_not_count_has_no_class_and_is_said_so() {
        let invalid = Found::Not { value: Some(9_000.0), state: State::Invalid };
        let chart = chart(&[ability(invalid)]).unwrap();
        assert!(chart.svg.contains("Reads: invalid, does not count") && chart.svg.contains(">invalid<"));
        assert!(!chart.svg.contains("series-1"), "nothing is drawn as measured: {}", chart.svg);
        assert!(chart.caption.contains("does not count"), "{}", chart.caption);
        assert_eq!(chart.table.rows[0].cells[1], "9,000 (invalid, does not count)");
    }

    #[test]
    fn every_figure_has_a_place_on_its_scale() {
        for value in [0.5, 40.0, 9e6] {
            let scale = scale(&ability(counts(value, Some((value * 0.9, value * 1.1)))));
            assert!(scale.low <= value * 0.9 && value * 1.1 <= scale.high, "{value} on {scale:?}");
        }
        let wide = ability(counts(2_000.0, Some((0.0, 4_000.0))));
        assert!(chart(&[wide]).unwrap().caption.contains("goes on to the left"));
        let narrow = ability(counts(2_000.0, Some((1_900.0, 2_100.0))));
        assert!(!chart(&[narrow]).unwrap().caption.contains("goes on to the left"));
    }
}
