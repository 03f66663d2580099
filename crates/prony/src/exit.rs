//! How the program ends.

use std::process::ExitCode;

use disk::TargetError;
use record::State;
use report::{Outcome, RateHeld, Report};
use runner::RunError;
use study::StudyErrors;
use workload::TrialError;
use workload::orders::LoadError;

use crate::spelling;

/// Exit codes, as the manual lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was measured.
    Pass = 0,
    /// Something failed while it ran.
    Runtime = 1,
    /// What was asked for cannot be.
    Usage = 2,
    /// A rate was not held, a threshold failed, a change is beyond its limit, or a setting endangers data.
    NotHeld = 3,
    /// No rate was found that is held, or a rate, a threshold, a change or a setting could not be judged.
    Inconclusive = 4,
    /// A trial was measured, but does not mean what it should.
    Invalid = 5,
    /// The user ended it; what was measured is saved.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// What a finished study comes to.
    pub(crate) fn of(report: &Report) -> Self {
        let has = |state| report.trials.iter().any(|trial| trial.state == state);
        let rates = || report.trials.iter().filter_map(report::Trial::rate_held);
        match report.state {
            State::Aborted => Self::Interrupted,
            _ if report.state == State::Failed || has(State::Failed) => Self::Runtime,
            // What was asked for was left out, all of it: no answer, and none that held.
            _ if !report.trials.is_empty()
                && report.trials.iter().all(|trial| trial.state == State::Skipped) =>
            {
                Self::Inconclusive
            }
            _ if report.has_different_rows() => Self::Runtime,
            _ if report.trials.iter().any(|trial| trial.unaccounted().is_some()) => Self::Runtime,
            _ if report.outcome() == Some(Outcome::Failed) => Self::NotHeld,
            _ if report.searches.iter().any(|search| search.stable_at.is_none()) => Self::Inconclusive,
            // A search that found a rate has steps that were not held, and may have found the generator's limit.
            _ if report.outcome() == Some(Outcome::Inconclusive) => Self::Inconclusive,
            _ if !report.searches.is_empty() => Self::Pass,
            _ if has(State::Invalid) => Self::Invalid,
            _ if !report.asks_for_rates() => Self::Pass,
            _ if rates().any(|rate| matches!(rate, RateHeld::NotHeld(_))) => Self::NotHeld,
            _ if rates().any(|rate| matches!(rate, RateHeld::NotJudged(_))) => Self::Inconclusive,
            _ => Self::Pass,
        }
    }
}

impl Exit {
    /// What a finished study comes to, after a line on stderr that says why, where that is one of the codes of results.
    pub(crate) fn told(report: &Report) -> Self {
        let exit = Self::of(report);
        if let Some(why) = exit.reason(report) {
            tell!("exit {}: {}", exit as u8, why);
        }
        exit
    }

    /// Why it ended with one of the codes 3, 4 and 5.
    fn reason(self, report: &Report) -> Option<String> {
        let of = |outcome: Outcome| {
            let all =
                report.comparison.iter().flat_map(|compared| &compared.thresholds).chain(&report.thresholds);
            let texts: Vec<&str> =
                all.filter(|one| one.outcome == outcome).map(|one| one.text.as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("; "))
        };
        let rate = |is: fn(RateHeld) -> Option<String>| {
            report
                .trials
                .iter()
                .find_map(|trial| Some(format!("{}: {}", trial.name, is(trial.rate_held()?)?)))
        };
        match self {
            Self::NotHeld => {
                of(Outcome::Failed).map(|texts| format!("threshold failed: {texts}")).or_else(|| {
                    let not_held = |held| if let RateHeld::NotHeld(why) = held { Some(why) } else { None };
                    rate(not_held).map(|why| format!("offered rate not sustained: {why}"))
                })
            }
            Self::Inconclusive if report.trials.iter().all(|trial| trial.state == State::Skipped) => {
                Some("all trials were skipped".to_owned())
            }
            Self::Inconclusive if report.searches.iter().any(|search| search.stable_at.is_none()) => {
                Some("no sustained rate was confirmed".to_owned())
            }
            Self::Inconclusive => of(Outcome::Inconclusive)
                .map(|texts| format!("threshold inconclusive: {texts}"))
                .or_else(|| {
                    let unknown = |held| if let RateHeld::NotJudged(why) = held { Some(why) } else { None };
                    rate(unknown).map(|why| format!("offered rate inconclusive: {why}"))
                }),
            Self::Invalid => {
                let invalid = |trial: &&report::Trial| trial.state == State::Invalid;
                let count = report.trials.iter().filter(invalid).count();
                let first = report.trials.iter().find(invalid)?;
                let why = first.reason.as_deref().unwrap_or("no reason was recorded");
                let are = if count == 1 { "is" } else { "are" };
                Some(format!(
                    "{count} of {} trials {are} invalid: {}: {why}",
                    report.trials.len(),
                    first.name
                ))
            }
            Self::Pass | Self::Runtime | Self::Usage | Self::Interrupted => None,
        }
    }
}

