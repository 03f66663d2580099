//! The columns of the long table, from which every form of it is written.
//!
//! An axis is numeric only if all its levels are plain numbers: digits with at most one point among them and at most a minus
//! before them, so few that a double tells them all apart. `8KiB`, `007`, `1e3` and an identifier of twenty digits are text.
//!
//! A column whose name is taken gets `_axis` behind it: an axis that is called like one of the fixed columns, or like another
//! axis but for case, which SQL does not heed in names.

use std::collections::{BTreeMap, BTreeSet};

use record::Observation;

/// Columns before and behind those of the axes.
const BEFORE: [&str; 4] = ["study", "trial", "block", "configuration"];
const BEHIND: [&str; 6] = ["metric", "unit", "value", "low", "high", "valid"];

/// What is put behind a name that is taken.
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
    Text(Vec<Option<&'a str>>),
    Number(Vec<Option<f64>>),
    Whole(Vec<i64>),
    Flag(Vec<bool>),
}

/// All columns in their order.
pub(super) fn columns(rows: &[Observation]) -> Vec<Column<'_>> {
    let [study, trial, block, configuration] = BEFORE;
    let [metric, unit, value, low, high, valid] = BEHIND;
    let mut columns = vec![
        text(study, rows, |row| &row.study),
        whole(trial, rows, |row| row.trial),
        whole(block, rows, |row| row.block),
        text(configuration, rows, |row| &row.configuration),
    ];
    columns.extend(axes(rows));
    columns.extend([
        text(metric, rows, |row| &row.metric),
        text(unit, rows, |row| &row.unit),
        column(value, Cells::Number(rows.iter().map(|row| Some(row.value)).collect())),
        column(low, Cells::Number(rows.iter().map(|row| row.low).collect())),
        column(high, Cells::Number(rows.iter().map(|row| row.high).collect())),
        column(valid, Cells::Flag(rows.iter().map(|row| row.valid).collect())),
    ]);
    columns
}

fn column<'a>(name: &str, cells: Cells<'a>) -> Column<'a> {
    Column { name: name.to_owned(), cells }
}

fn text<'a>(name: &str, rows: &'a [Observation], of: fn(&Observation) -> &String) -> Column<'a> {
    column(name, Cells::Text(rows.iter().map(|row| present(of(row))).collect()))
}

fn whole<'a>(name: &str, rows: &'a [Observation], of: fn(&Observation) -> u32) -> Column<'a> {
    column(name, Cells::Whole(rows.iter().map(|row| of(row).into()).collect()))
}

/// CSV cannot tell an empty text from none, so no form does.
fn present(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// The columns of the axes, sorted by the axes' names.
fn axes(rows: &[Observation]) -> impl Iterator<Item = Column<'_>> {
    let axes: BTreeSet<&str> = rows.iter().flat_map(|row| row.axes.keys()).map(String::as_str).collect();
    names(&axes).into_iter().map(|(axis, name)| Column { name, cells: levels(rows, axis) })
}

/// The name of each axis' column. Axes whose name is free keep it, also where a suffix would lead another one there.
fn names<'a>(axes: &BTreeSet<&'a str>) -> BTreeMap<&'a str, String> {
    let mut taken: BTreeSet<String> = BEFORE.into_iter().chain(BEHIND).map(str::to_owned).collect();
    let mut claim = |name: &str| !name.is_empty() && taken.insert(name.to_lowercase());
    let (free, others): (Vec<&str>, Vec<&str>) = axes.iter().partition(|axis| claim(axis));
    let mut names: BTreeMap<&str, String> = free.into_iter().map(|axis| (axis, axis.to_owned())).collect();
    for axis in others {
        let mut name = format!("{axis}{SUFFIX}");
        while !claim(&name) {
            name.push_str(SUFFIX);
        }
        names.insert(axis, name);
    }
    names
}

fn levels<'a>(rows: &'a [Observation], axis: &str) -> Cells<'a> {
    let levels = || rows.iter().map(|row| row.axes.get(axis).and_then(|level| present(level)));
    if levels().flatten().all(|level| plain_number(level).is_some()) {
        Cells::Number(levels().map(|level| level.and_then(plain_number)).collect())
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
    use super::super::fixture::observation;
    use super::*;

    /// Names of the columns between `configuration` and `metric`.
    fn axis_columns(axes: &[(&str, &str)]) -> Vec<String> {
        let rows = [observation(axes, 1.0)];
        let names: Vec<String> = columns(&rows).into_iter().map(|column| column.name).collect();
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
        columns(rows).into_iter().find(|column| column.name == "x").unwrap().cells
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
            Cells::Text(vec![Some("8"), None, Some("max"), None])
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
        assert_eq!(columns(&rows)[3].cells, Cells::Text(vec![None]));
    }

    #[test]
    fn no_rows_are_fixed_columns_without_cells() {
        let names: Vec<String> = columns(&[]).into_iter().map(|column| column.name).collect();
        assert_eq!(names, [&BEFORE[..], &BEHIND[..]].concat());
    }
}
