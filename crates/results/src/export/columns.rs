//! The columns of a table, from which every form of it is written: of the long table of metrics, and of that of seconds.
//!
//! An axis is numeric only if all its levels are plain numbers: digits with at most one point among them and at most a minus
//! before them, so few that a double tells them all apart. `8KiB`, `007`, `1e3` and an identifier of twenty digits are text.
//!
//! A column whose name is taken gets `_axis` behind it: an axis that is called like one of the other columns, or like another
//! axis but for case, which SQL does not heed in names. So does a figure of a second, with the word for what it is of.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use record::{Observation, Second, SecondFigure, Series};

use super::time::at;

/// Columns of metrics before and behind those of the axes.
const BEFORE: [&str; 4] = ["study", "trial", "block", "configuration"];
const BEHIND: [&str; 6] = ["metric", "unit", "value", "low", "high", "valid"];

/// Columns of seconds between those of the axes and those of the figures, and the last one.
const OF_SECOND: [&str; 4] = ["time", "end_s", "length_s", "phase"];
const VALID: &str = "valid";

/// What is put behind the name of an axis that is taken.
const SUFFIX: &str = "_axis";

/// One column.
#[derive(Debug, PartialEq)]
pub(super) struct Column<'a> {
    pub(super) name: String,
    pub(super) cells: Cells<'a>,
}

/// Its cells, one for each row.
#[derive(Debug, PartialEq)]
pub(super) enum Cells<'a> {
    Text(Vec<Option<Cow<'a, str>>>),
    Number(Vec<Option<f64>>),
    Whole(Vec<i64>),
    Flag(Vec<bool>),
}

/// All columns of metrics in their order.
pub(super) fn of_metrics(rows: &[Observation]) -> Vec<Column<'_>> {
    let [study, trial, block, configuration] = BEFORE;
    let [metric, unit, value, low, high, valid] = BEHIND;
    let rows = &rows.iter().collect::<Vec<&Observation>>()[..];
    let mut columns = vec![
        text(study, rows, |row| present(&row.study)),
        whole(trial, rows, |row| row.trial),
        whole(block, rows, |row| row.block),
        text(configuration, rows, |row| present(&row.configuration)),
    ];
    let fixed = BEFORE.into_iter().chain(BEHIND).map(str::to_owned);
    columns.extend(axes(fixed, &rows.iter().map(|row| &row.axes).collect::<Vec<_>>()));
    columns.extend([
        text(metric, rows, |row| present(&row.metric)),
        text(unit, rows, |row| present(&row.unit)),
        number(value, rows, |row| Some(row.value)),
        number(low, rows, |row| row.low),
        number(high, rows, |row| row.high),
        flag(valid, rows, |row| row.valid),
    ]);
    columns
}

/// A second and the trial that it is of.
type Row<'a> = (&'a Series, &'a Second);

/// All columns of seconds in their order.
pub(super) fn of_seconds(series: &[Series]) -> Vec<Column<'_>> {
    let [study, trial, block, configuration] = BEFORE;
    let [time, end_s, length_s, phase] = OF_SECOND;
    let rows: Vec<Row<'_>> =
        series.iter().flat_map(|of| of.seconds.iter().map(move |second| (of, second))).collect();
    let rows = &rows[..];
    let mut columns = vec![
        text(study, rows, |(of, _)| present(&of.study)),
        whole(trial, rows, |(of, _)| of.trial),
        whole(block, rows, |(of, _)| of.block),
        text(configuration, rows, |(of, _)| present(&of.configuration)),
    ];
    let fixed = BEFORE.into_iter().chain(OF_SECOND).chain([VALID]).map(str::to_owned);
    let figures = figures(fixed.clone(), series);
    let taken = fixed.chain(figures.iter().map(|figure| figure.name.clone()));
    columns.extend(axes(taken, &rows.iter().map(|(of, _)| &of.axes).collect::<Vec<_>>()));
    columns.extend([
        text(time, rows, |(of, second)| at(of.started.as_deref()?, second.end_s).map(Cow::Owned)),
        number(end_s, rows, |(_, second)| Some(second.end_s)),
        number(length_s, rows, |(_, second)| Some(second.length_s)),
        text(phase, rows, |(_, second)| Some(second.phase.word().into())),
    ]);
    columns.extend(figures);
    columns.push(flag(VALID, rows, |(of, _)| of.valid));
    columns
}

