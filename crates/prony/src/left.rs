//! How long the whole run still takes: what its trials and pauses are planned to take, and what the trials so far took beyond that
//! for setting up, calibrating, draining and checking.

use record::TrialRecord;
use report::format;
use runner::Resume;
use study::{Plan, Stop, Study};

/// The time that is left of a run. Times are seconds since any moment, the same for all.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// What has not begun, in the order of the plan.
    ahead: Vec<Ahead>,
    may_end_earlier: bool,
    /// When what runs began to count, and what it was to take from then on.
    begun: Option<(f64, f64)>,
    /// When the last trial ended.
    ended_s: Option<f64>,
    /// What trials that ended took beyond their plan, and how many these are.
    beyond_s: f64,
    trials: u32,
    searches: Option<Searches>,
}

#[derive(Debug)]
struct Ahead {
    number: u32,
    /// Around it: its pause, and the time in which servers are made ready and databases loaded for it, and it is drained and counted.
    pause_s: f64,
    load_s: f64,
}

/// Searches, one after the other; the plan knows no steps.
#[derive(Debug, Default)]
struct Searches {
    /// Those that were not begun.
    ahead: usize,
    /// When the one that runs ends if all goes well, and at the latest.
    ends: Option<(f64, f64)>,
    /// What tells one from the next, and when it began.
    current: Option<(String, f64)>,
}

impl Left {
    /// The time left of a study that has not begun, or is taken up again.
    pub(crate) fn of(study: &Study, plan: &Plan, resume: Option<&Resume>) -> Self {
        let before_s = runner::preparation_s(plan).into_iter().zip(plan.around_s());
        let before_s = before_s.map(|(servers_s, around_s)| servers_s + around_s);
        let entries = plan.trials.iter().zip(before_s).enumerate();
        let runs = entries.filter(|(entry, _)| resume.is_none_or(|resume| resume.runs(*entry)));
        let ahead: Vec<Ahead> = runs
            .map(|(_, (trial, before_s))| Ahead {
                number: trial.planned.number,
                pause_s: trial.pause.as_seconds() + before_s,
                load_s: trial.work.any().phases().end_ns() as f64 / 1e9,
            })
            .collect();
        if study.search.is_some() {
            let searches = Searches { ahead: ahead.len(), ..Searches::default() };
            return Self { searches: Some(searches), ..Self::default() };
        }
        Self { ahead, may_end_earlier: plan.stop != Stop::Never, ..Self::default() }
    }

    /// A step of a search comes next, with what it may still take.
    pub(crate) fn searching(&mut self, expected_s: f64, at_most_s: f64, now_s: f64) {
        if let Some(searches) = &mut self.searches {
            searches.ends = Some((now_s + expected_s, now_s + at_most_s));
        }
    }

    /// A trial begins.
    pub(crate) fn begin(&mut self, trial: &TrialRecord, now_s: f64) {
        if let Some(searches) = &mut self.searches {
            return searches.begin(trial, now_s);
        }
        let own = self.ahead.iter().find(|ahead| ahead.number == trial.number);
        if let Some(Ahead { pause_s, load_s, .. }) = own {
            // Its pause is over; before the first one there was none, but test files were made.
            self.begun = Some(match self.ended_s {
                Some(ended_s) => (ended_s, pause_s + load_s),
                None => (now_s, *load_s),
            });
        }
        self.ahead.retain(|ahead| ahead.number > trial.number);
    }

    /// A trial has ended, or was left out.
    pub(crate) fn end(&mut self, trial: &TrialRecord, now_s: f64) {
        if let Some((begun_s, planned_s)) = self.begun.take() {
            self.beyond_s += (now_s - begun_s - planned_s).max(0.0);
            self.trials += 1;
        }
        self.ahead.retain(|ahead| ahead.number > trial.number);
        self.ended_s = Some(now_s);
    }

    /// `21 s left, 2 min 10 s total`, given the time left of the trial. Returns an empty text if nothing is known.
    pub(crate) fn told(&self, trial_s: Option<f64>, now_s: f64) -> String {
        if let Some(searches) = &self.searches {
            let step = trial_s.map(|left_s| format!("{} left", time(left_s)));
            return step.into_iter().chain(searches.told(now_s)).collect::<Vec<String>>().join(", ");
        }
        match (trial_s, self.all(trial_s.unwrap_or(0.0))) {
            (Some(left_s), Some(all)) => format!("{} left, {all} total", time(left_s)),
            (Some(left_s), None) => format!("{} left", time(left_s)),
            (None, Some(all)) => format!("{all} left in total"),
            (None, None) => String::new(),
        }
    }

