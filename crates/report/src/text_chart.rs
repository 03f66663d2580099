//! Rate and 99th percentile over the seconds of a trial in letters, for a terminal that is wide enough. What a column of letters
//! stands for is a time: its rate is the mean of that time, its percentile the worst of it.

use record::{Lines, Mark, MarkKind, OperationSample, Phase, Sample, shown};

use crate::chart::frame::time_tick;
use crate::chart::scale::Scale;
use crate::format;
use crate::report::Report;
use crate::trial::Trial;

/// Columns that a terminal has at least.
pub const COLUMNS_LEAST: u16 = 80;

/// Columns of a chart: with more, letters would be no easier to read.
const COLUMNS_MOST: usize = 110;

/// Columns of the figures left of it.
const LABEL: usize = 11;

/// Lines of the rate, and of the percentile.
const RATE_LINES: usize = 6;
const P99_LINES: usize = 4;

/// Trials that have a chart; the page has all of them.
const TRIALS_MOST: usize = 4;

/// What a chart is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// Blocks of an eighth of a line.
    Blocks,
    /// What every terminal has, thirds of a line.
    Ascii,
}

impl Letters {
    /// From a line that is a little filled to one that is full.
    fn filled(self) -> &'static [char] {
        match self {
            Self::Blocks => &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            Self::Ascii => &['.', ':', '#'],
        }
    }

    /// A figure as it can be written.
    fn of(self, figure: String) -> String {
        match self {
            Self::Blocks => figure,
            Self::Ascii => figure.replace('µ', "u"),
        }
    }

    fn edge(self) -> char {
        match self {
            Self::Blocks => '│',
            Self::Ascii => '|',
        }
    }
}

impl Report {
    /// Charts of the first trials over time, below an empty line, at most so many columns wide; none on a terminal that is narrower than
    /// [`COLUMNS_LEAST`], or where nothing was measured for two seconds.
    #[must_use]
    pub fn courses(&self, width: u16, letters: Letters) -> Option<Lines> {
        if width < COLUMNS_LEAST {
            return None;
        }
        let columns = usize::from(width).min(COLUMNS_MOST) - LABEL - 1;
        let charts: Vec<Vec<String>> =
            self.trials.iter().filter_map(|trial| chart(self, trial, columns, letters)).collect();
        let more = charts.len().saturating_sub(TRIALS_MOST);
        let mut lines = charts.into_iter().take(TRIALS_MOST).collect::<Vec<_>>().join(&String::new());
        if more > 0 {
            let more = format::counted(more, "more trial is", "more trials are");
            lines.extend([String::new(), format!("{more} in the page.")]);
        }
        (!lines.is_empty()).then(|| Lines::of(&format!("\n{}\n", lines.join("\n"))))
    }
}

fn chart(report: &Report, trial: &Trial, columns: usize, letters: Letters) -> Option<Vec<String>> {
    let end_s = trial.samples.last().map(|sample| sample.end_s).filter(|&end_s| end_s >= 2.0)?;
    let course = Course { trial, end_s, columns };
    let unit = trial.shown().words().unit;
    let rates = course.rates();
    let p99s = course.p99s();
    let name = if report.trials.len() > 1 {
        format!("Trial {}, {}", trial.number, trial.name)
    } else {
        trial.name.clone()
    };
    let mut lines = vec![format!("{} over time: {}", shown(&name), unit.long)];
    lines.extend(panel(&rates, RATE_LINES, letters, |per_s| format::figure(unit.of(per_s)))?);
    match panel(&p99s, P99_LINES, letters, |us| letters.of(format::latency(us))) {
        Some(panel) => {
            lines.push("99th percentile of the latency".to_owned());
            lines.extend(panel);
        }
        None => lines.push("No second has enough operations for a 99th percentile.".to_owned()),
    }
    let (marks, legend) = course.marks();
    if !legend.is_empty() {
        lines.push(format!("{:LABEL$} {marks}", "").trim_end().to_owned());
    }
    lines.push(course.times());
    if !legend.is_empty() {
        lines.push(format!("{:LABEL$} {}", "", legend.join(", ")));
    }
    Some(lines)
}

/// The seconds of a trial over columns.
struct Course<'a> {
    trial: &'a Trial,
    end_s: f64,
    columns: usize,
}

