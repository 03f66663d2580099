//! What was broken on purpose while trials ran: how long nobody was answered for it, what the load came to before and after, and what
//! repeats of it say.

mod account;
mod clients;
mod finding;
mod table;

use record::{FaultDone, Mark, MarkKind, MeasuredTrial, Phase, Sample};
use serde::Serialize;

use crate::trial::per_s;

pub(crate) use account::Account;
pub use finding::Availability;
pub(crate) use finding::{all, availability};
pub(crate) use table::blocks;

/// A fault of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fault {
    /// What was done when.
    #[serde(flatten)]
    pub done: FaultDone,
    /// The longest time without an answer that it may have made.
    pub silence: Option<Silence>,
    /// Operations a second before the first fault, after the warm-up where there was time.
    pub per_s_before: Option<f64>,
    /// The same while it went on: from the second in which it was begun to the one in which it was over.
    pub per_s_meanwhile: Option<f64>,
    /// Operations a second from when it was over, and nobody waited any more, to the next one or the end of the load.
    pub per_s_after: Option<f64>,
    /// Mean latency of those that were answered before the first fault, in milliseconds.
    pub mean_ms_before: Option<f64>,
    /// Of those that were answered while it went on.
    pub mean_ms_meanwhile: Option<f64>,
    /// Of those that were answered once it was over.
    pub mean_ms_after: Option<f64>,
    /// Longest latency of those that were answered while it went on, in milliseconds.
    pub max_ms_meanwhile: Option<f64>,
}

/// A time without an answer, in seconds since the load began.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Silence {
    /// The last answer before it.
    pub start_s: f64,
    /// The first one after it; none if there was none before the load ended.
    pub end_s: Option<f64>,
    /// How long it was, until the end of the load at most.
    pub length_s: f64,
}

/// The faults of a trial, in the order in which they were due.
pub(crate) fn of(measured: &MeasuredTrial) -> Vec<Fault> {
    let faults = &measured.trial.faults;
    let load_end_s = measured.samples.last().map_or(0.0, |sample| sample.end_s);
    let begins = |fault: &FaultDone| fault.begun_s.unwrap_or(fault.due_s);
    let first_s = faults.iter().map(begins).fold(f64::INFINITY, f64::min);
    let fault = |(number, done): (usize, &FaultDone)| {
        let next_s = faults.get(number + 1).map_or(load_end_s, begins);
        let silence = silence(&measured.trial.marks, (begins(done), next_s), load_end_s);
        let over_s =
            silence.and_then(|silence| silence.end_s).into_iter().chain(done.mended_s).reduce(f64::max);
        let over_s = over_s.unwrap_or(next_s);
        let within = |from_s: f64, to_s: f64| {
            let is_within =
                move |sample: &&Sample| sample.end_s - sample.length_s >= from_s && sample.end_s <= to_s;
            measured.samples.iter().filter(is_within)
        };
        let rate = |from_s, to_s| {
            // Nothing begins while the last operations drain.
            let loaded = within(from_s, to_s).filter(|sample| sample.phase != Phase::Drain);
            let rates: Vec<f64> = loaded.filter_map(|sample| per_s(&measured.trial.main, sample)).collect();
            stats::mean(&rates)
        };
        let mean_ms = |from_s, to_s| mean_us(measured, within(from_s, to_s)).map(|us| us / 1e3);
        // Whoever waited when it began is answered in the second in which it is over.
        let (from_s, to_s) = (begins(done) - 1.0, over_s + 1.0);
        let longest = within(from_s, to_s).filter_map(|sample| longest_us(measured, sample));
        Fault {
            silence,
            per_s_before: rate(0.0, first_s),
            per_s_meanwhile: rate(from_s, to_s),
            per_s_after: rate(over_s, next_s),
            mean_ms_before: mean_ms(0.0, first_s),
            mean_ms_meanwhile: mean_ms(from_s, to_s),
            mean_ms_after: mean_ms(over_s, next_s),
            max_ms_meanwhile: longest.reduce(f64::max).map(|us| us / 1e3),
            done: done.clone(),
        }
    };
    faults.iter().enumerate().map(fault).collect()
}

