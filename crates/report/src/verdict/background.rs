//! Doubts about the device: other programs that used it while a trial measured.

use super::doubt::Doubt;
use super::{Level, Verdict};
use crate::background::BackgroundIo;
use crate::format;
use crate::report::Report;
use crate::trial::Trial;

/// Share of the bytes of others from which on it is enough to name one direction.
const ONE_WAY_SHARE: f64 = 0.9;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let trials = &report.trials;
    let mut devices: Vec<String> = trials.iter().filter_map(much).map(BackgroundIo::device).collect();
    devices.sort_unstable();
    devices.dedup();
    let mut reasons: Vec<&'static str> =
        trials.iter().filter_map(|trial| trial.beside.background_unknown).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let told = devices.iter().filter_map(|device| on_device(trials, device));
    told.chain(reasons.iter().filter_map(|why| unknown(trials, why))).collect()
}

/// Background I/O that is much, of a trial that was measured.
fn much(trial: &Trial) -> Option<&BackgroundIo> {
    let io = trial.beside.background_io.as_ref()?;
    (io.is_much() && !trial.figures.is_empty()).then_some(io)
}

fn on_device(trials: &[Trial], device: &str) -> Option<Verdict> {
    let of = |trial: &Trial| much(trial).filter(|io| io.device() == device).cloned();
    let found: Vec<BackgroundIo> = trials.iter().filter_map(of).collect();
    let share = |trial: &Trial| of(trial).map(|io| io.share);
    let words = what(&found);
    let told = Doubt::with_figure(Level::Warning, "background_io", trials, share)
        .verdict(format::per_cent, |share| {
            format!("{share} of the requests or bytes on {device} were from other programs: {words}")
        });
    told.map(|verdict| verdict.with_action(stop(&found, device)))
}

/// `4,683 reads/s at 293 MB/s, about 28.2 of 29.3 requests in flight`.
fn what(found: &[BackgroundIo]) -> String {
    let range = |of: &dyn Fn(&BackgroundIo) -> f64| {
        let ends = [f64::min, f64::max].map(|end| found.iter().map(of).reduce(end).unwrap_or(0.0));
        match ends.map(format::figure) {
            [low, high] if low == high => low,
            [low, high] => format!("{low} to {high}"),
        }
    };
    let mut parts = Vec::new();
    if found.iter().any(|io| io.reads_per_s >= 1.0) {
        let (count, bytes) = (range(&|io| io.reads_per_s), range(&|io| io.read_bytes_per_s / 1e6));
        parts.push(format!("{count} reads/s at {bytes} MB/s"));
    }
    if found.iter().any(|io| io.writes_per_s >= 1.0) {
        let (count, bytes) = (range(&|io| io.writes_per_s), range(&|io| io.write_bytes_per_s / 1e6));
        parts.push(format!("{count} writes/s at {bytes} MB/s"));
    }
    let (theirs, all) = (range(&|io| io.queue_depth), range(&|io| io.queue_depth_all));
    parts.push(format!("about {theirs} of {all} requests in flight"));
    parts.join(", ")
}

/// `stop what reads from vda, and repeat`.
fn stop(found: &[BackgroundIo], device: &str) -> String {
    let sum = |of: fn(&BackgroundIo) -> f64| found.iter().map(of).sum::<f64>();
    let (read, written) = (sum(|io| io.read_bytes_per_s), sum(|io| io.write_bytes_per_s));
    let does = if read >= (read + written) * ONE_WAY_SHARE {
        "reads from"
    } else if written >= (read + written) * ONE_WAY_SHARE {
        "writes to"
    } else {
        "reads from and writes to"
    };
    format!("stop the program that {does} {device}, and repeat")
}

fn unknown(trials: &[Trial], why: &str) -> Option<Verdict> {
    let holds = |trial: &Trial| !trial.figures.is_empty() && trial.beside.background_unknown == Some(why);
    Doubt::plain(Level::Note, "background_io_unknown", trials, holds)
        .verdict(format::per_cent, |_| format!("the I/O of other programs on the device is unknown: {why}"))
}

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;
