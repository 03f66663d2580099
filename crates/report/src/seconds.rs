//! The seconds of each trial in columns: what an export by seconds writes a line of each.
//!
//! What a second does not have is absent. Nothing is filled in, and no second is reckoned from its neighbours.

use std::collections::{BTreeMap, BTreeSet};

use record::{
    DeviceLoad, FigureOf, GroupLoad, MachineLoad, OperationSample, Phase, Resources, Sample, Second,
    SecondFigure, Series, ServerLoad,
};
use stats::weighted_mean;

use crate::machine::{Part, devices_of, servers_of};
use crate::metrics::{configuration, ms};
use crate::report::Report;
use crate::trial::Trial;

impl Report {
    /// Every second of every trial that has any, warm-up and drain included. `study` is the name of the results directory. Only
    /// trials that are complete are valid. The second measurement of a reference has ` (A/A)` behind its name.
    #[must_use]
    pub fn series(&self, study: &str) -> Vec<Series> {
        let measured = self.trials.iter().filter(|trial| !trial.samples.is_empty());
        measured.map(|trial| of_trial(trial, study)).collect()
    }
}

fn of_trial(trial: &Trial, study: &str) -> Series {
    let mut figures: BTreeMap<SecondFigure, Vec<Option<f64>>> = BTreeMap::new();
    let sorted = by_middle(&trial.beside.resources);
    let has = Has::of(trial);
    for (index, sample) in trial.samples.iter().enumerate() {
        let told = of_sample(sample, has).into_iter();
        for (figure, value) in told.chain(of_machine(within(&sorted, sample))) {
            let column = figures.entry(figure).or_insert_with(|| vec![None; trial.samples.len()]);
            column[index] = value.filter(|value| value.is_finite());
        }
    }
    // What no second has, such as the p99.9 of a slow load, needs no column.
    figures.retain(|_, column| column.iter().any(Option::is_some));
    let second =
        |sample: &Sample| Second { end_s: sample.end_s, length_s: sample.length_s, phase: sample.phase };
    Series {
        study: study.to_owned(),
        trial: trial.number,
        block: trial.block,
        configuration: configuration(trial),
        axes: trial.levels.clone(),
        started: trial.started.clone(),
        valid: trial.is_complete(),
        seconds: trial.samples.iter().map(second).collect(),
        figures,
    }
}

/// What the operations of a trial do besides; columns of zeros would tell of others nothing.
#[derive(Clone, Copy)]
struct Has {
    bytes: bool,
    rows: bool,
}

impl Has {
    fn of(trial: &Trial) -> Self {
        let mut operations = trial.samples.iter().flat_map(|sample| sample.operations.values());
        Self { bytes: trial.shown().moves_bytes(), rows: operations.any(|operation| operation.rows > 0) }
    }
}

/// A figure of a second, if the second has it.
type Told = (SecondFigure, Option<f64>);

fn told(of: FigureOf, name: String, value: impl Into<Option<f64>>) -> Told {
    (SecondFigure { of, name }, value.into())
}

/// Operations, gauges and the load generator.
fn of_sample(sample: &Sample, has: Has) -> Vec<Told> {
    let operations = sample.operations.iter();
    let mut all: Vec<Told> =
        operations.flat_map(|(kind, operation)| of_kind(kind, operation, sample, has)).collect();
    let gauges = sample.gauges.iter();
    all.extend(gauges.map(|(name, value)| told(FigureOf::Gauge, name.clone(), *value)));
    let pauses = sample.generator_pauses;
    let cores = (sample.length_s > 0.0).then(|| sample.generator_cpu_us as f64 / 1e6 / sample.length_s);
    let generator = [
        ("cpu_cores", cores),
        ("busiest_share", Some(sample.generator_busiest_share)),
        ("pause_longest_ms", pauses.map(|pauses| pauses.longest_ms)),
        ("paused_ms", pauses.map(|pauses| pauses.sum_ms)),
    ];
    all.extend(generator.map(|(name, value)| told(FigureOf::Generator, format!("generator_{name}"), value)));
    all
}

