//! One rule over all trials, and its one sentence.

use super::{Level, Verdict};
use crate::format;
use crate::trial::Trial;

/// Names that a sentence lists before it counts.
const NAMES_LISTED: usize = 3;
/// Numbers of trials that it lists.
const NUMBERS_LISTED: usize = 6;

/// Trials that a rule holds for, each with what raised it.
pub(crate) struct Doubt<'a> {
    level: Level,
    rule: &'static str,
    /// Trials that were measured, and those that the rule holds for.
    trials: Vec<&'a Trial>,
    hits: Vec<Hit<'a>>,
}

struct Hit<'a> {
    trial: &'a Trial,
    figure: Option<f64>,
}

impl<'a> Doubt<'a> {
    /// Asks the rule of each trial; it gives the figure that raises the doubt, if any.
    pub(crate) fn with_figure(
        level: Level,
        rule: &'static str,
        trials: &'a [Trial],
        figure: impl Fn(&Trial) -> Option<f64>,
    ) -> Self {
        let hits: Vec<Hit<'a>> =
            trials.iter().filter_map(|trial| Some(Hit { trial, figure: Some(figure(trial)?) })).collect();
        Self { level, rule, trials: counted(trials, &hits), hits }
    }

    /// Asks the rule of each trial.
    pub(crate) fn plain(
        level: Level,
        rule: &'static str,
        trials: &'a [Trial],
        holds: impl Fn(&Trial) -> bool,
    ) -> Self {
        let hits: Vec<Hit<'a>> =
            trials.iter().filter(|trial| holds(trial)).map(|trial| Hit { trial, figure: None }).collect();
        Self { level, rule, trials: counted(trials, &hits), hits }
    }

    /// One verdict, if the rule holds for any trial. `print` formats a figure. `fact` gets the figure, or the range of the figures.
    pub(crate) fn verdict(
        &self,
        print: impl Fn(f64) -> String,
        fact: impl Fn(&str) -> String,
    ) -> Option<Verdict> {
        if self.hits.is_empty() {
            return None;
        }
        let raised = |hit: &Hit<'_>| Some((hit.trial.number, print(hit.figure?)));
        let raised = self.hits.iter().filter_map(raised).collect();
        let figure = self.range(print);
        let trials: Vec<u32> = self.hits.iter().map(|hit| hit.trial.number).collect();
        let verdict = Verdict::new(self.level, self.rule, fact(&figure));
        Some(Verdict { raised, ..verdict.about(self.subject()).of_trials(trials) })
    }

    /// The names of the trials, or how many they are.
    fn subject(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for hit in &self.hits {
            if !names.contains(&hit.trial.name.as_str()) {
                names.push(&hit.trial.name);
            }
        }
        let so_named = self.trials.iter().filter(|trial| names.contains(&trial.name.as_str())).count();
        if names.len() <= NAMES_LISTED && self.hits.len() >= so_named {
            return names.join(", ");
        }
        match (self.hits.len(), self.trials.len()) {
            (hits, of) if hits == of => format!("all {of} trials"),
            (hits, of) if names.len() <= NAMES_LISTED => {
                let numbers = self.numbers().map(|numbers| format!(": {numbers}")).unwrap_or_default();
                format!("{}, {hits} of {of} trials{numbers}", names.join(", "))
            }
            (hits, of) => {
                let numbers = self.numbers().map(|numbers| format!(": {numbers}")).unwrap_or_default();
                format!("{hits} of {of} trials{numbers}")
            }
        }
    }

    /// `#3, #33`, where they are few.
    fn numbers(&self) -> Option<String> {
        let numbers: Vec<String> = self.hits.iter().map(|hit| format!("#{}", hit.trial.number)).collect();
        (numbers.len() <= NUMBERS_LISTED).then(|| numbers.join(", "))
    }

    fn range(&self, print: impl Fn(f64) -> String) -> String {
        let figures = || self.hits.iter().filter_map(|hit| hit.figure);
        let (Some(low), Some(high)) = (figures().reduce(f64::min), figures().reduce(f64::max)) else {
            return format::UNKNOWN.to_owned();
        };
        let (low, high) = (print(low), print(high));
        if low == high { low } else { format!("{low} to {high}") }
    }
}

/// The trials that a sentence counts. A trial that ended without figures may still be one that the rule holds for.
fn counted<'a>(trials: &'a [Trial], hits: &[Hit<'a>]) -> Vec<&'a Trial> {
    let is_hit = |trial: &Trial| hits.iter().any(|hit| hit.trial.number == trial.number);
    trials.iter().filter(|trial| trial.has_run() || is_hit(trial)).collect()
}
