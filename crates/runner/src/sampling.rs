//! Reads the machine while a trial runs: each sampler on a thread of its own, at its own rate.
//!
//! A sampler that blocks delays neither the load nor the others. What it missed meanwhile is told, and not read twice.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use load::lock;
use record::Resources;

/// How long the last readings are awaited; one that takes longer is missing.
const LAST_WITHIN: Duration = Duration::from_millis(500);

/// Something of the machine that is read again and again.
pub(crate) trait Sampler: Send {
    /// What it reads, for a sentence: `processors`.
    fn name(&self) -> &'static str;

    /// Time from one reading to the next.
    fn every(&self) -> Duration;

    /// What happened since the last reading, at a time in seconds since the load began; none at the first.
    fn sample(&mut self, at_s: f64) -> Option<Resources>;

    /// What is to be said besides readings, since this was asked last: sentences.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Share (0–1) of its readings above which it is told that they are missing.
    fn missing_share_told(&self) -> f64 {
        0.0
    }
}

/// Samplers that read. They end with this, however the trial does.
pub(crate) struct Sampling {
    begin: Instant,
    end: Arc<End>,
    readings: Receiver<Resources>,
    samplers: Vec<Arc<Mutex<Course>>>,
    /// Samplers for which the system gave no thread, and why.
    refused: Vec<String>,
}

/// Tells all samplers that it is over.
#[derive(Default)]
struct End {
    is_over: Mutex<bool>,
    changed: Condvar,
}

/// How one sampler gets on.
struct Course {
    name: &'static str,
    every: Duration,
    /// See [`Sampler::missing_share_told`].
    missing_share_told: f64,
    /// See [`Sampler::notes`].
    notes: Vec<String>,
    /// Readings that were not made because one before took too long, or the thread had no time.
    missed: u64,
    /// The interval that the next reading is due in.
    due: u64,
    /// Readings that were made.
    made: u64,
    longest: Duration,
    /// Begin of the reading that is under way, since the load began.
    reading_since: Option<Duration>,
}

impl Sampling {
    /// Begins to read, now: the load begins.
    pub(crate) fn begin(samplers: Vec<Box<dyn Sampler>>) -> Self {
        let (begin, end) = (Instant::now(), Arc::new(End::default()));
        let (sender, readings) = channel();
        let mut sampling = Self { begin, end, readings, samplers: Vec::new(), refused: Vec::new() };
        for sampler in samplers {
            let (name, every) = (sampler.name(), sampler.every());
            let course = Course {
                name,
                every,
                missing_share_told: sampler.missing_share_told(),
                notes: Vec::new(),
                missed: 0,
                due: 0,
                made: 0,
                longest: Duration::ZERO,
                reading_since: None,
            };
            let course = Arc::new(Mutex::new(course));
            let (end, told, sender) = (Arc::clone(&sampling.end), Arc::clone(&course), sender.clone());
            let thread = std::thread::Builder::new().name("sampler".to_owned());
            match thread.spawn(move || read(sampler, begin, &end, &told, &sender)) {
                Ok(_) => sampling.samplers.push(course),
                Err(error) => sampling.refused.push(format!("The {name} cannot be read: {error}.")),
            }
        }
        sampling
    }

    /// What was read since this was asked last.
    pub(crate) fn take(&self) -> Vec<Resources> {
        self.readings.try_iter().collect()
    }

    /// Ends all samplers. Gives what was not taken yet, and what is missing, a sentence each.
    pub(crate) fn end(self) -> (Vec<Resources>, Vec<String>) {
        self.end.set();
        let mut readings = Vec::new();
        let deadline = Instant::now() + LAST_WITHIN;
        while let Ok(reading) = self.readings.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            readings.push(reading);
        }
        let now = self.begin.elapsed();
        let told = |course: &Arc<Mutex<Course>>| {
            let mut course = lock(course);
            let notes = std::mem::take(&mut course.notes);
            notes.into_iter().chain(course.missing(now)).collect::<Vec<String>>()
        };
        let missing = self.samplers.iter().flat_map(told);
        let missing = missing.chain(self.refused.iter().cloned()).collect();
        (readings, missing)
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        self.end.set();
    }
}

impl End {
    fn set(&self) {
        *lock(&self.is_over) = true;
        self.changed.notify_all();
    }