/// While a load drains, what it still answers is counted, and makes no rate.
fn of_kind(kind: &str, operation: &OperationSample, sample: &Sample, has: Has) -> Vec<Told> {
    let has_rate = sample.length_s > 0.0 && sample.phase != Phase::Drain;
    let per_s = |count: f64| has_rate.then(|| count / sample.length_s);
    let latency = operation.latency;
    let figures = [
        ("operations", Some(operation.count as f64)),
        ("per_s", per_s(operation.count as f64)),
        ("mb_per_s", per_s(operation.bytes as f64 / 1e6).filter(|_| has.bytes)),
        ("rows", has.rows.then_some(operation.rows as f64)),
        ("errors", Some(operation.errors as f64)),
        ("min_ms", ms(latency.min_us)),
        ("mean_ms", ms(latency.mean_us)),
        ("p50_ms", ms(latency.p50_us)),
        ("p95_ms", ms(latency.p95_us)),
        ("p99_ms", ms(latency.p99_us)),
        ("p999_ms", ms(latency.p999_us)),
        ("max_ms", ms(latency.max_us)),
    ];
    figures.map(|(name, value)| told(FigureOf::Operation, format!("{kind}_{name}"), value)).into()
}

/// The middle of the time that a reading is of.
fn middle_s(reading: &Resources) -> f64 {
    reading.end_s - reading.length_s / 2.0
}

fn by_middle(resources: &[Resources]) -> Vec<&Resources> {
    let mut sorted: Vec<&Resources> = resources.iter().collect();
    sorted.sort_by(|a, b| middle_s(a).total_cmp(&middle_s(b)));
    sorted
}

/// The readings whose middle lies in a second. One that is longer than a second is told in one second alone.
fn within<'a, 'r>(sorted: &'a [&'r Resources], sample: &Sample) -> &'a [&'r Resources] {
    let until = |end_s: f64| sorted.partition_point(|reading| middle_s(reading) <= end_s);
    let end = until(sample.end_s);
    &sorted[until(sample.end_s - sample.length_s).min(end)..end]
}

/// Means of these readings.
fn of_machine(read: &[&Resources]) -> Vec<Told> {
    let mean = |of: fn(&MachineLoad) -> Option<f64>| {
        weighted_mean(read.iter().filter_map(|r| Some((of(r.machine.as_ref()?)?, r.length_s))))
    };
    let machine = [
        ("cpu_busy_share", mean(|load| stats::mean(&load.cpu_busy_share))),
        ("cpu_own_share", mean(|load| load.cpu_own_share)),
        ("cpu_steal_share", mean(|load| Some(load.cpu_steal_share))),
        ("cpu_interrupt_share", mean(|load| Some(load.cpu_interrupt_share))),
        ("pressure_cpu_share", mean(|load| load.pressure_cpu_share)),
        ("pressure_io_share", mean(|load| load.pressure_io_share)),
        ("pressure_memory_share", mean(|load| load.pressure_memory_share)),
    ];
    let machine = machine.map(|(name, value)| told(FigureOf::Machine, name.to_owned(), value));
    let devices = devices_of(read);
    let servers = servers_of(read);
    machine
        .into_iter()
        .chain(devices.iter().flat_map(of_device))
        .chain(servers.iter().flat_map(of_server))
        .chain(groups_of(read))
        .collect()
}

fn of_device(Part { name: device, mean }: &Part<DeviceLoad>) -> Vec<Told> {
    let figures = [
        ("reads_per_s", Some(mean.reads_per_s)),
        ("writes_per_s", Some(mean.writes_per_s)),
        ("read_mb_per_s", Some(mean.read_bytes_per_s / 1e6)),
        ("write_mb_per_s", Some(mean.write_bytes_per_s / 1e6)),
        ("queue_depth", Some(mean.queue_depth)),
        ("busy_share", mean.busy_share),
        ("read_latency_ms", ms(mean.read_latency_us)),
        ("write_latency_ms", ms(mean.write_latency_us)),
    ];
    figures.map(|(name, value)| told(FigureOf::Device, format!("device_{device}_{name}"), value)).into()
}

/// What started servers used as their groups count, in means over the second.
fn groups_of(read: &[&Resources]) -> Vec<Told> {
    let names: BTreeSet<&String> = read.iter().flat_map(|r| r.groups.keys()).collect();
    let figures = |name: &String| {
        let mean = |of: fn(&GroupLoad) -> f64| {
            weighted_mean(read.iter().filter_map(|r| Some((of(r.groups.get(name)?), r.length_s))))
        };
        let figures = [
            ("cpu_cores", mean(|load| load.cpu_cores)),
            ("throttled_cores", mean(|load| load.throttled_cores)),
            ("memory_bytes", mean(|load| load.memory_bytes as f64)),
        ];
        figures.map(|(figure, value)| told(FigureOf::Server, format!("started_{name}_{figure}"), value))
    };
    names.into_iter().flat_map(figures).collect()
}