    /// `2 min 10 s total`, given the time left of the current activity. Returns none if nothing follows it.
    pub(crate) fn in_all(&self, after_s: f64) -> Option<String> {
        Some(format!("{} total", self.all(after_s)?))
    }

    fn all(&self, after_s: f64) -> Option<String> {
        if self.ahead.is_empty() {
            return None;
        }
        let ahead_s: f64 = self.ahead.iter().map(|ahead| ahead.pause_s + ahead.load_s).sum();
        let beyond_s = self.beyond_s / f64::from(self.trials.max(1)) * self.ahead.len() as f64;
        let at_most = if self.may_end_earlier { "at most " } else { "" };
        Some(format!("{at_most}{}", time(after_s + ahead_s + beyond_s)))
    }
}

impl Searches {
    fn begin(&mut self, trial: &TrialRecord, now_s: f64) {
        let key = format!("{} {} {:?} {}", trial.name, trial.block, trial.levels, trial.aa);
        if self.current.as_ref().is_none_or(|(current, _)| *current != key) {
            self.ahead = self.ahead.saturating_sub(1);
            self.current = Some((key, now_s));
        }
    }

    /// Searches that were not begun are taken to last as long as the one that runs.
    fn told(&self, now_s: f64) -> Option<String> {
        let (expected_s, at_most_s) = self.ends?;
        let time = |end_s: f64| time((end_s - now_s).max(0.0));
        let (expected, at_most) = (time(expected_s), time(at_most_s));
        let mut told = format!("about {expected} left in this search ({at_most} at most)");
        if let Some((_, begun_s)) = self.current.as_ref().filter(|_| self.ahead > 0) {
            let all_s = expected_s + self.ahead as f64 * (expected_s - begun_s);
            told += &format!(", {} in total", time(all_s));
        }
        Some(told)
    }
}

/// Whole seconds: a line that counts down is no measurement.
fn time(seconds: f64) -> String {
    let seconds = seconds.ceil();
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format::duration(seconds) }
}

#[cfg(test)]
mod tests {
    use record::Workload;

    use super::*;

    fn study(text: &str) -> (Study, Plan) {
        let study = Study::from_toml(text).unwrap();
        let plan = Plan::of(&study).unwrap();
        (study, plan)
    }

    fn record(number: u32) -> TrialRecord {
        TrialRecord { name: "reads".to_owned(), ..TrialRecord::planned(Workload::Disk, number) }
    }

    const DISK: &str = r#"
        title = "three trials"
        blocks = 3
        cool_down = "5s"
        compare = false
        order = "repeats"
        [workload.disk]
        engine = "simulated"
        warm_up = "2s"
        duration = "8s"
        [target]
        paths = ["x"]
    "#;

    /// The line told what was left of a trial, and nobody knew whether the run took a minute or an hour.
    #[test]
    fn the_whole_run_is_told_with_pauses_and_with_what_trials_take_beyond_their_plan() {
        let (study, plan) = study(DISK);
        let mut left = Left::of(&study, &plan, None);
        assert_eq!(
            left.told(None, 0.0),
            "41 s left in total",
            "three trials of 10.3 s and two pauses of 5 s"
        );
        left.begin(&record(1), 7.0);
        assert_eq!(left.told(Some(4.0), 13.0), "4 s left, 35 s total");
        // It took 3 s more than its 10 s, and so will the others.
        left.end(&record(1), 20.0);
        assert_eq!(left.told(None, 20.0), "37 s left in total");
        left.begin(&record(2), 25.0);
        assert_eq!(left.told(Some(10.0), 25.0), "10 s left, 29 s total");
        left.end(&record(2), 38.0);
        left.begin(&record(3), 43.0);
        assert_eq!(left.told(Some(10.0), 43.0), "10 s left");
    }

    #[test]
    fn a_search_counts_down_and_tells_of_those_that_follow() {
        let mut left =
            Left { searches: Some(Searches { ahead: 2, ..Searches::default() }), ..Left::default() };
        left.searching(60.0, 300.0, 100.0);
        left.begin(&record(1), 100.0);
        assert_eq!(
            left.told(Some(5.0), 110.0),
            "5 s left, about 50 s left in this search (4 min 50 s at most), 110 s in total"
        );
        left.searching(20.0, 200.0, 120.0);
        left.begin(&record(2), 120.0);
        assert_eq!(left.searches.as_ref().unwrap().ahead, 1, "a step of the same search");
        left.begin(&TrialRecord { block: 2, ..record(3) }, 140.0);
        assert_eq!(left.told(None, 130.0), "about 10 s left in this search (3 min 10 s at most)");
    }
}
