//! One trial's directory, and what of it makes the figures of its measured window.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::ControlFlow;

use ownership::Directory;
use record::{Main, Mark, MeasuredTrial, OperationInterval, Phase, Sample, State, Tails, TrialRecord};
use serde::de::DeserializeOwned;

use super::{noted, read_json, unreadable};
use crate::hlog::{self, Part, Summed};
use crate::name;
use crate::sum::Adder;
use crate::tail::{self, Cells};

/// Two ends of an interval closer than this are the same one: both were printed from one number.
const SAME_END_S: f64 = 1e-6;

/// An interval that is shorter than this, in seconds, is no second of its own: shares of its few operations would look like noise.
const SHORTEST_SECOND_S: f64 = 0.5;

/// Reads the trial, unless there is no record that says what was tried.
pub(super) fn read(
    number: u32,
    trials: &Directory,
    name: &OsStr,
    percentiles: &[f64],
    damage: &mut Vec<String>,
) -> Option<MeasuredTrial> {
    let mut notes = Vec::new();
    let directory = trials.below(name).map_err(|error| unreadable("its directory", &error));
    let measured = noted(&mut notes, directory).and_then(|directory| {
        let record = noted(&mut notes, read_json::<TrialRecord>(&directory, name::TRIAL))?;
        if record.number != number {
            notes.push(format!("skipped {}: it belongs to trial {}", name::TRIAL, record.number));
            return None;
        }
        let measured = read_measured(record, &directory, percentiles, &mut notes);
        noted(&mut notes, is_about_its_samples(&measured)).map(|()| measured)
    });
    damage.extend(notes.into_iter().map(|note| format!("trial {number}: {note}")));
    let measured = measured?;
    if measured.trial.state == State::Running {
        damage.push(cut_off(number, &measured.samples));
    }
    Some(measured)
}

fn read_measured(
    mut record: TrialRecord,
    directory: &Directory,
    percentiles: &[f64],
    notes: &mut Vec<String>,
) -> MeasuredTrial {
    // A trial that was skipped, or failed before its load was set up, left its record alone.
    if record.setup.is_none() && !matches!(directory.look(OsStr::new(name::SAMPLES)), Ok(Some(_))) {
        return MeasuredTrial::new(record);
    }
    // A trial that was cut off has its marks in their lines alone.
    if record.state == State::Running && matches!(directory.look(OsStr::new(name::MARKS)), Ok(Some(_))) {
        let marks: Vec<Mark> = read_lines(directory, name::MARKS, notes);
        for mark in marks {
            mark.add_to(&mut record.marks);
        }
    }
    let samples: Vec<Sample> = read_lines(directory, name::SAMPLES, notes);
    let resources = read_lines(directory, name::RESOURCES, notes);
    let (latencies, tails) = read_log(directory, &samples, &record.main, percentiles, notes);
    MeasuredTrial::stored(record, samples, resources, latencies, tails)
}

/// A trial that is about operations of which its samples know nothing would have a rate of 0.
fn is_about_its_samples(measured: &MeasuredTrial) -> Result<(), String> {
    let Main::Kind(kind) = &measured.trial.main else { return Ok(()) };
    let mut kinds = measured.samples.iter().flat_map(|sample| sample.operations.keys()).peekable();
    let is_known = kinds.peek().is_none() || kinds.any(|known| known == kind);
    is_known
        .then_some(())
        .ok_or_else(|| format!("skipped {}: no sample has its operations {kind}", name::TRIAL))
}

fn cut_off(number: u32, samples: &[Sample]) -> String {
    let seconds: f64 = samples.iter().map(|sample| sample.length_s).sum();
    match (seconds * 10.0).round() / 10.0 {
        _ if samples.is_empty() => format!("trial {number} was cut off before its first sample"),
        1.0 => format!("trial {number} was cut off while it ran: 1 second of samples is kept"),
        seconds => format!("trial {number} was cut off while it ran: {seconds} seconds of samples are kept"),
    }
}

/// Lines that could not be used: the first of them, and how many there were.
#[derive(Default)]
struct Unusable {
    lines: usize,
    first: Option<(usize, String)>,
}

impl Unusable {
    fn add(&mut self, line_number: usize, reason: String) {
        self.lines += 1;
        self.first.get_or_insert((line_number, reason));
    }

    fn note(self, name: &str, notes: &mut Vec<String>) {
        let Some((line_number, reason)) = self.first else { return };
        let others = match self.lines {
            1 => String::new(),
            lines => format!(", and {} more", lines - 1),
        };
        notes.push(format!("line {line_number} of {name} is left out{others}: {reason}"));
    }
}

/// Hands over the whole lines of a file, and notes whether a half one stands at its end.
fn for_each_line(
    directory: &Directory,
    name: &str,
    notes: &mut Vec<String>,
    mut take: impl FnMut(&str) -> Result<(), String>,
) {
    let content = directory.read(OsStr::new(name)).map_err(|error| unreadable(name, &error));
    let Some(content) = noted(notes, content) else { return };
    let mut unusable = Unusable::default();
    for (index, line) in content.split_inclusive(|&byte| byte == b'\n').enumerate() {
        match whole_line(line) {
            ControlFlow::Continue(text) => {
                if let Err(reason) = text.and_then(&mut take) {
                    unusable.add(index + 1, reason);
                }
            }
            ControlFlow::Break(()) => notes.push(format!("the last line of {name} was cut off")),
        }
    }
    unusable.note(name, notes);
}