fn of_server(Part { name: server, mean }: &Part<ServerLoad>) -> Vec<Told> {
    let figures = [
        ("cpu_cores", Some(mean.cpu_cores)),
        ("memory_bytes", Some(mean.memory_bytes as f64)),
        ("processes", Some(f64::from(mean.processes))),
        ("read_mb_per_s", mean.read_bytes_per_s.map(|bytes| bytes / 1e6)),
        ("write_mb_per_s", mean.write_bytes_per_s.map(|bytes| bytes / 1e6)),
    ];
    figures.map(|(name, value)| told(FigureOf::Server, format!("server_{server}_{name}"), value)).into()
}

#[cfg(test)]
mod tests {
    use record::{MeasuredTrial, StudyRecord};

    use super::*;

    /// The series of the second trial of a quick look, after this was done to what was measured.
    fn series(change: impl Fn(&mut MeasuredTrial)) -> Series {
        let mut study: StudyRecord = crate::tests::quick();
        change(&mut study.trials[1]);
        let number = study.trials[1].trial.number;
        let all = Report::of(&study).series("20261121-quick");
        all.into_iter().find(|series| series.trial == number).unwrap()
    }

    fn values(series: &Series, name: &str) -> Vec<Option<f64>> {
        let found = series.figures.iter().find(|(figure, _)| figure.name == name);
        found.map_or_else(|| vec![None; series.seconds.len()], |(_, values)| values.clone())
    }

    #[test]
    fn a_second_has_what_was_recorded_of_it_and_nothing_else() {
        let whole = series(|_| ());
        let report = Report::of(&crate::tests::quick());
        let samples = &report.trials[1].samples;
        assert_eq!(whole.seconds.len(), samples.len());
        assert_eq!((whole.seconds[1].phase, whole.seconds[2].phase), (Phase::WarmUp, Phase::Measure));
        let (kind, read) = samples[1].operations.first_key_value().unwrap();
        let of = |name: &str| values(&whole, &format!("{kind}_{name}"))[1];
        assert_eq!(of("per_s"), Some(read.count as f64 / samples[1].length_s));
        assert_eq!(of("mb_per_s"), Some(read.bytes as f64 / 1e6 / samples[1].length_s));
        assert_eq!(of("p99_ms"), read.latency.p99_us.map(|us| us / 1e3));
        assert_eq!(of("errors"), Some(0.0));
        let lacking = series(|trial| trial.samples[1].operations.clear());
        assert_eq!(values(&lacking, &format!("{kind}_per_s"))[1], None, "what is not there is not zero");
        assert!(values(&lacking, &format!("{kind}_per_s"))[0].is_some());
    }

    #[test]
    fn what_drains_is_counted_and_makes_no_rate() {
        let drained = series(|trial| trial.samples.last_mut().unwrap().phase = Phase::Drain);
        let kind = |name: &str| {
            let (figure, _) = drained.figures.iter().find(|(figure, _)| figure.name.ends_with(name)).unwrap();
            values(&drained, &figure.name).pop().unwrap()
        };
        assert_eq!((kind("_per_s"), kind("_mb_per_s")), (None, None));
        assert!(kind("_operations").is_some_and(|operations| operations > 0.0));
    }

    #[test]
    fn readings_belong_to_the_second_of_their_middle() {
        let reading = |end_s: f64, length_s: f64, queue_depth: f64| {
            let device = DeviceLoad { queue_depth, ..DeviceLoad::default() };
            let devices = BTreeMap::from([("sda".to_owned(), device)]);
            Resources { end_s, length_s, devices, ..Resources::default() }
        };
        let read = series(|trial| {
            for (index, sample) in trial.samples.iter_mut().enumerate() {
                (sample.end_s, sample.length_s) = (index as f64 + 1.0, 1.0);
            }
            // Out of order, as samplers of several rates write them; the last one is of two seconds and a bit.
            trial.resources = vec![
                reading(0.5, 0.5, 1.0),
                reading(2.0, 1.0, 7.0),
                reading(1.0, 0.5, 3.0),
                reading(4.2, 2.1, 9.0),
            ];
        });
        let depth = values(&read, "device_sda_queue_depth");
        assert_eq!(depth[..4], [Some(2.0), Some(7.0), None, Some(9.0)]);
        assert_eq!(values(&read, "cpu_busy_share")[0], None, "nobody read the processors");
    }
}
