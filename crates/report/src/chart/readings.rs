//! Readings that the script of the page shows when a reader points at a chart: times and values, as text in attributes of groups.
//!
//! Times are differences in seconds. Values are printed as in the table below the chart: `1.23_ms 1.31 980_µs`. A value without a unit
//! has the unit of the value before it. `2.1:3.4` is the lowest and the highest value, and `-` is a gap. `0*12` means the same value
//! twelve times. The script computes nothing from these texts.

use maud::{Markup, html};

use super::canvas::{Ink, pixel};
use super::frame::Frame;
use super::over_time::{COLUMNS, SHORTEST_S};
use super::reduce::spans;
use super::scale::Scale;
use crate::trial::Trial;

/// A reading from another clock belongs to a second if it is at most this far from the end of the second.
const NEAR_S: f64 = 0.6;

/// The time of a reading, its lowest value and its highest value.
pub(crate) type Reading = (f64, f64, f64);

/// The unit of a series, and the function that prints its values.
pub(crate) type Print<'a> = (&'a str, fn(f64) -> String);

/// The seconds of a trial, or columns of several seconds each. All series of a drawing are read at the same times.
pub(crate) struct Times {
    ends_s: Vec<f64>,
    is_reduced: bool,
}

impl Times {
    pub(crate) fn of(trial: &Trial) -> Self {
        let long_enough = trial.samples.iter().filter(|sample| sample.length_s >= SHORTEST_S);
        Self::at(&long_enough.map(|sample| sample.end_s).collect::<Vec<f64>>())
    }

    fn at(ends_s: &[f64]) -> Self {
        if ends_s.len() <= COLUMNS * 2 {
            return Self { ends_s: ends_s.to_vec(), is_reduced: false };
        }
        let last = spans(ends_s.len(), COLUMNS).into_iter().map(|span| ends_s[span.end - 1]);
        Self { ends_s: last.collect(), is_reduced: true }
    }

    /// The group under the data: the edges of the data, the second at the right edge, and the times.
    pub(crate) fn plot(&self, frame: &Frame, x: &Scale) -> Markup {
        let ((left, top), (right, bottom)) =
            (pixel((frame.left, frame.top)), pixel((frame.right, frame.bottom)));
        let hundredths = |time_s: f64| (time_s * 100.0).round();
        let edges = format!("{left} {top} {right} {bottom} {}", hundredths(x.high) / 100.0);
        let mut before = 0.0;
        let steps = self.ends_s.iter().map(|end_s| {
            let at = hundredths(*end_s);
            let step = at - std::mem::replace(&mut before, at);
            (step / 100.0).to_string()
        });
        let columns = self.is_reduced.then_some("");
        html! { g data-plot=(edges) data-times=(repeated(steps)) data-columns=[columns] {} }
    }

    /// The group of a series: its name, and its reading at each time.
    pub(crate) fn series(
        &self,
        (ink, name): (Ink, &str),
        readings: &[Reading],
        (unit, print): Print<'_>,
    ) -> Markup {
        let unit = (!unit.is_empty() && unit != name).then_some(unit);
        let values = printed(&self.read(readings), print);
        html! { g data-name=(name) data-ink=(ink.variable()) data-unit=[unit] data-values=(values) {} }
    }

    /// The lowest and the highest value at each time; none if nothing was read then.
    fn read(&self, readings: &[Reading]) -> Vec<Option<(f64, f64)>> {
        let before = |time: f64| readings.partition_point(|reading| reading.0 <= time);
        let of = |index: usize| {
            let end_s = self.ends_s[index];
            if self.is_reduced {
                let begin_s = if index == 0 { 0.0 } else { self.ends_s[index - 1] };
                return extremes(&readings[before(begin_s)..before(end_s)]);
            }
            let within = |near_s: f64| &readings[before(end_s - near_s)..before(end_s + near_s)];
            extremes(within(0.5)).or_else(|| extremes(within(NEAR_S)))
        };
        (0..self.ends_s.len()).map(of).collect()
    }
}

fn extremes(readings: &[Reading]) -> Option<(f64, f64)> {
    let lowest = readings.iter().map(|reading| reading.1).reduce(f64::min);
    lowest.zip(readings.iter().map(|reading| reading.2).reduce(f64::max))
}

/// The group of marks of times. A text belongs to the position `at`, in units, and keeps its distance from this position.
pub(crate) fn marks(at: Option<f64>) -> Markup {
    let at = at.map(|at| pixel((at, 0.0)).0.to_string()).unwrap_or_default();
    html! { g data-marks=(at) {} }
}