/// The text of a line that ends as it should; only the last one of a file can lack its end.
fn whole_line(line: &[u8]) -> ControlFlow<(), Result<&str, String>> {
    match line.strip_suffix(b"\n") {
        Some(line) => ControlFlow::Continue(std::str::from_utf8(line).map_err(|error| error.to_string())),
        None => ControlFlow::Break(()),
    }
}

fn read_lines<T: DeserializeOwned>(directory: &Directory, name: &str, notes: &mut Vec<String>) -> Vec<T> {
    let mut values = Vec::new();
    for_each_line(directory, name, notes, |line| {
        values.push(serde_json::from_str(line).map_err(|error| error.to_string())?);
        Ok(())
    });
    values
}

/// The operations of the intervals that make figures, by kind and yet without counts, and how the slowest are spread over them.
/// Histograms of the warm-up are not even decoded, for there may be many.
fn read_log(
    directory: &Directory,
    samples: &[Sample],
    main: &Main,
    percentiles: &[f64],
    notes: &mut Vec<String>,
) -> (BTreeMap<String, OperationInterval>, Tails) {
    let intervals = Intervals::of(samples);
    let mut adder = Adder::new();
    let mut read: BTreeMap<String, (Summed, Cells)> = BTreeMap::new();
    let mut found = 0;
    for_each_line(directory, name::LATENCY, notes, |line| {
        let Some(line) = hlog::parse(line).transpose()? else { return Ok(()) };
        let second = intervals.at(line.end_s).ok_or_else(|| {
            format!("{} has no line for the interval up to {:.3} s", name::SAMPLES, line.end_s)
        })?;
        if let Some(second) = second {
            let (summed, cells) = read.entry(line.kind.to_owned()).or_default();
            let filled =
                adder.add(line.histogram, summed.part(line.part)).map_err(|error| error.to_string())?;
            if let Some(filled) = filled.filter(|_| line.part == Part::Latency) {
                cells.keep(second, filled);
            }
        }
        found += usize::from(line.part == Part::Latency);
        Ok(())
    });
    let wanted: usize = samples.iter().map(|sample| sample.operations.len()).sum();
    if found < wanted {
        notes.push(format!("{} lacks {} of {wanted} histograms", name::LATENCY, wanted - found));
    }
    // Where histograms are missing, seconds would look as if nothing had been slow in them.
    let tails =
        if found < wanted { Tails::default() } else { tails(&read, main, percentiles, intervals.seconds) };
    let total = |(kind, (summed, _)): (String, (Summed, Cells))| {
        let operation =
            summed.operation(&adder).map_err(|error| format!("{kind} in {}: {error}", name::LATENCY));
        noted(notes, operation).map(|operation| (kind, operation))
    };
    (read.into_iter().filter_map(total).collect(), tails)
}

/// The tails of each kind, and of those together that a trial is about.
fn tails(
    read: &BTreeMap<String, (Summed, Cells)>,
    main: &Main,
    percentiles: &[f64],
    seconds: usize,
) -> Tails {
    if seconds == 0 {
        return Tails::default();
    }
    let of = |kinds: Vec<&(Summed, Cells)>| {
        let counted: Option<Vec<(&Cells, &[u64])>> =
            kinds.into_iter().map(|(summed, cells)| Some((cells, summed.cells()?))).collect();
        counted.map(|kinds| tail::tail(&kinds, percentiles, seconds))
    };
    let kinds = read.iter().filter_map(|(kind, one)| Some((kind.clone(), of(vec![one])?))).collect();
    let together: Vec<&(Summed, Cells)> = main.among(read).map(|(_, one)| one).collect();
    Tails { kinds, main: if together.len() > 1 { of(together) } else { None } }
}

/// The intervals by their ends, each with the second of the window in which what it holds is counted.
struct Intervals {
    ends: Vec<(f64, Option<usize>)>,
    seconds: usize,
}

impl Intervals {
    /// The warm-up is in none. What is answered in less than half a second, where a phase ends, and what drains, is counted in the
    /// second before.
    fn of(samples: &[Sample]) -> Self {
        let mut sorted: Vec<&Sample> = samples.iter().collect();
        sorted.sort_by(|a, b| a.end_s.total_cmp(&b.end_s));
        let mut seconds = 0;
        let mut second = |sample: &Sample| {
            seconds += usize::from(sample.phase == Phase::Measure && sample.length_s >= SHORTEST_SECOND_S);
            (sample.phase != Phase::WarmUp).then(|| seconds.max(1) - 1)
        };
        let ends = sorted.into_iter().map(|sample| (sample.end_s, second(sample))).collect();
        Self { ends, seconds }
    }

    /// The second of the interval that ends there, none in the warm-up; none if there is no such interval.
    fn at(&self, end_s: f64) -> Option<Option<usize>> {
        let next = self.ends.partition_point(|(end, _)| *end < end_s - SAME_END_S);
        self.ends.get(next).filter(|(end, _)| (end - end_s).abs() <= SAME_END_S).map(|(_, second)| *second)
    }
}
