//! What is told of preparations: whatever makes them ready tells at each turn, and only some of it is worth an event.

use std::time::{Duration, Instant};

use record::{Event, Preparation};

use crate::error::{Listener, RunError};

/// How often the same work is told.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// Tells of preparations in events, at their begin, now and then, and at their end.
pub(crate) struct Preparing<'a, 'b> {
    listen: &'a mut Listener<'b>,
    pace: Pace,
    told: Result<(), RunError>,
}

/// What was told last, and when.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    last: Option<(String, Instant)>,
}

impl<'a, 'b> Preparing<'a, 'b> {
    pub(crate) fn new(listen: &'a mut Listener<'b>) -> Self {
        Self { listen, pace: Pace::default(), told: Ok(()) }
    }

    /// Tells it, unless the same was told just now. After an error of who listens nothing more is told.
    pub(crate) fn tell(&mut self, at: Preparation) {
        if self.told.is_ok() && self.pace.is_due(&at) {
            self.told = (self.listen)(&Event::Preparing(at)).map_err(RunError::Listener);
        }
    }

    /// Whether all could be told.
    pub(crate) fn end(self) -> Result<(), RunError> {
        self.told
    }
}

impl Pace {
    /// Whether it is worth an event, which is then told.
    pub(crate) fn is_due(&mut self, at: &Preparation) -> bool {
        let is_same = |(what, told): &(String, Instant)| *what == at.what && told.elapsed() < TOLD_EVERY;
        if self.last.as_ref().is_some_and(is_same) && !at.is_done() {
            return false;
        }
        self.last = Some((at.what.clone(), Instant::now()));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Unit;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn begin_and_end_of_each_work_are_told_and_not_each_turn() {
        let mut told = Vec::new();
        let mut listen = |event: &Event| {
            if let Event::Preparing(at) = event {
                told.push((at.what.clone(), at.done));
            }
            Ok(())
        };
        let mut preparing = Preparing::new(&mut listen);
        for what in ["loading", "building"] {
            (0..=1_000).for_each(|done| preparing.tell(Preparation::new(what, done, 1_000, Unit::Rows)));
        }
        preparing.end().unwrap();
        for what in ["loading", "building"] {
            let of: Vec<u64> = told.iter().filter(|(told, _)| told == what).map(|(_, done)| *done).collect();
            assert!(of.starts_with(&[0]) && of.ends_with(&[1_000]) && of.len() < 500, "{what}: {of:?}");
        }
    }

    #[test]
    fn nothing_is_told_to_who_cannot_listen_any_more() {
        let mut heard = 0;
        let mut listen = |_: &Event| {
            heard += 1;
            Err("full".into())
        };
        let mut preparing = Preparing::new(&mut listen);
        ["a", "b"].into_iter().for_each(|what| preparing.tell(Preparation::waiting(what)));
        assert!(matches!(preparing.end(), Err(RunError::Listener(_))));
        assert_eq!(heard, 1);
    }

    /// What is told of a study, in order.
    fn told(study: &str) -> Vec<Event> {
        let study = study::Study::from_toml(study).unwrap();
        let context = crate::Context {
            program: std::path::PathBuf::new(),
            tool_version: "0".to_owned(),
            labels: record::Labels::default(),
            command: Vec::new(),
            lab: None,
            working_directory: None,
            run: database::RunId::new().unwrap(),
        };
        let mut told = Vec::new();
        let plan = study::Plan::of(&study).unwrap();
        crate::run(
            &study,
            &plan,
            None,
            &context,
            &AtomicBool::new(false),
            &mut crate::no_look,
            &mut |event| {
                told.push(event.clone());
                Ok(())
            },
        )
        .unwrap();
        told
    }

    /// A study that loaded a store of 40 GB said nothing for an hour, and then that it begins.
    #[test]
    fn a_study_tells_its_load_and_indexes_and_what_lies_between_its_trials() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("orders.db");
        let events = told(&format!(
            r#"
            before = "true"
            blocks = 2
            [workload.orders]
            n_threads = 1
            warmup_time = "0s"
            run_time = "1s"
            [[target.store]]
            url = "sqlite:{}"
            load = "1MB"
            "#,
            file.display()
        ));
        let place = |holds: &dyn Fn(&Event) -> bool| events.iter().position(holds).unwrap();
        let preparing = |what: String| {
            place(&|event| matches!(event, Event::Preparing(at) if at.what.starts_with(&what)))
        };
        let name = file.display();
        let started = place(&|event| matches!(event, Event::StudyStarted { .. }));
        let of = |what: String| {
            let of = |event: &Event| match event {
                Event::Preparing(at) if at.what == what => Some(at.clone()),
                _ => None,
            };
            events[..started].iter().filter_map(of).collect::<Vec<_>>()
        };
        let loading = of(format!("loading rows into {name}"));
        let indexes = of(format!("building indexes of {name}"));
        for steps in [&loading, &indexes] {
            assert!(steps.is_sorted_by_key(|at| at.done) && steps.last().unwrap().is_done(), "{steps:#?}");
            assert!(steps.iter().all(|at| at.total == steps[0].total && at.total > Some(5)), "{steps:#?}");
        }
        assert!(
            preparing(format!("loading rows into {name}")) < preparing(format!("building indexes of {name}"))
        );
        let first_ended = place(&|event| matches!(event, Event::TrialFinished(_)));
        assert!(preparing("command before trial 1: true".to_owned()) > started);
        assert!(preparing("command before trial 2: true".to_owned()) > first_ended);
        assert!(preparing(format!("restoring {name}")) > first_ended, "what the first trial did is undone");
        assert!(preparing(format!("counting the orders in {name}")) < first_ended);
    }
}
