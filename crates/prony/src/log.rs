//! What is done while a study runs, a line each with the seconds since the run began: what `--verbose` tells on stderr.

use record::clients::RETRIES;
use record::{Calibration, Event, Interval, Mark, Phase, TrialRecord};
use report::format;

/// Makes the lines.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// What is being prepared, and since when.
    preparing: Option<(String, f64)>,
    /// When the trial that runs began.
    begun_s: f64,
    phase: Option<Phase>,
    retries: f64,
}

impl Log {
    /// The lines of an event, told so many seconds after the run began; `name` is that of its trial, if it has one.
    pub(crate) fn lines(&mut self, event: &Event, now_s: f64, name: &str) -> Vec<String> {
        let mut told: Vec<String> = self.prepared(event, now_s).into_iter().collect();
        match event {
            Event::StudyStarted { manifest, .. } => told.push(format!("start: {}", manifest.title)),
            Event::Preparing(at) if self.preparing.is_none() && !at.is_done() => {
                told.push(at.what.clone());
                self.preparing = Some((at.what.clone(), now_s));
            }
            Event::Pausing { number, pause_s } => {
                told.push(format!("cooldown of {} before trial {number}", format::duration(*pause_s)));
            }
            Event::Searching { expected_s, at_most_s, .. } => {
                let (expected, at_most) = (format::duration(*expected_s), format::duration(*at_most_s));
                told.push(format!("search: about {expected} left ({at_most} at most)"));
            }
            Event::TrialStarted(trial) => told.push(self.begin(trial, now_s, name)),
            Event::TrialSetUp { setup, .. } => {
                told.push(format!("{name}: set up after {:.1} s", now_s - self.begun_s));
                told.extend(setup.calibration().and_then(|found| calibrated(name, found)));
            }
            Event::Interval { interval, .. } => told.extend(self.phase(interval, name)),
            Event::Mark { mark, .. } => told.push(format!("{name}: {}", marked(mark))),
            Event::TrialFinished(trial) => told.extend(self.end(trial, now_s, name)),
            Event::StudyFinished(manifest) => told.push(format!("end: {}", format::state(manifest.state))),
            Event::Preparing(_) | Event::Looked { .. } | Event::Parts { .. } | Event::Resources { .. } => {}
        }
        told.into_iter().map(|line| format!("{now_s:>8.1} s  {line}")).collect()
    }

    /// The end of what was prepared, once something else is told or it is done.
    fn prepared(&mut self, event: &Event, now_s: f64) -> Option<String> {
        let goes_on = |(what, _): &(String, f64)| match event {
            Event::Preparing(at) => at.what == *what && !at.is_done(),
            _ => false,
        };
        if self.preparing.as_ref().is_some_and(goes_on) {
            return None;
        }
        let (what, begun_s) = self.preparing.take()?;
        Some(format!("{what}: took {:.1} s", now_s - begun_s))
    }

    fn begin(&mut self, trial: &TrialRecord, now_s: f64, name: &str) -> String {
        (self.begun_s, self.phase, self.retries) = (now_s, None, 0.0);
        match trial.planned_s {
            Some(planned_s) => format!("{name}: starts, {} of load", format::duration(planned_s)),
            None => format!("{name}: starts"),
        }
    }

    fn phase(&mut self, interval: &Interval, name: &str) -> Option<String> {
        self.retries += interval.gauges.get(RETRIES).copied().unwrap_or_default();
        if self.phase.replace(interval.phase) == Some(interval.phase) {
            return None;
        }
        let begin_s = (interval.end_s - interval.length_s).max(0.0);
        Some(format!("{name}: {} from {begin_s:.1} s of load", phase(interval.phase)))
    }

    fn end(&self, trial: &TrialRecord, now_s: f64, name: &str) -> Vec<String> {
        let took = match self.phase {
            Some(_) => format!(" after {:.1} s", now_s - self.begun_s),
            None => String::new(),
        };
        let mut told = vec![format!("{name}: {}{took}", format::state(trial.state))];
        if self.retries > 0.0 {
            let retries = format::figure(self.retries);
            told.push(format!(
                "{name}: {retries} operations were retried after a deadlock or a similar error"
            ));
        }
        told.extend(trial.notes.iter().map(|note| format!("{name}: {note}")));
        told
    }
}

/// What a part of a trial is called.
pub(crate) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::WarmUp => "warm-up",
        Phase::Measure => "measuring",
        Phase::Drain => "draining",
    }
}

fn calibrated(name: &str, found: Calibration) -> Option<String> {
    let per_s = format::figure(found.per_s()?);
    Some(format!("{name}: calibrated, one thread reaches {per_s} operations/s without a target"))
}

fn marked(mark: &Mark) -> String {
    let what = if mark.what.is_empty() { String::new() } else { format!(": {}", mark.what) };
    let when = match mark.end_s {
        Some(end_s) => format!("from {:.1} to {end_s:.1} s of load", mark.begin_s),
        None => format!("from {:.1} s of load", mark.begin_s),
    };
    format!("{} {when}{what}", mark.kind.name())
}

#[cfg(test)]
mod tests {
    use record::{MarkKind, Preparation, Unit};

    use super::*;

    #[test]
    fn what_is_prepared_is_told_at_its_begin_and_with_its_time() {
        let mut log = Log::default();
        let rows = |done| Event::Preparing(Preparation::new("loading rows", done, 10, Unit::Rows));
        let command = Event::Preparing(Preparation::waiting("running the command before trial 1"));
        let pause = Event::Pausing { number: 1, pause_s: 5.0 };
        let events = [
            (0.0, rows(0)),
            (1.0, rows(5)),
            (2.5, rows(10)),
            (3.0, command.clone()),
            (3.5, command),
            (4.0, pause),
        ];
        let told: Vec<String> =
            events.iter().flat_map(|(now_s, event)| log.lines(event, *now_s, "")).collect();
        insta::assert_snapshot!(told.join("\n"), @r"
             0.0 s  loading rows
             2.5 s  loading rows: took 2.5 s
             3.0 s  running the command before trial 1
             4.0 s  running the command before trial 1: took 1.0 s
             4.0 s  cooldown of 5.00 s before trial 1
        ");
    }

    #[test]
    fn an_outage_is_told_when_it_begins_and_when_it_is_over() {
        let mark = |end_s| Mark {
            begin_s: 3.0,
            end_s,
            kind: MarkKind::Outage,
            what: "connection reset".to_owned(),
            planned: false,
        };
        let told = [None, Some(5.0)].map(|end_s| marked(&mark(end_s)));
        assert_eq!(
            told,
            [
                "outage from 3.0 s of load: connection reset",
                "outage from 3.0 to 5.0 s of load: connection reset"
            ]
        );
    }
}