/// What ends the program early, for people to read.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    /// What is told, a line for each mistake.
    lines: Vec<String>,
}

impl Failure {
    /// What was asked for cannot be.
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self::of(Exit::Usage, &error.into())
    }

    /// Several mistakes in what was asked for, told at once.
    pub(crate) fn mistakes(lines: Vec<String>) -> Self {
        Self { exit: Exit::Usage, lines }
    }

    /// Something failed.
    pub(crate) fn runtime(error: impl Into<anyhow::Error>) -> Self {
        Self::of(Exit::Runtime, &error.into())
    }

    /// The user ended it before anything was measured.
    pub(crate) fn interrupted(error: impl Into<anyhow::Error>) -> Self {
        Self::of(Exit::Interrupted, &error.into())
    }

    fn of(exit: Exit, error: &anyhow::Error) -> Self {
        // An end of a line within a message is no line of ours: it may stand in what a server said.
        if let Some(StudyErrors(mistakes)) = error.downcast_ref() {
            // Tests of one profile share what is wrong with their shared parameters.
            let mut lines: Vec<String> = Vec::new();
            for line in mistakes.iter().map(spelling::mistake) {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            return Self { exit, lines };
        }
        if let Some(TrialError::Mistakes(mistakes)) = error.downcast_ref() {
            return Self { exit, lines: mistakes.clone() };
        }
        let mut message = error.to_string();
        for cause in error.chain().skip(1).map(ToString::to_string) {
            if !message.contains(&cause) {
                message = format!("{message}: {cause}");
            }
        }
        Self { exit, lines: vec![message] }
    }

    /// What is told, a line for each mistake, each with the causes that it does not name itself.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// All of it.
    #[cfg(test)]
    pub(crate) fn message(&self) -> String {
        self.lines.join("\n")
    }

    /// This and what came of something else.
    pub(crate) fn and(mut self, other: Result<(), Self>) -> Self {
        self.lines.extend(other.err().into_iter().flat_map(|other| other.lines));
        self
    }

    pub(crate) fn code(&self) -> Exit {
        self.exit
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        if error.is_usage() { Self::usage(error) } else { Self::runtime(error) }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Target(error) => error.into(),
            RunError::Interrupted(_) => Self::interrupted(error),
            RunError::Mistakes(mistakes) => Self::mistakes(mistakes),
            RunError::Database(error) if error.is_usage() => Self::usage(error),
            RunError::Database(error) => Self::runtime(error),
            RunError::Load(LoadError::Database(error)) if error.is_usage() => Self::usage(error),
            RunError::Load(error) => Self::runtime(error),
            RunError::Command(error) => Self::runtime(error),
            RunError::Server { ref source, .. } if source.is_usage() => Self::usage(error),
            RunError::Server { .. } | RunError::Unproved { .. } | RunError::Cluster { .. } => {
                Self::runtime(error)
            }
            RunError::Look(error) | RunError::Listener(error) => Self::runtime(anyhow::anyhow!(error)),
        }
    }
}