/// The group of the names of series.
pub(crate) fn labels() -> Markup {
    html! { g data-labels="" {} }
}

/// Values as printed in the table below the chart, with a unit only if it differs from the unit before.
fn printed(values: &[Option<(f64, f64)>], print: fn(f64) -> String) -> String {
    let mut unit = String::new();
    let mut one = |text: String| {
        let (figure, of) = text.split_once(' ').unwrap_or((&text, ""));
        if of == unit {
            return figure.to_owned();
        }
        unit = of.to_owned();
        format!("{figure}_{}", of.replace(' ', "_"))
    };
    repeated(values.iter().map(|value| match value.map(|(low, high)| (print(low), print(high))) {
        None => "-".to_owned(),
        Some((low, high)) if low == high => one(low),
        Some((low, high)) => format!("{}:{}", one(low), one(high)),
    }))
}

/// Texts separated by spaces. Equal texts in a row are written once, as `text*3`.
fn repeated(texts: impl Iterator<Item = String>) -> String {
    let mut runs: Vec<(String, usize)> = Vec::new();
    for text in texts {
        match runs.last_mut() {
            Some((last, count)) if *last == text => *count += 1,
            _ => runs.push((text, 1)),
        }
    }
    let run = |(text, count): (String, usize)| if count > 1 { format!("{text}*{count}") } else { text };
    runs.into_iter().map(run).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::chart::over_time::{self, Line};
    use crate::format::{decimal_bytes, figure, latency};

    /// The readings of each series at each time, decoded as the script decodes them: name, and texts with their units.
    pub(crate) fn told(svg: &str) -> Vec<(String, Vec<String>)> {
        let document = roxmltree::Document::parse(svg).unwrap();
        let groups = document.descendants().filter(|node| node.has_attribute("data-values"));
        let of = |group: roxmltree::Node<'_, '_>| {
            let named = group.attribute("data-unit").unwrap_or("");
            (
                group.attribute("data-name").unwrap().to_owned(),
                texts(group.attribute("data-values").unwrap(), named),
            )
        };
        groups.map(of).collect()
    }

    fn texts(values: &str, named: &str) -> Vec<String> {
        let mut unit = String::new();
        let mut one = |text: &str| {
            let (figure, own) =
                text.split_once('_').map_or((text, None), |(figure, own)| (figure, Some(own)));
            unit = own.map_or(unit.clone(), |own| own.replace('_', " "));
            format!("{figure} {}", if unit.is_empty() { named } else { &unit }).trim_end().to_owned()
        };
        runs(values)
            .into_iter()
            .map(|run| run.split(':').map(&mut one).collect::<Vec<_>>().join("–"))
            .collect()
    }

    fn runs(attribute: &str) -> Vec<&str> {
        attribute
            .split(' ')
            .flat_map(|run| {
                let (one, count) = run.split_once('*').unwrap_or((run, "1"));
                std::iter::repeat_n(one, count.parse().unwrap())
            })
            .collect()
    }

    fn points(values: &[(f64, f64)]) -> Vec<Reading> {
        values.iter().map(|&(end_s, value)| (end_s, value, value)).collect()
    }

    #[test]
    fn values_have_a_unit_where_it_changes_and_what_repeats_is_told_once() {
        let all = [Some((981.0, 981.0)), Some((1_234.0, 1_234.0)), Some((900.0, 1_250.0)), None, None];
        assert_eq!(printed(&all, latency), "981_µs 1.23_ms 900_µs:1.25_ms -*2");
        assert_eq!(texts("981_µs 1.23_ms 900_µs:1.25_ms -*2", "")[1..3], ["1.23 ms", "900 µs–1.25 ms"]);
        assert_eq!(printed(&[Some((2e6, 2e6)); 3], decimal_bytes), "2.00_MB 2.00*2");
        assert_eq!(printed(&[Some((0.0, 12_345.0))], figure), "0:12,350");
        let print: fn(f64) -> String =
            |value| if value > 0.0 { format!("{value} a b") } else { "0".to_owned() };
        assert_eq!(printed(&[1.0, 0.0, 2.0].map(|value| Some((value, value))), print), "1_a_b 0_ 2_a_b");
    }

    /// A separate clock differs slightly from the seconds of the load, and can miss a second.
    #[test]
    fn a_second_has_the_reading_that_is_nearest_and_none_from_far_away() {
        let times = Times::at(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let read = times.read(&points(&[(1.02, 10.0), (1.99, 20.0), (4.55, 45.0)]));
        assert_eq!(
            read,
            [Some((10.0, 10.0)), Some((20.0, 20.0)), None, Some((45.0, 45.0)), Some((45.0, 45.0))]
        );
        let often = times.read(&points(&[(0.8, 1.0), (1.1, 3.0), (1.3, 2.0)]));
        assert_eq!(often, [Some((1.0, 3.0)), None, None, None, None], "all of a second");
    }

    #[test]
    fn a_long_trial_is_told_by_the_lowest_and_the_highest_value_of_columns() {
        let seconds: Vec<f64> = (1..=1_000).map(f64::from).collect();
        let times = Times::at(&seconds);
        let readings: Vec<(f64, f64)> =
            seconds.iter().map(|s| (*s, *s)).filter(|(s, _)| !(10.0..=12.0).contains(s)).collect();
        let read = times.read(&points(&readings));
        assert!(read.len() <= COLUMNS && read.len() > COLUMNS / 2, "{}", read.len());
        assert_eq!(
            read[..5],
            [Some((1.0, 3.0)), Some((4.0, 6.0)), Some((7.0, 9.0)), None, Some((13.0, 15.0))]
        );
        assert_eq!(read.last(), Some(&Some((1_000.0, 1_000.0))));
        let frame = Frame { left: 1.0, right: 2.0, top: 3.0, bottom: 4.0 };
        let group = times.plot(&frame, &Scale::time(0.0, 1_000.004, 0.0, 1.0)).0;
        assert_eq!(group, "<g data-plot=\"4 12 8 16 1000\" data-times=\"3*333 1\" data-columns=\"\"></g>");
    }

    #[test]
    fn what_is_told_of_a_chart_is_what_its_table_has() {
        let study = crate::fixture::study(
            "quick",
            vec![crate::fixture::Made::mixed("m").seconds(20).noise(0.3).trial(1)],
        );
        let report = crate::report::Report::of(&study);
        let trial = &report.trials[0];
        for chart in [over_time::throughput(trial).unwrap(), over_time::latency(trial, "read").unwrap()] {
            let told = told(&chart.svg);
            assert_eq!(told.len() + 1, chart.table.columns.len(), "{}", chart.heading);
            for (index, (name, texts)) in told.iter().enumerate() {
                assert!(chart.table.columns[index + 1].head.starts_with(name.as_str()));
                let cells = chart.table.rows.iter().map(|row| row.cells[index + 1].clone());
                let texts = texts.iter().map(|text| text.trim_end_matches(" IOPS").to_owned());
                assert!(texts.eq(cells), "{name} of {}", chart.heading);
            }
        }
    }

    /// The script uses the same index for all series of a drawing, in all of its panels.
    #[test]
    fn all_series_of_a_drawing_have_the_times_of_its_first_panel() {
        let mut panels = 0;
        let mut check = |svg: &str| {
            let document = roxmltree::Document::parse(svg).unwrap();
            let all = |name| document.descendants().filter_map(move |node| node.attribute(name));
            let times: Vec<&str> = all("data-times").collect();
            assert!(times.windows(2).all(|pair| pair[0] == pair[1]), "{times:?}");
            for values in all("data-values") {
                assert_eq!(runs(values).len(), runs(times[0]).len(), "{values}");
            }
            panels = panels.max(times.len());
        };
        for page in crate::page::tests::pages() {
            let drawings = page.split("<svg ").skip(1).map(|rest| rest.split("</svg>").next().unwrap());
            drawings.for_each(|drawing| check(&format!("<svg {drawing}</svg>")));
        }
        assert!(panels > 1);
    }

    #[test]
    fn nothing_is_told_of_an_outage() {
        let line =
            Line::through(Ink::Series(0), "rate", (1..=4).map(|second| (f64::from(second), 5.0))).broken();
        let times = Times::at(&[1.0, 2.0, 3.0, 4.0]);
        let group = line.group(&[(1.2, 3.1)], &times, ("1/s", figure)).0;
        assert!(group.contains("data-unit=\"1/s\" data-values=\"5.00 -*2 5.00\""), "{group}");
        assert!(
            line.group(&[], &times, ("rate", figure)).0.contains("\" data-values=\"5.00*4\""),
            "no unit twice"
        );
    }
}