/// The figures of all series, in their order.
fn figures(fixed: impl Iterator<Item = String>, series: &[Series]) -> Vec<Column<'_>> {
    let all: BTreeSet<&SecondFigure> = series.iter().flat_map(|of| of.figures.keys()).collect();
    let mut names = Names::taken(fixed);
    let column = |figure: &SecondFigure| {
        let name = names.free(&figure.name, &format!("_{}", figure.of.word()));
        let cells = series.iter().flat_map(|of| {
            let known = of.figures.get(figure);
            (0..of.seconds.len()).map(move |second| known.and_then(|values| values.get(second).copied()?))
        });
        Column { name, cells: Cells::Number(cells.collect()) }
    };
    all.into_iter().map(column).collect()
}

fn column<'a>(name: &str, cells: Cells<'a>) -> Column<'a> {
    Column { name: name.to_owned(), cells }
}

fn text<'a, R: Copy>(name: &str, rows: &[R], of: fn(R) -> Option<Cow<'a, str>>) -> Column<'a> {
    column(name, Cells::Text(rows.iter().map(|&row| of(row)).collect()))
}

fn whole<'a, R: Copy>(name: &str, rows: &[R], of: fn(R) -> u32) -> Column<'a> {
    column(name, Cells::Whole(rows.iter().map(|&row| of(row).into()).collect()))
}

fn number<'a, R: Copy>(name: &str, rows: &[R], of: fn(R) -> Option<f64>) -> Column<'a> {
    column(name, Cells::Number(rows.iter().map(|&row| of(row)).collect()))
}

fn flag<'a, R: Copy>(name: &str, rows: &[R], of: fn(R) -> bool) -> Column<'a> {
    column(name, Cells::Flag(rows.iter().map(|&row| of(row)).collect()))
}

/// CSV cannot tell an empty text from none, so no form does.
fn present(text: &str) -> Option<Cow<'_, str>> {
    (!text.is_empty()).then_some(Cow::Borrowed(text))
}

/// The columns of the axes, sorted by the axes' names; of each row its levels.
fn axes<'a>(taken: impl Iterator<Item = String>, rows: &[&'a BTreeMap<String, String>]) -> Vec<Column<'a>> {
    let axes: BTreeSet<&str> = rows.iter().flat_map(|levels| levels.keys()).map(String::as_str).collect();
    let column = |(axis, name)| Column { name, cells: levels(rows, axis) };
    names(taken, &axes).into_iter().map(column).collect()
}

/// The name of each axis' column. Axes whose name is free keep it, also where a suffix would lead another one there.
fn names<'a>(taken: impl Iterator<Item = String>, axes: &BTreeSet<&'a str>) -> BTreeMap<&'a str, String> {
    let mut taken = Names::taken(taken);
    let (free, others): (Vec<&str>, Vec<&str>) = axes.iter().partition(|axis| taken.claim(axis));
    let mut names: BTreeMap<&str, String> = free.into_iter().map(|axis| (axis, axis.to_owned())).collect();
    names.extend(others.into_iter().map(|axis| (axis, taken.free(&format!("{axis}{SUFFIX}"), SUFFIX))));
    names
}

/// Names that columns have, whatever their case.
struct Names(BTreeSet<String>);

impl Names {
    fn taken(names: impl Iterator<Item = String>) -> Self {
        Self(names.map(|name| name.to_lowercase()).collect())
    }

    /// Takes a name that is free.
    fn claim(&mut self, name: &str) -> bool {
        !name.is_empty() && self.0.insert(name.to_lowercase())
    }

    /// The name, with the suffix as often behind it as makes it free.
    fn free(&mut self, name: &str, suffix: &str) -> String {
        let mut name = name.to_owned();
        while !self.claim(&name) {
            name.push_str(suffix);
        }
        name
    }
}