    /// Waits until a moment, or until it is over. Gives whether it is.
    fn is_over_at(&self, moment: Instant) -> bool {
        let wait = moment.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout_while(lock(&self.is_over), wait, |is_over| !*is_over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Course {
    /// Takes a reading to account, and gives when the next is due, both since the load began.
    fn made(&mut self, begun: Duration, ended: Duration) -> Duration {
        self.reading_since = None;
        self.made += 1;
        self.longest = self.longest.max(ended.saturating_sub(begun));
        let next = turn(ended, self.every) + 1;
        // The last reading is made before it is due.
        self.missed += next.saturating_sub(self.due + 1);
        self.due = next;
        self.every.saturating_mul(u32::try_from(next).unwrap_or(u32::MAX))
    }

    /// What is missing at a time, if anything is.
    fn missing(&self, now: Duration) -> Option<String> {
        let under_way = self.reading_since.map(|since| {
            // It may have begun after the time that is asked about.
            let turns = turn(now, self.every).saturating_sub(turn(since, self.every));
            (turns, now.saturating_sub(since))
        });
        let (missed, longest) = under_way.unwrap_or_default();
        let missed = self.missed + missed;
        let all = self.made + missed;
        (missed as f64 > all as f64 * self.missing_share_told).then(|| {
            format!(
                "{missed} of {all} readings of the {} are missing, because one reading took {:.1} s.",
                self.name,
                self.longest.max(longest).as_secs_f64()
            )
        })
    }
}

/// The number of the interval that a time lies in.
fn turn(at: Duration, every: Duration) -> u64 {
    (at.as_nanos() / every.as_nanos().max(1)) as u64
}

/// Reads until it is over, and then once more.
fn read(
    mut sampler: Box<dyn Sampler>,
    begin: Instant,
    end: &End,
    course: &Mutex<Course>,
    readings: &Sender<Resources>,
) {
    let mut is_over = false;
    loop {
        let begun = begin.elapsed();
        lock(course).reading_since = Some(begun);
        if let Some(reading) = sampler.sample(begun.as_secs_f64()) {
            // Nobody waits for it after the end.
            let _ = readings.send(reading);
        }
        let notes = sampler.notes();
        let due = {
            let mut course = lock(course);
            course.notes.extend(notes);
            course.made(begun, begin.elapsed())
        };
        if is_over {
            return;
        }
        is_over = end.is_over_at(begin + due);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Reads nothing but when it was asked, and waits each time until it is let go on, if that is asked of it.
    struct Asked {
        name: &'static str,
        every: Duration,
        gate: Option<Receiver<()>>,
    }

    impl Sampler for Asked {
        fn name(&self) -> &'static str {
            self.name
        }

        fn every(&self) -> Duration {
            self.every
        }

        fn sample(&mut self, at_s: f64) -> Option<Resources> {
            if let Some(gate) = &self.gate {
                // An error is the end of the test.
                let _ = gate.recv();
            }
            Some(Resources { end_s: at_s, length_s: self.every.as_secs_f64(), ..Resources::default() })
        }
    }

    fn asked(name: &'static str, every_ms: u64, gate: Option<Receiver<()>>) -> Box<dyn Sampler> {
        Box::new(Asked { name, every: Duration::from_millis(every_ms), gate })
    }

    /// Waits until the sampler that reads so often has read at a time or later.
    fn await_reading(sampling: &Sampling, every_ms: u64, from_s: f64) {
        let every_s = Duration::from_millis(every_ms).as_secs_f64();
        let found = sampling.readings.iter().find(|r| r.length_s == every_s && r.end_s >= from_s);
        assert!(found.is_some());
    }

    #[test]
    fn each_sampler_reads_at_its_own_rate() {
        let sampling = Sampling::begin(vec![asked("slow", 40, None), asked("fast", 10, None)]);
        // Those that a busy machine keeps from being made are counted as missed.
        let due = |sampler: usize| {
            let course = lock(&sampling.samplers[sampler]);
            course.made + course.missed
        };
        await_reading(&sampling, 40, 0.160);
        await_reading(&sampling, 10, 0.160);
        let (slow, fast, now) = (due(0), due(1), sampling.begin.elapsed());
        assert!(slow >= 4 && slow <= turn(now, Duration::from_millis(40)) + 1, "{slow} after {now:?}");
        assert!(fast >= 16 && fast <= turn(now, Duration::from_millis(10)) + 1, "{fast} after {now:?}");
    }

    /// Reading the machine in the workload's callback held up the load.
    #[test]
    fn a_sampler_that_blocks_holds_up_nobody_and_what_it_missed_is_told() {
        let (open, gate) = channel();
        let sampling = Sampling::begin(vec![asked("devices", 10, Some(gate)), asked("processors", 20, None)]);
        await_reading(&sampling, 20, 0.100);
        let (_, missing) = sampling.end();
        let told = missing.iter().find(|told| told.contains("devices")).unwrap();
        assert!(told.contains("readings of the devices are missing, because one reading took"), "{told}");
        drop(open);
    }

    #[test]
    fn what_is_missing_is_counted_by_what_was_due() {
        let ms = Duration::from_millis;
        let (name, every) = ("devices", ms(250));
        let mut course = Course {
            name,
            every,
            missing_share_told: 0.0,
            notes: Vec::new(),
            missed: 0,
            due: 0,
            made: 0,
            longest: Duration::ZERO,
            reading_since: None,
        };
        assert_eq!(course.made(ms(0), ms(1)), ms(250));
        assert_eq!(course.made(ms(251), ms(499)), ms(500));
        assert_eq!(course.missing(ms(600)), None);
        assert_eq!(course.made(ms(500), ms(1_260)), ms(1_500), "those at 750, 1,000 and 1,250 ms are gone");
        let told = course.missing(ms(1_400)).unwrap();
        assert_eq!(told, "3 of 6 readings of the devices are missing, because one reading took 0.8 s.");
        course.reading_since = Some(ms(1_500));
        assert_eq!(course.missing(ms(1_400)).unwrap(), told, "a reading that has begun since");
        let told = course.missing(ms(4_010)).unwrap();
        assert_eq!(told, "13 of 16 readings of the devices are missing, because one reading took 2.5 s.");
    }

    #[test]
    fn samplers_end_with_the_trial_also_where_it_panics() {
        let (open, gate) = channel::<()>();
        let mut left = None;
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let sampling = Sampling::begin(vec![asked("processors", 3_600_000, Some(gate))]);
            left = Some(Arc::downgrade(&sampling.end));
            panic!("as a workload would");
        }));
        assert!(panicked.is_err());
        open.send(()).unwrap();
        // Its last reading, an hour before it would have been due.
        open.send(()).unwrap();
        drop(open);
        let end = left.unwrap();
        while end.strong_count() > 0 {
            std::thread::yield_now();
        }
    }
}