/// The mean latency of what a trial is about over intervals.
fn mean_us<'a>(measured: &MeasuredTrial, samples: impl Iterator<Item = &'a Sample>) -> Option<f64> {
    let main = &measured.trial.main;
    let means = samples.flat_map(|sample| {
        let of_main = main.among(&sample.operations);
        of_main.filter_map(|(_, operation)| Some((operation.latency.mean_us?, operation.count as f64)))
    });
    stats::weighted_mean(means)
}

/// The longest latency of what a trial is about in an interval.
fn longest_us(measured: &MeasuredTrial, sample: &Sample) -> Option<f64> {
    let of_main = measured.trial.main.among(&sample.operations);
    of_main.filter_map(|(_, operation)| operation.latency.max_us).reduce(f64::max)
}

/// The longest of the times without an answer that go on after a fault began, and begin before the next one does.
fn silence(marks: &[Mark], (begun_s, next_s): (f64, f64), load_end_s: f64) -> Option<Silence> {
    let is_its = |mark: &&Mark| {
        let goes_on = mark.end_s.is_none_or(|end_s| end_s > begun_s);
        mark.kind == MarkKind::Silence && goes_on && mark.begin_s < next_s
    };
    let silence = |mark: &Mark| Silence {
        start_s: mark.begin_s,
        end_s: mark.end_s,
        length_s: mark.end_s.unwrap_or(load_end_s) - mark.begin_s,
    };
    let all = marks.iter().filter(is_its).map(silence);
    all.max_by(|a, b| a.length_s.total_cmp(&b.length_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half as many orders, and twice the time for each, from 20 to 30 s; all as before once it is over.
    #[test]
    fn rates_and_latencies_are_told_before_meanwhile_and_after() {
        let course = |second: f64| if (20.0..30.0).contains(&second) { 0.5 } else { 1.0 };
        let mut measured =
            crate::fixture::Sold::at("32 clients", &[100.0]).noise(0.0).course(course).trial(1);
        measured.trial.faults = vec![FaultDone {
            asked: "freeze for 10s at 20s".to_owned(),
            begun_s: Some(20.0),
            broken_s: Some(20.0),
            mended_s: Some(30.0),
            ..FaultDone::default()
        }];
        let [fault] = of(&measured).try_into().unwrap();
        let [before, meanwhile, after] =
            [fault.per_s_before, fault.per_s_meanwhile, fault.per_s_after].map(Option::unwrap);
        assert!((before - 100.0).abs() < 2.0 && (after - 100.0).abs() < 2.0, "{before}, {after}");
        assert!(
            (50.0..70.0).contains(&meanwhile),
            "with the seconds in which it begins and ends: {meanwhile}"
        );
        let means = [fault.mean_ms_before, fault.mean_ms_meanwhile, fault.mean_ms_after].map(Option::unwrap);
        assert!(means.iter().all(|&ms| ms > 0.0 && ms <= fault.max_ms_meanwhile.unwrap()), "{means:?}");
        assert!((means[0] / means[2] - 1.0).abs() < 0.05, "{means:?}");
    }

    #[test]
    fn a_silence_is_that_of_the_fault_before_it() {
        let silence_of = |times| {
            let at = |begin: u64, end: Option<u64>| {
                Mark::silence(begin * 1_000_000_000, end.map(|s| s * 1_000_000_000))
            };
            let marks = [at(1, Some(2)), at(10, Some(13)), at(20, Some(21)), at(55, None)];
            silence(&marks, times, 60.0).map(|silence| (silence.start_s, silence.length_s))
        };
        assert_eq!(silence_of((9.9, 20.0)), Some((10.0, 3.0)));
        assert_eq!(silence_of((12.0, 25.0)), Some((10.0, 3.0)), "it went on when it began");
        assert_eq!(silence_of((30.0, 50.0)), None);
        assert_eq!(silence_of((54.0, 60.0)), Some((55.0, 5.0)));
    }
}