fn levels<'a>(rows: &[&'a BTreeMap<String, String>], axis: &str) -> Cells<'a> {
    let levels = || rows.iter().map(|levels| levels.get(axis).and_then(|level| present(level)));
    if levels().flatten().all(|level| plain_number(&level).is_some()) {
        Cells::Number(levels().map(|level| plain_number(&level?)).collect())
    } else {
        Cells::Text(levels().collect())
    }
}

/// A number that is written like one and that a double holds exactly enough to be told from any other that is.
fn plain_number(level: &str) -> Option<f64> {
    let unsigned = level.strip_prefix('-').unwrap_or(level);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let are_digits =
        |part: &str| !part.is_empty() && part.bytes().all(|character| character.is_ascii_digit());
    let is_identifier = whole.len() > 1 && whole.starts_with('0');
    let digits = unsigned.bytes().filter(u8::is_ascii_digit).count();
    let is_plain = are_digits(whole) && are_digits(fraction) && !is_identifier;
    level.parse().ok().filter(|_| is_plain && digits <= f64::DIGITS as usize)
}

#[cfg(test)]
mod tests {
    use record::{FigureOf, Phase};

    use super::super::fixture::observation;
    use super::*;

    /// Names of the columns between `configuration` and `metric`.
    fn axis_columns(axes: &[(&str, &str)]) -> Vec<String> {
        let rows = [observation(axes, 1.0)];
        let names: Vec<String> = of_metrics(&rows).into_iter().map(|column| column.name).collect();
        let (before, behind) = (names.len() - BEHIND.len(), BEFORE.len());
        assert_eq!(
            (&names[..behind], &names[before..]),
            (&BEFORE.map(String::from)[..], &BEHIND.map(String::from)[..])
        );
        names[behind..before].to_vec()
    }