impl Course<'_> {
    /// Begin and end of the time of a column.
    fn span(&self, column: usize) -> (f64, f64) {
        let of = |column: usize| self.end_s * column as f64 / self.columns as f64;
        (of(column), of(column + 1))
    }

    /// Samples of which a part lies in a column, with the length of that part; those while nothing new is sent make no rate.
    fn samples(&self, column: usize) -> impl Iterator<Item = (&Sample, f64)> {
        let (begin_s, end_s) = self.span(column);
        let part =
            move |sample: &Sample| sample.end_s.min(end_s) - (sample.end_s - sample.length_s).max(begin_s);
        let loaded = self.trial.samples.iter().filter(|sample| sample.phase != Phase::Drain);
        loaded.map(move |sample| (sample, part(sample))).filter(|(_, part)| *part > 1e-9)
    }

    fn rates(&self) -> Vec<Option<f64>> {
        let mean = |column: usize| {
            let rates =
                self.samples(column).filter_map(|(sample, part)| Some((self.trial.rate_in(sample)?, part)));
            let (sum, length) =
                rates.fold((0.0, 0.0), |(sum, length), (rate, part)| (sum + rate * part, length + part));
            (length > 0.0).then(|| sum / length)
        };
        (0..self.columns).map(mean).collect()
    }

    fn p99s(&self) -> Vec<Option<f64>> {
        let p99 = |sample: &Sample| {
            let kinds = self.trial.about.among(&sample.operations);
            kinds.filter_map(|(_, of): (_, &OperationSample)| of.latency.p99_us).reduce(f64::max)
        };
        let worst =
            |column: usize| self.samples(column).filter_map(|(sample, _)| p99(sample)).reduce(f64::max);
        (0..self.columns).map(worst).collect()
    }

    /// A letter for each column in which something else went on, and what the letters mean.
    fn marks(&self) -> (String, Vec<String>) {
        let mut marks: Vec<&Mark> = self.trial.beside.marks.iter().collect();
        // What is graver is told.
        marks.sort_by_key(|mark| std::cmp::Reverse(mark.kind));
        let mut legend: Vec<String> = Vec::new();
        let mut at = |column: usize| {
            let (begin_s, end_s) = self.span(column);
            let is_in = |mark: &&&Mark| mark.begin_s < end_s && mark.end_s.unwrap_or(f64::INFINITY) > begin_s;
            let marked = marks.iter().find(is_in).map(|mark| (letter(mark.kind), mark.kind.name()));
            let mut phases = self.samples(column).map(|(sample, _)| sample.phase);
            let warm_up = phases.any(|phase| phase == Phase::WarmUp).then_some(('w', "warm-up"));
            let Some((letter, name)) = marked.or(warm_up) else { return ' ' };
            let entry = format!("{letter}: {name}");
            if !legend.contains(&entry) {
                legend.push(entry);
            }
            letter
        };
        let line = (0..self.columns).map(&mut at).collect();
        (line, legend)
    }

    /// Round times under the columns in which they begin.
    fn times(&self) -> String {
        let scale = Scale::time(0.0, self.end_s, 0.0, self.columns as f64);
        let mut line = String::new();
        for tick in scale.ticks() {
            let (text, at, taken) = (time_tick(tick), scale.at(tick) as usize, line.chars().count());
            if (taken == 0 || at > taken) && at + text.chars().count() <= self.columns {
                line.extend(std::iter::repeat_n(' ', at - taken));
                line.push_str(&text);
            }
        }
        format!("{:LABEL$} {line}", "")
    }
}

/// A letter that stands for what went on.
fn letter(kind: MarkKind) -> char {
    match kind {
        MarkKind::Audit => 'c',
        MarkKind::Purge => 'p',
        MarkKind::Shrink => 's',
        MarkKind::ReplicaBehind => 'b',
        MarkKind::Silence => 'w',
        MarkKind::Outage => 'o',
        MarkKind::SourceOutage => 'a',
        MarkKind::Fault => 'f',
        MarkKind::Noticed => 'd',
        MarkKind::Promotion => 'n',
    }
}

/// Values as columns over zero, with the top of the scale beside them; none without a value above zero.
fn panel(
    values: &[Option<f64>],
    lines: usize,
    letters: Letters,
    print: impl Fn(f64) -> String,
) -> Option<Vec<String>> {
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let filled = letters.filled();
    let steps = filled.len();
    // At least one step of what is not zero: a blank is nothing, or nothing known.
    let height =
        |value: f64| ((value / most * (lines * steps) as f64).round() as usize).max(usize::from(value > 0.0));
    let heights: Vec<usize> = values.iter().map(|value| value.map_or(0, height)).collect();
    let line = |index: usize| {
        let below = (lines - 1 - index) * steps;
        let drawn: String = heights
            .iter()
            .map(|height| match height.saturating_sub(below).min(steps) {
                0 => ' ',
                step => filled[step - 1],
            })
            .collect();
        let label = match index {
            0 => print(most),
            last if last + 1 == lines => "0".to_owned(),
            _ => String::new(),
        };
        format!("{label:>LABEL$}{}{}", letters.edge(), drawn.trim_end())
    };
    Some((0..lines).map(line).collect())
}

#[cfg(test)]
#[path = "text_chart_tests.rs"]
mod tests;
