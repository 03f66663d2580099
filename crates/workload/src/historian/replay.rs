//! Replays a recording: its events come at its own pace or a multiple of it, with times that begin now.

use load::{Phases, Span};

use super::buffer::Event;
use super::job::{Job, Source};
use super::recording::{Reading, Recorded, Recording, RecordingError};
use super::running::Running;
use super::source::BATCH_EVENTS;
use crate::TrialError;
use crate::clock::Clock;

/// A trial is at least so long, even if its recording is a moment.
const LENGTH_NS_MIN: u64 = 1_000_000_000;

/// A recording that is replayed.
#[derive(Debug)]
pub(crate) struct Replay {
    recording: Recording,
    speed: f64,
}

impl Replay {
    /// Reads the whole recording, and sorts it if it is not in order.
    ///
    /// # Errors
    /// When it cannot be read, or has mistakes.
    pub(crate) fn open(path: &std::path::Path, reading: &Reading, speed: f64) -> Result<Self, TrialError> {
        Ok(Self { recording: Recording::open(path, reading)?, speed })
    }

    /// The job with the tags and the rate of the recording, and no longer than it.
    pub(crate) fn job(&self, job: &Job) -> Job {
        let phases = shortened(job.phases, self.length_ns());
        let mut source = job.source.clone();
        if let Source::Csv { rate_per_s, .. } = &mut source {
            *rate_per_s = Some(self.events_per_s());
        }
        Job { tags: self.recording.tags().len() as u32, phases, source, ..job.clone() }
    }

    /// What a reader of the record should know.
    pub(crate) fn notes(&self, job: &Job) -> Vec<String> {
        let mut notes = Vec::new();
        let phases = self.job(job).phases;
        // Also where a plan has found that out before.
        if phases.end_ns() == self.length_ns() {
            notes.push(format!(
                "the recording ends after {:.1} s: only {:.1} s are measured, after a warm-up of {:.1} s",
                phases.end_ns() as f64 / 1e9,
                phases.measure.as_seconds(),
                phases.warm_up.as_seconds()
            ));
        }
        notes.extend(self.recording.notes());
        notes
    }

    pub(crate) fn tag_name(&self, tag: u32) -> String {
        self.recording.tags()[tag as usize].clone()
    }

    /// Events a second, on average.
    pub(crate) fn events_per_s(&self) -> f64 {
        self.recording.event_count() as f64 / (self.length_ns() as f64 / 1e9)
    }

    /// Replays until the recording or the load ends.
    pub(crate) async fn run(self, running: &Running, clock: Clock) -> Result<(), TrialError> {
        let end_ns = running.phases.end_ns();
        let mut batch = Vec::with_capacity(BATCH_EVENTS);
        let mut events = self.recording.events()?;
        let mut next = events.next().transpose()?;
        while let Some(recorded) = next {
            let due_ns = self.replayed_ns(recorded.offset_ns);
            if due_ns >= end_ns {
                break;
            }
            let now_ns = clock.now_ns();
            if due_ns > now_ns || batch.len() == BATCH_EVENTS {
                if !batch.is_empty() {
                    running.offer(&batch, now_ns);
                }
                batch.clear();
                running.buffer.passed(due_ns);
                clock.until_about(due_ns).await;
            }
            batch.push(event(recorded, due_ns, running.epoch_us));
            next = events.next().transpose()?;
        }
        if !batch.is_empty() {
            running.offer(&batch, clock.now_ns());
        }
        running.buffer.passed(u64::MAX);
        clock.until(end_ns).await;
        Ok(())
    }

    fn replayed_ns(&self, offset_ns: u64) -> u64 {
        if self.speed == 1.0 { offset_ns } else { (offset_ns as f64 / self.speed) as u64 }
    }

    /// Until after the last event.
    fn length_ns(&self) -> u64 {
        (self.replayed_ns(self.recording.duration_ns()) + 1).max(LENGTH_NS_MIN)
    }
}

fn event(recorded: Recorded, due_ns: u64, epoch_us: i64) -> Event {
    let time_us = epoch_us + (due_ns / 1_000) as i64;
    Event { time_us, due_ns, value: recorded.value, tag: recorded.tag, quality: recorded.quality }
}

impl From<RecordingError> for TrialError {
    fn from(error: RecordingError) -> Self {
        Self::Source(error.to_string())
    }
}

/// Phases that end after `length_ns` at the latest. A warm-up that would leave nothing becomes a third.
fn shortened(phases: Phases, length_ns: u64) -> Phases {
    if phases.end_ns() <= length_ns {
        return phases;
    }
    let warm_up = if phases.warm_up.ns < length_ns { phases.warm_up } else { Span { ns: length_ns / 3 } };
    Phases { warm_up, measure: Span { ns: length_ns - warm_up.ns } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_end_with_the_recording() {
        let phases =
            |warm_up, measure| Phases { warm_up: Span::seconds(warm_up), measure: Span::seconds(measure) };
        let second_ns = 1_000_000_000;
        for (length_s, expected) in
            [(200, phases(40, 80)), (120, phases(40, 80)), (60, phases(40, 20)), (30, phases(10, 20))]
        {
            assert_eq!(shortened(phases(40, 80), length_s * second_ns), expected, "{length_s} s");
        }
    }
}