    /// Cells of an axis called `x`, of which rows have these levels or none.
    fn cells(levels: &[Option<&'static str>]) -> Cells<'static> {
        let rows: Vec<Observation> = levels
            .iter()
            .map(|level| observation(&level.map_or(vec![("y", "1")], |level| vec![("x", level)]), 1.0))
            .collect();
        let rows = Box::leak(rows.into_boxed_slice());
        of_metrics(rows).into_iter().find(|column| column.name == "x").unwrap().cells
    }

    #[test]
    fn axes_stand_in_the_middle_sorted_by_name() {
        assert_eq!(axis_columns(&[]), [""; 0]);
        assert_eq!(
            axis_columns(&[("outstanding", "8"), ("block_size", "8KiB")]),
            ["block_size", "outstanding"]
        );
    }

    #[test]
    fn an_axis_whose_name_is_taken_gets_a_suffix() {
        assert_eq!(axis_columns(&[("value", "1"), ("trial", "2")]), ["trial_axis", "value_axis"]);
        assert_eq!(axis_columns(&[("Value", "1")]), ["Value_axis"]);
        assert_eq!(axis_columns(&[("Rate", "1"), ("rate", "2")]), ["Rate", "rate_axis"]);
        assert_eq!(axis_columns(&[("", "1")]), ["_axis"]);
        assert_eq!(axis_columns(&[("value", "1"), ("value_axis", "2")]), ["value_axis_axis", "value_axis"]);
    }

    #[test]
    fn an_axis_is_numeric_only_if_all_its_levels_are() {
        assert_eq!(
            cells(&[Some("8"), None, Some("-0.50"), Some("")]),
            Cells::Number(vec![Some(8.0), None, Some(-0.5), None])
        );
        assert_eq!(
            cells(&[Some("8"), None, Some("max"), Some("")]),
            Cells::Text(vec![Some("8".into()), None, Some("max".into()), None])
        );
    }

    #[test]
    fn numbers_are_plain_digits() {
        for (level, number) in
            [("0", 0.0), ("0.25", 0.25), ("-3", -3.0), ("999999999999999", 999_999_999_999_999.0)]
        {
            assert_eq!(plain_number(level), Some(number), "{level}");
        }
        for level in [
            "",
            "-",
            ".",
            "1.",
            ".5",
            "+1",
            "1e3",
            "inf",
            "NaN",
            "007",
            "8KiB",
            "1_000",
            "0x10",
            " 1",
            "1 ",
            "1.2.3",
            "٣",
            "9007199254740993",
            "0.1234567890123456",
            "--1",
        ] {
            assert_eq!(plain_number(level), None, "{level}");
        }
    }

    #[test]
    fn an_empty_text_is_none() {
        let mut row = observation(&[], 1.0);
        row.configuration.clear();
        let rows = [row];
        assert_eq!(of_metrics(&rows)[3].cells, Cells::Text(vec![None]));
    }

    #[test]
    fn no_rows_are_fixed_columns_without_cells() {
        let names: Vec<String> = of_metrics(&[]).into_iter().map(|column| column.name).collect();
        assert_eq!(names, [&BEFORE[..], &BEHIND[..]].concat());
    }

    /// A trial of one second with this figure, and one of two seconds without it.
    fn series(axis: &str, figures: &[(FigureOf, &str)]) -> [Series; 2] {
        let second = |end_s| Second { end_s, length_s: 1.0, phase: Phase::WarmUp };
        let figure = |&(of, name): &(FigureOf, &str)| {
            (SecondFigure { of, name: name.to_owned() }, vec![Some(of as u8 as f64)])
        };
        let first = Series {
            study: "20261121T073000Z-disk".to_owned(),
            trial: 1,
            block: 1,
            configuration: "page read".to_owned(),
            axes: BTreeMap::from([(axis.to_owned(), "8".to_owned())]),
            started: Some("2026-11-21T07:30:00.25Z".to_owned()),
            valid: true,
            seconds: vec![second(1.0)],
            figures: figures.iter().map(figure).collect(),
        };
        let mut other = Series { trial: 2, valid: false, started: None, ..first.clone() };
        other.axes.clear();
        other.figures.clear();
        other.seconds = vec![second(1.0), Second { phase: Phase::Measure, ..second(1.5) }];
        [first, other]
    }

    #[test]
    fn a_row_is_a_second_and_what_a_trial_lacks_is_none() {
        let series = series("outstanding", &[(FigureOf::Operation, "read_per_s")]);
        let columns = of_seconds(&series);
        let named = |name: &str| &columns.iter().find(|column| column.name == name).unwrap().cells;
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let middle = ["outstanding", "time", "end_s", "length_s", "phase", "read_per_s", "valid"];
        assert_eq!(names, [&BEFORE[..], &middle[..]].concat());
        assert_eq!(*named("trial"), Cells::Whole(vec![1, 2, 2]));
        assert_eq!(*named("outstanding"), Cells::Number(vec![Some(8.0), None, None]));
        assert_eq!(*named("time"), Cells::Text(vec![Some("2026-11-21T07:30:01.250Z".into()), None, None]));
        assert_eq!(*named("end_s"), Cells::Number(vec![Some(1.0), Some(1.0), Some(1.5)]));
        let phases = ["warm-up", "warm-up", "measured"].map(|phase| Some(phase.into()));
        assert_eq!(*named("phase"), Cells::Text(phases.into()));
        assert_eq!(*named("read_per_s"), Cells::Number(vec![Some(0.0), None, None]));
        assert_eq!(*named("valid"), Cells::Flag(vec![true, false, false]));
    }

    #[test]
    fn figures_whose_names_are_taken_say_what_they_are_of() {
        let columns = |axis: &str, figures: &[(FigureOf, &str)]| -> Vec<(String, bool)> {
            let series = series(axis, figures);
            let columns = of_seconds(&series);
            let of_first = |cells: &Cells<'_>| matches!(cells, Cells::Number(of) if of[0] == Some(4.0));
            columns.into_iter().skip(BEFORE.len()).map(|of| (of.name, of_first(&of.cells))).collect()
        };
        let (name, of_device) = ("device_sda_reads_per_s", (FigureOf::Device, "device_sda_reads_per_s"));
        let found = columns(name, &[of_device, (FigureOf::Operation, name), (FigureOf::Gauge, "Time")]);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let figures = [name, "Time_gauge", "device_sda_reads_per_s_device", "valid"];
        let expected = [&["device_sda_reads_per_s_axis"][..], &OF_SECOND[..], &figures[..]].concat();
        assert_eq!(names, expected);
        let of_device: Vec<bool> = found.iter().map(|(_, of_device)| *of_device).collect();
        assert_eq!(of_device[5..], [false, false, true, false], "the value stands under its own name");
    }
}
